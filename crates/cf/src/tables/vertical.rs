//! Parametric vertical coordinates: the terms that `formula_terms` may name, and which standard names belong together.
//!
//! Spec: CF 1.13, Appendix D

use super::{Version, tsv};
use std::sync::LazyLock;

/// A parametric vertical coordinate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerticalCoordinate {
    /// The standard name of the coordinate variable.
    pub standard_name: &'static str,
    /// The standard names that the computed heights, depths or pressures may have.
    pub computed: Vec<&'static str>,
    /// The terms of its formula.
    pub terms: Vec<Term>,
    /// The version that added it, where that is later than 1.6.
    pub since: Option<Version>,
}

/// A term of a formula. In CF its name is case-insensitive, and a term that is left out counts as zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// The name of the term.
    pub name: &'static str,
    /// When it must be specified.
    pub presence: TermPresence,
    /// The standard names of the variable that it names, in the order of [`computed`](VerticalCoordinate::computed):
    /// see [`VerticalCoordinate::expected`]. Empty if CF defines none.
    pub standard_names: Vec<&'static str>,
}

/// When a term must be specified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TermPresence {
    /// The formula contains it.
    InFormula,
    /// The formula contains either it or the other term.
    InsteadOf(&'static str),
    /// The formula contains it if it contains the other term.
    With(&'static str),
    /// The formula works without it.
    Optional,
}

impl VerticalCoordinate {
    /// A term by its name, which is case-insensitive.
    pub fn term(&self, name: &str) -> Option<&Term> {
        self.terms.iter().find(|term| term.name.eq_ignore_ascii_case(name))
    }

    /// The standard name that a term must have together with a computed standard name. `None` if CF defines none, or if
    /// `computed` is not one of the allowed names.
    pub fn expected(&self, term: &Term, computed: &str) -> Option<&'static str> {
        let at = self.computed.iter().position(|allowed| *allowed == computed)?;
        match term.standard_names.as_slice() {
            // One name for all of them.
            [name] => Some(name),
            names => names.get(at).copied(),
        }
    }
}

/// A coordinate by its standard name.
pub fn get(standard_name: &str) -> Option<&'static VerticalCoordinate> {
    tsv::find(all(), standard_name, |coordinate| coordinate.standard_name)
}

/// All coordinates, sorted by standard name.
pub fn all() -> &'static [VerticalCoordinate] {
    static TABLE: LazyLock<Vec<VerticalCoordinate>> = LazyLock::new(|| {
        let rows = tsv::rows(include_str!("../../data/vertical_coordinates.tsv"));
        rows.map(|[standard_name, computed, since]| VerticalCoordinate {
            standard_name,
            computed: computed.split_whitespace().collect(),
            terms: terms_of(standard_name),
            since: Version::parse(since),
        })
        .collect()
    });
    &TABLE
}

fn terms_of(coordinate: &str) -> Vec<Term> {
    let rows = tsv::rows::<4>(include_str!("../../data/formula_terms.tsv"));
    rows.filter(|[of, ..]| *of == coordinate)
        .filter_map(|[_, name, presence, standard_names]| {
            let presence = match presence.split_once(' ') {
                Some(("or", other)) => TermPresence::InsteadOf(other),
                Some(("with", other)) => TermPresence::With(other),
                None if presence == "optional" => TermPresence::Optional,
                None if presence.is_empty() => TermPresence::InFormula,
                _ => return None,
            };
            Some(Term { name, presence, standard_names: standard_names.split_whitespace().collect() })
        })
        .collect()
}
