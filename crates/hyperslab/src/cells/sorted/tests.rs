//! Sorting against [`CellTable`], which sorts in memory.

use super::*;
use crate::cells::scratch::Scratch;
use crate::cells::testing::{Random, datatypes};
use crate::cells::{CellRange, CellSource, CellTable};
use hyperslab_core::rows::Slot;
use hyperslab_core::storage::{FaultyWrites, WritableMemory, WriteFault};
use hyperslab_core::{CancelToken, Error, ErrorKind};
use hyperslab_model::{Column, Datatype, Values};
use proptest::prelude::*;

/// The canonical bytes of cells, one for each, and the number of batches.
fn read(batches: CellBatches<'_>) -> (Vec<Vec<u8>>, usize) {
    let (mut cells, mut count) = (Vec::new(), 0);
    for batch in batches {
        let batch = batch.unwrap();
        assert!(!batch.is_empty());
        count += 1;
        for cell in 0..batch.len() {
            let mut bytes = Vec::new();
            for column in &batch.columns {
                crate::canonical::canonical(&|_| 0, column.get(cell).unwrap(), &mut bytes).unwrap();
            }
            cells.push(bytes);
        }
    }
    (cells, count)
}

/// The cells of a table in batches of `size` cells, in the order of the table.
fn stored(table: &CellTable, size: u64) -> impl Iterator<Item = Result<StoredCells>> + Send + '_ {
    let row: usize = table.columns().iter().map(|column| column.datatype.row_size().unwrap()).sum();
    let order = crate::cells::CellOrder::Stored;
    let query = CellQuery { order, batch: size * row as u64, ..CellQuery::default() };
    table.batches(&query).unwrap().map(|batch| batch.map(StoredCells::Cells))
}

fn in_memory() -> Result<Scratch> {
    Ok(Scratch::of(Box::new(WritableMemory::default())))
}

fn numbers(count: usize, random: &mut Random) -> CellTable {
    let columns = (0..2).map(|name| random.column(name, &Datatype::int(64, true), count)).collect();
    CellTable::new(Cells { columns }, 1).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, ..ProptestConfig::default() })]
    #[test]
    fn any_cells_are_sorted_as_a_table_in_any_memory(
        seed: u64,
        dimensions in prop::collection::vec(0_usize..8, 1..4),
        attributes in prop::collection::vec(0_usize..18, 0..4),
        count in 0_usize..300,
        memory in prop::sample::select(vec![0_u64, 64, 1 << 10, 1 << 16, 1 << 30]),
        batch in prop::sample::select(vec![1_u64, 100, 1 << 20]),
        threads in 1_usize..4,
    ) {
        let (types, mut random) = (datatypes(), Random(seed));
        let columns = dimensions.iter().chain(&attributes).enumerate();
        let columns: Vec<_> = columns.map(|(name, index)| random.column(name, &types[*index], count)).collect();
        let table = CellTable::new(Cells { columns }, dimensions.len()).unwrap();
        let pool = Pool::new(threads, memory);
        let query = CellQuery { batch, ..CellQuery::default() };
        let found = sorted_with(stored(&table, 7), table.columns(), &query, &pool, in_memory).unwrap();
        let found = read(found);
        prop_assert_eq!(&found.0, &read(table.batches(&query).unwrap()).0);

        // One column, within bounds of the first dimension.
        let bound = random.column(0, &types[dimensions[0]], 1).values;
        let ranges = vec![CellRange { dimension: 0, low: Some(bound), high: None }];
        let query = CellQuery { columns: Some(vec![dimensions.len() - 1]), ranges, ..query };
        let found = sorted_with(stored(&table, 50), table.columns(), &query, &pool, in_memory).unwrap();
        prop_assert_eq!(read(found).0, read(table.batches(&query).unwrap()).0);
    }
}

#[test]
fn cells_before_a_boundary_need_no_cells_after_it() {
    let part = |numbers: &[i64]| {
        let rows: Vec<u8> = numbers.iter().flat_map(|number| number.to_ne_bytes()).collect();
        let values = Values { rows: rows.into(), ..Values::default() };
        let column = Column { name: "x".into(), datatype: Arc::new(Datatype::int(64, true)), values };
        Ok(StoredCells::Cells(Cells { columns: vec![column] }))
    };
    let columns =
        CellTable::new(Cells { columns: vec![Random(0).column(0, &Datatype::int(64, true), 0)] }, 1);
    let (columns, boundary) = (columns.unwrap(), || Ok(StoredCells::Boundary));
    let stored =
        vec![boundary(), part(&[3, 1]), part(&[2]), boundary(), part(&[4]), boundary(), part(&[9, 8])];
    let stored = stored.into_iter().chain([Err(Error::invalid("read too far"))]);
    let query = CellQuery { batch: 8 * 3, ..CellQuery::default() };
    let mut found = sorted(stored, columns.columns(), &query, Pool::shared()).unwrap();
    let batch = found.next().unwrap().unwrap();
    assert_eq!(batch.columns[0].values.rows, [1_i64, 2, 3].map(i64::to_ne_bytes).concat());
    assert_eq!(found.next().unwrap().unwrap_err().to_string(), "read too far");
    assert!(found.next().is_none());
}

