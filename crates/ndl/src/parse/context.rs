//! What all parts of the parser share.

use super::ParseOptions;
use super::events::{Key, Mapping, Node, Span, shown};
use super::findings::Findings;
use super::scalar::integer;
use hyperslab_model::{Datatype, Extent, NodePath};
use std::collections::HashMap;
use std::sync::Arc;

/// A document while it becomes content.
pub(super) struct Context<'t, 's> {
    pub(super) findings: Findings<'s>,
    pub(super) options: ParseOptions,
    /// Named datatypes by path.
    pub(super) types: HashMap<NodePath, NamedType<'t>>,
    /// How long dimcoords are.
    pub(super) dimcoords: HashMap<NodePath, Extent>,
    /// Dimcoords by the group in which a name stands.
    pub(super) resolved: HashMap<(NodePath, &'t str), Option<NodePath>>,
    /// Parts of the type that is read.
    pub(super) type_parts: u64,
    /// Named types that are read in each other.
    pub(super) type_levels: usize,
    /// Bytes that values may yet take beyond what the text spells out.
    pub(super) padding: usize,
}

/// A named datatype, read where it is first needed.
#[derive(Clone)]
pub(super) enum NamedType<'t> {
    Unread(Node<'t>),
    Reading,
    /// With how many parts it has.
    Read(Option<Arc<Datatype>>, u64),
}

impl<'t, 's> Context<'t, 's> {
    pub(super) fn new(findings: Findings<'s>, options: ParseOptions) -> Self {
        let (types, dimcoords) = (HashMap::new(), HashMap::new());
        let resolved = HashMap::new();
        Context {
            findings,
            options,
            types,
            dimcoords,
            resolved,
            type_parts: 0,
            type_levels: 0,
            padding: MOST_PADDING,
        }
    }

    /// Notes the use of what NDL 0.6.1 lacks, where nothing else is allowed.
    pub(super) fn extension(&mut self, span: Span, name: &str) {
        if self.options.pure {
            self.findings.error("ndl/extension", span, format!("{name}, which NDL 0.6.1 does not have"));
        }
    }

    /// Reads what is read again later, whose findings would come twice.
    pub(super) fn quietly<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.findings.silence(true);
        let found = read(self);
        self.findings.silence(before);
        found
    }

    /// Names a feature that is not read.
    pub(super) fn unsupported(&mut self, span: Span, what: &str) {
        self.findings.error("ndl/unsupported", span, format!("not supported: {what}"));
    }

