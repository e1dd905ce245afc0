//! The findings of `check` in stores that break each rule.

use crate::hostile;
use hyperslab_core::store::{Key, MemoryStore, Store};
use hyperslab_core::{Limits, Severity};
use hyperslab_zarr::check::{Options, RULES, ValuePlace, check};
use hyperslab_zarr::json::{Json, Object};
use std::collections::BTreeSet;

pub(crate) const GROUP: &str = r#"{"zarr_format":3,"node_type":"group"}"#;
pub(crate) const GROUP_2: &str = r#"{"zarr_format":2}"#;
pub(crate) const ARRAY: &str = r#"{"zarr_format":3,"node_type":"array","shape":[6],"data_type":"uint8",
 "chunk_grid":{"name":"regular","configuration":{"chunk_shape":[4]}},"chunk_key_encoding":"default",
 "fill_value":0,"codecs":["bytes"]}"#;
pub(crate) const ARRAY_2: &str = r#"{"zarr_format":2,"shape":[4,2],"chunks":[2,2],"dtype":"<i2","compressor":null,
 "fill_value":0,"order":"C","filters":null}"#;

/// A document with some members replaced. `null` removes a member.
pub(crate) fn with(document: &str, members: &str) -> String {
    let parse = |text: &str| Json::parse("t", text.as_bytes(), &Limits::default()).unwrap();
    let Json::Object(mut object) = parse(document) else { panic!("{document}") };
    let Json::Object(members) = parse(&format!("{{{members}}}")) else { panic!("{members}") };
    for (name, value) in members.iter() {
        object.insert(name, value.clone());
    }
    let left: Object = object
        .into_iter()
        .filter(|(name, _)| !matches!(members.get(name), Some(Json::String(text)) if text == "-"))
        .collect();
    Json::Object(left).emit()
}

/// A shard of two inner chunks of two bytes, with the given index.
pub(crate) fn sharded(index_codecs: &str) -> String {
    let sharding = format!(
        r#"{{"name":"sharding_indexed","configuration":{{"chunk_shape":[2],"codecs":["bytes"],
        "index_codecs":{index_codecs},"index_location":"end"}}}}"#
    );
    with(ARRAY, &format!(r#""codecs":[{sharding}],"shape":[4]"#))
}

pub(crate) const INDEX: &str = r#"[{"name":"bytes","configuration":{"endian":"little"}}]"#;
pub(crate) const INDEX_WITH_SUM: &str = r#"[{"name":"bytes","configuration":{"endian":"little"}},"crc32c"]"#;

pub(crate) fn shard(data: &[u8], entries: &[[u64; 2]]) -> Vec<u8> {
    let mut bytes = data.to_vec();
    entries.iter().flatten().for_each(|number| bytes.extend(number.to_le_bytes()));
    bytes
}

pub(crate) fn store(values: &[(&str, &[u8])]) -> MemoryStore {
    let mut store = MemoryStore::new();
    for (name, value) in values {
        store.insert(&Key::new(name).unwrap(), value.to_vec());
    }
    store
}

/// Findings as `rule object key place: message`.
pub(crate) fn told_of(store: &dyn Store) -> Vec<String> {
    let mut told = Vec::new();
    let options = Options { values: true, ..Options::default() };
    let limits = Limits { allocation: 1 << 20, ..Limits::default() };
    check(store, limits, &options, &mut |finding| told.push(tell(finding)));
    told
}

pub(crate) fn tell(finding: hyperslab_zarr::check::Finding) -> String {
    let place = match finding.place {
        Some(ValuePlace::Text { line, column, end_column, .. }) => format!(" {line}:{column}-{end_column}"),
        Some(ValuePlace::Bytes { byte, len }) => format!(" {byte}+{len}"),
        None => String::new(),
    };
    let object = finding.object.map(|object| format!(" {object}")).unwrap_or_default();
    let key = finding.key.map(|key| format!(" {key}")).unwrap_or_default();
    let line = format!("{}{object}{key}{place}: {}", finding.rule, finding.message);
    // Long paths are shortened to both ends.
    match (line.get(..24), line.len().checked_sub(80).and_then(|at| line.get(at..))) {
        (Some(head), Some(tail)) if line.len() > 200 => format!("{head}…{tail}"),
        _ => line,
    }
}

/// The expected findings.
type Told = &'static [&'static str];

