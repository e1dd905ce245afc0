//! `check --conventions`: the conventions of TileDB-CF.

use crate::command::{Ran, examples};
use crate::interrupted::run;
use std::path::Path;
use tempfile::TempDir;

fn checked(folder: &Path, store: &str, words: &[&str]) -> Ran {
    run(folder, &[&["check", store], words].concat())
}

#[test]
fn what_is_converted_from_netcdf_is_checked_by_each_convention() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let ocean = examples().join("ocean.nc");
    let made = run(folder, &["convert", "-q", ocean.to_str().unwrap(), "ocean.tdb"]);
    assert_eq!(made.code, 0, "{}", made.messages);
    let simple = checked(folder, "ocean.tdb", &["--conventions", "simple-0.3.0,cf-0.3.0"]);
    assert_eq!(
        (simple.code, simple.answer.as_str()),
        (0, "no findings in 1 location\n"),
        "{}",
        simple.messages
    );
    let old = checked(folder, "ocean.tdb", &["--conventions", "cf-0.2.0", "--json"]);
    assert_eq!(old.code, 1, "{}", old.answer);
    assert!(old.answer.contains(r#""rule":"tiledb-cf/group-metadata-array""#), "{}", old.answer);
    let all = checked(folder, "ocean.tdb", &["--conventions", "tiledb-cf"]);
    assert_eq!(all.code, 0, "{}", all.answer);
    assert!(all.answer.contains("holds: cf-0.3.0, simple-0.3.0"), "{}", all.answer);
    assert!(
        all.answer.contains("not cf-0.1.0, indexable-0.1.0, cf-0.2.0, simple-0.2.0: 9 metadata"),
        "{}",
        all.answer
    );
}

#[test]
fn conventions_of_other_formats_and_unknown_words_are_refused() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let ocean = examples().join("ocean.nc");
    let ocean = ocean.to_str().unwrap();
    let other = checked(folder, ocean, &["--conventions", "cf-0.3.0"]);
    assert_eq!(other.code, 2);
    assert!(
        other.messages.contains("the conventions of TileDB-CF are those of TileDB groups"),
        "{}",
        other.messages
    );
    let unknown = checked(folder, ocean, &["--conventions", "simple-0.3"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.messages.contains("did you mean simple-0.3.0?"), "{}", unknown.messages);
    let made = run(folder, &["convert", "-q", ocean, "ocean.tdb"]);
    assert_eq!(made.code, 0, "{}", made.messages);
    let array = checked(folder, "ocean.tdb/depth", &["--conventions", "cf-0.3.0"]);
    assert_eq!(array.code, 2);
    assert!(array.messages.contains("put the array into a group"), "{}", array.messages);
}

/// A document whose attributes break a rule of CF, whose values break another, and that breaks a recommendation.
const BUOYS: &str = "\
attributes: {Conventions: CF-1.8, title: buoys}
dimcoords:
  time:
    size: 3
    type: float64
    attributes: {standard_name: time, units: hours since 2026-01-01}
    value: [0, 2, 1]
ndarrays:
  height:
    shape: [time]
    type: float32
    attributes: {standard_name: sea_surface_wave_significant_height, units: metrs}
    value: [1, 2, 3]
  Height:
    shape: [time]
    type: float32
    attributes: {long_name: another}
    value: [1, 2, 3]
";

/// The rule and the object of each finding, in JSON.
fn found(answer: &str) -> Vec<(String, String)> {
    let of = |line: &str| {
        let finding: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| finding[key].as_str().unwrap_or_default().to_owned();
        (text("rule"), text("object"))
    };
    let mut found: Vec<_> = answer.lines().map(of).collect();
    found.sort();
    found
}

fn buoys(folder: &Path) {
    std::fs::write(folder.join("buoys.yaml"), BUOYS).unwrap();
}

#[test]
fn cf_is_checked_alike_in_every_format() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    buoys(folder);
    let expected = [
        ("cf/coordinate-monotonic", "/time"),
        ("cf/names-differ-in-case", "/height"),
        ("cf/units-known", "/height@units"),
    ];
    for store in ["buoys.yaml", "buoys.nc", "buoys.zarr", "buoys.tdb", "buoys.h5"] {
        if store != "buoys.yaml" {
            let made = run(folder, &["create", "-q", "buoys.yaml", store]);
            assert_eq!(made.code, 0, "{}", made.messages);
        }
        let ran = checked(folder, store, &["--conventions", "CF-1.8", "--json"]);
        assert_eq!(ran.code, 1, "{store}: {}{}", ran.answer, ran.messages);
        let found = found(&ran.answer);
        let found: Vec<_> = found.iter().map(|(rule, object)| (&**rule, &**object)).collect();
        // Not every format keeps names apart that differ only in case.
        assert!(expected.iter().all(|one| found.contains(one)), "{store}: {found:?}");
    }
}

