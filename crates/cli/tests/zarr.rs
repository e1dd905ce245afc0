//! Zarr stores: directories, zip files and paths inside them.

use crate::command::{Ran, hyperslab, prepared, ran};
use crate::golden::holds;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

fn answers(name: &str, args: &[&str]) {
    let ran = hyperslab(args);
    assert_eq!((ran.code, ran.messages.as_str()), (0, ""), "{args:?}");
    holds(name, &ran.answer);
}

fn in_folder(folder: &Path, args: &[&str]) -> Ran {
    ran(prepared(args).current_dir(folder).output().unwrap())
}

#[test]
fn descriptions_stay_the_same() {
    answers("zarr_tides.yaml", &["describe", "tides.zarr"]);
    answers("zarr_floats.yaml", &["describe", "--values", "floats.zarr"]);
    answers("zarr_floats_raw.yaml", &["describe", "--raw", "floats.zarr"]);
    answers("zarr_single.yaml", &["describe", "--values", "single.zarr.zip"]);
    answers("zarr_single.json", &["describe", "--values", "--json", "single.zarr.zip"]);
}

#[test]
fn lists_values_and_digests_stay_the_same() {
    answers("ls_tides.txt", &["ls", "-rl", "tides.zarr"]);
    answers("ls_tides.jsonl", &["ls", "-rl", "--json", "tides.zarr:/harmonics"]);
    let range = "time=2024-03-02T05..2024-03-02T08";
    answers("show_tides.txt", &["show", "-q", "tides.zarr:/level", "-s", range]);
    answers("show_struct.txt", &["show", "tides.zarr:/harmonics/constituent"]);
    answers("show_single.txt", &["show", "single.zarr.zip", "-s", "1:"]);
    answers("digest_floats.txt", &["digest", "floats.zarr"]);
}

#[test]
fn a_description_with_values_has_the_digest_of_its_store() {
    for store in ["floats.zarr", "single.zarr.zip", "tides.zarr/harmonics/phasor", "tides.zarr/level"] {
        let folder = TempDir::new().unwrap();
        for form in ["yaml", "json"] {
            let described =
                hyperslab(["describe", "--values", if form == "json" { "--json" } else { "-q" }, store]);
            let text = folder.path().join(form);
            fs::write(&text, &described.answer).unwrap();
            let digest = hyperslab(["digest", "--json", "--input-format", "ndl", text.to_str().unwrap()]);
            assert_eq!(digest.answer, hyperslab(["digest", "--json", store]).answer, "{store} {form}");
        }
    }
}

#[test]
fn a_group_inside_a_store_is_a_store() {
    let listed = hyperslab(["ls", "-1", "tides.zarr/harmonics"]);
    assert_eq!(listed.answer, "/constituent\n/phasor\n/residual\n/station\n");
    let hash = |location: &str| {
        let digest = hyperslab(["digest", location]).answer;
        digest.lines().find_map(|line| Some(line.split_once("blake3:")?.1.to_owned())).unwrap()
    };
    assert_eq!(hash("tides.zarr/harmonics/phasor"), hash("tides.zarr:/harmonics/phasor"));
}

#[test]
fn a_path_inside_a_store_that_is_not_a_node_names_the_store() {
    for (wrong, right) in [
        ("tides.zarr/zarr.json", "tides.zarr"),
        ("floats.zarr/depth/.zarray", "floats.zarr/depth"),
        ("tides.zarr/level/c", "tides.zarr/level"),
    ] {
        let ran = hyperslab(["describe", wrong]);
        assert_eq!((ran.code, ran.answer.as_str()), (2, ""), "{wrong}");
        assert!(ran.messages.contains(&format!("{right}\n")), "{wrong}: {}", ran.messages);
    }
    let folder = TempDir::new().unwrap();
    let ran = in_folder(folder.path(), &["describe", "."]);
    assert_eq!(ran.code, 2);
    assert!(ran.messages.contains("`hyperslab ls .` lists the stores there"), "{}", ran.messages);
}

