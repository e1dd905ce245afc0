//! The filters of a Blosc block before compression.

use crate::coders::Coders;
use crate::{bitshuffle, shuffle};
use hyperslab_core::{Error, Result};

/// A filter that moves bits or bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Filter {
    Shuffle {
        element: usize,
    },
    /// With `all`, the filter applies to all elements or to none: Blosc 1 does not filter blocks whose number of
    /// elements is not a multiple of eight.
    Bitshuffle {
        element: usize,
        all: bool,
    },
    ByteDelta {
        element: usize,
    },
}

/// The filters of a chunk.
#[derive(Default)]
pub(super) struct Filters {
    /// In the order in which decoding undoes them.
    moving: Vec<Filter>,
    /// Whether elements are combined with those of the first block. This is undone last.
    delta: bool,
}

impl Filters {
    /// The filters of an extended header, with their parameters.
    pub(super) fn new<'a>(slots: impl Iterator<Item = (&'a u8, u8)>, element: usize) -> Result<Filters> {
        let mut filters = Filters::default();
        for (code, meta) in slots {
            let grouped = if meta == 0 { element } else { usize::from(meta) };
            let filter = match *code {
                NONE | TRUNCATED | INTEGER_TRUNCATED => continue,
                SHUFFLE => Filter::Shuffle { element: grouped },
                BITSHUFFLE => Filter::Bitshuffle { element, all: false },
                BYTE_DELTA => Filter::ByteDelta { element: grouped },
                DELTA if filters.moving.is_empty() => {
                    filters.delta = true;
                    continue;
                }
                DELTA => return Err(Error::unsupported("Blosc filter 3 (delta) after another filter")),
                other => return Err(Error::unsupported(format!("Blosc filter {other}{}", name(other)))),
            };
            filters.moving.insert(0, filter);
        }
        Ok(filters)
    }

    /// The filters of a header that is not extended.
    pub(super) fn of_flags(flags: u8, element: usize, first: bool) -> Filters {
        let moving = match () {
            () if flags & 1 != 0 => vec![Filter::Shuffle { element }],
            () if flags & 4 != 0 => vec![Filter::Bitshuffle { element, all: first }],
            () => Vec::new(),
        };
        Filters { moving, delta: flags & 8 != 0 && !first }
    }

    /// The filters that move bits or bytes, in the order in which decoding undoes them.
    pub(super) fn moving(&self) -> &[Filter] {
        &self.moving
    }

    pub(super) fn has_delta(&self) -> bool {
        self.delta
    }

    /// Undoes these filters, from `streams` to `out`.
    pub(super) fn undo(&self, streams: &mut Vec<u8>, out: &mut [u8], coders: &mut Coders) -> Result<()> {
        let mut left = self.moving.as_slice();
        while let [filter, rest @ ..] = left {
            left = rest;
            if rest.is_empty() {
                filter.undo(streams, out, coders);
            } else {
                let mut between = vec![0; streams.len()];
                filter.undo(streams, &mut between, coders);
                *streams = between;
            }
        }
        Ok(())
    }
}

impl Filter {
    fn undo(&self, from: &[u8], to: &mut [u8], coders: &mut Coders) {
        match *self {
            Filter::Shuffle { element } => shuffle::unshuffle_to(element, from, to),
            Filter::Bitshuffle { element, all } => {
                let (from, from_tail) = from.split_at(shuffled(from.len(), element, all));
                let (to, to_tail) = to.split_at_mut(from.len());
                bitshuffle::unshuffle_bits(element, from, to, &mut coders.planes);
                to_tail.copy_from_slice(from_tail);
            }
            Filter::ByteDelta { element } => {
                to.copy_from_slice(from);
                let stream = to.len() / element.max(1);
                for stream in to.chunks_exact_mut(stream.max(1)).take(element) {
                    let mut sum = 0_u8;
                    for byte in stream {
                        sum = sum.wrapping_add(*byte);
                        *byte = sum;
                    }
                }
            }
        }
    }

    /// Applies the filter, from `from` to `to`.
    pub(super) fn apply(&self, from: &[u8], to: &mut [u8], coders: &mut Coders) {
        match *self {
            Filter::Shuffle { element } => shuffle::shuffle_to(element, from, to),
            Filter::Bitshuffle { element, all } => {
                let (from, from_tail) = from.split_at(shuffled(from.len(), element, all));
                let (to, to_tail) = to.split_at_mut(from.len());
                bitshuffle::shuffle_bits(element, from, to, &mut coders.planes);
                to_tail.copy_from_slice(from_tail);
            }
            Filter::ByteDelta { element } => {
                to.copy_from_slice(from);
                let stream = to.len() / element.max(1);
                for stream in to.chunks_exact_mut(stream.max(1)).take(element) {
                    let mut before = 0_u8;
                    for byte in stream {
                        (*byte, before) = (byte.wrapping_sub(before), *byte);
                    }
                }
            }
        }
    }

    /// Undoes the delta filter: combines elements of the first block with the elements before them, those of other
    /// blocks with the elements of the first.
    pub(super) fn undo_delta(element: usize, first: &[u8], out: &mut [u8]) {
        let width = match element {
            1 | 2 | 4 | 8 => element,
            other if other.is_multiple_of(8) => 8,
            _ => 1,
        };
        let whole = out.len() / width * width;
        let (out, _) = out.split_at_mut(whole);
        if !first.is_empty() {
            out.iter_mut().zip(first).for_each(|(byte, first)| *byte ^= first);
            return;
        }
        let mut before = [0; 8];
        for element in out.chunks_exact_mut(width) {
            for (byte, before) in element.iter_mut().zip(&mut before) {
                *byte ^= *before;
                *before = *byte;
            }
        }
    }
}

/// The number of bytes whose bits are shuffled.
fn shuffled(len: usize, element: usize, all: bool) -> usize {
    let elements = len / element.max(1);
    let whole = elements / 8 * 8;
    if all && whole != elements { 0 } else { whole * element }
}

fn name(code: u8) -> &'static str {
    match code {
        5 => " (user-defined)",
        32 => " (ndcell)",
        33 => " (ndmean)",
        34 => " (bytedelta of early versions)",
        _ => "",
    }
}

const NONE: u8 = 0;
const SHUFFLE: u8 = 1;
const BITSHUFFLE: u8 = 2;
const DELTA: u8 = 3;
const TRUNCATED: u8 = 4;
const BYTE_DELTA: u8 = 35;
const INTEGER_TRUNCATED: u8 = 36;
