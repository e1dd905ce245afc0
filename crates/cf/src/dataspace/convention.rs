//! The six conventions.

use super::check;
use super::{Dataspace, GROUP_ARRAY};
use crate::finding::Finding;
use hyperslab_core::check::Rule;

/// One version of a convention.
#[derive(Debug)]
pub struct Convention {
    /// The name: `simple-0.3.0`.
    pub name: &'static str,
    /// Whether the metadata of groups are stored in a separate array, which the other rules ignore.
    has_group_array: bool,
}

impl Convention {
    /// The convention with this name.
    pub fn of(name: &str) -> Option<&'static Convention> {
        CONVENTIONS.iter().find(|convention| convention.name == name)
    }

    /// Whether the metadata of groups are stored in a separate array, [`GROUP_ARRAY`].
    pub fn has_group_array(&self) -> bool {
        self.has_group_array
    }

    /// The rules.
    pub fn rules(&self) -> impl Iterator<Item = &'static Rule> {
        check::of_convention(self.name).map(|row| row.rule)
    }

    /// The violations of the convention in a group.
    pub fn check(&self, space: &Dataspace) -> Vec<Finding> {
        let is_other = |name: Option<&str>| !self.has_group_array || name != Some(GROUP_ARRAY);
        let arrays: Vec<_> = space.arrays.iter().filter(|array| is_other(array.name.as_deref())).collect();
        check::of_convention(self.name).flat_map(|row| row.findings(space, &arrays)).collect()
    }
}

/// All conventions. The table of checks states which rules each of them has.
pub static CONVENTIONS: &[Convention] = &[
    Convention { name: "cf-0.1.0", has_group_array: true },
    Convention { name: "indexable-0.1.0", has_group_array: true },
    Convention { name: "cf-0.2.0", has_group_array: true },
    Convention { name: "simple-0.2.0", has_group_array: true },
    Convention { name: "cf-0.3.0", has_group_array: false },
    Convention { name: "simple-0.3.0", has_group_array: false },
];
