//! Dimensions, hidden attributes and signatures of files that the NetCDF library and other programs wrote.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests may panic")]

use hyperslab_core::Limits;
use hyperslab_core::storage::{Fault, Faulty, FileStorage};
use hyperslab_hdf5::{File, Link, Object, ObjectKind};
use hyperslab_netcdf4::{Owner, Scale, dimension_labels, dimensions, is_hidden, is_netcdf4};
use std::path::{Path, PathBuf};

/// The path of an example file, or of a file of these tests if it starts with `data/`.
fn path(name: &str) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    match name.strip_prefix("data/") {
        Some(name) => here.join("tests/data").join(name),
        None => here.join("../../examples").join(name),
    }
}

fn open(name: &str) -> File {
    File::open(Box::new(FileStorage::open(path(name)).unwrap()), Limits::default()).unwrap()
}

fn object(file: &File, path: &str) -> Object {
    let names = path.split('/').filter(|name| !name.is_empty());
    names.fold(file.root().unwrap(), |group, name| {
        let link = group.link(file, name.as_bytes()).unwrap().unwrap_or_else(|| panic!("no {path}"));
        file.object(link.address().unwrap()).unwrap()
    })
}

/// Checks that the scales of a variable are those at `scales`; `-` stands for no scale.
fn assert_dimensions(file: &File, variable: &str, scales: &[&str]) {
    let found = dimensions(file, &object(file, variable)).unwrap();
    let expected: Vec<_> =
        scales.iter().map(|scale| (*scale != "-").then(|| object(file, scale).address())).collect();
    assert_eq!(found, expected, "{variable}");
}

#[test]
fn variables_refer_to_the_scales_of_their_dimensions() {
    let file = open("ocean.nc");
    assert_dimensions(&file, "/temperature", &["/time", "/depth", "/lat", "/lon"]);
    assert_dimensions(&file, "/waves/energy", &["/time", "/waves/frequency", "/waves/direction"]);
    assert_dimensions(&file, "/crs", &[]);
    // A coordinate variable is its own dimension and has no list.
    assert_dimensions(&file, "/lat", &[]);
}

#[test]
fn a_dimension_of_a_group_hides_that_of_its_parent() {
    let file = open("nested_groups.nc");
    assert_dimensions(&file, "/inner/own_x", &["/inner/x"]);
    assert_dimensions(&file, "/inner/root_y", &["/y"]);
    assert_dimensions(&file, "/inner/deep/both", &["/inner/deep/z", "/inner/x"]);
    assert_dimensions(&file, "/beside/root_x", &["/x", "/y"]);
}

#[test]
fn the_first_of_several_scales_is_used_and_others_may_be_missing() {
    let file = open("h5netcdf_style.h5");
    assert_dimensions(&file, "/both", &["/lat", "/lon"]);
    assert_dimensions(&file, "/only_first", &["/lat", "-"]);
    assert_dimensions(&file, "/two_scales", &["/lat"]);
    assert_dimensions(&file, "/group/above", &["/lon"]);
    assert_dimensions(&file, "/bare", &[]);
    let labels = dimension_labels(&file, &object(&file, "/both")).unwrap();
    assert_eq!(labels, [b"latitude".to_vec(), b"longitude".to_vec()]);
    assert!(dimension_labels(&file, &object(&file, "/bare")).unwrap().is_empty());
}

#[test]
fn scales_are_coordinate_variables_or_pure_dimensions() {
    let file = open("ocean.nc");
    let scale = |path: &str| Scale::of(&file, &object(&file, path)).unwrap();
    assert!(scale("/bound").unwrap().pure);
    assert!(scale("/waves/direction").unwrap().pure);
    let lat = scale("/lat").unwrap();
    assert_eq!((lat.pure, lat.name.as_slice()), (false, &b"lat"[..]));
    assert_eq!(scale("/temperature"), None);
    assert_eq!(scale("/crs"), None);
    assert_eq!(Scale::of(&file, &object(&file, "/waves")).unwrap(), None);
    let file = open("h5netcdf_style.h5");
    let lon = Scale::of(&file, &object(&file, "/lon")).unwrap().unwrap();
    assert_eq!((lon.pure, lon.name.as_slice()), (false, &b""[..]));
}

