//! Follows links: one resolver for the sources of all formats.

mod followed;

pub use followed::Followed;

use crate::source::{Entry, Handle, Item, Source};
use hyperslab_core::links::{MAX_LINKS, Way, names};
use hyperslab_core::{Error, Result};
use hyperslab_model::{Link, NodePath};

/// Returns the object to which an entry of a listing leads: the entry itself, unless it is a link. Links within the
/// file are followed, one after another; links to other files are not.
///
/// ```
/// use hyperslab::{NodePath, OpenOptions, follow, open};
///
/// let source = open("../../examples/groups_new.h5".as_ref(), &OpenOptions::default())?;
/// let root = source.find(&NodePath::root())?;
/// for entry in source.members(&root.handle)? {
///     match follow(&*source, entry) {
///         Ok(found) => println!("{} can be loaded", found.handle.path),
///         Err(why) => println!("{why}"),
///     }
/// }
/// # Ok::<(), hyperslab::Error>(())
/// ```
///
/// # Errors
/// [`NotFound`](hyperslab_core::ErrorKind::NotFound) if the link leads nowhere, or through more than 64 links,
/// [`Unsupported`](hyperslab_core::ErrorKind::Unsupported) if it leads out of the file.
pub fn follow(source: &dyn Source, entry: Entry) -> Result<Entry> {
    let path = entry.handle.path;
    let link = match entry.item {
        Item::Link(Link::External { file, path: there }) => {
            let leads = format!("points to {there} in the file {file}, which is not followed");
            return Err(Error::unsupported(leads).in_object(path));
        }
        Item::Link(Link::User { class, .. }) => {
            return Err(Error::unsupported(format!("a link of class {class}")).in_object(path));
        }
        Item::Link(link) => link,
        item => return Ok(Entry { handle: Handle { path, ..entry.handle }, item }),
    };
    let resolved = resolve(&path, LastLink::Follow, &mut |at| {
        if *at == path {
            return Ok(Some(link.clone()));
        }
        match source.find(at)?.item {
            Item::Link(link) => Ok(Some(link)),
            _ => Ok(None),
        }
    });
    resolved.and_then(|resolved| source.find(&resolved)).map_err(|e| e.in_object(&path))
}

/// What happens to a link at the end of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LastLink {
    /// The path ends at the link.
    Keep,
    /// The path ends at the target of the link.
    Follow,
}

/// The path of the same object without links on the way. `link_at` returns the link at a path whose parent has already
/// been resolved, or `None` for any other object; it is called once for each component.
///
/// # Errors
/// Those of `link_at`, and [`NotFound`](hyperslab_core::ErrorKind::NotFound) if a link leads out of the file or
/// there are more than [`MAX_LINKS`].
pub(crate) fn resolve(path: &NodePath, last: LastLink, link_at: &mut LinkAt<'_>) -> Result<NodePath> {
    follow_path(path, last, link_at, &mut |_| {})
}

/// The paths that links turn `path` into, one after another; none if there is no link in it. The list ends before
/// a link that leads out of the file, and after [`MAX_LINKS`].
pub(crate) fn hops(path: &NodePath, link_at: &mut LinkAt<'_>) -> Vec<NodePath> {
    let mut hops = Vec::new();
    // The end of the path and errors do not matter: only the hops are returned.
    let _ = follow_path(path, LastLink::Follow, link_at, &mut |hop| hops.push(hop));
    hops
}

/// Returns the link at a path, if there is one.
pub(crate) type LinkAt<'f> = dyn FnMut(&NodePath) -> Result<Option<Link>> + 'f;

