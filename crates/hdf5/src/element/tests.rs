//! Elements that the reference library wrote.

use super::*;
use crate::format::message::datatype::{Array, DatatypeClass};
use crate::format::{Address, Structure};
use bytes::Bytes;
use hyperslab_core::nd::{Region, Selection};
use hyperslab_core::rows::Slot;
use hyperslab_core::{Decoder, ErrorKind, Limits};

const CASES: &str = include_str!("../../tests/golden/element_cases.txt");

struct Case {
    datatype: Datatype,
    data: Vec<u8>,
}

fn case(name: &str) -> Case {
    let line = CASES.lines().find(|line| line.split(' ').next() == Some(name)).unwrap();
    let [_, datatype, data] = line.split(' ').collect::<Vec<_>>().try_into().unwrap();
    let mut datatype = hex(datatype);
    // Messages are padded.
    datatype.extend([0; 8]);
    let datatype = Datatype::decode(&mut Decoder::new("t", 0, &datatype), &Sizes::DEFAULT).unwrap();
    Case { datatype, data: hex(data) }
}

fn hex(digits: &str) -> Vec<u8> {
    digits
        .as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

/// Addresses and bytes of the target of references and of the global heap.
fn pieces() -> Vec<(u64, Vec<u8>)> {
    let lines = CASES.lines().filter_map(|line| line.strip_prefix("at 0x")?.split_once(' '));
    lines.map(|(address, bytes)| (u64::from_str_radix(address, 16).unwrap(), hex(bytes))).collect()
}

fn target() -> Address {
    Address(pieces()[0].0)
}

/// A file of these pieces and nothing else.
fn reader(limits: Limits) -> Reader {
    let mut image = vec![0; 0x8000];
    for (address, bytes) in pieces() {
        let address = usize::try_from(address).unwrap();
        image[address..address + bytes.len()].copy_from_slice(&bytes);
    }
    Reader::new(Box::new(Bytes::from(image)), 0, Sizes::DEFAULT, limits)
}

fn converted_with(case: &Case, limits: Limits) -> Result<(Vec<u8>, Heap<Reference>)> {
    let converter = Converter::new(&case.datatype, &Sizes::DEFAULT)?;
    let count = case.data.len() / converter.stored_size();
    let mut rows = vec![0xaa; count * converter.row_size()];
    let mut heap = Heap::default();
    converter.convert(&reader(limits), &case.data, &mut rows, &mut heap)?;
    Ok((rows, heap))
}

fn rows(name: &str) -> Vec<u8> {
    let (rows, heap) = converted_with(&case(name), Limits::default()).unwrap();
    assert!(heap.buffers.is_empty() && heap.references.is_empty());
    rows
}

fn is_identity(name: &str) -> bool {
    Converter::new(&case(name).datatype, &Sizes::DEFAULT).unwrap().is_identity()
}

/// Rows of native numbers.
macro_rules! native {
    ($($number:expr),* $(,)?) => { [$(&$number.to_ne_bytes()[..]),*].concat() };
}

#[test]
fn numbers_come_out_native() {
    assert_eq!(rows("i4be"), native![1_i32, -2_i32, 0x0102_0304_i32]);
    assert_eq!(rows("u2be"), native![1_u16, 0xfffe_u16]);
    assert_eq!(rows("i8be"), native![1_i64, -2_i64]);
    assert_eq!(rows("i2le"), native![1_i16, -2_i16]);
    assert_eq!(rows("f2be"), native![0x3e00_u16, 0xc000_u16]);
    assert_eq!(rows("f8be"), native![1.5_f64, -1e300_f64]);
    assert_eq!(rows("f4le"), native![1.5_f32, -2_f32]);
    assert_eq!(rows("bfloat16"), native![0x3fc0_u16, 0xc000_u16]);
    assert_eq!(rows("enumeration"), native![1_i16, -2_i16]);
    assert_eq!(rows("complex"), native![1_f32, 2_f32, -3.5_f32, 0_f32]);
    assert_eq!(rows("array"), native![0_i16, 1_i16, 2_i16, 3_i16, 4_i16, 5_i16]);
}

#[test]
fn numbers_of_odd_layouts_become_rows_of_their_size() {
    assert_eq!(rows("i12"), native![1_i32, -2_i32, 2047_i32, -2048_i32]);
    assert_eq!(rows("u20be"), native![1_u32, 0xf_ffff_u32]);
    assert_eq!(rows("i3"), native![1_i32, -2_i32, 8_388_607_i32]);
    assert_eq!(rows("bits"), [0x55, 1, 0xaa, 0]);
    assert_eq!(rows("vax"), [0x34, 0x12, 0, 0, 0, 0, 0x18, 0x40]);
}

#[test]
fn what_is_a_row_already_is_copied() {
    assert_eq!(rows("text"), b"ab\0\0\0abcde");
    assert_eq!(rows("opaque"), [1, 2, 3, 4, 5, 6]);
    assert!(is_identity("text") && is_identity("opaque"));
    assert_eq!(is_identity("i2le"), cfg!(target_endian = "little"));
    assert_eq!(is_identity("i4be"), cfg!(target_endian = "big"));
}

#[test]
fn compounds_are_packed_in_the_order_of_their_members() {
    let want =
        [native![1_i16, 2_i32, 3_i32, 4.5_f32, 5_i8], native![-1_i16, -2_i32, -3_i32, -4.5_f32, -5_i8]];
    assert_eq!(rows("compound"), want.concat());
    assert_eq!(rows("compounds"), native![1_i8, 2_i16, 3_i8, 4_i16]);
}

#[test]
fn strings_and_sequences_are_slots() {
    let (rows, heap) = converted_with(&case("strings"), Limits::default()).unwrap();
    let texts: Vec<_> = rows
        .chunks_exact(Slot::SIZE)
        .map(|row| Slot::get(row).unwrap())
        .map(|slot| heap.bytes(slot, usize::try_from(slot.count).unwrap()).unwrap())
        .collect();
    assert_eq!(texts, ["one".as_bytes(), b"", "drei ä".as_bytes()]);

    for (name, size) in [("sequences", 4), ("sequences_be", 2)] {
        let (rows, heap) = converted_with(&case(name), Limits::default()).unwrap();
        let slots: Vec<_> = rows.chunks_exact(Slot::SIZE).map(|row| Slot::get(row).unwrap()).collect();
        assert_eq!(slots.first().unwrap().count, 3);
        assert_eq!(slots.last().unwrap().count, 1);
        let of = |slot: &Slot| heap.bytes(*slot, usize::try_from(slot.count).unwrap() * size).unwrap();
        let (first, last) = (of(&slots[0]), of(slots.last().unwrap()));
        match size {
            4 => assert_eq!((first, last), (&native![1_i32, 2_i32, 3_i32][..], &native![-1_i32][..])),
            _ => assert_eq!((first, last), (&native![1_i16, 2_i16, 3_i16][..], &native![-1_i16][..])),
        }
    }
}

#[test]
fn sequences_may_hold_compounds_of_sequences_of_texts() {
    let (rows, heap) = converted_with(&case("nested"), Limits::default()).unwrap();
    let (first, second) = (Slot::get(&rows).unwrap(), Slot::get(&rows[Slot::SIZE..]).unwrap());
    assert_eq!((first.count, second), (2, Slot::default()));
    let items = heap.bytes(first, 2 * 20).unwrap();
    assert_eq!((&items[..4], &items[20..24]), (&7_i32.to_ne_bytes()[..], &(-8_i32).to_ne_bytes()[..]));
    let texts = Slot::get(&items[4..]).unwrap();
    let texts = heap.bytes(texts, 2 * Slot::SIZE).unwrap();
    let text = |row: &[u8]| {
        let slot = Slot::get(row).unwrap();
        heap.bytes(slot, usize::try_from(slot.count).unwrap()).unwrap().to_vec()
    };
    assert_eq!((text(texts), text(&texts[Slot::SIZE..])), (b"a".to_vec(), b"bc".to_vec()));
    assert_eq!(Slot::get(&items[24..]).unwrap(), Slot::default());
}

fn references(name: &str) -> Vec<Reference> {
    let (rows, heap) = converted_with(&case(name), Limits::default()).unwrap();
    rows.chunks_exact(Slot::SIZE)
        .map(|row| heap.reference(Slot::get(row).unwrap()).unwrap().clone())
        .collect()
}

#[test]
fn references_of_all_forms_are_told() {
    assert_eq!(references("objects"), [Reference::Object(target()), Reference::Null]);
    let region = Selection::Region(Region::new(vec![0, 1], vec![2, 2]));
    assert_eq!(references("regions"), [Reference::Region(target(), region), Reference::Null]);
    let points = Selection::Points { rank: 2, coordinates: vec![1, 2, 0, 0] };
    let there = Reference::Object(Address(0x320));
    assert_eq!(
        references("revised"),
        [
            Reference::Object(target()),
            Reference::Region(target(), points),
            Reference::Attribute(target(), b"units".to_vec()),
            Reference::Null,
            Reference::External { file: b"other.h5".to_vec(), target: Box::new(there) },
            // The rows from 1 on of two.
            Reference::Region(target(), Selection::Region(Region::new(vec![1, 0], vec![1, 2]))),
        ]
    );
}

#[test]
fn lengths_beyond_the_heap_object_are_errors_not_allocations() {
    for name in ["strings", "sequences", "sequences_be", "nested"] {
        let mut case = case(name);
        case.data[..4].fill(0xff);
        let e = converted_with(&case, Limits::default()).unwrap_err();
        assert_eq!((e.kind(), e.place().unwrap().offset), (ErrorKind::Malformed, pieces()[1].0), "{e}");
    }
}

#[test]
fn missing_heap_objects_are_errors() {
    for name in ["strings", "regions"] {
        let mut case = case(name);
        let index = if name == "strings" { 12 } else { 8 };
        case.data[index] = 0xee;
        assert_eq!(converted_with(&case, Limits::default()).unwrap_err().kind(), ErrorKind::Malformed);
    }
}

#[test]
fn one_object_named_often_is_bounded_by_the_budget() {
    let mut case = case("sequences_be");
    case.data = case.data[..16].repeat(1 << 16);
    let limits = Limits { allocation: 1 << 18, ..Limits::default() };
    let e = converted_with(&case, limits).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::LimitExceeded);
    assert!(converted_with(&case, Limits::default()).is_ok());
}

