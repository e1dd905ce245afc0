//! HDF5 files written by the command: `repack`, and requests that are refused before anything is written.

use crate::command::{Ran, examples, prepared, ran};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

fn run(folder: &Path, args: &[&str]) -> Ran {
    ran(prepared(args).current_dir(folder).output().unwrap())
}

#[test]
fn repacked_files_hold_the_same_in_the_same_storage() {
    let folder = TempDir::new().unwrap();
    let mut repacked = 0;
    for entry in fs::read_dir(examples()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let source = path.to_str().unwrap();
        if ![".h5", ".nc", ".nxs"].iter().any(|suffix| name.ends_with(suffix)) {
            continue;
        }
        let done = run(folder.path(), &["repack", "-q", "--verify", source, name]);
        assert_eq!((done.code, done.messages.as_str()), (0, ""), "{name}");
        let diff = run(folder.path(), &["diff", "--raw", "--storage", source, name]);
        assert_eq!((diff.code, diff.answer.as_str()), (0, ""), "{name}");
        repacked += 1;
    }
    assert!(repacked > 8, "{repacked}");
}

#[test]
fn layout_and_options_change_what_repack_keeps() {
    let folder = TempDir::new().unwrap();
    let source = examples().join("ocean.nc");
    let source = source.to_str().unwrap();
    let args =
        ["repack", "-q", source, "a.nc", "-f", "deflate=1", "-O", "hdf5.paged", "-O", "hdf5.libver=v1.10"];
    let done = run(folder.path(), &args);
    assert_eq!((done.code, done.messages.as_str()), (0, ""));
    let about = run(folder.path(), &["describe", "--raw", "--storage", "full", "a.nc"]);
    assert!(about.answer.contains("page_size: 4096"), "{}", about.answer);
    let checked = run(folder.path(), &["check", "-q", "a.nc"]);
    assert_eq!(checked.code, 0, "{}", checked.answer);
    let diff = run(folder.path(), &["diff", source, "a.nc"]);
    assert_eq!((diff.code, diff.answer.as_str()), (0, ""));
    let store = examples().join("floats.zarr");
    let done = run(folder.path(), &["repack", "-q", store.to_str().unwrap(), "b"]);
    assert_eq!((done.code, done.messages.as_str()), (0, ""));
    assert!(folder.path().join("b/.zgroup").is_file());
}

#[test]
fn what_leads_nowhere_is_named_before_a_file_is_written() {
    let folder = TempDir::new().unwrap();
    let data = examples().join("../crates/hdf5/tests/data");
    let copy =
        |name: &str| fs::copy(data.join(name), folder.path().join(name.rsplit('/').next().unwrap())).unwrap();
    // Two virtual datasets, each the source of the other.
    copy("virtual/cycle.h5");
    copy("virtual/cycle_b.h5");
    for args in [&["convert", "cycle.h5", "out.h5"][..], &["convert", "-n", "cycle.h5", "out.h5"]] {
        let refused = run(folder.path(), args);
        assert_eq!(refused.code, 1, "{}{}", refused.answer, refused.messages);
        assert!(
            refused.answer.contains("cannot be read") && refused.answer.contains("lost unreadable"),
            "{}",
            refused.answer
        );
        assert!(!folder.path().join("out.h5").exists());
    }
    // A reference to an array whose only chunk is damaged. What leads to the array is also lost.
    let text = "ndarrays:\n  to: {shape: [2], type: objref, value: [/x, /y]}\n  \
                x: {shape: [64], type: int32, storage: {chunk: [64], filter: [fletcher32]}, value: [VALUES]}\n  \
                y: {shape: [], type: int32, value: 1}\n";
    let values: Vec<String> = (1_000..1_064).map(|value| value.to_string()).collect();
    fs::write(folder.path().join("to.yaml"), text.replace("VALUES", &values.join(", "))).unwrap();
    assert_eq!(run(folder.path(), &["create", "-q", "to.yaml", "to.h5"]).code, 0);
    let mut bytes = fs::read(folder.path().join("to.h5")).unwrap();
    let chunk: Vec<u8> = (1_000..1_064_i32).flat_map(i32::to_le_bytes).collect();
    let at = bytes.windows(chunk.len()).position(|part| part == chunk).unwrap();
    bytes[at] ^= 1;
    fs::write(folder.path().join("to.h5"), bytes).unwrap();
    let args = ["convert", "to.h5", "out.h5", "-c", "/x:none", "-f", "none", "--allow-loss", "unreadable"];
    let refused = run(folder.path(), &args);
    assert_eq!(refused.code, 2, "{}{}", refused.answer, refused.messages);
    let said = format!("{}{}", refused.answer, refused.messages);
    assert!(
        said.contains("references to objects that are not converted")
            || said.contains("--allow-loss references"),
        "{said}"
    );
    assert!(!folder.path().join("out.h5").exists());
    let done = run(folder.path(), &[&args[..8], &["unreadable,references"]].concat());
    assert_eq!(done.code, 0, "{}{}", done.answer, done.messages);
    let shown = run(folder.path(), &["show", "out.h5:/to"]);
    assert!(shown.answer.contains("/y") && !shown.answer.contains("/x"), "{}", shown.answer);
}

