//! Shuffle: the first bytes of all elements, then all second bytes, and so on; filter id 2 in the HDF5 registry.
//!
//! Bytes after the last whole element are not moved.

use crate::codec::{Transform, room};
use crate::coders::Coders;
use crate::vocabulary::{Elements, Given, Named, Vocabulary, int, named};
use hyperslab_core::Result;
use multiversion::multiversion;

/// Groups the bytes of equal significance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shuffle {
    /// The size of an element in bytes; 0 and 1 change nothing.
    pub element: usize,
}

impl Transform for Shuffle {
    fn decoded_sizes(&self, min: usize, max: usize) -> Option<(usize, usize)> {
        Some((min, max))
    }

    fn encoded_size(&self, raw: usize) -> Option<usize> {
        Some(raw)
    }

    fn max_encoded_size(&self, raw: usize) -> usize {
        raw
    }

    fn cut<'a>(&self, stored: &'a [u8]) -> Result<Option<&'a [u8]>> {
        Ok((self.element <= 1).then_some(stored))
    }

    fn decode(&self, stored: &[u8], out: &mut [u8], _: &mut Coders) -> Result<usize> {
        unshuffle_to(self.element, stored, room(out, stored.len())?);
        Ok(stored.len())
    }

    fn encode(&self, raw: &[u8], out: &mut Vec<u8>, _: &mut Coders) -> Result<()> {
        out.resize(raw.len(), 0);
        shuffle_to(self.element, raw, out);
        Ok(())
    }
}

impl Vocabulary for Shuffle {
    const NAMES: &'static [&'static str] = &["shuffle"];

    fn of_parameters(given: &Given<'_>) -> Result<Self> {
        Ok(Shuffle { element: given.int("bytes")? })
    }

    fn named(&self, _: &Elements) -> Option<Named> {
        named("shuffle", [("bytes", int(self.element))])
    }
}

/// Undoes the shuffle of elements of `element` bytes. Both slices have the same length.
pub(crate) fn unshuffle_to(element: usize, stored: &[u8], out: &mut [u8]) {
    let Some(whole) = whole_elements(element, stored, out) else {
        return out.copy_from_slice(stored);
    };
    let (stored, stored_tail) = stored.split_at(whole);
    let (out, out_tail) = out.split_at_mut(whole);
    match element {
        2 => unshuffle::<2>(stored, out),
        4 => unshuffle::<4>(stored, out),
        8 => unshuffle::<8>(stored, out),
        _ => unshuffle_any(element, stored, out),
    }
    out_tail.copy_from_slice(stored_tail);
}

/// Undoes the shuffle of elements whose size is the length of `apart`. A plane that `apart` has replaces that of
/// `stored`. Returns false and does nothing for sizes without a fast loop and planes of another length.
pub(crate) fn unshuffle_apart(stored: &[u8], apart: &[Option<&[u8]>], out: &mut [u8]) -> bool {
    match apart.len() {
        2 => unshuffle_parts::<2>(stored, apart, out),
        4 => unshuffle_parts::<4>(stored, apart, out),
        8 => unshuffle_parts::<8>(stored, apart, out),
        _ => None,
    }
    .is_some()
}

fn unshuffle_parts<const E: usize>(stored: &[u8], apart: &[Option<&[u8]>], out: &mut [u8]) -> Option<()> {
    let len = out.len() / E;
    let mut planes = [&[][..]; E];
    for ((plane, part), apart) in planes.iter_mut().zip(stored.chunks_exact(len.max(1))).zip(apart) {
        *plane = apart.unwrap_or(part);
    }
    if planes.iter().any(|plane| plane.len() != len) || out.len() != len * E {
        return None;
    }
    interleave(planes, out);
    Some(())
}

