//! Resolves paths through links: which name comes next, and how many links a path may lead through.
//!
//! Every format follows its links with a [`Way`]; it alone knows the limit.

use std::collections::VecDeque;

/// The maximum number of links that one path may lead through. A path with more of them is treated as a cycle.
///
/// libhdf5 stops at 16 by default (`H5Pset_nlinks`); files with longer chains are readable here.
pub const MAX_LINKS: usize = 64;

/// The names of a path that still have to be looked up. Following a link puts the names of its destination in front.
///
/// ```
/// use hyperslab_core::links::{Way, names};
///
/// // The link `b` in the group `/a` leads to `x/y`.
/// let mut way = Way::new(names("/a/b/c"));
/// assert_eq!((way.step(), way.step()), (Some("a"), Some("b")));
/// assert!(way.follow(names("x/y")));
/// assert_eq!((way.step(), way.step(), way.step(), way.step()), (Some("x"), Some("y"), Some("c"), None));
/// ```
#[derive(Clone, Debug)]
pub struct Way<N> {
    pending: VecDeque<N>,
    followed: usize,
}

impl<N> Way<N> {
    /// The way along these names.
    pub fn new(names: impl IntoIterator<Item = N>) -> Way<N> {
        Way { pending: names.into_iter().collect(), followed: 0 }
    }

    /// The next name; `None` at the end of the way.
    pub fn step(&mut self) -> Option<N> {
        self.pending.pop_front()
    }

    /// Whether no name is left.
    pub fn is_at_end(&self) -> bool {
        self.pending.is_empty()
    }

    /// The names that are left.
    pub fn left(&self) -> impl Iterator<Item = &N> {
        self.pending.iter()
    }

    /// Follows a link: continues along `names`, and then along the remaining names. Returns whether the number of links
    /// is still within [`MAX_LINKS`]; otherwise the way is unchanged.
    #[must_use = "links may form a cycle"]
    pub fn follow(&mut self, names: impl DoubleEndedIterator<Item = N>) -> bool {
        if self.followed == MAX_LINKS {
            return false;
        }
        self.followed += 1;
        names.rev().for_each(|name| self.pending.push_front(name));
        true
    }
}

/// The names of a path in a link. Empty names and `.` are ignored, as in HDF5 (file format specification, "Link
/// Message"); `..` is a name like any other.
pub fn names(path: &str) -> impl DoubleEndedIterator<Item = &str> {
    path.split('/').filter(|name| is_name(name.as_bytes()))
}

/// As [`names`], for a path in any encoding.
pub fn byte_names(path: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    path.split(|byte| *byte == b'/').filter(|name| is_name(name))
}

fn is_name(name: &[u8]) -> bool {
    !matches!(name, b"" | b".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_names_and_dots_are_omitted() {
        assert_eq!(names("//a/./b/../").collect::<Vec<_>>(), ["a", "b", ".."]);
        assert_eq!(byte_names(b"./\xff/").collect::<Vec<_>>(), [b"\xff"]);
    }

    #[test]
    fn links_are_followed_up_to_the_limit() {
        let mut way = Way::new(["a"]);
        assert!((0..MAX_LINKS).all(|_| way.follow(["b"].into_iter())));
        assert!(!way.follow(["c"].into_iter()));
        assert_eq!(way.left().count(), MAX_LINKS + 1);
        assert_eq!((way.step(), way.is_at_end()), (Some("b"), false));
    }
}
