//! Trials of the compressor, for blocks whose bytes do not tell whether a search for matches makes them smaller.

use super::block::{BLOCK, Code, Runs};
use libdeflater::Compressor;

/// The trials of one input. Their results hold for blocks that are alike, so that few trials are needed.
#[derive(Default)]
pub(super) struct Trials {
    results: Vec<Trial>,
    /// The number of trials that the input is worth.
    left: usize,
    searched: Vec<u8>,
}

struct Trial {
    kind: Kind,
    is_search_worth: bool,
    /// How often the result holds, and how often it still does.
    held: usize,
    left: usize,
}

/// What makes blocks alike: numbers of bits for each byte.
#[derive(Clone, Copy)]
pub(super) struct Kind {
    /// The block, if it is not searched.
    block: f64,
    /// The part of it that is the header.
    header: f64,
    /// The part of it that is runs, approximately.
    runs: f64,
}

impl Kind {
    pub(super) fn new(code: &Code, runs: &Runs, len: usize) -> Kind {
        let for_each = |bits: usize| bits as f64 / len as f64;
        Kind {
            block: for_each(code.bits),
            header: for_each(code.header.bits()),
            runs: for_each(RUN_BITS * runs.len()),
        }
    }

    fn is_like(self, other: Kind) -> bool {
        let most = MAX_APART * self.block.max(other.block);
        (self.block - other.block).abs() <= most && (self.runs - other.runs).abs() <= most
    }
}

impl Trials {
    /// Begins an input of `len` bytes. What is encoded does not depend on earlier inputs.
    pub(super) fn begin(&mut self, len: usize) {
        self.results.clear();
        self.left = len / (BLOCKS_PER_TRIAL * BLOCK);
    }

    /// Whether a search makes a block noticeably smaller, or the input is worth no more trials. The block is searched
    /// to find out unless one of its kind was.
    pub(super) fn is_search_worth(&mut self, kind: Kind, block: &[u8], compressor: &mut Compressor) -> bool {
        let known = self.results.iter().position(|trial| trial.kind.is_like(kind));
        if let Some(trial) = known.and_then(|known| self.results.get_mut(known)) {
            // A search that was worth its time is not questioned again.
            if trial.is_search_worth {
                return true;
            }
            if trial.left > 0 {
                trial.left -= 1;
                return false;
            }
        }
        if self.left == 0 {
            return true;
        }
        self.left -= 1;
        self.searched.resize(compressor.deflate_compress_bound(block.len()), 0);
        let searched = compressor.deflate_compress(block, &mut self.searched).unwrap_or(0);
        // Blocks of the compressor may be longer and share a header.
        let searched = 8.0 * searched as f64 / block.len() as f64 - kind.header;
        let is_search_worth = kind.block > searched * MIN_GAIN;
        let held =
            known.map(|known| self.results.swap_remove(known)).map_or(FIRST_HELD, |before| 2 * before.held);
        self.results.push(Trial { kind, is_search_worth, held, left: held });
        is_search_worth
    }
}

/// There is at most one trial for this many blocks.
const BLOCKS_PER_TRIAL: usize = 8;
/// How often the first result that a search is not worth its time holds. Each further one of its kind holds twice as
/// often.
const FIRST_HELD: usize = 8;
/// The maximum difference between blocks that are alike, as a share of the larger one.
const MAX_APART: f64 = 0.15;
/// The approximate number of bits of a run.
const RUN_BITS: usize = 12;
/// A search is worth its time if a block that is not searched is larger than this share of the searched one. It is
/// below 1 because a block that is searched alone has fewer earlier bytes in its window.
const MIN_GAIN: f64 = 0.98;
