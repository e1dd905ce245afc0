//! Coder state that is reused from chunk to chunk.

use crate::{deflate, zstd};

/// Coders, which take longer to create than a small chunk takes to decode, and buffers of codecs.
#[derive(Default)]
pub(crate) struct Coders {
    pub(crate) deflate: deflate::State,
    pub(crate) zstd: zstd::State,
    /// A block in an intermediate form, and one whose streams are next to each other.
    pub(crate) compressed: Vec<u8>,
    pub(crate) planes: Vec<u8>,
    /// Memory for encoded LZ4 blocks.
    pub(crate) lz4: Vec<u8>,
    /// A stream that is appended to others.
    pub(crate) stream: Vec<u8>,
}
