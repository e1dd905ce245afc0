//! Converts a store to another format or layout.
//!
//! A conversion is planned before anything is written: [`plan`] walks the source and finds everything that the target
//! cannot store unchanged. [`convert`] walks it again to write it, array by array. For targets that need more than the
//! plan, another walk first declares every object. Memory use does not grow with the size of the file.
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
mod chunking;
mod copy;
mod dimensions;
mod facts;
mod fill_attribute;
pub mod layout;
mod made;
mod names;
mod plan;
mod prepare;
mod references;
mod report;
mod scratch;
mod split;
mod tabled;
mod texts;
mod tiles;
mod trial;
mod typed;
mod unwritten;
mod verify;
mod write;

pub use chunking::Chunking;
use plan::plan_without;
pub use plan::{Plan, check_losses, plan};
pub use prepare::{Prepared, prepare};
pub use report::{LossReport, ReportRow};
pub use verify::{Verified, VerifySide, verify};

use self::typed::Typed;
use self::unwritten::Unwritten;
use crate::format::{OpenOptions, SecretKey};
use crate::pool::Pool;
use crate::publish::{self, Fingerprint, Publication, PublishOptions};
pub use crate::select::Parts;
use crate::source::{ArraySource, Entry, Handle, Item, Source};
use crate::target::{Loss, OptionValue, OrderedMember, TargetFormat, TargetOptions};
use crate::walk::{Step, walk};
use hyperslab_core::rows::Heap;
use hyperslab_core::{Error, ErrorKind, Result};
use hyperslab_model::rows::{are_zero, push_zero};
use hyperslab_model::{Datatype, Fill, Node, NodePath, Unreadable, Values};
use layout::Layout;
use made::Made;
use std::path::Path;
use std::sync::Arc;
use write::Written;

/// A progress callback: receives the current array and the total number of bytes of elements copied so far. Called by
/// the thread that copied the latest elements.
pub type Tell<'a> = &'a (dyn Fn(&NodePath, u64) + Sync);

/// The options of a conversion.
#[derive(Clone)]
pub struct ConvertOptions<'a> {
    /// The format of the target.
    pub format: &'a dyn TargetFormat,
    /// The options that only this format has.
    pub native: TargetOptions,
    /// The layout of arrays: chunks, shards, filters and so on.
    pub layout: Layout,
    /// The converted part of the source; `None` for all of it.
    pub parts: Option<Parts>,
    /// A textual form of all other options that the result depends on, such as selections.
    pub wishes: String,
    /// The losses that are allowed.
    pub allow: Vec<Loss>,
    /// The handling of an existing store, and of the remains of an interrupted run.
    pub publish: PublishOptions,
    /// The threads for reading and encoding, and their memory.
    pub pool: Pool,
    /// The callback for progress.
    pub progress: Option<Tell<'a>>,
}

