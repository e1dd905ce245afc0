//! The six conventions.

use super::check;
use super::{Dataspace, GROUP_ARRAY};
use crate::finding::Finding;
use hyperslab_core::check::Rule;

/// A convention of a version.
#[derive(Debug)]
pub struct Convention {
    /// The name: `simple-0.3.0`.
    pub name: &'static str,
    /// Whether metadata of groups are in an array of their own, which has no part in the other rules.
    has_group_array: bool,
}

impl Convention {
    /// The convention of a name.
    pub fn of(name: &str) -> Option<&'static Convention> {
        CONVENTIONS.iter().find(|convention| convention.name == name)
    }

    /// Whether metadata of groups are in an array of their own, [`GROUP_ARRAY`].
    pub fn has_group_array(&self) -> bool {
        self.has_group_array
    }

    /// The rules.
    pub fn rules(&self) -> impl Iterator<Item = &'static Rule> {
        check::of_convention(self.name).map(|row| row.rule)
    }

    /// What of the convention does not hold in a group.
    pub fn check(&self, space: &Dataspace) -> Vec<Finding> {
        let is_other = |name: Option<&str>| !self.has_group_array || name != Some(GROUP_ARRAY);
        let arrays: Vec<_> = space.arrays.iter().filter(|array| is_other(array.name.as_deref())).collect();
        check::of_convention(self.name).flat_map(|row| row.findings(space, &arrays)).collect()
    }
}

/// All conventions. The table of checks says which rules each has.
pub static CONVENTIONS: &[Convention] = &[
    Convention { name: "cf-0.1.0", has_group_array: true },
    Convention { name: "indexable-0.1.0", has_group_array: true },
    Convention { name: "cf-0.2.0", has_group_array: true },
    Convention { name: "simple-0.2.0", has_group_array: true },
    Convention { name: "cf-0.3.0", has_group_array: false },
    Convention { name: "simple-0.3.0", has_group_array: false },
];
