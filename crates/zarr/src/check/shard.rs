//! Checks shards: the index, and the inner chunks.
//!
//! Spec: Zarr v3 "Sharding codec"

use super::chunk::{ChunkForm, Part, integers};
use super::{Checker, rule};
use crate::json::{Context, Json, Number};
use crate::metadata::{Extension, v3};
use hyperslab_core::store::Key;
use hyperslab_core::{ErrorKind, Limits, Result};

/// The expected form of a shard.
pub(super) struct Shard {
    /// The number of inner chunks along each dimension.
    counts: Vec<u64>,
    index: ChunkForm,
    index_len: u64,
    index_at_end: bool,
    inner: ChunkForm,
}

/// An entry of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    start: u64,
    end: u64,
    number: usize,
}

impl Shard {
    /// `None` if inner chunks do not divide the shard evenly, which the check of the array reports.
    pub(super) fn new(
        codec: &Extension,
        data_type: &Json,
        fill: &Json,
        shape: &[u64],
        limits: &Limits,
    ) -> Result<Option<Shard>> {
        let context = Context::new(limits);
        let at = context.document(v3::DOCUMENT);
        let members = codec.configured(&at)?;
        let Some(inner) = integers(members.required("chunk_shape", &at)?) else { return Ok(None) };
        let fits = |(outer, inner): (&u64, &u64)| outer.checked_rem(*inner) == Some(0);
        if inner.len() != shape.len() || !shape.iter().zip(&inner).all(fits) {
            return Ok(None);
        }
        let mut counts: Vec<u64> = shape.iter().zip(&inner).map(|(outer, inner)| outer / inner).collect();
        let codecs = Extension::parse_list(members.required("codecs", &at)?.clone(), &at)?;
        let index_codecs = Extension::parse_list(members.required("index_codecs", &at)?.clone(), &at)?;
        let index_at_end = members.get("index_location").and_then(Json::as_str) != Some("start");
        counts.push(2);
        let nothing = Json::Number(Number::integer(u64::MAX));
        let index = ChunkForm::of_codecs(&"uint64".into(), &nothing, &index_codecs, &counts, limits)?;
        counts.pop();
        let Some(index_len) = index.stored() else { return Ok(None) };
        let inner = ChunkForm::of_codecs(data_type, fill, &codecs, &inner, limits)?;
        Ok(Some(Shard { counts, index, index_len, index_at_end, inner }))
    }

    /// The index of an inner chunk along each dimension.
    fn place(&self, number: usize) -> Vec<u64> {
        let mut left = number as u64;
        let mut place: Vec<u64> = Vec::with_capacity(self.counts.len());
        for count in self.counts.iter().rev() {
            place.push(left.checked_rem(*count).unwrap_or_default());
            left = left.checked_div(*count).unwrap_or_default();
        }
        place.reverse();
        place
    }
}

