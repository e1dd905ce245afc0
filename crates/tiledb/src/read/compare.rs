//! The order of values, and the evaluation of conditions on cells.

use crate::format::data_type::{CellValNum, DataType};
use crate::format::delete_condition::{Combination, Comparison, DeleteCondition, Node, Operator};
use crate::format::fragment_metadata::mbr::Range;
use crate::read::tile::Tile;
use std::cmp::Ordering;

/// The order of two cells of a datatype. `None` if one of them is NaN.
///
/// Cells with one value compare as numbers; strings, and cells with several values, compare byte by byte.
pub(crate) fn compare(data_type: DataType, a: &[u8], b: &[u8]) -> Option<Ordering> {
    macro_rules! as_numbers {
        ($type:ty) => {
            if let (Ok(a), Ok(b)) = (a.try_into(), b.try_into()) {
                return <$type>::from_le_bytes(a).partial_cmp(&<$type>::from_le_bytes(b));
            }
        };
    }
    match data_type {
        DataType::Int8 => as_numbers!(i8),
        DataType::Int16 => as_numbers!(i16),
        DataType::Int32 => as_numbers!(i32),
        DataType::Int64 => as_numbers!(i64),
        DataType::UInt16 => as_numbers!(u16),
        DataType::UInt32 => as_numbers!(u32),
        DataType::UInt64 => as_numbers!(u64),
        DataType::Float32 => as_numbers!(f32),
        DataType::Float64 => as_numbers!(f64),
        other if other.is_datetime() || other.is_time() => as_numbers!(i64),
        _ => {}
    }
    Some(a.cmp(b))
}

/// Clears the marks of cells that are outside of a range.
pub(crate) fn mask(data_type: DataType, tile: &Tile, range: &Range, marks: &mut [bool]) {
    macro_rules! as_numbers {
        ($type:ty) => {
            if let (Ok(min), Ok(max)) = (range.min.as_slice().try_into(), range.max.as_slice().try_into()) {
                let (min, max) = (<$type>::from_le_bytes(min), <$type>::from_le_bytes(max));
                let cells = tile.cells.as_chunks().0;
                for (mark, cell) in marks.iter_mut().zip(cells) {
                    let cell = <$type>::from_le_bytes(*cell);
                    let is_outside = (cell < min) | (cell > max);
                    *mark &= !is_outside;
                }
                return;
            }
        };
    }
    match data_type {
        DataType::Int32 => as_numbers!(i32),
        DataType::Int64 => as_numbers!(i64),
        DataType::UInt32 => as_numbers!(u32),
        DataType::UInt64 => as_numbers!(u64),
        DataType::Float32 => as_numbers!(f32),
        DataType::Float64 => as_numbers!(f64),
        other if other.is_datetime() || other.is_time() => as_numbers!(i64),
        _ => {}
    }
    for (cell, mark) in marks.iter_mut().enumerate().filter(|(_, mark)| **mark) {
        let coordinate = tile.cell(cell).unwrap_or_default();
        *mark = compare(data_type, coordinate, &range.min) != Some(Ordering::Less)
            && compare(data_type, coordinate, &range.max) != Some(Ordering::Greater);
    }
}

/// A field of a cell that a condition compares.
#[derive(Clone, Copy)]
pub(crate) struct Compared<'c> {
    pub(crate) data_type: DataType,
    pub(crate) cell_val_num: CellValNum,
    /// The bytes. `None` if it is null.
    pub(crate) bytes: Option<&'c [u8]>,
}

/// Whether a condition holds. `cell` looks up a field of the cell. A condition on a field that the cell does not have
/// never holds, whatever it states about other fields.
pub(crate) fn holds<'c>(
    condition: &DeleteCondition,
    mut cell: impl FnMut(&[u8]) -> Option<Compared<'c>>,
) -> bool {
    // Backwards, so that the operands of an expression are processed before it.
    let mut results: Vec<bool> = Vec::new();
    for node in condition.nodes().iter().rev() {
        let result = match node {
            Node::Value(comparison) => match cell(&comparison.field) {
                Some(found) => compared(comparison, found),
                None => return false,
            },
            Node::Expression { operator, operands } => {
                let mut operands = results.split_off(results.len().saturating_sub(*operands)).into_iter();
                match operator {
                    Combination::And => operands.all(|holds| holds),
                    Combination::Or => operands.any(|holds| holds),
                    Combination::Not => operands.all(|holds| !holds),
                }
            }
        };
        results.push(result);
    }
    results.pop().unwrap_or(true)
}

