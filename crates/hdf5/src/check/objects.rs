//! The objects of the file: how they are reached, counted and named.

use super::reading::Pointer;
use super::rule;
use super::{Checker, max};
use crate::format::Address;
use hyperslab_core::links::{Way, byte_names};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

/// The number of the file itself.
pub(super) const FILE: u32 = 0;

/// All objects in the order in which they were reached: parents before children.
pub(super) struct Objects {
    entries: Vec<Entry>,
    by_address: FxHashMap<u64, u32>,
    /// Names, one after the other.
    names: Vec<u8>,
    /// The target of each link, by [`key`].
    links: FxHashMap<u64, Leads>,
    soft: Vec<SoftLink>,
    references: FxHashMap<u64, Pointer>,
    max: usize,
}

/// An object.
struct Entry {
    address: u64,
    parent: u32,
    name: Name,
    /// The number of hard links.
    links: u32,
    /// The number of messages that share its datatype.
    uses: u32,
    counted: Option<Counted>,
    /// The first link or message that led to it.
    from: Pointer,
    cached: Option<Cached>,
    is_sound: bool,
    /// Whether it was reached by a link, and not only by messages that share it.
    is_linked: bool,
}

/// The addresses that a symbol table entry repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cached {
    pub(super) btree: Address,
    pub(super) heap: Address,
    pub(super) byte: u64,
}

/// The counts in the header of an object.
#[derive(Clone, Copy)]
struct Counted {
    count: u32,
    structure: &'static str,
    byte: u64,
}

/// A range of `names`.
#[derive(Clone, Copy)]
struct Name {
    start: u32,
    len: u32,
}

#[derive(Clone, Copy)]
enum Leads {
    Object(u32),
    Soft(u32),
    Elsewhere,
}

struct SoftLink {
    parent: u32,
    path: Name,
    from: Pointer,
}

impl Objects {
    /// A table for at most `max` objects.
    pub(super) fn new(max: usize) -> Self {
        let file = Entry {
            address: u64::MAX,
            parent: FILE,
            name: Name { start: 0, len: 0 },
            links: 0,
            uses: 0,
            counted: None,
            from: Pointer { structure: "file", byte: 0 },
            cached: None,
            is_sound: false,
            is_linked: false,
        };
        Objects {
            entries: vec![file],
            by_address: FxHashMap::default(),
            names: Vec::new(),
            links: FxHashMap::default(),
            soft: Vec::new(),
            references: FxHashMap::default(),
            max,
        }
    }

    pub(super) fn exists(&self, object: u32) -> bool {
        usize::try_from(object).is_ok_and(|object| object < self.entries.len())
    }

    /// The number of objects.
    pub(super) fn len(&self) -> u64 {
        self.entries.len() as u64 - 1
    }

    pub(super) fn address(&self, object: u32) -> Address {
        self.entry(object).map_or(Address::UNDEFINED, |entry| Address(entry.address))
    }

    pub(super) fn number(&self, address: Address) -> Option<u32> {
        self.by_address.get(&address.0).copied()
    }

    /// The first link or message that led to the object.
    pub(super) fn from(&self, object: u32) -> Pointer {
        self.entry(object).map_or(Pointer { structure: "file", byte: 0 }, |entry| entry.from)
    }

    pub(super) fn cached(&self, object: u32) -> Option<Cached> {
        self.entry(object).and_then(|entry| entry.cached)
    }

    /// Records the counts in the header of an object.
    pub(super) fn count(&mut self, object: u32, count: u32, structure: &'static str, byte: u64) {
        if let Some(entry) = self.entry_mut(object) {
            entry.counted = Some(Counted { count, structure, byte });
        }
    }

    /// Records that the header of an object could be read.
    pub(super) fn set_sound(&mut self, object: u32) {
        if let Some(entry) = self.entry_mut(object) {
            entry.is_sound = true;
        }
    }

    /// The path by which an object was reached first. `None` for the file.
    pub(super) fn path(&self, object: u32) -> Option<String> {
        if object == FILE || !self.exists(object) {
            return None;
        }
        let mut names = Vec::new();
        let (mut at, mut len) = (object, 0_usize);
        while let Some(entry) = self.entry(at).filter(|entry| entry.parent != FILE) {
            let name = self.text(entry.name);
            len = len.saturating_add(name.len() + 1);
            if len > MAX_PATH {
                names.push("…".into());
                break;
            }
            names.push(String::from_utf8_lossy(name));
            at = entry.parent;
        }
        if names.is_empty() {
            return Some("/".to_owned());
        }
        Some(names.iter().rev().fold(String::new(), |path, name| path + "/" + name))
    }

    fn entry(&self, object: u32) -> Option<&Entry> {
        self.entries.get(usize::try_from(object).ok()?)
    }

    fn entry_mut(&mut self, object: u32) -> Option<&mut Entry> {
        self.entries.get_mut(usize::try_from(object).ok()?)
    }

