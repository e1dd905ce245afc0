//! The filters of tiles, which cells pass through on their way to a file and back.
//!
//! A tile is cut into chunks, and each chunk passes through the filters of a pipeline, from first to last. A filter
//! receives data, and the metadata of the filters before it; it outputs metadata and data. Most filters put their own
//! metadata in front of what they receive. Compressors and encryption treat the received metadata as data, and put
//! their own metadata in front of the result. Decoding goes the same way back.
//!
//! What a filter does depends on the datatype that reaches it, which may differ from that of the cells: a filter that
//! converts floating-point numbers to integers is followed by filters of integers.
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
