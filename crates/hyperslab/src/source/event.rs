//! What was written to an object of a store that keeps more than what was written last.

use std::fmt;
use std::ops::RangeInclusive;

/// Something that was written to an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// What was written.
    pub kind: EventKind,
    /// When, in milliseconds since 1970: from the first moment to the last, if it was made of several. `None` if the
    /// store does not say it: before everything else.
    pub at: Option<RangeInclusive<u64>>,
    /// The name of its file or folder.
    pub name: String,
    /// What it says, part by part: the changes of a schema, the coordinates of a fragment, which cells are deleted.
    pub what: Vec<String>,
    /// The same for people: long values are cut, and records that hyperslab keeps are their names alone.
    pub brief: Vec<String>,
    /// The version of the format that it was written in, if it has one.
    pub version: Option<u32>,
    /// The cells that it holds.
    pub cells: Option<u64>,
    /// The bytes that it takes.
    pub bytes: u64,
    /// Whether it was consolidated: made of several that were written before.
    pub is_consolidated: bool,
    /// The name of the consolidated one that replaces it, so that it can be vacuumed.
    pub replaced_by: Option<String>,
}

/// The kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// How the object is made: it was created, or changed.
    Schema,
    /// Cells.
    Fragment,
    /// Which cells are deleted.
    Delete,
    /// Metadata, which are shown as attributes.
    Metadata,
    /// Members of a group.
    Members,
}

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            EventKind::Schema => "schema",
            EventKind::Fragment => "fragment",
            EventKind::Delete => "delete",
            EventKind::Metadata => "metadata",
            EventKind::Members => "members",
        })
    }
}
