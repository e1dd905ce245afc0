//! How content is stored: what NDL's `storage` key holds.

use crate::Values;
use hyperslab_core::{Error, Result};

/// What keys begin with that other programs add to a document; they are kept and mean nothing here.
pub const EXTRA: &str = "x-";

/// How an object is stored.
#[derive(Clone, Debug, Default)]
pub struct Storage {
    /// The shape of a chunk; of the inner chunk where there are shards.
    pub chunk: Option<Vec<u64>>,
    /// The shape of a shard.
    pub shard: Option<Vec<u64>>,
    /// Filters in write order.
    pub filters: Vec<Filter>,
    /// How elements are stored.
    pub element: ElementStorage,
    /// What elements never written hold.
    pub fill: Fill,
    /// When fill values are written; `None` for the format's own habit.
    pub fill_time: Option<FillTime>,
    /// Where the elements are; `None` where `chunk` or the format's habit says it.
    pub layout: Option<Layout>,
    /// In which order elements follow each other; `None` for the format's habit.
    pub order: Option<Order>,
    /// Of a dimcoord: the lowest and the highest coordinate that it can have, of its type.
    pub domain: Option<Values>,
    /// Of a dimcoord: how many of its steps a tile of a sparse array spans, of its type. Of a datetime, a count
    /// of its unit.
    pub tile: Option<Values>,
    /// What one format alone has, under that format's name; under [`EXTRA`], what other programs say of the
    /// object.
    pub native: Vec<(&'static str, Vec<(String, Directive)>)>,
}

/// How elements are stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ElementStorage {
    /// Byte order, for types that have one.
    pub endian: Option<ByteOrder>,
    /// Significant bits, where not all are.
    pub precision: Option<u16>,
    /// The first significant bit, where not 0.
    pub offset: Option<u16>,
    /// Byte offsets of compound members, where not packed.
    pub offsets: Option<Vec<u64>>,
    /// Bytes of a compound, where more than its members need.
    pub itemsize: Option<u64>,
    /// What differs for members of a compound, by name.
    pub members: Vec<(String, ElementStorage)>,
    /// Character set of a text.
    pub charset: Option<CharacterSet>,
    /// Length of a text.
    pub length: Option<Length>,
    /// Padding of a text.
    pub pad: Option<Pad>,
}

impl ElementStorage {
    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        *self == ElementStorage::default()
    }
}

/// Byte order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteOrder {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
    /// 16-bit words most significant first, each least significant byte first.
    Vax,
}

/// Character set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CharacterSet {
    /// US-ASCII.
    Ascii,
    /// UTF-8.
    Utf8,
}

/// Length of a stored text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// As long as each text is.
    Variable,
    /// So many bytes.
    Fixed(u32),
}

/// What fills a text of fixed length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pad {
    /// One NUL ends the text; what follows means nothing.
    NulTerminated,
    /// NULs to the end.
    Nul,
    /// Spaces to the end.
    Space,
}

impl Pad {
    /// The text without its padding.
    pub fn trim<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        match self {
            Pad::NulTerminated => bytes.split(|byte| *byte == 0).next().unwrap_or_default(),
            Pad::Nul => trim_end(bytes, 0),
            Pad::Space => trim_end(bytes, b' '),
        }
    }
}

fn trim_end(bytes: &[u8], pad: u8) -> &[u8] {
    let len = bytes.iter().rposition(|byte| *byte != pad).map_or(0, |last| last + 1);
    bytes.get(..len).unwrap_or_default()
}

/// What elements never written hold.
#[derive(Clone, Debug, Default)]
pub enum Fill {
    /// The format's own default.
    #[default]
    Default,
    /// Explicitly nothing in particular.
    Undefined,
    /// One element.
    Value(Values),
}

/// When fill values are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FillTime {
    /// When space is allocated.
    Alloc,
    /// When space is allocated, if a fill value is set.
    IfSet,
    /// Never.
    Never,
}

/// Where the elements of an array are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Layout {
    /// In the object header.
    Compact,
    /// In one block.
    Contiguous,
    /// In blocks of a grid.
    Chunked,
    /// In other datasets.
    Virtual,
    /// In files of raw bytes.
    External,
}

/// In which order the elements of an array follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The last index varies fastest.
    RowMajor,
    /// The first index varies fastest.
    ColumnMajor,
}

/// One step of the pipeline that data pass when written.
#[derive(Clone, Debug, PartialEq)]
pub struct Filter {
    /// NDL's name of it; or that of a format, with the parameters as that format states them.
    pub name: String,
    /// Parameters in the order in which they are written; the main one is first.
    pub parameters: Vec<(String, Directive)>,
    /// How many of the parameters are written even in short form; the rest differ from no default.
    pub main: bool,
}

/// A value in a storage directive.
#[derive(Clone, Debug, PartialEq)]
pub enum Directive {
    /// Explicitly nothing.
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Int(i128),
    /// Any other number.
    Float(f64),
    /// Text.
    Text(String),
    /// Several.
    List(Vec<Directive>),
    /// Several with names.
    Map(Vec<(String, Directive)>),
}

impl Storage {
    /// The directives of `format`, made if there are none yet.
    pub fn native_mut(&mut self, format: &'static str) -> Result<&mut Vec<(String, Directive)>> {
        let at = match self.native.iter().position(|(name, _)| *name == format) {
            Some(at) => at,
            None => {
                self.native.push((format, Vec::new()));
                self.native.len() - 1
            }
        };
        match self.native.get_mut(at) {
            Some((_, directives)) => Ok(directives),
            None => Err(Error::invalid("no directives of this format")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Pad;

    #[test]
    fn padding_goes_by_its_rule() {
        assert_eq!(Pad::NulTerminated.trim(b"ab\0c\0"), b"ab");
        assert_eq!(Pad::Nul.trim(b"ab\0c\0\0"), b"ab\0c");
        assert_eq!(Pad::Space.trim(b"ab c  "), b"ab c");
        assert_eq!(Pad::Space.trim(b"   "), b"");
        assert_eq!(Pad::NulTerminated.trim(b"abc"), b"abc");
    }
}
