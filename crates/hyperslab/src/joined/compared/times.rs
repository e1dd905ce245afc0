//! Times and their bounds whose units and types differ from those in the first store.

use super::{Template, loaded};
use crate::joined::counts::{self, Forms, Pair};
use crate::joined::recounted::NewCounts;
use crate::joined::stores::Recounts;
use crate::meaning::text_of;
use crate::source::{Entry, Source};
use hyperslab_core::{Error, ErrorKind, Result};
use hyperslab_model::{Node, NodePath};

impl Template<'_> {
    /// Adds the bounds of times that are converted: bounds without units of their own share those of the times (CF
    /// 7.1).
    pub(super) fn add_bounds(
        &mut self,
        source: &dyn Source,
        entries: &[Entry],
        recounts: &mut Recounts,
    ) -> Result<()> {
        let mut bounds = Vec::new();
        for object in &self.objects {
            let path = &object.entry.handle.path;
            let Some(counts) = recounts.get(path) else { continue };
            bounds.extend(bounds_of(path, &object.node).map(|bounds| (bounds, path.clone(), counts.clone())));
        }
        for (path, times, counts) in bounds {
            let entry = entries.iter().find(|entry| entry.handle.path == path);
            let Some(entry) = entry.filter(|_| !recounts.contains_key(&path)) else { continue };
            let (node, length) = loaded(source, entry, self.axis)?;
            let Some(datatype) = node.datatype().cloned() else { continue };
            if length.is_none() || text_of(&node, "units").is_some() {
                continue;
            }
            let counts = NewCounts { datatype, ..counts };
            if let Err(error) = counts::check(source, entry, &node, counts.clone()) {
                self.wanted = Some(self.common_form(&times, (source, entries), error).map_err(|error| {
                    let first = self.first_name();
                    let what = format!("bounds of {times}, whose units differ from those in {first}");
                    error.map_detail(|detail| format!("{what}: {detail}")).in_object(&path)
                })?);
                return Ok(());
            }
            recounts.insert(path, counts);
        }
        Ok(())
    }

    /// The form of times and their bounds that can represent those of the first and of another store. The current form
    /// cannot, for the given reason.
    pub(super) fn common_form(
        &self,
        times: &NodePath,
        (source, entries): (&dyn Source, &[Entry]),
        why: Error,
    ) -> Result<Forms> {
        let object = |path: &NodePath| self.objects.iter().find(|object| object.entry.handle.path == *path);
        let Some(of_times) = object(times).filter(|object| !counts::has_ranges(&object.node)) else {
            return Err(why);
        };
        let mut others = Vec::new();
        for path in std::iter::once(times.clone()).chain(bounds_of(times, &of_times.node)) {
            let entry = entries.iter().find(|entry| entry.handle.path == path);
            let (Some(object), Some(entry)) = (object(&path), entry) else { continue };
            let (node, length) = loaded(source, entry, self.axis)?;
            let has_own = path != *times && text_of(&object.node, "units").is_some();
            if length.is_some() && !has_own {
                others.push((path, object, entry, node));
            }
        }
        let pairs = others.iter().map(|(path, object, entry, node)| Pair {
            path: path.clone(),
            first: (self.first, &object.entry, &object.node),
            other: (source, entry, node),
        });
        let pairs: Vec<Pair<'_>> = pairs.collect();
        match counts::common_form(&pairs) {
            Ok(forms) if forms.is_empty() => Err(why),
            Err(error) if error.kind() == ErrorKind::InvalidArgument => Err(why),
            found => found,
        }
    }
}

/// The bounds that an array names.
fn bounds_of(path: &NodePath, node: &Node) -> impl Iterator<Item = NodePath> {
    let named = ["bounds", "climatology"].into_iter().filter_map(|name| text_of(node, name));
    let bounds = named.filter_map(|name| Some(path.parent()?.child(&name)));
    bounds.collect::<Vec<_>>().into_iter()
}
