//! Several stores joined along a new dimension.

use crate::joined::{refused, write, written};
use crate::node_path;
use hyperslab::model::Node;
use hyperslab::select::Select;
use hyperslab::{
    Along, ChunkLevel, File, JoinOptions, Joined, OpenOptions, Region, Source, StoreBuilder, StoredChunk,
    Utf8, open,
};
use std::path::{Path, PathBuf};

/// A member of an ensemble, with a scalar coordinate that differs and one that does not.
fn member(number: i32) -> StoreBuilder {
    member_at(number, &[10.0, 20.0, 30.0])
}

fn member_at(number: i32, latitudes: &[f64]) -> StoreBuilder {
    let mut store = StoreBuilder::new();
    store.coordinate("/lat", latitudes).unwrap();
    store.array("/member", &[], &[number]).unwrap().attribute("long_name", "member of the ensemble");
    store
        .array("/time", &[], &[number * 6])
        .unwrap()
        .attribute("units", "hours since 2020-01-01")
        .attribute("bounds", "time_bounds");
    store.dimension("/bound", 2).unwrap();
    store.array("/time_bounds", &["/bound"], &[number * 6, number * 6 + 6]).unwrap();
    store.array("/height", &[], &[2.0_f64]).unwrap();
    store.array("/orography", &["/lat"], &[1_i16, 2, 3]).unwrap();
    let values: Vec<f32> = (0..3).map(|at| (number * 3 + at) as f32).collect();
    let mut t = store.array("/t", &["/lat"], &values).unwrap();
    t = t.attribute("coordinates", "time height orography");
    t.chunk(&[2]);
    store.texts("/label", &["/lat"], &[&format!("a{number}"), "b", ""]).unwrap();
    store
}

fn members(folder: &Path, numbers: &[i32], suffix: &str) -> Vec<PathBuf> {
    numbers.iter().map(|number| write(folder, &format!("member{number}.{suffix}"), member(*number))).collect()
}

fn new(name: &str) -> JoinOptions {
    JoinOptions { along: Along::New(name.into()), ..JoinOptions::default() }
}

fn dimensions(source: &dyn Source, of: &str) -> Vec<String> {
    let path = node_path(of);
    let node = source.load(&source.find(&path).unwrap().handle).unwrap();
    let shape = node.shape(&path).unwrap();
    shape.dims().iter().map(|dim| dim.coordinate.as_ref().map_or("", |path| path.name()).to_owned()).collect()
}

#[test]
fn data_variables_and_scalars_that_differ_lie_along_a_new_dimension() {
    let folder = tempfile::tempdir().unwrap();
    for suffix in ["zarr", "nc", "h5", "tdb"] {
        let joined = Joined::open(&members(folder.path(), &[3, 4, 5], suffix), &new("member")).unwrap();
        assert_eq!(
            (joined.along().path(), joined.gaps()),
            (Some(&node_path("/member")), &[][..]),
            "{suffix}"
        );
        assert_eq!(joined.lengths(), [1, 1, 1]);
        let source = joined.shared();
        for (array, expected) in [
            ("/t", &["member", "lat"][..]),
            ("/label", &["member", "lat"]),
            ("/member", &["member"]),
            ("/time", &["member"]),
            ("/time_bounds", &["member", "bound"]),
            ("/height", &[]),
            ("/orography", &["lat"]),
            ("/lat", &["lat"]),
        ] {
            assert_eq!(dimensions(&*source, array), expected, "{suffix} {array}");
        }
        assert!(matches!(
            source.load(&source.find(&node_path("/member")).unwrap().handle).unwrap(),
            Node::DimCoord(_)
        ));
        let file = File::from(source);
        let read = |array: &str, select: &Select| file.array(array).unwrap().cast::<f64>(select).unwrap();
        assert_eq!(read("/t", &Select::all()), (9..18).map(f64::from).collect::<Vec<_>>(), "{suffix}");
        let part = Select::all().dim("member", vec![0, 2]).dim("lat", 1..3);
        assert_eq!(read("/t", &part), [10.0, 11.0, 16.0, 17.0]);
        assert!(read("/t", &Select::all().dim("member", 1..1)).is_empty());
        assert_eq!(read("/member", &Select::all()), [3.0, 4.0, 5.0]);
        assert_eq!(read("/time", &Select::all()), [18.0, 24.0, 30.0]);
        assert_eq!(read("/time_bounds", &Select::all()), [18.0, 24.0, 24.0, 30.0, 30.0, 36.0]);
        assert_eq!(read("/height", &Select::all()), [2.0]);
        let texts = file.array("/label").unwrap().strings(&Select::all(), Utf8::Strict).unwrap();
        let texts: Vec<&str> = texts.iter().collect();
        assert_eq!(texts, ["a3", "b", "", "a4", "b", "", "a5", "b", ""], "{suffix}");
    }
}

