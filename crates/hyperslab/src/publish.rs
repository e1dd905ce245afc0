//! A new store that appears whole or not at all.
//!
//! Beside the target `x.zarr` lies, as long as it is being written, the folder `.x.zarr.hyperslab-partial`:
//!
//! | name | what |
//! |---|---|
//! | `lock` | locked by the run that works here; the system lets go of it when a process ends, however it ends |
//! | `store` | what becomes the target by one rename |
//! | `journal` | the parts of it that are finished, and what they were made from |
//! | `closing` | the journal from the moment on at which `store` may have become the target |
//! | `scratch` | what a run puts aside on its way |
//! | `replaced` | what stood at the target, where two names cannot be exchanged in one step |
//!
//! Why so: docs/design/005-publishing.md.

mod destination;
mod fingerprint;
mod journal;
mod rename;
mod work;

pub use fingerprint::Fingerprint;
pub use journal::Unit;

use crate::size::human_bytes;
use destination::{Destination, Occupied};
use hyperslab_core::{Error, ErrorKind, Remedy, Result};
use hyperslab_model::NodePath;
use journal::Journal;
use std::fs;
use std::path::{Path, PathBuf};

use work::{CLOSING, JOURNAL, REPLACED, SCRATCH, STORE, Work};

/// How a target is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PublishOptions {
    /// Whether a store that is there is replaced.
    pub overwrite: bool,
    /// Whether to go on from what an interrupted run has finished.
    pub resume: bool,
    /// Whether all of it is on the disk before it gets its name. Otherwise the end of power can take what was
    /// written in the last half minute or so, as it does of any copied file.
    pub sync: bool,
}

/// Looks whether something stands against a target, and writes nothing.
///
/// # Errors
/// If something is there that must not be replaced; if it and a source are, contain or share files; if its folder is
/// not there.
pub fn check(target: &Path, fingerprint: &Fingerprint, options: &PublishOptions) -> Result<()> {
    let found = Destination::at(target).and_then(|target| target.check(fingerprint, options));
    found.map_err(|e| e.in_file(target.display()))
}

/// Looks whether what an interrupted run has left was made from the same, and writes nothing.
///
/// # Errors
/// If it was not.
pub fn check_resumable(target: &Path, fingerprint: &Fingerprint) -> Result<()> {
    let check = || match Journal::read(&Destination::at(target)?.work().join(JOURNAL))? {
        Some(found) => found.check_same(fingerprint),
        None => Ok(()),
    };
    check().map_err(|e| e.in_file(target.display()))
}

/// A store in the making, which no other run can work on.
///
/// When it is dropped without [`Publication::publish`], what was recorded as finished stays for the next run, and
/// what no run could go on from is removed.
#[derive(Debug)]
pub struct Publication {
    target: Destination,
    work: Work,
    store: PathBuf,
    journal: Option<Journal>,
    fingerprint: Fingerprint,
    options: PublishOptions,
    notes: Vec<String>,
}

impl Publication {
    /// Begins what will be at `target`, a directory or a file. All that stands against it is found before anything
    /// is written.
    ///
    /// # Errors
    /// As [`check`]; if the folder of the target cannot be written to; if another run works on the same target; if a
    /// run is to be resumed whose sources or options were others.
    pub fn begin(
        target: &Path,
        is_directory: bool,
        fingerprint: &Fingerprint,
        options: &PublishOptions,
    ) -> Result<Publication> {
        let shown = target.display().to_string();
        let begin = || {
            let target = Destination::at(target)?;
            if let Err(e) = target.check(fingerprint, options) {
                tidy(&target);
                return Err(e);
            }
            let work = Work::begin(target.work(), &target.path)?;
            // A killed run may have taken away what was there, and another run may have been faster.
            if let Err(e) = target.occupied(options) {
                work.end_unless_resumable();
                return Err(e);
            }
            Publication::fill(target, work, is_directory, fingerprint, options)
        };
        begin().map_err(|e| e.in_file(shown))
    }

    fn fill(
        target: Destination,
        work: Work,
        is_directory: bool,
        fingerprint: &Fingerprint,
        options: &PublishOptions,
    ) -> Result<Publication> {
        let (store, journal) = (work.path(STORE), work.path(JOURNAL));
        let mut notes = Vec::new();
        let is_there = if is_directory { store.is_dir() } else { store.is_file() };
        let found = if is_there { Journal::read(&journal)? } else { None };
        if let Some(found) = &found {
            match options.resume {
                true => found.check_same(fingerprint)?,
                false => notes.push(format!(
                    "what an interrupted run had finished, {}, was removed, as this run does not resume it",
                    human_bytes(found.bytes())
                )),
            }
        }
        let journal = match found.filter(|_| options.resume) {
            Some(found) => {
                if found.is_cut {
                    notes.push(
                        "the system was started anew since the run was interrupted: what it wrote last is \
                         written again, as it may not have reached the disk"
                            .into(),
                    );
                }
                Journal::go_on(&journal, found, fingerprint)
            }
            None => work.clear().and_then(|()| {
                if is_directory {
                    fs::create_dir(&store)?;
                }
                Journal::create(&journal, fingerprint)
            }),
        };
        let journal = journal.inspect_err(|_| work.end_unless_resumable())?;
        let fingerprint = fingerprint.clone();
        Ok(Publication { target, work, store, journal: Some(journal), fingerprint, options: *options, notes })
    }

