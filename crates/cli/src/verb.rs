//! Finds the verb of a command line: options may come before it, and a location in its place is described.

use crate::args::Cli;
use crate::{line, tried};
use clap::{Arg, ArgAction, Command, CommandFactory};
use hyperslab::Error;
use hyperslab::location::{Locator, nearest};
use std::ffi::OsString;
use std::path::Path;

/// The verb of a command line without one.
const IMPLIED: &str = "describe";

/// The words with the verb before all options, as the parser expects it.
///
/// # Errors
/// If the first word that is not an option is neither a verb nor a location.
pub(crate) fn in_front(mut words: Vec<OsString>) -> Result<Vec<OsString>, Error> {
    let command = Cli::command();
    let Some((at, is_location)) = first_word(&command, &words) else { return Ok(words) };
    let Some(word) = words.get(at).map(|word| word.to_string_lossy().into_owned()) else { return Ok(words) };
    if !is_location && command.find_subcommand(&word).is_some() {
        words.get_mut(1..=at).into_iter().for_each(|before| before.rotate_right(1));
        return Ok(locations_last(words));
    }
    let store = Locator::parse(&word).store;
    if is_location || looks_like_path(&word) || Path::new(&word).exists() || Path::new(&store).exists() {
        words.insert(1, IMPLIED.into());
        return Ok(words);
    }
    let error = Error::invalid(format!("'{word}' is neither a verb nor an existing location"));
    let typed = line::typed();
    let variable = || tried::variable(&typed).map(|line| format!("did you mean `{line}`?"));
    if let Some(hint) = tried::hint(&word, &typed).or_else(variable) {
        return Err(error.with_hint(hint));
    }
    Err(match nearest(&word, command.get_subcommands().map(Command::get_name)) {
        Some(verb) => {
            let named = typed.iter().map(|own| if *own == word { verb } else { own });
            error.with_hint(format_args!("did you mean '{verb}'? `{}`", line::of(named)))
        }
        None => error,
    })
}

/// The words with the options of a verb moved before its locations, if it has several sources and a target: the parser
/// treats the target as one of the sources unless it directly follows them. The verb is the first word.
pub(crate) fn locations_last(words: Vec<OsString>) -> Vec<OsString> {
    let command = Cli::command();
    let own = words.get(1).and_then(|word| command.find_subcommand(word));
    let Some(own) = own.filter(|own| has_sources_and_target(own)) else { return words };
    let option = |is: &dyn Fn(&Arg) -> bool| {
        own.get_arguments().chain(command.get_arguments()).find(|arg| is(arg)).is_some_and(takes)
    };
    let (mut options, mut locations) = (Vec::new(), Vec::new());
    let mut rest = words.iter().skip(2).cloned().peekable();
    while let Some(word) = rest.next() {
        let text = word.to_string_lossy().into_owned();
        if text == "--" {
            // Everything after it is a location, whatever it looks like.
            options.push(word);
            locations.extend(rest);
            break;
        }
        if text == "-" || !text.starts_with('-') {
            locations.push(word);
        } else if !awaits_value(&text, &option) {
            options.push(word);
        } else if rest.peek().is_some() {
            options.extend([word].into_iter().chain(rest.next()));
        } else {
            // The value of the option is missing, and no location may be taken for it.
            locations.push(word);
        }
    }
    words.into_iter().take(2).chain(options).chain(locations).collect()
}

/// Whether the last location of a verb is a separate argument from those before it, of which there may be several.
fn has_sources_and_target(verb: &Command) -> bool {
    let mut locations = verb.get_positionals();
    let is_list = |arg: &Arg| matches!(arg.get_action(), ArgAction::Append);
    locations.next().is_some_and(is_list) && locations.next().is_some()
}

/// The index of the first word that is neither an option nor the value of one, and whether it comes after `--`, where
/// no verb is allowed.
fn first_word(command: &Command, words: &[OsString]) -> Option<(usize, bool)> {
    let mut at = 1;
    loop {
        let word = words.get(at)?.to_string_lossy();
        if word == "--" {
            return words.get(at + 1).map(|_| (at + 1, true));
        }
        if word == "-" || !word.starts_with('-') {
            return Some((at, false));
        }
        let next = words.get(at + 1).map(|next| next.to_string_lossy());
        at += if takes_next(command, &word, next.as_deref()) { 2 } else { 1 };
    }
}

