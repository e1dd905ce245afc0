//! `sharding_indexed`: inner chunks in one value, with an index of their offsets and lengths.
//!
//! Spec: Zarr v3 "Sharding codec"

mod assemble;

use super::chunk::{InMemory, Stored};
use super::{Chain, Reader, Undone, Writer};
use crate::array::MAX_CHUNKS;
use crate::data_type::{ByteOrder, DataType};
use crate::json::Spot;
use crate::metadata::Extension;
use bytes::Bytes;
use hyperslab_codec::{Checksum, ChecksumAlgorithm, Codec};
use hyperslab_core::nd::{Planes, Region, advance, element_count, gather};
use hyperslab_core::storage::{FAR_REQUEST, read_merged};
use hyperslab_core::store::Value;
use hyperslab_core::{Error, Limit, Result};
use std::ops::Range;

/// The division of shards into inner chunks, and the form of the index.
#[derive(Clone, Debug)]
pub(super) struct Sharding {
    inner_shape: Vec<u64>,
    chain: Chain,
    index_order: ByteOrder,
    index_codecs: Vec<Codec>,
    index_at_end: bool,
}

impl Sharding {
    /// The codecs of inner chunks.
    pub(super) fn chain(&self) -> &Chain {
        &self.chain
    }

    pub(super) fn spare(&mut self, numbers: &[f64]) {
        self.chain.spare(numbers);
    }

    pub(super) fn parse(
        codec: &Extension,
        data_type: &DataType,
        order: Option<ByteOrder>,
        rank: usize,
        at: &Spot<'_>,
    ) -> Result<Sharding> {
        let inner = at.name("configuration");
        let members = codec.configured(at)?;
        let here = inner.name("chunk_shape");
        let inner_shape = members.required("chunk_shape", &inner)?.unsigned_array(&here)?;
        if inner_shape.len() != rank {
            let found = inner_shape.len();
            return Err(here.malformed(format!("{found} dimensions, expected {rank} as in the shard")));
        }
        if let Some(dimension) = inner_shape.iter().position(|size| *size == 0) {
            return Err(here.index(dimension).malformed("0, expected 1 or more"));
        }
        let here = inner.name("codecs");
        let codecs = Extension::parse_list(members.required("codecs", &inner)?.clone(), &here)?;
        let chain = Chain::parse(&codecs, data_type, order, rank, &here)?;
        let here = inner.name("index_codecs");
        let index_codecs = Extension::parse_list(members.required("index_codecs", &inner)?.clone(), &here)?;
        let (index_order, index_codecs) = index_form(&index_codecs, &here)?;
        let here = inner.name("index_location");
        let index_at_end = match members.get("index_location").map_or(Ok("end"), |json| json.text(&here))? {
            "end" => true,
            "start" => false,
            other => return Err(here.malformed(format!("{other:?}, expected \"start\" or \"end\""))),
        };
        Ok(Sharding { inner_shape, chain, index_order, index_codecs, index_at_end })
    }

    /// The codecs of inner chunks.
    pub(super) fn inner(&self) -> &Chain {
        &self.chain
    }

    /// Reads the intersection of a region and a shard (the box of `shape` at `start`). Only the index and the required
    /// inner chunks of the shard are read.
    pub(super) fn read(
        &self,
        value: &dyn Value,
        (start, shape): (&[u64], &[u64]),
        region: &Region,
        out: &mut Planes<'_>,
        reader: &mut Reader<'_>,
    ) -> Result<()> {
        let counts = self.counts(shape)?;
        let Some(part) = region.intersect(start, shape)? else { return Ok(()) };
        // The inner chunks along each dimension that the region intersects.
        let mut spans: Vec<Range<u64>> = Vec::with_capacity(shape.len());
        for (dimension, inner) in self.inner_shape.iter().enumerate() {
            let at = |values: &[u64]| values.get(dimension).copied().unwrap_or_default();
            let first = at(&part.start).saturating_sub(at(start));
            let steps = at(&part.count).saturating_sub(1).saturating_mul(at(&part.step));
            spans.push(first / inner..first.saturating_add(steps) / inner + 1);
        }
        let widths: Vec<u64> = spans.iter().map(|span| span.end - span.start).collect();
        // If most of a shard is required, it is read at once: a part of a value can cost as much as the whole value.
        let wanted = widths.iter().fold(2_u64, |count, width| count.saturating_mul(*width));
        let is_most = element_count(&counts).is_some_and(|count| wanted >= count);
        if is_most && !value.has_cheap_parts() && value.size() <= MAX_AT_ONCE.min(reader.limits.allocation) {
            let shard = InMemory(value.part(0..value.size())?);
            return self.read(&shard, (start, shape), region, out, reader);
        }
        let index = self.index(value, &counts, reader)?;
        let mut batch = Batch::default();
        let mut steps = vec![0; spans.len()];
        loop {
            reader.scratch.cancel.check()?;
            let mut number = 0_u64;
            let mut inner_start = Vec::with_capacity(spans.len());
            let places = spans.iter().zip(&steps).map(|(span, step)| span.start + step);
            for (((index, count), inner), start) in places.zip(&counts).zip(&self.inner_shape).zip(start) {
                number = number.saturating_mul(*count).saturating_add(index);
                inner_start.push(start.saturating_add(index.saturating_mul(*inner)));
            }
            let inner_box = (inner_start.as_slice(), self.inner_shape.as_slice());
            if let Some(mut overlap) = out.overlap(inner_box.0, inner_box.1, region, self.chain.row)? {
                match self.entry(&index, number, value.size())? {
                    None => overlap.fill(reader.fill)?,
                    Some(range) if value.has_cheap_parts() || range.end - range.start > FAR_REQUEST => {
                        let inner = Within { value, range };
                        self.chain.read(&inner, inner_box, region, out, reader)?;
                    }
                    Some(range) => {
                        if batch.is_full(&range) {
                            self.read_batch(value, &mut batch, region, out, reader)?;
                        }
                        batch.add(inner_start, range);
                    }
                }
            }
            if !advance(&mut steps, &widths) {
                return self.read_batch(value, &mut batch, region, out, reader);
            }
        }
    }

