//! What Zarr has no place for and a node's attribute `hyperslab` keeps, so that it comes back.
//!
//! | member | of | holds |
//! |---|---|---|
//! | `name` | all | the name that the node could not have ([`hyperslab_zarr::name`]) |
//! | `type` | arrays | the type of the elements, as NDL writes it |
//! | `named` | arrays | the path of the named datatype that it is |
//! | `shape` | arrays | `null` for a null dataspace |
//! | `fill` | arrays | the fill value, where Zarr has none |
//! | `missing` | arrays | that the fill value counts as missing, and `_FillValue` is there for readers to know |
//! | `extents` | arrays | how long it is along each dimension, where it is stored at the length of its dimensions |
//! | `maximum` | arrays | how long each dimension may become, `null` without end |
//! | `dimensions` | arrays | the path of each dimension's coordinate, where its name alone leads elsewhere |
//! | `kind` | arrays | `dimcoord` or `ndarray`, where the names of dimensions say otherwise |
//! | `attributes` | all | shape and type of attributes, and the value where JSON shows another |
//! | `datatypes`, `dimcoords`, `links` | groups | members that are no nodes here, as NDL writes them |

use super::lowering;
use super::nczarr::Declared;
use hyperslab_core::{Error, Limits, Result, Severity};
use hyperslab_model::{
    Attributes, Datatype, ElementStorage, Elements, Extent, Group, Length, Link, Member, Members,
    NamedDatatype, Node, NodeKind, NodePath, Storage, Text, Values,
};
use hyperslab_ndl::{Emitter, Format, Head, Options, ParseOptions, parse_part};
use hyperslab_zarr::json::{Json, Object};
use hyperslab_zarr::name::RECORD;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// What is kept of one node.
#[derive(Clone, Debug, Default)]
pub(super) struct Record {
    pub(super) datatype: Option<Arc<Datatype>>,
    pub(super) is_null: bool,
    pub(super) fill_is_missing: bool,
    /// Empty where the array is as long as it is stored.
    pub(super) extents: Vec<u64>,
    /// Empty where nothing is kept.
    pub(super) maximum: Vec<Option<u64>>,
    /// As NDL writes an element.
    pub(super) fill: Option<Json>,
    pub(super) dimensions: Option<Vec<Option<NodePath>>>,
    pub(super) kind: Option<NodeKind>,
    pub(super) attributes: Attributes,
    /// Members of a group that are no nodes in the store, by name.
    pub(super) members: Members<Node>,
    /// Dimensions of a group that the NetCDF library keeps.
    pub(super) declared: FxHashMap<String, Declared>,
}

impl Record {
    /// What the attributes of a node keep; none if they keep nothing.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`](hyperslab_core::ErrorKind::Malformed) for what is not as it is written.
    pub(super) fn of(attributes: Option<&Object>) -> Result<Option<Record>> {
        let Some(attributes) = attributes else { return Ok(None) };
        let Some(Json::Object(object)) = attributes.get(RECORD) else { return Ok(None) };
        if object.iter().all(|(name, _)| name == hyperslab_zarr::name::NAME) {
            return Ok(None);
        }
        Record::parse(object, attributes)
            .map(Some)
            .map_err(|e| Error::new(e.kind(), format!("attribute {RECORD}: {}", e.reason())))
    }

    /// How long an array is that is stored at these extents.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`](hyperslab_core::ErrorKind::Malformed) if it would be longer, or of another rank.
    pub(super) fn current(&self, stored: &[u64]) -> Result<Vec<u64>> {
        let within = self.extents.len() == stored.len()
            && self.extents.iter().zip(stored).all(|(own, full)| own <= full);
        match (self.extents.is_empty(), within) {
            (true, _) => Ok(stored.to_vec()),
            (false, true) => Ok(self.extents.clone()),
            (false, false) => {
                let own = &self.extents;
                Err(malformed(format!("attribute hyperslab: extents {own:?} of an array of {stored:?}")))
            }
        }
    }

