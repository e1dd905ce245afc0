//! Zarr, versions 2 and 3.
//!
//! * [`json`]: the text that metadata is written in, strictly parsed, nothing lost.
//! * [`data_type`]: what elements are, how they are stored, and how metadata tells both.
//! * [`store`]: values under keys, in a directory, a zip file or memory.
//! * [`metadata`]: the documents of arrays and groups, parsed and emitted.
//!
//! ```
//! use hyperslab_core::Limits;
//! use hyperslab_zarr::json::Json;
//!
//! let document = Json::parse("zarr.json", br#"{"zarr_format": 3, "node_type": "group"}"#, &Limits::default())?;
//! let members = document.as_object().expect("it is an object");
//! assert_eq!(members.get("node_type").and_then(Json::as_str), Some("group"));
//! # Ok::<(), hyperslab_core::Error>(())
//! ```

pub mod data_type;
pub mod json;
pub mod metadata;
pub mod store;
