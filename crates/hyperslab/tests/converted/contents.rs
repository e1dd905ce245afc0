//! Conversions of documents whose content is difficult to store in some formats.

use super::{
    Lost, converted, converted_with, described, digests, open, same, there_and_back, unlike,
    write_description, zarr_targets,
};
use hyperslab::convert::{ConvertOptions, ReportRow, plan};
use hyperslab::model::{Extent, Node};
use hyperslab::ndl::StorageDetail;
use hyperslab::target::{Loss, OptionValue, TargetOptions};
use hyperslab::{Item, NodePath, follow, target_format};
use serde_json::{Value, json};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Writes a document to a file, and returns its path.
pub(super) fn document(folder: &TempDir, text: &str) -> PathBuf {
    let store = folder.path().join("source.yaml");
    fs::write(&store, text).unwrap();
    store
}

/// Converts a document to all formats and back, and compares the content.
pub(super) fn comes_back(text: &str) {
    let folder = TempDir::new().unwrap();
    let store = document(&folder, text);
    assert!(!digests(&store).is_empty(), "nothing in\n{text}");
    if let Err(why) = there_and_back(&store) {
        panic!("{why}\nof\n{text}");
    }
}

/// Converts a document with one array to all formats and back.
fn array_comes_back(body: &str) {
    comes_back(&format!("ndarrays:\n  a: {body}\n"));
}

#[test]
fn converts_names_reserved_by_stores() {
    let names = [
        "zarr.json",
        ".zarray",
        ".zattrs",
        ".zgroup",
        ".zmetadata",
        "__x",
        "c",
        "0",
        "0.0",
        "a.b",
        ".hidden",
        "a b",
        " ",
        "%2F",
        "con",
        "NUL",
        "a\\b",
        "a:b",
        "ä",
        "ä",
        "\u{1f600}",
        "-",
        "~",
        "a*?",
        "hyperslab",
    ];
    let mut text = "/:\n  ndarrays:\n".to_owned();
    for (number, name) in names.iter().enumerate() {
        let name = json!(name);
        writeln!(text, "    {name}: {{shape: [], type: int16, value: {number}}}").unwrap();
    }
    for (number, name) in names.iter().enumerate() {
        write!(
            text,
            "\n{}:\n  ndarrays: {{x: {{shape: [], type: int16, value: {number}}}}}\n",
            json!(format!("/g/{name}"))
        )
        .unwrap();
    }
    comes_back(&text);
}

#[test]
fn converts_names_that_differ_only_in_case() {
    comes_back("ndarrays:\n  a: {shape: [], type: int8, value: 1}\n  A: {shape: [], type: int8, value: 2}\n");
    comes_back(
        "/data:\n  attributes: {is: lower}\n\n/Data:\n  attributes: {is: upper}\n\n/DATA/x:\n  attributes: {is: below}\n",
    );
}

#[test]
fn converts_names_longer_than_file_systems_allow() {
    let long = |c: &str| c.repeat(300 / c.len());
    comes_back(&format!(
        "/{}:\n  ndarrays:\n    {}: {{shape: [2], type: int8, value: [1, 2]}}\n    {}: {{shape: [], type: int8, value: 3}}\n",
        long("g"),
        long("n"),
        long("ä"),
    ));
}

/// The value of a TileDB metadata entry may be empty.
#[test]
fn converts_attributes_of_no_bytes() {
    comes_back(
        "attributes:\n  none: {shape: [], type: {opaque: {size: 0}}}\n  null: {shape: null, type: int8}\n",
    );
}

#[test]
fn converts_attributes_with_reserved_names() {
    comes_back(
        "attributes:\n  hyperslab: mine\n  _ARRAY_DIMENSIONS: not names\n  _nczarr_attrs: nor types\n  \
         _NCZARR_ATTR: \"{}\"\n  _nczarr_superblock: \"\"\n  _NCProperties: version=2\n  zarr.json: \"\"\n  \"\": empty name\n  a/b: slash\n\n\
         ndarrays:\n  a:\n    shape: [2]\n    type: int8\n    attributes:\n      hyperslab: {shape: [2], type: int16, value: [1, 2]}\n      \
         _ARRAY_DIMENSIONS: {shape: [1], type: string, value: [other]}\n      _FillValue: {shape: [], type: int8, value: -1}\n      \
         _Netcdf4Dimid: 3\n    value: [1, 2]\n",
    );
}

