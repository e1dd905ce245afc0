//! Metadata for the NetCDF library, which tells it that dimensions can grow.
//!
//! The library recognises such dimensions only in version 2 stores with its own marker. A marked store must list the
//! members of each group and the paths of the dimensions of each array. This metadata is written if a dimension can
//! grow, and the marker only if the metadata is consistent. Without the marker, the library reads the store as plain
//! Zarr. It does not read version 3 stores.
//!
//! Spec: NetCDF "NCZarr Overview"

use crate::format::zarr::nczarr::{GROUP, SUPERBLOCK, nameless};
use crate::target::Growing;
use hyperslab_core::store::Key;
use hyperslab_model::{Dimension, Extent, Node, NodePath, Shape};
use hyperslab_zarr::json::{Json, Object};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The dimensions of a store and the arrays along them.
#[derive(Default)]
pub(super) struct Netcdf {
    dimensions: FxHashMap<NodePath, Declared>,
    /// The finished arrays and their dimensions.
    arrays: Vec<Referring>,
}

struct Declared {
    /// Its number among all dimensions, which are written in order of declaration.
    number: usize,
    size: u64,
    is_unlimited: bool,
}

/// An array and its dimensions.
#[derive(Clone)]
pub(super) struct Referring {
    path: NodePath,
    dimensions: Vec<(NodePath, u64)>,
}

impl Referring {
    /// The dimensions of an array with their stored sizes: those of the array, or those of its `growing` dimensions.
    /// `trailing` contains the sizes of the dimensions of an array datatype.
    pub(super) fn new(
        path: &NodePath,
        node: &Node,
        growing: Option<&Growing>,
        trailing: &[u64],
    ) -> Referring {
        let shape = node.shape(path);
        let dims = shape.as_ref().map(Shape::dims).unwrap_or_default();
        let current = || dims.iter().map(|dimension| dimension.extent.current()).collect();
        let mut sizes = growing.map_or_else(current, |growing| growing.full(dims));
        let mut paths: Vec<_> = dims.iter().map(|dimension| dimension.coordinate.clone()).collect();
        if shape == Some(Shape::Null) {
            sizes.push(0);
        }
        sizes.extend(trailing);
        paths.resize(sizes.len(), None);
        let dimensions = paths.into_iter().zip(sizes).map(|(path, size)| {
            let nameless = || NodePath::root().child(&nameless(size));
            (path.unwrap_or_else(nameless), size)
        });
        Referring { path: path.clone(), dimensions: dimensions.collect() }
    }

    /// The attribute through which the library finds the dimensions; `None` if the group of a dimension is not in the
    /// store.
    pub(super) fn json(&self, groups: &FxHashMap<NodePath, Key>) -> Option<Json> {
        let references = self.dimensions.iter().map(|(path, _)| {
            let group = groups.get(&path.parent()?)?;
            let between = if group.is_root() { "" } else { "/" };
            Some(Json::from(format!("/{group}{between}{}", path.name()).as_str()))
        });
        let mut json = Object::new();
        json.insert("dimension_references", Json::Array(references.collect::<Option<_>>()?));
        if self.dimensions.is_empty() {
            json.insert("scalar", 1_u64.into());
        }
        json.insert("storage", "chunked".into());
        Some(Json::Object(json))
    }
}

impl Netcdf {
    /// Adds a dimension, with or without coordinates.
    pub(super) fn declare(&mut self, path: &NodePath, extent: Extent, growing: &Growing) {
        let along = Dimension { extent, coordinate: Some(path.clone()) };
        let size = growing.full(&[along]).first().copied().unwrap_or_default();
        let is_unlimited = matches!(extent, Extent::Unlimited { .. });
        // A dimension that is declared again keeps its number.
        let number = self.dimensions.get(path).map_or(self.dimensions.len(), |declared| declared.number);
        self.dimensions.insert(path.clone(), Declared { number, size, is_unlimited });
    }

    /// Adds a finished array.
    pub(super) fn add(&mut self, array: Referring) {
        self.arrays.push(array);
    }

