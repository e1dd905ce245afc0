//! Scratch files for cells that do not fit in memory.

use hyperslab_core::storage::{WritableFile, WriteAt};
use hyperslab_core::{Error, Result};
use std::env::temp_dir;
use std::fs::{OpenOptions, remove_file};
use std::io;
use std::path::PathBuf;
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

/// A function that creates a scratch file.
pub(super) type Create = fn() -> Result<Scratch>;

/// A file that is removed when this value is dropped. It is closed before its name is removed.
pub(super) struct Scratch {
    file: Box<dyn WriteAt>,
    _name: Name,
}

impl Scratch {
    /// Storage without a name.
    pub(super) fn of(file: Box<dyn WriteAt>) -> Scratch {
        Scratch { file, _name: Name(None) }
    }

    pub(super) fn write(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.file.write_at(offset, bytes).map_err(named)
    }

    pub(super) fn read(&self, offset: u64, out: &mut [u8]) -> Result<()> {
        self.file.read_into(offset, out).map_err(named)
    }

    /// Copies the first bytes of another scratch file.
    pub(super) fn copy(&self, from: &Scratch, len: u64) -> Result<()> {
        let (mut at, mut buffer) = (0, Vec::new());
        while at < len {
            buffer.resize(usize::try_from(len - at).unwrap_or(COPY).min(COPY), 0);
            from.read(at, &mut buffer)?;
            self.write(at, &buffer)?;
            at += buffer.len() as u64;
        }
        Ok(())
    }

    /// Releases the disk space.
    pub(super) fn clear(&self) -> Result<()> {
        self.file.set_len(0)
    }
}

/// The path of a file that still has to be removed.
struct Name(Option<PathBuf>);

impl Drop for Name {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            // Nothing more can be done about a failure.
            let _ = remove_file(path);
        }
    }
}

/// Creates a file in the folder for temporary files that is removed when it is closed.
pub(super) fn create() -> Result<Scratch> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    // Its cells may come from a file that others are not permitted to read.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    loop {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = temp_dir().join(format!("hyperslab-cells-{}-{number}", process::id()));
        match options.open(&path) {
            // A process with the same ID has left it.
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists && number < MAX_NUMBER => {}
            Err(e) => return Err(named(e.into())),
            Ok(file) => {
                // Windows keeps the name of an open file.
                let name = remove_file(&path).is_err().then_some(path);
                return Ok(Scratch { file: Box::new(WritableFile::from(file)), _name: Name(name) });
            }
        }
    }
}

/// The error for content that differs from what was written.
pub(super) fn broken() -> Error {
    Error::malformed("cells in a scratch file are not what was written")
}

/// A system error, with the purpose of the file added.
fn named(error: Error) -> Error {
    let folder = temp_dir();
    error
        .map_detail(|detail| format!("scratch file for cells in {}: {detail}", folder.display()))
        .with_hint("use more memory, or set TMPDIR to a folder on another disk")
}

/// The number of bytes that are copied at once.
const COPY: usize = 1 << 20;
/// The number of names that are tried.
const MAX_NUMBER: u64 = 1 << 40;
