//! Tables as Parquet and Arrow files. That other programs read them is the subject of `xtask/oracles/tables.py`.

use crate::targets;
use hyperslab::show::{ShowOptions, View};
use hyperslab::tabular::{Tabular, write_arrow, write_parquet};
use hyperslab::{ErrorKind, Pool, Result, Source, StoreBuilder};
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::io::{self, Write};
use std::sync::Arc;

fn with_numbers(shape: &[u64], numbers: &[u8]) -> Arc<dyn Source> {
    let mut store = StoreBuilder::new();
    store.array_of_shape("/x", shape, numbers).unwrap();
    store.build()
}

/// Calls a function with the table of the array `/x`.
fn with_table<T>(source: &dyn Source, of: impl FnOnce(&Tabular<'_>) -> T) -> T {
    let view = View::new(source, &targets(source, "/x").unwrap()[0], &ShowOptions::default()).unwrap();
    of(&Tabular::of_array(&view))
}

fn parquet_of(source: &dyn Source) -> SerializedFileReader<bytes::Bytes> {
    let mut file = Vec::new();
    with_table(source, |table| write_parquet(table, Pool::shared(), &mut file)).unwrap();
    SerializedFileReader::new(bytes::Bytes::from(file)).unwrap()
}

#[test]
fn row_groups_have_a_million_rows() {
    let source = with_numbers(&[1100, 2000], &vec![7; 2_200_000]);
    let file = parquet_of(&*source);
    let groups: Vec<i64> = file.metadata().row_groups().iter().map(|group| group.num_rows()).collect();
    assert_eq!(groups, [1 << 20, 1 << 20, 2_200_000 - (2 << 20)]);
    let names: Vec<&str> =
        file.metadata().file_metadata().schema_descr().columns().iter().map(|column| column.name()).collect();
    assert_eq!(names, ["dim_0", "dim_1", "x"]);
}

#[test]
fn no_rows_are_a_table_too() {
    let file = parquet_of(&*with_numbers(&[0, 3], &[]));
    assert_eq!((file.metadata().num_row_groups(), file.metadata().file_metadata().num_rows()), (0, 0));
}

/// Fails once it has taken some bytes.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() > self.0 {
            return Err(io::Error::new(io::ErrorKind::StorageFull, "no space left"));
        }
        self.0 -= bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

type WriteTable = dyn Fn(&Tabular<'_>, &mut dyn Write) -> Result<()>;

#[test]
fn a_full_disk_is_an_error_of_the_output() {
    let source = with_numbers(&[500], &vec![1; 500]);
    let parquet: &WriteTable = &|table, out| write_parquet(table, Pool::shared(), out);
    let arrow: &WriteTable = &|table, out| write_arrow(table, out);
    for write in [parquet, arrow] {
        let mut whole = Vec::new();
        with_table(&*source, |table| write(table, &mut whole)).unwrap();
        for room in (0..whole.len()).step_by(7) {
            let error = with_table(&*source, |table| write(table, &mut Full(room))).unwrap_err();
            assert_eq!((error.kind(), error.detail()), (ErrorKind::Io, "no space left"), "{room}");
        }
        with_table(&*source, |table| write(table, &mut Full(whole.len()))).unwrap();
    }
}
