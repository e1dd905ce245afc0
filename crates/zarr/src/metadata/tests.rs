use super::v3::NodeMetadata;
use super::{ChunkGrid, ChunkKeyEncoding, Edges, Extension, Separator, Written, v2, v3};
use crate::data_type::{ByteOrder, DataType, Dtype, Field, Float, Layout, Struct, TypeForm};
use crate::json::{Json, Object};
use hyperslab_core::nd::Axis;
use hyperslab_core::{ErrorKind, Limits, Result};
use proptest::prelude::*;

fn json(text: &str) -> Json {
    Json::parse("test", text.as_bytes(), &Limits::default()).unwrap()
}

fn node(text: &str) -> Result<NodeMetadata> {
    NodeMetadata::parse(&json(text), &Limits::default())
}

fn array(text: &str) -> v3::ArrayMetadata {
    match node(text).unwrap() {
        NodeMetadata::Array(array) => *array,
        NodeMetadata::Group(_) => panic!("a group"),
    }
}

/// An array with some members replaced. Of equal names, the last one counts. `null!` removes a member.
fn with(changes: &[(&str, &str)]) -> String {
    let mut members = vec![
        ("zarr_format", "3"),
        ("node_type", "\"array\""),
        ("shape", "[6]"),
        ("data_type", "\"int16\""),
        ("chunk_grid", r#"{"name":"regular","configuration":{"chunk_shape":[2]}}"#),
        ("chunk_key_encoding", r#"{"name":"default"}"#),
        ("fill_value", "0"),
        ("codecs", r#"[{"name":"bytes","configuration":{"endian":"little"}}]"#),
    ];
    for (name, value) in changes {
        members.retain(|(found, _)| found != name);
        if *value != "null!" {
            members.push((name, value));
        }
    }
    let members: Vec<_> = members.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
    format!("{{{}}}", members.join(","))
}

fn same_members(one: &Json, other: &Json) -> bool {
    match (one, other) {
        (Json::Object(one), Json::Object(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .all(|(name, value)| other.get(name).is_some_and(|other| same_members(value, other)))
        }
        (Json::Array(one), Json::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same_members(one, other))
        }
        (one, other) => one == other,
    }
}

#[test]
fn documents_of_version_3_round_trip() {
    let everything = [
        ("attributes", r#"{"a":[1e-300,{"b":null}]}"#),
        ("dimension_names", r#"["x"]"#),
        ("storage_transformers", r#"[{"name":"t","must_understand":false}]"#),
        ("extra", r#"{"must_understand":false,"name":"e"}"#),
        (
            "codecs",
            r#"["crc","bytes",{"name":"bytes","configuration":{"endian":"big"},"must_understand":true,"x":1}]"#,
        ),
        ("data_type", "\"uint8\""),
        ("fill_value", "7"),
    ];
    for changes in [&everything[..], &everything[..3], &[], &[("dimension_names", "null")]] {
        let text = with(changes);
        assert!(same_members(&node(&text).unwrap().emit(), &json(&text)), "{text}");
    }
    for text in [
        r#"{"zarr_format":3,"node_type":"group"}"#,
        r#"{"zarr_format":3,"node_type":"group","attributes":{},"consolidated_metadata":null}"#,
        r#"{"zarr_format":3,"node_type":"group","consolidated_metadata":{"kind":"inline","must_understand":false,
            "metadata":{"a/b":{"zarr_format":3,"node_type":"group"}}},"x":{"must_understand":false}}"#,
    ] {
        assert!(same_members(&node(text).unwrap().emit(), &json(text)), "{text}");
    }
}

#[test]
fn documents_of_version_2_round_trip() {
    let text = r#"{"zarr_format":2,"shape":[6,4],"chunks":[2,3],"dtype":"<i4","compressor":{"id":"blosc","clevel":5},
        "fill_value":7,"order":"F","filters":[{"id":"delta","dtype":"<i4"}],"dimension_separator":"/","node_type":"array"}"#;
    let metadata = v2::ArrayMetadata::parse(&json(text), &Limits::default()).unwrap();
    assert!(same_members(&metadata.emit(), &json(text)));
    assert_eq!(metadata.chunk_key_encoding().encode(&[1, 0]), "1/0");
    assert_eq!(metadata.order, v2::Order::F);
    assert!(metadata.deviations.is_empty());
    let text = r#"{"zarr_format":2,"x":1}"#;
    assert!(same_members(
        &v2::GroupMetadata::parse(&json(text), &Limits::default()).unwrap().emit(),
        &json(text)
    ));
    let text = r#"{"zarr_consolidated_format":1,"metadata":{"a/.zgroup":{"zarr_format":2}}}"#;
    let consolidated = v2::ConsolidatedMetadata::parse(&json(text), &Limits::default()).unwrap();
    assert!(same_members(&consolidated.emit(), &json(text)));
}

#[test]
fn rejects_invalid_documents_of_version_3() {
    let regular = |chunk: &str| format!(r#"{{"name":"regular","configuration":{{"chunk_shape":{chunk}}}}}"#);
    let (zero, two) = (regular("[0]"), regular("[1,1]"));
    for (changes, message) in [
        (("zarr_format", "4"), "/zarr_format: version 4, expected 3"),
        (("zarr_format", "\"3\""), "/zarr_format: a string, expected 3"),
        (("node_type", "\"dog\""), "/node_type: \"dog\", expected \"array\" or \"group\""),
        (("shape", "null!"), ": no \"shape\""),
        (
            ("shape", "[18446744073709551616]"),
            "/shape/0: 18446744073709551616, expected an integer from 0 to 2^64 - 1",
        ),
        (("shape", "[-1]"), "/shape/0: -1, expected an integer from 0 to 2^64 - 1"),
        (("shape", "[1.0]"), "/shape/0: 1.0, expected an integer from 0 to 2^64 - 1"),
        (("chunk_grid", &zero), "/chunk_grid/configuration/chunk_shape/0: 0, expected 1 or more"),
        (
            ("chunk_grid", &two),
            "/chunk_grid/configuration/chunk_shape: 2 dimensions, expected 1 as in the array",
        ),
        (("chunk_grid", "\"hexagonal\""), "/chunk_grid: chunk grid \"hexagonal\""),
        (("chunk_key_encoding", "\"v9\""), "/chunk_key_encoding: chunk key encoding \"v9\""),
        (
            ("chunk_key_encoding", r#"{"name":"v2","configuration":{"separator":"-"}}"#),
            "/chunk_key_encoding/configuration/separator: \"-\", expected \".\" or \"/\"",
        ),
        (
            ("chunk_key_encoding", r#"{"name":"v2","must_understand":false}"#),
            "/chunk_key_encoding: must_understand false, which is not allowed here",
        ),
        (("fill_value", "null!"), ": no \"fill_value\""),
        (("fill_value", "40000"), "/fill_value: 40000, expected -32768 to 32767"),
        (("codecs", "[]"), "/codecs: no codecs, expected at least an array-to-bytes codec"),
        (("codecs", "[\"bytes\"]"), "/codecs/0: no endian, expected one for elements of several bytes"),
        (
            ("codecs", r#"[{"name":"bytes","configuration":{"endian":"middle"}}]"#),
            "/codecs/0/configuration/endian: \"middle\", expected \"little\" or \"big\"",
        ),
        (
            ("codecs", r#"[{"name":"sharding_indexed","configuration":{"codecs":["bytes"]}}]"#),
            "/codecs/0/configuration/codecs/0: no endian, expected one for elements of several bytes",
        ),
        (("attributes", "[]"), "/attributes: an array, expected an object"),
        (("dimension_names", "[]"), "/dimension_names: 0 names, expected 1, one per dimension"),
        (("dimension_names", "[7]"), "/dimension_names/0: a number, expected a string"),
        (("storage_transformers", "[\"t\"]"), "/storage_transformers/0: storage transformer \"t\""),
        (("later", "1"), "/later: \"later\" is unknown, and must_understand is not false"),
        (
            ("later", "{\"must_understand\":true}"),
            "/later: \"later\" is unknown, and must_understand is not false",
        ),
    ] {
        let pointer = if message.starts_with('/') { "zarr.json#" } else { "zarr.json" };
        assert_eq!(node(&with(&[changes])).unwrap_err().to_string(), format!("{pointer}{message}"));
    }
    assert_eq!(node("[]").unwrap_err().to_string(), "zarr.json: an array, expected an object");
    let many = format!("[{}]", vec!["1"; 65].join(","));
    assert_eq!(node(&with(&[("shape", &many)])).unwrap_err().kind(), ErrorKind::LimitExceeded);
}

#[test]
fn rejects_invalid_documents_of_version_2() {
    let text = r#"{"zarr_format":2,"shape":[6],"chunks":[2],"dtype":"<i4","compressor":null,"fill_value":null,
        "order":"C","filters":null}"#;
    assert!(v2::ArrayMetadata::parse(&json(text), &Limits::default()).unwrap().fill_value.is_none());
    for (from, to, message) in [
        ("\"zarr_format\":2", "\"zarr_format\":3", "#/zarr_format: version 3, expected 2"),
        ("\"chunks\":[2]", "\"chunks\":[0]", "#/chunks/0: 0, expected 1 or more"),
        ("\"chunks\":[2]", "\"chunks\":[2,2]", "#/chunks: 2 dimensions, expected 1 as in the array"),
        ("\"<i4\"", "\"|O\"", "#/dtype: \"|O\" without a filter that gives the type of its objects"),
        ("\"order\":\"C\"", "\"order\":\"K\"", "#/order: \"K\", expected \"C\" or \"F\""),
        ("\"filters\":null", "\"filters\":[{}]", "#/filters/0: no \"id\""),
        ("\"compressor\":null", "\"compressor\":\"zlib\"", "#/compressor: a string, expected an object"),
        ("\"fill_value\":null", "\"fill_value\":\"NaN\"", "#/fill_value: a string, expected an integer"),
    ] {
        let e = v2::ArrayMetadata::parse(&json(&text.replace(from, to)), &Limits::default()).unwrap_err();
        assert_eq!(e.to_string(), format!(".zarray{message}"));
    }
    let lean = r#"{"zarr_format":2,"shape":[0],"chunks":[0],"dtype":"<i4","fill_value":1.0,"order":"C"}"#;
    let metadata = v2::ArrayMetadata::parse(&json(lean), &Limits::default()).unwrap();
    assert_eq!(metadata.deviations.len(), 3);
    let text = r#"{"zarr_consolidated_format":2,"metadata":{}}"#;
    let e = v2::ConsolidatedMetadata::parse(&json(text), &Limits::default()).unwrap_err();
    assert_eq!(e.to_string(), ".zmetadata#/zarr_consolidated_format: version 2, expected 1");
}

#[test]
fn filters_give_the_type_of_objects_in_version_2() {
    let text = |filter: &str| {
        let text = r#"{"zarr_format":2,"shape":[6],"chunks":[2],"dtype":"|O","compressor":null,"fill_value":"",
            "order":"C","filters":[{"id":"ID"}]}"#;
        v2::ArrayMetadata::parse(&json(&text.replace("ID", filter)), &Limits::default())
    };
    assert_eq!(text("vlen-utf8").unwrap().dtype.data_type, DataType::String);
    assert_eq!(text("vlen-bytes").unwrap().dtype.data_type, DataType::Bytes);
    let e = text("pickle").unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Unsupported);
    assert_eq!(e.to_string(), ".zarray#/filters/0: objects of the filter \"pickle\"");
}

#[test]
fn rectilinear_grids_end_at_the_shape_of_the_array() {
    let shapes = r#"[4,[1,2,3],[[4,2]],[[1,3],3],[4,4,4],[[1,1000000000000]]]"#;
    let text = with(&[
        ("shape", "[6,6,6,6,6,3]"),
        (
            "chunk_grid",
            &format!(
                r#"{{"name":"rectilinear","configuration":{{"kind":"inline","chunk_shapes":{shapes}}}}}"#
            ),
        ),
    ]);
    let metadata = array(&text);
    let grid = metadata.chunk_grid.geometry(&metadata.shape, &Limits::default()).unwrap();
    assert_eq!(grid.axes()[0], Axis::Regular { chunk: 4 });
    let edges: Vec<_> = grid.axes()[1..].to_vec();
    let expected = [vec![1, 3, 6], vec![4, 8], vec![1, 2, 3, 6], vec![4, 8], vec![1, 2, 3]];
    assert_eq!(edges, expected.map(Axis::Edges));
    let ChunkGrid::Rectilinear { chunk_shapes } = &*metadata.chunk_grid else { panic!() };
    assert_eq!(chunk_shapes[3], Edges::Runs(vec![(1, 3), (3, 1)]));

    let refused = |shapes: &str, shape: &str| {
        let grid = format!(
            r#"{{"name":"rectilinear","configuration":{{"kind":"inline","chunk_shapes":{shapes}}}}}"#
        );
        node(&with(&[("shape", shape), ("chunk_grid", &grid)])).unwrap_err().to_string()
    };
    let place = "zarr.json#/chunk_grid/configuration/chunk_shapes";
    assert_eq!(
        refused("[[1,2]]", "[6]"),
        format!("{place}/0: chunks of 3 elements in all, expected at least 6")
    );
    assert_eq!(
        refused("[[]]", "[0]"),
        format!("{place}/0: chunks of 0 elements in all, expected at least 0")
    );
    assert_eq!(refused("[[[1,0]]]", "[6]"), format!("{place}/0/0/1: 0, expected 1 or more"));
    assert_eq!(refused("[[[1,2,3]]]", "[6]"), format!("{place}/0/0: 3 numbers, expected size and count"));

    let endless = array(&with(&[
        ("shape", "[1000000000000]"),
        (
            "chunk_grid",
            r#"{"name":"rectilinear","configuration":{"kind":"inline","chunk_shapes":[[[1,1000000000000]]]}}"#,
        ),
    ]));
    let limits = Limits { allocation: 1 << 16, ..Limits::default() };
    let e = endless.chunk_grid.geometry(&endless.shape, &limits).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::LimitExceeded);
}

#[test]
fn all_axes_of_a_grid_share_one_limit_of_edges() {
    let limits = Limits { allocation: 1 << 16, ..Limits::default() };
    let grid = ChunkGrid::rectilinear(vec![Edges::Runs(vec![(1, u64::MAX)]); 4]);
    // Together 1024 edges, also of axes without elements, which have a first chunk.
    grid.geometry(&[341, 341, 341, 0], &limits).unwrap();
    let e = grid.geometry(&[341, 341, 342, 0], &limits).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::LimitExceeded);
    assert_eq!(e.detail(), "more than 1024 chunks along the dimensions of a grid");
}

#[test]
fn encodes_chunk_keys_as_specified() {
    let keys = |json: &str| *array(&with(&[("chunk_key_encoding", json)])).chunk_key_encoding;
    assert_eq!(keys("\"default\"").encode(&[1, 0, 23]), "c/1/0/23");
    assert_eq!(keys(r#"{"name":"default","configuration":{"separator":"."}}"#).encode(&[1, 0]), "c.1.0");
    assert_eq!(keys("\"v2\"").encode(&[1, 0]), "1.0");
    assert_eq!(keys(r#"{"name":"v2","configuration":{"separator":"/"}}"#).encode(&[1, 0]), "1/0");
    assert_eq!(ChunkKeyEncoding::Default(Separator::Slash).encode(&[]), "c");
    assert_eq!(ChunkKeyEncoding::V2(Separator::Dot).encode(&[]), "0");
    let written = ChunkKeyEncoding::V2(Separator::Slash).written();
    assert_eq!(keys(&written.json().emit()), *written);
}

#[test]
fn new_documents_round_trip() {
    let fields =
        [("x".to_owned(), DataType::Float(Float::Float32)), ("n".to_owned(), DataType::Raw { length: 3 })];
    let data_type = DataType::Struct(Struct::new(fields).unwrap());
    let row = [&f32::NAN.to_ne_bytes()[..], &[1, 2, 3]].concat();
    let endian = [("endian".to_owned(), Json::from("big"))].into_iter().collect();
    for form in [TypeForm::Registered, TypeForm::Seed, TypeForm::Legacy] {
        let metadata = v3::ArrayMetadata {
            shape: vec![6, 4],
            fill_value: Written::fill_value(&data_type, row.clone()).unwrap(),
            data_type: Written::data_type(data_type.clone(), form, ByteOrder::Big).unwrap(),
            chunk_grid: ChunkGrid::rectilinear(vec![Edges::Step(2), Edges::Runs(vec![(1, 2), (3, 1)])]),
            chunk_key_encoding: ChunkKeyEncoding::V2(Separator::Slash).written(),
            codecs: vec![Extension::new("bytes", Some(Object::clone(&endian)))],
            byte_order: Some(ByteOrder::Big),
            attributes: None,
            storage_transformers: None,
            dimension_names: Some(vec![Some("t".to_owned()), None]),
            unknown: Object::new(),
            deviations: Vec::new(),
        };
        let parsed = array(&metadata_json(metadata.clone()).emit());
        assert_eq!((parsed.shape, parsed.fill_value), (metadata.shape, metadata.fill_value));
        assert_eq!(parsed.chunk_grid, metadata.chunk_grid);
        assert_eq!(parsed.dimension_names, metadata.dimension_names);
        assert_eq!(parsed.data_type.json(), metadata.data_type.json());
        let layout = |data_type: &DataType| Layout::new(data_type, Some(ByteOrder::Big)).unwrap();
        assert_eq!(layout(&parsed.data_type), layout(&metadata.data_type));
        assert!(parsed.deviations.is_empty());
    }

    let DataType::Struct(fields) = &data_type else { panic!() };
    let orders =
        |fields: &Struct| fields.fields().iter().map(|field: &Field| field.byte_order).collect::<Vec<_>>();
    assert_eq!(orders(fields), [None, None]);
    let dtype = Dtype { data_type, byte_order: None };
    let metadata = v2::ArrayMetadata {
        shape: vec![6],
        chunks: vec![4],
        fill_value: Some(Written::fill_value_v2(&dtype, row.clone()).unwrap()),
        dtype: Written::dtype(dtype).unwrap(),
        compressor: None,
        order: v2::Order::C,
        filters: None,
        dimension_separator: None,
        unknown: Object::new(),
        deviations: Vec::new(),
    };
    let parsed = v2::ArrayMetadata::parse(&metadata.emit(), &Limits::default()).unwrap();
    assert_eq!(parsed.fill_value, metadata.fill_value);
    assert_eq!(parsed.dtype.json(), metadata.dtype.json());
    let DataType::Struct(fields) = &parsed.dtype.data_type else { panic!() };
    assert_eq!(orders(fields), [Some(ByteOrder::Little), None]);
}

/// The expected result of one case of the matrix of structs.
enum Want {
    /// Read, with this number of deviations.
    Rows(usize),
    Refused(&'static str),
}

/// The forms of one struct, `id: int32, flag: uint8, val: float64` with the fill values 7, 8 and 9.5, that are accepted
/// or rejected. Written by hand from the registered text, the legacy alias and the draft of 2022.
#[test]
fn accepts_and_rejects_forms_of_structs() {
    let objects = r#"[{"name":"id","data_type":"int32"},{"name":"flag","data_type":"uint8"},{"name":"val","data_type":"float64"}]"#;
    let pairs = r#"[["id","int32"],["flag","uint8"],["val","float64"]]"#;
    let configured =
        |name: &str, fields: &str| format!(r#"{{"name":"{name}","configuration":{{"fields":{fields}}}}}"#);
    let registered = configured("struct", objects);
    let legacy = configured("structured", pairs);
    let endian = |order: &str| format!(r#"[{{"name":"bytes","configuration":{{"endian":"{order}"}}}}]"#);
    let (little, big, none) = (endian("little"), endian("big"), r#"[{"name":"bytes"}]"#.to_owned());
    let (values, base64_little, base64_big) =
        (r#"{"id":7,"flag":8,"val":9.5}"#, r#""BwAAAAgAAAAAAAAjQA==""#, r#""AAAABwhAIwAAAAAAAA==""#);
    let twice = objects.replace("flag", "id");
    let typed =
        objects.replace("\"int32\"", r#"{"name":"int32"}"#).replace("\"float64\"", r#"{"name":"float64"}"#);
    let descr = |mark: char| format!(r#"[["id","{mark}i4"],["flag","|u1"],["val","{mark}f8"]]"#);
    let cases = [
        ("registered, little", registered.clone(), values, &little, Want::Rows(0)),
        ("registered, big", registered.clone(), values, &big, Want::Rows(0)),
        ("registered, types as objects", configured("struct", &typed), values, &little, Want::Rows(0)),
        ("registered, no endian", registered.clone(), values, &none, Want::Refused("no endian")),
        (
            "registered, a value missing",
            registered.clone(),
            r#"{"id":7,"flag":8}"#,
            &little,
            Want::Refused("no \"val\""),
        ),
        ("registered, base64", registered.clone(), base64_little, &little, Want::Rows(1)),
        ("registered, pairs", configured("struct", pairs), values, &little, Want::Rows(3)),
        (
            "equal names",
            configured("struct", &twice),
            r#"{"id":7,"val":9.5}"#,
            &little,
            Want::Refused("a second field \"id\""),
        ),
        ("no fields", configured("struct", "[]"), "{}", &little, Want::Refused("without fields")),
        (
            "a string",
            configured("struct", r#"[{"name":"id","data_type":"string"}]"#),
            r#"{"id":""}"#,
            &little,
            Want::Refused("variable size"),
        ),
        ("legacy, base64, no endian", legacy.clone(), base64_little, &none, Want::Rows(1)),
        ("legacy, base64, big", legacy.clone(), base64_big, &big, Want::Rows(0)),
        ("legacy, object", legacy, values, &little, Want::Rows(0)),
        ("draft, base64", pairs.to_owned(), base64_little, &little, Want::Rows(0)),
        ("draft, values in order", pairs.to_owned(), "[7,8,9.5]", &little, Want::Rows(0)),
        ("draft, object", pairs.to_owned(), values, &little, Want::Rows(0)),
        ("NumPy, little", descr('<'), base64_little, &none, Want::Rows(0)),
        ("NumPy, big", descr('>'), base64_big, &none, Want::Rows(0)),
        ("NumPy, big, whatever endian says", descr('>'), base64_big, &little, Want::Rows(0)),
    ];
    let row = [&7_i32.to_ne_bytes()[..], &[8], &9.5_f64.to_ne_bytes()].concat();
    for (name, data_type, fill, codecs, want) in cases {
        let text = with(&[("data_type", &data_type), ("fill_value", fill), ("codecs", codecs)]);
        match want {
            Want::Rows(deviations) => {
                let metadata = match node(&text) {
                    Ok(NodeMetadata::Array(metadata)) => metadata,
                    other => panic!("{name}: {other:?}"),
                };
                assert_eq!(**metadata.fill_value, row, "{name}");
                assert_eq!(metadata.deviations.len(), deviations, "{name}: {:?}", metadata.deviations);
                // The stored element 3, 13, 1.5.
                let is_big = name.contains("big");
                let stored = match is_big {
                    true => [&3_i32.to_be_bytes()[..], &[13], &1.5_f64.to_be_bytes()].concat(),
                    false => [&3_i32.to_le_bytes()[..], &[13], &1.5_f64.to_le_bytes()].concat(),
                };
                let mut decoded = [0; 13];
                let layout = Layout::new(&metadata.data_type, metadata.byte_order).unwrap();
                layout.decode(&stored, &mut decoded).unwrap();
                let expected = [&3_i32.to_ne_bytes()[..], &[13], &1.5_f64.to_ne_bytes()].concat();
                assert_eq!(decoded[..], expected, "{name}");
                assert!(same_members(&metadata_json(*metadata), &json(&text)), "{name}");
            }
            Want::Refused(reason) => {
                let e = node(&text).expect_err(name).to_string();
                assert!(e.contains(reason), "{name}: {e}");
            }
        }
    }
}

fn metadata_json(metadata: v3::ArrayMetadata) -> Json {
    NodeMetadata::Array(Box::new(metadata)).emit()
}

#[test]
fn reads_structs_with_array_fields_in_version_2() {
    let text = r#"{"zarr_format":2,"shape":[6],"chunks":[2],"dtype":[["id","<i4"],["flag","|u1"],["val","<f8"]],
        "compressor":null,"fill_value":"BwAAAAgAAAAAAAAjQA==","order":"C","filters":null}"#;
    let metadata = v2::ArrayMetadata::parse(&json(text), &Limits::default()).unwrap();
    let row = [&7_i32.to_ne_bytes()[..], &[8], &9.5_f64.to_ne_bytes()].concat();
    assert_eq!(***metadata.fill_value.as_ref().unwrap(), row);
    let text = r#"{"zarr_format":2,"shape":[2],"chunks":[2],"dtype":[["m","<f4",[2,3]],["k","<i8"]],
        "compressor":null,"fill_value":null,"order":"C","filters":null}"#;
    let metadata = v2::ArrayMetadata::parse(&json(text), &Limits::default()).unwrap();
    assert_eq!(metadata.dtype.data_type.stored_size(), Some(32));
    let layout = Layout::new(&metadata.dtype.data_type, metadata.dtype.byte_order).unwrap();
    let stored: Vec<u8> =
        (0..6).flat_map(|i: u8| f32::from(i).to_le_bytes()).chain(7_i64.to_le_bytes()).collect();
    let mut row = [0; 32];
    layout.decode(&stored, &mut row).unwrap();
    assert_eq!(row[20..24], 5_f32.to_ne_bytes());
    assert_eq!(row[24..], 7_i64.to_ne_bytes());
}

proptest! {
    /// Any value in the place of a member is accepted or rejected, without a panic.
    #[test]
    fn any_member_is_accepted_or_rejected(
        name in prop_oneof![
            Just("shape"), Just("data_type"), Just("chunk_grid"), Just("chunk_key_encoding"), Just("fill_value"),
            Just("codecs"), Just("dimension_names"), Just("storage_transformers"), Just("zarr_format"),
        ],
        value in value(),
    ) {
        if let Ok(metadata) = node(&with(&[(name, &value.emit())])) {
            let again = NodeMetadata::parse(&metadata.emit(), &Limits::default()).unwrap();
            prop_assert_eq!(again, metadata);
        }
    }
}

fn value() -> impl Strategy<Value = Json> {
    let word = prop_oneof![
        Just("struct"),
        Just("structured"),
        Just("<i4"),
        Just("|V3"),
        Just("int32"),
        Just("regular"),
        Just("bytes"),
        Just("rectilinear"),
        Just("inline"),
        Just("sharding_indexed"),
        Just("r16"),
        Just("little"),
        Just(""),
        Just("numpy.datetime64"),
        Just("fixed_length_utf32"),
        Just("s"),
        Just("AAAA"),
    ];
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::Bool),
        prop_oneof![0..4_u64, Just(u64::MAX)].prop_map(Json::from),
        word.clone().prop_map(Json::from),
    ];
    let names = prop_oneof![
        Just("name"),
        Just("configuration"),
        Just("fields"),
        Just("data_type"),
        Just("codecs"),
        Just("length_bytes"),
        Just("chunk_shape"),
        Just("chunk_shapes"),
        Just("kind"),
        Just("unit"),
        Just("scale_factor"),
        Just("endian"),
        Just("must_understand"),
    ];
    leaf.prop_recursive(5, 30, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Json::Array),
            prop::collection::vec((names.clone().prop_map(str::to_owned), inner.clone()), 0..4)
                .prop_map(|members| Json::Object(members.into_iter().collect())),
            (word.clone(), prop::collection::vec((names.clone().prop_map(str::to_owned), inner), 0..4))
                .prop_map(|(name, members)| {
                    let mut object = Object::new();
                    object.insert("name", name.into());
                    object.insert("configuration", Json::Object(members.into_iter().collect()));
                    Json::Object(object)
                }),
        ]
    })
}

#[test]
fn decodes_only_canonical_chunk_keys() {
    use super::{ChunkKeyEncoding, Separator};
    for separator in [Separator::Dot, Separator::Slash] {
        for keys in [ChunkKeyEncoding::Default(separator), ChunkKeyEncoding::V2(separator)] {
            for index in [&[][..], &[0], &[17, 0, 3]] {
                let key = keys.encode(index);
                assert_eq!(keys.decode(&key, index.len()).as_deref(), Some(index), "{key}");
                assert_eq!(keys.decode(&key, index.len() + 2).as_deref(), None, "{key}");
            }
            for key in ["", "c", "c/", "x", "c/-1", "c.+1", "zarr.json", "0/x", "99999999999999999999"] {
                assert_eq!(keys.decode(key, 1), None, "{key}");
            }
        }
    }
}
