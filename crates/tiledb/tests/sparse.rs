//! Sparse arrays that the TileDB library wrote, read whole and within ranges, and damaged.

use crate::arrays::{bytes, damaged, files_of, open, store};
use hyperslab_core::store::{Key, Store};
use hyperslab_core::{ErrorKind, Limits, Result};
use hyperslab_tiledb::array::{Array, OpenOptions};
use hyperslab_tiledb::format::data_type::DataType;
use hyperslab_tiledb::format::fragment_metadata::mbr::Range;
use hyperslab_tiledb::opened::Moment;
use hyperslab_tiledb::read::sparse::{SparseField, SparseRequest};
use proptest::prelude::*;

/// The values of a cell; `None` for those that are null.
type Cell = Vec<Option<Vec<u8>>>;

/// A reading of the library.
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
        for cell in 0..batch.count {
            let value = |column: &hyperslab_tiledb::read::sparse::SparseColumn| {
                let start = if cell == 0 { 0 } else { column.ends[cell - 1] };
                let value = &column.bytes[start..column.ends[cell]];
                (column.validity[cell] != 0).then(|| value.to_vec())
            };
            cells.push(batch.columns.iter().map(value).collect());
        }
        Ok(())
    })?;
    cells.sort();
    Ok(cells)
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

/// A coordinate as a number whose order is that of coordinates of its kind; of texts the bytes.
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

#[test]
fn coordinates_of_fragments_that_overlap_need_memory_within_the_limit() {
    let options =
        OpenOptions { limits: Limits { allocation: 4096, ..Limits::default() }, ..OpenOptions::default() };
    let refused = |name| {
        let array = Array::open(store(), &Key::new(name).unwrap(), options.clone()).unwrap();
        array.read_sparse(&SparseRequest::default(), &mut |_| Ok(())).err().map(|e| e.kind())
    };
    assert_eq!(refused("sparse_rows"), Some(ErrorKind::LimitExceeded));
    assert_eq!(refused("sparse_dups"), None);
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