impl Checker<'_> {
    pub(super) fn shard(&mut self, path: &Key, part: &Part<'_>, shard: &Shard, label: &str) {
        let len = part.len();
        let Some(data_len) = len.checked_sub(shard.index_len) else {
            let expected = shard.index_len;
            let message = format!("{label}{len} bytes, expected {expected} for the index alone");
            return self.tell_part(&rule::SHARD_INDEX, path, part, message);
        };
        let (index_range, data) = match shard.index_at_end {
            true => (data_len..len, 0..data_len),
            false => (0..shard.index_len, shard.index_len..len),
        };
        let index_part = part.within(index_range);
        let mut rows = Vec::new();
        if let Err(e) = shard.index.read(&index_part, &mut rows, &mut self.scratch) {
            let rule = match e.kind() {
                ErrorKind::Checksum => &rule::SHARD_INDEX_CHECKSUM,
                ErrorKind::LimitExceeded => &rule::LIMIT,
                _ => &rule::SHARD_INDEX,
            };
            let message = format!("{label}the index: {}", shard.index.reason(&e));
            return self.tell_part(rule, path, &index_part, message);
        }
        let mut entries = Vec::new();
        for (number, pair) in rows.as_chunks::<16>().0.iter().enumerate() {
            let (offset, size) = halves(pair);
            if (offset, size) == (u64::MAX, u64::MAX) {
                continue;
            }
            let place = || format!("{label}inner chunk {:?}", shard.place(number));
            let at = number as u64 * 16;
            let entry = index_part.within(at..at + 16);
            if offset == u64::MAX || size == u64::MAX {
                let message = format!("{} has only an offset or only a size, expected both or none", place());
                self.tell_part(&rule::SHARD_INDEX, path, &entry, message);
                continue;
            }
            match offset.checked_add(size) {
                Some(end) if data.start <= offset && end <= data.end => {
                    entries.push(Entry { start: offset, end, number });
                }
                _ => {
                    let (from, to) = (data.start, data.end);
                    let message = format!(
                        "{} of {size} bytes at byte {offset:#x}, expected a range from {from:#x} to {to:#x}",
                        place()
                    );
                    self.tell_part(&rule::SHARD_RANGE, path, &entry, message);
                }
            }
        }
        drop(rows);
        entries.sort_unstable();
        self.check_overlaps(path, part, shard, label, &entries, data_len);
        // Each byte is decoded only once. Otherwise a malicious index could cause unlimited work with a few bytes.
        let mut left = data_len;
        let mut before = None;
        for entry in entries {
            if before.replace((entry.start, entry.end)) == Some((entry.start, entry.end)) {
                continue;
            }
            let Some(rest) = left.checked_sub(entry.end - entry.start) else {
                let message = format!("{label}overlapping inner chunks are not all decoded");
                return self.tell_part(&rule::LIMIT, path, part, message);
            };
            left = rest;
            let label = format!("{label}inner chunk {:?}: ", shard.place(entry.number));
            self.part(path, &part.within(entry.start..entry.end), &shard.inner, &label);
        }
    }

    fn check_overlaps(
        &mut self,
        path: &Key,
        part: &Part<'_>,
        shard: &Shard,
        label: &str,
        entries: &[Entry],
        data_len: u64,
    ) {
        let mut used = 0_u64;
        let mut shared = 0_u64;
        let mut last: Option<Entry> = None;
        for entry in entries.iter().filter(|entry| entry.start < entry.end) {
            let end = last.map_or(0, |last| last.end);
            used = used.saturating_add(entry.end.saturating_sub(entry.start.max(end)));
            if let Some(last) = last.filter(|last| entry.start < last.end) {
                if (entry.start, entry.end) == (last.start, last.end) {
                    shared += 1;
                } else {
                    let (one, other) = (shard.place(last.number), shard.place(entry.number));
                    let message = format!(
                        "{label}inner chunk {one:?} ends at byte {:#x}, inner chunk {other:?} begins at {:#x}",
                        last.end, entry.start
                    );
                    let place = part.within(entry.start..last.end.min(entry.end));
                    self.tell_part(&rule::SHARD_OVERLAP, path, &place, message);
                }
            }
            if entry.end > end {
                last = Some(*entry);
            }
        }
        if shared > 0 {
            let message = format!("{label}{shared} inner chunks have the same byte range as others");
            self.tell_part(&rule::SHARD_SHARED, path, part, message);
        }
        let unused = data_len.saturating_sub(used);
        if unused > 0 {
            let message = format!("{label}{unused} of {data_len} bytes do not belong to an inner chunk");
            self.tell_part(&rule::SHARD_UNREFERENCED, path, part, message);
        }
    }
}

fn halves(pair: &[u8; 16]) -> (u64, u64) {
    let number = u128::from_le_bytes(*pair);
    let half = |number: u128| u64::try_from(number & u128::from(u64::MAX)).unwrap_or_default();
    let (low, high) = (half(number), half(number >> 64));
    if cfg!(target_endian = "big") { (low.swap_bytes(), high.swap_bytes()) } else { (low, high) }
}
