//! Encodes names that are not allowed for nodes, and restores them.
//!
//! A name that is not allowed is percent-encoded, and shortened if it is too long. The [record] of the node keeps the
//! original name: the node `%5F_cache` with the record `{"name": "__cache"}` has the name `__cache`. Names are never
//! decoded, because `%5F` in a store of another writer can be literal. Names that differ only in case are allowed, and
//! remain where the store distinguishes them.
//!
//! The same rules apply in version 2, because readers and file systems have the same difficulties there, but it does
//! not reserve `__`. The name that xarray gives to an unnamed array is also kept in version 3: xarray writes it there,
//! and looks for it.
//!
//! Spec: Zarr v3 "Node names"

use crate::hierarchy::Node;
use crate::json::{Json, Object};
use crate::record;
use crate::write::Version;
use hyperslab_core::{Error, ErrorKind, Result};
use std::collections::{HashMap, HashSet};
use std::fmt;

/// The member of a record with the original name of the node.
pub const NAME: &str = "name";

/// The names directly below one group.
#[derive(Clone, Debug)]
pub struct Names {
    version: Version,
    /// Whether the store distinguishes names that differ only in case.
    distinguishes_case: bool,
    /// The assigned names, by the requested name.
    assigned: HashMap<String, Assigned>,
    /// The assigned names.
    taken: HashSet<String>,
    /// The assigned names in lower case.
    lower: HashSet<String>,
}

/// The name of a node in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assigned {
    /// The name.
    pub name: String,
    /// The reason why it differs from the requested name. `None` if it is the same.
    pub reason: Option<Reason>,
    /// Whether it differs from another name only in case.
    pub differs_in_case: bool,
}

/// The reason why a name is not allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// It is empty.
    Empty,
    /// It consists only of dots.
    OnlyDots,
    /// It begins with `__`, which version 3 reserves.
    Reserved,
    /// It is the name of a document, or begins with `.z` like those of version 2.
    Document,
    /// It has `/` or `\`, which separate names.
    Separator,
    /// It has a control character or another invisible character.
    Control,
    /// It looks like an encoded name: `%` before two hexadecimal digits.
    Percent,
    /// It has more than 255 bytes.
    TooLong,
    /// It differs from the name of a sibling only in case.
    Clash,
}

impl Names {
    /// The names of a group without children, in a store that may [distinguish
    /// case](hyperslab_core::store::WritableStore::distinguishes_case).
    pub fn new(version: Version, distinguishes_case: bool) -> Names {
        let (assigned, taken, lower) = Default::default();
        Names { version, distinguishes_case, assigned, taken, lower }
    }

    /// Assigns the name of a node in the store. If two names clash, the first one stays unchanged.
    ///
    /// # Errors
    /// [`ErrorKind::AlreadyExists`] for a name that was assigned before.
    pub fn assign(&mut self, name: &str) -> Result<Assigned> {
        if self.assigned.contains_key(name) {
            return Err(Error::new(ErrorKind::AlreadyExists, format!("a second node {name:?}")));
        }
        let attempts: [&dyn Fn(char) -> bool; 4] =
            [&|_| false, &char::is_uppercase, &|c| c.is_uppercase() || c.is_lowercase(), &|_| true];
        for (number, extra) in attempts.into_iter().enumerate() {
            let mut assigned = escape(name, self.version, extra);
            let lower = assigned.name.to_lowercase();
            assigned.differs_in_case = self.lower.contains(&lower);
            let is_free = self.distinguishes_case || !assigned.differs_in_case;
            if is_free && self.taken.insert(assigned.name.clone()) {
                self.lower.insert(lower);
                if number > 0 {
                    assigned.reason.get_or_insert(Reason::Clash);
                }
                self.assigned.insert(name.to_owned(), assigned.clone());
                return Ok(assigned);
            }
        }
        Err(Error::new(ErrorKind::AlreadyExists, format!("no name is left for {name:?}")))
    }

    /// Releases a name, so that it can be assigned again.
    pub fn release(&mut self, name: &str) {
        if let Some(assigned) = self.assigned.remove(name) {
            self.taken.remove(&assigned.name);
            let lower = assigned.name.to_lowercase();
            if !self.taken.iter().any(|other| other.to_lowercase() == lower) {
                self.lower.remove(&lower);
            }
        }
    }

    /// The assigned name for the requested name `name`.
    pub fn get(&self, name: &str) -> Option<&Assigned> {
        self.assigned.get(name)
    }
}

impl Assigned {
    /// Adds the requested name to the record of the node, if the assigned name differs.
    pub fn record(&self, original: &str, record: &mut Object) {
        if self.reason.is_some() {
            record.insert(NAME, original.into());
        }
    }
}

/// The reason why no node of a version can have this name. `None` if it is allowed.
pub fn forbids(name: &str, version: Version) -> Option<Reason> {
    escape(name, version, &|_| false).reason
}

