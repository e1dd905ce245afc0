//! Codecs, which encode chunks.
//!
//! A `Chain` is the list of codecs in metadata, prepared for reading and writing: array-to-array codecs, one
//! array-to-bytes codec, and bytes-to-bytes codecs. The codecs that are independent of Zarr are in [`hyperslab_codec`].
//!
//! Spec: Zarr v3 "Codecs", Zarr v2 "Filters"

mod chunk;
mod elements;
mod numcodecs;
mod parse;
mod plain;
mod sharding_indexed;
mod transpose;
mod variable;

pub use numcodecs::elements;
pub(crate) use numcodecs::numbers::{made, order_of};
pub(crate) use numcodecs::{Kind, PREFIX, Row};

use crate::data_type::{DataType, Layout};
use bytes::Bytes;
pub(crate) use chunk::InMemory;
use chunk::{Stored, Undone};
use elements::Elements;
use hyperslab_codec::{Codec, Fidelity, Scratch, encode_to, max_size_after};
use hyperslab_core::memory::room;
use hyperslab_core::nd::{Planes, Region, element_count};
use hyperslab_core::rows::ElementLayout;
use hyperslab_core::store::Value;
use hyperslab_core::{Error, Limit, Limits, Result};
use sharding_indexed::Sharding;
use std::borrow::Cow;
use std::ops::Range;
use variable::{Variable, pointed_to};

/// The codecs of an array or of the inner chunks of its shards.
#[derive(Clone, Debug)]
pub(crate) struct Chain {
    /// The array-to-array codecs, in encoding order.
    steps: Vec<Step>,
    to_bytes: ToBytes,
    /// The bytes-to-bytes codecs, in encoding order.
    codecs: Vec<Codec>,
    /// The size of a row in bytes.
    row: usize,
}

#[derive(Clone, Debug)]
enum Step {
    /// Dimension `i` of the output is dimension `order[i]` of the input.
    Transpose(Vec<usize>),
    Elements(Box<Elements>),
}

#[derive(Clone, Debug)]
enum ToBytes {
    Bytes(Layout),
    Variable(Variable),
    Sharding(Box<Sharding>),
}

/// State that all chunks of an array share, and buffers that are reused.
pub(crate) struct Reader<'a> {
    /// The row of the fill value.
    pub(crate) fill: &'a [u8],
    pub(crate) limits: &'a Limits,
    pub(crate) scratch: &'a mut Scratch,
    /// The heap that slots point into.
    pub(crate) heap: &'a mut Vec<Bytes>,
    /// The number of bytes that may be added to the heap.
    pub(crate) heap_left: u64,
}

/// State that all chunks of an array share, and buffers that are reused.
pub(crate) struct Writer<'a> {
    /// The fill value, whose chunks are not stored: a row, or the content of a string or of bytes. `None` if all chunks are
    /// stored.
    pub(crate) fill: Option<&'a [u8]>,
    /// The heap that slots point into.
    pub(crate) heap: &'a [Bytes],
    pub(crate) scratch: &'a mut Scratch,
}

impl Chain {
    /// Sets the numbers that rounding codecs leave unchanged, as [`Codec::sparing`] does.
    pub(crate) fn spare(&mut self, numbers: &[f64]) {
        for step in &mut self.steps {
            if let Step::Elements(elements) = step {
                elements.spare(numbers);
            }
        }
        for codec in &mut self.codecs {
            *codec = codec.clone().sparing(numbers);
        }
        if let ToBytes::Sharding(sharding) = &mut self.to_bytes {
            sharding.spare(numbers);
        }
    }

    /// Reads the intersection of a region and a chunk (the box of `shape` at `start`) into the rows of the region.
    pub(crate) fn read(
        &self,
        value: &dyn Value,
        place: (&[u64], &[u64]),
        region: &Region,
        out: &mut Planes<'_>,
        reader: &mut Reader<'_>,
    ) -> Result<()> {
        match (&self.to_bytes, self.steps.as_slice(), self.codecs.as_slice()) {
            (ToBytes::Sharding(sharding), [], []) => sharding.read(value, place, region, out, reader),
            (ToBytes::Bytes(layout), [], []) if layout.is_plain() && value.has_cheap_parts() => {
                self.read_plain(value, place, region, out, reader)
            }
            (ToBytes::Bytes(_), ..) => {
                self.check_stored(value.size(), place.1, reader.limits)?;
                let mut buffer = std::mem::take(&mut reader.scratch.buffers.stored);
                let stored = Stored::lent(value, reader.limits, &mut buffer);
                let read = stored.and_then(|stored| self.read_stored(stored, place, region, out, reader));
                reader.scratch.buffers.stored = buffer;
                read
            }
            // Content of slots and parts of shards are not copied.
            _ => self.read_stored(Stored::shared(value, reader.limits)?, place, region, out, reader),
        }
    }

