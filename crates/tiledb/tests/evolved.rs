//! Evolution of schemas and deletion of cells, in existing arrays.

use crate::killed::Killed;
use crate::written::{Place, attribute, colours, dimension, key, options, schema, texts};
use hyperslab_core::{Limits, Result};
use hyperslab_tiledb::array::{Array, OpenOptions};
use hyperslab_tiledb::format::array_schema::{ArraySchema, Attribute, CurrentDomain, EnumerationFile};
use hyperslab_tiledb::format::data_type::DataType;
use hyperslab_tiledb::format::delete_condition::{Comparison, Operator};
use hyperslab_tiledb::format::enumeration::Enumeration;
use hyperslab_tiledb::format::fragment_metadata::mbr::{Mbr, Range};
use hyperslab_tiledb::format::layout::ArrayType;
use hyperslab_tiledb::format::metadata::{Entry, Metadata, Value};
use hyperslab_tiledb::history::{ArrayHistory, SchemaChange};
use hyperslab_tiledb::opened::Moment;
use hyperslab_tiledb::read::sparse::{SparseField, SparseRequest};
use hyperslab_tiledb::write::array::{ArrayWriter, WriteOptions};
use hyperslab_tiledb::write::delete::{Condition, DeletedCells, count_deleted};
use hyperslab_tiledb::write::evolve::Evolution;
use hyperslab_tiledb::write::sparse::{Column, SparseFragment};
use std::sync::Arc;

/// A sparse array along `x` with a number that is sometimes NaN, a nullable text and a colour.
fn measurements(version: u32) -> (ArraySchema, Vec<Enumeration>) {
    let colour = Attribute { enumeration: Some(b"colours".to_vec()), ..attribute("colour", DataType::UInt8) };
    let mut own = ArraySchema {
        version,
        capacity: 4,
        ..schema(
            ArrayType::Sparse,
            vec![dimension("x", (0, 999), 10)],
            vec![attribute("number", DataType::Float32), texts("text")],
        )
    };
    if version < 20 {
        return (own, Vec::new());
    }
    own.attributes.push(colour);
    own.enumerations = vec![EnumerationFile { name: b"colours".to_vec(), file_name: Vec::new() }];
    (own, vec![colours()])
}

/// Writes the cells from `first` on: every seventh number is NaN, and every fifth text is null.
fn write(writer: &ArrayWriter, time: u64, first: i64, count: i64) {
    add(writer, time, first, count).unwrap();
}

fn add(writer: &ArrayWriter, time: u64, first: i64, count: i64) -> Result<()> {
    let all = first..first + count;
    let mut columns =
        vec![Column { values: all.clone().flat_map(i64::to_le_bytes).collect(), ..Column::default() }];
    for of in &writer.schema().attributes {
        let mut column = Column::default();
        for x in all.clone() {
            match of.name.as_slice() {
                b"number" => {
                    let number = if x % 7 == 0 { f32::NAN } else { x as f32 };
                    column.values.extend(number.to_le_bytes());
                }
                b"text" | b"words" => {
                    column.offsets.push(column.values.len() as u64);
                    column.validity.push(u8::from(x % 5 != 0));
                    column.values.extend("ab".repeat(remainder(x, 3).into()).bytes());
                }
                _ => column.values.extend(vec![remainder(x, 2); of.data_type.size()]),
            }
        }
        columns.push(column);
    }
    let fragment = SparseFragment::of_cells(writer, time, &columns, all.clone().count())?;
    writer.commit(&[fragment])
}

/// The remainder of a number that is not negative.
fn remainder(x: i64, of: i64) -> u8 {
    u8::try_from(x % of).unwrap()
}

fn created(place: &Place, name: &str, version: u32) -> ArrayWriter {
    let (schema, enumerations) = measurements(version);
    ArrayWriter::create(place.writable(), &key(name), schema, enumerations, 10, options()).unwrap()
}

fn again(place: &Place, name: &str) -> ArrayWriter {
    let limits = Limits::default();
    ArrayWriter::open(place.writable(), place.readable(), &key(name), limits, options()).unwrap()
}

fn at(place: &Place, name: &str, end: u64) -> Array {
    let options = OpenOptions { at: Moment::until(end), ..OpenOptions::default() };
    Array::open(place.readable(), &key(name), options).unwrap()
}

