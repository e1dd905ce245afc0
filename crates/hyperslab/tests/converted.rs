//! What every format that is written must keep: content that goes there and on, and back, is the same.

mod contents;
mod memory;
mod records;
mod table;

use crate::{description, path};
use hyperslab::convert::{ConvertOptions, check_losses, convert, plan};
use hyperslab::describe::DescribeOptions;
use hyperslab::digest::lines;
use hyperslab::ndl::StorageDetail;
use hyperslab::publish::Fingerprint;
use hyperslab::target::{Fate, Loss, TargetFormat};
use hyperslab::{NodePath, OpenOptions, Source, TARGETS};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

fn open(store: &Path) -> Arc<dyn Source> {
    hyperslab::open(store, &OpenOptions::default()).unwrap_or_else(|e| panic!("{}: {e}", store.display()))
}

/// What was lost on the way, as objects and attributes with the kind of loss.
type Lost = BTreeMap<String, Loss>;

/// Writes `source` to `target` in a format, allowed to lose exactly what the plan says.
fn converted(source: &Path, format: &dyn TargetFormat, target: &Path) -> Result<Lost, String> {
    let from = open(source);
    let said =
        |what: &str, e: hyperslab::Error| format!("{what} {} as {}: {e}", source.display(), format.name());
    let mut options = ConvertOptions::new(format);
    let planned = plan(&*from, &options).map_err(|e| said("planning", e))?;
    options.allow = planned.report.losses().into_iter().collect();
    if !options.allow.is_empty() {
        let strict = ConvertOptions::new(format);
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

/// The digests of all that a store has and can read.
fn digests(store: &Path) -> BTreeMap<String, String> {
    let lines = lines(&*open(store), &NodePath::root()).unwrap();
    lines
        .into_iter()
        .filter(|line| !line.is_error())
        .map(|line| (line.path.clone(), line.to_json()))
        .collect()
}

/// Whether two stores have the same content but for what was lost.
fn same(one: &Path, other: &Path, lost: &Lost) -> Result<(), String> {
    let is_lost = |path: &str| {
        lost.keys().any(|place| {
            path.strip_prefix(place.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '@']))
        })
    };
    let (had, has) = (digests(one), digests(other));
    for (path, line) in &had {
        if has.get(path) != Some(line) && !is_lost(path) {
            return Err(format!("{line}\nbecame {:?}\nin {}", has.get(path), other.display()));
        }
    }
    match has.keys().find(|path| !had.contains_key(*path)) {
        Some(extra) => Err(format!("{extra} came from nowhere in {}", other.display())),
        None => Ok(()),
    }
}

/// What a store is described as, without the head.
fn described(store: &Path, storage: StorageDetail) -> String {
    let options = DescribeOptions { storage, ..DescribeOptions::default() };
    let (text, _) = description(&*open(store), "/", &options);
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.collect::<Vec<_>>().join("\n")
}

/// Sends a store to every format, from there to every other and back again: content and whatever NDL says of it must
/// be the same after the first step as at the end.
fn there_and_back(store: &Path) -> Result<(), String> {
    for first in TARGETS {
        let folder = TempDir::new().unwrap();
        let at = |name: &str| folder.path().join(name);
        let lost = converted(store, *first, &at("first"))?;
        same(store, &at("first"), &lost).map_err(|why| format!("to {}: {why}", first.name()))?;
        for second in TARGETS.iter().filter(|second| second.name() != first.name()) {
            let way = format!("to {}, {} and back", first.name(), second.name());
            for (from, to, format) in [("first", "second", *second), ("second", "back", *first)] {
                let lost = converted(&at(from), format, &at(to))?;
                if !lost.is_empty() {
                    return Err(format!("{way}: {lost:?}"));
                }
                same(&at(from), &at(to), &lost).map_err(|why| format!("{way}: {why}"))?;
            }
            let (had, has) =
                (described(&at("first"), StorageDetail::None), described(&at("back"), StorageDetail::None));
            if had != has {
                return Err(format!("{way}: {}", difference(&had, &has)));
            }
        }
    }
    Ok(())
}

/// The first lines that differ, with what stands above.
fn difference(had: &str, has: &str) -> String {
    let (had, has): (Vec<_>, Vec<_>) = (had.lines().collect(), has.lines().collect());
    let at = had.iter().zip(&has).take_while(|(one, other)| one == other).count();
    let above = &had[at.saturating_sub(6)..at];
    format!("{}\n- {:?}\n+ {:?}", above.join("\n"), had.get(at), has.get(at))
}

#[test]
fn every_example_goes_to_every_format_and_back() {
    let examples = fs::read_dir(path(".")).unwrap().map(|entry| entry.unwrap().path());
    let is_store = |path: &PathBuf| !path.to_string_lossy().ends_with(".py") && !path.ends_with("README.md");
    let failed: Vec<_> = examples.filter(is_store).filter_map(|store| there_and_back(&store).err()).collect();
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}
