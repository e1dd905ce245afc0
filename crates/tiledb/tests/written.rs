//! Arrays that this crate writes, reads again, and finds sound with its check.

use hyperslab_core::Limits;
use hyperslab_core::nd::{Planes, Region};
use hyperslab_core::store::{DirectoryWriter, Durability, Key, Store, WritableStore};
use hyperslab_tiledb::array::{Array, OpenOptions};
use hyperslab_tiledb::check::{self, Options};
use hyperslab_tiledb::filter::Scratch;
use hyperslab_tiledb::format::array_schema::{ArraySchema, Attribute, Dimension, Domain, EnumerationFile};
use hyperslab_tiledb::format::data_type::{CellValNum, DataType};
use hyperslab_tiledb::format::enumeration::Enumeration;
use hyperslab_tiledb::format::filter_pipeline::{Filter, FilterPipeline};
use hyperslab_tiledb::format::group::ObjectType;
use hyperslab_tiledb::format::layout::{ArrayType, DataOrder, Layout};
use hyperslab_tiledb::format::metadata::{Entry, Metadata, Value};
use hyperslab_tiledb::read::IndexBox;
use hyperslab_tiledb::write::array::{ArrayWriter, WriteOptions};
use hyperslab_tiledb::write::dense::{DenseFragment, TileBuffers};
use hyperslab_tiledb::write::field::TileCells;
use hyperslab_tiledb::write::group::{GroupWriter, relative_member};
use hyperslab_tiledb::write::names::Names;
use hyperslab_tiledb::write::sparse::{Column, SparseFragment, global_order};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) fn pipeline(filters: Vec<Filter>) -> FilterPipeline {
    FilterPipeline { max_chunk_size: 65_536, filters }
}

pub(crate) fn attribute(name: &str, data_type: DataType) -> Attribute {
    Attribute {
        name: name.into(),
        data_type,
        cell_val_num: CellValNum::ONE,
        filters: pipeline(vec![Filter::Zstd { level: -1 }]),
        fill_value: Some(data_type.default_fill_value().to_vec()),
        nullable: false,
        fill_value_validity: 0,
        order: DataOrder::Unordered,
        enumeration: None,
    }
}

pub(crate) fn dimension(name: &str, domain: (i64, i64), tile: i64) -> Dimension {
    Dimension {
        name: name.into(),
        data_type: DataType::Int64,
        cell_val_num: CellValNum::ONE,
        filters: pipeline(Vec::new()),
        domain: [domain.0.to_le_bytes(), domain.1.to_le_bytes()].concat(),
        tile_extent: Some(tile.to_le_bytes().to_vec()),
    }
}

pub(crate) fn schema(
    array_type: ArrayType,
    dimensions: Vec<Dimension>,
    attributes: Vec<Attribute>,
) -> ArraySchema {
    ArraySchema {
        version: 22,
        allows_dups: false,
        array_type,
        tile_order: Layout::RowMajor,
        cell_order: Layout::RowMajor,
        capacity: 3,
        coords_filters: pipeline(vec![Filter::Zstd { level: -1 }]),
        offsets_filters: pipeline(vec![Filter::Zstd { level: -1 }]),
        validity_filters: pipeline(vec![Filter::Rle { level: -1 }]),
        domain: Domain { dimensions },
        attributes,
        dimension_labels: Vec::new(),
        enumerations: Vec::new(),
        current_domain: None,
    }
}

/// An attribute of nullable texts.
pub(crate) fn texts(name: &str) -> Attribute {
    Attribute {
        cell_val_num: CellValNum::Var,
        nullable: true,
        fill_value: Some(vec![0]),
        ..attribute(name, DataType::StringAscii)
    }
}

pub(crate) struct Place {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) store: Arc<DirectoryWriter>,
}

impl Place {
    pub(crate) fn new() -> Place {
        let folder = tempfile::tempdir().unwrap();
        let store = Arc::new(DirectoryWriter::open(folder.path(), Durability::Process).unwrap());
        Place { folder, store }
    }

    pub(crate) fn writable(&self) -> Arc<dyn WritableStore> {
        Arc::clone(&self.store) as Arc<dyn WritableStore>
    }