/// The coordinates of all cells.
fn coordinates(array: &Array) -> Vec<i64> {
    let request = SparseRequest { columns: vec![SparseField::Dimension(0)], ..SparseRequest::default() };
    let mut found = Vec::new();
    array
        .read_sparse(&request, &mut |cells| {
            let bytes = cells.columns[0].bytes.as_chunks().0;
            found.extend(bytes[..cells.count].iter().map(|x| i64::from_le_bytes(*x)));
            Ok(())
        })
        .unwrap();
    found.sort_unstable();
    found
}

fn comparison(field: &str, operator: Operator, value: &[u8]) -> Condition {
    let (field, value) = (field.into(), value.to_vec());
    Condition::Is(Comparison { operator, field, value, offsets: Vec::new() })
}

#[test]
fn attributes_come_and_go() {
    for version in [7, 12, 16, 22] {
        let place = Place::new();
        let name = format!("evolved_{version}");
        let writer = created(&place, &name, version);
        write(&writer, 11, 0, 10);
        let array = place.open(&name);
        let mut evolution = Evolution::of(&array);
        evolution.add_attribute(attribute("more", DataType::Int32), None).unwrap();
        evolution.drop_attribute(b"number").unwrap();
        let writer = writer.evolve(evolution, 20).unwrap();
        assert_eq!(writer.version(), if version < 10 { 22 } else { version });
        write(&again(&place, &name), 21, 10, 10);
        place.check(&name);
        let array = place.open(&name);
        let last = array.attributes().len() - 1;
        assert_eq!(array.attributes()[last].name, b"more");
        assert_eq!(coordinates(&array), (0..20).collect::<Vec<_>>());
        let before = at(&place, &name, 19);
        assert_eq!(before.attributes()[0].name, b"number");
        assert_eq!(coordinates(&before), (0..10).collect::<Vec<_>>());
        let history = ArrayHistory::read(place.readable(), &key(&name), OpenOptions::default()).unwrap();
        let changes = &history.schemas[1].changes;
        assert!(changes.contains(&SchemaChange::AttributeAdded("more".into())), "{changes:?}");
        assert!(changes.contains(&SchemaChange::AttributeDropped("number".into())), "{changes:?}");
    }
}

#[test]
fn enumerations_and_the_current_domain_grow() {
    let place = Place::new();
    let (mut own, enumerations) = measurements(22);
    let range =
        |min: i64, max: i64| Range { min: min.to_le_bytes().to_vec(), max: max.to_le_bytes().to_vec() };
    let rectangle = |min, max| Mbr { ranges: vec![range(min, max)] };
    own.current_domain = Some(CurrentDomain { version: 0, rectangle: Some(rectangle(0, 9)) });
    let writer =
        ArrayWriter::create(place.writable(), &key("grown"), own, enumerations, 10, options()).unwrap();
    write(&writer, 11, 0, 10);
    let array = place.open("grown");
    let mut evolution = Evolution::of(&array);
    evolution.extend_enumeration(b"colours", &[b"blue".to_vec()]).unwrap();
    evolution.extend_enumeration(b"colours", &[b"grey".to_vec()]).unwrap();
    let twice = evolution.extend_enumeration(b"colours", &[b"red".to_vec()]).unwrap_err();
    assert_eq!(twice.detail(), "\"red\" a second time in enumeration \"colours\"");
    let less = evolution.grow(&rectangle(1, 99)).unwrap_err();
    let detail = "1 to 99 of dimension \"x\" is less than the current domain, 0 to 9, which cannot shrink";
    assert_eq!(less.detail(), detail);
    let more = evolution.grow(&rectangle(0, 1000)).unwrap_err();
    assert_eq!(more.detail(), "0 to 1000 of dimension \"x\", the domain is from 0 to 999");
    evolution.grow(&rectangle(0, 99)).unwrap();
    let time = writer.evolve(Evolution::of(&array), 10).unwrap();
    assert_eq!(time.schema(), writer.schema());
    let writer = writer.evolve(evolution, 20).unwrap();
    write(&writer, 21, 90, 10);
    place.check("grown");
    let colours = place.open("grown").enumeration(b"colours").unwrap();
    let values: Vec<&[u8]> = colours.values().unwrap().collect();
    assert_eq!(values, [&b"red"[..], b"green", b"blue", b"grey"]);
    assert_eq!(at(&place, "grown", 19).enumeration(b"colours").unwrap().values().unwrap().count(), 2);
}

