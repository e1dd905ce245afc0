//! The limit of contiguous storage: the elements in pieces of 1 MiB, one after another.

use crate::content::Task;
use bench_side::{Failure, Job, Side, Work, Written};
use std::fs::File;
use std::path::Path;

pub(crate) fn work(job: &Job) -> Result<Box<dyn Work>, Failure> {
    Written::boxed(job, Pwrite(Task::of(job)?))
}

struct Pwrite(Task);

impl Side for Pwrite {
    fn write(&mut self, store: &Path, elements: &[u8]) -> Result<(), Failure> {
        let file = File::create(store)?;
        let mut at = 0;
        for piece in elements.chunks(PIECE) {
            let mut rest = piece;
            while !rest.is_empty() {
                let written = rustix::io::pwrite(&file, rest, at)?;
                at += written as u64;
                rest = rest.get(written..).unwrap_or_default();
            }
        }
        Ok(())
    }

    fn hash(&self, store: &Path) -> Result<String, Failure> {
        self.0.hash_elements(store)
    }
}

const PIECE: usize = 1 << 20;
