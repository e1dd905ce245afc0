//! Sparse arrays written by the TileDB library, read whole, within ranges, and with damaged files.

use crate::arrays::{bytes, damaged, files_of, open, store};
use crate::handmade::{Files, add_fragment, array, footer, generic_of, schema, store_of};
use hyperslab_core::store::{Key, Store};
use hyperslab_core::{ErrorKind, Limits, Result};
use hyperslab_tiledb::array::{Array, OpenOptions};
use hyperslab_tiledb::format::consolidated_fragment_metadata::{
    ConsolidatedFooter, ConsolidatedFragmentMetadata,
};
use hyperslab_tiledb::format::data_type::DataType;
use hyperslab_tiledb::format::fragment_metadata::mbr::Range;
use hyperslab_tiledb::opened::Moment;
use hyperslab_tiledb::read::sparse::{SparseCells, SparseColumn, SparseField, SparseRequest, SparseScratch};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The values of a cell; `None` for those that are null.
type Cell = Vec<Option<Vec<u8>>>;

/// What the TileDB library read from an array.
struct Reading {
    array: Array,
    name: String,
    /// All cells, sorted.
    cells: Vec<Cell>,
}

fn readings() -> Vec<Reading> {
    let store = store();
    let index = String::from_utf8(bytes(&*store, "sparse.tsv")).unwrap();
    let reading = |line: &str| {
        let fields: Vec<&str> = line.split('\t').collect();
        let at = Moment { start: fields[1].parse().unwrap(), end: fields[2].parse().unwrap() };
        let array = open(&store, fields[0], at).unwrap();
        let columns: Vec<Cell> =
            (0..fields_of(&array).len()).map(|number| column(&*store, fields[3], number)).collect();
        let count = columns[0].len();
        let mut cells: Vec<Cell> =
            (0..count).map(|cell| columns.iter().map(|column| column[cell].clone()).collect()).collect();
        cells.sort();
        Reading { array, name: line.to_owned(), cells }
    };
    index.lines().map(reading).collect()
}

fn column(store: &dyn Store, number: &str, column: usize) -> Cell {
    let key = format!("expected/{number}.{column}");
    let (stored, validity) = (bytes(store, &key), bytes(store, &format!("{key}.validity")));
    let (lens, mut rest) = stored.split_at(4 * validity.len());
    let lens = lens.as_chunks().0.iter().map(|len| u32::from_le_bytes(*len) as usize);
    let values = lens.map(|len| rest.split_off(..len).unwrap().to_vec());
    values.zip(&validity).map(|(value, validity)| (*validity != 0).then_some(value)).collect()
}

fn fields_of(array: &Array) -> Vec<SparseField> {
    let dimensions = (0..array.dimensions().len()).map(SparseField::Dimension);
    dimensions.chain((0..array.attributes().len()).map(SparseField::Attribute)).collect()
}

/// The cells within ranges, sorted.
fn read(array: &Array, ranges: Vec<Option<Range>>) -> Result<Vec<Cell>> {
    let request = SparseRequest { ranges, columns: fields_of(array) };
    let mut cells: Vec<Cell> = Vec::new();
    array.read_sparse(&request, &mut |batch| {
        cells.extend(cells_of(batch));
        Ok(())
    })?;
    cells.sort();
    Ok(cells)
}

fn cells_of(batch: &SparseCells) -> Vec<Cell> {
    let of = |cell: usize| {
        let value = |column: &SparseColumn| {
            let start = if cell == 0 { 0 } else { column.ends[cell - 1] };
            let value = &column.bytes[start..column.ends[cell]];
            (column.validity[cell] != 0).then(|| value.to_vec())
        };
        batch.columns.iter().map(value).collect()
    };
    let is_whole = |column: &SparseColumn| {
        column.ends.len() == batch.count
            && column.validity.len() == batch.count
            && column.ends.last() == Some(&column.bytes.len())
    };
    assert!(batch.columns.iter().all(is_whole));
    (0..batch.count).map(of).collect()
}

#[test]
fn cells_are_those_that_the_library_reads() {
    let readings = readings();
    assert_eq!(readings.len(), 30);
    for of in &readings {
        let found = read(&of.array, Vec::new()).unwrap();
        let missing: Vec<_> = of.cells.iter().filter(|cell| !found.contains(cell)).collect();
        let more: Vec<_> = found.iter().filter(|cell| !of.cells.contains(cell)).collect();
        assert!(found == of.cells, "{}\nmissing {missing:?}\nmore {more:?}", of.name);
    }
}

