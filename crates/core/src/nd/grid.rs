//! Chunk grids: how an array is divided into chunks.

use super::Region;
use crate::{Error, Result};

/// How one dimension is divided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Axis {
    /// Into chunks of one size. The last one may extend past the end of the array.
    Regular {
        /// The size of a chunk in elements.
        chunk: u64,
    },
    /// Into chunks of any size. An entry is the index where a chunk ends and the next one begins; the first chunk
    /// begins at 0.
    Edges(Vec<u64>),
}

/// How an array is divided into chunks, and optionally each chunk into inner chunks.
///
/// ```
/// use hyperslab_core::nd::{ChunkGrid, Region};
///
/// let grid = ChunkGrid::regular(&[4, 10])?;
/// assert_eq!(grid.chunks_along(&[9, 10])?, [3, 1]);
/// let starts: Vec<_> = grid.chunks_in(&Region::new(vec![3, 2], vec![2, 8]))?.map(|c| c.start).collect();
/// assert_eq!(starts, [[0, 0], [4, 0]]);
/// # Ok::<(), hyperslab_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkGrid {
    axes: Vec<Axis>,
    inner: Option<Vec<u64>>,
}

/// One chunk of a grid: the box of `shape` at `start`, which may extend past the end of the array.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chunk {
    /// The index of the chunk along each dimension.
    pub index: Vec<u64>,
    /// The index of its first element.
    pub start: Vec<u64>,
    /// Its full shape, even if it extends past the end of the array.
    pub shape: Vec<u64>,
}

impl ChunkGrid {
    /// A grid that divides each dimension in its own way.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) if a chunk has no elements.
    pub fn new(axes: Vec<Axis>) -> Result<Self> {
        for (dimension, axis) in axes.iter().enumerate() {
            axis.check(dimension)?;
        }
        Ok(ChunkGrid { axes, inner: None })
    }

    /// A grid of chunks of one shape.
    ///
    /// # Errors
    /// As [`ChunkGrid::new`].
    pub fn regular(chunk: &[u64]) -> Result<Self> {
        ChunkGrid::new(chunk.iter().map(|chunk| Axis::Regular { chunk: *chunk }).collect())
    }

    /// A grid of one chunk, which is the whole array. For an empty array the chunk has size 1 and is never returned.
    pub fn one_block(shape: &[u64]) -> Self {
        let axes = shape.iter().map(|size| Axis::Regular { chunk: (*size).max(1) }).collect();
        ChunkGrid { axes, inner: None }
    }

    /// Divides each chunk into inner chunks of this shape.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) if it has another rank or no elements.
    pub fn with_inner(mut self, chunk: Vec<u64>) -> Result<Self> {
        if chunk.len() != self.rank() || chunk.contains(&0) {
            return Err(Error::invalid(format!("inner chunks {chunk:?} of {} dimensions", self.rank())));
        }
        self.inner = Some(chunk);
        Ok(self)
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.axes.len()
    }

    /// How each dimension is divided.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// The shape of an inner chunk, if there are inner chunks.
    pub fn inner(&self) -> Option<&[u64]> {
        self.inner.as_deref()
    }

    /// The number of chunks that an array of `shape` has along each dimension.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) if the ranks differ, or the last chunk ends
    /// before the array does.
    pub fn chunks_along(&self, shape: &[u64]) -> Result<Vec<u64>> {
        self.check_rank(shape.len())?;
        let axes = self.axes.iter().zip(shape).enumerate();
        axes.map(|(dimension, (axis, size))| match size.checked_sub(1) {
            Some(last) => Ok(axis.locate(dimension, last)?.index + 1),
            None => Ok(0),
        })
        .collect()
    }

    /// The chunk with this index.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) if there is no such chunk.
    pub fn chunk(&self, index: &[u64]) -> Result<Chunk> {
        self.check_rank(index.len())?;
        let mut chunk = Chunk { index: index.to_vec(), ..Chunk::default() };
        for (dimension, (axis, index)) in self.axes.iter().zip(index).enumerate() {
            let Some((start, size)) = axis.extent(*index) else {
                return Err(Error::invalid(format!("no chunk {index} along dimension {dimension}")));
            };
            chunk.start.push(start);
            chunk.shape.push(size);
        }
        Ok(chunk)
    }

