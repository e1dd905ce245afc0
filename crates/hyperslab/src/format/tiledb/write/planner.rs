//! Plans TileDB arrays and groups: determines what is lost, and which groups become arrays.

use super::collected::{Added, Collections, array_names};
use super::convention::{Spaces, asked, hide_other_fill, is_without_suffix};
use super::coordinates::counted;
use super::definition::ArrayPlan;
use super::dimension_names::DimensionNames;
use super::lowerings::{
    ATTRIBUTE_NAME, COLLECTED_TILES, DATATYPE, DIMENSION, DOMAIN_START, INNER_NAMED_TYPE, LABEL_ATTRIBUTE,
    LABELS, LINK, ORDER, UNCOUNTED,
};
use super::metadata::{Owner, put_attributes, put_native, visible};
use super::schema::Made;
use super::{collects, is_array, label, schema, version};
use crate::cells::CellColumn;
use crate::format::tiledb::is_label;
use crate::format::tiledb::schema::Members;
use crate::format::zarr::keep::record::has_named;
use crate::strings::name_bytes;
use crate::target::{Facts, Losses, Needs, OrderedMember, Outcome, Planner, TargetOptions};
use hyperslab_core::{Error, Result};
use hyperslab_model::{Attributes, Datatype, Extent, Fill, Link, Ndarray, Node, NodePath};
use hyperslab_netcdf4::name::FILL_VALUE;
use hyperslab_tiledb::format::array_schema::ArraySchema;
use hyperslab_tiledb::format::layout::ArrayType;
use hyperslab_tiledb::format::metadata::{Entry, Metadata};
use hyperslab_zarr::json::Object;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Plans the objects below one root.
pub(super) struct TileDbPlanner<'a> {
    options: &'a TargetOptions,
    /// The groups that become arrays, with their members.
    arrays: FxHashMap<NodePath, Described>,
    names: DimensionNames,
    collections: Collections,
    /// The metadata of collected arrays.
    collected: FxHashMap<NodePath, Metadata>,
    spaces: Spaces,
    /// The reason why the store cannot be written.
    refused: Option<Error>,
}

/// A group that becomes a TileDB array.
#[derive(Default)]
struct Described {
    members: Members,
    /// The columns of its cells, if they are stored.
    columns: Option<Vec<String>>,
}

impl Described {
    /// The metadata of the array and its members, as far as conventions apply to them.
    fn metadata(&self, schema: &ArraySchema) -> Metadata {
        let mut metadata = Metadata::default();
        let mut put = |owner: Owner<'_>, attributes: &Attributes| {
            let own = attributes
                .iter()
                .filter_map(|(name, of)| Some((name_bytes(name), visible(of.as_ref().ok()?)?)));
            let entries = own.map(|(name, value)| Entry { key: owner.key(&name), value: Some(value) });
            metadata.entries.extend(entries);
        };
        put(Owner::Object, &self.members.group.attributes);
        for ((_, own), of) in self.members.dimensions.iter().zip(&schema.domain.dimensions) {
            put(Owner::Dimension(&of.name), &own.attributes);
        }
        for ((_, own), of) in self.members.attributes.iter().zip(&schema.attributes) {
            put(Owner::Attribute(&of.name), &own.attributes);
        }
        metadata
    }
}

/// The groups that become sparse arrays.
#[derive(Clone, Debug, Default)]
pub(super) struct SparseGroups(pub(super) Vec<NodePath>);

