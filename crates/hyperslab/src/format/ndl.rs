//! NDL documents as a [`Source`]: their content can be listed, shown, hashed and described again.

mod array;
mod cells;

use super::{Format, Location, OpenOptions, Probe, Recognition};
use crate::cells::{CellSource, CellTable};
use crate::links::{self, LastLink};
use crate::pool::Pool;
use crate::report::{CheckOptions, Finding, FindingPlace, Report};
use crate::source::{ArraySource, Dialect, Entry, Handle, Item, Origin, Source, Stored, Unshown};
use array::{NdlArray, Role};
use hyperslab_core::storage::ReadAt;
use hyperslab_core::{Error, Limit, Limits, Remedy, Result, Severity};
use hyperslab_model::{Content, DimCoord, Directive, Ndarray, Node, NodeKind, NodePath, Values};
use hyperslab_ndl::{Diagnostic, ParseOptions, TextPlace, parse_within};
use rustc_hash::FxHashMap;
use std::collections::HashMap;
use std::sync::Arc;

/// The Ndarray Data Language, as YAML or JSON.
pub(crate) struct Ndl;

impl Format for Ndl {
    fn name(&self) -> &'static str {
        "ndl"
    }

    fn titles(&self) -> &'static [&'static str] {
        &["NDL"]
    }

    fn dialects(&self) -> &'static [&'static Dialect] {
        DIALECTS
    }

    fn recognizes(&self, probe: &Probe<'_>) -> Recognition {
        match probe {
            Probe::Object(head) => recognition(&head.first),
            Probe::Store(_) => Recognition::No,
        }
    }

    fn open(&self, location: Location, options: &OpenOptions) -> Result<Arc<dyn Source>> {
        let object = location.into_object(self.name())?;
        let read = read(&*object, &options.limits, &CheckOptions::default())?;
        match read.source {
            Some(source) => Ok(source),
            None => Err(refusal(&read.report.findings)),
        }
    }

    fn check(&self, location: Location, open: &OpenOptions, options: &CheckOptions) -> Result<Report> {
        let object = location.into_object(self.name())?;
        read(&*object, &open.limits, options).map(|read| read.report)
    }
}

static DIALECTS: &[&Dialect] = &[&NDL];

/// Documents may contain the directives of every format.
static NDL: Dialect = Dialect::new("NDL", None);

/// A parsed document.
#[allow(missing_debug_implementations, reason = "a source has no text form")]
pub struct Document {
    /// The errors and warnings in it.
    pub report: Report,
    /// The reasons why no store can be created from it, even though it is valid.
    pub refusals: Vec<Finding>,
    /// The content, unless there are errors.
    pub source: Option<Arc<dyn Source>>,
}

impl Document {
    /// The content, to check data against.
    ///
    /// # Errors
    /// If the document has errors, since it would check too little.
    pub fn into_contract(self) -> Result<Arc<dyn Source>> {
        self.source.ok_or_else(|| {
            let errors = match self.report.count(Severity::Error) {
                1 => "1 error".to_owned(),
                more => format!("{more} errors"),
            };
            Error::malformed(format!("the contract document has {errors}"))
        })
    }
}

/// Reads a document.
///
/// # Errors
/// If the document is larger than `limits` allow, or reading fails.
pub(crate) fn read(storage: &dyn ReadAt, limits: &Limits, options: &CheckOptions) -> Result<Document> {
    let text = text(storage, limits)?;
    let CheckOptions { strict, lenient, pure, .. } = *options;
    let options = ParseOptions { strict, lenient, pure };
    let parsed = parse_within(&text, &options, limits.allocation / OBJECTS_SHARE)?;
    let sound = !parsed.has_errors();
    let findings: Vec<_> = parsed.diagnostics.into_iter().map(finding).collect();
    let source = sound.then(|| {
        let origin = origin(&text, &parsed.content);
        let warnings = findings.iter().filter(|finding| finding.severity == Severity::Warning);
        let warnings = warnings.map(|finding| finding_text(finding, "")).collect();
        let len = text.len() as u64;
        let (content, order, places) = (parsed.content, parsed.order, parsed.places);
        let mut source = NdlSource::new(content, order, places, len, origin, warnings, *limits);
        source.is_foreign = parsed.is_foreign;
        let source: Arc<dyn Source> = Arc::new(Arc::new(source));
        source
    });
    let refusals = parsed.refusals.into_iter().map(finding).collect();
    Ok(Document { report: Report { findings, more: Vec::new(), text: Some(text) }, refusals, source })
}

