//! The interface of a format whose stores can be changed in place.
//!
//! The editor of a store plans each change before anything is written, so a change that cannot be made leaves the store
//! unchanged.

use hyperslab_core::Result;
use hyperslab_core::nd::Region;
use hyperslab_core::store::Durability;
use hyperslab_model::{Attribute, Cells, Column, Ndarray, NodePath, TimeUnit};
use std::ops::Range;

/// A change of a store.
#[derive(Clone, Debug)]
pub enum Edit {
    /// Sets an attribute of an object.
    SetAttribute {
        /// The object.
        object: NodePath,
        /// The name of the attribute.
        name: String,
        /// The new value.
        value: Box<Attribute>,
    },
    /// Removes an attribute of an object.
    RemoveAttribute {
        /// The object.
        object: NodePath,
        /// The name of the attribute.
        name: String,
    },
    /// Writes cells of a sparse array. Cells with equal coordinates are replaced, unless the array allows duplicates.
    WriteCells {
        /// The sparse array.
        group: NodePath,
        /// The cells.
        cells: Cells,
    },
    /// Writes elements of an array.
    WriteElements {
        /// The array.
        array: NodePath,
        /// Which elements.
        region: Region,
        /// Their values, in row-major order, under the name of the array.
        elements: Column,
    },
    /// Appends elements along one dimension to all arrays of a group, which have the same dimensions.
    AppendElements {
        /// The group of the arrays.
        group: NodePath,
        /// The dimension, by its position.
        along: usize,
        /// The number of elements along each dimension.
        counts: Vec<u64>,
        /// The values of each array, in row-major order.
        arrays: Vec<Column>,
    },
    /// Removes the cells of a sparse array that fulfil a condition.
    RemoveCells {
        /// The sparse array.
        group: NodePath,
        /// The condition, such as `x >= 20 and s == "a"`.
        condition: String,
    },
    /// Adds an array along the same dimensions as the other arrays of a group.
    AddArray {
        /// The new array.
        array: NodePath,
        /// Its datatype and storage.
        definition: Box<Ndarray>,
    },
    /// Removes an array.
    RemoveArray {
        /// The array.
        array: NodePath,
    },
    /// Renames an object within its group.
    Rename {
        /// The object.
        object: NodePath,
        /// Its new name.
        name: String,
    },
    /// Appends values to the enumeration of an array.
    ExtendEnumeration {
        /// The array.
        array: NodePath,
        /// The new values.
        values: Vec<String>,
    },
    /// Lets the dimensions of a group grow.
    Grow {
        /// The group of the dimensions.
        group: NodePath,
        /// The names of some dimensions, with their first and last coordinates.
        ranges: Vec<(String, String, String)>,
    },
    /// Adds a member to a group.
    AddMember {
        /// The new member.
        member: NodePath,
        /// Its location.
        uri: String,
    },
    /// Consolidates many fragments, commits, footers or metadata files into one, for an object and everything below it.
    /// The originals remain until they are vacuumed.
    Consolidate {
        /// The object.
        object: NodePath,
        /// What is consolidated.
        what: Consolidated,
    },
    /// Removes what consolidation has replaced, for an object and everything below it.
    Vacuum {
        /// The object.
        object: NodePath,
        /// What is removed.
        what: Vacuumed,
    },
    /// Removes a member from a group. The object itself remains where it is.
    RemoveMember {
        /// The member.
        member: NodePath,
    },
}

/// What is consolidated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consolidated {
    /// Fragments, with the time of each cell and of its deletion, if the format has these.
    Fragments,
    /// Fragments, without the cells that were deleted or replaced.
    Purged,
    /// Commits.
    Commits,
    /// Footers of fragments, so that an array is opened with few requests.
    Footers,
    /// Metadata files.
    Metadata,
}

/// What a vacuum removes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vacuumed {
    /// What consolidation has replaced.
    Replaced,
    /// The same, and the remains of killed writers. No writer may be active.
    All,
}

impl Consolidated {
    /// All variants, with their names on the command line.
    pub const ALL: [(&'static str, Consolidated); 5] = [
        ("fragments", Consolidated::Fragments),
        ("purge", Consolidated::Purged),
        ("commits", Consolidated::Commits),
        ("footers", Consolidated::Footers),
        ("metadata", Consolidated::Metadata),
    ];
}

impl Vacuumed {
    /// All variants, with their names on the command line.
    pub const ALL: [(&'static str, Vacuumed); 2] = [("replaced", Vacuumed::Replaced), ("all", Vacuumed::All)];
}

/// What an edit does to a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Whether something is added, changed or removed.
    pub kind: ChangeKind,
    /// The object, or its attribute with `@` and a name.
    pub place: String,
    /// The change in words.
    pub what: String,
    /// The number of cells or elements that are written or removed.
    pub cells: Option<u64>,
    /// Notes on effects that the user may not expect.
    pub notes: Vec<String>,
}

impl Change {
    /// A change of a place, without cells and notes.
    pub fn new(kind: ChangeKind, place: impl std::fmt::Display, what: impl Into<String>) -> Change {
        Change { kind, place: place.to_string(), what: what.into(), cells: None, notes: Vec::new() }
    }
}

/// The kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// Something is new.
    Added,
    /// Something has changed.
    Changed,
    /// Something is removed.
    Removed,
}

/// Changes a store of a format.
pub trait Editor {
    /// Plans a change, after all that were planned before. Nothing is written.
    ///
    /// # Errors
    /// If the change cannot be made. Earlier changes stay planned.
    fn plan(&mut self, edit: &Edit, dates: &Dates<'_>) -> Result<Change>;

    /// Makes all planned changes, in their order. Each becomes visible as a whole or not at all, even if the process is
    /// killed or, with [`Durability::Power`], the power fails.
    ///
    /// # Errors
    /// If the store cannot be written. Changes before the error have been made.
    fn commit(&mut self, durability: Durability) -> Result<()>;
}

/// The advice if nothing can be appended.
pub(crate) const JOINED_INSTEAD: &str = "concat joins both stores along a dimension to a new one";

/// Returns the counts of a unit since 1970 that a date covers: from the first count of its period to the first one
/// after it.
pub type Dates<'d> = dyn Fn(&TimeUnit, &str) -> Result<Range<i128>> + 'd;
