use super::chunks::{default_chunks, fitting};
use super::*;
use crate::data_type::{Field, Float, Struct, TimeUnit};
use crate::metadata::v2;
use crate::metadata::v3::NodeMetadata;
use hyperslab_codec::{Checksum, ChecksumAlgorithm, Deflate, Lzf, Shuffle};
use hyperslab_core::{ErrorKind, Limits};

fn documents(definition: &ArrayDefinition, version: Version) -> ArrayDocuments {
    let documents = definition.documents(version).unwrap();
    let deviations = match &documents.metadata {
        Metadata::V3(NodeMetadata::Array(array)) => &array.deviations,
        Metadata::V2Array { array, .. } => &array.deviations,
        other => panic!("{other:?}"),
    };
    assert_eq!(*deviations, []);
    documents
}

fn text(definition: &ArrayDefinition, version: Version) -> String {
    let documents = documents(definition, version).documents;
    documents.iter().map(|(name, json)| format!("{name} {}\n", json.emit_compact())).collect()
}

fn refused(definition: &ArrayDefinition, version: Version) -> (ErrorKind, String) {
    let e = definition.documents(version).unwrap_err();
    (e.kind(), e.to_string())
}

fn float32() -> DataType {
    DataType::Float(Float::Float32)
}

fn dogs() -> DataType {
    let name = ("name".to_owned(), DataType::FixedLengthUtf32 { length: 10 });
    let age = ("age".to_owned(), DataType::Integer { signed: true, bits: 32 });
    DataType::Struct(Struct::new([name, age, ("weight".to_owned(), float32())]).unwrap())
}

#[test]
fn shuffles_and_compresses_numbers_by_default() {
    let array = ArrayDefinition::new(vec![6, 4], float32());
    assert_eq!(
        text(&array, Version::V3),
        "zarr.json {\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[6,4],\"data_type\":\"float32\",\
         \"chunk_grid\":{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[6,4]}},\
         \"chunk_key_encoding\":{\"name\":\"default\",\"configuration\":{\"separator\":\"/\"}},\"fill_value\":0.0,\
         \"codecs\":[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}},{\"name\":\"blosc\",\
         \"configuration\":{\"cname\":\"zstd\",\"clevel\":2,\"shuffle\":\"shuffle\",\"typesize\":4,\"blocksize\":0}}]}\n"
    );
    assert_eq!(
        text(&array, Version::V2),
        ".zarray {\"zarr_format\":2,\"shape\":[6,4],\"chunks\":[6,4],\"dtype\":\"<f4\",\"compressor\":{\"id\":\
         \"blosc\",\"cname\":\"zstd\",\"clevel\":2,\"shuffle\":1,\"blocksize\":0},\"fill_value\":0.0,\"order\":\"C\",\
         \"filters\":null,\"dimension_separator\":\".\"}\n"
    );
    let bytes = ArrayDefinition::new(vec![], DataType::Integer { signed: false, bits: 8 });
    assert!(text(&bytes, Version::V3).contains(
        "[{\"name\":\"bytes\"},{\"name\":\"zstd\",\"configuration\":{\"level\":3,\"checksum\":false}}]"
    ));
    assert!(text(&bytes, Version::V2).contains("\"compressor\":{\"id\":\"zstd\",\"level\":3}"));
}

