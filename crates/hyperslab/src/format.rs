//! The interface for opening and checking stores of a format. [`crate::formats`] lists the formats.

pub(crate) mod hdf5;
pub(crate) mod ndl;
pub(crate) mod netcdf;
pub(crate) mod netcdf3;
pub(crate) mod netcdf4;
pub(crate) mod tiledb;
pub(crate) mod zarr;

use crate::editor::Editor;
use crate::location::did_you_mean;
use crate::operation::Operation;
use crate::pool::Pool;
use crate::report::{CheckOptions, Report};
use crate::source::cache::ChunkCache;
use crate::source::{Dialect, Source};
use hyperslab_cf::dataspace::{CONVENTIONS, Convention, Dataspace};
use hyperslab_core::check::Rule;
use hyperslab_core::storage::ReadAt;
use hyperslab_core::store::Store;
use hyperslab_core::wrapper::{Cancellable, Failures, Noting, Watched};
use hyperslab_core::{CancelToken, Error, Limits, Result};
use hyperslab_model::Directive;
use std::fmt;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A format whose stores can be opened.
pub trait Format: Sync {
    /// The name on the command line and of the native directives in NDL.
    fn name(&self) -> &'static str;

    /// The usual names of its files in messages, such as `HDF5` or `NetCDF-4`.
    fn titles(&self) -> &'static [&'static str];

    /// The variants of the format.
    fn dialects(&self) -> &'static [&'static Dialect];

    /// Whether the start of a location looks like this format.
    fn recognizes(&self, probe: &Probe<'_>) -> Recognition;

    /// Whether bytes that no format recognises are a store of this format or part of one, such as a zip file with nodes
    /// or a member of a family.
    ///
    /// # Errors
    /// If reading fails.
    fn recognizes_part(&self, _object: &dyn ReadAt) -> Result<bool> {
        Ok(false)
    }

    /// The path of the first file, if the path is a pattern that names a set of files.
    fn first_of_set(&self, _path: &Path) -> Option<PathBuf> {
        None
    }

    /// The directory of the store to which a file belongs, judging by its name.
    fn store_of_part<'p>(&self, _path: &'p Path) -> Option<&'p Path> {
        None
    }

    /// The suffixes of a store that is a single array; the rest is the name of the array. Each suffix is removed once,
    /// in this order.
    fn array_suffixes(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether stores keep data written at earlier times, so that [`OpenOptions::at`] has a meaning.
    fn has_times(&self) -> bool {
        false
    }

    /// Whether stores may be encrypted, so that [`OpenOptions::key`] has a meaning.
    fn has_encryption(&self) -> bool {
        false
    }

    /// Whether stores may be dataspaces, so that [`OpenOptions::dataspace`] has a meaning.
    fn has_dataspaces(&self) -> bool {
        false
    }

    /// Opens a store of this format.
    ///
    /// # Errors
    /// If the store has another format, damage affects every object, or the format has no stores at this kind of
    /// location.
    fn open(&self, location: Location, options: &OpenOptions) -> Result<Arc<dyn Source>>;

    /// An editor that changes a store of this format in place. `None` if stores are written only once.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    fn editor(&self, _path: &Path, _options: &OpenOptions) -> Result<Option<Box<dyn Editor>>> {
        Ok(None)
    }

    /// Finds violations of the rules of this format.
    ///
    /// # Errors
    /// If the store cannot be read at all, or if the format has no stores at this kind of location.
    fn check(&self, location: Location, open: &OpenOptions, options: &CheckOptions) -> Result<Report>;

    /// The groups of a TileDB store, as seen by the TileDB-CF conventions.
    ///
    /// # Errors
    /// [`Unsupported`](hyperslab_core::ErrorKind::Unsupported) for other formats, and for an array without a group;
    /// also if the store cannot be read.
    fn dataspaces(&self, _location: Location, _open: &OpenOptions) -> Result<Vec<Dataspace>> {
        let detail = format!("{}, and the conventions of TileDB-CF are those of TileDB groups", self.name());
        Err(Error::unsupported(detail))
    }

    /// The rules of [`Format::check`], as tables.
    fn rules(&self) -> &'static [&'static [&'static Rule]] {
        &[]
    }

    /// The keys in a store that do not belong to it.
    ///
    /// # Errors
    /// If reading fails.
    fn foreign(&self, _store: &Arc<dyn Store>) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    /// The native directives that a brief description omits: a program that recreates the store has its own, or the
    /// same by default.
    fn default_directives(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether a store is opened raw when it is rewritten in this format, because the view hides or interprets content.
    fn repacks_raw(&self) -> bool {
        false
    }

    /// Removes the native directives that contradict changed chunks and shards (`cut`), or changed filters
    /// (`filtered`).
    fn clear_layout_directives(
        &self,
        _directives: &mut Vec<(String, Directive)>,
        _cut: bool,
        _filtered: bool,
    ) {
    }
}

