//! Unlimited dimensions: arrays shorter than their dimensions, and the keys that the NetCDF library uses for them.

use super::contents::{comes_back, document};
use super::{converted, converted_with, described, digests, open, same, zarr_targets};
use crate::node_path;
use hyperslab::convert::{ConvertOptions, convert, plan};
use hyperslab::digest::lines;
use hyperslab::model::{Extent, Node};
use hyperslab::ndl::StorageDetail;
use hyperslab::publish::Fingerprint;
use hyperslab::select::Narrowed;
use hyperslab::target::{Fate, OptionValue, TargetOptions};
use hyperslab::target_format;
use hyperslab::{NodePath, OpenOptions, Source};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

/// Several unlimited dimensions, arrays of different lengths along them, and groups that use dimensions of their parent
/// groups.
const RECORDS: &str = "\
/:
  datatypes:
    t: {compound: [x: int16, s: string]}
  dimcoords:
    time: {size: null, type: float64, storage: {size: 2, chunk: [4]}, value: [0, 1]}
    station: {size: null, storage: {size: 5}}
    never: {size: null, storage: {size: 0}}
    x: {size: 3}
  ndarrays:
    scalar: {shape: [], type: int32, value: 7}
    long: {shape: [time], type: int16, storage: {shape: [7], chunk: [4], fillvalue: -9, filter: [shuffle, {deflate: 4}]}, value: [1, 2, 3, 4, 5, 6, 7]}
    both: {shape: [time, station], type: float32, storage: {shape: [3, 2], chunk: [2, 2], fillvalue: .nan}, value: [[1, 2], [3, 4], [5, 6]]}
    none: {shape: [time, x], type: int32, storage: {shape: [0, 3], chunk: [2, 3], fillvalue: -1}, value: []}
    ever: {shape: [never, x], type: int32, storage: {shape: [0, 3], chunk: [2, 3]}, value: []}
    words: {shape: [time], type: string, storage: {shape: [3], chunk: [2], fillvalue: none}, value: [a, bc, none]}
    pairs: {shape: [time], type: {array: {base: int16, shape: [2]}}, storage: {shape: [3], chunk: [2], fillvalue: [7, 7]}, value: [[1, 2], [3, 4], [5, 6]]}
    mixed: {shape: [time], type: /t, storage: {shape: [1], chunk: [2]}, value: [[1, a]]}
    shards: {shape: [station], type: uint8, storage: {shape: [3], chunk: [1], shard: [2], fillvalue: 9}, value: [1, 2, 3]}
    half: {shape: [time, 2], type: int8, storage: {shape: [1, 2], chunk: [4, 2], fillvalue: 5}, value: [[1, 2]]}

/below:
  dimcoords:
    level: {size: null, storage: {size: 4}}
  ndarrays:
    v: {shape: [time, level], type: float64, storage: {shape: [2, 1], chunk: [3, 3], fillvalue: -1}, value: [[1], [2]]}

/below/deep:
  ndarrays:
    w: {shape: [station, level, x], type: int8, storage: {shape: [1, 4, 3], chunk: [2, 2, 3], fillvalue: 3}}
";

/// The stored extents of the arrays.
const STORED: &[(&str, &[u64])] = &[
    ("/scalar", &[]),
    ("/time", &[7]),
    ("/long", &[7]),
    ("/both", &[7, 5]),
    ("/none", &[7, 3]),
    ("/ever", &[0, 3]),
    ("/words", &[7]),
    ("/pairs", &[7, 2]),
    ("/mixed", &[7]),
    ("/shards", &[5]),
    ("/half", &[7, 2]),
    ("/below/v", &[7, 4]),
    ("/below/deep/w", &[5, 4, 3]),
];

/// Opens a store without interpreting our records, as other programs do.
fn raw(store: &Path) -> std::sync::Arc<dyn Source> {
    hyperslab::open(store, &OpenOptions { raw: true, ..OpenOptions::default() }).unwrap()
}

fn text(store: &Path, path: &str) -> String {
    let source = raw(store);
    let array = source.array(&source.find(&node_path(path)).unwrap().handle).unwrap();
    let extents = array.extents().unwrap().to_vec();
    let values = array.values(&hyperslab_core::nd::Region::all(&extents)).unwrap();
    let elements = hyperslab::model::Elements::new(array.datatype(), &values).map(hyperslab::ndl::plain);
    elements.collect::<Vec<_>>().join(" ")
}

