//! Several stores joined along one dimension.

use crate::{node_path, path};
use hyperslab::convert::{ConvertOptions, convert, plan};
use hyperslab::model::{Extent, Node, Tolerance};
use hyperslab::publish::Fingerprint;
use hyperslab::select::Select;
use hyperslab::{
    Along, Error, File, JoinOptions, Joined, OpenOptions, Pool, Region, Result, Source, StoreBuilder,
    target_format_of,
};
use hyperslab_netcdf3::{Attribute, DataType, Dimension, Header, Variable, Version};
use std::fs;
use std::path::{Path, PathBuf};

/// A day of hourly values.
fn day(number: i32) -> StoreBuilder {
    let mut store = StoreBuilder::new();
    let hours: Vec<i32> = (0..4).map(|hour| number * 4 + hour).collect();
    store.coordinate("/time", &hours).unwrap().attribute("units", "hours since 2020-01-01");
    store.coordinate("/lat", &[10.0_f64, 20.0, 30.0]).unwrap();
    let values: Vec<f32> = (0..12).map(|at| (number * 12 + at) as f32).collect();
    store.array("/t", &["/time", "/lat"], &values).unwrap().attribute("units", "K").chunk(&[2, 3]);
    store.array("/height", &["/lat"], &[1_i16, 2, 3]).unwrap();
    store.array("/version", &[], &[7_i32]).unwrap();
    store
}

pub(crate) fn write(folder: &Path, name: &str, store: StoreBuilder) -> PathBuf {
    let path = folder.join(name);
    let options = ConvertOptions::new(target_format_of(&path).unwrap());
    let source = store.build();
    let plan = plan(&*source, &options).unwrap();
    let made_from = Fingerprint::of_sources(&[], String::new()).unwrap();
    convert(&*source, &made_from, &path, &plan, &options).unwrap();
    path
}

fn days(folder: &Path, count: i32) -> Vec<PathBuf> {
    (0..count).map(|number| write(folder, &format!("day{number}.zarr"), day(number))).collect()
}

fn along(name: &str) -> JoinOptions {
    JoinOptions { along: Along::Named(name.into()), ..JoinOptions::default() }
}

pub(crate) fn refused(joined: Result<Joined>) -> String {
    joined.err().map(|error: Error| error.to_string()).unwrap()
}

#[test]
fn arrays_along_the_dimension_are_joined_and_others_are_those_of_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let joined = Joined::open(&days(folder.path(), 3), &along("time")).unwrap();
    assert_eq!((joined.notes(), joined.gaps()), (&[][..], &[][..]));
    let source = joined.shared();
    let file = File::from(source.clone());
    let time: Vec<i32> = file.array("/time").unwrap().read(&Select::all()).unwrap();
    assert_eq!(time, (0..12).collect::<Vec<_>>());
    let all: Vec<f32> = file.array("/t").unwrap().read(&Select::all()).unwrap();
    assert_eq!(all, (0..36).map(|at| at as f32).collect::<Vec<_>>());
    let part: Vec<f32> =
        file.array("/t").unwrap().read(&Select::all().dim("time", 1..11).dim("lat", 1)).unwrap();
    assert_eq!(part, (1..11).map(|at| (at * 3 + 1) as f32).collect::<Vec<_>>());
    let height: Vec<i16> = file.array("/height").unwrap().read(&Select::all()).unwrap();
    assert_eq!(height, [1, 2, 3]);
    assert_eq!(
        source.array(&source.find(&node_path("/version")).unwrap().handle).unwrap().extents(),
        Some(&[][..])
    );
    let Node::DimCoord(time) = source.load(&source.find(&node_path("/time")).unwrap().handle).unwrap() else {
        panic!("no dimension")
    };
    assert_eq!(time.size, Extent::Fixed(12));
}

