//! How the parser reads each open question of NDL 0.6.1, by the number of the reading in docs/ndl.md.

use crate::build::path;
use hyperslab_core::nd::Selection;
use hyperslab_model::{
    Attribute, Datatype, Directive, Element, Elements, Extent, Fill, Length, Link, Ndarray, Node, Reference,
    Shape, Text,
};
use hyperslab_ndl::{Format, Head, Missing, Options, ParseOptions, Parsed, StorageDetail, json, parse};

const STRICT: ParseOptions = ParseOptions { strict: true, lenient: false, pure: false };
const LENIENT: ParseOptions = ParseOptions { strict: false, lenient: true, pure: false };
const PURE: ParseOptions = ParseOptions { strict: false, lenient: false, pure: true };

fn with(text: &str, options: ParseOptions) -> Parsed {
    parse(text.as_bytes(), &options)
}

fn lines(parsed: &Parsed) -> Vec<String> {
    parsed.diagnostics.iter().map(ToString::to_string).collect()
}

fn clean(text: &str) -> Parsed {
    let parsed = with(text, ParseOptions::default());
    assert_eq!(lines(&parsed), Vec::<String>::new(), "{text}");
    parsed
}

/// The only diagnostic of a text.
fn finding(text: &str) -> String {
    let found = lines(&with(text, ParseOptions::default()));
    assert_eq!(found.len(), 1, "{text}: {found:#?}");
    found.concat()
}

fn node<'a>(parsed: &'a Parsed, at: &str) -> &'a Node {
    parsed.content.nodes.get(&path(at)).unwrap()
}

fn ndarray<'a>(parsed: &'a Parsed, at: &str) -> &'a Ndarray {
    match node(parsed, at) {
        Node::Ndarray(ndarray) => ndarray,
        other => panic!("{other:?}"),
    }
}

fn attribute<'a>(parsed: &'a Parsed, name: &str) -> &'a Attribute {
    node(parsed, "/").attributes().unwrap().get(name).unwrap().as_ref().unwrap()
}

/// Type and values of an attribute of the root.
fn shown(parsed: &Parsed, name: &str) -> String {
    let Attribute { datatype, value, .. } = attribute(parsed, name);
    format!("{datatype} {}", Elements::new(datatype, value).map(json).collect::<Vec<_>>().join(" "))
}

/// The values of an ndarray with this type, shape and value.
fn values(datatype: &str, shape: &str, value: &str) -> String {
    let parsed = clean(&format!("ndarrays: {{a: {{shape: {shape}, type: {datatype}, value: {value}}}}}"));
    let ndarray = ndarray(&parsed, "/a");
    let (datatype, value) = (ndarray.datatype.as_ref().unwrap(), ndarray.value.as_ref().unwrap());
    Elements::new(datatype, value).map(json).collect::<Vec<_>>().join(" ")
}

/// The only diagnostic of an ndarray with this type, shape and value.
fn wrong(datatype: &str, shape: &str, value: &str) -> String {
    finding(&format!("ndarrays:\n  a:\n    shape: {shape}\n    type: {datatype}\n    value: {value}\n"))
}

fn attributes(entries: &[&str]) -> String {
    format!("attributes:\n  {}\n", entries.join("\n  "))
}

#[test]
fn reading_01_is_the_core_schema_of_yaml_1_2() {
    let parsed =
        clean("%YAML 1.1\n---\nattributes: {a: no, b: 0o17, c: 1:30, d: 1_000, e: 1e3, f: yes, g: 0755}\n");
    let all = ["a", "b", "c", "d", "e", "f", "g"].map(|name| shown(&parsed, name));
    let expected = [
        "string \"no\"",
        "int32 15",
        "string \"1:30\"",
        "string \"1_000\"",
        "float64 1000.0",
        "string \"yes\"",
        "int32 755",
    ];
    assert_eq!(all, expected);
}

#[test]
fn reading_02_types_direct_how_scalars_are_read() {
    assert_eq!(
        values("string", "[6]", "[180, No, 1e3, 007, 2008-12-31, 'x']"),
        r#""180" "No" "1e3" "007" "2008-12-31" "x""#
    );
    assert_eq!(values("float32", "[3]", "[-999, \"0.5\", NaN]"), "-999.0 0.5 \"NaN\"");
    assert_eq!(values("float64", "[2]", "[Infinity, -.inf]"), "\"Infinity\" \"-Infinity\"");
}

#[test]
fn reading_03_null_is_null_everywhere() {
    assert!(finding("attributes: {a: null}").contains("null for an attribute"));
    assert!(finding("attributes: {a: ~}").contains("null for an attribute"));
    assert_eq!(finding("attributes:\n  a:\n").split(": null").next(), Some("2:4: error"));
    assert_eq!(shown(&clean("attributes: {a: \"null\", b: \"\"}"), "b"), "string \"\"");
    let parsed = clean("attributes: {a: {shape: null, type: int8}}");
    assert_eq!(attribute(&parsed, "a").shape, None);
}

#[test]
fn reading_04_keys_are_names() {
    let parsed = clean("attributes: {1: a, ON: b, null: c, 3.0: d, ~: e}");
    let names: Vec<_> = node(&parsed, "/").attributes().unwrap().keys().cloned().collect();
    assert_eq!(names, ["1", "ON", "null", "3.0", "~"]);
    assert!(
        finding("attributes:\n  ? [a]\n  : 1\n").starts_with("2:5: error: a key that is a list or a map")
    );
}

#[test]
fn reading_05_duplicate_keys_are_errors_with_both_lines() {
    let found = finding("attributes:\n  a: 1\n  b: 2\n  a: 3\n");
    assert_eq!(found, "4:3: error: duplicate key \"a\" in a map, on line 2 and line 4 [ndl/duplicate-key]");
    let found = finding("/g: {}\n/g: {}\n");
    assert!(found.contains("on line 1 and line 2 [ndl/duplicate-key]"), "{found}");
    let found = finding("ndarrays: {a: {shape: [], type: {enum: {members: {A: 0, A: 1}}}}}");
    assert!(found.contains("duplicate key \"A\""), "{found}");
    let found = finding(
        "ndarrays:\n  a:\n    shape: []\n    type:\n      compound:\n        - x: int8\n        - x: int8\n",
    );
    assert_eq!(found, "7:11: error: duplicate member \"x\", on line 6 and line 7 [ndl/duplicate-key]");
}

#[test]
fn reading_06_aliases_are_read_and_merge_keys_refused() {
    let parsed =
        clean("ndarrays:\n  a: {shape: [], type: &t {compound: [x: int8]}}\n  b: {shape: [], type: *t}\n");
    assert_eq!(ndarray(&parsed, "/a").datatype, ndarray(&parsed, "/b").datatype);
    let found = finding("attributes:\n  <<: {a: 1}\n");
    assert_eq!(
        found,
        "2:3: error: a merge key, which is not part of YAML 1.2 [ndl/merge-key]; write all entries, or put the name in quotes: \"<<\""
    );
    assert_eq!(shown(&clean("attributes: {\"<<\": 1}"), "<<"), "int32 1");
}

#[test]
fn reading_07_core_tags_are_read_and_others_refused() {
    let parsed = clean("attributes: {a: !!str 1, b: !!float 1, c: !!binary /w==, d: !!int \"7\"}");
    assert_eq!(shown(&parsed, "a"), "string \"1\"");
    assert_eq!(shown(&parsed, "b"), "float64 1.0");
    assert_eq!(shown(&parsed, "c"), "string {\"x-bytes\":\"0xff\"}".replace(":\"", ": \""));
    assert_eq!(shown(&parsed, "d"), "int32 7");
    assert!(finding("attributes: {a: !point 1}").contains("[ndl/tag]"));
}

#[test]
fn reading_08_there_is_one_document() {
    assert!(finding("attributes: {a: 1}\n---\n{}\n").starts_with("2:1: error: a second document"));
    for text in ["", "{}", "---\n", "# nothing\n", "null\n", "\u{feff}{}\n"] {
        assert_eq!(clean(text).order, [path("/")], "{text:?}");
    }
    assert!(finding("[a]").contains("a list for a file, expected a map"));
}

#[test]
fn reading_09_document_order_is_kept() {
    let parsed = clean(
        "/b: {}\n/a/y: {}\n/a:\n  ndarrays: {z: {shape: [], type: int8}, c: {shape: [], type: int8}}\n",
    );
    let order: Vec<_> = parsed.order.iter().map(|path| path.as_str()).collect();
    assert_eq!(order, ["/", "/b", "/a", "/a/y", "/a/z", "/a/c"]);
}

