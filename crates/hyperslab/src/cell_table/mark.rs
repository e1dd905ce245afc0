//! What a table of cells records about a sparse array.

use super::MARK;
use hyperslab_core::rows::Packed;
use hyperslab_core::{Error, Result};
use hyperslab_model::{
    Attribute, Attributes, BoxedStorage, Datatype, Dimension, Element, Elements, Group, Member, Ndarray,
    Node, NodePath, Shape, Text,
};
use hyperslab_ndl::{Emitter, Format, Head, Options, ParseOptions, StorageDetail, parse_within};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// What a table of cells records about a sparse array: its members as NDL describes them, and what was added to the
/// table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mark {
    /// The name of the dimension of the table.
    pub(crate) along: String,
    /// The names and objects of the columns, without attributes and values: the dimensions first, in order.
    pub(crate) columns: Vec<(String, Node)>,
    /// The columns with values that can be null, and the arrays that state which are not.
    pub(crate) valid: Vec<(String, String)>,
    /// The columns along dimensions that are not columns, and their paths.
    pub(crate) outer: Vec<(String, Vec<Option<String>>)>,
    /// The columns with attributes that the sparse array does not have.
    pub(crate) added: Vec<(String, Vec<String>)>,
    /// The directives of the group.
    pub(crate) storage: BoxedStorage,
}

impl Mark {
    /// Adds a column, the object at `path`. The dimensions of its group come before others.
    pub(crate) fn add(&mut self, path: &NodePath, mut node: Node) {
        match &mut node {
            Node::Ndarray(array) => {
                array.attributes = Attributes::new();
                array.value = None;
                array.datatype = array.datatype.as_deref().map(|datatype| Arc::new(unnamed(datatype)));
                if let Shape::Dims(dims) = &mut array.shape {
                    let outer: Vec<_> = dims.iter_mut().map(|of| self.outer(path, of)).collect();
                    if outer.iter().any(Option::is_some) {
                        self.outer.push((path.name().to_owned(), outer));
                    }
                }
            }
            Node::DimCoord(dimcoord) => {
                dimcoord.attributes = Attributes::new();
                dimcoord.value = None;
                dimcoord.datatype = dimcoord.datatype.as_deref().map(|datatype| Arc::new(unnamed(datatype)));
            }
            _ => {}
        }
        self.columns.push((path.name().to_owned(), node));
    }

    /// Moves a dimension of an array into the group of the mark. If it is not one of the columns, returns its path.
    fn outer(&self, array: &NodePath, dimension: &mut Dimension) -> Option<String> {
        let of = dimension.coordinate.take()?;
        let is_column =
            |(name, node): &(String, Node)| name == of.name() && matches!(node, Node::DimCoord(_));
        match of.parent() == array.parent() && self.columns.iter().any(is_column) {
            true => {
                dimension.coordinate = Some(NodePath::root().child(of.name()));
                None
            }
            false => Some(of.as_str().to_owned()),
        }
    }

    /// The object of a column in the group at `path`.
    pub(crate) fn column(&self, name: &str, path: &NodePath) -> Option<Node> {
        let mut node = self.columns.iter().find(|(of, _)| of == name)?.1.clone();
        if let Node::Ndarray(Ndarray { shape: Shape::Dims(dims), .. }) = &mut node {
            let outer = self.outer.iter().find(|(of, _)| of == name).map(|(_, outer)| outer.as_slice());
            for (place, dimension) in dims.iter_mut().enumerate() {
                dimension.coordinate = match outer.and_then(|outer| outer.get(place)?.as_deref()) {
                    Some(outer) => NodePath::new(outer).ok(),
                    None => dimension.coordinate.take().map(|of| path.child(of.name())),
                };
            }
        }
        Some(node)
    }

    /// The array that states which values of a column are not null.
    pub(crate) fn valid_of(&self, column: &str) -> Option<&str> {
        self.valid.iter().find(|(of, _)| of == column).map(|(_, valid)| valid.as_str())
    }

    /// Whether an attribute of a column was added.
    pub(crate) fn is_added(&self, column: &str, attribute: &str) -> bool {
        let added = self.added.iter().find(|(of, _)| of == column);
        added.is_some_and(|(_, names)| names.iter().any(|name| name == attribute))
    }

