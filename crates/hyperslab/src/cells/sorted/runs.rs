//! Runs of sorted records, one after the other in a scratch file.

use super::records::{LENGTH, Records, key, length};
use crate::cells::scratch::{Create, Scratch, broken};
use hyperslab_core::Result;
use std::ops::Range;

/// Runs in a file that is created when it is first needed, and removed when this value is dropped.
pub(super) struct Runs {
    create: Create,
    file: Option<Scratch>,
    /// Where the next run begins.
    end: u64,
    runs: Vec<Range<u64>>,
    /// The last record of the last run.
    last: Vec<u8>,
}

impl Runs {
    pub(super) fn new(create: Create) -> Runs {
        Runs { create, file: None, end: 0, runs: Vec::new(), last: Vec::new() }
    }

    /// Whether there are no runs.
    pub(super) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Discards all runs. The file remains for later runs, without content.
    pub(super) fn clear(&mut self) {
        self.runs.clear();
        if self.end > 0 && self.file.as_ref().is_some_and(|file| file.clear().is_err()) {
            self.file = None;
        }
        self.end = 0;
    }

    /// Takes the places of all runs, in the order in which they were written.
    pub(super) fn take(&mut self) -> Vec<Range<u64>> {
        std::mem::take(&mut self.runs)
    }

    /// Adds sorted records. They continue the last run if they do not sort before its end, so sorted cells form one
    /// run.
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

    /// Adds a run that a writer has merged from others.
    pub(super) fn add_run(&mut self, run: Range<u64>) {
        self.runs.push(run);
    }

    pub(super) fn read(&self, offset: u64, out: &mut [u8]) -> Result<()> {
        self.file.as_ref().ok_or_else(broken)?.read(offset, out)
    }
}

/// Writes a run.
pub(super) struct Writer<'a> {
    runs: &'a mut Runs,
    start: u64,
    buffer: Vec<u8>,
}

impl<'a> Writer<'a> {
    pub(super) fn new(runs: &'a mut Runs) -> Result<Writer<'a>> {
        if runs.file.is_none() {
            runs.file = Some((runs.create)()?);
        }
        Ok(Writer { start: runs.end, runs, buffer: Vec::new() })
    }

    /// The runs that were written before.
    pub(super) fn runs(&self) -> &Runs {
        self.runs
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

    /// Writes the remaining records. Returns the place of the run.
    pub(super) fn finish(mut self) -> Result<Range<u64>> {
        self.flush()?;
        Ok(self.start..self.runs.end)
    }

    fn flush(&mut self) -> Result<()> {
        let buffer = std::mem::take(&mut self.buffer);
        self.write(&buffer)?;
        self.buffer = buffer;
        self.buffer.clear();
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let Runs { file, end, .. } = &mut *self.runs;
        file.as_ref().ok_or_else(broken)?.write(*end, bytes)?;
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
    /// The size of the record at `at`, including the length before it.
    size: usize,
}

impl Reader {
    pub(super) fn new(run: Range<u64>, fixed: Option<usize>, block: usize) -> Reader {
        Reader { run, fixed, block, buffer: Vec::new(), at: 0, size: 0 }
    }

    /// The record, preceded by its length if it has one. Empty before the first one.
    pub(super) fn record(&self) -> &[u8] {
        self.buffer.get(self.at..self.at.saturating_add(self.size)).unwrap_or_default()
    }

    /// Advances to the next record. Returns false after the last one.
    pub(super) fn advance(&mut self, runs: &Runs) -> Result<bool> {
        self.at = self.at.saturating_add(self.size);
        self.size = 0;
        if self.at >= self.buffer.len() && self.run.is_empty() {
            return Ok(false);
        }
        let size = match self.fixed {
            Some(size) => size,
            None => {
                self.hold(LENGTH, runs)?;
                let length = self.buffer.get(self.at..).and_then(length).ok_or_else(broken)?;
                length.saturating_add(LENGTH)
            }
        };
        self.hold(size, runs)?;
        self.size = size;
        Ok(true)
    }

    /// Reads until this many bytes are available.
    fn hold(&mut self, bytes: usize, runs: &Runs) -> Result<()> {
        let held = self.buffer.len().saturating_sub(self.at);
        if held >= bytes {
            return Ok(());
        }
        self.buffer.drain(..self.at);
        self.at = 0;
        let left = usize::try_from(self.run.end.saturating_sub(self.run.start)).unwrap_or(usize::MAX);
        let more = self.block.max(bytes - held).min(left);
        self.buffer.resize(held.saturating_add(more), 0);
        runs.read(self.run.start, self.buffer.get_mut(held..).unwrap_or_default())?;
        self.run.start = self.run.start.saturating_add(more as u64);
        if self.buffer.len() < bytes { Err(broken()) } else { Ok(()) }
    }
}

/// The number of bytes that are written at once.
const WRITE: usize = 1 << 20;
