//! Several stores joined along one dimension.

use crate::{node_path, path};
use hyperslab::convert::{ConvertOptions, Parts, convert, plan};
use hyperslab::diff::{DiffOptions, Side, diff};
use hyperslab::model::{Elements, Extent, Node, Tolerance};
use hyperslab::publish::Fingerprint;
use hyperslab::select::Select;
use hyperslab::{
    Along, Error, File, JoinOptions, Joined, Number, OpenOptions, Pool, Region, Result, Source, StoreBuilder,
    ndl, target_format_of,
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
    written(folder, name, &*store.build(), None)
}

/// Writes a source, or the object at a path in it, to a store.
pub(crate) fn written(folder: &Path, name: &str, source: &dyn Source, object: Option<&str>) -> PathBuf {
    let path = folder.join(name);
    let parts = object.map(|object| Parts::new(source, &[source.find(&node_path(object)).unwrap()]).unwrap());
    let options = ConvertOptions { parts, ..ConvertOptions::new(target_format_of(&path).unwrap()) };
    let plan = plan(source, &options).unwrap();
    let made_from = Fingerprint::of_sources(&[], String::new()).unwrap();
    convert(source, &made_from, &path, &plan, &options).unwrap();
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
    assert_eq!(joined.along().to_string(), "time");
    let same = [paths[0].clone(), paths[0].clone()];
    assert!(refused(Joined::open(&same, &JoinOptions::default())).contains("unclear along which dimension"));
    assert!(refused(Joined::open(&paths, &along("tme"))).contains("no dimension tme; dimensions: lat, time"));
    // Joining a single store gives the store itself.
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
        assert!(note.contains("near.zarr; those of ") && note.ends_with("a.zarr are used"), "{note}");
        let lat: Vec<f64> = File::from(joined.shared()).array("/lat").unwrap().read(&Select::all()).unwrap();
        assert_eq!(lat, [10.0, 20.0, 30.0]);
    }
    // Differences larger than rounding should be examined.
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
        // The bounds have the units of the times.
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
    // A calendar whose days differ only before the reform of 1582.
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
    assert!(error.contains("count -200000 cannot be represented exactly"), "{error}");
    // A calendar with different days.
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

/// Writes a store with times of any type and one value for each time.
fn timed<T: Number>(folder: &Path, name: &str, units: &str, times: &[T]) -> PathBuf {
    let mut store = StoreBuilder::new();
    store.coordinate("/time", times).unwrap().attribute("units", units);
    store.array("/t", &["/time"], &vec![1_f32; times.len()]).unwrap();
    write(folder, name, store)
}

/// The type, the units and the counts of times.
fn counted(joined: Joined) -> (String, String, Vec<f64>) {
    let file = File::from(joined.shared());
    let time = file.array("/time").unwrap();
    let counts = time.cast::<f64>(&Select::all()).unwrap();
    let units = time.attribute("units").unwrap();
    let units = Elements::new(&units.datatype, &units.value).next().map(ndl::plain).unwrap();
    (time.datatype().to_string(), units, counts)
}

