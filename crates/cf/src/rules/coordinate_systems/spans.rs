//! The dimensions that the coordinates of a variable may have: those of the variable, and those that they represent in
//! compression by gathering and ragged arrays.
//!
//! Spec: CF 1.13, 5 Coordinate Systems and Domain, 8.2 Lossless Compression by Gathering, 9.3 Representation of Collections

use crate::dataset::{Along, Dataset, Role, Target, Variable};
use hyperslab_model::NodePath;
use std::collections::{BTreeSet, HashMap};

/// The dimensions that other dimensions represent.
pub(in crate::rules) struct Spans<'a> {
    dataset: &'a Dataset,
    /// The dimensions that each dimension represents.
    behind: HashMap<&'a NodePath, Vec<&'a NodePath>>,
}

impl<'a> Spans<'a> {
    pub(in crate::rules) fn new(dataset: &'a Dataset) -> Spans<'a> {
        let mut behind: HashMap<&NodePath, Vec<&NodePath>> = HashMap::new();
        for variable in &dataset.variables {
            let own = variable.dimensions.first().and_then(|along| along.path.as_ref());
            let Some(own) = own else { continue };
            if variable.is(Role::Compression) {
                behind.entry(own).or_default().extend(dimensions(dataset, variable, "compress"));
            }
            // A sample belongs to the profile for which the count variable counts it.
            for sample in dimensions(dataset, variable, "sample_dimension") {
                behind.entry(sample).or_default().push(own);
            }
            if variable.is(Role::Index) {
                behind.entry(own).or_default().extend(dimensions(dataset, variable, "instance_dimension"));
            }
        }
        Spans { dataset, behind }
    }

    /// The first dimension of a coordinate that its variable does not have, not even indirectly. Dimensions without a
    /// name cannot be compared.
    pub(in crate::rules) fn missing<'c>(
        &self,
        variable: &Variable,
        coordinate: &'c [Along],
    ) -> Option<&'c Along> {
        let own: Vec<(&NodePath, Option<u64>)> = if variable.is(Role::Domain) && variable.has("dimensions") {
            dimensions(self.dataset, variable, "dimensions").map(|path| (path, None)).collect()
        } else {
            let named = variable.dimensions.iter();
            named.filter_map(|along| Some((along.path.as_ref()?, Some(along.length)))).collect()
        };
        if !variable.is(Role::Domain) && own.len() < variable.dimensions.len() {
            return None;
        }
        let mut all: Option<BTreeSet<&str>> = None;
        coordinate.iter().find(|along| {
            let Some(path) = &along.path else { return false };
            // Formats without declared dimensions have a separate dimension of the same name in every group.
            let is_own = own.iter().any(|(own, length)| {
                *own == path || (own.name() == path.name() && *length == Some(along.length))
            });
            !is_own
                && !all
                    .get_or_insert_with(|| self.behind(own.iter().map(|(path, _)| *path)))
                    .contains(path.as_str())
        })
    }

    /// All dimensions that the given ones represent, directly or indirectly.
    fn behind<'s>(&'s self, own: impl Iterator<Item = &'s NodePath>) -> BTreeSet<&'s str> {
        let mut open: Vec<&NodePath> = own.collect();
        let mut met = BTreeSet::new();
        while let Some(path) = open.pop() {
            if met.insert(path.as_str()) && met.len() < MAX_DIMENSIONS {
                open.extend(self.behind.get(path).into_iter().flatten().copied());
            }
        }
        met
    }
}

/// The maximum number of dimensions that are examined for one variable.
const MAX_DIMENSIONS: usize = 1_000;

/// The dimensions that an attribute names.
fn dimensions<'a>(
    dataset: &'a Dataset,
    variable: &Variable,
    attribute: &'a str,
) -> impl Iterator<Item = &'a NodePath> {
    dataset.references(variable, attribute).filter_map(|reference| match reference.target {
        Target::Dimension(id) => dataset.dimension_at(id).map(|dimension| &dimension.path),
        _ => None,
    })
}
