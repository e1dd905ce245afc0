//! Members of compounds as the end of a path: `/table/temperature`.

use super::{LocatedObject, Locator, find, inside};
use crate::source::{Item, Source};
use hyperslab_core::{Result, valid};
use hyperslab_model::{Datatype, Member};

impl Locator {
    /// If the path names a member of an array of compounds, such as `/table/temperature`: the array, and the names of
    /// this member, outermost first. Otherwise `None`.
    ///
    /// # Errors
    /// If the array cannot be read.
    pub fn member(&self, source: &dyn Source) -> Result<Option<(LocatedObject, Vec<String>)>> {
        let text = self.path.as_deref().unwrap_or("/");
        for (at, _) in text.rmatch_indices('/').filter(|(at, _)| *at > 0) {
            let Some((path, rest)) = text.split_at_checked(at) else { continue };
            let Some(entry) = valid(find(source, path))? else { continue };
            let entry = inside(source, entry)?;
            let Item::Array { datatype: Some(datatype), .. } = &entry.item else { return Ok(None) };
            let names = member_names(datatype, rest.trim_start_matches('/'));
            return Ok(names.map(|names| (LocatedObject { entry, attribute: None }, names)));
        }
        Ok(None)
    }
}

/// The names of the member of `datatype` that `text` denotes: `position/lat`. Names may contain slashes.
fn member_names(datatype: &Datatype, text: &str) -> Option<Vec<String>> {
    let Datatype::Compound(members) = datatype.resolved() else { return None };
    members.iter().find_map(|Member { name, datatype }| {
        let rest = text.strip_prefix(name.as_str())?;
        match rest.strip_prefix('/') {
            Some(inner) => {
                let inner = member_names(datatype, inner)?;
                Some(std::iter::once(name.clone()).chain(inner).collect())
            }
            None => rest.is_empty().then(|| vec![name.clone()]),
        }
    })
}
