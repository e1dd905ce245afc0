//! A target in memory that stores cells.

use super::{Cells, NodePath, TempDir, opened, read};
use hyperslab::cells::{CellColumn, CellOrder, CellQuery, CellTable};
use hyperslab::convert::{ConvertOptions, convert, plan};
use hyperslab::model::{Column, Node};
use hyperslab::publish::Fingerprint;
use hyperslab::target::{
    ArrayTarget, CellTarget, Facts, Growing, Losses, Lowered, Planned, Planner, Target, TargetFormat,
    TargetOption, TargetOptions,
};
use hyperslab::{Error, Pool, Result};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// The objects and cells written to all stores.
#[derive(Default)]
struct Written {
    objects: Mutex<Vec<String>>,
    arrays: Mutex<Vec<String>>,
    batches: Mutex<Vec<Cells>>,
    finished: Mutex<Vec<String>>,
}

/// A format that stores sparse arrays but no dense ones.
struct Sparse(Arc<Written>);

struct Store(Arc<Written>);

struct Stored(Arc<Written>, String);

impl TargetFormat for Sparse {
    fn name(&self) -> &'static str {
        "sparse"
    }
    fn suffixes(&self) -> &'static [&'static str] {
        &[".sparse"]
    }
    fn is_directory(&self, _: &Path) -> bool {
        true
    }
    fn is_always_chunked(&self) -> bool {
        false
    }
    fn needs_default_fill(&self, _: &str) -> bool {
        false
    }
    fn has_cells(&self) -> bool {
        true
    }
    fn options(&self) -> &'static [TargetOption] {
        &[]
    }
    fn lowerings(&self) -> &'static [&'static Lowered] {
        &[]
    }
    fn planner<'a>(&self, _: &'a TargetOptions, _: &'a Growing) -> Box<dyn Planner + 'a> {
        Box::new(Planning)
    }
    fn create(&self, _: &Path, _: bool, _: &TargetOptions, _: &Planned) -> Result<Box<dyn Target>> {
        Ok(Box::new(Store(Arc::clone(&self.0))))
    }
}

struct Planning;

impl Planner for Planning {
    fn plan(&mut self, path: &NodePath, _: &Node, facts: Facts, _: &mut dyn Losses) -> Result<()> {
        // The values of the columns are not analysed before they are written.
        assert!(path.is_root() || facts == Facts::default(), "{path}");
        Ok(())
    }
    fn cells(&mut self, _: &NodePath, columns: &[CellColumn], _: &mut dyn Losses) -> Result<bool> {
        assert_eq!(columns.iter().map(|column| &*column.name).collect::<Vec<_>>(), ["station", "hour", "t"]);
        Ok(true)
    }
}

impl Target for Store {
    fn declare(&self, path: &NodePath, _: &Node, _: Facts) -> Result<()> {
        self.0.objects.lock().unwrap().push(path.to_string());
        Ok(())
    }
    fn begin(&self, path: &NodePath, _: &Node, _: Facts) -> Result<Box<dyn ArrayTarget + '_>> {
        self.0.arrays.lock().unwrap().push(path.to_string());
        Err(Error::unsupported("an array"))
    }
    fn cells(&self, path: &NodePath, columns: &[CellColumn], _: &Pool) -> Result<Box<dyn CellTarget + '_>> {
        assert!(columns.iter().map(|column| column.is_dimension).eq([true, true, false]));
        Ok(Box::new(Stored(Arc::clone(&self.0), path.to_string())))
    }
    fn finish(&self) -> Result<()> {
        Ok(())
    }
}

impl CellTarget for Stored {
    fn write(&self, batch: &Cells) -> Result<()> {
        self.0.batches.lock().unwrap().push(batch.clone());
        Ok(())
    }
    fn finish(&self) -> Result<()> {
        self.0.finished.lock().unwrap().push(self.1.clone());
        Ok(())
    }
    fn abandon(&self) -> Result<()> {
        panic!("nothing failed")
    }
}

#[test]
fn a_target_of_cells_gets_them_sorted_and_without_losses() {
    let folder = TempDir::new().unwrap();
    let source = opened(&folder, "one.yaml", &["oslo, 6, -3.0", "bergen, 7, 4.5", "bergen, 12, 5"]);
    let (written, store) = (Arc::new(Written::default()), folder.path().join("a.sparse"));
    let format = Sparse(Arc::clone(&written));
    let mut options = ConvertOptions::new(&format);
    // All objects except the dense array, which this format cannot store.
    let entries = ["/station", "/hour", "/t"].map(|path| source.find(&NodePath::new(path).unwrap()).unwrap());
    options.parts = Some(hyperslab::convert::Parts::new(&*source, &entries).unwrap());
    let plan = plan(&*source, &options).unwrap();
    assert!(plan.report.is_empty());
    // Three rows with a slot, a 4-byte integer and a 4-byte float.
    assert_eq!(plan.bytes, 3 * (16 + 4 + 4));
    let made_from = Fingerprint::of_source(&folder.path().join("one.yaml"), "").unwrap();
    let summary = convert(&*source, &made_from, &store, &plan, &options).unwrap();
    assert_eq!((summary.arrays, summary.bytes), (1, plan.bytes));
    assert_eq!(*written.objects.lock().unwrap(), ["/", "/station", "/hour", "/t"]);
    assert_eq!(*written.arrays.lock().unwrap(), [""; 0]);
    assert_eq!(*written.finished.lock().unwrap(), ["/"]);
    let batches = std::mem::take(&mut *written.batches.lock().unwrap());
    let [batch] = <[Cells; 1]>::try_from(batches).unwrap();
    let columns: Vec<&Column> = batch.columns.iter().collect();
    assert_eq!(columns.len(), 3);
    let stored = CellQuery { order: CellOrder::Stored, ..CellQuery::default() };
    let found = read(&CellTable::new(batch, 2).unwrap(), &stored).0;
    assert_eq!(found, ["bergen 7 4.5", "bergen 12 5.0", "oslo 6 -3.0"]);
}
