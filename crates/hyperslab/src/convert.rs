//! The same content in another format or layout.
//!
//! A conversion is planned before a byte is written: [`plan`] walks the source and finds what the target does not
//! hold as it is. [`convert`] walks it again and declares every object, and once more to write the elements, array by
//! array, so that memory does not grow with the file.
//!
//! ```
//! use hyperslab::convert::{ConvertOptions, convert, plan};
//! use hyperslab::publish::Fingerprint;
//! use hyperslab::{OpenOptions, open, target_format_of};
//!
//! let file = "../../examples/ocean.nc".as_ref();
//! let made_from = Fingerprint::of_source(file, "")?;
//! let source = open(file, &OpenOptions::default())?;
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("ocean.zarr");
//! let options = ConvertOptions::new(target_format_of(&path)?);
//! let plan = plan(&*source, &options)?;
//! assert!(plan.report.losses().is_empty());
//! convert(&*source, &made_from, &path, &plan, &options)?;
//! assert!(open(&path, &OpenOptions::default()).is_ok());
//! # Ok::<(), hyperslab::Error>(())
//! ```

mod cells;
mod copy;
mod dimensions;
mod facts;
pub mod layout;
mod parts;
mod plan;
mod prepare;
mod report;
mod scratch;
mod tiles;
mod trial;
mod verify;
mod write;

pub use parts::Parts;
pub use plan::{Plan, check_losses, plan};
pub use prepare::{Prepared, prepare};
pub use report::{LossReport, ReportRow};
pub use verify::{Verified, VerifySide, verify};

use crate::pool::Pool;
use crate::publish::{self, Fingerprint, Publication, PublishOptions};
use crate::source::{ArraySource, Entry, Handle, Item, Source};
use crate::target::{Loss, TargetFormat, TargetOptions};
use crate::walk::{Step, walk};
use hyperslab_core::{Error, ErrorKind, Result};
use hyperslab_model::{Fill, Node, NodePath};
use layout::Layout;
use std::path::Path;
use std::sync::Arc;

/// Is told of the array at hand and how many bytes of elements are copied in all, by the thread that copied the last.
pub type Tell<'a> = &'a (dyn Fn(&NodePath, u64) + Sync);

/// How a source is converted.
#[derive(Clone)]
pub struct ConvertOptions<'a> {
    /// The format of the target.
    pub format: &'a dyn TargetFormat,
    /// What that format alone is told.
    pub native: TargetOptions,
    /// How arrays are laid out.
    pub layout: Layout,
    /// What of the source is converted, if it is not all of it.
    pub parts: Option<Parts>,
    /// What else the result depends on, in words: what was selected of the source.
    pub wishes: String,
    /// What may be lost.
    pub allow: Vec<Loss>,
    /// What becomes of a store that is there, and of what an interrupted run has left.
    pub publish: PublishOptions,
    /// The threads that read and encode, and their memory.
    pub pool: Pool,
    /// Who is told how far it has come.
    pub progress: Option<Tell<'a>>,
}

impl<'a> ConvertOptions<'a> {
    /// Everything as it is, as far as `format` holds it.
    pub fn new(format: &'a dyn TargetFormat) -> Self {
        ConvertOptions {
            format,
            native: TargetOptions::default(),
            layout: Layout::default().always_chunked(format.is_always_chunked()),
            parts: None,
            wishes: String::new(),
            allow: Vec::new(),
            publish: PublishOptions::default(),
            pool: Pool::default(),
            progress: None,
        }
    }
}

/// What a conversion did.
#[derive(Debug, Default)]
pub struct Summary {
    /// Arrays written.
    pub arrays: u64,
    /// Bytes of their elements.
    pub bytes: u64,
    /// Arrays that turned out not to be readable, which was allowed, and why.
    pub left_out: Vec<Error>,
    /// What is worth telling about how it began.
    pub notes: Vec<String>,
}

