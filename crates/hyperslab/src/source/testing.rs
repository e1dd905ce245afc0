//! Sources for tests.

use super::{ArraySource, Dialect, Entry, Handle, Source};
use crate::pool::Pool;
use hyperslab_codec::Scratch;
use hyperslab_core::nd::{ChunkGrid, Planes, Region, advance};
use hyperslab_core::rows::Heap;
use hyperslab_core::{Error, Result};
use hyperslab_model::{Datatype, Node, NodePath, Reference};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// A chunked array of int64. Each element is its row-major number in the array.
pub(crate) struct Numbers {
    pub(crate) shape: Vec<u64>,
    chunk: Vec<u64>,
    datatype: Arc<Datatype>,
    pool: Pool,
    /// Elements with other values, by their row-major numbers.
    pub(crate) changed: BTreeMap<u64, i64>,
    /// The row-major number of an element that cannot be read.
    pub(crate) broken: Option<u64>,
    /// The indexes of read chunks, in the order of reading.
    pub(crate) read: Mutex<Vec<Vec<u64>>>,
}

impl Numbers {
    pub(crate) fn new(shape: &[u64], chunk: &[u64], pool: Pool) -> Numbers {
        Numbers {
            shape: shape.to_vec(),
            chunk: chunk.to_vec(),
            datatype: Arc::new(Datatype::int(64, true)),
            pool,
            changed: BTreeMap::new(),
            broken: None,
            read: Mutex::default(),
        }
    }

    /// The row-major number of the element with this index.
    pub(crate) fn place(&self, index: &[u64]) -> u64 {
        index.iter().zip(&self.shape).fold(0, |place, (index, extent)| place * extent + index)
    }

    /// The element with a row-major number.
    pub(crate) fn number(&self, place: u64) -> i64 {
        self.changed.get(&place).copied().unwrap_or_else(|| i64::try_from(place).unwrap())
    }

    /// The maximum number of times that a chunk was read.
    pub(crate) fn most_often(&self) -> usize {
        let mut read = self.read.lock().unwrap();
        read.sort();
        read.chunk_by(|a, b| a == b).map(<[_]>::len).max().unwrap_or(0)
    }

    fn has(&self, region: &Region, place: u64) -> bool {
        let mut rest = place;
        let mut inside = true;
        for (dimension, extent) in self.shape.iter().enumerate().rev() {
            let at = rest % extent;
            rest /= extent;
            let (start, step) = (region.start[dimension], region.step[dimension]);
            let steps = at.checked_sub(start).filter(|ahead| ahead % step == 0).map(|ahead| ahead / step);
            inside &= steps.is_some_and(|steps| steps < region.count[dimension]);
        }
        inside
    }

    /// The elements of a chunk in row-major order.
    fn decoded(&self, start: &[u64], shape: &[u64]) -> Vec<u8> {
        let (outer, last) = shape.split_at(shape.len().saturating_sub(1));
        let mut bytes = Vec::new();
        let mut steps = vec![0; outer.len()];
        loop {
            let mut index = start.to_vec();
            index.iter_mut().zip(&steps).for_each(|(at, step)| *at += step);
            let place = self.place(&index);
            let row = place..place + last.first().copied().unwrap_or(1);
            bytes.extend(row.flat_map(|place| self.number(place).to_ne_bytes()));
            if !advance(&mut steps, outer) {
                return bytes;
            }
        }
    }
}

impl ArraySource for Numbers {
    fn extents(&self) -> Option<&[u64]> {
        Some(&self.shape)
    }
    fn datatype(&self) -> &Arc<Datatype> {
        &self.datatype
    }
    fn chunk(&self) -> &[u64] {
        &self.chunk
    }
    fn pool(&self) -> &Pool {
        &self.pool
    }
    fn decoded_chunk(&self) -> Option<Vec<u64>> {
        Some(self.chunk.clone())
    }
    fn stored(&self) -> Result<u64> {
        Ok(1)
    }
    fn read_part(
        &self,
        region: &Region,
        rows: &mut Planes<'_>,
        _: &mut Heap<Reference>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        region.check(&self.shape)?;
        if self.broken.is_some_and(|place| self.has(region, place)) {
            return Err(Error::malformed("broken"));
        }
        for chunk in ChunkGrid::regular(&self.chunk)?.chunks_in(region)? {
            scratch.cancel.check()?;
            self.read.lock().unwrap().push(chunk.index.clone());
            if let Some(mut overlap) = rows.overlap(&chunk.start, &chunk.shape, region, 8)? {
                overlap.scatter(&self.decoded(&chunk.start, &chunk.shape))?;
            }
        }
        Ok(())
    }
}

/// A source without objects, for testing selections by position.
pub(crate) struct Nothing;

impl Source for Nothing {
    fn dialect(&self) -> &'static Dialect {
        const { &Dialect::new("nothing", None) }
    }
    fn size(&self) -> Result<u64> {
        Ok(0)
    }
    fn find(&self, path: &NodePath) -> Result<Entry> {
        Err(Error::not_found(path.to_string()))
    }
    fn members(&self, _: &Handle) -> Result<Vec<Entry>> {
        Ok(Vec::new())
    }
    fn load(&self, object: &Handle) -> Result<Node> {
        Err(Error::not_found(object.path.to_string()))
    }
    fn array(&self, object: &Handle) -> Result<Arc<dyn ArraySource>> {
        Err(Error::not_found(object.path.to_string()))
    }
}
