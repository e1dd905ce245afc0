//! Filters: which there are, and how chunks pass back through them.

mod nbit;
mod scale_offset;
mod szip;
mod zfp;

use crate::format::message::filter_pipeline::Filter;
use hyperslab_codec::{Codec, Deflate, Fletcher32, Scratch, Shuffle, check_size, decode};
use hyperslab_core::{Error, ErrorKind, Result};

/// Deflate, a zlib stream.
pub const DEFLATE: u16 = 1;
/// Shuffle, bytes of equal significance together.
pub const SHUFFLE: u16 = 2;
/// Fletcher-32, a checksum behind the data.
pub const FLETCHER32: u16 = 3;
/// Szip, the extended Rice algorithm.
pub const SZIP: u16 = 4;
/// N-bit, significant bits alone.
pub const NBIT: u16 = 5;
/// Scale-offset, differences from the least value.
pub const SCALEOFFSET: u16 = 6;

/// Zfp, blocks of numbers cut to the bits that matter.
pub const ZFP: u16 = 32013;

/// The name under which a filter is registered, if it is.
pub fn registered_name(id: u16) -> Option<&'static str> {
    REGISTERED.iter().find(|(known, _)| *known == id).map(|(_, name)| *name)
}

/// The number of the filter that a codec is, and the client data that sets it.
///
/// # Errors
/// If the codec is no filter, or has a parameter that client data cannot hold.
pub fn client_data(codec: &Codec) -> Result<(u16, Vec<u32>)> {
    Ok(match codec {
        Codec::Deflate(deflate) => (DEFLATE, vec![deflate.level.into()]),
        Codec::Shuffle(shuffle) => match u32::try_from(shuffle.element) {
            Ok(element) => (SHUFFLE, vec![element]),
            Err(_) => return Err(Error::invalid(format!("shuffle of {} bytes", shuffle.element))),
        },
        Codec::Fletcher32(_) => (FLETCHER32, vec![]),
        Codec::Szip(szip) => (SZIP, szip::encode(szip)),
        Codec::Nbit(nbit) => (NBIT, nbit::encode(nbit)?),
        Codec::ScaleOffset(codec) => (SCALEOFFSET, scale_offset::encode(codec)?),
        Codec::Zfp(zfp) => (ZFP, zfp::encode(zfp)),
        codec => return Err(Error::unsupported(format!("client data of {codec:?}"))),
    })
}

/// Filters by number: those of the library, then those registered with The HDF Group.
const REGISTERED: &[(u16, &str)] = &[
    (DEFLATE, "deflate"),
    (SHUFFLE, "shuffle"),
    (FLETCHER32, "fletcher32"),
    (SZIP, "szip"),
    (NBIT, "nbit"),
    (SCALEOFFSET, "scaleoffset"),
    (305, "lzo"),
    (307, "bzip2"),
    (32000, "lzf"),
    (32001, "blosc"),
    (32002, "mafisc"),
    (32003, "snappy"),
    (32004, "lz4"),
    (32005, "apax"),
    (32006, "cbf"),
    (32007, "jpegxr"),
    (32008, "bitshuffle"),
    (32009, "spdp"),
    (32010, "lpcrice"),
    (32011, "ccsds123"),
    (32012, "jpegls"),
    (ZFP, "zfp"),
    (32014, "fpzip"),
    (32015, "zstd"),
    (32016, "b3d"),
    (32017, "sz"),
    (32018, "fcidecomp"),
    (32019, "jpeg"),
    (32020, "vbz"),
    (32021, "fapec"),
    (32022, "bitgroom"),
    (32023, "granularbitround"),
    (32024, "sz3"),
    (32025, "deltarice"),
    (32026, "blosc2"),
    (32027, "flac"),
    (32028, "sperr"),
    (32029, "terse"),
    (32030, "ffmpeg"),
];

/// The steps of a pipeline, in write order.
#[derive(Clone, Debug)]
pub(crate) struct Pipeline(Vec<Step>);

#[derive(Clone, Debug)]
enum Step {
    Codec(Codec),
    /// A filter that is set to change nothing.
    Nothing,
    /// A filter whose client data describes no codec.
    Broken(ErrorKind, String),
    /// A filter that is described but not decoded.
    Other(String),
}

impl Step {
    /// The step of a filter with the codec that its client data describes.
    fn of(filter: &Filter, codec: Result<Option<Codec>>) -> Step {
        match codec {
            Ok(Some(codec)) => Step::Codec(codec),
            Ok(None) => Step::Nothing,
            Err(e) => {
                let detail = format!("client data of filter {}: {}", name(filter.id, filter), e.detail());
                // What codecs call impossible comes from the file here.
                let unsupported = e.kind() == ErrorKind::Unsupported;
                Step::Broken(if unsupported { e.kind() } else { ErrorKind::Malformed }, detail)
            }
        }
    }
}

impl Pipeline {
    /// The pipeline of `filters` for elements of `element_size` bytes.
    pub(crate) fn new(filters: &[Filter], element_size: usize) -> Pipeline {
        let step = |filter: &Filter| {
            let first = filter.client_data.first().copied();
            match filter.id {
                DEFLATE => {
                    let level = first.and_then(|level| u8::try_from(level).ok()).unwrap_or(6);
                    Step::Codec(Deflate { level }.into())
                }
                SHUFFLE => {
                    let element = first.and_then(|size| usize::try_from(size).ok());
                    Step::Codec(Shuffle { element: element.unwrap_or(element_size) }.into())
                }
                FLETCHER32 => Step::Codec(Fletcher32.into()),
                SZIP => Step::of(filter, szip::decode(&filter.client_data)),
                NBIT => Step::of(filter, nbit::decode(&filter.client_data)),
                SCALEOFFSET => Step::of(filter, scale_offset::decode(&filter.client_data)),
                ZFP => Step::of(filter, zfp::decode(&filter.client_data)),
                id => Step::Other(name(id, filter)),
            }
        };
        Pipeline(filters.iter().map(step).collect())
    }

    /// Whether there are no filters.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Fills `out` with what `stored` was before it passed the filters that `mask` does not skip.
    ///
    /// # Errors
    /// If a filter is not known, or the bytes are not what it makes.
    pub(crate) fn decode(
        &self,
        mask: u32,
        stored: &[u8],
        out: &mut Vec<u8>,
        len: usize,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let mut codecs = Vec::with_capacity(self.0.len());
        for (index, step) in self.0.iter().enumerate() {
            if u32::try_from(index).is_ok_and(|index| mask.checked_shr(index).unwrap_or(0) & 1 == 1) {
                continue;
            }
            match step {
                Step::Codec(codec) => codecs.push(codec.clone()),
                Step::Nothing => {}
                Step::Broken(kind, detail) => return Err(Error::new(*kind, detail.clone())),
                Step::Other(name) => return Err(Error::unsupported(format!("filter {name}"))),
            }
        }
        check_size(&codecs, stored, len)?;
        out.clear();
        out.resize(len, 0);
        decode(&codecs, stored, out, scratch)
    }
}

/// What people know a filter by.
fn name(id: u16, filter: &Filter) -> String {
    let own =
        String::from_utf8_lossy(filter.name.split(|byte| *byte == 0).next().unwrap_or_default()).into_owned();
    match (registered_name(id), own.is_empty()) {
        (Some(name), _) => format!("{id} ({name})"),
        (None, false) => format!("{id} ({own})"),
        (None, true) => id.to_string(),
    }
}
