//! The JSON Schema, docs/ndl.md and the parser agree.

use hyperslab_core::filter::{Default, FILTERS, Filter, Kind, Parameter};
use hyperslab_ndl::{ParseOptions, SCHEMA, Severity, parse};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const STRICT: ParseOptions = ParseOptions { strict: true, lenient: false, pure: false };

fn schema() -> Value {
    serde_json::from_str(SCHEMA).unwrap()
}

fn crate_path(relative: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(relative)
}

fn read(relative: &str) -> String {
    let path = crate_path(relative);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn files(relative: &str) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        fs::read_dir(crate_path(relative)).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.sort();
    found
}

/// Every map inside a value, with its path.
fn maps<'v>(value: &'v Value, at: &str, found: &mut Vec<(String, &'v Map<String, Value>)>) {
    match value {
        Value::Object(map) => {
            found.push((at.to_owned(), map));
            for (key, value) in map {
                maps(value, &format!("{at}/{key}"), found);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                maps(item, &format!("{at}/{index}"), found);
            }
        }
        _ => {}
    }
}

fn all_maps(schema: &Value) -> Vec<(String, &Map<String, Value>)> {
    let mut found = Vec::new();
    maps(schema, "#", &mut found);
    // Examples are documents, not schemas.
    found.retain(|(at, _)| !at.contains("/examples/"));
    found
}

/// The schema that a `$ref` refers to, or the schema itself.
fn target<'s>(schema: &'s Value, of: &'s Value) -> Option<&'s Value> {
    schema.pointer(of["$ref"].as_str()?.strip_prefix('#')?)
}

/// The definition of an entity.
fn definition<'s>(schema: &'s Value, name: &str) -> &'s Value {
    schema["$defs"].get(name).unwrap_or_else(|| panic!("no definition {name}"))
}

fn properties(of: &Value) -> BTreeSet<String> {
    of["properties"].as_object().unwrap().keys().cloned().collect()
}

fn words(of: &Value) -> BTreeSet<String> {
    of["enum"].as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned()).collect()
}

fn set<S: AsRef<str>>(of: impl IntoIterator<Item = S>) -> BTreeSet<String> {
    of.into_iter().map(|word| word.as_ref().to_owned()).collect()
}

/// The source text of a table of keywords in the parser.
fn table(file: &str, name: &str) -> String {
    let source = read(&format!("src/{file}"));
    let (_, rest) =
        source.split_once(&format!("const {name}:")).unwrap_or_else(|| panic!("{file}: no {name}"));
    rest.split_once(';').unwrap().0.to_owned()
}

fn literals(text: &str) -> Vec<&str> {
    text.split('"').skip(1).step_by(2).collect()
}

fn table_words(file: &str, name: &str) -> BTreeSet<String> {
    set(literals(&table(file, name)))
}

/// The filters with parameters, and the filters that are only names registered with HDF5.
fn filters(is_open: bool) -> impl Iterator<Item = &'static Filter> {
    FILTERS.iter().filter(move |filter| filter.is_open == is_open)
}

/// A default value in JSON, if it does not depend on the array.
fn default(parameter: &Parameter) -> Option<Value> {
    match parameter.default {
        Default::Int(value) => Some(value.into()),
        Default::Word(word) => Some(word.into()),
        Default::Bool(value) => Some(value.into()),
        Default::Required | Default::Absent | Default::ElementSize | Default::ElementType => None,
    }
}

/// A parameter as the page shows it: name, allowed values, and default in parentheses.
fn on_the_page(parameter: &Parameter) -> String {
    let values = match parameter.kind {
        Kind::Int(_, max) if max == i64::from(i32::MAX) => String::new(),
        Kind::Int(min, max) => format!(" {min} to {max}"),
        Kind::Word(words) => format!(" {}", words.join("/")),
        Kind::Bool => " true/false".into(),
        Kind::Real | Kind::NumberType | Kind::Ints => String::new(),
    };
    let default = match parameter.default {
        Default::Absent => String::new(),
        Default::Required => " (required)".into(),
        Default::Int(value) => format!(" ({value})"),
        Default::Word(word) => format!(" ({word})"),
        Default::Bool(value) => format!(" ({value})"),
        Default::ElementSize => " (size of an element)".into(),
        Default::ElementType => " (type of the elements)".into(),
    };
    format!("{}{values}{default}", parameter.name)
}

