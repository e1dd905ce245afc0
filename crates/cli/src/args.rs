//! What can be typed. Nothing here works on files.

use clap::{Args, Parser, Subcommand, ValueEnum};
use hyperslab::location::nearest;
use hyperslab::{Error, Limits, OpenOptions, Pool};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Reads HDF5, NetCDF-4 and NDL files without their libraries: describes, lists, shows, digests and checks them
#[derive(Debug, Parser)]
#[command(name = "hyperslab", version, propagate_version = true, max_term_width = 100)]
#[command(after_help = AFTER_HELP, disable_help_subcommand = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) verb: Verb,
    #[command(flatten)]
    pub(crate) common: Common,
}

const AFTER_HELP: &str = "\
Locations are STORE[:/PATH][@ATTRIBUTE]: ocean.nc, ocean.nc:/waves, 'ocean.nc:/**/sst*', ocean.nc:/sst@units.
`hyperslab LOCATION` is `hyperslab describe LOCATION`.
Exit codes: 0 yes, 1 the answer is no or something could not be read, 2 trouble.";

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// What is inside, as NDL
    Describe(Describe),
    /// Names, types, shapes, bytes
    Ls(Ls),
    /// Values
    Show(Show),
    /// One hash per object, of what it contains
    Digest(Digest),
    /// Is it sound: what breaks the rules of its format, and where
    Check(Check),
    /// What a store made from an NDL document would hold
    Create(Create),
    /// The JSON Schema of NDL, for editors
    Schema {
        #[command(flatten)]
        to: Output,
    },
    /// Completions for a shell, on standard output
    Completions {
        /// Which shell
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// The manual as roff, of one verb or of all
    Man {
        /// The verb
        verb: Option<String>,
    },
}

/// What every verb takes.
#[derive(Args, Debug)]
pub(crate) struct Common {
    /// Show the store as stored: bookkeeping attributes, no NetCDF view
    #[arg(long, global = true)]
    pub(crate) raw: bool,
    /// Take the file for this format, whatever it looks like
    #[arg(long, global = true, value_name = "FORMAT")]
    pub(crate) input_format: Option<String>,
    /// Raise one guard: allocation, nesting, rank or filters
    #[arg(long, global = true, value_name = "NAME=N", value_parser = limit)]
    pub(crate) limit: Vec<(String, u64)>,
    /// Let files outside of the opened one's folder be followed in this one, for virtual datasets and the like
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) allow_external: Vec<PathBuf>,
    /// So many threads; as many as there are processors if this is not given
    #[arg(short = 'j', long, global = true, value_name = "N", env = "HYPERSLAB_THREADS", hide_env_values = true, value_parser = threads)]
    pub(crate) threads: Option<usize>,
    /// So much memory for elements on their way, such as 256MiB; 512MiB if this is not given
    #[arg(short, long, global = true, value_name = "SIZE", env = "HYPERSLAB_MEMORY", hide_env_values = true, value_parser = memory)]
    pub(crate) memory: Option<u64>,
    /// No notes and warnings
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Colour
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: When,
    /// Progress on standard error, for work of more than half a second
    #[arg(long, global = true, value_name = "HOW", default_value = "auto")]
    pub(crate) progress: Progress,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    Auto,
    Always,
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Progress {
    /// On a terminal
    Auto,
    /// A line every ten seconds
    Plain,
    /// JSON objects
    Json,
    /// None
    Never,
}

impl Common {
    pub(crate) fn open_options(&self) -> OpenOptions {
        let mut limits = Limits::default();
        for (name, value) in &self.limit {
            let narrow = u32::try_from(*value).unwrap_or(u32::MAX);
            match name.as_str() {
                "nesting" => limits.nesting = narrow,
                "rank" => limits.rank = narrow,
                "filters" => limits.filters = narrow,
                _ => limits.allocation = *value,
            }
        }
        OpenOptions {
            limits,
            raw: self.raw,
            format: self.input_format.clone(),
            pool: Pool::new(self.threads.unwrap_or(0), self.memory.unwrap_or(Pool::MEMORY)),
            allow_external: self.allow_external.clone(),
            ..OpenOptions::default()
        }
    }
}

