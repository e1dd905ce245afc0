//! Compares datatypes with those of a contract.

use hyperslab_model::Datatype;

/// Whether elements have the expected datatype: the same content, with the same names and tags if the contract states
/// them.
pub(super) fn fits(is: &Datatype, wanted: &Datatype) -> bool {
    match (is, wanted) {
        (Datatype::Named(path, is), Datatype::Named(name, wanted)) => path == name && fits(is, wanted),
        (Datatype::Named(_, is), wanted) => fits(is, wanted),
        (is, Datatype::Named(_, wanted)) => fits(is, wanted),
        (Datatype::String(_), Datatype::String(_)) => true,
        (Datatype::Opaque { size, tag }, Datatype::Opaque { size: other, tag: wanted }) => {
            size == other && (wanted.is_empty() || tag == wanted)
        }
        (Datatype::Enum { base, members }, Datatype::Enum { base: other, members: wanted }) => {
            members.len() == wanted.len()
                && members.iter().all(|member| wanted.contains(member))
                && fits(base, other)
        }
        (Datatype::Compound(is), Datatype::Compound(wanted)) => {
            let both = || is.iter().zip(wanted);
            is.len() == wanted.len()
                && both().all(|(is, wanted)| is.name == wanted.name && fits(&is.datatype, &wanted.datatype))
        }
        (Datatype::Vlen(is), Datatype::Vlen(wanted))
        | (Datatype::Nullable(is), Datatype::Nullable(wanted)) => fits(is, wanted),
        (Datatype::Array { base, shape }, Datatype::Array { base: other, shape: wanted }) => {
            shape == wanted && fits(base, other)
        }
        (is, wanted) => is == wanted,
    }
}

/// A datatype as a short text, a named one with its name.
pub(super) fn shown(datatype: &Datatype) -> String {
    match datatype {
        Datatype::Named(path, of) => format!("{path} ({of})"),
        Datatype::Opaque { tag, .. } if !tag.is_empty() => format!("{datatype} {tag:?}"),
        other => other.to_string(),
    }
}
