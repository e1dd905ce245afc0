//! The order in which the library creates what a group has: types first, then dimensions without variables and the
//! variables, so that dimensions come in the order of their definition, then groups.
//!
//! It numbers variables, and dimensions that do not say their number, in this order.

/// What a member of a group is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MemberKind {
    Datatype,
    /// A dimension without a variable.
    Dimension,
    /// The variable of a dimension.
    Coordinates,
    Variable,
    Group,
    /// A link, or an object that is not stored.
    Nothing,
}

/// The names of members in the order of creation, given in stored order.
pub(super) fn created(members: Vec<(String, MemberKind)>) -> Vec<String> {
    let of = |kinds: &'static [MemberKind]| {
        let members = members.iter().filter(|(_, kind)| kinds.contains(kind));
        members.map(|(name, kind)| (name.clone(), *kind)).collect::<Vec<_>>()
    };
    let mut order: Vec<String> = of(&[MemberKind::Datatype]).into_iter().map(|(name, _)| name).collect();
    let mut variables = of(&[MemberKind::Coordinates, MemberKind::Variable]).into_iter().peekable();
    for (dimension, kind) in of(&[MemberKind::Dimension, MemberKind::Coordinates]) {
        if kind == MemberKind::Dimension {
            order.push(dimension);
            continue;
        }
        // All variables up to that of the dimension, unless it stands behind another one already.
        if !order.contains(&dimension) {
            order.extend(variables.by_ref().map(|(name, _)| name).take_while(|name| *name != dimension));
            order.push(dimension);
        }
    }
    order.extend(variables.map(|(name, _)| name));
    order.extend(of(&[MemberKind::Group]).into_iter().map(|(name, _)| name));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_follow_their_dimensions_and_keep_their_order() {
        use MemberKind::{Coordinates, Datatype, Dimension, Group, Nothing, Variable};
        let members = [
            ("g", Group),
            ("first", Variable),
            ("x", Coordinates),
            ("n", Dimension),
            ("second", Variable),
            ("link", Nothing),
            ("y", Coordinates),
            ("t", Datatype),
            ("third", Variable),
        ];
        let members = members.map(|(name, kind)| (name.to_owned(), kind)).to_vec();
        assert_eq!(created(members), ["t", "first", "x", "n", "second", "y", "third", "g"]);
    }
}
