//! Delete condition: the body of the generic tile in a delete commit file. New in version 16.
//!
//! Spec: TileDB format_spec, delete_commit_file.md, which does not mention the operators from [`Operator::In`] on, the
//! offsets of sets, and that the condition holds for the cells that are *kept*

use super::{Structure, field};
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// The condition of the cells that a delete keeps: `x > 50` is deleted by `x <= 50`.
///
/// The tree is a list: each expression precedes its operands. It is at most [`MAX_DEPTH`](Self::MAX_DEPTH) deep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeleteCondition {
    nodes: Vec<Node>,
}

/// A part of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// A combination of the conditions that follow.
    Expression {
        /// How they are combined.
        operator: Combination,
        /// The number of operands that follow, each with everything below it.
        operands: usize,
    },
    /// The comparison of a field with a value.
    Value(Comparison),
}

/// How conditions are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Combination {
    /// All hold.
    And = 0,
    /// At least one holds.
    Or = 1,
    /// The only operand does not hold.
    Not = 2,
}

/// The comparison of a field with a value. Comparisons of null and NaN are false, except comparisons with null.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// The operator.
    pub operator: Operator,
    /// The name of an attribute or dimension.
    pub field: Vec<u8>,
    /// The value in the datatype of the field; for an attribute with an enumeration, the index of the value. Empty for
    /// null. For sets, all members one after another.
    pub value: Vec<u8>,
    /// The offset of each member of a set in [`value`](Self::value); empty for other operators.
    pub offsets: Vec<u64>,
}

/// An operator between a field and a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operator {
    /// Less than.
    Lt = 0,
    /// Less than or equal.
    Le = 1,
    /// Greater than.
    Gt = 2,
    /// Greater than or equal.
    Ge = 3,
    /// Equal.
    Eq = 4,
    /// Not equal.
    Ne = 5,
    /// A member of a set.
    In = 6,
    /// Not a member of a set.
    NotIn = 7,
    /// Always true, regardless of the field.
    AlwaysTrue = 253,
    /// Always false, regardless of the field.
    AlwaysFalse = 254,
}

impl DeleteCondition {
    /// The maximum nesting of expressions in a condition, including the comparison in the innermost one.
    pub const MAX_DEPTH: usize = 256;

    /// A condition of these nodes, each expression before its operands.
    ///
    /// # Errors
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if operands are missing or left over, or the
    /// condition is deeper than [`MAX_DEPTH`](Self::MAX_DEPTH).
    pub fn new(nodes: Vec<Node>) -> Result<Self> {
        let mut open = Open::default();
        for node in &nodes {
            if open.is_complete() {
                return Err(Error::invalid("a condition with nodes behind its end"));
            }
            open.push(node).map_err(Error::invalid)?;
        }
        match open.is_complete() {
            true => Ok(DeleteCondition { nodes }),
            false => Err(Error::invalid("a condition that lacks operands")),
        }
    }

    /// The nodes, each expression before its operands.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }
}

impl Structure for DeleteCondition {
    type Context = ();
    const NAME: &'static str = "Delete Condition";

    fn decode(d: &mut Decoder<'_>, (): &()) -> Result<Self> {
        let (mut nodes, mut open) = (Vec::new(), Open::default());
        while !open.is_complete() {
            let at = d.clone();
            let node = Node::decode(d)?;
            open.push(&node).map_err(|detail| at.unsupported(detail))?;
            nodes.push(node);
        }
        Ok(DeleteCondition { nodes })
    }

    fn encode(&self, e: &mut Encoder, (): &()) -> Result<()> {
        self.nodes.iter().try_for_each(|node| node.encode(e))
    }
}

/// The expressions that still lack operands while a condition is walked.
#[derive(Default)]
struct Open {
    /// The number of operands that each still lacks, the innermost last.
    left: Vec<usize>,
    begun: bool,
}

impl Open {
    fn is_complete(&self) -> bool {
        self.begun && self.left.is_empty()
    }

