//! The XML in which CF publishes its tables: a root, fields that describe the table, and an element for each name.
//!
//! The file is read in one pass, without building a tree. At any time only one element below the root is kept, with
//! only those of its fields that were requested.
//!
//! Spec: CF 1.13, Appendix B

use hyperslab_core::{Error, ErrorKind, Result};
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

/// The maximum size of a file, seven times that of the largest file that CF has published.
const MAX_LEN: usize = 32 << 20;
/// The maximum number of letters of a file that a message repeats.
const MAX_SHOWN: usize = 80;
/// The maximum number of fields of an element. An alias of the published tables has at most two.
const MAX_FIELDS: usize = 100;

/// A table that is being read.
pub(super) struct Document<'a> {
    text: &'a str,
    reader: Reader<&'a [u8]>,
    root: String,
    is_closed: bool,
    counted: Counted,
}

/// The number of line ends before a byte.
#[derive(Clone, Copy, Default)]
struct Counted {
    to: usize,
    lines: usize,
}

/// An element below the root.
pub(super) struct Element {
    pub(super) name: String,
    /// The line of its start tag.
    pub(super) line: usize,
    pub(super) id: Option<String>,
    /// Its text, without that of its fields.
    pub(super) text: String,
    /// The fields that were requested, in their order.
    pub(super) fields: Vec<Field>,
}

/// An element within an element.
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) text: String,
}

impl<'a> Document<'a> {
    /// Reads up to the start tag of the root.
    pub(super) fn open(xml: &'a [u8]) -> Result<Document<'a>> {
        if xml.len() > MAX_LEN {
            let detail = format!("{} bytes, expected a table of at most {MAX_LEN}", xml.len());
            return Err(Error::new(ErrorKind::LimitExceeded, detail));
        }
        let text = str::from_utf8(xml).map_err(|error| {
            let valid = xml.get(..error.valid_up_to()).unwrap_or_default();
            let line = 1 + valid.iter().filter(|byte| **byte == b'\n').count();
            at(line, "a byte that is no UTF-8, expected a table in UTF-8")
        })?;
        // A byte order mark is neither text nor markup.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut reader = Reader::from_str(text);
        reader.config_mut().expand_empty_elements = true;
        let mut document =
            Document { text, reader, root: String::new(), is_closed: false, counted: Counted::default() };
        loop {
            match document.event()? {
                Event::Start(tag) => {
                    document.root = tag.name().0.to_owned();
                    return Ok(document);
                }
                Event::Eof => return Err(document.fault("the file ends, expected the root of a table")),
                other => document.between(&other, "before the root")?,
            }
        }
    }

    /// The name of the root.
    pub(super) fn root(&self) -> &str {
        &self.root
    }

    /// The next element below the root, with those of its fields that are in `wanted`. After the last one, reads to the
    /// end of the file.
    pub(super) fn next(&mut self, wanted: &[&'static str]) -> Result<Option<Element>> {
        while !self.is_closed {
            match self.event()? {
                Event::Start(tag) => return self.element(&tag, wanted).map(Some),
                Event::End(_) => self.is_closed = true,
                Event::Eof => return Err(self.ends_within(&self.root)),
                other => self.between(&other, "between elements")?,
            }
        }
        loop {
            match self.event()? {
                Event::Eof => return Ok(None),
                Event::Start(tag) => {
                    return Err(self.fault(&format!(
                        "<{}> behind the root, expected nothing more",
                        shown(tag.name().0)
                    )));
                }
                other => self.between(&other, "behind the root")?,
            }
        }
    }

    /// Reads to the end of an element.
    fn element(&mut self, tag: &BytesStart<'_>, wanted: &[&'static str]) -> Result<Element> {
        let line = self.line();
        let name = tag.name().0.to_owned();
        let id = self.attribute(tag, "id")?;
        let mut element = Element { name, line, id, text: String::new(), fields: Vec::new() };
        // The number of open elements, including this one. Only the direct fields are read.
        let mut depth = 1_usize;
        let mut is_wanted = false;
        loop {
            let event = self.event()?;
            match &event {
                Event::Start(tag) => {
                    let field = wanted.iter().find(|field| **field == tag.name().0);
                    if depth == 1 {
                        is_wanted = field.is_some();
                        element.fields.extend(field.map(|name| Field { name, text: String::new() }));
                    }
                    if element.fields.len() > MAX_FIELDS {
                        let name = shown(&element.name);
                        return Err(
                            self.fault(&format!("over {MAX_FIELDS} fields of <{name}>, expected fewer"))
                        );
                    }
                    depth += 1;
                    continue;
                }
                Event::End(_) if depth == 1 => return Ok(element),
                Event::End(_) => {
                    depth -= 1;
                    continue;
                }
                Event::Eof => return Err(self.ends_within(&element.name)),
                _ => {}
            }
            let text = match depth {
                1 => Some(&mut element.text),
                2 if is_wanted => element.fields.last_mut().map(|field| &mut field.text),
                _ => None,
            };
            match event {
                Event::Text(part) => text.into_iter().for_each(|text| text.push_str(&part.xml10_content())),
                Event::CData(part) => text.into_iter().for_each(|text| text.push_str(&part.xml10_content())),
                Event::GeneralRef(reference) => {
                    let letter = self.letter(&reference)?;
                    text.into_iter().for_each(|text| text.push(letter));
                }
                Event::DocType(_) => return Err(self.doctype()),
                _ => {}
            }
        }
    }

    fn event(&mut self) -> Result<Event<'a>> {
        self.reader.read_event().map_err(|error| {
            let position = usize::try_from(self.reader.error_position()).unwrap_or(usize::MAX);
            let lines = self.text.as_bytes().iter().take(position).filter(|byte| **byte == b'\n').count();
            // The message repeats names from the file, which may have any length.
            at(1 + lines, &format!("{}, expected well-formed XML", shown(&error.to_string())))
        })
    }

