//! A Zarr hierarchy: shards, JSON attributes, and a dimension that exists only by its name.

use crate::build::*;
use hyperslab_model::{
    Attribute, Datatype, DimCoord, Directive, Extent, Fill, Filter, Float, Ndarray, Node, Order, Storage,
    Values,
};
use hyperslab_ndl::{Format, Head, Options, StorageDetail};

const X: (Extent, &str) = (Extent::Fixed(8), "/x");
const Y: (Extent, &str) = (Extent::Fixed(6), "/y");
const HEAD: Head<'_> = Head { location: "sharded.zarr", format: "zarr3", title: "Zarr v3", version: "0.1.0" };
const VALUES: Options = Options {
    values: Some(u64::MAX),
    storage: StorageDetail::Brief,
    pure: false,
    texts_are_characters: false,
};

fn json(value: &str) -> Attribute {
    Attribute { native: vec![("zarr", word("json"))], ..text(value) }
}

fn chunked(chunk: &[u64]) -> Storage {
    Storage { chunk: Some(chunk.to_vec()), ..Storage::default() }
}

fn array(datatype: Datatype, shape: &[u64], storage: Storage, value: Values) -> Node {
    Node::Ndarray(Ndarray { storage: storage.into(), ..ndarray(datatype, shape, Some(value)) })
}

fn image() -> Node {
    let pixel = |i| if i < 32 { i as u16 } else { u16::MAX };
    let storage = Storage {
        shard: Some(vec![4, 8]),
        filters: vec![filter("zstd", &[("level", 3)]), filter("crc32c", &[])],
        fill: Fill::Value(numbers(&[u16::MAX])),
        ..chunked(&[2, 4])
    };
    let value = numbers(&std::array::from_fn::<u16, 48, _>(pixel));
    Node::Ndarray(Ndarray {
        shape: along(&[Y, X]),
        storage: storage.into(),
        ..ndarray(Datatype::int(16, false), &[], Some(value))
    })
}

fn points() -> Node {
    let at = Datatype::Compound(vec![member("y", SINGLE), member("x", SINGLE)]);
    let point = Datatype::Compound(vec![
        member("id", Datatype::int(32, false)),
        member("at", at),
        member("kind", Datatype::int(8, false)),
    ]);
    let row = |id: u32, y: f32, x: f32, kind: u8| [id.row(), y.row(), x.row(), kind.row()].concat();
    let rows = [row(1, 0.5, 1.5, 2), row(2, -1.0, 3.25, 0), row(3, 0.0, 0.0, 1)].concat();
    let blosc = Filter { name: "blosc".into(), parameters: vec![("codec".into(), word("lz4"))], main: true };
    array(point, &[3], Storage { filters: vec![blosc], ..chunked(&[2]) }, bytes(&rows))
}

fn nodes() -> Vec<(&'static str, Node)> {
    let root = attributes([
        ("title", text("sharded example")),
        ("levels", attribute(INT32, &[3], numbers(&[1, 2, 3]))),
        ("exact", attribute(Datatype::Bool, &[], bytes(&[1]))),
        ("multiscales", json(r#"[{"axes":["y","x"],"factor":2}]"#)),
    ]);
    let x = DimCoord {
        storage: chunked(&[8]).into(),
        value: Some(numbers(&std::array::from_fn::<f64, 8, _>(|i| i as f64 * 0.5))),
        ..dimcoord(X.0, Some(DOUBLE))
    };
    let seen = Storage { fill: Fill::Value(numbers(&[i64::MIN])), ..chunked(&[2]) };
    let gzip = Storage { filters: vec![filter("gzip", &[("level", 5)])], ..chunked(&[3]) };
    vec![
        ("/", group(root)),
        ("/x", Node::DimCoord(x)),
        ("/y", Node::DimCoord(dimcoord(Y.0, None))),
        ("/image", image()),
        ("/labels", array(STRING, &[3], gzip, texts(&[b"no", b"1:30", "ça".as_bytes()]))),
        ("/seen", array(time("s"), &[2], seen, numbers(&[1_769_925_600, i64::MIN]))),
        (
            "/spectrum",
            array(
                Datatype::Complex(Float::Single),
                &[2],
                chunked(&[2]),
                numbers(&[1.0_f32, 2.0, -0.0, -0.5]),
            ),
        ),
        ("/cells", group(attributes([]))),
        ("/cells/points", points()),
    ]
}

#[test]
fn yaml_is_the_golden_document() {
    assert_text(&emit(Format::Yaml, VALUES, &HEAD, &nodes()), include_str!("golden/sharded.yaml"));
}

#[test]
fn json_attributes_keep_their_mark() {
    let nodes = || vec![("/", group(attributes([("a", json("null"))])))];
    let text = emit(Format::Json, VALUES, &HEAD, &nodes());
    assert!(
        text.contains(
            "{\"shape\": [], \"type\": \"string\", \"storage\": {\"zarr\": \"json\"}, \"value\": \"null\"}"
        ),
        "{text}"
    );
    assert!(text.contains("\"extensions\": [\"zarr\"]"), "{text}");
    let none = yaml(Options { storage: StorageDetail::None, ..VALUES }, &nodes());
    assert_text(&none, "\nattributes:\n  a: \"null\"\n");
    let pure = yaml(Options { pure: true, ..VALUES }, &nodes());
    assert_text(&pure, "\nattributes:\n  a: \"null\"\n");
}

#[test]
fn writes_the_order_only_if_it_is_not_the_default() {
    let show = |order, storage| {
        let array = array(INT8, &[1], Storage { order: Some(order), ..chunked(&[1]) }, bytes(&[0]));
        yaml(Options { storage, ..Options::default() }, &[("/a", array)])
    };
    let text = show(Order::ColumnMajor, StorageDetail::Brief);
    assert!(text.starts_with("# extensions: order\n"), "{text}");
    assert!(text.contains("chunk: [1]\n      order: F\n"), "{text}");
    assert!(!show(Order::RowMajor, StorageDetail::Brief).contains("order"));
    assert!(show(Order::RowMajor, StorageDetail::Full).contains("order: C\n"));
}

#[test]
fn directives_hold_any_json() {
    let names = Directive::List(vec![word("y"), Directive::Null]);
    let number = Directive::Map(vec![("rate".into(), Directive::Float(2.0))]);
    let storage = Storage {
        native: native("zarr", &[("dimension_names", names), ("configuration", number)]),
        ..Storage::default()
    };
    let node = || array(INT8, &[1], storage.clone(), bytes(&[0]));
    let text = yaml(VALUES, &[("/a", node())]);
    let expected = "zarr: {dimension_names: [y, null], configuration: {rate: 2.0}}\n";
    assert!(text.contains(expected), "{text}");
    let text = emit(Format::Json, VALUES, &HEAD, &[("/a", node())]);
    let expected = r#"{"zarr": {"dimension_names": ["y", null], "configuration": {"rate": 2.0}}}"#;
    assert!(text.contains(expected), "{text}");
}
