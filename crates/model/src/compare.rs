//! Structural equality that says why not.

use crate::{
    Attribute, Attributes, Cells, Column, Content, Datatype, DimCoord, Element, ElementRef, Elements,
    Ndarray, Node, NodePath, Shape, Unreadable, Values,
};
use std::fmt;
use std::sync::Arc;

/// One thing in which two contents differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The object.
    pub path: NodePath,
    /// The attribute of it.
    pub attribute: Option<String>,
    /// What differs: `kind`, `type`, `shape`, `value`, `presence`, …
    pub what: &'static str,
    /// What the first has; empty where it has nothing.
    pub a: String,
    /// What the second has.
    pub b: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path)?;
        if let Some(name) = &self.attribute {
            write!(f, "@{name}")?;
        }
        write!(f, ": {} {:?} against {:?}", self.what, self.a, self.b)
    }
}

/// Every difference in content between `a` and `b`, by path. How things are stored does not count; NaN
/// equals NaN, and 0.0 does not equal -0.0.
pub fn compare(a: &Content, b: &Content) -> Vec<Difference> {
    let mut found = Vec::new();
    for (path, node) in &a.nodes {
        match b.nodes.get(path) {
            Some(other) => Comparison { path, found: &mut found }.nodes(node, other),
            None => found.push(presence(path, format!("{:?}", node.kind()), String::new())),
        }
    }
    for (path, node) in &b.nodes {
        if !a.nodes.contains_key(path) {
            found.push(presence(path, String::new(), format!("{:?}", node.kind())));
        }
    }
    found.sort_by(|x, y| x.path.cmp(&y.path));
    found
}

fn presence(path: &NodePath, a: String, b: String) -> Difference {
    Difference { path: path.clone(), attribute: None, what: "presence", a, b }
}

struct Comparison<'a> {
    path: &'a NodePath,
    found: &'a mut Vec<Difference>,
}

