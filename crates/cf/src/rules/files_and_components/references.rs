//! Names in attributes, in the file and outside of it.
//!
//! Spec: CF 1.13, 2.6.3 External Variables, 2.7 Groups

use super::{Found, Scope};
use crate::dataset::{Target, names_variables, words};
use crate::rules::scope::meant;
use crate::tables::attributes;
use crate::tables::nearest::nearest;

pub(in crate::rules) fn external_variables(scope: &Scope<'_>, found: &mut Found) {
    let Some(root) = scope.root() else { return };
    let Some(attribute) = root.attributes.get("external_variables") else { return };
    let place = "/@external_variables";
    let Some(text) = attribute.text() else {
        let message = format!("external_variables is {}, expected a text of names", attribute.type_name());
        return found.add(place, message, "separate the names by blanks");
    };
    for name in words(text) {
        if scope.dataset.at(&root.path.child(name)).is_some() {
            let message =
                format!("external_variables names {name:?}, which is in the file, expected it not to be");
            found.add(place, message, format!("remove {name} from the attribute"));
        }
    }
}

pub(in crate::rules) fn group_attributes(scope: &Scope<'_>, found: &mut Found) {
    for group in scope.groups().filter(|group| group.parent.is_some()) {
        for name in ["Conventions", "external_variables"]
            .into_iter()
            .filter(|name| group.attributes.contains_key(*name))
        {
            let message = format!("{name} in a group, expected it in the root group only");
            found.add(format!("{}@{name}", group.path), message, "move it to the root group");
        }
    }
}

pub(in crate::rules) fn reference_resolves(scope: &Scope<'_>, found: &mut Found) {
    let dataset = scope.dataset;
    let is_known = |name: &str| {
        let attribute = attributes::get(name);
        attribute.is_some_and(|attribute| attribute.since.is_none_or(|since| since <= scope.version))
    };
    let mut hints = 0;
    for variable in scope.variables() {
        for (name, attribute) in
            variable.attributes.iter().filter(|(name, _)| names_variables(name) && is_known(name))
        {
            if attribute.text().is_none() {
                let message = format!("{name} is {}, expected a single string", attribute.type_name());
                found.add(variable.place(name), message, "write the names as one text");
            }
        }
        for reference in dataset.references.get(variable.refers.clone()).unwrap_or_default() {
            if reference.target != Target::Missing || !is_known(reference.attribute) {
                continue;
            }
            let names_dimension = matches!(
                reference.attribute,
                "compress" | "sample_dimension" | "instance_dimension" | "dimensions"
            );
            let kind = if names_dimension { "dimension" } else { "variable" };
            // For a file with thousands of wrong names, thousands of searches would not help.
            hints += 1;
            let near = (hints <= MAX_HINTS).then(|| {
                let dimensions = dataset.dimensions().iter().map(|dimension| dimension.path.name());
                let variables = dataset.variables.iter().map(|variable| variable.name());
                match names_dimension {
                    true => nearest(&reference.name, dimensions),
                    false => nearest(&reference.name, variables),
                }
            });
            let message =
                format!("{} names {:?}, expected a {kind} of the file", reference.attribute, reference.name);
            let hint = meant(near.flatten(), &format!("add the {kind}, or remove its name"));
            found.add(variable.place(reference.attribute), message, hint);
        }
    }
}

/// The maximum number of names for which a similar one is looked for.
const MAX_HINTS: usize = 100;
