//! The history of an array or a group: every schema, fragment, delete and metadata file that still exists.
//!
//! All times are included, regardless of the moment in the options. Names are file names, so that each event can be
//! found.

pub mod condition;
mod value;

pub use value::value_text;

use crate::array::fragment::{METADATA, OpenedFragment};
use crate::array::{Array, OpenOptions};
use crate::directory::{DeletePlace, NamedFile, Vacuum};
use crate::format::array_schema::{ArraySchema, Dimension};
use crate::format::data_type::DataType;
use crate::format::filter_pipeline::FilterPipeline;
use crate::format::fragment_metadata::mbr::Mbr;
use crate::format::group::{GroupDetails, GroupMember};
use crate::format::layout::ArrayType;
use crate::format::metadata::{Entry, Metadata};
use crate::format::timestamped_name::TimestampedName;
use crate::group::Group;
use crate::opened::Moment;
use crate::read::DenseDomain;
use hyperslab_core::Result;
use hyperslab_core::store::{Key, Store};
use std::sync::Arc;

/// The history of an array. Each list begins with the oldest event.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ArrayHistory {
    /// The schemas.
    pub schemas: Vec<SchemaEvent>,
    /// The fragments, including those that others replace.
    pub fragments: Vec<FragmentEvent>,
    /// The deletes of cells.
    pub deletes: Vec<DeleteEvent>,
    /// The metadata files.
    pub metadata: Vec<MetadataEvent>,
}

/// The history of a group. Each list begins with the oldest event.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GroupHistory {
    /// The files with members.
    pub details: Vec<DetailsEvent>,
    /// The metadata files.
    pub metadata: Vec<MetadataEvent>,
}

/// When something was written, and in which file or folder it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The name of the file or folder.
    pub name: String,
    /// The first moment, in milliseconds since 1970. `None` for the schemas of arrays before version 10.
    pub start: Option<u64>,
    /// The last moment, later than the first if several were consolidated.
    pub end: Option<u64>,
    /// The name of the consolidated file or fragment that replaces it: it can then be vacuumed.
    pub replaced_by: Option<String>,
    /// The size in bytes of the file, or of the files in the folder.
    pub bytes: u64,
}

/// A schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaEvent {
    /// When it was written.
    pub written: Written,
    /// The format version.
    pub version: u32,
    /// The differences from the previous schema. The first schema creates the array.
    pub changes: Vec<SchemaChange>,
}

/// How a schema differs from the previous one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SchemaChange {
    /// The array was created.
    Created,
    /// An attribute was added.
    AttributeAdded(String),
    /// An attribute was dropped.
    AttributeDropped(String),
    /// An attribute with the same name has changed.
    AttributeChanged(String),
    /// An enumeration was added.
    EnumerationAdded(String),
    /// An enumeration was dropped.
    EnumerationDropped(String),
    /// An enumeration has more values, in another file.
    EnumerationExtended(String),
    /// The current domain has changed.
    CurrentDomain {
        /// Before.
        before: Option<Vec<RangeText>>,
        /// After.
        after: Option<Vec<RangeText>>,
    },
    /// The format version has changed.
    Version {
        /// Before.
        before: u32,
        /// After.
        after: u32,
    },
    /// Something else has changed: orders, the capacity, filters of coordinates and offsets, dimensions, labels.
    Other(&'static str),
}

/// A fragment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FragmentEvent {
    /// When it was written.
    pub written: Written,
    /// The format version.
    pub version: u32,
    /// Dense or sparse.
    pub kind: ArrayType,
    /// Whether it was consolidated from others: it then covers a range of times.
    pub is_consolidated: bool,
    /// Whether its cells have the times at which they were written.
    pub has_timestamps: bool,
    /// The number of cells: in sparse fragments, of stored cells; in dense ones, of cells in the non-empty domain.
    pub cells: u64,
    /// The smallest and the largest coordinate of each dimension, as text. `None` if nothing was written.
    pub non_empty_domain: Option<Vec<RangeText>>,
}

/// Converts the bytes of a value to text.
pub type ValueText<'a> = &'a dyn Fn(DataType, &[u8]) -> String;

