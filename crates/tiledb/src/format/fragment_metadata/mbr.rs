//! MBR: a minimum bounding rectangle, and the ranges of dimensions that it consists of.
//!
//! Spec: TileDB format_spec, fragment.md "MBR"

use crate::format::Structure;
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// How coordinates of a dimension are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CoordinateSize {
    /// As values of this many bytes.
    Fixed(usize),
    /// As strings, each with its own size.
    Var,
}

/// A rectangle: a range for each dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mbr {
    /// The ranges, in the order of dimensions.
    pub ranges: Vec<Range>,
}

/// The `1DRange` of a dimension: the smallest and the largest coordinate, both inclusive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    /// The bytes of the smallest coordinate.
    pub min: Vec<u8>,
    /// The bytes of the largest coordinate.
    pub max: Vec<u8>,
}

/// Consecutive rectangles, kept in their stored form: a tree has millions of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mbrs {
    bytes: Vec<u8>,
    count: usize,
    starts: Starts,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Starts {
    /// All have this size.
    Every(usize),
    /// The start of each.
    At(Vec<usize>),
}

impl Structure for Mbr {
    /// How coordinates of each dimension are stored.
    type Context = Vec<CoordinateSize>;
    const NAME: &'static str = "MBR";

    fn decode(d: &mut Decoder<'_>, sizes: &Vec<CoordinateSize>) -> Result<Self> {
        let ranges = sizes.iter().map(|size| Range::decode(d, size)).collect::<Result<_>>()?;
        Ok(Mbr { ranges })
    }

    fn encode(&self, e: &mut Encoder, sizes: &Vec<CoordinateSize>) -> Result<()> {
        let (found, expected) = (self.ranges.len(), sizes.len());
        if found != expected {
            return Err(Error::invalid(format!("a rectangle of {found} dimensions, expected {expected}")));
        }
        self.ranges.iter().zip(sizes).try_for_each(|(range, size)| range.encode(e, size))
    }
}

impl Structure for Range {
    type Context = CoordinateSize;
    const NAME: &'static str = "1DRange";

    fn decode(d: &mut Decoder<'_>, size: &CoordinateSize) -> Result<Self> {
        let (min, max) = match *size {
            CoordinateSize::Fixed(size) => (d.take(size)?, d.take(size)?),
            CoordinateSize::Var => {
                let (min, max) = var_lens(d)?;
                (d.take(min)?, d.take(max)?)
            }
        };
        Ok(Range { min: min.to_vec(), max: max.to_vec() })
    }

    fn encode(&self, e: &mut Encoder, size: &CoordinateSize) -> Result<()> {
        match *size {
            CoordinateSize::Fixed(size) if self.min.len() == size && self.max.len() == size => {}
            CoordinateSize::Fixed(size) => {
                let (min, max) = (self.min.len(), self.max.len());
                return Err(Error::invalid(format!("coordinates of {min} and {max} bytes, expected {size}")));
            }
            CoordinateSize::Var => {
                e.u64(self.min.len() as u64 + self.max.len() as u64);
                e.u64(self.min.len() as u64);
            }
        }
        e.bytes(&self.min);
        e.bytes(&self.max);
        Ok(())
    }
}

/// The lengths of the two strings of a range, which follow.
fn var_lens(d: &mut Decoder<'_>) -> Result<(usize, usize)> {
    let at = d.clone();
    let len = d.u64()?;
    let min = d.u64()?;
    let len = d.len_of(len)?;
    match usize::try_from(min).ok().and_then(|min| Some((min, len.checked_sub(min)?))) {
        Some(lens) => Ok(lens),
        None => Err(at.malformed(format!("a least coordinate of {min} bytes in a range of {len}"))),
    }
}

impl Mbrs {
    /// Takes `count` rectangles.
    ///
    /// # Errors
    /// [`Malformed`](hyperslab_core::ErrorKind::Malformed) if the bytes end too early, or there are no dimensions.
    pub fn decode(d: &mut Decoder<'_>, count: u64, sizes: &[CoordinateSize]) -> Result<Self> {
        if sizes.is_empty() {
            return Err(d.malformed("rectangles without dimensions"));
        }
        let count = d.count(count, sizes.iter().map(|size| min_len(*size)).sum())?;
        if let Some(size) = fixed_len(sizes) {
            let bytes = d.take(count.saturating_mul(size))?.to_vec();
            return Ok(Mbrs { bytes, count, starts: Starts::Every(size) });
        }
        let all = d.clone();
        let mut starts = Vec::with_capacity(count);
        for _ in 0..count {
            starts.push(all.remaining().saturating_sub(d.remaining()));
            sizes.iter().try_for_each(|size| skip(d, *size))?;
        }
        let len = all.remaining().saturating_sub(d.remaining());
        let bytes = all.clone().take(len)?.to_vec();
        Ok(Mbrs { bytes, count, starts: Starts::At(starts) })
    }

    /// These rectangles.
    ///
    /// # Errors
    /// As [`Mbr::encode`].
    pub fn of(rectangles: &[Mbr], sizes: &Vec<CoordinateSize>) -> Result<Self> {
        let mut e = Encoder::new();
        rectangles.iter().try_for_each(|rectangle| rectangle.encode(&mut e, sizes))?;
        let bytes = e.into_bytes();
        Mbrs::decode(&mut Decoder::new(Mbr::NAME, 0, &bytes), rectangles.len() as u64, sizes)
    }

