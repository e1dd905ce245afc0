//! Formats counts of a time unit since 1970 as ISO 8601, with the precision of the unit.

use hyperslab_model::TimeUnit;

/// The count that means "not a time" in datetimes of NumPy and TileDB.
pub(crate) const NOT_A_TIME: i128 = i64::MIN as i128;

/// `2026-02-01T06` for hours. `None` for durations, and for units without a fixed length.
pub(crate) fn iso8601(unit: &TimeUnit, count: i128) -> Option<String> {
    if unit.duration {
        return None;
    }
    let letters = unit.unit.trim_start_matches(|c: char| c.is_ascii_digit());
    let step = match unit.unit.strip_suffix(letters)? {
        "" => 1,
        digits => i128::from(digits.parse::<u32>().ok()?),
    };
    let count = count * step;
    Some(match letters {
        "Y" => year(1970 + count),
        "M" => format!("{}-{:02}", year(1970 + count.div_euclid(12)), count.rem_euclid(12) + 1),
        "W" => date(7 * count),
        "D" => date(count),
        "h" => format!("{}T{:02}", date(count.div_euclid(24)), count.rem_euclid(24)),
        "m" => minute(count),
        "s" => second(count, 0),
        "ms" => second(count, 3),
        "us" => second(count, 6),
        "ns" => second(count, 9),
        "ps" => second(count, 12),
        "fs" => second(count, 15),
        "as" => second(count, 18),
        _ => return None,
    })
}

/// `count` of 10 to the power -`decimals` seconds.
fn second(count: i128, decimals: u32) -> String {
    let parts = 10_i128.pow(decimals);
    let (seconds, fraction) = (count.div_euclid(parts), count.rem_euclid(parts));
    let text = format!("{}:{:02}", minute(seconds.div_euclid(60)), seconds.rem_euclid(60));
    match usize::try_from(decimals) {
        Ok(width @ 1..) => format!("{text}.{fraction:0width$}"),
        _ => text,
    }
}

fn minute(count: i128) -> String {
    let hours = count.div_euclid(60);
    let (day, hour) = (hours.div_euclid(24), hours.rem_euclid(24));
    format!("{}T{hour:02}:{:02}", date(day), count.rem_euclid(60))
}

/// The day, counted from 1970-01-01, in the proleptic Gregorian calendar.
fn date(day: i128) -> String {
    // Years begin in March, so that a leap day is the last day of a year.
    let day = day + 719_468;
    let (era, day) = (day.div_euclid(146_097), day.rem_euclid(146_097));
    let of_era = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * of_era + of_era / 4 - of_era / 100);
    let march = (5 * of_year + 2) / 153;
    let (month, next) = if march < 10 { (march + 3, 0) } else { (march - 9, 1) };
    format!("{}-{month:02}-{:02}", year(400 * era + of_era + next), of_year - (153 * march + 2) / 5 + 1)
}

fn year(year: i128) -> String {
    if year < 0 { format!("-{:04}", -year) } else { format!("{year:04}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(unit: &str, count: i128) -> String {
        iso8601(&TimeUnit { unit: unit.into(), duration: false }, count).unwrap()
    }

    #[test]
    fn writes_times_as_precisely_as_their_unit() {
        assert_eq!(show("Y", 56), "2026");
        assert_eq!(show("M", 673), "2026-02");
        assert_eq!(show("W", 1), "1970-01-08");
        assert_eq!(show("D", 20_485), "2026-02-01");
        assert_eq!(show("h", 491_646), "2026-02-01T06");
        assert_eq!(show("m", -1), "1969-12-31T23:59");
        assert_eq!(show("s", 1_769_925_600), "2026-02-01T06:00:00");
        assert_eq!(show("ms", -1), "1969-12-31T23:59:59.999");
        assert_eq!(show("as", 1), "1970-01-01T00:00:00.000000000000000001");
        assert_eq!(show("15m", 3), "1970-01-01T00:45");
    }

    #[test]
    fn leap_days_and_far_years() {
        assert_eq!(show("D", 11_016), "2000-02-29");
        assert_eq!(show("D", -25_509), "1900-02-28");
        assert_eq!(show("D", -25_508), "1900-03-01");
        assert_eq!(show("D", -719_529), "-0001-12-31");
        assert_eq!(show("Y", i128::from(i64::MAX)), "9223372036854777777");
        assert_eq!(show("s", i128::from(i64::MAX)), "292277026596-12-04T15:30:07");
        assert!(show("4294967295W", i128::from(i64::MIN) + 1).starts_with("-7"));
    }

    #[test]
    fn durations_and_unknown_units_have_no_date() {
        assert_eq!(iso8601(&TimeUnit { unit: "s".into(), duration: true }, 1), None);
        assert_eq!(iso8601(&TimeUnit { unit: "generic".into(), duration: false }, 1), None);
    }
}
