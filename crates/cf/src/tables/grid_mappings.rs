//! Grid mappings, their parameters, and the attributes of grid mapping variables.
//!
//! Spec: CF 1.13, Appendix F

use super::attributes::AttributeType;
use super::nearest::nearest as nearest_of;
use super::{Version, tsv};
use std::sync::LazyLock;

/// A grid mapping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GridMapping {
    /// The value of `grid_mapping_name`.
    pub name: &'static str,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// The standard names of its coordinates, each with its alternatives.
    pub coordinates: Vec<Vec<Alternative>>,
    /// The version that added it, where that is later than 1.6.
    pub since: Option<Version>,
}

/// A parameter of a grid mapping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The attributes that can specify it. One of them is enough.
    pub alternatives: Vec<Alternative>,
    /// Whether it must be specified.
    pub presence: Presence,
}

/// One of several names that serve the same purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alternative {
    /// The name of an attribute, or a standard name.
    pub name: &'static str,
    /// The maximum number of values that the attribute may have here.
    pub max_values: usize,
    /// The version that added it for this purpose, where that is later than the grid mapping and 1.6.
    pub since: Option<Version>,
    /// The version that deprecated it for this purpose.
    pub deprecated: Option<Version>,
}

/// Whether a parameter must be specified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Presence {
    /// It must be specified.
    Required,
    /// It is zero if it is not specified.
    Optional,
    /// It depends on the values of other parameters: `refinement_level` of `healpix` is required where
    /// `indexing_scheme` is `nested` or `ring`, and forbidden where it is `nuniq` or `zuniq`.
    Depends,
}

/// An attribute of grid mapping variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappingAttribute {
    /// Its name.
    pub name: &'static str,
    /// The type of its values, which is never that of the variable.
    pub data_type: AttributeType,
    /// Whether it may be used with every grid mapping: such attributes describe the figure of the earth and the
    /// reference system. Others belong to the grid mappings that have them as a parameter.
    pub is_general: bool,
    /// The version that added it, where that is later than 1.6.
    pub since: Option<Version>,
}

impl GridMapping {
    /// The parameter that an attribute specifies.
    pub fn parameter(&self, attribute: &str) -> Option<&Parameter> {
        let is_it = |alternative: &Alternative| alternative.name == attribute;
        self.parameters.iter().find(|parameter| parameter.alternatives.iter().any(is_it))
    }
}

/// A grid mapping by its name.
pub fn get(name: &str) -> Option<&'static GridMapping> {
    tsv::find(all(), name, |mapping| mapping.name)
}

/// The grid mapping that a misspelt name probably means, if a few edits lead to it.
pub fn nearest(name: &str) -> Option<&'static str> {
    nearest_of(name, all().iter().map(|mapping| mapping.name))
}

/// All grid mappings, sorted by name.
pub fn all() -> &'static [GridMapping] {
    static TABLE: LazyLock<Vec<GridMapping>> = LazyLock::new(|| {
        let rows = tsv::rows(include_str!("../../data/grid_mappings.tsv"));
        rows.map(|[name, parameters, coordinates, since]| GridMapping {
            name,
            parameters: parameters.split_whitespace().map(parameter).collect(),
            coordinates: coordinates.split_whitespace().map(alternatives).collect(),
            since: Version::parse(since),
        })
        .collect()
    });
    &TABLE
}

/// An attribute of grid mapping variables by its name.
pub fn attribute(name: &str) -> Option<&'static MappingAttribute> {
    tsv::find(attributes(), name, |attribute| attribute.name)
}

/// All attributes of grid mapping variables, sorted by name.
pub fn attributes() -> &'static [MappingAttribute] {
    static TABLE: LazyLock<Vec<MappingAttribute>> = LazyLock::new(|| {
        let rows = tsv::rows(include_str!("../../data/grid_mapping_attributes.tsv"));
        rows.filter_map(|[name, data_type, with, since]| {
            let data_type = AttributeType::of(data_type)?;
            Some(MappingAttribute {
                name,
                data_type,
                is_general: with == "any",
                since: Version::parse(since),
            })
        })
        .collect()
    });
    &TABLE
}

/// Parses `a|b?`.
fn parameter(text: &'static str) -> Parameter {
    let (names, presence) = match (text.strip_suffix('?'), text.strip_suffix('*')) {
        (Some(names), _) => (names, Presence::Optional),
        (_, Some(names)) => (names, Presence::Depends),
        (None, None) => (text, Presence::Required),
    };
    Parameter { alternatives: alternatives(names), presence }
}

/// Parses `a+1.11|b!1.11|c[2]`.
fn alternatives(text: &'static str) -> Vec<Alternative> {
    text.split('|')
        .map(|text| {
            let (text, deprecated) = text.split_once('!').unwrap_or((text, ""));
            let (text, since) = text.split_once('+').unwrap_or((text, ""));
            let (name, max_values) = match text.strip_suffix("[2]") {
                Some(name) => (name, 2),
                None => (text, 1),
            };
            let [since, deprecated] = [since, deprecated].map(Version::parse);
            Alternative { name, max_values, since, deprecated }
        })
        .collect()
}
