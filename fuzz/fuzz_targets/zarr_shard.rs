//! Checks and reads bytes as a shard of the form that the first of them chooses. Its index gets the right checksum.
#![no_main]

use hyperslab_codec::crc32c;
use hyperslab_core::store::{Key, MemoryStore};
use libfuzzer_sys::fuzz_target;
use std::sync::Arc;

/// The number of inner chunks along both dimensions together.
const CHUNKS: usize = 6;

fuzz_target!(|bytes: &[u8]| {
    let Some((kind, bytes)) = bytes.split_first() else { return };
    let (has_sum, at_start, is_nested) = (kind & 1 != 0, kind & 2 != 0, kind & 4 != 0);
    let mut shard = bytes.to_vec();
    let len = CHUNKS * 16;
    if has_sum && shard.len() >= len + 4 {
        let start = if at_start { 0 } else { shard.len() - len - 4 };
        let sum = crc32c(&shard[start..start + len]).to_le_bytes();
        shard[start + len..start + len + 4].copy_from_slice(&sum);
    }
    let endian = if kind & 8 == 0 { "little" } else { "big" };
    let index = format!(r#"{{"name":"bytes","configuration":{{"endian":"{endian}"}}}}"#);
    let sum = if has_sum { r#","crc32c""# } else { "" };
    let place = if at_start { "start" } else { "end" };
    let sharding = |shape: &str, codecs: &str| {
        format!(
            r#"{{"name":"sharding_indexed","configuration":{{"chunk_shape":{shape},"codecs":[{codecs}],
            "index_codecs":[{index}{sum}],"index_location":"{place}"}}}}"#
        )
    };
    let last = match kind >> 4 & 3 {
        0 => r#""bytes""#,
        1 => r#""bytes","crc32c""#,
        2 => r#"{"name":"transpose","configuration":{"order":[1,0]}},"bytes""#,
        _ => r#""bytes",{"name":"zstd","configuration":{"level":1,"checksum":false}}"#,
    };
    let inner = if is_nested { sharding("[1,2]", last) } else { last.to_owned() };
    let codecs = sharding("[2,2]", &inner);
    let document = format!(
        r#"{{"zarr_format":3,"node_type":"array","shape":[4,6],"data_type":"uint8","fill_value":7,
        "chunk_grid":{{"name":"regular","configuration":{{"chunk_shape":[4,6]}}}},
        "chunk_key_encoding":"default","codecs":[{codecs}]}}"#
    );
    let mut store = MemoryStore::new();
    store.insert(&Key::new("zarr.json").expect("a key"), document);
    store.insert(&Key::new("c/0/0").expect("a key"), shard);
    trials::zarr::everything(Arc::new(store));
});
