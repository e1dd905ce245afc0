//! Decides when a string needs quotes: whenever YAML 1.1 or YAML 1.2 would read it as something else without them.

/// Writes `text` plain, double-quoted or single-quoted. `flow` if it is inside `[ ]` or `{ }`.
pub(crate) fn write(out: &mut String, text: &str, flow: bool) {
    if is_plain(text, flow) {
        out.push_str(text);
    } else if text.contains(['"', '\\']) && !text.contains('\'') && text.chars().all(is_printable) {
        out.push('\'');
        out.push_str(text);
        out.push('\'');
    } else {
        double(out, text);
    }
}

/// Whether a character can control a terminal or hide the content of a text: control characters, characters that change
/// the direction of writing, line separators, and characters without width. Joiners, which some scripts need, are not
/// among them.
pub fn is_hidden(c: char) -> bool {
    match c {
        ' '..='~' => false,
        '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' => true,
        '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' => true,
        _ => c.is_control(),
    }
}

/// Whether a character is written unchanged. Invisible characters, and those that look like a space, are escaped.
pub(crate) fn is_printable(c: char) -> bool {
    match c {
        ' '..='~' => true,
        _ if c.is_control() || c.is_whitespace() => false,
        // Format characters, among them the byte order mark, then private use and noncharacters.
        '\u{ad}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}' | '\u{891}' => false,
        '\u{8e2}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' => false,
        '\u{2060}'..='\u{206f}' | '\u{e000}'..='\u{f8ff}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}' => false,
        '\u{fffe}' | '\u{ffff}' | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}' => false,
        '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}' => false,
        _ => c < '\u{f0000}',
    }
}

/// Whether `text` needs no quotes.
pub(crate) fn is_plain(text: &str, flow: bool) -> bool {
    if is_harmless(text) {
        return !is_reserved(text);
    }
    let Some(first) = text.chars().next() else { return false };
    // ruamel.yaml accepts an underscore as a digit: it reads `+_` as an integer and `._` as a float.
    let letter_follows = || text.chars().nth(1).is_some_and(char::is_alphabetic);
    let begins_well = match first {
        'a'..='z' | 'A'..='Z' => true,
        '0'..='9' | '!' | '&' | '*' | '|' | '>' | '@' | '`' | '%' | '"' | '\'' | '#' => false,
        ',' | '[' | ']' | '{' | '}' => false,
        '-' | '?' | ':' => !flow && letter_follows(),
        '.' | '+' | '=' | '<' | '~' => letter_follows(),
        _ => true,
    };
    begins_well && !is_reserved(text) && text.trim().len() == text.len() && continues_well(text, flow)
}

/// Whether `text` is a common name that needs no further checks.
fn is_harmless(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && bytes.last() != Some(&b' ')
        && !bytes.ends_with(b" -")
        && bytes.iter().all(|b| *b < 128 && HARMLESS >> b & 1 == 1)
}

/// Bytes that have no special meaning after a letter, one bit for each.
const HARMLESS: u128 = {
    let mut bits = 0;
    let mut bytes: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 _-./()+*=;";
    while let [byte, rest @ ..] = bytes {
        bits |= 1 << *byte;
        bytes = rest;
    }
    bits
};

/// Whether nothing within `text` ends a plain scalar or must be escaped.
fn continues_well(text: &str, flow: bool) -> bool {
    let (mut before, mut ascii) = (b' ', true);
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => {}
            b' ' if before == b':' => return false,
            b'#' if before == b' ' => return false,
            // PyYAML ends a plain scalar at a question mark inside brackets.
            b',' | b'[' | b']' | b'{' | b'}' | b'?' if flow => return false,
            0..b' ' | 0x7f => return false,
            0x80.. => ascii = false,
            _ => {}
        }
        before = byte;
    }
    // saphyr-parser rejects a lone dash at the end inside brackets.
    before != b':' && !(flow && text.ends_with(" -")) && (ascii || text.chars().all(is_printable))
}

/// Words that one of the two versions reads as null, boolean, merge key or float.
fn is_reserved(text: &str) -> bool {
    const WORDS: [&str; 13] =
        ["~", "null", "true", "false", "yes", "no", "on", "off", "=", "<<", ".inf", "+.inf", ".nan"];
    text.len() <= 5 && WORDS.iter().any(|word| word.eq_ignore_ascii_case(text))
}

fn double(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\0' => out.push_str("\\0"),
            _ if is_printable(c) => out.push(c),
            _ => escape(out, u32::from(c)),
        }
    }
    out.push('"');
}

fn escape(out: &mut String, code: u32) {
    let (letter, digits) = match code {
        0..=0xff => ('x', 2),
        0x100..=0xffff => ('u', 4),
        _ => ('U', 8),
    };
    out.extend(['\\', letter]);
    out.extend((0..digits).rev().filter_map(|digit| char::from_digit(code >> (4 * digit) & 15, 16)));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quoted(text: &str, flow: bool) -> String {
        let mut out = String::new();
        write(&mut out, text, flow);
        out
    }

    #[test]
    fn quotes_text_that_yaml_1_1_or_1_2_resolves() {
        let words =
            ["", "no", "Yes", "oN", "OFF", "null", "~", "True", "=", "<<", ".inf", "-.INF", ".NaN", "+.inf"];
        let numbers = [
            "1",
            "-1",
            "+1",
            "+_",
            "._",
            ".5",
            "0755",
            "0o17",
            "1:30",
            "1e3",
            "1_000",
            "2008-12-31",
            "10.5067/DOI",
        ];
        let syntax = [
            "- a", "? a", ": a", "a: b", "a #b", "a:", "#a", "&a", "*a", "!a", "@a", "%a", "|", ">", " a",
            "a ",
        ];
        for text in words.iter().chain(&numbers).chain(&syntax) {
            for flow in [false, true] {
                assert_eq!(quoted(text, flow), format!("\"{text}\""));
            }
        }
    }

    #[test]
    fn leaves_other_text_unquoted() {
        for text in [
            "x", "y", "n", "Y", "-a", "?a", ":a", "~a", "=a", "<a", ".a", "+a", "a:b", "a#b", "NaT", "v1.8",
            "a b", "Ω",
        ] {
            assert_eq!(quoted(text, false), text);
        }
        for text in ["a,b", "a]", "{a", "a?", "-a"] {
            assert_eq!(quoted(text, true), format!("\"{text}\""));
        }
        assert_eq!(quoted("a, b?", false), "a, b?");
    }

    #[test]
    fn uses_single_quotes_to_avoid_escapes() {
        assert_eq!(quoted(r#"{"a": 1}"#, false), r#"'{"a": 1}'"#);
        assert_eq!(quoted(r#""it's""#, false), r#""\"it's\"""#);
        assert_eq!(quoted("\"a\"\n", false), r#""\"a\"\n""#);
    }

    #[test]
    fn escapes_invisible_characters() {
        assert_eq!(
            quoted("a\0\u{7f}\u{a0}\u{200b}\u{feff}\u{e0001}", false),
            r#""a\0\x7f\xa0\u200b\ufeff\U000e0001""#
        );
        assert_eq!(quoted("\r\n\t\u{85}\u{2028}", true), r#""\r\n\t\x85\u2028""#);
    }
}
