//! Tables as Parquet and Arrow files. `xtask/oracles/tables.py` checks that other programs can read them.

use crate::targets;
use arrow_array::types::Int32Type;
use arrow_array::{
    Array, BooleanArray, DictionaryArray, Float64Array, Int16Array, LargeStringArray, RecordBatch, UInt8Array,
};
use arrow_schema::SchemaRef;
use hyperslab::model::{Datatype, Values};
use hyperslab::show::{ShowOptions, View};
use hyperslab::tabular::{Tabular, arrow_array, arrow_type, read_arrow, write_arrow, write_parquet};
use hyperslab::{ErrorKind, Pool, Result, Source, StoreBuilder, Strings};
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

/// A writer that fails after a number of bytes.
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

/// The columns of the arrays at these paths, read as one table.
fn in_memory(source: &dyn Source, paths: &[&str]) -> Result<(SchemaRef, Vec<RecordBatch>)> {
    let views = paths
        .iter()
        .map(|path| View::new(source, &targets(source, path).unwrap()[0], &ShowOptions::default()).unwrap());
    let views: Vec<View> = views.collect();
    read_arrow(&views.iter().map(Tabular::of_array).collect::<Vec<_>>())
}

#[test]
fn arrays_of_the_same_dimensions_are_columns_behind_their_coordinates() {
    let mut store = StoreBuilder::new();
    store.coordinate("/x", &[0.5_f64, 1.5]).unwrap();
    store.array("/a", &["/x"], &[1_i16, 2]).unwrap();
    store.array("/b", &["/x"], &[3_u8, 4]).unwrap();
    store.array_of_shape("/more", &[3], &[1_u8, 2, 3]).unwrap();
    let source = store.build();
    let (schema, batches) = in_memory(&*source, &["/a", "/b"]).unwrap();
    let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    assert_eq!(names, ["x", "a", "b"]);
    let [batch] = batches.as_slice() else { panic!("one batch") };
    let column = |index: usize| batch.column(index).to_data();
    assert_eq!(column(0), Float64Array::from(vec![0.5, 1.5]).to_data());
    assert_eq!(column(1), Int16Array::from(vec![1, 2]).to_data());
    assert_eq!(column(2), UInt8Array::from(vec![3, 4]).to_data());
    let error = in_memory(&*source, &["/a", "/more"]).unwrap_err();
    assert_eq!(error.to_string(), "3 rows of more, expected 2 as of others");
    // The coordinates of one array do not hide a column of the same name.
    let (schema, _) = in_memory(&*source, &["/a", "/a"]).unwrap();
    let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    assert_eq!(names, ["x", "a", "a_2"]);
}

#[test]
fn a_long_array_comes_in_batches() {
    let source = with_numbers(&[300_000], &vec![7; 300_000]);
    let (_, batches) = in_memory(&*source, &["/x"]).unwrap();
    assert_eq!(batches.iter().map(RecordBatch::num_rows).collect::<Vec<_>>(), [131_072, 131_072, 37_856]);
}

#[test]
fn enumerations_in_memory_are_dictionaries_and_booleans() {
    let members = |names: [&str; 2]| names.into_iter().map(str::to_owned).zip([0, 1]).collect();
    let enumeration =
        |names| Datatype::Enum { base: Box::new(Datatype::int(8, true)), members: members(names) };
    let values = Values { rows: vec![1, 0, 2].into(), ..Values::default() };
    let colours = enumeration(["red", "green"]);
    let array = arrow_array(&colours, &values).unwrap();
    assert_eq!(array.data_type(), arrow_type("c", &colours).data_type());
    let keys = array.as_any().downcast_ref::<DictionaryArray<Int32Type>>().unwrap();
    let names = keys.values().as_any().downcast_ref::<LargeStringArray>().unwrap();
    let read: Vec<&str> =
        keys.keys().values().iter().map(|key| names.value(usize::try_from(*key).unwrap())).collect();
    // A value without a name is shown as its number.
    assert_eq!(read, ["green", "red", "2"]);
    let truth = arrow_array(&enumeration(["FALSE", "TRUE"]), &values).unwrap();
    assert_eq!(truth.to_data(), BooleanArray::from(vec![true, false, true]).to_data());
}

#[test]
fn texts_become_an_array_as_they_are() {
    let mut store = StoreBuilder::new();
    store.dimension("/n", 3).unwrap();
    store.texts("/x", &["/n"], &["", "a", "åäö"]).unwrap();
    let source = store.build();
    let array = source.array(&targets(&*source, "/x").unwrap()[0].entry.handle).unwrap();
    let texts = LargeStringArray::from(Strings::read(&*array).unwrap());
    assert_eq!(texts.iter().flatten().collect::<Vec<_>>(), ["", "a", "åäö"]);
}