/// Visits the root and everything below it that is converted, groups before their members.
fn each_object(
    source: &dyn Source,
    root: &Entry,
    options: &ConvertOptions<'_>,
    visit: &mut dyn FnMut(&Entry) -> Result<()>,
) -> Result<()> {
    if !matches!(root.item, Item::Group) {
        return visit(root);
    }
    let mut visit = |entry: &Entry| match options.parts.as_ref().is_none_or(|parts| parts.has(entry)) {
        true => visit(entry),
        false => Ok(()),
    };
    walk(source, &root.handle, &mut |step| match step {
        Step::Enter(group, _) => visit(&Entry { handle: group.clone(), item: Item::Group }),
        Step::Member(entry) => visit(entry),
        Step::Leave(_) => Ok(()),
    })
}

/// Writes everything that is planned to `target`, which appears when it is whole. `made_from` tells what the source lies
/// in, asked for before it was opened, and how it is read: the target must not be among it, and it must not change.
///
/// # Errors
/// If something is lost that is not allowed, or the target cannot be made, before anything is written; the first of
/// reading and writing, with how to go on.
pub fn convert(
    source: &dyn Source,
    made_from: &Fingerprint,
    target: &Path,
    plan: &Plan,
    options: &ConvertOptions<'_>,
) -> Result<Summary> {
    check_losses(plan, options)?;
    let made_from = made_from.clone().and(&options.words());
    let is_directory = options.format.is_directory(target);
    let publication = Publication::begin(target, is_directory, &made_from, &options.publish)?;
    let write = || -> Result<Summary> {
        let store =
            options.format.create(publication.path(), is_directory, &options.native, &plan.growing)?;
        let summary = write::write(source, &*store, plan, options, &publication)?;
        store.finish()?;
        Ok(summary)
    };
    let written = write();
    match written {
        Ok(summary) => publication.publish().map(|()| summary),
        // What the system says of a chunk is of little use without the disk that it is to lie on.
        Err(error) if error.kind() == ErrorKind::Io => {
            Err(publication.interrupted(error, Some(plan.bytes)).in_file(target.display()))
        }
        Err(error) => Err(publication.interrupted(error, Some(plan.bytes))),
    }
}

impl ConvertOptions<'_> {
    /// Looks whether what an interrupted run has left at `target` can be gone on from with these, and writes nothing.
    ///
    /// # Errors
    /// If it was made from something else, or with other options.
    pub fn check_resumable(&self, made_from: &Fingerprint, target: &Path) -> Result<()> {
        publish::check_resumable(target, &made_from.clone().and(&self.words()))
    }

    /// All wishes that what is written depends on, for people to compare.
    fn words(&self) -> String {
        // By name, so that none that is added is forgotten.
        let ConvertOptions { format, native, layout, allow, parts, wishes, publish: _, pool: _, progress: _ } =
            self;
        let mut allow: Vec<_> = allow.iter().map(|loss| loss.name()).collect();
        allow.sort_unstable();
        let allow = if allow.is_empty() { String::new() } else { format!("losses {}", allow.join(",")) };
        let parts = parts.iter().flat_map(Parts::names).map(str::to_owned);
        let words = [format!("format {}", format.name()), native.to_string()].into_iter();
        let words = words.chain(layout.labels().map(str::to_owned)).chain([allow]);
        let words = words.chain(parts).chain([wishes.clone()]).filter(|words| !words.is_empty());
        words.collect::<Vec<_>>().join("; ")
    }
}

/// An object as targets want it: where the default fill value of the target is another one, arrays say their own.
fn load(source: &dyn Source, handle: &Handle, options: &ConvertOptions<'_>) -> Result<Node> {
    let mut node = source.load(handle)?;
    if options.format.needs_default_fill()
        && node.has_elements()
        && let Some(storage) = node.storage_mut()
        && matches!(storage.fill, Fill::Default)
        && let Some(fill) = source.array(handle)?.fill()?
    {
        storage.fill = Fill::Value(fill);
    }
    Ok(node)
}

/// The elements of an array on their way into a target.
fn array_of(
    source: &dyn Source,
    handle: &Handle,
    options: &ConvertOptions<'_>,
) -> Result<Arc<dyn ArraySource>> {
    let array = source.array(handle)?;
    Ok(match source.is_text() {
        // What a text says nothing of is whatever fills it.
        true => array,
        false => options.layout.elements(&handle.path, array),
    })
}
