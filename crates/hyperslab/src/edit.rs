//! Changes stores in place. Existing data is not rewritten: each change is added to the store in the way that its
//! format provides.
//!
//! Changes are planned first; planning reports what they would do and refuses those that cannot be made. Then all are
//! written.
//!
//! ```
//! use hyperslab::edit::{Action, Editing};
//! use hyperslab::OpenOptions;
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("survey.tdb");
//! # copied("../../examples/survey.tdb".as_ref(), &path);
//! # fn copied(from: &std::path::Path, to: &std::path::Path) {
//! #     std::fs::create_dir_all(to).unwrap();
//! #     for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
//! #         let to = to.join(entry.file_name());
//! #         match entry.path().is_dir() {
//! #             true => copied(&entry.path(), &to),
//! #             false => drop(std::fs::copy(entry.path(), to).unwrap()),
//! #         }
//! #     }
//! # }
//!
//! let mut editing = Editing::open(&path, &OpenOptions::default())?;
//! editing.plan_text(Action::Set, "/temperature@units=degree_Celsius")?;
//! editing.plan_text(Action::RemoveCells, "/sightings:species == \"gannet\" and count >= 20")?;
//! assert_eq!(editing.changes()[1].cells, Some(2));
//! editing.commit()?;
//! # Ok::<(), hyperslab::Error>(())
//! ```

mod appended;
mod npy;
mod text;

pub use crate::editor::{Change, ChangeKind, Consolidated, Edit, Vacuumed};
pub use text::Action;

use crate::editor::Editor;
use crate::format::OpenOptions;
use crate::formats;
use crate::source::{Entry, Item, Source};
use crate::walk::{Step, walk};
use hyperslab_cf::time::Counting;
use hyperslab_core::store::Durability;
use hyperslab_core::{Error, Result};
use hyperslab_model::{NodeKind, NodePath, TimeUnit};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A store whose changes are planned. Nothing is written before [`commit`](Self::commit).
pub struct Editing {
    path: PathBuf,
    editor: Box<dyn Editor>,
    source: Arc<dyn Source>,
    options: OpenOptions,
    /// The object to which texts without a path refer.
    base: NodePath,
    changes: Vec<Change>,
    /// Groups that will be renamed: their new path, and their present one.
    renamed: Vec<(NodePath, NodePath)>,
}

impl Editing {
    /// Opens a store for changing it.
    ///
    /// # Errors
    /// As [`open`](crate::open); [`Unsupported`](hyperslab_core::ErrorKind::Unsupported) if stores of its format cannot
    /// be changed in place; [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for a store opened at an
    /// earlier time.
    pub fn open(path: &Path, options: &OpenOptions) -> Result<Editing> {
        if options.at.is_some() {
            return Err(
                Error::invalid("an earlier state of a store cannot be changed").in_file(path.display())
            );
        }
        let source = formats::open_stored(path, options)?;
        let editor = formats::editor(path, options)?.ok_or_else(|| {
            let title = source.dialect().title;
            Error::unsupported(format!("{title} stores cannot be changed in place"))
                .with_hint("convert writes a new store")
                .in_file(path.display())
        })?;
        Ok(Editing {
            path: path.to_owned(),
            editor,
            source,
            options: options.clone(),
            base: NodePath::root(),
            changes: Vec::new(),
            renamed: Vec::new(),
        })
    }

    /// Sets the object to which texts without a path refer and from which relative paths begin.
    #[must_use]
    pub fn at(self, base: NodePath) -> Editing {
        Editing { base, ..self }
    }

    /// The store as it was before all changes.
    pub fn source(&self) -> &Arc<dyn Source> {
        &self.source
    }

    /// Plans a change, to be made after all others.
    ///
    /// # Errors
    /// If the change cannot be made; the error names the object.
    pub fn plan(&mut self, edit: &Edit) -> Result<&Change> {
        let planned = self.check_unnamed(edit).and_then(|()| self.editor.plan(edit, &counts));
        let change = planned.map_err(|error| error.in_file(self.path.display()))?;
        self.changes.push(change);
        if let Edit::Rename { object, name } = edit
            && let Ok(Entry { item: Item::Group, .. }) = self.source.find(object)
            && let Some(new) = object.parent().map(|group| group.child(name))
        {
            self.renamed.push((new, object.clone()));
        }
        self.changes.last().ok_or_else(|| Error::invalid("no change"))
    }

