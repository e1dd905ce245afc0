//! The meaning of stored values by the attributes of their array: missing values, packing, times, flags.
//!
//! Spec: CF 1.11, 2.5.1 Missing data, 3.5 Flags, 4.4 Time Coordinate, 8.1 Packed Data

mod flags;

pub(crate) use flags::Flags;

use crate::select::Counting;
use crate::source::Source;
use hyperslab_model::{Attributes, Datatype, Element, Elements, Float, Node, Values};

/// The meaning of the stored values of an array.
#[derive(Debug)]
pub(crate) struct Meaning {
    /// The datatype of the stored elements; unsigned if the attribute `_Unsigned` is set.
    pub(crate) datatype: Datatype,
    pub(crate) missing: Missing,
    /// A packed value is multiplied by `scale`, then `offset` is added.
    pub(crate) scale: f64,
    pub(crate) offset: f64,
    /// The datatype of unpacked values; `None` if values are not packed.
    pub(crate) unpacked: Option<Datatype>,
    /// The unit and calendar, if the numbers are times.
    pub(crate) counting: Option<Counting>,
    /// The words for integers, if they are flags.
    pub(crate) flags: Option<Flags>,
}

/// The elements that mark missing values.
#[derive(Clone, Debug, Default)]
pub(crate) struct Missing {
    ints: Vec<i128>,
    floats: Vec<f64>,
    texts: Vec<Vec<u8>>,
    /// The valid range; values outside of it are missing too.
    valid: (Option<Bound>, Option<Bound>),
}

#[derive(Clone, Copy, Debug)]
enum Bound {
    Int(i128),
    Float(f64),
}

impl Meaning {
    /// The meaning of the values of the array `node`. `datatype` is that of its elements; for an array datatype, of the
    /// items. CF attributes other than those of missing values apply only with `decode`.
    pub(crate) fn of(source: &dyn Source, node: &Node, datatype: &Datatype, decode: bool) -> Meaning {
        let none = Attributes::new();
        let attributes = node.attributes().unwrap_or(&none);
        let datatype = datatype.resolved();
        let unsigned = decode && text(attributes, "_Unsigned").is_some_and(|text| text == "true");
        let read = match datatype {
            Datatype::Int { bits, signed: true } if unsigned => Datatype::int(*bits, false),
            other => other.clone(),
        };
        let mut meaning = Meaning {
            datatype: read,
            missing: Missing::default(),
            scale: 1.0,
            offset: 0.0,
            unpacked: None,
            counting: None,
            flags: None,
        };
        for name in ["_FillValue", "missing_value"] {
            for value in meaning.numbers(attributes, name) {
                meaning.missing.add(value, &meaning.datatype);
            }
            meaning.missing.texts.extend(texts(attributes, name));
        }
        if !attributes.contains_key("_FillValue") {
            meaning.add_implied(source, node, datatype);
        }
        if matches!(datatype, Datatype::Datetime(_)) {
            meaning.missing.ints.push(NOT_A_TIME);
        }
        if decode {
            meaning.decode(attributes);
        }
        meaning
    }

    /// Adds the value that readers of the format treat as missing if no attribute defines one.
    fn add_implied(&mut self, source: &dyn Source, node: &Node, datatype: &Datatype) {
        let Some(storage) = node.storage() else { return };
        if let Some(row) = (source.dialect().missing)(datatype, &storage.fill) {
            let values = Values { rows: row.into(), ..Values::default() };
            for value in self.elements(datatype, &values) {
                self.missing.add(value, &self.datatype);
            }
        }
    }

    fn decode(&mut self, attributes: &Attributes) {
        let of = |name: &str| self.numbers(attributes, name);
        let (range, low, high) = (of("valid_range"), of("valid_min"), of("valid_max"));
        let low = range.first().filter(|_| range.len() == 2).or(low.first()).copied();
        let high = range.get(1).filter(|_| range.len() == 2).or(high.first()).copied();
        self.missing.valid = (low, high);
        let is_single = |name: &str| match attributes.get(name) {
            Some(Ok(attribute)) => *attribute.datatype.resolved() == Datatype::Float(Float::Single),
            _ => true,
        };
        let (scale, offset) =
            (self.number(attributes, "scale_factor"), self.number(attributes, "add_offset"));
        if scale.is_some() || offset.is_some() {
            (self.scale, self.offset) = (scale.unwrap_or(1.0), offset.unwrap_or(0.0));
            let float = match is_single("scale_factor") && is_single("add_offset") {
                true => Float::Single,
                false => Float::Double,
            };
            self.unpacked = Some(Datatype::Float(float));
        }
        if matches!(self.datatype, Datatype::Int { .. } | Datatype::Float(_))
            && let Some(units) = text(attributes, "units")
        {
            let calendar = text(attributes, "calendar").filter(|calendar| !calendar.is_empty());
            // With units that have no fixed length, such as months, values remain numbers.
            self.counting = Counting::of_units(&units, calendar.as_deref()).and_then(Result::ok);
        }
        if let (Datatype::Int { .. }, Some(meanings)) = (&self.datatype, text(attributes, "flag_meanings")) {
            let ints = |name: &str| {
                self.numbers(attributes, name).iter().map(Bound::whole).collect::<Option<Vec<_>>>()
            };
            self.flags = Flags::new(&meanings, ints("flag_values"), ints("flag_masks"));
        }
    }

    /// The value that a packed one stands for.
    pub(crate) fn unpack(&self, value: f64) -> f64 {
        value * self.scale + self.offset
    }

