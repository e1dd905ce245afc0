//! Versions of the format.
//!
//! Spec: TileDB format_spec, array_format_history.md

use hyperslab_core::{Decoder, Error, Result};

/// The newest version that can be decoded and encoded.
pub const NEWEST: u32 = 23;

/// The version that every released library since 2.25 writes and reads.
pub const RELEASED: u32 = 22;

/// Reads the version with which a structure begins.
pub(crate) fn decode(d: &mut Decoder<'_>) -> Result<u32> {
    let at = d.clone();
    let version = d.u32()?;
    match (1..=NEWEST).contains(&version) {
        true => Ok(version),
        false => Err(at.unsupported(format!("version {version}, expected 1 to {NEWEST}"))),
    }
}

/// Checks that a version can be encoded.
pub(crate) fn check(version: u32) -> Result<()> {
    match (1..=NEWEST).contains(&version) {
        true => Ok(()),
        false => Err(Error::invalid(format!("version {version}, expected 1 to {NEWEST}"))),
    }
}

/// Refuses to encode something in a version older than the one that introduced it.
pub(crate) fn requires(since: u32, version: u32, is_used: bool, what: &str) -> Result<()> {
    match is_used && version < since {
        true => {
            Err(Error::invalid(format!("{what} in version {version}, which exist since version {since}")))
        }
        false => Ok(()),
    }
}
