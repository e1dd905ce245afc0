//! hyperslab's side. The first functions contain all calls that depend on the reading engine.

use bench_side::{Failure, Job, Memory, Work, memory, total};
use bytes::Bytes;
use hyperslab::cells::{CellOrder, CellQuery, CellRange};
use hyperslab::model::{Cells, NodePath, Values};
use hyperslab::{
    ArraySource, Entry, Handle, Item, OpenOptions, Pool, Source, Step, Stored, Strings, open, walk,
};
use hyperslab_core::Limits;
use hyperslab_core::nd::Region;
use hyperslab_core::rows::Heap;
use hyperslab_core::storage::FileStorage;
use hyperslab_hdf5::format::message::data_layout::{ChunkIndex as Indexing, LayoutClass};
use hyperslab_hdf5::navigate::chunk_index::{self, ChunkIndex, ChunkIndexKind};
use hyperslab_hdf5::{Dataset, File};
use memmap2::MmapMut;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

/// Opens a file for reading with the given number of threads.
fn open_with(file: &Path, threads: usize) -> Result<Arc<dyn Source>, Failure> {
    let options = OpenOptions { pool: Pool::new(threads, Pool::MEMORY), ..OpenOptions::default() };
    Ok(open(file, &options)?)
}

/// Reads a region into memory of the caller.
fn read_into(array: &dyn ArraySource, region: &Region, out: &mut [u8]) -> Result<(), Failure> {
    Ok(array.read(region, out, &mut Heap::default())?)
}

/// Reads a region into new memory.
fn read(array: &dyn ArraySource, region: &Region) -> Result<Fresh, Failure> {
    Ok(array.values(region)?.rows)
}

/// The result of [`read`].
type Fresh = Bytes;

/// The work for a job.
pub(crate) fn work(job: &Job) -> Result<Box<dyn Work>, Failure> {
    Ok(match job.name.as_str() {
        "array" => Box::new(Array::new(job)?),
        "part" => Box::new(Part::new(job)?),
        "cells" => Box::new(Columns::new(job)),
        "strings" => Box::new(Texts::new(job)?),
        "index" => Box::new(Index::new(job)),
        "walk" => Box::new(Walk { file: job.file.clone(), threads: job.threads, count: 0 }),
        "datasets" => Box::new(Datasets::new(job)?),
        "elements" => Box::new(Elements::new(job)?),
        "digest" => Box::new(Digest { file: job.file.clone(), threads: job.threads, lines: Vec::new() }),
        other => return Err(format!("no job {other}").into()),
    })
}

/// An open array of a file. It is leaked, because a side has one job and ends with its process.
fn opened(job: &Job, path: &str) -> Result<&'static dyn ArraySource, Failure> {
    let source = open_with(&job.file, job.threads)?;
    let entry = source.find(&NodePath::new(path)?)?;
    Ok(leaked(source.array(&entry.handle)?))
}

fn leaked(array: Arc<dyn ArraySource>) -> &'static dyn ArraySource {
    &**Box::leak(Box::new(array))
}

/// The region with every `step`th index of the first dimensions, and its size in bytes.
fn whole(array: &dyn ArraySource, step: &[u64]) -> Result<(Region, usize), Failure> {
    let extents = array.extents().ok_or("a null dataspace")?;
    let mut region = Region::all(extents);
    for ((count, step), wanted) in region.count.iter_mut().zip(&mut region.step).zip(step) {
        (*count, *step) = (count.div_ceil(*wanted), *wanted);
    }
    let elements = usize::try_from(region.len().ok_or("too many elements")?)?;
    let len = elements.checked_mul(array.datatype().row_size().ok_or("elements too large")?);
    Ok((region, len.ok_or("too many bytes")?))
}

struct Array {
    array: &'static dyn ArraySource,
    region: Region,
    len: usize,
    reused: Option<MmapMut>,
    fresh: Option<Fresh>,
}

impl Array {
    fn new(job: &Job) -> Result<Self, Failure> {
        let array = opened(job, &job.path)?;
        let rank = array.extents().map_or(0, <[u64]>::len);
        let (region, len) = whole(array, &job.steps(rank))?;
        let reused = (job.memory == Memory::Reused).then(|| memory::touched(len)).transpose()?;
        Ok(Array { array, region, len, reused, fresh: None })
    }
}