#[test]
fn converts_attributes_of_every_type_and_shape() {
    for attribute in [
        "{shape: null, type: float32}",
        "{shape: [0], type: string, value: []}",
        "{shape: [0, 3], type: int64, value: []}",
        "{shape: [1], type: string, value: [a]}",
        "{shape: [1], type: int32, value: [7]}",
        "{shape: [], type: float32, value: .nan}",
        "{shape: [3], type: float64, value: [.inf, -.inf, .nan]}",
        "{shape: [], type: float64, value: 7}",
        "{shape: [], type: float16, value: 0.1}",
        "{shape: [2], type: uint64, value: [18446744073709551615, 0]}",
        "{shape: [], type: int64, value: 9007199254740993}",
        "{shape: [], type: string, value: !!binary /w==}",
        "{shape: [], type: string, value: \"a\\0b\"}",
        "{shape: [], type: string, value: \"null\"}",
        "{shape: [], type: string, value: \"\"}",
        "{shape: [2], type: string, storage: {length: 4, pad: spacepad}, value: [ab, \"\"]}",
        "{shape: [], type: bool, value: true}",
        "{shape: [], type: {enum: {base: int8, members: {no: 0, yes: 1}}}, value: yes}",
        "{shape: [2], type: {compound: [x: float32, s: string]}, value: [[1, a], [.nan, b]]}",
        "{shape: [], type: {vlen: {base: {vlen: {base: int16}}}}, value: [[1, 2], []]}",
        "{shape: [], type: {array: {base: float32, shape: [2, 2]}}, value: [[1, 2], [3, 4]]}",
        "{shape: [], type: {opaque: {size: 3, tag: image/png}}, value: \"0x010203\"}",
        "{shape: [2], type: objref, value: [/a, null]}",
        "{shape: [], type: reference, value: {target: /a, attribute: it}}",
    ] {
        comes_back(&format!(
            "attributes:\n  it: {attribute}\n\nndarrays:\n  a:\n    shape: []\n    type: int8\n    attributes:\n      it: {attribute}\n    value: 1\n"
        ));
    }
}

#[test]
fn converts_missing_values_of_every_type() {
    for (of, attribute) in [
        ("float32", "{shape: [], type: uint16, value: 81}"),
        ("float64", "{shape: [], type: int64, value: -9007199254740993}"),
        ("float64", "{shape: [], type: float32, value: .nan}"),
        ("float64", "{shape: null, type: string}"),
        ("int16", "{shape: [], type: float64, value: .nan}"),
        ("int16", "{shape: [], type: float32, value: -2.5}"),
        ("int16", "{shape: [], type: float32, value: 1.0e+37}"),
        ("int8", "{shape: null, type: int8}"),
        ("int8", "{shape: [0], type: int8, value: []}"),
    ] {
        array_comes_back(&format!(
            "{{shape: [1], type: {of}, attributes: {{_FillValue: {attribute}}}, value: [1]}}"
        ));
    }
}

#[test]
fn converts_empty_and_high_dimensional_shapes() {
    let ones = ["1"; 32].join(", ");
    let nested = format!("{}7{}", "[".repeat(32), "]".repeat(32));
    for body in [
        "{shape: null, type: {compound: [x: float32]}}".to_owned(),
        "{shape: [], type: float64, value: -0.0}".to_owned(),
        "{shape: [0], type: int32, value: []}".to_owned(),
        "{shape: [2, 0, 3], type: string, value: [[], []]}".to_owned(),
        "{shape: [null], type: int32, value: []}".to_owned(),
        "{shape: [null, 3], type: int32, storage: {shape: [2, 3], chunk: [5, 2]}, value: [[1, 2, 3], [4, 5, 6]]}".to_owned(),
        "{shape: [10], type: int32, storage: {shape: [2]}, value: [1, 2]}".to_owned(),
        format!("{{shape: [{ones}], type: int16, value: {nested}}}"),
    ] {
        array_comes_back(&body);
    }
}

#[test]
fn converts_numbers_of_every_kind_and_byte_order() {
    for body in [
        "{shape: [3], type: float32, value: [.nan, -.inf, -0.0]}",
        "{shape: [2], type: float16, storage: {endian: big}, value: [0.1, -2]}",
        "{shape: [2], type: bfloat16, value: [1, -2.5]}",
        "{shape: [2], type: float64, storage: {endian: big, fillvalue: .nan}, value: [0.1, 1.0e300]}",
        "{shape: [2], type: float32, storage: {endian: vax}, value: [0.5, 1]}",
        "{shape: [2], type: int64, storage: {endian: big, chunk: [1], filter: [shuffle, {deflate: 4}]}, value: [-1, 1]}",
        "{shape: [2], type: complex64, value: [[1, -0.0], [.nan, .inf]]}",
        "{shape: [2], type: complex128, storage: {endian: big}, value: [[1, 2], [3, 4]]}",
        "{shape: [2], type: int128, value: [-1, 1]}",
        "{shape: [2], type: uint24, value: [16777215, 1]}",
        "{shape: [2], type: {bitfield: {size: 3}}, value: [0x010203, 0]}",
        "{shape: [2], type: {time: {size: 4}}, value: [1767225600, 0]}",
        "{shape: [2], type: {datetime: {unit: ms}}, value: [\"1970-01-01T00:00:00.000\", NaT]}",
        "{shape: [2], type: {timedelta: {unit: 10us}}, value: [90, NaT]}",
        "{shape: [2], type: {nullable: {base: int16}}, value: [7, null]}",
        "{shape: [2], type: bool, value: [true, false]}",
        "{shape: [1], type: {float: {bits: 8, sign: 7, exponent: [3, 4], mantissa: [0, 3], bias: 7}}, value: [\"0x38\"]}",
        "{shape: [1], type: float128, value: [\"0x01000000000000000000000000000000\"]}",
        "{shape: [2], type: {opaque: {size: 4, tag: image/png}}, value: [\"0x89504e47\", \"0x00000000\"]}",
    ] {
        array_comes_back(body);
    }
}

