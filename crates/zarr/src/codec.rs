//! Codecs: what chunks are written through.
//!
//! A [`Chain`] is what metadata lists, made ready to read with: a permutation of dimensions, what makes bytes of
//! elements, and what these bytes pass. Codecs that know no format are [`hyperslab_codec`]'s.
//!
//! Spec: Zarr v3 "Codecs", Zarr v2 "Filters"

mod bytes_to_bytes;
mod crc32c;
mod sharding_indexed;
mod transpose;

use crate::data_type::{ByteOrder, DataType, Layout};
use crate::json::{Json, Spot};
use crate::metadata::Extension;
use crate::metadata::v2::{CodecConfiguration, Order};
use crate::store::{Key, Store};
use bytes::Bytes;
use bytes_to_bytes::Stages;
use hyperslab_codec::{Scratch, Shuffle};
use hyperslab_core::nd::{Region, element_count, scatter};
use hyperslab_core::{Error, ErrorKind, Limits, Result};
use sharding_indexed::Sharding;
use std::ops::Range;

/// The codecs of an array or of the inner chunks of its shards.
#[derive(Clone, Debug)]
pub(crate) struct Chain {
    /// Dimension `i` as stored is dimension `order[i]` of the array.
    order: Option<Vec<usize>>,
    to_bytes: ToBytes,
    stages: Stages,
}

#[derive(Clone, Debug)]
enum ToBytes {
    Bytes(Layout),
    Sharding(Box<Sharding>),
}

/// Stored bytes, of which parts can be had.
pub(crate) trait Source {
    fn len(&self) -> u64;
    fn part(&self, range: Range<u64>) -> Result<Bytes>;
}

/// What all chunks of an array have in common, and what is reused from one to the next.
pub(crate) struct Reader<'a> {
    pub(crate) fill: &'a [u8],
    pub(crate) limits: &'a Limits,
    pub(crate) scratch: &'a mut Scratch,
}

impl Chain {
    /// The codecs of version 3 for elements of fixed size, in chunks of `rank` dimensions.
    pub(crate) fn parse(
        codecs: &[Extension],
        data_type: &DataType,
        order: Option<ByteOrder>,
        rank: usize,
        at: &Spot<'_>,
    ) -> Result<Chain> {
        let mut permutation = None;
        let mut to_bytes = None;
        let mut stages = Stages::default();
        for (index, codec) in codecs.iter().enumerate() {
            let here = at.index(index);
            let name = codec.name.as_str();
            let is_first = match name {
                "transpose" | "bytes" | "sharding_indexed" => true,
                _ if stages.push_registered(codec, &here)? => false,
                _ if codec.may_be_ignored() => continue,
                _ => return Err(here.unsupported(format!("codec {name:?}"))),
            };
            match (is_first, to_bytes.is_some()) {
                (true, true) => return Err(here.malformed(format!("{name:?} of what is bytes already"))),
                (false, false) => return Err(here.malformed(format!("{name:?} of what is not bytes yet"))),
                _ => {}
            }
            match name {
                "transpose" => {
                    let next = transpose::parse(codec, rank, &here)?;
                    permutation = Some(transpose::then(permutation.as_deref(), &next));
                }
                "bytes" => to_bytes = Some(ToBytes::Bytes(layout(data_type, order, &here)?)),
                "sharding_indexed" => {
                    let sharding = Sharding::parse(codec, data_type, order, rank, &here)?;
                    to_bytes = Some(ToBytes::Sharding(Box::new(sharding)));
                }
                _ => {}
            }
        }
        let to_bytes = to_bytes.ok_or_else(|| at.malformed("no codec that makes bytes of elements"))?;
        Ok(Chain { order: permutation, to_bytes, stages })
    }

    /// The filters and the compressor of version 2.
    pub(crate) fn parse_v2(
        filters: &[CodecConfiguration],
        compressor: Option<&CodecConfiguration>,
        dtype: &crate::data_type::Dtype,
        order: (Order, usize),
        at: &Spot<'_>,
    ) -> Result<Chain> {
        let mut stages = Stages::default();
        let there = at.name("filters");
        for (index, filter) in filters.iter().enumerate() {
            let here = there.index(index);
            match filter.id.as_str() {
                "shuffle" => {
                    let size = filter.parameters.get("elementsize");
                    let element = size.map_or(Ok(4), |json| json.unsigned(&here.name("elementsize")))?;
                    let element = usize::try_from(element).unwrap_or(usize::MAX);
                    stages.push_codec(Shuffle { element });
                }
                _ if stages.push_numcodecs(&filter.id, &filter.parameters, &here)? => {}
                other => return Err(here.unsupported(format!("filter {other:?}"))),
            }
        }
        if let Some(compressor) = compressor {
            let here = at.name("compressor");
            if !stages.push_numcodecs(&compressor.id, &compressor.parameters, &here)? {
                return Err(here.unsupported(format!("compressor {:?}", compressor.id)));
            }
        }
        let permutation = match order {
            (Order::F, rank) if rank > 1 => Some((0..rank).rev().collect()),
            _ => None,
        };
        let layout = layout(&dtype.data_type, dtype.byte_order, &at.name("dtype"))?;
        Ok(Chain { order: permutation, to_bytes: ToBytes::Bytes(layout), stages })
    }

