//! The history of an object in a store that keeps more than what was written last.

use std::fmt;
use std::ops::RangeInclusive;

/// One write to an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// What was written.
    pub kind: EventKind,
    /// When it was written, in milliseconds since 1970: from the first time to the last, if it was consolidated from
    /// several writes. `None` if the store does not record it: it then precedes everything else.
    pub at: Option<RangeInclusive<u64>>,
    /// The name of its file or folder.
    pub name: String,
    /// Its content, part by part: the changes of a schema, the coordinates of a fragment, which cells are deleted.
    pub what: Vec<String>,
    /// The same for human readers: long values are truncated, and only the names are given of records that hyperslab
    /// keeps.
    pub brief: Vec<String>,
    /// The version of the format in which it was written, if it has one.
    pub version: Option<u32>,
    /// The number of cells in it.
    pub cells: Option<u64>,
    /// Its stored size in bytes.
    pub bytes: u64,
    /// Whether it was consolidated from several earlier ones.
    pub is_consolidated: bool,
    /// The name of the consolidated one that replaces it, so that it can be vacuumed.
    pub replaced_by: Option<String>,
}

/// The kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// The schema of the object, when it was created or changed.
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
