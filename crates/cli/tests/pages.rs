//! Runs the commands on all pages of the documentation as a reader would.

use crate::command::{examples, prepared, ran};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// The root of the project.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Every page that people read, relative to the root of the project.
pub(crate) fn pages() -> Vec<PathBuf> {
    let mut pages: Vec<PathBuf> =
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "examples/README.md"]
            .map(PathBuf::from)
            .into();
    let crates = fs::read_dir(root().join("crates")).unwrap();
    pages.extend(crates.map(|entry| Path::new("crates").join(entry.unwrap().file_name()).join("README.md")));
    let mut folders = vec![PathBuf::from("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root().join(&folder)).unwrap() {
            let name = folder.join(entry.unwrap().file_name());
            if root().join(&name).is_dir() {
                folders.push(name);
            } else if name.extension().is_some_and(|extension| extension == "md") {
                pages.push(name);
            }
        }
    }
    pages.sort();
    pages
}

/// A block of a page between fences.
struct Block {
    /// The word after the opening fence.
    language: String,
    text: String,
}

fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let Some(language) = line.strip_prefix("```") else { continue };
        let text: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        blocks.push(Block { language: language.to_owned(), text: text.join("\n") });
    }
    blocks
}

#[test]
fn commands_on_every_page_print_what_the_page_shows() {
    let mut shown = 0;
    for name in pages() {
        let page = fs::read_to_string(root().join(&name)).unwrap();
        let blocks = blocks(&page);
        let commands = blocks.iter().filter(|block| block.language == "console");
        let place = copied_examples();
        for block in commands {
            shown += are_true(&name, &block.text, place.path());
        }
    }
    assert!(shown >= 40, "{shown}");
}

/// Runs the commands of a block in the folder, checks that they print what is shown below them, and returns their
/// number.
fn are_true(page: &Path, block: &str, folder: &Path) -> usize {
    let mut commands = Vec::new();
    for line in block.lines() {
        match line.strip_prefix("$ ") {
            Some(command) => commands.push((command, Vec::new())),
            None => commands.last_mut().expect("a block begins with a command").1.push(line),
        }
    }
    for (command, wanted) in &commands {
        let ran = ran(in_shell(command, folder).output().unwrap());
        let found = ran.answer + &ran.messages;
        let wanted = wanted.join("\n");
        assert!(
            agrees(wanted.trim_end(), found.trim_end()),
            "{}: {command} prints:\n{found}",
            page.display()
        );
    }
    commands.len()
}

/// Prepares a line for a shell that finds the command.
fn in_shell(line: &str, folder: &Path) -> Command {
    let hyperslab = prepared([""; 0]);
    let place = Path::new(hyperslab.get_program()).parent().unwrap();
    let mut shell = Command::new("sh");
    shell.args(["-c", line]).current_dir(folder).stdin(Stdio::null());
    for (name, value) in hyperslab.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    let path = std::env::var("PATH").unwrap();
    shell.env("PATH", format!("{}:{path}", place.display()));
    shell
}

/// A copy of the example files, so that commands leave nothing behind.
fn copied_examples() -> TempDir {
    let place = TempDir::new().unwrap();
    let copied = Command::new("cp").arg("-R").arg(examples().join(".")).arg(place.path()).status().unwrap();
    assert!(copied.success());
    place
}

/// Whether a text equals the printed text. A line `…` stands for any number of lines.
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

/// Commands that install something, which the tests of the pages do not run.
const INSTALLS: &[&str] =
    &["cargo install ", "sudo apt install ", "sudo tar -xzf ", "sha256sum --check ", "pip install "];
/// Commands in other blocks that need something only a user has.
const PERSONAL: &[&str] = &["hyperslab completions bash > ~/", "hyperslab man convert | man -l -"];

#[test]
fn every_block_of_commands_or_code_is_run_by_a_test_or_installs_something() {
    for name in pages() {
        let page = fs::read_to_string(root().join(&name)).unwrap();
        for Block { language, text } in blocks(&page) {
            let shown = format!("{}: {text}", name.display());
            let begins = |line: &str, with: &[&str]| with.iter().any(|begin| line.starts_with(begin));
            match language.as_str() {
                "console" => {}
                "sh" => {
                    let known = |line: &str| begins(line, INSTALLS) || begins(line, PERSONAL);
                    assert!(text.lines().all(known), "{shown}");
                }
                // Run by xtask/oracles/page.py, and by crates/python/tests/test_docs.py.
                "python" => {
                    let run = ["docs/xarray.md", "docs/python.md", "crates/python/README.md"].map(Path::new);
                    assert!(run.contains(&&*name), "{shown}");
                }
                // These are documentation tests of a crate.
                "rust" | "rust,no_run" => {
                    let is_included = name.starts_with("crates")
                        || [Path::new("README.md"), Path::new("docs/library.md")].contains(&&*name);
                    assert!(is_included, "{shown}");
                }
                _ => assert!(!text.contains("$ "), "not marked as `console`: {shown}"),
            }
        }
    }
}
