//! Sparse arrays as tables of cells in formats without sparse arrays.

use super::{TempDir, document};
use hyperslab::cells::CellQuery;
use hyperslab::convert::{ConvertOptions, Parts, convert, plan};
use hyperslab::describe::DescribeOptions;
use hyperslab::model::{Node, NodeKind};
use hyperslab::publish::Fingerprint;
use hyperslab::target::{Fate, Loss, TargetFormat};
use hyperslab::{Item, NodePath, OpenOptions, Pool, Source, TARGETS, digest, open, repack};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Cells of many types in a group, next to an array with the name of the dimension used for tables.
const RICH: &str = r#"
/deep:
  attributes: {title: seen}
  datatypes:
    kind: {enum: {base: int8, members: {low: 1, high: 2}}}
  dimcoords:
    station: {size: null, type: string, attributes: {long_name: name of the station}}
    time: {size: 1000, type: {datetime: {unit: h}}, storage: {domain: ['1970-01-01T00', '1970-02-11T15'], tile: 10}}
  ndarrays:
    cell: {shape: [2], type: int8, value: [1, 2]}
    t: {shape: [station, time], type: float64, attributes: {units: K}}
    n: {shape: [station, time], type: {nullable: {base: int32}}}
    name: {shape: [station, time], type: {nullable: {base: string}}}
    level: {shape: [station, time], type: {enum: {base: int8, members: {low: 1, high: 2}}}}
    is_good: {shape: [station, time], type: bool}
    parts: {shape: [station, time], type: {vlen: {base: int16}}}
  cells:
    columns: [station, time, t, n, name, level, is_good, parts]
    rows:
    - [oslo, '1970-01-01T07', 1.5, 3, three, low, true, [1, 2, 3]]
    - [bergen, '1970-02-11T15', -0.0, null, null, high, false, []]
    - [oslo, '1970-01-01T06', .nan, 0, "", low, false, [7]]
    - [bergen, '1970-02-11T15', -0.0, -1, x, high, true, [-1, 0]]
  storage:
    tiledb: {array: sparse, capacity: 1000}
"#;

fn written(folder: &TempDir, name: &str, text: &str) -> PathBuf {
    let path = folder.path().join(name);
    fs::write(&path, text).unwrap();
    path
}

fn read(path: &Path) -> Arc<dyn Source> {
    open(path, &OpenOptions::default()).unwrap()
}

/// Converts a store, and returns the path of the result and the lines of the report.
fn converted(source: &Path, format: &dyn TargetFormat, allow: &[Loss]) -> (PathBuf, Vec<String>) {
    let suffix = format.suffixes().first().unwrap_or(&".nc");
    let target =
        source.with_file_name(format!("{}-{}{suffix}", source.file_stem().unwrap().display(), format.name()));
    let opened = read(source);
    let options = ConvertOptions { allow: allow.to_vec(), ..ConvertOptions::new(format) };
    let plan = plan(&*opened, &options).unwrap();
    let report = plan.report.table().into_iter().map(|(line, _)| line).collect();
    let made_from = Fingerprint::of_source(source, "").unwrap();
    convert(&*opened, &made_from, &target, &plan, &options).unwrap();
    (target, report)
}

fn lines(path: &Path) -> Vec<String> {
    let lines = digest::lines(&*read(path), &NodePath::root()).unwrap();
    lines.iter().map(digest::Line::to_json).collect()
}

fn format(name: &str) -> &'static dyn TargetFormat {
    *TARGETS.iter().find(|format| format.name() == name).unwrap()
}

#[test]
fn simple_cells_are_the_same_in_every_format_and_back() {
    let folder = TempDir::new().unwrap();
    let rows = ["oslo, 6, -3.0", "bergen, 7, 4.5", "bergen, 12, 5"].map(str::to_owned);
    let source = written(&folder, "one.yaml", &document(&rows));
    let expected = lines(&source);
    for format in TARGETS {
        let (target, report) = converted(&source, *format, &Loss::ALL);
        if format.has_cells() {
            // A TileDB array with cells cannot contain another array.
            assert!(report.iter().any(|line| line.contains("/other") && line.contains("lost types")));
            let within: Vec<_> = expected.iter().filter(|line| !line.contains("/other")).cloned().collect();
            assert_eq!(lines(&target), within, "{}", format.name());
            continue;
        }
        assert_eq!(lines(&target), expected, "{}", format.name());
        let line = report.iter().find(|line| line.contains("sparse array")).unwrap();
        assert!(line.contains("restored"), "{line}");
        assert!(!report.iter().any(|line| line.contains("lost sparse")), "{report:?}");
    }
}

