//! Cells read in one piece are the same as those read in batches, whether in stored or in sorted order.

use crate::history::written;
use hyperslab::NodePath;
use hyperslab::cells::{CellOrder, CellQuery, CellRange, CellSource};
use hyperslab::model::{Column, Values};
use std::sync::Arc;

/// The sparse arrays that the TileDB library wrote.
const ARRAYS: [&str; 8] = [
    "deleted",
    "deleted_consolidated",
    "sparse_columns",
    "sparse_consolidated",
    "sparse_dups",
    "sparse_hilbert",
    "sparse_rows",
    "sparse_text",
];

fn cells(name: &str) -> Arc<dyn CellSource> {
    let source = written(name, None);
    let root = source.find(&NodePath::root()).unwrap();
    source.cells(&root.handle).unwrap().unwrap()
}

fn elements(columns: &[Column]) -> Vec<Vec<String>> {
    let element = |column: &Column, cell| format!("{:?}", column.get(cell).unwrap().get());
    let len = columns.first().map_or(0, Column::len);
    columns.iter().map(|column| (0..len).map(|cell| element(column, cell)).collect()).collect()
}

/// Checks that both ways find the same cells, and returns their number.
fn same(cells: &dyn CellSource, query: &CellQuery) -> usize {
    let mut batches: Vec<Vec<String>> = Vec::new();
    for batch in cells.batches(query).unwrap() {
        let found = elements(&batch.unwrap().columns);
        batches.resize(found.len(), Vec::new());
        batches.iter_mut().zip(found).for_each(|(all, more)| all.extend(more));
    }
    let all = cells.read(query).unwrap();
    assert_eq!(all.as_ref().map_or(Vec::new(), |all| elements(&all.columns)), batches);
    all.map_or(0, |all| all.len())
}

#[test]
fn cells_in_one_piece_are_those_of_batches() {
    for name in ARRAYS {
        let cells = cells(name);
        let columns = cells.columns();
        let fixed: Vec<usize> = (0..columns.len()).filter(|n| !columns[*n].datatype.has_slots()).collect();
        for order in [CellOrder::Stored, CellOrder::Sorted] {
            for wanted in [None, Some(fixed.clone())] {
                let query = CellQuery { columns: wanted, order, ..CellQuery::default() };
                let count = same(&*cells, &query);
                assert!(count > 3, "{name}: {count} cells");
                // The coordinates of two cells serve as bounds.
                let all = cells.read(&CellQuery { columns: None, ..query.clone() }).unwrap().unwrap();
                let one = |cell| -> Values {
                    let column = &all.columns[0];
                    column.values.pick(&[cell], column.datatype.row_size().unwrap()).unwrap()
                };
                let (low, high) = (Some(one(count / 4)), Some(one(count / 2)));
                for (low, high) in
                    [(low.clone(), high.clone()), (low.clone(), None), (None, high), (low.clone(), low)]
                {
                    let ranges = vec![CellRange { dimension: 0, low, high }];
                    let within = same(&*cells, &CellQuery { ranges, ..query.clone() });
                    assert!(within <= count, "{name}");
                }
            }
        }
    }
}
