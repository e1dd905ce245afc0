use super::*;
use hyperslab_core::ErrorKind;
use proptest::prelude::*;

fn parse(text: &str) -> Result<Json> {
    Json::parse("zarr.json", text.as_bytes(), &Limits::default())
}

fn refused(text: &str) -> String {
    parse(text).unwrap_err().to_string()
}

#[test]
fn keeps_digits_order_and_characters() {
    let text = r#" {"b" : [1e+300, -0.0, 18446744073709551616, 0.10] , "a":"\u00e9\ud83d\ude00\/\n","":{}} "#;
    let value = parse(text).unwrap();
    assert_eq!(
        value.emit(),
        "{\n  \"b\": [1e+300, -0.0, 18446744073709551616, 0.10],\n  \"a\": \"é😀/\\n\",\n  \"\": {}\n}"
    );
    assert_eq!(parse(&value.emit()).unwrap(), value);
}

#[test]
fn rejects_invalid_json() {
    let at = |place: u64, what: &str| format!("malformed zarr.json at byte {place:#x}: {what}");
    assert_eq!(refused("[NaN]"), at(1, "NaN, expected a value"));
    assert_eq!(refused("[-Infinity]"), at(2, "Infinity, expected a digit"));
    assert_eq!(refused(r#"{"a":1,"a":2}"#), at(7, r#"duplicate name "a""#));
    assert_eq!(refused(r#"{"a":1,"\u0061":2}"#), at(7, r#"duplicate name "a""#));
    assert_eq!(refused("[1,]"), at(3, "']', expected a value"));
    assert_eq!(refused("01"), at(1, "01, expected the end").replace("01,", "1,"));
    assert_eq!(refused("1."), at(2, "the end, expected a digit"));
    assert_eq!(refused(r#""\ud800""#), at(1, "half of a surrogate pair"));
    assert_eq!(refused(r#""\x""#), at(1, "an escape that JSON does not have"));
    assert_eq!(refused("\"a\tb\""), at(2, "the control character 0x09 in a string"));
    assert_eq!(refused("\u{feff}{}"), at(0, "'\\u{feff}', expected a value"));
    assert_eq!(refused(""), at(0, "the end, expected a value"));
    assert_eq!(refused("{1:2}"), at(1, "1, expected a name in quotes"));
    let e = Json::parse("zarr.json", b"\"\xff\"", &Limits::default()).unwrap_err();
    assert_eq!(e.to_string(), at(1, "text that is not UTF-8"));
}

const WAY: &[&str] = &["a", "b"];

fn parse_apart(text: &str) -> Result<(Json, Apart)> {
    Json::parse_apart("zarr.json", text, WAY, &Limits::default())
}

#[test]
fn leaves_out_only_members_at_the_path() {
    let text =
        r#"{"b": {"x": 1}, "a": {"a": {"b": {"y": 2}}, "b": {"p": {"q": [1, "\u0041"]}, "r": -0.5 }}}"#;
    let (value, apart) = parse_apart(text).unwrap();
    let expected = text.replace(r#"{"p": {"q": [1, "\u0041"]}, "r": -0.5 }"#, "{}");
    assert_eq!(value, parse(&expected).unwrap());
    let parts: Vec<_> = apart.iter().map(|(name, part)| (name.as_str(), &text[part.clone()])).collect();
    assert_eq!(parts, [("p", r#" {"q": [1, "\u0041"]}"#), ("r", " -0.5")]);
    for (_, part) in &apart {
        let parsed = Json::parse_part("zarr.json", text, part, "", &Limits::default()).unwrap();
        assert_eq!(parsed, parse(&text[part.clone()]).unwrap());
    }
    assert_eq!(parse_apart(r#"{"a": [{"b": {"x": 1}}]}"#).unwrap().1, []);
    assert_eq!(parse_apart(r#"[{"a": {"b": {"x": 1}}}]"#).unwrap().1, []);
}

#[test]
fn rejects_duplicate_names_in_a_part() {
    let text = r#"{"a":{"b":{"p":{"x":1,"x":2}}}}"#;
    let (_, apart) = parse_apart(text).unwrap();
    let e = Json::parse_part("zarr.json", text, &apart[0].1, "", &Limits::default()).unwrap_err();
    assert_eq!(e.to_string(), r#"malformed zarr.json at byte 0x16: duplicate name "x""#);
    let e = parse_apart(r#"{"a":{"b":{"p":1,"p":2}}}"#).unwrap_err();
    assert_eq!(e.to_string(), r#"malformed zarr.json at byte 0x11: duplicate name "p""#);
}

#[test]
fn accepts_bare_words_only_in_attributes() {
    let parse = |document, text: &str| Json::parse_document(document, text.as_bytes(), &Limits::default());
    let node = r#"{"attributes":{"a":[NaN,{"b":-Infinity}]},"x":0}"#;
    let copies = format!(r#"{{"consolidated_metadata":{{"metadata":{{"attributes":{node}}}}}}}"#);
    for (document, text) in [
        (".zattrs", r#"{"a":[NaN,Infinity,-Infinity],"b":NaN}"#),
        ("zarr.json", node),
        ("zarr.json", &copies),
        (".zmetadata", r#"{"metadata":{".zattrs":{"a":NaN},"a/.zattrs":{"a":[-Infinity]}}}"#),
    ] {
        let value = parse(document, text).unwrap();
        assert_eq!(value.emit_compact(), text, "what was there");
        assert_eq!(parse(document, &value.emit()).unwrap(), value, "what is written is read");
    }
    for (document, text) in [
        (".zattrs", r#"{"a":NaNs}"#),
        ("zarr.json", r#"{"fill_value":NaN}"#),
        ("zarr.json", r#"{"attributes":{"a":1},"fill_value":NaN}"#),
        ("zarr.json", r#"{"x":{"attributes":{"a":NaN}}}"#),
        ("zarr.json", r#"[{"attributes":{"a":NaN}}]"#),
        ("zarr.json", r#"{"consolidated_metadata":{"metadata":{"a":{"fill_value":NaN}}}}"#),
        (".zarray", r#"{"attributes":{"a":NaN}}"#),
    ] {
        assert!(parse(document, text).is_err(), "{text}");
    }
}

#[test]
fn bare_words_in_fill_values_of_version_2_are_strings() {
    let parse = |document, text: &str| Json::parse_noting(document, text.as_bytes(), &Limits::default());
    for (document, text, places) in [
        (".zarray", r#"{"fill_value":NaN}"#, vec![14]),
        (".zarray", r#"{"fill_value": [-Infinity, 1.0,Infinity]}"#, vec![16, 31]),
        (
            ".zmetadata",
            r#"{"metadata":{".zarray":{"fill_value":NaN},"a/.zarray":{"fill_value":[NaN]}}}"#,
            vec![37, 69],
        ),
    ] {
        let (value, fills) = parse(document, text).unwrap();
        assert_eq!(fills, places, "{text}");
        let quoted = text.replace("-Infinity", "-F").replace("Infinity", r#""Infinity""#);
        let quoted = quoted.replace("-F", r#""-Infinity""#).replace("NaN", r#""NaN""#);
        assert_eq!(value, parse(document, &quoted).unwrap().0, "{text}");
    }
    for (document, text) in [
        (".zarray", r#"{"fill_value":{"a":NaN}}"#),
        (".zarray", r#"{"fill_value":0,"x":NaN}"#),
        (".zarray", r#"{"x":{"fill_value":NaN}}"#),
        (".zarray", r#"[{"fill_value":NaN}]"#),
        (".zgroup", r#"{"fill_value":NaN}"#),
        (".zmetadata", r#"{"metadata":{"a/.zgroup":{"fill_value":NaN}}}"#),
        (".zmetadata", r#"{"fill_value":NaN}"#),
    ] {
        assert!(parse(document, text).is_err(), "{text}");
    }
}

#[test]
fn rejects_a_duplicate_among_many_names() {
    let many: Vec<String> = (0..100).map(|i| format!("\"n{i}\":{i}")).collect();
    assert!(parse(&format!("{{{}}}", many.join(","))).is_ok());
    assert!(refused(&format!("{{{},\"n3\":0}}", many.join(","))).contains("duplicate name \"n3\""));
}

#[test]
fn depth_and_size_have_limits() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(parse(&nested(129)).is_ok());
    assert!(refused(&nested(130)).contains("values nested more than 128 levels deep"));
    assert!(refused(&"[".repeat(1_000_000)).contains("values nested more than 128 levels deep"));
    let limits = Limits { allocation: 1000, ..Limits::default() };
    let refused = |text: String| Json::parse("zarr.json", text.as_bytes(), &limits).unwrap_err().kind();
    assert_eq!(refused(format!("[{}0]", "0,".repeat(20))), ErrorKind::LimitExceeded);
    assert_eq!(refused(format!("\"{}\"", "x".repeat(1000))), ErrorKind::LimitExceeded);
    assert_eq!(refused(format!("{{\"{}\":0}}", "x".repeat(1000))), ErrorKind::LimitExceeded);
}

fn json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::Bool),
        any::<i64>().prop_map(|value| Json::Number(Number::integer(value))),
        any::<f64>().prop_filter_map("finite", |value| Number::float(value).map(Json::Number)),
        any::<String>().prop_map(Json::String),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Json::Array),
            prop::collection::vec((any::<String>(), inner), 0..6)
                .prop_map(|members| Json::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn emitted_values_round_trip(value in json()) {
        prop_assert_eq!(parse(&value.emit()).unwrap(), value);
    }

    #[test]
    fn parse_apart_is_as_strict_as_parse(text in "[\\[\\]{}\",:0-9eE+.\\\\u a-z-]{0,30}") {
        let whole = format!(r#"{{"a":{{"b":{{"p":{text}}}}}}}"#);
        let apart = parse_apart(&whole).and_then(|(_, apart)| {
            let parse = |part| Json::parse_part("zarr.json", &whole, part, "", &Limits::default());
            apart.iter().map(|(_, part)| parse(part)).collect::<Result<Vec<_>>>()
        });
        prop_assert_eq!(apart.is_ok(), parse(&whole).is_ok());
    }

    #[test]
    fn any_text_gives_a_value_or_an_error(text in "[\\[\\]{}\",:0-9eE+.\\\\u a-z-]{0,60}") {
        if let Ok(value) = parse(&text) {
            prop_assert_eq!(parse(&value.emit()).unwrap(), value);
        }
    }
}
