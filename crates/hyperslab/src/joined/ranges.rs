//! Attributes that give a range of the values of each store, and the combined range of all stores.

use hyperslab_model::{Attribute, Element, Elements, Node, NodePath, Values};
use std::collections::BTreeMap;

/// Ranges that differ between stores, by object and attribute.
#[derive(Default)]
pub(super) struct Ranges(BTreeMap<(NodePath, String), Range>);

/// A range that differs.
struct Range {
    /// The range of all stores so far; `None` if one of them has none.
    widest: Option<Attribute>,
    /// The number of stores in which it differs from that of the first one, and the first of these.
    count: u64,
    first: usize,
}

impl Ranges {
    /// Adds the range of one more store, which differs from that of the first. Returns whether both are ranges of the
    /// same type, or one of the stores has none.
    pub(super) fn add(
        &mut self,
        path: &NodePath,
        name: &str,
        (first, other): (&Node, &Node),
        number: usize,
    ) -> bool {
        let of = |node: &Node| Some(node.attributes()?.get(name)?.as_ref().ok()?.clone());
        let has = |node: &Node| node.attributes().is_some_and(|attributes| attributes.contains_key(name));
        let key = (path.clone(), name.to_owned());
        let known = self.0.get(&key).map_or_else(|| of(first), |known| known.widest.clone());
        let widest = match (known, of(other)) {
            (Some(known), Some(other)) => match wider(name, &known, &other) {
                Some(wider) => Some(wider),
                None => return false,
            },
            // Without a range, every value is valid.
            _ if !has(first) || !has(other) || self.0.contains_key(&key) => None,
            _ => return false,
        };
        let range = self.0.entry(key).or_insert(Range { widest: None, count: 0, first: number });
        range.widest = widest;
        range.count += 1;
        true
    }

    /// Replaces the ranges of the first store with those of all stores.
    pub(super) fn apply(&self, path: &NodePath, node: &mut Node) {
        let Some(attributes) = node.attributes_mut() else { return };
        for ((_, name), range) in self.0.iter().filter(|((of, _), _)| of == path) {
            match &range.widest {
                Some(widest) => _ = attributes.insert(name.clone(), Ok(widest.clone())),
                None => _ = attributes.shift_remove(name),
            }
        }
    }

    /// Describes the differences. `further` names the stores.
    pub(super) fn notes(&self, further: impl Fn(u64, usize) -> String) -> Vec<String> {
        let note = |((path, name), range): (&(NodePath, String), &Range)| {
            let stores = further(range.count, range.first);
            match range.widest {
                Some(_) => format!("{path}@{name} differs in {stores}; it becomes the range of all files"),
                None => {
                    format!("{path}@{name} differs in {stores} and is not in all files; it is left out")
                }
            }
        };
        self.0.iter().map(note).collect()
    }
}

/// The range that contains both ranges; `None` if they are not ranges of numbers of the same type.
fn wider(name: &str, one: &Attribute, other: &Attribute) -> Option<Attribute> {
    if one.datatype.resolved() != other.datatype.resolved() {
        return None;
    }
    let ends = match name {
        VALID_MIN => &[false][..],
        VALID_MAX => &[true],
        _ => &[false, true],
    };
    let (own, others) =
        (Elements::new(&one.datatype, &one.value), Elements::new(&other.datatype, &other.value));
    if own.len() != ends.len() || others.len() != ends.len() {
        return None;
    }
    let mut rows = Vec::new();
    for ((own, other), is_upper) in own.zip(others).zip(ends) {
        let is_beyond = match (own.get(), other.get()) {
            (Element::Int(own), Element::Int(other)) => (other > own) == *is_upper,
            (Element::Float(own), Element::Float(other)) => (other > own) == *is_upper,
            _ => return None,
        };
        rows.extend_from_slice(if is_beyond { other.row() } else { own.row() });
    }
    Some(Attribute { value: Values { rows: rows.into(), ..Values::default() }, ..one.clone() })
}

const VALID_MIN: &str = "valid_min";
const VALID_MAX: &str = "valid_max";

/// The attributes with a range of values.
pub(super) const RANGES: &[&str] = &[VALID_MIN, VALID_MAX, "valid_range", "actual_range"];
