//! The conventions of TileDB-CF: a group that satisfies all of them, and changes to it that each break one rule.

use hyperslab_cf::dataspace::rules::RULES;
use hyperslab_cf::dataspace::{
    Array, Attribute, CONVENTIONS, Convention, Dataspace, Dimension, Entry, Label,
};

fn index(name: &str, last: u64) -> Dimension {
    Dimension {
        name: name.to_owned(),
        datatype: "UINT64".to_owned(),
        is_integer: true,
        domain: Some(("0".to_owned(), last.to_string())),
    }
}

/// A data dimension, which ranges over coordinates.
fn data(name: &str) -> Dimension {
    Dimension {
        name: name.to_owned(),
        datatype: "FLOAT64".to_owned(),
        is_integer: false,
        domain: Some(("-90.0".to_owned(), "90.0".to_owned())),
    }
}

fn attribute(name: &str, datatype: &str) -> Attribute {
    Attribute { name: name.to_owned(), datatype: datatype.to_owned(), fill: Some(vec![0; 8]) }
}

fn entry(key: &str) -> Entry {
    Entry { key: key.to_owned(), datatype: "FLOAT64".to_owned(), value: vec![0; 8] }
}

fn array(name: &str, dimensions: Vec<Dimension>, own: &str) -> Array {
    Array {
        path: format!("/{name}"),
        name: Some(name.to_owned()),
        dimensions,
        attributes: vec![attribute(own, "FLOAT64")],
        labels: Vec::new(),
        metadata: vec![entry(&format!("__tiledb_attr.{own}.units"))],
    }
}

/// A group that satisfies all conventions.
fn simple() -> Dataspace {
    let arrays = vec![
        array("lat", vec![index("lat.index", 9)], "lat"),
        array("temperature", vec![index("lat.index", 9), index("lon", 19)], "temperature"),
    ];
    Dataspace { path: "/".to_owned(), metadata: Vec::new(), arrays }
}

/// The rules of each convention that the group breaks.
fn broken(space: &Dataspace) -> Vec<(&'static str, Vec<&'static str>)> {
    let rules = |convention: &'static Convention| {
        let mut rules: Vec<_> = convention.check(space).iter().map(|finding| finding.rule.name).collect();
        rules.dedup();
        (convention.name, rules)
    };
    CONVENTIONS.iter().map(rules).collect()
}

/// The rule that a change breaks, the change to a valid group, and the conventions that have the rule.
type Case = (&'static str, fn(&mut Dataspace), &'static [&'static str]);

const OLD: &[&str] = &["cf-0.1.0", "indexable-0.1.0", "cf-0.2.0", "simple-0.2.0"];
const ALL: &[&str] = &["cf-0.1.0", "indexable-0.1.0", "cf-0.2.0", "simple-0.2.0", "cf-0.3.0", "simple-0.3.0"];

const CASES: &[Case] = &[
    (
        "tiledb-cf/named",
        |space| {
            space.arrays[0].attributes[0].name.clear();
            space.arrays[0].metadata.clear();
        },
        OLD,
    ),
    ("tiledb-cf/named", |space| space.arrays[1].dimensions[1].name.clear(), OLD),
    ("tiledb-cf/dim-collection", |space| space.arrays[0].dimensions[0] = index("lat.index", 8), ALL),
    ("tiledb-cf/dim-collection", |space| space.arrays[0].dimensions[0].datatype = "INT32".to_owned(), ALL),
    (
        "tiledb-cf/attr-dataspace-name-unique",
        |space| space.arrays.push(array("again", vec![index("lon", 19)], "lat.data")),
        OLD,
    ),
    ("tiledb-cf/group-metadata-array", |space| space.metadata.push("title".to_owned()), OLD),
    (
        "tiledb-cf/attr-metadata-prefix",
        |space| space.arrays[1].metadata.push(entry("__tiledb_attr.temprature.units")),
        ALL,
    ),
    (
        "tiledb-cf/attr-metadata-prefix",
        |space| space.arrays[1].metadata.push(entry("__tiledb_attr.units")),
        ALL,
    ),
    (
        "tiledb-cf/fillvalue-equals",
        |space| {
            let value = vec![1; 8];
            space.arrays[0].metadata.push(Entry { value, ..entry("__tiledb_attr.lat._FillValue") });
        },
        OLD,
    ),
    (
        "tiledb-cf/fillvalue-equals",
        |space| {
            let datatype = "INT64".to_owned();
            space.arrays[0].metadata.push(Entry { datatype, ..entry("__tiledb_attr.lat._FillValue") });
        },
        OLD,
    ),
    (
        "tiledb-cf/dim-integer-from-0",
        |space| space.arrays[1].dimensions[1].domain = Some(("1".to_owned(), "19".to_owned())),
        &["simple-0.2.0", "simple-0.3.0"],
    ),
    (
        "tiledb-cf/collection-dataspace-name-unique",
        |space| space.arrays[1].dimensions[0] = index("lat", 9),
        &["simple-0.2.0"],
    ),
    (
        "tiledb-cf/array-named-single-attribute",
        |space| space.arrays[1].attributes.push(attribute("humidity", "INT16")),
        &["simple-0.3.0"],
    ),
    ("tiledb-cf/array-named-single-attribute", |space| space.arrays[1].name = None, &["simple-0.3.0"]),
    (
        "tiledb-cf/metadata-attribute-and-group-only",
        |space| space.arrays[0].metadata.push(entry("title")),
        &["simple-0.3.0"],
    ),
    (
        "tiledb-cf/metadata-attribute-and-group-only",
        |space| space.arrays[1].metadata.push(entry("__tiledb_dim.lon.title")),
        &["simple-0.3.0"],
    ),
];

#[test]
fn a_valid_group_satisfies_all_conventions() {
    assert!(broken(&simple()).iter().all(|(_, rules)| rules.is_empty()), "{:?}", broken(&simple()));
}

#[test]
fn each_change_breaks_its_rule_in_the_conventions_that_have_it() {
    for (number, (rule, change, conventions)) in CASES.iter().enumerate() {
        let mut space = simple();
        change(&mut space);
        for (name, found) in broken(&space) {
            let of_rule = found.contains(rule);
            assert_eq!(of_rule, conventions.contains(&name), "{rule} ({number}) in {name}: {found:?}");
            // A coordinate that begins at 1 also becomes a data dimension without an axis label.
            let others = found.iter().filter(|of| *of != rule && **of != "tiledb-cf/axis-label").count();
            assert_eq!(others, 0, "{rule} ({number}) in {name}: {found:?}");
        }
    }
}

#[test]
fn all_rules_are_in_a_convention() {
    for rule in RULES {
        let has = |convention: &&Convention| convention.rules().any(|own| own.name == rule.name);
        assert!(CONVENTIONS.iter().any(|convention| has(&convention)), "{}", rule.name);
    }
    assert_eq!(RULES.len(), 13);
    assert_eq!(CONVENTIONS.len(), 6);
    assert_eq!(Convention::of("simple-0.3.0").map(|found| found.rules().count()), Some(6));
    assert!(Convention::of("simple-0.1.0").is_none());
}

#[test]
fn dimension_metadata_have_a_rule_since_0_3_0() {
    let mut space = simple();
    space.arrays[1].metadata.push(entry("__tiledb_dim.lon.units"));
    assert!(Convention::of("cf-0.3.0").unwrap().check(&space).is_empty());
    space.arrays[1].metadata.push(entry("__tiledb_dim.lno.units"));
    let found = Convention::of("cf-0.3.0").unwrap().check(&space);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].rule.name, "tiledb-cf/dim-metadata-prefix");
    assert_eq!(
        found[0].message,
        "metadata key \"__tiledb_dim.lno.units\" is that of no dimension, expected one of [\"lat.index\", \"lon\"]"
    );
    assert!(Convention::of("cf-0.2.0").unwrap().check(&space).is_empty());
}

