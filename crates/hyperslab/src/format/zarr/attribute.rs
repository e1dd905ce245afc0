//! JSON attributes with the types that NDL infers for the same text; what has none is text that is JSON.

use hyperslab_core::Result;
use hyperslab_core::rows::{Heap, Slot};
use hyperslab_model::{Attribute, Datatype, Directive, ElementStorage, Float, Text, Values};
use hyperslab_zarr::json::Json;
use std::sync::Arc;

/// The attribute that a JSON value is.
pub(super) fn attribute(json: &Json) -> Result<Attribute> {
    let (shape, leaves) = shaped(json);
    match leaves.as_deref().and_then(common) {
        Some(kind) => plain(shape, kind, leaves.as_deref().unwrap_or_default()),
        None => {
            let mut attribute = plain(Vec::new(), Kind::Text, &[&Json::String(json.emit_compact())])?;
            attribute.native.push(("zarr", Directive::Text("json".into())));
            Ok(attribute)
        }
    }
}

/// What all elements of an attribute are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Bool,
    Int32,
    Int64,
    Uint64,
    Float64,
    Text,
}

/// The extents of nested lists and what is in them; nothing where they are no rectangle or empty.
fn shaped(json: &Json) -> (Vec<u64>, Option<Vec<&Json>>) {
    let mut shape = Vec::new();
    let mut level = vec![json];
    while let Some(Json::Array(first)) = level.first() {
        if first.is_empty() || shape.len() == MOST_RANK {
            return (shape, None);
        }
        shape.push(first.len() as u64);
        let mut next = Vec::with_capacity(level.len().saturating_mul(first.len()));
        for list in level {
            match list {
                Json::Array(items) if items.len() == first.len() => next.extend(items),
                _ => return (shape, None),
            }
        }
        level = next;
    }
    (shape, Some(level))
}

/// The one type that all have; of integers the first that holds every one.
fn common(leaves: &[&Json]) -> Option<Kind> {
    let mut integers = leaves.iter().map(|leaf| match leaf {
        Json::Number(number) => number.as_integer(),
        _ => None,
    });
    let all = |is: fn(&Json) -> bool| leaves.iter().all(|leaf| is(leaf));
    if all(|leaf| matches!(leaf, Json::Bool(_))) {
        return Some(Kind::Bool);
    }
    if all(|leaf| matches!(leaf, Json::String(_))) {
        return Some(Kind::Text);
    }
    if all(is_float) {
        return Some(Kind::Float64);
    }
    let range = integers.try_fold((0, 0), |(low, high), value: Option<i128>| {
        value.map(|value| (value.min(low), value.max(high)))
    });
    let (low, high) = range?;
    let within = |from: i128, to: i128| from <= low && high <= to;
    if within(i32::MIN.into(), i32::MAX.into()) {
        Some(Kind::Int32)
    } else if within(i64::MIN.into(), i64::MAX.into()) {
        Some(Kind::Int64)
    } else {
        within(0, u64::MAX.into()).then_some(Kind::Uint64)
    }
}

/// Whether it is a number with a fraction or an exponent that a double holds.
fn is_float(json: &Json) -> bool {
    match json {
        Json::Number(number) => number.as_str().contains(['.', 'e', 'E']) && number.as_f64().is_finite(),
        _ => false,
    }
}

fn plain(shape: Vec<u64>, kind: Kind, leaves: &[&Json]) -> Result<Attribute> {
    let mut rows = Vec::new();
    let mut heap = Heap::default();
    let mut texts = Vec::new();
    for leaf in leaves {
        match leaf {
            Json::Bool(value) => rows.push(u8::from(*value)),
            Json::String(text) => {
                let count = u32::try_from(text.len()).unwrap_or(u32::MAX);
                rows.extend(Slot { buffer: 0, count, offset: texts.len() as u64 }.to_bytes());
                texts.extend_from_slice(text.as_bytes());
            }
            Json::Number(number) => {
                let integer = number.as_integer().unwrap_or_default();
                // `common` has looked at every one.
                match kind {
                    Kind::Int32 => rows.extend(i32::try_from(integer).unwrap_or_default().to_ne_bytes()),
                    Kind::Int64 => rows.extend(i64::try_from(integer).unwrap_or_default().to_ne_bytes()),
                    Kind::Uint64 => rows.extend(u64::try_from(integer).unwrap_or_default().to_ne_bytes()),
                    _ => rows.extend(number.as_f64().to_ne_bytes()),
                }
            }
            _ => {}
        }
    }
    if kind == Kind::Text {
        heap.push(texts.into())?;
    }
    let datatype = match kind {
        Kind::Bool => Datatype::Bool,
        Kind::Int32 => Datatype::int(32, true),
        Kind::Int64 => Datatype::int(64, true),
        Kind::Uint64 => Datatype::int(64, false),
        Kind::Float64 => Datatype::Float(Float::Double),
        Kind::Text => Datatype::String(Text::Variable),
    };
    Ok(Attribute {
        shape: Some(shape),
        datatype: Arc::new(datatype),
        value: Values { rows: rows.into(), heap },
        storage: ElementStorage::default(),
        native: Vec::new(),
    })
}

/// Lists within lists that are dimensions; what is nested deeper is JSON.
const MOST_RANK: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;
    use hyperslab_core::Limits;
    use hyperslab_model::{Element, Elements};

    fn told(json: &str) -> String {
        let json = Json::parse("attribute", json.as_bytes(), &Limits::default()).unwrap();
        let attribute = attribute(&json).unwrap();
        let elements = Elements::new(&attribute.datatype, &attribute.value).map(|one| match one.get() {
            Element::Int(value) => value.to_string(),
            Element::Float(value) => format!("{value:?}"),
            Element::Bool(value) => value.to_string(),
            Element::Text(text) => String::from_utf8(text.to_vec()).unwrap(),
            other => panic!("{other:?}"),
        });
        let elements: Vec<_> = elements.collect();
        let json = if attribute.native.is_empty() { "" } else { " json" };
        format!("{} {:?} {}{json}", attribute.datatype, attribute.shape.unwrap(), elements.join("|"))
    }

    #[test]
    fn values_have_the_least_type_that_holds_all_of_them() {
        for (json, expected) in [
            ("1", "int32 [] 1"),
            ("-2147483649", "int64 [] -2147483649"),
            ("18446744073709551615", "uint64 [] 18446744073709551615"),
            ("[1, 3000000000]", "int64 [2] 1|3000000000"),
            ("1.0", "float64 [] 1.0"),
            ("[1e3, 2.5]", "float64 [2] 1000.0|2.5"),
            ("true", "bool [] true"),
            ("\"\"", "string [] "),
            ("[[\"a\"], [\"é\"]]", "string [2, 1] a|é"),
        ] {
            assert_eq!(told(json), expected, "{json}");
        }
    }

    #[test]
    fn what_has_no_type_is_text_that_is_json() {
        for (json, expected) in [
            ("null", "null"),
            ("[]", "[]"),
            ("[1, 2.5]", "[1,2.5]"),
            ("[[1], [2, 3]]", "[[1],[2,3]]"),
            ("{\"a\": [1, {\"b\": \"c d\"}]}", "{\"a\":[1,{\"b\":\"c d\"}]}"),
            ("18446744073709551616", "18446744073709551616"),
            ("[-1, 18446744073709551615]", "[-1,18446744073709551615]"),
            ("1e999", "1e999"),
        ] {
            assert_eq!(told(json), format!("string [] {expected} json"), "{json}");
        }
    }
}
