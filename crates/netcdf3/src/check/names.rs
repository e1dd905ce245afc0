//! Checks names: their characters, and that none occurs twice.
//!
//! Spec: NetCDF Classic Format Specification, "Note on names"

use super::{Checker, rule};
use crate::name::fault;
use std::collections::HashSet;

impl Checker<'_, '_> {
    /// Checks the names of one list, whose items begin at `places`.
    pub(super) fn names(
        &mut self,
        owner: Option<&[u8]>,
        names: &[&[u8]],
        places: &[u64],
        structure: &'static str,
    ) {
        let mut known = HashSet::new();
        for (name, at) in names.iter().zip(places) {
            let shown = String::from_utf8_lossy(name);
            if let Some(fault) = fault(name) {
                let message = format!("{shown:?} {fault}");
                self.findings.add(&rule::NAME, owner, structure, Some(*at), message);
            }
            if !known.insert(*name) {
                let message = format!("{shown:?} a second time");
                self.findings.add(&rule::DUPLICATE_NAME, owner, structure, Some(*at), message);
            }
        }
    }
}
