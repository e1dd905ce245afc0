//! Checks the rules of conventions in a group.

use super::rules::*;
use super::{
    Array, Attribute, Dataspace, Dimension, GROUP_ARRAY, OF_ATTRIBUTE, OF_DIMENSION, dataspace_name,
};
use crate::finding::Finding;
use hyperslab_core::check::Rule;
use std::collections::{BTreeMap, BTreeSet};

type Check = fn(&Dataspace, &[&Array], &mut dyn FnMut(&str, String, String));

/// A rule, its check, and the names of the conventions that have it.
pub(super) struct Row {
    pub(super) rule: &'static Rule,
    check: Check,
    conventions: &'static [&'static str],
}

/// The names of all conventions.
pub const NAMES: &[&str] =
    &["cf-0.1.0", "indexable-0.1.0", "cf-0.2.0", "simple-0.2.0", "cf-0.3.0", "simple-0.3.0"];
const UP_TO_0_2_0: &[&str] = &["cf-0.1.0", "indexable-0.1.0", "cf-0.2.0", "simple-0.2.0"];
const OF_0_1_0: &[&str] = &["cf-0.1.0", "indexable-0.1.0"];
const OF_0_3_0: &[&str] = &["cf-0.3.0", "simple-0.3.0"];
const SIMPLE: &[&str] = &["simple-0.2.0", "simple-0.3.0"];
const SIMPLE_0_3_0: &[&str] = &["simple-0.3.0"];

const fn row(rule: &'static Rule, check: Check, conventions: &'static [&'static str]) -> Row {
    Row { rule, check, conventions }
}

static ROWS: &[Row] = &[
    row(&NAMED, named, UP_TO_0_2_0),
    row(&DIM_COLLECTION, dim_collection, NAMES),
    row(&ATTR_DATASPACE_NAME_UNIQUE, attr_dataspace_name_unique, UP_TO_0_2_0),
    row(&ATTR_AND_DATA_DIM_AGREE, attr_and_data_dim_agree, OF_0_1_0),
    row(&GROUP_METADATA_ARRAY, group_metadata_array, UP_TO_0_2_0),
    row(&ATTR_METADATA_PREFIX, attr_metadata_prefix, NAMES),
    row(&DIM_METADATA_PREFIX, dim_metadata_prefix, OF_0_3_0),
    row(&FILLVALUE_EQUALS, fillvalue_equals, UP_TO_0_2_0),
    row(&AXIS_LABEL, axis_label, &["indexable-0.1.0"]),
    row(&DIM_INTEGER_FROM_0, dim_integer_from_0, SIMPLE),
    row(&COLLECTION_DATASPACE_NAME_UNIQUE, collection_dataspace_name_unique, &["simple-0.2.0"]),
    row(&ARRAY_NAMED_SINGLE_ATTRIBUTE, array_named_single_attribute, SIMPLE_0_3_0),
    row(&METADATA_ATTRIBUTE_AND_GROUP_ONLY, metadata_attribute_and_group_only, SIMPLE_0_3_0),
];

/// The rules of a convention.
pub(super) fn of_convention(name: &str) -> impl Iterator<Item = &'static Row> {
    ROWS.iter().filter(move |row| row.conventions.contains(&name))
}

impl Row {
    /// The violations of the rule. `arrays` are those that the convention applies to.
    pub(super) fn findings(&self, space: &Dataspace, arrays: &[&Array]) -> Vec<Finding> {
        let mut found = Vec::new();
        (self.check)(space, arrays, &mut |object, message, hint| {
            let (rule, severity) = (self.rule, self.rule.severity);
            found.push(Finding { rule, severity, object: object.to_owned(), message, hint });
        });
        found
    }
}

/// All dimensions, each with its array.
fn dimensions<'a>(arrays: &[&'a Array]) -> impl Iterator<Item = (&'a Array, &'a Dimension)> {
    arrays.iter().flat_map(|array| array.dimensions.iter().map(|dimension| (*array, dimension)))
}

/// All attributes, each with its array.
fn attributes<'a>(arrays: &[&'a Array]) -> impl Iterator<Item = (&'a Array, &'a Attribute)> {
    arrays.iter().flat_map(|array| array.attributes.iter().map(|attribute| (*array, attribute)))
}

fn named(_: &Dataspace, arrays: &[&Array], add: &mut dyn FnMut(&str, String, String)) {
    for array in arrays {
        let dimensions = array.dimensions.iter().map(|of| ("dimension", &of.name));
        let attributes = array.attributes.iter().map(|of| ("attribute", &of.name));
        for (position, (kind, _)) in
            dimensions.chain(attributes).enumerate().filter(|(_, (_, name))| name.is_empty())
        {
            let position = if kind == "attribute" { position - array.dimensions.len() } else { position };
            let message = format!("{kind} {position} has no name, expected one");
            add(&array.path, message, format!("create the array again, with a name of the {kind}"));
        }
    }
}

