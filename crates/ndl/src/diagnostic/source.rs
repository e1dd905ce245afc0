//! The text that diagnostics refer to.

use super::Diagnostic;
use crate::quote::is_hidden;
use annotate_snippets::{AnnotationKind, Level, Origin, Renderer, Snippet};
use hyperslab_core::Severity;
use std::ops::Range;

/// A text with an index of its lines, to format its diagnostics.
///
/// ```
/// use hyperslab_ndl::{ParseOptions, Source, parse};
///
/// let text = b"attributes:\n  a: 1\n  a: 2\n";
/// let source = Source::new("ocean.yaml", text);
/// let shown: Vec<String> = parse(text, &ParseOptions::default())
///     .diagnostics
///     .iter()
///     .map(|diagnostic| source.render(diagnostic, false))
///     .collect();
/// assert!(shown[0].starts_with("error[ndl/duplicate-key]: duplicate key \"a\" in a map"));
/// assert!(shown[0].contains(" --> ocean.yaml:3:3\n"));
/// ```
#[derive(Clone, Debug)]
pub struct Source<'s> {
    file: &'s str,
    text: &'s [u8],
    /// The offset of every `LINES`-th line.
    starts: Vec<usize>,
}

impl<'s> Source<'s> {
    /// A text, and the name of its file for messages.
    pub fn new(file: &'s str, text: &'s [u8]) -> Self {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        let ends = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
        let starts = std::iter::once(0).chain(ends.skip(STRIDE - 1).step_by(STRIDE)).collect();
        Source { file, text, starts }
    }

    /// Formats a diagnostic of this text as [`Diagnostic::render`] does.
    pub fn render(&self, diagnostic: &Diagnostic, color: bool) -> String {
        let Diagnostic { severity, rule, message, line, column, end_column, hint } = diagnostic;
        let level = match severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
            Severity::Note => Level::NOTE,
        };
        let title = level.primary_title(printable(message)).id(*rule);
        let file = printable(self.file);
        let mut cut = None;
        let mut report = match self.line(*line) {
            None => title.element(Origin::path(file.clone()).line(*line).char_column(*column)),
            Some(text) => {
                let (shown, marked) = excerpt(text, *column, *end_column);
                let within = shown.get(..marked.start).map_or(0, |before| before.chars().count()) + 1;
                cut = (within != *column).then(|| format!("{file}:{line}:{within}"));
                let snippet = Snippet::source(shown).path(file.clone()).line_start(*line);
                title.element(snippet.fold(false).annotation(AnnotationKind::Primary.span(marked)))
            }
        };
        if let Some(hint) = hint {
            report = report.element(Level::HELP.message(printable(hint)));
        }
        let renderer = if color { Renderer::styled() } else { Renderer::plain() };
        let mut out = renderer.term_width(4 * MAX_COLUMNS).render(&[report]);
        if let Some(within) = cut {
            // The renderer counts from where the line was cut.
            out = out.replacen(&within, &format!("{file}:{line}:{column}"), 1);
        }
        out.push('\n');
        out
    }

    /// A line, counted from 1, without its end.
    fn line(&self, number: usize) -> Option<&'s [u8]> {
        let before = number.checked_sub(1)?;
        let rest = self.text.get(*self.starts.get(before / STRIDE)?..)?;
        let line = rest.split(|byte| *byte == b'\n').nth(before % STRIDE)?;
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    }
}

/// The part of a line that is shown, and the byte range in it that is marked.
fn excerpt(line: &[u8], column: usize, end_column: usize) -> (String, Range<usize>) {
    let first = if column > MAX_COLUMNS { column - MAX_COLUMNS / 2 } else { 1 };
    let (mut shown, mut marked) = (String::new(), None);
    let mut rest = line;
    for at in 1..first + MAX_COLUMNS {
        let Some(c) = first_char(&mut rest) else { break };
        if at < first {
            continue;
        }
        let from = shown.len();
        shown.push(c);
        if at == column {
            marked = Some(from..shown.len());
        } else if let Some(marked) = marked.as_mut().filter(|_| at < end_column) {
            marked.end = shown.len();
        }
    }
    let marked = marked.unwrap_or(shown.len()..shown.len() + 1);
    (shown, marked)
}

/// The text without control characters, which a terminal would obey.
fn printable(text: &str) -> String {
    text.chars().map(safe).collect()
}

