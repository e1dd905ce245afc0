//! Arrays made by hand, and fragments that are taken apart and put together again.

use hyperslab_core::store::{Key, MemoryStore, Store};
use hyperslab_core::{Decoder, Encoder};
use hyperslab_tiledb::filter::{Pipeline, Scratch, TileType};
use hyperslab_tiledb::format::array_schema::{ArraySchema, Attribute, Dimension, Domain};
use hyperslab_tiledb::format::data_type::{CellValNum, DataType};
use hyperslab_tiledb::format::filter_pipeline::FilterPipeline;
use hyperslab_tiledb::format::fragment_metadata::FragmentContext;
use hyperslab_tiledb::format::fragment_metadata::footer::{Footer, GenericTileOffsets};
use hyperslab_tiledb::format::fragment_metadata::fragment_summary::{FragmentSummary, SlotSummary};
use hyperslab_tiledb::format::fragment_metadata::mbr::{Mbr, Mbrs, Range};
use hyperslab_tiledb::format::fragment_metadata::processed_conditions::ProcessedConditions;
use hyperslab_tiledb::format::fragment_metadata::r_tree::{RTree, RTreeContext};
use hyperslab_tiledb::format::fragment_metadata::tile_min_max::TileMinMax;
use hyperslab_tiledb::format::fragment_metadata::tile_offsets::TileOffsets;
use hyperslab_tiledb::format::fragment_metadata::tile_sums::TileSums;
use hyperslab_tiledb::format::generic_tile::{Encryption, GenericTileHeader};
use hyperslab_tiledb::format::layout::{ArrayType, DataOrder, Layout};
use hyperslab_tiledb::format::{Structure, decode_all, encode_all};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Files by their keys.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// The parts of the metadata of a fragment of version 22. Lists have an entry for each slot.
pub(crate) struct Parts {
    pub(crate) folder: String,
    pub(crate) context: FragmentContext,
    pub(crate) footer: Footer,
    pub(crate) r_tree: RTree,
    pub(crate) offsets: Vec<TileOffsets>,
    pub(crate) var_offsets: Vec<TileOffsets>,
    pub(crate) var_sizes: Vec<TileOffsets>,
    pub(crate) validity_offsets: Vec<TileOffsets>,
    pub(crate) mins: Vec<TileMinMax>,
    pub(crate) maxes: Vec<TileMinMax>,
    pub(crate) sums: Vec<TileSums>,
    pub(crate) null_counts: Vec<TileOffsets>,
    pub(crate) summary: FragmentSummary,
    pub(crate) conditions: ProcessedConditions,
}

pub(crate) fn store_of(files: &Files) -> Arc<dyn Store> {
    let mut store = MemoryStore::new();
    for (key, content) in files {
        store.insert(&Key::new(key).unwrap(), content.clone());
    }
    Arc::new(store)
}

/// A generic tile without filters.
pub(crate) fn generic(body: &[u8]) -> Vec<u8> {
    let tile = tile(body);
    let header = GenericTileHeader {
        version: 22,
        persisted_size: tile.len() as u64,
        tile_size: body.len() as u64,
        data_type: DataType::Char,
        cell_size: 1,
        encryption: Encryption::None,
        filters: FilterPipeline { max_chunk_size: 65_536, filters: Vec::new() },
    };
    [encode_all(&header, &()).unwrap(), tile].concat()
}

pub(crate) fn generic_of<S: Structure>(structure: &S, context: &S::Context) -> Vec<u8> {
    generic(&encode_all(structure, context).unwrap())
}

/// A tile of one chunk without filters.
pub(crate) fn tile(cells: &[u8]) -> Vec<u8> {
    let mut e = Encoder::new();
    e.u64(1);
    e.u32(u32::try_from(cells.len()).unwrap());
    e.u32(u32::try_from(cells.len()).unwrap());
    e.u32(0);
    e.bytes(cells);
    e.into_bytes()
}

/// The structure in the generic tile at an offset in a file.
pub(crate) fn structure<S: Structure>(file: &[u8], at: u64, context: &S::Context) -> S {
    decode_all(Decoder::new(S::NAME, 0, &body(file, at)), context).unwrap()
}

/// The decoded body of a file that is a generic tile.
#[allow(dead_code, reason = "the trials of bad input use it")]
pub(crate) fn raw_body(file: &[u8]) -> Vec<u8> {
    body(file, 0)
}

