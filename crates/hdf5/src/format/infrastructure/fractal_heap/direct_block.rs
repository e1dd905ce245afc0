//! Fractal Heap Direct Block.
//!
//! Spec: HDF5 III.G Fractal Heap, "Layout: Fractal Heap Direct Block"

use crate::format::{Address, Sizes, Structure, checksum};
use hyperslab_core::{Decoder, Encoder, ErrorKind, Result};

/// A block of objects, which takes all the bytes there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FractalHeapDirectBlock {
    /// The header of the heap.
    pub heap_header: Address,
    /// The offset of the block in the heap's address space.
    pub block_offset: u64,
    /// Objects and gaps. Offsets in the heap count from the beginning of the block, not from here.
    pub data: Vec<u8>,
}

/// What the layout of direct blocks depends on.
#[derive(Clone, Copy, Debug)]
pub struct DirectBlockContext {
    /// Of the file.
    pub sizes: Sizes,
    /// Bytes of an offset in the heap.
    pub heap_offset_width: u8,
    /// Whether blocks have checksums.
    pub checksummed: bool,
}

impl DirectBlockContext {
    /// Bytes before the data.
    pub fn prefix_len(&self) -> u64 {
        let checksum = if self.checksummed { CHECKSUM_LEN } else { 0 };
        5 + u64::from(self.sizes.offsets) + u64::from(self.heap_offset_width) + checksum as u64
    }
}

impl Structure for FractalHeapDirectBlock {
    type Context = DirectBlockContext;
    const NAME: &'static str = "Fractal Heap Direct Block";

    fn decode(d: &mut Decoder<'_>, context: &DirectBlockContext) -> Result<Self> {
        let start = d.clone();
        d.signature(SIGNATURE)?;
        match d.u8()? {
            0 => {}
            other => return Err(d.unsupported(format!("version {other}, expected 0"))),
        }
        let heap_header = context.sizes.address(d)?;
        let block_offset = d.uint(context.heap_offset_width)?;
        if context.checksummed {
            verify(start, d)?;
        }
        Ok(FractalHeapDirectBlock { heap_header, block_offset, data: d.rest().to_vec() })
    }

    fn encode(&self, e: &mut Encoder, context: &DirectBlockContext) -> Result<()> {
        let mut block = Encoder::new();
        block.bytes(SIGNATURE);
        block.u8(0);
        context.sizes.put_address(&mut block, self.heap_header)?;
        block.uint(context.heap_offset_width, self.block_offset)?;
        e.bytes(block.as_slice());
        if context.checksummed {
            block.reserved(CHECKSUM_LEN);
            block.bytes(&self.data);
            e.u32(checksum::lookup3(block.as_slice()));
        }
        e.bytes(&self.data);
        Ok(())
    }
}

/// Reads the checksum at the cursor. It is that of the whole block in which it is itself zero.
fn verify(mut start: Decoder<'_>, d: &mut Decoder<'_>) -> Result<()> {
    let at = d.clone();
    let stored = d.u32()?;
    let before = start.remaining() - at.remaining();
    let mut block = start.rest().to_vec();
    if let Some(field) = block.get_mut(before..before + CHECKSUM_LEN) {
        field.fill(0);
    }
    let computed = checksum::lookup3(&block);
    if stored == computed {
        return Ok(());
    }
    Err(at.error(
        ErrorKind::Checksum,
        format!("checksum mismatch: stored {stored:#010x}, computed {computed:#010x}"),
    ))
}

const SIGNATURE: &[u8] = b"FHDB";
const CHECKSUM_LEN: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::{hex, structure_tests};

    const CONTEXT: DirectBlockContext =
        DirectBlockContext { sizes: Sizes::DEFAULT, heap_offset_width: 4, checksummed: true };
    const GOLDEN: &str = include_str!("../../../../tests/golden/fractal_heap_direct_block.hex");

    structure_tests!(FractalHeapDirectBlock, context: CONTEXT,
        golden: [GOLDEN],
        values: [FractalHeapDirectBlock { heap_header: Address(0x40), block_offset: 512, data: vec![7; 9] }]);

    #[test]
    fn blocks_without_checksum_return() {
        let context = DirectBlockContext {
            sizes: Sizes { offsets: 4, lengths: 4 },
            heap_offset_width: 5,
            checksummed: false,
        };
        let block =
            FractalHeapDirectBlock { heap_header: Address(3), block_offset: 1 << 33, data: vec![1, 2] };
        let mut e = Encoder::new();
        block.encode(&mut e, &context).unwrap();
        assert_eq!(e.len() as u64, context.prefix_len() + 2);
        let bytes = e.into_bytes();
        let mut d = Decoder::new("t", 0, &bytes);
        assert_eq!(FractalHeapDirectBlock::decode(&mut d, &context).unwrap(), block);
    }

    #[test]
    fn one_changed_byte_of_data_is_noticed() {
        let mut bytes = hex(GOLDEN);
        bytes[400] ^= 1;
        let e = FractalHeapDirectBlock::decode(&mut Decoder::new("t", 0, &bytes), &CONTEXT).unwrap_err();
        assert_eq!((e.kind(), e.place().unwrap().offset), (ErrorKind::Checksum, 17));
    }
}
