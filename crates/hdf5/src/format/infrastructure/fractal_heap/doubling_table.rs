//! The doubling table of a fractal heap, which maps an offset in the heap to a block.
//!
//! Spec: HDF5 III.G Fractal Heap, fields Table Width to Current # of Rows in Root Indirect Block

use crate::format::{Address, Sizes};
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// Blocks in rows of `width`. Blocks of the first two rows have the starting size; in each later row the size
/// doubles. Blocks up to the maximum direct size hold objects; larger blocks are indirect blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DoublingTable {
    /// The number of blocks in a row, a power of two.
    pub width: u16,
    /// The size in bytes of a block in the first row, a power of two.
    pub starting_block_size: u64,
    /// The maximum size of a direct block in bytes, a power of two.
    pub max_direct_block_size: u64,
    /// The number of bits of an offset in the heap.
    pub max_heap_size: u16,
    /// The number of rows that the root indirect block starts with; 0 for all.
    pub starting_root_rows: u16,
    /// The address of the root block; undefined in an empty heap.
    pub root_block: Address,
    /// The number of rows in the root indirect block; 0 if the root block is a direct block.
    pub current_root_rows: u16,
}

impl DoublingTable {
    pub(super) fn decode(d: &mut Decoder<'_>, sizes: &Sizes) -> Result<Self> {
        let at = d.clone();
        let table = DoublingTable {
            width: d.u16()?,
            starting_block_size: sizes.length(d)?,
            max_direct_block_size: sizes.length(d)?,
            max_heap_size: d.u16()?,
            starting_root_rows: d.u16()?,
            root_block: sizes.address(d)?,
            current_root_rows: d.u16()?,
        };
        table.geometry().map_err(|e| e.at_place(at.place()))?;
        Ok(table)
    }

    pub(super) fn encode(&self, e: &mut Encoder, sizes: &Sizes) -> Result<()> {
        self.geometry()?;
        e.u16(self.width);
        sizes.put_length(e, self.starting_block_size)?;
        sizes.put_length(e, self.max_direct_block_size)?;
        e.u16(self.max_heap_size);
        e.u16(self.starting_root_rows);
        sizes.put_address(e, self.root_block)?;
        e.u16(self.current_root_rows);
        Ok(())
    }

    /// The size in bytes of an offset in the heap.
    pub fn heap_offset_width(&self) -> u8 {
        u8::try_from(self.max_heap_size.div_ceil(8)).unwrap_or(u8::MAX)
    }

    /// The geometry of the table.
    ///
    /// # Errors
    /// If a size is not a power of two, or the rows exceed the address space of the heap.
    pub fn geometry(&self) -> Result<Geometry> {
        let bits = |what: &str, size: u64| match size.is_power_of_two() {
            true => Ok(size.trailing_zeros()),
            false => Err(Error::malformed(format!("{what} {size}, expected a power of two"))),
        };
        let width_bits = bits("table width", self.width.into())?;
        let start_bits = bits("starting block size", self.starting_block_size)?;
        let direct_bits = bits("maximum direct block size", self.max_direct_block_size)?;
        let geometry = Geometry { width_bits, start_bits, direct_bits, heap_bits: self.max_heap_size.into() };
        if direct_bits < start_bits {
            return Err(Error::malformed(format!(
                "maximum direct block size {}, expected at least the starting block size {}",
                self.max_direct_block_size, self.starting_block_size
            )));
        }
        if geometry.heap_bits > 64 || geometry.heap_bits < geometry.first_row_bits() {
            return Err(Error::malformed(format!(
                "maximum heap size of {} bits, expected {} to 64",
                geometry.heap_bits,
                geometry.first_row_bits()
            )));
        }
        if u32::from(self.current_root_rows) > geometry.max_root_rows() {
            return Err(Error::malformed(format!(
                "current number of rows {} in the root indirect block, expected at most {}",
                self.current_root_rows,
                geometry.max_root_rows()
            )));
        }
        Ok(geometry)
    }
}

