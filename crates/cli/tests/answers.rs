//! Exit codes, and the output streams of answers and messages.

use crate::command::{examples, hyperslab, prepared, ran};
use crate::help::VERBS;
use std::fs;
use std::process::Stdio;
use tempfile::TempDir;

#[test]
fn a_location_alone_is_described() {
    assert_eq!(hyperslab(["ocean.nc"]).answer, hyperslab(["describe", "ocean.nc"]).answer);
}

#[test]
fn an_answer_in_a_file_equals_that_on_standard_output() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("ocean.yaml");
    let ran = hyperslab(["describe", "ocean.nc", "-o", path.to_str().unwrap()]);
    assert_eq!((ran.code, ran.answer.as_str()), (0, ""));
    assert_eq!(fs::read_to_string(path).unwrap(), hyperslab(["describe", "ocean.nc"]).answer);
}

#[test]
fn several_locations_make_a_stream_of_documents() {
    let ran = hyperslab(["describe", "userblock.h5", "big_endian.h5"]);
    assert_eq!(ran.code, 0);
    assert_eq!(ran.answer.matches("\n---\n").count(), 1);
}

#[test]
fn a_closed_output_is_not_an_error() {
    let dir = TempDir::new().unwrap();
    let target = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (converted, created) = (target("converted.zarr"), target("created.zarr"));
    let (joined, repacked) = (target("joined.zarr"), target("repacked.nc"));
    // Some of these commands write more than a pipe can hold, others less than their own buffer.
    let runs = [
        ("describe", &["--values", "groups_new.h5"][..]),
        ("describe", &["--json", "ocean.nc"]),
        ("ls", &["-rl", "groups_new.h5"]),
        ("ls", &["-r1", "ocean.nc"]),
        ("show", &["ocean.nc:/salinity"]),
        ("show", &["ocean.nc:/salinity", "--as", "raw"]),
        ("stat", &["ocean.nc"]),
        ("digest", &["groups_new.h5"]),
        ("diff", &["ocean.nc", "classic.nc"]),
        ("check", &["ocean.nc"]),
        ("check", &["--json", "ocean.nc"]),
        ("files", &["ocean.nc"]),
        ("history", &["survey.tdb"]),
        ("edit", &["survey.tdb", "--set", "/@a=1", "-n"]),
        ("convert", &["classic.nc", &converted]),
        ("repack", &["ocean.nc", &repacked]),
        ("concat", &["classic.nc", &joined, "--along", "time"]),
        ("create", &["buoys.yaml", &created]),
        ("schema", &[]),
        ("completions", &["bash"]),
        ("man", &[]),
        ("--help", &[]),
        ("--version", &[]),
    ];
    assert!(VERBS.iter().all(|verb| runs.iter().any(|(tested, _)| tested == verb)));
    for (verb, args) in runs {
        // The pipe is closed from the start, so no command can write anything before.
        let (reader, closed) = std::io::pipe().unwrap();
        drop(reader);
        let child = prepared([&[verb], args].concat()).stdout(closed).stderr(Stdio::piped()).spawn().unwrap();
        let ran = ran(child.wait_with_output().unwrap());
        let told = match verb {
            // Notes about packed numbers or a dry run are not errors.
            "convert" | "repack" | "concat" | "create" | "show" | "edit" => "",
            _ => ran.messages.as_str(),
        };
        assert_eq!((ran.code, told), (0, ""), "{verb} {args:?}: {}", ran.messages);
    }
    for name in ["converted.zarr", "joined.zarr", "created.zarr"] {
        assert!(dir.path().join(name).exists(), "{name}");
    }
}