/// The elements of a region of an array in row-major order.
fn rows(source: &dyn Source, of: &str, region: &Region) -> Vec<u8> {
    let array = source.array(&source.find(&node_path(of)).unwrap().handle).unwrap();
    array.values(region).unwrap().rows.to_vec()
}

#[test]
fn regions_are_those_of_each_store_behind_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let paths = members(folder.path(), &[0, 1, 2, 3], "nc");
    let joined = Joined::open(&paths, &new("member")).unwrap().shared();
    let stores: Vec<_> = paths.iter().map(|path| open(path, &OpenOptions::default()).unwrap()).collect();
    for start in 0..4_u64 {
        for count in 0..=(4 - start) {
            for step in 1..3_u64 {
                let count = count.min((4 - start).div_ceil(step));
                let region = Region { start: vec![start, 1], count: vec![count, 2], step: vec![step, 1] };
                let of = |at: u64| &*stores[usize::try_from(start + at * step).unwrap()];
                let own = Region { start: vec![1], count: vec![2], step: vec![1] };
                let expected: Vec<u8> = (0..count).flat_map(|at| rows(of(at), "/t", &own)).collect();
                assert_eq!(rows(&*joined, "/t", &region), expected, "{region:?}");
            }
        }
    }
}

#[test]
fn chunks_are_copied_as_they_are_stored() {
    let folder = tempfile::tempdir().unwrap();
    let paths = members(folder.path(), &[0, 1], "zarr");
    let joined = Joined::open(&paths, &new("member")).unwrap().shared();
    let array = joined.array(&joined.find(&node_path("/t")).unwrap().handle).unwrap();
    assert_eq!((array.chunk(), array.stored_form().unwrap().chunk), (&[1, 2][..], vec![1, 2]));
    let second = open(&paths[1], &OpenOptions::default()).unwrap();
    let own = second.array(&second.find(&node_path("/t")).unwrap().handle).unwrap();
    let (mut stored, mut expected) = (Vec::new(), Vec::new());
    let StoredChunk::Here { len, .. } = array.stored_chunk(&[1, 2], &mut stored).unwrap() else {
        panic!("no chunk")
    };
    let StoredChunk::Here { len: of, .. } = own.stored_chunk(&[2], &mut expected).unwrap() else {
        panic!("no chunk")
    };
    assert_eq!(stored[..len], expected[..of]);
    let mut places = Vec::new();
    array
        .chunk_places(ChunkLevel::Outer, &mut |place| {
            places.push(place.start.to_vec());
            Ok(())
        })
        .unwrap();
    places.sort();
    assert_eq!(places, [[0, 0], [0, 2], [1, 0], [1, 2]]);
}

#[test]
fn a_dimension_without_a_variable_has_no_coordinates() {
    let folder = tempfile::tempdir().unwrap();
    let joined = Joined::open(&members(folder.path(), &[7, 5], "nc"), &new("run")).unwrap();
    assert_eq!(joined.notes(), ["run has no coordinates, so the order of the files was not checked"]);
    let source = joined.shared();
    assert_eq!(dimensions(&*source, "/t"), ["run", "lat"]);
    // It differs between the stores, so it is one of the data variables.
    assert_eq!(dimensions(&*source, "/member"), ["run"]);
    let run = source.find(&node_path("/run")).unwrap();
    let Node::DimCoord(run) = source.load(&run.handle).unwrap() else { panic!("no dimension") };
    assert_eq!((run.size.current(), run.datatype), (2, None));
}