impl Work for Array {
    fn run(&mut self) -> Result<(), Failure> {
        match &mut self.reused {
            Some(out) => read_into(self.array, &self.region, out)?,
            None => self.fresh = Some(read(self.array, &self.region)?),
        }
        Ok(())
    }

    fn output_len(&self) -> usize {
        self.len
    }

    fn total(&mut self) -> Result<Option<String>, Failure> {
        let out = self.reused.as_deref().or(self.fresh.as_deref());
        Ok(out.map(total::of_bytes))
    }

    fn release(&mut self) {
        self.fresh = None;
    }
}

/// Opens a store and reads a part of an array into new memory.
struct Part {
    file: PathBuf,
    path: String,
    threads: usize,
    region: Region,
    fresh: Option<Fresh>,
}

impl Part {
    fn new(job: &Job) -> Result<Self, Failure> {
        let region = Region::new(job.numbers("start")?, job.numbers("count")?);
        Ok(Part { file: job.file.clone(), path: job.path.clone(), threads: job.threads, region, fresh: None })
    }
}

impl Work for Part {
    fn run(&mut self) -> Result<(), Failure> {
        let source = open_with(&self.file, self.threads)?;
        let entry = source.find(&NodePath::new(&self.path)?)?;
        let array = source.array(&entry.handle)?;
        self.fresh = Some(read(&*array, &self.region)?);
        Ok(())
    }

    fn output_len(&self) -> usize {
        self.fresh.as_ref().map_or(0, Bytes::len)
    }

    fn total(&mut self) -> Result<Option<String>, Failure> {
        Ok(self.fresh.as_deref().map(total::of_bytes))
    }

    fn release(&mut self) {
        self.fresh = None;
    }
}

/// Opens a store and reads all columns of the cells of its root into new memory, within `low` and `high` of the first
/// dimension of 64-bit integers, if they are given.
struct Columns {
    file: PathBuf,
    threads: usize,
    bounds: Vec<u64>,
    cells: Option<Cells>,
}

impl Columns {
    fn new(job: &Job) -> Self {
        let bounds = job.numbers("bounds").unwrap_or_default();
        Columns { file: job.file.clone(), threads: job.threads, bounds, cells: None }
    }
}

impl Work for Columns {
    fn run(&mut self) -> Result<(), Failure> {
        let source = open_with(&self.file, self.threads)?;
        let root = source.find(&NodePath::root())?;
        let cells = source.cells(&root.handle)?.ok_or("no sparse array")?;
        let end = |number: u64| Values { rows: number.to_ne_bytes().to_vec().into(), ..Values::default() };
        let mut query = CellQuery { order: CellOrder::Stored, ..CellQuery::default() };
        if let [low, high] = self.bounds.as_slice() {
            query.ranges = vec![CellRange { dimension: 0, low: Some(end(*low)), high: Some(end(*high)) }];
        }
        self.cells = cells.read(&query)?;
        Ok(())
    }

    fn output_len(&self) -> usize {
        let columns = self.cells.iter().flat_map(|cells| &cells.columns);
        columns.map(|column| column.values.rows.len()).sum()
    }

    /// Cells arrive in the order of the tiles, which differs between sides: only the sizes are compared.
    fn total(&mut self) -> Result<Option<String>, Failure> {
        Ok(Some(self.output_len().to_string()))
    }

    fn release(&mut self) {
        self.cells = None;
    }
}

struct Texts {
    array: &'static dyn ArraySource,
    len: usize,
    texts: Strings,
}

impl Texts {
    fn new(job: &Job) -> Result<Self, Failure> {
        Ok(Texts { array: opened(job, &job.path)?, len: 0, texts: Strings::default() })
    }
}

impl Work for Texts {
    fn run(&mut self) -> Result<(), Failure> {
        self.texts = Strings::read(self.array)?;
        self.len = self.texts.characters().len() + size_of_val(self.texts.offsets());
        Ok(())
    }

    fn output_len(&self) -> usize {
        self.len
    }

    fn total(&mut self) -> Result<Option<String>, Failure> {
        Ok(Some(total::of_strings(self.texts.iter().map(str::as_bytes))))
    }

    fn release(&mut self) {
        self.texts = Strings::default();
    }
}

