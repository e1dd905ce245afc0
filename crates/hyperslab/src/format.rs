//! The formats, and how one is recognised.

mod hdf5;
mod ndl;
mod zarr;

use crate::check::{CheckOptions, Report};
use crate::operation::Operation;
use crate::pool::Pool;
use crate::source::Source;
use crate::target::TargetFormat;
use hyperslab_core::storage::{Cancellable, FileStorage, ReadAt, Watched};
use hyperslab_core::{Error, ErrorKind, Limits, Remedy, Result};
use hyperslab_model::Storage;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) use hdf5::netcdf::default_fill;
pub use ndl::Document;
pub(crate) use ndl::{read as read_document, source_of_content};
pub use zarr::RECORD_RULES;

/// Every format, in the order in which they are tried.
pub static FORMATS: &[&dyn Format] = &[&hdf5::Hdf5, &zarr::Zarr, &ndl::Ndl];

/// Every format that stores can be written in.
pub static TARGETS: &[&dyn TargetFormat] = &[&zarr::ZARR3, &zarr::ZARR2];

/// A format that files can be opened in.
pub trait Format: Sync {
    /// The name on the command line.
    fn name(&self) -> &'static str;

    /// Whether the bytes look like this format.
    fn recognizes(&self, probe: &Probe) -> Recognition;

    /// Whether bytes that no format recognizes are a store of this one all the same, or a part of one: a zip file
    /// with nodes in it, a member of a family.
    ///
    /// # Errors
    /// If reading fails.
    fn recognizes_part(&self, _storage: &dyn ReadAt) -> Result<bool> {
        Ok(false)
    }

    /// The path of the file that stands for a pattern which names a set of files.
    fn first_of_set(&self, _path: &Path) -> Option<PathBuf> {
        None
    }

    /// Whether a directory is a store of this format, or an object in one.
    fn recognizes_directory(&self, _path: &Path) -> bool {
        false
    }

    /// Opens a file of this format.
    ///
    /// # Errors
    /// If it is not, or breaks the specification where every object depends on it.
    fn open(&self, storage: Box<dyn ReadAt>, options: &OpenOptions) -> Result<Arc<dyn Source>>;

    /// Opens a directory of this format.
    ///
    /// # Errors
    /// As [`Format::open`], and for formats that have no directories.
    fn open_directory(&self, _path: &Path, _options: &OpenOptions) -> Result<Arc<dyn Source>> {
        Err(no_directory(self.name()))
    }

    /// Finds what breaks the rules of this format.
    ///
    /// # Errors
    /// If the file cannot be read at all.
    fn check(&self, storage: Box<dyn ReadAt>, open: &OpenOptions, options: &CheckOptions) -> Result<Report>;

    /// The same for a directory.
    ///
    /// # Errors
    /// As [`Format::check`], and for formats that have no directories.
    fn check_directory(&self, _path: &Path, _open: &OpenOptions, _options: &CheckOptions) -> Result<Report> {
        Err(no_directory(self.name()))
    }

    /// What lies in the directory of a store and is no part of it, by its path there.
    ///
    /// # Errors
    /// What the system says.
    fn foreign(&self, _path: &Path) -> Result<Vec<String>> {
        Ok(Vec::new())
    }
}

/// Drops what a format alone says of chunks and shards, if these were cut anew, and of filters, if these are others.
pub(crate) fn forget_layout(storage: &mut Storage, cut: bool, filtered: bool) {
    for (format, directives) in &mut storage.native {
        if *format == "zarr" {
            zarr::forget_layout(directives, cut, filtered);
        }
    }
    storage.native.retain(|(_, directives)| !directives.is_empty());
}

fn no_directory(format: &str) -> Error {
    Error::invalid(format!("is a directory, and {format} is kept in files"))
}

/// Whether bytes look like a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Recognition {
    /// They do not.
    No,
    /// They might.
    Possible,
    /// They do, and no other format looks like this.
    Certain,
}

/// How files are opened.
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    /// What a file may make us allocate.
    pub limits: Limits,
    /// Show the store as stored: bookkeeping attributes, no NetCDF view.
    pub raw: bool,
    /// The format, by name; found by content if `None`.
    pub format: Option<String>,
    /// What reads the opened file where no [`Operation`] says otherwise: threads, memory, and a token that stops
    /// opening too.
    pub pool: Pool,
    /// Who is told how much is read.
    pub watch: Option<Watch>,
    /// Folders, beside that of the opened file, in which files that it names may be followed.
    pub allow_external: Vec<PathBuf>,
}

/// Is told of every read of an opened file how many bytes it was, by the thread that read them.
#[derive(Clone)]
pub struct Watch(Arc<dyn Fn(u64) + Send + Sync>);

