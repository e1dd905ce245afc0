//! References, revised and backward compatible.
//!
//! Spec: HDF5 VIII.B Reference Encoding (Revised) and VIII.C Reference Encoding (Backward Compatibility)

use crate::format::encoding::DataspaceSelection;
use crate::format::infrastructure::GlobalHeapId;
use crate::format::{Address, Sizes, Structure};
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// A revised reference as stored in an element of a dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoredReference {
    /// A null reference.
    Null,
    /// A reference to an object of the same file, stored in the element.
    Inline(ReferenceBlock),
    /// Any other reference, stored in the global heap.
    Heap {
        /// The type of the reference, and whether it is external.
        header: ReferenceHeader,
        /// The size of the block in bytes; libhdf5 counts a few bytes too many.
        size: u32,
        /// The location of the block in the global heap.
        id: GlobalHeapId,
    },
}

/// The header of a revised reference. It decides the content of the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReferenceHeader {
    /// The kind of target.
    pub reference_type: ReferenceType,
    /// Whether the target is in another file.
    pub external: bool,
}

/// The kind of target of a revised reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReferenceType {
    /// An object.
    Object,
    /// A region of a dataset.
    Region,
    /// An attribute.
    Attribute,
}

/// A revised reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReferenceBlock {
    /// The token of the object: in HDF5 files its address, little-endian.
    pub token: Vec<u8>,
    /// The name of the file with the object, if it is another file.
    pub file: Option<Vec<u8>>,
    /// The part of the object that is the target.
    pub target: Referent,
}

/// The part of an object that a reference refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Referent {
    /// The object itself.
    Object,
    /// A region of the dataset.
    Region {
        /// The number of dimensions of the dataset.
        rank: u32,
        /// The selected elements.
        selection: DataspaceSelection,
    },
    /// The attribute with this name.
    Attribute(Vec<u8>),
}

/// A backward compatible region reference, as stored in the global heap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegionReference {
    /// The address of the dataset.
    pub object: Address,
    /// The selected elements.
    pub selection: DataspaceSelection,
}

/// The parameters that determine the layout of a reference in an element.
#[derive(Clone, Copy, Debug)]
pub struct StoredReferenceContext {
    /// The widths of addresses and lengths.
    pub sizes: Sizes,
    /// The size of an element in bytes.
    pub len: usize,
}

impl ReferenceBlock {
    /// The header of the block.
    pub fn header(&self) -> ReferenceHeader {
        let reference_type = match self.target {
            Referent::Object => ReferenceType::Object,
            Referent::Region { .. } => ReferenceType::Region,
            Referent::Attribute(_) => ReferenceType::Attribute,
        };
        ReferenceHeader { reference_type, external: self.file.is_some() }
    }

    /// The address that the token holds.
    ///
    /// # Errors
    /// If the token is not an address of an HDF5 file.
    pub fn address(&self, sizes: &Sizes) -> Result<Address> {
        let width = usize::from(sizes.offsets);
        match self.token.split_at_checked(width) {
            Some((address, rest)) if rest.iter().all(|byte| *byte == 0) => {
                sizes.address(&mut Decoder::new(Self::NAME, 0, address))
            }
            _ => Err(Error::unsupported(format!(
                "token of {} bytes, expected an address of {width}",
                self.token.len()
            ))),
        }
    }
}

impl Structure for StoredReference {
    type Context = StoredReferenceContext;
    const NAME: &'static str = "stored reference";

    fn decode(d: &mut Decoder<'_>, context: &StoredReferenceContext) -> Result<Self> {
        let mut d = d.sub(Self::NAME, context.len)?;
        if d.clone().rest().iter().all(|byte| *byte == 0) {
            return Ok(StoredReference::Null);
        }
        let header = ReferenceHeader::decode(&mut d, &())?;
        if header.is_inline() {
            return ReferenceBlock::decode(&mut d, &header).map(StoredReference::Inline);
        }
        let size = d.u32()?;
        let id = GlobalHeapId::decode(&mut d, &context.sizes)?;
        Ok(StoredReference::Heap { header, size, id })
    }

