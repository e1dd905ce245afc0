//! Records: the content of a node that Zarr cannot represent, kept so that it can be restored.
//! [`hyperslab_zarr::record`] describes where they are stored.
//!
//! | member | of | holds |
//! |---|---|---|
//! | `name` | all | the original name, if Zarr forbids it ([`hyperslab_zarr::name`]) |
//! | `type` | arrays | the type of the elements, as NDL writes it |
//! | `named` | arrays | the path of the committed datatype of the elements |
//! | `shape` | arrays | `null` for a null dataspace |
//! | `fill` | arrays | the fill value, if it is not in the Zarr metadata |
//! | `missing` | arrays | `true` if `_FillValue` was added, because readers of the source treat the fill value as missing |
//! | `extents` | arrays | the extents, if the array is stored with longer dimensions |
//! | `maximum` | arrays | the maximum length of each dimension, `null` for unlimited |
//! | `dimensions` | arrays | the path of each dimension, if the name alone does not determine it |
//! | `dimension` | arrays | the current and maximum length (`null`: unlimited) of the dimension of the same name |
//! | `kind` | arrays | `dimcoord` or `ndarray`, if the names of dimensions suggest the other |
//! | `domain`, `tile` | arrays | the range of coordinates of a dimension and the extent of a tile, as NDL writes them |
//! | `attributes` | all | shape, type and storage of attributes, and the value if it differs from the JSON |
//! | `characters` | all | names of attributes stored as ASCII of exactly their length, not as variable-length strings |
//! | `attribute_order` | all | the names of all attributes in order, if readers would show a different order |
//! | `padded` | arrays | `true` if strings that `type` pads with spaces are stored with zeros |
//! | `storage` | all | how the object was stored originally, as NDL writes it, where Zarr differs ([`origin`]) |
//! | `native` | all | directives that only the source format has, by format: comments, labels of dimensions |
//! | `datatypes`, `dimcoords`, `links` | groups | members that are not nodes in Zarr, as NDL writes them |
//! | `member_order` | groups | the names of all members in order, unless they are sorted by name |
//!
//! The member `dimension` exists if the array is not the coordinates of the dimension and other arrays do not determine
//! its length.

mod attributes;
mod fit;
mod origin;

pub(in crate::format) use attributes::{are_characters, attributes as read_attributes};
pub(in crate::format) use fit::is_record;
pub(in crate::format) use origin::{of_array, of_group};

use super::lowering;
use super::value::{json, value};
use crate::format::zarr::directive;
use crate::format::zarr::nczarr::Declared;
use crate::format::zarr::read::version_3;
use crate::target::{content, format_with_content};
use hyperslab_core::{Error, Result};
use hyperslab_model::{
    Attributes, ByteOrder, CharacterSet, Datatype, Directive, ElementStorage, Elements, Extent, Length,
    Member, Members, NamedDatatype, Node, NodeKind, NodePath, Pad, Storage, Text, Values,
};
use hyperslab_ndl::StorageDetail;
use hyperslab_ndl::part::{self, Value};
use hyperslab_zarr::data_type::DataType;
use hyperslab_zarr::hierarchy::Node as ZarrNode;
use hyperslab_zarr::json::{Json, Object};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The record of one node.
#[derive(Clone, Debug, Default)]
pub(in crate::format) struct Record {
    pub(in crate::format) datatype: Option<Arc<Datatype>>,
    pub(in crate::format) is_null: bool,
    pub(in crate::format) fill_is_missing: bool,
    /// Empty if the extents are those of the stored array.
    pub(in crate::format) extents: Vec<u64>,
    /// Empty if the record has none.
    pub(in crate::format) maximum: Vec<Option<u64>>,
    /// The JSON of an element, as in NDL.
    pub(in crate::format) fill: Option<Json>,
    pub(in crate::format) dimensions: Option<Vec<Option<NodePath>>>,
    pub(in crate::format) kind: Option<NodeKind>,
    /// The length of the dimension of the same name, if the array is not its coordinates.
    pub(in crate::format) beside: Option<Extent>,
    /// The lowest and the highest coordinate, as JSON in the form of NDL.
    pub(in crate::format) domain: Option<Json>,
    /// The number of steps of a tile, as JSON in the form of NDL.
    pub(in crate::format) tile: Option<Json>,
    pub(in crate::format) attributes: Attributes,
    /// The names of all attributes in order; empty if readers show that order.
    pub(in crate::format) attribute_order: Vec<String>,
    /// Whether strings that the datatype pads with spaces are stored with zeros.
    pub(in crate::format) is_padded: bool,
    /// How the object was stored originally, as JSON in the form of NDL.
    pub(in crate::format) storage: Option<Json>,
    /// Directives of other formats that count as content, by format.
    pub(in crate::format) native: Vec<(&'static str, Vec<(String, Directive)>)>,
    /// Attributes that were changed by other programs, for which the JSON applies.
    pub(in crate::format) changed: Vec<String>,
    /// Members of a group that are not nodes in the store, by name.
    pub(in crate::format) members: Members<Node>,
    /// The names of all members of a group in order; empty if they are sorted by name.
    pub(in crate::format) member_order: Vec<String>,
    /// The dimensions of a group that the NetCDF library has recorded.
    pub(in crate::format::zarr) declared: FxHashMap<String, Declared>,
}

impl Record {
    /// The record of a node; `None` if it has none.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`](hyperslab_core::ErrorKind::Malformed) for an invalid record.
    pub(in crate::format) fn of(node: &ZarrNode) -> Result<Option<Record>> {
        let Some((object, is_attribute)) = hyperslab_zarr::record::of(node)? else { return Ok(None) };
        if is_attribute && !is_record(&object) {
            return Ok(None);
        }
        let none = Object::new();
        fit::check_members(&object, node.is_array())
            .and_then(|()| match object.iter().all(|(name, _)| name == hyperslab_zarr::name::NAME) {
                true => Ok(None),
                false => {
                    Record::parse(&object, node.attributes().unwrap_or(&none), version_3(node)).map(Some)
                }
            })
            .map_err(|e| Error::new(e.kind(), format!("{RECORD}: {}", e.reason())))
    }

