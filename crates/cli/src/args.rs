//! What can be typed. Nothing here works on files.

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use hyperslab::convert::layout::Layout;
use hyperslab::location::nearest;
use hyperslab::{Error, Limits, OpenOptions, Pool, size};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// HDF5, NetCDF-4 and Zarr read, described, converted, compared and checked, in one command; NDL is their text form
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
    /// Chunks, ratios, the least and the greatest value
    Stat(Stat),
    /// One hash per object, of what it contains
    Digest(Digest),
    /// What differs between two stores, by content
    Diff(Diff),
    /// Is it sound: what breaks the rules of its format, and where
    Check(Check),
    /// The same content in another format or layout
    Convert(Convert),
    /// A store from an NDL document
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
    #[arg(long, global = true, hide_short_help = true, value_name = "FORMAT")]
    pub(crate) input_format: Option<String>,
    /// Raise one guard: allocation, nesting, rank or filters
    #[arg(long, global = true, hide_short_help = true, value_name = "NAME=N", value_parser = limit)]
    pub(crate) limit: Vec<(String, u64)>,
    /// Let files outside of the opened one's folder be followed in this one, for virtual datasets and the like
    #[arg(long, global = true, hide_short_help = true, value_name = "DIR")]
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
    #[arg(long, global = true, hide_short_help = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: When,
    /// Progress on standard error, for work of more than half a second
    #[arg(long, global = true, hide_short_help = true, value_name = "HOW", default_value = "auto")]
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
pub(crate) struct Stat {
    /// Files, or groups and arrays in them
    #[arg(value_name = "LOCATION", default_value = ".")]
    pub(crate) locations: Vec<String>,
    /// Read the values too: the least, the greatest, their mean, and how many are missing
    #[arg(long)]
    pub(crate) values: bool,
    /// Values as attributes mean them: scaled, times as dates, those outside of the valid range missing
    #[arg(long)]
    pub(crate) decode: bool,
    /// Values of a part of each array, as `show` takes it; a dimension that an array lacks does not select from it
    #[arg(short, long, value_name = "SEL", allow_hyphen_values = true)]
    pub(crate) select: Vec<String>,
    /// JSON Lines, an object each
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) to: Output,
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
pub(crate) struct Diff {
    /// A file, or an object or attribute in it
    #[arg(value_name = "A")]
    pub(crate) a: String,
    /// What it is compared with
    #[arg(value_name = "B")]
    pub(crate) b: String,
    /// Floats a and b are equal if |a - b| <= A + R * |b|
    #[arg(long, value_name = "R", default_value = "0", value_parser = tolerance, allow_negative_numbers = true)]
    pub(crate) rtol: f64,
    /// The A of the same
    #[arg(long, value_name = "A", default_value = "0", value_parser = tolerance, allow_negative_numbers = true)]
    pub(crate) atol: f64,
    /// Floats are equal if at most so many steps of their type apart
    #[arg(long, value_name = "N", default_value = "0", value_parser = steps, allow_negative_numbers = true)]
    pub(crate) ulp: u64,
    /// The order of members and attributes counts
    #[arg(long)]
    pub(crate) order: bool,
    /// How things are stored counts: chunks, filters, byte order, layout
    #[arg(long)]
    pub(crate) storage: bool,
    /// Tell at most so many differences of a kind, and of each array so many values
    #[arg(long, value_name = "N", default_value = "20")]
    pub(crate) max: usize,
    /// Part of the arrays, as `show` has it
    #[arg(short, long, value_name = "SEL", allow_hyphen_values = true)]
    pub(crate) select: Vec<String>,
    /// JSON Lines, an object for each difference
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
    /// Hold each file against this NDL document instead: every word of it must be true, what it leaves out is free
    #[arg(long, value_name = "DOCUMENT")]
    pub(crate) against: Option<String>,
    /// With --against: notes on what the document does not name
    #[arg(short, long, requires = "against")]
    pub(crate) verbose: bool,
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
pub(crate) struct Convert {
    /// What is read; of a store, the objects that are named with all below them, and their dimensions
    #[arg(value_name = "SOURCE")]
    pub(crate) source: String,
    /// The store that is written; its name says the format: .zarr, .zarr.zip
    #[arg(value_name = "TARGET")]
    pub(crate) target: String,
    /// Part of the arrays, by dimension, in the words of show: 'lat=0:90,time=2026-01..2026-03'
    #[arg(short, long, value_name = "SEL", allow_hyphen_values = true)]
    pub(crate) select: Vec<String>,
    /// Say what would become of everything; write nothing
    #[arg(short = 'n', long)]
    pub(crate) dry_run: bool,
    /// The report as one JSON value
    #[arg(long)]
    pub(crate) json: bool,
    // What is flattened last has a heading of its own, under which all that follows would stand.
    #[command(flatten)]
    pub(crate) writing: Writing,
}

/// What every verb takes that writes a store.
#[derive(Args, Debug)]
pub(crate) struct Writing {
    /// The format of the target, whatever its name: zarr3 (or zarr), zarr2
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<String>,
    /// Lose these knowingly: references links types labels vlen unlimited attributes precision names filters sparse
    /// unreadable, or all
    #[arg(long, value_name = "KIND,…", value_delimiter = ',')]
    pub(crate) allow_loss: Vec<String>,
    /// What one format alone has, such as zarr.struct=seed or zarr.consolidated
    #[arg(short = 'O', long, value_name = "FORMAT.KEY[=V]")]
    pub(crate) option: Vec<String>,
    /// Replace TARGET, which stays as it is until the new one is whole
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// Go on where an interrupted run of the same command ended
    #[arg(long)]
    pub(crate) resume: bool,
    /// Wait until everything is on the disk before it gets its name
    #[arg(long)]
    pub(crate) sync: bool,
    /// Read back what was written and compare digests
    #[arg(long)]
    pub(crate) verify: bool,
    #[command(flatten)]
    pub(crate) layout: LayoutOptions,
}

#[derive(Args, Debug)]
pub(crate) struct Create {
    /// An NDL document, or - for standard input
    #[arg(value_name = "DOCUMENT")]
    pub(crate) document: String,
    /// The store that is made; not needed with -n
    #[arg(value_name = "TARGET", required_unless_present = "dry_run")]
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
    // As in `convert`.
    #[command(flatten)]
    pub(crate) writing: Writing,
}

/// How arrays of the target are laid out.
#[derive(Args, Debug)]
#[command(
    next_help_heading = "Layout, each with /PATTERN: in front for some arrays; the last that matches holds"
)]
pub(crate) struct LayoutOptions {
    /// Chunks: a shape 8,256,256, sides time=8,lat=256 with the others as in the source, about so many bytes
    /// 4MiB, whole, none or keep
    #[arg(short, long, value_name = "CHUNK", allow_hyphen_values = true)]
    pub(crate) chunk: Vec<String>,
    /// Shards, which hold several chunks, in the same words
    #[arg(long, value_name = "SHARD", allow_hyphen_values = true)]
    pub(crate) shard: Vec<String>,
    /// Filters in the order of writing: shuffle,deflate=4,fletcher32, NDL '[{blosc: {codec: zstd, level: 9}}]',
    /// none or keep
    #[arg(short, long, value_name = "FILTERS", allow_hyphen_values = true)]
    pub(crate) filter: Vec<String>,
    /// Byte order: little, big or keep
    #[arg(long, value_name = "ORDER", allow_hyphen_values = true)]
    pub(crate) endian: Vec<String>,
    /// What was never written: a value, null for undefined, or keep
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    pub(crate) fill: Vec<String>,
}

