//! The hidden folder beside the target.
//!
//! | name | content |
//! |---|---|
//! | `lock` | locked by the process that has declared the store, until it has finished or ends for any reason |
//! | `store` | the arrays: chunks, each encoded by the worker that wrote it |
//! | `assembly.json` | the target, its format, and the arrays that wait for regions |

use hyperslab_core::{Error, ErrorKind, Result};
use hyperslab_model::NodePath;
use serde_json::{Value, json};
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

/// The folder.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    /// Held by the process that has declared the store.
    _lock: Option<File>,
}

/// What all processes are told.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) target: PathBuf,
    pub(super) format: String,
    /// The arrays that wait for regions.
    pub(super) open: Vec<NodePath>,
    pub(super) overwrite: bool,
}

impl Folder {
    /// Makes the folder of a target. That of a process that has ended is removed.
    ///
    /// # Errors
    /// [`AlreadyExists`](ErrorKind::AlreadyExists) if another process is at work on the target; errors of the system.
    pub(super) fn begin(target: &Path) -> Result<Folder> {
        let path = std::path::absolute(place(target)?)?;
        if path.is_dir() {
            // Dropping the file unlocks it.
            drop(lock(&path)?);
            fs::remove_dir_all(&path)?;
        }
        fs::create_dir(&path).map_err(|e| Error::from(e).in_file(path.display()))?;
        let lock = lock(&path)?;
        Ok(Folder { path, _lock: Some(lock) })
    }

    /// The folder of a store that is being written.
    ///
    /// # Errors
    /// If it is none.
    pub(super) fn open(path: &Path) -> Result<(Folder, Told)> {
        let text = fs::read_to_string(path.join(TOLD)).map_err(|e| {
            Error::from(e).with_hint("was the store finished or abandoned?").in_file(path.display())
        })?;
        let told =
            Told::parse(&text).ok_or_else(|| Error::malformed("is not ours").in_file(path.display()))?;
        Ok((Folder { path: path.to_owned(), _lock: None }, told))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn store(&self) -> PathBuf {
        self.path.join("store")
    }

    pub(super) fn tell(&self, told: &Told) -> Result<()> {
        Ok(fs::write(self.path.join(TOLD), told.text())?)
    }

    pub(super) fn remove(self) -> Result<()> {
        Ok(fs::remove_dir_all(&self.path)?)
    }
}

impl Told {
    fn text(&self) -> String {
        let Told { target, format, open, overwrite } = self;
        let open: Vec<&str> = open.iter().map(NodePath::as_str).collect();
        json!({ "target": target.to_string_lossy(), "format": format, "open": open, "overwrite": overwrite })
            .to_string()
    }

    fn parse(text: &str) -> Option<Told> {
        let json: Value = serde_json::from_str(text).ok()?;
        let paths = json.get("open")?.as_array()?.iter();
        Some(Told {
            target: json.get("target")?.as_str()?.into(),
            format: json.get("format")?.as_str()?.to_owned(),
            open: paths.map(|path| NodePath::new(path.as_str()?).ok()).collect::<Option<_>>()?,
            overwrite: json.get("overwrite")?.as_bool()?,
        })
    }
}

fn place(target: &Path) -> Result<PathBuf> {
    let name =
        target.file_name().ok_or_else(|| Error::invalid("is no name of a file").in_file(target.display()))?;
    Ok(target.with_file_name(format!(".{}.hyperslab-parts", name.to_string_lossy())))
}

fn lock(folder: &Path) -> Result<File> {
    let file = File::create(folder.join("lock"))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            let detail = "another process is writing this store";
            Err(Error::new(ErrorKind::AlreadyExists, detail).in_file(folder.display()))
        }
        Err(TryLockError::Error(error)) => Err(error.into()),
    }
}

const TOLD: &str = "assembly.json";
