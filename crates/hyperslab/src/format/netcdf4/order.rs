//! The order in which the library creates the contents of a group: first types, then dimensions without variables
//! together with the variables, such that dimensions are in the order of their definition, and then groups.
//!
//! In this order the library numbers variables, and dimensions without a stated number.

use rustc_hash::FxHashSet;

/// The kind of a member of a group.
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

/// A member of a group.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) name: String,
    pub(super) kind: MemberKind,
    /// The identifier of the dimension that the member represents.
    pub(super) dimension: Option<i32>,
}

/// The names of members in creation order, from members in stored order.
pub(super) fn created(members: &[Member]) -> Vec<&str> {
    let of = |kinds: &'static [MemberKind]| members.iter().filter(move |member| kinds.contains(&member.kind));
    let mut order: Vec<&str> = of(&[MemberKind::Datatype]).map(|member| member.name.as_str()).collect();
    let mut variables =
        of(&[MemberKind::Coordinates, MemberKind::Variable]).map(|member| member.name.as_str());
    let mut dimensions: Vec<&Member> = of(&[MemberKind::Dimension, MemberKind::Coordinates]).collect();
    dimensions.sort_by_key(|member| member.dimension);
    let mut written = FxHashSet::default();
    for Member { name, kind, .. } in dimensions {
        if *kind == MemberKind::Dimension {
            order.push(name);
            continue;
        }
        // All variables up to that of the dimension, unless it has already been written.
        while !written.contains(name.as_str())
            && let Some(variable) = variables.next()
        {
            written.insert(variable);
            order.push(variable);
        }
    }
    order.extend(variables);
    order.extend(of(&[MemberKind::Group]).map(|member| member.name.as_str()));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_follow_their_dimensions_and_keep_their_order() {
        use MemberKind::{Coordinates, Datatype, Dimension, Group, Nothing, Variable};
        let members = [
            ("g", Group, None),
            ("first", Variable, None),
            ("x", Coordinates, Some(1)),
            ("n", Dimension, Some(2)),
            ("second", Variable, None),
            ("link", Nothing, None),
            ("y", Coordinates, Some(0)),
            ("t", Datatype, None),
            ("third", Variable, None),
        ];
        let members =
            members.map(|(name, kind, dimension)| Member { name: name.to_owned(), kind, dimension }).to_vec();
        assert_eq!(created(&members), ["t", "first", "x", "second", "y", "n", "third", "g"]);
    }
}
