//! Mutants of NDL documents, changed in their bytes or in the content that the bytes represent.

use crate::generator::Document;
use crate::mutate::Random;
use crate::text::{Vocabulary, damage, edit};
use hyperslab::TARGETS;
use hyperslab::ndl::{Format, ParseOptions, parse};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use trials::Outcome;
use trials::ndl::everything;

/// A valid document.
pub struct Base {
    name: String,
    text: String,
}

/// A mutant, identified by its base and seed.
#[derive(Clone, Copy)]
pub struct Case {
    base: usize,
    seed: u64,
}

/// Random documents, alternately in YAML and JSON.
const RANDOM: u64 = 40;

/// The documents of the project as YAML and JSON, the examples in the guide to the language, and random documents.
pub fn bases() -> Vec<Base> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut paths = Vec::new();
    for folder in ["examples", "crates/ndl/tests/golden", "crates/cli/tests/golden"] {
        let entries = fs::read_dir(root.join(folder)).into_iter().flatten().flatten();
        paths.extend(entries.map(|entry| entry.path()).filter(|path| is_document(path)));
    }
    paths.sort();
    let read = |path: PathBuf| {
        let name = path.strip_prefix(&root).unwrap_or(&path).display().to_string();
        Some(Base { name, text: fs::read_to_string(path).ok()? })
    };
    let mut bases: Vec<Base> = paths.into_iter().filter_map(read).collect();
    let guide = fs::read_to_string(root.join("docs/ndl.md")).unwrap_or_default();
    let blocks = guide.split("```yaml\n").skip(1).filter_map(|rest| rest.split_once("```"));
    bases.extend(blocks.enumerate().map(|(number, (text, _))| Base {
        name: format!("example {number} of docs/ndl.md"),
        text: text.to_owned(),
    }));
    // Some examples demonstrate mistakes.
    bases.retain(|base| !parse(base.text.as_bytes(), &ParseOptions::default()).has_errors());
    bases.extend((0..RANDOM).map(|seed| Base {
        name: format!("random document {seed}"),
        text: Document::new(seed).text(if seed % 2 == 0 { Format::Yaml } else { Format::Json }),
    }));
    bases
}

fn is_document(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "yaml" || extension == "json")
}

/// This number of mutants, of all documents in turn; the first of each is the original.
pub fn cases(bases: &[Base], count: usize) -> Vec<Case> {
    (0..count).map(|index| Case { base: index % bases.len(), seed: (index / bases.len()) as u64 }).collect()
}

impl Case {
    pub fn name(&self, bases: &[Base]) -> String {
        format!("{} mutant {}", bases[self.base].name, self.seed)
    }

    pub fn text(&self, bases: &[Base]) -> Vec<u8> {
        let mut text = bases[self.base].text.clone().into_bytes();
        let mut random = Random::new(self.seed.wrapping_mul(0x1_0001).wrapping_add(self.base as u64));
        if self.seed > 0 {
            for _ in 0..=random.below(6) / 3 {
                change(&mut text, &mut random);
            }
        }
        text
    }

    /// Reads the document, and creates a store of one of the formats in a folder.
    pub fn run(&self, bases: &[Base], folder: &Path) -> Outcome {
        let text = self.text(bases);
        let format = TARGETS[(self.base + usize::try_from(self.seed).unwrap_or(0)) % TARGETS.len()];
        let folder = folder.join(format!("{}-{}", self.base, self.seed));
        fs::create_dir_all(&folder).expect("the folder of a case can be made");
        let outcome = everything(text, &folder.join("store"), format);
        // If a case fails, its folder is removed together with all others.
        let _ = fs::remove_dir_all(&folder);
        assert!(self.seed > 0 || outcome == Outcome::Described, "a sound document is refused");
        outcome
    }
}

/// Changes a document: its bytes, its words, its values, or its lines.
fn change(text: &mut Vec<u8>, random: &mut Random) {
    match random.below(16) {
        0 => damage(text, random),
        1 | 2 => edit(text, &VOCABULARY, random),
        3 => swap(text, random),
        4..7 => replace(text, random),
        7..12 => number(text, random),
        12 => anchor(text, random),
        _ => lines(text, random),
    }
}

/// The positions of scalars that are not keys, without their quotes.
fn scalars(text: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let start = at + text[at..].iter().take_while(|byte| b" :,[{-\n\"]}".contains(byte)).count();
        let len = text[start..].iter().take_while(|byte| !b":,[{\n\"]}".contains(byte)).count();
        let is_key = text[start + len..].iter().find(|byte| **byte != b'"') == Some(&b':');
        if len > 0 && !is_key {
            found.push(start..start + len);
        }
        at = start + len.max(1);
    }
    found
}

