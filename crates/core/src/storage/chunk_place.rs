//! The places of the stored bytes of chunks, for readers that fetch them directly.

use crate::store::Key;

/// The place of the stored bytes of one chunk, or of a part of them.
///
/// The bytes of a chunk are contiguous, unless a file ends inside the chunk: with external raw data, or if a driver
/// splits a file into several. Then each part is visited, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkPlace<'a> {
    /// The index of the chunk's first element, in elements along each dimension.
    pub start: &'a [u64],
    /// The file or value that contains the bytes.
    pub container: Container<'a>,
    /// The offset of the bytes in the container. In a file it counts from the first byte, including a user block.
    pub offset: u64,
    /// The number of bytes.
    pub len: u64,
    /// The number of bytes of the chunk in the parts before this one.
    pub before: u64,
    /// The mask of filters that were skipped for this chunk. Bit 0 is the first filter of the pipeline.
    pub filter_mask: u32,
}

/// The file or value that contains the bytes of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Container<'a> {
    /// The opened file.
    Opened,
    /// Another file, by its name in the opened file: relative to the folder of the opened file, or absolute. If the file
    /// is too short, the missing bytes are zeros.
    Named(&'a str),
    /// The value under this key of the opened store.
    Value(&'a Key),
}

/// Whether the chunks of an array have places, and the reason if they do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkPlacement {
    /// All places were visited. Chunks that were never written have no place.
    All,
    /// The elements are in the metadata of their object, as with HDF5's compact storage. There are only a few: read
    /// them.
    InMetadata,
    /// The elements are in other arrays, as in a virtual dataset.
    InOtherArrays,
    /// The array has no chunks in a file: its source is a text document, a part of another array, or memory.
    Nowhere,
}
