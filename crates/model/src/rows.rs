//! Rows of elements by their datatype: the zero element, and rows that move from one heap to another.
//!
//! [`hyperslab_core::rows`] describes how rows and slots lie in memory.

use crate::{Datatype, Elements, Pad, Reference, Text, Values};
use hyperslab_core::nd::element_count;
use hyperslab_core::rows::{Heap, Slot};
use hyperslab_core::{Error, Result};

/// Whether all elements are zero or empty, wherever their parts of variable length are stored.
///
/// # Errors
/// As [`push_zero`].
pub fn are_zero(datatype: &Datatype, values: &Values) -> Result<bool> {
    if !datatype.has_slots() {
        return Ok(values.rows.iter().all(|byte| *byte == 0));
    }
    let (mut rows, mut heap) = (Vec::new(), Heap::default());
    push_zero(datatype, &mut rows, &mut heap)?;
    let zero = Values { rows: rows.into(), heap };
    let Some(zero) = Elements::new(datatype, &zero).next() else { return Ok(true) };
    Ok(Elements::new(datatype, values).all(|element| element.same(zero)))
}

/// Appends the row of the zero element: zeros for numbers, empty strings and sequences, null references, and spaces in
/// strings that are padded with spaces.
///
/// # Errors
/// If the heap has no room for one more reference.
pub fn push_zero(datatype: &Datatype, rows: &mut Vec<u8>, heap: &mut Heap<Reference>) -> Result<()> {
    match datatype {
        Datatype::ObjRef | Datatype::RegRef | Datatype::Reference => {
            let slot = match (heap.references.last(), u32::try_from(heap.references.len())) {
                (Some(Reference::Null), Ok(count)) => Slot::reference(count.saturating_sub(1)),
                _ => heap.push_reference(Reference::Null)?,
            };
            rows.extend(slot.to_bytes());
        }
        Datatype::Compound(members) => {
            members.iter().try_for_each(|member| push_zero(&member.datatype, rows, heap))?;
        }
        Datatype::Array { base, shape } => {
            let count = element_count(shape).and_then(|count| usize::try_from(count).ok()).unwrap_or(0);
            if let Some(others) = count.checked_sub(1) {
                let start = rows.len();
                push_zero(base, rows, heap)?;
                // All zeros are alike: null references share their target.
                let one = rows.len() - start;
                rows.reserve(others.saturating_mul(one));
                for _ in 0..others {
                    rows.extend_from_within(start..start + one);
                }
            }
        }
        Datatype::Named(_, of) => push_zero(of, rows, heap)?,
        Datatype::String(Text::Fixed { pad: Pad::Space, .. }) => {
            rows.extend(std::iter::repeat_n(b' ', datatype.row_size().unwrap_or(0)));
        }
        _ => rows.extend(std::iter::repeat_n(0, datatype.row_size().unwrap_or(0))),
    }
    Ok(())
}

/// Copies elements to `out`, and appends what their slots point to after the existing content of `heap`.
///
/// # Errors
/// If `out` is not as long as the rows, or a slot points nowhere.
pub fn place_rows(
    values: Values,
    datatype: &Datatype,
    out: &mut [u8],
    heap: &mut Heap<Reference>,
) -> Result<()> {
    let Values { rows, heap: own } = values;
    if rows.len() != out.len() {
        return Err(Error::malformed(format!("{} bytes of elements, expected {}", rows.len(), out.len())));
    }
    out.copy_from_slice(&rows);
    let before = Before { buffers: heap.buffers.len(), references: heap.references.len() };
    if before.buffers == 0 && before.references == 0 {
        *heap = own;
        return Ok(());
    }
    let mut buffers: Vec<Vec<u8>> = own.buffers.into_iter().map(Vec::from).collect();
    for row in out.chunks_exact_mut(datatype.row_size().unwrap_or(1).max(1)) {
        before.shift(datatype, row, &mut buffers)?;
    }
    heap.buffers.extend(buffers.into_iter().map(Into::into));
    heap.references.extend(own.references);
    Ok(())
}

