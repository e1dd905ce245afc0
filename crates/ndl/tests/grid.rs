//! A dense TileDB array: domains that do not begin at 0, nulls, an enumeration and a dimension label.

use crate::build::*;
use hyperslab_model::{
    BoxedStorage, Datatype, DimCoord, Extent, Fill, Filter, Group, NamedDatatype, Ndarray, Node, Storage,
    Values,
};
use hyperslab_ndl::{Emitter, Format, Head, Options, StorageDetail};
use std::sync::Arc;

const ROW: (Extent, &str) = (Extent::Fixed(4), "/row");
const COLUMN: (Extent, &str) = (Extent::Fixed(6), "/col");
const HEAD: Head<'_> =
    Head { location: "grid.tdb", format: "tiledb", title: "TileDB, dense array", version: "0.1.0" };
const VALUES: Options = Options {
    values: Some(u64::MAX),
    storage: StorageDetail::Brief,
    pure: false,
    texts_are_characters: false,
};

fn dimension(size: Extent, low: i32, high: i32) -> Node {
    let storage = Storage { domain: Some(numbers(&[low, high])), ..Storage::default() };
    Node::DimCoord(DimCoord { storage: storage.into(), ..dimcoord(size, Some(INT32)) })
}

fn tiled(chunk: &[u64], filters: Vec<Filter>) -> Storage {
    Storage { chunk: Some(chunk.to_vec()), filters, ..Storage::default() }
}

fn over(dims: &[(Extent, &str)], datatype: Datatype, storage: Storage, value: Values) -> Ndarray {
    Ndarray { shape: along(dims), storage: storage.into(), ..ndarray(datatype, &[], Some(value)) }
}

/// Every fifth element is null.
fn counts() -> Values {
    let row = |i: u32| [vec![u8::from(i % 5 != 4)], i.row()].concat();
    bytes(&(0..24).flat_map(row).collect::<Vec<_>>())
}

fn notes() -> Values {
    let mut notes: [&[u8]; 24] = [b""; 24];
    (notes[0], notes[23]) = (b"corner", b"no");
    texts(&notes)
}

fn nodes() -> Vec<(&'static str, Node)> {
    let root = Group {
        attributes: words(&[("title", "small grid")]),
        storage: Storage { native: native("tiledb", &[("array", word("dense"))]), ..Storage::default() }
            .into(),
        ..Group::default()
    };
    let cover = enumeration(&[("water", 0), ("forest", 1), ("no data", 2)]);
    let named = NamedDatatype {
        datatype: Arc::new(cover.clone()),
        attributes: words(&[]),
        storage: BoxedStorage::default(),
    };
    let both = [ROW, COLUMN];
    let height = Ndarray {
        attributes: words(&[("units", "m")]),
        ..over(
            &both,
            DOUBLE,
            Storage {
                fill: Fill::Value(numbers(&[-9999.0])),
                ..tiled(&[2, 3], vec![filter("shuffle", &[]), filter("zstd", &[("level", 5)])])
            },
            numbers(&std::array::from_fn::<f64, 24, _>(|i| i as f64 * 1.5)),
        )
    };
    let class = over(
        &both,
        Datatype::Named(path("/cover"), Arc::new(cover)),
        tiled(&[2, 3], vec![filter("rle", &[])]),
        numbers(&std::array::from_fn::<i8, 24, _>(|i| (i % 3) as i8)),
    );
    let count = over(
        &both,
        Datatype::Nullable(Box::new(Datatype::int(32, false))),
        tiled(&[2, 3], vec![filter("bitwidth", &[]), filter("lz4", &[])]),
        counts(),
    );
    let label = Storage { native: native("tiledb", &[("label", word("increasing"))]), ..tiled(&[2], vec![]) };
    let lat = over(&[ROW], DOUBLE, label, numbers(&[54.5, 55.5, 56.5, 57.5]));
    vec![
        ("/", Node::Group(root)),
        ("/cover", Node::Datatype(named)),
        ("/row", dimension(ROW.0, 1, 4)),
        ("/col", dimension(COLUMN.0, -3, 2)),
        ("/height", Node::Ndarray(height)),
        ("/class", Node::Ndarray(class)),
        ("/count", Node::Ndarray(count)),
        ("/note", Node::Ndarray(over(&both, STRING, tiled(&[2, 3], vec![]), notes()))),
        ("/lat", Node::Ndarray(lat)),
    ]
}

#[test]
fn yaml_is_the_golden_document() {
    assert_text(&emit(Format::Yaml, VALUES, &HEAD, &nodes()), include_str!("golden/grid.yaml"));
}

#[test]
fn a_domain_is_left_out_only_with_all_storage() {
    let show = |storage, dim| {
        let options = Options { storage, ..Options::default() };
        yaml(options, &[("/x", dim)])
    };
    let counted = || dimension(Extent::Fixed(5), 0, 4);
    // The domain gives the coordinates, which are not written in this case.
    assert!(show(StorageDetail::Brief, counted()).contains("# extensions: domain\n"));
    assert!(show(StorageDetail::Brief, counted()).ends_with("    storage:\n      domain: [0, 4]\n"));
    assert!(!show(StorageDetail::None, counted()).contains("domain"));
}

#[test]
fn rejects_a_domain_of_one_element() {
    let storage = Storage { domain: Some(numbers(&[1_i32])), ..Storage::default() };
    let node =
        Node::DimCoord(DimCoord { storage: storage.into(), ..dimcoord(Extent::Fixed(4), Some(INT32)) });
    let e = Emitter::new(Format::Yaml, VALUES).node(&path("/x"), &node).unwrap_err();
    assert_eq!(e.to_string(), "/x: 1 elements for shape [2]");
}

#[test]
fn nullable_elements_keep_their_base_type() {
    let cover = Datatype::Named(path("/cover"), Arc::new(enumeration(&[("water", 0), ("ice", 1)])));
    let of = |datatype, rows: &[u8]| {
        Node::Ndarray(ndarray(Datatype::Nullable(Box::new(datatype)), &[2], Some(bytes(rows))))
    };
    let hour = [vec![1], 491_646_i64.row(), vec![0; 9]].concat();
    let text = yaml(VALUES, &[("/class", of(cover, &[1, 1, 0, 0])), ("/at", of(time("h"), &hour))]);
    let expected = "# extensions: datetime, nullable

ndarrays:
  class:
    shape: [2]
    type: {nullable: {base: /cover}}
    value: [ice, null]

  at:
    shape: [2]
    type: {nullable: {base: {datetime: {unit: h}}}}
    value: [\"2026-02-01T06\", null]
";
    assert_text(&text, expected);
}
