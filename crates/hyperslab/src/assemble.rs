//! Writes one store from many processes, none of which waits for another.
//!
//! A store is declared once, in a hidden folder beside the target. Any process then opens the folder and writes regions of its
//! arrays: they are encoded where they are written, and a [`Receipt`] tells what was. When all receipts are there,
//! [`Assembly::finish`] makes the store in one step, with the chunks as they were encoded. Nothing is seen at the target
//! before.
//!
//! ```
//! use hyperslab::assemble::{Assembly, AssemblyOptions};
//! use hyperslab::model::{Values, NodePath};
//! use hyperslab::{File, Region, StoreBuilder, select::Select};
//!
//! let mut schema = StoreBuilder::new();
//! schema.dimension("/x", 4)?;
//! schema.declare::<i32>("/t", &["/x"])?.chunk(&[2]).attribute("units", "K");
//! let folder = tempfile::tempdir()?;
//! let target = folder.path().join("t.nc");
//! let assembly = Assembly::create(&target, &*schema.build(), &AssemblyOptions::default())?;
//!
//! // In other processes, in any order.
//! let there = Assembly::open(assembly.folder())?;
//! let write = |start: u64, values: [i32; 2]| {
//!     let rows: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
//!     let values = Values { rows: rows.into(), ..Values::default() };
//!     there.write(&NodePath::new("/t")?, &Region::new(vec![start], vec![2]), &values)
//! };
//! let receipts = [write(2, [3, 4])?, write(0, [1, 2])?];
//! assert!(!target.exists());
//!
//! assembly.finish(&receipts)?;
//! assert_eq!(File::open(&target)?.array("/t")?.read::<i32>(&Select::all())?, [1, 2, 3, 4]);
//! # Ok::<(), hyperslab::Error>(())
//! ```

mod folder;
mod receipt;

pub use receipt::Receipt;

