//! Elements of fixed and extensible arrays.
//!
//! Spec: HDF5 VII.C The Fixed Array Index and VII.D The Extensible Array Index, tables of elements

use crate::format::{Address, Sizes};
use hyperslab_core::{Decoder, Encoder, Result};

/// What an array stores of one chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element {
    /// The chunk; undefined if it was never written.
    pub address: Address,
    /// Its bytes in the file; 0 in an array without filters, which does not store it.
    pub size: u64,
    /// The filters that were skipped; 0 in an array without filters, which does not store it.
    pub filter_mask: u32,
}

/// What an array is for, which decides what its elements are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
    /// Client 0: chunks without filters.
    Unfiltered,
    /// Client 1: chunks with filters.
    Filtered {
        /// The bytes in which the size of a chunk is stored.
        size_width: u8,
    },
}

impl Client {
    /// The number that stands for the client in the file.
    pub fn code(self) -> u8 {
        match self {
            Client::Unfiltered => 0,
            Client::Filtered { .. } => 1,
        }
    }

    /// The number of bytes of an element.
    pub fn element_size(self, sizes: &Sizes) -> u8 {
        match self {
            Client::Unfiltered => sizes.offsets,
            Client::Filtered { size_width } => sizes.offsets + size_width + FILTER_MASK,
        }
    }

    /// Decodes client and element size, as headers store them.
    pub(super) fn decode(d: &mut Decoder<'_>, sizes: &Sizes) -> Result<Self> {
        let at = d.clone();
        let code = d.u8()?;
        let size_at = d.clone();
        let element_size = d.u8()?;
        let client = match code {
            0 => Client::Unfiltered,
            1 => Client::Filtered {
                size_width: element_size.saturating_sub(sizes.offsets + FILTER_MASK).clamp(1, 8),
            },
            other => return Err(at.unsupported(format!("client {other}, expected 0 or 1"))),
        };
        if client.element_size(sizes) != element_size {
            return Err(size_at.malformed(format!("elements of {element_size} bytes for client {code}")));
        }
        Ok(client)
    }

    pub(super) fn encode(self, e: &mut Encoder, sizes: &Sizes) {
        e.u8(self.code());
        e.u8(self.element_size(sizes));
    }

    /// Decodes the client that blocks repeat.
    pub(super) fn decode_repeated(self, d: &mut Decoder<'_>) -> Result<()> {
        let at = d.clone();
        let code = d.u8()?;
        if code != self.code() {
            return Err(at.malformed(format!("client {code}, the header says {}", self.code())));
        }
        Ok(())
    }

    pub(super) fn decode_elements(
        self,
        d: &mut Decoder<'_>,
        sizes: &Sizes,
        count: u64,
    ) -> Result<Vec<Element>> {
        let count = d.count(count, self.element_size(sizes).into())?;
        let mut elements = Vec::with_capacity(count);
        for _ in 0..count {
            let address = sizes.address(d)?;
            let (size, filter_mask) = match self {
                Client::Unfiltered => (0, 0),
                Client::Filtered { size_width } => (d.uint(size_width)?, d.u32()?),
            };
            elements.push(Element { address, size, filter_mask });
        }
        Ok(elements)
    }

    pub(super) fn encode_elements(self, e: &mut Encoder, sizes: &Sizes, elements: &[Element]) -> Result<()> {
        for element in elements {
            sizes.put_address(e, element.address)?;
            if let Client::Filtered { size_width } = self {
                e.uint(size_width, element.size)?;
                e.u32(element.filter_mask);
            }
        }
        Ok(())
    }
}

/// The bytes of a filter mask.
const FILTER_MASK: u8 = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn element_sizes_must_be_those_of_the_client() {
        for (code, size, expected) in [
            (0, 8, Some(Client::Unfiltered)),
            (0, 9, None),
            (1, 12, None),
            (1, 13, Some(Client::Filtered { size_width: 1 })),
            (1, 20, Some(Client::Filtered { size_width: 8 })),
            (1, 21, None),
            (1, 0, None),
            (2, 8, None),
        ] {
            let found = Client::decode(&mut Decoder::new("t", 0, &[code, size]), &Sizes::DEFAULT).ok();
            assert_eq!(found, expected, "{code} {size}");
        }
    }
}