    fn encode(&self, e: &mut Encoder, context: &StoredReferenceContext) -> Result<()> {
        let start = e.len();
        match self {
            StoredReference::Null => {}
            StoredReference::Inline(block) if block.header().is_inline() => {
                block.header().encode(e, &())?;
                block.encode(e, &block.header())?;
            }
            StoredReference::Heap { header, size, id } if !header.is_inline() => {
                header.encode(e, &())?;
                e.u32(*size);
                id.encode(e, &context.sizes)?;
            }
            _ => {
                return Err(Error::invalid(
                    "a reference to an object of the same file has no global heap object",
                ));
            }
        }
        let written = e.len() - start;
        let padding = context.len.checked_sub(written).ok_or_else(|| {
            Error::invalid(format!(
                "reference of {written} bytes does not fit in an element of {}",
                context.len
            ))
        })?;
        e.reserved(padding);
        Ok(())
    }
}

impl ReferenceHeader {
    /// Whether the block is stored in the element itself.
    pub fn is_inline(self) -> bool {
        self.reference_type == ReferenceType::Object && !self.external
    }
}

impl Structure for ReferenceHeader {
    type Context = ();
    const NAME: &'static str = "Reference Header";

    fn decode(d: &mut Decoder<'_>, (): &()) -> Result<Self> {
        let at = d.clone();
        let reference_type = match d.u8()? {
            2 => ReferenceType::Object,
            3 => ReferenceType::Region,
            4 => ReferenceType::Attribute,
            other => return Err(at.unsupported(format!("reference type {other}, expected 2 to 4"))),
        };
        let at = d.clone();
        let flags = d.u8()?;
        if flags & !EXTERNAL != 0 {
            return Err(at.unsupported(format!("flags {flags:#04x}, expected 0 or 1")));
        }
        Ok(ReferenceHeader { reference_type, external: flags & EXTERNAL != 0 })
    }

    fn encode(&self, e: &mut Encoder, (): &()) -> Result<()> {
        e.u8(match self.reference_type {
            ReferenceType::Object => 2,
            ReferenceType::Region => 3,
            ReferenceType::Attribute => 4,
        });
        e.u8(if self.external { EXTERNAL } else { 0 });
        Ok(())
    }
}

impl Structure for ReferenceBlock {
    type Context = ReferenceHeader;
    const NAME: &'static str = "Reference Block";

    fn decode(d: &mut Decoder<'_>, header: &ReferenceHeader) -> Result<Self> {
        let token_len = d.u8()?;
        let token = d.take(token_len.into())?.to_vec();
        let file = if header.external { Some(decode_text(d)?) } else { None };
        let target = match header.reference_type {
            ReferenceType::Object => Referent::Object,
            ReferenceType::Region => {
                let len = d.u32()?;
                let rank = d.u32()?;
                let mut d = d.sub(DataspaceSelection::NAME, usize::try_from(len).unwrap_or(usize::MAX))?;
                Referent::Region { rank, selection: DataspaceSelection::decode(&mut d, &())? }
            }
            ReferenceType::Attribute => Referent::Attribute(decode_text(d)?),
        };
        Ok(ReferenceBlock { token, file, target })
    }

    fn encode(&self, e: &mut Encoder, header: &ReferenceHeader) -> Result<()> {
        if *header != self.header() {
            return Err(Error::invalid("the header does not match the reference"));
        }
        e.len_as(1, self.token.len())?;
        e.bytes(&self.token);
        if let Some(file) = &self.file {
            encode_text(e, file)?;
        }
        match &self.target {
            Referent::Object => {}
            Referent::Region { rank, selection } => {
                let mut encoded = Encoder::new();
                selection.encode(&mut encoded, &())?;
                e.len_as(4, encoded.len())?;
                e.u32(*rank);
                e.bytes(encoded.as_slice());
            }
            Referent::Attribute(name) => encode_text(e, name)?,
        }
        Ok(())
    }
}

impl Structure for RegionReference {
    type Context = Sizes;
    const NAME: &'static str = "dataset region reference";