    /// Reads what a chunk, the box of `shape` at `start`, shares with a region into its rows.
    pub(crate) fn read(
        &self,
        source: &dyn Source,
        (start, shape): (&[u64], &[u64]),
        region: &Region,
        out: &mut [u8],
        reader: &mut Reader<'_>,
    ) -> Result<()> {
        match &self.to_bytes {
            ToBytes::Sharding(sharding) if self.order.is_none() && self.stages.is_empty() => {
                sharding.read(source, (start, shape), region, out, reader)
            }
            _ => {
                let rows = self.rows(source, shape, reader)?;
                scatter(&rows, start, shape, region, out, reader.fill.len())
            }
        }
    }

    /// The rows of a whole chunk.
    fn rows(&self, source: &dyn Source, shape: &[u64], reader: &mut Reader<'_>) -> Result<Bytes> {
        let row = reader.fill.len();
        let stored_shape = match &self.order {
            Some(order) => order.iter().filter_map(|dimension| shape.get(*dimension).copied()).collect(),
            None => shape.to_vec(),
        };
        let count = element_count(shape).and_then(|count| usize::try_from(count).ok());
        let size = |element: usize| {
            let size = count.and_then(|count| count.checked_mul(element));
            size.filter(|size| *size as u64 <= reader.limits.allocation).ok_or_else(|| {
                let limit = reader.limits.allocation;
                let detail =
                    format!("a chunk of {shape:?} elements of {element} bytes, at most {limit} bytes");
                Error::new(ErrorKind::LimitExceeded, format!("{detail} (raise with --limit allocation=N)"))
            })
        };
        let row_bytes = size(row)?;
        let rows = match &self.to_bytes {
            ToBytes::Bytes(layout) => {
                let raw = self.stages.decode(
                    whole(source, reader)?,
                    size(layout.stored_size())?,
                    reader.scratch,
                )?;
                match layout.is_plain() {
                    true => raw,
                    false => {
                        let mut rows = vec![0; row_bytes];
                        layout.decode(&raw, &mut rows)?;
                        rows.into()
                    }
                }
            }
            ToBytes::Sharding(sharding) => {
                let shard = self.stages.undo_checksums(whole(source, reader)?)?;
                let mut rows = vec![0; row_bytes];
                let start = vec![0; stored_shape.len()];
                let region = Region::all(&stored_shape);
                sharding.read(&InMemory(shard), (&start, &stored_shape), &region, &mut rows, reader)?;
                rows.into()
            }
        };
        match &self.order {
            Some(order) => transpose::undo(&rows, order, shape, row),
            None => Ok(rows),
        }
    }
}

fn whole(source: &dyn Source, reader: &Reader<'_>) -> Result<Bytes> {
    let len = source.len();
    match len > reader.limits.allocation {
        true => Err(Error::new(
            ErrorKind::LimitExceeded,
            format!("a chunk of {len} stored bytes (raise with --limit allocation=N)"),
        )),
        false => source.part(0..len),
    }
}

fn layout(data_type: &DataType, order: Option<ByteOrder>, at: &Spot<'_>) -> Result<Layout> {
    Layout::new(data_type, order).map_err(|e| match e.kind() {
        ErrorKind::InvalidArgument => at.unsupported("elements of variable size, which are not read"),
        _ => at.malformed(e.detail()),
    })
}

/// A value of a store.
pub(crate) struct Stored<'a> {
    store: &'a dyn Store,
    key: &'a Key,
    len: u64,
}

impl<'a> Stored<'a> {
    /// None if there is no such value.
    pub(crate) fn find(store: &'a dyn Store, key: &'a Key) -> Result<Option<Stored<'a>>> {
        Ok(store.size(key)?.map(|len| Stored { store, key, len }))
    }
}

impl Source for Stored<'_> {
    fn len(&self) -> u64 {
        self.len
    }

    fn part(&self, range: Range<u64>) -> Result<Bytes> {
        // The whole of a value is read as such: only then stores check what they know of it.
        let bytes = match range == (0..self.len) {
            true => self.store.read(self.key, self.len)?,
            false => self.store.read_range(self.key, range)?,
        };
        bytes.ok_or_else(|| Error::not_found(format!("{} is gone", self.key)))
    }
}

/// Bytes in hand.
pub(crate) struct InMemory(pub(crate) Bytes);

impl Source for InMemory {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn part(&self, range: Range<u64>) -> Result<Bytes> {
        hyperslab_core::storage::ReadAt::read_at(&self.0, range)
    }
}

fn boolean(json: Option<&Json>) -> bool {
    matches!(json, Some(Json::Bool(true)))
}