fn document_of(store: &Path, name: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(store.join(name)).unwrap()).unwrap()
}

#[test]
fn arrays_shorter_than_their_dimensions_are_stored_at_full_length_and_read_back_short() {
    comes_back(RECORDS);
    let folder = TempDir::new().unwrap();
    let source = document(&folder, RECORDS);
    for format in zarr_targets() {
        let store = folder.path().join(format.name());
        assert!(converted(&source, *format, &store).unwrap().is_empty());
        let seen = raw(&store);
        for (path, expected) in STORED {
            let array = seen.array(&seen.find(&node_path(path)).unwrap().handle).unwrap();
            assert_eq!(array.extents(), Some(*expected), "{path} in {}", format.name());
        }
        assert_eq!(text(&store, "/words"), "a bc none none none none none");
        assert_eq!(text(&store, "/shards"), "1 2 3 9 9");
        assert_eq!(text(&store, "/half"), "1 2 5 5 5 5 5 5 5 5 5 5 5 5");
        assert_eq!(text(&store, "/pairs"), "1 2 3 4 5 6 7 7 7 7 7 7 7 7");
        assert_eq!(text(&store, "/both").to_lowercase().matches("nan").count(), 35 - 6);
        // Chunks past the end of the array are not stored.
        let chunks = fs::read_dir(store.join("words")).unwrap().count();
        assert!(chunks <= 4, "{chunks} entries in {}", format.name());
        // The arrays are also short in the next store, to which the stored chunks are copied.
        let again = folder.path().join(format!("{}-again", format.name()));
        assert!(converted(&store, *format, &again).unwrap().is_empty());
        same(&source, &again, &BTreeMap::new()).unwrap();
        assert_eq!(text(&again, "/both"), text(&store, "/both"));
    }
}

#[test]
fn elements_of_a_chunk_past_the_end_of_the_array_are_not_read() {
    let folder = TempDir::new().unwrap();
    let text_of = "dimcoords:\n  time: {size: null, storage: {size: 11}}\nndarrays:\n  \
                long: {shape: [time], type: uint8, storage: {shape: [11], chunk: [4]}, value: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]}\n  \
                short: {shape: [time, 2], type: uint8, storage: {shape: [6, 2], chunk: [4, 2], fillvalue: 77}, value: [[1, 2], [3, 4], [5, 6], [7, 8], [9, 10], [11, 12]]}\n";
    let source = document(&folder, text_of);
    for format in zarr_targets() {
        let (first, second) =
            (folder.path().join(format.name()), folder.path().join(format!("{}-2", format.name())));
        converted(&source, *format, &first).unwrap();
        let chunk = first.join(if format.name() == "zarr3" { "short/c/1/0" } else { "short/1.0" });
        let stored = fs::read(&chunk).unwrap();
        assert_eq!(stored, [9, 10, 11, 12, 77, 77, 77, 77]);
        // A chunk that another program left behind when it shortened the array.
        fs::write(&chunk, [9, 10, 11, 12, 1, 1, 1, 1]).unwrap();
        converted(&first, *format, &second).unwrap();
        assert_eq!(text(&second, "/short"), format!("1 2 3 4 5 6 7 8 9 10 11 12{}", " 77".repeat(10)));
        same(&source, &second, &BTreeMap::new()).unwrap();
    }
}

#[test]
fn selections_of_unlimited_dimensions_are_stored_at_their_length() {
    let folder = TempDir::new().unwrap();
    let source = document(&folder, RECORDS);
    let source = open(&source);
    let root = source.find(&NodePath::root()).unwrap();
    for (number, (selection, time, station)) in
        [("time=0:4", 4, 5), ("time=[0,6]", 2, 5), ("time=6,station=1:", 1, 4)].into_iter().enumerate()
    {
        let narrowed =
            Narrowed::new(Arc::clone(&source), &[selection.parse().unwrap()], std::slice::from_ref(&root))
                .unwrap();
        for format in zarr_targets() {
            let store = folder.path().join(format!("{number}-{}", format.name()));
            let options = ConvertOptions::new(*format);
            let planned = plan(&narrowed, &options).unwrap();
            let made_from = Fingerprint::of_source(&folder.path().join("source.yaml"), selection).unwrap();
            convert(&narrowed, &made_from, &store, &planned, &options).unwrap();
            let digests = |source: &dyn Source| {
                let lines = lines(source, &NodePath::root()).unwrap();
                lines.iter().map(|line| line.to_json()).collect::<Vec<_>>()
            };
            let (mut had, mut has) = (digests(&narrowed), digests(&*open(&store)));
            had.sort();
            has.sort();
            assert_eq!(had, has, "{selection} in {}", format.name());
            let seen = raw(&store);
            let extents = |path: &str| {
                let handle = seen.find(&node_path(path)).unwrap().handle;
                seen.array(&handle).unwrap().extents().unwrap().to_vec()
            };
            for path in ["/time", "/long", "/words", "/mixed"] {
                assert_eq!(extents(path), [time], "{path} of {selection}");
            }
            assert_eq!((extents("/both"), extents("/below/v")), (vec![time, station], vec![time, 4]));
        }
    }
}

