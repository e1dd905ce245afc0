//! Checks of data against contracts.

use crate::{description, open, path};
use bytes::Bytes;
use hyperslab::check::{AGAINST_RULES, AgainstOptions, FindingPlace, against};
use hyperslab::describe::DescribeOptions;
use hyperslab::ndl::StorageDetail;
use hyperslab::{NodePath, OpenOptions, Result, Source, Step, walk};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::Arc;

const EXAMPLES: [&str; 16] = [
    "ocean.nc",
    "nested_groups.nc",
    "strings.nc",
    "unlimited.nc",
    "classic_model.nc",
    "datatypes.h5",
    "groups_old.h5",
    "groups_new.h5",
    "chunk_indexes.h5",
    "h5netcdf_style.h5",
    "userblock.h5",
    "big_endian.h5",
    "tides.zarr",
    "floats.zarr",
    "single.zarr.zip",
    "buoys.yaml",
];

fn contract(text: &str) -> Result<Arc<dyn Source>> {
    let options = OpenOptions { format: Some("ndl".into()), ..OpenOptions::default() };
    hyperslab::open_storage(Box::new(Bytes::from(text.to_owned())), &options)
}

/// The findings: object, rule and message.
fn found(data: &dyn Source, contract: &dyn Source, unnamed: bool) -> Vec<(String, &'static str, String)> {
    let report = against(data, contract, &AgainstOptions { unnamed }).unwrap();
    let told = report.findings.into_iter().map(|finding| match finding.place {
        FindingPlace::Contract { object, .. } => (object, finding.rule, finding.message),
        other => panic!("{other:?}"),
    });
    told.collect()
}

#[test]
fn every_example_agrees_with_its_description() {
    for name in EXAMPLES {
        let data = open(name);
        // The storage properties state the lengths of unlimited dimensions, and whether the store is a single array.
        for (storage, json) in [(StorageDetail::Brief, false), (StorageDetail::Full, true)] {
            let options = DescribeOptions { values: Some(u64::MAX), storage, json, ..Default::default() };
            let (text, _) = description(&*data, "/", &options);
            let contract = contract(&text).unwrap();
            assert_eq!(found(&*data, &*contract, true), [], "{name}");
            // In the other direction, only the omitted properties differ.
            let back = found(&*contract, &*data, true);
            let others: Vec<_> = back.iter().filter(|(_, rule, _)| !LEFT_OUT.contains(rule)).collect();
            assert!(others.is_empty(), "{name}: {others:?}");
        }
    }
}

/// The rules for properties that descriptions omit: default storage and unreadable objects.
const LEFT_OUT: [&str; 2] = ["against/storage", "against/unreadable"];

/// Copies of the text in which the meaning of one line is changed, each with the number of that line.
fn mutants(text: &str) -> Vec<(usize, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut mutants = Vec::new();
    let mut attributes: Option<usize> = None;
    let mut section = ("", 0);
    for (number, line) in lines.iter().enumerate() {
        let body = line.trim_start();
        let indent = line.len() - body.len();
        if attributes.is_some_and(|at| indent <= at) && !body.is_empty() {
            attributes = None;
        }
        let other = |word: &str| if word == "float64" { "int32" } else { "float64" };
        let changed = if let Some(word) = body.strip_prefix("type: ") {
            word.bytes().all(|byte| byte.is_ascii_alphanumeric()).then(|| format!("type: {}", other(word)))
        } else if let Some(size) = body.strip_prefix("size: ").and_then(|size| size.parse::<u64>().ok()) {
            Some(format!("size: {}", size + 1))
        } else if let Some((rest, size)) = body.strip_prefix("shape: [").and_then(|list| {
            let list = list.strip_suffix(']')?;
            let (rest, size) = list.rsplit_once(", ").unwrap_or(("", list));
            Some((rest, size.parse::<u64>().ok()?))
        }) {
            let rest = if rest.is_empty() { String::new() } else { format!("{rest}, ") };
            Some(format!("shape: [{rest}{}]", size + 1))
        } else if let Some(at) = attributes.filter(|at| indent == at + 2) {
            let _ = at;
            match body.split_once(": ") {
                Some((name, value)) if value.starts_with(|c: char| c.is_ascii_alphabetic()) => {
                    Some(format!("{name}: {value} and more"))
                }
                Some((name, value)) if value.starts_with('{') => Some(format!("zz_{name}: {value}")),
                _ => None,
            }
        } else if body.ends_with(':')
            && ["dimcoords:", "ndarrays:"].contains(&section.0)
            && indent == section.1 + 2
        {
            Some(format!("zz_{body}"))
        } else {
            None
        };
        if body == "attributes:" {
            attributes = Some(indent);
        }
        if SECTIONS.contains(&body) {
            section = (body, indent);
        }
        if let Some(changed) = changed {
            let mut text = String::new();
            for (at, line) in lines.iter().enumerate() {
                let _ = match at == number {
                    true => writeln!(text, "{}{changed}", " ".repeat(indent)),
                    false => writeln!(text, "{line}"),
                };
            }
            mutants.push((number + 1, text));
        }
    }
    mutants
}