    fn read_stored(
        &self,
        stored: Stored<'_>,
        (start, shape): (&[u64], &[u64]),
        region: &Region,
        out: &mut Planes<'_>,
        reader: &mut Reader<'_>,
    ) -> Result<()> {
        let len = self.size(shape, self.row, reader.limits)?;
        let stored_len = stored.len() as u64;
        let stored = Undone::open(&self.codecs, stored)?;
        self.check(&stored, shape, reader.limits)?;
        self.check_ratio(&stored, stored_len, (shape, len), reader.limits)?;
        let Some(mut overlap) = out.overlap(start, shape, region, self.row)? else { return Ok(()) };
        if let Some(rows) = overlap.in_place() {
            return self.decode(&stored, shape, rows, reader);
        }
        if let (ToBytes::Bytes(layout), [], Some(raw)) = (&self.to_bytes, self.steps.as_slice(), stored.raw())
            && layout.is_plain()
        {
            return overlap.scatter(raw);
        }
        if let Some(blocks) = self.row_blocks(&stored, shape, len)? {
            return self.read_blocks(&blocks, (start, shape), region, out, reader);
        }
        let mut buffer = std::mem::take(&mut reader.scratch.buffers.rows);
        let rows = room(&mut buffer, len);
        let read = self.decode(&stored, shape, rows, reader).and_then(|()| overlap.scatter(rows));
        reader.scratch.buffers.rows = buffer;
        read
    }

    /// Calls `visit` with each written inner chunk in a shard of `shape` that has elements before `end`, until `visit`
    /// returns false: the index of its first element in the shard, and its byte range. Visits nothing if other
    /// codecs change the bytes of whole shards.
    pub(crate) fn inner_places(
        &self,
        value: &dyn Value,
        place: (&[u64], &[u64]),
        reader: &mut Reader<'_>,
        visit: &mut dyn FnMut(&[u64], Range<u64>) -> bool,
    ) -> Result<()> {
        match self.shards() {
            Some(sharding) => sharding.places(value, place, reader, visit),
            None => Ok(()),
        }
    }

    /// The layout of elements in chunks, and the bytes-to-bytes codecs. `None` if chunks are not plain elements in
    /// row-major order.
    pub(crate) fn stored_form(&self) -> Option<(Option<ElementLayout>, &[Codec])> {
        let element = match &self.to_bytes {
            ToBytes::Bytes(layout) => layout.element(),
            ToBytes::Variable(_) => None,
            ToBytes::Sharding(_) => return None,
        };
        self.steps.is_empty().then_some((element, &self.codecs))
    }

    /// Whether the codecs preserve elements, or else how they change them.
    pub(crate) fn fidelity(&self, data_type: &DataType) -> Fidelity {
        let of = |codec: &Codec| match codec {
            // The codec keeps all bits of this type.
            Codec::PackBits(_) if *data_type == DataType::Bool => Fidelity::Exact,
            codec => codec.fidelity(),
        };
        self.all_codecs().map(of).fold(Fidelity::Exact, Fidelity::then)
    }

    /// Whether numbers are stored as another type with a smaller range.
    pub(crate) fn may_refuse(&self) -> bool {
        self.all_codecs().any(Codec::may_refuse)
    }

