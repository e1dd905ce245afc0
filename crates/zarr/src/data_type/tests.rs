use super::*;
use crate::json::{Context, Deviation};
use hyperslab_core::{ErrorKind, Limits};

fn json(text: &str) -> Json {
    Json::parse("test", text.as_bytes(), &Limits::default()).unwrap()
}

fn parsed(text: &str) -> (Result<DataType>, Vec<Deviation>) {
    let context = Context::new(&Limits::default());
    let found = DataType::parse(&json(text), &context.document("data_type"));
    (found, context.into_deviations())
}

fn v3(text: &str) -> DataType {
    parsed(text).0.unwrap()
}

fn refused(text: &str) -> String {
    parsed(text).0.unwrap_err().to_string()
}

fn v2(text: &str) -> Result<Dtype> {
    let context = Context::new(&Limits::default());
    Dtype::parse(&json(text), None, &context.document("dtype"))
}

fn fill(data_type: &DataType, text: &str, rules: FillRules) -> Result<Vec<u8>> {
    let context = Context::new(&Limits::default());
    data_type.parse_fill(&json(text), rules, &context.document("fill_value"))
}

const V3: FillRules = FillRules { version_2: false, form: TypeForm::Registered, order: None };
const V2: FillRules = FillRules { version_2: true, form: TypeForm::Registered, order: None };

fn number(json: &Json) -> u64 {
    let Json::Number(number) = json else { panic!("{json:?}") };
    number.as_u64().unwrap()
}

fn items(json: &Json) -> &[Json] {
    let Json::Array(items) = json else { panic!("{json:?}") };
    items
}

#[test]
fn unusual_nans_have_the_bits_of_the_usual_one_instead() {
    let (single, double) = (DataType::Float(Float::Float32), DataType::Float(Float::Float64));
    let usual = f32::NAN.to_ne_bytes();
    for bits in [0xffc0_0000, 0x7fc0_0001, 0x7f80_0001_u32] {
        assert_eq!(single.with_usual_nan(&bits.to_ne_bytes()).unwrap(), usual, "{bits:#x}");
    }
    let found = double.with_usual_nan(&0x7ff8_0000_0000_0001_u64.to_ne_bytes());
    assert_eq!(found.unwrap(), 0x7ff8_0000_0000_0000_u64.to_ne_bytes());
    let parts = [1.5_f32.to_ne_bytes(), 0xffc0_0000_u32.to_ne_bytes()].concat();
    let complex = DataType::Complex(Float::Float32);
    assert_eq!(complex.with_usual_nan(&parts).unwrap(), [1.5_f32.to_ne_bytes(), usual].concat());
    for row in [usual, 1.5_f32.to_ne_bytes(), f32::NEG_INFINITY.to_ne_bytes(), (-0.0_f32).to_ne_bytes()] {
        assert_eq!(single.with_usual_nan(&row), None);
    }
    assert_eq!(DataType::Raw { length: 4 }.with_usual_nan(&0xffc0_0000_u32.to_ne_bytes()), None);
}

#[test]
fn every_registered_name_round_trips() {
    let mut names = vec!["bool".to_owned(), "string".to_owned(), "bytes".to_owned()];
    for bits in [2, 4, 8, 16, 32, 64] {
        names.extend([format!("int{bits}"), format!("uint{bits}")]);
    }
    names.extend(["complex64", "complex128", "r8", "r48"].map(str::to_owned));
    for name in ["float16", "float32", "float64", "bfloat16", "float8_e3m4", "float8_e4m3", "float8_e5m2"] {
        names.push(name.to_owned());
    }
    for name in ["float8_e4m3b11fnuz", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu"] {
        names.extend([name.to_owned(), format!("complex_{name}")]);
    }
    for name in ["float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn"] {
        names.extend([name.to_owned(), format!("complex_{name}")]);
    }
    names.extend(["complex_bfloat16", "complex_float16"].map(str::to_owned));
    for name in names {
        let data_type = v3(&format!("\"{name}\""));
        assert_eq!(data_type, v3(&format!("{{\"name\":\"{name}\"}}")), "{name}");
        let emitted = data_type.emit(TypeForm::Registered, ByteOrder::Little).unwrap();
        assert_eq!(emitted, name.as_str().into());
    }
    assert_eq!(v3("\"complex_float32\""), v3("\"complex64\""));
    assert_eq!(v3("\"complex_float64\""), v3("\"complex128\""));
}

