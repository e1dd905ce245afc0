use super::*;
use crate::hierarchy::Hierarchy;
use crate::json::{Json, Object};
use hyperslab_codec::{Blosc, BloscCodec, BloscShuffle, Zstd, encode};
use hyperslab_core::nd::{element_count, fill_rows, scatter};
use hyperslab_core::rows::Slot;
use hyperslab_core::store::MemoryStore;
use hyperslab_core::wrapper::Counted;
use std::convert::Infallible;
use std::sync::Arc;

const SIMPLE: &str = r#"{"zarr_format":3,"node_type":"array","shape":[6],"data_type":"int8",
    "chunk_grid":{"name":"regular","configuration":{"chunk_shape":[4]}},"chunk_key_encoding":"default",
    "fill_value":9,"codecs":["bytes"]}"#;
const SHARDED: &str = r#"["bytes"]"#;

fn key(key: &str) -> Key {
    Key::new(key).unwrap()
}

fn unhex(json: &Json) -> Vec<u8> {
    let digits = json.as_str().unwrap().as_bytes();
    digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

fn numbers(json: &Json) -> Vec<u64> {
    let Json::Array(items) = json else { panic!() };
    let number =
        |item: &Json| if let Json::Number(number) = item { number.as_u64().unwrap() } else { panic!() };
    items.iter().map(number).collect()
}

fn open(values: &[(&str, &[u8])]) -> Result<(Array, Arc<MemoryStore>)> {
    let mut store = MemoryStore::new();
    for (name, value) in values {
        store.insert(&key(name), value.to_vec());
    }
    let store = Arc::new(store);
    let limits = Limits::default();
    let node = Hierarchy::unconsolidated(store.clone(), limits).node(&Key::root())?.unwrap();
    Ok((Array::new(&node, &limits)?, store))
}

fn read(array: &Array, store: &dyn Store, region: &Region) -> Result<Vec<u8>> {
    let count = usize::try_from(element_count(&region.count).unwrap()).unwrap();
    let mut rows = vec![0xee; count * array.row_size()];
    array.read(store, region, &mut rows, &mut Heap::<Infallible>::default(), &mut Scratch::new())?;
    Ok(rows)
}

fn all(values: &[(&str, &[u8])]) -> Result<Vec<u8>> {
    let (array, store) = open(values)?;
    read(&array, &*store, &Region::all(array.shape()))
}

fn parsed(bytes: &[u8]) -> Vec<Json> {
    let Json::Array(cases) = Json::parse("t", bytes, &Limits::default()).unwrap() else { panic!() };
    cases
}

fn cases() -> Vec<Json> {
    parsed(include_bytes!("../../tests/fixtures/arrays.json"))
}

/// The values of a case.
fn values_of(case: &Json) -> Vec<(Key, Vec<u8>)> {
    let values = case.as_object().unwrap().get("values").unwrap().as_object().unwrap();
    values.iter().map(|(path, value)| (key(path), unhex(value))).collect()
}

fn opened(values: &[(Key, Vec<u8>)]) -> (Array, Arc<MemoryStore>) {
    let mut store = MemoryStore::new();
    values.iter().for_each(|(path, value)| store.insert(path, value.clone()));
    let store = Arc::new(store);
    let limits = Limits::default();
    let node = Hierarchy::open(store.clone(), limits).unwrap().node(&Key::root()).unwrap().unwrap();
    (Array::new(&node, &limits).unwrap_or_else(|e| panic!("{e}")), store)
}

/// The whole array: its rows, the heap, and the content that slots point to.
type Contents = (Vec<u8>, Heap<Infallible>, Vec<Vec<u8>>);

fn contents(array: &Array, store: &dyn Store) -> Result<Contents> {
    let count = usize::try_from(element_count(array.shape()).unwrap()).unwrap();
    let (mut rows, mut heap) = (vec![0xee; count * array.row_size()], Heap::default());
    array.read(store, &Region::all(array.shape()), &mut rows, &mut heap, &mut Scratch::new())?;
    let texts = match array.data_type().stored_size() {
        Some(_) => Vec::new(),
        None => {
            let slots = rows.chunks(Slot::SIZE).map(|row| Slot::get(row).unwrap());
            slots.map(|slot| heap.bytes(slot, slot.count as usize).unwrap().to_vec()).collect()
        }
    };
    Ok((rows, heap, texts))
}

/// The fixtures were made on a little-endian machine.
#[test]
#[cfg(target_endian = "little")]
fn reads_arrays_of_zarr_python() {
    let cases = cases();
    assert!(cases.len() > 35);
    for case in &cases {
        let case = case.as_object().unwrap();
        let name = case.get("name").unwrap().as_str().unwrap();
        let mut store = MemoryStore::new();
        for (path, value) in case.get("values").unwrap().as_object().unwrap().iter() {
            store.insert(&key(path), unhex(value));
        }
        let store = Arc::new(store);
        let limits = Limits::default();
        let node = Hierarchy::open(store.clone(), limits).unwrap().node(&Key::root()).unwrap().unwrap();
        let array = Array::new(&node, &limits).unwrap_or_else(|e| panic!("{name}: {e}"));
        let shape = numbers(case.get("shape").unwrap());
        assert_eq!(array.shape(), shape, "{name}");
        let rows = read(&array, &*store, &Region::all(&shape)).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(rows, unhex(case.get("rows").unwrap()), "{name}");
        let mut part = Region::new(numbers(case.get("start").unwrap()), numbers(case.get("count").unwrap()));
        part.step = vec![2; part.start.len()];
        let rows = read(&array, &*store, &part).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(rows, unhex(case.get("part").unwrap()), "{name}");
    }
}

/// Stores all elements of an array again, chunk by chunk.
fn written(array: &Array, rows: &[u8], heap: &Heap<Infallible>, metadata: &[(Key, Vec<u8>)]) -> MemoryStore {
    let mut store = MemoryStore::new();
    metadata.iter().for_each(|(path, value)| store.insert(path, value.clone()));
    let (all, mut scratch) = (Region::all(array.shape()), Scratch::new());
    let mut chunks = array.grid().chunks_in(&all).unwrap();
    while let Some(chunk) = chunks.next_chunk() {
        let count = usize::try_from(element_count(&chunk.shape).unwrap()).unwrap();
        let mut part = vec![0; count * array.row_size()];
        match array.data_type().stored_size() {
            Some(_) => hyperslab_core::nd::fill_rows(array.fill(), &mut part).unwrap(),
            None => assert!(array.fill().is_empty(), "an empty slot"),
        }
        let size = array.row_size();
        hyperslab_core::nd::gather(rows, &all, &mut part, &chunk.start, &chunk.shape, size).unwrap();
        if let Some(bytes) = array.encode_chunk(&chunk.shape, &part, heap, &mut scratch).unwrap() {
            store.insert(&array.chunk_key(&chunk.index).unwrap(), bytes.to_vec());
        }
    }
    store
}

#[test]
fn written_arrays_round_trip() {
    for case in cases() {
        let case = case.as_object().unwrap();
        let values = case.get("values").unwrap().as_object().unwrap();
        let values: Vec<_> = values.iter().map(|(path, value)| (key(path), unhex(value))).collect();
        let mut store = MemoryStore::new();
        values.iter().for_each(|(path, value)| store.insert(path, value.clone()));
        let store = Arc::new(store);
        let node = Hierarchy::open(store.clone(), Limits::default()).unwrap().node(&Key::root());
        let array = Array::new(&node.unwrap().unwrap(), &Limits::default()).unwrap();
        let all = Region::all(array.shape());
        let rows = read(&array, &*store, &all).unwrap();
        let documents: Vec<_> =
            values.iter().filter(|(path, _)| path.to_string().contains(".z")).cloned().collect();
        let again = written(&array, &rows, &Heap::default(), &documents);
        assert_eq!(read(&array, &again, &all).unwrap(), rows, "{:?}", case.get("name"));
    }
}

/// `tests/make.py` makes the arrays. `tests/foreign.py` reads our output with zarr-python, if a directory is given.
#[test]
#[cfg(target_endian = "little")]
fn arrays_of_zarr_python_round_trip_through_all_codecs() {
    let mut encoded = Vec::new();
    let cases = parsed(include_bytes!("tests/codecs.json"));
    assert!(cases.len() > 150);
    for case in &cases {
        let member = |name: &str| case.as_object().unwrap().get(name);
        let name = member("name").unwrap().as_str().unwrap();
        let values = values_of(case);
        let (array, store) = opened(&values);
        let (rows, heap, texts) = contents(&array, &*store).unwrap_or_else(|e| panic!("{name}: {e}"));
        match member("texts") {
            Some(Json::Array(expected)) => {
                let expected: Vec<_> = expected.iter().map(unhex).collect();
                assert_eq!(texts, expected, "{name}");
            }
            _ => assert_eq!(rows, unhex(member("rows").unwrap()), "{name}"),
        }
        let documents: Vec<_> =
            values.into_iter().filter(|(path, _)| path.to_string().contains("zar")).collect();
        let again = written(&array, &rows, &heap, &documents);
        let (back, _, back_texts) = contents(&array, &again).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(back_texts, texts, "{name}");
        if texts.is_empty() {
            assert_eq!(back, rows, "{name}");
        }
        encoded.push((name.to_owned(), array, again));
    }
    let Some(path) = std::env::var_os("HYPERSLAB_ENCODED") else { return };
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let list = encoded.iter().map(|(name, array, store)| {
        let mut values = Object::new();
        let all = Region::all(array.shape());
        let mut chunks = array.grid().chunks_in(&all).unwrap();
        while let Some(chunk) = chunks.next_chunk() {
            let key = array.chunk_key(&chunk.index).unwrap();
            if let Some(bytes) = store.read(&key, u64::MAX).unwrap() {
                values.insert(key.to_string(), hex(&bytes).as_str().into());
            }
        }
        let mut object = Object::new();
        object.insert("name", name.as_str().into());
        object.insert("values", Json::Object(values));
        Json::Object(object)
    });
    std::fs::write(path, Json::Array(list.collect()).emit()).unwrap();
}

/// `[[1, 2, 3], [4, 5, 6.5]]`, compressed by zfpy 1.0.1.
#[test]
fn reads_zfp_streams_with_their_own_shape() {
    let stream = "7a6670052600001000000088091689996924eba404c40200";
    let metadata = SIMPLE
        .replace("\"int8\"", "\"float32\"")
        .replace("[6]", "[2,3]")
        .replace("[4]", "[2,3]")
        .replace(SHARDED, r#"[{"name":"numcodecs.zfpy","configuration":{"mode":4,"tolerance":-1}}]"#);
    let numbers: Vec<u8> = [1.0, 2.0, 3.0, 4.0, 5.0, 6.5_f32].iter().flat_map(|x| x.to_ne_bytes()).collect();
    let stored = unhex(&stream.into());
    let values = [("zarr.json", metadata.as_bytes()), ("c/0/0", &stored)];
    assert_eq!(all(&values).unwrap(), numbers);
    let (array, _) = open(&values).unwrap();
    let again = written(&array, &numbers, &Heap::default(), &[]);
    assert_eq!(read(&array, &again, &Region::all(&[2, 3])).unwrap(), numbers);
    let e = all(&[("zarr.json", metadata.replace("[2,3]", "[3,3]").as_bytes()), ("c/0/0", &stored)]);
    assert_eq!(e.unwrap_err().to_string(), "chunk c/0/0: 24 stored bytes cannot decode to 36");
}

#[test]
fn reads_most_of_a_shard_at_once_and_little_in_parts() {
    let shard = r#"[{"name":"sharding_indexed","configuration":{"chunk_shape":[1],"codecs":["bytes"],
        "index_codecs":[{"name":"bytes","configuration":{"endian":"little"}}]}}]"#;
    let metadata = SIMPLE.replace("[4]", "[6]").replace(SHARDED, shard);
    let (array, _) = open(&[("zarr.json", metadata.as_bytes())]).unwrap();
    let store = Arc::new(written(&array, &[0, 1, 2, 3, 4, 9], &Heap::default(), &[]));
    let reads = |start, count, step| {
        let mut region = Region::new(vec![start], vec![count]);
        region.step = vec![step];
        let counted = Counted::new(store.clone());
        let rows = read(&array, &counted, &region).unwrap();
        (rows, counted.requests())
    };
    // The size of the shard is requested, then the whole is read; or its index, then what is wanted of it.
    assert_eq!(reads(0, 6, 1), (vec![0, 1, 2, 3, 4, 9], 2));
    assert_eq!(reads(1, 3, 1), (vec![1, 2, 3], 2));
    assert_eq!(reads(1, 2, 1), (vec![1, 2], 3));
    assert_eq!(reads(5, 1, 1), (vec![9], 2));
}