    /// The chunks that contain an element of the region, in row-major order.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) if the ranks differ, the region is invalid,
    /// or it extends past the last chunk.
    pub fn chunks_in<'a>(&'a self, region: &'a Region) -> Result<Chunks<'a>> {
        self.check_rank(region.rank())?;
        let spans = region.spans()?.enumerate().zip(&self.axes);
        for ((dimension, span), axis) in spans {
            if let Some(last) = span.end.checked_sub(1) {
                axis.locate(dimension, last)?;
            }
        }
        Ok(Chunks {
            grid: self,
            region,
            chunk: Chunk::default(),
            state: if region.is_empty() { State::Finished } else { State::Fresh },
        })
    }

    fn check_rank(&self, rank: usize) -> Result<()> {
        if rank == self.rank() {
            return Ok(());
        }
        Err(Error::invalid(format!("{rank} dimensions, the chunk grid has {}", self.rank())))
    }
}

/// The iterator that [`ChunkGrid::chunks_in`] returns. Iterating allocates each chunk; [`Chunks::next_chunk`] does
/// not.
#[derive(Clone, Debug)]
pub struct Chunks<'a> {
    grid: &'a ChunkGrid,
    region: &'a Region,
    chunk: Chunk,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Fresh,
    Walking,
    Finished,
}

impl Chunks<'_> {
    /// The next chunk, in memory that is reused for the following one.
    pub fn next_chunk(&mut self) -> Option<&Chunk> {
        match self.state {
            State::Fresh => self.begin(),
            State::Walking => self.step(),
            State::Finished => return None,
        }
        (self.state == State::Walking).then_some(&self.chunk)
    }

    fn begin(&mut self) {
        let rank = self.grid.rank();
        for list in [&mut self.chunk.index, &mut self.chunk.start, &mut self.chunk.shape] {
            list.resize(rank, 0);
        }
        self.state = State::Walking;
        for dimension in 0..rank {
            self.go(dimension, 0);
        }
    }

    fn step(&mut self) {
        for dimension in (0..self.grid.rank()).rev() {
            let (Some(start), Some(size)) =
                (self.chunk.start.get(dimension), self.chunk.shape.get(dimension))
            else {
                continue;
            };
            let next = self.step_reaching(dimension, start.saturating_add(*size));
            if self.region.count.get(dimension).is_some_and(|count| next < *count) {
                return self.go(dimension, next);
            }
            self.go(dimension, 0);
        }
        self.state = State::Finished;
    }

    /// The first step of the region at or after `index`.
    fn step_reaching(&self, dimension: usize, index: u64) -> u64 {
        match (self.region.start.get(dimension), self.region.step.get(dimension)) {
            (Some(start), Some(step)) => index.saturating_sub(*start).div_ceil(*step),
            _ => u64::MAX,
        }
    }

    /// Moves to the chunk that contains a step of the region.
    fn go(&mut self, dimension: usize, to: u64) {
        let at = (|| {
            let first = to * self.region.step.get(dimension)? + self.region.start.get(dimension)?;
            let located = self.grid.axes.get(dimension)?.locate(dimension, first).ok()?;
            *self.chunk.index.get_mut(dimension)? = located.index;
            *self.chunk.start.get_mut(dimension)? = located.start;
            *self.chunk.shape.get_mut(dimension)? = located.size;
            Some(())
        })();
        if at.is_none() {
            self.state = State::Finished;
        }
    }
}

impl Iterator for Chunks<'_> {
    type Item = Chunk;

    fn next(&mut self) -> Option<Chunk> {
        self.next_chunk().cloned()
    }
}

struct Located {
    index: u64,
    start: u64,
    size: u64,
}

impl Axis {
    fn check(&self, dimension: usize) -> Result<()> {
        let right = match self {
            Axis::Regular { chunk } => *chunk > 0,
            Axis::Edges(edges) => {
                edges.first() != Some(&0) && edges.iter().zip(edges.iter().skip(1)).all(|(a, b)| a < b)
            }
        };
        if right {
            return Ok(());
        }
        Err(Error::invalid(format!("a chunk of size 0 along dimension {dimension}")))
    }

    /// The index of the chunk that contains an element.
    fn locate(&self, dimension: usize, element: u64) -> Result<Located> {
        match self {
            Axis::Regular { chunk } => {
                let index = element / chunk;
                Ok(Located { index, start: index * chunk, size: *chunk })
            }
            Axis::Edges(edges) => {
                let index = edges.partition_point(|edge| *edge <= element) as u64;
                let Some((start, size)) = self.extent(index) else {
                    return Err(Error::invalid(format!(
                        "element {element} of dimension {dimension} is past the last chunk, which ends at {}",
                        edges.last().unwrap_or(&0)
                    )));
                };
                Ok(Located { index, start, size })
            }
        }
    }