#[test]
fn counts_that_the_first_store_cannot_hold_are_counted_in_a_shorter_unit() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // As in months written by xarray, each file counts days since its own time.
    let january = timed(folder, "1.nc", "days since 2019-01-16 12:00:00", &[0_i64]);
    let february = timed(folder, "2.nc", "days since 2019-02-15", &[0_i64]);
    let march = timed(folder, "3.zarr", "days since 2019-03-16 12:00:00", &[0_i64]);
    let months = [january.clone(), february, march];
    let joined = Joined::open(&months, &along("time")).unwrap();
    let note = "/time: units or types differ; counted as int64 in hours since 2019-01-16 12:00:00, which hold all times \
                exactly";
    assert_eq!((joined.notes(), joined.gaps()), (&[note.to_owned()][..], &[][..]));
    let expected =
        ("int64".to_owned(), "hours since 2019-01-16 12:00:00".to_owned(), vec![0.0, 708.0, 1416.0]);
    assert_eq!(counted(joined), expected);
    let sorted = JoinOptions { sort: true, ..along("time") };
    let backwards: Vec<PathBuf> = months.iter().rev().cloned().collect();
    assert_eq!(counted(Joined::open(&backwards, &sorted).unwrap()), expected);
    // The last file needs minutes, so the earlier ones are also counted in minutes.
    let later = timed(folder, "4.nc", "seconds since 2019-04-01", &[60_i32]);
    let all = Joined::open(&[months.as_slice(), &[later]].concat(), &along("time")).unwrap();
    let (_, units, counts) = counted(all);
    assert_eq!((units.as_str(), counts[1]), ("minutes since 2019-01-16 12:00:00", 42480.0));
    // In the new unit, 32 bits are not enough.
    let short = timed(folder, "5.nc", "days since 1900-01-01", &[0_i32]);
    let fine = timed(folder, "6.nc", "seconds since 2000-01-01", &[1_i32]);
    let (datatype, units, counts) = counted(Joined::open(&[short, fine], &along("time")).unwrap());
    assert_eq!((datatype.as_str(), units.as_str()), ("int64", "seconds since 1900-01-01"));
    assert_eq!(counts, [0.0, 3_155_673_601.0]);
    // No remaining unit fits into 64 bits.
    let old = timed(folder, "7.nc", "days since 1500-01-01", &[0_i64]);
    let exact = timed(folder, "8.nc", "nanoseconds since 2020-01-01", &[1_i64]);
    let error = refused(Joined::open(&[old, exact], &along("time")));
    assert!(error.contains("counts nanoseconds since 2020-01-01, ") && error.contains("8.nc"), "{error}");
    assert!(
        error.contains("counted in nanoseconds since 1500-01-01: count 1 becomes 16408828800000000001"),
        "{error}"
    );
    assert!(error.contains("which int64 does not hold"), "{error}");
}

#[test]
fn times_of_different_types_are_joined_in_one_that_holds_all() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let units = "days since 2000-01-01";
    let short = timed(folder, "short.nc", units, &[0_i32, 1]);
    let long = timed(folder, "long.nc", units, &[2_i64, 3]);
    let mut store = StoreBuilder::new();
    let time = store.coordinate("/time", &[4.5_f64, 5.5]).unwrap();
    time.attribute("units", units).numbers("_FillValue", &[f64::NAN]);
    store.array("/t", &["/time"], &[1_f32; 2]).unwrap();
    let double = write(folder, "double.nc", store);
    let joined = Joined::open(&[short.clone(), long.clone()], &along("time")).unwrap();
    assert!(joined.notes()[0].contains("counted as int64 in days since 2000-01-01"), "{:?}", joined.notes());
    assert_eq!(counted(joined), ("int64".into(), units.into(), vec![0.0, 1.0, 2.0, 3.0]));
    let joined = Joined::open(&[long.clone(), short], &along("time")).err().map(|error| error.to_string());
    assert!(joined.is_some_and(|error| error.contains("not in order")));
    let joined = Joined::open(&[long.clone(), double.clone()], &along("time")).unwrap();
    assert_eq!(counted(joined), ("float64".into(), units.into(), vec![2.0, 3.0, 4.5, 5.5]));
    let joined = Joined::open(&[double, long], &JoinOptions { sort: true, ..along("time") }).unwrap();
    assert_eq!(counted(joined).0, "float64");
    // Double precision cannot represent this count.
    let large = timed(folder, "large.nc", units, &[(1_i64 << 53) + 1]);
    let other = timed(folder, "other.nc", units, &[0.5_f64]);
    let error = refused(Joined::open(&[other, large], &along("time")));
    assert!(error.contains("9007199254740993") && error.contains("which float64 does not hold"), "{error}");
    // Numbers that are not times keep their type.
    let data = |name: &str, store: StoreBuilder| write(folder, name, store);
    let mut single = day(0);
    single.array("/u", &["/time"], &[1_f32; 4]).unwrap();
    let mut double = day(1);
    double.array("/u", &["/time"], &[1_f64; 4]).unwrap();
    let error = refused(Joined::open(&[data("u0.nc", single), data("u1.nc", double)], &along("time")));
    assert!(error.contains("/u: type is float64"), "{error}");
}

