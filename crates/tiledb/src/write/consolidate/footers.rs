//! Consolidates fragment metadata: the footers of all fragments in one file, so that an array with many fragments is
//! opened with one request instead of one for each.
//!
//! Spec: TileDB format_spec, consolidated_fragment_metadata_file.md

use crate::array::fragment::{OpenedFragment, context};
use crate::array::{Array, OpenOptions};
use crate::format::consolidated_fragment_metadata::ConsolidatedFooter;
use crate::format::encode_all;
use crate::format::timestamped_name::TimestampedName;
use crate::opened::Moment;
use crate::write::array::ArrayWriter;
use hyperslab_core::store::Store;
use hyperslab_core::{Error, Limits, Result};
use std::sync::Arc;

impl ArrayWriter {
    /// The number of fragments whose footers [consolidation](Self::consolidate_footers) would write to one file; 0 if
    /// there are fewer than two.
    ///
    /// # Errors
    /// If the array cannot be read.
    pub fn plan_footers(&self, limits: &Limits) -> Result<u64> {
        let array = self.present(limits)?;
        let count = with_footers(&array)?.len() as u64;
        Ok(if count < 2 { 0 } else { count })
    }

    /// Writes one file with the footers of all fragments that are visible at present, and returns their number. Nothing
    /// is written if there are fewer than two.
    ///
    /// # Errors
    /// If the array cannot be read or the store cannot be written;
    /// [`Unsupported`](hyperslab_core::ErrorKind::Unsupported) before version 9, whose files contain the location of
    /// the array.
    pub fn consolidate_footers(&self, limits: &Limits) -> Result<u64> {
        let array = self.present(limits)?;
        let fragments = with_footers(&array)?;
        if fragments.len() < 2 {
            return Ok(0);
        }
        let version = self.version();
        if version < NAMES {
            let detail = format!("consolidated fragment metadata of version {version}");
            return Err(Error::unsupported(detail).with_hint("it can be written since version 9"));
        }
        let footer = |fragment: &&OpenedFragment| {
            let footer = encode_all(&fragment.footer, &context(&fragment.schema))?;
            Ok(ConsolidatedFooter { uri: fragment.name.to_string().into_bytes(), footer })
        };
        let footers = fragments.iter().map(footer).collect::<Result<_>>()?;
        let (start, end) = TimestampedName::span(fragments.iter().map(|fragment| &fragment.name));
        self.put_footers(&self.names().versioned(start, end, version)?, footers)?;
        Ok(fragments.len() as u64)
    }

    /// The number of cells of all fragments of a sparse array, including deleted cells and cells with equal
    /// coordinates.
    ///
    /// # Errors
    /// If the array cannot be read.
    pub fn stored_cells(&self, limits: &Limits) -> Result<u64> {
        let array = self.present(limits)?;
        let capacity = array.schema().capacity;
        Ok(array.fragments()?.iter().fold(0, |cells: u64, fragment| {
            let (tiles, last) = (fragment.footer.sparse_tile_num, fragment.footer.last_tile_cell_num);
            let whole = tiles.saturating_sub(1).saturating_mul(capacity);
            cells.saturating_add(whole).saturating_add(if tiles == 0 { 0 } else { last })
        }))
    }

    /// The array as seen at the present moment.
    pub(crate) fn present(&self, limits: &Limits) -> Result<Array> {
        let options = OpenOptions { at: Moment::ALL, key: self.key().cloned(), limits: *limits };
        Array::open(self.shared_store() as Arc<dyn Store>, self.array(), options)
    }
}

/// The fragments that have a footer.
fn with_footers(array: &Array) -> Result<Vec<&OpenedFragment>> {
    Ok(array.fragments()?.iter().filter(|fragment| fragment.version() >= FIRST).collect())
}

/// The first version whose fragments have footers.
const FIRST: u32 = 3;

/// The version since which consolidated footers contain the names of their fragments.
const NAMES: u32 = 9;
