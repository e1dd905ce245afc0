use super::*;
use hyperslab_codec::{
    Bitshuffle, BitshuffleCodec, Blosc, Blosc2, BloscCodec, BloscShuffle, Bzip2, Deflate, Gzip, Lz4Hdf5, Lzf,
    Shuffle, Snappy, Zstd,
};

fn filter(id: u16, name: &[u8], client_data: &[u32]) -> Filter {
    Filter { id, name: name.to_vec(), optional: true, client_data: client_data.to_vec() }
}

#[test]
fn registered_filters_are_sorted_and_unique() {
    for pair in REGISTERED.windows(2) {
        assert!(pair[0].id < pair[1].id, "{} and {}", pair[0].id, pair[1].id);
    }
}

/// Client data as the filters themselves write them.
#[test]
fn round_trips_client_data() {
    let (codec, shuffle) = (BloscCodec::Zstd, BloscShuffle::Bit);
    let shape = vec![16, 16];
    let cases: [(Codec, u16, &[u32]); 14] = [
        (Deflate { level: 4 }.into(), 1, &[4]),
        (Shuffle { element: 8 }.into(), 2, &[8]),
        (Bzip2 { level: 9 }.into(), 307, &[9]),
        (Lzf.into(), 32000, &[4, 261, 1024]),
        (Blosc { codec, level: 7, shuffle, element: 4, block: 0 }.into(), 32001, &[2, 2, 4, 1024, 7, 2, 5]),
        (Snappy.into(), 32003, &[]),
        (Lz4Hdf5 { block: 64 }.into(), 32004, &[64]),
        (Bitshuffle { element: 4, block: 0, codec: BitshuffleCodec::None }.into(), 32008, &[0, 4, 4, 0, 0]),
        (Bitshuffle { element: 4, block: 64, codec: BitshuffleCodec::Lz4 }.into(), 32008, &[0, 4, 4, 64, 2]),
        (
            Bitshuffle { element: 2, block: 0, codec: BitshuffleCodec::Zstd { level: 5 } }.into(),
            32008,
            &[0, 4, 2, 0, 3, 5],
        ),
        (Zstd { level: 3, checksum: false }.into(), 32015, &[3]),
        (Zstd { level: -1, checksum: false }.into(), 32015, &[u32::MAX]),
        (
            Blosc2 { codec, level: 5, shuffle, element: 4, block: 256, shape: vec![] }.into(),
            32026,
            &[1, 256, 4, 1024, 5, 2, 5],
        ),
        (
            Blosc2 { codec, level: 5, shuffle, element: 4, block: 0, shape }.into(),
            32026,
            &[1, 0, 4, 1024, 5, 2, 5, 2, 16, 16],
        ),
    ];
    for (typed, id, values) in cases {
        assert_eq!(client_data(&typed, 1024).unwrap(), (id, values.to_vec()));
        assert_eq!(codec_of(id, values), typed);
    }
    assert_eq!(client_data(&Gzip { level: 1 }.into(), 8).unwrap_err().kind(), ErrorKind::InvalidArgument);
}

fn codec_of(id: u16, values: &[u32]) -> Codec {
    codec(&filter(id, b"", values), 4).unwrap().unwrap()
}

#[test]
fn missing_client_data_mean_the_defaults_of_the_writers() {
    assert_eq!(codec_of(2, &[]), Shuffle { element: 4 }.into());
    assert_eq!(codec_of(32015, &[]), Zstd { level: 3, checksum: false }.into());
    assert_eq!(
        codec_of(32008, &[]),
        Bitshuffle { element: 4, block: 0, codec: BitshuffleCodec::None }.into()
    );
    let (codec, shuffle) = (BloscCodec::BloscLz, BloscShuffle::Byte);
    assert_eq!(codec_of(32001, &[]), Blosc { codec, level: 5, shuffle, element: 4, block: 0 }.into());
}

#[test]
fn rejects_unknown_filters_by_name() {
    let refused = |id, name: &[u8]| codec(&filter(id, name, &[]), 4).unwrap_err().to_string();
    assert_eq!(refused(32007, b""), "filter 32007 (JPEG-XR)");
    assert_eq!(refused(305, b"lzo"), "filter 305 (LZO)");
    assert_eq!(refused(257, b"dynlib1"), "filter 257 (dynlib1)");
    assert_eq!(refused(257, b""), "filter 257 (hzip)");
    assert_eq!(refused(40_000, b"ours\0"), "filter 40000 (ours)");
    assert_eq!(refused(40_000, b""), "filter 40000");
}

