//! Arrays that are written to: new and existing ones.

use super::fragment::SCHEMA_NAMES;
use super::generic_tile::GenericTileEncoder;
use super::names::Names;
use super::schema;
use crate::array::{Array, OpenOptions};
use crate::directory::{ENUMERATIONS, METADATA, OLD_SCHEMA, SCHEMAS, is_array};
use crate::filter;
use crate::format::array_schema::{ArraySchema, EnumerationFile};
use crate::format::enumeration::Enumeration;
use crate::format::metadata::Metadata;
use crate::format::version::RELEASED;
use hyperslab_core::store::{Key, WritableStore};
use hyperslab_core::{Error, ErrorKind, Limits, Result};
use std::sync::Arc;

/// How an array is written.
#[derive(Clone, Debug)]
pub struct WriteOptions {
    /// The key for encrypting a new array, or of an array that is encrypted.
    pub key: Option<filter::Key>,
    /// The source of names.
    pub names: Arc<Names>,
}

impl Default for WriteOptions {
    fn default() -> Self {
        WriteOptions { key: None, names: Arc::new(Names::system()) }
    }
}

/// An array that is written to. It can be shared between threads, and clones are cheap.
#[derive(Clone)]
pub struct ArrayWriter {
    store: Arc<dyn WritableStore>,
    array: Key,
    schema: Arc<ArraySchema>,
    schema_name: String,
    options: WriteOptions,
}

impl ArrayWriter {
    /// Creates an array: writes its enumerations, whose files are assigned names, and then its schema, which completes
    /// it. It is visible from `time` on, in milliseconds since 1970.
    ///
    /// # Errors
    /// [`AlreadyExists`](ErrorKind::AlreadyExists) if there is an array;
    /// [`InvalidArgument`](ErrorKind::InvalidArgument) for a schema that TileDB refuses; if the store cannot be written.
    pub fn create(
        store: Arc<dyn WritableStore>,
        array: &Key,
        mut schema: ArraySchema,
        enumerations: Vec<Enumeration>,
        time: u64,
        options: WriteOptions,
    ) -> Result<ArrayWriter> {
        if is_array(&*store, array)? {
            return Err(Error::new(ErrorKind::AlreadyExists, "there is an array already").in_object(array));
        }
        check_version(schema.version)?;
        schema::check(&schema)?;
        schema.enumerations.iter_mut().for_each(|file| file.file_name.clear());
        let (array, schema_name) = (array.clone(), String::new());
        let writer = ArrayWriter { store, array, schema: Arc::new(schema.clone()), schema_name, options };
        writer.with_schema(&mut schema, enumerations, time)
    }

    /// Writes the next schema and enumerations, whose files are assigned names. The returned writer uses that schema.
    pub(super) fn with_schema(
        &self,
        schema: &mut ArraySchema,
        enumerations: Vec<Enumeration>,
        time: u64,
    ) -> Result<ArrayWriter> {
        let names = self.names();
        // Arrays have several schemas since version 10.
        let schema_name = match schema.version < SCHEMA_NAMES {
            true => OLD_SCHEMA.to_owned(),
            false => names.schema(time)?.to_string(),
        };
        let given = |name: &[u8]| enumerations.iter().any(|of| of.name == name);
        let missing = |file: &&EnumerationFile| file.file_name.is_empty() && !given(&file.name);
        if let Some(file) = schema.enumerations.iter().find(missing) {
            let name = String::from_utf8_lossy(&file.name);
            return Err(Error::invalid(format!("enumeration {name:?} without its values")));
        }
        for mut enumeration in enumerations {
            let Some(file) = schema.enumerations.iter_mut().find(|file| file.name == enumeration.name) else {
                let name = String::from_utf8_lossy(&enumeration.name);
                return Err(Error::invalid(format!("enumeration {name:?}, which the schema does not list")));
            };
            let name = names.enumeration()?;
            (file.file_name, enumeration.path) = (name.clone().into_bytes(), name.clone().into_bytes());
            let tiles = GenericTileEncoder { version: schema.version, key: self.key() };
            let tile = tiles.encode(&enumeration, &())?;
            self.put(&self.array.join(SCHEMAS)?.join(ENUMERATIONS)?.join(&name)?, &tile)?;
        }
        let writer = ArrayWriter { schema: Arc::new(schema.clone()), schema_name, ..self.clone() };
        writer.put_schema()?;
        Ok(writer)
    }