#[test]
fn rejects_unknown_data_types_by_name() {
    for (text, message) in [
        ("\"int24\"", "data_type: data type \"int24\""),
        ("\"r7\"", "data_type: data type \"r7\""),
        ("\"r+8\"", "data_type: data type \"r+8\""),
        ("\"r0\"", "data_type: elements of 0 bytes"),
        ("\"r99999999992\"", "data_type: elements of 12499999999 bytes, expected at most 16777216"),
        ("7", "data_type: a number, expected a name or an object"),
        ("{}", "data_type: no \"name\""),
        ("{\"name\":7}", "data_type#/name: a number, expected a string"),
        (
            "{\"name\":\"int8\",\"configuration\":{\"a\":1}}",
            "data_type#/configuration: a configuration of \"int8\"",
        ),
        (
            "{\"name\":\"int8\",\"must_understand\":false}",
            "data_type: must_understand false, which is not allowed in a data type",
        ),
        ("\"fixed_length_utf32\"", "data_type: \"fixed_length_utf32\" without a configuration"),
        (
            "{\"name\":\"fixed_length_utf32\",\"configuration\":{\"length_bytes\":6}}",
            "data_type#/configuration/length_bytes: 6, expected a multiple of 4",
        ),
        (
            "{\"name\":\"numpy.datetime64\",\"configuration\":{\"unit\":\"q\",\"scale_factor\":1}}",
            "data_type#/configuration/unit: \"q\", expected a unit of NumPy",
        ),
        (
            "{\"name\":\"numpy.datetime64\",\"configuration\":{\"unit\":\"s\",\"scale_factor\":2147483648}}",
            "data_type#/configuration/scale_factor: 2147483648, expected 1 to 2147483647",
        ),
    ] {
        assert_eq!(refused(text), message);
    }
}

#[test]
fn small_floats_equal_those_of_ml_dtypes() {
    let table = json(include_str!("../../tests/fixtures/floats.json"));
    let mut count = 0;
    for (name, tables) in table.as_object().unwrap().iter() {
        let float = Float::named(name).unwrap();
        let tables = tables.as_object().unwrap();
        for entry in items(tables.get("values").unwrap()) {
            let [bits, value] = items(entry) else { panic!() };
            let (bits, value) = (number(bits), value.as_str().unwrap().parse::<f64>().unwrap());
            let found = float.value(bits);
            assert_eq!(
                (found.is_nan(), found.to_bits()),
                (value.is_nan(), if value.is_nan() { found } else { value }.to_bits()),
                "{name} {bits:#x}"
            );
            // Numbers round-trip through JSON.
            let context = Context::new(&Limits::default());
            let text = float.emit(bits);
            assert_eq!(float.parse(&text, &context.document("fill_value")).unwrap(), bits, "{name} {text:?}");
            count += 1;
        }
        for entry in tables.get("rounded").map(items).unwrap_or_default() {
            let [value, bits] = items(entry) else { panic!() };
            let value = json(value.as_str().unwrap());
            let context = Context::new(&Limits::default());
            let found = float.parse(&value, &context.document("fill_value")).unwrap();
            assert_eq!(found, number(bits), "{name} {value:?}");
            count += 1;
        }
    }
    assert!(count > 2000, "{count}");
}

#[test]
fn large_numbers_become_infinite_if_the_format_has_infinity() {
    let float = |name: &str, text: &str| fill(&DataType::Float(Float::named(name).unwrap()), text, V3);
    assert_eq!(float("float16", "65519").unwrap(), 0x7bff_u16.to_ne_bytes());
    assert_eq!(float("float16", "-65520").unwrap(), 0xfc00_u16.to_ne_bytes());
    assert_eq!(float("float32", "1e39").unwrap(), f32::INFINITY.to_ne_bytes());
    assert_eq!(float("float8_e5m2", "1e9").unwrap(), [0x7c]);
    assert!(
        float("float8_e4m3fnuz", "1e9")
            .unwrap_err()
            .to_string()
            .ends_with("which float8_e4m3fnuz does not have")
    );
    assert!(float("float4_e2m1fn", "\"NaN\"").is_err());
    assert!(float("float8_e8m0fnu", "3").is_err());
    assert_eq!(float("float8_e4m3", "\"NaN\"").unwrap(), [0x7c]);
    assert_eq!(float("float8_e3m4", "\"NaN\"").unwrap(), [0x78]);
    assert_eq!(float("float8_e5m2fnuz", "\"NaN\"").unwrap(), [0x80]);
    assert_eq!(float("bfloat16", "\"NaN\"").unwrap(), 0x7fc0_u16.to_ne_bytes());
    assert_eq!(float("float32", "\"0x7fc00001\"").unwrap(), 0x7fc0_0001_u32.to_ne_bytes());
    assert!(float("float32", "\"0x7fc0\"").is_err());
    assert!(float("float32", "\"nan\"").is_err());
}

