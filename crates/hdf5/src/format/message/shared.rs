//! Shared Message: refers to a message that is stored elsewhere.
//!
//! Spec: HDF5 IV.A.2 Data Object Header Messages, Shared Message (Version 1 to 3)

use crate::format::{Address, Sizes, Structure};
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// The location of a shared message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedMessage {
    /// The version of the encoding.
    pub version: Version,
    /// The location.
    pub location: MessageLocation,
}

/// Versions of the encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// Before HDF5 1.6.1.
    V1 = 1,
    /// Since HDF5 1.6.1.
    V2 = 2,
    /// Since HDF5 1.8, for messages in the heap.
    V3 = 3,
}

/// The location of a shared message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageLocation {
    /// A committed message: the address of the header of another object, which holds a message of the same type.
    Committed(Address),
    /// The fractal heap ID in the shared message heap of the file.
    Heap([u8; 8]),
}

/// A part of a message that is stored in it, or shared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MaybeShared<T> {
    /// The part itself.
    Here(T),
    /// The location of the shared part.
    Shared(SharedMessage),
}

impl<T> MaybeShared<T> {
    /// The part, if it is stored in the message.
    pub fn here(&self) -> Option<&T> {
        match self {
            MaybeShared::Here(value) => Some(value),
            MaybeShared::Shared(_) => None,
        }
    }
}

impl Structure for SharedMessage {
    type Context = Sizes;
    const NAME: &'static str = "Shared Message";

    fn decode(d: &mut Decoder<'_>, sizes: &Sizes) -> Result<Self> {
        let version = match d.u8()? {
            1 => Version::V1,
            2 => Version::V2,
            3 => Version::V3,
            other => return Err(d.unsupported(format!("version {other}, expected 1 to 3"))),
        };
        let kind = d.u8()?;
        let location = match (version, kind) {
            (Version::V1, _) => {
                d.reserved(6)?;
                // DIFFERENCE: the specification defines only an address. libhdf5 has always written a whole symbol
                // table entry, whose first field is a heap offset.
                d.reserved(usize::from(sizes.lengths))?;
                let address = sizes.address(d)?;
                d.reserved(ENTRY_TAIL)?;
                MessageLocation::Committed(address)
            }
            // Type 0 before libhdf5 1.8, type 2 since.
            (Version::V2, _) | (Version::V3, COMMITTED) => MessageLocation::Committed(sizes.address(d)?),
            (Version::V3, HEAP) => MessageLocation::Heap(d.array()?),
            (Version::V3, other) => {
                return Err(d.malformed(format!("shared message type {other}, expected 1 or 2")));
            }
        };
        Ok(SharedMessage { version, location })
    }

    fn encode(&self, e: &mut Encoder, sizes: &Sizes) -> Result<()> {
        e.u8(self.version as u8);
        match (self.version, self.location) {
            (Version::V1, MessageLocation::Committed(address)) => {
                e.u8(0);
                e.reserved(6);
                e.reserved(usize::from(sizes.lengths));
                sizes.put_address(e, address)?;
                e.reserved(ENTRY_TAIL);
                Ok(())
            }
            (Version::V2 | Version::V3, MessageLocation::Committed(address)) => {
                e.u8(COMMITTED);
                sizes.put_address(e, address)
            }
            (Version::V3, MessageLocation::Heap(id)) => {
                e.u8(HEAP);
                e.bytes(&id);
                Ok(())
            }
            (Version::V1 | Version::V2, MessageLocation::Heap(_)) => Err(Error::invalid(format!(
                "shared message version {:?} cannot refer to a heap, expected version 3",
                self.version
            ))),
        }
    }
}

const HEAP: u8 = 1;
const COMMITTED: u8 = 2;

/// Cache type, reserved field and scratch-pad space of a symbol table entry.
const ENTRY_TAIL: usize = 4 + 4 + 16;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::structure_tests;

    structure_tests!(SharedMessage, context: Sizes::DEFAULT,
    golden: [
        include_str!("../../../tests/golden/message_shared_v2_committed.hex"),
        include_str!("../../../tests/golden/message_shared_v3_heap.hex"),
    ],
    values: [
        SharedMessage { version: Version::V1, location: MessageLocation::Committed(Address(0x320)) },
        SharedMessage { version: Version::V3, location: MessageLocation::Committed(Address(0x320)) },
    ]);

    #[test]
    fn version_1_holds_a_symbol_table_entry() {
        let mut bytes = vec![1, 0, 0, 0, 0, 0, 0, 0];
        bytes.extend(8_u64.to_le_bytes());
        bytes.extend(0x320_u64.to_le_bytes());
        bytes.extend([0; 24]);
        let shared = SharedMessage::decode(&mut Decoder::new("t", 0, &bytes), &Sizes::DEFAULT).unwrap();
        assert_eq!(shared.location, MessageLocation::Committed(Address(0x320)));
    }

    #[test]
    fn rejects_heap_ids_before_version_3() {
        let shared = SharedMessage { version: Version::V2, location: MessageLocation::Heap([0; 8]) };
        assert!(shared.encode(&mut Encoder::new(), &Sizes::DEFAULT).is_err());
    }
}
