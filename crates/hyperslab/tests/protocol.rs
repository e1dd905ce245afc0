//! The order of the calls to a target with any number of threads: declare all, begin, encode, store, finish.

mod recording;

use crate::interrupted::many_chunks;
use crate::path;
use hyperslab::convert::{ConvertOptions, Summary, convert, plan};
use hyperslab::publish::{Fingerprint, PublishOptions};
use hyperslab::target::{Needs, TargetFormat};
use hyperslab::{
    ArraySource, Dialect, Entry, Error, Handle, NodePath, OpenOptions, Pool, Source, open, target_format_of,
};
use hyperslab_codec::Scratch;
use hyperslab_core::nd::{Planes, Region};
use hyperslab_core::rows::Heap;
use hyperslab_model::{Datatype, Node, Reference};
use recording::{Call, Recording};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tempfile::TempDir;

/// Enough memory for a few chunks of [`many_chunks`].
const LITTLE: u64 = 8 << 20;

fn written(
    source: &Path,
    target: &Path,
    format: &dyn TargetFormat,
    pool: &Pool,
    publish: PublishOptions,
) -> Result<Summary, Error> {
    let opened = open(source, &OpenOptions { pool: pool.clone(), ..OpenOptions::default() })?;
    let made_from = Fingerprint::of_source(source, "")?;
    let options = ConvertOptions { pool: pool.clone(), publish, ..ConvertOptions::new(format) };
    convert(&*opened, &made_from, target, &plan(&*opened, &options)?, &options)
}

fn recorded(source: &Path, format: &Recording, threads: usize) -> Vec<Call> {
    let folder = TempDir::new().unwrap();
    let pool = Pool::new(threads, LITTLE);
    written(source, &folder.path().join("x"), format, &pool, PublishOptions::default()).unwrap();
    format.log.calls()
}

/// The indexes of the chunks of an array, in the order in which they were stored.
fn stored(calls: &[Call], array: &str) -> Vec<Vec<u64>> {
    let index = |call: &Call| match call {
        Call::Store(path, index, _) if path == array => Some(index.clone()),
        _ => None,
    };
    calls.iter().filter_map(index).collect()
}

#[test]
fn all_objects_are_declared_before_the_first_array_is_begun() {
    for is_ordered in [false, true] {
        let format = Recording { is_ordered, ..Recording::default() };
        let calls = recorded(&path("ocean.nc"), &format, 2);
        let declared: Vec<_> = calls
            .iter()
            .take_while(|call| matches!(call, Call::Declare(_)))
            .map(|call| match call {
                Call::Declare(path) => path.as_str(),
                _ => unreachable!(),
            })
            .collect();
        assert_eq!(declared.first(), Some(&"/"));
        assert!(declared.contains(&"/salinity"), "{declared:?}");
        let rest = &calls[declared.len()..];
        assert!(!rest.iter().any(|call| matches!(call, Call::Declare(_))), "{rest:?}");
        assert_eq!(rest.last(), Some(&Call::FinishStore));
        // Arrays are begun in the order in which they were declared, and each is finished before the next one begins.
        let mut open: Option<&str> = None;
        let mut begun = Vec::new();
        for call in rest {
            match call {
                Call::Begin(path) => {
                    assert_eq!(open.replace(path), None);
                    begun.push(path.as_str());
                }
                Call::Store(path, ..) | Call::Place(path, _) => assert_eq!(open, Some(path.as_str())),
                Call::Finish(path) => assert_eq!(open.take(), Some(path.as_str())),
                Call::FinishStore => assert_eq!(open, None),
                Call::Declare(_) | Call::Abandon(_) => panic!("{call:?}"),
            }
        }
        let in_order: Vec<_> = declared.iter().copied().filter(|path| begun.contains(path)).collect();
        assert_eq!(begun, in_order);
        assert!(begun.len() > 3, "{begun:?}");
    }
}