fn safe(c: char) -> char {
    if is_hidden(c) && c != '\t' { '\u{fffd}' } else { c }
}

/// Takes one character. Each byte that is not part of a character counts as one.
fn first_char(rest: &mut &[u8]) -> Option<char> {
    let first = *rest.first()?;
    let width = match first {
        0..0xc0 => 1,
        0xc0..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0.. => 4,
    };
    let whole = rest.split_at_checked(width).and_then(|(c, tail)| Some((std::str::from_utf8(c).ok()?, tail)));
    let (c, tail) = match whole.and_then(|(text, tail)| Some((text.chars().next()?, tail))) {
        Some(found) => found,
        None => ('\u{fffd}', rest.split_first()?.1),
    };
    *rest = tail;
    Some(safe(c))
}

/// Lines between two index entries. The index of 50 MB of short lines takes 64 KiB.
const STRIDE: usize = 256;

/// The number of characters of a line that are shown.
const MAX_COLUMNS: usize = 120;

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    fn at(line: usize, column: usize, end_column: usize) -> Diagnostic {
        let (rule, message) = ("ndl/value", "wrong".to_string());
        Diagnostic { severity: Severity::Error, rule, message, line, column, end_column, hint: None }
    }

    #[test]
    fn marks_the_span_of_a_diagnostic() {
        let shown = at(2, 3, 5).render("f", b"x\n\tabc\r\n", false);
        assert_eq!(shown, "error[ndl/value]: wrong\n --> f:2:3\n  |\n2 |     abc\n  |      ^^\n");
    }

    #[test]
    fn writes_colours_only_on_request() {
        let source = Source::new("f", b"abc");
        assert!(!source.render(&at(1, 2, 3), false).contains('\x1b'));
        let shown = source.render(&at(1, 2, 3), true);
        assert!(shown.contains("\x1b[1m\x1b[91merror[ndl/value]"), "{shown:?}");
    }

    #[test]
    fn shortens_a_line_of_a_million_characters() {
        let source = format!("\n{}X{}", "a".repeat(500_000), "b".repeat(500_000));
        let shown = at(2, 500_001, 900_000).render("f", source.as_bytes(), false);
        assert!(shown.len() < 600, "{}", shown.len());
        let lines: Vec<_> = shown.lines().collect();
        let mark = lines[4].find('^').unwrap();
        assert_eq!(&lines[3][mark..=mark], "X", "{shown}");
        assert!(shown.contains("f:2:500001"));
        assert!(at(2, 500_001, 9).render("f", source.as_bytes(), true).contains("f:2:500001"));
    }

    #[test]
    fn replaces_control_characters() {
        let mut escape = at(1, 2, 3);
        escape.message = "a\x1b[31mb".into();
        escape.hint = Some("c\x07d\n".into());
        let shown = escape.render("f\x1b[0m", b"x\x1b[2J\xff\xe2\x82z", false);
        assert!(!shown.contains(['\x1b', '\x07']), "{shown:?}");
        assert!(shown.contains("x\u{fffd}[2J\u{fffd}\u{fffd}\u{fffd}z"), "{shown}");
    }

    #[test]
    fn accepts_places_outside_the_source() {
        assert!(at(2, 90, 3).render("f", b"a\n\xff\xfe", false).contains("2:90"));
        assert!(at(2, 1, 1).render("f", b"a", false).ends_with("f:2:1\n"));
        assert!(at(1, 2, 3).render("f", b"a\n", false).ends_with("1 | a\n  |  ^\n"));
        assert!(at(0, 0, 0).render("f", b"", false).contains("wrong"));
    }

    #[test]
    fn every_line_is_found() {
        let text: String = (1..=1000).map(|n| format!("line {n}\n")).collect();
        let source = Source::new("f", text.as_bytes());
        for n in 1..=1000 {
            assert_eq!(source.line(n), Some(format!("line {n}").as_bytes()));
        }
        assert_eq!((source.line(1001), source.line(1002), source.line(0)), (Some(&b""[..]), None, None));
    }

    #[test]
    fn renders_a_thousand_findings_in_linear_time() {
        let text = "- 1234567\n".repeat(1_000_000);
        let source = Source::new("f", text.as_bytes());
        let begin = Instant::now();
        for n in 0..1000 {
            source.render(&at(999_000 + n, 3, 5), n % 2 == 0);
        }
        assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
    }
}
