//! If any single request fails, the answer never differs without an error.

use crate::path;
use hyperslab::convert::{ConvertOptions, convert, plan};
use hyperslab::describe::DescribeOptions;
use hyperslab::publish::Fingerprint;
use hyperslab::storage::FileStorage;
use hyperslab::store::DirectoryStore;
use hyperslab::target::Loss;
use hyperslab::{Location, NodePath, OpenOptions, Pool, digest, target_format_of};
use hyperslab_core::wrapper::Failing;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A file or directory for which one request fails, and the number of requests so far.
fn location(path: &Path, failing: u64) -> (Location, Arc<AtomicU64>) {
    if path.is_dir() {
        let store = Failing::new(DirectoryStore::open(path).unwrap(), failing);
        let requests = store.requests();
        return (Location::Store(Arc::new(store)), requests);
    }
    let storage = Failing::new(FileStorage::open(path).unwrap(), failing);
    let requests = storage.requests();
    (Location::Object(Box::new(storage)), requests)
}

/// The description and the digests of all objects, and the errors in them.
fn answer(location: Location) -> Result<(String, Vec<String>), String> {
    let source = hyperslab::open_location(location, &OpenOptions::default()).map_err(|e| e.to_string())?;
    let options = DescribeOptions { values: Some(1000), ..DescribeOptions::default() };
    let mut out = Vec::new();
    let targets = crate::targets(&*source, "/").map_err(|e| e.to_string())?;
    let done = hyperslab::describe::describe(&*source, "FILE", &targets, &options, &mut out);
    let mut errors: Vec<_> =
        done.map_err(|e| e.to_string())?.errors.iter().map(ToString::to_string).collect();
    let lines = digest::lines(&*source, &NodePath::root()).map_err(|e| e.to_string())?;
    errors.extend(lines.iter().filter(|line| line.is_error()).map(digest::Line::to_json));
    let digests: Vec<String> = lines.iter().map(digest::Line::to_json).collect();
    Ok((String::from_utf8(out).unwrap() + &digests.join("\n"), errors))
}

#[test]
fn every_failing_request_is_an_error_or_changes_nothing() {
    let mut silent = Vec::new();
    let mut total = 0;
    for name in FILES {
        let path = path(name);
        let (whole, requests) = location(&path, u64::MAX);
        let (expected, errors) = answer(whole).unwrap();
        let requests = requests.load(Ordering::Relaxed);
        total += requests;
        for failing in 0..requests {
            if let Ok((found, told)) = answer(location(&path, failing).0)
                && told.iter().all(|error| errors.contains(error))
                && found != expected
            {
                let mut lines = found.lines().zip(expected.lines());
                let differing = lines.find(|(found, expected)| found != expected);
                silent.push(format!("{name}: request {failing} of {requests}: {differing:?}"));
            }
        }
    }
    assert!(total > 800, "{total}");
    assert!(silent.is_empty(), "{} of {total} silent:\n{}", silent.len(), silent.join("\n"));
}

const FILES: &[&str] = &[
    "ocean.nc",
    "nested_groups.nc",
    "unlimited.nc",
    "strings.nc",
    "datatypes.h5",
    "groups_new.h5",
    "groups_old.h5",
    "h5netcdf_style.h5",
    "classic.nc",
    "classic_data64.nc",
    "floats.zarr",
    "tides.zarr",
    "single.zarr.zip",
    "buoys.yaml",
    "hdf5/sets/new-000.h5",
    "hdf5/sets/old_3.h5",
    "hdf5/sets/multi-g.h5",
    "hdf5/external/external.h5",
    "hdf5/virtual/vds_latest.h5",
];

/// The digests of the store that a location is converted to.
fn converted(
    location: Location,
    made_from: &Fingerprint,
    target: &Path,
    allow: &[Loss],
) -> Result<Vec<String>, String> {
    let pool = Pool::new(1, Pool::MEMORY);
    let open = OpenOptions { pool: pool.clone(), ..OpenOptions::default() };
    let source = hyperslab::open_location(location, &open).map_err(|e| e.to_string())?;
    let mut options = ConvertOptions::new(target_format_of(target).unwrap());
    options.allow = allow.to_vec();
    options.pool = pool;
    let planned = plan(&*source, &options).map_err(|e| e.to_string())?;
    convert(&*source, made_from, target, &planned, &options).map_err(|e| e.to_string())?;
    let target = hyperslab::open(target, &OpenOptions::default()).unwrap();
    Ok(digest::lines(&*target, &NodePath::root()).unwrap().iter().map(digest::Line::to_json).collect())
}

