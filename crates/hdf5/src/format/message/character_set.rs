//! Character sets of names and strings.
//!
//! Spec: HDF5 IV.A.2.d, IV.A.2.g and IV.A.2.m, fields Character Set

use hyperslab_core::{Decoder, Result};

/// The character set of a string. Many files hold bytes that it does not allow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CharacterSet {
    /// ASCII.
    #[default]
    Ascii = 0,
    /// UTF-8.
    Utf8 = 1,
}

impl CharacterSet {
    /// Decodes the character set. `at` is the position of the code.
    pub(super) fn from_code(code: u8, at: &Decoder<'_>) -> Result<Self> {
        match code {
            0 => Ok(CharacterSet::Ascii),
            1 => Ok(CharacterSet::Utf8),
            other => Err(at.unsupported(format!("character set {other}, expected 0 or 1"))),
        }
    }
}