#[test]
fn changes_that_tiledb_refuses_are_refused_by_name() {
    let place = Place::new();
    let writer = created(&place, "refused", 22);
    write(&writer, 11, 0, 3);
    let array = place.open("refused");
    let error = |change: &dyn Fn(&mut Evolution<'_>) -> Result<()>| {
        change(&mut Evolution::of(&array)).unwrap_err().detail().to_owned()
    };
    let add = |name: &'static str, data_type| {
        error(&|evolution| evolution.add_attribute(attribute(name, data_type), None))
    };
    assert_eq!(add("text", DataType::Int8), "attribute \"text\", which is the name of an attribute");
    assert_eq!(add("x", DataType::Int8), "attribute \"x\", which is the name of a dimension");
    assert!(add("__x", DataType::Int8).contains("reserved"));
    assert_eq!(
        error(&|evolution| evolution.drop_attribute(b"x")),
        "\"x\" is the name of a dimension, expected an attribute"
    );
    assert_eq!(error(&|evolution| evolution.drop_attribute(b"y")), "no attribute \"y\"");
    assert!(
        error(&|evolution| evolution.rename_attribute(b"text", b"words"))
            .contains("fragments find its cells")
    );
    assert!(error(&|evolution| evolution.extend_enumeration(b"y", &[])).contains("no enumeration"));
    assert!(error(&|evolution| evolution.grow(&Mbr { ranges: Vec::new() })).contains("no current domain"));
    let mut evolution = Evolution::of(&array);
    for name in [&b"text"[..], b"number"] {
        evolution.drop_attribute(name).unwrap();
    }
    assert!(evolution.drop_attribute(b"colour").unwrap_err().detail().contains("the only one"));
    assert!(evolution.add_attribute(attribute("number", DataType::Int8), None).is_err());
    evolution.add_attribute(attribute("number", DataType::Float32), None).unwrap();
    let late = writer.evolve(evolution, 10).err().unwrap();
    assert!(late.detail().contains("expected one later than 10"), "{late}");
}

#[test]
fn deletes_remove_the_cells_that_are_counted() {
    let number = |operator, n: f32| comparison("number", operator, &n.to_le_bytes());
    let text = |operator, text: &str| comparison("text", operator, text.as_bytes());
    let in_set = Condition::Is(Comparison {
        operator: Operator::In,
        field: b"text".to_vec(),
        value: b"abab".to_vec(),
        offsets: vec![0, 4],
    });
    let not = |of| Condition::Not(Box::new(of));
    let cases = [
        ("less", number(Operator::Lt, 6.0)),
        ("other", number(Operator::Ne, 6.0)),
        ("text", text(Operator::Eq, "ab")),
        ("set", in_set.clone()),
        ("no_set", not(in_set)),
        ("all", Condition::All(vec![number(Operator::Ge, 20.0), text(Operator::Eq, "abab")])),
        ("any", Condition::Any(vec![number(Operator::Ge, 20.0), not(text(Operator::Eq, "abab"))])),
        ("colour", comparison("colour", Operator::Eq, &[1])),
        ("x", comparison("x", Operator::Ge, &17_i64.to_le_bytes())),
    ];
    for (name, condition) in cases {
        let (place, name) = (Place::new(), format!("deleted_{name}"));
        let writer = created(&place, &name, 22);
        write(&writer, 11, 0, 30);
        write(&writer, 12, 20, 20);
        let before = coordinates(&place.open(&name));
        assert_eq!(before.len(), 40);
        let counts = count_deleted(&place.open(&name), &condition).unwrap();
        writer.delete(&condition, 20).unwrap();
        write(&writer, 21, 100, 10);
        place.check(&name);
        let after = coordinates(&place.open(&name));
        assert_eq!(after.len() as u64 + counts.total(), 50, "{name}: {counts:?}");
        assert_eq!(coordinates(&at(&place, &name, 19)), before);
    }
}

