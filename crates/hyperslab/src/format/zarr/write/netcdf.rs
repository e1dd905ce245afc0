//! What the NetCDF library needs to see dimensions that can grow.
//!
//! It sees them in stores of version 2 that are marked as its own, and of those it wants to know everything: what is in
//! each group, and the paths of the dimensions of each array. So these are written where a dimension can grow, and the
//! mark only if all of it fits together; without the mark the library reads the store as any other of Zarr's. It reads
//! no stores of version 3.
//!
//! Spec: NetCDF "NCZarr Overview"

use crate::format::zarr::nczarr::{GROUP, SUPERBLOCK, nameless};
use crate::target::Growing;
use hyperslab_core::store::Key;
use hyperslab_model::{DimCoord, Dimension, Extent, Node, NodePath, Shape};
use hyperslab_zarr::json::{Json, Object};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The dimensions of a store and the arrays along them.
#[derive(Default)]
pub(super) struct Netcdf {
    dimensions: FxHashMap<NodePath, Declared>,
    /// What finished arrays refer to.
    arrays: Vec<Referring>,
}

struct Declared {
    /// Which one of all it is, for they keep their order.
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
    /// What an array refers to, which is stored as long as it is, or at the length of its `growing` dimensions;
    /// `trailing` dimensions are those of its type.
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

    /// What the library finds the dimensions by; none if the group of one is not there.
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
    /// Notes a dimension, whether it has coordinates or not.
    pub(super) fn declare(&mut self, path: &NodePath, dimcoord: &DimCoord, growing: &Growing) {
        let along = Dimension { extent: dimcoord.size, coordinate: Some(path.clone()) };
        let size = growing.full(&[along]).first().copied().unwrap_or_default();
        let is_unlimited = matches!(dimcoord.size, Extent::Unlimited { .. });
        // One that is declared once more keeps its number.
        let number = self.dimensions.get(path).map_or(self.dimensions.len(), |declared| declared.number);
        self.dimensions.insert(path.clone(), Declared { number, size, is_unlimited });
    }

    /// Notes an array that is finished.
    pub(super) fn add(&mut self, array: Referring) {
        self.arrays.push(array);
    }

    /// What each group has to say, and the mark at the root; nothing where the library would refuse it.
    /// `keys` are where arrays and groups lie.
    pub(super) fn keys(
        mut self,
        groups: &FxHashMap<NodePath, Key>,
        arrays: &FxHashMap<NodePath, Key>,
    ) -> Option<Vec<(Key, Object)>> {
        // Such a name would be taken for none.
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
        let is_there = |array: &Referring| {
            let group = array.path.parent();
            array.dimensions.iter().all(|(path, size)| {
                let above = std::iter::successors(group.clone(), NodePath::parent);
                let declared = self.dimensions.get(path).is_some_and(|of| of.size == *size);
                declared && above.into_iter().any(|above| Some(above) == path.parent())
            })
        };
        let named =
            |keys: &FxHashMap<NodePath, Key>| keys.values().all(|key| key.is_root() || is_name(key.name()));
        let fits = self.arrays.iter().all(is_there)
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
        let mut found: BTreeMap<&NodePath, Said> =
            groups.keys().map(|path| (path, Said::default())).collect();
        let parent = |path: &NodePath| path.parent().unwrap_or_else(NodePath::root);
        let mut dimensions: Vec<_> = self.dimensions.iter().collect();
        dimensions.sort_by_key(|(_, declared)| declared.number);
        for (path, declared) in dimensions {
            if let Some(said) = found.get_mut(&parent(path)) {
                said.dimensions.insert(path.name(), declared.json());
            }
        }
        for array in &self.arrays {
            if let (Some(said), Some(key)) = (found.get_mut(&parent(&array.path)), arrays.get(&array.path)) {
                said.arrays.push(key.name().into());
            }
        }
        let below: Vec<_> = groups.iter().filter(|(path, _)| !path.is_root()).collect();
        for (path, key) in below {
            if let Some(said) = found.get_mut(&parent(path)) {
                said.groups.push(key.name().into());
            }
        }
        let keys = found.into_iter().filter_map(|(path, said)| {
            let mut attributes = Object::new();
            attributes.insert(GROUP, said.json());
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

/// What a group says of what is in it.
#[derive(Default)]
struct Said {
    dimensions: Object,
    arrays: Vec<Json>,
    groups: Vec<Json>,
}

impl Said {
    fn json(mut self) -> Json {
        let name = |json: &Json| json.as_str().unwrap_or_default().to_owned();
        // Groups come in the order of a hash.
        self.groups.sort_by_key(name);
        let mut json = Object::new();
        json.insert("dimensions", Json::Object(self.dimensions));
        json.insert("arrays", Json::Array(self.arrays));
        json.insert("groups", Json::Array(self.groups));
        Json::Object(json)
    }
}

/// Whether the library takes a name as it is. It normalizes names of Unicode before it compares them with what it did
/// not normalize; below U+0300 that changes none.
fn is_name(name: &str) -> bool {
    let mut chars = name.chars();
    let first = chars.next().is_some_and(|c| c.is_ascii_alphanumeric() || c == '_' || !c.is_ascii());
    let fits = |c: char| matches!(c, ' '..='~' | '\u{a0}'..='\u{2ff}') && c != '/';
    first && name.len() <= 256 && name.chars().all(fits) && !name.ends_with(' ')
}

/// The version of NetCDF's own form.
const VERSION: &str = "2.0.0";
