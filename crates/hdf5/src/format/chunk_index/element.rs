//! Elements of fixed and extensible arrays.
//!
//! Spec: HDF5 VII.C The Fixed Array Index and VII.D The Extensible Array Index, tables of elements

use crate::format::{Address, Sizes};
use hyperslab_core::{Decoder, Encoder, Result};

/// The entry of one chunk in the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element {
    /// The address of the chunk; undefined if it was never written.
    pub address: Address,
    /// The stored size of the chunk in bytes; 0 in an array without filters, which does not store it.
    pub size: u64,
    /// A bit for each filter that was skipped; 0 in an array without filters, which does not store it.
    pub filter_mask: u32,
}

/// The client of an array. It decides the layout of the elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
    /// Client 0: chunks without filters.
    Unfiltered,
    /// Client 1: chunks with filters.
    Filtered {
        /// The size in bytes of the field with the stored size of a chunk.
        size_width: u8,
    },
}

impl Client {
    /// The client ID in the file.
    pub fn code(self) -> u8 {
        match self {
            Client::Unfiltered => 0,
            Client::Filtered { .. } => 1,
        }
    }

    /// The size of an element in bytes.
    pub fn element_size(self, sizes: &Sizes) -> u8 {
        match self {
            Client::Unfiltered => sizes.offsets,
            Client::Filtered { size_width } => sizes.offsets + size_width + FILTER_MASK,
        }
    }

    /// Decodes the client ID and the element size of a header.
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
            return Err(
                size_at.malformed(format!("element size {element_size} is impossible for client ID {code}"))
            );
        }
        Ok(client)
    }

    pub(super) fn encode(self, e: &mut Encoder, sizes: &Sizes) {
        e.u8(self.code());
        e.u8(self.element_size(sizes));
    }

    /// Decodes the client ID of a block, which repeats that of the header.
    pub(super) fn decode_repeated(self, d: &mut Decoder<'_>) -> Result<()> {
        let at = d.clone();
        let code = d.u8()?;
        if code != self.code() {
            return Err(at.malformed(format!("client ID {code}, expected {} as in the header", self.code())));
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

/// The size of a filter mask in bytes.
const FILTER_MASK: u8 = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_element_sizes_that_do_not_fit_the_client() {
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
