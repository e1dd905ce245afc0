//! Compares consolidated metadata with the documents that it copies.
//!
//! Spec: zarr-python "Consolidated metadata"

use super::document::Document;
use super::findings::Found;
use super::{Checker, rule};
use crate::json::{Json, Object};
use crate::metadata::{v2, v3};
use hyperslab_core::store::Key;
use std::collections::{BTreeMap, HashMap};

/// The copies of the documents below a group.
pub(super) struct Copies {
    owner: Key,
    document: Document,
    /// The copies by the key of the document, relative to the group.
    by_key: BTreeMap<String, Copy>,
}

struct Copy {
    /// The JSON Pointer of the copy in the consolidated metadata.
    pointer: String,
    json: Json,
    seen: bool,
}

impl Copies {
    pub(super) fn of_v3(owner: &Key, metadata: &Object, document: Document) -> Copies {
        let copy = |(path, json): (&str, &Json)| {
            let key =
                if path.is_empty() { v3::DOCUMENT.to_owned() } else { format!("{path}/{}", v3::DOCUMENT) };
            (key, Copy::new("/consolidated_metadata/metadata", path, json))
        };
        Copies { owner: owner.clone(), by_key: metadata.iter().map(copy).collect(), document }
    }

    pub(super) fn of_v2(owner: &Key, metadata: &Object, document: Document) -> Copies {
        let copy = |(key, json): (&str, &Json)| (key.to_owned(), Copy::new("/metadata", key, json));
        Copies { owner: owner.clone(), by_key: metadata.iter().map(copy).collect(), document }
    }

    /// A key relative to the group. `None` if it is outside.
    fn inner<'k>(&self, key: &'k Key) -> Option<&'k str> {
        match self.owner.is_root() {
            true => Some(key.as_str()),
            false => key.as_str().strip_prefix(self.owner.as_str())?.strip_prefix('/'),
        }
    }
}

impl Copy {
    fn new(there: &str, name: &str, json: &Json) -> Copy {
        let pointer = format!("{there}/{}", name.replace('~', "~0").replace('/', "~1"));
        Copy { pointer, json: json.clone(), seen: false }
    }
}

impl Checker<'_> {
    /// Compares a document with its copies in all parent groups.
    pub(super) fn compare(&mut self, path: &Key, document: &Document) {
        for copies in &mut self.copies {
            let Some(inner) = copies.inner(&document.key) else { continue };
            let found = match copies.by_key.get_mut(inner) {
                Some(copy) => {
                    copy.seen = true;
                    let Some((pointer, what)) = difference(&copy.json, &document.json) else { continue };
                    let pointer = format!("{}{pointer}", copy.pointer);
                    (&rule::CONSOLIDATED_DIFFERENT, pointer, format!("{what} of {}", document.key))
                }
                None => {
                    let message = format!("no copy of {}", document.key);
                    (&rule::CONSOLIDATED_MISSING, String::new(), message)
                }
            };
            let (rule, pointer, message) = found;
            if self.findings.wants(rule) {
                let place = Some(copies.document.place(&pointer));
                let key = Some(&copies.document.key);
                self.findings.give(rule, Found { object: Some(path), key, place, message, hint: None });
            }
        }
    }

    /// Marks a document as existing, although it cannot be compared.
    pub(super) fn see(&mut self, key: &Key) {
        for copies in &mut self.copies {
            if let Some(copy) = copies.inner(key).and_then(|inner| copies.by_key.get_mut(inner)) {
                copy.seen = true;
            }
        }
    }

    /// Reports copies of documents that the walk did not visit.
    pub(super) fn check_rest(&mut self, copies: Copies) {
        let Copies { owner, document, by_key } = copies;
        for (key, copy) in by_key.iter().filter(|(_, copy)| !copy.seen) {
            let full = match owner.join(key) {
                Ok(full) => full,
                Err(e) => {
                    self.tell_at(
                        &rule::CONSOLIDATED,
                        &owner,
                        &document,
                        &copy.pointer,
                        e.detail().to_owned(),
                    );
                    continue;
                }
            };
            // The document may be behind a link, which the walk does not follow.
            if matches!(self.store.size(&full), Ok(Some(_))) {
                continue;
            }
            let named = key.strip_suffix("/.zattrs").or_else(|| (key == v2::ATTRIBUTES).then_some(""));
            let is_empty = copy.json.as_object().is_some_and(Object::is_empty);
            // zarr-python consolidates missing attributes as empty ones.
            if named.is_some() && is_empty {
                continue;
            }
            let message = format!("a copy of {key}, which does not exist in the store");
            self.tell_at(&rule::CONSOLIDATED_EXTRA, &owner, &document, &copy.pointer, message);
        }
    }
}

