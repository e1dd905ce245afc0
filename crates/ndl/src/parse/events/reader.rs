//! Builds a tree from the events of the YAML parser.

use super::characters::Characters;
use super::syntax::{Broken, broken};
use super::{Data, Document, Span, Tag, shown};
use crate::parse::findings::Findings;
use crate::part::Value;
use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span as YamlSpan, Tag as YamlTag};
use std::borrow::Cow;
use std::collections::HashMap;

pub(super) struct Reader<'f, 's, 'a> {
    pub(super) findings: &'f mut Findings<'s>,
    document: Document<'a>,
    open: Vec<Open>,
    /// The children of all open collections, those of inner collections last.
    children: Vec<u32>,
    anchors: HashMap<usize, Anchored>,
    /// The nodes of anchors.
    expanded: u64,
}

/// A sequence or mapping that has not ended.
struct Open {
    mapping: bool,
    tag: Tag,
    anchor: usize,
    start: Span,
    /// The index of its first child.
    first: usize,
    weight: u64,
    height: usize,
}

/// The cost of a node when aliases are expanded: number of nodes, where long strings count as several, and levels.
#[derive(Clone, Copy)]
struct Anchored {
    node: u32,
    weight: u64,
    height: usize,
}

/// A syntax error that ends the parsing.
pub(super) struct Stop;

impl<'f, 's, 'a> Reader<'f, 's, 'a> {
    /// A reader of `text`, from which nodes can borrow.
    pub(super) fn new(text: &'a str, findings: &'f mut Findings<'s>) -> Self {
        Reader {
            findings,
            document: Document { text, ..Document::default() },
            open: Vec::new(),
            children: Vec::new(),
            anchors: HashMap::new(),
            expanded: 0,
        }
    }

    pub(super) fn read(mut self, text: &'a str) -> Result<Document<'a>, Stop> {
        let mut parser = Parser::new(Characters::of(text));
        // Positions count characters. In ASCII text they are also byte offsets.
        let ascii = Some(text).filter(|text| text.is_ascii());
        let mut documents = 0;
        while let Some(event) = parser.next_event() {
            let (event, span) = event.map_err(|error| self.syntax(text, &error))?;
            match event {
                Event::DocumentStart(_) => {
                    documents += 1;
                    if documents > 1 {
                        let finding = self.findings.error(
                            "ndl/document",
                            place(span),
                            "a second document, expected one document per file",
                        );
                        finding.hint("split the file at ---");
                        return Ok(self.document);
                    }
                }
                Event::Scalar(text, style, anchor, tag) => {
                    let from = span.start.index();
                    let weight = 1 + text.len() as u64 / TEXT_OF_A_NODE;
                    let span = place(span);
                    let tag = self.tag(tag.as_deref(), span);
                    let plain = style == ScalarStyle::Plain;
                    let data = match ascii.and_then(|source| source.get(from..from + text.len())) {
                        Some(same) if *same == *text => Data::Borrowed { span, plain, tag, text: same },
                        _ => match text {
                            Cow::Borrowed(text) => Data::Borrowed { span, plain, tag, text },
                            Cow::Owned(text) => Data::Owned { span, plain, tag, text: text.into() },
                        },
                    };
                    if matches!(tag, Tag::Seq | Tag::Map) {
                        self.findings.error("ndl/tag", span, "a scalar with the tag of a list or a map");
                    }
                    self.add(data, span, anchor, weight, 0)?;
                }
                Event::SequenceStart(anchor, tag) => {
                    let tag = self.tag(tag.as_deref(), place(span));
                    self.begin(false, anchor, tag, place(span))?;
                }
                Event::MappingStart(anchor, tag) => {
                    let tag = self.tag(tag.as_deref(), place(span));
                    self.begin(true, anchor, tag, place(span))?;
                }
                Event::SequenceEnd | Event::MappingEnd => self.end(place(span))?,
                Event::Alias(anchor) => self.alias(anchor, place(span))?,
                Event::StreamEnd => break,
                Event::Nothing | Event::StreamStart | Event::DocumentEnd => {}
            }
        }
        Ok(self.document)
    }

    /// Adds a value and all values inside it.
    pub(super) fn value(&mut self, value: &'a Value) -> Result<(), Stop> {
        match value {
            Value::Null => self.word("null"),
            Value::Bool(true) => self.word("true"),
            Value::Bool(false) => self.word("false"),
            Value::Number(number) => self.word(number),
            Value::Text(text) => self.text(text),
            Value::List(items) => {
                self.begin(false, 0, Tag::None, Span::default())?;
                items.iter().try_for_each(|item| self.value(item))?;
                self.end(Span::default())
            }
            Value::Map(entries) => {
                self.begin(true, 0, Tag::None, Span::default())?;
                for (name, value) in entries {
                    self.text(name)?;
                    self.value(value)?;
                }
                self.end(Span::default())
            }
        }
    }

    fn word(&mut self, text: &'a str) -> Result<(), Stop> {
        let span = Span::default();
        self.add(Data::Borrowed { span, plain: true, tag: Tag::None, text }, span, 0, 1, 0)
    }

    fn text(&mut self, text: &'a str) -> Result<(), Stop> {
        let span = Span::default();
        self.add(Data::Borrowed { span, plain: false, tag: Tag::None, text }, span, 0, 1, 0)
    }

    /// The document, after the last event.
    pub(super) fn finish(self) -> Document<'a> {
        self.document
    }

