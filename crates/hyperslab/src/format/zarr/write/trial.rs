//! An array that is written to find out whether it can be: each chunk is encoded and decoded, and none is kept.

use super::array::ZarrArrayTarget;
use super::definition::Planned;
use super::{Unheard, ZarrPlanner};
use crate::format::zarr::filter;
use crate::source::StoredForm;
use crate::target::{ArrayTarget, Facts, PieceTarget};
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
    inner: ZarrArrayTarget<'static>,
    array: Array,
    store: Arc<MemoryStore>,
}

impl ZarrPlanner<'_> {
    /// The array, if its filters may refuse an element.
    pub(super) fn trial_of(
        &self,
        path: &NodePath,
        node: &Node,
        facts: Facts,
    ) -> Result<Option<Box<dyn ArrayTarget>>> {
        let has_filter =
            node.storage().is_some_and(|storage| storage.filters.iter().any(filter::is_of_numbers));
        if !node.has_elements() || !has_filter {
            return Ok(None);
        }
        let Planned { definition, lowering, own, wants_all } =
            Planned::new(path, node, self.version, facts, self.options, self.growing, &mut Unheard)?;
        let metadata = definition.documents(self.version)?.metadata;
        let array = Array::new(&hierarchy::Node { path: Key::root(), metadata }, &Limits::of_any_size())?;
        if !array.may_refuse() {
            return Ok(None);
        }
        let store = Arc::new(MemoryStore::new());
        let writable = Arc::clone(&store) as Arc<dyn WritableStore>;
        let writer = ArrayWriter::create(writable, &Key::root(), self.version, &definition)?;
        let inner = ZarrArrayTarget::new(writer, lowering, (own, wants_all), Box::new(|| {}));
        Ok(Some(Box::new(Trial { inner, array, store })))
    }
}

impl Trial {
    /// Decodes a chunk as readers will, and forgets it.
    fn decode(&self, index: &[u64], scratch: &mut Scratch) -> Result<()> {
        let stored = self.inner.index(index);
        let chunk = self.array.grid().chunk(&stored)?;
        let dims = chunk.start.iter().zip(&chunk.shape).zip(self.array.shape());
        let within = dims.map(|((start, size), len)| len.saturating_sub(*start).min(*size)).collect();
        let region = Region::new(chunk.start.clone(), within);
        let mut rows = vec![0; element_bytes(&region.count, self.array.row_size())?];
        self.array.read(&*self.store, &region, &mut rows, &mut Heap::<()>::default(), scratch)?;
        self.store.delete(&self.array.chunk_key(&stored)?).map(drop)
    }
}

impl ArrayTarget for Trial {
    fn chunk(&self) -> &[u64] {
        self.inner.chunk()
    }

    fn write(&self, index: &[u64], values: &Values, scratch: &mut Scratch) -> Result<Option<u64>> {
        let written = ArrayTarget::write(&self.inner, index, values, scratch)?;
        if written.is_some() {
            self.decode(index, scratch)?;
        }
        Ok(written)
    }

    fn wants_all(&self) -> bool {
        self.inner.wants_all()
    }

    fn accepts(&self, form: &StoredForm) -> bool {
        self.inner.accepts(form)
    }

    fn passes(&self, index: &[u64]) -> bool {
        self.inner.passes(index)
    }

    fn write_stored(&self, _: &[u64], _: &[u8]) -> Result<()> {
        Ok(())
    }

    fn pieces(&self) -> Option<&dyn PieceTarget> {
        self.inner.pieces().map(|_| self as &dyn PieceTarget)
    }

    fn finish(&self) -> Result<()> {
        Ok(())
    }

    fn abandon(&self) -> Result<()> {
        Ok(())
    }
}

impl PieceTarget for Trial {
    fn shape(&self) -> &[u64] {
        PieceTarget::shape(&self.inner)
    }

    fn encode(&self, within: &[u64], values: &Values, scratch: &mut Scratch) -> Result<Option<Bytes>> {
        // All of them are more than memory holds.
        self.inner.encode(within, values, scratch).map(|_| None)
    }

    fn write(&self, _: &[u64], _: Vec<Option<Bytes>>, _: &mut Scratch) -> Result<()> {
        Ok(())
    }
}