/// The JSON Pointer and the description of the first difference between two documents. Optional members with default
/// values are not a difference.
fn difference(copy: &Json, real: &Json) -> Option<(String, String)> {
    let (Json::Object(one), Json::Object(other)) = (copy, real) else { return differs(copy, real) };
    let is_void = |name: &str, value: &Json| match (name, value) {
        ("consolidated_metadata", _) | ("dimension_names", Json::Null) => true,
        ("attributes", Json::Object(members)) => members.is_empty(),
        ("storage_transformers", Json::Array(items)) => items.is_empty(),
        _ => false,
    };
    let is_said = |(name, value): &(&str, &Json)| !is_void(name, value);
    members_differ(one.iter().filter(is_said), other.iter().filter(is_said))
}

fn differs(copy: &Json, real: &Json) -> Option<(String, String)> {
    let here = || Some((String::new(), format!("{}, not the {}", brief(copy), brief(real))));
    match (copy, real) {
        (Json::Object(one), Json::Object(other)) => members_differ(one.iter(), other.iter()),
        (Json::Array(one), Json::Array(other)) if one.len() == other.len() => {
            let mut items = one.iter().zip(other).enumerate();
            items.find_map(|(index, (copy, real))| below(&index.to_string(), copy, real))
        }
        (Json::Number(one), Json::Number(other)) => {
            let equal = match (one.as_integer(), other.as_integer()) {
                (Some(one), Some(other)) => one == other,
                _ => one == other || one.as_f64() == other.as_f64(),
            };
            if equal { None } else { here() }
        }
        // A name alone is equal to an object that contains only this name.
        (Json::String(name), Json::Object(object)) | (Json::Object(object), Json::String(name)) => {
            let is_void = |(member, value): (&str, &Json)| match member {
                "name" => value.as_str() == Some(name),
                "configuration" => value.as_object().is_some_and(Object::is_empty),
                _ => false,
            };
            if object.iter().all(is_void) && !object.is_empty() { None } else { here() }
        }
        _ if copy == real => None,
        _ => here(),
    }
}

fn members_differ<'j>(
    copy: impl Iterator<Item = (&'j str, &'j Json)>,
    real: impl Iterator<Item = (&'j str, &'j Json)>,
) -> Option<(String, String)> {
    let mut real: HashMap<&str, &Json> = real.collect();
    for (name, value) in copy {
        match real.remove(name) {
            Some(there) => {
                if let Some(found) = below(name, value, there) {
                    return Some(found);
                }
            }
            None => return Some((String::new(), format!("a member {name:?} that is not in the document"))),
        }
    }
    let more = real.keys().min()?;
    Some((String::new(), format!("no member {more:?}, which is in the document")))
}

fn below(token: &str, copy: &Json, real: &Json) -> Option<(String, String)> {
    let (pointer, what) = differs(copy, real)?;
    Some((format!("/{}{pointer}", token.replace('~', "~0").replace('/', "~1")), what))
}

/// A short description of a value.
fn brief(json: &Json) -> String {
    let text = match json {
        Json::Object(_) => return "an object".to_owned(),
        Json::Array(items) => return format!("a list of {}", items.len()),
        other => other.emit(),
    };
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}