#[test]
fn lists_stores_among_files() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    fs::create_dir_all(path.join("a.zarr/g")).unwrap();
    fs::write(path.join("a.zarr/zarr.json"), GROUP).unwrap();
    fs::create_dir(path.join("plain")).unwrap();
    fs::write(path.join("text.yaml"), "attributes: {a: 1}\n").unwrap();
    fs::write(path.join("other.zip"), b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0").unwrap();
    let listed = in_folder(path, &["ls"]);
    let expected = ".: directory, 2 stores\nNAME       FORMAT   SIZE\na.zarr     Zarr v3  40 B\ntext.yaml  NDL      19 B\n";
    assert_eq!((listed.code, listed.answer.as_str()), (0, expected), "{}", listed.messages);
    let ran = in_folder(path, &["ls", "other.zip"]);
    assert_eq!(ran.code, 2);
    assert!(ran.messages.contains("is an empty zip archive, not an HDF5, "), "{}", ran.messages);
}

const GROUP: &str = r#"{"zarr_format": 3, "node_type": "group"}"#;

#[test]
fn a_damaged_node_does_not_hide_the_others() {
    let folder = TempDir::new().unwrap();
    let put = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    put("a.zarr/zarr.json", GROUP);
    put("a.zarr/bad/zarr.json", r#"{"zarr_format": 3, "node_type": "array", "attributes": {"units": "m"}}"#);
    put("a.zarr/good/zarr.json", GROUP);
    let ran = in_folder(folder.path(), &["describe", "a.zarr"]);
    assert_eq!(ran.code, 1);
    assert!(ran.messages.starts_with("error: a.zarr:/bad: zarr.json: no \"shape\"\n"), "{}", ran.messages);
    assert!(ran.answer.contains("units: m") && ran.answer.contains("/good: {}"), "{}", ran.answer);
    put("a.zarr/bad/zarr.json", "{");
    let ran = in_folder(folder.path(), &["ls", "a.zarr"]);
    assert_eq!(ran.code, 1);
    assert!(ran.answer.contains("good  group"), "{}", ran.answer);
}

#[test]
fn unreadable_arrays_are_not_reported_as_fill_values() {
    let folder = TempDir::new().unwrap();
    let array = r#"{"zarr_format": 3, "node_type": "array", "shape": [2], "data_type": "uint8", "fill_value": 0,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}}, "chunk_key_encoding": "default",
        "codecs": ["bytes", "secret"]}"#;
    fs::create_dir(folder.path().join("a.zarr")).unwrap();
    fs::write(folder.path().join("a.zarr/zarr.json"), array).unwrap();
    let described = in_folder(folder.path(), &["describe", "--values", "a.zarr"]);
    assert_eq!(described.code, 1);
    assert!(described.messages.contains("codec \"secret\""), "{}", described.messages);
    fs::write(folder.path().join("a.yaml"), &described.answer).unwrap();
    for location in ["a.zarr", "a.yaml"] {
        let digest = in_folder(folder.path(), &["digest", "--json", location]);
        assert!(digest.code == 1 && digest.answer.contains("\"error\""), "{location}: {}", digest.answer);
    }
}

#[test]
#[cfg(unix)]
fn symbolic_links_are_told_and_lead_on() {
    use std::os::unix::fs::symlink;
    let folder = TempDir::new().unwrap();
    let store = folder.path().join("a.zarr");
    for group in ["", "g", "g/h"] {
        fs::create_dir_all(store.join(group)).unwrap();
        fs::write(store.join(group).join("zarr.json"), GROUP).unwrap();
    }
    symlink("..", store.join("g/up")).unwrap();
    symlink("g/h", store.join("short")).unwrap();
    let digest = in_folder(folder.path(), &["digest", "--json", "a.zarr"]);
    let lines: Vec<_> = digest.answer.lines().collect();
    assert_eq!(
        lines,
        [
            r#"{"path":"/","kind":"group"}"#,
            r#"{"path":"/g","kind":"group"}"#,
            r#"{"path":"/g/h","kind":"group"}"#,
            r#"{"path":"/g/up","kind":"link","target":"/"}"#,
            r#"{"path":"/short","kind":"link","target":"/g/h"}"#,
        ]
    );
    let through = in_folder(folder.path(), &["ls", "-1", "a.zarr:/g/up/g"]);
    assert_eq!(
        (through.code, through.answer.as_str()),
        (0, "/g/up/g/h\n/g/up/g/up\n"),
        "{}",
        through.messages
    );
}

