//! State that all parts of the parser share.

use super::ParseOptions;
use super::events::{Key, Mapping, Node, Span, shown};
use super::findings::Findings;
use super::scalar::integer;
use super::storage;
use super::value::Selections;
use hyperslab_model::{Datatype, Directive, EXTRA, Extent, NodePath, Reference};
use std::collections::HashMap;
use std::sync::Arc;

/// The state of parsing one document.
pub(super) struct Context<'t, 's> {
    pub(super) findings: Findings<'s>,
    pub(super) options: ParseOptions,
    /// Named datatypes by path.
    pub(super) types: HashMap<NodePath, NamedType<'t>>,
    /// The lengths of dimensions.
    pub(super) dimcoords: HashMap<NodePath, Extent>,
    /// Paths of dimensions by name, for each group.
    pub(super) resolved: HashMap<(NodePath, &'t str), Option<NodePath>>,
    /// The type of the last object, which the next ones often share.
    last_type: Arc<Datatype>,
    /// The number of parts of the current type.
    pub(super) type_parts: u64,
    /// Named types that are being read, one within the other.
    pub(super) type_levels: usize,
    /// The kinds of selections that references of the last type allow.
    pub(super) selections: Selections,
    /// References that were read. They are checked when all objects are known.
    pub(super) references: Vec<(Span, Reference)>,
    /// Whether the text describes a NetCDF file. `None` if the text has no head.
    pub(super) netcdf: Option<bool>,
    /// Reasons why no file can be made.
    pub(super) refusals: Findings<'s>,
    /// The number of padding bytes that all values may add, and how many of them remain.
    pub(super) most_padding: usize,
    pub(super) padding: usize,
}

/// A named datatype, which is read when it is first used.
#[derive(Clone)]
pub(super) enum NamedType<'t> {
    Unread(Node<'t>),
    Reading,
    /// The type, its number of parts, and the kinds of selections that its references allow.
    Read(Option<Arc<Datatype>>, u64, Selections),
}

impl<'t, 's> Context<'t, 's> {
    pub(super) fn new(findings: Findings<'s>, options: ParseOptions, netcdf: Option<bool>) -> Self {
        let most_padding = findings.most_padding();
        Context {
            refusals: findings.another(),
            findings,
            options,
            netcdf,
            types: HashMap::new(),
            dimcoords: HashMap::new(),
            resolved: HashMap::new(),
            last_type: Arc::new(Datatype::Bool),
            type_parts: 0,
            type_levels: 0,
            selections: Selections::default(),
            references: Vec::new(),
            most_padding,
            padding: most_padding,
        }
    }

    /// Reports the use of an extension if only pure NDL is allowed.
    pub(super) fn extension(&mut self, span: Span, name: &str) {
        if self.options.pure {
            self.findings.error(
                "ndl/extension",
                span,
                format!("{name} is an extension, NDL 0.6.1 does not define it"),
            );
        }
    }

    /// The datatype in shared memory: that of the last object if it is equal.
    pub(super) fn sharing(&mut self, datatype: Datatype) -> Arc<Datatype> {
        if *self.last_type != datatype {
            self.last_type = Arc::new(datatype);
        }
        Arc::clone(&self.last_type)
    }

    /// Parses a part that is parsed again later, and drops its findings, so that each is reported once.
    pub(super) fn quietly<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.findings.silence(true);
        let found = read(self);
        self.findings.silence(before);
        found
    }

    /// Keys of other programs in an entity, which begin with `x-`.
    pub(super) fn extra(
        &mut self,
        entries: impl Iterator<Item = (Key<'t>, Node<'t>)>,
    ) -> Vec<(String, Directive)> {
        let extra = entries.filter(|(key, _)| key.name.starts_with(EXTRA) && key.name != "x-error");
        let extra = extra.map(|(key, node)| self.directive(node).map(|value| (key.name.to_string(), value)));
        extra.collect::<Vec<_>>().into_iter().flatten().collect()
    }

