//! Links, followed to what they lead to.

use crate::source::{Entry, Item, Source};
use hyperslab_core::{Error, Result};
use hyperslab_model::{Link, NodePath};

/// What an entry of a list leads to: itself, unless it is a link. Links of the file are followed one after the other,
/// up to 64 of them; links to other files are not.
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
/// [`NotFound`](hyperslab_core::ErrorKind::NotFound) if a link leads to nothing or round in circles,
/// [`Unsupported`](hyperslab_core::ErrorKind::Unsupported) if it leads out of the file.
pub fn follow(source: &dyn Source, mut entry: Entry) -> Result<Entry> {
    let first = entry.handle.path.clone();
    for _ in 0..MAX_LINKS {
        let Item::Link(link) = &entry.item else { return Ok(entry) };
        let path = match link {
            Link::Hard(path) => path.clone(),
            Link::Soft(target) => resolved(&entry.handle.path, target).map_err(|e| e.in_object(&first))?,
            Link::External { file, path } => {
                let leads = format!("leads to {path} of the file {file}, which is not followed");
                return Err(Error::unsupported(leads).in_object(first));
            }
            Link::User { class, .. } => {
                return Err(Error::unsupported(format!("a link of class {class}")).in_object(first));
            }
        };
        entry = source.find(&path).map_err(|e| e.in_object(&first))?;
    }
    Err(Error::not_found("leads round in circles").in_object(first))
}

/// The path that the text of a soft link means: from the root, or from the group that the link is in.
fn resolved(link: &NodePath, target: &str) -> Result<NodePath> {
    let mut path = match target.starts_with('/') {
        true => NodePath::root(),
        false => link.parent().unwrap_or_else(NodePath::root),
    };
    for name in target.split('/') {
        match name {
            "" | "." => {}
            name => path = path.child(name),
        }
    }
    Ok(path)
}

/// Links that are followed one after the other before they are taken for a circle.
const MAX_LINKS: usize = 64;