#[test]
fn rejects_records_that_make_an_array_longer() {
    let folder = TempDir::new().unwrap();
    let source = document(&folder, RECORDS);
    let store = folder.path().join("x.zarr");
    converted(&source, target_format("zarr3").unwrap(), &store).unwrap();
    let place = store.join("both/zarr.json");
    // Without this, the copy at the root would be read instead.
    let mut root = document_of(&store, "zarr.json");
    root.as_object_mut().unwrap().remove("consolidated_metadata").unwrap();
    fs::write(store.join("zarr.json"), root.to_string()).unwrap();
    let sound = document_of(&store, "both/zarr.json");
    assert_eq!(sound["hyperslab"]["extents"], json!([3, 2]));
    for wrong in [json!([8, 2]), json!([3]), json!([3, 2, 1]), json!([3, -2]), json!(["3", 2])] {
        let mut changed = sound.clone();
        changed["hyperslab"]["extents"] = wrong.clone();
        fs::write(&place, changed.to_string()).unwrap();
        let line = lines(&*open(&store), &node_path("/both")).unwrap().remove(0);
        assert!(line.is_error(), "{wrong}");
        assert!(line.to_json().contains("the record of hyperslab"), "{}", line.to_json());
        assert!(digests(&store).contains_key("/long"), "other arrays are read");
    }
}

#[test]
fn the_option_nczarr_writes_the_keys_of_the_netcdf_library() {
    let folder = TempDir::new().unwrap();
    let source = document(&folder, RECORDS);
    let store = folder.path().join("x.zarr");
    converted_with(&source, target_format("zarr2").unwrap(), nczarr("zarr2"), &store).unwrap();
    let root = document_of(&store, ".zattrs");
    assert_eq!(root["_nczarr_superblock"], json!({"version": "2.0.0"}));
    let unlimited = |size: u64| json!({"size": size, "unlimited": 1});
    let group = &root["_nczarr_group"];
    assert_eq!(
        group["dimensions"],
        json!({"time": unlimited(7), "station": unlimited(5), "never": unlimited(0), "x": 3, "_Anonymous_Dim_2": 2})
    );
    assert_eq!(group["groups"], json!(["below"]));
    let arrays: Vec<_> =
        group["arrays"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    assert_eq!(arrays.len(), 11, "{arrays:?}");
    assert_eq!(
        document_of(&store, "below/.zattrs")["_nczarr_group"],
        json!({"dimensions": {"level": unlimited(4)}, "arrays": ["v"], "groups": ["deep"]})
    );
    let references = |array: &str| document_of(&store, &format!("{array}/.zattrs"))["_nczarr_array"].clone();
    assert_eq!(
        references("below/deep/w"),
        json!({"dimension_references": ["/station", "/below/level", "/x"], "storage": "chunked"})
    );
    assert_eq!(references("half")["dimension_references"], json!(["/time", "/_Anonymous_Dim_2"]));
    assert_eq!(references("scalar")["scalar"], json!(1));

    // On their own, the keys of the NetCDF library give the same dimensions as our records.
    let had = described(&store, StorageDetail::None);
    forget_records(&store);
    let has = described(&store, StorageDetail::None);
    for line in [
        "    time:\n      size: null\n",
        "    station:\n      size: null\n",
        "    level:\n      size: null\n",
    ] {
        assert!(had.contains(line) && has.contains(line), "{line} in\n{has}");
    }
    assert!(has.contains("shape: [station, level, x]") && has.contains("shape: [time, 2]"), "{has}");
    assert!(!has.contains("Anonymous") && !had.contains("Anonymous"), "{has}");
}

/// The option that requests the keys of the NetCDF library.
fn nczarr(format: &str) -> TargetOptions {
    let format = target_format(format).unwrap();
    TargetOptions::default().with(format, "nczarr", OptionValue::Flag(true)).unwrap()
}

/// Removes the records of all nodes.
fn forget_records(at: &Path) {
    for entry in fs::read_dir(at).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            forget_records(&path);
        } else if path.ends_with(".zattrs") {
            let mut attributes: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
            attributes.as_object_mut().unwrap().remove("_nc_hyperslab");
            fs::write(&path, attributes.to_string()).unwrap();
        }
    }
}

