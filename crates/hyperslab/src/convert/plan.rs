//! Plans a conversion before anything is written.

use super::dimensions::{Outer, forget, growing};
use super::facts::facts;
use super::layout::FilterRule;
use super::made::Made;
use super::names::escaped;
use super::references::References;
use super::texts::Readers;
use super::trial::{Verdict, verdict};
use super::typed::Typed;
use super::{Chunking, ConvertOptions, Loaded, LossReport, Visited, each_object, load};
use crate::cells::{CellColumn, CellQuery};
use crate::list::Counts;
use crate::source::{Entry, Handle, Item, LeftBehind, Source};
use crate::target::conventions::FILL_VALUE;
use crate::target::{Facts, Fate, Filters, Loss, Planned, Planner};
use hyperslab_core::nd::element_count;
use hyperslab_core::{Error, ErrorKind, Remedy, Result};
use hyperslab_model::{Layout, Link, Node, NodePath};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// The plan of a conversion.
#[derive(Debug, Default)]
pub struct Plan {
    /// The number of objects by kind, without the root.
    pub counts: Counts,
    /// The size of the elements of all arrays in bytes.
    pub bytes: u64,
    /// Everything that the target cannot store unchanged.
    pub report: LossReport,
    /// The chunks of all chunked arrays.
    pub chunking: Vec<Chunking>,
    /// The facts about elements that differ from the defaults.
    pub(super) facts: FxHashMap<NodePath, Facts>,
    /// The paths of omitted objects, with what the report states about each.
    pub(super) left_out: FxHashMap<NodePath, LeftOut>,
    /// The lengths of dimensions that can grow, and the findings of the planner.
    pub(super) planned: Planned,
    /// Dimensions that are not converted although arrays of other groups name them.
    pub(super) missing: FxHashSet<NodePath>,
    /// Sparse arrays whose cells the target stores, in the order of declaration.
    pub(super) sparse: Vec<NodePath>,
    /// The columns of these sparse arrays, which have no elements of their own.
    pub(super) columns: FxHashSet<NodePath>,
    /// What is converted in place of objects that the format cannot represent.
    pub(super) made: Made,
}

/// What the report states about an omitted object.
#[derive(Clone, Debug)]
pub(super) struct LeftOut {
    what: String,
    loss: Loss,
}

/// Plans a conversion.
///
/// # Errors
/// If there is no readable root.
pub fn plan(source: &dyn Source, options: &ConvertOptions<'_>) -> Result<Plan> {
    plan_without(source, options, &[])
}

/// As [`plan`], without the arrays that these errors of reading name.
pub(super) fn plan_without(
    source: &dyn Source,
    options: &ConvertOptions<'_>,
    unreadable: &[Error],
) -> Result<Plan> {
    options.format.check_options(&options.native)?;
    let made = Made::of(options.format, options.parts.as_ref(), &options.pool);
    made.with(source, |source| plan_of(source, made.clone(), options, unreadable))
}