/// Objects in memory as a source that lists them in this order.
pub(crate) fn source_of_content(content: Content, order: Vec<NodePath>) -> Arc<dyn Source> {
    let (places, limits) = (HashMap::new(), Limits::of_any_size());
    Arc::new(Arc::new(NdlSource::new(content, order, places, 0, None, Vec::new(), limits)))
}

fn finding(diagnostic: Diagnostic) -> Finding {
    let Diagnostic { severity, rule, message, line, column, end_column, hint } = diagnostic;
    Finding { severity, rule, message, hint, place: FindingPlace::Text { line, column, end_column } }
}

/// The complete text of a document.
///
/// # Errors
/// If the document is larger than `limits` allow, or reading fails.
fn text(storage: &dyn ReadAt, limits: &Limits) -> Result<Vec<u8>> {
    let (len, most) = (storage.len()?, limits.allocation / TEXT_SHARE);
    if len > most {
        let detail = format!("a text of {len} bytes, {most} are allowed");
        return Err(Error::limit_exceeded(Limit::Allocation, detail));
    }
    Ok(storage.read_at(0..len)?.into())
}

/// A text may take the allocation limit divided by this: the objects made from it take several times as much.
const TEXT_SHARE: u64 = 16;
/// The objects made from a text, together with the text, may take the limit divided by this.
const OBJECTS_SHARE: u64 = 2;

/// NDL is recognised by its first key, which other YAML or JSON documents do not have.
fn recognition(head: &[u8]) -> Recognition {
    // The head may end in the middle of a character.
    let head = match std::str::from_utf8(head) {
        Ok(head) => head,
        Err(error) if error.error_len().is_none() => {
            let valid = head.get(..error.valid_up_to()).unwrap_or_default();
            std::str::from_utf8(valid).unwrap_or_default()
        }
        Err(_) => return Recognition::No,
    };
    let head = head.strip_prefix('\u{feff}').unwrap_or(head);
    if head.starts_with("# NDL ") {
        return Recognition::Certain;
    }
    let mut lines = head.lines().map(str::trim).filter(|line| {
        let skipped = ["#", "%", "---"].iter().any(|skipped| line.starts_with(skipped));
        !line.is_empty() && !skipped && !matches!(*line, "{" | "[")
    });
    let Some(line) = lines.next() else {
        return if head.trim_start().starts_with(['#', '{']) {
            Recognition::Possible
        } else {
            Recognition::No
        };
    };
    let line = line.trim_start_matches(['{', ' ', '"', '\'']);
    let Some((key, _)) = line.split_once(':') else {
        return if line.starts_with('}') { Recognition::Possible } else { Recognition::No };
    };
    let key = key.trim_end_matches([' ', '"', '\'']);
    match key.starts_with('/') || key.starts_with("x-") || hyperslab_ndl::GROUP_KEYS.contains(&key) {
        true => Recognition::Possible,
        false => Recognition::No,
    }
}

