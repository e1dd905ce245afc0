//! Faults in otherwise sound files are found at the right byte, and sound files have no findings.
//!
//! `data/check/faults.txt` has one fault per line. `data/check/make_fixtures.py` makes the files named there.

use crate::{bytes, path};
use bytes::Bytes;
use hyperslab_core::storage::FileStorage;
use hyperslab_core::{Limits, Severity};
use hyperslab_hdf5::check::{Extent, Finding, Options, RULES, Summary, check, check_and_map};
use hyperslab_hdf5::format::checksum::lookup3;
use std::collections::{BTreeSet, HashSet};

fn options() -> Options {
    Options { values: true, ..Options::default() }
}

fn findings(file: Vec<u8>) -> (Vec<Finding>, Summary) {
    let mut found = Vec::new();
    let storage = Box::new(Bytes::from(file));
    let summary = check(storage, Limits::default(), &options(), &mut |finding| found.push(finding)).unwrap();
    (found, summary)
}

/// All extents of a file, in order.
fn map(file: &[u8]) -> Vec<Extent> {
    let mut extents = Vec::new();
    let storage = Box::new(Bytes::copy_from_slice(file));
    let (mut ignore, mut keep) = (|_| {}, |extent| extents.push(extent));
    check_and_map(storage, Limits::default(), &options(), &mut ignore, &mut keep).unwrap();
    extents.sort_by_key(|extent| (extent.byte, extent.len));
    extents.dedup_by_key(|extent| (extent.byte, extent.len, extent.structure));
    extents
}

/// One line of the table.
struct Fault<'a> {
    line: &'a str,
    file: &'a str,
    place: Place<'a>,
    change: &'a str,
    repaired: bool,
    rule: &'a str,
    found: Found<'a>,
}

/// A byte of the file: the name of a structure, its index among the structures of that name, and an offset within it.
#[derive(Clone, Copy)]
struct Place<'a> {
    structure: &'a str,
    number: usize,
    offset: u64,
}

enum Found<'a> {
    Place(Place<'a>),
    Same,
}

impl<'a> Fault<'a> {
    /// `file | structure #number +offset | bytes | repaired or - | rule | structure #number +offset, or =`
    fn parse(line: &'a str) -> Self {
        let fields: Vec<&str> = line.split('|').map(str::trim).collect();
        let [file, place, change, repaired, rule, found] = fields[..] else { panic!("{line}") };
        let found = if found == "=" { Found::Same } else { Found::Place(Place::parse(found)) };
        Fault {
            line,
            file,
            place: Place::parse(place),
            change,
            repaired: repaired == "repaired",
            rule,
            found,
        }
    }

    fn apply(&self, file: &mut Vec<u8>, extents: &[Extent]) -> usize {
        let (at, sound) = (self.place.byte(extents), file.clone());
        if self.change == "cut" {
            file.truncate(at);
            return at;
        }
        if let Some(bits) = self.change.strip_prefix('^') {
            file[at] ^= u8::from_str_radix(bits, 16).unwrap();
        } else {
            let hex: Vec<char> = self.change.chars().filter(|c| *c != ' ').collect();
            for (place, pair) in hex.chunks(2).enumerate() {
                let digits: String = pair.iter().collect();
                file[at + place] = u8::from_str_radix(&digits, 16).unwrap();
            }
        }
        if self.repaired {
            repair(file, &sound, extents, at);
        }
        at
    }
}

impl<'a> Place<'a> {
    fn parse(text: &'a str) -> Self {
        let (text, offset) = text.rsplit_once(" +").unwrap_or((text, "0"));
        let (structure, number) = text.rsplit_once(" #").unwrap_or((text, "0"));
        Place { structure, number: number.parse().unwrap(), offset: offset.parse().unwrap() }
    }

    fn byte(&self, extents: &[Extent]) -> usize {
        let mut named =
            extents.iter().filter(|extent| extent.structure == self.structure && !extent.is_spare);
        let extent =
            named.nth(self.number).unwrap_or_else(|| panic!("no {} #{}", self.structure, self.number));
        usize::try_from(extent.byte + self.offset).unwrap()
    }
}

