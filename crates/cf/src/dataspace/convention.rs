//! The six conventions, and which rules each has.

use super::check::{self, Finding};
use super::rules::*;
use super::{Dataspace, GROUP_ARRAY};
use hyperslab_core::check::Rule;

/// A convention of a version.
#[derive(Debug)]
pub struct Convention {
    /// The name: `simple-0.3.0`.
    pub name: &'static str,
    /// The rules.
    pub rules: &'static [&'static Rule],
    /// Whether metadata of groups are in an array of their own, which has no part in the other rules.
    has_group_array: bool,
}

impl Convention {
    /// The convention of a name.
    pub fn of(name: &str) -> Option<&'static Convention> {
        CONVENTIONS.iter().find(|convention| convention.name == name)
    }

    /// What of the convention does not hold in a group.
    pub fn check(&self, space: &Dataspace) -> Vec<Finding> {
        let is_other = |name: Option<&str>| !self.has_group_array || name != Some(GROUP_ARRAY);
        let arrays: Vec<_> = space.arrays.iter().filter(|array| is_other(array.name.as_deref())).collect();
        self.rules.iter().flat_map(|rule| check::rule(rule, space, &arrays)).collect()
    }
}

/// All conventions.
pub static CONVENTIONS: &[Convention] = &[
    Convention {
        name: "cf-0.1.0",
        rules: &[
            &NAMED,
            &DIM_COLLECTION,
            &ATTR_DATASPACE_NAME_UNIQUE,
            &ATTR_AND_DATA_DIM_AGREE,
            &GROUP_METADATA_ARRAY,
            &ATTR_METADATA_PREFIX,
            &FILLVALUE_EQUALS,
        ],
        has_group_array: true,
    },
    Convention {
        name: "indexable-0.1.0",
        rules: &[
            &NAMED,
            &DIM_COLLECTION,
            &ATTR_DATASPACE_NAME_UNIQUE,
            &ATTR_AND_DATA_DIM_AGREE,
            &GROUP_METADATA_ARRAY,
            &ATTR_METADATA_PREFIX,
            &FILLVALUE_EQUALS,
            &AXIS_LABEL,
        ],
        has_group_array: true,
    },
    Convention {
        name: "cf-0.2.0",
        rules: &[
            &NAMED,
            &DIM_COLLECTION,
            &ATTR_DATASPACE_NAME_UNIQUE,
            &GROUP_METADATA_ARRAY,
            &ATTR_METADATA_PREFIX,
            &FILLVALUE_EQUALS,
        ],
        has_group_array: true,
    },
    Convention {
        name: "simple-0.2.0",
        rules: &[
            &NAMED,
            &DIM_COLLECTION,
            &ATTR_DATASPACE_NAME_UNIQUE,
            &GROUP_METADATA_ARRAY,
            &ATTR_METADATA_PREFIX,
            &FILLVALUE_EQUALS,
            &DIM_INTEGER_FROM_0,
            &COLLECTION_DATASPACE_NAME_UNIQUE,
        ],
        has_group_array: true,
    },
    Convention {
        name: "cf-0.3.0",
        rules: &[&DIM_COLLECTION, &ATTR_METADATA_PREFIX, &DIM_METADATA_PREFIX],
        has_group_array: false,
    },
    Convention {
        name: "simple-0.3.0",
        rules: &[
            &DIM_COLLECTION,
            &ATTR_METADATA_PREFIX,
            &DIM_METADATA_PREFIX,
            &DIM_INTEGER_FROM_0,
            &ARRAY_NAMED_SINGLE_ATTRIBUTE,
            &METADATA_ATTRIBUTE_AND_GROUP_ONLY,
        ],
        has_group_array: false,
    },
];
