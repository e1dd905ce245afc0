//! `concat`, `show` for several files, patterns for files, and folders of files.

use crate::command::{Ran, prepared, ran};
use std::fs;
use std::path::Path;

/// Runs the command in a folder.
fn run(folder: &Path, args: &[&str]) -> Ran {
    ran(prepared(args).current_dir(folder).output().unwrap())
}

/// A NetCDF classic file with records: `double time(time)` and `float t(time, x)` with two values each.
fn classic(units: &str, more: &[(&str, &str)], times: &[f32]) -> Vec<u8> {
    let number = |n: usize| u32::try_from(n).unwrap().to_be_bytes();
    let name = |text: &str| {
        let mut bytes = number(text.len()).to_vec();
        bytes.extend(text.bytes());
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    };
    let attributes = |all: &[(&str, &str)]| {
        if all.is_empty() {
            return vec![0; 8];
        }
        let mut bytes = [number(12), number(all.len())].concat();
        for (key, value) in all {
            bytes.extend(name(key));
            bytes.extend(number(2));
            bytes.extend(name(value));
        }
        bytes
    };
    let header = |begin: usize| {
        let mut bytes = b"CDF\x01".to_vec();
        bytes.extend(number(times.len()));
        bytes.extend([number(10), number(2)].concat());
        bytes.extend([name("time"), number(0).to_vec()].concat());
        bytes.extend([name("x"), number(2).to_vec()].concat());
        bytes.extend(attributes(more));
        bytes.extend([number(11), number(2)].concat());
        bytes.extend([name("time"), number(1).to_vec(), number(0).to_vec()].concat());
        bytes.extend(attributes(&[("units", units)]));
        bytes.extend([number(6), number(8), number(begin)].concat());
        bytes.extend([name("t"), number(2).to_vec(), number(0).to_vec(), number(1).to_vec()].concat());
        bytes.extend(attributes(&[("units", "K")]));
        bytes.extend([number(5), number(8), number(begin + 8)].concat());
        bytes
    };
    let mut bytes = header(header(0).len());
    for time in times {
        bytes.extend(f64::from(*time).to_be_bytes());
        bytes.extend(time.to_be_bytes());
        bytes.extend((time + 0.5).to_be_bytes());
    }
    bytes
}

const UNITS: &str = "days since 2020-01-01";

/// Writes files of two days each.
fn days(folder: &Path, count: u16) {
    for number in 0..count {
        let times = [f32::from(number * 2), f32::from(number * 2 + 1)];
        fs::write(folder.join(format!("day{number:04}.nc")), classic(UNITS, &[], &times)).unwrap();
    }
}

#[test]
fn joins_files_that_a_pattern_names() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    days(folder, 3);
    let joined = run(folder, &["concat", "day*.nc", "all.zarr", "--verify"]);
    assert_eq!(joined.code, 0, "{}", joined.messages);
    assert!(joined.messages.contains("wrote all.zarr: 2 arrays"), "{}", joined.messages);
    let time = run(folder, &["show", "all.zarr:/time", "--as", "matrix"]);
    assert_eq!(time.answer, "0.0,1.0,2.0,3.0,4.0,5.0\n");
    let values = run(folder, &["show", "all.zarr:/t", "-s", "x=1", "--as", "matrix"]);
    assert_eq!(values.answer, "0.5,1.5,2.5,3.5,4.5,5.5\n");
    // One array, only a part of it, with different chunks.
    let part = ["concat", "day*.nc:/t", "part.zarr", "-s", "time=2020-01-02..2020-01-04", "-c", "time=2"];
    let part = run(folder, &part);
    assert_eq!(part.code, 0, "{}", part.messages);
    assert_eq!(run(folder, &["show", "part.zarr:/time", "--as", "matrix"]).answer, "1.0,2.0,3.0\n");
    let dry = run(folder, &["concat", "-n", "day*.nc", "none.zarr"]);
    assert_eq!(dry.code, 0, "{}", dry.messages);
    assert!(dry.answer.contains("/t     [6, 2]") && !folder.join("none.zarr").exists(), "{}", dry.answer);
}

