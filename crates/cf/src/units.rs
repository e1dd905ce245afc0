//! Units of measure, as interpreted by UDUNITS-2.
//!
//! CF-1.13 section 3.1 requires the value of `units` to be a string that UDUNITS recognises. What it recognises is
//! determined by three things, each of which has a module here: the tokens of `lib/scanner.l`, the grammar of
//! `lib/parser.y`, and the database `lib/udunits2-*.xml`. The version is 2.2.28. Its behaviour is reproduced even where
//! it is surprising, because it is what files are read with.
//!
//! There are three differences from UDUNITS, none of which occurs in actual files. An exponent above 32,767 and a scale
//! or offset that is not a normal number of 64 bits are errors here, instead of numbers that wrapped around or became
//! infinite. Parentheses nest at most 100 deep. A NUL is an error and does not end the string.
//!
//! ```
//! use hyperslab_cf::units::Unit;
//!
//! let (celsius, kelvin) = (Unit::parse("degC")?, Unit::parse("K")?);
//! assert_eq!(celsius.convert(&kelvin).map(|conversion| conversion.apply(0.0)), Some(273.15));
//! assert!(Unit::parse("days since 1850-01-01")?.is_reference_time());
//! assert_eq!(Unit::parse("kelvn").unwrap_err().near.as_deref(), Some("kelvin"));
//! # Ok::<(), hyperslab_cf::units::UnitError>(())
//! ```
//!
//! Spec: UDUNITS-2.2.28, `lib/parser.y`, `lib/scanner.l`, `lib/unitcore.c`

mod algebra;
mod canonical;
mod conversion;
mod database;
mod dimension;
mod error;
mod grammar;
mod near;
mod reference_time;
mod scanner;

pub use conversion::Conversion;
pub use dimension::{BaseUnit, Dimension};
pub use error::UnitError;
pub use reference_time::ReferenceTime;

/// A unit of measure.
///
/// Displayed in base units, in a form that [`Unit::parse`] reads back as the same unit: `0.01 m.s-1`, `K @ 273.15`.
#[derive(Clone, Debug)]
pub struct Unit {
    form: Form,
    scale: f64,
    offset: f64,
    unread: Option<usize>,
}

/// The form of a unit, apart from its scale and offset.
#[derive(Clone, Debug)]
pub enum Form {
    /// A product of powers of base units.
    Product(Dimension),
    /// The logarithm of the ratio to a reference level, as in `lg(re 1 mW)`.
    Logarithm {
        /// The base of the logarithm.
        base: LogarithmBase,
        /// The reference level.
        reference: Box<Unit>,
    },
    /// Time since a moment, as in `days since 1970-01-01`.
    Since {
        /// The unit of time.
        unit: Box<Unit>,
        /// The moment.
        reference: ReferenceTime,
    },
}

/// The base of a logarithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogarithmBase {
    /// `lb`, to base 2.
    Binary,
    /// `ln`, to base e.
    Natural,
    /// `lg` or `log`, to base 10.
    Decimal,
}

impl Unit {
    /// Parses a unit. Surrounding white space is ignored, as in programs that use UDUNITS; an empty string is the unit
    /// `1`.
    ///
    /// # Errors
    /// If UDUNITS-2 would not accept it: see [`UnitError`].
    pub fn parse(text: &str) -> Result<Unit, UnitError> {
        grammar::parse(text, database::udunits())
    }

    /// The form of the unit, apart from its scale and offset.
    pub fn form(&self) -> &Form {
        &self.form
    }

    /// The factor from this unit to that of its form: 1,000 for `km`.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// The number that is added to a value before it is scaled: 273.15 for `degC`. It is in this unit, not in that of
    /// its form.
    pub fn offset(&self) -> f64 {
        self.offset
    }

    /// The dimension of the unit; for a logarithmic unit that of the reference level, for a time since a moment that of
    /// time.
    pub fn dimension(&self) -> Dimension {
        match &self.form {
            Form::Product(dimension) => *dimension,
            Form::Logarithm { reference: unit, .. } | Form::Since { unit, .. } => unit.dimension(),
        }
    }

    /// The moment that times are counted from, if the unit has one.
    pub fn reference_time(&self) -> Option<&ReferenceTime> {
        match &self.form {
            Form::Since { reference, .. } => Some(reference),
            _ => None,
        }
    }

    /// The byte at which UDUNITS stopped reading, if it left something unread.
    ///
    /// It looks one token ahead, and does not notice if that token is the last of the string and does not belong there:
    /// it reads `m)` as `m`, and `days since 1970-01-01Z` as if there were no `Z`.
    pub fn unread(&self) -> Option<usize> {
        self.unread
    }

    /// Whether the unit has no dimension: as `ut_is_dimensionless`, which treats radians and logarithms as
    /// dimensionless.
    pub fn is_dimensionless(&self) -> bool {
        self.is_plain_logarithm() || self.dimension().is_dimensionless()
    }

    /// Whether this is a unit of time without an origin: seconds, but neither hertz nor `seconds since 1970-01-01`.
    pub fn is_time(&self) -> bool {
        matches!(self.form, Form::Product(dimension) if dimension.is_same_quantity(Dimension::TIME))
    }

    /// Whether values in this unit are times since a moment.
    pub fn is_reference_time(&self) -> bool {
        self.is_plain_since()
    }

    /// Whether values in this unit can be converted to the other: as `ut_are_convertible`.
    ///
    /// Units whose dimensions are reciprocal can: `s` and `Hz`. Times since a moment can only be converted to times
    /// since a moment.
    pub fn can_convert_to(&self, other: &Unit) -> bool {
        match (self.is_plain_since(), other.is_plain_since()) {
            (false, false) => self.dimension().relation(other.dimension()).is_some(),
            (of, to) => of && to,
        }
    }

    /// How values in this unit are converted to the other; `None` if they can't be.
    pub fn convert(&self, to: &Unit) -> Option<Conversion> {
        Conversion::between(self, to)
    }

    /// Whether two units are the same: equal form, scale and offset, up to rounding.
    ///
    /// Radians are significant here, so `rad s-1` and `Hz` are not the same.
    pub fn same(&self, other: &Unit) -> bool {
        let forms = match (&self.form, &other.form) {
            (Form::Product(one), Form::Product(two)) => one == two,
            (
                Form::Logarithm { base: base_one, reference: one },
                Form::Logarithm { base: base_two, reference: two },
            ) => base_one == base_two && one.same(two),
            (
                Form::Since { unit: one, reference: since_one },
                Form::Since { unit: two, reference: since_two },
            ) => one.same(two) && since_one.is_same_moment(since_two),
            _ => false,
        };
        forms
            && algebra::is_almost_equal(self.scale, other.scale)
            && algebra::is_almost_equal(self.offset, other.offset)
    }

    /// Whether a scale or offset was applied to the form.
    fn is_galilean(&self) -> bool {
        self.scale != 1.0 || self.offset != 0.0
    }

    fn is_plain_logarithm(&self) -> bool {
        matches!(self.form, Form::Logarithm { .. }) && !self.is_galilean()
    }

    /// In UDUNITS, a time since a moment no longer is one once it has an offset.
    fn is_plain_since(&self) -> bool {
        matches!(self.form, Form::Since { .. }) && !self.is_galilean()
    }
}

impl LogarithmBase {
    /// The base as a number.
    pub fn value(self) -> f64 {
        match self {
            LogarithmBase::Binary => 2.0,
            LogarithmBase::Natural => std::f64::consts::E,
            LogarithmBase::Decimal => 10.0,
        }
    }
}