const SECTIONS: [&str; 4] = ["dimcoords:", "ndarrays:", "datatypes:", "links:"];

/// The object that a line of a document belongs to, which is the last one that begins before it.
fn owner(contract: &dyn Source, line: usize) -> NodePath {
    let mut places = BTreeMap::new();
    let root = contract.find(&NodePath::root()).unwrap();
    walk(contract, &root.handle, &mut |step| {
        let path = match step {
            Step::Enter(group, _) => &group.path,
            Step::Member(entry) => &entry.handle.path,
            Step::Leave(_) => return Ok(()),
        };
        places.extend(contract.place(path).map(|(line, _)| (line, path.clone())));
        Ok(())
    })
    .unwrap();
    let line = u32::try_from(line).unwrap();
    places.range(..=line).next_back().map_or_else(NodePath::root, |(_, path)| path.clone())
}

#[test]
fn a_wrong_statement_of_a_description_is_reported_at_its_line() {
    let (mut told, mut refused) = (0, 0);
    for name in ["ocean.nc", "nested_groups.nc", "datatypes.h5", "groups_new.h5", "tides.zarr"] {
        let data = open(name);
        let (text, _) = description(&*data, "/", &DescribeOptions::default());
        let mutants = mutants(&text);
        for (line, mutant) in mutants.iter().step_by(mutants.len() / 40 + 1) {
            // A mutant that is not a valid document is rejected without looking at the data.
            let Ok(contract) = contract(mutant) else {
                refused += 1;
                continue;
            };
            let owner = owner(&*contract, *line);
            let found = found(&*data, &*contract, false);
            let named = found.iter().any(|(object, ..)| object.split('@').next() == Some(owner.as_str()));
            let changed = mutant.lines().nth(line - 1).unwrap();
            assert!(named, "{name}:{line}: {changed:?} of {owner} is not found: {found:?}");
            told += 1;
        }
    }
    assert!(told >= 80 && refused < told, "{told} are told, {refused} are none");
}

#[test]
fn properties_that_a_contract_omits_are_not_checked() {
    let data = open("ocean.nc");
    for text in [
        "",
        "ndarrays:\n  salinity: {}\n",
        "dimcoords:\n  time: {size: null}\n  lat: {size: 3}\n",
        "ndarrays:\n  salinity: {type: float32, storage: {filter: [shuffle, deflate]}}\n",
        "/waves: {}\n",
        "attributes:\n  cycle: {shape: [], type: int16, value: 27}\n",
        "ndarrays:\n  salinity: {shape: [null, 5, 3, 8]}\n",
        "ndarrays:\n  salinity: {storage: {zarr: {dimension_names: [a]}}}\n",
    ] {
        let contract = contract(text).unwrap();
        assert_eq!(found(&*data, &*contract, false), [], "{text}");
    }
}