/// A link may lead to an array that other readers show.
#[test]
#[cfg(unix)]
fn links_out_of_a_store_and_to_nothing_are_named_as_unreadable() {
    use std::os::unix::fs::symlink;
    let folder = TempDir::new().unwrap();
    for group in ["a.zarr", "a.zarr/g", "outside"] {
        fs::create_dir_all(folder.path().join(group)).unwrap();
        fs::write(folder.path().join(group).join("zarr.json"), GROUP).unwrap();
    }
    symlink("../../outside", folder.path().join("a.zarr/g/away")).unwrap();
    symlink("nothing", folder.path().join("a.zarr/gone")).unwrap();
    let digest = in_folder(folder.path(), &["digest", "--json", "a.zarr"]);
    let lines: Vec<_> = digest.answer.lines().collect();
    assert_eq!(
        lines,
        [
            r#"{"path":"/","kind":"group"}"#,
            r#"{"path":"/g","kind":"group"}"#,
            r#"{"path":"/g/away","kind":"array","error":"leads out of the store or in a circle, and is not followed"}"#,
            r#"{"path":"/gone","kind":"array","error":"leads to nothing, and is not followed"}"#,
        ]
    );
    assert_eq!(digest.code, 1);
    for verb in ["describe", "ls", "stat"] {
        let answer = in_folder(folder.path(), &[verb, "-q", "a.zarr"]);
        assert_eq!(answer.code, 1, "{verb}: {}", answer.messages);
    }
    let converted = in_folder(folder.path(), &["convert", "a.zarr", "b.zarr"]);
    assert_eq!(converted.code, 1);
    assert!(converted.messages.contains("2 losses are not allowed"), "{}", converted.messages);
}

#[test]
#[cfg(unix)]
fn chunks_and_coordinates_that_cannot_be_read_are_named() {
    use std::os::unix::fs::symlink;
    let folder = TempDir::new().unwrap();
    let store = folder.path().join("a.zarr");
    let array = r#"{"zarr_format":3,"node_type":"array","shape":[2],"data_type":"int8","chunk_grid":{"name":"regular","configuration":{"chunk_shape":[2]}},
        "chunk_key_encoding":{"name":"default","configuration":{"separator":"/"}},"fill_value":0,"codecs":["bytes"],"dimension_names":["x"]}"#;
    fs::create_dir_all(&store).unwrap();
    fs::write(store.join("zarr.json"), GROUP).unwrap();
    for name in ["a", "b", "x"] {
        fs::create_dir_all(store.join(name).join("c")).unwrap();
        fs::write(store.join(name).join("zarr.json"), array).unwrap();
    }
    fs::write(store.join("b/c/0"), [1, 2]).unwrap();
    fs::write(store.join("x/c/0"), [1]).unwrap();
    fs::write(folder.path().join("outside"), [3, 4]).unwrap();
    symlink("../../../outside", store.join("a/c/0")).unwrap();

    let shown = in_folder(folder.path(), &["show", "--as", "csv", "a.zarr:/b"]);
    assert_eq!((shown.code, shown.answer.as_str()), (1, "x,b\n0,1\n1,2\n"));
    assert!(shown.messages.contains("a.zarr:/x: "), "{}", shown.messages);
    for args in [&["ls", "-1q", "a.zarr"][..], &["ls", "-q", "a.zarr"], &["ls", "-q", "--json", "a.zarr"]] {
        let listed = in_folder(folder.path(), args);
        assert!(listed.answer.contains('b'), "{}", listed.answer);
        let named = listed.messages.contains("a.zarr:/a: ");
        assert_eq!((listed.code, named), if args[1] == "-1q" { (0, false) } else { (1, true) }, "{args:?}");
    }
    // Chunks that may be stored are not mistaken for fill values.
    let described = in_folder(folder.path(), &["describe", "--values", "a.zarr"]);
    assert_eq!(described.code, 1);
    assert!(described.messages.contains("a.zarr:/a: "), "{}", described.messages);
}

