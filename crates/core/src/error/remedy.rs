//! What a caller can do about an error, as a value that each interface expresses in its own words.

use std::fmt;
use std::path::PathBuf;

/// What a caller can do about an [`Error`](super::Error).
///
/// Displayed in the library's words: [`RaiseLimit`](Remedy::RaiseLimit) and [`AllowExternal`](Remedy::AllowExternal) as
/// an addition in parentheses, all others as a separate sentence. A command line or a binding that has options for them
/// uses its own wording, see [`Error::worded`](super::Error::worded).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// Open the file with a higher limit.
    RaiseLimit(Limit),
    /// Allow files in this folder to be opened.
    AllowExternal(PathBuf),
    /// Allow losses of these kinds, given by name.
    AllowLoss {
        /// The names, in the order of the report.
        kinds: Vec<&'static str>,
        /// The number of losses that are refused.
        losses: u64,
    },
    /// Allow arrays that cannot be read to be left out.
    LeaveOutUnreadable,
    /// Allow the existing store to be replaced.
    Overwrite,
    /// Choose another target, or move away the files that are not part of the store.
    KeepForeignFiles,
    /// Continue with what an interrupted run has finished.
    Resume {
        /// The number of bytes that are finished.
        done: u64,
        /// The total number of bytes, if known.
        of: Option<u64>,
    },
    /// Start again instead of continuing an interrupted run.
    StartAnew,
    /// Name the format of the target: one of these.
    NameTargetFormat(Vec<&'static str>),
    /// Keep the chunks of the array: filters and shards need them.
    KeepChunks,
    /// Give arrays of other types a fill value of their own, or keep theirs unchanged.
    FillByType,
    /// List the stores in this folder.
    ListFolder(PathBuf),
    /// List the members of the group at this path.
    ListMembers(String),
    /// Describe the object at this path.
    DescribeObject(String),
    /// Make this folder first.
    MakeFolder(PathBuf),
    /// Check the document; the check lists all its errors.
    CheckDocument,
    /// Describe the source with its values: the description has none.
    DescribeWithValues,
    /// Read the cells of the group instead.
    ReadCells,
    /// Give the key of the encrypted store.
    GiveKey,
    /// Read strings in another encoding as their bytes.
    ReadTextsAsBytes,
    /// Print the values, because they cannot be drawn.
    PrintValues,
    /// Print the members of compounds in separate columns: they cannot be drawn together.
    PrintMembers,
    /// Write something else in place of a location or selection, or of the part of it that is wrong.
    Instead {
        /// The text that is wrong, as the caller wrote it or in its standard form.
        given: String,
        /// The text to write in its place.
        write: String,
        /// The effect of the replacement, as in `selects the nearest coordinate`. `None` if it is only similar to what
        /// is wrong.
        effect: Option<String>,
    },
    /// Read a part of an array with a selection, which is not a part of its path.
    SelectPart {
        /// The path of the array.
        object: String,
        /// The selection, as text.
        selection: String,
    },
    /// Copy the data at this URL to a file first.
    Download(String),
    /// Join the numbers that the packed values represent.
    UnpackStores,
    /// Compare these two, to see what differs.
    Compare {
        /// The location of the first.
        a: String,
        /// The location of the second.
        b: String,
    },
    /// Treat numbers as equal that differ by at most this, as text.
    Tolerate(String),
    /// Write another format, of this name, which has what the requested one lacks, as in `filters, which …`.
    OtherFormat(&'static str),
    /// State along which of these dimensions the stores are joined.
    JoinAlong(Vec<String>),
    /// Join the stores along a new dimension of this name; each store is one step of it.
    JoinAsSteps(String),
    /// Join the stores in the order of their coordinates.
    SortStores,
    /// Anything else, as a sentence that needs no option: `did you mean lat?`.
    Hint(String),
}

/// One of the [`Limits`](crate::Limits).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Limit {
    /// [`Limits::allocation`](crate::Limits::allocation).
    Allocation,
    /// [`Limits::nesting`](crate::Limits::nesting).
    Nesting,
    /// [`Limits::rank`](crate::Limits::rank).
    Rank,
    /// [`Limits::filters`](crate::Limits::filters).
    Filters,
}