#[test]
fn files_that_do_not_follow_on_each_other_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    days(folder, 3);
    let order = run(folder, &["concat", "day0002.nc", "day0001.nc", "a.zarr"]);
    assert_eq!(order.code, 2);
    assert_eq!(
        order.messages,
        "error: day0001.nc:/time: time begins at 2020-01-03T00:00:00, but day0002.nc before it begins at \
         2020-01-05T00:00:00; the files are not in order\n  help: --sort joins them in the order of their coordinates\n"
    );
    let sorted = run(folder, &["concat", "day0002.nc", "day0001.nc", "a.zarr", "--sort", "-q"]);
    assert_eq!((sorted.code, sorted.messages.as_str()), (0, ""));
    assert_eq!(run(folder, &["show", "a.zarr:/time", "--as", "matrix"]).answer, "2.0,3.0,4.0,5.0\n");
    let gap = run(folder, &["concat", "day0000.nc", "day0002.nc", "b.zarr"]);
    assert_eq!(gap.code, 0);
    let expected = "warning: gap in time: day0000.nc ends at 2020-01-02T00:00:00, day0002.nc begins at \
         2020-01-05T00:00:00; 2 coordinates are missing\n";
    assert!(gap.messages.starts_with(expected), "{}", gap.messages);
    let overlap = run(folder, &["concat", "day0000.nc", "day0000.nc", "c.zarr", "--along", "time"]);
    assert_eq!(overlap.code, 2);
    let expected = "day0000.nc:/time: overlaps day0000.nc along time: both have 2020-01-01T00:00:00 to \
         2020-01-02T00:00:00\n";
    assert!(overlap.messages.contains(expected), "{}", overlap.messages);
    assert!(!folder.join("c.zarr").exists());
}

#[test]
fn other_units_of_time_are_counted_anew_and_attributes_noted() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("a.nc"), classic(UNITS, &[("history", "a")], &[29.0, 30.0])).unwrap();
    let b = classic("hours since 2020-02-01", &[("history", "b")], &[0.0, 24.0]);
    fs::write(folder.join("b.nc"), b).unwrap();
    let joined = run(folder, &["concat", "a.nc", "b.nc", "ab.zarr"]);
    assert_eq!(joined.code, 0, "{}", joined.messages);
    assert!(
        joined.messages.starts_with(
            "  note: /time: other units or calendar in b.nc; counted as in a.nc, days since 2020-01-01\n  note: /@history \
             differs in b.nc; that of a.nc is kept\n"
        ),
        "{}",
        joined.messages
    );
    assert_eq!(run(folder, &["show", "ab.zarr:/time", "--as", "matrix"]).answer, "29.0,30.0,31.0,32.0\n");
}

#[test]
fn coordinates_that_differ_by_rounding_are_joined_with_a_tolerance() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let document = |name: &str, time: u8, lat: &str| {
        let text = format!(
            "# NDL 0.6.1\ndimcoords:\n  time: {{size: 1, type: int32, value: [{time}]}}\n  \
             lat: {{size: 2, type: float64, value: [1, {lat}]}}\nndarrays:\n  \
             t: {{shape: [time, lat], type: int8, value: [[1, 2]]}}\n"
        );
        fs::write(folder.join(name), text).unwrap();
    };
    for (name, time, lat) in [("a.yaml", 1, "2.5"), ("b.yaml", 2, "2.5000000001"), ("c.yaml", 3, "4")] {
        document(name, time, lat);
    }
    let concat = |words: &[&str]| run(folder, &[&["concat", "--along", "time"], words].concat());
    let refused = concat(&["a.yaml", "b.yaml", "ab.nc"]);
    assert_eq!(refused.code, 2);
    let help = "  help: --atol 1.1e-10 treats them as equal and keeps the values of the first file\n";
    assert!(refused.messages.ends_with(help), "{}", refused.messages);
    let joined = concat(&["a.yaml", "b.yaml", "ab.nc", "--atol", "1.1e-10", "--verify"]);
    assert_eq!(joined.code, 0, "{}", joined.messages);
    assert!(joined.messages.contains("note: /lat: values differ by at most 1.0"), "{}", joined.messages);
    assert_eq!(run(folder, &["show", "ab.nc:/lat", "--as", "matrix"]).answer, "1.0,2.5\n");
    // Coordinates at a different location should be examined.
    let other = concat(&["a.yaml", "c.yaml", "ac.nc"]).messages;
    assert!(
        other.ends_with("  help: `hyperslab diff a.yaml:/lat c.yaml:/lat` shows what differs\n"),
        "{other}"
    );
    let show = ["show", "a.yaml:/t", "b.yaml:/t", "--along", "time", "--as", "matrix"];
    let shown = run(folder, &show).messages;
    assert!(shown.ends_with(help), "{shown}");
    let shown = run(folder, &[&show[..], &["--atol", "1.1e-10"]].concat());
    assert_eq!((shown.code, shown.answer.as_str()), (0, "1,2\n1,2\n"), "{}", shown.messages);
    assert_eq!(concat(&["a.yaml", "b.yaml", "ab.nc", "--rtol", "-1"]).code, 2);
}