/// Whether the value of an option is the next word.
fn takes_next(command: &Command, option: &str, next: Option<&str>) -> bool {
    awaits_value(option, &|is| meant(command, next, is).is_some_and(takes))
}

/// Whether an option takes a value that may be a separate word.
fn takes(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::Set | ArgAction::Append) && !arg.is_require_equals_set()
}

/// A predicate for an option.
type Is<'a> = &'a dyn Fn(&Arg) -> bool;

/// Whether the value of the option in a word is the next word. `takes` states whether the option that matches a
/// predicate takes a value.
fn awaits_value(word: &str, takes: &dyn Fn(Is<'_>) -> bool) -> bool {
    if let Some(long) = word.strip_prefix("--") {
        return !long.contains('=') && takes(&|arg| arg.get_long() == Some(long));
    }
    // Among several short options, everything after the first that takes a value is this value.
    let mut letters = word.chars().skip(1);
    let taker = letters.find(|letter| takes(&|arg| arg.get_short() == Some(*letter)));
    taker.is_some() && letters.next().is_none()
}

/// The matching option of the verb that follows, of all verbs, of the implied verb, or of any verb.
fn meant<'a>(command: &'a Command, next: Option<&str>, is: Is<'_>) -> Option<&'a Arg> {
    let of = |verb: &'a Command| verb.get_arguments().find(|arg| is(arg));
    let follows = next.and_then(|next| command.find_subcommand(next)).and_then(of);
    let implied = || command.find_subcommand(IMPLIED).and_then(of);
    follows.or_else(|| of(command)).or_else(implied).or_else(|| command.get_subcommands().find_map(of))
}

/// Whether a word can only be a location: verbs consist only of letters.
fn looks_like_path(word: &str) -> bool {
    word == "-" || word.contains(['.', '/', '\\', ':', '@', '%', '*'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn distinguishes_every_verb_from_locations() {
        for verb in Cli::command().get_subcommands().map(Command::get_name) {
            let words = words(&format!("hyperslab {verb}"));
            assert_eq!(in_front(words.clone()).unwrap(), words);
        }
    }

    #[test]
    fn options_may_stand_before_the_verb_or_the_location() {
        for (line, with_verb) in [
            ("-q a.nc", "describe -q a.nc"),
            ("--json a.nc", "describe --json a.nc"),
            ("-j 4 a.nc", "describe -j 4 a.nc"),
            ("-qj4 a.nc", "describe -qj4 a.nc"),
            ("-qj 4 a.nc", "describe -qj 4 a.nc"),
            ("--limit rank=40 a.nc", "describe --limit rank=40 a.nc"),
            ("--limit=rank=40 a.nc", "describe --limit=rank=40 a.nc"),
            ("--values a.nc", "describe --values a.nc"),
            ("--values=3 a.nc", "describe --values=3 a.nc"),
            ("--storage full a.nc", "describe --storage full a.nc"),
            ("--storage diff a.nc b.nc", "diff --storage a.nc b.nc"),
            ("-rl ls a.nc", "ls -rl a.nc"),
            ("-s time=0 show a.nc:/x", "show -s time=0 a.nc:/x"),
            ("-q -o ls digest a.nc", "digest -q -o ls a.nc"),
            ("-q -- ./-a.nc", "describe -q -- ./-a.nc"),
            ("-- ls", "describe -- ls"),
            ("-q -", "describe -q -"),
            ("part_%05d.h5", "describe part_%05d.h5"),
            ("ls --json a.nc", "ls --json a.nc"),
            ("convert a.nc -c time=1 b.nc -q", "convert -c time=1 -q a.nc b.nc"),
            ("convert a.nc b.nc c/ --format zarr3", "convert --format zarr3 a.nc b.nc c/"),
            ("concat a.nc --along time b.nc -fnone c.nc", "concat --along time -fnone a.nc b.nc c.nc"),
            ("convert a.nc -qn -- -b.nc", "convert -qn -- a.nc -b.nc"),
            ("convert a.nc b.nc -c", "convert a.nc b.nc -c"),
            ("repack a.nc -c time=1 b.nc", "repack a.nc -c time=1 b.nc"),
            ("--version", "--version"),
        ] {
            let found = in_front(words(&format!("hyperslab {line}"))).unwrap();
            assert_eq!(found, words(&format!("hyperslab {with_verb}")), "{line}");
        }
    }
}
