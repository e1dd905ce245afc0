//! The HDF5 file format, specification 4.0.
//!
//! Layers, each of which uses only those before it:
//!
//! 1. [`mod@format`]: conversion between bytes and structures, without I/O. Folders are chapters of the
//!    specification.
//! 2. [`navigate`]: reads structures from storage: headers, groups, heaps, chunk indexes.
//! 3. [`element`]: converts stored elements to rows in memory.
//! 4. The native API: [`File`], [`Object`], [`Link`], [`Attribute`], [`Dataset`], [`Array`].
//!
//! [`mod@check`] checks whether a file is valid. It uses only the first two layers.
//!
//! ```
//! use hyperslab_core::{Limits, nd::Region, rows::Heap, storage::FileStorage};
//! use hyperslab_hdf5::File;
//!
//! let file = File::open(Box::new(FileStorage::open("../../examples/ocean.nc")?), Limits::default())?;
//! let link = file.root()?.link(&file, b"lat")?.expect("there is a latitude");
//! let dataset = file.object(link.address().expect("the link is hard"))?.dataset(&file)?;
//! let array = dataset.array(&file)?;
//! let mut rows = vec![0; 3 * array.row_size()];
//! array.read(&file, &Region::new(vec![0], vec![3]), &mut rows, &mut Heap::default())?;
//! # Ok::<(), hyperslab_core::Error>(())
//! ```

mod attribute;
pub mod check;
mod dataset;
pub mod element;
mod file;
pub mod filter;
pub mod format;
mod group;
pub mod navigate;
mod object;
mod reference;

pub use attribute::Attribute;
pub use dataset::{Array, Dataset, Fill, MissingSource, NamedFor, SourceMapping};
pub use file::{File, Located};
pub use group::{Link, Links};
pub use object::{Object, ObjectKind};
pub use reference::Reference;