#[test]
fn options_stand_anywhere() {
    let described = hyperslab(["describe", "--json", "ocean.nc:/waves"]);
    assert_eq!(described.code, 0);
    for args in [
        &["--json", "ocean.nc:/waves"][..],
        &["-q", "ocean.nc:/waves", "--json"],
        &["-j", "2", "--json", "ocean.nc:/waves"],
        &["--json", "--limit", "rank=40", "describe", "ocean.nc:/waves"],
        &["--json", "--", "ocean.nc:/waves"],
    ] {
        let ran = hyperslab(args);
        assert_eq!((ran.code, ran.messages.as_str()), (0, ""), "{args:?}");
        assert!(ran.answer == described.answer, "{args:?}");
    }
    assert_eq!(hyperslab(["-r1", "ls", "ocean.nc"]).answer, hyperslab(["ls", "-r1", "ocean.nc"]).answer);
}

#[test]
fn values_behind_a_link_are_those_it_leads_to() {
    let show = |location: &str| hyperslab(["show", "--as", "csv", location]).answer;
    assert_eq!(show("datatypes.h5:/links/soft"), show("datatypes.h5:/layouts/chunked"));
    let dangling = hyperslab(["show", "groups_new.h5:/by_name_3/n00"]);
    assert_eq!((dangling.code, dangling.messages.contains("no object /target")), (2, true), "{dangling:?}");
}

#[test]
fn csv_has_what_pandas_numpy_and_r_read() {
    let folder = TempDir::new().unwrap();
    let (text, store) = (folder.path().join("odd.yaml"), folder.path().join("odd.zarr"));
    let document = "ndarrays:\n  odd:\n    shape: [4]\n    type: float64\n    value: [.nan, .inf, -.inf, 1]\n    \
                    attributes:\n      valid_max: 5\n";
    fs::write(&text, document).unwrap();
    let (text, store) = (text.to_str().unwrap(), store.to_str().unwrap());
    assert_eq!(hyperslab(["create", text, store]).code, 0);
    let at = format!("{store}:/odd");
    assert_eq!(hyperslab(["show", "--as", "csv", &at]).answer, "dim_0,odd\n0,NaN\n1,inf\n2,-inf\n3,1.0\n");
    let decoded = |select: &str| hyperslab(["show", "--as", "csv", "--decode", &at, "-s", select]).answer;
    assert_eq!(decoded("1:"), "dim_0,odd\n1,\n2,-inf\n3,1.0\n", "inf is above valid_max");
}

#[test]
fn a_pattern_matches_across_groups() {
    let ran = hyperslab(["digest", "ocean.nc:/**/wmo"]);
    assert_eq!(ran.code, 0, "{}", ran.messages);
    assert!(ran.answer.contains("/waves/buoys/wmo "), "{}", ran.answer);
}

#[test]
fn a_damaged_chunk_gives_an_error_and_does_not_hide_the_rest() {
    let dir = TempDir::new().unwrap();
    let mut bytes = fs::read(examples().join("userblock.h5")).unwrap();
    // The first chunk of /c begins with the zlib header for level 1.
    let chunk = bytes.windows(2).position(|pair| pair == [0x78, 0x01]).unwrap();
    bytes[chunk + 2..chunk + 8].fill(0xff);
    let path = dir.path().join("broken.h5");
    fs::write(&path, bytes).unwrap();
    let broken = hyperslab(["digest", "--json", path.to_str().unwrap()]);
    assert_eq!(broken.code, 1, "{}", broken.messages);
    assert!(broken.messages.contains("broken.h5:/c"), "{}", broken.messages);
    let whole = hyperslab(["digest", "--json", "userblock.h5"]);
    for (line, broken) in whole.answer.lines().zip(broken.answer.lines()) {
        if line.contains("\"path\":\"/c\"") {
            assert!(broken.contains("\"error\":"), "{broken}");
        } else {
            assert_eq!(line, broken);
        }
    }
}