struct Case {
    values: Vec<(&'static str, Vec<u8>)>,
    told: Told,
}

fn case(values: &[(&'static str, &[u8])], told: Told) -> Case {
    Case { values: values.iter().map(|(key, value)| (*key, value.to_vec())).collect(), told }
}

fn told(case: &Case) -> Vec<String> {
    let values: Vec<_> = case.values.iter().map(|(key, value)| (*key, value.as_slice())).collect();
    told_of(&store(&values))
}

fn of_root(document: &str, told: Told) -> Case {
    case(&[("zarr.json", document.as_bytes())], told)
}

fn of_root_2(document: &str, told: Told) -> Case {
    case(&[(".zarray", document.as_bytes())], told)
}

fn cases() -> Vec<Case> {
    let mut cases = documents();
    cases.extend(hierarchies());
    cases.extend(chunks());
    cases.extend(shards());
    cases
}

fn documents() -> Vec<Case> {
    vec![
        of_root(
            "{\n \"zarr_format\": 3,\n \"node_type\" \"group\"}",
            &[r#"zarr/json / zarr.json 3:14-15: '"', expected a colon"#],
        ),
        of_root(
            "{\"zarr_format\":3,\"node_type\":\"group\",\"zarr_format\":2}",
            &[r#"zarr/duplicate-name / zarr.json 1:38-39: duplicate name "zarr_format""#],
        ),
        case(
            &[("zarr.json", b"{\"\xff\":0}")],
            &["zarr/text-encoding / zarr.json 1:3-4: text that is not UTF-8"],
        ),
        of_root(
            r#"{"zarr_format":3,"node_type":"group","attributes":{"a":[NaN,-Infinity,"NaN"]}}"#,
            &[
                "zarr/not-finite-attribute / zarr.json 1:57-60: a bare NaN, expected a number or a string",
                "zarr/not-finite-attribute / zarr.json 1:61-70: a bare -Infinity, expected a number or a string",
            ],
        ),
        of_root(
            "[NaN]",
            &[
                "zarr/not-finite / zarr.json 1:2-5: a bare NaN, expected a number or a string",
                "zarr/document / zarr.json 1:1-6: an array, expected an object",
            ],
        ),
        of_root("[]", &["zarr/document / zarr.json 1:1-3: an array, expected an object"]),
        of_root(r#"{"zarr_format":3}"#, &[r#"zarr/missing-member / zarr.json 1:1-18: no "node_type""#]),
        of_root(
            r#"{"zarr_format":4,"node_type":"group","attributes":[]}"#,
            &[
                "zarr/version / zarr.json 1:16-17: version 4, expected 3",
                "zarr/attributes / zarr.json 1:51-53: an array, expected an object",
            ],
        ),
        of_root(
            r#"{"zarr_format":3,"node_type":"folder"}"#,
            &[r#"zarr/node-type / zarr.json 1:30-38: "folder", expected "array" or "group""#],
        ),
        of_root(
            &with(ARRAY, r#""node_type":"group""#),
            &[r#"zarr/node-type / zarr.json 3:16-23: a node of type "group" with the member "shape""#],
        ),
        of_root(
            &with(ARRAY, r#""consolidated_metadata":{"kind":"inline"}"#),
            &[
                r#"zarr/node-type / zarr.json 3:16-23: a node of type "array" with the member "consolidated_metadata""#,
            ],
        ),
        of_root(
            &with(ARRAY, r#""shape":[18446744073709551616]"#),
            &["zarr/shape / zarr.json 4:13-33: 18446744073709551616, expected an integer from 0 to 2^64 - 1"],
        ),
        of_root(
            &with(ARRAY, r#""shape":[-1]"#),
            &["zarr/shape / zarr.json 4:13-15: -1, expected an integer from 0 to 2^64 - 1"],
        ),
        of_root(
            &with(ARRAY, r#""data_type":7"#),
            &["zarr/data-type / zarr.json 5:16-17: a number, expected a name or an object"],
        ),
        of_root(
            &with(ARRAY, r#""data_type":"int24""#),
            &[r#"zarr/unknown-extension / zarr.json 5:16-23: not supported: data type "int24""#],
        ),
        of_root(
            &with(ARRAY, r#""data_type":{"name":"struct","configuration":{"fields":[]}}"#),
            &["zarr/data-type / zarr.json 8:17-19: a struct without fields"],
        ),
        of_root(
            &with(ARRAY, r#""chunk_grid":{"name":"regular","configuration":{"chunk_shape":[0]}}"#),
            &["zarr/chunk-grid / zarr.json 9:23-24: 0, expected 1 or more"],
        ),
        of_root(
            &with(ARRAY, r#""chunk_grid":{"name":"regular","configuration":{"chunk_shape":[4,4]}}"#),
            &["zarr/chunk-grid / zarr.json 9:22-28: 2 dimensions, expected 1 as in the array"],
        ),
        of_root(
            &with(ARRAY, r#""chunk_grid":{"name":"hexagonal","configuration":{}}"#),
            &[r#"zarr/unknown-extension / zarr.json 6:17-18: not supported: chunk grid "hexagonal""#],
        ),
        of_root(
            &with(
                ARRAY,
                r#""chunk_grid":{"name":"rectilinear","configuration":{"kind":"inline","chunk_shapes":[[1,2]]}}"#,
            ),
            &["zarr/chunk-grid / zarr.json 11:9-15: chunks of 3 elements in all, expected at least 6"],
        ),
        of_root(
            &with(
                ARRAY,
                r#""shape":[2,2],"chunk_grid":{"name":"regular","configuration":{"chunk_shape":[4294967296,4294967296]}}"#,
            ),
            &[
                "zarr/size / zarr.json 6:17-18: chunks of [4294967296, 4294967296] elements, expected less than 2^63 bytes",
            ],
        ),
        of_root(
            &with(
                ARRAY,
                r#""shape":[4294967296,4294967296],"chunk_grid":{"name":"regular","configuration":{"chunk_shape":[1,1]}}"#,
            ),
            &[
                "zarr/limit / zarr.json 4:12-36: [4294967296, 4294967296] elements take more than 2^64 - 1 bytes",
            ],
        ),
        of_root(
            &with(ARRAY, r#""chunk_key_encoding":{"name":"default","configuration":{"separator":"-"}}"#),
            &[r#"zarr/chunk-key-encoding / zarr.json 15:20-23: "-", expected "." or "/""#],
        ),
        of_root(
            &with(ARRAY, r#""fill_value":300"#),
            &["zarr/fill-value / zarr.json 13:17-20: 300, expected 0 to 255"],
        ),
        of_root(
            &with(ARRAY, r#""codecs":[]"#),
            &["zarr/codecs / zarr.json 14:13-15: no codecs, expected at least an array-to-bytes codec"],
        ),
        of_root(
            &with(ARRAY, r#""codecs":["crc32c","bytes"]"#),
            &[
                r#"zarr/codecs / zarr.json 14:14-22: "crc32c" before the array-to-bytes codec, expected after it"#,
            ],
        ),
        of_root(
            &with(ARRAY, r#""codecs":["bytes",{"name":"x/y","configuration":{}}]"#),
            &[r#"zarr/unknown-extension / zarr.json 16:5-6: not supported: codec "x/y""#],
        ),
        of_root(
            &with(ARRAY, r#""attributes":[]"#),
            &["zarr/attributes / zarr.json 15:17-19: an array, expected an object"],
        ),
        of_root(
            &with(ARRAY, r#""dimension_names":["x","y"]"#),
            &["zarr/dimension-names / zarr.json 15:22-32: 2 names, expected 1, one per dimension"],
        ),
        of_root(
            &with(ARRAY, r#""storage_transformers":7"#),
            &["zarr/storage-transformers / zarr.json 15:27-28: a number, expected an array"],
        ),
        of_root(
            &with(ARRAY, r#""colour":"blue""#),
            &[
                r#"zarr/must-understand / zarr.json 15:13-19: "colour" is unknown, and must_understand is not false"#,
            ],
        ),
        of_root(
            &with(ARRAY, r#""dimension_names":null"#),
            &["zarr/deviation / zarr.json 15:22-26: null, expected an array or nothing"],
        ),
        of_root(
            &with(
                ARRAY,
                r#""chunk_grid":{"name":"regular","configuration":{"chunk_shape":[0]}},"fill_value":300,"dimension_names":["x","y"],"attributes":[],"codecs":[]"#,
            ),
            &[
                "zarr/chunk-grid / zarr.json 9:23-24: 0, expected 1 or more",
                "zarr/codecs / zarr.json 14:13-15: no codecs, expected at least an array-to-bytes codec",
                "zarr/fill-value / zarr.json 13:17-20: 300, expected 0 to 255",
                "zarr/dimension-names / zarr.json 15:22-32: 2 names, expected 1, one per dimension",
                "zarr/attributes / zarr.json 16:17-19: an array, expected an object",
            ],
        ),
        of_root(
            &with(GROUP, r#""consolidated_metadata":{"kind":"elsewhere"}"#),
            &[r#"zarr/consolidated / zarr.json 5:13-24: consolidated metadata of kind "elsewhere""#],
        ),
        of_root_2(
            &with(ARRAY_2, r#""order":"K","dtype":"<i3","shape":"-","colour":1,"compressor":{"id":7}"#),
            &[
                r#"zarr/missing-member / .zarray 1:1-2: no "shape""#,
                r#"zarr/unknown-extension / .zarray 4:12-17: not supported: data type "<i3""#,
                r#"zarr/order / .zarray 9:12-15: "K", expected "C" or "F""#,
                "zarr/codecs / .zarray 6:11-12: a number, expected a string",
                r#"zarr/unknown-member / .zarray 11:13-14: a member "colour", which is ignored"#,
            ],
        ),
        of_root_2(
            &with(ARRAY_2, r#""chunks":[0,2],"dimension_separator":"","filters":7,"fill_value":"x""#),
            &[
                "zarr/chunk-grid / .zarray 4:14-15: 0, expected 1 or more",
                "zarr/codecs / .zarray 9:14-15: a number, expected an array",
                "zarr/fill-value / .zarray 7:17-20: a string, expected an integer",
                r#"zarr/chunk-key-encoding / .zarray 10:26-28: "", expected "." or "/""#,
            ],
        ),
        of_root_2(
            &with(ARRAY_2, r#""filters":[{"id":"unheard-of"}],"dtype":"|O""#),
            &[
                r#"zarr/unknown-extension / .zarray 10:5-6: not supported: objects of the filter "unheard-of""#,
            ],
        ),
        of_root_2(
            &with(ARRAY_2, r#""filters":[{"id":"unheard-of"}]"#),
            &[r#"zarr/unknown-extension / .zarray 10:5-6: not supported: filter "unheard-of""#],
        ),
        of_root_2(
            r#"{"zarr_format":2,"shape":[4],"chunks":[2],"dtype":"<c8","compressor":null,"fill_value":[NaN,-Infinity],"order":"C","filters":null}"#,
            &[
                r#"zarr/deviation / .zarray 1:89-92: a bare NaN, expected the string "NaN""#,
                r#"zarr/deviation / .zarray 1:93-102: a bare -Infinity, expected the string "-Infinity""#,
            ],
        ),
        of_root_2(
            r#"{"zarr_format":2,"shape":[4],"chunks":[2],"dtype":"<i2","compressor":null,"fill_value":NaN,"order":"C","filters":null}"#,
            &[
                r#"zarr/deviation / .zarray 1:88-91: a bare NaN, expected the string "NaN""#,
                "zarr/fill-value / .zarray 1:88-89: a string, expected an integer",
            ],
        ),
        case(
            &[(".zgroup", br#"{"zarr_format":3,"x":0}"#), (".zattrs", b"7")],
            &[
                "zarr/attributes / .zattrs 1:1-2: a number, expected an object",
                "zarr/version / .zgroup 1:16-17: version 3, expected 2",
                r#"zarr/unknown-member / .zgroup 1:22-23: a member "x", which is ignored"#,
            ],
        ),
    ]
}

fn hierarchies() -> Vec<Case> {
    let deep = (0..300).map(|_| "a/").collect::<String>() + "zarr.json";
    let deep: &'static str = Box::leak(deep.into_boxed_str());
    let long = "n".repeat(256) + "/zarr.json";
    let long: &'static str = Box::leak(long.into_boxed_str());
    let inline = |copies: &str| {
        let inner = format!(
            r#""consolidated_metadata":{{"kind":"inline","must_understand":false,"metadata":{copies}}}"#
        );
        with(GROUP, &inner)
    };
    let group = GROUP.as_bytes();
    let mut cases = vec![
        case(&[], &["zarr/no-node: no zarr.json, .zgroup or .zarray, expected one at the root"]),
        case(&[("readme", b"")], &["zarr/no-node: no zarr.json, .zgroup or .zarray, expected one at the root"]),
        case(&[("zarr.json", group), ("notes.txt", b""), ("a/x", b""), ("a/b/y", b"")], &["zarr/stray / notes.txt: a value that does not belong to a node", "zarr/stray /a: a folder without a group or an array, with 2 values"]),
        case(&[("a/zarr.json", group)], &["zarr/implicit-group /: no document of a group at the root, expected zarr.json"]),
        case(&[("zarr.json", group), ("a/b/zarr.json", group), ("a/x", b"")], &["zarr/implicit-group /a: nodes in a folder without a document, expected the document of a group"]),
        case(&[("zarr.json", group), (deep, group)], &["zarr/limit /a/a/a/a/a/a/…/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a: folders nested more than 256 levels deep"]),
        case(&[("zarr.json", group), (".zgroup", GROUP_2.as_bytes())], &["zarr/two-versions /: zarr.json and .zgroup, expected one of them"]),
        case(&[(".zarray", ARRAY_2.as_bytes()), (".zgroup", GROUP_2.as_bytes())], &["zarr/two-kinds /: .zarray and .zgroup, expected one of them"]),
        case(&[("zarr.json", group), ("a/.zgroup", GROUP_2.as_bytes())], &["zarr/mixed-versions /a: a node of version 2 in a group of version 3"]),
        case(
            &[
                ("zarr.json", group),
                ("a/zarr.json", with(ARRAY, r#""dimension_names":["x"]"#).as_bytes()),
                ("b/zarr.json", with(ARRAY, r#""shape":[7],"dimension_names":["x"]"#).as_bytes()),
                ("c/zarr.json", with(ARRAY, r#""shape":[7],"dimension_names":[null]"#).as_bytes()),
                ("d/zarr.json", with(ARRAY, r#""dimension_names":["x"]"#).as_bytes()),
                ("e/zarr.json", group),
                ("e/f/zarr.json", with(ARRAY, r#""shape":[7],"dimension_names":["x"]"#).as_bytes()),
            ],
            &[r#"zarr/dimension-length /b b/zarr.json 15:23-26: dimension "x" of length 7, but of length 6 in /a"#],
        ),
        case(&[("zarr.json", group), (".zattrs", b"{}"), ("a/.zattrs", b"{}")], &["zarr/attributes-alone /a: attributes without a node, expected .zgroup or .zarray beside them"]),
        case(&[("zarr.json", ARRAY.as_bytes()), ("a/zarr.json", group), ("c/zarr.json", group)], &["zarr/node-in-array /a a/zarr.json: a document below the array /", "zarr/node-in-array /c c/zarr.json: a document below the array /"]),
        case(
            &[
                ("zarr.json", group),
                ("__a/zarr.json", group),
                ("...../zarr.json", group),
                (".zgroup/zarr.json", group),
                ("a\nb/zarr.json", group),
                ("a?/zarr.json", group),
                ("a./zarr.json", group),
                (".zoo/zarr.json", group),
                ("%41/zarr.json", group),
                (long, group),
            ],
            &["zarr/reserved-name /.....: a name that has only dots", "zarr/reserved-name /.zgroup: a name that is the name of a document", "zarr/unportable-name /.zoo: a name that is the name of a document", "zarr/reserved-name /__a: a name that begins with __, which is reserved", "zarr/unportable-name /a\nb: a name that has a control character", "zarr/unportable-name /a.: a name that ends with a period or a space, which not all file systems allow", "zarr/unportable-name /a?: a name with '?', which not all file systems allow", "zarr/unportable-name /nn…nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn: a name that has more than 255 bytes"],
        ),
        case(&[("zarr.json", group), ("Sea/zarr.json", group), ("sea/zarr.json", group), ("É", b""), ("é", b"")], &[r#"zarr/case-clash /: "Sea" and "sea" are the same name if case is ignored"#, r#"zarr/case-clash /: "É" and "é" are the same name if case is ignored"#, "zarr/stray / É: a value that does not belong to a node", "zarr/stray / é: a value that does not belong to a node"]),
        case(
            &[
                ("zarr.json", inline(r#"{"a":{"zarr_format":3,"node_type":"group","attributes":{}},"b":{"zarr_format":3,"node_type":"group","attributes":{"u":[1,2]}},"gone":{}}"#).as_bytes()),
                ("a/zarr.json", group),
                ("b/zarr.json", with(GROUP, r#""attributes":{"u":[1,3]}"#).as_bytes()),
                ("c/zarr.json", group),
            ],
            &["zarr/consolidated-different /b zarr.json 17:20-21: 2, not the 3 of b/zarr.json", "zarr/consolidated-missing /c zarr.json 1:1-2: no copy of c/zarr.json", "zarr/consolidated-extra / zarr.json 20:15-17: a copy of gone/zarr.json, which does not exist in the store"],
        ),
        case(
            &[
                (".zmetadata", br#"{"zarr_consolidated_format":1,"metadata":{".zgroup":{"zarr_format":2},"a/.zgroup":{"zarr_format":2,"x":1},"b/.zarray":{},"b/.zattrs":{},"c//.zattrs":{}}}"#),
                (".zgroup", GROUP_2.as_bytes()),
                (".zattrs", b"{}"),
                ("a/.zgroup", GROUP_2.as_bytes()),
            ],
            &["zarr/consolidated-missing / .zmetadata 1:1-154: no copy of .zattrs", r#"zarr/consolidated-different /a .zmetadata 1:83-106: a member "x" that is not in the document of a/.zgroup"#, "zarr/consolidated-extra / .zmetadata 1:119-121: a copy of b/.zarray, which does not exist in the store", r#"zarr/consolidated / .zmetadata 1:150-152: an empty name in the key "c//.zattrs""#],
        ),
        case(&[(".zmetadata", br#"{"zarr_consolidated_format":2,"metadata":{}}"#), (".zgroup", GROUP_2.as_bytes())], &["zarr/consolidated / .zmetadata 1:29-30: version 2, expected 1"]),
    ];
    // Not on Windows, where no key can contain this character.
    if !cfg!(windows) {
        cases.push(case(
            &[("zarr.json", group), ("a\\b/zarr.json", group)],
            &[r"zarr/unportable-name /a\b: a name that has a separator of names"],
        ));
    }
    cases
}

fn chunks() -> Vec<Case> {
    let gzip = with(ARRAY, r#""codecs":["bytes",{"name":"gzip","configuration":{"level":1}}]"#);
    let sums = with(ARRAY, r#""codecs":["bytes","crc32c"]"#);
    let large = with(
        ARRAY,
        r#""shape":[2097152],"chunk_grid":{"name":"regular","configuration":{"chunk_shape":[2097152]}},"codecs":["bytes",{"name":"gzip","configuration":{"level":1}}]"#,
    );
    vec![
        case(&[("zarr.json", ARRAY.as_bytes()), ("c/0", b"0123"), ("c/1", b"45__")], &[]),
        case(
            &[("zarr.json", ARRAY.as_bytes()), ("c/0", b"012"), ("c/1", b"45___")],
            &[
                "zarr/chunk-size / c/0 0+3: 3 bytes, expected 4",
                "zarr/chunk-size / c/1 0+5: 5 bytes, expected 4",
            ],
        ),
        case(
            &[
                ("zarr.json", ARRAY.as_bytes()),
                ("c/2", b"0123"),
                ("c/00", b"0123"),
                ("c/18446744073709551616", b""),
                ("c.0", b""),
                ("0.0", b""),
                ("c/0/0", b""),
                ("c/0.tmp", b""),
                ("x/y", b""),
            ],
            &[
                r#"zarr/chunk-key / 0.0: "0.0", expected the form of the first chunk, "c/0""#,
                r#"zarr/chunk-key / c.0: "c.0", expected the form of the first chunk, "c/0""#,
                "zarr/stray /c c/0.tmp: a value that does not belong to a node",
                r#"zarr/chunk-key / c/00: "c/00", expected the form of the first chunk, "c/0""#,
                r#"zarr/chunk-key / c/18446744073709551616: "c/18446744073709551616", expected the form of the first chunk, "c/0""#,
                "zarr/chunk-outside / c/2: chunk [2], expected a chunk of the grid [2]",
                r#"zarr/chunk-key / c/0/0: "c/0/0", expected the form of the first chunk, "c/0""#,
                "zarr/stray /x x/y: a value that does not belong to a node",
            ],
        ),
        case(
            &[("zarr.json", gzip.as_bytes()), ("c/0", b"0123")],
            &["zarr/chunk-data / c/0 0+4: 4 bytes are not a complete deflate stream"],
        ),
        case(
            &[("zarr.json", sums.as_bytes()), ("c/0", b"0123\0\0\0\0"), ("c/1", b"4567")],
            &[
                "zarr/chunk-checksum / c/0 0+8: CRC-32C checksum mismatch: stored 0x00000000, computed 0x063962b9",
                "zarr/chunk-size / c/1 0+4: 4 bytes, expected 8",
            ],
        ),
        case(
            &[("zarr.json", large.as_bytes()), ("c/0", b"0123")],
            &[
                "zarr/limit / c/0 0+4: a chunk of shape [2097152] exceeds the limit of memory (raise the allocation limit)",
            ],
        ),
        case(
            &[
                (".zarray", ARRAY_2.as_bytes()),
                ("0.0", b"01234567"),
                ("0/1", b""),
                ("2.0", b""),
                ("1.0", b"0"),
            ],
            &[
                "zarr/chunk-size / 1.0 0+1: 1 bytes, expected 8",
                "zarr/chunk-outside / 2.0: chunk [2, 0], expected a chunk of the grid [2, 1]",
                r#"zarr/chunk-key / 0/1: "0/1", expected the form of the first chunk, "0.0""#,
            ],
        ),
    ]
}

fn shards() -> Vec<Case> {
    let plain = sharded(INDEX);
    let plain = plain.as_bytes();
    const NONE: [u64; 2] = [u64::MAX; 2];
    let of = |bytes: &[u8], told: Told| case(&[("zarr.json", plain), ("c/0", bytes)], told);
    vec![
        of(&shard(b"0123", &[[0, 2], [2, 2]]), &[]),
        of(&shard(b"23", &[NONE, [0, 2]]), &[]),
        of(b"too short", &["zarr/shard-index / c/0 0+9: 9 bytes, expected 32 for the index alone"]),
        of(
            &shard(b"0123", &[[0, 2], [2, u64::MAX]]),
            &[
                "zarr/shard-index / c/0 20+16: inner chunk [1] has only an offset or only a size, expected both or none",
                "zarr/shard-unreferenced / c/0 0+36: 2 of 4 bytes do not belong to an inner chunk",
            ],
        ),
        of(
            &shard(b"0123", &[[0, 2], [u64::MAX - 1, 2]]),
            &[
                "zarr/shard-range / c/0 20+16: inner chunk [1] of 2 bytes at byte 0xfffffffffffffffe, expected a range from 0x0 to 0x4",
                "zarr/shard-unreferenced / c/0 0+36: 2 of 4 bytes do not belong to an inner chunk",
            ],
        ),
        of(
            &shard(b"0123", &[[0, 2], [3, 2]]),
            &[
                "zarr/shard-range / c/0 20+16: inner chunk [1] of 2 bytes at byte 0x3, expected a range from 0x0 to 0x4",
                "zarr/shard-unreferenced / c/0 0+36: 2 of 4 bytes do not belong to an inner chunk",
            ],
        ),
        of(
            &shard(b"012", &[[0, 2], [1, 2]]),
            &[
                "zarr/shard-overlap / c/0 1+1: inner chunk [0] ends at byte 0x2, inner chunk [1] begins at 0x1",
                "zarr/limit / c/0 0+35: overlapping inner chunks are not all decoded",
            ],
        ),
        of(
            &shard(b"01", &[[0, 2], [0, 2]]),
            &["zarr/shard-shared / c/0 0+34: 1 inner chunks have the same byte range as others"],
        ),
        of(
            &shard(b"01..23", &[[0, 2], [4, 2]]),
            &["zarr/shard-unreferenced / c/0 0+38: 2 of 6 bytes do not belong to an inner chunk"],
        ),
        of(
            &shard(b"0123", &[[0, 3], [3, 1]]),
            &[
                "zarr/chunk-size / c/0 0+3: inner chunk [0]: 3 bytes, expected 2",
                "zarr/chunk-size / c/0 3+1: inner chunk [1]: 1 bytes, expected 2",
            ],
        ),
        case(
            &[
                ("zarr.json", sharded(INDEX_WITH_SUM).as_bytes()),
                ("c/0", &shard(b"0123", &[[0, 2], [2, 2], [0, 0]])[..40]),
            ],
            &[
                "zarr/shard-index-checksum / c/0 4+36: the index: CRC-32C checksum mismatch: stored 0x00000000, computed 0x886e5204",
            ],
        ),
        of_root(
            &sharded(INDEX)
                .replace("\"chunk_shape\":[2]", "\"chunk_shape\":[3]")
                .replace("\"chunk_shape\": [2]", "\"chunk_shape\": [3]"),
            &["zarr/shard-shape / zarr.json 18:24-27: inner chunks of [3] do not divide a shard of [4]"],
        ),
    ]
}

#[test]
fn reports_errors_with_their_places() {
    for case in cases() {
        let keys: Vec<_> = case.values.iter().map(|(key, _)| key).collect();
        assert_eq!(told(&case), case.told, "{keys:?}");
    }
}

#[test]
fn stores_of_zarr_python_have_no_findings() {
    let Json::Array(arrays) =
        Json::parse("arrays", include_bytes!("fixtures/arrays.json"), &Limits::default()).unwrap()
    else {
        panic!("a list")
    };
    for array in &arrays {
        let object = array.as_object().unwrap();
        let values = object.get("values").and_then(Json::as_object).unwrap();
        let unhex = |hex: &str| -> Vec<u8> {
            (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
        };
        let values: Vec<_> = values.iter().map(|(key, hex)| (key, unhex(hex.as_str().unwrap()))).collect();
        let values: Vec<_> = values.iter().map(|(key, value)| (*key, value.as_slice())).collect();
        let mut errors = told_of(&store(&values));
        errors.retain(|line| !line.starts_with("zarr/deviation"));
        assert_eq!(errors, [""; 0], "{:?}", object.get("name"));
    }
}

#[test]
fn each_rule_has_a_store_that_breaks_it() {
    let mut broken: BTreeSet<String> = cases().iter().flat_map(told).collect();
    broken.extend(hostile::told_of_folders_and_zip_files());
    let broken: BTreeSet<&str> = broken.iter().filter_map(|line| line.split([' ', ':']).next()).collect();
    let never: Vec<_> = RULES.iter().map(|rule| rule.name).filter(|name| !broken.contains(name)).collect();
    assert_eq!(never, [""; 0]);
}

/// The table in `docs/check-zarr.md`; `UPDATE_GOLDEN=1` writes it.
#[test]
fn rules_are_documented() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/check-zarr.md");
    let text = std::fs::read_to_string(path).unwrap().replace('\r', "");
    let (head, _) = text.split_once("\n| rule |").unwrap();
    let mut written =
        format!("{head}\n| rule | severity | what breaks it | specification |\n|---|---|---|---|\n");
    for rule in RULES {
        let name = rule.name.strip_prefix("zarr/").unwrap();
        let specification = rule.specification.unwrap();
        written += &format!("| `{name}` | {} | {} | {specification} |\n", rule.severity, rule.explanation);
    }
    match std::env::var_os("UPDATE_GOLDEN") {
        Some(_) => std::fs::write(path, &written).unwrap(),
        None => assert_eq!(text, written),
    }
}

#[test]
fn decodes_chunks_only_on_request() {
    let sums = with(ARRAY, r#""codecs":["bytes","crc32c"]"#);
    let store = store(&[("zarr.json", sums.as_bytes()), ("c/0", b"0123\0\0\0\0"), ("c/1", b"short")]);
    for (values, most) in [(false, 1), (true, 2)] {
        let options = Options { values, ..Options::default() };
        let summary = check(&store, Limits::default(), &options, &mut |_| {});
        assert_eq!(summary.count(Severity::Error), most);
        assert_eq!((summary.nodes, summary.chunks), (1, 2));
    }
}

#[test]
fn counts_findings_beyond_the_maximum_per_rule() {
    let names: Vec<String> = (0..9).map(|number| format!("stray{number}")).collect();
    let mut values: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b""[..])).collect();
    values.push(("zarr.json", GROUP.as_bytes()));
    let options = Options { max_per_rule: 2, ..Options::default() };
    let mut given = 0;
    let summary = check(&store(&values), Limits::default(), &options, &mut |_| given += 1);
    assert_eq!((given, summary.count(Severity::Note)), (2, 9));
}
