//! The text form of selections, as on the command line.

use super::request::{Labels, Part, Pick, Select};
use hyperslab_cf::time::is_date;
use hyperslab_core::{Error, Remedy, Result};
use std::str::FromStr;

impl FromStr for Select {
    type Err = Error;

    /// Parses a selection: `0:10:2,:,5`, `time=3,lat=0:90:2`, `lat=-30..30`, `station==oslo`, `lat~=59.9`.
    ///
    /// # Errors
    /// If the text is not a selection.
    fn from_str(text: &str) -> Result<Select> {
        Ok(Select::of_parts(parse(text)?))
    }
}

fn parse(text: &str) -> Result<Vec<Part>> {
    let parts = split(text)?;
    let read = |(at, own): (usize, &&str)| part(own).map_err(|error| by_coordinate(error, text, &parts, at));
    parts.iter().enumerate().map(read).collect()
}

/// Adds to the error in a part a suggestion of the selection by coordinate that was probably meant: `lat=1.5`,
/// `station=oslo`.
fn by_coordinate(error: Error, whole: &str, parts: &[&str], at: usize) -> Error {
    let better = parts.get(at).and_then(|part| {
        let (name, value) = parted(part, "=")?;
        let (name, value) = (name.trim_end(), value.trim());
        if name.is_empty() || name.ends_with('~') || value.is_empty() || value.starts_with(['=', '[']) {
            return None;
        }
        Some(match value.split_once(':') {
            Some((_, rest)) if rest.contains(':') => return None,
            Some((first, last)) => (format!("{name}={first}..{last}"), "selects the coordinates between"),
            None if value.parse::<f64>().is_ok() => {
                (format!("{name}~={value}"), "selects the nearest coordinate")
            }
            None => (format!("{name}=={value}"), "selects the equal coordinate"),
        })
    });
    match better {
        Some((better, effect)) if part(&better).is_ok() => {
            let write: Vec<_> =
                parts.iter().enumerate().map(|(k, own)| if k == at { &better } else { *own }).collect();
            error.with_remedy(Remedy::Instead {
                given: whole.to_owned(),
                write: write.join(","),
                effect: Some(effect.to_owned()),
            })
        }
        _ => error
            .with_hint("== selects equal coordinates, ~= the nearest, FIRST..LAST the coordinates between"),
    }
}

/// Splits at commas that are not inside brackets or quotes.
fn split(text: &str) -> Result<Vec<&str>> {
    let (mut parts, mut begin, mut depth, mut quoted) = (Vec::new(), 0, 0_u32, false);
    for (at, c) in text.char_indices() {
        match c {
            '\'' => quoted = !quoted,
            '[' if !quoted => depth += 1,
            ']' if !quoted => depth = depth.saturating_sub(1),
            ',' if !quoted && depth == 0 => {
                parts.extend(text.get(begin..at));
                begin = at + 1;
            }
            _ => {}
        }
    }
    if quoted {
        return Err(Error::invalid(format!(
            "selection {text:?} has an unclosed quote; a quote within quotes is written ''"
        )));
    }
    parts.extend(text.get(begin..));
    Ok(parts.into_iter().map(str::trim).collect())
}

fn part(text: &str) -> Result<Part> {
    if text == "..." {
        return Ok(Part::Between);
    }
    let Some((before, after)) = parted(text, "=") else { return Ok(Part::Next(pick(text)?)) };
    let (name, pick) = match (before.strip_suffix('~'), after.strip_prefix('=')) {
        (Some(name), _) => (name, Pick::Labels(Labels::Nearest(word(text, after)?))),
        (None, Some(value)) => (before, Pick::Labels(Labels::Equal(word(text, value)?))),
        (None, None) => (before, pick(after.trim())?),
    };
    Ok(Part::Named(word(text, name)?, pick))
}

