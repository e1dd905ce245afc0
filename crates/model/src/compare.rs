//! What differs between two contents, by one set of rules.

mod element;
mod storage;
mod tally;

pub use element::{Gap, Tolerance};
pub use tally::{Pair, Tally};

use crate::{
    Attribute, Attributes, Cells, Column, Content, Datatype, DimCoord, Dimension, ElementRef, Elements, Fill,
    Link, Ndarray, Node, NodeKind, NodePath, Shape, Storage, Unreadable, Values,
};
use std::fmt;
use std::sync::Arc;

/// What counts as a difference, and how elements are told.
#[derive(Clone, Debug)]
pub struct Rules {
    /// What numbers may differ by.
    pub tolerance: Tolerance,
    /// Whether the order of attributes counts.
    pub order: bool,
    /// Whether it counts how things are stored.
    pub storage: bool,
    /// Whether that counts which formats cannot say alike: `[1]` and `[]` of attributes, the group of a dimension,
    /// a fill value that nobody set.
    pub habits: bool,
    /// The objects that are compared, if they are not the roots of both; paths below them are the same ones.
    pub roots: Option<(NodePath, NodePath)>,
    /// How many elements that differ are told.
    pub most: usize,
    /// An element as text.
    pub show: fn(ElementRef<'_>) -> String,
}

/// One thing in which two contents differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The object, by its path in the first.
    pub path: NodePath,
    /// The attribute of it.
    pub attribute: Option<String>,
    /// What differs: `presence`, `kind`, `type`, `shape`, `fill value`, `target`, `value`, `elements`, `order`,
    /// `unreadable`, and how things are stored.
    pub what: &'static str,
    /// What the first has; empty where it has nothing, or too much to be told.
    pub a: String,
    /// What the second has.
    pub b: String,
    /// Of values, element by element.
    pub values: Option<Tally>,
    /// Of the values of an attribute, its shape.
    pub shape: Vec<u64>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path)?;
        if let Some(name) = &self.attribute {
            write!(f, "@{name}")?;
        }
        match self.values.as_ref().and_then(|tally| tally.first.first()) {
            Some(Pair { index, a, b, .. }) => write!(f, ": element {index} is {a} against {b}"),
            None => write!(f, ": {} {:?} against {:?}", self.what, self.a, self.b),
        }
    }
}

/// Every difference in content between `a` and `b`, by path. How things are stored does not count; NaN
/// equals NaN, and 0.0 does not equal -0.0.
pub fn compare(a: &Content, b: &Content) -> Vec<Difference> {
    let rules = Rules { show: |element| format!("{:?}", element.get()), ..Rules::EXACT };
    let mut found = Vec::new();
    for (path, node) in &a.nodes {
        match b.nodes.get(path) {
            Some(other) => rules.contents(path, node, other, &mut found),
            None => found.push(presence(path, node.kind().word(), "")),
        }
    }
    for (path, node) in &b.nodes {
        if !a.nodes.contains_key(path) {
            found.push(presence(path, "", node.kind().word()));
        }
    }
    // What is unreadable for the same reason is the same content of a text.
    found.retain(|difference| difference.what != UNREADABLE || difference.a != difference.b);
    found.sort_by(|x, y| x.path.cmp(&y.path));
    found
}

fn presence(path: &NodePath, a: &str, b: &str) -> Difference {
    let (a, b) = (a.to_owned(), b.to_owned());
    Difference {
        path: path.clone(),
        attribute: None,
        what: "presence",
        a,
        b,
        values: None,
        shape: Vec::new(),
    }
}

const UNREADABLE: &str = "unreadable";

impl NodeKind {
    /// What people call it.
    pub fn word(self) -> &'static str {
        match self {
            NodeKind::Group => "group",
            NodeKind::DimCoord => "dimcoord",
            NodeKind::Ndarray => "array",
            NodeKind::Datatype => "datatype",
            NodeKind::Link => "link",
            NodeKind::Unreadable => UNREADABLE,
        }
    }
}

/// What kind of link it is and where it leads.
impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Link::Hard(path) => write!(f, "second path of {path}"),
            Link::Soft(target) => write!(f, "soft link to {target}"),
            Link::External { file, path } => write!(f, "external link to {file}:{path}"),
            Link::User { class, data } => {
                write!(f, "link of class {class}")?;
                data.iter().try_for_each(|byte| write!(f, " {byte:02x}"))
            }
        }
    }
}

impl Rules {
    /// The same bits, but for NaN: any two are equal.
    pub const EXACT: Rules = Rules {
        tolerance: Tolerance { relative: 0.0, absolute: 0.0, ulps: 0, signed_zeros: true },
        order: false,
        storage: false,
        habits: true,
        roots: None,
        most: 1,
        show: |_| String::new(),
    };

    /// In what two objects differ, apart from their elements; unreadable parts differ from everything.
    pub fn nodes(&self, path: &NodePath, a: &Node, b: &Node, found: &mut Vec<Difference>) {
        Comparison { rules: self, path, found }.nodes(a, b);
    }

