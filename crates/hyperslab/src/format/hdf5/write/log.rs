//! The log of stored chunks next to a file that is being written, so that an interrupted run can be resumed.
//!
//! The journal of a run records which boxes of an array are stored; the log records where. It is a sequence of records
//! of 40 bytes, little-endian:
//!
//! | bytes | content |
//! |---|---|
//! | 4 | number of the array, in the order in which arrays are begun |
//! | 4 | filter mask |
//! | 8 | number of the chunk in row-major order; all bits set for a global heap collection, all but the last for a box |
//! | 8 | address; of a box its number |
//! | 8 | size in bytes; of a box the number of records before that belong to it |
//! | 8 | checksum of the 32 bytes before |
//!
//! A box is stored once its record exists. If there are two records for a box, the last one counts: the interrupted run
//! had not yet entered the box in the journal.

use hyperslab_core::{Error, Result};
use hyperslab_hdf5::format::Address;
use rustc_hash::FxHashMap;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The log of a file.
pub(super) struct Log {
    file: Mutex<File>,
    /// What an interrupted run has stored, by array number.
    earlier: Mutex<FxHashMap<u32, Boxes>>,
}

/// The records of the boxes of an array, by their numbers.
type Boxes = FxHashMap<u64, Vec<Stored>>;

/// The log of one array.
pub(super) struct ArrayLog {
    log: Arc<Log>,
    array: u32,
    earlier: Mutex<Boxes>,
    /// What was stored since the last box.
    stored: Mutex<Vec<Stored>>,
}

/// A chunk or a global heap collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stored {
    /// The number of the chunk; `None` for a collection.
    pub(super) chunk: Option<u64>,
    pub(super) address: Address,
    pub(super) size: u64,
    pub(super) filter_mask: u32,
}

impl Log {
    /// Opens the log at a path, or creates it.
    pub(super) fn open(path: &Path) -> Result<Log> {
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let (earlier, whole) = parse(&bytes);
        // An incomplete record would hide those that follow.
        file.set_len(whole)?;
        Ok(Log { file: Mutex::new(file), earlier: Mutex::new(earlier) })
    }

    /// The log of the array with this number.
    pub(super) fn of_array(self: &Arc<Self>, array: u32) -> ArrayLog {
        let earlier = lock(&self.earlier).remove(&array).unwrap_or_default();
        ArrayLog { log: Arc::clone(self), array, earlier: Mutex::new(earlier), stored: Mutex::default() }
    }
}

impl ArrayLog {
    /// Notes what was stored.
    pub(super) fn note(&self, stored: Stored) {
        lock(&self.stored).push(stored);
    }

    /// Records that everything noted so far belongs to a box, which is now stored.
    pub(super) fn settle(&self, number: u64) -> Result<()> {
        let stored = std::mem::take(&mut *lock(&self.stored));
        let mut bytes = Vec::with_capacity((stored.len() + 1).saturating_mul(RECORD));
        for one in &stored {
            let chunk = one.chunk.unwrap_or(COLLECTION);
            self.push(&mut bytes, one.filter_mask, [chunk, one.address.0, one.size]);
        }
        self.push(&mut bytes, 0, [BOX, number, stored.len() as u64]);
        Ok(lock(&self.log.file).write_all(&bytes)?)
    }

    fn push(&self, bytes: &mut Vec<u8>, filter_mask: u32, fields: [u64; 3]) {
        let start = bytes.len();
        bytes.extend(self.array.to_le_bytes());
        bytes.extend(filter_mask.to_le_bytes());
        fields.iter().for_each(|field| bytes.extend(field.to_le_bytes()));
        let sum = checksum(bytes.get(start..).unwrap_or_default());
        bytes.extend(sum);
    }

    /// Takes what an interrupted run has stored of a box.
    ///
    /// # Errors
    /// If it has stored nothing.
    pub(super) fn resume(&self, number: u64) -> Result<Vec<Stored>> {
        lock(&self.earlier).remove(&number).ok_or_else(|| {
            Error::malformed(format!("no record of box {number} in the log of an interrupted run"))
                .with_hint("start again without resuming")
        })
    }

