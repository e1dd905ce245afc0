//! Publishes a new store, which appears complete or not at all.
//!
//! While the target `x.zarr` is being written, the folder `.x.zarr.hyperslab-partial` is beside it:
//!
//! | name | content |
//! |---|---|
//! | `lock` | locked by the current run; the operating system unlocks it when the process ends for any reason |
//! | `store` | the new store; one rename makes it the target |
//! | `journal` | the list of the finished parts of `store`, and the fingerprint of its source |
//! | `closing` | the journal under a new name, once `store` may have become the target |
//! | `scratch` | temporary files of a run |
//! | `replaced` | the old target, on systems that cannot exchange two names in one step |
//!
//! For the reasons see docs/design/005-publishing.md.

mod destination;
mod fingerprint;
mod journal;
mod output;
mod rename;
mod work;

pub use fingerprint::Fingerprint;
pub use journal::Unit;
pub use output::OutputFile;

use crate::size::human_bytes;
use destination::{Destination, Occupied};
use hyperslab_core::{Error, ErrorKind, Remedy, Result};
use hyperslab_model::NodePath;
use journal::Journal;
use std::fs;
use std::path::{Path, PathBuf};

use work::{CLOSING, JOURNAL, REPLACED, SCRATCH, STORE, Work};

/// The options for publishing a target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PublishOptions {
    /// Whether to replace an existing store.
    pub overwrite: bool,
    /// Whether to resume an interrupted run.
    pub resume: bool,
    /// Whether to wait until all data is on disk before the store gets its name. Otherwise a power failure can lose
    /// about the last half minute of data, as with any copied file.
    pub sync: bool,
}

/// Checks whether a target can be written to. Writes nothing.
///
/// # Errors
/// If a target exists and must not be replaced; if the target is a source, or contains or shares files with one; if
/// its folder does not exist.
pub fn check(target: &Path, fingerprint: &Fingerprint, options: &PublishOptions) -> Result<()> {
    let found = Destination::at(target).and_then(|target| target.check(fingerprint, options));
    found.map_err(|e| e.in_file(target.display()))
}

/// Checks whether the remains of an interrupted run have the same source and options. Writes nothing.
///
/// # Errors
/// If they differ.
pub fn check_resumable(target: &Path, fingerprint: &Fingerprint) -> Result<()> {
    let check = || match Journal::read(&Destination::at(target)?.work().join(JOURNAL))? {
        Some(found) => found.check_same(fingerprint),
        None => Ok(()),
    };
    check().map_err(|e| e.in_file(target.display()))
}

/// Removes the remains of a run that was killed after it had published `target`. Call it if [`check`] refuses a target
/// and nothing will be written; [`Publication::begin`] does it itself. Remains that a run can resume are kept.
pub fn tidy(target: &Path) {
    if let Ok(target) = Destination::at(target) {
        target.tidy();
    }
}

/// A store that is being written. No other run can work on it.
///
/// If it is dropped without [`Publication::publish`], finished parts remain for the next run. Remains that cannot be
/// resumed are removed.
#[derive(Debug)]
pub struct Publication {
    target: Destination,
    work: Work,
    store: PathBuf,
    is_directory: bool,
    journal: Option<Journal>,
    fingerprint: Fingerprint,
    options: PublishOptions,
    notes: Vec<String>,
}

