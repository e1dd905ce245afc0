//! One rule of a layout: the arrays that it applies to, its option, and whether any array matched.

use super::array::Array;
use super::option::{self, Cut, FilterRule};
use crate::location::{did_you_mean, is_pattern, matches};
use hyperslab_core::{Error, Remedy, Result};
use hyperslab_model::{ByteOrder, NodePath};
use std::collections::BTreeSet;

/// One rule of a [`Layout`](super::Layout): an option, and the arrays that it applies to.
///
/// ```
/// use hyperslab::convert::layout::{Cut, Layout, Rule};
///
/// let layout = Layout::default()
///     .with(Rule::chunk(Cut::Bytes(4 << 20)))
///     .with(Rule::chunk(Cut::Sides(vec![("time".into(), 1)])).of("/sst*"))
///     .with(Rule::filter("shuffle,zstd=3".parse()?));
/// assert_eq!(layout.rules().map(|rule| rule.label()).collect::<Vec<_>>(), ["chunk", "chunk of /sst*", "filter"]);
/// # Ok::<(), hyperslab::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Rule {
    /// The label of the rule in errors.
    label: String,
    pattern: Option<String>,
    pub(super) change: Change,
}

/// The option of a rule.
#[derive(Clone, Debug)]
pub(super) enum Change {
    Chunk(Cut),
    Shard(Cut),
    Filter(FilterRule),
    Endian(Option<ByteOrder>),
    /// `None` to keep the fill value of the source.
    Fill(Option<String>),
}

/// The matches so far.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// The numbers of the rules whose pattern matched an array or a group.
    pub(super) arrays: BTreeSet<usize>,
    pub(super) groups: BTreeSet<usize>,
    /// The numbers of the rules that applied to an array.
    pub(super) applied: BTreeSet<usize>,
    /// The dimension names in rules that arrays were found to have.
    named: BTreeSet<(usize, String)>,
    pub(super) dimensions: BTreeSet<String>,
}

impl Rule {
    /// A rule that divides arrays into chunks.
    pub fn chunk(cut: Cut) -> Rule {
        Rule::new("chunk", Change::Chunk(cut))
    }

    /// A rule that divides arrays into shards, which consist of whole chunks.
    pub fn shard(cut: Cut) -> Rule {
        Rule::new("shard", Change::Shard(cut))
    }

    /// A rule for the filters of arrays.
    pub fn filter(filters: FilterRule) -> Rule {
        Rule::new("filter", Change::Filter(filters))
    }

    /// A rule for the byte order of numbers. `None` keeps that of the source.
    pub fn byte_order(order: Option<ByteOrder>) -> Rule {
        Rule::new("byte order", Change::Endian(order))
    }

    /// A rule for the fill value: a value as written in NDL, parsed with the datatype of each array, or `null` for
    /// undefined. `None` keeps that of the source.
    pub fn fill(value: Option<String>) -> Rule {
        Rule::new("fill value", Change::Fill(value))
    }

    /// Parses a rule with an optional prefix `/PATTERN:`. `read` parses the rest.
    ///
    /// # Errors
    /// For a pattern without a value; any error of `read`.
    pub fn parse(text: &str, read: impl FnOnce(&str) -> Result<Rule>) -> Result<Rule> {
        let (pattern, value) = option::parted(text)?;
        let rule = read(value)?;
        Ok(match pattern {
            Some(pattern) => rule.of(pattern),
            None => rule,
        })
    }

    /// Parses a byte order: `little`, `big`, or `keep`.
    ///
    /// # Errors
    /// For any other text.
    pub fn parse_byte_order(text: &str) -> Result<Rule> {
        option::endian(text).map(Rule::byte_order)
    }

    /// Parses a fill value: a value as written in NDL, or `keep`.
    ///
    /// # Errors
    /// For an empty text.
    pub fn parse_fill(text: &str) -> Result<Rule> {
        match text.trim() {
            "" => Err(Error::invalid("no value")
                .with_hint("write -999, null for undefined, or '\"\"' for an empty text")),
            "keep" => Ok(Rule::fill(None)),
            value => Ok(Rule::fill(Some(value.to_owned()))),
        }
    }

