//! CF on the variables of a store of any format.

use super::{ConventionOptions, Conventions, finding, wants};
use crate::report::Finding;
use crate::source::engine::{stream, values};
use crate::source::{ArraySource, Entry, Item, Source};
use crate::walk::{Step, walk};
use hyperslab_cf::dataset::Dataset;
use hyperslab_cf::rules::{
    Checked, ValueReader, auto, check as check_rules, is_of_identification, is_of_users_guide,
};
use hyperslab_cf::tables::{StandardNames, Version};
use hyperslab_core::nd::Region;
use hyperslab_core::{Error, Result};
use hyperslab_model::{Datatype, Elements, Node, NodePath, Values};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::sync::Arc;

/// The violations of the conventions.
pub(super) fn check(
    source: &dyn Source,
    conventions: &Conventions,
    how: &ConventionOptions,
) -> Result<Vec<Finding>> {
    let nodes = nodes(source)?;
    let typed = source.dialect().has_typed_attributes;
    let dataset = Dataset::new(nodes.iter().map(|(path, node)| (path, node)), typed);
    let reader = Reader { source, arrays: RefCell::default() };
    let names = how.standard_names.as_deref().unwrap_or_else(|| StandardNames::embedded());
    let reads: Option<&dyn ValueReader> = if how.quick { None } else { Some(&reader) };
    let of_cf = |rule: &_| wants(how, rule);
    let of_the_named = |rule: &_| wants(how, rule) && !is_of_identification(rule);
    let of_users_guide = |rule: &_| wants(how, rule) && is_of_users_guide(rule);
    let everywhere = |version: Version| vec![Some(version); dataset.groups.len()];
    let checked = Checked { dataset: &dataset, names, values: reads, wants: &of_cf };
    let (mut found, mut notes) = (Vec::new(), Vec::new());
    for version in &conventions.versions {
        found.extend(check_rules(&checked, &everywhere(*version))?);
    }
    if conventions.auto {
        let (versions, said) = auto(&dataset);
        notes = said;
        let checked = Checked { wants: &of_the_named, ..checked };
        found.extend(check_rules(&checked, &versions)?);
    }
    if conventions.users_guide {
        let checked = Checked { wants: &of_users_guide, ..checked };
        found.extend(check_rules(&checked, &everywhere(Version::EMBEDDED))?);
    }
    // Versions have rules in common.
    let mut known = FxHashSet::default();
    found.retain(|found| known.insert((found.rule.name, found.object.clone(), found.message.clone())));
    Ok(notes.into_iter().chain(found).map(finding).collect())
}

/// All objects without their values. Unreadable ones are left out: the check of the format reports them.
fn nodes(source: &dyn Source) -> Result<Vec<(NodePath, Node)>> {
    let root = source.find(&NodePath::root())?;
    let mut nodes = Vec::new();
    let mut add = |entry: &Entry| {
        if let Ok(node) = source.load(&entry.handle) {
            nodes.push((entry.handle.path.clone(), node));
        }
    };
    walk(source, &root.handle, &mut |step| {
        match step {
            Step::Enter(group, _) => add(&Entry { handle: group.clone(), item: Item::Group }),
            Step::Member(entry) if matches!(entry.item, Item::Array { .. }) => add(entry),
            Step::Member(_) | Step::Leave(_) => {}
        }
        Ok(())
    })?;
    Ok(nodes)
}

/// Reads values for the rules that need them.
struct Reader<'a> {
    source: &'a dyn Source,
    /// The arrays that are read region by region.
    arrays: RefCell<FxHashMap<NodePath, Arc<dyn ArraySource>>>,
}

impl Reader<'_> {
    fn array(&self, variable: &NodePath) -> Result<Arc<dyn ArraySource>> {
        let found = self.source.find(variable)?;
        self.source.array(&found.handle).map_err(|error| error.in_object(variable))
    }
}

impl ValueReader for Reader<'_> {
    fn stream(
        &self,
        variable: &NodePath,
        take: &mut dyn FnMut(&Datatype, &Values) -> Result<()>,
    ) -> Result<()> {
        let array = self.array(variable)?;
        let Some(extents) = array.extents() else { return Ok(()) };
        let datatype = Arc::clone(array.datatype());
        stream(&*array, &Region::all(extents), &mut |_, values| take(&datatype, values))
            .map_err(|error| error.in_object(variable))
    }

    fn region(
        &self,
        variable: &NodePath,
        region: &Region,
        take: &mut dyn FnMut(Elements<'_>) -> Result<()>,
    ) -> Result<()> {
        let known = self.arrays.borrow().get(variable).cloned();
        let array = match known {
            Some(array) => array,
            None => {
                let array = self.array(variable)?;
                self.arrays.borrow_mut().insert(variable.clone(), Arc::clone(&array));
                array
            }
        };
        region
            .check(array.extents().unwrap_or_default())
            .map_err(|error: Error| error.in_object(variable))?;
        let values = values(&*array, region).map_err(|error| error.in_object(variable))?;
        take(Elements::new(array.datatype(), &values))
    }
}
