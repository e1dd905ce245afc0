//! Elements of arrays and attributes in memory, and views that read them one by one.

use crate::{Datatype, Float, Member, NodePath, Text};
use hyperslab_core::nd::Selection;
use hyperslab_core::rows::{Heap, Rows, Slot};
use std::sync::Arc;

/// Elements in row-major order. [`hyperslab_core::rows`] describes their bytes.
pub type Values = Rows<Reference>;

/// The target of an element of a reference type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reference {
    /// A null reference, which points to nothing.
    Null,
    /// An object, by its path.
    Object(NodePath),
    /// A region: selected elements of the array at this path.
    Region(NodePath, Arc<Selection>),
    /// An attribute: the path of its object, then its name.
    Attribute(NodePath, String),
    /// An address in the file where no object was found.
    Dangling(u64),
    /// An object in another file, or a part of it.
    External {
        /// The name of the other file.
        file: String,
        /// The address in that file.
        address: u64,
        /// The part of the object.
        part: ReferencedPart,
    },
}

/// The part of an object in another file that a reference points to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ReferencedPart {
    /// The object itself.
    #[default]
    Object,
    /// Selected elements.
    Region(Arc<Selection>),
    /// The attribute with this name.
    Attribute(String),
}

/// One element, decoded according to its type. Strings, sequences and compounds borrow from the values that hold them.
#[derive(Clone, Debug)]
pub enum Element<'a> {
    /// An integer. Elements of the time class and datetimes are integers too.
    Int(i128),
    /// A floating-point number of a named format other than float128. The conversion to `f64` is exact.
    Float(f64),
    /// A floating-point number of any other format: its stored bytes, little-endian.
    RawFloat(&'a [u8]),
    /// A complex number: real part, imaginary part.
    Complex(Box<[Element<'a>; 2]>),
    /// A boolean.
    Bool(bool),
    /// A string without its padding. It is not always valid UTF-8.
    Text(&'a [u8]),
    /// An opaque element: its bytes.
    Opaque(&'a [u8]),
    /// A bit field: its bytes, little-endian.
    Bits(&'a [u8]),
    /// A reference.
    Reference(&'a Reference),
    /// An enumeration: its integer, and the name of that integer if the type has one.
    Enum(i128, Option<&'a str>),
    /// A compound: its members.
    Compound(Fields<'a>),
    /// A sequence of variable length: its elements.
    Vlen(Elements<'a>),
    /// An array within an element: its elements in row-major order, then its shape.
    Array(Elements<'a>, &'a [u64]),
    /// The null value of a nullable type.
    Null,
    /// A row or heap that does not fit the type. No reader of this project produces one.
    Broken,
}

/// One element: its row and type.
#[derive(Clone, Copy, Debug)]
pub struct ElementRef<'a> {
    datatype: &'a Datatype,
    row: &'a [u8],
    heap: &'a Heap<Reference>,
}

/// An iterator over elements of one type, whose rows are contiguous in memory.
#[derive(Clone, Debug)]
pub struct Elements<'a> {
    datatype: &'a Datatype,
    rows: &'a [u8],
    size: usize,
    left: usize,
    heap: &'a Heap<Reference>,
}

/// An iterator over the members of a compound: their names and values.
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    members: std::slice::Iter<'a, Member>,
    row: &'a [u8],
    heap: &'a Heap<Reference>,
}

impl<'a> Elements<'a> {
    /// All elements of `values`, which are of type `datatype`.
    pub fn new(datatype: &'a Datatype, values: &'a Values) -> Self {
        Elements::of(datatype, &values.rows, &values.heap)
    }

    /// All elements of `rows`. Their slots point into `heap`.
    pub fn of(datatype: &'a Datatype, rows: &'a [u8], heap: &'a Heap<Reference>) -> Self {
        let size = datatype.row_size().unwrap_or(0);
        // Rows of size 0 cannot be counted, so elements of such a type are not shown.
        let left = rows.len().checked_div(size).unwrap_or(0);
        Elements { datatype, rows, size, left, heap }
    }

    fn counted(datatype: &'a Datatype, rows: &'a [u8], count: usize, heap: &'a Heap<Reference>) -> Self {
        Elements { datatype, rows, size: datatype.row_size().unwrap_or(0), left: count, heap }
    }

    /// The type of the elements.
    pub fn datatype(&self) -> &'a Datatype {
        self.datatype
    }

    /// The size of one row in bytes.
    pub fn row_size(&self) -> usize {
        self.size
    }

    /// The rows of the remaining elements.
    pub fn rows(&self) -> &'a [u8] {
        self.rows
    }

    /// The heap that slots of the rows point into.
    pub fn heap(&self) -> &'a Heap<Reference> {
        self.heap
    }

    /// Takes the first `count` elements off and returns them.
    pub fn split(&mut self, count: usize) -> Elements<'a> {
        let count = count.min(self.left);
        let (head, rest) =
            self.rows.split_at_checked(count.saturating_mul(self.size)).unwrap_or((self.rows, &[]));
        (self.rows, self.left) = (rest, self.left - count);
        Elements { rows: head, left: count, ..self.clone() }
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = ElementRef<'a>;

    fn next(&mut self) -> Option<ElementRef<'a>> {
        self.left = self.left.checked_sub(1)?;
        let (row, rest) = self.rows.split_at_checked(self.size)?;
        self.rows = rest;
        Some(ElementRef { datatype: self.datatype, row, heap: self.heap })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Elements<'_> {}

impl<'a> Iterator for Fields<'a> {
    type Item = (&'a str, ElementRef<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let member = self.members.next()?;
        let (row, rest) = self.row.split_at_checked(member.datatype.row_size()?)?;
        self.row = rest;
        Some((&member.name, ElementRef { datatype: &member.datatype, row, heap: self.heap }))
    }
}

impl<'a> ElementRef<'a> {
    /// The type of the element.
    pub fn datatype(&self) -> &'a Datatype {
        self.datatype
    }

    /// The row of the element.
    pub fn row(&self) -> &'a [u8] {
        self.row
    }

    /// The value of a nullable type, without its validity byte. `None` if it is null. An element of any other type is
    /// returned unchanged.
    pub fn present(self) -> Option<ElementRef<'a>> {
        let Self { row, heap, .. } = self;
        match self.datatype {
            Datatype::Nullable(datatype) => match row.split_first()? {
                (0, _) => None,
                (_, row) => ElementRef { datatype, row, heap }.present(),
            },
            Datatype::Named(_, datatype) => ElementRef { datatype, row, heap }.present(),
            _ => Some(self),
        }
    }

    /// Decodes the element.
    pub fn get(&self) -> Element<'a> {
        self.checked().unwrap_or(Element::Broken)
    }

    fn checked(&self) -> Option<Element<'a>> {
        let Self { row, heap, .. } = *self;
        Some(match self.datatype {
            Datatype::Int { signed, .. } => Element::Int(int(row, *signed)?),
            Datatype::Time { .. } => Element::Int(int(row, false)?),
            Datatype::Datetime(_) => Element::Int(int(row, true)?),
            Datatype::Float(float) => number(float, row)?,
            Datatype::Complex(float) => {
                let (re, im) = row.split_at_checked(float.row_size())?;
                Element::Complex(Box::new([number(float, re)?, number(float, im)?]))
            }
            Datatype::Bool => Element::Bool(*row.first()? != 0),
            Datatype::Bitfield { .. } => Element::Bits(row),
            Datatype::Opaque { .. } => Element::Opaque(row),
            Datatype::String(Text::Fixed { pad, .. }) => Element::Text(pad.trim(row)),
            Datatype::String(Text::Variable) => Element::Text(heap.content(Slot::get(row)?)?),
            Datatype::ObjRef | Datatype::RegRef | Datatype::Reference => {
                Element::Reference(heap.reference(Slot::get(row)?)?)
            }
            Datatype::Enum { base, members } => {
                let Datatype::Int { signed, .. } = **base else { return None };
                let code = int(row, signed)?;
                let name = members.iter().find(|(_, value)| *value == code).map(|(name, _)| name.as_str());
                Element::Enum(code, name)
            }
            Datatype::Compound(members) => Element::Compound(Fields { members: members.iter(), row, heap }),
            Datatype::Vlen(base) => {
                let slot = Slot::get(row)?;
                let count = usize::try_from(slot.count).ok()?;
                let rows = heap.bytes(slot, count.checked_mul(base.row_size()?)?)?;
                Element::Vlen(Elements::counted(base, rows, count, heap))
            }
            Datatype::Array { base, shape } => {
                let count = shape.iter().try_fold(1_u64, |n, extent| n.checked_mul(*extent))?;
                Element::Array(Elements::counted(base, row, usize::try_from(count).ok()?, heap), shape)
            }
            Datatype::Nullable(of) => match row.split_first()? {
                (0, _) => Element::Null,
                (_, row) => ElementRef { datatype: of, row, heap }.checked()?,
            },
            Datatype::Named(_, of) => ElementRef { datatype: of, row, heap }.checked()?,
        })
    }
}

