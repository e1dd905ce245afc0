//! Decodes stored elements according to the attributes of their array.
//!
//! Missing elements become nulls, packed numbers are unpacked, counts since a date become datetimes, and flags become
//! words. Times that the ISO 8601 calendar cannot represent become strings.
//!
//! Spec: CF 1.13, 2.5.1 Missing data, 3.5 Flags, 4.4 Time Coordinate, 8.1 Packed Data

use crate::meaning::{Meaning, is_number, meaning};
use crate::source::Source;
use hyperslab_cf::meaning::{Flags, push_float};
use hyperslab_cf::time::{Counting, Instant, NANOSECOND, SECOND};
use hyperslab_core::Result;
use hyperslab_core::rows::{Heap, Slot};
use hyperslab_model::{
    Datatype, Element, ElementRef, Elements, Float, Node, NodePath, Reference, Text, TimeUnit, Values,
};
use std::sync::Arc;

/// Decodes the elements of one array.
#[derive(Debug)]
pub(crate) struct Decoder {
    meaning: Meaning,
    from: Arc<Datatype>,
    to: Arc<Datatype>,
    step: Step,
}

/// What stored numbers represent beyond their value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoded {
    /// Numbers that were scaled or shifted.
    Packed,
    /// Time counts.
    Time,
    /// Integers that stand for words.
    Flags,
}

/// How an element that is not missing is decoded.
#[derive(Debug)]
enum Step {
    /// It is unchanged.
    Keep,
    /// It is unpacked to this type.
    Number(Float),
    /// It becomes a datetime.
    Datetime(Counting, Resolution),
    /// It becomes a date as text.
    Date(Counting),
    Words(Flags),
}

/// The unit of decoded datetimes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Resolution {
    Seconds,
    Milliseconds,
    Microseconds,
    Nanoseconds,
}

/// Properties that all times of an array share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    first: Instant,
    last: Instant,
    resolution: Resolution,
}

impl Default for Times {
    fn default() -> Self {
        Times { first: Instant::MAX, last: Instant::MIN, resolution: Resolution::Seconds }
    }
}

impl Times {
    /// Whether 64-bit counts in this resolution can represent all of them; the minimum stands for a missing time.
    fn fit(&self) -> bool {
        let counts = |instant| self.resolution.count(instant).is_some();
        self.first > self.last || (counts(self.first) && counts(self.last))
    }
}

impl Resolution {
    fn unit(self) -> &'static str {
        match self {
            Resolution::Seconds => "s",
            Resolution::Milliseconds => "ms",
            Resolution::Microseconds => "us",
            Resolution::Nanoseconds => "ns",
        }
    }

    /// The length of one unit.
    fn length(self) -> Instant {
        match self {
            Resolution::Seconds => SECOND,
            Resolution::Milliseconds => 1_000_000 * NANOSECOND,
            Resolution::Microseconds => 1000 * NANOSECOND,
            Resolution::Nanoseconds => NANOSECOND,
        }
    }

    fn of(instant: Instant) -> Resolution {
        let coarse = [Resolution::Seconds, Resolution::Milliseconds, Resolution::Microseconds];
        let exact = coarse.into_iter().find(|resolution| instant % resolution.length() == 0);
        exact.unwrap_or(Resolution::Nanoseconds)
    }

    /// The count since 1970 in whole units; `None` if it does not fit into 64 bits.
    fn count(self, instant: Instant) -> Option<i64> {
        let count = i64::try_from(instant.div_euclid(self.length())).ok()?;
        (count > i64::MIN).then_some(count)
    }

    fn finer(self, other: Resolution) -> Resolution {
        if self.length() < other.length() { self } else { other }
    }
}

impl Decoder {
    /// A decoder of the elements of `node` at `path`, which are of type `datatype`. Times are decoded according to
    /// `times`, which [`Decoder::see`] gathers.
    pub(crate) fn new(
        source: &dyn Source,
        path: &NodePath,
        node: &Node,
        datatype: &Arc<Datatype>,
    ) -> Decoder {
        let mut meaning = meaning(source, path, node, datatype);
        let (counting, flags) = (meaning.counting.take(), meaning.flags.take());
        let step = match (counting, flags, &meaning.packing) {
            _ if !is_number(datatype.non_null()) => Step::Keep,
            (Some(counting), ..) => Step::Date(counting),
            (None, Some(flags), None) => Step::Words(flags),
            (None, _, Some(packing)) => Step::Number(packing.unpacked.clone()),
            _ => Step::Keep,
        };
        let mut decoder = Decoder { meaning, from: Arc::clone(datatype), to: Arc::clone(datatype), step };
        decoder.set_type();
        decoder
    }

    /// The datatype of decoded elements.
    pub(crate) fn datatype(&self) -> &Arc<Datatype> {
        &self.to
    }

    /// Whether elements are counts of time.
    pub(crate) fn is_time(&self) -> bool {
        matches!(self.step, Step::Date(_) | Step::Datetime(..))
    }

    /// What the stored numbers represent; `None` if just their value.
    pub(crate) fn encoded(&self) -> Option<Encoded> {
        match &self.step {
            Step::Keep => None,
            Step::Number(_) => Some(Encoded::Packed),
            Step::Datetime(..) | Step::Date(_) => Some(Encoded::Time),
            Step::Words(_) => Some(Encoded::Flags),
        }
    }

