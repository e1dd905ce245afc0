//! Conversion of values from one unit to another.
//!
//! Spec: UDUNITS-2.2.28, `ut_get_converter` in `lib/unitcore.c`, `lib/converter.c`

use super::dimension::{Dimension, Relation};
use super::{Form, LogarithmBase, Unit};

/// A conversion of values from one unit to another.
#[derive(Clone, Debug, PartialEq)]
pub struct Conversion {
    /// No two neighbours are [`Step::Linear`]; empty for a conversion between equal units.
    steps: Vec<Step>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    Linear { slope: f64, intercept: f64 },
    Power(LogarithmBase),
    Logarithm(LogarithmBase),
    Reciprocal,
}

impl Conversion {
    /// The value in the other unit.
    pub fn apply(&self, value: f64) -> f64 {
        self.steps.iter().fold(value, |value, step| step.apply(value))
    }

    /// Slope and intercept, if the conversion is linear; 1 and 0 if values do not change.
    pub fn as_linear(&self) -> Option<(f64, f64)> {
        match self.steps.as_slice() {
            [] => Some((1.0, 0.0)),
            [Step::Linear { slope, intercept }] => Some((*slope, *intercept)),
            _ => None,
        }
    }

    pub(super) fn between(of: &Unit, to: &Unit) -> Option<Conversion> {
        let mut conversion = Conversion { steps: Vec::new() };
        match (&of.form, &to.form) {
            (
                Form::Since { unit: of_unit, reference: start },
                Form::Since { unit: to_unit, reference: end },
            ) if !of.is_galilean() && !to.is_galilean() => {
                let second = Unit::product(Dimension::TIME);
                conversion.add_plain(of_unit, &second)?;
                conversion.add_linear(1.0, start.seconds() - end.seconds());
                conversion.add_plain(&second, to_unit)?;
            }
            _ => conversion.add_plain(of, to)?,
        }
        Some(conversion)
    }

    /// Adds the conversion between units that are not times since a moment.
    fn add_plain(&mut self, of: &Unit, to: &Unit) -> Option<()> {
        let relation = of.dimension().relation(to.dimension())?;
        self.add_to_product(of)?;
        if relation == Relation::Reciprocal {
            self.steps.push(Step::Reciprocal);
        }
        self.add_from_product(to)
    }

    /// Adds the conversion from a unit to the product of base units with the same dimension.
    fn add_to_product(&mut self, unit: &Unit) -> Option<()> {
        self.add_linear(unit.scale, unit.offset * unit.scale);
        match &unit.form {
            Form::Product(_) => Some(()),
            Form::Logarithm { base, reference } => {
                self.steps.push(Step::Power(*base));
                self.add_to_product(reference)
            }
            Form::Since { .. } => None,
        }
    }

    fn add_from_product(&mut self, unit: &Unit) -> Option<()> {
        match &unit.form {
            Form::Product(_) => (),
            Form::Logarithm { base, reference } => {
                self.add_from_product(reference)?;
                self.steps.push(Step::Logarithm(*base));
            }
            Form::Since { .. } => return None,
        }
        self.add_linear(1.0 / unit.scale, -unit.offset);
        Some(())
    }

    fn add_linear(&mut self, slope: f64, intercept: f64) {
        if slope == 1.0 && intercept == 0.0 {
            return;
        }
        let (mut slope, mut intercept) = (slope, intercept);
        if let Some(Step::Linear { slope: first, intercept: shift }) = self.steps.last().copied() {
            (slope, intercept) = (slope * first, slope * shift + intercept);
            self.steps.pop();
        }
        if slope != 1.0 || intercept != 0.0 {
            self.steps.push(Step::Linear { slope, intercept });
        }
    }
}

impl Step {
    fn apply(self, value: f64) -> f64 {
        match self {
            Step::Linear { slope, intercept } => slope * value + intercept,
            Step::Power(base) => (value * base.value().ln()).exp(),
            Step::Logarithm(LogarithmBase::Binary) => value.ln() * std::f64::consts::LOG2_E,
            Step::Logarithm(LogarithmBase::Natural) => value.ln(),
            Step::Logarithm(LogarithmBase::Decimal) => value.ln() * std::f64::consts::LOG10_E,
            Step::Reciprocal => 1.0 / value,
        }
    }
}
