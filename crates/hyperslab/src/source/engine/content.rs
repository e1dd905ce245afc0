//! Limits what variable-length elements refer to: a small file can refer to the same bytes any number of times.

use super::cuts;
use crate::source::ArraySource;
use hyperslab_core::nd::Region;
use hyperslab_core::rows::Content;
use hyperslab_core::{ErrorKind, Result};

/// The content that the elements of an array may still refer to in one answer: [`PLAIN`] bytes, or as many as are in
/// proportion to the size of the store.
pub(crate) struct Allowed {
    content: Content,
    /// Whether the size of the store is part of the limit. It is determined only if needed, since it may require a
    /// walk.
    has_asked: bool,
}

impl Default for Allowed {
    fn default() -> Self {
        Allowed { content: Content { bytes: 0, most: PLAIN }, has_asked: false }
    }
}

impl Allowed {
    /// The number of bytes that may still be referred to.
    pub(crate) fn left(&self) -> u64 {
        self.content.left()
    }

    /// Whether more may be referred to than was known before.
    ///
    /// # Errors
    /// If the size of the store cannot be read.
    pub(crate) fn asks<A: ArraySource + ?Sized>(&mut self, array: &A) -> Result<bool> {
        if self.has_asked {
            return Ok(false);
        }
        self.has_asked = true;
        let known = self.content.most;
        self.content.most = array.most_content()?.max(known);
        Ok(self.content.most > known)
    }

    /// Counts content that was read.
    ///
    /// # Errors
    /// [`ErrorKind::LimitExceeded`] if there is more than is allowed.
    pub(crate) fn name(&mut self, array: &dyn ArraySource, bytes: u64) -> Result<()> {
        match self.content.name(bytes) {
            Err(_) if self.asks(array)? => self.content.name(0),
            named => named,
        }
    }
}

/// Reads bands of elements that refer to content of any length, and sends them in order. `read` receives the maximum
/// number of bytes that a band may refer to; bands with more than a share of the memory are read in halves, as far as
/// chunk borders allow. `send` returns the number of bytes that a band refers to.
///
/// # Errors
/// The first error of `read` or `send`, and [`ErrorKind::LimitExceeded`] for content out of proportion to the store.
pub(crate) fn bands<T>(
    arrays: &[&dyn ArraySource],
    chunk: &[u64],
    bands: impl Iterator<Item = Region>,
    read: &mut dyn FnMut(&Region, u64) -> Result<T>,
    send: &mut dyn FnMut(&Region, T) -> Result<u64>,
) -> Result<()> {
    let Some(array) = arrays.first() else { return Ok(()) };
    let share = array.pool().memory() / SHARES / arrays.len() as u64;
    let mut allowed = Allowed::default();
    for band in bands {
        let mut left = vec![band];
        while let Some(band) = left.pop() {
            let is_over = |found: &Result<T>| matches!(found, Err(e) if e.kind() == ErrorKind::LimitExceeded);
            let mut found = read(&band, share.min(allowed.left()));
            if is_over(&found) {
                if let Some([first, second]) = halves(&band, chunk) {
                    left.extend([second, first]);
                    continue;
                }
                found = read(&band, allowed.left());
                if is_over(&found) && allowed.asks(*array)? {
                    found = read(&band, allowed.left());
                }
            }
            let named = send(&band, found?)?;
            allowed.name(*array, named)?;
        }
    }
    Ok(())
}

/// The two parts of a region that meet at a chunk border, the first after its middle if there is one, along the first
/// dimension that has a border.
pub(crate) fn halves(region: &Region, chunk: &[u64]) -> Option<[Region; 2]> {
    let dims = region.start.iter().zip(&region.count).zip(&region.step).zip(chunk);
    for (dimension, (((start, count), step), chunk)) in dims.enumerate() {
        let places = (*start, *count, *step);
        let middle = cuts(places, *chunk, (count / 2).max(1)).first().copied();
        let Some(at) = middle.or_else(|| cuts(places, *chunk, 1).pop()) else { continue };
        let mut halves = [region.clone(), region.clone()];
        for (half, (first, count)) in halves.iter_mut().zip([(0, at), (at, count.checked_sub(at)?)]) {
            *half.start.get_mut(dimension)? = start.checked_add(first.checked_mul(*step)?)?;
            *half.count.get_mut(dimension)? = count;
        }
        return Some(halves);
    }
    None
}

