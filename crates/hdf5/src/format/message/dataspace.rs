//! Dataspace message, type 0x0001.
//!
//! Spec: HDF5 IV.A.2.b

use super::{HeaderMessage, MessageType};
use crate::format::{Sizes, Structure};
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// The number and arrangement of elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dataspace {
    /// The version of the encoding.
    pub version: Version,
    /// The extent: scalar, simple or null.
    pub extent: Extent,
}

/// Versions of the encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// Of the first libhdf5.
    V1 = 1,
    /// Since libhdf5 1.8, for null dataspaces.
    V2 = 2,
}

/// The extent of a dataspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Scalar: one element.
    Scalar,
    /// Simple: an array of elements.
    Simple {
        /// The dimension sizes, the slowest varying first.
        dimensions: Vec<u64>,
        /// The maximum dimension sizes. `None` if the dimensions cannot grow.
        maximum: Option<Vec<u64>>,
        /// The permutation of the dimensions in version 1. It was never implemented.
        permutation: Option<Vec<u64>>,
    },
    /// Null: no elements.
    Null,
}

/// The maximum size of an unlimited dimension.
pub const UNLIMITED: u64 = u64::MAX;

impl Extent {
    /// The dimension sizes: empty for scalar and null dataspaces.
    pub fn dimensions(&self) -> &[u64] {
        match self {
            Extent::Simple { dimensions, .. } => dimensions,
            Extent::Scalar | Extent::Null => &[],
        }
    }

    /// The number of elements. `None` on overflow.
    pub fn element_count(&self) -> Option<u64> {
        match self {
            Extent::Null => Some(0),
            Extent::Scalar => Some(1),
            Extent::Simple { dimensions, .. } if dimensions.contains(&0) => Some(0),
            Extent::Simple { dimensions, .. } => {
                dimensions.iter().try_fold(1_u64, |count, size| count.checked_mul(*size))
            }
        }
    }
}

impl Dataspace {
    /// The dimension sizes: empty for a scalar, `None` for a null dataspace.
    pub fn extents(&self) -> Option<&[u64]> {
        match self.extent {
            Extent::Null => None,
            Extent::Scalar | Extent::Simple { .. } => Some(self.dimensions()),
        }
    }

    /// The dimension sizes: empty for scalar and null dataspaces.
    pub fn dimensions(&self) -> &[u64] {
        self.extent.dimensions()
    }

    /// The maximum dimension sizes, with [`UNLIMITED`] for unlimited ones. The dimension sizes themselves if they
    /// cannot grow.
    pub fn maximum(&self) -> &[u64] {
        match &self.extent {
            Extent::Simple { maximum: Some(maximum), .. } => maximum,
            _ => self.dimensions(),
        }
    }

    /// The number of elements. `None` on overflow.
    pub fn element_count(&self) -> Option<u64> {
        self.extent.element_count()
    }
}

impl Structure for Dataspace {
    type Context = Sizes;
    const NAME: &'static str = "Dataspace message";

    fn decode(d: &mut Decoder<'_>, sizes: &Sizes) -> Result<Self> {
        let at = d.clone();
        let version = match d.u8()? {
            1 => Version::V1,
            2 => Version::V2,
            other => return Err(at.unsupported(format!("version {other}, expected 1 or 2"))),
        };
        let at = d.clone();
        let rank = d.u8()?;
        if rank > MAX_DIMENSIONS {
            return Err(at.malformed(format!("{rank} dimensions, expected at most {MAX_DIMENSIONS}")));
        }
        let flags = d.u8()?;
        let kind = match version {
            Version::V1 => {
                d.reserved(5)?;
                if rank == 0 { SCALAR } else { SIMPLE }
            }
            Version::V2 => d.u8()?,
        };
        if rank != 0 && matches!(kind, SCALAR | NULL) {
            return Err(at.malformed(format!("{rank} dimensions of a scalar or null dataspace, expected 0")));
        }
        let extent = match kind {
            SCALAR => Extent::Scalar,
            SIMPLE => decode_simple(d, sizes, rank, flags, version)?,
            NULL => Extent::Null,
            other => return Err(at.unsupported(format!("type {other}, expected 0 to 2"))),
        };
        Ok(Dataspace { version, extent })
    }

