//! Deletes the cells of sparse arrays that fulfil a condition. New in version 16.
//!
//! Spec: TileDB format_spec, delete_commit_file.md
//!
//! A delete is a commit with the condition of the cells that are *kept*: `x > 50` is stored as `x <= 50`. Neither holds
//! for cells that are null or NaN, so these are also deleted; [`count_deleted`] reports them.

use super::array::ArrayWriter;
use super::generic_tile::GenericTileEncoder;
use crate::array::Array;
use crate::directory::{COMMITS, DeleteCommit, DeletePlace};
use crate::format::array_schema::ArraySchema;
use crate::format::data_type::{CellValNum, DataType};
use crate::format::delete_condition::{Combination, Comparison, DeleteCondition, Node, Operator};
use crate::format::layout::ArrayType;
use crate::format::timestamped_name::{CommitKind, CommitName, Form, TimestampedName};
use crate::format::version::RELEASED;
use crate::read::compare::{Compared, holds};
use crate::read::sparse::{SparseCells, SparseField, SparseRequest};
use hyperslab_core::{Error, Result};

/// Which cells are deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Cells for which all of these hold.
    All(Vec<Condition>),
    /// Cells for which one of these holds.
    Any(Vec<Condition>),
    /// Cells for which this does not hold.
    Not(Box<Condition>),
    /// Cells with a field for which this comparison holds.
    Is(Comparison),
}

/// The number of cells that a delete removes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeletedCells {
    /// Cells for which the condition holds.
    pub matching: u64,
    /// Cells for which it does not hold, but a field that it compares is null.
    pub null: u64,
    /// Cells for which it does not hold, but a field that it compares is NaN.
    pub not_a_number: u64,
    /// Cells of fragments without a field that it compares, an attribute that was added later.
    pub lacking: u64,
}

impl DeletedCells {
    /// All cells that are removed.
    pub fn total(&self) -> u64 {
        [self.null, self.not_a_number, self.lacking]
            .iter()
            .fold(self.matching, |sum, n| sum.saturating_add(*n))
    }
}

impl Condition {
    /// The condition of the cells that are kept, in its stored form.
    ///
    /// # Errors
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if it is too deep.
    pub fn kept(&self) -> Result<DeleteCondition> {
        self.as_nodes(true)
    }

    /// The condition as given, with `not` applied to comparisons.
    fn deleted(&self) -> Result<DeleteCondition> {
        self.as_nodes(false)
    }

    fn as_nodes(&self, is_opposite: bool) -> Result<DeleteCondition> {
        let mut nodes = Vec::new();
        self.add(is_opposite, DeleteCondition::MAX_DEPTH, &mut nodes)?;
        DeleteCondition::new(nodes)
    }

    fn add(&self, is_opposite: bool, depth: usize, nodes: &mut Vec<Node>) -> Result<()> {
        let too_deep = || Error::invalid("a condition of too many conditions within each other");
        let depth = depth.checked_sub(1).ok_or_else(too_deep)?;
        match self {
            Condition::Not(of) => of.add(!is_opposite, depth, nodes),
            Condition::Is(comparison) => {
                let operator = match is_opposite {
                    true => comparison.operator.opposite(),
                    false => comparison.operator,
                };
                nodes.push(Node::Value(Comparison { operator, ..comparison.clone() }));
                Ok(())
            }
            Condition::All(of) | Condition::Any(of) => {
                if let [one] = of.as_slice() {
                    return one.add(is_opposite, depth, nodes);
                }
                let is_and = matches!(self, Condition::All(_)) != is_opposite;
                let operator = if is_and { Combination::And } else { Combination::Or };
                nodes.push(Node::Expression { operator, operands: of.len() });
                of.iter().try_for_each(|operand| operand.add(is_opposite, depth, nodes))
            }
        }
    }

    /// Checks that TileDB can apply the condition to arrays of a schema.
    ///
    /// # Errors
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for a dense array, an empty condition, a field
    /// that the array does not have and a value that does not fit it;
    /// [`Unsupported`](hyperslab_core::ErrorKind::Unsupported) for a version without deletes, comparisons with null,
    /// and fields that TileDB does not compare.
    pub fn check(&self, schema: &ArraySchema) -> Result<()> {
        if schema.array_type == ArrayType::Dense {
            return Err(Error::invalid("a delete of cells of a dense array, expected a sparse one")
                .with_hint("write fill values to the cells instead"));
        }
        if schema.version < SINCE {
            let version = schema.version;
            return Err(Error::unsupported(format!(
                "a delete of cells of an array of version {version}, deletes exist since version {SINCE}"
            )));
        }
        for node in self.kept()?.nodes() {
            match node {
                Node::Value(comparison) => check_comparison(schema, comparison)?,
                Node::Expression { operands: 0, .. } => {
                    return Err(Error::invalid("a condition without comparisons"));
                }
                Node::Expression { .. } => {}
            }
        }
        Ok(())
    }
}

