//! Parts of the rows of compounds: single members.

use hyperslab_core::rows::Heap;
use hyperslab_model::{Datatype, Reference, Values};

/// The position within a row of a member of a compound, which may be nested in another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) offset: usize,
    pub(crate) size: usize,
}

impl Part {
    /// The member with these names, outermost first, and its datatype. `None` if there is none.
    pub(crate) fn of_member(datatype: &Datatype, names: &[String]) -> Option<(Datatype, Part)> {
        let Some((name, inner)) = names.split_first() else {
            return Some((datatype.clone(), Part { offset: 0, size: datatype.row_size()? }));
        };
        let Datatype::Compound(members) = datatype.resolved() else { return None };
        let mut before = 0_usize;
        for member in members {
            if member.name == *name {
                let (datatype, Part { offset, size }) = Part::of_member(&member.datatype, inner)?;
                return Some((datatype, Part { offset: before.checked_add(offset)?, size }));
            }
            before = before.checked_add(member.datatype.row_size()?)?;
        }
        None
    }

    /// The part of each row of `size` bytes.
    pub(crate) fn of(&self, values: &Values, size: usize) -> Values {
        if self.offset == 0 && self.size == size {
            return values.clone();
        }
        let range = self.offset..self.offset.saturating_add(self.size);
        let parts = values.rows.chunks_exact(size.max(1)).filter_map(|row| row.get(range.clone()));
        let rows: Vec<u8> = parts.flatten().copied().collect();
        let heap: Heap<Reference> = values.heap.clone();
        Values { rows: rows.into(), heap }
    }
}
