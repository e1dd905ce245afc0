//! Filters: their identification values, and the codecs that decode chunks.

mod bitshuffle;
mod blosc;
mod local;
mod nbit;
mod registered;
mod scale_offset;
mod szip;
mod zfp;

use crate::format::message::filter_pipeline::Filter;
use hyperslab_codec::{Scratch, check_size, decode};
use hyperslab_core::memory::room;
use hyperslab_core::{Error, ErrorKind, Result};
use registered::{REGISTERED, Reading, Registered};
use std::borrow::Cow;

pub use hyperslab_codec::{Codec, ZfpMode};
pub use local::{Chunks, Kept};

/// Deflate: a zlib stream.
pub const DEFLATE: u16 = 1;
/// Shuffle: groups the bytes of equal significance.
pub const SHUFFLE: u16 = 2;
/// Fletcher-32: a checksum after the data.
pub const FLETCHER32: u16 = 3;
/// Szip: the extended Rice algorithm.
pub const SZIP: u16 = 4;
/// N-bit: only the significant bits.
pub const NBIT: u16 = 5;
/// Scale-offset: differences from the minimum.
pub const SCALEOFFSET: u16 = 6;
/// Bzip2 streams.
pub const BZIP2: u16 = 307;
/// LZF: literal runs and back references.
pub const LZF: u16 = 32000;
/// Blosc 1: shuffled blocks of compressed streams.
pub const BLOSC: u16 = 32001;
/// Snappy blocks.
pub const SNAPPY: u16 = 32003;
/// LZ4 blocks in a frame.
pub const LZ4: u16 = 32004;
/// Bitshuffle: groups the bits of equal significance.
pub const BITSHUFFLE: u16 = 32008;
/// Zfp: transformed blocks of numbers, truncated to the significant bits.
pub const ZFP: u16 = 32013;
/// Zstandard frames.
pub const ZSTD: u16 = 32015;
/// `BitGroom`: rounds values when they are written.
pub const BITGROOM: u16 = 32022;
/// Granular `BitRound`: rounds values when they are written.
pub const GRANULAR_BITROUND: u16 = 32023;
/// Blosc 2: chunks in a frame.
pub const BLOSC2: u16 = 32026;

/// The name under which a filter is registered with The HDF Group; `None` if it is not registered.
///
/// ```
/// assert_eq!(hyperslab_hdf5::filter::registered_name(32007), Some("JPEG-XR"));
/// ```
pub fn registered_name(id: u16) -> Option<&'static str> {
    registered(id).map(|filter| filter.registered_name)
}

/// The name of a registered filter that other formats also use.
///
/// ```
/// assert_eq!(hyperslab_hdf5::filter::canonical_name(32007), Some("jpegxr"));
/// ```
pub fn canonical_name(id: u16) -> Option<&'static str> {
    registered(id).map(|filter| filter.name)
}

/// The identification value of the filter that [`canonical_name`] gives this name; `None` if there is none. Values for
/// testing, of which every file may make its own use, are left out.
///
/// ```
/// assert_eq!(hyperslab_hdf5::filter::number("fpzip"), Some(32014));
/// ```
pub fn number(name: &str) -> Option<u16> {
    let known = REGISTERED.iter().find(|filter| filter.name == name && !TESTING.contains(&filter.id));
    known.map(|filter| filter.id)
}

/// Whether the library decodes the filter only with a plugin, which most installations lack.
///
/// ```
/// use hyperslab_hdf5::filter::{DEFLATE, ZSTD, needs_plugin};
///
/// assert!(!needs_plugin(DEFLATE) && needs_plugin(ZSTD));
/// ```
///
/// Spec: HDF5 IV.A.2.l, Filter Identification Value: those below 256 are of the library
pub fn needs_plugin(id: u16) -> bool {
    let decodes_nothing = registered(id).is_some_and(|known| matches!(known.reading, Reading::Nothing));
    id >= TESTING.start && !decodes_nothing
}

/// The codec of a filter for elements of `element_size` bytes; `None` if reading needs no decoding.
///
/// # Errors
/// [`ErrorKind::Unsupported`] for a filter without decoder, [`ErrorKind::Malformed`] for invalid client data.
pub fn codec(filter: &Filter, element_size: usize) -> Result<Option<Codec>> {
    let reading = registered(filter.id).map_or(Reading::Unknown, |known| known.reading);
    match reading {
        Reading::Codec(codec) => codec(&filter.client_data, element_size).map_err(|e| {
            // An invalid argument for a codec means a malformed file here.
            let unsupported = e.kind() == ErrorKind::Unsupported;
            let kind = if unsupported { ErrorKind::Unsupported } else { ErrorKind::Malformed };
            Error::new(kind, format!("client data of filter {}: {}", described(filter), e.detail()))
        }),
        Reading::Nothing => Ok(None),
        Reading::Unknown => Err(Error::unsupported(format!("filter {}", described(filter)))),
    }
}