impl ArrayWriter {
    /// Deletes the cells that fulfil a condition and are not newer than `time`, in milliseconds since 1970. They remain
    /// visible at earlier moments, until they are consolidated and vacuumed.
    ///
    /// # Errors
    /// As [`Condition::check`]; if the store cannot be written.
    pub fn delete(&self, condition: &Condition, time: u64) -> Result<()> {
        condition.check(self.schema())?;
        let name = self.names().versioned(time, time, self.version())?;
        let file = CommitName { name, kind: CommitKind::Delete }.to_string();
        let tile = self.generic_tiles().encode(&condition.kept()?, &())?;
        self.put(&self.array().join(COMMITS)?.join(&file)?, &tile)
    }
}

/// Counts the cells of an array that a delete would remove. All cells are read, in parts.
///
/// # Errors
/// As [`Condition::check`]; if cells cannot be read.
pub fn count_deleted(array: &Array, condition: &Condition) -> Result<DeletedCells> {
    condition.check(array.schema())?;
    let (kept, deleted) = (condition.kept()?, condition.deleted()?);
    let mut names: Vec<&[u8]> = kept.nodes().iter().filter_map(field_of).collect();
    names.sort_unstable();
    names.dedup();
    let mut counts = DeletedCells::default();
    // In fragments without a field, no condition on it holds.
    let lacks = |name: &[u8], schema: &ArraySchema| schema.attributes.iter().all(|of| of.name != name);
    let attributes: Vec<&[u8]> = names.iter().copied().filter(|name| !lacks(name, array.schema())).collect();
    let fragments = array.fragments()?;
    let is_lacking = fragments.iter().any(|of| attributes.iter().any(|name| lacks(name, &of.schema)));
    let having = match is_lacking {
        true => Some(having_fields(array, &attributes)?),
        false => None,
    };
    let fields = fields(array, &names)?;
    let columns = fields.iter().map(|(field, ..)| *field).collect();
    let mut all = 0_u64;
    let request = SparseRequest { ranges: Vec::new(), columns };
    having.as_ref().unwrap_or(array).read_sparse(&request, &mut |cells| {
        all = all.saturating_add(cells.count as u64);
        for cell in 0..cells.count {
            let value = |name: &[u8]| {
                let column = names.iter().position(|own| *own == name)?;
                let (_, data_type, cell_val_num) = *fields.get(column)?;
                Some(Compared { data_type, cell_val_num, bytes: value(cells, column, cell) })
            };
            if holds(&kept, value) {
                continue;
            }
            let is_null = || (0..names.len()).any(|column| value_is_null(cells, column, cell));
            let count = match holds(&deleted, value) {
                true => &mut counts.matching,
                false if is_null() => &mut counts.null,
                false => &mut counts.not_a_number,
            };
            *count = count.saturating_add(1);
        }
        Ok(())
    })?;
    if having.is_some() {
        let mut seen = 0_u64;
        array.read_sparse(&SparseRequest::default(), &mut |cells| {
            seen = seen.saturating_add(cells.count as u64);
            Ok(())
        })?;
        counts.lacking = seen.saturating_sub(all);
    }
    Ok(counts)
}

/// The array after a delete that removes the cells without one of these fields.
fn having_fields(array: &Array, names: &[&[u8]]) -> Result<Array> {
    let comparison = |name: &&[u8]| {
        let (operator, field) = (Operator::AlwaysTrue, name.to_vec());
        Node::Value(Comparison { operator, field, value: Vec::new(), offsets: Vec::new() })
    };
    let all = Node::Expression { operator: Combination::And, operands: names.len() };
    let condition = DeleteCondition::new([all].into_iter().chain(names.iter().map(comparison)).collect())?;
    let tiles = GenericTileEncoder { version: RELEASED, key: array.options.key.as_ref() };
    let end = array.options.at.end;
    let name = TimestampedName { start: end, end, uuid: "0".repeat(32), form: Form::Versioned(RELEASED) };
    let place = DeletePlace::Consolidated(tiles.encode(&condition, &())?);
    let mut directory = array.directory().clone();
    directory.deletes.push(DeleteCommit { name, place });
    Ok(array.with_directory(directory))
}

fn field_of(node: &Node) -> Option<&[u8]> {
    match node {
        Node::Value(comparison) => Some(&comparison.field),
        Node::Expression { .. } => None,
    }
}

/// The fields with these names, with their datatypes.
fn fields(array: &Array, names: &[&[u8]]) -> Result<Vec<(SparseField, DataType, CellValNum)>> {
    let field = |name: &&[u8]| {
        let dimension = array.dimensions().iter().enumerate().find(|(_, of)| of.name == *name);
        if let Some((position, of)) = dimension {
            return Ok((SparseField::Dimension(position), of.data_type, of.cell_val_num));
        }
        let attribute = array.attributes().iter().enumerate().find(|(_, of)| of.name == *name);
        match attribute {
            Some((position, of)) => Ok((SparseField::Attribute(position), of.data_type, of.cell_val_num)),
            None => Err(no_field(name)),
        }
    };
    names.iter().map(field).collect()
}

