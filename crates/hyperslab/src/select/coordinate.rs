//! Finds the positions of a dimension by values of its coordinates.

use super::characters::{Names, are_names};
use super::{Labels, Pick, Picks};
use crate::source::{ArraySource, Entry, Handle, Item, Source, check_size};
use hyperslab_cf::time::{Counting, Instant};
use hyperslab_core::nd::Region;
use hyperslab_core::{Error, Result};
use hyperslab_model::{Datatype, Element, ElementRef, Elements, Float, NodeKind, NodePath, Values};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::Arc;

/// The positions below `extent` whose coordinates at `path` match, in order, and whether the selection is a single
/// position.
///
/// # Errors
/// If there are no coordinates, they cannot be compared with the request, or none matches.
pub(super) fn positions(
    source: &dyn Source,
    path: &NodePath,
    extent: u64,
    labels: &Labels,
) -> Result<(Picks, bool)> {
    let entry = source.find(path)?;
    let (array, target, extent) = opened(source, &entry, extent, labels)?;
    let found = scan(&*array, extent, &target)?;
    let nearest = found.nearest.map(|(_, at)| at);
    match labels {
        Labels::Between(..) => Ok((found.inside.picks(), false)),
        Labels::Nearest(word) => match found.inside.first().or(nearest) {
            Some(at) => Ok((Picks::Range { start: at, count: 1, step: 1 }, true)),
            None => Err(Error::not_found(format!("no coordinate is near {word}"))),
        },
        Labels::Equal(word) => match found.inside.count() {
            0 => Err(Error::not_found(format!("no coordinate is {word}"))),
            // A month may contain one time or many: the selection keeps the dimension in either case.
            count => Ok((found.inside.picks(), count == 1 && !(target.is_time() && is_month_or_year(word)))),
        },
    }
}

/// Whether a date names neither a day nor an instant.
fn is_month_or_year(date: &str) -> bool {
    date.trim_start_matches('-').matches('-').count() < 2
}

/// The coordinate that a word denotes, or one near it.
pub(super) struct Near {
    /// The labels that select it.
    pub(super) labels: Labels,
    /// Its position; the first one if there are several.
    pub(super) at: u64,
    /// How many coordinates equal the word; 0 if this is only the nearest.
    pub(super) equal: u64,
    /// Whether the coordinates are times.
    pub(super) is_time: bool,
}

/// The coordinate that `word` denotes, or else the nearest or most similar one.
///
/// # Errors
/// As [`positions`].
pub(super) fn near(source: &dyn Source, path: &NodePath, extent: u64, word: &str) -> Result<Option<Near>> {
    let entry = source.find(path)?;
    let equal = Labels::Equal(word.to_owned());
    let (array, target, extent) = opened(source, &entry, extent, &equal)?;
    let is_time = target.is_time();
    let found = scan(&*array, extent, &target)?;
    if let Some(at) = found.inside.first() {
        return Ok(Some(Near { labels: equal, at, equal: found.inside.count(), is_time }));
    }
    let (at, label) = match (found.nearest, &target.from) {
        (Some((_, at)), _) => (at, target.label(&*array, at)?),
        (None, Some(Key::Text(_))) => match near_text(&*array, extent, word)? {
            Some(near) => near,
            None => return Ok(None),
        },
        _ => return Ok(None),
    };
    // An instant at midnight is written as a date if no other coordinate is on that day. Its text may be rounded.
    let day = label.strip_suffix("T00:00:00").filter(|_| is_time).map(|day| Labels::Equal(day.to_owned()));
    let is_it = |labels: &Labels| {
        positions(source, path, extent, labels)
            .is_ok_and(|(picks, _)| picks.get(0) == Some(at) && picks.count() == 1)
    };
    let mut exact = day.into_iter().chain([Labels::Equal(label)]);
    let labels = exact.find(is_it).unwrap_or_else(|| Labels::Nearest(word.to_owned()));
    Ok(Some(Near { labels, at, equal: 0, is_time }))
}

/// Whether coordinates can be compared with labels.
pub(super) fn are_comparable(source: &dyn Source, path: &NodePath, extent: u64, labels: &Labels) -> bool {
    source.find(path).and_then(|entry| opened(source, &entry, extent, labels).map(drop)).is_ok()
}

