//! Mutants of Zarr stores: of their documents, chunks, keys and zip files.

use crate::mutate::Random;
use crate::text::{Vocabulary, damage, edit};
use crate::zip::zip as pack;
use hyperslab_core::Limits;
use hyperslab_core::store::{Key, MemoryStore};
use hyperslab_zarr::json::Json;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use trials::Outcome;
use trials::zarr::{everything, zip};

/// A valid store.
pub struct Base {
    name: String,
    values: Values,
}

type Values = BTreeMap<String, Vec<u8>>;

/// A mutant, identified by its base and seed.
#[derive(Clone, Copy)]
pub struct Case {
    base: usize,
    seed: u64,
}

/// The stores of the tests of the Zarr crate, individually and all in one hierarchy with consolidated metadata.
pub fn bases() -> Vec<Base> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates/zarr/tests/fixtures/arrays.json");
    let text = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let json = Json::parse("fixtures", &text, &Limits::default()).expect("the fixtures are JSON");
    let Json::Array(arrays) = json else { panic!("the fixtures are a list") };
    let mut bases: Vec<Base> = arrays.iter().filter_map(base).collect();
    bases.push(hierarchy(&bases, 3));
    bases.push(hierarchy(&bases, 2));
    bases
}

fn base(json: &Json) -> Option<Base> {
    let object = json.as_object()?;
    let values = object.get("values")?.as_object()?.iter();
    let values = values.map(|(key, hex)| Some((key.to_owned(), bytes(hex.as_str()?)?)));
    Some(Base { name: object.get("name")?.as_str()?.to_owned(), values: values.collect::<Option<_>>()? })
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok()).collect()
}

fn hierarchy(bases: &[Base], version: u8) -> Base {
    let (document, array) = if version == 3 { ("zarr.json", "zarr.json") } else { (".zgroup", ".zarray") };
    let group = match version {
        3 => r#"{"zarr_format":3,"node_type":"group","attributes":{"title":"all"}}"#,
        _ => r#"{"zarr_format":2}"#,
    };
    let mut values = Values::new();
    values.insert(format!("inner/{document}"), group.as_bytes().to_vec());
    let mut copies = vec![match version {
        3 => format!(r#""inner":{group}"#),
        _ => format!(r#"".zgroup":{group},"inner/.zgroup":{group}"#),
    }];
    for (number, base) in bases.iter().filter(|base| base.values.contains_key(array)).enumerate().step_by(3) {
        for (key, value) in &base.values {
            values.insert(format!("inner/a{number}/{key}"), value.clone());
            if key == array || key == ".zattrs" {
                let path = if version == 3 { String::new() } else { format!("/{key}") };
                let text = String::from_utf8_lossy(value);
                copies.push(format!(r#""inner/a{number}{path}":{text}"#));
            }
        }
    }
    let copies = copies.join(",");
    if version == 3 {
        let members = format!(r#""kind":"inline","must_understand":false,"metadata":{{{copies}}}"#);
        let root = group.replace(
            "{\"title\"",
            &format!(
                "{{}},\"consolidated_metadata\":{{{members}}},\"x\":{{\"must_understand\":false,\"title\""
            ),
        );
        values.insert(document.to_owned(), root.into_bytes());
    } else {
        values.insert(document.to_owned(), group.as_bytes().to_vec());
        let text = format!(r#"{{"zarr_consolidated_format":1,"metadata":{{{copies}}}}}"#);
        values.insert(".zmetadata".to_owned(), text.into_bytes());
    }
    Base { name: format!("hierarchy of version {version}"), values }
}

/// This number of mutants, of all stores in turn; the first of each is the original.
pub fn cases(bases: &[Base], count: usize) -> Vec<Case> {
    (0..count).map(|index| Case { base: index % bases.len(), seed: (index / bases.len()) as u64 }).collect()
}

impl Case {
    pub fn name(&self, bases: &[Base]) -> String {
        format!("{} mutant {}", bases[self.base].name, self.seed)
    }

    pub fn run(&self, bases: &[Base]) -> Outcome {
        let mut values = bases[self.base].values.clone();
        let mut random = Random::new(self.seed.wrapping_mul(0x1_0001).wrapping_add(self.base as u64));
        let is_zip = self.seed % 4 == 3;
        if self.seed > 0 {
            // Either the zip file itself is damaged, or it is packed from damaged values.
            let changes = if is_zip && random.below(3) > 0 { 0 } else { 1 + random.below(3) };
            for _ in 0..changes {
                change(&mut values, &mut random);
            }
            if is_zip {
                let mut file = pack(values.iter().map(|(name, value)| (name.as_str(), value.as_slice())));
                for _ in 0..random.below(6) {
                    damage(&mut file, &mut random);
                }
                return zip(file);
            }
        }
        let mut store = MemoryStore::new();
        for (key, value) in values {
            if let Ok(key) = Key::new(&key) {
                store.insert(&key, value);
            }
        }
        let outcome = everything(Arc::new(store));
        assert!(self.seed > 0 || outcome == Outcome::Described, "a sound store is refused");
        outcome
    }
}

/// Changes a value or a key. Documents are changed as text more often than as bytes.
fn change(values: &mut Values, random: &mut Random) {
    let names: Vec<String> = values.keys().cloned().collect();
    let is_document = |name: &&String| name.ends_with("zarr.json") || name.contains(".z");
    let documents: Vec<&String> = names.iter().filter(is_document).collect();
    let name = match random.below(2) {
        0 if !documents.is_empty() => documents[random.below(documents.len())],
        _ if names.is_empty() => return,
        _ => &names[random.below(names.len())],
    };
    let other = &names[random.below(names.len())];
    match random.below(16) {
        0 => drop(values.remove(name)),
        1 => {
            let value = values[other].clone();
            values.insert(name.clone(), value);
        }
        2 => {
            let value = values[name].clone();
            let renamed =
                [name.to_uppercase(), format!("{name}/0"), name.replace('0', "1"), format!("__{name}")];
            values.insert(renamed[random.below(4)].clone(), value);
        }
        choice => {
            let Some(value) = values.get_mut(name) else { return };
            if choice < 11 && is_document(&name) {
                edit(value, &VOCABULARY, random);
            } else {
                damage(value, random);
            }
        }
    }
}

const VOCABULARY: Vocabulary = Vocabulary { numbers: &NUMBERS, words: &WORDS };

const NUMBERS: [&str; 18] = [
    "0",
    "1",
    "2",
    "-1",
    "3",
    "7",
    "8",
    "255",
    "256",
    "4096",
    "65536",
    "2147483648",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
    "18446744073709551616",
    "1e400",
    "NaN",
];

const WORDS: [&str; 34] = [
    "bytes",
    "gzip",
    "zstd",
    "blosc",
    "crc32c",
    "transpose",
    "sharding_indexed",
    "vlen-utf8",
    "vlen-bytes",
    "lz4",
    "lz4hc",
    "zlib",
    "bz2",
    "lzma",
    "shuffle",
    "delta",
    "fletcher32",
    "float64",
    "uint8",
    "bool",
    "string",
    "complex64",
    "struct",
    "<f8",
    ">i4",
    "|O",
    "<U9",
    "|S3",
    "C",
    "F",
    "start",
    "null",
    "default",
    "v2",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sound_stores_are_read() {
        let bases = bases();
        for base in 0..bases.len() {
            assert_eq!(Case { base, seed: 0 }.run(&bases), Outcome::Described, "{}", bases[base].name);
        }
    }
}