    /// The first element and the size of a chunk.
    fn extent(&self, index: u64) -> Option<(u64, u64)> {
        match self {
            Axis::Regular { chunk } => Some((index.checked_mul(*chunk)?, *chunk)),
            Axis::Edges(edges) => {
                let index = usize::try_from(index).ok()?;
                let end = edges.get(index)?;
                let start = index.checked_sub(1).and_then(|before| edges.get(before)).unwrap_or(&0);
                Some((*start, end - start))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::strategies::{elements_of, shape_and_region};
    use super::*;
    use crate::ErrorKind;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn rejects_chunks_without_elements() {
        for grid in [
            ChunkGrid::regular(&[3, 0]),
            ChunkGrid::new(vec![Axis::Edges(vec![0, 3])]),
            ChunkGrid::new(vec![Axis::Edges(vec![3, 3])]),
            ChunkGrid::new(vec![Axis::Edges(vec![3, 2])]),
            ChunkGrid::regular(&[3]).unwrap().with_inner(vec![0]),
            ChunkGrid::regular(&[3]).unwrap().with_inner(vec![1, 1]),
        ] {
            assert_eq!(grid.unwrap_err().kind(), ErrorKind::InvalidArgument);
        }
    }

    #[test]
    fn counts_chunks_of_every_kind_of_axis() {
        let grid = ChunkGrid::new(vec![Axis::Regular { chunk: 4 }, Axis::Edges(vec![2, 3, 9])]).unwrap();
        assert_eq!(grid.chunks_along(&[8, 3]).unwrap(), [2, 2]);
        assert_eq!(grid.chunks_along(&[9, 4]).unwrap(), [3, 3]);
        assert_eq!(grid.chunks_along(&[0, 9]).unwrap(), [0, 3]);
        assert!(grid.chunks_along(&[9, 10]).is_err());
        assert!(grid.chunks_in(&Region::all(&[9, 10])).is_err());
        assert_eq!(ChunkGrid::one_block(&[5, 0]).chunks_along(&[5, 0]).unwrap(), [1, 0]);
        let chunk = grid.chunk(&[1, 2]).unwrap();
        assert_eq!((chunk.start, chunk.shape), (vec![4, 3], vec![4, 6]));
        assert!(grid.chunk(&[1, 3]).is_err());
        assert!(grid.chunk(&[u64::MAX, 0]).is_err());
    }

    #[test]
    fn scalars_are_one_chunk_and_empty_regions_none() {
        let grid = ChunkGrid::one_block(&[]);
        assert_eq!(grid.chunks_in(&Region::all(&[])).unwrap().count(), 1);
        let grid = ChunkGrid::regular(&[2, 2]).unwrap();
        assert_eq!(grid.chunks_in(&Region::new(vec![0, 0], vec![9, 0])).unwrap().count(), 0);
    }

    #[test]
    fn iteration_ends_at_the_last_indexes() {
        let grid = ChunkGrid::regular(&[1 << 63]).unwrap();
        let region = Region::new(vec![0], vec![u64::MAX]);
        assert_eq!(grid.chunks_in(&region).unwrap().count(), 2);
    }

    proptest! {
        #[test]
        fn gives_each_chunk_with_an_element_once_in_order(
            (shape, region) in shape_and_region(),
            sizes in prop::collection::vec((1..6_u64, any::<bool>()), 4),
        ) {
            let axes: Vec<Axis> = shape.iter().zip(&sizes).map(|(size, (chunk, edges))| match edges {
                true => Axis::Edges((0..size.div_ceil(*chunk)).map(|i| i * chunk + 1 + i % chunk).chain([*size + 20]).collect()),
                false => Axis::Regular { chunk: *chunk },
            }).collect();
            let grid = ChunkGrid::new(axes.clone()).unwrap();
            let index_of = |element: &Vec<u64>| -> Vec<u64> {
                element.iter().zip(&axes).map(|(e, axis)| match axis {
                    Axis::Regular { chunk } => e / chunk,
                    Axis::Edges(edges) => edges.iter().filter(|edge| *edge <= e).count() as u64,
                }).collect()
            };
            let want: BTreeSet<Vec<u64>> = elements_of(&region).iter().map(index_of).collect();
            let found: Vec<Chunk> = grid.chunks_in(&region).unwrap().collect();
            prop_assert_eq!(found.iter().map(|c| c.index.clone()).collect::<Vec<_>>(), Vec::from_iter(want));
            for chunk in found {
                prop_assert_eq!(&grid.chunk(&chunk.index).unwrap(), &chunk);
            }
        }
    }
}
