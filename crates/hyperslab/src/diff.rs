//! Compares the contents of two stores of any formats.
//!
//! Both stores are walked in parallel. At any time, memory holds only the names of one group and one object of each
//! store.

mod cells;
mod objects;
mod values;

use self::values::{Failed, Operand};
use crate::list::counted;
use crate::location::LocatedObject;
use crate::select::{Select, Selected};
use crate::source::{Entry, Item, MissingSources, Source};
use hyperslab_core::{Error, ErrorKind, Result};
use hyperslab_model::{Attributes, Element, ElementRef, NodeKind, NodePath, Rules, Tally, Tolerance};
use std::fmt;

/// The options of a comparison.
#[derive(Clone, Debug)]
pub struct DiffOptions {
    /// The tolerance for floating-point numbers.
    pub tolerance: Tolerance,
    /// Whether to compare the order of members and attributes.
    pub order: bool,
    /// Whether to compare storage: chunks, filters, byte order, layout.
    pub storage: bool,
    /// The maximum number of reported elements of an array.
    pub max_reported: usize,
    /// The selections of the arrays, as in `show`.
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

/// One of the two compared sides.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    /// The store.
    pub source: &'a dyn Source,
    /// The compared object or attribute.
    pub target: &'a LocatedObject,
}

/// One difference.
#[derive(Clone, Debug)]
pub struct Found {
    /// The path of the object, with `@NAME` for an attribute: the path in the second store if the object is not in the
    /// first.
    pub path: String,
    /// The kind of the object or attribute.
    pub subject: Subject,
    /// The side that has it.
    pub on: On,
    /// The property that differs: `type`, `shape`, `value`, `values`, `unreadable` and so on; `presence` if only one
    /// side has the object.
    pub what: &'static str,
    /// The property in the first store as text; empty if it is missing or too long.
    pub a: String,
    /// The property in the second store.
    pub b: String,
    /// The differing elements.
    pub values: Option<FoundValues>,
    /// The kinds of the errors in the first and the second store, if `what` is `unreadable`.
    pub causes: [Option<ErrorKind>; 2],
}

/// Elements that differ.
#[derive(Clone, Debug)]
pub struct FoundValues {
    /// Their number, and the first of them.
    pub tally: Tally,
    /// The positions of the first of them, in the array of the first store.
    pub at: Vec<FoundAt>,
    /// Whether a tolerance could make them equal.
    pub floats: bool,
}

/// The position of an element in its array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FoundAt {
    /// Its index along each dimension.
    Index(Vec<u64>),
    /// The coordinates of a cell of a sparse array, as JSON.
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

/// Such as `[4, 0]`.
impl fmt::Display for FoundAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}]", self.parts().join(", "))
    }
}

/// The kind of an object or attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// A group.
    Group,
    /// An array or a dimension with coordinates.
    Array,
    /// A dimension without coordinates.
    Dimension,
    /// A named datatype.
    Datatype,
    /// A link.
    Link,
    /// An attribute.
    Attribute,
    /// An object that cannot be read.
    Unreadable,
}

impl Subject {
    /// The name of the kind.
    pub const fn name(self) -> &'static str {
        match self {
            Subject::Group => "group",
            Subject::Array => "array",
            Subject::Dimension => "dimension",
            Subject::Datatype => "datatype",
            Subject::Link => "link",
            Subject::Attribute => "attribute",
            Subject::Unreadable => "unreadable",
        }
    }
}

/// The side that has an object or attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum On {
    /// Only the first.
    A,
    /// Only the second.
    B,
    /// Both, with differences.
    Both,
}

/// The numbers of differing objects and attributes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
    /// Objects and attributes that cannot be read on a side, and so cannot be compared.
    pub unreadable: u64,
    /// The virtual arrays whose sources do not exist, so that fill values were compared. That alone is not a
    /// difference.
    pub missing: Vec<MissingIn>,
}

