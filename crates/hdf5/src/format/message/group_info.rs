//! Group Info message, type 0x000A.
//!
//! Spec: HDF5 IV.A.2.k

use super::{HeaderMessage, MessageType};
use crate::format::{Sizes, Structure};
use hyperslab_core::{Decoder, Encoder, Result};

/// Parameters for the storage of links in a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupInfo {
    /// The link counts at which links move between compact and dense storage, if they are not the default.
    pub link_phase_change: Option<LinkPhaseChange>,
    /// The expected number and name length of links, if they are not the default.
    pub estimates: Option<Estimates>,
}

/// The link counts at which links move between compact and dense storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkPhaseChange {
    /// With more links than this, storage becomes dense: in a fractal heap.
    pub maximum_compact: u16,
    /// With fewer links than this, storage becomes compact: in the object header.
    pub minimum_dense: u16,
}

/// The expected links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimates {
    /// The expected number of links.
    pub entries: u16,
    /// The expected length of a link name.
    pub name_len: u16,
}

impl Default for LinkPhaseChange {
    fn default() -> Self {
        LinkPhaseChange { maximum_compact: 8, minimum_dense: 6 }
    }
}

impl Default for Estimates {
    fn default() -> Self {
        Estimates { entries: 4, name_len: 8 }
    }
}

impl Structure for GroupInfo {
    type Context = Sizes;
    const NAME: &'static str = "Group Info message";

    fn decode(d: &mut Decoder<'_>, _: &Sizes) -> Result<Self> {
        let at = d.clone();
        let version = d.u8()?;
        if version != 0 {
            return Err(at.unsupported(format!("version {version}, expected 0")));
        }
        let at = d.clone();
        let flags = d.u8()?;
        if flags & !(HAS_PHASE_CHANGE | HAS_ESTIMATES) != 0 {
            return Err(at.unsupported(format!("flags {flags:#04x}")));
        }
        let mut info = GroupInfo::default();
        if flags & HAS_PHASE_CHANGE != 0 {
            info.link_phase_change =
                Some(LinkPhaseChange { maximum_compact: d.u16()?, minimum_dense: d.u16()? });
        }
        if flags & HAS_ESTIMATES != 0 {
            info.estimates = Some(Estimates { entries: d.u16()?, name_len: d.u16()? });
        }
        Ok(info)
    }

    fn encode(&self, e: &mut Encoder, _: &Sizes) -> Result<()> {
        e.u8(0);
        let phase_change = if self.link_phase_change.is_some() { HAS_PHASE_CHANGE } else { 0 };
        let estimates = if self.estimates.is_some() { HAS_ESTIMATES } else { 0 };
        e.u8(phase_change | estimates);
        if let Some(change) = &self.link_phase_change {
            e.u16(change.maximum_compact);
            e.u16(change.minimum_dense);
        }
        if let Some(estimates) = &self.estimates {
            e.u16(estimates.entries);
            e.u16(estimates.name_len);
        }
        Ok(())
    }
}

impl HeaderMessage for GroupInfo {
    const TYPE: MessageType = MessageType::GROUP_INFO;
}

const HAS_PHASE_CHANGE: u8 = 1;
const HAS_ESTIMATES: u8 = 2;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::structure_tests;

    structure_tests!(GroupInfo, context: Sizes::DEFAULT,
        golden: [
            include_str!("../../../tests/golden/message_group_info.hex"),
            include_str!("../../../tests/golden/message_group_info_estimated.hex"),
        ],
        values: [GroupInfo { estimates: Some(Estimates::default()), link_phase_change: None }]);
}