#[test]
fn refuses_elements_and_rows_that_do_not_go_together() {
    let converter = Converter::new(&case("i3").datatype, &Sizes::DEFAULT).unwrap();
    let reader = reader(Limits::default());
    let mut heap = Heap::default();
    for (stored, row) in [(4, 4), (3, 8), (6, 4), (0, 4)] {
        let e = converter.convert(&reader, &vec![0; stored], &mut vec![0; row], &mut heap).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::InvalidArgument);
    }
    converter.convert(&reader, &[], &mut [], &mut heap).unwrap();
}

#[test]
fn types_without_rows_are_refused() {
    let refused = |name: &str, change: &dyn Fn(&mut Datatype)| {
        let mut datatype = case(name).datatype;
        change(&mut datatype);
        Converter::new(&datatype, &Sizes::DEFAULT).err().unwrap().kind()
    };
    assert_eq!(refused("i4be", &|datatype| datatype.size = 17), ErrorKind::Unsupported);
    assert_eq!(refused("vax", &|datatype| datatype.size = 7), ErrorKind::Malformed);
    for name in ["strings", "sequences", "objects", "regions", "revised"] {
        assert_eq!(refused(name, &|datatype| datatype.size = 7), ErrorKind::Malformed, "{name}");
    }
    for name in ["array", "complex", "compound"] {
        assert_eq!(refused(name, &|datatype| datatype.size -= 1), ErrorKind::Malformed, "{name}");
    }
    let deep = |datatype: &mut Datatype| {
        for _ in 0..40 {
            let base = Box::new(datatype.clone());
            datatype.class = DatatypeClass::Array(Array { dimensions: vec![1], base });
        }
    };
    assert_eq!(refused("i4be", &deep), ErrorKind::LimitExceeded);
}