/// The array of the coordinates at `entry`, the request expressed in their datatype, and the number of coordinates.
fn opened<'e>(
    source: &dyn Source,
    entry: &'e Entry,
    extent: u64,
    labels: &Labels,
) -> Result<(Arc<dyn ArraySource>, Interval<'e>, u64)> {
    let Item::Array { kind, datatype: Some(datatype), shape, .. } = &entry.item else {
        return Err(Error::invalid("has no coordinates, expected positions"));
    };
    let are_names = are_names(entry);
    if shape.dims().len() != 1 && !are_names {
        let rank = shape.dims().len();
        return Err(Error::invalid(format!("its coordinates have {rank} dimensions, expected 1")));
    }
    if *kind != NodeKind::DimCoord && !are_names {
        return Err(Error::invalid(
            "has no coordinates, expected positions: the array of its name is along another dimension",
        ));
    }
    let mut array = source.array(&entry.handle)?;
    check_size(source, &*array)?;
    if are_names {
        let names = Names::shared(array);
        array = names.ok_or_else(|| Error::invalid("its coordinates have 2 dimensions, expected 1"))?;
    }
    let target = Interval::new(Kind::of(source, &entry.handle, datatype)?, labels)?;
    let extent = extent.min(array.extents().and_then(|extents| extents.first()).copied().unwrap_or(0));
    Ok((array, target, extent))
}

