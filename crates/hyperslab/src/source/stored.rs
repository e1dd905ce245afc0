//! The stored form of chunks, in terms that all formats share.

use hyperslab_codec::Codec;
use hyperslab_core::rows::ElementLayout;
use std::sync::Arc;

/// The stored form of the chunks of an array. If two arrays have the same datatype, chunk shape, element layout and
/// codecs, equal stored bytes are equal elements.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredForm {
    /// The shape of a chunk in elements. Chunks at the end of the array are stored whole.
    pub chunk: Vec<u64>,
    /// The byte order and padding of an element. `None` if elements have variable size, or are converted in another
    /// way. [`Storage::element`](hyperslab_model::Storage::element) states the same as directives.
    pub element: Option<ElementLayout>,
    /// The stored datatype as HDF5 describes it, if the bytes of elements mean the same in every file. `None` in
    /// formats without such a description.
    pub native: Option<Arc<[u8]>>,
    /// The filters in the order of writing. The bits of filter masks are in this order.
    pub filters: Vec<StoredFilter>,
}

/// One filter of a pipeline.
#[derive(Clone, Debug, PartialEq)]
pub enum StoredFilter {
    /// A filter that is decoded.
    Codec(Codec),
    /// A filter that changed elements before they were written. Reading does not undo it.
    Applied {
        /// The filter identification value in HDF5.
        number: u16,
    },
    /// A filter of HDF5 that is not decoded.
    Numbered {
        /// The filter identification value.
        number: u16,
        /// The name in the file; often empty.
        name: String,
        /// The client data values.
        client_data: Vec<u32>,
    },
    /// A Zarr codec in an array with an unknown codec. The known codecs of such an array also have this form.
    Named {
        /// The name of the codec.
        name: String,
        /// The configuration as JSON; empty if there is none.
        configuration: String,
    },
}

/// The stored bytes of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoredChunk {
    /// The chunk was never written: all elements have the fill value.
    Nothing,
    /// Bytes in the [`StoredForm`] of the array.
    Here {
        /// The number of bytes.
        len: usize,
        /// The filters that were skipped for this chunk: bit 0 is the first filter.
        filter_mask: u32,
    },
    /// The chunk is stored in another form.
    Other,
}

impl StoredForm {
    /// The codecs of a chunk without a filter mask, except those that change nothing; `None` if a codec is unknown.
    pub fn codecs(&self) -> Option<Vec<Codec>> {
        let codecs = self.filters.iter().filter_map(|filter| match filter {
            // Shuffling elements of one byte changes nothing.
            StoredFilter::Codec(Codec::Shuffle(shuffle)) if shuffle.element < 2 => None,
            StoredFilter::Codec(codec) => Some(Some(codec.clone())),
            StoredFilter::Applied { .. } => None,
            StoredFilter::Numbered { .. } | StoredFilter::Named { .. } => Some(None),
        });
        codecs.collect()
    }

    /// Whether equal bytes of chunks with the same filter mask are equal elements, in arrays of the same datatype.
    pub fn is_like(&self, other: &StoredForm) -> bool {
        let is_same = |(one, other): (&Codec, &Codec)| one.decodes_like(other);
        let have_same_elements = self.element.is_some() && self.element == other.element
            || self.native.is_some() && self.native == other.native;
        let have_same_filters = || {
            self.filters.len() == other.filters.len()
                && self.filters.iter().zip(&other.filters).all(|(one, other)| one.is_like(other))
                || self.codecs().zip(other.codecs()).is_some_and(|(one, other)| {
                    one.len() == other.len() && one.iter().zip(other.iter()).all(is_same)
                })
        };
        self.chunk == other.chunk && have_same_elements && have_same_filters()
    }

    /// Whether chunks of the other form can replace chunks that this one would encode. If `is_exact`, compression
    /// levels must match as well, as a user who requests filters expects.
    pub(crate) fn can_take(&self, other: &StoredForm, is_exact: bool) -> bool {
        self.is_like(other) && (!is_exact || self.filters == other.filters)
    }
}

impl StoredFilter {
    /// Whether two filters do the same. Only the number identifies a filter, whatever name a file gives it.
    fn is_like(&self, other: &StoredFilter) -> bool {
        use StoredFilter::Numbered;
        match (self, other) {
            (
                Numbered { number, client_data, .. },
                Numbered { number: other, client_data: other_data, .. },
            ) => number == other && client_data == other_data,
            _ => self == other,
        }
    }
}
