//! Class 7: references.
//!
//! Spec: HDF5 IV.A.2.d, Class Specific Information for References

use super::Head;
use hyperslab_core::Result;

/// A reference to an object, a region or an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The kind of target, and the encoding.
    pub reference_type: ReferenceType,
}

/// The kind of target of a reference, and its encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReferenceType {
    /// An object, by its address.
    Object1 = 0,
    /// A region of a dataset, by a global heap ID.
    DatasetRegion1 = 1,
    /// An object, possibly in another file.
    Object2 = 2,
    /// A region of a dataset, possibly in another file.
    DatasetRegion2 = 3,
    /// An attribute, possibly in another file.
    Attribute = 4,
}

impl Reference {
    pub(super) fn decode(head: &Head<'_>) -> Result<Self> {
        let reference_type = match head.nibble(0) {
            0 => ReferenceType::Object1,
            1 => ReferenceType::DatasetRegion1,
            2 => ReferenceType::Object2,
            3 => ReferenceType::DatasetRegion2,
            4 => ReferenceType::Attribute,
            other => return Err(head.at.unsupported(format!("reference type {other}, expected 0 to 4"))),
        };
        let reference = Reference { reference_type };
        if reference.is_revised() && head.nibble(4) != ENCODING_VERSION {
            return Err(head.at.unsupported(format!(
                "reference encoding version {}, expected {ENCODING_VERSION}",
                head.nibble(4)
            )));
        }
        Ok(reference)
    }

    pub(super) fn bits(&self) -> u32 {
        let version = if self.is_revised() { ENCODING_VERSION } else { 0 };
        self.reference_type as u32 | u32::from(version) << 4
    }

    /// Whether the encoding is the revised one of libhdf5 1.12, whose elements begin with a header.
    pub fn is_revised(&self) -> bool {
        !matches!(self.reference_type, ReferenceType::Object1 | ReferenceType::DatasetRegion1)
    }
}

const ENCODING_VERSION: u8 = 1;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::message::datatype::{Datatype, DatatypeClass, Version};
    use crate::format::structure_tests::structure_tests;
    use crate::format::{Sizes, Structure};
    use hyperslab_core::Decoder;

    fn revised(reference_type: ReferenceType) -> Datatype {
        let class = DatatypeClass::Reference(Reference { reference_type });
        Datatype { version: Version::V4, size: 18, class }
    }

    structure_tests!(Datatype, context: Sizes::DEFAULT,
    golden: [
        include_str!("../../../../tests/golden/message_datatype_reference_v1_object.hex"),
        include_str!("../../../../tests/golden/message_datatype_reference_v1_region.hex"),
        include_str!("../../../../tests/golden/message_datatype_reference_v4.hex"),
    ],
    values: [
        revised(ReferenceType::Object2),
        revised(ReferenceType::DatasetRegion2),
        revised(ReferenceType::Attribute),
    ]);

    #[test]
    fn rejects_other_encoding_versions() {
        let bytes = [0x47, 0x22, 0, 0, 18, 0, 0, 0];
        assert!(Datatype::decode(&mut Decoder::new("t", 0, &bytes), &Sizes::DEFAULT).is_err());
    }
}