/// The plan for a source that contains only objects that the format can represent.
fn plan_of(
    source: &dyn Source,
    made: Made,
    options: &ConvertOptions<'_>,
    unreadable: &[Error],
) -> Result<Plan> {
    let root = source.find(&NodePath::root())?;
    let growing = match options.format.needs_growing() {
        true => Arc::new(growing(source, &root, (options, &made))?),
        false => Arc::default(),
    };
    let planned = Planned { growing: Arc::clone(&growing), ..Planned::default() };
    let mut plan = Plan { planned, made: made.clone(), ..Plan::default() };
    let mut outer = Outer::of(source);
    let mut planner = options.format.planner(&options.native, &growing);
    if planner.has_survey() {
        each_object(source, &root, (options, &made), &mut |visited| {
            let Visited::Object(entry) = visited else { return Ok(()) };
            let dimensions = match &entry.item {
                Item::Array { shape, .. } => shape.dims(),
                _ => &[],
            };
            planner.survey(&entry.handle.path, dimensions);
            Ok(())
        })?;
    }
    // Without a readable root, nothing could be converted.
    source.load(&root.handle)?;
    if matches!(root.item, Item::Group) {
        source.members(&root.handle)?;
    }
    source.unshown().into_iter().for_each(|unshown| plan.report.add_unshown(unshown));
    let mut second_paths = Vec::new();
    let references = References::new(source, options.parts.as_ref(), !options.format.keeps_dangling());
    each_object(source, &root, (options, &made), &mut |visited| {
        let entry = match visited {
            Visited::Object(entry) => entry,
            Visited::Members(group, members) => {
                planner.order_members(group, members, &mut plan.report);
                return Ok(());
            }
        };
        let path = &entry.handle.path;
        if !path.is_root() {
            plan.counts.add(&entry.item);
        }
        // The object is not written, whatever its kind.
        if let Some(group) = plan.left_out_above(path).cloned() {
            plan.report_left_out(path, &group);
            return Ok(());
        }
        match &entry.item {
            Item::Unreadable(why) => plan.leave_out(path, why.reason.clone())?,
            Item::Array { .. }
                if let Some(error) = unreadable.iter().find(|e| e.object() == Some(path.as_str())) =>
            {
                plan.leave_out(path, error.reason().to_string())?;
            }
            // A column of cells that the target does not store.
            Item::Array { .. } if plan.left_out.contains_key(path) => {}
            Item::Array { .. } if plan.columns.contains(path) => {
                let planned = plan.column(source, &entry.handle, options, &mut *planner);
                plan.settle(path, planned)?;
            }
            Item::Link(Link::Hard(first)) => {
                plan.note_names(source, entry, None, options);
                second_paths.push((path.clone(), first.clone()));
            }
            Item::Link(link) => {
                plan.note_names(source, entry, None, options);
                plan.node(path, &Node::Link(link.clone()), &mut *planner)?;
            }
            _ => {
                let planned = plan.object(source, entry, options, &references, (&mut outer, &mut *planner));
                plan.settle(path, planned)?;
            }
        }
        Ok(())
    })?;
    // A link may precede its target, and is omitted with it.
    for (path, first) in second_paths {
        plan.second_path(&path, first, options, &mut *planner)?;
    }
    plan.references_to_left_out(source, &root, options, &references)?;
    if let Some(unused) = options.layout.unused().into_iter().next() {
        return Err(unused);
    }
    plan.planned.outcome = planner.finish(&mut plan.report)?;
    plan.planned.is_whole = plan.left_out.is_empty();
    Ok(plan)
}

/// The reason why an object is not planned.
enum Unplanned {
    /// The object cannot be read. It is omitted and reported.
    Unreadable(String),
    /// The conversion is refused.
    Refused(Error),
}

impl Unplanned {
    fn unreadable(error: Error) -> Unplanned {
        Unplanned::Unreadable(error.reason().to_string())
    }

    /// If a document states something that no store can hold, that is an error of the document.
    fn of_loading(error: Error) -> Unplanned {
        match error.kind() {
            ErrorKind::InvalidArgument => Unplanned::Refused(error),
            _ => Unplanned::unreadable(error),
        }
    }
}

impl From<Error> for Unplanned {
    fn from(error: Error) -> Unplanned {
        Unplanned::Refused(error)
    }
}

impl Plan {
    /// Returns the error if the conversion is refused.
    fn settle(&mut self, path: &NodePath, planned: Result<(), Unplanned>) -> Result<()> {
        match planned {
            Ok(()) => Ok(()),
            Err(Unplanned::Unreadable(reason)) => self.leave_out(path, reason),
            Err(Unplanned::Refused(error)) => Err(error),
        }
    }

