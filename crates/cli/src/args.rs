//! The command line: verbs, options and their help. Nothing here reads a file.

mod check;
mod edit;
mod joining;
mod show;

pub(crate) use self::check::{Check, Findings};
pub(crate) use self::edit::Edit;
pub(crate) use self::joining::Joining;
pub(crate) use self::show::{Form, Show};

use crate::interrupt;
use crate::output::Destination;
use clap::{Args, Parser, Subcommand, ValueEnum};
use hyperslab::convert::layout::{Layout, Rule};
use hyperslab::{
    DataspaceView, Error, Failures, Limit, Limits, OpenOptions, Pool, SecretKey, TARGETS, Times, size,
};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Read, describe, convert, compare and check HDF5, NetCDF, Zarr and TileDB; NDL is their common text form
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
Exit codes: 0 success; 1 the answer is no, or something could not be read; 2 error, no answer.";

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Describe the contents as an NDL document, or as CDL
    Describe(Describe),
    /// List names, types, shapes and stored bytes
    Ls(Ls),
    /// Print the values of an array or attribute
    Show(Show),
    /// Report chunks, compression ratios, minimum and maximum
    Stat(Stat),
    /// Compute one hash per object from its contents
    Digest(Digest),
    /// Compare the contents of two stores
    Diff(Diff),
    /// Check that files follow the rules of their format
    Check(Check),
    /// List the files that make up a store and the files that it refers to
    Files(Files),
    /// List what was written to arrays and groups and when, as far as the store records it (TileDB)
    History(History),
    /// Convert a store to another format or layout
    Convert(Convert),
    /// Rewrite a store in its own format, with a different layout or without unused space
    Repack(Repack),
    /// Join stores along one dimension into a new store
    Concat(Concat),
    /// Create a store from an NDL document
    Create(Create),
    /// Change a store in place: attributes, cells, elements, the schema (TileDB)
    Edit(Edit),
    /// Print the JSON Schema of NDL, for editors
    Schema {
        #[command(flatten)]
        to: Output,
    },
    /// Print completions for a shell
    Completions {
        /// The shell
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Print the manual in roff, for one verb or for all
    Man {
        /// The verb
        verb: Option<String>,
    },
}

/// Options of every verb.
#[derive(Args, Debug)]
pub(crate) struct Common {
    /// Show everything as stored: with bookkeeping attributes, without the NetCDF view
    #[arg(long, global = true)]
    pub(crate) raw: bool,
    /// Show packed numbers (scale_factor, add_offset) as unpacked values, with missing ones as NaN
    #[arg(long, global = true, conflicts_with = "raw")]
    pub(crate) unpack: bool,
    /// Read the file as this format, regardless of its first bytes
    #[arg(long, global = true, hide_short_help = true, value_name = "FORMAT")]
    pub(crate) input_format: Option<String>,
    /// Raise a safety limit: allocation (bytes), nesting, rank or filters
    #[arg(long, global = true, hide_short_help = true, value_name = "NAME=N", value_parser = limit)]
    pub(crate) limit: Vec<(Limit, u64)>,
    /// Also allow opening files in this folder that a file refers to (virtual datasets, external data)
    #[arg(long, global = true, hide_short_help = true, value_name = "DIR")]
    pub(crate) allow_external: Vec<PathBuf>,
    /// Read the store as it was at a time, such as 2026-03-01T06:00 or milliseconds since 1970, or only what was written from A to B (TileDB)
    #[arg(long, global = true, hide_short_help = true, value_name = "TIME|A..B", value_parser = times)]
    pub(crate) at: Option<Times>,
    /// Show the variables and dimensions that TileDB-CF stores as arrays: auto for any convention, or the name of the convention that the store must satisfy, such as cf-0.3.0. With convert to TileDB, the convention that the target satisfies
    #[arg(long, global = true, hide_short_help = true, value_name = "auto|NAME", value_parser = dataspace, conflicts_with = "raw")]
    pub(crate) dataspace: Option<DataspaceView>,
    /// File with the 32 bytes of the key of an encrypted store (TileDB)
    #[arg(long, global = true, hide_short_help = true, value_name = "FILE")]
    pub(crate) key_file: Option<PathBuf>,
    /// Number of threads; default: the number of processors
    #[arg(short = 'j', long, global = true, value_name = "N", env = "HYPERSLAB_THREADS", hide_env_values = true, value_parser = threads)]
    pub(crate) threads: Option<usize>,
    /// Memory for array elements in transit, such as 256MiB; default: 512MiB
    #[arg(short, long, global = true, value_name = "SIZE", env = "HYPERSLAB_MEMORY", hide_env_values = true, value_parser = memory)]
    pub(crate) memory: Option<u64>,
    /// Do not print notes and warnings
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// When to use colour
    #[arg(long, global = true, hide_short_help = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: When,
    /// How to report progress on standard error, for work of more than half a second
    #[arg(long, global = true, hide_short_help = true, value_name = "HOW", default_value = "auto")]
    pub(crate) progress: Progress,
    /// Made when it is first asked for
    #[arg(skip)]
    pool: OnceLock<Pool>,
    #[arg(skip)]
    failures: Failures,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    Auto,
    Always,
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Progress {
    /// Only on a terminal
    Auto,
    /// A line every ten seconds
    Plain,
    /// JSON Lines
    Json,
    /// None
    Never,
}

impl Common {
    /// The threads and the memory of this run: everything that it opens and writes shares them.
    pub(crate) fn pool(&self) -> &Pool {
        self.pool.get_or_init(|| {
            Pool::new(self.threads.unwrap_or(0), self.memory.unwrap_or(Pool::MEMORY))
                .with_cancel(interrupt::token())
        })
    }