    fn push(&mut self, node: &Node) -> Result<(), String> {
        self.begun = true;
        if let Some(left) = self.left.last_mut() {
            *left = left.saturating_sub(1);
        }
        if let Node::Expression { operands, .. } = node {
            if self.left.len() == DeleteCondition::MAX_DEPTH {
                let most = DeleteCondition::MAX_DEPTH;
                return Err(format!("a condition of more than {most} expressions within each other"));
            }
            self.left.push(*operands);
        }
        while self.left.last() == Some(&0) {
            self.left.pop();
        }
        Ok(())
    }
}

impl Node {
    fn decode(d: &mut Decoder<'_>) -> Result<Self> {
        let at = d.clone();
        match d.u8()? {
            EXPRESSION => {
                let operator = Combination::decode(d)?;
                let operands = d.u64()?;
                let operands = d.count(operands, MIN_LEN)?;
                Ok(Node::Expression { operator, operands })
            }
            VALUE => Comparison::decode(d).map(Node::Value),
            other => Err(at.unsupported(format!("node type {other}, expected 0 or 1"))),
        }
    }

    fn encode(&self, e: &mut Encoder) -> Result<()> {
        match self {
            Node::Expression { operator, operands } => {
                e.u8(EXPRESSION);
                e.u8(*operator as u8);
                e.u64(*operands as u64);
                Ok(())
            }
            Node::Value(comparison) => {
                e.u8(VALUE);
                comparison.encode(e)
            }
        }
    }
}

impl Comparison {
    fn decode(d: &mut Decoder<'_>) -> Result<Self> {
        let operator = Operator::decode(d)?;
        let field = field::bytes32(d)?;
        let value = field::bytes64(d)?;
        let offsets = match operator.takes_set() {
            true => field::offsets(d)?,
            false => Vec::new(),
        };
        Ok(Comparison { operator, field, value, offsets })
    }

    fn encode(&self, e: &mut Encoder) -> Result<()> {
        e.u8(self.operator as u8);
        field::put_bytes32(e, &self.field)?;
        field::put_bytes64(e, &self.value);
        match self.operator.takes_set() {
            true => field::put_offsets(e, &self.offsets),
            false if self.offsets.is_empty() => {}
            false => return Err(Error::invalid("a set, with an operator that takes one value")),
        }
        Ok(())
    }
}

impl Operator {
    /// Whether the operator takes a set of values.
    pub fn takes_set(self) -> bool {
        matches!(self, Operator::In | Operator::NotIn)
    }

    /// The operator that holds for exactly the other values.
    pub fn opposite(self) -> Operator {
        match self {
            Operator::Lt => Operator::Ge,
            Operator::Le => Operator::Gt,
            Operator::Gt => Operator::Le,
            Operator::Ge => Operator::Lt,
            Operator::Eq => Operator::Ne,
            Operator::Ne => Operator::Eq,
            Operator::In => Operator::NotIn,
            Operator::NotIn => Operator::In,
            Operator::AlwaysTrue => Operator::AlwaysFalse,
            Operator::AlwaysFalse => Operator::AlwaysTrue,
        }
    }

    fn decode(d: &mut Decoder<'_>) -> Result<Self> {
        let at = d.clone();
        Ok(match d.u8()? {
            0 => Operator::Lt,
            1 => Operator::Le,
            2 => Operator::Gt,
            3 => Operator::Ge,
            4 => Operator::Eq,
            5 => Operator::Ne,
            6 => Operator::In,
            7 => Operator::NotIn,
            253 => Operator::AlwaysTrue,
            254 => Operator::AlwaysFalse,
            other => return Err(at.unsupported(format!("operator {other}, expected 0 to 7, 253 or 254"))),
        })
    }
}

impl Combination {
    fn decode(d: &mut Decoder<'_>) -> Result<Self> {
        let at = d.clone();
        match d.u8()? {
            0 => Ok(Combination::And),
            1 => Ok(Combination::Or),
            2 => Ok(Combination::Not),
            other => Err(at.unsupported(format!("combination {other}, expected 0 to 2"))),
        }
    }
}

