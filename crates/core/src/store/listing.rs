//! Entries directly below a key.

use super::Key;
use std::collections::BTreeMap;
use std::ops::Bound;

/// An entry directly below a prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name.
    pub name: String,
    /// The kind of entry.
    pub kind: EntryKind,
}

/// The kind of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A value.
    Value,
    /// A prefix with further entries.
    Prefix,
    /// A symbolic link to another directory of the store. A walk that follows such links may never end.
    Alias,
    /// An entry that is not read, with the reason.
    Refused(&'static str),
    /// An entry that may be a prefix or a value, but cannot be followed, with the reason.
    Unfollowed(&'static str),
}

/// The names directly below `prefix` among sorted keys. Of all keys with the same name below it, only one is visited.
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
        // The first key that is not below this one: in ASCII, `0` follows the slash.
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