impl Watch {
    /// Tells `seen`.
    pub fn new(seen: impl Fn(u64) + Send + Sync + 'static) -> Watch {
        Watch(Arc::new(seen))
    }
}

impl std::fmt::Debug for Watch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Watch")
    }
}

impl OpenOptions {
    /// The storage as formats get it.
    pub(crate) fn watched(&self, storage: FileStorage) -> Box<dyn ReadAt> {
        let storage: Box<dyn ReadAt> = match &self.watch {
            Some(Watch(seen)) => Box::new(Watched::new(storage, Arc::clone(seen))),
            None => Box::new(storage),
        };
        self.cancellable(storage)
    }

    /// Storage that the token of the pool stops.
    fn cancellable(&self, storage: Box<dyn ReadAt>) -> Box<dyn ReadAt> {
        let token = self.pool.cancel_token();
        match token.can_cancel() {
            true => Box::new(Cancellable::new(storage, token.clone())),
            false => storage,
        }
    }

    /// An opened source, read with the pool.
    fn operation(&self, source: Arc<dyn Source>) -> Arc<dyn Source> {
        Arc::new(Operation::new(source, self.pool.clone()))
    }
}

/// The beginning of a file, and of the places where a signature may also stand: read once, shown to every
/// format.
#[derive(Debug)]
pub struct Probe {
    /// Bytes of the file.
    pub len: u64,
    /// The first bytes, at most 512.
    pub head: Vec<u8>,
    /// Eight bytes at 512, 1024, 2048, … as far as the file goes.
    pub doubling: Vec<[u8; 8]>,
}

impl Probe {
    /// Reads what formats want to see.
    ///
    /// # Errors
    /// If reading fails.
    pub fn read(storage: &dyn ReadAt) -> Result<Probe> {
        let len = storage.len()?;
        let head = storage.read_at(0..len.min(512))?.to_vec();
        let mut doubling = Vec::new();
        let mut at = 512_u64;
        while let Some(end) = at.checked_add(8).filter(|end| *end <= len) {
            let mut eight = [0; 8];
            storage.read_into(at, &mut eight)?;
            doubling.push(eight);
            at = match at.checked_mul(2) {
                Some(next) if end < len => next,
                _ => break,
            };
        }
        Ok(Probe { len, head, doubling })
    }
}

/// Opens a file in the format that its content shows.
///
/// # Errors
/// If there is no such file, no format recognises it, or its format cannot open it.
pub fn open(path: &Path, options: &OpenOptions) -> Result<Arc<dyn Source>> {
    let opened = match path.is_dir() {
        true => format_of_directory(path, options).and_then(|format| format.open_directory(path, options)),
        false => open_file(path, options).and_then(|storage| {
            let format = format_of(&storage, Some(path), options)?;
            format.open(options.watched(storage), options)
        }),
    };
    let opened = opened.map(|source| options.operation(source));
    opened.map_err(|error| error.in_file(path.display()))
}

/// The bytes of a file, or of the first of a set that `path` is a pattern for.
pub(crate) fn open_file(path: &Path, options: &OpenOptions) -> Result<FileStorage> {
    let open = |path: &Path| FileStorage::open_allowing(path, &options.allow_external);
    open(path).or_else(|e| match FORMATS.iter().find_map(|format| format.first_of_set(path)) {
        Some(first) if e.kind() == ErrorKind::FileNotFound => open(&first),
        _ => Err(e),
    })
}

/// Opens what is in memory, as [`open`] does a file.
///
/// # Errors
/// As [`open`].
pub fn open_storage(storage: Box<dyn ReadAt>, options: &OpenOptions) -> Result<Arc<dyn Source>> {
    let format = format_of(&*storage, None, options)?;
    Ok(options.operation(format.open(options.cancellable(storage), options)?))
}

/// The format that is asked for, else the one that the content shows. A text that shows none is NDL if its
/// name says so: its faults are then told as such.
///
/// # Errors
/// If there is none.
pub(crate) fn format_of(
    storage: &dyn ReadAt,
    path: Option<&Path>,
    options: &OpenOptions,
) -> Result<&'static dyn Format> {
    if let Some(format) = asked_for(options)? {
        return Ok(format);
    }
    if let Some(folder) = path.and_then(zarr::folder_of_document) {
        return Err(Error::invalid("is a part of a Zarr store")
            .with_hint(format_args!("the store is the folder, {}", folder.display())));
    }
    let probe = Probe::read(storage)?;
    let suffix = path.and_then(Path::extension).and_then(|suffix| suffix.to_str());
    let is_text = suffix.is_some_and(|suffix| ["yaml", "yml", "json"].contains(&suffix));
    match recognized(&probe) {
        Some(format) => Ok(format),
        None if is_text && !SIGNATURES.iter().any(|(signature, _)| probe.head.starts_with(signature)) => {
            Ok(&ndl::Ndl)
        }
        None => {
            for format in FORMATS {
                if format.recognizes_part(storage)? {
                    return Ok(*format);
                }
            }
            Err(unknown(&probe))
        }
    }
}

