//! The files of a fragment, which becomes visible when it is [committed](super::commit).
//!
//! Spec: TileDB format_spec, fragment.md
//!
//! These differ between versions: names of data files (8, 9), the schema name in the fragment (10), minima and sums
//! (11), folders and summaries of fragments (12), processed conditions (16).

use super::array::ArrayWriter;
use super::commit::{FOLDERS, fragment_key};
use super::field::{EncodedTile, FieldEncoder};
use super::r_tree::{around, r_tree};
use crate::array::fragment::{FragmentField, METADATA, context, data_files, field_type, slot};
use crate::format::array_schema::ArraySchema;
use crate::format::data_type::CellValNum;
use crate::format::fragment_metadata::FragmentContext;
use crate::format::fragment_metadata::footer::{Footer, GenericTileOffsets};
use crate::format::fragment_metadata::fragment_summary::{FragmentSummary, SlotSummary};
use crate::format::fragment_metadata::mbr::{CoordinateSize, Mbr};
use crate::format::fragment_metadata::processed_conditions::ProcessedConditions;
use crate::format::fragment_metadata::r_tree::RTreeContext;
use crate::format::fragment_metadata::slots::Slots;
use crate::format::fragment_metadata::tile_min_max::TileMinMax;
use crate::format::fragment_metadata::tile_offsets::TileOffsets;
use crate::format::fragment_metadata::tile_sums::TileSums;
use crate::format::timestamped_name::TimestampedName;
use crate::format::{Structure, encode_all};
use crate::summary::{Noting, TileSummary};
use hyperslab_core::store::{Key, ValueWriter};
use hyperslab_core::{Error, Result};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A fragment that is being written.
pub struct FragmentWriter {
    array: ArrayWriter,
    name: TimestampedName,
    folder: Key,
    kind: Kind,
    slots: Slots,
    fields: Vec<Field>,
    /// The rectangles of tiles of a sparse fragment.
    rectangles: Mutex<Vec<Mbr>>,
    processed_conditions: Vec<Vec<u8>>,
}

/// The kind of a fragment.
#[derive(Clone, Debug)]
pub enum Kind {
    /// Dense, with the rectangle of the cells that are written, and the number of cells of a tile.
    Dense {
        /// The coordinates of the cells.
        domain: Mbr,
        /// The number of cells of a tile.
        tile_cells: u64,
    },
    /// Sparse.
    Sparse {
        /// Whether each cell has a timestamp.
        has_timestamps: bool,
        /// Whether each cell has a deletion time and the condition that deleted it.
        has_delete_metadata: bool,
    },
}

/// A fragment whose files are written.
#[derive(Clone, Debug)]
pub struct WrittenFragment {
    /// The name.
    pub name: TimestampedName,
    /// The bytes of the footer, for consolidated fragment metadata.
    pub footer: Vec<u8>,
}

/// A field of the fragment, with its files.
struct Field {
    field: FragmentField,
    slot: usize,
    noting: Noting,
    files: [Option<Box<dyn ValueWriter>>; 3],
    lists: Mutex<Lists>,
}

/// What is known about the tiles of a field.
#[derive(Default)]
struct Lists {
    tiles: Tiles,
    summary: TileSummary,
    /// The sizes of the files.
    sizes: [u64; 3],
}

#[derive(Clone, Default)]
struct Tiles {
    offsets: Vec<u64>,
    var_offsets: Vec<u64>,
    var_sizes: Vec<u64>,
    validity_offsets: Vec<u64>,
    mins: TileMinMax,
    maxes: TileMinMax,
    sums: Vec<u64>,
    null_counts: Vec<u64>,
}

