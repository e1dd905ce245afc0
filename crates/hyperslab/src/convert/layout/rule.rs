//! One option of a layout: the arrays it is for, what it says of them, and whether any array was right for it.

use super::array::Array;
use super::option::{self, Cutting, Filtering};
use crate::location::{is_pattern, matches, nearest};
use hyperslab_core::{Error, Remedy, Result};
use hyperslab_model::{ByteOrder, NodePath};
use std::collections::BTreeSet;

/// One option.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    /// `-c time=8`, as it was typed.
    pub(super) typed: String,
    pattern: Option<String>,
    pub(super) change: Change,
}

/// What an option says of the arrays it is for.
#[derive(Clone, Debug)]
pub(super) enum Change {
    Chunk(Cutting),
    Shard(Cutting),
    Filter(Filtering),
    Endian(Option<ByteOrder>),
    /// `None` to keep it.
    Fill(Option<String>),
}

/// What was met so far.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// Numbers of rules whose pattern matched an array, or a group.
    pub(super) arrays: BTreeSet<usize>,
    pub(super) groups: BTreeSet<usize>,
    /// Numbers of rules that an array was right for.
    pub(super) applied: BTreeSet<usize>,
    /// Names of dimensions that rules have and arrays had.
    named: BTreeSet<(usize, String)>,
    pub(super) dimensions: BTreeSet<String>,
}

impl Rule {
    /// Reads an option as `flag` takes it, a pattern in front or not.
    ///
    /// # Errors
    /// What `read` says of what is behind the pattern.
    pub(super) fn read(flag: &str, option: &str, read: impl FnOnce(&str) -> Result<Change>) -> Result<Rule> {
        let typed = format!("{flag} {option}");
        let (pattern, value) = option::parted(option).map_err(|e| in_option(&typed, e))?;
        let change = read(value).map_err(|e| in_option(&typed, e))?;
        Ok(Rule { typed, pattern: pattern.map(str::to_owned), change })
    }

    /// Whether it has a pattern, so that it is not for all arrays.
    pub(super) fn is_for_some(&self) -> bool {
        self.pattern.is_some()
    }

    /// Whether it is for the array at `path`.
    pub(super) fn names(&self, path: &NodePath) -> bool {
        self.pattern.as_ref().is_none_or(|pattern| matches(pattern, path.as_str()))
    }

    /// Whether it means this one array and no other.
    fn is_literal(&self) -> bool {
        self.pattern.as_ref().is_some_and(|pattern| !is_pattern(pattern))
    }

    /// Whether it says something to arrays like one that it names.
    pub(super) fn suits(&self, number: usize, array: &Array<'_>, seen: &mut Seen) -> Result<bool> {
        let (Change::Chunk(cutting) | Change::Shard(cutting)) = &self.change else { return Ok(true) };
        let rank = array.extents.len();
        match cutting {
            Cutting::Shape(shape) if shape.len() != rank && self.is_literal() => {
                let (typed, found) = (&self.typed, shape.len());
                Err(Error::invalid(format!("{typed}: {found} sides, the array has {rank} dimensions")))
            }
            Cutting::Shape(shape) => Ok(shape.len() == rank),
            Cutting::Named(_) if array.is_dimcoord && self.pattern.is_none() => Ok(false),
            Cutting::Named(sides) => {
                let own: Vec<_> =
                    sides.iter().filter(|(name, _)| array.dimensions(name).next().is_some()).collect();
                seen.named.extend(own.iter().map(|(name, _)| (number, name.clone())));
                Ok(!own.is_empty())
            }
            _ => Ok(true),
        }
    }
}

fn in_option(typed: &str, error: Error) -> Error {
    error.map_detail(|detail| format!("{typed}: {detail}"))
}

impl Seen {
    /// What a rule has said in vain, an error each.
    pub(super) fn missing(&self, number: usize, rule: &Rule) -> Vec<Error> {
        let Rule { typed, pattern, change } = rule;
        if let Some(pattern) = pattern.as_ref().filter(|_| !self.arrays.contains(&number)) {
            let hint = self
                .groups
                .contains(&number)
                .then(|| Remedy::Hint(format!("what is in a group is {}/**", pattern.trim_end_matches('/'))));
            return vec![Error::invalid(format!("{typed}: no array matches {pattern}")).with_remedies(hint)];
        }
        match change {
            Change::Chunk(Cutting::Shape(shape)) | Change::Shard(Cutting::Shape(shape)) => {
                let (rank, s) = (shape.len(), if shape.len() == 1 { "" } else { "s" });
                let missing = !self.applied.contains(&number);
                let error = || Error::invalid(format!("{typed}: no array has {rank} dimension{s}"));
                missing.then(error).into_iter().collect()
            }
            Change::Chunk(Cutting::Named(sides)) | Change::Shard(Cutting::Named(sides)) => {
                let missing = sides.iter().filter(|(name, _)| !self.named.contains(&(number, name.clone())));
                let sentence = |(name, _): &(String, u64)| {
                    let others = self.dimensions.iter().map(String::as_str).filter(|other| other != name);
                    let near = nearest(name, others);
                    let hint = near.map(|near| Remedy::Hint(format!("did you mean {near}?")));
                    Error::invalid(format!("{typed}: no array has a dimension {name}")).with_remedies(hint)
                };
                missing.map(sentence).collect()
            }
            _ => Vec::new(),
        }
    }
}
