//! `history`.

use crate::command::{examples, hyperslab, prepared, ran};
use crate::golden::holds;
use serde_json::Value;

#[test]
fn histories_stay_the_same() {
    for (name, args) in [
        ("history_survey.txt", &["history", "survey.tdb"][..]),
        ("history_survey.jsonl", &["history", "--json", "survey.tdb"]),
        ("history_survey_at.txt", &["history", "--at", "2026-03-02", "survey.tdb"]),
    ] {
        let ran = hyperslab(args);
        assert_eq!((ran.code, ran.messages.as_str()), (0, ""), "{args:?}");
        holds(name, &ran.answer);
    }
}

#[test]
fn what_is_read_of_a_moment_is_verified_without_any() {
    let folder = tempfile::tempdir().unwrap();
    let source = examples().join("survey.tdb");
    let args = ["--at", "2026-03-02", "convert", source.to_str().unwrap(), "then.zarr", "--verify"];
    let verified = ran(prepared(args).current_dir(folder.path()).output().unwrap());
    assert_eq!(verified.code, 0, "{}", verified.messages);
}

#[test]
fn an_array_and_a_pattern_have_the_events_of_their_objects() {
    let whole = hyperslab(["history", "--json", "survey.tdb"]).answer;
    let paths = |answer: &str| -> Vec<String> {
        let line =
            |line: &str| serde_json::from_str::<Value>(line).unwrap()["path"].as_str().unwrap().to_owned();
        answer.lines().map(line).collect()
    };
    let arrays = whole.lines().filter(|line| !line.contains("\"path\":\"/\",")).collect::<Vec<_>>();
    let by_pattern = hyperslab(["history", "--json", "survey.tdb:/*"]);
    assert_eq!((by_pattern.code, by_pattern.answer.lines().collect::<Vec<_>>()), (0, arrays));
    let one = hyperslab(["history", "--json", "survey.tdb:/sightings"]);
    assert!(one.code == 0 && paths(&one.answer).iter().all(|path| path == "/sightings"), "{one:?}");
    let two = hyperslab(["history", "survey.tdb:/sightings", "survey.tdb:/temperature"]);
    assert!(two.answer.contains("survey.tdb:/temperature  "), "{}", two.answer);
}

#[test]
fn long_values_are_cut_and_records_are_names_unless_all_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| ran(prepared(args).current_dir(folder.path()).output().unwrap());
    let source = examples().join("ocean.nc");
    let args = ["convert", "-q", source.to_str().unwrap(), "ocean.tdb", "--allow-loss", "all"];
    assert_eq!(run(&args).code, 0);
    let short = run(&["history", "ocean.tdb"]).answer;
    let line = short.lines().find(|line| line.contains("history=")).unwrap();
    assert!(line.contains(", history=\"2024-05-02 sampled along 58 N\\n2024-05-…, "), "{line}");
    assert!(
        short.contains(", __tiledb_attr.lat.data.hyperslab\n") && !short.contains("hyperslab="),
        "{short}"
    );
    for whole in [run(&["history", "--raw", "ocean.tdb"]), run(&["history", "--json", "ocean.tdb"])] {
        assert!(whole.answer.contains("__tiledb_attr.lat.data.hyperslab="), "{}", whole.answer);
        assert!(!whole.answer.contains('…') && whole.answer.contains("packed to int16"), "{}", whole.answer);
    }
}

#[test]
fn what_has_no_history_is_an_error_that_says_what_to_do() {
    let none = hyperslab(["history", "ocean.nc"]);
    assert_eq!((none.code, none.answer.as_str()), (2, ""));
    assert_eq!(
        none.messages,
        "error: ocean.nc: NetCDF-4 does not store earlier states, only the current one\n  \
         help: `hyperslab describe ocean.nc:/` shows it\n"
    );
    let part = hyperslab(["history", "survey.tdb:/temperature/celsius"]);
    assert_eq!(part.code, 2);
    assert!(part.messages.contains("has no history of its own"), "{}", part.messages);
    assert!(part.messages.contains("`hyperslab history survey.tdb:/temperature`"), "{}", part.messages);
    let attribute = hyperslab(["history", "survey.tdb:/@title"]);
    assert_eq!(attribute.code, 2);
    assert!(attribute.messages.contains("an attribute has no history of its own"), "{}", attribute.messages);
    assert!(attribute.messages.contains("`hyperslab history survey.tdb:/`"), "{}", attribute.messages);
}
