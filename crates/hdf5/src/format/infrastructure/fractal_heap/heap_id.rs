//! Fractal heap IDs.
//!
//! Spec: HDF5 III.G Fractal Heap, "Fractal Heap ID for Tiny Objects" to "… for Managed Objects"

use crate::format::{Address, Sizes, Structure};
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// The location of an object, by the type of its heap ID.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeapId {
    /// A managed object: in a direct block of the heap.
    Managed {
        /// The offset in the managed address space of the heap.
        offset: u64,
        /// The size of the object in bytes.
        len: u64,
    },
    /// A huge object: stored outside of the heap, found by its ID in the B-tree of huge objects.
    HugeIndirect {
        /// The ID in the B-tree record.
        key: u64,
    },
    /// A huge object whose location is in the ID.
    HugeDirect {
        /// The address of the object.
        address: Address,
        /// The size of the object in bytes.
        len: u64,
    },
    /// A filtered huge object whose location is in the ID.
    HugeFiltered {
        /// The address of the object.
        address: Address,
        /// The stored size in bytes.
        len: u64,
        /// A bit for each filter that was skipped.
        filter_mask: u32,
        /// The size before filters in bytes.
        memory_size: u64,
    },
    /// A tiny object: the bytes themselves, 1 to 4096.
    Tiny(Vec<u8>),
}

/// The parameters that determine the layout of a heap ID.
#[derive(Clone, Copy, Debug)]
pub struct HeapIdContext {
    /// The widths of addresses and lengths.
    pub sizes: Sizes,
    /// The size of an ID in bytes.
    pub len: u16,
    /// Whether the heap has filters.
    pub filtered: bool,
    /// The size in bytes of an offset in the heap.
    pub heap_offset_width: u8,
    /// The size in bytes of the length of a managed object.
    pub heap_length_width: u8,
}

impl HeapIdContext {
    /// Whether the ID of a huge object holds its address and size; otherwise it holds a B-tree key.
    pub fn huge_is_direct(&self) -> bool {
        let filtered = if self.filtered { 4 + u16::from(self.sizes.lengths) } else { 0 };
        self.len > u16::from(self.sizes.offsets) + u16::from(self.sizes.lengths) + filtered
    }

    fn key_width(&self) -> u8 {
        u8::try_from(self.len.saturating_sub(1).min(8)).unwrap_or(8)
    }

    fn tiny_is_extended(&self) -> bool {
        self.len > 18
    }
}

impl Structure for HeapId {
    type Context = HeapIdContext;
    const NAME: &'static str = "Fractal Heap ID";

    fn decode(d: &mut Decoder<'_>, context: &HeapIdContext) -> Result<Self> {
        let mut d = d.sub(Self::NAME, context.len.into())?;
        let at = d.clone();
        let first = d.u8()?;
        if first & VERSION != 0 {
            return Err(at.unsupported(format!("version {}, expected 0", first >> 6)));
        }
        match first & TYPE {
            MANAGED => Ok(HeapId::Managed {
                offset: d.uint(context.heap_offset_width)?,
                len: d.uint(context.heap_length_width)?,
            }),
            HUGE if !context.huge_is_direct() => {
                Ok(HeapId::HugeIndirect { key: d.uint(context.key_width())? })
            }
            HUGE if !context.filtered => Ok(HeapId::HugeDirect {
                address: context.sizes.address(&mut d)?,
                len: context.sizes.length(&mut d)?,
            }),
            HUGE => Ok(HeapId::HugeFiltered {
                address: context.sizes.address(&mut d)?,
                len: context.sizes.length(&mut d)?,
                filter_mask: d.u32()?,
                memory_size: context.sizes.length(&mut d)?,
            }),
            TINY => {
                let high = usize::from(first & TINY_LEN);
                let len = match context.tiny_is_extended() {
                    true => high << 8 | usize::from(d.u8()?),
                    false => high,
                };
                Ok(HeapId::Tiny(d.take(len + 1)?.to_vec()))
            }
            _ => Err(at.unsupported("type 3, expected 0 to 2")),
        }
    }

