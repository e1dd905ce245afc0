//! The files that a store consists of or refers to.

use crate::path;
use hyperslab::files::{StoreFiles, files, parts};
use hyperslab::{FoundFile, OpenOptions};

/// Each referenced file as `store: role name by object: found`. Paths are shortened to their last component.
fn listed(name: &str, options: &OpenOptions) -> Vec<String> {
    let path = path(name);
    let source = hyperslab::open(&path, options).unwrap();
    let mut lines = Vec::new();
    files(&path, source, options, &mut |store| {
        lines.extend(lines_of(store));
        Ok(())
    })
    .unwrap();
    lines
}

fn lines_of(store: &StoreFiles) -> Vec<String> {
    let own = store.store.file_name().unwrap().to_string_lossy();
    let mut lines: Vec<String> = store
        .named
        .files
        .iter()
        .map(|file| {
            let found = match &file.found {
                FoundFile::There { path, size } => {
                    let path = path.as_ref().unwrap();
                    assert_eq!(std::fs::metadata(path).unwrap().len(), *size);
                    format!("{size} bytes of {}", path.file_name().unwrap().to_string_lossy())
                }
                FoundFile::Missing => "missing".to_owned(),
                FoundFile::Refused(error) => format!("{:?}", error.kind()),
            };
            let by = file.object.as_ref().map(|object| format!(" by {object}")).unwrap_or_default();
            format!("{own}: {} {}{by}: {found}", file.role, file.name)
        })
        .collect();
    lines.extend(store.named.errors.iter().map(|error| format!("{own}: {}", error.detail())));
    lines
}

#[test]
fn lists_the_data_files_of_a_master_file_and_their_files() {
    let size = |name: &str| std::fs::metadata(path(&format!("own/nexus/{name}"))).unwrap().len();
    let (one, two, master) = (size("data_1.h5"), size("data_2.h5"), size("master.nxs"));
    assert_eq!(
        listed("own/nexus/master.nxs", &OpenOptions::default()),
        [
            format!("master.nxs: source data_1.h5 by /entry/all: {one} bytes of data_1.h5"),
            format!("master.nxs: source data_2.h5 by /entry/all: {two} bytes of data_2.h5"),
            "master.nxs: source data_3.h5 by /entry/all: missing".to_owned(),
            format!("master.nxs: link data_1.h5 by /entry/first: {one} bytes of data_1.h5"),
            "master.nxs: link data_3.h5 by /entry/last: missing".to_owned(),
            "master.nxs: link ../make_nexus.py by /entry/outside: LimitExceeded".to_owned(),
            "data_2.h5: raw data data_2.raw by /data: 8 bytes of data_2.raw".to_owned(),
            format!("data_2.h5: link master.nxs by /master: {master} bytes of master.nxs"),
        ]
    );
}

#[test]
fn reports_a_named_file_that_is_not_a_store() {
    let allow_external = vec![path("own/nexus/..")];
    let lines = listed("own/nexus/master.nxs", &OpenOptions { allow_external, ..OpenOptions::default() });
    assert!(lines.iter().any(|line| line.starts_with("make_nexus.py: is not an HDF5, ")), "{lines:?}");
}

#[test]
fn lists_raw_data_once_and_reports_missing_and_outside_files() {
    let lines = listed("hdf5/external/external.h5", &OpenOptions::default());
    let of = |name: &str| lines.iter().filter(|line| line.contains(&format!("raw data {name} "))).count();
    assert_eq!((of("a.raw"), of("b.raw"), of("no.raw")), (1, 1, 1), "{lines:?}");
    assert!(lines.iter().any(|line| line.ends_with("no.raw by /missing: missing")), "{lines:?}");
}

#[test]
fn lists_members_of_a_split_file_and_numbered_sources() {
    let members = listed("hdf5/sets/old_3.h5", &OpenOptions::default());
    assert_eq!(members.len(), 11, "{members:?}");
    assert!(members.iter().all(|line| line.contains(": member old_")), "{members:?}");
    let sources = listed("hdf5/virtual/vds_latest.h5", &OpenOptions::default());
    let numbered =
        |number: u32| sources.iter().any(|line| line.contains(&format!("source part_latest-{number}.h5 ")));
    assert!(numbered(0) && numbered(1), "{sources:?}");
}

#[test]
fn stores_without_other_files_have_an_empty_list() {
    for name in ["classic.nc", "ocean.nc", "tides.zarr", "single.zarr.zip", "buoys.yaml"] {
        assert_eq!(listed(name, &OpenOptions::default()), [""; 0], "{name}");
    }
}

#[test]
fn parts_are_the_files_that_elements_are_read_from() {
    let parts_of = |name: &str| {
        let path = path(name);
        let source = hyperslab::open(&path, &OpenOptions::default()).unwrap();
        let parts = parts(&path, source, &OpenOptions::default()).unwrap();
        let names = parts.iter().map(|path| path.file_name().unwrap().to_string_lossy().into_owned());
        names.collect::<Vec<_>>()
    };
    assert_eq!(parts_of("own/nexus/master.nxs"), ["data_1.h5", "data_2.h5", "data_2.raw"]);
    assert_eq!(parts_of("hdf5/external/external.h5"), ["a.raw", "b.raw"]);
    let members = parts_of("hdf5/sets/old_3.h5");
    assert_eq!(members.len(), 10, "all but the one that was opened: {members:?}");
    assert_eq!(parts_of("tides.zarr"), [""; 0]);
}
