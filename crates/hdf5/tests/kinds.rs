//! Number types and superblocks that are rare in practice.

use crate::{bytes, dataset, integers, open, open_bytes, read, with_byte};
use hyperslab_hdf5::element::FloatKind;
use hyperslab_hdf5::format::checksum::lookup3;
use hyperslab_hdf5::format::message::datatype::DatatypeClass;

#[test]
fn small_floats_keep_their_bits() {
    let file = open("data/kinds.h5");
    for name in ["fp8_e4m3", "fp8_e5m2", "fp6_e2m3", "fp6_e3m2", "fp4_e2m1"] {
        let datatype = dataset(&file, name).datatype().clone();
        let DatatypeClass::FloatingPoint(class) = &datatype.class else { panic!("{datatype:?}") };
        assert_eq!(FloatKind::of(class, datatype.size), FloatKind::Other, "{name}");
        assert_eq!(read(&file, name).unwrap().rows, (0..16).collect::<Vec<u8>>(), "{name}");
    }
    let datatype = dataset(&file, "bfloat16").datatype().clone();
    let DatatypeClass::FloatingPoint(class) = &datatype.class else { panic!("{datatype:?}") };
    assert_eq!(FloatKind::of(class, datatype.size), FloatKind::BFloat);
    // A bfloat16 is the upper half of a single-precision number.
    let want =
        [1.5_f32, -2.25, 1e10].map(|value| u16::try_from(value.to_bits() >> 16).unwrap().to_ne_bytes());
    assert_eq!(read(&file, "bfloat16").unwrap().rows, want.concat());
}

#[test]
fn reads_floats_in_vax_byte_order() {
    // libhdf5 writes this byte order in datatype messages of version 1, but does not read it from them.
    let mut whole = bytes("data/kinds.h5");
    let datatypes: Vec<usize> = whole
        .windows(3)
        .enumerate()
        .filter(|(_, bytes)| *bytes == [0x11, 0x61, 0x1f] || *bytes == [0x11, 0x61, 0x3f])
        .map(|(at, _)| at)
        .collect();
    assert_eq!(datatypes.len(), 2);
    let as_written = open_bytes(whole.clone()).unwrap();
    assert_ne!(
        read(&as_written, "vax_f").unwrap().rows,
        [1.5_f32, -2.25, 1e10].map(f32::to_ne_bytes).concat()
    );
    for at in datatypes {
        whole = with_byte(whole, at, 0x31);
    }
    let file = open_bytes(whole).unwrap();
    let singles = [1.5_f32, -2.25, 1e10].map(f32::to_ne_bytes).concat();
    assert_eq!(read(&file, "vax_f").unwrap().rows, singles);
    assert_eq!(read(&file, "vax_g").unwrap().rows, [1.5_f64, -2.25, 1e10].map(f64::to_ne_bytes).concat());
}

#[test]
fn a_version_1_superblock_has_the_k_of_chunk_indexes() {
    let file = open("data/chunk_k.h5");
    assert_eq!(file.superblock().version_number(), 1);
    assert_eq!(integers(&read(&file, "x").unwrap().rows, 2), (0..100).collect::<Vec<_>>());
}

#[test]
fn a_file_that_was_not_closed_is_read_with_a_warning() {
    let whole = bytes("data/cache_image.h5");
    assert!(open_bytes(whole.clone()).unwrap().warnings().is_empty());
    assert_eq!(whole[8], 3, "the version of the superblock");
    for (flags, words) in [(1, "did not close it: parts"), (5, "SWMR")] {
        let mut left = whole.clone();
        left[11] = flags;
        let sum = lookup3(&left[..44]);
        left[44..48].copy_from_slice(&sum.to_le_bytes());
        let file = open_bytes(left).unwrap();
        let [warning] = file.warnings().try_into().unwrap();
        assert!(warning.contains(words), "{warning}");
        assert!(file.root().is_ok());
    }
}

#[test]
fn a_truncated_file_is_opened_with_a_warning() {
    let mut cut = bytes("data/chunk_k.h5");
    cut.truncate(cut.len() - 100);
    let warnings = open_bytes(cut).unwrap().warnings();
    assert!(warnings.iter().any(|warning| warning.contains("truncated")), "{warnings:?}");
}