#[test]
fn every_rule_has_data_that_break_it() {
    let ocean = open("ocean.nc");
    let mut broken = BTreeSet::new();
    let mut expect = |data: &dyn Source, text: &str, object: &str, rule: &'static str, message: &str| {
        let contract = contract(text).unwrap();
        let found = found(data, &*contract, rule == "against/unnamed");
        let one = found.iter().find(|(at, of, _)| at == object && *of == rule);
        let one = one.unwrap_or_else(|| panic!("{text}: {found:?}"));
        assert!(one.2.starts_with(message), "{one:?}");
        broken.insert(rule);
    };
    let array = |text: &str| format!("ndarrays:\n  salinity: {text}\n");
    expect(
        &*ocean,
        "ndarrays:\n  sst: {type: int8}\n",
        "/sst",
        "against/missing",
        "is missing, the contract has an ndarray",
    );
    expect(
        &*ocean,
        "ndarrays:\n  lat: {type: float32}\n",
        "/lat",
        "against/kind",
        "a dimcoord, the contract says an ndarray",
    );
    expect(
        &*ocean,
        &array("{type: float64}"),
        "/salinity",
        "against/type",
        "float32, the contract says float64",
    );
    expect(
        &*ocean,
        &array("{shape: [9, 5, 3, 8]}"),
        "/salinity",
        "against/shape",
        "[9/inf, 5, 3, 8], the contract says [9, 5, 3, 8]",
    );
    let renamed =
        "dimcoords:\n  lat: {size: 3}\n  lon: {size: 8}\n  time: {size: null}\n  depth: {size: 5}\n";
    let text = format!("{renamed}{}", array("{shape: [time, depth, lat, 8]}").replace("lat, 8", "3, lon"));
    assert_eq!(found(&*ocean, &*contract(&text).unwrap(), false), []);
    let text = "ndarrays:\n  time_bounds: {shape: [null, /waves/direction]}\n/waves:\n  dimcoords:\n    direction: {size: 6}\n";
    expect(
        &*ocean,
        text,
        "/time_bounds",
        "against/dimension",
        "dimension 1 has /bound, the contract says /waves/direction",
    );
    let text = "dimcoords:\n  lat: {size: 3, type: float32, value: [57.75, 58.0, 58.5]}\n";
    expect(&*ocean, text, "/lat", "against/value", "[2] is 58.25, the contract says 58.5");
    let text = "dimcoords:\n  lat: {size: 3, type: float32, attributes: {units: degrees, zone: 1, axis: {shape: [], type: int8, value: 1}}}\n";
    expect(
        &*ocean,
        text,
        "/lat@units",
        "against/attribute-value",
        "\"degrees_north\", the contract says \"degrees\"",
    );
    expect(&*ocean, text, "/lat@zone", "against/attribute-missing", "is missing, the contract says 1");
    expect(&*ocean, text, "/lat@axis", "against/attribute-type", "string, the contract says int8");
    let text = "attributes:\n  cycle: {shape: [1], type: int16, value: [27]}\n";
    expect(&*ocean, text, "/@cycle", "against/attribute-shape", "[], the contract says [1]");
    let text = array("{storage: {chunk: [9, 5, 3, 8], filter: [{deflate: 4}], endian: big}}");
    expect(
        &*ocean,
        &text,
        "/salinity",
        "against/storage",
        "chunk [9, 1, 3, 8], the contract says [9, 5, 3, 8]",
    );
    let links = contract("links:\n  far: {soft: /near}\n").unwrap();
    let text = "links:\n  far: {soft: /else}\n";
    let message = "a soft link to /near, the contract says a soft link to /else";
    expect(&*links, text, "/far", "against/link", message);
    let tides = open("tides.zarr");
    let broken_object = contract("ndarrays:\n  x: {x-error: its header is gone}\n").unwrap();
    expect(&*broken_object, "ndarrays:\n  x: {type: int8}\n", "/x", "against/unreadable", "cannot be read: ");
    expect(
        &*tides,
        "attributes: {}\n",
        "/level",
        "against/unnamed",
        "an ndarray that the contract does not name",
    );
    let never: Vec<_> =
        AGAINST_RULES.iter().map(|rule| rule.name).filter(|name| !broken.contains(name)).collect();
    assert_eq!(never, [""; 0]);
}

/// Checks the table in `docs/check-against.md`. `UPDATE_GOLDEN=1` rewrites it.
#[test]
fn rules_are_documented() {
    let path = path("../docs/check-against.md");
    let text = std::fs::read_to_string(&path).unwrap().replace('\r', "");
    let (head, _) = text.split_once("\n| rule |").unwrap();
    let mut written = format!("{head}\n| rule | severity | what breaks it |\n|---|---|---|\n");
    for rule in AGAINST_RULES {
        let name = rule.name.strip_prefix("against/").unwrap();
        written += &format!("| `{name}` | {} | {} |\n", rule.severity, rule.explanation);
    }
    match std::env::var_os("UPDATE_GOLDEN") {
        Some(_) => std::fs::write(path, &written).unwrap(),
        None => assert_eq!(text, written),
    }
}
