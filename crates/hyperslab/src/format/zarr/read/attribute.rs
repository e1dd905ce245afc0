//! JSON attributes, with the datatypes that NDL infers for the same text. A value without a datatype becomes a JSON
//! string.

use hyperslab_core::rows::{Heap, Packed};
use hyperslab_core::{Limits, Result};
use hyperslab_model::{Attribute, Datatype, Directive, Element, Elements, Float, Text, Values};
use hyperslab_zarr::json::Json;
use std::sync::Arc;

/// Converts a JSON value to an attribute.
pub(in crate::format::zarr) fn attribute(json: &Json) -> Result<Attribute> {
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

/// The numbers of a JSON list of integers and fractions, as 64-bit floating-point numbers: JSON has only one number
/// type, and programs also write 0.0 as 0. `None` for other attributes, and if a double cannot represent an integer
/// exactly.
pub(in crate::format::zarr) fn mixed_numbers(attribute: &Attribute) -> Option<Attribute> {
    let is_json = attribute.native.iter().any(|(_, what)| *what == Directive::Text("json".into()));
    let mut elements = Elements::new(&attribute.datatype, &attribute.value);
    let (Element::Text(text), true) = (elements.next()?.get(), is_json) else { return None };
    let json = Json::parse("attribute", text, &Limits::default()).ok()?;
    let (shape, leaves) = shaped(&json);
    let leaves = leaves?;
    let is_number = |json: &&Json| is_float(json) || is_exact(json);
    let numbers = leaves.iter().all(is_number).then_some(leaves)?;
    plain(shape, Kind::Float64, &numbers).ok()
}

/// Whether it is an integer that a double represents exactly.
fn is_exact(json: &Json) -> bool {
    let integer = match json {
        Json::Number(number) => number.as_integer(),
        _ => None,
    };
    integer.is_some_and(|integer| integer.unsigned_abs() <= 1 << f64::MANTISSA_DIGITS)
}

/// A number or a list of numbers of a NumPy type; `None` if a number does not fit the type.
pub(in crate::format::zarr) fn plain_numbers(json: &Json, kind: &str) -> Option<Attribute> {
    let numbers = match json {
        Json::Array(items) => items.as_slice(),
        one => std::slice::from_ref(one),
    };
    let mut rows = Vec::new();
    let datatype = match kind {
        "i1" => integers::<i8, 1>(numbers, i8::to_ne_bytes, &mut rows).map(|()| Datatype::int(8, true)),
        "u1" => integers::<u8, 1>(numbers, u8::to_ne_bytes, &mut rows).map(|()| Datatype::int(8, false)),
        "i2" => integers::<i16, 2>(numbers, i16::to_ne_bytes, &mut rows).map(|()| Datatype::int(16, true)),
        "u2" => integers::<u16, 2>(numbers, u16::to_ne_bytes, &mut rows).map(|()| Datatype::int(16, false)),
        "i4" => integers::<i32, 4>(numbers, i32::to_ne_bytes, &mut rows).map(|()| Datatype::int(32, true)),
        "u4" => integers::<u32, 4>(numbers, u32::to_ne_bytes, &mut rows).map(|()| Datatype::int(32, false)),
        "i8" => integers::<i64, 8>(numbers, i64::to_ne_bytes, &mut rows).map(|()| Datatype::int(64, true)),
        "u8" => integers::<u64, 8>(numbers, u64::to_ne_bytes, &mut rows).map(|()| Datatype::int(64, false)),
        "f4" => numbers
            .iter()
            .try_for_each(|number| {
                // Parsed from the digits, since a conversion through double would round twice.
                let value = spelled(number)?.parse::<f32>().ok()?;
                rows.extend(value.to_ne_bytes());
                Some(())
            })
            .map(|()| Datatype::Float(Float::Single)),
        "f8" => numbers
            .iter()
            .try_for_each(|number| {
                rows.extend(spelled(number)?.parse::<f64>().ok()?.to_ne_bytes());
                Some(())
            })
            .map(|()| Datatype::Float(Float::Double)),
        _ => None,
    }?;
    let shape = match json {
        Json::Array(items) => vec![items.len() as u64],
        _ => Vec::new(),
    };
    Some(Attribute::new(shape, Arc::new(datatype), Values { rows: rows.into(), heap: Heap::default() }))
}

fn integers<T: TryFrom<i128>, const N: usize>(
    numbers: &[Json],
    bytes: fn(T) -> [u8; N],
    rows: &mut Vec<u8>,
) -> Option<()> {
    for number in numbers {
        let Json::Number(number) = number else { return None };
        rows.extend(bytes(T::try_from(number.as_integer()?).ok()?));
    }
    Some(())
}

/// The digits of a number, or the word for a number that JSON does not have.
fn spelled(json: &Json) -> Option<&str> {
    match json {
        Json::Number(number) => Some(number.as_str()),
        Json::String(word) if ["NaN", "Infinity", "-Infinity"].contains(&word.as_str()) => Some(word),
        _ => None,
    }
}

/// The kind of all elements of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Bool,
    Int32,
    Int64,
    Uint64,
    Float64,
    Text,
}