/// Corrects the checksum of the structure that contains a byte.
fn repair(file: &mut [u8], sound: &[u8], extents: &[Extent], at: usize) {
    let holds = |extent: &&Extent| {
        let start = usize::try_from(extent.byte).unwrap();
        !extent.is_part
            && !extent.is_spare
            && (start..start + usize::try_from(extent.len).unwrap()).contains(&at)
    };
    let extent = extents.iter().find(holds).unwrap();
    let start = usize::try_from(extent.byte).unwrap();
    let end = start + usize::try_from(extent.len).unwrap();
    if extent.structure == "Fractal Heap Direct Block" {
        // After the signature, the version, the address of the header and an offset of 4 or 5 bytes.
        let sum_of = |block: &[u8], sum: usize| {
            let mut block = block.to_vec();
            block[sum..sum + 4].fill(0);
            lookup3(&block).to_le_bytes()
        };
        let sum = [17, 18]
            .into_iter()
            .find(|sum| sum_of(&sound[start..end], *sum) == sound[start + sum..start + sum + 4]);
        let sum = sum.unwrap();
        let computed = sum_of(&file[start..end], sum);
        file[start + sum..start + sum + 4].copy_from_slice(&computed);
        return;
    }
    let computed = lookup3(&file[start..end - 4]);
    file[end - 4..end].copy_from_slice(&computed.to_le_bytes());
}

fn faults(table: &str) -> Vec<Fault<'_>> {
    table.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).map(Fault::parse).collect()
}

#[test]
fn finds_each_seeded_fault_at_its_byte() {
    let table = String::from_utf8(bytes("data/check/faults.txt")).unwrap();
    let mut missed = Vec::new();
    for fault in faults(&table) {
        let sound = bytes(&format!("data/check/{}", fault.file));
        let extents = map(&sound);
        let mut file = sound.clone();
        let at = fault.apply(&mut file, &extents);
        let wanted = match fault.found {
            Found::Same => at,
            Found::Place(place) => place.byte(&extents),
        };
        let wanted = Some(u64::try_from(wanted).unwrap());
        let (found, _) = findings(file);
        if !found.iter().any(|finding| finding.rule == fault.rule && finding.byte == wanted) {
            let others: Vec<String> = found
                .iter()
                .filter(|finding| finding.severity < Severity::Note)
                .map(|finding| {
                    format!("{} at {:#x?}: {}", finding.rule, finding.byte.unwrap_or(0), finding.message)
                })
                .collect();
            missed
                .push(format!("{}\n    changed {at:#x}, wanted {wanted:#x?}, found {others:#?}", fault.line));
        }
    }
    assert!(missed.is_empty(), "{} missed:\n{}", missed.len(), missed.join("\n"));
}

#[test]
fn the_table_has_many_faults_of_every_kind() {
    let table = String::from_utf8(bytes("data/check/faults.txt")).unwrap();
    let faults = faults(&table);
    let places: BTreeSet<(&str, &str, u64)> =
        faults.iter().map(|fault| (fault.place.structure, fault.rule, fault.place.offset)).collect();
    assert!(places.len() >= 60, "{}", places.len());
    let known: HashSet<&str> = RULES.iter().map(|rule| rule.name).collect();
    let seeded: HashSet<&str> = faults.iter().map(|fault| fault.rule).collect();
    assert!(seeded.is_subset(&known), "{:?}", seeded.difference(&known));
}

#[test]
fn sound_files_have_no_errors() {
    let mut names: Vec<String> = Vec::new();
    for folder in ["data/check/", "data/", ""] {
        for entry in std::fs::read_dir(path(folder)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let is_one = name.ends_with(".h5") || name.ends_with(".nc");
            // A file with one of these names is only one member of a split file.
            if is_one && !name.starts_with("family") && !name.starts_with("split") {
                names.push(format!("{folder}{name}"));
            }
        }
    }
    assert!(names.len() > 10);
    for name in names {
        let bytes = bytes(&name);
        if bytes.starts_with(b"CDF") {
            // A NetCDF classic file, which has the same suffix.
            continue;
        }
        let (found, summary) = findings(bytes);
        let errors: Vec<&Finding> =
            found.iter().filter(|finding| finding.severity == Severity::Error).collect();
        assert!(errors.is_empty(), "{name}: {errors:#?}");
        assert!(summary.objects > 0, "{name}");
    }
}

#[test]
fn every_byte_belongs_to_a_structure_or_is_reported() {
    for name in ["old.h5", "new.h5", "nested.h5", "filtered.h5", "shared_list.h5", "space.h5"] {
        let file = bytes(&format!("data/check/{name}"));
        let (found, summary) = findings(file.clone());
        let mut owned = vec![false; file.len()];
        for extent in map(&file) {
            let start = usize::try_from(extent.byte).unwrap();
            let end = start + usize::try_from(extent.len).unwrap();
            owned[start..end.min(file.len())].fill(true);
        }
        let mut noted = 0;
        for gap in found.iter().filter(|finding| finding.rule == "hdf5/unaccounted") {
            let start = usize::try_from(gap.byte.unwrap()).unwrap();
            let end = start + usize::try_from(gap.len.unwrap()).unwrap();
            assert!(owned[start..end].iter().all(|owned| !owned), "{name}: {gap:?}");
            owned[start..end].fill(true);
            noted += gap.len.unwrap();
        }
        assert!(owned.iter().all(|owned| *owned), "{name}");
        assert_eq!(summary.unaccounted, Some(noted), "{name}");
    }
}

