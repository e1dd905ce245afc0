//! Completions of paths inside files.

use crate::command::{examples, hyperslab};
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

fn candidates(word: &str) -> Vec<String> {
    let ran = hyperslab(["complete-location", "--", word]);
    assert_eq!((ran.code, ran.messages.as_str()), (0, ""), "{word}");
    ran.answer.lines().map(str::to_owned).collect()
}

#[test]
fn words_are_completed_by_members_and_attributes() {
    assert_eq!(candidates("ocean.nc:/te"), ["ocean.nc:/temperature", "ocean.nc:/temperature_flag"]);
    assert_eq!(candidates("ocean.nc:/wav"), ["ocean.nc:/waves/"]);
    assert_eq!(candidates("ocean.nc:/waves/h"), ["ocean.nc:/waves/height"]);
    assert_eq!(candidates("ocean.nc:/waves/buoys/").len(), 3);
    assert_eq!(candidates("ocean.nc:/lat@u"), ["ocean.nc:/lat@units"]);
    assert_eq!(candidates("ocean.nc:/@ti"), ["ocean.nc:/@title"]);
    assert_eq!(candidates("tides.zarr:/harmonics/p"), ["tides.zarr:/harmonics/phasor"]);
    assert!(candidates("ocean.nc:/").len() > 10);
    assert!(candidates("ocean.nc:/nothing").is_empty());
}

#[test]
fn what_cannot_be_read_is_completed_by_nothing() {
    let dir = TempDir::new().unwrap();
    let at = |name: &str| format!("{}:/", dir.path().join(name).display());
    fs::write(dir.path().join("text.nc"), "no data").unwrap();
    fs::write(dir.path().join("cut.nc"), &fs::read(examples().join("ocean.nc")).unwrap()[..600]).unwrap();
    for word in
        [at("text.nc"), at("cut.nc"), at("absent.nc"), "/dev/stdin:/".into(), "-:/".into(), String::new()]
    {
        assert!(candidates(&word).is_empty(), "{word}");
    }
}

#[test]
fn names_of_several_lines_are_no_candidates() {
    let hostile = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/hostile.h5");
    let found = candidates(&format!("{}:/", hostile.display()));
    assert!(found.iter().any(|found| found.ends_with(":/plain")), "{found:?}");
    assert!(found.iter().all(|found| found.starts_with(hostile.to_str().unwrap())), "{found:?}");
}

/// The words that bash offers for a line when it uses the generated script.
#[cfg(unix)]
fn in_bash(line: &str) -> String {
    let script = r#"
PATH="${HYPERSLAB%/*}:$PATH"
source <(hyperslab completions bash)
complete -p hyperslab
COMP_LINE="$1" COMP_POINT=${#1} COMP_WORDS=($1) COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_hyperslab_located hyperslab "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
printf '%s\n' "${COMPREPLY[@]}"
"#;
    let mut bash = Command::new("bash");
    bash.args(["--norc", "-c", script, "bash", line]).current_dir(examples());
    let output = bash.env("HYPERSLAB", env!("CARGO_BIN_EXE_hyperslab")).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{line}");
    String::from_utf8(output.stdout).unwrap()
}

#[cfg(unix)]
#[test]
fn bash_offers_the_rest_behind_the_colon() {
    let offered = in_bash("hyperslab show ocean.nc:/waves/h");
    assert!(offered.contains("-F _hyperslab_located"), "{offered}");
    assert!(offered.ends_with("\n/waves/height\n"), "{offered}");
    assert!(in_bash("hyperslab ls ocean.nc:/wav").ends_with("\n/waves/\n"));
    assert!(in_bash("hyperslab ocean.nc:/lat@u").ends_with("\n/lat@units\n"));
    // Verbs and options come from the generated script.
    assert!(in_bash("hyperslab desc").ends_with("\ndescribe\n"));
    assert!(in_bash("hyperslab ls --rec").ends_with("\n--recursive\n"));
}

#[test]
fn every_shell_gets_the_locations() {
    let script = |shell: &str| hyperslab(["completions", shell]).answer;
    assert!(script("fish").contains("hyperslab complete-location -- (commandline -ct)"));
    let zsh = script("zsh");
    assert!(zsh.contains("_hyperslab_location() {"));
    assert!(zsh.contains("'*::locations -- Files, or objects in them:_hyperslab_location'"), "{zsh}");
    assert!(zsh.contains(":DIR:_files'") && zsh.contains("]:SIZE:_default'"));
    // The verb that only the scripts use is not offered to people.
    for shell in ["bash", "zsh", "fish"] {
        assert_eq!(script(shell).matches("complete-location").count(), 1, "{shell}");
    }
    assert!(!hyperslab(["--help"]).answer.contains("complete-location"));
}