    fn encode(&self, e: &mut Encoder, context: &HeapIdContext) -> Result<()> {
        let start = e.len();
        let sizes = &context.sizes;
        match self {
            HeapId::Managed { offset, len } => {
                e.u8(MANAGED);
                e.uint(context.heap_offset_width, *offset)?;
                e.uint(context.heap_length_width, *len)?;
            }
            HeapId::HugeIndirect { key } if !context.huge_is_direct() => {
                e.u8(HUGE);
                e.uint(context.key_width(), *key)?;
            }
            HeapId::HugeDirect { address, len } if context.huge_is_direct() && !context.filtered => {
                e.u8(HUGE);
                sizes.put_address(e, *address)?;
                sizes.put_length(e, *len)?;
            }
            HeapId::HugeFiltered { address, len, filter_mask, memory_size }
                if context.huge_is_direct() && context.filtered =>
            {
                e.u8(HUGE);
                sizes.put_address(e, *address)?;
                sizes.put_length(e, *len)?;
                e.u32(*filter_mask);
                sizes.put_length(e, *memory_size)?;
            }
            HeapId::Tiny(object) => {
                let len = object
                    .len()
                    .checked_sub(1)
                    .ok_or_else(|| Error::invalid("a heap object of 0 bytes, expected 1 or more"))?;
                let max = if context.tiny_is_extended() { 0xfff } else { 0xf };
                match u16::try_from(len) {
                    Ok(len) if len <= max => {
                        let [low, high] = len.to_le_bytes();
                        if context.tiny_is_extended() {
                            e.bytes(&[TINY | high, low]);
                        } else {
                            e.u8(TINY | low);
                        }
                    }
                    _ => {
                        return Err(Error::invalid(format!(
                            "tiny object of {} bytes does not fit in its heap ID",
                            object.len()
                        )));
                    }
                }
                e.bytes(object);
            }
            _ => {
                return Err(Error::invalid(
                    "heap ID of a huge object in another form than the IDs of this heap",
                ));
            }
        }
        let written = e.len() - start;
        let padding = usize::from(context.len).checked_sub(written).ok_or_else(|| {
            Error::invalid(format!("{written} bytes do not fit in a heap ID of {}", context.len))
        })?;
        e.reserved(padding);
        Ok(())
    }
}

const VERSION: u8 = 0xc0;
const TYPE: u8 = 0x30;
const MANAGED: u8 = 0x00;
const HUGE: u8 = 0x10;
const TINY: u8 = 0x20;
const TINY_LEN: u8 = 0x0f;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::structure_tests;

    const LINKS: HeapIdContext = HeapIdContext {
        sizes: Sizes::DEFAULT,
        len: 7,
        filtered: false,
        heap_offset_width: 4,
        heap_length_width: 2,
    };

    structure_tests!(HeapId, context: LINKS,
    golden: [include_str!("../../../../tests/golden/fractal_heap_id_managed.hex")],
    values: [
        HeapId::Managed { offset: 0x1234_5678, len: 77 },
        HeapId::HugeIndirect { key: 0xffff_ffff_ffff },
        HeapId::Tiny(vec![1]),
        HeapId::Tiny(vec![6; 6]),
    ]);

    mod attributes {
        use super::*;
        const CONTEXT: HeapIdContext = HeapIdContext { len: 8, heap_offset_width: 5, ..LINKS };
        structure_tests!(HeapId, context: CONTEXT,
            golden: [include_str!("../../../../tests/golden/fractal_heap_id_huge.hex")], values: []);
    }

    mod wide {
        use super::*;
        const CONTEXT: HeapIdContext = HeapIdContext { len: 100, ..LINKS };
        structure_tests!(HeapId, context: CONTEXT, golden: [], values: [
            HeapId::Managed { offset: 5, len: 7 },
            HeapId::HugeDirect { address: Address(0x77), len: 1 << 40 },
            HeapId::Tiny(vec![9; 17]),
            HeapId::Tiny(vec![9; 98]),
        ]);
    }

    mod filtered {
        use super::*;
        const CONTEXT: HeapIdContext = HeapIdContext { len: 29, filtered: true, ..LINKS };
        structure_tests!(HeapId, context: CONTEXT, golden: [], values: [
            HeapId::HugeFiltered { address: Address(0x77), len: 9, filter_mask: 2, memory_size: 1 << 40 },
        ]);
    }

    #[test]
    fn a_tiny_id_of_18_bytes_has_the_short_form() {
        let context = HeapIdContext { len: 18, ..LINKS };
        let mut e = Encoder::new();
        HeapId::Tiny(vec![3; 16]).encode(&mut e, &context).unwrap();
        assert_eq!(e.as_slice()[0], 0x2f);
        assert!(HeapId::Tiny(vec![3; 17]).encode(&mut e, &context).is_err());
        assert!(HeapId::Tiny(vec![]).encode(&mut e, &context).is_err());
    }

    #[test]
    fn rejects_unknown_ids_as_unsupported() {
        for first in [0x30, 0x40] {
            let bytes = [first, 0, 0, 0, 0, 0, 0];
            let e = HeapId::decode(&mut Decoder::new("t", 0, &bytes), &LINKS).unwrap_err();
            assert_eq!(e.kind(), hyperslab_core::ErrorKind::Unsupported);
        }
    }
}
