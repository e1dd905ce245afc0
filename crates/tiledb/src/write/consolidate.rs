//! Consolidation: merges many fragments, commits, footers or metadata files into one.
//!
//! The specification defines the files, but not what may be consolidated; this is what the library does, where it does
//! not lose cells.
//!
//! Nothing is removed: what was consolidated remains until it is [vacuumed](super::vacuum). The order is always the new
//! fragment, its commit, then the vacuum file that hides the fragments that it replaces. If a consolidation is
//! interrupted in between, the array reads as before, or as after.
//!
//! * Fragments: a [plan](Consolidator::plan) determines which are merged into one, and why others are not. Then each
//!   set is [begun](Consolidator::begun), and built piece by piece: pieces are issued in order, built by any number of
//!   threads, and taken in order again.
//! * [Commits](ArrayWriter::consolidate_commits), [footers](ArrayWriter::consolidate_footers) and
//!   [metadata](ArrayWriter::consolidate_metadata) are small.

mod commits;
mod dense;
mod footers;
mod merge;
mod metadata;
mod plan;
mod sparse;

pub use commits::CommitsPlan;
pub use metadata::MetadataPlan;
pub use plan::{FragmentSet, FragmentsPlan, LeftFragment};

use super::array::ArrayWriter;
use super::commit::{FOLDERS, folder, fragment_key};
use super::dense::TileBuffers;
use super::fragment::WrittenFragment;
use super::sparse::CellBuffers;
use crate::array::Array;
use crate::directory::{COMMITS, FRAGMENTS};
use crate::filter::Scratch;
use crate::format::layout::ArrayType;
use crate::format::timestamped_name::TimestampedName;
use dense::{DenseConsolidation, DensePiece, MadeDense};
use hyperslab_core::store::Key;
use hyperslab_core::{Error, Limits, Result};
use sparse::{MadeSparse, SparseConsolidation, SparsePiece};

/// How fragments are consolidated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConsolidateOptions {
    /// The maximum number of cells of a consolidated fragment of a dense array, as a multiple of the cells of the
    /// fragments that it replaces. Tiles count as a whole. Above 1, cells between fragments that were never written are
    /// also stored.
    pub amplification: f64,
    /// What happens to deleted cells of sparse arrays.
    pub deleted: Deleted,
    /// The approximate number of bytes of decoded tiles that are in memory at a time. Fragments of sparse arrays are
    /// merged into several fragments if one tile of each would need more.
    pub memory: u64,
}

/// What happens to deleted cells, and to cells that others replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deleted {
    /// They are kept, with their deletion times, so that they are visible at earlier moments.
    Kept,
    /// They are removed, as are cells that were replaced by others with the same coordinates, if coordinates must be
    /// unique.
    Purged,
}

impl Default for ConsolidateOptions {
    fn default() -> Self {
        ConsolidateOptions { amplification: 1.0, deleted: Deleted::Kept, memory: 512 << 20 }
    }
}

/// Consolidates the fragments of an array. It can be shared between threads.
pub struct Consolidator<'w> {
    writer: &'w ArrayWriter,
    /// The array as seen at the present moment.
    array: Array,
    options: ConsolidateOptions,
}

/// A set of fragments that is being merged into one. It can be shared between threads.
pub struct Consolidation<'w> {
    writer: &'w ArrayWriter,
    set: FragmentSet,
    folder: Key,
    work: Work,
}

enum Work {
    Dense(Box<DenseConsolidation>),
    Sparse(Box<SparseConsolidation>),
}

/// Some tiles that are to be built.
pub struct Piece(Pieces);

enum Pieces {
    Dense(DensePiece),
    Sparse(SparsePiece),
}

/// Tiles that were built.
pub struct Made(MadeTiles);

enum MadeTiles {
    Dense(MadeDense),
    Sparse(MadeSparse),
}

/// Buffers that are reused from piece to piece. Each thread needs its own.
#[derive(Default)]
pub struct ConsolidateScratch {
    tiles: TileBuffers,
    cells: CellBuffers,
    filters: Scratch,
}

impl ArrayWriter {
    /// Opens the array, to consolidate its fragments.
    ///
    /// # Errors
    /// If the array cannot be read.
    pub fn consolidator(&self, options: ConsolidateOptions, limits: &Limits) -> Result<Consolidator<'_>> {
        Ok(Consolidator { writer: self, array: self.present(limits)?, options })
    }
}

impl<'w> Consolidator<'w> {
    /// Consolidates all sets of a plan, one after another, and returns the names of the new fragments. `progress`
    /// receives the number of bytes that were written since its last call.
    ///
    /// # Errors
    /// The first error of `progress`; if the array cannot be read or the store cannot be written. The sets before it
    /// are then consolidated, and the files of the set that failed are removed as far as possible.
    pub fn run(
        &self,
        plan: &FragmentsPlan,
        progress: &mut dyn FnMut(u64) -> Result<()>,
    ) -> Result<Vec<TimestampedName>> {
        let (mut scratch, mut names) = (ConsolidateScratch::default(), Vec::new());
        for set in &plan.sets {
            let begun = self.begun(set)?;
            let mut made = || {
                while let Some(piece) = begun.next_piece()? {
                    progress(begun.take(begun.make(piece, &mut scratch)?)?)?;
                }
                Ok(())
            };
            match made() {
                Ok(()) => names.extend(begun.finish()?),
                Err(e) => {
                    // The first error is returned.
                    let _ = begun.abandon();
                    return Err(e);
                }
            }
        }
        Ok(names)
    }

