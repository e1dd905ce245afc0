//! An array, as seen at one moment.

pub mod fragment;

use crate::directory::{ArrayDirectory, DeleteCommit, DeletePlace, ENUMERATIONS, SCHEMAS, SchemaFile};
use crate::filter;
use crate::format::Structure;
use crate::format::array_schema::{ArraySchema, Attribute, Dimension, EnumerationFile};
use crate::format::decode_all;
use crate::format::delete_condition::DeleteCondition;
use crate::format::enumeration::Enumeration;
use crate::format::fragment_metadata::r_tree::RTree;
use crate::format::generic_tile::Encryption;
use crate::format::layout::ArrayType;
use crate::format::metadata::Value;
use crate::metadata;
use crate::opened::Moment;
use crate::read::generic_tile::GenericTiles;
use crate::read::sparse::SparseField;
use fragment::OpenedFragment;
use hyperslab_core::store::{Key, Store};
use hyperslab_core::{Decoder, Error, Limits, Result};
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// How an array or a group is opened.
#[derive(Clone, Debug)]
pub struct OpenOptions {
    /// The times that are visible.
    pub at: Moment,
    /// The key of an encrypted array.
    pub key: Option<filter::Key>,
    /// Limits on what a file can make the reader allocate.
    pub limits: Limits,
}

impl Default for OpenOptions {
    fn default() -> Self {
        OpenOptions { at: Moment::ALL, key: None, limits: Limits::default() }
    }
}

/// An array, as seen at one moment. It can be shared between threads.
///
/// The files of an array never change, so an opened array does not change either, unless its files are vacuumed.
pub struct Array {
    pub(crate) store: Arc<dyn Store>,
    key: Key,
    pub(crate) options: OpenOptions,
    pub(crate) is_encrypted: bool,
    directory: ArrayDirectory,
    schema: Arc<ArraySchema>,
    fragments: OnceLock<Vec<OpenedFragment>>,
    enumerations: Vec<OnceLock<Arc<Enumeration>>>,
}

