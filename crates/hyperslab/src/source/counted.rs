//! Coordinates that only a domain defines: they increase by one from the lowest.

use hyperslab_core::Result;
use hyperslab_core::nd::{Planes, Region};
use hyperslab_model::{Datatype, Element, Elements, Extent, Values};
use std::ops::Range;

/// Coordinates that increase by one. They are computed on reading, by all threads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counted {
    low: i128,
    /// The size of a row in bytes.
    size: usize,
}

impl Counted {
    /// Coordinates of a datatype, starting at `low`.
    pub(crate) fn new(low: i128, datatype: &Datatype) -> Counted {
        Counted { low, size: datatype.row_size().unwrap_or(0) }
    }

    /// The first coordinate of a dimension whose domain and length alone are known. A dimension that cannot grow to the
    /// whole domain is at the end of the domain. `None` if the domain does not consist of integers or times, or is
    /// shorter than the dimension.
    pub(crate) fn first(datatype: &Datatype, domain: &Values, size: Extent) -> Option<i128> {
        if !matches!(datatype.resolved(), Datatype::Int { .. } | Datatype::Datetime(_)) {
            return None;
        }
        let (low, high) = Counted::ends(datatype, domain)?;
        let span = high.checked_sub(low)?.checked_add(1)?;
        let before = match size.max() {
            Some(max) => span.checked_sub(max.into())?,
            None => 0,
        };
        let is_within = before >= 0 && i128::from(size.current()) <= span - before;
        is_within.then(|| low.saturating_add(before))
    }

    /// The bounds of a domain of integers or times.
    pub(crate) fn ends(datatype: &Datatype, domain: &Values) -> Option<(i128, i128)> {
        let mut ends = Elements::new(datatype, domain).map(|end| match end.get() {
            Element::Int(end) => Some(end),
            _ => None,
        });
        Some((ends.next()??, ends.next()??))
    }

    /// Fills `rows` with the coordinates of a region.
    pub(crate) fn read(&self, region: &Region, rows: &mut Planes<'_>) -> Result<()> {
        let Some(Range { start, end }) = region.span(0) else { return Ok(()) };
        let (mut at, mut bytes) = (start, Vec::new());
        while at < end {
            let next = at.saturating_add(AT_ONCE).min(end);
            bytes.clear();
            for number in at..next {
                let coordinate = (self.low.saturating_add(number.into())).to_le_bytes();
                let row = coordinate.get(..self.size).unwrap_or_default();
                match cfg!(target_endian = "big") {
                    true => bytes.extend(row.iter().rev()),
                    false => bytes.extend_from_slice(row),
                }
            }
            if let Some(mut overlap) = rows.overlap(&[at], &[next - at], region, self.size)? {
                overlap.scatter(&bytes)?;
            }
            at = next;
        }
        Ok(())
    }
}

/// The number of coordinates that are computed at a time.
const AT_ONCE: u64 = 1 << 16;
