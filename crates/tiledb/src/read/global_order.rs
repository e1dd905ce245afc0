//! The global order of the cells of a sparse fragment, as bytes that compare like the cells.
//!
//! Row-major and column-major: first the space tiles of all dimensions that have an extent, in tile order, then the
//! coordinates in cell order. Hilbert: the position on the curve, then the coordinates in row-major order; space tiles
//! do not matter. All arithmetic is the same as in the library, in the same order and with the same types, since
//! rounding decides.
//!
//! Spec: TileDB format_spec, array_schema.md "Tile order", "Cell order"

use super::hilbert;
use super::tile::Tile;
use crate::format::array_schema::{ArraySchema, Dimension};
use crate::format::data_type::{CellValNum, DataType};
use crate::format::fragment_metadata::mbr::CoordinateSize;
use crate::format::fragment_metadata::r_tree::RTree;
use crate::format::layout::Layout;
use hyperslab_core::{Error, Result};
use std::collections::BTreeMap;

/// The order of the cells of an array.
pub(crate) struct GlobalOrder {
    axes: Vec<Axis>,
    tiles: Vec<(usize, SpaceTile)>,
    cells: Vec<usize>,
    curve: Option<u32>,
    /// Whether keys leave out what is equal in all cells of the domain.
    is_compact: bool,
}

/// The error for a cell that should be before the one that it follows.
pub(crate) fn out_of_order(tile: u64, cell: usize) -> Error {
    Error::malformed(format!(
        "tile {tile}: cell {cell} is out of global order: it sorts before the preceding cell or rectangle"
    ))
}

/// A dimension.
struct Axis {
    kind: Kind,
    /// The ordinals of the ends of the domain, for numbers.
    domain: (u64, u64),
}

/// The kind of coordinates.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Signed(usize),
    Unsigned(usize),
    Float32,
    Float64,
    Text,
}

/// How the space tile of a coordinate is found.
enum SpaceTile {
    Integer { low: u64, extent: u64 },
    Float32 { low: f32, extent: f32 },
    Float64 { low: f64, extent: f64 },
}

/// The keys of cells, one after another.
#[derive(Default)]
pub(crate) struct Keys {
    bytes: Vec<u8>,
    /// The size of each key, if all have the same.
    size: usize,
    /// The end of each key, otherwise.
    ends: Vec<usize>,
    count: usize,
    /// The cells with negative zeros, and the dimensions along which they have them.
    negative_zeros: BTreeMap<usize, Vec<usize>>,
}

impl GlobalOrder {
    pub(crate) fn of(schema: &ArraySchema) -> Result<GlobalOrder> {
        let dimensions = &schema.domain.dimensions;
        let axes: Vec<Axis> = dimensions.iter().map(Axis::of).collect::<Result<_>>()?;
        let mut tiles = Vec::new();
        let all = || (0..axes.len()).collect::<Vec<_>>();
        let reversed = || (0..axes.len()).rev().collect::<Vec<_>>();
        let (cells, curve) = match schema.cell_order {
            Layout::RowMajor => (all(), None),
            Layout::ColMajor => (reversed(), None),
            Layout::Hilbert if axes.len() > hilbert::MAX_DIMENSIONS => {
                let (found, most) = (axes.len(), hilbert::MAX_DIMENSIONS);
                return Err(Error::unsupported(format!(
                    "a Hilbert curve of {found} dimensions, expected at most {most}"
                )));
            }
            Layout::Hilbert => (all(), Some(hilbert::bits(axes.len()))),
            other => return Err(Error::unsupported(format!("cells of a sparse array in order {other:?}"))),
        };
        if curve.is_none() {
            let order = if schema.tile_order == Layout::ColMajor { reversed() } else { all() };
            for (position, axis, dimension) in
                order.into_iter().filter_map(|n| Some((n, axes.get(n)?, dimensions.get(n)?)))
            {
                tiles.extend(axis.space_tile(dimension)?.map(|tile| (position, tile)));
            }
        }
        if axes.len() == 1 {
            // The coordinates alone already give this order.
            tiles.clear();
        }
        Ok(GlobalOrder { axes, tiles, cells, curve, is_compact: false })
    }

    /// The same order with shorter keys, which exist only for cells in the domain.
    pub(crate) fn compact(self) -> GlobalOrder {
        GlobalOrder { is_compact: true, ..self }
    }

