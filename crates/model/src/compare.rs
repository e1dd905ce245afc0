//! Comparison of objects and elements. All comparisons use these rules.

mod element;
mod node;
mod storage;
mod tally;

pub use element::{Gap, Tolerance};
pub use tally::{Pair, Tally};

use self::node::Comparison;
use crate::{Attribute, Content, ElementRef, Elements, Link, Node, NodeKind, NodePath, Unreadable};
use hyperslab_core::ErrorKind;
use std::fmt;

/// What counts as a difference, and how elements are reported.
#[derive(Clone, Debug)]
pub struct Rules {
    /// Tolerances for numbers.
    pub tolerance: Tolerance,
    /// Whether the order of attributes counts.
    pub order: bool,
    /// Whether differences in storage count.
    pub storage: bool,
    /// Whether to report differences that not every format can express: attributes of shape `[1]` and `[]`, the group
    /// of a dimension, a fill value that was never set explicitly.
    pub habits: bool,
    /// The paths of the two objects that are compared, unless both are roots. Paths below them correspond to each
    /// other.
    pub roots: Option<(NodePath, NodePath)>,
    /// The number of differing elements that are reported.
    pub max_reported: usize,
    /// Formats an element as text.
    pub show: fn(ElementRef<'_>) -> String,
}

/// One difference between two contents.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The path of the object in the first content.
    pub path: NodePath,
    /// The name of the attribute, if an attribute differs.
    pub attribute: Option<String>,
    /// The property that differs: `presence`, `kind`, `type`, `shape`, `fill value`, `target`, `value`, `elements`,
    /// `order`, `unreadable`, or a storage directive.
    pub what: &'static str,
    /// The property in the first content as text. Empty if it is missing, or too long to report.
    pub a: String,
    /// The property in the second content as text.
    pub b: String,
    /// The elements that differ, if values were compared.
    pub values: Option<Tally>,
    /// The shape of an attribute whose values were compared.
    pub shape: Vec<u64>,
    /// The kinds of the errors in the first and the second content, for `unreadable`.
    pub causes: [Option<ErrorKind>; 2],
}

impl Difference {
    /// A difference between two objects in a property.
    pub fn new(path: &NodePath, what: &'static str, a: String, b: String) -> Difference {
        Difference {
            path: path.clone(),
            attribute: None,
            what,
            a,
            b,
            values: None,
            shape: Vec::new(),
            causes: [None; 2],
        }
    }

    /// An object that one or both contents cannot read: the kind and the reason of each error.
    pub fn unreadable(path: &NodePath, errors: [Option<(ErrorKind, String)>; 2]) -> Difference {
        let causes = errors.each_ref().map(|error| error.as_ref().map(|(kind, _)| *kind));
        let [a, b] = errors.map(|error| error.map_or_else(String::new, |(_, reason)| reason));
        Difference { causes, ..Difference::new(path, UNREADABLE, a, b) }
    }
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

/// All differences in content between `a` and `b`, ordered by path. Differences in storage are ignored. NaN equals
/// NaN, and 0.0 does not equal -0.0.
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
    // In a document, two objects that are unreadable for the same reason count as equal.
    found.retain(|difference| difference.what != UNREADABLE || difference.a != difference.b);
    found.sort_by(|x, y| x.path.cmp(&y.path));
    found
}

fn presence(path: &NodePath, a: &str, b: &str) -> Difference {
    Difference::new(path, "presence", a.to_owned(), b.to_owned())
}

const UNREADABLE: &str = "unreadable";

impl NodeKind {
    /// The name of the kind in messages.
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

/// The kind of link and its target.
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
    /// Bitwise equality, except that any two NaN are equal.
    pub const EXACT: Rules = Rules {
        tolerance: Tolerance { relative: 0.0, absolute: 0.0, ulps: 0, signed_zeros: true },
        order: false,
        storage: false,
        habits: true,
        roots: None,
        max_reported: 1,
        show: |_| String::new(),
    };

    /// Adds the differences between two objects, apart from their elements. Unreadable parts are always different.
    pub fn nodes(&self, path: &NodePath, a: &Node, b: &Node, found: &mut Vec<Difference>) {
        Comparison { rules: self, path, found }.nodes(a, b);
    }

    /// Adds the differences between two attributes called `name`.
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

    /// As [`Rules::nodes`], including elements that are in memory.
    fn contents(&self, path: &NodePath, a: &Node, b: &Node, found: &mut Vec<Difference>) {
        Comparison { rules: self, path, found }.contents(a, b);
    }

    /// Whether path `a` of the first content corresponds to path `b` of the second.
    pub fn same_path(&self, a: &NodePath, b: &NodePath) -> bool {
        let Some((of_a, of_b)) = &self.roots else { return a == b };
        match (a.relative_to(of_a), b.relative_to(of_b)) {
            (Some(a), Some(b)) => a == b,
            (None, None) => a == b,
            _ => false,
        }
    }

    /// The elements of an attribute as text if there are few of them, otherwise its type and shape.
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

    /// As [`Rules::told`], or the reason why the attribute cannot be read.
    pub fn told_or_reason(&self, attribute: &Result<Attribute, Unreadable>) -> String {
        match attribute {
            Ok(attribute) => self.told(attribute),
            Err(unreadable) => unreadable.reason.clone(),
        }
    }
}

/// The number of elements up to which all elements of an attribute are reported.
const MAX_TOLD: usize = 10;

#[cfg(test)]
mod tests;
