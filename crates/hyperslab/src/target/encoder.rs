//! The interface for encoding elements to the stored bytes of chunks.

use crate::source::StoredForm;
use bytes::Bytes;
use hyperslab_codec::Scratch;
use hyperslab_core::Result;
use hyperslab_model::Values;
use std::fmt;

/// Encodes the elements of one array. An encoder does no I/O, and many threads may use it at the same time.
pub trait Encoder: Send + Sync {
    /// The shape of a chunk in elements. Each chunk is encoded and stored separately.
    fn chunk(&self) -> &[u64];

    /// Encodes the chunk at `index`, its position in the chunk grid. `values` are its elements within the array, in
    /// row-major order. `out` is memory for the encoded bytes; using it is optional.
    ///
    /// # Errors
    /// If an element has no encoding in this format, or a filter rejects it.
    fn encode(&self, index: &[u64], values: &Values, out: Vec<u8>, scratch: &mut Scratch) -> Result<Encoded>;

    /// Whether stored chunks of this form can be copied undecoded: their bytes equal those that
    /// [`Encoder::encode`] returns.
    fn can_copy_raw(&self, _form: &StoredForm) -> bool {
        false
    }

    /// Whether stored chunks that skipped filters can be copied undecoded with their filter mask, if
    /// [`Encoder::can_copy_raw`] allows their form.
    fn can_copy_masks(&self, _form: &StoredForm) -> bool {
        false
    }

    /// Whether the chunk at `index` can be copied undecoded if [`Encoder::can_copy_raw`] allows its form. Returns false
    /// if elements past the end of the array would become visible.
    fn can_copy_raw_at(&self, _index: &[u64]) -> bool {
        true
    }

    /// Turns the bytes of a stored chunk, which is copied undecoded, into what [`ArrayTarget::store`] receives.
    ///
    /// # Errors
    /// If the format must inspect the elements, and they cannot be decoded.
    ///
    /// [`ArrayTarget::store`]: super::ArrayTarget::store
    fn pass(&self, _index: &[u64], chunk: ChunkBytes, _scratch: &mut Scratch) -> Result<Encoded> {
        Ok(Encoded::Bytes(chunk))
    }

    /// Whether chunks that were never written in the source must be encoded, because the target has another fill
    /// value.
    fn needs_unwritten(&self) -> bool {
        false
    }

    /// For a trial: whether an element differed after it was decoded again, which [`encode`](Self::encode) then reports
    /// as an error.
    fn has_changed(&self) -> bool {
        false
    }

    /// The encoder of inner chunks; `None` if chunks do not consist of inner chunks.
    fn inner_chunks(&self) -> Option<&dyn InnerChunks> {
        None
    }
}

/// Encodes chunks that consist of inner chunks, such as shards. A chunk that does not fit into memory is encoded one
/// inner chunk at a time.
pub trait InnerChunks: Sync {
    /// The shape of an inner chunk in elements. It divides the shape of a chunk.
    fn shape(&self) -> &[u64];

    /// Encodes one inner chunk. `values` are the elements of its part within the array, in row-major order; `within` is
    /// the shape of that part. Returns `None` if all elements have the fill value.
    ///
    /// # Errors
    /// As [`Encoder::encode`].
    fn encode(&self, within: &[u64], values: &Values, scratch: &mut Scratch) -> Result<Option<Bytes>>;

    /// Assembles the chunk at `index` from all its encoded inner chunks, in row-major order. `out` is memory for the
    /// bytes.
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

/// The result of encoding a chunk.
#[derive(Debug)]
pub enum Encoded {
    /// No bytes: all elements have the fill value.
    Absent,
    /// The stored bytes.
    Bytes(ChunkBytes),
    /// Bytes that contain the addresses of other data, which is stored first.
    Placed(Placed),
}

/// The stored bytes of a chunk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChunkBytes {
    /// The bytes, after all filters.
    pub bytes: Bytes,
    /// The filters that were not applied to this chunk, one bit each; bit 0 is the first filter. Zero in formats
    /// without such a mask.
    pub filter_mask: u32,
}

/// A chunk whose elements contain addresses of data elsewhere in the store, such as a heap of strings.
pub struct Placed {
    /// The sizes in bytes of the blocks of data that the elements refer to, in the order in which they are stored.
    pub sizes: Vec<u64>,
    /// Returns the blocks and the chunk, given the address of each block.
    pub make: MakePlaced,
}

/// Returns blocks of data and the chunk that refers to them, given their addresses.
pub type MakePlaced = Box<dyn FnOnce(&[u64], &mut Scratch) -> Result<(Vec<Bytes>, ChunkBytes)> + Send>;

impl Encoded {
    /// A chunk that has passed all filters; [`Encoded::Absent`] for `None`.
    pub fn of(bytes: Option<Bytes>) -> Encoded {
        match bytes {
            Some(bytes) => Encoded::Bytes(ChunkBytes { bytes, filter_mask: 0 }),
            None => Encoded::Absent,
        }
    }
}

impl fmt::Debug for Placed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Placed").field("sizes", &self.sizes).finish_non_exhaustive()
    }
}
