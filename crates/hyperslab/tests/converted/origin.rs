//! HDF5 to Zarr: converting back restores the storage of the source.

use super::contents::document;
use super::{converted, described, is_lost, open, zarr_targets};
use crate::path;
use hyperslab::convert::layout::{self, Cut, Rule};
use hyperslab::convert::{ConvertOptions, convert, plan};
use hyperslab::model::{Fill, Layout, Length, Node, Storage};
use hyperslab::ndl::{StorageDetail, part};
use hyperslab::publish::Fingerprint;
use hyperslab::select::Narrowed;
use hyperslab::{Item, NodePath, OpenOptions, Source, target_format};
use hyperslab_core::nd::Region;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

/// The complete storage of each object as described in NDL, after restoring it if `restores` is set.
fn storages(source: &dyn Source, restores: bool, is_netcdf: bool) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut left = vec![source.find(&NodePath::root()).unwrap()];
    while let Some(entry) = left.pop() {
        let path = entry.handle.path.to_string();
        if matches!(entry.item, Item::Link(_) | Item::Unreadable(_)) || found.contains_key(&path) {
            continue;
        }
        if matches!(entry.item, Item::Group) {
            left.extend(source.members(&entry.handle).unwrap_or_default());
        }
        let Ok(mut node) = source.load(&entry.handle) else { continue };
        if restores {
            node.restore_origin(false).unwrap();
        }
        let datatype = node.datatype().cloned();
        let said = match &mut node {
            Node::Datatype(named) => {
                // Other tests compare attributes. Default properties of their storage are not recorded.
                named.attributes.clear();
                format!("{:?}", part::datatype(named, StorageDetail::Full).unwrap())
            }
            node => {
                let Some(storage) = node.storage_mut() else { continue };
                storage.native.retain(|(format, _)| *format != "zarr");
                if is_netcdf {
                    // Default fill values of NetCDF become values.
                    storage.fill = Fill::Default;
                }
                format!("{:?}", part::storage(storage, datatype.as_deref()).unwrap())
            }
        };
        found.insert(path, said);
    }
    found
}

/// HDF5 files: the examples, and others with virtual datasets, external files and many kinds of objects.
fn files() -> Vec<PathBuf> {
    let examples = fs::read_dir(path(".")).unwrap().map(|entry| entry.unwrap().path());
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../hdf5/tests/data");
    let others = ["virtual/vds_v110.h5", "external/external.h5", "kinds.h5", "filters.h5", "links.h5"];
    let others = others.into_iter().map(|name| data.join(name));
    let is_hdf5 = |store: &PathBuf| {
        hyperslab::open(store, &OpenOptions::default())
            .is_ok_and(|source| source.dialect().directives.is_some_and(|own| own.contains(&"hdf5")))
    };
    examples.chain(others).filter(is_hdf5).collect()
}

#[test]
fn storage_of_hdf5_is_restored_from_zarr() {
    let mut count = 0;
    for store in files() {
        let source = open(&store);
        let is_netcdf = source.dialect().fills_to_length;
        for format in zarr_targets() {
            let folder = TempDir::new().unwrap();
            let at = |name: &str| folder.path().join(name);
            let lost = converted(&store, *format, &at("once")).unwrap();
            // The record is kept when the store is converted to another Zarr version.
            let other =
                zarr_targets().into_iter().find(|other| other.name() != format.name()).unwrap_or(format);
            converted(&at("once"), *other, &at("twice")).unwrap();
            for target in ["once", "twice"] {
                let has = storages(&*open(&at(target)), true, is_netcdf);
                for (path, had) in storages(&*source, false, is_netcdf) {
                    if !is_lost(&path, &lost) {
                        let of = format!("{} as {} {target}: {path}", store.display(), format.name());
                        assert_eq!(has.get(&path), Some(&had), "{of}");
                        count += 1;
                    }
                }
            }
        }
    }
    assert!(count > 500, "{count}");
}

/// The names of all group members and attributes in order, and how the attributes are stored.
fn orders(source: &dyn Source) -> Vec<String> {
    let mut found = Vec::new();
    let mut left = vec![source.find(&NodePath::root()).unwrap()];
    while let Some(entry) = left.pop() {
        let path = &entry.handle.path;
        if let Ok(members) = source.members(&entry.handle) {
            found.extend(members.iter().map(|member| format!("{path}: {}", member.handle.path)));
            left.extend(members.into_iter().filter(|member| !matches!(member.item, Item::Link(_))));
        }
        let node = source.load(&entry.handle).unwrap();
        for (name, attribute) in node.attributes().into_iter().flatten() {
            let attribute = attribute.as_ref().unwrap();
            // Attributes with committed datatypes are named in the report.
            if name == "shared_type" {
                continue;
            }
            let storage = &attribute.storage;
            let length = storage.length.filter(|length| *length != Length::Variable);
            found.push(format!("{path}@{name}: {length:?} {:?} {:?}", storage.pad, storage.charset));
        }
    }
    found
}