impl Comparison<'_> {
    fn nodes(&mut self, a: &Node, b: &Node) {
        match (a, b) {
            (Node::Group(a), Node::Group(b)) => self.cells(a.cells.as_ref(), b.cells.as_ref()),
            (Node::DimCoord(a), Node::DimCoord(b)) => self.dimcoords(a, b),
            (Node::Ndarray(a), Node::Ndarray(b)) => self.ndarrays(a, b),
            (Node::Datatype(a), Node::Datatype(b)) => {
                self.types(None, Some(&a.datatype), Some(&b.datatype));
            }
            (Node::Link(a), Node::Link(b)) => self.differ(None, "target", format!("{a:?}"), format!("{b:?}")),
            (Node::Unreadable(a), Node::Unreadable(b)) => {
                self.differ(None, "reason", a.reason.clone(), b.reason.clone());
            }
            _ => self.differ(None, "kind", format!("{:?}", a.kind()), format!("{:?}", b.kind())),
        }
        if let (Some(a), Some(b)) = (a.attributes(), b.attributes()) {
            self.attributes(a, b);
        }
    }

    /// Columns count as what their dimcoords and ndarrays hold.
    fn cells(&mut self, a: Option<&Cells>, b: Option<&Cells>) {
        let (Some(a), Some(b)) = (a, b) else { return };
        let names = |of: &Cells| {
            let names: Vec<_> = of.columns.iter().map(|column| column.name.as_str()).collect();
            names.join(", ")
        };
        self.differ(None, "cells", names(a), names(b));
        for x in &a.columns {
            let Some(y) = b.columns.iter().find(|y| y.name == x.name) else { continue };
            let mut column = Comparison { path: &self.path.child(&x.name), found: &mut *self.found };
            column.columns(x, y);
        }
    }

    fn columns(&mut self, a: &Column, b: &Column) {
        if self.types(None, Some(&a.datatype), Some(&b.datatype)) {
            self.values(None, Some((&a.datatype, &a.values)), Some((&b.datatype, &b.values)));
        }
    }

    fn dimcoords(&mut self, a: &DimCoord, b: &DimCoord) {
        self.differ(None, "size", format!("{:?}", a.size), format!("{:?}", b.size));
        if self.types(None, a.datatype.as_ref(), b.datatype.as_ref()) {
            self.values(
                None,
                a.datatype.as_ref().zip(a.value.as_ref()),
                b.datatype.as_ref().zip(b.value.as_ref()),
            );
        }
    }

    fn ndarrays(&mut self, a: &Ndarray, b: &Ndarray) {
        self.differ(None, "shape", shape(&a.shape), shape(&b.shape));
        if self.types(None, a.datatype.as_ref(), b.datatype.as_ref()) {
            self.values(
                None,
                a.datatype.as_ref().zip(a.value.as_ref()),
                b.datatype.as_ref().zip(b.value.as_ref()),
            );
        }
    }

    fn attributes(&mut self, a: &Attributes, b: &Attributes) {
        let shown = |entry: Option<&Result<Attribute, Unreadable>>| match entry {
            Some(Ok(attribute)) => attribute.datatype.to_string(),
            Some(Err(unreadable)) => unreadable.reason.clone(),
            None => String::new(),
        };
        for (name, x) in a {
            match (x, b.get(name)) {
                (Ok(x), Some(Ok(y))) => {
                    self.differ(Some(name), "shape", format!("{:?}", x.shape), format!("{:?}", y.shape));
                    if self.types(Some(name), Some(&x.datatype), Some(&y.datatype)) {
                        self.values(Some(name), Some((&x.datatype, &x.value)), Some((&y.datatype, &y.value)));
                    }
                }
                (x, y) => self.differ(Some(name), "presence", shown(Some(x)), shown(y)),
            }
        }
        for (name, y) in b {
            if !a.contains_key(name) {
                self.differ(Some(name), "presence", String::new(), shown(Some(y)));
            }
        }
    }

    fn types(&mut self, name: Option<&str>, a: Option<&Arc<Datatype>>, b: Option<&Arc<Datatype>>) -> bool {
        let text = |t: Option<&Arc<Datatype>>| t.map(ToString::to_string).unwrap_or_default();
        let before = self.found.len();
        self.differ(name, "type", text(a), text(b));
        self.found.len() == before
    }

    fn values(
        &mut self,
        name: Option<&str>,
        a: Option<(&Arc<Datatype>, &Values)>,
        b: Option<(&Arc<Datatype>, &Values)>,
    ) {
        let (Some((ta, a)), Some((tb, b))) = (a, b) else { return };
        let (mut a, mut b) = (Elements::new(ta, a), Elements::new(tb, b));
        self.differ(name, "elements", a.len().to_string(), b.len().to_string());
        if let Some((index, (x, y))) = a.by_ref().zip(b.by_ref()).enumerate().find(|(_, (x, y))| !x.same(*y))
        {
            let show = |e: ElementRef<'_>| format!("element {index}: {:?}", e.get());
            self.differ(name, "value", show(x), show(y));
        }
    }

    fn differ(&mut self, attribute: Option<&str>, what: &'static str, a: String, b: String) {
        if a != b {
            let attribute = attribute.map(Into::into);
            self.found.push(Difference { path: self.path.clone(), attribute, what, a, b });
        }
    }
}

fn shape(shape: &Shape) -> String {
    match shape {
        Shape::Null => "null".into(),
        Shape::Unsaid => "nothing".into(),
        Shape::Dims(dims) => {
            let one = |d: &crate::Dimension| match &d.coordinate {
                Some(path) => format!("{path}={:?}", d.extent),
                None => format!("{:?}", d.extent),
            };
            format!("[{}]", dims.iter().map(one).collect::<Vec<_>>().join(", "))
        }
    }
}