    /// The failed reads of everything that this run opened.
    pub(crate) fn failures(&self) -> &Failures {
        &self.failures
    }

    pub(crate) fn open_options(&self) -> OpenOptions {
        let limits =
            self.limit.iter().fold(Limits::default(), |limits, (limit, value)| limits.with(*limit, *value));
        OpenOptions {
            limits,
            raw: self.raw,
            unpack: self.unpack,
            format: self.input_format.clone(),
            pool: self.pool().clone(),
            allow_external: self.allow_external.clone(),
            at: self.at,
            dataspace: self.dataspace,
            key: self.key_file.clone().map(SecretKey::in_file),
            failures: self.failures.clone(),
            ..OpenOptions::default()
        }
    }
}

#[derive(Args, Debug)]
pub(crate) struct Describe {
    /// Files, or objects in them
    #[arg(value_name = "LOCATION", default_value = ".")]
    pub(crate) locations: Vec<String>,
    /// Include values of all arrays, or of arrays with at most N elements
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "18446744073709551615", value_parser = steps)]
    pub(crate) values: Option<u64>,
    /// How much of `storage` to write
    #[arg(long, value_name = "HOW", default_value = "brief")]
    pub(crate) storage: Detail,
    /// Descend at most N levels of groups
    #[arg(long, value_name = "N", value_parser = count)]
    pub(crate) depth: Option<usize>,
    /// Describe what external links lead to, in files of the same folder and below
    #[arg(short = 'L', long)]
    pub(crate) follow_links: bool,
    /// Write plain NDL 0.6.1, without extensions
    #[arg(long)]
    pub(crate) pure: bool,
    /// The language to write
    #[arg(long = "as", value_name = "FORM", default_value = "ndl")]
    pub(crate) form: Language,
    /// Same as --as json
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) to: Output,
}

/// The language of a description.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Language {
    /// NDL
    Ndl,
    /// NDL as JSON
    Json,
    /// CDL, as ncdump prints it: declarations as with its option -h, with --values also the values
    Cdl,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Detail {
    /// Only what differs from the defaults of the format
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
    /// List nested groups too, as a tree
    #[arg(short, long)]
    pub(crate) recursive: bool,
    /// Show chunks and filters too
    #[arg(short, long)]
    pub(crate) long: bool,
    /// List attributes too, with their values
    #[arg(long)]
    pub(crate) attrs: bool,
    /// Show the targets of external links, in files of the same folder and its subfolders
    #[arg(short = 'L', long)]
    pub(crate) follow_links: bool,
    /// Print only paths, one per line
    #[arg(short = '1', conflicts_with_all = ["long", "json"])]
    pub(crate) one: bool,
    /// Print JSON Lines, one object per line
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) to: Output,
}

#[derive(Args, Debug)]
pub(crate) struct Files {
    /// Files or directories; files that they refer to are followed in the same folder and its subfolders
    #[arg(value_name = "LOCATION", required = true)]
    pub(crate) locations: Vec<String>,
    /// Print JSON Lines, one object per line
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) to: Output,
}

#[derive(Args, Debug)]
pub(crate) struct History {
    /// Stores, or groups and arrays in them
    #[arg(value_name = "LOCATION", default_value = ".")]
    pub(crate) locations: Vec<String>,
    /// Print JSON Lines, one object per line
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) to: Output,
}

