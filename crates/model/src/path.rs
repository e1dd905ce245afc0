//! Paths of objects.

use hyperslab_core::{Error, Result};
use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

/// The absolute, normalised path of an object: `/`, `/waves/height`.
///
/// Paths are ordered by depth, then by bytes. If an object has several paths, its first path is the smallest one.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct NodePath(Arc<str>);

impl NodePath {
    /// The root path `/`.
    pub fn root() -> Self {
        NodePath("/".into())
    }

    /// Parses an absolute path. A trailing slash is dropped.
    ///
    /// # Errors
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if the path does not begin with `/`, or a
    /// component is empty, `.` or `..`.
    pub fn new(path: &str) -> Result<Self> {
        let Some(inner) = path.strip_prefix('/') else {
            return Err(Error::invalid(format!("path {path:?} does not begin with /")));
        };
        if inner.is_empty() {
            return Ok(NodePath::root());
        }
        let inner = inner.strip_suffix('/').unwrap_or(inner);
        if let Some(part) = inner.split('/').find(|part| matches!(*part, "" | "." | "..")) {
            return Err(Error::invalid(format!("path {path:?} has the component {part:?}")));
        }
        Ok(NodePath(format!("/{inner}").into()))
    }

    /// The path of a member of this group. The name is not checked, because formats allow names that [`NodePath::new`]
    /// rejects.
    #[must_use]
    pub fn child(&self, name: &str) -> Self {
        let parent = self.prefix();
        let mut path = String::with_capacity(parent.len() + 1 + name.len());
        path.push_str(parent);
        path.push('/');
        path.push_str(name);
        NodePath(path.into())
    }

    /// The path of the parent group. `None` for the root.
    pub fn parent(&self) -> Option<NodePath> {
        if self.is_root() {
            return None;
        }
        match self.0.rsplit_once('/') {
            Some(("", _)) | None => Some(NodePath::root()),
            Some((parent, _)) => Some(NodePath(parent.into())),
        }
    }

    /// Whether `group` is the parent.
    pub fn is_member_of(&self, group: &NodePath) -> bool {
        !self.is_root() && self.0.rsplit_once('/').is_some_and(|(parent, _)| parent == group.prefix())
    }

    /// The last component. Empty for the root.
    pub fn name(&self) -> &str {
        self.0.rsplit_once('/').map_or("", |(_, name)| name)
    }

    /// The number of components. 0 for the root.
    pub fn depth(&self) -> usize {
        // This is called in every comparison of paths. Searching for one slash after another is ten times slower.
        if self.is_root() { 0 } else { self.0.bytes().filter(|byte| *byte == b'/').count() }
    }

    /// Whether this is the root path.
    pub fn is_root(&self) -> bool {
        &*self.0 == "/"
    }

    /// Whether this path is `ancestor` or lies below it.
    pub fn is_within(&self, ancestor: &NodePath) -> bool {
        self.relative_to(ancestor).is_some()
    }

    /// The rest of the path after `ancestor` and the slash. `None` if this path is not within `ancestor`.
    pub fn relative_to(&self, ancestor: &NodePath) -> Option<&str> {
        match self.0.strip_prefix(ancestor.prefix())? {
            "" => Some(""),
            rest => rest.strip_prefix('/'),
        }
    }

    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The prefix of the paths of members. Empty for the root.
    fn prefix(&self) -> &str {
        if self.is_root() { "" } else { &self.0 }
    }
}

impl Ord for NodePath {
    fn cmp(&self, other: &Self) -> Ordering {
        self.depth().cmp(&other.depth()).then_with(|| self.0.cmp(&other.0))
    }
}

impl PartialOrd for NodePath {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for NodePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for NodePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_absolute_and_normalised() {
        for bad in ["", "a", "//", "/a//b", "/.", "/a/..", "/a//"] {
            assert!(NodePath::new(bad).is_err(), "{bad:?}");
        }
        assert_eq!(NodePath::new("/a/b/").unwrap().as_str(), "/a/b");
        assert_eq!(NodePath::new("/").unwrap(), NodePath::root());
    }

    #[test]
    fn paths_have_parents_names_and_relative_paths() {
        let root = NodePath::root();
        let ab = root.child("a").child("b");
        assert_eq!(ab.as_str(), "/a/b");
        assert_eq!(ab.parent(), Some(root.child("a")));
        assert_eq!(root.child("a").parent(), Some(root.clone()));
        assert_eq!((ab.name(), root.name(), ab.depth(), root.depth()), ("b", "", 2, 0));
        assert!(ab.is_within(&root) && ab.is_within(&ab) && ab.is_within(&root.child("a")));
        assert!(!root.child("ab").is_within(&root.child("a")));
        assert!(ab.is_member_of(&root.child("a")) && root.child("a").is_member_of(&root));
        assert!(!ab.is_member_of(&root) && !ab.is_member_of(&ab) && !root.is_member_of(&root));
        assert_eq!(ab.relative_to(&root.child("a")), Some("b"));
        assert_eq!((ab.relative_to(&root), root.relative_to(&root)), (Some("a/b"), Some("")));
    }
}
