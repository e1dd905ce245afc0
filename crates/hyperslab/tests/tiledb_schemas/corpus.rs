//! The schemas of all arrays in the unpacked corpus, a folder that `HYPERSLAB_TILEDB_CORPUS` names.

use super::returned;
use hyperslab::ndl::StorageDetail;
use hyperslab::store::{DirectoryStore, Key};
use hyperslab::{Limits, NodePath, OpenOptions, SecretKey, Times, open};
use hyperslab_core::Decoder;
use hyperslab_tiledb::directory::{ArrayDirectory, SchemaFile, is_array};
use hyperslab_tiledb::filter::{self, Pipeline, Scratch, TileType};
use hyperslab_tiledb::format::generic_tile::{Encryption, GenericTileHeader};
use hyperslab_tiledb::format::{Structure, encode_all};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn schemas_of_a_corpus_return_from_descriptions() {
    let Some(root) = std::env::var_os("HYPERSLAB_TILEDB_CORPUS") else {
        println!("skipped: no corpus: HYPERSLAB_TILEDB_CORPUS names no folder of TileDB arrays");
        return;
    };
    let mut trial = Trial::default();
    trial.folder(Path::new(&root));
    for (version, count) in &trial.compared {
        println!("{count:6} schemas of version {version}");
    }
    for failure in &trial.failures {
        println!("FAILED {failure}");
    }
    let compared: usize = trial.compared.values().sum();
    println!("{compared} schemas compared, of {} versions", trial.compared.len());
    assert!(trial.failures.is_empty(), "{} failures", trial.failures.len());
    assert!(compared >= MIN_COMPARED, "{compared} schemas compared, expected {MIN_COMPARED}");
}

#[derive(Default)]
struct Trial {
    /// The number of schemas by version.
    compared: BTreeMap<u32, usize>,
    failures: Vec<String>,
}

impl Trial {
    fn folder(&mut self, folder: &Path) {
        if !REFUSED.iter().any(|name| folder.ends_with(name)) {
            self.array(folder);
        }
        let mut paths: Vec<PathBuf> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths.iter().filter(|path| path.is_dir()).for_each(|path| self.folder(path));
    }

    fn array(&mut self, folder: &Path) {
        let store = DirectoryStore::open(folder).unwrap();
        if !is_array(&store, &Key::root()).unwrap() {
            return;
        }
        let directory = ArrayDirectory::read(&store, &Key::root(), &Limits::default()).unwrap();
        for schema in &directory.schemas {
            if let Err(failure) = self.schema(folder, schema) {
                self.failures.push(format!("{}/{}: {failure}", folder.display(), schema.key));
            }
        }
    }

    /// Compares the bytes of a schema with those recovered from the description of the array at the time of the schema.
    fn schema(&mut self, folder: &Path, file: &SchemaFile) -> Result<(), String> {
        let key = folder.ends_with(ENCRYPTED).then_some(KEY);
        let body = body(&folder.join(file.key.as_str()), key);
        let at = file.name.as_ref().map(|name| Times { start: 0, end: name.end });
        let key = key.map(|key| SecretKey::new(key.to_vec()));
        let source = open(folder, &OpenOptions { at, key, ..OpenOptions::default() });
        let source = source.map_err(|error| error.to_string())?;
        let found = returned(&*source, &NodePath::root(), StorageDetail::Full, false);
        let found = found.map_err(|error| error.to_string())?;
        let bytes = encode_all(&found, &()).map_err(|error| error.to_string())?;
        if bytes != body {
            let at = bytes.iter().zip(&body).take_while(|(found, stored)| found == stored).count();
            let (found, stored) = (bytes.len(), body.len());
            return Err(format!("byte {at} differs, of {found} bytes, stored are {stored}"));
        }
        *self.compared.entry(found.version).or_default() += 1;
        Ok(())
    }
}

/// The decoded body of a file that consists of one generic tile.
fn body(path: &Path, key: Option<&[u8]>) -> Vec<u8> {
    let bytes = fs::read(path).unwrap();
    let mut d = Decoder::new(GenericTileHeader::NAME, 0, &bytes);
    let header = GenericTileHeader::decode(&mut d, &()).unwrap();
    let GenericTileHeader { version, data_type, cell_size, .. } = header;
    let tile_type = TileType { data_type, cell_size, is_variable: false, version };
    let mut pipeline = Pipeline::new(&header.filters, &tile_type).unwrap();
    if header.encryption == Encryption::Aes256Gcm {
        pipeline = pipeline.with_key(&filter::Key::new(key.unwrap()).unwrap());
    }
    let mut body = Vec::new();
    let tile = Decoder::new("Tile", d.offset(), d.rest());
    pipeline.decode(tile, header.tile_size, &mut body, &mut Scratch::new()).unwrap();
    body
}

/// Arrays that are not of a released version: one is older than version 1, the other is of a development version.
const REFUSED: [&str; 2] = ["dense_array_v1_3_0", "experimental_array_vUINT32_MAX"];

/// The encrypted array and its key.
const ENCRYPTED: &str = "dense_encrypted";
const KEY: &[u8] = b"0123456789abcdeF0123456789abcdeF";

/// The minimum number of schemas to compare.
const MIN_COMPARED: usize = 519;
