//! The list of the public API in docs/library.md contains exactly the public items of the source code.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// The heading of the list, which extends to the end of the page.
const HEADING: &str = "## The public API\n\n";

/// An item of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Item {
    name: String,
    /// The path that it is re-exported from; empty if it is defined here.
    from: Vec<String>,
}

#[test]
fn the_guide_lists_every_public_item() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap();
    let sources = Sources::read(&crates);
    let mut undocumented = Vec::new();
    let mut list = String::from("| module | item | what it is |\n|---|---|---|\n");
    modules(&crates.join("hyperslab/src"), "lib.rs", "", &mut |module, file, items| {
        for item in items {
            let Some(what) = sources.sentence(item, file) else {
                undocumented.push(format!("{module}::{}", item.name));
                continue;
            };
            let module = if module.is_empty() { "(root)".to_owned() } else { format!("`{module}`") };
            writeln!(list, "| {module} | `{}` | {what} |", item.name).unwrap();
        }
    });
    assert_eq!(undocumented, Vec::<String>::new(), "no sentence ends with a full stop");
    let page = crates.join("../docs/library.md");
    let text = fs::read_to_string(&page).unwrap();
    let (before, found) = text.split_once(HEADING).expect("the page has the list");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&page, format!("{before}{HEADING}{list}")).unwrap();
        return;
    }
    // Only the items are compared. The sentences are updated when the list is rewritten.
    let items = |list: &str| -> Vec<String> {
        list.lines().map(|line| line.split(" | ").take(2).collect::<Vec<_>>().join("::")).collect()
    };
    let (listed, public) = (items(found), items(&list));
    let only = |these: &[String], those: &[String]| -> Vec<String> {
        these.iter().filter(|item| !those.contains(item)).cloned().collect()
    };
    let differences = (only(&listed, &public), only(&public, &listed));
    let none = (Vec::new(), Vec::new());
    assert_eq!(
        differences, none,
        "only in docs/library.md, only in the sources; if those are right: UPDATE_GOLDEN=1"
    );
    assert_eq!(listed, public, "in another order");
}

/// Visits a module and its public submodules, with their public items sorted by name.
fn modules(folder: &Path, file: &str, module: &str, visit: &mut dyn FnMut(&str, &Path, &[Item])) {
    let path = folder.join(file);
    let text = fs::read_to_string(&path).unwrap();
    let mut found: Vec<Item> = items(&text);
    found.sort_by(|a, b| a.name.cmp(&b.name));
    visit(module, &path, &found);
    let within = match file {
        "lib.rs" => folder.to_path_buf(),
        file => folder.join(file.trim_end_matches(".rs")),
    };
    for line in code(&text) {
        if let Some(name) = line.strip_prefix("pub mod ").and_then(|rest| rest.strip_suffix(';')) {
            let module = if module.is_empty() { name.to_owned() } else { format!("{module}::{name}") };
            modules(&within, &format!("{name}.rs"), &module, visit);
        }
    }
}

/// The lines before the tests.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.lines().take_while(|line| *line != "mod tests {")
}

fn items(text: &str) -> Vec<Item> {
    let mut items = Vec::new();
    let mut lines = code(text);
    while let Some(line) = lines.next() {
        if let Some(rest) = line.strip_prefix("pub use ") {
            let mut path = rest.to_owned();
            while !path.ends_with(';') {
                path.push_str(lines.next().unwrap().trim());
            }
            re_exported(path.trim_end_matches(';'), &mut items);
        } else if let Some(name) = defined(line) {
            items.push(Item { name: name.to_owned(), from: Vec::new() });
        }
    }
    items
}

/// The name of the public item whose definition begins on this line.
fn defined(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("pub ")?;
    let rest = rest.strip_prefix("const fn ").or(rest.strip_prefix("fn ")).or_else(|| {
        ["struct ", "enum ", "trait ", "type ", "const ", "static "]
            .iter()
            .find_map(|kind| rest.strip_prefix(kind))
    })?;
    rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()
}

/// Adds the items of a path such as `a::b::{c, d as e}`.
fn re_exported(path: &str, items: &mut Vec<Item>) {
    let (path, names) = match path.split_once('{') {
        Some((path, names)) => (path.trim_end_matches("::"), names.trim_end_matches('}')),
        None => path.rsplit_once("::").unwrap_or(("", path)),
    };
    let path: Vec<String> = path.split("::").map(str::to_owned).collect();
    for name in names.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        let (original, name) = name.split_once(" as ").unwrap_or((name, name));
        let from = match original {
            "self" => path.clone(),
            original => path.iter().cloned().chain([original.to_owned()]).collect(),
        };
        items.push(Item { name: name.to_owned(), from });
    }
}