fn body(file: &[u8], at: u64) -> Vec<u8> {
    let mut d = Decoder::new("Generic Tile", at, &file[usize::try_from(at).unwrap()..]);
    let header = GenericTileHeader::decode(&mut d, &()).unwrap();
    let stored = d.take(usize::try_from(header.persisted_size).unwrap()).unwrap();
    let tile_type =
        TileType { data_type: header.data_type, cell_size: 1, is_variable: false, version: header.version };
    let pipeline = Pipeline::new(&header.filters, &tile_type).unwrap();
    let mut body = Vec::new();
    pipeline
        .decode(Decoder::new("Tile", 0, stored), header.tile_size, &mut body, &mut Scratch::new())
        .unwrap();
    body
}

/// Changes the newest schema of an array.
pub(crate) fn change_schema(files: &mut Files, array: &str, change: impl FnOnce(&mut ArraySchema)) {
    let prefix = format!("{array}/__schema/__");
    let is_schema = |key: &&String| key.starts_with(&prefix) && !key.contains("enumerations");
    let key = files.keys().rfind(is_schema).unwrap().clone();
    let mut schema: ArraySchema = structure(&files[&key], 0, &());
    change(&mut schema);
    files.insert(key, generic_of(&schema, &()));
}

/// The first schema of an array.
pub(crate) fn schema_of(files: &Files, array: &str) -> ArraySchema {
    let prefix = format!("{array}/__schema/__");
    let (_, file) = files.iter().find(|(key, _)| key.starts_with(&prefix)).unwrap();
    structure(file, 0, &())
}

impl Parts {
    /// Takes the first fragment of an array apart.
    pub(crate) fn of(files: &Files, array: &str) -> Parts {
        let prefix = format!("{array}/");
        let name = files.keys().find(|key| key.starts_with(&prefix) && key.ends_with(METADATA)).unwrap();
        Parts::of_folder(files, array, name.strip_suffix(METADATA).unwrap())
    }

    /// Takes the fragment in a folder apart.
    pub(crate) fn of_folder(files: &Files, array: &str, folder: &str) -> Parts {
        let (file, folder) = (&files[&format!("{folder}{METADATA}")], folder.to_owned());
        let name_len = usize::from(footer(file)[4]);
        let schema_name = String::from_utf8(footer(file)[12..12 + name_len].to_vec()).unwrap();
        let schema: ArraySchema = structure(&files[&format!("{array}/__schema/{schema_name}")], 0, &());
        let context = FragmentContext {
            attributes: schema.attributes.len(),
            coordinates: schema.domain.coordinate_sizes(),
        };
        let (rest, len) = file.split_at(file.len() - 8);
        let len = usize::try_from(u64::from_le_bytes(len.try_into().unwrap())).unwrap();
        let footer: Footer =
            decode_all(Decoder::new(Footer::NAME, 0, &rest[rest.len() - len..]), &context).unwrap();
        let places = &footer.generic_tiles;
        let lists = |places: &[u64]| places.iter().map(|at| structure(file, *at, &())).collect::<Vec<_>>();
        let ends = |places: &[u64]| places.iter().map(|at| structure(file, *at, &())).collect::<Vec<_>>();
        let tree = RTreeContext { version: footer.version, coordinates: context.coordinates.clone() };
        Parts {
            r_tree: structure(file, places.r_tree, &tree),
            offsets: lists(&places.tile_offsets),
            var_offsets: lists(&places.tile_var_offsets),
            var_sizes: lists(&places.tile_var_sizes),
            validity_offsets: lists(&places.tile_validity_offsets),
            mins: ends(&places.tile_mins),
            maxes: ends(&places.tile_maxes),
            sums: places.tile_sums.iter().map(|at| structure(file, *at, &())).collect(),
            null_counts: lists(&places.tile_null_counts),
            summary: structure(file, places.fragment_summary.unwrap(), &footer.file_sizes.len()),
            conditions: structure(file, places.processed_conditions.unwrap(), &()),
            footer,
            context,
            folder,
        }
    }