    /// A map. `None` for null; anything else is an error.
    pub(super) fn map(&mut self, node: Node<'t>, name: &str) -> Option<Mapping<'t>> {
        match node.mapping() {
            Some(mapping) => Some(mapping),
            None if node.is_null() => None,
            None => {
                let message = format!("{} for {name}, expected a map", node.describe());
                self.findings.error("ndl/structure", node.span(), message);
                None
            }
        }
    }

    /// Reports a key that exists neither in a file nor in a group. Under a name that other tools use for a section, a
    /// map is probably the content of the whole document; other values may belong to another program.
    pub(super) fn unknown_section(&mut self, key: Key<'_>, node: Node<'t>, place: &str, known: &[&str]) {
        let foreign = FOREIGN_SECTIONS.iter().find(|(name, _)| *name == key.name);
        match foreign.filter(|_| node.mapping().is_some()) {
            Some((_, hint)) => {
                let message = format!("unknown key {} in {place}", shown(key.name));
                self.findings.error("ndl/unknown-key", key.span, message).hint(*hint);
            }
            None => self.unknown_key(key, place, known),
        }
    }

    /// Reports an unknown key. Keys of other programs, which begin with `x-`, are kept by objects with a name.
    pub(super) fn unknown_key(&mut self, key: Key<'_>, place: &str, known: &[&str]) {
        if key.name.starts_with(EXTRA) {
            if !KEEPERS.contains(&place) {
                let message = format!("the key {} in {place} is not preserved", shown(key.name));
                self.findings.note("ndl/unknown-key", key.span, message);
            }
            return;
        }
        if self.findings.is_full() {
            self.findings.warning("ndl/unknown-key", key.span, "");
            return;
        }
        let message = format!("unknown key {} in {place}", shown(key.name));
        let hint = match (place, key.name) {
            ("a file" | "a group", "shape" | "type" | "size" | "value") => {
                "indent it further: it belongs to a member".into()
            }
            ("an ndarray" | "a dimcoord", name) if ATTRIBUTES.contains(&name) => {
                format!("it belongs in attributes: {{{name}: …}}")
            }
            // A similar key of the object itself is more probable, unless the storage has exactly this one.
            ("an ndarray" | "a dimcoord", name)
                if let Some(right) = storage::near(name)
                    && (right == name || nearest(name, known).is_none()) =>
            {
                match right == name {
                    true => format!("it belongs in storage: {{{right}: …}}"),
                    false => format!("did you mean {right}? It belongs in storage: {{{right}: …}}"),
                }
            }
            _ => suggest(key.name, known),
        };
        self.findings.warning("ndl/unknown-key", key.span, message).hint(hint);
    }

    /// Where to report a missing key: at a key that is probably a misspelling of it, otherwise at the beginning of
    /// the map.
    pub(super) fn instead(&self, node: Node<'t>, key: &str) -> (Span, Option<String>) {
        let similar = |name: &str| is_near(name, key, distance(&name.to_lowercase(), key));
        let keys = node.mapping().map(Mapping::iter).into_iter().flatten().map(|(found, _)| found);
        match keys.filter(|found| found.name != key).find(|found| similar(found.name)) {
            Some(found) => (found.span, Some(format!("did you mean {key}?"))),
            None => (node.span(), None),
        }
    }

    /// A non-negative integer.
    pub(super) fn count<T: TryFrom<i128>>(&mut self, node: Node<'_>, name: &str) -> Option<T> {
        let value = node.scalar().filter(|scalar| scalar.is_plain()).and_then(|scalar| integer(scalar.text));
        if let Some(value) = value.filter(|value| *value >= 0)
            && let Ok(value) = T::try_from(value)
        {
            return Some(value);
        }
        let expected = match value {
            Some(0..) => "a smaller integer",
            _ => "an integer from 0",
        };
        let message = format!("{} for {name}, expected {expected}", node.describe());
        self.findings.error("ndl/number", node.span(), message);
        None
    }

    /// A list of non-negative integers.
    pub(super) fn counts(&mut self, node: Node<'_>, name: &str) -> Option<Vec<u64>> {
        let items = self.list(node, name)?;
        let counts: Vec<Option<u64>> = items.iter().map(|item| self.count(item, name)).collect();
        counts.into_iter().collect()
    }

    /// A list of positive integers.
    pub(super) fn sizes(&mut self, node: Node<'_>, name: &str) -> Option<Vec<u64>> {
        let sizes = self.counts(node, name)?;
        if sizes.contains(&0) {
            self.findings.error(
                "ndl/number",
                node.span(),
                format!("0 for {name}, expected positive integers"),
            );
            return None;
        }
        Some(sizes)
    }

    pub(super) fn list<'n>(&mut self, node: Node<'n>, name: &str) -> Option<super::events::Sequence<'n>> {
        if let super::events::View::Sequence(items) = node.view() {
            return Some(items);
        }
        let message = format!("{} for {name}, expected a list", node.describe());
        self.findings.error("ndl/structure", node.span(), message);
        None
    }

    pub(super) fn text(&mut self, node: Node<'t>, name: &str) -> Option<&'t str> {
        if let Some(scalar) = node.scalar().filter(|scalar| !scalar.is_null()) {
            return Some(scalar.text);
        }
        let message = format!("{} for {name}, expected text", node.describe());
        self.findings.error("ndl/structure", node.span(), message);
        None
    }

    /// One of several keywords.
    pub(super) fn word<T: Copy>(&mut self, node: Node<'t>, name: &str, words: &[(&str, T)]) -> Option<T> {
        let text = self.text(node, name)?;
        if let Some((_, value)) = words.iter().find(|(word, _)| *word == text) {
            return Some(*value);
        }
        let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let message = format!("unknown {} {}", name.trim_start_matches("the "), shown(text));
        self.findings.error("ndl/storage", node.span(), message).maybe_hint(Some(suggest(text, &known)));
        None
    }

    /// An absolute path.
    pub(super) fn path(&mut self, text: &str, span: Span) -> Option<NodePath> {
        match NodePath::new(text) {
            Ok(path) if path.as_str() == text => Some(path),
            _ => {
                let message = format!("the path {}, expected one like /group/name", shown(text));
                let parts: Vec<&str> = text.split('/').filter(|part| !part.is_empty()).collect();
                let hint = match parts.iter().any(|part| matches!(*part, "." | "..")) {
                    true => Some("write the path in full, without . and ..".into()),
                    false => Some(format!("write {}", shown(&format!("/{}", parts.join("/"))))),
                };
                self.findings.error("ndl/path", span, message).maybe_hint(hint);
                None
            }
        }
    }

    /// Appends `count` bytes of padding. Returns false, after an error, if all values together have too much padding.
    pub(super) fn pad(&mut self, out: &mut Vec<u8>, count: usize, byte: u8, span: Span) -> bool {
        let may = self.may_pad(count, span);
        if may {
            out.resize(out.len() + count, byte);
        }
        may
    }

    /// Counts bytes of values that are not in the text: padding, and fill values in place of null.
    pub(super) fn may_pad(&mut self, count: usize, span: Span) -> bool {
        match self.padding.checked_sub(count) {
            Some(left) => {
                self.padding = left;
                true
            }
            None => {
                let message = format!("values with more than {} bytes of padding in all", self.most_padding);
                let hint = "the padding allowed grows with the length of the document: write the values in full, or give the type a smaller size";
                self.findings.error("ndl/limit", span, message).hint(hint);
                false
            }
        }
    }
}

