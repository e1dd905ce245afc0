//! Names that the model shows in a form other than the stored one.

use crate::source::{Entry, Item};
use crate::strings::{has_escaped, with_slashes};
use hyperslab_model::{Datatype, Link, Node};

/// The places of names with bytes that the model cannot represent as characters, in sources whose names may contain
/// them. `node` is the object of the entry; `None` for a link. A target that `stores_bytes` changes only the names of
/// members with a slash, to which no path leads.
pub(super) fn escaped(entry: &Entry, node: Option<&Node>, stores_bytes: bool) -> Vec<String> {
    let path = &entry.handle.path;
    if stores_bytes {
        let has_slash = has_escaped(path.name()) && with_slashes(path.name()) != path.name();
        return has_slash.then(|| path.to_string()).into_iter().collect();
    }
    let leads_there = match &entry.item {
        Item::Link(Link::Soft(target)) => has_escaped(target),
        Item::Link(Link::External { file, path }) => has_escaped(file) || has_escaped(path),
        _ => false,
    };
    let own = node.and_then(Node::datatype);
    let mut places = Vec::new();
    if leads_there || has_escaped(path.name()) || own.is_some_and(|datatype| is_escaped_in(datatype)) {
        places.push(path.to_string());
    }
    for (name, attribute) in node.and_then(Node::attributes).into_iter().flatten() {
        let of_type = attribute.as_ref().is_ok_and(|attribute| is_escaped_in(&attribute.datatype));
        if of_type || has_escaped(name) {
            places.push(format!("{path}@{name}"));
        }
    }
    places
}

/// Whether a datatype has members, values or a tag with such a name. A named datatype is a place of its own.
fn is_escaped_in(datatype: &Datatype) -> bool {
    !matches!(datatype, Datatype::Named(..))
        && datatype.any(&|part| match part {
            Datatype::Compound(members) => members.iter().any(|member| has_escaped(&member.name)),
            Datatype::Enum { members, .. } => members.iter().any(|(name, _)| has_escaped(name)),
            Datatype::Opaque { tag, .. } => has_escaped(tag),
            _ => false,
        })
}
