//! Conversions to every target format and back keep the content.

mod contents;
mod dimensions;
mod fitting;
mod kept;
mod memory;
mod missing;
mod nullable;
mod origin;
mod random;
mod readers;
mod records;
mod reported;
mod stores;
mod table;
mod unshown;

use crate::{description, path, targets};
use hyperslab::check::{CheckOptions, Finding};
use hyperslab::convert::{ConvertOptions, check_losses, convert, plan};
use hyperslab::create::document;
use hyperslab::describe::{DescribeOptions, describe};
use hyperslab::diff::{DiffOptions, Side, diff};
use hyperslab::digest::{Line, LineContent, lines};
use hyperslab::model::Tolerance;
use hyperslab::ndl::StorageDetail;
use hyperslab::publish::Fingerprint;
use hyperslab::target::{Fate, Loss, TargetFormat, TargetOptions};
use hyperslab::{FORMATS, FileStorage, NodePath, OpenOptions, Severity, Source, TARGETS, recognize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

fn open(store: &Path) -> Arc<dyn Source> {
    hyperslab::open(store, &OpenOptions::default()).unwrap_or_else(|e| panic!("{}: {e}", store.display()))
}

/// The losses of a conversion: objects and attributes, with the kind of loss.
type Lost = BTreeMap<String, Loss>;

/// Converts `source` to `target` in a format, allowing exactly the losses that the plan reports.
fn converted(source: &Path, format: &dyn TargetFormat, target: &Path) -> Result<Lost, String> {
    converted_with(source, format, TargetOptions::default(), target)
}

/// Like [`converted`], with options of the format.
fn converted_with(
    source: &Path,
    format: &dyn TargetFormat,
    native: TargetOptions,
    target: &Path,
) -> Result<Lost, String> {
    let from = open(source);
    let said =
        |what: &str, e: hyperslab::Error| format!("{what} {} as {}: {e}", source.display(), format.name());
    let strict = ConvertOptions { native, ..ConvertOptions::new(format) };
    let mut options = strict.clone();
    let planned = plan(&*from, &options).map_err(|e| said("planning", e))?;
    options.allow = planned.report.losses().into_iter().collect();
    if !options.allow.is_empty() {
        check_losses(&planned, &strict).expect_err("what is lost stops a run");
    }
    let made_from = Fingerprint::of_sources(&[source.to_path_buf()], String::new()).unwrap();
    let summary =
        convert(&*from, &made_from, target, &planned, &options).map_err(|e| said("converting", e))?;
    let mut lost = Lost::new();
    for row in planned.report.rows() {
        if let Fate::Lost(kind) = row.fate {
            lost.extend(row.places.iter().map(|place| (place.clone(), kind)));
        }
    }
    lost.extend(summary.left_out.iter().filter_map(|e| Some((e.object()?.to_owned(), Loss::Unreadable))));
    Ok(lost)
}

/// The digests of all readable objects of a store, by path.
fn digests(store: &Path) -> BTreeMap<String, String> {
    let lines = lines(&*open(store), &NodePath::root()).unwrap();
    lines
        .into_iter()
        .filter(|line| !line.is_error())
        .map(|line| (line.path.clone(), line.to_json()))
        .collect()
}

/// The paths of the unreadable objects of a store, each with the reason.
fn errors(store: &Path) -> Vec<(String, String)> {
    let lines = lines(&*open(store), &NodePath::root()).unwrap();
    let reason = |line: Line| match line.content {
        LineContent::Error { reason, .. } => Some((line.path, reason)),
        _ => None,
    };
    lines.into_iter().filter_map(reason).collect()
}

/// Whether an object or attribute, or an object that contains it, was lost.
fn is_lost(path: &str, lost: &Lost) -> bool {
    lost.keys().any(|place| {
        path.strip_prefix(place.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '@']))
    })
}

/// Fails if two stores have different digests, apart from the losses.
fn same(one: &Path, other: &Path, lost: &Lost) -> Result<(), String> {
    let (had, has) = (digests(one), digests(other));
    for (path, line) in &had {
        if has.get(path) != Some(line) && !is_lost(path, lost) {
            let errors: Vec<_> = errors(other).into_iter().filter(|(at, _)| path.starts_with(at)).collect();
            return Err(format!("{line}\nbecame {:?} {errors:?}\nin {}", has.get(path), other.display()));
        }
    }
    match has.keys().find(|path| !had.contains_key(*path)) {
        Some(extra) => Err(format!("{extra} came from nowhere in {}", other.display())),
        None => Ok(()),
    }
}