    /// How long dimensions may become, as the extents of an array of this shape.
    pub(super) fn extent(&self, dimension: usize, current: u64) -> Extent {
        match self.maximum.get(dimension) {
            None => Extent::Fixed(current),
            Some(None) => Extent::Unlimited { current },
            Some(Some(max)) if *max > current => Extent::Limited { current, max: *max },
            Some(Some(_)) => Extent::Fixed(current),
        }
    }

    /// Whether a dimension may become longer than an array is now.
    pub(super) fn grows(&self, dimension: usize, current: u64) -> bool {
        !self.extent(dimension, current).is_fixed()
    }

    /// How many of the stored dimensions are those of the type.
    pub(super) fn trailing(&self) -> usize {
        self.datatype.as_deref().map_or(0, |datatype| lowering::trailing(datatype).len())
    }

    fn parse(object: &Object, visible: &Object) -> Result<Record> {
        let mut record = Record::default();
        let mut root = Object::new();
        for section in SECTIONS {
            if let Some(Json::Object(members)) = object.get(section) {
                root.insert(section, Json::Object(members.clone()));
            }
        }
        if let Some(Json::Object(attributes)) = object.get("attributes") {
            let mut told = Object::new();
            for (name, json) in attributes.iter() {
                let Json::Object(members) = json else {
                    return Err(malformed("an attribute that is no object"));
                };
                let mut members = members.clone();
                let is_null = members.get("shape") == Some(&Json::Null);
                if members.get("value").is_none()
                    && !is_null
                    && let Some(value) = visible.get(name)
                {
                    members.insert("value", value.clone());
                }
                told.insert(name, Json::Object(members));
            }
            root.insert("attributes", Json::Object(told));
        }
        if let Some(json) = object.get("type") {
            let mut datatypes = match root.get("datatypes") {
                Some(Json::Object(datatypes)) => datatypes.clone(),
                _ => Object::new(),
            };
            datatypes.insert(TYPE, json.clone());
            root.insert("datatypes", Json::Object(datatypes));
        }
        for (path, node) in read(root)? {
            match node {
                Node::Group(group) if path.is_root() => record.attributes = group.attributes,
                Node::Datatype(named) if path.name() == TYPE && object.get("type").is_some() => {
                    record.datatype = Some(named.datatype);
                }
                Node::Group(_) | Node::Ndarray(_) | Node::Unreadable(_) => {}
                node => drop(record.members.insert(path.name().to_owned(), node)),
            }
        }
        if let Some(Json::Object(links)) = object.get("links") {
            for (name, json) in links.iter() {
                record.members.insert(name.to_owned(), Node::Link(link(json)?));
            }
        }
        if let Some(path) = object.get("named").and_then(Json::as_str) {
            let datatype = record.datatype.take().ok_or_else(|| malformed("a named type without a type"))?;
            let path = NodePath::new(path).map_err(|_| malformed(format!("{path:?}, expected a path")))?;
            record.datatype = Some(Arc::new(Datatype::Named(path, datatype)));
        }
        record.is_null = object.get("shape") == Some(&Json::Null);
        record.fill_is_missing = object.get("missing") == Some(&Json::Bool(true));
        record.kind = match object.get("kind").and_then(Json::as_str) {
            Some("dimcoord") => Some(NodeKind::DimCoord),
            Some("ndarray") => Some(NodeKind::Ndarray),
            _ => None,
        };
        record.extents = list(object.get("extents"), |json| match json {
            Json::Number(number) => number.as_u64().ok_or_else(|| malformed("an extent")),
            _ => Err(malformed("an extent that is no number")),
        })?;
        record.maximum = list(object.get("maximum"), |json| match json {
            Json::Null => Ok(None),
            Json::Number(number) => number.as_u64().map(Some).ok_or_else(|| malformed("a maximum")),
            _ => Err(malformed("a maximum that is neither a number nor null")),
        })?;
        if let Some(paths @ Json::Array(_)) = object.get("dimensions") {
            record.dimensions = Some(list(Some(paths), |json| match json {
                Json::Null => Ok(None),
                json => {
                    let path = json.as_str().and_then(|path| NodePath::new(path).ok());
                    path.map(Some).ok_or_else(|| malformed("a dimension that is no path"))
                }
            })?);
        }
        record.fill = object.get("fill").cloned();
        Ok(record)
    }
}