/// A range of coordinates of a dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RangeText {
    /// The dimension.
    pub dimension: String,
    /// The smallest coordinate.
    pub min: String,
    /// The largest coordinate.
    pub max: String,
}

/// A delete of cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeleteEvent {
    /// When it was written.
    pub written: Written,
    /// The condition of the cells that it deletes.
    pub condition: String,
    /// Whether the condition is in a file of consolidated commits.
    pub is_consolidated: bool,
}

/// A metadata file.
#[derive(Clone, Debug, PartialEq)]
pub struct MetadataEvent {
    /// When it was written.
    pub written: Written,
    /// Keys with their values; without a value if the key was deleted.
    pub entries: Vec<Entry>,
}

/// A file with members of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DetailsEvent {
    /// When it was written.
    pub written: Written,
    /// The members, including deleted ones.
    pub members: Vec<GroupMember>,
}

impl ArrayHistory {
    /// Reads the history of the array at a key of a store.
    ///
    /// # Errors
    /// If the store cannot be read, there is no array, or a file of it is malformed.
    pub fn read(store: Arc<dyn Store>, array: &Key, options: OpenOptions) -> Result<ArrayHistory> {
        ArrayHistory::read_with(store, array, options, &value_text)
    }

    /// As [`read`](ArrayHistory::read), but converts values to text with another function than [`value_text`].
    ///
    /// # Errors
    /// As [`read`](ArrayHistory::read).
    pub fn read_with(
        store: Arc<dyn Store>,
        array: &Key,
        options: OpenOptions,
        text: ValueText<'_>,
    ) -> Result<ArrayHistory> {
        let array = Array::open(store, array, OpenOptions { at: Moment::ALL, ..options })?;
        let (directory, tiles) = (array.directory(), array.generic_tiles());
        let mut history = ArrayHistory::default();
        let mut schemas: Vec<(Option<Vec<u8>>, Arc<ArraySchema>)> = Vec::new();
        for file in &directory.schemas {
            let schema: ArraySchema = tiles.structure(&file.key, 0, &())?;
            let changes = match schemas.last() {
                None => vec![SchemaChange::Created],
                Some((_, before)) => changes(before, &schema, text),
            };
            let times = file.name.as_ref().map(|name| (name.start, name.end));
            let written = Written {
                name: file.key.name().to_owned(),
                start: times.map(|(start, _)| start),
                end: times.map(|(_, end)| end),
                replaced_by: None,
                bytes: array.store.size(&file.key)?.unwrap_or(0),
            };
            history.schemas.push(SchemaEvent { written, version: schema.version, changes });
            let name = file.name.as_ref().map(|_| file.key.name().as_bytes().to_vec());
            schemas.push((name, Arc::new(schema)));
        }
        for fragment in &directory.fragments {
            let opened = OpenedFragment::read(&tiles, fragment, None, &mut |name| {
                let found = schemas.iter().find(|(own, _)| own.as_deref() == name);
                let none = || {
                    hyperslab_core::Error::malformed("a fragment of a schema that the array does not have")
                };
                found.map(|(_, schema)| Arc::clone(schema)).ok_or_else(none)
            })?;
            let metadata = array.store.size(&fragment.key.join(METADATA)?)?.unwrap_or(0);
            let bytes = bytes_of(&opened, metadata);
            let written = written(&fragment.name, bytes, &directory.fragment_vacuums, &|name| {
                directory.fragments.iter().any(|fragment| fragment.name == *name)
            });
            history.fragments.push(fragment_event(written, &opened, text));
        }
        for (delete, condition) in array.deletes()? {
            let bytes = match &delete.place {
                DeletePlace::File(file) => array.store.size(file)?.unwrap_or(0),
                DeletePlace::Consolidated(bytes) => bytes.len() as u64,
            };
            history.deletes.push(DeleteEvent {
                written: written(&delete.name, bytes, &[], &|_| true),
                condition: condition::deleted_text(&condition, array.schema(), &|field, data_type, value| {
                    enumerated(&array, field, value).unwrap_or_else(|| text(data_type, value))
                }),
                is_consolidated: matches!(delete.place, DeletePlace::Consolidated(_)),
            });
        }
        for file in &directory.metadata {
            let Metadata { entries } = tiles.structure(&file.key, 0, &())?;
            let written = of_file(&*array.store, file, &directory.metadata, &directory.metadata_vacuums)?;
            history.metadata.push(MetadataEvent { written, entries });
        }
        Ok(history)
    }
}

