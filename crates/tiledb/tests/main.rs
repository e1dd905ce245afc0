//! Arrays and structures in files of other programs; tiles written by the TileDB library, random tiles, and damaged
//! tiles.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests may panic")]

mod arrays;
mod check;
mod consolidated;
mod corpus;
mod damage;
mod evolved;
mod handmade;
mod history;
mod hostile;
mod killed;
mod refusals;
mod returns;
mod sorted;
mod sparse;
mod tiles;
mod versions;
mod written;

use hyperslab_codec::{Deflate, decode_within};
use hyperslab_core::Decoder;
use hyperslab_tiledb::filter::{Key, Pipeline, Scratch, TileType};
use hyperslab_tiledb::format::data_type::DataType;
use hyperslab_tiledb::format::filter_pipeline::{Filter, FilterPipeline};
use hyperslab_tiledb::format::{Structure, decode_all};
use std::fs;
use std::path::Path;

/// The key of encrypted cases.
pub(crate) const KEY: &[u8] = b"0123456789abcdef0123456789ABCDEF";

/// A file that `make_tiles.py` wrote with the TileDB library, and its content.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) version: u32,
    pub(crate) tile_type: TileType,
    pub(crate) stored: FilterPipeline,
    /// The pipeline as a schema stores it.
    pub(crate) pipeline_bytes: Vec<u8>,
    /// Whether other writers produce the same bytes.
    pub(crate) is_same: bool,
    pub(crate) tiles: Vec<Tile>,
}

/// A tile as it is stored, and its cells.
pub(crate) struct Tile {
    pub(crate) stored: Vec<u8>,
    pub(crate) cells: Vec<u8>,
    /// The offsets of cells of variable size.
    pub(crate) offsets: Vec<u64>,
}

impl Case {
    pub(crate) fn pipeline(&self) -> Pipeline {
        let pipeline = Pipeline::new(&self.stored, &self.tile_type).unwrap();
        match self.stored.filters.last() {
            Some(Filter::Encryption) => pipeline.with_key(&Key::new(KEY).unwrap()),
            _ => pipeline,
        }
    }
}

/// All cases.
pub(crate) fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join("tiles");
    let index = fs::read_to_string(folder.join("index.tsv")).unwrap();
    let (mut group, mut left) = (String::new(), Vec::new());
    let mut cases = Vec::new();
    for line in index.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        if group != fields[0] {
            assert!(left.is_empty(), "{group}");
            group = fields[0].to_owned();
            let packed = fs::read(folder.join(format!("{group}.z"))).unwrap();
            let codecs = [Deflate { level: 6 }.into()];
            left = decode_within(&codecs, &packed, 64 << 20, &mut hyperslab_codec::Scratch::new()).unwrap();
        }
        let mut part = || {
            let len = usize::try_from(u64::from_le_bytes(left[..8].try_into().unwrap())).unwrap();
            let part = left[8..8 + len].to_vec();
            left.drain(..8 + len);
            part
        };
        let [file, cells, offsets, counts] = [part(), part(), part(), part()];
        cases.push(case(&fields, &file, &cells, &numbers(&offsets), &numbers(&counts)));
    }
    assert!(left.is_empty());
    cases
}

fn case(fields: &[&str], file: &[u8], cells: &[u8], offsets: &[u64], counts: &[u64]) -> Case {
    let data_type = DataType::of(fields[2].parse().unwrap()).unwrap();
    let version = fields[4].parse().unwrap();
    let tile_type = match fields[3] {
        "var" | "strings" => TileType::variable(data_type, version),
        values => TileType::fixed(data_type, values.parse().unwrap(), version),
    };
    let pipeline_bytes = hex(fields[5]);
    let d = Decoder::new(FilterPipeline::NAME, 0, &pipeline_bytes);
    let stored = decode_all(d, &version).unwrap();
    let (mut files, mut cells, mut offsets) = (split(file).into_iter(), cells, offsets);
    let mut tiles = Vec::new();
    for (ordinal, count) in counts.iter().enumerate() {
        let count = usize::try_from(*count).unwrap();
        let (own, after) = offsets.split_at(count.min(offsets.len()));
        let len = if !tile_type.is_variable {
            count * usize::try_from(tile_type.cell_size).unwrap()
        } else if ordinal + 1 == counts.len() {
            cells.len()
        } else {
            // The cells of a tile end where its chunks end.
            chunk_lens(&files.as_slice()[0])
        };
        tiles.push(Tile {
            stored: files.next().unwrap(),
            cells: cells[..len].to_vec(),
            offsets: own.to_vec(),
        });
        (cells, offsets) = (&cells[len..], after);
    }
    assert!(cells.is_empty() && offsets.is_empty() && files.len() == 0, "{fields:?}");
    Case {
        name: fields[1].to_owned(),
        version,
        tile_type,
        stored,
        pipeline_bytes,
        is_same: fields[6] == "same",
        tiles,
    }
}

/// The tiles of a file, one after another.
fn split(file: &[u8]) -> Vec<Vec<u8>> {
    let (mut tiles, mut left) = (Vec::new(), file);
    while !left.is_empty() {
        let mut d = Decoder::new("Tile", 0, left);
        for _ in 0..d.u64().unwrap() {
            let [_, data, metadata] = [d.u32(), d.u32(), d.u32()].map(|len| len.unwrap());
            d.take(usize::try_from(data + metadata).unwrap()).unwrap();
        }
        let (tile, rest) = left.split_at(left.len() - d.remaining());
        tiles.push(tile.to_vec());
        left = rest;
    }
    tiles
}

/// The decoded size of a tile, as its chunks state it.
fn chunk_lens(tile: &[u8]) -> usize {
    let mut d = Decoder::new("Tile", 0, tile);
    let mut sum = 0;
    for _ in 0..d.u64().unwrap() {
        let [len, data, metadata] = [d.u32(), d.u32(), d.u32()].map(|len| len.unwrap());
        d.take(usize::try_from(data + metadata).unwrap()).unwrap();
        sum += len;
    }
    usize::try_from(sum).unwrap()
}

fn numbers(bytes: &[u8]) -> Vec<u64> {
    bytes.chunks_exact(8).map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap())).collect()
}

fn hex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

/// Decodes a tile: its cells, and the offsets if they are rebuilt.
pub(crate) fn decode(
    pipeline: &Pipeline,
    tile: &[u8],
    limit: u64,
    scratch: &mut Scratch,
) -> hyperslab_core::Result<(Vec<u8>, Vec<u64>)> {
    let (mut cells, mut offsets) = (Vec::new(), Vec::new());
    let d = Decoder::new("Tile", 0, tile);
    match pipeline.rebuilds_offsets() {
        true => pipeline.decode_strings(d, limit, &mut cells, &mut offsets, scratch)?,
        false => pipeline.decode(d, limit, &mut cells, scratch)?,
    }
    Ok((cells, offsets))
}
