//! Class 8: enumerations.
//!
//! Spec: HDF5 IV.A.2.d, Class Specific Information for Enumeration

use super::{Datatype, DatatypeClass, Head, Version, decode_name, encode_name};
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// An enumeration: integers with names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enumeration {
    /// The integer datatype of the values.
    pub base: Box<Datatype>,
    /// The names, in the order of the values.
    pub names: Vec<Vec<u8>>,
    /// The values, as consecutive elements of the base datatype.
    pub values: Vec<u8>,
}

impl Enumeration {
    pub(super) fn decode(d: &mut Decoder<'_>, head: &Head<'_>) -> Result<Self> {
        let base = head.base(d)?;
        if !matches!(base.class, DatatypeClass::FixedPoint(_)) {
            return Err(head.at.malformed("enumeration with a base datatype that is not an integer"));
        }
        if base.size != head.size {
            return Err(head.at.malformed(format!(
                "enumeration of {} bytes, expected the size of its base datatype, {}",
                head.size, base.size
            )));
        }
        let count = usize::from(head.count());
        let at = d.clone();
        let names = (0..count).map(|_| decode_name(d, head.version)).collect::<Result<Vec<Vec<u8>>>>()?;
        if names.iter().any(Vec::is_empty) {
            return Err(at.malformed("enumeration member with an empty name"));
        }
        let len = d.len_of(u64::from(base.size) * count as u64)?;
        let values = d.take(len)?.to_vec();
        Ok(Enumeration { base, names, values })
    }

    pub(super) fn bits(&self) -> Result<u32> {
        u16::try_from(self.names.len()).map(u32::from).map_err(|_| {
            Error::invalid(format!("{} enumeration members, expected at most 65535", self.names.len()))
        })
    }

    pub(super) fn encode(&self, e: &mut Encoder, version: Version) -> Result<()> {
        let size = u64::from(self.base.size);
        if size.checked_mul(self.names.len() as u64) != Some(self.values.len() as u64) {
            return Err(Error::invalid(format!(
                "{} names and {} bytes of values, expected {size} bytes for each name",
                self.names.len(),
                self.values.len()
            )));
        }
        self.base.encode_nested(e)?;
        self.names.iter().try_for_each(|name| encode_name(e, name, version))?;
        e.bytes(&self.values);
        Ok(())
    }

    /// Names and values; a value is an element of the base datatype.
    pub fn members(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let size = usize::try_from(self.base.size).unwrap_or(usize::MAX).max(1);
        self.names.iter().map(Vec::as_slice).zip(self.values.chunks_exact(size))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::{hex, structure_tests};
    use crate::format::{Sizes, Structure};

    const V1: &str = include_str!("../../../../tests/golden/message_datatype_enumeration_v1.hex");
    const V3: &str = include_str!("../../../../tests/golden/message_datatype_enumeration_v3.hex");

    structure_tests!(Datatype, context: Sizes::DEFAULT, golden: [V1, V3], values: []);

    fn decode(bytes: &[u8]) -> Result<Datatype> {
        Datatype::decode(&mut Decoder::new("t", 0, bytes), &Sizes::DEFAULT)
    }

    #[test]
    fn names_have_their_values() {
        for golden in [V1, V3] {
            let DatatypeClass::Enumeration(enumeration) = decode(&hex(golden)).unwrap().class else {
                panic!("expected an enumeration")
            };
            let members: Vec<_> = enumeration.members().collect();
            assert_eq!(
                members,
                [(&b"a colour of long name"[..], &[0x2c, 1][..]), (b"green", &[1, 0]), (b"red", &[0, 0])]
            );
        }
    }

    #[test]
    fn rejects_a_base_that_is_not_an_integer_of_the_same_size() {
        let mut bytes = hex(V3);
        bytes[4] = 3;
        assert!(decode(&bytes).is_err());
        let text = [0x38, 0, 0, 0, 3, 0, 0, 0, 0x33, 0, 0, 0, 3, 0, 0, 0];
        assert!(decode(&text).is_err());
    }

    #[test]
    fn rejects_values_without_names() {
        let mut datatype = decode(&hex(V3)).unwrap();
        if let DatatypeClass::Enumeration(enumeration) = &mut datatype.class {
            enumeration.names.pop();
        }
        assert!(datatype.encode(&mut Encoder::new(), &Sizes::DEFAULT).is_err());
    }
}