/// The rules that occur in the source.
fn rules() -> BTreeSet<String> {
    let mut open = vec![crate_path("src")];
    let mut found = BTreeSet::new();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            let source = fs::read_to_string(path).unwrap();
            found.extend(
                source.split("\"ndl/").skip(1).filter_map(|rest| rest.split('"').next()).map(str::to_owned),
            );
        }
    }
    found
}

fn shown(text: &str, options: &ParseOptions) -> Vec<String> {
    parse(text.as_bytes(), options).diagnostics.iter().map(ToString::to_string).collect()
}

#[test]
fn every_reference_has_a_definition_and_every_definition_is_used() {
    let schema = schema();
    let mut used = BTreeSet::new();
    for (at, map) in all_maps(&schema) {
        let Some(Value::String(reference)) = map.get("$ref") else { continue };
        let name = reference.strip_prefix("#/$defs/").unwrap_or_else(|| panic!("{at}: {reference}"));
        assert!(schema["$defs"].get(name).is_some(), "{at}: no {reference}");
        used.insert(name.to_owned());
    }
    let defined = set(schema["$defs"].as_object().unwrap().keys());
    assert_eq!(defined, used);
}

#[test]
fn every_definition_and_property_is_described() {
    let schema = schema();
    for (name, of) in schema["$defs"].as_object().unwrap() {
        assert!(of["title"].is_string() && of["description"].is_string(), "{name}");
    }
    for (at, map) in all_maps(&schema) {
        // The schemas of conditions describe what is tested, not which keys exist.
        if !at.ends_with("/properties") || ["/if/", "/then/", "/else/"].iter().any(|part| at.contains(part)) {
            continue;
        }
        for (key, of) in map {
            let stated = of["description"].is_string()
                || target(&schema, of).is_some_and(|target| target["description"].is_string());
            assert!(stated, "{at}/{key} has no description");
        }
    }
    for (at, map) in all_maps(&schema) {
        if let Some(Value::Array(stated)) = map.get("enumDescriptions") {
            assert_eq!(stated.len(), map["enum"].as_array().unwrap().len(), "{at}");
        }
    }
}

#[test]
fn types_are_those_that_the_parser_knows() {
    let schema = schema();
    assert_eq!(words(definition(&schema, "datatype-keyword")), table_words("parse/datatype.rs", "KEYWORDS"));
    let categories = table_words("parse/datatype.rs", "CATEGORIES");
    assert_eq!(properties(definition(&schema, "datatype-category")), categories);
    let mut named = categories;
    named.extend(set(["type", "attributes", "storage"]));
    assert_eq!(properties(definition(&schema, "named-datatype-map")), named);
    for bits in (8..=128).step_by(8) {
        for keyword in [format!("int{bits}"), format!("uint{bits}")] {
            let text = format!("ndarrays: {{a: {{shape: [], type: {keyword}}}}}");
            assert_eq!(shown(&text, &STRICT), Vec::<String>::new());
            let plain = words(definition(&schema, "datatype-keyword")).contains(&keyword);
            let pattern = definition(&schema, "datatype-integer")["pattern"].as_str().unwrap();
            let odd = pattern.split(['(', '|', ')']).any(|part| part == bits.to_string());
            assert!(plain != odd, "{keyword}");
        }
    }
}

#[test]
fn filters_are_those_that_the_parser_knows() {
    let schema = schema();
    let formats = table_words("parse/storage.rs", "FORMATS");
    let mut names = set(FILTERS.iter().flat_map(|filter| filter.aliases.iter().chain([&filter.name])));
    assert_eq!(words(definition(&schema, "filter-name")), names);
    names.extend(formats);
    let map = definition(&schema, "filter-map");
    assert_eq!(properties(map), names);
    for filter in filters(false) {
        let name = filter.name;
        let mut parameters = set(filter.parameters.iter().map(|parameter| parameter.name));
        let of = target(&schema, &map["properties"][name]).unwrap();
        let alone = of["anyOf"].as_array().map_or(&[][..], Vec::as_slice);
        let body = alone.iter().find(|one| one["properties"].is_object()).unwrap_or(of);
        parameters.insert("optional".into());
        assert_eq!(properties(body), parameters, "{name}");
        for parameter in filter.parameters {
            let stated = body["properties"][parameter.name].get("default").cloned();
            assert_eq!(stated, default(parameter), "{name} {}", parameter.name);
        }
        // The schema and the parser agree on whether the filter takes a single, main parameter.
        let text =
            format!("ndarrays: {{a: {{shape: [4], type: int32, storage: {{filter: [{{{name}: 1}}]}}}}}}");
        assert_eq!(shown(&text, &STRICT).is_empty(), !alone.is_empty(), "{name}");
    }
}

