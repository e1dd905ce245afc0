//! Cells of sparse arrays: reading in batches, digests, diffs, output and conversion.

mod in_one_piece;
mod stored;
mod streamed;
mod tables;

use hyperslab::cells::{CellOrder, CellQuery, CellRange, CellSource, CellTable};
use hyperslab::describe::DescribeOptions;
use hyperslab::diff::{DiffOptions, Found, Side, diff};
use hyperslab::location::{LocatedObject, Locator};
use hyperslab::model::{Cells, Column, Datatype, Element, Float, Text, Values};
use hyperslab::show::show_cells;
use hyperslab::{NodePath, OpenOptions, Source, digest, open};
use hyperslab_core::rows::Slot;
use proptest::prelude::*;
use std::fmt::Write as _;
use std::fs;
use std::sync::Arc;
use tempfile::TempDir;

fn ints(name: &str, numbers: &[i32]) -> Column {
    let rows: Vec<u8> = numbers.iter().flat_map(|number| number.to_ne_bytes()).collect();
    let values = Values { rows: rows.into(), ..Values::default() };
    Column { name: name.into(), datatype: Arc::new(Datatype::int(32, true)), values }
}

fn floats(name: &str, numbers: &[f64]) -> Column {
    let rows: Vec<u8> = numbers.iter().flat_map(|number| number.to_ne_bytes()).collect();
    let values = Values { rows: rows.into(), ..Values::default() };
    Column { name: name.into(), datatype: Arc::new(Datatype::Float(Float::Double)), values }
}

fn texts(name: &str, texts: &[String]) -> Column {
    let mut values = Values::default();
    values.heap.push(texts.concat().into()).unwrap();
    let mut offset = 0;
    let mut rows = Vec::new();
    for text in texts {
        let count = u32::try_from(text.len()).unwrap();
        rows.extend(Slot { buffer: 0, count, offset }.to_bytes());
        offset += u64::from(count);
    }
    values.rows = rows.into();
    Column { name: name.into(), datatype: Arc::new(Datatype::String(Text::Variable)), values }
}

/// The cells that match a query as text, and the number of cells in each batch.
fn read(source: &dyn CellSource, query: &CellQuery) -> (Vec<String>, Vec<usize>) {
    let (mut cells, mut lens) = (Vec::new(), Vec::new());
    for batch in source.batches(query).unwrap() {
        let batch = batch.unwrap();
        lens.push(batch.len());
        for cell in 0..batch.len() {
            let values = batch.columns.iter().map(|column| match column.get(cell).unwrap().get() {
                Element::Int(value) => value.to_string(),
                Element::Float(value) => format!("{value:?}"),
                Element::Text(text) => String::from_utf8_lossy(text).into_owned(),
                other => panic!("{other:?}"),
            });
            cells.push(values.collect::<Vec<_>>().join(" "));
        }
    }
    assert_eq!(source.count(query).unwrap(), cells.len() as u64);
    (cells, lens)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn cells_are_sorted_in_batches_of_any_size(
        cells in prop::collection::vec((-3..3_i32, 0..4_usize, prop::sample::select(vec![-0.5_f64, 0.0, 7.0])), 0..40),
        batch in 1..600_u64,
    ) {
        let table = |cells: &[(i32, usize, f64)]| {
            let names: Vec<String> = cells.iter().map(|cell| "abcd"[..cell.1].to_owned()).collect();
            let x: Vec<i32> = cells.iter().map(|cell| cell.0).collect();
            let v: Vec<f64> = cells.iter().map(|cell| cell.2).collect();
            CellTable::new(Cells { columns: vec![ints("x", &x), texts("name", &names), floats("v", &v)] }, 2).unwrap()
        };
        let mut sorted: Vec<(i32, usize, f64)> = cells.clone();
        sorted.sort_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.to_le_bytes().cmp(&b.2.to_le_bytes())));
        let expected: Vec<String> =
            sorted.iter().map(|(x, name, v)| format!("{x} {} {v:?}", &"abcd"[..*name])).collect();
        let query = CellQuery { batch, ..CellQuery::default() };
        let (found, lens) = read(&table(&cells), &query);
        prop_assert_eq!(&found, &expected);
        // A row has 28 bytes.
        let max = usize::try_from(batch / 28).unwrap().max(1);
        prop_assert!(lens.iter().all(|len| *len <= max && *len > 0));
        prop_assert!(lens.iter().rev().skip(1).all(|len| *len == max));
        let mut reversed = cells.clone();
        reversed.reverse();
        prop_assert_eq!(read(&table(&reversed), &query).0, expected);
        let stored = CellQuery { order: CellOrder::Stored, batch, ..CellQuery::default() };
        let as_given: Vec<String> =
            cells.iter().map(|(x, name, v)| format!("{x} {} {v:?}", &"abcd"[..*name])).collect();
        prop_assert_eq!(read(&table(&cells), &stored).0, as_given);
    }
}