    /// In what the attribute `name` differs.
    pub fn attribute(
        &self,
        path: &NodePath,
        name: &str,
        a: &Result<Attribute, Unreadable>,
        b: &Result<Attribute, Unreadable>,
        found: &mut Vec<Difference>,
    ) {
        Comparison { rules: self, path, found }.attribute(name, a, b);
    }

    /// Elements that are in memory too.
    fn contents(&self, path: &NodePath, a: &Node, b: &Node, found: &mut Vec<Difference>) {
        let mut comparison = Comparison { rules: self, path, found };
        comparison.nodes(a, b);
        if let (Some(a), Some(b)) = (Array::of(a), Array::of(b))
            && let (Some((ta, a)), Some((tb, b))) = (a.typed(), b.typed())
            && ta.same_content(tb)
        {
            comparison.values(None, (ta, a), (tb, b), Default::default());
        }
    }

    /// Whether a path of the first means what one of the second does.
    pub fn same_path(&self, a: &NodePath, b: &NodePath) -> bool {
        let Some((of_a, of_b)) = &self.roots else { return a == b };
        match (a.relative_to(of_a), b.relative_to(of_b)) {
            (Some(a), Some(b)) => a == b,
            (None, None) => a == b,
            _ => false,
        }
    }

    /// An attribute's elements where these are few, else its type and shape.
    pub fn told(&self, attribute: &Attribute) -> String {
        let elements = Elements::new(&attribute.datatype, &attribute.value);
        match &attribute.shape {
            None => "null".into(),
            Some(shape) if elements.len() > MOST_TOLD => format!("{} {shape:?}", attribute.datatype),
            Some(shape) => {
                let told: Vec<String> = elements.map(self.show).collect();
                match told.as_slice() {
                    [one] if shape.iter().all(|extent| *extent == 1) => one.clone(),
                    all => format!("[{}]", all.join(", ")),
                }
            }
        }
    }

    /// As [`Rules::told`], also why one cannot be read.
    pub fn told_or_reason(&self, attribute: &Result<Attribute, Unreadable>) -> String {
        match attribute {
            Ok(attribute) => self.told(attribute),
            Err(unreadable) => unreadable.reason.clone(),
        }
    }
}

/// Elements of an attribute that are all told.
const MOST_TOLD: usize = 10;

struct Comparison<'a> {
    rules: &'a Rules,
    path: &'a NodePath,
    found: &'a mut Vec<Difference>,
}

/// What arrays and dimension coordinates have in common.
struct Array<'a> {
    datatype: Option<&'a Arc<Datatype>>,
    shape: Shape,
    storage: &'a Storage,
    value: Option<&'a Values>,
}

impl<'a> Array<'a> {
    fn of(node: &'a Node) -> Option<Self> {
        match node {
            Node::Ndarray(Ndarray { shape, datatype, storage, value, .. }) => Some(Array {
                datatype: datatype.as_ref(),
                shape: shape.clone(),
                storage,
                value: value.as_ref(),
            }),
            Node::DimCoord(DimCoord { size, datatype, storage, value, .. }) => {
                let shape = Shape::Dims(vec![Dimension { extent: *size, coordinate: None }]);
                Some(Array { datatype: datatype.as_ref(), shape, storage, value: value.as_ref() })
            }
            _ => None,
        }
    }

    fn typed(&self) -> Option<(&'a Arc<Datatype>, &'a Values)> {
        self.datatype.zip(self.value)
    }
}

