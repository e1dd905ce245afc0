use super::*;
use crate::{BoxedStorage, Cells, Column, Datatype, Extent, Float, Members, Ndarray, Shape, Values};
use std::sync::Arc;

fn values(numbers: &[f64]) -> Values {
    let rows: Vec<u8> = numbers.iter().flat_map(|n| n.to_ne_bytes()).collect();
    Values { rows: rows.into(), ..Values::default() }
}

fn array(numbers: &[f64]) -> Content {
    let mut content = Content::default();
    let ndarray = Ndarray {
        shape: Shape::fixed(&[numbers.len() as u64]),
        dimension: None,
        datatype: Some(Arc::new(Datatype::Float(Float::Double))),
        attributes: Members::new(),
        storage: BoxedStorage::default(),
        value: Some(values(numbers)),
    };
    content.nodes.insert(NodePath::root().child("x"), Node::Ndarray(ndarray));
    content
}

#[test]
fn nan_equals_nan_and_zeros_keep_their_sign() {
    assert_eq!(compare(&array(&[f64::NAN, 1.0]), &array(&[f64::NAN, 1.0])), []);
    let found = compare(&array(&[0.0]), &array(&[-0.0]));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].what, "value");
}

#[test]
fn dimensions_beside_arrays_of_their_name_are_compared() {
    let beside = |length: Option<Extent>| {
        let mut content = array(&[1.0]);
        let Some(Node::Ndarray(ndarray)) = content.nodes.values_mut().next() else { panic!() };
        ndarray.dimension = length;
        content
    };
    let shown = |a, b| compare(&beside(a), &beside(b)).iter().map(ToString::to_string).collect::<Vec<_>>();
    let (three, five) = (Some(Extent::Fixed(3)), Some(Extent::Fixed(5)));
    assert_eq!(shown(three, three), Vec::<String>::new());
    assert_eq!(shown(three, five), ["/x: dimension \"3\" against \"5\""]);
    assert_eq!(
        shown(three, Some(Extent::Unlimited { current: 3 })),
        ["/x: dimension \"3\" against \"3/inf\""]
    );
    assert_eq!(shown(None, five), ["/x: dimension \"none\" against \"5\""]);
}

fn sparse(columns: &[(&str, &[f64])]) -> Content {
    let column = |(name, numbers): &(&str, &[f64])| Column {
        name: (*name).into(),
        datatype: Arc::new(Datatype::Float(Float::Double)),
        values: values(numbers),
    };
    let cells = Some(Cells { columns: columns.iter().map(column).collect() });
    let mut content = Content::default();
    content.nodes.insert(NodePath::root(), Node::Group(crate::Group { cells, ..Default::default() }));
    content
}

#[test]
fn differences_in_cells_are_reported() {
    let one = sparse(&[("x", &[1.0, 2.0]), ("v", &[f64::NAN, 4.0])]);
    assert_eq!(compare(&one, &one.clone()), []);
    let shown = |other: &Content| compare(&one, other).iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(
        shown(&sparse(&[("x", &[1.0, 2.0]), ("v", &[f64::NAN, 5.0])])),
        ["/v: element 1 is Float(4.0) against Float(5.0)"]
    );
    assert_eq!(
        shown(&sparse(&[("x", &[1.0]), ("w", &[0.0])])),
        ["/: cells \"x, v\" against \"x, w\"", "/x: elements \"2\" against \"1\""]
    );
    let unread = sparse(&[]).nodes.into_iter().map(|_| Node::Group(crate::Group::default()));
    let unread = Content { nodes: unread.map(|group| (NodePath::root(), group)).collect() };
    assert_eq!(shown(&unread), Vec::<String>::new());
}

#[test]
fn objects_of_only_one_side_are_named() {
    let found = compare(&array(&[1.0]), &Content::default());
    assert_eq!(found[0].to_string(), "/x: presence \"array\" against \"\"");
    let found = compare(&array(&[1.0]), &array(&[1.0, 2.0]));
    assert_eq!(found.iter().map(|d| d.what).collect::<Vec<_>>(), ["shape", "elements"]);
}

