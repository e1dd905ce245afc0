//! Verifies a written store: reads it back and compares it with the source.

use super::{ConvertOptions, Plan, Summary};
use crate::digest::{self, Line, LineContent};
use crate::source::{Asked, Handle, Source};
use crate::strings::{as_stored, with_slashes};
use crate::target::conventions::FILL_VALUE;
use hyperslab_core::{Error, Result};
use hyperslab_model::NodePath;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// The result of the verification.
#[derive(Debug, Default)]
pub struct Verified {
    /// The number of objects and attributes with equal digests.
    pub equal: u64,
    /// The number of objects and attributes that have another type, shape or form, as planned.
    pub changed: u64,
    /// One error for each object and attribute whose digest differs.
    pub different: Vec<Error>,
    /// One error for each object and attribute that cannot be read on either side.
    pub unreadable: Vec<Error>,
}

/// The store that is being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerifySide {
    /// The source of the conversion.
    Source,
    /// The written store.
    Written,
}

/// A store whose lines are compared.
struct Side<'a> {
    source: &'a dyn Source,
    lines: BTreeMap<String, Line>,
    /// The arrays by the paths of their lines, including those without a line.
    arrays: FxHashMap<String, Handle>,
}

impl Side<'_> {
    /// The content of an array without a line, whose elements follow from other content. Another format may store such
    /// elements: coordinates along a domain, labels.
    fn told(&self, path: &str) -> Option<LineContent> {
        let array = self.arrays.get(path).filter(|_| !self.lines.contains_key(path))?;
        let told = digest::array((self.source, &Asked::default()), array, &mut |_, _| {});
        told.ok().map(|(content, _)| content)
    }

    /// Gives objects the paths that they have in `other`, if names differ only in how they are shown.
    fn renamed_as_in(self, other: &Side<'_>) -> Self {
        let is_taken = |path: &str| other.lines.contains_key(path) || other.arrays.contains_key(path);
        let renamed = |path: String| match as_stored(&path) {
            Some(stored) if !is_taken(&path) && is_taken(&stored) => stored,
            _ => path,
        };
        let lines = self.lines.into_iter().map(|(path, line)| (renamed(path), line)).collect();
        let arrays = self.arrays.into_iter().map(|(path, array)| (renamed(path), array)).collect();
        Side { source: self.source, lines, arrays }
    }
}

/// Compares the digests of source and target, object by object and attribute by attribute. Planned losses and omitted
/// objects are not compared. Calls `tell` with the current array and the number of bytes read from that store in
/// total.
///
/// # Errors
/// If one of the two stores cannot be walked.
pub fn verify(
    source: &dyn Source,
    written: &dyn Source,
    (plan, summary, options): (&Plan, &Summary, &ConvertOptions<'_>),
    tell: &mut dyn FnMut(VerifySide, &NodePath, u64),
) -> Result<Verified> {
    let one = side(source, &mut |path, bytes| tell(VerifySide::Source, path, bytes))?;
    let other = side(written, &mut |path, bytes| tell(VerifySide::Written, path, bytes))?.renamed_as_in(&one);
    let left_out = plan.left_out.keys().map(NodePath::as_str);
    let left_out = left_out.chain(summary.left_out.iter().filter_map(Error::object)).map(with_slashes);
    let left_out: FxHashSet<String> = left_out.collect();
    let is_lost = |path: &str| plan.report.is_lost(path) || is_within(path, &left_out);
    let mut verified = Verified::default();
    let is_meant = |path: &str| options.parts.as_ref().is_none_or(|parts| parts.has_line(path));
    let compare =
        |verified: &mut Verified, path: &str, content: &LineContent, found: Option<&LineContent>| {
            let error = |what: String| Error::malformed(what).in_object(path);
            match (content, found) {
                (LineContent::Error { reason, .. }, _) if !is_lost(path) => {
                    verified.unreadable.push(error(format!("cannot be read in the source: {reason}")));
                }
                (LineContent::Error { .. }, _) => {}
                (read, Some(found)) if read == found => verified.equal += 1,
                // Even if it was reported as lost, an existing object must be readable.
                (_, Some(LineContent::Error { reason, .. })) => {
                    verified.different.push(error(format!("was written and cannot be read: {reason}")));
                }
                _ if is_lost(path) => {}
                (_, Some(found)) if plan.report.is_changed(path) && has_other_form(content, found) => {
                    verified.changed += 1;
                }
                _ => verified.different.push(error(difference(content, found))),
            }
        };
    for (path, line) in one.lines.iter().filter(|(path, _)| is_meant(path)) {
        let told;
        let found = match other.lines.get(path) {
            Some(line) => Some(&line.content),
            None => {
                told = other.told(path);
                told.as_ref()
            }
        };
        compare(&mut verified, path, &line.content, found);
    }
    for (path, line) in
        other.lines.iter().filter(|(path, _)| !one.lines.contains_key(*path) && !is_lost(path))
    {
        if let Some(told) = one.told(path) {
            compare(&mut verified, path, &told, Some(&line.content));
            continue;
        }
        let what = match &line.content {
            LineContent::Error { reason, .. } => format!("was written and cannot be read: {reason}"),
            // Types that were given a name, and attributes that describe how elements were changed.
            LineContent::Datatype { .. } if plan.report.has_changes() => continue,
            _ if tells_of_change(&one, plan, path) => continue,
            _ => "is not in the source".to_owned(),
        };
        verified.different.push(Error::malformed(what).in_object(path));
    }
    // A failed read may be the reason for a difference.
    verified.unreadable.extend(source.read_failure().or_else(|| written.read_failure()));
    Ok(verified)
}

/// The lines and arrays of a store.
fn side<'a>(source: &'a dyn Source, tell: &mut dyn FnMut(&NodePath, u64)) -> Result<Side<'a>> {
    let digest::Seen { lines, arrays } = digest::seen(source, &NodePath::root(), tell)?;
    let lines = lines.into_iter().map(|line| (line.path.clone(), line)).collect();
    Ok(Side { source, lines, arrays })
}

