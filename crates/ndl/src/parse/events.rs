//! YAML as a tree that keeps the style, source text and place of every scalar.
//!
//! An alias shares the node that it refers to. The size of the document with all aliases expanded is limited.
//!
//! Spec: YAML 1.2.2, core schema

mod characters;
mod json;
mod reader;
mod syntax;

use super::findings::Findings;
use crate::part::Value;
use reader::Reader;

/// A parsed document. Its nodes are in the order in which they end.
#[derive(Debug, Default)]
pub(crate) struct Document<'a> {
    text: &'a str,
    /// Stored in blocks, so that nodes do not move when it grows.
    blocks: Vec<Vec<Data<'a>>>,
    root: Option<u32>,
}

/// A node of a document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node<'t> {
    document: &'t Document<'t>,
    at: At<'t>,
}

/// Where a node is.
#[derive(Clone, Copy, Debug)]
enum At<'t> {
    Stored(&'t Data<'t>),
    Word(Span, &'t str),
}

/// The range of a node on its first line: line and character count from 1, the end is exclusive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) line: u32,
    pub(crate) column: u32,
    /// The end, or [`Span::OPEN_END`] if the node continues on the next line.
    pub(crate) end_column: u32,
}

/// The stored form of a node. There can be millions, of 32 bytes each.
#[derive(Debug)]
enum Data<'a> {
    Borrowed {
        span: Span,
        plain: bool,
        tag: Tag,
        text: &'a str,
    },
    Owned {
        span: Span,
        plain: bool,
        tag: Tag,
        text: Box<str>,
    },
    Sequence {
        span: Span,
        items: Box<[u32]>,
    },
    Mapping {
        span: Span,
        entries: Box<[(u32, u32)]>,
    },
    /// A sequence of plain scalars on one line, as most numbers are: without a node for each.
    Words {
        span: Span,
        words: Box<[Word]>,
    },
}

/// A plain scalar on the line of its list.
#[derive(Clone, Copy, Debug)]
struct Word {
    /// Its place in the text, in bytes.
    at: u32,
    len: u16,
    column: u16,
}

/// A scalar as it was written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scalar<'t> {
    pub(crate) text: &'t str,
    pub(crate) plain: bool,
    pub(crate) tag: Tag,
}

/// The tags that NDL uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tag {
    None,
    Str,
    Int,
    Float,
    Null,
    Bool,
    Binary,
    Seq,
    Map,
}

