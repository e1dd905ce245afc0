//! Wrong usage of the command line: a description of the error, and one line that works.

use crate::args::{Cli, Verb};
use crate::{line, tried, verb};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, CommandFactory, Parser};
use hyperslab::Error;
use hyperslab::location::nearest;
use std::error::Error as _;
use std::ffi::OsString;

/// Options for naming a variable, which other commands have.
const VARIABLE: [&str; 3] = ["-v", "--variable", "--var"];

/// Option values of other programs, and the values here that do the same.
const OTHER_VALUES: &[(&str, &str)] = &[
    ("xlsx", "csv"),
    ("xls", "csv"),
    ("excel", "csv"),
    ("feather", "arrow"),
    ("numpy", "npy"),
    ("text", "table"),
];

/// The error for words that the parser rejects. The verb comes first.
pub(crate) fn error(found: &clap::Error, words: &[OsString]) -> Error {
    let wrong = Wrong::new(found, words);
    let error = Error::invalid(wrong.detail());
    match wrong.better() {
        Some(line) => error.with_hint(format_args!("did you mean `{line}`?")),
        None => error.with_hint(wrong.explained()),
    }
}

/// Words that the parser rejects.
struct Wrong<'a> {
    found: &'a clap::Error,
    /// The definition of the command line.
    whole: Command,
    /// The verb among the words.
    verb: String,
    typed: Vec<String>,
}

impl Wrong<'_> {
    fn new<'a>(found: &'a clap::Error, words: &[OsString]) -> Wrong<'a> {
        let whole = Cli::command();
        let named = words.get(1).map(|word| word.to_string_lossy().into_owned());
        let verb = named.filter(|word| whole.find_subcommand(word).is_some()).unwrap_or_default();
        Wrong { found, whole, verb, typed: line::typed() }
    }

    /// A description of what was found and what was expected.
    fn detail(&self) -> String {
        let arg = self.text(ContextKind::InvalidArg);
        let value = self.text(ContextKind::InvalidValue);
        match (self.found.kind(), arg, value) {
            (ErrorKind::UnknownArgument, Some(arg), _) if arg.starts_with('-') => match self.verb.as_str() {
                "" => format!("there is no option {arg}"),
                verb => format!("{verb} has no option {arg}"),
            },
            (ErrorKind::UnknownArgument, Some(arg), _) => format!("unexpected argument '{arg}'"),
            (ErrorKind::InvalidValue, Some(arg), Some(value)) if value.is_empty() => {
                format!("{arg} needs a value")
            }
            (ErrorKind::InvalidValue, Some(arg), Some(value)) => {
                format!("{arg}: '{value}', expected one of {}", self.valid().join(", "))
            }
            (ErrorKind::ValueValidation, Some(arg), _) if let Some(why) = self.found.source() => {
                format!("{arg}: {why}")
            }
            (ErrorKind::MissingRequiredArgument, ..) => {
                format!("{} needs {}", self.verb, self.missing().join(" and "))
            }
            _ => {
                let text = self.found.to_string();
                let first = text.lines().next().unwrap_or_default();
                first.trim_start_matches("error: ").to_owned()
            }
        }
    }

    /// The typed line as it was probably meant, if there is a plausible correction.
    fn better(&self) -> Option<String> {
        let words = match self.found.kind() {
            ErrorKind::UnknownArgument => {
                let arg = self.text(ContextKind::InvalidArg)?;
                match arg.starts_with('-') && !VARIABLE.contains(&arg.as_str()) {
                    true => self.with_option(&arg)?,
                    false => return tried::variable(&self.typed),
                }
            }
            ErrorKind::InvalidValue => {
                let value = self.text(ContextKind::InvalidValue).filter(|value| !value.is_empty())?;
                let valid = self.valid();
                let known = |of: &str| valid.iter().any(|own| own == of);
                let other = OTHER_VALUES.iter().find(|(own, of)| *own == value && known(of));
                let near = other.map(|(_, of)| *of);
                let near = near.or_else(|| nearest(&value, valid.iter().map(String::as_str)))?;
                self.with_value(&value, near)
            }
            ErrorKind::MissingRequiredArgument if self.verb == "convert" => {
                return tried::conversion(&self.typed);
            }
            _ => return None,
        };
        parses(&words).then(|| line::of(words))
    }

    /// The words with an unknown option replaced by the most similar option of the verb.
    fn with_option(&self, unknown: &str) -> Option<Vec<String>> {
        let own = self.whole.find_subcommand(&self.verb);
        let options = || own.into_iter().chain([&self.whole]).flat_map(Command::get_arguments);
        let better = match unknown.strip_prefix("--") {
            Some(name) => {
                let names: Vec<&str> = options().filter_map(Arg::get_long).collect();
                let similar = nearest(name, names.iter().copied());
                let longer = || names.iter().copied().find(|own| own.starts_with(name));
                format!("--{}", similar.or_else(longer)?)
            }
            None => {
                let letter = unknown.chars().nth(1)?;
                let swapped = |own: &char| *own != letter && own.eq_ignore_ascii_case(&letter);
                format!("-{}", options().filter_map(Arg::get_short).find(swapped)?)
            }
        };
        Some(self.typed.iter().map(|word| replaced(word, unknown, &better)).collect())
    }

    /// The words with the value of an option replaced.
    fn with_value(&self, value: &str, better: &str) -> Vec<String> {
        let of = |word: &String| match word.strip_suffix(value) {
            Some("") => better.to_owned(),
            Some(option) if option.starts_with('-') => format!("{option}{better}"),
            _ => word.clone(),
        };
        self.typed.iter().map(of).collect()
    }

    /// Advice if there is no corrected line.
    fn explained(&self) -> String {
        match (self.verb.as_str(), self.found.kind()) {
            ("", _) => "`hyperslab -h` lists the verbs and options".into(),
            (verb, ErrorKind::MissingRequiredArgument) => {
                let usage = self.whole.clone().find_subcommand_mut(verb).map(|own| {
                    let usage = own.render_usage().to_string();
                    usage.split_once(verb).map_or(String::new(), |(_, rest)| rest.trim().to_owned())
                });
                format!(
                    "write hyperslab {verb} {}; `hyperslab {verb} -h` explains it",
                    usage.unwrap_or_default()
                )
            }
            (verb, ErrorKind::ValueValidation | ErrorKind::InvalidValue) => {
                format!("`hyperslab {verb} --help` explains the option")
            }
            (verb, _) => format!("`hyperslab {verb} -h` lists its options"),
        }
    }

    /// The names of the arguments that are missing.
    fn missing(&self) -> Vec<String> {
        let given = self.typed.iter().filter(|word| !word.starts_with('-')).count();
        match self.found.get(ContextKind::InvalidArg) {
            // The parser treats a single location as the target.
            Some(ContextValue::Strings(_)) if self.verb == "convert" && given > 1 => {
                vec!["the TARGET to write".into()]
            }
            Some(ContextValue::Strings(names)) => names
                .iter()
                .map(|name| {
                    let name = name.trim_end_matches("...");
                    // The brackets of an option enclose only its value.
                    let inner = name.strip_prefix('<').and_then(|name| name.strip_suffix('>'));
                    inner.unwrap_or(name).replace('|', " or ")
                })
                .collect(),
            _ => vec!["more arguments".into()],
        }
    }

    fn valid(&self) -> Vec<String> {
        match self.found.get(ContextKind::ValidValue) {
            Some(ContextValue::Strings(valid)) => valid.clone(),
            _ => Vec::new(),
        }
    }

    fn text(&self, kind: ContextKind) -> Option<String> {
        match self.found.get(kind)? {
            ContextValue::String(text) => Some(text.clone()),
            ContextValue::Strings(texts) => texts.first().cloned(),
            _ => None,
        }
    }
}

