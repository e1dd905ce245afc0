//! Queries divided along the first dimension.

use hyperslab_core::Result;
use hyperslab_tiledb::array::Array;
use hyperslab_tiledb::format::data_type::DataType;
use hyperslab_tiledb::format::fragment_metadata::mbr::Range;
use hyperslab_tiledb::read::sparse::SparseRequest;

/// The boxes of a query in the order of their coordinates along the first dimension. They do not overlap.
pub(super) struct Boxes<'a> {
    array: &'a Array,
    /// The boxes that have not been returned yet, with the next one last.
    left: Vec<SparseRequest>,
    /// The maximum number of cells in a box, if it can be divided.
    most: u64,
}

impl<'a> Boxes<'a> {
    /// The boxes of a request, each with at most `most` cells as far as possible.
    pub(super) fn new(array: &'a Array, request: SparseRequest, most: u64) -> Boxes<'a> {
        Boxes { array, left: vec![request], most }
    }

    /// No boxes.
    pub(super) fn none(array: &'a Array) -> Boxes<'a> {
        Boxes { array, left: Vec::new(), most: 0 }
    }

    /// The next box.
    ///
    /// # Errors
    /// If the metadata of fragments cannot be read.
    pub(super) fn next(&mut self) -> Result<Option<SparseRequest>> {
        loop {
            let Some(request) = self.left.pop() else { return Ok(None) };
            let cells = self.cells(&request)?;
            if cells <= self.most {
                return Ok(Some(request));
            }
            let Some((below, above)) = self.halves(&request) else { return Ok(Some(request)) };
            // Tiles that overlap both halves are read twice.
            let in_halves = self.cells(&below)?.saturating_add(self.cells(&above)?);
            if in_halves > cells.saturating_add(cells / 4) {
                return Ok(Some(request));
            }
            self.left.push(above);
            self.left.push(below);
        }
    }

    fn cells(&self, request: &SparseRequest) -> Result<u64> {
        Ok(self.array.plan_sparse(request)?.most_cells())
    }

    /// The requests for the lower and the upper half of the coordinates along the first dimension. `None` if they are
    /// not numbers, or there is only one.
    fn halves(&self, request: &SparseRequest) -> Option<(SparseRequest, SparseRequest)> {
        let dimension = self.array.dimensions().first()?;
        let whole = || {
            let (min, max) = dimension.domain.split_at_checked(dimension.domain.len() / 2)?;
            (!min.is_empty()).then(|| Range { min: min.to_vec(), max: max.to_vec() })
        };
        let Range { min, max } = request.ranges.first().cloned().flatten().or_else(whole)?;
        let (last, first) = middle(dimension.data_type, &min, &max)?;
        let with = |range: Range| {
            let mut request = request.clone();
            match request.ranges.first_mut() {
                Some(own) => *own = Some(range),
                None => request.ranges.push(Some(range)),
            }
            request
        };
        Some((with(Range { min, max: last }), with(Range { min: first, max })))
    }
}

/// The highest coordinate of the lower half of a range, and the lowest of the upper half.
fn middle(data_type: DataType, min: &[u8], max: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    macro_rules! float {
        ($float:ty) => {{
            let of = |bytes: &[u8]| Some(<$float>::from_le_bytes(bytes.try_into().ok()?));
            let (min, max) = (of(min)?, of(max)?);
            let middle = min / 2.0 + max / 2.0;
            let next = middle.next_up();
            (min <= middle && next <= max)
                .then(|| (middle.to_le_bytes().to_vec(), next.to_le_bytes().to_vec()))
        }};
    }
    match data_type {
        DataType::Float32 => float!(f32),
        DataType::Float64 => float!(f64),
        _ => {
            let size = data_type.size();
            let is_signed = !matches!(
                data_type,
                DataType::UInt8 | DataType::UInt16 | DataType::UInt32 | DataType::UInt64
            );
            let of = |bytes: &[u8]| {
                let is_negative = is_signed && bytes.last().is_some_and(|byte| *byte >= 0x80);
                let mut wide = [if is_negative { 0xff } else { 0 }; 16];
                wide.get_mut(..bytes.len())?.copy_from_slice(bytes);
                (bytes.len() == size).then(|| i128::from_le_bytes(wide))
            };
            let (min, max) = (of(min)?, of(max)?);
            let middle = min + (max - min) / 2;
            let bytes = |number: i128| number.to_le_bytes().get(..size).map(<[u8]>::to_vec);
            if min >= max { None } else { Some((bytes(middle)?, bytes(middle + 1)?)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_meet_and_end() {
        let of = |number: i32| number.to_le_bytes().to_vec();
        assert_eq!(middle(DataType::Int32, &of(-3), &of(4)), Some((of(0), of(1))));
        assert_eq!(middle(DataType::Int32, &of(-4), &of(-3)), Some((of(-4), of(-3))));
        assert_eq!(middle(DataType::Int32, &of(5), &of(5)), None);
        let of = |number: u64| number.to_le_bytes().to_vec();
        let half = u64::MAX / 2;
        assert_eq!(middle(DataType::UInt64, &of(0), &of(u64::MAX)), Some((of(half), of(half + 1))));
        let of = |number: f64| number.to_le_bytes().to_vec();
        assert_eq!(middle(DataType::Float64, &of(0.0), &of(4.0)), Some((of(2.0), of(2.0_f64.next_up()))));
        assert_eq!(middle(DataType::Float64, &of(2.0), &of(2.0)), None);
        assert_eq!(middle(DataType::Float64, &of(f64::MIN), &of(f64::MAX)).unwrap().0, of(0.0));
        assert_eq!(middle(DataType::Float64, &of(f64::NAN), &of(1.0)), None);
    }
}