impl GroupHistory {
    /// Reads the history of the group at a key of a store.
    ///
    /// # Errors
    /// If the store cannot be read, or a file of the group is malformed.
    pub fn read(store: Arc<dyn Store>, group: &Key, options: OpenOptions) -> Result<GroupHistory> {
        let group = Group::open(Arc::clone(&store), group, OpenOptions { at: Moment::ALL, ..options })?;
        let (directory, tiles) = (group.directory(), group.generic_tiles());
        let mut history = GroupHistory::default();
        for file in &directory.details {
            let GroupDetails { members, .. } = tiles.structure(&file.key, 0, &())?;
            let written = of_file(&*store, file, &directory.details, &directory.detail_vacuums)?;
            history.details.push(DetailsEvent { written, members });
        }
        for file in &directory.metadata {
            let Metadata { entries } = tiles.structure(&file.key, 0, &())?;
            let written = of_file(&*store, file, &directory.metadata, &directory.metadata_vacuums)?;
            history.metadata.push(MetadataEvent { written, entries });
        }
        Ok(history)
    }
}

fn of_file(store: &dyn Store, file: &NamedFile, all: &[NamedFile], vacuums: &[Vacuum]) -> Result<Written> {
    let bytes = store.size(&file.key)?.unwrap_or(0);
    Ok(written(&file.name, bytes, vacuums, &|name| all.iter().any(|other| other.name == *name)))
}

/// When something was written, and what replaces it, if that exists.
fn written(
    name: &TimestampedName,
    bytes: u64,
    vacuums: &[Vacuum],
    is_there: &dyn Fn(&TimestampedName) -> bool,
) -> Written {
    let text = name.to_string();
    let vacuum = vacuums.iter().find(|vacuum| vacuum.replaced.contains(&text) && is_there(&vacuum.name));
    let replaced_by = vacuum.map(|vacuum| vacuum.name.to_string());
    Written { name: text, start: Some(name.start), end: Some(name.end), replaced_by, bytes }
}

/// The size in bytes of the tile files of a fragment, and of its metadata.
fn bytes_of(fragment: &OpenedFragment, metadata: u64) -> u64 {
    let footer = &fragment.footer;
    let sizes = [&footer.file_sizes, &footer.file_var_sizes, &footer.file_validity_sizes];
    sizes.into_iter().flatten().fold(metadata, |sum, size| sum.saturating_add(*size))
}

/// The value of an enumeration at a position, in quotes. `None` for values that are not strings: for numbers, a
/// condition contains the position itself.
fn enumerated(array: &Array, field: &[u8], position: &[u8]) -> Option<String> {
    let attribute = array.schema().attributes.iter().find(|of| of.name == field)?;
    let enumeration = array.enumeration(attribute.enumeration.as_deref()?).ok()?;
    let mut number = [0; 8];
    number.get_mut(..position.len())?.copy_from_slice(position);
    let position = usize::try_from(u64::from_le_bytes(number)).ok()?;
    let value = enumeration.values()?.nth(position)?;
    enumeration.data_type.is_text().then(|| value_text(enumeration.data_type, value))
}

fn fragment_event(written: Written, fragment: &OpenedFragment, text: ValueText<'_>) -> FragmentEvent {
    let footer = &fragment.footer;
    let domain = footer.non_empty_domain.as_ref();
    let cells = match footer.dense {
        false => {
            let full = footer.sparse_tile_num.saturating_sub(1).saturating_mul(fragment.schema.capacity);
            if footer.sparse_tile_num == 0 { 0 } else { full.saturating_add(footer.last_tile_cell_num) }
        }
        true => {
            let indexes = domain.and_then(|domain| {
                DenseDomain::of(&fragment.schema).ok()?.indexes(&fragment.schema, domain).ok()
            });
            let sides = indexes.map(|within| within.shape());
            sides.map_or(0, |sides| sides.iter().fold(1, |cells: u64, side| cells.saturating_mul(*side)))
        }
    };
    FragmentEvent {
        version: fragment.version(),
        kind: if footer.dense { ArrayType::Dense } else { ArrayType::Sparse },
        is_consolidated: fragment.name.start != fragment.name.end,
        has_timestamps: footer.has_timestamps,
        cells,
        non_empty_domain: domain.map(|domain| range_texts(&fragment.schema, domain, text)),
        written,
    }
}

