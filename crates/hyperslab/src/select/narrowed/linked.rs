//! Arrays whose values are positions or element counts along dimensions.

use crate::source::{Entry, Item, Source};
use crate::walk::{Step, walk};
use hyperslab_cf::dataset::Dataset;
use hyperslab_core::{Result, valid};
use hyperslab_model::NodePath;
use std::collections::BTreeSet;

/// The arrays whose values are positions or counts along one of the dimensions.
///
/// # Errors
/// If the objects cannot be listed.
pub(super) fn along(source: &dyn Source, dimensions: &BTreeSet<NodePath>) -> Result<BTreeSet<NodePath>> {
    if dimensions.is_empty() {
        return Ok(BTreeSet::new());
    }
    let root = source.find(&NodePath::root())?;
    let mut nodes = Vec::new();
    walk(source, &root.handle, &mut |step| {
        let handle = match step {
            Step::Enter(group, _) => group,
            Step::Member(Entry { handle, item: Item::Array { .. } }) => handle,
            Step::Member(_) | Step::Leave(_) => return Ok(()),
        };
        // Unreadable objects are reported when they are converted.
        nodes.extend(valid(source.load(handle))?.map(|node| (handle.path.clone(), node)));
        Ok(())
    })?;
    let typed = source.dialect().has_typed_attributes;
    let dataset = Dataset::new(nodes.iter().map(|(path, node)| (path, node)), typed);
    let linked = dataset.linked().into_iter();
    let along = linked.filter(|linked| linked.dimensions.iter().any(|of| dimensions.contains(*of)));
    Ok(along.map(|linked| linked.variable.path.clone()).collect())
}
