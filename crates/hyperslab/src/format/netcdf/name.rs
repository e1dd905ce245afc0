//! Names as NetCDF stores them.

use super::flavour::Flavour;
use super::lowerings::{NAME, NORMALIZED};
use super::record::Names;
use crate::strings::{has_escaped, name_bytes};
use crate::target::Lowered;
use hyperslab_model::NodePath;
use hyperslab_netcdf3::name::{is_allowed, normalized};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// A name as it is stored, and how it differs from the original. Forbidden characters, and bytes that are not
/// characters, become an underscore and two digits for each byte: CF recommends letters, digits and underscores.
pub(in crate::format) fn stored(name: &str, flavour: Flavour) -> (Cow<'_, str>, Option<&'static Lowered>) {
    let longest = flavour.longest_name();
    let composed = normalized(name);
    let last = composed.chars().count().saturating_sub(1);
    let mut places = composed.chars().enumerate();
    let is_sound = places.all(|(at, character)| is_allowed(character, at == 0, at == last));
    if is_sound && !composed.is_empty() && composed.len() <= longest && !has_escaped(&composed) {
        let note = matches!(composed, Cow::Owned(_)).then_some(&NORMALIZED);
        return (composed, note);
    }
    let mut encoded = String::new();
    let push = |encoded: &mut String, byte: u8| encoded.push_str(&format!("_{byte:02x}"));
    let bytes = name_bytes(&composed);
    let mut chunks = bytes.utf8_chunks().peekable();
    while let Some(chunk) = chunks.next() {
        let is_end = chunks.peek().is_none() && chunk.invalid().is_empty();
        let mut characters = chunk.valid().chars().peekable();
        while let Some(character) = characters.next() {
            let is_last = is_end && characters.peek().is_none();
            match u8::try_from(character) {
                Ok(byte) if !is_allowed(character, encoded.is_empty(), is_last) => push(&mut encoded, byte),
                _ => encoded.push(character),
            }
        }
        chunk.invalid().iter().for_each(|byte| push(&mut encoded, *byte));
    }
    if encoded.is_empty() {
        encoded.push('_');
    }
    cut(&mut encoded, longest);
    (Cow::Owned(encoded), Some(&NAME))
}

/// A name with a distinguishing suffix, short enough for NetCDF-4.
pub(in crate::format) fn with_end(name: &str, end: &str) -> String {
    let mut whole = name.to_owned();
    cut(&mut whole, Flavour::Enhanced.longest_name().saturating_sub(end.len()));
    whole + end
}

fn cut(name: &mut String, longest: usize) {
    while name.len() > longest {
        name.pop();
    }
}

/// The paths that objects have in the file.
#[derive(Debug)]
pub(in crate::format) struct StoredPaths {
    flavour: Flavour,
    /// Objects whose stored names do not depend on their own name alone.
    renamed: FxHashMap<NodePath, NodePath>,
    /// The original names of the renamed members of each group, by their stored names.
    originals: FxHashMap<NodePath, Names>,
}

impl StoredPaths {
    /// The paths in a file of this flavour in which no object has been renamed yet.
    pub(in crate::format) fn new(flavour: Flavour) -> StoredPaths {
        let (renamed, originals) = Default::default();
        StoredPaths { flavour, renamed, originals }
    }

    /// Renames an object within its group.
    pub(in crate::format) fn rename(&mut self, path: &NodePath, name: &str) {
        let parent = path.parent().unwrap_or_else(NodePath::root);
        let renamed = self.stored(&parent).child(name);
        self.renamed.insert(path.clone(), renamed);
    }

    /// Keeps the original name of an object in a group of the file if its stored name differs.
    pub(in crate::format) fn keep(&mut self, group: &NodePath, original: &str) {
        let (name, _) = stored(original, self.flavour);
        if name != original {
            let names = self.originals.entry(group.clone()).or_default();
            names.insert(name.into_owned(), original.to_owned());
        }
    }

    /// The original names of the members of a group of the file.
    pub(in crate::format) fn originals(&self, group: &NodePath) -> Names {
        self.originals.get(group).cloned().unwrap_or_default()
    }

    /// The path of an object in the file.
    pub(in crate::format) fn stored(&self, path: &NodePath) -> NodePath {
        match self.renamed.get(path) {
            Some(renamed) => renamed.clone(),
            None => of_names(path, self.flavour),
        }
    }
}

/// The path with each name in its stored form. It is the path of a dimension, even if a variable has the same name.
pub(in crate::format) fn of_names(path: &NodePath, flavour: Flavour) -> NodePath {
    let Some(parent) = path.parent() else { return path.clone() };
    let (own, (name, _)) = (of_names(&parent, flavour), stored(path.name(), flavour));
    if own == parent && name == path.name() { path.clone() } else { own.child(&name) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyperslab_netcdf3::Version;

    #[test]
    fn forbidden_characters_are_encoded_where_they_stand() {
        for (name, expected) in [
            ("plain", "plain"),
            ("a b", "a b"),
            ("e\u{301}", "\u{e9}"),
            ("@a", "_40a"),
            ("a ", "a_20"),
            ("a\tb", "a_09b"),
            ("a\u{fffd}e9", "a_e9"),
            ("\u{fffd}2fa", "_2fa"),
            ("\u{fffd}", "\u{fffd}"),
            ("", "_"),
        ] {
            assert_eq!(stored(name, Flavour::Enhanced).0, expected, "{name:?}");
        }
        let note = |name| stored(name, Flavour::Enhanced).1.map(|note| note.what);
        assert_eq!(note("\u{e9}"), None);
        assert_eq!(note("e\u{301}"), Some(NORMALIZED.what));
        assert_eq!(note("@a"), Some(NAME.what));
    }

    #[test]
    fn names_are_as_long_as_the_library_reads_them_in_each_format() {
        let (classic, long) = (Flavour::Classic(Version::Classic), "x".repeat(256));
        let found = |name: &str, flavour| {
            let (stored, note) = stored(name, flavour);
            (stored.into_owned(), note.map(|note| note.what))
        };
        for flavour in [Flavour::Enhanced, Flavour::ClassicModel] {
            assert_eq!(found(&long, flavour), (long[..255].to_owned(), Some(NAME.what)));
            assert_eq!(found(&long[..255], flavour), (long[..255].to_owned(), None));
        }
        assert_eq!(found(&long, classic), (long.clone(), None));
        assert_eq!(found(&"x".repeat(300), classic), (long.clone(), Some(NAME.what)));
        assert_eq!(with_end(&long, "_t"), format!("{}_t", &long[..253]));
        // Each character takes two bytes.
        assert_eq!(with_end(&"\u{e9}".repeat(130), "_t").len(), 254);
    }

    #[test]
    fn paths_have_the_stored_names_of_all_groups() {
        let path = NodePath::root().child("@g").child("x");
        assert_eq!(of_names(&path, Flavour::Enhanced).as_str(), "/_40g/x");
        let mut paths = StoredPaths::new(Flavour::Enhanced);
        paths.rename(&path, "_nc4_non_coord_x");
        assert_eq!(paths.stored(&path).as_str(), "/_40g/_nc4_non_coord_x");
        assert_eq!(paths.stored(&NodePath::root().child("x")).as_str(), "/x");
    }
}
