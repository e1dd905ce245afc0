//! A store being written, whatever its format.

mod growing;

pub use growing::Growing;

use crate::cells::{CellColumn, CellOrder};
use crate::format::TARGETS;
use crate::source::StoredForm;
use bytes::Bytes;
use hyperslab_codec::Scratch;
use hyperslab_core::{Error, Remedy, Result};
use hyperslab_model::{Cells, Node, NodePath, Values};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// A store being written. It is none until [`Target::finish`].
pub trait Target: Send + Sync {
    /// Adds an object without elements: a group, a dimension without coordinates, a named datatype, a link.
    /// Groups come before their members.
    ///
    /// # Errors
    /// What the store says.
    fn put(&self, path: &NodePath, node: &Node) -> Result<()>;

    /// Begins an array or a dimension coordinate.
    ///
    /// # Errors
    /// If the format cannot hold it, which planning it would have said; what the store says.
    fn array(&self, path: &NodePath, node: &Node, facts: Facts) -> Result<Box<dyn ArrayTarget + '_>>;

    /// Begins the cells of the sparse array that the group at `path` is, if the [`Planner`] said that the format
    /// stores them. The group and the columns, which are members of it, were put before, without elements.
    ///
    /// # Errors
    /// [`Unsupported`](hyperslab_core::ErrorKind::Unsupported) if the format has no sparse arrays; if the store cannot
    /// be written.
    fn cells(&self, path: &NodePath, _columns: &[CellColumn]) -> Result<Box<dyn CellTarget + '_>> {
        Err(Error::unsupported("the format has no sparse arrays").in_object(path))
    }

    /// Makes it a store.
    ///
    /// # Errors
    /// What the store says.
    fn finish(&self) -> Result<()>;
}

/// The elements of an array being written, by many threads at once.
pub trait ArrayTarget: Send + Sync {
    /// The shape of what is written at once.
    fn chunk(&self) -> &[u64];

    /// Writes one chunk: the elements of its part within the array. Tells the bytes that are stored; none if nothing
    /// has to be.
    ///
    /// # Errors
    /// If elements cannot be lowered; what the store says.
    fn write(&self, index: &[u64], values: &Values, scratch: &mut Scratch) -> Result<Option<u64>>;

    /// Whether chunks of this form are what [`ArrayTarget::write`] would store.
    fn accepts(&self, form: &StoredForm) -> bool;

    /// Whether the chunk at `index` may be written as it is stored elsewhere in a form that is accepted: not where
    /// that would show what lies past the end of the array.
    fn passes(&self, _index: &[u64]) -> bool {
        true
    }

    /// Writes one chunk as it is stored elsewhere in a form that is accepted.
    ///
    /// # Errors
    /// What the store says.
    fn write_stored(&self, index: &[u64], stored: &[u8]) -> Result<()>;

    /// Whether chunks are written that the source has not: what fills them there is another element here.
    fn wants_all(&self) -> bool {
        false
    }

    /// What chunks are made of, if they can be written so.
    fn pieces(&self) -> Option<&dyn PieceTarget> {
        None
    }

    /// Makes it an array.
    ///
    /// # Errors
    /// What the store says.
    fn finish(&self) -> Result<()>;

    /// Takes back what was written of it, as far as the store can.
    ///
    /// # Errors
    /// What the store says.
    fn abandon(&self) -> Result<()>;
}

/// An array whose chunks are made of smaller ones, as shards are: one that memory does not hold is encoded piece by
/// piece.
pub trait PieceTarget: Sync {
    /// The shape of a piece, of which chunks are multiples.
    fn shape(&self) -> &[u64];

    /// Encodes one piece: the elements of its part within the array, which has this shape. None if nothing has to be
    /// stored.
    ///
    /// # Errors
    /// If elements cannot be lowered.
    fn encode(&self, within: &[u64], values: &Values, scratch: &mut Scratch) -> Result<Option<Bytes>>;

    /// Writes one chunk of all its pieces, row-major.
    ///
    /// # Errors
    /// What the store says.
    fn write(&self, index: &[u64], pieces: Vec<Option<Bytes>>, scratch: &mut Scratch) -> Result<()>;
}

/// The cells of a sparse array being written.
pub trait CellTarget: Send + Sync {
    /// The order in which cells have to come.
    fn order(&self) -> CellOrder {
        CellOrder::Sorted
    }

    /// Writes the next cells. Their columns are those that the cells were begun with.
    ///
    /// # Errors
    /// If a value cannot be stored, or the store cannot be written.
    fn write(&self, batch: &Cells) -> Result<()>;

    /// Ends the array after the last cell.
    ///
    /// # Errors
    /// If the store cannot be written.
    fn finish(&self) -> Result<()>;

    /// Removes the cells that were written, as far as the store can.
    ///
    /// # Errors
    /// If the store cannot be written.
    fn abandon(&self) -> Result<()>;
}