#[test]
fn names_of_fields_may_have_dots() {
    let mut space = simple();
    space.arrays[0].attributes[0].name = "lat.data".to_owned();
    space.arrays[0].metadata = vec![entry("__tiledb_attr.lat.data.units")];
    let convention = Convention::of("cf-0.3.0").unwrap();
    assert!(convention.check(&space).is_empty());
    space.arrays[0].metadata = vec![entry("__tiledb_attr.lat.units")];
    assert_eq!(convention.check(&space).len(), 1);
}

#[test]
fn data_dimensions_agree_with_attributes_and_have_axis_labels() {
    let indexable = Convention::of("indexable-0.1.0").unwrap();
    let names = |space: &Dataspace| -> Vec<_> {
        indexable.check(space).iter().map(|finding| finding.rule.name).collect()
    };
    let mut space = Dataspace {
        path: "/".to_owned(),
        metadata: Vec::new(),
        arrays: vec![array("by_latitude", vec![data("lat")], "temperature")],
    };
    assert_eq!(names(&space), ["tiledb-cf/axis-label"]);
    space.arrays.push(array("axis", vec![index("lat.index", 9)], "lat"));
    assert_eq!(names(&space), [""; 0]);
    // An attribute with a different full name or datatype is not a label.
    space.arrays[1].attributes[0].datatype = "FLOAT32".to_owned();
    assert_eq!(names(&space), ["tiledb-cf/attr-and-data-dim-agree", "tiledb-cf/axis-label"]);
    space.arrays[1].attributes[0] = attribute("lat.data", "FLOAT64");
    space.arrays[1].metadata.clear();
    assert_eq!(names(&space), ["tiledb-cf/attr-and-data-dim-agree", "tiledb-cf/axis-label"]);
    // Dimension labels were introduced later and serve the same purpose.
    space.arrays[1].attributes[0].name = "other".to_owned();
    space.arrays[1].labels =
        vec![Label { name: "lat".to_owned(), datatype: "FLOAT64".to_owned(), dimension: 0 }];
    assert_eq!(names(&space), [""; 0]);
}

#[test]
fn the_array_of_group_metadata_has_no_part_in_the_other_rules_up_to_0_2_0() {
    let mut space = simple();
    let own =
        Array { metadata: vec![entry("title")], ..array("__tiledb_group", vec![index("__dim", 0)], "") };
    space.arrays.push(Array { metadata: vec![entry("title")], ..own });
    for (name, found) in broken(&space) {
        let expected: &[&str] =
            if name == "simple-0.3.0" { &["tiledb-cf/metadata-attribute-and-group-only"] } else { &[] };
        assert_eq!(found, expected, "{name}");
    }
}
