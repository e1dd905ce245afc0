//! The options of `check`, and the forms of its findings.

use super::Output;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[derive(Args, Debug)]
pub(crate) struct Check {
    /// Files, or - for an NDL document on standard input
    #[arg(value_name = "LOCATION", required = true)]
    pub(crate) locations: Vec<String>,
    /// Treat warnings as errors
    #[arg(long)]
    pub(crate) strict: bool,
    /// HDF5: check structures only, do not decode chunks; with --conventions, leave out rules that need values
    #[arg(long)]
    pub(crate) quick: bool,
    /// NDL: accept common mistakes with a warning
    #[arg(long)]
    pub(crate) lenient: bool,
    /// NDL: accept only version 0.6.1; extensions are errors
    #[arg(long)]
    pub(crate) pure: bool,
    /// Check each file against this NDL document: everything that it states must be true; it need not state everything
    #[arg(long, value_name = "DOCUMENT")]
    pub(crate) against: Option<String>,
    /// Check conventions instead: auto for those that the attribute Conventions names, CF-1.6 to CF-1.13, netcdf; of
    /// TileDB-CF cf-0.1.0, indexable-0.1.0, cf-0.2.0, simple-0.2.0, cf-0.3.0, simple-0.3.0, or tiledb-cf to see which of
    /// them hold
    #[arg(long, value_name = "WORD[,…]", conflicts_with = "against")]
    pub(crate) conventions: Option<String>,
    /// With --conventions: check only these rules, or all but those with a hyphen before them: cf/units,-cf/names
    #[arg(long, value_name = "RULE[,…]", requires = "conventions", allow_hyphen_values = true)]
    pub(crate) rules: Option<String>,
    /// With --conventions: take standard names from this XML table [default: version 93]
    #[arg(long, value_name = "FILE", requires = "conventions")]
    pub(crate) standard_names: Option<PathBuf>,
    /// Also list small pieces of unused space; with --against, also what the document does not mention
    #[arg(short, long)]
    pub(crate) verbose: bool,
    /// The form of the output
    #[arg(long = "as", value_name = "FORM", default_value = "text")]
    pub(crate) form: Findings,
    /// Same as --as json
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) to: Output,
}

/// The form of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Findings {
    /// Text, with the line of the document
    Text,
    /// JSON Lines, one finding per line
    Json,
    /// A SARIF 2.1.0 log
    Sarif,
}