fn pick(text: &str) -> Result<Pick> {
    if let Some(list) = text.strip_prefix('[').and_then(|list| list.strip_suffix(']')) {
        return Ok(Pick::List(list.split(',').map(|item| position(item.trim())).collect::<Result<_>>()?));
    }
    if let Some((first, last)) = parted(text, "..") {
        let end = |end: &str| if end.trim().is_empty() { Ok(None) } else { word(text, end).map(Some) };
        return Ok(Pick::Labels(Labels::Between(end(first)?, end(last)?)));
    }
    if is_date(text) {
        return Ok(Pick::Labels(Labels::Equal(text.to_owned())));
    }
    if !text.contains(':') {
        return Ok(Pick::Position(position(text)?));
    }
    let mut parts = text.split(':').map(str::trim);
    let mut bound = || parts.next().filter(|part| !part.is_empty()).map(position).transpose();
    let (start, stop) = (bound()?, bound()?);
    let step = match parts.next() {
        None | Some("") => 1,
        Some(step) => step.parse().ok().filter(|step| *step != 0).ok_or_else(|| {
            Error::invalid(format!("step {step:?} in {text:?}, expected a whole number other than 0"))
        })?,
    };
    if parts.next().is_some() {
        return Err(Error::invalid(format!("{text:?} has too many colons, expected start:stop:step")));
    }
    Ok(Pick::Range { start, stop, step })
}

fn position(text: &str) -> Result<i64> {
    let position =
        text.parse::<i128>().map(|at| i64::try_from(at).unwrap_or(if at < 0 { i64::MIN } else { i64::MAX }));
    position.map_err(|_| Error::invalid(format!("{text:?} is not a position, expected a whole number")))
}

/// A name or value without its quotes.
fn word(whole: &str, text: &str) -> Result<String> {
    let text = text.trim();
    match text.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')) {
        Some(quoted) => Ok(quoted.replace("''", "'")),
        None if text.is_empty() => {
            Err(Error::invalid(format!("{whole:?} lacks a name or a value, expected NAME==VALUE")))
        }
        None => Ok(text.to_owned()),
    }
}

/// The text before and after the first `mark` outside quotes.
fn parted<'a>(text: &'a str, mark: &str) -> Option<(&'a str, &'a str)> {
    let mut quoted = false;
    for (at, c) in text.char_indices() {
        quoted ^= c == '\'';
        if let (false, Some((before, rest))) = (quoted, text.split_at_checked(at))
            && let Some(after) = rest.strip_prefix(mark)
        {
            return Some((before, after));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(text: &str) -> (String, Pick) {
        match parse(text).unwrap().remove(0) {
            Part::Named(name, pick) => (name, pick),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn quotes_protect_commas_marks_and_quotes() {
        let equal =
            |name: &str, value: &str| (name.to_owned(), Pick::Labels(Labels::Equal(value.to_owned())));
        assert_eq!(named("station=='Oslo, N'"), equal("station", "Oslo, N"));
        assert_eq!(named("'my, dim'==a..b"), equal("my, dim", "a..b"));
        assert_eq!(named("'a==b'=='''=['"), equal("a==b", "'=["));
        assert_eq!(named(" station == '' "), equal("station", ""));
        assert_eq!(parse("station=='Oslo, N',...,[1, 2]").unwrap().len(), 3);
    }

    #[test]
    fn marks_distinguish_positions_from_values() {
        let between = |first: Option<&str>, last: Option<&str>| {
            Pick::Labels(Labels::Between(first.map(str::to_owned), last.map(str::to_owned)))
        };
        assert_eq!(named("lat=-30..30").1, between(Some("-30"), Some("30")));
        assert_eq!(named("lat=..0").1, between(None, Some("0")));
        assert_eq!(named("time=2026-01-01T06:00..").1, between(Some("2026-01-01T06:00"), None));
        assert_eq!(named("lat~=59.9").1, Pick::Labels(Labels::Nearest("59.9".into())));
        assert_eq!(named("time=2026-01-31").1, Pick::Labels(Labels::Equal("2026-01-31".into())));
        assert_eq!(named("time=2026").1, Pick::Position(2026));
        assert_eq!(named("lat=-2:").1, Pick::Range { start: Some(-2), stop: None, step: 1 });
    }

    #[test]
    fn errors_explain_why_a_text_is_not_a_selection() {
        for (text, part) in [
            ("station=='Oslo", "has an unclosed quote"),
            ("==3", "lacks a name"),
            ("lat==", "lacks a name or a value"),
            ("lat=1.5", "is not a position"),
            ("lat=a:b", "is not a position"),
            ("1:2:3:4", "too many colons"),
            ("::0", "other than 0"),
            ("lat=[]", "is not a position"),
        ] {
            let message = parse(text).unwrap_err().to_string();
            assert!(message.contains(part), "{text}: {message}");
        }
    }
}
