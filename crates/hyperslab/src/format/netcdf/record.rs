//! Records: the names of the source that NetCDF forbids, kept so that they can be restored. The record of an object is
//! its attribute [`ATTRIBUTE`], which contains a JSON object as characters, with these members:
//!
//! | member | of | holds |
//! |---|---|---|
//! | `members` | groups | the original name of each renamed dimension, variable, type or group |
//! | `attributes` | all | the original name of each renamed attribute |
//! | `fields` | user-defined types | the original name of each renamed compound or enum member, by path (`outer/inner`) |
//!
//! All are keyed by stored names. An original name counts only if it is stored under this name ([`stored`]), so that no
//! record can give an object the name of another one.

use super::attribute::characters_of;
use super::flavour::Flavour;
use super::name::stored;
use hyperslab_model::{Attribute, Attributes, Datatype, ElementStorage};
use hyperslab_netcdf3::Version;
use rustc_hash::FxHashSet;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The name of the attribute, which other programs show and copy like any other.
pub(in crate::format) const ATTRIBUTE: &str = "_hyperslab_names";

/// The original names of everything in one object, by stored name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::format) struct Record {
    pub(in crate::format) members: Names,
    pub(in crate::format) attributes: Names,
    pub(in crate::format) fields: Names,
}

/// Original names by stored name.
pub(in crate::format) type Names = BTreeMap<String, String>;

impl Record {
    fn parts(&self) -> [(&'static str, &Names); 3] {
        [(MEMBERS, &self.members), (ATTRIBUTES, &self.attributes), (FIELDS, &self.fields)]
    }

    /// Adds the record to the attributes of its object, if it has any names.
    pub(in crate::format) fn add_to(&self, attributes: &mut Attributes) {
        if let Some(attribute) = self.attribute() {
            attributes.insert(ATTRIBUTE.to_owned(), Ok(attribute));
        }
    }

    /// The attribute; `None` if nothing was renamed.
    pub(in crate::format) fn attribute(&self) -> Option<Attribute> {
        let parts = self.parts().into_iter().filter(|(_, names)| !names.is_empty());
        let object = |names: &Names| {
            names.iter().map(|(name, original)| (name.clone(), Value::from(original.as_str()))).collect()
        };
        let record: Map<String, Value> =
            parts.map(|(part, names)| (part.to_owned(), Value::Object(object(names)))).collect();
        (!record.is_empty()).then(|| characters_of(Value::Object(record).to_string().into_bytes()))
    }

    /// The record in the text of an attribute; `None` if another program has stored something else there.
    pub(in crate::format) fn parse(text: &[u8]) -> Option<Record> {
        let Value::Object(parts) = serde_json::from_slice(text).ok()? else { return None };
        let mut record = Record::default();
        for (part, names) in parts {
            let names = names_of(names, part == MEMBERS)?;
            match part.as_str() {
                MEMBERS => record.members = names,
                ATTRIBUTES => record.attributes = names,
                FIELDS => record.fields = names,
                _ => return None,
            }
        }
        Some(record)
    }
}

/// The original names, if each is stored under the name that it is listed by; `None` for other JSON, and for member
/// names that no path can have.
fn names_of(json: Value, are_members: bool) -> Option<Names> {
    let Value::Object(names) = json else { return None };
    let name = |(name, original)| match original {
        Value::String(original) => Some((name, original)),
        _ => None,
    };
    let names: Names = names.into_iter().map(name).collect::<Option<_>>()?;
    let is_sound = |(path, original): (&String, &String)| {
        let name = path.rsplit_once('/').map_or(path.as_str(), |(_, name)| name);
        let is_of_path = !are_members || !original.is_empty() && !original.contains('/');
        is_of_path && original != name && is_stored_as(original, name)
    };
    names.iter().all(is_sound).then_some(names)
}

/// Whether a file of any flavour stores `original` under `name`.
fn is_stored_as(original: &str, name: &str) -> bool {
    let flavours = [Flavour::Enhanced, Flavour::Classic(Version::Classic)];
    flavours.into_iter().any(|flavour| stored(original, flavour).0 == name)
}

/// Replaces names by their originals, except where another of the names equals the original.
pub(in crate::format) fn restore<'a>(originals: &Names, names: impl IntoIterator<Item = &'a mut String>) {
    if originals.is_empty() {
        return;
    }
    let (mut renamed, mut taken) = (Vec::new(), FxHashSet::default());
    for name in names {
        match originals.get(name) {
            Some(original) => renamed.push((name, original)),
            None => drop(taken.insert(name.clone())),
        }
    }
    for (name, original) in renamed {
        if !taken.contains(original) {
            name.clone_from(original);
        }
    }
}

/// As [`restore`], for the names of attributes.
pub(in crate::format) fn restore_keys(originals: &Names, attributes: &mut Attributes) {
    if !originals.is_empty() {
        let (mut names, values): (Vec<String>, Vec<_>) = std::mem::take(attributes).into_iter().unzip();
        restore(originals, &mut names);
        attributes.extend(names.into_iter().zip(values));
    }
}