#[test]
fn cells_of_all_types_come_back_from_formats_that_have_them() {
    let folder = TempDir::new().unwrap();
    let source = written(&folder, "rich.yaml", RICH);
    let expected = lines(&source);
    assert!(!expected.iter().any(|line| line.contains("\"error\"")), "{expected:#?}");
    for name in ["zarr3", "zarr2", "hdf5", "netcdf4"] {
        let (target, report) = converted(&source, format(name), &Loss::ALL);
        // In NetCDF, a sequence has a named type.
        let mut found = lines(&target);
        found.retain(|line| !line.contains("/parts_t"));
        assert_eq!(found, expected, "{name} {report:#?}");
        // From there on to another format.
        for other in ["zarr3", "hdf5"] {
            let (second, _) = converted(&target, format(other), &Loss::ALL);
            let mut found = lines(&second);
            found.retain(|line| !line.contains("/parts_t"));
            assert_eq!(found, expected, "{name} {other}");
        }
    }
}

#[test]
fn a_table_is_described_as_the_sparse_array() {
    let folder = TempDir::new().unwrap();
    let source = written(&folder, "rich.yaml", RICH);
    let (target, _) = converted(&source, format("zarr3"), &[]);
    let options = DescribeOptions { values: Some(100), ..DescribeOptions::default() };
    let [mut of_text, mut of_table] = [&source, &target].map(|path| {
        let (text, errors) = crate::description(&*read(path), "/", &options);
        assert!(errors.is_empty(), "{errors:?}");
        text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect::<Vec<_>>()
    });
    // A document lists its cells in its own order, and Zarr has storage directives of its own.
    of_text.sort();
    of_table.sort();
    let lost: Vec<_> = of_text.iter().filter(|line| !of_table.contains(line)).collect();
    assert!(lost.is_empty(), "{lost:#?} {of_table:#?}");
}

#[test]
fn other_programs_see_arrays_along_one_dimension() {
    let folder = TempDir::new().unwrap();
    let source = written(&folder, "rich.yaml", RICH);
    for name in ["zarr3", "hdf5", "netcdf4"] {
        let (target, _) = converted(&source, format(name), &Loss::ALL);
        let stored = repack::open(&target, &OpenOptions::default()).unwrap();
        let group = stored.find(&NodePath::new("/deep").unwrap()).unwrap().handle;
        let Node::Group(node) = stored.load(&group).unwrap() else { panic!("no group") };
        assert!(node.attributes.contains_key("hyperslab_cells"));
        assert!(stored.cells(&group).unwrap().is_none());
        let members = stored.members(&group).unwrap();
        for column in
            ["station", "time", "t", "n", "n_valid", "name", "name_valid", "level", "is_good", "parts"]
        {
            let entry = members.iter().find(|entry| entry.handle.path.name() == column);
            let entry = entry.unwrap_or_else(|| panic!("{name}: no {column}"));
            let Item::Array { kind: NodeKind::Ndarray, shape, .. } = &entry.item else { panic!("{entry:?}") };
            let [dimension] = shape.dims() else { panic!("{shape:?}") };
            assert_eq!(dimension.extent.current(), 4);
            // Raw HDF5 has dimension scales, but no dimension names.
            if let Some(along) = &dimension.coordinate {
                assert_eq!(along.as_str(), "/deep/cell_1", "{name} {column}");
            }
        }
        let load =
            |path: &str| stored.load(&stored.find(&NodePath::new(path).unwrap()).unwrap().handle).unwrap();
        let attributes = load("/deep/n").attributes().unwrap().keys().cloned().collect::<Vec<_>>();
        assert!(attributes.contains(&"coordinates".to_owned()), "{attributes:?}");
        assert!(attributes.contains(&"ancillary_variables".to_owned()), "{attributes:?}");
    }
}

#[test]
fn a_part_of_a_sparse_array_keeps_its_coordinates() {
    let folder = TempDir::new().unwrap();
    let path = written(&folder, "rich.yaml", RICH);
    let source = read(&path);
    let entry = source.find(&NodePath::new("/deep/n").unwrap()).unwrap();
    let zarr = format("zarr3");
    let parts = Some(Parts::new(&*source, &[entry]).unwrap());
    let options = ConvertOptions { parts, ..ConvertOptions::new(zarr) };
    let target = folder.path().join("part.zarr");
    let plan = plan(&*source, &options).unwrap();
    convert(&*source, &Fingerprint::of_source(&path, "").unwrap(), &target, &plan, &options).unwrap();
    let (all, found) = (lines(&path), lines(&target));
    let is_meant = |line: &&String| ["/deep/n\"", "/deep/__dim/"].iter().any(|part| line.contains(part));
    assert_eq!(found.iter().filter(is_meant).count(), 3, "{found:#?}");
    assert!(found.iter().all(|line| all.contains(line)), "{found:#?}");
}

