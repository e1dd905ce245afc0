//! The patterns of tokens, and the numbers in them.
//!
//! Spec: UDUNITS-2.2.28, `lib/scanner.l`

use super::Pattern;
use crate::units::LogarithmBase;

/// The characters that may follow a date: the `T` before a time, or spaces.
pub(super) const BEHIND_DATE: [char; 6] = ['T', ' ', '\t', '\r', '\u{c}', '\u{b}'];

/// The maximum number of bytes that a pattern matches at the beginning of the text; 0 if it does not match.
pub(super) fn length(pattern: Pattern, text: &[u8]) -> usize {
    match pattern {
        Pattern::Shift => keyword(text, &[b"@", b"after", b"from", b"ref", b"since"]),
        Pattern::Divide => keyword(text, &[b"per", b"/"]),
        Pattern::Multiply => match text {
            [b'-' | b'.' | b'*', ..] => 1,
            // A middle dot.
            [0xc2, 0xb7, ..] => 2,
            _ => spaces(text),
        },
        Pattern::Exponent => {
            let operator = if text.starts_with(b"**") { 2 } else { usize::from(text.starts_with(b"^")) };
            if operator == 0 { 0 } else { followed(operator, integer(after(text, operator))) }
        }
        Pattern::Superscript => superscript(text),
        Pattern::BrokenDate => broken_date(text),
        Pattern::PackedDate => packed(text, [is_year, is_month, is_day], |rest, _| behind_date(rest)),
        Pattern::BrokenClock => broken_clock(text),
        Pattern::PackedClock => packed(text, [is_hour, is_minute, is_second], |rest, fields| {
            let fraction = if fields == 3 { fraction(rest) } else { 0 };
            fraction + spaces(after(rest, fraction))
        }),
        Pattern::BrokenZone => {
            let hour = integer(text);
            let is_broken = hour > 0 && after(text, hour).starts_with(b":");
            if is_broken { followed(hour + 1, digits(after(text, hour + 1))) } else { 0 }
        }
        Pattern::SignedZone if sign(text) == 0 => 0,
        Pattern::SignedZone => integer(text),
        Pattern::Zone => digits(text),
        Pattern::Real => real(text),
        Pattern::Integer => integer(text),
        Pattern::Logarithm(base) => logarithm(base, text),
        Pattern::Identifier => identifier(text),
        Pattern::Any => usize::from(!text.starts_with(b"\n")),
    }
}

/// The value of an integer, and whether it fits in 64 bits; if not, the nearest value that does.
pub(in crate::units) fn scan_integer(text: &str) -> (i64, bool) {
    match text.parse() {
        Ok(number) => (number, true),
        Err(_) if text.starts_with('-') => (i64::MIN, false),
        Err(_) => (i64::MAX, false),
    }
}

/// The value of a decimal number, if it is a normal number.
pub(super) fn scan_real(text: &str) -> Option<f64> {
    let number: f64 = text.parse().ok()?;
    let mantissa = text.split(['e', 'E']).next().unwrap_or_default();
    let is_zero = !mantissa.contains(|digit: char| ('1'..='9').contains(&digit));
    (number.is_normal() || is_zero).then_some(number)
}

/// The value of an exponent in superscript digits, if it fits in 32 bits.
pub(super) fn scan_superscript(text: &str) -> Option<i64> {
    let mut exponent: i32 = 0;
    for digit in text.chars().filter_map(|raised| DIGITS.iter().position(|known| *known == raised)) {
        exponent = exponent.checked_mul(10)?.checked_add(i32::try_from(digit).ok()?)?;
    }
    let exponent = i64::from(exponent);
    Some(if text.starts_with(MINUS) { -exponent } else { exponent })
}

const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
const PLUS: char = '⁺';
const MINUS: char = '⁻';

fn after(text: &[u8], length: usize) -> &[u8] {
    text.get(length..).unwrap_or_default()
}

/// Two parts of which the second must not be empty.
fn followed(first: usize, second: usize) -> usize {
    if second > 0 { first + second } else { 0 }
}

fn count(text: &[u8], is_part: impl Fn(&u8) -> bool) -> usize {
    text.iter().take_while(|byte| is_part(byte)).count()
}

