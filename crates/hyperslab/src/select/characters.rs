//! Names along a dimension, stored as an array of characters with one name in each row.
//!
//! Spec: CF 1.13, 2.2 Data Types, 6.1 Labels

use crate::source::{ArraySource, ArrayView, Entry, Item};
use hyperslab_codec::Scratch;
use hyperslab_core::Result;
use hyperslab_core::nd::{Planes, Region};
use hyperslab_core::rows::Heap;
use hyperslab_model::{Datatype, Pad, Reference, Text};
use std::sync::Arc;

/// Whether an array consists of characters, and its first dimension has the name of the array.
pub(super) fn are_names(entry: &Entry) -> bool {
    let Item::Array { datatype: Some(datatype), .. } = &entry.item else { return false };
    matches!(datatype.resolved(), Datatype::String(Text::Fixed { len: 1, .. }))
        && entry.dimensions().is_some_and(|dims| {
            dims.len() == 2
                && dims.first().is_some_and(|of| of.coordinate.as_ref() == Some(&entry.handle.path))
        })
}

/// The rows of an array of characters as strings, without padding.
pub(super) struct Names {
    characters: Arc<dyn ArraySource>,
    extents: [u64; 1],
    length: u64,
    datatype: Arc<Datatype>,
}

impl Names {
    /// The names; `None` if the array does not have the dimensions of rows of characters.
    pub(super) fn shared(characters: Arc<dyn ArraySource>) -> Option<Arc<dyn ArraySource>> {
        let &[count, length] = characters.extents()? else { return None };
        let len = u32::try_from(length).ok().filter(|len| *len > 0)?;
        let datatype = Arc::new(Datatype::String(Text::Fixed { len, pad: Pad::Nul }));
        Some(Arc::new(Names { characters, extents: [count], length, datatype }))
    }
}

impl ArrayView for Names {
    fn viewed(&self) -> &dyn ArraySource {
        &*self.characters
    }

    fn shown_extents(&self) -> Option<&[u64]> {
        Some(&self.extents)
    }

    fn shown_datatype(&self) -> &Arc<Datatype> {
        &self.datatype
    }

    fn shown_chunk(&self) -> &[u64] {
        self.characters.chunk().get(..1).unwrap_or(&[1])
    }

    fn read_shown(
        &self,
        region: &Region,
        rows: &mut Planes<'_>,
        heap: &mut Heap<Reference>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        rows.slices(region).try_for_each(|(part, out)| {
            let behind = |of: &[u64], own: u64| of.iter().copied().chain([own]).collect();
            let part = Region {
                start: behind(&part.start, 0),
                count: behind(&part.count, self.length),
                step: behind(&part.step, 1),
            };
            self.characters.read_part(&part, &mut Planes::whole(out), heap, scratch)?;
            let length = usize::try_from(self.length).unwrap_or(usize::MAX);
            for name in out.chunks_mut(length) {
                name.iter_mut()
                    .rev()
                    .take_while(|byte| **byte == b' ' || **byte == 0)
                    .for_each(|byte| *byte = 0);
            }
            Ok(())
        })
    }
}