#[test]
fn directives_are_those_that_the_parser_knows() {
    let schema = schema();
    let of = |name| properties(definition(&schema, name));
    let without = |mut all: BTreeSet<String>, names: &[&str]| {
        all.retain(|name| !names.contains(&name.as_str()));
        all
    };
    let all = table_words("parse/storage.rs", "ALL");
    let formats = table_words("parse/storage.rs", "FORMATS");
    let element = table_words("parse/storage.rs", "ELEMENT");
    assert_eq!(of("ndarray-storage"), without(all.clone(), &["size", "domain", "tile"]));
    assert_eq!(of("dimcoord-storage"), without(all, &["shape"]));
    assert_eq!(of("member-storage"), element);
    assert_eq!(of("attribute-storage"), &element | &formats);
    assert_eq!(of("datatype-storage"), &element | &formats);
    assert_eq!(of("group-storage"), formats);
}

#[test]
fn entities_have_the_keys_that_the_parser_knows() {
    let schema = schema();
    let of = |name| properties(definition(&schema, name));
    let mut group = set(hyperslab_ndl::GROUP_KEYS);
    assert_eq!(of("group"), group);
    group.insert("/".into());
    assert_eq!(properties(&schema), group);
    let mut attribute = table_words("parse/attribute.rs", "KEYS");
    assert_eq!(of("attribute-long"), attribute);
    attribute.insert("attributes".into());
    assert_eq!(of("ndarray"), attribute);
    attribute.remove("shape");
    attribute.insert("size".into());
    assert_eq!(of("dimcoord"), attribute);
    assert_eq!(of("reference-map"), table_words("parse/value/reference.rs", "KEYS"));
}

#[test]
fn words_are_those_that_the_parser_knows() {
    let schema = schema();
    for key in ["endian", "charset", "pad", "fill_time", "layout", "order"] {
        let known = words(definition(&schema, &format!("directive-{key}")));
        for word in &known {
            // UTF-32 needs a length.
            let text = format!(
                "ndarrays: {{a: {{shape: [], type: string, storage: {{length: 4, {key}: {word}}}}}}}"
            );
            assert_eq!(shown(&text, &STRICT), Vec::<String>::new());
        }
        let text = format!("ndarrays: {{a: {{shape: [], type: string, storage: {{{key}: ?????}}}}}}");
        let found = shown(&text, &STRICT).concat();
        let hint = found.split_once("expected one of ").unwrap_or_else(|| panic!("{found}")).1;
        assert_eq!(set(hint.split(", ")), known);
    }
}

#[test]
fn good_documents_have_no_findings() {
    for path in files("schema/good") {
        let text = fs::read_to_string(&path).unwrap();
        let parsed = parse(text.as_bytes(), &STRICT);
        let found: Vec<String> = parsed
            .diagnostics
            .iter()
            .filter(|one| one.severity != Severity::Note)
            .map(ToString::to_string)
            .collect();
        assert_eq!(found, Vec::<String>::new(), "{}", path.display());
    }
}

