//! Elements turned into chunks as they are stored, before anything is stored.

use crate::source::StoredForm;
use bytes::Bytes;
use hyperslab_codec::Scratch;
use hyperslab_core::Result;
use hyperslab_model::Values;
use std::fmt;

/// Encodes the elements of one array. An encoder does no I/O, and many threads use it at once.
pub trait Encoder: Send + Sync {
    /// The shape of a chunk, in elements: chunks are encoded and stored one by one.
    fn chunk(&self) -> &[u64];

    /// Encodes the chunk at `index`. `values` are its elements within the array, row-major; `out` is memory that the
    /// bytes may be put into.
    ///
    /// # Errors
    /// If an element has no encoding in this format, or a filter refuses it.
    fn encode(&self, index: &[u64], values: &Values, out: Vec<u8>, scratch: &mut Scratch) -> Result<Encoded>;

    /// Whether stored chunks of this form can be copied undecoded: their bytes are those that
    /// [`Encoder::encode`] would make.
    fn can_copy_raw(&self, _form: &StoredForm) -> bool {
        false
    }

    /// Whether the chunk at `index` can be copied undecoded if its form can: not if elements past the end of the
    /// array would become visible.
    fn can_copy_raw_at(&self, _index: &[u64]) -> bool {
        true
    }

    /// Whether chunks that the source never wrote are encoded too, because the fill value is another one here.
    fn needs_unwritten(&self) -> bool {
        false
    }

    /// The encoder of inner chunks, if chunks can be put together from these.
    fn inner_chunks(&self) -> Option<&dyn InnerChunks> {
        None
    }
}

/// Encodes chunks that are made of smaller ones, as shards are. A chunk that does not fit into memory is encoded inner
/// chunk by inner chunk.
pub trait InnerChunks: Sync {
    /// The shape of an inner chunk, in elements. The shape of chunks is a multiple of it.
    fn shape(&self) -> &[u64];

    /// Encodes one inner chunk from the elements of its part within the array, which has the shape `within`. None if
    /// nothing has to be stored.
    ///
    /// # Errors
    /// As [`Encoder::encode`].
    fn encode(&self, within: &[u64], values: &Values, scratch: &mut Scratch) -> Result<Option<Bytes>>;

    /// Puts the chunk at `index` together from all its inner chunks, row-major, in the memory of `out`.
    ///
    /// # Errors
    /// If the chunk would be larger than the format allows.
    fn assemble(
        &self,
        index: &[u64],
        inner: Vec<Option<Bytes>>,
        out: Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<Encoded>;
}

/// What has to be stored of a chunk.
#[derive(Debug)]
pub enum Encoded {
    /// Nothing: all elements are the fill value.
    Absent,
    /// These bytes.
    Bytes(ChunkBytes),
    /// Bytes that contain addresses of other pieces. The pieces are stored first.
    Placed(Placed),
}

/// The bytes of a chunk as they are stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChunkBytes {
    /// The bytes, after all filters.
    pub bytes: Bytes,
    /// Filters of the array that were left out for this chunk: bit 0 is the first one. Zero in formats where chunks
    /// pass all filters.
    pub filter_mask: u32,
}

/// A chunk whose elements point to pieces that lie elsewhere in the store, such as a heap of texts.
pub struct Placed {
    /// The pieces, in the order in which they are stored.
    pub pieces: Vec<Bytes>,
    /// Makes the bytes of the chunk from the address of each piece.
    pub chunk: MakeChunk,
}

/// Makes the bytes of a chunk from the addresses of its pieces.
pub type MakeChunk = Box<dyn FnOnce(&[u64], &mut Scratch) -> Result<ChunkBytes> + Send>;

impl Encoded {
    /// Bytes that have passed all filters; [`Encoded::Absent`] for none.
    pub fn of(bytes: Option<Bytes>) -> Encoded {
        match bytes {
            Some(bytes) => Encoded::Bytes(ChunkBytes { bytes, filter_mask: 0 }),
            None => Encoded::Absent,
        }
    }
}

impl fmt::Debug for Placed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Placed").field("pieces", &self.pieces.len()).finish_non_exhaustive()
    }
}