/// The identification value of the filter for a codec, and its client data for chunks of `chunk_bytes` bytes.
///
/// # Errors
/// [`ErrorKind::InvalidArgument`] if HDF5 has no filter for the codec, or client data cannot store a parameter.
pub fn client_data(codec: &Codec, chunk_bytes: u32) -> Result<(u16, Vec<u32>)> {
    let word = |value: usize, what: &str| {
        u32::try_from(value)
            .map_err(|_| Error::invalid(format!("{what} of {value} bytes, expected less than 4 GiB")))
    };
    Ok(match codec {
        Codec::Deflate(deflate) => (DEFLATE, vec![deflate.level.into()]),
        Codec::Shuffle(shuffle) => (SHUFFLE, vec![word(shuffle.element, "shuffle")?]),
        Codec::Fletcher32(_) => (FLETCHER32, vec![]),
        Codec::Szip(szip) => (SZIP, szip::encode(szip)),
        Codec::Nbit(nbit) => (NBIT, nbit::encode(nbit)?),
        Codec::ScaleOffset(codec) => (SCALEOFFSET, scale_offset::encode(codec)?),
        Codec::Bzip2(bzip2) => (BZIP2, vec![bzip2.level.into()]),
        Codec::Lzf(_) => (LZF, vec![LZF_FILTER, LZF_LIBRARY, chunk_bytes]),
        Codec::Blosc(blosc) => (BLOSC, blosc::encode(blosc, chunk_bytes)?),
        Codec::Snappy(_) => (SNAPPY, vec![]),
        Codec::Lz4Hdf5(lz4) => (LZ4, vec![lz4.block]),
        Codec::Bitshuffle(bitshuffle) => (BITSHUFFLE, bitshuffle::encode(bitshuffle)?),
        Codec::Zfp(zfp) => (ZFP, zfp::encode(zfp)),
        Codec::Zstd(zstd) => (ZSTD, vec![zstd.level.cast_unsigned()]),
        Codec::Blosc2(blosc2) => (BLOSC2, blosc::encode_second(blosc2, chunk_bytes)?),
        codec => return Err(Error::invalid(format!("HDF5 has no filter for {codec:?}"))),
    })
}

/// The steps of a filter pipeline, in the order of writing.
#[derive(Clone, Debug)]
pub(crate) struct Pipeline {
    steps: Vec<Step>,
    /// The codecs of chunks that skipped no filter, if all filters have decoders.
    whole: Option<Vec<Codec>>,
}

#[derive(Clone, Debug)]
enum Step {
    Codec(Codec),
    /// A filter that needs no decoding.
    Nothing,
    /// A filter without decoder. It is an error only for chunks that passed it.
    Refused(ErrorKind, String),
}

impl Pipeline {
    /// The pipeline of `filters` for elements of `element_size` bytes.
    pub(crate) fn new(filters: &[Filter], element_size: usize) -> Pipeline {
        let step = |filter: &Filter| match codec(filter, element_size) {
            Ok(Some(codec)) => Step::Codec(codec),
            Ok(None) => Step::Nothing,
            Err(e) => Step::Refused(e.kind(), e.detail().to_owned()),
        };
        let steps = filters.iter().map(step).collect();
        let pipeline = Pipeline { steps, whole: None };
        let whole = pipeline.passed(0).ok();
        Pipeline { whole, ..pipeline }
    }

    /// Whether there are no filters.
    pub(crate) fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The filter mask of chunks that skipped all filters.
    pub(crate) fn mask_of_all(&self) -> u32 {
        (0..32).take(self.steps.len()).fold(0, |mask, filter| mask | 1 << filter)
    }

    /// The codecs of chunks; `mask` has a bit for each filter that was skipped.
    ///
    /// # Errors
    /// If a filter has no decoder.
    pub(crate) fn codecs(&self, mask: u32) -> Result<Cow<'_, [Codec]>> {
        match &self.whole {
            Some(whole) if mask == 0 => Ok(Cow::Borrowed(whole)),
            _ => self.passed(mask).map(Cow::Owned),
        }
    }

    /// Decodes `stored` to `out`, which becomes `len` bytes. `mask` has a bit for each filter that was skipped.
    ///
    /// # Errors
    /// If a filter has no decoder, or decoding fails.
    pub(crate) fn decode(
        &self,
        mask: u32,
        stored: &[u8],
        out: &mut Vec<u8>,
        len: usize,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let codecs = self.codecs(mask)?;
        check_size(&codecs, stored, len)?;
        let decoded = decode(&codecs, stored, room(out, len), scratch);
        out.truncate(len);
        decoded
    }

    fn passed(&self, mask: u32) -> Result<Vec<Codec>> {
        let mut codecs = Vec::with_capacity(self.steps.len());
        for (index, step) in self.steps.iter().enumerate() {
            if u32::try_from(index).is_ok_and(|index| mask.checked_shr(index).unwrap_or(0) & 1 == 1) {
                continue;
            }
            match step {
                Step::Codec(codec) => codecs.push(codec.clone()),
                Step::Nothing => {}
                Step::Refused(kind, detail) => return Err(Error::new(*kind, detail.clone())),
            }
        }
        Ok(codecs)
    }
}

fn registered(id: u16) -> Option<&'static Registered> {
    REGISTERED.iter().find(|filter| filter.id == id)
}

/// The identification value and name of a filter, for messages.
fn described(filter: &Filter) -> String {
    let id = filter.id;
    let own = filter.name.split(|byte| *byte == 0).next().unwrap_or_default();
    let own = String::from_utf8_lossy(own);
    match registered_name(id) {
        // The numbers for testing have no registered meaning.
        Some(name) if own.is_empty() || !TESTING.contains(&id) => format!("{id} ({name})"),
        _ if own.is_empty() => id.to_string(),
        _ => format!("{id} ({own})"),
    }
}

/// The identification values for testing. Files use them for other filters than the registered ones.
pub const TESTING: std::ops::Range<u16> = 256..300;

// Versions that h5py writes.
const LZF_FILTER: u32 = 4;
const LZF_LIBRARY: u32 = 0x0105;

#[cfg(test)]
mod tests;
