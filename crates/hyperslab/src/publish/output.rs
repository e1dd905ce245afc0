//! An output file, such as a description: it appears complete or not at all, and replaces nothing that must be kept.

use super::destination::Destination;
use super::{named, rename, unwritable};
use crate::format::Format;
use crate::formats::{FORMATS, recognize};
use hyperslab_core::storage::FileStorage;
use hyperslab_core::{Error, ErrorKind, Remedy, Result};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

/// A file that is being written. It appears at its path with [`OutputFile::publish`]; if it is dropped before that,
/// whatever was at the path stays unchanged.
///
/// Pipes, devices and names of open files such as `/dev/stdout` are written to directly: they are never replaced.
#[derive(Debug)]
pub struct OutputFile {
    out: BufWriter<Sink>,
    /// The place to which it is renamed, and its name until then; `None` if it is written to directly.
    renamed: Option<(Destination, PathBuf)>,
}

/// Where the bytes go.
#[derive(Debug)]
enum Sink {
    File(File),
    Stdout(io::Stdout),
    Stderr(io::Stderr),
}

impl OutputFile {
    /// Starts a file at `path`. `sources` are the stores that are read; `parts` finds the other files that they read,
    /// and is called only if something exists at `path`.
    ///
    /// # Errors
    /// If `path` is a directory or a block device; if it is a source, a file that a source reads, or in the folder of
    /// a source; if it exists and holds data of a known format, or is part of a store, unless `overwrite` is set; if
    /// its folder does not exist, or it cannot be written.
    pub fn begin(
        path: &Path,
        sources: &[PathBuf],
        parts: impl FnOnce() -> Result<Vec<PathBuf>>,
        overwrite: bool,
    ) -> Result<OutputFile> {
        let begin = || -> Result<OutputFile> {
            if let Some(sink) = direct(path)? {
                return Ok(OutputFile { out: BufWriter::new(sink), renamed: None });
            }
            let target = Destination::at(path)?;
            let stores = sources.iter().filter(|source| !source.is_dir() || is_recognized(source));
            stores.into_iter().try_for_each(|source| target.check_apart(source))?;
            let old = match fs::metadata(&target.path) {
                Ok(found) => {
                    parts()?.iter().try_for_each(|part| target.check_no_part(part))?;
                    check_replaceable(&target, overwrite)?;
                    Some(found.permissions())
                }
                Err(e) if e.kind() == io::ErrorKind::NotFound => None,
                Err(e) => return Err(e.into()),
            };
            let temporary = target.folder.join(target.hidden(&format!("{PARTIAL}-{}", std::process::id())));
            let file = File::create_new(&temporary).map_err(|e| unwritable(e, &target.folder))?;
            let out = BufWriter::new(Sink::File(file));
            let begun = OutputFile { out, renamed: Some((target, temporary)) };
            if let (Some(old), Some((_, temporary))) = (old, &begun.renamed) {
                // The new file can be read by those who could read the old one, and by nobody else.
                fs::set_permissions(temporary, old).map_err(|e| named(e, temporary))?;
            }
            Ok(begun)
        };
        begin().map_err(|e| e.in_file(path.display()))
    }

    /// Whether it is a terminal.
    pub fn is_terminal(&self) -> bool {
        match self.out.get_ref() {
            Sink::File(file) => file.is_terminal(),
            Sink::Stdout(out) => out.is_terminal(),
            Sink::Stderr(out) => out.is_terminal(),
        }
    }

    /// Gives the file its name once all its bytes are on disk.
    ///
    /// # Errors
    /// An error of the system.
    pub fn publish(mut self) -> Result<()> {
        self.out.flush()?;
        let Some((target, temporary)) = &self.renamed else { return Ok(()) };
        if let Sink::File(file) = self.out.get_ref() {
            file.sync_all()?;
        }
        fs::rename(temporary, &target.path).map_err(|e| named(e, &target.path).in_file(&target.shown))?;
        let folder = target.folder.clone();
        self.renamed = None;
        rename::sync_folder(&folder)
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if let Some((_, temporary)) = &self.renamed {
            // If this fails, an incomplete file remains under a hidden name that indicates this.
            let _ = fs::remove_file(temporary);
        }
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Sink::File(file) => file.write(bytes),
            Sink::Stdout(out) => out.write(bytes),
            Sink::Stderr(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Sink::File(file) => file.flush(),
            Sink::Stdout(out) => out.flush(),
            Sink::Stderr(out) => out.flush(),
        }
    }
}

