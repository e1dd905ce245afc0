//! Layout options and selections of conversions.

use crate::command::hyperslab;

/// Converts ocean.nc with these options, and returns the answer of a second command that runs on the result.
fn converted(options: &[&str], then: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("ocean.zarr");
    let store = target.to_str().unwrap();
    let ran = hyperslab(["convert", "ocean.nc", store].iter().chain(options));
    assert_eq!(ran.code, 0, "{}", ran.messages);
    hyperslab(then.iter().map(|word| word.replace("STORE", store))).answer
}

#[test]
fn applies_the_options_for_chunks_shards_and_filters() {
    let options =
        ["-c", "time=1", "--shard", "/salinity:time=2", "-f", "zstd=5", "-f", "/salinity:none", "--verify"];
    let described = converted(&options, &["describe", "STORE:/salinity"]);
    assert!(described.contains("chunk: [1, 1, 3, 8]\n"), "{described}");
    assert!(described.contains("shard: [2, 1, 3, 8]\n"), "{described}");
    // The dimensions of the array are described before it.
    let (_, salinity) = described.split_once("  salinity:").unwrap();
    assert!(!salinity.contains("filter:"), "{described}");
    let described = converted(&options, &["describe", "STORE:/temperature"]);
    assert!(described.contains("filter: [{zstd: 5}]\n"), "{described}");
}

#[test]
fn selects_the_same_part_as_show() {
    let part = "time=[3,1],lat=-2:,depth~=40";
    let shown = converted(&["-s", part, "--verify"], &["show", "STORE:/salinity", "--as", "json"]);
    let expected = hyperslab(["show", "ocean.nc:/salinity", "-s", part, "--as", "json"]);
    let numbers = |text: &str| text.replace([' ', '\n', '[', ']'], "");
    assert_eq!(numbers(&shown), numbers(&expected.answer));
}

#[test]
fn rejects_options_without_effect_before_writing_anything() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("ocean.zarr");
    for (options, expected) in [
        (["-c", "/sallinity:4MiB"], "no array matches /sallinity"),
        (["-c", "tiem=1"], "no array has a dimension tiem\n  help: did you mean time?"),
        (["--fill", "/salinity:abc"], "expected a number"),
        (["-c", "/salinity:1,2"], "2 sides, the array has 4 dimensions"),
        (["-f", "zsdt"], "did you mean zstd?"),
        (["-s", "0:2"], "name the dimensions"),
        (["-s", "lta=0"], "did you mean lat=0?"),
    ] {
        let words = ["convert", "ocean.nc", target.to_str().unwrap(), options[0], options[1]];
        let ran = hyperslab(words);
        assert_eq!(ran.code, 2, "{options:?}: {}", ran.messages);
        assert!(ran.messages.contains(expected), "{options:?}: {}", ran.messages);
        assert!(!target.exists(), "{options:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn long_texts_are_converted_and_compared_within_the_memory() {
    use std::fs;
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("texts.zarr");
    fs::create_dir_all(store.join("c")).unwrap();
    let array = r#"{"zarr_format": 3, "node_type": "array", "shape": [5000], "data_type": "string",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [10]}},
        "chunk_key_encoding": {"name": "default"}, "fill_value": "", "codecs": [{"name": "vlen-utf8"}]}"#;
    fs::write(store.join("zarr.json"), array).unwrap();
    // 500 chunks of 10 strings of 100 kB. All chunks are the same file.
    let text = [100_000_u32.to_le_bytes().to_vec(), vec![b'x'; 100_000]].concat();
    fs::write(store.join("c/0"), [10_u32.to_le_bytes().to_vec(), text.repeat(10)].concat()).unwrap();
    for chunk in 1..500 {
        fs::hard_link(store.join("c/0"), store.join(format!("c/{chunk}"))).unwrap();
    }
    // The whole array takes 500 MB, and so does each box of several thousand strings.
    let script = r#"ulimit -v 450000
        "$0" convert -q -m 16MiB -j 2 -f zstd --verify texts.zarr a.zarr && "$0" diff -m 16MiB -j 2 texts.zarr a.zarr"#;
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", script, env!("CARGO_BIN_EXE_hyperslab")]).current_dir(folder.path());
    let done = crate::command::ran(shell.output().unwrap());
    assert_eq!((done.code, done.messages.as_str()), (0, ""), "{}", done.answer);
}