#[test]
fn rejects_invalid_client_data() {
    let e = codec(&filter(32008, b"", &[0, 4, 0, 0, 2]), 4).unwrap_err();
    assert_eq!(e.to_string(), "client data of filter 32008 (bitshuffle): element size 0, expected 1 or more");
    assert_eq!(e.kind(), ErrorKind::Malformed);
    let e = codec(&filter(32008, b"", &[0, 4, 4, 0, 9]), 4).unwrap_err();
    assert_eq!(e.to_string(), "client data of filter 32008 (bitshuffle): codec 9, expected 0, 2 or 3");
    assert_eq!(e.kind(), ErrorKind::Unsupported);
}

#[test]
fn a_filter_mask_skips_even_unsupported_filters() {
    let pipeline = Pipeline::new(&[filter(2, b"", &[2]), filter(32007, b"", &[])], 2);
    let (mut out, mut scratch) = (Vec::new(), Scratch::new());
    pipeline.decode(0b10, &[1, 3, 2, 4], &mut out, 4, &mut scratch).unwrap();
    assert_eq!(out, [1, 2, 3, 4]);
    pipeline.decode(0b11, &[1, 3, 2, 4], &mut out, 4, &mut scratch).unwrap();
    assert_eq!(out, [1, 3, 2, 4]);
    let e = pipeline.decode(0b01, &[1, 3, 2, 4], &mut out, 4, &mut scratch).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Unsupported);
}

#[test]
fn chunks_of_rounding_filters_are_read_unchanged() {
    let pipeline = Pipeline::new(&[filter(32022, b"", &[3, 4, 0, 0, 0]), filter(32023, b"", &[])], 4);
    let mut out = Vec::new();
    pipeline.decode(0, &[1, 2, 3, 4], &mut out, 4, &mut Scratch::new()).unwrap();
    assert_eq!(out, [1, 2, 3, 4]);
}

/// The client data that libhdf5 computed for datasets.
#[test]
fn client_data_depend_on_elements_and_chunks_as_in_libhdf5() {
    use crate::format::message::datatype::Datatype;
    use crate::format::message::filter_pipeline::FilterPipeline;
    use crate::format::{Sizes, decode_prefix};
    let mut found = 0;
    for line in include_str!("../../tests/golden/dataset_messages.txt").lines() {
        let message = |key: &str| {
            let hex = line.split(' ').find_map(|word| word.strip_prefix(key)?.strip_prefix('='))?;
            let digit = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
            Some((0..hex.len()).step_by(2).map(digit).collect::<Vec<u8>>())
        };
        let Some(filters) = message("filters") else { continue };
        let datatype: Datatype = decode_prefix(0, &message("datatype").unwrap(), &Sizes::DEFAULT).unwrap();
        let pipeline: FilterPipeline = decode_prefix(0, &filters, &Sizes::DEFAULT).unwrap();
        let shape: Vec<u64> =
            line.split(' ').nth(3).unwrap().split('x').map(|n| n.parse().unwrap()).collect();
        let chunks = Chunks { datatype: &datatype, shape: &shape };
        for filter in pipeline.filters {
            let data = &filter.client_data;
            let own = match filter.id {
                SZIP => chunks.szip(data[1], data[0] & 32 != 0),
                NBIT => chunks.nbit(),
                SCALEOFFSET => {
                    let factor = data[1];
                    let kept =
                        if data[0] == 2 { Kept::Bits(factor) } else { Kept::Digits(factor.cast_signed()) };
                    let fill = u64::from(data[9]) << 32 | u64::from(data[8]);
                    chunks.scale_offset(kept, (data[7] != 0).then_some(fill))
                }
                _ => continue,
            };
            assert_eq!(own.unwrap(), *data, "{line}");
            found += 1;
        }
    }
    assert!(found > 40, "{found}");
}

#[test]
fn filters_of_numbers_refuse_other_elements_by_name() {
    use crate::format::message::character_set::CharacterSet;
    use crate::format::message::datatype::{Datatype, DatatypeClass, StringPadding, Text, Version};
    let text = Text { padding: StringPadding::NullPad, character_set: CharacterSet::Ascii };
    let datatype = Datatype { version: Version::V1, size: 4, class: DatatypeClass::String(text) };
    let chunks = Chunks { datatype: &datatype, shape: &[8] };
    let detail = |refused: Result<Vec<u32>>| refused.unwrap_err().detail().to_owned();
    assert_eq!(
        detail(chunks.szip(8, true)),
        "szip of other elements than integers and floating-point numbers"
    );
    assert_eq!(
        detail(chunks.scale_offset(Kept::Bits(3), None)),
        "scaleoffset to a number of bits of other elements than integers"
    );
    assert_eq!(
        detail(chunks.zfp(ZfpMode::Reversible)),
        "zfp of other elements than integers or IEEE numbers of 4 or 8 bytes"
    );
}