fn range_texts(schema: &ArraySchema, rectangle: &Mbr, text: ValueText<'_>) -> Vec<RangeText> {
    let dimensions = schema.domain.dimensions.iter().zip(&rectangle.ranges);
    dimensions
        .map(|(dimension, range)| RangeText {
            dimension: lossy(&dimension.name),
            min: text(dimension.data_type, &range.min),
            max: text(dimension.data_type, &range.max),
        })
        .collect()
}

/// How a schema differs from the previous one.
fn changes(before: &ArraySchema, after: &ArraySchema, text: ValueText<'_>) -> Vec<SchemaChange> {
    let mut changes = Vec::new();
    for attribute in &after.attributes {
        match before.attributes.iter().find(|other| other.name == attribute.name) {
            None => changes.push(SchemaChange::AttributeAdded(lossy(&attribute.name))),
            Some(other) if other != attribute => {
                changes.push(SchemaChange::AttributeChanged(lossy(&attribute.name)));
            }
            Some(_) => {}
        }
    }
    let dropped =
        before.attributes.iter().filter(|own| after.attributes.iter().all(|other| other.name != own.name));
    changes.extend(dropped.map(|attribute| SchemaChange::AttributeDropped(lossy(&attribute.name))));
    for enumeration in &after.enumerations {
        match before.enumerations.iter().find(|other| other.name == enumeration.name) {
            None => changes.push(SchemaChange::EnumerationAdded(lossy(&enumeration.name))),
            Some(other) if other.file_name != enumeration.file_name => {
                changes.push(SchemaChange::EnumerationExtended(lossy(&enumeration.name)));
            }
            Some(_) => {}
        }
    }
    let dropped = before
        .enumerations
        .iter()
        .filter(|own| after.enumerations.iter().all(|other| other.name != own.name));
    changes.extend(dropped.map(|enumeration| SchemaChange::EnumerationDropped(lossy(&enumeration.name))));
    let current = |schema: &ArraySchema| {
        let rectangle = schema.current_domain.as_ref()?.rectangle.as_ref()?;
        Some(range_texts(schema, rectangle, text))
    };
    let (domain_before, domain_after) = (current(before), current(after));
    if domain_before != domain_after {
        changes.push(SchemaChange::CurrentDomain { before: domain_before, after: domain_after });
    }
    if before.version != after.version {
        changes.push(SchemaChange::Version { before: before.version, after: after.version });
    }
    let others = [
        ("array type", before.array_type != after.array_type),
        ("duplicates", before.allows_dups != after.allows_dups),
        ("tile order", before.tile_order != after.tile_order),
        ("cell order", before.cell_order != after.cell_order),
        ("capacity", before.capacity != after.capacity),
        ("coordinate filters", before.coords_filters != after.coords_filters),
        ("offset filters", before.offsets_filters != after.offsets_filters),
        ("validity filters", before.validity_filters != after.validity_filters),
        ("dimensions", dimensions(before) != dimensions(after)),
        ("dimension labels", before.dimension_labels != after.dimension_labels),
    ];
    // When a schema evolves, the filters of the schema become those of dimensions without filters.
    changes.extend(
        others.into_iter().filter(|(_, differs)| *differs).map(|(what, _)| SchemaChange::Other(what)),
    );
    changes
}

/// The dimensions without their filters.
fn dimensions(schema: &ArraySchema) -> Vec<Dimension> {
    let without =
        |dimension: &Dimension| Dimension { filters: FilterPipeline::default(), ..dimension.clone() };
    schema.domain.dimensions.iter().map(without).collect()
}

fn lossy(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}
