//! The order in which the objects of a store were declared, where lists of members have another one.

/// The order of a member of a group among the declarations of CDL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Declared {
    /// The place of its variable, type or group among the members: the place of its link, not that in a list where
    /// dimensions stand in the order of their definition.
    pub place: u64,
    /// The identifier of its dimension. `None` if the store has none: dimensions are then numbered as they are met.
    pub dimension: Option<u64>,
}
