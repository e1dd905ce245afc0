//! A target format in memory that records each call.

use bytes::Bytes;
use hyperslab::cells::CellColumn;
use hyperslab::model::{Node, Values};
use hyperslab::target::{
    ArrayTarget, ChunkBytes, Encoded, Encoder, Facts, Growing, Losses, Lowered, Needs, Placed, Planned,
    Planner, Target, TargetFormat, TargetOption, TargetOptions,
};
use hyperslab::{Error, ErrorKind, NodePath, Result};
use hyperslab_codec::Scratch;
use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};
use std::time::Duration;

/// A call to the target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Call {
    Declare(String),
    Begin(String),
    Place(String, Vec<u8>),
    Store(String, Vec<u64>, Vec<u8>),
    Finish(String),
    Abandon(String),
    FinishStore,
}

/// The recorded calls, and the threads that made them.
#[derive(Default)]
pub(super) struct Log {
    calls: Mutex<Vec<Call>>,
    pub(super) encoders: Mutex<HashSet<ThreadId>>,
    /// The number of threads that are currently storing. Its maximum is `most_storing`.
    storing: AtomicUsize,
    pub(super) most_storing: AtomicUsize,
    addresses: AtomicU64,
}

impl Log {
    pub(super) fn calls(&self) -> Vec<Call> {
        self.calls.lock().unwrap().clone()
    }

    fn push(&self, call: Call) {
        self.calls.lock().unwrap().push(call);
    }
}

/// The format with its settings.
#[derive(Clone, Default)]
pub(super) struct Recording {
    pub(super) log: Arc<Log>,
    pub(super) is_ordered: bool,
    /// Whether chunks refer to pieces stored before them.
    pub(super) places: bool,
    pub(super) needs: Needs,
    /// The first component of the index of the chunk that cannot be stored.
    pub(super) fails_at: Option<u64>,
    /// The chunk shape, if it differs from that of the source.
    pub(super) chunk: Option<Vec<u64>>,
}

impl Recording {
    /// The same format with an empty log.
    pub(super) fn anew(&self) -> Recording {
        Recording { log: Arc::default(), ..self.clone() }
    }
}

impl TargetFormat for Recording {
    fn name(&self) -> &'static str {
        "recording"
    }
    fn suffixes(&self) -> &'static [&'static str] {
        &[]
    }
    fn is_directory(&self, _: &Path) -> bool {
        true
    }
    fn is_always_chunked(&self) -> bool {
        true
    }
    fn needs_default_fill(&self, _: &str) -> bool {
        false
    }
    fn options(&self) -> &'static [TargetOption] {
        &[]
    }
    fn lowerings(&self) -> &'static [&'static Lowered] {
        &[]
    }
    fn planner<'a>(&self, _: &'a TargetOptions, _: &'a Growing) -> Box<dyn Planner + 'a> {
        Box::new(Plans(self.needs))
    }
    fn create(&self, _: &Path, _: bool, _: &TargetOptions, _: &Planned) -> Result<Box<dyn Target>> {
        Ok(Box::new(self.clone()))
    }
}

struct Plans(Needs);

impl Planner for Plans {
    fn needs(&self, _: &NodePath, _: &Node) -> Needs {
        self.0
    }
    fn plan(&mut self, _: &NodePath, _: &Node, _: Facts, _: &mut dyn Losses) -> Result<()> {
        Ok(())
    }
    fn cells(&mut self, _: &NodePath, _: &[CellColumn], _: &mut dyn Losses) -> Result<bool> {
        Ok(false)
    }
}

impl Target for Recording {
    fn declare(&self, path: &NodePath, _: &Node, _: Facts) -> Result<()> {
        self.log.push(Call::Declare(path.to_string()));
        Ok(())
    }

    fn begin(&self, path: &NodePath, node: &Node, _: Facts) -> Result<Box<dyn ArrayTarget + '_>> {
        self.log.push(Call::Begin(path.to_string()));
        let shape = node.shape(path).and_then(|shape| shape.current()).unwrap_or_default();
        let of_source = node.storage().and_then(|storage| storage.chunk.clone());
        let fits = |chunk: &Vec<u64>| chunk.len() == shape.len();
        let chunk = self.chunk.clone().filter(fits).or(of_source).unwrap_or_else(|| shape.clone());
        Ok(Box::new(RecordedArray { of: self.clone(), path: path.to_string(), chunk }))
    }

    fn finish(&self) -> Result<()> {
        self.log.push(Call::FinishStore);
        Ok(())
    }
}

struct RecordedArray {
    of: Recording,
    path: String,
    chunk: Vec<u64>,
}

impl Encoder for RecordedArray {
    fn chunk(&self) -> &[u64] {
        &self.chunk
    }

    fn encode(&self, index: &[u64], values: &Values, _: Vec<u8>, _: &mut Scratch) -> Result<Encoded> {
        self.of.log.encoders.lock().unwrap().insert(thread::current().id());
        // Even-numbered chunks take longer, so threads finish in a different order.
        let is_even = index.first().is_some_and(|at| at % 2 == 0);
        thread::sleep(Duration::from_micros(if is_even { 900 } else { 50 }));
        if !self.of.places {
            return Ok(Encoded::of(Some(values.rows.clone())));
        }
        let data: Vec<Bytes> = index.iter().map(|at| Bytes::copy_from_slice(&at.to_le_bytes())).collect();
        let sizes = data.iter().map(|data| data.len() as u64).collect();
        let make = |addresses: &[u64], _: &mut Scratch| {
            let bytes: Vec<u8> = addresses.iter().flat_map(|at| at.to_le_bytes()).collect();
            Ok((data, ChunkBytes { bytes: bytes.into(), filter_mask: 0 }))
        };
        Ok(Encoded::Placed(Placed { sizes, make: Box::new(make) }))
    }
}

impl ArrayTarget for RecordedArray {
    fn encoder(&self) -> &dyn Encoder {
        self
    }

    fn is_ordered(&self) -> bool {
        self.of.is_ordered
    }

    fn allocate(&self, _: u64) -> Result<u64> {
        Ok(self.of.log.addresses.fetch_add(1, Ordering::SeqCst))
    }

    fn place(&self, _: u64, data: &[u8]) -> Result<()> {
        self.of.log.push(Call::Place(self.path.clone(), data.to_vec()));
        Ok(())
    }

    fn store(&self, index: &[u64], chunk: Option<&ChunkBytes>) -> Result<()> {
        let log = &self.of.log;
        let storing = log.storing.fetch_add(1, Ordering::SeqCst) + 1;
        log.most_storing.fetch_max(storing, Ordering::SeqCst);
        let stored = match index.first() {
            at if at.is_some() && at == self.of.fails_at.as_ref() => {
                Err(Error::new(ErrorKind::Io, "the disk is full"))
            }
            _ => {
                let bytes = chunk.map(|chunk| chunk.bytes.to_vec()).unwrap_or_default();
                log.push(Call::Store(self.path.clone(), index.to_vec(), bytes));
                Ok(())
            }
        };
        log.storing.fetch_sub(1, Ordering::SeqCst);
        stored
    }

    fn finish(&self) -> Result<()> {
        self.of.log.push(Call::Finish(self.path.clone()));
        Ok(())
    }

    fn abandon(&self) -> Result<()> {
        self.of.log.push(Call::Abandon(self.path.clone()));
        Ok(())
    }
}
