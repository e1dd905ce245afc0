//! An encoder that tests whether the filters can encode all elements: it encodes and decodes each chunk without storing
//! it.

use super::array::ZarrEncoder;
use super::definition::ArrayPlan;
use super::{Silent, ZarrPlanner};
use crate::format::zarr::filter;
use crate::source::StoredForm;
use crate::target::{Encoded, Encoder, Facts, Filters, InnerChunks};
use bytes::Bytes;
use hyperslab_codec::Scratch;
use hyperslab_core::nd::{Region, element_bytes};
use hyperslab_core::rows::Heap;
use hyperslab_core::store::{Key, MemoryStore, WritableStore};
use hyperslab_core::{Limits, Result};
use hyperslab_model::{Node, NodePath, Values};
use hyperslab_zarr::Array;
use hyperslab_zarr::hierarchy;
use hyperslab_zarr::write::ArrayWriter;
use std::sync::Arc;

struct Trial {
    encoder: ZarrEncoder,
    array: Array,
    store: Arc<MemoryStore>,
}

impl ZarrPlanner<'_> {
    /// The encoder of an array, if its filters may reject an element.
    pub(super) fn trial_of(
        &self,
        path: &NodePath,
        node: &Node,
        facts: Facts,
    ) -> Result<Option<Box<dyn Encoder>>> {
        let has_filter =
            node.storage().is_some_and(|storage| storage.filters.iter().any(filter::converts_numbers));
        if !node.has_elements() || !has_filter {
            return Ok(None);
        }
        let ArrayPlan { definition, lowering, own, needs_unwritten, .. } =
            ArrayPlan::new(path, node, facts, &self.destination(), &mut Silent)?;
        let metadata = definition.documents(self.version)?.metadata;
        let array = Array::new(&hierarchy::Node { path: Key::root(), metadata }, &Limits::of_any_size())?;
        if !array.may_refuse() {
            return Ok(None);
        }
        let store = Arc::new(MemoryStore::new());
        let writable = Arc::clone(&store) as Arc<dyn WritableStore>;
        let writer = ArrayWriter::create(writable, &Key::root(), self.version, &definition)?;
        let encoder =
            ZarrEncoder::new(writer, lowering, own, node, (needs_unwritten, facts.filters == Filters::Asked));
        Ok(Some(Box::new(Trial { encoder, array, store })))
    }
}

impl Trial {
    /// Decodes a chunk as readers will, then discards it.
    fn decode(&self, index: &[u64], bytes: &[u8], scratch: &mut Scratch) -> Result<()> {
        let stored = self.encoder.index(index);
        let key = self.array.chunk_key(&stored)?;
        self.store.put(&key, bytes)?;
        let chunk = self.array.grid().chunk(&stored)?;
        let dims = chunk.start.iter().zip(&chunk.shape).zip(self.array.shape());
        let within = dims.map(|((start, size), len)| len.saturating_sub(*start).min(*size)).collect();
        let region = Region::new(chunk.start.clone(), within);
        let mut rows = vec![0; element_bytes(&region.count, self.array.row_size())?];
        self.array.read(&*self.store, &region, &mut rows, &mut Heap::<()>::default(), scratch)?;
        self.store.delete(&key).map(drop)
    }
}

impl Encoder for Trial {
    fn chunk(&self) -> &[u64] {
        self.encoder.chunk()
    }

    fn encode(&self, index: &[u64], values: &Values, out: Vec<u8>, scratch: &mut Scratch) -> Result<Encoded> {
        let encoded = Encoder::encode(&self.encoder, index, values, out, scratch)?;
        if let Encoded::Bytes(chunk) = &encoded {
            self.decode(index, &chunk.bytes, scratch)?;
        }
        Ok(encoded)
    }

    fn can_copy_raw(&self, form: &StoredForm) -> bool {
        self.encoder.can_copy_raw(form)
    }

    fn can_copy_raw_at(&self, index: &[u64]) -> bool {
        self.encoder.can_copy_raw_at(index)
    }

    fn needs_unwritten(&self) -> bool {
        self.encoder.needs_unwritten()
    }

    fn inner_chunks(&self) -> Option<&dyn InnerChunks> {
        self.encoder.inner_chunks().map(|_| self as &dyn InnerChunks)
    }
}

impl InnerChunks for Trial {
    fn shape(&self) -> &[u64] {
        InnerChunks::shape(&self.encoder)
    }

    fn encode(&self, within: &[u64], values: &Values, scratch: &mut Scratch) -> Result<Option<Bytes>> {
        // The inner chunks of a shard together can exceed the available memory, so none is kept.
        InnerChunks::encode(&self.encoder, within, values, scratch).map(|_| None)
    }

    fn assemble(&self, _: &[u64], _: Vec<Option<Bytes>>, _: Vec<u8>, _: &mut Scratch) -> Result<Encoded> {
        Ok(Encoded::Absent)
    }
}
