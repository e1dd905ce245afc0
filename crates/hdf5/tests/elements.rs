//! Elements of every datatype class.

use crate::{dataset, integers, object, open, read, read_region};
use hyperslab_core::nd::{Region, Selection};
use hyperslab_core::rows::{Rows, Slot};
use hyperslab_hdf5::Reference;
use hyperslab_hdf5::format::message::datatype::DatatypeClass;

/// The strings that slots point to.
fn texts(rows: &Rows<Reference>) -> Vec<String> {
    let text = |row: &[u8]| {
        let slot = Slot::get(row).unwrap();
        let bytes = rows.heap.bytes(slot, usize::try_from(slot.count).unwrap()).unwrap();
        String::from_utf8(bytes.to_vec()).unwrap()
    };
    rows.rows.chunks_exact(Slot::SIZE).map(text).collect()
}

fn references(rows: &Rows<Reference>) -> Vec<Reference> {
    let of = |row: &[u8]| rows.heap.reference(Slot::get(row).unwrap()).unwrap().clone();
    rows.rows.chunks_exact(Slot::SIZE).map(of).collect()
}

/// The bytes of each sequence, whose items have `size` bytes.
fn sequences(rows: &Rows<Reference>, size: usize) -> Vec<Vec<u8>> {
    let of = |row: &[u8]| {
        let slot = Slot::get(row).unwrap();
        rows.heap.bytes(slot, usize::try_from(slot.count).unwrap() * size).unwrap().to_vec()
    };
    rows.rows.chunks_exact(Slot::SIZE).map(of).collect()
}

#[test]
fn reads_integers_of_every_size_and_byte_order() {
    let file = open("datatypes.h5");
    let of = |name: &str, size| integers(&read(&file, &format!("/numbers/{name}")).unwrap().rows, size);
    assert_eq!(of("int8", 1), [-128, -1, 127]);
    assert_eq!(of("int16", 2), [-32768, -1, 32767]);
    assert_eq!(of("int64", 8), [i64::MIN, -1, i64::MAX]);
    assert_eq!(of("int32_big", 4), [-2, 70000]);
    assert_eq!(of("int12_of_16", 2), [-2048, 2047, -1]);
    assert_eq!(of("uint20_of_32_big", 4), [0xFFFFF, 5]);
    let big = open("big_endian.h5");
    for (name, size) in [("i2", 2), ("i4", 4), ("i8", 8), ("u2", 2), ("u4", 4), ("u8", 8)] {
        assert_eq!(integers(&read(&big, &format!("/{name}")).unwrap().rows, size), [1, 100, 3], "{name}");
    }
    assert_eq!(integers(&read(&big, "/i24_of_32").unwrap().rows, 4), [-8_388_608, 77]);
}

#[test]
fn reads_floats_of_both_byte_orders() {
    let doubles = |name: &str, path: &str| -> Vec<f64> {
        let rows = read(&open(name), path).unwrap().rows;
        rows.chunks_exact(8).map(|row| f64::from_ne_bytes(row.try_into().unwrap())).collect()
    };
    assert_eq!(doubles("datatypes.h5", "/numbers/float64_big"), [std::f64::consts::PI, -1e-300]);
    assert_eq!(doubles("datatypes.h5", "/numbers/float64"), [0.1, 1e300, 5e-324]);
    assert_eq!(doubles("big_endian.h5", "/f8"), [1.0, 100.0, 3.0]);
    let rows = read(&open("big_endian.h5"), "/deflated").unwrap().rows;
    let found: Vec<f32> =
        rows.chunks_exact(4).map(|row| f32::from_ne_bytes(row.try_into().unwrap())).collect();
    assert_eq!(found, (0_u8..24).map(f32::from).collect::<Vec<_>>());
}

#[test]
fn enumerations_become_integers() {
    let file = open("datatypes.h5");
    assert_eq!(integers(&read(&file, "/made_of_others/enum").unwrap().rows, 1), [0, -1, 7, 9]);
    assert_eq!(integers(&read(&file, "/made_of_others/enum_big").unwrap().rows, 2), [300, 2]);
    let dataset = dataset(&file, "/made_of_others/enum");
    let DatatypeClass::Enumeration(class) = &dataset.datatype().class else {
        panic!("expected an enumeration")
    };
    let names: Vec<_> = class.names.iter().map(|name| String::from_utf8_lossy(name)).collect();
    assert!(names.contains(&"LIQUID".into()) && names.len() == 4, "{names:?}");
}