#[test]
fn regions_with_steps_are_the_same_with_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let paths = days(folder.path(), 5);
    for threads in [1, 3] {
        let open = OpenOptions { pool: Pool::new(threads, Pool::MEMORY), ..OpenOptions::default() };
        let joined = Joined::open(&paths, &JoinOptions { open, ..along("time") }).unwrap().shared();
        let array = joined.array(&joined.find(&node_path("/t")).unwrap().handle).unwrap();
        for (start, count, step) in [(0, 20, 1), (3, 4, 5), (1, 7, 3), (19, 1, 1), (5, 0, 1), (4, 4, 1)] {
            let region = Region { start: vec![start, 1], count: vec![count, 2], step: vec![step, 1] };
            let read = array.values(&region).unwrap();
            let expected: Vec<u8> = (0..count)
                .flat_map(|at| [1, 2].map(|lat| ((start + at * step) * 3 + lat) as f32))
                .flat_map(f32::to_ne_bytes)
                .collect();
            assert_eq!(&read.rows[..], &expected[..], "{region:?}");
        }
        let beyond = Region { start: vec![0, 0], count: vec![21, 1], step: vec![1, 1] };
        assert!(array.values(&beyond).is_err());
    }
}

#[test]
fn texts_of_several_stores_are_read_together() {
    let folder = tempfile::tempdir().unwrap();
    let mut paths = Vec::new();
    for number in 0..3 {
        let mut store = StoreBuilder::new();
        store.dimension("/run", 2).unwrap();
        let names = [format!("run {number}a, a long name"), format!("run {number}b")];
        store.texts("/name", &["/run"], &[&names[0], &names[1]]).unwrap();
        paths.push(write(folder.path(), &format!("{number}.zarr"), store));
    }
    let joined = Joined::open(&paths, &along("run")).unwrap();
    assert!(joined.notes()[0].contains("run has no coordinates"), "{:?}", joined.notes());
    let source = joined.shared();
    let array = source.array(&source.find(&node_path("/name")).unwrap().handle).unwrap();
    let values = array.values(&Region::new(vec![1], vec![4])).unwrap();
    let texts: Vec<String> =
        hyperslab::model::Elements::new(array.datatype(), &values).map(hyperslab::ndl::plain).collect();
    assert_eq!(texts, ["run 0b", "run 1a, a long name", "run 1b", "run 2a, a long name"]);
}

#[test]
fn the_dimension_is_the_one_that_differs_unless_it_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let paths = days(folder.path(), 2);
    let joined = Joined::open(&paths, &JoinOptions::default()).unwrap();
    assert_eq!(joined.along().as_str(), "/time");
    let same = [paths[0].clone(), paths[0].clone()];
    assert!(
        refused(Joined::open(&same, &JoinOptions::default())).contains("not clear along which dimension")
    );
    assert!(refused(Joined::open(&paths, &along("tme"))).contains("no dimension tme; dimensions: lat, time"));
    // One store alone is itself.
    let one = Joined::open(&paths[..1], &along("/time")).unwrap();
    assert_eq!(one.paths().len(), 1);
}

#[test]
fn numbers_that_are_not_joined_may_differ_within_a_tolerance() {
    let folder = tempfile::tempdir().unwrap();
    let second = |name: &str, lat: f64| {
        let mut store = StoreBuilder::new();
        store.coordinate("/time", &[4_i32, 5]).unwrap().attribute("units", "hours since 2020-01-01");
        store.coordinate("/lat", &[10.0, lat, 30.0]).unwrap();
        store.array("/t", &["/time", "/lat"], &[0_f32; 6]).unwrap().attribute("units", "K");
        store.array("/height", &["/lat"], &[1_i16, 2, 3]).unwrap();
        store.array("/version", &[], &[7_i32]).unwrap();
        write(folder.path(), name, store)
    };
    let first = write(folder.path(), "a.zarr", day(0));
    let paths = [first.clone(), second("near.zarr", 20.0_f64.next_up())];
    let open =
        |paths: &[PathBuf], tolerance| Joined::open(paths, &JoinOptions { tolerance, ..along("time") });
    let message = refused(open(&paths, Tolerance::default()));
    let expected = ": 1 of 3 differs, by at most 3.552713678800501e-15; only arrays along time are joined\n\
         help: allow an absolute tolerance of 3.6e-15";
    assert!(message.contains("near.zarr:/lat: has other values than in "), "{message}");
    assert!(message.ends_with(expected), "{message}");
    for tolerance in [
        Tolerance { absolute: 3.6e-15, ..Tolerance::default() },
        Tolerance { relative: 1e-12, ..Tolerance::default() },
    ] {
        let joined = open(&paths, tolerance).unwrap();
        let [note] = joined.notes() else { panic!("{:?}", joined.notes()) };
        assert!(note.starts_with("/lat: values differ by at most 3.552713678800501e-15 in "), "{note}");
        assert!(note.contains("near.zarr; those of ") && note.ends_with("a.zarr are taken"), "{note}");
        let lat: Vec<f64> = File::from(joined.shared()).array("/lat").unwrap().read(&Select::all()).unwrap();
        assert_eq!(lat, [10.0, 20.0, 30.0]);
    }
    // What differs more than by rounding is to be looked at.
    let far = [first, second("far.zarr", 21.0)];
    let message = refused(open(&far, Tolerance { absolute: 0.5, ..Tolerance::default() }));
    assert!(message.contains("differs, by at most 1.0;") && message.contains("help: compare "), "{message}");
    assert!(open(&far, Tolerance { absolute: 1.0, ..Tolerance::default() }).is_ok());
}

