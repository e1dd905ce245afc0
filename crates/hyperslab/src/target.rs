//! The interface of a store of any format that is being written.
//!
//! A store is written in these steps, by [`convert`](crate::convert::convert):
//!
//! 1. [`Target::declare`] for every object, if the target requests it, so that names, sizes and addresses are known
//!    before anything refers to them.
//! 2. For each array, in declared order, [`Target::begin`]; for each other object, if the target requests it,
//!    [`Target::define`].
//! 3. Many threads encode its elements as [`Encoded`] chunks with the [`Encoder`] of the array, which does no I/O.
//! 4. [`ArrayTarget::store`] receives the chunks: from any thread at any time; or, if the array [is
//!    ordered](ArrayTarget::is_ordered), from one thread at a time in the order of the boxes of the array. That order
//!    depends on shapes and on the memory limit, never on the number of threads.
//! 5. [`ArrayTarget::finish`].
//! 6. For each sparse array that the format stores, [`Target::cells`].
//! 7. [`Target::finish`].
//!
//! For the reasons see docs/design/009-target-protocol.md.

mod cells;
mod content;
pub(crate) mod conventions;
mod encoder;
mod facts;
mod growing;
mod loss;
mod option;

pub use cells::CellTarget;
pub(crate) use content::{content, format_with_content, is_content, only_content};
pub use encoder::{ChunkBytes, Encoded, Encoder, InnerChunks, MakePlaced, Placed};
pub use facts::{Coordinates, Facts, Filters, Needs};
pub use growing::Growing;
pub(crate) use loss::Silent;
pub(crate) use loss::lowerings;
pub use loss::{Fate, Loss, Losses, Lowered};
pub use option::{OptionType, OptionValue, TargetOption, TargetOptions};

use crate::cells::CellColumn;
use crate::pool::Pool;
use crate::source::Entry;
use hyperslab_core::{Error, Result};
use hyperslab_model::{Dimension, Node, NodePath};
use std::any::Any;
use std::path::Path;
use std::sync::Arc;

/// A member of a group, in the order of the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderedMember<'a> {
    /// Its name in the source.
    pub name: &'a str,
    /// The identifier of its dimension in the source, if the format requests the [declared
    /// order](TargetFormat::has_declared_order) and the source has one.
    pub dimension: Option<u64>,
}

impl OrderedMember<'_> {
    pub(crate) fn of(entry: &Entry, dimension: Option<u64>) -> OrderedMember<'_> {
        OrderedMember { name: entry.handle.path.name(), dimension }
    }
}

/// A store that is being written. It can be read only after [`Target::finish`].
pub trait Target: Send + Sync {
    /// Whether [`Target::declare`] must be called. Otherwise the plan has already given the target everything that a
    /// declaration would.
    fn needs_declarations(&self) -> bool {
        true
    }

    /// Declares an object, before any array is begun. Groups are declared before their members. An abandoned array
    /// may be declared again as a dimension without coordinates.
    ///
    /// # Errors
    /// If the format cannot store the object, which planning should have detected; any error of the store.
    fn declare(&self, path: &NodePath, node: &Node, facts: Facts) -> Result<()>;

    /// Receives all members of a group in stored order, after the group was declared and before its members are. Groups
    /// are declared after other members, so the order of declaration differs.
    ///
    /// # Errors
    /// If the group was not declared.
    fn order_members(&self, _group: &NodePath, _members: &[OrderedMember<'_>]) -> Result<()> {
        Ok(())
    }

    /// Whether [`Target::define`] must be called.
    fn has_definitions(&self) -> bool {
        false
    }

    /// Writes a declared object that has no elements, once all objects are declared. Called in the order of
    /// declaration, between the arrays.
    ///
    /// # Errors
    /// As [`Target::declare`].
    fn define(&self, _path: &NodePath, _node: &Node, _facts: Facts) -> Result<()> {
        Ok(())
    }

    /// Begins an array or a dimension coordinate that was declared. `node` and `facts` are those of the declaration.
    /// Arrays are begun one after another, in the order of declaration.
    ///
    /// # Errors
    /// As [`Target::declare`].
    fn begin(&self, path: &NodePath, node: &Node, facts: Facts) -> Result<Box<dyn ArrayTarget + '_>>;

    /// Begins the cells of the sparse array at `path`, if the [`Planner`] has agreed to store them. The group and the
    /// columns, which are its members, were declared; columns are not begun. `pool` has the threads and the memory.
    ///
    /// # Errors
    /// [`Unsupported`](hyperslab_core::ErrorKind::Unsupported) if the format has no sparse arrays; if the store
    /// cannot be written.
    fn cells(
        &self,
        path: &NodePath,
        _columns: &[CellColumn],
        _pool: &Pool,
    ) -> Result<Box<dyn CellTarget + '_>> {
        Err(Error::unsupported("the format has no sparse arrays").in_object(path))
    }