/// What must be known of an array's elements before it is begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Whether its texts of any length are of Unicode.
    pub is_unicode: bool,
    /// Whether its texts that are padded by spaces can be padded by zeros as well: none ends in one.
    pub can_pad: bool,
    /// Whether all of it was written, so that no element is fill.
    pub is_whole: bool,
    /// Whether readers of where it is from take its fill value for a missing one, though no attribute says so.
    pub fill_is_missing: bool,
    /// Whether what was not written is so little that it may be written out.
    pub can_fill: bool,
    /// Where its filters are from.
    pub filters: Filters,
    /// Whether all of its elements pass them.
    pub fits_filters: bool,
}

/// Where the filters of an array that is to be written are from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Filters {
    /// Its elements have passed them.
    #[default]
    Passed,
    /// A text has them.
    Described,
    /// Somebody asked for them.
    Asked,
}

impl Default for Facts {
    fn default() -> Self {
        Facts {
            is_unicode: true,
            can_pad: true,
            is_whole: true,
            can_fill: true,
            fill_is_missing: false,
            filters: Filters::Passed,
            fits_filters: true,
        }
    }
}

/// Something that a format does not hold as it is.
#[derive(Clone, Copy, Debug)]
pub struct Lowered {
    /// What it is.
    pub what: &'static str,
    /// What the format has instead.
    pub becomes: &'static str,
    /// Whether it comes back.
    pub fate: Fate,
}

/// What happens to something that a format does not hold as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fate {
    /// It has another form, is marked, and comes back when it is converted back.
    Restored,
    /// It is stored in another way, and its content is the same.
    Changed,
    /// It is lost.
    Lost(Loss),
}

/// What can be lost, by the words that allow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Loss {
    /// References that lead to nothing.
    References,
    /// Links.
    Links,
    /// Types.
    Types,
    /// Names of values.
    Labels,
    /// Sequences of any length.
    Vlen,
    /// Dimensions that can grow.
    Unlimited,
    /// Attributes.
    Attributes,
    /// Digits.
    Precision,
    /// Names.
    Names,
    /// Filters.
    Filters,
    /// Cells that are not there.
    Sparse,
    /// What cannot be read.
    Unreadable,
}

impl Loss {
    /// All kinds, in the order of help texts.
    pub const ALL: [Loss; 12] = [
        Loss::References,
        Loss::Links,
        Loss::Types,
        Loss::Labels,
        Loss::Vlen,
        Loss::Unlimited,
        Loss::Attributes,
        Loss::Precision,
        Loss::Names,
        Loss::Filters,
        Loss::Sparse,
        Loss::Unreadable,
    ];

    /// The word on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Loss::References => "references",
            Loss::Links => "links",
            Loss::Types => "types",
            Loss::Labels => "labels",
            Loss::Vlen => "vlen",
            Loss::Unlimited => "unlimited",
            Loss::Attributes => "attributes",
            Loss::Precision => "precision",
            Loss::Names => "names",
            Loss::Filters => "filters",
            Loss::Sparse => "sparse",
            Loss::Unreadable => "unreadable",
        }
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fate::Restored => f.write_str("restored"),
            Fate::Changed => f.write_str("changed"),
            Fate::Lost(loss) => write!(f, "lost {loss}"),
        }
    }
}

/// Collects what a format does not hold as it is.
pub trait Losses {
    /// Notes that `place`, an object's path or `PATH@NAME`, is lowered. `detail` tells more of what it is.
    fn note(&mut self, lowered: &'static Lowered, place: String, detail: Option<String>);
}

/// Finds out what of a whole source a format does not hold as it is.
pub trait Planner {
    /// Notes what of an object the format does not hold as it is. Objects come in the order that they are written in.
    ///
    /// # Errors
    /// If it cannot hold the object at all; of the kind
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if its filters were asked for and there are no
    /// such.
    fn plan(&mut self, path: &NodePath, node: &Node, facts: Facts, losses: &mut dyn Losses) -> Result<()>;

    /// Decides whether the format stores the cells of the sparse array that the group at `path` is, with these columns,
    /// which are members of the group. If it does, each column is planned as an object as well, with default facts, as
    /// its values are in the cells. If it does not, the columns are left out, and the planner notes what is lost of the
    /// group and of each of them.
    ///
    /// # Errors
    /// If the format stores cells, but not these.
    fn cells(&mut self, path: &NodePath, columns: &[CellColumn], losses: &mut dyn Losses) -> Result<bool>;

    /// An array whose filters may refuse an element, to be written to nowhere; none if they refuse none.
    ///
    /// # Errors
    /// If the format cannot hold it.
    fn trial(&self, _path: &NodePath, _node: &Node, _facts: Facts) -> Result<Option<Box<dyn ArrayTarget>>> {
        Ok(None)
    }
}

/// A format that stores can be written in.
pub trait TargetFormat: Sync {
    /// The name on the command line.
    fn name(&self) -> &'static str;

    /// Other names of it.
    fn aliases(&self) -> &'static [&'static str] {
        &[]
    }

