//! A store being written, whatever its format.
//!
//! A store is written in these steps, by [`convert`](crate::convert::convert):
//!
//! 1. [`Target::declare`] for every object, so that names, sizes and addresses are known before anything refers to
//!    them.
//! 2. For each array, in declared order, [`Target::begin`].
//! 3. Many threads turn its elements into [`Encoded`] chunks with the array's [`Encoder`], which does no I/O.
//! 4. [`ArrayTarget::store`] takes the chunks: from any thread at any time, or, if the array
//!    [is ordered](ArrayTarget::is_ordered), from one thread after the other in the order of the boxes that the array is
//!    cut into. That order depends on shapes and on the memory bound, never on the number of threads.
//! 5. [`ArrayTarget::finish`].
//! 6. For each sparse array that the format stores, [`Target::cells`].
//! 7. [`Target::finish`].
//!
//! Why it is cut this way: docs/design/009-target-protocol.md.

mod cells;
mod encoder;
mod facts;
mod growing;
mod loss;
mod option;

pub use cells::CellTarget;
pub use encoder::{ChunkBytes, Encoded, Encoder, InnerChunks, MakeChunk, Placed};
pub use facts::{Facts, Filters, Needs};
pub use growing::Growing;
pub use loss::{Fate, Loss, Losses, Lowered};
pub use option::{OptionType, OptionValue, TargetOption, TargetOptions};

use crate::cells::CellColumn;
use hyperslab_core::{Error, Result};
use hyperslab_model::{Node, NodePath};
use std::path::Path;
use std::sync::Arc;

/// A store being written. Nothing can be read from it before [`Target::finish`].
pub trait Target: Send + Sync {
    /// Tells of an object before any array is begun. Groups are declared before their members. An array that was
    /// abandoned may be declared once more, as a dimension without coordinates.
    ///
    /// # Errors
    /// If the format cannot hold the object, which planning would have found; what the store returns.
    fn declare(&self, path: &NodePath, node: &Node, facts: Facts) -> Result<()>;

    /// Begins to write the elements of an array or a dimension coordinate that was declared. `node` and `facts` are
    /// those of the declaration. Arrays are begun in declared order, one after the other.
    ///
    /// # Errors
    /// As [`Target::declare`].
    fn begin(&self, path: &NodePath, node: &Node, facts: Facts) -> Result<Box<dyn ArrayTarget + '_>>;

    /// Begins the cells of the sparse array that the group at `path` is, if the [`Planner`] said that the format
    /// stores them. The group and the columns, which are members of it, were declared; columns are not begun.
    ///
    /// # Errors
    /// [`Unsupported`](hyperslab_core::ErrorKind::Unsupported) if the format has no sparse arrays; if the store cannot
    /// be written.
    fn cells(&self, path: &NodePath, _columns: &[CellColumn]) -> Result<Box<dyn CellTarget + '_>> {
        Err(Error::unsupported("the format has no sparse arrays").in_object(path))
    }

    /// Makes it a store that can be read.
    ///
    /// # Errors
    /// What the store returns.
    fn finish(&self) -> Result<()>;
}

/// An array being written.
pub trait ArrayTarget: Send + Sync {
    /// What turns its elements into chunks.
    fn encoder(&self) -> &dyn Encoder;

    /// Whether the bytes of the store depend on the order in which chunks are stored, as in a single file. Chunks are
    /// then stored in the order of their boxes, by one thread at a time.
    fn is_ordered(&self) -> bool {
        false
    }

    /// Stores a piece that the chunk stored next points to, and returns its address.
    ///
    /// # Errors
    /// What the store returns. Formats whose encoders return no [`Encoded::Placed`] have no pieces.
    fn place(&self, _piece: &[u8]) -> Result<u64> {
        Err(Error::unsupported("a format whose chunks do not point to anything"))
    }

    /// Stores one chunk, or takes away what an interrupted run stored of a chunk that is all fill value.
    ///
    /// # Errors
    /// What the store returns.
    fn store(&self, index: &[u64], chunk: Option<&ChunkBytes>) -> Result<()>;

    /// Makes it an array that can be read once the store is finished.
    ///
    /// # Errors
    /// What the store returns.
    fn finish(&self) -> Result<()>;

    /// Takes back what was stored of it, as far as the store can.
    ///
    /// # Errors
    /// What the store returns.
    fn abandon(&self) -> Result<()>;
}

/// Finds out what of a whole source a format does not hold as it is.
pub trait Planner {
    /// What must be known of the elements of an array before [`Planner::plan`].
    fn needs(&self, _path: &NodePath, _node: &Node) -> Needs {
        Needs::default()
    }

    /// Notes what of an object the format does not hold as it is. Objects come in the order that they are declared in.
    ///
    /// # Errors
    /// If it cannot hold the object at all; of the kind
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if an option asks for filters that the format
    /// does not have.
    fn plan(&mut self, path: &NodePath, node: &Node, facts: Facts, losses: &mut dyn Losses) -> Result<()>;

    /// Decides whether the format stores the cells of the sparse array that the group at `path` is, with these columns,
    /// which are members of the group. If it does, each column is planned as an object as well, with default facts, as
    /// its values are in the cells. If it does not, the columns are left out, and the planner notes what is lost of the
    /// group and of each of them.
    ///
    /// # Errors
    /// If the format stores cells, but not these.
    fn cells(&mut self, path: &NodePath, columns: &[CellColumn], losses: &mut dyn Losses) -> Result<bool>;

    /// The encoder of an array if its filters may refuse an element, to try all elements before anything is stored.
    ///
    /// # Errors
    /// If the format cannot hold the array.
    fn trial(&self, _path: &NodePath, _node: &Node, _facts: Facts) -> Result<Option<Box<dyn Encoder>>> {
        Ok(None)
    }
}

/// A format that stores can be written in.
pub trait TargetFormat: Sync {
    /// Its name: `zarr3`.
    fn name(&self) -> &'static str;

    /// Other names of it.
    fn aliases(&self) -> &'static [&'static str] {
        &[]
    }

    /// What the names of all versions of the format have in common: `zarr`. Options begin with it.
    fn family(&self) -> &'static str {
        self.name()
    }

    /// What names of files in this format end in.
    fn suffixes(&self) -> &'static [&'static str];

    /// Whether a store at this path is a directory.
    fn is_directory(&self, path: &Path) -> bool;

    /// Whether all arrays are stored in chunks, so that an array without chunks gets some.
    fn is_always_chunked(&self) -> bool;

    /// Whether arrays whose source has the default fill value of its format must be given it as a value, because the
    /// default is another one here.
    fn needs_default_fill(&self) -> bool;

    /// The options of this format.
    fn options(&self) -> &'static [TargetOption];

    /// Everything that it does not hold as it is.
    fn lowerings(&self) -> &'static [&'static Lowered];

    /// Begins to plan a source whose dimensions grow like this.
    fn planner<'a>(&self, options: &'a TargetOptions, growing: &'a Growing) -> Box<dyn Planner + 'a>;

    /// Begins a store at `path`, or goes on with one that was begun there: in a directory that exists, or in a file,
    /// which stays as it is if the target is dropped unfinished.
    ///
    /// # Errors
    /// What the system returns.
    fn create(
        &self,
        path: &Path,
        is_directory: bool,
        options: &TargetOptions,
        growing: &Arc<Growing>,
    ) -> Result<Box<dyn Target>>;
}