    /// The extents of an array that is stored with the extents `stored`.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`](hyperslab_core::ErrorKind::Malformed) if the array would be longer or have another
    /// rank.
    pub(in crate::format) fn current(&self, stored: &[u64]) -> Result<Vec<u64>> {
        let within = self.extents.len() == stored.len()
            && self.extents.iter().zip(stored).all(|(own, full)| own <= full);
        match (self.extents.is_empty(), within) {
            (true, _) => Ok(stored.to_vec()),
            (false, true) => Ok(self.extents.clone()),
            (false, false) => {
                let own = &self.extents;
                Err(malformed(format!(
                    "{RECORD}: member \"extents\": {own:?}, but the array has the shape {stored:?}"
                )))
            }
        }
    }

    /// Adds the directives of other formats.
    ///
    /// # Errors
    /// None in practice.
    pub(in crate::format) fn restore_native(&self, storage: &mut Storage) -> Result<()> {
        for (format, directives) in &self.native {
            let own = storage.native_mut(format)?;
            own.retain(|(key, _)| !directives.iter().any(|(kept, _)| kept == key));
            own.extend(directives.iter().cloned());
        }
        Ok(())
    }

    /// The extent of a dimension with this current length, including its maximum.
    pub(in crate::format) fn extent(&self, dimension: usize, current: u64) -> Extent {
        match self.maximum.get(dimension) {
            None => Extent::Fixed(current),
            Some(None) => Extent::Unlimited { current },
            Some(Some(max)) if *max > current => Extent::Limited { current, max: *max },
            Some(Some(_)) => Extent::Fixed(current),
        }
    }

    /// Whether a dimension may grow beyond its current length.
    pub(in crate::format) fn grows(&self, dimension: usize, current: u64) -> bool {
        !self.extent(dimension, current).is_fixed()
    }

    /// The number of stored dimensions that belong to the datatype.
    pub(in crate::format) fn trailing(&self) -> usize {
        self.datatype.as_deref().map_or(0, |datatype| lowering::trailing(datatype).len())
    }

    /// The maximum extents of an array with these extents.
    pub(in crate::format) fn longest(&self, extents: &[u64]) -> Vec<u64> {
        let longest = |(dimension, current): (usize, &u64)| match self.maximum.get(dimension) {
            None => *current,
            Some(None) => u64::MAX,
            Some(Some(maximum)) => (*maximum).max(*current),
        };
        extents.iter().enumerate().map(longest).collect()
    }