#[test]
fn writes_all_options_of_version_3() {
    let mut attributes = Object::new();
    attributes.insert("units", "K".into());
    let array = ArrayDefinition::new(vec![6, 4], DataType::Integer { signed: true, bits: 16 })
        .chunks(vec![1, 2])
        .shards(vec![6, 4])
        .codecs(vec![
            Shuffle { element: 2 }.into(),
            Deflate { level: 4 }.into(),
            Checksum { algorithm: ChecksumAlgorithm::Crc32c, at_start: false }.into(),
        ])
        .transpose(vec![1, 0])
        .fill((-1_i16).to_ne_bytes().to_vec())
        .byte_order(ByteOrder::Big)
        .separator(Separator::Dot)
        .dimension_names(vec![Some("y".to_owned()), None])
        .attributes(attributes);
    assert_eq!(
        text(&array, Version::V3),
        "zarr.json {\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[6,4],\"data_type\":\"int16\",\"chunk_grid\":\
         {\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[6,4]}},\"chunk_key_encoding\":{\"name\":\"default\",\
         \"configuration\":{\"separator\":\".\"}},\"fill_value\":-1,\"codecs\":[{\"name\":\"sharding_indexed\",\
         \"configuration\":{\"chunk_shape\":[1,2],\"codecs\":[{\"name\":\"transpose\",\"configuration\":{\"order\":[1,0]}},\
         {\"name\":\"bytes\",\"configuration\":{\"endian\":\"big\"}},{\"name\":\"numcodecs.shuffle\",\"configuration\":\
         {\"elementsize\":2}},{\"name\":\"numcodecs.zlib\",\"configuration\":{\"level\":4}},{\"name\":\"crc32c\"}],\
         \"index_codecs\":[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}},{\"name\":\"crc32c\"}],\
         \"index_location\":\"end\"}}],\"attributes\":{\"units\":\"K\"},\"dimension_names\":[\"y\",null]}\n"
    );
    assert_eq!(
        refused(&array, Version::V2),
        (ErrorKind::Unsupported, "shards, which version 2 does not have".to_owned())
    );
}

#[test]
fn bytes_have_the_order_of_the_codec_before_them() {
    for (dtype, endian) in [("<i4", "little"), (">i4", "big")] {
        let parameters = [("dtype".to_owned(), Json::from(dtype))].into_iter().collect();
        let delta = WrittenCodec::Numcodecs { id: "delta".to_owned(), parameters };
        for order in [ByteOrder::Little, ByteOrder::Big] {
            let array = ArrayDefinition::new(vec![6], DataType::Integer { signed: true, bits: 32 })
                .codecs(vec![delta.clone()])
                .byte_order(order);
            let text = text(&array, Version::V3);
            assert!(text.contains(&format!("{{\"endian\":\"{endian}\"}}")), "{text}");
        }
    }
}

#[test]
fn writes_all_options_of_version_2() {
    let array = ArrayDefinition::new(vec![6, 4], DataType::Integer { signed: true, bits: 16 })
        .chunks(vec![1, 2])
        .codecs(vec![Shuffle { element: 2 }.into(), Deflate { level: 4 }.into()])
        .transpose(vec![1, 0])
        .undefined_fill()
        .byte_order(ByteOrder::Big)
        .separator(Separator::Slash)
        .dimension_names(vec![Some("y".to_owned()), Some("x".to_owned())]);
    assert_eq!(
        text(&array, Version::V2),
        ".zattrs {\"_ARRAY_DIMENSIONS\":[\"y\",\"x\"]}\n\
         .zarray {\"zarr_format\":2,\"shape\":[6,4],\"chunks\":[1,2],\"dtype\":\">i2\",\"compressor\":{\"id\":\"zlib\",\
         \"level\":4},\"fill_value\":null,\"order\":\"F\",\"filters\":[{\"id\":\"shuffle\",\"elementsize\":2}],\
         \"dimension_separator\":\"/\"}\n"
    );
    let text_of = |data_type| text(&ArrayDefinition::new(vec![3], data_type), Version::V2);
    assert!(text_of(DataType::String).contains("\"filters\":[{\"id\":\"vlen-utf8\"}]"));
    assert!(text_of(DataType::Bytes).contains("\"filters\":[{\"id\":\"vlen-bytes\"}]"));
}

