//! Arrays of a group that have the same dimensions, as attributes of one array: what `-O tiledb.collect` asks for, and what
//! tiledb-cf does by default.

use super::definition::ArrayPlan;
use crate::format::tiledb::elements::StoredElements;
use crate::target::Facts;
use hyperslab_model::NodePath;
use hyperslab_tiledb::format::array_schema::{ArraySchema, Dimension, EnumerationFile};
use hyperslab_tiledb::format::enumeration::Enumeration;
use hyperslab_zarr::json::{Json, Object};
use rustc_hash::{FxHashMap, FxHashSet};

/// The collected arrays of all groups.
#[derive(Default)]
pub(super) struct Collections {
    groups: FxHashMap<NodePath, Vec<Collection>>,
    /// Where an array is in its group: the collection and the attribute.
    places: FxHashMap<NodePath, (usize, usize)>,
}

/// Arrays that become one.
pub(super) struct Collection {
    pub(super) schema: ArraySchema,
    pub(super) enumerations: Vec<Enumeration>,
    pub(super) extents: Vec<u64>,
    pub(super) members: Vec<Collected>,
}

/// An array that becomes an attribute.
#[derive(Clone)]
pub(super) struct Collected {
    pub(super) path: NodePath,
    pub(super) elements: StoredElements,
    /// What TileDB does not represent, without attributes.
    pub(super) record: Object,
}

/// What became of an array.
pub(super) enum Added {
    /// It is an array of its own: it has no cells, or more of it was never written than may be filled.
    Alone(Box<ArrayPlan>),
    /// It is an attribute. `has_other_tiles` is set if its own chunks would be others.
    Collected { has_other_tiles: bool },
}

impl Collections {
    /// Adds an array to those of its group with the same dimensions.
    pub(super) fn add(&mut self, path: &NodePath, plan: ArrayPlan, facts: Facts) -> Added {
        let is_null = matches!(plan.record.get("shape"), Some(Json::Null));
        let (Some(group), Some(attribute)) = (path.parent(), plan.schema.attributes.first()) else {
            return Added::Alone(Box::new(plan));
        };
        // All attributes of a fragment have all cells.
        if is_null || !(facts.can_fill || facts.is_whole) {
            return Added::Alone(Box::new(plan));
        }
        let all = self.groups.entry(group).or_default();
        let found = all.iter().position(|own| {
            let names = &mut own.schema.attributes.iter().map(|of| &of.name);
            own.extents == plan.extents
                && are_same(&own.schema.domain.dimensions, &plan.schema.domain.dimensions)
                && names.all(|name| *name != attribute.name)
        });
        let member = Collected { path: path.clone(), elements: plan.elements, record: plan.record };
        let Some((place, own)) = found.and_then(|place| Some((place, all.get_mut(place)?))) else {
            let ArrayPlan { schema, enumerations, extents, .. } = plan;
            self.places.insert(path.clone(), (all.len(), 0));
            all.push(Collection { schema, enumerations, extents, members: vec![member] });
            return Added::Collected { has_other_tiles: false };
        };
        let has_other_tiles = own.schema.domain != plan.schema.domain;
        self.places.insert(path.clone(), (place, own.members.len()));
        own.members.push(member);
        for mut enumeration in plan.enumerations {
            // Attributes of an array share the names of its enumerations.
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

    /// The group of an array that is collected, its collection, and its attribute.
    pub(super) fn place(&self, path: &NodePath) -> Option<(NodePath, usize, usize)> {
        let (collection, attribute) = *self.places.get(path)?;
        Some((path.parent()?, collection, attribute))
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

/// The names of the arrays that collections become: as tiledb-cf gives them, and its own for an array that has no other of its
/// dimensions. `taken` are the names of all members of the group.
pub(super) fn array_names(collections: &[Collection], taken: &FxHashSet<String>) -> Vec<String> {
    let mut names = (0_u64..).map(|number| format!("array{number}")).filter(|name| !taken.contains(name));
    let of = |own: &Collection| match own.members.as_slice() {
        [only] => Some(only.path.name().to_owned()),
        _ => names.next(),
    };
    collections.iter().map(of).map(Option::unwrap_or_default).collect()
}

/// Whether dimensions are the same, but for the extents of tiles.
fn are_same(own: &[Dimension], others: &[Dimension]) -> bool {
    own.len() == others.len()
        && own.iter().zip(others).all(|(own, other)| own.name == other.name && own.domain == other.domain)
}
