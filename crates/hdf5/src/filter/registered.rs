//! The filters of libhdf5 and those registered with The HDF Group.
//!
//! Spec: HDF5 Registered Filter Plugins

use super::{
    BITGROOM, BITSHUFFLE, BLOSC, BLOSC2, BZIP2, DEFLATE, FLETCHER32, GRANULAR_BITROUND, LZ4, LZF, NBIT,
    SCALEOFFSET, SHUFFLE, SNAPPY, SZIP, ZFP, ZSTD, bitshuffle, blosc, nbit, scale_offset, szip, zfp,
};
use hyperslab_codec::{Bzip2, Codec, Deflate, Fletcher32, Lz4Hdf5, Lzf, Shuffle, Snappy, Zstd};
use hyperslab_core::Result;

/// A registered filter.
pub(super) struct Registered {
    pub(super) id: u16,
    /// The name in the registry.
    pub(super) registered_name: &'static str,
    /// The name that other formats also use.
    pub(super) name: &'static str,
    pub(super) reading: Reading,
}

/// How bytes that passed the filter are decoded.
#[derive(Clone, Copy)]
pub(super) enum Reading {
    /// By the codec for these client data and this element size in bytes; `None` if it changes nothing.
    Codec(fn(&[u32], usize) -> Result<Option<Codec>>),
    /// Not at all: the filter only rounds values when they are written.
    Nothing,
    /// This crate has no decoder.
    Unknown,
}

pub(super) const REGISTERED: &[Registered] = &[
    read(DEFLATE, "deflate", "deflate", |client_data, _| {
        let level = first(client_data).and_then(|level| u8::try_from(level).ok()).unwrap_or(6);
        Ok(Some(Deflate { level }.into()))
    }),
    read(SHUFFLE, "shuffle", "shuffle", |client_data, element_size| {
        let element = first(client_data).and_then(|size| usize::try_from(size).ok());
        Ok(Some(Shuffle { element: element.unwrap_or(element_size) }.into()))
    }),
    read(FLETCHER32, "fletcher32", "fletcher32", |_, _| Ok(Some(Fletcher32.into()))),
    read(SZIP, "szip", "szip", |client_data, _| szip::decode(client_data)),
    read(NBIT, "nbit", "nbit", |client_data, _| nbit::decode(client_data)),
    read(SCALEOFFSET, "scaleoffset", "scaleoffset", |client_data, _| scale_offset::decode(client_data)),
    unknown(257, "hzip", "hzip"),
    unknown(258, "fpzip", "fpzip"),
    unknown(305, "LZO", "lzo"),
    read(BZIP2, "BZIP2", "bzip2", |client_data, _| {
        let level = first(client_data).and_then(|level| u8::try_from(level).ok()).unwrap_or(9);
        Ok(Some(Bzip2 { level }.into()))
    }),
    read(LZF, "LZF", "lzf", |_, _| Ok(Some(Lzf.into()))),
    read(BLOSC, "BLOSC", "blosc", blosc::decode),
    unknown(32002, "MAFISC", "mafisc"),
    read(SNAPPY, "Snappy", "snappy", |_, _| Ok(Some(Snappy.into()))),
    read(LZ4, "LZ4", "lz4", |client_data, _| {
        Ok(Some(Lz4Hdf5 { block: first(client_data).unwrap_or(0) }.into()))
    }),
    unknown(32005, "APAX", "apax"),
    unknown(32006, "CBF", "cbf"),
    unknown(32007, "JPEG-XR", "jpegxr"),
    read(BITSHUFFLE, "bitshuffle", "bitshuffle", bitshuffle::decode),
    unknown(32009, "SPDP", "spdp"),
    unknown(32010, "LPC-Rice", "lpcrice"),
    unknown(32011, "CCSDS-123", "ccsds123"),
    unknown(32012, "JPEG-LS", "jpegls"),
    read(ZFP, "zfp", "zfp", |client_data, _| zfp::decode(client_data)),
    unknown(32014, "fpzip", "fpzip"),
    read(ZSTD, "Zstandard", "zstd", |client_data, _| {
        let level = first(client_data).map_or(3, u32::cast_signed);
        Ok(Some(Zstd { level, checksum: false }.into()))
    }),
    unknown(32016, "B³D", "b3d"),
    unknown(32017, "SZ", "sz"),
    unknown(32018, "FCIDECOMP", "fcidecomp"),
    unknown(32019, "JPEG", "jpeg"),
    unknown(32020, "VBZ", "vbz"),
    unknown(32021, "FAPEC", "fapec"),
    Registered { id: BITGROOM, registered_name: "BitGroom", name: "bitgroom", reading: Reading::Nothing },
    Registered {
        id: GRANULAR_BITROUND,
        registered_name: "Granular BitRound (GBR)",
        name: "granularbitround",
        reading: Reading::Nothing,
    },
    unknown(32024, "SZ3", "sz3"),
    unknown(32025, "Delta-Rice", "deltarice"),
    read(BLOSC2, "BLOSC2", "blosc2", blosc::decode_second),
    unknown(32027, "FLAC", "flac"),
    unknown(32028, "H5Z-SPERR", "sperr"),
    unknown(32029, "TERSE/PROLIX", "terse"),
    unknown(32030, "FFMPEG", "ffmpeg"),
];

const fn read(
    id: u16,
    registered_name: &'static str,
    name: &'static str,
    codec: fn(&[u32], usize) -> Result<Option<Codec>>,
) -> Registered {
    Registered { id, registered_name, name, reading: Reading::Codec(codec) }
}

const fn unknown(id: u16, registered_name: &'static str, name: &'static str) -> Registered {
    Registered { id, registered_name, name, reading: Reading::Unknown }
}

fn first(client_data: &[u32]) -> Option<u32> {
    client_data.first().copied()
}
