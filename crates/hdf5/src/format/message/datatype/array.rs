//! Class 10: arrays.
//!
//! Spec: HDF5 IV.A.2.d, Class Specific Information for Array

use super::{Datatype, Head, Version};
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// An array of fixed shape.
///
/// Version 1 has no array class, but members of compounds have dimensions. These are decoded as an array of
/// [`Version::V1`], which is valid only as a member. Some files have the array class in version 1; it is decoded as
/// version 2, which is how they use it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// The dimension sizes, the slowest varying first.
    pub dimensions: Vec<u32>,
    /// The datatype of the items.
    pub base: Box<Datatype>,
}

impl Array {
    pub(super) fn decode(d: &mut Decoder<'_>, head: &Head<'_>) -> Result<Self> {
        let at = d.clone();
        let rank = d.u8()?;
        if rank > MAX_DIMENSIONS {
            return Err(at.malformed(format!("{rank} array dimensions, expected at most {MAX_DIMENSIONS}")));
        }
        if head.version <= Version::V2 {
            d.reserved(3)?;
        }
        let dimensions = (0..rank).map(|_| d.u32()).collect::<Result<_>>()?;
        if head.version <= Version::V2 {
            // Permutations were never implemented.
            d.reserved(4 * usize::from(rank))?;
        }
        let array = Array { dimensions, base: head.base(d)? };
        if array.size() != Some(head.size) {
            return Err(head.at.malformed(format!(
                "array size {}, expected {:?} items of {} bytes",
                head.size, array.dimensions, array.base.size
            )));
        }
        Ok(array)
    }

    pub(super) fn encode(&self, e: &mut Encoder, version: Version) -> Result<()> {
        if version == Version::V1 {
            return Err(Error::invalid("an array of version 1 must be the member of a compound"));
        }
        e.len_as(1, self.dimensions.len())?;
        if version == Version::V2 {
            e.reserved(3);
        }
        for dimension in &self.dimensions {
            e.u32(*dimension);
        }
        if version == Version::V2 {
            // The identity permutation.
            for (index, _) in self.dimensions.iter().enumerate() {
                e.len_as(4, index)?;
            }
        }
        self.base.encode_nested(e)
    }

    /// The number of items. `None` on overflow.
    pub fn len(&self) -> Option<u32> {
        self.dimensions.iter().try_fold(1_u32, |len, dimension| len.checked_mul(*dimension))
    }

    /// Whether there are no items.
    pub fn is_empty(&self) -> bool {
        self.dimensions.contains(&0)
    }

    /// The size of all items in bytes. `None` on overflow.
    pub(super) fn size(&self) -> Option<u32> {
        self.len()?.checked_mul(self.base.size)
    }
}

const MAX_DIMENSIONS: u8 = 32;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::message::datatype::DatatypeClass;
    use crate::format::structure_tests::structure_tests;
    use crate::format::{Sizes, Structure};

    structure_tests!(Datatype, context: Sizes::DEFAULT,
        golden: [
            include_str!("../../../../tests/golden/message_datatype_array_v2.hex"),
            include_str!("../../../../tests/golden/message_datatype_array_v3.hex"),
        ],
        values: []);

    fn array(size: u8, rank: u8, dimension: u8) -> Result<Datatype> {
        let mut bytes = vec![0x3a, 0, 0, 0, size, 0, 0, 0, rank];
        for _ in 0..rank {
            bytes.extend([dimension, 0, 0, 0]);
        }
        bytes.extend([0x33, 0, 0, 0, 3, 0, 0, 0]);
        Datatype::decode(&mut Decoder::new("t", 0, &bytes), &Sizes::DEFAULT)
    }

    #[test]
    fn rejects_a_size_that_differs_from_its_items() {
        array(12, 2, 2).unwrap();
        array(3, 32, 1).unwrap();
        assert!(array(11, 2, 2).is_err());
        assert!(array(3, 1, 0).is_err());
        assert!(array(3, 33, 1).is_err());
        assert!(array(3, 32, 255).is_err());
    }

    #[test]
    fn arrays_of_version_1_are_read_as_version_2_and_written_only_in_compounds() {
        let bytes =
            [0x1a, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0x13, 0, 0, 0, 3, 0, 0, 0];
        let read = Datatype::decode(&mut Decoder::new("t", 0, &bytes), &Sizes::DEFAULT).unwrap();
        assert_eq!(read.version, Version::V2);
        let mut array = array(12, 2, 2).unwrap();
        array.version = Version::V1;
        assert!(matches!(array.class, DatatypeClass::Array(_)));
        assert!(array.encode(&mut Encoder::new(), &Sizes::DEFAULT).is_err());
    }
}