/// Whether a coordinate lies within a range. Numbers are compared as numbers, strings by their bytes.
fn is_within(data_type: DataType, coordinate: &[u8], range: &Range) -> bool {
    let order = |bytes: &[u8]| match data_type {
        DataType::Int32 => f64::from(i32::from_le_bytes(bytes.try_into().unwrap())),
        DataType::Int64 => i64::from_le_bytes(bytes.try_into().unwrap()) as f64,
        DataType::Float64 => f64::from_le_bytes(bytes.try_into().unwrap()),
        other => panic!("{other:?}"),
    };
    match data_type {
        DataType::StringAscii => range.min.as_slice() <= coordinate && coordinate <= range.max.as_slice(),
        _ => order(&range.min) <= order(coordinate) && order(coordinate) <= order(&range.max),
    }
}

#[test]
fn ranges_have_the_cells_within_them() {
    let readings = readings();
    let strategy =
        (0..readings.len(), prop::collection::vec(prop::option::of((any::<u16>(), any::<u16>())), 2));
    proptest!(ProptestConfig::with_cases(500), |((reading, ends) in strategy)| {
        let of = &readings[reading];
        if of.cells.is_empty() {
            return Ok(());
        }
        // The ends of ranges are coordinates of cells.
        let coordinate = |cell: u16, dimension: usize| {
            of.cells[usize::from(cell) % of.cells.len()][dimension].clone().unwrap()
        };
        let ranges: Vec<Option<Range>> = ends
            .iter()
            .take(of.array.dimensions().len())
            .enumerate()
            .map(|(dimension, ends)| {
                let (min, max) = (*ends)?;
                Some(Range { min: coordinate(min, dimension), max: coordinate(max, dimension) })
            })
            .collect();
        let inside = |cell: &&Cell| ranges.iter().enumerate().all(|(dimension, range)| {
            let data_type = of.array.dimensions()[dimension].data_type;
            range.as_ref().is_none_or(|range| is_within(data_type, cell[dimension].as_ref().unwrap(), range))
        });
        let expected: Vec<Cell> = of.cells.iter().filter(inside).cloned().collect();
        prop_assert!(read(&of.array, ranges.clone()).unwrap() == expected, "{} {ranges:?}", of.name);
    });
}

#[test]
fn requests_that_are_wrong_are_refused() {
    let store = store();
    let request = |columns: Vec<SparseField>| SparseRequest { ranges: Vec::new(), columns };
    let kind = |name: &str, columns| {
        let array = open(&store, name, Moment::ALL).unwrap();
        array.read_sparse(&request(columns), &mut |_| Ok(())).unwrap_err().kind()
    };
    assert_eq!(kind("signed_bytes", vec![]), ErrorKind::InvalidArgument);
    assert_eq!(kind("sparse_rows", vec![SparseField::Attribute(2)]), ErrorKind::InvalidArgument);
    assert_eq!(kind("sparse_rows", vec![SparseField::Dimension(2)]), ErrorKind::InvalidArgument);
    let array = open(&store, "sparse_rows", Moment::ALL).unwrap();
    for ranges in [vec![Some(Range { min: vec![0; 4], max: vec![0; 3] })], vec![None; 3]] {
        assert_eq!(read(&array, ranges).unwrap_err().kind(), ErrorKind::InvalidArgument);
    }
}

/// All cells of all parts of a plan, read by several threads.
fn read_by_threads(array: &Array, ranges: Vec<Option<Range>>) -> Vec<Cell> {
    let request = SparseRequest { ranges, columns: fields_of(array) };
    let plan = array.plan_sparse(&request).unwrap();
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut scratch = SparseScratch::default();
                loop {
                    let part = next.fetch_add(1, Ordering::Relaxed);
                    if part >= plan.len() {
                        return;
                    }
                    let mut count = 0;
                    let mut take = |batch: &SparseCells| {
                        count += batch.count as u64;
                        found.lock().unwrap().extend(cells_of(batch));
                        Ok(())
                    };
                    plan.read(part, &mut scratch, &mut take).unwrap();
                    assert!(count <= plan.most_cells_of(part));
                }
            });
        }
    });
    let mut found = found.into_inner().unwrap();
    assert!(plan.exact_cells().is_none_or(|exact| exact == found.len() as u64));
    found.sort();
    found
}

#[test]
fn parts_of_a_plan_are_read_by_many_threads() {
    for of in readings() {
        assert!(read_by_threads(&of.array, Vec::new()) == of.cells, "{}", of.name);
    }
}

