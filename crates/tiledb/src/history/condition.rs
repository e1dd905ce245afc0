//! Delete conditions as text.
//!
//! A file contains the condition of the cells that a delete keeps; the text describes the cells that it deletes. So
//! each comparison is replaced by its opposite, and `and` by `or`. Null cells are not kept by any comparison except
//! with null.

use crate::format::array_schema::ArraySchema;
use crate::format::data_type::DataType;
use crate::format::delete_condition::{Combination, Comparison, DeleteCondition, Node, Operator};

/// Converts a value of a field to text. Values of attributes with an enumeration are positions among its values.
pub type FieldText<'a> = &'a dyn Fn(&[u8], DataType, &[u8]) -> String;

/// The condition of the cells that a delete deletes, as text such as `a < 3 or s == "x"`.
pub fn deleted_text(condition: &DeleteCondition, schema: &ArraySchema, value: FieldText<'_>) -> String {
    // Backwards, so that the operands of an expression are processed before it.
    let mut texts: Vec<Text> = Vec::new();
    for node in condition.nodes().iter().rev() {
        let text = match node {
            Node::Value(comparison) => Text {
                kept: comparison_text(comparison, schema, value, false),
                deleted: comparison_text(comparison, schema, value, true),
                is_one: true,
            },
            Node::Expression { operator, operands } => {
                let mut operands = texts.split_off(texts.len().saturating_sub(*operands));
                operands.reverse();
                combined(*operator, &operands)
            }
        };
        texts.push(text);
    }
    texts.pop().map_or_else(|| "nothing".to_owned(), |text| text.deleted)
}

/// A condition and its opposite.
struct Text {
    kept: String,
    deleted: String,
    /// Whether it needs no brackets.
    is_one: bool,
}

/// One of the two texts.
type Side = fn(&Text) -> &String;

fn combined(operator: Combination, operands: &[Text]) -> Text {
    let join = |word: &str, text: Side| {
        let bracketed = |of: &Text| match of.is_one || operands.len() == 1 {
            true => text(of).clone(),
            false => format!("({})", text(of)),
        };
        operands.iter().map(bracketed).collect::<Vec<_>>().join(&format!(" {word} "))
    };
    let (kept, deleted): (Side, Side) = (|of| &of.kept, |of| &of.deleted);
    let is_one = operands.len() == 1 && operands.first().is_some_and(|of| of.is_one);
    match operator {
        Combination::And => Text { kept: join("and", kept), deleted: join("or", deleted), is_one },
        Combination::Or => Text { kept: join("or", kept), deleted: join("and", deleted), is_one },
        Combination::Not => Text { kept: join("and", deleted), deleted: join("or", kept), is_one },
    }
}

fn comparison_text(of: &Comparison, schema: &ArraySchema, text: FieldText<'_>, is_opposite: bool) -> String {
    let Comparison { operator, field, value, offsets } = of;
    let name = String::from_utf8_lossy(field);
    let data_type = data_type_of(field, schema);
    let word = match if is_opposite { operator.opposite() } else { *operator } {
        Operator::Lt => "<",
        Operator::Le => "<=",
        Operator::Gt => ">",
        Operator::Ge => ">=",
        Operator::Eq => "==",
        Operator::Ne => "!=",
        Operator::In => "in",
        Operator::NotIn => "not in",
        Operator::AlwaysTrue => return "all".to_owned(),
        Operator::AlwaysFalse => return "nothing".to_owned(),
    };
    let value = match operator {
        Operator::In | Operator::NotIn => {
            let ends = offsets.iter().skip(1).copied().chain([value.len() as u64]);
            let members = offsets.iter().zip(ends).filter_map(|(start, end)| {
                let member = value.get(usize::try_from(*start).ok()?..usize::try_from(end).ok()?)?;
                Some(text(field, data_type, member))
            });
            format!("[{}]", members.collect::<Vec<_>>().join(", "))
        }
        _ if value.is_empty() && !data_type.is_text() => "null".to_owned(),
        _ => text(field, data_type, value),
    };
    format!("{name} {word} {value}")
}

/// The datatype of a field; for a field that is not in the schema, that of plain bytes.
fn data_type_of(field: &[u8], schema: &ArraySchema) -> DataType {
    let attribute = schema.attributes.iter().find(|of| of.name == field).map(|of| of.data_type);
    let dimension = || schema.domain.dimensions.iter().find(|of| of.name == field).map(|of| of.data_type);
    attribute.or_else(dimension).unwrap_or(DataType::Blob)
}