/// A word with the option `unknown` replaced by `better`. The option may precede its value or be among other letters.
fn replaced(word: &str, unknown: &str, better: &str) -> String {
    if word == unknown {
        return better.to_owned();
    }
    if let Some(value) = word.strip_prefix(unknown).filter(|value| value.starts_with('=')) {
        return format!("{better}{value}");
    }
    match (word.strip_prefix('-'), unknown.strip_prefix('-'), better.strip_prefix('-')) {
        (Some(letters), Some(one), Some(other)) if !letters.starts_with('-') && !one.starts_with('-') => {
            format!("-{}", letters.replacen(one, other, 1))
        }
        _ => word.to_owned(),
    }
}

/// Whether these words are a valid command line.
fn parses(words: &[String]) -> bool {
    let words = std::iter::once("hyperslab").chain(words.iter().map(String::as_str)).map(OsString::from);
    let Ok(words) = verb::in_front(words.collect()) else { return false };
    Cli::try_parse_from(words).is_ok_and(|cli| !matches!(cli.verb, Verb::Man { .. }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_is_replaced_with_its_value_and_among_other_letters() {
        for (word, unknown, better, expected) in [
            ("--atrs", "--atrs", "--attrs", "--attrs"),
            ("--vales=3", "--vales", "--values", "--values=3"),
            ("-R", "-R", "-r", "-r"),
            ("-lR", "-R", "-r", "-lr"),
            ("--Rest", "-R", "-r", "--Rest"),
            ("a-R", "-R", "-r", "a-R"),
        ] {
            assert_eq!(replaced(word, unknown, better), expected);
        }
    }
}
