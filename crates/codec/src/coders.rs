//! State of coders that is reused from chunk to chunk.

use crate::{deflate, zstd};

/// Coders, which cost more to make than a small chunk to code, and buffers within codecs.
#[derive(Default)]
pub(crate) struct Coders {
    pub(crate) deflate: deflate::State,
    pub(crate) zstd: zstd::State,
    /// A block that is not what it is in the chunk, and one whose parts are side by side.
    pub(crate) compressed: Vec<u8>,
    pub(crate) planes: Vec<u8>,
    /// Memory that LZ4 blocks are encoded in.
    pub(crate) lz4: Vec<u8>,
    /// A stream that is appended to others.
    pub(crate) stream: Vec<u8>,
}
