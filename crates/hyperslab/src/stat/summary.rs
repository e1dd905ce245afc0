//! The summary of the values of an array: minimum, maximum, mean and number of missing values.

use super::ColumnOf;
use super::fold::{Fold, Number};
use crate::cells::CellQuery;
use crate::meaning::{Meaning, meaning, meaning_as_stored};
use crate::select::{Select, Selected, ranges};
use crate::show::with_coordinate;
use crate::source::{Asked, Entry, Item, Source};
use hyperslab_cf::meaning::{Packing, single};
use hyperslab_core::{Error, Result};
use hyperslab_model::{Datatype, Elements, Float, Shape, Values};

/// The options of a summary.
#[derive(Clone, Debug, Default)]
pub struct SummaryOptions {
    /// Apply CF attributes: scale values, show times as dates, count values outside the valid range as missing.
    pub decode: bool,
    /// The selected elements; all elements if there is no selection.
    pub select: Vec<Select>,
}

/// The summary of the values of an array.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// The number of values.
    pub count: u64,
    /// The number of missing values: NaN, null, or marked as missing by attributes.
    pub missing: u64,
    /// The minimum; `None` if there are no values or they have no order.
    pub min: Option<Figure>,
    /// The maximum.
    pub max: Option<Figure>,
    /// The mean of the values that are not missing.
    pub mean: Option<Figure>,
}

/// A value of an array, or a computed one.
#[derive(Clone, Debug, PartialEq)]
pub enum Figure {
    /// An element of an array.
    Element(Datatype, Vec<u8>),
    /// A date.
    Text(String),
}

impl Figure {
    /// As text; a computed number with nine digits.
    pub fn label(&self) -> String {
        let text = match self {
            Figure::Element(..) => self.each(hyperslab_ndl::plain),
            Figure::Text(text) => text.clone(),
        };
        match text.strip_suffix(".0") {
            Some(whole) => whole.to_owned(),
            None => text,
        }
    }

    /// As JSON, with all digits.
    pub fn to_json(&self) -> serde_json::Value {
        match self {
            Figure::Element(..) => {
                let text = self.each(hyperslab_ndl::json);
                serde_json::from_str(&text).unwrap_or(serde_json::Value::String(text))
            }
            Figure::Text(text) => text.as_str().into(),
        }
    }

    /// A mean with the precision of the elements, at most nine digits for 64-bit numbers.
    #[must_use]
    pub fn rounded(&self) -> Figure {
        match self {
            Figure::Element(Datatype::Float(Float::Double), row) => {
                let value = row.first_chunk().map_or(0.0, |row| f64::from_ne_bytes(*row));
                double(format!("{value:.8e}").parse().unwrap_or(value))
            }
            other => other.clone(),
        }
    }

    fn each(&self, text: fn(hyperslab_model::ElementRef<'_>) -> String) -> String {
        let Figure::Element(datatype, row) = self else { return String::new() };
        let values = Values { rows: row.clone().into(), ..Values::default() };
        Elements::new(datatype, &values).next().map(text).unwrap_or_default()
    }
}

/// The summary of an array, read within the memory of its pool; `None` for a null dataspace.
///
/// ```
/// use hyperslab::stat::{SummaryOptions, summary};
/// use hyperslab::{NodePath, OpenOptions, open};
///
/// let source = open("../../examples/ocean.nc".as_ref(), &OpenOptions::default())?;
/// let decoded = SummaryOptions { decode: true, ..SummaryOptions::default() };
/// let time = summary(&*source, &source.find(&NodePath::new("/time")?)?, &decoded)?.expect("it has values");
/// assert_eq!(time.max.expect("there are some").label(), "2024-04-26T00:00:00");
/// # Ok::<(), hyperslab::Error>(())
/// ```
///
/// # Errors
/// If it is not an array, the selection exceeds the extents, or its values cannot be read.
pub fn summary(source: &dyn Source, entry: &Entry, options: &SummaryOptions) -> Result<Option<Summary>> {
    summary_with(source, entry, options, &Asked::default())
}

/// As [`summary`], for one of several arrays of a store. Together they are limited as a single array is.
///
/// # Errors
/// As [`summary`].
pub fn summary_with(
    source: &dyn Source,
    entry: &Entry,
    options: &SummaryOptions,
    asked: &Asked,
) -> Result<Option<Summary>> {
    summary_of(source, entry, options, asked).map_err(|error| error.in_object(&entry.handle.path))
}

fn summary_of(
    source: &dyn Source,
    entry: &Entry,
    options: &SummaryOptions,
    asked: &Asked,
) -> Result<Option<Summary>> {
    let shape = match &entry.item {
        Item::Array { datatype: Some(_), shape: Shape::Null, .. } => return Ok(None),
        Item::Array { datatype: Some(_), kind, shape, .. } => {
            with_coordinate(*kind, shape, &entry.handle.path)
        }
        _ => return Err(Error::invalid("no array with values")),
    };
    let node = source.load(&entry.handle)?;
    let meaning_of = |datatype: &Datatype| match options.decode {
        true => meaning(source, &entry.handle.path, &node, within(datatype)),
        false => meaning_as_stored(source, &node, within(datatype)),
    };
    let mut fold = Fold::default();
    let array = source.array(&entry.handle)?;
    if array.is_of_cells()
        && let Some(ColumnOf { group, cells, number }) = ColumnOf::read(source, &entry.handle)?
    {
        let ranges = ranges(source, &group, cells.columns(), &options.select)?;
        let Some(column) = cells.columns().get(number) else { return Ok(None) };
        let meaning = meaning_of(&column.datatype);
        let query = CellQuery { columns: Some(vec![number]), ranges, ..CellQuery::default() };
        for batch in cells.batches(&query)? {
            for column in &batch?.columns {
                fold.take(source.pool(), &meaning.datatype, &column.values, &meaning.missing)?;
            }
        }
        return Ok(Some(Figures(&meaning).summary(&fold)));
    }
    let selected = Selected::new(source, &options.select, &shape)?;
    asked.check(source, &*array, &selected.counts())?;
    let meaning = meaning_of(array.datatype());
    let mut take = |values: &Values| fold.take(array.pool(), &meaning.datatype, values, &meaning.missing);
    selected.stream(&*array, &mut take)?;
    Ok(Some(Figures(&meaning).summary(&fold)))
}

/// The datatype of the items of array elements, whose rows equal those of the same number of single elements.
fn within(datatype: &Datatype) -> &Datatype {
    match datatype {
        Datatype::Named(_, of) => within(of),
        Datatype::Array { base, .. } => within(base),
        other => other,
    }
}

/// Converts stored numbers to figures according to their meaning.
struct Figures<'a>(&'a Meaning);