#[test]
fn a_table_that_another_program_changed_is_plain_arrays() {
    let folder = TempDir::new().unwrap();
    let rows = ["oslo, 6, -3.0", "bergen, 7, 4.5"].map(str::to_owned);
    let source = written(&folder, "one.yaml", &document(&rows));
    let (target, _) = converted(&source, format("zarr3"), &[]);
    fs::remove_dir_all(target.join("hour")).unwrap();
    let _ = fs::remove_file(target.join("consolidated"));
    let text = fs::read_to_string(target.join("zarr.json")).unwrap();
    let mut json: serde_json::Value = serde_json::from_str(&text).unwrap();
    json.as_object_mut().unwrap().remove("consolidated_metadata");
    fs::write(target.join("zarr.json"), json.to_string()).unwrap();
    let source = read(&target);
    let root = source.find(&NodePath::root()).unwrap().handle;
    assert!(source.cells(&root).unwrap().is_none());
    assert!(source.find(&NodePath::new("/cell").unwrap()).is_ok());
    assert!(source.find(&NodePath::new("/t").unwrap()).is_ok());
}

#[test]
fn cells_of_tables_are_found_by_their_coordinates() {
    let folder = TempDir::new().unwrap();
    let rows: Vec<String> = (0..500).map(|n| format!("s{:02}, {}, {n}", n % 40, n / 40)).collect();
    let source = written(&folder, "many.yaml", &document(&rows));
    let (target, _) = converted(&source, format("hdf5"), &Loss::ALL);
    let cells = |path: &Path| {
        let source = read(path);
        source.cells(&source.find(&NodePath::root()).unwrap().handle).unwrap().unwrap()
    };
    let (of_text, of_table) = (cells(&source), cells(&target));
    let bound = |dimension: usize, text: &str| {
        let datatype = &of_text.columns()[dimension].datatype;
        Some(hyperslab::ndl::elements_of_text(&format!("[{text}]"), datatype, 1).unwrap())
    };
    let range = |dimension, low: Option<&str>, high: Option<&str>| hyperslab::cells::CellRange {
        dimension,
        low: low.and_then(|low| bound(dimension, low)),
        high: high.and_then(|high| bound(dimension, high)),
    };
    for ranges in [
        vec![],
        vec![range(0, Some("s07"), Some("s07"))],
        vec![range(0, Some("s3"), None), range(1, Some("3"), Some("5"))],
        vec![range(0, None, Some("a"))],
        vec![range(1, None, Some("0"))],
    ] {
        let query = CellQuery { ranges, batch: 1000, ..CellQuery::default() };
        let found = super::read(&*of_table, &query).0;
        assert_eq!(found, super::read(&*of_text, &query).0);
    }
}

#[test]
fn little_memory_makes_the_same_store() {
    let folder = TempDir::new().unwrap();
    let rows: Vec<String> = (0..300).map(|n| format!("s{}, {}, {n}", (n * 7) % 40, n % 24)).collect();
    let path = written(&folder, "many.yaml", &document(&rows));
    let source = read(&path);
    let expected = lines(&path);
    let zarr = format("zarr3");
    let options = ConvertOptions { pool: Pool::new(2, 1 << 10), ..ConvertOptions::new(zarr) };
    let target = folder.path().join("small.zarr");
    let plan = plan(&*source, &options).unwrap();
    convert(&*source, &Fingerprint::of_source(&path, "").unwrap(), &target, &plan, &options).unwrap();
    assert_eq!(lines(&target), expected);
}

#[test]
fn every_format_restores_sparse_arrays() {
    for format in TARGETS.iter().filter(|format| !format.has_cells()) {
        let row = format.lowerings().iter().find(|row| row.what == "sparse array");
        assert_eq!(row.map(|row| row.fate), Some(Fate::Restored), "{}", format.name());
        let lost = |fate: Fate| fate == Fate::Lost(Loss::Sparse);
        assert!(!format.lowerings().iter().any(|row| lost(row.fate)), "{}", format.name());
    }
}

#[test]
fn sparse_arrays_without_cells_are_empty_tables() {
    let folder = TempDir::new().unwrap();
    let text = "dimcoords:\n  x: {size: null, type: float64}\n\nndarrays:\n  v: {shape: [x], type: uint8}\n\n\
                storage:\n  tiledb: {array: sparse}\n";
    let source = written(&folder, "none.yaml", text);
    let expected = lines(&source);
    assert!(
        expected.iter().any(|line| line.contains("\"/__dim/x\"") && line.contains("\"shape\":[0]")),
        "{expected:?}"
    );
    for name in ["zarr3", "hdf5"] {
        let (target, _) = converted(&source, format(name), &Loss::ALL);
        assert_eq!(lines(&target), expected, "{name}");
    }
}