    /// Fails if an edit removes or renames a member of a group that other arrays name as their dimension.
    fn check_unnamed(&self, edit: &Edit) -> Result<()> {
        let (Edit::Rename { object: path, .. } | Edit::RemoveMember { member: path }) = edit else {
            return Ok(());
        };
        let Ok(Entry { item: Item::Array { kind: NodeKind::DimCoord, .. }, .. }) = self.source.find(path)
        else {
            return Ok(());
        };
        let goes = |array: &NodePath| {
            let of = |change: &Change| change.kind == ChangeKind::Removed && change.place == array.as_str();
            self.changes.iter().any(of)
        };
        let mut naming = None;
        walk(&*self.source, &self.source.find(&NodePath::root())?.handle, &mut |step| {
            if let Step::Member(Entry { handle, item: Item::Array { shape, .. } }) = step
                && handle.path != *path
                && !goes(&handle.path)
                && shape.dims().iter().any(|dimension| dimension.coordinate.as_ref() == Some(path))
            {
                naming.get_or_insert_with(|| handle.path.clone());
            }
            Ok(())
        })?;
        match naming {
            None => Ok(()),
            Some(array) => Err(Error::unsupported(format!("is a dimension that {array} refers to"))
                .with_hint(
                    "remove such arrays before their dimensions; convert can write a store with other names",
                )
                .in_object(path)),
        }
    }

    /// The planned changes, in order.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Makes all changes. Each becomes visible as a whole or not at all, even if the process is killed.
    ///
    /// # Errors
    /// If the store cannot be written. Changes before the error have been made.
    pub fn commit(self) -> Result<Vec<Change>> {
        self.committed(Durability::Process)
    }

    /// As [`commit`](Self::commit), but also safe if the power fails: each change is on disk before the next begins.
    ///
    /// # Errors
    /// As [`commit`](Self::commit).
    pub fn commit_durable(self) -> Result<Vec<Change>> {
        self.committed(Durability::Power)
    }

    fn committed(mut self, durability: Durability) -> Result<Vec<Change>> {
        self.editor.commit(durability).map_err(|error| error.in_file(self.path.display()))?;
        Ok(self.changes)
    }
}

/// The counts of a unit since 1970 that a date covers: from the first count of its period to the first one after it.
///
/// # Errors
/// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if the text is not a date.
pub(crate) fn counts(unit: &TimeUnit, text: &str) -> Result<Range<i128>> {
    let none = || Error::invalid(format!("{text:?} for a duration of {}", unit.unit));
    let counting = Counting::of_type(unit).ok_or_else(none)?;
    let (start, end) = counting.period(text)?;
    // The first count that is not before an instant.
    let first = |instant| {
        let (mut below, mut above) = (i128::from(i64::MIN), i128::from(i64::MAX));
        while below < above {
            let middle = (below + above).div_euclid(2);
            match counting.instant(middle) < instant {
                true => below = middle + 1,
                false => above = middle,
            }
        }
        below
    };
    let (first, behind) = (first(start), first(end));
    Ok(first..behind.max(first + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_periods_of_their_unit() {
        let of = |unit: &str, text: &str| {
            counts(&TimeUnit { unit: unit.to_owned(), duration: false }, text).unwrap()
        };
        assert_eq!(of("D", "1970-01-02"), 1..2);
        assert_eq!(of("D", "1970-02"), 31..59);
        assert_eq!(of("h", "1970-01-01"), 0..24);
        assert_eq!(of("M", "1971"), 12..24);
        assert_eq!(of("ms", "1970-01-01T00:00:00.5"), 500..501);
        assert_eq!(of("h", "1970-01-01T00:30"), 1..2, "the next count, as there is none within");
    }
}
