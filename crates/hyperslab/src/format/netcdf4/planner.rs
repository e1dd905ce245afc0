//! Plans NetCDF-4 files: determines what is lost, and collects what is known only from all objects.

use super::order::MemberKind;
use crate::cells::CellColumn;
use crate::format::hdf5::write::planner::{Found as Hdf5Found, Hdf5Planner};
use crate::format::netcdf::dimension::{Declared, Dimensions};
use crate::format::netcdf::flavour::Flavour;
use crate::format::netcdf::hoisted::{Hoisted, Survey};
use crate::format::netcdf::lowerings::{HOISTED, PLAIN_TYPE};
use crate::format::netcdf::name::{self, StoredPaths, of_names};
use crate::format::netcdf::user_types::UserTypes;
use crate::format::netcdf::variable::{
    Lowered, Variables, beside, is_stored, made_datatype, made_dimension, needs,
};
use crate::target::{Encoder, Facts, Losses, Needs, OrderedMember, Outcome, Planner, Silent};
use hyperslab_core::{Error, ErrorKind, Result};
use hyperslab_model::{Dimension, Node, NodePath};
use hyperslab_netcdf4::name::NON_COORDINATE;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The results of planning that the target needs.
pub(super) struct Found {
    pub(super) hdf5: Arc<Hdf5Found>,
    pub(super) dimensions: Dimensions,
    pub(super) types: UserTypes,
    pub(super) paths: StoredPaths,
    /// The kind of each object, by its path in the file.
    pub(super) kinds: FxHashMap<NodePath, MemberKind>,
    pub(super) hoisted: Hoisted,
    pub(super) flavour: Flavour,
}

/// Plans the objects below one root.
pub(super) struct Netcdf4Planner {
    hdf5: Hdf5Planner,
    declared: Declared,
    types: UserTypes,
    paths: StoredPaths,
    kinds: FxHashMap<NodePath, MemberKind>,
    /// The objects seen before any is planned, if dimensions may move.
    survey: Option<Survey>,
    hoisted: Hoisted,
    flavour: Flavour,
}

impl Netcdf4Planner {
    pub(super) fn new(hdf5: Hdf5Planner, flavour: Flavour, hoists: bool) -> Netcdf4Planner {
        let (declared, types, kinds, hoisted) = Default::default();
        let paths = StoredPaths::new(flavour);
        let survey = hoists.then(Survey::default);
        Netcdf4Planner { hdf5, declared, types, paths, kinds, survey, hoisted, flavour }
    }

    fn plan_lowered(
        &mut self,
        (path, node): (&NodePath, &Node),
        facts: Facts,
        losses: &mut dyn Losses,
    ) -> Result<()> {
        let known = self.types.len();
        let lowered =
            Variables { user: &mut self.types, flavour: self.flavour, facts }.lowered(path, node, losses);
        // Types created for an object are planned before it.
        for made in self.types.since(known).to_vec() {
            let node = Node::Datatype(made_datatype(&made));
            self.hdf5.plan(&made.path, &node, Facts::default(), &mut Silent)?;
        }
        let Some(Lowered { node: lowered, along, is_scale, record, .. }) = lowered? else {
            if matches!(node, Node::Datatype(_)) {
                losses.note(&PLAIN_TYPE, path.to_string(), None);
            }
            return Ok(());
        };
        if let Some(extent) = beside(node, is_scale) {
            // The dimension keeps the name, and the variable gets a longer one.
            let prefix = String::from_utf8_lossy(NON_COORDINATE);
            self.paths.rename(path, &format!("{prefix}{}", name::stored(path.name(), self.flavour).0));
            let dimension = Node::DimCoord(made_dimension(extent));
            self.hdf5.plan(&of_names(path, self.flavour), &dimension, Facts::default(), &mut Silent)?;
            self.declared.dimension(of_names(path, self.flavour), extent);
        }
        let stored = self.paths.stored(path);
        if self.kinds.contains_key(&stored) {
            return Err(Error::unsupported(format!(
                "an object whose name becomes {:?}, which another one already has",
                stored.name()
            )));
        }
        self.hdf5.plan(&stored, &lowered, facts, losses)?;
        let kind = match &lowered {
            Node::Datatype(named) => {
                self.types.declare(
                    stored.clone(),
                    Arc::clone(&named.datatype),
                    named.storage.element.clone(),
                    record.fields,
                );
                MemberKind::Datatype
            }
            Node::DimCoord(dimension) if dimension.datatype.is_none() => {
                self.declared.dimension(stored.clone(), dimension.size);
                MemberKind::Dimension
            }
            Node::DimCoord(_) | Node::Ndarray(_) => {
                let own = along.first().filter(|_| is_scale).map(|own| own.extent);
                if let Some(extent) = own {
                    self.declared.dimension(stored.clone(), extent);
                }
                self.declared.variable(path, stored.clone(), along, is_scale);
                if own.is_some() { MemberKind::Coordinates } else { MemberKind::Variable }
            }
            Node::Group(_) => MemberKind::Group,
            Node::Link(_) | Node::Unreadable(_) => MemberKind::Nothing,
        };
        self.keep_name(path);
        self.kinds.insert(stored, kind);
        Ok(())
    }
}