    /// The text of the attribute.
    ///
    /// # Errors
    /// If NDL cannot express a column.
    pub(crate) fn to_json(&self) -> Result<String> {
        let options =
            Options { values: None, storage: StorageDetail::Full, pure: false, texts_are_characters: false };
        let mut emitter = Emitter::new(Format::Json, options);
        for (name, node) in &self.columns {
            if matches!(node, Node::DimCoord(_)) {
                emitter.declare_dimcoord(&NodePath::root().child(name), true);
            }
        }
        let group = Group { storage: self.storage.clone(), ..Group::default() };
        emitter.node(&NodePath::root(), &Node::Group(group))?;
        for (name, node) in &self.columns {
            emitter.node(&NodePath::root().child(name), node)?;
        }
        let mut text = Vec::new();
        emitter.finish(&Head { location: "", format: "", title: "", version: "" }, &mut text)?;
        let mut document: Value = serde_json::from_slice(&text).map_err(|e| Error::invalid(e.to_string()))?;
        let group = document.get_mut("/").map(Value::take).unwrap_or_else(|| json!({}));
        let names: Vec<&str> = self.columns.iter().map(|(name, _)| name.as_str()).collect();
        let mut mark = Map::new();
        mark.insert("along".into(), json!(self.along));
        mark.insert("columns".into(), json!(names));
        if !self.valid.is_empty() {
            mark.insert("valid".into(), json!(self.valid));
        }
        if !self.outer.is_empty() {
            mark.insert("outer".into(), json!(self.outer));
        }
        if !self.added.is_empty() {
            mark.insert("added".into(), json!(self.added));
        }
        mark.insert("group".into(), group);
        Ok(Value::Object(mark).to_string())
    }

    /// The mark among the attributes of a group, if there is one.
    ///
    /// # Errors
    /// [`Malformed`](hyperslab_core::ErrorKind::Malformed) for an invalid mark.
    pub(crate) fn of(attributes: &Attributes) -> Result<Option<Mark>> {
        let Some(text) = text_of_attribute(attributes, MARK) else { return Ok(None) };
        Mark::parse(text).map(Some).map_err(|e| Error::malformed(format!("attribute {MARK}: {}", e.reason())))
    }

    fn parse(text: &[u8]) -> Result<Mark> {
        let mark: Value = serde_json::from_slice(text).map_err(|e| Error::malformed(e.to_string()))?;
        let missing = |name: &str| Error::malformed(format!("no valid member {name:?}"));
        let names = || -> Option<Vec<String>> { strings(mark.get("columns")?) };
        let pairs = |name: &str| -> Result<Vec<(String, Value)>> {
            let Some(Value::Array(pairs)) = mark.get(name) else { return Ok(Vec::new()) };
            let pair = |pair: &Value| Some((pair.get(0)?.as_str()?.to_owned(), pair.get(1)?.clone()));
            pairs.iter().map(|of| pair(of).ok_or_else(|| missing(name))).collect()
        };
        let group = mark.get("group").ok_or_else(|| missing("group"))?.to_string();
        let parsed = parse_within(group.as_bytes(), &ParseOptions::default(), MAX_MEMORY)?;
        if let Some(error) = parsed.diagnostics.iter().find(|_| parsed.has_errors()) {
            return Err(Error::malformed(format!("member \"group\": {error}")));
        }
        let nodes = parsed.content.nodes;
        let mut columns = Vec::new();
        for name in names().ok_or_else(|| missing("columns"))? {
            let node = nodes.get(&NodePath::root().child(&name)).cloned();
            let node = node.filter(|node| matches!(node, Node::DimCoord(_) | Node::Ndarray(_)));
            let node = node.filter(|node| node.datatype().is_some());
            let node = node.ok_or_else(|| Error::malformed(format!("no column {name:?}")))?;
            columns.push((name, node));
        }
        let storage = match nodes.get(&NodePath::root()) {
            Some(Node::Group(group)) => group.storage.clone(),
            _ => BoxedStorage::default(),
        };
        let along = mark.get("along").and_then(Value::as_str).ok_or_else(|| missing("along"))?.to_owned();
        let valid = pairs("valid")?.into_iter().map(|(of, valid)| Some((of, valid.as_str()?.to_owned())));
        let outer = pairs("outer")?.into_iter().map(|(of, paths)| {
            let path = |path: &Value| match path {
                Value::Null => Some(None),
                path => path.as_str().map(|path| Some(path.to_owned())),
            };
            Some((of, paths.as_array()?.iter().map(path).collect::<Option<Vec<_>>>()?))
        });
        let added = pairs("added")?.into_iter().map(|(of, names)| Some((of, strings(&names)?)));
        Ok(Mark {
            along,
            columns,
            valid: valid.collect::<Option<_>>().ok_or_else(|| missing("valid"))?,
            outer: outer.collect::<Option<_>>().ok_or_else(|| missing("outer"))?,
            added: added.collect::<Option<_>>().ok_or_else(|| missing("added"))?,
            storage,
        })
    }
}

/// An attribute with one string.
///
/// # Errors
/// For a string of 4 GiB or more.
pub(crate) fn text_attribute(text: &str) -> Result<Attribute> {
    let mut packed = Packed::default();
    packed.push(text.as_bytes())?;
    Ok(Attribute::new(Vec::new(), Arc::new(Datatype::String(Text::Variable)), packed.finish()))
}