    /// The size of each key, if all have the same.
    pub(crate) fn key_size(&self) -> Option<usize> {
        let has_text = self.axes.iter().any(|axis| axis.kind == Kind::Text);
        let coordinates = self.cells.iter().map(|dimension| self.width(*dimension));
        let parts =
            self.tiles.iter().map(|(dimension, tile)| self.tile_width(*dimension, tile)).chain(coordinates);
        let curve = if self.curve.is_some() { 8 } else { 0 };
        (!has_text).then(|| parts.fold(curve, usize::saturating_add))
    }

    /// The keys of the first cells as numbers, if keys are [short](Self::key_size) enough. `None` if a coordinate is
    /// outside of the domain.
    pub(crate) fn numbers(&self, dimensions: &[Tile], count: usize) -> Option<Vec<u128>> {
        let ordinals = self.ordinals(dimensions, 0..count);
        self.are_within(&ordinals).then_some(())?;
        let mut keys = vec![0_u128; count];
        if let Some(bits) = self.curve {
            let mut point = vec![0; self.axes.len()];
            for (ordinal, key) in keys.iter_mut().enumerate() {
                self.bucket_all(dimensions, &ordinals, (ordinal, ordinal), bits, &mut point);
                *key = hilbert::place(&mut point, bits).into();
            }
        }
        let mut put = |dimension: usize, width: usize, of: &dyn Fn(u64) -> u64| {
            let mask = u64::MAX >> (64 - 8 * width.clamp(1, 8));
            for (key, ordinal) in keys.iter_mut().zip(ordinals.get(dimension).into_iter().flatten()) {
                *key = *key << (8 * width) | u128::from(of(*ordinal) & mask);
            }
        };
        for (dimension, tile) in &self.tiles {
            put(*dimension, self.tile_width(*dimension, tile), &|ordinal| tile.of(ordinal));
        }
        for dimension in &self.cells {
            put(*dimension, self.width(*dimension), &|ordinal| ordinal);
        }
        Some(keys)
    }

    /// Whether all coordinates of some cells are in the domain. Strings always are.
    pub(crate) fn is_within(&self, dimensions: &[Tile], count: usize) -> bool {
        self.are_within(&self.ordinals(dimensions, 0..count))
    }

    fn are_within(&self, ordinals: &[Vec<u64>]) -> bool {
        self.axes.iter().zip(ordinals).all(|(axis, ordinals)| {
            let least = ordinals.iter().copied().min().unwrap_or(axis.domain.0);
            let greatest = ordinals.iter().copied().max().unwrap_or(axis.domain.1);
            axis.domain.0 <= least && greatest <= axis.domain.1
        })
    }

    /// The ordinals of cells along each dimension; empty for strings.
    fn ordinals(&self, dimensions: &[Tile], cells: impl Iterator<Item = usize> + Clone) -> Vec<Vec<u64>> {
        let axes = self.axes.iter().zip(dimensions);
        axes.map(|(axis, tile)| axis.kind.ordinals(tile, cells.clone())).collect()
    }

    /// The cells with negative zeros, by their ordinals, and the dimensions along which they have them.
    fn negative_zeros(
        &self,
        dimensions: &[Tile],
        ordinals: &[Vec<u64>],
        cells: impl Iterator<Item = usize> + Clone,
    ) -> BTreeMap<usize, Vec<usize>> {
        let mut found: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let axes = self.axes.iter().zip(dimensions).zip(ordinals).enumerate();
        for (dimension, ((axis, tile), ordinals)) in axes {
            if !matches!(axis.kind, Kind::Float32 | Kind::Float64) {
                continue;
            }
            for (ordinal, (cell, number)) in cells.clone().zip(ordinals).enumerate() {
                let is_negative = || tile.cell(cell).and_then(<[u8]>::last).is_some_and(|byte| *byte >= 0x80);
                if *number == ZERO && is_negative() {
                    found.entry(ordinal).or_default().push(dimension);
                }
            }
        }
        found
    }

