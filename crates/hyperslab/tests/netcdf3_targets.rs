//! NetCDF classic files as targets: what they can represent, what becomes of everything else, and what is refused.

use crate::interrupted::many_chunks;
use crate::path;
use hyperslab::convert::{ConvertOptions, Plan, Summary, convert, plan};
use hyperslab::publish::{Fingerprint, PublishOptions};
use hyperslab::target::Loss;
use hyperslab::{NodePath, OpenOptions, Pool, Result, check, digest, open, repack, target_format};
use hyperslab_core::storage::WritableFile;
use hyperslab_netcdf3::{DataType, Definition, Dimension, Header, Variable, Version};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

const VERSIONS: [&str; 3] = ["netcdf3", "netcdf3-64bit-offset", "netcdf3-64bit-data"];

fn document(folder: &TempDir, text: &str) -> PathBuf {
    let path = folder.path().join("source.yaml");
    fs::write(&path, text).unwrap();
    path
}

fn planned(source: &Path, format: &str) -> Result<Plan> {
    let source = open(source, &OpenOptions::default())?;
    plan(&*source, &ConvertOptions::new(target_format(format)?))
}

fn with<'a>(options: ConvertOptions<'a>, source: &Path, target: &Path) -> Result<Summary> {
    let made_from = Fingerprint::of_source(source, "")?;
    let options = ConvertOptions { allow: Loss::ALL.to_vec(), ..options };
    let source = open(source, &OpenOptions::default())?;
    convert(&*source, &made_from, target, &plan(&*source, &options)?, &options)
}

/// Converts with all losses allowed, and returns the report by place.
fn converted(source: &Path, format: &str, target: &Path) -> BTreeMap<String, Vec<String>> {
    let plan = planned(source, format).unwrap();
    with(ConvertOptions::new(target_format(format).unwrap()), source, target).unwrap();
    let report = check::check(target, &OpenOptions::default(), &Default::default()).unwrap();
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in plan.report.rows() {
        for place in &row.places {
            found
                .entry(place.clone())
                .or_default()
                .push(format!("{} => {}, {}", row.what, row.becomes, row.fate));
        }
    }
    found
}

fn digests(path: &Path) -> Vec<String> {
    let source = open(path, &OpenOptions::default()).unwrap();
    digest::lines(&*source, &NodePath::root()).unwrap().iter().map(digest::Line::to_json).collect()
}

/// The values of an array as text.
fn values(path: &Path, array: &str) -> String {
    let source = open(path, &OpenOptions::default()).unwrap();
    let handle = source.find(&NodePath::new(array).unwrap()).unwrap().handle;
    let array = source.array(&handle).unwrap();
    let region = hyperslab::Region::all(array.extents().unwrap());
    let values = array.values(&region).unwrap();
    let elements = hyperslab::model::Elements::new(array.datatype(), &values);
    elements.map(hyperslab::ndl::plain).collect::<Vec<_>>().join(" ")
}

fn shape(path: &Path, array: &str) -> String {
    let source = open(path, &OpenOptions::default()).unwrap();
    let handle = source.find(&NodePath::new(array).unwrap()).unwrap().handle;
    let array_path = NodePath::new(array).unwrap();
    let node = source.load(&handle).unwrap();
    let shape = node.shape(&array_path).unwrap();
    let dimension = |of: &hyperslab::model::Dimension| {
        let grows = if of.extent.is_fixed() { "" } else { "+" };
        let name = of.coordinate.as_ref().map_or("-", |path| path.name());
        format!("{name}={}{grows}", of.extent.current())
    };
    let datatype = node.datatype().map(|of| of.to_string()).unwrap_or_default();
    format!("{datatype} {}", shape.dims().iter().map(dimension).collect::<Vec<_>>().join(" "))
}

