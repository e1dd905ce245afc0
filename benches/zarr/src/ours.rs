//! hyperslab's side.

use crate::peer;
use bench_side::{Failure, Job, Side, Work, Written};
use hyperslab::model::NodePath;
use hyperslab::{OpenOptions, Pool};
use hyperslab_codec::{Blosc, BloscCodec, BloscShuffle, Scratch, Zstd};
use hyperslab_core::nd::{ChunkGrid, Region, gather};
use hyperslab_core::rows::Heap;
use hyperslab_core::store::{DirectoryWriter, Durability, Key};
use hyperslab_zarr::data_type::{DataType, Float};
use hyperslab_zarr::write::{ArrayDefinition, ArrayWriter, HierarchyWriter, Version};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// The work for a job.
pub(crate) fn work(job: &Job) -> Result<Box<dyn Work>, Failure> {
    match job.name.as_str() {
        "write" => Written::boxed(job, Ours { definition: definition(job)?, threads: job.threads }),
        other => Err(format!("no job {other}").into()),
    }
}

/// The definition of the written array: `shape`, `chunks`, optional `shards`, and `codec`.
fn definition(job: &Job) -> Result<ArrayDefinition, Failure> {
    let codecs = match job.text("codec") {
        "raw" => Vec::new(),
        "zstd" => vec![Zstd { level: 3, checksum: false }.into()],
        "blosc-lz4" => {
            let (codec, shuffle) = (BloscCodec::Lz4, BloscShuffle::Byte);
            vec![Blosc { codec, level: 5, shuffle, element: ELEMENT, block: 0 }.into()]
        }
        other => return Err(format!("no codec {other}").into()),
    };
    let array = ArrayDefinition::new(job.numbers("shape")?, DataType::Float(Float::Float32)).codecs(codecs);
    let shards = job.numbers("shards")?;
    let array = if shards.is_empty() { array } else { array.shards(shards) };
    Ok(array.chunks(job.numbers("chunks")?))
}

struct Ours {
    definition: ArrayDefinition,
    threads: usize,
}

impl Side for Ours {
    fn begin(&mut self, _: &Path) -> Result<(), Failure> {
        Ok(())
    }

    fn write(&mut self, store: &Path, elements: &[u8]) -> Result<(), Failure> {
        let store = Arc::new(DirectoryWriter::create(store, Durability::Process)?);
        let hierarchy = HierarchyWriter::new(store, Version::V3)?;
        let array = hierarchy.array(&Key::root(), "data", self.definition.clone())?;
        let all = Region::all(array.shape());
        let indexes: Vec<Vec<u64>> = array.grid().chunks_in(&all)?.map(|chunk| chunk.index).collect();
        let queue = Mutex::new(indexes.into_iter());
        let worker = || -> Result<(), Failure> {
            let mut writer = Chunks::new(&array, elements)?;
            loop {
                let next = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
                let Some(index) = next else { return Ok(()) };
                writer.write(&index)?;
            }
        };
        thread::scope(|scope| {
            let threads: Vec<_> = (0..self.threads).map(|_| scope.spawn(worker)).collect();
            threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a thread panicked")?)
        })?;
        array.finish()?;
        Ok(hierarchy.finish(false)?)
    }

    fn hash(&self, store: &Path) -> Result<String, Failure> {
        peer::hash(store)
    }
}

/// The chunks that one thread writes.
struct Chunks<'a> {
    array: &'a ArrayWriter,
    elements: &'a [u8],
    all: Region,
    rows: Vec<u8>,
    /// Memory for a shard.
    shard: Vec<u8>,
    scratch: Scratch,
}

impl<'a> Chunks<'a> {
    fn new(array: &'a ArrayWriter, elements: &'a [u8]) -> Result<Self, Failure> {
        let all = Region::all(array.shape());
        Ok(Chunks { array, elements, all, rows: Vec::new(), shard: Vec::new(), scratch: Scratch::new() })
    }

    fn write(&mut self, index: &[u64]) -> Result<(), Failure> {
        let heap = Heap::<()>::default();
        let chunk = self.array.grid().chunk(index)?;
        let Some(inner) = self.array.inner_shape() else {
            self.gather(&chunk.start, &chunk.shape)?;
            self.array.write_chunk(index, &self.rows, &heap, &mut self.scratch)?;
            return Ok(());
        };
        let mut encoded = Vec::new();
        for part in ChunkGrid::regular(inner)?.chunks_in(&Region::new(chunk.start, chunk.shape))? {
            self.gather(&part.start, &part.shape)?;
            encoded.push(self.array.encode_inner(&part.shape, &self.rows, &heap, &mut self.scratch)?);
        }
        let room = std::mem::take(&mut self.shard);
        let shard = self.array.encode_shard(index, encoded, room, &mut self.scratch)?;
        self.array.store(index, shard.as_deref())?;
        self.shard = shard.and_then(|shard| shard.try_into_mut().ok()).map_or_else(Vec::new, Vec::from);
        Ok(())
    }

    fn gather(&mut self, start: &[u64], shape: &[u64]) -> Result<(), Failure> {
        let len = usize::try_from(shape.iter().product::<u64>())? * ELEMENT;
        self.rows.resize(len, 0);
        Ok(gather(self.elements, &self.all, &mut self.rows, start, shape, ELEMENT)?)
    }
}

/// The hash of the elements that hyperslab reads.
pub(crate) fn hash(store: &Path) -> Result<String, Failure> {
    let options = OpenOptions { pool: Pool::new(2, Pool::MEMORY), ..OpenOptions::default() };
    let source = hyperslab::open(store, &options)?;
    let entry = source.find(&NodePath::new("/data")?)?;
    let array = source.array(&entry.handle)?;
    let region = Region::all(array.extents().ok_or("a null dataspace")?);
    Ok(bench_side::total::of_bytes(&array.values(&region)?.rows))
}

/// The size of an element in bytes.
const ELEMENT: usize = 4;
