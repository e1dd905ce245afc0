//! Numbers of attributes and variables, in the precision in which they are stored.

use hyperslab_model::Element;
use std::fmt;

/// A number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// An integer.
    Int(i128),
    /// A floating-point number.
    Float(f64),
}

impl Number {
    /// The number that an element represents; `None` if it is not a number.
    pub fn of(element: &Element<'_>) -> Option<Number> {
        match element {
            Element::Int(value) | Element::Enum(value, _) => Some(Number::Int(*value)),
            Element::Bool(value) => Some(Number::Int(i128::from(*value))),
            Element::Float(value) => Some(Number::Float(*value)),
            _ => None,
        }
    }

    /// As a floating-point number.
    pub fn as_f64(self) -> f64 {
        match self {
            Number::Int(value) => value as f64,
            Number::Float(value) => value,
        }
    }

    /// As an integer; `None` if it has a fraction.
    #[expect(clippy::cast_possible_truncation, reason = "has no fraction and is in range")]
    pub fn as_int(self) -> Option<i128> {
        match self {
            Number::Int(value) => Some(value),
            Number::Float(value) => (value.fract() == 0.0 && value.abs() < 1e38).then_some(value as i128),
        }
    }
}

/// How stored numbers are interpreted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reading {
    /// The number that is added to negative integers.
    turn: i128,
}

impl Reading {
    /// Numbers are taken as stored.
    pub(crate) const STORED: Reading = Reading { turn: 0 };

    /// Integers of this many bits are interpreted as unsigned.
    pub(crate) fn unsigned(bits: u16) -> Reading {
        Reading { turn: 1_i128.checked_shl(u32::from(bits)).unwrap_or(0) }
    }

    /// Whether integers are interpreted as unsigned.
    pub(crate) fn is_unsigned(self) -> bool {
        self.turn != 0
    }

    /// Interprets a number.
    pub(crate) fn read(self, number: Number) -> Number {
        match number {
            Number::Int(value) if value < 0 => Number::Int(value.saturating_add(self.turn)),
            _ => number,
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Int(value) => value.fmt(f),
            Number::Float(value) => value.fmt(f),
        }
    }
}

/// The 32-bit number nearest to a 64-bit one.
#[expect(clippy::cast_possible_truncation, reason = "rounding is intended")]
pub fn single(value: f64) -> f32 {
    value as f32
}
