use super::*;
use crate::edit::counts;
use hyperslab_tiledb::format::array_schema::{ArraySchema, Attribute, Dimension, Domain};
use hyperslab_tiledb::format::data_type::CellValNum;
use hyperslab_tiledb::format::filter_pipeline::FilterPipeline;
use hyperslab_tiledb::format::layout::{ArrayType, DataOrder, Layout};
use hyperslab_tiledb::history::condition::deleted_text;
use hyperslab_tiledb::history::value_text;

fn fields() -> Fields {
    let colours = Values { are_texts: true, values: vec![b"red".to_vec(), b"green".to_vec()] };
    Fields(vec![
        Field::new(b"x", DataType::Int64, None),
        Field::new(b"s", DataType::StringAscii, None),
        Field::new(b"f", DataType::Float32, None),
        Field::new(b"when", DataType::DatetimeDay, None),
        Field::new(b"two words", DataType::UInt8, None),
        Field::new(b"colour", DataType::UInt8, Some(colours)),
        Field::new(b"is_on", DataType::Bool, None),
        Field::new(b"notes", DataType::StringUtf8, None),
    ])
}

fn schema() -> ArraySchema {
    let filters = FilterPipeline::default();
    let attribute = |field: &Field| Attribute {
        name: field.stored.clone(),
        data_type: field.data_type,
        cell_val_num: CellValNum::ONE,
        filters: filters.clone(),
        fill_value: None,
        nullable: false,
        fill_value_validity: 0,
        order: DataOrder::Unordered,
        enumeration: None,
    };
    let dimension = Dimension {
        name: b"d".to_vec(),
        data_type: DataType::Int64,
        cell_val_num: CellValNum::ONE,
        filters: filters.clone(),
        domain: vec![0; 16],
        tile_extent: None,
    };
    ArraySchema {
        version: 22,
        allows_dups: false,
        array_type: ArrayType::Sparse,
        tile_order: Layout::RowMajor,
        cell_order: Layout::RowMajor,
        capacity: 10,
        coords_filters: filters.clone(),
        offsets_filters: filters.clone(),
        validity_filters: filters.clone(),
        domain: Domain { dimensions: vec![dimension] },
        attributes: fields().0.iter().map(attribute).collect(),
        dimension_labels: Vec::new(),
        enumerations: Vec::new(),
        current_domain: None,
    }
}

/// The condition as the history of a store shows it.
fn shown(text: &str) -> String {
    let kept = fields().condition(text, &counts).unwrap().kept().unwrap();
    deleted_text(&kept, &schema(), &|_, data_type, value| value_text(data_type, value))
}

#[test]
fn conditions_are_shown_as_they_are_typed() {
    for text in [
        "x >= 20",
        "x >= 20 and s == \"a\"",
        "(x < -3 and s != \"a b\") or f > 0.5",
        "(s == \"a\" or x in [1, 2]) and f <= 20",
        "s not in [\"a\", \"b\"]",
        "s == \"it's \\\"q\\\"\\n\"",
        "when < 7",
        "colour == 1",
        "is_on == 1",
        "notes == \"α\"",
    ] {
        assert_eq!(shown(text), text);
        assert_eq!(shown(&shown(text)), shown(text));
    }
}

#[test]
fn other_spellings_mean_the_same() {
    for (text, same) in [
        ("x>=20and s=='a'", ""),
        ("not x < 20", "x >= 20"),
        ("not (x < 20 or s == 'a')", "x >= 20 and s != \"a\""),
        ("  ( ( x==1 ) )  ", "x == 1"),
        ("`two words` == 3", "two words == 3"),
        ("colour == \"green\"", "colour == 1"),
        ("colour in ['red', 'green']", "colour in [0, 1]"),
        ("is_on == true", "is_on == 1"),
        ("when < 1970-01-02", "when < 1"),
        ("when <= 1970-01-02", "when < 2"),
        ("when == 1970-01-02", "when == 1"),
        ("when == 1970-02", "when >= 31 and when < 59"),
        ("when != '1970-02'", "when < 31 or when >= 59"),
        ("when in [1970-01-02, 1970-01-04]", "when == 1 or when == 3"),
        ("when not in [7, 1970-01-02]", "when not in [7] and when != 1"),
        ("x == 1 or x == 2 or x == 3", "x == 1 or x == 2 or x == 3"),
    ] {
        match same {
            "" => assert!(fields().condition(text, &counts).is_err(), "{text}"),
            same => assert_eq!(shown(text), same, "{text}"),
        }
    }
}

#[test]
fn errors_name_the_place_and_what_may_be_meant() {
    let deep = "not ".repeat(200);
    for (text, message) in [
        ("", "ends where the name of an attribute or a dimension was expected, at character 1"),
        ("y == 1", "no attribute or dimension \"y\", at character 1 of the condition \"y == 1\""),
        ("x == 1 and not_s == 3", "no attribute or dimension \"not_s\", at character 12"),
        ("x = 1", "expected <, <=, >, >=, ==, !=, in or not in, found \"= 1\", at character 3"),
        ("x == ", "ends where a value was expected, at character 6"),
        ("x == 1.5", "1.5 for x, expected a whole number, of INT64, at character 6"),
        ("x == \"a\"", "the string \"a\" for x, expected a whole number, of INT64"),
        ("x == 99999999999999999999", "expected a number that INT64 holds"),
        ("s == a", "a for s, expected a string in quotes"),
        ("s == \"a", "a string without a closing quote, at character 6"),
        ("f < nan", "nan for f, expected a number"),
        ("when < 1970-02-30", "expected a date such as 2026-03-01T06:00, or a number"),
        ("colour == \"gren\"", "\"gren\", which is not a value of the enumeration of colour"),
        ("colour == 2", "2 for colour, expected a value in quotes, or its position among 2"),
        ("(x == 1", "ends where and, or, or a closing bracket was expected"),
        ("x == 1 s == \"a\"", "expected and, or, or the end, found \"s == "),
        ("x in 1", "expected [ and values, found \"1\""),
        ("x in [1 2]", "expected a comma or ], found \"2]\""),
        ("x not 1", "expected in, found \"1\""),
        (deep.as_str(), "conditions nested more than 100 levels deep"),
    ] {
        let error = fields().condition(text, &counts).err().unwrap();
        assert!(error.detail().contains(message), "{text}: {}", error.detail());
    }
    let hint = |text: &str| fields().condition(text, &counts).err().unwrap().to_string();
    assert!(hint("colour == \"gren\"").contains("did you mean \"green\"?"));
    assert!(hint("note == \"\"").contains("did you mean notes?"));
    assert!(hint("s == a").contains("write \"a\""));
}
