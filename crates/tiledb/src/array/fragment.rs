//! A fragment of an opened array: the content of its metadata, and the location of its tiles.

use crate::directory::{Fragment, NamedFile};
use crate::format::array_schema::{ArraySchema, Attribute};
use crate::format::consolidated_fragment_metadata::ConsolidatedFragmentMetadata;
use crate::format::data_file_name::DataFile;
use crate::format::data_type::{CellValNum, DataType};
use crate::format::filter_pipeline::FilterPipeline;
use crate::format::fragment_metadata::FragmentContext;
use crate::format::fragment_metadata::footer::{Footer, GenericTileOffsets};
use crate::format::fragment_metadata::mbr::Mbr;
use crate::format::fragment_metadata::processed_conditions::ProcessedConditions;
use crate::format::fragment_metadata::r_tree::{RTree, RTreeContext};
use crate::format::fragment_metadata::slots::Slots;
use crate::format::fragment_metadata::tile_offsets::TileOffsets;
use crate::format::fragment_metadata::version_1::LegacyFragmentMetadata;
use crate::format::timestamped_name::TimestampedName;
use crate::format::uri_lines::last_name;
use crate::format::{Structure, decode_all};
use crate::read::generic_tile::{GenericTiles, absent, check_allocation};
use bytes::Bytes;
use hyperslab_core::store::Key;
use hyperslab_core::{Decoder, Error, Result};
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// A fragment whose metadata was read.
#[derive(Debug)]
pub struct OpenedFragment {
    /// The name.
    pub name: TimestampedName,
    /// The folder.
    pub folder: Key,
    /// The schema that it was written with.
    pub schema: Arc<ArraySchema>,
    /// The content of its footer. Versions 1 and 2 have no footer; for them, the same from their metadata.
    pub footer: Footer,
    /// How the slots of lists are counted.
    pub slots: Slots,
    lists: Vec<OnceLock<TileLists>>,
    r_tree: OnceLock<RTree>,
}

/// Finds the schema of a name, or the only one before version 10.
pub(crate) type FindSchema<'a> = dyn FnMut(Option<&[u8]>) -> Result<Arc<ArraySchema>> + 'a;

/// A field of a fragment: anything that has a file of tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FragmentField {
    /// The attribute at this position in the schema of the fragment.
    Attribute(usize),
    /// The dimension at this position. Only sparse fragments have its coordinates.
    Dimension(usize),
    /// The coordinates of all dimensions in one file, before version 5.
    Coordinates,
    /// The timestamps of cells.
    Timestamps,
    /// The deletion times of cells.
    DeleteTimestamps,
    /// The positions, among the processed conditions, of those that deleted cells.
    DeleteConditions,
}

/// The type of the cells of a field.
pub(crate) struct FieldType<'a> {
    pub(crate) data_type: DataType,
    pub(crate) cell_val_num: CellValNum,
    pub(crate) nullable: bool,
    pub(crate) filters: &'a FilterPipeline,
}

/// The locations of the tiles of a field in its files.
#[derive(Clone, Debug, Default)]
pub(crate) struct TileLists {
    pub(crate) fixed: Vec<u64>,
    pub(crate) var: Vec<u64>,
    pub(crate) var_sizes: Vec<u64>,
    pub(crate) validity: Vec<u64>,
}

/// The sizes of the files of a field, according to the footer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileSizes {
    pub(crate) fixed: u64,
    pub(crate) var: u64,
    pub(crate) validity: u64,
}

impl OpenedFragment {
    /// Reads the metadata of a fragment. A copy of its footer, from [consolidated metadata](copies), saves a request.
    pub(crate) fn read(
        tiles: &GenericTiles<'_>,
        fragment: &Fragment,
        copy: Option<&[u8]>,
        schema_of: &mut FindSchema<'_>,
    ) -> Result<OpenedFragment> {
        let file = fragment.key.join(METADATA)?;
        if fragment.name.fragment_version() < 3 {
            return Self::read_legacy(tiles, fragment, &file, schema_of(None)?);
        }
        let copy = copy.map(|bytes| decode_footer(Decoder::new(Footer::NAME, 0, bytes), fragment, schema_of));
        let (footer, schema) = match copy.and_then(Result::ok) {
            Some(found) => found,
            None => read_footer(tiles, fragment, &file, schema_of).map_err(|e| e.in_object(&file))?,
        };
        let slots = footer.slots(&context(&schema));
        let lists = (0..footer.file_sizes.len()).map(|_| OnceLock::new()).collect();
        Ok(Self::of(fragment, schema, footer, slots, lists))
    }

