//! Frequent mistakes, each with its expected diagnostic.
//!
//! `mistakes/*.txt` are tables. An entry is a mistake in a valid document of the same folder:
//!
//! ```text
//! ## a section misspelt
//! in arrays.yaml
//! after the first line that has this text
//! -ndarrays:
//! +ndarray:
//! also 12, another line that the message names
//! with pure
//! = 10:1-8 warning ndl/unknown-key
//! = unknown key "ndarray" in a file
//! ? did you mean ndarrays?
//! ```
//!
//! The lines with `+` replace those with `-`. `=` and `?` are the first diagnostic: place, severity and rule, then the
//! message, then the hint. All diagnostics of the document must be at the changed lines, at the line before or after
//! them, or at a line that `also` names. `HYPERSLAB_BLESS=1` writes the current diagnostics; review each difference.

#![allow(clippy::indexing_slicing, reason = "tests may panic")]

use hyperslab_ndl::{Diagnostic, ParseOptions, parse};
use std::collections::{HashMap, HashSet};
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

/// One entry of a table.
#[derive(Default)]
struct Mistake {
    name: String,
    document: String,
    after: Option<String>,
    before: Vec<String>,
    then: Vec<String>,
    also: Vec<usize>,
    options: ParseOptions,
    /// The lines of the entry before the diagnostic.
    head: Vec<String>,
    expected: Vec<String>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mistakes")
}

fn tables() -> Vec<PathBuf> {
    let entries = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut tables: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|e| e == "txt")).collect();
    tables.sort();
    tables
}

fn read(table: &str) -> Vec<Mistake> {
    let mut mistakes: Vec<Mistake> = Vec::new();
    for line in table.lines() {
        if let Some(name) = line.strip_prefix("## ") {
            mistakes.push(Mistake { name: name.into(), head: vec![line.into()], ..Mistake::default() });
            continue;
        }
        let Some(mistake) = mistakes.last_mut().filter(|_| !line.is_empty()) else { continue };
        match line.split_at(1) {
            ("=" | "?", _) => {
                mistake.expected.push(line.into());
                continue;
            }
            ("-", text) => mistake.before.push(text.into()),
            ("+", text) => mistake.then.push(unescaped(text)),
            _ => match line.split_once(' ').unwrap_or((line, "")) {
                ("in", document) => mistake.document = document.into(),
                ("after", line) => mistake.after = Some(line.into()),
                ("also", lines) => {
                    let numbers = lines.split(',').map_while(|number| number.trim().parse().ok());
                    mistake.also = numbers.collect();
                }
                ("with", options) => {
                    mistake.options = ParseOptions {
                        strict: options.contains("strict"),
                        lenient: options.contains("lenient"),
                        pure: options.contains("pure"),
                    };
                }
                _ => panic!("{}: {line:?}", mistake.name),
            },
        }
        mistake.head.push(line.into());
    }
    mistakes
}

/// Replaces escapes such as `\t` and `\x01` in a text that begins with `\`.
fn unescaped(text: &str) -> String {
    let Some(text) = text.strip_prefix('\\') else { return text.into() };
    let hex = |digits: &str| char::from_u32(u32::from_str_radix(digits, 16).unwrap()).unwrap();
    let mut parts = text.split("<<");
    let mut out = parts.next().unwrap().to_string();
    for part in parts {
        let (code, rest) = part.split_once(">>").unwrap();
        out.push(hex(code));
        out.push_str(rest);
    }
    out
}

impl Mistake {
    /// The document with the mistake, and the lines that changed.
    fn made(&self, document: &str) -> (String, RangeInclusive<usize>) {
        let mut lines: Vec<&str> = document.lines().collect();
        let name = &self.name;
        let first = self.after.as_ref().map_or(0, |after| {
            lines
                .iter()
                .position(|line| line.contains(after))
                .unwrap_or_else(|| panic!("{name}: no {after:?}"))
        });
        let at = lines[first..]
            .windows(self.before.len())
            .position(|lines| lines.iter().eq(&self.before))
            .unwrap_or_else(|| panic!("{name}: no {:?}", self.before));
        let at = first + at;
        lines.splice(at..at + self.before.len(), self.then.iter().map(String::as_str));
        (lines.join("\n") + "\n", at + 1..=at + self.then.len().max(1))
    }
}

fn shown(diagnostic: &Diagnostic) -> Vec<String> {
    let Diagnostic { severity, rule, message, line, column, end_column, hint } = diagnostic;
    let mut lines = vec![format!("= {line}:{column}-{end_column} {severity} {rule}"), format!("= {message}")];
    lines.extend(hint.iter().map(|hint| format!("? {hint}")));
    lines
}

#[test]
fn reports_each_mistake_at_its_place() {
    let bless = std::env::var_os("HYPERSLAB_BLESS").is_some();
    let mut documents: HashMap<String, String> = HashMap::new();
    let (mut failed, mut names, mut kinds) = (Vec::new(), HashSet::new(), 0);
    for path in tables() {
        let mut blessed: Vec<String> = Vec::new();
        let table = fs::read_to_string(&path).unwrap();
        blessed.extend(table.lines().take_while(|line| !line.starts_with("## ")).map(Into::into));
        for mistake in read(&table) {
            kinds += 1;
            let name = &mistake.name;
            assert!(names.insert(name.clone()), "{name} twice");
            let document = documents.entry(mistake.document.clone()).or_insert_with(|| {
                fs::read_to_string(folder().join(&mistake.document)).unwrap_or_else(|_| panic!("{name}"))
            });
            let (text, changed) = mistake.made(document);
            let found = parse(text.as_bytes(), &mistake.options).diagnostics;
            let first = found.first().map(shown).unwrap_or_default();
            let near = *changed.start() - 1..=*changed.end() + 1;
            let far =
                found.iter().filter(|one| !near.contains(&one.line) && !mistake.also.contains(&one.line));
            let far: Vec<String> = far.map(ToString::to_string).collect();
            if !far.is_empty() {
                failed.push(format!("{name}: lines {changed:?} changed, told is\n  {}", far.join("\n  ")));
            }
            if first.is_empty() {
                failed.push(format!("{name}: not told"));
            } else if first != mistake.expected && !bless {
                failed.push(format!(
                    "{name}:\n{}\n-- told is\n{}",
                    mistake.expected.join("\n"),
                    first.join("\n")
                ));
            }
            blessed.extend(mistake.head);
            blessed.extend(first);
            blessed.push(String::new());
        }
        if bless {
            while blessed.last().is_some_and(String::is_empty) {
                blessed.pop();
            }
            fs::write(&path, blessed.join("\n") + "\n").unwrap();
        }
    }
    assert!(failed.is_empty(), "{} failed\n{}", failed.len(), failed.join("\n"));
    assert!(kinds >= 200, "{kinds} kinds of mistake");
}

#[test]
fn documents_without_mistakes_have_no_diagnostics() {
    for entry in fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "yaml") {
            let found = parse(&fs::read(&path).unwrap(), &ParseOptions::default()).diagnostics;
            let found: Vec<String> = found.iter().map(ToString::to_string).collect();
            assert_eq!(found, Vec::<String>::new(), "{}", path.display());
        }
    }
}