use crate::convert::layout::{FilterRule, Layout, Rule};
use crate::convert::{ConvertOptions, Plan, Prepared, Summary, check_losses, convert, plan, prepare};
use crate::format::OpenOptions;
use crate::formats::{REGIONS, RegionWriter, Regions, open, target_format, target_format_of};
use crate::pool::Pool;
use crate::publish::{Fingerprint, PublishOptions};
use crate::source::{Entry, Item, Source};
use crate::target::{Loss, TargetFormat, TargetOptions};
use crate::walk::{Step, walk};
use folder::{Folder, Told};
use hyperslab_core::nd::Region;
use hyperslab_core::{Error, Result};
use hyperslab_model::{Datatype, NodePath, Values};
use rustc_hash::{FxHashMap, FxHashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// What the store becomes.
#[derive(Clone, Debug, Default)]
pub struct AssemblyOptions {
    /// The name of the format; `None` for the one that the name of the target says.
    pub format: Option<String>,
    /// The options that only this format has.
    pub native: TargetOptions,
    /// The losses that are allowed.
    pub allow: Vec<Loss>,
    /// Whether a store at the target is replaced.
    pub overwrite: bool,
    /// The threads for reading and encoding.
    pub pool: Pool,
}

/// A store that is being written. Clones are the same store.
#[derive(Clone)]
pub struct Assembly {
    shared: Arc<Shared>,
    /// The threads for reading and encoding.
    pool: Pool,
}

struct Shared {
    folder: Folder,
    told: Told,
    regions: Regions,
    writers: Mutex<FxHashMap<NodePath, Arc<RegionWriter>>>,
}

impl Assembly {
    /// Declares a store with the objects of a source. Arrays with elements are written; those without wait for regions.
    ///
    /// # Errors
    /// If the target exists and must not be replaced; if it would lose something that is not allowed; if another run is at work on
    /// it.
    pub fn create(target: &Path, schema: &dyn Source, options: &AssemblyOptions) -> Result<Assembly> {
        Assembly::prepare(target, schema, options)?.refused?;
        let format = format_of(target, options.format.as_deref())?;
        let told = Told {
            target: absolute(target)?,
            open: waiting(schema)?,
            options: AssemblyOptions { format: Some(format.name().to_owned()), ..options.clone() },
        };
        let made_from = Fingerprint::of_sources(&[], WHAT)?;
        let folder = Folder::begin(target)?;
        let own = ConvertOptions {
            pool: options.pool.clone(),
            layout: filters_for(format),
            ..ConvertOptions::new(REGIONS)
        };
        let planned = plan(schema, &own)?;
        convert(schema, &made_from, &folder.store(), &planned, &own)?;
        folder.tell(&told)?;
        Assembly::of(folder, told)
    }

    /// What the store would change and lose, as far as the schema shows it, and the error if that is not allowed. Writes nothing.
    ///
    /// # Errors
    /// If the target exists and must not be replaced.
    pub fn prepare(target: &Path, schema: &dyn Source, options: &AssemblyOptions) -> Result<Prepared> {
        let goal = goal(format_of(target, options.format.as_deref())?, options, &options.pool);
        prepare(schema, &Fingerprint::of_sources(&[], WHAT)?, Some(target), &goal)
    }

    /// Opens a store that is being written, by its [folder](Assembly::folder).
    ///
    /// # Errors
    /// If there is none.
    pub fn open(folder: &Path) -> Result<Assembly> {
        let (folder, told) = Folder::open(folder)?;
        Assembly::of(folder, told)
    }

    fn of(folder: Folder, told: Told) -> Result<Assembly> {
        let regions = Regions::open(&folder.store()).map_err(|e| e.in_file(folder.path().display()))?;
        let pool = told.options.pool.clone();
        Ok(Assembly { shared: Arc::new(Shared { folder, told, regions, writers: Mutex::default() }), pool })
    }

    /// The same store, which is read and encoded by other threads.
    pub fn with_pool(&self, pool: &Pool) -> Assembly {
        Assembly { pool: pool.clone(), ..self.clone() }
    }

    /// The hidden folder beside the target.
    pub fn folder(&self) -> &Path {
        self.shared.folder.path()
    }

    /// The target.
    pub fn target(&self) -> &Path {
        &self.shared.told.target
    }

    /// The format of the store.
    ///
    /// # Errors
    /// If another version of this library declared it, with a format that this one does not write.
    pub fn format(&self) -> Result<&'static dyn TargetFormat> {
        format_of(&self.shared.told.target, self.shared.told.options.format.as_deref())
    }

    /// How the store is opened once it is written: with the key, if it is encrypted.
    ///
    /// # Errors
    /// As [`format`](Self::format).
    pub fn opening(&self) -> Result<OpenOptions> {
        Ok(goal(self.format()?, &self.shared.told.options, &self.pool).opening())
    }

    /// The arrays that wait for regions.
    pub fn waiting(&self) -> &[NodePath] {
        &self.shared.told.open
    }

    /// The datatype of an array.
    ///
    /// # Errors
    /// If there is none at the path.
    pub fn datatype(&self, array: &NodePath) -> Result<Arc<Datatype>> {
        Ok(Arc::clone(self.writer(array)?.datatype()))
    }

    /// The shape of what is written at once of an array: a shard, or a chunk. Regions begin at multiples of it.
    ///
    /// # Errors
    /// If there is none at the path.
    pub fn unit(&self, array: &NodePath) -> Result<Vec<u64>> {
        Ok(self.writer(array)?.unit().to_vec())
    }

    /// The lengths of the dimensions of an array.
    ///
    /// # Errors
    /// If there is none at the path.
    pub fn extents(&self, array: &NodePath) -> Result<Vec<u64>> {
        Ok(self.writer(array)?.extents().to_vec())
    }

    /// The fill value that was declared of an array: one element. `None` for the default of the format.
    ///
    /// # Errors
    /// If there is no array at the path.
    pub fn fill(&self, array: &NodePath) -> Result<Option<Values>> {
        self.shared.regions.fill(array).map_err(|e| e.in_object(array))
    }

    /// Encodes and stores elements of a region, in row-major order, and tells what was stored. A region that is written again has
    /// the elements of the last time.
    ///
    /// # Errors
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for an array that does not wait for regions, and for a region
    /// that extends past the array or cuts chunks; errors of the system.
    pub fn write(&self, array: &NodePath, region: &Region, values: &Values) -> Result<Receipt> {
        if !self.shared.told.open.contains(array) {
            return Err(Error::invalid("has all its elements already").in_object(array));
        }
        let writer = self.writer(array)?;
        let chunks = writer.write(region, values, &self.pool).map_err(|e| e.in_object(array))?;
        Ok(Receipt::new(array, chunks))
    }

    /// Makes the store of all that receipts name, and removes the folder. Receipts may be repeated; what has none has the fill value.
    /// The plan says what the store changes and loses.
    ///
    /// # Errors
    /// If what a receipt names is not there; if the values lose something that is not allowed; errors of the system. The folder
    /// stays, so that regions can be written and the store finished again.
    pub fn finish(&self, receipts: &[Receipt]) -> Result<(Plan, Summary)> {
        let (source, goal) = self.written(receipts)?;
        let planned = plan(&*source, &goal)?;
        check_losses(&planned, &goal)?;
        let made_from = Fingerprint::of_sources(&[], WHAT)?;
        let summary = convert(&*source, &made_from, &self.shared.told.target, &planned, &goal)?;
        drop(source);
        self.shared.folder.remove()?;
        Ok((planned, summary))
    }

    /// What the store changes and loses, as the values show it.
    ///
    /// # Errors
    /// As [`Assembly::finish`], but for losses.
    pub fn planned(&self, receipts: &[Receipt]) -> Result<Plan> {
        let (source, goal) = self.written(receipts)?;
        plan(&*source, &goal)
    }

    /// The regions that receipts name, as a source, and what becomes of it.
    fn written(&self, receipts: &[Receipt]) -> Result<(Arc<dyn Source>, ConvertOptions<'static>)> {
        self.check(receipts)?;
        let open_options = OpenOptions { pool: self.pool.clone(), ..OpenOptions::default() };
        let source = open(&self.shared.folder.store(), &open_options)?;
        Ok((source, goal(self.format()?, &self.shared.told.options, &self.pool)))
    }

    /// Removes the folder, with all that was written.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn abandon(&self) -> Result<()> {
        self.shared.folder.remove()
    }

    /// Whether all is there that receipts name. What no receipt names is removed: a worker was lost who had written it.
    fn check(&self, receipts: &[Receipt]) -> Result<()> {
        let mut named: FxHashMap<&NodePath, FxHashSet<&[u64]>> = FxHashMap::default();
        for receipt in receipts {
            let writer = self.writer(receipt.array())?;
            for index in receipt.chunks() {
                if !self.shared.regions.is_stored(&writer, index)? {
                    let detail = format!("chunk {index:?} has a receipt and is not there");
                    let error = Error::new(hyperslab_core::ErrorKind::Io, detail);
                    return Err(error.with_hint("write it again").in_object(receipt.array()));
                }
                named.entry(receipt.array()).or_default().insert(index);
            }
        }
        let none = FxHashSet::default();
        for array in &self.shared.told.open {
            let named = named.get(array).unwrap_or(&none);
            self.shared.regions.keep_only(&*self.writer(array)?, &|index| named.contains(index))?;
        }
        Ok(())
    }

    fn writer(&self, array: &NodePath) -> Result<Arc<RegionWriter>> {
        let mut known = self.shared.writers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(writer) = known.get(array) {
            return Ok(Arc::clone(writer));
        }
        let writer = Arc::new(self.shared.regions.writer(array).map_err(|e| e.in_object(array))?);
        known.insert(array.clone(), Arc::clone(&writer));
        Ok(writer)
    }
}