/// Removes a store, which is a file or a folder.
fn remove(store: &Path) {
    match store.is_dir() {
        true => std::fs::remove_dir_all(store).unwrap(),
        false => std::fs::remove_file(store).unwrap(),
    }
}

#[test]
fn a_failing_request_of_a_conversion_leaves_the_same_target_or_none() {
    let folder = tempfile::tempdir().unwrap();
    let mut wrong = Vec::new();
    let (mut total, mut refused) = (0, 0);
    // All losses are allowed except that of unreadable content.
    let allow: Vec<Loss> = Loss::ALL.iter().copied().filter(|loss| *loss != Loss::Unreadable).collect();
    // HDF5 cannot have an array at the root and refuses it with a reason.
    let has_root_group = |name: &str, target: &str| !(name.starts_with("single") && target == "x.h5");
    let pairs = CONVERTED.iter().flat_map(|name| [(name, "x.zarr"), (name, "x.h5")]);
    for (name, target) in pairs.filter(|(name, target)| has_root_group(name, target)) {
        let partial = folder.path().join(format!(".{target}.hyperslab-partial"));
        let (path, target) = (path(name), folder.path().join(target));
        let made_from = Fingerprint::of_source(&path, "").unwrap();
        let (whole, requests) = location(&path, u64::MAX);
        let expected = converted(whole, &made_from, &target, &allow);
        let expected = expected.unwrap_or_else(|e| panic!("{name}: {e}"));
        remove(&target);
        let requests = requests.load(Ordering::Relaxed);
        total += requests;
        for failing in 0..requests {
            let case = format!("{name} to {}: request {failing} of {requests}", target.display());
            match converted(location(&path, failing).0, &made_from, &target, &allow) {
                Ok(found) if found == expected => remove(&target),
                Ok(_) => {
                    wrong.push(format!("{case}: another target"));
                    remove(&target);
                }
                Err(_) if target.exists() => {
                    wrong.push(format!("{case}: a target in spite of an error"));
                    remove(&target);
                }
                Err(e) if !e.contains("injected failure") => wrong.push(format!("{case}: no cause in {e:?}")),
                Err(_) => refused += 1,
            }
            // An interrupted run may leave files from which the next run would resume.
            std::fs::remove_dir_all(&partial).unwrap_or_default();
        }
    }
    assert!(wrong.is_empty(), "{} of {total} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(total > 300 && refused > 250, "{refused} of {total}");
}

#[test]
fn what_fails_may_be_left_out_but_for_the_root() {
    let folder = tempfile::tempdir().unwrap();
    let mut wrong = Vec::new();
    let mut refused = 0;
    for name in ["tides.zarr", "single.zarr.zip"] {
        let (path, target) = (path(name), folder.path().join("x.zarr"));
        let made_from = Fingerprint::of_source(&path, "").unwrap();
        let (whole, requests) = location(&path, u64::MAX);
        let expected = converted(whole, &made_from, &target, &Loss::ALL).unwrap();
        std::fs::remove_dir_all(&target).unwrap();
        for failing in 0..requests.load(Ordering::Relaxed) {
            match converted(location(&path, failing).0, &made_from, &target, &Loss::ALL) {
                // The first line describes the root.
                Ok(found) if found.first() != expected.first() => {
                    wrong.push(format!("{name}: request {failing}: {found:?}"));
                }
                Ok(_) => {}
                Err(e) if !e.contains("injected failure") || target.exists() => {
                    wrong.push(format!("{name}: request {failing}: {e}"));
                }
                Err(_) => refused += 1,
            }
            std::fs::remove_dir_all(&target).unwrap_or_default();
            std::fs::remove_dir_all(folder.path().join(".x.zarr.hyperslab-partial")).unwrap_or_default();
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(refused > 20, "{refused}");
}

/// One store of each kind. They are small because each request costs one conversion.
const CONVERTED: &[&str] = &[
    "ocean.nc",
    "unlimited.nc",
    "nested_groups.nc",
    "strings.nc",
    "groups_old.h5",
    "h5netcdf_style.h5",
    "classic.nc",
    "floats.zarr",
    "single.zarr.zip",
    "buoys.yaml",
    "hdf5/sets/new-000.h5",
];
