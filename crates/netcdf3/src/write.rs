//! Writes files: declared as a whole, with their elements in any order by any number of threads, and the header last.
//!
//! Spec: NetCDF Classic Format Specification, "The Format in Detail"

mod definition;
mod elements;
mod names;
mod placement;
mod written;

pub use definition::Definition;

use crate::header::{MAGIC, Variable};
use crate::layout::Layout;
use elements::{Elements, Run, pad, runs};
use hyperslab_core::nd::Region;
use hyperslab_core::storage::WriteAt;
use hyperslab_core::{Error, Result};
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};
use written::Written;

/// A file that is being written. It has no signature until [`Writer::finish`] has returned, so no program mistakes an
/// interrupted write for a complete file.
pub struct Writer {
    definition: Definition,
    storage: Arc<dyn WriteAt>,
    /// Held by threads that write between records: exclusively if they write back the elements of other variables
    /// there.
    records: RwLock<()>,
    /// Which elements of each variable were written; `None` if it is not known.
    written: Option<Vec<Written>>,
}

impl Writer {
    fn begin(definition: Definition, storage: Arc<dyn WriteAt>) -> Result<Writer> {
        if !storage.is_empty()? {
            // Otherwise, after a power failure, the old header could stand before new elements.
            storage.set_len(0)?;
            storage.sync()?;
        }
        storage.allocate(0..definition.len())?;
        let written = definition.header().variables.iter().map(|_| Written::default()).collect();
        Ok(Writer { definition, storage, records: RwLock::default(), written: Some(written) })
    }

    fn resume(definition: Definition, storage: Arc<dyn WriteAt>) -> Result<Writer> {
        let (found, expected) = (storage.len()?, definition.len());
        if found != expected {
            let detail = format!("{found} bytes, expected {expected}: another file was begun here");
            return Err(Error::invalid(detail));
        }
        storage.write_at(0, &[0; SIGNATURE])?;
        Ok(Writer { definition, storage, records: RwLock::default(), written: None })
    }

    /// The definition of the file that is being written.
    pub fn definition(&self) -> &Definition {
        &self.definition
    }

    /// Writes the elements of a region: numbers in native byte order, characters unchanged. Many threads may write
    /// different elements at the same time.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if the region is not within the
    /// variable or `rows` has the wrong length, [`ErrorKind::NotFound`](hyperslab_core::ErrorKind::NotFound) if there
    /// is no variable with this number, and any error of the storage.
    pub fn write_part(&self, variable: usize, region: &Region, rows: &[u8]) -> Result<()> {
        self.part(variable, region, Elements::Rows(rows))
    }

    /// Writes the fill value to all elements of a region.
    ///
    /// # Errors
    /// As [`Writer::write_part`].
    pub fn fill_part(&self, variable: usize, region: &Region) -> Result<()> {
        self.part(variable, region, Elements::Fill)
    }

    /// Completes the file. Variables and records to which nothing was written are filled. If writing was resumed, they
    /// are not: all elements must then have been written or filled, now or before. The signature is written last, when
    /// everything else has reached the storage medium.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if only a part of a record was
    /// written, or only a part of the elements at one index of the first dimension; and any error of the storage.
    pub fn finish(self) -> Result<()> {
        let written = self.written.iter().flatten().enumerate();
        for (number, written) in written {
            let shape = &self.definition.layout(number)?.shape;
            let gaps = written.gaps(shape).map_err(|error| self.in_variable(number, error))?;
            for gap in gaps {
                self.fill_part(number, &gap)?;
            }
        }
        let (signature, rest) = self.definition.encoded().split_at(SIGNATURE);
        self.storage.write_at(SIGNATURE as u64, rest)?;
        self.storage.sync()?;
        self.storage.write_at(0, signature)
    }

    /// Writes a part of a variable, and records that it was written.
    fn part(&self, number: usize, region: &Region, elements: Elements<'_>) -> Result<()> {
        let (layout, fill) = (self.definition.layout(number)?, self.definition.fill(number)?);
        let written = check_part(layout, region, &elements)
            .and_then(|()| self.write_elements(layout, fill, region, elements));
        written.map_err(|error| self.in_variable(number, error))?;
        if let Some(written) = self.written.as_ref().and_then(|all| all.get(number)) {
            written.add(region);
        }
        Ok(())
    }