    /// The coordinates of a cell on the grid of the curve. The cell is given by its ordinal and its position in its
    /// tile.
    fn bucket_all(
        &self,
        dimensions: &[Tile],
        ordinals: &[Vec<u64>],
        (ordinal, cell): (usize, usize),
        bits: u32,
        point: &mut [u64],
    ) {
        for (dimension, (axis, bucket)) in self.axes.iter().zip(point).enumerate() {
            let number = || ordinals.get(dimension).and_then(|of| of.get(ordinal)).copied().unwrap_or(0);
            *bucket = match axis.kind {
                Kind::Text => text_bucket(dimensions.get(dimension).and_then(|tile| tile.cell(cell)), bits),
                kind => axis.bucket(kind.number(number()), bits),
            };
        }
    }

    /// The number of bytes in which the ordinals of a dimension differ.
    fn width(&self, dimension: usize) -> usize {
        let domain = self.axes.get(dimension).map_or((0, u64::MAX), |axis| axis.domain);
        if self.is_compact { width(domain.0 ^ domain.1) } else { 8 }
    }

    /// The number of bytes in which the numbers of the space tiles of a dimension differ.
    fn tile_width(&self, dimension: usize, tile: &SpaceTile) -> usize {
        let last = self.axes.get(dimension).map_or(u64::MAX, |axis| tile.of(axis.domain.1));
        if self.is_compact { width(last) } else { 8 }
    }

    /// Whether no cell of a rectangle precedes its corner with the smallest coordinates.
    pub(crate) fn has_bounds(&self) -> bool {
        self.curve.is_none()
    }

    /// Raises the lower bound of the keys of the remaining cells to the key of the smallest corner of their tile, if
    /// the R-tree contains the tile and the order [has bounds](Self::has_bounds).
    ///
    /// # Errors
    /// If the rectangles cannot be decoded.
    pub(crate) fn raise(
        &self,
        bound: &mut Vec<u8>,
        tree: &RTree,
        tile: u64,
        sizes: &Vec<CoordinateSize>,
    ) -> Result<()> {
        let position = usize::try_from(tile).unwrap_or(usize::MAX);
        let rectangle = tree.leaves().map(|leaves| leaves.get(position, sizes)).transpose()?.flatten();
        let Some(rectangle) = rectangle.filter(|_| self.has_bounds()) else { return Ok(()) };
        let sides = rectangle.ranges.into_iter().zip(sizes);
        let corner: Vec<Tile> = sides
            .map(|(range, size)| match size {
                CoordinateSize::Fixed(size) => Tile::of_cells(range.min, *size),
                CoordinateSize::Var => Tile::of_one(range.min),
            })
            .collect();
        let keys = self.keys(&corner, 0..1);
        if keys.get(0) > bound.as_slice() {
            *bound = keys.get(0).to_vec();
        }
        Ok(())
    }

    /// The keys of these cells.
    pub(crate) fn keys(
        &self,
        dimensions: &[Tile],
        cells: impl ExactSizeIterator<Item = usize> + Clone,
    ) -> Keys {
        let numbers = self.ordinals(dimensions, cells.clone());
        let size = self.key_size().unwrap_or(0);
        let has_text = size == 0;
        let tiles: Vec<(usize, usize, &SpaceTile)> = self
            .tiles
            .iter()
            .map(|(dimension, tile)| (*dimension, self.tile_width(*dimension, tile), tile))
            .collect();
        let coordinates: Vec<(usize, usize)> =
            self.cells.iter().map(|dimension| (*dimension, self.width(*dimension))).collect();
        let count = cells.len();
        let usual = if has_text { 8 * (tiles.len() + coordinates.len()) } else { size };
        let mut keys = Keys {
            bytes: Vec::with_capacity(count.saturating_mul(usual)),
            size,
            ends: Vec::new(),
            count,
            negative_zeros: self.negative_zeros(dimensions, &numbers, cells.clone()),
        };
        let mut point = vec![0; self.axes.len()];
        let number = |dimension: usize, ordinal: usize| {
            numbers.get(dimension).and_then(|numbers| numbers.get(ordinal)).copied().unwrap_or(0)
        };
        for (ordinal, cell) in cells.enumerate() {
            if let Some(bits) = self.curve {
                self.bucket_all(dimensions, &numbers, (ordinal, cell), bits, &mut point);
                keys.bytes.extend_from_slice(&hilbert::place(&mut point, bits).to_be_bytes());
            }
            for (dimension, width, tile) in &tiles {
                put_number(tile.of(number(*dimension, ordinal)), *width, &mut keys.bytes);
            }
            for (dimension, width) in &coordinates {
                let kind = self.axes.get(*dimension).map(|axis| axis.kind);
                match (kind, dimensions.get(*dimension)) {
                    (Some(Kind::Text), Some(tile)) => {
                        put_text(tile.cell(cell).unwrap_or_default(), &mut keys.bytes)
                    }
                    _ => put_number(number(*dimension, ordinal), *width, &mut keys.bytes),
                }
            }
            if has_text {
                keys.ends.push(keys.bytes.len());
            }
        }
        keys
    }
}