/// Gives members of compounds and enumerations their original names.
pub(in crate::format) fn restore_fields(
    fields: &Names,
    datatype: &mut Datatype,
    storage: &mut ElementStorage,
) {
    if !fields.is_empty() {
        restore_below("", fields, datatype, storage);
    }
}

fn restore_below(path: &str, fields: &Names, datatype: &mut Datatype, storage: &mut ElementStorage) {
    match datatype {
        Datatype::Vlen(base) | Datatype::Array { base, .. } => restore_below(path, fields, base, storage),
        Datatype::Enum { members, .. } => {
            for (name, _) in members {
                if let Some(original) = fields.get(&below(path, name)) {
                    name.clone_from(original);
                }
            }
        }
        Datatype::Compound(members) => {
            for member in members {
                let own = below(path, &member.name);
                let mut none = ElementStorage::default();
                let found = storage.members.iter_mut().find(|(name, _)| *name == member.name);
                let (name, storage) = found.map_or((None, &mut none), |(name, of)| (Some(name), of));
                restore_below(&own, fields, &mut member.datatype, storage);
                if let Some(original) = fields.get(&own) {
                    name.into_iter().for_each(|name| name.clone_from(original));
                    member.name.clone_from(original);
                }
            }
        }
        _ => {}
    }
}

fn below(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") }
}

const MEMBERS: &str = "members";
const ATTRIBUTES: &str = "attributes";
const FIELDS: &str = "fields";

#[cfg(test)]
mod tests {
    use super::*;
    use hyperslab_model::Member;

    fn names(of: &[(&str, &str)]) -> Names {
        of.iter().map(|(name, original)| ((*name).to_owned(), (*original).to_owned())).collect()
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let record = Record {
            members: names(&[("_40a", "@a"), ("\u{e9}", "e\u{301}"), ("a_e9", "a\u{fffd}e9")]),
            attributes: names(&[("x_20", "x "), ("a_2fb", "a/b"), ("_", "")]),
            fields: names(&[("outer/m_09", "m\t")]),
        };
        assert_eq!(Record::parse(&record.attribute().unwrap().value.rows), Some(record));
        assert!(Record::default().attribute().is_none());
    }

    #[test]
    fn other_texts_and_names_that_are_stored_otherwise_are_no_record() {
        for text in [
            "",
            "[]",
            "{\"other\": {}}",
            "{\"members\": 1}",
            "{\"members\": {\"_40a\": 1}}",
            "{\"members\": {\"_40a\": \"@b\"}}",
            "{\"members\": {\"a\": \"a\"}}",
            "{\"members\": {\"a_2fb\": \"a/b\"}}",
            "{\"members\": {\"_\": \"\"}}",
        ] {
            assert!(Record::parse(text.as_bytes()).is_none(), "{text}");
        }
    }

    #[test]
    fn fields_are_found_within_arrays_and_other_compounds() {
        let of = |outer: &str, inner: &str| {
            let member = |name: &str, datatype| Member { name: name.to_owned(), datatype };
            let inner = Datatype::Compound(vec![member(inner, Datatype::int(8, true))]);
            let inner = Datatype::Array { base: Box::new(inner), shape: vec![2] };
            Datatype::Compound(vec![member(outer, inner)])
        };
        let storage = |outer: &str| ElementStorage {
            members: vec![(outer.to_owned(), ElementStorage::default())],
            ..ElementStorage::default()
        };
        let (mut datatype, mut found) = (of("_40o", "_40i"), storage("_40o"));
        let fields = names(&[("_40o", "@o"), ("_40o/_40i", "@i")]);
        restore_fields(&fields, &mut datatype, &mut found);
        assert_eq!((datatype, found), (of("@o", "@i"), storage("@o")));
    }

    #[test]
    fn members_of_enumerations_have_their_names_again() {
        let of = |name: &str| {
            let members = vec![(name.to_owned(), 1), ("b".to_owned(), 2)];
            let of = Datatype::Enum { base: Box::new(Datatype::int(8, true)), members };
            Datatype::Compound(vec![Member { name: "e".to_owned(), datatype: of }])
        };
        let mut datatype = of("_20a");
        restore_fields(&names(&[("e/_20a", " a")]), &mut datatype, &mut ElementStorage::default());
        assert_eq!(datatype, of(" a"));
    }

    #[test]
    fn names_cut_to_the_length_of_either_format_are_restored() {
        let original = "x".repeat(300);
        for len in [255, 256] {
            let record = Record { members: names(&[(&original[..len], &original)]), ..Record::default() };
            assert_eq!(Record::parse(&record.attribute().unwrap().value.rows), Some(record));
        }
        let other = format!("{{\"members\": {{\"{}\": \"{original}\"}}}}", &original[..254]);
        assert_eq!(Record::parse(other.as_bytes()), None);
    }
}