    fn of(
        fragment: &Fragment,
        schema: Arc<ArraySchema>,
        footer: Footer,
        slots: Slots,
        lists: Vec<OnceLock<TileLists>>,
    ) -> OpenedFragment {
        let (name, folder) = (fragment.name.clone(), fragment.key.clone());
        OpenedFragment { name, folder, schema, footer, slots, lists, r_tree: OnceLock::new() }
    }

    fn read_legacy(
        tiles: &GenericTiles<'_>,
        fragment: &Fragment,
        file: &Key,
        schema: Arc<ArraySchema>,
    ) -> Result<OpenedFragment> {
        let context = context(&schema);
        let found: LegacyFragmentMetadata = tiles.structure(file, 0, &context)?;
        let coordinates = fragment.key.join("__coords.tdb")?;
        let dense = tiles.store.size(&coordinates)?.is_none();
        let domain = match found.non_empty_domain.is_empty() {
            true => None,
            false => Some(decode_all::<Mbr>(
                Decoder::new(Mbr::NAME, 0, &found.non_empty_domain),
                &context.coordinates,
            )?),
        };
        let footer = Footer {
            version: found.version,
            schema_name: None,
            dense,
            non_empty_domain: domain,
            sparse_tile_num: found.mbrs.len() as u64,
            last_tile_cell_num: found.last_tile_cell_num,
            has_timestamps: false,
            has_delete_metadata: false,
            file_sizes: found.file_sizes,
            file_var_sizes: found.file_var_sizes,
            file_validity_sizes: Vec::new(),
            generic_tiles: GenericTileOffsets::default(),
            optional_sections: Vec::new(),
        };
        let slots = footer.slots(&context);
        let (mut var, mut var_sizes) = (found.tile_var_offsets.into_iter(), found.tile_var_sizes.into_iter());
        let mut lists = Vec::with_capacity(found.tile_offsets.len());
        for fixed in found.tile_offsets {
            let (var, var_sizes) = (var.next().unwrap_or_default(), var_sizes.next().unwrap_or_default());
            lists.push(OnceLock::from(TileLists { fixed, var, var_sizes, validity: Vec::new() }));
        }
        let opened = Self::of(fragment, schema, footer, slots, lists);
        // It was not set before, so this cannot fail.
        let _ = opened.r_tree.set(RTree { fanout: RTree::FANOUT, levels: vec![found.mbrs], data_type: None });
        Ok(opened)
    }

    /// The format version.
    pub fn version(&self) -> u32 {
        self.footer.version
    }

    /// The field of an attribute of the array. `None` if the attribute is newer than the fragment.
    pub(crate) fn attribute(&self, of: &Attribute) -> Result<Option<FragmentField>> {
        let mut attributes = self.schema.attributes.iter().enumerate();
        let Some((position, own)) = attributes.find(|(_, own)| own.name == of.name) else { return Ok(None) };
        if (own.data_type, own.cell_val_num) != (of.data_type, of.cell_val_num) {
            let name = String::from_utf8_lossy(&of.name);
            let detail = format!("attribute {name:?} of another datatype than in the schema of the array");
            return Err(Error::unsupported(detail).in_object(&self.folder));
        }
        Ok(Some(FragmentField::Attribute(position)))
    }

    /// The field with the coordinates of a dimension. `None` in a dense fragment, which stores none, and before version
    /// 5 for all dimensions but the first, since one file then has the coordinates of all of them.
    pub(crate) fn dimension(&self, position: usize) -> Option<FragmentField> {
        match (self.footer.dense, self.version() < 5, position) {
            (true, ..) => None,
            (false, true, 0) => Some(FragmentField::Coordinates),
            (false, true, _) => None,
            (false, false, position) => Some(FragmentField::Dimension(position)),
        }
    }

    /// The files of a field: with values or offsets, with values of variable size, with validities.
    pub(crate) fn file(&self, field: FragmentField) -> Result<[Key; 3]> {
        data_files(&self.schema, self.version(), &self.folder, field)
    }