#[test]
fn types_and_fill_values_equal_those_of_zarr_python() {
    let cases = json(include_str!("../../tests/fixtures/data_types.json"));
    let mut count = 0;
    for case in items(&cases) {
        let case = case.as_object().unwrap();
        let name = case.get("numpy").unwrap().as_str().unwrap();
        let row = case.get("row").unwrap().as_str().unwrap();
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let context = Context::new(&Limits::default());
        if let Some(v3) = case.get("v3").and_then(Json::as_object) {
            let told = v3.get("data_type").unwrap();
            let data_type = DataType::parse(told, &context.document("data_type")).unwrap();
            let value = v3.get("fill_value").unwrap();
            let form = TypeForm::of(told);
            let rules = FillRules { form, ..V3 };
            let found = data_type.parse_fill(value, rules, &context.document("fill_value")).unwrap();
            assert_eq!(hex(&found), row, "{name}");
            // Types round-trip. For registered types, the metadata equals that of zarr-python.
            let ours = data_type.emit(form, ByteOrder::Little).unwrap();
            let again = DataType::parse(&ours, &context.document("data_type")).unwrap();
            assert_eq!(again, data_type);
            assert_eq!(ours, *told, "{name}");
            let emitted = data_type.emit_fill(&found).unwrap();
            let returned = data_type.parse_fill(&emitted, V3, &context.document("fill_value")).unwrap();
            assert_eq!(hex(&returned), row, "{name}");
            count += 1;
        }
        if let Some(v2) = case.get("v2").and_then(Json::as_object) {
            let told = v2.get("dtype").unwrap();
            let dtype = Dtype::parse(told, None, &context.document("dtype")).unwrap();
            assert_eq!(dtype.emit().unwrap(), *told, "{name}");
            let rules = FillRules { order: dtype.byte_order, ..V2 };
            let found =
                dtype.data_type.parse_fill(v2.get("fill_value").unwrap(), rules, &context.document("f"));
            let found = found.unwrap();
            assert_eq!(hex(&found), row, "{name}");
            let emitted = dtype.emit_fill(&found).unwrap();
            let returned = dtype.data_type.parse_fill(&emitted, rules, &context.document("f")).unwrap();
            assert_eq!(hex(&returned), row, "{name}");
            count += 1;
        }
    }
    assert!(count >= 60, "{count}");
}

