//! YAML as a tree that keeps style, source text and place of every scalar.
//!
//! Aliases share what they refer to; how much there would be if each were written out is counted and limited.
//!
//! Spec: YAML 1.2.2, core schema

use super::findings::Findings;
use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span as YamlSpan, Tag as YamlTag};
use std::borrow::Cow;
use std::collections::HashMap;

/// A document. Its nodes are in the order in which they end.
#[derive(Debug, Default)]
pub(crate) struct Document<'a> {
    /// In blocks, so that growing moves none.
    blocks: Vec<Vec<NodeData<'a>>>,
    root: Option<u32>,
}

/// A node of a document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node<'t> {
    document: &'t Document<'t>,
    data: &'t NodeData<'t>,
}

/// From where to where a node goes: lines and characters from 1, the end exclusive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) line: u32,
    pub(crate) column: u32,
    pub(crate) end_line: u32,
    pub(crate) end_column: u32,
}

#[derive(Debug)]
struct NodeData<'a> {
    kind: Kind<'a>,
    span: Span,
}

#[derive(Debug)]
enum Kind<'a> {
    Scalar(Scalar<'a>),
    Sequence(Vec<u32>),
    Mapping(Vec<(u32, u32)>),
}

/// A scalar as it was written.
#[derive(Clone, Debug)]
pub(crate) struct Scalar<'a> {
    pub(crate) text: Cow<'a, str>,
    pub(crate) plain: bool,
    pub(crate) tag: Tag,
}

/// The tags that NDL knows.
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

/// What a node is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum View<'t> {
    Scalar(&'t Scalar<'t>),
    Sequence(Sequence<'t>),
    Mapping(Mapping<'t>),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Sequence<'t> {
    document: &'t Document<'t>,
    items: &'t [u32],
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Mapping<'t> {
    document: &'t Document<'t>,
    entries: &'t [(u32, u32)],
}

/// A key, which always is a name, and its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key<'t> {
    pub(crate) name: &'t str,
    pub(crate) span: Span,
}

impl<'a> Document<'a> {
    /// Reads the one document of a text. After an error there is none, unless the tree is whole nevertheless.
    pub(crate) fn read(text: &'a str, findings: &mut Findings<'_>) -> Document<'a> {
        let mut reader = Reader {
            findings,
            document: Document::default(),
            open: Vec::new(),
            anchors: HashMap::new(),
            expanded: 0,
        };
        match reader.read(text) {
            Ok(()) => reader.document,
            Err(Stop) => Document::default(),
        }
    }

    pub(crate) fn root(&self) -> Option<Node<'_>> {
        self.node(self.root?)
    }

    /// Adds a node; `None` beyond 2^32.
    fn push(&mut self, data: NodeData<'a>) -> Option<u32> {
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
        Some(Node { document: self, data })
    }
}

impl<'t> Node<'t> {
    pub(crate) fn span(self) -> Span {
        self.data.span
    }

    pub(crate) fn view(self) -> View<'t> {
        let document = self.document;
        match &self.data.kind {
            Kind::Scalar(scalar) => View::Scalar(scalar),
            Kind::Sequence(items) => View::Sequence(Sequence { document, items }),
            Kind::Mapping(entries) => View::Mapping(Mapping { document, entries }),
        }
    }

    pub(crate) fn scalar(self) -> Option<&'t Scalar<'t>> {
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

    /// What it is, for messages.
    pub(crate) fn describe(self) -> String {
        match self.view() {
            View::Scalar(scalar) if scalar.is_null() => "null".into(),
            View::Scalar(scalar) => shown(&scalar.text),
            View::Sequence(_) => "a list".into(),
            View::Mapping(_) => "a map".into(),
        }
    }
}

impl<'t> Sequence<'t> {
    pub(crate) fn len(self) -> usize {
        self.items.len()
    }

    pub(crate) fn iter(self) -> impl ExactSizeIterator<Item = Node<'t>> {
        let Sequence { document, items } = self;
        // Every index comes from the document itself.
        items.iter().map(move |index| document.node(*index).expect("an index of this document"))
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
            let name = key.scalar().map_or("", |scalar| scalar.text.as_ref());
            (Key { name, span: key.span() }, node(*value))
        })
    }

    pub(crate) fn get(self, name: &str) -> Option<Node<'t>> {
        self.iter().find(|(key, _)| key.name == name).map(|(_, value)| value)
    }
}

impl Scalar<'_> {
    /// Whether the text alone decides what it is.
    pub(crate) fn is_plain(&self) -> bool {
        self.plain && self.tag != Tag::Str
    }

    pub(crate) fn is_null(&self) -> bool {
        self.tag == Tag::Null
            || self.is_plain()
                && self.tag == Tag::None
                && matches!(&*self.text, "" | "~" | "null" | "Null" | "NULL")
    }
}

