//! Ticks at round numbers: one, two or five times a power of ten.

/// A mark on an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// The number on the scale of the axis.
    pub at: f64,
    /// Its label.
    pub label: String,
}

/// All marks on an axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ticks {
    /// In ascending order.
    pub ticks: Vec<Tick>,
    /// The part that all labels leave out, such as the year if they are days.
    pub note: Option<String>,
}

/// Ticks from `low` to `high`, at most `most` plus one; only whole numbers if requested.
pub(super) fn number_ticks(low: f64, high: f64, most: usize, whole: bool) -> Ticks {
    let least = if whole { 1.0 } else { 0.0 };
    let step = round_step((high - low) / most.max(1) as f64).max(least);
    // A quotient that should be whole may be a little more or less.
    let (first, last) = ((low / step - NEARLY).ceil(), (high / step + NEARLY).floor());
    // Beyond this, neighbours on the axis are the same floating-point number.
    let is_exact = step.is_finite() && step > 0.0 && first.abs().max(last.abs()) < MAX_STEPS;
    let mut ticks = Vec::new();
    let mut number = first;
    while is_exact && number <= last {
        // An addition of 0 makes -0 positive.
        let at = number * step + 0.0;
        ticks.push(Tick { at, label: label(at, step, low.abs().max(high.abs())) });
        number += 1.0;
    }
    if ticks.is_empty() && low.is_finite() && high.is_finite() && !(whole && low.fract() != 0.0) {
        ticks.push(Tick { at: low, label: short(low) });
        if high > low {
            ticks.push(Tick { at: high, label: short(high) });
        }
    }
    Ticks { ticks, note: None }
}

/// The nearest round number that is not below `step`.
pub(super) fn round_step(step: f64) -> f64 {
    if !(step > 0.0 && step.is_finite()) {
        return 0.0;
    }
    let power = 10_f64.powf(step.log10().floor());
    let factor = step / power;
    let round =
        [1.0, 2.0, 5.0, 10.0].into_iter().find(|round| factor <= round * (1.0 + NEARLY)).unwrap_or(10.0);
    round * power
}

/// A tick with as many digits as distinguish it from its neighbours.
fn label(at: f64, step: f64, largest: f64) -> String {
    let power = |of: f64| (of.abs().log10() + NEARLY).floor();
    if (1e-4..1e7).contains(&largest) || largest == 0.0 {
        return format!("{at:.*}", digits(-power(step)));
    }
    if at == 0.0 {
        return "0".to_owned();
    }
    format!("{at:.*e}", digits(power(at) - power(step)))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small number; saturates")]
fn digits(digits: f64) -> usize {
    digits.clamp(0.0, 17.0) as usize
}

/// A number with six digits.
pub(super) fn short(number: f64) -> String {
    let rounded: f64 = format!("{number:.5e}").parse().unwrap_or(number);
    match rounded.abs() {
        0.0 => "0".to_owned(),
        size if (1e-4..1e7).contains(&size) => rounded.to_string(),
        _ if rounded.is_finite() => format!("{rounded:e}"),
        _ => number.to_string(),
    }
}

/// How far quotients may deviate from whole numbers.
const NEARLY: f64 = 1e-9;
/// Multiples of a step up to here are exact.
const MAX_STEPS: f64 = 1e12;

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(low: f64, high: f64, most: usize) -> Vec<String> {
        number_ticks(low, high, most, false).ticks.into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn ticks_are_round_and_say_no_more_digits_than_they_need() {
        assert_eq!(labels(-90.0, 90.0, 4), ["-50", "0", "50"]);
        assert_eq!(labels(57.625, 58.375, 4), ["57.8", "58.0", "58.2"]);
        assert_eq!(labels(0.1, 0.3, 2), ["0.1", "0.2", "0.3"]);
        assert_eq!(labels(-0.3, 0.3, 3), ["-0.2", "0.0", "0.2"]);
        assert_eq!(labels(0.0, 3e-7, 3), ["0", "1e-7", "2e-7", "3e-7"]);
        assert_eq!(labels(9e9, 1.1e10, 4), ["9.0e9", "9.5e9", "1.00e10", "1.05e10", "1.10e10"]);
        let whole = number_ticks(-0.5, 3.5, 20, true).ticks;
        assert_eq!(whole.iter().map(|tick| tick.label.as_str()).collect::<Vec<_>>(), ["0", "1", "2", "3"]);
    }

    #[test]
    fn any_bounds_have_an_end() {
        for (low, high) in [
            (5.0, 5.0),
            (-f64::MAX, f64::MAX),
            (1e300, 1e300 * (1.0 + 1e-15)),
            (0.0, 5e-324),
            (f64::NAN, 1.0),
            (f64::NEG_INFINITY, f64::INFINITY),
        ] {
            assert!(number_ticks(low, high, 5, false).ticks.len() <= 7, "{low} {high}");
        }
        assert_eq!(labels(5.0, 5.0, 5), ["5"]);
    }

    #[test]
    fn short_numbers_have_six_digits() {
        for (number, text) in [
            (f64::from(10.4_f32), "10.4"),
            (-0.0, "0"),
            (123_456.7, "123457"),
            (1.5e-9, "1.5e-9"),
            (f64::INFINITY, "inf"),
            (1e23, "1e23"),
        ] {
            assert_eq!(short(number), text);
        }
    }
}