/// Reads single elements of an open array, one read each. All sides compute the same positions.
struct Elements {
    file: PathBuf,
    path: String,
    threads: usize,
    count: usize,
    /// The extents of the part of the array that contains the positions. It starts at the first element.
    within: Vec<u64>,
    array: Option<Arc<dyn ArraySource>>,
    out: Vec<u8>,
}

/// Steps between positions along each dimension.
const STRIDES: [u64; 3] = [7919, 104_729, 1_299_709];

impl Elements {
    fn new(job: &Job) -> Result<Self, Failure> {
        Ok(Elements {
            file: job.file.clone(),
            path: job.path.clone(),
            threads: job.threads,
            count: job.text("count").parse()?,
            within: job.numbers("within")?,
            array: None,
            out: Vec::new(),
        })
    }
}

impl Work for Elements {
    fn prepare(&mut self) -> Result<(), Failure> {
        let source = open_with(&self.file, self.threads)?;
        let entry = source.find(&NodePath::new(&self.path)?)?;
        self.array = Some(source.array(&entry.handle)?);
        Ok(())
    }

    fn run(&mut self) -> Result<(), Failure> {
        let array = self.array.as_deref().ok_or("nothing is open")?;
        let size = array.datatype().row_size().ok_or("elements too large")?;
        let extents = array.extents().ok_or("a null dataspace")?;
        let within: Vec<u64> =
            self.within.iter().zip(extents).map(|(within, size)| *within.min(size)).collect();
        self.out = vec![0; self.count * size];
        for (number, element) in (0_u64..).zip(self.out.chunks_exact_mut(size)) {
            let start = STRIDES.iter().zip(&within).map(|(stride, within)| number * stride % within);
            let region = Region::new(start.collect(), vec![1; within.len()]);
            read_into(array, &region, element)?;
        }
        Ok(())
    }

    fn output_len(&self) -> usize {
        self.out.len()
    }

    fn total(&mut self) -> Result<Option<String>, Failure> {
        Ok(Some(total::of_bytes(&self.out)))
    }
}

/// Reads the chunk index of a newly opened dataset.
struct Index {
    file: PathBuf,
    path: String,
    opened: Option<(File, Dataset)>,
    chunks: Option<chunk_index::ChunkTable>,
}

impl Index {
    fn new(job: &Job) -> Self {
        Index { file: job.file.clone(), path: job.path.clone(), opened: None, chunks: None }
    }
}

impl Work for Index {
    fn prepare(&mut self) -> Result<(), Failure> {
        let file = File::open(Box::new(FileStorage::open(&self.file)?), Limits::default())?;
        let address = file.find(self.path.as_bytes())?.ok_or("no such dataset")?;
        let dataset = file.object(address)?.dataset(&file)?;
        self.opened = Some((file, dataset));
        Ok(())
    }

    fn run(&mut self) -> Result<(), Failure> {
        let (file, dataset) = self.opened.as_ref().ok_or("nothing is open")?;
        let LayoutClass::Chunked(chunked) = dataset.layout() else { return Err("no chunks".into()) };
        let kind = match &chunked.index {
            Indexing::BtreeV1 => ChunkIndexKind::BtreeV1,
            Indexing::FixedArray { .. } => ChunkIndexKind::FixedArray,
            Indexing::ExtensibleArray(_) => ChunkIndexKind::ExtensibleArray,
            _ => return Err("another index than was made".into()),
        };
        let index = ChunkIndex {
            kind,
            address: chunked.address,
            dims: dataset.extents().ok_or("a null dataspace")?.to_vec(),
            max_dims: dataset.max_extents().ok_or("a null dataspace")?.to_vec(),
            chunk_dims: chunked.dimensions.clone(),
            chunk_bytes: chunked.chunk_bytes().ok_or("chunks too large")?,
            filtered: !dataset.filters().is_empty(),
        };
        self.chunks = Some(chunk_index::load(file.reader(), &index)?);
        Ok(())
    }

    fn output_len(&self) -> usize {
        0
    }

    fn total(&mut self) -> Result<Option<String>, Failure> {
        let chunks = self.chunks.as_ref().ok_or("nothing was read")?;
        let (_, dataset) = self.opened.as_ref().ok_or("nothing is open")?;
        let shape = dataset.chunk().ok_or("no chunks")?;
        let chunks = chunks.iter().map(|chunk| {
            let first = chunk.scaled.iter().zip(shape).map(|(position, size)| position * size);
            first.chain([chunk.entry.address.0, chunk.entry.size]).collect()
        });
        Ok(Some(total::of_chunks(chunks.collect())))
    }