    /// Whether [`ArrayTarget::abandon`] can remove an array that was declared. Otherwise the store is started again
    /// without the array.
    fn can_abandon(&self) -> bool {
        true
    }

    /// Completes the store, so that it can be read.
    ///
    /// # Errors
    /// Any error of the store.
    fn finish(&self) -> Result<()>;
}

/// An array that is being written.
pub trait ArrayTarget: Send + Sync {
    /// The encoder of its elements.
    fn encoder(&self) -> &dyn Encoder;

    /// Whether elements are stored. Otherwise they belong to other arrays or files, to which the array refers.
    fn has_elements(&self) -> bool {
        true
    }

    /// Whether the bytes of the store depend on the order of stored chunks, as in a single file. If so, chunks are
    /// stored in the order of their boxes, by one thread at a time.
    fn is_ordered(&self) -> bool {
        false
    }

    /// The order of all chunks, if the target needs one. In that case the array [is ordered](Self::is_ordered), and
    /// boxes are whole rows of chunks along the last dimensions, or along the first ones.
    fn sequence(&self) -> Option<Sequence> {
        None
    }

    /// Allocates space for data that the next chunk refers to, and returns its address.
    ///
    /// # Errors
    /// Any error of the store. Only called for [`Encoded::Placed`] chunks.
    fn allocate(&self, _size: u64) -> Result<u64> {
        Err(Error::unsupported("chunks of this format contain no addresses"))
    }

    /// Stores data that the next chunk refers to, at an allocated address.
    ///
    /// # Errors
    /// As [`ArrayTarget::allocate`].
    fn place(&self, _address: u64, _data: &[u8]) -> Result<()> {
        Err(Error::unsupported("chunks of this format contain no addresses"))
    }

    /// Stores one chunk, or removes the stored chunk of an interrupted run if all elements have the fill value.
    ///
    /// # Errors
    /// Any error of the store.
    fn store(&self, index: &[u64], chunk: Option<&ChunkBytes>) -> Result<()>;

    /// Whether stored boxes are recorded in the journal. Otherwise a resumed run stores all of them again, which suits
    /// small arrays and arrays whose elements are not stored until the array is finished.
    fn is_recorded(&self) -> bool {
        true
    }

    /// Called when all chunks of a box are stored, before this is recorded in the journal (if boxes are recorded):
    /// everything must now survive the end of the process.
    ///
    /// # Errors
    /// Any error of the store.
    fn settle(&self, _number: u64) -> Result<()> {
        Ok(())
    }

    /// Called in place of storing, for a box that an interrupted run has settled.
    ///
    /// # Errors
    /// Any error of the store; if it cannot find what that run has stored.
    fn resume(&self, _number: u64) -> Result<()> {
        Ok(())
    }

    /// Called in place of [`ArrayTarget::resume`] for each box, if an interrupted run has settled all of them.
    ///
    /// # Errors
    /// As [`ArrayTarget::resume`].
    fn resume_all(&self) -> Result<()> {
        Ok(())
    }

    /// Completes the array, so that it can be read once the store is finished.
    ///
    /// # Errors
    /// Any error of the store.
    fn finish(&self) -> Result<()>;

    /// Removes the stored data of the array, as far as the store can.
    ///
    /// # Errors
    /// Any error of the store. Only called if [`Target::can_abandon`].
    fn abandon(&self) -> Result<()>;
}

