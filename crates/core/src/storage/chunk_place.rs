//! Where the stored bytes of chunks lie, for readers that fetch them by themselves.

use crate::store::Key;

/// Where the stored bytes of one chunk lie, or a piece of them.
///
/// A chunk lies in one piece, except where a file ends within it: of external raw data, or of a file that a driver
/// spread over several. Its pieces are then visited one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkPlace<'a> {
    /// The index of the chunk's first element, in elements along each dimension.
    pub start: &'a [u64],
    /// The file or value that has the bytes.
    pub container: Container<'a>,
    /// The offset of the bytes in it. In a file it counts from the first byte, a user block included.
    pub offset: u64,
    /// The number of bytes.
    pub len: u64,
    /// The number of bytes of the chunk in the pieces before this one.
    pub before: u64,
    /// The filters that this chunk was stored without: bit 0 stands for the first of the pipeline.
    pub filter_mask: u32,
}

/// What has the bytes of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Container<'a> {
    /// The opened file.
    Opened,
    /// Another file, by the name that the opened one has for it: relative to the folder of the opened one, or absolute.
    /// If it ends before the bytes do, those that are missing are zeros.
    Named(&'a str),
    /// The value under this key of the opened store.
    Value(&'a Key),
}

/// Whether the places of all chunks of an array were visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placed {
    /// They were. Chunks that were never written have no place.
    All,
    /// The elements lie in the metadata of their object, as compact data of HDF5 do. They are few: read them.
    InMetadata,
    /// The elements lie in other arrays, as those of a virtual dataset do.
    InOtherArrays,
    /// No bytes of a file are the chunks of this array: its source is a text, part of another array, or in memory.
    Nowhere,
}