    fn number(&self, attributes: &Attributes, name: &str) -> Option<f64> {
        self.numbers(attributes, name).first().map(|bound| match bound {
            Bound::Int(value) => *value as f64,
            Bound::Float(value) => *value,
        })
    }

    fn numbers(&self, attributes: &Attributes, name: &str) -> Vec<Bound> {
        match attributes.get(name) {
            Some(Ok(attribute)) => self.elements(&attribute.datatype, &attribute.value),
            _ => Vec::new(),
        }
    }

    /// The numbers in `values`, converted to the signedness of the stored elements.
    fn elements(&self, datatype: &Datatype, values: &Values) -> Vec<Bound> {
        let wrapped = match (datatype.resolved(), &self.datatype) {
            (Datatype::Int { bits, signed: true }, Datatype::Int { bits: own, signed: false })
                if bits == own =>
            {
                1_i128.checked_shl((*bits).into()).unwrap_or(0)
            }
            _ => 0,
        };
        let number = |element: Element<'_>| match element {
            Element::Int(value) if value < 0 => Some(Bound::Int(value.saturating_add(wrapped))),
            Element::Int(value) | Element::Enum(value, _) => Some(Bound::Int(value)),
            Element::Float(value) => Some(Bound::Float(value)),
            _ => None,
        };
        Elements::new(datatype, values).filter_map(|element| number(element.get())).collect()
    }
}

impl Bound {
    fn whole(&self) -> Option<i128> {
        match self {
            Bound::Int(value) => Some(*value),
            Bound::Float(value) => whole(*value),
        }
    }
}

impl Missing {
    /// Whether no element can be missing.
    pub(crate) fn is_none(&self) -> bool {
        self.ints.is_empty()
            && self.floats.is_empty()
            && self.texts.is_empty()
            && matches!(self.valid, (None, None))
    }

    fn add(&mut self, value: Bound, datatype: &Datatype) {
        match value {
            Bound::Int(value) => {
                self.ints.push(value);
                self.add_float(value as f64);
            }
            Bound::Float(value) => {
                self.ints.extend(whole(value));
                // A missing value of -999.9 in an attribute of 64 bits means the 32-bit number nearest to it.
                self.add_float(match datatype {
                    Datatype::Float(Float::Single) => f64::from(single(value)),
                    _ => value,
                });
            }
        }
        self.ints.sort_unstable();
        self.ints.dedup();
    }

    pub(crate) fn add_float(&mut self, value: f64) {
        if !value.is_nan() && !self.floats.contains(&value) {
            self.floats.push(value);
        }
    }

    pub(crate) fn ints(&self) -> &[i128] {
        &self.ints
    }

    pub(crate) fn floats(&self) -> &[f64] {
        &self.floats
    }

    /// The minimum and maximum valid integer.
    pub(crate) fn int_range(&self) -> (i128, i128) {
        let low = match self.valid.0 {
            Some(Bound::Int(low)) => low,
            Some(Bound::Float(low)) => whole(low.ceil()).unwrap_or(i128::MIN),
            None => i128::MIN,
        };
        let high = match self.valid.1 {
            Some(Bound::Int(high)) => high,
            Some(Bound::Float(high)) => whole(high.floor()).unwrap_or(i128::MAX),
            None => i128::MAX,
        };
        (low, high)
    }

    /// The minimum and maximum valid number.
    pub(crate) fn float_range(&self) -> (f64, f64) {
        let number = |bound: Option<Bound>, open: f64| match bound {
            Some(Bound::Int(value)) => value as f64,
            Some(Bound::Float(value)) if !value.is_nan() => value,
            _ => open,
        };
        (number(self.valid.0, f64::NEG_INFINITY), number(self.valid.1, f64::INFINITY))
    }

    pub(crate) fn is_missing(&self, element: &Element<'_>) -> bool {
        let (low, high) = self.int_range();
        match element {
            Element::Null => true,
            Element::Int(value) => self.ints.contains(value) || !(low..=high).contains(value),
            Element::Enum(value, _) => self.ints.contains(value),
            Element::Float(value) => {
                let (low, high) = self.float_range();
                !(low..=high).contains(value) || self.floats.contains(value)
            }
            Element::Text(text) => self.texts.iter().any(|missing| missing == text),
            _ => false,
        }
    }
}

/// The text of an attribute of an object, without spaces around it.
pub(crate) fn text_of(node: &Node, name: &str) -> Option<String> {
    text(node.attributes()?, name)
}

/// The first text of an attribute.
pub(crate) fn text(attributes: &Attributes, name: &str) -> Option<String> {
    texts(attributes, name).first().map(|text| String::from_utf8_lossy(text).trim().to_owned())
}

fn texts(attributes: &Attributes, name: &str) -> Vec<Vec<u8>> {
    let Some(Ok(attribute)) = attributes.get(name) else { return Vec::new() };
    let text = |element: Element<'_>| match element {
        Element::Text(text) => Some(text.to_vec()),
        _ => None,
    };
    Elements::new(&attribute.datatype, &attribute.value).filter_map(|element| text(element.get())).collect()
}

#[expect(clippy::cast_possible_truncation, reason = "has no fraction and is in range")]
fn whole(value: f64) -> Option<i128> {
    (value.fract() == 0.0 && value.abs() < 1e38).then_some(value as i128)
}

#[expect(clippy::cast_possible_truncation, reason = "rounding is intended")]
pub(crate) fn single(value: f64) -> f32 {
    value as f32
}

/// The count that means a missing time in NumPy and TileDB.
const NOT_A_TIME: i128 = i64::MIN as i128;
