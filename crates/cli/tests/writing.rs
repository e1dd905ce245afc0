//! Reports, refusals and verification of the verbs that write.

use crate::command::{Ran, examples, prepared, ran};
use std::fs;
use std::path::Path;
use std::process::Stdio;

/// Runs the command in the folder of the example files. `IN` stands for a temporary folder.
fn run(folder: &Path, args: &[&str]) -> Ran {
    let args = args.iter().map(|word| word.replace("IN", folder.to_str().unwrap()));
    ran(prepared(args).output().unwrap())
}

#[test]
fn writes_the_store_even_if_the_report_is_not_read() {
    for words in [["convert", "ocean.nc"], ["create", "buoys.yaml"]] {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("target.zarr");
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = prepared(words);
        let status = command.arg(&target).stdout(writer).stderr(Stdio::null()).status().unwrap();
        assert_eq!(status.code(), Some(0), "{words:?}");
        assert!(target.join("zarr.json").exists(), "{words:?}");
    }
}

#[test]
fn elements_changed_by_filters_are_a_loss() {
    let folder = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| run(folder.path(), args);
    for filter in ["bitround=3", "[{delta: {type: \"<f4\"}}]", "quantize=0"] {
        let filter = format!("/salinity:{filter}");
        let refused = run(&["convert", "ocean.nc", "IN/refused.zarr", "-f", &filter]);
        assert_eq!(refused.code, 1, "{}", refused.messages);
        assert!(refused.answer.contains("lost precision"), "{}", refused.answer);
        assert!(refused.messages.contains("--allow-loss precision"), "{}", refused.messages);
        let knowingly =
            ["convert", "ocean.nc", "IN/a.zarr", "-f", &filter, "--allow-loss", "precision", "--verify"];
        for format in ["zarr3", "zarr2"] {
            let ran = run(&[&knowingly[..], &["--overwrite", "--format", format]].concat());
            assert_eq!(ran.code, 0, "{}", ran.messages);
            // Elements that the filters have already changed are not changed again, whatever the chunks.
            for again in ["zarr3", "zarr2"] {
                let ran = run(&[
                    "convert",
                    "IN/a.zarr",
                    "IN/b.zarr",
                    "-c",
                    "time=1",
                    "--verify",
                    "--overwrite",
                    "--format",
                    again,
                ]);
                assert_eq!(ran.code, 0, "{filter} {format} {again}: {}", ran.messages);
                assert!(!ran.answer.contains("lost"), "{}", ran.answer);
                assert_eq!(ran.answer.contains("filter delta"), filter.contains("delta"), "{}", ran.answer);
            }
        }
    }
}

#[test]
fn requested_filters_are_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    for (filter, expected) in [
        ("deflate=10", "filter deflate: level 10, expected a number from 0 to 9"),
        ("deflate=-1", "filter deflate: level -1, expected a number from 0 to 9"),
        ("zstd=x", "filter zstd: level \"x\", expected a number from -131072 to 22"),
        ("zstd=100", "filter zstd: level 100"),
        ("blosc=nope", "filter blosc: codec \"nope\", expected one of blosclz, lz4,"),
        ("quantize", "filter quantize: the parameter digits is missing"),
        ("zstandard", "did you mean zstd?"),
        ("astype", "filter astype: the parameter to is missing"),
        ("fixedscaleoffset", "filter fixedscaleoffset: the parameter offset is missing"),
        ("nbit", "filter nbit: Zarr has no filter of this name"),
        ("bitround=60", "filter bitround: "),
        (
            "[{fixedscaleoffset: {offset: 0, scale: 100, to: \"|u1\"}}]",
            "the filters reject an element: chunk c/0/0/0/0: ",
        ),
    ] {
        let ran =
            run(folder.path(), &["convert", "ocean.nc", "IN/a.zarr", "-f", &format!("/salinity:{filter}")]);
        assert_eq!(ran.code, 2, "{filter}: {}{}", ran.answer, ran.messages);
        assert!(ran.messages.contains(expected), "{filter}: {}", ran.messages);
        assert!(!folder.path().join("a.zarr").exists());
    }
}

