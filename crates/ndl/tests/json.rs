//! Documents in all the forms that JSON writers produce.

use hyperslab_ndl::{ParseOptions, Parsed, parse};

fn read(text: &str) -> Parsed {
    parse(text.as_bytes(), &ParseOptions::default())
}

fn shown(parsed: &Parsed) -> Vec<String> {
    parsed.diagnostics.iter().map(ToString::to_string).collect()
}

/// The text of the only attribute of the root.
fn attribute(text: &str) -> String {
    let parsed = read(text);
    assert_eq!(shown(&parsed), Vec::<String>::new(), "{text}");
    let root = parsed.content.nodes.get(&hyperslab_model::NodePath::root()).unwrap();
    let (_, attribute) = root.attributes().unwrap().iter().next().unwrap();
    let attribute = attribute.as_ref().unwrap();
    let mut elements = hyperslab_model::Elements::new(&attribute.datatype, &attribute.value);
    match elements.next().unwrap().get() {
        hyperslab_model::Element::Text(text) => String::from_utf8(text.to_vec()).unwrap(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn joins_escaped_surrogate_pairs() {
    assert_eq!(attribute(r#"{"attributes": {"t": "a\ud83d\ude00\u00e9\u20AC/\/\"\\\b\f\n\r\t"}}"#), {
        "a😀é€//\"\\\u{8}\u{c}\n\r\t"
    });
}

#[test]
fn rejects_unpaired_surrogates_at_their_place() {
    for half in [r"\ud83d", r"\ude00", r"\ud83dx", r"\ud83d\ud83d", r"\ud83d\u0041"] {
        let parsed = read(&format!("{{\"attributes\":\n  {{\"t\": \"{half}\"}}}}"));
        let all = shown(&parsed);
        let [one] = all.as_slice() else { panic!("{half}: {all:?}") };
        assert!(one.starts_with("2:9: error: ") && one.contains("an unpaired surrogate"), "{one}");
    }
}

#[test]
fn any_white_space_and_any_length_of_keys_are_read() {
    let key = "k".repeat(3000);
    assert_eq!(attribute(&format!("\t{{\r\n\t\"attributes\"\t:{{\n\t\t\"{key}\":\"x\"\t}}\r\n}}\r\n")), "x");
}

#[test]
fn characters_that_yaml_forbids_are_read() {
    assert_eq!(attribute("{\"attributes\":{\"t\":\"a\u{7f}b\u{9f}\u{2028}\u{ffff}\"}}"), {
        "a\u{7f}b\u{9f}\u{2028}\u{ffff}"
    });
}

#[test]
fn places_count_characters() {
    let parsed = read(
        "{\"attributes\": {\"é😀\": 1},\n\t\"ndarrays\": {\"é\": {\"shape\": [2], \"type\": \"int8\", \"value\": [1, 300]}}}",
    );
    assert_eq!(shown(&parsed), ["2:64: error: \"300\" for int8: out of range [ndl/value-range]"]);
    let parsed = read("{\"attributes\": {\"a\": 1, \"b\": 2,\n \"a\": 3}}");
    assert_eq!(
        shown(&parsed),
        ["2:2: error: duplicate key \"a\" in a map, on line 1 and line 2 [ndl/duplicate-key]"]
    );
}

#[test]
fn reads_invalid_json_as_yaml() {
    for text in [
        "{attributes: {t: x}}",
        "{\"attributes\": {\"t\": x}}",
        "{\"attributes\": {\"t\": 'x'},}",
        "{\"attributes\": {\"t\": \"\\x78\"}} # behind",
        "{\n\"attributes\": &a {\"t\": \"x\"}}",
    ] {
        assert_eq!(attribute(text), "x", "{text}");
    }
    let parsed = read("{\"attributes\": {\"a\": 01, \"b\": .5, \"c\": +1, \"d\": 1.}}");
    assert_eq!(parsed.diagnostics.len(), 0, "{:?}", shown(&parsed));
}

#[test]
fn rejects_truncated_json() {
    let whole = "{\"attributes\": {\"t\": [1, {\"a\": \"\\u0041\"}], \"n\": -1.5e+3}}";
    for end in 1..whole.len() {
        assert!(read(&whole[..end]).has_errors(), "{}", &whole[..end]);
    }
    for text in ["{]", "{\"attributes\": {}}}", "{\"attributes\": [}", "{,}", "{\"a\" 1}"] {
        assert!(read(text).has_errors(), "{text}");
    }
}
