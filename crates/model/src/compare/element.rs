//! The difference between two elements.

use super::Rules;
use crate::{Datatype, Element, ElementRef, Float, Reference};
use std::cmp::Ordering;
use std::fmt;

/// Tolerances for floating-point numbers. Integers are either equal or not.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tolerance {
    /// Relative tolerance: a fraction of the magnitude of the second number.
    pub relative: f64,
    /// Absolute tolerance. Numbers are equal if `|a - b| <= absolute + relative * |b|`.
    pub absolute: f64,
    /// How many representable numbers (ULPs) apart the two may be, counted in the coarser of the two types.
    pub ulps: u64,
    /// Whether 0.0 and -0.0 are different.
    pub signed_zeros: bool,
}

/// The difference between two elements that are not equal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Gap {
    /// The second integer minus the first.
    Int(i128),
    /// The second number minus the first, as 32-bit float.
    Single(f32),
    /// The second number minus the first, as 64-bit float.
    Double(f64),
    /// They are not numbers, or differ in a part that is not a number.
    Unlike,
}

impl Gap {
    /// The difference of larger magnitude. [`Gap::Unlike`] is smaller than any number.
    #[must_use]
    pub fn larger(self, other: Gap) -> Gap {
        let order = match (self, other) {
            (Gap::Int(a), Gap::Int(b)) => a.unsigned_abs().cmp(&b.unsigned_abs()),
            (a, b) => match (a.number(), b.number()) {
                (Some(a), Some(b)) => a.abs().total_cmp(&b.abs()),
                (None, Some(_)) => Ordering::Less,
                _ => Ordering::Greater,
            },
        };
        if order == Ordering::Less { other } else { self }
    }

    /// The absolute value as text. `None` for [`Gap::Unlike`].
    pub fn magnitude(self) -> Option<String> {
        match self {
            Gap::Int(by) => Some(by.unsigned_abs().to_string()),
            Gap::Single(by) => Some(format!("{:?}", by.abs())),
            Gap::Double(by) => Some(format!("{:?}", by.abs())),
            Gap::Unlike => None,
        }
    }

    fn number(self) -> Option<f64> {
        match self {
            Gap::Int(by) => Some(float_of(by)),
            Gap::Single(by) => Some(by.into()),
            Gap::Double(by) => Some(by),
            Gap::Unlike => None,
        }
    }
}

/// Signed, as `+0.5`. Empty for [`Gap::Unlike`].
impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Gap::Int(by) => write!(f, "{by:+}"),
            Gap::Single(by) => write!(f, "{by:+?}"),
            Gap::Double(by) => write!(f, "{by:+?}"),
            Gap::Unlike => Ok(()),
        }
    }
}

impl Datatype {
    /// Whether elements of both types can be compared: numbers with numbers, strings with strings, compounds with
    /// compounds of comparable members, and so on.
    pub fn is_comparable(&self, other: &Datatype) -> bool {
        let (a, b) = (self.resolved(), other.resolved());
        if a.is_number() && b.is_number() {
            return true;
        }
        match (a, b) {
            (Datatype::String(_), Datatype::String(_))
            | (Datatype::Complex(_), Datatype::Complex(_))
            | (Datatype::Bitfield { .. }, Datatype::Bitfield { .. })
            | (Datatype::Opaque { .. }, Datatype::Opaque { .. }) => true,
            (
                Datatype::ObjRef | Datatype::RegRef | Datatype::Reference,
                Datatype::ObjRef | Datatype::RegRef | Datatype::Reference,
            ) => true,
            (Datatype::Datetime(a), Datatype::Datetime(b)) => a == b,
            (Datatype::Compound(a), Datatype::Compound(b)) => {
                let alike =
                    a.iter().zip(b).all(|(a, b)| a.name == b.name && a.datatype.is_comparable(&b.datatype));
                a.len() == b.len() && alike
            }
            (Datatype::Vlen(a), Datatype::Vlen(b)) | (Datatype::Nullable(a), Datatype::Nullable(b)) => {
                a.is_comparable(b)
            }
            (Datatype::Array { base: a, shape: x }, Datatype::Array { base: b, shape: y }) => {
                x == y && a.is_comparable(b)
            }
            _ => false,
        }
    }