    pub(crate) fn readable(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store) as Arc<dyn Store>
    }

    pub(crate) fn open(&self, array: &str) -> Array {
        Array::open(self.readable(), &key(array), OpenOptions::default()).unwrap()
    }

    /// Asserts that the check finds nothing.
    pub(crate) fn check(&self, object: &str) {
        let mut found = Vec::new();
        let store = self.readable();
        let run = check::check(
            &store,
            &key(object),
            &OpenOptions::default(),
            &Options { values: true, ..Options::default() },
            &mut |finding| {
                found.push(format!("{finding:?}"));
            },
        );
        run.unwrap();
        assert_eq!(found, Vec::<String>::new(), "{object}");
        // The same files can be examined with another library.
        if let Some(to) = std::env::var_os("HYPERSLAB_WRITTEN") {
            copy(&self.folder.path().join(object), &PathBuf::from(to).join(object));
        }
    }
}

pub(crate) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        match entry.file_type().unwrap().is_dir() {
            true => copy(&from, &to),
            false => drop(std::fs::copy(from, to).unwrap()),
        }
    }
}

pub(crate) fn key(key: &str) -> Key {
    Key::new(key).unwrap()
}

pub(crate) fn options() -> WriteOptions {
    WriteOptions { names: Arc::new(Names::fixed(10)), ..WriteOptions::default() }
}

/// The cells of an attribute in a box, given by its first cell and the number of cells along each dimension.
pub(crate) type CellsOf = dyn Fn(usize, &[u64], &[u64]) -> Column;

/// Writes the cells of a box of a two-dimensional dense array. They are given in row-major order.
pub(crate) fn write_dense(writer: &ArrayWriter, time: u64, written: IndexBox, cells: &CellsOf) {
    let fragment = DenseFragment::new(writer, (time, time), written.clone()).unwrap();
    let (mut buffers, mut scratch) = (TileBuffers::default(), Scratch::new());
    for attribute in 0..writer.schema().attributes.len() {
        let encoder = fragment.encoder(attribute).unwrap();
        let tile = encoder.tile().to_vec();
        let grid = |at: &[u64]| -> Vec<u64> { at.iter().zip(&tile).map(|(at, tile)| at / tile).collect() };
        let (first, last) = (grid(&written.first), grid(&written.last));
        let mut places: Vec<[u64; 2]> = (first[0]..=last[0])
            .flat_map(|row| (first[1]..=last[1]).map(move |column| [row, column]))
            .collect();
        if writer.schema().tile_order == Layout::ColMajor {
            places.sort_by_key(|[row, column]| (*column, *row));
        }
        for at in places {
            let begin: Vec<u64> = (0..2).map(|n| (at[n] * tile[n]).max(written.first[n])).collect();
            let end: Vec<u64> = (0..2).map(|n| ((at[n] + 1) * tile[n] - 1).min(written.last[n])).collect();
            let within: Vec<u64> = (0..2).map(|n| begin[n] - at[n] * tile[n]).collect();
            let count: Vec<u64> = (0..2).map(|n| end[n] - begin[n] + 1).collect();
            let Column { values, offsets, validity } = cells(attribute, &begin, &count);
            let cells = TileCells { values: &values, offsets: &offsets, validity: &validity };
            let mut bytes = Vec::new();
            let tile =
                encoder.encode((&within, &count), &cells, &mut bytes, (&mut buffers, &mut scratch)).unwrap();
            fragment.put(attribute, &at, &bytes, &tile).unwrap();
        }
    }
    writer.commit(&[fragment.finish().unwrap()]).unwrap();
}

/// The cells of a box: numbers that follow from their position, and texts of which every fifth is null.
pub(crate) fn cells(attribute: usize, begin: &[u64], count: &[u64]) -> Column {
    let mut column = Column::default();
    for row in begin[0]..begin[0] + count[0] {
        for place in begin[1]..begin[1] + count[1] {
            let number = row * 100 + place;
            if attribute == 0 {
                column.values.extend((number as f32).to_le_bytes());
            } else {
                column.offsets.push(column.values.len() as u64);
                column.validity.push(u8::from(number % 5 != 0));
                if number % 5 != 0 {
                    column.values.extend("x".repeat((number % 4) as usize).bytes());
                }
            }
        }
    }
    column
}