fn compared(comparison: &Comparison, found: Compared<'_>) -> bool {
    let Compared { data_type, cell_val_num, bytes } = found;
    let Comparison { operator, value, offsets, .. } = comparison;
    match operator {
        Operator::AlwaysTrue => return true,
        Operator::AlwaysFalse => return false,
        _ => {}
    }
    // An empty value is null, except for fields of variable size, whose values can be empty.
    let is_null = value.is_empty() && !cell_val_num.is_var();
    let Some(cell) = bytes else { return *operator == Operator::Eq && is_null };
    let order = compare(data_type, cell, value);
    let is_member = || {
        let ends = offsets.iter().skip(1).copied().chain([value.len() as u64]);
        offsets.iter().zip(ends).any(|(start, end)| {
            let range = usize::try_from(*start).ok().zip(usize::try_from(end).ok());
            let member = range.and_then(|(start, end)| value.get(start..end));
            member.is_some_and(|member| compare(data_type, cell, member) == Some(Ordering::Equal))
        })
    };
    match operator {
        Operator::Lt => order == Some(Ordering::Less),
        Operator::Le => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        Operator::Gt => order == Some(Ordering::Greater),
        Operator::Ge => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        Operator::Eq => order == Some(Ordering::Equal),
        Operator::Ne => order != Some(Ordering::Equal),
        Operator::In => is_member(),
        Operator::NotIn => !is_member(),
        Operator::AlwaysTrue | Operator::AlwaysFalse => *operator == Operator::AlwaysTrue,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(operator: Operator, value: &[u8], offsets: &[u64]) -> Node {
        Node::Value(Comparison {
            operator,
            field: b"a".to_vec(),
            value: value.to_vec(),
            offsets: offsets.to_vec(),
        })
    }

    fn of(nodes: Vec<Node>, data_type: DataType, bytes: Option<&[u8]>) -> bool {
        let cell_val_num = if data_type == DataType::StringAscii { CellValNum::Var } else { CellValNum::ONE };
        holds(&DeleteCondition::new(nodes).unwrap(), |_| Some(Compared { data_type, cell_val_num, bytes }))
    }

    #[test]
    fn numbers_compare_as_numbers_and_texts_by_bytes() {
        let order = |data_type, a: &[u8], b: &[u8]| compare(data_type, a, b).unwrap();
        assert_eq!(order(DataType::Int32, &(-1_i32).to_le_bytes(), &1_i32.to_le_bytes()), Ordering::Less);
        assert_eq!(order(DataType::UInt16, &256_u16.to_le_bytes(), &3_u16.to_le_bytes()), Ordering::Greater);
        assert_eq!(order(DataType::StringAscii, b"ab", b"abc"), Ordering::Less);
        assert_eq!(compare(DataType::Float32, &f32::NAN.to_le_bytes(), &[0; 4]), None);
    }

    #[test]
    fn null_and_nan_compare_as_false_unless_for_inequality() {
        let nan = f32::NAN.to_le_bytes();
        for operator in [Operator::Lt, Operator::Le, Operator::Gt, Operator::Ge, Operator::Eq] {
            assert!(!of(vec![value(operator, &[0; 4], &[])], DataType::Float32, Some(&nan)));
        }
        assert!(of(vec![value(Operator::Ne, &[0; 4], &[])], DataType::Float32, Some(&nan)));
        assert!(!of(vec![value(Operator::Ne, &[0; 4], &[])], DataType::Float32, None));
        assert!(of(vec![value(Operator::Eq, &[], &[])], DataType::Float32, None));
    }

    #[test]
    fn a_text_without_bytes_is_not_null() {
        let holds = |operator, cell| of(vec![value(operator, &[], &[])], DataType::StringAscii, cell);
        let all = [Some(&b"a"[..]), None, Some(b"")];
        assert_eq!(all.map(|cell| holds(Operator::Eq, cell)), [false, false, true]);
        assert_eq!(all.map(|cell| holds(Operator::Ne, cell)), [true, false, false]);
    }

    #[test]
    fn expressions_combine_the_operands_behind_them() {
        let (yes, no) = (value(Operator::In, b"abcx", &[0, 3]), value(Operator::NotIn, b"abcx", &[0, 3]));
        let expression = |operator, operands| Node::Expression { operator, operands };
        let texts = |nodes| of(nodes, DataType::StringAscii, Some(b"x"));
        assert!(texts(vec![yes.clone()]) && !texts(vec![no.clone()]));
        assert!(!texts(vec![expression(Combination::And, 2), yes.clone(), no.clone()]));
        assert!(texts(vec![expression(Combination::Or, 2), no.clone(), yes.clone()]));
        let nested = [expression(Combination::And, 2), expression(Combination::Not, 1), no, yes];
        assert!(texts(nested.to_vec()));
    }
}
