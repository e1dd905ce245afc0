//! Current domain: the part of the domain that may be written. New in version 22.
//!
//! Spec: TileDB format_spec, array_schema.md "Current Domain". Files have version 0, not 1.

use crate::format::fragment_metadata::mbr::{CoordinateSize, Mbr};
use crate::format::{Structure, field};
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// The part of a domain that may be written. It can grow without creating a new array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CurrentDomain {
    /// The version of this structure, which is independent of the format version of arrays.
    pub version: u32,
    /// The rectangle. `None` if the whole domain may be written.
    pub rectangle: Option<Mbr>,
}

impl CurrentDomain {
    /// The current domain of arrays whose whole domain may be written.
    pub const EMPTY: &'static CurrentDomain = &CurrentDomain { version: 0, rectangle: None };
}

impl Structure for CurrentDomain {
    /// How coordinates of each dimension are stored.
    type Context = Vec<CoordinateSize>;
    const NAME: &'static str = "Current Domain";

    fn decode(d: &mut Decoder<'_>, sizes: &Vec<CoordinateSize>) -> Result<Self> {
        let at = d.clone();
        let version = d.u32()?;
        if version > NEWEST {
            return Err(
                at.unsupported(format!("current domain of version {version}, expected 0 or {NEWEST}"))
            );
        }
        if field::boolean(d, "empty")? {
            return Ok(CurrentDomain { version, rectangle: None });
        }
        let at = d.clone();
        match d.u8()? {
            RECTANGLE => Ok(CurrentDomain { version, rectangle: Some(Mbr::decode(d, sizes)?) }),
            other => Err(at.unsupported(format!("current domain of type {other}, expected {RECTANGLE}"))),
        }
    }

    fn encode(&self, e: &mut Encoder, sizes: &Vec<CoordinateSize>) -> Result<()> {
        if self.version > NEWEST {
            return Err(Error::invalid(format!("current domain of version {}", self.version)));
        }
        e.u32(self.version);
        field::put_boolean(e, self.rectangle.is_none());
        let Some(rectangle) = &self.rectangle else { return Ok(()) };
        e.u8(RECTANGLE);
        rectangle.encode(e, sizes)
    }
}

const NEWEST: u32 = 1;
const RECTANGLE: u8 = 0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::fragment_metadata::mbr::Range;
    use crate::format::structure_tests::structure_tests;

    structure_tests!(CurrentDomain, context: vec![CoordinateSize::Fixed(2), CoordinateSize::Var],
    golden: ["00000000 01", "00000000 00 00 0100 0700 0500000000000000 0200000000000000 6162 7a7a7a"],
    values: [
        CurrentDomain::EMPTY.clone(),
        CurrentDomain {
            version: 1,
            rectangle: Some(Mbr {
                ranges: vec![
                    Range { min: vec![1, 0], max: vec![9, 0] },
                    Range { min: b"a".to_vec(), max: b"zebra".to_vec() },
                ],
            }),
        },
    ]);

    #[test]
    fn refuses_other_shapes_and_versions_by_name() {
        for (bytes, message) in [
            (&[2, 0, 0, 0, 1][..], "current domain of version 2, expected 0 or 1"),
            (&[0, 0, 0, 0, 0, 3], "current domain of type 3, expected 0"),
        ] {
            let e = CurrentDomain::decode(&mut Decoder::new("t", 0, bytes), &vec![CoordinateSize::Fixed(1)]);
            assert_eq!(e.unwrap_err().detail(), message);
        }
    }
}