impl FragmentWriter {
    /// Begins a fragment of an array that is visible at a time, in milliseconds since 1970. Its files are created
    /// immediately.
    ///
    /// # Errors
    /// If the store cannot be written, or the format version has no such fragments.
    pub fn new(array: &ArrayWriter, (start, end): (u64, u64), kind: Kind) -> Result<FragmentWriter> {
        let version = array.version();
        let name = array.names().versioned(start, end, version)?;
        let folder = fragment_key(array.array(), &name)?;
        let schema = array.schema();
        let (is_dense, has_timestamps, has_delete_metadata) = match kind {
            Kind::Dense { .. } => (true, false, false),
            Kind::Sparse { has_timestamps, has_delete_metadata } => {
                (false, has_timestamps, has_delete_metadata)
            }
        };
        let dimensions = schema.domain.dimensions.len();
        let slots = Slots {
            version,
            attributes: schema.attributes.len(),
            dimensions,
            has_timestamps,
            has_delete_metadata,
        };
        let attributes = (0..schema.attributes.len()).map(FragmentField::Attribute);
        let coordinates = (0..dimensions).filter(|_| !is_dense).map(FragmentField::Dimension);
        let times = has_timestamps.then_some(FragmentField::Timestamps);
        let deletes = [FragmentField::DeleteTimestamps, FragmentField::DeleteConditions];
        let deletes = deletes.into_iter().filter(|_| has_delete_metadata);
        let mut fields = Vec::new();
        for field in attributes.chain(coordinates).chain(times).chain(deletes) {
            fields.push(Field::create(array, &folder, &slots, field)?);
        }
        let (rectangles, processed_conditions) = (Mutex::default(), Vec::new());
        let array = array.clone();
        Ok(FragmentWriter { array, name, folder, kind, slots, fields, rectangles, processed_conditions })
    }

    /// The name under which it will be visible.
    pub fn name(&self) -> &TimestampedName {
        &self.name
    }

    /// Sets the deletes whose cells the fragment no longer has, or marks as deleted: markers of `.del` files.
    pub fn set_processed_conditions(&mut self, mut files: Vec<Vec<u8>>) {
        files.sort();
        self.processed_conditions = files;
    }

    /// The encoder of a field.
    ///
    /// # Errors
    /// As [`FieldEncoder::new`].
    pub fn encoder(&self, field: FragmentField) -> Result<FieldEncoder> {
        FieldEncoder::new(self.array.schema(), field, self.slots.version, self.array.key())
    }

    /// Writes the next tile of a field after the previous one. Tiles of different fields can come in any order.
    ///
    /// # Errors
    /// If the store cannot be written; [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if the fragment has
    /// no such field, or `bytes` are not those of the tile.
    pub fn put(&self, field: FragmentField, bytes: &[u8], tile: &EncodedTile) -> Result<()> {
        let field = self.fields.iter().find(|own| own.field == field);
        let field = field.ok_or_else(|| Error::invalid("a field that the fragment does not have"))?;
        field.put(bytes, tile)
    }

    /// Records the rectangle around the cells of the next tile of a sparse fragment.
    pub fn put_rectangle(&self, rectangle: Mbr) {
        lock(&self.rectangles).push(rectangle);
    }

    /// Completes all files except the commit file. `last_tile_cells` is the number of cells in the last tile of a
    /// sparse fragment.
    ///
    /// # Errors
    /// If the store cannot be written; [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if fields have
    /// different numbers of tiles.
    pub fn finish(self, last_tile_cells: u64) -> Result<WrittenFragment> {
        let schema = self.array.schema();
        let context = context(schema);
        let rectangles = lock(&self.rectangles).split_off(0);
        let (dense, domain, tiles, last) = match &self.kind {
            Kind::Dense { domain, tile_cells } => (true, Some(domain.clone()), None, *tile_cells),
            Kind::Sparse { .. } => {
                (false, around(schema, &rectangles), Some(rectangles.len()), last_tile_cells)
            }
        };
        let mut expected = tiles;
        for field in &self.fields {
            let found = lock(&field.lists).tiles.offsets.len();
            if *expected.get_or_insert(found) != found {
                let expected = expected.unwrap_or(0);
                return Err(Error::invalid(format!("{found} tiles of a field, expected {expected}")));
            }
            field.finish()?;
        }
        let mut file = MetadataFile { array: &self.array, bytes: Vec::new() };
        let version = self.slots.version;
        let tree = RTreeContext { version, coordinates: context.coordinates.clone() };
        let generic_tiles = self.generic_tiles(&mut file, &r_tree(schema, &rectangles)?, &tree)?;
        let count = usize::try_from(self.slots.count()).unwrap_or(usize::MAX);
        let sizes = |part: usize| {
            let mut sizes = vec![0; count];
            for field in &self.fields {
                if let Some(place) = sizes.get_mut(field.slot) {
                    *place = lock(&field.lists).sizes.get(part).copied().unwrap_or(0);
                }
            }
            sizes
        };
        let footer = Footer {
            version,
            schema_name: (version >= SCHEMA_NAMES).then(|| self.array.schema_name().as_bytes().to_vec()),
            dense,
            non_empty_domain: domain,
            sparse_tile_num: tiles.unwrap_or(0) as u64,
            last_tile_cell_num: last,
            has_timestamps: self.slots.has_timestamps,
            has_delete_metadata: self.slots.has_delete_metadata,
            file_sizes: sizes(0),
            file_var_sizes: sizes(1),
            file_validity_sizes: sizes(2),
            generic_tiles,
            optional_sections: Vec::new(),
        };
        let footer = encode_all(&footer, &context)?;
        file.bytes.extend_from_slice(&footer);
        if has_length_behind(version, &context) {
            file.bytes.extend_from_slice(&(footer.len() as u64).to_le_bytes());
        }
        self.array.put(&self.folder.join(METADATA)?, &file.bytes)?;
        Ok(WrittenFragment { name: self.name, footer })
    }