    /// Begins to merge the fragments of a set into one.
    ///
    /// # Errors
    /// If the fragments cannot be read or the store cannot be written.
    pub fn begun(&self, set: &FragmentSet) -> Result<Consolidation<'w>> {
        let array = self.only(set)?;
        let work = match array.schema().array_type {
            ArrayType::Dense => Work::Dense(Box::new(DenseConsolidation::new(self.writer, array, set)?)),
            ArrayType::Sparse => {
                let is_purged = self.options.deleted == Deleted::Purged;
                Work::Sparse(Box::new(SparseConsolidation::new(self.writer, array, set, is_purged)?))
            }
        };
        let name = match &work {
            Work::Dense(work) => work.name(),
            Work::Sparse(work) => work.name(),
        };
        let folder = fragment_key(self.writer.array(), name)?;
        Ok(Consolidation { writer: self.writer, set: set.clone(), folder, work })
    }

    /// The array with only the fragments of a set.
    fn only(&self, set: &FragmentSet) -> Result<Array> {
        let mut directory = self.array.directory().clone();
        directory.fragments.retain(|fragment| set.fragments.contains(&fragment.name));
        // They list replaced fragments, of which there are none here.
        directory.fragment_vacuums.clear();
        let (found, expected) = (directory.fragments.len(), set.fragments.len());
        if found != expected {
            return Err(Error::invalid(format!("{found} fragments of a set of {expected}")));
        }
        Ok(Array::of(
            self.writer.shared_store(),
            self.writer.array().clone(),
            self.array.options.clone(),
            self.array.is_encrypted,
            directory,
            self.array.shared_schema(),
        ))
    }
}

impl Consolidation<'_> {
    /// The next piece. `None` if there are no more. Pieces have a few tiles each.
    ///
    /// # Errors
    /// If a fragment cannot be read or is malformed.
    pub fn next_piece(&self) -> Result<Option<Piece>> {
        Ok(match &self.work {
            Work::Dense(work) => work.next_piece()?.map(|piece| Piece(Pieces::Dense(piece))),
            Work::Sparse(work) => work.next_piece()?.map(|piece| Piece(Pieces::Sparse(piece))),
        })
    }

    /// Builds a piece. Threads can build several at a time.
    ///
    /// # Errors
    /// If a fragment cannot be read or is malformed, or a filter cannot encode a value.
    pub fn make(&self, piece: Piece, scratch: &mut ConsolidateScratch) -> Result<Made> {
        Ok(Made(match (&self.work, piece.0) {
            (Work::Dense(work), Pieces::Dense(piece)) => MadeTiles::Dense(work.make(piece, scratch)?),
            (Work::Sparse(work), Pieces::Sparse(piece)) => MadeTiles::Sparse(work.make(&piece, scratch)?),
            _ => return Err(Error::invalid("a piece of another consolidation")),
        }))
    }

    /// Writes what was built, and returns the number of its bytes. Pieces must be taken in the order in which they were
    /// issued.
    ///
    /// # Errors
    /// If the store cannot be written; [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for another
    /// piece than the next one.
    pub fn take(&self, made: Made) -> Result<u64> {
        match (&self.work, made.0) {
            (Work::Dense(work), MadeTiles::Dense(made)) => work.take(&made),
            (Work::Sparse(work), MadeTiles::Sparse(made)) => work.take(made),
            _ => Err(Error::invalid("a piece of another consolidation")),
        }
    }

    /// Completes the fragment, and makes it visible in place of the others. `None` if no cell remains because all were
    /// deleted: then the fragments stay unchanged.
    ///
    /// # Errors
    /// If the store cannot be written, or pieces are missing.
    pub fn finish(self) -> Result<Option<TimestampedName>> {
        let Consolidation { writer, set, folder, work } = self;
        let (fragment, is_seen_twice) = match work {
            Work::Dense(work) => (Some(work.finish()?), false),
            // If coordinates must be unique, a cell and its copy are the same.
            Work::Sparse(work) => (work.finish()?, writer.schema().allows_dups),
        };
        match fragment {
            Some(fragment) => replace(writer, &set, &fragment, is_seen_twice).map(Some),
            None => writer.store().delete_below(&folder).map(|()| None),
        }
    }

    /// Removes the files that were written.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub fn abandon(self) -> Result<()> {
        let Consolidation { writer, folder, work, .. } = self;
        drop(work);
        writer.store().delete_below(&folder)
    }
}

/// Commits a consolidated fragment, and hides those that it replaces.
fn replace(
    writer: &ArrayWriter,
    set: &FragmentSet,
    fragment: &WrittenFragment,
    is_seen_twice: bool,
) -> Result<TimestampedName> {
    let commits = folder(writer.array(), &fragment.name, COMMITS)?;
    let uri = |name: &TimestampedName| match name.fragment_version() < FOLDERS {
        true => format!("/{name}"),
        false => format!("/{FRAGMENTS}/{name}"),
    };
    if is_seen_twice {
        // Between two writes, cells would exist twice. So the vacuum file first hides the new fragment, and is then
        // replaced with the one that hides the others, in a single write.
        let own = std::iter::once(uri(&fragment.name));
        metadata::put_vacuum(writer.store(), &commits, &fragment.name, own)?;
    }
    writer.commit(std::slice::from_ref(fragment))?;
    metadata::put_vacuum(writer.store(), &commits, &fragment.name, set.fragments.iter().map(uri))?;
    Ok(fragment.name.clone())
}

/// The version since which consolidated fragments of sparse arrays store the time of each cell.
pub(crate) const TIMESTAMPS: u32 = 15;

/// The version since which there are deletes.
const DELETES: u32 = 16;