impl Publication {
    /// Starts a store at `target`, a directory or a file. Checks all conditions before it writes anything.
    ///
    /// # Errors
    /// As [`check`]; if the folder of the target is not writable; if another run is working on the same target; if the
    /// resumed run had other sources or options.
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
                target.tidy();
                return Err(e);
            }
            let work = Work::begin(target.work(), &target.path)?;
            // A killed run may have removed the old target, and another run may have been faster.
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
                    "removed the finished parts of an interrupted run ({}): this run does not resume it",
                    human_bytes(found.bytes())
                )),
            }
        }
        let journal = match found.filter(|_| options.resume) {
            Some(found) => {
                if found.is_cut {
                    notes.push(
                        "the system was restarted after the interruption: the last parts are written again, \
                         because they may be lost"
                            .into(),
                    );
                }
                Journal::resume(&journal, found, fingerprint)
            }
            None => begin_store(&work, is_directory, fingerprint),
        };
        let journal = journal.inspect_err(|_| work.end_unless_resumable())?;
        let fingerprint = fingerprint.clone();
        Ok(Publication {
            target,
            work,
            store,
            is_directory,
            journal: Some(journal),
            fingerprint,
            options: *options,
            notes,
        })
    }

    /// The path to write to. A directory exists; a file exists only if an interrupted run has left it.
    pub fn path(&self) -> &Path {
        &self.store
    }

    /// The path for a temporary file that is not needed afterwards.
    pub fn scratch(&self) -> PathBuf {
        self.work.path(SCRATCH)
    }

    /// Notes on the start of the run.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Whether an interrupted run has finished this part.
    pub fn finished(&self, unit: &Unit) -> bool {
        self.journal.as_ref().is_some_and(|journal| journal.finished(unit))
    }

    /// The size in bytes of all finished parts, as recorded by the interrupted run and this one.
    pub fn finished_bytes(&self) -> u64 {
        self.journal.as_ref().map_or(0, Journal::bytes)
    }

    /// Records that a part is finished: nothing more will be written to it. May be called by any thread. `bytes` is
    /// the amount of work, in the unit of progress.
    ///
    /// # Errors
    /// A system error.
    pub fn record(&self, unit: &Unit, bytes: u64) -> Result<()> {
        match &self.journal {
            Some(journal) => journal.record(unit, bytes),
            None => Err(Error::invalid("it is being published")),
        }
    }

    /// Records that nothing more will be written to an array.
    ///
    /// # Errors
    /// A system error.
    pub fn forget(&self, array: &NodePath) -> Result<()> {
        self.journal.as_ref().map_or(Ok(()), |journal| journal.forget(array))
    }

    /// Removes everything that was written and starts the store again in another way, which `how` describes. Another
    /// run can resume it only if it proceeds in the same way.
    ///
    /// # Errors
    /// A system error.
    pub fn begin_again(&mut self, how: &str) -> Result<()> {
        self.journal = None;
        self.fingerprint = self.fingerprint.clone().and(how);
        self.journal = Some(begin_store(&self.work, self.is_directory, &self.fingerprint)?);
        Ok(())
    }

    /// Moves the store to the target. Until then, the old target remains.
    ///
    /// # Errors
    /// If a source has changed since the start, which makes the store invalid; if something new exists at the target; a
    /// system error.
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
        // From here on, the journal must not be used for `store`, which may be the old target.
        self.work.rename(JOURNAL, CLOSING)?;
        if let Err(e) = self.take_place(occupied) {
            // Nothing has changed; it can be tried again.
            let _ = self.work.rename(CLOSING, JOURNAL);
            return Err(e);
        }
        self.journal = None;
        if self.options.sync {
            rename::sync_folder(&self.target.folder)?;
        }
        self.work.end().map_err(|e| {
            let left = self.work.folder().display();
            Error::new(e.kind(), format!("is complete, but the old store could not be removed: {e}"))
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

    /// Ends the work because of `error`, and adds whether and how another run can resume it. `total` is the total
    /// amount of work.
    #[must_use]
    pub fn interrupted(self, error: Error, total: Option<u64>) -> Error {
        if self.journal.as_ref().is_none_or(Journal::is_empty) {
            return error;
        }
        let (bytes, is_all) = self.work.size();
        let more = if is_all { "" } else { "more than " };
        let stays = format!("{more}{} stay in {}", human_bytes(bytes), self.work.folder().display());
        error
            .with_remedy(Remedy::Resume { done: self.finished_bytes(), of: total })
            .with_hint(format_args!("{stays}; remove that folder to discard them"))
    }

    /// Removes all written data.
    fn discard(&mut self) {
        self.journal = None;
        // The next run removes the rest.
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

/// Removes what an earlier run has written, and starts an empty store.
fn begin_store(work: &Work, is_directory: bool, fingerprint: &Fingerprint) -> Result<Journal> {
    work.clear()?;
    if is_directory {
        work.create_folder(STORE)?;
    }
    Journal::create(&work.path(JOURNAL), fingerprint)
}

/// A system error with the path of the file or folder.
fn named(e: std::io::Error, path: &Path) -> Error {
    let e = Error::from(e);
    Error::new(e.kind(), format!("{}: {}", path.display(), e.detail()))
}

/// The error that nothing can be created in a folder. Some systems report that a folder does not exist although it
/// does.
fn unwritable(e: std::io::Error, folder: &Path) -> Error {
    match e.kind() {
        std::io::ErrorKind::NotFound if folder.is_dir() => {
            let what = format!("{}: no file can be created in this folder", folder.display());
            Error::new(ErrorKind::Io, what).caused_by(e)
        }
        _ => named(e, folder),
    }
}

fn in_use(work: &Path) -> Error {
    let by = work::holder(work).map_or(String::new(), |process| format!(", process {process}"));
    Error::new(ErrorKind::AlreadyExists, format!("is being written by another run{by}"))
}

#[cfg(test)]
mod tests;