#[test]
fn structs_have_the_requested_form() {
    let array = ArrayDefinition::new(vec![2], dogs());
    let of = |form| {
        let array = array.clone().type_form(form);
        let told = documents(&array, Version::V3);
        let json = told.documents[0].1.as_object().unwrap().clone();
        (json.get("data_type").unwrap().emit_compact(), told.warnings)
    };
    let utf32 = "{\"name\":\"fixed_length_utf32\",\"configuration\":{\"length_bytes\":40}}";
    let registered = format!(
        "{{\"name\":\"struct\",\"configuration\":{{\"fields\":[{{\"name\":\"name\",\"data_type\":{utf32}}},\
         {{\"name\":\"age\",\"data_type\":\"int32\"}},{{\"name\":\"weight\",\"data_type\":\"float32\"}}]}}}}"
    );
    assert_eq!(of(TypeForm::Registered), (registered, vec![]));
    let seed = "[[\"name\",\"<U10\"],[\"age\",\"<i4\"],[\"weight\",\"<f4\"]]";
    assert_eq!(of(TypeForm::Seed), (seed.to_owned(), vec![]));
    let legacy = format!(
        "{{\"name\":\"structured\",\"configuration\":{{\"fields\":[[\"name\",{utf32}],[\"age\",\"int32\"],\
         [\"weight\",\"float32\"]]}}}}"
    );
    let warning = "\"structured\", which is only to be read and not to be written".to_owned();
    assert_eq!(of(TypeForm::Legacy), (legacy, vec![warning]));
    assert!(text(&array, Version::V2).contains(seed));
}

#[test]
fn removes_padding_of_structs_in_version_3() {
    let version_2 = r#"{"zarr_format":2,"shape":[6],"chunks":[2],"dtype":[["a",">i2"],["","|V2"],["b","<f4"]],
        "compressor":null,"fill_value":null,"order":"C","filters":null}"#;
    let json = Json::parse(".zarray", version_2.as_bytes(), &Limits::default()).unwrap();
    let padded = v2::ArrayMetadata::parse(&json, &Limits::default()).unwrap().dtype.data_type.clone();
    let array = ArrayDefinition::new(vec![6], padded);
    let told = documents(&array, Version::V3);
    let Metadata::V3(NodeMetadata::Array(metadata)) = told.metadata else { panic!() };
    let DataType::Struct(structure) = &*metadata.data_type else { panic!() };
    let offsets: Vec<_> = structure.fields().iter().map(|field: &Field| field.offset).collect();
    assert_eq!((offsets, structure.stored_size()), (vec![0, 2], 6));
    assert!(text(&array, Version::V2).contains("[[\"a\",\">i2\"],[\"\",\"|V2\"],[\"b\",\"<f4\"]]"));
}