#[test]
fn numbers_are_sorted_by_value_and_nan_comes_last() {
    let x = [f64::NAN, 0.0, -1.5, f64::INFINITY, -0.0, f64::NEG_INFINITY, 10.0, 9.0];
    let order = [8, 2, 3, 6, 1, 4, 7, 5];
    let table = CellTable::new(Cells { columns: vec![floats("x", &x), ints("v", &order)] }, 1).unwrap();
    let query = CellQuery { columns: Some(vec![1]), ..CellQuery::default() };
    // Positive and negative zero are equal, so these cells are sorted by the attribute.
    assert_eq!(read(&table, &query).0, ["4", "3", "1", "2", "5", "7", "6", "8"]);
}

#[test]
fn ranges_include_both_bounds() {
    let table = CellTable::new(
        Cells { columns: vec![ints("x", &[5, 1, 3, 3, 9]), ints("v", &[50, 10, 31, 30, 90])] },
        1,
    )
    .unwrap();
    let of = |low: Option<i32>, high: Option<i32>, order| {
        let bound = |number: i32| ints("", &[number]).values;
        let range = CellRange { dimension: 0, low: low.map(bound), high: high.map(bound) };
        let query = CellQuery { columns: Some(vec![1]), ranges: vec![range], order, ..CellQuery::default() };
        read(&table, &query).0
    };
    assert_eq!(of(Some(3), Some(5), CellOrder::Sorted), ["30", "31", "50"]);
    assert_eq!(of(Some(3), None, CellOrder::Stored), ["50", "31", "30", "90"]);
    assert_eq!(of(None, Some(0), CellOrder::Sorted), [""; 0]);
    let wrong =
        |range| table.batches(&CellQuery { ranges: vec![range], ..CellQuery::default() }).err().unwrap();
    let range = CellRange { dimension: 1, low: None, high: None };
    assert_eq!(wrong(range).to_string(), "dimension 1 of cells that have 1");
    let range = CellRange { dimension: 0, low: Some(Values::default()), high: None };
    assert_eq!(wrong(range).to_string(), "a bound of \"x\" is not one element of type int32");
    let missing = CellQuery { columns: Some(vec![2]), ..CellQuery::default() };
    assert_eq!(table.batches(&missing).err().unwrap().to_string(), "column 2 of 2");
}

#[test]
fn refuses_columns_of_different_lengths() {
    let columns = vec![ints("x", &[1, 2]), ints("v", &[1])];
    let error = CellTable::new(Cells { columns }, 1).unwrap_err();
    assert_eq!(error.to_string(), "column \"v\" has 1 values, the first column has 2");
    assert!(CellTable::new(Cells { columns: vec![ints("x", &[1])] }, 2).is_err());
}

/// A document of a sparse array with these rows. Its dimensions are a string and an hour.
fn document(rows: &[String]) -> String {
    let mut text = String::from(
        "attributes: {title: seen}\n\ndimcoords:\n  station: {size: null, type: string}\n  \
         hour: {size: 24, type: int32, attributes: {units: h}, storage: {domain: [0, 23], tile: 6}}\n\n\
         ndarrays:\n  t: {shape: [station, hour], type: float32}\n  other: {shape: [2], type: int8, value: [1, 2]}\n\n\
         cells:\n  columns: [station, hour, t]\n  rows:\n",
    );
    for row in rows {
        writeln!(text, "    - [{row}]").unwrap();
    }
    text.push_str("\nstorage:\n  tiledb: {array: sparse, capacity: 1000}\n");
    text
}

fn opened(folder: &TempDir, name: &str, rows: &[&str]) -> Arc<dyn Source> {
    let rows: Vec<String> = rows.iter().map(|row| (*row).to_owned()).collect();
    let path = folder.path().join(name);
    fs::write(&path, document(&rows)).unwrap();
    open(&path, &OpenOptions::default()).unwrap()
}

fn target(source: &dyn Source, path: &str) -> LocatedObject {
    Locator::parse(&format!("store:{path}")).targets(source).unwrap().remove(0)
}

