//! For each rule of the check, an array or a group breaks it; sound ones break none.

use crate::KEY;
use crate::arrays::{files_of, store};
use crate::handmade::{
    Files, Parts, SCHEMA, add_fragment, array, change_schema, footer, generic_of, schema, store_of,
};
use hyperslab_core::store::{DirectoryStore, Key, Store};
use hyperslab_core::{Limits, Severity};
use hyperslab_tiledb::array::OpenOptions;
use hyperslab_tiledb::check::{Finding, Options, RULES, check};
use hyperslab_tiledb::filter;
use hyperslab_tiledb::format::array_schema::{ArraySchema, DimensionLabel, EnumerationFile};
use hyperslab_tiledb::format::consolidated_fragment_metadata::{
    ConsolidatedFooter, ConsolidatedFragmentMetadata,
};
use hyperslab_tiledb::format::data_type::{CellValNum, DataType};
use hyperslab_tiledb::format::delete_condition::{Comparison, DeleteCondition, Node, Operator};
use hyperslab_tiledb::format::enumeration::Enumeration;
use hyperslab_tiledb::format::filter_pipeline::Filter;
use hyperslab_tiledb::format::group::{GroupDetails, GroupMember, ObjectType, Version};
use hyperslab_tiledb::format::layout::{DataOrder, Layout};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

fn findings_of(store: &Arc<dyn Store>, name: &str, open: &OpenOptions) -> Vec<Finding> {
    let mut findings = Vec::new();
    let options = Options { values: true, ..Options::default() };
    let summary =
        check(store, &Key::new(name).unwrap(), open, &options, &mut |found| findings.push(found)).unwrap();
    let reported = summary.by_rule.iter().map(|(_, count)| (*count).min(options.max_per_rule));
    assert_eq!(reported.sum::<u64>(), findings.len() as u64);
    findings
}

fn with_key() -> OpenOptions {
    OpenOptions { key: Some(filter::Key::new(KEY).unwrap()), ..OpenOptions::default() }
}

/// The files of an array or a group that the library wrote.
fn written(name: &str) -> Files {
    files_of(&*store(), name).into_iter().map(|(key, content)| (key.to_string(), content)).collect()
}

/// A sound array made by hand.
fn sound() -> Files {
    let mut files = array(&schema(false));
    add_fragment(&mut files, 10, &(0..9).collect::<Vec<i64>>(), 100);
    files
}

fn broken_hand(break_it: impl FnOnce(&mut Files)) -> (&'static str, Files) {
    let mut files = sound();
    break_it(&mut files);
    ("hand", files)
}

fn broken(name: &'static str, break_it: impl FnOnce(&mut Files)) -> (&'static str, Files) {
    let mut files = written(name);
    break_it(&mut files);
    (name, files)
}

fn broken_parts(break_it: impl FnOnce(&mut Parts)) -> (&'static str, Files) {
    broken_hand(|files| {
        let mut parts = Parts::of(files, "hand");
        break_it(&mut parts);
        parts.put(files);
    })
}

fn fragment(file: &str) -> String {
    format!("hand/__fragments/__10_10_0123456789abcdef0123456789abcdef_22/{file}")
}

fn enumerated(values: &[u8], is_used: bool) -> (&'static str, Files) {
    broken_hand(|files| {
        change_schema(files, "hand", |schema| {
            schema.enumerations =
                vec![EnumerationFile { name: b"words".to_vec(), file_name: b"__0_0".to_vec() }];
            schema.attributes[0].enumeration = is_used.then(|| b"words".to_vec());
        });
        let enumeration = Enumeration {
            name: b"words".to_vec(),
            path: b"__0_0".to_vec(),
            data_type: DataType::UInt8,
            cell_val_num: CellValNum::ONE,
            ordered: false,
            data: values.to_vec(),
            offsets: None,
        };
        files.insert("hand/__schema/__enumerations/__0_0".to_owned(), generic_of(&enumeration, &()));
    })
}

