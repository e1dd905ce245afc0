//! Numbers as CDL writes them: with the significant digits of their type.

/// The significant digits of a `float`.
pub(super) const FLOAT: usize = 7;

/// The significant digits of a `double`.
pub(super) const DOUBLE: usize = 15;

/// Where a number is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Among the values of a variable, whose type is declared.
    Value,
    /// Among the values of an attribute, where the decimal point and a suffix determine the type.
    Attribute,
}

/// A floating-point number with at most this many significant digits, as `%g` in C writes it.
pub(super) fn float(value: f64, digits: usize, place: Place) -> String {
    let is_single = digits == FLOAT;
    let suffix = if is_single { "f" } else { "" };
    if value.is_nan() {
        return format!("NaN{suffix}");
    }
    if value.is_infinite() {
        return format!("{}Infinity{suffix}", if value < 0.0 { "-" } else { "" });
    }
    let mut text = general(value, digits, place == Place::Attribute);
    if place == Place::Attribute {
        text.push_str(suffix);
    }
    text
}

/// A finite number without trailing zeros. With `has_point`, it always has a decimal point.
fn general(value: f64, digits: usize, has_point: bool) -> String {
    let scientific = format!("{:.*e}", digits.saturating_sub(1), value);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    let all: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let kept = all.trim_end_matches('0');
    let most = i32::try_from(digits).unwrap_or(i32::MAX);
    let mut text = String::from(sign);
    if exponent < -4 || exponent >= most {
        let (first, rest) = kept.split_at_checked(1).unwrap_or(("0", ""));
        text.push_str(first);
        push_fraction(&mut text, rest, has_point);
        let exponent_sign = if exponent < 0 { '-' } else { '+' };
        text.push_str(&format!("e{exponent_sign}{:02}", exponent.unsigned_abs()));
        return text;
    }
    match usize::try_from(exponent) {
        Ok(exponent) => {
            let whole = exponent.saturating_add(1);
            let (before, after) = kept.split_at_checked(whole).unwrap_or((kept, ""));
            text.push_str(before);
            text.extend(std::iter::repeat_n('0', whole.saturating_sub(before.len())));
            push_fraction(&mut text, after, has_point);
        }
        Err(_) => {
            let zeros = usize::try_from(exponent.unsigned_abs().saturating_sub(1)).unwrap_or_default();
            text.push('0');
            push_fraction(&mut text, &format!("{}{kept}", "0".repeat(zeros)), has_point);
        }
    }
    text
}

fn push_fraction(text: &mut String, fraction: &str, has_point: bool) {
    if has_point || !fraction.is_empty() {
        text.push('.');
        text.push_str(fraction);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_have_seven_digits_and_doubles_fifteen() {
        let single = |value: f32| float(f64::from(value), FLOAT, Place::Value);
        assert_eq!(single(0.1), "0.1");
        assert_eq!(single(1.0), "1");
        assert_eq!(single(-0.0), "-0");
        assert_eq!(single(1.234_567_9e-5), "1.234568e-05");
        assert_eq!(single(9_999_999.0), "9999999");
        assert_eq!(single(1e7), "1e+07");
        assert_eq!(single(120.0), "120");
        assert_eq!(single(f32::NAN), "NaNf");
        assert_eq!(single(f32::NEG_INFINITY), "-Infinityf");
        let double = |value| float(value, DOUBLE, Place::Value);
        assert_eq!(double(0.1 + 0.2), "0.3");
        assert_eq!(double(1.0 / 3.0), "0.333333333333333");
        assert_eq!(double(1e-100), "1e-100");
        assert_eq!(double(f64::INFINITY), "Infinity");
    }

    #[test]
    fn numbers_of_attributes_have_a_point_and_a_suffix() {
        assert_eq!(float(0.0, FLOAT, Place::Attribute), "0.f");
        assert_eq!(float(1.5, FLOAT, Place::Attribute), "1.5f");
        assert_eq!(float(1e10, FLOAT, Place::Attribute), "1.e+10f");
        assert_eq!(float(1_234_567.0, FLOAT, Place::Attribute), "1234567.f");
        assert_eq!(float(-100.0, DOUBLE, Place::Attribute), "-100.");
        assert_eq!(float(f64::NAN, DOUBLE, Place::Attribute), "NaN");
    }

    #[test]
    fn ties_are_rounded_to_even_digits() {
        assert_eq!(general(1.25, 2, false), "1.2");
        assert_eq!(general(1.75, 2, false), "1.8");
        assert_eq!(general(2.5, 1, false), "2");
    }
}
