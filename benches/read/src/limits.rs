//! The limits of the machine: reading the same bytes without a format.

use bench_side::{Failure, Job, Memory, Work, memory, total};
use libdeflater::Decompressor;
use memmap2::MmapMut;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::sync::{Mutex, PoisonError};
use std::thread;
use zstd::bulk::Compressor;

/// The zstd level of the measured conversions.
const LEVEL: i32 = 3;

/// The maximum number of bytes in one read.
const PIECE: usize = 4 << 20;

/// The work for a job.
pub(crate) fn work(job: &Job) -> Result<Box<dyn Work>, Failure> {
    let file = File::open(&job.file)?;
    let places = places(job)?;
    Ok(match job.name.as_str() {
        "pread" => Box::new(Pread::new(job, file, &places)?),
        "chunks" => Box::new(Chunks { file, places, threads: job.threads }),
        "inflate" | "unshuffle" | "recode" => Box::new(Inflate::new(job, &file, &places)?),
        other => return Err(format!("no limit {other}").into()),
    })
}

#[derive(Clone, Copy)]
struct Place {
    address: u64,
    len: usize,
}

/// The chunks of the dataset, from the list that the generator of the file wrote.
fn places(job: &Job) -> Result<Vec<Place>, Failure> {
    let mut name = job.file.clone().into_os_string();
    name.push(".places");
    let mut places = Vec::new();
    for line in fs::read_to_string(name)?.lines() {
        let (address, len) = line.split_once(' ').ok_or("no address and size")?;
        places.push(Place { address: address.parse()?, len: len.parse()? });
    }
    Ok(places)
}

/// Distributes items to threads one by one. The caller is one of the threads.
fn share<I: Iterator + Send>(
    items: I,
    threads: usize,
    act: impl Fn(&mut dyn Iterator<Item = I::Item>) -> Result<(), Failure> + Sync,
) -> Result<(), Failure>
where
    I::Item: Send,
{
    let queue = Mutex::new(items);
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    thread::scope(|scope| {
        let others: Vec<_> =
            (1..threads).map(|_| scope.spawn(|| act(&mut std::iter::from_fn(next)))).collect();
        act(&mut std::iter::from_fn(next))?;
        others.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a thread panicked")?)
    })
}

/// Reads all stored bytes to memory in huge pages, place after place.
struct Pread {
    file: File,
    /// The places, divided into reads of limited size.
    places: Vec<Place>,
    len: usize,
    threads: usize,
    /// Whether the bytes are those of elements in memory.
    is_native: bool,
    reused: Option<MmapMut>,
    fresh: Option<MmapMut>,
}

impl Pread {
    fn new(job: &Job, file: File, places: &[Place]) -> Result<Self, Failure> {
        let mut pieces = Vec::new();
        for place in places {
            for done in (0..place.len).step_by(PIECE) {
                let len = PIECE.min(place.len - done);
                pieces.push(Place { address: place.address + done as u64, len });
            }
        }
        let len = places.iter().map(|place| place.len).sum();
        let reused = (job.memory == Memory::Reused).then(|| memory::touched(len)).transpose()?;
        let is_native = !job.element.starts_with('>');
        Ok(Pread { file, places: pieces, len, threads: job.threads, is_native, reused, fresh: None })
    }
}

impl Work for Pread {
    fn run(&mut self) -> Result<(), Failure> {
        let mut rest: &mut [u8] = match &mut self.reused {
            Some(out) => out,
            None => self.fresh.insert(memory::huge(self.len)?),
        };
        let parts = self.places.iter().map(move |place| {
            let (part, behind) = std::mem::take(&mut rest).split_at_mut(place.len);
            rest = behind;
            (place.address, part)
        });
        share(parts, self.threads, |parts| {
            for (address, part) in parts {
                self.file.read_exact_at(part, address)?;
            }
            Ok(())
        })
    }

    fn output_len(&self) -> usize {
        self.len
    }

    /// Contiguous bytes are the elements in order, so their hash can be compared. The bytes of chunks are not.
    fn total(&mut self) -> Result<Option<String>, Failure> {
        let contiguous = self.places.windows(2).all(|pair| match pair {
            [first, second] => first.address + first.len as u64 == second.address && first.len == PIECE,
            _ => true,
        });
        let out = self.reused.as_deref().or(self.fresh.as_deref());
        Ok(out.filter(|_| contiguous && self.is_native).map(total::of_bytes))
    }