fn dim_collection(_: &Dataspace, arrays: &[&Array], add: &mut dyn FnMut(&str, String, String)) {
    let mut first: BTreeMap<&str, (&Array, &Dimension)> = BTreeMap::new();
    for (array, dimension) in dimensions(arrays) {
        let (other, known) = *first.entry(&dimension.name).or_insert((array, dimension));
        if (&known.datatype, &known.domain) != (&dimension.datatype, &dimension.domain) {
            let message = format!(
                "dimension {:?} is {}, and {} in {}: expected the same",
                dimension.name,
                told(dimension),
                told(known),
                other.path
            );
            add(&array.path, message, "give one of them another name, or both the same domain".to_owned());
        }
    }
}

/// The datatype and the domain of a dimension.
fn told(dimension: &Dimension) -> String {
    match &dimension.domain {
        Some((low, high)) => format!("{} from {low} to {high}", dimension.datatype),
        None => dimension.datatype.clone(),
    }
}

fn attr_dataspace_name_unique(_: &Dataspace, arrays: &[&Array], add: &mut dyn FnMut(&str, String, String)) {
    let mut first: BTreeMap<&str, (&Array, &Attribute)> = BTreeMap::new();
    for (array, attribute) in attributes(arrays) {
        let name = dataspace_name(&attribute.name);
        let Some((other, known)) = first.insert(name, (array, attribute)) else { continue };
        let message = format!(
            "attribute {:?} has the dataspace name {name:?}, as {:?} of {}: expected one attribute of a name",
            attribute.name, known.name, other.path
        );
        add(&array.path, message, "give one of the attributes another name".to_owned());
    }
}

fn attr_and_data_dim_agree(_: &Dataspace, arrays: &[&Array], add: &mut dyn FnMut(&str, String, String)) {
    // The distinct data dimensions of each dataspace name.
    let mut data: BTreeMap<&str, BTreeMap<(&str, &str), &Array>> = BTreeMap::new();
    for (array, dimension) in dimensions(arrays).filter(|(_, own)| !own.is_index()) {
        let of_name = data.entry(dataspace_name(&dimension.name)).or_default();
        of_name.entry((&dimension.name, &dimension.datatype)).or_insert(array);
    }
    for (array, attribute) in attributes(arrays) {
        let Some(of_name) = data.get(dataspace_name(&attribute.name)) else { continue };
        let own = (attribute.name.as_str(), attribute.datatype.as_str());
        if let Some(((name, datatype), other)) = of_name.iter().find(|(of, _)| **of != own) {
            let message = format!(
                "attribute {:?} of {}, and data dimension {name:?} of {datatype} in {}: expected the same full name and datatype",
                attribute.name, attribute.datatype, other.path
            );
            add(
                &array.path,
                message,
                "give both the same name and datatype, or another name to one".to_owned(),
            );
        }
    }
}

fn group_metadata_array(space: &Dataspace, _: &[&Array], add: &mut dyn FnMut(&str, String, String)) {
    if let Some(key) = space.metadata.first() {
        let count = space.metadata.len();
        let message = format!(
            "{count} metadata of the group itself ({key:?}), expected those of an array {GROUP_ARRAY}"
        );
        add(&space.path, message, "0.3.0 allows metadata of groups".to_owned());
    }
}

fn attr_metadata_prefix(_: &Dataspace, arrays: &[&Array], add: &mut dyn FnMut(&str, String, String)) {
    for array in arrays {
        let names: Vec<&str> = array.attributes.iter().map(|of| of.name.as_str()).collect();
        unowned(array, ("attribute", OF_ATTRIBUTE), &names, add);
    }
}

fn dim_metadata_prefix(_: &Dataspace, arrays: &[&Array], add: &mut dyn FnMut(&str, String, String)) {
    for array in arrays {
        let names: Vec<&str> = array.dimensions.iter().map(|of| of.name.as_str()).collect();
        unowned(array, ("dimension", OF_DIMENSION), &names, add);
    }
}

/// Reports metadata keys with a prefix that belong to none of the given names.
fn unowned(
    array: &Array,
    (kind, prefix): (&str, &str),
    names: &[&str],
    add: &mut dyn FnMut(&str, String, String),
) {
    for entry in &array.metadata {
        let Some(rest) = entry.key.strip_prefix(prefix) else { continue };
        if owner(rest, names).is_none() {
            let message =
                format!("metadata key {:?} is that of no {kind}, expected one of {names:?}", entry.key);
            add(
                &array.path,
                message,
                format!("store it as {prefix}NAME.KEY, with the full name of the {kind}"),
            );
        }
    }
}

/// The longest of the names that a key begins with, followed by a dot. Names may themselves contain dots.
pub(super) fn owner<'a>(rest: &str, names: &[&'a str]) -> Option<&'a str> {
    let begins = |name: &&&str| rest.strip_prefix(**name).is_some_and(|behind| behind.starts_with('.'));
    names.iter().filter(begins).max_by_key(|name| name.len()).copied()
}