/// The location of a store: one object of bytes, or values under keys. Both may be remote.
pub enum Location {
    /// Bytes by offset: a file, or bytes in memory.
    Object(Box<dyn ReadAt>),
    /// Values under keys: a directory, values in memory, or any other store.
    Store(Arc<dyn Store>),
}

impl Location {
    /// The bytes, for a format whose stores are single objects.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for values under keys; the message
    /// names `format`.
    pub fn into_object(self, format: &str) -> Result<Box<dyn ReadAt>> {
        match self {
            Location::Object(object) => Ok(object),
            Location::Store(_) => {
                Err(Error::invalid(format!("is a store of many values, expected a single {format} file")))
            }
        }
    }

    /// The same location, calling `seen` with the number of bytes of each read.
    fn watched(self, seen: &Arc<dyn Fn(u64) + Send + Sync>) -> Location {
        match self {
            Location::Object(object) => Location::Object(Box::new(Watched::new(object, Arc::clone(seen)))),
            Location::Store(store) => Location::Store(Arc::new(Watched::new(store, Arc::clone(seen)))),
        }
    }

    /// The same location, recording failed requests.
    fn noting(self, failures: &Failures) -> Location {
        match self {
            Location::Object(object) => Location::Object(Box::new(Noting::new(object, failures.clone()))),
            Location::Store(store) => Location::Store(Arc::new(Noting::new(store, failures.clone()))),
        }
    }

    /// The same location, with reads failing once `token` is cancelled.
    fn cancellable(self, token: &CancelToken) -> Location {
        match self {
            Location::Object(object) => Location::Object(Box::new(Cancellable::new(object, token.clone()))),
            Location::Store(store) => Location::Store(Arc::new(Cancellable::new(store, token.clone()))),
        }
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Location::Object(_) => "Object",
            Location::Store(_) => "Store",
        })
    }
}

/// Whether a store looks like a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Recognition {
    /// It does not look like it.
    No,
    /// It may be this format.
    Possible,
    /// It is this format, and no other format looks like it.
    Certain,
}

/// The options for opening files.
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    /// The limits on the memory that a file may cause to be allocated.
    pub limits: Limits,
    /// Show the store as stored: with hidden attributes and without the NetCDF view.
    pub raw: bool,
    /// The name of the format; `None` to detect it from the content.
    pub format: Option<String>,
    /// The threads and memory for reading, unless an [`Operation`] has its own, and a token that also cancels opening.
    pub pool: Pool,
    /// The cache of decoded chunks for reads smaller than a chunk.
    pub chunk_cache: ChunkCache,
    /// The callback that is notified of every read.
    pub watch: Option<Watch>,
    /// Folders, in addition to that of the opened file, from which files that it references may be opened.
    pub allow_external: Vec<PathBuf>,
    /// The times shown of a store that keeps earlier writes. `None` for everything that was ever written.
    pub at: Option<Times>,
    /// The key of an encrypted store.
    pub key: Option<SecretKey>,
    /// Show NetCDF variables and dimensions that are stored as other kinds of arrays.
    pub dataspace: Option<DataspaceView>,
    /// Show packed numbers as the numbers they represent, as [`Unpacked`](crate::Unpacked) does.
    pub unpack: bool,
    /// The failed requests of everything that is opened with these options.
    pub failures: Failures,
}

/// Which arrays are shown as the NetCDF variables that they store.
///
/// ```
/// use hyperslab::DataspaceView;
///
/// assert!(DataspaceView::parse("auto").is_ok());
/// let error = DataspaceView::parse("cf-0.3").unwrap_err();
/// assert!(error.to_string().contains("did you mean cf-0.3.0?"));
/// ```
#[derive(Clone, Copy, Debug)]
pub enum DataspaceView {
    /// Arrays that follow any convention.
    Auto,
    /// Those of a store that satisfies this convention; a store that does not is rejected.
    Convention(&'static Convention),
}

impl DataspaceView {
    /// Parses `auto`, or the name of a TileDB-CF convention.
    ///
    /// # Errors
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for any other name.
    pub fn parse(text: &str) -> Result<DataspaceView> {
        match text {
            AUTO => Ok(DataspaceView::Auto),
            name => convention(name, &[AUTO]).map(DataspaceView::Convention),
        }
    }

    /// Whether the metadata of groups may be stored in a separate array.
    pub(crate) fn has_group_array(self) -> bool {
        match self {
            DataspaceView::Auto => true,
            DataspaceView::Convention(convention) => convention.has_group_array(),
        }
    }
}

impl fmt::Display for DataspaceView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DataspaceView::Auto => AUTO,
            DataspaceView::Convention(convention) => convention.name,
        })
    }
}

