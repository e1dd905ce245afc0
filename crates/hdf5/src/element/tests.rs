//! Elements that libhdf5 wrote.

use super::*;
use crate::format::message::datatype::{Array, ByteOrder, DatatypeClass};
use crate::format::{Address, Structure};
use crate::write::{HeapObjects, Ranks, RelocatableHeap};
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

/// Addresses and bytes of referenced objects and of the global heap.
fn pieces() -> Vec<(u64, Vec<u8>)> {
    let lines = CASES.lines().filter_map(|line| line.strip_prefix("at 0x")?.split_once(' '));
    lines.map(|(address, bytes)| (u64::from_str_radix(address, 16).unwrap(), hex(bytes))).collect()
}

fn target() -> Address {
    Address(pieces()[0].0)
}

/// A file with only these bytes.
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
fn numbers_become_native_rows() {
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
fn numbers_of_unusual_layouts_become_rows_of_their_size() {
    assert_eq!(rows("i12"), native![1_i32, -2_i32, 2047_i32, -2048_i32]);
    assert_eq!(rows("u20be"), native![1_u32, 0xf_ffff_u32]);
    assert_eq!(rows("i3"), native![1_i32, -2_i32, 8_388_607_i32]);
    assert_eq!(rows("bits"), [0x55, 1, 0xaa, 0]);
    assert_eq!(rows("vax"), [0x34, 0x12, 0, 0, 0, 0, 0x18, 0x40]);
}

#[test]
fn elements_that_equal_rows_are_copied() {
    assert_eq!(rows("text"), b"ab\0\0\0abcde");
    assert_eq!(rows("opaque"), [1, 2, 3, 4, 5, 6]);
    assert!(is_identity("text") && is_identity("opaque"));
    assert_eq!(is_identity("i2le"), cfg!(target_endian = "little"));
    assert_eq!(is_identity("i4be"), cfg!(target_endian = "big"));
}

#[test]
fn compounds_become_packed_rows_in_member_order() {
    let want =
        [native![1_i16, 2_i32, 3_i32, 4.5_f32, 5_i8], native![-1_i16, -2_i32, -3_i32, -4.5_f32, -5_i8]];
    assert_eq!(rows("compound"), want.concat());
    assert_eq!(rows("compounds"), native![1_i8, 2_i16, 3_i8, 4_i16]);
}

#[test]
fn strings_and_sequences_become_slots() {
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
fn reads_sequences_of_compounds_of_sequences_of_texts() {
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
fn decodes_references_of_all_forms() {
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
            // Rows from index 1 on, of two.
            Reference::Region(target(), Selection::Region(Region::new(vec![1, 0], vec![1, 2]))),
        ]
    );
}

#[test]
fn rejects_lengths_beyond_the_heap_object_before_allocating() {
    for name in ["strings", "sequences", "sequences_be", "nested"] {
        let mut case = case(name);
        case.data[..4].fill(0xff);
        let e = converted_with(&case, Limits::default()).unwrap_err();
        assert_eq!((e.kind(), e.place().unwrap().offset), (ErrorKind::Malformed, pieces()[1].0), "{e}");
    }
}

#[test]
fn rejects_missing_heap_objects() {
    for name in ["strings", "regions"] {
        let mut case = case(name);
        let index = if name == "strings" { 12 } else { 8 };
        case.data[index] = 0xee;
        assert_eq!(converted_with(&case, Limits::default()).unwrap_err().kind(), ErrorKind::Malformed);
    }
}

#[test]
fn the_budget_limits_repeated_references_to_one_object() {
    let mut case = case("sequences_be");
    case.data = case.data[..16].repeat(1 << 16);
    let limits = Limits { allocation: 1 << 18, ..Limits::default() };
    let e = converted_with(&case, limits).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::LimitExceeded);
    assert!(converted_with(&case, Limits::default()).is_ok());
}