    fn encode(&self, e: &mut Encoder, sizes: &Sizes) -> Result<()> {
        let none = (&[][..], None, None);
        let (kind, (dimensions, maximum, permutation)) = match &self.extent {
            Extent::Scalar => (SCALAR, none),
            Extent::Null => (NULL, none),
            Extent::Simple { dimensions, maximum, permutation } => {
                (SIMPLE, (dimensions.as_slice(), maximum.as_deref(), permutation.as_deref()))
            }
        };
        let lists = [maximum, permutation];
        if lists.iter().flatten().any(|list| list.len() != dimensions.len()) {
            return Err(Error::invalid("number of maximum sizes differs from the number of dimensions"));
        }
        e.u8(self.version as u8);
        e.len_as(1, dimensions.len())?;
        let flag = |flag, list: Option<_>| if list.is_some() { flag } else { 0 };
        e.u8(flag(HAS_MAXIMUM, maximum) | flag(HAS_PERMUTATION, permutation));
        match (self.version, kind, permutation) {
            (Version::V1, NULL, _) => return Err(Error::invalid("a null dataspace needs version 2")),
            (Version::V1, ..) => e.reserved(5),
            (Version::V2, _, Some(_)) => return Err(Error::invalid("a permutation needs version 1")),
            (Version::V2, kind, None) => e.u8(kind),
        }
        dimensions.iter().try_for_each(|size| sizes.put_length(e, *size))?;
        for size in maximum.unwrap_or_default() {
            sizes.put_length_or_max(e, *size)?;
        }
        permutation.unwrap_or_default().iter().try_for_each(|index| sizes.put_length(e, *index))
    }
}

impl HeaderMessage for Dataspace {
    const TYPE: MessageType = MessageType::DATASPACE;
}

fn decode_simple(
    d: &mut Decoder<'_>,
    sizes: &Sizes,
    rank: u8,
    flags: u8,
    version: Version,
) -> Result<Extent> {
    let dimensions = (0..rank).map(|_| sizes.length(d)).collect::<Result<Vec<u64>>>()?;
    let mut maximum = None;
    if flags & HAS_MAXIMUM != 0 {
        let at = d.clone();
        let list = (0..rank).map(|_| sizes.length_or_max(d)).collect::<Result<Vec<u64>>>()?;
        if let Some((size, max)) = dimensions.iter().zip(&list).find(|(size, max)| size > max) {
            return Err(
                at.malformed(format!("dimension size {size}, expected at most its maximum size {max}"))
            );
        }
        maximum = Some(list);
    }
    let mut permutation = None;
    if flags & HAS_PERMUTATION != 0 && version == Version::V1 {
        permutation = Some((0..rank).map(|_| sizes.length(d)).collect::<Result<Vec<u64>>>()?);
    }
    Ok(Extent::Simple { dimensions, maximum, permutation })
}

const SCALAR: u8 = 0;
const SIMPLE: u8 = 1;
const NULL: u8 = 2;

const HAS_MAXIMUM: u8 = 1;
const HAS_PERMUTATION: u8 = 2;