/// The convention with this name. `others` are further names to suggest in the error.
pub(crate) fn convention(name: &str, others: &[&'static str]) -> Result<&'static Convention> {
    Convention::of(name).ok_or_else(|| {
        let known = || CONVENTIONS.iter().map(|convention| convention.name).chain(others.iter().copied());
        let names = known().collect::<Vec<_>>().join(", ");
        Error::invalid(format!("convention {name:?}, expected one of {names}"))
            .with_remedies(did_you_mean(name, known()))
    })
}

/// The word that stands for any convention.
const AUTO: &str = "auto";

/// A range of times in milliseconds since 1970, including both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// The first time.
    pub start: u64,
    /// The last time.
    pub end: u64,
}

/// The key of an encrypted store. It is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretKey(Secret);

#[derive(Clone, PartialEq, Eq)]
enum Secret {
    Bytes(Vec<u8>),
    File(PathBuf),
}

impl SecretKey {
    /// A key consisting of these bytes. The format checks their number when a store is opened.
    pub fn new(bytes: Vec<u8>) -> SecretKey {
        SecretKey(Secret::Bytes(bytes))
    }

    /// The key in a file, which is read when a store is opened. A line ending may follow it.
    pub fn in_file(path: PathBuf) -> SecretKey {
        SecretKey(Secret::File(path))
    }

    /// The `len` bytes of the key.
    ///
    /// # Errors
    /// If the file cannot be read, or the key has a different length.
    pub(crate) fn bytes(&self, len: usize) -> Result<Vec<u8>> {
        let (mut bytes, place) = match &self.0 {
            Secret::Bytes(bytes) => (bytes.clone(), None),
            Secret::File(path) => {
                (first_bytes(path, len).map_err(|e| e.in_file(path.display()))?, Some(path))
            }
        };
        if place.is_some() && bytes.len() == len + 1 && bytes.last() == Some(&b'\n') {
            bytes.truncate(len);
        }
        if bytes.len() == len {
            return Ok(bytes);
        }
        let more = if bytes.len() > len { "more than that" } else { "fewer" };
        let error = Error::invalid(format!("a key of {len} bytes was expected, found {more}"));
        Err(match place {
            Some(path) => error.in_file(path.display()),
            None => error,
        })
    }
}

/// The first bytes of a file, enough to determine whether it has more than `len` bytes and a line ending.
fn first_bytes(path: &Path, len: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let most = u64::try_from(len).unwrap_or(u64::MAX).saturating_add(2);
    std::fs::File::open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey(..)")
    }
}

/// A callback with the number of bytes of every read. It is called by the reading thread.
#[derive(Clone)]
pub struct Watch(Arc<dyn Fn(u64) + Send + Sync>);

impl Watch {
    /// A watch that calls `seen`.
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
    /// The location, with its failed requests recorded.
    pub(crate) fn noting(&self, location: Location) -> Location {
        location.noting(&self.failures)
    }

    /// The location with the callback and the cancel token attached.
    pub(crate) fn watched(&self, location: Location) -> Location {
        let location = match &self.watch {
            Some(Watch(seen)) => location.watched(seen),
            None => location,
        };
        let token = self.pool.cancel_token();
        if token.can_cancel() { location.cancellable(token) } else { location }
    }

    /// An open source that is read using the pool.
    pub(crate) fn operation(&self, source: Arc<dyn Source>) -> Arc<dyn Source> {
        Arc::new(Operation::opened(
            source,
            self.pool.clone(),
            self.chunk_cache.clone(),
            self.failures.clone(),
        ))
    }
}

/// The data used to detect a format.
pub enum Probe<'a> {
    /// The start of an object.
    Object(Head),
    /// A store, in which formats look for known keys.
    Store(&'a dyn Store),
}

/// The start of an object, and the other places where a signature may be. It is read once for all formats.
#[derive(Debug)]
pub struct Head {
    /// The size of the object in bytes.
    pub len: u64,
    /// The first bytes, at most 512.
    pub first: Vec<u8>,
    /// Eight bytes at each of the offsets 512, 1024, 2048 and so on, up to the end of the object.
    pub doubling: Vec<[u8; 8]>,
}

impl fmt::Debug for Probe<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Probe::Object(head) => head.fmt(f),
            Probe::Store(_) => f.write_str("Store"),
        }
    }
}

impl Probe<'_> {
    /// Reads the data used to detect a format.
    ///
    /// # Errors
    /// If reading fails.
    pub fn read(location: &Location) -> Result<Probe<'_>> {
        Ok(match location {
            Location::Object(object) => Probe::Object(Head::read(object)?),
            Location::Store(store) => Probe::Store(&**store),
        })
    }
}

impl Head {
    /// Reads the start of an object.
    ///
    /// # Errors
    /// If reading fails.
    pub fn read(object: &dyn ReadAt) -> Result<Head> {
        let len = object.len()?;
        let doubling = std::iter::successors(Some(512_u64), |at| at.checked_mul(2));
        let doubling = doubling.map_while(|at| Some(at..at.checked_add(8).filter(|end| *end <= len)?));
        let ranges: Vec<_> = std::iter::once(0..len.min(512)).chain(doubling).collect();
        let mut parts = object.read_ranges(&ranges)?.into_iter();
        let first = parts.next().unwrap_or_default().to_vec();
        let doubling = parts.filter_map(|eight| <[u8; 8]>::try_from(&*eight).ok()).collect();
        Ok(Head { len, first, doubling })
    }
}
