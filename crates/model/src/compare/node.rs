//! The differences between two objects.

use super::{Difference, MAX_TOLD, Rules, Tally};
use crate::rows::are_zero;
use crate::{
    Attribute, Attributes, Cells, Column, Datatype, DimCoord, Dimension, Elements, Extent, Fill, Link,
    Ndarray, Node, NodePath, Shape, Storage, Unreadable, Values,
};
use std::sync::Arc;

/// Collects the differences between two objects at one path.
pub(super) struct Comparison<'a> {
    pub(super) rules: &'a Rules,
    pub(super) path: &'a NodePath,
    pub(super) found: &'a mut Vec<Difference>,
}

/// The fields that arrays and dimensions with coordinates share.
struct Array<'a> {
    datatype: Option<&'a Arc<Datatype>>,
    shape: Shape,
    /// The length of the dimension that has the name of the array but not its coordinates.
    beside: Option<Extent>,
    storage: &'a Storage,
    value: Option<&'a Values>,
}

impl<'a> Array<'a> {
    fn of(node: &'a Node) -> Option<Self> {
        match node {
            Node::Ndarray(Ndarray { shape, datatype, dimension, storage, value, .. }) => Some(Array {
                datatype: datatype.as_ref(),
                shape: shape.clone(),
                beside: *dimension,
                storage,
                value: value.as_ref(),
            }),
            Node::DimCoord(DimCoord { size, datatype, storage, value, .. }) => {
                let shape = Shape::Dims(vec![Dimension { extent: *size, coordinate: None }]);
                let datatype = datatype.as_ref();
                Some(Array { datatype, shape, beside: None, storage, value: value.as_ref() })
            }
            _ => None,
        }
    }

    fn typed(&self) -> Option<(&'a Arc<Datatype>, &'a Values)> {
        self.datatype.zip(self.value)
    }
}