    /// Takes what an interrupted run has stored of all boxes, in the order of their numbers.
    pub(super) fn resume_all(&self) -> Vec<Stored> {
        let mut boxes: Vec<_> = std::mem::take(&mut *lock(&self.earlier)).into_iter().collect();
        boxes.sort_unstable_by_key(|(number, _)| *number);
        boxes.into_iter().flat_map(|(_, stored)| stored).collect()
    }
}

/// The boxes in the bytes of a log, and the total length of the complete records in bytes.
fn parse(bytes: &[u8]) -> (FxHashMap<u32, Boxes>, u64) {
    let mut arrays: FxHashMap<u32, Boxes> = FxHashMap::default();
    let mut pending: FxHashMap<u32, Vec<Stored>> = FxHashMap::default();
    let mut whole = 0;
    for record in bytes.chunks_exact(RECORD) {
        let Some((body, sum)) = record.split_at_checked(RECORD - SUM) else { break };
        if checksum(body) != sum {
            break;
        }
        whole += RECORD as u64;
        let word = |at: usize| {
            body.get(at..).and_then(|rest| rest.first_chunk::<4>()).map_or(0, |of| u32::from_le_bytes(*of))
        };
        let long = |at: usize| {
            body.get(at..).and_then(|rest| rest.first_chunk::<8>()).map_or(0, |of| u64::from_le_bytes(*of))
        };
        let (array, filter_mask, number, address, size) = (word(0), word(4), long(8), long(16), long(24));
        let of_array = pending.entry(array).or_default();
        match number {
            BOX => {
                // Earlier records belong to a box that was not finished.
                let skip = (of_array.len() as u64).saturating_sub(size);
                let skip = usize::try_from(skip).unwrap_or(usize::MAX);
                let stored = of_array.drain(..).skip(skip).collect();
                arrays.entry(array).or_default().insert(address, stored);
            }
            number => {
                let chunk = (number != COLLECTION).then_some(number);
                of_array.push(Stored { chunk, address: Address(address), size, filter_mask });
            }
        }
    }
    (arrays, whole)
}

fn checksum(body: &[u8]) -> [u8; SUM] {
    blake3::hash(body).as_bytes().first_chunk::<SUM>().copied().unwrap_or_default()
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

const RECORD: usize = 40;
const SUM: usize = 8;
const COLLECTION: u64 = u64::MAX;
const BOX: u64 = u64::MAX - 1;

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(chunk: Option<u64>, address: u64) -> Stored {
        Stored { chunk, address: Address(address), size: 10, filter_mask: 1 }
    }

    #[test]
    fn a_log_cut_anywhere_has_the_boxes_that_are_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("chunks");
        let boxes = [
            (0, vec![stored(Some(0), 100), stored(None, 110)]),
            (1, vec![]),
            (5, vec![stored(Some(7), 120)]),
        ];
        let log = Arc::new(Log::open(&path).unwrap());
        let array = log.of_array(3);
        for (number, of_box) in &boxes {
            of_box.iter().for_each(|one| array.note(*one));
            array.settle(*number).unwrap();
        }
        let bytes = std::fs::read(&path).unwrap();
        let ends = [120, 160, 240];
        for len in 0..=bytes.len() {
            std::fs::write(&path, &bytes[..len]).unwrap();
            let array = Arc::new(Log::open(&path).unwrap()).of_array(3);
            let whole = ends.iter().filter(|end| **end <= len).count();
            for (number, of_box) in &boxes[..whole] {
                assert_eq!(&array.resume(*number).unwrap(), of_box, "{len}");
            }
            assert!(array.resume_all().is_empty());
            assert!(array.resume(9).is_err());
        }
    }

    #[test]
    fn what_was_stored_again_counts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("chunks");
        for address in [100, 200] {
            let array = Arc::new(Log::open(&path).unwrap()).of_array(0);
            array.note(stored(Some(0), address));
            array.settle(0).unwrap();
        }
        let array = Arc::new(Log::open(&path).unwrap()).of_array(0);
        assert_eq!(array.resume_all(), [stored(Some(0), 200)]);
    }
}
