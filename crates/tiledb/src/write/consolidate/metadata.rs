//! Consolidates the metadata of arrays and groups: into one file with the combined content of all.
//!
//! Spec: TileDB format_spec, metadata.md and vacuum_file.md
//!
//! The new file is visible together with those that it replaces until its vacuum file exists. This changes nothing: it
//! is older than all but the first of them, and they determine the final value of each of their keys.

use crate::directory::{METADATA, NamedFile};
use crate::format::metadata::{Entry, Metadata, Value};
use crate::format::vacuum_file::VacuumFile;
use crate::format::{encode_all, timestamped_name::TimestampedName};
use crate::opened::Moment;
use crate::read::generic_tile::GenericTiles;
use crate::write::array::ArrayWriter;
use crate::write::generic_tile::GenericTileEncoder;
use crate::write::group::GroupWriter;
use crate::write::names::Names;
use hyperslab_core::store::{Key, WritableStore};
use hyperslab_core::{Limits, Result};
use std::collections::BTreeSet;

/// What a consolidation of metadata does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetadataPlan {
    /// The number of files that are merged into one.
    pub files: u64,
    /// Once the files are vacuumed, moments that end before this time, and not before [`from`](Self::from), no longer
    /// see the same metadata.
    pub until: u64,
    /// When the first of the files was written.
    pub from: u64,
}

impl ArrayWriter {
    /// What [consolidation of metadata](Self::consolidate_metadata) would do; `None` if there are fewer than two files.
    ///
    /// # Errors
    /// If the array cannot be read.
    pub fn plan_metadata(&self, limits: &Limits) -> Result<Option<MetadataPlan>> {
        let array = self.present(limits)?;
        let opened = array.directory().opened(Moment::ALL, array.schema().array_type);
        Ok(plan(&opened.metadata))
    }

    /// Writes one file with the metadata that is visible at present, and its vacuum file.
    ///
    /// # Errors
    /// If the array cannot be read or the store cannot be written.
    pub fn consolidate_metadata(&self, limits: &Limits) -> Result<Option<MetadataPlan>> {
        let array = self.present(limits)?;
        let opened = array.directory().opened(Moment::ALL, array.schema().array_type);
        let into =
            Into { store: self.store(), at: self.array(), names: self.names(), tiles: self.generic_tiles() };
        into.consolidate(&opened.metadata, array.metadata()?, &array.generic_tiles())
    }
}

impl GroupWriter {
    /// What [consolidation of metadata](Self::consolidate_metadata) would do; `None` if there are fewer than two files.
    ///
    /// # Errors
    /// If the group cannot be read.
    pub fn plan_metadata(&self, limits: &Limits) -> Result<Option<MetadataPlan>> {
        Ok(plan(&self.present(limits)?.directory().opened(Moment::ALL).metadata))
    }

    /// Writes one file with the metadata that is visible at present, and its vacuum file. In vacuum files of groups,
    /// the library recognises only absolute URIs, which a store does not know about itself: so it sees both the old and
    /// the new files, which have the same content.
    ///
    /// # Errors
    /// If the group cannot be read or the store cannot be written.
    pub fn consolidate_metadata(&self, limits: &Limits) -> Result<Option<MetadataPlan>> {
        let group = self.present(limits)?;
        let opened = group.directory().opened(Moment::ALL);
        let into =
            Into { store: self.store(), at: self.group(), names: self.names(), tiles: self.generic_tiles() };
        into.consolidate(&opened.metadata, group.metadata()?, &group.generic_tiles())
    }
}

/// The destination of consolidated metadata.
struct Into<'a> {
    store: &'a dyn WritableStore,
    /// The array or the group.
    at: &'a Key,
    names: &'a Names,
    tiles: GenericTileEncoder<'a>,
}

impl Into<'_> {
    fn consolidate(
        &self,
        files: &[&NamedFile],
        values: Vec<(Vec<u8>, Value)>,
        read: &GenericTiles<'_>,
    ) -> Result<Option<MetadataPlan>> {
        let Some(plan) = plan(files) else { return Ok(None) };
        let mut entries: Vec<Entry> =
            values.into_iter().map(|(key, value)| Entry { key, value: Some(value) }).collect();
        if entries.is_empty() {
            // No library reads a file without entries, so this one states that all keys are deleted.
            entries = deleted(files, read)?;
        }
        let folder = self.at.join(METADATA)?;
        let name = self.names.unversioned(plan.from, plan.until)?;
        self.store.put(&folder.join(&name.to_string())?, &self.tiles.encode(&Metadata { entries }, &())?)?;
        let replaced = files.iter().map(|file| format!("/{METADATA}/{}", file.name));
        put_vacuum(self.store, &folder, &name, replaced)?;
        Ok(Some(plan))
    }
}

/// The deletion of every key in some files.
fn deleted(files: &[&NamedFile], read: &GenericTiles<'_>) -> Result<Vec<Entry>> {
    let mut keys = BTreeSet::new();
    for file in files {
        let Metadata { entries } = read.structure(&file.key, 0, &())?;
        keys.extend(entries.into_iter().map(|entry| entry.key));
    }
    Ok(keys.into_iter().map(|key| Entry { key, value: None }).collect())
}

fn plan(files: &[&NamedFile]) -> Option<MetadataPlan> {
    let (from, until) = TimestampedName::span(files.iter().map(|file| &file.name));
    (files.len() > 1).then_some(MetadataPlan { files: files.len() as u64, until, from })
}

/// Writes the vacuum file for the file or fragment with this name, in a folder: the URIs of what it replaces.
pub(super) fn put_vacuum(
    store: &dyn WritableStore,
    folder: &Key,
    name: &TimestampedName,
    replaced: impl Iterator<Item = String>,
) -> Result<()> {
    let file = VacuumFile { uris: replaced.map(String::into_bytes).collect() };
    store.put(&folder.join(&format!("{name}.vac"))?, &encode_all(&file, &())?)
}
