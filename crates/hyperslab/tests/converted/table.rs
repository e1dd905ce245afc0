//! Writes and checks the tables in `docs/formats.md`, which are generated from the tables of the formats.

use hyperslab::target::{Fate, Loss, Lowered, TargetFormat};
use hyperslab::{FORMATS, TARGETS};
use std::fmt::Write;

/// `UPDATE_GOLDEN=1` rewrites the page.
#[test]
fn formats_are_documented() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/formats.md");
    let text = std::fs::read_to_string(path).unwrap().replace('\r', "");
    let (head, _) = text.split_once("\n| format |").unwrap();
    let written = format!("{head}\n{}", tables());
    match std::env::var_os("UPDATE_GOLDEN") {
        Some(_) => std::fs::write(path, &written).unwrap(),
        None => assert_eq!(text, written, "UPDATE_GOLDEN=1 writes the page"),
    }
}

fn tables() -> String {
    let mut out = "| format | read | written as | suffixes of targets |\n|---|---|---|---|\n".to_owned();
    let mut written = Vec::new();
    for format in FORMATS {
        let of = |target: &&&dyn TargetFormat| read_as(target.name()).starts_with(format.name());
        let targets: Vec<_> = TARGETS.iter().filter(of).collect();
        written.extend(targets.iter().map(|target| target.name()));
        let list = |of: Vec<String>| if of.is_empty() { "no".to_owned() } else { of.join(", ") };
        let names = targets.iter().map(|target| {
            let aliases: Vec<_> = target.aliases().iter().map(|alias| format!(" (`{alias}`)")).collect();
            format!("`{}`{}", target.name(), aliases.concat())
        });
        let suffixes =
            targets.iter().flat_map(|target| target.suffixes()).map(|suffix| format!("`{suffix}`"));
        let (names, suffixes) = (names.collect(), suffixes.collect::<Vec<_>>().join(" "));
        writeln!(out, "| {} | yes | {} | {suffixes} |", format.name(), list(names)).unwrap();
    }
    assert_eq!(written.len(), TARGETS.len(), "each target belongs to a format");
    for target in TARGETS {
        write!(out, "\n## Content that {} changes or loses\n\n", target.name()).unwrap();
        out += "| content | becomes | fate | without records |\n|---|---|---|---|\n";
        for lowered in target.lowerings() {
            let without = match lowered.without_record {
                Some(instead) if instead.becomes == lowered.becomes => instead.fate.to_string(),
                Some(instead) => format!("{}: {}", instead.fate, instead.becomes),
                None => "the same".to_owned(),
            };
            writeln!(out, "| {} | {} | {} | {without} |", lowered.what, lowered.becomes, lowered.fate)
                .unwrap();
        }
    }
    out += "\n## Kinds of losses\n\nThis table lists everything that a conversion can lose. Other content that a format cannot store is an error.\n\n| kind |";
    let names: Vec<_> = TARGETS.iter().map(|target| target.name()).collect();
    writeln!(out, " {} |\n|---|{}", names.join(" | "), "---|".repeat(names.len())).unwrap();
    for loss in Loss::ALL {
        let of = |target: &&dyn TargetFormat| {
            let is_lost = |of: &Lowered| of.fate == Fate::Lost(loss);
            let lost = target.lowerings().iter().filter(|lowered| is_lost(lowered));
            let mut lost: Vec<_> = lost.map(|lowered| lowered.what).collect();
            let unrecorded = target.lowerings().iter();
            let unrecorded = unrecorded.filter(|lowered| lowered.without_record.is_some_and(is_lost));
            let unrecorded: Vec<_> = unrecorded.map(|lowered| lowered.what).collect();
            let unrecorded = unrecorded.join(", ");
            let unrecorded = format!("without records: {unrecorded}");
            lost.extend(match loss {
                Loss::Unreadable => Some("all content of the source that cannot be read"),
                Loss::Encryption => Some(match target.key_option() {
                    Some(_) => "encryption, if the target has no key",
                    None => "encryption",
                }),
                Loss::References => Some("references to objects outside the converted part"),
                Loss::Names => Some("names of dimensions that cannot be read"),
                Loss::Links => Some("second paths of objects outside the converted part"),
                Loss::Types => {
                    Some("arrays whose elements have no bytes or whose fill value cannot be written")
                }
                _ => None,
            });
            if unrecorded != "without records: " {
                lost.push(&unrecorded);
            }
            if lost.is_empty() { "nothing".to_owned() } else { lost.join("; ") }
        };
        let cells: Vec<_> = TARGETS.iter().map(of).collect();
        writeln!(out, "| `{loss}` | {} |", cells.join(" | ")).unwrap();
    }
    out
}

/// The name of the format that reads the files of a target.
fn read_as(target: &str) -> &str {
    if target.starts_with("netcdf4") { "hdf5" } else { target }
}