fn fillvalue_equals(_: &Dataspace, arrays: &[&Array], add: &mut dyn FnMut(&str, String, String)) {
    for (array, attribute) in attributes(arrays) {
        let key = format!("{OF_ATTRIBUTE}{}._FillValue", attribute.name);
        let (Some(entry), Some(fill)) =
            (array.metadata.iter().find(|entry| entry.key == key), &attribute.fill)
        else {
            continue;
        };
        if entry.datatype != attribute.datatype || entry.value != *fill {
            let message = format!(
                "metadata {key:?} are {} 0x{}, and the fill value of the attribute is {} 0x{}: expected the same",
                entry.datatype,
                hexadecimal(&entry.value),
                attribute.datatype,
                hexadecimal(fill)
            );
            add(
                &array.path,
                message,
                "remove the metadata, or create the array with this fill value".to_owned(),
            );
        }
    }
}

/// Bytes in hexadecimal; only the first ones if there are many.
fn hexadecimal(bytes: &[u8]) -> String {
    let mut text: String = bytes.iter().take(MAX_SHOWN).map(|byte| format!("{byte:02x}")).collect();
    if bytes.len() > MAX_SHOWN {
        text.push('…');
    }
    text
}

fn axis_label(_: &Dataspace, arrays: &[&Array], add: &mut dyn FnMut(&str, String, String)) {
    // The contents of each index dimension of a dataspace name, by name and datatype.
    let mut axes: BTreeSet<(&str, &str, &str)> = BTreeSet::new();
    for array in arrays {
        if let [index] = &*array.dimensions
            && index.is_index()
        {
            let name = dataspace_name(&index.name);
            axes.extend(array.attributes.iter().map(|of| (name, of.name.as_str(), of.datatype.as_str())));
        }
        for label in &array.labels {
            if let Some(index) = array.dimensions.get(label.dimension).filter(|index| index.is_index()) {
                axes.insert((dataspace_name(&index.name), &label.name, &label.datatype));
            }
        }
    }
    for (array, dimension) in dimensions(arrays).filter(|(_, own)| !own.is_index()) {
        let name = dataspace_name(&dimension.name);
        if !axes.contains(&(name, dimension.name.as_str(), dimension.datatype.as_str())) {
            let message = format!(
                "data dimension {:?} of {} has no axis label, expected an array along an index dimension of the name {name:?} with an attribute {:?}",
                dimension.name, dimension.datatype, dimension.name
            );
            add(&array.path, message, "add such an array to the group".to_owned());
        }
    }
}

fn dim_integer_from_0(_: &Dataspace, arrays: &[&Array], add: &mut dyn FnMut(&str, String, String)) {
    for (array, dimension) in dimensions(arrays).filter(|(_, own)| !own.is_index()) {
        let message =
            format!("dimension {:?} is {}, expected integers from 0", dimension.name, told(dimension));
        add(
            &array.path,
            message,
            "store the coordinates as an array along a dimension of integers".to_owned(),
        );
    }
}

fn collection_dataspace_name_unique(
    _: &Dataspace,
    arrays: &[&Array],
    add: &mut dyn FnMut(&str, String, String),
) {
    let mut first: BTreeMap<&str, &str> = BTreeMap::new();
    for (array, dimension) in dimensions(arrays) {
        let name = dataspace_name(&dimension.name);
        let known = *first.entry(name).or_insert(&dimension.name);
        if known != dimension.name {
            let message = format!(
                "dimensions {known:?} and {:?} have the dataspace name {name:?}: expected one of each name",
                dimension.name
            );
            add(&array.path, message, "give one of the dimensions another name".to_owned());
        }
    }
}

fn array_named_single_attribute(_: &Dataspace, arrays: &[&Array], add: &mut dyn FnMut(&str, String, String)) {
    for array in arrays {
        if array.name.as_ref().is_none_or(|name| name.is_empty()) {
            let message = "an array without a name in its group, expected one".to_owned();
            add(&array.path, message, "add it to the group with a name".to_owned());
        }
        if array.attributes.len() != 1 {
            let names: Vec<&str> = array.attributes.iter().map(|of| of.name.as_str()).collect();
            let message = format!("{} attributes {names:?}, expected one", names.len());
            add(&array.path, message, "make an array of each attribute, or claim cf-0.3.0".to_owned());
        }
    }
}

fn metadata_attribute_and_group_only(
    _: &Dataspace,
    arrays: &[&Array],
    add: &mut dyn FnMut(&str, String, String),
) {
    for array in arrays {
        for entry in array.metadata.iter().filter(|entry| !entry.key.starts_with(OF_ATTRIBUTE)) {
            let message = format!("metadata key {:?}, expected keys of attributes only", entry.key);
            let hint = format!("store it as {OF_ATTRIBUTE}NAME.{}, or in the group", entry.key);
            add(&array.path, message, hint);
        }
    }
}

/// The number of bytes of a value that messages show.
const MAX_SHOWN: usize = 16;