/// The original name in the record of a node.
pub fn recorded(node: &Node) -> Option<String> {
    let (record, _) = record::of(node).ok()??;
    record.get(NAME).and_then(Json::as_str).map(str::to_owned)
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::Empty => "is empty",
            Reason::OnlyDots => "has only dots",
            Reason::Reserved => "begins with __, which is reserved",
            Reason::Document => "is the name of a document",
            Reason::Separator => "has a separator of names",
            Reason::Control => "has a control character",
            Reason::Percent => "looks like an encoded name",
            Reason::TooLong => "has more than 255 bytes",
            Reason::Clash => "differs from another name only in case",
        })
    }
}

/// Percent-encodes the characters that are not allowed, and those that `extra` selects.
fn escape(name: &str, version: Version, extra: &dyn Fn(char) -> bool) -> Assigned {
    let whole = whole_reason(name, version);
    let mut reason = whole;
    let mut out = String::with_capacity(name.len());
    for (at, c) in name.char_indices() {
        let rest = name.get(at + c.len_utf8()..).unwrap_or_default();
        let own = match c {
            '/' | '\\' => Some(Reason::Separator),
            c if c.is_control() => Some(Reason::Control),
            '%' if is_code(rest) => Some(Reason::Percent),
            _ => None,
        };
        reason = reason.or(own);
        let by_whole = match whole {
            Some(Reason::OnlyDots) => true,
            Some(Reason::Reserved | Reason::Document) => at == 0,
            _ => false,
        };
        match own.is_some() || by_whole || extra(c) {
            true => encode(c, &mut out),
            false => out.push(c),
        }
    }
    if name.is_empty() {
        out.push_str(CUT);
    }
    if out.len() > MAX_BYTES {
        reason.get_or_insert(Reason::TooLong);
        out = cut(&out, name);
    }
    Assigned { name: out, reason, differs_in_case: false }
}

fn whole_reason(name: &str, version: Version) -> Option<Reason> {
    let begins = |with: &str| name.get(..with.len()).is_some_and(|head| head.eq_ignore_ascii_case(with));
    match name {
        "" => Some(Reason::Empty),
        name if name.bytes().all(|byte| byte == b'.') => Some(Reason::OnlyDots),
        UNNAMED_IN_XARRAY => None,
        name if name.starts_with("__") && version == Version::V3 => Some(Reason::Reserved),
        _ if begins(".z") || name.eq_ignore_ascii_case("zarr.json") => Some(Reason::Document),
        _ => None,
    }
}

/// Whether the text after a percent sign makes it an encoded character.
fn is_code(rest: &str) -> bool {
    match rest.as_bytes() {
        [b'~', ..] => true,
        [high, low, ..] => high.is_ascii_hexdigit() && low.is_ascii_hexdigit(),
        _ => false,
    }
}

fn encode(c: char, out: &mut String) {
    for byte in c.encode_utf8(&mut [0; 4]).bytes() {
        out.push_str(&format!("%{byte:02X}"));
    }
}

/// The longest prefix that fits, and a hash of the whole name.
fn cut(encoded: &str, name: &str) -> String {
    let end = format!("{CUT}{:016x}", fnv(name.as_bytes()));
    let mut len = MAX_BYTES.saturating_sub(end.len());
    while !encoded.is_char_boundary(len) {
        len -= 1;
    }
    let head = encoded.get(..len).unwrap_or_default();
    // Do not cut inside an encoded character.
    let head = match head.rfind('%') {
        Some(at) if head.len() - at < 3 => head.get(..at).unwrap_or_default(),
        _ => head,
    };
    format!("{head}{end}")
}

