//! Changes in text form, as on the command line.

use super::{Change, Consolidated, Edit, Editing, Vacuumed, appended, npy};
use crate::select::{Select, Selected};
use crate::source::Item;
use hyperslab_core::{Error, ErrorKind, Result};
use hyperslab_model::{Attribute, Column, Node, NodePath, Shape};
use std::path::Path;

/// The kind of change that a text requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// `PATH@NAME=VALUE` sets an attribute. The value is written as in a document.
    Set,
    /// `PATH@NAME` removes an attribute.
    Remove,
    /// `STORE` or `STORE:/PATH`, a document or any other store: the cells of its sparse arrays are added to the sparse
    /// arrays at the same paths, and its arrays are appended to the arrays at the same paths.
    Append,
    /// `PATH:SELECTION=FILE` writes elements from a NumPy file.
    Write,
    /// `PATH:CONDITION` removes the cells that fulfil the condition.
    RemoveCells,
    /// `PATH=TYPE` adds an array; the type is a type, or a whole array as in a document.
    AddAttribute,
    /// `PATH` removes an array.
    DropAttribute,
    /// `PATH=NAME` renames an object within its group.
    Rename,
    /// `PATH=VALUE,…` appends values to an enumeration.
    ExtendEnumeration,
    /// `PATH:DIM=FIRST..LAST,…` lets dimensions grow.
    Grow,
    /// `PATH=URI` adds a member to a group.
    AddMember,
    /// `PATH` removes a member from a group.
    RemoveMember,
    /// `fragments`, `purge`, `commits`, `footers` or `metadata`, optionally after `PATH:`, consolidates many into one.
    Consolidate,
    /// `replaced` or `all`, optionally after `PATH:`, removes what consolidation has replaced.
    Vacuum,
}

impl Editing {
    /// Plans the change that a text describes, to be made after all others.
    ///
    /// # Errors
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for a text of any other form; if a change cannot
    /// be made.
    pub fn plan_text(&mut self, action: Action, text: &str) -> Result<&[Change]> {
        let before = self.changes.len();
        let unseen = |error: Error| match error.kind() == ErrorKind::NotFound && before > 0 {
            true => error.with_hint(
                "if an earlier change of this command creates it, make this change in a separate command",
            ),
            false => error,
        };
        for edit in self.edits(action, text).map_err(unseen)? {
            self.plan(&edit).map_err(unseen)?;
        }
        Ok(self.changes.get(before..).unwrap_or_default())
    }

    fn edits(&self, action: Action, text: &str) -> Result<Vec<Edit>> {
        let one = |edit| Ok(vec![edit]);
        match action {
            Action::Set => {
                let form = "PATH@NAME=VALUE";
                let (path, rest) = split(text, '@', form)?;
                let (name, value) = split(rest, '=', form)?;
                let (object, value) = (self.path(path)?, Box::new(value_of(value)?));
                one(Edit::SetAttribute { object, name: name.to_owned(), value })
            }
            Action::Remove => {
                let (path, name) = split(text, '@', "PATH@NAME")?;
                one(Edit::RemoveAttribute { object: self.path(path)?, name: name.to_owned() })
            }
            Action::Append => appended::edits(self, text),
            Action::Write => self.elements(text).map(|edit| vec![edit]),
            Action::RemoveCells => {
                let (group, condition) = self.about(text)?;
                one(Edit::RemoveCells { group, condition: condition.to_owned() })
            }
            Action::AddAttribute => {
                let (path, definition) = split(text, '=', "PATH=TYPE")?;
                let definition = hyperslab_ndl::ndarray(definition);
                let definition =
                    definition.map_err(|error| error.map_detail(|detail| format!("{text}: {detail}")))?;
                one(Edit::AddArray { array: self.path(path)?, definition: Box::new(definition) })
            }
            Action::DropAttribute => one(Edit::RemoveArray { array: self.path(text)? }),
            Action::Rename => {
                let (path, name) = split(text, '=', "PATH=NAME")?;
                one(Edit::Rename { object: self.member(path)?, name: name.to_owned() })
            }
            Action::ExtendEnumeration => {
                let (path, values) = split(text, '=', "PATH=VALUE,…")?;
                one(Edit::ExtendEnumeration { array: self.path(path)?, values: list(values)? })
            }
            Action::Grow => {
                let (group, ranges) = self.about(text)?;
                let ranges = list(ranges)?.iter().map(|range| range_of(range)).collect::<Result<_>>()?;
                one(Edit::Grow { group, ranges })
            }
            Action::AddMember => {
                let (path, uri) = split(text, '=', "PATH=URI")?;
                one(Edit::AddMember { member: self.member(path)?, uri: uri.to_owned() })
            }
            Action::RemoveMember => one(Edit::RemoveMember { member: self.member(text)? }),
            Action::Consolidate => {
                let (object, word) = self.about(text)?;
                one(Edit::Consolidate { object, what: of_word(word, &Consolidated::ALL)? })
            }
            Action::Vacuum => {
                let (object, word) = self.about(text)?;
                one(Edit::Vacuum { object, what: of_word(word, &Vacuumed::ALL)? })
            }
        }
    }