impl Keys {
    /// The key of the cell with this ordinal.
    pub(crate) fn get(&self, ordinal: usize) -> &[u8] {
        let range = match self.size {
            0 => {
                let start =
                    ordinal.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
                start..self.ends.get(ordinal).copied().unwrap_or(start)
            }
            size => ordinal.saturating_mul(size)..ordinal.saturating_add(1).saturating_mul(size),
        };
        self.bytes.get(range).unwrap_or_default()
    }

    /// The dimensions along which a cell has a negative zero. Keys do not distinguish the two zeros, since the library
    /// does not when it orders cells. Cells with the same key have the same coordinates only if these dimensions are
    /// also the same, because there the library compares bytes.
    pub(crate) fn negative_zeros_of(&self, ordinal: usize) -> &[usize] {
        self.negative_zeros.get(&ordinal).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// The number of bytes in memory.
    pub(crate) fn held(&self) -> usize {
        let zeros = self.negative_zeros.values().map(|of| of.len().saturating_mul(size_of::<usize>()));
        let zeros = zeros.fold(0, |sum: usize, size| sum.saturating_add(size).saturating_add(ENTRY));
        let ends = self.ends.len().saturating_mul(size_of::<usize>());
        self.bytes.len().saturating_add(ends).saturating_add(zeros)
    }

    /// The first ordinal from `from` on whose key is not below a limit.
    pub(crate) fn end_below(&self, from: usize, limit: &[u8]) -> usize {
        let mut step = 1_usize;
        let mut start = from;
        while start.saturating_add(step) < self.count && self.get(start.saturating_add(step)) < limit {
            start = start.saturating_add(step);
            step = step.saturating_mul(2);
        }
        let (mut low, mut high) = (start, start.saturating_add(step).min(self.count));
        while low < high {
            let middle = low.midpoint(high);
            match self.get(middle) < limit {
                true => low = middle.saturating_add(1),
                false => high = middle,
            }
        }
        low
    }
}

impl Axis {
    fn of(dimension: &Dimension) -> Result<Axis> {
        let kind = match (dimension.cell_val_num, dimension.data_type) {
            (CellValNum::Var, _) => Kind::Text,
            (_, DataType::Float32) => Kind::Float32,
            (_, DataType::Float64) => Kind::Float64,
            (_, DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64) => {
                Kind::Signed(dimension.data_type.size())
            }
            (_, other) if other.is_datetime() || other.is_time() => Kind::Signed(8),
            (_, other) => Kind::Unsigned(other.size()),
        };
        let half = dimension.domain.len() / 2;
        let (low, high) = dimension.domain.split_at_checked(half).unwrap_or_default();
        let domain = (kind.ordinal(low), kind.ordinal(high));
        Ok(Axis { kind, domain })
    }

    /// The space tiles of the dimension. `None` without an extent, or if there is only one tile.
    fn space_tile(&self, dimension: &Dimension) -> Result<Option<SpaceTile>> {
        let Some(extent) = &dimension.tile_extent else { return Ok(None) };
        let (low, high) = dimension.domain.split_at_checked(extent.len()).unwrap_or_default();
        let zero = || {
            let name = String::from_utf8_lossy(&dimension.name);
            Error::malformed(format!("a tile extent of 0 of dimension {name:?}"))
        };
        Ok(match self.kind {
            Kind::Text => None,
            Kind::Float32 => match (low.try_into(), extent.as_slice().try_into()) {
                (Ok(low), Ok(extent)) => Some(SpaceTile::Float32 {
                    low: f32::from_le_bytes(low),
                    extent: f32::from_le_bytes(extent),
                }),
                _ => None,
            },
            Kind::Float64 => match (low.try_into(), extent.as_slice().try_into()) {
                (Ok(low), Ok(extent)) => Some(SpaceTile::Float64 {
                    low: f64::from_le_bytes(low),
                    extent: f64::from_le_bytes(extent),
                }),
                _ => None,
            },
            kind @ (Kind::Signed(size) | Kind::Unsigned(size)) => {
                // An extent is a count, so it is unsigned.
                let extent = Kind::Unsigned(size).ordinal(extent);
                if extent == 0 {
                    return Err(zero());
                }
                let (low, high) = (kind.ordinal(low), kind.ordinal(high));
                (high.wrapping_sub(low) >= extent).then_some(SpaceTile::Integer { low, extent })
            }
        })
    }

