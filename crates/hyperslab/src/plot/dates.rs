//! Ticks at round dates and times of a calendar.

use super::numbers::whole;
use super::ticks::{Tick, Ticks, round_step};
use hyperslab_cf::time::{Counting, Date, Instant, NANOSECOND, SECOND};

/// Ticks from `low` to `high`, which are seconds in the calendar of `counting`.
pub(super) fn ticks(counting: &Counting, low: f64, high: f64, most: usize) -> Ticks {
    if !(low.is_finite() && high.is_finite() && low.abs().max(high.abs()) < MAX_SECONDS) {
        return Ticks::default();
    }
    let length = (high - low) / most.max(1) as f64;
    let (low, high) = (instant(low), instant(high));
    let (instants, detail) = match STEPS.iter().find(|(seconds, _)| *seconds as f64 >= length) {
        _ if low == high => (vec![low], Detail::Second),
        Some(_) if length < 1.0 => {
            (multiples(low, high, MILLISECOND * fraction(length)), Detail::Millisecond)
        }
        Some((seconds, Detail::Day)) => {
            (days(counting, (low, high), i128::from(*seconds / 86_400)), Detail::Day)
        }
        Some((seconds, detail)) => (multiples(low, high, i128::from(*seconds) * SECOND), *detail),
        None => months(counting, (low, high), length),
    };
    let dates: Vec<Date> = instants.iter().map(|at| counting.calendar().date(at.div_euclid(DAY))).collect();
    let is_one = |of: fn(&Date) -> (i128, u8, u8)| {
        dates.windows(2).all(|pair| match pair {
            [a, b] => of(a) == of(b),
            _ => true,
        })
    };
    let has_year = !is_one(|date| (date.year, 0, 0)) || dates.is_empty();
    let has_day = !is_one(|date| (date.year, date.month, date.day)) || dates.is_empty();
    let text = |at: &Instant| {
        let date_and_time = counting.text(*at);
        let (date, time) = date_and_time.split_once('T').unwrap_or((&date_and_time, ""));
        let date = match date.rsplitn(3, '-').collect::<Vec<_>>().as_slice() {
            [_, _, year] if detail == Detail::Year => (*year).to_owned(),
            [_, month, year] if detail == Detail::Month => format!("{year}-{month}"),
            [day, month, _] if !has_year => format!("{month}-{day}"),
            _ => date.to_owned(),
        };
        let time = match detail {
            Detail::Year | Detail::Month | Detail::Day => return date,
            Detail::Minute => time.get(..5).unwrap_or(time),
            Detail::Second => time.get(..8).unwrap_or(time),
            Detail::Millisecond => time,
        };
        if has_day { format!("{date} {time}") } else { time.to_owned() }
    };
    let note = match (dates.first(), detail) {
        (None, _) | (_, Detail::Year | Detail::Month) => None,
        (Some(date), Detail::Day) => (!has_year).then(|| date.year.to_string()),
        (Some(date), _) if !has_day => Some(counting.calendar().text(*date)),
        (Some(date), _) => (!has_year).then(|| date.year.to_string()),
    };
    let ticks = instants.iter().map(|at| Tick { at: *at as f64 / SECOND as f64, label: text(at) });
    Ticks { ticks: ticks.collect(), note }
}

/// How much of a time its label shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detail {
    Year,
    Month,
    Day,
    Minute,
    Second,
    Millisecond,
}

/// The multiples of a length of time, counted from midnight of day 0.
fn multiples(low: Instant, high: Instant, step: Instant) -> Vec<Instant> {
    let first = low.div_euclid(step) + i128::from(low.rem_euclid(step) > 0);
    (first..=high.div_euclid(step)).take(MAX_TICKS).map(|number| number * step).collect()
}

/// Every `step` days, starting on the first day of each month.
fn days(counting: &Counting, (low, high): (Instant, Instant), step: i128) -> Vec<Instant> {
    let calendar = counting.calendar();
    let month = calendar.month_number(calendar.date(low.div_euclid(DAY)));
    let all = (month..).take(MAX_TICKS).flat_map(|month| {
        let (first, next) = (calendar.month_since_1970(month), calendar.month_since_1970(month + 1));
        // The last one must not be too near the next month.
        let days = (0..).map(move |number| first + number * step);
        days.take_while(move |day| *day == first || next - day > step / 2).map(|day| day * DAY)
    });
    all.skip_while(|at| *at < low).take_while(|at| *at <= high).take(MAX_TICKS).collect()
}