#[test]
fn reading_10_bytes_and_nul_have_a_spelling() {
    assert_eq!(
        values("string", "[2]", "[\"a\\0b\", !!binary gA==]"),
        "\"a\\u0000b\" {\"x-bytes\": \"0x80\"}"
    );
    let parsed = clean("ndarrays: {bad: {x-error: \"malformed heap\", attributes: {a: 1}}}");
    let Node::Unreadable(bad) = node(&parsed, "/bad") else { panic!() };
    assert_eq!((bad.reason.as_str(), bad.attributes.len()), ("malformed heap", 1));
    assert_eq!(parsed.refusals[0].message, "\"/bad\", which could not be read: \"malformed heap\"");
    let text =
        r#"{"/": {"attributes": {"a": {"shape": [], "type": "string", "value": {"x-bytes": "0x80"}}}}}"#;
    assert_eq!(shown(&clean(text), "a"), "string {\"x-bytes\": \"0x80\"}");
}

#[test]
fn reading_11_a_head_is_a_comment_and_no_key() {
    let parsed = clean("# NDL 0.6.1, described from example.nc (NetCDF-4)\n# extensions: links\n\n{}\n");
    assert_eq!(parsed.order, [path("/")]);
    // The head gives the format of the file: in NetCDF, `_FillValue` is the fill value.
    let text = "ndarrays:\n  a:\n    shape: []\n    type: int8\n    attributes: {_FillValue: {shape: [], type: int8, value: 1}}\n    storage: {fillvalue: 2}\n";
    let under = |head: &str| lines(&with(&format!("{head}{text}"), ParseOptions::default()));
    assert!(under("# NDL 0.6.1, described from a.nc (NetCDF-4)\n")[0].contains("warning: _FillValue"));
    assert_eq!(under("# NDL 0.6.1, described from a.h5 (HDF5)\n"), Vec::<String>::new());
    let json = r#"{"x-hyperslab": {"version": "1", "location": "a.nc", "format": "netcdf4"}, "/": {}}"#;
    assert_eq!(clean(json).order, [path("/")]);
}