/// Shuffles elements of `element` bytes. Both slices have the same length.
pub(crate) fn shuffle_to(element: usize, raw: &[u8], out: &mut [u8]) {
    let Some(whole) = whole_elements(element, raw, out) else {
        return out.copy_from_slice(raw);
    };
    let (raw, raw_tail) = raw.split_at(whole);
    let (out, out_tail) = out.split_at_mut(whole);
    match element {
        2 => shuffle::<2>(raw, out),
        4 => shuffle::<4>(raw, out),
        8 => shuffle::<8>(raw, out),
        _ => shuffle_any(element, raw, out),
    }
    out_tail.copy_from_slice(raw_tail);
}

/// The size of all whole elements in bytes. `None` if there is at most one, or elements have at most one byte.
fn whole_elements(element: usize, from: &[u8], to: &[u8]) -> Option<usize> {
    assert_eq!(from.len(), to.len(), "source and target of a shuffle have the same length");
    let elements = from.len().checked_div(element)?;
    (element > 1 && elements > 1).then_some(elements * element)
}

// The compiler turns index loops with a constant element size into byte shuffles. It compiles iterators and closures
// separately, without the features of the processor.

#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512vl+avx512dq+avx2+bmi2",
    "x86_64+avx2+bmi1+bmi2",
    "aarch64+neon"
))]
#[expect(clippy::indexing_slicing, reason = "i < n = len / E, so every index is below n * E")]
fn unshuffle<const E: usize>(stored: &[u8], out: &mut [u8]) {
    let n = out.len() / E;
    let stored = &stored[..n * E];
    for i in 0..n {
        for b in 0..E {
            out[i * E + b] = stored[b * n + i];
        }
    }
}

#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512vl+avx512dq+avx2+bmi2",
    "x86_64+avx2+bmi1+bmi2",
    "aarch64+neon"
))]
#[expect(clippy::indexing_slicing, reason = "planes are cut to n bytes, and i < n = len / E")]
fn interleave<const E: usize>(mut planes: [&[u8]; E], out: &mut [u8]) {
    let n = out.len() / E;
    let mut b = 0;
    while b < E {
        planes[b] = &planes[b][..n];
        b += 1;
    }
    let out = &mut out[..n * E];
    for i in 0..n {
        for b in 0..E {
            out[i * E + b] = planes[b][i];
        }
    }
}

#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512vl+avx512dq+avx2+bmi2",
    "x86_64+avx2+bmi1+bmi2",
    "aarch64+neon"
))]
#[expect(clippy::indexing_slicing, reason = "i < n = len / E, so every index is below n * E")]
fn shuffle<const E: usize>(raw: &[u8], out: &mut [u8]) {
    let n = raw.len() / E;
    for b in 0..E {
        let plane = &mut out[b * n..(b + 1) * n];
        for i in 0..n {
            plane[i] = raw[i * E + b];
        }
    }
}

/// Undoes the shuffle for any element size: planes in groups of 8, 4, 2 and 1, which are element sizes with a fast
/// loop.
fn unshuffle_any(element: usize, stored: &[u8], out: &mut [u8]) {
    for_groups(element, |first, planes| match planes {
        8 => unshuffle_planes::<8>(element, first, stored, out),
        4 => unshuffle_planes::<4>(element, first, stored, out),
        2 => unshuffle_planes::<2>(element, first, stored, out),
        _ => unshuffle_planes::<1>(element, first, stored, out),
    });
}

fn shuffle_any(element: usize, raw: &[u8], out: &mut [u8]) {
    for_groups(element, |first, planes| match planes {
        8 => shuffle_planes::<8>(element, first, raw, out),
        4 => shuffle_planes::<4>(element, first, raw, out),
        2 => shuffle_planes::<2>(element, first, raw, out),
        _ => shuffle_planes::<1>(element, first, raw, out),
    });
}

fn for_groups(element: usize, mut each: impl FnMut(usize, usize)) {
    let mut first = 0;
    while first < element {
        let planes = match element - first {
            8.. => 8,
            4.. => 4,
            2.. => 2,
            _ => 1,
        };
        each(first, planes);
        first += planes;
    }
}