#[test]
fn ordered_targets_get_the_same_calls_with_any_number_of_threads() {
    let folder = TempDir::new().unwrap();
    let source = many_chunks(folder.path());
    for (places, chunk) in [(false, None), (true, None), (false, Some(vec![3, 20_000]))] {
        let format = Recording { is_ordered: true, places, chunk, ..Recording::default() };
        let one = recorded(&source, &format.anew(), 1);
        let chunks = stored(&one, "/x");
        assert!(chunks.len() >= 64, "{}", chunks.len());
        if format.chunk.is_none() {
            let mut sorted = chunks.clone();
            sorted.sort();
            assert_eq!(chunks, sorted);
        }
        for threads in [2, 8] {
            // On a busy machine, one thread may do all the work before another starts.
            let mut encoders = (0..20).map(|_| {
                let format = format.anew();
                assert!(recorded(&source, &format, threads) == one, "{threads} threads");
                assert_eq!(format.log.most_storing.load(Ordering::SeqCst), 1, "one thread stores at a time");
                format.log.encoders.lock().map(|encoders| encoders.len()).unwrap()
            });
            assert!(encoders.any(|of_run| of_run > 1), "many threads encode");
        }
    }
}

#[test]
fn other_targets_get_the_same_chunks_from_many_threads() {
    let folder = TempDir::new().unwrap();
    let source = many_chunks(folder.path());
    let sorted = |mut chunks: Vec<Vec<u64>>| {
        chunks.sort();
        chunks
    };
    let one = sorted(stored(&recorded(&source, &Recording::default(), 1), "/x"));
    let format = Recording::default();
    assert_eq!(sorted(stored(&recorded(&source, &format, 8), "/x")), one);
    assert!(format.log.encoders.lock().unwrap().len() > 1);
}

#[test]
fn the_pieces_of_a_chunk_are_stored_right_before_it() {
    let folder = TempDir::new().unwrap();
    let source = many_chunks(folder.path());
    let format = Recording { is_ordered: true, places: true, ..Recording::default() };
    let calls = recorded(&source, &format, 8);
    let mut placed = Vec::new();
    let mut address = 0_u64;
    for call in calls {
        match call {
            Call::Place(_, piece) => placed.push(piece),
            Call::Store(_, index, bytes) => {
                let pieces: Vec<_> = index.iter().map(|at| at.to_le_bytes().to_vec()).collect();
                assert_eq!(std::mem::take(&mut placed), pieces);
                let addresses: Vec<u8> =
                    (address..).take(index.len()).flat_map(|at| at.to_le_bytes()).collect();
                assert_eq!(bytes, addresses);
                address += index.len() as u64;
            }
            _ => {}
        }
    }
    assert_eq!(address, 128);
}

#[test]
fn a_failed_run_keeps_finished_chunks_and_the_next_run_writes_the_rest() {
    let folder = TempDir::new().unwrap();
    let source = many_chunks(folder.path());
    for threads in [1, 2, 8] {
        let target = folder.path().join(format!("x{threads}"));
        let format = Recording { is_ordered: true, fails_at: Some(40), ..Recording::default() };
        // Both runs need the same boxes, which do not depend on the number of threads.
        let pool = Pool::new(threads, LITTLE);
        let e = written(&source, &target, &format, &pool, PublishOptions::default()).unwrap_err();
        assert!(e.to_string().contains("the disk is full"), "{e}");
        assert!(e.to_string().contains("resume the run: 2621440 of 4194304 bytes"), "{e}");
        assert!(!target.exists());
        let first = stored(&format.log.calls(), "/x");
        assert_eq!(first.len(), 40, "everything before the failure is stored, nothing after it");

        let format = Recording { is_ordered: true, ..Recording::default() };
        let resume = PublishOptions { resume: true, ..PublishOptions::default() };
        let pool = Pool::new(9 - threads, LITTLE);
        written(&source, &target, &format, &pool, resume).unwrap();
        let second = stored(&format.log.calls(), "/x");
        // All chunks of the unfinished box are stored again.
        assert!(second.len() < 40 && second.contains(&vec![40, 0]), "{second:?}");
        let mut all = [first, second].concat();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 64);
        assert!(target.exists());
    }
}

#[test]
fn zip_files_have_the_same_bytes_with_any_number_of_threads() {
    let folder = TempDir::new().unwrap();
    let chunks = many_chunks(folder.path());
    for (source, memory) in [
        (chunks.as_path(), LITTLE),
        (chunks.as_path(), Pool::MEMORY),
        (path("ocean.nc").as_path(), 4 << 10),
        (path("strings.nc").as_path(), Pool::MEMORY),
    ] {
        let zip = |threads: usize| {
            let target = folder.path().join("x.zarr.zip");
            let format = target_format_of(&target).unwrap();
            let publish = PublishOptions { overwrite: true, ..PublishOptions::default() };
            written(source, &target, format, &Pool::new(threads, memory), publish).unwrap();
            fs::read(&target).unwrap()
        };
        let one = zip(1);
        for threads in [2, 8] {
            assert!(zip(threads) == one, "{} with {threads} threads", source.display());
        }
    }
}

