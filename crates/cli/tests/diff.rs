//! `diff`: differences, their output and exit codes.

use crate::command::{Ran, examples, hyperslab};
use crate::golden::holds;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Two documents with every kind of difference.
const A: &str = "\
/:
  attributes:
    title: Gulf of Alaska, ten-day mean
    version: 3
    only_a: 1
    range: {shape: [3], type: float32, value: [1, 2.5, 3]}
    long: {shape: [12], type: int16, value: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]}
  dimcoords:
    time: {size: 4, type: float64, value: [0, 1, 2, 3], attributes: {units: days}}
    depth: {size: 2}
    lost: {size: 7}
  ndarrays:
    salinity: {shape: [time, depth], type: float32, value: [[34.3, 1], [2, 3], [4, 5], [34.15, 6]]}
    ship: {shape: [time], type: string, value: [a, b, c, d]}
    count: {shape: [2], type: int16, value: [1, 2]}
    big: {shape: [2], type: uint64, value: [9007199254740993, 1]}
    pair: {shape: [2], type: {compound: [x: float64, y: {array: {base: int32, shape: [2]}}]}, value: [[1, [2, 3]], [4, [5, 6]]]}
    texts: {shape: [2], type: string, value: [one, two]}
    seen: {shape: [2], type: objref, value: [/ship, /count]}
    level: {shape: [], type: int32, value: 5}
    grown: {shape: [3], type: int8, value: [1, 2, 3]}
    kinds: {shape: [1], type: {enum: {base: int8, members: {UP: 0, DOWN: 1}}}, value: [UP]}
    zero: {shape: [2], type: float64, value: [0, .nan]}
/gone:
  ndarrays:
    x: {shape: [], type: int8, value: 1}
    y: {shape: [], type: int8, value: 1}
/kept:
  ndarrays:
    same: {shape: [2], type: int32, value: [1, 2]}
";