const EXPRESSION: u8 = 0;
const VALUE: u8 = 1;

/// The size of an expression without operands, which is the shortest node.
const MIN_LEN: usize = 1 + 1 + 8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::structure_tests;

    pub(crate) fn is(operator: Operator) -> Node {
        let (field, value) = (b"a".to_vec(), vec![3, 0, 0, 0]);
        Node::Value(Comparison { operator, field, value, offsets: Vec::new() })
    }

    fn both(operator: Combination) -> Node {
        Node::Expression { operator, operands: 2 }
    }

    fn condition(nodes: Vec<Node>) -> DeleteCondition {
        DeleteCondition::new(nodes).unwrap()
    }

    fn nested(depth: usize) -> Vec<Node> {
        let not = Node::Expression { operator: Combination::Not, operands: 1 };
        [vec![not; depth], vec![is(Operator::Eq)]].concat()
    }

    structure_tests!(DeleteCondition, context: (),
    golden: [
        include_str!("../../tests/golden/delete_condition.hex"),
        include_str!("../../tests/golden/delete_condition_set.hex"),
    ],
    values: [
        condition(vec![is(Operator::AlwaysFalse)]),
        condition(vec![both(Combination::Or), both(Combination::And), is(Operator::Lt), is(Operator::Ge), is(Operator::Ne)]),
        condition(nested(DeleteCondition::MAX_DEPTH)),
        condition(vec![Node::Value(Comparison {
            operator: Operator::NotIn,
            field: b"s".to_vec(),
            value: b"abc".to_vec(),
            offsets: vec![0, 1],
        })]),
    ]);

    #[test]
    fn what_is_kept_is_stored() {
        let bytes =
            crate::format::structure_tests::hex(include_str!("../../tests/golden/delete_condition.hex"));
        let decoded = DeleteCondition::decode(&mut Decoder::new("t", 0, &bytes), &()).unwrap();
        let operators: Vec<_> = decoded
            .nodes()
            .iter()
            .map(|node| match node {
                Node::Expression { operator, .. } => format!("{operator:?}"),
                Node::Value(comparison) => format!("{:?}", comparison.operator),
            })
            .collect();
        // `a > 2 and b == 3` was deleted.
        assert_eq!(operators, ["Or", "Le", "Ne"]);
    }

    #[test]
    fn a_tree_10000_deep_is_an_error_with_a_name() {
        let mut bytes: Vec<u8> = [0, 2, 1, 0, 0, 0, 0, 0, 0, 0].repeat(10_000);
        bytes.extend([1, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        let e = DeleteCondition::decode(&mut Decoder::new("Delete Condition", 0, &bytes), &()).unwrap_err();
        assert_eq!(
            e.to_string(),
            "unsupported Delete Condition at byte 0xa00: a condition of more than 256 expressions within each other"
        );
        assert!(DeleteCondition::new(nested(DeleteCondition::MAX_DEPTH + 1)).is_err());
    }

    #[test]
    fn expressions_have_all_their_operands_and_no_more() {
        let and = || both(Combination::And);
        for nodes in [
            vec![],
            vec![and()],
            vec![and(), is(Operator::Eq)],
            vec![is(Operator::Eq), is(Operator::Eq)],
            vec![and(), is(Operator::Eq), is(Operator::Eq), is(Operator::Eq)],
        ] {
            assert!(DeleteCondition::new(nodes.clone()).is_err(), "{nodes:?}");
        }
        let none = Node::Expression { operator: Combination::And, operands: 0 };
        condition(vec![and(), none, is(Operator::Eq)]);
    }

    #[test]
    fn rejects_more_operands_than_fit() {
        let bytes = [&[0, 0][..], &u64::MAX.to_le_bytes(), &[0; 20]].concat();
        let e = DeleteCondition::decode(&mut Decoder::new("t", 0, &bytes), &()).unwrap_err();
        assert!(e.detail().contains("items do not fit in 20 bytes"), "{e}");
    }
}
