//! Checks arrays: the consistency of their documents, and the keys below them.
//!
//! Spec: Zarr v3 "Chunk grids", "Chunk key encodings", Zarr v2 "Chunks"

use super::chunk::ChunkForm;
use super::document::Document;
use super::findings::Found;
use super::names::{self, Listing};
use super::{Checker, MAX_DEPTH, rule};
use crate::array::Array;
use crate::hierarchy::{Metadata, Node};
use crate::metadata::{ChunkKeyEncoding, v3};
use hyperslab_core::nd::{ChunkGrid, element_count};
use hyperslab_core::store::Key;
use hyperslab_core::{ErrorKind, Limits, Result};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// The expected chunks of an array, which are compared with the keys below it.
struct Chunks<'a> {
    node: &'a Node,
    keys: ChunkKeyEncoding,
    grid: ChunkGrid,
    /// The number of chunks along each dimension.
    counts: Vec<u64>,
    /// Whether chunks can be read.
    is_readable: bool,
    /// The expected form of chunks by their shape. `None` after an error that prevents it.
    forms: HashMap<Vec<u64>, Option<ChunkForm>>,
}

impl Checker<'_> {
    /// Checks an array and everything below it. If its document is invalid, the check only searches for nodes below it.
    pub(super) fn array(&mut self, node: &Node, is_sound: bool, document: &Document, listing: &Listing) {
        let path = &node.path;
        let mut chunks = None;
        if is_sound {
            match Chunks::new(node, &self.limits) {
                Ok(found) => chunks = Some(found),
                Err(e) => {
                    let is_limit = e.kind() == ErrorKind::LimitExceeded;
                    let rule = if is_limit { &rule::LIMIT } else { &rule::CHUNK_GRID };
                    self.tell_at(rule, path, document, "/chunk_grid", e.reason().to_string());
                }
            }
        }
        if let Some(chunks) = &mut chunks
            && self.check_sizes(chunks, document)
        {
            match Array::new(node, &self.limits) {
                Ok(_) => chunks.is_readable = true,
                Err(e) => {
                    self.tell_refused(path, document, &e);
                }
            }
        }
        for name in listing.values.iter().filter(|name| !names::is_document(name)) {
            self.below_array(path, path, name, &mut chunks);
        }
        let mut left: Vec<(Key, usize)> = Vec::new();
        let join = |path: &Key, depth: usize, prefixes: &[String], left: &mut Vec<(Key, usize)>| {
            let inner = prefixes.iter().rev().filter_map(|name| path.join(name).ok());
            left.extend(inner.map(|path| (path, depth)));
        };
        join(path, 1, &listing.prefixes, &mut left);
        while let Some((prefix, depth)) = left.pop() {
            if depth >= MAX_DEPTH {
                let message = format!("folders nested more than {MAX_DEPTH} levels deep");
                self.tell(&rule::LIMIT, &prefix, message);
                continue;
            }
            let Some(listing) = self.list(&prefix) else { continue };
            for name in &listing.values {
                self.below_array(path, &prefix, name, &mut chunks);
            }
            join(&prefix, depth + 1, &listing.prefixes, &mut left);
        }
    }

    /// Checks a value below an array: a chunk, or a value that does not belong there.
    fn below_array(&mut self, path: &Key, prefix: &Key, name: &str, chunks: &mut Option<Chunks<'_>>) {
        let Ok(key) = prefix.join(name) else { return };
        if names::is_document(name) {
            let message = format!("a document below the array /{path}");
            let found = Found { object: Some(prefix), key: Some(&key), message, ..Found::default() };
            self.findings.add(&rule::NODE_IN_ARRAY, found);
            return;
        }
        let Some(chunks) = chunks else { return };
        let inner = match path.is_root() {
            true => key.as_str(),
            false => key.as_str().get(path.as_str().len() + 1..).unwrap_or_default(),
        };
        let Some(index) = chunks.index(inner) else {
            let is_like = inner.strip_prefix('c').unwrap_or(inner);
            let is_like = is_like.bytes().all(|byte| byte.is_ascii_digit() || b"./-".contains(&byte));
            if !is_like {
                self.stray(prefix, name);
                return;
            }
            let first = chunks.keys.encode(&vec![0; chunks.counts.len()]);
            let message = format!("{inner:?}, expected the form of the first chunk, {first:?}");
            let hint = Some("the separator, the number of dimensions or the file's name is wrong".to_owned());
            let found = Found { object: Some(path), key: Some(&key), place: None, message, hint };
            self.findings.add(&rule::CHUNK_KEY, found);
            return;
        };
        self.chunks = self.chunks.saturating_add(1);
        if index.iter().zip(&chunks.counts).any(|(place, count)| place >= count) {
            let message = format!("chunk {index:?}, expected a chunk of the grid {:?}", chunks.counts);
            let found = Found { object: Some(path), key: Some(&key), message, ..Found::default() };
            self.findings.add(&rule::CHUNK_OUTSIDE, found);
        } else if chunks.is_readable {
            self.chunk_of(path, &key, &index, chunks);
        }
    }

    fn chunk_of(&mut self, path: &Key, key: &Key, index: &[u64], chunks: &mut Chunks<'_>) {
        // Every index below the counts has a chunk.
        let Ok(chunk) = chunks.grid.chunk(index) else { return };
        let known = chunks.forms.len();
        let form = match chunks.forms.entry(chunk.shape) {
            Entry::Occupied(entry) => entry.into_mut(),
            // Only a malicious grid has chunks of so many shapes.
            Entry::Vacant(_) if known >= MAX_SHAPES => {
                let message = format!("chunks of more than {MAX_SHAPES} different shapes");
                return self.tell(&rule::LIMIT, path, message);
            }
            Entry::Vacant(entry) => {
                let form = ChunkForm::of_chunk(chunks.node, entry.key(), &self.limits);
                if let Err(e) = &form {
                    let message = format!("chunks of {:?}: {}", entry.key(), e.reason());
                    self.tell(&rule::LIMIT, path, message);
                }
                entry.insert(form.ok())
            }
        };
        if let Some(form) = form {
            self.chunk(path, key, form);
        }
    }

    /// Checks the size of chunks and shards, even if none is stored. Returns false if a chunk exceeds all memory.
    fn check_sizes(&mut self, chunks: &Chunks<'_>, document: &Document) -> bool {
        let path = &chunks.node.path;
        let (shape, element, there) = match &chunks.node.metadata {
            Metadata::V3(v3::NodeMetadata::Array(array)) => {
                (&array.shape, array.data_type.stored_size(), "/chunk_grid")
            }
            Metadata::V2Array { array, .. } => (&array.shape, array.dtype.data_type.stored_size(), "/chunks"),
            _ => return false,
        };
        if element_count(shape).and_then(|count| count.checked_mul(element.unwrap_or(1))).is_none() {
            let message = format!("{shape:?} elements take more than 2^64 - 1 bytes");
            self.tell_at(&rule::LIMIT, path, document, "/shape", message);
        }
        let first = chunks.grid.chunk(&vec![0; shape.len()]).map(|chunk| chunk.shape).unwrap_or_default();
        let bytes = element_count(&first).and_then(|count| count.checked_mul(element.unwrap_or(1)));
        if bytes.and_then(|bytes| i64::try_from(bytes).ok()).is_none() {
            let message = format!("chunks of {first:?} elements, expected less than 2^63 bytes");
            self.tell_at(&rule::SIZE, path, document, there, message);
            return false;
        }
        let Metadata::V3(v3::NodeMetadata::Array(array)) = &chunks.node.metadata else { return true };
        for (number, codec) in array.codecs.iter().enumerate() {
            let inner = codec.configuration.as_ref().and_then(|members| members.get("chunk_shape"));
            let inner = inner.and_then(super::chunk::integers);
            if let ("sharding_indexed", Some(inner)) = (codec.name.as_str(), inner)
                && codecs_keep_shape(array, number)
                && first.iter().zip(&inner).any(|(outer, inner)| *inner > 0 && outer % inner != 0)
            {
                let message = format!("inner chunks of {inner:?} do not divide a shard of {first:?}");
                let pointer = format!("/codecs/{number}/configuration/chunk_shape");
                self.tell_at(&rule::SHARD_SHAPE, path, document, &pointer, message);
            }
        }
        true
    }
}