fn asked_for(options: &OpenOptions) -> Result<Option<&'static dyn Format>> {
    let Some(name) = &options.format else { return Ok(None) };
    let format = FORMATS.iter().find(|format| format.name() == name).copied();
    format.map(Some).ok_or_else(|| {
        let known: Vec<_> = FORMATS.iter().map(|format| format.name()).collect();
        Error::invalid(format!("no format {name:?}, known are {}", known.join(", ")))
    })
}

/// The format that is asked for, else the one that the directory shows.
pub(crate) fn format_of_directory(path: &Path, options: &OpenOptions) -> Result<&'static dyn Format> {
    if let Some(format) = asked_for(options)? {
        return Ok(format);
    }
    FORMATS.iter().copied().find(|format| format.recognizes_directory(path)).ok_or_else(|| {
        let above = path.ancestors().skip(1);
        let inside = |folder: &&Path| FORMATS.iter().any(|format| format.recognizes_directory(folder));
        let error = Error::invalid("is a directory, and no Zarr store");
        let help = match above.filter(|folder| !folder.as_os_str().is_empty()).find(inside) {
            Some(store) => format!("it lies in the store {}", store.display()),
            None => return error.with_remedy(Remedy::ListFolder(path.to_path_buf())),
        };
        error.with_hint(help)
    })
}

/// The format that a file's content shows, or a directory's documents, without opening it.
///
/// # Errors
/// If it is neither a regular file nor a directory, or reading its first bytes fails.
pub fn recognize(path: &Path) -> Result<Option<&'static dyn Format>> {
    if path.is_dir() {
        return Ok(FORMATS.iter().copied().find(|format| format.recognizes_directory(path)));
    }
    let read = || {
        let storage = FileStorage::open(path)?;
        let found = recognized(&Probe::read(&storage)?);
        // The only stores that do not show by how they begin.
        let is_zarr = || zarr::Zarr.recognizes_part(&storage).unwrap_or(false);
        Ok(found.or_else(|| is_zarr().then_some(&zarr::Zarr as &dyn Format)))
    };
    read().map_err(|e: Error| e.in_file(path.display()))
}

fn recognized(probe: &Probe) -> Option<&'static dyn Format> {
    let sure = FORMATS.iter().map(|format| (format.recognizes(probe), *format));
    sure.filter(|(sure, _)| *sure > Recognition::No).max_by_key(|(sure, _)| *sure).map(|(_, format)| format)
}

/// Says what the file is instead, as far as its first bytes tell.
fn unknown(probe: &Probe) -> Error {
    if probe.len == 0 {
        return Error::invalid("is empty, not an HDF5, NetCDF-4, Zarr or NDL file");
    }
    let known = SIGNATURES.iter().find(|(signature, _)| probe.head.starts_with(signature));
    match known {
        Some((_, what)) => Error::invalid(format!("is {what}, not an HDF5, NetCDF-4, Zarr or NDL file")),
        None => Error::invalid(format!(
            "is no HDF5, NetCDF-4, Zarr or NDL file: no signature \\x89HDF at byte 0, 512, 1024, … (begins with {:?})",
            String::from_utf8_lossy(probe.head.get(..probe.head.len().min(8)).unwrap_or_default())
        )),
    }
}

/// What files that people confuse with ours begin with.
const SIGNATURES: &[(&[u8], &str)] = &[
    (b"CDF\x01", "a NetCDF-3 file"),
    (b"CDF\x02", "a NetCDF-3 file (64-bit offset)"),
    (b"CDF\x05", "a NetCDF-3 file (64-bit data)"),
    (b"\x0e\x03\x13\x01", "an HDF4 file"),
    (b"PK\x03\x04", "a zip archive"),
    (b"PK\x05\x06", "an empty zip archive"),
    (b"\x1f\x8b", "a gzip file; unpack it first"),
    (b"BZh", "a bzip2 file; unpack it first"),
    (b"\x28\xb5\x2f\xfd", "a zstd file; unpack it first"),
    (b"\xfd7zXZ\0", "an xz file; unpack it first"),
    (b"GRIB", "a GRIB file"),
    (b"\x89PNG", "a PNG image"),
    (b"II*\0", "a TIFF image"),
    (b"MM\0*", "a TIFF image"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"SIMPLE  =", "a FITS file"),
    (b"PAR1", "a Parquet file"),
    (b"MATLAB 5.0", "a MATLAB file older than 7.3"),
    (b"%PDF", "a PDF document"),
    (b"version https://git-lfs", "a Git LFS pointer; fetch the file itself first"),
    (b"<!DOCTYPE", "an HTML page"),
    (b"<html", "an HTML page"),
];