/// The error for a document with errors: the first of them, and how to see the rest.
fn refusal(findings: &[Finding]) -> Error {
    let errors: Vec<_> = findings.iter().filter(|finding| finding.severity == Severity::Error).collect();
    let more = match errors.len() {
        0 | 1 => String::new(),
        count => format!(" (and {} more)", count - 1),
    };
    let Some(first) = errors.first() else {
        return Error::malformed("").with_remedy(Remedy::CheckDocument);
    };
    // `check` shows the hints of all errors.
    let remedy = match (&first.hint, errors.len()) {
        (Some(hint), 1) => Remedy::Hint(hint.clone()),
        _ => Remedy::CheckDocument,
    };
    Error::malformed(finding_text(first, &more)).with_remedy(remedy)
}

fn finding_text(finding: &Finding, more: &str) -> String {
    let Finding { message, rule, place, .. } = finding;
    let place = match place {
        FindingPlace::Text { line, column, .. } => format!("line {line}, column {column}: "),
        FindingPlace::Stored { .. } | FindingPlace::Value { .. } | FindingPlace::Contract { .. } => {
            String::new()
        }
    };
    format!("{place}{message} [{rule}]{more}")
}

/// The origin of the content, for documents that this library wrote.
fn origin(text: &[u8], content: &Content) -> Option<Origin> {
    let mut lines = text.split(|byte| *byte == b'\n').map(|line| String::from_utf8_lossy(line));
    let first = lines.next()?;
    if let Some((_, rest)) =
        first.split_once("described from ").filter(|(lead, _)| lead.starts_with("# NDL "))
    {
        // The location may itself contain the words that follow it.
        let (rest, values) = match rest.rsplit_once(") with --values") {
            Some((rest, "")) => (rest, Some(u64::MAX)),
            Some((rest, limit)) => (rest, Some(limit.strip_prefix('=')?.parse().ok()?)),
            None => (rest.strip_suffix(')')?, None),
        };
        let (location, format) = rest.rsplit_once(" (")?;
        return Some(Origin { location: location.into(), format: format.into(), values });
    }
    let second = lines.next()?;
    let object = second.trim().strip_prefix("\"x-hyperslab\":")?.trim_end_matches(',');
    let object: serde_json::Value = serde_json::from_str(object).ok()?;
    let word = |key: &str| object.get(key)?.as_str();
    let format = word("format")?;
    let format = TITLES.iter().find(|(name, _)| *name == format).map_or(format, |(_, title)| title);
    let values = object.get("values").and_then(|values| match values.as_str() {
        Some("all") => Some(u64::MAX),
        _ => values.as_u64(),
    });
    let values =
        values.or_else(|| content.nodes.values().any(|node| value(node).is_some()).then_some(u64::MAX));
    Some(Origin { location: word("location")?.into(), format: format.into(), values })
}

/// Formats by their names in the header of JSON documents.
const TITLES: &[(&str, &str)] = &[
    ("hdf5", "HDF5"),
    ("netcdf4", "NetCDF-4"),
    ("ndl", "NDL"),
    ("zarr v2", "Zarr v2"),
    ("zarr v3", "Zarr v3"),
    ("zarr", "Zarr"),
];

fn value(node: &Node) -> Option<&Values> {
    match node {
        Node::Ndarray(ndarray) => ndarray.value.as_ref(),
        Node::DimCoord(dimcoord) => dimcoord.value.as_ref(),
        _ => None,
    }
}

struct NdlSource {
    content: Content,
    /// Every object in the order of the document. The id of a handle is an index into it.
    order: Vec<NodePath>,
    index: FxHashMap<NodePath, usize>,
    /// The members of each group in the order of the document, as indexes.
    members: FxHashMap<NodePath, Vec<usize>>,
    /// The cells of each sparse array, moved out of `content`.
    cells: FxHashMap<NodePath, Arc<CellTable>>,
    len: u64,
    origin: Option<Origin>,
    warnings: Vec<String>,
    /// Whether it is a document of another language, whose content is not shown.
    is_foreign: bool,
    limits: Limits,
    /// One thread: copying data in memory does not become faster with more.
    pool: Pool,
    places: HashMap<NodePath, TextPlace>,
}