#[test]
fn filters_become_codecs_of_the_specification_unless_they_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| run(folder.path(), args);
    let document =
        |store: &str| fs::read_to_string(folder.path().join(store).join("grid/zarr.json")).unwrap();
    let ran = run(&["convert", "unlimited.nc", "IN/a.zarr", "--verify"]);
    assert_eq!(ran.code, 0, "{}", ran.messages);
    assert!(ran.answer.contains("filters shuffle, deflate"), "{}", ran.answer);
    assert!(ran.answer.contains("Blosc with zlib"), "{}", ran.answer);
    let written = document("a.zarr");
    assert!(written.contains("\"blosc\"") && !written.contains("numcodecs"), "{written}");
    for (asked, version) in [("keep", "zarr3"), ("shuffle,deflate=2", "zarr3"), ("keep", "zarr2")] {
        let ran = run(&[
            "convert",
            "unlimited.nc",
            "IN/b.zarr",
            "-f",
            asked,
            "--format",
            version,
            "--overwrite",
            "--verify",
        ]);
        assert_eq!(ran.code, 0, "{}", ran.messages);
        let said = ran.answer.contains("codecs that only readers with numcodecs have");
        assert_eq!(said, version == "zarr3", "{}", ran.answer);
        if version == "zarr3" {
            let written = document("b.zarr");
            assert!(written.contains("numcodecs.shuffle") && written.contains("numcodecs.zlib"), "{written}");
        }
    }
}

#[test]
fn counts_and_names_objects_that_cannot_be_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| run(folder.path(), args);
    let options = ["-c", "/salinity:1,5,3,8", "-f", "/salinity:fletcher32", "--verify"];
    let ran = run(&[&["convert", "ocean.nc", "IN/a.zarr"], &options[..]].concat());
    assert_eq!(ran.code, 0, "{}", ran.messages);
    let last = folder.path().join("a.zarr/salinity/c/3/0/0/0");
    let mut bytes = fs::read(&last).unwrap();
    bytes[7] ^= 0x10;
    fs::write(&last, bytes).unwrap();
    let ran = run(&["convert", "IN/a.zarr", "IN/b.zarr", "-f", "keep", "--verify"]);
    assert_eq!(ran.code, 1, "{}", ran.messages);
    assert!(ran.messages.contains(" digests equal, 1 could not be read"), "{}", ran.messages);
    assert!(ran.messages.contains("/salinity: cannot be read in the source: "), "{}", ran.messages);
    let ran =
        run(&["convert", "IN/a.zarr", "IN/c.zarr", "-f", "keep", "--verify", "--allow-loss", "unreadable"]);
    assert_eq!(ran.code, 0, "{}", ran.messages);
    assert!(ran.messages.contains("1 could not be read"), "{}", ran.messages);
}

#[test]
fn a_link_as_source_stands_for_its_target() {
    let folder = tempfile::tempdir().unwrap();
    for (path, object) in [("/loop/c/d/data", "/same"), ("/a/b/c", "/loop/c"), ("/same", "/same")] {
        let ran = run(
            folder.path(),
            &[
                "convert",
                &format!("groups_old.h5:{path}"),
                "IN/a.zarr",
                "--overwrite",
                "--verify",
                "--allow-loss",
                "links",
            ],
        );
        assert_eq!(ran.code, 0, "{path}: {}", ran.messages);
        let paths = run(folder.path(), &["ls", "-1", "-r", "IN/a.zarr"]).answer;
        assert!(paths.lines().any(|line| line == object), "{path}: {paths}");
    }
}

#[test]
fn references_to_omitted_objects_are_a_loss() {
    let folder = tempfile::tempdir().unwrap();
    let text = "ndarrays:\n  a: {shape: [], type: int8, value: 1}\n  r:\n    shape: [2]\n    type: objref\n    value: [/r, /a]\n";
    fs::write(folder.path().join("r.yaml"), text).unwrap();
    let whole = run(folder.path(), &["convert", "IN/r.yaml", "IN/whole.zarr"]);
    assert_eq!(whole.code, 0, "{}", whole.messages);
    for source in ["IN/r.yaml:/r", "IN/whole.zarr:/r"] {
        let ran = run(folder.path(), &["convert", source, "IN/part.zarr"]);
        assert_eq!(ran.code, 1, "{}", ran.messages);
        assert!(ran.answer.contains("lost references"), "{}", ran.answer);
    }
}

