//! `--dataspace`: the variables that TileDB-CF keeps as attributes of arrays.

use crate::command::{Ran, examples};
use crate::interrupted::run;
use tempfile::TempDir;

fn survey(words: &[&str]) -> Ran {
    let folder = TempDir::new().unwrap();
    let store = examples().join("survey.tdb");
    let mut all: Vec<&str> = vec![words[0], store.to_str().unwrap()];
    all.extend(&words[1..]);
    run(folder.path(), &all)
}

#[test]
fn attributes_of_arrays_are_variables() {
    let plain = survey(&["ls", "-r"]);
    assert!(plain.answer.contains("temperature  group"), "{}", plain.answer);
    let shown = survey(&["ls", "-r", "--dataspace", "auto"]);
    assert_eq!(shown.code, 0, "{}", shown.messages);
    assert!(!shown.answer.contains("temperature  group"), "{}", shown.answer);
    assert!(shown.answer.contains("├── celsius "), "{}", shown.answer);
    // Sparse arrays are shown as without it.
    assert!(shown.answer.contains("sightings    group"), "{}", shown.answer);
    let values = |words: &[&str]| survey(&[&["digest"], words].concat()).answer;
    let hash = |text: &str, path: &str| {
        let line = text.lines().find(|line| line.contains(&format!(" {path} "))).unwrap().to_owned();
        line.rsplit(' ').next().unwrap().to_owned()
    };
    let (stored, shown) = (values(&[]), values(&["--dataspace", "auto"]));
    assert_eq!(hash(&stored, "/temperature/celsius"), hash(&shown, "/celsius"));
}

#[test]
fn a_convention_that_does_not_hold_is_refused() {
    let refused = survey(&["describe", "--dataspace", "simple-0.3.0"]);
    assert_eq!(refused.code, 2, "{}", refused.answer);
    assert!(refused.messages.contains("is not simple-0.3.0"), "{}", refused.messages);
    assert!(refused.messages.contains("auto shows any dataspace"), "{}", refused.messages);
    let unknown = survey(&["describe", "--dataspace", "cf-0.3"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.messages.contains("cf-0.3.0"), "{}", unknown.messages);
    let folder = TempDir::new().unwrap();
    let ocean = examples().join("ocean.nc");
    let other = run(folder.path(), &["describe", ocean.to_str().unwrap(), "--dataspace", "auto"]);
    assert_eq!(other.code, 2);
    assert!(other.messages.contains("has no dataspaces"), "{}", other.messages);
}