/// The string that is the first element of an attribute; `None` if there is none.
pub(crate) fn text_of_attribute<'a>(attributes: &'a Attributes, name: &str) -> Option<&'a [u8]> {
    let attribute = attributes.get(name)?.as_ref().ok()?;
    match Elements::new(&attribute.datatype, &attribute.value).next()?.get() {
        Element::Text(text) => Some(text),
        _ => None,
    }
}

fn strings(list: &Value) -> Option<Vec<String>> {
    list.as_array()?.iter().map(|item| item.as_str().map(str::to_owned)).collect()
}

/// The datatype with all named types expanded.
fn unnamed(datatype: &Datatype) -> Datatype {
    let inner = |of: &Datatype| Box::new(unnamed(of));
    match datatype {
        Datatype::Named(_, of) => unnamed(of),
        Datatype::Compound(members) => {
            let member = |of: &Member| Member { name: of.name.clone(), datatype: unnamed(&of.datatype) };
            Datatype::Compound(members.iter().map(member).collect())
        }
        Datatype::Vlen(base) => Datatype::Vlen(inner(base)),
        Datatype::Array { base, shape } => Datatype::Array { base: inner(base), shape: shape.clone() },
        Datatype::Nullable(of) => Datatype::Nullable(inner(of)),
        other => other.clone(),
    }
}

/// The maximum memory for the content of a mark.
const MAX_MEMORY: u64 = 64 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use hyperslab_model::{DimCoord, Extent, Storage, Values};

    #[test]
    fn a_mark_is_read_back_as_written() {
        let domain: Vec<u8> = [-5_i64, 1 << 40].iter().flat_map(|end| end.to_ne_bytes()).collect();
        let storage = Storage {
            domain: Some(Values { rows: domain.into(), ..Values::default() }),
            ..Storage::default()
        };
        let x = DimCoord {
            datatype: Some(Arc::new(Datatype::int(64, true))),
            storage: storage.into(),
            ..DimCoord::without_coordinates(Extent::Fixed((1 << 40) + 6))
        };
        let dimension = Dimension { extent: x.size, coordinate: NodePath::new("/deep/x").ok() };
        let far = Dimension { extent: Extent::Fixed(3), coordinate: NodePath::new("/far").ok() };
        let named = Datatype::Named(NodePath::root().child("t"), Arc::new(Datatype::Bool));
        let v = Ndarray {
            shape: Shape::Dims(vec![dimension, far]),
            dimension: None,
            datatype: Some(Arc::new(Datatype::Nullable(Box::new(named)))),
            attributes: Attributes::new(),
            storage: BoxedStorage::default(),
            value: None,
        };
        let mut mark = Mark {
            along: "cell_1".into(),
            valid: vec![("v".into(), "v_valid".into())],
            added: vec![("v".into(), vec!["coordinates".into()])],
            ..Mark::default()
        };
        mark.add(&NodePath::new("/deep/x").unwrap(), Node::DimCoord(x));
        mark.add(&NodePath::new("/deep/v").unwrap(), Node::Ndarray(v));
        let text = mark.to_json().unwrap();
        let attributes = Attributes::from_iter([(MARK.to_owned(), Ok(text_attribute(&text).unwrap()))]);
        let found = Mark::of(&attributes).unwrap().unwrap();
        assert_eq!(found.to_json().unwrap(), text);
        assert!(found.is_added("v", "coordinates") && !found.is_added("x", "coordinates"));
        assert_eq!(found.valid_of("v"), Some("v_valid"));
        let Some(Node::Ndarray(v)) = found.column("v", &NodePath::root().child("g")) else {
            panic!("{text}")
        };
        assert_eq!(v.datatype.unwrap().to_string(), "nullable(bool)");
        assert_eq!(v.shape.dims()[0].coordinate.as_ref().unwrap().as_str(), "/g/x");
        assert_eq!(v.shape.dims()[1].coordinate.as_ref().unwrap().as_str(), "/far");
        let Some(Node::DimCoord(x)) = found.column("x", &NodePath::root()) else { panic!("{text}") };
        assert_eq!(x.storage.domain.as_ref().unwrap().rows.len(), 16);
    }

    #[test]
    fn invalid_marks_say_what_is_wrong() {
        for (text, expected) in [
            ("7", "no valid member \"group\""),
            ("{\"group\": {\"ndarrays\": 3}}", "member \"group\""),
            ("{\"group\": {}, \"columns\": [\"x\"]}", "no column \"x\""),
            ("{\"group\": {}, \"columns\": []}", "no valid member \"along\""),
            ("{", "EOF"),
        ] {
            let error = Mark::parse(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