    /// Whether the innermost open collection is a mapping. `None` if none is open.
    pub(super) fn is_in_mapping(&self) -> Option<bool> {
        self.open.last().map(|open| open.mapping)
    }

    pub(super) fn begin(&mut self, mapping: bool, anchor: usize, tag: Tag, start: Span) -> Result<(), Stop> {
        if self.open.len() >= MAX_LEVELS {
            return Err(self.too_deep(start));
        }
        let first = self.children.len();
        self.open.push(Open { mapping, tag, anchor, start, first, weight: 1, height: 0 });
        Ok(())
    }

    /// Ends the innermost open collection.
    pub(super) fn end(&mut self, end: Span) -> Result<(), Stop> {
        let Some(open) = self.open.pop() else { return Ok(()) };
        let end_column = if end.line == open.start.line { end.column } else { Span::OPEN_END };
        let span = Span { end_column, ..open.start };
        let expected = if open.mapping { Tag::Map } else { Tag::Seq };
        if open.tag != Tag::None && open.tag != expected {
            self.findings.error("ndl/tag", span, "a list or a map with the tag of another kind");
        }
        let data = match open.mapping {
            true => Data::Mapping { span, entries: self.entries(open.first) },
            false => self.sequence(open.first, span),
        };
        self.children.truncate(open.first);
        self.add(data, span, open.anchor, open.weight, open.height + 1)
    }