pub(crate) fn two_by_two(order: Layout) -> ArraySchema {
    let dimensions = vec![dimension("row", (0, 9), 4), dimension("column", (-5, 4), 3)];
    let attributes = vec![attribute("number", DataType::Float32), texts("text")];
    ArraySchema { tile_order: order, cell_order: order, ..schema(ArrayType::Dense, dimensions, attributes) }
}

#[test]
fn dense_fragments_are_read_again_in_both_orders() {
    for (order, name) in [(Layout::RowMajor, "dense_row"), (Layout::ColMajor, "dense_col")] {
        let place = Place::new();
        let writer = Arc::new(
            ArrayWriter::create(place.writable(), &key(name), two_by_two(order), Vec::new(), 10, options())
                .unwrap(),
        );
        let all = IndexBox { first: vec![0, 0], last: vec![9, 9] };
        write_dense(&writer, 11, all, &cells);
        write_dense(&writer, 12, IndexBox { first: vec![2, 1], last: vec![5, 7] }, &cells);
        place.check(name);
        let array = place.open(name);
        let mut read = vec![0; 400];
        let region = Region::all(&[10, 10]);
        array.read_dense(0, &region, &mut Planes::whole(&mut read), None).unwrap();
        assert_eq!(read, cells(0, &[0, 0], &[10, 10]).values);
        let mut validity = vec![0; 100];
        let found = array.read_dense_var(1, &region, Some(&mut validity)).unwrap();
        assert_eq!(validity, cells(1, &[0, 0], &[10, 10]).validity);
        assert_eq!(found.rows.len(), 1600);
    }
}

#[test]
fn sparse_fragments_are_in_global_order() {
    for order in [Layout::RowMajor, Layout::ColMajor, Layout::Hilbert] {
        let place = Place::new();
        let tile_order = if order == Layout::Hilbert { Layout::RowMajor } else { order };
        let schema = ArraySchema {
            array_type: ArrayType::Sparse,
            tile_order,
            cell_order: order,
            ..two_by_two(Layout::RowMajor)
        };
        let name = format!("sparse_{order:?}").to_lowercase();
        let writer = Arc::new(
            ArrayWriter::create(place.writable(), &key(&name), schema, Vec::new(), 10, options()).unwrap(),
        );
        let numbers: Vec<i64> = (0..17).map(|n| n * 7 % 10).collect();
        let columns = [
            Column { values: numbers.iter().flat_map(|n| n.to_le_bytes()).collect(), ..Column::default() },
            Column {
                values: (0..17_i64).flat_map(|n| (n * 3 % 10 - 5).to_le_bytes()).collect(),
                ..Column::default()
            },
            Column { values: (0..17).flat_map(|n| (n as f32).to_le_bytes()).collect(), ..Column::default() },
            Column {
                values: "abcdefghijklmnopq".bytes().collect(),
                offsets: (0..17).collect(),
                validity: (0..17).map(|n| u8::from(n % 3 != 0)).collect(),
            },
        ];
        let e = global_order(writer.schema(), &columns, 17).unwrap_err();
        assert_eq!(e.detail(), "two cells at (0, -5), but the array allows no duplicates");
        let sorted: Vec<Column> = columns.iter().map(|column| first(column, 10)).collect();
        let fragment = SparseFragment::of_cells(&writer, 11, &sorted, 10).unwrap();
        writer.commit(&[fragment]).unwrap();
        place.check(&name);
    }
}

/// The first cells of a column.
fn first(column: &Column, count: usize) -> Column {
    let mut column = column.clone();
    let size = column.values.len() / 17;
    column.values.truncate(count * size);
    column.offsets.truncate(count);
    column.validity.truncate(count);
    column
}

/// An enumeration of red and green.
pub(crate) fn colours() -> Enumeration {
    Enumeration {
        name: b"colours".to_vec(),
        path: Vec::new(),
        data_type: DataType::StringAscii,
        cell_val_num: CellValNum::Var,
        ordered: false,
        data: b"redgreen".to_vec(),
        offsets: Some(vec![0, 3]),
    }
}