    /// The coordinate on the grid of the curve, in this number of bits.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "as the library does")]
    fn bucket(&self, coordinate: f64, bits: u32) -> u64 {
        let (low, high) = (self.kind.number(self.domain.0), self.kind.number(self.domain.1));
        let most = (1_u64 << bits) - 1;
        // The greatest number of 63 bits becomes 2^63 here, which the library's curve folds back to it.
        (((coordinate - low) / (high - low) * most as f64) as u64).min(most)
    }
}

impl SpaceTile {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "as the library does")]
    fn of(&self, ordinal: u64) -> u64 {
        match *self {
            SpaceTile::Integer { low, extent } => ordinal.wrapping_sub(low).checked_div(extent).unwrap_or(0),
            SpaceTile::Float32 { low, extent } => {
                ((Kind::Float32.number(ordinal) as f32 - low) / extent) as u64
            }
            SpaceTile::Float64 { low, extent } => ((Kind::Float64.number(ordinal) - low) / extent) as u64,
        }
    }
}

impl Kind {
    /// A number that compares like the coordinate. Both zeros are equal.
    fn ordinal(self, coordinate: &[u8]) -> u64 {
        let mut bytes = [0; 8];
        let len = coordinate.len().min(8);
        if let (Some(to), Some(from)) = (bytes.get_mut(..len), coordinate.get(..len)) {
            to.copy_from_slice(from);
        }
        let number = u64::from_le_bytes(bytes);
        match self {
            Kind::Signed(size) => {
                let unused = 64_u32.saturating_sub(8 * u32::try_from(size).unwrap_or(8)).min(63);
                ((number << unused).cast_signed() >> unused).cast_unsigned() ^ SIGN
            }
            Kind::Unsigned(_) | Kind::Text => number,
            Kind::Float32 => {
                let [first, second, third, fourth, ..] = bytes;
                float_ordinal(f64::from(f32::from_le_bytes([first, second, third, fourth])))
            }
            Kind::Float64 => float_ordinal(f64::from_bits(number)),
        }
    }

    /// The ordinals of cells; empty for strings.
    fn ordinals(self, tile: &Tile, cells: impl Iterator<Item = usize>) -> Vec<u64> {
        match (self, tile.fixed_size()) {
            (Kind::Text, _) => Vec::new(),
            (_, Some(4)) => self.ordinals_of::<4>(tile, cells),
            (_, Some(8)) => self.ordinals_of::<8>(tile, cells),
            _ => cells.map(|cell| self.ordinal(tile.cell(cell).unwrap_or_default())).collect(),
        }
    }

    /// As [`ordinals`](Self::ordinals), for coordinates of `N` bytes.
    fn ordinals_of<const N: usize>(self, tile: &Tile, cells: impl Iterator<Item = usize>) -> Vec<u64> {
        let values = tile.cells.as_chunks::<N>().0;
        cells.map(|cell| self.ordinal(values.get(cell).map_or(&[], |value| value))).collect()
    }

    /// The coordinate of an ordinal.
    fn number(self, ordinal: u64) -> f64 {
        match self {
            Kind::Signed(_) => (ordinal ^ SIGN).cast_signed() as f64,
            Kind::Unsigned(_) | Kind::Text => ordinal as f64,
            Kind::Float32 | Kind::Float64 => match ordinal & SIGN {
                0 => f64::from_bits(!ordinal),
                _ => f64::from_bits(ordinal ^ SIGN),
            },
        }
    }
}

fn float_ordinal(number: f64) -> u64 {
    // Adding zero makes a negative zero positive.
    let bits = (number + 0.0).to_bits();
    if bits & SIGN == 0 { bits | SIGN } else { !bits }
}