    fn decode(d: &mut Decoder<'_>, sizes: &Sizes) -> Result<Self> {
        Ok(RegionReference { object: sizes.address(d)?, selection: DataspaceSelection::decode(d, &())? })
    }

    fn encode(&self, e: &mut Encoder, sizes: &Sizes) -> Result<()> {
        sizes.put_address(e, self.object)?;
        self.selection.encode(e, &())
    }
}

fn decode_text(d: &mut Decoder<'_>) -> Result<Vec<u8>> {
    let len = d.u16()?;
    Ok(d.take(len.into())?.to_vec())
}

fn encode_text(e: &mut Encoder, text: &[u8]) -> Result<()> {
    e.len_as(2, text.len())?;
    e.bytes(text);
    Ok(())
}

const EXTERNAL: u8 = 1;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::{hex, structure_tests};
    use hyperslab_core::nd::{Region, Selection};

    macro_rules! golden {
        ($name:literal) => {
            include_str!(concat!("../../../tests/golden/reference_", $name, ".hex"))
        };
    }

    fn header(reference_type: ReferenceType, external: bool) -> ReferenceHeader {
        ReferenceHeader { reference_type, external }
    }

    mod stored {
        use super::*;
        const CONTEXT: StoredReferenceContext = StoredReferenceContext { sizes: Sizes::DEFAULT, len: 18 };
        structure_tests!(StoredReference, context: CONTEXT,
            golden: [
                golden!("stored_object"), golden!("stored_region"), golden!("stored_attribute"),
                golden!("stored_null"), golden!("stored_external"),
            ],
            values: []);
    }

    mod region {
        use super::*;
        structure_tests!(ReferenceBlock, context: header(ReferenceType::Region, false),
            golden: [golden!("block_region")], values: []);
    }

    mod attribute {
        use super::*;
        structure_tests!(ReferenceBlock, context: header(ReferenceType::Attribute, false),
            golden: [golden!("block_attribute")], values: []);
    }

    mod external {
        use super::*;
        structure_tests!(ReferenceBlock, context: header(ReferenceType::Object, true),
            golden: [golden!("block_external")], values: []);
    }

    mod external_region {
        use super::*;
        structure_tests!(ReferenceBlock, context: header(ReferenceType::Region, true),
        golden: [],
        values: [ReferenceBlock {
            token: vec![1; 16],
            file: Some(b"other.h5".to_vec()),
            target: Referent::Region { rank: 3, selection: DataspaceSelection::All },
        }]);
    }

    mod region1 {
        use super::*;
        structure_tests!(RegionReference, context: Sizes::DEFAULT, golden: [golden!("region1")], values: []);
    }

    #[test]
    fn golden_references_have_the_expected_targets() {
        let block = |reference_type, external, text: &str| {
            let bytes = hex(text);
            let mut d = Decoder::new("t", 0, &bytes);
            ReferenceBlock::decode(&mut d, &header(reference_type, external)).unwrap()
        };
        let attribute = block(ReferenceType::Attribute, false, golden!("block_attribute"));
        assert_eq!(attribute.target, Referent::Attribute(b"units".to_vec()));
        assert_eq!(attribute.address(&Sizes::DEFAULT).unwrap(), Address(0xb3));
        let external = block(ReferenceType::Object, true, golden!("block_external"));
        assert_eq!(external.file.unwrap(), b"other.h5");
        match block(ReferenceType::Region, false, golden!("block_region")).target {
            Referent::Region { rank: 2, selection } => assert_eq!(
                selection.to_selection().unwrap(),
                Selection::Region(Region::new(vec![0, 1], vec![2, 2]))
            ),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn rejects_tokens_longer_than_addresses() {
        let block = |token| ReferenceBlock { token, file: None, target: Referent::Object };
        let mut token = vec![0; 16];
        token[0] = 5;
        assert_eq!(block(token.clone()).address(&Sizes::DEFAULT).unwrap(), Address(5));
        token[9] = 1;
        assert!(block(token).address(&Sizes::DEFAULT).is_err());
        assert!(block(vec![1; 4]).address(&Sizes::DEFAULT).is_err());
    }
}
