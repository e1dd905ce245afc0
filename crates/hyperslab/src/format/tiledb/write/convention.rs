//! The TileDB-CF convention that a store is to satisfy: its requirements for names and metadata, and violations of it.

use super::collects;
use super::metadata::Owner;
use crate::format::tiledb::dataspace::of_schema;
use crate::target::{OptionValue, TargetOptions};
use hyperslab_cf::dataspace::{Convention, Dataspace, GROUP_ARRAY};
use hyperslab_core::{Error, Result};
use hyperslab_model::{Attributes, NodePath};
use hyperslab_netcdf4::name::FILL_VALUE;
use hyperslab_tiledb::format::array_schema::{ArraySchema, Attribute, Dimension};
use hyperslab_tiledb::format::data_type::{CellValNum, DataType};
use hyperslab_tiledb::format::layout::DataOrder;
use hyperslab_tiledb::format::metadata::{Entry, Metadata};
use std::collections::BTreeMap;

use super::definition::{dense_schema, no_filters};

/// The requested convention.
pub(super) fn asked(options: &TargetOptions) -> Option<&'static Convention> {
    match options.get("tiledb.dataspace") {
        Some(OptionValue::Word(name)) => Convention::of(name),
        _ if collects(options) => Convention::of(COLLECTED),
        _ => None,
    }
}

/// The convention for arrays with many attributes.
const COLLECTED: &str = "cf-0.3.0";

/// Whether dimension names that differ only in a suffix count as the same.
pub(super) fn is_without_suffix(convention: Option<&Convention>) -> bool {
    convention.is_some_and(|own| own.has_group_array())
}

/// What is stored, as far as the requested convention applies to it.
pub(super) struct Spaces {
    convention: Option<&'static Convention>,
    spaces: BTreeMap<NodePath, Dataspace>,
}

impl Spaces {
    pub(super) fn new(convention: Option<&'static Convention>) -> Spaces {
        Spaces { convention, spaces: BTreeMap::new() }
    }

    /// Adds an array of a group.
    ///
    /// # Errors
    /// [`Unsupported`](hyperslab_core::ErrorKind::Unsupported) if the array is not a member of a group, or has the name
    /// of the array with the metadata of the group.
    pub(super) fn add(&mut self, path: &NodePath, schema: &ArraySchema, metadata: &Metadata) -> Result<()> {
        let Some(convention) = self.convention else { return Ok(()) };
        let Some(group) = path.parent() else {
            let detail =
                format!("an array without a group, and {} is a convention of groups", convention.name);
            return Err(Error::unsupported(detail));
        };
        if convention.has_group_array() && path.name() == GROUP_ARRAY {
            let detail =
                format!("the name that {} gives the array with metadata of the group", convention.name);
            return Err(Error::unsupported(detail).in_object(path));
        }
        let space = self
            .spaces
            .entry(group.clone())
            .or_insert_with(|| Dataspace { path: group.to_string(), ..Dataspace::default() });
        space.arrays.push(of_schema(path, schema, metadata));
        Ok(())
    }

    /// Rejects violations of the convention.
    ///
    /// # Errors
    /// [`Unsupported`](hyperslab_core::ErrorKind::Unsupported) with the first violation.
    pub(super) fn check(&self) -> Result<()> {
        let Some(convention) = self.convention else { return Ok(()) };
        match self.spaces.values().find_map(|space| convention.check(space).into_iter().next()) {
            None => Ok(()),
            Some(found) => {
                let detail =
                    format!("cannot be {}: {} ({})", convention.name, found.message, found.rule.name);
                let hint = "choose a later convention, or none, which requires less";
                Err(Error::unsupported(detail).with_hint(hint).in_object(found.object))
            }
        }
    }
}

/// Up to 0.2.0, a fill value in metadata must equal the fill value of the attribute, including its type. Returns the
/// attributes that may be stored only in the record.
pub(super) fn hide_other_fill(
    convention: Option<&Convention>,
    (owner, of): (Owner<'_>, &Attribute),
    attributes: &Attributes,
    metadata: &mut Metadata,
) -> Attributes {
    let key = owner.key(FILL_VALUE.as_bytes());
    let is_other = |entry: &Entry| {
        let value = entry.value.as_ref();
        entry.key == key
            && value.is_some_and(|value| {
                value.data_type != of.data_type || Some(&value.bytes) != of.fill_value.as_ref()
            })
    };
    if !convention.is_some_and(Convention::has_group_array) || !metadata.entries.iter().any(is_other) {
        return Attributes::new();
    }
    metadata.entries.retain(|entry| !is_other(entry));
    attributes
        .iter()
        .filter(|(name, _)| *name == FILL_VALUE)
        .map(|(name, of)| (name.clone(), of.clone()))
        .collect()
}

/// The schema of the array that holds the metadata of a group up to 0.2.0, as tiledb-cf creates it.
pub(super) fn group_array(version: u32) -> ArraySchema {
    let dimension = Dimension {
        name: b"dim".to_vec(),
        data_type: DataType::Int32,
        cell_val_num: CellValNum::ONE,
        filters: no_filters(),
        domain: vec![0; 8],
        tile_extent: Some(1_i32.to_le_bytes().to_vec()),
    };
    let attribute = Attribute {
        name: b"attr".to_vec(),
        data_type: DataType::Int32,
        cell_val_num: CellValNum::ONE,
        filters: no_filters(),
        fill_value: Some(DataType::Int32.default_fill_value().to_vec()),
        nullable: false,
        fill_value_validity: 0,
        order: DataOrder::Unordered,
        enumeration: None,
    };
    dense_schema(version, vec![dimension], vec![attribute])
}
