//! Pages of the documentation: links lead somewhere, the book contains every page, and claims are backed by tests.

use crate::pages::{pages, root};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// The addresses at which readers of the book and of crates.io find files of the project.
const REPOSITORY: [&str; 2] = [
    "https://github.com/hyperslab/hyperslab/blob/main/",
    "https://github.com/hyperslab/hyperslab/tree/main/",
];

fn read(page: &Path) -> String {
    fs::read_to_string(root().join(page)).unwrap()
}

/// The page without code blocks and inline code, which contain no links.
fn prose(page: &str) -> String {
    let mut prose = String::new();
    for (index, part) in page.split("```").enumerate() {
        if index % 2 == 0 {
            prose.extend(part.split('`').step_by(2));
        }
    }
    prose
}

/// The targets of all links of a page.
fn targets(page: &str) -> Vec<String> {
    let prose = prose(page);
    let targets = prose.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    targets.map(|(target, _)| target.to_owned()).collect()
}

/// The anchors of the headings of a page, in the form that code hosts and mdBook generate.
fn anchors(page: &str) -> BTreeSet<String> {
    let outside = page.split("```").step_by(2);
    let headings = outside.flat_map(str::lines).filter_map(|line| line.strip_prefix('#'));
    headings
        .map(|heading| {
            let heading = heading.trim_start_matches('#').trim().to_lowercase();
            let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
            kept.map(|c| if c == ' ' { '-' } else { c }).collect()
        })
        .collect()
}

/// The path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

#[test]
fn links_lead_to_files_and_headings_that_exist() {
    for page in pages() {
        for target in targets(&read(&page)) {
            let (place, anchor) = target.split_once('#').map_or((&*target, None), |(a, b)| (a, Some(b)));
            let linked = match REPOSITORY.iter().find_map(|repository| place.strip_prefix(repository)) {
                Some(path) => PathBuf::from(path),
                None if place.contains("://") => continue,
                None if place.is_empty() => page.clone(),
                None => plain(&page.parent().unwrap().join(place)),
            };
            let shown = format!("{}: {target}", page.display());
            assert!(root().join(&linked).exists(), "{shown}");
            // The book contains the pages of docs/, and crates.io only those of one crate.
            let has_only = ["docs", "crates"].iter().find(|folder| page.starts_with(folder));
            assert!(
                place.contains("://") || has_only.is_none_or(|folder| linked.starts_with(folder)),
                "{shown} leaves the folder: write the address in the repository"
            );
            if let Some(anchor) = anchor {
                assert!(anchors(&read(&linked)).contains(anchor), "{shown}");
            }
        }
    }
}

#[test]
fn the_book_has_every_page_of_the_documentation_once() {
    let summary = Path::new("docs/SUMMARY.md");
    let mut listed: Vec<PathBuf> =
        targets(&read(summary)).iter().map(|target| Path::new("docs").join(target)).collect();
    listed.sort();
    let is_chapter = |page: &PathBuf| page.starts_with("docs") && page != summary;
    let written: Vec<PathBuf> = pages().into_iter().filter(is_chapter).collect();
    assert_eq!(listed, written);
}

/// The rows of the first table after the heading, split into columns.
fn table(page: &str, heading: &str) -> Vec<Vec<String>> {
    let (_, rest) = page.split_once(heading).unwrap();
    let lines = rest.lines().skip_while(|line| !line.starts_with('|'));
    let rows = lines.take_while(|line| line.starts_with('|')).skip(2);
    rows.map(|row| row.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect()).collect()
}

#[test]
fn every_tick_of_the_comparison_has_tests_that_exist() {
    let readme = table(&read(Path::new("README.md")), "## Compared");
    let proofs = table(&read(Path::new("docs/compared.md")), "# Compared with other tools");
    let mut sources = String::new();
    collect(&root().join("crates"), &mut sources);
    assert_eq!(
        readme.iter().map(|row| &row[0]).collect::<Vec<_>>(),
        proofs.iter().map(|row| &row[0]).collect::<Vec<_>>()
    );
    for (row, proof) in readme.iter().zip(&proofs) {
        let names: Vec<&str> = proof[2].split('`').skip(1).step_by(2).collect();
        assert!(row[4] != "✓" || !names.is_empty(), "{}: a tick without a proof", row[0]);
        for name in names {
            let exists = match name.contains('/') {
                true => root().join(name).is_file(),
                false => sources.contains(&format!("\nfn {name}(")),
            };
            assert!(exists, "{}: {name} does not exist", row[0]);
        }
    }
}

/// Collects all tests of the crates into one text.
fn collect(folder: &Path, text: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, text);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            text.push_str(&fs::read_to_string(&path).unwrap());
        }
    }
}
