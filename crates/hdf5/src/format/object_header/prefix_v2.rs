//! Version 2 Data Object Header Prefix.
//!
//! Spec: HDF5 IV.A.1.b

use crate::format::Structure;
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// The prefix of a version 2 object header. The checksum after the messages also covers it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrefixV2 {
    /// Whether messages have creation indexes.
    pub attribute_creation_order_tracked: bool,
    /// Whether attributes in dense storage are indexed by creation order.
    pub attribute_creation_order_indexed: bool,
    /// The access, modification, change and birth time of the object, if they are stored.
    pub times: Option<Times>,
    /// The attribute counts at which attributes move between compact and dense storage, if they are not the default.
    pub attribute_phase_change: Option<AttributePhaseChange>,
    /// The size of the next field in bytes: 1, 2, 4 or 8.
    pub chunk_0_size_width: u8,
    /// The size of messages and gap in chunk 0 in bytes.
    pub chunk_0_size: u64,
}

/// Times in seconds since 1970-01-01 00:00 UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// When raw data was last read or written.
    pub access: u32,
    /// When raw data was last written.
    pub modification: u32,
    /// When metadata was last changed.
    pub change: u32,
    /// When the object was created.
    pub birth: u32,
}

/// The attribute counts at which attributes move between compact and dense storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttributePhaseChange {
    /// With more attributes than this, storage becomes dense: in a fractal heap.
    pub maximum_compact: u16,
    /// With fewer attributes than this, storage becomes compact: in the object header.
    pub minimum_dense: u16,
}

impl Default for AttributePhaseChange {
    fn default() -> Self {
        AttributePhaseChange { maximum_compact: 8, minimum_dense: 6 }
    }
}

impl PrefixV2 {
    /// The signature of the prefix.
    pub const SIGNATURE: &'static [u8] = b"OHDR";
}

impl Structure for PrefixV2 {
    type Context = ();
    const NAME: &'static str = "Version 2 Object Header";

    fn decode(d: &mut Decoder<'_>, _: &()) -> Result<Self> {
        d.signature(Self::SIGNATURE)?;
        let at = d.clone();
        let version = d.u8()?;
        if version != 2 {
            return Err(at.unsupported(format!("version {version}, expected 2")));
        }
        let at = d.clone();
        let flags = d.u8()?;
        if flags & RESERVED != 0 {
            return Err(at.unsupported(format!(
                "object header flags {flags:#04x}, expected only bits of {:#04x}",
                !RESERVED
            )));
        }
        let times = if flags & HAS_TIMES != 0 { Some(Times::decode(d)?) } else { None };
        let attribute_phase_change =
            if flags & HAS_PHASE_CHANGE != 0 { Some(AttributePhaseChange::decode(d)?) } else { None };
        let chunk_0_size_width = 1 << (flags & SIZE_WIDTH);
        let chunk_0_size = d.uint(chunk_0_size_width)?;
        Ok(PrefixV2 {
            attribute_creation_order_tracked: flags & TRACKED != 0,
            attribute_creation_order_indexed: flags & INDEXED != 0,
            times,
            attribute_phase_change,
            chunk_0_size_width,
            chunk_0_size,
        })
    }

    fn encode(&self, e: &mut Encoder, _: &()) -> Result<()> {
        e.bytes(Self::SIGNATURE);
        e.u8(2);
        let mut flags = match self.chunk_0_size_width {
            1 => 0,
            2 => 1,
            4 => 2,
            8 => 3,
            other => {
                return Err(Error::invalid(format!("size field of {other} bytes, expected 1, 2, 4 or 8")));
            }
        };
        for (flag, set) in [
            (TRACKED, self.attribute_creation_order_tracked),
            (INDEXED, self.attribute_creation_order_indexed),
            (HAS_PHASE_CHANGE, self.attribute_phase_change.is_some()),
            (HAS_TIMES, self.times.is_some()),
        ] {
            flags |= if set { flag } else { 0 };
        }
        e.u8(flags);
        if let Some(times) = &self.times {
            times.encode(e);
        }
        if let Some(change) = &self.attribute_phase_change {
            change.encode(e);
        }
        e.uint(self.chunk_0_size_width, self.chunk_0_size)
    }
}

impl Times {
    fn decode(d: &mut Decoder<'_>) -> Result<Self> {
        Ok(Times { access: d.u32()?, modification: d.u32()?, change: d.u32()?, birth: d.u32()? })
    }

    fn encode(&self, e: &mut Encoder) {
        e.u32(self.access);
        e.u32(self.modification);
        e.u32(self.change);
        e.u32(self.birth);
    }
}

impl AttributePhaseChange {
    fn decode(d: &mut Decoder<'_>) -> Result<Self> {
        let at = d.clone();
        let (maximum_compact, minimum_dense) = (d.u16()?, d.u16()?);
        if maximum_compact < minimum_dense {
            return Err(at.malformed(format!(
                "maximum compact attributes {maximum_compact}, expected at least the minimum dense attributes {minimum_dense}"
            )));
        }
        Ok(AttributePhaseChange { maximum_compact, minimum_dense })
    }

    fn encode(&self, e: &mut Encoder) {
        e.u16(self.maximum_compact);
        e.u16(self.minimum_dense);
    }
}

const SIZE_WIDTH: u8 = 0x03;
const TRACKED: u8 = 0x04;
const INDEXED: u8 = 0x08;
const HAS_PHASE_CHANGE: u8 = 0x10;
const HAS_TIMES: u8 = 0x20;
const RESERVED: u8 = 0xc0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::structure_tests;

    structure_tests!(PrefixV2, context: (),
    golden: [
        include_str!("../../../tests/golden/object_header_prefix_v2_group.hex"),
        include_str!("../../../tests/golden/object_header_prefix_v2_times.hex"),
        include_str!("../../../tests/golden/object_header_prefix_v2_phase_change.hex"),
    ],
    values: [
        PrefixV2 {
            attribute_creation_order_tracked: true,
            attribute_creation_order_indexed: true,
            times: Some(Times { access: 1, modification: 2, change: 3, birth: 4 }),
            attribute_phase_change: Some(AttributePhaseChange { maximum_compact: 5, minimum_dense: 5 }),
            chunk_0_size_width: 8,
            chunk_0_size: 0x1_0000_0000,
        },
        PrefixV2 {
            attribute_creation_order_tracked: false,
            attribute_creation_order_indexed: false,
            times: None,
            attribute_phase_change: None,
            chunk_0_size_width: 4,
            chunk_0_size: 3,
        },
    ]);

    #[test]
    fn rejects_unknown_flags() {
        let e = PrefixV2::decode(&mut Decoder::new("t", 0, b"OHDR\x02\x40\x00"), &()).unwrap_err();
        assert_eq!(e.kind(), hyperslab_core::ErrorKind::Unsupported);
    }

    #[test]
    fn rejects_a_minimum_dense_above_the_maximum_compact() {
        assert!(PrefixV2::decode(&mut Decoder::new("t", 0, b"OHDR\x02\x10\x01\0\x02\0\0"), &()).is_err());
    }
}
