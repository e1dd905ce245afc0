//! The numbers of nodes and parts, and the directions of rings.
//!
//! Spec: CF 1.13, 7.6 Geometries

use super::rings::check_rings;
use super::{Found, Scope, containers};
use crate::dataset::{Dataset, Number, Variable};
use crate::rules::values::ValueReader;
use hyperslab_core::Result;
use hyperslab_model::Elements;
use std::collections::{HashMap, HashSet};

/// The variables that a container names, as far as they exist.
struct Parts<'a> {
    nodes: Option<&'a Variable>,
    node_count: Option<&'a Variable>,
    part_node_count: Option<&'a Variable>,
    interior_ring: Option<&'a Variable>,
    least: i128,
}

/// The content found in a count variable. Containers may share such variables.
#[derive(Clone, Copy, Default)]
struct Counts {
    sum: i128,
    first_short: Option<(u64, i128)>,
}

pub(in crate::rules) fn geometry_values(
    scope: &Scope<'_>,
    values: &dyn ValueReader,
    found: &mut Found,
) -> Result<()> {
    let mut known: HashMap<(usize, i128), Counts> = HashMap::new();
    let mut rings = HashSet::new();
    for container in containers(scope) {
        let parts = Parts::of(scope.dataset, container);
        let mut of = |variable: Option<&Variable>, least| -> Result<Option<Counts>> {
            let Some(variable) = variable.filter(|variable| variable.is_integer()) else { return Ok(None) };
            if let Some(counts) = known.get(&(variable.id, least)) {
                return Ok(Some(*counts));
            }
            let counts = Counts::read(values, variable, least)?;
            known.insert((variable.id, least), counts);
            Ok(Some(counts))
        };
        let (geometries, portions) =
            (of(parts.node_count, parts.least)?, of(parts.part_node_count, parts.least)?);
        check_sums(container, &parts, geometries, portions, found);
        if let Some(ring) = parts.interior_ring
            && rings.insert(ring.id)
        {
            check_interior_ring(values, ring, found)?;
        }
    }
    check_rings(scope, values, found)
}

impl<'a> Parts<'a> {
    fn of(dataset: &'a Dataset, container: &'a Variable) -> Parts<'a> {
        let one = |name: &'static str| dataset.named(container, name).next();
        let is_type =
            |name: &str| container.text("geometry_type").is_some_and(|text| text.eq_ignore_ascii_case(name));
        let least = if is_type("polygon") {
            3
        } else if is_type("line") {
            2
        } else {
            0
        };
        Parts {
            nodes: one("node_coordinates"),
            node_count: one("node_count"),
            part_node_count: one("part_node_count"),
            interior_ring: one("interior_ring"),
            least,
        }
    }

    /// The number of nodes, if it is known.
    fn count(&self) -> Option<i128> {
        match self.nodes?.dimensions.as_slice() {
            [along] => Some(i128::from(along.length)),
            _ => None,
        }
    }
}

impl Counts {
    /// Reads a count variable: the sum, and the first count that is smaller than a geometry needs. Instances that have
    /// no geometry yet have a count of zero or a missing value.
    fn read(values: &dyn ValueReader, variable: &Variable, least: i128) -> Result<Counts> {
        let mut counts = Counts::default();
        let mut at = 0_u64;
        each_integer(values, variable, |count| {
            if let Some(count) = count.filter(|count| *count != 0) {
                counts.sum = counts.sum.saturating_add(count);
                if count < least.max(1) && counts.first_short.is_none() {
                    counts.first_short = Some((at, count));
                }
            }
            at = at.saturating_add(1);
        })?;
        Ok(counts)
    }
}

fn check_sums(
    container: &Variable,
    parts: &Parts<'_>,
    geometries: Option<Counts>,
    portions: Option<Counts>,
    found: &mut Found,
) {
    let kind = container.text("geometry_type").unwrap_or_default().to_ascii_lowercase();
    let counted = [(parts.node_count, geometries, "geometry"), (parts.part_node_count, portions, "part")];
    for (variable, counts, what) in counted {
        let (Some(variable), Some(counts)) = (variable, counts) else { continue };
        if let Some((at, count)) = counts.first_short {
            let message =
                format!("{count} nodes in {what} {at}, expected at least {} of a {kind}", parts.least.max(1));
            found.add(&variable.path, message, "correct the number of nodes, or the geometry_type");
        }
    }
    let expected = match (geometries, parts.count()) {
        (Some(geometries), Some(nodes)) if geometries.sum != nodes => {
            let message = format!("a sum of {} nodes, expected {nodes} as there are nodes", geometries.sum);
            if let Some(variable) = parts.node_count {
                found.add(&variable.path, message, "correct the numbers of nodes");
            }
            Some(geometries.sum)
        }
        (Some(geometries), _) => Some(geometries.sum),
        (None, nodes) => nodes,
    };
    if let (Some(portions), Some(expected), Some(variable)) = (portions, expected, parts.part_node_count)
        && portions.sum != expected
    {
        let of = if geometries.is_some() { "as the geometries have" } else { "as there are nodes" };
        let message = format!("a sum of {} nodes, expected {expected} {of}", portions.sum);
        found.add(&variable.path, message, "correct the numbers of nodes of the parts");
    }
}

fn check_interior_ring(values: &dyn ValueReader, ring: &Variable, found: &mut Found) -> Result<()> {
    if !ring.is_integer() {
        return Ok(());
    }
    let mut wrong: Option<(u64, i128)> = None;
    let mut at = 0_u64;
    each_integer(values, ring, |value| {
        if let Some(value) = value.filter(|value| !matches!(value, 0 | 1)) {
            wrong.get_or_insert((at, value));
        }
        at = at.saturating_add(1);
    })?;
    if let Some((at, value)) = wrong {
        let message = format!("value {value} at {at}, expected 0 of an exterior and 1 of an interior ring");
        found.add(&ring.path, message, "write 0 or 1");
    }
    Ok(())
}

/// Passes each value of an integer variable; `None` for missing values.
fn each_integer(
    values: &dyn ValueReader,
    variable: &Variable,
    mut each: impl FnMut(Option<i128>),
) -> Result<()> {
    let missing: Vec<i128> = variable.marks().filter_map(Number::as_int).collect();
    values.stream(&variable.path, &mut |datatype, values| {
        for element in Elements::new(datatype, values) {
            let number = element.present().and_then(|element| Number::of(&element.get())?.as_int());
            each(number.filter(|number| !missing.contains(number)));
        }
        Ok(())
    })
}