    fn text(&self, name: Name) -> &[u8] {
        let start = usize::try_from(name.start).unwrap_or(usize::MAX);
        let end = start.saturating_add(usize::try_from(name.len).unwrap_or(usize::MAX));
        self.names.get(start..end).unwrap_or_default()
    }

    /// Stores a name, shortened if there is not enough room.
    fn keep(&mut self, name: &[u8]) -> Name {
        let room = self.max.saturating_mul(NAME_SIZE).min(u32::MAX as usize).saturating_sub(self.names.len());
        let kept = name.get(..room.min(name.len())).unwrap_or_default();
        let start = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        self.names.extend_from_slice(kept);
        Name { start, len: u32::try_from(kept.len()).unwrap_or(0) }
    }

    /// The object at an address, which is added if it is new. `None` if there is no room.
    fn reach(&mut self, address: u64, parent: u32, name: &[u8], from: Pointer) -> Option<u32> {
        if let Some(number) = self.by_address.get(&address) {
            return Some(*number);
        }
        let number = u32::try_from(self.entries.len()).ok().filter(|_| self.entries.len() < self.max)?;
        let name = self.keep(name);
        self.entries.push(Entry {
            address,
            parent,
            name,
            links: 0,
            uses: 0,
            counted: None,
            from,
            cached: None,
            is_sound: false,
            is_linked: false,
        });
        self.by_address.insert(address, number);
        Some(number)
    }

    fn add_link(&mut self, parent: u32, name: &[u8], leads: Leads) {
        if self.links.len() < self.max.saturating_mul(2) {
            self.links.insert(key(parent, name), leads);
        }
    }