/// The extents of nested lists and their leaves; `None` if the lists are empty or not rectangular.
fn shaped<'j>(json: &'j Json) -> (Vec<u64>, Option<Vec<&'j Json>>) {
    let mut shape = Vec::new();
    let mut level = vec![json];
    while let Some(Json::Array(first)) = level.first() {
        if first.is_empty() || shape.len() == MAX_RANK {
            return (shape, None);
        }
        shape.push(first.len() as u64);
        // All lengths are compared before memory is allocated for all items: a long first list implies nothing about
        // the others.
        let items = |list: &'j Json| match list {
            Json::Array(items) if items.len() == first.len() => Some(items),
            _ => None,
        };
        let Some(lists) = level.into_iter().map(items).collect::<Option<Vec<_>>>() else {
            return (shape, None);
        };
        level = lists.into_iter().flatten().collect();
    }
    (shape, Some(level))
}

/// The common kind of all leaves; for integers, the first kind that can hold all of them.
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

/// Whether it is a number with a fraction or exponent that a double can hold, or a NaN or infinity.
fn is_float(json: &Json) -> bool {
    match json {
        Json::Number(number) => {
            let has_fraction = number.as_str().contains(['.', 'e', 'E']) && number.as_f64().is_finite();
            has_fraction || number.is_word()
        }
        _ => false,
    }
}