/// A virtual array whose sources do not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingIn {
    /// The side that has it: [`On::A`] or [`On::B`].
    pub on: On,
    /// The path of the array.
    pub path: NodePath,
    /// The sources.
    pub sources: MissingSources,
}

impl Summary {
    /// Whether nothing differs.
    pub fn is_same(&self) -> bool {
        self.label().is_empty()
    }

    /// A text such as `2 arrays and 2 attributes differ`; empty if nothing differs.
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

/// Calls `found` with every difference between two stores, or two objects of them. Calls `progress` with the current
/// object and the total number of bytes of elements compared so far.
///
/// An object that cannot be read differs from everything; the others are still compared.
///
/// ```
/// use hyperslab::diff::{DiffOptions, Side, diff};
/// use hyperslab::location::Locator;
/// use hyperslab::{OpenOptions, open};
///
/// let source = open("../../examples/ocean.nc".as_ref(), &OpenOptions::default())?;
/// let at = |text| Ok::<_, hyperslab::Error>(Locator::parse(text).targets(&*source)?.remove(0));
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
/// Any error of `found`; if an object is compared with an attribute; if an attribute does not exist; if the
/// selections do not fit an array.
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
        show: element_text,
    };
    let mut reporter = Reporter { found, summary: Summary::default() };
    match (&a.target.attribute, &b.target.attribute) {
        (None, None) => objects::compare(a, b, &rules, options, progress, &mut reporter)?,
        (Some(x), Some(y)) => attributes(a, b, (x, y), &rules, &mut reporter)?,
        _ => return Err(Error::invalid("an attribute can be compared with an attribute alone")),
    }
    a.source.pool().check()?;
    b.source.pool().check()?;
    Ok(reporter.summary)
}

/// Compares all elements of two arrays of equal shape.
///
/// # Errors
/// If one of the two cannot be read.
pub(crate) fn all_elements(
    a: (&dyn Source, &Entry),
    b: (&dyn Source, &Entry),
    tolerance: Tolerance,
    max_reported: usize,
) -> Result<Tally> {
    let whole = |(source, entry): (&dyn Source, &Entry)| match &entry.item {
        Item::Array { shape, .. } => Ok((source.array(&entry.handle)?, Selected::new(source, &[], shape)?)),
        _ => Err(Error::invalid("has no elements")),
    };
    let ((a, in_a), (b, in_b)) = (whole(a)?, whole(b)?);
    let rules = Rules { tolerance, max_reported, show: element_text, ..Rules::EXACT };
    let operands = (Operand { array: &*a, selected: &in_a }, Operand { array: &*b, selected: &in_b });
    match values::compare(operands.0, operands.1, &rules, &mut |_| {}) {
        Ok((tally, _)) => Ok(tally),
        Err(Failed { a, b }) => Err(a.or(b).unwrap_or_else(|| Error::invalid("cannot be read"))),
    }
}

/// The format of the content, or its original format if the store is a document.
pub(crate) fn format_of(source: &dyn Source) -> &str {
    source.origin().map_or(source.format(), |origin| &origin.format)
}

/// An element as JSON, or as a text for numbers that JSON does not have.
pub(crate) fn element_text(element: ElementRef<'_>) -> String {
    match element.get() {
        Element::Float(number) if !number.is_finite() => format!("{number}").to_lowercase(),
        _ => hyperslab_ndl::json(element),
    }
}

/// The callback for differences, and the numbers of differences.
struct Reporter<'a> {
    found: &'a mut dyn FnMut(Found) -> Result<()>,
    summary: Summary,
}

impl Reporter<'_> {
    fn report(&mut self, found: Found) -> Result<()> {
        (self.found)(found)
    }
}

fn attributes(
    a: Side<'_>,
    b: Side<'_>,
    names: (&str, &str),
    rules: &Rules,
    reporter: &mut Reporter<'_>,
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
    objects::report(differences, Subject::Attribute, reporter)
}

/// The kind of an entry.
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
