//! The scratch file of a sort: runs of sorted records, one behind the other.

use super::broken;
use super::records::{LENGTH, Records, key, length};
use hyperslab_core::storage::{WritableFile, WriteAt};
use hyperslab_core::{Error, Result};
use std::env::temp_dir;
use std::fs::{OpenOptions, remove_file};
use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

/// Makes storage for runs.
pub(super) type Create = fn() -> Result<Storage>;

/// Runs in a file that is created when it is first needed, and gone when this value is.
pub(super) struct Scratch {
    create: Create,
    storage: Option<Storage>,
    /// Where the next run begins.
    end: u64,
    runs: Vec<Range<u64>>,
    /// The last record of the last run.
    last: Vec<u8>,
}

impl Scratch {
    pub(super) fn new(create: Create) -> Scratch {
        Scratch { create, storage: None, end: 0, runs: Vec::new(), last: Vec::new() }
    }

    /// Whether there are no runs.
    pub(super) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Forgets all runs. The file stays for others, without content.
    pub(super) fn clear(&mut self) {
        self.runs.clear();
        if self.end > 0 && self.storage.as_ref().is_some_and(|storage| storage.file.set_len(0).is_err()) {
            self.storage = None;
        }
        self.end = 0;
    }

    /// Takes the places of all runs, in the order in which they were written.
    pub(super) fn take_runs(&mut self) -> Vec<Range<u64>> {
        std::mem::take(&mut self.runs)
    }

    /// Adds sorted records. They go on with the last run if they are not before its end, so sorted cells are one run.
    pub(super) fn add(&mut self, records: &Records, positions: Range<usize>) -> Result<()> {
        let fixed = records.fixed();
        let record = |position| records.get(position).ok_or_else(broken);
        let (first, last) = (record(positions.start)?, record(positions.end.saturating_sub(1))?);
        let goes_on = !self.runs.is_empty() && key(&self.last, fixed) <= key(first, fixed);
        let mut writer = Writer::new(self)?;
        match records.block(&positions) {
            Some(block) => writer.push(block)?,
            None => positions.clone().try_for_each(|position| writer.push(record(position)?))?,
        }
        let run = writer.finish()?;
        self.last.clear();
        self.last.extend_from_slice(last);
        match self.runs.last_mut() {
            Some(before) if goes_on => before.end = run.end,
            _ => self.runs.push(run),
        }
        Ok(())
    }

    /// Adds the run that a writer has made of others.
    pub(super) fn add_run(&mut self, run: Range<u64>) {
        self.runs.push(run);
    }

    pub(super) fn read(&self, offset: u64, out: &mut [u8]) -> Result<()> {
        self.storage.as_ref().ok_or_else(broken)?.file.read_into(offset, out).map_err(named)
    }
}

/// Writes a run.
pub(super) struct Writer<'a> {
    scratch: &'a mut Scratch,
    start: u64,
    buffer: Vec<u8>,
}

impl<'a> Writer<'a> {
    pub(super) fn new(scratch: &'a mut Scratch) -> Result<Writer<'a>> {
        if scratch.storage.is_none() {
            scratch.storage = Some((scratch.create)().map_err(named)?);
        }
        Ok(Writer { start: scratch.end, scratch, buffer: Vec::new() })
    }

    /// The scratch file, to read runs that were written before.
    pub(super) fn scratch(&self) -> &Scratch {
        self.scratch
    }

    /// Adds one or more records.
    pub(super) fn push(&mut self, records: &[u8]) -> Result<()> {
        if records.len() >= WRITE {
            self.flush()?;
            return self.write(records);
        }
        self.buffer.extend_from_slice(records);
        if self.buffer.len() >= WRITE { self.flush() } else { Ok(()) }
    }

    /// Writes what is left. Returns the place of the run.
    pub(super) fn finish(mut self) -> Result<Range<u64>> {
        self.flush()?;
        Ok(self.start..self.scratch.end)
    }

    fn flush(&mut self) -> Result<()> {
        let buffer = std::mem::take(&mut self.buffer);
        self.write(&buffer)?;
        self.buffer = buffer;
        self.buffer.clear();
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let Scratch { storage, end, .. } = &mut *self.scratch;
        storage.as_ref().ok_or_else(broken)?.file.write_at(*end, bytes).map_err(named)?;
        *end = end.saturating_add(bytes.len() as u64);
        Ok(())
    }
}

/// Reads a run record by record.
pub(super) struct Reader {
    run: Range<u64>,
    fixed: Option<usize>,
    /// The number of bytes that are read at once.
    block: usize,
    buffer: Vec<u8>,
    at: usize,
    /// The size of the record at `at`, with its length in front.
    size: usize,
}

impl Reader {
    pub(super) fn new(run: Range<u64>, fixed: Option<usize>, block: usize) -> Reader {
        Reader { run, fixed, block, buffer: Vec::new(), at: 0, size: 0 }
    }

