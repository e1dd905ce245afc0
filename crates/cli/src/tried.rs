//! Words of other commands that users try: finds the line that does what they want here.

use crate::args::{Cli, Form};
use crate::line;
use crate::verb::locations_last;
use clap::{CommandFactory, Parser};
use hyperslab::location::Locator;
use hyperslab::select::Select;
use hyperslab::{Item, NodePath, OpenOptions, Remedy, TARGETS, meant, target_format_of};
use std::ffi::OsString;
use std::path::Path;

/// The purpose of a verb of another command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wish {
    /// What this verb does with these options.
    Verb(&'static [&'static str]),
    /// Values of an array, or everything in a store.
    Values,
    /// The first values of an array.
    Beginning,
    /// A copy of a store.
    Copy,
    /// The output of ncdump.
    Cdl,
    /// A list of verbs, or the options of one.
    Help,
    /// The version of this command.
    Version,
}

/// The verbs of other commands.
const TRIED: &[(&str, Wish)] = &[
    ("info", Wish::Verb(&["describe"])),
    ("header", Wish::Verb(&["describe"])),
    ("inspect", Wish::Verb(&["describe"])),
    ("summary", Wish::Verb(&["describe"])),
    ("list", Wish::Verb(&["ls"])),
    ("dir", Wish::Verb(&["ls"])),
    ("tree", Wish::Verb(&["ls", "-r"])),
    ("stats", Wish::Verb(&["stat", "--values"])),
    ("compare", Wish::Verb(&["diff"])),
    ("cmp", Wish::Verb(&["diff"])),
    ("validate", Wish::Verb(&["check"])),
    ("verify", Wish::Verb(&["check"])),
    ("hash", Wish::Verb(&["digest"])),
    ("checksum", Wish::Verb(&["digest"])),
    ("dump", Wish::Values),
    ("cat", Wish::Values),
    ("get", Wish::Values),
    ("print", Wish::Values),
    ("read", Wish::Values),
    ("view", Wish::Values),
    ("head", Wish::Beginning),
    ("export", Wish::Copy),
    ("copy", Wish::Copy),
    ("cp", Wish::Copy),
    ("join", Wish::Verb(&["concat"])),
    ("ncrcat", Wish::Verb(&["concat"])),
    ("merge", Wish::Verb(&["concat"])),
    ("mergetime", Wish::Verb(&["concat"])),
    ("subset", Wish::Verb(&["convert"])),
    ("plot", Wish::Verb(&["show", "--plot"])),
    ("ncdump", Wish::Cdl),
    ("help", Wish::Help),
    ("version", Wish::Version),
];

impl Wish {
    /// The verb that does this in the general case.
    fn verb(self) -> Option<&'static str> {
        match self {
            Wish::Verb(words) => words.first().copied(),
            Wish::Values | Wish::Beginning => Some("show"),
            Wish::Copy => Some("convert"),
            Wish::Cdl => Some("describe"),
            Wish::Help | Wish::Version => None,
        }
    }
}

/// The suggestion for the word `tried`, which is not a verb here: the line that does what it does elsewhere.
pub(crate) fn hint(tried: &str, typed: &[String]) -> Option<String> {
    let line = verb(tried, typed)?;
    let is_copy = TRIED.contains(&(tried, Wish::Copy));
    let known: Vec<_> = TARGETS.iter().map(|format| format.name()).collect();
    Some(match is_copy && !line.starts_with("hyperslab show ") {
        true => format!("`{line}` converts, to {} so far", known.join(" or ")),
        false => format!("did you mean `{line}`?"),
    })
}

fn verb(tried: &str, typed: &[String]) -> Option<String> {
    let (_, wish) = TRIED.iter().find(|(word, _)| *word == tried)?;
    let at = typed.iter().position(|word| word == tried)?;
    let rest: Vec<String> =
        typed.iter().enumerate().filter(|(index, _)| *index != at).map(|(_, word)| word.clone()).collect();
    if *wish == Wish::Version {
        return Some(line::of(["--version"]));
    }
    // A variable may be a separate word.
    let rest = with_variable(&rest).unwrap_or(rest);
    let locations = || rest.iter().filter(|word| !word.starts_with('-'));
    if locations().next().is_none() {
        return wish.verb().map(|verb| line::of([verb, "--help"])).or_else(|| Some(line::of(["--help"])));
    }
    match wish {
        Wish::Verb(verb) => {
            let general = || line::of(verb.first().into_iter().chain(&["--help"]));
            line_of(verb, &rest).or_else(|| Some(general()))
        }
        Wish::Version => None,
        Wish::Cdl => {
            let (header, rest): (Vec<String>, Vec<String>) = rest.into_iter().partition(|word| word == "-h");
            let values = header.is_empty().then_some("--values");
            line_of(&["describe", "--as", "cdl"].into_iter().chain(values).collect::<Vec<_>>(), &rest)
        }
        Wish::Help => line_of(&[], &[rest, vec!["--help".into()]].concat()),
        Wish::Values => match locations().next().is_some_and(|location| has_values(location)) {
            true => line_of(&["show"], &rest),
            false => line_of(&["describe", "--values"], &rest),
        },
        Wish::Beginning => match locations().next().map(|location| (location, rank(location))) {
            Some((location, Some(0))) => line_of(&["show"], std::slice::from_ref(location)),
            Some((location, Some(_))) => line_of(&["show", location, "-s", ":10"], &[]),
            _ => line_of(&["describe"], &rest),
        },
        Wish::Copy => copy(&rest),
    }
}

