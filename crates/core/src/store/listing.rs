//! What lies directly below a key.

use super::Key;
use std::collections::BTreeMap;
use std::ops::Bound;

/// Something directly below a prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: EntryKind,
}

/// What lies under a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A value.
    Value,
    /// Further names.
    Prefix,
    /// Names that lie elsewhere in the store as well: a symbolic link to a directory. Who walks through a store
    /// and enters these may not come to an end.
    Alias,
    /// Nothing that is read, and why.
    Refused(&'static str),
}

/// The names directly below `prefix` among sorted keys. Of keys further below, only one is looked at.
pub fn below<V>(keys: &BTreeMap<String, V>, prefix: &Key) -> Vec<Entry> {
    let head = if prefix.is_root() { String::new() } else { format!("{prefix}/") };
    let mut entries: Vec<Entry> = Vec::new();
    let mut from = head.clone();
    loop {
        let range = (Bound::Included(from.as_str()), Bound::Unbounded);
        let Some((key, _)) = keys.range::<str, _>(range).next() else { break };
        let Some(rest) = key.strip_prefix(head.as_str()) else { break };
        let (name, kind) = match rest.split_once('/') {
            Some((name, _)) => (name, EntryKind::Prefix),
            None => (rest, EntryKind::Value),
        };
        // The first key that is not below this one: `0` follows the slash.
        from = match kind {
            EntryKind::Prefix => format!("{head}{name}0"),
            _ => format!("{head}{name}\0"),
        };
        if !name.is_empty() {
            entries.push(Entry { name: name.to_owned(), kind });
        }
    }
    entries.sort_unstable_by(|one, other| one.name.cmp(&other.name));
    entries
}