/// The bytes of a field of a cell. `None` if it is null.
fn value(cells: &SparseCells, column: usize, cell: usize) -> Option<&[u8]> {
    if value_is_null(cells, column, cell) {
        return None;
    }
    let column = cells.columns.get(column)?;
    let start = cell.checked_sub(1).map_or(Some(0), |before| column.ends.get(before).copied())?;
    column.bytes.get(start..*column.ends.get(cell)?)
}

fn value_is_null(cells: &SparseCells, column: usize, cell: usize) -> bool {
    cells.columns.get(column).is_some_and(|column| column.validity.get(cell) == Some(&0))
}

/// Checks that TileDB can make this comparison of a field.
fn check_comparison(schema: &ArraySchema, comparison: &Comparison) -> Result<()> {
    let Comparison { operator, field, value, offsets } = comparison;
    let attribute = schema.attributes.iter().find(|of| of.name == *field);
    let dimension = schema.domain.dimensions.iter().find(|of| of.name == *field);
    let (data_type, cell_val_num) = match (attribute, dimension) {
        (Some(of), _) => (of.data_type, of.cell_val_num),
        (None, Some(of)) => (of.data_type, of.cell_val_num),
        (None, None) => return Err(no_field(field)),
    };
    let (name, of) = (String::from_utf8_lossy(field), data_type.name());
    if matches!(operator, Operator::AlwaysTrue | Operator::AlwaysFalse) {
        return Err(Error::unsupported("a condition that always holds, which TileDB does not store"));
    }
    let is_text = data_type.is_text();
    let is_wide = matches!(
        data_type,
        DataType::Any
            | DataType::StringUtf16
            | DataType::StringUtf32
            | DataType::StringUcs2
            | DataType::StringUcs4
            | DataType::GeomWkb
            | DataType::GeomWkt
    );
    if is_wide || (!is_text && cell_val_num != CellValNum::ONE) {
        let values = if is_wide { "" } else { " with several values in a cell" };
        return Err(Error::unsupported(format!(
            "a condition on {name:?}, {of}{values}, which TileDB does not compare"
        )));
    }
    let size = match cell_val_num {
        CellValNum::Fixed(count) => {
            usize::try_from(count).ok().and_then(|count| count.checked_mul(data_type.size()))
        }
        CellValNum::Var => None,
    };
    if value.is_empty() && !operator.takes_set() && !is_text {
        return Err(Error::unsupported(format!(
            "a comparison of {name:?} with null, after which TileDB cannot read the array"
        ))
        .with_hint(format_args!("any other comparison of {name:?} deletes its null cells too")));
    }
    let members: Vec<u64> = match operator.takes_set() {
        true => {
            let ends = offsets.iter().skip(1).copied().chain([value.len() as u64]);
            offsets.iter().zip(ends).map(|(start, end)| end.saturating_sub(*start)).collect()
        }
        false => vec![value.len() as u64],
    };
    if members.is_empty() {
        return Err(Error::invalid(format!("a set without values for {name:?}")));
    }
    match size {
        Some(size) if members.iter().any(|len| *len != size as u64) => {
            let found = members.iter().find(|len| **len != size as u64).copied().unwrap_or(0);
            Err(Error::invalid(format!("a value of {found} bytes for {name:?}, expected {size}")))
        }
        _ => Ok(()),
    }
}

fn no_field(name: &[u8]) -> Error {
    let name = String::from_utf8_lossy(name);
    Error::invalid(format!("a condition on {name:?}, which is neither an attribute nor a dimension"))
}

/// The version since which cells can be deleted.
const SINCE: u32 = 16;

#[cfg(test)]
mod tests {
    use super::*;

    fn is(operator: Operator) -> Condition {
        Condition::Is(Comparison { operator, field: b"a".to_vec(), value: vec![3], offsets: Vec::new() })
    }

    fn operators(condition: &Condition) -> Vec<String> {
        let word = |node: &Node| match node {
            Node::Value(comparison) => format!("{:?}", comparison.operator),
            Node::Expression { operator, operands } => format!("{operator:?} {operands}"),
        };
        condition.kept().unwrap().nodes().iter().map(word).collect()
    }

    #[test]
    fn what_is_stored_is_what_is_kept() {
        assert_eq!(operators(&is(Operator::Gt)), ["Le"]);
        assert_eq!(operators(&is(Operator::In)), ["NotIn"]);
        let all =
            Condition::All(vec![is(Operator::Eq), Condition::Any(vec![is(Operator::Lt), is(Operator::Ge)])]);
        assert_eq!(operators(&all), ["Or 2", "Ne", "And 2", "Ge", "Lt"]);
        assert_eq!(operators(&Condition::Not(Box::new(all))), ["And 2", "Eq", "Or 2", "Lt", "Ge"]);
        assert_eq!(operators(&Condition::All(vec![is(Operator::Ne)])), ["Eq"]);
    }

    #[test]
    fn conditions_within_each_other_have_a_limit() {
        let deep = (0..300).fold(is(Operator::Eq), |of, _| Condition::Not(Box::new(of)));
        assert!(deep.kept().is_err());
    }
}