#[test]
fn counts_inner_chunks_inside_the_array() {
    let shard = r#"[{"name":"sharding_indexed","configuration":{"chunk_shape":[1],"codecs":["bytes"],
        "index_codecs":[{"name":"bytes","configuration":{"endian":"little"}}]}}]"#;
    let metadata = SIMPLE.replace("[4]", "[6]").replace(SHARDED, shard);
    let (array, _) = open(&[("zarr.json", metadata.as_bytes())]).unwrap();
    let store = written(&array, &[7, 9, 7, 9, 9, 7], &Heap::default(), &[]);
    let count = |array: &Array| array.written_inner_chunks(&store, &[0], &mut Scratch::default()).unwrap();
    assert_eq!((array.inner_chunk(), count(&array)), (Some(&[1][..]), 3));
    let metadata = metadata.replace("\"shape\":[6]", "\"shape\":[5]");
    let (shorter, _) = open(&[("zarr.json", metadata.as_bytes())]).unwrap();
    assert_eq!((shorter.shape(), count(&shorter)), (&[5][..], 2));
}

#[test]
fn rejects_codecs_for_other_elements() {
    let refused = |codecs: &str| {
        let metadata = SIMPLE.replace(SHARDED, codecs);
        let e = open(&[("zarr.json", metadata.as_bytes())]).unwrap_err();
        e.to_string().replace("/: zarr.json#/codecs", "")
    };
    let step = |name: &str, configuration: &str| {
        refused(&format!(r#"[{{"name":"numcodecs.{name}","configuration":{{{configuration}}}}},"bytes"]"#))
    };
    assert_eq!(
        step("delta", r#""dtype":"<i4""#),
        "/0/configuration: elements of 4 bytes, expected 1 as in the array"
    );
    assert_eq!(
        step("delta", r#""dtype":"<M8[s]""#),
        "/0/configuration/dtype: number type \"<M8[s]\", expected a boolean, integer or floating-point type of NumPy"
    );
    let bits = refused(r#"[{"name":"bitround","configuration":{"keepbits":-1}},"bytes"]"#);
    assert_eq!(bits, "/0/configuration/keepbits: -1, expected a small integer");
    assert_eq!(
        step("quantize", r#""digits":1"#),
        "/0/configuration: quantize of integers, expected floating-point numbers"
    );
    assert_eq!(step("astype", ""), "/0/configuration: no \"encode_dtype\"");
    assert_eq!(
        step("lzma", r#""format":3"#),
        "/0/configuration/filters: no filters, expected a list for a raw stream"
    );
    assert_eq!(step("json2", ""), "/0: codec \"numcodecs.json2\"");
    assert_eq!(step("zlib", ""), "/0: \"numcodecs.zlib\" before the array-to-bytes codec, expected after it");
    assert_eq!(
        refused(r#"["bytes",{"name":"numcodecs.packbits"}]"#),
        "/1: \"numcodecs.packbits\" after the array-to-bytes codec, expected before it"
    );
}

#[test]
fn bytes_after_a_filter_need_no_byte_order() {
    let scale = r#"{"name":"numcodecs.fixedscaleoffset","configuration":
        {"offset":0,"scale":10,"dtype":"<f8","astype":"|u1"}}"#;
    let of = |codecs: &str| {
        let metadata = SIMPLE.replace(SHARDED, codecs).replace("\"int8\"", "\"float64\"");
        open(&[("zarr.json", metadata.as_bytes())]).map(|(array, _)| array)
    };
    let array = of(&format!(r#"[{scale},"bytes"]"#)).unwrap();
    let values = [1.5, 0.0, 25.5, 3.0, 9.0, 0.1];
    let rows: Vec<u8> = values.iter().flat_map(|value: &f64| value.to_ne_bytes()).collect();
    let store = written(&array, &rows, &Heap::default(), &[]);
    assert_eq!(read(&array, &store, &Region::all(&[6])).unwrap(), rows);
    let e = of(r#"["bytes"]"#).unwrap_err().to_string();
    assert!(e.contains("no endian"), "{e}");
}

/// The bytes are those that zarr-python 3.1 reads as these values, regardless of the order that `bytes` states.
#[test]
fn codecs_of_numcodecs_read_stored_bytes_in_their_own_order() {
    let of = |data_type: &str, codec: &str, order: &str| {
        let codecs = format!(
            r#"[{{"name":"numcodecs.{codec}}}}},{{"name":"bytes","configuration":{{"endian":"{order}"}}}}]"#
        );
        let metadata = SIMPLE.replace(SHARDED, &codecs).replace("\"int8\"", &format!("{data_type:?}"));
        metadata.replace("[4]", "[2]").replace("\"shape\":[6]", "\"shape\":[2]")
    };
    let read =
        |metadata: &str, stored: &[u8]| all(&[("zarr.json", metadata.as_bytes()), ("c/0", stored)]).unwrap();
    let integers = |values: [i32; 2]| values.map(i32::to_ne_bytes).concat();
    let delta = |dtype: &str, order: &str| {
        of("int32", &format!(r#"delta","configuration":{{"dtype":"{dtype}""#), order)
    };
    let big = [0, 0, 0, 250, 0, 0, 0, 6];
    let little = [250, 0, 0, 0, 6, 0, 0, 0];
    for order in ["big", "little"] {
        assert_eq!(read(&delta(">i4", order), &big), integers([250, 256]), "{order}");
        assert_eq!(read(&delta("<i4", order), &little), integers([250, 256]), "{order}");
        let scale = |types: &str| {
            of(
                "float64",
                &format!(r#"fixedscaleoffset","configuration":{{"offset":0,"scale":2,{types}"#),
                order,
            )
        };
        let halves = [125_f64, 3.0].map(f64::to_ne_bytes).concat();
        assert_eq!(read(&scale(r#""dtype":">f8","astype":">i4""#), &big), halves, "{order}");
        assert_eq!(read(&scale(r#""dtype":"<f8","astype":">i4""#), &big), halves, "{order}");
        assert_eq!(read(&scale(r#""dtype":">f8","astype":"<i4""#), &little), halves, "{order}");
    }
    // A codec without types of its own gets the output of `bytes`.
    let rounded = of("float32", r#"bitround","configuration":{"keepbits":20"#, "big");
    let stored = [1.5_f32, 2.0].map(f32::to_be_bytes).concat();
    assert_eq!(read(&rounded, &stored), [1.5_f32, 2.0].map(f32::to_ne_bytes).concat());
}

#[test]
fn damaged_stores_never_panic() {
    let limits = Limits { allocation: 1 << 20, ..Limits::default() };
    let mut reads = 0;
    // Only every tenth array with unusual codecs, because there are many.
    let unusual = parsed(include_bytes!("tests/codecs.json")).into_iter().step_by(10);
    for case in cases().into_iter().chain(unusual) {
        let values = values_of(&case);
        for (damaged, value) in &values {
            for (at, byte) in value.iter().enumerate().step_by(5) {
                let mut changed = value.clone();
                changed[at] = byte.wrapping_add(1 + u8::try_from(at % 251).unwrap());
                if at % 15 == 0 {
                    changed.truncate(at);
                }
                let mut store = MemoryStore::new();
                values.iter().for_each(|(path, value)| store.insert(path, value.clone()));
                store.insert(damaged, changed);
                let store = Arc::new(store);
                let Ok(hierarchy) = Hierarchy::open(store.clone(), limits) else { continue };
                let Ok(Some(node)) = hierarchy.node(&Key::root()) else { continue };
                let Ok(array) = Array::new(&node, &limits) else { continue };
                let count = element_count(array.shape());
                let bytes = count.and_then(|count| count.checked_mul(array.row_size() as u64));
                if bytes.is_some_and(|bytes| bytes < 1 << 16) {
                    let _ = contents(&array, &*store);
                    reads += 1;
                }
            }
        }
    }
    assert!(reads > 1000, "{reads}");
}

#[test]
fn reads_chunks_of_several_sizes() {
    let grid = r#""rectilinear","configuration":{"kind":"inline","chunk_shapes":[[1,[2,2],4]]}"#;
    let metadata = SIMPLE.replace(r#""regular","configuration":{"chunk_shape":[4]}"#, grid);
    let values =
        [("zarr.json", metadata.as_bytes()), ("c/0", &[1]), ("c/1", &[2, 3]), ("c/3", &[6, 7, 8, 9])];
    assert_eq!(all(&values).unwrap(), [1, 2, 3, 9, 9, 6]);
}

/// A chunk of 16 x 32 x 32 elements, and its encoded form with blocks of this size in bytes.
fn in_blocks(block: u32) -> (Array, Arc<MemoryStore>, Vec<u8>) {
    let document = SIMPLE
        .replace("[6]", "[16,40,32]")
        .replace("[4]", "[16,32,32]")
        .replace("int8", "int32")
        .replace("\"codecs\":[\"bytes\"]", "\"codecs\":[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}, {\"name\":\"blosc\",\"configuration\":{\"cname\":\"lz4\",\"clevel\":5,\"shuffle\":\"shuffle\",\"typesize\":4,\"blocksize\":0}}]");
    let rows: Vec<u8> = (0..16 * 32 * 32_i32).flat_map(|i| (i * 7 / 5).to_le_bytes()).collect();
    let codec = Blosc { codec: BloscCodec::Lz4, level: 5, shuffle: BloscShuffle::Byte, element: 4, block };
    let stored = encode(&[codec.into()], &rows, &mut Scratch::new()).unwrap();
    let (array, store) = open(&[("zarr.json", document.as_bytes()), ("c/0/0/0", &stored)]).unwrap();
    (array, store, rows)
}

#[test]
fn reads_blocks_that_do_not_align_with_steps() {
    // Several blocks per step, several steps per block, and blocks that do not align with steps.
    for block in [1024, 4096, 16384, 3072, 6000, 1 << 20] {
        let (array, store, rows) = in_blocks(block);
        for region in [
            Region::all(&[16, 40, 32]),
            Region::new(vec![0, 0, 0], vec![16, 32, 31]),
            Region::new(vec![5, 3, 2], vec![3, 20, 9]),
            Region { start: vec![1, 0, 1], count: vec![5, 8, 10], step: vec![3, 4, 3] },
        ] {
            let found = read(&array, &*store, &region).unwrap();
            let mut expected = vec![0; found.len()];
            fill_rows(&9_i32.to_ne_bytes(), &mut expected).unwrap();
            scatter(&rows, &[0, 0, 0], &[16, 32, 32], &region, &mut expected, 4).unwrap();
            assert!(found == expected, "blocks of {block}, {region:?}");
        }
    }
}

#[test]
fn decodes_only_required_blocks() {
    let (array, store, _) = in_blocks(4096);
    let mut stored = store.read(&key("c/0/0/0"), u64::MAX).unwrap().unwrap().to_vec();
    // The offsets of the blocks follow the header of 16 bytes.
    stored[16 + 4 * 3..][..4].copy_from_slice(&u32::MAX.to_le_bytes());
    let mut broken = (*store).clone();
    broken.insert(&key("c/0/0/0"), stored);
    let layer = |first| Region::new(vec![first, 0, 0], vec![1, 32, 16]);
    assert!(read(&array, &broken, &layer(2)).is_ok());
    assert!(read(&array, &broken, &layer(3)).is_err());
}

#[test]
fn rejects_malformed_chunks_with_their_key() {
    let refused = |metadata: &str, chunk: &[u8]| {
        let e = all(&[("zarr.json", metadata.as_bytes()), ("c/0", &[1; 4]), ("c/1", chunk)]).unwrap_err();
        (e.kind(), e.to_string())
    };
    let malformed = |message: &str| (ErrorKind::Malformed, message.to_owned());
    assert_eq!(refused(SIMPLE, &[1; 3]), malformed("chunk c/1: a chunk of 3 bytes, expected 4"));
    assert_eq!(refused(SIMPLE, &[]), malformed("chunk c/1: a chunk of 0 bytes, expected 4"));
    let with = |codecs: &str| {
        let codecs = codecs.replace(
            "SHARD",
            r#"{"name":"sharding_indexed","configuration":{"chunk_shape":[2],"codecs":["bytes"],
            "index_codecs":[{"name":"bytes","configuration":{"endian":"little"}}]}}"#,
        );
        SIMPLE.replace(SHARDED, &format!("[{codecs}]"))
    };
    for codecs in [r#""bytes",{"name":"gzip","configuration":{"level":1}}"#, r#""bytes","crc32c""#] {
        let e = all(&[("zarr.json", with(codecs).as_bytes()), ("c/1", &[1; 9])]).unwrap_err();
        assert!(e.to_string().starts_with("chunk c/1: "), "{e}");
    }
    let shard = |entries: [u64; 4]| {
        let index = entries.iter().flat_map(|entry| entry.to_le_bytes());
        let bytes: Vec<u8> = [1, 2, 3, 4].into_iter().chain(index).collect();
        all(&[("zarr.json", with("SHARD").as_bytes()), ("c/0", &bytes)])
    };
    assert_eq!(shard([2, 2, 0, 2]).unwrap(), [3, 4, 1, 2, 9, 9]);
    assert_eq!(shard([u64::MAX, u64::MAX, 0, 2]).unwrap(), [9, 9, 1, 2, 9, 9]);
    let message = "chunk c/0: inner chunk 0 of 2 bytes at byte 0x23 ends after the shard of 36 bytes";
    assert_eq!(shard([35, 2, 0, 2]).unwrap_err().to_string(), message);
    assert!(shard([u64::MAX - 1, 2, 0, 2]).unwrap_err().to_string().contains("inner chunk 0 of 2 bytes"));
    assert!(shard([0, 3, 0, 2]).unwrap_err().to_string().contains("a chunk of 3 bytes, expected 2"));
    let e = all(&[("zarr.json", with("SHARD").as_bytes()), ("c/0", &[0; 31])]).unwrap_err();
    assert_eq!(e.to_string(), "chunk c/0: a shard of 31 bytes, too short for an index of [2] chunks");
}

#[test]
fn rejects_unknown_codecs_by_name() {
    let refused = |codecs: &str| {
        let metadata = SIMPLE.replace(SHARDED, codecs);
        open(&[("zarr.json", metadata.as_bytes())]).unwrap_err().to_string()
    };
    let at = |message: &str| format!("/: zarr.json#/codecs{message}");
    assert_eq!(refused(r#"["bytes","zfpy"]"#), at("/1: codec \"zfpy\""));
    assert_eq!(
        refused(r#"["gzip","bytes"]"#),
        at("/0: \"gzip\" before the array-to-bytes codec, expected after it")
    );
    assert_eq!(
        refused(r#"["bytes","bytes"]"#),
        at("/1: \"bytes\" after the array-to-bytes codec, expected before it")
    );
    assert_eq!(refused(r#"["transpose"]"#), at("/0: \"transpose\" without a configuration"));
    let transpose =
        |order: &str| format!(r#"[{{"name":"transpose","configuration":{{"order":{order}}}}},"bytes"]"#);
    let place = "/0/configuration/order";
    assert_eq!(refused(&transpose("[1]")), at(&format!("{place}: [1], expected each of 1 dimensions once")));
    assert_eq!(
        refused(&transpose("[0,0]")),
        at(&format!("{place}: [0, 0], expected each of 1 dimensions once"))
    );
    let known = SIMPLE.replace(SHARDED, r#"["bytes",{"name":"hint","must_understand":false}]"#);
    assert_eq!(all(&[("zarr.json", known.as_bytes())]).unwrap(), [9; 6]);
    let text = SIMPLE.replace("\"int8\"", "\"string\"").replace("9,", "\"\",");
    let e = open(&[("zarr.json", text.as_bytes())]).unwrap_err();
    assert_eq!(
        (e.kind(), e.detail()),
        (ErrorKind::Malformed, "zarr.json#/codecs/0: \"bytes\" of elements of variable size")
    );
}

const TEXT: &str = r#"{"zarr_format":3,"node_type":"array","shape":[3,3],"data_type":"string",
    "chunk_grid":{"name":"regular","configuration":{"chunk_shape":[2,2]}},"chunk_key_encoding":"default",
    "fill_value":"","codecs":["vlen-utf8"]}"#;

#[test]
fn strings_round_trip() {
    let texts = ["", "a", "\u{e9}t\u{e9}", "long ".repeat(999).leak(), "", "b", "", "", ""];
    let (mut heap, mut rows) = (Heap::<Infallible>::default(), Vec::new());
    for text in texts {
        let slot = heap.push_bytes(Bytes::from_static(text.as_bytes())).unwrap();
        rows.extend_from_slice(&slot.to_bytes());
    }
    let shard = r#"{"name":"sharding_indexed","configuration":{"chunk_shape":[1,2],"codecs":["vlen-utf8"],
        "index_codecs":[{"name":"bytes","configuration":{"endian":"big"}},"crc32c"],
        "index_location":"start"}}"#;
    let gzip = r#"{"name":"gzip","configuration":{"level":1}}"#;
    let transpose = r#"{"name":"transpose","configuration":{"order":[1,0]}}"#;
    for codecs in [
        r#""vlen-utf8""#.to_owned(),
        format!("{transpose},\"vlen-utf8\",{gzip},\"crc32c\",{gzip}"),
        shard.to_owned(),
        format!("{shard},{gzip}"),
        format!("\"vlen-utf8\",{}", r#"{"name":"zstd","configuration":{"level":3,"checksum":true}}"#),
    ] {
        let document = TEXT.replace(r#""vlen-utf8""#, &codecs);
        let (array, _) = open(&[("zarr.json", document.as_bytes())]).unwrap();
        let store = written(&array, &rows, &heap, &[(key("zarr.json"), document.into())]);
        assert!(store.size(&key("c/0/0")).unwrap().is_some());
        assert_eq!(store.size(&key("c/1/1")).unwrap(), None, "nothing but the fill value");
        let (mut out, mut found) = ([0xee; 9 * 16], Heap::<Infallible>::default());
        let mut scratch = Scratch::new();
        array.read(&store, &Region::all(&[3, 3]), &mut out, &mut found, &mut scratch).unwrap();
        let slots = out.chunks(16).map(|row| Slot::get(row).unwrap());
        let read: Vec<_> =
            slots.map(|slot| found.bytes(slot, slot.count as usize).unwrap().to_vec()).collect();
        assert_eq!(read, texts.map(|text| text.as_bytes().to_vec()), "{codecs}");
        // The size of the heap is limited, also for large decoded chunks.
        let few = Array { limits: Limits { allocation: 900, ..Limits::default() }, ..array };
        let e = few.read(&store, &Region::all(&[3, 3]), &mut out, &mut found, &mut scratch).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::LimitExceeded, "{codecs}");
    }
}

#[test]
fn missing_chunks_of_strings_have_the_fill_value() {
    let document = TEXT.replace(r#""fill_value":"""#, r#""fill_value":"none""#);
    let (array, store) = open(&[("zarr.json", document.as_bytes())]).unwrap();
    let (mut out, mut heap) = ([0; 4 * 16], Heap::<Infallible>::default());
    let region = Region::new(vec![1, 1], vec![2, 2]);
    array.read(&*store, &region, &mut out, &mut heap, &mut Scratch::new()).unwrap();
    for row in out.chunks(16) {
        assert_eq!(heap.bytes(Slot::get(row).unwrap(), 4).unwrap(), b"none");
    }
    let stored = array.encode_chunk(&[2, 2], &out, &heap, &mut Scratch::new()).unwrap();
    assert_eq!(stored, None);
}

#[test]
fn bare_words_are_fill_values_of_version_2() {
    let document = r#"{"zarr_format":2,"shape":[1],"chunks":[1],"dtype":"TYPE","compressor":null,"fill_value":FILL,
        "order":"C","filters":null}"#;
    for (dtype, fill, expected) in [
        ("<f4", "-Infinity", f32::NEG_INFINITY.to_ne_bytes().to_vec()),
        ("<f8", "Infinity", f64::INFINITY.to_ne_bytes().to_vec()),
        ("<f8", "NaN", f64::NAN.to_ne_bytes().to_vec()),
        ("<c8", "[NaN, 1.0]", [f32::NAN, 1.0].map(f32::to_ne_bytes).concat()),
    ] {
        let document = document.replace("TYPE", dtype).replace("FILL", fill);
        assert_eq!(all(&[(".zarray", document.as_bytes())]).unwrap(), expected, "{fill}");
        let copies = format!(r#"{{"zarr_consolidated_format":1,"metadata":{{"a/.zarray":{document}}}}}"#);
        let mut store = MemoryStore::new();
        store.insert(&key(".zmetadata"), copies);
        let hierarchy = Hierarchy::open(Arc::new(store), Limits::default()).unwrap();
        let node = hierarchy.node(&key("a")).unwrap().unwrap();
        assert_eq!(Array::new(&node, &Limits::default()).unwrap().fill(), expected, "{fill}");
    }
}

#[test]
fn frames_that_declare_their_length_may_have_any_ratio() {
    let limits = Limits { allocation: 1 << 20, ..Limits::default() };
    let raw = vec![0; 1 << 20];
    let zstd = encode(&[Zstd { level: 3, checksum: false }.into()], &raw, &mut Scratch::new()).unwrap();
    // The same blocks behind a header with a window of 1 MiB instead of the length.
    assert_eq!(zstd[..9], [0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0x10, 0]);
    let undeclared = [&[0x28, 0xb5, 0x2f, 0xfd, 0, 0x50], &zstd[9..]].concat();
    for (stored, is_read) in [(zstd.as_slice(), true), (&undeclared, false)] {
        let document = SIMPLE
            .replace("[6]", "[1048576]")
            .replace("[4]", "[1048576]")
            .replace(SHARDED, r#"["bytes",{"name":"zstd","configuration":{"level":3,"checksum":false}}]"#);
        let (array, store) = open(&[("zarr.json", document.as_bytes()), ("c/0", stored)]).unwrap();
        let array = Array { limits, ..array };
        let found = read(&array, &*store, &Region::new(vec![0], vec![3]));
        match is_read {
            true => assert_eq!(found.unwrap(), [0; 3]),
            false => assert_eq!(found.unwrap_err().kind(), ErrorKind::LimitExceeded),
        }
        let checked = array.check_chunk(&InMemory(stored.to_vec().into()));
        assert_eq!(checked.is_ok(), is_read);
        // The limit itself holds for all.
        let array = Array { limits: Limits { allocation: (1 << 20) - 1, ..limits }, ..array };
        let e = read(&array, &*store, &Region::new(vec![0], vec![3])).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::LimitExceeded);
    }
}

#[test]
fn does_not_allocate_sizes_from_metadata() {
    let huge = SIMPLE.replace("[6]", "[1099511627776]").replace("[4]", "[1099511627776]");
    let (array, store) = open(&[("zarr.json", huge.as_bytes()), ("c/0", &[1; 4])]).unwrap();
    let e = read(&array, &*store, &Region::new(vec![7], vec![1])).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::LimitExceeded);
    // Within the limit, but impossible for a stream of four bytes.
    let packed = SIMPLE
        .replace("[6]", "[1000000000]")
        .replace("[4]", "[1000000000]")
        .replace(SHARDED, r#"["bytes",{"name":"gzip","configuration":{"level":1}}]"#);
    let (array, store) = open(&[("zarr.json", packed.as_bytes()), ("c/0", &[1; 4])]).unwrap();
    let e = read(&array, &*store, &Region::new(vec![7], vec![1])).unwrap_err();
    assert_eq!(e.to_string(), "chunk c/0: 4 stored bytes cannot decode to 1000000000");
    let (array, store) = open(&[("zarr.json", SIMPLE.as_bytes())]).unwrap();
    assert_eq!(
        read(&array, &*store, &Region::new(vec![3], vec![4])).unwrap_err().kind(),
        ErrorKind::InvalidArgument
    );
}