impl Array {
    /// Opens the array at a key of a store: lists its files and reads the schema. Fragments are opened when they are
    /// first requested.
    ///
    /// # Errors
    /// If the store cannot be read, there is no array, or a file of it is malformed;
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) without the key of an encrypted array.
    pub fn open(store: Arc<dyn Store>, array: &Key, options: OpenOptions) -> Result<Array> {
        let directory = ArrayDirectory::read(&*store, array, &options.limits)?;
        let tiles = GenericTiles { store: &*store, key: options.key.as_ref(), limits: &options.limits };
        // Which schema is visible does not depend on the type of the array, which only the schema states.
        let schema_file = directory.opened(options.at, ArrayType::Dense).schema;
        let schema_file = schema_file.ok_or_else(|| Error::malformed("no array schema").in_object(array))?;
        let (schema, is_encrypted) = read_schema(&tiles, schema_file)?;
        Ok(Array::of(store, array.clone(), options, is_encrypted, directory, schema))
    }

    /// An array with this schema.
    pub(crate) fn of(
        store: Arc<dyn Store>,
        key: Key,
        options: OpenOptions,
        is_encrypted: bool,
        directory: ArrayDirectory,
        schema: Arc<ArraySchema>,
    ) -> Array {
        let enumerations = schema.enumerations.iter().map(|_| OnceLock::new()).collect();
        let fragments = OnceLock::new();
        Array { store, key, is_encrypted, schema, fragments, enumerations, directory, options }
    }

    /// The same array with other files.
    pub(crate) fn with_directory(&self, directory: ArrayDirectory) -> Array {
        let (store, schema) = (Arc::clone(&self.store), Arc::clone(&self.schema));
        Array::of(store, self.key.clone(), self.options.clone(), self.is_encrypted, directory, schema)
    }

    /// The schema.
    pub fn schema(&self) -> &ArraySchema {
        &self.schema
    }

    /// Whether reading it requires a key.
    pub fn is_encrypted(&self) -> bool {
        self.is_encrypted
    }

    pub(crate) fn shared_schema(&self) -> Arc<ArraySchema> {
        Arc::clone(&self.schema)
    }

    /// The attributes.
    pub fn attributes(&self) -> &[Attribute] {
        &self.schema.attributes
    }

    /// The dimensions.
    pub fn dimensions(&self) -> &[Dimension] {
        &self.schema.domain.dimensions
    }

    /// The position of the attribute with this name.
    pub fn attribute(&self, name: &[u8]) -> Option<usize> {
        self.schema.attributes.iter().position(|attribute| attribute.name == name)
    }

    /// The fragments, from oldest to newest; later ones take precedence. Their footers are read when they are first
    /// requested. If two threads request them at the same time, both read them, and neither waits.
    ///
    /// # Errors
    /// If a footer or a schema of a fragment cannot be read or is malformed.
    pub fn fragments(&self) -> Result<&[OpenedFragment]> {
        if let Some(fragments) = self.fragments.get() {
            return Ok(fragments);
        }
        let tiles = self.generic_tiles();
        let mut schemas = Schemas { tiles: &tiles, files: &self.directory.schemas, found: BTreeMap::new() };
        let opened = self.directory.opened(self.options.at, self.schema.array_type);
        // A single fragment takes one request either way.
        let copies = match opened.fragments.len() > 1 {
            true => fragment::copies(&tiles, &self.directory.consolidated_footers),
            false => BTreeMap::new(),
        };
        let mut fragments = Vec::with_capacity(opened.fragments.len());
        for fragment in opened.fragments {
            let copy = copies.get(fragment.name.to_string().as_bytes()).map(Vec::as_slice);
            let opened = OpenedFragment::read(&tiles, fragment, copy, &mut |name| schemas.named(name))?;
            check_domain(&self.schema, &opened)?;
            fragments.push(opened);
        }
        Ok(self.fragments.get_or_init(|| fragments))
    }

    /// The files of the array, regardless of the moment.
    pub fn directory(&self) -> &ArrayDirectory {
        &self.directory
    }

    /// The metadata, ordered by key.
    ///
    /// # Errors
    /// If a metadata file cannot be read or is malformed.
    pub fn metadata(&self) -> Result<Vec<(Vec<u8>, Value)>> {
        let opened = self.directory.opened(self.options.at, self.schema.array_type);
        metadata::read(&self.generic_tiles(), &opened.metadata)
    }

    /// The bounding rectangles of the tiles of a fragment; dense fragments have none. They are read once.
    ///
    /// # Errors
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if there is no such fragment; otherwise if its
    /// metadata cannot be read or is malformed.
    pub fn r_tree(&self, fragment: usize) -> Result<&RTree> {
        let fragments = self.fragments()?;
        let count = fragments.len();
        let none = || Error::invalid(format!("fragment {fragment} of an array of {count}"));
        fragments.get(fragment).ok_or_else(none)?.r_tree(&self.generic_tiles())
    }

    /// The enumeration with this name.
    ///
    /// # Errors
    /// If the schema has no enumeration with this name; if its file cannot be read or is malformed.
    pub fn enumeration(&self, name: &[u8]) -> Result<Arc<Enumeration>> {
        let known = self.schema.enumerations.iter().position(|file| file.name == name);
        let slot = known.and_then(|at| Some((self.schema.enumerations.get(at)?, self.enumerations.get(at)?)));
        let Some((file, slot)) = slot else {
            let name = String::from_utf8_lossy(name);
            return Err(Error::malformed(format!("no enumeration {name:?} in the schema")));
        };
        if let Some(read) = slot.get() {
            return Ok(Arc::clone(read));
        }
        let key = self.enumeration_key(file)?;
        let read: Enumeration = self.generic_tiles().structure(&key, 0, &())?;
        Ok(Arc::clone(slot.get_or_init(|| Arc::new(read))))
    }

    /// The stored size of a field in all fragments, in bytes. A dense array stores no coordinates.
    ///
    /// # Errors
    /// As [`Array::fragments`]; [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if there is no such
    /// field.
    pub fn stored_size(&self, field: SparseField) -> Result<u64> {
        let mut size = 0_u64;
        for fragment in self.fragments()? {
            let field = match field {
                SparseField::Dimension(position) => fragment.dimension(position),
                SparseField::Attribute(position) => {
                    let count = self.attributes().len();
                    let none = || Error::invalid(format!("attribute {position} of an array of {count}"));
                    fragment.attribute(self.attributes().get(position).ok_or_else(none)?)?
                }
            };
            if let Some(field) = field {
                let sizes = fragment.file_sizes(field)?;
                size = [sizes.fixed, sizes.var, sizes.validity].into_iter().fold(size, u64::saturating_add);
            }
        }
        Ok(size)
    }

    /// The deletes that are visible at the moment, the oldest first, with their conditions.
    ///
    /// # Errors
    /// If a delete file cannot be read or is malformed.
    pub fn deletes(&self) -> Result<Vec<(DeleteCommit, DeleteCondition)>> {
        let opened = self.directory.opened(self.options.at, self.schema.array_type);
        let tiles = self.generic_tiles();
        let read = |commit: &DeleteCommit| match &commit.place {
            DeletePlace::File(file) => tiles.structure(file, 0, &()),
            DeletePlace::Consolidated(bytes) => {
                tiles.structure_in(bytes, &()).map_err(|e| e.in_object(commit.marker()))
            }
        };
        opened.deletes.into_iter().map(|commit| Ok((commit.clone(), read(commit)?))).collect()
    }

    /// The file of an enumeration.
    pub(crate) fn enumeration_key(&self, file: &EnumerationFile) -> Result<Key> {
        let name = std::str::from_utf8(&file.file_name);
        let name = name.map_err(|_| Error::malformed("a file name of an enumeration that is not UTF-8"))?;
        self.key.join(SCHEMAS)?.join(ENUMERATIONS)?.join(name)
    }

    pub(crate) fn generic_tiles(&self) -> GenericTiles<'_> {
        let OpenOptions { key, limits, .. } = &self.options;
        GenericTiles { store: &*self.store, key: key.as_ref(), limits }
    }
}