    /// The record in a JSON text, without its attributes.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`](hyperslab_core::ErrorKind::Malformed) for an invalid record.
    pub(in crate::format) fn of_object(object: &Object) -> Result<Record> {
        let others = object.iter().filter(|(name, _)| *name != "attributes");
        let others = others.map(|(name, json)| (name.to_owned(), json.clone())).collect();
        Record::parse(&others, &Object::new(), None)
    }

    /// The attributes that the record declares as [characters](are_characters), with their strings.
    ///
    /// # Errors
    /// If the record is invalid.
    pub(in crate::format) fn characters(object: &Object, texts: &Object) -> Result<Attributes> {
        let recorded = attributes::of_characters(&name_list("characters", object)?, texts);
        Ok(attributes::restored(&recorded, texts, None)?.attributes)
    }

    fn parse(object: &Object, visible: &Object, of: Option<&DataType>) -> Result<Record> {
        let mut record = Record::default();
        let characters = name_list("characters", object)?;
        let mut recorded = attributes::of_characters(&characters, visible);
        if let Some(Json::Object(others)) = object.get("attributes") {
            others.iter().for_each(|(name, json)| recorded.insert(name, json.clone()));
        }
        if !recorded.is_empty() {
            let restored =
                attributes::restored(&recorded, visible, of).map_err(|e| in_member("attributes", &e))?;
            (record.attributes, record.changed) = (restored.attributes, restored.changed);
        }
        if let Some(Json::Object(formats)) = object.get("native") {
            for (name, json) in formats.iter() {
                let (Some(format), Json::Object(directives)) = (format_with_content(name), json) else {
                    return Err(malformed(format!("member \"native\": {name:?} with directives")));
                };
                record.native.push((format, directive::directives(directives)));
            }
        }
        if let Some(json) = object.get("type") {
            let datatypes = Object::from_iter([(TYPE.to_owned(), json.clone())]);
            let root = Object::from_iter([("datatypes".to_owned(), Json::Object(datatypes))]);
            let nodes = read(root).map_err(|e| in_member("type", &e))?;
            record.datatype = nodes.into_iter().find_map(|(path, node)| match node {
                Node::Datatype(named) if path.name() == TYPE => Some(named.datatype),
                _ => None,
            });
            if record.datatype.is_none() {
                return Err(malformed("member \"type\": not a type"));
            }
        }
        let sections = SECTIONS.iter().filter_map(|section| Some((*section, object.get(section)?)));
        let sections: Vec<_> = sections.collect();
        let names: Vec<_> = sections.iter().map(|(name, _)| *name).collect();
        let root = sections.into_iter().map(|(name, json)| (name.to_owned(), json.clone())).collect();
        for (path, node) in read(root).map_err(|e| in_member(&names.join(", "), &e))? {
            match node {
                Node::Group(_) | Node::Ndarray(_) | Node::Unreadable(_) => {}
                node => drop(record.members.insert(path.name().to_owned(), node)),
            }
        }
        if let Some(Json::Object(links)) = object.get("links") {
            for (name, json) in links.iter() {
                let link = part::read_link(&value(json)).map_err(|e| in_member("links", &e))?;
                record.members.insert(name.to_owned(), Node::Link(link));
            }
        }
        if let Some(path) = object.get("named").and_then(Json::as_str) {
            let datatype =
                record.datatype.take().ok_or_else(|| malformed("member \"named\" without \"type\""))?;
            let path = NodePath::new(path)
                .map_err(|_| malformed(format!("member \"named\": {path:?}, expected a path")))?;
            record.datatype = Some(Arc::new(Datatype::Named(path, datatype)));
        }
        record.attribute_order = name_list("attribute_order", object)?;
        record.member_order = name_list("member_order", object)?;
        record.is_null = object.get("shape") == Some(&Json::Null);
        record.fill_is_missing = object.get("missing") == Some(&Json::Bool(true));
        record.kind = match object.get("kind").and_then(Json::as_str) {
            Some("dimcoord") => Some(NodeKind::DimCoord),
            Some("ndarray") => Some(NodeKind::Ndarray),
            _ => None,
        };
        record.extents = list(object.get("extents"), |json| match json {
            Json::Number(number) => {
                number.as_u64().ok_or_else(|| malformed("member \"extents\": expected non-negative integers"))
            }
            _ => Err(malformed("member \"extents\": expected non-negative integers")),
        })?;
        (record.domain, record.tile) = (object.get("domain").cloned(), object.get("tile").cloned());
        record.maximum = list(object.get("maximum"), |json| length("maximum", json))?;
        record.beside = match &*list(object.get("dimension"), |json| length("dimension", json))? {
            [] => None,
            [Some(current), None] => Some(Extent::Unlimited { current: *current }),
            [Some(current), Some(max)] if current == max => Some(Extent::Fixed(*max)),
            [Some(current), Some(max)] if current < max => {
                Some(Extent::Limited { current: *current, max: *max })
            }
            _ => return Err(malformed("member \"dimension\": expected a length and its maximum or null")),
        };
        if let Some(paths @ Json::Array(_)) = object.get("dimensions") {
            record.dimensions = Some(list(Some(paths), |json| match json {
                Json::Null => Ok(None),
                json => {
                    let path = json.as_str().and_then(|path| NodePath::new(path).ok());
                    path.map(Some).ok_or_else(|| malformed("member \"dimensions\": expected paths or null"))
                }
            })?);
        }
        record.fill = object.get("fill").cloned();
        record.is_padded = object.get("padded") == Some(&Json::Bool(true));
        record.storage = object.get("storage").cloned();
        Ok(record)
    }
}

/// The positions of names in an order. Names that are not in it come last.
pub(in crate::format) fn places(order: &[String]) -> impl Fn(&str) -> usize + '_ {
    let places: FxHashMap<&str, usize> =
        order.iter().enumerate().map(|(place, name)| (name.as_str(), place)).collect();
    move |name| places.get(name).copied().unwrap_or(usize::MAX)
}

