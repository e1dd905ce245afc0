//! Walks two trees in parallel.

use super::cells;
use super::values::{self, Failed, Operand};
use super::{
    DiffOptions, Found, FoundAt, FoundValues, MissingIn, On, Reporter, Side, Subject, format_of, subject,
};
use crate::cells::{CellColumn, CellSource};
use crate::list::{Counts, type_label};
use crate::meaning::type_fill_attribute;
use crate::select::{self, Selected};
use crate::source::{ArraySource, Asked, Handle, Item, Source};
use crate::walk::{MetGroups, Step, walk};
use hyperslab_core::{Error, Result};
use hyperslab_model::{
    Datatype, Difference, Float, Link, Node, NodeKind, NodePath, Rules, Shape, Unreadable,
};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Compares two targets.
pub(super) fn compare(
    a: Side<'_>,
    b: Side<'_>,
    rules: &Rules,
    options: &DiffOptions,
    progress: &mut dyn FnMut(&NodePath, u64),
    reporter: &mut Reporter<'_>,
) -> Result<()> {
    let (x, y) = (&a.target.entry, &b.target.entry);
    let is_typed = format_of(a.source) != format_of(b.source);
    let mut diff = Diff {
        a: Tree::new(a, is_typed),
        b: Tree::new(b, is_typed),
        rules,
        options,
        progress,
        reporter,
        compared: 0,
        columns: FxHashMap::default(),
    };
    match (&x.item, &y.item) {
        (Item::Group, Item::Group) => diff.groups(x.handle.clone(), y.handle.clone()),
        (item, other) => diff.pair(
            &Member { handle: x.handle.clone(), item: Kept::of(item), subject: subject(x) },
            &Member { handle: y.handle.clone(), item: Kept::of(other), subject: subject(y) },
        ),
    }
}

/// One of the two trees.
struct Tree<'a> {
    source: &'a dyn Source,
    root: NodePath,
    met: MetGroups,
    /// The elements that were read.
    asked: Asked,
    /// Whether attributes that the format stores in a form of its own are compared in the type of the elements.
    is_typed: bool,
}

/// A member of a group, in compact form.
struct Member {
    handle: Handle,
    item: Kept,
    subject: Subject,
}

/// The part of an entry that is not loaded again.
enum Kept {
    Group,
    Link(Box<Link>),
    Unreadable(Box<Unreadable>),
    Loaded,
}

impl Kept {
    fn of(item: &Item) -> Self {
        match item {
            Item::Group => Kept::Group,
            Item::Link(link) => Kept::Link(Box::new(link.clone())),
            Item::Unreadable(unreadable) => Kept::Unreadable(Box::new(unreadable.clone())),
            Item::Array { .. } | Item::Datatype(_) => Kept::Loaded,
        }
    }
}

impl<'a> Tree<'a> {
    fn new(side: Side<'a>, is_typed: bool) -> Self {
        let handle = &side.target.entry.handle;
        let (root, met) = (handle.path.clone(), MetGroups::beginning_with(handle));
        Tree { source: side.source, root, met, asked: Asked::default(), is_typed }
    }

    fn members(&mut self, group: &Handle) -> Result<Vec<Member>> {
        let entries = self.source.members(group)?;
        let mut members = Vec::with_capacity(entries.len());
        for mut entry in entries {
            // An object whose first path is outside the compared tree is first reached here.
            if let Item::Link(Link::Hard(first)) = &entry.item
                && !first.is_within(&self.root)
                && let Ok(found) = self.source.find(&entry.handle.path)
            {
                entry = found;
            }
            self.met.note(self.source, &mut entry);
            members.push(Member {
                subject: subject(&entry),
                item: Kept::of(&entry.item),
                handle: entry.handle,
            });
        }
        Ok(members)
    }