/// Describes how content of the source differs from that of the written store.
fn difference(content: &LineContent, found: Option<&LineContent>) -> String {
    use LineContent::{Datatype, Hashed, Link};
    let Some(found) = found else { return "is missing in what was written".to_owned() };
    let extents = |shape: &Option<Vec<u64>>| shape.as_ref().map_or("null".to_owned(), |of| format!("{of:?}"));
    match (content, found) {
        (Hashed { datatype, .. }, Hashed { datatype: other, .. }) if datatype != other => {
            format!("was read with type {datatype} and written with type {other}")
        }
        (Hashed { shape, .. }, Hashed { shape: other, .. }) if shape != other => {
            format!("was read with shape {} and written with shape {}", extents(shape), extents(other))
        }
        (Hashed { .. }, Hashed { .. }) => "was written with values different from those read".to_owned(),
        (Datatype { datatype }, Datatype { datatype: other }) => {
            format!("was read as {datatype} and written as {other}")
        }
        (Link { target }, Link { target: other }) => {
            format!("points to {other}, but in the source to {target}")
        }
        _ => format!("was read as {} and written as {}", kind(content), kind(found)),
    }
}

fn kind(content: &LineContent) -> &'static str {
    match content {
        LineContent::Group => "a group",
        LineContent::Datatype { .. } => "a named datatype",
        LineContent::Link { .. } => "a link",
        LineContent::Hashed { kind: "attribute", .. } => "an attribute",
        LineContent::Hashed { .. } => "an array",
        LineContent::Error { .. } => "an object that cannot be read",
    }
}

/// Whether content has a different type or shape from that in the source, so that its digest must differ, or is an
/// attribute. An array that is stored with other chunks or filters has the same digest.
fn has_other_form(content: &LineContent, found: &LineContent) -> bool {
    match (content, found) {
        (LineContent::Hashed { kind: "attribute", .. }, _) => true,
        (
            LineContent::Hashed { datatype: one, shape: own, .. },
            LineContent::Hashed { datatype: other, shape, .. },
        ) => one != other || own != shape,
        _ => false,
    }
}

/// Whether an attribute that the source does not have belongs to an object that was changed as planned, or states what
/// readers of the source know without it.
fn tells_of_change(of: &Side<'_>, plan: &Plan, path: &str) -> bool {
    let Some((object, name)) = path.rsplit_once('@') else { return false };
    let is_implied = || {
        let array = of.arrays.get(object).filter(|_| name == FILL_VALUE);
        array.is_some_and(|array| of.source.array(array).is_ok_and(|array| array.fill_is_missing()))
    };
    plan.report.is_changed(object) || plan.report.is_changed(path) || is_implied()
}

/// Whether `path` is one of `places`, an attribute of one or below one.
fn is_within(path: &str, places: &FxHashSet<String>) -> bool {
    let ends = path.match_indices(['/', '@']).map(|(end, _)| end).chain([path.len()]);
    ends.filter_map(|end| path.get(..end)).any(|place| places.contains(place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_takes_its_attributes_and_members_with_it() {
        let places = FxHashSet::from_iter(["/damaged", "/a@b"].map(str::to_owned));
        for (path, expected) in [
            ("/damaged", true),
            ("/damaged@a", true),
            ("/damaged/x@a", true),
            ("/damaged_too", false),
            ("/a@b@c", true),
            ("/a", false),
            ("/", false),
        ] {
            assert_eq!(is_within(path, &places), expected, "{path}");
        }
    }
}
