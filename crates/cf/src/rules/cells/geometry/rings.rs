//! The directions of the rings of polygons.
//!
//! Spec: CF 1.13, 7.6 Geometries: exterior rings are anticlockwise as viewed from above, interior rings clockwise

use super::{Found, Scope, containers};
use crate::dataset::{Dataset, Number, Variable};
use crate::rules::values::{BLOCK, ValueReader};
use hyperslab_core::Result;
use hyperslab_core::nd::Region;

/// Checks the rings of all polygons whose nodes have coordinates along X and Y.
pub(super) fn check_rings(scope: &Scope<'_>, values: &dyn ValueReader, found: &mut Found) -> Result<()> {
    for container in containers(scope) {
        if let Some(polygons) = Polygons::of(scope.dataset, container) {
            polygons.check(values, found)?;
        }
    }
    Ok(())
}

/// The variables of a container of polygons.
struct Polygons<'a> {
    container: &'a Variable,
    /// The numbers of nodes of the rings.
    counts: &'a Variable,
    /// Which rings are interior; `None` if there are none.
    interior: Option<&'a Variable>,
    x: &'a Variable,
    y: &'a Variable,
}

impl<'a> Polygons<'a> {
    fn of(dataset: &'a Dataset, container: &'a Variable) -> Option<Polygons<'a>> {
        let is_polygon =
            container.text("geometry_type").is_some_and(|text| text.eq_ignore_ascii_case("polygon"));
        if !is_polygon {
            return None;
        }
        let one = |name: &'static str| {
            dataset.named(container, name).next().filter(|of| of.is_integer() && of.dimensions.len() == 1)
        };
        let node = |axis: &str| {
            dataset.named(container, "node_coordinates").find(|node| {
                node.text("axis").is_some_and(|own| own.eq_ignore_ascii_case(axis))
                    && node.is_numeric()
                    && node.dimensions.len() == 1
            })
        };
        // Interior rings are parts.
        let counts = match container.has("part_node_count") || container.has("interior_ring") {
            true => one("part_node_count")?,
            false => one("node_count")?,
        };
        // Without their variable, it is unknown which rings are holes.
        let interior = match container.has("interior_ring") {
            true => Some(one("interior_ring")?),
            false => None,
        };
        Some(Polygons { container, counts, interior, x: node("X")?, y: node("Y")? })
    }

    fn check(&self, values: &dyn ValueReader, found: &mut Found) -> Result<()> {
        let is_angle = self.x.text("units").is_some_and(|units| units.starts_with("degree"));
        let mut counts = Cursor::of(values, self.counts);
        let mut interior = self.interior.map(|of| Cursor::of(values, of));
        let (mut x, mut y) = (Cursor::of(values, self.x), Cursor::of(values, self.y));
        let (mut at, mut wrong, mut first) = (0_u64, 0_u64, None);
        while let Some(count) = counts.next()? {
            let kind = match &mut interior {
                Some(of) => of.next()?,
                None => Some(0.0),
            };
            let Some(kind) = kind else { return Ok(()) };
            let is_interior = kind == 1.0;
            let mut ring = Ring::default();
            let mut left = count;
            while left >= 1.0 {
                let (Some(x), Some(y)) = (x.next()?, y.next()?) else { return Ok(()) };
                ring.take(x, y);
                left -= 1.0;
            }
            let is_known = is_interior || kind == 0.0;
            if is_known && ring.is_anticlockwise(is_angle).is_some_and(|is_it| is_it == is_interior) {
                first.get_or_insert((at, is_interior));
                wrong += 1;
            }
            at += 1;
        }
        // Counts that do not add up are reported separately, and make it impossible to check rings.
        let is_complete = x.next()?.is_none();
        if let Some((at, is_interior)) = first.filter(|_| is_complete) {
            let (kind, own, expected) = match is_interior {
                true => ("an interior", "anticlockwise", "clockwise"),
                false => ("an exterior", "clockwise", "anticlockwise"),
            };
            let message = format!(
                "{wrong} rings in the wrong direction, the first at {at}: {kind} ring is {own}, expected {expected}"
            );
            found.add(
                self.container.place("node_coordinates"),
                message,
                "turn the order of the nodes of such rings",
            );
        }
        Ok(())
    }
}

/// The nodes of a ring. Only the first and the last are kept.
#[derive(Default)]
struct Ring {
    first: Option<(f64, f64)>,
    last: (f64, f64),
    /// Twice the area relative to the first node: positive if anticlockwise.
    area: f64,
    /// The sum of the absolute values of the added areas.
    total: f64,
    /// The smallest and largest x relative to the first node.
    extent: (f64, f64),
}

impl Ring {
    fn take(&mut self, x: f64, y: f64) {
        let (first_x, first_y) = *self.first.get_or_insert((x, y));
        let here = (x - first_x, y - first_y);
        let part = self.last.0 * here.1 - here.0 * self.last.1;
        self.area += part;
        self.total += part.abs();
        self.extent = (self.extent.0.min(here.0), self.extent.1.max(here.0));
        self.last = here;
    }

    /// The direction. `None` if it cannot be determined: for a ring without an area, with missing nodes, or where
    /// longitudes wrap around.
    fn is_anticlockwise(&self, is_angle: bool) -> Option<bool> {
        let is_across = is_angle && self.extent.1 - self.extent.0 > 180.0;
        let is_clear = self.area.is_finite() && self.area.abs() > 1e-6 * self.total;
        (is_clear && !is_across).then_some(self.area > 0.0)
    }
}

/// Reads the values of a one-dimensional variable one after another.
struct Cursor<'a> {
    values: &'a dyn ValueReader,
    variable: &'a Variable,
    read: u64,
    block: std::vec::IntoIter<f64>,
}

impl<'a> Cursor<'a> {
    fn of(values: &'a dyn ValueReader, variable: &'a Variable) -> Cursor<'a> {
        Cursor { values, variable, read: 0, block: Vec::new().into_iter() }
    }

    /// The next value; NaN if it is missing. `None` after the last one.
    fn next(&mut self) -> Result<Option<f64>> {
        if let Some(value) = self.block.next() {
            return Ok(Some(value));
        }
        let length = self.variable.dimensions.first().map_or(0, |along| along.length);
        let count = BLOCK.min(length.saturating_sub(self.read));
        if count == 0 {
            return Ok(None);
        }
        let mut block = Vec::new();
        let region = Region::new(vec![self.read], vec![count]);
        self.values.region(&self.variable.path, &region, &mut |elements| {
            block.extend(elements.map(|element| {
                let number = element.present().and_then(|element| Number::of(&element.get()));
                number.map_or(f64::NAN, Number::as_f64)
            }));
            Ok(())
        })?;
        self.read = self.read.saturating_add(count);
        self.block = block.into_iter();
        Ok(self.block.next())
    }
}
