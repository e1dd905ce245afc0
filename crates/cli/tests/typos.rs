//! Mistyped lines and files that are not data: the messages do not change, and each suggests one next step.

use crate::command::{examples, prepared, ran};
use crate::golden::holds;
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// Lines as people mistype them.
const MISTYPED: &[&str] = &[
    // Files that do not exist.
    "ls ocean.cn",
    "ls Ocean.nc",
    "ls ocean",
    "ls nodir/ocean.nc",
    "ls link.nc",
    "show nothing_like_it",
    "stat osean.nc:/lat",
    "convert ocean.cn out.zarr",
    // Files that are not data or are damaged.
    "ls empty.h5",
    "ls noise.h5",
    "ls notes.txt",
    "ls page.nc",
    "ls ocean.nc.gz",
    "ls forecast.grib",
    "ls photo.png",
    "ls old.mat",
    "ls notes.zip",
    "describe cut.nc",
    "show cut.nc:/lat",
    "convert cut.nc out.zarr",
    "describe broken.zarr",
    "describe bad.yaml",
    "convert bad.yaml out.zarr",
    // Objects and attributes that do not exist.
    "ls ocean.nc:/wavse",
    "ls ocean.nc:/waves/hight",
    "ls ocean.nc:/lat/x",
    "ls ocean.nc:/nothing*",
    "describe ocean.nc:/temprature",
    "describe ocean.nc:/lat@unit",
    "describe ocean.nc:/lat@absent",
    "show ocean.nc:/Temperature",
    "show ocean.nc:/@titel",
    "show ocean.nc:/lat@units@x",
    "show userblock.h5:/absent",
    "stat ocean.nc:/waves/hieght",
    "convert ocean.nc:/temprature out.zarr",
    // Objects without values.
    "show ocean.nc",
    "show ocean.nc:/waves",
    "show ocean.nc:/flag_t",
    // Selections.
    "show ocean.nc:/lat -s lat=",
    "show ocean.nc:/lat -s lat=a",
    "show ocean.nc:/lat -s lat=1:2:0",
    "show ocean.nc:/lat -s lat=7",
    "show ocean.nc:/lat -s 0,0",
    "show ocean.nc:/temperature -s tiem=0",
    "show ocean.nc:/temperature -s time=2024-13",
    "stat ocean.nc -s tme=0",
    "convert ocean.nc out.zarr -s lta=0",
    // Options and their values.
    "ls --atrs ocean.nc",
    "ls -R ocean.nc",
    "ls ocean.nc --as csv",
    "describe --value ocean.nc",
    "describe --depth x ocean.nc",
    "describe --storage ful ocean.nc",
    "describe ocean.nc -o",
    "show",
    "show ocean.nc:/temperature --decod",
    "show ocean.nc:/lat --as cvs",
    "show ocean.nc:/lat --as xlsx",
    "stat ocean.nc --valeus",
    "stat ocean.nc -m 10XB",
    "stat ocean.nc -j zero",
    "convert ocean.nc out.zarr --format zarr4",
    "convert ocean.nc out.zarr --allow-loss everything",
    "convert ocean.nc out.zarr -O zarr.strct=seed",
    "convert ocean.nc out.zarr -f zstdd",
    "convert ocean.nc out.zarr -c tme=1",
    "convert ocean.nc out.zarr -c 0",
    // Outputs.
    "describe ocean.nc -o nodir/ocean.yaml",
    "describe ocean.nc -o ocean.nc",
    "show ocean.nc:/lat -o lat.xlsx",
    "convert ocean.nc",
    "convert ocean.nc out.grib",
    "repack ocean.nc:/waves out.nc",
    "repack ocean.nc out.nc -O hdf5.libver=v1.9",
    "convert ocean.nc out",
    "convert ocean.nc tides.zarr",
    "convert ocean.nc nodir/out.zarr",
    // Verbs.
    "shwo ocean.nc:/lat",
    "descirbe ocean.nc",
];

