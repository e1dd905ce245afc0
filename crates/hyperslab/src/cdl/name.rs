//! Names as CDL writes them.

use crate::strings::name_bytes;

/// Adds a name with a backslash before each character that has a special meaning in CDL, and before a digit at its
/// start.
pub(super) fn push_name(out: &mut Vec<u8>, name: &str) {
    let bytes = name_bytes(name);
    if bytes.first().is_some_and(u8::is_ascii_digit) {
        out.push(b'\\');
    }
    for byte in bytes {
        match byte {
            byte if byte.is_ascii_control() => out.extend_from_slice(format!("\\%{byte:02x}").as_bytes()),
            byte if SPECIAL.contains(&byte) => out.extend_from_slice(&[b'\\', byte]),
            byte => out.push(byte),
        }
    }
}

/// The name alone, as [`push_name`] writes it.
pub(super) fn escaped(name: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(name.len());
    push_name(&mut out, name);
    out
}

/// Whether a name is also a keyword that begins a section, so that a space is needed before the colon of an attribute.
pub(super) fn is_keyword(name: &str) -> bool {
    KEYWORDS.contains(&name)
}

const SPECIAL: &[u8] = b" !\"#$&'()*,:;<=>?[]\\^`{|}~";

const KEYWORDS: &[&str] = &["variables", "dimensions", "data", "group", "types"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_characters_and_leading_digits_have_a_backslash() {
        let shown = |name| String::from_utf8(escaped(name)).unwrap();
        assert_eq!(shown("2m temperature"), "\\2m\\ temperature");
        assert_eq!(shown("a/b-c.d+e@f%g"), "a/b-c.d+e@f%g");
        assert_eq!(shown("x{y}:\"z\"\\"), "x\\{y\\}\\:\\\"z\\\"\\\\");
        assert_eq!(shown("tab\there"), "tab\\%09here");
        assert_eq!(shown("größe"), "größe");
    }
}