/// The parameters of a [`DoublingTable`] as binary logarithms, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    width_bits: u32,
    start_bits: u32,
    direct_bits: u32,
    heap_bits: u32,
}

/// The position of an offset in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The row of the block.
    pub row: u32,
    /// The index of the block in the table.
    pub entry: usize,
    /// The size of the block in bytes.
    pub block_size: u64,
    /// The offset within the block.
    pub offset: u64,
}

impl Geometry {
    /// The maximum number of rows of direct blocks in an indirect block.
    pub fn max_direct_rows(&self) -> u32 {
        self.direct_bits - self.start_bits + 2
    }

    /// The number of rows of a root block that covers the whole address space of the heap.
    pub fn max_root_rows(&self) -> u32 {
        self.heap_bits - self.first_row_bits() + 1
    }

    /// The number of rows of an indirect block that stands for a block of `size` bytes. `None` if `size` is less than
    /// a row.
    pub fn rows_of(&self, size: u64) -> Option<u32> {
        Some(size.checked_ilog2()?.checked_sub(self.first_row_bits())? + 1)
    }

    /// The size in bytes of a block in `row`. `None` beyond the address space.
    pub fn block_size(&self, row: u32) -> Option<u64> {
        1_u64.checked_shl(self.start_bits.saturating_add(row.saturating_sub(1)))
    }

    /// The block that holds `offset`, counted from the start of the table.
    pub fn position(&self, offset: u64) -> Position {
        let high_bit = offset.checked_ilog2().unwrap_or(0);
        let (row, in_row) = match offset.checked_shr(self.first_row_bits()) {
            None | Some(0) => (0, offset),
            Some(_) => (high_bit - self.first_row_bits() + 1, offset - (1 << high_bit)),
        };
        let block_bits = self.start_bits + row.saturating_sub(1);
        let column = in_row >> block_bits;
        let entry = (u64::from(row) << self.width_bits) + column;
        Position {
            row,
            // There are fewer than 64 rows of at most 2^15 blocks.
            entry: usize::try_from(entry).unwrap_or(usize::MAX),
            block_size: 1 << block_bits,
            offset: in_row - (column << block_bits),
        }
    }

    fn first_row_bits(&self) -> u32 {
        self.start_bits + self.width_bits
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::sample;
    use super::*;

    #[test]
    fn positions_equal_those_found_by_counting() {
        let table =
            DoublingTable { starting_block_size: 4, max_direct_block_size: 8, width: 2, ..sample().table };
        let geometry = table.geometry().unwrap();
        let mut offset = 0;
        for row in 0..6 {
            for column in 0..2 {
                let block_size = geometry.block_size(row).unwrap();
                for within in 0..block_size {
                    let entry = usize::try_from(row * 2 + column).unwrap();
                    let want = Position { row, entry, block_size, offset: within };
                    assert_eq!(geometry.position(offset), want, "{offset}");
                    offset += 1;
                }
            }
        }
        assert_eq!(geometry.max_direct_rows(), 3);
        assert_eq!((geometry.rows_of(16), geometry.rows_of(4)), (Some(2), None));
    }

    #[test]
    fn the_largest_offset_has_a_block() {
        let table = DoublingTable { max_heap_size: 64, ..sample().table };
        let position = table.geometry().unwrap().position(u64::MAX);
        assert_eq!(position.row, 64 - 11);
        assert_eq!(position.offset, position.block_size - 1);
    }

    #[test]
    fn rejects_inconsistent_geometries() {
        let refused = |table: DoublingTable| assert!(table.geometry().is_err(), "{table:?}");
        refused(DoublingTable { starting_block_size: 0, ..sample().table });
        refused(DoublingTable { max_direct_block_size: 256, ..sample().table });
        refused(DoublingTable { max_heap_size: 10, ..sample().table });
        refused(DoublingTable { current_root_rows: 23, ..sample().table });
    }
}