/// FNV-1a of 64 bits.
fn fnv(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

/// The name under which xarray stores an array that has none.
const UNNAMED_IN_XARRAY: &str = "__xarray_dataarray_variable__";

/// The maximum length of a name in bytes. File systems have the same limit.
const MAX_BYTES: usize = 255;

/// The mark before the hash of a shortened name.
const CUT: &str = "%~";

#[cfg(test)]
mod tests {
    use super::*;
    use hyperslab_core::store::Key;
    use proptest::prelude::*;

    fn assign(name: &str) -> (String, Option<Reason>) {
        let assigned = Names::new(Version::V3, false).assign(name).unwrap();
        (assigned.name, assigned.reason)
    }

    fn decode(name: &str) -> Option<String> {
        let mut bytes = Vec::new();
        let mut rest = name;
        while let Some(c) = rest.chars().next() {
            let after = &rest[c.len_utf8()..];
            match c {
                '%' if after.starts_with('~') => return None,
                '%' if is_code(after) => {
                    bytes.push(u8::from_str_radix(&after[..2], 16).unwrap());
                    rest = &after[2..];
                }
                c => {
                    bytes.extend(c.to_string().bytes());
                    rest = after;
                }
            }
        }
        Some(String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn keeps_allowed_names() {
        for name in ["t2m", "c", "0", "0.0", "_x", "a__", "100%", "5%2", ".hidden", "å ß", "a.b", "zarr.jso"]
        {
            assert_eq!(assign(name), (name.to_owned(), None));
        }
    }

    #[test]
    fn encodes_forbidden_names_with_the_reason() {
        let long = "ä".repeat(128);
        for (name, expected, reason) in [
            ("", "%~", Reason::Empty),
            (".", "%2E", Reason::OnlyDots),
            ("..", "%2E%2E", Reason::OnlyDots),
            ("...", "%2E%2E%2E", Reason::OnlyDots),
            ("__a", "%5F_a", Reason::Reserved),
            ("zarr.json", "%7Aarr.json", Reason::Document),
            ("Zarr.JSON", "%5Aarr.JSON", Reason::Document),
            (".zgroup", "%2Ezgroup", Reason::Document),
            (".Z", "%2EZ", Reason::Document),
            ("a/b", "a%2Fb", Reason::Separator),
            ("/../etc", "%2F..%2Fetc", Reason::Separator),
            ("a\\b", "a%5Cb", Reason::Separator),
            ("a\nb\0", "a%0Ab%00", Reason::Control),
            ("\u{85}", "%C2%85", Reason::Control),
            ("%~", "%25~", Reason::Percent),
            ("50%25", "50%2525", Reason::Percent),
            (&long, &format!("{}%~{:016x}", "ä".repeat(118), fnv(long.as_bytes())), Reason::TooLong),
        ] {
            assert_eq!(assign(name), (expected.to_owned(), Some(reason)), "{name:?}");
        }
    }

    #[test]
    fn distinguishes_names_that_differ_only_in_case() {
        let mut names = Names::new(Version::V3, false);
        let mut all = Vec::new();
        for name in ["Ab", "ab", "aB", "AB", "É", "é", "%41b"] {
            let assigned = names.assign(name).unwrap();
            assert!(decode(&assigned.name).unwrap() == name);
            assert_eq!(
                assigned.reason == Some(Reason::Clash),
                ["ab", "aB", "AB", "é"].contains(&name),
                "{name}"
            );
            all.push(assigned.name.to_lowercase());
        }
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 7);
        assert_eq!(names.assign("ab").unwrap_err().kind(), ErrorKind::AlreadyExists);
    }

    #[test]
    fn names_that_differ_only_in_case_stay_where_case_is_distinguished() {
        let mut names = Names::new(Version::V3, true);
        for (name, differs_in_case) in [("T", false), ("t", true), ("x", false), ("X", true)] {
            let assigned = names.assign(name).unwrap();
            assert_eq!(
                (assigned.name.as_str(), assigned.reason, assigned.differs_in_case),
                (name, None, differs_in_case)
            );
        }
        names.release("t");
        names.release("T");
        assert!(!names.assign("t").unwrap().differs_in_case);
    }

    #[test]
    fn version_2_reserves_no_names_with_underscores() {
        let mut names = Names::new(Version::V2, false);
        let assigned = ["__a", "__", "__/"].map(|name| names.assign(name).unwrap());
        assert_eq!(
            assigned.map(|of| (of.name, of.reason)),
            [
                ("__a".to_owned(), None),
                ("__".to_owned(), None),
                ("__%2F".to_owned(), Some(Reason::Separator)),
            ]
        );
        assert_eq!(forbids("__a", Version::V2), None);
        assert_eq!(forbids("__a", Version::V3), Some(Reason::Reserved));
    }

    #[test]
    fn xarray_finds_its_array_without_a_name() {
        for version in [Version::V2, Version::V3] {
            let assigned = Names::new(version, false).assign("__xarray_dataarray_variable__").unwrap();
            assert_eq!((assigned.name.as_str(), assigned.reason), ("__xarray_dataarray_variable__", None));
        }
        assert_eq!(forbids("__xarray_dataarray_variable__2", Version::V3), Some(Reason::Reserved));
    }

    #[test]
    fn records_restore_names() {
        let assigned = Names::new(Version::V3, false).assign("__a").unwrap();
        let mut record = Object::new();
        assigned.record("__a", &mut record);
        assert_eq!(record.get(NAME).and_then(Json::as_str), Some("__a"));
        let mut record = Object::new();
        Names::new(Version::V3, false).assign("a").unwrap().record("a", &mut record);
        assert!(record.is_empty());
    }

    proptest! {
        /// Assigned names are allowed, unique and single path components.
        #[test]
        fn any_name_becomes_an_allowed_name(
            asked in prop::collection::hash_set("([._%/\\\\~\u{0}zZaA4ßé1]|\\PC){0,300}|[aA%4]{0,4}", 1..8),
        ) {
            let mut names = Names::new(Version::V3, false);
            let mut given = HashSet::new();
            for name in &asked {
                let Assigned { name: found, reason, .. } = names.assign(name).unwrap();
                prop_assert_eq!(reason.is_some(), found != *name);
                prop_assert!(!found.is_empty() && found.len() <= MAX_BYTES);
                prop_assert!(!found.contains(['/', '\\']) && !found.contains(char::is_control));
                prop_assert!(!found.starts_with("__") && !found.to_lowercase().starts_with(".z"));
                prop_assert!(found.to_lowercase() != "zarr.json" && found.bytes().any(|byte| byte != b'.'));
                prop_assert!(Key::new(&found).is_ok());
                prop_assert!(decode(&found).is_none_or(|decoded| decoded == *name));
                prop_assert!(given.insert(found.to_lowercase()));
            }
        }
    }
}