#[test]
fn escaped_names_are_shown_unescaped() {
    let folder = TempDir::new().unwrap();
    let put = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    put("a.zarr/zarr.json", GROUP);
    let renamed =
        r#"{"zarr_format": 3, "node_type": "group", "attributes": {"hyperslab": {"name": "__cache"}}}"#;
    put("a.zarr/%5F_cache/zarr.json", renamed);
    put("a.zarr/%5F_cache/x/zarr.json", GROUP);
    let paths = |args: &[&str]| in_folder(folder.path(), args).answer;
    assert_eq!(paths(&["ls", "-r1", "a.zarr"]), "/__cache\n/__cache/x\n");
    assert_eq!(paths(&["ls", "-1", "a.zarr:/__cache"]), "/__cache/x\n");
    assert!(!paths(&["describe", "a.zarr"]).contains("hyperslab:"));
    assert_eq!(paths(&["ls", "-r1", "--raw", "a.zarr"]), "/%5F_cache\n/%5F_cache/x\n");
}

#[test]
fn attributes_have_the_types_recorded_by_the_netcdf_library() {
    let folder = TempDir::new().unwrap();
    let put = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    put("a.zarr/.zgroup", r#"{"zarr_format": 2}"#);
    let types = r#"{"types": {"n": "<i2", "f": "<f4", "wrong": "<u1", "t": "<U1"}}"#;
    let attributes =
        format!(r#"{{"n": 7, "f": [1, 2.5], "wrong": 300, "t": "text", "_NCZARR_ATTR": {types}}}"#);
    put("a.zarr/.zattrs", &attributes);
    let array = r#"{"zarr_format": 2, "shape": [2, 3], "chunks": [2, 3], "dtype": "<i2", "compressor": null,
        "fill_value": 0, "order": "C", "filters": null,
        "_NCZARR_ARRAY": {"dimrefs": ["/y", "/other/x"], "storage": "chunked"}}"#;
    put("a.zarr/v/.zarray", array);
    let ran = in_folder(folder.path(), &["describe", "--storage=none", "a.zarr"]);
    let expected = "\
# NDL 0.6.1, described from a.zarr (Zarr v2)
# extensions: dimension

attributes:
  n: {shape: [], type: int16, value: 7}
  f: {shape: [2], type: float32, value: [1.0, 2.5]}
  wrong: 300
  t: text

dimcoords:
  y:
    size: 2

ndarrays:
  v:
    shape: [y, 3]
    type: int16
";
    assert_eq!((ran.code, ran.answer.as_str()), (0, expected), "{}", ran.messages);
}

#[test]
fn a_dry_run_shows_the_chunks_and_warns_of_many_small_ones() {
    let ran = hyperslab(["convert", "-n", "ocean.nc", "x.zarr"]);
    assert_eq!(ran.code, 0, "{}", ran.messages);
    let row = |path: &str| {
        let found = ran.answer.lines().rfind(|line| line.starts_with(&format!("{path} "))).unwrap();
        found.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect::<Vec<_>>()
    };
    assert_eq!(row("/temperature"), ["/temperature", "[9, 5, 3, 8]", "[3, 5, 3, 8]", "3", "720 B"]);
    assert!(!ran.messages.contains("warning"), "{}", ran.messages);
    let json = hyperslab(["convert", "-n", "--json", "ocean.nc", "x.zarr"]);
    let json: serde_json::Value = serde_json::from_str(&json.answer).unwrap();
    let found = json["chunks"].as_array().unwrap().iter().find(|of| of["path"] == "/temperature").unwrap();
    assert_eq!((&found["count"], &found["bytes"]), (&3.into(), &720.into()));
    // One record per chunk, as netCDF-C writes along unlimited dimensions.
    let folder = tempfile::TempDir::new().unwrap();
    let document = folder.path().join("hourly.yaml");
    let text = "dimcoords:\n  time: {size: null, type: float64, storage: {size: 2000, chunk: [1], fillvalue: 1.0}}\n";
    std::fs::write(&document, text).unwrap();
    let ran = hyperslab(["convert", "-n", document.to_str().unwrap(), "x.zarr"]);
    let warning = "warning: /time becomes 2000 chunks of 8 B, each of which is stored separately; -c /time:1MiB makes larger ones\n";
    assert_eq!((ran.code, ran.messages.as_str()), (0, warning), "{}", ran.answer);
    let ran = hyperslab(["convert", "-n", "-c", "/time:1MiB", document.to_str().unwrap(), "x.zarr"]);
    assert_eq!((ran.code, ran.messages.as_str()), (0, ""), "{}", ran.answer);
}
