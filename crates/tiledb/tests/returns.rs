//! Random cells survive a round trip through random pipelines.

use crate::{KEY, decode};
use hyperslab_core::ErrorKind;
use hyperslab_tiledb::filter::{Key, Pipeline, Scratch, TileType};
use hyperslab_tiledb::format::data_type::DataType;
use hyperslab_tiledb::format::filter_pipeline::{Filter, FilterPipeline, ScaleFloat, Webp, WebpFormat};
use proptest::prelude::*;

fn filter() -> impl Strategy<Value = Filter> {
    let reinterpret =
        || prop_oneof![3 => Just(None), 1 => prop::sample::select(&DataType::ALL[..]).prop_map(Some)];
    prop_oneof![
        Just(Filter::Noop),
        (-1..=9).prop_map(|level| Filter::Gzip { level }),
        (-7..=9).prop_map(|level| Filter::Zstd { level }),
        Just(Filter::Lz4 { level: -1 }),
        Just(Filter::Rle { level: -1 }),
        (-1..=9).prop_map(|level| Filter::Bzip2 { level }),
        reinterpret().prop_map(|reinterpret| Filter::DoubleDelta { level: -1, reinterpret }),
        reinterpret().prop_map(|reinterpret| Filter::Delta { level: -1, reinterpret }),
        (0..300_u32).prop_map(|max_window| Filter::BitWidthReduction { max_window }),
        (0..300_u32).prop_map(|max_window| Filter::PositiveDelta { max_window }),
        Just(Filter::Bitshuffle),
        Just(Filter::Byteshuffle),
        Just(Filter::Xor),
        Just(Filter::ChecksumMd5),
        Just(Filter::ChecksumSha256),
        Just(Filter::Encryption),
    ]
}

fn pipeline(filters: Vec<Filter>, max_chunk_size: u32, tile: &TileType) -> Option<Pipeline> {
    let pipeline = Pipeline::new(&FilterPipeline { max_chunk_size, filters }, tile).ok()?;
    Some(pipeline.with_key(&Key::new(KEY).unwrap()))
}

