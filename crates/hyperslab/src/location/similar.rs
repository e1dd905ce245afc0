//! Suggests objects for paths that lead nowhere.

use super::{inside, nearest};
use crate::source::{Item, Source};
use crate::walk::{Step, walk};
use hyperslab_core::{Error, ErrorKind, Remedy};
use hyperslab_model::NodePath;

/// Whether a text begins with a scheme such as `https://` or `s3://`.
pub(crate) fn is_url(text: &str) -> bool {
    let scheme = text.split_once("://").map_or("", |(scheme, _)| scheme);
    scheme.len() > 1 && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

/// Suggests the array and the selection for a path such as `/x[0,:]`, if there is such an array.
pub(super) fn part(source: &dyn Source, text: &str) -> Option<Remedy> {
    let (path, selection) = text.strip_suffix(']')?.split_once('[')?;
    let object = NodePath::new(path).ok()?;
    let entry = inside(source, source.find(&object).ok()?).ok()?;
    (matches!(entry.item, Item::Array { .. }) && !selection.is_empty())
        .then(|| Remedy::SelectPart { object: path.to_owned(), selection: selection.to_owned() })
}

/// The object that a path that leads nowhere probably means: each name is replaced by the most similar one in its
/// group; failing that, the only object of this name elsewhere.
pub(super) fn similar(source: &dyn Source, path: &NodePath) -> Option<NodePath> {
    let mut found = NodePath::root();
    for name in path.as_str().split('/').filter(|name| !name.is_empty()) {
        let own = found.child(name);
        if source.find(&own).is_ok() {
            found = own;
            continue;
        }
        let group = source.find(&found).ok()?;
        let members = match group.item {
            Item::Group => source.members(&group.handle).ok()?,
            // The error names the link that leads nowhere.
            Item::Link(_) => return None,
            _ => Vec::new(),
        };
        match nearest(name, members.iter().map(|member| member.handle.path.name())) {
            Some(near) => found = found.child(near),
            None => return elsewhere(source, path.name()),
        }
    }
    Some(found)
}

/// The only object of this name among the first objects of a store.
fn elsewhere(source: &dyn Source, name: &str) -> Option<NodePath> {
    let root = source.find(&NodePath::root()).ok()?;
    let (mut found, mut objects) = (Vec::new(), 0);
    let walked = walk(source, &root.handle, &mut |step| {
        objects += 1;
        let path = match step {
            Step::Enter(handle, _) => &handle.path,
            Step::Member(entry) => &entry.handle.path,
            Step::Leave(_) => return Ok(()),
        };
        found.extend((path.name() == name).then(|| path.clone()));
        match objects < MAX_OBJECTS && found.len() < 2 {
            true => Ok(()),
            false => Err(Error::new(ErrorKind::Cancelled, "enough objects")),
        }
    });
    match (walked, found.as_slice()) {
        (Ok(()), [only]) => Some(only.clone()),
        _ => None,
    }
}

/// The maximum number of objects that are searched for a suggestion.
const MAX_OBJECTS: usize = 10_000;
