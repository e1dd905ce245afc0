//! Attributes that name variables and dimensions, and the syntax of their strings.
//!
//! Spec: CF 1.13, the sections of the table

use super::Dataset;
use super::resolve::{Wanted, resolve};
use Syntax::{Keyed, Mapping, Names};
use Wanted::{Coordinates, Dimensions, Measures, Variables};

/// A name in an attribute and what it refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The index of the variable that has the attribute.
    pub from: usize,
    /// The attribute.
    pub attribute: &'static str,
    /// The word before the colon, in attributes with such keys: a term, a measure, a grid mapping.
    pub key: Option<String>,
    /// The name as written.
    pub name: String,
    /// The object that has this name.
    pub target: Target,
}

/// The object that a name refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A variable, by its index.
    Variable(usize),
    /// A dimension, by its index.
    Dimension(usize),
    /// A variable in another file, listed in the attribute `external_variables`.
    External,
    /// Nothing has this name.
    Missing,
}

/// The syntax of the string of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Syntax {
    /// Names, separated by white space.
    Names,
    /// Pairs `key: name`.
    Keyed,
    /// One name, or `name: name…` with names of coordinates after each colon.
    Mapping,
}

impl Syntax {
    /// The names in a string, each with its key.
    fn names(self, text: &str) -> Vec<(Option<&str>, &str)> {
        match self {
            Names => words(text).map(|name| (None, name)).collect(),
            Keyed => keyed(text).map(single_names).unwrap_or_default(),
            Mapping => mapped(text),
        }
    }
}

/// The attributes that name something, their syntax and what they name.
static REFERRING: &[(&str, Syntax, Wanted)] = &[
    ("ancillary_variables", Names, Variables), // 3.4
    ("formula_terms", Keyed, Variables),       // 4.3.3
    ("coordinates", Names, Coordinates),       // 5
    ("grid_mapping", Mapping, Coordinates),    // 5.6
    ("dimensions", Names, Dimensions),         // 5.8
    ("bounds", Names, Variables),              // 7.1
    ("cell_measures", Keyed, Measures),        // 7.2
    ("climatology", Names, Variables),         // 7.4
    ("geometry", Names, Variables),            // 7.5
    ("node_coordinates", Names, Variables),
    ("node_count", Names, Variables),
    ("part_node_count", Names, Variables),
    ("interior_ring", Names, Variables),
    ("nodes", Names, Variables),
    ("compress", Names, Dimensions),         // 8.2
    ("quantization", Names, Variables),      // 8.4
    ("sample_dimension", Names, Dimensions), // 9.3
    ("instance_dimension", Names, Dimensions),
    ("mesh", Names, Variables), // 5.9, UGRID
    ("location_index_set", Names, Variables),
];

/// Whether an attribute names variables or dimensions.
pub fn names_variables(attribute: &str) -> bool {
    REFERRING.iter().any(|(name, ..)| *name == attribute)
}

/// The names of variables in the string of an attribute; empty if this attribute does not name variables.
pub fn variables_in<'t>(attribute: &str, text: &'t str) -> Vec<&'t str> {
    let known = REFERRING.iter().find(|(name, _, wanted)| *name == attribute && *wanted != Dimensions);
    let names = known.map(|(_, syntax, _)| syntax.names(text)).unwrap_or_default();
    names.into_iter().map(|(_, name)| name).collect()
}

/// Resolves all names in attributes.
pub(super) fn find(dataset: &mut Dataset) {
    let external: Vec<String> = dataset
        .global("external_variables")
        .and_then(|attribute| attribute.text())
        .map(|text| text.split_whitespace().map(str::to_owned).collect())
        .unwrap_or_default();
    let mut all = Vec::new();
    let mut ranges = Vec::with_capacity(dataset.variables.len());
    for variable in &dataset.variables {
        let start = all.len();
        for (attribute, syntax, wanted) in REFERRING {
            let Some(text) = variable.text(attribute) else { continue };
            // A variable that has `dimensions` without being a domain occurs in meshes, where the attribute has another
            // meaning.
            for (key, name) in syntax.names(text) {
                let wanted = if *syntax == Mapping && key.is_none() { Variables } else { *wanted };
                let target = match resolve(dataset, variable.group, name, wanted) {
                    Target::Missing if wanted == Measures && external.iter().any(|of| of == name) => {
                        Target::External
                    }
                    target => target,
                };
                let (key, name) = (key.map(str::to_owned), name.to_owned());
                all.push(Reference { from: variable.id, attribute, key, name, target });
            }
        }
        ranges.push(start..all.len());
    }
    for (variable, range) in dataset.variables.iter_mut().zip(ranges) {
        variable.refers = range;
    }
    for (place, reference) in all.iter().enumerate() {
        if let Target::Variable(id) = reference.target
            && let Some(variable) = dataset.variables.get_mut(id)
        {
            variable.referred.push(place);
        }
    }
    dataset.references = all;
}

/// The words of a string.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace()
}

/// The names after each `key:` of a string. A key may be joined to the name after it: `a:b`.
///
/// # Errors
/// The word found where a key is expected.
pub fn keyed(text: &str) -> Result<Vec<(&str, Vec<&str>)>, &str> {
    let mut found: Vec<(&str, Vec<&str>)> = Vec::new();
    for word in words(text) {
        match (word.split_once(':'), found.last_mut()) {
            (Some(("", _)), _) | (None, None) => return Err(word),
            (Some((key, rest)), _) => {
                found.push((key, if rest.is_empty() { Vec::new() } else { vec![rest] }));
            }
            (None, Some((_, names))) => names.push(word),
        }
    }
    Ok(found)
}

fn single_names<'a>(found: Vec<(&'a str, Vec<&'a str>)>) -> Vec<(Option<&'a str>, &'a str)> {
    let pairs =
        found.into_iter().flat_map(|(key, names)| names.into_iter().map(move |name| (Some(key), name)));
    pairs.collect()
}

/// The grid mappings in a string, and their coordinates with the grid mapping as key.
fn mapped(text: &str) -> Vec<(Option<&str>, &str)> {
    if !text.contains(':') {
        return words(text).map(|name| (None, name)).collect();
    }
    let found = keyed(text).unwrap_or_default();
    let each = found.into_iter().flat_map(|(mapping, names)| {
        std::iter::once((None, mapping)).chain(names.into_iter().map(move |name| (Some(mapping), name)))
    });
    each.collect()
}
