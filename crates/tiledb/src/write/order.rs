//! Sorts cells in global order: in parts, each by its own thread, which are then merged.

use super::field::TileCells;
use super::sparse::{Column, coordinate_size, range};
use crate::format::array_schema::ArraySchema;
use crate::history::value_text;
use crate::read::global_order::{GlobalOrder, Keys};
use crate::read::tile::Tile;
use hyperslab_core::{Error, Result};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// Sorts cells of an array in global order. It can be shared between threads.
///
/// ```text
/// let sorter = CellSorter::new(schema, columns, count)?;
/// let parts = sorter.parts(threads) → sorter.sorted(part)?, by several threads
/// let cells = sorter.merged(&parts)?;
/// ```
pub struct CellSorter<'a> {
    schema: &'a ArraySchema,
    columns: &'a [Column],
    order: GlobalOrder,
    count: u32,
}

/// A part of the cells, sorted.
pub struct SortedPart(Sorted);

enum Sorted {
    /// Short keys, each with its cell in the lowest 32 bits.
    Numbers(Vec<u128>),
    /// Keys of any size, and the cells of the part, counted from its first cell.
    Keys { first: u32, keys: Keys, cells: Vec<u32> },
}

impl<'a> CellSorter<'a> {
    /// Sorts the first `count` cells of columns, which begin with those of the dimensions.
    ///
    /// # Errors
    /// [`Unsupported`](hyperslab_core::ErrorKind::Unsupported) for an order that sparse arrays do not have;
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for more cells than 32 bits can number.
    pub fn new(schema: &'a ArraySchema, columns: &'a [Column], count: usize) -> Result<CellSorter<'a>> {
        let order = GlobalOrder::of(schema)?.compact();
        let count = u32::try_from(count)
            .map_err(|_| Error::invalid(format!("{count} cells at a time, expected at most {}", u32::MAX)))?;
        Ok(CellSorter { schema, columns, order, count })
    }

    /// All cells, in at most this many parts of about the same size.
    pub fn parts(&self, parts: usize) -> Vec<Range<u32>> {
        let size = self.count.div_ceil(u32::try_from(parts).unwrap_or(u32::MAX).max(1)).max(1);
        let starts = (0..self.count).step_by(size as usize);
        starts.map(|start| start..start.saturating_add(size).min(self.count)).collect()
    }

    /// Sorts a part.
    ///
    /// # Errors
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for coordinates outside of the domain, and for a
    /// column with fewer cells.
    pub fn sorted(&self, part: Range<u32>) -> Result<SortedPart> {
        if self.order.key_size().is_none_or(|size| size > MAX_SHORT) {
            let first = part.start;
            let keys = self.keys(part.clone())?;
            let key = |cell: u32| keys.get(cell as usize);
            let mut cells: Vec<u32> = (0..part.end.saturating_sub(first)).collect();
            cells.sort_by(|one, other| key(*one).cmp(key(*other)));
            return Ok(SortedPart(Sorted::Keys { first, keys, cells }));
        }
        let mut numbers = Vec::with_capacity(part.len());
        for start in part.clone().step_by(BLOCK as usize) {
            let block = start..start.saturating_add(BLOCK).min(part.end);
            let tiles = self.coordinates(block.clone())?;
            let keys = self.order.numbers(&tiles, block.len()).ok_or_else(|| self.outside(&tiles))?;
            numbers.extend(keys.iter().zip(block).map(|(key, cell)| key << u32::BITS | u128::from(cell)));
        }
        // Cells with the same coordinates stay in their order.
        if !numbers.is_sorted() {
            numbers.sort_unstable();
        }
        Ok(SortedPart(Sorted::Numbers(numbers)))
    }

    /// The positions of all cells in global order.
    ///
    /// # Errors
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if two cells have the same coordinates in an array
    /// that does not allow it.
    pub fn merged(&self, parts: &[SortedPart]) -> Result<Vec<u32>> {
        let (mut numbers, mut others) = (Vec::new(), Vec::new());
        for part in parts {
            match &part.0 {
                Sorted::Numbers(own) => numbers.push(own.iter().copied()),
                Sorted::Keys { first, keys, cells } => others.push(
                    cells.iter().map(move |cell| (keys.get(*cell as usize), first.saturating_add(*cell))),
                ),
            }
        }
        let mut merged = Vec::with_capacity(self.count as usize);
        let mut same = None;
        // The cells with the key of the last one: one, unless zeros have different signs.
        let mut places = Vec::new();
        let mut check = |is_equal: bool, cell: u32| {
            if self.schema.allows_dups {
                return;
            }
            if !is_equal {
                places.clear();
            } else if places.iter().any(|other| self.are_of_one_place(*other, cell)) {
                same.get_or_insert(cell);
                return;
            }
            places.push(cell);
        };
        merge(numbers, |before: Option<u128>, number| {
            #[expect(clippy::cast_possible_truncation, reason = "the lowest 32 bits")]
            let cell = number as u32;
            check(before.is_some_and(|before| before >> u32::BITS == number >> u32::BITS), cell);
            merged.push(cell);
        });
        merge(others, |before: Option<(&[u8], u32)>, (key, cell)| {
            check(before.is_some_and(|before| before.0 == key), cell);
            merged.push(cell);
        });
        match same {
            Some(cell) => Err(self.twice(cell)?),
            None => Ok(merged),
        }
    }

    /// Whether the coordinates of two cells with the same key have the same bytes: both zeros have the same key.
    fn are_of_one_place(&self, one: u32, other: u32) -> bool {
        self.sizes().zip(self.columns).filter(|(size, _)| *size > 0).all(|(size, column)| {
            let of = |cell: u32| {
                let start = (cell as usize).saturating_mul(size);
                column.values.get(start..start.saturating_add(size))
            };
            of(one) == of(other)
        })
    }

    /// The key of a cell: bytes that compare like cells in the global order.
    ///
    /// # Errors
    /// As [`sorted`](Self::sorted).
    pub fn key(&self, cell: u32) -> Result<Vec<u8>> {
        Ok(self.keys(cell..cell.saturating_add(1))?.get(0).to_vec())
    }

    fn keys(&self, cells: Range<u32>) -> Result<Keys> {
        let (tiles, count) = (self.coordinates(cells.clone())?, cells.len());
        match self.order.is_within(&tiles, count) {
            true => Ok(self.order.keys(&tiles, 0..count)),
            false => Err(self.outside(&tiles)),
        }
    }

    /// The error for a coordinate outside of the domain.
    fn outside(&self, tiles: &[Tile]) -> Error {
        let sides = self.schema.domain.dimensions.iter().zip(tiles).zip(self.sizes());
        let error = |((dimension, tile), size): ((_, &Tile), usize)| {
            let cells = TileCells { values: &tile.cells, ..TileCells::default() };
            (size > 0).then(|| range(dimension, size, &cells).err()).flatten()
        };
        let found = sides.into_iter().find_map(error);
        found.unwrap_or_else(|| Error::invalid("a coordinate outside of the domain"))
    }

    /// The sizes of coordinates; 0 for strings.
    fn sizes(&self) -> impl Iterator<Item = usize> {
        self.schema.domain.dimensions.iter().map(coordinate_size)
    }

    /// The coordinates of some cells.
    fn coordinates(&self, cells: Range<u32>) -> Result<Vec<Tile>> {
        let (start, end) = (cells.start as usize, cells.end as usize);
        let tile = |(size, column): (usize, &Column)| {
            if size > 0 {
                let values = column.values.get(start.saturating_mul(size)..end.saturating_mul(size));
                return Some(Tile::of_cells(values?.to_vec(), size));
            }
            let begin = column.offsets.get(start).copied().unwrap_or(0);
            let last = column.offsets.get(end).copied().unwrap_or(column.values.len() as u64);
            let values = column.values.get(usize::try_from(begin).ok()?..usize::try_from(last).ok()?)?;
            let offsets = column.offsets.get(start..end)?.iter().chain([&last]);
            Some(Tile::of_texts(
                values.to_vec(),
                offsets.map(|offset| offset.saturating_sub(begin)).collect(),
            ))
        };
        let tiles: Option<Vec<Tile>> = self.sizes().zip(self.columns).map(tile).collect();
        tiles.ok_or_else(|| Error::invalid("a column with fewer cells than others"))
    }

    /// The error for a cell with the same coordinates as another one.
    fn twice(&self, cell: u32) -> Result<Error> {
        let tiles = self.coordinates(cell..cell.saturating_add(1))?;
        let dimensions = self.schema.domain.dimensions.iter().zip(&tiles);
        let coordinates: Vec<String> = dimensions
            .map(|(dimension, tile)| value_text(dimension.data_type, tile.cell(0).unwrap_or_default()))
            .collect();
        let detail = format!("two cells at ({}), but the array allows no duplicates", coordinates.join(", "));
        Ok(Error::invalid(detail))
    }
}

/// Calls `put` for the items of sorted sequences in their common order, each with the previous one.
fn merge<T: Ord + Copy>(sequences: Vec<impl Iterator<Item = T>>, mut put: impl FnMut(Option<T>, T)) {
    let mut sequences = sequences;
    let first = |(at, of): (usize, &mut _)| Some(Reverse((Iterator::next(of)?, at)));
    let mut heap: BinaryHeap<_> = sequences.iter_mut().enumerate().filter_map(first).collect();
    let mut before = None;
    while let Some(mut least) = heap.pop() {
        // A sequence continues alone as long as it has the smallest item.
        loop {
            let Reverse((item, at)) = least;
            put(before, item);
            before = Some(item);
            let Some(next) = sequences.get_mut(at).and_then(Iterator::next) else { break };
            least = Reverse((next, at));
            if heap.peek().is_some_and(|other| *other > least) {
                heap.push(least);
                break;
            }
        }
    }
}

/// The maximum size in bytes of a key that forms one number together with its cell.
const MAX_SHORT: usize = size_of::<u128>() - size_of::<u32>();

/// The number of cells whose keys are computed at a time.
const BLOCK: u32 = 1 << 14;