/// Rows of values that can be null: each consists of `row` bytes and a byte that states whether the value is valid.
pub fn nullable(values: &[u8], validity: &[u8], row: usize) -> Vec<u8> {
    let mut rows = vec![0; values.len().saturating_add(validity.len())];
    put_nullable(values, validity, row, &mut rows);
    rows
}

/// Writes values of `row` bytes to the rows in `to`, each after a byte that states whether it is valid.
pub fn put_nullable(values: &[u8], validity: &[u8], row: usize, to: &mut [u8]) {
    let values = values.chunks_exact(row.max(1)).zip(validity);
    for (to, (value, valid)) in to.chunks_exact_mut(row.saturating_add(1)).zip(values) {
        if let Some((mask, to)) = to.split_first_mut() {
            *mask = u8::from(*valid != 0);
            to.copy_from_slice(value);
        }
    }
}

/// Sets the values of nulls to zero, in rows with values of `row` bytes.
pub fn clear_nulls(row: usize, rows: &mut [u8]) {
    for row in rows.chunks_exact_mut(row.saturating_add(1)).filter(|row| row.first() == Some(&0)) {
        row.fill(0);
    }
}

/// How much a heap contains before another is appended to it.
struct Before {
    buffers: usize,
    references: usize,
}

impl Before {
    /// Makes the slots of one row, and those of sequences in `buffers` that it points to, count from the beginning of
    /// the two heaps combined.
    fn shift(&self, datatype: &Datatype, row: &mut [u8], buffers: &mut [Vec<u8>]) -> Result<()> {
        match datatype.resolved() {
            Datatype::ObjRef | Datatype::RegRef | Datatype::Reference | Datatype::String(Text::Variable) => {
                self.shift_slot(row)?;
            }
            Datatype::Vlen(base) => {
                if base.has_slots() {
                    self.shift_sequence(base, row, buffers)?;
                }
                self.shift_slot(row)?;
            }
            Datatype::Compound(members) => {
                let mut rest = row;
                for member in members {
                    let size = member.datatype.row_size().unwrap_or(0);
                    let (own, others) =
                        rest.split_at_mut_checked(size).ok_or_else(|| Error::invalid("a row cut short"))?;
                    self.shift(&member.datatype, own, buffers)?;
                    rest = others;
                }
            }
            Datatype::Array { base, .. } if base.has_slots() => {
                for element in row.chunks_exact_mut(base.row_size().unwrap_or(1).max(1)) {
                    self.shift(base, element, buffers)?;
                }
            }
            Datatype::Nullable(of) => {
                if let Some((_, row)) = row.split_first_mut() {
                    self.shift(of, row, buffers)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn shift_slot(&self, row: &mut [u8]) -> Result<()> {
        Slot::change_each(row, |slot| slot.behind(self.buffers, self.references))
    }

    /// Shifts the elements of a sequence, which are themselves rows with slots.
    fn shift_sequence(&self, base: &Datatype, row: &[u8], buffers: &mut [Vec<u8>]) -> Result<()> {
        let missing = || Error::invalid("a slot that points nowhere");
        let slot = Slot::get(row).ok_or_else(missing)?;
        if slot.count == 0 {
            return Ok(());
        }
        let size = base.row_size().unwrap_or(0);
        let from = usize::try_from(slot.offset).unwrap_or(usize::MAX);
        let len = size.saturating_mul(usize::try_from(slot.count).unwrap_or(usize::MAX));
        let at = usize::try_from(slot.buffer).unwrap_or(usize::MAX);
        let place = from..from.saturating_add(len);
        let elements = buffers.get(at).and_then(|buffer| buffer.get(place.clone())).ok_or_else(missing)?;
        let mut elements = elements.to_vec();
        for element in elements.chunks_exact_mut(size.max(1)) {
            self.shift(base, element, buffers)?;
        }
        let place = buffers.get_mut(at).and_then(|buffer| buffer.get_mut(place));
        place.ok_or_else(missing)?.copy_from_slice(&elements);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Element, Elements, Member, NodePath};
    use hyperslab_core::rows::Packed;

    /// A sequence of strings and a reference.
    fn sample(texts: &[&str], path: &str) -> (Datatype, Values) {
        let text = Datatype::String(Text::Variable);
        let member = |name: &str, datatype| Member { name: name.into(), datatype };
        let datatype = Datatype::Compound(vec![
            member("texts", Datatype::Vlen(Box::new(text))),
            member("to", Datatype::ObjRef),
        ]);
        let mut packed = Packed::default();
        texts.iter().for_each(|text| packed.push(text.as_bytes()).unwrap());
        let Values { rows: slots, mut heap } = packed.finish();
        let count = u32::try_from(texts.len()).unwrap();
        let sequence = Slot { count, ..heap.push_bytes(slots).unwrap() };
        let to = heap.push_reference(Reference::Object(NodePath::new(path).unwrap())).unwrap();
        let rows = [sequence.to_bytes(), to.to_bytes()].concat();
        (datatype, Values { rows: rows.into(), heap })
    }

    #[test]
    fn zero_arrays_are_as_many_zero_elements() {
        let (compound, _) = sample(&[], "/x");
        let (mut one, mut heap) = (Vec::new(), Heap::default());
        push_zero(&compound, &mut one, &mut heap).unwrap();
        for shape in [vec![], vec![0, 3], vec![1], vec![2, 3]] {
            let count = element_count(&shape).unwrap();
            let array = Datatype::Array { base: Box::new(compound.clone()), shape };
            let (mut rows, mut heap) = (Vec::new(), Heap::default());
            push_zero(&array, &mut rows, &mut heap).unwrap();
            assert_eq!(rows, one.repeat(usize::try_from(count).unwrap()));
            assert_eq!(heap.references.len(), usize::from(count > 0));
        }
    }

    #[test]
    fn elements_moved_to_another_heap_keep_their_meaning() {
        let (datatype, first) = sample(&["a", "bc"], "/x");
        let (_, second) = sample(&["d"], "/y/z");
        let size = datatype.row_size().unwrap();
        let (mut rows, mut heap) = (vec![0; 2 * size], Heap::default());
        place_rows(first.clone(), &datatype, &mut rows[..size], &mut heap).unwrap();
        place_rows(second.clone(), &datatype, &mut rows[size..], &mut heap).unwrap();
        let both = Values { rows: rows.into(), heap };
        let expected = Elements::new(&datatype, &first).chain(Elements::new(&datatype, &second));
        assert_eq!(Elements::new(&datatype, &both).zip(expected).filter(|(a, b)| a.same(*b)).count(), 2);
        assert!(
            !Elements::new(&datatype, &first).zip(Elements::new(&datatype, &second)).any(|(a, b)| a.same(b))
        );
    }

    #[test]
    fn rejects_rows_of_another_length_and_slots_without_buffer() {
        let (datatype, values) = sample(&["a"], "/x");
        let (mut out, mut heap) = (vec![0; 3], Heap::default());
        assert!(place_rows(values.clone(), &datatype, &mut out, &mut heap).is_err());
        let mut lost = values.clone();
        lost.heap.buffers.clear();
        let (mut out, mut heap) = (vec![0; values.rows.len()], values.heap);
        assert!(place_rows(lost, &datatype, &mut out, &mut heap).is_err());
    }

    #[test]
    fn the_zero_element_is_empty_and_refers_to_nothing() {
        let (datatype, _) = sample(&[], "/x");
        let (mut rows, mut heap) = (Vec::new(), Heap::default());
        push_zero(&datatype, &mut rows, &mut heap).unwrap();
        push_zero(&datatype, &mut rows, &mut heap).unwrap();
        assert_eq!(heap.references, [Reference::Null], "one for all");
        let values = Values { rows: rows.into(), heap };
        for element in Elements::new(&datatype, &values) {
            let Element::Compound(fields) = element.get() else { panic!("{element:?}") };
            for (_, field) in fields {
                match field.get() {
                    Element::Vlen(elements) => assert_eq!(elements.len(), 0),
                    other => assert!(matches!(other, Element::Reference(Reference::Null)), "{other:?}"),
                }
            }
        }
    }
}