#[test]
fn finds_unlimited_dimensions_in_groups_with_encoded_names() {
    comes_back(
        "\"/a\\x85b\":\n  dimcoords:\n    t: {size: null, type: int8, storage: {size: 2}, value: [1, 2]}\n  \
         ndarrays:\n    v: {shape: [t], type: int8, storage: {shape: [2]}, value: [3, 4]}\n\n\
         \"/a\\x85b/A\":\n  ndarrays:\n    w: {shape: [\"/a\\x85b/t\"], type: int8, storage: {shape: [2]}, value: [5, 6]}\n",
    );
}

#[test]
fn coordinates_that_are_fill_values_are_not_taken_from_the_domain() {
    comes_back("dimcoords:\n  t: {size: 2, type: int8, storage: {domain: [7, 8]}, value: [0, 0]}\n");
}

#[test]
fn only_stores_that_the_netcdf_library_accepts_have_its_mark() {
    for (text, options) in [
        (RECORDS, TargetOptions::default()),
        // The library rejects dimensions with two lengths and dimensions of sibling groups.
        (
            "dimcoords:\n  t: {size: null, storage: {size: 3}}\n  x: {size: 3}\nndarrays:\n  \
          a: {shape: [t, x], type: int32, storage: {shape: [1, 2], chunk: [1, 2]}}\n",
            nczarr("zarr2"),
        ),
        (
            "/a:\n  dimcoords:\n    t: {size: null, storage: {size: 3}}\n\n/b:\n  ndarrays:\n    \
          v: {shape: [/a/t], type: int32, storage: {shape: [1], chunk: [1]}}\n",
            nczarr("zarr2"),
        ),
    ] {
        let folder = TempDir::new().unwrap();
        let source = document(&folder, text);
        let store = folder.path().join("x.zarr");
        let lost = converted_with(&source, target_format("zarr2").unwrap(), options, &store).unwrap();
        same(&source, &store, &lost).unwrap();
        let said = fs::read_to_string(store.join(".zattrs")).unwrap_or_default();
        assert!(!said.contains("_nczarr_superblock"), "{said}");
    }
}

