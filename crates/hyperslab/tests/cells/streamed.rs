//! Verbs read many cells from a source that stores them in a different order, holding only a few of them at a time.

use super::{TempDir, differences, target};
use bytes::Bytes;
use hyperslab::cells::{
    CellBatches, CellColumn, CellOrder, CellQuery, CellSource, CellTable, StoredCells, sorted,
};
use hyperslab::convert::{ConvertOptions, convert, plan};
use hyperslab::digest;
use hyperslab::model::{Cells, Column, Datatype, Float, Node, Values};
use hyperslab::publish::Fingerprint;
use hyperslab::show::show_cells;
use hyperslab::{
    ArraySource, Dialect, Entry, Handle, NodePath, OpenOptions, Pool, Result, Source, TARGETS, open,
};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const CELLS: u32 = 1 << 18;

/// The maximum number of cells held at a time, which is less than a tenth of all cells.
const MAX: usize = 24 << 10;

const DOCUMENT: &str = "dimcoords:\n  x: {size: null, type: uint32}\n  y: {size: null, type: int64}\n\nndarrays:\n  \
    v: {shape: [x, y], type: float64}\n\ncells:\n  columns: [x, y, v]\n  rows: []\n\nstorage:\n  tiledb: {array: sparse}\n";

/// Cells that are computed when they are read, scattered over two dimensions.
struct Scattered {
    columns: Vec<CellColumn>,
    held: Arc<AtomicUsize>,
    pool: Pool,
}

/// Rows that are counted as long as they are held.
struct Counted {
    rows: Vec<u8>,
    cells: usize,
    held: Arc<AtomicUsize>,
}

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        &self.rows
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.held.fetch_sub(self.cells, Ordering::Relaxed);
    }
}

fn counted(rows: Vec<u8>, cells: usize, held: &Arc<AtomicUsize>) -> Bytes {
    let now = held.fetch_add(cells, Ordering::Relaxed) + cells;
    assert!(now <= MAX, "{now} cells are held");
    Bytes::from_owner(Counted { rows, cells, held: Arc::clone(held) })
}

impl Scattered {
    fn new(held: &Arc<AtomicUsize>) -> Scattered {
        let column = |name: &str, datatype, is_dimension| CellColumn {
            name: name.into(),
            datatype: Arc::new(datatype),
            is_dimension,
            is_ordered: false,
        };
        let columns = vec![
            column("x", Datatype::int(32, false), true),
            column("y", Datatype::int(64, true), true),
            column("v", Datatype::Float(Float::Double), false),
        ];
        Scattered { columns, held: Arc::clone(held), pool: Pool::new(2, 1 << 20) }
    }

    fn stored(&self) -> impl Iterator<Item = Result<StoredCells>> + Send + '_ {
        (0..CELLS).step_by(4096).map(|start| {
            // Multiplication by an odd number yields each number below a power of two once, unsorted.
            let places = (start..start + 4096).map(|n| n.wrapping_mul(7919) % CELLS);
            let mut rows = [Vec::new(), Vec::new(), Vec::new()];
            for place in places {
                rows[0].extend((place / 512).to_ne_bytes());
                rows[1].extend((i64::from(place % 512) - 256).to_ne_bytes());
                rows[2].extend(f64::from(place).to_ne_bytes());
            }
            let columns = self.columns.iter().zip(rows).enumerate().map(|(index, (column, rows))| {
                let cells = if index == 0 { 4096 } else { 0 };
                let values = Values { rows: counted(rows, cells, &self.held), ..Values::default() };
                Column { name: column.name.clone(), datatype: column.datatype.clone(), values }
            });
            Ok(StoredCells::Cells(Cells { columns: columns.collect() }))
        })
    }
}

impl CellSource for Scattered {
    fn columns(&self) -> &[CellColumn] {
        &self.columns
    }

    fn count(&self, query: &CellQuery) -> Result<u64> {
        self.batches(query)?.try_fold(0, |sum, batch| Ok(sum + batch?.len() as u64))
    }

    fn batches(&self, query: &CellQuery) -> Result<CellBatches<'_>> {
        assert_eq!(query.order, CellOrder::Sorted);
        let query = CellQuery { batch: query.batch.min(64 << 10), ..query.clone() };
        let batches = sorted(self.stored(), &self.columns, &query, &self.pool)?;
        Ok(Box::new(batches.map(|batch| {
            let mut batch = batch?;
            let cells = batch.len();
            if let Some(first) = batch.columns.first_mut() {
                first.values.rows = counted(first.values.rows.to_vec(), cells, &self.held);
            }
            Ok(batch)
        })))
    }
}

/// A document with these cells.
struct Streamed {
    document: Arc<dyn Source>,
    cells: Arc<dyn CellSource>,
}

