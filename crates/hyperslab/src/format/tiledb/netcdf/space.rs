//! The contents of a group: the variables of its arrays and their dimensions.

use super::dimensions::{Own, dense};
use super::variable::{Role, Variable};
use crate::format::tiledb::objects::{ArrayObject, Field, Member, Object};
use crate::format::tiledb::source::TileDbSource;
use crate::source::Unshown;
use crate::strings::{name_bytes, name_text};
use hyperslab_cf::dataspace::{GROUP_ARRAY, dataspace_name};
use hyperslab_core::store::Key;
use hyperslab_core::{Error, Result};
use hyperslab_model::{Attributes, Element, Elements, NodePath};
use indexmap::IndexMap;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A group, or an array that is a store on its own.
pub(super) struct Space {
    pub(super) key: Key,
    /// The array is the whole store, and its metadata are those of the group.
    pub(super) is_array: bool,
    pub(super) objects: IndexMap<String, Shown>,
    pub(super) attributes: Attributes,
    dimensions: Vec<Own>,
    pub(super) unshown: Vec<Unshown>,
}

/// How an object is shown.
pub(super) enum Shown {
    /// As without this view.
    Same,
    /// A dimension without a variable, by its position among the dimensions of the group.
    Dimension(usize),
    Variable(Box<Variable>),
}

/// An array whose attributes are variables, with its name in the group.
struct Stored {
    name: String,
    object: Arc<Object>,
    /// The positions of its dimensions among those of the group; `None` if it is a single cell without a dimension.
    along: Option<Vec<usize>>,
}

impl Space {
    /// The group at a key. `around` is the group of which it is a member.
    pub(super) fn of(
        source: &TileDbSource,
        path: &NodePath,
        key: &Key,
        around: Option<&Space>,
        has_group_array: bool,
    ) -> Result<Space> {
        let objects = &source.objects;
        let object = objects.open(key)?;
        let mut space = Space {
            key: key.clone(),
            is_array: matches!(*object, Object::Array(_)),
            objects: IndexMap::new(),
            attributes: source.attributes(&object)?,
            dimensions: Vec::new(),
            unshown: Vec::new(),
        };
        let mut arrays = Vec::new();
        let mut add = |name: &str, object: Arc<Object>| {
            arrays.push(Stored { name: name.to_owned(), object, along: None });
        };
        if let Object::Group(group) = &*object {
            for (name, member) in &group.members {
                let array = match member {
                    Member::Within(key) if objects.is_array(key).unwrap_or(false) => objects.open(key).ok(),
                    _ => None,
                };
                match array {
                    Some(array) if has_group_array && name == GROUP_ARRAY => {
                        let own = dense(&array)?.metadata(false)?.own.clone();
                        space.attributes.extend(own);
                    }
                    Some(array) if dense(&array).is_ok_and(ArrayObject::is_plain) => add(name, array),
                    _ => drop(space.objects.insert(name.clone(), Shown::Same)),
                }
            }
        } else {
            add("", object);
        }
        space.add_dimensions(path, &mut arrays, around)?;
        let mut number = |array: &ArrayObject, position| source.field_id(array, Field::Attribute(position));
        arrays.iter().try_for_each(|array| space.add_variables(array, &mut number))?;
        // If all members are shown unchanged, they keep the order stated in the record of their group.
        if space.objects.values().any(|shown| !matches!(shown, Shown::Same)) {
            space.objects.sort_unstable_keys();
        }
        Ok(space)
    }

    /// A dimension by its position.
    pub(super) fn dimension(&self, place: usize) -> Result<&Own> {
        self.dimensions.get(place).ok_or_else(|| Error::invalid("a dimension that the group does not have"))
    }

    /// Whether the metadata of an array belong to its only attribute.
    pub(super) fn has_one_attribute(&self, array: &ArrayObject) -> bool {
        !self.is_array && array.array.attributes().len() == 1
    }

    /// The dimensions of all arrays. Those of enclosing groups are shared, unless a variable here has the same name.
    fn add_dimensions(
        &mut self,
        path: &NodePath,
        arrays: &mut [Stored],
        around: Option<&Space>,
    ) -> Result<()> {
        let mut fixed = self.take_fixed_dimensions();
        for stored in &mut *arrays {
            let array = dense(&stored.object)?;
            if is_scalar(array)? {
                continue;
            }
            let fixed = fixed.remove(&stored.name).unwrap_or_default();
            let mut along: Vec<usize> = Vec::new();
            for position in 0..array.array.dimensions().len() {
                let shown = array.name(Field::Dimension(position)).unwrap_or_default();
                let is_fixed = fixed.iter().any(|of| of == shown);
                let own = Own::of(path.child(dataspace_name(shown)), &stored.object, position, is_fixed)?;
                let place = self.place_of(own, &along, path, &stored.name);
                along.push(place);
            }
            stored.along = Some(along);
        }
        let has_coordinates = |name: &str| {
            arrays.iter().any(|stored| {
                dense(&stored.object).is_ok_and(|array| {
                    (0..array.array.attributes().len())
                        .any(|position| variable_name(&stored.name, array, position) == name)
                })
            })
        };
        for (place, own) in self.dimensions.iter_mut().enumerate() {
            let name = own.path.name().to_owned();
            let outer = around.and_then(|around| around.dimensions.iter().find(|of| of.path.name() == name));
            match outer.filter(|outer| outer.holds(own) && !has_coordinates(&name)) {
                Some(outer) => (own.path, own.extent) = (outer.path.clone(), outer.extent),
                None => drop(self.objects.entry(name).or_insert(Shown::Dimension(place))),
            }
        }
        Ok(())
    }

