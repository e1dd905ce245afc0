//! What a format must do so that its stores can be changed in place.
//!
//! A store is asked what each change would do before anything is written, so that a change that cannot be made leaves the
//! store as it is.

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
        /// What it will be.
        value: Box<Attribute>,
    },
    /// Removes an attribute of an object.
    RemoveAttribute {
        /// The object.
        object: NodePath,
        /// The name of the attribute.
        name: String,
    },
    /// Writes cells of a sparse array. Those of equal coordinates are replaced, unless the array has them several times.
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
    /// Writes elements behind all others along one dimension: of all arrays of a group, which have the same dimensions.
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
    /// Adds an array along the same dimensions as the others of a group.
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
    /// Gives an object another name in its group.
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
        /// For some dimensions their names, with the first and the last coordinate.
        ranges: Vec<(String, String, String)>,
    },
    /// Adds a member to a group.
    AddMember {
        /// The new member.
        member: NodePath,
        /// Where it is.
        uri: String,
    },
    /// Makes one of many fragments, commits, footers or files of metadata, of an object and all below it. What they were stays
    /// until it is vacuumed.
    Consolidate {
        /// The object.
        object: NodePath,
        /// What becomes one.
        what: Consolidated,
    },
    /// Removes what consolidation has replaced, of an object and all below it.
    Vacuum {
        /// The object.
        object: NodePath,
        /// What is removed.
        what: Vacuumed,
    },
    /// Removes a member from a group. What it is stays where it is.
    RemoveMember {
        /// The member.
        member: NodePath,
    },
}

/// What becomes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consolidated {
    /// Fragments, with the time of each cell and of its deletion, where the format has them.
    Fragments,
    /// Fragments, without the cells that are deleted or replaced.
    Purged,
    /// Commits.
    Commits,
    /// Footers of fragments, so that an array is opened with few requests.
    Footers,
    /// Files of metadata.
    Metadata,
}

/// What a vacuum removes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vacuumed {
    /// What consolidation has replaced.
    Replaced,
    /// That, and what killed writers have left. No writer may be at work.
    All,
}

impl Consolidated {
    /// All, with their words on the command line.
    pub const ALL: [(&'static str, Consolidated); 5] = [
        ("fragments", Consolidated::Fragments),
        ("purge", Consolidated::Purged),
        ("commits", Consolidated::Commits),
        ("footers", Consolidated::Footers),
        ("metadata", Consolidated::Metadata),
    ];
}

impl Vacuumed {
    /// All, with their words on the command line.
    pub const ALL: [(&'static str, Vacuumed); 2] = [("replaced", Vacuumed::Replaced), ("all", Vacuumed::All)];
}

/// What an edit does to a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Whether something is new, changes or goes.
    pub kind: ChangeKind,
    /// The object, or with `@` and a name its attribute.
    pub place: String,
    /// What changes, in words.
    pub what: String,
    /// The number of cells or elements that are written or removed.
    pub cells: Option<u64>,
    /// What the user may not expect.
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
    /// Something is another one.
    Changed,
    /// Something goes.
    Removed,
}

/// Changes a store of a format.
pub trait Editor {
    /// Plans a change, after all that were planned before. Nothing is written.
    ///
    /// # Errors
    /// If the change cannot be made. What was planned before stays planned.
    fn plan(&mut self, edit: &Edit, dates: &Dates<'_>) -> Result<Change>;

    /// Makes all planned changes, in their order. Each is seen as a whole or not at all, also if the process is killed, or
    /// with [`Durability::Power`] if the power fails.
    ///
    /// # Errors
    /// If the store cannot be written. Changes before the error are made.
    fn commit(&mut self, durability: Durability) -> Result<()>;
}

/// What to do where nothing can be appended.
pub(crate) const JOINED_INSTEAD: &str = "concat joins both stores along a dimension to a new one";

/// The counts of a unit since 1970 that a date names, from the first of its period to the first behind it.
pub type Dates<'d> = dyn Fn(&TimeUnit, &str) -> Result<Range<i128>> + 'd;
