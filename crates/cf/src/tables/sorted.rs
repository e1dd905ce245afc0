//! Lines sorted by the text before their first tab, and searched in place.

use std::borrow::Cow;
use std::collections::BTreeMap;

/// Sorted lines, each ending in a line feed. The text of an embedded table is neither copied nor indexed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SortedLines {
    text: Cow<'static, str>,
    len: usize,
}

impl SortedLines {
    /// Lines that are already sorted.
    pub(super) fn embedded(text: &'static str) -> SortedLines {
        SortedLines { text: Cow::Borrowed(text), len: text.lines().count() }
    }

    /// The lines of keys, each with the text after its tab. A key without such a text has no tab either.
    pub(super) fn of(rows: &BTreeMap<String, String>) -> SortedLines {
        let mut text = String::new();
        for (key, value) in rows {
            text.push_str(key);
            if !value.is_empty() {
                text.push('\t');
                text.push_str(value);
            }
            text.push('\n');
        }
        SortedLines { text: Cow::Owned(text), len: rows.len() }
    }

    /// The number of lines.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The lines: the key, and the text after its tab.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.text.lines().map(split)
    }

    /// The line of a key: the key as it is spelled in the table, and the text after its tab.
    pub(super) fn get(&self, key: &str) -> Option<(&str, &str)> {
        // The lines that may match, as bytes from the beginning of one line to the end of another.
        let mut lines = self.text.as_ref();
        while !lines.is_empty() {
            // In UTF-8, a tab or line end is always a separate byte, wherever the middle is.
            let (before, _) = lines.as_bytes().split_at(lines.len() / 2);
            let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
            let (before, from) = lines.split_at(start);
            let (line, behind) = from.split_once('\n').unwrap_or((from, ""));
            let found = split(line);
            lines = match found.0.cmp(key) {
                std::cmp::Ordering::Equal => return Some(found),
                std::cmp::Ordering::Less => behind,
                std::cmp::Ordering::Greater => before,
            };
        }
        None
    }
}

fn split(line: &str) -> (&str, &str) {
    line.split_once('\t').unwrap_or((line, ""))
}
