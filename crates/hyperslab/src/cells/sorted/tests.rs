//! Sorting against [`CellTable`], which sorts in memory.

use super::*;
use crate::cells::scratch::Scratch;
use crate::cells::{CellRange, CellSource, CellTable};
use hyperslab_core::rows::{Heap, Slot};
use hyperslab_core::storage::{FaultyWrites, WritableMemory, WriteFault};
use hyperslab_core::{CancelToken, Error, ErrorKind};
use hyperslab_model::{Column, Datatype, Float, Member, Pad, Text, Values};
use proptest::prelude::*;

/// A source of random numbers: the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    /// Appends an element. Few values are possible, so that many are equal.
    fn push(&mut self, datatype: &Datatype, rows: &mut Vec<u8>, heap: &mut Heap<hyperslab_model::Reference>) {
        match datatype {
            Datatype::Int { .. } | Datatype::Datetime(_) | Datatype::Enum { .. } => {
                let number = [-70_000_i128, -300, -2, -1, 0, 1, 2, 255, 256, 65_536, 1 << 40]
                    [usize::try_from(self.below(11)).unwrap()];
                let (bits, signed) = match datatype {
                    Datatype::Int { bits, signed } => (*bits, *signed),
                    Datatype::Enum { .. } => (8, true),
                    _ => (64, true),
                };
                let shift = 128 - u32::from(bits);
                let number = match signed {
                    true => (number << shift) >> shift,
                    false => {
                        i128::try_from((u128::from_ne_bytes(number.to_ne_bytes()) << shift) >> shift).unwrap()
                    }
                };
                let size = datatype.row_size().unwrap();
                rows.extend_from_slice(&number.to_le_bytes()[..size]);
            }
            Datatype::Float(Float::Single) => {
                let number = [-1.5_f32, -0.0, 0.0, 1e-40, 2.5, f32::INFINITY, f32::NAN, -f32::NAN];
                rows.extend_from_slice(&number[usize::try_from(self.below(8)).unwrap()].to_le_bytes());
            }
            Datatype::Float(_) => {
                let number = [-1e300_f64, -0.0, 0.0, 1e-310, 2.5, f64::NEG_INFINITY, f64::NAN, -f64::NAN];
                rows.extend_from_slice(&number[usize::try_from(self.below(8)).unwrap()].to_le_bytes());
            }
            Datatype::Bool => rows.push(u8::from(self.below(2) > 0)),
            Datatype::String(Text::Variable) => {
                let text =
                    ["", "\0", "\0\0", "a", "a\0", "a\0b", "ab", "b", "a much longer text than the others"];
                let text = text[usize::try_from(self.below(9)).unwrap()];
                let slot = heap.push_bytes(bytes::Bytes::from_static(text.as_bytes())).unwrap();
                rows.extend(slot.to_bytes());
            }
            Datatype::String(Text::Fixed { pad, .. }) => {
                let fill = if *pad == Pad::Space { b' ' } else { 0 };
                let text = [[fill; 3], [b'a', fill, fill], [b'a', b'b', fill], *b"abc"];
                rows.extend(text[usize::try_from(self.below(4)).unwrap()]);
            }
            Datatype::Opaque { .. } => rows.extend([0, u8::try_from(self.below(3)).unwrap()]),
            Datatype::Vlen(base) => {
                let count = u32::try_from(self.below(4)).unwrap();
                let mut elements = Vec::new();
                (0..count).for_each(|_| self.push(base, &mut elements, heap));
                let slot = heap.push_items(elements.into(), count).unwrap();
                rows.extend(slot.to_bytes());
            }
            Datatype::Array { base, shape } => {
                (0..shape.iter().product()).for_each(|_| self.push(base, rows, heap));
            }
            Datatype::Compound(members) => {
                members.iter().for_each(|member| self.push(&member.datatype, rows, heap));
            }
            Datatype::Nullable(of) => match self.below(3) {
                0 => rows.resize(rows.len() + datatype.row_size().unwrap(), 0),
                _ => {
                    rows.push(1);
                    self.push(of, rows, heap);
                }
            },
            other => panic!("{other:?}"),
        }
    }

    fn column(&mut self, name: usize, datatype: &Datatype, count: usize) -> Column {
        let (mut rows, mut heap) = (Vec::new(), Heap::default());
        (0..count).for_each(|_| self.push(datatype, &mut rows, &mut heap));
        let values = Values { rows: rows.into(), heap };
        Column { name: name.to_string(), datatype: Arc::new(datatype.clone()), values }
    }
}

/// The types that are tried. The first eight can be those of dimensions.
fn datatypes() -> Vec<Datatype> {
    let text = Datatype::String(Text::Variable);
    let fixed = |pad| Datatype::String(Text::Fixed { len: 3, pad });
    let of = Box::new;
    let seconds = hyperslab_model::TimeUnit { unit: "s".into(), duration: false };
    vec![
        Datatype::int(64, true),
        Datatype::int(8, false),
        Datatype::int(24, true),
        Datatype::Datetime(seconds),
        Datatype::Float(Float::Double),
        Datatype::Float(Float::Single),
        text.clone(),
        fixed(Pad::Space),
        fixed(Pad::Nul),
        Datatype::Enum { base: of(Datatype::int(8, true)), members: vec![("one".into(), 1)] },
        Datatype::int(16, false),
        Datatype::Bool,
        Datatype::Opaque { size: 2, tag: String::new() },
        Datatype::Nullable(of(Datatype::Float(Float::Double))),
        Datatype::Nullable(of(text.clone())),
        Datatype::Array { base: of(Datatype::int(32, true)), shape: vec![2] },
        Datatype::Vlen(of(Datatype::Nullable(of(text.clone())))),
        Datatype::Compound(vec![
            Member { name: "n".into(), datatype: Datatype::int(24, true) },
            Member { name: "v".into(), datatype: Datatype::Vlen(of(Datatype::int(16, true))) },
        ]),
    ]
}

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
    assert_eq!(runs.take(), [0..8000]);
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
