//! A dataset in the terms of CF: groups, dimensions and variables, and the relations that attributes create between
//! them.
//!
//! A [`Dataset`] is built once from the objects of a file, without the values of arrays. Names in attributes are
//! resolved through groups, and every variable gets its [`Role`]s according to CF: rules look at these roles and never
//! at names.
//!
//! Spec: CF 1.13, 1.3 Terminology, 2.7 Groups

mod attribute;
mod axis;
mod linked;
mod reference;
mod resolve;
mod role;

pub use crate::number::Number;
pub use attribute::{Attribute, Value};
pub use axis::{Axis, LATITUDE_UNITS, LEVELS, LONGITUDE_UNITS, axis_of, by_units};
pub use linked::Linked;
pub use reference::{Reference, Target, keyed, names_variables, variables_in, words};
pub use resolve::places;
pub use role::{Role, Roles};

use crate::number::Reading;
use crate::units::{Unit, UnitError};
use hyperslab_model::{Attributes, Datatype, Node, NodePath, Shape, Text};
use indexmap::IndexMap;
use std::collections::HashMap;
use std::sync::Arc;

/// The objects of a file that CF applies to.
#[derive(Clone, Debug, Default)]
pub struct Dataset {
    /// The groups. The first is the root.
    pub groups: Vec<Group>,
    /// The variables in the order of the file.
    pub variables: Vec<Variable>,
    /// The names in attributes and what they refer to, in the order of the variables.
    pub references: Vec<Reference>,
    /// Whether attributes keep the type of their numbers. If not, rules about types check whether a value fits.
    pub has_typed_attributes: bool,
    dimensions: Vec<Dimension>,
    by_path: HashMap<NodePath, Found>,
}

/// The objects at a path.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    group: Option<usize>,
    variable: Option<usize>,
    dimension: Option<usize>,
}

/// A group.
#[derive(Clone, Debug)]
pub struct Group {
    /// The path.
    pub path: NodePath,
    /// The index of its parent among the groups; `None` for the root.
    pub parent: Option<usize>,
    /// The attributes in stored order.
    pub attributes: IndexMap<String, Attribute>,
}

/// A dimension that variables share.
#[derive(Clone, Debug)]
pub struct Dimension {
    /// The path.
    pub path: NodePath,
    /// Its length.
    pub length: u64,
}

/// One dimension of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Along {
    /// The path of the dimension; `None` if it has no name.
    pub path: Option<NodePath>,
    /// Its length.
    pub length: u64,
}

/// A variable: an array, or the coordinates of a dimension.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its index among the variables.
    pub id: usize,
    /// The path.
    pub path: NodePath,
    /// The index of its group among the groups.
    pub group: usize,
    /// The dimensions, the slowest first.
    pub dimensions: Vec<Along>,
    /// The datatype without a name and nullability; `None` if it is not known.
    pub datatype: Option<Datatype>,
    /// The attributes in stored order.
    pub attributes: IndexMap<String, Attribute>,
    /// The roles of the variable.
    pub roles: Roles,
    /// The attribute `units` as parsed by UDUNITS; `None` if there is none, or it is not a string.
    pub unit: Option<Arc<Result<Unit, UnitError>>>,
    /// The indices of the references that it makes.
    pub refers: std::ops::Range<usize>,
    /// The indices of the references to it.
    pub referred: Vec<usize>,
}

impl Along {
    /// The name of the dimension, empty if it has none.
    pub fn name(&self) -> &str {
        self.path.as_ref().map_or("", NodePath::name)
    }
}

