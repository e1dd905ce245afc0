//! The Rust number types for reading elements.

use hyperslab_model::{Datatype, Element, Float};

/// A Rust type for elements, read without conversion ([`Array::read`](super::Array::read)) or converted
/// ([`Array::cast`](super::Array::cast)): integers of 8 to 64 bits, `f32` and `f64`.
pub trait Number: bytemuck::Pod + sealed::Sealed {
    /// The datatype of elements that are read without conversion.
    fn datatype() -> Datatype;

    /// Converts an element; `None` if it is out of range.
    fn cast(element: Element<'_>) -> Option<Self>;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! integers {
    ($($type:ty: $bits:literal $signed:literal)*) => {$(
        impl sealed::Sealed for $type {}

        impl Number for $type {
            fn datatype() -> Datatype {
                Datatype::int($bits, $signed)
            }

            fn cast(element: Element<'_>) -> Option<$type> {
                match element {
                    Element::Int(value) | Element::Enum(value, _) => value.try_into().ok(),
                    Element::Bool(value) => Some(value.into()),
                    Element::Float(value) => whole(value)?.try_into().ok(),
                    _ => None,
                }
            }
        }
    )*};
}

integers! { i8: 8 true u8: 8 false i16: 16 true u16: 16 false i32: 32 true u32: 32 false i64: 64 true u64: 64 false }

macro_rules! floats {
    ($($type:ty: $float:ident)*) => {$(
        impl sealed::Sealed for $type {}

        impl Number for $type {
            fn datatype() -> Datatype {
                Datatype::Float(Float::$float)
            }

            fn cast(element: Element<'_>) -> Option<$type> {
                match element {
                    Element::Int(value) | Element::Enum(value, _) => Some(value as $type),
                    Element::Bool(value) => Some(value.into()),
                    #[allow(clippy::cast_possible_truncation, reason = "rounds to the nearest")]
                    Element::Float(value) => Some(value as $type),
                    Element::Null => Some(<$type>::NAN),
                    _ => None,
                }
            }
        }
    )*};
}

floats! { f32: Single f64: Double }

/// A number without a fractional part as an integer.
#[expect(clippy::cast_possible_truncation, reason = "has no fraction, and lies within the bounds")]
fn whole(value: f64) -> Option<i128> {
    (value.fract() == 0.0 && value.abs() < 2_f64.powi(100)).then_some(value as i128)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_cast_to_what_holds_them_and_to_nothing_else() {
        assert_eq!(u8::cast(Element::Int(255)), Some(255));
        assert_eq!(u8::cast(Element::Int(256)), None);
        assert_eq!(u8::cast(Element::Float(3.0)), Some(3));
        assert_eq!(u8::cast(Element::Float(3.5)), None);
        assert_eq!(i64::cast(Element::Float(f64::NAN)), None);
        assert_eq!(f32::cast(Element::Float(0.1)), Some(0.1));
        assert_eq!(f64::cast(Element::Bool(true)), Some(1.0));
        assert!(f32::cast(Element::Null).is_some_and(f32::is_nan));
        assert_eq!(i32::cast(Element::Text(b"1")), None);
    }
}