#[test]
fn a_damaged_object_keeps_its_place_in_the_description() {
    let dir = TempDir::new().unwrap();
    let mut bytes = fs::read(examples().join("userblock.h5")).unwrap();
    let headers: Vec<usize> =
        bytes.windows(4).enumerate().filter(|(_, w)| w == b"OHDR").map(|(at, _)| at).collect();
    let last = headers.last().unwrap() + 20;
    bytes[last] ^= 0xff;
    let path = dir.path().join("broken.h5");
    fs::write(&path, bytes).unwrap();
    let ran = hyperslab(["describe", path.to_str().unwrap()]);
    assert_eq!(ran.code, 1, "{}", ran.messages);
    assert!(ran.answer.contains("x-error:"), "{}", ran.answer);
    assert!(ran.answer.contains("addresses count from byte 1024"), "{}", ran.answer);
    assert!(ran.messages.starts_with("error: "), "{}", ran.messages);
    assert!(ran.messages.contains("at byte 0x"), "{}", ran.messages);
}

#[test]
fn quiet_keeps_errors_and_drops_notes() {
    let ran = hyperslab(["-q", "describe", "no_such_file.nc"]);
    assert_eq!(ran.code, 2);
    assert!(ran.messages.starts_with("error: "), "{}", ran.messages);
    let note = |line: &str| line.starts_with("warning: ") || line.starts_with("  note: ");
    assert!(!ran.messages.lines().any(note), "{}", ran.messages);
}

#[test]
fn patterns_digest_objects_once_and_attributes_alone() {
    let whole = hyperslab(["digest", "--json", "ocean.nc"]);
    let matched = hyperslab(["digest", "--json", "ocean.nc:/**"]);
    assert_eq!((whole.code, whole.answer), (matched.code, matched.answer));
    let units = hyperslab(["digest", "--json", "ocean.nc:/l??@units"]);
    let paths: Vec<_> = units.answer.lines().filter_map(|line| line.split('"').nth(3)).collect();
    assert_eq!((units.code, paths), (0, vec!["/lat@units", "/lon@units"]));
    let absent = hyperslab(["digest", "ocean.nc:/crs@units"]);
    assert_eq!(absent.code, 2);
    assert!(absent.messages.contains("no attribute /crs@units"), "{}", absent.messages);
}

#[test]
fn a_coordinate_without_match_names_the_nearest_one() {
    let ran = hyperslab(["show", "ocean.nc:/salinity", "-s", "time=0", "-s", "depth==12"]);
    assert_eq!((ran.code, ran.answer.as_str()), (2, ""), "{}", ran.messages);
    let expected = "dimension depth: no coordinate is 12\n  help: `hyperslab ";
    assert!(ran.messages.contains(expected), "{}", ran.messages);
    let none = hyperslab(["show", "ocean.nc:/waves/height", "-s", "time=2030..", "--json"]);
    assert_eq!((none.code, none.answer.as_str()), (0, "[]\n"), "{}", none.messages);
}

#[test]
fn a_selection_without_elements_has_one_head() {
    for (selection, expected) in [
        ("lat=80..,lon=0..9", "# /salinity float32\nlat \\ lon  8.0  8.25  8.5  8.75  9.0\n"),
        ("time=2030..", "# /salinity float32\n"),
        ("time=0,depth=0,lat=80..,lon=0", "# /salinity float32, time 0.0, depth 0.0, lon 8.0\nlat\n"),
    ] {
        let ran = hyperslab(["show", "-q", "ocean.nc:/salinity", "-s", selection]);
        assert_eq!((ran.code, ran.answer.as_str()), (0, expected), "{selection}: {}", ran.messages);
    }
}

#[test]
fn full_storage_has_comments_times_and_order() {
    let full = |file: &str| hyperslab(["describe", "--storage=full", file]).answer;
    let commented = "../crates/hdf5/tests/data/objects_v2.h5";
    for (file, directive) in [
        (commented, "comment: "),
        (commented, "mtime: "),
        ("../crates/hdf5/tests/data/chunk_index/implicit.h5", "alloc_time: early"),
        ("groups_new.h5", "track_order: true"),
    ] {
        assert!(full(file).contains(directive), "no {directive} of {file}");
    }
    let brief = hyperslab(["describe", commented]).answer;
    assert!(brief.contains("comment: ") && !brief.contains("mtime: "), "{brief}");
}

