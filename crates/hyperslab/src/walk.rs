//! Visits every object below a group.

use crate::source::{Entry, Handle, Item, Source};
use hyperslab_core::{Error, Result};
use hyperslab_model::{Link, NodeKind, NodePath, Unreadable};
use rustc_hash::FxHashMap;

/// One step of a walk.
#[derive(Debug)]
pub enum Step<'a> {
    /// The start of a group, with all its members, which then follow one by one.
    Enter(&'a Handle, &'a [Entry]),
    /// A member that is not a group, or a group whose members cannot be listed.
    Member(&'a Entry),
    /// The end of a group, after everything below it.
    Leave(&'a Handle),
}

/// Visits `root` and everything below it in document order: a group, its members other than groups in stored order,
/// then its groups, each in the same way.
///
/// A group with several paths is visited once; at its other paths it is a link. The walk does not recurse; its memory
/// is one list of members per level.
///
/// # Errors
/// The first error of `visit`, and [`ErrorKind::Cancelled`](hyperslab_core::ErrorKind::Cancelled). Objects that cannot
/// be read are not errors: they are visited as unreadable.
pub fn walk(source: &dyn Source, root: &Handle, visit: &mut dyn FnMut(Step<'_>) -> Result<()>) -> Result<()> {
    walk_to(source, root, usize::MAX, visit)
}

/// As [`walk`], but enters only groups at most `depth` levels below `root`.
///
/// # Errors
/// As [`walk`].
pub fn walk_to(
    source: &dyn Source,
    root: &Handle,
    depth: usize,
    visit: &mut dyn FnMut(Step<'_>) -> Result<()>,
) -> Result<()> {
    let mut met = MetGroups::beginning_with(root);
    let mut open: Vec<(Handle, std::vec::IntoIter<Handle>)> = Vec::new();
    let mut next = Some(root.clone());
    loop {
        source.pool().check()?;
        if let Some(group) = next.take() {
            match source.members(&group) {
                Ok(mut members) => {
                    members.iter_mut().for_each(|entry| met.note(source, entry));
                    visit(Step::Enter(&group, &members))?;
                    let mut groups = Vec::new();
                    for entry in members {
                        match entry.item {
                            Item::Group if open.len() >= depth => {}
                            Item::Group => groups.push(entry.handle),
                            _ => visit(Step::Member(&entry))?,
                        }
                    }
                    open.push((group, groups.into_iter()));
                }
                Err(error) => visit(Step::Member(&unlisted(group, &error)))?,
            }
        }
        // After cancellation, objects can be listed as unreadable without being damaged.
        let Some((group, pending)) = open.last_mut() else { return source.pool().check() };
        next = pending.next();
        if next.is_none() {
            visit(Step::Leave(group))?;
            open.pop();
        }
    }
}

/// A group whose members cannot be listed.
pub(crate) fn unlisted(handle: Handle, error: &Error) -> Entry {
    Entry { handle, item: Item::Unreadable(Unreadable::new(Some(NodeKind::Group), error)) }
}

/// The groups that a walk has visited, so that cycles end and no group is visited twice.
pub(crate) struct MetGroups(FxHashMap<u64, NodePath>);

impl MetGroups {
    pub(crate) fn beginning_with(root: &Handle) -> Self {
        MetGroups(FxHashMap::from_iter([(root.id, root.path.clone())]))
    }

    /// Replaces a group that was visited before by a link to its first path.
    pub(crate) fn note(&mut self, source: &dyn Source, entry: &mut Entry) {
        if !matches!(entry.item, Item::Group) {
            return;
        }
        match self.0.get(&entry.handle.id) {
            None => {
                self.0.insert(entry.handle.id, entry.handle.path.clone());
            }
            Some(first) => {
                source.met_twice(&entry.handle);
                entry.item = Item::Link(Link::Hard(first.clone()));
            }
        }
    }
}