    /// A map, or nothing where there is null; anything else is an error.
    pub(super) fn map(&mut self, node: Node<'t>, what: &str) -> Option<Mapping<'t>> {
        match node.mapping() {
            Some(mapping) => Some(mapping),
            None if node.is_null() => None,
            None => {
                let message = format!("{} for {what}, expected a map", node.describe());
                self.findings.error("ndl/structure", node.span(), message);
                None
            }
        }
    }

    /// A key that means nothing here. Keys of other programs begin with `x-`.
    pub(super) fn unknown_key(&mut self, key: Key<'_>, place: &str, known: &[&str]) {
        if key.name.starts_with("x-") {
            return;
        }
        if self.findings.is_full() {
            self.findings.warning("ndl/unknown-key", key.span, "");
            return;
        }
        let message = format!("the key {} in {place}, which has none of that name", shown(key.name));
        self.findings
            .warning("ndl/unknown-key", key.span, message)
            .maybe_hint(Some(suggest(key.name, known)));
    }

    /// An integer from 0.
    pub(super) fn count<T: TryFrom<i128>>(&mut self, node: Node<'_>, what: &str) -> Option<T> {
        let value = node.scalar().filter(|scalar| scalar.is_plain()).and_then(|scalar| integer(scalar.text));
        if let Some(value) = value.filter(|value| *value >= 0)
            && let Ok(value) = T::try_from(value)
        {
            return Some(value);
        }
        let message = format!("{} for {what}, expected an integer from 0", node.describe());
        self.findings.error("ndl/number", node.span(), message);
        None
    }

    /// A list of integers from 0.
    pub(super) fn counts(&mut self, node: Node<'_>, what: &str) -> Option<Vec<u64>> {
        let items = self.list(node, what)?;
        let counts: Vec<Option<u64>> = items.iter().map(|item| self.count(item, what)).collect();
        counts.into_iter().collect()
    }

    /// Positive integers.
    pub(super) fn sizes(&mut self, node: Node<'_>, what: &str) -> Option<Vec<u64>> {
        let sizes = self.counts(node, what)?;
        if sizes.contains(&0) {
            self.findings.error(
                "ndl/number",
                node.span(),
                format!("0 for {what}, expected positive integers"),
            );
            return None;
        }
        Some(sizes)
    }

    pub(super) fn list<'n>(&mut self, node: Node<'n>, what: &str) -> Option<super::events::Sequence<'n>> {
        if let super::events::View::Sequence(items) = node.view() {
            return Some(items);
        }
        let message = format!("{} for {what}, expected a list", node.describe());
        self.findings.error("ndl/structure", node.span(), message);
        None
    }

    pub(super) fn text(&mut self, node: Node<'t>, what: &str) -> Option<&'t str> {
        if let Some(scalar) = node.scalar().filter(|scalar| !scalar.is_null()) {
            return Some(scalar.text);
        }
        let message = format!("{} for {what}, expected text", node.describe());
        self.findings.error("ndl/structure", node.span(), message);
        None
    }

    /// One of several words.
    pub(super) fn word<T: Copy>(&mut self, node: Node<'t>, what: &str, words: &[(&str, T)]) -> Option<T> {
        let text = self.text(node, what)?;
        if let Some((_, value)) = words.iter().find(|(word, _)| *word == text) {
            return Some(*value);
        }
        let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let message = format!("{} for {what}", shown(text));
        self.findings.error("ndl/storage", node.span(), message).maybe_hint(Some(suggest(text, &known)));
        None
    }

    /// The absolute path of an object.
    pub(super) fn path(&mut self, text: &str, span: Span) -> Option<NodePath> {
        match NodePath::new(text) {
            Ok(path) if path.as_str() == text => Some(path),
            _ => {
                let message = format!("the path {}, expected one like /group/name", shown(text));
                let hint = (!text.starts_with('/'))
                    .then(|| format!("paths begin with /: {}", shown(&format!("/{text}"))));
                self.findings.error("ndl/path", span, message).maybe_hint(hint);
                None
            }
        }
    }

    /// Takes `count` bytes that the text does not spell out; false if that is too much.
    pub(super) fn pad(&mut self, out: &mut Vec<u8>, count: usize, byte: u8, span: Span) -> bool {
        match self.padding.checked_sub(count) {
            Some(left) => {
                self.padding = left;
                out.resize(out.len() + count, byte);
                true
            }
            None => {
                let message = format!("values that are padded by more than {MOST_PADDING} bytes");
                self.findings.error("ndl/limit", span, message);
                false
            }
        }
    }
}

/// The nearest of several names, or all of them.
pub(super) fn suggest(name: &str, known: &[&str]) -> String {
    let lower = name.to_lowercase();
    let distances = known
        .iter()
        .filter(|word| word.len() < MOST_NAME)
        .map(|word| (distance(&lower, &word.to_lowercase()), *word));
    let nearest = distances.min_by_key(|(distance, _)| *distance);
    match nearest.filter(|(distance, word)| *distance <= word.chars().count().div_ceil(3)) {
        Some((_, word)) => format!("did you mean {word}?"),
        None if known.len() <= 40 => format!("known are {}", known.join(", ")),
        None => "see the list of names in the documentation".into(),
    }
}

/// Characters to insert, remove, replace or swap.
fn distance(a: &str, b: &str) -> usize {
    if a.len() > MOST_NAME {
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

/// Bytes of names that are compared.
const MOST_NAME: usize = 100;

/// Bytes of padding in all values together.
const MOST_PADDING: usize = 256 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_suggested() {
        let known = ["shape", "size", "type", "attributes"];
        assert_eq!(suggest("shap", &known), "did you mean shape?");
        assert_eq!(suggest("Tpye", &known), "did you mean type?");
        assert_eq!(suggest("colour", &known), "known are shape, size, type, attributes");
        assert_eq!(distance("ab", "ba"), 1);
        assert_eq!(distance("", "abc"), 3);
    }
}