/// The order of all chunks of an array. Chunks without elements may be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sequence {
    /// The last dimension varies fastest.
    RowMajor,
    /// The first dimension varies fastest.
    ColumnMajor,
}

/// Finds everything in a source that a format cannot store unchanged.
pub trait Planner {
    /// The facts about the elements of an array that [`Planner::plan`] needs.
    fn needs(&self, _path: &NodePath, _node: &Node) -> Needs {
        Needs::default()
    }

    /// Whether an array whose elements belong to other arrays or files refers to them in the target as well, so that
    /// the elements are not read.
    fn keeps_sources(&self, _node: &Node) -> bool {
        false
    }

    /// Whether [`Planner::survey`] must see all objects before any of them is planned.
    fn has_survey(&self) -> bool {
        false
    }

    /// Receives an object, and the dimensions of an array, before any object is planned.
    fn survey(&mut self, _path: &NodePath, _dimensions: &[Dimension]) {}

    /// Reports everything in an object that the format cannot store unchanged. Called in the order of declaration.
    ///
    /// # Errors
    /// If it cannot store the object at all; [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if an
    /// option requests filters that the format does not have.
    fn plan(&mut self, path: &NodePath, node: &Node, facts: Facts, losses: &mut dyn Losses) -> Result<()>;

    /// Receives all members of a group in stored order, as [`Target::order_members`] does, and reports if readers will
    /// find them in another order.
    fn order_members(&mut self, _group: &NodePath, _members: &[OrderedMember<'_>], _losses: &mut dyn Losses) {
    }

    /// Decides whether the format stores the cells of the sparse array at `path` with these columns, which are its
    /// members. If so, each column is also planned as an object, with default facts since its values are in the cells.
    /// A format [without cells](TargetFormat::has_cells) reports that a table replaces them.
    ///
    /// # Errors
    /// If the format stores cells, but not these.
    fn cells(&mut self, path: &NodePath, columns: &[CellColumn], losses: &mut dyn Losses) -> Result<bool>;

    /// Ends planning, after all objects. Reports what depends on several objects, and returns what the target must know
    /// before the first object is declared.
    ///
    /// # Errors
    /// If the format cannot store all of this in one store.
    fn finish(self: Box<Self>, _losses: &mut dyn Losses) -> Result<Option<Arc<Outcome>>> {
        Ok(None)
    }

    /// The encoder of an array whose filters may reject an element, for a trial of all elements before anything is
    /// stored.
    ///
    /// # Errors
    /// If the format cannot store the array.
    fn trial(&self, _path: &NodePath, _node: &Node, _facts: Facts) -> Result<Option<Box<dyn Encoder>>> {
        Ok(None)
    }
}

/// The findings of planning about the source as a whole.
#[derive(Clone, Debug, Default)]
pub struct Planned {
    /// The lengths of dimensions that can grow.
    pub growing: Arc<Growing>,
    /// The findings of the format's planner for its target.
    pub outcome: Option<Arc<Outcome>>,
    /// Whether every object that was planned is written.
    pub is_whole: bool,
}

/// The value that [`Planner::finish`] returns, whose type only the format knows.
pub type Outcome = dyn Any + Send + Sync;

/// A format of stores that can be written.
pub trait TargetFormat: Sync {
    /// Its name: `zarr3`.
    fn name(&self) -> &'static str;

    /// Other names on the command line.
    fn aliases(&self) -> &'static [&'static str] {
        &[]
    }

