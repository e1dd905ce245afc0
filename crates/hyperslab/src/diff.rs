//! What differs between two stores, by content, whatever formats they are of.
//!
//! Both are walked side by side: of each, the names in one group and one object are held at a time.

mod cells;
mod objects;
mod values;

use crate::list::counted;
use crate::location::Target;
use crate::select::Select;
use crate::source::{Entry, Item, Source};
use hyperslab_core::{Error, Result};
use hyperslab_model::{Attributes, Element, ElementRef, NodeKind, NodePath, Rules, Tally, Tolerance};
use std::fmt;

/// What counts as a difference, and how much is told of it.
#[derive(Clone, Debug)]
pub struct DiffOptions {
    /// What floats may differ by.
    pub tolerance: Tolerance,
    /// Whether the order of members and attributes counts.
    pub order: bool,
    /// Whether it counts how things are stored: chunks, filters, byte order, layout.
    pub storage: bool,
    /// Elements of an array that are told.
    pub max_reported: usize,
    /// Parts of the arrays, as `show` has them.
    pub select: Vec<Select>,
}

impl Default for DiffOptions {
    fn default() -> Self {
        DiffOptions {
            tolerance: Tolerance::default(),
            order: false,
            storage: false,
            max_reported: 20,
            select: Vec::new(),
        }
    }
}

/// One of the two that are compared.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    /// The store.
    pub source: &'a dyn Source,
    /// What is meant in it.
    pub target: &'a Target,
}

/// One thing that differs.
#[derive(Clone, Debug)]
pub struct Found {
    /// The object's path, with `@NAME` for an attribute: in the second where the first lacks it.
    pub path: String,
    /// What it is.
    pub subject: Subject,
    /// Which side has it.
    pub on: On,
    /// What of it differs: `type`, `shape`, `value`, `values`, `unreadable`, …; `presence` if one side lacks it.
    pub what: &'static str,
    /// What the first has, in words; empty where it has nothing, or too much to be told.
    pub a: String,
    /// What the second has.
    pub b: String,
    /// Which elements differ.
    pub values: Option<FoundValues>,
}

/// Elements that differ.
#[derive(Clone, Debug)]
pub struct FoundValues {
    /// How many, and the first of them.
    pub tally: Tally,
    /// Where the first of them are, in the first's array.
    pub at: Vec<FoundAt>,
    /// Whether a tolerance can make them equal.
    pub floats: bool,
}

/// Where an element is in its array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FoundAt {
    /// Its index along each dimension.
    Index(Vec<u64>),
    /// In a sparse array, the coordinates of its cell, as JSON.
    Coordinates(Vec<String>),
}

impl FoundAt {
    /// The index or coordinate along each dimension.
    pub fn parts(&self) -> Vec<String> {
        match self {
            FoundAt::Index(index) => index.iter().map(u64::to_string).collect(),
            FoundAt::Coordinates(coordinates) => coordinates.clone(),
        }
    }
}

/// `[4, 0]`.
impl fmt::Display for FoundAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}]", self.parts().join(", "))
    }
}

/// What differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// A group.
    Group,
    /// An array or a dimension with coordinates.
    Array,
    /// A dimension without.
    Dimension,
    /// A named datatype.
    Datatype,
    /// A link.
    Link,
    /// An attribute.
    Attribute,
    /// Something that cannot be read.
    Unreadable,
}

/// Which side has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum On {
    /// The first alone.
    A,
    /// The second alone.
    B,
    /// Both, and they differ.
    Both,
}

/// How many objects and attributes differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Groups.
    pub groups: u64,
    /// Arrays.
    pub arrays: u64,
    /// Dimensions without coordinates.
    pub dimensions: u64,
    /// Named datatypes.
    pub datatypes: u64,
    /// Links.
    pub links: u64,
    /// Attributes.
    pub attributes: u64,
    /// What cannot be read on a side, and so cannot be compared.
    pub unreadable: u64,
}

impl Summary {
    /// Whether nothing differs.
    pub fn is_same(&self) -> bool {
        *self == Summary::default()
    }

    /// `2 arrays and 2 attributes differ`; nothing if nothing does.
    pub fn label(&self) -> String {
        let of = [
            (self.groups, "group", "groups"),
            (self.arrays, "array", "arrays"),
            (self.dimensions, "dimension", "dimensions"),
            (self.datatypes, "datatype", "datatypes"),
            (self.links, "link", "links"),
            (self.attributes, "attribute", "attributes"),
        ];
        let parts = counted(&of);
        let total: u64 = of.iter().map(|(count, ..)| count).sum();
        let verb = if total == 1 { "differs" } else { "differ" };
        let differ = match parts.split_last() {
            None => None,
            Some((last, [])) => Some(format!("{last} {verb}")),
            Some((last, others)) => Some(format!("{} and {last} {verb}", others.join(", "))),
        };
        let unread = match self.unreadable {
            0 => None,
            1 => Some("1 object or attribute cannot be compared".to_owned()),
            many => Some(format!("{many} objects or attributes cannot be compared")),
        };
        differ.into_iter().chain(unread).collect::<Vec<_>>().join(", ")
    }

