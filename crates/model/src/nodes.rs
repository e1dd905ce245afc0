//! The objects of a file by path.

use crate::{Node, NodePath};
use indexmap::IndexMap;
use indexmap::map::{IntoIter, Iter};
use std::iter::Map;
use std::ops::Index;

/// Objects by path, in the order in which they were added.
///
/// Each is on the heap: within a map that grows, objects would take up to three times their size.
#[derive(Clone, Debug, Default)]
pub struct Nodes(IndexMap<NodePath, Box<Node>>);

impl Nodes {
    /// The number of objects.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no objects.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The object at `path`.
    pub fn get(&self, path: &NodePath) -> Option<&Node> {
        self.0.get(path).map(Box::as_ref)
    }

    /// As [`Nodes::get`], but mutable.
    pub fn get_mut(&mut self, path: &NodePath) -> Option<&mut Node> {
        self.0.get_mut(path).map(Box::as_mut)
    }

    /// Whether there is an object at `path`.
    pub fn contains_key(&self, path: &NodePath) -> bool {
        self.0.contains_key(path)
    }

    /// Adds an object. Returns the one that it replaces.
    pub fn insert(&mut self, path: NodePath, node: Node) -> Option<Node> {
        self.0.insert(path, Box::new(node)).map(|old| *old)
    }

    /// Removes the object at `path`, in time proportional to the number of objects.
    pub fn remove(&mut self, path: &NodePath) -> Option<Node> {
        self.0.shift_remove(path).map(|node| *node)
    }

    /// The objects with their paths.
    pub fn iter(&self) -> <&Nodes as IntoIterator>::IntoIter {
        self.into_iter()
    }

    /// The paths.
    pub fn keys(&self) -> impl Iterator<Item = &NodePath> {
        self.0.keys()
    }

    /// The objects.
    pub fn values(&self) -> impl Iterator<Item = &Node> {
        self.0.values().map(Box::as_ref)
    }

    /// As [`Nodes::values`], but mutable.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut Node> {
        self.0.values_mut().map(Box::as_mut)
    }
}

impl<'a> IntoIterator for &'a Nodes {
    type Item = (&'a NodePath, &'a Node);
    type IntoIter = Map<Iter<'a, NodePath, Box<Node>>, fn((&'a NodePath, &'a Box<Node>)) -> Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter().map(|(path, node)| (path, node))
    }
}

impl IntoIterator for Nodes {
    type Item = (NodePath, Node);
    type IntoIter = Map<IntoIter<NodePath, Box<Node>>, fn((NodePath, Box<Node>)) -> Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter().map(|(path, node)| (path, *node))
    }
}

impl FromIterator<(NodePath, Node)> for Nodes {
    fn from_iter<I: IntoIterator<Item = (NodePath, Node)>>(nodes: I) -> Self {
        Nodes(nodes.into_iter().map(|(path, node)| (path, Box::new(node))).collect())
    }
}

/// # Panics
/// If there is no object at the path.
impl Index<&NodePath> for Nodes {
    type Output = Node;

    fn index(&self, path: &NodePath) -> &Node {
        self.get(path).expect("an object at the path")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_without_storage_takes_less_than_300_bytes() {
        // A document may have hundreds of thousands of nodes.
        assert!(size_of::<Node>() < 300, "{}", size_of::<Node>());
    }
}
