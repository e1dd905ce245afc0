//! Finds objects by their paths.

use super::File;
use crate::format::Address;
use crate::format::message::link::{ExternalLink, LinkTarget};
use crate::object::ObjectKind;
use hyperslab_core::links::{Way, byte_names};
use hyperslab_core::{Error, Result};
use std::sync::Arc;

/// An object that a path leads to.
pub(crate) struct Found {
    /// The file that it is in, if external links led there.
    pub(crate) elsewhere: Option<Elsewhere>,
    /// The address of its object header.
    pub(crate) address: Address,
}

/// Another file, and the path of an object there.
pub(crate) struct Elsewhere {
    pub(crate) file: Arc<File>,
    name: String,
    path: String,
}

/// Opens the file that an external link of a file names. `None` if there is no such file.
type OpenLinked<'a> = dyn FnMut(&File, &str) -> Result<Option<Arc<File>>> + 'a;

impl Elsewhere {
    /// Another file that was opened by this name, for an object with this path.
    pub(crate) fn new(file: Arc<File>, name: String, path: String) -> Elsewhere {
        Elsewhere { file, name, path }
    }

    /// Adds the name of the file and the path to an error.
    pub(crate) fn in_it(&self, e: Error) -> Error {
        e.in_object(&self.path).of_another(&self.name)
    }
}

impl File {
    /// The object at a path from the root group. Soft links are followed. `None` if there is no such object, or the
    /// path leads through more links than [`MAX_LINKS`](hyperslab_core::links::MAX_LINKS).
    ///
    /// # Errors
    /// If a group on the way cannot be read, or a link leads to another file.
    pub fn find(&self, path: &[u8]) -> Result<Option<Address>> {
        let found = self.find_across(path, &mut |_, _| Err(leads_out(path)))?;
        Ok(found.map(|found| found.address))
    }

    /// As [`File::find`], but also follows external links, which count like soft ones. `open` opens the files that they
    /// name.
    ///
    /// # Errors
    /// If a group on the way cannot be read, or a link is user-defined; the errors of `open`.
    pub(crate) fn find_across(&self, path: &[u8], open: &mut OpenLinked<'_>) -> Result<Option<Found>> {
        let owned = |path: &[u8]| byte_names(path).map(<[u8]>::to_vec).collect::<Vec<_>>().into_iter();
        let mut way = Way::new(owned(path));
        let mut elsewhere: Option<Elsewhere> = None;
        let mut at = self.root_address();
        while let Some(name) = way.step() {
            let file = elsewhere.as_ref().map_or(self, |elsewhere| &*elsewhere.file);
            let target = target(file, at, &name).map_err(|e| within(elsewhere.as_ref(), e))?;
            match target {
                None => return Ok(None),
                Some(LinkTarget::Hard(address)) => at = address,
                Some(LinkTarget::Soft(target)) => {
                    if !way.follow(owned(&target)) {
                        return Ok(None);
                    }
                    if target.starts_with(b"/") {
                        at = file.root_address();
                    }
                }
                Some(LinkTarget::External(ExternalLink { file: name, path })) => {
                    if !way.follow(owned(&path)) {
                        return Ok(None);
                    }
                    let linked = str::from_utf8(&name)
                        .map_err(|_| Error::unsupported("file name of an external link is not UTF-8"))
                        .and_then(|name| Ok(open(file, name)?.map(|file| (file, name))))
                        .map_err(|e| within(elsewhere.as_ref(), e))?;
                    let Some((linked, name)) = linked else { return Ok(None) };
                    at = linked.root_address();
                    elsewhere = Some(Elsewhere::new(linked, name.to_owned(), left(&way)));
                }
                Some(LinkTarget::UserDefined { .. }) => {
                    return Err(within(elsewhere.as_ref(), leads_out(path)));
                }
            }
        }
        Ok(Some(Found { elsewhere, address: at }))
    }
}

/// The target of the link with this name in the group at `address`. `None` if there is no such link, or no group.
fn target(file: &File, address: Address, name: &[u8]) -> Result<Option<LinkTarget>> {
    let group = file.object(address)?;
    match group.kind() {
        ObjectKind::Group => Ok(group.link(file, name)?.map(|link| link.target)),
        _ => Ok(None),
    }
}

fn within(elsewhere: Option<&Elsewhere>, e: Error) -> Error {
    match elsewhere {
        Some(elsewhere) => elsewhere.in_it(e),
        None => e,
    }
}

/// The path formed by the remaining names.
fn left(way: &Way<Vec<u8>>) -> String {
    match way.is_at_end() {
        true => "/".to_owned(),
        false => way.left().map(|name| format!("/{}", String::from_utf8_lossy(name))).collect(),
    }
}

fn leads_out(path: &[u8]) -> Error {
    Error::unsupported(format!("the path {} leads out of the file", String::from_utf8_lossy(path)))
}