#[test]
fn reading_12_unknown_keys_are_warnings_with_a_suggestion() {
    let text = "ndarrays:\n  a:\n    shap: []\n    shape: []\n    type: int8\n    x-mine: 1\nx-tool: {}\n";
    assert_eq!(
        finding(text),
        "3:5: warning: unknown key \"shap\" in an ndarray [ndl/unknown-key]; did you mean shape?"
    );
    assert!(with(text, STRICT).has_errors());
    assert!(finding("atributes: {}").contains("did you mean attributes?"));
    for (key, expected) in [
        ("filters: [shuffle]", "did you mean filter? It belongs in storage: {filter: …}"),
        ("fillvalue: 3", "it belongs in storage: {fillvalue: …}"),
        ("tile: 3", "it belongs in storage: {tile: …}"),
        ("units: m", "it belongs in attributes: {units: …}"),
        ("colour: red", "expected one of shape, type, attributes, storage, value"),
    ] {
        let text = format!("ndarrays:\n  a:\n    shape: [1]\n    type: int8\n    {key}\n    value: [1]\n");
        assert!(finding(&text).ends_with(&format!("[ndl/unknown-key]; {expected}")), "{}", finding(&text));
    }
    // A document of another language.
    let references = with(r#"{"version": 1, "refs": {"a/0": ["b.nc", 1, 2]}}"#, LENIENT);
    assert!(references.is_foreign && !references.has_errors());
    assert!(references.refusals[0].message.contains("no key of this document is an NDL key"));
}

#[test]
fn reading_12_keys_of_other_programs_are_preserved() {
    let text = "attributes:\n  b: {shape: [], type: int8, x-unit: {si: true}, value: 1}\n\ndatatypes:\n  t:\n    type: int8\n    x-t: 1\n\ndimcoords:\n  d:\n    size: 2\n    x-axis: T\n\nndarrays:\n  a:\n    shape: [1]\n    type: int8\n    x-mine: {list: [1, null, 2.5, \"no\"], map: {b: text}}\n    value: [1]\n\nx-tool: {version: 3}\n";
    let parsed = clean(text);
    let written = written(&parsed, true);
    assert_eq!(written.split_once("\n\n").unwrap().1, text);
    let grouped = format!(
        "/:\n{}\n/g:\n  x-tool: [1]\n",
        text.replace('\n', "\n  ").replace("\n  \n", "\n\n").trim_end()
    );
    let grouped = format!("/:\n  {}", grouped.strip_prefix("/:\n").unwrap());
    assert_eq!(
        self::written(&clean(&grouped), true).split_once("\n\n").unwrap().1,
        grouped.replace("\n/g:", "\n\n/g:")
    );
    assert!(!self::written(&parsed, false).contains("x-tool: [1]"));
}

#[test]
fn reading_12_reports_keys_of_other_programs_that_are_not_preserved() {
    let members = [
        "a: {shape: [], type: int8, storage: {x-s: 1}}",
        "a: {shape: [], type: {compound: [{m: int8}]}, storage: {members: {m: {x-s: 1}}}}",
        "a: {shape: [], type: {opaque: {size: 1, x-s: 1}}}",
        "a: {shape: [], type: {vlen: {base: int8}, x-s: 1}}",
        "a: {shape: [], type: regref, value: {target: /a, all: true, x-s: 1}}",
    ];
    for member in members {
        let found = finding(&format!("ndarrays:\n  {member}\n"));
        assert!(found.contains(": note: the key \"x-s\" in "), "{member}: {found}");
        assert!(found.contains("is not preserved"), "{member}: {found}");
    }
    for link in ["{soft: /a, x-s: 1}", "{external: {file: f, path: p, x-s: 1}}"] {
        let found = finding(&format!("links:\n  l: {link}\n"));
        assert!(found.contains("is not preserved"), "{link}: {found}");
    }
    // A filter has a name, so its unknown `x-` parameters are preserved under it.
    clean(
        "ndarrays:\n  a: {shape: [1], type: int8, storage: {chunk: [1], filter: [{deflate: {level: 1, x-s: 1}}]}}\n",
    );
}

#[test]
fn reading_13_absent_null_and_empty_are_alike() {
    for text in ["/: {}", "/:\n", "/: {attributes: null, ndarrays: {}, dimcoords:}"] {
        assert_eq!(clean(text).order, [path("/")]);
    }
}

#[test]
fn reading_14_bare_keys_belong_to_the_root_group() {
    let parsed = clean("attributes: {a: 1}\n/g: {attributes: {b: 2}}\n");
    assert_eq!(shown(&parsed, "a"), "int32 1");
    let found = finding("attributes: {a: 1}\n/: {attributes: {b: 2}}\n");
    assert_eq!(
        found,
        "2:1: error: the root group is given twice, as / here and by the bare key attributes on line 1 [ndl/root]; move the bare keys below /"
    );
}

#[test]
fn reading_15_parents_are_implied() {
    let parsed = clean("/a/b/c: {}\n");
    let order: Vec<_> = parsed.order.iter().map(|path| path.as_str()).collect();
    assert_eq!(order, ["/", "/a", "/a/b", "/a/b/c"]);
}

#[test]
fn reading_16_paths_are_absolute_and_normalised() {
    for bad in ["/a/", "//a", "/a/./b", "/a/../b"] {
        assert!(finding(&format!("{bad}: {{}}\n")).contains("[ndl/path]"), "{bad}");
    }
    assert!(finding("group1: {attributes: {a: 1}}").ends_with("write \"/group1\""));
    clean("/HDFEOS INFORMATION: {ndarrays: {StructMetadata.0: {shape: [], type: string}}}");
}

#[test]
fn reading_17_slashes_are_for_attributes_and_members() {
    clean("attributes: {a/b: 1}");
    clean("ndarrays: {a: {shape: [], type: {compound: [x/y: int8]}}}");
    assert!(finding("ndarrays: {a/b: {shape: [], type: int8}}").contains("cannot be part of a path"));
}

#[test]
fn reading_18_one_path_is_one_object() {
    let found = finding("dimcoords: {a: {size: 1, type: int8}}\nndarrays: {a: {shape: [], type: int8}}\n");
    assert_eq!(found, "2:12: error: /a is a dimcoord on line 1 and an ndarray here [ndl/duplicate-path]");
    assert!(finding("ndarrays: {a: {shape: [], type: int8}}\n/a: {}\n").contains("[ndl/duplicate-path]"));
    assert!(finding("ndarrays: {a: {shape: [], type: int8}}\n/a/b: {}\n").contains("cannot hold groups"));
}

#[test]
fn reading_18_a_dimension_without_coordinates_may_have_the_name_of_an_array() {
    let (dimensions, arrays) = (
        "dimcoords:\n  lat: {size: 2}\n  lon: {size: null, storage: {size: 3}}\n",
        "ndarrays:\n  lon: {shape: [lat, lon], storage: {shape: [2, 3]}, type: int8}\n  x: {shape: [/lon], storage: {shape: [3]}, type: int8}\n",
    );
    for text in [format!("{dimensions}{arrays}"), format!("{arrays}{dimensions}")] {
        let parsed = clean(&text);
        let longitudes = ndarray(&parsed, "/lon");
        assert_eq!(longitudes.dimension, Some(Extent::Unlimited { current: 3 }), "{text}");
        let dims =
            longitudes.shape.dims().iter().map(|dimension| dimension.coordinate.as_ref().unwrap().as_str());
        assert_eq!(dims.collect::<Vec<_>>(), ["/lat", "/lon"], "{text}");
        assert_eq!(ndarray(&parsed, "/x").shape.current(), Some(vec![3]), "{text}");
        assert_eq!(parsed.order.len(), 4, "{text}");
    }
    // If more than the size is stated, the dimension is a second object.
    for dimension in
        ["{size: 1, attributes: {u: 1}}", "{size: 1, type: int8}", "{size: 1, type: int8, value: [2]}"]
    {
        let text = format!("dimcoords: {{a: {dimension}}}\nndarrays: {{a: {{shape: [], type: int8}}}}\n");
        assert!(finding(&text).contains("[ndl/duplicate-path]"), "{text}");
    }
    let wrong = finding("ndarrays: {a: {shape: [], type: int8}}\ndimcoords: {a: {size: -1}}\n");
    assert!(wrong.contains("size"), "{wrong}");
}

#[test]
fn reading_19_names_are_not_normalised() {
    let parsed = clean("attributes: {\"e\\u0301\": 1, \"\\u00e9\": 2}");
    assert_eq!(node(&parsed, "/").attributes().unwrap().len(), 2);
}

fn coordinates(text: &str, at: &str) -> Vec<Option<String>> {
    let parsed = clean(text);
    let dims = ndarray(&parsed, at).shape.dims().to_vec();
    dims.into_iter().map(|dimension| dimension.coordinate.map(|path| path.to_string())).collect()
}

#[test]
fn reading_20_bare_names_are_looked_up_from_the_group_outwards() {
    let text = "/: {dimcoords: {x: {size: 2}, y: {size: 3}}}\n/g: {dimcoords: {x: {size: 4}}}\n/g/h: {ndarrays: {a: {shape: [x, y, /x], type: int8}}}\n";
    assert_eq!(coordinates(text, "/g/h/a"), [Some("/g/x".into()), Some("/y".into()), Some("/x".into())]);
    let found = finding("dimcoords: {lat: {size: 1}}\nndarrays: {a: {shape: [lta], type: int8}}\n");
    assert_eq!(found, "2:24: error: unknown dimcoord \"lta\" [ndl/dimension]; did you mean lat?");
    assert!(finding("ndarrays: {a: {shape: [g/x], type: int8}}").ends_with("write \"/g/x\""));
}

#[test]
fn reading_21_quoted_digits_are_a_name() {
    let text = "dimcoords: {10: {size: 2}}\nndarrays: {a: {shape: [10, \"10\"], type: int8}}\n";
    assert_eq!(coordinates(text, "/a"), [None, Some("/10".into())]);
}

#[test]
fn reading_22_shapes_name_dimcoords_of_other_groups() {
    let text = "/group1: {dimcoords: {d2: {size: null, type: float32}}}\n/group2/subgroup1: {ndarrays: {nd: {shape: [/group1/d2], type: int8}}}\n";
    assert_eq!(coordinates(text, "/group2/subgroup1/nd"), [Some("/group1/d2".into())]);
}

#[test]
fn reading_23_dimcoords_may_come_twice_and_later() {
    let text = "ndarrays: {a: {shape: [x, x], type: int8}}\ndimcoords: {x: {size: 2}}\n";
    assert_eq!(coordinates(text, "/a"), [Some("/x".into()), Some("/x".into())]);
}

#[test]
fn reading_24_the_nearest_dimcoord_wins() {
    let text = "/: {dimcoords: {lat: {size: 2}}}\n/g: {dimcoords: {lat: {size: 5}}, ndarrays: {a: {shape: [lat, /lat], type: int8}}}\n";
    assert_eq!(coordinates(text, "/g/a"), [Some("/g/lat".into()), Some("/lat".into())]);
    let parsed = clean(text);
    assert_eq!(ndarray(&parsed, "/g/a").shape.current(), Some(vec![5, 2]));
    assert!(written(&parsed, true).contains("shape: [lat, /lat]"), "{}", written(&parsed, true));
}

#[test]
fn reading_25_links_lead_to_objects() {
    let parsed = clean(
        "ndarrays: {x: {shape: [], type: int8}}\nlinks: {a: {hard: /x}, b: {soft: ../y}, c: {external: {file: f, path: /p}}, d: {user: {class: 187, data: \"0x00\"}}}",
    );
    let link = |at| match node(&parsed, at) {
        Node::Link(link) => link.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(link("/a"), Link::Hard(path("/x")));
    assert_eq!(link("/b"), Link::Soft("../y".into()));
    assert_eq!(link("/c"), Link::External { file: "f".into(), path: "/p".into() });
    assert_eq!(link("/d"), Link::User { class: 187, data: vec![0] });
    assert!(finding("links: {a: {sft: /x}}").contains("did you mean soft?"));
}

#[test]
fn reading_25_hard_links_need_a_target_and_soft_links_do_not() {
    let found = finding("ndarrays: {hight: {shape: [], type: int8}}\nlinks: {a: {hard: /height}}\n");
    assert_eq!(
        found,
        "2:12: error: a hard link to /height, which does not exist [ndl/link]; did you mean /hight?"
    );
    clean("links: {a: {soft: /nowhere}}");
    // Links through other links, and to the group that contains them.
    clean("/g: {links: {up: {hard: /}, in: {hard: /g/up/g/up/g}}}\n");
    let round = lines(&with("links: {a: {hard: /b}, b: {hard: /a}}", ParseOptions::default()));
    assert_eq!(round.len(), 2);
    assert!(round[0].contains("on a path with a cycle"), "{round:?}");
    let chain = |length: usize| {
        let link = |number| match number + 1 == length {
            true => format!("l{number}: {{soft: /m}}"),
            false => format!("l{number}: {{soft: l{}}}", number + 1),
        };
        let links: Vec<_> = (0..length).map(link).collect();
        let array = "ndarrays: {m: {shape: [], type: int8}}";
        format!("{array}\nlinks: {{hard: {{hard: /l0}}, {}}}", links.join(", "))
    };
    clean(&chain(64));
    assert!(finding(&chain(65)).contains("a cycle or more than 64 links"));
    assert!(
        finding("links: {a: {external: {file: f, path: /}}, b: {hard: /a/x}}")
            .contains("which is not in this file")
    );
}

#[test]
fn reading_26_named_types_are_paths() {
    let parsed = clean("ndarrays: {a: {shape: [], type: /t}}\ndatatypes: {t: {compound: [x: int8]}}\n");
    assert!(
        matches!(ndarray(&parsed, "/a").datatype.as_deref(), Some(Datatype::Named(at, _)) if *at == path("/t"))
    );
    assert!(finding("ndarrays: {a: {shape: [], type: /t}}").contains("unknown named datatype /t"));
}

#[test]
fn reading_27_directives_of_one_format_are_kept_under_its_name() {
    let parsed = clean("storage: {hdf5: {libver: v1.8, sizes: [1, null, 2.5, true]}}");
    let Node::Group(group) = node(&parsed, "/") else { panic!() };
    let list = vec![Directive::Int(1), Directive::Null, Directive::Float(2.5), Directive::Bool(true)];
    let expected =
        vec![("libver".into(), Directive::Text("v1.8".into())), ("sizes".into(), Directive::List(list))];
    assert_eq!(group.storage.native, [("hdf5", expected)]);
}

fn size(text: &str) -> Extent {
    let parsed = clean(&format!("dimcoords: {{x: {text}}}"));
    match node(&parsed, "/x") {
        Node::DimCoord(dimcoord) => dimcoord.size,
        other => panic!("{other:?}"),
    }
}

#[test]
fn reading_28_a_dimension_needs_no_type() {
    assert_eq!(size("{size: 6}"), Extent::Fixed(6));
    assert!(with("dimcoords: {x: {size: 6}}", PURE).has_errors());
}

#[test]
fn reading_29_a_size_may_be_0() {
    assert_eq!(size("{size: 0, type: int8}"), Extent::Fixed(0));
    assert!(
        finding("dimcoords: {x: {size: -1}}")
            .contains("\"-1\" for a size (or null), expected an integer from 0")
    );
}

#[test]
fn reading_30_storage_gives_the_current_shape() {
    assert_eq!(size("{size: null, type: int8}"), Extent::Unlimited { current: 0 });
    assert_eq!(size("{size: null, type: int8, storage: {size: 4}}"), Extent::Unlimited { current: 4 });
    assert_eq!(size("{size: null, type: int8, value: [1, 2, 3]}"), Extent::Unlimited { current: 3 });
    assert_eq!(size("{size: 9, type: int8, storage: {size: 4}}"), Extent::Limited { current: 4, max: 9 });
    let parsed = clean("ndarrays: {a: {shape: [10, null], type: int8, storage: {shape: [2, 3]}}}");
    let extents: Vec<_> =
        ndarray(&parsed, "/a").shape.dims().iter().map(|dimension| dimension.extent).collect();
    assert_eq!(extents, [Extent::Limited { current: 2, max: 10 }, Extent::Unlimited { current: 3 }]);
    let found = finding("dimcoords: {x: {size: null, type: int8, storage: {size: 4}, value: [1, 2]}}");
    assert!(found.contains("the value has 2 elements, expected 4 (shape [4]) [ndl/value-shape]"), "{found}");
}

#[test]
fn reading_31_an_array_may_be_shorter_than_its_dimension() {
    let text = "dimcoords: {t: {size: null, storage: {size: 5}}}\nndarrays: {a: {shape: [t], type: int8, storage: {shape: [2]}}, b: {shape: [t], type: int8}}\n";
    let parsed = clean(text);
    assert_eq!(ndarray(&parsed, "/a").shape.current(), Some(vec![2]));
    assert_eq!(ndarray(&parsed, "/b").shape.current(), Some(vec![5]));
}

#[test]
fn reading_32_keys_of_other_entities_are_errors() {
    assert!(
        finding("dimcoords: {x: {size: 1, shape: [1]}}")
            .ends_with("the key shape in a dimcoord, expected size [ndl/structure]; write size:")
    );
    assert!(finding("ndarrays: {x: {shape: [1], type: int8, size: 1}}").ends_with("write shape:"));
    assert!(
        finding("attributes: {x: {shape: [], type: int8, value: 1, attributes: {}}}")
            .contains("attributes in an attribute")
    );
}

#[test]
fn reading_33_dimcoords_have_any_type() {
    let parsed =
        clean("dimcoords: {x: {size: 2, type: {datetime: {unit: D}}, value: [\"2026-02-01\", NaT]}}");
    assert!(matches!(node(&parsed, "/x"), Node::DimCoord(x) if x.value.is_some()));
}

#[test]
fn reading_34_sparse_dimensions_have_no_length() {
    assert_eq!(
        size("{size: null, type: float64, storage: {domain: [-1.0, 1.0], tile: 0.5}}"),
        Extent::Uncounted
    );
    assert_eq!(size("{size: 4, type: int32, storage: {domain: [1, 4]}}"), Extent::Fixed(4));
    assert!(
        finding("dimcoords: {x: {size: 4, type: int32, storage: {domain: [1]}}}")
            .contains("the domain has 1 element")
    );
}

#[test]
fn reading_35_bookkeeping_attributes_are_ordinary_attributes() {
    // Dimension labels are directives of the format. Bookkeeping in a raw description consists of attributes.
    let text = "ndarrays:\n  a:\n    shape: [2]\n    type: int8\n    attributes:\n      CLASS: DIMENSION_SCALE\n      _Netcdf4Dimid: 0\n    storage:\n      hdf5: {dimension_labels: [lat]}\n";
    let parsed = clean(text);
    let a = ndarray(&parsed, "/a");
    assert_eq!(a.attributes.keys().collect::<Vec<_>>(), ["CLASS", "_Netcdf4Dimid"]);
    let labels = Directive::List(vec![Directive::Text("lat".into())]);
    assert_eq!(a.storage.native, [("hdf5", vec![("dimension_labels".into(), labels)])]);
    assert_eq!(written(&parsed, true).split_once("\n\n").unwrap().1, text);
}

#[test]
fn reading_36_names_and_sizes_mix() {
    assert_eq!(
        coordinates("dimcoords: {x: {size: 2}}\nndarrays: {a: {shape: [x, 3], type: int8}}\n", "/a"),
        [Some("/x".into()), None]
    );
}

#[test]
fn reading_37_null_is_a_null_dataspace() {
    let parsed = clean("ndarrays: {a: {shape: null, type: int8}, b: {shape: [0], type: int8, value: []}}");
    assert_eq!(ndarray(&parsed, "/a").shape, Shape::Null);
    assert_eq!(ndarray(&parsed, "/b").shape.len(), Some(0));
    assert!(finding("ndarrays: {a: {shape: 3, type: int8}}").ends_with("write shape: [3]"));
}

#[test]
fn reading_38_array_types_have_positive_sizes() {
    for shape in ["[]", "[0]", "[null]", "[x]"] {
        finding(&format!("ndarrays: {{a: {{shape: [], type: {{array: {{base: int8, shape: {shape}}}}}}}}}"));
    }
}

#[test]
fn reading_39_a_map_is_the_long_form() {
    let found = finding(&attributes(&["a: {x: 1}"]));
    assert!(found.contains("compound values need the long form"), "{found}");
    assert_eq!(shown(&clean(&attributes(&["a: {shape: [1], type: int8, value: [1]}"])), "a"), "int8 1");
}

#[test]
fn reading_40_the_long_form_may_be_partial() {
    let text = attributes(&["a: {value: 10, type: int8}"]);
    assert!(finding(&text).contains("warning: an attribute without shape, [] is taken from its value"));
    assert!(with(&text, STRICT).has_errors());
    let parsed = with(&attributes(&["a: {value: [[1, 2]]}"]), ParseOptions::default());
    assert_eq!(attribute(&parsed, "a").shape, Some(vec![1, 2]));
    assert_eq!(shown(&parsed, "a"), "int32 1 2");
    assert!(finding(&attributes(&["a: {shape: [], type: int8}"])).contains("an attribute without value"));
    clean(&attributes(&["a: {shape: [0], type: int8}"]));
}

#[test]
fn reading_41_a_list_needs_the_long_form() {
    let text = attributes(&["a: [1, 2]"]);
    assert!(finding(&text).contains("write {shape: [2], type: …, value: […]}"));
    let parsed = with(&text, LENIENT);
    assert_eq!((parsed.has_errors(), shown(&parsed, "a").as_str()), (false, "int32 1 2"));
}

#[test]
fn reading_42_the_value_decides_the_type_of_a_short_form() {
    let cases = [
        ("10", "int32 10"),
        ("2147483648", "int64 2147483648"),
        ("9223372036854775808", "uint64 9223372036854775808"),
        ("1.5", "float64 1.5"),
        ("1e3", "float64 1000.0"),
        (".nan", "float64 \"NaN\""),
        ("true", "string \"true\""),
        ("No", "string \"No\""),
        ("2008-12-31", "string \"2008-12-31\""),
        ("\"10\"", "string \"10\""),
        ("0x1F", "int32 31"),
    ];
    for (value, expected) in cases {
        assert_eq!(shown(&clean(&attributes(&[&format!("a: {value}")])), "a"), expected);
    }
    assert!(
        finding(&attributes(&["a: 18446744073709551616"])).contains("out of range for every integer type")
    );
}

#[test]
fn reading_42_a_netcdf_string_has_a_variable_length() {
    let text = "attributes:\n  a: characters\n  b:\n    shape: []\n    type: string\n    storage: {length: variable}\n    value: one string\n";
    let parsed = clean(text);
    assert_eq!(attribute(&parsed, "a").storage.length, None);
    assert_eq!(attribute(&parsed, "b").storage.length, Some(Length::Variable));
    let nodes = nodes(&parsed);
    let head = Head { location: "a", format: "netcdf4", title: "NetCDF-4", version: "0" };
    let netcdf = crate::build::emit(
        Format::Yaml,
        Options { texts_are_characters: true, ..Options::default() },
        &head,
        &nodes,
    );
    let again = clean(&netcdf);
    assert_eq!(attribute(&again, "b").storage.length, Some(Length::Variable), "{netcdf}");
    assert_eq!(attribute(&again, "a").storage.length, None, "{netcdf}");
}

#[test]
fn reading_43_a_scalar_is_not_an_array_of_one_element() {
    let text = attributes(&["a: {shape: [1, 1], type: string, value: No}"]);
    let found = finding(&text);
    assert_eq!(
        found,
        "2:43: error: the value is a scalar, expected a list (shape [1, 1]) [ndl/value-shape]; write [[No]]"
    );
    let parsed = with(&text, LENIENT);
    assert_eq!((parsed.has_errors(), shown(&parsed, "a").as_str()), (false, "string \"No\""));
}

#[test]
fn reading_44_a_comma_splits_unquoted_text() {
    let found = finding(&attributes(&["a: {shape: [1, 1], type: string, value: [[one, two]]}"]));
    assert_eq!(
        found,
        "2:44: error: value[0] has 2 elements, expected 1 (shape [1, 1]) [ndl/value-shape]; a comma ends an unquoted text in [ ]: write [\"one, two\"]"
    );
}

#[test]
fn reading_45_fill_values_of_netcdf_agree() {
    let text = |fill: &str, directive: &str| {
        format!(
            "ndarrays:\n  a:\n    shape: [1]\n    type: float32\n    attributes:\n      _FillValue: {{shape: [], type: float32, value: {fill}}}\n    storage: {{fillvalue: {directive}}}\n"
        )
    };
    let head = "# NDL 0.6.1, described from a.nc (NetCDF-4)\n";
    let found = finding(&format!("{head}{}", text("-999.0", "-9.0")));
    assert_eq!(
        found,
        "7:7: warning: _FillValue is -999.0 and storage.fillvalue is -9.0: in NetCDF, elements that were never written are not missing [ndl/fillvalue]"
    );
    assert!(finding(&text("-999.0", "-9.0")).contains("warning: _FillValue"));
    clean(&format!("# NDL 0.6.1, described from a.h5 (HDF5)\n{}", text("-999.0", "-9.0")));
    clean(&format!("{head}{}", text("-999.2999877929688", "-999.3")));
    clean(&format!("{head}{}", text(".nan", ".nan")));
    clean(&format!("{head}{}", text("1.0", "1.0").replace("    storage: {fillvalue: 1.0}\n", "")));
}

#[test]
fn reading_46_attributes_have_no_chunks() {
    clean(&attributes(&["a: {shape: [], type: int16, storage: {endian: big, charset: ascii}, value: 1}"]));
    for key in ["chunk: [1]", "filter: []", "shape: [1]", "fillvalue: 0"] {
        let found =
            finding(&attributes(&[&format!("a: {{shape: [], type: int16, storage: {{{key}}}, value: 1}}")]));
        assert!(found.contains("[ndl/storage]"), "{found}");
    }
}

#[test]
fn reading_47_named_types_may_have_attributes() {
    let parsed = clean("datatypes: {t: {type: int8, attributes: {a: 1}}}");
    assert_eq!(node(&parsed, "/t").attributes().unwrap().len(), 1);
}

#[test]
fn reading_48_strings_have_the_stored_length() {
    let parsed =
        clean("ndarrays: {a: {shape: [], type: string, storage: {length: 4, pad: spacepad}, value: ab}}");
    assert_eq!(ndarray(&parsed, "/a").value.as_ref().unwrap().rows, b"ab  "[..]);
    let parsed = clean("ndarrays: {a: {shape: [], type: string}}");
    assert_eq!(ndarray(&parsed, "/a").datatype.as_deref(), Some(&Datatype::String(Text::Variable)));
}

#[test]
fn reading_49_characters_keep_their_shape() {
    let parsed = clean(
        "ndarrays: {a: {shape: [2, 3], type: string, storage: {charset: ascii, length: 1}, value: [[a, b, c], [d, \"\", f]]}}",
    );
    let a = ndarray(&parsed, "/a");
    assert_eq!(a.shape.current(), Some(vec![2, 3]));
    assert!(matches!(a.datatype.as_deref(), Some(Datatype::String(Text::Fixed { len: 1, .. }))));
    assert_eq!(a.value.as_ref().unwrap().rows, b"abcd\0f"[..]);
    let joined =
        "ndarrays: {a: {shape: [3], type: string, storage: {charset: ascii, length: 1}, value: abc}}";
    assert!(finding(joined).contains("expected a list (shape [3])"));
    let wide = "ndarrays: {a: {shape: [1], type: string, storage: {charset: ascii, length: 1}, value: [ab]}}";
    assert!(finding(wide).contains("2 bytes, expected at most 1"));
}

#[test]
fn reading_50_lengths_count_bytes() {
    let found = finding("ndarrays: {a: {shape: [], type: string, storage: {length: 3}, value: åå}}");
    assert!(found.contains("4 bytes, expected at most 3 [ndl/value-length]"), "{found}");
}

/// Each character takes four bytes, whatever its length in UTF-8.
#[test]
fn reading_50_lengths_in_utf32_are_whole_characters() {
    let text = |storage: &str, value: &str| {
        format!(
            "ndarrays: {{a: {{shape: [], type: string, storage: {{charset: utf-32, {storage}}}, value: {value}}}}}"
        )
    };
    let parsed = clean(&text("length: 8, endian: big", "åå"));
    assert_eq!(ndarray(&parsed, "/a").value.as_ref().unwrap().rows, *"åå\0\0\0\0".as_bytes());
    let found = finding(&text("length: 8", "abc"));
    assert!(found.contains("a text of 3 characters, expected at most 2 (length 8 in utf-32)"), "{found}");
    let found = finding(&text("length: 8", "!!binary \"/w==\""));
    assert!(found.contains("expected text that is Unicode"), "{found}");
    for (storage, what) in [("length: 6", "a length of 6 bytes"), ("length: variable", "no length")] {
        let found = finding(&text(storage, "a"));
        assert!(found.contains(&format!("{what} with charset utf-32, expected a multiple of 4")), "{found}");
    }
}

#[test]
fn reading_51_line_ends_are_what_yaml_says() {
    let parsed = clean("attributes:\n  a: |\n    x\n  b: |-\n    x\n  c: |+\n    x\n\n");
    assert_eq!(
        ["a", "b", "c"].map(|name| shown(&parsed, name)),
        ["string \"x\\n\"", "string \"x\"", "string \"x\\n\\n\""]
    );
}

#[test]
fn reading_52_an_enum_without_a_base_has_the_smallest_one() {
    let base = |members: &str| {
        let parsed =
            clean(&format!("ndarrays: {{a: {{shape: [], type: {{enum: {{members: {members}}}}}}}}}"));
        match ndarray(&parsed, "/a").datatype.as_deref() {
            Some(Datatype::Enum { base, .. }) => base.to_string(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(base("{OFF: 0, ON: 1, UNDEFINED: 255}"), "uint8");
    assert_eq!(base("{a: -1, b: 200}"), "int16");
    assert_eq!(base("{a: 1, b: 1}"), "uint8");
    assert!(
        finding("ndarrays: {a: {shape: [], type: {enum: {base: float32, members: {a: 1}}}}}")
            .contains("expected an integer type")
    );
    assert!(
        finding("ndarrays: {a: {shape: [], type: {enum: {base: int8, members: {a: 200}}}}}")
            .contains("out of range for int8")
    );
}

#[test]
fn reading_53_members_are_names_or_numbers() {
    let datatype = "{enum: {base: int8, members: {UP: 0, \"1\": 5}}}";
    assert_eq!(values(datatype, "[4]", "[UP, \"1\", 1, 7]"), "\"UP\" \"1\" 1 7");
    assert!(
        wrong(datatype, "[1]", "[UPP]")
            .ends_with("the enum has no member \"UPP\" [ndl/value]; did you mean UP?")
    );
}

#[test]
fn reading_54_opaque_is_hex_or_binary() {
    assert_eq!(values("{opaque: {size: 2}}", "[2]", "[\"0x0aff\", !!binary Cv8=]"), "\"0x0aff\" \"0x0aff\"");
    let found = wrong("{opaque: {size: 2}}", "[]", "\"0x01\"");
    assert!(
        found.contains("warning: 1 bytes for an opaque element of 2 bytes, padded with zeros"),
        "{found}"
    );
    assert!(wrong("{opaque: {size: 2}}", "[]", "\"0x010203\"").contains("3 bytes, expected at most 2"));
    assert!(
        finding("ndarrays: {a: {shape: [], type: {opaque: {tag: x}}}}")
            .contains("opaque without the key size")
    );
}

#[test]
fn reading_55_object_references_are_paths() {
    let all = values("objref", "[3]", "[/a, null, {address: 5}]");
    assert_eq!(all, r#""/a" null {"address": 5}"#);
    assert!(wrong("objref", "[]", "a").ends_with("/a\""));
    let attributes =
        "attributes: {b: 1}\nndarrays: {a: {shape: [], type: objref, value: {target: /, attribute: b}}}\n";
    clean(attributes);
    assert!(
        finding(&attributes.replace("attribute: b", "attribute: c"))
            .contains("the attribute \"c\" of /, which does not exist")
    );
}

#[test]
fn reading_55_references_without_a_target_are_a_warning() {
    let text = "ndarrays:\n  a: {shape: [2], type: objref, value: [/b, {address: 5}]}\n";
    let parsed = with(text, ParseOptions::default());
    assert_eq!(
        lines(&parsed),
        ["2:41: warning: a reference to /b, which does not exist [ndl/reference]; did you mean /a?"]
    );
    let refusals: Vec<_> =
        parsed.refusals.iter().map(|one| (one.line, one.column, one.message.as_str())).collect();
    assert_eq!(
        refusals,
        [
            (2, 41, "a reference to /b, which does not exist"),
            (2, 45, "a reference to the address 5, which has no object")
        ]
    );
    let linked = clean(
        "/g: {ndarrays: {m: {shape: [], type: int8}}}\n/: {links: {l: {soft: g}}, ndarrays: {a: {shape: [], type: objref, value: /l/m}}}\n",
    );
    assert_eq!(linked.refusals, []);
}

fn selection(value: &str) -> Selection {
    let parsed = clean(&format!(
        "ndarrays: {{m: {{shape: [768, 3200], type: int8}}, a: {{shape: [], type: regref, value: {value}}}}}"
    ));
    let ndarray = ndarray(&parsed, "/a");
    let (datatype, value) = (ndarray.datatype.as_ref().unwrap(), ndarray.value.as_ref().unwrap());
    match Elements::new(datatype, value).next().unwrap().get() {
        Element::Reference(Reference::Region(_, selection)) => (**selection).clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn reading_56_blocks_have_two_corners() {
    let block = selection("{target: /m, start: [767, 0], opposite: [0, 3199]}");
    let Selection::Region(region) = block else { panic!() };
    assert_eq!((region.start, region.count), (vec![0, 0], vec![768, 3200]));
    let points = selection("{target: /m, elements: [[0, 1], [2, 3]]}");
    assert_eq!(points, Selection::Points { rank: 2, coordinates: vec![0, 1, 2, 3] });
    assert!(
        wrong("regref", "[]", "{target: /m, start: [0], opposite: [1, 2]}")
            .contains("elements with different numbers of indices")
    );
    assert!(wrong("regref", "[]", "{target: /m}").contains("without a selection"));
}

#[test]
fn reading_56_regions_lie_within_their_target() {
    let text = |shape: &str, datatype: &str, value: &str| {
        format!(
            "ndarrays:\n  m: {{shape: {shape}, type: int8}}\n  a: {{shape: [], type: {datatype}, value: {value}}}\n"
        )
    };
    let block = "{target: /m, start: [0, 0], opposite: [1, 2]}";
    clean(&text("[2, 3]", "{regref: {selection: block}}", block));
    clean(&text("[null, 3]", "{regref: {selection: block}}", block));
    let found = finding(&text("[2, 2]", "{regref: {selection: block}}", block));
    assert!(found.contains("error: the index 2, expected less than 2 (/m) [ndl/reference]"), "{found}");
    assert!(finding(&text("[2]", "regref", block)).contains("indices of rank 2, expected rank 1"));
    assert!(finding(&text("[2]", "regref", "{target: /m, elements: [[2]]}")).contains("the index 2"));
    assert!(finding(&text("[2]", "regref", "{target: /, elements: [[0]]}")).contains("a region of a group"));
    clean(&text("[]", "{regref: {selection: block}}", "{target: /m, start: [], opposite: []}"));
    let found = finding(&text("[2, 3]", "{regref: {selection: element}}", block));
    assert!(found.contains("a block for a region reference whose selection is element"), "{found}");
    let named = "datatypes: {t: {compound: [r: {regref: {selection: element}}]}}\n";
    let found = finding(&format!("{named}{}", text("[2, 3]", "/t", &format!("[{block}]"))));
    assert!(found.contains("whose selection is element"), "{found}");
}

#[test]
fn reading_57_regref_allows_every_selection() {
    assert_eq!(selection("{target: /m, all: true}"), Selection::All);
    assert_eq!(selection("{target: /m, none: true}"), Selection::None);
    assert!(
        matches!(selection("{target: /m, blocks: [{start: [0, 0], opposite: [1, 1]}]}"), Selection::Blocks(all) if all.len() == 1)
    );
}

#[test]
fn reading_58_compounds_are_lists_or_maps() {
    let datatype = "{compound: [x: int8, y: float32]}";
    assert_eq!(values(datatype, "[2]", "[[1, 2], {y: 4, x: 3}]"), "[1, 2.0] [3, 4.0]");
    assert!(wrong(datatype, "[]", "[1]").contains("1 element for a compound of 2"));
    assert!(wrong(datatype, "[]", "{x: 1}").contains("a compound without its member \"y\""));
    assert!(wrong(datatype, "[]", "{x: 1, y: 2, z: 3}").contains("no member \"z\""));
}

#[test]
fn reading_59_members_are_declared_in_a_list() {
    let text = "ndarrays: {a: {shape: [], type: {compound: {x: int8}}}}";
    assert!(finding(text).contains("begin each member with a dash"));
    assert!(!with(text, LENIENT).has_errors());
    assert!(
        finding("ndarrays: {a: {shape: [], type: {compound: []}}}").contains("a compound without members")
    );
    assert!(
        finding("ndarrays: {a: {shape: [], type: {compound: [{x: int8, y: int8}]}}}")
            .contains("a map with one key")
    );
}

#[test]
fn reading_60_members_have_storage() {
    let parsed = clean(
        "ndarrays: {a: {shape: [], type: {compound: [s: string]}, storage: {itemsize: 8, offsets: [2], members: {s: {length: 3}}}, value: [ab]}}",
    );
    assert_eq!(ndarray(&parsed, "/a").value.as_ref().unwrap().rows, b"ab\0"[..]);
}

#[test]
fn reading_61_sequences_may_be_empty_or_null() {
    assert_eq!(values("{vlen: {base: int8}}", "[3]", "[[1, 2], [], null]"), "[1, 2] [] []");
    assert_eq!(values("{vlen: {base: string}}", "[]", "[a, b]"), "[\"a\", \"b\"]");
}

#[test]
fn reading_62_arrays_are_nested() {
    let datatype = "{array: {base: int8, shape: [2, 2]}}";
    assert_eq!(values(datatype, "[]", "[[1, 2], [3, 4]]"), "[[1, 2], [3, 4]]");
    let text = format!("ndarrays: {{a: {{shape: [], type: {datatype}, value: [1, 2, 3, 4]}}}}");
    assert!(with(&text, ParseOptions::default()).has_errors());
    assert!(!with(&text, LENIENT).has_errors());
    clean(
        "ndarrays: {a: {shape: [0, 3], type: int8, value: []}, b: {shape: [2, 0], type: int8, value: [[], []]}}",
    );
}

#[test]
fn reading_63_no_type_is_a_partial_description() {
    assert_eq!(
        finding("ndarrays:\n  nd: {shape: [2]}\n"),
        "2:7: note: no type: the description is partial [ndl/partial]"
    );
    let parsed = with("ndarrays:\n  a: {shape: [2]}\n  b: {type: int8}\n  c: {}\n", ParseOptions::default());
    assert!(!parsed.has_errors());
    let missing: Vec<_> = parsed.partial.iter().map(|one| (one.path.as_str(), one.missing)).collect();
    assert_eq!(
        missing,
        [("/a", Missing::Type), ("/b", Missing::Shape), ("/c", Missing::Type), ("/c", Missing::Shape)]
    );
    let refusals: Vec<_> = parsed.refusals.iter().map(|one| (one.line, one.message.as_str())).collect();
    assert_eq!(
        refusals,
        [
            (2, "/a without a type"),
            (3, "/b without a shape"),
            (4, "/c without a type"),
            (4, "/c without a shape")
        ]
    );
}

#[test]
fn reading_63_reports_directives_without_the_type_or_shape_they_need() {
    let found = finding("ndarrays: {a: {shape: [2], storage: {fillvalue: 7}, value: [1, 2]}}");
    assert!(found.contains("a value without a type"), "{found}");
    let found = finding("dimcoords: {d: {size: 2, storage: {fillvalue: 7}}}");
    assert_eq!(found, "1:47: error: a fill value without a type [ndl/type]");
    let found = finding("dimcoords: {d: {size: 2, storage: {domain: [0, 1]}}}");
    assert_eq!(found, "1:44: error: a domain without a type [ndl/type]");
    let found = finding("ndarrays: {a: {type: int8, storage: {shape: [3]}}}");
    assert_eq!(
        found,
        "1:45: error: storage.shape, which is the current shape, without the key shape [ndl/shape]; write shape: beside storage:"
    );
}

#[test]
fn reading_64_suggests_similar_types() {
    for (bad, hint) in [
        ("float", "float32"),
        ("double", "float64"),
        ("i4", "int32"),
        ("<f4", "float32"),
        ("flaot32", "float32"),
    ] {
        let found = finding(&format!("ndarrays: {{a: {{shape: [], type: {bad}}}}}"));
        assert!(found.ends_with(&format!("[ndl/type]; did you mean {hint}?")), "{found}");
    }
    assert!(finding("ndarrays: {a: {shape: [], type: opaque}}").contains("write opaque: with a size"));
    let found = finding("ndarrays: {a: {shape: [], type: {vlen: {base: int8}, opaque: {size: 1}}}}");
    assert!(found.contains("a type with no category or with several"), "{found}");
}

#[test]
fn reading_65_extended_types() {
    assert_eq!(values("complex64", "[1]", "[[1, -0.5]]"), "[1.0, -0.5]");
    assert_eq!(values("bool", "[2]", "[true, false]"), "true false");
    assert_eq!(values("{bitfield: {size: 2}}", "[2]", "[0xa5, 256]"), "\"0x00a5\" \"0x0100\"");
    assert_eq!(
        values("{datetime: {unit: ns}}", "[2]", "[\"1970-01-01T00:00:01\", 5]"),
        "\"1970-01-01T00:00:01.000000000\" \"1970-01-01T00:00:00.000000005\""
    );
    assert_eq!(
        values("{float: {bits: 8, sign: 7, exponent: [3, 4], mantissa: [0, 3], bias: 7}}", "[]", "\"0x38\""),
        "\"0x38\""
    );
    assert_eq!(values("uint24", "[]", "16777215"), "16777215");
    assert_eq!(
        values("float128", "[1]", "[1.5]"),
        "\"0x00000000000000000000000000800ff3f\"".replace("800ff3f", "80ff3f")
    );
    assert!(wrong("float128", "[]", "1e5000").contains("out of range"));
    let small = "{float: {bits: 8, sign: 7, exponent: [3, 4], mantissa: [0, 3], bias: 7}}";
    assert_eq!(values(small, "[3]", "[1, -1.5, .inf]"), "\"0x38\" \"0xbc\" \"0x78\"");
    assert!(with("ndarrays: {a: {shape: [], type: bool}}", PURE).has_errors());
}

#[test]
fn reading_66_numbers_are_rounded_once_to_their_type() {
    // Rounding to double first would give the neighbouring number, whose mantissa is even.
    let parsed = clean("ndarrays: {a: {shape: [1], type: float32, value: [1.00000017881393432617187499]}}");
    let rows = &ndarray(&parsed, "/a").value.as_ref().unwrap().rows;
    assert_eq!(f32::from_ne_bytes(rows[..4].try_into().unwrap()).to_bits(), 0x3f80_0001);
    assert_eq!(values("float16", "[1]", "[2049.00000000000000000000001]"), "2050.0");
    assert_eq!(values("float64", "[2]", "[-0.0, .nan]"), "-0.0 \"NaN\"");
    assert!(wrong("float32", "[]", "1e39").contains("out of range"));
}

#[test]
fn reading_67_integers_are_integers() {
    assert_eq!(values("uint8", "[4]", "[0x1F, 0o17, 255, +1]"), "31 15 255 1");
    for bad in ["1.0", "1e3", "1_000", "1:30", "x"] {
        assert!(wrong("int32", "[]", bad).contains("expected an integer (int32) [ndl/value]"), "{bad}");
    }
    for bad in ["256", "-1"] {
        assert!(wrong("uint8", "[]", bad).contains("out of range [ndl/value-range]"), "{bad}");
    }
}

#[test]
fn reading_68_a_null_element_is_the_fill_value() {
    let parsed = clean("ndarrays: {a: {shape: [2], type: int8, storage: {fillvalue: 7}, value: [1, null]}}");
    assert_eq!(ndarray(&parsed, "/a").value.as_ref().unwrap().rows, [1, 7][..]);
    assert!(wrong("int8", "[1]", "[null]").contains("the array has no fill value"));
}

#[test]
fn reading_69_values_are_complete() {
    assert!(
        wrong("int8", "[2, 2]", "[[1, 2], [3]]")
            .contains("value[1] has 1 element, expected 2 (shape [2, 2])")
    );
    assert!(ndarray(&clean("ndarrays: {a: {shape: [2], type: int8}}"), "/a").value.is_none());
}

fn stored(storage: &str) -> String {
    format!("ndarrays: {{a: {{shape: [4], type: int32, storage: {storage}}}}}")
}

#[test]
fn reading_70_filters_have_names_and_parameters() {
    let parsed = clean(&stored(
        "{filter: [shuffle, {zlib: 4}, {zstd: {checksum: true, level: 3}}, {hdf5: {id: 40000}}]}",
    ));
    let filters = &ndarray(&parsed, "/a").storage.filters;
    let shown: Vec<_> =
        filters.iter().map(|filter| (filter.name.as_str(), filter.parameters.len(), filter.main)).collect();
    assert_eq!(shown, [("shuffle", 0, false), ("deflate", 1, true), ("zstd", 2, true), ("hdf5", 1, false)]);
    assert_eq!(filters[2].parameters[0].0, "level");
    assert!(
        finding(&stored("{filter: [deflat]}"))
            .ends_with("unknown filter \"deflat\" [ndl/filter]; did you mean deflate?")
    );
    assert!(finding(&stored("{filter: deflate}")).contains("expected a list"));
    let parsed = clean(&stored("{filter: [gzip, {deflate: {level: 6}}]}"));
    let filters = &ndarray(&parsed, "/a").storage.filters;
    assert_eq!([filters[0].name.as_str(), filters[1].name.as_str()], ["gzip", "deflate"]);
    assert!(written(&parsed, true).contains("filter: [gzip, {deflate: 6}]"), "{}", written(&parsed, true));
}

#[test]
fn reading_71_dimcoords_have_chunks_and_filters() {
    clean("dimcoords: {x: {size: 4, type: int8, storage: {chunk: [2], filter: [shuffle]}}}");
}

#[test]
fn reading_72_chunks_are_positive_and_fit() {
    assert!(finding(&stored("{chunk: [0]}")).contains("expected positive integers"));
    assert!(
        finding(&stored("{chunk: [9]}"))
            .contains("warning: a chunk of 9 along a dimension of 4, reduced to 4")
    );
    assert!(finding(&stored("{chunk: [1, 1]}")).contains("a chunk of rank 2 for an array of rank 1"));
    assert!(
        finding("ndarrays: {a: {shape: [], type: int8, storage: {filter: [shuffle]}}}")
            .contains("filters for a scalar")
    );
}

#[test]
fn reading_73_layout_and_order() {
    clean(&stored("{layout: compact, order: F, shard: [4], chunk: [2]}"));
    assert!(finding(&stored("{layout: chunkd}")).contains("[ndl/storage]"));
}

#[test]
fn reading_74_parses_no_defaults_and_writes_no_defaults() {
    let text = stored("{endian: little, layout: contiguous, order: C}");
    let parsed = clean(&text);
    let detailed = |storage| {
        crate::build::emit(Format::Yaml, Options { storage, ..Options::default() }, &HEAD, &nodes(&parsed))
    };
    assert!(detailed(StorageDetail::Full).contains("endian: little"));
    assert!(!detailed(StorageDetail::Brief).contains("storage"));
    let chunked = clean(&stored("{endian: big, chunk: [2]}"));
    let brief = written(&chunked, true);
    assert!(brief.contains("endian: big") && brief.contains("chunk: [2]"), "{brief}");
    let none = Options { storage: StorageDetail::None, ..Options::default() };
    assert!(!crate::build::emit(Format::Yaml, none, &HEAD, &nodes(&chunked)).contains("storage"));
    assert_eq!(ndarray(&clean(&stored("{}")), "/a").storage.element.endian, None);
}

#[test]
fn reading_75_endian_without_byte_order_is_ignored() {
    let parsed = clean("ndarrays: {a: {shape: [], type: uint8, storage: {endian: big}}}");
    assert_eq!(ndarray(&parsed, "/a").storage.element.endian, None);
    assert!(finding(&stored("{endian: bg}")).ends_with("did you mean big?"));
}

#[test]
fn reading_76_fill_values_are_values() {
    let parsed =
        clean("ndarrays: {a: {shape: [2], type: {enum: {members: {A: 3}}}, storage: {fillvalue: A}}}");
    assert!(matches!(&ndarray(&parsed, "/a").storage.fill, Fill::Value(values) if values.rows == [3][..]));
    assert!(matches!(ndarray(&clean(&stored("{fillvalue: null}")), "/a").storage.fill, Fill::Undefined));
    assert!(matches!(ndarray(&clean(&stored("{}")), "/a").storage.fill, Fill::Default));
    assert!(finding(&stored("{fillvalue: x}")).contains("expected an integer (int32)"));
}

#[test]
fn reading_77_the_stored_shape_fits() {
    for bad in ["[null]", "[5]", "[1, 1]"] {
        finding(&stored(&format!("{{shape: {bad}}}")));
    }
    finding("ndarrays: {a: {shape: [], type: int8, storage: {shape: [1]}}}");
}

#[test]
fn reading_78_cells_are_columns() {
    let text = "storage: {tiledb: {array: sparse}}\ndimcoords: {x: {size: null, type: string}}\nndarrays: {v: {shape: [x], type: int8}}\ncells: {columns: [x, v], rows: [[a, 1], [b, 2]]}\n";
    let parsed = clean(text);
    let Node::Group(group) = node(&parsed, "/") else { panic!() };
    assert_eq!(group.cells.as_ref().unwrap().columns[1].values.rows, [1, 2][..]);
    assert!(finding(&text.replace("[b, 2]", "[b]")).contains("a row of length 1, expected 2"));
    assert!(finding(&text.replace("[x, v]", "[x, w]")).contains("the column \"w\""));
}

#[test]
fn reading_78_labels_and_json_keep_their_mark() {
    let text = "attributes:\n  j:\n    shape: []\n    type: string\n    storage: {zarr: json}\n    value: \"{}\"\nndarrays: {l: {shape: [2], type: int8, storage: {tiledb: {label: increasing}, shard: [4], chunk: [2]}}}\n";
    let parsed = with(text, ParseOptions::default());
    assert!(!parsed.has_errors());
    assert_eq!(attribute(&parsed, "j").native, [("zarr", Directive::Text("json".into()))]);
    let l = ndarray(&parsed, "/l");
    let label = vec![("label".to_string(), Directive::Text("increasing".into()))];
    assert_eq!(l.storage.native, [("tiledb", label)]);
    assert!(with("datatypes: {t: {type: int8, attributes: {a: 1}}}", PURE).has_errors());
}

#[test]
fn reading_79_a_scalar_keeps_its_mark() {
    let text = "ndarrays:\n  a:\n    shape: []\n    type: int8\n    storage:\n      tiledb: {dimension: __scalars}\n    value: 3\n";
    let parsed = clean(text);
    assert_eq!(ndarray(&parsed, "/a").shape, Shape::SCALAR);
    let mark = Directive::Text("__scalars".into());
    assert_eq!(ndarray(&parsed, "/a").storage.native, [("tiledb", vec![("dimension".into(), mark)])]);
    assert_eq!(written(&parsed, true).split_once("\n\n").unwrap().1, text);
}

#[test]
fn reading_80_directives_of_hdf5_round_trip() {
    let text = "storage:\n  hdf5: {track_order: true, mtime: 1767225600, comment: \"no\", alloc_time: early, fill_time: ifset}\n";
    let parsed = clean(text);
    let Node::Group(group) = node(&parsed, "/") else { panic!() };
    let names: Vec<_> = group.storage.native[0].1.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["track_order", "mtime", "comment", "alloc_time", "fill_time"]);
    assert_eq!(group.storage.native[0].1[2].1, Directive::Text("no".into()));
    assert_eq!(written(&parsed, true).split_once("\n\n").unwrap().1, text);
    assert!(finding("storage: {hdf5: early}").contains("\"early\" for storage.hdf5, expected a map"));
    assert!(
        finding(
            "ndarrays: {a: {shape: [], type: {compound: [x: int8]}, storage: {members: {x: {hdf5: {a: 1}}}}}}"
        )
        .contains("storage.hdf5 of a member")
    );
}

#[test]
fn reading_81_nullable_elements_are_null() {
    assert_eq!(values("{nullable: {base: uint32}}", "[2]", "[1, null]"), "1 null");
}

#[test]
fn reading_82_durations_and_times_are_integers() {
    assert_eq!(values("{timedelta: {unit: ns}}", "[2]", "[5, -5]"), "5 -5");
    assert_eq!(values("{time: {size: 4}}", "[1]", "[1767225600]"), "1767225600");
    assert!(
        wrong("{timedelta: {unit: s}}", "[]", "\"2026-01-01\"").contains("expected an integer in units of s")
    );
}

#[test]
fn reading_83_directives_of_tiledb_round_trip() {
    let text = "storage:\n  tiledb:\n    array: sparse\n    cell_order: row-major\n    tile_order: col-major\n    capacity: 1000\n    allows_dups: true\n    coords_filter: [{zstd: 3}]\n    offsets_filter: [doubledelta]\n    validity_filter: [rle]\n    fill_valid: false\n    labels: [{name: x, dimension: 0}]\n    current_domain: [[0, 9]]\n";
    let parsed = clean(text);
    let Node::Group(group) = node(&parsed, "/") else { panic!() };
    let (format, directives) = &group.storage.native[0];
    assert_eq!((*format, directives.len()), ("tiledb", 11));
    assert_eq!(directives[3], ("capacity".into(), Directive::Int(1000)));
    let again = clean(&written(&parsed, true));
    let Node::Group(again) = node(&again, "/") else { panic!() };
    assert_eq!(again.storage.native, group.storage.native);
    assert!(with(text, PURE).has_errors());
}

#[test]
fn reading_84_pure_rejects_extensions() {
    let text =
        "links: {a: {soft: /b}}\nndarrays: {a1: {shape: null, type: int24, storage: {layout: compact}}}\n";
    let rules: Vec<_> = with(text, PURE).diagnostics.iter().map(|one| (one.line, one.rule)).collect();
    assert_eq!(
        rules,
        [(1, "ndl/extension"), (2, "ndl/extension"), (2, "ndl/extension"), (2, "ndl/extension")]
    );
    clean(text);
}

fn nodes(parsed: &Parsed) -> Vec<(&str, Node)> {
    parsed.order.iter().map(|at| (at.as_str(), parsed.content.nodes.get(at).unwrap().clone())).collect()
}

fn written(parsed: &Parsed, values: bool) -> String {
    let options = Options { values: values.then_some(u64::MAX), ..Options::default() };
    crate::build::emit(Format::Yaml, options, &HEAD, &nodes(parsed))
}

const HEAD: Head<'_> = Head { location: "a", format: "hdf5", title: "HDF5", version: "0" };

#[test]
fn every_reading_has_a_test() {
    let source = include_str!("parse_readings.rs");
    let missing: Vec<u32> =
        (1..=84).filter(|number| !source.contains(&format!("\nfn reading_{number:02}_"))).collect();
    assert_eq!(missing, Vec::<u32>::new());
}

#[test]
fn documents_round_trip() {
    let text = "/g:\n  ndarrays:\n    a:\n      shape: [2]\n      type: int8\n      value: [1, 2]\n";
    let parsed = clean(text);
    let options = Options { values: Some(u64::MAX), ..Options::default() };
    let nodes: Vec<_> =
        parsed.order.iter().map(|at| (at.as_str(), parsed.content.nodes.get(at).unwrap().clone())).collect();
    let head = Head { location: "a", format: "hdf5", title: "HDF5", version: "0" };
    let written = crate::build::emit(Format::Yaml, options, &head, &nodes);
    assert_eq!(written.split_once("\n\n").unwrap().1, text);
}
