//! Writing files: declared whole, their elements in any order by any number of threads, the header last.
//!
//! Spec: NetCDF Classic Format Specification, "The Format in Detail"

mod definition;
mod elements;
mod names;
mod placement;
mod written;

pub use definition::Definition;

use crate::file::to_big_endian;
use crate::header::{MAGIC, Variable};
use crate::layout::Layout;
use elements::{Run, runs};
use hyperslab_core::nd::{Region, fill_rows};
use hyperslab_core::storage::WriteAt;
use hyperslab_core::{Error, Result};
use std::fmt;
use std::sync::Arc;
use written::Written;

/// A file that is being written. It has no signature before [`Writer::finish`] has returned, so that no program takes
/// what was interrupted for a file.
pub struct Writer {
    definition: Definition,
    storage: Arc<dyn WriteAt>,
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
        Ok(Writer { definition, storage, written: Some(written) })
    }

    fn resume(definition: Definition, storage: Arc<dyn WriteAt>) -> Result<Writer> {
        let (found, expected) = (storage.len()?, definition.len());
        if found != expected {
            let detail = format!("{found} bytes, expected {expected}: another file was begun here");
            return Err(Error::invalid(detail));
        }
        storage.write_at(0, &[0; SIGNATURE])?;
        Ok(Writer { definition, storage, written: None })
    }

    /// What is being written.
    pub fn definition(&self) -> &Definition {
        &self.definition
    }

    /// Writes the elements of a region: numbers in native byte order, characters as they are. Many threads may write at
    /// the same time, different elements.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if the region is not within the
    /// variable or `rows` has another length, [`ErrorKind::NotFound`](hyperslab_core::ErrorKind::NotFound) if there is
    /// no variable of this number, and any error of the storage.
    pub fn write_part(&self, variable: usize, region: &Region, rows: &[u8]) -> Result<()> {
        self.part(variable, region, |layout, fill| {
            let expected = region.bytes(layout.element)?;
            if rows.len() != expected {
                let len = rows.len();
                return Err(Error::invalid(format!("{len} bytes of elements, expected {expected}")));
            }
            let (mut rest, mut buffer) = (rows, Vec::new());
            runs(layout, region, |run| {
                let (own, others) = usize::try_from(run.len)
                    .ok()
                    .and_then(|len| rest.split_at_checked(len))
                    .ok_or_else(|| Error::invalid("fewer elements than the region has"))?;
                rest = others;
                self.write_run(run, own, layout.element, fill, &mut buffer)
            })
        })
    }

    /// Writes the fill value to all elements of a region.
    ///
    /// # Errors
    /// As [`Writer::write_part`].
    pub fn fill_part(&self, variable: usize, region: &Region) -> Result<()> {
        self.part(variable, region, |layout, fill| {
            let mut buffer = Vec::new();
            runs(layout, region, |run| {
                // Padding has the bytes that further elements would have.
                let len = run.len.saturating_add(run.padding);
                let want = usize::try_from(len).map_or(PIECE, |len| len.min(PIECE));
                if buffer.len() < want {
                    buffer.resize(want.next_multiple_of(fill.len().max(1)), 0);
                    fill_rows(fill, &mut buffer)?;
                }
                let mut done = 0;
                while done < len {
                    let now = usize::try_from(len - done).map_or(want, |left| left.min(want));
                    let bytes = buffer.get(..now).unwrap_or(&buffer);
                    self.storage.write_at(run.offset.saturating_add(done), bytes)?;
                    done = done.saturating_add(bytes.len() as u64);
                }
                Ok(())
            })
        })
    }

    /// Completes the file. Variables and records that nothing was written to are filled, unless the writing was resumed:
    /// then all elements must have been written or filled, now or before. The signature is written last, when all else
    /// is on the medium.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if a part of a record was written, or
    /// of what belongs to one index of the first dimension; and any error of the storage.
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

    /// Writes a part of a variable, and notes that it is written.
    fn part(
        &self,
        number: usize,
        region: &Region,
        write: impl FnOnce(&Layout, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let (layout, fill) = (self.definition.layout(number)?, self.definition.fill(number)?);
        let written = region.check(&layout.shape).and_then(|()| write(layout, fill));
        written.map_err(|error| self.in_variable(number, error))?;
        if let Some(written) = self.written.as_ref().and_then(|all| all.get(number)) {
            written.add(region);
        }
        Ok(())
    }

    fn write_run(
        &self,
        run: &Run,
        rows: &[u8],
        element: usize,
        fill: &[u8],
        buffer: &mut Vec<u8>,
    ) -> Result<()> {
        if run.padding == 0 && (element == 1 || cfg!(target_endian = "big")) {
            return self.storage.write_at(run.offset, rows);
        }
        let (mut offset, mut left) = (run.offset, rows.len());
        for piece in rows.chunks(PIECE) {
            left = left.saturating_sub(piece.len());
            buffer.clear();
            buffer.extend_from_slice(piece);
            to_big_endian(buffer, element);
            if left == 0 {
                let padding = (0..run.padding).zip(fill.iter().cycle()).map(|(_, byte)| *byte);
                buffer.extend(padding);
            }
            self.storage.write_at(offset, buffer)?;
            offset = offset.saturating_add(piece.len() as u64);
        }
        Ok(())
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

/// A variable as errors name it.
fn path(variable: &Variable) -> String {
    format!("/{}", String::from_utf8_lossy(&variable.name))
}

/// Bytes that are converted or filled at once, a multiple of the size of every type.
const PIECE: usize = 1 << 20;

/// Bytes of the signature: the magic number and the version.
const SIGNATURE: usize = MAGIC.len() + 1;