#[test]
fn cells_are_digested_column_by_column_in_any_order() {
    let folder = TempDir::new().unwrap();
    let lines = |name: &str, rows: &[&str], root: &str| {
        let source = opened(&folder, name, rows);
        let lines = digest::lines(&*source, &NodePath::new(root).unwrap()).unwrap();
        lines.iter().map(digest::Line::to_json).collect::<Vec<_>>()
    };
    let one = lines("one.yaml", &["oslo, 6, -3.0", "bergen, 7, 4.5", "bergen, 12, 5"], "/");
    assert_eq!(one, lines("two.yaml", &["bergen, 12, 5", "bergen, 7, 4.5", "oslo, 6, -3.0"], "/"));
    let kept: Vec<&str> =
        one.iter().map(|line| &line[..line.find(",\"digest").unwrap_or(line.len())]).collect();
    assert_eq!(
        kept,
        [
            r#"{"path":"/","kind":"group"}"#,
            r#"{"path":"/@title","kind":"attribute","type":"string","shape":[]"#,
            r#"{"path":"/__dim/hour","kind":"array","type":"int32","shape":[3]"#,
            r#"{"path":"/__dim/station","kind":"array","type":"string","shape":[3]"#,
            r#"{"path":"/hour@units","kind":"attribute","type":"string","shape":[]"#,
            r#"{"path":"/other","kind":"array","type":"int8","shape":[2]"#,
            r#"{"path":"/t","kind":"array","type":"float32","shape":[3]"#,
        ]
    );
    assert_ne!(one, lines("three.yaml", &["oslo, 6, -3.0", "bergen, 7, 4.5", "bergen, 12, 6"], "/"));
    // The digest equals that of a dense array with the sorted values.
    let dense = folder.path().join("dense.yaml");
    fs::write(
        &dense,
        "ndarrays:\n  t: {shape: [3], type: float32, value: [4.5, 5, -3]}\n  \
         hour: {shape: [3], type: int32, value: [7, 12, 6]}\n",
    )
    .unwrap();
    let source = open(&dense, &OpenOptions::default()).unwrap();
    let dense = digest::lines(&*source, &NodePath::root()).unwrap();
    let dense: Vec<_> = dense.iter().map(digest::Line::to_json).collect();
    assert_eq!((&one[6], one[2].replace("__dim/", "")), (&dense[2], dense[1].clone()));
    let of_one = lines("one.yaml", &["oslo, 6, -3.0", "bergen, 7, 4.5", "bergen, 12, 5"], "/t");
    assert_eq!(of_one, one[6..]);
}

fn differences(a: &dyn Source, b: &dyn Source) -> Vec<Found> {
    let (x, y) = (target(a, "/"), target(b, "/"));
    let mut found = Vec::new();
    let sides = (Side { source: a, target: &x }, Side { source: b, target: &y });
    diff(sides.0, sides.1, &DiffOptions::default(), &mut |_, _| {}, &mut |one| {
        found.push(one);
        Ok(())
    })
    .unwrap();
    found
}

#[test]
fn cells_are_compared_by_their_coordinates() {
    let folder = TempDir::new().unwrap();
    let one = opened(&folder, "one.yaml", &["oslo, 6, -3.0", "bergen, 7, 4.5", "bergen, 12, 5"]);
    let two = opened(&folder, "two.yaml", &["bergen, 12, 5", "bergen, 7, 4.5", "oslo, 6, -3.0"]);
    assert!(differences(&*one, &*two).is_empty());
    let other = opened(&folder, "other.yaml", &["aalesund, 1, 0", "oslo, 6, -2.5", "bergen, 12, 5"]);
    let found = differences(&*one, &*other);
    let told: Vec<_> = found.iter().map(|one| (&*one.path, one.what, &*one.a, &*one.b)).collect();
    assert_eq!(
        told,
        [
            ("/", "cells", "3 (1 only here: [\"bergen\", 7])", "3 (1 only here: [\"aalesund\", 1])"),
            ("/t", "values", "", ""),
        ]
    );
    let values = found[1].values.as_ref().unwrap();
    assert_eq!((values.tally.compared, values.tally.differing), (2, 1));
    assert_eq!(values.at[0].to_string(), "[\"oslo\", 6]");
    assert_eq!((&*values.tally.first[0].a, &*values.tally.first[0].b), ("-3.0", "-2.5"));
}

