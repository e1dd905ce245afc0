//! `files`.

use crate::command::hyperslab;
use serde_json::Value;

const MASTER: &str = "../crates/hyperslab/tests/data/nexus/master.nxs";

#[test]
fn files_of_a_master_are_a_table() {
    let ran = hyperslab(["files", MASTER]);
    assert_eq!((ran.code, ran.messages.as_str()), (1, ""), "{}", ran.answer);
    let cells = |line: &str| {
        line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).map(str::to_owned).collect()
    };
    let rows: Vec<Vec<String>> = ran.answer.lines().map(cells).collect();
    assert_eq!(rows[0], ["FILE", "SIZE", "ROLE", "NAMED BY", "FOUND"]);
    assert_eq!(rows[1][0], MASTER);
    assert_eq!(rows[1][2], "store");
    assert_eq!(rows[2][..4], ["data_1.h5", "2.0 KiB", "source", "/entry/all"]);
    assert!(rows[2][4].ends_with("data_1.h5"), "{}", ran.answer);
    assert_eq!(rows[4], ["data_3.h5", "source", "/entry/all", "not found"]);
    assert_eq!(rows[7][..3], ["../make_nexus.py", "link", "/entry/outside"]);
    assert!(
        rows[7][3].starts_with("not followed: ") && rows[7][3].contains("--allow-external"),
        "{}",
        ran.answer
    );
    assert_eq!(rows[8][..3], ["data_2.raw", "8 B", "raw data"]);
    assert!(rows[8][3].ends_with("data_2.h5:/data"), "{}", ran.answer);
    assert_eq!(rows.len(), 10);
}

#[test]
fn files_as_json_say_what_is_there() {
    let ran = hyperslab(["files", "--json", MASTER, "classic.nc"]);
    assert_eq!(ran.code, 1, "{}", ran.messages);
    let lines: Vec<Value> = ran.answer.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |name: &str| lines.iter().find(|line| line["file"] == name).unwrap();
    assert_eq!((&of(MASTER)["role"], &of(MASTER)["format"]), (&"store".into(), &"HDF5".into()));
    assert_eq!((&of("data_1.h5")["found"], &of("data_1.h5")["size"]), (&true.into(), &2056.into()));
    assert_eq!(of("data_3.h5")["found"], false);
    assert!(of("../make_nexus.py")["found"].is_null() && of("../make_nexus.py")["refused"].is_string());
    assert_eq!(of("classic.nc")["size"], 916);
}

#[test]
fn a_store_without_other_files_is_one_line_and_a_part_of_a_store_is_refused() {
    let ran = hyperslab(["files", "ocean.nc", "tides.zarr"]);
    assert_eq!((ran.code, ran.answer.lines().count()), (0, 3), "{}", ran.answer);
    let ran = hyperslab(["files", "ocean.nc:/waves"]);
    assert_eq!(ran.code, 2);
    assert!(ran.messages.contains("files belong to whole stores"), "{}", ran.messages);
    assert_eq!(hyperslab(["files"]).code, 2);
    let folder = tempfile::TempDir::new().unwrap();
    for (store, part, title) in [("a.tdb", "__tiledb_group.tdb", "TileDB"), ("a.zarr", "zarr.json", "Zarr")] {
        let (store, part) = (folder.path().join(store), folder.path().join(store).join(part));
        std::fs::create_dir(&store).unwrap();
        std::fs::write(&part, "").unwrap();
        let ran = hyperslab(["ls", &part.display().to_string()]);
        assert!(ran.messages.contains(&format!("is a part of a {title} store")), "{}", ran.messages);
        assert!(ran.messages.contains(&format!("the store is the folder, {}", store.display())));
    }
}