    /// Opens an array for writing, with its newest schema.
    ///
    /// # Errors
    /// If there is no array, or its schema cannot be read; [`Unsupported`](ErrorKind::Unsupported) for arrays of
    /// versions before 7, whose fragments no library writes any more.
    pub fn open(
        store: Arc<dyn WritableStore>,
        readable: Arc<dyn hyperslab_core::store::Store>,
        array: &Key,
        limits: Limits,
        options: WriteOptions,
    ) -> Result<ArrayWriter> {
        let opened = Array::open(
            readable,
            array,
            OpenOptions { key: options.key.clone(), limits, ..OpenOptions::default() },
        )?;
        check_version(opened.schema().version)?;
        if opened.is_encrypted != options.key.is_some() {
            let what = if opened.is_encrypted { "encrypted, and no key is given" } else { "not encrypted" };
            return Err(Error::invalid(format!("the array is {what}")).in_object(array));
        }
        let newest = opened.directory().schemas.last();
        let schema_name = newest.map(|file| file.key.name().to_owned()).unwrap_or_default();
        let schema = opened.shared_schema();
        Ok(ArrayWriter { store, array: array.clone(), schema, schema_name, options })
    }

    /// The schema.
    pub fn schema(&self) -> &ArraySchema {
        &self.schema
    }

    /// The format version, which is that of the schema.
    pub fn version(&self) -> u32 {
        self.schema.version
    }

    /// The folder of the array.
    pub fn array(&self) -> &Key {
        &self.array
    }

    /// The source of names.
    pub fn names(&self) -> &Names {
        &self.options.names
    }

    /// The key of an encrypted array.
    pub fn key(&self) -> Option<&filter::Key> {
        self.options.key.as_ref()
    }

    /// Writes metadata that is visible from `time` on.
    ///
    /// # Errors
    /// If the store cannot be written, or a value is too long.
    pub fn put_metadata(&self, metadata: &Metadata, time: u64) -> Result<()> {
        if metadata.entries.is_empty() {
            return Ok(());
        }
        let name = self.names().schema(time)?.to_string();
        self.put(&self.array.join(METADATA)?.join(&name)?, &self.generic_tiles().encode(metadata, &())?)
    }

    fn put_schema(&self) -> Result<()> {
        let tile = self.generic_tiles().encode(&*self.schema, &())?;
        match self.version() < SCHEMA_NAMES {
            true => self.put(&self.array.join(OLD_SCHEMA)?, &tile),
            false => self.put(&self.array.join(SCHEMAS)?.join(&self.schema_name)?, &tile),
        }
    }

    pub(crate) fn schema_name(&self) -> &str {
        &self.schema_name
    }

    pub(crate) fn store(&self) -> &dyn WritableStore {
        &*self.store
    }

    pub(crate) fn shared_store(&self) -> Arc<dyn WritableStore> {
        Arc::clone(&self.store)
    }

    pub(crate) fn put(&self, key: &Key, value: &[u8]) -> Result<()> {
        self.store.put(key, value)
    }

    pub(crate) fn generic_tiles(&self) -> GenericTileEncoder<'_> {
        GenericTileEncoder { version: self.version(), key: self.key() }
    }
}

/// Checks that fragments and schemas of a format version can be written.
fn check_version(version: u32) -> Result<()> {
    match (OLDEST..=RELEASED).contains(&version) {
        true => Ok(()),
        false => Err(Error::unsupported(format!(
            "writing of format version {version}, expected {OLDEST} to {RELEASED}"
        ))),
    }
}

/// The oldest version whose fragments the library writes.
const OLDEST: u32 = 7;
