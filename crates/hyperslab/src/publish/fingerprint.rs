//! The fingerprint of sources and options, which shows whether an interrupted run can be resumed.

use super::named;
use hyperslab_core::{Error, Remedy, Result};
use serde_json::{Value, json};
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// The state of the sources, and all options that the result depends on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fingerprint {
    sources: Vec<Seen>,
    /// Other files that are read when the sources are read.
    parts: Vec<Seen>,
    options: String,
}

impl Fingerprint {
    /// The fingerprint of `sources`: paths of files or directories. Call it before any of them is opened. `options` is
    /// a textual form of all options that the result depends on; messages show it.
    ///
    /// # Errors
    /// If the metadata of a source cannot be read.
    pub fn of_sources(sources: &[PathBuf], options: impl Into<String>) -> Result<Fingerprint> {
        let sources = sources.iter().map(|source| Seen::now(source)).collect::<Result<_>>()?;
        Ok(Fingerprint { sources, parts: Vec::new(), options: options.into() })
    }

    /// As [`Fingerprint::of_sources`], for one source.
    ///
    /// # Errors
    /// As [`Fingerprint::of_sources`].
    pub fn of_source(source: &Path, options: impl Into<String>) -> Result<Fingerprint> {
        Fingerprint::of_sources(&[source.to_path_buf()], options)
    }

    /// Adds the other files that are read when the sources are read, as [`parts`](crate::files::parts) finds them: they
    /// must not be replaced or changed either. A store that was opened to find them must be opened again afterwards,
    /// since it may have read them before their state was taken.
    ///
    /// # Errors
    /// If the metadata of a file cannot be read.
    pub fn with_parts(mut self, parts: &[PathBuf]) -> Result<Fingerprint> {
        self.parts = parts.iter().map(|part| Seen::now(part)).collect::<Result<_>>()?;
        Ok(self)
    }

    /// Appends a text of further options.
    #[must_use]
    pub fn and(mut self, options: &str) -> Fingerprint {
        if !self.options.is_empty() && !options.is_empty() {
            self.options.push(' ');
        }
        self.options.push_str(options);
        self
    }

    /// The paths of the sources, as given.
    pub(super) fn sources(&self) -> impl Iterator<Item = &Path> {
        self.sources.iter().map(|source| source.named.as_path())
    }

    /// The paths of the other files that are read when the sources are read.
    pub(super) fn parts(&self) -> impl Iterator<Item = &Path> {
        self.parts.iter().map(|part| part.named.as_path())
    }

    /// Checks whether all sources, and all files that they read, are unchanged since the fingerprint was taken.
    ///
    /// # Errors
    /// If a source has changed or no longer exists.
    pub fn check_unchanged(&self) -> Result<()> {
        for source in self.sources.iter().chain(&self.parts) {
            let now = Seen::now(&source.named)?;
            if now != *source {
                let (shown, how) = (source.named.display(), source.difference(&now));
                return Err(Error::invalid(format!(
                    "the source {shown} was changed while it was read: {how}"
                )));
            }
        }
        Ok(())
    }

    /// Fails if the fingerprint of the interrupted run, `earlier`, differs in version, options or sources.
    pub(super) fn check_same(&self, earlier: &Value) -> Result<()> {
        let refuse = |what: String| {
            let e = Error::invalid(format!("cannot resume the interrupted run: {what}"));
            Err(e.with_remedy(Remedy::StartAnew))
        };
        if earlier["version"] != VERSION {
            return refuse(format!("its version was {}, not {VERSION}", text(&earlier["version"])));
        }
        if earlier["options"] != self.options {
            return refuse(format!("its options were {}, not {}", text(&earlier["options"]), self.options));
        }
        let seen = |key: &str| -> Vec<_> {
            earlier[key].as_array().into_iter().flatten().map(Seen::parse).collect()
        };
        let (sources, parts) = (seen("sources"), seen("parts"));
        if sources.len() != self.sources.len() {
            return refuse(format!("it had {} sources, not {}", sources.len(), self.sources.len()));
        }
        if parts.len() != self.parts.len() {
            let (were, are) = (parts.len(), self.parts.len());
            return refuse(format!("its sources read {were} other files, not {are}"));
        }
        let now = self.sources.iter().chain(&self.parts);
        for (earlier, now) in sources.iter().chain(&parts).zip(now) {
            let shown = now.path.display();
            match earlier {
                Some(earlier) if earlier.path.to_string_lossy() != now.path.to_string_lossy() => {
                    return refuse(format!("its source was {}, not {shown}", earlier.path.display()));
                }
                Some(earlier) if earlier.summary != now.summary => {
                    return refuse(format!(
                        "the source {shown} was changed since: {}",
                        earlier.difference(now)
                    ));
                }
                Some(_) => {}
                None => return refuse("its journal does not name the sources".into()),
            }
        }
        Ok(())
    }

    /// The JSON form in a journal, read by [`Fingerprint::check_same`].
    pub(super) fn emit(&self) -> Value {
        let seen = |of: &[Seen]| of.iter().map(Seen::emit).collect::<Vec<_>>();
        let (sources, parts) = (seen(&self.sources), seen(&self.parts));
        json!({"version": VERSION, "options": self.options, "sources": sources, "parts": parts})
    }
}

