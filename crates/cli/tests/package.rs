//! Published packages have the same version everywhere, and crates have everything that crates.io shows.

use crate::command::hyperslab;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const VERSION: &str = env!("CARGO_PKG_VERSION");

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn cargo(args: &[&str]) -> String {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let output = cargo.args(args).arg("--offline").current_dir(root()).output().unwrap();
    assert!(output.status.success(), "cargo {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The crates of the workspace, as cargo reads their manifests.
fn members() -> Vec<Value> {
    let metadata = cargo(&["metadata", "--no-deps", "--format-version", "1"]);
    let metadata: Value = serde_json::from_str(&metadata).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

/// Whether a crate may be published.
fn is_public(member: &Value) -> bool {
    member["publish"].is_null()
}

#[test]
fn one_version_is_in_the_manifests_the_changelog_the_manual_and_the_command() {
    for member in members() {
        assert_eq!(member["version"], VERSION, "{}", member["name"]);
        for used in member["dependencies"].as_array().unwrap() {
            // Crates of the workspace depend on this version of each other. A crate's tests use the crate itself.
            let is_ours = used["path"].is_string() && used["name"] != member["name"];
            let wanted = format!("^{VERSION}");
            assert!(!is_ours || used["req"] == wanted.as_str(), "{} asks for {used}", member["name"]);
        }
    }
    let changelog = fs::read_to_string(root().join("CHANGELOG.md")).unwrap();
    let release = changelog.lines().find_map(|line| line.strip_prefix("## [")?.split_once("] - "));
    assert_eq!(release.map(|(version, _)| version), Some(VERSION), "the newest release in CHANGELOG.md");
    assert_eq!(hyperslab(["--version"]).answer, format!("hyperslab {VERSION}\n"));
    let manual = hyperslab(["man"]).answer;
    let title = manual.lines().find(|line| line.starts_with(".TH")).unwrap();
    assert!(title.contains(&format!("\"hyperslab {VERSION}\"")), "{title}");
}

#[test]
fn every_crate_but_the_tasks_has_all_that_crates_io_shows() {
    for member in members() {
        let name = member["name"].as_str().unwrap();
        // The Python package is published as wheels.
        assert_eq!(is_public(&member), !["xtask", "hyperslab-python"].contains(&name), "{name}");
        if !is_public(&member) {
            continue;
        }
        for key in ["description", "license", "repository", "documentation", "readme", "rust_version"] {
            assert!(member[key].is_string(), "{name} has no {key}");
        }
        let words = |key: &str| -> Vec<String> { serde_json::from_value(member[key].clone()).unwrap() };
        // The limits of crates.io.
        let keywords = words("keywords");
        assert!((1..=5).contains(&keywords.len()), "{name}: {keywords:?}");
        assert!(keywords.iter().all(|word| word.len() <= 20), "{name}: {keywords:?}");
        assert!((1..=5).contains(&words("categories").len()), "{name}");
        assert!(words("categories").iter().all(|category| CATEGORIES.contains(&category.as_str())), "{name}");
        let readme = Path::new(member["manifest_path"].as_str().unwrap()).with_file_name("README.md");
        let readme = fs::read_to_string(readme).unwrap();
        assert!(readme.starts_with(&format!("# {name}\n")), "{name}");
        assert!(readme.contains("## Example\n"), "{name}");
    }
}

/// The categories of crates.io that fit. Unknown categories are ignored there.
const CATEGORIES: &[&str] = &[
    "command-line-utilities",
    "compression",
    "data-structures",
    "encoding",
    "parser-implementations",
    "science",
];

#[test]
fn packages_have_readme_and_licences_and_no_tests() {
    for member in members().iter().filter(|member| is_public(member)) {
        let name = member["name"].as_str().unwrap();
        let list = cargo(&["package", "--list", "--allow-dirty", "--package", name]);
        let files: Vec<&str> = list.lines().collect();
        for wanted in ["README.md", "LICENSE-MIT", "LICENSE-APACHE", "Cargo.toml"] {
            assert!(files.contains(&wanted), "{name} lacks {wanted}: {files:?}");
        }
        assert!(!files.iter().any(|file| file.starts_with("tests/")), "{name}: {files:?}");
    }
}