fn details(uri: &str, object_type: ObjectType) -> Vec<u8> {
    let member = GroupMember {
        version: Version::V2,
        object_type,
        relative: true,
        uri: uri.into(),
        name: Some(b"member".to_vec()),
        deleted: false,
    };
    generic_of(&GroupDetails { version: Version::V2, members: vec![member] }, &())
}

const DETAILS: &str = "__group/__1_1_0123456789abcdef0123456789abcdef_2";

/// A group with an array made by hand.
fn group(uri: &str, object_type: ObjectType) -> (&'static str, Files) {
    let mut files: Files = sound().into_iter().map(|(key, content)| (format!("g/{key}"), content)).collect();
    files.insert("g/__tiledb_group.tdb".to_owned(), Vec::new());
    files.insert(format!("g/{DETAILS}"), details(uri, object_type));
    ("g", files)
}

/// For each rule, an object that breaks it, and a part of the expected message.
fn cases() -> Vec<(&'static str, (&'static str, Files), &'static str)> {
    vec![
        ("no-object", ("hand", Files::new()), "no array schema and no __group"),
        (
            "structure",
            broken_hand(|files| drop(files.insert(format!("hand/__schema/{SCHEMA}"), b"noise".to_vec()))),
            "",
        ),
        (
            "schema",
            broken_hand(|files| {
                change_schema(files, "hand", |of| of.domain.dimensions[0].tile_extent = Some(vec![0; 8]))
            }),
            "dimension \"x\": a tile extent that is not above 0",
        ),
        (
            "duplicate-name",
            broken_hand(|files| change_schema(files, "hand", |of| of.attributes[0].name = b"x".to_vec())),
            "\"x\" a second time",
        ),
        (
            "fill-value",
            broken_hand(|files| {
                change_schema(files, "hand", |of| of.attributes[0].fill_value = Some(vec![0; 3]))
            }),
            "a fill value of 3 bytes for attribute \"a\", whose values have 4",
        ),
        (
            "enumeration-missing",
            broken_hand(|files| {
                change_schema(files, "hand", |of| of.attributes[0].enumeration = Some(b"none".to_vec()));
            }),
            "\"none\", which the schema does not list",
        ),
        ("enumeration", enumerated(&[1; 200], true), "200 values, of which 1 are different"),
        (
            "enumeration-index",
            enumerated(&[1, 2], true),
            "value 100 of 2 in cell 0 of tile 0, attribute \"a\"",
        ),
        ("enumeration-unused", enumerated(&[1, 2], false), "\"words\""),
        (
            "label-missing",
            broken_hand(|files| {
                change_schema(files, "hand", |of| {
                    of.dimension_labels.push(DimensionLabel {
                        dimension: 0,
                        name: b"l".to_vec(),
                        relative: true,
                        uri: b"__labels/l0".to_vec(),
                        attribute: b"label".to_vec(),
                        order: DataOrder::Increasing,
                        data_type: DataType::Float64,
                        cell_val_num: CellValNum::ONE,
                        is_external: false,
                    });
                });
            }),
            "label \"l\" in hand/__labels/l0, where no array is",
        ),
        (
            "commit-alone",
            broken_hand(|files| {
                let name = "hand/__commits/__20_20_0123456789abcdef0123456789abcdef_22.wrt";
                files.insert(name.to_owned(), Vec::new());
            }),
            "which has no __fragment_metadata.tdb",
        ),
        (
            "fragment-schema",
            broken_parts(|parts| {
                parts.footer.schema_name = Some(b"__9_9_0123456789abcdef0123456789abcdef".to_vec())
            }),
            "which the array does not have",
        ),
        (
            "fragment-schema",
            broken_hand(|files| {
                let other = ArraySchema { cell_order: Layout::ColMajor, ..schema(false) };
                let name = SCHEMA.replace("__1_1_", "__2_2_");
                files.insert(format!("hand/__schema/{name}"), generic_of(&other, &()));
            }),
            "the schema of the fragment has other dimensions or orders than the array",
        ),
        (
            "footer",
            broken_parts(|parts| parts.footer.last_tile_cell_num = 5),
            "5 cells in the last tile, expected 1 to 4",
        ),
        ("file-missing", broken_hand(|files| drop(files.remove(&fragment("a0.tdb")))), "bytes by the footer"),
        (
            "file-size",
            broken_hand(|files| files.get_mut(&fragment("a0.tdb")).unwrap().truncate(95)),
            "95 bytes, the footer says 96",
        ),
        (
            "trailing-bytes",
            broken_hand(|files| files.get_mut(&fragment("a0.tdb")).unwrap().push(0)),
            "97 bytes, the footer says 96",
        ),
        ("tile-offsets", broken_parts(|parts| parts.offsets[0].offsets.swap(1, 2)), "tile 1 begins at byte"),
        (
            "r-tree",
            broken_parts(|parts| {
                let domain = parts.footer.non_empty_domain.as_mut().unwrap();
                domain.ranges[0].max = 7_i64.to_le_bytes().to_vec();
            }),
            "leaves the non-empty domain along dimension \"x\"",
        ),
        (
            "rectangle",
            broken_hand(|files| {
                let mut moved: Vec<i64> = (0..9).collect();
                moved[1] = 2;
                moved[2] = 1;
                add_fragment(files, 10, &moved, 100);
                // The smallest coordinate of the tile is replaced.
                let x = files.get_mut(&fragment("d0.tdb")).unwrap();
                x[20..28].copy_from_slice(&(-5_i64).to_le_bytes());
            }),
            "cell 0 of tile 0 along dimension \"x\"",
        ),
        (
            "global-order",
            broken_hand(|files| add_fragment(files, 10, &[3, 1, 2, 4, 5], 1)),
            "cell 1 of tile 0 comes after a cell that it should precede",
        ),
        (
            "duplicate-cell",
            broken_hand(|files| add_fragment(files, 10, &[1, 2, 3, 4, 4], 1)),
            "cell 0 of tile 1 and one before it",
        ),
        (
            "tile-summary",
            broken_parts(|parts| {
                parts.sums[0].sums[1] += 1;
                parts.summary.slots[0].sum += 1;
            }),
            "attribute \"a\": sum 423 of tile 1, its cells have 422",
        ),
        (
            "fragment-summary",
            broken_parts(|parts| parts.summary.slots[0].sum += 1),
            "attribute \"a\": sum 937, its tiles have 936",
        ),
        ("tile", broken_hand(|files| files.get_mut(&fragment("a0.tdb")).unwrap()[0] = 7), "tile 0: "),
        (
            "checksum",
            broken("encrypted", |files| {
                let key = files.keys().find(|key| key.ends_with("a0.tdb")).unwrap().clone();
                *files.get_mut(&key).unwrap().last_mut().unwrap() ^= 1;
            }),
            "tile",
        ),
        (
            "checksum",
            broken_hand(|files| {
                for filter in [Filter::ChecksumMd5, Filter::ChecksumSha256] {
                    change_schema(files, "hand", |of| of.attributes[0].filters.filters.push(filter));
                }
                add_fragment(files, 10, &[1, 2, 3], 1);
                *files.get_mut(&fragment("a0.tdb")).unwrap().last_mut().unwrap() ^= 1;
            }),
            "tile 0: ",
        ),
        (
            "consolidated-footer",
            broken_hand(|files| {
                let mut footer = footer(&files[&fragment("__fragment_metadata.tdb")]).to_vec();
                *footer.last_mut().unwrap() ^= 1;
                let uri = fragment("").trim_end_matches('/').as_bytes().to_vec();
                let copy =
                    ConsolidatedFragmentMetadata { fragments: vec![ConsolidatedFooter { uri, footer }] };
                let name = "hand/__fragment_meta/__10_10_0123456789abcdef0123456789abcdef_22.meta";
                files.insert(name.to_owned(), generic_of(&copy, &()));
            }),
            "which are not its own",
        ),
        ("member-missing", group("elsewhere", ObjectType::Array), "\"member\": nothing is at elsewhere"),
        ("member-type", group("hand", ObjectType::Group), "\"member\" is an array, the group says a group"),
        ("external-member", group("../../hand", ObjectType::Array), "\"member\" is ../../hand"),
        (
            "cycle",
            {
                let (name, mut files) = group("inner", ObjectType::Group);
                files.insert(format!("g/inner/{DETAILS}"), details("..", ObjectType::Group));
                (name, files)
            },
            "\"member\" is /g, in which the group is",
        ),
        (
            "dead-line",
            broken_hand(|files| {
                let name = "hand/__commits/__10_10_0123456789abcdef0123456789abcdef_22.vac";
                let line = "/__fragments/__5_5_0123456789abcdef0123456789abcdef_22\n";
                files.insert(name.to_owned(), line.into());
            }),
            "1 of 1 lines, __5_5_",
        ),
        (
            "delete-field",
            broken_hand(|files| {
                let comparison = Comparison {
                    operator: Operator::Lt,
                    field: b"b".to_vec(),
                    value: vec![0; 4],
                    offsets: Vec::new(),
                };
                let condition = DeleteCondition::new(vec![Node::Value(comparison)]).unwrap();
                let name = "hand/__commits/__20_20_0123456789abcdef0123456789abcdef_22.del";
                files.insert(name.to_owned(), generic_of(&condition, &()));
            }),
            "\"b\": the schema has no such field",
        ),
        (
            "name",
            broken_hand(|files| drop(files.insert("hand/__commits/notes.txt".to_owned(), Vec::new()))),
            "\"notes.txt\", expected __t1_t2_uuid and a suffix",
        ),
        (
            "incomplete",
            broken_hand(|files| files.retain(|key, _| !key.ends_with(".wrt"))),
            "__10_10_0123456789abcdef0123456789abcdef_22, which no commit names",
        ),
        ("key", ("encrypted", written("encrypted")), ""),
        ("limit", ("limited", sound()), "bytes, at most"),
    ]
}