/// A source that counts the elements read from one array.
struct Counting<'a> {
    source: &'a dyn Source,
    array: NodePath,
    read: Arc<AtomicU64>,
}

struct Counted {
    array: Arc<dyn ArraySource>,
    read: Arc<AtomicU64>,
}

impl Source for Counting<'_> {
    fn dialect(&self) -> &'static Dialect {
        self.source.dialect()
    }
    fn size(&self) -> Result<u64, Error> {
        self.source.size()
    }
    fn find(&self, path: &NodePath) -> Result<Entry, Error> {
        self.source.find(path)
    }
    fn members(&self, group: &Handle) -> Result<Vec<Entry>, Error> {
        self.source.members(group)
    }
    fn load(&self, object: &Handle) -> Result<Node, Error> {
        self.source.load(object)
    }
    fn array(&self, object: &Handle) -> Result<Arc<dyn ArraySource>, Error> {
        let array = self.source.array(object)?;
        Ok(match object.path == self.array {
            true => Arc::new(Counted { array, read: Arc::clone(&self.read) }),
            false => array,
        })
    }
}

impl ArraySource for Counted {
    fn beneath(&self) -> Option<&dyn ArraySource> {
        Some(&*self.array)
    }

    fn extents(&self) -> Option<&[u64]> {
        self.array.extents()
    }
    fn datatype(&self) -> &Arc<Datatype> {
        self.array.datatype()
    }
    fn chunk(&self) -> &[u64] {
        self.array.chunk()
    }
    fn pool(&self) -> &Pool {
        self.array.pool()
    }
    fn read_part(
        &self,
        region: &Region,
        rows: &mut Planes<'_>,
        heap: &mut Heap<Reference>,
        scratch: &mut Scratch,
    ) -> Result<(), Error> {
        self.read.fetch_add(region.len().unwrap(), Ordering::Relaxed);
        self.array.read_part(region, rows, heap, scratch)
    }
    fn stored(&self) -> Result<u64, Error> {
        self.array.stored()
    }
}

#[test]
fn texts_are_read_once_unless_the_format_needs_facts_about_them() {
    let folder = TempDir::new().unwrap();
    let opened = open(&path("strings.nc"), &OpenOptions::default()).unwrap();
    let (array, count) = texts(&*opened);
    let read = |format: &dyn TargetFormat, name: &str| {
        let source = Counting { source: &*opened, array: array.clone(), read: Arc::default() };
        let options = ConvertOptions::new(format);
        let planned = plan(&source, &options).unwrap();
        let before = source.read.load(Ordering::Relaxed);
        convert(&source, &Fingerprint::default(), &folder.path().join(name), &planned, &options).unwrap();
        (before, source.read.load(Ordering::Relaxed) - before)
    };
    assert_eq!(read(&Recording::default(), "a"), (0, count));
    // Reading one element shows whether the array is readable.
    let needs = Needs { readable: true, ..Needs::default() };
    assert_eq!(read(&Recording { needs, ..Recording::default() }, "b"), (1, count));
    let needs = Needs { unicode: true, ..Needs::default() };
    assert_eq!(read(&Recording { needs, ..Recording::default() }, "c"), (count, count));
}

/// The array with the most variable-length strings, and their number.
fn texts(source: &dyn Source) -> (NodePath, u64) {
    let root = source.find(&NodePath::root()).unwrap();
    let mut found = Vec::new();
    hyperslab::walk(source, &root.handle, &mut |step| {
        if let hyperslab::Step::Member(entry) = step
            && let hyperslab::Item::Array { datatype: Some(datatype), .. } = &entry.item
            && *datatype.resolved() == Datatype::String(hyperslab_model::Text::Variable)
        {
            let extents = source.array(&entry.handle)?.extents().unwrap().to_vec();
            found.push((extents.iter().product::<u64>(), entry.handle.path.clone()));
        }
        Ok(())
    })
    .unwrap();
    let (count, path) = found.into_iter().max().unwrap();
    assert!(count > 1, "{path}: {count}");
    (path, count)
}
