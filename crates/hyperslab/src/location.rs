//! Locations: `STORE[:/PATH][@ATTRIBUTE]` names a store, an object or an attribute.

mod member;
mod pattern;
mod similar;

pub(crate) use self::pattern::name_matches;
pub use self::pattern::{is_pattern, matches};
pub(crate) use self::similar::is_url;

use self::pattern::{Pattern, alternatives};
use crate::links::follow;
use crate::source::{Entry, Item, Source};
use crate::walk::{Step, walk};
use hyperslab_core::{Error, ErrorKind, Remedy, Result, valid};
use hyperslab_model::{Link, NodePath};
use rustc_hash::FxHashSet;

/// A store, and optionally a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Locator {
    /// The file or directory, as typed.
    pub store: String,
    /// The text after the colon, which may be a pattern and name an attribute. `None` for the whole store.
    pub path: Option<String>,
}

/// The target of a location.
#[derive(Clone, Debug)]
pub struct LocatedObject {
    /// The object.
    pub entry: Entry,
    /// The name of the attribute, if the location names one.
    pub attribute: Option<String>,
}

impl LocatedObject {
    /// Whether the object has the attribute that the location names.
    ///
    /// # Errors
    /// [`NotFound`](ErrorKind::NotFound) if it does not; if the object cannot be read.
    pub fn check_attribute(&self, source: &dyn Source) -> Result<()> {
        let Some(name) = &self.attribute else { return Ok(()) };
        let node = source.load(&self.entry.handle)?;
        let mut names = node.attributes().into_iter().flat_map(|all| all.keys().map(String::as_str));
        match names.clone().any(|own| own == name) {
            true => Ok(()),
            false => Err(missing_attribute(&self.entry.handle.path, name, &mut names)),
        }
    }
}

impl Locator {
    /// Splits at the first `:/` that is not part of `://` and does not follow a single letter, which is a Windows
    /// drive.
    ///
    /// ```
    /// use hyperslab::location::Locator;
    /// let at = |text| { let l = Locator::parse(text); (l.store, l.path) };
    /// assert_eq!(at("a.nc:/x@units"), ("a.nc".into(), Some("/x@units".into())));
    /// assert_eq!(at("s3://b/a.nc:/x"), ("s3://b/a.nc".into(), Some("/x".into())));
    /// assert_eq!(at("C:/data/a.nc"), ("C:/data/a.nc".into(), None));
    /// ```
    pub fn parse(text: &str) -> Locator {
        let colon = text.match_indices(":/").map(|(at, _)| at).find(|at| {
            let (store, path) = text.split_at(*at);
            let drive = store.len() == 1 && store.chars().all(|c| c.is_ascii_alphabetic());
            !path.starts_with("://") && !drive && !store.is_empty()
        });
        match colon.and_then(|at| text.split_at_checked(at)) {
            Some((store, path)) => Locator {
                store: store.into(),
                path: Some(path.trim_start_matches(':').into()).filter(|path| path != "/"),
            },
            None => Locator { store: text.into(), path: None },
        }
    }

    /// The objects that the location names in an open store: one, or all that match the pattern.
    ///
    /// # Errors
    /// [`NotFound`](ErrorKind::NotFound) if there is none; the message suggests a similar name.
    pub fn targets(&self, source: &dyn Source) -> Result<Vec<LocatedObject>> {
        let text = self.path.as_deref().unwrap_or("/");
        // An object with exactly this name takes precedence over an attribute of another object.
        match find(source, text) {
            Ok(entry) => Ok(vec![LocatedObject { entry, attribute: None }]),
            Err(e) if e.kind() != ErrorKind::NotFound => Err(e),
            Err(missing) => {
                // Names of attributes may contain any character, so the longest path of an object is used.
                let splits = text.rmatch_indices('@').filter_map(|(at, _)| text.split_at_checked(at));
                let mut first = None;
                for (path, attribute) in splits {
                    match all(source, if path.is_empty() { "/" } else { path }) {
                        Ok(entries) if is_pattern(path) => {
                            return with_attribute(
                                source,
                                entries,
                                text,
                                attribute.get(1..).unwrap_or_default(),
                            );
                        }
                        Ok(entries) => {
                            let of = entries.into_iter().map(|entry| inside(source, entry));
                            return Ok(targets(of.collect::<Result<_>>()?, attribute.strip_prefix('@')));
                        }
                        Err(e) if e.kind() != ErrorKind::NotFound => return Err(e),
                        Err(e) => first = first.or(Some(e)),
                    }
                }
                match (first, is_pattern(text)) {
                    (None, true) => match matching(source, text) {
                        Ok(entries) => Ok(targets(entries, None)),
                        Err(e) => Err(e.with_remedies(similar::part(source, text))),
                    },
                    (first, _) => Err(first.unwrap_or(missing)),
                }
            }
        }
    }

