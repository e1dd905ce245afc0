//! Help, version, completions and manual.

use crate::command::{examples, hyperslab};
use crate::golden::holds;

pub(crate) const VERBS: &[&str] = &[
    "describe",
    "ls",
    "show",
    "stat",
    "digest",
    "diff",
    "check",
    "files",
    "history",
    "convert",
    "repack",
    "concat",
    "create",
    "edit",
    "schema",
    "completions",
    "man",
];

#[test]
fn help_stays_the_same() {
    for option in ["-h", "--help"] {
        let ran = hyperslab([option]);
        assert_eq!((ran.code, ran.messages.as_str()), (0, ""));
        holds(&format!("help/hyperslab{option}.txt"), &ran.answer);
        for verb in VERBS {
            let ran = hyperslab([verb, option]);
            assert_eq!((ran.code, ran.messages.as_str()), (0, ""));
            holds(&format!("help/{verb}{option}.txt"), &ran.answer);
        }
    }
}

#[test]
fn without_arguments_prints_help_as_a_message_and_fails() {
    let ran = hyperslab([""; 0]);
    assert_eq!((ran.code, ran.answer.as_str()), (2, ""));
    assert!(VERBS.iter().all(|verb| ran.messages.contains(verb)), "{}", ran.messages);
}

#[test]
fn prints_the_version_as_an_answer() {
    let ran = hyperslab(["--version"]);
    assert_eq!(ran.code, 0);
    assert_eq!(ran.answer, format!("hyperslab {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn completions_of_every_shell_have_every_verb() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let ran = hyperslab(["completions", shell]);
        assert_eq!(ran.code, 0, "{}", ran.messages);
        assert!(VERBS.iter().all(|verb| ran.answer.contains(verb)), "{shell}");
    }
}

#[test]
fn the_manual_stays_the_same() {
    let version = concat!("hyperslab ", env!("CARGO_PKG_VERSION"));
    for verb in std::iter::once(None).chain(VERBS.iter().map(Some)) {
        let ran = hyperslab(["man"].iter().chain(verb));
        assert_eq!((ran.code, ran.messages.as_str()), (0, ""));
        let sections = [
            "NAME",
            "SYNOPSIS",
            "DESCRIPTION",
            "OPTIONS",
            "EXAMPLES",
            "EXIT STATUS",
            "FILES",
            "ENVIRONMENT",
            "SEE ALSO",
        ];
        for section in sections {
            let title = format!(".SH {section}\n");
            let quoted = format!(".SH \"{section}\"\n");
            assert!(ran.answer.contains(&title) || ran.answer.contains(&quoted), "{verb:?}: {section}");
        }
        let name = verb.map_or("hyperslab".into(), |verb| format!("hyperslab-{verb}"));
        assert!(ran.answer.contains(version), "{name}");
        holds(&format!("man/{name}.1"), &ran.answer.replace(env!("CARGO_PKG_VERSION"), "VERSION"));
    }
}

#[test]
fn examples_of_the_manual_are_valid_lines() {
    let page = hyperslab(["man"]).answer;
    let examples = page.split_once(".SH EXAMPLES\n").unwrap().1.split_once("\n.SH").unwrap().0;
    let lines: Vec<String> = examples
        .lines()
        .filter_map(|line| line.strip_prefix(".B hyperslab "))
        .map(|line| line.replace("\\-", "-").replace('\'', ""))
        .collect();
    assert!(VERBS.iter().all(|verb| lines.iter().any(|line| line.starts_with(verb)) || *verb == "describe"));
    for line in lines {
        let words = line.split([' ']).take_while(|word| !matches!(*word, "|" | ">"));
        // Nothing is read. The help for the same line is printed if its words are valid.
        let ran = hyperslab(words.chain(["--help"]));
        assert_eq!(ran.code, 0, "{line}: {}", ran.messages);
    }
}

#[test]
fn options_of_every_verb_stand_anywhere() {
    let cases: &[(&str, &[&str], &[&str])] = &[
        ("describe", &["ocean.nc:/lat", "ocean.nc:/lon"], &["--storage", "full"]),
        ("ls", &["ocean.nc", "userblock.h5"], &["-l"]),
        ("show", &["ocean.nc:/lat"], &["--as", "csv"]),
        ("stat", &["ocean.nc:/lat", "ocean.nc:/lon"], &["--select=lat=0"]),
        ("digest", &["ocean.nc:/lat", "ocean.nc:/lon"], &["-j2"]),
        ("diff", &["ocean.nc:/lat", "ocean.nc:/lat"], &["--rtol", "1"]),
        ("check", &["ocean.nc", "userblock.h5"], &["--quick"]),
        ("files", &["ocean.nc", "userblock.h5"], &["--json"]),
        ("history", &["survey.tdb"], &["--json"]),
        ("convert", &["ocean.nc", "NEW.zarr"], &["-c", "time=1"]),
        ("convert", &["ocean.nc", "userblock.h5", "FOLDER"], &["--format", "zarr3"]),
        ("repack", &["ocean.nc", "NEW.nc"], &["-f", "none"]),
        ("concat", &["ocean.nc", "ocean.nc", "NEW.zarr"], &["--new-dimension", "run"]),
        ("create", &["buoys.yaml", "NEW.nc"], &["-c", "time=1"]),
        ("edit", &["COPY"], &["--set", "/@a=1"]),
        ("schema", &[], &["-q"]),
        ("completions", &["bash"], &["-q"]),
        ("man", &["ls"], &["-q"]),
    ];
    assert!(VERBS.iter().all(|verb| cases.iter().any(|(own, ..)| own == verb)));
    for (verb, locations, option) in cases {
        let run = |words: &[&str]| {
            let folder = tempfile::tempdir().unwrap();
            let place = folder.path().to_str().unwrap();
            let copy = folder.path().join("copy.tdb");
            let (from, to) = (examples().join("survey.tdb"), copy.to_str().unwrap());
            let copied = std::process::Command::new("cp")
                .arg("-R")
                .args([from.as_os_str(), copy.as_os_str()])
                .status();
            assert!(copied.unwrap().success());
            let named = |word: &str| word.replace("NEW", &format!("{place}/new")).replace("FOLDER", place);
            let ran = hyperslab(words.iter().map(|word| named(word).replace("COPY", to)));
            assert_eq!(ran.code, 0, "{words:?}: {}", ran.messages);
            ran.answer.replace(place, "")
        };
        let behind = run(&[&[*verb], *locations, *option].concat());
        assert_eq!(run(&[*option, &[*verb], *locations].concat()), behind, "{verb}");
        for at in 0..locations.len() {
            let (before, after) = locations.split_at(at);
            let words = [&[*verb], before, *option, after].concat();
            assert_eq!(run(&words), behind, "{words:?}");
        }
    }
}
