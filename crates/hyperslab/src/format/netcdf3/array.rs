//! Elements of variables.

use super::super::netcdf::default_fill;
use super::datatype;
use crate::pool::Pool;
use crate::source::{ArraySource, ChunkLevel};
use hyperslab_codec::Scratch;
use hyperslab_core::nd::{Planes, Region, element_count};
use hyperslab_core::rows::Heap;
use hyperslab_core::storage::{ChunkPlace, ChunkPlacement, Container};
use hyperslab_core::{Error, Result};
use hyperslab_model::{Datatype, Reference, Values};
use hyperslab_netcdf3::{File, Layout, to_native};
use hyperslab_netcdf4::name::FILL_VALUE;
use std::sync::Arc;

pub(super) struct Netcdf3Array {
    file: Arc<File>,
    pool: Pool,
    layout: Layout,
    datatype: Arc<Datatype>,
    /// The value of elements that were never written; `None` for strings, where it is NUL.
    fill: Option<Vec<u8>>,
    /// All ones: reading a part of any shape costs only its bytes.
    chunk: Vec<u64>,
}

impl Netcdf3Array {
    pub(super) fn open(file: Arc<File>, pool: Pool, variable: usize) -> Result<Netcdf3Array> {
        let layout = file.layout(variable)?;
        let found = file.header().variables.get(variable);
        let variable = found.ok_or_else(|| Error::not_found(format!("no variable {variable}")))?;
        let datatype = datatype::datatype(variable.data_type).0;
        let own = variable.attributes.iter().find(|attribute| attribute.name == FILL_VALUE.as_bytes());
        let own = own.filter(|attribute| {
            attribute.data_type == variable.data_type && attribute.values.len() == layout.element
        });
        let own = own.map(|attribute| {
            let mut row = attribute.values.clone();
            to_native(&mut row, layout.element);
            row
        });
        let fill = own.or_else(|| default_fill(&datatype));
        let chunk = vec![1; layout.shape.len()];
        Ok(Netcdf3Array { file, pool, datatype: Arc::new(datatype), layout, fill, chunk })
    }
}

impl ArraySource for Netcdf3Array {
    fn extents(&self) -> Option<&[u64]> {
        Some(&self.layout.shape)
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

    fn read_part(
        &self,
        region: &Region,
        rows: &mut Planes<'_>,
        _heap: &mut Heap<Reference>,
        _scratch: &mut Scratch,
    ) -> Result<()> {
        self.file.read_part(&self.layout, region, rows)
    }

    fn fill(&self) -> Result<Option<Values>> {
        Ok(self.fill.clone().map(|row| Values { rows: row.into(), heap: Heap::default() }))
    }

    fn chunk_places(
        &self,
        _: ChunkLevel,
        visit: &mut dyn FnMut(ChunkPlace<'_>) -> Result<()>,
    ) -> Result<ChunkPlacement> {
        let Layout { shape, begin, record, block, .. } = &self.layout;
        let mut start = vec![0; shape.len()];
        let records = record.and_then(|distance| Some((distance, *shape.first()?)));
        let (distance, count) = records.unwrap_or((0, 1));
        for record in (0..count).take_while(|_| *block > 0) {
            // Without records, the first chunk is the whole array.
            start.iter_mut().take(1).for_each(|at| *at = record);
            let offset = record.checked_mul(distance).and_then(|offset| offset.checked_add(*begin));
            let offset = offset.ok_or_else(|| Error::malformed("a record that begins beyond 2^64"))?;
            let (container, len) = (Container::Opened, *block);
            visit(ChunkPlace { start: &start, container, offset, len, before: 0, filter_mask: 0 })?;
        }
        Ok(ChunkPlacement::All)
    }

    fn stored(&self) -> Result<u64> {
        stored_bytes(&self.layout)
    }
}

/// The size of all elements in bytes, without padding.
pub(super) fn stored_bytes(layout: &Layout) -> Result<u64> {
    let bytes = element_count(&layout.shape).and_then(|count| count.checked_mul(layout.element as u64));
    bytes.ok_or_else(|| Error::malformed("its elements take 2^64 bytes or more"))
}