/// Bytes that resemble each other, as those of cells do.
fn bytes(max: usize) -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..max),
        prop::collection::vec(0..3_u8, 0..max),
        (any::<u64>(), 0..max, 0..9_u32).prop_map(|(start, len, shift)| {
            (0..len as u64).flat_map(|at| (start + (at << shift)).to_le_bytes()).take(len).collect()
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn cells_return(
        filters in prop::collection::vec(filter(), 0..4),
        data_type in prop::sample::select(&DataType::ALL[..]),
        values in 1..4_u32,
        version in 5..24_u32,
        is_chunked in any::<bool>(),
        mut cells in bytes(3000),
        times in prop_oneof![5 => Just(1_usize), 1 => 1..90_usize],
    ) {
        let tile = TileType::fixed(data_type, values, version);
        let cell = usize::try_from(tile.cell_size).unwrap();
        cells.truncate(cells.len() / cell * cell);
        let cells = cells.repeat(times);
        let Some(pipeline) = pipeline(filters, u32::from(is_chunked), &tile) else { return Ok(()) };
        let (mut stored, mut scratch) = (b"before".to_vec(), Scratch::new());
        match pipeline.encode(&cells, &mut stored, &mut scratch) {
            Ok(()) => {
                let limit = cells.len() as u64;
                let (back, _) = decode(&pipeline, &stored[6..], limit, &mut scratch).unwrap();
                prop_assert_eq!(back, cells);
            }
            Err(e) => prop_assert_eq!(e.kind(), ErrorKind::InvalidArgument, "{}", e),
        }
    }

    #[test]
    fn strings_return(
        mut filters in prop::collection::vec(filter(), 0..3),
        first in prop_oneof![
            Just(Filter::Rle { level: -1 }), Just(Filter::Dictionary { level: -1 }), Just(Filter::Noop)
        ],
        data_type in prop_oneof![Just(DataType::StringAscii), Just(DataType::StringUtf8)],
        strings in prop::collection::vec(prop_oneof![
            3 => "[ab]{0,2}", 1 => "[a-z]{0,300}", 1 => Just("x".repeat(70_000))
        ], 0..60),
        version in 12..24_u32,
    ) {
        filters.insert(0, first);
        let tile = TileType::variable(data_type, version);
        let Some(pipeline) = pipeline(filters, 65_536, &tile) else { return Ok(()) };
        let (mut cells, mut offsets) = (Vec::new(), Vec::new());
        for string in &strings {
            offsets.push(cells.len() as u64);
            cells.extend_from_slice(string.as_bytes());
        }
        let (mut stored, mut scratch) = (Vec::new(), Scratch::new());
        match pipeline.encode_variable(&cells, &offsets, &mut stored, &mut scratch) {
            Ok(()) => {
                let limit = (cells.len() + offsets.len() * 8) as u64;
                let (back, back_offsets) = decode(&pipeline, &stored, limit, &mut scratch).unwrap();
                prop_assert_eq!(back, cells);
                if pipeline.rebuilds_offsets() {
                    prop_assert_eq!(back_offsets, offsets);
                }
            }
            Err(e) => prop_assert_eq!(e.kind(), ErrorKind::InvalidArgument, "{}", e),
        }
    }

    #[test]
    fn ascending_values_return(
        mut values in prop::collection::vec(any::<i64>(), 0..200),
        shift in 0..64_u32,
        max_window in 0..100_u32,
    ) {
        values.iter_mut().for_each(|value| *value >>= shift);
        values.sort_unstable();
        let cells: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let filters = vec![Filter::PositiveDelta { max_window }, Filter::BitWidthReduction { max_window }];
        let pipeline = pipeline(filters, 1, &TileType::fixed(DataType::Int64, 1, 22)).unwrap();
        let (mut stored, mut scratch) = (Vec::new(), Scratch::new());
        pipeline.encode(&cells, &mut stored, &mut scratch).unwrap();
        prop_assert_eq!(decode(&pipeline, &stored, 1600, &mut scratch).unwrap().0, cells);
    }

    #[test]
    fn whole_multiples_of_a_scale_return(
        values in prop::collection::vec(-100..100_i8, 0..100),
        byte_width in prop::sample::select(vec![1_u64, 2, 4, 8]),
        behind in prop::collection::vec(filter(), 0..2),
    ) {
        let scale = Filter::ScaleFloat(ScaleFloat { scale: 0.25, offset: -3.0, byte_width });
        let filters: Vec<Filter> = [scale].into_iter().chain(behind).collect();
        let reals = values.iter().map(|value| f32::from(*value) * 0.25 - 3.0);
        let single: Vec<u8> = reals.clone().flat_map(f32::to_le_bytes).collect();
        let double: Vec<u8> = reals.flat_map(|real| f64::from(real).to_le_bytes()).collect();
        for (data_type, cells) in [(DataType::Float32, single), (DataType::Float64, double)] {
            let Some(pipeline) = pipeline(filters.clone(), 1, &TileType::fixed(data_type, 1, 22)) else {
                continue;
            };
            let (mut stored, mut scratch) = (Vec::new(), Scratch::new());
            if pipeline.encode(&cells, &mut stored, &mut scratch).is_ok() {
                prop_assert_eq!(decode(&pipeline, &stored, 800, &mut scratch).unwrap().0, cells);
            }
        }
    }

    #[test]
    fn images_return(
        (rows, columns) in (1..20_u16, 1..20_u16),
        format in prop::sample::select(vec![WebpFormat::Rgb, WebpFormat::Bgr, WebpFormat::Rgba, WebpFormat::Bgra]),
        colours in prop::collection::vec(any::<u8>(), 20 * 20 * 4),
    ) {
        let depth = if matches!(format, WebpFormat::Rgb | WebpFormat::Bgr) { 3 } else { 4 };
        let x_extent = columns * depth;
        let webp = Webp { quality: 100.0, format, lossless: true, y_extent: rows, x_extent };
        let tile = TileType::fixed(DataType::UInt8, 1, 22);
        let pipeline = pipeline(vec![Filter::Webp(webp), Filter::ChecksumMd5], 65_536, &tile).unwrap();
        let cells = &colours[..usize::from(rows) * usize::from(x_extent)];
        let (mut stored, mut scratch) = (Vec::new(), Scratch::new());
        pipeline.encode(cells, &mut stored, &mut scratch).unwrap();
        prop_assert_eq!(decode(&pipeline, &stored, cells.len() as u64, &mut scratch).unwrap().0, cells);
    }
}