    /// Follows a path from the object `start`.
    fn follow(&self, start: u32, path: &[u8], steps: &mut u64) -> Followed {
        let begin = |parent, path: &[u8]| if path.first() == Some(&b'/') { ROOT } else { parent };
        let mut way = Way::new(byte_names(path));
        let mut at = begin(start, path);
        while let Some(name) = way.step() {
            let Some(left) = steps.checked_sub(1) else { return Followed::Unknown };
            *steps = left;
            match self.links.get(&key(at, name)) {
                Some(Leads::Object(object)) => at = *object,
                Some(Leads::Elsewhere) => return Followed::Unknown,
                Some(Leads::Soft(soft)) => {
                    let link = usize::try_from(*soft).ok().and_then(|soft| self.soft.get(soft));
                    let Some(link) = link else { return Followed::Nowhere };
                    let path = self.text(link.path);
                    if !way.follow(byte_names(path)) {
                        return Followed::Nowhere;
                    }
                    at = begin(link.parent, path);
                }
                None => return Followed::Nowhere,
            }
        }
        Followed::Object(at)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Followed {
    Object(u32),
    Nowhere,
    Unknown,
}

impl Checker<'_> {
    /// Adds the root group. The superblock counts as a link to it.
    pub(super) fn reach_root(&mut self, address: Address, cached: Option<Cached>, from: Pointer) {
        if self.objects.reach(address.0, FILE, b"", from).is_some()
            && let Some(entry) = self.objects.entry_mut(ROOT)
        {
            entry.links = 1;
            entry.is_linked = true;
            entry.cached = cached;
        }
    }

    /// Follows a hard link of the current object.
    pub(super) fn reach_by_link(
        &mut self,
        name: &[u8],
        address: Address,
        cached: Option<Cached>,
        from: Pointer,
    ) {
        if address.is_undefined() {
            let message = format!("the link {} leads to an undefined address", shown(name));
            self.report(&rule::LINK_TARGET, from.structure, from.byte, message);
            return;
        }
        let parent = self.current;
        let Some(number) = self.objects.reach(address.0, parent, name, from) else {
            return self.no_room(from);
        };
        self.objects.add_link(parent, name, Leads::Object(number));
        let is_first = self.objects.entry(number).is_some_and(|entry| !entry.is_linked);
        let renamed = is_first.then(|| self.objects.keep(name));
        if let Some(entry) = self.objects.entry_mut(number) {
            entry.links = entry.links.saturating_add(1);
            entry.is_linked = true;
            entry.cached = entry.cached.or(cached);
            // Until now, only messages had led to it.
            if let Some(name) = renamed.filter(|_| parent < number) {
                (entry.parent, entry.name) = (parent, name);
            }
        }
    }

    /// Counts a message of the current object that shares a message of the object at `address`.
    pub(super) fn reach_by_message(&mut self, address: Address, from: Pointer) {
        let parent = self.current;
        let counts = !self.shared.is_repeated;
        match self.objects.reach(address.0, parent, b"(shared datatype)", from) {
            Some(number) => {
                if let Some(entry) = self.objects.entry_mut(number).filter(|_| counts) {
                    entry.uses = entry.uses.saturating_add(1);
                }
            }
            None => self.no_room(from),
        }
    }

    /// Adds a soft link of the current object.
    pub(super) fn add_soft_link(&mut self, name: &[u8], path: &[u8], from: Pointer) {
        let number = u32::try_from(self.objects.soft.len()).unwrap_or(u32::MAX);
        if self.objects.soft.len() >= self.objects.max {
            return self.no_room(from);
        }
        let parent = self.current;
        self.objects.add_link(parent, name, Leads::Soft(number));
        let path = self.objects.keep(path);
        self.objects.soft.push(SoftLink { parent, path, from });
    }

    /// Adds a link of the current object to another file, or a user-defined one.
    pub(super) fn add_foreign_link(&mut self, name: &[u8]) {
        let parent = self.current;
        self.objects.add_link(parent, name, Leads::Elsewhere);
    }

    /// Records a reference to an object, to be checked when all objects are known.
    pub(super) fn add_reference(&mut self, address: Address, from: Pointer) {
        let known = self.objects.by_address.contains_key(&address.0);
        if !known && self.objects.references.len() < max(self.stored, REFERENCE_SIZE) {
            self.objects.references.entry(address.0).or_insert(from);
        }
    }

    /// Whether a path from the root leads to an object. `None` if that is unknown.
    pub(super) fn path_exists(&self, path: &[u8]) -> Option<bool> {
        let mut steps = MAX_STEPS;
        match self.objects.follow(ROOT, path, &mut steps) {
            Followed::Object(_) => Some(true),
            Followed::Nowhere => Some(false),
            Followed::Unknown => None,
        }
    }

    fn no_room(&mut self, from: Pointer) {
        self.complete = false;
        if !self.tired {
            self.tired = true;
            let message = "more objects than the limits allow; the rest are not followed";
            self.report(&rule::LIMIT, from.structure, from.byte, message);
        }
    }

    /// Compares the counts in headers with the links that were found.
    pub(super) fn check_reference_counts(&mut self) {
        for number in 1..u32::try_from(self.objects.entries.len()).unwrap_or(u32::MAX) {
            let Some(entry) = self.objects.entry(number) else { break };
            let Some(Counted { count, structure, byte }) = entry.counted else { continue };
            let (links, uses) = (entry.links, entry.uses);
            let all = links.saturating_add(uses);
            // The missing links may be those that could not be read.
            if count == all || count > all && !self.complete {
                continue;
            }
            // When libhdf5 copies objects, it does not count all messages that share a datatype.
            let rule = if uses == 0 || count < links { &rule::REFERENCE_COUNT } else { &rule::USE_COUNT };
            let message = format!(
                "a reference count of {count}, but {links} links and {uses} messages refer to the object"
            );
            self.about(number, |checker| {
                checker.report_bytes(rule, structure, byte, Some(4), message);
            });
        }
    }

    /// Reports references to objects that have no link.
    pub(super) fn check_references(&mut self) {
        let mut references: Vec<(u64, Pointer)> = self.objects.references.drain().collect();
        references.retain(|(address, _)| {
            let number = self.objects.by_address.get(address);
            number.is_none_or(|number| !self.objects.entry(*number).is_some_and(|entry| entry.is_sound))
        });
        references.sort_unstable_by_key(|(address, from)| (from.byte, *address));
        for (address, from) in references {
            if !self.complete {
                break;
            }
            let message = format!("refers to {}, where no object is", Address(address));
            self.report(&rule::DANGLING_REFERENCE, from.structure, from.byte, message);
        }
    }

    /// Reports soft links to paths that do not exist.
    pub(super) fn check_soft_links(&mut self) {
        let mut steps = MAX_STEPS;
        for at in 0..self.objects.soft.len() {
            let Some(link) = self.objects.soft.get(at) else { break };
            let path = self.objects.text(link.path);
            if self.objects.follow(link.parent, path, &mut steps) != Followed::Nowhere || !self.complete {
                continue;
            }
            let message = format!("leads to {}, which does not exist", shown(path));
            let (parent, from) = (link.parent, link.from);
            self.about(parent, |checker| {
                checker.report(&rule::DANGLING_SOFT_LINK, from.structure, from.byte, message);
            });
        }
    }
}

/// A name for messages, shortened if it is long.
pub(super) fn shown(name: &[u8]) -> String {
    let text = String::from_utf8_lossy(name.get(..name.len().min(MAX_SHOWN)).unwrap_or_default());
    let more = if name.len() > MAX_SHOWN { "…" } else { "" };
    format!("{text:?}{more}")
}

/// A key that is unique for a link of an object.
fn key(parent: u32, name: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    parent.hash(&mut hasher);
    name.hash(&mut hasher);
    hasher.finish()
}

/// The number of the root group, which is reached first.
pub(super) const ROOT: u32 = 1;

const MAX_PATH: usize = 4096;
const MAX_SHOWN: usize = 200;
/// The bytes of names for each object, on average.
const NAME_SIZE: usize = 64;
const REFERENCE_SIZE: u64 = 64;
const MAX_STEPS: u64 = 1 << 22;