#[test]
fn rejects_invalid_format_options() {
    let folder = tempfile::tempdir().unwrap();
    for (option, expected) in [
        ("zarr.struct=x", "expected zarr.struct=registered or seed or legacy"),
        ("zarr.struct", "expected zarr.struct=registered or seed or legacy"),
        ("zarr.consolidated=no", "expected zarr.consolidated=true or false"),
    ] {
        for words in [["convert", "ocean.nc"], ["create", "buoys.yaml"]] {
            for dry in [&["-n"][..], &[]] {
                let ran = run(folder.path(), &[&words[..], &["IN/a.zarr", "-O", option], dry].concat());
                assert_eq!(ran.code, 2, "{option}: {}", ran.messages);
                assert!(ran.messages.contains(expected), "{option}: {}", ran.messages);
            }
        }
    }
}

#[test]
fn a_dry_run_of_create_reports_everything_that_prevents_it() {
    let folder = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| run(folder.path(), &[&["create", "-n", "buoys.yaml"], args].concat());
    assert!(run(&["IN/a.zarr"]).answer.contains("enumeration"), "{}", run(&["IN/a.zarr"]).answer);
    let lossy = run(&["--format", "zarr", "-f", "/height:bitround=3"]);
    assert_eq!(lossy.code, 1, "{}", lossy.messages);
    assert!(lossy.answer.contains("lost precision"), "{}", lossy.answer);
    let laid_out = run(&["-c", "/height:2,2", "-f", "/height:zstd"]).answer;
    assert!(laid_out.contains("[2, 2]  zstd"), "{laid_out}");
    for (args, expected) in [
        (&["--allow-loss", "bogus"][..], "unknown kind of loss \"bogus\""),
        (&["IN/no_format"], "has no suffix of a format"),
        (&["-c", "/hieght:1,1"], "buoys.yaml: -c /hieght:1,1: no array matches /hieght"),
        (&["-c", "/height:1"], "1 sides, the array has 2 dimensions"),
    ] {
        let ran = run(args);
        assert_eq!(ran.code, 2, "{args:?}: {}", ran.messages);
        assert!(ran.messages.contains(expected), "{args:?}: {}", ran.messages);
    }
}

#[test]
fn accepts_spaces_in_lists_and_rejects_negative_tolerances() {
    let folder = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| run(folder.path(), args);
    let ran = run(&["convert", "ocean.nc", "IN/a.zarr", "--allow-loss", "links, types"]);
    assert_eq!(ran.code, 0, "{}", ran.messages);
    let ran = run(&["convert", "ocean.nc", "-"]);
    assert_eq!(ran.code, 2);
    assert!(ran.messages.contains("./- is the file of that name"), "{}", ran.messages);
    for option in ["--rtol", "--atol", "--ulp"] {
        let ran = run(&["diff", "ocean.nc", "ocean.nc", option, "-1"]);
        assert_eq!(ran.code, 2);
        assert!(
            ran.messages.contains("number of 0 or more") && !ran.messages.contains("-- -1"),
            "{}",
            ran.messages
        );
    }
}

#[test]
fn a_document_without_values_has_one_line_in_the_table() {
    let folder = tempfile::tempdir().unwrap();
    let text = crate::command::hyperslab(["describe", "ocean.nc"]).answer;
    fs::write(folder.path().join("ocean.yaml"), text).unwrap();
    let ran = run(folder.path(), &["create", "IN/ocean.yaml", "IN/a.zarr"]);
    assert_eq!(ran.code, 1, "{}", ran.messages);
    assert!(ran.answer.contains("lost unreadable") && !ran.answer.contains("\\n"), "{}", ran.answer);
}

