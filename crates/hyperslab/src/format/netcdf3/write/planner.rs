//! Plans NetCDF classic files: determines what is lost, and builds the header, which contains all objects.

use super::definition::{Declaration, PlannedVariable};
use crate::cells::CellColumn;
use crate::format::hdf5::write::lowerings::{
    ATTRIBUTE_NATIVE, DOMAIN, SOURCES, UNCOUNTED, UNREADABLE_ATTRIBUTE, note_cells,
};
use crate::format::netcdf::datatype::is_user_defined;
use crate::format::netcdf::flavour::Flavour;
use crate::format::netcdf::lowerings::{
    ATTRIBUTE_OF_DIMENSION, CHUNKS, ENDIAN, FILL_ATTRIBUTE, FILTERS, PLAIN_TYPE, USER_TYPE,
};
use crate::format::netcdf::name::{StoredPaths, of_names};
use crate::format::netcdf::record::{self, Record};
use crate::format::netcdf::user_types::UserTypes;
use crate::format::netcdf::variable::{Lowered, Variables, beside, is_stored, needs};
use crate::format::netcdf3::datatype::{data_type, stored_attribute};
use crate::target::{Facts, Filters, Losses, Needs, OrderedMember, Outcome, Planner};
use hyperslab_core::{Error, ErrorKind, Remedy, Result};
use hyperslab_model::{Attributes, ByteOrder, DimCoord, Extent, Fill, Layout, Node, NodePath, Storage};
use hyperslab_netcdf3::{Attribute, Version};
use hyperslab_netcdf4::name::FILL_VALUE;
use std::sync::Arc;

/// Plans the objects of a file.
pub(super) struct Netcdf3Planner {
    version: Version,
    declaration: Declaration,
    /// The original names of the members and the attributes of the file.
    paths: StoredPaths,
    record: Record,
}

impl Netcdf3Planner {
    pub(super) fn new(version: Version) -> Netcdf3Planner {
        let (declaration, record) = Default::default();
        let paths = StoredPaths::new(Flavour::Classic(version));
        Netcdf3Planner { version, declaration, paths, record }
    }

    fn flavour(&self) -> Flavour {
        Flavour::Classic(self.version)
    }

    fn plan_lowered(
        &mut self,
        (path, node): (&NodePath, &Node),
        facts: Facts,
        losses: &mut dyn Losses,
    ) -> Result<()> {
        let user = &mut UserTypes::default();
        let variables = Variables { user, flavour: self.flavour(), facts };
        let Some(lowered) = { variables }.lowered(path, node, losses)? else {
            if let Node::Datatype(named) = node {
                let lost = if is_user_defined(&named.datatype) { &USER_TYPE } else { &PLAIN_TYPE };
                losses.note(lost, path.to_string(), None);
            }
            return Ok(());
        };
        note_storage(path, node, facts, losses)?;
        let Lowered { node: lowered, along, is_scale, change, inner, record } = lowered;
        let stored = of_names(path, self.flavour());
        let none = Attributes::new();
        let attributes = stored_attributes(path, lowered.attributes().unwrap_or(&none), losses)?;
        match (node, lowered.datatype()) {
            (Node::Group(_), _) => (self.declaration.attributes, self.record) = (attributes, record),
            (Node::DimCoord(dimension), None) => {
                for attribute in attributes {
                    let name = String::from_utf8_lossy(&attribute.name).into_owned();
                    losses.note(&ATTRIBUTE_OF_DIMENSION, format!("{path}@{name}"), None);
                }
                self.declaration.dimension(path, stored, dimension.size);
            }
            (_, Some(datatype)) => {
                let of = data_type(datatype).ok_or_else(|| self.flavour().without(datatype))?;
                let mut attributes = attributes;
                if has_fill_of_its_type(node) {
                    let count = attributes.len();
                    attributes.retain(|attribute| {
                        attribute.name != FILL_VALUE.as_bytes()
                            || attribute.data_type == of && attribute.values.len() == of.size()
                    });
                    if attributes.len() < count {
                        losses.note(&FILL_ATTRIBUTE, format!("{path}@{FILL_VALUE}"), None);
                    }
                }
                attributes.extend(stored_record(&record)?);
                let own = beside(node, is_scale).or(along.first().filter(|_| is_scale).map(|own| own.extent));
                if let Some(extent) = own {
                    self.declaration.dimension(path, stored.clone(), extent);
                }
                let fill = match lowered.storage().map(|storage| &storage.fill) {
                    Some(Fill::Value(value)) if value.rows.len() == of.size() => Some(value.rows.clone()),
                    _ => None,
                };
                self.declaration.variables.push(PlannedVariable {
                    place: path.clone(),
                    path: stored,
                    along,
                    is_scale,
                    data_type: of,
                    attributes,
                    change,
                    inner,
                    fill,
                });
            }
            _ => {}
        }
        if !path.is_root() {
            self.paths.keep(&NodePath::root(), path.name());
        }
        Ok(())
    }
}

