//! Answers for the example files must equal the files in `tests/golden/` byte for byte.
//!
//! `UPDATE_GOLDEN=1` rewrites them.

use crate::command::hyperslab;
use std::fs;
use std::path::Path;

/// Compares an answer with the golden file of this name.
pub(crate) fn holds(name: &str, answer: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, answer).unwrap();
        return;
    }
    let golden = fs::read_to_string(&path).unwrap_or_default();
    let line = golden.lines().zip(answer.lines()).take_while(|(wanted, found)| wanted == found).count();
    assert!(
        golden == answer,
        "{name} differs from line {}:\n  golden {:?}\n  found  {:?}\nif that is right: UPDATE_GOLDEN=1",
        line + 1,
        golden.lines().nth(line),
        answer.lines().nth(line),
    );
}

fn answers(name: &str, args: &[&str]) {
    let ran = hyperslab(args);
    assert_eq!((ran.code, ran.messages.as_str()), (0, ""), "{args:?}");
    holds(name, &ran.answer);
}

#[test]
fn descriptions_stay_the_same() {
    answers("ocean.yaml", &["describe", "ocean.nc"]);
    for file in [
        "nested_groups.nc",
        "strings.nc",
        "unlimited.nc",
        "classic_model.nc",
        "classic.nc",
        "classic_data64.nc",
        "datatypes.h5",
        "groups_old.h5",
        "groups_new.h5",
        "chunk_indexes.h5",
        "h5netcdf_style.h5",
        "userblock.h5",
        "big_endian.h5",
        "scan.nxs",
    ] {
        let (stem, _) = file.split_once('.').unwrap();
        answers(&format!("{stem}.yaml"), &["describe", "--values=40", file]);
    }
}

#[test]
fn descriptions_with_other_options_stay_the_same() {
    answers("ocean_full.yaml", &["describe", "--storage=full", "ocean.nc"]);
    answers("ocean_raw.yaml", &["describe", "--raw", "ocean.nc"]);
    answers("ocean_waves.yaml", &["describe", "--values", "ocean.nc:/waves"]);
    answers("nested_groups.json", &["describe", "--json", "--values", "nested_groups.nc"]);
}

#[test]
fn lists_stay_the_same() {
    answers("ls_ocean.txt", &["ls", "-rl", "ocean.nc"]);
    answers("ls_datatypes.txt", &["ls", "-r", "datatypes.h5"]);
    answers("ls_paths.txt", &["ls", "-r1", "nested_groups.nc"]);
}

#[test]
fn shown_values_stay_the_same() {
    // `-q` omits the note that numbers are shown as stored.
    let shown = |name: &str, args: &[&str]| answers(name, &[&["show", "-q"], args].concat());
    shown("show_table.txt", &["ocean.nc:/salinity", "-s", "time=0,depth=2"]);
    let by_value = "time=2024-03-29,depth~=40,lat=58..,lon=..8.5";
    shown("show_by_value.txt", &["ocean.nc:/salinity", "-s", by_value]);
    shown("show_period.txt", &["ocean.nc:/waves/height", "-s", "time==2024-04,lat=0"]);
    shown("show_decoded.txt", &["ocean.nc:/waves/height", "-s", "time==2024-04,lat=0", "--decode"]);
    shown("show_strings.txt", &["ocean.nc:/remark"]);
    shown("show_characters.txt", &["ocean.nc:/transect"]);
    shown("show_compound.txt", &["datatypes.h5:/made_of_others/compound"]);
    shown("show_attribute.txt", &["ocean.nc:/temperature@units"]);
    let part = &["ocean.nc:/waves/energy", "-s", "time=:2"];
    for (name, form) in [
        ("show_csv.txt", "csv"),
        ("show_tsv.txt", "tsv"),
        ("show_json.txt", "json"),
        ("show_matrix.txt", "matrix"),
        ("show_lists.txt", "lists"),
    ] {
        shown(name, &[part.as_slice(), &["--as", form]].concat());
    }
    shown("show_csv_decoded.txt", &[part.as_slice(), &["--as", "csv", "--decode"]].concat());
    shown("show_csv_compound.txt", &["datatypes.h5:/made_of_others/compound", "--as", "csv"]);
    let ran = hyperslab(["show", "ocean.nc:/temperature", "-s", "0,0,0,0"]);
    let note = "  note: as stored: counts of time in /time, packed numbers in /temperature; --decode shows what they mean\n";
    assert_eq!((ran.code, ran.messages.as_str()), (0, note));
}

#[test]
fn digests_stay_the_same() {
    answers("digest_ocean.txt", &["digest", "ocean.nc"]);
    answers("digest_datatypes.jsonl", &["digest", "--json", "datatypes.h5"]);
}
