//! Data Storage - Fill Value message, type 0x0005.
//!
//! Spec: HDF5 IV.A.2.f

use super::{HeaderMessage, MessageType};
use crate::format::{Sizes, Structure};
use hyperslab_core::{Decoder, Encoder, Result};

/// The fill value: the value of elements that were never written. Also when storage is allocated and filled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FillValue {
    /// The version of the encoding.
    pub version: Version,
    /// When space is allocated.
    pub allocation_time: AllocationTime,
    /// When the fill value is written to allocated space.
    pub write_time: WriteTime,
    /// The fill value.
    pub value: Fill,
}

/// Versions of the encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// Since libhdf5 1.6.0. The size of the value is always stored.
    V1 = 1,
    /// Since libhdf5 1.6.3.
    V2 = 2,
    /// Since libhdf5 1.8.
    V3 = 3,
}

/// When space is allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AllocationTime {
    /// The default of the layout.
    Default = 0,
    /// When the dataset is created.
    Early = 1,
    /// When the dataset is first written.
    Late = 2,
    /// For each chunk, when it is first written.
    Incremental = 3,
}

/// When the fill value is written to allocated space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WriteTime {
    /// When space is allocated.
    OnAllocation = 0,
    /// Never.
    Never = 1,
    /// When space is allocated, if the user set a fill value.
    IfSet = 2,
}

/// The value of elements that were never written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fill {
    /// Undefined: the user asked for no fill value. Readers return zeros.
    Undefined,
    /// The default: zeros. The user set no fill value.
    Default,
    /// The bytes of one element.
    Value(Vec<u8>),
}

impl Structure for FillValue {
    type Context = Sizes;
    const NAME: &'static str = "Fill Value message";

    fn decode(d: &mut Decoder<'_>, _: &Sizes) -> Result<Self> {
        let at = d.clone();
        match d.u8()? {
            1 => FillValue::decode_old(d, Version::V1),
            2 => FillValue::decode_old(d, Version::V2),
            3 => FillValue::decode_v3(d),
            other => Err(at.unsupported(format!("version {other}, expected 1 to 3"))),
        }
    }

    fn encode(&self, e: &mut Encoder, _: &Sizes) -> Result<()> {
        e.u8(self.version as u8);
        match self.version {
            Version::V1 | Version::V2 => self.encode_old(e),
            Version::V3 => self.encode_v3(e),
        }
    }
}

impl HeaderMessage for FillValue {
    const TYPE: MessageType = MessageType::FILL_VALUE;
}

impl FillValue {
    fn decode_old(d: &mut Decoder<'_>, version: Version) -> Result<Self> {
        let at = d.clone();
        let allocation_time = AllocationTime::from_code(d.u8()?, &at)?;
        let write_time = WriteTime::from_code(d.u8()?, &at)?;
        let is_defined = d.u8()? != 0;
        let mut value = Vec::new();
        if is_defined || version == Version::V1 {
            // The first libhdf5 1.6 wrote a negative size for an undefined value.
            let len = match d.u32()? {
                len @ ..0x8000_0000 => d.len_of(len.into())?,
                _ => 0,
            };
            value = d.take(len)?.to_vec();
        }
        let value = match (is_defined, value.is_empty()) {
            (false, _) => Fill::Undefined,
            (true, true) => Fill::Default,
            (true, false) => Fill::Value(value),
        };
        Ok(FillValue { version, allocation_time, write_time, value })
    }

    fn encode_old(&self, e: &mut Encoder) -> Result<()> {
        e.u8(self.allocation_time as u8);
        e.u8(self.write_time as u8);
        let (is_defined, value) = match &self.value {
            Fill::Undefined => (false, &[][..]),
            Fill::Default => (true, &[][..]),
            Fill::Value(value) => (true, value.as_slice()),
        };
        e.u8(is_defined.into());
        if is_defined || self.version == Version::V1 {
            e.len_as(4, value.len())?;
            e.bytes(value);
        }
        Ok(())
    }

