//! How content is stored: the content of NDL's `storage` key.

mod boxed;

pub use boxed::BoxedStorage;

use crate::Values;
use hyperslab_core::{Error, Result};

/// The prefix of keys that other programs add to a document. Such keys are kept but have no meaning here.
pub const EXTRA: &str = "x-";

/// How an object is stored. A field that is `None` or empty leaves the choice to the format.
#[derive(Clone, Debug, Default)]
pub struct Storage {
    /// The shape of a chunk. For a sharded array, the shape of the inner chunk.
    pub chunk: Option<Vec<u64>>,
    /// The shape of a shard.
    pub shard: Option<Vec<u64>>,
    /// Filters in the order in which they are applied when writing.
    pub filters: Vec<Filter>,
    /// How elements are stored.
    pub element: ElementStorage,
    /// The fill value: the value of elements that were never written.
    pub fill: Fill,
    /// When fill values are written. `None` for the default of the format.
    pub fill_time: Option<FillTime>,
    /// Where the elements are stored. `None` if `chunk` or the default of the format decides it.
    pub layout: Option<Layout>,
    /// The order of elements in storage. `None` for the default of the format.
    pub order: Option<Order>,
    /// For a dimension: the lowest and the highest possible coordinate, as two elements of its type.
    pub domain: Option<Values>,
    /// For a dimension of a sparse array: the extent of a tile, as one element of its type. For datetimes, a number
    /// of units.
    pub tile: Option<Values>,
    /// Directives that only one format has, under the name of that format. Under [`EXTRA`], keys that other programs
    /// added to the object.
    pub native: Vec<(&'static str, Vec<(String, Directive)>)>,
    /// How the object was stored before it was converted, as far as the present store cannot represent that; see
    /// [`Node::restore_origin`](crate::Node::restore_origin). Descriptions and comparisons do not show it.
    pub origin: Option<Box<Storage>>,
}

/// How elements are stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ElementStorage {
    /// Byte order. `None` for types without one.
    pub endian: Option<ByteOrder>,
    /// The number of significant bits, unless all bits are significant.
    pub precision: Option<u16>,
    /// The position of the first significant bit, unless it is 0.
    pub offset: Option<u16>,
    /// Byte offsets of compound members, unless these are packed.
    pub offsets: Option<Vec<u64>>,
    /// The size of a compound in bytes, if it is larger than its members need.
    pub itemsize: Option<u64>,
    /// Storage of compound members that differs from the default, by the name of the member.
    pub members: Vec<(String, ElementStorage)>,
    /// The character set of a string.
    pub charset: Option<CharacterSet>,
    /// The length of a string.
    pub length: Option<Length>,
    /// The padding of a string.
    pub pad: Option<Pad>,
}

impl ElementStorage {
    /// Whether nothing is set.
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

impl ByteOrder {
    /// The NDL name.
    pub const fn name(self) -> &'static str {
        match self {
            ByteOrder::Little => "little",
            ByteOrder::Big => "big",
            ByteOrder::Vax => "vax",
        }
    }
}

/// Character set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CharacterSet {
    /// US-ASCII.
    Ascii,
    /// UTF-8.
    Utf8,
    /// UTF-32, in strings of fixed length: four bytes for each character, in the byte order of the element. In rows
    /// such a string is UTF-8, which needs no more bytes.
    Utf32,
}

impl CharacterSet {
    /// The NDL name.
    pub const fn name(self) -> &'static str {
        match self {
            CharacterSet::Ascii => "ascii",
            CharacterSet::Utf8 => "utf-8",
            CharacterSet::Utf32 => "utf-32",
        }
    }

    /// The number of characters that a stored string of `bytes` bytes can have, if each has the same size.
    pub fn characters(self, bytes: u32) -> Option<u32> {
        (self == CharacterSet::Utf32).then_some(bytes / 4)
    }
}

/// Length of a stored string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// Variable: each string has its own length.
    Variable,
    /// Fixed: this many bytes.
    Fixed(u32),
}

/// The padding of a string of fixed length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pad {
    /// NUL-terminated: the string ends at the first NUL.
    NulTerminated,
    /// Padded with NULs.
    Nul,
    /// Padded with spaces.
    Space,
}

impl Pad {
    /// The string without its padding.
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

/// The fill value: the value of elements that were never written.
#[derive(Clone, Debug, Default)]
pub enum Fill {
    /// The default of the format.
    #[default]
    Default,
    /// Explicitly undefined.
    Undefined,
    /// This element.
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
    /// Compact: in the object header.
    Compact,
    /// Contiguous: in one block.
    Contiguous,
    /// Chunked: in blocks of a grid.
    Chunked,
    /// Virtual: in other datasets.
    Virtual,
    /// External: in separate files of raw bytes.
    External,
}

impl Layout {
    /// The NDL name.
    pub const fn name(&self) -> &'static str {
        match self {
            Layout::Compact => "compact",
            Layout::Contiguous => "contiguous",
            Layout::Chunked => "chunked",
            Layout::Virtual => "virtual",
            Layout::External => "external",
        }
    }
}

