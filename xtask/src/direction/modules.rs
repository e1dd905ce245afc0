//! The allowed dependencies between modules of the crate `hyperslab`. Verbs must not name a format.

use crate::invariants::rust_files;
use crate::tally::Tally;
use crate::workspace;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The modules of `crates/hyperslab/src` in layers, as drawn in ARCHITECTURE.md. A module may use only the modules
/// before it: in its own layer and in the layers above in this list.
pub(super) const LAYERS: &[(&str, &[&str])] = &[
    ("ground", &["size", "pool", "report", "canonical", "filter"]),
    (
        "sources",
        &[
            "cells",
            "source",
            "operation",
            "strings",
            "walk",
            "links",
            "location",
            "cell_table",
            "validity",
            "meaning",
        ],
    ),
    ("targets", &["target", "editor"]),
    ("formats", &["format", "formats"]),
    (
        VERBS,
        &[
            "list", "meant", "files", "history", "publish", "select", "decode", "show", "tabular", "stat",
            "plot", "describe", "cdl", "diff", "digest", "joined", "check", "convert", "assemble", "repack",
            "create", "edit",
        ],
    ),
    ("typed", &["file", "build"]),
];

/// The layer whose modules must not name a format: differences between formats are in the row of the format.
const VERBS: &str = "verbs";

/// Names of formats. NDL is missing: it is the language of the verbs.
const FORMATS: &[&str] = &["hdf5", "netcdf", "zarr", "tiledb"];

/// Checks every source file of the crate without its tests, and the layers in ARCHITECTURE.md.
pub(super) fn check(tally: &mut Tally) -> Result<(), String> {
    let root = workspace::root();
    let src = root.join("crates").join("hyperslab").join("src");
    let mut files = Vec::new();
    rust_files(&src, &mut files)?;
    let mut found = BTreeSet::new();
    let [mut order, mut names] = [Vec::new(), Vec::new()];
    for path in files {
        let place = path.strip_prefix(&src).unwrap_or(&path);
        let Some(file) = File::at(place) else { continue };
        let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        order.extend(against(&file, &text));
        names.extend(formats_named(&file, &text));
        found.insert(file.module);
    }
    for problem in order.iter().chain(&names) {
        println!("{problem}");
    }
    tally.check(order.is_empty(), "modules of hyperslab use only modules before them");
    tally.check(names.is_empty(), "verbs name no format");
    let listed: BTreeSet<String> = modules().map(|(_, module)| module.to_owned()).collect();
    for module in listed.symmetric_difference(&found) {
        println!("{module}: a module and its layer in xtask/src/direction/modules.rs do not agree");
    }
    tally.check(listed == found, "every module of hyperslab has a layer");
    let document = root.join("ARCHITECTURE.md");
    let document = fs::read_to_string(&document).map_err(|error| format!("ARCHITECTURE.md: {error}"))?;
    for (layer, modules) in LAYERS {
        let line = format!("{layer:<8} {}", modules.join(", "));
        tally.check(document.contains(&line), format_args!("ARCHITECTURE.md draws the layer: {line}"));
    }
    Ok(())
}

fn modules() -> impl Iterator<Item = (&'static str, &'static str)> {
    LAYERS.iter().flat_map(|(layer, modules)| modules.iter().map(|module| (*layer, *module)))
}

/// A source file of the crate.
struct File {
    name: String,
    /// The module directly below the crate root that contains the file.
    module: String,
    /// The number of `super::` from the file to the crate root.
    depth: usize,
}

impl File {
    /// `None` for the root itself and for tests.
    fn at(place: &Path) -> Option<File> {
        let parts: Vec<&str> = place.iter().filter_map(|part| part.to_str()).collect();
        let is_test = |part: &&str| ["tests", "tests.rs", "testing.rs"].contains(part);
        let module = parts.first()?.trim_end_matches(".rs");
        if module == "lib" || parts.iter().any(is_test) {
            return None;
        }
        Some(File { name: place.display().to_string(), module: module.to_owned(), depth: parts.len() })
    }
}

/// The code lines of a file before its tests, without comments, numbered from 1.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().enumerate().take_while(|(_, line)| *line != "mod tests {");
    lines.map(|(index, line)| (index + 1, line.split("//").next().unwrap_or(line)))
}