    fn add(&mut self, subject: Subject) {
        let count = match subject {
            Subject::Group => &mut self.groups,
            Subject::Array => &mut self.arrays,
            Subject::Dimension => &mut self.dimensions,
            Subject::Datatype => &mut self.datatypes,
            Subject::Link => &mut self.links,
            Subject::Attribute => &mut self.attributes,
            Subject::Unreadable => &mut self.unreadable,
        };
        *count += 1;
    }
}

/// Tells `found` everything in which two stores, or objects of them, differ. `progress` is told the object at hand
/// and how many bytes of elements have been compared in all.
///
/// What cannot be read differs from everything; the rest is still compared.
///
/// ```
/// use hyperslab::diff::{DiffOptions, Side, diff};
/// use hyperslab::location::Location;
/// use hyperslab::{OpenOptions, open};
///
/// let source = open("../../examples/ocean.nc".as_ref(), &OpenOptions::default())?;
/// let at = |text| Ok::<_, hyperslab::Error>(Location::parse(text).targets(&*source)?.remove(0));
/// let (a, b) = (at("ocean.nc:/lat")?, at("ocean.nc:/lon")?);
/// let (a, b) = (Side { source: &*source, target: &a }, Side { source: &*source, target: &b });
/// let mut differing = Vec::new();
/// let summary = diff(a, b, &DiffOptions::default(), &mut |_, _| {}, &mut |found| {
///     differing.push(format!("{} {}", found.path, found.what));
///     Ok(())
/// })?;
/// assert_eq!(summary.label(), "1 array and 2 attributes differ");
/// assert_eq!(differing[0], "/lat shape");
/// # Ok::<(), hyperslab::Error>(())
/// ```
///
/// # Errors
/// That of `found`; if an object is compared with an attribute; if an attribute is not there; if the selections do
/// not fit an array.
pub fn diff(
    a: Side<'_>,
    b: Side<'_>,
    options: &DiffOptions,
    progress: &mut dyn FnMut(&NodePath, u64),
    found: &mut dyn FnMut(Found) -> Result<()>,
) -> Result<Summary> {
    let roots = (a.target.entry.handle.path.clone(), b.target.entry.handle.path.clone());
    let rules = Rules {
        tolerance: options.tolerance,
        order: options.order,
        storage: options.storage,
        habits: options.storage || format_of(a.source) == format_of(b.source),
        roots: (!roots.0.is_root() || !roots.1.is_root()).then_some(roots),
        max_reported: options.max_reported,
        show: told,
    };
    let mut telling = Telling { found, summary: Summary::default() };
    match (&a.target.attribute, &b.target.attribute) {
        (None, None) => objects::compare(a, b, &rules, options, progress, &mut telling)?,
        (Some(x), Some(y)) => attributes(a, b, (x, y), &rules, &mut telling)?,
        _ => return Err(Error::invalid("an attribute can be compared with an attribute alone")),
    }
    a.source.pool().check()?;
    b.source.pool().check()?;
    Ok(telling.summary)
}

/// The format that the content is or was of.
fn format_of(source: &dyn Source) -> &str {
    source.origin().map_or(source.format(), |origin| &origin.format)
}

/// An element as JSON has it, but for numbers that it has not.
fn told(element: ElementRef<'_>) -> String {
    match element.get() {
        Element::Float(number) if !number.is_finite() => format!("{number}").to_lowercase(),
        _ => hyperslab_ndl::json(element),
    }
}

/// Where differences go, and what becomes of counting them.
struct Telling<'a> {
    found: &'a mut dyn FnMut(Found) -> Result<()>,
    summary: Summary,
}

impl Telling<'_> {
    fn tell(&mut self, found: Found) -> Result<()> {
        (self.found)(found)
    }
}

fn attributes(
    a: Side<'_>,
    b: Side<'_>,
    names: (&str, &str),
    rules: &Rules,
    telling: &mut Telling<'_>,
) -> Result<()> {
    let load = |side: Side<'_>| side.source.load(&side.target.entry.handle);
    let (x, y) = (load(a)?, load(b)?);
    let get = |attributes: Option<&Attributes>, side: Side<'_>, name: &str| {
        let missing = || Error::not_found(format!("no attribute {}@{name}", side.target.entry.handle.path));
        attributes.and_then(|attributes| attributes.get(name)).cloned().ok_or_else(missing)
    };
    let (x, y) = (get(x.attributes(), a, names.0)?, get(y.attributes(), b, names.1)?);
    let mut differences = Vec::new();
    rules.attribute(&a.target.entry.handle.path, names.0, &x, &y, &mut differences);
    objects::tell(differences, Subject::Attribute, telling)
}

/// What an entry is.
fn subject(entry: &Entry) -> Subject {
    match &entry.item {
        Item::Group => Subject::Group,
        Item::Array { kind: NodeKind::DimCoord, datatype: None, .. } => Subject::Dimension,
        Item::Array { .. } => Subject::Array,
        Item::Datatype(_) => Subject::Datatype,
        Item::Link(_) => Subject::Link,
        Item::Unreadable(_) => Subject::Unreadable,
    }
}