    /// Whether elements of both types are equal whenever their rows are equal.
    pub(super) fn has_rows_of(&self, other: &Datatype) -> bool {
        match (self.resolved(), other.resolved()) {
            (Datatype::Compound(a), Datatype::Compound(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.datatype.has_rows_of(&b.datatype))
            }
            (Datatype::Array { base: a, shape: x }, Datatype::Array { base: b, shape: y }) => {
                x == y && a.has_rows_of(b)
            }
            (Datatype::Enum { base: a, .. }, Datatype::Enum { base: b, .. }) => a == b,
            (a, b) => a == b && !a.has_slots(),
        }
    }

    fn is_number(&self) -> bool {
        matches!(
            self,
            Datatype::Int { .. }
                | Datatype::Float(_)
                | Datatype::Bool
                | Datatype::Time { .. }
                | Datatype::Enum { .. }
        )
    }
}

impl ElementRef<'_> {
    /// Whether both elements have the same content. NaN equals NaN, and 0.0 does not equal -0.0.
    pub fn same(self, other: ElementRef<'_>) -> bool {
        self.gap(other, &Rules::EXACT).is_none()
    }

    /// The difference between this element and `other`. `None` if they are equal by these rules. For elements of
    /// several numbers, the largest difference.
    pub fn gap(self, other: ElementRef<'_>, rules: &Rules) -> Option<Gap> {
        let unlike = |same: bool| (!same).then_some(Gap::Unlike);
        match (self.get(), other.get()) {
            (Element::Int(a), Element::Int(b)) => ints(a, b),
            (Element::Float(a), Element::Float(b)) => {
                rules.tolerance.floats((a, grain(self.datatype())), (b, grain(other.datatype())))
            }
            (Element::Complex(a), Element::Complex(b)) => {
                let grains = (grain(self.datatype()), grain(other.datatype()));
                let parts = a.iter().zip(b.iter()).map(|parts| match parts {
                    (Element::Float(a), Element::Float(b)) => {
                        rules.tolerance.floats((*a, grains.0), (*b, grains.1))
                    }
                    (Element::RawFloat(a), Element::RawFloat(b)) => unlike(a == b),
                    _ => Some(Gap::Unlike),
                });
                farthest(parts)
            }
            (Element::RawFloat(a), Element::RawFloat(b))
            | (Element::Text(a), Element::Text(b))
            | (Element::Opaque(a), Element::Opaque(b))
            | (Element::Bits(a), Element::Bits(b)) => unlike(a == b),
            (Element::Bool(a), Element::Bool(b)) => unlike(a == b),
            // The distance between the integers of two enumeration names has no meaning.
            (Element::Enum(a, _), Element::Enum(b, _)) => unlike(a == b),
            (Element::Reference(a), Element::Reference(b)) => unlike(rules.same_reference(a, b)),
            (Element::Compound(mut a), Element::Compound(mut b)) => {
                farthest(a.by_ref().zip(b.by_ref()).map(|((_, a), (_, b))| a.gap(b, rules)))
            }
            (Element::Vlen(a), Element::Vlen(b)) | (Element::Array(a, _), Element::Array(b, _)) => {
                if a.len() != b.len() {
                    return Some(Gap::Unlike);
                }
                // Nearly all elements of long sequences are equal.
                if a.rows() == b.rows() && a.datatype().has_rows_of(b.datatype()) {
                    return None;
                }
                farthest(a.zip(b).map(|(a, b)| a.gap(b, rules)))
            }
            (Element::Null, Element::Null) => None,
            (a, b) => match (number(&a), number(&b)) {
                (Some(Number::Int(a)), Some(Number::Int(b))) => ints(a, b),
                (Some(a), Some(b)) => {
                    let of = if matches!(a, Number::Float(_)) { self } else { other };
                    let grain = grain(of.datatype());
                    match rules.tolerance.floats((a.float(), grain), (b.float(), grain)) {
                        // Both are equal after rounding to a float, but need not be equal before.
                        None if rules.tolerance.is_none() => exactly(a, b),
                        gap => gap,
                    }
                }
                _ => Some(Gap::Unlike),
            },
        }
    }
}

impl Rules {
    fn same_reference(&self, a: &Reference, b: &Reference) -> bool {
        match (a, b) {
            (Reference::Object(a), Reference::Object(b)) => self.same_path(a, b),
            (Reference::Region(a, x), Reference::Region(b, y)) => self.same_path(a, b) && x.is_same(y),
            (Reference::Attribute(a, x), Reference::Attribute(b, y)) => self.same_path(a, b) && x == y,
            (a, b) => a == b,
        }
    }
}