#[test]
fn bounds_follow_the_units_and_types_of_their_times() {
    let folder = tempfile::tempdir().unwrap();
    let month = |name: &str, units: &str, time: i64, bounds: [i64; 2]| {
        let mut store = StoreBuilder::new();
        let times = store.coordinate("/time", &[time]).unwrap();
        times.attribute("units", units).attribute("bounds", "time_bounds");
        store.dimension("/bound", 2).unwrap();
        store.array("/time_bounds", &["/time", "/bound"], &bounds).unwrap();
        store.array("/t", &["/time"], &[1_f32]).unwrap();
        write(folder.path(), name, store)
    };
    let a = month("a.nc", "days since 2019-01-01", 15, [0, 31]);
    let b = month("b.nc", "hours since 2019-02-01", 324, [0, 672]);
    let joined = Joined::open(&[a, b], &along("time")).unwrap();
    let notes = joined.notes().join("\n");
    assert!(notes.contains("/time_bounds: counted as int64, in the units of its times"), "{notes}");
    let file = File::from(joined.shared());
    let read = |path: &str| file.array(path).unwrap().read::<i64>(&Select::all()).unwrap();
    assert_eq!(read("/time"), [360, 1068]);
    assert_eq!(read("/time_bounds"), [0, 744, 744, 1416]);
}

#[test]
fn counts_that_were_never_written_are_counts_too() {
    let folder = tempfile::tempdir().unwrap();
    // Zeros equal the fill value, so their chunk is not written.
    let a = timed(folder.path(), "a.zarr", "days since 2019-01-01", &[0_i64]);
    let b = timed(folder.path(), "b.zarr", "days since 2019-01-02", &[0_i64]);
    for store in [&a, &b] {
        let chunk = store.join("time/c/0");
        if chunk.exists() {
            fs::remove_file(chunk).unwrap();
        }
    }
    let joined = Joined::open(&[a, b], &along("time")).unwrap().shared();
    let target = written(folder.path(), "all.zarr", &*joined, None);
    let file = File::from(hyperslab::open(&target, &OpenOptions::default()).unwrap());
    assert_eq!(file.array("/time").unwrap().read::<i64>(&Select::all()).unwrap(), [0, 1]);
}

#[test]
fn what_leads_to_elements_along_the_dimension_is_not_joined() {
    let folder = tempfile::tempdir().unwrap();
    let ragged = |name: &str| {
        let mut store = StoreBuilder::new();
        store.dimension("/obs", 5).unwrap();
        store.dimension("/station", 2).unwrap();
        store.array("/count", &["/station"], &[2_i32, 3]).unwrap().attribute("sample_dimension", "obs");
        store.array("/temp", &["/obs"], &[0.0_f32, 1.0, 2.0, 3.0, 4.0]).unwrap();
        write(folder.path(), name, store)
    };
    let paths = [ragged("a.nc"), ragged("b.nc")];
    for dimension in ["obs", "station"] {
        let error = refused(Joined::open(&paths, &along(dimension)));
        assert!(error.contains("/count: its values are positions or counts along "), "{error}");
        assert!(error.contains("help: leave it out"), "{error}");
    }
    let part = JoinOptions { path: Some("/temp".into()), ..along("obs") };
    assert_eq!(Joined::open(&paths, &part).unwrap().lengths(), [5, 5]);
}