/// A hint with the most similar name, or with all names.
pub(super) fn suggest(name: &str, known: &[&str]) -> String {
    match nearest(name, known) {
        Some(word) => format!("did you mean {word}?"),
        None if known.len() <= 40 => format!("expected one of {}", known.join(", ")),
        None => "the documentation lists all names".into(),
    }
}

/// Whether a name is one of the known words, or looks like a misspelling of one.
pub(super) fn is_like(name: &str, known: &[&str]) -> bool {
    nearest(name, known).is_some()
}

/// The known word that a misspelt name probably means.
pub(super) fn nearest<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    let lower = name.to_lowercase();
    let distances = known
        .iter()
        .filter(|word| word.len() < MAX_NAME)
        .map(|word| (distance(&lower, &word.to_lowercase()), *word));
    let nearest = distances.min_by_key(|(distance, _)| *distance);
    nearest.filter(|(distance, word)| is_near(name, word, *distance)).map(|(_, word)| word)
}

fn is_near(name: &str, word: &str, distance: usize) -> bool {
    !name.is_empty() && distance <= word.chars().count().div_ceil(3)
}

/// The edit distance: characters to insert, remove, replace or swap.
fn distance(a: &str, b: &str) -> usize {
    if a.len() > MAX_NAME {
        return usize::MAX;
    }
    let b: Vec<char> = b.chars().collect();
    let (mut before, mut last) = (Vec::new(), ' ');
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut next = vec![i + 1];
        let mut previous = ' ';
        for (j, y) in b.iter().enumerate() {
            let at = |row: &[usize], j: usize| row.get(j).copied().unwrap_or(usize::MAX - 1);
            let mut least =
                (at(&row, j) + usize::from(x != *y)).min(at(&row, j + 1) + 1).min(at(&next, j) + 1);
            if i > 0 && j > 0 && x == previous && last == *y {
                least = least.min(at(&before, j - 1) + 1);
            }
            next.push(least);
            previous = *y;
        }
        before = std::mem::replace(&mut row, next);
        last = x;
    }
    row.last().copied().unwrap_or(usize::MAX)
}