#[test]
fn relative_tolerances_refer_to_the_second_number() {
    let differing = |rules: &Rules, a: &[f64], b: &[f64]| {
        let datatype = Datatype::Float(Float::Double);
        let (a, b) = (values(a), values(b));
        Tally::of(Elements::new(&datatype, &a), Elements::new(&datatype, &b), rules)
    };
    let within = |relative, absolute, ulps| Rules {
        tolerance: Tolerance { relative, absolute, ulps, signed_zeros: false },
        ..Rules::EXACT
    };
    let numbers = ([100.0, 0.0, f64::NAN, f64::INFINITY, -0.0], [101.0, 0.5, f64::NAN, f64::INFINITY, 0.0]);
    assert_eq!(differing(&within(0.0, 0.0, 0), &numbers.0, &numbers.1).differing, 2);
    assert_eq!(differing(&within(0.01, 0.0, 0), &numbers.0, &numbers.1).differing, 1);
    assert_eq!(differing(&within(0.01, 0.5, 0), &numbers.0, &numbers.1).differing, 0);
    let infinite = differing(&within(1.0, 1e300, u64::MAX), &[f64::INFINITY, 1.0], &[1.0, f64::NAN]);
    assert_eq!((infinite.differing, infinite.largest), (2, Some(Gap::Double(f64::NEG_INFINITY))));
    let next = f64::from_bits(1.0_f64.to_bits() + 3);
    assert_eq!(differing(&within(0.0, 0.0, 2), &[1.0], &[next]).differing, 1);
    assert_eq!(differing(&within(0.0, 0.0, 3), &[1.0, -1.0], &[next, -next]).differing, 0);
    assert_eq!(differing(&within(0.0, 0.0, 2), &[-5e-324], &[5e-324]).differing, 0);
}

#[test]
fn numbers_of_different_types_are_compared_as_numbers() {
    let compared = |a: &Datatype, x: &[u8], b: &Datatype, y: &[u8]| {
        let of = |rows: &[u8]| Values { rows: rows.to_vec().into(), ..Values::default() };
        let (x, y) = (of(x), of(y));
        Tally::of(Elements::new(a, &x), Elements::new(b, &y), &Rules::EXACT).largest
    };
    let (int, long, double) =
        (Datatype::int(16, true), Datatype::int(64, false), Datatype::Float(Float::Double));
    let near = 9_007_199_254_740_993_u64;
    assert_eq!(compared(&int, &(-3_i16).to_ne_bytes(), &double, &(-3.0_f64).to_ne_bytes()), None);
    assert_eq!(
        compared(&int, &(-1_i16).to_ne_bytes(), &long, &u64::MAX.to_ne_bytes()),
        Some(Gap::Int(1 << 64))
    );
    // No float equals this integer, although it is rounded to the nearest one.
    let rounded = 9_007_199_254_740_992.0_f64;
    assert!(!Datatype::String(crate::Text::Variable).is_comparable(&int));
    assert_eq!(compared(&long, &near.to_ne_bytes(), &double, &rounded.to_ne_bytes()), Some(Gap::Int(-1)));
}

#[test]
fn paths_are_compared_relative_to_the_compared_groups() {
    let path = |text: &str| NodePath::new(text).unwrap();
    let roots = Some((path("/a"), NodePath::root()));
    let rules = Rules { roots, ..Rules::EXACT };
    assert!(rules.same_path(&path("/a/x"), &path("/x")));
    assert!(rules.same_path(&path("/a"), &path("/")));
    assert!(!rules.same_path(&path("/x"), &path("/x")));
    let rules = Rules { roots: Some((path("/a"), path("/b"))), ..Rules::EXACT };
    assert!(rules.same_path(&path("/ab"), &path("/ab")) && !rules.same_path(&path("/a/x"), &path("/a/x")));
}
