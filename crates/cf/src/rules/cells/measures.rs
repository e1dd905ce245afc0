//! The areas and volumes of cells.
//!
//! Spec: CF 1.13, 7.2 Cell Measures

use super::{Found, Scope, brief, told};
use crate::dataset::{Along, Attribute, Dataset, Variable, keyed};
use crate::rules::scope::meant;
use crate::tables::nearest::nearest;
use crate::units::Unit;
use std::collections::{HashMap, HashSet};

const MEASURES: [(&str, &str); 2] = [("area", "m2"), ("volume", "m3")];

/// The maximum number of malformed pairs of an attribute that are reported.
const MAX_PAIRS: usize = 20;

pub(in crate::rules) fn cell_measures(scope: &Scope<'_>, found: &mut Found) {
    // The units of a measure are reported once, regardless of how many variables name it.
    let mut measures: HashMap<usize, &str> = HashMap::new();
    for variable in scope.with("cell_measures") {
        check_syntax(variable, found);
        let mut met = HashSet::new();
        for reference in scope.dataset.references(variable, "cell_measures") {
            let Some(measure) = scope.dataset.target(reference) else { continue };
            if met.insert(measure.id) {
                check_dimensions(scope.dataset, variable, measure, found);
            }
            let known = MEASURES.iter().find(|(name, _)| Some(*name) == reference.key.as_deref());
            if let Some((name, units)) = known
                && measures.insert(measure.id, *name) != Some(*name)
            {
                check_units(measure, name, units, found);
            }
        }
    }
}

fn check_syntax(variable: &Variable, found: &mut Found) {
    let place = variable.place("cell_measures");
    let hint = "write it as \"area: NAME\" or \"volume: NAME\"";
    let Some(text) = variable.text("cell_measures") else {
        let own = variable.attributes.get("cell_measures").map(Attribute::type_name);
        let message = format!("cell_measures is {}, expected a single string", own.unwrap_or_default());
        return found.add(place, message, hint);
    };
    let pairs = match keyed(text) {
        Ok(pairs) => pairs,
        Err(word) => {
            let message = format!("{:?} in cell_measures, expected pairs \"measure: name\"", brief(word));
            return found.add(place, message, hint);
        }
    };
    for (measure, names) in pairs.iter().take(MAX_PAIRS) {
        if !MEASURES.iter().any(|(name, _)| name == measure) {
            let near = nearest(measure, MEASURES.iter().map(|(name, _)| *name));
            let message = format!("measure {:?}, expected area or volume", brief(measure));
            found.add(&place, message, meant(near, hint));
        }
        if names.len() != 1 {
            let message = format!("{} names behind {:?}, expected one", names.len(), brief(measure));
            found.add(&place, message, hint);
        }
    }
}

/// Checks that the dimensions of a measure are among those of its variable, including those before compression by
/// gathering.
fn check_dimensions(dataset: &Dataset, variable: &Variable, measure: &Variable, found: &mut Found) {
    let is_known = |along: &Along| match &along.path {
        Some(_) => variable.spans(along) || is_gathered(dataset, variable, along),
        None => variable.dimensions.iter().any(|own| own.length == along.length),
    };
    // The dimensions of domains are named in an attribute.
    if variable.has("dimensions")
        || variable.has("aggregated_dimensions")
        || measure.dimensions.iter().all(is_known)
    {
        return;
    }
    let message = format!(
        "measure {} has dimensions {}, expected some of {}",
        measure.name(),
        told(&measure.dimensions),
        told(&variable.dimensions)
    );
    found.add(variable.place("cell_measures"), message, "name a measure of the same cells");
}

fn is_gathered(dataset: &Dataset, variable: &Variable, along: &Along) -> bool {
    let lists = variable.dimensions.iter().filter_map(|own| dataset.coordinate_of(own));
    let mut references = lists.flat_map(|list| dataset.references(list, "compress"));
    references.any(|reference| match reference.target {
        crate::dataset::Target::Dimension(id) => {
            dataset.dimension_at(id).is_some_and(|dimension| Some(&dimension.path) == along.path.as_ref())
        }
        _ => false,
    })
}

fn check_units(measure: &Variable, name: &str, units: &str, found: &mut Found) {
    if !measure.has("units") {
        let message = format!("{name} without units, expected units convertible to {units}");
        return found.add(&measure.path, message, format!("add units such as \"{units}\""));
    }
    let (Some(own), Ok(wanted)) = (measure.unit(), Unit::parse(units)) else { return };
    if own.is_reference_time() || !own.dimension().is_same_quantity(wanted.dimension()) {
        let text = brief(measure.text("units").unwrap_or_default());
        let message = format!("{name} has units {text:?}, expected units convertible to {units}");
        found.add(measure.place("units"), message, "correct the units, or name another measure");
    }
}
