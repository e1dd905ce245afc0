//! Truncated or changed tiles are rejected or decode to something, in bounded memory and without a panic.

use crate::{Case, Tile, cases, decode};
use hyperslab_tiledb::filter::{Pipeline, Scratch};

/// The maximum decoded size of a tile, which is more than any case has.
const LIMIT: u64 = 1 << 20;

/// The maximum number of bytes that buffers may hold, including those of decoders.
const MAX_HELD: usize = 12 << 20;

/// Places in a tile: all of a small one, some of a large one.
fn places(tile: &Tile) -> impl Iterator<Item = usize> {
    let len = tile.stored.len();
    (0..len).filter(move |at| len < 2000 || *at < 120 || at % 4999 == 0 || at + 8 > len)
}

fn each_tile(mut look: impl FnMut(&Case, &Pipeline, &Tile)) {
    for case in cases() {
        let pipeline = case.pipeline();
        for tile in &case.tiles {
            look(&case, &pipeline, tile);
        }
    }
}

#[test]
fn rejects_every_truncation() {
    let mut scratch = Scratch::new();
    each_tile(|case, pipeline, tile| {
        for end in places(tile) {
            let cut = decode(pipeline, &tile.stored[..end], LIMIT, &mut scratch);
            assert!(cut.is_err(), "{}: {end} of {} bytes", case.name, tile.stored.len());
        }
    });
}

#[test]
fn changed_bytes_never_panic_and_take_bounded_memory() {
    let mut scratch = Scratch::new();
    each_tile(|case, pipeline, tile| {
        let mut stored = tile.stored.clone();
        for at in places(tile) {
            let byte = stored[at];
            for changed in [0, 1, 0x7f, 0x80, 0xff, byte ^ 1, byte.wrapping_add(1)] {
                stored[at] = changed;
                if let Ok((cells, offsets)) = decode(pipeline, &stored, LIMIT, &mut scratch) {
                    assert!(cells.len() + offsets.len() * 8 <= 1 << 20, "{}", case.name);
                }
                assert!(scratch.held() <= MAX_HELD, "{}: {} bytes held", case.name, scratch.held());
            }
            stored[at] = byte;
        }
    });
}

#[test]
fn noise_never_panics() {
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut scratch = Scratch::new();
    each_tile(|_, pipeline, tile| {
        let mut stored = tile.stored.clone();
        stored.truncate(500);
        for _ in 0..20 {
            for byte in stored.iter_mut().skip(20) {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                *byte = random.to_le_bytes()[0];
            }
            let _ = decode(pipeline, &stored, LIMIT, &mut scratch);
        }
    });
}
