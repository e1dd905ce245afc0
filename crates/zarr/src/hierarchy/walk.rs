//! Iterates over all nodes of a store.

use super::{Child, Hierarchy, Node};
use hyperslab_core::Result;
use hyperslab_core::store::Key;

/// An iterator over nodes, depth first and sorted by name. It keeps only the siblings along the current path in memory.
pub struct Walk<'a> {
    hierarchy: &'a Hierarchy,
    /// The entries that are still to be visited, the next one last.
    left: Vec<Child>,
    /// Whether the walk has not started.
    fresh: bool,
}

impl<'a> Walk<'a> {
    pub(super) fn new(hierarchy: &'a Hierarchy, path: &Key) -> Walk<'a> {
        Walk {
            hierarchy,
            left: vec![Child { path: path.clone(), is_alias: false, unfollowed: None }],
            fresh: true,
        }
    }

    /// Adds the entries below a node, so that the first name comes next.
    fn enter(&mut self, path: &Key) -> Result<()> {
        let mut children = self.hierarchy.children(path)?;
        let followed = children.iter().filter(|child| child.unfollowed.is_none());
        self.hierarchy.fetch(followed.map(|child| &child.path));
        children.reverse();
        self.left.append(&mut children);
        Ok(())
    }
}

impl Iterator for Walk<'_> {
    /// The path of a node, and the node or the error.
    type Item = (Key, Result<Node>);

    fn next(&mut self) -> Option<Self::Item> {
        while let Some(child) = self.left.pop() {
            if let Err(e) = child.check() {
                return Some((child.path, Err(e)));
            }
            let Child { path, is_alias, .. } = child;
            let node = match std::mem::take(&mut self.fresh) {
                true => self.hierarchy.node_or_folder(&path),
                false => self.hierarchy.node(&path),
            };
            match node {
                Ok(None) => {}
                Ok(Some(node)) => {
                    if !node.is_array()
                        && !is_alias
                        && let Err(e) = self.enter(&path)
                    {
                        return Some((path, Err(e)));
                    }
                    return Some((path, Ok(node)));
                }
                Err(e) => return Some((path, Err(e))),
            }
        }
        None
    }
}