/// A text in quotes for a message, not longer than one reads.
pub(crate) fn shown(text: &str) -> String {
    match text.char_indices().nth(MOST_SHOWN) {
        Some((at, _)) => format!("{:?}…", text.get(..at).unwrap_or_default()),
        None => format!("{text:?}"),
    }
}

struct Reader<'f, 's, 'a> {
    findings: &'f mut Findings<'s>,
    document: Document<'a>,
    open: Vec<Open>,
    anchors: HashMap<usize, Anchored>,
    /// Nodes that aliases stand for.
    expanded: u64,
}

/// A sequence or mapping that has not ended.
struct Open {
    mapping: bool,
    tag: Tag,
    anchor: usize,
    start: Span,
    children: Vec<u32>,
    weight: u64,
    height: usize,
}

/// What an alias may stand for: nodes with all in them written out, and levels.
#[derive(Clone, Copy)]
struct Anchored {
    node: u32,
    weight: u64,
    height: usize,
}

/// An error after which nothing can be read.
struct Stop;

impl<'a> Reader<'_, '_, 'a> {
    fn read(&mut self, text: &'a str) -> Result<(), Stop> {
        let mut parser = Parser::new_from_str(text);
        // Places are told in characters: only here they are bytes, too.
        let ascii = Some(text).filter(|text| text.is_ascii());
        let mut documents = 0;
        while let Some(event) = parser.next_event() {
            let (event, span) = event.map_err(|error| self.syntax(&error))?;
            match event {
                Event::DocumentStart(_) => {
                    documents += 1;
                    if documents > 1 {
                        let finding = self.findings.error(
                            "ndl/document",
                            place(span),
                            "a second document, expected one a file",
                        );
                        finding.hint("split the file at ---");
                        return Ok(());
                    }
                }
                Event::Scalar(text, style, anchor, tag) => {
                    let from = span.start.index();
                    let span = place(span);
                    let tag = self.tag(tag.as_deref(), span);
                    let plain = style == ScalarStyle::Plain;
                    let text = match ascii.and_then(|source| source.get(from..from + text.len())) {
                        Some(same) if *same == *text => Cow::Borrowed(same),
                        _ => text,
                    };
                    if matches!(tag, Tag::Seq | Tag::Map) {
                        self.findings.error("ndl/tag", span, "a scalar with the tag of a collection");
                    }
                    self.add(Kind::Scalar(Scalar { text, plain, tag }), span, anchor, 1, 0)?;
                }
                Event::SequenceStart(anchor, tag) => self.begin(false, anchor, tag.as_deref(), span)?,
                Event::MappingStart(anchor, tag) => self.begin(true, anchor, tag.as_deref(), span)?,
                Event::SequenceEnd | Event::MappingEnd => self.end(span)?,
                Event::Alias(anchor) => self.alias(anchor, place(span))?,
                Event::StreamEnd => return Ok(()),
                Event::Nothing | Event::StreamStart | Event::DocumentEnd => {}
            }
        }
        Ok(())
    }

    fn begin(
        &mut self,
        mapping: bool,
        anchor: usize,
        tag: Option<&YamlTag>,
        span: YamlSpan,
    ) -> Result<(), Stop> {
        let start = place(span);
        if self.open.len() >= MOST_LEVELS {
            return Err(self.too_deep(start));
        }
        let tag = self.tag(tag, start);
        let (children, weight, height) = (Vec::new(), 1, 0);
        self.open.push(Open { mapping, tag, anchor, start, children, weight, height });
        Ok(())
    }

    fn end(&mut self, span: YamlSpan) -> Result<(), Stop> {
        let Some(open) = self.open.pop() else { return Ok(()) };
        let end = place(span);
        let span = Span { end_line: end.end_line, end_column: end.end_column, ..open.start };
        let expected = if open.mapping { Tag::Map } else { Tag::Seq };
        if open.tag != Tag::None && open.tag != expected {
            self.findings.error("ndl/tag", span, "a collection with the tag of something else");
        }
        let kind = match open.mapping {
            true => Kind::Mapping(self.entries(&open.children)),
            false => Kind::Sequence(open.children),
        };
        self.add(kind, span, open.anchor, open.weight, open.height + 1)
    }