/// Uses of modules that are not before the module of the file.
fn against(file: &File, text: &str) -> Vec<String> {
    let place = |module: &str| modules().position(|(_, known)| known == module);
    let own = place(&file.module);
    // A group of names may span several lines.
    let lines: Vec<(usize, &str)> = code(text).collect();
    let mut problems = Vec::new();
    for (index, (number, line)) in lines.iter().enumerate() {
        for tail in tails(line, file.depth) {
            let rest: String = lines.iter().skip(index + 1).map(|(_, line)| *line).collect();
            for module in heads(&format!("{tail}{rest}")) {
                let is_before = matches!((place(&module), own), (Some(used), Some(own)) if used < own);
                if module != file.module && !is_before {
                    problems.push(format!("{}:{number}: {} may not use {module}", file.name, file.module));
                }
            }
        }
    }
    problems
}

/// The rest of each path in a line that starts at the crate root, for a file at this depth.
fn tails(line: &str, depth: usize) -> Vec<&str> {
    let outwards = "super::".repeat(depth);
    let of = |root: &str| -> Vec<&str> {
        let begins = |at: &usize| {
            let before = line.get(..*at).and_then(|before| before.chars().next_back());
            !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':' || c == '$')
        };
        let places = line.match_indices(root).map(|(at, _)| at).filter(begins);
        places.filter_map(|at| line.get(at + root.len()..)).collect()
    };
    let mut tails = of("crate::");
    tails.extend(of(&outwards).into_iter().filter(|tail| !tail.starts_with('*')));
    tails
}

/// The first names of a path; a group in braces has several.
fn heads(path: &str) -> Vec<String> {
    let name = |text: &str| -> String {
        text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    let Some(group) = path.strip_prefix('{') else { return vec![name(path)] };
    let (mut depth, mut heads, mut part) = (0, Vec::new(), String::new());
    for c in group.chars() {
        match c {
            '}' if depth == 0 => break,
            ',' if depth == 0 => heads.push(name(&std::mem::take(&mut part))),
            _ => {
                depth += i32::from(c == '{') - i32::from(c == '}');
                part.push(c);
            }
        }
    }
    heads.push(name(&part));
    heads.retain(|head| !head.is_empty());
    heads
}

/// The lines of a verb that name a format.
fn formats_named(file: &File, text: &str) -> Vec<String> {
    let is_verb = modules().any(|(layer, module)| layer == VERBS && module == file.module);
    let names = |line: &str| {
        let line = line.to_lowercase();
        FORMATS.iter().find(|format| line.contains(*format)).copied()
    };
    let named = code(text).filter(|_| is_verb).filter_map(|(number, line)| Some((number, names(line)?)));
    named.map(|(number, format)| format!("{}:{number}: names {format}", file.name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(place: &str, text: &str) -> Vec<String> {
        let file = File::at(Path::new(place)).unwrap();
        [against(&file, text), formats_named(&file, text)].concat()
    }

    #[test]
    fn finds_a_forbidden_use_in_every_notation() {
        let refused = ["format/zarr.rs:1: format may not use check"];
        for text in
            ["use crate::check::Report;", "fn f() -> crate::check::Report {", "use super::super::check;"]
        {
            assert_eq!(problems("format/zarr.rs", text), refused, "{text}");
        }
        let group = "use crate::{\n    source::{ArraySource, Entry},\n    check::Report,\n};\n";
        assert_eq!(problems("format/zarr.rs", group), refused);
        assert_eq!(problems("source.rs", "use super::walk;"), ["source.rs:1: source may not use walk"]);
    }

    #[test]
    fn finds_uses_of_names_that_the_root_exports() {
        assert_eq!(problems("walk.rs", "use crate::open;"), ["walk.rs:1: walk may not use open"]);
    }

    #[test]
    fn accepts_allowed_uses_and_uses_in_tests() {
        let text = "use crate::source::Source; // crate::create\nuse crate::format::Format;\n\
             use super::rule;\n#[cfg(test)]\nmod tests {\nuse crate::create;\n";
        assert_eq!(problems("check/against.rs", text), [""; 0]);
        assert!(File::at(Path::new("publish/tests.rs")).is_none());
    }

    #[test]
    fn finds_format_names_in_verbs_only() {
        let text = "// as in HDF5\nif name == \"zarr\" {\n";
        assert_eq!(problems("describe.rs", text), ["describe.rs:2: names zarr"]);
        assert_eq!(problems("formats.rs", text), [""; 0]);
    }
}
