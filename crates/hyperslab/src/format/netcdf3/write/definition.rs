//! The header of a file, made of all planned objects.

use super::name;
use crate::format::netcdf::datatype::Change;
use crate::format::netcdf::default_fill;
use crate::format::netcdf::dimension::{Along, Declared, can_grow};
use crate::format::netcdf::flavour::Flavour;
use crate::format::netcdf::lowerings::{EMPTY, EMPTY_DIMENSION, EMPTY_GROWS, SHORTER, UNLIMITED};
use crate::format::netcdf3::datatype::datatype;
use crate::target::{Losses, OrderedMember};
use bytes::Bytes;
use hyperslab_core::{Error, Result};
use hyperslab_model::{Extent, NodePath};
use hyperslab_netcdf3::{Attribute, DataType, Definition, Dimension, Header, Variable, Version};
use rustc_hash::{FxHashMap, FxHashSet};

/// All planned objects, in planning order.
#[derive(Debug, Default)]
pub(super) struct Declaration {
    dimensions: Vec<PlannedDimension>,
    /// The stored paths of the dimensions.
    known: FxHashSet<NodePath>,
    pub(super) attributes: Vec<Attribute>,
    pub(super) variables: Vec<PlannedVariable>,
    /// The paths of the variables in the source, in their order.
    order: Vec<NodePath>,
    /// Numbers the dimensions once all are known.
    declared: Declared,
}

#[derive(Debug)]
struct PlannedDimension {
    /// The path in the source, and the stored one.
    place: NodePath,
    path: NodePath,
    extent: Extent,
}

/// A variable whose dimensions do not have a position in the header yet.
#[derive(Debug)]
pub(super) struct PlannedVariable {
    /// The path in the source, and the stored one.
    pub(super) place: NodePath,
    pub(super) path: NodePath,
    pub(super) along: Vec<Along>,
    /// Whether it is the coordinates of its first dimension.
    pub(super) is_scale: bool,
    pub(super) data_type: DataType,
    pub(super) attributes: Vec<Attribute>,
    pub(super) change: Change,
    /// The extents of dimensions that follow those of the source.
    pub(super) inner: Vec<u64>,
    /// The fill value of the source as a row, if it differs from that of the file.
    pub(super) fill: Option<Bytes>,
}

/// The results of planning that the target needs.
pub(super) struct Found {
    pub(super) definition: Definition,
    /// The variables by their paths in the source.
    pub(super) variables: FxHashMap<NodePath, FoundVariable>,
}

/// How the elements of an array are converted to those of a variable.
pub(super) struct FoundVariable {
    /// The number of the variable; `None` if it has no elements and is not stored.
    pub(super) number: Option<usize>,
    pub(super) change: Change,
    pub(super) inner: Vec<u64>,
    pub(super) fill: Option<Bytes>,
    /// The extents of the array, including the inner ones.
    pub(super) extents: Vec<u64>,
}

/// A dimension of the file.
struct Stored {
    path: NodePath,
    /// The path that messages show.
    place: String,
    length: u64,
    can_grow: bool,
}

impl Declaration {
    /// Adds a dimension. If a path occurs more than once, only its first dimension counts.
    pub(super) fn dimension(&mut self, place: &NodePath, path: NodePath, extent: Extent) {
        if self.known.insert(path.clone()) {
            self.dimensions.push(PlannedDimension { place: place.clone(), path, extent });
        }
    }