    /// Puts the parts together again.
    pub(crate) fn put(mut self, files: &mut Files) {
        let mut file = Vec::new();
        let mut add = |tile: Vec<u8>| {
            let at = file.len() as u64;
            file.extend(tile);
            at
        };
        let tree =
            RTreeContext { version: self.footer.version, coordinates: self.context.coordinates.clone() };
        let r_tree = add(generic_of(&self.r_tree, &tree));
        let mut lists = |lists: &[TileOffsets]| -> Vec<u64> {
            lists.iter().map(|list| add(generic_of(list, &()))).collect()
        };
        let tile_offsets = lists(&self.offsets);
        let tile_var_offsets = lists(&self.var_offsets);
        let tile_var_sizes = lists(&self.var_sizes);
        let tile_validity_offsets = lists(&self.validity_offsets);
        let mut ends = |lists: &[TileMinMax]| -> Vec<u64> {
            lists.iter().map(|list| add(generic_of(list, &()))).collect()
        };
        let tile_mins = ends(&self.mins);
        let tile_maxes = ends(&self.maxes);
        let tile_sums = self.sums.iter().map(|list| add(generic_of(list, &()))).collect();
        let tile_null_counts = self.null_counts.iter().map(|list| add(generic_of(list, &()))).collect();
        let fragment_summary = Some(add(generic_of(&self.summary, &self.summary.slots.len())));
        let processed_conditions = Some(add(generic_of(&self.conditions, &())));
        self.footer.generic_tiles = GenericTileOffsets {
            r_tree,
            tile_offsets,
            tile_var_offsets,
            tile_var_sizes,
            tile_validity_offsets,
            tile_mins,
            tile_maxes,
            tile_sums,
            tile_null_counts,
            fragment_summary,
            unused: None,
            processed_conditions,
        };
        let footer = encode_all(&self.footer, &self.context).unwrap();
        file.extend(&footer);
        file.extend((footer.len() as u64).to_le_bytes());
        files.insert(format!("{}{METADATA}", self.folder), file);
    }
}

/// The schema of arrays made by hand: a dimension `x` of 64 bits, and an attribute `a` of 32.
pub(crate) fn schema(allows_dups: bool) -> ArraySchema {
    let none = FilterPipeline { max_chunk_size: 65_536, filters: Vec::new() };
    let dimension = Dimension {
        name: b"x".to_vec(),
        data_type: DataType::Int64,
        cell_val_num: CellValNum::ONE,
        filters: none.clone(),
        domain: [(-1000_i64).to_le_bytes(), 1000_i64.to_le_bytes()].concat(),
        tile_extent: None,
    };
    let attribute = Attribute {
        name: b"a".to_vec(),
        data_type: DataType::Int32,
        cell_val_num: CellValNum::ONE,
        filters: none.clone(),
        fill_value: Some(vec![0; 4]),
        nullable: false,
        fill_value_validity: 0,
        order: DataOrder::Unordered,
        enumeration: None,
    };
    ArraySchema {
        version: 22,
        allows_dups,
        array_type: ArrayType::Sparse,
        tile_order: Layout::RowMajor,
        cell_order: Layout::RowMajor,
        capacity: 4,
        coords_filters: none.clone(),
        offsets_filters: none.clone(),
        validity_filters: none,
        domain: Domain { dimensions: vec![dimension] },
        attributes: vec![attribute],
        dimension_labels: Vec::new(),
        enumerations: Vec::new(),
        current_domain: None,
    }
}

/// An array named `hand` of this schema, without fragments.
pub(crate) fn array(schema: &ArraySchema) -> Files {
    let mut files = Files::new();
    files.insert(format!("hand/__schema/{SCHEMA}"), generic_of(schema, &()));
    files
}