#[test]
fn order_and_attributes_return_from_zarr_as_they_were_stored() {
    let raw = OpenOptions { raw: true, ..OpenOptions::default() };
    let mut count = 0;
    for store in ["ocean.nc", "unlimited.nc", "groups_new.h5", "datatypes.h5"].map(path) {
        for format in zarr_targets() {
            let folder = TempDir::new().unwrap();
            let at = |name: &str| folder.path().join(name);
            let write = |source: &dyn Source, made_from: &Path, to: &str, format| {
                let options = ConvertOptions::new(format);
                let plan = plan(source, &options).unwrap();
                let made_from = Fingerprint::of_source(made_from, "").unwrap();
                convert(source, &made_from, &at(to), &plan, &options).unwrap();
            };
            let source = hyperslab::open(&store, &raw).unwrap();
            write(&*source, &store, "between", *format);
            write(&*open(&at("between")), &at("between"), "again.h5", target_format("hdf5").unwrap());
            let again = hyperslab::open(&at("again.h5"), &raw).unwrap();
            let had = orders(&*source);
            assert_eq!(orders(&*again), had, "{} as {}", store.display(), format.name());
            count += had.len();
        }
    }
    assert!(count > 500, "{count}");
}

#[test]
fn a_description_shows_how_zarr_stores_an_array() {
    let folder = TempDir::new().unwrap();
    let target = folder.path().join("big.zarr");
    converted(&path("big_endian.h5"), target_format("zarr3").unwrap(), &target).unwrap();
    let text = described(&target, StorageDetail::Full);
    assert!(text.contains("layout: chunked") && !text.contains("layout: contiguous"), "{text}");
}

/// The storage of an array in a Zarr store, as it is passed to a target of another format.
fn restored(source: &dyn Source, path: &str) -> Storage {
    let mut node = source.load(&source.find(&NodePath::new(path).unwrap()).unwrap().handle).unwrap();
    node.restore_origin(false).unwrap();
    node.storage().unwrap().clone()
}

#[test]
fn what_options_and_selections_ask_for_is_not_replaced_by_the_record() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    let format = target_format("zarr3").unwrap();
    let virtual_data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../hdf5/tests/data/virtual/vds_v110.h5");
    converted(&virtual_data, format, &at("a.zarr")).unwrap();
    let source = open(&at("a.zarr"));
    let has_mappings = |storage: &Storage| {
        storage.native.iter().any(|(_, directives)| directives.iter().any(|(key, _)| key == "mappings"))
    };
    let whole = restored(&*source, "/gap");
    assert_eq!((whole.layout.clone(), whole.chunk.clone()), (Some(Layout::Virtual), None));
    assert!(has_mappings(&whole));
    // Only a part of the array is selected.
    let entry = source.find(&NodePath::new("/gap").unwrap()).unwrap();
    let narrowed = Narrowed::new(Arc::clone(&source), &["0:2".parse().unwrap()], &[entry]).unwrap();
    let part = restored(&narrowed, "/gap");
    assert!(part.layout != Some(Layout::Virtual) && !has_mappings(&part), "{part:?}");
    // Chunks are requested explicitly.
    let options = ConvertOptions {
        layout: layout::Layout::default().always_chunked(true).with(Rule::chunk(Cut::Bytes(16))),
        ..ConvertOptions::new(format)
    };
    let planned = plan(&*source, &options).unwrap();
    let made_from = Fingerprint::of_source(&at("a.zarr"), "").unwrap();
    convert(&*source, &made_from, &at("b.zarr"), &planned, &options).unwrap();
    let asked = restored(&*open(&at("b.zarr")), "/gap");
    assert!(
        asked.layout == Some(Layout::Chunked) && asked.chunk.is_some() && !has_mappings(&asked),
        "{asked:?}"
    );
}

#[test]
fn texts_get_their_spaces_back() {
    let folder = TempDir::new().unwrap();
    let text = "ndarrays:\n  t:\n    shape: [3]\n    type: string\n    storage: {length: 4, pad: spacepad}\n    \
                value: [ab, '', abcd]\n";
    let store = document(&folder, text);
    for format in zarr_targets() {
        let target = folder.path().join(format.name());
        converted(&store, *format, &target).unwrap();
        let source = open(&target);
        let handle = source.find(&NodePath::new("/t").unwrap()).unwrap().handle;
        let array = source.array(&handle).unwrap();
        let values = array.values(&Region::all(array.extents().unwrap())).unwrap();
        assert_eq!(*values.rows, *b"ab      abcd");
    }
}