    fn release(&mut self) {
        self.fresh = None;
    }
}

/// Reads the stored bytes of all chunks into scratch.
struct Chunks {
    file: File,
    places: Vec<Place>,
    threads: usize,
}

impl Work for Chunks {
    fn run(&mut self) -> Result<(), Failure> {
        share(self.places.iter(), self.threads, |places| {
            let mut scratch = Vec::new();
            for place in places {
                if scratch.len() < place.len {
                    scratch.resize(place.len, 0);
                }
                let part = scratch.get_mut(..place.len).ok_or("no room")?;
                self.file.read_exact_at(part, place.address)?;
            }
            Ok(())
        })
    }

    fn output_len(&self) -> usize {
        0
    }

    fn total(&mut self) -> Result<Option<String>, Failure> {
        Ok(None)
    }
}

/// Inflates all chunks, which are in memory, to scratch memory. Unshuffles them and encodes them again on request.
struct Inflate {
    stored: Vec<Vec<u8>>,
    chunk: usize,
    threads: usize,
    unshuffled: bool,
    /// The zstd level, if chunks are encoded again.
    recoded: Option<i32>,
}

impl Inflate {
    fn new(job: &Job, file: &File, places: &[Place]) -> Result<Self, Failure> {
        let mut stored = Vec::with_capacity(places.len());
        for place in places {
            let mut bytes = vec![0; place.len];
            file.read_exact_at(&mut bytes, place.address)?;
            stored.push(bytes);
        }
        let recoded = (job.name == "recode").then_some(LEVEL);
        let unshuffled = job.name != "inflate";
        Ok(Inflate { stored, chunk: job.chunk, threads: job.threads, unshuffled, recoded })
    }
}

impl Work for Inflate {
    fn run(&mut self) -> Result<(), Failure> {
        share(self.stored.iter(), self.threads, |chunks| {
            let mut decompressor = Decompressor::new();
            let (mut inflated, mut elements) = (vec![0; self.chunk], vec![0; self.chunk]);
            let mut compressor = self.recoded.map(Compressor::new).transpose()?;
            let mut encoded = Vec::with_capacity(zstd::zstd_safe::compress_bound(self.chunk));
            for chunk in chunks {
                decompressor.zlib_decompress(chunk, &mut inflated)?;
                if self.unshuffled {
                    unshuffle(&inflated, &mut elements);
                }
                if let Some(compressor) = &mut compressor {
                    compressor.compress_to_buffer(&elements, &mut encoded)?;
                }
                std::hint::black_box((&mut inflated, &mut elements, &mut encoded));
            }
            Ok(())
        })
    }

    fn output_len(&self) -> usize {
        0
    }

    fn total(&mut self) -> Result<Option<String>, Failure> {
        Ok(None)
    }
}

/// Reassembles elements of four bytes from their byte planes.
#[multiversion::multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512vl+avx512dq+avx2+bmi2",
    "x86_64+avx2+bmi1+bmi2"
))]
#[expect(clippy::indexing_slicing, reason = "only index loops are compiled for the wider registers")]
fn unshuffle(planes: &[u8], elements: &mut [u8]) {
    let count = planes.len() / 4;
    for index in 0..count {
        for byte in 0..4 {
            elements[index * 4 + byte] = planes[byte * count + index];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unshuffle_reassembles_elements() {
        let mut elements = [0; 8];
        unshuffle(&[1, 5, 2, 6, 3, 7, 4, 8], &mut elements);
        assert_eq!(elements, [1, 2, 3, 4, 5, 6, 7, 8]);
    }

    #[test]
    fn every_item_is_distributed_once_and_a_failure_is_returned() {
        let seen = Mutex::new(Vec::new());
        share(0..100, 3, |items| {
            items.for_each(|item| seen.lock().unwrap().push(item));
            Ok(())
        })
        .unwrap();
        let mut seen = seen.into_inner().unwrap();
        seen.sort_unstable();
        assert!(seen.into_iter().eq(0..100));
        assert!(share(0..9, 2, |items| items.next().map_or(Ok(()), |_| Err("broken".into()))).is_err());
    }
}