    /// Puts a node into the collection that is open.
    fn add(
        &mut self,
        kind: Kind<'a>,
        span: Span,
        anchor: usize,
        weight: u64,
        height: usize,
    ) -> Result<(), Stop> {
        let Some(node) = self.document.push(NodeData { kind, span }) else {
            self.findings.error("ndl/limit", span, "more than 2^32 nodes");
            return Err(Stop);
        };
        let added = Anchored { node, weight, height };
        if anchor > 0 {
            self.anchors.insert(anchor, added);
        }
        self.attach(added);
        Ok(())
    }

    fn attach(&mut self, Anchored { node, weight, height }: Anchored) {
        match self.open.last_mut() {
            Some(open) => {
                open.children.push(node);
                open.weight = open.weight.saturating_add(weight);
                open.height = open.height.max(height);
            }
            None => self.document.root = Some(node),
        }
    }

    fn alias(&mut self, anchor: usize, span: Span) -> Result<(), Stop> {
        let Some(target) = self.anchors.get(&anchor).copied() else {
            self.findings.error("ndl/alias", span, "an alias within what it stands for");
            return Err(Stop);
        };
        self.expanded = self.expanded.saturating_add(target.weight);
        if self.expanded > MOST_EXPANDED {
            let message = format!("aliases stand for more than {MOST_EXPANDED} nodes");
            self.findings.error("ndl/alias", span, message);
            return Err(Stop);
        }
        if self.open.len() + target.height > MOST_LEVELS {
            return Err(self.too_deep(span));
        }
        self.attach(target);
        Ok(())
    }

    /// Keys and values, without keys that cannot be names or come twice.
    fn entries(&mut self, children: &[u32]) -> Vec<(u32, u32)> {
        let mut entries = Vec::with_capacity(children.len() / 2);
        let mut lines: HashMap<&str, u32> = HashMap::new();
        for pair in children.chunks_exact(2) {
            let [key, value] = *pair else { continue };
            let Some(node) = self.document.node(key) else { continue };
            let span = node.span();
            let Some(scalar) = node.scalar() else {
                self.findings.error("ndl/key", span, "a key that is a list or a map, expected a name");
                continue;
            };
            if scalar.plain && scalar.text == "<<" {
                let finding =
                    self.findings.error("ndl/merge-key", span, "a merge key, which YAML 1.2 does not have");
                finding.hint("write the entries out, or quote a name: \"<<\"");
                continue;
            }
            match lines.insert(&scalar.text, span.line) {
                Some(first) => {
                    lines.insert(&scalar.text, first);
                    let name = shown(&scalar.text);
                    let message =
                        format!("the key {name} twice in one map, on line {first} and line {}", span.line);
                    self.findings.error("ndl/duplicate-key", span, message);
                }
                None => entries.push((key, value)),
            }
        }
        entries
    }

    fn tag(&mut self, tag: Option<&YamlTag>, span: Span) -> Tag {
        let Some(tag) = tag else { return Tag::None };
        match (tag.is_yaml_core_schema(), tag.suffix.as_str()) {
            (true, "str") => Tag::Str,
            (true, "int") => Tag::Int,
            (true, "float") => Tag::Float,
            (true, "null") => Tag::Null,
            (true, "bool") => Tag::Bool,
            (true, "binary") => Tag::Binary,
            (true, "seq") => Tag::Seq,
            (true, "map") => Tag::Map,
            _ => {
                let message = format!("the tag {}", shown(&tag.to_string()));
                let finding = self.findings.error("ndl/tag", span, message);
                finding.hint("known are !!str !!int !!float !!null !!bool !!binary !!seq !!map");
                Tag::None
            }
        }
    }

    fn too_deep(&mut self, span: Span) -> Stop {
        self.findings.error("ndl/depth", span, format!("more than {MOST_LEVELS} levels"));
        Stop
    }

    fn syntax(&mut self, error: &ScanError) -> Stop {
        let span = place(YamlSpan::empty(*error.marker()));
        // Brackets are counted before any of them is an event.
        if error.info().starts_with("recursion limit") {
            return self.too_deep(span);
        }
        self.findings.error("ndl/yaml", span, error.info().trim_end_matches('.'));
        Stop
    }
}

fn place(span: YamlSpan) -> Span {
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Span {
        line: number(span.start.line()).max(1),
        column: number(span.start.col()).saturating_add(1),
        end_line: number(span.end.line()),
        end_column: number(span.end.col()).saturating_add(1),
    }
}

/// Nodes of a block.
const BLOCK: usize = 1 << 12;

/// Collections in each other.
const MOST_LEVELS: usize = 128;

/// Nodes that all aliases together may stand for.
const MOST_EXPANDED: u64 = 1 << 20;

/// Characters of a text in a message.
const MOST_SHOWN: usize = 60;