#[test]
fn what_differs_is_named_with_its_file_object_and_both_values() {
    let folder = tempfile::tempdir().unwrap();
    let first = write(folder.path(), "a.zarr", day(0));
    let second = |name: &str, change: &dyn Fn(&mut StoreBuilder)| {
        let mut store = StoreBuilder::new();
        store.coordinate("/time", &[4_i32, 5]).unwrap().attribute("units", "hours since 2020-01-01");
        store.coordinate("/lat", &[10.0_f64, 20.0, 30.0]).unwrap();
        change(&mut store);
        refused(Joined::open(&[first.clone(), write(folder.path(), name, store)], &along("time")))
    };
    let t = |store: &mut StoreBuilder, units: &str| {
        store.array("/t", &["/time", "/lat"], &[0_f32; 6]).unwrap().attribute("units", units);
    };
    let heights = |store: &mut StoreBuilder, values: &[i16; 3]| {
        store.array("/height", &["/lat"], values).unwrap();
        store.array("/version", &[], &[7_i32]).unwrap();
    };
    let units = second("units.zarr", &|store| {
        t(store, "degC");
        heights(store, &[1, 2, 3]);
    });
    assert!(units.contains("units.zarr") && units.contains("/t: attribute units"), "{units}");
    assert!(units.contains("\"degC\", in ") && units.contains("it is \"K\""), "{units}");
    let datatype = second("type.zarr", &|store| {
        store.array("/t", &["/time", "/lat"], &[0_f64; 6]).unwrap().attribute("units", "K");
        heights(store, &[1, 2, 3]);
    });
    assert!(datatype.contains("type is float64, in ") && datatype.contains("float32"), "{datatype}");
    let missing = second("missing.zarr", &|store| heights(store, &[1, 2, 3]));
    assert!(missing.contains("/t: is missing here; ") && missing.contains("a.zarr has it"), "{missing}");
    let other = second("other.zarr", &|store| {
        t(store, "K");
        heights(store, &[1, 2, 4]);
    });
    assert!(other.contains("/height: has other values than in "), "{other}");
    assert!(other.contains(": 1 of 3 differs, by at most 1; only arrays along time are joined"), "{other}");
    assert!(other.contains("leave it out"), "{other}");
    let more = second("more.zarr", &|store| {
        t(store, "K");
        heights(store, &[1, 2, 3]);
        store.array("/x", &[], &[1_i32]).unwrap();
    });
    assert!(more.contains("/x: is only here; "), "{more}");
}

#[test]
fn attributes_that_do_not_change_the_meaning_are_noted() {
    let folder = tempfile::tempdir().unwrap();
    let mut paths = Vec::new();
    for number in 0..4 {
        let mut store = day(number);
        store.group("/").unwrap().attribute("history", &format!("made on day {number}"));
        paths.push(write(folder.path(), &format!("{number}.zarr"), store));
    }
    let joined = Joined::open(&paths, &along("time")).unwrap();
    let [note] = joined.notes() else { panic!("{:?}", joined.notes()) };
    assert!(
        note.starts_with("/@history differs in ") && note.contains("1.zarr and 2 more; that of "),
        "{note}"
    );
}

