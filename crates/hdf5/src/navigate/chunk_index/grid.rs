//! The grid of chunks, and the order of their numbers in arrays.

use super::ChunkIndex;
use hyperslab_core::{Error, Result};

/// The current and maximum number of chunks along each dimension.
pub(crate) struct Grid {
    current: Vec<u64>,
    /// `None` if the dimension is unlimited.
    max: Vec<Option<u64>>,
}

/// The order of chunk numbers. All chunks that the maximum dimensions allow have a number.
#[derive(Debug)]
pub(crate) struct Order {
    /// For each dimension its index and its number of chunks, slowest dimension first.
    dims: Vec<(usize, u64)>,
}

impl Grid {
    pub(crate) fn new(index: &ChunkIndex) -> Result<Self> {
        let rank = index.dims.len();
        if rank == 0 || index.max_dims.len() != rank || index.chunk_dims.len() != rank {
            return Err(Error::malformed(format!(
                "{} chunk dimensions, expected {rank} as in the dataspace",
                index.chunk_dims.len()
            )));
        }
        if index.chunk_bytes == 0 {
            return Err(Error::malformed("chunk size 0, expected 1 or more"));
        }
        let mut grid = Grid { current: Vec::with_capacity(rank), max: Vec::with_capacity(rank) };
        for ((dim, max), chunk) in index.dims.iter().zip(&index.max_dims).zip(&index.chunk_dims) {
            if *chunk == 0 || dim > max {
                return Err(Error::malformed(format!(
                    "dimension size {dim}, maximum size {max} and chunk dimension {chunk} do not fit together"
                )));
            }
            grid.current.push(dim.div_ceil(*chunk));
            grid.max.push((*max != u64::MAX).then(|| max.div_ceil(*chunk)));
        }
        Ok(grid)
    }

    pub(crate) fn rank(&self) -> usize {
        self.current.len()
    }

    /// The current number of chunks along each dimension.
    pub(crate) fn current(&self) -> &[u64] {
        &self.current
    }

    /// Whether there are currently no chunks.
    pub(crate) fn is_empty(&self) -> bool {
        self.current.contains(&0)
    }

    /// The order of the chunks within the current dimensions, as in B-trees.
    pub(crate) fn row_major(&self) -> Order {
        Order { dims: self.current.iter().copied().enumerate().collect() }
    }

    /// The order without unlimited dimensions.
    pub(crate) fn fixed(&self) -> Result<Order> {
        let dims = self.max.iter().enumerate().map(|(dim, max)| Some((dim, (*max)?)));
        dims.collect::<Option<_>>()
            .map(|dims| Order { dims })
            .ok_or_else(|| Error::malformed("unlimited dimension in a chunk index for limited dimensions"))
    }

    /// The order with one unlimited dimension, which becomes the slowest one.
    pub(crate) fn extensible(&self) -> Result<Order> {
        let mut unlimited = Vec::new();
        let mut limited = Vec::new();
        for (dim, max) in self.max.iter().enumerate() {
            match max {
                Some(max) => limited.push((dim, *max)),
                None => unlimited.push((dim, u64::MAX)),
            }
        }
        if unlimited.len() != 1 {
            return Err(Error::malformed(format!(
                "{} unlimited dimensions, expected 1 in an extensible array",
                unlimited.len()
            )));
        }
        unlimited.extend(limited);
        Ok(Order { dims: unlimited })
    }
}

impl Order {
    /// The number of dimensions.
    pub(crate) fn rank(&self) -> usize {
        self.dims.len()
    }

    /// The number of chunks with a number. `None` if it is too large.
    pub(crate) fn count(&self) -> Option<u64> {
        self.dims.iter().try_fold(1_u64, |product, (_, count)| product.checked_mul(*count))
    }

    /// The position of the chunk with a number.
    pub(crate) fn position(&self, number: u64, scaled: &mut [u64]) {
        let mut rest = number;
        for (place, (dim, count)) in self.dims.iter().enumerate().rev() {
            let Some(scaled) = scaled.get_mut(*dim) else { continue };
            *scaled = if place == 0 { rest } else { rest.checked_rem(*count).unwrap_or(0) };
            rest = rest.checked_div(*count).unwrap_or(0);
        }
    }

    /// The number of the chunk at a position. `None` outside the grid.
    pub(crate) fn number(&self, scaled: &[u64]) -> Option<u64> {
        self.dims.iter().try_fold(0_u64, |number, (dim, count)| {
            number.checked_mul(*count)?.checked_add(*scaled.get(*dim)?)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::ChunkIndexKind;
    use super::*;
    use crate::format::Address;

    fn grid(dims: &[u64], max_dims: &[u64], chunk_dims: &[u64]) -> Result<Grid> {
        Grid::new(&ChunkIndex {
            kind: ChunkIndexKind::FixedArray,
            address: Address(0),
            dims: dims.to_vec(),
            max_dims: max_dims.to_vec(),
            chunk_dims: chunk_dims.to_vec(),
            chunk_bytes: 1,
            filtered: false,
        })
    }

    fn positions(order: &Order, count: u64) -> Vec<[u64; 2]> {
        (0..count)
            .map(|number| {
                let mut scaled = [0; 2];
                order.position(number, &mut scaled);
                assert_eq!(order.number(&scaled), Some(number));
                scaled
            })
            .collect()
    }

    #[test]
    fn limited_chunks_are_numbered_by_maximum_dimensions() {
        let grid = grid(&[2, 3], &[2, 5], &[1, 2]).unwrap();
        assert_eq!(grid.current(), [2, 2]);
        let order = grid.fixed().unwrap();
        assert_eq!(order.count(), Some(6));
        assert_eq!(positions(&order, 6), [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]);
        assert!(grid.extensible().is_err());
    }

    #[test]
    fn the_unlimited_dimension_is_the_slowest() {
        let grid = grid(&[2, 3], &[4, u64::MAX], &[2, 1]).unwrap();
        let order = grid.extensible().unwrap();
        assert_eq!(positions(&order, 4), [[0, 0], [1, 0], [0, 1], [1, 1]]);
        assert!(grid.fixed().is_err());
    }

    #[test]
    fn contradictory_dimensions_are_refused() {
        assert!(grid(&[], &[], &[]).is_err());
        assert!(grid(&[1], &[1, 1], &[1]).is_err());
        assert!(grid(&[1], &[1], &[0]).is_err());
        assert!(grid(&[2], &[1], &[1]).is_err());
        assert!(grid(&[1, 1], &[u64::MAX, u64::MAX], &[1, 1]).unwrap().extensible().is_err());
        let huge = grid(&[1, 1], &[u64::MAX - 1, 9], &[1, 1]).unwrap();
        assert_eq!(huge.fixed().unwrap().count(), None);
    }
}
