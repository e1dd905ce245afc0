//! Options that one format alone has.

use super::TargetFormat;
use crate::size::{self, human_bytes};
use hyperslab_core::{Error, Result};
use std::fmt;

/// An option of one format.
#[derive(Clone, Copy, Debug)]
pub struct TargetOption {
    /// Its name behind that of the family.
    pub key: &'static str,
    /// Its values.
    pub value: OptionValue,
    /// What it means.
    pub means: &'static str,
}

/// The values that an option of a format takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionValue {
    /// None, `true` or `false`.
    Flag,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A number of bytes in this range, as `64KiB`.
    Size {
        /// The least.
        min: u64,
        /// The largest.
        max: u64,
    },
    /// A number in this range.
    Number {
        /// The least.
        min: i64,
        /// The largest.
        max: i64,
    },
}

impl OptionValue {
    /// Whether it takes this value.
    fn takes(&self, value: Option<&str>) -> bool {
        match (self, value) {
            (OptionValue::Flag, value) => value.is_none_or(|value| ["true", "false"].contains(&value)),
            (OptionValue::Word(words), Some(value)) => words.contains(&value),
            (OptionValue::Size { min, max }, Some(value)) => {
                size::parse(value).is_some_and(|size| (*min..=*max).contains(&size))
            }
            (OptionValue::Number { min, max }, Some(value)) => {
                value.parse().is_ok_and(|number| (*min..=*max).contains(&number))
            }
            (_, None) => false,
        }
    }
}

impl fmt::Display for OptionValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionValue::Flag => f.write_str("true or false"),
            OptionValue::Word(words) => f.write_str(&words.join(" or ")),
            OptionValue::Size { min, max } => {
                write!(f, "a size from {} to {}", human_bytes(*min), human_bytes(*max))
            }
            OptionValue::Number { min, max } => write!(f, "a number from {min} to {max}"),
        }
    }
}

/// What one format alone is told: `zarr.struct=seed`, `zarr.consolidated`.
#[derive(Clone, Debug, Default)]
pub struct TargetOptions {
    given: Vec<(String, Option<String>)>,
}

impl TargetOptions {
    /// Reads `FORMAT.KEY[=VALUE]`, an option of one of `formats`.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for a key that no format has, and for
    /// what it cannot be.
    pub fn add(&mut self, formats: &[&'static dyn TargetFormat], option: &str) -> Result<()> {
        let (key, value) = match option.split_once('=') {
            Some((key, value)) => (key, Some(value.to_owned())),
            None => (option, None),
        };
        let known = || formats.iter().flat_map(|format| keys(*format));
        let Some((_, of)) = known().find(|(known, _)| known == key) else {
            let known: std::collections::BTreeSet<_> = known().map(|(known, _)| known).collect();
            let known = known.into_iter().collect::<Vec<_>>().join(", ");
            return Err(Error::invalid(format!("no option {key:?}, there are {known}")));
        };
        if !of.value.takes(value.as_deref()) {
            return Err(Error::invalid(format!("-O {option}: expected {key}={}", of.value)));
        }
        self.given.push((key.to_owned(), value));
        Ok(())
    }

    /// Whether `FORMAT.KEY` was given, and not as `=false`.
    pub fn has(&self, key: &str) -> bool {
        self.last(key).is_some_and(|value| value.as_deref() != Some("false"))
    }

    /// The value of `FORMAT.KEY`, if it was given one.
    pub fn value(&self, key: &str) -> Option<&str> {
        self.last(key)?.as_deref()
    }

    fn last(&self, key: &str) -> Option<&Option<String>> {
        self.given.iter().rev().find(|(given, _)| given == key).map(|(_, value)| value)
    }
}

impl fmt::Display for TargetOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (key, value)) in self.given.iter().enumerate() {
            f.write_str(if index > 0 { " " } else { "" })?;
            f.write_str(key)?;
            if let Some(value) = value {
                write!(f, "={value}")?;
            }
        }
        Ok(())
    }
}

fn keys(format: &dyn TargetFormat) -> impl Iterator<Item = (String, &'static TargetOption)> {
    format.options().iter().map(move |option| (format!("{}.{}", format.family(), option.key), option))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_take_the_values_that_they_name() {
        let size = OptionValue::Size { min: 512, max: 1 << 20 };
        let level = OptionValue::Number { min: -5, max: 9 };
        let word = OptionValue::Word(&["seed", "legacy"]);
        let cases = [
            (OptionValue::Flag, None, true),
            (OptionValue::Flag, Some("false"), true),
            (OptionValue::Flag, Some("no"), false),
            (word, Some("seed"), true),
            (word, Some("other"), false),
            (word, None, false),
            (size, Some("64KiB"), true),
            (size, Some("2MiB"), false),
            (size, Some("511"), false),
            (size, None, false),
            (level, Some("-5"), true),
            (level, Some("10"), false),
            (level, Some("x"), false),
        ];
        for (of, value, takes) in cases {
            assert_eq!(of.takes(value), takes, "{of}: {value:?}");
        }
        assert_eq!(size.to_string(), "a size from 512 B to 1.0 MiB");
        assert_eq!(level.to_string(), "a number from -5 to 9");
    }
}