    fn decode_v3(d: &mut Decoder<'_>) -> Result<Self> {
        let at = d.clone();
        let flags = d.u8()?;
        if flags & RESERVED != 0 {
            return Err(at.unsupported(format!("flags {flags:#04x}")));
        }
        let allocation_time = AllocationTime::from_code(flags & 3, &at)?;
        let write_time = WriteTime::from_code(flags >> WRITE_TIME & 3, &at)?;
        let value = match (flags & UNDEFINED != 0, flags & HAS_VALUE != 0) {
            (true, true) => return Err(at.malformed("fill value is both undefined and defined")),
            (true, false) => Fill::Undefined,
            (false, false) => Fill::Default,
            (false, true) => {
                let len = d.u32()?;
                let len = d.len_of(len.into())?;
                Fill::Value(d.take(len)?.to_vec())
            }
        };
        Ok(FillValue { version: Version::V3, allocation_time, write_time, value })
    }

    fn encode_v3(&self, e: &mut Encoder) -> Result<()> {
        let flags = self.allocation_time as u8 | (self.write_time as u8) << WRITE_TIME;
        match &self.value {
            Fill::Undefined => e.u8(flags | UNDEFINED),
            Fill::Default => e.u8(flags),
            Fill::Value(value) => {
                e.u8(flags | HAS_VALUE);
                e.len_as(4, value.len())?;
                e.bytes(value);
            }
        }
        Ok(())
    }
}

impl AllocationTime {
    fn from_code(code: u8, at: &Decoder<'_>) -> Result<Self> {
        match code {
            0 => Ok(AllocationTime::Default),
            1 => Ok(AllocationTime::Early),
            2 => Ok(AllocationTime::Late),
            3 => Ok(AllocationTime::Incremental),
            other => Err(at.malformed(format!("space allocation time {other}, expected 0 to 3"))),
        }
    }
}

impl WriteTime {
    fn from_code(code: u8, at: &Decoder<'_>) -> Result<Self> {
        match code {
            0 => Ok(WriteTime::OnAllocation),
            1 => Ok(WriteTime::Never),
            2 => Ok(WriteTime::IfSet),
            other => Err(at.malformed(format!("fill value write time {other}, expected 0 to 2"))),
        }
    }
}

const WRITE_TIME: u8 = 2;
const UNDEFINED: u8 = 0x10;
const HAS_VALUE: u8 = 0x20;
const RESERVED: u8 = 0xc0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::structure_tests;

    fn fill(version: Version, value: Fill) -> FillValue {
        FillValue {
            version,
            allocation_time: AllocationTime::Incremental,
            write_time: WriteTime::IfSet,
            value,
        }
    }

    structure_tests!(FillValue, context: Sizes::DEFAULT,
    golden: [
        include_str!("../../../tests/golden/message_fill_value_v2_default.hex"),
        include_str!("../../../tests/golden/message_fill_value_v2_value.hex"),
        include_str!("../../../tests/golden/message_fill_value_v2_undefined.hex"),
        include_str!("../../../tests/golden/message_fill_value_v3_default.hex"),
        include_str!("../../../tests/golden/message_fill_value_v3_value.hex"),
        include_str!("../../../tests/golden/message_fill_value_v3_undefined.hex"),
    ],
    values: [
        fill(Version::V1, Fill::Undefined),
        fill(Version::V1, Fill::Default),
        fill(Version::V1, Fill::Value(vec![1, 2, 3])),
        fill(Version::V3, Fill::Value(vec![])),
    ]);

    fn decode(bytes: &[u8]) -> Result<FillValue> {
        FillValue::decode(&mut Decoder::new("t", 0, bytes), &Sizes::DEFAULT)
    }

    #[test]
    fn a_negative_size_means_undefined() {
        assert_eq!(decode(&[1, 2, 2, 0, 0xff, 0xff, 0xff, 0xff]).unwrap().value, Fill::Undefined);
        assert_eq!(decode(&[2, 2, 2, 1, 0xff, 0xff, 0xff, 0xff]).unwrap().value, Fill::Default);
    }

    #[test]
    fn rejects_impossible_times_and_flags() {
        for bytes in [&[2, 4, 0, 0][..], &[2, 0, 3, 0], &[3, 0x0c], &[3, 0x30, 0, 0, 0, 0], &[3, 0x40], &[4]]
        {
            assert!(decode(bytes).is_err(), "{bytes:?}");
        }
    }
}