    /// As [`targets`](Locator::targets), but a single link within the file is replaced by its target.
    ///
    /// # Errors
    /// As [`targets`](Locator::targets), and if the link leads nowhere.
    pub fn followed(&self, source: &dyn Source) -> Result<Vec<LocatedObject>> {
        let mut targets = self.targets(source)?;
        if let [only] = targets.as_mut_slice() {
            only.entry = inside(source, only.entry.clone())?;
        }
        Ok(targets)
    }
}

/// The target of a soft or hard link; any other object itself.
fn inside(source: &dyn Source, entry: Entry) -> Result<Entry> {
    match entry.item {
        Item::Link(Link::Soft(_) | Link::Hard(_)) => follow(source, entry),
        _ => Ok(entry),
    }
}

fn targets(entries: Vec<Entry>, attribute: Option<&str>) -> Vec<LocatedObject> {
    let target = |entry| LocatedObject { entry, attribute: attribute.map(str::to_owned) };
    entries.into_iter().map(target).collect()
}

/// The attributes with this name of those objects that have one.
fn with_attribute(
    source: &dyn Source,
    entries: Vec<Entry>,
    text: &str,
    name: &str,
) -> Result<Vec<LocatedObject>> {
    let mut having = Vec::new();
    for entry in entries {
        // An object that cannot be loaded is reported when the attribute is needed.
        let has = !matches!(entry.item, Item::Link(_))
            && valid(source.load(&entry.handle))?
                .is_none_or(|node| node.attributes().is_some_and(|all| all.contains_key(name)));
        having.extend(has.then_some(entry));
    }
    match having.is_empty() {
        true => Err(Error::not_found(format!("no attribute matches {text}"))),
        false => Ok(targets(having, Some(name))),
    }
}

/// The object at a path, or the objects that match a pattern.
fn all(source: &dyn Source, path: &str) -> Result<Vec<Entry>> {
    if is_pattern(path) { matching(source, path) } else { find(source, path).map(|entry| vec![entry]) }
}

/// Removes targets inside other targets: a pattern can match a group and its members.
pub fn outermost(targets: &[LocatedObject]) -> impl Iterator<Item = &LocatedObject> {
    let paths: FxHashSet<&NodePath> = targets.iter().map(|target| &target.entry.handle.path).collect();
    targets.iter().filter(move |target| {
        let ancestors = std::iter::successors(target.entry.handle.path.parent(), NodePath::parent);
        !ancestors.into_iter().any(|ancestor| paths.contains(&ancestor))
    })
}

fn find(source: &dyn Source, text: &str) -> Result<Entry> {
    let refused = match NodePath::new(text) {
        Ok(path) => {
            return source.find(&path).map_err(|e| match e.kind() {
                ErrorKind::NotFound => missing(source, &path, e),
                _ => e,
            });
        }
        Err(e) => Error::not_found(e.detail().to_owned()),
    };
    // HDF5 may have members with the names `.` and `..`, which have no special meaning there.
    let names = text.strip_prefix('/').into_iter().flat_map(|inner| inner.split('/'));
    let mut each = names.clone();
    match each.any(str::is_empty) || !text.starts_with('/') {
        true => Err(refused),
        false => {
            source.find(&names.fold(NodePath::root(), |path, name| path.child(name))).map_err(|_| refused)
        }
    }
}