/// The kind of a node and its content.
#[derive(Clone, Copy, Debug)]
pub(crate) enum View<'t> {
    Scalar(Scalar<'t>),
    Sequence(Sequence<'t>),
    Mapping(Mapping<'t>),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Sequence<'t> {
    document: &'t Document<'t>,
    items: Items<'t>,
}

#[derive(Clone, Copy, Debug)]
enum Items<'t> {
    Nodes(&'t [u32]),
    Words(Span, &'t [Word]),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Mapping<'t> {
    document: &'t Document<'t>,
    entries: &'t [(u32, u32)],
}

/// A key, which is always text, and its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key<'t> {
    pub(crate) name: &'t str,
    pub(crate) span: Span,
}

impl<'a> Document<'a> {
    /// Parses a text as a JSON object. `None` if the text is not JSON.
    pub(crate) fn read_json(text: &'a str, findings: &mut Findings<'_>) -> Option<Document<'a>> {
        let before = findings.len();
        let document = json::read(text, Reader::new(text, findings));
        if document.is_none() {
            findings.truncate(before);
        }
        document
    }

    /// Parses the YAML document of a text. After a syntax error, the document is empty, unless its tree is complete.
    pub(crate) fn read(text: &'a str, findings: &mut Findings<'_>) -> Document<'a> {
        Reader::new(text, findings).read(text).unwrap_or_default()
    }

    /// Makes a document of a value. Its nodes have the default span, because they are not in any text.
    pub(crate) fn of_value(value: &'a Value, findings: &mut Findings<'_>) -> Document<'a> {
        let mut reader = Reader::new("", findings);
        match reader.value(value) {
            Ok(()) => reader.finish(),
            Err(_) => Document::default(),
        }
    }

    pub(crate) fn root(&self) -> Option<Node<'_>> {
        self.node(self.root?)
    }

    /// Adds a node. `None` beyond 2^32 nodes.
    fn push(&mut self, data: Data<'a>) -> Option<u32> {
        let last = self.blocks.last().map_or(BLOCK, Vec::len);
        if last == BLOCK {
            self.blocks.push(Vec::new());
        }
        let block = self.blocks.last_mut()?;
        block.push(data);
        let len = block.len();
        u32::try_from((self.blocks.len() - 1) * BLOCK + len - 1).ok()
    }

    fn node(&self, index: u32) -> Option<Node<'_>> {
        let index = usize::try_from(index).ok()?;
        let data = self.blocks.get(index / BLOCK)?.get(index % BLOCK)?;
        Some(Node { document: self, at: At::Stored(data) })
    }

    /// The number of nodes.
    fn len(&self) -> usize {
        let full = self.blocks.len().saturating_sub(1) * BLOCK;
        self.blocks.last().map_or(0, |last| full + last.len())
    }

    /// Removes the nodes from `len` on.
    fn truncate(&mut self, len: usize) {
        self.blocks.truncate(len.div_ceil(BLOCK));
        if let Some(last) = self.blocks.last_mut() {
            last.truncate(len - (len - 1) / BLOCK * BLOCK);
        }
    }

    /// The last nodes as words, if these are their indexes and they are plain scalars on `line`.
    fn words(&self, items: &[u32], line: u32) -> Option<Box<[Word]>> {
        let first = usize::try_from(*items.first()?).ok()?;
        if first + items.len() != self.len() {
            return None;
        }
        let word = |index: &u32| match self.node(*index)?.at {
            At::Stored(Data::Borrowed { span, plain: true, tag: Tag::None, text }) if span.line == line => {
                let at = text.as_ptr().addr().checked_sub(self.text.as_ptr().addr())?;
                let is_there = self.text.get(at..)?.starts_with(text);
                let (at, len) = (u32::try_from(at).ok()?, u16::try_from(text.len()).ok()?);
                let column = u16::try_from(span.column).ok()?;
                let is_ascii = span.end_column == span.column.checked_add(len.into())?;
                (is_there && is_ascii).then_some(Word { at, len, column })
            }
            _ => None,
        };
        items.iter().map(word).collect()
    }

    /// The node of a word in a list with this range.
    fn word(&self, list: Span, word: Word) -> Option<Node<'_>> {
        let at = usize::try_from(word.at).ok()?;
        let text = self.text.get(at..at.checked_add(word.len.into())?)?;
        let column = u32::from(word.column);
        let span = Span { line: list.line, column, end_column: column + u32::from(word.len) };
        Some(Node { document: self, at: At::Word(span, text) })
    }
}

impl Span {
    /// The value of `end_column` for a range that continues on the next line.
    pub(crate) const OPEN_END: u32 = u32::MAX;
}

impl<'t> Node<'t> {
    pub(crate) fn span(self) -> Span {
        match self.at {
            At::Word(span, _) => span,
            At::Stored(
                Data::Borrowed { span, .. }
                | Data::Owned { span, .. }
                | Data::Sequence { span, .. }
                | Data::Mapping { span, .. }
                | Data::Words { span, .. },
            ) => *span,
        }
    }

    pub(crate) fn view(self) -> View<'t> {
        let document = self.document;
        let data = match self.at {
            At::Stored(data) => data,
            At::Word(_, text) => return View::Scalar(Scalar { text, plain: true, tag: Tag::None }),
        };
        match data {
            Data::Borrowed { plain, tag, text, .. } => {
                View::Scalar(Scalar { text, plain: *plain, tag: *tag })
            }
            Data::Owned { plain, tag, text, .. } => View::Scalar(Scalar { text, plain: *plain, tag: *tag }),
            Data::Sequence { items, .. } => View::Sequence(Sequence { document, items: Items::Nodes(items) }),
            Data::Words { span, words } => {
                View::Sequence(Sequence { document, items: Items::Words(*span, words) })
            }
            Data::Mapping { entries, .. } => View::Mapping(Mapping { document, entries }),
        }
    }

    pub(crate) fn scalar(self) -> Option<Scalar<'t>> {
        match self.view() {
            View::Scalar(scalar) => Some(scalar),
            _ => None,
        }
    }

    pub(crate) fn mapping(self) -> Option<Mapping<'t>> {
        match self.view() {
            View::Mapping(mapping) => Some(mapping),
            _ => None,
        }
    }

    pub(crate) fn is_null(self) -> bool {
        self.scalar().is_some_and(Scalar::is_null)
    }

    /// The kind of the node, for messages.
    pub(crate) fn describe(self) -> String {
        match self.view() {
            View::Scalar(scalar) if scalar.is_null() => "null".into(),
            View::Scalar(scalar) => shown(scalar.text),
            View::Sequence(_) => "a list".into(),
            View::Mapping(_) => "a map".into(),
        }
    }
}