#[test]
fn converts_texts_of_every_length_padding_and_charset() {
    for body in [
        "{shape: [4], type: string, value: [a, \"\", \"a\\0b\", \"\\0\"]}",
        "{shape: [2], type: string, value: [!!binary /w==, ä]}",
        "{shape: [2], type: string, storage: {fillvalue: none}, value: [none, a]}",
        "{shape: [2], type: string, storage: {length: 4, pad: nullpad}, value: [\"a\\0b\", abcd]}",
        "{shape: [2], type: string, storage: {length: 4, pad: nullterm}, value: [abc, \"\"]}",
        "{shape: [3], type: string, storage: {length: 4, pad: spacepad}, value: [ab, abcd, \"\"]}",
        "{shape: [2], type: string, storage: {length: 4, pad: spacepad}, value: [\"ab\\0\", abcd]}",
        "{shape: [1], type: string, storage: {length: 4, pad: nullpad}, value: [!!binary //79]}",
        "{shape: [1], type: {compound: [s: string]}, storage: {members: {s: {length: 4, pad: spacepad}}}, value: [[\"ab\\0\"]]}",
        "{shape: [1], type: {array: {base: string, shape: [2]}}, storage: {length: 3, pad: spacepad}, value: [[\"a\\0\", b]]}",
        "{shape: [], type: string, storage: {fillvalue: !!binary //8=}}",
        "{shape: [2], type: string, storage: {chunk: [3], fillvalue: !!binary //8=}, value: [a, b]}",
        "{shape: [2], type: string, storage: {length: 4, pad: spacepad, fillvalue: \"a\\0\"}}",
        "{shape: [2], type: {compound: [s: string]}, storage: {fillvalue: null, members: {s: {length: 4, pad: spacepad}}}}",
    ] {
        array_comes_back(body);
    }
}

#[test]
fn converts_nested_types() {
    for body in [
        "{shape: [3], type: {enum: {base: int16, members: {UP: 0, DOWN: 25, CENTER: -120}}}, value: [UP, CENTER, 7]}",
        "{shape: [2], type: {enum: {base: uint8, members: {\"FALSE\": 0, \"TRUE\": 1}}}, value: [\"TRUE\", \"FALSE\"]}",
        "{shape: [2], type: {compound: [a: int8, b: {compound: [c: float64, d: {array: {base: int16, shape: [2]}}]}]}, value: [[1, [2, [3, 4]]], [5, [.nan, [7, 8]]]]}",
        "{shape: [1], type: {compound: [\"\": int8, a/b: int8, a.b: int8]}, value: [[1, 2, 3]]}",
        "{shape: [1], type: {compound: [a: {array: {base: {array: {base: int16, shape: [2]}}, shape: [3]}}]}, value: [[[[1, 2], [3, 4], [5, 6]]]]}",
        "{shape: [2], type: {vlen: {base: float32}}, value: [[1, .nan], []]}",
        "{shape: [2], type: {vlen: {base: {compound: [x: int8, y: float64]}}}, value: [[[1, 2]], []]}",
        "{shape: [2], type: {vlen: {base: string}}, value: [[a, \"\"], []]}",
        "{shape: [1], type: {vlen: {base: {vlen: {base: {vlen: {base: int8}}}}}}, value: [[[[1], []], []]]}",
        "{shape: [1], type: {compound: [s: string, v: {vlen: {base: uint8}}, n: float32]}, value: [[text, [1, 2], .nan]]}",
        "{shape: [1], type: {array: {base: {vlen: {base: int32}}, shape: [2]}}, value: [[[1], [2, 3]]]}",
        "{shape: [1], type: {compound: [s: string, x: float32, z: {complex: {base: float16}}]}, value: [[a, !!binary f9fbfw==, [0.0, !!binary 3P0=]]]}",
        "{shape: [1], type: float32, storage: {fillvalue: !!binary f9fbfw==}, value: [1]}",
        "{shape: [2], type: {array: {base: {array: {base: int8, shape: [2]}}, shape: [3]}}, value: [[[1, 2], [3, 4], [5, 6]], [[1, 2], [3, 4], [5, 6]]]}",
        "{shape: [2], type: {array: {base: {enum: {base: int8, members: {no: 0}}}, shape: [2]}}, storage: {chunk: [1]}, value: [[no, 1], [no, no]]}",
    ] {
        array_comes_back(body);
    }
}

#[test]
fn converts_references_to_any_object_and_null_references() {
    for value in [
        "{shape: [3], type: objref, value: [/g, null, /a]}",
        "{shape: [3], type: objref, value: [/g, {address: 800}, null]}",
        "{shape: [2], type: {regref: {selection: block}}, value: [{target: /m, start: [0, 0], opposite: [1, 1]}, null]}",
        "{shape: [1], type: {regref: {selection: element}}, value: [{target: /m, elements: [[0, 1], [1, 2]]}]}",
        "{shape: [3], type: reference, value: [{address: 800}, {file: o.h5, address: 96}, {target: /m, attribute: u}]}",
        "{shape: [1], type: {vlen: {base: objref}}, value: [[/g, /m, null]]}",
        "{shape: [1], type: {compound: [r: objref, n: int8]}, value: [[/m, 3]]}",
    ] {
        comes_back(&format!(
            "/:\n  ndarrays:\n    a: {value}\n    m: {{shape: [2, 3], type: int8, attributes: {{u: m}}, value: [[1, 2, 3], [4, 5, 6]]}}\n\n/g: {{}}\n"
        ));
    }
}