/// A line with these words, if it is valid; otherwise without the options, which belong to other commands.
fn line_of(verb: &[&str], rest: &[String]) -> Option<String> {
    let words = |rest: &mut dyn Iterator<Item = &String>| -> Vec<String> {
        verb.iter().map(|word| (*word).to_owned()).chain(rest.cloned()).collect()
    };
    let all = words(&mut rest.iter());
    let without_options = || words(&mut rest.iter().filter(|word| !word.starts_with('-')));
    [all, without_options()].into_iter().find_map(right_line)
}

/// A line with these words, if it is valid.
fn right_line(words: Vec<String>) -> Option<String> {
    let typed = std::iter::once("hyperslab").chain(words.iter().map(String::as_str)).map(OsString::from);
    let parsed = Cli::try_parse_from(locations_last(typed.collect()));
    let is_right = parsed.is_ok() || parsed.is_err_and(|error| !error.use_stderr());
    is_right.then(|| line::of(words))
}

/// The line that converts, for a typed `convert` line whose target has another format.
pub(crate) fn conversion(typed: &[String]) -> Option<String> {
    match typed {
        [verb, rest @ ..]
            if verb == "convert" && rest.iter().filter(|word| !word.starts_with('-')).count() < 3 =>
        {
            copy(rest)
        }
        _ => None,
    }
}

/// The line that converts, with a target that can be written.
fn copy(rest: &[String]) -> Option<String> {
    let locations: Vec<&String> = rest.iter().filter(|word| !word.starts_with('-')).collect();
    let (source, target) = match locations.as_slice() {
        [source] => (*source, None),
        [source, target, ..] => (*source, Some(target.as_str())),
        [] => return None,
    };
    let format = |store: &str| target_format_of(Path::new(store)).ok();
    match target {
        Some(target) if format(target).is_some() => line_of(&["convert"], rest),
        // The values of one array, in a format that `show` writes.
        Some(target) if Form::of_file(target).is_some() && has_values(source) => {
            Some(line::of(["show", source, "-o", target]))
        }
        // The format does not change.
        Some(target)
            if let Some(own) = format(source).filter(|_| Path::new(target).extension().is_none()) =>
        {
            Some(line::of(["convert", source, target, "--format", own.name()]))
        }
        _ => {
            let stem = Path::new(target.unwrap_or(source)).file_stem()?.to_str()?;
            let stem = stem.split_once(":/").map_or(stem, |(store, _)| store);
            let suffix = TARGETS.first()?.suffixes().first()?;
            let better = Path::new(target.unwrap_or_default()).with_file_name(format!("{stem}{suffix}"));
            Some(line::of(["convert", source, better.to_str()?]))
        }
    }
}

/// The number of dimensions of the array at a location.
fn rank(text: &str) -> Option<usize> {
    let location = Locator::parse(text);
    let source = hyperslab::open(Path::new(&location.store), &OpenOptions::default()).ok()?;
    let path = NodePath::new(location.path.as_deref()?).ok()?;
    match source.find(&path).ok()?.item {
        Item::Array { datatype: Some(_), shape, .. } => Some(shape.dims().len()),
        _ => None,
    }
}

/// Whether a location is an array or an attribute.
fn has_values(text: &str) -> bool {
    rank(text).is_some() || Locator::parse(text).path.is_some_and(|path| path.contains('@'))
}

/// The words with a variable given as a separate word, `a.nc x`, joined to the location: `a.nc:/x`.
fn with_variable(typed: &[String]) -> Option<Vec<String>> {
    let verbs = Cli::command();
    let is_verb = |word: &str| {
        typed.first().is_some_and(|first| first == word) && verbs.find_subcommand(word).is_some()
    };
    let words =
        typed.iter().filter(|word| !word.starts_with('-') && !is_verb(word) && !Path::new(word).exists());
    // A word with an equals sign is a selection.
    let words = words.filter(|word| !word.contains('='));
    words.into_iter().find_map(|word| {
        line::joined(typed, word, &|text| match meant::location(text, &OpenOptions::default())? {
            Remedy::Instead { write, .. } => Some(write),
            _ => None,
        })
    })
}

/// The corrected line if `word` is a selection that was given without its option.
pub(crate) fn selection(typed: &[String], word: &str) -> Option<String> {
    let is_selection = word.contains('=') && !word.contains('/') && word.parse::<Select>().is_ok();
    let at = typed.iter().position(|own| own == word).filter(|_| is_selection)?;
    let mut words = typed.to_vec();
    words.insert(at, "-s".to_owned());
    right_line(words)
}

/// The corrected line if a variable was given as a separate word, possibly after `-v`.
pub(crate) fn variable(typed: &[String]) -> Option<String> {
    let without_flag: Vec<String> = typed
        .iter()
        .filter(|word| !matches!(word.as_str(), "-v" | "--variable" | "--var"))
        .map(|word| word.strip_prefix("-v").filter(|rest| !rest.is_empty()).unwrap_or(word).to_owned())
        .collect();
    let words = with_variable(&without_flag)?;
    line_of(&[], &words).or_else(|| line_of(&["describe"], &words))
}