/// The number of white space bytes, not counting line feeds.
fn spaces(text: &[u8]) -> usize {
    count(text, |byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\x0c' | b'\x0b'))
}

fn digits(text: &[u8]) -> usize {
    count(text, u8::is_ascii_digit)
}

fn sign(text: &[u8]) -> usize {
    usize::from(matches!(text, [b'+' | b'-', ..]))
}

fn integer(text: &[u8]) -> usize {
    followed(sign(text), digits(after(text, sign(text))))
}

/// One of the words, in any case, surrounded by spaces.
fn keyword(text: &[u8], words: &[&[u8]]) -> usize {
    let before = spaces(text);
    let rest = after(text, before);
    let is_next = |word: &&&[u8]| rest.get(..word.len()).is_some_and(|next| next.eq_ignore_ascii_case(word));
    match words.iter().find(is_next) {
        Some(word) => before + word.len() + spaces(after(rest, word.len())),
        None => 0,
    }
}

fn real(text: &[u8]) -> usize {
    let sign = sign(text);
    let whole = digits(after(text, sign));
    let point = after(text, sign + whole);
    let fraction = if point.starts_with(b".") { digits(after(point, 1)) } else { 0 };
    let is_mantissa = point.starts_with(b".") && whole + fraction > 0;
    let mantissa = sign + whole + if is_mantissa { 1 + fraction } else { 0 };
    let exponent = match after(text, mantissa) {
        [b'e' | b'E', rest @ ..] => followed(1, integer(rest)),
        _ => 0,
    };
    if is_mantissa || (whole > 0 && exponent > 0) { mantissa + exponent } else { 0 }
}

fn superscript(text: &[u8]) -> usize {
    let starts_with =
        |text: &[u8], raised: char| text.starts_with(raised.encode_utf8(&mut [0; 4]).as_bytes());
    let sign = if starts_with(text, PLUS) || starts_with(text, MINUS) { PLUS.len_utf8() } else { 0 };
    let mut length = 0;
    while let Some(digit) = DIGITS.iter().find(|digit| starts_with(after(text, sign + length), **digit)) {
        length += digit.len_utf8();
    }
    followed(sign, length)
}

/// `log(re`, with optional spaces and a colon at certain places.
fn logarithm(base: LogarithmBase, text: &[u8]) -> usize {
    let words: &[&[u8]] = match base {
        LogarithmBase::Binary => &[b"lb"],
        LogarithmBase::Natural => &[b"ln"],
        LogarithmBase::Decimal => &[b"log", b"lg"],
    };
    let Some(word) = words.iter().find(|word| text.starts_with(word)) else { return 0 };
    let mut length = word.len() + spaces(after(text, word.len()));
    if !after(text, length).starts_with(b"(") {
        return 0;
    }
    length += 1;
    length += spaces(after(text, length));
    if !matches!(after(text, length), [b'R' | b'r', b'E' | b'e', ..]) {
        return 0;
    }
    length += 2;
    // A colon is part of it only if a space follows.
    if after(text, length).starts_with(b":") && spaces(after(text, length + 1)) > 0 {
        length += 1;
    }
    length + spaces(after(text, length))
}

/// A symbol that is a unit, or letters that may contain digits.
fn identifier(text: &[u8]) -> usize {
    if matches!(text, [b'%' | b'\'' | b'"', ..]) {
        return 1;
    }
    let mut end = letter(text);
    if end == 0 {
        return 0;
    }
    loop {
        let digits = digits(after(text, end));
        let letter = letter(after(text, end + digits));
        if letter == 0 {
            return end;
        }
        end += digits + letter;
    }
}

/// A letter according to UDUNITS, which treats most of UTF-8 as letters, including superscript digits from 4 on.
fn letter(text: &[u8]) -> usize {
    match text {
        [b'_' | b'a'..=b'z' | b'A'..=b'Z', ..] => 1,
        [0xc2, 0xa0 | 0xad | 0xb0 | 0xb5, ..] => 2,
        [0xc3, 0x80..=0x96 | 0x98..=0xb6 | 0xb8..=0xbf, ..] => 2,
        [0xc8..=0xdf, 0x80..=0xbf, ..] => 2,
        [0xe0..=0xef, 0x80..=0xbf, 0x80..=0xbf, ..] => 3,
        _ => 0,
    }
}

/// Whether these bytes are a field of a date or time.
type Field = fn(&[u8]) -> bool;

/// The positions after such a field, which may have several lengths.
fn ends(text: &[u8], start: usize, is_field: Field) -> impl Iterator<Item = usize> {
    let ends = (1..=LONGEST_FIELD).map(move |length| start + length);
    ends.filter(move |end| text.get(start..*end).is_some_and(is_field))
}

/// The positions after such a field and a separator.
fn ends_before(text: &[u8], separator: u8, is_field: Field) -> impl Iterator<Item = usize> {
    let ends = ends(text, 0, is_field);
    ends.filter(move |end| after(text, *end).first() == Some(&separator)).map(|end| end + 1)
}

/// The number of bytes of the longest field: a year with its sign.
const LONGEST_FIELD: usize = 5;

fn is_year(text: &[u8]) -> bool {
    let digits = after(text, sign(text));
    (1..=4).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit)
}