    /// Records the times among `values`.
    pub(crate) fn see(&self, values: &Values, times: &mut Times) {
        for element in Elements::new(&self.meaning.datatype, values) {
            if let Some(instant) = self.instant(element) {
                times.first = times.first.min(instant);
                times.last = times.last.max(instant);
                times.resolution = times.resolution.finer(Resolution::of(instant));
            }
        }
    }

    /// Selects datetimes for decoding times if these can represent all of `times`, otherwise strings.
    pub(crate) fn settle(&mut self, times: Times) {
        let Step::Date(counting) = &self.step else { return };
        if counting.is_iso_from(times.first) && times.fit() {
            self.step = Step::Datetime(counting.clone(), times.resolution);
            self.set_type();
        }
    }

    fn set_type(&mut self) {
        let decoded = match &self.step {
            _ if self.keeps_all() => {
                self.to = Arc::clone(&self.from);
                return;
            }
            Step::Keep => self.meaning.datatype.non_null().clone(),
            Step::Number(float) => Datatype::Float(float.clone()),
            Step::Datetime(_, resolution) => {
                Datatype::Datetime(TimeUnit { unit: resolution.unit().to_owned(), duration: false })
            }
            Step::Date(_) | Step::Words(_) => Datatype::String(Text::Variable),
        };
        self.to = Arc::new(Datatype::Nullable(Box::new(decoded)));
    }

    /// Whether decoding changes nothing.
    fn keeps_all(&self) -> bool {
        let from = self.from.non_null();
        let can_miss = matches!(from, Datatype::Float(_)) || !self.meaning.missing.is_none();
        matches!(self.step, Step::Keep) && !can_miss && from == self.meaning.datatype.non_null()
    }

    /// Decodes elements.
    ///
    /// # Errors
    /// If the strings of dates or words take 4 GiB or more.
    pub(crate) fn decode(&self, values: Values) -> Result<Values> {
        if self.keeps_all() {
            return Ok(values);
        }
        let elements = Elements::new(&self.meaning.datatype, &values);
        let Datatype::Nullable(decoded) = &*self.to else { return Ok(values) };
        let size = decoded.row_size().unwrap_or(0);
        let mut rows = Vec::with_capacity(elements.len().saturating_mul(1 + size));
        let mut heap = Heap::<Reference>::default();
        let mut content = Vec::new();
        for element in elements {
            let start = rows.len();
            let got = element.get();
            let is_there = !self.meaning.missing.is_missing(&got)
                && match &self.step {
                    Step::Keep => {
                        rows.push(1);
                        rows.extend_from_slice(bare_row(element));
                        true
                    }
                    Step::Number(float) => match self.number(&got) {
                        Some(value) => {
                            rows.push(1);
                            push_float(float, value, &mut rows);
                            true
                        }
                        None => false,
                    },
                    Step::Datetime(_, resolution) => {
                        match self.instant(element).and_then(|at| resolution.count(at)) {
                            Some(count) => {
                                rows.push(1);
                                rows.extend(count.to_ne_bytes());
                                true
                            }
                            None => false,
                        }
                    }
                    Step::Date(counting) => match self.instant(element) {
                        Some(instant) => push_text(&counting.text(instant), &mut rows, &mut content)?,
                        None => false,
                    },
                    Step::Words(flags) => match got {
                        Element::Int(value) => push_text(&flags.words(value), &mut rows, &mut content)?,
                        _ => false,
                    },
                };
            if !is_there {
                rows.truncate(start);
                rows.extend(std::iter::repeat_n(0, 1 + size));
            }
        }
        match self.step {
            Step::Keep => heap = values.heap,
            _ => heap.buffers.push(content.into()),
        }
        Ok(Values { rows: rows.into(), heap })
    }

    /// The unpacked number; `None` for NaN.
    fn number(&self, element: &Element<'_>) -> Option<f64> {
        let stored = match element {
            Element::Int(value) => *value as f64,
            Element::Float(value) => *value,
            _ => return None,
        };
        let unpacked = self.meaning.packing.as_ref().map_or(stored, |packing| packing.unpack(stored));
        Some(unpacked).filter(|value| !value.is_nan())
    }

    /// The instant that an element represents; `None` if it is missing or not a number.
    fn instant(&self, element: ElementRef<'_>) -> Option<Instant> {
        let (Step::Date(counting) | Step::Datetime(counting, _)) = &self.step else { return None };
        let got = element.get();
        if self.meaning.missing.is_missing(&got) {
            return None;
        }
        match (got, &self.meaning.packing) {
            (Element::Int(count), None) => Some(counting.instant(count)),
            (other, _) => counting.moment(self.number(&other)?),
        }
    }
}

/// Adds the row of a string, whose bytes are in the first buffer of the heap.
fn push_text(text: &str, rows: &mut Vec<u8>, content: &mut Vec<u8>) -> Result<bool> {
    let count =
        u32::try_from(text.len()).map_err(|_| hyperslab_core::Error::invalid("a text of 4 GiB or more"))?;
    rows.push(1);
    rows.extend(Slot { buffer: 0, count, offset: content.len() as u64 }.to_bytes());
    content.extend_from_slice(text.as_bytes());
    Ok(true)
}

/// The row of an element without the mark of a nullable type.
fn bare_row(element: ElementRef<'_>) -> &[u8] {
    match element.datatype().resolved() {
        Datatype::Nullable(_) => element.row().get(1..).unwrap_or_default(),
        _ => element.row(),
    }
}
