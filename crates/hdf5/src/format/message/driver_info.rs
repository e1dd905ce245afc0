//! Driver Info message, type 0x0014.
//!
//! Spec: HDF5 IV.A.2.u

use super::{HeaderMessage, MessageType};
use crate::format::{Sizes, Structure};
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// Information of the file driver that wrote the file. In the superblock extension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverInfo {
    /// The driver identification: `NCSAmult` or `NCSAfami`.
    pub identification: [u8; 8],
    /// The driver information, in a layout that only the driver defines.
    pub information: Vec<u8>,
}

impl Structure for DriverInfo {
    type Context = Sizes;
    const NAME: &'static str = "Driver Info message";

    fn decode(d: &mut Decoder<'_>, _: &Sizes) -> Result<Self> {
        let at = d.clone();
        let version = d.u8()?;
        if version != 0 {
            return Err(at.unsupported(format!("version {version}, expected 0")));
        }
        let identification = d.array()?;
        let at = d.clone();
        let len = d.u16()?;
        if len == 0 {
            return Err(at.malformed("driver information size 0, expected 1 or more"));
        }
        Ok(DriverInfo { identification, information: d.take(len.into())?.to_vec() })
    }

    fn encode(&self, e: &mut Encoder, _: &Sizes) -> Result<()> {
        if self.information.is_empty() {
            return Err(Error::invalid("driver information size 0, expected 1 or more"));
        }
        e.u8(0);
        e.bytes(&self.identification);
        e.len_as(2, self.information.len())?;
        e.bytes(&self.information);
        Ok(())
    }
}

impl HeaderMessage for DriverInfo {
    const TYPE: MessageType = MessageType::DRIVER_INFO;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::structure_tests;

    structure_tests!(DriverInfo, context: Sizes::DEFAULT,
        golden: [include_str!("../../../tests/golden/message_driver_info.hex")],
        values: [DriverInfo { identification: *b"NCSAmult", information: vec![1, 2] }]);

    #[test]
    fn rejects_empty_information() {
        assert!(DriverInfo::decode(&mut Decoder::new("t", 0, &[0; 11]), &Sizes::DEFAULT).is_err());
    }
}
