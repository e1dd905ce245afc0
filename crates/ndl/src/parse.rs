//! Reads documents: returns all diagnostics at once, and the content that is valid.

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
use findings::{Findings, Memory};
pub use fragment::{
    attribute, elements, elements_of_text, fill_value, filters, filters_for, ndarray, read_group, read_link,
    read_storage,
};
use hyperslab_core::{Error, Limit, Result};
use hyperslab_model::{Content, NodePath};
use std::collections::HashMap;

/// How strict the parser is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ParseOptions {
    /// Warnings are errors.
    pub strict: bool,
    /// Common mistakes are accepted with a warning: a scalar for an array of one element, a list for an attribute in
    /// short form, compound members as a map.
    pub lenient: bool,
    /// Pure NDL 0.6.1: extensions are errors.
    pub pure: bool,
}

/// The content of a text, and its diagnostics.
#[derive(Clone, Debug, Default)]
pub struct Parsed {
    /// The objects. If there are errors, the wrong parts are missing.
    pub content: Content,
    /// The paths of all objects in the order of the document, groups before their members.
    pub order: Vec<NodePath>,
    /// The place of the key of each object named in the document.
    pub places: HashMap<NodePath, TextPlace>,
    /// What ndarrays leave out. Such a description can match a file, but no file can be made from it.
    pub partial: Vec<Partial>,
    /// The diagnostics, by place.
    pub diagnostics: Vec<Diagnostic>,
    /// The reasons why no file can be made from a text without errors, by place: objects that were unreadable when the
    /// text was written, references without a target, partial descriptions, documents of another language.
    pub refusals: Vec<Diagnostic>,
    /// Whether no key of the document is an NDL key, not even a misspelt one: the document is in another language.
    pub is_foreign: bool,
}

/// A place in a text. Lines and characters count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextPlace {
    /// The line.
    pub line: u32,
    /// The character.
    pub column: u32,
}

/// Something that a partial description leaves out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partial {
    /// The path of the ndarray.
    pub path: NodePath,
    /// The part that is missing.
    pub missing: Missing,
}

/// The parts that an ndarray can leave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// The type, which is `None` in the content.
    Type,
    /// The shape, which is [`Shape::Unsaid`](hyperslab_model::Shape) in the content.
    Shape,
}

impl Parsed {
    /// Whether the text has errors.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }
}

/// Parses a document. Time and memory are bounded by its length.
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
    read(text, options, &Memory::new(u64::MAX))
}

/// As [`parse`], with a limit on the memory in bytes, which is approximate: the content of a text takes up to seventy
/// times as much memory as the text.
///
/// # Errors
/// [`LimitExceeded`](hyperslab_core::ErrorKind::LimitExceeded) if it needs more.
pub fn parse_within(text: &[u8], options: &ParseOptions, memory: u64) -> Result<Parsed> {
    let left = Memory::new(memory.saturating_sub(text.len() as u64));
    let parsed = read(text, options, &left);
    match left.is_exceeded() {
        true => {
            let detail = format!("the objects and values of a text take more than {memory} bytes of memory");
            Err(Error::limit_exceeded(Limit::Allocation, detail))
        }
        false => Ok(parsed),
    }
}

fn read(text: &[u8], options: &ParseOptions, memory: &Memory) -> Parsed {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let source = match std::str::from_utf8(text) {
        Ok(source) => source,
        Err(error) => return not_text(text, error.valid_up_to()),
    };
    let mut findings = Findings::new(source, options.strict).within(memory.clone());
    let document = match Document::read_json(source, &mut findings) {
        Some(document) => document,
        None if is_printable(source, &mut findings) => Document::read(source, &mut findings),
        None => return Parsed { diagnostics: findings.finish(), ..Parsed::default() },
    };
    if findings.is_hopeless() || memory.is_exceeded() {
        return Parsed { diagnostics: findings.finish(), ..Parsed::default() };
    }
    let context = Context::new(findings, *options, netcdf(source, &document));
    document::read(&document, context, true)
}

fn not_text(text: &[u8], valid: usize) -> Parsed {
    let before = text.get(..valid).unwrap_or_default();
    let source = String::from_utf8_lossy(before);
    let mut findings = Findings::new(&source, false);
    let finding = findings.error("ndl/encoding", end_of(&source), "bytes that are not UTF-8");
    finding.hint("write bytes of a value as !!binary in base 64");
    Parsed { diagnostics: findings.finish(), ..Parsed::default() }
}

/// Whether all characters are allowed in YAML. The YAML parser would stop at others.
fn is_printable(source: &str, findings: &mut Findings<'_>) -> bool {
    let forbidden = |b: u8| (b < b' ') & (b != b'\t') & (b != b'\n') & (b != b'\r') | (b == 0x7f);
    // Nearly all blocks have only allowed characters, which is checked for many bytes at once.
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

/// The number of bytes that are checked at once.
const BLOCK: usize = 4096;

/// Whether the head states that the text describes a NetCDF file. `None` without a head.
fn netcdf(source: &str, document: &Document<'_>) -> Option<bool> {
    let comments = source.lines().take_while(|line| line.starts_with(['#', '%']) || *line == "---");
    let mut heads = comments.filter(|line| line.starts_with("# NDL ") && line.contains(", described from "));
    if let Some(head) = heads.next() {
        return Some(head.contains("(NetCDF"));
    }
    let json = document.root()?.mapping()?.get("x-hyperslab")?.mapping()?.get("format")?.scalar()?;
    Some(json.text.starts_with("netcdf"))
}

/// The place after the end of the text.
fn end_of(text: &str) -> Span {
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let line = number(text.bytes().filter(|b| *b == b'\n').count()).saturating_add(1);
    let last = text.rsplit('\n').next().unwrap_or_default();
    let column = number(last.chars().count()).saturating_add(1);
    Span { line, column, end_column: column.saturating_add(1) }
}
