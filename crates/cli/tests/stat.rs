//! `stat`.

use crate::command::{examples, hyperslab};
use crate::golden::holds;
use serde_json::Value;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

fn answer(args: &[&str]) -> String {
    let ran = hyperslab(args);
    assert_eq!((ran.code, ran.messages.as_str()), (0, ""), "{args:?}");
    ran.answer
}

/// A store with one float64 array, whose only stored chunk is the first one.
fn store(extents: &str, chunk: &str, attributes: &str, chunk_of: &[f64]) -> (TempDir, String) {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("made.zarr");
    fs::create_dir_all(path.join("x/c/0")).unwrap();
    fs::write(path.join("zarr.json"), r#"{"zarr_format":3,"node_type":"group","attributes":{}}"#).unwrap();
    let metadata = format!(
        r#"{{"zarr_format":3,"node_type":"array","shape":{extents},"data_type":"float64","fill_value":0.0,
        "chunk_grid":{{"name":"regular","configuration":{{"chunk_shape":{chunk}}}}},
        "chunk_key_encoding":{{"name":"default"}},"attributes":{{{attributes}}},
        "codecs":[{{"name":"bytes","configuration":{{"endian":"little"}}}}]}}"#
    );
    fs::write(path.join("x/zarr.json"), metadata).unwrap();
    let bytes: Vec<u8> = chunk_of.iter().flat_map(|number| number.to_le_bytes()).collect();
    fs::write(path.join("x/c/0/0"), bytes).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (dir, path)
}

#[test]
fn tables_stay_the_same() {
    holds("stat_ocean.txt", &answer(&["stat", "ocean.nc"]));
    holds("stat_values.txt", &answer(&["stat", "--values", "ocean.nc", "nested_groups.nc"]));
    holds("stat_decode.txt", &answer(&["stat", "--decode", "ocean.nc", "-s", "time=2024-03-01..2024-03-20"]));
    holds("stat_group.txt", &answer(&["stat", "--values", "ocean.nc:/waves"]));
    holds("stat_arrays.txt", &answer(&["stat", "ocean.nc:/**/*e*t*"]));
    holds("stat_ocean.jsonl", &answer(&["stat", "--json", "--decode", "ocean.nc"]));
    let ran = hyperslab(["stat", "chunk_indexes.h5", "--values"]);
    holds("stat_chunk_indexes.txt", &ran.answer);
}

#[test]
fn reports_shards_with_inner_chunks_and_as_much_as_possible_of_unreadable_arrays() {
    let ran = hyperslab(["stat", "tides.zarr", "--values"]);
    holds("stat_tides.txt", &ran.answer);
    assert_eq!(ran.code, 1);
    assert!(ran.messages.contains("error: tides.zarr:/harmonics/residual"), "{}", ran.messages);
    let line = |path: &str| ran.answer.lines().find(|line| line.starts_with(path)).unwrap();
    assert!(line("/level ").contains("  4/4 in 1/1  "), "{}", ran.answer);
    assert!(line("/harmonics/residual ").contains("numcodecs.mystery"), "{}", ran.answer);
}

#[test]
fn a_mostly_empty_chunk_gives_advice_with_a_better_shape() {
    let mut chunk = vec![0.0; 1024];
    chunk[..8].copy_from_slice(&[-5.0, 5.0, 5.0, 15.0, 15.0, 25.0, 25.0, 35.0]);
    let (_dir, path) = store("[4, 2]", "[512, 2]", "", &chunk);
    let ran = hyperslab(["stat", &path, "--values"]);
    assert_eq!(
        ran.answer,
        "ARRAY  TYPE     LOGICAL   STORED  RATIO  CHUNKS     EACH  FILTERS  MIN  MAX  MEAN  MISSING\n\
         /x     float64     64 B  8.0 KiB   0.01     1/1  8.0 KiB            -5   35    15        0\n"
    );
    let help = "  help: /x takes 8.0 KiB to store 64 B: its chunk of [512, 2] is mostly empty; repack with -c /x:4,2\n";
    assert_eq!((ran.code, ran.messages.as_str()), (0, help));
    assert_eq!(hyperslab(["stat", &path, "-q"]).messages, "");
    let object: Value = serde_json::from_str(&json_of(&path)).unwrap();
    assert_eq!(object["chunks"]["bytes"], 8192);
    assert!(object["help"][0].as_str().unwrap().ends_with("repack with -c /x:4,2"), "{object}");
}

