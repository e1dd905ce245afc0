//! The hidden folder beside the target.
//!
//! | name | content |
//! |---|---|
//! | `lock` | locked by the process that has declared the store, until it has finished or ends for any reason |
//! | `store` | the arrays: chunks, each encoded by the worker that wrote it |
//! | `assembly.json` | the target, the arrays that wait for regions, and the options of the declaration |

use super::AssemblyOptions;
use crate::formats::with_target_option;
use crate::pool::Pool;
use crate::target::{Loss, TargetOptions};
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

/// The information that all processes share.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) target: PathBuf,
    /// The arrays that wait for regions.
    pub(super) open: Vec<NodePath>,
    /// The options of the declaration, with the name of the format. Each process has a pool of its own.
    pub(super) options: AssemblyOptions,
}

impl Folder {
    /// Creates the folder for a target. A folder left by a process that has ended is removed.
    ///
    /// # Errors
    /// [`AlreadyExists`](ErrorKind::AlreadyExists) if another process is working on the target; system errors.
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
    /// If it is not such a folder.
    pub(super) fn open(path: &Path) -> Result<(Folder, Told)> {
        let text = fs::read_to_string(path.join(TOLD)).map_err(|e| {
            Error::from(e).with_hint("was the store finished or abandoned?").in_file(path.display())
        })?;
        let told = Told::parse(&text)
            .ok_or_else(|| Error::malformed("was not written by hyperslab").in_file(path.display()))?;
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

    pub(super) fn remove(&self) -> Result<()> {
        Ok(fs::remove_dir_all(&self.path)?)
    }
}

impl Told {
    fn text(&self) -> String {
        let Told { target, open, options } = self;
        let AssemblyOptions { format, native, allow, overwrite, .. } = options;
        let open: Vec<&str> = open.iter().map(NodePath::as_str).collect();
        let native: Vec<_> = native.given().map(|(name, value)| (name, value.to_string())).collect();
        let allow: Vec<&str> = allow.iter().map(|loss| loss.name()).collect();
        json!({
            "target": target.to_string_lossy(),
            "open": open,
            "format": format,
            "native": native,
            "allow": allow,
            "overwrite": overwrite,
        })
        .to_string()
    }

    fn parse(text: &str) -> Option<Told> {
        let json: Value = serde_json::from_str(text).ok()?;
        let paths = json.get("open")?.as_array()?.iter();
        let native = json.get("native")?.as_array()?.iter();
        let native = native.map(|pair| Some((pair.get(0)?.as_str()?, pair.get(1)?.as_str()?)));
        let allow = json.get("allow")?.as_array()?.iter().map(Value::as_str).collect::<Option<Vec<_>>>()?;
        Some(Told {
            target: json.get("target")?.as_str()?.into(),
            open: paths.map(|path| NodePath::new(path.as_str()?).ok()).collect::<Option<_>>()?,
            options: AssemblyOptions {
                format: Some(json.get("format")?.as_str()?.to_owned()),
                native: native
                    .collect::<Option<Vec<_>>>()?
                    .into_iter()
                    .try_fold(TargetOptions::default(), |options, (name, value)| {
                        with_target_option(options, name, Some(value), name).ok()
                    })?,
                allow: Loss::of_names(allow).ok()?,
                overwrite: json.get("overwrite")?.as_bool()?,
                pool: Pool::default(),
            },
        })
    }
}

fn place(target: &Path) -> Result<PathBuf> {
    let name = target
        .file_name()
        .ok_or_else(|| Error::invalid("is not a name of a file").in_file(target.display()))?;
    Ok(target.with_file_name(format!(".{}.hyperslab-parts", name.to_string_lossy())))
}

fn lock(folder: &Path) -> Result<File> {
    let file = File::create(folder.join("lock"))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            let detail = "the store is being written by another process, or by this one already";
            let error = Error::new(ErrorKind::AlreadyExists, detail);
            Err(error.with_hint("finish or abandon that one first").in_file(folder.display()))
        }
        Err(TryLockError::Error(error)) => Err(error.into()),
    }
}

const TOLD: &str = "assembly.json";
