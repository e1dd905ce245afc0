//! Statistics of arrays: stored bytes, chunks, filters, and a summary of their values.

mod advice;
mod fold;
mod summary;

pub use advice::{Advice, Better};
pub use summary::{Figure, Summary, SummaryOptions, summary, summary_with};

use crate::cells::CellSource;
use crate::list::{filters_label, type_label};
use crate::source::{ChunkCount, Chunks, Entry, Handle, Item, MissingSources, Source};
use crate::walk::{Step, walk};
use hyperslab_core::nd::element_count;
use hyperslab_core::{Error, Result};
use hyperslab_model::{Datatype, Shape};
use std::sync::Arc;

/// The storage of one array.
#[derive(Debug)]
pub struct ArrayStat {
    /// The datatype as a short text.
    pub datatype: String,
    /// The dimensions.
    pub shape: Shape,
    /// The size of the elements in bytes, uncompressed; `None` if elements have variable length, or are in the cells of
    /// a sparse array, whose number does not follow from the extents.
    pub logical: Option<u64>,
    /// The stored size in bytes.
    pub stored: u64,
    /// The chunks; `None` if the array is contiguous.
    pub chunks: Option<Chunks>,
    /// The size of the elements of a chunk in bytes; of an inner chunk if there are shards.
    pub each: Option<u64>,
    /// The names of the filters.
    pub filters: String,
    /// Better ways to store the array.
    pub advice: Vec<Advice>,
    /// The sources of a virtual array that do not exist.
    pub missing: MissingSources,
}

impl ArrayStat {
    /// The compression ratio: decoded bytes per stored byte. `None` if either is unknown or nothing is stored.
    pub fn ratio(&self) -> Option<f64> {
        let logical = self.logical.filter(|_| self.stored > 0)?;
        Some(logical as f64 / self.stored as f64)
    }

    /// The chunks that readers decode separately: inner chunks if there are shards.
    pub fn decoded_chunks(&self) -> Option<&ChunkCount> {
        self.chunks.as_ref().map(|chunks| chunks.inner.as_ref().unwrap_or(&chunks.outer))
    }
}

/// Visits `entry`, or the arrays with values below it, in document order. Unreadable objects are also visited.
///
/// # Errors
/// For objects that are neither groups nor arrays with values; the first error of `visit`.
pub fn arrays(source: &dyn Source, entry: &Entry, visit: &mut dyn FnMut(&Entry) -> Result<()>) -> Result<()> {
    let no =
        |kind: &str| Err(Error::invalid(format!("{kind} has no elements whose storage could be reported")));
    match &entry.item {
        Item::Group => walk(source, &entry.handle, &mut |step| match step {
            Step::Member(entry) if is_array(&entry.item) => visit(entry),
            _ => Ok(()),
        }),
        item if is_array(item) => visit(entry),
        Item::Array { .. } => no("a dimension without values"),
        Item::Datatype(_) => no("a datatype"),
        _ => Err(Error::invalid("a link has no stored elements; name its target")),
    }
}

/// Whether [`arrays`] accepts an object: a group, or an array with values.
pub fn is_told(item: &Item) -> bool {
    matches!(item, Item::Group) || is_array(item)
}

fn is_array(item: &Item) -> bool {
    matches!(item, Item::Array { datatype: Some(_), .. } | Item::Unreadable(_))
}

/// The storage of an array.
///
/// ```
/// use hyperslab::stat::stat;
/// use hyperslab::{NodePath, OpenOptions, open};
///
/// let source = open("../../examples/ocean.nc".as_ref(), &OpenOptions::default())?;
/// let stat = stat(&*source, &source.find(&NodePath::new("/salinity")?)?)?;
/// let chunks = stat.decoded_chunks().expect("it is chunked");
/// assert_eq!((stat.logical, chunks.written, chunks.of), (Some(4320), 5, 5));
/// # Ok::<(), hyperslab::Error>(())
/// ```
///
/// # Errors
/// If it is not an array with a datatype, or its chunks cannot be listed.
pub fn stat(source: &dyn Source, entry: &Entry) -> Result<ArrayStat> {
    stat_array(source, entry).map_err(|error| error.in_object(&entry.handle.path))
}

fn stat_array(source: &dyn Source, entry: &Entry) -> Result<ArrayStat> {
    let (datatype, shape, stored) = match &entry.item {
        Item::Array { datatype: Some(datatype), shape, stored, .. } => (datatype, shape, stored),
        Item::Unreadable(unreadable) => return Err(Error::new(unreadable.kind, unreadable.reason.clone())),
        _ => return Err(Error::invalid("no array with values")),
    };
    let array = source.array(&entry.handle)?;
    let element = stored_size(datatype);
    let count = match array.is_of_cells() {
        true => None,
        false => array.extents().map_or(Some(0), element_count),
    };
    let mut stat = ArrayStat {
        datatype: type_label(&entry.item).into_owned(),
        shape: shape.clone(),
        logical: count.zip(element).and_then(|(count, element)| count.checked_mul(element)),
        stored: array.stored()?,
        chunks: array.chunks()?,
        each: None,
        filters: filters_label(stored),
        advice: Vec::new(),
        missing: array.missing_sources()?,
    };
    let chunk = stat.decoded_chunks().and_then(|chunks| element_count(&chunks.shape));
    stat.each = chunk.zip(element).and_then(|(count, element)| count.checked_mul(element));
    stat.advice = advice::of(&entry.handle.path, &stat);
    Ok(stat)
}

/// A column of a sparse array.
struct ColumnOf {
    group: Handle,
    cells: Arc<dyn CellSource>,
    number: usize,
}

impl ColumnOf {
    /// The column that corresponds to an array [of cells](ArraySource::is_of_cells).
    fn read(source: &dyn Source, array: &Handle) -> Result<Option<ColumnOf>> {
        let Some(group) = array.path.parent() else { return Ok(None) };
        let group = source.find(&group)?.handle;
        let Some(cells) = source.cells(&group)? else { return Ok(None) };
        let number = cells.columns().iter().position(|column| column.name == array.path.name());
        Ok(number.map(|number| ColumnOf { group, cells, number }))
    }
}

/// The size of an element in bytes; `None` if elements have variable length.
fn stored_size(datatype: &Datatype) -> Option<u64> {
    Some(match datatype {
        _ if datatype.has_slots() => return None,
        Datatype::Int { bits, .. } | Datatype::Time { bits } => u64::from(bits.div_ceil(8)),
        Datatype::Compound(members) => {
            members.iter().try_fold(0_u64, |sum, member| sum.checked_add(stored_size(&member.datatype)?))?
        }
        Datatype::Array { base, shape } => element_count(shape)?.checked_mul(stored_size(base)?)?,
        Datatype::Nullable(of) => stored_size(of)?.checked_add(1)?,
        Datatype::Enum { base, .. } => stored_size(base)?,
        Datatype::Named(_, of) => stored_size(of)?,
        other => other.row_size()? as u64,
    })
}
