//! The attributes of numbers after unpacking.
//!
//! Spec: CF 1.13, 2.5.1 Missing data, valid and actual range of data, 8.1 Packed Data

use super::{Meaning, Packing, push_float};
use crate::number::Number;
use hyperslab_model::{Attribute, Attributes, Datatype, Values};
use std::sync::Arc;

impl Meaning {
    /// The attributes of the unpacked numbers, with missing values converted to NaN. `None` if the numbers are not
    /// packed.
    ///
    /// Attributes that describe the packing are left out. `_FillValue` is NaN if numbers can be missing. A valid range
    /// of packed integers is unpacked like them; a range of floating-point numbers already applies to the unpacked
    /// numbers.
    pub fn unpacked_attributes(&self, attributes: &Attributes) -> Option<Attributes> {
        let packing = self.packing.as_ref()?;
        let mut unpacked = attributes.clone();
        for name in ["scale_factor", "add_offset", "_Unsigned", "missing_value"] {
            unpacked.shift_remove(name);
        }
        match self.missing.is_marked() {
            true => _ = unpacked.insert("_FillValue".to_owned(), Ok(packing.attribute(vec![], [f64::NAN]))),
            false => _ = unpacked.shift_remove("_FillValue"),
        }
        // With a negative factor, the smallest packed number is the largest unpacked one.
        let is_turned = packing.scale < 0.0;
        let of = |name: &str| attributes.get(name).and_then(|own| self.bounds(own.as_ref().ok()?));
        let ends = match is_turned {
            true => [("valid_min", of("valid_max")), ("valid_max", of("valid_min"))],
            false => [("valid_min", of("valid_min")), ("valid_max", of("valid_max"))],
        };
        let mut range = of("valid_range");
        if let Some(range) = range.as_mut().filter(|_| is_turned) {
            range.reverse();
        }
        for (name, bounds) in ends.into_iter().chain([("valid_range", range)]) {
            if let Some(bounds) = bounds {
                let shape = if name == "valid_range" { vec![bounds.len() as u64] } else { vec![] };
                unpacked.insert(name.to_owned(), Ok(packing.attribute(shape, bounds)));
            } else if is_turned && self.is_of_packed(attributes.get(name)) {
                // Its number has become the other bound.
                unpacked.shift_remove(name);
            }
        }
        Some(unpacked)
    }

    /// The unpacked numbers of an attribute that applies to packed numbers.
    fn bounds(&self, attribute: &Attribute) -> Option<Vec<f64>> {
        let packing = self.packing.as_ref()?;
        let numbers = self.elements(&attribute.datatype, &attribute.value);
        let unpacked = |number: &Number| match number {
            Number::Int(packed) => Some(packing.unpack_rounded(*packed as f64)),
            Number::Float(_) => None,
        };
        let is_packed = matches!(self.datatype.non_null(), Datatype::Int { .. }) && !numbers.is_empty();
        numbers.iter().map(unpacked).collect::<Option<_>>().filter(|_| is_packed)
    }

    fn is_of_packed<E>(&self, attribute: Option<&Result<Attribute, E>>) -> bool {
        attribute.and_then(|of| self.bounds(of.as_ref().ok()?)).is_some()
    }
}

impl Packing {
    /// An attribute that applies to unpacked numbers.
    fn attribute(&self, shape: Vec<u64>, numbers: impl IntoIterator<Item = f64>) -> Attribute {
        let mut rows = Vec::new();
        for number in numbers {
            push_float(&self.unpacked, number, &mut rows);
        }
        let value = Values { rows: rows.into(), ..Values::default() };
        Attribute::new(shape, Arc::new(Datatype::Float(self.unpacked.clone())), value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyperslab_model::{Element, Elements, Float};

    fn int(numbers: &[i16]) -> Attribute {
        let rows: Vec<u8> = numbers.iter().flat_map(|number| number.to_ne_bytes()).collect();
        let shape = if numbers.len() == 1 { vec![] } else { vec![numbers.len() as u64] };
        let value = Values { rows: rows.into(), ..Values::default() };
        Attribute::new(shape, Arc::new(Datatype::int(16, true)), value)
    }

    fn double(number: f64) -> Attribute {
        let value = Values { rows: number.to_ne_bytes().to_vec().into(), ..Values::default() };
        Attribute::new(vec![], Arc::new(Datatype::Float(Float::Double)), value)
    }

    fn unpacked(given: &[(&str, Attribute)]) -> Vec<(String, Vec<f64>)> {
        let attributes: Attributes =
            given.iter().map(|(name, attribute)| ((*name).to_owned(), Ok(attribute.clone()))).collect();
        let unpacked = Meaning::of(&attributes, &Datatype::int(16, true)).unpacked_attributes(&attributes);
        let numbers = |attribute: &Attribute| {
            let number = |element: Element<'_>| Number::of(&element).unwrap().as_f64();
            Elements::new(&attribute.datatype, &attribute.value)
                .map(|element| number(element.get()))
                .collect()
        };
        unpacked.unwrap().iter().map(|(name, of)| (name.clone(), numbers(of.as_ref().unwrap()))).collect()
    }

    #[test]
    fn attributes_of_packing_are_left_out_and_ranges_of_packed_numbers_are_unpacked() {
        let scale = ("scale_factor", double(0.5));
        let given = [scale.clone(), ("valid_range", int(&[-4, 6])), ("valid_min", double(-1.0))];
        let expected = [("valid_range".to_owned(), vec![-2.0, 3.0]), ("valid_min".to_owned(), vec![-1.0])];
        assert_eq!(unpacked(&given), expected);
        let offset = ("add_offset", double(1.0));
        assert_eq!(
            unpacked(&[scale, offset, ("valid_max", int(&[8]))]),
            [("valid_max".to_owned(), vec![5.0])]
        );
    }

    #[test]
    fn a_negative_factor_exchanges_the_ends_of_a_range() {
        let scale = ("scale_factor", double(-1.0));
        let both = [scale.clone(), ("valid_min", int(&[1])), ("valid_max", int(&[9]))];
        let expected = [("valid_min".to_owned(), vec![-9.0]), ("valid_max".to_owned(), vec![-1.0])];
        assert_eq!(unpacked(&both), expected);
        assert_eq!(
            unpacked(&[scale.clone(), ("valid_min", int(&[1]))]),
            [("valid_max".to_owned(), vec![-1.0])]
        );
        assert_eq!(
            unpacked(&[scale, ("valid_range", int(&[1, 9]))]),
            [("valid_range".to_owned(), vec![-9.0, -1.0])]
        );
    }

    #[test]
    fn missing_numbers_have_one_mark() {
        let scale = ("scale_factor", double(1.0));
        let given = [("_FillValue", int(&[-1])), scale.clone(), ("missing_value", int(&[-2]))];
        let [(name, value)] = &*unpacked(&given) else { unreachable!() };
        assert_eq!(name, "_FillValue");
        assert!(value[0].is_nan());
        assert_eq!(unpacked(&[scale]), []);
    }

    #[test]
    fn numbers_that_are_not_packed_keep_their_attributes() {
        let attributes: Attributes = [("_FillValue".to_owned(), Ok(int(&[-1])))].into_iter().collect();
        let meaning = Meaning::of(&attributes, &Datatype::int(16, true));
        assert!(meaning.unpacked_attributes(&attributes).is_none());
    }
}