    fn load(&self, member: &Member) -> Node {
        match &member.item {
            Kept::Link(link) => Node::Link((**link).clone()),
            Kept::Unreadable(unreadable) => Node::Unreadable((**unreadable).clone()),
            Kept::Group | Kept::Loaded => match self.loaded(&member.handle) {
                Ok(mut node) => {
                    crate::formats::strip_default_directives(&mut node);
                    node
                }
                Err(error) => Node::Unreadable(Unreadable::new(None, &error)),
            },
        }
    }

    fn loaded(&self, handle: &Handle) -> Result<Node> {
        let mut node = self.source.load(handle)?;
        if self.is_typed {
            type_fill_attribute(self.source, handle, &mut node)?;
        }
        Ok(node)
    }

    fn array(&self, handle: &Handle, selected: &Selected) -> Result<Arc<dyn ArraySource>> {
        let array = self.source.array(handle)?;
        self.asked.check(self.source, &*array, &selected.counts())?;
        Ok(array)
    }

    /// The text of an object that is not on the other side.
    fn label(&self, member: &Member) -> String {
        match &member.item {
            Kept::Link(link) => link.to_string(),
            Kept::Unreadable(unreadable) => format!("unreadable: {}", unreadable.reason),
            Kept::Group => match self.counts(&member.handle) {
                Some(counts) if counts != Counts::default() => format!("group: {}", counts.label()),
                _ => "group".into(),
            },
            Kept::Loaded => {
                let found = self.source.find(&member.handle.path);
                let Ok(entry) = found else { return String::new() };
                match &entry.item {
                    Item::Array { kind, datatype, shape, .. } => {
                        let shape = match (kind, shape) {
                            (NodeKind::DimCoord, Shape::Dims(dims)) => {
                                format!(
                                    "[{}]",
                                    dims.first().map_or_else(String::new, |d| d.extent.to_string())
                                )
                            }
                            (_, shape) => shape.to_string(),
                        };
                        match datatype {
                            Some(_) => format!("{} {shape}", type_label(&entry.item)),
                            None => format!("dimension {shape}"),
                        }
                    }
                    item => type_label(item).into_owned(),
                }
            }
        }
    }

    /// The number of members of a group that is not on the other side.
    fn counts(&self, group: &Handle) -> Option<Counts> {
        let mut counts = Counts::default();
        let walked = walk(self.source, group, &mut |step| {
            match step {
                Step::Enter(entered, _) if entered.path != group.path => counts.groups += 1,
                Step::Member(entry) => counts.add(&entry.item),
                Step::Enter(..) | Step::Leave(_) => {}
            }
            Ok(())
        });
        walked.is_ok().then_some(counts)
    }
}

struct Diff<'a, 'p, 't> {
    a: Tree<'a>,
    b: Tree<'a>,
    rules: &'a Rules,
    options: &'a DiffOptions,
    progress: &'p mut dyn FnMut(&NodePath, u64),
    reporter: &'p mut Reporter<'t>,
    /// The number of compared bytes of elements.
    compared: u64,
    /// The columns of sparse arrays, which were compared with their group, and their differences.
    columns: FxHashMap<NodePath, Compared>,
}