fn codecs_keep_shape(array: &v3::ArrayMetadata, number: usize) -> bool {
    array.codecs.iter().take(number).all(|codec| codec.name != "transpose")
}

impl<'a> Chunks<'a> {
    fn new(node: &'a Node, limits: &Limits) -> Result<Chunks<'a>> {
        let (shape, keys, grid) = match &node.metadata {
            Metadata::V3(v3::NodeMetadata::Array(array)) => {
                let grid = array.chunk_grid.geometry(&array.shape, limits)?;
                (&array.shape, *array.chunk_key_encoding, grid)
            }
            Metadata::V2Array { array, .. } => {
                // Only dimensions of length 0 can have chunks of 0. They contain no elements.
                let chunks: Vec<u64> = array.chunks.iter().map(|chunk| (*chunk).max(1)).collect();
                (&array.shape, array.chunk_key_encoding(), ChunkGrid::regular(&chunks)?)
            }
            _ => return Err(hyperslab_core::Error::invalid("is not an array")),
        };
        let counts = grid.chunks_along(shape)?;
        Ok(Chunks { node, keys, grid, counts, is_readable: false, forms: HashMap::new() })
    }

    /// The index of the chunk with this key. `None` if the key is not in the canonical form.
    fn index(&self, key: &str) -> Option<Vec<u64>> {
        let rank = self.counts.len();
        let digits = key.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty());
        let index: Vec<u64> = match rank {
            0 => Vec::new(),
            // Numbers beyond the rank are not parsed.
            rank => digits.take(rank + 1).map(|digits| digits.parse().ok()).collect::<Option<_>>()?,
        };
        (index.len() == rank && self.keys.encode(&index) == key).then_some(index)
    }
}

/// The maximum number of different chunk shapes in one array. Each needs one pass over the whole document.
const MAX_SHAPES: usize = 1000;