#[test]
fn rejects_different_numbers_of_elements_and_rows() {
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
fn rejects_types_without_rows() {
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
fn addresses_of_4_bytes_give_shorter_elements() {
    let sizes = Sizes { offsets: 4, lengths: 4 };
    let mut datatype = case("strings").datatype;
    datatype.size = 12;
    let converter = Converter::new(&datatype, &sizes).unwrap();
    // A collection of 64 bytes at address 16 with object 1.
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

/// The objects of a global heap with one collection, at address 16 of a file.
#[derive(Default)]
struct Objects(Vec<Vec<u8>>);

impl GlobalHeapObjects for Objects {
    fn put(&mut self, object: &[u8]) -> Result<GlobalHeapId> {
        self.0.push(object.to_vec());
        Ok(GlobalHeapId { collection: Address(COLLECTION), index: u32::try_from(self.0.len()).unwrap() })
    }

    fn rank(&mut self, _: Address) -> Result<u32> {
        Ok(2)
    }
}

const COLLECTION: u64 = 0x4000;

impl Objects {
    /// A reader of the test file with this collection added.
    fn reader(&self) -> Reader {
        let mut objects = Vec::new();
        for (index, object) in self.0.iter().enumerate() {
            objects.extend_from_slice(&u16::try_from(index + 1).unwrap().to_le_bytes());
            objects.extend_from_slice(&[0; 6]);
            objects.extend_from_slice(&(object.len() as u64).to_le_bytes());
            objects.extend_from_slice(object);
            objects.resize(objects.len().next_multiple_of(8), 0);
        }
        let size = (objects.len() + 16).max(4096);
        let mut collection = b"GCOL\x01\0\0\0".to_vec();
        collection.extend_from_slice(&(size as u64).to_le_bytes());
        collection.extend_from_slice(&objects);
        collection.resize(size, 0);
        reader_with(&collection)
    }
}

/// A reader of the test file with these bytes from `COLLECTION`.
fn reader_with(collections: &[u8]) -> Reader {
    let mut image = vec![0; usize::try_from(COLLECTION).unwrap()];
    for (address, bytes) in pieces() {
        let address = usize::try_from(address).unwrap();
        image[address..address + bytes.len()].copy_from_slice(&bytes);
    }
    image.extend_from_slice(collections);
    Reader::new(Box::new(Bytes::from(image)), 0, Sizes::DEFAULT, Limits::default())
}

/// Encodes rows with heap objects whose place becomes known later.
fn relocated(converter: &Converter, rows: &[u8], heap: &Heap<Reference>, stored: &mut [u8]) -> Reader {
    let mut objects = RelocatableHeap::new(Sizes::DEFAULT);
    let mut target = HeapObjects { put: &mut |object| objects.put(object), ranks: &Ranks::default() };
    converter.store(rows, heap, stored, &mut target).unwrap();
    let mut end = COLLECTION;
    let addresses: Vec<_> = objects
        .collection_sizes()
        .map(|size| {
            end += size;
            Address(end - size)
        })
        .collect();
    let elements = converter.heap_elements().unwrap();
    reader_with(&objects.place(&addresses, &elements, stored).unwrap().concat())
}

/// A text of the values in rows, independent of their places in the heap.
fn meant(datatype: &Datatype, rows: &[u8], heap: &Heap<Reference>) -> String {
    let program = Program::compile(datatype, &Sizes::DEFAULT).unwrap();
    fn items(program: &Program, rows: &[u8], heap: &Heap<Reference>) -> String {
        let told = |row: &[u8]| match &program.op {
            program::Op::VariableLength(_, variable) => {
                let slot = Slot::get(row).unwrap();
                let count = usize::try_from(slot.count).unwrap();
                match variable {
                    variable_length::Variable::Characters(_) => {
                        format!("{:?}", heap.bytes(slot, count).unwrap())
                    }
                    variable_length::Variable::Elements(inner) => {
                        items(inner, heap.bytes(slot, count * inner.row).unwrap(), heap)
                    }
                }
            }
            program::Op::Reference(..) => format!("{:?}", heap.reference(Slot::get(row).unwrap()).unwrap()),
            program::Op::Compound { members, .. } => {
                let member = |member: &program::Member| {
                    items(&member.program, &row[member.to..member.to + member.program.row], heap)
                };
                members.iter().map(member).collect()
            }
            _ => format!("{row:?}"),
        };
        let row = match &program.op {
            program::Op::VariableLength(..) | program::Op::Reference(..) => Slot::SIZE,
            program::Op::Compound { row, .. } => *row,
            _ => program.row,
        };
        format!("[{}]", rows.chunks(row).map(told).collect::<Vec<_>>().join(", "))
    }
    items(&program, rows, heap)
}

/// Elements of libhdf5 are decoded, encoded, and decoded again.
#[test]
fn round_trips_elements_of_every_class() {
    let mut exact = Vec::new();
    for line in CASES.lines().filter(|line| !line.starts_with("at ")) {
        let name = line.split(' ').next().unwrap();
        let case = case(name);
        let (rows, heap) = converted_with(&case, Limits::default()).unwrap();
        let converter = Converter::new(&case.datatype, &Sizes::DEFAULT).unwrap();
        let (mut stored, mut objects) = (vec![0xaa; case.data.len()], Objects::default());
        converter.store(&rows, &heap, &mut stored, &mut objects).unwrap_or_else(|e| panic!("{name}: {e}"));
        let (mut again, mut other) = (vec![0xaa; rows.len()], Heap::default());
        converter.convert(&objects.reader(), &stored, &mut again, &mut other).unwrap();
        let datatype = &case.datatype;
        assert_eq!(meant(datatype, &again, &other), meant(datatype, &rows, &heap), "{name}");
        assert_eq!(converter.heap_elements().is_none(), objects.0.is_empty(), "{name}");
        if !objects.0.is_empty() {
            let reader = relocated(&converter, &rows, &heap, &mut stored);
            let (mut again, mut other) = (vec![0xaa; rows.len()], Heap::default());
            converter.convert(&reader, &stored, &mut again, &mut other).unwrap();
            assert_eq!(meant(datatype, &again, &other), meant(datatype, &rows, &heap), "{name}");
        }
        if objects.0.is_empty() {
            exact.push((name, stored == case.data));
        }
    }
    // Gaps of compounds hold arbitrary memory of the writer; some unused bits are 0.
    let differ: Vec<_> = exact.iter().filter(|(_, same)| !same).map(|(name, _)| *name).collect();
    assert!(exact.len() >= 20 && differ.iter().all(|name| name.starts_with("compound")), "{differ:?}");
}

#[test]
fn round_trips_integers_of_any_precision() {
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    let mut datatype = case("i12").datatype;
    for _ in 0..2000 {
        let size = 1 + next() % 16;
        let precision = 1 + next() % (8 * size);
        let offset = next() % (8 * size - precision + 1);
        let (signed, big) = (next() % 2 == 0, next() % 2 == 0);
        let DatatypeClass::FixedPoint(class) = &mut datatype.class else {
            panic!("expected i12 to be an integer")
        };
        class.bit_precision = u16::try_from(precision).unwrap();
        class.bit_offset = u16::try_from(offset).unwrap();
        class.signed = signed;
        class.byte_order = if big { ByteOrder::BigEndian } else { ByteOrder::LittleEndian };
        (class.low_padding, class.high_padding) = (next() % 2 == 0, next() % 2 == 0);
        datatype.size = u32::try_from(size).unwrap();
        let stored: Vec<u8> = (0..4 * size).map(|_| next().to_le_bytes()[0]).collect();
        let converter = Converter::new(&datatype, &Sizes::DEFAULT).unwrap();
        let case = Case { datatype: datatype.clone(), data: stored.clone() };
        let (rows, heap) = converted_with(&case, Limits::default()).unwrap();
        let (mut own, mut objects) = (vec![0; stored.len()], Objects::default());
        converter.store(&rows, &heap, &mut own, &mut objects).unwrap();
        let (again, _) = converted_with(&Case { data: own, ..case }, Limits::default()).unwrap();
        assert_eq!(again, rows, "{datatype:?}");
    }
}

#[test]
fn round_trips_references_of_every_kind() {
    let datatype = case("revised").datatype;
    let converter = Converter::new(&datatype, &Sizes::DEFAULT).unwrap();
    let far = Region { start: vec![1 << 40, 0], count: vec![2, 3], step: vec![1, 1] };
    let apart = Region { start: vec![3, 0], count: vec![2, 3], step: vec![5, 2] };
    let boxes = vec![Region::new(vec![0, 0], vec![1, 2]), Region::new(vec![5, 5], vec![2, 1])];
    let selections = [
        Selection::All,
        Selection::None,
        Selection::Region(far),
        Selection::Region(apart),
        Selection::Blocks(boxes),
        Selection::Points { rank: 2, coordinates: vec![1 << 40, 7] },
    ];
    let references = selections.into_iter().map(|selection| Reference::Region(target(), selection));
    let references: Vec<_> = references
        .chain([Reference::External {
            file: b"other.h5".to_vec(),
            target: Box::new(Reference::Attribute(Address(0x320), b"units".to_vec())),
        }])
        .collect();
    let mut heap = Heap::default();
    let rows: Vec<u8> = references
        .iter()
        .flat_map(|reference| heap.push_reference(reference.clone()).unwrap().to_bytes())
        .collect();
    let (mut stored, mut objects) = (vec![0xaa; references.len() * 18], Objects::default());
    converter.store(&rows, &heap, &mut stored, &mut objects).unwrap();
    let (mut again, mut other) = (vec![0; rows.len()], Heap::default());
    converter.convert(&objects.reader(), &stored, &mut again, &mut other).unwrap();
    assert_eq!(other.references, references);

    let objects1 = Converter::new(&case("objects").datatype, &Sizes::DEFAULT).unwrap();
    let e = objects1.store(&rows[..16], &heap, &mut [0; 8], &mut objects).unwrap_err();
    assert_eq!(e.to_string(), "reference of another kind, expected an object");
}

#[test]
fn rejects_slots_that_point_outside_of_the_heap() {
    let converter = Converter::new(&case("strings").datatype, &Sizes::DEFAULT).unwrap();
    let heap = Heap { buffers: vec![Bytes::from_static(b"abc")], ..Heap::default() };
    let store = |count, offset| {
        let (mut stored, mut objects) = ([0xaa; 16], Objects::default());
        let row = Slot { buffer: 0, count, offset }.to_bytes();
        converter.store(&row, &heap, &mut stored, &mut objects).map(|()| (stored, objects.0))
    };
    assert_eq!(store(2, 1).unwrap().1, [b"bc".to_vec()]);
    // An empty string has an object, wherever its slot points.
    assert_eq!(store(0, 9).unwrap().1, [Vec::new()]);
    assert!(store(3, 1).is_err() && store(1, u64::MAX).is_err() && store(u32::MAX, 0).is_err());
    assert!(converter.store(&[0; 15], &heap, &mut [0; 16], &mut Objects::default()).is_err());
}
