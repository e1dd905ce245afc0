//! The members of an object, found by name in constant time even if there are many.

use super::{Json, Name};
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

/// Members in the order of the document. Most objects have few members, which are searched one after the other.
#[derive(Clone, Debug)]
pub(super) enum Members {
    Few(Vec<(Name, Json)>),
    Many(Box<Indexed>),
}

#[derive(Clone, Debug)]
pub(super) struct Indexed {
    list: Vec<(Name, Json)>,
    /// The index of the first member with each hash, which takes less memory than the name.
    places: HashMap<u64, usize>,
    hasher: RandomState,
}

impl Members {
    pub(super) fn of(list: Vec<(Name, Json)>) -> Members {
        if list.len() <= FEW {
            return Members::Few(list);
        }
        let (hasher, mut places) = (RandomState::new(), HashMap::with_capacity(list.len()));
        for (place, (name, _)) in list.iter().enumerate() {
            places.entry(hasher.hash_one(&**name)).or_insert(place);
        }
        Members::Many(Box::new(Indexed { list, places, hasher }))
    }

    pub(super) fn list(&self) -> &[(Name, Json)] {
        match self {
            Members::Few(list) => list,
            Members::Many(indexed) => &indexed.list,
        }
    }

    pub(super) fn into_list(self) -> Vec<(Name, Json)> {
        match self {
            Members::Few(list) => list,
            Members::Many(indexed) => indexed.list,
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&Json> {
        self.list().get(self.place(name)?).map(|(_, value)| value)
    }

    pub(super) fn get_mut(&mut self, name: &str) -> Option<&mut Json> {
        let place = self.place(name)?;
        let list = match self {
            Members::Few(list) => list,
            Members::Many(indexed) => &mut indexed.list,
        };
        list.get_mut(place).map(|(_, value)| value)
    }

    /// Adds a member whose name no other member has.
    pub(super) fn push(&mut self, name: Name, value: Json) {
        match self {
            Members::Few(list) => {
                list.push((name, value));
                if list.len() > FEW {
                    *self = Members::of(std::mem::take(list));
                }
            }
            Members::Many(indexed) => {
                let hash = indexed.hasher.hash_one(&*name);
                indexed.places.entry(hash).or_insert(indexed.list.len());
                indexed.list.push((name, value));
            }
        }
    }

    pub(super) fn remove(&mut self, name: &str) -> Option<Json> {
        let place = self.place(name)?;
        let mut list = std::mem::take(self).into_list();
        let (_, value) = list.remove(place);
        *self = Members::of(list);
        Some(value)
    }

    fn place(&self, name: &str) -> Option<usize> {
        let search = |list: &[(Name, Json)]| list.iter().position(|(found, _)| found == name);
        match self {
            Members::Few(list) => search(list),
            Members::Many(indexed) => {
                let place = *indexed.places.get(&indexed.hasher.hash_one(name))?;
                let is_found = indexed.list.get(place).is_some_and(|(found, _)| found == name);
                // Another name with the same hash, which hardly ever happens.
                if is_found { Some(place) } else { search(&indexed.list) }
            }
        }
    }
}

impl Default for Members {
    fn default() -> Members {
        Members::Few(Vec::new())
    }
}

impl PartialEq for Members {
    fn eq(&self, other: &Members) -> bool {
        self.list() == other.list()
    }
}

/// The number of members up to which a search is as fast as an index.
const FEW: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_members_are_found_as_few_are() {
        assert_eq!(size_of::<Members>(), size_of::<Vec<(Name, Json)>>(), "an index costs nothing without it");
        let mut members = Members::default();
        let name = |number: u64| format!("a{number}");
        for number in 0..100 {
            members.push(name(number).into(), number.into());
        }
        assert_eq!(members, Members::of(members.list().to_vec()));
        assert_eq!(members.remove("a7"), Some(7.into()));
        assert_eq!((members.get("a7"), members.get("a8")), (None, Some(&8.into())));
        *members.get_mut("a99").unwrap() = Json::Null;
        for number in 8..99 {
            assert_eq!(members.remove(&name(number)), Some(number.into()));
        }
        let left: Vec<_> = members.list().iter().map(|(name, _)| &**name).collect();
        assert_eq!(left, ["a0", "a1", "a2", "a3", "a4", "a5", "a6", "a99"]);
        assert_eq!(members.get("a99"), Some(&Json::Null));
    }
}