/// A type as NDL writes it in JSON, with the lengths of texts in it; types with names of their own are what they
/// are.
///
/// # Errors
/// If NDL cannot say it.
pub(super) fn datatype_json(datatype: &Datatype) -> Result<Json> {
    let datatype = unnamed(datatype);
    let mut storage = Storage::default();
    see_texts(&datatype, &mut storage.element);
    let named = NamedDatatype { datatype: Arc::new(datatype), attributes: Attributes::new(), storage };
    let written = written(&[(NodePath::root().child(TYPE), Node::Datatype(named))])?;
    let found = match written.get("datatypes") {
        Some(Json::Object(types)) => types.get(TYPE).cloned(),
        _ => None,
    };
    found.ok_or_else(|| Error::invalid("a type that NDL does not write"))
}

/// Attributes as NDL writes them in JSON: objects of shape, type and value.
///
/// # Errors
/// If NDL cannot say one of them.
pub(super) fn attributes_json(attributes: Attributes) -> Result<Object> {
    let group = Group { attributes, ..Group::default() };
    let written = written(&[(NodePath::root(), Node::Group(group))])?;
    Ok(match written.get("attributes") {
        Some(Json::Object(attributes)) => attributes.clone(),
        _ => Object::new(),
    })
}

/// Members of a group that are no nodes here, section by section.
///
/// # Errors
/// If NDL cannot say one of them.
pub(super) fn members_json(members: &[(String, Node)]) -> Result<Object> {
    let nodes: Vec<_> =
        members.iter().map(|(name, node)| (NodePath::root().child(name), alone(node))).collect();
    written(&nodes)
}

/// The first element as NDL writes it in JSON.
///
/// # Errors
/// If there is none.
pub(super) fn element_json(datatype: &Datatype, values: &Values) -> Result<Json> {
    let element = Elements::new(datatype, values).next();
    let element = element.ok_or_else(|| Error::invalid("no fill value"))?;
    Json::parse("record", hyperslab_ndl::json(element).as_bytes(), &Limits::of_any_size())
}

/// A member as it is understood without the others: with every named type written out, and what can be read of it.
fn alone(node: &Node) -> Node {
    let mut node = node.clone();
    let attributes = match &mut node {
        Node::Datatype(named) => {
            named.datatype = Arc::new(unnamed(&named.datatype));
            &mut named.attributes
        }
        Node::DimCoord(dimcoord) => &mut dimcoord.attributes,
        _ => return node,
    };
    attributes.retain(|_, attribute| attribute.is_ok());
    for attribute in attributes.values_mut().flatten() {
        attribute.datatype = Arc::new(unnamed(&attribute.datatype));
    }
    node
}

/// Whether a type or one within it has a name of its own.
pub(super) fn has_named(datatype: &Datatype) -> bool {
    match datatype {
        Datatype::Named(..) => true,
        Datatype::Compound(members) => members.iter().any(|member| has_named(&member.datatype)),
        Datatype::Vlen(base) | Datatype::Array { base, .. } | Datatype::Nullable(base) => has_named(base),
        _ => false,
    }
}

/// The type with every named type written out.
pub(super) fn unnamed(datatype: &Datatype) -> Datatype {
    match datatype {
        Datatype::Named(_, of) => unnamed(of),
        Datatype::Compound(members) => Datatype::Compound(
            members
                .iter()
                .map(|member| Member { name: member.name.clone(), datatype: unnamed(&member.datatype) })
                .collect(),
        ),
        Datatype::Vlen(base) => Datatype::Vlen(Box::new(unnamed(base))),
        Datatype::Array { base, shape } => {
            Datatype::Array { base: Box::new(unnamed(base)), shape: shape.clone() }
        }
        Datatype::Nullable(of) => Datatype::Nullable(Box::new(unnamed(of))),
        other => other.clone(),
    }
}

