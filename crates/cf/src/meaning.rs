//! The meaning of stored values according to the attributes of their variable: missing values, packing, times, flags.
//!
//! ```
//! use hyperslab_cf::meaning::Meaning;
//! use hyperslab_model::{Attributes, Datatype, Element, Float};
//!
//! let mut attributes = Attributes::new();
//! # use hyperslab_model::{Attribute, ElementStorage, Values};
//! # use std::sync::Arc;
//! # for (name, number) in [("scale_factor", 0.01), ("add_offset", 273.15), ("_FillValue", -999.0_f64)] {
//! #     let value = Values { rows: number.to_ne_bytes().to_vec().into(), ..Values::default() };
//! #     let datatype = Arc::new(Datatype::Float(Float::Double));
//! #     attributes.insert(name.into(), Ok(Attribute { shape: Some(vec![]), datatype, value,
//! #         storage: ElementStorage::default(), native: vec![] }));
//! # }
//! // scale_factor = 0.01, add_offset = 273.15, _FillValue = -999
//! let meaning = Meaning::of(&attributes, &Datatype::int(16, true));
//! assert!(meaning.missing.is_missing(&Element::Int(-999)));
//! let packing = meaning.packing.expect("packed numbers");
//! assert_eq!(packing.unpack(100.0), 274.15);
//! assert_eq!(packing.unpacked, Float::Double);
//! ```
//!
//! Spec: CF 1.13, 2.5.1 Missing data, 3.5 Flags, 4.4 Time Coordinate, 8.1 Packed Data; NUG, Attribute Conventions

mod flags;
mod missing;
mod packing;
mod unpacked;

pub use crate::number::single;
pub use flags::Flags;
pub use missing::Missing;
pub use packing::{Packing, push_float};

use crate::number::Number;
use crate::time::Counting;
use hyperslab_model::{Attributes, Datatype, Element, Elements, Values};

/// The meaning of the stored values of a variable.
#[derive(Clone, Debug)]
pub struct Meaning {
    /// The datatype of the stored elements; unsigned if the attribute `_Unsigned` says so.
    pub datatype: Datatype,
    /// The elements that mark missing values.
    pub missing: Missing,
    /// How numbers are unpacked; `None` if they are not packed.
    pub packing: Option<Packing>,
    /// The unit, epoch and calendar, if the numbers are times.
    pub counting: Option<Counting>,
    /// The words for integers, if they are flags.
    pub flags: Option<Flags>,
    /// Whether `_Unsigned` changes the signedness of the stored elements.
    is_reread: bool,
}

impl Meaning {
    /// The meaning of elements of this datatype; for an array datatype, of the items. Attributes that cannot be read,
    /// or do not fit the datatype, are ignored.
    pub fn of(attributes: &Attributes, datatype: &Datatype) -> Meaning {
        let unsigned = text(attributes, "_Unsigned");
        let read = match (datatype.resolved(), unsigned.as_deref()) {
            (Datatype::Int { bits, signed: true }, Some("true")) => Datatype::int(*bits, false),
            // OPeNDAP has no signed bytes.
            (Datatype::Int { bits, signed: false }, Some("false")) => Datatype::int(*bits, true),
            (other, _) => other.clone(),
        };
        let mut meaning = Meaning::marked(attributes, datatype, read);
        meaning.decode(attributes);
        meaning
    }

    /// The meaning of elements exactly as stored: only missing values are interpreted, by `_FillValue` and
    /// `missing_value`.
    pub fn as_stored(attributes: &Attributes, datatype: &Datatype) -> Meaning {
        Meaning::marked(attributes, datatype, datatype.resolved().clone())
    }

    /// Elements of `datatype` that are interpreted as `read`, with the marks of missing values.
    fn marked(attributes: &Attributes, datatype: &Datatype, read: Datatype) -> Meaning {
        let missing = Missing::default();
        let is_reread = read != *datatype.resolved();
        let mut meaning =
            Meaning { datatype: read, missing, packing: None, counting: None, flags: None, is_reread };
        for name in ["_FillValue", "missing_value"] {
            for value in meaning.numbers(attributes, name) {
                meaning.missing.add(value, &meaning.datatype);
            }
            texts(attributes, name).into_iter().for_each(|text| meaning.missing.add_text(text));
        }
        if matches!(datatype.resolved(), Datatype::Datetime(_)) {
            meaning.missing.add(Number::Int(NOT_A_TIME), datatype);
        }
        meaning
    }

    /// Adds the elements `values` of `datatype` to the missing ones, such as the default fill value of a format.
    pub fn add_missing(&mut self, datatype: &Datatype, values: &Values) {
        for value in self.elements(datatype, values) {
            self.missing.add(value, &self.datatype);
        }
    }

