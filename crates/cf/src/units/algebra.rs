//! Products, powers, scales and offsets of units.
//!
//! An offset is lost in products and powers: `degC/m` is `K/m`. The origin of a time is lost likewise.
//!
//! Spec: UDUNITS-2.2.28, `lib/unitcore.c`

use super::{Dimension, Form, LogarithmBase, ReferenceTime, Unit};

/// The reason why units cannot be combined. Each states what was expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Meaningless(pub(super) &'static str);

const ZERO: Meaningless = Meaningless("a number other than 0");
const BEYOND: Meaningless = Meaningless("a scale and an offset that are normal 64-bit numbers");
const EXPONENT: Meaningless = Meaningless("an exponent from -255 to 255");
const POWERS: Meaningless = Meaningless("powers of base units within 16 bits");
const LOGARITHM_FACTOR: Meaningless = Meaningless("only factors without dimension beside a logarithmic unit");
const LOGARITHM_POWER: Meaningless = Meaningless("no power of a logarithmic unit");
const TIME: Meaningless = Meaningless("a unit of time before a date");

impl Unit {
    /// A product of powers of base units.
    pub(super) fn product(dimension: Dimension) -> Unit {
        Unit { form: Form::Product(dimension), scale: 1.0, offset: 0.0, unread: None }
    }

    /// As `ut_scale`.
    pub(super) fn scaled(self, factor: f64) -> Result<Unit, Meaningless> {
        match factor {
            0.0 => Err(ZERO),
            1.0 => Ok(self),
            _ => self.galilean(factor, 0.0),
        }
    }

    /// As `ut_offset`.
    pub(super) fn shifted(self, offset: f64) -> Result<Unit, Meaningless> {
        if offset == 0.0 { Ok(self) } else { self.galilean(1.0, offset) }
    }

    /// As `ut_offset_by_time`, which also accepts hertz as a time, because it can be converted to seconds.
    pub(super) fn since(self, reference: ReferenceTime) -> Result<Unit, Meaningless> {
        if !self.can_convert_to(&Unit::product(Dimension::TIME)) {
            return Err(TIME);
        }
        let form = Form::Since { unit: Box::new(self), reference };
        Ok(Unit { form, scale: 1.0, offset: 0.0, unread: None })
    }

    /// As `ut_log`.
    pub(super) fn logarithm(self, base: LogarithmBase) -> Unit {
        let form = Form::Logarithm { base, reference: Box::new(self) };
        Unit { form, scale: 1.0, offset: 0.0, unread: None }
    }

    /// As `ut_multiply`.
    pub(super) fn multiply(self, other: Unit) -> Result<Unit, Meaningless> {
        match (self.is_galilean(), other.is_galilean()) {
            (false, false) => self.form.multiply(other.form),
            // These use the scale of the other unit as a whole, not that of its form.
            (false, true) if !matches!(self.form, Form::Product(_)) => self.form.multiply_galilean(other),
            (true, false) if !matches!(other.form, Form::Product(_)) => other.form.multiply_galilean(self),
            _ => {
                let scale = self.scale * other.scale;
                self.form.multiply(other.form)?.galilean(scale, 0.0)
            }
        }
    }

    /// As `ut_divide`.
    pub(super) fn divide(self, other: Unit) -> Result<Unit, Meaningless> {
        self.multiply(other.inner_raise(-1)?)
    }

    /// As `ut_raise`.
    pub(super) fn raise(self, exponent: i64) -> Result<Unit, Meaningless> {
        // UDUNITS stores the exponent as an `int`, so that of `m4294967298` is 2.
        let exponent = wrapped(exponent);
        match i16::try_from(exponent) {
            Ok(0) => Ok(Unit::product(Dimension::ONE)),
            Ok(1) => Ok(self),
            Ok(exponent @ -255..=255) => self.inner_raise(exponent),
            _ => Err(EXPONENT),
        }
    }

    fn inner_raise(self, exponent: i16) -> Result<Unit, Meaningless> {
        let (scale, is_galilean) = (self.scale, self.is_galilean());
        let raised = match self.form {
            Form::Product(dimension) => Unit::product(dimension.raise(exponent).ok_or(POWERS)?),
            Form::Logarithm { .. } => return Err(LOGARITHM_POWER),
            Form::Since { unit, .. } => unit.inner_raise(exponent)?,
        };
        if is_galilean { raised.galilean(scale.powf(f64::from(exponent)), 0.0) } else { Ok(raised) }
    }

    /// As `galileanNew`: applies `scale` in these units, and then `offset` in the new ones.
    fn galilean(self, scale: f64, offset: f64) -> Result<Unit, Meaningless> {
        let (mut scale, mut offset) = (scale, offset);
        if self.is_galilean() {
            scale *= self.scale;
            offset += (self.scale * self.offset) / scale;
        }
        if !scale.is_normal() || !offset.is_finite() {
            return Err(BEYOND);
        }
        if offset.is_subnormal() {
            offset = 0.0;
        }
        if is_almost_equal(scale, 1.0) && is_almost_equal(offset, 0.0) {
            (scale, offset) = (1.0, 0.0);
        }
        Ok(Unit { form: self.form, scale, offset, unread: None })
    }
}

impl Form {
    fn multiply(self, other: Form) -> Result<Unit, Meaningless> {
        match (self, other) {
            (Form::Product(one), Form::Product(two)) => Ok(Unit::product(one.multiply(two).ok_or(POWERS)?)),
            (Form::Since { unit, .. }, form) | (form @ Form::Product(_), Form::Since { unit, .. }) => {
                unit.multiply(form.whole())
            }
            (form @ Form::Logarithm { .. }, Form::Product(dimension))
            | (Form::Product(dimension), form @ Form::Logarithm { .. }) => {
                if dimension.is_dimensionless() {
                    Ok(form.whole())
                } else {
                    Err(LOGARITHM_FACTOR)
                }
            }
            (Form::Logarithm { .. }, _) => Err(LOGARITHM_FACTOR),
        }
    }

    /// The product of a logarithm or of a time since a moment with a unit that has a scale or an offset.
    fn multiply_galilean(self, other: Unit) -> Result<Unit, Meaningless> {
        match self {
            Form::Since { unit, .. } => unit.multiply(other),
            form if other.is_dimensionless() => form.whole().galilean(other.scale, 0.0),
            _ => Err(LOGARITHM_FACTOR),
        }
    }

    /// The form as a separate unit.
    fn whole(self) -> Unit {
        Unit { form: self, scale: 1.0, offset: 0.0, unread: None }
    }
}

/// As `areAlmostEqual`.
pub(super) fn is_almost_equal(one: f64, two: f64) -> bool {
    let difference = if one == 0.0 || two == 0.0 { one - two } else { 1.0 - one / two };
    difference.abs() < 10.0 * f64::EPSILON
}

/// The value of a C `int` after this number is assigned to it.
pub(super) fn wrapped(number: i64) -> i32 {
    u32::try_from(number & i64::from(u32::MAX)).unwrap_or_default().cast_signed()
}