fn plain(shape: Vec<u64>, kind: Kind, leaves: &[&Json]) -> Result<Attribute> {
    let mut rows = Vec::new();
    let mut texts = Packed::default();
    for leaf in leaves {
        match leaf {
            Json::Bool(value) => rows.push(u8::from(*value)),
            Json::String(text) => texts.push(text.as_bytes())?,
            Json::Number(number) => {
                let integer = number.as_integer().unwrap_or_default();
                // `common` has checked all of them.
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
    let value = match kind {
        Kind::Text => texts.finish(),
        _ => Values { rows: rows.into(), heap: Heap::default() },
    };
    let datatype = match kind {
        Kind::Bool => Datatype::Bool,
        Kind::Int32 => Datatype::int(32, true),
        Kind::Int64 => Datatype::int(64, true),
        Kind::Uint64 => Datatype::int(64, false),
        Kind::Float64 => Datatype::Float(Float::Double),
        Kind::Text => Datatype::String(Text::Variable),
    };
    Ok(Attribute::new(shape, Arc::new(datatype), value))
}

/// The maximum number of nested lists that become dimensions; more deeply nested lists remain JSON.
const MAX_RANK: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;
    use hyperslab_core::Limits;
    use hyperslab_model::{Element, Elements};

    fn text_of(json: &str) -> String {
        let json = Json::parse_document(".zattrs", json.as_bytes(), &Limits::default()).unwrap();
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
    fn values_have_the_smallest_type_that_holds_all_of_them() {
        for (json, expected) in [
            ("1", "int32 [] 1"),
            ("-2147483649", "int64 [] -2147483649"),
            ("18446744073709551615", "uint64 [] 18446744073709551615"),
            ("[1, 3000000000]", "int64 [2] 1|3000000000"),
            ("1.0", "float64 [] 1.0"),
            ("[1e3, 2.5]", "float64 [2] 1000.0|2.5"),
            ("NaN", "float64 [] NaN"),
            ("[1.5, -Infinity]", "float64 [2] 1.5|-inf"),
            ("true", "bool [] true"),
            ("\"\"", "string [] "),
            ("[[\"a\"], [\"é\"]]", "string [2, 1] a|é"),
        ] {
            assert_eq!(text_of(json), expected, "{json}");
        }
    }

    #[test]
    fn long_lists_that_are_not_rectangular_take_no_memory_for_a_rectangle() {
        // A rectangle of this size would have more bytes than the memory of any machine.
        const COUNT: usize = 1_000_000;
        let first = Json::Array(vec![Json::Null; COUNT]);
        let mut lists = vec![first];
        lists.resize(COUNT, Json::Null);
        let json = Json::Array(lists);
        let (shape, leaves) = shaped(&json);
        assert_eq!((shape, leaves), (vec![COUNT as u64; 2], None));
    }

    #[test]
    fn recorded_types_apply_if_the_value_fits() {
        let text_of = |json: &str, kind: &str| {
            let json = Json::parse("attribute", json.as_bytes(), &Limits::default()).unwrap();
            let found = plain_numbers(&json, kind)?;
            let elements = Elements::new(&found.datatype, &found.value).map(|one| match one.get() {
                Element::Int(value) => value.to_string(),
                Element::Float(value) => value.to_string(),
                other => panic!("{other:?}"),
            });
            let elements: Vec<_> = elements.collect();
            Some(format!("{} {:?} {}", found.datatype, found.shape.unwrap(), elements.join("|")))
        };
        assert_eq!(text_of("5", "i2").as_deref(), Some("int16 [] 5"));
        assert_eq!(text_of("[1, 2.5, \"NaN\"]", "f4").as_deref(), Some("float32 [3] 1|2.5|NaN"));
        assert_eq!(
            text_of("[18446744073709551615]", "u8").as_deref(),
            Some("uint64 [1] 18446744073709551615")
        );
        for (json, kind) in [("300", "u1"), ("-1", "u4"), ("1.5", "i4"), ("\"a\"", "U1"), ("\"inf\"", "f8")] {
            assert_eq!(text_of(json, kind), None, "{json} {kind}");
        }
    }

    #[test]
    fn integers_and_fractions_are_floating_point_numbers_elsewhere() {
        let numbers = |json: &str| {
            let json = Json::parse("attribute", json.as_bytes(), &Limits::default()).unwrap();
            let found = mixed_numbers(&attribute(&json).unwrap())?;
            let numbers = Elements::new(&found.datatype, &found.value).map(|one| match one.get() {
                Element::Float(value) => value,
                other => panic!("{other:?}"),
            });
            Some((found.shape.unwrap(), numbers.collect::<Vec<_>>()))
        };
        assert_eq!(numbers("[0, 1.5]"), Some((vec![2], vec![0.0, 1.5])));
        assert_eq!(numbers("[[0.5], [9007199254740992]]"), Some((vec![2, 1], vec![0.5, 9007199254740992.0])));
        for other in ["[0, 1]", "[0.5, 1.5]", "[1.5, 9007199254740993]", "[1, \"a\"]", "{\"a\": [0, 1.5]}"] {
            assert_eq!(numbers(other), None, "{other}");
        }
    }

    #[test]
    fn values_without_a_type_become_json_text() {
        for (json, expected) in [
            ("null", "null"),
            ("[]", "[]"),
            ("[1, 2.5]", "[1,2.5]"),
            ("[[1], [2, 3]]", "[[1],[2,3]]"),
            ("{\"a\": [1, {\"b\": \"c d\"}]}", "{\"a\":[1,{\"b\":\"c d\"}]}"),
            ("18446744073709551616", "18446744073709551616"),
            ("[-1, 18446744073709551615]", "[-1,18446744073709551615]"),
            ("1e999", "1e999"),
            ("[1, {\"a\": NaN}]", "[1,{\"a\":NaN}]"),
        ] {
            assert_eq!(text_of(json), format!("string [] {expected} json"), "{json}");
        }
    }
}
