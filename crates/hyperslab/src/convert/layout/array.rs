//! The chunks and shards of one array, by the rules and its own shape.

use super::Held;
use super::option::{Cut, FilterRule};
use super::shape;
use crate::select::is_named;
use hyperslab_core::{Error, Remedy, Result};
use hyperslab_model::{Datatype, Extent, NodePath, Storage};

/// An array whose layout is determined.
pub(super) struct Array<'a> {
    pub(super) extents: Vec<Extent>,
    /// The paths of its dimensions.
    pub(super) names: Vec<Option<NodePath>>,
    pub(super) datatype: Option<&'a Datatype>,
    pub(super) storage: &'a mut Storage,
    pub(super) is_dimcoord: bool,
}

impl Array<'_> {
    /// The indexes of the dimensions with this name.
    pub(super) fn dimensions(&self, name: &str) -> impl Iterator<Item = usize> {
        let named = self.names.iter().enumerate();
        let named = named.filter(move |(_, own)| own.as_ref().is_some_and(|own| is_named(own, name)));
        named.map(|(dimension, _)| dimension)
    }

    fn row(&self) -> u64 {
        self.datatype.and_then(Datatype::row_size).map_or(1, |row| row as u64)
    }

    /// The maximum sizes of a chosen chunk: the extents of the array, or the chunk of the source along dimensions
    /// that can grow.
    fn limits(&self) -> Vec<u64> {
        let chunk = self.storage.chunk.as_deref().unwrap_or_default();
        let chunk = chunk.iter().copied().map(Some).chain(std::iter::repeat(None));
        let limit = |(extent, chunk): (&Extent, Option<u64>)| match extent {
            Extent::Fixed(extent) => *extent,
            Extent::Limited { current, max } => {
                chunk.map_or(*current, |chunk| (*current).max(chunk.min(*max)))
            }
            Extent::Unlimited { current } => (*current).max(chunk.unwrap_or(0)),
            Extent::Uncounted => 0,
        };
        self.extents.iter().zip(chunk).map(|pair| limit(pair).max(1)).collect()
    }

    /// The requested size, limited to the maximum length of the dimension.
    fn side(&self, dimension: usize, requested: u64) -> u64 {
        let max = self.extents.get(dimension).and_then(Extent::max);
        max.map_or(requested, |max| requested.min(max.max(1)))
    }

    pub(super) fn cut_chunks(&mut self, held: &Held<'_>, always: bool) -> Result<()> {
        let (limits, row) = (self.limits(), self.row());
        let source = self.storage.chunk.take();
        let chunk = match held.chunk {
            None | Some(Cut::Keep) => source,
            Some(Cut::None) => None,
            Some(Cut::Whole) => Some(self.extents.iter().map(|extent| extent.current().max(1)).collect()),
            Some(Cut::Shape(shape)) => {
                Some(shape.iter().enumerate().map(|(at, size)| self.side(at, *size)).collect())
            }
            Some(Cut::Sides(sides)) => Some(self.named_chunk(sides, source, limits.clone())),
            Some(Cut::Bytes(bytes)) => Some(shape::about(*bytes, row, &limits, source.as_deref())),
        };
        self.storage.chunk = match chunk {
            Some(chunk) => Some(chunk),
            None if always && held.chunk == Some(&Cut::None) => Some(limits),
            None if held.chunk == Some(&Cut::None) => return self.without_chunks(held),
            None if always || !self.storage.filters.is_empty() || needs_chunks(held.shard) => {
                Some(shape::about(USUAL_CHUNK, row, &limits, None))
            }
            None => None,
        };
        Ok(())
    }

    /// The chunk of the source, or a default one, with these sizes replaced.
    fn named_chunk(&self, sides: &[(String, u64)], source: Option<Vec<u64>>, limits: Vec<u64>) -> Vec<u64> {
        let is_chunked = source.is_some();
        let mut chunk = source.unwrap_or(limits);
        let mut open = vec![!is_chunked; chunk.len()];
        for (name, size) in sides {
            for dimension in self.dimensions(name) {
                let side = self.side(dimension, *size);
                chunk.iter_mut().skip(dimension).take(1).for_each(|own| *own = side);
                open.iter_mut().skip(dimension).take(1).for_each(|own| *own = false);
            }
        }
        shape::halve(&mut chunk, &open, self.row(), USUAL_CHUNK);
        chunk
    }

    /// Without chunks there can be no filters and no shards. Fails if a rule requests them.
    fn without_chunks(&mut self, held: &Held<'_>) -> Result<()> {
        let refused = match held.filter {
            Some(FilterRule::List(_)) if !self.storage.filters.is_empty() => Some("filters"),
            _ if needs_chunks(held.shard) => Some("shards"),
            _ => None,
        };
        if let Some(refused) = refused {
            return Err(Error::invalid(format!("{refused} without chunks")).with_remedy(Remedy::KeepChunks));
        }
        self.storage.filters.clear();
        self.storage.shard = None;
        Ok(())
    }

    pub(super) fn cut_shards(&mut self, cutting: Option<&Cut>) -> Result<()> {
        let Some(chunk) = self.storage.chunk.clone() else { return Ok(()) };
        let source = self.storage.shard.take();
        // The smallest multiples of the chunk that reach these sizes.
        let reaching = |sides: &[u64]| -> Vec<u64> {
            let pairs = sides.iter().zip(&chunk);
            pairs.map(|(side, chunk)| side.div_ceil(*chunk).max(1).saturating_mul(*chunk)).collect()
        };
        self.storage.shard = match cutting {
            // The chunks may have changed, and in NDL no shard exceeds the array.
            None | Some(Cut::Keep) => source.as_deref().map(reaching),
            Some(Cut::None) => None,
            Some(Cut::Whole) => Some(reaching(&self.limits())),
            Some(Cut::Bytes(bytes)) => {
                let mut shard = chunk.clone();
                shape::grow(&mut shard, &reaching(&self.limits()), self.row(), *bytes);
                Some(shard)
            }
            Some(Cut::Shape(shape)) => Some(self.whole_chunks(shape, &chunk, &reaching(shape))?),
            Some(Cut::Sides(sides)) => {
                let mut shard = source.as_deref().map_or_else(|| chunk.clone(), reaching);
                for (name, size) in sides {
                    for dimension in self.dimensions(name) {
                        shard.iter_mut().skip(dimension).take(1).for_each(|own| *own = *size);
                    }
                }
                Some(self.whole_chunks(&shard, &chunk, &reaching(&shard))?)
            }
        };
        Ok(())
    }

    /// A shard of this shape, which consists of whole chunks or has the maximum extent along a dimension.
    fn whole_chunks(&self, requested: &[u64], chunk: &[u64], reaching: &[u64]) -> Result<Vec<u64>> {
        let sides = requested.iter().zip(reaching).zip(&self.extents);
        let fits = sides.map(|((requested, reaching), extent)| {
            requested == reaching || extent.max().is_some_and(|max| max <= *requested)
        });
        if fits.clone().all(|fits| fits) {
            let max = self.extents.iter().zip(chunk).map(|(extent, chunk)| {
                extent.max().map_or(u64::MAX, |max| max.max(1).div_ceil(*chunk).saturating_mul(*chunk))
            });
            return Ok(reaching.iter().zip(max).map(|(side, max)| (*side).min(max)).collect());
        }
        let sides: Vec<_> = reaching.iter().map(u64::to_string).collect();
        Err(Error::invalid(format!("a shard of {requested:?} does not consist of whole chunks of {chunk:?}"))
            .with_hint(format_args!("one of {} does", sides.join(","))))
    }
}

fn needs_chunks(shard: Option<&Cut>) -> bool {
    !matches!(shard, None | Some(Cut::Keep | Cut::None))
}

/// The size in bytes of the chunks of an array that had none and needs some.
const USUAL_CHUNK: u64 = 4 << 20;