#[test]
fn classic_files_come_back_byte_for_byte() {
    let folder = TempDir::new().unwrap();
    for name in ["classic.nc", "classic_data64.nc"] {
        let source = path(name);
        let target = folder.path().join(name);
        let options = repack::options(&*repack::open(&source, &OpenOptions::default()).unwrap()).unwrap();
        with(options, &source, &target).unwrap();
        assert!(fs::read(&source).unwrap() == fs::read(&target).unwrap(), "{name}");
    }
    for format in VERSIONS {
        let target = folder.path().join(format);
        assert!(converted(&path("classic.nc"), format, &target).is_empty());
        assert_eq!(digests(&target), digests(&path("classic.nc")));
    }
}

#[test]
fn dimensions_and_variables_keep_their_two_orders() {
    let dimension = |name: &str, length| Dimension { name: name.into(), length };
    let variable = |name: &str, dimensions: &[u64]| Variable {
        name: name.into(),
        dimensions: dimensions.to_vec(),
        attributes: Vec::new(),
        data_type: DataType::Byte,
        size: 0,
        begin: 0,
    };
    let header = Header {
        version: Version::Offset64,
        records: Some(1),
        dimensions: vec![dimension("y", 2), dimension("x", 3), dimension("t", 0), dimension("len", 4)],
        attributes: Vec::new(),
        // Coordinates, a variable with the name of a dimension of which it is not the coordinate, and others.
        variables: vec![
            variable("z", &[2, 0]),
            variable("t", &[2]),
            variable("y", &[1, 3]),
            variable("x", &[1]),
        ],
    };
    let folder = TempDir::new().unwrap();
    let (source, target) = (folder.path().join("source.nc"), folder.path().join("x.nc"));
    let file = Arc::new(WritableFile::create(&source).unwrap());
    // Records are padded with the default fill value of bytes.
    Definition::new(header, &|_| vec![0x81]).unwrap().begin(file).unwrap().finish().unwrap();
    let options = repack::options(&*repack::open(&source, &OpenOptions::default()).unwrap()).unwrap();
    with(options, &source, &target).unwrap();
    assert!(fs::read(&source).unwrap() == fs::read(&target).unwrap());
}

#[test]
fn the_first_dimension_that_grows_is_that_of_records() {
    let folder = TempDir::new().unwrap();
    let source = document(
        &folder,
        "dimcoords:
  inner: {size: null, storage: {size: 2}}
  time: {size: null, type: float64, storage: {size: 2, chunk: [4]}, value: [0, 1]}
  other: {size: null, storage: {size: 3}}
ndarrays:
  long: {shape: [time], type: int16, storage: {shape: [4], chunk: [4]}, value: [1, 2, 3, 4]}
  both: {shape: [time, inner], type: int8, storage: {shape: [1, 1], chunk: [2, 2], fillvalue: 9}, value: [[1]]}
  third: {shape: [other], type: int32, attributes: {_FillValue: {type: int32, value: -7}}, storage: {shape: [2], chunk: [2]}, value: [5, 6]}
",
    );
    let target = folder.path().join("x.nc3");
    let report = converted(&source, "netcdf3", &target);
    assert_eq!(shape(&target, "/time"), "float64 time=4+");
    assert_eq!(shape(&target, "/both"), "int8 time=4+ inner=2");
    assert_eq!(shape(&target, "/third"), "int32 other=3");
    assert_eq!(values(&target, "/both"), "1 9 9 9 9 9 9 9");
    assert_eq!(values(&target, "/third"), "5 6 -7");
    assert!(
        values(&target, "/time").starts_with("0.0 1.0 9.969209968386869e"),
        "{}",
        values(&target, "/time")
    );
    let fixed = "unlimited dimension, where another dimension is already unlimited or it is not the first of a variable => a dimension \
                 of its current length, lost unlimited";
    assert_eq!((&report["/inner"], &report["/other"]), (&vec![fixed.to_owned()], &vec![fixed.to_owned()]));
    assert!(
        report["/both"].iter().any(|row| row.starts_with("array shorter than its dimensions")),
        "{report:?}"
    );
}

