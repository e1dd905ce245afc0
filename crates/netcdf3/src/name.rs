//! The names that dimensions, variables and attributes may have, also in NetCDF-4.
//!
//! Spec: NetCDF Classic Format Specification, "Note on names"

use std::borrow::Cow;
use unicode_normalization::{UnicodeNormalization, is_nfc};

/// A name in the form that the NetCDF library stores and looks up: NFC.
pub fn normalized(name: &str) -> Cow<'_, str> {
    match is_nfc(name) {
        true => Cow::Borrowed(name),
        false => Cow::Owned(name.nfc().collect()),
    }
}

/// Whether a character may occur in a name. None may be a slash or a control character, the first must be a letter, a
/// digit, an underscore or a non-ASCII character, and the last must not be a space.
pub fn is_allowed(character: char, is_first: bool, is_last: bool) -> bool {
    let can_begin = character.is_ascii_alphanumeric() || character == '_' || !character.is_ascii();
    character != '/'
        && !character.is_ascii_control()
        && (!is_first || can_begin)
        && (!is_last || character != ' ')
}

/// What is wrong with the characters of a name.
pub(crate) fn fault(name: &[u8]) -> Option<&'static str> {
    let Ok(text) = str::from_utf8(name) else { return Some("is not UTF-8") };
    let (Some(first), Some(last)) = (text.chars().next(), text.chars().next_back()) else {
        return Some("is empty");
    };
    if !is_allowed(first, true, false) {
        return Some("begins with a character that is neither a letter, a digit nor _");
    }
    if !text.chars().all(|character| is_allowed(character, false, false)) {
        return Some("has a slash or a control character");
    }
    (!is_allowed(last, false, true)).then_some("ends with a space")
}

/// The maximum length of a name in bytes, `NC_MAX_NAME`. The specification has no limit, but NetCDF-C does. In HDF5
/// files, it reads names that are one byte shorter.
pub const MAX_NAME: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_composed() {
        assert_eq!(normalized("e\u{301}t"), "\u{e9}t");
        assert!(matches!(normalized("plain"), Cow::Borrowed("plain")));
    }

    #[test]
    fn characters_are_those_of_the_grammar() {
        for (character, first, inside, last) in [
            ('a', true, true, true),
            ('0', true, true, true),
            ('_', true, true, true),
            ('\u{e9}', true, true, true),
            ('@', false, true, true),
            (' ', false, true, false),
            ('/', false, false, false),
            ('\n', false, false, false),
            ('\u{7f}', false, false, false),
        ] {
            let found = (
                is_allowed(character, true, false),
                is_allowed(character, false, false),
                is_allowed(character, false, true),
            );
            assert_eq!(found, (first, inside, last), "{character:?}");
        }
    }
}
