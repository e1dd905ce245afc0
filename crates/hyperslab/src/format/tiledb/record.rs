//! Records: the content of an object that TileDB cannot represent, kept so that it can be restored.
//!
//! The record of a group is the text of a JSON object in its metadata, under the key [`RECORD`]. The record of an array
//! that is stored as the only attribute of a TileDB array is in the metadata of this attribute,
//! `__tiledb_attr.NAME.hyperslab`. It has the members that records of Zarr have, which are listed
//! [there](crate::format::zarr::keep::record), and
//!
//! | member | of | holds |
//! |---|---|---|
//! | `role` | arrays | `array`: the attribute represents the array rather than a member of an array |
//! | `collected` | groups | for each TileDB array that holds several of them as attributes: the names of these arrays |
//! | `parts` | arrays | the number of consecutive attributes for the members of a compound, starting with this one |
//! | `role` | arrays | `group`: the metadata of the array are those of its group, as in TileDB-CF up to 0.2.0 |

use super::metadata::spellings;
use super::write::{shown, visible};
use crate::format::zarr::keep::record::{self as shared, Record as Shared, read_attributes};
use crate::strings::{name_bytes, name_text};
use hyperslab_core::{Error, Limits, Result};
use hyperslab_model::{Attribute, Attributes};
use hyperslab_tiledb::format::metadata::Value;
use hyperslab_zarr::json::{Json, Object};
use std::collections::BTreeMap;

/// The metadata key of records.
pub(super) const RECORD: &str = "hyperslab";

/// The record of an object.
#[derive(Clone, Debug, Default)]
pub(super) struct Record {
    /// Whether the attribute of a TileDB array represents a separate array.
    pub(super) is_array: bool,
    /// Whether the metadata of an array are those of its group.
    pub(super) is_group: bool,
    /// The attribute of the array, by its position.
    pub(super) position: usize,
    /// The number of attributes, if there is one for each member of a compound.
    pub(super) parts: Option<usize>,
    /// For a group, the arrays whose attributes are arrays of the group, with the names of these arrays.
    pub(super) collected: Vec<(String, Vec<String>)>,
    /// The names of attributes that are characters, as given in the record.
    characters: Object,
    /// The content that all records have in common.
    pub(super) shared: Shared,
    /// The attributes, including content that metadata cannot represent.
    attributes: Attributes,
}

impl Record {
    /// The record in a metadata value. `None` if another program has stored something else there.
    ///
    /// # Errors
    /// [`Malformed`](hyperslab_core::ErrorKind::Malformed) for an invalid record.
    pub(super) fn parse(value: &Value) -> Result<Option<Record>> {
        let json = Json::parse(RECORD, &value.bytes, &Limits::default());
        let Ok(Json::Object(object)) = json else { return Ok(None) };
        let named = |e: Error| e.map_detail(|detail| format!("metadata {RECORD:?}: {detail}"));
        let role = object.get(ROLE).and_then(Json::as_str);
        let (is_array, is_group) = (role == Some(ARRAY), role == Some(GROUP));
        let others: Object = object
            .iter()
            .filter(|(name, _)| !matches!(*name, ROLE | COLLECTED | PARTS))
            .map(|(name, json)| (name.to_owned(), json.clone()))
            .collect();
        let attributes = match others.get("attributes") {
            Some(Json::Object(recorded)) => read_attributes(recorded).map_err(named)?,
            _ => Attributes::new(),
        };
        Ok(Some(Record {
            is_array,
            is_group,
            position: 0,
            parts: parts(object.get(PARTS)).map_err(named)?,
            characters: others
                .iter()
                .filter(|(name, _)| *name == "characters")
                .map(|(name, json)| (name.to_owned(), json.clone()))
                .collect(),
            collected: collected(object.get(COLLECTED)).map_err(named)?,
            shared: Shared::of_object(&others).map_err(named)?,
            attributes,
        }))
    }

    /// Replaces displayed attributes by the recorded ones, and restores the order of all. Attributes that another
    /// program has changed remain as that program wrote them.
    pub(super) fn restore(&self, attributes: &mut Attributes, stored: &BTreeMap<Vec<u8>, Value>) {
        for (name, recorded) in &self.attributes {
            let Ok(attribute) = recorded else { continue };
            if is_unchanged(&name_bytes(name), attribute, stored) {
                attributes.insert(name.clone(), recorded.clone());
            }
        }
        if !self.characters.is_empty() {
            let texts = stored.iter().filter_map(|(name, value)| {
                Some((name_text(name), Json::from(std::str::from_utf8(&value.bytes).ok()?)))
            });
            // A string that another program has changed has a different length.
            if let Ok(known) = Shared::characters(&self.characters, &texts.collect()) {
                attributes.extend(known);
            }
        }
        let order = &self.shared.attribute_order;
        match order.is_empty() {
            true => attributes.sort_unstable_keys(),
            false => {
                let place = shared::places(order);
                attributes.sort_by_cached_key(|name, _| place(name));
            }
        }
    }
}

/// Whether an attribute is still stored as it was when it was recorded.
fn is_unchanged(name: &[u8], attribute: &Attribute, stored: &BTreeMap<Vec<u8>, Value>) -> bool {
    // The record itself has this key.
    if name == RECORD.as_bytes() {
        return true;
    }
    let keys = spellings(name);
    // Its name has a special meaning, or it has no elements.
    if keys.iter().all(|key| !stored.contains_key(key)) {
        return true;
    }
    let Some(value) = visible(attribute) else { return false };
    // Earlier versions stored all values unchanged.
    stored.get(name) == Some(&value)
        || shown(name, value, attribute).iter().all(|entry| stored.get(&entry.key) == entry.value.as_ref())
}

/// The arrays whose attributes are arrays of the group.
fn collected(json: Option<&Json>) -> Result<Vec<(String, Vec<String>)>> {
    let wrong = || Error::malformed(format!("member {COLLECTED:?}: expected lists of names by array"));
    let Some(json) = json else { return Ok(Vec::new()) };
    let Json::Object(arrays) = json else { return Err(wrong()) };
    let names = |json: &Json| match json {
        Json::Array(names) => {
            names.iter().map(|name| name.as_str().map(str::to_owned).ok_or_else(wrong)).collect()
        }
        _ => Err(wrong()),
    };
    arrays.iter().map(|(array, json)| Ok((array.to_owned(), names(json)?))).collect()
}

/// The number of attributes that represent a compound.
fn parts(json: Option<&Json>) -> Result<Option<usize>> {
    let Some(json) = json else { return Ok(None) };
    let count = match json {
        Json::Number(number) => number.as_u64().and_then(|count| usize::try_from(count).ok()),
        _ => None,
    };
    let count = count.filter(|count| *count > 0);
    let wrong = || Error::malformed(format!("member {PARTS:?}: expected a number of attributes"));
    count.map(Some).ok_or_else(wrong)
}

/// The record member for compounds that are stored as one attribute for each member.
pub(super) const PARTS: &str = "parts";

/// The record member of groups that lists the arrays whose attributes are arrays of the group.
pub(super) const COLLECTED: &str = "collected";

/// The record member that states what an array or its attribute represents. Its value is one of the following: for an
/// attribute that is the array, and for an array with the metadata of its group.
pub(super) const ROLE: &str = "role";
pub(super) const ARRAY: &str = "array";
pub(super) const GROUP: &str = "group";