const MAX_DIMENSIONS: u8 = 32;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::{self, structure_tests};

    fn simple(version: Version, dimensions: &[u64], maximum: Option<&[u64]>) -> Dataspace {
        let (dimensions, maximum) = (dimensions.to_vec(), maximum.map(<[u64]>::to_vec));
        Dataspace { version, extent: Extent::Simple { dimensions, maximum, permutation: None } }
    }

    structure_tests!(Dataspace, context: Sizes::DEFAULT,
    golden: [
        include_str!("../../../tests/golden/message_dataspace_v1_scalar.hex"),
        include_str!("../../../tests/golden/message_dataspace_v1_simple.hex"),
        include_str!("../../../tests/golden/message_dataspace_v1_unlimited.hex"),
        include_str!("../../../tests/golden/message_dataspace_v2_null.hex"),
        include_str!("../../../tests/golden/message_dataspace_v2_scalar.hex"),
        include_str!("../../../tests/golden/message_dataspace_v2_unlimited.hex"),
    ],
    values: [
        simple(Version::V2, &[], None),
        simple(Version::V2, &[7; 32], Some(&[UNLIMITED; 32])),
        Dataspace {
            version: Version::V1,
            extent: Extent::Simple {
                dimensions: vec![2, 3],
                maximum: Some(vec![2, 4]),
                permutation: Some(vec![1, 0]),
            },
        },
    ]);

    #[test]
    fn unlimited_is_all_ones_of_narrow_lengths() {
        let sizes = Sizes { offsets: 4, lengths: 4 };
        let narrow = include_str!("../../../tests/golden/message_dataspace_v1_narrow.hex");
        structure_tests::golden::<Dataspace>(&[narrow], &sizes);
        let bytes = structure_tests::hex(narrow);
        let space = Dataspace::decode(&mut Decoder::new("t", 0, &bytes), &sizes).unwrap();
        assert_eq!((space.dimensions(), space.maximum()), (&[2, 3][..], &[UNLIMITED, 5][..]));
    }

    #[test]
    fn a_permutation_is_kept_but_ignored() {
        let mut bytes = vec![1, 2, 2, 0, 0, 0, 0, 0];
        [3_u64, 4, 1, 0].iter().for_each(|number| bytes.extend(number.to_le_bytes()));
        let space = Dataspace::decode(&mut Decoder::new("t", 0, &bytes), &Sizes::DEFAULT).unwrap();
        assert_eq!(space.extents(), Some(&[3, 4][..]));
        let Extent::Simple { permutation, .. } = &space.extent else { panic!("{space:?}") };
        assert_eq!(permutation.as_deref(), Some(&[1, 0][..]));
        let mut e = Encoder::new();
        space.encode(&mut e, &Sizes::DEFAULT).unwrap();
        assert_eq!(e.as_slice(), bytes);
    }

    #[test]
    fn element_counts_do_not_wrap() {
        assert_eq!(simple(Version::V2, &[], None).element_count(), Some(1));
        assert_eq!(simple(Version::V2, &[1 << 40, 1 << 40, 0], None).element_count(), Some(0));
        assert_eq!(simple(Version::V2, &[1 << 40, 1 << 40], None).element_count(), None);
        assert_eq!(Dataspace { version: Version::V2, extent: Extent::Null }.element_count(), Some(0));
    }

    #[test]
    fn rejects_impossible_dataspaces() {
        let decode = |bytes: &[u8]| {
            let mut padded = bytes.to_vec();
            padded.resize(1000, 0);
            Dataspace::decode(&mut Decoder::new("t", 0, &padded), &Sizes::DEFAULT)
        };
        assert!(decode(&[2, 33, 0, 1]).is_err());
        assert!(decode(&[2, 1, 0, 0]).is_err());
        assert!(decode(&[2, 0, 0, 3]).is_err());
        assert!(decode(&[3, 0, 0, 0]).is_err());
        let e = decode(&[2, 1, 1, 1, 5, 0, 0, 0, 0, 0, 0, 0, 4]).unwrap_err();
        assert_eq!(e.detail(), "dimension size 5, expected at most its maximum size 4");
    }

    #[test]
    fn null_dataspaces_need_version_2() {
        let null = Dataspace { version: Version::V1, extent: Extent::Null };
        assert!(null.encode(&mut Encoder::new(), &Sizes::DEFAULT).is_err());
    }
}