/// Moves planes `first` to `first + P` to their place in each element, a tile of elements at a time.
fn unshuffle_planes<const P: usize>(element: usize, first: usize, stored: &[u8], out: &mut [u8]) {
    let n = out.len() / element;
    let planes = || stored.chunks_exact(n).skip(first);
    let (mut shuffled, mut parts) = ([0; TILE], [0; TILE]);
    for (tile, elements) in out.chunks_mut(element.saturating_mul(TILE / P)).enumerate() {
        let from = tile * (TILE / P);
        let len = elements.len() / element;
        let (shuffled, _) = shuffled.split_at_mut(len * P);
        let (parts, _) = parts.split_at_mut(len * P);
        for (piece, plane) in shuffled.chunks_exact_mut(len).zip(planes()) {
            piece.copy_from_slice(plane.get(from..from + len).unwrap_or_default());
        }
        unshuffle::<P>(shuffled, parts);
        for (element, part) in elements.chunks_exact_mut(element).zip(parts.as_chunks::<P>().0) {
            if let Some(to) = element.get_mut(first..).and_then(<[u8]>::first_chunk_mut) {
                *to = *part;
            }
        }
    }
}

fn shuffle_planes<const P: usize>(element: usize, first: usize, raw: &[u8], out: &mut [u8]) {
    let n = raw.len() / element;
    let (mut parts, mut shuffled) = ([0; TILE], [0; TILE]);
    for (tile, elements) in raw.chunks(element.saturating_mul(TILE / P)).enumerate() {
        let from = tile * (TILE / P);
        let len = elements.len() / element;
        let (parts, _) = parts.split_at_mut(len * P);
        let (shuffled, _) = shuffled.split_at_mut(len * P);
        for (element, part) in elements.chunks_exact(element).zip(parts.as_chunks_mut::<P>().0) {
            if let Some(from) = element.get(first..).and_then(<[u8]>::first_chunk) {
                *part = *from;
            }
        }
        shuffle::<P>(parts, shuffled);
        let planes = out.chunks_exact_mut(n).skip(first);
        for (piece, plane) in shuffled.chunks_exact(len).zip(planes) {
            plane.get_mut(from..from + len).unwrap_or_default().copy_from_slice(piece);
        }
    }
}

/// The size of a tile in bytes: two of them fit into the L1 cache.
const TILE: usize = 2048;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The result by the definition, byte by byte.
    fn defined(element: usize, raw: &[u8]) -> Vec<u8> {
        let n = raw.len().checked_div(element).unwrap_or(0);
        let mut out = raw.to_vec();
        for (i, byte) in raw.iter().enumerate().take(n * element) {
            out[i % element * n + i / element] = *byte;
        }
        out
    }

    proptest! {
        #[test]
        fn bytes_go_where_the_definition_puts_them(
            element in prop_oneof![0..20_usize, Just(4000)],
            raw in prop::collection::vec(any::<u8>(), 0..9000),
        ) {
            let mut stored = vec![0; raw.len()];
            shuffle_to(element, &raw, &mut stored);
            prop_assert_eq!(&stored, &defined(element, &raw));
            let mut back = vec![0; raw.len()];
            unshuffle_to(element, &stored, &mut back);
            prop_assert_eq!(&back, &raw);
            if matches!(element, 2 | 4 | 8) && raw.len().is_multiple_of(element) && !raw.is_empty() {
                let n = raw.len() / element;
                let apart: Vec<_> = stored.chunks(n).enumerate().map(|(b, plane)| (b % 2 == 0).then_some(plane)).collect();
                let mut others = stored.clone();
                others.chunks_mut(n).step_by(2).for_each(|plane| plane.fill(0xee));
                back.fill(0);
                prop_assert!(unshuffle_apart(&others, &apart, &mut back));
                prop_assert_eq!(back, raw);
            }
        }
    }
}
