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
    (wanted_type, wanted): (Option<&Datatype>, &Storage),
) -> Vec<String> {
    let mut found = Vec::new();
    said("chunk", &is.chunk, &wanted.chunk, &mut found);
    said("shard", &is.shard, &wanted.shard, &mut found);
    let has = |(is, wanted): (&Filter, &Filter)| {
        let known = |(key, value): &(String, Directive)| has_parameter(is, key, |is| same(is, value), value);
        is.name == wanted.name && wanted.parameters.iter().all(known)
    };
    let same_filters =
        || is.filters.len() == wanted.filters.len() && is.filters.iter().zip(&wanted.filters).all(has);
    if !wanted.filters.is_empty() && !same_filters() {
        found.push(format!(
            "filter {}, the contract says {}",
            filters(&is.filters),
            filters(&wanted.filters)
        ));
    }
    elements(&is.element, &wanted.element, "", &mut found);
    fill((is_type, &is.fill), (wanted_type, &wanted.fill), &mut found);
    // The default of libraries; adapters do not report it.
    let fill_time = is.fill_time.or(Some(FillTime::IfSet));
    said("fill_time", &fill_time, &wanted.fill_time, &mut found);
    said("layout", &is.layout, &wanted.layout, &mut found);
    said("order", &is.order, &wanted.order, &mut found);
    let rows = |values: &Option<hyperslab_model::Values>| values.as_ref().map(|values| values.rows.clone());
    if wanted.domain.is_some() && rows(&is.domain) != rows(&wanted.domain) {
        found.push("domain is another than the contract says".into());
    }
    if wanted.tile.is_some() && rows(&is.tile) != rows(&wanted.tile) {
        found.push("tile is another than the contract says".into());
    }
    for (format, directives) in &wanted.native {
        if *format == EXTRA || formats.is_some_and(|formats| !formats.contains(format)) {
            continue;
        }
        let own = is.native.iter().find(|(name, _)| name == format).map(|(_, own)| own.as_slice());
        for (key, wanted) in directives {
            let is = own.unwrap_or_default().iter().find(|(name, _)| name == key).map(|(_, is)| is);
            directive(&format!("{format}: {key}"), is, wanted, &mut found);
        }
    }
    found
}

/// As [`differences`], for the native directives of an attribute.
pub(super) fn directives(
    formats: Option<&'static [&'static str]>,
    wanted: &[(&'static str, Directive)],
    is: &[(&'static str, Directive)],
    found: &mut Vec<String>,
) {
    for (format, wanted) in wanted {
        if *format == EXTRA || formats.is_some_and(|formats| !formats.contains(format)) {
            continue;
        }
        let is = is.iter().find(|(name, _)| name == format).map(|(_, is)| is);
        directive(format, is, wanted, found);
    }
}

/// As [`differences`], for the storage of elements. `member` is the path of a compound member.
pub(super) fn elements(is: &ElementStorage, wanted: &ElementStorage, member: &str, found: &mut Vec<String>) {
    let named = |what: &str| if member.is_empty() { what.to_owned() } else { format!("{member}: {what}") };
    said(&named("endian"), &is.endian, &wanted.endian, found);
    said(&named("precision"), &is.precision, &wanted.precision, found);
    said(&named("offset"), &is.offset, &wanted.offset, found);
    said(&named("offsets"), &is.offsets, &wanted.offsets, found);
    said(&named("itemsize"), &is.itemsize, &wanted.itemsize, found);
    said(&named("charset"), &is.charset, &wanted.charset, found);
    said(&named("length"), &is.length, &wanted.length, found);
    said(&named("pad"), &is.pad, &wanted.pad, found);
    let none = ElementStorage::default();
    for (name, wanted) in &wanted.members {
        let is = is.members.iter().find(|(known, _)| known == name).map_or(&none, |(_, is)| is);
        elements(is, wanted, &named(name), found);
    }
}

fn fill(
    (is_type, is): (Option<&Datatype>, &Fill),
    (wanted_type, wanted): (Option<&Datatype>, &Fill),
    found: &mut Vec<String>,
) {
    let text = |datatype: Option<&Datatype>, fill: &Fill| match (fill, datatype) {
        (Fill::Undefined, _) => "null".to_owned(),
        (Fill::Value(fill), Some(datatype)) => value::shown(datatype, fill),
        (Fill::Default | Fill::Value(_), _) => "the usual one".to_owned(),
    };
    let fits = match (is, wanted, is_type, wanted_type) {
        (_, Fill::Default, ..) | (Fill::Undefined, Fill::Undefined, ..) => true,
        (Fill::Value(is), Fill::Value(wanted), Some(is_type), Some(wanted_type)) => {
            // The fill value of another datatype cannot be compared.
            !datatype::fits(is_type, wanted_type) || value::same(is_type, is, wanted_type, wanted)
        }
        (_, Fill::Value(_), _, None) => true,
        _ => false,
    };
    if !fits {
        let (is, wanted) = (text(is_type, is), text(wanted_type, wanted));
        found.push(format!("fillvalue is {is}, the contract says {wanted}"));
    }
}

fn said<T: PartialEq + Debug>(what: &str, is: &Option<T>, wanted: &Option<T>, found: &mut Vec<String>) {
    if wanted.is_some() && is != wanted {
        let text = |value: &Option<T>| {
            value.as_ref().map_or("none".into(), |value| format!("{value:?}").to_lowercase())
        };
        found.push(format!("{what} {}, the contract says {}", text(is), text(wanted)));
    }
}

fn directive(what: &str, is: Option<&Directive>, wanted: &Directive, found: &mut Vec<String>) {
    if is.is_none_or(|is| !same(is, wanted)) {
        let is = is.map_or("none".into(), directive_text);
        found.push(format!("{what} {is}, the contract says {}", directive_text(wanted)));
    }
}

/// Whether directives are equal: NaN equals NaN, and the order of a map does not matter.
fn same(is: &Directive, wanted: &Directive) -> bool {
    match (is, wanted) {
        (Directive::Float(is), Directive::Float(wanted)) => is == wanted || is.is_nan() && wanted.is_nan(),
        (Directive::List(is), Directive::List(wanted)) => {
            is.len() == wanted.len() && is.iter().zip(wanted).all(|(is, wanted)| same(is, wanted))
        }
        (Directive::Map(is), Directive::Map(wanted)) => {
            is.len() == wanted.len()
                && wanted
                    .iter()
                    .all(|(key, wanted)| is.iter().any(|(name, is)| name == key && same(is, wanted)))
        }
        (is, wanted) => is == wanted,
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