#[derive(Args, Debug)]
pub(crate) struct Stat {
    /// Files, or groups and arrays in them
    #[arg(value_name = "LOCATION", default_value = ".")]
    pub(crate) locations: Vec<String>,
    /// Also read the values: report minimum, maximum, mean and number of missing values
    #[arg(long)]
    pub(crate) values: bool,
    /// Apply CF attributes: scale values, show times as dates, count values outside the valid range as missing
    #[arg(long)]
    pub(crate) decode: bool,
    /// Select a part of each array, as in `show`; dimensions that an array does not have are ignored
    #[arg(short, long, value_name = "SEL", allow_hyphen_values = true)]
    pub(crate) select: Vec<String>,
    /// Print JSON Lines, one object per line
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
    /// Print JSON Lines, one object per line
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) to: Output,
}

#[derive(Args, Debug)]
pub(crate) struct Diff {
    /// A file, an object or attribute in it, or a folder of files
    #[arg(value_name = "A")]
    pub(crate) a: String,
    /// The file, object, attribute or folder to compare with
    #[arg(value_name = "B")]
    pub(crate) b: String,
    /// Relative tolerance: floats a and b are equal if |a - b| <= ATOL + RTOL * |b|
    #[arg(long, value_name = "R", default_value = "0", value_parser = tolerance, allow_negative_numbers = true)]
    pub(crate) rtol: f64,
    /// Absolute tolerance, as in --rtol
    #[arg(long, value_name = "A", default_value = "0", value_parser = tolerance, allow_negative_numbers = true)]
    pub(crate) atol: f64,
    /// Floats are equal if they are at most N representable values apart
    #[arg(long, value_name = "N", default_value = "0", value_parser = steps, allow_negative_numbers = true)]
    pub(crate) ulp: u64,
    /// Compare the order of members and attributes too
    #[arg(long)]
    pub(crate) order: bool,
    /// Compare storage too: chunks, filters, byte order, layout
    #[arg(long)]
    pub(crate) storage: bool,
    /// Print at most N differences of each kind, and at most N values of each array
    #[arg(long, value_name = "N", default_value = "20", value_parser = count)]
    pub(crate) max: usize,
    /// Select a part of the arrays, as in `show`
    #[arg(short, long, value_name = "SEL", allow_hyphen_values = true)]
    pub(crate) select: Vec<String>,
    /// Print JSON Lines, one difference per line
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) to: Output,
}

#[derive(Args, Debug)]
pub(crate) struct Convert {
    /// The stores to read, or objects in them; each object includes everything below it, and its dimensions
    #[arg(value_name = "SOURCE", required = true)]
    pub(crate) sources: Vec<String>,
    #[arg(value_name = "TARGET", help = stores(Some(FOLDER)))]
    pub(crate) target: String,
    /// Select a part of the arrays, as in `show`: 'lat=0:90,time=2026-01..2026-03'
    #[arg(short, long, value_name = "SEL", allow_hyphen_values = true)]
    pub(crate) select: Vec<String>,
    /// Convert the targets of external links, in files of the same folder and its subfolders
    #[arg(short = 'L', long)]
    pub(crate) follow_links: bool,
    /// Report what would change, and write nothing
    #[arg(short = 'n', long)]
    pub(crate) dry_run: bool,
    /// Print the report as one JSON value
    #[arg(long)]
    pub(crate) json: bool,
    // Flattened last: its heading would also cover every option behind it.
    #[command(flatten)]
    pub(crate) target_format: TargetFormat,
    #[command(flatten)]
    pub(crate) writing: Writing,
}

#[derive(Args, Debug)]
pub(crate) struct Repack {
    /// The store to read
    #[arg(value_name = "SOURCE")]
    pub(crate) source: String,
    /// The store to write, in the format of the source; its suffix must not name another format
    #[arg(value_name = "TARGET")]
    pub(crate) target: String,
    /// Report what would change, and write nothing
    #[arg(short = 'n', long)]
    pub(crate) dry_run: bool,
    /// Print the report as one JSON value
    #[arg(long)]
    pub(crate) json: bool,
    // As in `convert`.
    #[command(flatten)]
    pub(crate) writing: Writing,
}

