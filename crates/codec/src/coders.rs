//! State of coders that is reused from chunk to chunk.

use crate::deflate;

/// Coders, which cost more to make than a small chunk to code, and buffers within codecs.
#[derive(Default)]
pub(crate) struct Coders {
    pub(crate) deflate: deflate::State,
}