#[test]
fn dimensions_of_one_name_are_told_by_their_paths() {
    let folder = tempfile::tempdir().unwrap();
    let groups = |number: i32| {
        let mut store = StoreBuilder::new();
        for group in ["/in", "/out"] {
            store.group(group).unwrap();
            store.coordinate(&format!("{group}/time"), &[number]).unwrap();
            store.array(&format!("{group}/a"), &[&format!("{group}/time")], &[number]).unwrap();
        }
        write(folder.path(), &format!("{number}.nc"), store)
    };
    let paths = [groups(0), groups(1)];
    for options in [along("time"), JoinOptions::default()] {
        let error = refused(Joined::open(&paths, &options));
        assert!(error.contains("name the dimension: /in/time or /out/time"), "{error}");
        assert!(error.contains("or join one group of each file, as FILE:/in"), "{error}");
    }
    let part = JoinOptions { path: Some("/in".into()), ..JoinOptions::default() };
    assert_eq!(Joined::open(&paths, &part).unwrap().along().path(), Some(&node_path("/in/time")));
}

#[test]
fn a_shape_that_differs_is_told_as_the_files_have_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = |name: &str, dimensions: &[&str]| {
        let mut store = StoreBuilder::new();
        store.dimension("/time", 2).unwrap();
        store.dimension("/lat", 3).unwrap();
        store.array("/t", dimensions, &[1_i32; 6]).unwrap();
        write(folder.path(), name, store)
    };
    let paths = [store("a.zarr", &["/lat", "/time"]), store("b.zarr", &["/time", "/lat"])];
    let error = refused(Joined::open(&paths, &along("time")));
    assert!(error.contains("shape is [time=2, lat=3]") && error.contains("it is [lat=3, time=2]"), "{error}");
}

#[test]
fn missing_values_that_formats_mark_in_other_forms_are_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let part = |name: &str, x: [i32; 2], marked: bool| {
        let mut store = StoreBuilder::new();
        store.coordinate("/x", &x).unwrap();
        let a = store.array("/a", &["/x"], &[1.0_f32, f32::NAN]).unwrap();
        match marked {
            true => a.numbers("_FillValue", &[f32::NAN]),
            false => a,
        };
        write(folder.path(), name, store)
    };
    // xarray writes the bytes of a double in base64.
    let zarr = part("0.zarr", [0, 1], false);
    for document in ["zarr.json", "a/zarr.json"].map(|name| zarr.join(name)) {
        let mut json: serde_json::Value = serde_json::from_slice(&fs::read(&document).unwrap()).unwrap();
        json.as_object_mut().unwrap().remove("consolidated_metadata");
        if json["node_type"] == "array" {
            json["attributes"]["_FillValue"] = "AAAAAAAA+H8=".into();
        }
        fs::write(&document, json.to_string()).unwrap();
    }
    let netcdf = part("1.nc", [2, 3], true);
    for paths in [[zarr.clone(), netcdf.clone()], [netcdf.clone(), zarr.clone()]] {
        let options = JoinOptions { sort: true, ..along("x") };
        assert_eq!(Joined::open(&paths, &options).unwrap().lengths(), [2, 2]);
    }
    let (a, b) =
        (hyperslab::open(&zarr, &OpenOptions::default()), hyperslab::open(&netcdf, &OpenOptions::default()));
    let (a, b) = (a.unwrap(), b.unwrap());
    let at = |source: &dyn Source| hyperslab::location::LocatedObject {
        entry: source.find(&node_path("/a")).unwrap(),
        attribute: None,
    };
    let (x, y) = (at(&*a), at(&*b));
    let sides = (Side { source: &*a, target: &x }, Side { source: &*b, target: &y });
    let summary = diff(sides.0, sides.1, &DiffOptions::default(), &mut |_, _| {}, &mut |_| Ok(())).unwrap();
    assert!(summary.is_same(), "{}", summary.label());
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
    // A joined store is converted like any other, and the result has the same content.
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

/// A file with two records of `time` and `t`.
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
    assert_eq!(joined.along().to_string(), "time");
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
    // The times overlap because they occur twice. Everything else is the same in both formats.
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
    // The second file is no longer open.
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
    // Two files that both have a maximum.
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