#[test]
fn counts_since_other_epochs_become_those_of_the_first_store() {
    let folder = tempfile::tempdir().unwrap();
    let month = |name: &str, units: &str, times: &[f64]| {
        let mut store = StoreBuilder::new();
        let time = store.coordinate("/time", times).unwrap();
        time.attribute("units", units).attribute("bounds", "time_bounds");
        store.array("/t", &["/time"], &vec![1_f32; times.len()]).unwrap();
        // They have the units of the times.
        store.dimension("/bound", 1).unwrap();
        store.array("/time_bounds", &["/time", "/bound"], times).unwrap();
        write(folder.path(), name, store)
    };
    let a = month("a.zarr", "days since 2020-01-01", &[29.5, 30.5]);
    let b = month("b.zarr", "days since 2020-02-01", &[0.5, 1.5]);
    let c = month("c.zarr", "hours since 2020-02-01", &[60.0, 84.0]);
    let joined = Joined::open(&[a.clone(), b, c], &along("time")).unwrap();
    assert_eq!(joined.gaps(), &[""; 0]);
    assert!(joined.notes()[0].starts_with("/time: other units or calendar in "), "{:?}", joined.notes());
    let file = File::from(joined.shared());
    for name in ["/time", "/time_bounds"] {
        let times: Vec<f64> = file.array(name).unwrap().read(&Select::all()).unwrap();
        assert_eq!(times, [29.5, 30.5, 31.5, 32.5, 33.5, 34.5], "{name}");
    }
    // A calendar that has other days only before the reform of 1582.
    let own = |name: &str, calendar: &str, times: &[f64]| {
        let mut store = StoreBuilder::new();
        let time = store.coordinate("/time", times).unwrap();
        time.attribute("units", "days since 2020-01-01").attribute("calendar", calendar);
        store.array("/t", &["/time"], &vec![1_f32; times.len()]).unwrap();
        write(folder.path(), name, store)
    };
    let standard = own("standard.zarr", "standard", &[0.0, 1.0]);
    let proleptic = own("proleptic.zarr", "proleptic_gregorian", &[2.0, 3.0]);
    let joined = Joined::open(&[standard.clone(), proleptic], &along("time")).unwrap();
    assert!(joined.notes()[0].ends_with("days since 2020-01-01 (standard)"), "{:?}", joined.notes());
    let old = own("old.zarr", "proleptic_gregorian", &[-200_000.0]);
    let error = refused(Joined::open(&[standard, old], &along("time")));
    assert!(error.contains("count -200000 has no exact equal"), "{error}");
    // A calendar of other days.
    let mut store = StoreBuilder::new();
    let time = store.coordinate("/time", &[0.5_f64]).unwrap();
    time.attribute("units", "days since 2020-02-01")
        .attribute("bounds", "time_bounds")
        .attribute("calendar", "noleap");
    store.array("/t", &["/time"], &[1_f32]).unwrap();
    store.dimension("/bound", 1).unwrap();
    store.array("/time_bounds", &["/time", "/bound"], &[0.5_f64]).unwrap();
    let noleap = write(folder.path(), "noleap.zarr", store);
    assert!(refused(Joined::open(&[a, noleap], &along("time"))).contains("attribute units"));
}

#[test]
fn counts_that_integers_of_the_first_store_cannot_hold_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let days = |name: &str, units: &str, times: &[i32]| {
        let mut store = StoreBuilder::new();
        store.coordinate("/time", times).unwrap().attribute("units", units);
        store.array("/t", &["/time"], &vec![1_f32; times.len()]).unwrap();
        write(folder.path(), name, store)
    };
    let a = days("a.zarr", "days since 2020-01-01", &[0, 1]);
    let b = days("b.zarr", "hours since 2020-01-01", &[48, 54]);
    let error = refused(Joined::open(&[a, b], &along("time")));
    assert!(error.contains("b.zarr: /time") || error.contains("/time"), "{error}");
    assert!(
        error.contains("counts hours since 2020-01-01, ") && error.contains("count 54 has no exact"),
        "{error}"
    );
}