/// Fails if the file at `target` must not be replaced.
fn check_replaceable(target: &Destination, overwrite: bool) -> Result<()> {
    if target.path.is_dir() {
        return Err(Error::invalid("is a directory, expected a file"));
    }
    // Renaming would replace even a write-protected file, which would be unexpected.
    OpenOptions::new().write(true).open(&target.path)?;
    if overwrite {
        return Ok(());
    }
    let data = |what: String| {
        let error = Error::new(ErrorKind::AlreadyExists, format!("exists and {what}"));
        Err(error.with_remedy(Remedy::Overwrite))
    };
    if let Some(store) = target.folder.ancestors().filter(|folder| is_recognized(folder)).last() {
        return data(format!("belongs to the store {}", store.display()));
    }
    match format_of(&target.path)? {
        Some(format) => data(format!("holds data ({})", format.titles().join(" or "))),
        None => Ok(()),
    }
}

/// The format of a file that is a store, or a part of a store that consists of several files.
fn format_of(path: &Path) -> Result<Option<&'static dyn Format>> {
    if let Some(format) = recognize(path)? {
        return Ok(Some(format));
    }
    let file = FileStorage::open(path)?;
    for format in FORMATS {
        if format.recognizes_part(&file)? {
            return Ok(Some(*format));
        }
    }
    Ok(None)
}

fn is_recognized(path: &Path) -> bool {
    recognize(path).is_ok_and(|format| format.is_some())
}

/// The sink at this path that is written to directly: an open file of this process, a pipe or a character device.
/// `None` if there is a regular file, or nothing.
///
/// # Errors
/// If it cannot be opened, or writing there would destroy a file system.
#[cfg(unix)]
fn direct(path: &Path) -> Result<Option<Sink>> {
    use std::os::unix::fs::FileTypeExt;
    let mut link = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        if let Some(number) = descriptor(&link) {
            return Ok(Some(match number.as_str() {
                "1" => Sink::Stdout(io::stdout()),
                "2" => Sink::Stderr(io::stderr()),
                // Such a file may have content that whoever opened it wants to keep.
                _ => Sink::File(OpenOptions::new().append(true).open(&link)?),
            }));
        }
        let Ok(next) = fs::read_link(&link) else { break };
        link = link.parent().unwrap_or(Path::new("")).join(next);
    }
    match fs::metadata(path) {
        Ok(found) if found.file_type().is_block_device() => Err(Error::invalid("is a block device")),
        Ok(found) if !found.is_file() && !found.is_dir() => {
            Ok(Some(Sink::File(OpenOptions::new().write(true).open(path)?)))
        }
        _ => Ok(None),
    }
}

#[cfg(not(unix))]
fn direct(_: &Path) -> Result<Option<Sink>> {
    Ok(None)
}

/// The number of the open file that a name such as `/proc/self/fd/1` or `/dev/fd/1` stands for.
#[cfg(unix)]
fn descriptor(path: &Path) -> Option<String> {
    let folder = path.parent()?.canonicalize().ok()?;
    let number = path.file_name()?.to_str()?;
    let is_listed = folder == Path::new("/dev/fd") || folder.starts_with("/proc") && folder.ends_with("fd");
    (is_listed && number.bytes().all(|byte| byte.is_ascii_digit())).then(|| number.to_owned())
}

/// The end of the hidden name under which a file is written.
const PARTIAL: &str = ".hyperslab-partial";

/// The same number of links as Linux follows.
#[cfg(unix)]
const MAX_LINKS: u32 = 40;