    pub(crate) fn field_type(&self, field: FragmentField) -> Result<FieldType<'_>> {
        field_type(&self.schema, field)
    }

    fn slot(&self, field: FragmentField) -> Result<usize> {
        slot(&self.slots, field)
    }

    pub(crate) fn file_sizes(&self, field: FragmentField) -> Result<FileSizes> {
        let slot = self.slot(field)?;
        let of = |sizes: &[u64]| sizes.get(slot).copied().unwrap_or(0);
        let Footer { file_sizes, file_var_sizes, file_validity_sizes, .. } = &self.footer;
        Ok(FileSizes { fixed: of(file_sizes), var: of(file_var_sizes), validity: of(file_validity_sizes) })
    }

    /// The locations of the tiles of a field. They are read when they are first requested. If two threads request them
    /// at the same time, both read them, and neither waits.
    pub(crate) fn tile_lists(&self, tiles: &GenericTiles<'_>, field: FragmentField) -> Result<&TileLists> {
        let slot = self.slot(field)?;
        let cell = self.lists.get(slot).ok_or_else(no_field)?;
        if let Some(lists) = cell.get() {
            return Ok(lists);
        }
        let (field, file) = (self.field_type(field)?, self.folder.join(METADATA)?);
        let list = |offsets: &[u64], is_there: bool| match offsets.get(slot) {
            Some(at) if is_there => tiles.structure::<TileOffsets>(&file, *at, &()).map(|list| list.offsets),
            _ => Ok(Vec::new()),
        };
        let (places, is_var) = (&self.footer.generic_tiles, field.cell_val_num.is_var());
        let lists = TileLists {
            fixed: list(&places.tile_offsets, true)?,
            var: list(&places.tile_var_offsets, is_var)?,
            var_sizes: list(&places.tile_var_sizes, is_var)?,
            validity: list(&places.tile_validity_offsets, field.nullable)?,
        };
        Ok(cell.get_or_init(|| lists))
    }

    /// The conditions that were applied when the fragment was written.
    pub(crate) fn processed_conditions(&self, tiles: &GenericTiles<'_>) -> Result<Vec<Vec<u8>>> {
        let Some(at) = self.footer.generic_tiles.processed_conditions else { return Ok(Vec::new()) };
        let found: ProcessedConditions = tiles.structure(&self.folder.join(METADATA)?, at, &())?;
        Ok(found.files)
    }

    /// The rectangles of the tiles of a sparse fragment, read in the same way as [`tile_lists`](Self::tile_lists).
    pub(crate) fn r_tree(&self, tiles: &GenericTiles<'_>) -> Result<&RTree> {
        if let Some(tree) = self.r_tree.get() {
            return Ok(tree);
        }
        let coordinates = self.schema.domain.coordinate_sizes();
        let context = RTreeContext { version: self.version(), coordinates };
        let file = self.folder.join(METADATA)?;
        let tree = tiles.structure(&file, self.footer.generic_tiles.r_tree, &context)?;
        Ok(self.r_tree.get_or_init(|| tree))
    }
}

/// The files of a field of a fragment in a folder: with values or offsets, with values of variable size, with
/// validities.
pub(crate) fn data_files(
    schema: &ArraySchema,
    version: u32,
    folder: &Key,
    field: FragmentField,
) -> Result<[Key; 3]> {
    let named = match field {
        FragmentField::Attribute(position) => {
            let attribute = schema.attributes.get(position).ok_or_else(no_field)?;
            DataFile::Attribute { position, name: &attribute.name }
        }
        FragmentField::Dimension(position) => {
            let dimension = schema.domain.dimensions.get(position).ok_or_else(no_field)?;
            DataFile::Dimension { position, name: &dimension.name }
        }
        FragmentField::Coordinates => DataFile::Coordinates,
        FragmentField::Timestamps => DataFile::Timestamps,
        FragmentField::DeleteTimestamps => DataFile::DeleteTimestamps,
        FragmentField::DeleteConditions => DataFile::DeleteConditions,
    };
    let key = |name: Vec<u8>| {
        let name = String::from_utf8(name)
            .map_err(|_| Error::unsupported("a field whose name, which is that of its file, is not UTF-8"));
        folder.join(&name?)
    };
    Ok([key(named.fixed(version))?, key(named.var(version))?, key(named.validity(version))?])
}

/// The type of the cells of a field, according to the schema of its fragment.
pub(crate) fn field_type(schema: &ArraySchema, field: FragmentField) -> Result<FieldType<'_>> {
    let own = |data_type, values| FieldType {
        data_type,
        cell_val_num: CellValNum::Fixed(values),
        nullable: false,
        filters: &schema.coords_filters,
    };
    Ok(match field {
        FragmentField::Attribute(position) => {
            let attribute = schema.attributes.get(position).ok_or_else(no_field)?;
            FieldType {
                data_type: attribute.data_type,
                cell_val_num: attribute.cell_val_num,
                nullable: attribute.nullable,
                filters: &attribute.filters,
            }
        }
        FragmentField::Dimension(position) => {
            let dimension = schema.domain.dimensions.get(position).ok_or_else(no_field)?;
            let filters = match dimension.filters.filters.is_empty() {
                true => &schema.coords_filters,
                false => &dimension.filters,
            };
            let (data_type, cell_val_num) = (dimension.data_type, dimension.cell_val_num);
            FieldType { data_type, cell_val_num, nullable: false, filters }
        }
        FragmentField::Coordinates => {
            let dimensions = &schema.domain.dimensions;
            let first = dimensions.first().ok_or_else(no_field)?;
            own(first.data_type, u32::try_from(dimensions.len()).map_err(|_| no_field())?)
        }
        FragmentField::Timestamps | FragmentField::DeleteTimestamps | FragmentField::DeleteConditions => {
            own(DataType::UInt64, 1)
        }
    })
}

