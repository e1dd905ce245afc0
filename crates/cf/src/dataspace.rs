//! Dataspaces of TileDB-CF: groups of TileDB arrays whose dimensions and attributes are related by their names.
//!
//! A [`Dataspace`] contains what the conventions apply to: the arrays of a group with their schemas, and the keys of
//! metadata. It does not know how they are stored. [`Convention::check`] finds violations of a convention.
//!
//! Spec: TileDB-CF Dataspace Specification 0.1.0 to 0.3.0

mod check;
mod convention;
pub mod rules;
mod verdict;

pub use check::NAMES;
pub use convention::{CONVENTIONS, Convention};
pub use verdict::{ALL, VERDICTS, Verdict, verdict};

/// A group of arrays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dataspace {
    /// The path of the group.
    pub path: String,
    /// The keys of the metadata of the group itself.
    pub metadata: Vec<String>,
    /// The arrays that are members of the group.
    pub arrays: Vec<Array>,
}

/// An array that is a member of a group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Array {
    /// The path of the array.
    pub path: String,
    /// The name of the array in the group; `None` for members without a name.
    pub name: Option<String>,
    /// The dimensions.
    pub dimensions: Vec<Dimension>,
    /// The attributes.
    pub attributes: Vec<Attribute>,
    /// The labels of dimensions.
    pub labels: Vec<Label>,
    /// The metadata of the array, under the keys that are stored.
    pub metadata: Vec<Entry>,
}

/// A dimension of an array.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dimension {
    /// The name, empty if it has none.
    pub name: String,
    /// The datatype, as TileDB names it.
    pub datatype: String,
    /// Whether the datatype is an integer type. Datatypes of times do not count as such.
    pub is_integer: bool,
    /// The lower and the upper bound of the domain as text; `None` for strings, whose domain has no bounds.
    pub domain: Option<(String, String)>,
}

/// An attribute of an array.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attribute {
    /// The name, empty if it has none.
    pub name: String,
    /// The datatype, as TileDB names it.
    pub datatype: String,
    /// The bytes of the fill value; `None` if the schema has none, as before version 6 of the format.
    pub fill: Option<Vec<u8>>,
}

/// Labels of a dimension.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Label {
    /// The name.
    pub name: String,
    /// The datatype, as TileDB names it.
    pub datatype: String,
    /// The position of the dimension.
    pub dimension: usize,
}

/// An entry of metadata.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// The key, as it is stored.
    pub key: String,
    /// The datatype of the value, as TileDB names it.
    pub datatype: String,
    /// The bytes of the value.
    pub value: Vec<u8>,
}

impl Dimension {
    /// Whether it is an index dimension: one of an integer type that begins at 0.
    pub fn is_index(&self) -> bool {
        self.is_integer && self.domain.as_ref().is_some_and(|(low, _)| low == "0")
    }
}

/// The name in the dataspace of an attribute or a dimension: its name without the suffix `.index` or `.data`.
///
/// ```
/// use hyperslab_cf::dataspace::dataspace_name;
///
/// assert_eq!(["x.index", "x.data", "x", "x.index.data"].map(dataspace_name), ["x", "x", "x", "x.index"]);
/// ```
pub fn dataspace_name(name: &str) -> &str {
    name.strip_suffix(".index").or_else(|| name.strip_suffix(".data")).unwrap_or(name)
}

/// The name of an array that holds the metadata of its group, up to version 0.2.0.
pub const GROUP_ARRAY: &str = "__tiledb_group";

/// The prefix of the metadata keys of attributes; the name and a dot follow.
pub const OF_ATTRIBUTE: &str = "__tiledb_attr.";

/// The prefix of the metadata keys of dimensions; the name and a dot follow.
pub const OF_DIMENSION: &str = "__tiledb_dim.";