/// A datatype as NDL JSON, including the lengths of strings; named types are written as their names.
///
/// # Errors
/// If NDL cannot express it.
pub(in crate::format) fn datatype_json(datatype: &Datatype) -> Result<Json> {
    let datatype = unnamed(datatype);
    let mut storage = Storage::default();
    see_texts(&datatype, &mut storage.element);
    let named = NamedDatatype {
        datatype: Arc::new(datatype),
        attributes: Attributes::new(),
        storage: storage.into(),
    };
    let value = part::datatype(&named, StorageDetail::Brief)?;
    value.map(json).transpose()?.ok_or_else(|| Error::invalid("a type that NDL does not write"))
}

/// The directives of other formats that count as content, as JSON; `None` if there are none.
pub(in crate::format) fn native_json(storage: &Storage) -> Option<Json> {
    let mut formats = Object::new();
    for (format, key, value) in content(storage) {
        let mut own = match formats.get(format) {
            Some(Json::Object(own)) => own.clone(),
            _ => Object::new(),
        };
        own.insert(key, directive::json(value));
        formats.insert(format, Json::Object(own));
    }
    (!formats.is_empty()).then_some(Json::Object(formats))
}

/// Attributes as NDL JSON: objects with shape, type and value.
///
/// # Errors
/// If NDL cannot express one of them.
pub(in crate::format) fn attributes_json(attributes: &Attributes) -> Result<Object> {
    match json(Value::Map(part::attributes(attributes)?))? {
        Json::Object(object) => Ok(object),
        _ => Ok(Object::new()),
    }
}

/// The members of a group that are not nodes in the store, by section: `datatypes`, `dimcoords`, `links`.
///
/// # Errors
/// If NDL cannot express one of them.
pub(in crate::format) fn members_json(members: &[(String, Node)]) -> Result<Object> {
    let (mut datatypes, mut dimcoords, mut links) = (Vec::new(), Vec::new(), Vec::new());
    for (name, node) in members {
        let (section, value) = match &alone(node) {
            Node::Datatype(named) => (&mut datatypes, part::datatype(named, StorageDetail::Full)?),
            Node::DimCoord(dimcoord) => (&mut dimcoords, part::dimcoord(dimcoord)?),
            Node::Link(link) => (&mut links, part::link(link)),
            Node::Group(_) | Node::Ndarray(_) | Node::Unreadable(_) => continue,
        };
        if let Some(value) = value {
            section.push((name.clone(), value));
        }
    }
    let sections = [("datatypes", datatypes), ("dimcoords", dimcoords), ("links", links)];
    let sections = sections.into_iter().filter(|(_, members)| !members.is_empty());
    sections.map(|(name, members)| Ok((name.to_owned(), json(Value::Map(members))?))).collect()
}