/// The schemas of an array, each read once.
struct Schemas<'a> {
    tiles: &'a GenericTiles<'a>,
    files: &'a [SchemaFile],
    found: BTreeMap<&'a Key, Arc<ArraySchema>>,
}

impl<'a> Schemas<'a> {
    fn read(&mut self, file: &'a SchemaFile) -> Result<Arc<ArraySchema>> {
        if let Some(found) = self.found.get(&file.key) {
            return Ok(found.clone());
        }
        let (schema, _) = read_schema(self.tiles, file)?;
        self.found.insert(&file.key, schema.clone());
        Ok(schema)
    }

    /// The schema of a fragment: the one with this name, or the only one before version 10.
    fn named(&mut self, name: Option<&[u8]>) -> Result<Arc<ArraySchema>> {
        let file = self.files.iter().find(|file| match name {
            Some(name) => file.key.name().as_bytes() == name,
            None => file.name.is_none(),
        });
        let file = file.ok_or_else(|| match name {
            Some(name) => {
                let name = String::from_utf8_lossy(name);
                Error::malformed(format!("a fragment of schema {name:?}, which the array does not have"))
            }
            None => {
                Error::malformed("a fragment from before version 10 in an array without __array_schema.tdb")
            }
        })?;
        self.read(file)
    }
}