#[test]
fn a_million_cells_are_streamed_in_small_batches() {
    const CELLS: u32 = 1_000_000;
    let folder = TempDir::new().unwrap();
    let mut text = String::from(
        "dimcoords:\n  x: {size: null, type: uint32}\n\nndarrays:\n  v: {shape: [x], type: uint8}\n\n\
         cells:\n  columns: [x, v]\n  rows: [",
    );
    // Multiplication with an odd number gives each number below a power of two once, unsorted.
    let scattered = (0..1 << 20).map(|n: u32| n.wrapping_mul(7919) & 0xf_ffff);
    for (index, x) in scattered.filter(|x| *x < CELLS).enumerate() {
        let comma = if index > 0 { "," } else { "" };
        write!(text, "{comma}[{x},{}]", x % 251).unwrap();
    }
    text.push_str("]\n\nstorage:\n  tiledb: {array: sparse}\n");
    let path = folder.path().join("million.yaml");
    fs::write(&path, text).unwrap();
    let source = open(&path, &OpenOptions::default()).unwrap();
    let root = source.find(&NodePath::root()).unwrap().handle;
    let cells = source.cells(&root).unwrap().unwrap();
    let query = CellQuery { batch: 64 << 10, ..CellQuery::default() };
    let mut next = 0_u32;
    for batch in cells.batches(&query).unwrap() {
        let batch = batch.unwrap();
        let bytes: usize = batch.columns.iter().map(|column| column.values.rows.len()).sum();
        assert!(bytes <= 64 << 10, "{bytes}");
        let [x, v] = [0, 1].map(|column: usize| &batch.columns[column].values.rows);
        for (x, v) in x.chunks_exact(4).zip(&v[..]) {
            assert_eq!((u32::from_ne_bytes(x.try_into().unwrap()), u32::from(*v)), (next, next % 251));
            next += 1;
        }
    }
    assert_eq!(next, CELLS);
}

#[test]
fn cells_are_shown_with_their_coordinates() {
    let folder = TempDir::new().unwrap();
    let source = opened(&folder, "one.yaml", &["oslo, 6, -3.0", "bergen, 7, 4.5"]);
    let names = |path: &str| {
        let shown = show_cells(&*source, &[target(&*source, path)], &[]).unwrap();
        shown.map(|shown| shown.columns().iter().map(|column| column.name.clone()).collect::<Vec<_>>())
    };
    assert_eq!(names("/"), Some(vec!["station".into(), "hour".into(), "t".into()]));
    assert_eq!(names("/t"), Some(vec!["station".into(), "hour".into(), "t".into()]));
    assert_eq!(names("/hour"), Some(vec!["station".into(), "hour".into()]));
    assert_eq!(names("/other"), None);
    let several = |paths: &[&str]| {
        let targets: Vec<_> = paths.iter().map(|path| target(&*source, path)).collect();
        let shown = show_cells(&*source, &targets, &[]).map_err(|error| error.to_string())?;
        Ok::<_, String>(shown.map(|shown| (shown.name.clone(), shown.count)))
    };
    assert_eq!(several(&["/t", "/station"]), Ok(Some(("/".into(), 2))));
    assert!(several(&["/t", "/other"]).unwrap_err().contains("is no column of the sparse array /, as /t is"));
    assert!(several(&["/", "/t"]).unwrap_err().contains("is requested in addition to all of /"));
    let selected = |text: &str| -> Result<u64, String> {
        let shown = show_cells(&*source, &[target(&*source, "/t")], &[text.parse().unwrap()]);
        shown.map(|shown| shown.unwrap().count).map_err(|error| error.to_string())
    };
    for (text, count) in [
        ("hour==6", 1),
        ("hour=..6.5", 1),
        ("hour=6..7", 2),
        ("hour=8..", 0),
        ("hour=6.2..6.8", 0),
        ("station==oslo", 1),
        ("station=b..n,hour=0..20", 1),
    ] {
        assert_eq!(selected(text), Ok(count), "{text}");
    }
    let error = selected("hour=6").unwrap_err();
    assert!(error.starts_with("/t: cells of a sparse array have no positions"), "{error}");
    assert!(selected("t==4").unwrap_err().starts_with("/t: no dimension t in selection"));
}

#[test]
fn unlimited_dimensions_of_cells_keep_their_domain_when_described_again() {
    let text = "dimcoords:\n  time:\n    size: null\n    type: int32\n    storage: {domain: [0, 9]}\n\nndarrays:\n  \
                a: {shape: [time], type: int8}\n\ncells:\n  columns: [time, a]\n  rows:\n    - [3, 1]\n";
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("cells.yaml");
    fs::write(&file, text).unwrap();
    let source = open(&file, &OpenOptions::default()).unwrap();
    let (described, errors) = crate::description(&*source, "/", &DescribeOptions::default());
    assert!(errors.is_empty(), "{errors:?}");
    assert!(described.contains("domain: [0, 9]"), "{described}");
    fs::write(&file, &described).unwrap();
    assert!(open(&file, &OpenOptions::default()).is_ok());
}