impl Diff<'_, '_, '_> {
    /// Compares two groups and everything below them.
    fn groups(&mut self, a: Handle, b: Handle) -> Result<()> {
        let mut pending = vec![(a, b)];
        while let Some((a, b)) = pending.pop() {
            self.a.source.pool().check()?;
            (self.progress)(&a.path, self.compared);
            let own = |handle: &Handle| Member {
                handle: handle.clone(),
                item: Kept::Group,
                subject: Subject::Group,
            };
            self.pair(&own(&a), &own(&b))?;
            let (members, others) = match (self.a.members(&a), self.b.members(&b)) {
                (Ok(members), Ok(others)) => (members, others),
                (x, y) => {
                    let difference = unreadable(&a.path, [x.err(), y.err()]);
                    report(vec![difference], Subject::Unreadable, self.reporter)?;
                    continue;
                }
            };
            let mut common = self.members((&a, members), (&b, others))?;
            common.reverse();
            pending.append(&mut common);
        }
        Ok(())
    }

    /// Compares the members of two groups. Returns the subgroups of both, which are not yet compared.
    fn members(
        &mut self,
        (a, members): (&Handle, Vec<Member>),
        (b, others): (&Handle, Vec<Member>),
    ) -> Result<Vec<(Handle, Handle)>> {
        let key = |group: &Handle, member: &Member| {
            member.handle.path.relative_to(&group.path).unwrap_or_default().to_owned()
        };
        let mut by_name: FxHashMap<String, usize> =
            others.iter().enumerate().map(|(at, member)| (key(b, member), at)).collect();
        let (mut common, mut places) = (Vec::new(), Vec::new());
        for member in &members {
            let other = by_name.remove(&key(a, member));
            let Some((at, other)) = other.and_then(|at| Some((at, others.get(at)?))) else {
                self.lacking(member, On::A)?;
                continue;
            };
            places.push(at);
            match (&member.item, &other.item) {
                (Kept::Group, Kept::Group) => common.push((member.handle.clone(), other.handle.clone())),
                _ => self.pair(member, other)?,
            }
        }
        let mut lacking: Vec<usize> = by_name.into_values().collect();
        lacking.sort_unstable();
        for member in lacking.into_iter().filter_map(|at| others.get(at)) {
            self.lacking(member, On::B)?;
        }
        if self.rules.order && !places.is_sorted() {
            let names = |places: &[usize]| {
                let members = places.iter().filter_map(|at| others.get(*at));
                members.map(|member| member.handle.path.name().to_owned()).collect::<Vec<_>>().join(", ")
            };
            let in_a = names(&places);
            places.sort_unstable();
            let difference = Difference::new(&a.path, "order of members", in_a, names(&places));
            report(vec![difference], Subject::Group, self.reporter)?;
        }
        Ok(common)
    }

    /// Reports a member that only one side has.
    fn lacking(&mut self, member: &Member, on: On) -> Result<()> {
        let tree = if on == On::A { &self.a } else { &self.b };
        let label = tree.label(member);
        let (a, b) = if on == On::A { (label, String::new()) } else { (String::new(), label) };
        self.reporter.summary.add(member.subject);
        self.reporter.report(Found {
            path: member.handle.path.to_string(),
            subject: member.subject,
            on,
            what: "presence",
            a,
            b,
            values: None,
            causes: [None; 2],
        })
    }

    /// Compares two objects without their members.
    fn pair(&mut self, a: &Member, b: &Member) -> Result<()> {
        let (x, y) = (self.a.load(a), self.b.load(b));
        let mut differences = Vec::new();
        self.rules.nodes(&a.handle.path, &x, &y, &mut differences);
        if let (Node::Group(_), Node::Group(_)) = (&x, &y) {
            self.cells(&a.handle, &b.handle, &mut differences)?;
        }
        let column = self.columns.remove(&a.handle.path);
        let compared = match (column, array_of(&x, &a.handle.path), array_of(&y, &b.handle.path)) {
            (Some(compared), Some(_), Some(_)) => compared,
            (None, Some((t, v)), Some((u, w))) if t.is_comparable(u) => {
                (self.progress)(&a.handle.path, self.compared);
                self.values((&a.handle, t, &v), (&b.handle, u, &w))?
            }
            _ => Compared::Nothing,
        };
        let subject = if a.subject == Subject::Dimension { b.subject } else { a.subject };
        let found = match compared {
            Compared::Nothing => None,
            Compared::Unreadable(errors) => {
                differences.push(unreadable(&a.handle.path, errors));
                None
            }
            Compared::Selected(x, y) => {
                differences.push(Difference::new(&a.handle.path, "shape of the selection", x, y));
                None
            }
            Compared::Values(found) => (found.tally.differing > 0).then_some(found),
        };
        let counted = differences.iter().any(|d| d.attribute.is_none());
        report(differences, subject, self.reporter)?;
        let Some(found) = found else { return Ok(()) };
        if !counted {
            self.reporter.summary.add(subject);
        }
        self.reporter.report(Found {
            path: a.handle.path.to_string(),
            subject,
            on: On::Both,
            what: "values",
            a: String::new(),
            b: String::new(),
            values: Some(found),
            causes: [None; 2],
        })
    }

    /// Compares the cells of two groups, if both are sparse arrays with cells.
    fn cells(&mut self, a: &Handle, b: &Handle, differences: &mut Vec<Difference>) -> Result<()> {
        let (x, y) = match (self.a.source.cells(a), self.b.source.cells(b)) {
            (Ok(Some(x)), Ok(Some(y))) => (x, y),
            (Ok(_), Ok(_)) => return Ok(()),
            (x, y) => {
                differences.push(unreadable(&a.path, [x.err(), y.err()]));
                return Ok(());
            }
        };
        let ranges = |tree: &Tree<'_>, group: &Handle, of: &dyn CellSource| {
            select::ranges(tree.source, group, of.columns(), &self.options.select)
                .map_err(|e| e.in_object(&group.path))
        };
        let selected = (ranges(&self.a, a, &*x)?, ranges(&self.b, b, &*y)?);
        let names = |columns: &[CellColumn]| {
            columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>().join(", ")
        };
        let (in_a, in_b) = (names(x.columns()), names(y.columns()));
        if in_a != in_b {
            differences.push(Difference::new(&a.path, "columns", in_a, in_b));
        }
        let (compared, progress) = (&mut self.compared, &mut *self.progress);
        let mut done = |bytes: u64| {
            *compared = compared.saturating_add(bytes);
            progress(&a.path, *compared);
        };
        let mut values = match cells::compare((&*x, selected.0), (&*y, selected.1), self.rules, &mut done) {
            Ok(None) => FxHashMap::default(),
            Ok(Some(matched)) => {
                if !matched.is_same() {
                    let [in_a, in_b] = matched.sides.each_ref().map(cells::Counted::label);
                    differences.push(Difference::new(&a.path, "cells", in_a, in_b));
                }
                matched.values
            }
            Err(Failed { a: in_a, b: in_b }) => {
                differences.push(unreadable(&a.path, [in_a, in_b]));
                FxHashMap::default()
            }
        };
        for column in x.columns() {
            let compared = values.remove(&column.name).map_or(Compared::Nothing, Compared::Values);
            self.columns.insert(a.path.child(&column.name), compared);
        }
        Ok(())
    }

    /// Compares the selected elements of two arrays.
    fn values(
        &mut self,
        (a, t, v): (&Handle, &Datatype, &Shape),
        (b, u, w): (&Handle, &Datatype, &Shape),
    ) -> Result<Compared> {
        let (Shape::Dims(_), Shape::Dims(_)) = (v, w) else { return Ok(Compared::Nothing) };
        let select = |tree: &Tree<'_>, handle: &Handle, shape: &Shape| {
            Selected::new(tree.source, &self.options.select, shape).map_err(|e| e.in_object(&handle.path))
        };
        let (x, y) = (select(&self.a, a, v)?, select(&self.b, b, w)?);
        let counts = |selected: &Selected| {
            let counts = selected.counts();
            selected.kept().into_iter().filter_map(|at| counts.get(at).copied()).collect::<Vec<_>>()
        };
        if counts(&x) != counts(&y) {
            // Without a selection, different shapes were already reported.
            let selected = !self.options.select.is_empty() && v.current() == w.current();
            return Ok(match selected {
                true => Compared::Selected(format!("{:?}", counts(&x)), format!("{:?}", counts(&y))),
                false => Compared::Nothing,
            });
        }
        let (array, other) = match (self.a.array(a, &x), self.b.array(b, &y)) {
            (Ok(array), Ok(other)) => (array, other),
            (x, y) => return Ok(Compared::Unreadable([x.err(), y.err()])),
        };
        let before = self.compared;
        let progress = &mut *self.progress;
        let mut done = |bytes| progress(&a.path, before.saturating_add(bytes));
        let operands = (Operand { array: &*array, selected: &x }, Operand { array: &*other, selected: &y });
        let tally = match values::compare(operands.0, operands.1, self.rules, &mut done) {
            Ok((tally, bytes)) => {
                self.compared = before.saturating_add(bytes);
                tally
            }
            Err(Failed { a, b }) => return Ok(Compared::Unreadable([a, b])),
        };
        for (on, path, array) in [(On::A, &a.path, &array), (On::B, &b.path, &other)] {
            let sources = match array.missing_sources() {
                Ok(sources) => sources,
                Err(error) if on == On::A => return Ok(Compared::Unreadable([Some(error), None])),
                Err(error) => return Ok(Compared::Unreadable([None, Some(error)])),
            };
            if !sources.is_empty() {
                self.reporter.summary.missing.push(MissingIn { on, path: path.clone(), sources });
            }
        }
        let at = tally.first.iter().map(|pair| FoundAt::Index(x.position(pair.index))).collect();
        Ok(Compared::Values(FoundValues { tally, at, floats: has_floats(t) || has_floats(u) }))
    }
}

