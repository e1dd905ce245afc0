//! Stores that are written again in each run.

use crate::{Failure, Job, Work, memory};
use memmap2::MmapMut;
use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// The work of a side that writes: all elements from memory into a new store, a folder or a file.
pub struct Written<S> {
    side: S,
    into: PathBuf,
    elements: MmapMut,
}

/// The operations of a side that writes.
pub trait Side {
    /// Creates the store and prepares writing. The folder or file does not exist yet. Not timed.
    fn begin(&mut self, _: &Path) -> Result<(), Failure> {
        Ok(())
    }

    /// Writes all elements, which are those of the source of the job.
    fn write(&mut self, store: &Path, elements: &[u8]) -> Result<(), Failure>;

    /// The hash of the elements as another reader reads them.
    fn hash(&self, store: &Path) -> Result<String, Failure>;
}

impl<S: Side + 'static> Written<S> {
    /// The work of a side.
    ///
    /// # Errors
    /// If the elements cannot be read.
    pub fn boxed(job: &Job, side: S) -> Result<Box<dyn Work>, Failure> {
        let mut source = File::open(&job.source)?;
        let len = usize::try_from(source.metadata()?.len())?;
        let mut elements = memory::huge(len)?;
        source.read_exact(&mut elements)?;
        Ok(Box::new(Written { side, into: job.into.clone(), elements }))
    }
}

impl<S: Side> Work for Written<S> {
    fn prepare(&mut self) -> Result<(), Failure> {
        if let Some(folder) = self.into.parent() {
            fs::create_dir_all(folder)?;
        }
        remove(&self.into)?;
        self.side.begin(&self.into)
    }

    fn run(&mut self) -> Result<(), Failure> {
        self.side.write(&self.into, &self.elements)
    }

    fn output_len(&self) -> usize {
        self.elements.len()
    }

    fn stored(&mut self) -> Result<u64, Failure> {
        size(&self.into)
    }

    fn total(&mut self) -> Result<Option<String>, Failure> {
        self.side.hash(&self.into).map(Some)
    }

    fn release(&mut self) {
        // The store is removed immediately, so that it is not written to disk. If this fails, the next run reports it.
        let _ = remove(&self.into);
    }
}

fn remove(store: &Path) -> Result<(), Failure> {
    let removed = if store.is_file() { fs::remove_file(store) } else { fs::remove_dir_all(store) };
    match removed {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

fn size(path: &Path) -> Result<u64, Failure> {
    let found = fs::metadata(path)?;
    if found.is_file() {
        return Ok(found.len());
    }
    let mut size = 0;
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let found = entry.metadata()?;
        size += if found.is_dir() { self::size(&entry.path())? } else { found.len() };
    }
    Ok(size)
}