    /// Reads the collected inner chunks in one request, and empties the collection.
    fn read_batch(
        &self,
        value: &dyn Value,
        batch: &mut Batch,
        region: &Region,
        out: &mut Planes<'_>,
        reader: &mut Reader<'_>,
    ) -> Result<()> {
        let Batch { starts, ranges, .. } = std::mem::take(batch);
        if ranges.is_empty() {
            return Ok(());
        }
        let read = read_merged(&ranges, |merged| value.parts(merged))?;
        for (start, bytes) in starts.iter().zip(read) {
            reader.scratch.cancel.check()?;
            let inner_box = (start.as_slice(), self.inner_shape.as_slice());
            self.chain.read(&InMemory(bytes), inner_box, region, out, reader)?;
        }
        Ok(())
    }

    /// Calls `visit` with each written inner chunk of a shard of `shape` that has elements before `end`, until `visit`
    /// returns false: the index of its first element in the shard, and its byte range.
    pub(super) fn places(
        &self,
        value: &dyn Value,
        (shape, end): (&[u64], &[u64]),
        reader: &mut Reader<'_>,
        visit: &mut dyn FnMut(&[u64], Range<u64>) -> bool,
    ) -> Result<()> {
        let counts = self.counts(shape)?;
        let index = self.index(value, &counts, reader)?;
        let (mut place, mut start) = (vec![0_u64; counts.len()], vec![0_u64; counts.len()]);
        for number in 0..element_count(&counts).unwrap_or_default() {
            for ((start, at), size) in start.iter_mut().zip(&place).zip(&self.inner_shape) {
                *start = at.saturating_mul(*size);
            }
            if start.iter().zip(end).all(|(start, end)| start < end)
                && let Some(bytes) = self.entry(&index, number, value.size())?
                && !visit(&start, bytes)
            {
                break;
            }
            advance(&mut place, &counts);
        }
        Ok(())
    }

    /// Encodes the rows of a whole shard in the memory of `room`. Inner chunks whose elements all equal the fill value are
    /// not stored.
    pub(super) fn encode(
        &self,
        rows: &[u8],
        shape: &[u64],
        room: Vec<u8>,
        writer: &mut Writer<'_>,
    ) -> Result<Vec<u8>> {
        let mut shard = self.assemble(shape, room, writer.scratch)?;
        let (counts, row, all) = (self.counts(shape)?, self.chain.row, Region::all(shape));
        let inner_len = element_count(&self.inner_shape).and_then(|count| usize::try_from(count).ok());
        let inner_len = inner_len.and_then(|len| len.checked_mul(row)).filter(|len| *len <= rows.len());
        let mut inner = vec![0; inner_len.unwrap_or_default()];
        let (mut place, mut encoded) = (vec![0_u64; counts.len()], Vec::new());
        for _ in 0..element_count(&counts).unwrap_or_default() {
            let start: Vec<u64> = place.iter().zip(&self.inner_shape).map(|(at, size)| at * size).collect();
            gather(rows, &all, &mut inner, &start, &self.inner_shape, row)?;
            shard.push(self.chain.encode(&inner, &self.inner_shape, &mut encoded, writer)?.as_deref());
            advance(&mut place, &counts);
        }
        shard.finish(writer.scratch)
    }

    /// The number of inner chunks along each dimension.
    fn counts(&self, shape: &[u64]) -> Result<Vec<u64>> {
        let count = |(len, inner): (&u64, &u64)| match len.checked_rem(*inner) {
            Some(0) => Ok(len / inner),
            _ => {
                let inner = &self.inner_shape;
                let detail = format!("inner chunks of {inner:?} do not divide a shard of {shape:?}");
                Err(Error::malformed(detail))
            }
        };
        shape.iter().zip(&self.inner_shape).map(count).collect()
    }

