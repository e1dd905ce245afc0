//! Options that say how several stores are joined.

use super::tolerance;
use clap::Args;
use hyperslab::model::Tolerance;
use hyperslab::{Along, JoinOptions, OpenOptions};

#[derive(Args, Debug)]
pub(crate) struct Joining {
    /// Of several files, the dimension to join along, or its position (0, 1, …) in arrays whose dimensions have no names
    /// [default: the only unlimited one, or the only one that differs]
    #[arg(long, value_name = "DIM")]
    pub(crate) along: Option<String>,
    /// Join along a new dimension with one step per file, such as the members of an ensemble; a variable of this
    /// name without dimensions provides its coordinates
    #[arg(long, value_name = "DIM", conflicts_with = "along")]
    pub(crate) new_dimension: Option<String>,
    /// Join files in the order of their coordinates, regardless of the given order
    #[arg(long)]
    pub(crate) sort: bool,
    /// Relative tolerance for what is not joined, such as other coordinates: floats a of the first file and b of another
    /// are equal if |a - b| <= ATOL + RTOL * |b|
    #[arg(long, value_name = "R", default_value = "0", value_parser = tolerance, allow_negative_numbers = true)]
    pub(crate) rtol: f64,
    /// Absolute tolerance, as in --rtol
    #[arg(long, value_name = "A", default_value = "0", value_parser = tolerance, allow_negative_numbers = true)]
    pub(crate) atol: f64,
}

impl Joining {
    /// The options of the library. `path` is what is joined of each store.
    pub(crate) fn options(&self, path: Option<String>, open: OpenOptions) -> JoinOptions {
        let tolerance = Tolerance { relative: self.rtol, absolute: self.atol, ..Tolerance::default() };
        let along = Along::of(self.along.clone(), self.new_dimension.clone());
        JoinOptions { along, sort: self.sort, path, tolerance, open }
    }

    /// Whether one file is joined too.
    pub(crate) fn names_dimension(&self) -> bool {
        self.along.is_some() || self.new_dimension.is_some()
    }

    /// The options as they were given.
    pub(crate) fn words(&self) -> String {
        let words = [
            self.along.as_ref().map(|along| format!("--along {along}")),
            self.new_dimension.as_ref().map(|name| format!("--new-dimension {name}")),
            self.sort.then(|| "--sort".to_owned()),
            (self.rtol > 0.0).then(|| format!("--rtol {}", self.rtol)),
            (self.atol > 0.0).then(|| format!("--atol {}", self.atol)),
        ];
        words.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }
}