    /// The number of rectangles.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The rectangle at a position. `None` if there are fewer.
    ///
    /// # Errors
    /// [`Malformed`](hyperslab_core::ErrorKind::Malformed) if `sizes` are not those with which the rectangles were
    /// decoded.
    pub fn get(&self, position: usize, sizes: &Vec<CoordinateSize>) -> Result<Option<Mbr>> {
        if position >= self.count {
            return Ok(None);
        }
        let start = match &self.starts {
            Starts::Every(size) => position.saturating_mul(*size),
            Starts::At(starts) => starts.get(position).copied().unwrap_or(usize::MAX),
        };
        let bytes = self.bytes.get(start..).unwrap_or_default();
        Mbr::decode(&mut Decoder::new(Mbr::NAME, 0, bytes), sizes).map(Some)
    }

    /// The rectangles in their stored form.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// The size of a rectangle in bytes, if all have the same.
pub(crate) fn fixed_len(sizes: &[CoordinateSize]) -> Option<usize> {
    sizes.iter().try_fold(0_usize, |len, size| match *size {
        CoordinateSize::Fixed(size) => len.checked_add(size.checked_mul(2)?),
        CoordinateSize::Var => None,
    })
}

/// The minimum size of a range in bytes, never zero.
fn min_len(size: CoordinateSize) -> usize {
    match size {
        CoordinateSize::Fixed(size) => size.saturating_mul(2).max(1),
        CoordinateSize::Var => 16,
    }
}

fn skip(d: &mut Decoder<'_>, size: CoordinateSize) -> Result<()> {
    match size {
        CoordinateSize::Fixed(size) => {
            d.reserved(size)?;
            d.reserved(size)
        }
        CoordinateSize::Var => {
            let (min, max) = var_lens(d)?;
            d.reserved(min)?;
            d.reserved(max)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::structure_tests;

    fn sample(name: &str) -> Mbr {
        let fixed = Range { min: vec![1, 0], max: vec![7, 0] };
        Mbr { ranges: vec![fixed, Range { min: name.into(), max: b"zz".to_vec() }] }
    }

    fn sizes() -> Vec<CoordinateSize> {
        vec![CoordinateSize::Fixed(2), CoordinateSize::Var]
    }

    structure_tests!(Mbr, context: sizes(),
        golden: ["0100 0700 0500000000000000 0300000000000000 616263 7a7a"],
        values: [sample("abc"), sample("")]);

    mod fixed {
        use super::*;
        structure_tests!(Range, context: CoordinateSize::Fixed(4),
            golden: ["01000000 64000000"],
            values: [Range { min: vec![0; 4], max: vec![9; 4] }]);
    }

    #[test]
    fn rectangles_are_found_by_their_position() {
        let rectangles = [sample("a"), sample(""), sample("abcdef")];
        let stored = Mbrs::of(&rectangles, &sizes()).unwrap();
        assert_eq!(stored.len(), 3);
        for (position, rectangle) in rectangles.iter().enumerate() {
            assert_eq!(stored.get(position, &sizes()).unwrap().as_ref(), Some(rectangle));
        }
        assert_eq!(stored.get(3, &sizes()).unwrap(), None);
        let fixed = vec![CoordinateSize::Fixed(1)];
        let rectangles =
            [[1, 2], [3, 4]].map(|[min, max]| Mbr { ranges: vec![Range { min: vec![min], max: vec![max] }] });
        let stored = Mbrs::of(&rectangles, &fixed).unwrap();
        assert_eq!(stored.as_bytes(), [1, 2, 3, 4]);
        assert_eq!(stored.get(1, &fixed).unwrap().as_ref(), rectangles.last());
    }

    #[test]
    fn rejects_ranges_shorter_than_their_least_coordinate() {
        let bytes = [&[3, 0, 0, 0, 0, 0, 0, 0][..], &[4, 0, 0, 0, 0, 0, 0, 0], b"abc"].concat();
        let e = Range::decode(&mut Decoder::new("1DRange", 0, &bytes), &CoordinateSize::Var).unwrap_err();
        assert_eq!(e.detail(), "a least coordinate of 4 bytes in a range of 3");
    }

    #[test]
    fn rejects_more_rectangles_than_fit_before_it_allocates() {
        for sizes in [sizes(), vec![CoordinateSize::Fixed(0)], vec![CoordinateSize::Fixed(8)], vec![]] {
            assert!(Mbrs::decode(&mut Decoder::new("MBR", 0, &[0; 64]), u64::MAX / 2, &sizes).is_err());
        }
    }

    #[test]
    fn refuses_rectangles_and_coordinates_of_other_sizes() {
        assert!(sample("a").encode(&mut Encoder::new(), &vec![CoordinateSize::Var]).is_err());
        let range = Range { min: vec![0; 4], max: vec![0; 3] };
        assert!(range.encode(&mut Encoder::new(), &CoordinateSize::Fixed(4)).is_err());
    }
}