#[test]
fn arrays_without_names_of_dimensions_are_joined_by_position() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // Machine-learning programs write HDF5 like this: images and labels side by side, and a table that all files share.
    for (name, first, length) in [("a", 0, 2), ("b", 10, 3)] {
        let images: Vec<String> = (first..first + length).map(|at| format!("[{at}, {}]", at + 1)).collect();
        let labels: Vec<String> = (first..first + length).map(|at| at.to_string()).collect();
        let text = format!(
            "# NDL 0.6.1\nndarrays:\n  images: {{shape: [{length}, 2], type: int16, value: [{}]}}\n  \
             labels: {{shape: [{length}], type: uint8, value: [{}]}}\n  classes: {{shape: [4], type: uint8, value: [1, 2, 3, 4]}}\n",
            images.join(", "),
            labels.join(", ")
        );
        fs::write(folder.join(format!("{name}.yaml")), text).unwrap();
        let made = run(folder, &["create", &format!("{name}.yaml"), &format!("{name}.h5"), "-q"]);
        assert_eq!(made.code, 0, "{}", made.messages);
    }
    let concat = |words: &[&str]| run(folder, &[&["concat"], words].concat());
    let unnamed = concat(&["a.h5", "b.h5", "all.h5"]);
    assert_eq!(unnamed.code, 2);
    assert!(unnamed.messages.ends_with("  help: use --along 0\n"), "{}", unnamed.messages);
    // Arrays of other lengths do not belong to the dimension.
    let all = concat(&["a.h5", "b.h5", "all.h5", "--along", "0"]);
    assert_eq!(all.code, 2);
    assert!(all.messages.contains("along dimension 0, and /classes has 4"), "{}", all.messages);
    assert!(all.messages.contains("FILE:/{a,b}"), "{}", all.messages);
    let joined = concat(&["?.h5:/{images,labels}", "all.h5", "--along", "0", "--verify"]);
    assert_eq!(joined.code, 0, "{}", joined.messages);
    let note = "note: dimension 0 has no coordinates, so the order of the files was not checked";
    assert!(joined.messages.contains(note), "{}", joined.messages);
    let shown = |object: &str| run(folder, &["show", object, "--as", "matrix"]).answer;
    assert_eq!(shown("all.h5:/labels"), "0,1,10,11,12\n");
    assert_eq!(shown("all.h5:/images"), "0,1\n1,2\n10,11\n11,12\n12,13\n");
    assert_eq!(run(folder, &["ls", "-1", "all.h5"]).answer, "/images\n/labels\n");
    // Only the images have the second dimension, along which they are joined here. The other arrays must be the same.
    let wide = run(folder, &["show", "a.h5:/images", "a.h5:/images", "--along", "1", "--as", "matrix"]);
    assert_eq!((wide.code, wide.answer.as_str()), (0, "0,1,0,1\n1,2,1,2\n"), "{}", wide.messages);
    let none = concat(&["a.h5", "b.h5", "all.h5", "--along", "2"]);
    assert!(none.messages.contains("no array has a dimension 2"), "{}", none.messages);
    let sorted = concat(&["a.h5:/labels", "b.h5:/labels", "s.h5", "--along", "0", "--sort"]);
    assert!(sorted.messages.contains("dimension 0 has no coordinates that"), "{}", sorted.messages);
    days(folder, 2);
    let named = concat(&["day*.nc:/time", "time.zarr", "--along", "0"]);
    assert_eq!(named.code, 2);
    assert!(named.messages.ends_with("  help: use --along time\n"), "{}", named.messages);
}

#[cfg(unix)]
#[test]
fn more_files_than_a_process_may_open_are_joined() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    days(folder, 2000);
    let line =
        format!("ulimit -n 64; exec '{}' concat 'day*.nc' all.zarr -j 4 -q", env!("CARGO_BIN_EXE_hyperslab"));
    let done = std::process::Command::new("sh").args(["-c", &line]).current_dir(folder).output().unwrap();
    assert_eq!(ran(done).messages, "");
    let stat = run(folder, &["stat", "--values", "--json", "all.zarr:/t"]);
    assert!(
        stat.answer.contains("\"count\":8000") && stat.answer.contains("\"max\":3999.5"),
        "{}",
        stat.answer
    );
}