    fn release(&mut self) {
        self.chunks = None;
    }
}

/// Lists all objects of a file with type and shape.
struct Walk {
    file: PathBuf,
    threads: usize,
    count: usize,
}

impl Walk {
    fn walk(&self, visit: &mut dyn FnMut(&Handle, Option<&Entry>)) -> Result<(), Failure> {
        let source = open_with(&self.file, self.threads)?;
        let root = source.find(&NodePath::root())?;
        walk(&*source, &root.handle, &mut |step| {
            match step {
                Step::Enter(group, _) => visit(group, None),
                Step::Member(entry) => visit(&entry.handle, Some(entry)),
                Step::Leave(_) => {}
            }
            Ok(())
        })?;
        Ok(())
    }
}

impl Work for Walk {
    fn run(&mut self) -> Result<(), Failure> {
        let mut count = 0;
        self.walk(&mut |_, entry| {
            count += 1;
            std::hint::black_box(entry);
        })?;
        self.count = count;
        Ok(())
    }

    fn output_len(&self) -> usize {
        0
    }

    fn total(&mut self) -> Result<Option<String>, Failure> {
        let mut objects = total::Objects::default();
        self.walk(&mut |handle, entry| match entry.map(|entry| &entry.item) {
            None if handle.path.is_root() => {}
            Some(Item::Array { datatype: Some(datatype), shape, stored, .. })
                if !matches!(stored, Stored::Nothing) =>
            {
                let extents = shape.current().unwrap_or_default();
                objects.dataset(handle.path.as_str(), &extents, datatype.row_size().unwrap_or(0));
            }
            _ => objects.group(handle.path.as_str()),
        })?;
        Ok(Some(objects.total()))
    }
}

/// Reads the datasets `data_0` to `data_3` in threads of the caller, each of which reads with one thread.
struct Datasets {
    arrays: Vec<(&'static dyn ArraySource, Region, MmapMut)>,
    threads: usize,
}

impl Datasets {
    fn new(job: &Job) -> Result<Self, Failure> {
        let source = open_with(&job.file, 1)?;
        let mut arrays = Vec::new();
        for index in 0..4 {
            let entry = source.find(&NodePath::new(&format!("/data_{index}"))?)?;
            let array = leaked(source.array(&entry.handle)?);
            let (region, len) = whole(array, &[])?;
            arrays.push((array, region, memory::touched(len)?));
        }
        Ok(Datasets { arrays, threads: job.threads })
    }
}

impl Work for Datasets {
    fn run(&mut self) -> Result<(), Failure> {
        let share = self.arrays.len().div_ceil(self.threads);
        thread::scope(|scope| {
            let read = |arrays: &mut [(&'static dyn ArraySource, Region, MmapMut)]| {
                arrays.iter_mut().try_for_each(|(array, region, out)| read_into(*array, region, out))
            };
            let threads: Vec<_> =
                self.arrays.chunks_mut(share).map(|arrays| scope.spawn(move || read(arrays))).collect();
            threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a thread panicked")?)
        })
    }

    fn output_len(&self) -> usize {
        self.arrays.iter().map(|(.., out)| out.len()).sum()
    }

    fn total(&mut self) -> Result<Option<String>, Failure> {
        let mut hasher = blake3::Hasher::new();
        self.arrays.iter().for_each(|(.., out)| {
            hasher.update(out);
        });
        Ok(Some(hasher.finalize().to_string()))
    }
}

/// `digest` of a file.
struct Digest {
    file: PathBuf,
    threads: usize,
    lines: Vec<String>,
}

impl Work for Digest {
    fn run(&mut self) -> Result<(), Failure> {
        let source = open_with(&self.file, self.threads)?;
        let lines = hyperslab::digest::lines(&*source, &NodePath::root())?;
        if let Some(line) = lines.iter().find(|line| line.is_error()) {
            return Err(line.to_json().into());
        }
        self.lines = lines.iter().map(hyperslab::digest::Line::to_json).collect();
        Ok(())
    }

    fn output_len(&self) -> usize {
        0
    }

    fn total(&mut self) -> Result<Option<String>, Failure> {
        Ok(Some(total::of_bytes(self.lines.concat().as_bytes())))
    }
}
