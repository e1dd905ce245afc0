//! Point selection: single elements.
//!
//! Spec: HDF5 VIII.A Dataspace Encoding, "Layout: Selection Info for H5S_SEL_POINTS"

use super::{decode_rank, decode_width};
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// Single elements in any order. An element may occur several times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PointSelection {
    /// The version of the encoding.
    pub version: PointVersion,
    /// The number of dimensions.
    pub rank: u32,
    /// The `rank` coordinates of each element.
    pub coordinates: Vec<u64>,
}

/// Versions of the encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointVersion {
    /// Numbers of 4 bytes.
    V1,
    /// Numbers of any width.
    V2 {
        /// The size of a number in bytes: 2, 4 or 8.
        width: u8,
    },
}

impl PointSelection {
    pub(super) fn decode(d: &mut Decoder<'_>) -> Result<Self> {
        let at = d.clone();
        let version = match d.u32()? {
            1 => {
                // A reserved field, and a length that follows from the other fields.
                d.reserved(8)?;
                PointVersion::V1
            }
            2 => PointVersion::V2 { width: decode_width(d)? },
            other => return Err(at.unsupported(format!("version {other}, expected 1 or 2"))),
        };
        let width = version.width();
        let rank = decode_rank(d)?;
        let count = d.uint(width)?;
        let coordinates = count.saturating_mul(rank.into());
        let coordinates =
            (0..d.count(coordinates, width.into())?).map(|_| d.uint(width)).collect::<Result<_>>()?;
        Ok(PointSelection { version, rank, coordinates })
    }

    pub(super) fn encode(&self, e: &mut Encoder) -> Result<()> {
        let width = self.version.width();
        match self.version {
            PointVersion::V1 => {
                e.u32(1);
                e.reserved(4);
                e.len_as(4, self.coordinates.len().saturating_mul(4).saturating_add(8))?;
            }
            PointVersion::V2 { width } => {
                e.u32(2);
                e.u8(width);
            }
        }
        e.u32(self.rank);
        let count = match usize::try_from(self.rank) {
            Ok(rank) if rank > 0 && self.coordinates.len().is_multiple_of(rank) => {
                self.coordinates.len() / rank
            }
            _ => {
                let detail = format!(
                    "{} coordinates for {} dimensions, expected a multiple",
                    self.coordinates.len(),
                    self.rank
                );
                return Err(Error::invalid(detail));
            }
        };
        e.len_as(width, count)?;
        self.coordinates.iter().try_for_each(|coordinate| e.uint(width, *coordinate))
    }
}

impl PointVersion {
    fn width(self) -> u8 {
        match self {
            PointVersion::V1 => 4,
            PointVersion::V2 { width } => width,
        }
    }
}