fn scalar(text: &[u8], random: &mut Random) -> Option<Range<usize>> {
    let found = scalars(text);
    found.get(random.below(found.len())).cloned()
}

/// Swaps two scalars.
fn swap(text: &mut Vec<u8>, random: &mut Random) {
    let (Some(one), Some(other)) = (scalar(text, random), scalar(text, random)) else { return };
    let (first, second) = if one.start < other.start { (one, other) } else { (other, one) };
    if first.end > second.start {
        return;
    }
    let (a, b) = (text[first.clone()].to_vec(), text[second.clone()].to_vec());
    text.splice(second, a);
    text.splice(first, b);
}

/// Replaces a number with another.
fn number(text: &mut Vec<u8>, random: &mut Random) {
    let is_number = |place: &Range<usize>| text[place.start].is_ascii_digit();
    let numbers: Vec<_> = scalars(text).into_iter().filter(is_number).collect();
    if let Some(place) = numbers.get(random.below(numbers.len())) {
        let new = NUMBERS[random.below(NUMBERS.len())];
        text.splice(place.clone(), new.bytes());
    }
}

/// Replaces a scalar with a value of another type, a huge number, a long text, or many levels or copies of itself.
fn replace(text: &mut Vec<u8>, random: &mut Random) {
    let Some(place) = scalar(text, random) else { return };
    let old = String::from_utf8_lossy(&text[place.clone()]).into_owned();
    let new = match random.below(8) {
        0 => {
            let depth = [2, 40, 126, 10_000][random.below(4)];
            let (open, close) = [("[", "]"), ("{a: ", "}"), ("{\"a\": ", "}")][random.below(3)];
            format!("{}{old}{}", open.repeat(depth), close.repeat(depth))
        }
        1 => {
            let count = [2, 100, 10_000][random.below(3)].min(LONGEST / (old.len() + 2));
            format!("[{}]", vec![old; count].join(", "))
        }
        2 => [r#""LONG""#, "LONG", "0xLONG"][random.below(3)].replace("LONG", &"f".repeat(100_000)),
        3 => NUMBERS[random.below(NUMBERS.len())].to_owned(),
        _ => VALUES[random.below(VALUES.len())].to_owned(),
    };
    text.splice(place, new.into_bytes());
}

/// Gives a value an anchor, and refers to it elsewhere: as a value, in a list of many, or as a merge key.
fn anchor(text: &mut Vec<u8>, random: &mut Random) {
    let (Some(one), Some(other)) = (scalar(text, random), scalar(text, random)) else { return };
    let alias = match random.below(4) {
        0 => format!("[{}]", vec!["*a"; 1000].join(", ")),
        1 => "{<<: *a}".to_owned(),
        _ => "*a".to_owned(),
    };
    // The later position first, because it moves when the earlier one changes.
    let (is_anchor_first, first, second) =
        if one.start < other.start { (true, one, other) } else { (false, other, one) };
    let anchored = |place: Range<usize>, text: &mut Vec<u8>| {
        text.splice(place.start..place.start, b"&a ".iter().copied());
    };
    if is_anchor_first {
        text.splice(second, alias.into_bytes());
        anchored(first, text);
    } else {
        anchored(second, text);
        text.splice(first, alias.into_bytes());
    }
}

/// Removes, repeats, moves or indents a line, alone or with the lines that belong to it.
fn lines(text: &mut Vec<u8>, random: &mut Random) {
    let mut lines: Vec<Vec<u8>> = text.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    if lines.is_empty() {
        return;
    }
    let indent = |line: &[u8]| line.iter().take_while(|byte| **byte == b' ').count();
    let at = random.below(lines.len());
    let end = match random.below(2) {
        0 => at + 1,
        _ => {
            let own = indent(&lines[at]);
            let below = lines[at + 1..].iter().take_while(|line| indent(line) > own).count();
            at + 1 + below
        }
    };
    let block = lines[at..end].to_vec();
    let other = random.below(lines.len());
    match random.below(5) {
        0 => drop(lines.drain(at..end)),
        1 => drop(lines.splice(other..other, block)),
        2 => {
            lines.drain(at..end);
            let to = other.min(lines.len());
            lines.splice(to..to, block);
        }
        3 => {
            // A copy becomes a member of another object.
            let wanted = indent(&lines[other]);
            let copy = block.iter().map(|line| {
                let rest = line.get(indent(&block[0])..).unwrap_or_default();
                [vec![b' '; wanted].as_slice(), rest].concat()
            });
            let copy: Vec<_> = copy.collect();
            lines.splice(other..other, copy);
        }
        _ => {
            let spaces = [1, 2, 7][random.below(3)];
            for line in &mut lines[at..end] {
                if random.below(2) == 0 {
                    line.splice(0..0, vec![b' '; spaces]);
                } else {
                    drop(line.drain(..spaces.min(indent(line))));
                }
            }
        }
    }
    *text = lines.concat();
}

/// The maximum length in bytes of a repeated value.
const LONGEST: usize = 200_000;

const VOCABULARY: Vocabulary = Vocabulary { numbers: NUMBERS, words: WORDS };

const NUMBERS: &[&str] = &[
    "0",
    "1",
    "2",
    "-1",
    "1.5",
    "64",
    "1000",
    "65536",
    "1048576",
    "100000000",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "1099511627776",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "340282366920938463463374607431768211456",
    "1e400",
    "1e-400",
    "0x7fffffffffffffffff",
    ".inf",
    ".nan",
    "NaN",
];

const VALUES: &[&str] = &[
    "null",
    "~",
    "true",
    "[]",
    "{}",
    "\"\"",
    "''",
    "\"0x00\"",
    "\"0xff\"",
    "!!binary gA==",
    "!!str 1",
    "!!float 1",
    "!!null x",
    "*nowhere",
    "&a x",
    "|",
    "2026-02-30T25:61:61Z",
    "2026-02-01",
    "/",
    "/a/b",
    "../x",
    "[1, [2, 3], {a: 1}]",
    "[null, 1, \"x\"]",
    "[[], []]",
    "{shape: [2], type: int8, value: [1, 2]}",
    "{size: 4, type: float64}",
    "{compound: [a: int8, b: string]}",
    "{vlen: {base: string}}",
    "{array: {base: int8, shape: [1048576]}}",
    "{opaque: {size: 1000000}}",
    "{enum: {base: int8, members: {a: 1, b: 1}}}",
    "{nullable: {base: int8}}",
    "{length: 1000000}",
    "{target: /a, start: [0], opposite: [3]}",
    "{chunk: [1]}",
    "{chunk: [1099511627776], fillvalue: 7}",
    "{filter: [shuffle, {deflate: 99}, {zstd: -999}, unknown]}",
    "\"\\u0000\"",
    "\"\\ud800\"",
    "\u{feff}x",
    "\u{202e}x",
];

const WORDS: &[&str] = &[
    "shape",
    "type",
    "value",
    "size",
    "storage",
    "chunk",
    "shard",
    "filter",
    "fillvalue",
    "length",
    "attributes",
    "dimcoords",
    "ndarrays",
    "datatypes",
    "links",
    "groups",
    "cells",
    "hdf5",
    "netcdf",
    "zarr",
    "int8",
    "uint64",
    "float16",
    "float32",
    "float64",
    "bfloat16",
    "complex64",
    "bool",
    "char",
    "string",
    "time",
    "duration",
    "bitfield",
    "objref",
    "regref",
    "compound",
    "enum",
    "opaque",
    "vlen",
    "array",
    "nullable",
    "base",
    "members",
    "target",
    "start",
    "opposite",
    "deflate",
    "zstd",
    "blosc",
    "shuffle",
    "scaleoffset",
    "szip",
    "quantize",
    "little",
    "big",
    "null",
    "unlimited",
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn sound_documents_are_read() {
        let bases = bases();
        let folder = std::env::temp_dir().join(format!("hyperslab-documents-{}", std::process::id()));
        for base in 0..bases.len() {
            assert_eq!(
                Case { base, seed: 0 }.run(&bases, &folder),
                Outcome::Described,
                "{}",
                bases[base].name
            );
        }
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn mutants_differ_and_depend_on_nothing_but_the_seed() {
        let bases = bases();
        let mutant = |seed| Case { base: 0, seed }.text(&bases);
        assert_eq!(mutant(7), mutant(7));
        let different: HashSet<_> = (0..100).map(mutant).collect();
        assert!(different.len() > 90, "{}", different.len());
    }

    #[test]
    fn scalars_are_values_and_no_keys() {
        let text = b"a:\n  b: {c: [1, two], d: \"x y\"}\n  - e\n";
        let found = scalars(text).into_iter().map(|place| String::from_utf8_lossy(&text[place]));
        assert_eq!(found.collect::<Vec<_>>(), ["1", "two", "x y", "e"]);
    }
}