#[test]
fn several_sources_become_stores_in_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| run(folder.path(), args);
    fs::create_dir(folder.path().join("out")).unwrap();
    fs::copy(crate::command::examples().join("ocean.nc"), folder.path().join("classic.h5")).unwrap();
    let sources = ["convert", "ocean.nc", "classic.nc", "unlimited.nc", "IN/out/"];
    let ran = run(&[&sources[..], &["--format", "zarr2"]].concat());
    assert_eq!(ran.code, 0, "{}", ran.messages);
    assert!(ran.answer.starts_with("ocean.nc → "), "{}", ran.answer);
    assert!(ran.answer.contains("\nunlimited.nc → "), "{}", ran.answer);
    for name in ["ocean.zarr", "classic.zarr", "unlimited.zarr"] {
        assert!(folder.path().join("out").join(name).join(".zgroup").exists(), "{name}");
        assert!(ran.messages.contains(&format!("out/{name}: ")), "{}", ran.messages);
    }
    // A failure does not stop the other conversions, and the worst exit code counts.
    let ran = run(&["convert", "missing.nc", "strings.nc", "IN/out", "--format", "zarr3"]);
    assert_eq!(ran.code, 2, "{}", ran.messages);
    assert!(ran.messages.contains("missing.nc: "), "{}", ran.messages);
    assert!(folder.path().join("out/strings.zarr/zarr.json").exists());
    // A single source also works. Shells complete the names of stores with a slash.
    assert_eq!(run(&["convert", "-q", "buoys.yaml", "IN/out/", "--format", "zarr3"]).code, 0);
    assert!(folder.path().join("out/buoys.zarr/zarr.json").exists());
    assert_eq!(run(&["convert", "-q", "buoys.yaml", "IN/out/buoys.zarr/", "--overwrite"]).code, 0);

    let before: Vec<_> =
        fs::read_dir(folder.path().join("out")).unwrap().map(|e| e.unwrap().path()).collect();
    for (args, expected) in [
        (
            &["unlimited.nc", "classic.nc", "IN/classic.h5", "IN/out", "--format", "zarr3"][..],
            "would both be written to this target",
        ),
        (&["unlimited.nc", "strings.nc", "IN/out"], "--format zarr3"),
        (
            &["unlimited.nc", "strings.nc", "IN/absent", "--format", "zarr3"],
            "absent: does not exist, expected a folder",
        ),
        (&["unlimited.nc", "strings.nc", "IN/classic.h5", "--format", "zarr3"], "is not a folder"),
        (&["unlimited.nc", "..", "IN/out", "--format", "zarr3"], "has no name from which to form a target"),
    ] {
        let refused = run(&[&["convert"], args].concat());
        assert_eq!((refused.code, refused.answer.as_str()), (2, ""), "{args:?}: {}", refused.messages);
        assert!(refused.messages.contains(expected), "{}", refused.messages);
        let after = fs::read_dir(folder.path().join("out")).unwrap().map(|e| e.unwrap().path());
        assert_eq!(after.collect::<Vec<_>>(), before);
    }
}

#[test]
fn coordinates_that_a_domain_told_are_verified_in_formats_without_domains() {
    let folder = tempfile::TempDir::new().unwrap();
    let folder = folder.path();
    let text = "dimcoords:\n  x: {size: 3, type: int32, storage: {domain: [10, 12]}}\n\
        ndarrays:\n  a: {shape: [x], type: int8, value: [1, 2, 3]}\n";
    fs::write(folder.join("told.yaml"), text).unwrap();
    let ran = run(folder, &["convert", "--verify", "IN/told.yaml", "IN/told.h5"]);
    assert_eq!(ran.code, 0, "{}", ran.messages);
    let shown = run(folder, &["show", "IN/told.h5:/x", "--as", "csv"]);
    assert!(
        ["10", "11", "12"].iter().all(|coordinate| shown.answer.contains(coordinate)),
        "{}",
        shown.answer
    );
}

#[test]
fn the_plan_lists_arrays_whose_chunks_cannot_be_found() {
    let folder = tempfile::tempdir().unwrap();
    let mut bytes = fs::read(examples().join("chunk_indexes.h5")).unwrap();
    let at = bytes.windows(4).position(|four| four == b"FADB").unwrap();
    bytes[at] = b'?';
    fs::write(folder.path().join("cut.h5"), bytes).unwrap();
    for target in ["IN/cut.nc", "IN/again.h5", "IN/cut.zarr", "IN/cut.tdb"] {
        let planned = run(folder.path(), &["convert", "-n", "IN/cut.h5", target]);
        assert_eq!(planned.code, 1, "{target}: {}", planned.messages);
        assert!(planned.answer.contains("lost unreadable"), "{target}: {}", planned.answer);
    }
}