#[test]
fn reports_checks_that_need_more_memory_than_allowed() {
    let limits = Limits { allocation: 16, ..Limits::default() };
    let mut found = Vec::new();
    let storage = Box::new(Bytes::from(bytes("data/check/new.h5")));
    check(storage, limits, &options(), &mut |finding| found.push(finding)).unwrap();
    assert!(found.iter().any(|finding| finding.rule == "hdf5/limit"));
    assert!(found.iter().all(|finding| finding.severity > Severity::Error), "{found:#?}");
}

#[test]
fn names_missing_external_files() {
    let storage = Box::new(FileStorage::open(path("data/check/old.h5")).unwrap());
    let mut found = Vec::new();
    check(storage, Limits::default(), &options(), &mut |finding| found.push(finding)).unwrap();
    let missing: Vec<&Finding> = found.iter().filter(|finding| finding.rule == "hdf5/missing-file").collect();
    assert_eq!(missing.len(), 1);
    assert_eq!(missing[0].object.as_deref(), Some("/outside"));
    assert!(missing[0].message.contains("elsewhere.raw"));
}

#[test]
fn names_external_files_that_end_too_early() {
    let storage = Box::new(FileStorage::open(path("data/external/external.h5")).unwrap());
    let mut found = Vec::new();
    check(storage, Limits::default(), &options(), &mut |finding| found.push(finding)).unwrap();
    found.retain(|finding: &Finding| finding.rule == "hdf5/short-file");
    let mut short: Vec<_> =
        found.iter().map(|finding| (finding.object.as_deref(), finding.message.as_str())).collect();
    short.sort_unstable();
    let expected = [
        (Some("/endless"), "16 bytes of elements in the file \"b.raw\", expected 40"),
        (Some("/two"), "14 bytes of elements in the file \"b.raw\", expected 26"),
    ];
    assert_eq!(short, expected);
}

/// After the first 1,000 files, a single finding reports that no further files are looked for.
#[test]
fn says_that_further_files_are_not_looked_for() {
    let storage = Box::new(FileStorage::open(path("data/external/many.h5")).unwrap());
    let options = Options { max_per_rule: u64::MAX, ..options() };
    let mut found = Vec::new();
    check(storage, Limits::default(), &options, &mut |finding| found.push(finding)).unwrap();
    let of = |rule: &str| found.iter().filter(|finding| finding.rule == rule).count();
    assert_eq!((of("hdf5/missing-file"), of("hdf5/limit")), (1000, 1));
}

#[test]
fn findings_beyond_the_maximum_per_rule_are_counted() {
    let file = bytes("data/check/nested.h5");
    let options = Options { max_per_rule: 3, ..Options::default() };
    let mut given = 0;
    let storage = Box::new(Bytes::from(file));
    let summary = check(storage, Limits::default(), &options, &mut |_| given += 1).unwrap();
    assert_eq!((given, summary.count(Severity::Note)), (3, 150));
}

#[test]
fn one_fault_does_not_hide_another() {
    let sound = bytes("data/check/old.h5");
    let extents = map(&sound);
    let mut file = sound.clone();
    for line in [
        "old.h5 | Local Heap #1 +4 | 09 | - | hdf5/unknown-version | =",
        "old.h5 | chunk #0 +1 | ^40 | - | hdf5/chunk-checksum | =",
        "old.h5 | Dataspace message #0 | 07 | - | hdf5/unknown-version | =",
    ] {
        Fault::parse(line).apply(&mut file, &extents);
    }
    let (found, _) = findings(file);
    let errors: HashSet<&str> =
        found.iter().filter(|f| f.severity == Severity::Error).map(|finding| finding.structure).collect();
    assert!(errors.is_superset(&HashSet::from(["Local Heap", "Dataspace message"])), "{errors:?}");
}

#[test]
fn wrong_bytes_anywhere_never_panic() {
    for name in
        ["new.h5", "old.h5", "filtered.h5", "shared_tree.h5", "shared_list.h5", "space.h5", "nested.h5"]
    {
        let mut file = bytes(&format!("data/check/{name}"));
        let step = (file.len() / 150).max(1);
        for at in (0..file.len()).step_by(step) {
            let before = file[at];
            for wrong in [0, 0xff, before ^ 1] {
                file[at] = wrong;
                findings(file.clone());
            }
            file[at] = before;
        }
        for cut in (0..file.len()).step_by(step * 3) {
            findings(file[..cut].to_vec());
        }
    }
}
