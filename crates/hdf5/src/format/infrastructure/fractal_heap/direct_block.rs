//! Fractal Heap Direct Block.
//!
//! Spec: HDF5 III.G Fractal Heap, "Layout: Fractal Heap Direct Block"

use crate::format::{Address, Sizes, Structure, checksum};
use hyperslab_core::{Decoder, Encoder, ErrorKind, Result};

/// A block of managed objects. It fills all bytes that it is decoded from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FractalHeapDirectBlock {
    /// The address of the header of the heap.
    pub heap_header: Address,
    /// The offset of the block in the managed address space of the heap.
    pub block_offset: u64,
    /// Objects and free space. Offsets in the heap count from the start of the block, not of these bytes.
    pub data: Vec<u8>,
}

/// The parameters that determine the layout of a direct block.
#[derive(Clone, Copy, Debug)]
pub struct DirectBlockContext {
    /// The widths of addresses and lengths.
    pub sizes: Sizes,
    /// The size in bytes of an offset in the heap.
    pub heap_offset_width: u8,
    /// Whether blocks have checksums.
    pub checksummed: bool,
}

impl DirectBlockContext {
    /// The number of bytes before the data.
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

/// Verifies the checksum at the cursor. It covers the whole block, with the checksum itself as zeros.
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
    fn round_trips_blocks_without_checksum() {
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
    fn rejects_one_changed_byte_of_data() {
        let mut bytes = hex(GOLDEN);
        bytes[400] ^= 1;
        let e = FractalHeapDirectBlock::decode(&mut Decoder::new("t", 0, &bytes), &CONTEXT).unwrap_err();
        assert_eq!((e.kind(), e.place().unwrap().offset), (ErrorKind::Checksum, 17));
    }
}