/// The form in which coordinates are compared.
enum Kind<'a> {
    Int,
    Named(&'a [(String, i128)]),
    Float(&'a Float),
    Text,
    /// Times counted by an integer.
    Time(Counting),
    /// Times counted by a floating-point number.
    FloatTime(Counting, &'a Float),
}

/// A coordinate, or a bound of the requested ones.
#[derive(Clone, Debug, PartialEq)]
enum Key<'a> {
    Int(i128),
    Float(f64),
    Text(Cow<'a, [u8]>),
}

/// The requested coordinates.
pub(super) struct Interval<'a> {
    kind: Kind<'a>,
    /// Integers are compared as floating-point numbers, since the request is a floating-point number.
    fractional: bool,
    from: Option<Key<'static>>,
    to: Option<Key<'static>>,
    /// The end of a period is the first instant after it.
    open: bool,
}

impl<'a> Kind<'a> {
    fn of(source: &dyn Source, coordinate: &Handle, datatype: &'a Datatype) -> Result<Kind<'a>> {
        let bare = datatype.non_null();
        let kind = match bare {
            Datatype::Int { .. } => Kind::Int,
            Datatype::Enum { members, .. } => return Ok(Kind::Named(members)),
            Datatype::Float(Float::Quad | Float::Other(_)) => return Err(incomparable(datatype)),
            Datatype::Float(float) => Kind::Float(float),
            Datatype::String(_) => return Ok(Kind::Text),
            Datatype::Datetime(unit) if unit.duration => Kind::Int,
            Datatype::Datetime(unit) => {
                return Ok(Kind::Time(Counting::of_type(unit).ok_or_else(|| incomparable(datatype))?));
            }
            _ => return Err(incomparable(datatype)),
        };
        let node = source.load(coordinate)?;
        let text = |name: &str| {
            let attribute = node.attributes()?.get(name)?.as_ref().ok()?;
            match Elements::new(&attribute.datatype, &attribute.value).next()?.get() {
                Element::Text(text) => Some(String::from_utf8_lossy(text).trim().to_owned()),
                _ => None,
            }
        };
        let calendar = text("calendar").filter(|calendar| !calendar.is_empty());
        let counting = text("units").and_then(|units| Counting::of_units(&units, calendar.as_deref()));
        Ok(match (counting.transpose()?, kind) {
            (None, kind) => kind,
            (Some(counting), Kind::Float(float)) => Kind::FloatTime(counting, float),
            (Some(counting), _) => Kind::Time(counting),
        })
    }
}

impl<'a> Interval<'a> {
    /// Whether the coordinates are times.
    fn is_time(&self) -> bool {
        matches!(self.kind, Kind::Time(_) | Kind::FloatTime(..))
    }

    /// The coordinates of this type, along the dimension at `coordinate`, that labels request.
    ///
    /// # Errors
    /// If they cannot be compared with the labels.
    pub(super) fn of(
        source: &dyn Source,
        coordinate: &Handle,
        datatype: &'a Datatype,
        labels: &Labels,
    ) -> Result<Interval<'a>> {
        Interval::new(Kind::of(source, coordinate, datatype)?, labels)
    }

    /// Whether a coordinate is before, in or after the requested range; a coordinate that equals nothing counts as
    /// before it.
    pub(super) fn place_of(&self, element: ElementRef<'_>) -> Ordering {
        self.key(element).map_or(Ordering::Less, |key| self.place(&key))
    }

    /// The first and the last of the requested strings.
    pub(super) fn texts(&self) -> [Option<&[u8]>; 2] {
        [&self.from, &self.to].map(|bound| match bound {
            Some(Key::Text(text)) => Some(&**text),
            _ => None,
        })
    }

    fn new(kind: Kind<'a>, labels: &Labels) -> Result<Interval<'a>> {
        let (from, to) = match labels {
            Labels::Between(first, last) => (first.as_deref(), last.as_deref()),
            Labels::Equal(word) => (Some(word.as_str()), Some(word.as_str())),
            Labels::Nearest(_) if matches!(kind, Kind::Text) => {
                return Err(Error::invalid(
                    "its coordinates are strings, expected numbers or times for the nearest",
                ));
            }
            Labels::Nearest(word) => (Some(word.as_str()), Some(word.as_str())),
        };
        let mut target = Interval { kind, fractional: false, from: None, to: None, open: false };
        if let Kind::Time(counting) | Kind::FloatTime(counting, _) = &target.kind {
            let from = from.map(|word| counting.period(word)).transpose()?.map(|(start, _)| start);
            let to = to.map(|word| counting.period(word)).transpose()?;
            target.open = to.is_some_and(|(start, end)| end > start);
            // Checked before the instants are rounded to counts, which may make them equal.
            if from.zip(to).is_some_and(|(from, (_, to))| from > to || target.open && from == to) {
                return Err(reversed(labels, "from the earlier to the later time"));
            }
            (target.from, target.to) =
                (from.map(|at| target.bound(at)), to.map(|(_, end)| target.bound(end)));
            return Ok(target);
        }
        target.fractional = matches!(target.kind, Kind::Int)
            && [from, to].iter().flatten().any(|word| word.parse::<i128>().is_err());
        target.from = from.map(|word| target.key_of_word(word)).transpose()?;
        target.to = to.map(|word| target.key_of_word(word)).transpose()?;
        let order = target.from.as_ref().zip(target.to.as_ref()).and_then(|(from, to)| from.order(to));
        match order {
            Some(Ordering::Greater) => Err(reversed(labels, "from the lower to the higher value")),
            _ => Ok(target),
        }
    }

    /// The coordinate of an instant.
    fn bound(&self, instant: Instant) -> Key<'static> {
        match &self.kind {
            Kind::FloatTime(counting, float) => Key::Float(rounded(counting.count(instant), float)),
            _ => Key::Int(instant),
        }
    }

    fn key_of_word(&self, word: &str) -> Result<Key<'static>> {
        let no_number =
            |_| Error::invalid(format!("{word:?} is not a number, but its coordinates are numbers"));
        Ok(match &self.kind {
            Kind::Int if !self.fractional => Key::Int(word.parse().unwrap_or_default()),
            Kind::Named(members) => {
                let named = members.iter().find(|(name, _)| name == word).map(|(_, code)| *code);
                Key::Int(named.or_else(|| word.parse().ok()).ok_or_else(|| {
                    let hint =
                        crate::location::did_you_mean(word, members.iter().map(|(name, _)| name.as_str()));
                    Error::invalid(format!("{word:?} is not one of the names in its coordinates"))
                        .with_remedies(hint)
                })?)
            }
            Kind::Text => Key::Text(Cow::Owned(word.as_bytes().to_vec())),
            // Parsed directly as a 32-bit number: rounding twice could miss.
            Kind::Float(Float::Single) => Key::Float(word.parse::<f32>().map_err(no_number)?.into()),
            Kind::Float(float) => Key::Float(rounded(word.parse().map_err(no_number)?, float)),
            _ => Key::Float(word.parse().map_err(no_number)?),
        })
    }

    /// A coordinate for comparison; `None` for NaN, nulls and missing times, which equal nothing.
    fn key<'e>(&self, element: ElementRef<'e>) -> Option<Key<'e>> {
        let datetime = matches!(element.datatype().non_null(), Datatype::Datetime(_));
        Some(match (element.get(), &self.kind) {
            (Element::Int(NOT_A_TIME), _) if datetime => return None,
            (Element::Text(text), Kind::Text) => Key::Text(Cow::Borrowed(text)),
            (Element::Float(value), _) if value.is_nan() => return None,
            (Element::Float(value), Kind::Float(_) | Kind::FloatTime(..)) => Key::Float(value),
            (Element::Int(count), Kind::Time(counting)) => Key::Int(counting.instant(count)),
            (Element::Int(value), Kind::Int) if self.fractional => Key::Float(value as f64),
            (Element::Int(value) | Element::Enum(value, _), Kind::Int | Kind::Named(_)) => Key::Int(value),
            _ => return None,
        })
    }

    /// Whether a coordinate is before, in or after the requested range.
    fn place(&self, key: &Key<'_>) -> Ordering {
        let reaches = |from| matches!(key.order(from), Some(Ordering::Equal | Ordering::Greater));
        if !self.from.as_ref().is_none_or(reaches) {
            return Ordering::Less;
        }
        match self.to.as_ref().map(|to| key.order(to)) {
            None | Some(Some(Ordering::Less)) => Ordering::Equal,
            Some(Some(Ordering::Equal)) if !self.open => Ordering::Equal,
            Some(_) => Ordering::Greater,
        }
    }

    /// The distance of a coordinate from the requested range.
    fn distance(&self, key: &Key<'_>) -> Option<Key<'static>> {
        let bound = if self.place(key) == Ordering::Less { &self.from } else { &self.to };
        Some(match (key, bound.as_ref()?) {
            (Key::Int(a), Key::Int(b)) => Key::Int(a.saturating_sub(*b).saturating_abs()),
            (Key::Float(a), Key::Float(b)) if !(a - b).is_nan() => Key::Float((a - b).abs()),
            _ => return None,
        })
    }

    /// The coordinate at a position as text.
    fn label(&self, array: &dyn ArraySource, at: u64) -> Result<String> {
        let values = block(array, at, 1)?;
        let Some(element) = Elements::new(array.datatype(), &values).next() else { return Ok(String::new()) };
        let instant = match (&self.kind, self.key(element)) {
            (Kind::Time(counting), Some(Key::Int(instant))) => Some((counting, instant)),
            (Kind::FloatTime(counting, _), Some(Key::Float(count))) => {
                counting.moment(count).map(|instant| (counting, instant))
            }
            _ => None,
        };
        let element = hyperslab_ndl::plain(element);
        Ok(match instant {
            // A datetime has its own precision.
            Some((counting, instant)) if !matches!(array.datatype().non_null(), Datatype::Datetime(_)) => {
                counting.text(instant)
            }
            _ => element,
        })
    }
}

