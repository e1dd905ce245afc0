//! A store whose root is an array, for formats whose root is a group.

use crate::cells::CellSource;
use crate::source::{ArraySource, Declared, Dialect, Entry, Event, Handle, Item, LeftBehind, Source, Stored};
use hyperslab_core::{Error, Result};
use hyperslab_model::{
    Attribute, DimCoord, Dimension, Directive, Extent, Group, Node, NodeKind, NodePath, Shape, Storage,
};
use std::sync::Arc;

/// The source unchanged, or one with a group at the root in which the former root array has the name `name`, and its
/// dimensions have the names that the store gives them.
///
/// # Errors
/// If the root cannot be read.
pub(crate) fn grouped(source: Arc<dyn Source>, name: &str) -> Result<Arc<dyn Source>> {
    let root = source.find(&NodePath::root())?;
    let Item::Array { shape, .. } = &root.item else { return Ok(source) };
    let path = NodePath::root().child(name);
    let mut node = source.load(&root.handle)?;
    let names = node.storage_mut().map(taken_names).unwrap_or_default();
    let mut dimensions: Vec<(NodePath, Extent)> = Vec::new();
    let mut dims = shape.dims().to_vec();
    for (dimension, name) in dims.iter_mut().zip(names) {
        let Some(along) = name.map(|name| NodePath::root().child(&name)).filter(|along| *along != path)
        else {
            continue;
        };
        match dimensions.iter().find(|(known, _)| *known == along) {
            Some((_, extent)) if *extent != dimension.extent => continue,
            Some(_) => {}
            None => dimensions.push((along.clone(), dimension.extent)),
        }
        dimension.coordinate = Some(along);
    }
    Ok(Arc::new(Grouped { source, root, path, dims, dimensions }))
}

/// Removes the directives that mark an array at the root and that name its dimensions, and returns those names.
fn taken_names(storage: &mut Storage) -> Vec<Option<String>> {
    let mut names = Vec::new();
    for (_, directives) in &mut storage.native {
        directives.retain(|(key, directive)| match (key.as_str(), directive) {
            ("root", Directive::Bool(true)) => false,
            ("dimension_names", Directive::List(list)) => {
                names = list
                    .iter()
                    .map(|name| match name {
                        Directive::Text(name) if !name.is_empty() => Some(name.clone()),
                        _ => None,
                    })
                    .collect();
                false
            }
            _ => true,
        });
    }
    storage.native.retain(|(_, directives)| !directives.is_empty());
    names
}

struct Grouped {
    source: Arc<dyn Source>,
    /// The array at the root.
    root: Entry,
    /// Its path here.
    path: NodePath,
    dims: Vec<Dimension>,
    dimensions: Vec<(NodePath, Extent)>,
}

impl Grouped {
    /// The handle in the store of the object at a path here; `None` for objects that exist only here.
    fn within(&self, object: &Handle) -> Option<&Handle> {
        (object.path == self.path).then_some(&self.root.handle)
    }

    fn array_entry(&self) -> Entry {
        let mut entry = self.root.clone();
        entry.handle.path = self.path.clone();
        if let Item::Array { shape: Shape::Dims(dims), .. } = &mut entry.item {
            dims.clone_from(&self.dims);
        }
        entry
    }

    fn dimension_entries(&self) -> impl Iterator<Item = Entry> {
        self.dimensions.iter().map(|(path, extent)| Entry {
            handle: Handle { path: path.clone(), id: u64::MAX },
            item: Item::Array {
                kind: NodeKind::DimCoord,
                datatype: None,
                shape: Shape::Dims(vec![Dimension { extent: *extent, coordinate: None }]),
                stored: Stored::Nothing,
            },
        })
    }
}

impl Source for Grouped {
    fn beneath(&self) -> Option<&dyn Source> {
        Some(&*self.source)
    }

    fn dialect(&self) -> &'static Dialect {
        self.source.dialect()
    }

    fn size(&self) -> Result<u64> {
        self.source.size()
    }

    fn place(&self, path: &NodePath) -> Option<(u32, u32)> {
        self.source.place(if *path == self.path { &self.root.handle.path } else { path })
    }

    fn find(&self, path: &NodePath) -> Result<Entry> {
        if path.is_root() {
            return Ok(Entry { handle: Handle { path: path.clone(), id: u64::MAX }, item: Item::Group });
        }
        if *path == self.path {
            return Ok(self.array_entry());
        }
        let dimension = self.dimension_entries().find(|entry| entry.handle.path == *path);
        dimension.ok_or_else(|| Error::not_found(format!("no object {path}")))
    }

    fn members(&self, group: &Handle) -> Result<Vec<Entry>> {
        match group.path.is_root() {
            true => Ok(self.dimension_entries().chain([self.array_entry()]).collect()),
            false => Err(Error::invalid("not a group").in_object(&group.path)),
        }
    }

    fn declared(&self, _: &Handle, members: &[Entry]) -> Result<Vec<Declared>> {
        Ok((0..).zip(members).map(|(place, _)| Declared { place, dimension: None }).collect())
    }

    fn stored_order_of_attributes(&self, object: &Handle) -> Result<Option<Vec<String>>> {
        self.within(object).map_or(Ok(None), |array| self.source.stored_order_of_attributes(array))
    }

    fn load(&self, object: &Handle) -> Result<Node> {
        if object.path.is_root() {
            return Ok(Node::Group(Group::default()));
        }
        if let Some((_, extent)) = self.dimensions.iter().find(|(path, _)| *path == object.path) {
            return Ok(Node::DimCoord(DimCoord::without_coordinates(*extent)));
        }
        let mut node = self.source.load(&self.root.handle)?;
        node.storage_mut().map(taken_names);
        if let Node::Ndarray(array) = &mut node
            && let Shape::Dims(dims) = &mut array.shape
        {
            dims.clone_from(&self.dims);
        }
        Ok(node)
    }

    fn fill_attribute(&self, object: &Handle) -> Result<Option<Attribute>> {
        self.within(object).map_or(Ok(None), |array| self.source.fill_attribute(array))
    }

    fn has_unshown_elements(&self, _: &Handle) -> Result<bool> {
        Ok(false)
    }

    fn left_behind(&self, object: &Handle) -> Result<Vec<LeftBehind>> {
        self.within(object).map_or(Ok(Vec::new()), |array| self.source.left_behind(array))
    }

    fn array(&self, object: &Handle) -> Result<Arc<dyn ArraySource>> {
        self.source.array(self.within(object).ok_or_else(|| Error::invalid("no array with elements"))?)
    }

    fn cells(&self, _: &Handle) -> Result<Option<Arc<dyn CellSource>>> {
        Ok(None)
    }

    fn history(&self, object: &Handle) -> Result<Option<Vec<Event>>> {
        self.within(object).map_or(Ok(None), |array| self.source.history(array))
    }
}