/// Implemented for the shared source, which opened arrays keep.
impl Source for Arc<NdlSource> {
    fn dialect(&self) -> &'static Dialect {
        &NDL
    }

    fn size(&self) -> Result<u64> {
        Ok(self.len)
    }

    fn limits(&self) -> Limits {
        self.limits
    }

    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    fn unshown(&self) -> Vec<Unshown> {
        let what = "a document without a key of NDL".to_owned();
        self.is_foreign.then_some(Unshown { what, instead: "nothing" }).into_iter().collect()
    }

    fn origin(&self) -> Option<&Origin> {
        self.origin.as_ref()
    }

    fn is_text(&self) -> bool {
        true
    }

    fn keeps_order(&self, _: &NodePath) -> Result<bool> {
        // A document itself states whether the store keeps the order; objects added by a program are in the program's
        // order.
        Ok(self.places.is_empty())
    }

    fn place(&self, path: &NodePath) -> Option<(u32, u32)> {
        self.places.get(path).map(|place| (place.line, place.column))
    }

    fn find(&self, path: &NodePath) -> Result<Entry> {
        let nodes = &self.content.nodes;
        if nodes.contains_key(path) || path.is_root() {
            return Ok(self.entry_at(path.clone(), path));
        }
        let at = links::resolve(path, LastLink::Keep, &mut |at| match nodes.get(at) {
            Some(Node::Link(link)) => Ok(Some(link.clone())),
            _ => Ok(None),
        })?;
        match nodes.contains_key(&at) || at.is_root() {
            true => Ok(self.entry_at(path.clone(), &at)),
            false => Err(Error::not_found(format!("no object {path}"))),
        }
    }

    fn members(&self, group: &Handle) -> Result<Vec<Entry>> {
        let members = self.members.get(self.path(group)?).map(Vec::as_slice).unwrap_or_default();
        let named = members.iter().filter_map(|index| self.order.get(*index));
        Ok(named.map(|path| self.entry_at(path.clone(), path)).collect())
    }

    fn load(&self, object: &Handle) -> Result<Node> {
        let node = self.content.nodes.get(self.path(object)?);
        Ok(node.map_or_else(|| Node::Group(Default::default()), without_value))
    }

    fn array(&self, object: &Handle) -> Result<Arc<dyn ArraySource>> {
        let path = self.path(object)?;
        let node = self.content.nodes.get(path).ok_or_else(|| Error::invalid("no array"))?;
        let group = path.parent();
        let cells = group.as_ref().and_then(|group| self.cells.get(group));
        let group = group.as_ref().and_then(|group| self.content.nodes.get(group));
        let role = match group {
            _ if cells.is_some_and(|cells| cells::has_column(cells, path.name())) => Role::Column,
            Some(Node::Group(group)) if cells.is_some() || cells::is_sparse(group) => Role::OfSparse,
            _ => Role::Dense,
        };
        let array = NdlArray::open(self, path, node, role).map_err(|error| error.in_object(path))?;
        Ok(Arc::new(array))
    }

    fn cells(&self, group: &Handle) -> Result<Option<Arc<dyn CellSource>>> {
        let cells = self.cells.get(self.path(group)?);
        Ok(cells.map(|cells| Arc::clone(cells) as Arc<dyn CellSource>))
    }
}