#[test]
fn rejects_features_that_a_version_does_not_have() {
    let unsupported = |array: ArrayDefinition, version| {
        let (kind, message) = refused(&array, version);
        assert_eq!(kind, ErrorKind::Unsupported, "{message}");
        message
    };
    let of = |data_type| ArrayDefinition::new(vec![4, 4, 4], data_type);
    for (array, version, message) in [
        (of(float32()).rectilinear(vec![Edges::Step(1); 3]), Version::V2, "chunks of several sizes"),
        (of(DataType::Float(Float::Bfloat16)), Version::V2, "Bfloat16"),
        (of(DataType::Integer { signed: true, bits: 4 }), Version::V2, "bits: 4"),
        (
            of(float32()).fill(0x7fc0_0001_u32.to_ne_bytes().to_vec()),
            Version::V2,
            "the fill value 0x7fc00001",
        ),
        (of(float32()).transpose(vec![1, 0, 2]), Version::V2, "transposed storage [1, 0, 2]"),
        (
            of(float32()).dimension_names(vec![None, Some("x".to_owned()), None]),
            Version::V2,
            "names for only some dimensions",
        ),
        (of(float32()).undefined_fill(), Version::V3, "an undefined fill value"),
        (of(float32()).codecs(vec![Lzf.into()]), Version::V3, "the codec Lzf, which Zarr does not have"),
        (
            of(float32()).rectilinear(vec![Edges::Step(1); 3]).shards(vec![4, 4, 4]),
            Version::V3,
            "chunks of several sizes inside shards",
        ),
        (
            of(DataType::Array { element: Box::new(float32()), shape: vec![2] }),
            Version::V3,
            "an array inside an element",
        ),
    ] {
        let found = unsupported(array, version);
        assert!(found.contains(message), "{found}");
    }
    for (array, message) in [
        (of(float32()).chunks(vec![2, 2]), "2 dimensions of a chunk, expected 3, one per dimension"),
        (
            of(float32()).chunks(vec![2, 0, 2]),
            "zarr.json#/chunk_grid/configuration/chunk_shape/1: 0, expected 1 or more",
        ),
        (
            of(float32()).chunks(vec![2, 3, 2]).shards(vec![4, 4, 4]),
            "chunks of [2, 3, 2] do not divide shards of [4, 4, 4]",
        ),
        (of(float32()).fill(vec![0; 3]), "3 bytes, expected an element of Float(Float32)"),
        (of(float32()).dimension_names(vec![]), "0 dimension names, expected 3, one per dimension"),
        (
            of(float32()).rectilinear(vec![Edges::Step(1), Edges::Runs(vec![(1, 3)]), Edges::Step(2)]),
            "zarr.json#/chunk_grid/configuration/chunk_shapes/1: chunks of 3 elements in all, expected at least 4",
        ),
    ] {
        assert_eq!(refused(&array, Version::V3), (ErrorKind::InvalidArgument, message.to_owned()));
    }
}

#[test]
fn default_chunks_have_a_suitable_size() {
    assert_eq!(default_chunks(&[], 4), Vec::<u64>::new());
    assert_eq!(default_chunks(&[0, 7], 4), [1, 7]);
    assert_eq!(default_chunks(&[1024, 1024], 4), [512, 512]);
    assert_eq!(default_chunks(&[u64::MAX], 8), [1 << 17]);
    assert_eq!(default_chunks(&[3], 1 << 24), [1]);
    let chunks = default_chunks(&[240, 1024, 1024], 4);
    assert_eq!(chunks, [60, 64, 64]);
    assert_eq!(fitting(vec![60, 64, 5], &[240, 100, 7]), [60, 50, 1]);
    assert_eq!(fitting(vec![3], &[u64::MAX]), [3]);
}

#[test]
fn our_reader_understands_all_written_types() {
    let unit = TimeUnit::new("us", 10).unwrap();
    let mut types = vec![
        DataType::Bool,
        DataType::Raw { length: 3 },
        DataType::NullTerminatedBytes { length: 3 },
        DataType::FixedLengthUtf32 { length: 3 },
        DataType::String,
        DataType::Bytes,
        DataType::DateTime64(unit.clone()),
        DataType::TimeDelta64(unit),
        dogs(),
    ];
    for bits in [8, 16, 32, 64] {
        types.extend([true, false].map(|signed| DataType::Integer { signed, bits }));
    }
    for float in [Float::Float16, Float::Float32, Float::Float64] {
        types.push(DataType::Float(float));
    }
    types.extend([Float::Float32, Float::Float64].map(DataType::Complex));
    for data_type in types {
        let array = ArrayDefinition::new(vec![2, 3], data_type.clone());
        for order in [ByteOrder::Little, ByteOrder::Big] {
            let array = array.clone().byte_order(order);
            let Metadata::V3(NodeMetadata::Array(v3)) = documents(&array, Version::V3).metadata else {
                panic!()
            };
            assert_eq!(*v3.data_type, data_type);
            let Metadata::V2Array { array: v2, .. } = documents(&array, Version::V2).metadata else {
                panic!()
            };
            assert_eq!(v2.dtype.data_type.row_size(), data_type.row_size());
        }
    }
}
