//! Compares storage with that of a contract.

use super::{datatype, value};
use crate::filter::has_parameter;
use hyperslab_model::{Datatype, Directive, EXTRA, ElementStorage, Fill, FillTime, Filter, Storage};
use std::fmt::Debug;

/// The differences between storage and a contract, one line each. `formats` are those whose native directives are
/// compared; `None` for all.
pub(super) fn differences(
    formats: Option<&'static [&'static str]>,
    (is_type, is): (Option<&Datatype>, &Storage),
    (expected_type, expected): (Option<&Datatype>, &Storage),
) -> Vec<String> {
    let mut found = Vec::new();
    stated("chunk", &is.chunk, &expected.chunk, &mut found);
    stated("shard", &is.shard, &expected.shard, &mut found);
    let has = |(is, expected): (&Filter, &Filter)| {
        let known = |(key, value): &(String, Directive)| has_parameter(is, key, |is| same(is, value), value);
        is.name == expected.name && expected.parameters.iter().all(known)
    };
    let same_filters =
        || is.filters.len() == expected.filters.len() && is.filters.iter().zip(&expected.filters).all(has);
    if !expected.filters.is_empty() && !same_filters() {
        found.push(format!(
            "filter {}, the contract says {}",
            filters(&is.filters),
            filters(&expected.filters)
        ));
    }
    elements(&is.element, &expected.element, "", &mut found);
    fill((is_type, &is.fill), (expected_type, &expected.fill), &mut found);
    // The default of the libraries, which adapters do not report.
    let fill_time = is.fill_time.or(Some(FillTime::IfSet));
    stated("fill_time", &fill_time, &expected.fill_time, &mut found);
    stated("layout", &is.layout, &expected.layout, &mut found);
    stated("order", &is.order, &expected.order, &mut found);
    let rows = |values: &Option<hyperslab_model::Values>| values.as_ref().map(|values| values.rows.clone());
    if expected.domain.is_some() && rows(&is.domain) != rows(&expected.domain) {
        found.push("domain differs from the contract".into());
    }
    if expected.tile.is_some() && rows(&is.tile) != rows(&expected.tile) {
        found.push("tile differs from the contract".into());
    }
    for (format, directives) in &expected.native {
        if *format == EXTRA || formats.is_some_and(|formats| !formats.contains(format)) {
            continue;
        }
        let own = is.native.iter().find(|(name, _)| name == format).map(|(_, own)| own.as_slice());
        for (key, expected) in directives {
            let is = own.unwrap_or_default().iter().find(|(name, _)| name == key).map(|(_, is)| is);
            directive(&format!("{format}: {key}"), is, expected, &mut found);
        }
    }
    found
}