impl<'a> ConvertOptions<'a> {
    /// The default options: everything is kept unchanged as far as `format` can store it.
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

/// The result of a conversion.
#[derive(Debug, Default)]
pub struct Summary {
    /// The number of arrays written.
    pub arrays: u64,
    /// The size of their elements in bytes.
    pub bytes: u64,
    /// The errors of unreadable arrays that were omitted, where that was allowed.
    pub left_out: Vec<Error>,
    /// Notes on the start of the run.
    pub notes: Vec<String>,
}

/// What a walk over the converted objects visits.
enum Visited<'a> {
    /// An object; groups before their members.
    Object(&'a Entry),
    /// All converted members of a group in stored order, after the group itself. Walks visit members that are groups
    /// last.
    Members(&'a NodePath, &'a [OrderedMember<'a>]),
}

/// Visits the root and every converted object below it.
fn each_object(
    source: &dyn Source,
    root: &Entry,
    (options, made): (&ConvertOptions<'_>, &Made),
    visit: &mut dyn FnMut(Visited<'_>) -> Result<()>,
) -> Result<()> {
    // If the root were left out, there would be nothing to convert.
    let unlisted = |why: &Unreadable| {
        source.pool().check()?;
        Err(Error::malformed(format!("cannot be read: {}", why.reason)).in_object(&root.handle.path))
    };
    match &root.item {
        Item::Group => {}
        Item::Unreadable(why) => return unlisted(why),
        _ => return visit(Visited::Object(root)),
    }
    let is_converted = |entry: &Entry| {
        options.parts.as_ref().is_none_or(|parts| parts.has(entry) || made.has(&entry.handle.path))
    };
    walk(source, &root.handle, &mut |step| match step {
        Step::Enter(group, members) => {
            let entry = Entry { handle: group.clone(), item: Item::Group };
            if !is_converted(&entry) {
                return Ok(());
            }
            visit(Visited::Object(&entry))?;
            let converted = members.iter().filter(|member| is_converted(member));
            let members: Vec<OrderedMember<'_>> = match options.format.has_declared_order() {
                false => converted.map(|member| OrderedMember::of(member, None)).collect(),
                true => {
                    let declared = source.declared(group, members)?;
                    let all = declared.into_iter().zip(members);
                    let mut converted: Vec<_> = all.filter(|(_, member)| is_converted(member)).collect();
                    converted.sort_by_key(|(declared, _)| declared.place);
                    converted
                        .into_iter()
                        .map(|(declared, member)| OrderedMember::of(member, declared.dimension))
                        .collect()
                }
            };
            visit(Visited::Members(&group.path, &members))
        }
        Step::Member(Entry { handle, item: Item::Unreadable(why) }) if handle.path.is_root() => unlisted(why),
        Step::Member(entry) if is_converted(entry) => visit(Visited::Object(entry)),
        Step::Member(_) | Step::Leave(_) => Ok(()),
    })
}

/// Writes the planned store to `target`, which appears when it is complete. `made_from` is the fingerprint of the
/// source, taken before it was opened: the target must not be part of the source, and the source must not change.
///
/// # Errors
/// Before anything is written: if a loss is not allowed, or the target cannot be created. Later: the first error of
/// reading or writing, with a remedy for continuing.
pub fn convert(
    source: &dyn Source,
    made_from: &Fingerprint,
    target: &Path,
    plan: &Plan,
    options: &ConvertOptions<'_>,
) -> Result<Summary> {
    check_losses(plan, options).map_err(|e| cause(e, source))?;
    let made_from = made_from.clone().and(&options.words());
    let is_directory = options.format.is_directory(target);
    let mut publication = Publication::begin(target, is_directory, &made_from, &options.publish)?;
    match written(source, plan, is_directory, options, &mut publication).map_err(|e| cause(e, source)) {
        Ok(summary) => publication.publish().map(|()| summary),
        // A system error of a chunk is only useful with the path of the target.
        Err(error) if error.kind() == ErrorKind::Io => {
            Err(publication.interrupted(error, Some(plan.bytes)).in_file(target.display()))
        }
        Err(error) => Err(publication.interrupted(error, Some(plan.bytes))),
    }
}

/// Writes the planned store. If an array turns out to be unreadable, this is allowed, and the store cannot omit what
/// was declared, then the store is planned and written again without that array.
fn written(
    source: &dyn Source,
    plan: &Plan,
    is_directory: bool,
    options: &ConvertOptions<'_>,
    publication: &mut Publication,
) -> Result<Summary> {
    let mut unreadable = Vec::new();
    let mut later = None;
    loop {
        let plan = later.as_ref().unwrap_or(plan);
        let store =
            options.format.create(publication.path(), is_directory, &options.native, &plan.planned)?;
        let write = |source: &dyn Source| write::write(source, &*store, plan, options, publication);
        match plan.made.with(source, write)? {
            Written::All(mut summary) => {
                check_reads(source, options)?;
                store.finish()?;
                summary.left_out.append(&mut unreadable);
                return Ok(summary);
            }
            Written::Without(error) => {
                drop(store);
                publication.begin_again(&format!("without {}", error.object().unwrap_or_default()))?;
                unreadable.push(error);
                let without = plan_without(source, options, &unreadable)?;
                check_losses(&without, options)?;
                later = Some(without);
            }
        }
    }
}

/// The failed read of the source that may have caused an error, otherwise the error itself: content missing due to a
/// failed read looks like a loss of the target format, or like a missing object that another one needs.
fn cause(error: Error, source: &dyn Source) -> Error {
    let is_cause = matches!(error.kind(), ErrorKind::Io | ErrorKind::Cancelled);
    match source.read_failure().filter(|_| !is_cause) {
        Some(failure) => failure.with_remedies(error.remedies().iter().cloned()),
        None => error,
    }
}

/// Fails if a read of the source failed, unless unreadable objects may be left out. Otherwise, objects planned or
/// declared without the unreadable content would look as if the source did not have it.
fn check_reads(source: &dyn Source, options: &ConvertOptions<'_>) -> Result<()> {
    match source.read_failure().filter(|_| !options.allow.contains(&Loss::Unreadable)) {
        Some(failure) => Err(failure),
        None => Ok(()),
    }
}

impl ConvertOptions<'_> {
    /// The options for opening the written target: with the key, if it is encrypted.
    pub fn opening(&self) -> OpenOptions {
        let file = self.format.key_option().and_then(|key| self.native.get(key));
        let key = match file {
            Some(OptionValue::Text(path)) => Some(SecretKey::in_file(path.into())),
            _ => None,
        };
        OpenOptions { key, ..OpenOptions::default() }
    }

    /// Whether the target is encrypted.
    pub(crate) fn encrypts(&self) -> bool {
        self.opening().key.is_some()
    }

    /// Checks whether an interrupted run at `target` can be resumed with these options. Writes nothing.
    ///
    /// # Errors
    /// If that run had another source or other options.
    pub fn check_resumable(&self, made_from: &Fingerprint, target: &Path) -> Result<()> {
        publish::check_resumable(target, &made_from.clone().and(&self.words()))
    }

    /// A textual form of all options that the result depends on, for the fingerprint.
    fn words(&self) -> String {
        // All fields are listed by name, so that none is forgotten.
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

/// An object as it is written.
struct Loaded {
    node: Node,
    /// Whether its filters are those of the store from which the source was made.
    has_restored_filters: bool,
    /// The attributes whose type differs from that in the source.
    typed: Vec<Typed>,
    /// What the source has instead of the attribute `_FillValue`, if it lacks the attribute in this form.
    instead_of_fill: Option<String>,
}

/// An object as it is written, with its original storage restored. If the default fill value of the target differs,
/// arrays state their own.
fn load(source: &dyn Source, handle: &Handle, options: &ConvertOptions<'_>) -> Result<Loaded> {
    let mut node = source.load(handle)?;
    let origin = node.storage().and_then(|storage| storage.origin.as_deref());
    let has_restored_filters = origin.is_some_and(|origin| !origin.filters.is_empty());
    // A target of the same format keeps the chunks that this one needed.
    let is_recorded = origin.is_some();
    node.restore_origin(is_of_family(source, options))?;
    if source.dialect().undefined_is_zero
        && !is_recorded
        && !is_of_family(source, options)
        && let Some(storage) = node.storage_mut()
        && matches!(storage.fill, Fill::Undefined)
        && has_unwritten(&*source.array(handle)?)?
    {
        // Other formats would have no elements there, or other ones than readers of the source show.
        storage.fill = Fill::Default;
    }
    // Other objects follow the group that contains them.
    let above = if matches!(node, Node::Group(_)) { None } else { handle.path.parent() };
    if source.keeps_order(above.as_ref().unwrap_or(&handle.path))? {
        options.format.track_order(&mut node)?;
    }
    if options.format.needs_default_fill(source.format())
        && let Some(datatype) = node.datatype().cloned()
        && let Some(storage) = node.storage_mut()
        && matches!(storage.fill, Fill::Default)
        && let Some(fill) = stated_fill(source, handle, &datatype, options)?
    {
        storage.fill = Fill::Value(fill);
    }
    let typed =
        typed::attributes(source, &mut node, options).map_err(|error| error.in_object(&handle.path))?;
    let instead_of_fill = fill_attribute::add(source, handle, &mut node, options)?;
    Ok(Loaded { node, has_restored_filters, typed, instead_of_fill })
}

/// Whether source and target are versions of one format.
fn is_of_family(source: &dyn Source, options: &ConvertOptions<'_>) -> bool {
    source.dialect().directives.is_some_and(|own| own.contains(&options.format.family()))
}

/// Whether a chunk of an array is not stored.
fn has_unwritten(array: &dyn ArraySource) -> Result<bool> {
    Ok(array.chunks()?.is_some_and(|chunks| chunks.outer.written < chunks.outer.of))
}

/// The fill value of an array that does not state one, if it is not the default of the target.
fn stated_fill(
    source: &dyn Source,
    handle: &Handle,
    datatype: &Datatype,
    options: &ConvertOptions<'_>,
) -> Result<Option<Values>> {
    let fill = source.array(handle)?.fill()?;
    if options.format.has_zero_fill() {
        return match fill {
            Some(fill) if !are_zero(datatype, &fill)? => Ok(Some(fill)),
            _ => Ok(None),
        };
    }
    // A text document without a fill value leaves the choice to the format.
    if fill.is_some() || source.is_text() || datatype.has_slots() {
        return Ok(fill.filter(|_| !source.is_text()));
    }
    let (mut rows, mut heap) = (Vec::new(), Heap::default());
    push_zero(datatype, &mut rows, &mut heap)?;
    Ok(Some(Values { rows: rows.into(), heap }))
}

/// The elements of an array as they are written.
fn array_of(
    source: &dyn Source,
    handle: &Handle,
    node: &Node,
    options: &ConvertOptions<'_>,
) -> Result<Arc<dyn ArraySource>> {
    let array = source.array(handle)?;
    Ok(match (source.is_text(), node.storage().map(|storage| &storage.fill)) {
        // If a document has no values, all elements have the fill value.
        (true, Some(Fill::Value(fill))) if array.is_unwritten()? => Unwritten::shared(array, fill.clone()),
        (true, _) => array,
        (false, _) => options.layout.elements(&handle.path, array),
    })
}
