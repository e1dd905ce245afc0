//! How the elements of an array are stored as attributes: as a single one, or as one for each member of a compound.

use super::elements::StoredElements;
use crate::target::Facts;
use hyperslab_core::rows::Heap;
use hyperslab_core::{Error, Result};
use hyperslab_model::rows::place_rows;
use hyperslab_model::{Datatype, ElementStorage, Member, Reference, Values};
use std::borrow::Cow;
use std::sync::Arc;

/// The attributes as which the elements of an array are stored.
#[derive(Clone, Debug)]
pub(super) struct StoredParts(Vec<Part>);

/// An attribute that contains complete elements, or one member of each element.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) elements: StoredElements,
    member: Option<Column>,
}

/// A member of a compound and its position in rows.
#[derive(Clone, Debug)]
struct Column {
    name: String,
    datatype: Arc<Datatype>,
    /// The offset of its first byte in a row, its size, and the size of a row.
    start: usize,
    size: usize,
    row: usize,
}

impl StoredParts {
    /// A single attribute with complete elements.
    pub(super) fn whole(elements: StoredElements) -> StoredParts {
        StoredParts(vec![Part { elements, member: None }])
    }

    /// An attribute for each member of a compound. `None` if the elements are not compounds. `is_unicode` states
    /// whether all strings of the member at a position are UTF-8.
    ///
    /// # Errors
    /// [`Unsupported`](hyperslab_core::ErrorKind::Unsupported) for members of 0 bytes.
    pub(super) fn members(
        datatype: &Datatype,
        is_unicode: impl Fn(usize) -> bool,
    ) -> Result<Option<StoredParts>> {
        let Datatype::Compound(members) = datatype.resolved() else { return Ok(None) };
        let wide = || Error::unsupported("elements of more bytes than memory has");
        let row = datatype.row_size().ok_or_else(wide)?;
        let (mut parts, mut start) = (Vec::with_capacity(members.len()), 0_usize);
        for (position, Member { name, datatype }) in members.iter().enumerate() {
            let size = datatype.row_size().ok_or_else(wide)?;
            let facts = Facts { is_unicode: is_unicode(position), ..Facts::default() };
            let mut own = Arc::new(datatype.clone());
            let mut elements = StoredElements::new(&own, &ElementStorage::default(), None, facts)?;
            if elements.replaces_spaces() {
                // Whether all strings are padded with spaces is known for elements, but not for their members.
                let size = u32::try_from(size).map_err(|_| wide())?;
                own = Arc::new(Datatype::Opaque { size, tag: String::new() });
                elements = StoredElements::new(&own, &ElementStorage::default(), None, facts)?;
            }
            // A compound has no TileDB enumerations: its type is in the record.
            elements.labels = None;
            let member = Some(Column { name: name.clone(), datatype: own, start, size, row });
            parts.push(Part { elements, member });
            start = start.checked_add(size).ok_or_else(wide)?;
        }
        Ok((!parts.is_empty()).then_some(StoredParts(parts)))
    }

    /// The attributes.
    pub(super) fn parts(&self) -> &[Part] {
        &self.0
    }

    /// The only attribute, if it contains complete elements.
    pub(super) fn only(&self) -> Option<&StoredElements> {
        match self.0.as_slice() {
            [Part { elements, member: None }] => Some(elements),
            _ => None,
        }
    }
}

impl Part {
    /// The name of the member.
    pub(super) fn name(&self) -> Option<&str> {
        self.member.as_ref().map(|member| member.name.as_str())
    }

    /// The part of the elements that the attribute contains.
    ///
    /// # Errors
    /// If rows do not fit the datatype.
    pub(super) fn of<'v>(&self, values: &'v Values) -> Result<Cow<'v, Values>> {
        let Some(Column { datatype, start, size, row, .. }) = &self.member else {
            return Ok(Cow::Borrowed(values));
        };
        let mut rows = Vec::with_capacity(values.rows.len() / (*row).max(1) * size);
        for row in values.rows.chunks_exact((*row).max(1)) {
            let own = row.get(*start..start.saturating_add(*size));
            rows.extend_from_slice(own.ok_or_else(|| Error::invalid("rows that are not of their type"))?);
        }
        let heap = if datatype.has_slots() { values.heap.clone() } else { Heap::default() };
        Ok(Cow::Owned(Values { rows: rows.into(), heap }))
    }

    /// Inserts stored values into the rows in `out`, which have the type `datatype` if they are not compounds.
    ///
    /// # Errors
    /// If the values are not the result of [`StoredElements::cells`] or have a different length.
    pub(super) fn place(
        &self,
        stored: Values,
        datatype: &Datatype,
        out: &mut [u8],
        heap: &mut Heap<Reference>,
    ) -> Result<()> {
        let lifted = self.elements.lift(stored)?;
        let Some(Column { datatype, start, size, row, .. }) = &self.member else {
            return place_rows(lifted, datatype, out, heap);
        };
        let mut own = vec![0; (out.len() / (*row).max(1)).saturating_mul(*size)];
        place_rows(lifted, datatype, &mut own, heap)?;
        for (row, own) in out.chunks_exact_mut((*row).max(1)).zip(own.chunks_exact((*size).max(1))) {
            if let Some(place) = row.get_mut(*start..start.saturating_add(*size)) {
                place.copy_from_slice(own);
            }
        }
        Ok(())
    }
}
