//! Variables whose values are positions along dimensions, or counts of elements along them. If such a dimension is cut
//! or extended, the values refer to other elements.
//!
//! Spec: CF 1.13, 7.5 Geometries, 8.2 Lossless Compression by Gathering, 9.3 Representation of Collections of Features;
//! UGRID 1.0

use super::resolve::{Wanted, resolve};
use super::{Dataset, Target, Variable, places};
use hyperslab_model::NodePath;

/// A variable whose values are meaningful only together with some complete dimensions.
#[derive(Clone, Debug)]
pub struct Linked<'a> {
    /// The variable.
    pub variable: &'a Variable,
    /// The dimensions.
    pub dimensions: Vec<&'a NodePath>,
}

/// The attributes of such variables that name a dimension, and whether the values count its elements. Counts belong to
/// the elements in their order, so nothing may be removed from the counts either.
static NAMING_DIMENSIONS: &[(&str, bool)] =
    &[("compress", false), ("sample_dimension", true), ("instance_dimension", false)];

/// The attributes of a geometry container that name count variables.
static OF_GEOMETRIES: &[&str] = &["node_count", "part_node_count"];

impl Dataset {
    /// The variables whose values are positions or counts along dimensions.
    pub fn linked(&self) -> Vec<Linked<'_>> {
        let mut found = Vec::new();
        for variable in &self.variables {
            for (attribute, are_counts) in NAMING_DIMENSIONS {
                let targets = self.references(variable, attribute).map(|reference| reference.target);
                let named = targets.filter_map(|target| match target {
                    Target::Dimension(id) => self.dimension_at(id).map(|dimension| &dimension.path),
                    _ => None,
                });
                let mut dimensions: Vec<&NodePath> = named.collect();
                if !dimensions.is_empty() && *are_counts {
                    dimensions.extend(paths(variable));
                }
                found.push(Linked { variable, dimensions });
            }
            for counts in OF_GEOMETRIES.iter().flat_map(|attribute| self.named(variable, attribute)) {
                let nodes = self.named(variable, "node_coordinates").flat_map(paths);
                found.push(Linked { variable: counts, dimensions: nodes.chain(paths(counts)).collect() });
            }
            match variable.text("cf_role") {
                Some("mesh_topology") => found.extend(self.connectivity(variable)),
                Some("location_index_set") => {
                    let mesh = self.named(variable, "mesh").next();
                    let location = variable.text("location");
                    let dimension =
                        mesh.zip(location).and_then(|(mesh, location)| self.location(mesh, location));
                    found.push(Linked { variable, dimensions: dimension.into_iter().collect() });
                }
                _ => {}
            }
        }
        found.retain(|linked| !linked.dimensions.is_empty());
        found
    }

    /// The variables of a mesh whose values are positions of its nodes, edges, faces or volumes.
    fn connectivity<'a>(&'a self, mesh: &'a Variable) -> impl Iterator<Item = Linked<'a>> {
        let names = mesh.attributes.keys().filter_map(|name| {
            let (_, to) = name.strip_suffix("_connectivity")?.rsplit_once('_')?;
            Some((name, to))
        });
        names.filter_map(|(name, to)| {
            let variable = self.of_mesh(mesh, name)?;
            Some(Linked { variable, dimensions: vec![self.location(mesh, to)?] })
        })
    }

    /// The dimension of the nodes, edges, faces or volumes of a mesh.
    fn location<'a>(&'a self, mesh: &'a Variable, of: &str) -> Option<&'a NodePath> {
        if let Some(name) = mesh.text(&format!("{of}_dimension"))
            && let Target::Dimension(id) = resolve(self, mesh.group, name, Wanted::Dimensions)
        {
            return self.dimension_at(id).map(|dimension| &dimension.path);
        }
        let of_nodes = self.named(mesh, "node_coordinates").next().filter(|_| of == "node");
        let of_parts = || self.of_mesh(mesh, &format!("{of}_node_connectivity"));
        of_nodes.or_else(of_parts)?.dimensions.first()?.path.as_ref()
    }

    /// The variable that an attribute of a mesh names.
    fn of_mesh(&self, mesh: &Variable, attribute: &str) -> Option<&Variable> {
        let group = &self.groups.get(mesh.group)?.path;
        places(group, mesh.text(attribute)?).into_iter().find_map(|path| self.at(&path))
    }
}

/// The named dimensions of a variable.
fn paths(variable: &Variable) -> impl Iterator<Item = &NodePath> {
    variable.dimensions.iter().filter_map(|along| along.path.as_ref())
}