#[test]
fn cells_without_a_value_are_counted_apart() {
    let place = Place::new();
    let writer = created(&place, "apart", 22);
    write(&writer, 11, 0, 20);
    let array = place.open("apart");
    let count = |of: &Condition| count_deleted(&array, of).unwrap();
    let none = comparison("number", Operator::Gt, &1000_f32.to_le_bytes());
    assert_eq!(count(&none), DeletedCells { not_a_number: 3, ..DeletedCells::default() });
    let ab = comparison("text", Operator::Eq, b"ab");
    assert_eq!(count(&ab), DeletedCells { matching: 6, null: 4, ..DeletedCells::default() });
    let mut evolution = Evolution::of(&array);
    evolution.add_attribute(attribute("more", DataType::Int32), None).unwrap();
    let writer = writer.evolve(evolution, 20).unwrap();
    write(&writer, 21, 50, 4);
    let condition = comparison("more", Operator::Eq, &0_i32.to_le_bytes());
    let counts = count_deleted(&place.open("apart"), &condition).unwrap();
    assert_eq!(counts, DeletedCells { matching: 2, lacking: 20, ..DeletedCells::default() });
    writer.delete(&condition, 22).unwrap();
    place.check("apart");
    assert_eq!(coordinates(&place.open("apart")), [51, 53]);
}

#[test]
fn deletes_that_tiledb_refuses_are_refused_by_name() {
    let place = Place::new();
    let writer = created(&place, "no", 22);
    let error = |of: &Condition| writer.delete(of, 20).unwrap_err().detail().to_owned();
    assert!(error(&comparison("y", Operator::Eq, &[1])).contains("neither an attribute nor a dimension"));
    assert_eq!(
        error(&comparison("number", Operator::Eq, &[1])),
        "a value of 1 bytes for \"number\", expected 4"
    );
    assert!(error(&comparison("number", Operator::Eq, &[])).contains("with null"));
    assert!(error(&Condition::Any(Vec::new())).contains("without comparisons"));
    let old = created(&place, "old", 15);
    let ab = comparison("text", Operator::Eq, b"ab");
    assert!(old.delete(&ab, 20).unwrap_err().detail().contains("deletes exist since version 16"));
}

/// What a reader sees: the coordinates, and how many attributes, values of the enumeration and metadata there are.
fn seen(array: &Array) -> (Vec<i64>, usize, usize, usize) {
    let colours = array.enumeration(b"colours").unwrap().values().unwrap().count();
    (coordinates(array), array.attributes().len(), colours, array.metadata().unwrap().len())
}

#[test]
fn a_writer_that_is_killed_leaves_the_old_or_the_new() {
    type Change = fn(&ArrayWriter, &Array) -> Result<()>;
    let changes: [Change; 4] = [
        |writer, _| add(writer, 20, 100, 6),
        |writer, _| writer.delete(&comparison("colour", Operator::Eq, &[1]), 20),
        |writer, array| {
            let mut evolution = Evolution::of(array);
            evolution.extend_enumeration(b"colours", &[b"blue".to_vec()])?;
            evolution.drop_attribute(b"text")?;
            writer.evolve(evolution, 20).map(drop)
        },
        |writer, _| {
            let value = Value { data_type: DataType::StringUtf8, bytes: b"K".to_vec() };
            let entry = |key: &str| Entry { key: key.into(), value: Some(value.clone()) };
            writer.put_metadata(&Metadata { entries: vec![entry("a"), entry("b")] }, 20)
        },
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let mut states = 0;
        for steps in 0.. {
            let place = Place::new();
            write(&created(&place, "killed", 22), 11, 0, 10);
            let before = seen(&place.open("killed"));
            let store = Killed::after(steps, Arc::clone(&place.store));
            let (limits, array) = (Limits::default(), place.open("killed"));
            let writer =
                ArrayWriter::open(store, place.readable(), &key("killed"), limits, WriteOptions::default())
                    .unwrap();
            let is_done = change(&writer, &array).is_ok();
            let after = seen(&place.open("killed"));
            assert_eq!(after != before, is_done, "change {number} after {steps} steps");
            if is_done {
                break;
            }
            states += 1;
        }
        assert!(states > 0);
    }
}

#[test]
fn attributes_of_arrays_without_cells_can_be_renamed() {
    let place = Place::new();
    let writer = created(&place, "renamed", 22);
    let array = place.open("renamed");
    let mut evolution = Evolution::of(&array);
    evolution.rename_attribute(b"text", b"words").unwrap();
    assert!(evolution.rename_attribute(b"words", b"x").is_err());
    write(&writer.evolve(evolution, 20).unwrap(), 21, 0, 5);
    place.check("renamed");
    assert_eq!(place.open("renamed").attributes()[1].name, b"words");
}
