//! Dataspace Encoding, as written by `H5Sencode`.
//!
//! Spec: HDF5 VIII.A Dataspace Encoding

use crate::format::encoding::DataspaceSelection;
use crate::format::message::dataspace::Dataspace;
use crate::format::{Sizes, Structure};
use hyperslab_core::{Decoder, Encoder, Result};

/// A dataspace with a selection of its elements. It is independent of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodedDataspace {
    /// The size of a length in bytes: 2, 4 or 8.
    pub size_of_lengths: u8,
    /// The dataspace.
    pub dataspace: Dataspace,
    /// The selected elements.
    pub selection: DataspaceSelection,
}

impl Structure for EncodedDataspace {
    type Context = ();
    const NAME: &'static str = "Dataspace Encoding";

    fn decode(d: &mut Decoder<'_>, (): &()) -> Result<Self> {
        let at = d.clone();
        match d.array()? {
            [DATASPACE, 0] => {}
            [DATASPACE, other] => return Err(at.unsupported(format!("version {other}, expected 0"))),
            [other, _] => return Err(at.malformed(format!("message {other}, expected {DATASPACE}"))),
        }
        let at = d.clone();
        let size_of_lengths = d.u8()?;
        if !matches!(size_of_lengths, 2 | 4 | 8) {
            return Err(at.malformed(format!("size of lengths {size_of_lengths}, expected 2, 4 or 8")));
        }
        let len = d.u32()?;
        let mut extent = d.sub(Dataspace::NAME, d.len_of(len.into())?)?;
        let dataspace = Dataspace::decode(&mut extent, &sizes(size_of_lengths))?;
        let selection = DataspaceSelection::decode(d, &())?;
        Ok(EncodedDataspace { size_of_lengths, dataspace, selection })
    }

    fn encode(&self, e: &mut Encoder, (): &()) -> Result<()> {
        e.u8(DATASPACE);
        e.u8(0);
        e.u8(self.size_of_lengths);
        let mut extent = Encoder::new();
        self.dataspace.encode(&mut extent, &sizes(self.size_of_lengths))?;
        e.len_as(4, extent.len())?;
        e.bytes(extent.as_slice());
        self.selection.encode(e, &())
    }
}

/// The widths for the dataspace message, which has no addresses.
fn sizes(lengths: u8) -> Sizes {
    Sizes { lengths, ..Sizes::DEFAULT }
}

/// The type code of the dataspace message.
const DATASPACE: u8 = 1;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::structure_tests;

    structure_tests!(EncodedDataspace, context: (),
        golden: [
            include_str!("../../../tests/golden/encoded_dataspace_v18.hex"),
            include_str!("../../../tests/golden/encoded_dataspace_latest.hex"),
            include_str!("../../../tests/golden/encoded_dataspace_scalar.hex"),
        ],
        values: []);
}