impl Comparison<'_> {
    /// Compares two objects, including elements that are in memory.
    pub(super) fn contents(&mut self, a: &Node, b: &Node) {
        self.nodes(a, b);
        if let (Some(a), Some(b)) = (Array::of(a), Array::of(b))
            && let (Some((ta, a)), Some((tb, b))) = (a.typed(), b.typed())
            && ta.same_content(tb)
        {
            self.values(None, (ta, a), (tb, b), Default::default());
        }
    }

    /// Compares two objects without their elements.
    pub(super) fn nodes(&mut self, a: &Node, b: &Node) {
        match (a, b) {
            (Node::Unreadable(_), _) | (_, Node::Unreadable(_)) => {
                self.push_unreadable(None, [a, b].map(Node::unreadable));
            }
            (Node::Link(a), Node::Link(b)) => {
                let same = match (a, b) {
                    (Link::Hard(a), Link::Hard(b)) => self.rules.same_path(a, b),
                    (a, b) => a == b,
                };
                if !same {
                    self.push(None, "target", a.to_string(), b.to_string());
                }
            }
            _ => self.readable(a, b),
        }
        if let (Some(a), Some(b)) = (a.attributes(), b.attributes()) {
            self.attributes(a, b);
        }
    }

    fn readable(&mut self, a: &Node, b: &Node) {
        let kind = |node: &Node| match node {
            Node::Link(link) => link.to_string(),
            node => node.kind().word().to_owned(),
        };
        self.differ(None, "kind", kind(a), kind(b));
        match (a, b) {
            (Node::Group(a), Node::Group(b)) => {
                self.cells(a.cells.as_ref(), b.cells.as_ref());
                self.native(&a.storage, &b.storage);
            }
            (Node::Datatype(a), Node::Datatype(b)) => {
                self.types(None, Some(&a.datatype), Some(&b.datatype));
                self.element_storage(&a.storage.element, &b.storage.element);
                self.native(&a.storage, &b.storage);
            }
            _ => {
                if let (Some(a), Some(b)) = (Array::of(a), Array::of(b)) {
                    self.arrays(&a, &b);
                }
            }
        }
    }

    /// Compares cells column by column. A difference has the path of the member that the column belongs to.
    fn cells(&mut self, a: Option<&Cells>, b: Option<&Cells>) {
        let (Some(a), Some(b)) = (a, b) else { return };
        let names = |of: &Cells| {
            let names: Vec<_> = of.columns.iter().map(|column| column.name.as_str()).collect();
            names.join(", ")
        };
        self.differ(None, "cells", names(a), names(b));
        for x in &a.columns {
            let Some(y) = b.columns.iter().find(|y| y.name == x.name) else { continue };
            let path = &self.path.child(&x.name);
            Comparison { path, rules: self.rules, found: &mut *self.found }.columns(x, y);
        }
    }

    fn columns(&mut self, a: &Column, b: &Column) {
        self.types(None, Some(&a.datatype), Some(&b.datatype));
        self.values(None, (&a.datatype, &a.values), (&b.datatype, &b.values), Default::default());
    }

    fn arrays(&mut self, a: &Array<'_>, b: &Array<'_>) {
        self.types(None, a.datatype, b.datatype);
        self.shapes(&a.shape, &b.shape);
        let length = |of: Option<Extent>| of.map_or_else(|| "none".to_owned(), |extent| extent.to_string());
        self.differ(None, "dimension", length(a.beside), length(b.beside));
        if let (Some(x), Some(y)) = (a.datatype, b.datatype) {
            self.fills((x, &a.storage.fill), (y, &b.storage.fill));
            self.storage(a.storage, b.storage);
            let size = |of: &Array<'_>| of.shape.dims().first().and_then(|dimension| dimension.extent.max());
            self.domains((x, a.storage, size(a)), (y, b.storage, size(b)));
        }
    }

    fn shapes(&mut self, a: &Shape, b: &Shape) {
        let same = match (a, b) {
            (Shape::Dims(a), Shape::Dims(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.same_dimension(a, b))
            }
            (a, b) => a == b,
        };
        if same {
            return;
        }
        let (x, y) = (a.to_string(), b.to_string());
        let paths = |shape: &Shape| {
            let of = |d: &Dimension| d.coordinate.as_ref().map_or("none".into(), ToString::to_string);
            shape.dims().iter().map(of).collect::<Vec<String>>().join(", ")
        };
        match x == y {
            // Both dimensions have the same name and size but belong to different groups.
            true => self.push(None, "dimensions", paths(a), paths(b)),
            false => self.push(None, "shape", x, y),
        }
    }

    fn same_dimension(&self, a: &Dimension, b: &Dimension) -> bool {
        let (named, same_name) = match (&a.coordinate, &b.coordinate) {
            (Some(a), Some(b)) => {
                let known = self.rules.roots.as_ref().is_none_or(|(x, y)| a.is_within(x) && b.is_within(y));
                let same = match self.rules.habits && known {
                    true => self.rules.same_path(a, b),
                    false => a.name() == b.name(),
                };
                (known, same)
            }
            (None, None) => (false, true),
            _ => (false, false),
        };
        // The maximum length of a named dimension is compared at the dimension itself.
        let growth = named || a.extent == b.extent;
        same_name && growth && a.extent.current() == b.extent.current()
    }

    fn fills(&mut self, (x, a): (&Arc<Datatype>, &Fill), (y, b): (&Arc<Datatype>, &Fill)) {
        let told = |datatype: &Datatype, fill: &Fill| match fill {
            Fill::Default => "default".to_owned(),
            Fill::Undefined => "undefined".to_owned(),
            Fill::Value(values) => {
                Elements::new(datatype, values).next().map(self.rules.show).unwrap_or_default()
            }
        };
        let is_zero = |datatype: &Datatype, values: &Values| are_zero(datatype, values).unwrap_or(false);
        let counts = self.rules.habits || self.rules.storage;
        let differs = match (a, b) {
            (Fill::Value(v), Fill::Value(w)) if x.is_comparable(y) => {
                Tally::of(Elements::new(x, v), Elements::new(y, w), self.rules).differing > 0
            }
            (Fill::Value(values), Fill::Default) => counts && !is_zero(x, values),
            (Fill::Default, Fill::Value(values)) => counts && !is_zero(y, values),
            (Fill::Default, Fill::Undefined) | (Fill::Undefined, Fill::Default) => self.rules.storage,
            // Zeros are the default.
            (Fill::Value(values), Fill::Undefined) if is_zero(x, values) => self.rules.storage,
            (Fill::Undefined, Fill::Value(values)) if is_zero(y, values) => self.rules.storage,
            (Fill::Undefined, Fill::Value(_)) | (Fill::Value(_), Fill::Undefined) => counts,
            _ => false,
        };
        if differs {
            self.push(None, "fill value", told(x, a), told(y, b));
        }
    }

    fn attributes(&mut self, a: &Attributes, b: &Attributes) {
        for (name, x) in a {
            match b.get(name) {
                Some(y) => self.attribute(name, x, y),
                None => self.push(Some(name), "presence", self.rules.told_or_reason(x), String::new()),
            }
        }
        for (name, y) in b {
            if !a.contains_key(name) {
                self.push(Some(name), "presence", String::new(), self.rules.told_or_reason(y));
            }
        }
        if self.rules.order {
            let common = |of: &Attributes, other: &Attributes| {
                of.keys().filter(|name| other.contains_key(*name)).cloned().collect::<Vec<_>>()
            };
            self.order("order of attributes", &common(a, b), &common(b, a));
        }
    }

    fn order(&mut self, what: &'static str, a: &[String], b: &[String]) {
        self.differ(None, what, a.join(", "), b.join(", "));
    }

    /// Compares two attributes.
    pub(super) fn attribute(
        &mut self,
        name: &str,
        a: &Result<Attribute, Unreadable>,
        b: &Result<Attribute, Unreadable>,
    ) {
        let (x, y) = match (a, b) {
            (Ok(x), Ok(y)) => (x, y),
            (a, b) => {
                return self.push_unreadable(Some(name), [a, b].map(|side| side.as_ref().err()));
            }
        };
        self.types(Some(name), Some(&x.datatype), Some(&y.datatype));
        let shape = |of: &Attribute| match of.shape.as_deref() {
            Some([1]) if !self.rules.habits => Some(Vec::new()),
            shape => shape.map(<[u64]>::to_vec),
        };
        let (of_x, of_y) = (shape(x), shape(y));
        if of_x != of_y {
            let told =
                |shape: &Option<Vec<u64>>| shape.as_ref().map_or("null".into(), |shape| format!("{shape:?}"));
            self.push(Some(name), "shape", told(&of_x), told(&of_y));
        } else if x.datatype.is_comparable(&y.datatype) {
            let few = Elements::new(&x.datatype, &x.value).len() <= MAX_TOLD;
            let told = |of: &Attribute| if few { self.rules.told(of) } else { String::new() };
            let told = (told(x), told(y));
            self.values(Some(name), (&x.datatype, &x.value), (&y.datatype, &y.value), told);
            if let (Some(found), Some(shape)) = (self.found.last_mut(), of_x) {
                found.shape = shape;
            }
        }
    }

    fn types(&mut self, name: Option<&str>, a: Option<&Arc<Datatype>>, b: Option<&Arc<Datatype>>) {
        let text = |t: Option<&Arc<Datatype>>| t.map_or("none".into(), ToString::to_string);
        let (x, y) = (text(a), text(b));
        if x != y {
            self.push(name, "type", x, y);
        } else if let (Some(Datatype::Named(a, _)), Some(Datatype::Named(b, _))) =
            (a.map(|t| &**t), b.map(|t| &**t))
            && !self.rules.same_path(a, b)
        {
            self.push(name, "type", a.to_string(), b.to_string());
        }
    }

    fn values(
        &mut self,
        name: Option<&str>,
        (x, a): (&Arc<Datatype>, &Values),
        (y, b): (&Arc<Datatype>, &Values),
        told: (String, String),
    ) {
        if !x.is_comparable(y) {
            return;
        }
        let (a, b) = (Elements::new(x, a), Elements::new(y, b));
        self.differ(name, "elements", a.len().to_string(), b.len().to_string());
        let tally = Tally::of(a, b, self.rules);
        if tally.differing > 0 {
            self.push(name, "value", told.0, told.1);
            if let Some(found) = self.found.last_mut() {
                found.values = Some(tally);
            }
        }
    }

    pub(super) fn differ(&mut self, attribute: Option<&str>, what: &'static str, a: String, b: String) {
        if a != b {
            self.push(attribute, what, a, b);
        }
    }

    pub(super) fn push(&mut self, attribute: Option<&str>, what: &'static str, a: String, b: String) {
        let attribute = attribute.map(Into::into);
        self.found.push(Difference { attribute, ..Difference::new(self.path, what, a, b) });
    }

    fn push_unreadable(&mut self, attribute: Option<&str>, sides: [Option<&Unreadable>; 2]) {
        let attribute = attribute.map(Into::into);
        let errors = sides.map(|side| side.map(|side| (side.kind, side.reason.clone())));
        self.found.push(Difference { attribute, ..Difference::unreadable(self.path, errors) });
    }
}
