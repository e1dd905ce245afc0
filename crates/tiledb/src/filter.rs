//! The filters of tiles: what cells go through on their way to a file and back.
//!
//! A tile is cut into chunks, and each chunk goes through the filters of a pipeline, first to last. A filter gets the
//! metadata that those before it left, and data; it leaves metadata and data. Most put their own metadata in front of
//! what they get; compressors and encryption take metadata for data, and put it in front of that. Decoding goes the
//! same way back.
//!
//! What a filter does depends on the datatype that reaches it, which may be another one than that of the cells: a
//! filter that makes integers of floating-point numbers is followed by filters of integers.
//!
//! Spec: TileDB format_spec, tile.md and filters/

mod bit_width_reduction;
mod checksum;
mod chunk;
mod compression;
mod delta;
mod dictionary;
mod double_delta;
mod encryption;
mod number;
mod part;
mod pieces;
mod pipeline;
mod positive_delta;
mod rle;
pub(crate) mod scale_float;
mod shuffle;
mod stored;
mod strings;
mod tile_type;
mod webp;
mod window;
mod xor;

pub use encryption::Key;
pub(crate) use encryption::with_another_key;
pub(crate) use pieces::Pieces;
pub use pipeline::{Pipeline, Scratch};
pub use stored::StoredTiles;
pub use tile_type::TileType;
