//! Chunks, encoded.

use super::variable::pointed_to;
use super::{Chain, Step, ToBytes, transpose};
use bytes::Bytes;
use hyperslab_codec::{Scratch, encode_to};
use hyperslab_core::nd::element_count;
use hyperslab_core::{Error, Result};
use std::borrow::Cow;

/// What all chunks of an array have in common, and what is reused from one to the next.
pub(crate) struct Writer<'a> {
    /// The element that need not be stored: its row, or the content of a string or of bytes. None if all are stored.
    pub(crate) fill: Option<&'a [u8]>,
    /// What slots point to.
    pub(crate) heap: &'a [Bytes],
    pub(crate) scratch: &'a mut Scratch,
}

impl Chain {
    /// Encodes the rows of a whole chunk; none if all elements are the fill value, so that nothing need be stored.
    /// They are in `out` or, where nothing is to be done, the rows themselves.
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
            return Err(Error::invalid(format!("{found} bytes for a chunk of {shape:?} rows of {row}")));
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
        // Each row is the one before it, and the first is the fill value.
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
}

impl Step {
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