    /// Where to write. A directory is there; a file only if an interrupted run has left it.
    pub fn path(&self) -> &Path {
        &self.store
    }

    /// Where a file may be that nobody needs when it is done.
    pub fn scratch(&self) -> PathBuf {
        self.work.path(SCRATCH)
    }

    /// What is worth telling about how it began.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Whether an interrupted run had finished this part.
    pub fn finished(&self, unit: &Unit) -> bool {
        self.journal.as_ref().is_some_and(|journal| journal.finished(unit))
    }

    /// Bytes, as they were recorded, of all parts that are finished: those of an interrupted run and those since.
    pub fn finished_bytes(&self) -> u64 {
        self.journal.as_ref().map_or(0, Journal::bytes)
    }

    /// Records, from any thread, that a part is written so that nothing has to be written to it again. `bytes` is
    /// how much work it was, in whatever unit progress is told.
    ///
    /// # Errors
    /// What the system says.
    pub fn record(&self, unit: &Unit, bytes: u64) -> Result<()> {
        match &self.journal {
            Some(journal) => journal.record(unit, bytes),
            None => Err(Error::invalid("it is being published")),
        }
    }

    /// Records that nothing of an array is written any more.
    ///
    /// # Errors
    /// What the system says.
    pub fn forget(&self, array: &NodePath) -> Result<()> {
        self.journal.as_ref().map_or(Ok(()), |journal| journal.forget(array))
    }

    /// Makes it the target. What was there is there until then.
    ///
    /// # Errors
    /// If a source was changed since it was begun, which makes all of it worthless; if something has come to stand
    /// at the target; what the system says.
    pub fn publish(mut self) -> Result<()> {
        let shown = self.target.shown.clone();
        let published = self.publish_inner();
        published.map_err(|e| self.interrupted(e, None).in_file(shown))
    }

    fn publish_inner(&mut self) -> Result<()> {
        if let Err(e) = self.fingerprint.check_unchanged() {
            self.discard();
            return Err(e);
        }
        if self.options.sync {
            rename::sync_all(&self.store)?;
        }
        let occupied = self.target.occupied(&self.options)?;
        // From here on the journal must not be taken for that of `store`, which may be the old target.
        fs::rename(self.work.path(JOURNAL), self.work.path(CLOSING))?;
        if let Err(e) = self.take_place(occupied) {
            // Nothing has happened; it can be tried again.
            let _ = fs::rename(self.work.path(CLOSING), self.work.path(JOURNAL));
            return Err(e);
        }
        self.journal = None;
        if self.options.sync {
            rename::sync_folder(&self.target.folder)?;
        }
        self.work.end().map_err(|e| {
            let left = self.work.folder().display();
            Error::new(e.kind(), format!("is written, but what was there before could not be removed: {e}"))
                .with_hint(format_args!("remove {left}"))
        })
    }

    fn take_place(&self, occupied: Occupied) -> Result<()> {
        let target = &self.target.path;
        match occupied {
            Occupied::Nothing => rename::to_new(&self.store, target),
            Occupied::EmptyFolder => {
                fs::remove_dir(target)?;
                rename::to_new(&self.store, target).inspect_err(|_| {
                    let _ = fs::create_dir(target);
                })
            }
            Occupied::Store => rename::over(&self.store, target, &self.work.path(REPLACED)),
        }
    }

    /// Ends it because of `error`, which then tells whether and how a next run goes on; `total` is all that there
    /// was to be recorded.
    #[must_use]
    pub fn interrupted(self, error: Error, total: Option<u64>) -> Error {
        if self.journal.as_ref().is_none_or(Journal::is_empty) {
            return error;
        }
        error.with_remedy(Remedy::Resume { done: self.finished_bytes(), of: total })
    }

    /// Removes all that was written.
    fn discard(&mut self) {
        self.journal = None;
        // What cannot be removed is removed by the next run.
        let _ = self.work.end();
    }
}

impl Drop for Publication {
    fn drop(&mut self) {
        if self.journal.as_ref().is_some_and(Journal::is_empty) {
            self.discard();
        }
    }
}

/// Removes what a run has left that was killed when it was done.
fn tidy(target: &Destination) {
    // Last of all it removes the folder itself, when nothing else says so any more.
    if target.work().is_dir()
        && !target.work().join(JOURNAL).exists()
        && let Ok(work) = Work::begin(target.work(), &target.path)
    {
        work.end_unless_resumable();
    }
}

/// What to say of a file or folder that the system refuses.
fn named(e: std::io::Error, path: &Path) -> Error {
    let e = Error::from(e);
    Error::new(e.kind(), format!("{}: {}", path.display(), e.detail()))
}

fn in_use(work: &Path) -> Error {
    let by = work::holder(work).map_or(String::new(), |process| format!(", process {process}"));
    Error::new(ErrorKind::AlreadyExists, format!("is being written by another run{by}"))
}

#[cfg(test)]
mod tests;
