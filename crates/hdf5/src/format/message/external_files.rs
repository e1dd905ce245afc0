//! Data Storage - External Data Files message, type 0x0007.
//!
//! Spec: HDF5 IV.A.2.h

use super::{HeaderMessage, MessageType};
use crate::format::{Address, Sizes, Structure};
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// The external files with the elements of a contiguous dataset, one after another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalFiles {
    /// The address of the local heap of file names.
    pub heap: Address,
    /// The slots: parts of files.
    pub slots: Vec<Slot>,
    /// The number of allocated slots that are not used.
    pub free_slots: u16,
}

/// A slot: a part of an external file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The offset of the file name in the local heap.
    pub name_offset: u64,
    /// The byte offset of the data in the file.
    pub offset: u64,
    /// The size of the data in bytes; `u64::MAX` for unlimited.
    pub len: u64,
}

impl Structure for ExternalFiles {
    type Context = Sizes;
    const NAME: &'static str = "External Data Files message";

    fn decode(d: &mut Decoder<'_>, sizes: &Sizes) -> Result<Self> {
        let at = d.clone();
        let version = d.u8()?;
        if version != 1 {
            return Err(at.unsupported(format!("version {version}, expected 1")));
        }
        d.reserved(3)?;
        let at = d.clone();
        let (allocated, used) = (d.u16()?, d.u16()?);
        let free_slots = match allocated.checked_sub(used) {
            Some(free) if allocated != 0 => free,
            _ => {
                return Err(
                    at.malformed(format!("{used} used slots, expected 1 to the {allocated} allocated ones"))
                );
            }
        };
        let at = d.clone();
        let heap = sizes.address(d)?;
        if heap.is_undefined() {
            return Err(at.malformed("undefined heap address, expected the local heap of file names"));
        }
        let slots = (0..used).map(|_| Slot::decode(d, sizes)).collect::<Result<_>>()?;
        Ok(ExternalFiles { heap, slots, free_slots })
    }

    fn encode(&self, e: &mut Encoder, sizes: &Sizes) -> Result<()> {
        e.u8(1);
        e.reserved(3);
        let used = self.slots.len();
        let allocated = used + usize::from(self.free_slots);
        if allocated == 0 || self.heap.is_undefined() {
            return Err(Error::invalid("external files need a slot and a heap"));
        }
        e.len_as(2, allocated)?;
        e.len_as(2, used)?;
        sizes.put_address(e, self.heap)?;
        self.slots.iter().try_for_each(|slot| slot.encode(e, sizes))
    }
}

impl HeaderMessage for ExternalFiles {
    const TYPE: MessageType = MessageType::EXTERNAL_FILES;
}

impl Slot {
    fn decode(d: &mut Decoder<'_>, sizes: &Sizes) -> Result<Self> {
        Ok(Slot { name_offset: sizes.length(d)?, offset: sizes.length(d)?, len: sizes.length_or_max(d)? })
    }

    fn encode(&self, e: &mut Encoder, sizes: &Sizes) -> Result<()> {
        sizes.put_length(e, self.name_offset)?;
        sizes.put_length(e, self.offset)?;
        sizes.put_length_or_max(e, self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::structure_tests;

    structure_tests!(ExternalFiles, context: Sizes::DEFAULT,
        golden: [include_str!("../../../tests/golden/message_external_files.hex")],
        values: [ExternalFiles { heap: Address(0x600), slots: vec![], free_slots: 3 }]);

    #[test]
    fn rejects_more_used_than_allocated_slots() {
        for (allocated, used) in [(0, 0), (1, 2)] {
            let mut bytes = [0; 100];
            (bytes[0], bytes[4], bytes[6]) = (1, allocated, used);
            assert!(ExternalFiles::decode(&mut Decoder::new("t", 0, &bytes), &Sizes::DEFAULT).is_err());
        }
    }
}