    /// The position of a dimension of an array: that of the same dimension of another array, or a new one. Different
    /// dimensions with the same name violate the convention; the name of the array is then appended to that of the
    /// second.
    fn place_of(&mut self, mut own: Own, taken: &[usize], path: &NodePath, array: &str) -> usize {
        let same =
            self.dimensions.iter_mut().enumerate().find(|(place, known)| {
                known.name == own.name && !taken.contains(place) && known.is_same(&own)
            });
        if let Some((place, known)) = same {
            known.join(own);
            return place;
        }
        let is_taken = |name: &str| {
            self.objects.contains_key(name) || self.dimensions.iter().any(|known| known.path.name() == name)
        };
        let mut name = own.name.clone();
        if is_taken(&name) {
            name = format!("{name}_{array}");
        }
        while is_taken(&name) {
            name.push('_');
        }
        own.path = path.child(&name);
        self.dimensions.push(own);
        self.dimensions.len() - 1
    }

    /// The dimensions that the metadata of the group list as being as long as their domain, by array.
    fn take_fixed_dimensions(&mut self) -> FxHashMap<String, Vec<String>> {
        let mut fixed = FxHashMap::default();
        self.attributes.retain(|key, attribute| {
            let Some(array) = key.strip_prefix(FIXED_DIMENSIONS) else { return true };
            let Ok(attribute) = attribute else { return true };
            let first = Elements::new(&attribute.datatype, &attribute.value).next();
            let Some(Element::Text(names)) = first.as_ref().map(|element| element.get()) else { return true };
            let names = names.split(|byte| *byte == b';').map(name_text);
            fixed.insert(array.to_owned(), names.collect());
            false
        });
        fixed
    }

    /// The attributes of an array as variables.
    fn add_variables(
        &mut self,
        stored: &Stored,
        number: &mut dyn FnMut(&ArrayObject, usize) -> u64,
    ) -> Result<()> {
        let array = dense(&stored.object)?;
        let attributes = array.array.attributes().len();
        if attributes != 1 && !self.is_array {
            for name in array.metadata(false)?.own.keys() {
                let what =
                    format!("metadata {name:?} of the array {:?}, which has several variables", stored.name);
                self.unshown.push(Unshown { what, instead: "nothing" });
            }
        }
        for label in &array.array.schema().dimension_labels {
            let what = format!("labels {:?} of a dimension", name_text(&label.name));
            self.unshown.push(Unshown { what, instead: "nothing" });
        }
        for position in 0..attributes {
            let mut name = variable_name(&stored.name, array, position);
            let has_variable = |name: &String| {
                self.objects.get(name).is_some_and(|shown| !matches!(shown, Shown::Dimension(_)))
            };
            // Variables with the same name violate the convention; the second name is then prefixed with that of its
            // array.
            while has_variable(&name) {
                name = format!("{}_{name}", stored.name);
            }
            let own = match self.objects.get(&name) {
                Some(Shown::Dimension(place)) => Some(*place),
                _ => None,
            };
            let dimension = match (own, stored.along.as_deref()) {
                (Some(place), Some([along]))
                    if place == *along && self.dimension(place)?.counted()?.is_none() =>
                {
                    Some(Role::Coordinates)
                }
                (Some(place), _) => Some(Role::Beside(self.dimension(place)?.extent)),
                (None, _) => None,
            };
            let variable = Variable {
                array: Arc::clone(&stored.object),
                position,
                id: number(array, position),
                along: stored.along.clone(),
                dimension,
            };
            self.objects.insert(name, Shown::Variable(Box::new(variable)));
        }
        Ok(())
    }
}

/// Whether an array has a single cell along a dimension that represents no dimension.
fn is_scalar(array: &ArrayObject) -> Result<bool> {
    match array.array.dimensions() {
        [only] if only.name == SCALARS => Ok(array.array.dense_domain()?.shape == [1]),
        _ => Ok(false),
    }
}

/// The name of the variable that an attribute represents. It is the name of the array if that of the attribute is only
/// a variant of it, which is needed if a dimension has the same name.
fn variable_name(array_name: &str, array: &ArrayObject, position: usize) -> String {
    let Some(attribute) = array.array.attributes().get(position) else { return String::new() };
    let own = array.name(Field::Attribute(position)).unwrap_or_default();
    if array.array.attributes().len() == 1 && !array_name.is_empty() {
        let rest = attribute.name.strip_prefix(name_bytes(array_name).as_slice());
        if attribute.name.is_empty() || rest.is_some_and(|rest| VARIANTS.contains(&rest)) {
            return array_name.to_owned();
        }
    }
    dataspace_name(own).to_owned()
}

/// The suffixes of the name of an attribute that would otherwise have the name of a dimension.
const VARIANTS: &[&[u8]] = &[b"", b".data", b".index", b"_"];

/// The dimension of scalars.
const SCALARS: &[u8] = b"__scalars";

/// The prefix of metadata keys that list the dimensions of an array that are as long as their domain.
const FIXED_DIMENSIONS: &str = "__tiledb_array_fixed_dimensions.";
