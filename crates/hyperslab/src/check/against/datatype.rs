//! Compares datatypes with those of a contract.

use hyperslab_model::Datatype;

/// Whether elements have the expected datatype: the same content, with the same names and tags if the contract states
/// them.
pub(super) fn fits(is: &Datatype, expected: &Datatype) -> bool {
    match (is, expected) {
        (Datatype::Named(path, is), Datatype::Named(name, expected)) => path == name && fits(is, expected),
        (Datatype::Named(_, is), expected) => fits(is, expected),
        (is, Datatype::Named(_, expected)) => fits(is, expected),
        (Datatype::String(_), Datatype::String(_)) => true,
        (Datatype::Opaque { size, tag }, Datatype::Opaque { size: other, tag: expected }) => {
            size == other && (expected.is_empty() || tag == expected)
        }
        (Datatype::Enum { base, members }, Datatype::Enum { base: other, members: expected }) => {
            members.len() == expected.len()
                && members.iter().all(|member| expected.contains(member))
                && fits(base, other)
        }
        (Datatype::Compound(is), Datatype::Compound(expected)) => {
            let both = || is.iter().zip(expected);
            is.len() == expected.len()
                && both()
                    .all(|(is, expected)| is.name == expected.name && fits(&is.datatype, &expected.datatype))
        }
        (Datatype::Vlen(is), Datatype::Vlen(expected))
        | (Datatype::Nullable(is), Datatype::Nullable(expected)) => fits(is, expected),
        (Datatype::Array { base, shape }, Datatype::Array { base: other, shape: expected }) => {
            shape == expected && fits(base, other)
        }
        (is, expected) => is == expected,
    }
}

/// A datatype as a short text; a named datatype with its name.
pub(super) fn shown(datatype: &Datatype) -> String {
    match datatype {
        Datatype::Named(path, of) => format!("{path} ({of})"),
        Datatype::Opaque { tag, .. } if !tag.is_empty() => format!("{datatype} {tag:?}"),
        other => other.to_string(),
    }
}