impl Netcdf4Planner {
    /// Keeps the original name of a planned object.
    fn keep_name(&mut self, path: &NodePath) {
        if let Some(group) = path.parent() {
            self.paths.keep(&of_names(&group, self.flavour), path.name());
        }
    }
}

impl Planner for Netcdf4Planner {
    fn trial(&self, path: &NodePath, node: &Node, facts: Facts) -> Result<Option<Box<dyn Encoder>>> {
        self.hdf5.trial(path, node, facts)
    }

    fn needs(&self, _: &NodePath, node: &Node) -> Needs {
        needs(self.flavour, node)
    }

    fn plan(&mut self, path: &NodePath, node: &Node, facts: Facts, losses: &mut dyn Losses) -> Result<()> {
        if !is_stored((path, node), self.flavour, losses)? {
            return Ok(());
        }
        if let Some(survey) = self.survey.take() {
            self.hoisted = survey.finish();
        }
        if let Some(new) = self.hoisted.path_of(path) {
            let extent = match node {
                Node::DimCoord(dimension) => Some(dimension.size),
                Node::Ndarray(array) => array.dimension,
                _ => None,
            };
            if let Some(extent) = extent {
                losses.note(&HOISTED, path.to_string(), Some(format!("dimension that moves to {new}")));
                self.declared.moved(of_names(path, self.flavour), new.clone(), extent);
                // Unless it was numbered because another object there has the name.
                if name::stored(path.name(), self.flavour).0 == new.name() {
                    self.paths.keep(&new.parent().unwrap_or_else(NodePath::root), path.name());
                }
            }
        }
        let Some(node) = self.hoisted.without_dimension(path, node) else { return Ok(()) };
        let node = &*node;
        let planned = self.plan_lowered((path, node), facts, losses);
        // If the coordinates are omitted, the dimension is kept.
        if let (Err(error), Node::DimCoord(dimension)) = (&planned, node)
            && error.kind() == ErrorKind::Unsupported
        {
            let extent = dimension.size;
            self.hdf5.plan(
                &of_names(path, self.flavour),
                &Node::DimCoord(made_dimension(extent)),
                facts,
                &mut Silent,
            )?;
            self.declared.dimension(of_names(path, self.flavour), extent);
            self.kinds.insert(of_names(path, self.flavour), MemberKind::Dimension);
            self.keep_name(path);
        }
        planned
    }

    fn has_survey(&self) -> bool {
        self.survey.is_some()
    }

    fn survey(&mut self, path: &NodePath, dimensions: &[Dimension]) {
        if let Some(survey) = &mut self.survey {
            survey.add(path, dimensions);
        }
    }

    fn order_members(&mut self, group: &NodePath, members: &[OrderedMember<'_>], _: &mut dyn Losses) {
        self.declared.order(group, members, self.flavour);
        if group.is_root() {
            self.types.take_names(members.iter().map(|member| member.name));
        }
    }

    fn cells(&mut self, path: &NodePath, columns: &[CellColumn], losses: &mut dyn Losses) -> Result<bool> {
        self.hdf5.cells(path, columns, losses)
    }

    fn finish(self: Box<Self>, losses: &mut dyn Losses) -> Result<Option<Arc<Outcome>>> {
        let Netcdf4Planner { mut hdf5, declared, types, paths, kinds, hoisted, flavour, .. } = *self;
        declared.note_empty(losses);
        let others = types.made().map(|made| made.path.clone()).chain(kinds.keys().cloned());
        let dimensions =
            declared.resolve(others, losses, &mut |variable, along| hdf5.attach(variable, along));
        for (path, extent) in dimensions.made() {
            let node = Node::DimCoord(made_dimension(*extent));
            // It was created in a form that can be stored.
            hdf5.plan(path, &node, Facts::default(), &mut Silent)?;
        }
        let hdf5 = Box::new(hdf5).finish(losses)?.and_then(|found| found.downcast::<Hdf5Found>().ok());
        let hdf5 = hdf5.ok_or_else(|| Error::invalid("planned for another format"))?;
        Ok(Some(Arc::new(Found { hdf5, dimensions, types, paths, kinds, hoisted, flavour })))
    }
}