    /// The record, with its length in front if it has one. Empty before the first one.
    pub(super) fn record(&self) -> &[u8] {
        self.buffer.get(self.at..self.at.saturating_add(self.size)).unwrap_or_default()
    }

    /// Goes on to the next record. Returns false after the last one.
    pub(super) fn advance(&mut self, scratch: &Scratch) -> Result<bool> {
        self.at = self.at.saturating_add(self.size);
        self.size = 0;
        if self.at >= self.buffer.len() && self.run.is_empty() {
            return Ok(false);
        }
        let size = match self.fixed {
            Some(size) => size,
            None => {
                self.hold(LENGTH, scratch)?;
                let length = self.buffer.get(self.at..).and_then(length).ok_or_else(broken)?;
                length.saturating_add(LENGTH)
            }
        };
        self.hold(size, scratch)?;
        self.size = size;
        Ok(true)
    }

    /// Reads on until so many bytes are there.
    fn hold(&mut self, bytes: usize, scratch: &Scratch) -> Result<()> {
        let held = self.buffer.len().saturating_sub(self.at);
        if held >= bytes {
            return Ok(());
        }
        self.buffer.drain(..self.at);
        self.at = 0;
        let left = usize::try_from(self.run.end.saturating_sub(self.run.start)).unwrap_or(usize::MAX);
        let more = self.block.max(bytes - held).min(left);
        self.buffer.resize(held.saturating_add(more), 0);
        scratch.read(self.run.start, self.buffer.get_mut(held..).unwrap_or_default())?;
        self.run.start = self.run.start.saturating_add(more as u64);
        if self.buffer.len() < bytes { Err(broken()) } else { Ok(()) }
    }
}

/// Creates a file in the folder for temporary files, which is gone when it is closed.
pub(super) fn create() -> Result<Storage> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    // Its cells may be of a file that others cannot read.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    loop {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = temp_dir().join(format!("hyperslab-cells-{}-{number}", process::id()));
        match options.open(&path) {
            // A process with the same number left it.
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists && number < MAX_NUMBER => {}
            Err(e) => return Err(e.into()),
            Ok(file) => {
                // Windows keeps the name of an open file.
                let name = remove_file(&path).is_err().then_some(path);
                return Ok(Storage { file: Box::new(WritableFile::from(file)), _name: Name(name) });
            }
        }
    }
}

/// The storage of runs. The file is closed before its name is removed.
pub(super) struct Storage {
    pub(super) file: Box<dyn WriteAt>,
    pub(super) _name: Name,
}

/// The path of a file that still has to be removed.
#[derive(Default)]
pub(super) struct Name(Option<PathBuf>);

impl Drop for Name {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            // Nobody is left who could do more about it.
            let _ = remove_file(path);
        }
    }
}

/// An error of the system, with what the file is for.
fn named(error: Error) -> Error {
    let folder = temp_dir();
    error
        .map_detail(|detail| format!("scratch file for sorting cells in {}: {detail}", folder.display()))
        .with_hint("sort with more memory, or set TMPDIR to a folder on another disk")
}

/// The number of bytes that are written at once.
const WRITE: usize = 1 << 20;
/// The number of names that are tried.
const MAX_NUMBER: u64 = 1 << 40;