#[test]
fn stores_are_sorted_by_their_coordinates_if_that_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let mut paths = days(folder.path(), 3);
    paths.reverse();
    let error = refused(Joined::open(&paths, &along("time")));
    assert!(error.contains("day1.zarr") && error.contains("day2.zarr before it begins at"), "{error}");
    let joined = Joined::open(&paths, &JoinOptions { sort: true, ..along("time") }).unwrap();
    let time: Vec<i32> = File::from(joined.shared()).array("/time").unwrap().read(&Select::all()).unwrap();
    assert_eq!(time, (0..12).collect::<Vec<_>>());
    let twice = [paths[1].clone(), paths[1].clone()];
    let error = refused(Joined::open(&twice, &along("time")));
    assert!(
        error.contains("overlaps ") && error.contains("2020-01-01T04:00:00 to 2020-01-01T07:00:00"),
        "{error}"
    );
    let gap = [paths[2].clone(), paths[0].clone()];
    let joined = Joined::open(&gap, &along("time")).unwrap();
    assert!(joined.gaps()[0].ends_with("4 coordinates are missing"), "{:?}", joined.gaps());
}

#[test]
fn whole_chunks_are_copied_as_they_are_stored() {
    let folder = tempfile::tempdir().unwrap();
    let paths = days(folder.path(), 3);
    let source = Joined::open(&paths, &along("time")).unwrap().shared();
    let array = source.array(&source.find(&node_path("/t")).unwrap().handle).unwrap();
    assert_eq!(array.stored_form().map(|form| form.chunk), Some(vec![2, 3]));
    let mut bytes = Vec::new();
    let stored = array.stored_chunk(&[6, 0], &mut bytes).unwrap();
    let own = hyperslab::open(&paths[1], &OpenOptions::default()).unwrap();
    let own = own.array(&own.find(&node_path("/t")).unwrap().handle).unwrap();
    let mut expected = Vec::new();
    assert_eq!(stored, own.stored_chunk(&[2, 0], &mut expected).unwrap());
    assert_eq!(bytes, expected);
    let chunks = array.chunks().unwrap().unwrap();
    assert_eq!((chunks.outer.written, chunks.outer.of), (6, 6));
    // A joined store is converted like any other, and has the same content.
    let target = folder.path().join("all.zarr");
    let options = ConvertOptions::new(target_format_of(&target).unwrap());
    let plan = plan(&*source, &options).unwrap();
    let made_from = Fingerprint::of_sources(&paths, String::new()).unwrap();
    convert(&*source, &made_from, &target, &plan, &options).unwrap();
    let written = hyperslab::open(&target, &OpenOptions::default()).unwrap();
    let digests = |of: &dyn Source| -> Vec<String> {
        hyperslab::digest::lines(of, &node_path("/")).unwrap().iter().map(|line| line.to_json()).collect()
    };
    assert_eq!(digests(&*source), digests(&*written));
}