    /// The sequence of the children from `first` on.
    fn sequence(&mut self, first: usize, span: Span) -> Data<'a> {
        let items = self.children.get(first..).unwrap_or_default();
        // A node with an anchor may be referred to.
        let may_drop_nodes = self.anchors.is_empty() && span.end_column != Span::OPEN_END;
        match may_drop_nodes.then(|| self.document.words(items, span.line)).flatten() {
            Some(words) => {
                self.document.truncate(self.document.len() - words.len());
                self.findings.unspend(words.len() as u64 * (NODE - WORD));
                Data::Words { span, words }
            }
            None => Data::Sequence { span, items: items.into() },
        }
    }

    /// Adds a node to the innermost open collection.
    pub(super) fn add(
        &mut self,
        data: Data<'a>,
        span: Span,
        anchor: usize,
        weight: u64,
        height: usize,
    ) -> Result<(), Stop> {
        if !self.findings.spend(NODE) {
            return Err(Stop);
        }
        let Some(node) = self.document.push(data) else {
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
                self.children.push(node);
                open.weight = open.weight.saturating_add(weight);
                open.height = open.height.max(height);
            }
            None => self.document.root = Some(node),
        }
    }

    fn alias(&mut self, anchor: usize, span: Span) -> Result<(), Stop> {
        let Some(target) = self.anchors.get(&anchor).copied() else {
            self.findings.error("ndl/alias", span, "an alias inside the node that it refers to");
            return Err(Stop);
        };
        self.expanded = self.expanded.saturating_add(target.weight);
        if self.expanded > MAX_EXPANDED {
            let message = format!("aliases expand to more than {MAX_EXPANDED} nodes");
            let hint = format!("a long text counts as a node for every {TEXT_OF_A_NODE} bytes");
            self.findings.error("ndl/alias", span, message).hint(hint);
            return Err(Stop);
        }
        if self.open.len() + target.height > MAX_LEVELS {
            return Err(self.too_deep(span));
        }
        self.attach(target);
        Ok(())
    }

    /// Makes pairs of keys and values from the children from `first` on. Keys that are not scalars and duplicate keys
    /// are dropped, with an error.
    fn entries(&mut self, first: usize) -> Box<[(u32, u32)]> {
        let children = self.children.get(first..).unwrap_or_default();
        let mut entries = Vec::with_capacity(children.len() / 2);
        // Few keys are compared faster than they are hashed.
        let is_hashed = children.len() > 2 * HASHED;
        let mut lines: HashMap<&str, u32> =
            HashMap::with_capacity(if is_hashed { children.len() / 2 } else { 0 });
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
                    self.findings.error("ndl/merge-key", span, "a merge key, which is not part of YAML 1.2");
                finding.hint("write all entries, or put the name in quotes: \"<<\"");
                continue;
            }
            let line_of = |(known, _): &(u32, u32)| {
                let known = self.document.node(*known)?;
                (known.scalar()?.text == scalar.text).then(|| known.span().line)
            };
            let first = match is_hashed {
                true => lines.get(scalar.text).copied(),
                false => entries.iter().find_map(line_of),
            };
            match first {
                Some(_) if self.findings.is_full() => self.findings.leave_out(),
                Some(first) => {
                    let name = shown(scalar.text);
                    let message =
                        format!("duplicate key {name} in a map, on line {first} and line {}", span.line);
                    self.findings.error("ndl/duplicate-key", span, message);
                }
                None => {
                    if is_hashed {
                        lines.insert(scalar.text, span.line);
                    }
                    entries.push((key, value));
                }
            }
        }
        entries.into()
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
                let message = format!("unknown tag {}", shown(&tag.to_string()));
                let finding = self.findings.error("ndl/tag", span, message);
                finding.hint("expected one of !!str !!int !!float !!null !!bool !!binary !!seq !!map");
                Tag::None
            }
        }
    }

    fn too_deep(&mut self, span: Span) -> Stop {
        self.findings.error(
            "ndl/depth",
            span,
            format!("lists and maps nested more than {MAX_LEVELS} levels deep"),
        );
        Stop
    }

    fn syntax(&mut self, text: &str, error: &ScanError) -> Stop {
        let span = place(YamlSpan::empty(*error.marker()));
        // The parser counts open brackets before it reports any of them as an event.
        if error.info().starts_with("recursion limit") {
            return self.too_deep(span);
        }
        let open: Vec<Span> = self.open.iter().map(|open| open.start).collect();
        let Broken { line, column, message, hint } = broken(text, span, error.info(), &open);
        let span = Span { line, column, end_column: column.saturating_add(1) };
        self.findings.error("ndl/yaml", span, message).maybe_hint(hint);
        Stop
    }
}

fn place(span: YamlSpan) -> Span {
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let line = number(span.start.line()).max(1);
    let end_column = match number(span.end.line()) == line {
        true => number(span.end.col()).saturating_add(1),
        false => Span::OPEN_END,
    };
    Span { line, column: number(span.start.col()).saturating_add(1), end_column }
}

/// The memory of a node, including its place among its siblings and the number that it may become.
const NODE: u64 = 64;

/// The memory of a node without a separate place.
const WORD: u64 = 40;

/// The number of keys of a map above which they are hashed to find duplicates.
const HASHED: usize = 8;

/// The maximum nesting of collections.
const MAX_LEVELS: usize = 128;

/// The maximum number of nodes that all aliases together expand to.
const MAX_EXPANDED: u64 = 1 << 20;

/// The number of bytes of a string that count as a node when aliases are expanded.
const TEXT_OF_A_NODE: u64 = 64;
