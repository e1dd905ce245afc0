//! Names of links, attributes and members of datatypes.

use super::lowerings::NAME;
use crate::strings::{name_bytes, push_byte};
use crate::target::Lowered;

/// A name in its stored form, and what is lost: names end at a NUL.
pub(super) fn stored(text: &str) -> (Vec<u8>, Option<&'static Lowered>) {
    let name = name_bytes(text);
    match name.contains(&0) {
        true => (encoded(text, '\0').into_bytes(), Some(&NAME)),
        false => (name, None),
    }
}

/// The stored form of an attribute name, which is never empty.
pub(super) fn attribute(text: &str) -> (Vec<u8>, Option<&'static Lowered>) {
    match text {
        "" => (char::REPLACEMENT_CHARACTER.to_string().into_bytes(), Some(&NAME)),
        text => stored(text),
    }
}

/// The stored form of a link name. No path leads to a name with a slash, or to `.`.
pub(super) fn link(text: &str) -> (Vec<u8>, Option<&'static Lowered>) {
    let (name, lowered) = stored(text);
    match name.as_slice() {
        b"." => (encoded(text, '.').into_bytes(), Some(&NAME)),
        // A text that represents a name containing a slash is stored as a name itself.
        name if name.contains(&b'/') => (text.as_bytes().to_vec(), lowered),
        _ => (name, lowered),
    }
}

/// The text with a one-byte character written in its escaped form.
fn encoded(text: &str, forbidden: char) -> String {
    let mut encoded = String::with_capacity(text.len());
    for character in text.chars() {
        match u8::try_from(character) {
            Ok(byte) if character == forbidden => push_byte(&mut encoded, byte),
            _ => encoded.push(character),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_stored_as_they_were_read() {
        for name in [&b"plain"[..], "h\u{e9}llo".as_bytes(), b"\xe9t\xe9", "\u{fffd}e9".as_bytes(), b".."] {
            let (own, lowered) = link(&crate::strings::name_text(name));
            assert_eq!((own.as_slice(), lowered.is_none()), (name, true));
        }
    }

    #[test]
    fn names_that_no_path_leads_to_are_encoded() {
        assert_eq!(link(".").0, "\u{fffd}2e".as_bytes());
        assert_eq!(link("a\u{fffd}2fb").0, "a\u{fffd}2fb".as_bytes());
        let (name, lowered) = stored("a\0b");
        assert_eq!(name, "a\u{fffd}00b".as_bytes());
        assert!(lowered.is_some());
        // The text of a name with a NUL, as other formats display it.
        assert_eq!(stored("a\u{fffd}00b").0, "a\u{fffd}00b".as_bytes());
    }
}