#[test]
fn dimensions_without_a_length_are_stored_if_they_can_grow() {
    let folder = TempDir::new().unwrap();
    let text = "dimcoords:
  none: {size: 0}
ndarrays:
  e: {shape: [none, 2], type: int32, value: []}
  x: {shape: [2], type: int32, value: [1, 2]}
";
    let source = document(&folder, text);
    let target = folder.path().join("x.nc3");
    let report = converted(&source, "netcdf3", &target);
    assert_eq!(shape(&target, "/e"), "int32 none=0+ dim_2=2");
    assert_eq!(report["/none"], ["dimension of length 0 => an unlimited dimension, changed"]);
    // Here, another dimension is already unlimited.
    let text = text.replace("  e:", "  r: {shape: [t], type: int8, value: [1]}\n  e:");
    let text = text.replace("  none", "  t: {size: null, storage: {size: 1}}\n  none");
    let source = document(&folder, &text);
    let target = folder.path().join("y.nc3");
    let report = converted(&source, "netcdf3", &target);
    let source = open(&target, &OpenOptions::default()).unwrap();
    assert!(source.find(&NodePath::new("/e").unwrap()).is_err());
    let is_lost = |place: &str, kind: &str| report[place].iter().any(|row| row.ends_with(kind));
    assert!(is_lost("/e", "lost types") && is_lost("/none", "lost names"), "{report:?}");
}

#[test]
fn types_that_a_version_lacks_become_others() {
    let folder = TempDir::new().unwrap();
    let source = document(
        &folder,
        "attributes:
  few: {type: int64, value: [1, 2]}
  byte: {type: uint8, value: 200}
  list: {type: string, value: [a, b]}
ndarrays:
  u: {shape: [2], type: uint8, value: [1, 255]}
  few: {shape: [2], type: int64, value: [-1, 2147483647]}
  many: {shape: [2], type: int64, value: [1, 2147483648]}
  inner: {shape: [], type: {array: {base: int64, shape: [2]}}, value: [1, -4294967296]}
  words: {shape: [2], type: string, value: [a, one two]}
  flag: {shape: [2], type: {enum: {base: int8, members: {no: 0, yes: 1}}}, value: [no, yes]}
  pair: {shape: [2], type: {compound: [x: int16, y: int16]}, value: [[1, 2], [3, 4]]}
  lists: {shape: [1], type: {vlen: {base: int32}}, value: [[1]]}
",
    );
    for format in VERSIONS {
        let target = folder.path().join(format);
        let report = converted(&source, format, &target);
        let is_wide = format == "netcdf3-64bit-data";
        let shapes = ["/u", "/few", "/many", "/words", "/flag"].map(|array| shape(&target, array));
        let expected = match is_wide {
            true => ["uint8 dim_2=2", "int64 dim_2=2", "int64 dim_2=2"],
            false => ["int8 dim_2=2", "int32 dim_2=2", "float64 dim_2=2"],
        };
        assert_eq!(shapes[..3], expected, "{format}");
        assert_eq!(values(&target, "/u"), if is_wide { "1 255" } else { "1 -1" });
        assert_eq!(values(&target, "/few"), "-1 2147483647");
        let inner = if is_wide { "int64 dim_2=2" } else { "float64 dim_2=2" };
        assert_eq!(shape(&target, "/inner"), inner);
        assert_eq!(values(&target, "/words").replace(' ', ""), "aonetwo");
        assert!(shapes[3].ends_with("dim_2=2 string7=7"), "{}", shapes[3]);
        assert_eq!((shapes[4].as_str(), values(&target, "/flag").as_str()), ("int8 dim_2=2", "0 1"));
        let fates = |place: &str| {
            let fate = |row: &String| row.rsplit(", ").next().unwrap().to_owned();
            report.get(place).map(|rows| rows.iter().map(fate).collect::<Vec<_>>()).unwrap_or_default()
        };
        assert!(fates("/flag").contains(&"lost labels".to_owned()));
        assert!(fates("/pair").contains(&"lost types".to_owned()));
        assert!(fates("/lists").contains(&"lost types".to_owned()));
        assert_eq!(fates("/@list"), ["lost attributes"]);
        assert_eq!(fates("/many").contains(&"lost precision".to_owned()), !is_wide);
        assert!(!fates("/few").iter().any(|fate| fate.starts_with("lost")), "{report:?}");
    }
}

