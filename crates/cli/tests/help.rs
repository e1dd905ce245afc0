//! Help, version, completions and manual.

use crate::command::hyperslab;
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
    "convert",
    "create",
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
fn the_manual_has_a_page_for_every_verb() {
    assert!(hyperslab(["man"]).answer.contains(".TH"));
    for verb in VERBS {
        let ran = hyperslab(["man", verb]);
        assert_eq!(ran.code, 0, "{}", ran.messages);
        assert!(ran.answer.contains(".SH NAME"), "{verb}: {}", ran.answer);
    }
}
