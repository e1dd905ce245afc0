//! The HDF5 file format, specification 4.0.
//!
//! Layers, each using only those before it:
//!
//! 1. [`mod@format`]: bytes to structures and back; no I/O. Folders are chapters of the specification.
//! 2. [`navigate`]: walks structures over storage: headers, groups, heaps, chunk indexes.
//! 3. [`element`]: the file's representation of elements to rows in memory.
//! 4. The native API: [`File`], [`Object`], [`Link`], [`Attribute`], [`Dataset`], [`Array`].
//!
//! Beside them, [`mod@check`] says whether a file is sound, on the first two alone.
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
pub use dataset::{Array, Dataset, Fill};
pub use file::File;
pub use group::{Link, Links};
pub use object::{Object, ObjectKind};
pub use reference::Reference;
