//! The NetCDF classic formats: CDF-1, CDF-2 (64-bit offset) and CDF-5 (64-bit data).
//!
//! A file is a header and the elements of variables. A variable without records is one block of big-endian elements.
//! The elements of all other variables are interleaved: each record holds those of one index of the record dimension.
//!
//! * [`Header`]: dimensions, attributes and variables, decoded and encoded.
//! * [`Layout`], [`Records`]: where the elements of a variable lie.
//! * [`File`]: regions of elements.
//! * [`check`](mod@check): whether a file is sound.
//!
//! ```
//! use bytes::Bytes;
//! use hyperslab_core::nd::{Planes, Region};
//! use hyperslab_core::Limits;
//! use hyperslab_netcdf3::{DataType, Dimension, File, Header, Variable, Version};
//!
//! let x = Dimension { name: b"x".to_vec(), length: 3 };
//! let v = Variable {
//!     name: b"v".to_vec(),
//!     dimensions: vec![0],
//!     attributes: vec![],
//!     data_type: DataType::Short,
//!     size: 8,
//!     begin: 80,
//! };
//! let header =
//!     Header { version: Version::Classic, records: Some(0), dimensions: vec![x], attributes: vec![], variables: vec![v] };
//! let mut bytes = header.encode()?;
//! bytes.resize(80, 0);
//! bytes.extend([0, 1, 0, 2, 0, 3, 0x80, 1]);
//!
//! let file = File::open(Box::new(Bytes::from(bytes)), &Limits::default())?;
//! let layout = file.layout(0)?;
//! let mut rows = [0; 4];
//! file.read_part(&layout, &Region::new(vec![1], vec![2]), &mut Planes::whole(&mut rows))?;
//! assert_eq!(rows, *[2_i16.to_ne_bytes(), 3_i16.to_ne_bytes()].as_flattened());
//! # Ok::<(), hyperslab_core::Error>(())
//! ```

pub mod check;
mod data_type;
mod file;
mod header;
mod layout;

pub use data_type::DataType;
pub use file::{File, to_native};
pub use header::{Attribute, Decoded, Dimension, Header, MAGIC, Variable, Version};
pub use layout::{Layout, Records};