/// As [`differences`], for the native directives of an attribute.
pub(super) fn directives(
    formats: Option<&'static [&'static str]>,
    expected: &[(&'static str, Directive)],
    is: &[(&'static str, Directive)],
    found: &mut Vec<String>,
) {
    for (format, expected) in expected {
        if *format == EXTRA || formats.is_some_and(|formats| !formats.contains(format)) {
            continue;
        }
        let is = is.iter().find(|(name, _)| name == format).map(|(_, is)| is);
        directive(format, is, expected, found);
    }
}

/// As [`differences`], for the storage of elements. `member` is the path of a compound member.
pub(super) fn elements(
    is: &ElementStorage,
    expected: &ElementStorage,
    member: &str,
    found: &mut Vec<String>,
) {
    let named = |what: &str| if member.is_empty() { what.to_owned() } else { format!("{member}: {what}") };
    stated(&named("endian"), &is.endian, &expected.endian, found);
    stated(&named("precision"), &is.precision, &expected.precision, found);
    stated(&named("offset"), &is.offset, &expected.offset, found);
    stated(&named("offsets"), &is.offsets, &expected.offsets, found);
    stated(&named("itemsize"), &is.itemsize, &expected.itemsize, found);
    stated(&named("charset"), &is.charset, &expected.charset, found);
    stated(&named("length"), &is.length, &expected.length, found);
    stated(&named("pad"), &is.pad, &expected.pad, found);
    let none = ElementStorage::default();
    for (name, expected) in &expected.members {
        let is = is.members.iter().find(|(known, _)| known == name).map_or(&none, |(_, is)| is);
        elements(is, expected, &named(name), found);
    }
}

fn fill(
    (is_type, is): (Option<&Datatype>, &Fill),
    (expected_type, expected): (Option<&Datatype>, &Fill),
    found: &mut Vec<String>,
) {
    let text = |datatype: Option<&Datatype>, fill: &Fill| match (fill, datatype) {
        (Fill::Undefined, _) => "null".to_owned(),
        (Fill::Value(fill), Some(datatype)) => value::shown(datatype, fill),
        (Fill::Default | Fill::Value(_), _) => "the default".to_owned(),
    };
    let fits = match (is, expected, is_type, expected_type) {
        (_, Fill::Default, ..) | (Fill::Undefined, Fill::Undefined, ..) => true,
        (Fill::Value(is), Fill::Value(expected), Some(is_type), Some(expected_type)) => {
            // The fill value of another datatype cannot be compared.
            !datatype::fits(is_type, expected_type) || value::same(is_type, is, expected_type, expected)
        }
        (_, Fill::Value(_), _, None) => true,
        _ => false,
    };
    if !fits {
        let (is, expected) = (text(is_type, is), text(expected_type, expected));
        found.push(format!("fillvalue is {is}, the contract says {expected}"));
    }
}

fn stated<T: PartialEq + Debug>(what: &str, is: &Option<T>, expected: &Option<T>, found: &mut Vec<String>) {
    if expected.is_some() && is != expected {
        let text = |value: &Option<T>| {
            value.as_ref().map_or("none".into(), |value| format!("{value:?}").to_lowercase())
        };
        found.push(format!("{what} {}, the contract says {}", text(is), text(expected)));
    }
}

fn directive(what: &str, is: Option<&Directive>, expected: &Directive, found: &mut Vec<String>) {
    if is.is_none_or(|is| !same(is, expected)) {
        let is = is.map_or("none".into(), directive_text);
        found.push(format!("{what} {is}, the contract says {}", directive_text(expected)));
    }
}

/// Whether directives are equal: NaN equals NaN, and the order of a map does not matter.
fn same(is: &Directive, expected: &Directive) -> bool {
    match (is, expected) {
        (Directive::Float(is), Directive::Float(expected)) => {
            is == expected || is.is_nan() && expected.is_nan()
        }
        (Directive::List(is), Directive::List(expected)) => {
            is.len() == expected.len() && is.iter().zip(expected).all(|(is, expected)| same(is, expected))
        }
        (Directive::Map(is), Directive::Map(expected)) => {
            is.len() == expected.len()
                && expected
                    .iter()
                    .all(|(key, expected)| is.iter().any(|(name, is)| name == key && same(is, expected)))
        }
        (is, expected) => is == expected,
    }
}

fn filters(filters: &[Filter]) -> String {
    let parameter = |(name, value): &(String, Directive)| format!("{name}: {}", directive_text(value));
    let text = |filter: &Filter| match filter.parameters.as_slice() {
        [] => filter.name.clone(),
        [(_, value)] if filter.main => format!("{{{}: {}}}", filter.name, directive_text(value)),
        parameters => {
            let parameters: Vec<_> = parameters.iter().map(parameter).collect();
            format!("{{{}: {{{}}}}}", filter.name, parameters.join(", "))
        }
    };
    format!("[{}]", filters.iter().map(text).collect::<Vec<_>>().join(", "))
}

fn directive_text(directive: &Directive) -> String {
    match directive {
        Directive::Null => "null".into(),
        Directive::Bool(value) => value.to_string(),
        Directive::Int(value) => value.to_string(),
        Directive::Float(value) => value.to_string(),
        Directive::Text(text) => format!("{text:?}"),
        Directive::List(list) => {
            format!("[{}]", list.iter().map(directive_text).collect::<Vec<_>>().join(", "))
        }
        Directive::Map(map) => {
            let entry = |(key, value): &(String, Directive)| format!("{key}: {}", directive_text(value));
            format!("{{{}}}", map.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
    }
}
