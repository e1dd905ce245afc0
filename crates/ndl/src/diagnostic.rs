//! What is wrong with a text, and where.

use hyperslab_core::Severity;
use std::fmt;

/// One finding in a text.
///
/// Displayed on one line: `12:5: error: int8 has no 300 [ndl/value-range]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// The name of the rule that is broken: `ndl/value-shape`.
    pub rule: &'static str,
    /// What was found and what was expected.
    pub message: String,
    /// The line, from 1.
    pub line: usize,
    /// The first character on that line, from 1.
    pub column: usize,
    /// The character behind the last one on that line.
    pub end_column: usize,
    /// How to mend it.
    pub hint: Option<String>,
}

impl Diagnostic {
    /// Several lines: rule and message, the place in `file`, the line of `source` with what is meant marked
    /// under it, and the hint.
    ///
    /// ```
    /// use hyperslab_ndl::{Diagnostic, Severity};
    ///
    /// let diagnostic = Diagnostic {
    ///     severity: Severity::Error,
    ///     rule: "ndl/type",
    ///     message: "no type \"float\"".into(),
    ///     line: 1,
    ///     column: 7,
    ///     end_column: 12,
    ///     hint: Some("did you mean float32?".into()),
    /// };
    /// let shown = diagnostic.render("a.yaml", b"type: float\n");
    /// assert_eq!(shown, "error[ndl/type]: no type \"float\"\n --> a.yaml:1:7\n1 | type: float\n  |       ^^^^^\n  = help: did you mean float32?\n");
    /// ```
    pub fn render(&self, file: &str, source: &[u8]) -> String {
        let Diagnostic { severity, rule, message, line, column, end_column, hint } = self;
        let gutter = " ".repeat(line.to_string().len());
        let mut out = format!("{severity}[{rule}]: {message}\n{gutter}--> {file}:{line}:{column}\n");
        if let Some(text) = source.split(|byte| *byte == b'\n').nth(line.saturating_sub(1)) {
            let text = String::from_utf8_lossy(text);
            let (excerpt, first) = excerpt(text.trim_end_matches('\r'), *column);
            let before = column.saturating_sub(first);
            let shown = excerpt.chars().count();
            let marked = end_column.saturating_sub(*column).min(shown.saturating_sub(before)).max(1);
            out.push_str(&format!("{line} | {excerpt}\n{gutter} | "));
            // A tab keeps its width only under a tab.
            let pad = excerpt.chars().chain(std::iter::repeat(' ')).take(before);
            out.extend(pad.map(|c| if c == '\t' { '\t' } else { ' ' }));
            out.push_str(&"^".repeat(marked));
            out.push('\n');
        }
        if let Some(hint) = hint {
            out.push_str(&format!("{gutter} = help: {hint}\n"));
        }
        out
    }
}

/// The part of a line that is shown, without control characters, and the column of its first character.
fn excerpt(line: &str, column: usize) -> (String, usize) {
    let first = if column > MOST_COLUMNS { column - MOST_COLUMNS / 2 } else { 1 };
    let shown = line.chars().skip(first - 1).take(MOST_COLUMNS);
    (shown.map(|c| if c.is_control() && c != '\t' { '\u{fffd}' } else { c }).collect(), first)
}

/// Characters of a line that are shown.
const MOST_COLUMNS: usize = 120;

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Diagnostic { severity, rule, message, line, column, hint, .. } = self;
        write!(f, "{line}:{column}: {severity}: {message} [{rule}]")?;
        match hint {
            Some(hint) => write!(f, "; {hint}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(column: usize, end_column: usize) -> Diagnostic {
        let (rule, message) = ("ndl/value", "wrong".to_string());
        Diagnostic { severity: Severity::Error, rule, message, line: 2, column, end_column, hint: None }
    }

    #[test]
    fn the_mark_stands_under_what_is_meant() {
        let shown = at(3, 5).render("f", b"x\n\tabc\r\n");
        assert_eq!(shown, "error[ndl/value]: wrong\n --> f:2:3\n2 | \tabc\n  | \t ^^\n");
    }

    #[test]
    fn a_line_of_a_million_characters_is_cut_around_the_place() {
        let source = format!("\n{}X{}", "a".repeat(500_000), "b".repeat(500_000));
        let shown = at(500_001, 900_000).render("f", source.as_bytes());
        assert!(shown.len() < 600, "{}", shown.len());
        let lines: Vec<_> = shown.lines().collect();
        let mark = lines[3].find('^').unwrap();
        assert_eq!(&lines[2][mark..=mark], "X");
    }

    #[test]
    fn places_outside_the_source_do_no_harm() {
        assert!(at(90, 3).render("f", b"a\n\xff\xfe").contains("2:90"));
        assert!(at(1, 1).render("f", b"a").ends_with("f:2:1\n"));
    }
}
