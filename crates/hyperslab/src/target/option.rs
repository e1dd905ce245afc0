//! Options of a single target format.

use super::TargetFormat;
use crate::size::human_bytes;
use hyperslab_core::{Error, Result};
use std::fmt;

/// An option of one format.
#[derive(Clone, Copy, Debug)]
pub struct TargetOption {
    /// Its name within the family of the format.
    pub key: &'static str,
    /// The accepted values.
    pub takes: OptionType,
    /// The description in the help.
    pub means: &'static str,
}

/// The accepted values of an option of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionType {
    /// True or false.
    Flag,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A text of this form, which the format checks.
    Text(&'static str),
    /// A number of bytes in this range.
    Size {
        /// The minimum in bytes.
        min: u64,
        /// The maximum in bytes.
        max: u64,
        /// The number that an option without a value stands for; `None` if a value is required.
        usual: Option<u64>,
    },
    /// A number in this range.
    Number {
        /// The minimum.
        min: i64,
        /// The maximum.
        max: i64,
    },
}

/// The value of an option of a format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionValue {
    /// True or false.
    Flag(bool),
    /// A word.
    Word(String),
    /// A text.
    Text(String),
    /// A number of bytes.
    Size(u64),
    /// A number.
    Number(i64),
}

impl OptionType {
    /// Whether `value` has this type and is in its range.
    pub fn takes(&self, value: &OptionValue) -> bool {
        match (self, value) {
            (OptionType::Flag, OptionValue::Flag(_)) => true,
            (OptionType::Word(words), OptionValue::Word(word)) => words.contains(&word.as_str()),
            (OptionType::Text(_), OptionValue::Text(_)) => true,
            (OptionType::Size { min, max, .. }, OptionValue::Size(size)) => (*min..=*max).contains(size),
            (OptionType::Number { min, max }, OptionValue::Number(number)) => (*min..=*max).contains(number),
            _ => false,
        }
    }
}

impl fmt::Display for OptionType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionType::Flag => f.write_str("true or false"),
            OptionType::Word(words) => f.write_str(&words.join(" or ")),
            OptionType::Text(form) => f.write_str(form),
            OptionType::Size { min, max, .. } => {
                write!(f, "a size from {} to {}", human_bytes(*min), human_bytes(*max))
            }
            OptionType::Number { min, max } => write!(f, "a number from {min} to {max}"),
        }
    }
}

impl fmt::Display for OptionValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionValue::Flag(flag) => flag.fmt(f),
            OptionValue::Word(text) | OptionValue::Text(text) => f.write_str(text),
            OptionValue::Size(size) => size.fmt(f),
            OptionValue::Number(number) => number.fmt(f),
        }
    }
}

/// The values of options of a target format. The name of an option is the family of the format and a key:
/// `zarr.struct`.
///
/// ```
/// use hyperslab::target::{OptionValue, TargetOptions};
/// use hyperslab::target_format;
///
/// let zarr = target_format("zarr3")?;
/// let options = TargetOptions::default()
///     .with(zarr, "consolidated", OptionValue::Flag(true))?
///     .with(zarr, "struct", OptionValue::Word("seed".into()))?;
/// assert!(options.flag_or("zarr.consolidated", false));
/// assert_eq!(options.to_string(), "zarr.consolidated=true zarr.struct=seed");
/// # Ok::<(), hyperslab::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct TargetOptions {
    given: Vec<(String, OptionValue)>,
}

impl TargetOptions {
    /// Sets an option of a format. If an option is set several times, the last value applies.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for a key that the format does not
    /// have, and for a value that the option does not accept.
    pub fn with(mut self, format: &dyn TargetFormat, key: &str, value: OptionValue) -> Result<TargetOptions> {
        let name = format!("{}.{key}", format.family());
        let Some(option) = format.options().iter().find(|option| option.key == key) else {
            let known: Vec<_> = format.options().iter().map(|option| option.key).collect();
            let format = format.name();
            return Err(Error::invalid(format!(
                "{format} has no option {key:?}, it has {}",
                known.join(", ")
            )));
        };
        if !option.takes.takes(&value) {
            return Err(Error::invalid(format!("option {name} is {value}, expected {}", option.takes)));
        }
        self.given.push((name, value));
        Ok(self)
    }

    /// Whether the flag with this name, `zarr.nczarr`, is set to true.
    pub fn flag(&self, name: &str) -> bool {
        self.flag_or(name, false)
    }

    /// The flag with this name, `zarr.consolidated`, or `default` if it was not set.
    pub fn flag_or(&self, name: &str, default: bool) -> bool {
        match self.get(name) {
            Some(OptionValue::Flag(flag)) => *flag,
            _ => default,
        }
    }

    /// The value of the option with this name; `None` if it was not set.
    pub fn get(&self, name: &str) -> Option<&OptionValue> {
        self.given.iter().rev().find(|(given, _)| given == name).map(|(_, value)| value)
    }

    /// The options as they were set, in order.
    pub(crate) fn given(&self) -> impl Iterator<Item = (&str, &OptionValue)> {
        self.given.iter().map(|(name, value)| (name.as_str(), value))
    }
}

impl fmt::Display for TargetOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (name, value)) in self.given.iter().enumerate() {
            write!(f, "{}{name}={value}", if index > 0 { " " } else { "" })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_values_of_its_type_and_range_only() {
        let size = OptionType::Size { min: 512, max: 1 << 20, usual: None };
        let level = OptionType::Number { min: -5, max: 9 };
        let words = OptionType::Word(&["seed", "legacy"]);
        let word = |word: &str| OptionValue::Word(word.into());
        let cases = [
            (OptionType::Flag, OptionValue::Flag(false), true),
            (OptionType::Flag, word("true"), false),
            (words, word("seed"), true),
            (words, word("other"), false),
            (words, OptionValue::Flag(true), false),
            (size, OptionValue::Size(64 << 10), true),
            (size, OptionValue::Size(2 << 20), false),
            (size, OptionValue::Size(511), false),
            (size, OptionValue::Number(512), false),
            (level, OptionValue::Number(-5), true),
            (level, OptionValue::Number(10), false),
        ];
        for (of, value, takes) in cases {
            assert_eq!(of.takes(&value), takes, "{of}: {value:?}");
        }
        assert_eq!(size.to_string(), "a size from 512 B to 1.0 MiB");
        assert_eq!(level.to_string(), "a number from -5 to 9");
    }

    #[test]
    fn rejects_unknown_options_and_wrong_values() {
        let zarr = crate::target_format("zarr3").unwrap();
        let with = |key, value| TargetOptions::default().with(zarr, key, value).unwrap_err().to_string();
        let unknown = with("structs", OptionValue::Flag(true));
        assert_eq!(
            unknown,
            "zarr3 has no option \"structs\", it has struct, consolidated, separator, nczarr, record"
        );
        let wrong = with("struct", OptionValue::Word("old".into()));
        assert_eq!(wrong, "option zarr.struct is old, expected registered or seed or legacy");
    }
}
