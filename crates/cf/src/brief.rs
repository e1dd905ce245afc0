//! Shortens texts of files for messages.

/// The text, shortened to a length that fits a message.
pub(crate) fn brief(text: &str) -> String {
    match text.char_indices().nth(MAX_LETTERS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// A message that contains texts of a file. Those in quotes are shortened. If the message is still too long, its middle
/// is left out, because the expected content is named at the end.
pub(crate) fn shortened(message: String) -> String {
    if message.len() <= MAX_LETTERS {
        return message;
    }
    let mut short = String::new();
    let mut rest = message.as_str();
    while let Some((before, quoted)) = rest.split_once('"') {
        let Some((text, behind)) = until_quote(quoted) else { break };
        short.extend([before, "\"", &text, "\""]);
        rest = behind;
    }
    short.push_str(rest);
    let count = short.chars().count();
    if count <= MAX_MESSAGE {
        return short;
    }
    let begin = short.chars().take(MAX_MESSAGE - END);
    begin.chain(['…']).chain(short.chars().skip(count - END)).collect()
}

/// The text before the next quote, shortened, and the text after the quote. `None` if there is no quote.
fn until_quote(text: &str) -> Option<(String, &str)> {
    let (mut at, mut count, mut cut) = (0, 0_usize, None);
    loop {
        let rest = text.get(at..)?;
        match rest.chars().next()? {
            '"' => break,
            _ if count == MAX_LETTERS => cut = Some(at),
            _ => {}
        }
        at += length_of_letter(rest);
        count += 1;
    }
    let own = match cut {
        // A text that is already shortened has an ellipsis after the last letter.
        Some(cut) if count > MAX_LETTERS + 1 => format!("{}…", text.get(..cut)?),
        _ => text.get(..at)?.to_owned(),
    };
    Some((own, text.get(at + 1..)?))
}

/// The number of bytes of the first letter of a string in quotes, including the escape that it may be written as: `\n`,
/// `\u{301}`.
fn length_of_letter(text: &str) -> usize {
    let mut letters = text.chars();
    let first = letters.next().map_or(0, char::len_utf8);
    match (first, text.strip_prefix('\\')) {
        (_, None) => first,
        (_, Some(escape)) => {
            let end = escape.bytes().take(MAX_ESCAPE).position(|byte| byte == b'}');
            match end.filter(|_| escape.starts_with("u{")) {
                Some(end) => first + end + 1,
                None => first + letters.next().map_or(0, char::len_utf8),
            }
        }
    }
}

/// The number of letters of a text that are shown.
const MAX_LETTERS: usize = 100;

/// The maximum number of letters of a message, and how many of them are kept at the end.
const MAX_MESSAGE: usize = 1_000;
const END: usize = 300;

/// The maximum length of an escape: `u{10ffff}`.
const MAX_ESCAPE: usize = 9;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_in_quotes_become_brief() {
        let long = "ä".repeat(1_000_000);
        let message = shortened(format!("units {long:?} of {:?}, expected {:?}", "a\"b", "K"));
        assert_eq!(message, format!("units \"{}…\" of \"a\\\"b\", expected \"K\"", "ä".repeat(100)));
        assert_eq!(shortened(message.clone()), message);
        let brief = format!("units {:?}, expected K", brief(&long));
        assert_eq!(shortened(brief.clone()), brief);
    }

    #[test]
    fn escapes_stay_whole() {
        let long = "\u{301}".repeat(1_000);
        let message = shortened(format!("units {long:?}, expected K"));
        assert_eq!(message, format!("units \"{}…\", expected K", "\\u{301}".repeat(100)));
        let short = format!("units {:?}, expected K", "\u{301}\n".repeat(50));
        assert_eq!(shortened(short.clone()), short);
    }

    #[test]
    fn other_texts_keep_their_ends() {
        let message = shortened(format!("dimension {}, expected time", "x".repeat(1_000_000)));
        assert_eq!(message.chars().count(), 1_001);
        assert!(message.starts_with("dimension xxx") && message.ends_with("xxx, expected time"));
        // A quote without an end.
        let open = shortened(format!("dimension \"{}", "\\".repeat(1_000_000)));
        assert!(open.starts_with("dimension \"\\") && open.len() < 1_010);
        assert_eq!(shortened("\"".repeat(1_000_001)).chars().count(), 1_001);
    }
}