#[test]
fn filters_that_are_asked_for_are_applied_again() {
    let folder = TempDir::new().unwrap();
    let values: Vec<String> = (0..20_000_u64).map(|n| (n * n % 977).to_string()).collect();
    let values = values.join(", ");
    let storage = "storage: {chunk: [20000], filter: [{deflate: 1}]}";
    let text = format!("ndarrays:\n  x: {{shape: [20000], type: int32, {storage}, value: [{values}]}}\n");
    fs::write(folder.path().join("x.yaml"), text).unwrap();
    assert_eq!(run(folder.path(), &["create", "-q", "x.yaml", "fast.h5"]).code, 0);
    for (options, target) in [
        (&["-f", "deflate=9"][..], "other.h5"),
        (&["-f", "deflate=1"], "again.h5"),
        (&["-f", "keep"], "kept.h5"),
    ] {
        let args = [&["convert", "-q", "fast.h5", target][..], options].concat();
        assert_eq!(run(folder.path(), &args).code, 0);
        assert_eq!(run(folder.path(), &["diff", "fast.h5", target]).code, 0);
    }
    let size = |name: &str| fs::metadata(folder.path().join(name)).unwrap().len();
    assert_ne!(size("other.h5"), size("fast.h5"), "the chunks are those of the other level");
    assert_eq!((size("again.h5"), size("kept.h5")), (size("fast.h5"), size("fast.h5")));
}

#[test]
fn what_a_file_cannot_hold_is_refused_before_it_is_written() {
    let folder = TempDir::new().unwrap();
    let write = |name: &str, text: String| fs::write(folder.path().join(name), text).unwrap();
    let values = vec!["1"; 9000].join(", ");
    write("attribute.yaml", format!("attributes:\n  a: {{shape: [9000], type: int64, value: [{values}]}}\n"));
    let chunk = "storage: {chunk: [2000, 2000, 2000]}";
    write("chunk.yaml", format!("ndarrays:\n  x: {{shape: [3000, 3000, 3000], type: uint8, {chunk}}}\n"));
    write("long.yaml", "ndarrays:\n  x: {shape: [70000], type: uint8}\n".into());
    write("rank.yaml", format!("ndarrays:\n  x: {{shape: [{}], type: uint8}}\n", vec!["1"; 33].join(", ")));
    for (document, option, object, why) in [
        ("attribute.yaml", "hdf5.libver=earliest", "/", "\"a\" of 72000 bytes does not fit"),
        ("chunk.yaml", "hdf5.libver=v1.8,v1.8", "/x", "chunks of 4 GiB or more need HDF5 v2.0"),
        ("long.yaml", "hdf5.sizes=2", "/x", "lengths of 2 bytes, expected lengths of 4 or 8"),
        ("rank.yaml", "hdf5.libver=v1.8", "/x", "33 dimensions, expected at most 32"),
    ] {
        for dry in [&["-n"][..], &[]] {
            let args = [&["create", document, "out.h5", "-O", option][..], dry].concat();
            let refused = run(folder.path(), &args);
            assert_eq!(refused.code, 1, "{document}: {}{}", refused.answer, refused.messages);
            assert!(refused.answer.contains(object) && refused.answer.contains(why), "{}", refused.answer);
            assert!(!folder.path().join("out.h5").exists());
        }
    }
    let source = examples().join("ocean.nc");
    let source = source.to_str().unwrap();
    for (options, why) in [
        (&["-O", "hdf5.libver=v1.8,earliest"][..], "the high bound cannot be earliest"),
        (&["-O", "hdf5.paged", "-O", "hdf5.libver=v1.8,v1.8"], "paged file space, which v1.8 cannot read"),
        (&["-O", "hdf5.userblock=1000"], "expected 0 or a power of two"),
    ] {
        let args = [&["convert", "-n", source, "out.h5"][..], options].concat();
        let refused = run(folder.path(), &args);
        assert!(refused.code == 2 && refused.messages.contains(why), "{}", refused.messages);
    }
    fs::copy(source, folder.path().join("own.h5")).unwrap();
    let refused = run(folder.path(), &["repack", "own.h5", "./own.h5", "--overwrite"]);
    assert!(refused.code == 2 && refused.messages.contains("is the source itself"), "{}", refused.messages);
}