    fn write_elements(
        &self,
        layout: &Layout,
        fill: &[u8],
        region: &Region,
        mut elements: Elements<'_>,
    ) -> Result<()> {
        if !layout.is_interleaved() || region.is_empty() {
            return self.write_runs(layout, fill, region, &mut elements);
        }
        let axis = (region.start.first(), region.count.first(), region.step.first(), layout.record);
        let (Some(start), Some(count), Some(step), Some(distance)) = axis else {
            return Err(Error::invalid("records without a dimension"));
        };
        let apart = step.saturating_mul(distance);
        if apart > NEAR || *count == 1 {
            let _others = self.records.read().unwrap_or_else(PoisonError::into_inner);
            return self.write_runs(layout, fill, region, &mut elements);
        }
        let together = (PIECE as u64).checked_div(apart).unwrap_or(1).max(1);
        let mut buffer = Vec::new();
        let mut done = 0;
        while done < *count {
            let mut part = region.clone();
            let now = together.min(count - done);
            let first = start.saturating_add(done.saturating_mul(*step));
            part.start.iter_mut().take(1).for_each(|start| *start = first);
            part.count.iter_mut().take(1).for_each(|count| *count = now);
            let begin = layout.begin.saturating_add(first.saturating_mul(distance));
            let len = (now - 1).saturating_mul(apart).saturating_add(layout.block);
            let len = usize::try_from(len.saturating_add(layout.padding())).map_err(|_| too_large())?;
            buffer.resize(len, 0);
            let _alone = self.records.write().unwrap_or_else(PoisonError::into_inner);
            self.storage.read_into(begin, &mut buffer)?;
            runs(layout, &part, |run| {
                let from = usize::try_from(run.offset.saturating_sub(begin)).map_err(|_| too_large())?;
                let out = buffer.get_mut(from..).unwrap_or_default();
                store(run, out, layout.element, fill, &mut elements).map(drop)
            })?;
            self.storage.write_at(begin, &buffer)?;
            done = done.saturating_add(now);
        }
        Ok(())
    }

    /// Writes the elements of a region, each run of bytes separately.
    fn write_runs(
        &self,
        layout: &Layout,
        fill: &[u8],
        region: &Region,
        elements: &mut Elements<'_>,
    ) -> Result<()> {
        let mut buffer = Vec::new();
        runs(layout, region, |run| {
            if run.padding == 0
                && let Some(stored) = elements.take_stored(run.len, layout.element)
            {
                return self.storage.write_at(run.offset, stored);
            }
            let mut done = 0;
            while done < run.len {
                let len = (run.len - done).min(PIECE as u64);
                let padding = if done.saturating_add(len) == run.len { run.padding } else { 0 };
                let piece = Run { offset: run.offset.saturating_add(done), len, padding };
                let room = usize::try_from(len.saturating_add(padding)).map_err(|_| too_large())?;
                buffer.resize(room, 0);
                let stored = store(&piece, &mut buffer, layout.element, fill, elements)?;
                self.storage.write_at(piece.offset, stored)?;
                done = done.saturating_add(len);
            }
            Ok(())
        })
    }

    fn in_variable(&self, number: usize, error: Error) -> Error {
        match self.definition.header().variables.get(number) {
            Some(variable) => error.in_object(path(variable)),
            None => error,
        }
    }
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").field("definition", &self.definition).finish_non_exhaustive()
    }
}

fn check_part(layout: &Layout, region: &Region, elements: &Elements<'_>) -> Result<()> {
    region.check(&layout.shape)?;
    if let Elements::Rows(rows) = elements {
        let (len, expected) = (rows.len(), region.bytes(layout.element)?);
        if len != expected {
            return Err(Error::invalid(format!("{len} bytes of elements, expected {expected}")));
        }
    }
    Ok(())
}

/// Stores the elements of a run and its padding at the beginning of `out`. Returns these bytes.
fn store<'o>(
    run: &Run,
    out: &'o mut [u8],
    element: usize,
    fill: &[u8],
    elements: &mut Elements<'_>,
) -> Result<&'o [u8]> {
    let len = usize::try_from(run.len).map_err(|_| too_large())?;
    let all = usize::try_from(run.len.saturating_add(run.padding)).map_err(|_| too_large())?;
    let out = out.get_mut(..all).ok_or_else(too_large)?;
    let (own, padding) = out.split_at_mut_checked(len).ok_or_else(too_large)?;
    elements.store(own, element, fill)?;
    pad(padding, fill);
    Ok(out)
}

fn too_large() -> Error {
    Error::invalid("more elements than memory holds")
}

/// The name of a variable, for errors.
fn path(variable: &Variable) -> String {
    format!("/{}", String::from_utf8_lossy(&variable.name))
}

/// The number of bytes that are converted or filled at once, a multiple of the size of every type.
const PIECE: usize = 1 << 20;

/// The distance in bytes up to which records are written together with the bytes between them: reading and writing this
/// many bytes takes as long as writing a few.
const NEAR: u64 = 2 << 10;

/// The size of the signature in bytes: the magic number and the version.
const SIGNATURE: usize = MAGIC.len() + 1;