/// A folder with example files and with files that are not valid data.
fn place() -> TempDir {
    let dir = TempDir::new().unwrap();
    let at = |name: &str| dir.path().join(name);
    for name in ["ocean.nc", "userblock.h5"] {
        fs::copy(examples().join(name), at(name)).unwrap();
    }
    let ocean = fs::read(at("ocean.nc")).unwrap();
    for (name, bytes) in [
        ("empty.h5", &b""[..]),
        ("noise.h5", b"\x00\x9b\x01\xfe\x80\x07\xc1\x55 and more"),
        ("notes.txt", b"hello world\n"),
        ("page.nc", b"<!DOCTYPE html><p>Not found"),
        ("ocean.nc.gz", b"\x1f\x8b\x08\x00\x00\x00\x00\x00"),
        ("forecast.grib", b"GRIB\x00\x00\x00\x02"),
        ("photo.png", b"\x89PNG\r\n\x1a\n"),
        ("old.mat", b"MATLAB 5.0 MAT-file, Platform: GLNXA64"),
        ("notes.zip", b"PK\x03\x04 and a file"),
        ("bad.yaml", b"ndarrays: [1,2\n"),
        ("cut.nc", ocean.get(..9000).unwrap()),
    ] {
        fs::write(at(name), bytes).unwrap();
    }
    for name in ["tides.zarr", "broken.zarr"] {
        fs::create_dir(at(name)).unwrap();
        let document =
            if name == "broken.zarr" { "{" } else { r#"{"zarr_format": 3, "node_type": "group"}"# };
        fs::write(at(name).join("zarr.json"), document).unwrap();
    }
    #[cfg(unix)]
    std::os::unix::fs::symlink("nowhere.nc", at("link.nc")).unwrap();
    dir
}

fn run(folder: &Path, line: &str) -> crate::command::Ran {
    ran(prepared(line.split(' ')).current_dir(folder).output().unwrap())
}

#[cfg(unix)]
#[test]
fn messages_about_mistyped_lines_stay_the_same_and_each_names_one_next_step() {
    let place = place();
    assert!(MISTYPED.len() >= 60);
    let (mut transcript, mut wrong) = (String::new(), String::new());
    for line in MISTYPED {
        let ran = run(place.path(), line);
        let count = |word: &str| ran.messages.lines().filter(|text| text.starts_with(word)).count();
        if ran.code == 0 || count("error: ") == 0 || count("  help: ") != 1 {
            wrong.push_str(&format!("$ hyperslab {line}\n{}", ran.messages));
        }
        transcript.push_str(&format!("$ hyperslab {line}\n{}{}", ran.answer, ran.messages));
    }
    assert!(wrong.is_empty(), "no error, or not one next step:\n{wrong}");
    holds("typos.txt", &transcript);
    let left: Vec<_> = fs::read_dir(place.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().starts_with("out")), "{left:?}");
}

/// Lines printed in a message work as printed.
#[cfg(unix)]
#[test]
fn the_line_that_a_message_suggests_works() {
    let place = place();
    for line in MISTYPED {
        let messages = run(place.path(), line).messages;
        let Some((_, suggested)) =
            messages.split_once("did you mean").and_then(|(_, rest)| rest.split_once('`'))
        else {
            continue;
        };
        let suggested = suggested.split('`').next().unwrap();
        let script = format!("hyperslab() {{ \"$HYPERSLAB\" \"$@\"; }}\n{suggested}");
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).env("HYPERSLAB", env!("CARGO_BIN_EXE_hyperslab"));
        let ran = ran(shell.current_dir(place.path()).output().unwrap());
        assert_eq!(ran.code, 0, "{line}: {suggested}: {}", ran.messages);
        // Targets are removed before the next line runs.
        for target in ["out.zarr", "ocean.zarr"] {
            let _ = fs::remove_dir_all(place.path().join(target));
        }
    }
}