impl Key<'_> {
    fn order(&self, other: &Key<'_>) -> Option<Ordering> {
        match (self, other) {
            (Key::Int(a), Key::Int(b)) => Some(a.cmp(b)),
            (Key::Float(a), Key::Float(b)) => a.partial_cmp(b),
            (Key::Text(a), Key::Text(b)) => Some(a.cmp(b)),
            _ => None,
        }
    }
}

/// The result of reading all coordinates.
#[derive(Default)]
struct Found {
    inside: Runs,
    /// The smallest distance from the request, and the first position with it.
    nearest: Option<(Key<'static>, u64)>,
}

/// Increasing positions: a first run at a constant distance, then the others one by one.
#[derive(Default)]
struct Runs {
    start: u64,
    count: u64,
    step: u64,
    rest: Vec<u64>,
}

impl Runs {
    fn push(&mut self, at: u64) {
        match self.count {
            0 => (self.start, self.count, self.step) = (at, 1, 1),
            1 => (self.count, self.step) = (2, at - self.start),
            count if self.rest.is_empty() && at == self.start + count * self.step => self.count += 1,
            _ => self.rest.push(at),
        }
    }

    fn first(&self) -> Option<u64> {
        (self.count > 0).then_some(self.start)
    }

    fn count(&self) -> u64 {
        self.count + self.rest.len() as u64
    }