#[test]
fn a_dimension_without_a_variable_keeps_its_name_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let run = |number: i32| {
        let mut store = StoreBuilder::new();
        store.group("/in").unwrap();
        store.dimension("/in/x", 2).unwrap();
        store.array("/in/t", &["/in/x"], &[number, number + 1]).unwrap();
        store.array("/s", &[], &[number]).unwrap();
        write(folder.path(), &format!("run{number}.nc"), store)
    };
    let paths = [run(1), run(2)];
    for name in ["all.nc", "all.h5", "all.zarr", "all.tdb", "in.nc"] {
        let path = name.starts_with("in").then(|| "/in".to_owned());
        let joined =
            Joined::open(&paths, &JoinOptions { path: path.clone(), ..new("run") }).unwrap().shared();
        let target = written(folder.path(), name, &*joined, path.as_deref());
        let found = open(&target, &OpenOptions::default()).unwrap();
        assert_eq!(dimensions(&*found, "/in/t"), ["run", "x"], "{name}");
        assert_eq!(found.find(&node_path("/s")).is_ok(), path.is_none());
    }
    let error = refused(Joined::open(&paths, &new("/in/run")));
    assert!(error.contains("/s is not below the group of the new dimension /in/run"), "{error}");
    let error = refused(Joined::open(&paths, &new("/out/run")));
    assert!(error.contains("no group for the new dimension /out/run"), "{error}");
    // A file with a variable of this name is not joined with a file without it.
    let mut other = StoreBuilder::new();
    other.group("/in").unwrap();
    other.dimension("/in/x", 2).unwrap();
    other.array("/in/t", &["/in/x"], &[5, 6]).unwrap();
    other.array("/s", &[], &[7]).unwrap();
    other.array("/run", &[], &[7]).unwrap();
    let other = write(folder.path(), "other.nc", other);
    let error = refused(Joined::open(&[paths[0].clone(), other], &new("run")));
    assert!(
        error.contains("has the name of the new dimension, and ") && error.contains("other.nc"),
        "{error}"
    );
}

#[test]
fn stores_are_put_in_the_order_of_their_scalars() {
    let folder = tempfile::tempdir().unwrap();
    let paths = members(folder.path(), &[9, 2, 4], "nc");
    let joined = Joined::open(&paths, &JoinOptions { sort: true, ..new("member") }).unwrap();
    let file = File::from(joined.shared());
    assert_eq!(file.array("/member").unwrap().read::<i32>(&Select::all()).unwrap(), [2, 4, 9]);
    let same = ["a.zarr", "b.zarr"].map(|name| write(folder.path(), name, member(1)));
    assert!(refused(Joined::open(&same, &new("member"))).contains("overlaps"));
}

#[test]
fn what_is_not_new_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let paths = members(folder.path(), &[0, 1], "nc");
    let error = refused(Joined::open(&paths, &new("lat")));
    assert!(error.contains("the stores have the dimension lat, so it is not a new one"), "{error}");
    let error = refused(Joined::open(&paths, &new("orography")));
    assert!(
        error.contains("has the name of the new dimension orography, expected a variable without dimensions"),
        "{error}"
    );
    let along = JoinOptions { along: Along::Named("member".into()), ..JoinOptions::default() };
    let error = refused(Joined::open(&paths, &along));
    assert!(
        error.contains("member is a variable without dimensions, and no dimension of the stores"),
        "{error}"
    );
    // Coordinates of other dimensions must be the same.
    let other = write(folder.path(), "other.nc", member_at(2, &[10.0, 20.0, 31.0]));
    let error = refused(Joined::open(&[paths[0].clone(), other], &new("member")));
    assert!(error.contains("/lat") && error.contains("has other values"), "{error}");
}

#[test]
fn one_object_is_joined_with_what_describes_it() {
    let folder = tempfile::tempdir().unwrap();
    let paths = members(folder.path(), &[0, 1], "nc");
    let options = JoinOptions { path: Some("/t".into()), ..new("member") };
    let joined = Joined::open(&paths, &options).unwrap().shared();
    let shown = |of: &str| joined.find(&node_path(of)).is_ok();
    assert!(["/t", "/member", "/time", "/time_bounds", "/height", "/lat"].into_iter().all(shown));
    assert!(!shown("/label"));
    let member = File::from(joined).array("/member").unwrap().read::<i32>(&Select::all()).unwrap();
    assert_eq!(member, [0, 1]);
}
