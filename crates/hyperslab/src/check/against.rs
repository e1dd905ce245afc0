//! Compares data with a document, the contract: all of its statements must hold. Anything that it does not state is
//! free.

mod datatype;
mod rule;
mod storage;
mod value;

pub use rule::RULES;

use crate::report::{Finding, FindingPlace, Report};
use crate::source::{Entry, Handle, Item, Source};
use crate::target::conventions::{MARKS, mark_in_type};
use crate::walk::{Step, walk};
use datatype::fits;
use hyperslab_core::check::Rule;
use hyperslab_core::{ErrorKind, Result};
use hyperslab_model::{
    Attribute, Attributes, Datatype, Dimension, Extent, Link, Node, NodeKind, NodePath, Shape, Storage,
    Unreadable,
};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// Options of [`against`].
#[derive(Clone, Copy, Debug, Default)]
pub struct AgainstOptions {
    /// Adds a note for each object and attribute that the contract does not name.
    pub unnamed: bool,
}

/// Compares `data` with `contract`, usually a document.
///
/// ```
/// use hyperslab::check::{AgainstOptions, against};
/// use hyperslab::{OpenOptions, open, open_storage};
///
/// let text = "ndarrays:\n  salinity: {type: float64, attributes: {units: \"1\"}}\n";
/// let contract = open_storage(Box::new(bytes::Bytes::from(text)), &OpenOptions::default())?;
/// let ocean = open("../../examples/ocean.nc".as_ref(), &OpenOptions::default())?;
/// let report = against(&*ocean, &*contract, &AgainstOptions::default())?;
/// let found: Vec<_> = report.findings.iter().map(|finding| finding.message.as_str()).collect();
/// assert_eq!(found, ["float32, the contract says float64"]);
/// # Ok::<(), hyperslab::Error>(())
/// ```
///
/// # Errors
/// If the root of either, or an array of the contract, cannot be read.
pub fn against(data: &dyn Source, contract: &dyn Source, options: &AgainstOptions) -> Result<Report> {
    let mut holding =
        Holding { data, contract, options, named: FxHashSet::default(), report: Report::default() };
    let root = contract.find(&NodePath::root())?;
    data.find(&NodePath::root())?;
    match root.item {
        Item::Group => walk(contract, &root.handle, &mut |step| match step {
            Step::Enter(group, _) => holding.object(&Entry { handle: group.clone(), item: Item::Group }),
            Step::Member(entry) => holding.object(entry),
            Step::Leave(_) => Ok(()),
        })?,
        _ => holding.object(&root)?,
    }
    if options.unnamed {
        holding.note_unnamed()?;
    }
    data.pool().check()?;
    Ok(holding.report)
}

struct Holding<'a> {
    data: &'a dyn Source,
    contract: &'a dyn Source,
    options: &'a AgainstOptions,
    /// The paths of the objects that the contract names.
    named: FxHashSet<NodePath>,
    report: Report,
}