    /// The attributes of each group, with the marker at the root; `None` if the library would reject them. `groups` and
    /// `arrays` contain the keys in the store.
    pub(super) fn keys(
        mut self,
        groups: &FxHashMap<NodePath, Key>,
        arrays: &FxHashMap<NodePath, Key>,
    ) -> Option<Vec<(Key, Object)>> {
        // The library interprets this name as that of an unnamed dimension.
        if self.dimensions.iter().any(|(path, of)| path.name() == nameless(of.size)) {
            return None;
        }
        for (path, size) in self.arrays.iter().flat_map(|array| &array.dimensions) {
            if path.name() == nameless(*size) {
                let number = self.dimensions.len();
                let nameless = Declared { number, size: *size, is_unlimited: false };
                self.dimensions.entry(path.clone()).or_insert(nameless);
            }
        }
        let has_dimensions = |array: &Referring| {
            let group = array.path.parent();
            array.dimensions.iter().all(|(path, size)| {
                let above = std::iter::successors(group.clone(), NodePath::parent);
                let declared = self.dimensions.get(path).is_some_and(|of| of.size == *size);
                declared && above.into_iter().any(|above| Some(above) == path.parent())
            })
        };
        let named =
            |keys: &FxHashMap<NodePath, Key>| keys.values().all(|key| key.is_root() || is_name(key.name()));
        let fits = self.arrays.iter().all(has_dimensions)
            && self.dimensions.keys().all(|path| is_name(path.name()))
            && named(groups)
            && named(arrays);
        fits.then(|| self.all(groups, arrays))
    }

    fn all(
        &self,
        groups: &FxHashMap<NodePath, Key>,
        arrays: &FxHashMap<NodePath, Key>,
    ) -> Vec<(Key, Object)> {
        let mut found: BTreeMap<&NodePath, Members> =
            groups.keys().map(|path| (path, Members::default())).collect();
        let parent = |path: &NodePath| path.parent().unwrap_or_else(NodePath::root);
        let mut dimensions: Vec<_> = self.dimensions.iter().collect();
        dimensions.sort_by_key(|(_, declared)| declared.number);
        for (path, declared) in dimensions {
            if let Some(members) = found.get_mut(&parent(path)) {
                members.dimensions.insert(path.name(), declared.json());
            }
        }
        for array in &self.arrays {
            if let (Some(members), Some(key)) = (found.get_mut(&parent(&array.path)), arrays.get(&array.path))
            {
                members.arrays.push(key.name().into());
            }
        }
        let below: Vec<_> = groups.iter().filter(|(path, _)| !path.is_root()).collect();
        for (path, key) in below {
            if let Some(members) = found.get_mut(&parent(path)) {
                members.groups.push(key.name().into());
            }
        }
        let keys = found.into_iter().filter_map(|(path, members)| {
            let mut attributes = Object::new();
            attributes.insert(GROUP, members.json());
            if path.is_root() {
                let version = Object::from_iter([("version".to_owned(), VERSION.into())]);
                attributes.insert(SUPERBLOCK, Json::Object(version));
            }
            Some((groups.get(path)?.clone(), attributes))
        });
        keys.collect()
    }
}

impl Declared {
    fn json(&self) -> Json {
        if !self.is_unlimited {
            return self.size.into();
        }
        let mut json = Object::new();
        json.insert("size", self.size.into());
        json.insert("unlimited", 1_u64.into());
        Json::Object(json)
    }
}

/// The dimensions and members of a group.
#[derive(Default)]
struct Members {
    dimensions: Object,
    arrays: Vec<Json>,
    groups: Vec<Json>,
}

impl Members {
    fn json(mut self) -> Json {
        let name = |json: &Json| json.as_str().unwrap_or_default().to_owned();
        // The order of a hash map is not reproducible.
        self.groups.sort_by_key(name);
        let mut json = Object::new();
        json.insert("dimensions", Json::Object(self.dimensions));
        json.insert("arrays", Json::Array(self.arrays));
        json.insert("groups", Json::Array(self.groups));
        Json::Object(json)
    }
}

/// Whether the library finds a member under this name. It compares names that it has normalized (Unicode NFC) with
/// names that it has not; normalization changes no characters below U+0300.
fn is_name(name: &str) -> bool {
    let mut chars = name.chars();
    let first = chars.next().is_some_and(|c| c.is_ascii_alphanumeric() || c == '_' || !c.is_ascii());
    let fits = |c: char| matches!(c, ' '..='~' | '\u{a0}'..='\u{2ff}') && c != '/';
    first && name.len() <= 256 && name.chars().all(fits) && !name.ends_with(' ')
}

/// The version of the NCZarr metadata.
const VERSION: &str = "2.0.0";