#[test]
fn groups_have_members_metadata_and_enumerations() {
    let place = Place::new();
    let group = GroupWriter::create(place.writable(), &key("group"), options()).unwrap();
    let mut own = two_by_two(Layout::RowMajor);
    own.attributes[1] =
        Attribute { enumeration: Some(b"colours".to_vec()), ..attribute("colour", DataType::UInt8) };
    own.enumerations = vec![EnumerationFile { name: b"colours".to_vec(), file_name: Vec::new() }];
    let array =
        ArrayWriter::create(place.writable(), &key("group/a"), own, vec![colours()], 10, options()).unwrap();
    let entry = |key: &str, data_type, bytes: &[u8]| Entry {
        key: key.into(),
        value: Some(Value { data_type, bytes: bytes.to_vec() }),
    };
    let metadata = Metadata {
        entries: vec![
            entry("units", DataType::StringUtf8, "°C".as_bytes()),
            entry("valid_min", DataType::Float64, &1.5_f64.to_le_bytes()),
        ],
    };
    array.put_metadata(&metadata, 11).unwrap();
    group.put_members(vec![relative_member("first", "a", ObjectType::Array)], 12).unwrap();
    group.put_metadata(&metadata, 12).unwrap();
    place.check("group");
    let opened = place.open("group/a");
    assert_eq!(opened.metadata().unwrap().len(), 2);
    assert_eq!(opened.enumeration(b"colours").unwrap().values().unwrap().count(), 2);
}

#[test]
fn several_fragments_are_committed_at_once() {
    let place = Place::new();
    let writer = Arc::new(
        ArrayWriter::create(
            place.writable(),
            &key("many"),
            two_by_two(Layout::RowMajor),
            Vec::new(),
            10,
            options(),
        )
        .unwrap(),
    );
    let fragment = |row: u64| {
        let written = IndexBox { first: vec![row * 4, 0], last: vec![row * 4, 2] };
        let fragment = DenseFragment::new(&writer, (20 + row, 20 + row), written).unwrap();
        for attribute in 0..2 {
            let Column { values, offsets, validity } = cells(attribute, &[row * 4, 0], &[1, 3]);
            let cells = TileCells { values: &values, offsets: &offsets, validity: &validity };
            let (mut bytes, mut buffers) = (Vec::new(), TileBuffers::default());
            let encoder = fragment.encoder(attribute).unwrap();
            let tile =
                encoder.encode((&[0, 0], &[1, 3]), &cells, &mut bytes, (&mut buffers, &mut Scratch::new()));
            fragment.put(attribute, &[row, 0], &bytes, &tile.unwrap()).unwrap();
        }
        fragment.finish().unwrap()
    };
    let fragments: Vec<_> = (0..2).map(fragment).collect();
    assert!(place.open("many").fragments().unwrap().is_empty());
    writer.commit(&fragments).unwrap();
    assert_eq!(place.open("many").fragments().unwrap().len(), 2);
    place.check("many");
}

#[test]
fn schemas_that_tiledb_refuses_are_refused_by_name() {
    let place = Place::new();
    let create = |schema| {
        let made = ArrayWriter::create(place.writable(), &key("no"), schema, Vec::new(), 10, options());
        made.err().map(|e| e.detail().to_owned()).unwrap()
    };
    let good = || two_by_two(Layout::RowMajor);
    let mut bad = good();
    bad.domain.dimensions[0].data_type = DataType::Float64;
    assert_eq!(create(bad), "dimension \"row\": a dense dimension of FLOAT64, expected integers");
    let mut bad = good();
    bad.attributes[1].name = b"row".to_vec();
    assert_eq!(create(bad), "\"row\" a second time");
    let mut bad = good();
    bad.attributes[0].filters = pipeline(vec![Filter::Delta { level: -1, reinterpret: None }]);
    assert!(create(bad).starts_with("attribute \"number\": filter DELTA"));
    let mut bad = good();
    bad.domain.dimensions[0] = dimension("row", (0, i64::MAX), 10);
    assert!(create(bad).contains("the last of which ends at"));
    let mut bad = good();
    bad.domain.dimensions[0] = dimension("row", (0, 5), 10);
    assert_eq!(create(bad), "dimension \"row\": tiles of 10 in a domain of 6");
    let mut bad = good();
    bad.version = 6;
    assert_eq!(create(bad), "writing of format version 6, expected 7 to 22");
    let again = ArrayWriter::create(place.writable(), &key("no"), good(), Vec::new(), 10, options());
    assert!(again.is_ok());
    let limits = Limits::default();
    assert!(ArrayWriter::open(place.writable(), place.readable(), &key("no"), limits, options()).is_ok());
}