#[test]
fn reads_structs_in_every_form() {
    let registered = v3(r#"{"name":"struct","configuration":{"fields":[{"name":"id","data_type":"int32"},
        {"name":"p","data_type":{"name":"struct","configuration":{"fields":[{"name":"x","data_type":"uint8"}]}}},
        {"name":"val","data_type":{"name":"float64"}}]}}"#);
    let legacy = r#"{"name":"structured","configuration":{"fields":[["id","int32"],
        ["p",{"name":"structured","configuration":{"fields":[["x","uint8"]]}}],["val","float64"]]}}"#;
    assert_eq!(v3(legacy), registered);
    assert_eq!(v3(r#"[["id","int32"],["p",[["x","uint8"]]],["val","float64"]]"#), registered);
    let descr = r#"[["id","<i4"],["p",[["x","|u1"]]],["val",">f8"]]"#;
    let told = v2(descr).unwrap();
    assert_eq!(v3(descr), told.data_type);
    let (DataType::Struct(one), DataType::Struct(other)) = (&told.data_type, &registered) else { panic!() };
    let orders: Vec<_> = one.fields().iter().map(|field| field.byte_order).collect();
    assert_eq!(orders, [Some(ByteOrder::Little), None, Some(ByteOrder::Big)]);
    let types = |s: &Struct| s.fields().iter().map(|f| (f.name.clone(), f.offset)).collect::<Vec<_>>();
    assert_eq!(types(one), types(other));
    assert_eq!(types(one)[2], ("val".to_owned(), 5));
}

#[test]
fn writes_structs_in_the_requested_form() {
    let point = Struct::new([("x".to_owned(), v3("\"float32\""))]).unwrap();
    let fields = [
        ("name".to_owned(), DataType::FixedLengthUtf32 { length: 10 }),
        ("p".to_owned(), DataType::Struct(point)),
    ];
    let data_type = DataType::Struct(Struct::new(fields).unwrap());
    let emitted = |form, order| data_type.emit(form, order).unwrap();
    assert_eq!(
        emitted(TypeForm::Registered, ByteOrder::Big),
        json(
            r#"{"name":"struct","configuration":{"fields":[{"name":"name","data_type":{"name":"fixed_length_utf32",
            "configuration":{"length_bytes":40}}},{"name":"p","data_type":{"name":"struct","configuration":{"fields":
            [{"name":"x","data_type":"float32"}]}}}]}}"#
        )
    );
    assert_eq!(emitted(TypeForm::Seed, ByteOrder::Big), json(r#"[["name",">U10"],["p",[["x",">f4"]]]]"#));
    let legacy = emitted(TypeForm::Legacy, ByteOrder::Little);
    assert_eq!(v3(&legacy.emit()), data_type);
    assert!(legacy.emit().contains("structured"));
    assert!(parsed(&emitted(TypeForm::Registered, ByteOrder::Little).emit()).1.is_empty());
}

#[test]
fn rejects_invalid_structs() {
    let fields = |fields: &str| format!("{{\"name\":\"struct\",\"configuration\":{{\"fields\":{fields}}}}}");
    for (text, message) in [
        (fields("[]"), "data_type#/configuration/fields: a struct without fields"),
        (
            fields(r#"[{"name":"a","data_type":"int8"},{"name":"a","data_type":"int8"}]"#),
            "data_type#/configuration/fields/1: a second field \"a\"",
        ),
        (
            fields(r#"[{"name":"","data_type":"int8"}]"#),
            "data_type#/configuration/fields/0: a field without a name",
        ),
        (
            fields(r#"[{"name":"a","data_type":"string"}]"#),
            "data_type#/configuration/fields/0: field \"a\" of variable size, expected a fixed one",
        ),
        (fields(r#"[{"name":"a"}]"#), "data_type#/configuration/fields/0: no \"data_type\""),
        (
            fields(r#"[["a","int8",[2]]]"#),
            "data_type#/configuration/fields/0: 3 items, expected name and type",
        ),
        ("[]".to_owned(), "data_type: a struct without fields"),
        (r#"[["a","<i4","b"]]"#.to_owned(), "data_type#/0/2: a string, expected an array"),
        (r#"[["a","<i4"],["a","<i4"]]"#.to_owned(), "data_type#/1: a second field \"a\""),
    ] {
        assert_eq!(refused(&text), message);
    }
    let (found, deviations) = parsed(&fields(r#"[["a","int8"]]"#));
    assert!(found.is_ok());
    assert_eq!(deviations[0].what, "a field as a pair, expected an object");
    let deep = format!("{}\"int8\"{}", "[[\"a\",".repeat(60), "]]".repeat(60));
    assert_eq!(parsed(&deep).0.unwrap_err().kind(), ErrorKind::LimitExceeded);
}

#[test]
fn padding_titles_and_arrays_of_version_2_round_trip() {
    let text = r#"[[["first","a"],"|u1"],["","|V3"],["m",">f4",[2,3]],["b","<i2",2],["","|V4"]]"#;
    let dtype = v2(text).unwrap();
    assert_eq!(dtype.emit().unwrap(), json(&text.replace("\"<i2\",2", "\"<i2\",[2]")));
    let DataType::Struct(fields) = &dtype.data_type else { panic!() };
    assert_eq!(fields.stored_size(), 36);
    assert_eq!(dtype.data_type.row_size(), 29);
    assert_eq!(fields.fields()[0].title.as_deref(), Some("first"));
    assert_eq!(fields.fields()[1].offset, 4);
    assert_eq!(fields.packed().stored_size(), 29);
    let refused = dtype.data_type.emit(TypeForm::Registered, ByteOrder::Little).unwrap_err();
    assert_eq!(refused.to_string(), "padding between fields, which version 3 cannot describe");

    let mixed = v2(r#"[["a",">i4"],["b","<i4"]]"#).unwrap().data_type;
    let refused = mixed.emit(TypeForm::Registered, ByteOrder::Little).unwrap_err();
    assert_eq!(refused.to_string(), "fields with different byte orders, which version 3 does not support");
    let DataType::Struct(mixed) = mixed else { panic!() };
    assert!(DataType::Struct(mixed.packed()).emit(TypeForm::Registered, ByteOrder::Little).is_ok());

    let layout = Layout::new(&dtype.data_type, None).unwrap();
    let stored: Vec<u8> = (0..72).collect();
    let mut rows = [0; 58];
    layout.decode(&stored, &mut rows).unwrap();
    let float = |at: usize| f32::from_ne_bytes(rows[at..at + 4].try_into().unwrap());
    assert_eq!((rows[0], rows[29]), (0, 36));
    assert_eq!(float(1), f32::from_be_bytes([4, 5, 6, 7]));
    assert_eq!(float(29 + 21), f32::from_be_bytes([60, 61, 62, 63]));
    assert_eq!(
        rows[25..29],
        [i16::from_le_bytes([28, 29]), i16::from_le_bytes([30, 31])].map(i16::to_ne_bytes).concat()
    );
    let mut back = vec![0xee; 72];
    layout.encode(&rows, &mut back).unwrap();
    assert_eq!(back[1..4], [0; 3]);
    assert_eq!(back[4..32], stored[4..32]);
    assert_eq!(back[32..36], [0; 4]);
    assert!(layout.decode(&stored[..71], &mut rows).is_err());
    assert!(layout.decode(&stored, &mut rows[..57]).is_err());
}

#[test]
fn decoding_ignores_unused_bits_of_a_byte() {
    let decoded = |name: &str, stored: &[u8]| {
        let mut rows = vec![0; stored.len()];
        Layout::new(&v3(&format!("\"{name}\"")), None).unwrap().decode(stored, &mut rows).unwrap();
        rows
    };
    assert_eq!(decoded("int4", &[0xf7, 0x08, 0xff]), [7, 0xf8, 0xff]);
    assert_eq!(decoded("uint4", &[0xf7, 0x08]), [7, 8]);
    assert_eq!(decoded("int2", &[0x02, 0xfd]), [0xfe, 1]);
    assert_eq!(decoded("float6_e2m3fn", &[0xff]), [0x3f]);
    assert_eq!(decoded("complex_float4_e2m1fn", &[0xff, 0x1f]), [0x0f, 0x0f]);
    assert_eq!(fill(&v3("\"int4\""), "-8", V3).unwrap(), [0xf8]);
    assert!(fill(&v3("\"int4\""), "8", V3).is_err());
}

#[test]
fn requires_a_byte_order_for_elements_of_several_bytes() {
    let e = Layout::new(&v3("\"int16\""), None).unwrap_err();
    assert_eq!(e.to_string(), "numbers of several bytes without a byte order (endian)");
    let mut rows = [0; 4];
    Layout::new(&v3("\"int16\""), Some(ByteOrder::Big)).unwrap().decode(&[1, 2, 3, 4], &mut rows).unwrap();
    assert_eq!(rows, [0x0102_i16, 0x0304].map(i16::to_ne_bytes).concat()[..]);
    assert!(Layout::new(&v3("\"int8\""), None).unwrap().is_plain());
    assert!(Layout::new(&DataType::String, Some(ByteOrder::Little)).is_err());
}

#[test]
fn rejects_invalid_types_of_version_2() {
    for (text, message) in [
        ("\"f4\"", "dtype: \"f4\", expected <, > or | and a type"),
        ("\"|f4\"", "dtype: \"|f4\" without a byte order"),
        ("\"<f16\"", "dtype: data type \"<f16\""),
        ("\"<i3\"", "dtype: data type \"<i3\""),
        ("\"|O\"", "dtype: \"|O\" without a filter that gives the type of its objects"),
        ("\"<U0\"", "dtype: elements of 0 bytes"),
        ("\"<U+5\"", "dtype: data type \"<U+5\""),
        ("\"<U99999999999999999999\"", "dtype: data type \"<U99999999999999999999\""),
        (
            "\"<U9999999999999999999\"",
            "dtype: elements of 18446744073709551615 bytes, expected at most 16777216",
        ),
        ("\"<M8[3x]\"", "dtype: data type \"<M8[3x]\""),
        ("\"<é\"", "dtype: data type \"<é\""),
        (
            "[[\"a\",\"<f4\",[99999999,99999999]]]",
            "dtype#/0/2: elements of 39999999200000004 bytes, expected at most 16777216",
        ),
        ("[[\"a\",\"<f4\",[0]]]", "dtype#/0/2: elements of 0 bytes"),
        ("{}", "dtype: an object, expected a string or a list of fields"),
    ] {
        assert_eq!(v2(text).unwrap_err().to_string(), message);
    }
}

#[test]
fn numbers_as_booleans_are_deviations_of_version_3() {
    for (text, value) in [("0", 0), ("1", 1)] {
        let context = Context::new(&Limits::default());
        let row = DataType::Bool.parse_fill(&json(text), V3, &context.document("fill_value")).unwrap();
        assert_eq!(row, [value]);
        let found = context.into_deviations();
        assert_eq!(found[0].what, format!("{text}, expected true or false"));
    }
}

#[test]
fn rejects_invalid_fill_values() {
    let point = r#"[["x","float32"],["y","int8"]]"#;
    for (data_type, text, message) in [
        ("\"bool\"", "2", "fill_value: a number, expected true or false"),
        ("\"int8\"", "128", "fill_value: 128, expected -128 to 127"),
        ("\"uint8\"", "-1", "fill_value: -1, expected 0 to 255"),
        ("\"int8\"", "1.0", "fill_value: 1.0, expected an integer without fraction and exponent"),
        ("\"int8\"", "null", "fill_value: null, expected an integer"),
        ("\"float32\"", "true", "fill_value: a boolean, expected a number or the name of one"),
        ("\"complex64\"", "[1]", "fill_value: 1 numbers, expected 2"),
        (
            "\"complex64\"",
            "[1,\"x\"]",
            "fill_value#/1: \"x\", expected NaN, Infinity, -Infinity or 0x and 8 digits",
        ),
        ("\"r16\"", "[1,256]", "fill_value#/1: 256, expected 0 to 255"),
        ("\"r16\"", "[1]", "fill_value: 1 bytes, expected 2"),
        ("\"string\"", "0", "fill_value: a number, expected a string"),
        (point, "{\"x\":1}", "fill_value: no \"y\""),
        (point, "{\"x\":1,\"y\":2,\"z\":3}", "fill_value: a value of \"z\" that is not the name of a field"),
        (point, "{\"x\":1,\"y\":\"a\"}", "fill_value#/y: a string, expected an integer"),
        (point, "[1,2]", "fill_value: an array, expected an object with a value for each field"),
        (point, "\"AAAA\"", "fill_value: 3 bytes, expected 5"),
        (point, "\"*\"", "fill_value: text that is not base64"),
    ] {
        assert_eq!(fill(&v3(data_type), text, V3).unwrap_err().to_string(), message);
    }
    let utf32 = DataType::FixedLengthUtf32 { length: 2 };
    assert_eq!(
        fill(&utf32, "\"abc\"", V3).unwrap_err().to_string(),
        "fill_value: 3 characters, expected at most 2"
    );
}

#[test]
fn accepts_old_forms_of_fill_values_in_version_2() {
    let read = |dtype: &str, text: &str| fill(&v2(dtype).unwrap().data_type, text, V2).unwrap();
    assert_eq!(read("\"<i4\"", "7.0"), 7_i32.to_ne_bytes());
    assert_eq!(read("\"|b1\"", "1"), [1]);
    assert_eq!(read("\"|S4\"", "\"Yf8=\""), [0x61, 0xff, 0, 0]);
    assert_eq!(read("\"<U2\"", "0"), [0; 8]);
    assert_eq!(read("\"<c8\"", "0"), [0; 8]);
    assert_eq!(
        read("[[\"a\",\">i2\"],[\"\",\"|V1\"],[\"b\",\"|u1\"]]", "\"AQIDBA==\"")[..2],
        0x0102_i16.to_ne_bytes()
    );
    assert_eq!(read("[[\"a\",\">i2\"]]", "0"), [0; 2]);
}

#[test]
fn refuses_fill_values_that_would_list_millions_of_bytes() {
    let raw = |length| DataType::Raw { length };
    assert!(raw(1 << 10).emit_fill(&[0; 1 << 10]).is_ok());
    let length = (1 << 20) + 1;
    let e = raw(length).emit_fill(&vec![0; 1 << 20]).unwrap_err();
    assert_eq!(
        e.to_string(),
        "elements with 1048577 raw bytes: a fill value lists each of them, at most 1048576 are written\n\
         help: version 2 has fill values in base64"
    );
    assert_eq!(e.kind(), ErrorKind::Unsupported);
    let dtype = v2("\"|V1048577\"").unwrap();
    assert!(dtype.emit_fill(&vec![0; (1 << 20) + 1]).is_ok());
}