#[test]
fn converts_dimensions_types_and_links_beside_arrays() {
    comes_back(
        "/:\n  datatypes:\n    t: {enum: {base: int8, members: {no: 0, yes: 1}}}\n    p:\n      compound: [x: float32, s: string]\n      \
         attributes: {origin: lower left}\n      storage: {members: {s: {length: 4, pad: spacepad}}}\n  dimcoords:\n    \
         time: {size: null, type: float64, storage: {chunk: [64]}, value: [0, 1, 2]}\n    bound: {size: 2}\n    \
         free: {size: null, storage: {size: 4}}\n    lat: {size: 3, type: float32, attributes: {units: degrees_north}, value: [1, 2, 3]}\n    \
         lost: {size: 7, attributes: {is: alone}}\n  ndarrays:\n    v: {shape: [time, lat], type: float32, storage: {shape: [3, 3], chunk: [2, 2]}}\n    \
         b: {shape: [time, bound], type: float64, storage: {shape: [3, 2], chunk: [3, 2]}}\n    f: {shape: [free], type: /t, storage: {chunk: [2]}, value: [no, yes, no, yes]}\n    \
         twice: {shape: [bound, bound], type: int8, value: [[1, 2], [3, 4]]}\n    half: {shape: [lat, 2], type: int8, value: [[1, 2], [3, 4], [5, 6]]}\n  \
         links:\n    hard: {hard: /v}\n    soft: {soft: g/far}\n    dangling: {soft: /nowhere}\n\n\
         /g:\n  dimcoords:\n    lat: {size: 2}\n  ndarrays:\n    far: {shape: [time, /lat, lat], type: int8, storage: {shape: [3, 3, 2], chunk: [3, 3, 2]}}\n    \
         p: {shape: [1], type: /p, value: [[1.5, ab]]}\n  links:\n    up: {hard: /}\n",
    );
}

#[test]
fn links_stored_in_records_are_followed_within_paths() {
    let folder = TempDir::new().unwrap();
    let text = "links:\n  short: {hard: /g}\n  round: {soft: round}\n\n\
                /g:\n  ndarrays:\n    v: {shape: [1], type: int8, value: [1]}\n  links:\n    up: {soft: /short}\n";
    let store = document(&folder, text);
    for format in zarr_targets() {
        let copy = folder.path().join(format.name());
        converted(&store, *format, &copy).unwrap();
        for at in [&store, &copy] {
            let source = open(at);
            let find = |path: &str| source.find(&NodePath::new(path).unwrap());
            for path in ["/short/v", "/g/up/v", "/short/up/up/v"] {
                let found = find(path).unwrap();
                assert!(matches!(found.item, Item::Array { .. }), "{path}: {:?}", found.item);
                source.load(&found.handle).unwrap();
            }
            assert!(matches!(find("/short/up").unwrap().item, Item::Link(_)));
            let end = follow(&*source, find("/short/up").unwrap()).unwrap();
            assert!(matches!(end.item, Item::Group), "{:?}", end.item);
            let round = find("/round/v").unwrap_err().to_string();
            assert!(round.contains("is in a cycle of links"), "{round}");
        }
    }
}

/// The order of access does not matter: a region reference needs the rank of its array before the group is listed.
#[test]
fn members_kept_in_groups_of_encoded_names_are_found() {
    let folder = TempDir::new().unwrap();
    let store = document(
        &folder,
        "/:\n  ndarrays:\n    a: {shape: [], type: regref, value: {target: /g/__h/b, all: true}}\n\n\
         /g/__h:\n  datatypes:\n    t: int8\n  ndarrays:\n    b: {shape: [1], type: int8, value: [1]}\n",
    );
    let target = folder.path().join("x.zarr");
    assert_eq!(converted(&store, target_format("zarr3").unwrap(), &target), Ok(Default::default()));
    same(&store, &target, &Default::default()).unwrap();
    let kept = open(&target).find(&NodePath::new("/g/__h/t").unwrap()).unwrap();
    assert!(matches!(kept.item, Item::Datatype(_)), "{kept:?}");
}

#[test]
fn converts_dimension_names_that_are_not_valid_keys() {
    comes_back(
        "dimcoords:\n  \"x\\0\": {size: 1}\n\nndarrays:\n  a: {shape: [\"x\\0\"], type: int8, value: [1]}\n",
    );
}

