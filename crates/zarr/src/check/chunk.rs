//! Checks that the codecs can decode the bytes of chunks.
//!
//! Spec: Zarr v3 "Codecs", Zarr v2 "Chunks"

use super::findings::{Found, ValuePlace};
use super::shard::Shard;
use super::{Checker, Rule, rule};
use crate::array::Array;
use crate::hierarchy::{Metadata, Node};
use crate::json::{Json, Object};
use crate::metadata::{ChunkGrid, Extension, v3};
use bytes::Bytes;
use hyperslab_core::nd::{Planes, Region, element_count};
use hyperslab_core::rows::Heap;
use hyperslab_core::store::{Entry, Key, MemoryStore, Store, read_each};
use hyperslab_core::{Error, ErrorKind, Limit, Limits, Result};
use std::ops::Range;

/// The expected form of a chunk, as an array with a single chunk.
pub(super) struct ChunkForm {
    array: Array,
    /// The size of its rows in bytes, if they fit in memory.
    rows: Option<usize>,
    /// The stored size in bytes, if no codec compresses it.
    stored: Option<u64>,
    /// Its inner chunks, if it is a shard and no other codec changes its bytes.
    pub(super) shard: Option<Box<Shard>>,
}

/// A part of a value: a chunk or an inner chunk.
pub(super) struct Part<'a> {
    pub(super) store: &'a dyn Store,
    pub(super) key: &'a Key,
    pub(super) range: Range<u64>,
    pub(super) is_whole: bool,
}

impl ChunkForm {
    /// The expected form of a chunk of this shape of an array.
    pub(super) fn of_chunk(node: &Node, shape: &[u64], limits: &Limits) -> Result<ChunkForm> {
        match &node.metadata {
            Metadata::V3(v3::NodeMetadata::Array(array)) => {
                let (data_type, fill) = (array.data_type.json(), array.fill_value.json());
                ChunkForm::of_codecs(data_type, fill, &array.codecs, shape, limits)
            }
            Metadata::V2Array { array, .. } => {
                let mut one = array.clone();
                one.shape = shape.to_vec();
                one.chunks = shape.to_vec();
                let is_plain = array.compressor.is_none() && array.filters.iter().flatten().next().is_none();
                ChunkForm::new(
                    Metadata::V2Array { array: one, attributes: None },
                    is_plain.then_some(0),
                    limits,
                )
            }
            _ => Err(Error::invalid("is not an array")),
        }
    }

    pub(super) fn of_codecs(
        data_type: &Json,
        fill: &Json,
        codecs: &[Extension],
        shape: &[u64],
        limits: &Limits,
    ) -> Result<ChunkForm> {
        let mut object = Object::new();
        object.insert("zarr_format", 3.into());
        object.insert("node_type", "array".into());
        object.insert("shape", shape.into());
        object.insert("data_type", data_type.clone());
        object.insert("chunk_grid", ChunkGrid::regular(shape.to_vec()).json().clone());
        object.insert("chunk_key_encoding", "default".into());
        object.insert("fill_value", fill.clone());
        object.insert("codecs", Json::Array(codecs.iter().map(Extension::emit).collect()));
        let metadata = v3::NodeMetadata::parse(&Json::Object(object), limits)?;
        let sums = codecs.iter().filter(|codec| codec.name == "crc32c").count() as u64;
        let is_plain =
            codecs.iter().all(|codec| matches!(codec.name.as_str(), "bytes" | "transpose" | "crc32c"));
        let mut form = ChunkForm::new(Metadata::V3(metadata), is_plain.then_some(4 * sums), limits)?;
        if let [codec] = codecs
            && codec.name == "sharding_indexed"
        {
            form.shard = Shard::new(codec, data_type, fill, shape, limits)?.map(Box::new);
        }
        Ok(form)
    }

    /// `more` is the number of stored bytes besides the elements. `None` if it is unknown.
    fn new(metadata: Metadata, more: Option<u64>, limits: &Limits) -> Result<ChunkForm> {
        let node = Node { path: Key::root(), metadata };
        let element = match &node.metadata {
            Metadata::V3(v3::NodeMetadata::Array(array)) => array.data_type.stored_size(),
            Metadata::V2Array { array, .. } => array.dtype.data_type.stored_size(),
            _ => None,
        };
        let array = Array::new(&node, limits)?;
        let count = element_count(array.shape());
        let rows = count.and_then(|count| count.checked_mul(array.row_size() as u64));
        let rows = rows.filter(|rows| *rows <= limits.allocation).and_then(|rows| usize::try_from(rows).ok());
        let elements = count.zip(element).and_then(|(count, element)| count.checked_mul(element));
        let stored = elements.zip(more).and_then(|(elements, more)| elements.checked_add(more));
        Ok(ChunkForm { array, rows, stored, shard: None })
    }

    /// Decodes a part to rows.
    pub(super) fn read(
        &self,
        part: &Part<'_>,
        rows: &mut Vec<u8>,
        scratch: &mut hyperslab_codec::Scratch,
    ) -> Result<usize> {
        let Some(len) = self.rows else {
            let shape = self.array.shape();
            let detail = format!("a chunk of shape {shape:?} exceeds the limit of memory");
            return Err(Error::limit_exceeded(Limit::Allocation, detail));
        };
        if let Some(value) = part.find(part.key)? {
            self.array.check_chunk(&*value)?;
        }
        if rows.len() < len {
            rows.resize(len, 0);
        }
        let mut heap = Heap::<()>::default();
        let out = rows.get_mut(..len).unwrap_or_default();
        let region = Region::all(self.array.shape());
        self.array.read_stored(part, &region, &mut Planes::whole(out), &mut heap, scratch)?;
        Ok(len)
    }