#[test]
fn auto_asks_the_attribute_conventions() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    buoys(folder);
    let auto = checked(folder, "buoys.yaml", &["--conventions", "auto", "--quick"]);
    assert_eq!(auto.code, 1);
    assert!(auto.answer.contains("checked against CF-1.8, as stated in Conventions"), "{}", auto.answer);
    assert!(auto.answer.contains("error  cf/units-known (CF 3.1)  units \"metrs\""), "{}", auto.answer);
    assert!(auto.answer.contains("help: did you mean meters?") || auto.answer.contains("help: did you mean"));
    assert!(!auto.answer.contains("cf/coordinate-monotonic"), "{}", auto.answer);
    std::fs::write(folder.join("plain.yaml"), "attributes: {title: nothing}\n").unwrap();
    let none = checked(folder, "plain.yaml", &["--conventions", "auto"]);
    assert_eq!(none.code, 0, "{}", none.answer);
    assert!(none.answer.contains("nothing was checked"), "{}", none.answer);
    assert_eq!(checked(folder, "plain.yaml", &["--conventions", "auto", "--strict"]).code, 1);
    // A version older than those that can be checked is not an error in the file.
    std::fs::write(folder.join("old.yaml"), "attributes: {Conventions: CF-1.4}\n").unwrap();
    let old = checked(folder, "old.yaml", &["--conventions", "auto"]);
    assert_eq!(old.code, 0, "{}", old.answer);
    assert!(old.answer.contains("checked against CF-1.6, the nearest to CF-1.4"), "{}", old.answer);
    assert_eq!(checked(folder, "old.yaml", &["--conventions", "CF-1.6"]).code, 1);
}

#[test]
fn rules_and_tables_are_chosen() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    buoys(folder);
    let with =
        |words: &[&str]| checked(folder, "buoys.yaml", &[&["--conventions", "CF-1.8"], words].concat());
    let units = with(&["--rules", "cf/units", "--json"]);
    assert_eq!(found(&units.answer), [("cf/units-known".to_owned(), "/height@units".to_owned())]);
    let others = with(&["--rules", "-cf/units,-cf/coordinate-monotonic,-cf/dimension", "--json"]);
    assert!(!others.answer.contains("cf/units-known"), "{}", others.answer);
    let unknown = with(&["--rules", "cf/unit"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.messages.contains("rule \"cf/unit\""), "{}", unknown.messages);
    let table = "<standard_name_table><version_number>1</version_number><last_modified>2026-01-01T00:00:00Z</last_modified>\
        <entry id=\"time\"><canonical_units>s</canonical_units></entry></standard_name_table>";
    std::fs::write(folder.join("names.xml"), table).unwrap();
    let named = with(&["--rules", "cf/standard-name", "--standard-names", "names.xml"]);
    assert_eq!(named.code, 1);
    assert!(
        named.answer.contains("sea_surface_wave_significant_height"),
        "{}{}",
        named.answer,
        named.messages
    );
    assert!(!named.answer.contains("\"time\""), "{}", named.answer);
    let sarif = with(&["--as", "sarif", "--rules", "cf/units"]);
    assert!(sarif.answer.contains("\"specification\": \"CF 3.1\""), "{}", sarif.answer);
    let advised = with(&["--rules", "cf/names-differ-in-case"]);
    assert_eq!(advised.code, 0, "{}", advised.answer);
    let strict = with(&["--rules", "cf/names-differ-in-case", "--strict"]);
    assert_eq!(strict.code, 1, "{}", strict.answer);
    let alone = run(folder, &["check", "buoys.yaml", "--rules", "cf/units"]);
    assert_eq!(alone.code, 2, "{}", alone.messages);
}