fn json_of(path: &str) -> String {
    let ran = hyperslab(["stat", path, "--json", "-q"]);
    assert_eq!(ran.code, 0, "{}", ran.messages);
    ran.answer
}

#[test]
fn decodes_values_by_their_attributes() {
    let attributes = r#""_FillValue":[-1.0],"valid_min":[0.0],"valid_max":[100.0],"scale_factor":[-0.5],"add_offset":[10.0]"#;
    let numbers = [-1.0, f64::NAN, 0.0, 4.0, 50.0, 101.0, -2.0, 2.0];
    let (_dir, path) = store("[2, 4]", "[2, 4]", attributes, &numbers);
    let figures = |args: &[&str]| -> Vec<f64> {
        let mut words = vec!["stat", path.as_str(), "--json"];
        words.extend(args);
        let object: Value = serde_json::from_str(&answer(&words)).unwrap();
        ["count", "missing", "min", "max", "mean"].iter().map(|key| object[key].as_f64().unwrap()).collect()
    };
    assert_eq!(figures(&["--values"]), [8.0, 2.0, -2.0, 101.0, 155.0 / 6.0]);
    assert_eq!(figures(&["--decode"]), [8.0, 4.0, -15.0, 10.0, 3.0]);
    let selected = figures(&["--values", "-s", ":,[3,0]"]);
    assert_eq!(selected, [4.0, 1.0, 2.0, 50.0, 56.0 / 3.0]);
}

#[test]
fn columns_of_cells_have_the_statistics_of_their_cells() {
    let of = |args: &[&str]| -> Vec<Value> {
        answer(args).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let all = of(&["stat", "--json", "--values", "survey.tdb:/sightings"]);
    let cells = answer(&["show", "--as", "json", "survey.tdb:/sightings"]);
    let cells: Vec<Value> = serde_json::from_str(&cells).unwrap();
    assert_eq!(all.len(), 4);
    for found in &all {
        assert_eq!(
            (&found["logical"], found["count"].as_u64()),
            (&Value::Null, Some(cells.len() as u64)),
            "{found}"
        );
    }
    let part = of(&["stat", "--json", "survey.tdb:/sightings/count", "-s", "day=41.."]);
    let expected: Vec<_> = cells.iter().filter(|cell| cell["day"].as_u64() >= Some(41)).collect();
    assert!(!expected.is_empty() && expected.len() < cells.len());
    assert_eq!(part[0]["count"].as_u64(), Some(expected.len() as u64));
    assert_eq!(part[0]["max"].as_i64(), expected.iter().map(|cell| cell["count"].as_i64()).max().unwrap());
}

#[test]
fn rejects_objects_without_storage_by_name() {
    let ran = hyperslab(["stat", "ocean.nc:/waves/direction"]);
    assert_eq!((ran.code, ran.answer.as_str()), (2, ""));
    assert!(ran.messages.contains("/waves/direction: a dimension without values"), "{}", ran.messages);
    let ran = hyperslab(["stat", "ocean.nc:/sst"]);
    assert_eq!(ran.code, 2);
    let ran = hyperslab(["stat", "ocean.nc@title"]);
    assert_eq!(ran.code, 2, "{}", ran.messages);
}

#[test]
fn no_example_has_more_written_chunks_than_its_grid() {
    let mut seen = 0;
    for entry in fs::read_dir(examples()).unwrap() {
        let path = entry.unwrap().path();
        if !is_store(&path) {
            continue;
        }
        let ran = hyperslab(["stat", "--json", "-q", path.to_str().unwrap()]);
        assert_eq!(ran.code, 0, "{}", ran.messages);
        for line in ran.answer.lines() {
            let object: Value = serde_json::from_str(line).unwrap();
            for counted in [&object["chunks"], &object["shards"]].into_iter().filter(|of| of.is_object()) {
                let (written, of) = (counted["written"].as_u64().unwrap(), counted["of"].as_u64().unwrap());
                assert!(written <= of, "{line}");
                assert_eq!(written == 0, object["stored"] == 0, "{line}");
                seen += 1;
            }
        }
    }
    assert!(seen > 50);
}

fn is_store(path: &Path) -> bool {
    path.extension().is_some_and(|suffix| ["h5", "nc", "zarr", "zip"].iter().any(|known| suffix == *known))
}
