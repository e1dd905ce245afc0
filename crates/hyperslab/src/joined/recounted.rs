//! An array of times whose counts are converted to another unit, epoch and type.

use crate::meaning::meaning_as_stored;
use crate::source::engine::row_size;
use crate::source::{ArraySource, ArrayView, Source};
use hyperslab_cf::meaning::{Missing, single};
use hyperslab_cf::time::Recount;
use hyperslab_codec::Scratch;
use hyperslab_core::nd::{Planes, Region};
use hyperslab_core::rows::Heap;
use hyperslab_core::{Error, Result};
use hyperslab_model::{Datatype, Element, Elements, Float, Node, Reference, Values};
use std::fmt;
use std::sync::Arc;

/// How time counts are converted to new ones.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NewCounts {
    pub(super) recount: Recount,
    /// The type of the new counts.
    pub(super) datatype: Arc<Datatype>,
}

pub(super) struct Recounted {
    array: Arc<dyn ArraySource>,
    counts: NewCounts,
    /// Values that are not counts.
    missing: Missing,
}

impl Recounted {
    /// The converted counts of an array of `source`, which is loaded as `node`.
    pub(super) fn shared(
        array: Arc<dyn ArraySource>,
        (source, node): (&dyn Source, &Node),
        counts: NewCounts,
    ) -> Arc<dyn ArraySource> {
        let missing = meaning_as_stored(source, node, array.datatype()).missing;
        Arc::new(Recounted { array, counts, missing })
    }
}

impl ArrayView for Recounted {
    fn viewed(&self) -> &dyn ArraySource {
        &*self.array
    }

    fn is_in_place(&self) -> bool {
        true
    }

    fn shown_datatype(&self) -> &Arc<Datatype> {
        &self.counts.datatype
    }

    fn read_shown(
        &self,
        region: &Region,
        rows: &mut Planes<'_>,
        heap: &mut Heap<Reference>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let row = row_size(&*self.array)?;
        let size = row_size(self)?.max(1);
        rows.slices(region).try_for_each(|(part, out)| {
            let mut stored = vec![0; part.bytes(row)?];
            self.array.read_part(&part, &mut Planes::whole(&mut stored), heap, scratch)?;
            let elements = Elements::of(self.array.datatype(), &stored, heap);
            for (element, out) in elements.zip(out.chunks_exact_mut(size)) {
                out.copy_from_slice(&self.counts.of(&element.get(), &self.missing)?);
            }
            Ok(())
        })
    }

    fn shown_fill(&self) -> Result<Option<Values>> {
        let Some(fill) = self.array.fill()? else { return Ok(None) };
        let first = Elements::new(self.array.datatype(), &fill).next();
        let new = first.and_then(|element| self.counts.of(&element.get(), &self.missing).ok());
        Ok(new.map(|new| Values { rows: new.into(), ..Values::default() }))
    }

    fn is_shown_unwritten_in(&self, _: &Region) -> Result<bool> {
        // The fill value is also a count and is converted.
        Ok(false)
    }

    fn is_shown_unwritten(&self) -> Result<bool> {
        Ok(false)
    }
}

impl NewCounts {
    /// The new count of an element as a row. Missing values stay unchanged.
    ///
    /// # Errors
    /// If no new count represents exactly the same time; [`Unsupported`](hyperslab_core::ErrorKind::Unsupported) if
    /// there is one but the type cannot represent it.
    pub(super) fn of(&self, element: &Element<'_>, missing: &Missing) -> Result<Vec<u8>> {
        let datatype = self.datatype.resolved();
        let (old, new) = match element {
            Element::Int(count) if missing.is_missing(element) => {
                (count.to_string(), Some(Count::Int(*count)))
            }
            Element::Float(count) if missing.is_missing(element) => {
                (count.to_string(), Some(Count::Float(*count)))
            }
            Element::Int(count) => (count.to_string(), self.of_integer(*count)),
            Element::Float(count) => {
                let new = self.recount.number(*count, |number| match datatype {
                    Datatype::Float(Float::Single) => f64::from(single(number)),
                    _ => number,
                });
                (count.to_string(), new.map(Count::Float))
            }
            _ => return Err(Error::unsupported(format!("counts of type {datatype} since another epoch"))),
        };
        let Some(new) = new else {
            return Err(Error::invalid(format!(
                "count {old} cannot be represented exactly in the other units"
            )));
        };
        new.row(datatype).ok_or_else(|| {
            let type_name = &self.datatype;
            Error::unsupported(format!("count {old} becomes {new}, which {type_name} does not hold"))
        })
    }

    fn of_integer(&self, count: i128) -> Option<Count> {
        match self.datatype.resolved() {
            Datatype::Float(float) => self.recount.integer(count).map(Count::Int).or_else(|| {
                let count = Count::Int(count).as_float()?;
                let rounded =
                    |number| if *float == Float::Single { f64::from(single(number)) } else { number };
                self.recount.number(count, rounded).map(Count::Float)
            }),
            _ => self.recount.integer(count).map(Count::Int),
        }
    }
}

/// A count in the form in which it was computed.
enum Count {
    Int(i128),
    Float(f64),
}

impl Count {
    /// The count as an element in memory; `None` if the type cannot represent it exactly.
    fn row(&self, datatype: &Datatype) -> Option<Vec<u8>> {
        match (self, datatype) {
            (Count::Int(value), Datatype::Int { bits, signed }) => integer(*value, *bits, *signed),
            (_, Datatype::Float(float)) => {
                let number = self.as_float()?;
                match float {
                    Float::Double => Some(number.to_ne_bytes().to_vec()),
                    Float::Single => {
                        let narrow = single(number);
                        let is_same = f64::from(narrow) == number || number.is_nan();
                        is_same.then(|| narrow.to_ne_bytes().to_vec())
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The count as a floating-point number, if that is exact.
    fn as_float(&self) -> Option<f64> {
        match self {
            Count::Float(value) => Some(*value),
            Count::Int(value) => (value.unsigned_abs() <= EXACT).then_some(*value as f64),
        }
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Count::Int(value) => value.fmt(f),
            Count::Float(value) => value.fmt(f),
        }
    }
}

/// An integer of this size in memory; `None` if it does not fit.
fn integer(value: i128, bits: u16, signed: bool) -> Option<Vec<u8>> {
    Some(match (bits, signed) {
        (8, true) => i8::try_from(value).ok()?.to_ne_bytes().to_vec(),
        (8, false) => u8::try_from(value).ok()?.to_ne_bytes().to_vec(),
        (16, true) => i16::try_from(value).ok()?.to_ne_bytes().to_vec(),
        (16, false) => u16::try_from(value).ok()?.to_ne_bytes().to_vec(),
        (32, true) => i32::try_from(value).ok()?.to_ne_bytes().to_vec(),
        (32, false) => u32::try_from(value).ok()?.to_ne_bytes().to_vec(),
        (64, true) => i64::try_from(value).ok()?.to_ne_bytes().to_vec(),
        (64, false) => u64::try_from(value).ok()?.to_ne_bytes().to_vec(),
        _ => return None,
    })
}

/// Integers up to this one are exact in double precision.
const EXACT: u128 = 1 << 53;