    /// The same rule, limited to arrays whose path matches a pattern: `/sst`, `/waves/**`, `/**/t*`.
    #[must_use]
    pub fn of(mut self, pattern: &str) -> Rule {
        self.label = format!("{} of {pattern}", self.label);
        self.pattern = Some(pattern.to_owned());
        self
    }

    /// The same rule with another label in errors.
    #[must_use]
    pub fn labelled(mut self, label: impl Into<String>) -> Rule {
        self.label = label.into();
        self
    }

    /// The label of the rule in errors.
    pub fn label(&self) -> &str {
        &self.label
    }

    fn new(what: &str, change: Change) -> Rule {
        Rule { label: what.to_owned(), pattern: None, change }
    }

    /// Whether the rule gives sizes by dimension name.
    pub(super) fn names_dimensions(&self) -> bool {
        matches!(self.change, Change::Chunk(Cut::Sides(_)) | Change::Shard(Cut::Sides(_)))
    }

    /// Whether the rule has a pattern.
    pub(super) fn is_for_some(&self) -> bool {
        self.pattern.is_some()
    }

    /// Whether the rule applies to the array at `path`.
    pub(super) fn names(&self, path: &NodePath) -> bool {
        self.pattern.as_ref().is_none_or(|pattern| matches(pattern, path.as_str()))
    }

    /// Whether the pattern matches exactly this array.
    fn is_literal(&self) -> bool {
        self.pattern.as_ref().is_some_and(|pattern| !is_pattern(pattern))
    }

    /// Whether the option applies to arrays like this one.
    pub(super) fn suits(&self, number: usize, array: &Array<'_>, seen: &mut Seen) -> Result<bool> {
        let (Change::Chunk(cutting) | Change::Shard(cutting)) = &self.change else { return Ok(true) };
        let rank = array.extents.len();
        match cutting {
            Cut::Shape(shape) if shape.len() != rank && self.is_literal() => {
                let (label, found) = (&self.label, shape.len());
                Err(Error::invalid(format!("{label}: {found} sides, the array has {rank} dimensions")))
            }
            Cut::Shape(shape) => Ok(shape.len() == rank),
            Cut::Sides(_) if array.is_dimcoord && self.pattern.is_none() => Ok(false),
            Cut::Sides(sides) => {
                let own: Vec<_> =
                    sides.iter().filter(|(name, _)| array.dimensions(name).next().is_some()).collect();
                seen.named.extend(own.iter().map(|(name, _)| (number, name.clone())));
                Ok(!own.is_empty())
            }
            _ => Ok(true),
        }
    }
}

impl Seen {
    /// One error for each part of the rule that has no effect.
    pub(super) fn missing(&self, number: usize, rule: &Rule) -> Vec<Error> {
        let Rule { label, pattern, change } = rule;
        if let Some(pattern) = pattern.as_ref().filter(|_| !self.arrays.contains(&number)) {
            let group = pattern.trim_end_matches('/');
            let hint = || Remedy::Hint(format!("the pattern for the members of a group is {group}/**"));
            let hint = self.groups.contains(&number).then(hint);
            return vec![Error::invalid(format!("{label}: no array matches {pattern}")).with_remedies(hint)];
        }
        match change {
            Change::Chunk(Cut::Shape(shape)) | Change::Shard(Cut::Shape(shape)) => {
                let (rank, s) = (shape.len(), if shape.len() == 1 { "" } else { "s" });
                let missing = !self.applied.contains(&number);
                let error = || Error::invalid(format!("{label}: no array has {rank} dimension{s}"));
                missing.then(error).into_iter().collect()
            }
            Change::Chunk(Cut::Sides(sides)) | Change::Shard(Cut::Sides(sides)) => {
                let missing = sides.iter().filter(|(name, _)| !self.named.contains(&(number, name.clone())));
                let sentence = |(name, _): &(String, u64)| {
                    let others = self.dimensions.iter().map(String::as_str).filter(|other| other != name);
                    Error::invalid(format!("{label}: no array has a dimension {name}"))
                        .with_remedies(did_you_mean(name, others))
                };
                missing.map(sentence).collect()
            }
            _ => Vec::new(),
        }
    }
}
