//! What differs between two contents, by one set of rules.

mod element;
mod node;
mod storage;
mod tally;

pub use element::{Gap, Tolerance};
pub use tally::{Pair, Tally};

use self::node::Comparison;
use crate::{Attribute, Content, ElementRef, Elements, Link, Node, NodeKind, NodePath, Unreadable};
use std::fmt;

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
        Comparison { rules: self, path, found }.contents(a, b);
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
            Some(shape) if elements.len() > MAX_TOLD => format!("{} {shape:?}", attribute.datatype),
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
const MAX_TOLD: usize = 10;

#[cfg(test)]
mod tests;
