//! Tiles written by the TileDB library decode to the same cells, which encode to the same bytes where filters leave no
//! choice.

use crate::{cases, decode};
use hyperslab_core::{Decoder, Encoder, ErrorKind};
use hyperslab_tiledb::filter::Scratch;
use hyperslab_tiledb::format::Structure;
use hyperslab_tiledb::format::filter_pipeline::Filter;

#[test]
fn decodes_the_tiles_of_the_tiledb_library() {
    let mut scratch = Scratch::new();
    let (mut tiles, cases) = (0, cases());
    for case in &cases {
        let pipeline = case.pipeline();
        for tile in &case.tiles {
            let (cells, offsets) = decode(&pipeline, &tile.stored, 1 << 20, &mut scratch)
                .unwrap_or_else(|e| panic!("{}: {e}", case.name));
            assert!(cells == tile.cells, "{}: {cells:02x?}, expected {:02x?}", case.name, tile.cells);
            if pipeline.rebuilds_offsets() {
                assert_eq!(offsets, tile.offsets, "{}", case.name);
            } else {
                let mut place = vec![0xee; tile.cells.len()];
                pipeline.decode_to(Decoder::new("Tile", 0, &tile.stored), &mut place, &mut scratch).unwrap();
                assert_eq!(place, tile.cells, "{}", case.name);
            }
            tiles += 1;
        }
    }
    assert!(cases.len() >= 250 && tiles >= 550, "{} cases, {tiles} tiles", cases.len());
}

#[test]
fn encodes_the_same_bytes_where_filters_leave_no_choice() {
    let mut scratch = Scratch::new();
    let (mut same, mut others) = (0, Vec::new());
    for case in cases() {
        let pipeline = case.pipeline();
        for tile in &case.tiles {
            let mut stored = Vec::new();
            let encoded = match case.tile_type.is_variable {
                true => pipeline.encode_variable(&tile.cells, &tile.offsets, &mut stored, &mut scratch),
                false => pipeline.encode(&tile.cells, &mut stored, &mut scratch),
            };
            if case.stored.filters.iter().any(|filter| matches!(filter, Filter::Webp(webp) if !webp.lossless))
            {
                assert_eq!(encoded.unwrap_err().kind(), ErrorKind::Unsupported, "{}", case.name);
                continue;
            }
            encoded.unwrap_or_else(|e| panic!("{}: {e}", case.name));
            if case.is_same {
                same += 1;
                if stored != tile.stored {
                    others.push(format!("{}:\n{stored:02x?}, expected\n{:02x?}", case.name, tile.stored));
                }
            }
            let (cells, offsets) = decode(&pipeline, &stored, 1 << 20, &mut scratch).unwrap();
            assert!(cells == tile.cells, "{}", case.name);
            assert!(!pipeline.rebuilds_offsets() || offsets == tile.offsets, "{}", case.name);
        }
    }
    assert!(others.is_empty(), "{}", others.join("\n"));
    assert!(same >= 400, "{same} tiles");
}

#[test]
fn stored_pipelines_return() {
    for case in cases() {
        let mut e = Encoder::new();
        case.stored.encode(&mut e, &case.version).unwrap();
        assert_eq!(e.as_slice(), case.pipeline_bytes, "{}", case.name);
    }
}