#[test]
fn groups_are_left_out_by_name() {
    let folder = TempDir::new().unwrap();
    let source = document(
        &folder,
        "/:\n  ndarrays:\n    x: {shape: [], type: int8, value: 1}\n/g:\n  ndarrays:\n    y: {shape: [], type: int8, value: 1}\n",
    );
    let report = converted(&source, "netcdf3", &folder.path().join("x.nc3"));
    assert_eq!(report["/g"], ["a group, which CDF-1 does not have => nothing, lost types"]);
    assert!(report.contains_key("/g/y"));
}

#[test]
fn what_does_not_fit_is_refused_with_the_version_that_holds_it() {
    let folder = TempDir::new().unwrap();
    for (arrays, format, wider) in [
        ("a: {shape: [2200000000], type: int8}", "netcdf3", "netcdf3-64bit-data"),
        (
            "a: {shape: [30000, 100000], type: int8}\n  b: {shape: [2], type: int8}",
            "netcdf3",
            "netcdf3-64bit-offset",
        ),
        (
            "a: {shape: [60000, 100000], type: int8}\n  b: {shape: [2], type: int8}",
            "netcdf3-64bit-offset",
            "netcdf3-64bit-data",
        ),
    ] {
        let source = document(&folder, &format!("ndarrays:\n  {arrays}\n"));
        let error = planned(&source, format).unwrap_err().to_string();
        assert!(error.contains(&format!("convert to {wider}, which holds it")), "{error}");
        planned(&source, wider).unwrap();
    }
}

#[test]
fn filters_that_are_asked_for_are_refused() {
    use hyperslab::convert::layout::{FilterRule, Layout, Rule};
    let source = open(&path("classic.nc"), &OpenOptions::default()).unwrap();
    let filter = hyperslab::model::Filter { name: "deflate".into(), parameters: Vec::new(), main: false };
    let layout = Layout::default().with(Rule::filter(FilterRule::List(vec![filter])));
    let options = ConvertOptions { layout, ..ConvertOptions::new(target_format("netcdf3").unwrap()) };
    let error = plan(&*source, &options).unwrap_err().to_string();
    assert!(error.contains("filters, which NetCDF classic files do not have"), "{error}");
}

#[test]
fn an_interrupted_run_goes_on_to_the_same_file() {
    let folder = TempDir::new().unwrap();
    let source = many_chunks(folder.path());
    let (whole, target) = (folder.path().join("whole.nc3"), folder.path().join("x.nc3"));
    let of = |publish| ConvertOptions {
        publish,
        pool: Pool::new(1, Pool::MEMORY),
        ..ConvertOptions::new(target_format("netcdf3").unwrap())
    };
    with(of(PublishOptions::default()), &source, &whole).unwrap();
    let tell = |_: &NodePath, done: u64| assert!(done < 2 << 20, "stop");
    let stop = std::panic::catch_unwind(|| {
        let options = ConvertOptions { progress: Some(&tell), ..of(PublishOptions::default()) };
        drop(with(options, &source, &target));
    });
    assert!(stop.is_err() && !target.exists());
    with(of(PublishOptions { resume: true, ..PublishOptions::default() }), &source, &target).unwrap();
    assert!(fs::read(&whole).unwrap() == fs::read(&target).unwrap());
}