fn is_month(text: &[u8]) -> bool {
    matches!(text, [b'1'..=b'9'] | [b'0', b'1'..=b'9'] | [b'1', b'0'..=b'2'])
}

fn is_day(text: &[u8]) -> bool {
    matches!(text, [b'1'..=b'9'] | [b'0', b'1'..=b'9'] | [b'1' | b'2', b'0'..=b'9'] | [b'3', b'0' | b'1'])
}

fn is_hour(text: &[u8]) -> bool {
    match text {
        [b'2', b'0'..=b'3'] => true,
        _ => matches!(after(text, sign(text)), [b'0'..=b'9'] | [b'0' | b'1', b'0'..=b'9']),
    }
}

fn is_minute(text: &[u8]) -> bool {
    matches!(text, [b'0'..=b'9'] | [b'0'..=b'5', b'0'..=b'9'])
}

/// A second without its fraction.
fn is_second(text: &[u8]) -> bool {
    text == b"60" || is_minute(text)
}

/// The fraction of a second. Its digits may be missing.
fn fraction(text: &[u8]) -> usize {
    if text.starts_with(b".") { 1 + digits(after(text, 1)) } else { 0 }
}

/// Up to three consecutive fields. What may follow them depends on their number.
fn packed(text: &[u8], fields: [Field; 3], behind: impl Fn(&[u8], usize) -> usize) -> usize {
    let [first, second, third] = fields;
    let whole = |end: usize, fields: usize| end + behind(after(text, end), fields);
    let mut longest = 0;
    for one in ends(text, 0, first) {
        longest = longest.max(whole(one, 1));
        for two in ends(text, one, second) {
            longest = longest.max(whole(two, 2));
            longest = ends(text, two, third).map(|three| whole(three, 3)).fold(longest, usize::max);
        }
    }
    longest
}

fn broken_date(text: &[u8]) -> usize {
    let whole = |end: usize| end + behind_date(after(text, end));
    let mut longest = 0;
    for month in ends_before(text, b'-', is_year).flat_map(|start| ends(text, start, is_month)) {
        longest = longest.max(whole(month));
        if after(text, month).starts_with(b"-") {
            longest = ends(text, month + 1, is_day).map(whole).fold(longest, usize::max);
        }
    }
    longest
}

fn behind_date(rest: &[u8]) -> usize {
    if rest.starts_with(b"T") { 1 } else { spaces(rest) }
}

fn broken_clock(text: &[u8]) -> usize {
    let whole = |end: usize| end + spaces(after(text, end));
    let mut longest = 0;
    for minute in ends_before(text, b':', is_hour).flat_map(|start| ends(text, start, is_minute)) {
        longest = longest.max(whole(minute));
        if after(text, minute).starts_with(b":") {
            let seconds = ends(text, minute + 1, is_second).map(|end| end + fraction(after(text, end)));
            longest = seconds.map(whole).fold(longest, usize::max);
        }
    }
    longest
}
