//! Virtual datasets with missing sources, and their mappings.

use crate::{description, find, open};
use hyperslab::convert::{ConvertOptions, plan};
use hyperslab::describe::DescribeOptions;
use hyperslab::digest::lines;
use hyperslab::ndl::StorageDetail;
use hyperslab::show::show;
use hyperslab::stat::stat;
use hyperslab::target::Loss;
use hyperslab::{NodePath, OpenOptions, Source, target_format};
use std::path::Path;
use std::sync::Arc;

/// A file with one missing source.
fn nexus() -> Arc<dyn Source> {
    test_data("nexus/master.nxs")
}

fn test_data(name: &str) -> Arc<dyn Source> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    hyperslab::open(&path, &OpenOptions::default()).unwrap()
}

#[test]
fn readers_are_told_which_sources_are_missing() {
    let source = nexus();
    let missing = "1 missing source (data_3.h5:data)";
    let target = &crate::targets(&*source, "/entry/all").unwrap()[0];
    assert_eq!(show(&*source, target, &[]).unwrap().missing.to_string(), missing);
    assert_eq!(stat(&*source, &find(&*source, "/entry/all")).unwrap().missing.to_string(), missing);
    let lines = lines(&*source, &NodePath::root()).unwrap();
    let told: Vec<_> = lines.iter().filter(|line| !line.missing.is_empty()).collect();
    assert_eq!(told.len(), 1);
    assert_eq!((told[0].path.as_str(), told[0].missing.to_string().as_str()), ("/entry/all", missing));
    // All sources of these datasets exist.
    let whole = open("hdf5/virtual/vds_v110.h5");
    assert!(stat(&*whole, &find(&*whole, "/gap")).unwrap().missing.is_empty());
}

#[test]
fn a_conversion_loses_the_elements_of_missing_sources() {
    let source = nexus();
    let planned = plan(&*source, &ConvertOptions::new(target_format("zarr3").unwrap())).unwrap();
    let row = planned.report.rows().find(|row| row.what == "1 missing source (data_3.h5:data)").unwrap();
    assert_eq!(row.places, ["/entry/all"]);
    assert_eq!(row.fate, hyperslab::target::Fate::Lost(Loss::Unreadable));
}

/// Two mappings of numbered files, of which the second ends first, and a raw external file that is too short.
#[test]
fn elements_behind_the_last_source_are_missing() {
    let source = test_data("short/master.h5");
    let expected = [
        (
            "/numbered",
            "0 0 10 10 20 20 1 1 0 0 0 0",
            "2 missing sources (b-1.h5:/x, b-2.h5:/x)",
            "the fill value",
        ),
        ("/raw", "1 2 3 2 3 0 0 0", "1 missing source (short.raw, which has 4 of 10 bytes)", "zeros"),
    ];
    let planned = plan(&*source, &ConvertOptions::new(target_format("zarr3").unwrap())).unwrap();
    for (path, values, missing, instead) in expected {
        let shown = show(&*source, &crate::targets(&*source, path).unwrap()[0], &[]).unwrap();
        let read: Vec<String> = shown.elements().map(hyperslab::ndl::plain).collect();
        assert_eq!((read.join(" ").as_str(), shown.missing.to_string().as_str()), (values, missing));
        let row = planned.report.rows().find(|row| row.what == missing).unwrap();
        assert_eq!((row.places.as_slice(), row.becomes.as_str()), ([path.to_owned()].as_slice(), instead));
        assert_eq!(row.fate, hyperslab::target::Fate::Lost(Loss::Unreadable));
    }
}

#[test]
fn full_storage_lists_the_mappings() {
    let described = |source: &dyn Source, path: &str, storage| {
        let options = DescribeOptions { storage, ..DescribeOptions::default() };
        let (text, errors) = description(source, path, &options);
        assert!(errors.is_empty(), "{errors:?}");
        // Long lists are broken into several lines.
        text.split_whitespace().collect::<Vec<_>>().join(" ").replace("{ ", "{").replace("[ ", "[")
    };
    let text = described(&*nexus(), "/entry/all", StorageDetail::Full);
    let mapping =
        "file: data_3.h5, dataset: data, virtual: {blocks: [{start: [2, 0], opposite: [2, 3]}]}, source: all";
    assert!(text.contains(mapping), "{text}");
    assert!(!described(&*nexus(), "/entry/all", StorageDetail::Brief).contains("mappings"));
    let text = described(&*open("hdf5/virtual/vds_v110.h5"), "/", StorageDetail::Full);
    for part in ["count: [null", "%b"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}