impl NdlSource {
    fn new(
        mut content: Content,
        mut order: Vec<NodePath>,
        places: HashMap<NodePath, TextPlace>,
        len: u64,
        origin: Option<Origin>,
        warnings: Vec<String>,
        limits: Limits,
    ) -> Self {
        if let Some(path) = order.iter().find(|path| is_alone(path, &content)).cloned()
            && let Some(array) = content.nodes.remove(&path)
        {
            content.nodes.insert(NodePath::root(), array);
            order = vec![NodePath::root()];
        }
        // The root exists even if the document does not mention it.
        if order.first().is_none_or(|first| !first.is_root()) {
            order.retain(|path| !path.is_root());
            order.insert(0, NodePath::root());
        }
        let index = order.iter().enumerate().map(|(index, path)| (path.clone(), index)).collect();
        let mut members = FxHashMap::<NodePath, Vec<usize>>::default();
        for (index, path) in order.iter().enumerate() {
            if let Some(parent) = path.parent() {
                members.entry(parent).or_default().push(index);
            }
        }
        let cells = cells::take(&mut content, &order, origin.is_some());
        let pool = Pool::new(1, Pool::MEMORY);
        let is_foreign = false;
        NdlSource {
            content,
            order,
            index,
            members,
            cells,
            len,
            origin,
            warnings,
            is_foreign,
            limits,
            pool,
            places,
        }
    }

    fn path(&self, handle: &Handle) -> Result<&NodePath> {
        let index = usize::try_from(handle.id).unwrap_or(usize::MAX);
        self.order.get(index).ok_or_else(|| Error::invalid("a handle of another file"))
    }

    /// The object at `at`, presented as an object at `path`.
    fn entry_at(&self, path: NodePath, at: &NodePath) -> Entry {
        let id = self.index.get(at).map_or(u64::MAX, |index| *index as u64);
        let handle = Handle { path, id };
        let item = match self.content.nodes.get(at) {
            None | Some(Node::Group(_)) => Item::Group,
            Some(node) => item(node),
        };
        Entry { handle, item }
    }
}

/// An object without the values of its elements, which are not copied.
fn without_value(node: &Node) -> Node {
    match node {
        Node::Ndarray(Ndarray { shape, dimension, datatype, attributes, storage, value: _ }) => {
            Node::Ndarray(Ndarray {
                shape: shape.clone(),
                dimension: *dimension,
                datatype: datatype.clone(),
                attributes: attributes.clone(),
                storage: storage.clone(),
                value: None,
            })
        }
        Node::DimCoord(DimCoord { size, datatype, attributes, storage, value: _ }) => {
            Node::DimCoord(DimCoord {
                size: *size,
                datatype: datatype.clone(),
                attributes: attributes.clone(),
                storage: storage.clone(),
                value: None,
            })
        }
        node => node.clone(),
    }
}

/// Whether this is the array of a document that describes a store consisting of a single array.
fn is_alone(path: &NodePath, content: &Content) -> bool {
    let Some(Node::Ndarray(array)) = content.nodes.get(path) else { return false };
    let says_so = |(key, value): &(String, Directive)| key == "root" && *value == Directive::Bool(true);
    let mut native = array.storage.native.iter().filter(|(format, _)| *format == "zarr");
    native.any(|(_, directives)| directives.iter().any(says_so))
        && content.nodes.keys().all(|other| other == path || other.is_root())
}

fn item(node: &Node) -> Item {
    let stored = |storage: &hyperslab_model::Storage| match (&storage.chunk, value(node)) {
        (Some(_), _) => Stored::Chunks(Arc::new(storage.clone())),
        (None, Some(value)) => Stored::Bytes(array::bytes(value)),
        (None, None) => Stored::Nothing,
    };
    match node {
        Node::Group(_) => Item::Group,
        Node::Ndarray(ndarray) => Item::Array {
            kind: NodeKind::Ndarray,
            datatype: ndarray.datatype.clone(),
            shape: ndarray.shape.clone(),
            stored: stored(&ndarray.storage),
        },
        Node::DimCoord(dimcoord) => Item::Array {
            kind: NodeKind::DimCoord,
            datatype: dimcoord.datatype.clone(),
            shape: array::shape_of(dimcoord),
            stored: stored(&dimcoord.storage),
        },
        Node::Datatype(named) => Item::Datatype(Arc::clone(&named.datatype)),
        Node::Link(link) => Item::Link(link.clone()),
        Node::Unreadable(unreadable) => Item::Unreadable(unreadable.clone()),
    }
}