#[test]
fn dimensions_are_numbered_in_definition_order() {
    let file = open("ocean.nc");
    let id = |path: &str| Scale::dimension_id(&file, &object(&file, path)).unwrap();
    for (number, name) in (0..).zip(["/time", "/depth", "/lat", "/lon", "/bound", "/name_len"]) {
        assert_eq!(id(name), Some(number), "{name}");
    }
    assert_eq!(id("/crs"), None);
}

#[test]
fn an_unlimited_dimension_is_as_long_as_its_longest_variable() {
    let file = open("unlimited.nc");
    let longest = |path: &str| Scale::longest_variable(&file, &object(&file, path)).unwrap();
    assert_eq!(longest("/profile"), 4);
    // `grid` and `cube` both have it, as their second and third dimension.
    assert_eq!(longest("/level"), 3);
    assert_eq!(longest("/never"), 0);
    assert_eq!(longest("/grid"), 0);
}

#[test]
fn recognises_netcdf4_files_with_and_without_signature() {
    for name in [
        "ocean.nc",
        "classic_model.nc",
        "unlimited.nc",
        "data/unsigned_dimension.nc",
        "data/unsigned_coordinates.nc",
        "data/unsigned_classic.nc",
    ] {
        assert!(is_netcdf4(&open(name)).unwrap(), "{name}");
    }
    for name in ["datatypes.h5", "groups_old.h5", "groups_new.h5", "h5netcdf_style.h5", "data/scales.h5"] {
        assert!(!is_netcdf4(&open(name)).unwrap(), "{name}");
    }
}

#[test]
fn hides_attributes_only_where_they_represent_structure() {
    let scale = Owner { scale: true, dataset: true, root: false };
    let variable = Owner { scale: false, ..scale };
    let root = Owner { scale: false, dataset: false, root: true };
    for name in ["CLASS", "NAME", "REFERENCE_LIST"] {
        assert!(is_hidden(name, scale) && !is_hidden(name, variable) && !is_hidden(name, root), "{name}");
    }
    for name in ["DIMENSION_LIST", "DIMENSION_LABELS", "_Netcdf4Dimid", "_Netcdf4Coordinates"] {
        assert!(is_hidden(name, scale) && is_hidden(name, variable) && !is_hidden(name, root), "{name}");
    }
    for name in ["_NCProperties", "_nc3_strict"] {
        assert!(is_hidden(name, root) && !is_hidden(name, variable), "{name}");
    }
    assert!(!is_hidden("_FillValue", variable) && !is_hidden("units", scale));
}

/// Reads everything that this crate can read from every object of a file.
fn exhaust(file: &File) -> hyperslab_core::Result<()> {
    is_netcdf4(file)?;
    let mut pending = vec![file.root_address()];
    while let Some(address) = pending.pop() {
        let object = file.object(address)?;
        match object.kind() {
            ObjectKind::Group => pending.extend(object.links(file)?.iter().filter_map(Link::address)),
            ObjectKind::Dataset => {
                dimensions(file, &object)?;
                dimension_labels(file, &object)?;
                if Scale::of(file, &object)?.is_some() {
                    Scale::dimension_id(file, &object)?;
                    Scale::longest_variable(file, &object)?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

#[test]
fn every_failing_read_gives_an_error() {
    let bytes = bytes::Bytes::from(std::fs::read(path("nested_groups.nc")).unwrap());
    let whole = std::sync::Arc::new(Faulty::new(bytes.clone(), Fault::PastOffset(u64::MAX)));
    exhaust(&File::open(Box::new(whole.clone()), Limits::default()).unwrap()).unwrap();
    for number in 0..whole.reads() {
        let faulty = Faulty::new(bytes.clone(), Fault::FromRead(number));
        let done = File::open(Box::new(faulty), Limits::default()).and_then(|file| exhaust(&file));
        assert!(done.is_err(), "the failure of read {number} gave no error");
    }
}