/// The slot of a field in lists of fragment metadata.
pub(crate) fn slot(slots: &Slots, field: FragmentField) -> Result<usize> {
    let slot = match field {
        FragmentField::Attribute(position) => Some(position as u64),
        FragmentField::Dimension(position) => slots.dimension(position),
        FragmentField::Coordinates => Some(slots.coordinates()),
        FragmentField::Timestamps => slots.timestamps(),
        FragmentField::DeleteTimestamps => slots.delete_timestamps(),
        FragmentField::DeleteConditions => slots.delete_timestamps().and_then(|slot| slot.checked_add(1)),
    };
    slot.and_then(|slot| usize::try_from(slot).ok()).ok_or_else(no_field)
}

/// What the schema determines about the lists of a fragment.
pub(crate) fn context(schema: &ArraySchema) -> FragmentContext {
    FragmentContext { attributes: schema.attributes.len(), coordinates: schema.domain.coordinate_sizes() }
}

fn read_footer(
    tiles: &GenericTiles<'_>,
    fragment: &Fragment,
    file: &Key,
    schema_of: &mut FindSchema<'_>,
) -> Result<(Footer, Arc<ArraySchema>)> {
    let value = tiles.store.find(file)?.ok_or_else(absent)?;
    let size = value.size();
    let mut tail: Bytes = value.part(size.saturating_sub(TAIL)..size)?;
    let version = fragment.name.fragment_version();
    let known = match version < 10 {
        true => Footer::known_len(version, &context(&*schema_of(None)?)),
        false => None,
    };
    let (len, behind) = match known {
        Some(len) => (len, 0),
        None => match tail.last_chunk::<8>() {
            Some(len) => (u64::from_le_bytes(*len), 8),
            None => return Err(Error::malformed(format!("{size} bytes, which hold no footer"))),
        },
    };
    let begin = size
        .checked_sub(behind)
        .and_then(|end| end.checked_sub(len))
        .ok_or_else(|| Error::malformed(format!("a footer of {len} bytes in a file of {size}")))?;
    if begin < size.saturating_sub(tail.len() as u64) {
        check_allocation(tiles.limits, len)?;
        tail = value.part(begin..size)?;
    }
    let first = size.saturating_sub(tail.len() as u64);
    let range = begin.checked_sub(first).and_then(|from| usize::try_from(from).ok());
    let to = usize::try_from(behind).ok().and_then(|behind| tail.len().checked_sub(behind));
    let bytes = range.zip(to).and_then(|(from, to)| tail.get(from..to));
    let bytes =
        bytes.ok_or_else(|| Error::malformed(format!("a footer of {len} bytes in a file of {size}")))?;
    decode_footer(Decoder::new(Footer::NAME, begin, bytes), fragment, schema_of)
}

fn decode_footer(
    d: Decoder<'_>,
    fragment: &Fragment,
    schema_of: &mut FindSchema<'_>,
) -> Result<(Footer, Arc<ArraySchema>)> {
    let schema = match fragment.name.fragment_version() < 10 {
        true => schema_of(None)?,
        false => schema_of(Footer::beginning(&mut d.clone())?.1.as_deref())?,
    };
    let footer = decode_all(d, &context(&schema))?;
    Ok((footer, schema))
}

/// The copies of footers in the newest file of consolidated fragment metadata, by fragment name.
///
/// Fragments also have their footers in their own files. If the consolidated file cannot be read, the footers are read
/// from there, and [`check`](crate::check) reports the file.
pub(crate) fn copies(tiles: &GenericTiles<'_>, files: &[NamedFile]) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let newest = files.iter().max_by_key(|file| (file.name.end, file.name.to_string()));
    let read = newest.map(|file| tiles.structure::<ConsolidatedFragmentMetadata>(&file.key, 0, &()));
    let found = read.and_then(Result::ok).unwrap_or_default();
    found.fragments.into_iter().map(|of| (last_name(&of.uri).to_vec(), of.footer)).collect()
}

fn no_field() -> Error {
    Error::invalid("a field that the fragment does not have")
}

pub(crate) const METADATA: &str = "__fragment_metadata.tdb";

/// The number of bytes that are read from the end of a file before the size of the footer is known.
const TAIL: u64 = 16 << 10;