    /// The object that a text names, at its path before all changes.
    pub(super) fn path(&self, text: &str) -> Result<NodePath> {
        self.named(text).map(|path| self.before(path))
    }

    /// As [`path`](Self::path), for changes of a group that concern the name of a member.
    fn member(&self, text: &str) -> Result<NodePath> {
        let path = self.named(text)?;
        match path.parent() {
            Some(group) => Ok(self.before(group).child(path.name())),
            None => Ok(path),
        }
    }

    /// The path of an object before groups on its path were renamed; the last renaming is undone first.
    fn before(&self, mut path: NodePath) -> NodePath {
        for (new, old) in self.renamed.iter().rev() {
            let Some(below) = path.relative_to(new) else { continue };
            path = below
                .split('/')
                .filter(|name| !name.is_empty())
                .fold(old.clone(), |path, name| path.child(name));
        }
        path
    }

    /// The path that a text names. One that does not begin with a slash begins at the base.
    fn named(&self, text: &str) -> Result<NodePath> {
        match (text.is_empty(), text.starts_with('/'), self.base.is_root()) {
            (true, ..) => Ok(self.base.clone()),
            (_, true, _) => NodePath::new(text),
            (_, false, true) => NodePath::new(&format!("/{text}")),
            (_, false, false) => NodePath::new(&format!("{}/{text}", self.base)),
        }
    }

    /// The object to which a text refers, which may be given before a colon, and the rest.
    fn about<'t>(&self, text: &'t str) -> Result<(NodePath, &'t str)> {
        match text.starts_with('/').then(|| text.split_once(':')).flatten() {
            Some((path, rest)) => Ok((self.path(path)?, rest)),
            None => Ok((self.base.clone(), text)),
        }
    }

    /// The change that sets elements of an array from a file.
    fn elements(&self, text: &str) -> Result<Edit> {
        let form = "PATH:SELECTION=FILE.npy";
        let (place, file) = text.rsplit_once('=').ok_or_else(|| other(text, form))?;
        let (path, selection) = place.split_once(':').unwrap_or((place, ""));
        let array = self.path(path)?;
        let in_array = |error: Error| error.in_object(&array);
        let entry = self.source.find(&array)?;
        let Item::Array { datatype: Some(datatype), .. } = &entry.item else {
            return Err(in_array(Error::invalid("is not an array")));
        };
        let shape = match self.source.load(&entry.handle)? {
            Node::Ndarray(node) => node.shape,
            _ => Shape::Unsaid,
        };
        let selections: Vec<Select> = match selection.is_empty() {
            true => Vec::new(),
            false => vec![selection.parse().map_err(in_array)?],
        };
        let selected = Selected::new(&*self.source, &selections, &shape).map_err(in_array)?;
        let region = selected.as_region().ok_or_else(|| {
            in_array(Error::unsupported("a selection of positions that are not consecutive"))
        })?;
        let values = npy::read(Path::new(file), datatype, &region.count, self.options.limits.allocation)
            .map_err(|error| error.in_file(file))?;
        let elements = Column { name: array.name().to_owned(), ..values };
        Ok(Edit::WriteElements { array, region, elements })
    }
}