    /// All codecs in encoding order, including those of inner chunks.
    fn all_codecs(&self) -> Box<dyn Iterator<Item = &Codec> + '_> {
        let steps = self.steps.iter().filter_map(|step| match step {
            Step::Transpose(_) => None,
            Step::Elements(elements) => Some(elements.codec()),
        });
        let inner = match &self.to_bytes {
            ToBytes::Sharding(sharding) => Some(sharding.chain().all_codecs()),
            ToBytes::Bytes(_) | ToBytes::Variable(_) => None,
        };
        Box::new(steps.chain(inner.into_iter().flatten()).chain(&self.codecs))
    }

    /// The bytes-to-bytes codecs, if stored elements have the same bytes as rows in memory.
    pub(crate) fn row_codecs(&self) -> Option<&[Codec]> {
        match &self.to_bytes {
            ToBytes::Bytes(layout) if layout.is_plain() && self.steps.is_empty() => Some(&self.codecs),
            _ => None,
        }
    }

    /// Rejects elements of a region that could not be read, although their chunks could.
    pub(crate) fn check_read(&self, region: &Region, rows: &mut Planes<'_>) -> Result<()> {
        match self.to_bytes {
            ToBytes::Variable(Variable::Json) => {
                rows.slices(region).try_for_each(|(_, rows)| variable::check_read(rows))
            }
            _ => Ok(()),
        }
    }

    /// Whether parts of a chunk can be read without the rest.
    pub(crate) fn has_parts(&self) -> bool {
        self.shards().is_some()
    }

    /// The sharding codec, if no other codec changes the bytes of whole shards.
    fn shards(&self) -> Option<&Sharding> {
        match (&self.to_bytes, self.steps.as_slice(), self.codecs.as_slice()) {
            (ToBytes::Sharding(sharding), [], []) => Some(sharding),
            _ => None,
        }
    }

    /// Decodes a whole chunk to its rows.
    fn decode(
        &self,
        stored: &Undone<'_>,
        shape: &[u64],
        rows: &mut [u8],
        reader: &mut Reader<'_>,
    ) -> Result<()> {
        let Some((first, others)) = self.steps.split_first() else {
            return self.decode_bytes(stored, shape, self.row, rows, reader);
        };
        let mut shapes = vec![Cow::Borrowed(shape)];
        let mut sizes = vec![self.row];
        for step in &self.steps {
            let (shape, size) = (shapes.last().map_or(&[][..], |shape| shape), sizes.last().copied());
            let (shape, size) = step.shape(shape, size.unwrap_or_default())?;
            shapes.push(Cow::Owned(shape));
            sizes.push(size);
        }
        let (mut shapes, mut sizes) = (shapes.into_iter().rev(), sizes.into_iter().rev());
        let mut next = || (shapes.next().unwrap_or_default(), sizes.next().unwrap_or_default());
        let (inner, size) = next();
        let len = self.size(&inner, size, reader.limits)?;
        let mut buffer = std::mem::take(&mut reader.scratch.buffers.wanted);
        let elements = room(&mut buffer, len);
        self.decode_bytes(stored, &inner, size, elements, reader)?;
        let mut changed = Cow::Borrowed(&*elements);
        for step in others.iter().rev() {
            let (shape, size) = next();
            let mut before = vec![0; self.size(&shape, size, reader.limits)?];
            step.undo(&changed, &shape, size, &mut before, reader.scratch)?;
            changed = Cow::Owned(before);
        }
        first.undo(&changed, shape, self.row, rows, reader.scratch)?;
        reader.scratch.buffers.wanted = buffer;
        Ok(())
    }

    fn decode_bytes(
        &self,
        stored: &Undone<'_>,
        shape: &[u64],
        row: usize,
        rows: &mut [u8],
        reader: &mut Reader<'_>,
    ) -> Result<()> {
        match &self.to_bytes {
            ToBytes::Bytes(layout) if layout.is_plain() => stored.decode_to(rows, reader.scratch),
            ToBytes::Bytes(layout) => {
                let len = self.size(shape, layout.stored_size(), reader.limits)?;
                let mut buffer = std::mem::take(&mut reader.scratch.buffers.decoded);
                let raw = room(&mut buffer, len);
                let decoded = stored.decode_to(raw, reader.scratch).and_then(|()| layout.decode(raw, rows));
                reader.scratch.buffers.decoded = buffer;
                decoded
            }
            ToBytes::Variable(variable) => {
                let raw = stored.decode(reader.heap_left, reader.scratch)?;
                reader.heap_left = reader.heap_left.saturating_sub(raw.len() as u64);
                variable.decode(raw, rows, reader.heap)
            }
            ToBytes::Sharding(sharding) => {
                let shard = InMemory(stored.decode(reader.limits.allocation, reader.scratch)?);
                let (start, region) = (vec![0; shape.len()], Region::all(shape));
                debug_assert_eq!(row, self.row, "no codec before sharding_indexed changes the size of rows");
                sharding.read(&shard, (&start, shape), &region, &mut Planes::whole(rows), reader)
            }
        }
    }

    /// Encodes the rows of a whole chunk. `None` if all elements equal the fill value, so that nothing has to be stored.
    /// The result is in `out`, or is the rows themselves if no codec changes them.
    pub(crate) fn encode<'r>(
        &self,
        rows: &'r [u8],
        shape: &[u64],
        out: &'r mut Vec<u8>,
        writer: &mut Writer<'_>,
    ) -> Result<Option<Cow<'r, [u8]>>> {
        let expected = element_count(shape).and_then(|count| count.checked_mul(self.row as u64));
        if expected != Some(rows.len() as u64) {
            let (found, row) = (rows.len(), self.row);
            return Err(Error::invalid(format!(
                "{found} bytes, expected a chunk of shape {shape:?} with {row} bytes per element"
            )));
        }
        if self.is_fill(rows, writer)? {
            return Ok(None);
        }
        let (mut rows, mut shape, mut size) = (Cow::Borrowed(rows), Cow::Borrowed(shape), self.row);
        for step in &self.steps {
            let (next, row) = step.shape(&shape, size)?;
            rows = Cow::Owned(step.apply(&rows, &shape, size, writer.scratch)?);
            (shape, size) = (Cow::Owned(next), row);
        }
        let raw = match &self.to_bytes {
            ToBytes::Bytes(layout) if layout.is_plain() => rows,
            ToBytes::Bytes(layout) => {
                let count = rows.len().checked_div(layout.row_size()).unwrap_or_default();
                let mut raw = vec![0; count.saturating_mul(layout.stored_size())];
                layout.encode(&rows, &mut raw)?;
                Cow::Owned(raw)
            }
            ToBytes::Variable(variable) => Cow::Owned(variable.encode(&rows, writer.heap)?),
            ToBytes::Sharding(sharding) if self.codecs.is_empty() => {
                *out = sharding.encode(&rows, &shape, std::mem::take(out), writer)?;
                return Ok(Some(Cow::Borrowed(out)));
            }
            ToBytes::Sharding(sharding) => Cow::Owned(sharding.encode(&rows, &shape, Vec::new(), writer)?),
        };
        Ok(Some(match (raw, self.codecs.as_slice()) {
            (raw, []) => raw,
            (raw, codecs) => {
                encode_to(codecs, &raw, out, writer.scratch)?;
                Cow::Borrowed(out)
            }
        }))
    }

    fn is_fill(&self, rows: &[u8], writer: &Writer<'_>) -> Result<bool> {
        let Some(fill) = writer.fill else { return Ok(false) };
        if self.is_variable() {
            for row in rows.chunks(self.row) {
                if pointed_to(row, writer.heap)? != fill {
                    return Ok(false);
                }
            }
            return Ok(true);
        }
        // All rows are equal if each equals the one before it, and the first equals the fill value.
        let (Some(others), Some(all_but_last)) =
            (rows.get(self.row..), rows.get(..rows.len().saturating_sub(self.row)))
        else {
            return Ok(false);
        };
        Ok(rows.starts_with(fill) && others == all_but_last)
    }

    fn is_variable(&self) -> bool {
        match &self.to_bytes {
            ToBytes::Variable(_) => true,
            ToBytes::Sharding(sharding) => sharding.inner().is_variable(),
            ToBytes::Bytes(_) => false,
        }
    }

    /// Checks that the stored bytes can decode to a chunk of this shape, before memory is allocated for it.
    fn check(&self, stored: &Undone<'_>, shape: &[u64], limits: &Limits) -> Result<()> {
        match &self.to_bytes {
            ToBytes::Bytes(_) => stored.check(self.encoded_to(shape, limits)?),
            ToBytes::Variable(_) | ToBytes::Sharding(_) => Ok(()),
        }
    }

    /// Checks that the `len` bytes of the rows of a chunk are in proportion to its stored bytes. They need not be if
    /// both the metadata and the stored bytes state the length of the elements: equal elements compress to almost
    /// nothing.
    fn check_ratio(
        &self,
        stored: &Undone<'_>,
        stored_len: u64,
        (shape, len): (&[u64], usize),
        limits: &Limits,
    ) -> Result<()> {
        let Err(e) = limits.check_chunk(stored_len, len as u64) else { return Ok(()) };
        match &self.to_bytes {
            ToBytes::Bytes(_) if stored.declares(self.encoded_to(shape, limits)?)? => Ok(()),
            _ => Err(e),
        }
    }

    /// As `check_ratio` for a stored chunk, before memory is allocated for its rows.
    pub(crate) fn check_value(&self, value: &dyn Value, shape: &[u64], limits: &Limits) -> Result<()> {
        let len = self.size(shape, self.row, limits)?;
        if limits.check_chunk(value.size(), len as u64).is_ok() {
            return Ok(());
        }
        // The chunk is short, or its ratio would not be that large.
        let stored = Stored::shared(value, limits)?;
        let stored_len = stored.len() as u64;
        self.check_ratio(&Undone::open(&self.codecs, stored)?, stored_len, (shape, len), limits)
    }

    /// Rejects stored chunks that are longer than any encoding of a chunk of this shape, before they are read: an entry of
    /// a zip file may inflate to any size.
    fn check_stored(&self, stored: u64, shape: &[u64], limits: &Limits) -> Result<()> {
        let most = self.most_stored(shape, limits)?;
        match stored <= most {
            true => Ok(()),
            false => Err(Error::malformed(format!("{stored} stored bytes, expected at most {most}"))),
        }
    }

    /// The maximum number of bytes in which a chunk of this shape may be stored.
    pub(crate) fn most_stored(&self, shape: &[u64], limits: &Limits) -> Result<u64> {
        let most = max_size_after(&self.codecs, self.encoded_to(shape, limits)?) as u64;
        Ok(most.saturating_mul(2).saturating_add(PADDING))
    }

    /// The number of bytes to which the array-to-bytes codec encodes a chunk of this shape, if that is fixed.
    fn encoded_to(&self, shape: &[u64], limits: &Limits) -> Result<usize> {
        let ToBytes::Bytes(layout) = &self.to_bytes else { return Ok(usize::MAX) };
        let (mut shape, mut size) = (Cow::Borrowed(shape), self.row);
        for step in &self.steps {
            let (next, row) = step.shape(&shape, size)?;
            (shape, size) = (Cow::Owned(next), row);
        }
        self.size(&shape, layout.stored_size(), limits)
    }

    /// The size in bytes of a chunk with elements of `element` bytes, if the limits allow it.
    fn size(&self, shape: &[u64], element: usize, limits: &Limits) -> Result<usize> {
        let size = element_count(shape).and_then(|count| usize::try_from(count).ok()?.checked_mul(element));
        size.filter(|size| *size as u64 <= limits.allocation).ok_or_else(|| {
            let limit = limits.allocation;
            let detail = format!("a chunk of {shape:?} elements of {element} bytes, at most {limit} bytes");
            Error::limit_exceeded(Limit::Allocation, detail)
        })
    }
}