/// The state of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Seen {
    named: PathBuf,
    /// The path without symbolic links.
    path: PathBuf,
    summary: Summary,
}

/// A summary that changes if the source is written to. A file is one entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Summary {
    entries: u64,
    bytes: u64,
    /// The modification time of the newest entry, in nanoseconds since 1970.
    modified: i64,
    /// The hash of names, sizes and modification times.
    hash: String,
}

impl Seen {
    fn now(source: &Path) -> Result<Seen> {
        let path = source.canonicalize().map_err(|e| named(e, source))?;
        Ok(Seen { named: source.to_path_buf(), summary: Summary::of(&path)?, path })
    }

    fn parse(value: &Value) -> Option<Seen> {
        let summary = Summary {
            entries: value["entries"].as_u64()?,
            bytes: value["bytes"].as_u64()?,
            modified: value["modified"].as_i64()?,
            hash: value["hash"].as_str()?.to_owned(),
        };
        let path: PathBuf = value["path"].as_str()?.into();
        Some(Seen { named: path.clone(), path, summary })
    }

    fn emit(&self) -> Value {
        let Summary { entries, bytes, modified, hash } = &self.summary;
        let path = self.path.to_string_lossy();
        json!({"path": path, "entries": entries, "bytes": bytes, "modified": modified, "hash": hash})
    }

    fn difference(&self, now: &Seen) -> String {
        if self.path != now.path {
            return format!("it is now {}, previously {}", now.path.display(), self.path.display());
        }
        let (earlier, now) = (&self.summary, &now.summary);
        if earlier.entries != now.entries {
            format!("it now has {} files and folders, previously {}", now.entries, earlier.entries)
        } else if earlier.bytes != now.bytes {
            format!("it now has {} bytes, previously {}", now.bytes, earlier.bytes)
        } else {
            "it was written to".into()
        }
    }
}

impl Summary {
    /// The summary of a file, or of a directory and everything below it, level by level.
    ///
    /// Reads the metadata of the first [`MAX_FILES`] files only: those are the metadata documents of a store and the
    /// chunks on the upper levels. For the other files, the modification time of their folder is enough: it changes
    /// when a file in the folder is created, removed or replaced.
    fn of(root: &Path) -> Result<Summary> {
        let mut summary = Summary::default();
        let mut hasher = blake3::Hasher::new();
        let found = fs::metadata(root).map_err(|e| named(e, root))?;
        summary.add(&mut hasher, "", &found);
        let mut level = if found.is_dir() { vec![root.to_path_buf()] } else { Vec::new() };
        let mut files = 0_u64;
        while !level.is_empty() {
            let mut below = Vec::new();
            for folder in level {
                let mut entries =
                    match fs::read_dir(&folder).and_then(Iterator::collect::<std::io::Result<Vec<_>>>) {
                        // Removed since it was listed; the modification time of its parent shows that.
                        Err(e) if e.kind() == std::io::ErrorKind::NotFound => continue,
                        entries => entries.map_err(|e| named(e, &folder))?,
                    };
                entries.sort_by_key(fs::DirEntry::file_name);
                for entry in entries {
                    let path = entry.path();
                    let kind = entry.file_type().map_err(|e| named(e, &path))?;
                    let is_folder = kind.is_dir();
                    files += u64::from(!is_folder);
                    let found = match is_folder || files <= MAX_FILES {
                        true => match fs::metadata(&path) {
                            // Removed since it was listed, or a symbolic link to nothing or to an inaccessible place.
                            Err(e) if e.kind() == std::io::ErrorKind::NotFound || kind.is_symlink() => None,
                            found => Some(found.map_err(|e| named(e, &path))?),
                        },
                        false => None,
                    };
                    let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
                    match found {
                        Some(found) => summary.add(&mut hasher, &name, &found),
                        None => summary.entries += 1,
                    }
                    if is_folder {
                        below.push(path);
                    }
                }
            }
            level = below;
        }
        summary.hash = hasher.finalize().to_hex().to_string();
        Ok(summary)
    }

    fn add(&mut self, hasher: &mut blake3::Hasher, name: &str, found: &Metadata) {
        // The size of a folder adds nothing to its modification time.
        let bytes = if found.is_dir() { 0 } else { found.len() };
        let modified = found.modified().map_or(0, nanoseconds);
        self.entries += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        self.modified = self.modified.max(modified);
        hasher.update(&(name.len() as u64).to_le_bytes());
        hasher.update(name.as_bytes());
        hasher.update(&[u8::from(found.is_dir())]);
        hasher.update(&bytes.to_le_bytes());
        hasher.update(&modified.to_le_bytes());
    }
}

fn nanoseconds(time: SystemTime) -> i64 {
    let since = |time: SystemTime, other: SystemTime| time.duration_since(other).ok().map(|d| d.as_nanos());
    match (since(time, UNIX_EPOCH), since(UNIX_EPOCH, time)) {
        (Some(after), _) => i64::try_from(after).unwrap_or(i64::MAX),
        (None, before) => before.and_then(|n| i64::try_from(n).ok()).map_or(i64::MIN, |n| -n),
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("unknown")
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The maximum number of files whose metadata is read.
const MAX_FILES: u64 = 1 << 17;
