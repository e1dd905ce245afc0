#![doc = include_str!("../README.md")]
//! ## Contents
//!
//! Compression codecs and filters of stored bytes. Each has its own file and the name of its registry; [`Codec`]
//! lists them.
//!
//! Encoding applies a list of codecs to a chunk, first to last; decoding undoes the same list from last to first.
//! This crate knows no file format and no file offset: callers add the place to errors.

mod as_type;
mod back_reference;
mod base64;
mod bit_round;
mod bits;
mod bitshuffle;
mod blosc;
mod blosc2;
mod bzip2;
mod checksum;
mod codec;
mod coders;
mod deflate;
mod delta;
mod fidelity;
mod fixed_scale_offset;
mod fletcher32;
mod gzip;
mod lz4;
mod lzf;
mod lzma;
mod nbit;
mod number;
mod pack_bits;
mod pcodec;
mod pipeline;
mod quantize;
mod scale_offset;
mod shuffle;
mod snappy;
mod spared;
mod szip;
pub mod vocabulary;
mod zfp;
mod zstd;

pub use as_type::AsType;
pub use base64::Base64;
pub use bit_round::BitRound;
pub use bitshuffle::{Bitshuffle, BitshuffleCodec};
pub use blosc::{Blosc, BloscCodec, BloscShuffle};
pub use blosc2::Blosc2;
pub use bzip2::Bzip2;
pub use checksum::{Checksum, ChecksumAlgorithm, crc32c, lookup3};
pub use codec::Codec;
pub use deflate::Deflate;
pub use delta::Delta;
pub use fidelity::Fidelity;
pub use fixed_scale_offset::FixedScaleOffset;
pub use fletcher32::{Fletcher32, fletcher32};
pub use gzip::Gzip;
pub use lz4::{Lz4Block, Lz4Hdf5, Lz4Numcodecs};
pub use lzf::Lzf;
pub use lzma::{Lzma, LzmaBranches, LzmaCheck, LzmaCoder, LzmaContainer, LzmaFilter, LzmaParameters};
pub use nbit::{Nbit, NbitAtomic, NbitType};
pub use number::{Number, NumberKind};
pub use pack_bits::PackBits;
pub use pcodec::{Pcodec, PcodecDelta, PcodecMode, PcodecSettings};
pub use pipeline::{
    Blocks, Buffers, Scratch, check_size, cut, declares_size, decode, decode_within, encode, encode_to,
    max_size_after,
};
pub use quantize::Quantize;
pub use scale_offset::{ScaleOffset, ScaleOffsetNumber};
pub use shuffle::Shuffle;
pub use snappy::Snappy;
pub use szip::Szip;
pub use vocabulary::{Elements, Named};
pub use zfp::{Zfp, ZfpMode, ZfpNumber, ZfpStream};
pub use zstd::Zstd;
