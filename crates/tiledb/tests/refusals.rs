//! What is rejected, and with which message.

use crate::{KEY, decode};
use hyperslab_core::{Error, ErrorKind};
use hyperslab_tiledb::filter::{Key, Pipeline, Scratch, TileType};
use hyperslab_tiledb::format::data_type::DataType;
use hyperslab_tiledb::format::filter_pipeline::{Filter, FilterPipeline, ScaleFloat, Webp, WebpFormat};

fn stored<const N: usize>(filters: [Filter; N]) -> FilterPipeline {
    FilterPipeline { max_chunk_size: 65_536, filters: filters.into() }
}

fn pipeline<const N: usize>(filters: [Filter; N], tile: TileType) -> Pipeline {
    Pipeline::new(&stored(filters), &tile).unwrap()
}

fn refused<const N: usize>(filters: [Filter; N], tile: TileType) -> Error {
    Pipeline::new(&stored(filters), &tile).err().unwrap()
}

fn encoded(pipeline: &Pipeline, cells: &[u8]) -> Result<Vec<u8>, Error> {
    let mut out = Vec::new();
    pipeline.encode(cells, &mut out, &mut Scratch::new())?;
    Ok(out)
}

const INT32: TileType =
    TileType { data_type: DataType::Int32, cell_size: 4, is_variable: false, version: 22 };

#[test]
fn encrypted_tiles_need_their_key() {
    let filters = stored([Filter::Byteshuffle]).encrypted();
    let locked = || Pipeline::new(&filters, &INT32).unwrap();
    let key = Key::new(KEY).unwrap();
    let tile = encoded(&locked().with_key(&key), &[7; 40]).unwrap();
    assert_ne!(tile, encoded(&locked().with_key(&key), &[7; 40]).unwrap());
    let open = |pipeline: Pipeline| decode(&pipeline, &tile, 40, &mut Scratch::new());
    assert_eq!(open(locked().with_key(&key)).unwrap().0, [7; 40]);

    let none = open(locked()).unwrap_err();
    assert_eq!(none.kind(), ErrorKind::InvalidArgument);
    assert_eq!(none.detail(), "the array is encrypted with AES-256-GCM, and no key is given");
    let wrong = open(locked().with_key(&Key::new(&[1; 32]).unwrap())).unwrap_err();
    assert_eq!(wrong.kind(), ErrorKind::Checksum);
    assert_eq!(wrong.detail(), "not encrypted with the given key, or changed since it was written");
    assert_eq!(Key::new(&[0; 16]).unwrap_err().detail(), "a key of 16 bytes, expected 32");
    assert_eq!(format!("{key:?}"), "Key(..)");
}

#[test]
fn damaged_bytes_fail_their_checksum_unless_it_is_not_compared() {
    for filter in [Filter::ChecksumMd5, Filter::ChecksumSha256] {
        let pipeline = pipeline([filter], INT32);
        let mut tile = encoded(&pipeline, &[7; 40]).unwrap();
        *tile.last_mut().unwrap() = 8;
        let e = decode(&pipeline, &tile, 40, &mut Scratch::new()).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Checksum);
        assert!(e.detail().contains("mismatch: stored "), "{e}");
        let cells = decode(&pipeline.without_verification(), &tile, 40, &mut Scratch::new()).unwrap().0;
        assert_eq!(cells[36..], [7, 7, 7, 8]);
    }
}

#[test]
fn larger_tiles_than_the_limit_are_refused_before_they_are_decoded() {
    let pipeline = pipeline([Filter::Zstd { level: 3 }], INT32);
    let tile = encoded(&pipeline, &[0; 400]).unwrap();
    let e = decode(&pipeline, &tile, 399, &mut Scratch::new()).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::LimitExceeded);
    assert_eq!(e.detail(), "a tile of 400 bytes, expected at most 399");
    decode(&pipeline, &tile, 400, &mut Scratch::new()).unwrap();
}