    /// Accepts what may appear between elements: white space, comments and instructions.
    fn between(&self, event: &Event<'_>, place: &str) -> Result<()> {
        let found = match event {
            Event::Text(text) if text.chars().all(|letter| letter.is_ascii_whitespace()) => return Ok(()),
            Event::Comment(_) | Event::PI(_) | Event::Decl(_) => return Ok(()),
            Event::DocType(_) => return Err(self.doctype()),
            Event::Text(text) => shown(text.trim()),
            _ => "text".to_owned(),
        };
        Err(self.fault(&format!("'{found}' {place}, expected an element")))
    }

    /// The letter that a reference represents. Without a document type, a file defines no references of its own.
    fn letter(&self, reference: &BytesRef<'_>) -> Result<char> {
        let letter = match &**reference {
            "amp" => Some('&'),
            "lt" => Some('<'),
            "gt" => Some('>'),
            "quot" => Some('"'),
            "apos" => Some('\''),
            _ => reference.resolve_char_ref().ok().flatten(),
        };
        letter.ok_or_else(|| {
            let found = shown(reference);
            self.fault(&format!("'&{found};', expected a letter or one of &amp; &lt; &gt; &quot; &apos;"))
        })
    }

    fn attribute(&self, tag: &BytesStart<'_>, name: &str) -> Result<Option<String>> {
        let bad = |error: String| {
            let tag = shown(tag.name().0);
            self.fault(&format!(
                "{} in <{tag}>, expected attributes of the form name=\"value\"",
                shown(&error)
            ))
        };
        let found = tag.try_get_attribute(name).map_err(|error| bad(error.to_string()))?;
        let value =
            found.map(|found| found.normalized_value(XmlVersion::Implicit1_0).map(|id| id.into_owned()));
        value.transpose().map_err(|error| bad(error.to_string()))
    }

    /// The line of the last element read.
    fn line(&mut self) -> usize {
        let to = usize::try_from(self.reader.buffer_position()).unwrap_or(usize::MAX);
        let Counted { to: from, lines } = self.counted;
        let since = self.text.as_bytes().get(from..to).unwrap_or_default();
        let lines = lines + since.iter().filter(|byte| **byte == b'\n').count();
        self.counted = Counted { to, lines };
        1 + lines
    }

    fn doctype(&self) -> Error {
        self.fault("<!DOCTYPE>, expected a table without a document type")
    }

    fn ends_within(&self, name: &str) -> Error {
        let name = shown(name);
        self.fault(&format!("the file ends within <{name}>, expected </{name}>"))
    }

    /// An error at the current position.
    pub(super) fn fault(&self, detail: &str) -> Error {
        let to = usize::try_from(self.reader.buffer_position()).unwrap_or(usize::MAX);
        at(1 + self.text.as_bytes().iter().take(to).filter(|byte| **byte == b'\n').count(), detail)
    }
}

impl Element {
    /// The name that the element describes: its `id`.
    pub(super) fn id(&self) -> Result<&str> {
        let tag = shown(&self.name);
        let id = self
            .id
            .as_deref()
            .map(str::trim)
            .ok_or_else(|| self.fault(&format!("<{tag}> without an id, expected <{tag} id=\"name\">")))?;
        self.name(id)
    }

    /// A text that must be a name. Versions of the standard name table before 93 contain some with spaces, by mistake.
    pub(super) fn name<'t>(&self, text: &'t str) -> Result<&'t str> {
        let text = text.trim();
        let is_name = !text.is_empty() && !text.contains(char::is_control);
        let bad = || self.fault(&format!("'{}' in <{}>, expected a name", shown(text), shown(&self.name)));
        if is_name { Ok(text) } else { Err(bad()) }
    }

    /// The texts of a field that may occur more than once.
    pub(super) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.fields.iter().filter(move |field| field.name == name).map(|field| field.text.trim())
    }

    /// An error at the start tag.
    pub(super) fn fault(&self, detail: &str) -> Error {
        at(self.line, detail)
    }
}

/// A text in which all white space between words is replaced by one space.
pub(super) fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text of the file in the form used in messages: on one line, and no longer than a line.
pub(super) fn shown(text: &str) -> String {
    let mut letters = text.chars().flat_map(|letter| {
        let is_plain = !letter.is_control();
        is_plain.then_some(letter).into_iter().chain(letter.escape_default().filter(move |_| !is_plain))
    });
    let mut shown: String = letters.by_ref().take(MAX_SHOWN).collect();
    if letters.next().is_some() {
        shown.push('…');
    }
    shown
}

fn at(line: usize, detail: &str) -> Error {
    Error::malformed(format!("line {line}: {detail}"))
}