#[derive(Args, Debug)]
pub(crate) struct Concat {
    /// The stores to join, in order, or the same object in each: day1.nc day2.nc, 'day*.nc', 'day*.nc:/t2m'
    #[arg(value_name = "SOURCE", required = true)]
    pub(crate) sources: Vec<String>,
    #[arg(value_name = "TARGET", help = stores(None))]
    pub(crate) target: String,
    #[command(flatten)]
    pub(crate) joining: Joining,
    /// Select a part of the joined arrays, as in `show`: 'lat=0:90,time=2026-01..2026-03'
    #[arg(short, long, value_name = "SEL", allow_hyphen_values = true)]
    pub(crate) select: Vec<String>,
    /// Report what would change, and write nothing
    #[arg(short = 'n', long)]
    pub(crate) dry_run: bool,
    /// Print the report as one JSON value
    #[arg(long)]
    pub(crate) json: bool,
    // As in `convert`.
    #[command(flatten)]
    pub(crate) target_format: TargetFormat,
    #[command(flatten)]
    pub(crate) writing: Writing,
}

/// An option of the verbs that write a store of any format.
#[derive(Args, Debug)]
pub(crate) struct TargetFormat {
    #[arg(long, value_name = "FORMAT", help = formats())]
    pub(crate) format: Option<String>,
}

/// Options of the verbs that write a store.
#[derive(Args, Debug)]
pub(crate) struct Writing {
    /// Allow these kinds of losses: references links types labels vlen unlimited attributes precision names filters
    /// sparse encryption unreadable, or all
    #[arg(long, value_name = "KIND,…", value_delimiter = ',')]
    pub(crate) allow_loss: Vec<String>,
    /// An option of one format, such as zarr.consolidated=false or hdf5.libver=v1.10
    #[arg(short = 'O', long, value_name = "FORMAT.KEY[=V]")]
    pub(crate) option: Vec<String>,
    /// Replace TARGET once the new store is complete; until then TARGET remains unchanged
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// Continue an interrupted run of the same command
    #[arg(long)]
    pub(crate) resume: bool,
    /// Wait until all data is on the disk before the target gets its name
    #[arg(long)]
    pub(crate) sync: bool,
    /// Read the target after writing and compare digests with the source: tests what hyperslab reads, not what other
    /// programs read
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
    #[arg(value_name = "TARGET", help = stores(Some("Not needed with -n")), required_unless_present = "dry_run")]
    pub(crate) target: Option<String>,
    /// Report what would be created and what prevents it, and write nothing
    #[arg(short = 'n', long)]
    pub(crate) dry_run: bool,
    /// Treat warnings as errors
    #[arg(long)]
    pub(crate) strict: bool,
    /// Accept common mistakes with a warning
    #[arg(long)]
    pub(crate) lenient: bool,
    /// Accept only NDL 0.6.1; extensions are errors
    #[arg(long)]
    pub(crate) pure: bool,
    /// Print the report as one JSON value
    #[arg(long)]
    pub(crate) json: bool,
    /// Write to this file instead of standard output; the file appears when it is complete
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    // As in `convert`.
    #[command(flatten)]
    pub(crate) target_format: TargetFormat,
    #[command(flatten)]
    pub(crate) writing: Writing,
}

/// The layout of arrays in the target.
#[derive(Args, Debug)]
#[command(
    next_help_heading = "Layout (put /PATTERN: before a value to limit it to matching arrays; the last match applies)"
)]
pub(crate) struct LayoutOptions {
    /// Chunks: a shape (8,256,256); sizes by name (time=8,lat=256), the others as in the source; a target size
    /// in bytes (4MiB); whole; none; or keep
    #[arg(short, long, value_name = "CHUNK", allow_hyphen_values = true)]
    pub(crate) chunk: Vec<String>,
    /// Shards, each made of several chunks, in the syntax of --chunk
    #[arg(long, value_name = "SHARD", allow_hyphen_values = true)]
    pub(crate) shard: Vec<String>,
    /// Filters in encoding order: shuffle,deflate=4,fletcher32; as NDL '[{blosc: {codec: zstd, level: 9}}]';
    /// none; or keep, even filters that few readers of the target support
    #[arg(short, long, value_name = "FILTERS", allow_hyphen_values = true)]
    pub(crate) filter: Vec<String>,
    /// Byte order: little, big or keep
    #[arg(long, value_name = "ORDER", allow_hyphen_values = true)]
    pub(crate) endian: Vec<String>,
    /// Fill value of elements that were never written: a value, null for undefined, or keep
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    pub(crate) fill: Vec<String>,
}