#[test]
fn strings_keep_their_padding() {
    let file = open("datatypes.h5");
    let of = |name: &str| read(&file, &format!("/text/{name}")).unwrap().rows;
    assert_eq!(&of("nullterm")[..4], b"abc\0");
    assert_eq!(&of("nullpad")[..], "fjordå\0\0\0".as_bytes());
    assert_eq!(&of("spacepad")[..], b"ab  abcd");
    assert_eq!(texts(&read(&file, "/text/variable").unwrap()), ["Tromsø", "", "off", "a\nb"]);
    assert_eq!(texts(&read(&file, "/text/variable_ascii").unwrap()), ["scalar"]);
}

#[test]
fn reads_sequences() {
    let file = open("datatypes.h5");
    let floats: Vec<Vec<f32>> = sequences(&read(&file, "/made_of_others/vlen").unwrap(), 4)
        .iter()
        .map(|row| row.chunks_exact(4).map(|f| f32::from_ne_bytes(f.try_into().unwrap())).collect())
        .collect();
    assert_eq!(floats, [vec![0.5, 1.0], vec![], vec![-2.0]]);
    let big = open("big_endian.h5");
    let found = sequences(&read(&big, "/vlen").unwrap(), 2);
    assert_eq!(found.iter().map(|row| integers(row, 2)).collect::<Vec<_>>(), [vec![1, 256], vec![-1]]);
}

#[test]
fn reading_several_regions_appends_to_one_heap() {
    let file = open("datatypes.h5");
    let variable = dataset(&file, "/text/variable");
    let rows =
        read_region(&file, &variable, &Region { start: vec![0], count: vec![2], step: vec![3] }).unwrap();
    assert_eq!(texts(&rows), ["Tromsø", "a\nb"]);
}

#[test]
fn object_references_become_addresses() {
    let file = open("datatypes.h5");
    let address = |path: &str| Reference::Object(object(&file, path).unwrap().address());
    let found = references(&read(&file, "/references/object").unwrap());
    let expected = [address("/layouts/chunked"), address("/links"), address("/cell_t"), Reference::Null];
    assert_eq!(found, expected);
}

#[test]
fn region_references_become_selections() {
    let file = open("datatypes.h5");
    let grid = object(&file, "/layouts/chunked").unwrap().address();
    let found = references(&read(&file, "/references/region").unwrap());
    let selected = |index: usize| match &found[index] {
        Reference::Region(address, selection) if *address == grid => selection.clone(),
        other => panic!("{other:?}"),
    };
    let blocks = |selection: Selection| match selection {
        Selection::Region(region) => {
            region.blocks().map(|block| (block.start, block.count)).collect::<Vec<_>>()
        }
        Selection::Blocks(blocks) => blocks.into_iter().map(|block| (block.start, block.count)).collect(),
        other => panic!("{other:?}"),
    };
    assert_eq!(blocks(selected(0)), [(vec![1, 2], vec![2, 4])]);
    assert_eq!(selected(1), Selection::Points { rank: 2, coordinates: vec![0, 0, 4, 6] });
    assert_eq!(selected(2), Selection::All);
    let mut stepped: Vec<_> = blocks(selected(3)).into_iter().map(|(start, _)| start).collect();
    stepped.sort();
    assert_eq!(stepped, [[0, 0], [0, 4], [3, 0], [3, 4]]);
    assert_eq!(found[4], Reference::Null);
}

#[test]
fn compounds_become_packed_rows_of_native_numbers() {
    let file = open("datatypes.h5");
    let rows = read(&file, "/made_of_others/compound").unwrap().rows;
    let mut expected = Vec::new();
    for (id, volume, label) in [(1_u16, 2.5_f64, b"ab\0"), (2, -1.0, b"xyz")] {
        expected.extend(id.to_ne_bytes());
        expected.extend(volume.to_ne_bytes());
        expected.extend(label);
    }
    assert_eq!(rows, expected);
    let dataset = dataset(&file, "/made_of_others/compound");
    assert_eq!(dataset.committed(), Some(object(&file, "/cell_t").unwrap().address()));
}