impl LayoutOptions {
    pub(crate) fn layout(&self) -> Result<Layout, Error> {
        let mut layout = Layout::default();
        self.chunk.iter().try_for_each(|option| layout.chunk(option))?;
        self.shard.iter().try_for_each(|option| layout.shard(option))?;
        self.filter.iter().try_for_each(|option| layout.filter(option))?;
        self.endian.iter().try_for_each(|option| layout.endian(option))?;
        self.fill.iter().try_for_each(|option| layout.fill(option))?;
        Ok(layout)
    }
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
    let value =
        size::parse(value).ok_or_else(|| format!("{value:?} is no number of bytes such as 512MiB"))?;
    Ok((name.to_owned(), value))
}

fn tolerance(text: &str) -> Result<f64, String> {
    let tolerance = text.parse().ok().filter(|tolerance: &f64| *tolerance >= 0.0 && tolerance.is_finite());
    tolerance.ok_or_else(|| format!("{text:?} is no number from 0 on"))
}

fn steps(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("{text:?} is no number of steps, expected one from 0 on"))
}

fn threads(text: &str) -> Result<usize, String> {
    let threads = text.parse().ok().filter(|threads| (1..=MAX_THREADS).contains(threads));
    threads.ok_or_else(|| format!("{text:?} is no number from 1 to {MAX_THREADS}"))
}

fn memory(text: &str) -> Result<u64, String> {
    let memory = size::parse(text).filter(|memory| *memory >= MIN_MEMORY);
    memory.ok_or_else(|| format!("{text:?} is no number of bytes from 1MiB on, such as 256MiB"))
}

/// More than any machine gains from.
const MAX_THREADS: usize = 1024;
const MIN_MEMORY: u64 = 1 << 20;

/// The same words with `describe` put before a location that stands where a verb would.
///
/// # Errors
/// If the word is neither a verb nor a file.
pub(crate) fn with_verb(mut words: Vec<OsString>) -> Result<Vec<OsString>, Error> {
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
    if Verb::has_subcommand(&word) || at > 1 {
        return Ok(words);
    }
    let store = hyperslab::location::Location::parse(&word).store;
    if word == "-" || Path::new(&word).exists() || Path::new(&store).exists() {
        words.insert(at, "describe".into());
        return Ok(words);
    }
    let command = Cli::command();
    let help = match nearest(&word, command.get_subcommands().map(clap::Command::get_name)) {
        Some(verb) => format!("\nhelp: did you mean '{verb}'?"),
        None => String::new(),
    };
    Err(Error::invalid(format!("no verb and no location '{word}'{help}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_verb_is_told_apart_from_locations() {
        for verb in Cli::command().get_subcommands().map(clap::Command::get_name) {
            let words: Vec<OsString> = ["hyperslab", verb].map(OsString::from).into();
            assert_eq!(with_verb(words.clone()).unwrap(), words);
        }
    }
}