impl LayoutOptions {
    /// A layout with these rules after its own.
    pub(crate) fn add_to(&self, layout: Layout) -> Result<Layout, Error> {
        let label = |flag: &'static str| move |text: &str| format!("{flag} {text}");
        layout
            .with_texts(&self.chunk, label("-c"), |text| text.parse().map(Rule::chunk))?
            .with_texts(&self.shard, label("--shard"), |text| text.parse().map(Rule::shard))?
            .with_texts(&self.filter, label("-f"), |text| text.parse().map(Rule::filter))?
            .with_texts(&self.endian, label("--endian"), Rule::parse_byte_order)?
            .with_texts(&self.fill, label("--fill"), Rule::parse_fill)
    }
}

#[derive(Args, Debug)]
pub(crate) struct Output {
    /// Write to this file instead of standard output; the file appears when it is complete
    #[arg(short, long, value_name = "FILE", group = "file")]
    output: Option<PathBuf>,
    /// With -o: also replace a file that holds data
    #[arg(long, requires = "file", hide_short_help = true)]
    overwrite: bool,
}

impl Output {
    /// The file to write to; `None` for standard output, which `-` stands for too.
    pub(crate) fn file(&self) -> Option<&Path> {
        file(self.output.as_deref())
    }

    pub(crate) fn destination(&self) -> Destination<'_> {
        Destination { file: self.file(), overwrite: self.overwrite, ..Destination::default() }
    }
}

impl Create {
    /// The file for the answer, as [`Output::file`].
    pub(crate) fn file(&self) -> Option<&Path> {
        file(self.output.as_deref())
    }

    pub(crate) fn destination(&self) -> Destination<'_> {
        Destination { file: self.file(), overwrite: self.writing.overwrite, ..Destination::default() }
    }
}

fn file(output: Option<&Path>) -> Option<&Path> {
    output.filter(|path| *path != Path::new("-"))
}

/// The help of a target, whose name gives its format.
fn stores(more: Option<&str>) -> String {
    let suffixes: Vec<&str> = TARGETS.iter().flat_map(|format| format.suffixes()).copied().collect();
    let more = more.map_or(String::new(), |more| format!(". {more}"));
    format!("The store to write; its name gives the format: {}{more}", suffixes.join(" "))
}

const FOLDER: &str = "With several sources, or if it ends in /, a folder that receives one store per source, named after the source";

/// The help of the option that names a format, with another name of each that has one.
fn formats() -> String {
    let names = TARGETS.iter().map(|format| match format.aliases() {
        [alias, ..] => format!("{} (or {alias})", format.name()),
        [] => format.name().to_owned(),
    });
    let names = names.collect::<Vec<_>>().join(", ");
    format!("The format of the target, instead of the one its name gives: {names}")
}

fn limit(text: &str) -> Result<(Limit, u64), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=N")?;
    let limit = Limit::of(name).ok_or_else(|| {
        format!("unknown limit {name:?}, expected one of {}", Limit::ALL.map(Limit::name).join(", "))
    })?;
    let value =
        size::parse(value).ok_or_else(|| format!("{value:?} is not a size in bytes, such as 512MiB"))?;
    Ok((limit, value))
}

fn times(text: &str) -> Result<Times, String> {
    hyperslab::select::times(text).map_err(|error| error.detail().to_owned())
}

fn dataspace(text: &str) -> Result<DataspaceView, String> {
    DataspaceView::parse(text).map_err(|error| error.detail().to_owned())
}

fn tolerance(text: &str) -> Result<f64, String> {
    let tolerance = text.parse().ok().filter(|tolerance: &f64| *tolerance >= 0.0 && tolerance.is_finite());
    tolerance.ok_or_else(|| format!("{text:?} is not a number of 0 or more"))
}

fn steps(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("{text:?} is not a whole number of 0 or more"))
}

fn count(text: &str) -> Result<usize, String> {
    steps(text).map(|count| usize::try_from(count).unwrap_or(usize::MAX))
}

fn threads(text: &str) -> Result<usize, String> {
    let threads = text.parse().ok().filter(|threads| (1..=MAX_THREADS).contains(threads));
    threads.ok_or_else(|| format!("{text:?} is not a number from 1 to {MAX_THREADS}"))
}

fn memory(text: &str) -> Result<u64, String> {
    let memory = size::parse(text).filter(|memory| *memory >= MIN_MEMORY);
    memory.ok_or_else(|| format!("{text:?} is not a size of at least 1MiB, such as 256MiB"))
}

/// Above the number of threads that any machine can use.
const MAX_THREADS: usize = 1024;
const MIN_MEMORY: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_valid() {
        Cli::command().debug_assert();
    }
}