impl Source for Streamed {
    fn beneath(&self) -> Option<&dyn Source> {
        Some(&*self.document)
    }
    fn dialect(&self) -> &'static Dialect {
        self.document.dialect()
    }
    fn is_text(&self) -> bool {
        false
    }
    fn size(&self) -> Result<u64> {
        Ok(24 * u64::from(CELLS))
    }
    fn find(&self, path: &NodePath) -> Result<Entry> {
        self.document.find(path)
    }
    fn members(&self, group: &Handle) -> Result<Vec<Entry>> {
        self.document.members(group)
    }
    fn load(&self, object: &Handle) -> Result<Node> {
        self.document.load(object)
    }
    fn array(&self, object: &Handle) -> Result<Arc<dyn ArraySource>> {
        self.document.array(object)
    }
    fn cells(&self, _: &Handle) -> Result<Option<Arc<dyn CellSource>>> {
        Ok(Some(Arc::clone(&self.cells)))
    }
}

fn streamed(folder: &TempDir) -> Streamed {
    let path = folder.path().join("streamed.yaml");
    fs::write(&path, DOCUMENT).unwrap();
    let document = open(&path, &OpenOptions::default()).unwrap();
    Streamed { document, cells: Arc::new(Scattered::new(&Arc::default())) }
}

/// The same cells, all in memory.
fn table() -> CellTable {
    let source = Scattered { held: Arc::default(), ..Scattered::new(&Arc::default()) };
    let mut rows = [Vec::new(), Vec::new(), Vec::new()];
    for stored in source.stored() {
        let StoredCells::Cells(cells) = stored.unwrap() else { continue };
        rows.iter_mut()
            .zip(&cells.columns)
            .for_each(|(all, column)| all.extend_from_slice(&column.values.rows));
    }
    let columns = source.columns.iter().zip(rows).map(|(column, rows)| Column {
        name: column.name.clone(),
        datatype: column.datatype.clone(),
        values: Values { rows: rows.into(), ..Values::default() },
    });
    CellTable::new(Cells { columns: columns.collect() }, 2).unwrap()
}

fn lines(source: &dyn Source) -> Vec<String> {
    let lines = digest::lines(source, &NodePath::root()).unwrap();
    lines.iter().map(digest::Line::to_json).collect()
}

#[test]
fn digests_and_differences_hold_few_cells() {
    let folder = TempDir::new().unwrap();
    let source = streamed(&folder);
    let in_memory = Streamed { cells: Arc::new(table()), document: Arc::clone(&source.document) };
    assert_eq!(lines(&source), lines(&in_memory));
    assert!(differences(&source, &in_memory).is_empty());
}

#[test]
fn shown_cells_are_read_in_batches_and_within_bounds() {
    let folder = TempDir::new().unwrap();
    let source = streamed(&folder);
    let shown = |text: &str| {
        let select = match text {
            "" => Vec::new(),
            text => vec![text.parse().unwrap()],
        };
        show_cells(&source, &[target(&source, "/")], &select).unwrap().unwrap()
    };
    assert_eq!(shown("").count, u64::from(CELLS));
    assert_eq!(shown("").batches().unwrap().map(|batch| batch.unwrap().len()).sum::<usize>(), 1 << 18);
    let part = shown("x=3..4,y=-2..1");
    assert_eq!(part.count, 8);
    let batch = part.batches().unwrap().next().unwrap().unwrap();
    let first = f64::from_ne_bytes(batch.columns[2].values.rows[..8].try_into().unwrap());
    assert_eq!(first, f64::from(3 * 512 + 254));
    let falling = vec!["x=4..3".parse().unwrap()];
    let message = show_cells(&source, &[target(&source, "/")], &falling).err().unwrap().to_string();
    assert!(message.contains("4..3 is empty: ranges go from the lower"), "{message}");
    assert!(message.contains("did you mean x=3..4?"), "{message}");
}

#[test]
fn tables_of_many_cells_are_written_with_little_memory() {
    let folder = TempDir::new().unwrap();
    let source = streamed(&folder);
    let expected = lines(&source);
    let document = folder.path().join("streamed.yaml");
    for name in ["zarr3", "hdf5", "netcdf4"] {
        let format = TARGETS.iter().find(|format| format.name() == name).unwrap();
        let target = folder.path().join(format!("many{}", format.suffixes()[0]));
        let options = ConvertOptions {
            pool: Pool::new(2, 1 << 20),
            allow: hyperslab::target::Loss::ALL.to_vec(),
            ..ConvertOptions::new(*format)
        };
        let plan = plan(&source, &options).unwrap();
        let made_from = Fingerprint::of_source(&document, "").unwrap();
        convert(&source, &made_from, &target, &plan, &options).unwrap();
        assert_eq!(lines(&*read(&target)), expected, "{name}");
    }
}

fn read(path: &Path) -> Arc<dyn Source> {
    open(path, &OpenOptions::default()).unwrap()
}