#[test]
fn reads_unlimited_dimensions_of_the_netcdf_library() {
    let folder = TempDir::new().unwrap();
    let put = |path: &str, json: &Value| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, json.to_string()).unwrap();
    };
    let array = |shape: Value| {
        json!({"zarr_format": 2, "shape": shape, "chunks": shape, "dtype": "<i2", "compressor": null,
               "fill_value": -32767, "order": "C", "filters": null})
    };
    let references = |paths: Value, names: Value| {
        json!({"_ARRAY_DIMENSIONS": names, "_nczarr_array": {"dimension_references": paths, "storage": "chunked"},
               "_nczarr_attr": {"types": {"_nczarr_array": "|J0", "_nczarr_attr": "|J0"}}})
    };
    put(".zgroup", &json!({"zarr_format": 2}));
    put("g/.zgroup", &json!({"zarr_format": 2}));
    put("time/.zarray", &array(json!([5])));
    put("time/.zattrs", &references(json!(["/time"]), json!(["time"])));
    put("g/v/.zarray", &array(json!([5, 2])));
    put("g/v/.zattrs", &references(json!(["/time", "/g/y"]), json!(["time", "y"])));
    let superblock = json!({"version": "2.0.0"});
    let unlimited =
        json!({"time": {"size": 5, "unlimited": 1}, "free": {"size": 0, "unlimited": 1}, "alone": 7});
    let listed = json!([{"name": "time", "size": 5, "unlimited": 1}, {"name": "free", "size": 0, "unlimited": true}, {"name": "alone", "size": 7}]);
    for dimensions in [unlimited, listed] {
        let group = json!({"dimensions": dimensions, "arrays": ["time"], "groups": ["g"]});
        put(".zattrs", &json!({"_nczarr_superblock": superblock, "_nczarr_group": group}));
        put("g/.zattrs", &json!({"_nczarr_group": {"dimensions": {"y": 2}, "arrays": ["v"], "groups": []}}));
        let said = described(folder.path(), StorageDetail::None);
        let expected = "
/:
  dimcoords:
    alone:
      size: 7

    free:
      size: null

    time:
      size: null
      type: int16

/g:
  dimcoords:
    y:
      size: 2

  ndarrays:
    v:
      shape: [time, y]
      type: int16";
        assert_eq!(said, expected);
        let source = open(folder.path());
        let found = source.find(&node_path("/free")).unwrap();
        let Node::DimCoord(free) = source.load(&found.handle).unwrap() else { panic!("{found:?}") };
        assert!(!free.size.is_fixed() && free.datatype.is_none());
    }
    // If another program has changed the names since, the new names are used.
    put("g/v/.zattrs", &references(json!(["/time", "/g/y"]), json!(["t", "y"])));
    let said = described(folder.path(), StorageDetail::None);
    assert!(said.contains("shape: [t, y]"), "{said}");
}

#[test]
fn names_that_differ_only_in_case_are_reported() {
    let folder = TempDir::new().unwrap();
    let text = "/:\n  ndarrays:\n    a: {shape: [], type: int8, value: 1}\n    A: {shape: [], type: int8, value: 2}\n    \
                zarr.json: {shape: [], type: int8, value: 3}\n\n/g/x:\n  attributes: {is: lower}\n\n/g/X:\n  attributes: {is: upper}\n\n/G:\n  attributes: {is: other}\n";
    let source = document(&folder, text);
    for format in zarr_targets() {
        let planned = plan(&*open(&source), &ConvertOptions::new(*format)).unwrap();
        let clash: Vec<_> = planned.report.rows().filter(|row| row.what.contains("only in case")).collect();
        let [row] = clash.as_slice() else { panic!("{clash:?}") };
        let is_one_folder = cfg!(any(windows, target_vendor = "apple"));
        assert_eq!(row.fate, if is_one_folder { Fate::Restored } else { Fate::Changed });
        assert_eq!(row.count, 3);
        assert_eq!(row.places, ["/A", "/g/X", "/G"].map(String::from), "{:?}", row.places);
        assert!(planned.report.rows().any(|row| row.what == "name that Zarr forbids" && row.count == 1));
        let store = folder.path().join(format.name());
        assert!(converted(&source, *format, &store).unwrap().is_empty());
        if is_one_folder {
            no_two_alike(&store);
        } else {
            assert!(store.join("a").is_dir() && store.join("A").is_dir());
        }
        same(&source, &store, &BTreeMap::new()).unwrap();
    }
}

#[test]
fn a_scalar_keeps_the_dimension_of_its_name() {
    let folder = TempDir::new().unwrap();
    let text = "dimcoords:\n  height: {size: 2}\nndarrays:\n  height: {shape: [], type: int8, value: 7}\n  \
                t: {shape: [height], type: int8, value: [1, 2]}\n";
    let source = folder.path().join("source.yaml");
    fs::write(&source, text).unwrap();
    for format in zarr_targets() {
        let store = folder.path().join(format.name());
        assert!(converted(&source, *format, &store).unwrap().is_empty());
        let node = open(&store).load(&open(&store).find(&node_path("/height")).unwrap().handle).unwrap();
        let Node::Ndarray(height) = node else { panic!("{node:?}") };
        assert_eq!(height.dimension, Some(Extent::Fixed(2)), "{}", format.name());
    }
}

/// Checks that the names in a directory differ in more than case.
fn no_two_alike(at: &Path) {
    let mut names = BTreeMap::new();
    for entry in fs::read_dir(at).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if let Some(other) = names.insert(name.to_lowercase(), name.clone()) {
            panic!("{name} beside {other} in {}", at.display());
        }
        if entry.path().is_dir() {
            no_two_alike(&entry.path());
        }
    }
}
