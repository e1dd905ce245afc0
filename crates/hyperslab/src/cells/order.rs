//! The order of cells.

use crate::canonical::canonical;
use hyperslab_model::{Column, Datatype, Element, ElementRef, Elements};
use std::cmp::Ordering;

/// Compares two coordinates along one dimension: numbers by value, strings and bytes byte by byte. NaN is last; 0.0
/// equals -0.0; null is first.
pub(crate) fn by_value(a: ElementRef<'_>, b: ElementRef<'_>) -> Ordering {
    match (a.get(), b.get()) {
        (Element::Int(a) | Element::Enum(a, _), Element::Int(b) | Element::Enum(b, _)) => a.cmp(&b),
        (Element::Float(a), Element::Float(b)) => {
            a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
        }
        (Element::Bool(a), Element::Bool(b)) => a.cmp(&b),
        (Element::Text(a), Element::Text(b))
        | (Element::Opaque(a), Element::Opaque(b))
        | (Element::Bits(a), Element::Bits(b)) => a.cmp(b),
        (Element::Null, Element::Null) => Ordering::Equal,
        (Element::Null, _) => Ordering::Less,
        (_, Element::Null) => Ordering::Greater,
        _ => by_bytes(a, b),
    }
}

/// Compares two elements by their canonical bytes.
fn by_bytes(a: ElementRef<'_>, b: ElementRef<'_>) -> Ordering {
    let bytes = |element| {
        let mut out = Vec::new();
        // Elements that do not fit their datatype fail when they are read. Because the rank of its target is unknown
        // here, a reference to all or no elements has other bytes than in a digest, but this does not change the order.
        let _ = canonical(&|_| 0, element, &mut out);
        out
    };
    bytes(a).cmp(&bytes(b))
}

/// The columns for sorting cells.
pub(super) struct Sorting<'a> {
    dimensions: Vec<Keys<'a>>,
    /// Attributes, then dimensions: equal coordinates can have different bytes.
    others: Vec<&'a Column>,
}

/// The coordinates along one dimension.
enum Keys<'a> {
    /// Unsigned integers in the order of the coordinates.
    Numbers(Vec<u64>),
    Elements(&'a Column),
}

impl<'a> Sorting<'a> {
    pub(super) fn new(columns: &'a [Column], dimensions: usize) -> Self {
        let (dimensions, attributes) = columns.split_at_checked(dimensions).unwrap_or((columns, &[]));
        let others = attributes.iter().chain(dimensions).collect();
        Sorting { dimensions: dimensions.iter().map(Keys::of).collect(), others }
    }

    /// The indexes of the cells in sorted order.
    pub(super) fn sorted(&self, count: usize) -> Vec<usize> {
        let mut indexes: Vec<usize> = (0..count).collect();
        indexes.sort_by(|a, b| self.compare(*a, *b));
        indexes
    }

    fn compare(&self, a: usize, b: usize) -> Ordering {
        let coordinates = self.dimensions.iter().map(|keys| keys.compare(a, b));
        let coordinates = coordinates.fold(Ordering::Equal, Ordering::then);
        coordinates.then_with(|| {
            let others = self.others.iter().map(|column| compare(column, a, b, by_bytes));
            others.fold(Ordering::Equal, Ordering::then)
        })
    }
}

impl<'a> Keys<'a> {
    fn of(column: &'a Column) -> Self {
        let numbers: Option<Vec<u64>> = match column.datatype.resolved() {
            Datatype::Int { .. } | Datatype::Datetime(_) => {
                Elements::new(&column.datatype, &column.values).map(number).collect()
            }
            _ => None,
        };
        numbers.map_or(Keys::Elements(column), Keys::Numbers)
    }

    fn compare(&self, a: usize, b: usize) -> Ordering {
        match self {
            Keys::Numbers(numbers) => numbers.get(a).cmp(&numbers.get(b)),
            Keys::Elements(column) => compare(column, a, b, by_value),
        }
    }
}

/// An integer of at most 64 bits, shifted to an unsigned integer of the same order.
fn number(element: ElementRef<'_>) -> Option<u64> {
    let Element::Int(value) = element.get() else { return None };
    match element.datatype().resolved() {
        Datatype::Int { signed: false, .. } => u64::try_from(value).ok(),
        _ => u64::try_from(value.checked_sub(i64::MIN.into())?).ok(),
    }
}

fn compare(
    column: &Column,
    a: usize,
    b: usize,
    by: fn(ElementRef<'_>, ElementRef<'_>) -> Ordering,
) -> Ordering {
    match (column.get(a), column.get(b)) {
        (Some(a), Some(b)) => by(a, b),
        (a, b) => a.is_some().cmp(&b.is_some()),
    }
}
