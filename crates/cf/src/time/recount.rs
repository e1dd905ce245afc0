//! Converts counts of time since one epoch to counts since another.

use super::{Counting, DAY, EXACT, NANOSECOND, greatest_common_divisor, truncated};

/// Converts counts of one unit and epoch to those of another. The calendars are the same, or have the same dates from
/// the Gregorian reform on: in the latter case only counts since the reform have an equivalent.
///
/// ```
/// use hyperslab_cf::time::{Counting, Recount};
///
/// let counting = |units| Counting::of_units(units, None).expect("a unit of time");
/// let (days, hours) = (counting("days since 2020-01-02")?, counting("hours since 2020-01-01")?);
/// let recount = Recount::between(&days, &hours).expect("one calendar");
/// assert_eq!(recount.integer(1), Some(48));
/// # Ok::<(), hyperslab_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recount {
    /// A count times `from`, plus `offset`, equals the new count times `to`.
    from: i128,
    to: i128,
    offset: i128,
    /// The unit of these three numbers, in attoseconds.
    unit: i128,
    /// The time from which both calendars have the same dates, in the unit of `offset`.
    earliest: i128,
}

impl Recount {
    /// Converts counts of `from` to counts of `to`; `None` if their calendars never agree, or a unit has no fixed
    /// length.
    pub fn between(from: &Counting, to: &Counting) -> Option<Recount> {
        let (calendar, epoch, step) = from.parts()?;
        let (other, other_epoch, other_step) = to.parts()?;
        let same_from = calendar.same_from(other)?;
        let offset = epoch.checked_sub(other_epoch)?;
        let steps = greatest_common_divisor(step.unsigned_abs(), other_step.unsigned_abs());
        let unit = i128::try_from(greatest_common_divisor(steps, offset.unsigned_abs())).ok()?.max(1);
        let earliest = same_from.saturating_mul(DAY).saturating_sub(other_epoch).div_euclid(unit);
        Some(Recount { from: step / unit, to: other_step / unit, offset: offset / unit, unit, earliest })
    }

    /// The new count for an integer; `None` if it is not an integer.
    pub fn integer(&self, count: i128) -> Option<i128> {
        let ticks = count.checked_mul(self.from)?.checked_add(self.offset)?;
        (ticks >= self.earliest && ticks.checked_rem(self.to)? == 0).then_some(ticks / self.to)
    }

    /// The new count for a number as `rounded` stores it; `None` if it differs by half a microsecond or more. NaN and
    /// infinities are returned unchanged.
    pub fn number(&self, count: f64, rounded: impl Fn(f64) -> f64) -> Option<f64> {
        if !count.is_finite() {
            return Some(count);
        }
        let ticks = truncated(count.trunc()).checked_mul(self.from)?.checked_add(self.offset)?;
        if ticks < self.earliest {
            return None;
        }
        let (above, rest) = (ticks.checked_div_euclid(self.to)?, ticks.checked_rem_euclid(self.to)?);
        // Only the fraction is rounded: the whole part is exact.
        let rest = rest as f64 + count.fract() * self.from as f64;
        let new = rounded(above as f64 + rest / self.to as f64);
        let error = ((new - above as f64) * self.to as f64 - rest).abs() * self.unit as f64;
        (above.unsigned_abs() < EXACT && error < (500 * NANOSECOND) as f64).then_some(new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recount(from: &str, to: &str) -> Option<Recount> {
        let counting = |units| Counting::of_units(units, None).unwrap().unwrap();
        Recount::between(&counting(from), &counting(to))
    }

    #[test]
    fn counts_since_another_epoch_mean_the_same_moment() {
        let days = recount("days since 2020-02-01", "days since 2020-01-01").unwrap();
        assert_eq!(days.integer(3), Some(34));
        assert_eq!(days.number(0.5, |n| n), Some(31.5));
        // A third of a day has no finite binary representation: the nearest number is less than a nanosecond away.
        assert!(days.number(1.0 / 3.0, |n| n).is_some_and(|n| (n - 31.333_333_333_333).abs() < 1e-9));
        assert!(days.number(f64::NAN, |n| n).is_some_and(f64::is_nan));
        let hours = recount("hours since 2020-01-02 06:00", "days since 2020-01-01").unwrap();
        assert_eq!((hours.integer(18), hours.integer(17)), (Some(2), None));
        assert_eq!(hours.number(6.0, |n| n), Some(1.5));
    }

    #[test]
    fn calendars_agree_since_the_reform() {
        let counting =
            |units: &str, calendar: &str| Counting::of_units(units, Some(calendar)).unwrap().unwrap();
        let between = |units: &str, from: &str, to: &str| {
            Recount::between(&counting(units, from), &counting(units, to)).unwrap()
        };
        let recent = between("days since 2000-01-01", "standard", "proleptic_gregorian");
        assert_eq!((recent.integer(5), recent.number(0.5, |n| n)), (Some(5), Some(0.5)));
        // 1582-10-15 and the day before.
        assert_eq!((recent.integer(-152_384), recent.integer(-152_385)), (Some(-152_384), None));
        assert_eq!(recent.number(-152_385.0, |n| n), None);
        // The first year began two days earlier in the Julian calendar.
        let old = between("days since 0001-01-01", "standard", "proleptic_gregorian");
        assert_eq!(old.integer(730_121), Some(730_119));
        let back = between("days since 0001-01-01", "proleptic_gregorian", "standard");
        assert_eq!(back.integer(730_119), Some(730_121));
        let julian = counting("days since 2000-01-01", "julian");
        assert_eq!(Recount::between(&julian, &counting("days since 2000-01-01", "standard")), None);
    }

    #[test]
    fn counts_that_the_type_cannot_hold_are_none() {
        #[expect(clippy::cast_possible_truncation, reason = "rounding is intended")]
        let single = |n: f64| f64::from(n as f32);
        let seconds = recount("seconds since 2020-01-01", "seconds since 1970-01-01").unwrap();
        assert_eq!(seconds.number(1.0, single), None);
        assert_eq!(seconds.number(1.0, |n| n), Some(1_577_836_801.0));
        let counting =
            |calendar| Counting::of_units("days since 2020-01-01", Some(calendar)).unwrap().unwrap();
        assert_eq!(Recount::between(&counting("noleap"), &counting("standard")), None);
    }
}