    /// Writes the structures before the footer, and returns their offsets.
    fn generic_tiles<T: Structure>(
        &self,
        file: &mut MetadataFile<'_>,
        tree: &T,
        context: &T::Context,
    ) -> Result<GenericTileOffsets> {
        let version = self.slots.version;
        let r_tree = file.put(tree, context)?;
        let count = usize::try_from(self.slots.count()).unwrap_or(usize::MAX);
        let (mut tiles, mut summaries) = (vec![Tiles::default(); count], vec![SlotSummary::default(); count]);
        for field in &self.fields {
            let mut lists = lock(&field.lists);
            let TileSummary { min, max, sum, null_count, .. } = std::mem::take(&mut lists.summary);
            if let (Some(tiles), Some(summary)) = (tiles.get_mut(field.slot), summaries.get_mut(field.slot)) {
                *tiles = std::mem::take(&mut lists.tiles);
                *summary = SlotSummary { min, max, sum, null_count };
            }
        }
        let mut numbers = |list: &mut dyn FnMut(&mut Tiles) -> Vec<u64>| -> Result<Vec<u64>> {
            tiles.iter_mut().map(|own| file.put(&TileOffsets { offsets: list(own) }, &())).collect()
        };
        let tile_offsets = numbers(&mut |own| std::mem::take(&mut own.offsets))?;
        let tile_var_offsets = numbers(&mut |own| std::mem::take(&mut own.var_offsets))?;
        let tile_var_sizes = numbers(&mut |own| std::mem::take(&mut own.var_sizes))?;
        let tile_validity_offsets = numbers(&mut |own| std::mem::take(&mut own.validity_offsets))?;
        let mut offsets = GenericTileOffsets {
            r_tree,
            tile_offsets,
            tile_var_offsets,
            tile_var_sizes,
            tile_validity_offsets,
            ..GenericTileOffsets::default()
        };
        if version >= SUMMARIES {
            offsets.tile_mins = tiles.iter().map(|own| file.put(&own.mins, &())).collect::<Result<_>>()?;
            offsets.tile_maxes = tiles.iter().map(|own| file.put(&own.maxes, &())).collect::<Result<_>>()?;
            let mut sums = tiles.iter_mut().map(|own| TileSums { sums: std::mem::take(&mut own.sums) });
            offsets.tile_sums = sums.try_fold(Vec::new(), |mut all, sums| {
                all.push(file.put(&sums, &())?);
                Ok::<_, Error>(all)
            })?;
            let counts =
                tiles.iter_mut().map(|own| TileOffsets { offsets: std::mem::take(&mut own.null_counts) });
            offsets.tile_null_counts = counts.map(|counts| file.put(&counts, &())).collect::<Result<_>>()?;
        }
        if version >= FOLDERS {
            let summary = FragmentSummary { slots: summaries };
            offsets.fragment_summary = Some(file.put(&summary, &count)?);
        }
        if version >= CONDITIONS {
            let conditions = ProcessedConditions { files: self.processed_conditions.clone() };
            offsets.processed_conditions = Some(file.put(&conditions, &())?);
        }
        Ok(offsets)
    }
}

