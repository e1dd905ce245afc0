//! The attributes of CF, without those of grid mappings and meshes.
//!
//! Spec: CF 1.13, Appendix A

use super::{Version, tsv};
use std::sync::LazyLock;

/// An attribute that CF describes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// Its name.
    pub name: &'static str,
    /// The type of its values.
    pub data_type: AttributeType,
    /// Where it may be used. CF gives it no meaning elsewhere.
    pub uses: Vec<Use>,
    /// The sections that describe it: `7.3`, or the letter of an appendix.
    pub sections: Vec<&'static str>,
    /// The version that added it, where that is later than 1.6.
    pub since: Option<Version>,
}

/// The type of the values of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AttributeType {
    /// `S`: a string.
    Text,
    /// `N`: numbers.
    Number,
    /// `D`: the type of the variable.
    OfVariable,
}

/// Where an attribute may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Use {
    /// `G`: the root group.
    Global,
    /// `Gr`: any group.
    Group,
    /// `C`: variables of coordinates.
    Coordinate,
    /// `D`: data variables.
    Data,
    /// `M`: geometry containers.
    Geometry,
    /// `Q`: quantization containers.
    Quantization,
    /// `Do`: domain variables.
    Domain,
    /// `BI`: boundary variables, which inherit it from their coordinate and may only repeat it.
    BoundaryInherited,
    /// `BO`: boundary variables, with a separate value.
    BoundaryOwn,
    /// `A`: aggregation variables.
    Aggregation,
    /// `-`: variables for other purposes.
    Other,
}

impl AttributeType {
    pub(super) fn of(letter: &str) -> Option<AttributeType> {
        match letter {
            "S" => Some(AttributeType::Text),
            "N" => Some(AttributeType::Number),
            "D" => Some(AttributeType::OfVariable),
            _ => None,
        }
    }
}

impl Use {
    fn of(letters: &str) -> Option<Use> {
        Some(match letters {
            "G" => Use::Global,
            "Gr" => Use::Group,
            "C" => Use::Coordinate,
            "D" => Use::Data,
            "M" => Use::Geometry,
            "Q" => Use::Quantization,
            "Do" => Use::Domain,
            "BI" => Use::BoundaryInherited,
            "BO" => Use::BoundaryOwn,
            "A" => Use::Aggregation,
            "-" => Use::Other,
            _ => return None,
        })
    }
}

/// An attribute by its name, which is case-sensitive.
pub fn get(name: &str) -> Option<&'static Attribute> {
    tsv::find(all(), name, |attribute| attribute.name)
}

/// All attributes, sorted by name.
pub fn all() -> &'static [Attribute] {
    static TABLE: LazyLock<Vec<Attribute>> = LazyLock::new(|| {
        let rows = tsv::rows(include_str!("../../data/attributes.tsv"));
        rows.filter_map(|[name, data_type, uses, sections, since]| {
            Some(Attribute {
                name,
                data_type: AttributeType::of(data_type)?,
                uses: uses.split(", ").map(Use::of).collect::<Option<_>>()?,
                sections: sections.split(", ").collect(),
                since: Version::parse(since),
            })
        })
        .collect()
    });
    &TABLE
}