    /// The index, without its checksum.
    fn index(&self, value: &dyn Value, counts: &[u64], reader: &mut Reader<'_>) -> Result<Bytes> {
        let len = value.size();
        let sums = 4 * self.index_codecs.len() as u64;
        let size = counts.iter().try_fold(16_u64, |size, count| size.checked_mul(*count));
        let size = size.and_then(|size| size.checked_add(sums)).filter(|size| *size <= len);
        let Some(size) = size else {
            return Err(Error::malformed(format!(
                "a shard of {len} bytes, too short for an index of {counts:?} chunks"
            )));
        };
        if size > reader.limits.allocation {
            let detail = format!("a shard index of {size} bytes");
            return Err(Error::limit_exceeded(Limit::Allocation, detail));
        }
        let stored = value.part(if self.index_at_end { len - size..len } else { 0..size })?;
        Undone::open(&self.index_codecs, Stored::Shared(stored))?.decode(size, reader.scratch)
    }

    /// The byte range of inner chunk `number`. `None` if it was never written.
    fn entry(&self, index: &[u8], number: u64, len: u64) -> Result<Option<Range<u64>>> {
        let at = usize::try_from(number).ok().and_then(|number| number.checked_mul(16));
        let entry = at.and_then(|at| index.get(at..)).and_then(|rest| rest.as_chunks::<8>().0.get(..2));
        let Some([offset, count]) = entry else {
            return Err(Error::malformed(format!("the shard index has no entry for inner chunk {number}")));
        };
        let number_of = |bytes: &[u8; 8]| match self.index_order {
            ByteOrder::Little => u64::from_le_bytes(*bytes),
            ByteOrder::Big => u64::from_be_bytes(*bytes),
        };
        let (offset, count) = (number_of(offset), number_of(count));
        if (offset, count) == (u64::MAX, u64::MAX) {
            return Ok(None);
        }
        match offset.checked_add(count) {
            Some(end) if end <= len => Ok(Some(offset..end)),
            _ => Err(Error::malformed(format!(
                "inner chunk {number} of {count} bytes at byte {offset:#x} ends after the shard of {len} bytes"
            ))),
        }
    }
}

/// The codecs of the index: `bytes` and optional checksums, so that its size is known in advance.
fn index_form(codecs: &[Extension], at: &Spot<'_>) -> Result<(ByteOrder, Vec<Codec>)> {
    let others = codecs.split_first().filter(|(first, _)| first.name == "bytes");
    let sums = others.filter(|(_, sums)| sums.iter().all(|codec| codec.name == "crc32c"));
    let Some((first, sums)) = sums else {
        let names: Vec<_> = codecs.iter().map(|codec| codec.name.as_str()).collect();
        return Err(at.unsupported(format!("index codecs {names:?}, expected bytes and optionally crc32c")));
    };
    let here = at.index(0);
    let order = first.endian(&here)?;
    let order = order.ok_or_else(|| here.malformed("no endian, which the index needs"))?;
    let sum = Checksum { algorithm: ChecksumAlgorithm::Crc32c, at_start: false };
    Ok((order, sums.iter().map(|_| sum.into()).collect()))
}

/// Inner chunks that are read in one request: the index of their first element in the array, and their byte range in
/// the shard.
#[derive(Default)]
struct Batch {
    starts: Vec<Vec<u64>>,
    ranges: Vec<Range<u64>>,
    bytes: u64,
}

impl Batch {
    /// Whether another chunk exceeds the limits of a request.
    fn is_full(&self, range: &Range<u64>) -> bool {
        let bytes = self.bytes.saturating_add(range.end - range.start);
        self.ranges.len() >= MAX_CHUNKS || bytes > FAR_REQUEST
    }

    fn add(&mut self, start: Vec<u64>, range: Range<u64>) {
        self.bytes = self.bytes.saturating_add(range.end - range.start);
        self.starts.push(start);
        self.ranges.push(range);
    }
}

/// A byte range of a shard.
struct Within<'a> {
    value: &'a dyn Value,
    range: Range<u64>,
}

impl Within<'_> {
    /// The end of a part of it, as an offset in the shard.
    fn end(&self, range: &Range<u64>) -> Result<u64> {
        let end = self.range.start.saturating_add(range.end);
        if range.start > range.end || end > self.range.end {
            return Err(Error::malformed(format!(
                "bytes {range:?}, expected a range in an inner chunk of {} bytes",
                self.size()
            )));
        }
        Ok(end)
    }
}

impl Value for Within<'_> {
    fn size(&self) -> u64 {
        self.range.end.saturating_sub(self.range.start)
    }

    fn has_cheap_parts(&self) -> bool {
        self.value.has_cheap_parts()
    }

    fn parts(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let within =
            |range: &Range<u64>| self.end(range).map(|end| self.range.start.saturating_add(range.start)..end);
        self.value.parts(&ranges.iter().map(within).collect::<Result<Vec<_>>>()?)
    }

    fn read(&self, start: u64, out: &mut [u8]) -> Result<()> {
        self.end(&(start..start.saturating_add(out.len() as u64)))?;
        self.value.read(self.range.start.saturating_add(start), out)
    }
}

/// The maximum size in bytes of a shard that is read at once if most of it is required.
const MAX_AT_ONCE: u64 = 1 << 26;