impl<'a> TileDbPlanner<'a> {
    pub(super) fn new(options: &'a TargetOptions) -> TileDbPlanner<'a> {
        let convention = asked(options);
        let names = DimensionNames::new(is_without_suffix(convention));
        let (arrays, collections, spaces) =
            (FxHashMap::default(), Collections::default(), Spaces::new(convention));
        let collected = FxHashMap::default();
        TileDbPlanner { options, arrays, names, collections, collected, spaces, refused: None }
    }

    /// A member of a group that becomes an array.
    fn field(
        &mut self,
        path: &NodePath,
        group: &NodePath,
        (node, facts): (&Node, Facts),
        losses: &mut dyn Losses,
    ) -> Result<()> {
        let storage = node.storage();
        if storage.is_some_and(is_label) {
            return self.label(path, group, node, losses);
        }
        let (metadata, record) = (&mut Metadata::default(), &mut Object::new());
        let owner = match node {
            Node::DimCoord(_) => Owner::Dimension(b"d"),
            _ => Owner::Attribute(b"a"),
        };
        let none = Attributes::new();
        put_attributes((path, owner), node.attributes().unwrap_or(&none), (metadata, record), losses)?;
        if let Some(storage) = storage {
            put_native(path, storage, record, losses);
        }
        let described = self.arrays.entry(group.clone()).or_default();
        let is_beside = |columns: &Vec<String>| !columns.iter().any(|column| column == path.name());
        if node.has_elements() && described.columns.as_ref().is_some_and(is_beside) {
            return Err(Error::unsupported("an array beside cells, of which a TileDB array has none"));
        }
        if let Node::Ndarray(array) = node {
            // An attribute that TileDB cannot represent is left out of the array.
            crate::format::tiledb::schema::attribute::parse(
                path.name(),
                array,
                version(self.options)?,
                u64::MAX,
            )?;
        }
        let node = match described.columns {
            Some(_) => node.clone(),
            None => match counted(node.clone(), facts) {
                Ok(node) => node,
                // Without a dimension, no attribute of the array could be written.
                Err(error) => {
                    self.refused.get_or_insert(error.in_object(path));
                    node.clone()
                }
            },
        };
        described.members.add(path.clone(), node)
    }

    /// Labels of a dimension. Labels that cannot be kept within the array are left out of it.
    fn label(
        &mut self,
        path: &NodePath,
        group: &NodePath,
        node: &Node,
        losses: &mut dyn Losses,
    ) -> Result<()> {
        let described = self.arrays.entry(group.clone()).or_default();
        let Node::Ndarray(array) = node else { return Ok(()) };
        if !can_keep(path, array, described.columns.is_some(), &described.members) {
            losses.note(&LABELS, path.to_string(), None);
            return Ok(());
        }
        if array.attributes.iter().next().is_some() {
            losses.note(&LABEL_ATTRIBUTE, path.to_string(), None);
        }
        described.members.add(path.clone(), node.clone())
    }
}

/// Whether labels can be written within their array.
pub(super) fn can_keep(path: &NodePath, own: &Ndarray, is_sparse: bool, members: &Members) -> bool {
    let array_type = if is_sparse { ArrayType::Sparse } else { ArrayType::Dense };
    members.label(0, path, own).is_ok_and(|found| label::check(&found, array_type).is_ok())
}

impl Planner for TileDbPlanner<'_> {
    fn needs(&self, path: &NodePath, node: &Node) -> Needs {
        let described = path.parent().and_then(|group| self.arrays.get(&group));
        let is_field = described.is_some();
        let is_dense = described.is_some_and(|array| array.columns.is_none());
        let has_plain_fill = match (node.datatype(), node.storage().map(|storage| &storage.fill)) {
            (Some(datatype), Some(Fill::Value(_))) => !datatype.has_slots(),
            _ => false,
        };
        Needs {
            readable: !is_field,
            unicode: !is_field,
            padding: !is_field,
            written: !has_plain_fill || !is_field,
            coordinates: is_dense && matches!(node, Node::DimCoord(_)),
            ..Needs::default()
        }
    }