impl Limit {
    /// All limits.
    pub const ALL: [Limit; 4] = [Limit::Allocation, Limit::Nesting, Limit::Rank, Limit::Filters];

    /// The name of the field of [`Limits`](crate::Limits).
    pub const fn name(self) -> &'static str {
        match self {
            Limit::Allocation => "allocation",
            Limit::Nesting => "nesting",
            Limit::Rank => "rank",
            Limit::Filters => "filters",
        }
    }

    /// The limit with this name.
    pub fn of(name: &str) -> Option<Limit> {
        Limit::ALL.into_iter().find(|limit| limit.name() == name)
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Remedy {
    /// Whether it follows the description of the problem in parentheses, instead of on a separate line.
    pub fn is_inline(&self) -> bool {
        matches!(self, Remedy::RaiseLimit(_) | Remedy::AllowExternal(_))
    }
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Remedy::RaiseLimit(limit) => write!(f, "raise the {limit} limit"),
            Remedy::AllowExternal(folder) => write!(f, "allow external files in {}", folder.display()),
            Remedy::AllowLoss { kinds, .. } => write!(f, "allow losses of {}", kinds.join(", ")),
            Remedy::LeaveOutUnreadable => f.write_str("allow arrays that cannot be read to be left out"),
            Remedy::Overwrite => f.write_str("allow it to be overwritten"),
            Remedy::KeepForeignFiles => {
                f.write_str("overwriting would remove that; move it away, or choose another target")
            }
            Remedy::Resume { done, of: None } => write!(f, "resume the run: {done} bytes are finished"),
            Remedy::Resume { done, of: Some(of) } => {
                write!(f, "resume the run: {done} of {of} bytes are finished")
            }
            Remedy::StartAnew => {
                f.write_str("without resuming, everything is written again from the beginning")
            }
            Remedy::NameTargetFormat(formats) => {
                write!(f, "name the format of the target: {}", formats.join(" or "))
            }
            Remedy::KeepChunks => f.write_str("keep the array chunked"),
            Remedy::FillByType => f.write_str(
                "give arrays of other types a separate fill value, or leave their fill value unchanged",
            ),
            Remedy::ListFolder(folder) => write!(f, "list the stores in {}", folder.display()),
            Remedy::ListMembers(group) => write!(f, "list the members of {group}"),
            Remedy::DescribeObject(path) => write!(f, "describe {path}"),
            Remedy::MakeFolder(folder) => write!(f, "make the folder {} first", folder.display()),
            Remedy::CheckDocument => f.write_str("check the document, which lists all errors in it"),
            Remedy::DescribeWithValues => f.write_str("describe the source with its values"),
            Remedy::ReadCells => f.write_str("read the cells of the group"),
            Remedy::GiveKey => f.write_str("give the key"),
            Remedy::ReadTextsAsBytes => f.write_str("read the bytes of the strings"),
            Remedy::PrintValues => f.write_str("print the values"),
            Remedy::PrintMembers => f.write_str("print the members in separate columns"),
            Remedy::Instead { write, effect: Some(effect), .. } => write!(f, "{write} {effect}"),
            Remedy::Instead { write, effect: None, .. } => write!(f, "did you mean {write}?"),
            Remedy::SelectPart { object, selection } => {
                write!(f, "{object} is an array; read the part {selection} of it with a selection")
            }
            Remedy::Download(_) => f.write_str("copy the data to a file first"),
            Remedy::Compare { a, b } => write!(f, "compare {a} with {b}"),
            Remedy::Tolerate(difference) => write!(f, "allow an absolute tolerance of {difference}"),
            Remedy::OtherFormat(format) => write!(f, "write {format}, which has them"),
            Remedy::JoinAsSteps(name) => {
                write!(f, "name a new dimension, such as {name}, along which each store is one step")
            }
            Remedy::JoinAlong(names) => write!(f, "name the dimension: {}", names.join(" or ")),
            Remedy::UnpackStores => f.write_str("unpack the numbers, and join the unpacked values"),
            Remedy::SortStores => f.write_str("sort the stores by their coordinates"),
            Remedy::Hint(hint) => f.write_str(hint),
        }
    }
}
