//! The methods that `cell_methods` can name.
//!
//! Spec: CF 1.13, Appendix E

use super::nearest::nearest as nearest_of;
use super::{Version, tsv};
use std::sync::LazyLock;

/// A cell method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellMethod {
    /// Its name.
    pub name: &'static str,
    /// The units of its result.
    pub units: MethodUnits,
    /// Whether temperatures in these units are differences, so that `units_metadata` may not state anything else.
    pub is_difference: bool,
    /// The version that added it, where that is later than 1.6.
    pub since: Option<Version>,
}

/// The units of the result of a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MethodUnits {
    /// The units of the quantity.
    Same,
    /// The square of these units.
    Squared,
}

/// A method by its name.
pub fn get(name: &str) -> Option<&'static CellMethod> {
    tsv::find(all(), name, |method| method.name)
}

/// The method that a misspelt name probably means, if a few edits lead to it.
pub fn nearest(name: &str) -> Option<&'static str> {
    nearest_of(name, all().iter().map(|method| method.name))
}

/// All methods, sorted by name.
pub fn all() -> &'static [CellMethod] {
    static TABLE: LazyLock<Vec<CellMethod>> = LazyLock::new(|| {
        let rows = tsv::rows(include_str!("../../data/cell_methods.tsv"));
        rows.filter_map(|[name, units, temperature, since]| {
            let units = match units {
                "u" => MethodUnits::Same,
                "u2" => MethodUnits::Squared,
                _ => return None,
            };
            let is_difference = temperature == "difference";
            Some(CellMethod { name, units, is_difference, since: Version::parse(since) })
        })
        .collect()
    });
    &TABLE
}
