//! Update condition: the body of the generic tile in an update commit file. New in version 16.
//!
//! Spec: TileDB format_spec, update_commit_file.md. The library writes such files experimentally, and ignores them when
//! it reads.

use super::delete_condition::DeleteCondition;
use super::{Structure, field};
use hyperslab_core::{Decoder, Encoder, Result};

/// The cells that get new values, and these values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpdateCondition {
    /// The condition of the cells.
    pub condition: DeleteCondition,
    /// The new values.
    pub values: Vec<UpdateValue>,
}

/// The new value of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpdateValue {
    /// The name of the attribute.
    pub field: Vec<u8>,
    /// The bytes of the value.
    pub value: Vec<u8>,
}

impl Structure for UpdateCondition {
    type Context = ();
    const NAME: &'static str = "Update Condition";

    fn decode(d: &mut Decoder<'_>, (): &()) -> Result<Self> {
        let condition = DeleteCondition::decode(d, &())?;
        let count = d.u64()?;
        let count = d.count(count, 16)?;
        let values = (0..count).map(|_| UpdateValue::decode(d, &())).collect::<Result<_>>()?;
        Ok(UpdateCondition { condition, values })
    }

    fn encode(&self, e: &mut Encoder, (): &()) -> Result<()> {
        self.condition.encode(e, &())?;
        e.u64(self.values.len() as u64);
        self.values.iter().try_for_each(|value| value.encode(e, &()))
    }
}

impl Structure for UpdateValue {
    type Context = ();
    const NAME: &'static str = "Update Condition";

    fn decode(d: &mut Decoder<'_>, (): &()) -> Result<Self> {
        let field = field::bytes64(d)?;
        let value = field::bytes64(d)?;
        Ok(UpdateValue { field, value })
    }

    fn encode(&self, e: &mut Encoder, (): &()) -> Result<()> {
        field::put_bytes64(e, &self.field);
        field::put_bytes64(e, &self.value);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::delete_condition::{Comparison, Node, Operator};
    use super::*;
    use crate::format::structure_tests::structure_tests;

    fn update() -> UpdateCondition {
        let (field, value) = (b"a".to_vec(), vec![3, 0]);
        let comparison = Comparison { operator: Operator::Eq, field, value, offsets: Vec::new() };
        UpdateCondition {
            condition: DeleteCondition::new(vec![Node::Value(comparison)]).unwrap(),
            values: vec![UpdateValue { field: b"a".to_vec(), value: vec![4, 0] }],
        }
    }

    structure_tests!(UpdateCondition, context: (), golden: [], values: [update()]);
}
