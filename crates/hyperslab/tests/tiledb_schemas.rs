//! TileDB array schemas are recovered from the descriptions of their arrays, which contain everything that their bytes
//! store.

mod corpus;
mod handmade;
mod refused;

use crate::{description, node_path};
use bytes::Bytes;
use hyperslab::describe::DescribeOptions;
use hyperslab::ndl::StorageDetail;
use hyperslab::store::{Key, MemoryStore};
use hyperslab::{
    Location, NodePath, OpenOptions, Result, Source, open_location, open_storage, tiledb_schema,
};
use hyperslab_core::{Decoder, Encoder};
use hyperslab_tiledb::format::array_schema::ArraySchema;
use hyperslab_tiledb::format::data_type::DataType;
use hyperslab_tiledb::format::enumeration::Enumeration;
use hyperslab_tiledb::format::filter_pipeline::FilterPipeline;
use hyperslab_tiledb::format::generic_tile::{Encryption, GenericTileHeader};
use hyperslab_tiledb::format::version::RELEASED;
use hyperslab_tiledb::format::{Structure, decode_all, encode_all, tile};
use std::sync::Arc;

/// The description of an array, in YAML or JSON.
fn text(source: &dyn Source, array: &NodePath, storage: StorageDetail, json: bool) -> String {
    let options = DescribeOptions { storage, json, ..DescribeOptions::default() };
    let (text, errors) = description(source, array.as_str(), &options);
    assert!(errors.is_empty(), "{errors:?}\n{text}");
    text
}

/// A document as a source.
fn document(text: String) -> Result<Arc<dyn Source>> {
    let options = OpenOptions { format: Some("ndl".to_owned()), ..OpenOptions::default() };
    open_storage(Box::new(Bytes::from(text)), &options)
}

/// The schema recovered from the description of an array.
fn returned(
    source: &dyn Source,
    array: &NodePath,
    storage: StorageDetail,
    json: bool,
) -> Result<ArraySchema> {
    tiledb_schema(&*document(text(source, array, storage, json))?, array)
}

/// An array without fragments.
fn array(schema: &ArraySchema, enumerations: &[Enumeration]) -> Arc<dyn Source> {
    let mut store = MemoryStore::new();
    let mut insert = |key: String, body: Vec<u8>| store.insert(&Key::new(&key).unwrap(), generic_tile(&body));
    insert(SCHEMA.to_owned(), encode_all(schema, &()).unwrap());
    for enumeration in enumerations {
        let file = std::str::from_utf8(&enumeration.path).unwrap();
        insert(format!("__schema/__enumerations/{file}"), encode_all(enumeration, &()).unwrap());
    }
    open_location(Location::Store(Arc::new(store)), &OpenOptions::default()).unwrap()
}

/// A generic tile without filters.
fn generic_tile(body: &[u8]) -> Vec<u8> {
    let mut chunks = Encoder::new();
    let len = u32::try_from(body.len()).unwrap();
    tile::encode(&[tile::Chunk { original_len: len, metadata: &[], data: body }], &mut chunks).unwrap();
    let header = GenericTileHeader {
        version: RELEASED,
        persisted_size: chunks.len() as u64,
        tile_size: body.len() as u64,
        data_type: DataType::Char,
        cell_size: 1,
        encryption: Encryption::None,
        filters: FilterPipeline::default(),
    };
    [encode_all(&header, &()).unwrap().as_slice(), chunks.as_slice()].concat()
}

fn decoded<S: Structure<Context = ()>>(body: &[u8]) -> S {
    decode_all(Decoder::new(S::NAME, 0, body), &()).unwrap()
}

/// Checks that every description of an array yields its schema with the same bytes. Brief descriptions do not contain
/// file names.
fn check_returns(schema: &ArraySchema, enumerations: &[Enumeration]) {
    let source = array(schema, enumerations);
    let full = text(&*source, &NodePath::root(), StorageDetail::Full, false);
    for json in [false, true] {
        let found = returned(&*source, &NodePath::root(), StorageDetail::Full, json).unwrap();
        assert_eq!(found, *schema, "{full}");
        assert_eq!(encode_all(&found, &()).unwrap(), encode_all(schema, &()).unwrap(), "{full}");
    }
    let mut brief = returned(&*source, &NodePath::root(), StorageDetail::Brief, false).unwrap();
    assert!(brief.enumerations.iter().all(|file| file.file_name.is_empty()));
    brief.enumerations.clone_from(&schema.enumerations);
    assert_eq!(brief, *schema, "{full}");
    // The store itself yields the same schema as its description.
    let own = tiledb_schema(&*source, &node_path("/")).unwrap();
    assert_eq!(own, *schema, "{full}");
}

const SCHEMA: &str = "__schema/__1_1_0123456789abcdef0123456789abcdef";