    pub(super) fn stored(&self) -> Option<u64> {
        self.stored
    }

    /// The message of an error, without the key of the only chunk.
    pub(super) fn reason(&self, e: &Error) -> String {
        let reason = e.reason().to_string();
        let key = self.array.chunk_key(&vec![0; self.array.shape().len()]).unwrap_or_default();
        reason.strip_prefix(&format!("chunk {key}: ")).unwrap_or(&reason).to_owned()
    }
}

impl Checker<'_> {
    pub(super) fn chunk(&mut self, path: &Key, key: &Key, form: &ChunkForm) {
        let store = self.store;
        let len = match store.size(key) {
            Ok(Some(len)) => len,
            Ok(None) => return,
            Err(e) => return self.tell_unreadable(path, key, &e),
        };
        let part = Part { store, key, range: 0..len, is_whole: true };
        // Inner chunks are read one by one, and a zip file may unpack the whole shard for each of them.
        if form.shard.is_some() && self.options.values && len <= self.limits.allocation {
            let mut memory = MemoryStore::new();
            match store.read(key, len) {
                Ok(Some(bytes)) => memory.insert(key, bytes),
                Ok(None) => return,
                Err(e) => return self.tell_unreadable(path, key, &e),
            }
            self.part(path, &Part { store: &memory, ..part }, form, "");
            return;
        }
        self.part(path, &part, form, "");
    }

    /// Checks a chunk or an inner chunk, which `label` names.
    pub(super) fn part(&mut self, path: &Key, part: &Part<'_>, form: &ChunkForm, label: &str) {
        let len = part.len();
        if let Some(shard) = &form.shard {
            self.shard(path, part, shard, label);
            return;
        }
        if let Some(expected) = form.stored.filter(|expected| *expected != len) {
            let message = format!("{label}{len} bytes, expected {expected}");
            self.tell_part(&rule::CHUNK_SIZE, path, part, message);
            return;
        }
        if !self.options.values {
            return;
        }
        if let Err(e) = form.read(part, &mut self.rows, &mut self.scratch) {
            let rule = match e.kind() {
                ErrorKind::LimitExceeded => &rule::LIMIT,
                ErrorKind::Unsupported => &rule::UNKNOWN_EXTENSION,
                ErrorKind::Checksum => &rule::CHUNK_CHECKSUM,
                ErrorKind::Io | ErrorKind::FileNotFound | ErrorKind::NotFound => &rule::VALUE,
                _ => &rule::CHUNK_DATA,
            };
            let message = format!("{label}{}", form.reason(&e));
            self.tell_part(rule, path, part, message);
        }
    }

    pub(super) fn tell_part(&mut self, rule: &'static Rule, path: &Key, part: &Part<'_>, message: String) {
        let place = Some(ValuePlace::Bytes { byte: part.range.start, len: part.len() });
        let found = Found { object: Some(path), key: Some(part.key), place, message, hint: None };
        self.findings.add(rule, found);
    }
}

impl Part<'_> {
    pub(super) fn len(&self) -> u64 {
        self.range.end.saturating_sub(self.range.start)
    }

    /// A byte range of this part.
    pub(super) fn within(&self, range: Range<u64>) -> Part<'_> {
        let at = |place: u64| self.range.start.saturating_add(place).min(self.range.end);
        let range = at(range.start)..at(range.end);
        let is_whole = self.is_whole && range == self.range;
        Part { store: self.store, key: self.key, range, is_whole }
    }
}

/// A store that returns this part for every key.
impl Store for Part<'_> {
    fn size(&self, _: &Key) -> Result<Option<u64>> {
        Ok(Some(self.len()))
    }

    fn read(&self, _: &Key, max: u64) -> Result<Option<Bytes>> {
        match self.is_whole {
            true => self.store.read(self.key, max),
            false => self.store.read_range(self.key, self.range.clone()),
        }
    }

    fn read_ranges(&self, _: &Key, ranges: &[Range<u64>]) -> Result<Option<Vec<Bytes>>> {
        let within = |range: &Range<u64>| {
            let end = self.range.start.checked_add(range.end).filter(|end| *end <= self.range.end);
            let missing =
                || Error::malformed(format!("bytes {range:?}, expected a range in {} bytes", self.len()));
            end.map(|end| self.range.start.saturating_add(range.start)..end).ok_or_else(missing)
        };
        let ranges = ranges.iter().map(within).collect::<Result<Vec<_>>>()?;
        self.store.read_ranges(self.key, &ranges)
    }

    fn read_many(&self, keys: &[Key], max: u64) -> Vec<Result<Option<Bytes>>> {
        read_each(self, keys, max)
    }

    fn is_far(&self) -> bool {
        self.store.is_far()
    }

    fn list(&self, _: &Key) -> Result<Vec<Entry>> {
        Ok(Vec::new())
    }
}

/// A list of integers. `None` if the value is not such a list.
pub(super) fn integers(json: &Json) -> Option<Vec<u64>> {
    let Json::Array(items) = json else { return None };
    let integer = |item: &Json| match item {
        Json::Number(number) => number.as_u64(),
        _ => None,
    };
    items.iter().map(integer).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_parts_are_checked() {
        let mut store = MemoryStore::new();
        let key = Key::new("c/0").unwrap();
        store.insert(&key, &b"0123456789"[..]);
        let part = Part { store: &store, key: &key, range: 0..10, is_whole: true };
        let inner = part.within(2..8);
        assert_eq!(inner.read(&key, 100).unwrap().unwrap(), "234567");
        assert_eq!(inner.read_range(&key, 1..3).unwrap().unwrap(), "34");
        assert!(inner.read_range(&key, 5..7).is_err());
        assert_eq!(inner.within(4..9).range, 6..8);
    }
}