/// The order of the elements of an array in storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Row-major: the last index varies fastest.
    RowMajor,
    /// Column-major: the first index varies fastest.
    ColumnMajor,
}

/// One filter of the pipeline.
#[derive(Clone, Debug, PartialEq)]
pub struct Filter {
    /// The NDL name of the filter. A filter without a name in NDL has the name and parameters of its format.
    pub name: String,
    /// Parameters in the order in which they are written. The main parameter is first.
    pub parameters: Vec<(String, Directive)>,
    /// How many parameters the short form writes. The others have their default values.
    pub main: bool,
}

/// The value of a storage directive.
#[derive(Clone, Debug, PartialEq)]
pub enum Directive {
    /// An explicit null.
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i128),
    /// A floating-point number.
    Float(f64),
    /// A string.
    Text(String),
    /// A list.
    List(Vec<Directive>),
    /// A map, in order.
    Map(Vec<(String, Directive)>),
}

impl Directive {
    /// Bytes as a string: `0x` and two digits for each.
    ///
    /// ```
    /// use hyperslab_model::Directive;
    ///
    /// let bytes = Directive::of_bytes(&[0, 0xfe]);
    /// assert_eq!(bytes, Directive::Text("0x00fe".into()));
    /// assert_eq!(bytes.to_bytes(), Some(vec![0, 0xfe]));
    /// assert_eq!(Directive::Text("0x0".into()).to_bytes(), None);
    /// ```
    pub fn of_bytes(bytes: &[u8]) -> Directive {
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Directive::Text(format!("0x{digits}"))
    }

    /// The bytes that [`of_bytes`](Self::of_bytes) converted to this string. `None` for other values.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        let Directive::Text(text) = self else { return None };
        let digit = |digit: char| u8::try_from(digit.to_digit(16)?).ok();
        let digits: Vec<u8> = text.strip_prefix("0x")?.chars().map(digit).collect::<Option<_>>()?;
        let (pairs, []) = digits.as_chunks::<2>() else { return None };
        Some(pairs.iter().map(|[high, low]| high << 4 | low).collect())
    }
}

impl Storage {
    /// Replaces the fields that [`origin`](Storage::origin) gives. With `keeps_chunks`, a layout without chunks remains
    /// in it.
    pub(crate) fn restore_origin(&mut self, keeps_chunks: bool) -> Result<()> {
        let Some(origin) = self.origin.take() else { return Ok(()) };
        // Fields that only documents and Zarr have are never in an origin: shards, domains.
        let Storage { chunk, filters, element, fill, fill_time, layout, order, native, .. } = *origin;
        match layout {
            None | Some(Layout::Chunked) => {}
            layout if keeps_chunks => {
                self.origin = Some(Box::new(Storage { layout, ..Storage::default() }));
            }
            layout => {
                self.layout = layout;
                (self.chunk, self.shard) = (None, None);
                self.filters.clear();
            }
        }
        self.chunk = chunk.or(self.chunk.take());
        if !filters.is_empty() {
            self.filters = filters;
        }
        if !element.is_empty() {
            self.element = element;
        }
        // An undefined fill value is always recorded.
        if !matches!(fill, Fill::Default) || matches!(self.fill, Fill::Undefined) {
            self.fill = fill;
        }
        self.fill_time = fill_time.or(self.fill_time);
        self.order = order.or(self.order);
        for (format, directives) in native {
            let own = self.native_mut(format)?;
            own.retain(|(key, _)| !directives.iter().any(|(restored, _)| restored == key));
            own.extend(directives);
        }
        Ok(())
    }

    /// Whether nothing is set.
    pub fn is_empty(&self) -> bool {
        let Storage {
            chunk,
            shard,
            filters,
            element,
            fill,
            fill_time,
            layout,
            order,
            domain,
            tile,
            native,
            origin,
        } = self;
        chunk.is_none()
            && shard.is_none()
            && filters.is_empty()
            && element.is_empty()
            && matches!(fill, Fill::Default)
            && fill_time.is_none()
            && layout.is_none()
            && order.is_none()
            && domain.is_none()
            && tile.is_none()
            && native.is_empty()
            && origin.is_none()
    }

    /// The directives of `format`. Adds an empty list if there is none yet.
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
    fn padding_follows_its_rule() {
        assert_eq!(Pad::NulTerminated.trim(b"ab\0c\0"), b"ab");
        assert_eq!(Pad::Nul.trim(b"ab\0c\0\0"), b"ab\0c");
        assert_eq!(Pad::Space.trim(b"ab c  "), b"ab c");
        assert_eq!(Pad::Space.trim(b"   "), b"");
        assert_eq!(Pad::NulTerminated.trim(b"abc"), b"abc");
    }
}