/// The value that a word stands for.
fn of_word<T: Copy>(word: &str, known: &[(&str, T)]) -> Result<T> {
    let found = known.iter().find(|(own, _)| *own == word.trim());
    found.map(|(_, what)| *what).ok_or_else(|| {
        let words: Vec<&str> = known.iter().map(|(own, _)| *own).collect();
        Error::invalid(format!("{word:?}, expected one of {}", words.join(", ")))
    })
}

/// The two parts of a text around the first occurrence of a character.
fn split<'t>(text: &'t str, at: char, form: &str) -> Result<(&'t str, &'t str)> {
    text.split_once(at).ok_or_else(|| other(text, form))
}

fn other(text: &str, form: &str) -> Error {
    Error::invalid(format!("{text:?}, expected {form}"))
}

/// The value of an attribute, written as in a document. A text that is not such a value is itself the value, as a
/// string: `time: mean`.
fn value_of(text: &str) -> Result<Attribute> {
    match hyperslab_ndl::attribute(text) {
        Err(error) if text.trim_start().starts_with(['{', '[', '"', '\'']) || text.trim().is_empty() => {
            Err(error.map_detail(|detail| format!("{text}: {detail}")))
        }
        Err(_) => hyperslab_ndl::attribute(&quoted(text)),
        read => read,
    }
}

/// A text in quotes, as in a document.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Items separated by commas. Items that contain a comma are in quotes, and the whole list may be in square brackets.
fn list(text: &str) -> Result<Vec<String>> {
    let within = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    let (mut items, mut item, mut quote) = (Vec::new(), String::new(), None);
    for c in within.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => item.push(c),
            None if matches!(c, '"' | '\'') => quote = Some(c),
            None if c == ',' => items.push(std::mem::take(&mut item)),
            None => item.push(c),
        }
    }
    items.push(item);
    let items: Vec<String> = items.iter().map(|item| item.trim().to_owned()).collect();
    match quote.is_none() && items.iter().all(|item| !item.is_empty()) {
        true => Ok(items),
        false => Err(other(text, "items between commas")),
    }
}

/// The range of a dimension.
fn range_of(text: &str) -> Result<(String, String, String)> {
    let form = "DIM=FIRST..LAST";
    let (name, range) = split(text, '=', form)?;
    let (low, high) = range.split_once("..").ok_or_else(|| other(text, form))?;
    Ok((name.trim().to_owned(), low.trim().to_owned(), high.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_have_quotes_and_brackets() {
        let read = |text: &str| list(text).ok();
        let some = |items: &[&str]| Some(items.iter().map(|item| (*item).to_owned()).collect::<Vec<_>>());
        assert_eq!(read("a, b"), some(&["a", "b"]));
        assert_eq!(read("[\"a, b\", 'c']"), some(&["a, b", "c"]));
        assert_eq!(read("a,,b"), None);
        assert_eq!(read("\"a"), None);
        assert_eq!(range_of("x=0..9").unwrap(), ("x".into(), "0".into(), "9".into()));
        assert!(range_of("x=9").is_err());
    }

    #[test]
    fn values_of_attributes_need_no_quotes() {
        for (text, datatype) in
            [("m s-1", "string"), ("time: mean", "string"), ("\"3\"", "string"), ("0.5", "float64")]
        {
            assert_eq!(value_of(text).unwrap().datatype.to_string(), datatype, "{text}");
        }
        assert!(value_of("{type: int8}").is_err());
        assert!(value_of("").is_err());
    }
}
