//! `history`.

use crate::command::hyperslab;
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
fn what_has_no_history_is_an_error_that_says_what_to_do() {
    let none = hyperslab(["history", "ocean.nc"]);
    assert_eq!((none.code, none.answer.as_str()), (2, ""));
    assert_eq!(
        none.messages,
        "error: ocean.nc: NetCDF-4 does not keep what was written before, only what is there now\n  \
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
