//! What the verbs that write do beside writing: reports, refusals, proofs.

use crate::command::{Ran, prepared, ran};
use std::path::Path;
use std::process::Stdio;

/// Runs the command among the example files; `IN` stands for a folder.
fn run(folder: &Path, args: &[&str]) -> Ran {
    let args = args.iter().map(|word| word.replace("IN", folder.to_str().unwrap()));
    ran(prepared(args).output().unwrap())
}

#[test]
fn a_store_is_written_whether_its_report_is_read_or_not() {
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
fn elements_that_filters_change_are_lost_by_name() {
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
            // What has been changed once is not changed again, whatever becomes of chunks.
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
fn filters_that_are_asked_for_are_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    for (filter, expected) in [
        ("deflate=10", "filter deflate: level 10, expected a number from 0 to 9"),
        ("deflate=-1", "filter deflate: level -1, expected a number from 0 to 9"),
        ("zstd=x", "filter zstd: level \"x\", expected a number from -131072 to 22"),
        ("zstd=100", "filter zstd: level 100"),
        ("blosc=nope", "filter blosc: the codec nope, which Zarr does not have"),
        ("quantize", "filter quantize: no digits"),
        ("astype", "filter astype: no to"),
        ("fixedscaleoffset", "filter fixedscaleoffset: no offset"),
        ("nbit", "filter nbit: is none that Zarr has"),
        ("bitround=60", "filter bitround: "),
    ] {
        let ran =
            run(folder.path(), &["convert", "ocean.nc", "IN/a.zarr", "-f", &format!("/salinity:{filter}")]);
        assert_eq!(ran.code, 2, "{filter}: {}{}", ran.answer, ran.messages);
        assert!(ran.messages.contains(expected), "{filter}: {}", ran.messages);
        assert!(!folder.path().join("a.zarr").exists());
    }
}