#[test]
fn each_rule_is_broken_by_what_it_is_about() {
    let mut seen = BTreeSet::new();
    let mut wrong = Vec::new();
    for (rule, (name, files), expected) in cases() {
        let rule = format!("tiledb/{rule}");
        let open = match rule.as_str() {
            "tiledb/checksum" => with_key(),
            "tiledb/limit" => OpenOptions {
                limits: Limits { allocation: 100, ..Limits::default() },
                ..OpenOptions::default()
            },
            _ => OpenOptions::default(),
        };
        let name = if name == "limited" { "hand" } else { name };
        let findings = findings_of(&store_of(&files), name, &open);
        if !findings.iter().any(|found| found.rule == rule && found.message.contains(expected)) {
            wrong.push(format!("{rule}: {findings:#?}"));
        }
        seen.insert(rule);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let all: BTreeSet<String> = RULES.iter().map(|rule| rule.name.to_owned()).collect();
    assert_eq!(seen, all);
}

#[test]
fn one_fault_is_one_finding() {
    let alone = [
        "fill-value",
        "enumeration-index",
        "label-missing",
        "commit-alone",
        "fragment-schema",
        "file-missing",
        "file-size",
        "trailing-bytes",
        "tile-offsets",
        "global-order",
        "duplicate-cell",
        "fragment-summary",
        "tile",
        "member-missing",
        "member-type",
        "external-member",
        "cycle",
        "delete-field",
        "name",
        "incomplete",
        "key",
    ];
    for (rule, (name, files), _) in cases() {
        if alone.contains(&rule) {
            let findings = findings_of(&store_of(&files), name, &OpenOptions::default());
            assert_eq!(findings.len(), 1, "{rule}: {findings:#?}");
        }
    }
}

#[test]
fn arrays_made_by_hand_are_sound() {
    assert_eq!(findings_of(&store_of(&sound()), "hand", &OpenOptions::default()), []);
    let (name, files) = group("hand", ObjectType::Array);
    assert_eq!(findings_of(&store_of(&files), name, &OpenOptions::default()), []);
}

#[test]
fn arrays_of_the_library_are_sound() {
    let store = store();
    for entry in store.list(&Key::root()).unwrap() {
        if entry.name != "expected" && !entry.name.contains('.') {
            let mut findings = findings_of(&store, &entry.name, &with_key());
            findings.retain(|found| found.rule != "tiledb/external-member");
            assert_eq!(findings, [], "{}", entry.name);
        }
    }
}

#[test]
fn quick_checks_read_no_tiles() {
    let (name, files) = broken_hand(|files| files.get_mut(&fragment("a0.tdb")).unwrap()[0] = 7);
    let mut count = 0;
    let options = Options { values: false, ..Options::default() };
    let summary =
        check(&store_of(&files), &Key::new(name).unwrap(), &OpenOptions::default(), &options, &mut |_| {
            count += 1;
        })
        .unwrap();
    assert_eq!((count, summary.arrays, summary.fragments), (0, 1, 1));
}

/// Checks every array and group of the corpus, and prints the findings.
#[test]
fn arrays_of_a_corpus_are_sound() {
    let Some(root) = std::env::var_os("HYPERSLAB_TILEDB_CORPUS") else {
        println!("skipped: HYPERSLAB_TILEDB_CORPUS names no folder of TileDB arrays");
        return;
    };
    let root = Path::new(&root);
    let mut count = 0;
    let mut faults = Vec::new();
    walk(root, &mut |folder| {
        let store: Arc<dyn Store> = Arc::new(DirectoryStore::open(folder).unwrap());
        let mut findings = findings_of(&store, "", &corpus_options());
        if findings.iter().any(|found| found.rule == "tiledb/no-object") {
            return false;
        }
        count += 1;
        let name = folder.strip_prefix(root).unwrap().display().to_string();
        findings.retain(|found| {
            found.severity != Severity::Note
                && !KNOWN.iter().any(|(part, rule)| name.contains(part) && found.rule == *rule)
        });
        faults.extend(findings.iter().map(|found| format!("{name}: {found:?}")));
        true
    });
    println!("{count} arrays and groups");
    assert!(faults.is_empty(), "{} findings\n{}", faults.len(), faults.join("\n"));
}

/// Known faults of arrays of the corpus.
const KNOWN: [(&str, &str); 5] = [
    // A file from before version 1, and one of a development version, neither of which the library reads.
    ("dense_array_v1_3_0", "tiledb/structure"),
    ("experimental_array_vUINT32_MAX", "tiledb/structure"),
    ("experimental_array_vUINT32_MAX", "tiledb/name"),
    // Temporary arrays were deleted, but remained members of their groups; files were written twice.
    ("vector-search", "tiledb/member-missing"),
    ("vector-search", "tiledb/trailing-bytes"),
];

fn corpus_options() -> OpenOptions {
    OpenOptions {
        key: Some(filter::Key::new(b"0123456789abcdeF0123456789abcdeF").unwrap()),
        ..OpenOptions::default()
    }
}

fn walk(folder: &Path, visit: &mut dyn FnMut(&Path) -> bool) {
    if visit(folder) {
        return;
    }
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths.into_iter().filter(|path| path.is_dir()) {
        walk(&path, visit);
    }
}

#[test]
fn orders_that_are_wrong_are_refused_where_fragments_overlap() {
    let (_, mut files) = broken_hand(|files| add_fragment(files, 10, &[3, 1, 2, 4, 5], 1));
    add_fragment(&mut files, 20, &[2, 9], 1);
    let array =
        crate::arrays::open(&store_of(&files), "hand", hyperslab_tiledb::opened::Moment::ALL).unwrap();
    let refused =
        array.read_sparse(&hyperslab_tiledb::read::sparse::SparseRequest::default(), &mut |_| Ok(()));
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("tile 0: cell 1 is out of global order"), "{refused}");
}
