//! `show --decode` in every output form: dates, unpacked numbers, missing elements and words.

use crate::command::{Ran, prepared, ran};
use std::fs;
use tempfile::TempDir;

/// A store with an array of every kind whose meaning is changed by attributes.
const STORE: &str = "\
ndarrays:
  packed: {shape: [3], type: int16, value: [2, -1, 4], attributes: {scale_factor: 0.5, add_offset: 1.0, _FillValue: -1}}
  count: {shape: [3], type: int16, value: [1, -1, 3], attributes: {_FillValue: -1}}
  full: {shape: [2], type: int16, value: [1, 3], attributes: {_FillValue: -1}}
  large: {shape: [2], type: int64, value: [9007199254740993, -1], attributes: {_FillValue: -1}}
  byte: {shape: [3], type: int8, value: [-1, 0, -128], attributes: {_Unsigned: 'true', _FillValue: -1}}
  range: {shape: [3], type: float32, value: [0.5, -1.0, 7.0], attributes: {valid_range: {type: float32, shape: [2], value: [0.0, 1.0]}}}
  time: {shape: [3], type: int32, value: [0, -1, 59], attributes: {units: days since 2000-01-01, _FillValue: -1}}
  fine: {shape: [2], type: float64, value: [0.5, 1.25], attributes: {units: milliseconds since 2000-01-01}}
  days: {shape: [2], type: int32, value: [0, 59], attributes: {units: days since 2000-01-01, calendar: 360_day}}
  gaps: {shape: [2], type: int32, value: [-1, 59], attributes: {units: days since 2000-01-01, calendar: 360_day, _FillValue: -1}}
  flag: {shape: [3], type: uint8, value: [0, 1, 4], attributes: {flag_values: {type: uint8, shape: [3], value: [0, 1, 2]}, flag_meanings: good bad ugly}}
  bits: {shape: [2], type: uint8, value: [3, 255], attributes: {flag_masks: {type: uint8, shape: [2], value: [1, 2]}, flag_meanings: wet cold, _FillValue: 255}}
";

/// Runs `show --decode` on arrays of the store.
struct Store(TempDir);

impl Store {
    fn new() -> Store {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("store.yaml"), STORE).unwrap();
        Store(folder)
    }

    fn command(&self, name: &str, form: &str) -> std::process::Output {
        let location = format!("store.yaml:/{name}");
        prepared(["show", "--decode", &location, "--as", form]).current_dir(&self.0).output().unwrap()
    }

    fn text(&self, name: &str, form: &str) -> String {
        let Ran { code, answer, messages } = ran(self.command(name, form));
        assert_eq!((code, messages.as_str()), (0, ""), "{name} as {form}");
        answer
    }

    fn refusal(&self, name: &str, form: &str) -> String {
        let Ran { code, answer, messages } = ran(self.command(name, form));
        assert_eq!((code, answer.as_str()), (2, ""), "{name} as {form}");
        messages
    }

    /// The dtype of a NumPy file, and its elements.
    fn npy(&self, name: &str) -> (String, Vec<u8>) {
        let output = self.command(name, "npy");
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        let header = String::from_utf8_lossy(&output.stdout[10..128]).into_owned();
        let dtype = header.split('\'').nth(3).unwrap().to_owned();
        (dtype, output.stdout[128..].to_vec())
    }
}