    fn decode(&mut self, attributes: &Attributes) {
        let of = |name: &str| self.numbers(attributes, name);
        let (range, low, high) = (of("valid_range"), of("valid_min"), of("valid_max"));
        let low = range.first().filter(|_| range.len() == 2).or(low.first()).copied();
        let high = range.get(1).filter(|_| range.len() == 2).or(high.first()).copied();
        self.missing.valid = (low, high);
        self.packing = Packing::of(attributes, &self.datatype);
        if matches!(self.datatype.non_null(), Datatype::Int { .. } | Datatype::Float(_))
            && let Some(units) = text(attributes, "units")
        {
            let calendar = text(attributes, "calendar").filter(|calendar| !calendar.is_empty());
            // If units have no fixed length, such as months, values remain numbers.
            self.counting = Counting::of_units(&units, calendar.as_deref()).and_then(Result::ok);
        }
        if let (Datatype::Int { .. }, Some(meanings)) =
            (self.datatype.non_null(), text(attributes, "flag_meanings"))
        {
            let ints = |name: &str| {
                self.numbers(attributes, name)
                    .iter()
                    .map(|number| number.as_int())
                    .collect::<Option<Vec<_>>>()
            };
            self.flags = Flags::new(&meanings, ints("flag_values"), ints("flag_masks"));
        }
    }

    fn numbers(&self, attributes: &Attributes, name: &str) -> Vec<Number> {
        match attributes.get(name) {
            Some(Ok(attribute)) => self.elements(&attribute.datatype, &attribute.value),
            _ => Vec::new(),
        }
    }

    /// The numbers in `values`, converted to the signedness of the stored elements. Numbers of another length, such as
    /// those of JSON, are also converted if `_Unsigned` changes how elements are interpreted.
    fn elements(&self, datatype: &Datatype, values: &Values) -> Vec<Number> {
        let (wrapped, signed) = match (datatype.resolved(), &self.datatype) {
            (Datatype::Int { bits, signed: of }, Datatype::Int { bits: own, signed })
                if (self.is_reread && bits != own) || (bits == own && of != signed) =>
            {
                (1_i128.checked_shl((*own).into()).unwrap_or(0), *signed)
            }
            _ => (0, false),
        };
        let number = |element: Element<'_>| match element {
            Element::Int(value) if value < 0 => Some(Number::Int(value.saturating_add(wrapped))),
            Element::Int(value) if signed && (wrapped / 2..wrapped).contains(&value) => {
                Some(Number::Int(value.saturating_sub(wrapped)))
            }
            Element::Int(value) | Element::Enum(value, _) => Some(Number::Int(value)),
            Element::Float(value) => Some(Number::Float(value)),
            _ => None,
        };
        Elements::new(datatype, values).filter_map(|element| number(element.get())).collect()
    }
}

/// The first string of an attribute, without surrounding spaces; `None` if it has none.
pub fn text(attributes: &Attributes, name: &str) -> Option<String> {
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

/// The count that means a missing time in NumPy and TileDB.
const NOT_A_TIME: i128 = i64::MIN as i128;

#[cfg(test)]
mod tests {
    use super::*;
    use hyperslab_model::{Attribute, ElementStorage};
    use std::sync::Arc;

    fn attributes(numbers: &[(&str, Datatype, Vec<u8>)], texts: &[(&str, &str)]) -> Attributes {
        let mut attributes = Attributes::new();
        let mut add = |name: &str, datatype: Datatype, value: Values| {
            let (storage, native) = (ElementStorage::default(), Vec::new());
            let attribute =
                Attribute { shape: Some(vec![]), datatype: Arc::new(datatype), value, storage, native };
            attributes.insert(name.to_owned(), Ok(attribute));
        };
        for (name, datatype, row) in numbers {
            add(name, datatype.clone(), Values { rows: row.clone().into(), ..Values::default() });
        }
        for (name, text) in texts {
            let len = u32::try_from(text.len()).unwrap();
            let datatype =
                Datatype::String(hyperslab_model::Text::Fixed { len, pad: hyperslab_model::Pad::Nul });
            add(name, datatype, Values { rows: text.as_bytes().to_vec().into(), ..Values::default() });
        }
        attributes
    }

    #[test]
    fn unsigned_numbers_have_fill_values_of_any_length() {
        for (bits, row) in [(8, (-1_i8).to_ne_bytes().to_vec()), (64, (-1_i64).to_ne_bytes().to_vec())] {
            let attributes =
                attributes(&[("_FillValue", Datatype::int(bits, true), row)], &[("_Unsigned", "true")]);
            let meaning = Meaning::of(&attributes, &Datatype::int(8, true));
            assert_eq!(meaning.datatype, Datatype::int(8, false));
            assert!(meaning.missing.is_missing(&Element::Int(255)), "{bits}");
            assert!(!meaning.missing.is_missing(&Element::Int(127)), "{bits}");
        }
        // Without the attribute, -1 is not an unsigned number.
        let fill = ("_FillValue", Datatype::int(64, true), (-1_i64).to_ne_bytes().to_vec());
        let meaning = Meaning::of(&attributes(&[fill], &[]), &Datatype::int(8, false));
        assert!(!meaning.missing.is_missing(&Element::Int(255)));
    }

    #[test]
    fn nullable_numbers_are_times_and_flags_too() {
        let nullable = Datatype::Nullable(Box::new(Datatype::int(16, true)));
        let meaning = Meaning::of(&attributes(&[], &[("units", "hours since 2000-01-01")]), &nullable);
        assert!(meaning.counting.is_some());
        let value = ("flag_values", Datatype::int(16, true), 3_i16.to_ne_bytes().to_vec());
        let meaning = Meaning::of(&attributes(&[value], &[("flag_meanings", "cloud")]), &nullable);
        assert_eq!(meaning.flags.map(|flags| flags.words(3)).as_deref(), Some("cloud"));
    }
}