    fn picks(self) -> Picks {
        let Runs { start, count, step, rest } = self;
        if rest.is_empty() {
            return Picks::Range { start, count, step: step.max(1) };
        }
        Picks::List((0..count).map(|k| start + k * step).chain(rest).collect())
    }
}

/// Reads all coordinates once, part by part. They need not be sorted.
fn scan(array: &dyn ArraySource, extent: u64, target: &Interval<'_>) -> Result<Found> {
    let mut found = Found::default();
    each(array, extent, &mut |at, element| {
        let Some(key) = target.key(element) else { return };
        if target.place(&key) == Ordering::Equal {
            found.inside.push(at);
        } else if let Some(distance) = target.distance(&key) {
            let nearer = found
                .nearest
                .as_ref()
                .is_none_or(|(nearest, _)| distance.order(nearest) == Some(Ordering::Less));
            if nearer {
                found.nearest = Some((distance, at));
            }
        }
    })?;
    Ok(found)
}

fn each(array: &dyn ArraySource, extent: u64, visit: &mut dyn FnMut(u64, ElementRef<'_>)) -> Result<()> {
    // Whole chunks, unless they are huge, since reading a part decodes the whole chunk.
    let chunk = array.chunk().first().map_or(1, |chunk| (*chunk).clamp(1, 64 * BLOCK));
    let max = BLOCK.next_multiple_of(chunk);
    let mut start = 0;
    while start < extent {
        let count = max.min(extent - start);
        let values = block(array, start, count)?;
        for (at, element) in (start..).zip(Elements::new(array.datatype(), &values)) {
            visit(at, element);
        }
        start += count;
    }
    Ok(())
}

fn block(array: &dyn ArraySource, start: u64, count: u64) -> Result<Values> {
    array.values(&Region::new(vec![start], vec![count]))
}

/// The string most similar to `word` among the first coordinates, and its position.
fn near_text(array: &dyn ArraySource, extent: u64, word: &str) -> Result<Option<(u64, String)>> {
    let mut texts = Vec::new();
    each(array, extent.min(MAX_TEXTS), &mut |_, element| {
        if let Element::Text(text) = element.get() {
            texts.push(String::from_utf8_lossy(text).into_owned());
        }
    })?;
    let near = crate::location::nearest(word, texts.iter().map(String::as_str));
    Ok((0_u64..).zip(&texts).find(|(_, text)| near == Some(text)).map(|(at, text)| (at, text.clone())))
}

/// The error that no coordinate is between the first and the last of a range.
fn reversed(labels: &Labels, order: &str) -> Error {
    let range = Pick::Labels(labels.clone());
    Error::invalid(format!("{range} is empty: ranges go {order}, regardless of the order of the coordinates"))
}

fn incomparable(datatype: &Datatype) -> Error {
    Error::unsupported(format!("coordinates of type {datatype} cannot be compared, expected positions"))
}

/// The value of a floating-point format that is nearest to a 64-bit one.
fn rounded(value: f64, float: &Float) -> f64 {
    let (digits, min_exponent) = match float {
        Float::Half => (11, -14),
        Float::BFloat => (8, -126),
        Float::Single => (24, -126),
        _ => return value,
    };
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let exponent = i32::try_from(value.to_bits() >> 52 & 0x7ff).unwrap_or(0) - 1023;
    let unit = 2_f64.powi(exponent.max(min_exponent) - (digits - 1));
    (value / unit).round_ties_even() * unit
}

/// The count that represents a missing time in NumPy and TileDB datetimes.
const NOT_A_TIME: i128 = i64::MIN as i128;

/// The minimum number of coordinates that are read at a time.
const BLOCK: u64 = 1 << 16;

/// The maximum number of strings that are searched for a similar one.
const MAX_TEXTS: u64 = 1 << 12;