/// The beginnings of months, or of round years.
fn months(counting: &Counting, (low, high): (Instant, Instant), length: f64) -> (Vec<Instant>, Detail) {
    let calendar = counting.calendar();
    let months = length / (30.0 * 86_400.0);
    let (step, detail) = match [1_i128, 2, 3, 6].into_iter().find(|step| *step as f64 * 1.02 >= months) {
        Some(step) => (step, Detail::Month),
        None => (12 * whole(round_step((months / 12.2 * 0.8).max(1.0))).max(1), Detail::Year),
    };
    // Months are counted from 1970, years from 0.
    let first = calendar.month_number(calendar.date(low.div_euclid(DAY)));
    let first = (first + 1970 * 12).div_euclid(step) * step - 1970 * 12;
    let begins = (0..).map(|number| calendar.month_since_1970(first + number * step) * DAY);
    (begins.take_while(|at| *at <= high).take(MAX_TICKS).filter(|at| *at >= low).collect(), detail)
}

/// The round number of milliseconds next to a part of a second.
fn fraction(length: f64) -> i128 {
    whole(round_step(length * 1000.0).round()).max(1)
}

fn instant(seconds: f64) -> Instant {
    // Seconds since day 0 are exact to some microseconds.
    whole((seconds * 1e6).round()).saturating_mul(1000 * NANOSECOND)
}

/// Lengths of time between ticks, in seconds.
const STEPS: &[(u32, Detail)] = &[
    (1, Detail::Second),
    (2, Detail::Second),
    (5, Detail::Second),
    (10, Detail::Second),
    (15, Detail::Second),
    (30, Detail::Second),
    (60, Detail::Minute),
    (120, Detail::Minute),
    (300, Detail::Minute),
    (600, Detail::Minute),
    (900, Detail::Minute),
    (1800, Detail::Minute),
    (3600, Detail::Minute),
    (7200, Detail::Minute),
    (10_800, Detail::Minute),
    (21_600, Detail::Minute),
    (43_200, Detail::Minute),
    (86_400, Detail::Day),
    (172_800, Detail::Day),
    (432_000, Detail::Day),
    (864_000, Detail::Day),
    (1_296_000, Detail::Day),
];

const MILLISECOND: Instant = 1_000_000 * NANOSECOND;
const DAY: Instant = 86_400 * SECOND;
/// More than the number of ticks that any axis has.
const MAX_TICKS: usize = 200;
/// Ten million years.
const MAX_SECONDS: f64 = 3.2e14;

#[cfg(test)]
mod tests {
    use super::*;

    fn between(calendar: &str, first: f64, last: f64, most: usize) -> (String, Option<String>) {
        let counting = Counting::of_units("days since 2024-03-01", Some(calendar)).unwrap().unwrap();
        let [low, high] = [first, last].map(|days| counting.moment(days).unwrap() as f64 / SECOND as f64);
        let Ticks { ticks, note } = ticks(&counting, low, high, most);
        assert!(ticks.iter().all(|tick| (low..=high).contains(&tick.at)), "{ticks:?}");
        (ticks.into_iter().map(|tick| tick.label).collect::<Vec<_>>().join(" | "), note)
    }

    #[test]
    fn ticks_begin_years_months_days_hours_and_seconds() {
        let of = |first, last| between("standard", first, last, 4);
        assert_eq!(of(0.0, 20_000.0), ("2040 | 2060".into(), None));
        assert_eq!(of(0.0, 1500.0), ("2025 | 2026 | 2027 | 2028".into(), None));
        assert_eq!(of(0.0, 200.0), ("2024-03 | 2024-05 | 2024-07 | 2024-09".into(), None));
        let (days, year) = of(0.0, 56.0);
        assert_eq!(year.as_deref(), Some("2024"));
        assert_eq!(days, "03-01 | 03-16 | 04-01 | 04-16");
        assert_eq!(of(0.0, 35.0).0, "03-01 | 03-11 | 03-21 | 04-01");
        assert_eq!(of(0.0, 0.9), ("00:00 | 06:00 | 12:00 | 18:00".into(), Some("2024-03-01".into())));
        let (hours, year) = of(0.0, 1.8);
        assert_eq!(hours, "03-01 00:00 | 03-01 12:00 | 03-02 00:00 | 03-02 12:00");
        assert_eq!(year.as_deref(), Some("2024"));
        assert_eq!(of(0.0, 40.0 / 86_400.0).0, "00:00:00 | 00:00:10 | 00:00:20 | 00:00:30 | 00:00:40");
    }

    #[test]
    fn ticks_follow_the_calendar_of_the_file() {
        assert_eq!(between("360_day", 0.0, 120.0, 4).0, "2024-03 | 2024-04 | 2024-05 | 2024-06 | 2024-07");
        assert_eq!(between("noleap", -30.0, 60.0, 3).0, "2024-02 | 2024-03 | 2024-04");
    }
}