impl Tolerance {
    /// Whether only equal numbers are accepted.
    pub fn is_none(&self) -> bool {
        self.relative == 0.0 && self.absolute == 0.0 && self.ulps == 0
    }

    /// As [`ElementRef::gap`], for two floats of these types.
    fn floats(&self, (a, fine): (f64, Grain), (b, coarse): (f64, Grain)) -> Option<Gap> {
        let zeros_differ = self.signed_zeros && a == 0.0 && a.is_sign_negative() != b.is_sign_negative();
        if a == b && !zeros_differ || a.is_nan() && b.is_nan() {
            return None;
        }
        let by = b - a;
        if by.is_nan() {
            return Some(Gap::Unlike);
        }
        // An infinite difference is never within a relative tolerance.
        let finite = a.is_finite() && b.is_finite();
        let near = by.abs() <= self.absolute + self.relative * b.abs();
        if !zeros_differ && finite && (near || self.ulps > 0 && fine.max(coarse).steps(a, b) <= self.ulps) {
            return None;
        }
        Some(match (fine, coarse) {
            (Grain::Double, _) | (_, Grain::Double) => Gap::Double(by),
            _ => Gap::Single(single(by)),
        })
    }
}

/// The formats ordered by the distance between neighbouring numbers, finest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Grain {
    Double,
    Single,
    Half,
    BFloat,
}

impl Grain {
    /// How many representable numbers of the format apart two numbers are.
    fn steps(self, a: f64, b: f64) -> u64 {
        // Without their sign, floats are in the same order as their bits.
        let place = |negative: bool, bits: u64| {
            let bits = i128::from(bits);
            if negative { -bits } else { bits }
        };
        let of = |number: f64| match self {
            Grain::Double => place(number.is_sign_negative(), number.abs().to_bits()),
            Grain::Single => place(number.is_sign_negative(), single(number.abs()).to_bits().into()),
            Grain::Half => {
                place(number.is_sign_negative(), half::f16::from_f64(number.abs()).to_bits().into())
            }
            Grain::BFloat => {
                place(number.is_sign_negative(), half::bf16::from_f64(number.abs()).to_bits().into())
            }
        };
        u64::try_from((of(a) - of(b)).unsigned_abs()).unwrap_or(u64::MAX)
    }
}

fn grain(datatype: &Datatype) -> Grain {
    match datatype.resolved() {
        Datatype::Float(float) | Datatype::Complex(float) => match float {
            Float::Single => Grain::Single,
            Float::Half => Grain::Half,
            Float::BFloat => Grain::BFloat,
            Float::Double | Float::Quad | Float::Other(_) => Grain::Double,
        },
        Datatype::Nullable(of) => grain(of),
        _ => Grain::Double,
    }
}

/// The nearest 32-bit float.
#[allow(clippy::cast_possible_truncation, reason = "rounds, which is meant")]
fn single(number: f64) -> f32 {
    number as f32
}

/// The nearest float of an integer.
fn float_of(number: i128) -> f64 {
    number as f64
}

#[derive(Clone, Copy)]
enum Number {
    Int(i128),
    Float(f64),
}

impl Number {
    fn float(self) -> f64 {
        match self {
            Number::Int(number) => float_of(number),
            Number::Float(number) => number,
        }
    }
}

fn number(element: &Element<'_>) -> Option<Number> {
    match element {
        Element::Int(number) | Element::Enum(number, _) => Some(Number::Int(*number)),
        Element::Bool(value) => Some(Number::Int((*value).into())),
        Element::Float(number) => Some(Number::Float(*number)),
        _ => None,
    }
}

fn ints(a: i128, b: i128) -> Option<Gap> {
    (a != b).then(|| b.checked_sub(a).map_or(Gap::Unlike, Gap::Int))
}

/// The difference between a float and an integer that is rounded to it.
fn exactly(a: Number, b: Number) -> Option<Gap> {
    #[allow(clippy::cast_possible_truncation, reason = "an integer rounded to a float")]
    let whole = |number: Number| match number {
        Number::Int(number) => number,
        Number::Float(number) => number as i128,
    };
    ints(whole(a), whole(b))
}

fn farthest(gaps: impl Iterator<Item = Option<Gap>>) -> Option<Gap> {
    gaps.flatten().reduce(Gap::larger)
}