#[test]
fn filters_are_refused_for_types_that_they_do_not_have() {
    let float = TileType::fixed(DataType::Float32, 1, 22);
    let delta = Filter::Delta { level: -1, reinterpret: None };
    assert_eq!(refused([delta], float).detail(), "filter DELTA: differences of FLOAT32, expected integers");
    pipeline([Filter::Delta { level: -1, reinterpret: Some(DataType::Int32) }], float);
    // A preceding filter turns the numbers into integers.
    pipeline([Filter::Xor, delta], float);
    let scale = |byte_width| Filter::ScaleFloat(ScaleFloat { scale: 1.0, offset: 0.0, byte_width });
    pipeline([scale(4), delta], float);
    assert_eq!(
        refused([scale(3)], float).detail(),
        "filter SCALE_FLOAT: integers of 3 bytes, expected 1, 2, 4 or 8"
    );
    assert!(refused([scale(4)], TileType::fixed(DataType::Int8, 1, 22)).detail().contains("of 1 bytes"));
    let dictionary = Filter::Dictionary { level: -1 };
    for tile in
        [INT32, TileType::variable(DataType::StringAscii, 12), TileType::variable(DataType::StringUtf8, 16)]
    {
        assert_eq!(refused([dictionary], tile).kind(), ErrorKind::Malformed);
    }
    assert!(pipeline([dictionary], TileType::variable(DataType::StringAscii, 13)).rebuilds_offsets());
    let rle = Filter::Rle { level: -1 };
    assert!(!pipeline([rle], TileType::variable(DataType::StringUtf8, 16)).rebuilds_offsets());
    assert!(pipeline([rle], TileType::variable(DataType::StringUtf8, 17)).rebuilds_offsets());
    assert!(!pipeline([rle], TileType::fixed(DataType::StringAscii, 3, 22)).rebuilds_offsets());
    assert!(refused([Filter::Gzip { level: 300 }], INT32).detail().contains("level 300"));
    let none = Webp { quality: 1.0, format: WebpFormat::None, lossless: true, y_extent: 1, x_extent: 3 };
    assert!(refused([Filter::Webp(none)], INT32).detail().contains("no input format"));
}

#[test]
fn values_that_a_filter_does_not_hold_are_refused_in_encoding() {
    let falling = pipeline([Filter::PositiveDelta { max_window: 1024 }], INT32);
    let cells = [5_i32, 3].map(i32::to_le_bytes);
    assert_eq!(
        encoded(&falling, cells.as_flattened()).unwrap_err().detail(),
        "positive delta filter of values that decrease, from 5 to 3"
    );
    let scale = Filter::ScaleFloat(ScaleFloat { scale: 0.5, offset: 0.0, byte_width: 1 });
    let scaled = pipeline([scale], TileType::fixed(DataType::Float32, 1, 22));
    for value in [64.0_f32, f32::NAN, f32::INFINITY, 1e-40] {
        let e = encoded(&scaled, &value.to_le_bytes()).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::InvalidArgument, "{value}");
    }
    encoded(&scaled, &63.5_f32.to_le_bytes()).unwrap();
    let options = Webp { quality: 1.0, format: WebpFormat::Rgb, lossless: false, y_extent: 1, x_extent: 3 };
    let lossy = pipeline([Filter::Webp(options)], TileType::fixed(DataType::UInt8, 1, 22));
    let e = encoded(&lossy, &[1, 2, 3]).unwrap_err();
    assert_eq!(
        (e.kind(), e.detail()),
        (ErrorKind::Unsupported, "lossy WebP images are read, but not written")
    );
}

#[test]
fn filters_with_windows_left_times_alone_before_version_20() {
    let cells = [7_i64, 9].map(i64::to_le_bytes);
    for (version, len) in [(19, 8 + 12 + 16), (20, 8 + 12 + 4 + 12 + 16)] {
        let tile = TileType::fixed(DataType::DatetimeDay, 1, version);
        let pipeline = pipeline([Filter::PositiveDelta { max_window: 1024 }], tile);
        assert_eq!(encoded(&pipeline, cells.as_flattened()).unwrap().len(), len);
    }
}

#[test]
fn chunks_of_no_bytes_are_accepted() {
    let pipeline = pipeline([Filter::Gzip { level: 1 }], INT32);
    let mut tile = encoded(&pipeline, &[1; 8]).unwrap();
    tile[0] = 2;
    tile.extend([0; 12]);
    assert_eq!(decode(&pipeline, &tile, 8, &mut Scratch::new()).unwrap().0, [1; 8]);
    assert_eq!(decode(&pipeline, &[0; 8], 0, &mut Scratch::new()).unwrap().0, []);
    tile.push(0);
    let e = decode(&pipeline, &tile, 8, &mut Scratch::new()).unwrap_err();
    assert!(e.to_string().ends_with(": 1 bytes after the end"), "{e}");
}

#[test]
fn errors_name_the_filter_and_the_chunk() {
    let pipeline = pipeline([Filter::Byteshuffle], INT32);
    let mut tile = encoded(&pipeline, &[1; 8]).unwrap();
    tile[20] = 2;
    let e = decode(&pipeline, &tile, 8, &mut Scratch::new()).unwrap_err();
    assert_eq!(
        e.to_string(),
        "malformed Byteshuffle Filter at byte 0x4 of the chunk metadata stored at 0x8: 2 items do not fit in 4 bytes"
    );
}