/// The first sentence of the documentation of each item of all crates, by name, with the file of the item.
struct Sources {
    crates: PathBuf,
    sentences: BTreeMap<String, Vec<(PathBuf, String)>>,
}

impl Sources {
    fn read(crates: &Path) -> Sources {
        let mut sources = Sources { crates: crates.to_path_buf(), sentences: BTreeMap::new() };
        let mut folders: Vec<PathBuf> =
            fs::read_dir(crates).unwrap().map(|entry| entry.unwrap().path().join("src")).collect();
        folders.sort();
        while let Some(folder) = folders.pop() {
            let Ok(entries) = fs::read_dir(&folder) else { continue };
            for path in entries.map(|entry| entry.unwrap().path()) {
                match path.extension() {
                    None => folders.push(path),
                    Some(_) => sources.add(&path),
                }
            }
        }
        sources
    }

    fn add(&mut self, path: &Path) {
        let text = fs::read_to_string(path).unwrap();
        let mut put = |name: &str, docs: &[&str]| {
            if let Some(sentence) = first_sentence(docs) {
                self.sentences.entry(name.to_owned()).or_default().push((path.to_path_buf(), sentence));
            }
        };
        // The README of a crate is included before its own documentation.
        let lines = text.lines().skip_while(|line| line.starts_with("#!["));
        let of_module: Vec<&str> = lines.map_while(|line| line.strip_prefix("//!")).collect();
        put(path.file_stem().unwrap().to_str().unwrap(), &of_module);
        let mut docs = Vec::new();
        for line in code(&text) {
            // Indented types are defined in macros. Indented functions are methods.
            let trimmed = line.trim_start();
            if let Some(doc) = trimmed.strip_prefix("///") {
                docs.push(doc);
            } else if !trimmed.starts_with("#[") && !trimmed.starts_with(")]") {
                let name = defined(trimmed).filter(|_| trimmed == line || !trimmed.contains("fn "));
                name.into_iter().for_each(|name| put(name, &docs));
                docs.clear();
            }
        }
    }

    /// The sentence of an item that `file` defines or re-exports.
    fn sentence(&self, item: &Item, file: &Path) -> Option<&str> {
        let Some((name, from)) = item.from.split_last() else {
            let own = self.sentences.get(&item.name)?.iter().find(|(path, _)| path == file);
            return own.map(|(_, sentence)| sentence.as_str());
        };
        if let Some(of) = name.strip_prefix("hyperslab_") {
            let root = format!("{of}/src/lib.rs");
            let own = self.sentences.get("lib")?.iter().find(|(path, _)| path.ends_with(&root));
            return own.map(|(_, sentence)| sentence.as_str());
        }
        // If several items have this name, the path refers to the one in its crate and module.
        let of_crate = from.first().and_then(|first| first.strip_prefix("hyperslab_")).unwrap_or("hyperslab");
        let rank = |path: &Path| {
            let is_near = from
                .last()
                .is_some_and(|module| path.with_extension("").iter().any(|part| part == module.as_str()));
            (path.starts_with(self.crates.join(of_crate)), is_near)
        };
        let found = self.sentences.get(name)?.iter().max_by_key(|(path, _)| rank(path));
        found.map(|(_, sentence)| sentence.as_str())
    }
}

/// The text up to the first full stop. Links are replaced by their text.
fn first_sentence(docs: &[&str]) -> Option<String> {
    // The page of a crate comes before its own documentation, under a heading.
    let words = docs.iter().map(|doc| doc.trim()).skip_while(|doc| doc.is_empty() || doc.starts_with('#'));
    let paragraph: Vec<&str> = words.take_while(|doc| !doc.is_empty()).collect();
    let paragraph = paragraph.join(" ");
    let end = paragraph.find(". ").or_else(|| paragraph.strip_suffix('.').map(str::len));
    let mut sentence = paragraph.get(..end?)?.replace("[`", "`").replace("`]", "`");
    // Keep the text of a link: `text`(target), [text](target).
    while let Some(at) = sentence.find("`(").map(|at| at + 1).or_else(|| sentence.find("](").map(|at| at + 1))
    {
        let end = at + sentence[at..].find(')')?;
        sentence.replace_range(at..=end, "");
        if sentence[..at].ends_with(']') {
            sentence.remove(at - 1);
            let open = sentence[..at - 1].rfind('[')?;
            sentence.remove(open);
        }
    }
    Some(sentence.replace('|', "\\|"))
}