#[test]
fn bad_documents_break_the_rule_in_their_name() {
    let all = read("schema/bad.yaml");
    let mut wrong = Vec::new();
    let documents: Vec<&str> = all.split("---\n").collect();
    assert!(documents.len() > 160);
    for text in documents {
        let heading = text.strip_prefix("# ").unwrap().lines().next().unwrap();
        let (rule, _) = heading.split_once(": ").unwrap();
        let parsed = parse(text.as_bytes(), &STRICT);
        let mut errors = parsed.diagnostics.iter().filter(|one| one.severity == Severity::Error);
        if !errors.any(|one| one.rule == rule) {
            wrong.push(format!("{heading}: {:?}", shown(text, &STRICT)));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

/// A code block of the page: its first line, the words after its fence, and its text.
fn blocks(page: &str) -> Vec<(usize, &str, String)> {
    let mut found = Vec::new();
    let mut lines = page.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let Some(fence) = line.strip_prefix("```") else { continue };
        let text = lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "```");
        found.push((number + 1, fence, text.fold(String::new(), |text, line| text + line + "\n")));
    }
    found
}

/// The code spans in a column of the table with this heading.
fn column(page: &str, heading: &str, column: usize) -> BTreeSet<String> {
    let mut lines = page.lines().skip_while(|line| *line != heading).skip(2).peekable();
    assert!(lines.peek().is_some(), "no table {heading}");
    let rows = lines.take_while(|line| line.starts_with('|'));
    let cells = rows.map(|row| row.split('|').nth(column).unwrap());
    cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).map(str::to_owned).collect()
}

fn page() -> String {
    read("../../docs/ndl.md")
}

#[test]
fn every_block_of_the_page_has_the_diagnostics_it_declares() {
    let page = page();
    let blocks = blocks(&page);
    assert!(blocks.len() > 20);
    for (line, fence, text) in blocks {
        let mut expected = Vec::new();
        let mut options = ParseOptions::default();
        let mut words = fence.split(',');
        assert_eq!(words.next(), Some("yaml"), "line {line}");
        for word in words {
            match word.split_once('=') {
                Some((severity, rule)) => expected.push(format!("{severity}[{rule}]")),
                None if word == "lenient" => options.lenient = true,
                None if word == "pure" => options.pure = true,
                None => panic!("line {line}: {word}"),
            }
        }
        let parsed = parse(text.as_bytes(), &options);
        let found: Vec<String> =
            parsed.diagnostics.iter().map(|one| format!("{}[{}]", one.severity, one.rule)).collect();
        assert_eq!(found, expected, "line {line}: {:?}", shown(&text, &options));
    }
}

#[test]
fn the_page_has_a_row_for_every_rule() {
    let named = column(&page(), "| rule | broken by |", 1);
    assert_eq!(named, rules().iter().map(|rule| format!("ndl/{rule}")).collect());
}

#[test]
fn the_page_has_a_row_for_every_directive() {
    let named = column(&page(), "| directive | of | holds |", 1);
    assert_eq!(named, table_words("parse/storage.rs", "ALL"));
}

#[test]
fn the_page_has_a_row_for_every_filter_with_its_parameters() {
    let page = page();
    let mut known = table_words("parse/storage.rs", "FORMATS");
    known.extend(filters(false).map(|filter| filter.name.to_owned()));
    assert_eq!(column(&page, "| filter | parameters | what it does |", 1), known);
    for filter in filters(false) {
        let begin = format!("| `{}` | ", filter.name);
        let cell = page.lines().find_map(|line| line.strip_prefix(&begin)?.split('|').next());
        let parameters: Vec<_> = filter.parameters.iter().map(on_the_page).collect();
        assert_eq!(cell.map(str::trim), Some(parameters.join(", ").as_str()), "{}", filter.name);
    }
    for filter in filters(true) {
        assert!(page.contains(&format!("`{}`", filter.name)), "{}", filter.name);
    }
}

#[test]
fn the_page_names_every_type_and_extension() {
    let page = page();
    let named = column(&page, "| name | what it adds |", 1);
    let extensions = read("src/extensions.rs");
    let list = extensions.split_once("extensions! {").unwrap().1.split_once('}').unwrap().0;
    assert_eq!(named, set(literals(list)));
    for word in table_words("parse/datatype.rs", "KEYWORDS") {
        assert!(page.contains(&format!("`{word}`")), "{word}");
    }
    for word in table_words("parse/datatype.rs", "CATEGORIES") {
        assert!(page.contains(&format!("`{{{word}: ")), "{word}");
    }
}

#[test]
fn the_page_lists_all_84_readings_in_order() {
    let page = page();
    let table = page.lines().skip_while(|line| *line != "| | question | reading |").skip(2);
    let numbers = table
        .take_while(|line| line.starts_with('|'))
        .map(|row| row.split('|').nth(1).unwrap().trim().parse::<usize>().unwrap());
    assert_eq!(numbers.collect::<Vec<_>>(), (1..=84).collect::<Vec<_>>());
}