#[derive(Args, Debug)]
pub(crate) struct Describe {
    /// Files, or objects in them
    #[arg(value_name = "LOCATION", default_value = ".")]
    pub(crate) locations: Vec<String>,
    /// Write values: of every array, or of those of at most N elements
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "18446744073709551615")]
    pub(crate) values: Option<u64>,
    /// How much of `storage` is written
    #[arg(long, value_name = "HOW", default_value = "brief")]
    pub(crate) storage: Detail,
    /// Only so many levels of groups
    #[arg(long, value_name = "N")]
    pub(crate) depth: Option<usize>,
    /// NDL 0.6.1 alone, without extensions
    #[arg(long)]
    pub(crate) pure: bool,
    /// The same document as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) to: Output,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Detail {
    /// What creating it anew would not do unasked
    Brief,
    /// Everything
    Full,
    /// Nothing
    None,
}

#[derive(Args, Debug)]
pub(crate) struct Ls {
    /// Files, or groups and arrays in them
    #[arg(value_name = "LOCATION", default_value = ".")]
    pub(crate) locations: Vec<String>,
    /// Groups within groups, as a tree
    #[arg(short, long)]
    pub(crate) recursive: bool,
    /// Chunks and filters too
    #[arg(short, long)]
    pub(crate) long: bool,
    /// Paths alone, one a line
    #[arg(short = '1', conflicts_with_all = ["long", "json"])]
    pub(crate) one: bool,
    /// JSON Lines, an object each
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) to: Output,
}

#[derive(Args, Debug)]
pub(crate) struct Show {
    /// An array or an attribute
    #[arg(value_name = "LOCATION")]
    pub(crate) location: String,
    /// Part of the array, per dimension: positions by order '0:10:2,:,5' or name 'time=3,lat=0:90:2', or values
    /// 'lat=-30..30', 'time=2026-01..2026-03', 'station==oslo', 'lat~=59.9'
    #[arg(short, long, value_name = "SEL", allow_hyphen_values = true)]
    pub(crate) select: Vec<String>,
    /// In this form
    #[arg(long = "as", value_name = "FORM", default_value = "table")]
    pub(crate) form: Form,
    /// The same as --as json
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) to: Output,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// Columns for people
    Table,
    /// Comma-separated
    Csv,
    /// Tab-separated
    Tsv,
    /// Nested lists
    Json,
    /// A NumPy file
    Npy,
    /// The bytes alone, little-endian
    Raw,
}

#[derive(Args, Debug)]
pub(crate) struct Digest {
    /// Files, or objects in them
    #[arg(value_name = "LOCATION", default_value = ".")]
    pub(crate) locations: Vec<String>,
    /// JSON Lines, an object each
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) to: Output,
}

#[derive(Args, Debug)]
pub(crate) struct Check {
    /// Files, or - for NDL on standard input
    #[arg(value_name = "LOCATION", required = true)]
    pub(crate) locations: Vec<String>,
    /// Warnings are errors
    #[arg(long)]
    pub(crate) strict: bool,
    /// HDF5: structures alone, without decoding every chunk
    #[arg(long)]
    pub(crate) quick: bool,
    /// NDL: read common slips as they are meant, with a warning
    #[arg(long)]
    pub(crate) lenient: bool,
    /// NDL: version 0.6.1 alone, extensions are errors
    #[arg(long)]
    pub(crate) pure: bool,
    /// In this form
    #[arg(long = "as", value_name = "FORM", default_value = "text")]
    pub(crate) form: Findings,
    /// The same as --as json
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) to: Output,
}