    /// What names of files end in that are of this format.
    fn suffixes(&self) -> &'static [&'static str];

    /// Whether a store at this path is a directory.
    fn is_directory(&self, path: &Path) -> bool;

    /// What this format alone can be told.
    fn options(&self) -> &'static [TargetOption];

    /// Everything that it does not hold as it is.
    fn lowerings(&self) -> &'static [&'static Lowered];

    /// Begins to plan a source whose dimensions grow like this.
    fn planner<'a>(&self, options: &'a TargetOptions, growing: &'a Growing) -> Box<dyn Planner + 'a>;

    /// Begins a store at `path`, or goes on with one that was begun there: in a directory that is there, or in a file,
    /// which stays as it is if the target is dropped unfinished.
    ///
    /// # Errors
    /// What the system says.
    fn create(
        &self,
        path: &Path,
        is_directory: bool,
        options: &TargetOptions,
        growing: &Arc<Growing>,
    ) -> Result<Box<dyn Target>>;
}

/// Something that one format alone can be told.
#[derive(Clone, Copy, Debug)]
pub struct TargetOption {
    /// Its name behind that of the format.
    pub key: &'static str,
    /// What it may be; nothing but a yes or no if there are no words.
    pub words: &'static [&'static str],
    /// What it means.
    pub means: &'static str,
}

/// What one format alone is told: `zarr.struct=seed`, `zarr.consolidated`.
#[derive(Clone, Debug, Default)]
pub struct TargetOptions {
    given: Vec<(String, Option<String>)>,
}

impl TargetOptions {
    /// Reads `FORMAT.KEY[=VALUE]`.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for a key that no format has, and for
    /// what it cannot be.
    pub fn add(&mut self, option: &str) -> Result<()> {
        let (key, value) = match option.split_once('=') {
            Some((key, value)) => (key, Some(value.to_owned())),
            None => (option, None),
        };
        let known = || TARGETS.iter().flat_map(|format| keys(*format));
        let Some((_, of)) = known().find(|(known, _)| known == key) else {
            let known: std::collections::BTreeSet<_> = known().map(|(known, _)| known).collect();
            let known = known.into_iter().collect::<Vec<_>>().join(", ");
            return Err(Error::invalid(format!("no option {key:?}, there are {known}")));
        };
        let words = if of.words.is_empty() { &["true", "false"] } else { of.words };
        let fits = match &value {
            Some(value) => words.contains(&value.as_str()),
            None => of.words.is_empty(),
        };
        if !fits {
            return Err(Error::invalid(format!("-O {option}: expected {key}={}", words.join(" or "))));
        }
        self.given.push((key.to_owned(), value));
        Ok(())
    }

    /// Whether `FORMAT.KEY` was given, and not as `=false`.
    pub fn has(&self, key: &str) -> bool {
        self.last(key).is_some_and(|value| value.as_deref() != Some("false"))
    }

    /// The value of `FORMAT.KEY`, if it was given one.
    pub fn value(&self, key: &str) -> Option<&str> {
        self.last(key)?.as_deref()
    }

    fn last(&self, key: &str) -> Option<&Option<String>> {
        self.given.iter().rev().find(|(given, _)| given == key).map(|(_, value)| value)
    }
}

impl fmt::Display for TargetOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (key, value)) in self.given.iter().enumerate() {
            f.write_str(if index > 0 { " " } else { "" })?;
            f.write_str(key)?;
            if let Some(value) = value {
                write!(f, "={value}")?;
            }
        }
        Ok(())
    }
}

fn keys(format: &dyn TargetFormat) -> impl Iterator<Item = (String, &'static TargetOption)> {
    // Versions of one format share their options: `zarr.struct`.
    let stem = format.name().trim_end_matches(|c: char| c.is_ascii_digit());
    format.options().iter().map(move |option| (format!("{stem}.{}", option.key), option))
}

/// The format of that name.
///
/// # Errors
/// If there is none.
pub fn target_format(name: &str) -> Result<&'static dyn TargetFormat> {
    let found = TARGETS.iter().find(|format| format.name() == name || format.aliases().contains(&name));
    found.copied().ok_or_else(|| {
        let known: Vec<_> = TARGETS.iter().map(|format| format.name()).collect();
        Error::invalid(format!("no format {name:?} is written, there are {}", known.join(", ")))
    })
}

/// The format that the name of a file or directory ends in.
///
/// # Errors
/// If it ends in none that is known.
pub fn target_format_of(path: &Path) -> Result<&'static dyn TargetFormat> {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let ends =
        |format: &&&'static dyn TargetFormat| format.suffixes().iter().any(|suffix| name.ends_with(suffix));
    TARGETS.iter().find(ends).copied().ok_or_else(|| {
        let known: Vec<_> = TARGETS.iter().map(|format| format.name()).collect();
        Error::invalid("has no suffix of a format that is written")
            .with_remedy(Remedy::NameTargetFormat(known))
    })
}