/// Whether the fill value of the source has the type of its array. If not, it is an ordinary attribute, even for
/// readers of the classic formats.
fn has_fill_of_its_type(node: &Node) -> bool {
    let fill = node.attributes().and_then(|attributes| attributes.get(FILL_VALUE));
    fill.and_then(|fill| fill.as_ref().ok()).is_some_and(|fill| Some(&fill.datatype) == node.datatype())
}

impl Planner for Netcdf3Planner {
    fn needs(&self, _: &NodePath, node: &Node) -> Needs {
        needs(self.flavour(), node)
    }

    fn order_members(&mut self, group: &NodePath, members: &[OrderedMember<'_>], _: &mut dyn Losses) {
        self.declaration.order(group, members, self.flavour());
    }

    fn plan(&mut self, path: &NodePath, node: &Node, facts: Facts, losses: &mut dyn Losses) -> Result<()> {
        if !is_stored((path, node), self.flavour(), losses)? {
            return Ok(());
        }
        let planned = self.plan_lowered((path, node), facts, losses);
        // If the coordinates are omitted, the dimension is kept.
        if let (Err(error), Node::DimCoord(dimension)) = (&planned, node)
            && error.kind() == ErrorKind::Unsupported
        {
            self.declaration.dimension(path, of_names(path, self.flavour()), dimension.size);
            self.paths.keep(&NodePath::root(), path.name());
        }
        planned
    }

    fn cells(&mut self, path: &NodePath, _: &[CellColumn], losses: &mut dyn Losses) -> Result<bool> {
        note_cells(path, losses);
        Ok(false)
    }

    fn finish(self: Box<Self>, losses: &mut dyn Losses) -> Result<Option<Arc<Outcome>>> {
        let Netcdf3Planner { version, mut declaration, paths, mut record } = *self;
        record.members = paths.originals(&NodePath::root());
        declaration.attributes.extend(stored_record(&record)?);
        Ok(Some(Arc::new(declaration.defined(version, losses)?)))
    }
}

/// The attributes of a file or a variable.
fn stored_attributes(
    path: &NodePath,
    attributes: &Attributes,
    losses: &mut dyn Losses,
) -> Result<Vec<Attribute>> {
    let mut stored = Vec::new();
    for (name, attribute) in attributes {
        let place = || format!("{path}@{name}");
        match attribute {
            Ok(attribute) => {
                if !attribute.native.is_empty() {
                    losses.note(&ATTRIBUTE_NATIVE, place(), None);
                }
                stored.push(stored_attribute(name, attribute)?);
            }
            Err(unreadable) => losses.note(&UNREADABLE_ATTRIBUTE, place(), Some(unreadable.reason.clone())),
        }
    }
    Ok(stored)
}

/// The record of a file or a variable, if it has any names.
fn stored_record(record: &Record) -> Result<Option<Attribute>> {
    record.attribute().map(|attribute| stored_attribute(record::ATTRIBUTE, &attribute)).transpose()
}

/// Notes the storage properties of an object that the format cannot represent.
fn note_storage(path: &NodePath, node: &Node, facts: Facts, losses: &mut dyn Losses) -> Result<()> {
    let mut note = |lowered| losses.note(lowered, path.to_string(), None);
    if let Node::DimCoord(DimCoord { size: Extent::Uncounted, .. }) = node {
        note(&UNCOUNTED);
    }
    let none = Storage::default();
    let storage = node.storage().unwrap_or(&none);
    if storage.domain.is_some() || storage.tile.is_some() {
        note(&DOMAIN);
    }
    if node.datatype().is_none() {
        return Ok(());
    }
    if storage.chunk.is_some() {
        note(&CHUNKS);
    }
    if !storage.filters.is_empty() {
        if facts.filters == Filters::Asked {
            return Err(Error::invalid("filters, which NetCDF classic files do not have")
                .with_remedy(Remedy::OtherFormat("netcdf4-classic")));
        }
        note(&FILTERS);
    }
    if storage.element.endian == Some(ByteOrder::Little) {
        note(&ENDIAN);
    }
    if matches!(storage.layout, Some(Layout::Virtual | Layout::External)) {
        note(&SOURCES);
    }
    Ok(())
}