impl Dataset {
    /// The dataset of the objects of a file: groups before their members, no values. Objects that are neither groups
    /// nor arrays play no part in CF.
    ///
    /// `has_typed_attributes` states whether attributes keep the type of their numbers.
    pub fn new<'a>(
        nodes: impl IntoIterator<Item = (&'a NodePath, &'a Node)>,
        has_typed_attributes: bool,
    ) -> Dataset {
        let mut dataset = Dataset { has_typed_attributes, ..Dataset::default() };
        dataset.group(&NodePath::root(), None);
        let mut units = HashMap::new();
        for (path, node) in nodes {
            match node {
                Node::Group(group) => {
                    dataset.group(path, Some(&group.attributes));
                }
                Node::DimCoord(dimension) => {
                    dataset.dimension(path, dimension.size.current());
                    if let Some(datatype) = &dimension.datatype {
                        let own = Along { path: Some(path.clone()), length: dimension.size.current() };
                        dataset.variable(path, vec![own], Some(datatype), &dimension.attributes, &mut units);
                    }
                }
                Node::Ndarray(array) => {
                    if let Some(extent) = &array.dimension {
                        dataset.dimension(path, extent.current());
                    }
                    let dims = if let Shape::Dims(dims) = &array.shape { dims.as_slice() } else { &[] };
                    let along = dims
                        .iter()
                        .map(|of| Along { path: of.coordinate.clone(), length: of.extent.current() });
                    dataset.variable(
                        path,
                        along.collect(),
                        array.datatype.as_ref(),
                        &array.attributes,
                        &mut units,
                    );
                }
                Node::Datatype(_) | Node::Link(_) | Node::Unreadable(_) => {}
            }
        }
        reference::find(&mut dataset);
        role::assign(&mut dataset);
        dataset
    }

    /// The index of the group at a path. The group and its parents are added if they do not exist.
    fn group(&mut self, path: &NodePath, attributes: Option<&Attributes>) -> usize {
        let known = self.by_path.get(path).and_then(|found| found.group);
        let place = known.unwrap_or_else(|| {
            let parent = path.parent().map(|parent| self.group(&parent, None));
            self.groups.push(Group { path: path.clone(), parent, attributes: IndexMap::new() });
            let place = self.groups.len() - 1;
            self.by_path.entry(path.clone()).or_default().group = Some(place);
            place
        });
        if let (Some(group), Some(attributes)) = (self.groups.get_mut(place), attributes) {
            group.attributes = Attribute::all(attributes);
        }
        place
    }

    fn dimension(&mut self, path: &NodePath, length: u64) {
        self.dimensions.push(Dimension { path: path.clone(), length });
        self.by_path.entry(path.clone()).or_default().dimension = Some(self.dimensions.len() - 1);
    }

    fn variable(
        &mut self,
        path: &NodePath,
        dimensions: Vec<Along>,
        datatype: Option<&Arc<Datatype>>,
        attributes: &Attributes,
        units: &mut HashMap<String, Arc<Result<Unit, UnitError>>>,
    ) {
        let group = self.group(&path.parent().unwrap_or_else(NodePath::root), None);
        let attributes = Attribute::all(attributes);
        let unit = attributes.get("units").and_then(Attribute::text).map(|text| {
            let known = units.entry(text.to_owned());
            Arc::clone(known.or_insert_with(|| Arc::new(Unit::parse(text))))
        });
        // In formats without declared dimensions, arrays name their dimensions.
        for along in &dimensions {
            if let Some(path) = &along.path
                && self.by_path.get(path).is_none_or(|found| found.dimension.is_none())
            {
                self.dimension(path, along.length);
            }
        }
        let id = self.variables.len();
        self.variables.push(Variable {
            id,
            path: path.clone(),
            group,
            dimensions,
            datatype: datatype.map(|datatype| datatype.non_null().resolved().clone()),
            attributes,
            roles: Roles::default(),
            unit,
            refers: 0..0,
            referred: Vec::new(),
        });
        self.by_path.entry(path.clone()).or_default().variable = Some(id);
    }

    /// The variable at a path.
    pub fn at(&self, path: &NodePath) -> Option<&Variable> {
        self.variables.get(self.by_path.get(path)?.variable?)
    }

    /// A variable by its index.
    pub fn get(&self, id: usize) -> Option<&Variable> {
        self.variables.get(id)
    }

    /// All dimensions.
    pub fn dimensions(&self) -> &[Dimension] {
        &self.dimensions
    }

    /// A dimension by its index.
    pub fn dimension_at(&self, id: usize) -> Option<&Dimension> {
        self.dimensions.get(id)
    }

    /// The attributes of the root group.
    pub fn global(&self, name: &str) -> Option<&Attribute> {
        self.groups.first()?.attributes.get(name)
    }

    /// The references that an attribute of a variable makes.
    pub fn references<'a>(
        &'a self,
        variable: &Variable,
        attribute: &'a str,
    ) -> impl Iterator<Item = &'a Reference> + 'a {
        let all = self.references.get(variable.refers.clone()).unwrap_or_default();
        all.iter().filter(move |reference| reference.attribute == attribute)
    }

    /// The variables that an attribute of a variable names, as far as they exist.
    pub fn named<'a>(
        &'a self,
        variable: &Variable,
        attribute: &'a str,
    ) -> impl Iterator<Item = &'a Variable> + 'a {
        self.references(variable, attribute).filter_map(|reference| self.target(reference))
    }

    /// The variable that a reference resolves to.
    pub fn target(&self, reference: &Reference) -> Option<&Variable> {
        match reference.target {
            Target::Variable(id) => self.get(id),
            _ => None,
        }
    }

    /// The variables that name this one in an attribute.
    pub fn naming<'a>(
        &'a self,
        variable: &'a Variable,
        attribute: &'a str,
    ) -> impl Iterator<Item = &'a Variable> + 'a {
        let all = variable.referred.iter().filter_map(|at| self.references.get(*at));
        all.filter(move |reference| reference.attribute == attribute)
            .filter_map(|reference| self.get(reference.from))
    }

    /// The coordinate variable of a dimension.
    pub fn coordinate_of(&self, along: &Along) -> Option<&Variable> {
        self.at(along.path.as_ref()?).filter(|variable| variable.is(Role::Coordinate))
    }

    /// The coordinate and auxiliary coordinate variables of a variable, including scalar ones.
    pub fn coordinates<'a>(&'a self, variable: &'a Variable) -> impl Iterator<Item = &'a Variable> + 'a {
        let own = variable.dimensions.iter().filter_map(|along| self.coordinate_of(along));
        own.filter(|of| of.id != variable.id).chain(self.named(variable, "coordinates"))
    }
}