/// Fragments made by hand with random cells, compared with a map.
#[test]
fn the_newest_of_equal_coordinates_counts() {
    let fragment = prop::collection::btree_set(-30..30_i64, 1..40);
    let strategy = (prop::collection::vec(fragment, 1..8), -35..35_i64, 0..40_i64);
    proptest!(ProptestConfig::with_cases(200), |((fragments, start, len) in strategy)| {
        let mut files = array(&schema(false));
        let mut expected = BTreeMap::new();
        for (time, coordinates) in (1_u64..).zip(&fragments) {
            let value = i32::try_from(time).unwrap() * 1000;
            let coordinates: Vec<i64> = coordinates.iter().copied().collect();
            add_fragment(&mut files, time, &coordinates, value);
            expected.extend(coordinates.iter().copied().zip(value..));
        }
        let array = open(&store_of(&files), "hand", Moment::ALL).unwrap();
        let within = |from: i64, to: i64| -> Vec<Cell> {
            let cell = |(x, a): (&i64, &i32)| {
                vec![Some(x.to_le_bytes().to_vec()), Some(a.to_le_bytes().to_vec())]
            };
            let mut cells: Vec<Cell> = expected.range(from..=to).map(cell).collect();
            cells.sort();
            cells
        };
        prop_assert_eq!(read(&array, Vec::new()).unwrap(), within(-1000, 1000));
        let range = Range { min: start.to_le_bytes().to_vec(), max: (start + len).to_le_bytes().to_vec() };
        prop_assert_eq!(read(&array, vec![Some(range)]).unwrap(), within(start, start + len));
    });
}

#[test]
fn fragments_that_overlap_take_the_memory_of_a_tile_each() {
    let mut files = array(&schema(false));
    for time in 1..=50 {
        // 500 cells each, in tiles of 4.
        let coordinates: Vec<i64> = (0..500).map(|n| n * 2 - 700 + i64::from(time % 2 == 0)).collect();
        add_fragment(&mut files, time, &coordinates, 0);
    }
    let limits = Limits { allocation: 12 << 10, ..Limits::default() };
    let options = OpenOptions { limits, ..OpenOptions::default() };
    let array = Array::open(store_of(&files), &Key::new("hand").unwrap(), options).unwrap();
    assert_eq!(read(&array, Vec::new()).unwrap().len(), 1000);
}

#[test]
fn footers_are_read_from_the_newest_consolidated_metadata() {
    let mut files = array(&schema(false));
    for time in 1..=3 {
        add_fragment(&mut files, time, &[i64::try_from(time).unwrap(), 10], 7);
    }
    let metadata = |(key, content): (&String, &Vec<u8>)| {
        key.ends_with("__fragment_metadata.tdb").then(|| (key.clone(), footer(content).to_vec()))
    };
    let footers: Vec<(String, Vec<u8>)> = files.iter().filter_map(metadata).collect();
    assert_eq!(footers.len(), 3);
    let copies = footers.iter().map(|(key, footer)| {
        let uri = key.rsplit('/').nth(1).unwrap().into();
        ConsolidatedFooter { uri, footer: footer.clone() }
    });
    let copies = ConsolidatedFragmentMetadata { fragments: copies.collect() };
    let name =
        |time| format!("hand/__fragment_meta/__{time}_{time}_0123456789abcdef0123456789abcdef_22.meta");
    let whole = files.clone();
    let count = |files: &Files| {
        read(&open(&store_of(files), "hand", Moment::ALL)?, Vec::new()).map(|cells| cells.len())
    };
    // Without their lengths, the footers cannot be found in the fragments.
    for (key, _) in &footers {
        files.get_mut(key).unwrap().iter_mut().rev().take(8).for_each(|byte| *byte = 0);
    }
    assert!(count(&files).is_err());
    files.insert(name(2), b"damaged".to_vec());
    files.insert(name(3), generic_of(&copies, &()));
    assert_eq!(count(&files).unwrap(), 4);
    files.insert(name(4), b"damaged".to_vec());
    assert!(count(&files).is_err());
    // The fragments still have their own footers, and fragments of whose footers there is no copy are read as usual.
    let mut files = whole;
    files.insert(name(4), b"damaged".to_vec());
    add_fragment(&mut files, 5, &[20], 7);
    assert_eq!(count(&files).unwrap(), 5);
}

#[test]
fn damaged_files_never_panic() {
    let store = store();
    let names = ["sparse_hilbert", "sparse_text", "deleted_consolidated", "sparse_consolidated"];
    let all = names.map(|name| (name, files_of(&*store, name)));
    let limits = Limits { allocation: 16 << 20, ..Limits::default() };
    let strategy = (0..all.len(), any::<u16>(), any::<u16>(), prop::option::of(1..=255_u8));
    proptest!(ProptestConfig::with_cases(1000), |((array, file, at, change) in strategy)| {
        let (name, files) = &all[array];
        let store = damaged(files, usize::from(file) % files.len(), usize::from(at), change);
        let options = OpenOptions { limits, ..OpenOptions::default() };
        if let Ok(array) = Array::open(store, &Key::new(name).unwrap(), options) {
            let _ = read(&array, Vec::new());
        }
    });
}
