//! Examples in README.md and other pages show the real output of the command.

use crate::command::{examples, hyperslab};
use std::fs;

#[test]
fn examples_in_the_readme_show_the_real_output() {
    assert!(are_true("README.md") >= 5);
}

#[test]
fn examples_of_conversions_show_the_real_output() {
    assert!(are_true("docs/convert.md") >= 2);
}

/// The number of examples on a page, after checking all of them.
fn are_true(page: &str) -> usize {
    let readme = fs::read_to_string(examples().join("..").join(page)).unwrap();
    let mut shown = 0;
    for block in readme.split("```console\n").skip(1) {
        let (block, _) = block.split_once("```").unwrap();
        for example in block.split("$ hyperslab ").skip(1) {
            let (command, wanted) = example.split_once('\n').unwrap();
            let ran = hyperslab(words(command));
            let found = ran.answer + &ran.messages;
            assert!(agrees(wanted.trim_end(), found.trim_end()), "hyperslab {command} prints:\n{found}");
            shown += 1;
        }
    }
    shown
}

/// Splits at spaces outside of single quotes.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (index, part) in command.split('\'').enumerate() {
        if index % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

/// Whether a text equals the printed one. A line `…` stands for any number of lines.
fn agrees(wanted: &str, found: &str) -> bool {
    let wanted: Vec<&str> = wanted.lines().collect();
    let found: Vec<&str> = found.lines().collect();
    let mut pieces = wanted.split(|line| *line == "…");
    let mut at = pieces.next().map_or(0, <[&str]>::len);
    if !found.starts_with(&wanted[..at]) {
        return false;
    }
    for piece in pieces {
        let place = (at..=found.len()).find(|&from| found[from..].starts_with(piece));
        let Some(place) = place else { return false };
        at = place + piece.len();
    }
    at == found.len() || wanted.last() == Some(&"…")
}

#[test]
fn an_ellipsis_stands_for_omitted_lines() {
    assert!(agrees("a\n…\nd", "a\nb\nc\nd"));
    assert!(agrees("a\n…", "a\nb"));
    assert!(!agrees("a", "a\nb"));
    assert!(!agrees("a\n…\nd", "a\nb"));
}
