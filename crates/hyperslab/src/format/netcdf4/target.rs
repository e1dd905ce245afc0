//! A NetCDF-4 file that is being written.

use super::order::{Member, MemberKind, created};
use super::planner::Found;
use crate::format::hdf5::write::lowerings::directive;
use crate::format::hdf5::write::target::Hdf5Target;
use crate::format::netcdf::array::ChangedArray;
use crate::format::netcdf::attribute::{characters_of, integers};
use crate::format::netcdf::datatype::Change;
use crate::format::netcdf::flavour::Flavour;
use crate::format::netcdf::name::of_names;
use crate::format::netcdf::user_types::UserTypes;
use crate::format::netcdf::variable::{Lowered, Variables, beside, made_datatype, made_dimension};
use crate::target::{ArrayTarget, Facts, OrderedMember, Silent, Target};
use hyperslab_core::{Error, Result};
use hyperslab_model::{Attribute, DimCoord, Directive, Node, NodePath};
use hyperslab_netcdf4::name::{CLASSIC_MODEL, COORDINATES, DIMENSION_ID, PROPERTIES};
use hyperslab_netcdf4::rules::properties;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// A NetCDF-4 file. The HDF5 file contains what this adds to the objects of the source: created types and dimensions,
/// and hidden attributes.
pub(super) struct Netcdf4Target {
    hdf5: Hdf5Target,
    found: Arc<Found>,
    types: Mutex<UserTypes>,
}

impl Netcdf4Target {
    /// Begins a file at `path`, or resumes one that was begun there.
    pub(super) fn create(path: &Path, found: Arc<Found>) -> Result<Netcdf4Target> {
        let hdf5 = Hdf5Target::create(path, Arc::clone(&found.hdf5), false)?;
        let types = Mutex::new(found.types.clone());
        Ok(Netcdf4Target { hdf5, found, types })
    }

    /// An object in the form passed to HDF5, with its stored path.
    fn lowered(&self, path: &NodePath, node: &Node, facts: Facts) -> Result<Option<(NodePath, Lowered)>> {
        let mut types = self.types.lock().unwrap_or_else(PoisonError::into_inner);
        let mut variables = Variables { user: &mut types, flavour: self.found.flavour, facts };
        let Some(mut lowered) = variables.lowered(path, node, &mut Silent)? else { return Ok(None) };
        let stored = self.found.paths.stored(path);
        let mut hidden: Vec<(&str, Attribute)> = Vec::new();
        match &lowered.node {
            Node::Group(_) if path.is_root() => {
                hidden.push((PROPERTIES, characters_of(properties().into_bytes())));
                let is_marked = node.storage().and_then(|storage| directive(storage, "classic_model"));
                if self.found.flavour == Flavour::ClassicModel || is_marked == Some(&Directive::Bool(true)) {
                    hidden.push((CLASSIC_MODEL, integers(&[1], false)));
                }
            }
            Node::DimCoord(DimCoord { datatype: None, .. }) => hidden.push(self.dimension_id(&stored)?),
            Node::DimCoord(_) | Node::Ndarray(_) => {
                let ids = self.found.dimensions.ids_of(&stored);
                if !ids.is_empty() {
                    hidden.push((COORDINATES, integers(&ids, false)));
                }
                if lowered.is_scale {
                    // Without it the library would count, and adding a dimension to a group above would change the
                    // numbers.
                    hidden.push(self.dimension_id(&stored)?);
                }
            }
            _ => {}
        }
        if matches!(lowered.node, Node::Group(_)) {
            lowered.record.members = self.found.paths.originals(&stored);
        }
        if let Some(attributes) = lowered.node.attributes_mut() {
            // The library writes them before all other attributes.
            for (name, attribute) in hidden.into_iter().rev() {
                attributes.shift_insert(0, name.to_owned(), Ok(attribute));
            }
            lowered.record.add_to(attributes);
        }
        Ok(Some((stored, lowered)))
    }

    fn dimension_id(&self, stored: &NodePath) -> Result<(&'static str, Attribute)> {
        let id = self.found.dimensions.id(stored);
        let id = id.ok_or_else(|| Error::invalid("a dimension that was not planned").in_object(stored))?;
        Ok((DIMENSION_ID, integers(&[id], true)))
    }