/// The result of comparing elements.
enum Compared {
    Nothing,
    Values(FoundValues),
    /// The selections of arrays of equal shape have different shapes.
    Selected(String, String),
    /// The error of each side that is unreadable.
    Unreadable([Option<Error>; 2]),
}

/// Reports differences of one object, and counts it and its attributes.
pub(super) fn report(
    differences: Vec<Difference>,
    subject: Subject,
    reporter: &mut Reporter<'_>,
) -> Result<()> {
    let mut own = None;
    let mut attributes = BTreeSet::new();
    for Difference { path, attribute, what, a, b, values, shape, causes } in differences {
        let unreadable = what == "unreadable";
        let subject = match (&attribute, unreadable) {
            (_, true) => Subject::Unreadable,
            (Some(_), false) => Subject::Attribute,
            (None, false) => subject,
        };
        match &attribute {
            Some(name) if attributes.insert(name.clone()) => reporter.summary.add(subject),
            None if own.is_none_or(|own| own != subject) => {
                reporter.summary.add(subject);
                own = Some(subject);
            }
            _ => {}
        }
        let on = match what {
            "presence" if b.is_empty() => On::A,
            "presence" => On::B,
            _ => On::Both,
        };
        let path = match attribute {
            Some(name) => format!("{path}@{name}"),
            None => path.to_string(),
        };
        let values = values.map(|tally| FoundValues {
            at: tally.first.iter().map(|pair| FoundAt::Index(position(pair.index, &shape))).collect(),
            floats: tally.largest.is_some_and(|gap| !matches!(gap, hyperslab_model::Gap::Int(_))),
            tally,
        });
        reporter.report(Found { path, subject, on, what, a, b, values, causes })?;
    }
    Ok(())
}

/// An object that one or both stores cannot read.
fn unreadable(path: &NodePath, errors: [Option<Error>; 2]) -> Difference {
    Difference::unreadable(path, errors.map(|error| error.map(|e| (e.kind(), e.reason().to_string()))))
}

/// The index of an element along each dimension, from its row-major number.
fn position(index: u64, shape: &[u64]) -> Vec<u64> {
    let mut rest = index;
    let mut position = vec![0; shape.len()];
    for (position, extent) in position.iter_mut().zip(shape).rev() {
        *position = rest % (*extent).max(1);
        rest /= (*extent).max(1);
    }
    position
}

/// The datatype and shape of an object with elements.
fn array_of<'a>(node: &'a Node, path: &NodePath) -> Option<(&'a Datatype, Shape)> {
    Some((node.datatype()?, node.shape(path)?))
}

pub(super) fn has_floats(datatype: &Datatype) -> bool {
    datatype.any(&|of| match of {
        Datatype::Float(float) | Datatype::Complex(float) => !matches!(float, Float::Quad | Float::Other(_)),
        _ => false,
    })
}