fn int(row: &[u8], signed: bool) -> Option<i128> {
    Some(match row.len() {
        1 if signed => i128::from(i8::from_ne_bytes(*row.first_chunk()?)),
        1 => i128::from(*row.first()?),
        2 if signed => i128::from(i16::from_ne_bytes(*row.first_chunk()?)),
        2 => i128::from(u16::from_ne_bytes(*row.first_chunk()?)),
        4 if signed => i128::from(i32::from_ne_bytes(*row.first_chunk()?)),
        4 => i128::from(u32::from_ne_bytes(*row.first_chunk()?)),
        8 if signed => i128::from(i64::from_ne_bytes(*row.first_chunk()?)),
        8 => i128::from(u64::from_ne_bytes(*row.first_chunk()?)),
        // No supported format has unsigned 128-bit integers, so those above the range of i128 do not occur.
        16 => i128::from_ne_bytes(*row.first_chunk()?),
        _ => return None,
    })
}

fn number<'a>(float: &Float, row: &'a [u8]) -> Option<Element<'a>> {
    Some(Element::Float(match float {
        Float::Single => f64::from(f32::from_ne_bytes(*row.first_chunk()?)),
        Float::Double => f64::from_ne_bytes(*row.first_chunk()?),
        Float::Half => f64::from(half::f16::from_ne_bytes(*row.first_chunk()?)),
        Float::BFloat => f64::from(half::bf16::from_ne_bytes(*row.first_chunk()?)),
        Float::Quad | Float::Other(_) => return Some(Element::RawFloat(row)),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    fn text(element: ElementRef<'_>) -> String {
        match element.get() {
            Element::Int(value) => value.to_string(),
            Element::Text(bytes) => String::from_utf8(bytes.to_vec()).unwrap(),
            Element::Compound(fields) => {
                format!("{{{}}}", fields.map(|(_, e)| text(e)).collect::<Vec<_>>().join(","))
            }
            Element::Array(elements, _) => format!("[{}]", elements.map(text).collect::<Vec<_>>().join(" ")),
            Element::Vlen(elements) => format!("({})", elements.map(text).collect::<Vec<_>>().join(" ")),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn reads_elements_of_nested_types() {
        let member = |name: &str, datatype| Member { name: name.into(), datatype };
        let pair = Datatype::Compound(vec![
            member("x", Datatype::int(32, false)),
            member("s", Datatype::String(Text::Variable)),
        ]);
        let t = Datatype::Vlen(Box::new(Datatype::Array { base: Box::new(pair), shape: vec![2] }));
        let mut inner = vec![];
        for (x, offset, count) in [(1_u32, 0, 2), (2, 2, 3), (3, 0, 0), (4, 4, 1)] {
            inner.extend(x.to_ne_bytes());
            inner.extend(Slot { buffer: 0, count, offset }.to_bytes());
        }
        let mut heap = Heap::default();
        heap.push(Bytes::from_static(b"abcde")).unwrap();
        let buffer = heap.push(inner.into()).unwrap();
        let rows = Slot { buffer, count: 2, offset: 0 }.to_bytes().to_vec().into();
        let values = Values { rows, heap };
        let shown: Vec<_> = Elements::new(&t, &values).map(text).collect();
        assert_eq!(shown, ["([{1,ab} {2,cde}] [{3,} {4,e}])"]);
    }

    #[test]
    fn invalid_rows_give_broken_elements_and_no_panic() {
        let t = Datatype::String(Text::Variable);
        let rows = Slot { buffer: 7, count: 3, offset: 0 }.to_bytes().to_vec().into();
        let values = Values { rows, heap: Heap::default() };
        assert!(matches!(Elements::new(&t, &values).next().unwrap().get(), Element::Broken));
    }
}