impl Comparison<'_> {
    fn nodes(&mut self, a: &Node, b: &Node) {
        match (a, b) {
            (Node::Unreadable(_), _) | (_, Node::Unreadable(_)) => {
                let reason = |node: &Node| match node {
                    Node::Unreadable(unreadable) => unreadable.reason.clone(),
                    _ => String::new(),
                };
                self.push(None, UNREADABLE, reason(a), reason(b));
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
            // Dimensions of one name and size in different groups.
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
        // What a shared dimension may become is its own affair.
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
        let zeros = |values: &Values| values.rows.iter().all(|byte| *byte == 0);
        let counts = self.rules.habits || self.rules.storage;
        let differs = match (a, b) {
            (Fill::Value(v), Fill::Value(w)) if x.is_comparable(y) => {
                Tally::of(Elements::new(x, v), Elements::new(y, w), self.rules).differing > 0
            }
            (Fill::Value(values), Fill::Default) | (Fill::Default, Fill::Value(values)) => {
                counts && !zeros(values)
            }
            (Fill::Default, Fill::Undefined) | (Fill::Undefined, Fill::Default) => self.rules.storage,
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

    fn attribute(
        &mut self,
        name: &str,
        a: &Result<Attribute, Unreadable>,
        b: &Result<Attribute, Unreadable>,
    ) {
        let (x, y) = match (a, b) {
            (Ok(x), Ok(y)) => (x, y),
            (a, b) => {
                let reason = |of: &Result<Attribute, Unreadable>| match of {
                    Ok(_) => String::new(),
                    Err(unreadable) => unreadable.reason.clone(),
                };
                return self.push(Some(name), UNREADABLE, reason(a), reason(b));
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
            let few = Elements::new(&x.datatype, &x.value).len() <= MOST_TOLD;
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

    fn differ(&mut self, attribute: Option<&str>, what: &'static str, a: String, b: String) {
        if a != b {
            self.push(attribute, what, a, b);
        }
    }

    fn push(&mut self, attribute: Option<&str>, what: &'static str, a: String, b: String) {
        let attribute = attribute.map(Into::into);
        self.found.push(Difference {
            path: self.path.clone(),
            attribute,
            what,
            a,
            b,
            values: None,
            shape: Vec::new(),
        });
    }
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
            ["/v: element 1 is Float(4.0) against Float(5.0)"]
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
        assert_eq!(found[0].to_string(), "/x: presence \"array\" against \"\"");
        let found = compare(&array(&[1.0]), &array(&[1.0, 2.0]));
        assert_eq!(found.iter().map(|d| d.what).collect::<Vec<_>>(), ["shape", "elements"]);
    }

    #[test]
    fn tolerances_are_those_of_the_second_number() {
        let differing = |rules: &Rules, a: &[f64], b: &[f64]| {
            let datatype = Datatype::Float(Float::Double);
            let (a, b) = (values(a), values(b));
            Tally::of(Elements::new(&datatype, &a), Elements::new(&datatype, &b), rules)
        };
        let within = |relative, absolute, ulps| Rules {
            tolerance: Tolerance { relative, absolute, ulps, signed_zeros: false },
            ..Rules::EXACT
        };
        let numbers =
            ([100.0, 0.0, f64::NAN, f64::INFINITY, -0.0], [101.0, 0.5, f64::NAN, f64::INFINITY, 0.0]);
        assert_eq!(differing(&within(0.0, 0.0, 0), &numbers.0, &numbers.1).differing, 2);
        assert_eq!(differing(&within(0.01, 0.0, 0), &numbers.0, &numbers.1).differing, 1);
        assert_eq!(differing(&within(0.01, 0.5, 0), &numbers.0, &numbers.1).differing, 0);
        let infinite = differing(&within(1.0, 1e300, u64::MAX), &[f64::INFINITY, 1.0], &[1.0, f64::NAN]);
        assert_eq!((infinite.differing, infinite.largest), (2, Some(Gap::Double(f64::NEG_INFINITY))));
        let next = f64::from_bits(1.0_f64.to_bits() + 3);
        assert_eq!(differing(&within(0.0, 0.0, 2), &[1.0], &[next]).differing, 1);
        assert_eq!(differing(&within(0.0, 0.0, 3), &[1.0, -1.0], &[next, -next]).differing, 0);
        assert_eq!(differing(&within(0.0, 0.0, 2), &[-5e-324], &[5e-324]).differing, 0);
    }

    #[test]
    fn numbers_of_different_types_are_compared_as_numbers() {
        let compared = |a: &Datatype, x: &[u8], b: &Datatype, y: &[u8]| {
            let of = |rows: &[u8]| Values { rows: rows.to_vec().into(), ..Values::default() };
            let (x, y) = (of(x), of(y));
            Tally::of(Elements::new(a, &x), Elements::new(b, &y), &Rules::EXACT).largest
        };
        let (int, long, double) =
            (Datatype::int(16, true), Datatype::int(64, false), Datatype::Float(Float::Double));
        let near = 9_007_199_254_740_993_u64;
        assert_eq!(compared(&int, &(-3_i16).to_ne_bytes(), &double, &(-3.0_f64).to_ne_bytes()), None);
        assert_eq!(
            compared(&int, &(-1_i16).to_ne_bytes(), &long, &u64::MAX.to_ne_bytes()),
            Some(Gap::Int(1 << 64))
        );
        // No float is this integer, although the nearest one is what it is rounded to.
        let rounded = 9_007_199_254_740_992.0_f64;
        assert!(!Datatype::String(crate::Text::Variable).is_comparable(&int));
        assert_eq!(compared(&long, &near.to_ne_bytes(), &double, &rounded.to_ne_bytes()), Some(Gap::Int(-1)));
    }

    #[test]
    fn paths_below_what_is_compared_are_the_same_ones() {
        let path = |text: &str| NodePath::new(text).unwrap();
        let roots = Some((path("/a"), NodePath::root()));
        let rules = Rules { roots, ..Rules::EXACT };
        assert!(rules.same_path(&path("/a/x"), &path("/x")));
        assert!(rules.same_path(&path("/a"), &path("/")));
        assert!(!rules.same_path(&path("/x"), &path("/x")));
        let rules = Rules { roots: Some((path("/a"), path("/b"))), ..Rules::EXACT };
        assert!(
            rules.same_path(&path("/ab"), &path("/ab")) && !rules.same_path(&path("/a/x"), &path("/a/x"))
        );
    }
}