/// Adds a fragment to the array `hand`, with cells at these coordinates whose values count up from `value`.
pub(crate) fn add_fragment(files: &mut Files, time: u64, coordinates: &[i64], value: i32) {
    let schema = schema_of(files, "hand");
    let capacity = usize::try_from(schema.capacity).unwrap();
    let tiles: Vec<&[i64]> = coordinates.chunks(capacity).collect();
    let name = format!("__{time}_{time}_0123456789abcdef0123456789abcdef_22");
    let folder = format!("hand/__fragments/{name}/");
    let (mut x, mut a) = (Vec::new(), Vec::new());
    let mut parts = Parts {
        folder: folder.clone(),
        context: FragmentContext { attributes: 1, coordinates: schema.domain.coordinate_sizes() },
        r_tree: RTree { fanout: 10, levels: Vec::new(), data_type: None },
        offsets: vec![TileOffsets::default(); 3],
        var_offsets: vec![TileOffsets::default(); 3],
        var_sizes: vec![TileOffsets::default(); 3],
        validity_offsets: vec![TileOffsets::default(); 3],
        mins: vec![TileMinMax::default(); 3],
        maxes: vec![TileMinMax::default(); 3],
        sums: vec![TileSums::default(); 3],
        null_counts: vec![TileOffsets::default(); 3],
        summary: FragmentSummary { slots: vec![SlotSummary::default(); 3] },
        conditions: ProcessedConditions::default(),
        footer: Footer {
            version: 22,
            schema_name: Some(SCHEMA.into()),
            dense: false,
            non_empty_domain: Some(Mbr { ranges: vec![range(coordinates)] }),
            sparse_tile_num: tiles.len() as u64,
            last_tile_cell_num: tiles.last().unwrap().len() as u64,
            has_timestamps: false,
            has_delete_metadata: false,
            file_sizes: vec![0; 3],
            file_var_sizes: vec![0; 3],
            file_validity_sizes: vec![0; 3],
            generic_tiles: GenericTileOffsets::default(),
            optional_sections: Vec::new(),
        },
    };
    let mut next = value;
    let mut sum = 0;
    for cells in &tiles {
        parts.offsets[0].offsets.push(a.len() as u64);
        parts.offsets[2].offsets.push(x.len() as u64);
        x.extend(tile(&cells.iter().flat_map(|cell| cell.to_le_bytes()).collect::<Vec<u8>>()));
        let values: Vec<i32> = (next..).take(cells.len()).collect();
        next += i32::try_from(cells.len()).unwrap();
        let values_bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let tile_type = TileType::fixed(DataType::Int32, 1, 22);
        let pipeline = Pipeline::new(&schema.attributes[0].filters, &tile_type).unwrap();
        pipeline.encode(&values_bytes, &mut a, &mut Scratch::new()).unwrap();
        parts.mins[0].fixed.extend(values[0].to_le_bytes());
        parts.maxes[0].fixed.extend(values[values.len() - 1].to_le_bytes());
        let own: i64 = values.iter().map(|value| i64::from(*value)).sum();
        parts.sums[0].sums.push(own.cast_unsigned());
        sum += own;
    }
    let mut level: Vec<Mbr> = tiles.iter().map(|cells| Mbr { ranges: vec![range(cells)] }).collect();
    loop {
        parts.r_tree.levels.insert(0, Mbrs::of(&level, &parts.context.coordinates).unwrap());
        if level.len() == 1 {
            break;
        }
        let numbers = |bytes: &[u8]| i64::from_le_bytes(bytes.try_into().unwrap());
        level = level
            .chunks(10)
            .map(|below| {
                let ends: Vec<i64> = below
                    .iter()
                    .flat_map(|below| [numbers(&below.ranges[0].min), numbers(&below.ranges[0].max)])
                    .collect();
                Mbr { ranges: vec![range(&ends)] }
            })
            .collect();
    }
    parts.summary.slots[0] = SlotSummary {
        min: value.to_le_bytes().to_vec(),
        max: (next - 1).to_le_bytes().to_vec(),
        sum: sum.cast_unsigned(),
        null_count: 0,
    };
    parts.footer.file_sizes = vec![a.len() as u64, 0, x.len() as u64];
    files.insert(format!("{folder}a0.tdb"), a);
    files.insert(format!("{folder}d0.tdb"), x);
    files.insert(format!("hand/__commits/{name}.wrt"), Vec::new());
    parts.put(files);
}

/// The footer, which begins with its version, the length of the schema name, and the name. Its own length follows it.
pub(crate) fn footer(file: &[u8]) -> &[u8] {
    let (rest, len) = file.split_at(file.len() - 8);
    &rest[rest.len() - usize::try_from(u64::from_le_bytes(len.try_into().unwrap())).unwrap()..]
}

fn range(cells: &[i64]) -> Range {
    let (min, max) = (cells.iter().min().unwrap(), cells.iter().max().unwrap());
    Range { min: min.to_le_bytes().to_vec(), max: max.to_le_bytes().to_vec() }
}

pub(crate) const SCHEMA: &str = "__1_1_0123456789abcdef0123456789abcdef";
const METADATA: &str = "__fragment_metadata.tdb";