/// The content that any store may name, in bytes.
const PLAIN: u64 = 256 << 20;
/// The content of a band is at most this part of the memory: one is processed while the next is read.
const SHARES: u64 = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::Pool;
    use crate::source::engine::stream;
    use bytes::Bytes;
    use hyperslab_codec::Scratch;
    use hyperslab_core::nd::Planes;
    use hyperslab_core::rows::Heap;
    use hyperslab_model::{Datatype, Elements, Reference, Text};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// A thousand strings in chunks of 10, which all refer to the same content of `size` bytes.
    struct Texts {
        datatype: Arc<Datatype>,
        pool: Pool,
        size: u64,
        largest: AtomicU64,
    }

    impl ArraySource for Texts {
        fn extents(&self) -> Option<&[u64]> {
            Some(&[1000])
        }

        fn datatype(&self) -> &Arc<Datatype> {
            &self.datatype
        }

        fn chunk(&self) -> &[u64] {
            &[10]
        }

        fn pool(&self) -> &Pool {
            &self.pool
        }

        fn read_part(
            &self,
            region: &Region,
            rows: &mut Planes<'_>,
            heap: &mut Heap<Reference>,
            _: &mut Scratch,
        ) -> Result<()> {
            let bytes = region.count[0] * self.size;
            heap.content.name(bytes)?;
            self.largest.fetch_max(bytes, Ordering::Relaxed);
            let slot = heap.push_bytes(Bytes::from_static(&[b'x'; 1024]))?.to_bytes();
            rows.slices(region).for_each(|(_, rows)| rows.as_chunks_mut().0.fill(slot));
            Ok(())
        }

        fn stored(&self) -> Result<u64> {
            Ok(1)
        }

        fn most_content(&self) -> Result<u64> {
            Ok(600 << 20)
        }
    }

    fn texts(memory: u64, size: u64) -> Texts {
        let (datatype, pool) = (Arc::new(Datatype::String(Text::Variable)), Pool::new(2, memory));
        Texts { datatype, pool, size, largest: AtomicU64::new(0) }
    }

    #[test]
    fn bands_hold_a_share_of_the_memory_whatever_their_elements_name() {
        let array = texts(1 << 19, 1 << 10);
        let mut texts = 0;
        stream(&array, &Region::all(&[1000]), &mut |_, values| {
            texts += Elements::new(array.datatype(), values).count();
            Ok(())
        })
        .unwrap();
        assert_eq!(texts, 1000);
        assert!(array.largest.into_inner() <= 1 << 16);
    }

    #[test]
    fn content_is_in_proportion_to_the_store() {
        for (size, is_allowed) in [(500 << 10, true), (700 << 10, false)] {
            let array = texts(1 << 30, size);
            let streamed = stream(&array, &Region::all(&[1000]), &mut |_, _| Ok(()));
            assert_eq!(streamed.err().map(|e| e.kind()), (!is_allowed).then_some(ErrorKind::LimitExceeded));
        }
    }

    #[test]
    fn halves_meet_at_borders_of_chunks_until_there_is_none() {
        let mut left = vec![Region::new(vec![3, 0], vec![20, 7])];
        let mut rows = Vec::new();
        while let Some(region) = left.pop() {
            match halves(&region, &[10, 7]) {
                Some([first, second]) => left.extend([second, first]),
                None => rows.push((region.start[0], region.count[0])),
            }
        }
        assert_eq!(rows, [(3, 7), (10, 10), (20, 3)]);
        assert!(halves(&Region::new(vec![0, 0], vec![10, 7]), &[10, 7]).is_none());
    }
}