const B: &str = "\
/:
  attributes:
    title: Gulf of Alaska
    version: {shape: [], type: int64, value: 3}
    only_b: {shape: [2], type: string, value: [x, y]}
    range: {shape: [3], type: float32, value: [1, 2.5, 4]}
    long: {shape: [12], type: int16, value: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12]}
  dimcoords:
    time: {size: 4, type: float64, value: [0, 1, 2, 3], attributes: {units: hours}}
    depth: {size: 2}
  ndarrays:
    salinity: {shape: [time, depth], type: float32, value: [[34.8, 1], [2, 3], [4, 5], [.nan, 6]]}
    count: {shape: [2], type: int32, value: [1, 3]}
    big: {shape: [2], type: float64, value: [9007199254740992, 1]}
    pair: {shape: [2], type: {compound: [x: float64, y: {array: {base: int32, shape: [2]}}]}, value: [[1, [2, 3]], [4, [5, 9]]]}
    texts: {shape: [2], type: string, value: [one, \"2\"]}
    seen: {shape: [2], type: objref, value: [/count, /count]}
    level: {shape: [1], type: int32, value: [5]}
    grown: {shape: [4], type: int8, value: [1, 2, 3, 4]}
    kinds: {shape: [1], type: {enum: {base: int8, members: {UP: 0, DOWN: 1}}}, value: [DOWN]}
    zero: {shape: [2], type: float64, value: [-0.0, .nan]}
    new: {shape: [time], type: int8, value: [1, 2, 3, 4]}
/kept:
  ndarrays:
    same: {shape: [2], type: int32, value: [1, 2]}
";

struct Pair {
    dir: TempDir,
}

impl Pair {
    fn new(a: &str, b: &str) -> Self {
        let dir = TempDir::new().unwrap();
        fs::write(dir.path().join("a.yaml"), a).unwrap();
        fs::write(dir.path().join("b.yaml"), b).unwrap();
        Pair { dir }
    }

    fn path(&self, name: &str) -> String {
        self.dir.path().join(name).to_str().unwrap().to_owned()
    }

    /// Compares the objects at these paths of the two documents.
    fn diff_at(&self, (a, b): (&str, &str), options: &[&str]) -> Ran {
        let (a, b) = (self.path("a.yaml") + a, self.path("b.yaml") + b);
        hyperslab([&["diff", &a, &b], options].concat())
    }

    fn diff(&self, options: &[&str]) -> Ran {
        self.diff_at(("", ""), options)
    }
}

fn copy_of(name: &str, dir: &Path) -> String {
    let path = dir.join(name);
    fs::copy(examples().join(name), &path).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn every_kind_of_difference_has_its_line() {
    let ran = Pair::new(A, B).diff(&[]);
    assert_eq!((ran.code, ran.messages.as_str()), (1, ""));
    holds("diff_documents.txt", &ran.answer);
    let ran = Pair::new(A, B).diff(&["--json"]);
    assert_eq!((ran.code, ran.messages.as_str()), (1, ""));
    holds("diff_documents.jsonl", &ran.answer);
    assert!(ran.answer.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()));
}

#[test]
fn equal_stores_print_nothing() {
    let dir = TempDir::new().unwrap();
    for name in ["ocean.nc", "datatypes.h5", "strings.nc", "groups_old.h5", "big_endian.h5"] {
        for options in [&[][..], &["--storage", "--order"], &["--json"], &["--rtol", "1e-3"]] {
            let copy = copy_of(name, dir.path());
            let ran = hyperslab([&["diff", name, &copy], options].concat());
            assert_eq!((ran.code, ran.answer.as_str(), ran.messages.as_str()), (0, "", ""), "{name}");
        }
    }
    let ran = hyperslab(["diff", "floats.zarr", "floats.zarr"]);
    assert_eq!((ran.code, ran.answer.as_str(), ran.messages.as_str()), (0, "", ""));
}

#[test]
fn a_file_equals_its_description() {
    let dir = TempDir::new().unwrap();
    for name in
        ["ocean.nc", "datatypes.h5", "nested_groups.nc", "unlimited.nc", "strings.nc", "chunk_indexes.h5"]
    {
        let text = dir.path().join("described.yaml");
        let told = hyperslab([
            "describe",
            "--values",
            "--storage",
            "full",
            name,
            "--overwrite",
            "-o",
            text.to_str().unwrap(),
        ]);
        assert_eq!(told.code, 0, "{}", told.messages);
        let ran = hyperslab(["diff", name, text.to_str().unwrap()]);
        assert_eq!((ran.code, ran.answer.as_str(), ran.messages.as_str()), (0, "", ""), "{name}");
    }
}

#[test]
fn tolerances_apply_only_to_floats() {
    let pair = Pair::new(
        "ndarrays:\n  x: {shape: [3], type: float64, value: [1, 10, -100]}\n  n: {shape: [], type: int8, value: 1}\n",
        "ndarrays:\n  x: {shape: [3], type: float64, value: [1.5, 11, -104]}\n  n: {shape: [], type: int8, value: 1}\n",
    );
    let differing = |options: &[&str]| {
        let ran = pair.diff(options);
        assert_eq!(ran.code, i32::from(!ran.answer.is_empty()), "{}", ran.messages);
        ran.answer.lines().next().unwrap_or_default().to_owned()
    };
    assert_eq!(differing(&[]), "~ /x  3 of 3 values differ, at most 4.0 (rtol 0, atol 0)");
    assert_eq!(differing(&["--atol", "1"]), "~ /x  1 of 3 values differs, at most 4.0 (rtol 0, atol 1)");
    assert_eq!(differing(&["--rtol", "0.1"]), "~ /x  1 of 3 values differs, at most 0.5 (rtol 0.1, atol 0)");
    assert_eq!(differing(&["--rtol=0.1", "--atol=0.5"]), "");
    assert_eq!(differing(&["--ulp", "4503599627370496"]), "");
    let pair = Pair::new(
        "ndarrays: {n: {shape: [], type: int8, value: 1}}\n",
        "ndarrays: {n: {shape: [], type: int8, value: 2}}\n",
    );
    let ran = pair.diff(&["--atol", "5", "--ulp", "5"]);
    assert_eq!(ran.answer, "~ /n  1 of 1 values differs, at most 1\n    []  1  2  +1\n1 array differs\n");
    assert_eq!(pair.diff(&["--rtol", "-1"]).code, 2);
}

#[test]
fn compares_groups_arrays_and_attributes_by_path() {
    let pair = Pair::new(A, B);
    let ran = pair.diff_at((":/kept", ":/kept"), &[]);
    assert_eq!((ran.code, ran.answer.as_str()), (0, ""), "{}", ran.messages);
    let ran = pair.diff_at((":/count", ":/level"), &["--max", "0"]);
    assert_eq!(ran.answer.lines().last(), Some("1 array differs"), "{}", ran.answer);
    let ran = pair.diff_at((":/@title", ":/@title"), &[]);
    assert_eq!(
        (ran.code, ran.answer.as_str()),
        (1, "~ /@title  \"Gulf of Alaska, ten-day mean\" → \"Gulf of Alaska\"\n1 attribute differs\n")
    );
    assert_eq!(pair.diff_at((":/time@units", ":/time@units"), &[]).code, 1);
    assert_eq!(pair.diff_at((":/@version", ":/time"), &[]).code, 2);
    assert_eq!(pair.diff_at((":/@none", ":/@none"), &[]).code, 2);
    assert_eq!(pair.diff_at((":/nothing", ""), &[]).code, 2);
    assert_eq!(pair.diff_at((":/*", ":/*"), &[]).code, 2);
}

#[test]
fn compares_targets_of_references_and_links_relative_to_the_compared_groups() {
    let of = |group: &str| {
        format!(
            "{group}:\n  ndarrays:\n    x: {{shape: [], type: int8, value: 1}}\n    r: {{shape: [2], type: objref, \
             value: [{group}/x, /far]}}\n  links:\n    l: {{soft: x}}\n/:\n  ndarrays:\n    far: {{shape: [], type: int8, value: 2}}\n"
        )
    };
    let pair = Pair::new(&of("/one"), &of("/two"));
    let ran = pair.diff_at((":/one", ":/two"), &[]);
    assert_eq!((ran.code, ran.answer.as_str(), ran.messages.as_str()), (0, "", ""));
    let ran = pair.diff(&[]);
    assert_eq!(ran.answer.lines().last(), Some("2 groups differ"), "{}", ran.answer);
}

#[test]
fn selections_apply_to_both_sides() {
    let pair = Pair::new(
        "dimcoords: {t: {size: 4, type: int32, value: [10, 20, 30, 40]}}\nndarrays: {x: {shape: [t], type: int8, value: [1, 2, 3, 4]}}\n",
        "dimcoords: {t: {size: 3, type: int32, value: [20, 30, 40]}}\nndarrays: {x: {shape: [t], type: int8, value: [2, 3, 5]}}\n",
    );
    let ran = pair.diff(&["-s", "t=20..40"]);
    assert_eq!(ran.code, 1, "{}", ran.messages);
    assert!(
        ran.answer.contains("~ /x  1 of 3 values differs, at most 1\n    [3]  4  5  +1\n"),
        "{}",
        ran.answer
    );
    let ran = pair.diff(&["-s", "t=20..30"]);
    assert!(!ran.answer.contains("values"), "{}", ran.answer);
    assert_eq!(pair.diff(&["-s", "nothing=3"]).code, 2);
}

#[test]
fn compares_storage_and_order_on_request() {
    let of = |first: &str, second: &str, chunk: &str| {
        format!(
            "attributes: {{{first}: 1, {second}: 2}}\nndarrays:\n  x: {{shape: [4], type: int16, storage: {{chunk: [{chunk}], filter: [{{deflate: {chunk}}}]}}, value: [1, 2, 3, 4]}}\n"
        )
    };
    let pair =
        Pair::new(&of("a", "b", "2"), &of("b", "a", "4").replace("a: 2", "a: 1").replace("b: 1", "b: 2"));
    assert_eq!(pair.diff(&[]).answer, "");
    let ran = pair.diff(&["--storage"]);
    assert_eq!(ran.answer, "~ /x  chunk [2] → [4]\n~ /x  filters deflate=2 → deflate=4\n1 array differs\n");
    let ran = pair.diff(&["--order"]);
    assert_eq!(ran.answer, "~ /  order of attributes a, b → b, a\n1 group differs\n");
}

#[test]
fn unreadable_objects_are_never_equal() {
    let dir = TempDir::new().unwrap();
    let mut bytes = fs::read(examples().join("userblock.h5")).unwrap();
    // The first chunk of /c begins with the zlib header for level 1.
    let chunk = bytes.windows(2).position(|pair| pair == [0x78, 0x01]).unwrap();
    bytes[chunk + 2..chunk + 8].fill(0xff);
    let broken = dir.path().join("broken.h5");
    fs::write(&broken, bytes).unwrap();
    let broken = broken.to_str().unwrap();
    let one = hyperslab(["diff", "userblock.h5", broken]);
    assert_eq!(one.code, 1);
    assert!(one.answer.contains(&format!("~ /c  unreadable in {broken}\n")), "{}", one.answer);
    assert!(one.messages.contains("broken.h5:/c: "), "{}", one.messages);
    // One of the arrays has an unknown codec.
    let both = hyperslab(["diff", "tides.zarr", "tides.zarr"]);
    assert_eq!(both.code, 1);
    let answer = "~ /harmonics/residual  unreadable in both\n1 object or attribute cannot be compared\n";
    assert_eq!(both.answer, answer);
    assert_eq!(both.messages.matches("mystery").count(), 2, "{}", both.messages);
    assert_eq!(hyperslab(["diff", "userblock.h5", "absent.h5"]).code, 2);
    assert_eq!(hyperslab(["diff", "-", "-"]).code, 2);
}

#[test]
fn prints_at_most_the_requested_number_of_differences() {
    let of = |value: u32| {
        let arrays = (0..30).map(|n| {
            format!(
                "  x{n}: {{shape: [40], type: int8, value: [{}]}}\n",
                vec![value.to_string(); 40].join(", ")
            )
        });
        format!("ndarrays:\n{}", arrays.collect::<String>())
    };
    let pair = Pair::new(&of(1), &of(2));
    let ran = pair.diff(&["--max", "3"]);
    let lines: Vec<_> = ran.answer.lines().collect();
    assert_eq!(lines.len(), 3 * 4 + 2, "{}", ran.answer);
    assert_eq!(lines[12..], ["~ 27 more differences of objects", "30 arrays differ"]);
    assert_eq!(pair.diff(&["--json", "--max", "0"]).answer.lines().count(), 30);
    let ran = pair.diff(&["--max", "29"]);
    assert!(ran.answer.contains("\n~ 1 more difference of objects\n"), "{}", ran.answer);
}

#[test]
fn limits_do_not_lead_to_check() {
    for args in [&["digest", "datatypes.h5"][..], &["diff", "datatypes.h5", "datatypes.h5"]] {
        let ran = hyperslab(args.iter().chain(&["--limit", "allocation=3000"]));
        assert!(ran.messages.contains("raise the allocation limit"), "{}", ran.messages);
        assert!(!ran.messages.contains("lists all damage"), "{}", ran.messages);
    }
}