    /// Notes the order of the members of a group.
    pub(super) fn order(&mut self, group: &NodePath, members: &[OrderedMember<'_>], flavour: Flavour) {
        self.order.extend(members.iter().map(|member| group.child(member.name)));
        self.declared.order(group, members, flavour);
    }

    /// The file with all of these objects.
    ///
    /// # Errors
    /// If the version of the format cannot represent it.
    pub(super) fn defined(self, version: Version, losses: &mut dyn Losses) -> Result<Found> {
        let Declaration { dimensions, attributes, mut variables, order, declared, .. } = self;
        let places: FxHashMap<&NodePath, usize> = order.iter().zip(0..).collect();
        variables.sort_by_key(|variable| places.get(&variable.place).copied().unwrap_or(usize::MAX));
        let (stored, of_variables) = numbered(declared, (&dimensions, &variables), losses);
        let records = record_dimension(&stored, &of_variables);
        note_dimensions(&stored, records, losses);
        let is_stored = |number: usize| {
            records == Some(number) || stored.get(number).is_some_and(|dimension| dimension.length > 0)
        };
        let mut header = Header {
            version,
            records: Some(records.and_then(|number| stored.get(number)).map_or(0, |of| of.length)),
            dimensions: Vec::new(),
            attributes,
            variables: Vec::new(),
        };
        let mut ids = vec![0; stored.len()];
        for (number, dimension) in stored.iter().enumerate().filter(|(number, _)| is_stored(*number)) {
            if let Some(id) = ids.get_mut(number) {
                *id = header.dimensions.len() as u64;
            }
            let length = if records == Some(number) { 0 } else { dimension.length };
            header.dimensions.push(Dimension { name: dimension.path.name().as_bytes().to_vec(), length });
        }
        let mut found = FxHashMap::default();
        for (variable, numbers) in variables.into_iter().zip(&of_variables) {
            let PlannedVariable { place, path, along, data_type, attributes, change, inner, fill, .. } =
                variable;
            let extents: Vec<u64> = along.iter().map(|along| along.extent.current()).collect();
            let is_shorter = |(number, extent): (&usize, &u64)| {
                stored.get(*number).is_some_and(|dimension| dimension.length > *extent)
            };
            if numbers.iter().zip(&extents).any(is_shorter) {
                losses.note(&SHORTER, place.to_string(), None);
            }
            let number = match numbers.iter().all(|number| is_stored(*number)) {
                true => {
                    header.variables.push(Variable {
                        name: path.name().as_bytes().to_vec(),
                        dimensions: numbers.iter().filter_map(|number| ids.get(*number)).copied().collect(),
                        attributes,
                        data_type,
                        size: 0,
                        begin: 0,
                    });
                    Some(header.variables.len() - 1)
                }
                false => {
                    losses.note(&EMPTY, place.to_string(), None);
                    None
                }
            };
            found.insert(place, FoundVariable { number, change, inner, fill, extents });
        }
        Ok(Found { definition: definition(header)?, variables: found })
    }
}

/// All dimensions in their order, and the dimension numbers of each variable.
fn numbered(
    mut declared: Declared,
    (dimensions, variables): (&[PlannedDimension], &[PlannedVariable]),
    losses: &mut dyn Losses,
) -> (Vec<Stored>, Vec<Vec<usize>>) {
    for PlannedDimension { path, extent, .. } in dimensions {
        declared.dimension(path.clone(), *extent);
    }
    for PlannedVariable { place, path, along, is_scale, .. } in variables {
        declared.variable(place, path.clone(), along.clone(), *is_scale);
    }
    // Variables and dimensions can have the same names.
    let resolved = declared.resolve([], losses, &mut |_, _| ());
    let of_source = dimensions.iter().filter_map(|PlannedDimension { place, path, .. }| {
        let extent = resolved.extent(path)?;
        let (length, can_grow) = (extent.current(), can_grow(extent));
        Some(Stored { path: path.clone(), place: place.to_string(), length, can_grow })
    });
    let made = resolved.made().map(|(path, extent)| Stored {
        path: path.clone(),
        place: path.to_string(),
        length: extent.current(),
        can_grow: !extent.is_fixed(),
    });
    let mut stored: Vec<Stored> = of_source.chain(made).collect();
    stored.sort_by_key(|dimension| resolved.id(&dimension.path));
    let number = |id: i32| usize::try_from(id).ok();
    let numbers =
        |variable: &PlannedVariable| resolved.ids_of(&variable.path).into_iter().filter_map(number).collect();
    (stored, variables.iter().map(numbers).collect())
}

/// The dimension that becomes the record dimension: the first that can grow and is used only as the first dimension of
/// variables. If there is no such dimension, one of length zero is used.
fn record_dimension(stored: &[Stored], of_variables: &[Vec<usize>]) -> Option<usize> {
    let inner: FxHashSet<usize> =
        of_variables.iter().flat_map(|numbers| numbers.iter().skip(1)).copied().collect();
    let first: FxHashSet<usize> =
        of_variables.iter().filter_map(|numbers| numbers.first()).copied().collect();
    let eligible = || stored.iter().enumerate().filter(|(number, _)| !inner.contains(number));
    let growing = || eligible().filter(|(_, dimension)| dimension.can_grow).map(|(number, _)| number);
    let empty = || eligible().filter(|(_, dimension)| dimension.length == 0).map(|(number, _)| number);
    growing().find(|number| first.contains(number)).or_else(|| growing().next()).or_else(|| empty().next())
}

/// Notes which dimensions differ from the source.
fn note_dimensions(stored: &[Stored], records: Option<usize>, losses: &mut dyn Losses) {
    for (number, Stored { place, length, can_grow, .. }) in stored.iter().enumerate() {
        let note = match (records == Some(number), can_grow, length) {
            (true, true, _) => continue,
            (true, false, _) => &EMPTY_GROWS,
            (false, _, 0) => &EMPTY_DIMENSION,
            (false, true, _) => &UNLIMITED,
            (false, false, _) => continue,
        };
        losses.note(note, place.clone(), None);
    }
}

/// Checks the whole file and assigns positions. If the version cannot represent it, another version may.
fn definition(header: Header) -> Result<Definition> {
    let default = |of: DataType| default_fill(&datatype(of).0).unwrap_or_else(|| vec![0; of.size()]);
    Definition::new(header.clone(), &default).map_err(|error| {
        let wider = [Version::Offset64, Version::Data64].into_iter().find(|version| {
            *version as u8 > header.version as u8
                && Definition::new(Header { version: *version, ..header.clone() }, &default).is_ok()
        });
        match wider {
            Some(version) => {
                let own = Error::new(error.kind(), error.detail().to_owned());
                let own = match error.object() {
                    Some(object) => own.in_object(object),
                    None => own,
                };
                own.with_hint(format!("convert to {}, which holds it", name(version)))
            }
            None => error,
        }
    })
}