/// The filters of regions: those of the target, so that it can take over their chunks as they are. Zarr v3 has codecs of its own for
/// most filters, and puts these in their place; any other format has the filters that are declared.
fn filters_for(format: &dyn TargetFormat) -> Layout {
    match format.name() == REGIONS.name() {
        true => Layout::default(),
        false => Layout::default().with(Rule::filter(FilterRule::Keep).labelled(WHAT.to_owned())),
    }
}

/// The arrays of a source that have no elements yet.
fn waiting(schema: &dyn Source) -> Result<Vec<NodePath>> {
    let mut all = Vec::new();
    let root = schema.find(&NodePath::root())?;
    walk(schema, &root.handle, &mut |step| {
        if let Step::Member(entry @ Entry { item: Item::Array { datatype: Some(_), .. }, .. }) = step
            && schema.array(&entry.handle)?.is_unwritten()?
        {
            all.push(entry.handle.path.clone());
        }
        Ok(())
    })?;
    Ok(all)
}

fn format_of(target: &Path, name: Option<&str>) -> Result<&'static dyn TargetFormat> {
    name.map_or_else(|| target_format_of(target), target_format)
}

fn goal<'a>(format: &'a dyn TargetFormat, options: &AssemblyOptions, pool: &Pool) -> ConvertOptions<'a> {
    let own = ConvertOptions::new(format);
    ConvertOptions {
        // Filters that are declared are wanted, as they are of a store that is written at once.
        layout: own.layout.clone().with(Rule::filter(FilterRule::Keep).labelled(WHAT.to_owned())),
        native: options.native.clone(),
        allow: options.allow.clone(),
        publish: PublishOptions { overwrite: options.overwrite, ..PublishOptions::default() },
        pool: pool.clone(),
        ..own
    }
}

fn absolute(path: &Path) -> Result<PathBuf> {
    Ok(std::path::absolute(path)?)
}

/// What the store is made from, in the words of its journal.
const WHAT: &str = "assembled from regions";