impl Field {
    fn create(array: &ArrayWriter, folder: &Key, slots: &Slots, field: FragmentField) -> Result<Field> {
        let schema: &ArraySchema = array.schema();
        let of = field_type(schema, field)?;
        let [fixed, var, validity] = data_files(schema, slots.version, folder, field)?;
        let store = array.shared_store();
        let file = |key: &Key, is_there: bool| is_there.then(|| Arc::clone(&store).writer(key)).transpose();
        let files = [
            file(&fixed, true)?,
            file(&var, of.cell_val_num == CellValNum::Var)?,
            file(&validity, of.nullable)?,
        ];
        let slot = slot(slots, field)?;
        Ok(Field { field, slot, noting: Noting::of(schema, field), files, lists: Mutex::default() })
    }

    fn put(&self, bytes: &[u8], tile: &EncodedTile) -> Result<()> {
        let mut lists = lock(&self.lists);
        let Lists { tiles, summary, sizes } = &mut *lists;
        let [fixed, var, validity] = *sizes;
        tiles.offsets.push(fixed);
        if self.files[1].is_some() {
            tiles.var_offsets.push(var);
            tiles.var_sizes.push(tile.var_size);
        }
        if self.files[2].is_some() {
            tiles.validity_offsets.push(validity);
        }
        let of = &tile.summary;
        if self.noting.has_ends {
            for (list, end) in [(&mut tiles.mins, &of.min), (&mut tiles.maxes, &of.max)] {
                match self.noting.is_var() {
                    true => {
                        list.fixed.extend_from_slice(&(list.var.len() as u64).to_le_bytes());
                        list.var.extend_from_slice(end);
                    }
                    false => list.fixed.extend_from_slice(end),
                }
            }
        }
        if self.noting.has_sum() {
            tiles.sums.push(of.sum);
        }
        if self.noting.has_null_count {
            tiles.null_counts.push(of.null_count);
        }
        self.noting.add(summary, of);
        let mut rest = bytes;
        for ((file, size), len) in self.files.iter().zip(&mut *sizes).zip(tile.sizes) {
            let part = usize::try_from(len).ok().and_then(|len| rest.split_at_checked(len));
            let (part, behind) = part.ok_or_else(|| Error::invalid("bytes of another tile"))?;
            rest = behind;
            if let Some(file) = file {
                file.write_at(*size, part)?;
                *size = size.saturating_add(len);
            }
        }
        match rest.is_empty() {
            true => Ok(()),
            false => Err(Error::invalid("bytes behind a tile")),
        }
    }

    fn finish(&self) -> Result<()> {
        let sizes = lock(&self.lists).sizes;
        self.files.iter().zip(sizes).try_for_each(|(file, size)| match file {
            Some(file) => file.finish(size),
            None => Ok(()),
        })
    }
}

/// A fragment metadata file, which is assembled in memory.
struct MetadataFile<'a> {
    array: &'a ArrayWriter,
    bytes: Vec<u8>,
}

impl MetadataFile<'_> {
    /// Appends a structure, and returns its offset.
    fn put<S: Structure>(&mut self, structure: &S, context: &S::Context) -> Result<u64> {
        let at = self.bytes.len() as u64;
        self.bytes.append(&mut self.array.generic_tiles().encode(structure, context)?);
        Ok(at)
    }
}

/// Whether the footer is followed by its length.
fn has_length_behind(version: u32, context: &FragmentContext) -> bool {
    version >= SCHEMA_NAMES || context.coordinates.contains(&CoordinateSize::Var)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The version since which fragments contain the name of their schema.
pub(super) const SCHEMA_NAMES: u32 = 10;

/// The version since which minima, maxima, sums and null counts are stored.
const SUMMARIES: u32 = 11;

/// The version since which fragments record which deletes were already applied to them.
const CONDITIONS: u32 = 16;
