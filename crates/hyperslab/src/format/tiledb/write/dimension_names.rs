//! Names of dimensions: in TileDB-CF, all dimensions with the same name in a group have the same domain.

use hyperslab_cf::dataspace::dataspace_name;
use hyperslab_model::NodePath;
use rustc_hash::{FxHashMap, FxHashSet};

/// The names of the dimensions of each group.
#[derive(Debug, Default)]
pub(super) struct DimensionNames {
    groups: FxHashMap<NodePath, Given>,
    /// Whether names that differ only in the suffix `.index` or `.data` count as the same, as in simple-0.2.0.
    without_suffix: bool,
}

/// The names assigned in a group.
#[derive(Debug, Default)]
struct Given {
    /// The last position of each name.
    ends: FxHashMap<Vec<u8>, u64>,
    /// The name assigned to a dimension, by its own name and its last position.
    names: FxHashMap<(Vec<u8>, u64), Vec<u8>>,
    /// The last number that was tried for a name.
    numbers: FxHashMap<Vec<u8>, u64>,
    stems: FxHashSet<Vec<u8>>,
}

impl DimensionNames {
    pub(super) fn new(without_suffix: bool) -> DimensionNames {
        DimensionNames { groups: FxHashMap::default(), without_suffix }
    }

    /// The name of a dimension of an array in a group: its own name, unless dimensions with a different domain have it.
    /// `taken` contains the names of the other dimensions of the array.
    pub(super) fn of(&mut self, group: Option<&NodePath>, own: &[u8], last: u64, taken: &[&[u8]]) -> Vec<u8> {
        let Some(group) = group else { return own.to_vec() };
        let without_suffix = self.without_suffix;
        let given = self.groups.entry(group.clone()).or_default();
        if let Some(known) =
            given.names.get(&(own.to_vec(), last)).filter(|known| !taken.contains(&&***known))
        {
            return known.clone();
        }
        let fits = |name: &[u8]| match given.ends.get(name) {
            _ if taken.contains(&name) => false,
            Some(end) => *end == last,
            None => !without_suffix || !given.stems.contains(stem(name)),
        };
        let number = given.numbers.entry(own.to_vec()).or_insert(1);
        let mut name = own.to_vec();
        while !fits(&name) {
            *number = number.saturating_add(1);
            name = [own, format!("_{number}").as_bytes()].concat();
        }
        given.ends.insert(name.clone(), last);
        given.stems.insert(stem(&name).to_vec());
        given.names.insert((own.to_vec(), last), name.clone());
        name
    }
}

/// The name without the suffix of TileDB-CF.
pub(super) fn stem(name: &[u8]) -> &[u8] {
    std::str::from_utf8(name).map_or(name, |name| dataspace_name(name).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_of_one_name_in_a_group_have_one_domain() {
        let (mut names, group) = (DimensionNames::new(false), NodePath::root());
        let mut of =
            |name: &str, last| String::from_utf8(names.of(Some(&group), name.as_bytes(), last, &[])).unwrap();
        assert_eq!(
            [of("x", 3), of("x", 4), of("x", 3), of("x", 4), of("x", 5)],
            ["x", "x_2", "x", "x_2", "x_3"]
        );
        assert_eq!(of("x.data", 3), "x.data");
    }

    #[test]
    fn suffixes_of_a_name_do_not_tell_dimensions_apart_where_the_convention_says_so() {
        let (mut names, group) = (DimensionNames::new(true), NodePath::root());
        let mut of = |name: &str| String::from_utf8(names.of(Some(&group), name.as_bytes(), 3, &[])).unwrap();
        assert_eq!([of("x"), of("x.data"), of("x")], ["x", "x.data_2", "x"]);
    }
}
