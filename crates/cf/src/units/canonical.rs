//! The canonical form of a unit: in base units, and parsed back as the same unit.
//!
//! Scale first, then the product of base units, then the offset: `0.01 m.s-1`, `0.1 lg(re 0.001 m2.kg.s-3)`,
//! `0.5555555555555556 K @ 459.67`, `86400 s since 1970-01-01 00:00:00`.

use super::{Form, LogarithmBase, Unit};
use std::fmt;

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_number = matches!(self.form, Form::Product(dimension) if dimension.powers().next().is_none());
        if self.scale != 1.0 {
            write_scale(self.scale, f)?;
            f.write_str(if is_number { "" } else { " " })?;
        }
        match &self.form {
            Form::Product(_) if is_number && self.scale != 1.0 => (),
            Form::Product(dimension) => write!(f, "{dimension}")?,
            Form::Logarithm { base, reference } => write!(f, "{}(re {})", base.symbol(), Factor(reference))?,
            Form::Since { unit, reference } if self.is_galilean() => {
                write!(f, "({} since {reference})", Factor(unit))?;
            }
            Form::Since { unit, reference } => write!(f, "{} since {reference}", Factor(unit))?,
        }
        match self.offset {
            0.0 => Ok(()),
            // Always with a point or exponent: plain digits after a unit of time would be a year.
            offset => write!(f, " @ {offset:?}"),
        }
    }
}

/// A unit where only a product is allowed: a shifted unit is put in parentheses.
struct Factor<'a>(&'a Unit);

impl fmt::Display for Factor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.offset != 0.0 || self.0.is_reference_time() {
            true => write!(f, "({})", self.0),
            false => write!(f, "{}", self.0),
        }
    }
}

/// Writes whole numbers without a point, as long as all their digits are significant.
fn write_scale(scale: f64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match scale.fract() == 0.0 && scale.abs() < 1e15 {
        true => write!(f, "{scale}"),
        false => write!(f, "{scale:?}"),
    }
}

impl LogarithmBase {
    /// `lb`, `ln` or `lg`.
    pub fn symbol(self) -> &'static str {
        match self {
            LogarithmBase::Binary => "lb",
            LogarithmBase::Natural => "ln",
            LogarithmBase::Decimal => "lg",
        }
    }
}
