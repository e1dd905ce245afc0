//! From text to content: every diagnostic of a text at once, and as much of its content as is sound.

mod attribute;
mod context;
mod datatype;
mod document;
mod events;
mod filter;
mod findings;
mod fragment;
mod object;
mod scalar;
mod shape;
mod storage;
mod time;
mod value;

use crate::{Diagnostic, Severity};
use context::Context;
pub use document::GROUP_KEYS;
use events::{Document, Span};
use findings::Findings;
pub use fragment::{elements, fill_value, filters};
use hyperslab_model::{Content, NodePath};
use std::collections::HashMap;

/// How strictly a text is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ParseOptions {
    /// Warnings are errors.
    pub strict: bool,
    /// Common slips are read as they are meant, with a warning: a scalar for an array of one element, a list
    /// for an attribute in short form, compound members as a map.
    pub lenient: bool,
    /// NDL 0.6.1 alone: extensions are errors.
    pub pure: bool,
}

/// What a text says.
#[derive(Clone, Debug, Default)]
pub struct Parsed {
    /// The objects. After an error, those parts that are wrong are not in it.
    pub content: Content,
    /// The paths of all objects in the order of the document, groups before their members.
    pub order: Vec<NodePath>,
    /// Where the key of each object stands that the document names.
    pub places: HashMap<NodePath, Place>,
    /// What ndarrays do not say of themselves: such a description fits files, and makes none.
    pub partial: Vec<Partial>,
    /// What is wrong, by place.
    pub diagnostics: Vec<Diagnostic>,
    /// What keeps a file from being made of a text without errors, by place: objects that could not be read
    /// when the text was written, references that lead nowhere, partial descriptions.
    pub refusals: Vec<Diagnostic>,
}

/// A place in a text, counted from 1 in lines and characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The line.
    pub line: u32,
    /// The character.
    pub column: u32,
}

/// Something that a description leaves out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partial {
    /// The ndarray.
    pub path: NodePath,
    /// What it does not say.
    pub missing: Missing,
}

/// What an ndarray may leave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// The type; the content has none.
    Type,
    /// The shape; that of the content is [`Shape::Unsaid`](hyperslab_model::Shape).
    Shape,
}

impl Parsed {
    /// Whether the text has errors.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }
}

/// Reads a document. Time and memory are bounded by the length of the text, whatever it says.
///
/// ```
/// use hyperslab_ndl::{ParseOptions, parse};
///
/// let text = b"ndarrays:\n  z:\n    shape: [2]\n    type: int8\n    value: [1, 300]\n";
/// let parsed = parse(text, &ParseOptions::default());
/// let shown: Vec<String> = parsed.diagnostics.iter().map(ToString::to_string).collect();
/// assert_eq!(shown, ["5:16: error: \"300\" for int8: out of range [ndl/value-range]"]);
/// ```
pub fn parse(text: &[u8], options: &ParseOptions) -> Parsed {
    read(text, options, true)
}

/// Reads a document that is a part of another: paths in it mean objects of that other, which may be what none here is,
/// so that nobody looks where references and hard links lead.
///
/// ```
/// use hyperslab_ndl::{ParseOptions, parse, parse_part};
///
/// let text = b"attributes:\n  a: {shape: [], type: regref, value: {target: /b, start: [9], opposite: [9]}}\n\n\
///              dimcoords:\n  b: {size: 1}\n";
/// assert!(parse(text, &ParseOptions::default()).has_errors());
/// assert!(!parse_part(text, &ParseOptions::default()).has_errors());
/// ```
pub fn parse_part(text: &[u8], options: &ParseOptions) -> Parsed {
    read(text, options, false)
}

fn read(text: &[u8], options: &ParseOptions, is_whole: bool) -> Parsed {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let source = match std::str::from_utf8(text) {
        Ok(source) => source,
        Err(error) => return not_text(text, error.valid_up_to()),
    };
    let mut findings = Findings::new(source, options.strict);
    let document = match Document::read_json(source, &mut findings) {
        Some(document) => document,
        None if is_printable(source, &mut findings) => Document::read(source, &mut findings),
        None => return Parsed { diagnostics: findings.finish(), ..Parsed::default() },
    };
    if findings.is_hopeless() {
        return Parsed { diagnostics: findings.finish(), ..Parsed::default() };
    }
    let context = Context::new(findings, *options, netcdf(source, &document));
    document::read(&document, context, is_whole)
}

fn not_text(text: &[u8], valid: usize) -> Parsed {
    let before = text.get(..valid).unwrap_or_default();
    let source = String::from_utf8_lossy(before);
    let mut findings = Findings::new(&source, false);
    let finding = findings.error("ndl/encoding", end_of(&source), "bytes that are not UTF-8");
    finding.hint("write bytes of a value as !!binary in base 64");
    Parsed { diagnostics: findings.finish(), ..Parsed::default() }
}

/// Whether there are no characters that YAML does not allow, at which its parser would end.
fn is_printable(source: &str, findings: &mut Findings<'_>) -> bool {
    let forbidden = |b: u8| (b < b' ') & (b != b'\t') & (b != b'\n') & (b != b'\r') | (b == 0x7f);
    // Whole blocks without one are told at many bytes a cycle; nearly all are.
    let block = |bytes: &[u8]| bytes.iter().fold(false, |any, b| any | forbidden(*b));
    let clean = source.as_bytes().chunks(BLOCK).take_while(|bytes| !block(bytes)).count() * BLOCK;
    let Some(at) = source.bytes().skip(clean).position(forbidden).map(|at| clean + at) else { return true };
    let (before, rest) = source.split_at_checked(at).unwrap_or((source, ""));
    let code = rest.bytes().next().unwrap_or(0);
    let message = format!("the control character U+{code:04X}");
    findings
        .error("ndl/encoding", end_of(before), message)
        .hint(format!("write \"\\x{code:02x}\" in double quotes"));
    false
}

/// Bytes looked at together.
const BLOCK: usize = 4096;

/// Whether the head says that a text describes a NetCDF file; `None` without a head.
fn netcdf(source: &str, document: &Document<'_>) -> Option<bool> {
    let comments = source.lines().take_while(|line| line.starts_with(['#', '%']) || *line == "---");
    let mut heads = comments.filter(|line| line.starts_with("# NDL ") && line.contains(", described from "));
    if let Some(head) = heads.next() {
        return Some(head.contains("(NetCDF"));
    }
    let json = document.root()?.mapping()?.get("x-hyperslab")?.mapping()?.get("format")?.scalar()?;
    Some(json.text.starts_with("netcdf"))
}

/// The place behind a text.
fn end_of(text: &str) -> Span {
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let line = number(text.bytes().filter(|b| *b == b'\n').count()).saturating_add(1);
    let last = text.rsplit('\n').next().unwrap_or_default();
    let column = number(last.chars().count()).saturating_add(1);
    Span { line, column, end_column: column.saturating_add(1) }
}