/// Adds a suggestion to `error`, which reports a missing object.
fn missing(source: &dyn Source, path: &NodePath, error: Error) -> Error {
    match similar::similar(source, path) {
        Some(similar) => Error::not_found(format!("no object {path}")).with_remedy(Remedy::Instead {
            given: path.to_string(),
            write: similar.to_string(),
            effect: None,
        }),
        None => error,
    }
}

/// The error for an attribute that the object at `path` does not have, with the most similar existing one.
pub fn missing_attribute<'a>(path: &NodePath, name: &str, names: impl IntoIterator<Item = &'a str>) -> Error {
    let given = format!("{path}@{name}");
    let near = nearest(name, names).map(|near| Remedy::Instead {
        given: given.clone(),
        write: format!("{path}@{near}"),
        effect: None,
    });
    Error::not_found("no such attribute").with_remedies(near).in_object(given)
}

/// The candidate with the smallest edit distance to `word`, if that is small for its length.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (edits(word, candidate), candidate))
        .filter(|(edits, candidate)| {
            *edits <= word.len().max(candidate.len()) / 3 + 1 && *edits < word.len().max(2)
        })
        // The first one if there are several.
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
}

/// The remedy for a word that is none of the candidates: to use the nearest one, if it is similar enough.
pub(crate) fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<Remedy> {
    nearest(word, candidates).map(|near| Remedy::Hint(format!("did you mean {near}?")))
}

/// The Levenshtein distance, where swapping two neighbours counts as one edit.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let (mut before, mut above): (Vec<usize>, Vec<usize>) = (Vec::new(), (0..=b.len()).collect());
    let mut last = None;
    for (i, x) in a.chars().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let at = |row: &[usize], k: usize| row.get(k).copied().unwrap_or(usize::MAX / 2);
            let mut least =
                (at(&above, j) + usize::from(x != *y)).min(at(&above, j + 1) + 1).min(at(&row, j) + 1);
            if j > 0 && last == Some(*y) && b.get(j - 1) == Some(&x) {
                least = least.min(at(&before, j - 1) + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut above, row);
        last = Some(x);
    }
    above.last().copied().unwrap_or(0)
}

fn matching(source: &dyn Source, pattern: &str) -> Result<Vec<Entry>> {
    let root = source.find(&NodePath::root())?;
    let mut found = Vec::new();
    let mut alternatives: Vec<(Pattern, bool)> =
        alternatives(pattern)?.into_iter().map(|one| (Pattern::new(&one), false)).collect();
    walk(source, &root.handle, &mut |step| {
        let entry = match step {
            Step::Enter(handle, _) => Entry { handle: handle.clone(), item: Item::Group },
            Step::Member(entry) => entry.clone(),
            Step::Leave(_) => return Ok(()),
        };
        let mut is_match = false;
        for (pattern, has_match) in &mut alternatives {
            let matches = pattern.matches(entry.handle.path.as_str());
            *has_match |= matches;
            is_match |= matches;
        }
        if is_match {
            found.push(entry);
        }
        Ok(())
    })?;
    // All names in a list must match.
    for (pattern, _) in alternatives.iter().filter(|(_, has_match)| !has_match) {
        match is_pattern(pattern.text()) {
            true => return Err(Error::not_found(format!("no object matches {}", pattern.text()))),
            // It may be reachable only through a link.
            false => found.push(find(source, pattern.text())?),
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_suggested_and_far_ones_are_not() {
        let names = ["temperature", "salinity", "crs"];
        assert_eq!(nearest("temprature", names), Some("temperature"));
        assert_eq!(nearest("salintiy", names), Some("salinity"));
        assert_eq!(nearest("wind", names), None);
        assert_eq!(nearest("x", names), None);
        assert_eq!(edits("ab", "ba"), 1);
    }
}