/// The first eight bytes of a string. The library treats them as signed.
fn text_bucket(text: Option<&[u8]>, bits: u32) -> u64 {
    let text = text.unwrap_or_default();
    let bytes = (0..8).map(|at| text.get(at).map_or(0, |byte| i64::from(byte.cast_signed()).cast_unsigned()));
    bytes.fold(0_u64, |number, byte| number << 8 | byte) >> (64 - bits)
}

/// The number of bytes up to the highest bit that is set; at least one.
fn width(number: u64) -> usize {
    8_usize.saturating_sub((number.leading_zeros() / 8) as usize).max(1)
}

/// Appends the lowest bytes of a number.
fn put_number(number: u64, width: usize, to: &mut Vec<u8>) {
    let bytes = number.to_be_bytes();
    to.extend_from_slice(bytes.get(8_usize.saturating_sub(width)..).unwrap_or(&bytes));
}

/// Appends a string in such a way that what follows it does not affect the order before its end.
fn put_text(text: &[u8], to: &mut Vec<u8>) {
    for byte in text {
        to.push(*byte);
        if *byte == 0 {
            to.push(1);
        }
    }
    to.extend_from_slice(&[0, 0]);
}

const SIGN: u64 = 1 << 63;

/// The ordinal of both zeros.
const ZERO: u64 = SIGN;

/// The size of an entry of a map of lists.
const ENTRY: usize = size_of::<(usize, Vec<usize>)>();

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_end_of_a_domain_is_the_end_of_the_curve() {
        let of = |number: i32| Kind::Signed(4).ordinal(&number.to_le_bytes());
        let axis = Axis { kind: Kind::Signed(4), domain: (of(20), of(30)) };
        assert_eq!(axis.bucket(30.0, 63), (1 << 63) - 1);
        assert!(axis.bucket(29.0, 63) < axis.bucket(30.0, 63));
    }

    #[test]
    fn zeros_have_one_key_and_are_told_apart() {
        let of = |number: f32| Kind::Float32.ordinal(&number.to_le_bytes());
        let axis = || Axis { kind: Kind::Float32, domain: (of(-1.0), of(1.0)) };
        let order = GlobalOrder {
            axes: vec![axis(), axis()],
            tiles: Vec::new(),
            cells: vec![0, 1],
            curve: None,
            is_compact: false,
        };
        let tile = |cells: [f32; 3]| Tile::of_cells(cells.map(f32::to_le_bytes).concat(), 4);
        let keys = order.keys(&[tile([1.0, 0.0, -0.0]), tile([1.0, -0.0, -0.0])], 1..3);
        assert_eq!(keys.get(0), keys.get(1));
        assert_eq!((keys.negative_zeros_of(0), keys.negative_zeros_of(1)), (&[1][..], &[0, 1][..]));
    }

    proptest! {
        #[test]
        fn ordinals_compare_like_numbers(a in any::<i32>(), b in any::<i32>(), x in any::<f64>(), y in any::<f64>(),
            p in any::<f32>(), q in any::<f32>(),) {
            let of = |number: i32| Kind::Signed(4).ordinal(&number.to_le_bytes());
            prop_assert_eq!(of(a).cmp(&of(b)), a.cmp(&b));
            prop_assert_eq!(Kind::Signed(4).number(of(a)), f64::from(a));
            let of = |number: f64| Kind::Float64.ordinal(&number.to_le_bytes());
            if let Some(order) = x.partial_cmp(&y) {
                prop_assert_eq!(of(x).cmp(&of(y)), order);
                prop_assert_eq!(Kind::Float64.number(of(x)), x);
            }
            let of = |number: f32| Kind::Float32.ordinal(&number.to_le_bytes());
            if let Some(order) = p.partial_cmp(&q) {
                prop_assert_eq!(of(p).cmp(&of(q)), order);
            }
        }

        #[test]
        fn texts_compare_before_what_follows_them(
            a in prop::collection::vec(0..3_u8, 0..4), b in prop::collection::vec(0..3_u8, 0..4),
            after in any::<[u8; 2]>(),
        ) {
            let key = |text: &[u8], after: u8| {
                let mut key = Vec::new();
                put_text(text, &mut key);
                key.push(after);
                key
            };
            let expected = a.cmp(&b).then(after[0].cmp(&after[1]));
            prop_assert_eq!(key(&a, after[0]).cmp(&key(&b, after[1])), expected);
        }
    }
}
