//! Numbers that are stored with reduced precision.
//!
//! Spec: CF 1.13, 8.1 Packed Data

use crate::number::single;
use hyperslab_model::{Attributes, Datatype, Element, Elements, Float};

/// How packed numbers are unpacked, according to the attributes `scale_factor` and `add_offset`.
#[derive(Clone, Debug, PartialEq)]
pub struct Packing {
    /// The factor for packed numbers; 1 without `scale_factor`. A negative factor reverses the order of numbers.
    pub scale: f64,
    /// The number that is added to the product, in the unit of the unpacked numbers; 0 without `add_offset`.
    pub offset: f64,
    /// The type of unpacked numbers: `Single` if it can hold every packed number and both attributes have this type,
    /// otherwise `Double`.
    pub unpacked: Float,
}

impl Packing {
    /// The packing of elements of this datatype; `None` without either attribute.
    pub fn of(attributes: &Attributes, datatype: &Datatype) -> Option<Packing> {
        let (scale, offset) = (number(attributes, "scale_factor"), number(attributes, "add_offset"));
        if scale.is_none() && offset.is_none() {
            return None;
        }
        let is_single = |name: &str| match attributes.get(name) {
            Some(Ok(attribute)) => *attribute.datatype.resolved() == Datatype::Float(Float::Single),
            _ => true,
        };
        let is_exact = match datatype.non_null() {
            Datatype::Int { bits, .. } => *bits <= 16,
            Datatype::Float(float) => matches!(float, Float::Half | Float::BFloat | Float::Single),
            _ => false,
        };
        let unpacked = match is_exact && is_single("scale_factor") && is_single("add_offset") {
            true => Float::Single,
            false => Float::Double,
        };
        Some(Packing { scale: scale.unwrap_or(1.0), offset: offset.unwrap_or(0.0), unpacked })
    }

    /// The number that a packed number represents, before it is rounded to the type of unpacked numbers.
    pub fn unpack(&self, packed: f64) -> f64 {
        packed * self.scale + self.offset
    }

    /// As [`unpack`](Packing::unpack), rounded to the type of unpacked numbers.
    pub fn unpack_rounded(&self, packed: f64) -> f64 {
        match self.unpacked {
            Float::Single => f64::from(single(self.unpack(packed))),
            _ => self.unpack(packed),
        }
    }
}

/// Appends a number as an element in memory: in single precision if `float` has that precision, otherwise in double.
pub fn push_float(float: &Float, number: f64, rows: &mut Vec<u8>) {
    match float {
        Float::Single => rows.extend(single(number).to_ne_bytes()),
        _ => rows.extend(number.to_ne_bytes()),
    }
}

/// The first number of an attribute.
fn number(attributes: &Attributes, name: &str) -> Option<f64> {
    let attribute = attributes.get(name)?.as_ref().ok()?;
    Elements::new(&attribute.datatype, &attribute.value).find_map(|element| match element.get() {
        Element::Int(value) => Some(value as f64),
        Element::Float(value) => Some(value),
        _ => None,
    })
}