#[test]
fn addresses_of_4_bytes_make_shorter_elements() {
    let sizes = Sizes { offsets: 4, lengths: 4 };
    let mut datatype = case("strings").datatype;
    datatype.size = 12;
    let converter = Converter::new(&datatype, &sizes).unwrap();
    // A collection of 64 bytes at 16 with the object 1.
    let image = [
        &[0; 16][..],
        b"GCOL\x01\0\0\0\x40\0\0\0\0\0\0\0",
        &[1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0],
        b"ab",
        &[0; 64],
    ];
    let reader = Reader::new(Box::new(Bytes::from(image.concat())), 0, sizes, Limits::default());
    let (mut rows, mut heap) = ([0; Slot::SIZE], Heap::default());
    converter.convert(&reader, &[2, 0, 0, 0, 16, 0, 0, 0, 1, 0, 0, 0], &mut rows, &mut heap).unwrap();
    assert_eq!(heap.bytes(Slot::get(&rows).unwrap(), 2).unwrap(), b"ab");
}

#[test]
fn random_elements_never_panic() {
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    for line in CASES.lines().filter(|line| !line.starts_with("at ")) {
        let mut case = case(line.split(' ').next().unwrap());
        for at in 0..case.data.len() {
            for _ in 0..4 {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                let kept = std::mem::replace(&mut case.data[at], random.to_le_bytes()[0]);
                let _ = converted_with(&case, Limits::default());
                case.data[at] = kept;
            }
        }
    }
}
