//! Other readers in Rust, each with its own calls for the job.

mod hdf5_pure;
mod hdf5_reader;
mod rust_hdf5;

use bench_side::{Failure, Job, Memory, Work, memory, total};
use bytemuck::Pod;
use memmap2::MmapMut;

/// The work of the peer with this name.
pub(crate) fn work(peer: &str, job: &Job) -> Result<Box<dyn Work>, Failure> {
    memory::allow(MAX_MEMORY)?;
    match peer {
        "hdf5-reader" => hdf5_reader::work(job),
        "rust-hdf5" => rust_hdf5::work(job),
        "hdf5-pure" => hdf5_pure::work(job),
        other => Err(format!("no side {other}").into()),
    }
}

/// The maximum memory in bytes of a peer for 1 GB of elements. A peer that needs more fails, instead of exhausting the
/// memory of the machine.
const MAX_MEMORY: u64 = 10 << 30;

/// Reads elements into memory of the caller.
type Into<T> = Box<dyn FnMut(&mut [T]) -> Result<(), Failure>>;

/// Reads elements into new memory.
type New<T> = Box<dyn FnMut() -> Result<Vec<T>, Failure>>;

/// An array job of a peer.
struct Array<T> {
    len: usize,
    call: Call<T>,
    fresh: Vec<T>,
}

enum Call<T> {
    Into(MmapMut, Into<T>),
    New(New<T>),
}

impl<T: Pod> Array<T> {
    /// An array of `count` elements. `into` is `None` if the peer cannot read into memory of the caller.
    fn boxed(job: &Job, count: usize, into: Option<Into<T>>, new: New<T>) -> Result<Box<dyn Work>, Failure> {
        let len = count.checked_mul(size_of::<T>()).ok_or("too many elements")?;
        let call = match job.memory {
            Memory::Reused => {
                Call::Into(memory::touched(len)?, into.ok_or("reads into no memory of the caller")?)
            }
            Memory::Fresh => Call::New(new),
        };
        Ok(Box::new(Array { len, call, fresh: Vec::new() }))
    }
}

impl<T: Pod> Work for Array<T> {
    fn run(&mut self) -> Result<(), Failure> {
        match &mut self.call {
            Call::Into(out, read) => read(bytemuck::cast_slice_mut(out)),
            Call::New(read) => {
                self.fresh = read()?;
                Ok(())
            }
        }
    }

    fn output_len(&self) -> usize {
        self.len
    }

    fn total(&mut self) -> Result<Option<String>, Failure> {
        Ok(Some(match &self.call {
            Call::Into(out, _) => total::of_bytes(out),
            Call::New(_) => total::of_bytes(bytemuck::cast_slice(&self.fresh)),
        }))
    }

    fn release(&mut self) {
        self.fresh = Vec::new();
    }
}

/// A strings job of a peer.
struct Strings {
    read: Box<dyn FnMut() -> Result<Vec<String>, Failure>>,
    out: Vec<String>,
}

impl Strings {
    fn boxed(read: impl FnMut() -> Result<Vec<String>, Failure> + 'static) -> Box<dyn Work> {
        Box::new(Strings { read: Box::new(read), out: Vec::new() })
    }
}

impl Work for Strings {
    fn run(&mut self) -> Result<(), Failure> {
        self.out = (self.read)()?;
        Ok(())
    }

    fn output_len(&self) -> usize {
        0
    }

    fn total(&mut self) -> Result<Option<String>, Failure> {
        Ok(Some(total::of_strings(self.out.iter().map(String::as_bytes))))
    }

    fn release(&mut self) {
        self.out = Vec::new();
    }
}

/// A walk of a peer: `visit` gets path, extents and element size in bytes of each dataset, and only the path of a
/// group.
struct Walk<F>(F);

type Visit<'a> = &'a mut dyn FnMut(&str, Option<(&[u64], usize)>);

impl<F: FnMut(Visit<'_>) -> Result<(), Failure> + 'static> Walk<F> {
    fn boxed(walk: F) -> Box<dyn Work> {
        Box::new(Walk(walk))
    }
}

impl<F: FnMut(Visit<'_>) -> Result<(), Failure>> Work for Walk<F> {
    fn run(&mut self) -> Result<(), Failure> {
        (self.0)(&mut |path, dataset| {
            std::hint::black_box((path, dataset));
        })
    }

    fn output_len(&self) -> usize {
        0
    }

    fn total(&mut self) -> Result<Option<String>, Failure> {
        let mut objects = total::Objects::default();
        (self.0)(&mut |path, dataset| match dataset {
            Some((extents, element)) => objects.dataset(path, extents, element),
            None => objects.group(path),
        })?;
        Ok(Some(objects.total()))
    }
}

/// The error for a job that a peer has no call for.
fn cannot(job: &Job) -> Failure {
    let what = match job.name.as_str() {
        "array" => "takes no selection with steps",
        "index" => "lists no chunks without reading them",
        _ => "is not asked to",
    };
    what.into()
}
