//! The order in which the objects of a store were declared, if it differs from that of member lists.

/// The position of a group member among the CDL declarations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Declared {
    /// The place of its variable, type or group among the members: the place of its link, not its place in a list that
    /// has dimensions in the order of their definition.
    pub place: u64,
    /// The identifier of its dimension. `None` if the store has none: dimensions are then numbered in the order in
    /// which they occur.
    pub dimension: Option<u64>,
}