/// The number of bytes that writers may add to a chunk beyond the encodings that we know.
const PADDING: u64 = 1 << 20;

impl Step {
    /// The shape of the output for the input `shape`, and the size of its rows in bytes.
    fn shape(&self, shape: &[u64], row: usize) -> Result<(Vec<u64>, usize)> {
        match self {
            Step::Transpose(order) => Ok((transpose::shape(order, shape), row)),
            Step::Elements(elements) => elements.shape(shape),
        }
    }

    /// Decodes to the rows of `shape`, of `row` bytes each.
    fn undo(
        &self,
        changed: &[u8],
        shape: &[u64],
        row: usize,
        rows: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<()> {
        match self {
            Step::Transpose(order) => transpose::undo(changed, order, shape, row, rows),
            Step::Elements(elements) => elements.undo(changed, rows, scratch),
        }
    }

    /// Encodes the rows of `shape`, of `row` bytes each.
    fn apply(&self, rows: &[u8], shape: &[u64], row: usize, scratch: &mut Scratch) -> Result<Vec<u8>> {
        match self {
            Step::Transpose(order) => {
                let mut changed = vec![0; rows.len()];
                transpose::apply(rows, order, shape, row, &mut changed)?;
                Ok(changed)
            }
            Step::Elements(elements) => elements.apply(rows, scratch),
        }
    }
}