#[test]
fn sorted_cells_are_one_run_in_the_file() {
    let mut records = Records::new(Some(8));
    let mut runs = Runs::new(in_memory);
    let rows: Vec<u8> = (0..1000_i64).flat_map(i64::to_ne_bytes).collect();
    let values = Values { rows: rows.into(), ..Values::default() };
    let column = Column { name: "x".into(), datatype: Arc::new(Datatype::int(64, true)), values };
    let table = CellTable::new(Cells { columns: vec![column.clone()] }, 1).unwrap();
    let form = Form::new(table.columns(), vec![0]).unwrap();
    let cells = Cells { columns: vec![column] };
    let mut at = 0;
    while at < 1000 {
        at = records.add(&form, &cells, at, 800).unwrap();
        for slice in records.sort(Pool::shared()).unwrap() {
            runs.add(&records, slice).unwrap();
        }
        records.clear();
    }
    assert_eq!(runs.take(), vec![std::ops::Range { start: 0, end: 8000 }]);
}

#[test]
fn a_full_disk_is_an_error_that_says_which_one() {
    fn full() -> Result<Scratch> {
        let file = FaultyWrites::new(WritableMemory::default(), WriteFault::Full(5000));
        Ok(Scratch::of(Box::new(file)))
    }
    let table = numbers(1000, &mut Random(1));
    let pool = Pool::new(2, 2000);
    let query = CellQuery::default();
    let mut found = sorted_with(stored(&table, 10), table.columns(), &query, &pool, full).unwrap();
    let error = found.next().unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    let (said, folder) = (error.to_string(), std::env::temp_dir());
    assert!(
        said.starts_with(&format!("scratch file for cells in {}: no storage space", folder.display())),
        "{said}"
    );
    assert!(said.contains("TMPDIR"), "{said}");
    assert!(found.next().is_none());
}

#[test]
fn each_failing_operation_of_the_file_is_an_error_or_has_no_effect() {
    let table = numbers(300, &mut Random(2));
    let expected = read(table.batches(&CellQuery::default()).unwrap()).0;
    thread_local! {
        static FAULT: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
    }
    fn failing() -> Result<Scratch> {
        let file = FaultyWrites::new(WritableMemory::default(), WriteFault::FromOperation(FAULT.get()));
        Ok(Scratch::of(Box::new(file)))
    }
    let pool = Pool::new(1, 1000);
    let mut failed = 0;
    for fault in 0..100 {
        FAULT.set(fault);
        let query = CellQuery::default();
        let found = sorted_with(stored(&table, 10), table.columns(), &query, &pool, failing).unwrap();
        let batches: Vec<Result<Cells>> = found.collect();
        match batches.iter().find_map(|batch| batch.as_ref().err()) {
            Some(error) => {
                assert_eq!(error.kind(), ErrorKind::Io);
                failed += 1;
            }
            None => assert_eq!(read(Box::new(batches.into_iter())).0, expected),
        }
    }
    assert!((1..100).contains(&failed), "{failed}");
}

#[test]
fn a_cancelled_sort_stops() {
    let table = numbers(1000, &mut Random(3));
    let token = CancelToken::new();
    let pool = Pool::new(2, 2000).with_cancel(token.clone());
    let stored = stored(&table, 10).inspect(|_| token.cancel());
    let query = CellQuery::default();
    let mut found = sorted_with(stored, table.columns(), &query, &pool, in_memory).unwrap();
    assert_eq!(found.next().unwrap().unwrap_err().kind(), ErrorKind::Cancelled);
    assert!(found.next().is_none());
}

#[test]
fn a_scratch_file_leaves_nothing_behind() {
    let table = numbers(1000, &mut Random(4));
    let named = || {
        let prefix = format!("hyperslab-cells-{}-", std::process::id());
        let entries = std::fs::read_dir(std::env::temp_dir()).unwrap();
        entries
            .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().starts_with(&prefix))
            .count()
    };
    let query = CellQuery { batch: 100, ..CellQuery::default() };
    let pool = Pool::new(2, 2000);
    let mut found = sorted(stored(&table, 10), table.columns(), &query, &pool).unwrap();
    assert!(found.next().unwrap().is_ok());
    #[cfg(unix)]
    assert_eq!(named(), 0, "its name is gone before it is written");
    assert_eq!(read(found).0.len() + 6, 1000);
    assert_eq!(named(), 0);
}

#[test]
fn references_and_batches_of_other_columns_are_refused() {
    let reference = Column {
        name: "r".into(),
        datatype: Arc::new(Datatype::Vlen(Box::new(Datatype::ObjRef))),
        values: Values { rows: Slot::default().to_bytes().to_vec().into(), ..Values::default() },
    };
    let table = CellTable::new(Cells { columns: vec![reference] }, 0).unwrap();
    let query = CellQuery::default();
    let error = sorted(stored(&table, 1), table.columns(), &query, Pool::shared()).err().unwrap();
    assert_eq!(error.to_string(), "sorting cells with references (\"r\")");

    let (table, mut random) = (numbers(3, &mut Random(5)), Random(6));
    let one = Ok(StoredCells::Cells(Cells { columns: vec![random.column(0, &Datatype::int(64, true), 3)] }));
    let mut found = sorted(std::iter::once(one), table.columns(), &query, Pool::shared()).unwrap();
    let error = found.next().unwrap().unwrap_err();
    assert_eq!(error.to_string(), "cells of 1 columns, expected 2");
}