/// A schema, and whether it is encrypted.
fn read_schema(tiles: &GenericTiles<'_>, file: &SchemaFile) -> Result<(Arc<ArraySchema>, bool)> {
    let (header, body) = tiles.body(&file.key, 0).map_err(filter::with_another_key)?;
    let schema = decode_all::<ArraySchema>(Decoder::new(ArraySchema::NAME, 0, &body), &());
    let checked = schema.and_then(|schema| check_limits(&schema, tiles.limits).map(|()| schema));
    let schema = Arc::new(checked.map_err(|e| e.in_object(&file.key))?);
    Ok((schema, header.encryption != Encryption::None))
}

/// Checks that the number of something does not exceed a maximum.
pub(crate) fn within(what: &str, found: usize, most: u32) -> Result<()> {
    match found as u64 <= u64::from(most) {
        true => Ok(()),
        false => Err(Error::unsupported(format!("{found} {what}, expected at most {most}"))),
    }
}

fn check_limits(schema: &ArraySchema, limits: &Limits) -> Result<()> {
    within("dimensions", schema.domain.dimensions.len(), limits.rank)?;
    let of_fields = schema.attributes.iter().map(|attribute| &attribute.filters);
    let of_dimensions = schema.domain.dimensions.iter().map(|dimension| &dimension.filters);
    let shared = [&schema.coords_filters, &schema.offsets_filters, &schema.validity_filters];
    let mut pipelines = of_fields.chain(of_dimensions).chain(shared);
    pipelines.try_for_each(|pipeline| within("filters", pipeline.filters.len(), limits.filters))?;
    schema.attributes.iter().try_for_each(|attribute| check_fill_value(attribute, limits))
}

/// Checks that a cell with the fill value is in proportion to its stored form in the schema: one stored value is
/// repeated for every value of the cell, and a few bytes state how many values a cell has.
fn check_fill_value(attribute: &Attribute, limits: &Limits) -> Result<()> {
    let Some(size) = attribute.cell_size()? else { return Ok(()) };
    let stored = attribute.fill_value.as_deref().map_or(0, <[u8]>::len);
    limits.check_chunk(stored as u64, size as u64).map_err(|e| {
        let name = String::from_utf8_lossy(&attribute.name);
        let detail =
            |_: &str| format!("cells of attribute {name:?} of {size} bytes, and a fill value of {stored}");
        e.map_detail(detail)
    })
}

/// Checks that a fragment has the dimensions of the array, which schema evolution never changes.
fn check_domain(schema: &ArraySchema, fragment: &OpenedFragment) -> Result<()> {
    let all = |schema: &ArraySchema| {
        let of = |d: &Dimension| (d.data_type, d.cell_val_num, d.domain.clone(), d.tile_extent.clone());
        schema.domain.dimensions.iter().map(of).collect::<Vec<_>>()
    };
    let own = &fragment.schema;
    let is_same = own.array_type == schema.array_type
        && own.tile_order == schema.tile_order
        && own.cell_order == schema.cell_order
        && all(own) == all(schema);
    match is_same {
        true => Ok(()),
        false => {
            Err(Error::malformed("the schema of the fragment has other dimensions or orders than the array")
                .in_object(&fragment.folder))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::array_schema::attribute::tests::numbers;
    use crate::format::data_type::CellValNum;

    #[test]
    fn threads_share_arrays() {
        fn shared<T: Send + Sync>() {}
        shared::<Array>();
        shared::<crate::group::Group>();
    }

    #[test]
    fn a_fill_value_is_not_repeated_beyond_limits() {
        let of = |values: u32, fill_value: Vec<u8>| Attribute {
            cell_val_num: CellValNum::Fixed(values),
            fill_value: Some(fill_value),
            ..numbers(22)
        };
        let limits = Limits::default();
        assert!(check_fill_value(&of(1000, vec![1, 0]), &limits).is_ok());
        let error = check_fill_value(&of(u32::MAX - 1, vec![1, 0]), &limits).unwrap_err();
        assert_eq!(error.kind(), hyperslab_core::ErrorKind::LimitExceeded);
        let found = "cells of attribute \"a\" of 8589934588 bytes, and a fill value of 2";
        assert_eq!(error.detail(), found);
    }
}
