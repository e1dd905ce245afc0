//! Finds out which of the conventions hold.

use super::{CONVENTIONS, Dataspace};
use crate::finding::Finding;
use std::collections::HashMap;
use table::{HOLDS, NONE_HOLDS};

pub use table::RULES as VERDICTS;

/// The conventions that a store satisfies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Which conventions hold. The rule of this finding is an error if none does.
    pub finding: Finding,
    /// The violations of the other conventions, each with the names of the conventions that it breaks.
    pub broken: Vec<(Finding, Vec<&'static str>)>,
}

/// Finds out which conventions hold in all groups of a store, and what breaks the others.
pub fn verdict(spaces: &[Dataspace]) -> Verdict {
    let (mut hold, mut broken) = (Vec::new(), Vec::<(Finding, Vec<&str>)>::new());
    let mut places: HashMap<(&str, String, String), usize> = HashMap::new();
    for convention in CONVENTIONS {
        let mut holds = true;
        for found in spaces.iter().flat_map(|space| convention.check(space)) {
            holds = false;
            let key = (found.rule.name, found.object.clone(), found.message.clone());
            let place = *places.entry(key).or_insert(broken.len());
            match broken.get_mut(place) {
                Some((_, names)) => names.push(convention.name),
                None => broken.push((found, vec![convention.name])),
            }
        }
        hold.extend(holds.then_some(convention.name));
    }
    let (rule, message) = match hold.is_empty() {
        true => (&NONE_HOLDS, "no convention of TileDB-CF holds, expected one".to_owned()),
        false => (&HOLDS, format!("holds: {}", hold.join(", "))),
    };
    let (severity, object) = (rule.severity, "/".to_owned());
    let finding = Finding { rule, severity, object, message, hint: String::new() };
    Verdict { finding, broken }
}

/// The name for all conventions together.
pub const ALL: &str = "tiledb-cf";

mod table {
    hyperslab_core::rules! {
        NONE_HOLDS Error "tiledb-cf/none-holds" in "TileDB-CF Dataspace Specification 0.1.0 to 0.3.0" "a store satisfies none of the conventions";
        HOLDS Note "tiledb-cf/holds" in "TileDB-CF Dataspace Specification 0.1.0 to 0.3.0" "which conventions a store satisfies";
    }
}