#[test]
fn converts_filters_fill_values_and_layouts() {
    for body in [
        "{shape: [4], type: int16, storage: {chunk: [2], filter: [shuffle, {deflate: 4}, fletcher32], fillvalue: -1}, value: [1, 2, 3, -1]}",
        "{shape: [4], type: int16, storage: {chunk: [2], filter: [{zstd: 3}], fillvalue: null}, value: [1, 2, 3, 4]}",
        "{shape: [4], type: int16, storage: {layout: compact}, value: [1, 2, 3, 4]}",
        "{shape: [4], type: int16, storage: {layout: contiguous, endian: big}, value: [1, 2, 3, 4]}",
        "{shape: [4, 4], type: int16, storage: {chunk: [2, 2], shard: [4, 4]}}",
        "{shape: [2, 2], type: int16, storage: {order: F}, value: [[1, 2], [3, 4]]}",
        "{shape: [4], type: {compound: [x: int16, y: float32]}, storage: {chunk: [2], fillvalue: [7, .nan]}}",
        "{shape: [2], type: {array: {base: int16, shape: [2]}}, storage: {chunk: [1], fillvalue: [7, 7]}}",
        "{shape: [4], type: {vlen: {base: int16}}, storage: {chunk: [2], fillvalue: [7, 8]}}",
        "{shape: [1000000, 1000000], type: float64, storage: {chunk: [1000, 1000], fillvalue: 1}}",
    ] {
        if body.contains("1000000") {
            // An array without stored chunks is neither read nor written.
            let folder = TempDir::new().unwrap();
            let store = document(&folder, &format!("ndarrays:\n  a: {body}\n"));
            let lost = converted(&store, *zarr_targets()[0], &folder.path().join("x")).unwrap();
            assert!(lost.is_empty(), "{lost:?}");
        } else {
            array_comes_back(body);
        }
    }
}

#[test]
fn filters_that_cannot_encode_all_elements_are_replaced() {
    let offset = |offset: i32, scale: f32| {
        format!("[{{fixedscaleoffset: {{offset: {offset}, scale: {scale:?}}}}}, crc32c]")
    };
    let narrow = "[{zarr: {name: delta, configuration: {dtype: <i4, astype: \"|i1\"}}}]".to_owned();
    for (filter, elements) in [
        (offset(18, 2.0), "type: uint8, value: [255, 20, 20]"),
        (offset(2, 14.0), "type: {enum: {base: int32, members: {y: 2147483647}}}, value: [y, 3, y]"),
        // The filter encodes these values, but cannot decode them.
        (offset(0, 0.1), "type: uint8, value: [255, 20, 20]"),
        // The fill value in a chunk that extends past the end of the array.
        (offset(1000, 1.0), "type: uint16, value: [1100, 1200, 1300]"),
        (narrow, "type: int32, value: [1, 300, 2]"),
    ] {
        let folder = TempDir::new().unwrap();
        let chunked = format!("{{chunk: [2], filter: {filter}}}");
        let text = format!("ndarrays:\n  a: {{shape: [3], storage: {chunked}, {elements}}}\n");
        let store = document(&folder, &text);
        for format in zarr_targets() {
            let target = folder.path().join(format.name());
            let options = ConvertOptions::new(*format);
            let said = plan(&*open(&store), &options).unwrap().report;
            // In version 3, these filters are replaced before they are tried.
            let is_said = |row: &ReportRow| match format.name() {
                "zarr2" => row.what.ends_with(", which cannot encode all elements"),
                _ => row.what.starts_with("filter") && row.becomes.contains("Zstandard"),
            };
            assert!(said.rows().any(is_said), "{said:?} of\n{text}");
            assert_eq!(converted(&store, *format, &target), Ok(Default::default()));
            same(&store, &target, &Default::default()).unwrap();
        }
    }
}

#[test]
fn links_that_zarr_cannot_hold_are_restored_unless_records_are_refused() {
    let folder = TempDir::new().unwrap();
    let text = "ndarrays:\n  a: {shape: [], type: int8, value: 1}\n\nlinks:\n  far: {external: {file: other.h5, path: /data}}\n  \
                own: {user: {class: 187, data: \"0x00ff\"}}\n";
    let store = document(&folder, text);
    for format in zarr_targets() {
        let target = folder.path().join(format.name());
        assert_eq!(converted(&store, *format, &target).unwrap(), Lost::new());
        unlike(&store, &target, &Lost::new()).unwrap();
        let text = described(&target, StorageDetail::Brief);
        assert!(text.contains("far: {external: {file: other.h5, path: /data}}"), "{text}");
        let none = OptionValue::Word("none".into());
        let native = TargetOptions::default().with(*format, "record", none).unwrap();
        let lost = converted_with(&store, *format, native, &folder.path().join("bare")).unwrap();
        fs::remove_dir_all(folder.path().join("bare")).unwrap();
        let expected = ["/far", "/own"].map(|path| (path.to_owned(), Loss::Links));
        assert_eq!(lost.into_iter().collect::<Vec<_>>(), expected);
    }
}