/// Attributes defined by conventions that are mistaken for keys of arrays.
const ATTRIBUTES: &[&str] = &[
    "_FillValue",
    "missing_value",
    "units",
    "long_name",
    "standard_name",
    "calendar",
    "scale_factor",
    "add_offset",
];

/// The places that preserve keys of other programs.
const KEEPERS: &[&str] =
    &["a file", "a group", "an ndarray", "a dimcoord", "an attribute", "a named datatype with a type"];

/// Names of sections in other tools, and hints with the names used here. Other unknown keys are warnings, but with
/// these the content of the whole document would be lost.
const FOREIGN_SECTIONS: &[(&str, &str)] = &[
    ("variables", "did you mean ndarrays? Coordinates of dimensions are in dimcoords"),
    ("data_vars", "did you mean ndarrays?"),
    ("arrays", "did you mean ndarrays?"),
    ("datasets", "did you mean ndarrays?"),
    ("dimensions", "did you mean dimcoords? lat: {size: 180} is a dimension without coordinates"),
    ("dims", "did you mean dimcoords? lat: {size: 180} is a dimension without coordinates"),
    ("coordinates", "did you mean dimcoords?"),
    ("coords", "did you mean dimcoords?"),
    ("attrs", "did you mean attributes?"),
    ("global_attributes", "did you mean attributes?"),
    ("types", "did you mean datatypes?"),
    ("groups", "write each group as a key of its own, its path: /name:"),
];

/// The maximum length in bytes of names that are compared.
const MAX_NAME: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_similar_names() {
        let known = ["shape", "size", "type", "attributes"];
        assert_eq!(suggest("shap", &known), "did you mean shape?");
        assert_eq!(suggest("Tpye", &known), "did you mean type?");
        assert_eq!(suggest("colour", &known), "expected one of shape, size, type, attributes");
        assert_eq!(distance("ab", "ba"), 1);
        assert_eq!(distance("", "abc"), 3);
    }
}