    fn object(
        &mut self,
        source: &dyn Source,
        entry: &Entry,
        options: &ConvertOptions<'_>,
        references: &References<'_>,
        (outer, planner): (&mut Outer<'_>, &mut dyn Planner),
    ) -> Result<(), Unplanned> {
        let handle = &entry.handle;
        let path = &handle.path;
        let Loaded { mut node, has_restored_filters, typed, instead_of_fill } =
            load(source, handle, options).map_err(Unplanned::of_loading)?;
        for Typed { name, what, becomes } in typed {
            self.report.add(format!("{path}@{name}"), what, becomes, Fate::Changed);
        }
        if let Some(what) = instead_of_fill {
            let becomes = "the attribute _FillValue, in the type of the elements".to_owned();
            self.report.add(format!("{path}@{FILL_VALUE}"), what, becomes, Fate::Changed);
        }
        if let Some(becomes) = self.made.nullable(path) {
            self.report.add(path.to_string(), "values that can be null".to_owned(), becomes, Fate::Restored);
        }
        let is_untyped = matches!(&node, Node::DimCoord(dimension) if dimension.datatype.is_none());
        if is_untyped && source.has_unshown_elements(handle).map_err(Unplanned::unreadable)? {
            let what = format!("elements that {} does not show", source.format());
            self.report.add(path.to_string(), what, "nothing".to_owned(), Fate::Changed);
        }
        self.leave_behind(source, handle, options)?;
        let mut needs = planner.needs(path, &node);
        // With another fill value, chunks that were never written must be written.
        needs.written |= options.layout.sets_fill(path);
        let readers = Readers::of(source, options.format);
        let mut facts = facts(source, handle, &node, readers.needs(needs)).map_err(Unplanned::unreadable)?;
        if let Node::Unreadable(why) = node {
            return Err(Unplanned::Unreadable(why.reason));
        }
        let elsewhere = [Some(Layout::Virtual), Some(Layout::External)];
        let is_elsewhere = node.storage().is_some_and(|storage| elsewhere.contains(&storage.layout));
        readers.note(path, &node, facts, &mut self.report);
        options.layout.apply(path, &mut node)?;
        if is_elsewhere && !planner.keeps_sources(&node) {
            let missing = source.array(handle).and_then(|array| array.missing_sources());
            let missing = missing.map_err(Unplanned::unreadable)?;
            if !missing.is_empty() {
                let becomes = missing.instead.to_owned();
                self.report.add(path.to_string(), missing.to_string(), becomes, Fate::Lost(Loss::Unreadable));
            }
        }
        outer.note(path, &node, &mut self.missing)?;
        for dimension in forget(&self.missing, &mut node) {
            let what = format!("dimension {dimension}, which is not converted");
            let becomes = "a dimension without a name".to_owned();
            self.report.add(path.to_string(), what, becomes, Fate::Lost(Loss::Names));
        }
        facts.filters = match options.layout.filters(path) {
            Some(FilterRule::List(_)) => Filters::Asked,
            // The elements of a text document have not passed the filters that it describes.
            Some(FilterRule::Keep) if source.is_text() => Filters::Asked,
            Some(FilterRule::Keep) if !has_restored_filters => Filters::Kept,
            Some(FilterRule::Keep) => Filters::Restored,
            None if source.is_text() => Filters::Described,
            None if has_restored_filters => Filters::Restored,
            None if options.format.has_filters_of(source.dialect().title) => Filters::Passed,
            None => Filters::Foreign,
        };
        let verdict = verdict(source, handle, &node, facts, options, &*planner);
        match verdict.map_err(Unplanned::unreadable)? {
            Verdict::Accept => {}
            Verdict::Change => facts.filters_change = true,
            // Filters that the user requested are not replaced.
            Verdict::Reject(error) if facts.filters == Filters::Asked => {
                let why = format!("the filters reject an element: {}", error.detail());
                return Err(Error::invalid(why).in_object(path).into());
            }
            Verdict::Reject(_) => facts.fits_filters = false,
        }
        if facts != Facts::default() {
            self.facts.insert(path.clone(), facts);
        }
        self.bytes = self.bytes.saturating_add(bytes_of(path, &node));
        if options.format.has_chunks() {
            self.chunking.extend(Chunking::of(path, &node, &self.planned.growing));
        }
        for place in references.leading_out(handle, &node).map_err(Unplanned::unreadable)? {
            self.report.add_reference(place);
        }
        self.note_names(source, entry, Some(&node), options);
        self.node(path, &node, planner)?;
        match node {
            Node::Group(_) => self.cells(source, handle, options, planner),
            _ => Ok(()),
        }
    }

    /// Reports names that are written in a form other than the stored one.
    fn note_names(
        &mut self,
        source: &dyn Source,
        entry: &Entry,
        node: Option<&Node>,
        options: &ConvertOptions,
    ) {
        if !source.dialect().escapes_names {
            return;
        }
        for place in escaped(entry, node, options.format.stores_names_as_bytes()) {
            let (what, becomes) =
                ("name that is not UTF-8, or has a slash", "U+FFFD and two digits for each such byte");
            self.report.add(place, what.to_owned(), becomes.to_owned(), Fate::Changed);
        }
    }

    /// Asks the target whether it stores the cells of a sparse array.
    fn cells(
        &mut self,
        source: &dyn Source,
        group: &Handle,
        options: &ConvertOptions<'_>,
        planner: &mut dyn Planner,
    ) -> Result<(), Unplanned> {
        let path = &group.path;
        if let Some(columns) = self.made.columns(path) {
            planner.cells(path, &columns, &mut self.report)?;
            return Ok(());
        }
        let cells = source.cells(group).map_err(Unplanned::unreadable)?;
        let Some(cells) = cells.filter(|_| !self.left_out.contains_key(path)) else { return Ok(()) };
        // The converted members, in the order of the columns: some member lists have the dimensions in another order.
        let members = source.members(group)?;
        let is_converted = |column: &&CellColumn| {
            members.iter().any(|entry| {
                entry.handle.path.name() == column.name
                    && options.parts.as_ref().is_none_or(|parts| parts.has(entry))
            })
        };
        let columns: Vec<CellColumn> = cells.columns().iter().filter(is_converted).cloned().collect();
        let is_stored = match planner.cells(path, &columns, &mut self.report) {
            Ok(is_stored) => is_stored,
            Err(error) => {
                let what = error.reason().to_string();
                self.report.add(path.to_string(), what, "nothing".into(), Fate::Lost(Loss::Types));
                false
            }
        };
        let row = columns.iter().map(|column| column.datatype.row_size().unwrap_or(0) as u64).sum::<u64>();
        let paths = columns.iter().map(|column| path.child(&column.name));
        match is_stored {
            true => {
                let count = cells.count(&CellQuery::default())?;
                self.bytes = self.bytes.saturating_add(count.saturating_mul(row));
                self.sparse.push(path.clone());
                self.columns.extend(paths);
            }
            false => {
                let column = || LeftOut { what: "column of cells".to_owned(), loss: Loss::Sparse };
                self.left_out.extend(paths.map(|path| (path, column())));
            }
        }
        Ok(())
    }

    /// Reports references to objects that turned out to be left out, including those that are visited later.
    fn references_to_left_out(
        &mut self,
        source: &dyn Source,
        root: &Entry,
        options: &ConvertOptions<'_>,
        references: &References<'_>,
    ) -> Result<()> {
        if self.left_out.is_empty() {
            return Ok(());
        }
        let mut places = Vec::new();
        let is_left_out =
            |path: &NodePath| self.left_out.contains_key(path) || self.left_out_above(path).is_some();
        let made = self.made.clone();
        each_object(source, root, (options, &made), &mut |visited| {
            let Visited::Object(entry) = visited else { return Ok(()) };
            let is_written = matches!(entry.item, Item::Group | Item::Array { .. } | Item::Datatype(_));
            if is_written && !is_left_out(&entry.handle.path) {
                let node = source.load(&entry.handle)?;
                places.extend(references.leading_to(&entry.handle, &node, &is_left_out)?);
            }
            Ok(())
        })?;
        places.into_iter().for_each(|place| self.report.add_reference(place));
        Ok(())
    }

    /// Plans a column of cells that the target stores.
    fn column(
        &mut self,
        source: &dyn Source,
        handle: &Handle,
        options: &ConvertOptions<'_>,
        planner: &mut dyn Planner,
    ) -> Result<(), Unplanned> {
        let Loaded { mut node, .. } = load(source, handle, options).map_err(Unplanned::of_loading)?;
        options.layout.apply(&handle.path, &mut node)?;
        self.leave_behind(source, handle, options)?;
        Ok(self.node(&handle.path, &node, planner)?)
    }

    /// Reports what converting an object does not carry over.
    fn leave_behind(
        &mut self,
        source: &dyn Source,
        handle: &Handle,
        options: &ConvertOptions<'_>,
    ) -> Result<(), Unplanned> {
        let (format, place) = (options.format, &handle.path);
        for what in source.left_behind(handle).map_err(Unplanned::unreadable)? {
            let (what, becomes, fate) = match what {
                LeftBehind::History => {
                    ("what was written earlier, and when", "what is read now".to_owned(), Fate::Changed)
                }
                LeftBehind::Encryption if !options.encrypts() => {
                    let hint = format.key_option().map(|key| format!("; the option {key} encrypts them"));
                    let becomes = format!("files that need no key{}", hint.unwrap_or_default());
                    ("encryption", becomes, Fate::Lost(Loss::Encryption))
                }
                LeftBehind::EnumeratedNumbers if !format.has_enumerated_numbers() => {
                    let becomes = "their positions in it".to_owned();
                    ("numbers of an enumeration", becomes, Fate::Changed)
                }
                LeftBehind::Linked => {
                    let what = "positions or counts along a partly selected dimension";
                    let becomes = "the same numbers, which now refer to other elements".to_owned();
                    (what, becomes, Fate::Lost(Loss::References))
                }
                LeftBehind::Encryption | LeftBehind::EnumeratedNumbers => continue,
            };
            self.report.add(place.to_string(), what.to_owned(), becomes, fate);
        }
        Ok(())
    }

    fn node(&mut self, path: &NodePath, node: &Node, planner: &mut dyn Planner) -> Result<()> {
        let facts = self.facts.get(path).copied().unwrap_or_default();
        if let Err(error) = planner.plan(path, node, facts, &mut self.report) {
            // Filters that the user requested are not replaced.
            let is_asked = facts.filters == Filters::Asked && error.kind() == ErrorKind::InvalidArgument;
            // Without the root, nothing is left.
            if is_asked || path.is_root() && error.kind() == ErrorKind::Unsupported {
                return Err(error.in_object(path));
            }
            self.omit(path, LeftOut { what: error.reason().to_string(), loss: Loss::Types });
        }
        Ok(())
    }

    fn second_path(
        &mut self,
        path: &NodePath,
        first: NodePath,
        options: &ConvertOptions<'_>,
        planner: &mut dyn Planner,
    ) -> Result<()> {
        let is_converted = options.parts.as_ref().is_none_or(|parts| parts.keeps(&first));
        let is_left_out = self.left_out.contains_key(&first) || self.left_out_above(&first).is_some();
        if is_converted && !is_left_out {
            return self.node(path, &Node::Link(Link::Hard(first)), planner);
        }
        let what = format!("second path of {first}, which is not converted");
        self.omit(path, LeftOut { what, loss: Loss::Links });
        Ok(())
    }

    /// Records an unreadable object as omitted. Without the root, there is nothing to convert.
    fn leave_out(&mut self, path: &NodePath, reason: String) -> Result<()> {
        let what = format!("cannot be read: {reason}");
        if path.is_root() {
            return Err(Error::malformed(what));
        }
        self.omit(path, LeftOut { what, loss: Loss::Unreadable });
        Ok(())
    }

    fn omit(&mut self, path: &NodePath, why: LeftOut) {
        self.report_left_out(path, &why);
        self.left_out.insert(path.clone(), why);
    }

    fn report_left_out(&mut self, path: &NodePath, why: &LeftOut) {
        self.report.add(path.to_string(), why.what.clone(), "nothing".into(), Fate::Lost(why.loss));
    }

    /// The omitted group that contains an object.
    pub(super) fn left_out_above(&self, path: &NodePath) -> Option<&LeftOut> {
        if self.left_out.is_empty() {
            return None;
        }
        std::iter::successors(path.parent(), NodePath::parent).find_map(|group| self.left_out.get(&group))
    }
}

/// Fails if a loss is not allowed.
///
/// # Errors
/// If there is such a loss; the error names the kinds.
pub fn check_losses(plan: &Plan, options: &ConvertOptions<'_>) -> Result<()> {
    let refused = plan.report.refused(&options.allow);
    if refused == 0 {
        return Ok(());
    }
    let kinds: Vec<_> =
        plan.report.losses().into_iter().filter(|loss| !options.allow.contains(loss)).collect();
    let kinds = kinds.iter().map(|loss| loss.name()).collect();
    let losses = match refused {
        1 => "1 loss is".to_owned(),
        _ => format!("{refused} losses are"),
    };
    Err(Error::invalid(format!("{losses} not allowed; nothing was written"))
        .with_remedy(Remedy::AllowLoss { kinds, losses: refused }))
}

/// The size of the elements of an array in bytes.
fn bytes_of(path: &NodePath, node: &Node) -> u64 {
    let Some(shape) = node.shape(path).and_then(|shape| shape.current()) else { return 0 };
    let row = node.datatype().and_then(|datatype| datatype.row_size()).unwrap_or(0);
    element_count(&shape).unwrap_or(u64::MAX).saturating_mul(row as u64)
}
