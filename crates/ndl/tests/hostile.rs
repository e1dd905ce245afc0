//! Invalid content: values that do not match their type or shape, and types of huge size.

use crate::build::*;
use hyperslab_core::rows::{Heap, Slot};
use hyperslab_model::{Datatype, Node, Values};
use hyperslab_ndl::{Emitter, Format, Head, Options};

fn refusal(datatype: Datatype, shape: &[u64], values: Values) -> String {
    let mut emitter = Emitter::new(Format::Yaml, Options::default());
    let node = Node::Ndarray(ndarray(datatype, shape, Some(values)));
    emitter.node(&path("/g/x"), &node).unwrap_err().to_string()
}

fn slot(count: u32) -> Values {
    Values { rows: Slot { buffer: 0, count, offset: 0 }.to_bytes().to_vec().into(), heap: Heap::default() }
}

#[test]
fn rejects_elements_that_do_not_match_the_shape() {
    assert_eq!(refusal(INT32, &[3], numbers(&[1, 2])), "/g/x: 2 elements for shape [3]");
    assert_eq!(
        refusal(INT32, &[u64::MAX, 3], numbers(&[1, 2])),
        "/g/x: 2 elements for shape [18446744073709551615, 3]"
    );
}

#[test]
fn rejects_rows_of_the_wrong_size() {
    assert_eq!(refusal(STRING, &[], slot(9)), "/g/x: a row that does not fit its type, string");
    assert_eq!(refusal(Datatype::ObjRef, &[], slot(1)), "/g/x: a row that does not fit its type, objref");
    let compound = Datatype::Compound(vec![member("x", Datatype::Vlen(Box::new(INT8)))]);
    assert!(refusal(compound, &[], slot(9)).contains("vlen(int8)"));
    assert!(refusal(Datatype::int(136, true), &[], bytes(&[0; 32])).contains("int136"));
}

#[test]
fn handles_elements_without_bytes() {
    let nothing = || Datatype::Opaque { size: 0, tag: String::new() };
    let many = Datatype::Array { base: Box::new(nothing()), shape: vec![1 << 40] };
    let pair = Datatype::Compound(vec![member("n", INT8), member("many", many.clone())]);
    assert!(
        refusal(Datatype::Vlen(Box::new(nothing())), &[], slot(u32::MAX)).contains("elements of no bytes")
    );
    assert!(refusal(pair, &[1], bytes(&[0])).contains("elements of no bytes"));
    let array = |datatype, shape: &[u64]| Node::Ndarray(ndarray(datatype, shape, Some(bytes(&[]))));
    let text =
        yaml(Options::default(), &[("/a", array(INT8, &[1 << 40, 0])), ("/b", array(many, &[1 << 40]))]);
    assert!(!text.contains("value:"), "{text}");
    let inner = Datatype::Array { base: Box::new(INT8), shape: vec![1 << 40, 0] };
    let pair = Datatype::Compound(vec![member("n", INT8), member("none", inner)]);
    let node = Node::Ndarray(ndarray(pair, &[1], Some(bytes(&[7]))));
    assert!(yaml(Options::default(), &[("/a", node)]).ends_with("value:\n      - [7, []]\n"));
}

#[test]
fn failed_objects_write_nothing() {
    let mut emitter = Emitter::new(Format::Yaml, Options::default());
    let broken = Node::Ndarray(ndarray(Datatype::Vlen(Box::new(Datatype::Bool)), &[], Some(slot(9))));
    emitter.node(&path("/x"), &Node::Ndarray(ndarray(INT8, &[], None))).unwrap();
    emitter.node(&path("/y"), &broken).unwrap_err();
    emitter.node(&path("/g/y"), &broken).unwrap_err();
    let mut out = Vec::new();
    let head = Head { location: "a.h5", format: "hdf5", title: "HDF5", version: "0.1.0" };
    emitter.finish(&head, &mut out).unwrap();
    let expected =
        "# NDL 0.6.1, described from a.h5 (HDF5)\n\nndarrays:\n  x:\n    shape: []\n    type: int8\n";
    assert_text(std::str::from_utf8(&out).unwrap(), expected);
}

#[test]
fn rejects_duplicate_and_late_nodes() {
    let mut emitter = Emitter::new(Format::Yaml, Options::default());
    let array = || Node::Ndarray(ndarray(INT8, &[], None));
    emitter.node(&path("/g"), &group(words(&[]))).unwrap();
    emitter.node(&path("/h/x"), &array()).unwrap();
    for (place, node) in [("/g/x", array()), ("/g", group(words(&[]))), ("/", array())] {
        emitter.node(&path(place), &node).unwrap_err();
    }
}