    /// The common name of all versions of the format: `zarr`. Its options begin with it.
    fn family(&self) -> &'static str {
        self.name()
    }

    /// The titles of the dialects of sources that are [repacked](crate::repack) to this format.
    fn dialects(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether readers of this format support the filters that readers of the dialect with this title support.
    fn has_filters_of(&self, _dialect: &str) -> bool {
        true
    }

    /// Whether the attributes that mark missing elements must have the type of the elements.
    fn has_typed_marks(&self) -> bool {
        false
    }

    /// The suffixes of file names of this format.
    fn suffixes(&self) -> &'static [&'static str];

    /// Another family of formats whose suffixes stores of this format also use.
    fn shares_suffixes_with(&self) -> Option<&'static str> {
        None
    }

    /// Whether a store at this path is a directory.
    fn is_directory(&self, path: &Path) -> bool;

    /// Whether names are stored as the bytes that the source has, even if they are not UTF-8.
    fn stores_names_as_bytes(&self) -> bool {
        false
    }

    /// Whether the root can be an array; otherwise it is a group.
    fn has_root_arrays(&self) -> bool {
        true
    }

    /// Whether all arrays are stored in chunks, so that an array without chunks gets some.
    fn is_always_chunked(&self) -> bool;

    /// Whether arrays are stored in chunks if their storage properties request it.
    fn has_chunks(&self) -> bool {
        true
    }

    /// Whether the default fill value of a source of this format must be written as a value, because the target has
    /// another default.
    fn needs_default_fill(&self, source: &str) -> bool;

    /// Whether the default fill value of this format is zero for all types.
    fn has_zero_fill(&self) -> bool {
        true
    }

    /// The option that names the key file, if the format supports encryption.
    fn key_option(&self) -> Option<&'static str> {
        None
    }

    /// Whether an array can have an enumeration of numbers, with elements that are positions in it.
    fn has_enumerated_numbers(&self) -> bool {
        false
    }

    /// Whether the planner or the target uses [`Growing`], which requires walking the whole source before planning.
    /// Otherwise it is empty, and each array has its own length.
    fn needs_growing(&self) -> bool {
        true
    }

    /// Whether [`Target::order_members`] and [`Planner::order_members`] receive members in the order of their
    /// declaration, even if member lists have another order.
    fn has_declared_order(&self) -> bool {
        false
    }

    /// Makes an object keep the order of its members and attributes, in formats that do so only on request.
    ///
    /// # Errors
    /// If there is no memory for it.
    fn track_order(&self, _: &mut Node) -> Result<()> {
        Ok(())
    }

    /// Whether the format has sparse arrays, so that [`Planner::cells`] may agree to store cells. Otherwise these are
    /// converted as tables: an array for each column, along one dimension.
    fn has_cells(&self) -> bool {
        false
    }

    /// Whether an array can have null values. Otherwise it is converted as two arrays: the values, and which of them
    /// are valid.
    fn has_nullables(&self) -> bool {
        false
    }

    /// Whether the format has datetimes. Otherwise datetimes in tables of cells are stored as numbers.
    fn has_datetimes(&self) -> bool {
        true
    }

    /// Whether readers end variable-length strings at a NUL, as in C.
    fn ends_texts(&self) -> bool {
        false
    }

    /// Whether readers decode strings as UTF-8, and cannot read others.
    fn decodes_texts(&self) -> bool {
        false
    }

    /// Whether the target marks fill values that readers of the source treat as missing
    /// ([`Facts::fill_is_missing`]). Otherwise arrays get the attribute `_FillValue`.
    fn marks_missing(&self) -> bool {
        false
    }

    /// Whether references that lead to no object keep their address.
    fn keeps_dangling(&self) -> bool {
        true
    }

    /// The options of this format.
    fn options(&self) -> &'static [TargetOption];

    /// Checks that options can be combined.
    ///
    /// # Errors
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument), which names the options.
    fn check_options(&self, _options: &TargetOptions) -> Result<()> {
        Ok(())
    }

    /// Adds the options with which a store of this format is rewritten without a loss that is necessary for other
    /// sources.
    ///
    /// # Errors
    /// None, provided that the format knows its own options.
    fn repacking(&self, options: TargetOptions) -> Result<TargetOptions> {
        Ok(options)
    }

    /// All changes and losses of this format.
    fn lowerings(&self) -> &'static [&'static Lowered];

    /// Begins to plan a source whose dimensions can grow to these lengths.
    fn planner<'a>(&self, options: &'a TargetOptions, growing: &'a Growing) -> Box<dyn Planner + 'a>;

    /// Begins a store at `path`, or resumes one that was begun there: in an existing directory, or in a file, which
    /// remains if the target is dropped before it is finished.
    ///
    /// # Errors
    /// An error of the system.
    fn create(
        &self,
        path: &Path,
        is_directory: bool,
        options: &TargetOptions,
        planned: &Planned,
    ) -> Result<Box<dyn Target>>;
}