    /// Passes an object to HDF5, and with a group the types and dimensions that are created in it.
    fn give(
        &self,
        path: &NodePath,
        node: &Node,
        facts: Facts,
        give: &dyn Fn(&NodePath, &Node, Facts) -> Result<()>,
    ) -> Result<()> {
        let Some((stored, lowered)) = self.lowered(path, node, facts)? else { return Ok(()) };
        self.give_beside(path, node, lowered.is_scale, give)?;
        give(&stored, &lowered.node, facts)?;
        if !matches!(node, Node::Group(_)) {
            return Ok(());
        }
        if path.is_root() {
            for made in self.found.types.made() {
                let node = Node::Datatype(made_datatype(made));
                give(&made.path, &node, Facts::default())?;
            }
        }
        for (path, extent) in self.found.dimensions.made_in(&stored) {
            self.give_dimension(path, made_dimension(*extent), give)?;
        }
        Ok(())
    }

    /// Passes the dimension that has the same name as a variable.
    fn give_beside(
        &self,
        path: &NodePath,
        node: &Node,
        is_scale: bool,
        give: &dyn Fn(&NodePath, &Node, Facts) -> Result<()>,
    ) -> Result<()> {
        match beside(node, is_scale) {
            Some(extent) => {
                self.give_dimension(&of_names(path, self.found.flavour), made_dimension(extent), give)
            }
            None => Ok(()),
        }
    }

    fn give_dimension(
        &self,
        path: &NodePath,
        mut dimension: DimCoord,
        give: &dyn Fn(&NodePath, &Node, Facts) -> Result<()>,
    ) -> Result<()> {
        let (name, id) = self.dimension_id(path)?;
        dimension.attributes.insert(name.to_owned(), Ok(id));
        give(path, &Node::DimCoord(dimension), Facts::default())
    }
}

impl Target for Netcdf4Target {
    fn declare(&self, path: &NodePath, node: &Node, facts: Facts) -> Result<()> {
        let Some(node) = self.found.hoisted.without_dimension(path, node) else { return Ok(()) };
        self.give(path, &node, facts, &|path, node, facts| self.hdf5.declare(path, node, facts))
    }

    fn order_members(&self, group: &NodePath, given: &[OrderedMember<'_>]) -> Result<()> {
        let stored = of_names(group, self.found.flavour);
        let mut members = Vec::new();
        let mut add = |path: &NodePath, kind: MemberKind| {
            let dimension = self.found.dimensions.id(path);
            members.push(Member { name: path.name().to_owned(), kind, dimension });
        };
        if group.is_root() {
            self.found.types.made().for_each(|made| add(&made.path, MemberKind::Datatype));
        }
        for given in given {
            let path = group.child(given.name);
            let own = self.found.paths.stored(&path);
            let dimension = of_names(&path, self.found.flavour);
            if own != dimension {
                add(&dimension, MemberKind::Dimension);
            }
            add(&own, self.found.kinds.get(&own).copied().unwrap_or(MemberKind::Nothing));
        }
        self.found.dimensions.made_in(&stored).iter().for_each(|(path, _)| add(path, MemberKind::Dimension));
        let order = created(&members).into_iter().map(|name| OrderedMember { name, dimension: None });
        self.hdf5.order_members(&stored, &order.collect::<Vec<_>>())
    }

    fn has_definitions(&self) -> bool {
        true
    }

    fn define(&self, path: &NodePath, node: &Node, facts: Facts) -> Result<()> {
        let Some(node) = self.found.hoisted.without_dimension(path, node) else { return Ok(()) };
        self.give(path, &node, facts, &|path, node, facts| self.hdf5.define(path, node, facts))
    }

    fn begin(&self, path: &NodePath, node: &Node, facts: Facts) -> Result<Box<dyn ArrayTarget + '_>> {
        let unplanned = || Error::invalid("an array that was not planned");
        let node = self.found.hoisted.without_dimension(path, node).ok_or_else(unplanned)?;
        let node = &*node;
        let (stored, lowered) = self.lowered(path, node, facts)?.ok_or_else(unplanned)?;
        self.give_beside(path, node, lowered.is_scale, &|path, node, facts| {
            self.hdf5.define(path, node, facts)
        })?;
        let array = self.hdf5.begin(&stored, &lowered.node, facts)?;
        match (lowered.change, lowered.inner.as_slice(), node.datatype()) {
            (Change::None, [], _) | (_, _, None) => Ok(array),
            (change, inner, Some(datatype)) => {
                Ok(Box::new(ChangedArray::new(array, Arc::clone(datatype), change, inner)?))
            }
        }
    }

    fn can_abandon(&self) -> bool {
        false
    }

    fn finish(&self) -> Result<()> {
        self.hdf5.finish()
    }
}
