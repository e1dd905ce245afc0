//! The roles of variables.
//!
//! Spec: CF 1.13, 1.3 Terminology

use super::{Dataset, Variable};

/// The role of a variable. A variable may have several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A data variable: one that no other role explains, or an ancillary variable, cell measure or formula term.
    Data,
    /// A coordinate variable: numbers along the one dimension that has the same name.
    Coordinate,
    /// An auxiliary or a scalar coordinate variable: an attribute `coordinates` names it.
    Auxiliary,
    /// A boundary variable: an attribute `bounds` names it.
    Boundary,
    /// A climatology boundary variable: an attribute `climatology` names it.
    Climatology,
    /// A grid mapping variable.
    GridMapping,
    /// A cell measure variable.
    CellMeasure,
    /// An ancillary variable.
    Ancillary,
    /// A term of the formula of a vertical coordinate.
    FormulaTerm,
    /// A geometry container variable.
    Geometry,
    /// A node coordinate variable of a geometry.
    NodeCoordinate,
    /// A node count, part node count or interior ring variable of a geometry.
    NodeCount,
    /// A domain variable.
    Domain,
    /// A list variable of compression by gathering.
    Compression,
    /// A count variable of a contiguous ragged array.
    Count,
    /// An index variable of an indexed ragged array.
    Index,
    /// A quantization container variable.
    Quantization,
    /// An interpolation variable, or one that subsampling refers to.
    Interpolation,
    /// A mesh topology or location index set variable, or one that it names.
    Mesh,
    /// An aggregation variable, or one of its parts.
    Aggregation,
    /// A variable with the attribute `cf_role`, which identifies the features of a discrete sampling geometry.
    Identifier,
}

/// The roles of a variable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Roles(u32);

impl Roles {
    /// Whether a role is included.
    pub fn has(self, role: Role) -> bool {
        self.0 & bit(role) != 0
    }

    fn add(&mut self, role: Role) {
        self.0 |= bit(role);
    }

    fn is_empty(self) -> bool {
        self.0 == 0
    }
}

fn bit(role: Role) -> u32 {
    1 << role as u32
}

/// The attributes whose targets have a role.
static OF_TARGETS: &[(&str, Role)] = &[
    ("coordinates", Role::Auxiliary),
    ("bounds", Role::Boundary),
    ("climatology", Role::Climatology),
    ("grid_mapping", Role::GridMapping),
    ("cell_measures", Role::CellMeasure),
    ("ancillary_variables", Role::Ancillary),
    ("formula_terms", Role::FormulaTerm),
    ("geometry", Role::Geometry),
    ("node_coordinates", Role::NodeCoordinate),
    ("node_count", Role::NodeCount),
    ("part_node_count", Role::NodeCount),
    ("interior_ring", Role::NodeCount),
    ("quantization", Role::Quantization),
    ("mesh", Role::Mesh),
    ("location_index_set", Role::Mesh),
];

/// The attributes that give their own variable a role.
static OF_OWNERS: &[(&str, Role)] = &[
    ("grid_mapping_name", Role::GridMapping),
    ("geometry_type", Role::Geometry),
    ("compress", Role::Compression),
    ("sample_dimension", Role::Count),
    ("instance_dimension", Role::Index),
    ("cf_role", Role::Identifier),
    ("interpolation_name", Role::Interpolation),
    ("tie_point_mapping", Role::Interpolation),
    ("aggregated_data", Role::Aggregation),
];

/// The endings of UGRID attributes that name variables.
static OF_MESHES: [&str; 3] = ["_coordinates", "_connectivity", "_dimension"];

/// Assigns all variables their roles.
pub(super) fn assign(dataset: &mut Dataset) {
    let mut roles: Vec<Roles> = dataset.variables.iter().map(own).collect();
    for reference in &dataset.references {
        let Some(target) = dataset.target(reference) else { continue };
        let role = OF_TARGETS.iter().find(|(attribute, _)| *attribute == reference.attribute);
        let is_mesh = || roles.get(reference.from).is_some_and(|roles| roles.has(Role::Mesh));
        let role = match role {
            // The keys of the attribute `grid_mapping` name coordinates.
            Some((_, Role::GridMapping)) if reference.key.is_some() => continue,
            Some((_, Role::NodeCoordinate)) if is_mesh() => Role::Mesh,
            Some((_, role)) => *role,
            None => continue,
        };
        if let Some(of_target) = roles.get_mut(target.id) {
            match role {
                // A coordinate variable remains one where an attribute `coordinates` names it.
                Role::Auxiliary if of_target.has(Role::Coordinate) => {}
                role => of_target.add(role),
            }
        }
    }
    for id in mesh_parts(dataset, &roles) {
        if let Some(of_part) = roles.get_mut(id) {
            of_part.add(Role::Mesh);
        }
    }
    for (variable, mut roles) in dataset.variables.iter_mut().zip(roles) {
        // These are also data variables and have the attributes of data variables.
        let is_data =
            [Role::CellMeasure, Role::Ancillary, Role::FormulaTerm].iter().any(|role| roles.has(*role));
        let is_other =
            [Role::Coordinate, Role::Auxiliary, Role::Boundary, Role::Climatology, Role::Identifier];
        if roles.is_empty() || (is_data && !is_other.iter().any(|role| roles.has(*role))) {
            roles.add(Role::Data);
        }
        variable.roles = roles;
    }
}

/// The roles that follow from the variable itself.
fn own(variable: &Variable) -> Roles {
    let mut roles = Roles::default();
    for (_, role) in OF_OWNERS.iter().filter(|(attribute, _)| variable.has(attribute)) {
        roles.add(*role);
    }
    if matches!(variable.text("cf_role"), Some("mesh_topology" | "location_index_set")) {
        roles = Roles::default();
        roles.add(Role::Mesh);
    } else if variable.has("dimensions") {
        roles.add(Role::Domain);
    }
    if variable.has("algorithm") && variable.has("implementation") {
        roles.add(Role::Quantization);
    }
    if let [along] = &*variable.dimensions
        && along.name() == variable.name()
        && variable.is_numeric()
    {
        roles.add(Role::Coordinate);
    }
    roles
}

/// The variables that meshes name.
fn mesh_parts(dataset: &Dataset, roles: &[Roles]) -> Vec<usize> {
    let meshes =
        dataset.variables.iter().filter(|of| roles.get(of.id).is_some_and(|roles| roles.has(Role::Mesh)));
    let mut parts = Vec::new();
    for mesh in meshes {
        let naming =
            mesh.attributes.iter().filter(|(name, _)| OF_MESHES.iter().any(|end| name.ends_with(end)));
        for name in naming.filter_map(|(_, attribute)| attribute.text()).flat_map(str::split_whitespace) {
            let group = dataset.groups.get(mesh.group).map(|group| group.path.child(name));
            parts.extend(group.and_then(|path| dataset.at(&path)).map(|part| part.id));
        }
    }
    parts
}
