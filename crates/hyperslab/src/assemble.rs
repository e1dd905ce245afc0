//! Writes one store from many processes that do not wait for one another.
//!
//! A store is declared once, in a hidden folder beside the target. Any process then opens the folder and writes regions
//! of its arrays. Each process encodes the regions it writes, and a [`Receipt`] records which chunks were written. Once
//! all receipts are available, [`Assembly::finish`] creates the store in one step, using the chunks as they were
//! encoded. Until then, nothing is visible at the target.
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

/// The options of the resulting store.
#[derive(Clone, Debug, Default)]
pub struct AssemblyOptions {
    /// The name of the format; `None` to derive it from the name of the target.
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

/// A store that is being written. Clones refer to the same store.
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
    /// Declares a store with the objects of a source. Arrays with elements are written; those without elements wait for
    /// regions.
    ///
    /// # Errors
    /// If the target exists and must not be replaced; if it would lose something that is not allowed; if another run is
    /// working on it.
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

    /// The changes and losses of the store, as far as the schema shows them, and the error if they are not allowed.
    /// Writes nothing.
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
    /// If there is no such folder.
    pub fn open(folder: &Path) -> Result<Assembly> {
        let (folder, told) = Folder::open(folder)?;
        Assembly::of(folder, told)
    }

    fn of(folder: Folder, told: Told) -> Result<Assembly> {
        let regions = Regions::open(&folder.store()).map_err(|e| e.in_file(folder.path().display()))?;
        let pool = told.options.pool.clone();
        Ok(Assembly { shared: Arc::new(Shared { folder, told, regions, writers: Mutex::default() }), pool })
    }

    /// The same store, read and encoded by other threads.
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

    /// The options for opening the written store: with the key, if it is encrypted.
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
    /// If there is no array at the path.
    pub fn datatype(&self, array: &NodePath) -> Result<Arc<Datatype>> {
        Ok(Arc::clone(self.writer(array)?.datatype()))
    }

    /// The shape of the unit in which an array is written: a shard or a chunk. Regions must begin at multiples of it.
    ///
    /// # Errors
    /// If there is no array at the path.
    pub fn unit(&self, array: &NodePath) -> Result<Vec<u64>> {
        Ok(self.writer(array)?.unit().to_vec())
    }

    /// The lengths of the dimensions of an array.
    ///
    /// # Errors
    /// If there is no array at the path.
    pub fn extents(&self, array: &NodePath) -> Result<Vec<u64>> {
        Ok(self.writer(array)?.extents().to_vec())
    }

    /// The fill value that was declared for an array: one element. `None` for the default of the format.
    ///
    /// # Errors
    /// If there is no array at the path.
    pub fn fill(&self, array: &NodePath) -> Result<Option<Values>> {
        self.shared.regions.fill(array).map_err(|e| e.in_object(array))
    }

    /// Encodes and stores elements of a region, given in row-major order, and returns a receipt for the stored chunks.
    /// If a region is written again, the last write takes effect.
    ///
    /// # Errors
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for an array that does not wait for regions, and
    /// for a region that extends past the array or splits chunks; system errors.
    pub fn write(&self, array: &NodePath, region: &Region, values: &Values) -> Result<Receipt> {
        if !self.shared.told.open.contains(array) {
            return Err(Error::invalid("has all its elements already").in_object(array));
        }
        let writer = self.writer(array)?;
        let chunks = writer.write(region, values, &self.pool).map_err(|e| e.in_object(array))?;
        Ok(Receipt::new(array, chunks))
    }

    /// Creates the store from all chunks that receipts name, and removes the folder. Receipts may be repeated; elements
    /// without a receipt have the fill value. The plan lists what the store changes and loses.
    ///
    /// # Errors
    /// If a chunk that a receipt names does not exist; if the values cause a loss that is not allowed; system errors.
    /// The folder remains, so regions can be written and finishing can be tried again.
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

    /// The changes and losses of the store, as determined from the values.
    ///
    /// # Errors
    /// As [`Assembly::finish`], except for losses.
    pub fn planned(&self, receipts: &[Receipt]) -> Result<Plan> {
        let (source, goal) = self.written(receipts)?;
        plan(&*source, &goal)
    }

    /// The regions that receipts name, as a source, and the options for converting it.
    fn written(&self, receipts: &[Receipt]) -> Result<(Arc<dyn Source>, ConvertOptions<'static>)> {
        self.check(receipts)?;
        let open_options = OpenOptions { pool: self.pool.clone(), ..OpenOptions::default() };
        let source = open(&self.shared.folder.store(), &open_options)?;
        Ok((source, goal(self.format()?, &self.shared.told.options, &self.pool)))
    }

    /// Removes the folder and everything that was written.
    ///
    /// # Errors
    /// System errors.
    pub fn abandon(&self) -> Result<()> {
        self.shared.folder.remove()
    }

    /// Checks that all chunks that receipts name exist. Chunks that no receipt names are removed: they were written by
    /// a worker that was lost.
    fn check(&self, receipts: &[Receipt]) -> Result<()> {
        let mut named: FxHashMap<&NodePath, FxHashSet<&[u64]>> = FxHashMap::default();
        for receipt in receipts {
            let writer = self.writer(receipt.array())?;
            for index in receipt.chunks() {
                if !self.shared.regions.is_stored(&writer, index)? {
                    let detail = format!("chunk {index:?} has a receipt but is not stored");
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

/// The filters of regions: those of the target, so that it can copy their chunks unchanged. Zarr v3 replaces most
/// filters with codecs of its own; any other format uses the declared filters.
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
        // Declared filters count as requested, as in a store that is written at once.
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

/// What the store is made from, as its journal states it.
const WHAT: &str = "assembled from regions";