/// A file with records: two of `time` and `t` each.
fn classic(folder: &Path, number: u32) -> PathBuf {
    let variable = |name: &str, data_type, begin, units: &str| Variable {
        name: name.into(),
        dimensions: vec![0],
        attributes: vec![Attribute { name: "units".into(), data_type: DataType::Char, values: units.into() }],
        data_type,
        size: 4,
        begin,
    };
    let header = Header {
        version: Version::Classic,
        records: Some(2),
        dimensions: vec![Dimension { name: "time".into(), length: 0 }],
        attributes: Vec::new(),
        variables: vec![
            variable("time", DataType::Int, 1000, "days since 2020-01-01"),
            variable("t", DataType::Float, 1004, "K"),
        ],
    };
    let mut bytes = header.encode().unwrap();
    bytes.resize(1000, 0);
    for record in 0..2 {
        bytes.extend((number * 2 + record).to_be_bytes());
        bytes.extend(((number * 2 + record) as f32).to_be_bytes());
    }
    let path = folder.join(format!("{number:03}.nc"));
    fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn records_of_classic_files_are_joined_along_their_unlimited_dimension() {
    let folder = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> = (0..40).map(|number| classic(folder.path(), number)).collect();
    let joined = Joined::open(&paths, &JoinOptions::default()).unwrap();
    assert_eq!(joined.along().as_str(), "/time");
    let source = joined.shared();
    let all: Vec<f32> = File::from(source.clone()).array("/t").unwrap().read(&Select::all()).unwrap();
    assert_eq!(all, (0..80).map(|at| at as f32).collect::<Vec<_>>());
    let Node::DimCoord(time) = source.load(&source.find(&node_path("/time")).unwrap().handle).unwrap() else {
        panic!("no dimension")
    };
    assert_eq!(time.size, Extent::Unlimited { current: 80 });
}

#[test]
fn stores_of_several_formats_are_joined() {
    let folder = tempfile::tempdir().unwrap();
    let first = path("ocean.nc");
    let copy = folder.path().join("ocean.zarr");
    let source = hyperslab::open(&first, &OpenOptions::default()).unwrap();
    let options = ConvertOptions::new(target_format_of(&copy).unwrap());
    let plan = plan(&*source, &options).unwrap();
    let made_from = Fingerprint::of_source(&first, String::new()).unwrap();
    convert(&*source, &made_from, &copy, &plan, &options).unwrap();
    // The same times twice overlap: all else is the same in both formats.
    let error = refused(Joined::open(&[first, copy], &along("/time")));
    assert!(error.contains("overlaps "), "{error}");
}

#[test]
fn a_file_that_was_changed_since_it_was_joined_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> = (0..60).map(|number| classic(folder.path(), number)).collect();
    let joined = Joined::open(&paths, &along("time")).unwrap();
    assert_eq!(joined.lengths(), vec![2; 60]);
    let array = File::from(joined.shared()).array("/t").unwrap();
    assert_eq!(array.read::<f32>(&Select::all()).unwrap().len(), 120);
    // The second one is not open any more.
    let changed = fs::OpenOptions::new().append(true).open(&paths[1]).unwrap();
    changed.set_len(fs::metadata(&paths[1]).unwrap().len() + 4).unwrap();
    drop(changed);
    let error = array.read::<f32>(&Select::all()).unwrap_err().to_string();
    assert!(error.contains("001.nc:/t: the file was changed since it was joined"), "{error}");
}

#[test]
fn ranges_of_values_are_those_of_all_stores() {
    let folder = tempfile::tempdir().unwrap();
    let mut paths = Vec::new();
    for (number, range, max) in [(0, [1_i16, 5], Some(5_i16)), (1, [-3, 4], Some(9)), (2, [0, 7], None)] {
        let mut store = StoreBuilder::new();
        store.coordinate("/time", &[number]).unwrap();
        let array = store.array("/t", &["/time"], &[7_i16]).unwrap().numbers("valid_range", &range);
        if let Some(max) = max {
            array.numbers("valid_max", &[max]);
        }
        paths.push(write(folder.path(), &format!("{number}.nc"), store));
    }
    let joined = Joined::open(&paths, &along("time")).unwrap();
    assert!(joined.notes().iter().any(|note| note.contains("it becomes the range of all files")));
    assert!(joined.notes().iter().any(|note| note.contains("valid_max") && note.ends_with("it is left out")));
    let source = joined.shared();
    let node = source.load(&source.find(&node_path("/t")).unwrap().handle).unwrap();
    let attributes = node.attributes().unwrap();
    let range = attributes["valid_range"].as_ref().unwrap();
    assert_eq!(*range.value.rows, [-3_i16, 7].map(i16::to_ne_bytes).concat());
    assert!(!attributes.contains_key("valid_max"));
    // Two files, of which both have a maximum.
    let source = Joined::open(&paths[..2], &along("time")).unwrap().shared();
    let node = source.load(&source.find(&node_path("/t")).unwrap().handle).unwrap();
    assert_eq!(*node.attributes().unwrap()["valid_max"].as_ref().unwrap().value.rows, 9_i16.to_ne_bytes());
}

#[test]
fn ranges_of_other_types_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut paths = Vec::new();
    for number in 0..2 {
        let mut store = StoreBuilder::new();
        store.coordinate("/time", &[number]).unwrap();
        let array = store.array("/t", &["/time"], &[7_i16]).unwrap();
        match number {
            0 => array.numbers("valid_max", &[5_i16]),
            _ => array.numbers("valid_max", &[5.0_f64]),
        };
        paths.push(write(folder.path(), &format!("{number}.nc"), store));
    }
    let error = refused(Joined::open(&paths, &along("time")));
    assert!(error.contains("valid_max"), "{error}");
}