impl<'t> Sequence<'t> {
    pub(crate) fn len(self) -> usize {
        match self.items {
            Items::Nodes(items) => items.len(),
            Items::Words(_, words) => words.len(),
        }
    }

    pub(crate) fn iter(self) -> impl ExactSizeIterator<Item = Node<'t>> {
        // All indexes come from the document itself.
        (0..self.len()).map(move |at| self.get(at).expect("an index of this document"))
    }

    fn get(self, at: usize) -> Option<Node<'t>> {
        match self.items {
            Items::Nodes(items) => self.document.node(*items.get(at)?),
            Items::Words(span, words) => self.document.word(span, *words.get(at)?),
        }
    }
}

impl<'t> Mapping<'t> {
    pub(crate) fn len(self) -> usize {
        self.entries.len()
    }

    pub(crate) fn iter(self) -> impl ExactSizeIterator<Item = (Key<'t>, Node<'t>)> {
        let Mapping { document, entries } = self;
        let node = move |index: u32| document.node(index).expect("an index of this document");
        entries.iter().map(move |(key, value)| {
            let key = node(*key);
            let name = key.scalar().map_or("", |scalar| scalar.text);
            (Key { name, span: key.span() }, node(*value))
        })
    }

    pub(crate) fn get(self, name: &str) -> Option<Node<'t>> {
        self.iter().find(|(key, _)| key.name == name).map(|(_, value)| value)
    }
}

impl Scalar<'_> {
    /// Whether the type follows from the text alone.
    pub(crate) fn is_plain(self) -> bool {
        self.plain && self.tag != Tag::Str
    }

    pub(crate) fn is_null(self) -> bool {
        self.tag == Tag::Null
            || self.is_plain()
                && self.tag == Tag::None
                && matches!(self.text, "" | "~" | "null" | "Null" | "NULL")
    }
}

/// A text in quotes, shortened for a message.
pub(crate) fn shown(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN) {
        Some((at, _)) => format!("{:?}…", text.get(..at).unwrap_or_default()),
        None => format!("{text:?}"),
    }
}

/// The number of nodes in a block.
const BLOCK: usize = 1 << 12;

/// The number of characters of a text in a message.
const MAX_SHOWN: usize = 60;

#[cfg(test)]
mod tests {
    use super::{BLOCK, Data, Document, Node, Span, View};
    use crate::parse::findings::Findings;

    #[test]
    fn a_node_takes_32_bytes() {
        assert_eq!(size_of::<Data<'_>>(), 32);
    }

    fn items<'t>(document: &'t Document<'t>) -> Vec<(&'t str, Span)> {
        let list = document.root().unwrap().mapping().unwrap().get("a").unwrap();
        let View::Sequence(items) = list.view() else { panic!() };
        let shown = |item: Node<'t>| (item.scalar().unwrap().text, item.span());
        items.iter().map(shown).collect()
    }

    #[test]
    fn words_of_a_line_are_the_nodes_that_they_would_be() {
        let at = |line, column, end_column| Span { line, column, end_column };
        for (text, is_words) in [
            ("b: 1\na: [1,  -2.5, x y, ~]\n", true),
            // With an anchor, which may be referred to, and on two lines.
            ("b: &b 1\na: [1,  -2.5, x y, ~]\n", false),
            ("b: 1\na: [1,  -2.5, x y, ~\n ]\n", false),
        ] {
            let mut findings = Findings::new(text, false);
            let document = Document::read(text, &mut findings);
            let found = items(&document);
            let expected =
                [("1", at(2, 5, 6)), ("-2.5", at(2, 9, 13)), ("x y", at(2, 15, 18)), ("~", at(2, 20, 21))];
            assert_eq!(found, expected, "{text}");
            assert_eq!(document.len(), if is_words { 5 } else { 9 }, "{text}");
        }
        for item in ["'4'", "!!str 4", "\u{e5}"] {
            let text = format!("b: 1\na: [1, 2, 3, {item}]\n");
            let document = Document::read(&text, &mut Findings::new(&text, false)).len();
            assert_eq!(document, 9, "{text}");
        }
    }

    #[test]
    fn words_may_end_a_block() {
        for count in [BLOCK - 3, BLOCK - 2, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK] {
            let text = format!("{{\"b\": 0, \"a\": [{}7]}}", "3, ".repeat(count - 1));
            let document = Document::read_json(&text, &mut Findings::new(&text, false)).unwrap();
            assert_eq!(document.len(), 5);
            let found = items(&document);
            assert_eq!((found.len(), found.last().unwrap().0), (count, "7"));
        }
    }
}