impl Figures<'_> {
    fn summary(&self, fold: &Fold) -> Summary {
        let mean = fold.extremes.and_then(|_| fold.sum.mean(fold.present));
        let (min, max) = fold.extremes.unzip();
        // A negative scale factor reverses the order of packed values.
        let (min, max) = if self.0.packing.as_ref().is_some_and(|packing| packing.scale < 0.0) {
            (max, min)
        } else {
            (min, max)
        };
        Summary {
            count: fold.present.saturating_add(fold.missing),
            missing: fold.missing,
            min: min.and_then(|number| self.figure(number)),
            max: max.and_then(|number| self.figure(number)),
            mean: mean.map(|mean| self.mean(mean)),
        }
    }

    /// An extreme as an element, or as its decoded value.
    fn figure(&self, number: Number) -> Option<Figure> {
        if let Some(counting) = &self.0.counting {
            let instant = match (number, &self.0.packing) {
                (Number::Int(count), None) => Some(counting.instant(count)),
                (number, _) => counting.moment(self.unpack(number.to_f64())),
            };
            return instant.map(|instant| Figure::Text(counting.text(instant)));
        }
        match (&self.0.packing, number, self.0.datatype.non_null()) {
            (Some(packing), ..) => Some(unpacked(packing, number.to_f64())),
            (None, Number::Int(value), datatype) => {
                let size = datatype.row_size()?;
                let bytes = value.to_le_bytes();
                let mut row = bytes.get(..size)?.to_vec();
                if cfg!(target_endian = "big") {
                    row.reverse();
                }
                Some(Figure::Element(datatype.clone(), row))
            }
            // A number of a wider format is rounded to the nearest double.
            (None, Number::Float(value), Datatype::Float(Float::Double | Float::Quad | Float::Other(_))) => {
                Some(double(value))
            }
            // A 32-bit number can represent every value of a smaller format.
            (None, Number::Float(value), _) => Some(float(single(value))),
        }
    }

    fn mean(&self, mean: f64) -> Figure {
        let value = self.unpack(mean);
        let counting = self.0.counting.as_ref();
        if let Some(date) = counting.and_then(|counting| Some(counting.text(counting.moment(value)?))) {
            return Figure::Text(date);
        }
        match (&self.0.packing, self.0.datatype.non_null()) {
            _ if counting.is_some() => double(value),
            (Some(packing), _) => unpacked(packing, mean),
            (None, Datatype::Float(Float::Double | Float::Quad | Float::Other(_))) => double(value),
            (None, Datatype::Float(_)) => float(single(value)),
            (None, Datatype::Datetime(unit)) => nearest_time(unit, value),
            (None, _) => double(value),
        }
    }

    fn unpack(&self, stored: f64) -> f64 {
        self.0.packing.as_ref().map_or(stored, |packing| packing.unpack(stored))
    }
}

fn unpacked(packing: &Packing, stored: f64) -> Figure {
    match packing.unpacked {
        Float::Single => float(single(packing.unpack(stored))),
        _ => double(packing.unpack(stored)),
    }
}

fn nearest_time(unit: &hyperslab_model::TimeUnit, value: f64) -> Figure {
    #[expect(clippy::cast_possible_truncation, reason = "saturates, and has no fraction")]
    let count = value.round() as i64;
    Figure::Element(Datatype::Datetime(unit.clone()), count.to_ne_bytes().to_vec())
}

fn float(value: f32) -> Figure {
    Figure::Element(Datatype::Float(Float::Single), value.to_ne_bytes().to_vec())
}

fn double(value: f64) -> Figure {
    Figure::Element(Datatype::Float(Float::Double), value.to_ne_bytes().to_vec())
}