impl Variable {
    /// The name without the path.
    pub fn name(&self) -> &str {
        self.path.name()
    }

    /// The location of one of its attributes, for findings: `PATH@NAME`.
    pub fn place(&self, attribute: &str) -> String {
        format!("{}@{attribute}", self.path)
    }

    /// Whether it has this role.
    pub fn is(&self, role: Role) -> bool {
        self.roles.has(role)
    }

    /// Whether it has this attribute.
    pub fn has(&self, attribute: &str) -> bool {
        self.attributes.contains_key(attribute)
    }

    /// The string of an attribute, without surrounding white space; `None` if it is not a single string.
    pub fn text(&self, attribute: &str) -> Option<&str> {
        self.attributes.get(attribute)?.text()
    }

    /// The numbers of an attribute; `None` if its values are not numbers.
    pub fn numbers(&self, attribute: &str) -> Option<&[Number]> {
        self.attributes.get(attribute)?.numbers()
    }

    /// The numbers of an attribute in the unit of the stored values, interpreted according to the attribute
    /// `_Unsigned`.
    pub fn stored_numbers(&self, attribute: &str) -> Option<Vec<Number>> {
        Some(self.numbers(attribute)?.iter().map(|number| self.as_read(*number)).collect())
    }

    /// The numbers that mark missing values by `_FillValue` and `missing_value`, as stored. If there are very many,
    /// only the first ones, since each value is compared with all of them.
    pub fn marks(&self) -> impl Iterator<Item = Number> + '_ {
        let numbers = ["_FillValue", "missing_value"].into_iter().filter_map(|name| self.numbers(name));
        numbers.flatten().copied().take(MAX_MARKS)
    }

    /// A stored number, interpreted according to the attribute `_Unsigned`: the classic formats have no unsigned types.
    pub fn as_read(&self, number: Number) -> Number {
        self.reading().read(number)
    }

    /// How stored numbers are interpreted. This looks up attributes, so loops over values should call it once.
    pub(crate) fn reading(&self) -> Reading {
        let is_unsigned = || self.text("_Unsigned").is_some_and(|text| text.eq_ignore_ascii_case("true"));
        match self.datatype {
            Some(Datatype::Int { bits, signed: true }) if is_unsigned() => Reading::unsigned(bits),
            _ => Reading::STORED,
        }
    }

    /// The standard name without a modifier.
    pub fn standard_name(&self) -> Option<&str> {
        self.text("standard_name")?.split_whitespace().next()
    }

    /// The modifier after the standard name.
    pub fn modifier(&self) -> Option<&str> {
        self.text("standard_name")?.split_whitespace().nth(1)
    }

    /// The unit, if UDUNITS can parse it.
    pub fn unit(&self) -> Option<&Unit> {
        self.unit.as_ref()?.as_ref().as_ref().ok()
    }

    /// The name of the datatype, for messages; empty if it is not known.
    pub fn type_name(&self) -> String {
        self.datatype.as_ref().map(ToString::to_string).unwrap_or_default()
    }

    /// Whether the elements are numbers: integers, enumerations, floating-point numbers, times.
    pub fn is_numeric(&self) -> bool {
        self.is_integer() || matches!(self.datatype, Some(Datatype::Float(_)))
    }

    /// Whether the elements are integers.
    pub fn is_integer(&self) -> bool {
        matches!(
            self.datatype,
            Some(Datatype::Int { .. } | Datatype::Enum { .. } | Datatype::Datetime(_) | Datatype::Bool)
        )
    }

    /// Whether the elements are strings or characters.
    pub fn is_text(&self) -> bool {
        matches!(self.datatype, Some(Datatype::String(_)))
    }

    /// Whether the elements are single characters, which form strings along the last dimension.
    pub fn is_char(&self) -> bool {
        matches!(&self.datatype, Some(Datatype::String(Text::Fixed { len: 1, .. })))
    }

    /// The dimensions without the one that forms strings from characters.
    pub fn dimensions_of_values(&self) -> &[Along] {
        match self.dimensions.split_last() {
            Some((_, rest)) if self.is_char() => rest,
            _ => &self.dimensions,
        }
    }

    /// Whether it has at most one value.
    pub fn is_single(&self) -> bool {
        self.dimensions_of_values().iter().all(|along| along.length == 1)
    }

    /// Whether this is one of its dimensions.
    pub fn spans(&self, along: &Along) -> bool {
        along.path.is_some() && self.dimensions.iter().any(|own| own.path == along.path)
    }
}

/// The maximum number of values that are used as marks of missing values.
const MAX_MARKS: usize = 100;
