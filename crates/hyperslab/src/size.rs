//! Parses and formats sizes in bytes.

/// Parses a size in bytes: `512`, `64KiB`, `1.5GiB`, `100MB`. `K`, `M`, `G` and `T` without `B` are binary units.
/// Returns `None` for any other text and for sizes of more than 64 bits.
///
/// ```
/// use hyperslab::size;
/// assert_eq!(size::parse("1.5GiB"), Some(3 << 29));
/// assert_eq!(size::parse("100MB"), Some(100_000_000));
/// assert_eq!(size::parse("1.5X"), None);
/// ```
pub fn parse(text: &str) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(digits)?;
    let factor: u64 = match unit {
        "" | "B" => 1,
        "K" | "KiB" => 1 << 10,
        "M" | "MiB" => 1 << 20,
        "G" | "GiB" => 1 << 30,
        "T" | "TiB" => 1 << 40,
        "kB" | "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "TB" => 1_000_000_000_000,
        _ => return None,
    };
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let whole: u64 = whole.parse().ok()?;
    let part = match part {
        "" => 0,
        digits => {
            let scale = 10_u64.checked_pow(u32::try_from(digits.len()).ok()?)?;
            digits.parse::<u64>().ok()?.checked_mul(factor)?.checked_div(scale)?
        }
    };
    whole.checked_mul(factor)?.checked_add(part)
}

/// Formats a number of bytes with a binary unit: `477 B`, `1.1 KiB`.
pub fn human_bytes(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    // Tenths in integers, so that the text does not depend on floating-point rounding.
    let mut tenths = u128::from(bytes) * 10 / 1024;
    let mut units = UNITS.iter();
    let mut unit = units.next();
    while tenths >= 10240 {
        tenths /= 1024;
        unit = units.next();
    }
    let unit = unit.copied().unwrap_or("EiB");
    if tenths < 1000 {
        format!("{}.{} {unit}", tenths / 10, tenths % 10)
    } else {
        format!("{} {unit}", tenths / 10)
    }
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn parses_sizes_with_units() {
        let read =
            ["512", "64KiB", "1.5GiB", "100MB", "2K", "x", "", "1.5X", "99999999999999999999"].map(parse);
        let expected = [
            Some(512),
            Some(65_536),
            Some(1_610_612_736),
            Some(100_000_000),
            Some(2048),
            None,
            None,
            None,
            None,
        ];
        assert_eq!(read, expected);
    }
}