#[test]
fn an_attribute_is_described_with_its_object_alone() {
    let ran = hyperslab(["describe", "ocean.nc:/lat@units"]);
    assert_eq!((ran.code, ran.messages.as_str()), (0, ""));
    assert!(ran.answer.contains("  lat:\n"), "{}", ran.answer);
    assert!(ran.answer.contains("      units: degrees_north\n"), "{}", ran.answer);
    assert_eq!(ran.answer.matches("attributes:").count(), 1, "{}", ran.answer);
    assert!(!ran.answer.contains("axis"), "{}", ran.answer);
    let root = hyperslab(["describe", "ocean.nc:/@title"]).answer;
    assert!(root.contains("title: Skagerrak") && !root.contains("institution"), "{root}");
    assert!(!root.contains("ndarrays") && !root.contains("dimcoords"), "{root}");
    let all = hyperslab(["describe", "ocean.nc:/**/*@units"]).answer;
    assert_eq!(all.matches("units: ").count(), 9, "{all}");
    // The description of an attribute is a document like any other.
    let json = hyperslab(["describe", "--json", "ocean.nc:/temperature@units"]);
    assert_eq!(json.code, 0);
    let absent = hyperslab(["describe", "ocean.nc:/lat@absent"]);
    assert_eq!((absent.code, absent.answer.as_str()), (2, ""));
    assert!(absent.messages.contains("/lat@absent: no such attribute"), "{}", absent.messages);
    let stat = hyperslab(["stat", "ocean.nc:/lat@units"]);
    assert_eq!(stat.code, 2);
    assert!(stat.messages.contains("`hyperslab ls ocean.nc:/lat@units` lists it"), "{}", stat.messages);
}

#[test]
fn digests_of_several_files_name_the_file_of_each_line() {
    let several = hyperslab(["digest", "ocean.nc:/lat", "userblock.h5"]);
    assert_eq!(several.code, 0, "{}", several.messages);
    assert!(several.answer.contains("  ocean.nc:/lat  "), "{}", several.answer);
    assert!(several.answer.contains("  userblock.h5:/c  "), "{}", several.answer);
    let lines = hyperslab(["digest", "--json", "ocean.nc:/lat", "userblock.h5"]);
    let files = lines.answer.lines().map(|line| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        line["file"].as_str().unwrap().to_owned()
    });
    let files: std::collections::BTreeSet<_> = files.collect();
    assert_eq!(files, ["ocean.nc".to_owned(), "userblock.h5".to_owned()].into());
    // The digests of a single store do not depend on its name.
    let alone = hyperslab(["digest", "--json", "ocean.nc:/lat"]);
    assert!(alone.answer.starts_with("{\"path\":\"/lat\""), "{}", alone.answer);
}

#[test]
fn escaped_strings_are_noted() {
    let dir = TempDir::new().unwrap();
    let store = dir.path().join("latin.zarr");
    fs::create_dir(&store).unwrap();
    let array = r#"{"zarr_format":2,"shape":[3],"chunks":[3],"dtype":"|S4","compressor":null,"fill_value":null,"order":"C","filters":null}"#;
    fs::write(store.join(".zarray"), array).unwrap();
    fs::write(store.join("0"), b"caf\xe9na\xefvfine").unwrap();
    let shown = |form: &str| {
        ran(prepared(["show", "latin.zarr", "--as", form]).current_dir(dir.path()).output().unwrap())
    };
    let note = "some strings are not UTF-8; bytes that are not are written as \\xHH";
    assert_eq!(shown("csv").answer, "dim_0,value\n0,caf\\xe9\n1,na\\xefv\n2,fine\n");
    for form in ["csv", "tsv"] {
        assert!(shown(form).messages.contains(note), "{form}");
    }
    let parquet = ["show", "latin.zarr", "-o", "latin.parquet"];
    let written = ran(prepared(parquet).current_dir(dir.path()).output().unwrap());
    assert!(written.messages.contains(note), "{}", written.messages);
    assert!(!shown("json").messages.contains("UTF-8"));
}
