//! Arrays of a group that have the same dimensions, stored as attributes of a single array: requested by
//! `-O tiledb.collect`, and the default of tiledb-cf.

use super::definition::ArrayPlan;
use crate::format::tiledb::parts::StoredParts;
use crate::target::Facts;
use hyperslab_model::{NodePath, Shape};
use hyperslab_tiledb::format::array_schema::{ArraySchema, Dimension, EnumerationFile};
use hyperslab_tiledb::format::enumeration::Enumeration;
use hyperslab_zarr::json::Object;
use rustc_hash::{FxHashMap, FxHashSet};

/// The collected arrays of all groups.
#[derive(Default)]
pub(super) struct Collections {
    groups: FxHashMap<NodePath, Vec<Collection>>,
    /// The location of an array in its group: the collection and its member.
    places: FxHashMap<NodePath, (usize, usize)>,
}

/// Arrays that are combined into one.
pub(super) struct Collection {
    pub(super) schema: ArraySchema,
    pub(super) enumerations: Vec<Enumeration>,
    pub(super) extents: Vec<u64>,
    pub(super) members: Vec<Collected>,
}

/// An array that becomes one attribute, or one for each member of a compound.
#[derive(Clone)]
pub(super) struct Collected {
    pub(super) path: NodePath,
    /// The first of its attributes.
    pub(super) attribute: usize,
    pub(super) parts: StoredParts,
    /// Content that TileDB cannot represent, without attributes.
    pub(super) record: Object,
}

/// How an array is stored.
pub(super) enum Added {
    /// As a separate array: it has no cells, or the part that was never written is too large to be filled.
    Alone(Box<ArrayPlan>),
    /// As an attribute. `has_other_tiles` is set if chunks of its own would be different.
    Collected { has_other_tiles: bool },
}

impl Collections {
    /// Adds an array to the arrays of its group with the same dimensions.
    pub(super) fn add(&mut self, path: &NodePath, plan: ArrayPlan) -> Added {
        let Some(group) = path.parent().filter(|_| plan.is_collected) else {
            return Added::Alone(Box::new(plan));
        };
        let all = self.groups.entry(group).or_default();
        let found = all.iter().position(|own| {
            let taken = |name| own.schema.attributes.iter().any(|other| other.name == name);
            own.extents == plan.extents
                && are_same(&own.schema.domain.dimensions, &plan.schema.domain.dimensions)
                && !plan.schema.attributes.iter().any(|attribute| taken(attribute.name.as_slice()))
        });
        let (parts, record) = (plan.parts, plan.record);
        let mut member = Collected { path: path.clone(), attribute: 0, parts, record };
        let Some((place, own)) = found.and_then(|place| Some((place, all.get_mut(place)?))) else {
            let ArrayPlan { schema, enumerations, extents, .. } = plan;
            self.places.insert(path.clone(), (all.len(), 0));
            all.push(Collection { schema, enumerations, extents, members: vec![member] });
            return Added::Collected { has_other_tiles: false };
        };
        let has_other_tiles = own.schema.domain != plan.schema.domain;
        self.places.insert(path.clone(), (place, own.members.len()));
        member.attribute = own.schema.attributes.len();
        own.members.push(member);
        for mut enumeration in plan.enumerations {
            // Attributes of an array share the namespace of its enumerations.
            let name = [&*enumeration.name, format!("_{}", own.members.len()).as_bytes()].concat();
            enumeration.name.clone_from(&name);
            own.schema.enumerations.push(EnumerationFile { name, file_name: Vec::new() });
            own.enumerations.push(enumeration);
        }
        let renamed = own.enumerations.last().map(|last| last.name.clone());
        for mut attribute in plan.schema.attributes {
            if attribute.enumeration.is_some() {
                attribute.enumeration.clone_from(&renamed);
            }
            own.schema.attributes.push(attribute);
        }
        Added::Collected { has_other_tiles }
    }

    /// The group of a collected array, its collection, and its position in it.
    pub(super) fn place(&self, path: &NodePath) -> Option<(NodePath, usize, usize)> {
        let (collection, member) = *self.places.get(path)?;
        Some((path.parent()?, collection, member))
    }

    /// A collection of a group.
    pub(super) fn get(&self, group: &NodePath, place: usize) -> Option<&Collection> {
        self.groups.get(group)?.get(place)
    }

    /// The collections of a group.
    pub(super) fn of(&self, group: &NodePath) -> &[Collection] {
        self.groups.get(group).map(Vec::as_slice).unwrap_or_default()
    }

    /// The groups that have collections.
    pub(super) fn groups(&self) -> impl Iterator<Item = &NodePath> {
        self.groups.keys()
    }
}

/// Whether an array can be collected with others: it has cells, and all of them are written or can be filled, since all
/// attributes of a fragment contain all cells.
pub(super) fn takes(path: &NodePath, shape: &Shape, facts: Facts) -> bool {
    !path.is_root() && matches!(shape, Shape::Dims(_)) && (facts.can_fill || facts.is_whole)
}

/// The names of the combined arrays, following tiledb-cf. An array that is the only one with its dimensions keeps its
/// own name. `taken` contains the names of all members of the group.
pub(super) fn array_names(collections: &[Collection], taken: &FxHashSet<String>) -> Vec<String> {
    let mut names = (0_u64..).map(|number| format!("array{number}")).filter(|name| !taken.contains(name));
    let of = |own: &Collection| match own.members.as_slice() {
        [only] => Some(only.path.name().to_owned()),
        _ => names.next(),
    };
    collections.iter().map(of).map(Option::unwrap_or_default).collect()
}

/// Whether dimensions are the same apart from their tile extents.
fn are_same(own: &[Dimension], others: &[Dimension]) -> bool {
    own.len() == others.len()
        && own.iter().zip(others).all(|(own, other)| own.name == other.name && own.domain == other.domain)
}