#[test]
fn missing_sources_of_a_virtual_dataset_are_a_warning_and_no_silent_loss() {
    let warning = format!(
        "warning: {MASTER}:/entry/all: 1 missing source (data_3.h5:data): elements there have the fill value\n"
    );
    let location = format!("{MASTER}:/entry/all");
    for args in [
        &["show", &location][..],
        &["stat", &location],
        &["digest", &location],
        &["describe", "--values", &location],
    ] {
        let ran = hyperslab(args);
        assert_eq!((ran.code, ran.messages.as_str()), (0, warning.as_str()), "{args:?}");
    }
    let ran = hyperslab(["diff", &location, &location]);
    assert_eq!((ran.code, ran.messages), (0, warning.repeat(2)), "{}", ran.answer);
    // Without values, no fill values are shown in place of missing elements.
    assert_eq!(hyperslab(["describe", &location]).messages, "");
    let folder = tempfile::TempDir::new().unwrap();
    let target = folder.path().join("all.zarr");
    let target = target.to_str().unwrap();
    let ran = hyperslab(["convert", &location, target]);
    assert_eq!(ran.code, 1, "{}", ran.answer);
    assert!(ran.answer.contains("1 missing source (data_3.h5:data)"), "{}", ran.answer);
    assert!(ran.messages.contains("--allow-loss unreadable accepts it"), "{}", ran.messages);
    let ran = hyperslab(["convert", "--allow-loss", "unreadable", &location, target]);
    assert_eq!(ran.code, 0, "{}", ran.messages);
}

#[test]
fn external_links_are_followed_where_it_is_asked_for() {
    let ran = hyperslab(["show", "--as", "csv", &format!("{MASTER}:/entry/first")]);
    assert_eq!((ran.code, ran.answer.as_str()), (0, "dim_0,first\n0,0\n1,1\n2,2\n3,3\n"), "{}", ran.messages);
    let ran = hyperslab(["show", &format!("{MASTER}:/entry/last")]);
    assert_eq!(ran.code, 2);
    assert!(ran.messages.contains("leads to /data of data_3.h5"), "{}", ran.messages);
    let ran = hyperslab(["ls", "-r", MASTER]);
    assert!(ran.answer.contains("first    -> data_1.h5:/data"), "{}", ran.answer);
    let ran = hyperslab(["ls", "-rL", MASTER]);
    assert!(ran.answer.contains("first    int16"), "{}", ran.answer);
    assert!(ran.answer.contains("last     -> data_3.h5:/data"), "{}", ran.answer);
    // The reason why a link was not followed is reported for each link, even with `-q`.
    let reasons = [
        format!("error: {MASTER}:/entry/last: leads to /data of data_3.h5, a file that does not exist\n"),
        format!("error: {MASTER}:/entry/outside: "),
    ];
    for args in [&["ls", "-rqL", MASTER][..], &["describe", "-qL", MASTER]] {
        let ran = hyperslab(args);
        assert_eq!(ran.code, 1, "{args:?}");
        assert!(reasons.iter().all(|why| ran.messages.contains(why)), "{args:?}: {}", ran.messages);
    }
    let ran = hyperslab(["convert", "-nL", "--format", "zarr3", MASTER, "x"]);
    assert!(ran.messages.contains("link not followed: "), "{}", ran.messages);
    let ran = hyperslab(["describe", "-L", &format!("{MASTER}:/entry/first")]);
    assert!(ran.answer.contains("first:\n      shape: [4]"), "{}", ran.answer);
    let folder = tempfile::TempDir::new().unwrap();
    let target = folder.path().join("all.zarr");
    let target = target.to_str().unwrap();
    let source = format!("{MASTER}:/entry/first");
    let ran = hyperslab(["convert", "-L", "--verify", &source, target]);
    assert_eq!(ran.code, 0, "{} {}", ran.answer, ran.messages);
    let ran = hyperslab(["show", "--as", "csv", &format!("{target}:/entry/first")]);
    assert_eq!((ran.code, ran.answer.as_str()), (0, "dim_0,first\n0,0\n1,1\n2,2\n3,3\n"), "{}", ran.messages);
}