/// The first element as NDL JSON.
///
/// # Errors
/// If there is no element.
pub(in crate::format) fn element_json(datatype: &Datatype, values: &Values) -> Result<Json> {
    elements_json(datatype, values).next().ok_or_else(|| Error::invalid("no fill value"))?
}

/// Each element as NDL JSON.
pub(in crate::format) fn elements_json<'a>(
    datatype: &'a Datatype,
    values: &'a Values,
) -> impl Iterator<Item = Result<Json>> + 'a {
    Elements::new(datatype, values).map(|element| json(part::element(element)))
}

/// Parses elements from the JSON of [`elements_json`].
///
/// # Errors
/// [`ErrorKind::Malformed`](hyperslab_core::ErrorKind::Malformed) if an item is not an element of the datatype.
pub(in crate::format) fn elements(datatype: &Datatype, items: &[Json]) -> Result<Values> {
    let items: Vec<_> = items.iter().map(value).collect();
    part::elements(&items, datatype).map_err(|error| {
        Error::malformed(format!("an element that is not one of {datatype}: {}", error.reason()))
    })
}

/// A member that can be read independently of others: named types are expanded, and unreadable attributes are removed.
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
        attribute.storage = unusual(&attribute.storage);
    }
    node
}

/// Whether a datatype is or contains a named type.
pub(in crate::format) fn has_named(datatype: &Datatype) -> bool {
    datatype.any(&|of| matches!(of, Datatype::Named(..)))
}

/// The datatype with all named types expanded.
pub(in crate::format) fn unnamed(datatype: &Datatype) -> Datatype {
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

/// The storage properties of an attribute that differ from those of strings and numbers in JSON, which are
/// variable-length UTF-8 and little-endian.
pub(in crate::format) fn unusual(storage: &ElementStorage) -> ElementStorage {
    let ElementStorage { endian, members, charset, length, pad, .. } = storage;
    let members = members.iter().map(|(name, member)| (name.clone(), unusual(member)));
    ElementStorage {
        endian: endian.filter(|order| *order != ByteOrder::Little),
        members: members.filter(|(_, member)| !member.is_empty()).collect(),
        charset: charset.filter(|set| *set != CharacterSet::Utf8),
        length: length.filter(|length| *length != Length::Variable),
        pad: pad.filter(|pad| *pad != Pad::NulTerminated),
        ..storage.clone()
    }
}

/// Adds the lengths and padding of strings to the storage, as far as NDL can express them.
pub(in crate::format) fn see_texts(datatype: &Datatype, storage: &mut ElementStorage) {
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

/// Parses the objects of a root group with these sections.
fn read(root: Object) -> Result<Vec<(NodePath, Node)>> {
    if root.is_empty() {
        return Ok(Vec::new());
    }
    part::read_group(value(&Json::Object(root)))
}

/// A length; `None` for unlimited.
fn length(member: &str, json: &Json) -> Result<Option<u64>> {
    let length = match json {
        Json::Null => return Ok(None),
        Json::Number(number) => number.as_u64(),
        _ => None,
    };
    let wrong = || malformed(format!("member {member:?}: expected non-negative integers or null"));
    length.map(Some).ok_or_else(wrong)
}

/// A list of names.
fn name_list(member: &str, record: &Object) -> Result<Vec<String>> {
    let name = |json: &Json| json.as_str().map(str::to_owned);
    let wrong = || malformed(format!("member {member:?}: expected names"));
    list(record.get(member), |json| name(json).ok_or_else(wrong))
}

fn list<T>(json: Option<&Json>, one: impl Fn(&Json) -> Result<T>) -> Result<Vec<T>> {
    match json {
        Some(Json::Array(items)) => items.iter().map(one).collect(),
        _ => Ok(Vec::new()),
    }
}

fn in_member(member: &str, error: &Error) -> Error {
    Error::new(error.kind(), format!("member {member:?}: {}", error.reason()))
}

fn malformed(detail: impl Into<std::borrow::Cow<'static, str>>) -> Error {
    Error::malformed(detail)
}

/// The name of a record in error messages.
const RECORD: &str = "the record of hyperslab";

/// The sections of a group that NDL parses.
const SECTIONS: [&str; 2] = ["datatypes", "dimcoords"];

/// The name under which NDL parses the datatype of an array. A section has no other datatype.
const TYPE: &str = "type";
