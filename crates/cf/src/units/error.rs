//! Errors in the text of a unit.

use std::fmt;

/// An error in the text of a unit.
///
/// Displayed as `` `kelvn` at byte 2, expected a unit of UDUNITS; did you mean `kelvin`? ``.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnitError {
    /// The byte of the text at which the error occurs.
    pub at: usize,
    /// The text there, cut after 40 characters; empty at the end.
    pub found: String,
    /// What could have been there instead.
    pub expected: &'static str,
    /// A known unit whose spelling is similar to the text found.
    pub near: Option<String>,
}

impl UnitError {
    pub(super) fn new(at: usize, found: &[u8], expected: &'static str) -> UnitError {
        // A token can consist of only part of a character, where the scanner does not recognise a letter.
        let text = String::from_utf8_lossy(found.get(..4 * LONGEST).unwrap_or(found));
        UnitError { at, found: text.chars().take(LONGEST).collect(), expected, near: None }
    }
}

impl fmt::Display for UnitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.found.as_str() {
            "" => write!(f, "the end")?,
            found if found.trim().is_empty() => write!(f, "{found:?}")?,
            found => write!(f, "`{}`", found.escape_debug())?,
        }
        write!(f, " at byte {}, expected {}", self.at, self.expected)?;
        match &self.near {
            Some(near) => write!(f, "; did you mean `{near}`?"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for UnitError {}

/// The maximum number of characters of the found text that an error keeps.
const LONGEST: usize = 40;