    fn order_members(&mut self, group: &NodePath, members: &[OrderedMember<'_>], losses: &mut dyn Losses) {
        if !self.arrays.contains_key(group) && !members.iter().map(|member| member.name).is_sorted() {
            losses.note(&ORDER, group.to_string(), Some("order of members".to_owned()));
        }
    }

    fn plan(&mut self, path: &NodePath, node: &Node, facts: Facts, losses: &mut dyn Losses) -> Result<()> {
        let place = || path.to_string();
        if let Some(group) = path.parent().filter(|group| !path.is_root() && self.arrays.contains_key(group))
        {
            return self.field(path, &group, (node, facts), losses);
        }
        let (metadata, record) = (&mut Metadata::default(), &mut Object::new());
        match node {
            Node::Group(group) => {
                put_attributes((path, Owner::Object), &group.attributes, (metadata, record), losses)?;
                put_native(path, &group.storage, record, losses);
                if is_array(&group.storage) {
                    let members = Members { group: group.clone(), ..Members::default() };
                    self.arrays.insert(path.clone(), Described { members, columns: None });
                }
            }
            node if node.has_elements() => {
                let none = Attributes::new();
                let attributes = node.attributes().unwrap_or(&none);
                let plan = ArrayPlan::new(path, node, facts, (self.options, &mut self.names), losses)?;
                let Some(own) = plan.schema.attributes.first() else { return Ok(()) };
                let owner = Owner::Attribute(&own.name);
                put_attributes((path, owner), attributes, (metadata, record), losses)?;
                if !hide_other_fill(asked(self.options), (owner, own), attributes, metadata).is_empty() {
                    losses.note(&ATTRIBUTE_NAME, format!("{path}@{FILL_VALUE}"), None);
                }
                let plan = match collects(self.options) {
                    true => match self.collections.add(path, plan) {
                        Added::Alone(plan) => *plan,
                        Added::Collected { has_other_tiles } => {
                            if has_other_tiles {
                                losses.note(&COLLECTED_TILES, place(), None);
                            }
                            self.collected
                                .entry(path.clone())
                                .or_default()
                                .entries
                                .append(&mut metadata.entries);
                            return Ok(());
                        }
                    },
                    false => plan,
                };
                self.spaces.add(path, &plan.schema, metadata)?;
            }
            Node::DimCoord(dimcoord) => {
                let lowered = if dimcoord.size == Extent::Uncounted { &UNCOUNTED } else { &DIMENSION };
                losses.note(lowered, place(), None);
            }
            Node::Datatype(named) => {
                losses.note(&DATATYPE, place(), None);
                if has_named(&named.datatype) && !matches!(*named.datatype, Datatype::Named(..)) {
                    losses.note(&INNER_NAMED_TYPE, place(), None);
                }
            }
            Node::Link(link) => losses.note(&LINK, place(), Some(told(link))),
            Node::Ndarray(_) | Node::Unreadable(_) => {}
        }
        Ok(())
    }

    fn cells(&mut self, path: &NodePath, columns: &[CellColumn], _: &mut dyn Losses) -> Result<bool> {
        if !columns.iter().any(|column| column.is_dimension) {
            return Err(Error::unsupported("cells without dimensions"));
        }
        let names = columns.iter().map(|column| column.name.clone()).collect();
        self.arrays.entry(path.clone()).or_default().columns = Some(names);
        Ok(true)
    }

    fn finish(mut self: Box<Self>, losses: &mut dyn Losses) -> Result<Option<Arc<Outcome>>> {
        if let Some(error) = self.refused.take() {
            return Err(error);
        }
        let mut sparse = SparseGroups::default();
        for (path, described) in std::mem::take(&mut self.arrays) {
            let default = described.columns.is_some().then_some(ArrayType::Sparse);
            // A schema that cannot be created is detected before anything is written.
            let made = schema::of(&described.members, default, version(self.options)?);
            let Made { schema, moved, .. } = made.map_err(|e| e.in_object(&path))?;
            moved.iter().for_each(|dimension| losses.note(&DOMAIN_START, dimension.to_string(), None));
            self.spaces.add(&path, &schema, &described.metadata(&schema))?;
            if described.columns.is_some() {
                sparse.0.push(path);
            }
        }
        for group in self.collections.groups() {
            let all = self.collections.of(group);
            for (own, name) in all.iter().zip(array_names(all, &FxHashSet::default())) {
                let of = own.members.iter().filter_map(|member| self.collected.get(&member.path));
                let entries = of.flat_map(|metadata| metadata.entries.iter().cloned()).collect();
                self.spaces.add(&group.child(&name), &own.schema, &Metadata { entries })?;
            }
        }
        self.spaces.check()?;
        Ok(Some(Arc::new(sparse)))
    }
}

fn told(link: &Link) -> String {
    match link {
        Link::Hard(target) => format!("second path of {target}"),
        Link::Soft(target) => format!("soft link to {target}"),
        Link::External { file, path } => format!("external link to {file}:{path}"),
        Link::User { class, .. } => format!("link of class {class}"),
    }
}