fn follow_path(
    path: &NodePath,
    last: LastLink,
    link_at: &mut LinkAt<'_>,
    on_link: &mut dyn FnMut(NodePath),
) -> Result<NodePath> {
    let mut at = NodePath::root();
    let owned = |path: &str| names(path).map(str::to_owned).collect::<Vec<_>>().into_iter();
    let mut way = Way::new(owned(path.as_str()));
    while let Some(name) = way.step() {
        let next = at.child(&name);
        let Some(link) = link_at(&next)? else {
            at = next;
            continue;
        };
        if way.is_at_end() && last == LastLink::Keep {
            return Ok(next);
        }
        let destination = match &link {
            Link::Hard(destination) => destination.as_str(),
            Link::Soft(destination) => destination,
            Link::External { .. } | Link::User { .. } => {
                return Err(Error::not_found(format!("no object {path}: {name} leads out of the file")));
            }
        };
        if !way.follow(owned(destination)) {
            return Err(Error::not_found(format!(
                "no object {path}: {name} is in a cycle of links, or behind more than {MAX_LINKS} links"
            )));
        }
        if destination.starts_with('/') {
            at = NodePath::root();
        }
        on_link(way.left().fold(at.clone(), |path, name| path.child(name)));
    }
    Ok(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyperslab_core::ErrorKind;

    fn path(path: &str) -> NodePath {
        NodePath::new(path).unwrap()
    }

    /// Resolves a path among soft links, given as path and destination; a destination of `!` leads out of the file.
    fn resolved(links: &[(&str, &str)], at: &str, last: LastLink) -> Result<String> {
        let found = resolve(&path(at), last, &mut |at| Ok(link_at(links, at)))?;
        Ok(found.to_string())
    }

    fn link_at(links: &[(&str, &str)], at: &NodePath) -> Option<Link> {
        let (_, to) = links.iter().find(|(from, _)| *from == at.as_str())?;
        Some(match *to {
            "!" => Link::External { file: "other.h5".into(), path: "/".into() },
            to => Link::Soft(to.to_owned()),
        })
    }

    #[test]
    fn follows_links_on_the_path_and_the_last_one_on_request() {
        let links = [("/a", "/g/h"), ("/g/h", "i"), ("/g/i/end", "./x//y/"), ("/r", "/")];
        for (at, kept, followed) in [
            ("/", "/", "/"),
            ("/a", "/a", "/g/i"),
            ("/a/k", "/g/i/k", "/g/i/k"),
            ("/a/end", "/g/i/end", "/g/i/x/y"),
            ("/r/r/a/k", "/g/i/k", "/g/i/k"),
            ("/r", "/r", "/"),
            ("/plain/way", "/plain/way", "/plain/way"),
        ] {
            assert_eq!(resolved(&links, at, LastLink::Keep).unwrap(), kept, "{at}");
            assert_eq!(resolved(&links, at, LastLink::Follow).unwrap(), followed, "{at}");
        }
    }

    #[test]
    fn hard_links_lead_to_their_target_path() {
        let mut link_at = |at: &NodePath| Ok((at.as_str() == "/b").then(|| Link::Hard(path("/g/a"))));
        assert_eq!(resolve(&path("/b/c"), LastLink::Keep, &mut link_at).unwrap(), path("/g/a/c"));
    }

    #[test]
    fn cycles_end_with_an_error() {
        let links = [("/a", "/b"), ("/b", "/a"), ("/self", "self"), ("/longer", "longer/x")];
        for at in ["/a", "/b/q", "/self/q", "/longer"] {
            let error = resolved(&links, at, LastLink::Follow).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::NotFound, "{at}");
            assert!(error.to_string().contains("is in a cycle of links"), "{error}");
        }
    }

    #[test]
    fn follows_at_most_max_links() {
        let chain = |length: usize| {
            let names: Vec<_> = (0..=length).map(|n| (format!("/l{n}"), format!("/l{}", n + 1))).collect();
            let links: Vec<_> = names.iter().map(|(from, to)| (from.as_str(), to.as_str())).collect();
            resolved(links.get(..length).unwrap(), "/l0", LastLink::Follow)
        };
        assert_eq!(chain(MAX_LINKS).unwrap(), format!("/l{MAX_LINKS}"));
        assert_eq!(chain(MAX_LINKS + 1).unwrap_err().kind(), ErrorKind::NotFound);
    }

    #[test]
    fn a_link_out_of_the_file_is_an_error_and_ends_hops() {
        let links = [("/a", "b"), ("/b", "!")];
        assert_eq!(resolved(&links, "/b", LastLink::Keep).unwrap(), "/b");
        let error = resolved(&links, "/a/x", LastLink::Keep).unwrap_err();
        assert_eq!(error.to_string(), "no object /a/x: b leads out of the file");
        assert_eq!(hops(&path("/a/x"), &mut |at| Ok(link_at(&links, at))), [path("/b/x")]);
    }

    #[test]
    fn hops_are_the_paths_after_each_link() {
        let links = [("/a", "/b"), ("/b", "/g/c"), ("/round", "round")];
        let hops = |at: &str| hops(&path(at), &mut |at| Ok(link_at(&links, at)));
        assert_eq!(hops("/a/x"), [path("/b/x"), path("/g/c/x")]);
        assert_eq!(hops("/g/c"), []);
        assert_eq!(hops("/round").len(), MAX_LINKS);
    }
}
