//! The common part of Link Info and Attribute Info messages: the flags, and the addresses of dense storage.
//!
//! Spec: HDF5 IV.A.2.c and IV.A.2.v, fields Flags and Fractal Heap Address to Creation Order

use crate::format::{Address, Sizes};
use hyperslab_core::{Decoder, Encoder, Result};

/// Whether creation order is tracked, and whether it is indexed.
#[derive(Clone, Copy)]
pub(super) struct Flags {
    pub(super) tracked: bool,
    pub(super) indexed: bool,
}

/// The addresses of the heap, of the name index and of the creation order index.
pub(super) type Places = (Address, Address, Option<Address>);

impl Flags {
    /// Decodes version and flags.
    pub(super) fn decode(d: &mut Decoder<'_>) -> Result<Self> {
        let at = d.clone();
        let version = d.u8()?;
        if version != 0 {
            return Err(at.unsupported(format!("version {version}, expected 0")));
        }
        let at = d.clone();
        let flags = d.u8()?;
        if flags & !(TRACKED | INDEXED) != 0 {
            return Err(at.unsupported(format!("flags {flags:#04x}")));
        }
        Ok(Flags { tracked: flags & TRACKED != 0, indexed: flags & INDEXED != 0 })
    }

    pub(super) fn encode(self, e: &mut Encoder) {
        e.u8(0);
        e.u8(if self.tracked { TRACKED } else { 0 } | if self.indexed { INDEXED } else { 0 });
    }
}

pub(super) fn decode_places(d: &mut Decoder<'_>, sizes: &Sizes, flags: Flags) -> Result<Places> {
    let (heap, name_index) = (sizes.address(d)?, sizes.address(d)?);
    Ok((heap, name_index, if flags.indexed { Some(sizes.address(d)?) } else { None }))
}

pub(super) fn encode_places(e: &mut Encoder, sizes: &Sizes, places: Places) -> Result<()> {
    let (heap, name_index, creation_order_index) = places;
    sizes.put_address(e, heap)?;
    sizes.put_address(e, name_index)?;
    creation_order_index.map_or(Ok(()), |address| sizes.put_address(e, address))
}

const TRACKED: u8 = 1;
const INDEXED: u8 = 2;