/// Says how long the texts of a type are and what fills them, as far as NDL has a place for it.
pub(super) fn see_texts(datatype: &Datatype, storage: &mut ElementStorage) {
    (storage.length, storage.pad) = (None, None);
    match datatype {
        Datatype::String(Text::Fixed { len, pad }) => {
            (storage.length, storage.pad) = (Some(Length::Fixed(*len)), Some(*pad));
        }
        Datatype::Compound(members) => {
            let mut stored = std::mem::take(&mut storage.members);
            for member in members {
                let found = stored.iter().position(|(name, _)| *name == member.name);
                let mut of = found.map(|at| stored.swap_remove(at).1).unwrap_or_default();
                see_texts(&member.datatype, &mut of);
                if !of.is_empty() {
                    storage.members.push((member.name.clone(), of));
                }
            }
        }
        Datatype::Named(_, of) => see_texts(of, storage),
        Datatype::Vlen(base) | Datatype::Array { base, .. } | Datatype::Nullable(base) => {
            see_texts(base, storage);
        }
        _ => {}
    }
}

/// What NDL writes of the root group with these members.
fn written(nodes: &[(NodePath, Node)]) -> Result<Object> {
    let mut emitter = Emitter::new(Format::Json, Options::default());
    for (path, node) in nodes {
        emitter.node(path, node)?;
    }
    let mut text = Vec::new();
    let head = Head { location: "", format: "zarr", title: "Zarr", version: "" };
    emitter.finish(&head, &mut text)?;
    match Json::parse("record", &text, &Limits::of_any_size())? {
        Json::Object(document) => Ok(match document.get("/") {
            Some(Json::Object(root)) => root.clone(),
            _ => Object::new(),
        }),
        _ => Err(Error::invalid("a document that is no object")),
    }
}

/// The objects that NDL reads of a root group.
fn read(root: Object) -> Result<Vec<(NodePath, Node)>> {
    if root.is_empty() {
        return Ok(Vec::new());
    }
    let mut document = Object::new();
    document.insert("/", Json::Object(root));
    let mut parsed = parse_part(Json::Object(document).emit_compact().as_bytes(), &ParseOptions::default());
    if let Some(error) = parsed.diagnostics.iter().find(|found| found.severity == Severity::Error) {
        return Err(malformed(error.message.clone()));
    }
    let order = std::mem::take(&mut parsed.order);
    let mut nodes = std::mem::take(&mut parsed.content.nodes);
    Ok(order.into_iter().filter_map(|path| nodes.remove(&path).map(|node| (path, node))).collect())
}

/// A link, which NDL would only read beside what it leads to.
fn link(json: &Json) -> Result<Link> {
    let to = |kind: &str| json.as_object()?.get(kind)?.as_str();
    match (to("hard"), to("soft")) {
        (Some(path), _) => NodePath::new(path).map(Link::Hard).map_err(|_| malformed("a link to no path")),
        (_, Some(path)) => Ok(Link::Soft(path.to_owned())),
        _ => Err(malformed("a link that is neither hard nor soft")),
    }
}

fn list<T>(json: Option<&Json>, one: impl Fn(&Json) -> Result<T>) -> Result<Vec<T>> {
    match json {
        Some(Json::Array(items)) => items.iter().map(one).collect(),
        _ => Ok(Vec::new()),
    }
}

fn malformed(what: impl Into<std::borrow::Cow<'static, str>>) -> Error {
    Error::malformed(what)
}

/// Sections of a group in NDL that are read as NDL.
const SECTIONS: [&str; 2] = ["datatypes", "dimcoords"];

/// What the type of an array is called where NDL reads it; no datatype of a file is in the same place.
const TYPE: &str = "type";
