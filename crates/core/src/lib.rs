#![doc = include_str!("../README.md")]
//! ## Contents
//!
//! * [`Error`], [`ErrorKind`] and [`Place`]: errors that name the structure and the byte.
//! * [`Decoder`] and [`Encoder`]: bounds-checked decoding, and encoding with checked lengths.
//! * [`CancelToken`]: stopping work before it is done.
//! * [`Limits`] and [`Budget`]: how much memory a file can make a reader allocate.
//! * [`check`]: rules, and counters of the findings that break them.
//! * [`storage`]: positional reading and writing of files and memory, caches, injected faults and simulated crashes.
//! * [`store`]: values under keys, in a directory, a zip file or memory, read and written.
//! * [`wrapper`]: actions at each request to a storage or store: cancelling, watching, counting.
//! * [`links`]: resolves paths through links, and limits their number.
//! * [`memory`]: zeroed memory for large outputs, in huge pages where the system has them.
//! * [`nd`]: regions, selections, chunk grids, scatter and gather.
//! * [`rows`]: how decoded elements lie in memory, whatever their type.

mod cancel;
pub mod check;
mod decode;
mod encode;
mod error;
pub mod filter;
mod limits;
pub mod links;
pub mod memory;
pub mod nd;
pub mod real_path;
pub mod rows;
mod severity;
pub mod storage;
pub mod store;
pub mod wrapper;

pub use cancel::CancelToken;
pub use decode::Decoder;
pub use encode::{Encoder, Reserved};
pub use error::{Error, ErrorKind, Limit, Place, Remedy, Result, Within, valid};
pub use limits::{Budget, Charge, Limits};
pub use severity::Severity;