#[test]
fn conversions_keep_the_description_of_kept_content() {
    let folder = TempDir::new().unwrap();
    let source = crate::path("ocean.nc");
    let target = folder.path().join("ocean.zarr");
    let lost = converted(&source, target_format("zarr3").unwrap(), &target).unwrap();
    same(&source, &target, &lost).unwrap();
    let sorted = |text: String| {
        let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let (had, has) = (described(&source, StorageDetail::None), described(&target, StorageDetail::None));
    assert_eq!(sorted(had), sorted(has));
}

#[test]
fn types_of_members_kept_in_groups_are_written_in_full() {
    comes_back(
        "/:\n  attributes: {is: there}\n\n/g:\n  datatypes:\n    t: {enum: {base: int8, members: {no: 0}}}\n    \
         u:\n      compound: [x: /g/t]\n      attributes:\n        of: {shape: [], type: /g/t, value: no}\n",
    );
}

#[test]
fn converts_attributes_declared_as_json_that_are_not_json() {
    for attribute in [
        "{shape: [2], type: float64, storage: {zarr: json}, value: [1, 2]}",
        "{shape: [], type: uint8, storage: {zarr: json}, value: 1}",
        "{shape: [2], type: string, storage: {zarr: json}, value: [\"1\", \"2\"]}",
        "{shape: [], type: string, storage: {zarr: json}, value: no json}",
        "{shape: [], type: string, storage: {zarr: json}, value: \"[1, {}]\"}",
        "{shape: null, type: string, storage: {zarr: json}}",
    ] {
        comes_back(&format!("attributes:\n  it: {attribute}\n"));
    }
}

#[test]
fn converts_dangling_references_and_unwritten_elements() {
    for body in [
        "{shape: [2], type: objref, value: [{address: 5}, /a]}",
        "{shape: [2], type: {compound: [r: objref, s: string]}, storage: {fillvalue: null}}",
        "{shape: [1], type: {vlen: {base: int16}}, storage: {fillvalue: [0, 0]}}",
    ] {
        array_comes_back(body);
    }
    // The references refer to the array `/a`, not to the array that contains them or to the dimension `a` of `/g`.
    comes_back(
        "/:\n  ndarrays:\n    a: {shape: [9], type: int8}\n\n/g:\n  ndarrays:\n    \
         b: {shape: [1], type: {vlen: {base: regref}}, value: [[{target: /a, start: [8], opposite: [8]}]]}\n  dimcoords:\n    \
         a:\n      size: 1\n      attributes:\n        at: {shape: [], type: regref, value: {target: /a, start: [8], opposite: [8]}}\n",
    );
}

#[test]
fn converts_arrays_with_array_elements() {
    for body in [
        "{shape: [], type: {array: {base: int8, shape: [3]}}, value: [1, 2, 3]}",
        "{shape: null, type: {array: {base: int8, shape: [3]}}, attributes: {is: nothing}}",
        "{shape: [1], type: {array: {base: int8, shape: [2]}}, storage: {fillvalue: [7, 8]}, value: [[1, 2]]}",
    ] {
        array_comes_back(body);
    }
    comes_back("dimcoords:\n  x: {size: 2, type: {array: {base: int8, shape: [1]}}, value: [[1], [2]]}\n");
}

/// The elements equal the fill value of the store, so no chunk is stored. The fill value of the array is in the record.
#[test]
fn elements_beside_a_recorded_fill_value_are_described() {
    for (datatype, fill, value) in [
        ("bool", "[false, true]", "[false, false]"),
        ("int8", "[7, 8]", "[0, 0]"),
        ("int8", "[0, 1]", "[0, 0]"),
    ] {
        array_comes_back(&format!(
            "{{shape: [1], type: {{array: {{base: {datatype}, shape: [2]}}}}, storage: {{fillvalue: {fill}}}, value: [{value}]}}"
        ));
    }
}

#[test]
fn tags_of_opaque_members_come_back() {
    let folder = TempDir::new().unwrap();
    let store = document(
        &folder,
        "ndarrays:\n  a: {shape: [0], type: {compound: [x: {opaque: {size: 3, tag: photo}}, y: int8]}, value: []}\n",
    );
    for format in zarr_targets() {
        let target = folder.path().join(format.name());
        assert_eq!(converted(&store, *format, &target), Ok(Default::default()));
        let text = described(&target, StorageDetail::None);
        assert!(text.contains("{opaque: {size: 3, tag: photo}}"), "{text}");
    }
}

#[test]
fn dimensions_without_arrays_come_back() {
    let folder = TempDir::new().unwrap();
    // A variable with the name of a dimension that no variable uses, one with the name of an unlimited dimension, and a
    // dimension without a variable.
    let store = document(
        &folder,
        "dimcoords:\n  lat: {size: 3}\n  lon: {size: null, storage: {size: 2}}\n  alone: {size: 4}\n\n\
         ndarrays:\n  lat: {shape: [], type: int8, value: 1}\n  lon: {shape: [lon, 2], type: int8, value: [[1, 2], [3, 4]]}\n",
    );
    let sizes = |store: &PathBuf| {
        let source = open(store);
        let size = |name: &str| {
            let entry = source.find(&NodePath::new(name).unwrap()).unwrap();
            match source.load(&entry.handle).unwrap() {
                Node::Ndarray(array) => array.dimension,
                Node::DimCoord(dimcoord) => Some(dimcoord.size),
                _ => None,
            }
        };
        ["/lat", "/lon", "/alone"].map(size)
    };
    let expected = [Some(Extent::Fixed(3)), Some(Extent::Unlimited { current: 2 }), Some(Extent::Fixed(4))];
    assert_eq!(sizes(&store), expected);
    for format in zarr_targets() {
        let target = folder.path().join(format.name());
        assert_eq!(converted(&store, *format, &target), Ok(Default::default()));
        assert_eq!(sizes(&target), expected, "{}", format.name());

        let none =
            TargetOptions::default().with(*format, "record", OptionValue::Word("none".into())).unwrap();
        let lost = converted_with(&store, *format, none, &folder.path().join("without")).unwrap();
        let lost: Vec<_> = lost.iter().map(|(place, loss)| (place.as_str(), *loss)).collect();
        assert_eq!(lost, [("/alone", Loss::Names), ("/lat", Loss::Names), ("/lon", Loss::Unlimited)]);
        fs::remove_dir_all(folder.path().join("without")).unwrap();
    }
}

#[test]
fn version_2_has_names_with_two_underscores_as_they_are() {
    let folder = TempDir::new().unwrap();
    let store = document(
        &folder,
        "/:\n  ndarrays:\n    __x: {shape: [], type: int8, value: 1}\n\n/__g:\n  ndarrays:\n    a: {shape: [], type: int8, value: 2}\n",
    );
    for (format, kept, encoded) in [("zarr2", ["__x", "__g"], 0), ("zarr3", ["%5F_x", "%5F_g"], 2)] {
        let target = folder.path().join(format);
        let format = target_format(format).unwrap();
        let strict = ConvertOptions::new(format);
        let rows = plan(&*open(&store), &strict).unwrap().report;
        let names = rows.rows().filter(|row| row.what.contains("name that Zarr forbids"));
        assert_eq!(names.map(|row| row.count).sum::<u64>(), encoded);
        converted(&store, format, &target).unwrap();
        assert!(kept.iter().all(|name| target.join(name).is_dir()), "{kept:?}");
        same(&store, &target, &Default::default()).unwrap();
    }
    // Earlier releases wrote them like this.
    let old = folder.path().join("zarr2");
    fs::rename(old.join("__x"), old.join("%5F_x")).unwrap();
    fs::write(old.join("%5F_x/.zattrs"), r#"{"_nc_hyperslab": "{\"name\": \"__x\"}"}"#).unwrap();
    fs::remove_file(old.join(".zmetadata")).unwrap();
    same(&store, &old, &Default::default()).unwrap();
}

#[test]
fn times_in_opaque_elements_come_back_and_may_be_stored_as_raw_bytes() {
    let folder = TempDir::new().unwrap();
    let store = document(
        &folder,
        "ndarrays:\n  c: {shape: [1], type: {compound: [t: {opaque: {size: 8, tag: 'NUMPY:<m8[s]'}}, v: float64]}, \
         value: [['0x0100000000000000', 1.5]]}\n  \
         t: {shape: [1], type: {opaque: {size: 8, tag: 'NUMPY:<M8[ns]'}}, value: ['0x0200000000000000']}\n",
    );
    // Earlier releases stored them as raw bytes.
    let raw = [
        ("zarr2", ".zarray", json!({"dtype": "|V8"}), json!({"dtype": [["t", "|V8"], ["v", "<f8"]]})),
        (
            "zarr3",
            "zarr.json",
            json!({"data_type": "r64", "fill_value": [0, 0, 0, 0, 0, 0, 0, 0]}),
            json!({
                "data_type": {"name": "struct", "configuration": {"fields": [
                    {"name": "t", "data_type": "r64"}, {"name": "v", "data_type": "float64"},
                ]}},
                "fill_value": {"t": [0, 0, 0, 0, 0, 0, 0, 0], "v": 0.0},
            }),
        ),
    ];
    for (format, document, of_times, of_compounds) in raw {
        let target = folder.path().join(format);
        assert_eq!(converted(&store, target_format(format).unwrap(), &target), Ok(Default::default()));
        same(&store, &target, &Default::default()).unwrap();
        for (name, old) in [("t", of_times), ("c", of_compounds)] {
            let path = target.join(name).join(document);
            let mut own: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
            assert!(own.to_string().contains("8[") || own.to_string().contains("numpy."), "{own}");
            for (key, value) in old.as_object().unwrap() {
                own[key] = value.clone();
            }
            fs::write(&path, own.to_string()).unwrap();
        }
        if format == "zarr2" {
            fs::remove_file(target.join(".zmetadata")).unwrap();
        }
        same(&store, &target, &Default::default()).unwrap();
    }
}

#[test]
fn converts_arrays_shorter_than_their_dimension() {
    comes_back(
        "dimcoords:\n  n: {size: null, type: int8, value: [1, 2, 3]}\n  free: {size: null, storage: {size: 3}}\n\n\
         ndarrays:\n  a: {shape: [n, free], type: int8, storage: {shape: [1, 2], chunk: [1, 2]}}\n  \
         b: {shape: [n], type: int8, storage: {shape: [2], chunk: [1]}}\n",
    );
}

#[test]
fn fill_values_of_empty_arrays_stay_undefined() {
    let folder = TempDir::new().unwrap();
    let body = "{shape: [0], type: {array: {base: string, shape: [1]}}, storage: {length: 3, pad: spacepad}, value: []}";
    let store = document(&folder, &format!("ndarrays:\n  a: {body}\n"));
    let at = |name: &str| folder.path().join(name);
    let mut from = store;
    for (to, format) in [("2", "zarr2"), ("3", "zarr3"), ("back", "zarr2")] {
        assert_eq!(converted(&from, target_format(format).unwrap(), &at(to)), Ok(Default::default()));
        from = at(to);
    }
    unlike(&at("2"), &at("3"), &Default::default()).unwrap();
    unlike(&at("2"), &at("back"), &Default::default()).unwrap();
}

#[test]
fn the_default_fill_value_of_texts_is_not_their_missing_value() {
    let folder = TempDir::new().unwrap();
    let store = document(
        &folder,
        "ndarrays:\n  a: {shape: [1], type: string, attributes: {_FillValue: none}, value: [x]}\n  \
         b: {shape: [1], type: string, attributes: {_FillValue: none}, storage: {fillvalue: null}, value: [x]}\n",
    );
    let at = |name: &str| folder.path().join(name);
    for formats in [["zarr3", "zarr2", "zarr3"], ["zarr2", "zarr3", "zarr2"]] {
        let mut from = store.clone();
        let names =
            formats.iter().enumerate().map(|(number, format)| format!("{}{number}", formats[0]) + format);
        let names: Vec<String> = names.collect();
        for (to, format) in names.iter().zip(formats) {
            assert_eq!(converted(&from, target_format(format).unwrap(), &at(to)), Ok(Default::default()));
            from = at(to);
        }
        unlike(&at(&names[0]), &at(&names[2]), &Default::default()).unwrap();
    }
}

#[test]
fn converts_fill_values_that_no_element_has() {
    let folder = TempDir::new().unwrap();
    let store = document(
        &folder,
        "ndarrays:\n  a: {shape: [1], type: int8, storage: {fillvalue: 7}, value: [1]}\n  \
         b: {shape: [1], type: {vlen: {base: string}}, storage: {fillvalue: [x]}, value: [[]]}\n",
    );
    let at = |name: &str| folder.path().join(name);
    let mut from = store;
    for (to, format) in [("3", "zarr3"), ("2", "zarr2"), ("back", "zarr3")] {
        assert_eq!(converted(&from, target_format(format).unwrap(), &at(to)), Ok(Default::default()));
        from = at(to);
    }
    // Between stores of the same format, fill values are also compared.
    unlike(&at("3"), &at("back"), &Default::default()).unwrap();
}

/// The losses of a document in each format. All other content must be the same after the conversion.
fn lost(text: &str) -> Vec<(String, Loss)> {
    let folder = TempDir::new().unwrap();
    let store = document(&folder, text);
    let mut all = Vec::new();
    for format in zarr_targets() {
        let target = folder.path().join(format.name());
        let lost = converted(&store, *format, &target).unwrap();
        unlike(&store, &target, &lost).unwrap();
        let text = folder.path().join("described.yaml");
        write_description(&target, &text, false).unwrap();
        all = lost.into_iter().collect();
    }
    all
}

#[test]
fn objects_that_depend_on_a_lost_object_are_kept_or_lost_by_name() {
    let is = |place: &str, loss: Loss| (place.to_owned(), loss);
    assert_eq!(
        lost("ndarrays:\n  a: {x-error: unsupported}\n\nlinks:\n  l: {hard: /a}\n\n"),
        [is("/a", Loss::Unreadable), is("/l", Loss::Links)]
    );
    assert_eq!(
        lost("datatypes:\n  t:\n    type: int8\n    attributes:\n      a: {x-error: unsupported}\n\n"),
        [is("/t@a", Loss::Unreadable)]
    );
    // The document has no coordinate values, but the array still has the dimension.
    assert_eq!(
        lost(
            "# NDL 0.6.1, described from x.h5 (HDF5)\n/:\n  dimcoords:\n    x: {size: 4, type: int8}\n\n\
             /g:\n  ndarrays:\n    a: {shape: [x], type: int8, value: [1, 2, 3, 4]}\n"
        ),
        [is("/x", Loss::Unreadable)]
    );
    // If a group is lost, its dimensions are also lost.
    for other in ["/a: {x-error: unsupported}\n\n/a/b:", "/a/b:\n  x-error: unsupported"] {
        let text = format!(
            "{other}\n  dimcoords: {{x: {{size: 1}}}}\n\n/c:\n  ndarrays:\n    v: {{shape: [/a/b/x, 2], type: int8, value: [[1, 2]]}}\n"
        );
        let unreadable = other.split(':').next().unwrap();
        assert_eq!(lost(&text), [is(unreadable, Loss::Unreadable), is("/c/v", Loss::Names)]);
    }
    assert_eq!(
        lost(
            "/g:\n  dimcoords:\n    x: {size: null, type: string}\n  ndarrays:\n    v: {shape: [x], type: int8}\n  \
             cells:\n    columns: [x, v]\n    rows: [[a, 2]]\n  storage: {tiledb: {array: sparse}}\n"
        ),
        []
    );
}

/// Storage of zero bytes is damage. It must not be mistaken for elements that were never written, which have the fill
/// value.
#[test]
fn storage_without_bytes_is_unreadable() {
    let folder = TempDir::new().unwrap();
    let seed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/contiguous_v0.h5");
    let mut bytes = fs::read(seed).unwrap();
    // A contiguous layout message of version 3 with the address and the size of the elements.
    let layout = [&[3, 1], 2048_u64.to_le_bytes().as_slice(), &6_u64.to_le_bytes()].concat();
    let at = bytes.windows(layout.len()).position(|window| window == layout).unwrap();
    bytes[at + 10..at + 18].fill(0);
    let source = folder.path().join("damaged.h5");
    fs::write(&source, bytes).unwrap();
    let lost = converted(&source, target_format("zarr3").unwrap(), &folder.path().join("x.zarr")).unwrap();
    assert_eq!(lost, Lost::from([("/x".to_owned(), Loss::Unreadable)]));
}
