//! What stands for a null among elements that cannot be null.

use crate::source::ArraySource;
use crate::source::engine::stream;
use hyperslab_cf::meaning::push_float;
use hyperslab_core::nd::Region;
use hyperslab_core::rows::Heap;
use hyperslab_core::{Result, valid};
use hyperslab_model::rows::push_zero;
use hyperslab_model::{Datatype, Float};

/// The element in the place of a null: NaN, NaT, zero or empty. `None` for elements that refer to objects.
///
/// # Errors
/// If there is no memory for it.
pub(crate) fn null_row(of: &Datatype) -> Result<Option<Vec<u8>>> {
    let mut row = Vec::new();
    match of.resolved() {
        Datatype::Float(float @ (Float::Single | Float::Double)) => push_float(float, f64::NAN, &mut row),
        Datatype::Datetime(_) => row.extend(i64::MIN.to_ne_bytes()),
        _ => {
            let mut heap = Heap::default();
            push_zero(of, &mut row, &mut heap)?;
            return Ok(heap.references.is_empty().then_some(row));
        }
    }
    Ok(Some(row))
}

/// An integer that no valid element of a nullable array has: the largest, or the smallest of those with a sign, which are
/// the usual marks of missing numbers. Reads the array.
///
/// # Errors
/// If the system fails to read it. Other errors are found again when the array is converted.
pub(crate) fn absent(array: &dyn ArraySource) -> Result<Option<Vec<u8>>> {
    let Datatype::Nullable(of) = array.datatype().resolved() else { return Ok(None) };
    let (Datatype::Int { signed, .. }, Some(size)) = (of.resolved(), of.row_size()) else { return Ok(None) };
    let mut left = candidates(*signed, size);
    let Some(extents) = array.extents() else { return Ok(None) };
    if !array.is_unwritten()? {
        let read = stream(array, &Region::all(extents), &mut |_, values| {
            for row in values.rows.chunks_exact(size.saturating_add(1)) {
                if let Some((1.., value)) = row.split_first() {
                    left.retain(|candidate| candidate != value);
                }
            }
            Ok(())
        });
        if valid(read)?.is_none() {
            return Ok(None);
        }
    }
    Ok(left.into_iter().next())
}

/// The integers that may stand for a null, the usual one first.
fn candidates(signed: bool, size: usize) -> Vec<Vec<u8>> {
    let largest = vec![0xff; size];
    if !signed {
        return vec![largest, vec![0; size]];
    }
    // All bits but one are alike, whatever the order of the bytes.
    let with_sign = |sign: u8, others: u8| {
        let mut row = vec![others; size];
        let last = if cfg!(target_endian = "little") { row.last_mut() } else { row.first_mut() };
        if let Some(last) = last {
            *last = sign;
        }
        row
    };
    vec![with_sign(0x80, 0), with_sign(0x7f, 0xff)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyperslab_model::TimeUnit;

    #[test]
    fn a_null_is_what_readers_take_for_missing() {
        let of = |datatype: &Datatype| null_row(datatype).unwrap().unwrap();
        let single = f32::from_ne_bytes(of(&Datatype::Float(Float::Single)).try_into().unwrap());
        assert!(single.is_nan());
        let time = Datatype::Datetime(TimeUnit { unit: "ms".into(), duration: false });
        assert_eq!(of(&time), i64::MIN.to_ne_bytes());
        assert_eq!(of(&Datatype::int(16, true)), [0, 0]);
        assert_eq!(null_row(&Datatype::ObjRef).unwrap(), None);
    }

    #[test]
    fn candidates_are_the_ends_of_the_range() {
        assert_eq!(candidates(true, 2), [i16::MIN.to_ne_bytes(), i16::MAX.to_ne_bytes()]);
        assert_eq!(candidates(true, 1), [[0x80], [0x7f]]);
        assert_eq!(candidates(false, 4), [u32::MAX.to_ne_bytes(), [0; 4]]);
    }
}
