//! Options of verbs that write, which are passed as strings.

use hyperslab::convert::layout::{Layout, Rule};
use hyperslab::target::TargetOptions;
use hyperslab::{Result, with_target_option};
use pyo3::prelude::*;

/// Rules for the layout of arrays, in the notation of the command line.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Layouting {
    chunk: Vec<String>,
    shard: Vec<String>,
    filters: Vec<String>,
    endian: Vec<String>,
    fill: Vec<String>,
}

impl Layouting {
    /// The layout with these rules added after its own.
    pub(super) fn add_to(&self, layout: Layout) -> Result<Layout> {
        let label = |key: &'static str| move |text: &str| format!("{key}={text}");
        layout
            .with_texts(&self.chunk, label("chunk"), |text| text.parse().map(Rule::chunk))?
            .with_texts(&self.shard, label("shard"), |text| text.parse().map(Rule::shard))?
            .with_texts(&self.filters, label("filters"), |text| text.parse().map(Rule::filter))?
            .with_texts(&self.endian, label("endian"), Rule::parse_byte_order)?
            .with_texts(&self.fill, label("fill"), Rule::parse_fill)
    }
}

/// The options of formats, such as `hdf5.userblock`, added after those of a verb.
pub(crate) fn target_options(
    base: TargetOptions,
    given: &[(String, Option<String>)],
) -> Result<TargetOptions> {
    given.iter().try_fold(base, |options, (name, value)| {
        let given = value.as_ref().map_or_else(|| name.clone(), |value| format!("{name}={value}"));
        with_target_option(options, name, value.as_deref(), &given)
    })
}