/// Fails if the contents of two stores differ, apart from the losses.
fn unlike(one: &Path, other: &Path, lost: &Lost) -> Result<(), String> {
    let (a, b) = (open(one), open(other));
    let root = |source: &dyn Source| targets(source, "/").unwrap().remove(0);
    let (root_a, root_b) = (root(&*a), root(&*b));
    let (a, b) = (Side { source: &*a, target: &root_a }, Side { source: &*b, target: &root_b });
    let tolerance = Tolerance { signed_zeros: true, ..Tolerance::default() };
    let options = DiffOptions { tolerance, max_reported: 1, ..DiffOptions::default() };
    let mut found = Vec::new();
    let done = diff(a, b, &options, &mut |_, _| {}, &mut |one| {
        // Two objects that are unreadable for the same reason are considered equal.
        if !is_lost(&one.path, lost) && (one.what != "unreadable" || one.a != one.b) {
            found.push(format!("{one:?}"));
        }
        Ok(())
    });
    done.map_err(|e| e.to_string())?;
    if found.is_empty() { Ok(()) } else { Err(found.join("\n")) }
}

/// Writes a description from which a store can be created again.
fn write_description(store: &Path, to: &Path, json: bool) -> Result<(), String> {
    let source = open(store);
    let root = targets(&*source, "/").unwrap();
    let options = DescribeOptions { values: Some(u64::MAX), json, ..DescribeOptions::default() };
    let mut text = Vec::new();
    let done = describe(&*source, "store", &root, &options, &mut text).map_err(|e| e.to_string())?;
    fs::write(to, &text).unwrap();
    if let Some(error) = done.errors.first() {
        return Err(format!("describing: {error}"));
    }
    let storage = FileStorage::open(to).unwrap();
    let read = document(&storage, &OpenOptions::default(), &CheckOptions::default()).unwrap();
    // References to lost objects have no target.
    let is_wrong = |found: &&Finding| found.severity != Severity::Note && found.rule != "ndl/reference";
    let mut found = read.report.findings.iter().filter(is_wrong);
    match found.next() {
        Some(found) => Err(format!("{found:?}\nin\n{}", String::from_utf8_lossy(&text))),
        None => Ok(()),
    }
}

/// The description of a store, without its first line.
fn described(store: &Path, storage: StorageDetail) -> String {
    let options = DescribeOptions { storage, ..DescribeOptions::default() };
    let (text, _) = description(&*open(store), "/", &options);
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.collect::<Vec<_>>().join("\n")
}

/// The Zarr target formats, which keep records of what Zarr cannot represent.
pub(crate) fn zarr_targets() -> Vec<&'static &'static dyn TargetFormat> {
    TARGETS.iter().filter(|format| format.family() == "zarr").collect()
}

/// Converts a store to every Zarr format, from there to every Zarr format, and back. Content and description must be
/// the same after the first conversion and after the last one. Other targets do not keep all records, so not everything
/// is restored from them.
fn there_and_back(store: &Path) -> Result<(), String> {
    for first in zarr_targets() {
        let folder = TempDir::new().unwrap();
        let at = |name: &str| folder.path().join(name);
        let lost = converted(store, *first, &at("first"))?;
        let to = |why: String| format!("to {}: {why}", first.name());
        same(store, &at("first"), &lost).map_err(to)?;
        unlike(store, &at("first"), &lost).map_err(to)?;
        write_description(&at("first"), &at("first.yaml"), false).map_err(to)?;
        unlike(&at("first"), &at("first.yaml"), &Lost::new()).map_err(to)?;
        for second in zarr_targets() {
            let way = format!("to {}, {} and back", first.name(), second.name());
            // The last suffix selects the form of the store that is not the default for names without a suffix.
            let suffix = second.suffixes().last().unwrap_or(&"");
            let (there, back) = (format!("{}{suffix}", second.name()), format!("from_{}", second.name()));
            for (from, to, format) in [("first", &*there, *second), (&*there, &*back, *first)] {
                let lost = converted(&at(from), format, &at(to))?;
                if !lost.is_empty() {
                    return Err(format!("{way}: {lost:?}"));
                }
                same(&at(from), &at(to), &lost).map_err(|why| format!("{way}: {why}"))?;
            }
            let (had, has) =
                (described(&at("first"), StorageDetail::None), described(&at(&back), StorageDetail::None));
            if had != has {
                return Err(format!("{way}: {}", difference(&had, &has)));
            }
        }
    }
    Ok(())
}

/// The first lines that differ, with the lines above them.
fn difference(had: &str, has: &str) -> String {
    let (had, has): (Vec<_>, Vec<_>) = (had.lines().collect(), has.lines().collect());
    let at = had.iter().zip(&has).take_while(|(one, other)| one == other).count();
    let above = &had[at.saturating_sub(6)..at];
    format!("{}\n- {:?}\n+ {:?}", above.join("\n"), had.get(at), has.get(at))
}

#[test]
fn every_example_is_converted_to_every_format_and_back() {
    let examples = fs::read_dir(path(".")).unwrap().map(|entry| entry.unwrap().path());
    let is_store = |path: &PathBuf| !path.to_string_lossy().ends_with(".py") && !path.ends_with("README.md");
    let stores: Vec<_> = examples.filter(is_store).collect();
    let of: BTreeSet<_> = stores.iter().filter_map(|store| Some(recognize(store).unwrap()?.name())).collect();
    for format in FORMATS {
        assert!(of.contains(format.name()), "no example of {}", format.name());
    }
    let failed: Vec<_> = stores.iter().filter_map(|store| there_and_back(store).err()).collect();
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}