#[test]
fn an_interrupted_run_goes_on_only_with_the_same_files() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    days(folder, 3);
    let options = ["--overwrite", "-q"];
    assert_eq!(run(folder, &[&["concat", "day*.nc", "all.zarr"], &options[..]].concat()).code, 0);
    let nothing = run(folder, &["concat", "day*.nc", "all.zarr", "--resume", "--overwrite", "-q"]);
    assert_eq!(nothing.code, 0, "{}", nothing.messages);
    // A source is never the target.
    let source = run(folder, &["concat", "day*.nc", "day0001.nc", "--format", "zarr3", "--overwrite"]);
    assert_eq!(source.code, 2);
    assert!(source.messages.contains("day0001.nc"), "{}", source.messages);
}

#[test]
fn show_joins_the_array_of_several_files() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    days(folder, 3);
    let one = run(folder, &["show", "day*.nc:/t", "-s", "time=1:4", "--as", "matrix"]);
    assert_eq!((one.code, one.answer.as_str()), (0, "1.0,1.5\n2.0,2.5\n3.0,3.5\n"), "{}", one.messages);
    let named =
        ["show", "day0000.nc:/time", "day0001.nc:/time", "--along", "time", "--decode", "--as", "lists"];
    let named = run(folder, &named);
    assert!(named.answer.contains("2020-01-04"), "{} {}", named.answer, named.messages);
    let other = run(folder, &["show", "day0000.nc:/time", "day0001.nc:/t"]);
    assert_eq!(other.code, 2);
    assert!(
        other.messages.contains("day0001.nc: names /t, expected /time like the locations before it"),
        "{}",
        other.messages
    );
}

#[test]
fn verbs_for_several_locations_take_patterns_and_folders() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::create_dir_all(folder.join("data/2020")).unwrap();
    days(&folder.join("data/2020"), 2);
    fs::write(folder.join("data/notes.txt"), "no store").unwrap();
    for (verb, lines) in [("digest", 10), ("stat", 5)] {
        for location in ["data", "data/2020/day*.nc", "data/*/day000?.nc"] {
            let ran = run(folder, &[verb, location]);
            assert_eq!(
                (ran.code, ran.answer.lines().count()),
                (0, lines),
                "{verb} {location}: {}",
                ran.answer
            );
        }
    }
    assert_eq!(run(folder, &["check", "data"]).answer, "no findings in 2 locations\n");
    let listed = run(folder, &["ls", "-1", "data/2020/day*.nc:/t"]);
    assert_eq!(listed.answer, "data/2020/day0000.nc:/t\ndata/2020/day0001.nc:/t\n");
    let described = run(folder, &["describe", "data/2020/day*.nc:/t"]);
    assert_eq!(described.answer.matches("\n---\n").count(), 1, "{}", described.answer);
    let none = run(folder, &["digest", "data/2020/night*.nc"]);
    assert_eq!(none.code, 2);
    assert!(none.messages.contains("data/2020/night*.nc"), "{}", none.messages);
    fs::create_dir(folder.join("empty")).unwrap();
    assert!(run(folder, &["stat", "empty"]).messages.contains("empty: is a directory without stores"));
}

#[test]
fn folders_are_compared_store_by_store() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for name in ["a", "b"] {
        fs::create_dir(folder.join(name)).unwrap();
        days(&folder.join(name), 3);
    }
    assert_eq!(
        (run(folder, &["diff", "a", "b"]).code, run(folder, &["diff", "a", "b"]).answer.as_str()),
        (0, "")
    );
    fs::write(folder.join("b/day0001.nc"), classic(UNITS, &[], &[2.0, 4.0])).unwrap();
    fs::remove_file(folder.join("b/day0002.nc")).unwrap();
    fs::write(folder.join("b/night.nc"), classic(UNITS, &[], &[2.0])).unwrap();
    let ran = run(folder, &["diff", "a", "b"]);
    assert_eq!(ran.code, 1);
    let lines: Vec<&str> = ran.answer.lines().filter(|line| !line.starts_with([' ', '~'])).collect();
    assert_eq!(
        lines,
        [
            "day0001.nc",
            "2 arrays differ",
            "- day0002.nc",
            "+ night.nc",
            "1 of 2 stores in both differ, 1 only in a, 1 only in b"
        ]
    );
    let json = run(folder, &["diff", "a", "b", "--json"]);
    assert!(json.answer.lines().all(|line| line.starts_with("{\"file\":\"") || line.contains("\"file\":\"")));
    // Stores with different suffixes are still paired.
    fs::create_dir(folder.join("c")).unwrap();
    let converted = run(folder, &["convert", "a/*.nc", "c", "--format", "zarr3", "-q"]);
    assert_eq!(converted.code, 0, "{}", converted.messages);
    let same = run(folder, &["diff", "a", "c"]);
    assert_eq!((same.code, same.answer.as_str()), (0, ""), "{}", same.messages);
}
