//! How chunks are stored, in terms that all formats share.

use hyperslab_codec::Codec;
use hyperslab_core::rows::ElementLayout;

/// How the chunks of an array are stored. If two arrays have the same type, chunk shape, element layout and codecs, equal
/// stored bytes are equal elements.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredForm {
    /// The shape of a chunk. Chunks at the end of the array are stored whole.
    pub chunk: Vec<u64>,
    /// How an element is stored: the byte order of its numbers, and its padding. `None` if elements have variable size,
    /// or are converted in another way. [`Storage::element`](hyperslab_model::Storage::element) says it in words.
    pub element: Option<ElementLayout>,
    /// What the bytes of a chunk pass when they are written, first to last. Filter masks count these.
    pub filters: Vec<StoredFilter>,
}

/// One filter of a pipeline.
#[derive(Clone, Debug, PartialEq)]
pub enum StoredFilter {
    /// A filter that is decoded.
    Codec(Codec),
    /// A filter that changed elements before they were written. Reading leaves its output as it is.
    Applied {
        /// The number that HDF5 has for it.
        number: u16,
    },
    /// A filter of HDF5 that is not decoded.
    Numbered {
        /// Its registered number.
        number: u16,
        /// Its name in the file; often empty.
        name: String,
        /// Its parameters.
        client_data: Vec<u32>,
    },
    /// A codec of Zarr, if one of the array is not known. Codecs that are known are given so too then.
    Named {
        /// Its name.
        name: String,
        /// Its configuration as JSON; empty if there is none.
        configuration: String,
    },
}

/// What is stored of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoredChunk {
    /// Nothing: all elements are fill.
    Nothing,
    /// Bytes in the array's [`StoredForm`].
    Here {
        /// Their number.
        len: usize,
        /// The filters that this chunk was stored without: bit 0 stands for the first.
        filter_mask: u32,
    },
    /// Something in another form.
    Other,
}

impl StoredForm {
    /// The codecs that a chunk without a filter mask passed, if all are known. Those that change nothing are left out.
    pub fn codecs(&self) -> Option<Vec<Codec>> {
        let codecs = self.filters.iter().filter_map(|filter| match filter {
            // Bytes of elements of one byte are not shuffled.
            StoredFilter::Codec(Codec::Shuffle(shuffle)) if shuffle.element < 2 => None,
            StoredFilter::Codec(codec) => Some(Some(codec.clone())),
            StoredFilter::Applied { .. } => None,
            StoredFilter::Numbered { .. } | StoredFilter::Named { .. } => Some(None),
        });
        codecs.collect()
    }

    /// Whether equal bytes of chunks without a filter mask are equal elements, in arrays of the same type.
    pub fn is_like(&self, other: &StoredForm) -> bool {
        let is_same = |(one, other): (&Codec, &Codec)| one.decodes_like(other);
        self.chunk == other.chunk
            && self.element.is_some()
            && self.element == other.element
            && self.codecs().zip(other.codecs()).is_some_and(|(one, other)| {
                one.len() == other.len() && one.iter().zip(other.iter()).all(is_same)
            })
    }
}
