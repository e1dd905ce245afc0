//! Modifiers, which follow a standard name after a space.
//!
//! Spec: CF 1.13, Appendix C

use super::{Version, tsv};
use std::sync::LazyLock;

/// A modifier of standard names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Modifier {
    /// Its name.
    pub name: &'static str,
    /// The units of a name with the modifier.
    pub units: ModifiedUnits,
    /// Whether temperatures in these units are differences, so that `units_metadata` may not state anything else.
    pub is_difference: bool,
    /// The version that deprecated it, in favour of the standard name of the same name.
    pub deprecated: Option<Version>,
}

/// The units of a standard name with a modifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ModifiedUnits {
    /// The units of the standard name.
    OfName,
    /// Dimensionless: `1`.
    One,
    /// No units.
    None,
}

/// A modifier by its name.
pub fn get(name: &str) -> Option<&'static Modifier> {
    tsv::find(all(), name, |modifier| modifier.name)
}

/// All modifiers, sorted by name.
pub fn all() -> &'static [Modifier] {
    static TABLE: LazyLock<Vec<Modifier>> = LazyLock::new(|| {
        let rows = tsv::rows(include_str!("../../data/standard_name_modifiers.tsv"));
        rows.filter_map(|[name, units, temperature, deprecated]| {
            let units = match units {
                "u" => ModifiedUnits::OfName,
                "1" => ModifiedUnits::One,
                "" => ModifiedUnits::None,
                _ => return None,
            };
            let is_difference = temperature == "difference";
            Some(Modifier { name, units, is_difference, deprecated: Version::parse(deprecated) })
        })
        .collect()
    });
    &TABLE
}
