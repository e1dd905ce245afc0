//! Shapes of ndarrays and sizes of dimcoords. A shape can name dimensions.

use super::context::{Context, suggest};
use super::events::{Node, Scalar, View, shown};
use super::scalar::{integer, is_decimal, is_integer};
use hyperslab_model::{Dimension, Extent, NodePath, Shape};

impl<'t> Context<'t, '_> {
    /// The shape of an ndarray in `group`. `current` is the stored shape, `value` its value.
    pub(super) fn shape(
        &mut self,
        node: Node<'t>,
        group: &NodePath,
        current: Option<&(Vec<u64>, Node<'t>)>,
        value: Option<Node<'t>>,
    ) -> Option<Shape> {
        if node.is_null() {
            self.extension(node.span(), "a null dataspace");
            return Some(Shape::Null);
        }
        let View::Sequence(items) = node.view() else {
            let message = format!("{} for a shape, expected a list", node.describe());
            let hint = node.scalar().map(|scalar| format!("write shape: [{}]", scalar.text));
            self.findings.error("ndl/shape", node.span(), message).maybe_hint(hint);
            return None;
        };
        let declared: Vec<Option<Dimension>> = items.iter().map(|item| self.dimension(item, group)).collect();
        let mut dimensions: Vec<Dimension> = declared.into_iter().collect::<Option<_>>()?;
        if let Some((stored, place)) = current {
            if stored.len() != dimensions.len() {
                let message = format!(
                    "storage.shape of rank {} for a shape of rank {}",
                    stored.len(),
                    dimensions.len()
                );
                self.findings.error("ndl/shape", place.span(), message);
                return None;
            }
            for (dimension, current) in dimensions.iter_mut().zip(stored) {
                dimension.extent = self.grown(dimension.extent, *current, *place)?;
            }
        } else if let Some(value) = value {
            let found = Self::nesting(value, dimensions.len());
            for (dimension, found) in dimensions.iter_mut().zip(found) {
                match &mut dimension.extent {
                    Extent::Unlimited { current } => *current = found,
                    Extent::Limited { current, max } if found <= *max => *current = found,
                    Extent::Limited { .. } | Extent::Fixed(_) | Extent::Uncounted => {}
                }
            }
        }
        Some(Shape::Dims(dimensions))
    }

    /// The length of a dimension, from its keys `size`, `storage.size` and `value`.
    pub(super) fn size(
        &mut self,
        node: Node<'t>,
        current: Option<&(Vec<u64>, Node<'t>)>,
        value: Option<Node<'t>>,
    ) -> Option<Extent> {
        let declared = match node.is_null() {
            true => Extent::Unlimited { current: 0 },
            false => Extent::Fixed(self.count(node, "a size (or null)")?),
        };
        if let Some((stored, place)) = current {
            let [stored] = stored.as_slice() else { return Some(declared) };
            return self.grown(declared, *stored, *place);
        }
        let found = value.and_then(|value| Self::nesting(value, 1).first().copied());
        Some(match (declared, found) {
            (Extent::Unlimited { .. }, Some(current)) => Extent::Unlimited { current },
            (declared, _) => declared,
        })
    }

    /// The extent of a dimension with the declared length and the current length. `None`, after an error, if the current
    /// length is larger.
    fn grown(&mut self, declared: Extent, current: u64, place: Node<'t>) -> Option<Extent> {
        match declared {
            Extent::Uncounted => Some(declared),
            Extent::Unlimited { .. } => Some(Extent::Unlimited { current }),
            Extent::Fixed(max) if current == max => Some(declared),
            Extent::Fixed(max) | Extent::Limited { max, .. } if current <= max => {
                Some(Extent::Limited { current, max })
            }
            Extent::Fixed(max) | Extent::Limited { max, .. } => {
                let message = format!("a current size of {current}, expected at most {max}");
                self.findings.error("ndl/shape", place.span(), message);
                None
            }
        }
    }

    fn dimension(&mut self, node: Node<'t>, group: &NodePath) -> Option<Dimension> {
        let plain = |extent| Some(Dimension { extent, coordinate: None });
        let Some(scalar) = node.scalar() else {
            let message =
                format!("{} in a shape, expected a size, null or the name of a dimcoord", node.describe());
            self.findings.error("ndl/shape", node.span(), message);
            return None;
        };
        if scalar.is_null() {
            return plain(Extent::Unlimited { current: 0 });
        }
        if scalar.is_plain() && is_integer(scalar.text) {
            if let Some(size) = integer(scalar.text).and_then(|size| u64::try_from(size).ok()) {
                return plain(Extent::Fixed(size));
            }
            self.findings.error(
                "ndl/shape",
                node.span(),
                format!("the size {}, expected 0 to 2^64 - 1", scalar.text),
            );
            return None;
        }
        let path = self.dimcoord_path(scalar, node, group)?;
        let extent = self.dimcoords.get(&path).copied()?;
        Some(Dimension { extent, coordinate: Some(path) })
    }

    /// The path of the dimcoord that a shape names. A bare name is looked up in the group, then in the groups above it.
    fn dimcoord_path(&mut self, scalar: Scalar<'t>, node: Node<'t>, group: &NodePath) -> Option<NodePath> {
        let text = scalar.text;
        if text.starts_with('/') {
            let path = self.path(text, node.span())?;
            if self.dimcoords.contains_key(&path) {
                return Some(path);
            }
        } else if text.contains('/') {
            let message = format!("the path {}, expected a name or an absolute path", shown(text));
            self.findings
                .error("ndl/path", node.span(), message)
                .hint(format!("write {}", shown(&format!("/{text}"))));
            return None;
        } else {
            let place = (group.clone(), text);
            let found = match self.resolved.get(&place) {
                Some(found) => found.clone(),
                None => {
                    let found = self.nearest(text, group);
                    self.resolved.insert(place, found.clone());
                    found
                }
            };
            if found.is_some() {
                return found;
            }
        }
        let mut known: Vec<&str> = Vec::new();
        if self.dimcoords.len() <= MAX_SUGGESTED && !self.findings.is_full() {
            let visible = |path: &NodePath| path.parent().is_some_and(|parent| group.is_within(&parent));
            known = match text.starts_with('/') {
                true => self.dimcoords.keys().map(NodePath::as_str).collect(),
                false => self.dimcoords.keys().filter(|path| visible(path)).map(NodePath::name).collect(),
            };
        }
        known.sort_unstable();
        let hint = match (is_decimal(text), known.is_empty()) {
            (true, _) => Some("write a size without quotes".into()),
            (false, empty) => (!empty).then(|| suggest(text, &known)),
        };
        self.findings
            .error("ndl/dimension", node.span(), format!("unknown dimcoord {}", shown(text)))
            .maybe_hint(hint);
        None
    }

    fn nearest(&self, name: &str, group: &NodePath) -> Option<NodePath> {
        let mut scope = Some(group.clone());
        while let Some(group) = scope {
            let path = group.child(name);
            if self.dimcoords.contains_key(&path) {
                return Some(path);
            }
            scope = group.parent();
        }
        None
    }
}

/// The number of dimensions among which a similar name is looked for.
const MAX_SUGGESTED: usize = 1000;
