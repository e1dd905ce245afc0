//! Differences in storage, where both sides specify it.

use super::Comparison;
use crate::{
    ByteOrder, Datatype, Directive, Element, ElementStorage, Elements, Filter, Order, Storage, Values,
};
use std::fmt;

impl Comparison<'_> {
    /// Chunks, filters, element storage and layout of arrays.
    pub(super) fn storage(&mut self, a: &Storage, b: &Storage) {
        if !self.rules.storage {
            return;
        }
        let shape =
            |shape: &Option<Vec<u64>>| shape.as_ref().map_or("none".into(), |shape| format!("{shape:?}"));
        self.differ(None, "chunk", shape(&a.chunk), shape(&b.chunk));
        self.differ(None, "shard", shape(&a.shard), shape(&b.shard));
        let filters = |filters: &[Filter]| match filters {
            [] => "none".to_owned(),
            filters => filters.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
        };
        self.differ(None, "filters", filters(&a.filters), filters(&b.filters));
        self.element_storage(&a.element, &b.element);
        if let (Some(a), Some(b)) = (&a.layout, &b.layout) {
            self.differ(None, "layout", word(a), word(b));
        }
        let order = |storage: &Storage| word(&storage.order.unwrap_or(Order::RowMajor));
        self.differ(None, "order of elements", order(a), order(b));
        if let (Some(a), Some(b)) = (a.fill_time, b.fill_time) {
            self.differ(None, "fill time", word(&a), word(&b));
        }
        self.native(a, b);
    }

    /// The domains of two dimensions of these sizes. A domain that begins at 0 is the default.
    pub(super) fn domains(
        &mut self,
        (x, a, long): (&Datatype, &Storage, Option<u64>),
        (y, b, wide): (&Datatype, &Storage, Option<u64>),
    ) {
        if !self.rules.storage {
            return;
        }
        let told = |datatype: &Datatype, values: &Option<Values>, size: Option<u64>| {
            let elements: Vec<_> = values.iter().flat_map(|values| Elements::new(datatype, values)).collect();
            let ends: Vec<_> = elements
                .iter()
                .map(|element| match element.get() {
                    Element::Int(end) => Some(end),
                    _ => None,
                })
                .collect();
            let last = size.map(|size| i128::from(size) - 1);
            match ends[..] == [Some(0), last] && last.is_some() || elements.is_empty() {
                true => "none".to_owned(),
                false => elements.into_iter().map(self.rules.show).collect::<Vec<_>>().join(" to "),
            }
        };
        let (one, other) = (told(x, &a.domain, long), told(y, &b.domain, wide));
        let tiles = (told(x, &a.tile, None), told(y, &b.tile, None));
        self.differ(None, "domain", one, other);
        self.differ(None, "tile", tiles.0, tiles.1);
    }

    /// How elements are stored, where both sides specify it.
    pub(super) fn element_storage(&mut self, a: &ElementStorage, b: &ElementStorage) {
        if !self.rules.storage {
            return;
        }
        if let (Some(a), Some(b)) = (a.endian, b.endian) {
            self.differ(None, "byte order", word(&a), word(&b));
        }
        let mut told = Told { one_sided: self.rules.habits, a: Vec::new(), b: Vec::new() };
        told.both("precision", &a.precision, &b.precision);
        told.both("offset", &a.offset, &b.offset);
        told.both("offsets", &a.offsets, &b.offsets);
        told.both("itemsize", &a.itemsize, &b.itemsize);
        told.both("charset", &a.charset, &b.charset);
        told.both("length", &a.length, &b.length);
        told.both("pad", &a.pad, &b.pad);
        for (name, member) in &a.members {
            let other = b.members.iter().find(|(other, _)| other == name);
            if let Some((_, other)) = other.filter(|(_, other)| other != member) {
                told.a.push(format!("{name}: {}", element_text(member)));
                told.b.push(format!("{name}: {}", element_text(other)));
            }
        }
        self.differ(None, "elements as stored", told.a.join(", "), told.b.join(", "));
    }

    /// Directives of one format, if both sides have that format.
    pub(super) fn native(&mut self, a: &Storage, b: &Storage) {
        if !self.rules.storage {
            return;
        }
        for (format, directives) in &a.native {
            let Some((_, others)) = b.native.iter().find(|(other, _)| other == format) else { continue };
            let only = |of: &[(String, Directive)], other: &[(String, Directive)]| {
                let own = of.iter().filter(|directive| !other.contains(directive));
                own.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(", ")
            };
            self.differ(None, "storage", only(directives, others), only(others, directives));
        }
    }
}

/// Directives whose values differ.
struct Told {
    /// Whether a directive that only one side has also counts.
    one_sided: bool,
    a: Vec<String>,
    b: Vec<String>,
}

impl Told {
    fn both<T: PartialEq + fmt::Debug>(&mut self, key: &str, a: &Option<T>, b: &Option<T>) {
        if a == b || !self.one_sided && (a.is_none() || b.is_none()) {
            return;
        }
        let text = |value: &Option<T>| match value {
            Some(value) => format!("{key} {}", word(value)),
            None => format!("{key} unsaid"),
        };
        self.a.push(text(a));
        self.b.push(text(b));
    }
}

fn element_text(of: &ElementStorage) -> String {
    let endian = of.endian.as_ref().map(word::<ByteOrder>);
    let length = of.length.as_ref().map(|length| format!("length {}", word(length)));
    let pad = of.pad.as_ref().map(|pad| format!("pad {}", word(pad)));
    let parts: Vec<String> = [endian, length, pad].into_iter().flatten().collect();
    if parts.is_empty() { "otherwise".into() } else { parts.join(" ") }
}

/// The name of a setting as users write it: `row-major`.
fn word<T: fmt::Debug>(choice: &T) -> String {
    let mut word = String::new();
    for c in format!("{choice:?}").chars() {
        if c.is_uppercase() && word.ends_with(char::is_alphabetic) {
            word.push('-');
        }
        word.extend(c.to_lowercase());
    }
    word
}

/// `deflate=4`, `shuffle`, `blosc(codec=zstd, level=9)`.
impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        match self.parameters.as_slice() {
            [] => Ok(()),
            [(_, value)] if self.main => write!(f, "={value}"),
            parameters => {
                f.write_str("(")?;
                for (index, (name, value)) in parameters.iter().enumerate() {
                    let comma = if index > 0 { ", " } else { "" };
                    write!(f, "{comma}{name}={value}")?;
                }
                f.write_str(")")
            }
        }
    }
}

/// On one line, in YAML flow style.
impl fmt::Display for Directive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Directive::Null => f.write_str("null"),
            Directive::Bool(value) => value.fmt(f),
            Directive::Int(value) => value.fmt(f),
            Directive::Float(value) => write!(f, "{value:?}"),
            Directive::Text(text) => f.write_str(text),
            Directive::List(list) => {
                f.write_str("[")?;
                for (index, value) in list.iter().enumerate() {
                    let comma = if index > 0 { ", " } else { "" };
                    write!(f, "{comma}{value}")?;
                }
                f.write_str("]")
            }
            Directive::Map(map) => {
                f.write_str("{")?;
                for (index, (name, value)) in map.iter().enumerate() {
                    let comma = if index > 0 { ", " } else { "" };
                    write!(f, "{comma}{name}: {value}")?;
                }
                f.write_str("}")
            }
        }
    }
}
