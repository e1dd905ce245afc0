//! What a format must do to be opened and checked. [`crate::formats`] lists the formats that there are.

pub(crate) mod hdf5;
pub(crate) mod ndl;
mod netcdf;
pub(crate) mod netcdf3;
pub(crate) mod zarr;

use crate::operation::Operation;
use crate::pool::Pool;
use crate::report::{CheckOptions, Report};
use crate::source::cache::ChunkCache;
use crate::source::{Dialect, Source};
use hyperslab_core::check::Rule;
use hyperslab_core::storage::ReadAt;
use hyperslab_core::store::Store;
use hyperslab_core::wrapper::{Cancellable, Watched};
use hyperslab_core::{CancelToken, Error, Limits, Result};
use hyperslab_model::Directive;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A format that stores can be opened in.
pub trait Format: Sync {
    /// The name on the command line, which is also that of its own directives in NDL.
    fn name(&self) -> &'static str;

    /// What people call its files.
    fn titles(&self) -> &'static [&'static str];

    /// The kinds of stores that it has.
    fn dialects(&self) -> &'static [&'static Dialect];

    /// Whether what a location begins with looks like this format.
    fn recognizes(&self, probe: &Probe<'_>) -> Recognition;

    /// Whether bytes that no format recognizes are a store of this one all the same, or a part of one: a zip file
    /// with nodes in it, a member of a family.
    ///
    /// # Errors
    /// If reading fails.
    fn recognizes_part(&self, _object: &dyn ReadAt) -> Result<bool> {
        Ok(false)
    }

    /// The path of the file that stands for a pattern which names a set of files.
    fn first_of_set(&self, _path: &Path) -> Option<PathBuf> {
        None
    }

    /// The directory of the store that a file is a part of by its name.
    fn store_of_part<'p>(&self, _path: &'p Path) -> Option<&'p Path> {
        None
    }

    /// What the name of a store ends in if the store is a single array; the name of the array is what stands before.
    /// Each is taken off once, in this order.
    fn array_suffixes(&self) -> &'static [&'static str] {
        &[]
    }

    /// Opens a store of this format.
    ///
    /// # Errors
    /// If it is not, or breaks the specification where every object depends on it, or if the format has no stores of
    /// this kind of location.
    fn open(&self, location: Location, options: &OpenOptions) -> Result<Arc<dyn Source>>;

    /// Finds what breaks the rules of this format.
    ///
    /// # Errors
    /// If the store cannot be read at all, or if the format has no stores of this kind of location.
    fn check(&self, location: Location, open: &OpenOptions, options: &CheckOptions) -> Result<Report>;

    /// The rules that [`Format::check`] may find broken, as tables.
    fn rules(&self) -> &'static [&'static [&'static Rule]] {
        &[]
    }

    /// The keys of values in a store that are no part of it.
    ///
    /// # Errors
    /// If reading fails.
    fn foreign(&self, _store: &Arc<dyn Store>) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    /// Its own directives that a brief text leaves out: who creates the store anew has others, or the same unasked.
    fn default_directives(&self) -> &'static [&'static str] {
        &[]
    }

    /// Removes those of its own directives that would contradict chunks and shards that are cut anew (`cut`), or
    /// other filters (`filtered`).
    fn clear_layout_directives(
        &self,
        _directives: &mut Vec<(String, Directive)>,
        _cut: bool,
        _filtered: bool,
    ) {
    }
}

/// Where a store lies: in one object of bytes, or in values under keys. Neither need be local.
pub enum Location {
    /// Bytes at positions: a file, or bytes in memory.
    Object(Box<dyn ReadAt>),
    /// Values under keys: a directory, values in memory, or any other store.
    Store(Arc<dyn Store>),
}

impl Location {
    /// The bytes, for a format whose stores are single objects.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for values under keys; `format` is
    /// named then.
    pub fn into_object(self, format: &str) -> Result<Box<dyn ReadAt>> {
        match self {
            Location::Object(object) => Ok(object),
            Location::Store(_) => Err(Error::invalid(format!(
                "is a store of many values, and {format} is kept in single files"
            ))),
        }
    }

    /// The same location, of which each read is told.
    fn watched(self, seen: &Arc<dyn Fn(u64) + Send + Sync>) -> Location {
        match self {
            Location::Object(object) => Location::Object(Box::new(Watched::new(object, Arc::clone(seen)))),
            Location::Store(store) => Location::Store(Arc::new(Watched::new(store, Arc::clone(seen)))),
        }
    }

    /// The same location, the reads of which a token stops.
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

/// Whether a store looks like one of a format.
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
    /// Where decoded chunks are kept for reads of less than a chunk.
    pub chunk_cache: ChunkCache,
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
    /// The location as formats get it: whoever watches is told of what is read, and the token of the pool stops it.
    pub(crate) fn watched(&self, location: Location) -> Location {
        let location = match &self.watch {
            Some(Watch(seen)) => location.watched(seen),
            None => location,
        };
        let token = self.pool.cancel_token();
        if token.can_cancel() { location.cancellable(token) } else { location }
    }

    /// An opened source, read with the pool.
    pub(crate) fn operation(&self, source: Arc<dyn Source>) -> Arc<dyn Source> {
        Arc::new(Operation::opened(source, self.pool.clone(), self.chunk_cache.clone()))
    }
}

/// What formats look at to recognize a store.
pub enum Probe<'a> {
    /// The beginning of an object.
    Object(Head),
    /// A store, of which formats look for the values that they know.
    Store(&'a dyn Store),
}

/// The beginning of an object, and of the places where a signature may also stand: read once, shown to every
/// format.
#[derive(Debug)]
pub struct Head {
    /// Bytes of the object.
    pub len: u64,
    /// The first bytes, at most 512.
    pub first: Vec<u8>,
    /// Eight bytes at 512, 1024, 2048, … as far as the object goes.
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
    /// Reads what formats want to see.
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
    /// Reads the beginning of an object.
    ///
    /// # Errors
    /// If reading fails.
    pub fn read(object: &dyn ReadAt) -> Result<Head> {
        let len = object.len()?;
        let doubling = std::iter::successors(Some(512_u64), |at| at.checked_mul(2));
        let doubling = doubling.map_while(|at| Some(at..at.checked_add(8).filter(|end| *end <= len)?));
        let ranges: Vec<_> = std::iter::once(0..len.min(512)).chain(doubling).collect();
        let mut pieces = object.read_ranges(&ranges)?.into_iter();
        let first = pieces.next().unwrap_or_default().to_vec();
        let doubling = pieces.filter_map(|eight| <[u8; 8]>::try_from(&*eight).ok()).collect();
        Ok(Head { len, first, doubling })
    }
}