impl Holding<'_> {
    /// Compares the object at a path of the contract.
    fn object(&mut self, stated: &Entry) -> Result<()> {
        let path = &stated.handle.path;
        if self.options.unnamed {
            self.named.insert(path.clone());
        }
        if let Item::Unreadable(_) = stated.item {
            // The author of the contract could not read this object.
            return Ok(());
        }
        let found = match self.data.find(path) {
            Ok(found) => found,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                // If a group is missing, its members are not reported.
                if path.parent().is_none_or(|group| self.data.find(&group).is_ok()) {
                    let kind = noun(stated.item.kind());
                    self.find(&rule::MISSING, path, None, format!("is missing, the contract has {kind}"));
                }
                return Ok(());
            }
            Err(error) => return self.unreadable(path, None, error.detail()),
        };
        if let Item::Link(link) = &stated.item {
            return self.link(path, link, &found);
        }
        if let Item::Unreadable(Unreadable { reason, .. }) = &found.item {
            return self.unreadable(path, None, reason);
        }
        let (is, expected) = (found.item.kind(), stated.item.kind());
        if is != expected {
            let message = format!("{}, the contract says {}", noun(is), noun(expected));
            self.find(&rule::KIND, path, None, message);
            return Ok(());
        }
        let expected = self.contract.load(&stated.handle)?;
        match self.data.load(&found.handle) {
            Ok(Node::Unreadable(Unreadable { reason, .. })) => self.unreadable(path, None, &reason),
            Ok(is) => self.node(path, (&found.handle, &is), (&stated.handle, &expected)),
            Err(error) => self.unreadable(path, None, error.detail()),
        }
    }

    fn node(
        &mut self,
        path: &NodePath,
        (found, is): (&Handle, &Node),
        (stated, expected): (&Handle, &Node),
    ) -> Result<()> {
        if let (Some(attributes), Some(expected)) = (is.attributes(), expected.attributes()) {
            self.attributes(path, is.datatype(), attributes, expected);
        }
        match (is, expected) {
            (Node::Group(is), Node::Group(expected)) => {
                self.storage(path, (None, &is.storage), (None, &expected.storage));
                return self.cells(path, found, stated);
            }
            (Node::Datatype(is), Node::Datatype(expected)) => {
                let (is_type, expected_type) = (Some(&is.datatype), Some(&expected.datatype));
                self.types(path, is_type, expected_type);
                self.storage(path, (is_type, &is.storage), (expected_type, &expected.storage));
            }
            (Node::DimCoord(is), Node::DimCoord(expected)) => {
                let fits = self.extents(path, &[is.size], &[expected.size]);
                let (is_type, expected_type) = (is.datatype.as_ref(), expected.datatype.as_ref());
                let same = self.types(path, is_type, expected_type);
                self.storage(path, (is_type, &is.storage), (expected_type, &expected.storage));
                if fits && same && expected_type.is_some() {
                    return self.values(path, found, stated);
                }
            }
            (Node::Ndarray(is), Node::Ndarray(expected)) => {
                let fits = self.shape(path, &is.shape, &expected.shape);
                let (is_type, expected_type) = (is.datatype.as_ref(), expected.datatype.as_ref());
                let same = self.types(path, is_type, expected_type);
                self.storage(path, (is_type, &is.storage), (expected_type, &expected.storage));
                if fits && same && expected_type.is_some() {
                    return self.values(path, found, stated);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Whether elements have the datatype that the contract states.
    fn types(
        &mut self,
        path: &NodePath,
        is: Option<&Arc<Datatype>>,
        expected: Option<&Arc<Datatype>>,
    ) -> bool {
        let Some(expected) = expected else { return true };
        if is.is_some_and(|is| fits(is, expected)) {
            return true;
        }
        let is = is.map_or_else(|| "no type".to_owned(), |is| datatype::shown(is));
        let message = format!("{is}, the contract says {}", datatype::shown(expected));
        self.find(&rule::TYPE, path, None, message);
        false
    }

    fn shape(&mut self, path: &NodePath, is: &Shape, expected: &Shape) -> bool {
        let (is, expected) = match (is, expected) {
            (_, Shape::Unsaid) | (Shape::Null, Shape::Null) => return true,
            (Shape::Dims(is), Shape::Dims(expected)) if is.len() == expected.len() => (is, expected),
            _ => {
                let message = format!("{}, the contract says {}", shape_text(is), shape_text(expected));
                self.find(&rule::SHAPE, path, None, message);
                return false;
            }
        };
        for (number, (is, expected)) in is.iter().zip(expected).enumerate() {
            let Some(coordinate) = &expected.coordinate else { continue };
            if is.coordinate.as_ref() != Some(coordinate) {
                let is = is.coordinate.as_ref().map_or("no name".to_owned(), ToString::to_string);
                let message = format!("dimension {number} has {is}, the contract says {coordinate}");
                self.find(&rule::DIMENSION, path, None, message);
            }
        }
        // The possible length of a shared dimension is stated by its dimcoord. HDF5 also stores it in each array; a
        // document does not.
        let own = |(is, expected): (&Dimension, &Dimension)| {
            let shared = expected.coordinate.is_some() && is.extent.current() == expected.extent.current();
            if shared { expected.extent } else { is.extent }
        };
        let extents: Vec<_> = is.iter().zip(expected).map(own).collect();
        self.extents(path, &extents, &expected.iter().map(|dimension| dimension.extent).collect::<Vec<_>>())
    }

    /// Whether dimensions have the lengths and maximum lengths that the contract states.
    fn extents(&mut self, path: &NodePath, is: &[Extent], expected: &[Extent]) -> bool {
        let fits = |(is, expected): (&Extent, &Extent)| match (is, expected) {
            // The current length of an unlimited dimension is compared only if it is not 0.
            (Extent::Unlimited { .. }, Extent::Unlimited { current: 0 }) => true,
            (is, expected) => is == expected,
        };
        if is.iter().zip(expected).all(fits) {
            return true;
        }
        let message = format!("{}, the contract says {}", extents_text(is), extents_text(expected));
        self.find(&rule::SHAPE, path, None, message);
        false
    }

    /// Compares attributes. `datatype` is that of the elements.
    fn attributes(
        &mut self,
        path: &NodePath,
        datatype: Option<&Arc<Datatype>>,
        is: &Attributes,
        expected: &Attributes,
    ) {
        for (name, expected) in expected {
            let Ok(expected) = expected else { continue };
            match is.get(name) {
                None => {
                    let value = value::shown(&expected.datatype, &expected.value);
                    let message = format!("is missing, the contract says {value}");
                    self.find(&rule::ATTRIBUTE_MISSING, path, Some(name), message);
                }
                Some(Err(unreadable)) => {
                    let message = format!("cannot be read: {}", unreadable.reason);
                    self.find(&rule::UNREADABLE, path, Some(name), message);
                }
                Some(Ok(is)) => {
                    // The value as `create` writes it. A number that the type cannot represent is reported as stated.
                    let in_type = datatype
                        .filter(|_| MARKS.contains(&name.as_str()) && self.contract.is_text())
                        .and_then(|datatype| mark_in_type(expected, datatype).ok().flatten())
                        .filter(|expected| is.datatype.resolved() == expected.datatype.resolved());
                    self.attribute(path, name, is, in_type.as_ref().unwrap_or(expected));
                }
            }
        }
    }

    fn attribute(&mut self, path: &NodePath, name: &str, is: &Attribute, expected: &Attribute) {
        if !fits(&is.datatype, &expected.datatype) {
            let (is, expected) = (datatype::shown(&is.datatype), datatype::shown(&expected.datatype));
            let message = format!("{is}, the contract says {expected}");
            self.find(&rule::ATTRIBUTE_TYPE, path, Some(name), message);
        } else if is.shape != expected.shape {
            let text =
                |shape: &Option<Vec<u64>>| shape.as_ref().map_or("null".into(), |shape| format!("{shape:?}"));
            let message = format!("{}, the contract says {}", text(&is.shape), text(&expected.shape));
            self.find(&rule::ATTRIBUTE_SHAPE, path, Some(name), message);
        } else if !value::same(&is.datatype, &is.value, &expected.datatype, &expected.value) {
            let (is, expected) =
                (value::shown(&is.datatype, &is.value), value::shown(&expected.datatype, &expected.value));
            self.find(
                &rule::ATTRIBUTE_VALUE,
                path,
                Some(name),
                format!("{is}, the contract says {expected}"),
            );
        }
        let mut differences = Vec::new();
        storage::elements(&is.storage, &expected.storage, "", &mut differences);
        storage::directives(self.format(), &expected.native, &is.native, &mut differences);
        for message in differences {
            self.find(&rule::STORAGE, path, Some(name), message);
        }
    }

    fn storage(
        &mut self,
        path: &NodePath,
        (is_type, is): (Option<&Arc<Datatype>>, &Storage),
        (expected_type, expected): (Option<&Arc<Datatype>>, &Storage),
    ) {
        let (is, expected) = ((is_type.map(|one| &**one), is), (expected_type.map(|one| &**one), expected));
        for message in storage::differences(self.format(), is, expected) {
            self.find(&rule::STORAGE, path, None, message);
        }
    }

    /// The formats whose directives apply to the data. `None` for a document, which may have directives of every
    /// format.
    fn format(&self) -> Option<&'static [&'static str]> {
        self.data.dialect().directives
    }

    fn link(&mut self, path: &NodePath, expected: &Link, found: &Entry) -> Result<()> {
        let is_same = match (&found.item, expected) {
            (Item::Link(is), expected) if is == expected => true,
            // If an object has several paths, any of them may be its first.
            (Item::Link(_), _) => false,
            (_, Link::Hard(target)) => {
                self.data.find(target).is_ok_and(|target| target.handle.id == found.handle.id)
            }
            _ => false,
        };
        if is_same {
            return Ok(());
        }
        match &found.item {
            Item::Unreadable(unreadable) => return self.unreadable(path, None, &unreadable.reason),
            Item::Link(is) => {
                let message = format!("{}, the contract says {}", link_text(is), link_text(expected));
                self.find(&rule::LINK, path, None, message);
            }
            item => {
                let message = format!("{}, the contract says {}", noun(item.kind()), link_text(expected));
                self.find(&rule::LINK, path, None, message);
            }
        }
        Ok(())
    }

    fn unreadable(&mut self, path: &NodePath, attribute: Option<&str>, reason: &str) -> Result<()> {
        self.find(&rule::UNREADABLE, path, attribute, format!("cannot be read: {reason}"));
        Ok(())
    }

    fn find(&mut self, rule: &'static Rule, path: &NodePath, attribute: Option<&str>, message: String) {
        let object = match attribute {
            Some(name) => format!("{path}@{name}"),
            None => path.to_string(),
        };
        self.report.findings.push(Finding {
            severity: rule.severity,
            rule: rule.name,
            message,
            hint: None,
            place: FindingPlace::Contract { object, said: self.contract.place(path) },
        });
    }

    /// Reports objects that the contract does not name, but not the members of such groups.
    fn note_unnamed(&mut self) -> Result<()> {
        let root = self.data.find(&NodePath::root())?;
        let mut unnamed = Vec::new();
        let mut visit = |handle: &Handle, item: &Item| {
            let path = &handle.path;
            if path.parent().is_some_and(|group| !self.named.contains(&group)) {
                return;
            }
            if !self.named.contains(path) {
                return unnamed.push((path.clone(), None, noun(item.kind())));
            }
            if let Item::Link(_) = item {
                // The target of a link is reported at its own path.
                return;
            }
            let (Ok(is), Ok(expected)) = (self.data.load(handle), self.contract.find(path)) else { return };
            let Ok(expected) = self.contract.load(&expected.handle) else { return };
            let known = |name: &String| expected.attributes().is_some_and(|known| known.contains_key(name));
            for name in is.attributes().into_iter().flat_map(|attributes| attributes.keys()) {
                if !known(name) {
                    unnamed.push((path.clone(), Some(name.clone()), "an attribute"));
                }
            }
        };
        match root.item {
            Item::Group => walk(self.data, &root.handle, &mut |step| {
                match step {
                    Step::Enter(group, _) => visit(group, &Item::Group),
                    Step::Member(entry) => visit(&entry.handle, &entry.item),
                    Step::Leave(_) => {}
                }
                Ok(())
            })?,
            item => visit(&root.handle, &item),
        }
        for (path, attribute, kind) in unnamed {
            let message = format!("{kind} that the contract does not name");
            self.find(&rule::UNNAMED, &path, attribute.as_deref(), message);
        }
        Ok(())
    }
}

fn noun(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::Group => "a group",
        NodeKind::DimCoord => "a dimcoord",
        NodeKind::Ndarray => "an ndarray",
        NodeKind::Datatype => "a datatype",
        NodeKind::Link => "a link",
        NodeKind::Unreadable => "an object that cannot be read",
    }
}

fn link_text(link: &Link) -> String {
    match link {
        Link::Hard(path) => format!("a link to {path}"),
        Link::Soft(target) => format!("a soft link to {target}"),
        Link::External { file, path } => format!("a link to {path} of {file}"),
        Link::User { class, .. } => format!("a user link of class {class}"),
    }
}

fn shape_text(shape: &Shape) -> String {
    match shape {
        Shape::Unsaid => "no shape".into(),
        Shape::Null => "a null dataspace".into(),
        Shape::Dims(dims) => extents_text(&dims.iter().map(|dimension| dimension.extent).collect::<Vec<_>>()),
    }
}

/// Such as `[9/inf, 3]`, or `[*/inf, 3]` if the length is free or 0.
fn extents_text(extents: &[Extent]) -> String {
    let text = |extent: &Extent| match extent {
        Extent::Fixed(size) => size.to_string(),
        Extent::Limited { current, max } => format!("{current}/{max}"),
        Extent::Unlimited { current: 0 } => "*/inf".into(),
        Extent::Unlimited { current } => format!("{current}/inf"),
        Extent::Uncounted => "*".into(),
    };
    format!("[{}]", extents.iter().map(text).collect::<Vec<_>>().join(", "))
}