impl ElementRef<'_> {
    /// Whether both are the same content, wherever it lies: NaN equals NaN, and 0.0 does not equal -0.0.
    pub fn same(self, other: ElementRef<'_>) -> bool {
        match (self.get(), other.get()) {
            (Element::Int(a), Element::Int(b)) => a == b,
            (Element::Float(a), Element::Float(b)) => same_float(a, b),
            (Element::RawFloat(a), Element::RawFloat(b)) => a == b,
            (Element::Complex(a), Element::Complex(b)) => a.iter().zip(b.iter()).all(|parts| match parts {
                (Element::Float(a), Element::Float(b)) => same_float(*a, *b),
                (Element::RawFloat(a), Element::RawFloat(b)) => a == b,
                _ => false,
            }),
            (Element::Bool(a), Element::Bool(b)) => a == b,
            (Element::Text(a), Element::Text(b))
            | (Element::Opaque(a), Element::Opaque(b))
            | (Element::Bits(a), Element::Bits(b)) => a == b,
            (Element::Reference(a), Element::Reference(b)) => a == b,
            (Element::Enum(a, _), Element::Enum(b, _)) => a == b,
            (Element::Compound(mut a), Element::Compound(mut b)) => {
                a.by_ref().zip(b.by_ref()).all(|((_, a), (_, b))| a.same(b))
            }
            (Element::Vlen(a), Element::Vlen(b)) | (Element::Array(a, _), Element::Array(b, _)) => {
                a.len() == b.len() && a.zip(b).all(|(a, b)| a.same(b))
            }
            (Element::Null, Element::Null) => true,
            _ => false,
        }
    }
}

fn same_float(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Float, Members, Storage};

    fn values(numbers: &[f64]) -> Values {
        let rows: Vec<u8> = numbers.iter().flat_map(|n| n.to_ne_bytes()).collect();
        Values { rows: rows.into(), ..Values::default() }
    }

    fn array(numbers: &[f64]) -> Content {
        let mut content = Content::default();
        let ndarray = Ndarray {
            shape: Shape::fixed(&[numbers.len() as u64]),
            datatype: Some(Arc::new(Datatype::Float(Float::Double))),
            attributes: Members::new(),
            storage: Storage::default(),
            value: Some(values(numbers)),
        };
        content.nodes.insert(NodePath::root().child("x"), Node::Ndarray(ndarray));
        content
    }

    #[test]
    fn nan_equals_nan_and_zeros_keep_their_sign() {
        assert_eq!(compare(&array(&[f64::NAN, 1.0]), &array(&[f64::NAN, 1.0])), []);
        let found = compare(&array(&[0.0]), &array(&[-0.0]));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].what, "value");
    }

    fn sparse(columns: &[(&str, &[f64])]) -> Content {
        let column = |(name, numbers): &(&str, &[f64])| Column {
            name: (*name).into(),
            datatype: Arc::new(Datatype::Float(Float::Double)),
            values: values(numbers),
        };
        let cells = Some(Cells { columns: columns.iter().map(column).collect() });
        let mut content = Content::default();
        content.nodes.insert(NodePath::root(), Node::Group(crate::Group { cells, ..Default::default() }));
        content
    }

    #[test]
    fn cells_are_content() {
        let one = sparse(&[("x", &[1.0, 2.0]), ("v", &[f64::NAN, 4.0])]);
        assert_eq!(compare(&one, &one.clone()), []);
        let shown =
            |other: &Content| compare(&one, other).iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(
            shown(&sparse(&[("x", &[1.0, 2.0]), ("v", &[f64::NAN, 5.0])])),
            ["/v: value \"element 1: Float(4.0)\" against \"element 1: Float(5.0)\""]
        );
        assert_eq!(
            shown(&sparse(&[("x", &[1.0]), ("w", &[0.0])])),
            ["/: cells \"x, v\" against \"x, w\"", "/x: elements \"2\" against \"1\""]
        );
        let unread = sparse(&[]).nodes.into_values().map(|_| Node::Group(crate::Group::default()));
        let unread = Content { nodes: unread.map(|group| (NodePath::root(), group)).collect() };
        assert_eq!(shown(&unread), Vec::<String>::new());
    }

    #[test]
    fn what_one_side_lacks_is_named() {
        let found = compare(&array(&[1.0]), &Content::default());
        assert_eq!(found[0].to_string(), "/x: presence \"Ndarray\" against \"\"");
        let found = compare(&array(&[1.0]), &array(&[1.0, 2.0]));
        assert_eq!(found.iter().map(|d| d.what).collect::<Vec<_>>(), ["shape", "elements"]);
    }
}