#[test]
fn repack_knows_dimensions_by_their_names() {
    let folder = TempDir::new().unwrap();
    fs::copy(examples().join("ocean.nc"), folder.path().join("ocean.nc")).unwrap();
    let packed =
        run(folder.path(), &["repack", "ocean.nc", "new.nc", "-c", "time=2,lat=1", "-q", "--verify"]);
    assert_eq!(packed.code, 0, "{}", packed.messages);
    let chunks = |path: &str| run(folder.path(), &["stat", "--json", &format!("new.nc:{path}")]).answer;
    assert!(chunks("/salinity").contains("\"shape\":[2,1,1,8],\"written\""), "{}", chunks("/salinity"));
    // As in other conversions, the option applies to coordinates only if they are named.
    assert!(!chunks("/lat").contains("\"chunks\""), "{}", chunks("/lat"));
    let misspelt = run(folder.path(), &["repack", "ocean.nc", "other.nc", "-c", "tiem=2"]);
    let expected = "error: ocean.nc: -c tiem=2: no array has a dimension tiem\n  help: did you mean time?\n";
    assert_eq!((misspelt.code, misspelt.messages.as_str()), (2, expected));
}

#[test]
fn repack_writes_no_name_of_another_format() {
    let folder = TempDir::new().unwrap();
    fs::copy(examples().join("ocean.nc"), folder.path().join("ocean.nc")).unwrap();
    assert_eq!(run(folder.path(), &["convert", "-q", "ocean.nc", "ocean.zarr"]).code, 0);
    for (source, target, expected) in [
        ("ocean.nc", "new.zarr", "convert writes Zarr v3; names of HDF5 end in .h5 .hdf5 .he5"),
        ("ocean.nc", "new.tdb", "convert writes TileDB; names of HDF5 end in .h5 .hdf5 .he5"),
        ("ocean.zarr", "new.nc", "convert writes netcdf4; names of Zarr v3 end in .zarr"),
    ] {
        let refused = run(folder.path(), &["repack", source, target]);
        assert_eq!(refused.code, 2, "{source} {target}");
        assert!(refused.messages.contains(expected), "{}", refused.messages);
        assert!(!folder.path().join(target).exists());
    }
    for (source, target) in [
        ("ocean.nc", "a.h5"),
        ("ocean.nc", "a.nc4"),
        ("ocean.nc", "a.part"),
        ("ocean.zarr", "b.zarr"),
        ("ocean.zarr", "b"),
    ] {
        let written = run(folder.path(), &["repack", "-q", source, target]);
        assert_eq!(written.code, 0, "{source} {target}: {}", written.messages);
    }
}

#[test]
fn deflate_is_asked_for_as_gzip_too() {
    let folder = TempDir::new().unwrap();
    let source = examples().join("ocean.nc");
    for target in ["a.nc", "a.h5"] {
        let written =
            run(folder.path(), &["convert", "-q", source.to_str().unwrap(), target, "-f", "shuffle,gzip=4"]);
        assert_eq!(written.code, 0, "{}", written.messages);
        let described = run(folder.path(), &["describe", &format!("{target}:/salinity")]).answer;
        assert!(described.contains("filter: [shuffle, {deflate: 4}]"), "{described}");
    }
    let unknown = run(folder.path(), &["convert", source.to_str().unwrap(), "b.nc", "-f", "zip"]);
    assert!(unknown.messages.contains("did you mean deflate?"), "{}", unknown.messages);
}
