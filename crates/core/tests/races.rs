//! Folders and files swapped for symbolic links while they are opened: nothing outside is read, listed or written.
//!
//! `HYPERSLAB_RACES` sets another number of seconds.

#![allow(clippy::unwrap_used, reason = "tests may panic")]

use hyperslab_core::storage::{Directory, ReadAt, Siblings};
use hyperslab_core::store::{DirectoryStore, DirectoryWriter, Durability, Key, Store, WritableStore};
use hyperslab_core::{Error, Result};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The outcomes of attempts to access a swapped file.
#[derive(Default, Debug)]
struct Outcomes {
    inside: u64,
    refused: u64,
    /// The first few of all other outcomes, word for word.
    wrong: Vec<String>,
    wrongs: u64,
}

impl Outcomes {
    /// Records an attempt. `is_inside` decides whether what it found is from inside.
    fn note<T: std::fmt::Debug>(&mut self, what: &str, found: Result<T>, is_inside: impl Fn(&T) -> bool) {
        match found {
            Ok(found) if is_inside(&found) => self.inside += 1,
            Err(e) if is_refusal(&e) => self.refused += 1,
            found => {
                self.wrongs += 1;
                if self.wrong.len() < 10 {
                    self.wrong.push(format!("{what}: {found:?}"));
                }
            }
        }
    }

    fn attempts(&self) -> u64 {
        self.inside + self.refused + self.wrongs
    }
}

/// Ends the swapping, even if a test fails.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn is_refusal(e: &Error) -> bool {
    let e = e.to_string();
    ["lies outside of the folder", "leads out of the store", "symbolic links in its path keep changing"]
        .iter()
        .any(|refusal| e.contains(refusal))
}

#[test]
fn nothing_outside_is_reached_through_swapped_links() {
    let asked = std::env::var("HYPERSLAB_RACES").ok().and_then(|seconds| seconds.parse().ok());
    let seconds = Duration::from_secs(asked.unwrap_or(3));
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    for (folder, what) in [("in/c", INSIDE), ("in/file", INSIDE), ("out", OUTSIDE), ("out/below", OUTSIDE)] {
        fs::create_dir_all(root.join(folder)).unwrap();
        fs::write(root.join(folder).join("0"), what).unwrap();
        fs::write(root.join(folder).join(what), what).unwrap();
    }
    fs::write(root.join("in/own.h5"), "own").unwrap();
    symlink("../out", root.join("in/c-linked")).unwrap();
    symlink("../../out/0", root.join("in/file/0-linked")).unwrap();
    let theirs = names(&root.join("out"));
    let is_over = AtomicBool::new(false);
    let swap = |here: &str, there: &str| {
        let (here, there) = (root.join(here), root.join(there));
        let mut swaps = 0_u64;
        while !is_over.load(Ordering::Relaxed) {
            renameat_with(CWD, &here, CWD, &there, RenameFlags::EXCHANGE).unwrap();
            swaps += 1;
        }
        swaps
    };
    let (outcomes, swaps, took) = std::thread::scope(|scope| {
        let swapping = [
            scope.spawn(|| swap("in/c", "in/c-linked")),
            scope.spawn(|| swap("in/file/0", "in/file/0-linked")),
        ];
        let over = Over(&is_over);
        let began = Instant::now();
        let mut outcomes = Outcomes::default();
        while began.elapsed() < seconds {
            // Everything is reopened from time to time, because what a store has learnt about its folders may differ.
            attempts(&root.join("in"), &mut outcomes);
        }
        drop(over);
        let swaps: u64 = swapping.into_iter().map(|thread| thread.join().unwrap()).sum();
        (outcomes, swaps, began.elapsed())
    });
    println!(
        "{} attempts during {swaps} swaps: {} inside, {} refused, {} wrong; at most {} MiB, {:.1} s",
        outcomes.attempts(),
        outcomes.inside,
        outcomes.refused,
        outcomes.wrongs,
        peak_mebibytes(),
        took.as_secs_f64(),
    );
    assert_eq!((outcomes.wrongs, &outcomes.wrong), (0, &Vec::new()));
    assert_eq!(names(&root.join("out")), theirs, "written outside");
    assert!(outcomes.inside > 20 && outcomes.refused > 20 && swaps > 100, "{outcomes:?} {swaps}");
}

/// Tries every way to a file in a folder that is swapped, or to a file that is swapped itself.
fn attempts(inside: &Path, outcomes: &mut Outcomes) {
    let siblings = Directory::of(&inside.join("own.h5"), &[]).unwrap();
    let store = DirectoryStore::open(inside).unwrap();
    let writer = DirectoryWriter::open(inside, Durability::Process).unwrap();
    let is_inside = |bytes: &Option<Vec<u8>>| bytes.as_deref() == Some(INSIDE.as_bytes());
    for round in 0..ROUNDS {
        for name in ["c/0", "file/0"] {
            let key = Key::new(name).unwrap();
            let opened = siblings.open(name).and_then(|found| found.map(|found| whole(&*found)).transpose());
            outcomes.note("open", opened, is_inside);
            let read = store.read(&key, 1000).map(|found| found.map(Vec::from));
            outcomes.note("read", read, is_inside);
            let size = INSIDE.len() as u64;
            let part = store.read_range(&key, 0..size).map(|found| found.map(Vec::from));
            outcomes.note("read_range", part, is_inside);
            outcomes.note("size", store.size(&key), |found| *found == Some(size));
        }
        let listed = store.list(&Key::new("c").unwrap());
        outcomes.note("list", listed, |found| {
            found.iter().any(|entry| entry.name == INSIDE) && found.iter().all(|entry| entry.name != OUTSIDE)
        });
        let key = Key::new(&format!("c/new-{}", round % 2)).unwrap();
        outcomes.note("put", writer.put(&key, b"ours"), |()| true);
        outcomes.note("delete", writer.delete(&key), |_| true);
    }
}

fn whole(storage: &dyn ReadAt) -> Result<Vec<u8>> {
    Ok(storage.read_at(0..storage.len()?)?.to_vec())
}

fn names(folder: &Path) -> Vec<std::ffi::OsString> {
    let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    names
}

/// The peak memory of this process.
fn peak_mebibytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
}

const INSIDE: &str = "inside";
/// Has another length, so that its size reveals it too.
const OUTSIDE: &str = "from outside";
const ROUNDS: u32 = 20;