/// How findings are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Findings {
    /// For people, with the line that is meant
    Text,
    /// JSON Lines, a finding each
    Json,
    /// A SARIF 2.1.0 log
    Sarif,
}

#[derive(Args, Debug)]
pub(crate) struct Create {
    /// An NDL document, or - for standard input
    #[arg(value_name = "DOCUMENT")]
    pub(crate) document: String,
    /// The store that is meant
    #[arg(value_name = "TARGET")]
    pub(crate) target: Option<String>,
    /// Say what would be created and what stands against it; write nothing
    #[arg(short = 'n', long)]
    pub(crate) dry_run: bool,
    /// Warnings are errors
    #[arg(long)]
    pub(crate) strict: bool,
    /// Read common slips as they are meant, with a warning
    #[arg(long)]
    pub(crate) lenient: bool,
    /// NDL 0.6.1 alone, extensions are errors
    #[arg(long)]
    pub(crate) pure: bool,
    /// One JSON value
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) to: Output,
}

#[derive(Args, Debug)]
pub(crate) struct Output {
    /// Write to this file instead of standard output; it appears when it is whole
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

fn limit(text: &str) -> Result<(String, u64), String> {
    const NAMES: [&str; 4] = ["allocation", "nesting", "rank", "filters"];
    let (name, value) = text.split_once('=').ok_or("expected NAME=N")?;
    if !NAMES.contains(&name) {
        return Err(format!("no limit {name:?}, there are {}", NAMES.join(", ")));
    }
    let value = size(value).ok_or_else(|| format!("{value:?} is no number of bytes such as 512MiB"))?;
    Ok((name.to_owned(), value))
}

fn threads(text: &str) -> Result<usize, String> {
    let threads = text.parse().ok().filter(|threads| (1..=MOST_THREADS).contains(threads));
    threads.ok_or_else(|| format!("{text:?} is no number from 1 to {MOST_THREADS}"))
}

fn memory(text: &str) -> Result<u64, String> {
    let memory = size(text).filter(|memory| *memory >= LEAST_MEMORY);
    memory.ok_or_else(|| format!("{text:?} is no number of bytes from 1MiB on, such as 256MiB"))
}

/// More than any machine gains from.
const MOST_THREADS: usize = 1024;
const LEAST_MEMORY: u64 = 1 << 20;

/// `512`, `64KiB`, `1.5GiB`, `100MB`; `K`, `M`, `G` alone are binary.
fn size(text: &str) -> Option<u64> {
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

/// The same words with `describe` put before a location that stands where a verb would.
///
/// # Errors
/// If the word is neither a verb nor a file.
pub(crate) fn with_verb(mut words: Vec<OsString>) -> Result<Vec<OsString>, Error> {
    let verbs = ["describe", "ls", "show", "digest", "check", "create", "schema", "completions", "man"];
    let first = words.iter().skip(1).position(|word| {
        let word = word.to_string_lossy();
        word == "-" || !word.starts_with('-')
    });
    // Options with a value of their own come before no location without a verb.
    let Some((at, word)) =
        first.and_then(|at| Some((at + 1, words.get(at + 1)?.to_string_lossy().into_owned())))
    else {
        return Ok(words);
    };
    if verbs.contains(&word.as_str()) || at > 1 {
        return Ok(words);
    }
    let store = hyperslab::location::Location::parse(&word).store;
    if word == "-" || Path::new(&word).exists() || Path::new(&store).exists() {
        words.insert(at, "describe".into());
        return Ok(words);
    }
    let help = match nearest(&word, verbs) {
        Some(verb) => format!("\nhelp: did you mean '{verb}'?"),
        None => String::new(),
    };
    Err(Error::invalid(format!("no verb and no location '{word}'{help}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn sizes_are_read_as_people_write_them() {
        let read =
            ["512", "64KiB", "1.5GiB", "100MB", "2K", "x", "", "1.5X", "99999999999999999999"].map(size);
        let want = [
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
        assert_eq!(read, want);
    }
}