#[test]
fn lists_have_what_numbers_mean() {
    let store = Store::new();
    for (name, expected) in [
        ("packed", "[2.0, null, 3.0]"),
        ("count", "[1, null, 3]"),
        ("full", "[1, 3]"),
        ("large", "[9007199254740993, null]"),
        ("byte", "[null, 0, 128]"),
        ("range", "[0.5, null, null]"),
        ("time", r#"["2000-01-01T00:00:00", null, "2000-02-29T00:00:00"]"#),
        ("fine", r#"["2000-01-01T00:00:00.000500", "2000-01-01T00:00:00.001250"]"#),
        ("days", r#"["2000-01-01T00:00:00", "2000-02-30T00:00:00"]"#),
        ("gaps", r#"[null, "2000-02-30T00:00:00"]"#),
        ("flag", r#"["good", "bad", "4"]"#),
        ("bits", r#"["wet cold", null]"#),
    ] {
        assert_eq!(store.text(name, "lists"), format!("{expected}\n"), "{name}");
    }
}

#[test]
fn missing_elements_look_as_each_form_has_them() {
    let store = Store::new();
    assert_eq!(store.text("count", "table"), "# /count int16\n[0]\n  0  1\n  1  _\n  2  3\n");
    assert_eq!(store.text("count", "csv"), "dim_0,count\n0,1\n1,\n2,3\n");
    assert_eq!(
        store.text("time", "tsv"),
        "dim_0\ttime\n0\t2000-01-01T00:00:00\n1\t\n2\t2000-02-29T00:00:00\n"
    );
    assert_eq!(
        store.text("packed", "json"),
        "[{\"dim_0\": 0, \"packed\": 2.0},\n {\"dim_0\": 1, \"packed\": null},\n {\"dim_0\": 2, \"packed\": 3.0}]\n"
    );
    assert_eq!(store.text("gaps", "matrix"), ",2000-02-30T00:00:00\n");
}

#[test]
fn numpy_has_nan_and_nat_for_missing_elements() {
    let store = Store::new();
    let doubles =
        |numbers: &[f64]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<_>>();
    let singles =
        |numbers: &[f32]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<_>>();
    let times = |counts: &[i64]| counts.iter().flat_map(|count| count.to_le_bytes()).collect::<Vec<_>>();
    let utf32 = |text: &str| text.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect::<Vec<_>>();
    for (name, dtype, elements) in [
        ("packed", "<f8", doubles(&[2.0, f64::NAN, 3.0])),
        ("count", "<f4", singles(&[1.0, f32::NAN, 3.0])),
        ("full", "<i2", vec![1, 0, 3, 0]),
        ("byte", "<f4", singles(&[f32::NAN, 0.0, 128.0])),
        ("range", "<f4", singles(&[0.5, f32::NAN, f32::NAN])),
        ("time", "<M8[s]", times(&[946_684_800, i64::MIN, 951_782_400])),
        ("fine", "<M8[us]", times(&[946_684_800_000_500, 946_684_800_001_250])),
        ("days", "<U19", utf32("2000-01-01T00:00:002000-02-30T00:00:00")),
        ("flag", "<U4", utf32("goodbad\u{0}4\u{0}\u{0}\u{0}")),
    ] {
        assert_eq!(store.npy(name), (dtype.to_owned(), elements), "{name}");
    }
    let raw = store.command("packed", "raw");
    assert_eq!(raw.stdout, doubles(&[2.0, f64::NAN, 3.0]));
}

#[test]
fn what_numpy_does_not_hold_is_refused_with_another_form() {
    let store = Store::new();
    for (name, form, refusal) in [
        ("bits", "npy", "NumPy cannot represent a missing string\n  help: use --as csv or --as json"),
        ("gaps", "npy", "NumPy cannot represent a missing string\n  help: use --as csv or --as json"),
        (
            "large",
            "npy",
            "NumPy cannot represent a missing integer, and float64 cannot represent 9007199254740993 exactly\n  help: use --as csv or --as json",
        ),
        ("time", "raw", "raw bytes cannot record the unit of times; use --as npy"),
        ("flag", "raw", "elements of string are not plain bytes; use --as json"),
    ] {
        assert_eq!(store.refusal(name, form), format!("error: store.yaml: {refusal}\n"), "{name}");
    }
}

#[test]
fn cells_of_sparse_arrays_are_decoded() {
    let folder = TempDir::new().unwrap();
    let text = "\
dimcoords:
  hour: {size: 100, type: int32, attributes: {units: hours since 2000-01-01}}
ndarrays:
  t: {shape: [hour], type: int16, attributes: {scale_factor: 0.5, _FillValue: -1}}
cells:
  columns: [hour, t]
  rows:
  - [3, 5]
  - [25, -1]
";
    fs::write(folder.path().join("cells.yaml"), text).unwrap();
    let show = |args: &[&str]| {
        let all = ["show", "cells.yaml:/"].iter().chain(args);
        ran(prepared(all).current_dir(&folder).output().unwrap())
    };
    let decoded = show(&["--decode", "--as", "csv"]);
    assert_eq!(decoded.answer, "hour,t\n2000-01-01T03:00:00,2.5\n2000-01-02T01:00:00,\n");
    assert_eq!((decoded.code, decoded.messages.as_str()), (0, ""));
    let table = show(&["--decode"]).answer;
    assert_eq!(
        table,
        "# / 2 cells\nhour                   t\n2000-01-01T03:00:00  2.5\n2000-01-02T01:00:00    _\n"
    );
    let stored = show(&["--as", "csv"]);
    assert_eq!(stored.answer, "hour,t\n3,5\n25,-1\n");
    let note =
        "  note: as stored: counts of time in /hour, packed numbers in /t; --decode shows what they mean\n";
    assert_eq!(stored.messages, note);
}
