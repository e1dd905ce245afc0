//! A TileDB store as a [`Source`].

use super::array::{Coordinates, DenseArray, label};
use super::cells::SparseArray;
use super::objects::{ArrayObject, Field, Found, Member, Object, Objects};
use super::own::OwnArray;
use super::record::Record;
use super::{history, metadata};
use crate::cells::CellSource;
use crate::format::OpenOptions;
use crate::pool::Pool;
use crate::source::{
    ArraySource, ColumnOfCells, Dialect, Entry, Event, Handle, Item, LeftBehind, Sizes, Source, Stored,
};
use hyperslab_core::store::{EntryKind, Key, Store};
use hyperslab_core::{Error, Limits, Result, valid};
use hyperslab_model::{Attributes, Group, Link, Node, NodeKind, NodePath, Shape, Storage, Unreadable};
use hyperslab_tiledb::array::OpenOptions as ArrayOptions;
use hyperslab_tiledb::group::relative_key;
use hyperslab_tiledb::read::sparse::SparseField;
use std::sync::{Arc, OnceLock};

/// An opened array, or an opened group with everything below it.
pub(super) struct TileDbSource {
    pub(super) objects: Objects,
    raw: bool,
    pool: Pool,
    size: OnceLock<u64>,
}

impl TileDbSource {
    pub(super) fn open(
        store: Arc<dyn Store>,
        array_options: ArrayOptions,
        options: &OpenOptions,
    ) -> Result<TileDbSource> {
        let mut objects = Objects::new(store, array_options, options.raw);
        if options.dataspace.is_some() {
            objects = objects.with_folders();
        }
        objects.open(&Key::root())?;
        Ok(TileDbSource { objects, raw: options.raw, pool: options.pool.clone(), size: OnceLock::new() })
    }

    fn handle(&self, path: NodePath, key: &Key, field: Option<usize>) -> Handle {
        let number = self.objects.number(key) << FIELD_BITS;
        let id = number | field.map_or(0, |field| field as u64 + 1);
        Handle { path, id }
    }

    /// The attributes of a group, or of an array that is shown as a group.
    pub(super) fn attributes(&self, object: &Object) -> Result<Attributes> {
        match object {
            Object::Array(array) => Ok(array.metadata(self.raw)?.own.clone()),
            Object::Group(group) => Ok(metadata::attributes(group.metadata()?, &group.record, self.raw)),
        }
    }

    /// The number of a member of an array.
    pub(super) fn field_id(&self, array: &ArrayObject, field: Field) -> u64 {
        let place = array.fields.values().position(|own| *own == field);
        self.handle(NodePath::root(), &array.key, place).id
    }

    /// An array or group, whose members are listed later. A member of a group that does not exist is immediately shown
    /// as unreadable.
    fn object_entry(&self, path: NodePath, key: &Key) -> Entry {
        let item = || {
            // Only the metadata of an array state whether its attribute represents the array.
            if !self.objects.is_array(key)? {
                return Ok(Item::Group);
            }
            match &*self.objects.open(key)? {
                Object::Array(array) => match &array.record {
                    Some(record) => own_item(array, record),
                    None => Ok(Item::Group),
                },
                Object::Group(_) => Ok(Item::Group),
            }
        };
        let unreadable = |error: Error| Item::Unreadable(Unreadable::new(Some(NodeKind::Group), &error));
        let item = item().unwrap_or_else(unreadable);
        Entry { handle: self.handle(path, key, None), item }
    }

    /// An array that is collected with others.
    fn collected_entry(&self, path: NodePath, key: &Key, position: usize) -> Entry {
        let item = || match &*self.objects.open(key)? {
            Object::Array(array) => own_item(array, array.own_record(position)?),
            Object::Group(_) => Err(missing(&path)),
        };
        let unreadable = |error: Error| Item::Unreadable(Unreadable::new(Some(NodeKind::Ndarray), &error));
        let item = item().unwrap_or_else(unreadable);
        let number = self.objects.number(key) << FIELD_BITS;
        let id = number | (position as u64).saturating_add(1);
        Entry { handle: Handle { path, id }, item }
    }

    /// A member that is stored in the record of its group.
    fn recorded_entry(&self, path: NodePath, node: &Node) -> Entry {
        let item = match node {
            Node::DimCoord(dimcoord) => {
                let dimension = hyperslab_model::Dimension { extent: dimcoord.size, coordinate: None };
                Item::Array {
                    kind: NodeKind::DimCoord,
                    datatype: None,
                    shape: Shape::Dims(vec![dimension]),
                    stored: Stored::Bytes(0),
                }
            }
            Node::Datatype(named) => Item::Datatype(Arc::clone(&named.datatype)),
            Node::Link(link) => Item::Link(link.clone()),
            Node::Group(_) | Node::Ndarray(_) | Node::Unreadable(_) => Item::Group,
        };
        Entry { handle: Handle { path, id: u64::MAX }, item }
    }

    fn field_entry(&self, path: NodePath, key: &Key, array: &ArrayObject, field: Field) -> Entry {
        let place = array.fields.values().position(|own| *own == field);
        let handle = self.handle(path, key, place);
        let group = handle.path.parent().unwrap_or_else(NodePath::root);
        let item = field_item(&group, array, field);
        let item = item.unwrap_or_else(|error| Item::Unreadable(Unreadable::new(Some(kind(field)), &error)));
        Entry { handle, item }
    }
}

impl Source for TileDbSource {
    fn dialect(&self) -> &'static Dialect {
        &super::DIALECT
    }

    fn size(&self) -> Result<u64> {
        if let Some(size) = self.size.get() {
            return Ok(*size);
        }
        let store = &*self.objects.store;
        let (mut sizes, mut folders) = (Sizes::new(store, &self.pool), vec![Key::root()]);
        while let Some(folder) = folders.pop() {
            self.pool.check()?;
            for entry in store.list(&folder)? {
                let key = folder.join(&entry.name)?;
                match entry.kind {
                    EntryKind::Prefix => folders.push(key),
                    _ => sizes.add(key)?,
                }
            }
        }
        let size = sizes.sum()?;
        Ok(*self.size.get_or_init(|| size))
    }

    fn limits(&self) -> Limits {
        self.objects.options.limits
    }

    fn pool(&self) -> &Pool {
        &self.pool
    }

    fn find(&self, path: &NodePath) -> Result<Entry> {
        Ok(match self.objects.find(path)? {
            Found::Object(key) => self.object_entry(path.clone(), &key),
            Found::Field(key, object, field) => {
                let Object::Array(array) = &*object else { return Err(missing(path)) };
                self.field_entry(path.clone(), &key, array, field)
            }
            Found::Collected(key, position) => self.collected_entry(path.clone(), &key, position),
            Found::Outside(uri) => outside(path.clone(), uri),
            Found::Recorded(node) => self.recorded_entry(path.clone(), &node),
        })
    }

    fn members(&self, group: &Handle) -> Result<Vec<Entry>> {
        let Found::Object(key) = self.objects.find(&group.path)? else {
            return Err(Error::invalid("is not a group").in_object(&group.path));
        };
        let object = self.objects.open(&key)?;
        Ok(match &*object {
            Object::Array(array) => {
                let entry = |(name, field): (&String, &Field)| {
                    self.field_entry(group.path.child(name), &key, array, *field)
                };
                array.fields.iter().map(entry).collect()
            }
            Object::Group(found) => {
                let entry = |(name, member): (&String, &Member)| {
                    let path = group.path.child(name);
                    match member {
                        Member::Within(key) => self.object_entry(path, key),
                        Member::Collected(key, position) => self.collected_entry(path, key, *position),
                        Member::Outside(uri) => outside(path, uri.clone()),
                        Member::Recorded(node) => self.recorded_entry(path, node),
                    }
                };
                found.members.iter().map(entry).collect()
            }
        })
    }

    fn keeps_order(&self, group: &NodePath) -> Result<bool> {
        // A view can have groups that the store does not have.
        let Some(Found::Object(key)) = valid(self.objects.find(group))? else { return Ok(false) };
        Ok(match &*self.objects.open(&key)? {
            Object::Group(group) => !group.record.shared.member_order.is_empty(),
            Object::Array(_) => false,
        })
    }

    fn load(&self, object: &Handle) -> Result<Node> {
        let path = &object.path;
        let node = || match self.objects.find(path)? {
            Found::Object(key) => match &*self.objects.open(&key)? {
                Object::Array(array) => match &array.record {
                    Some(record) => array.own_node(path, record),
                    None => {
                        let attributes = array.metadata(self.raw)?.own.clone();
                        Ok(Node::Group(Group { attributes, cells: None, storage: array.storage().into() }))
                    }
                },
                object @ Object::Group(group) => {
                    let attributes = self.attributes(object)?;
                    let mut storage = Storage::default();
                    group.record.shared.restore_native(&mut storage)?;
                    Ok(Node::Group(Group { attributes, storage: storage.into(), ..Group::default() }))
                }
            },
            Found::Collected(key, position) => match &*self.objects.open(&key)? {
                Object::Array(array) => array.own_node(path, array.own_record(position)?),
                Object::Group(_) => Err(missing(path)),
            },
            Found::Recorded(node) => Ok(*node),
            Found::Field(_, object, field) => {
                let Object::Array(array) = &*object else { return Err(missing(path)) };
                let attributes = array.metadata(self.raw)?.of(path.name());
                let group = path.parent().unwrap_or_else(NodePath::root);
                Ok(match field {
                    Field::Dimension(position) => Node::DimCoord(array.dimcoord(position, attributes)?),
                    Field::Attribute(position) => Node::Ndarray(array.ndarray(&group, position, attributes)?),
                    Field::Label(position) => Node::Ndarray(array.label(&group, position)?),
                })
            }
            Found::Outside(uri) => Ok(Node::Link(Link::External { file: uri, path: "/".to_owned() })),
        };
        node().map_err(|error: Error| error.in_object(path))
    }

    fn array(&self, object: &Handle) -> Result<Arc<dyn ArraySource>> {
        let path = &object.path;
        let found = self.objects.find(path)?;
        let own = match &found {
            Found::Object(key) => Some((key, 0)),
            Found::Collected(key, position) => Some((key, *position)),
            _ => None,
        };
        if let Some((key, position)) = own
            && let Object::Array(array) = &*self.objects.open(key)?
            && array.is_own()
        {
            let record = array.own_record(position)?;
            let opened = OwnArray::open(array, record, self.pool.clone());
            return opened.map(|array| Arc::new(array) as _).map_err(|error| error.in_object(path));
        }
        let Found::Field(_, found, field) = found else {
            return Err(Error::invalid("is a group, not an array").in_object(path));
        };
        let Object::Array(array) = &*found else { return Err(missing(path)) };
        let pool = self.pool.clone();
        let open = || -> Result<Arc<dyn ArraySource>> {
            Ok(match field {
                Field::Dimension(_) | Field::Attribute(_) if array.is_sparse() => {
                    let group = path.parent().unwrap_or_else(NodePath::root);
                    let Item::Array { datatype: Some(datatype), shape, .. } =
                        field_item(&group, array, field)?
                    else {
                        return Err(missing(path));
                    };
                    let column = match field {
                        Field::Dimension(position) => SparseField::Dimension(position),
                        Field::Attribute(position) | Field::Label(position) => {
                            SparseField::Attribute(position)
                        }
                    };
                    let extents = shape.current().unwrap_or_default();
                    let (chunk, of) = (vec![1; extents.len()], Arc::clone(&array.array));
                    let stored = Box::new(move || of.stored_size(column));
                    Arc::new(ColumnOfCells { extents, datatype, chunk, pool, stored })
                }
                Field::Dimension(position) => Arc::new(Coordinates::open(array, position, pool)?),
                Field::Attribute(position) => Arc::new(DenseArray::open(array, position, pool)?),
                Field::Label(position) => {
                    let key = array.label_key(position)?;
                    Arc::new(label(array, position, &*self.objects.open(&key)?, pool)?)
                }
            })
        };
        open().map_err(|error| error.in_object(path))
    }

    fn cells(&self, group: &Handle) -> Result<Option<Arc<dyn CellSource>>> {
        match self.objects.find(&group.path)? {
            Found::Object(key) => match &*self.objects.open(&key)? {
                Object::Array(array) if array.is_sparse() => {
                    Ok(Some(Arc::new(SparseArray::open(array, self.pool.clone())?)))
                }
                _ => Ok(None),
            },
            _ => Ok(None),
        }
    }

    fn left_behind(&self, object: &Handle) -> Result<Vec<LeftBehind>> {
        // Views also show objects at other paths.
        Ok(match valid(self.objects.find(&object.path))? {
            Some(Found::Object(key) | Found::Collected(key, _)) => match &*self.objects.open(&key)? {
                Object::Array(array) => array.left_behind(),
                Object::Group(_) => Vec::new(),
            },
            Some(Found::Field(_, object, Field::Attribute(position))) => match &*object {
                Object::Array(array) => array.left_behind_of(position)?.into_iter().collect(),
                Object::Group(_) => Vec::new(),
            },
            _ => Vec::new(),
        })
    }

    fn history(&self, object: &Handle) -> Result<Option<Vec<Event>>> {
        history::history(&self.objects, &object.path).map_err(|error| error.in_object(&object.path))
    }
}

impl ArrayObject {
    /// The key of the array of a dimension label.
    pub(super) fn label_key(&self, position: usize) -> Result<Key> {
        let label = self.array.schema().dimension_labels.get(position);
        let label = label.ok_or_else(|| Error::invalid("a label that the array does not have"))?;
        let uri = String::from_utf8_lossy(&label.uri);
        match label.relative {
            true => relative_key(&self.key, &label.uri)
                .ok_or_else(|| Error::malformed(format!("a dimension label outside of the store, {uri}"))),
            false => Err(Error::unsupported(format!("a dimension label in another place, {uri}"))),
        }
    }
}

/// An array that is stored as the only attribute of a TileDB array.
fn own_item(array: &ArrayObject, record: &Record) -> Result<Item> {
    let node = array.own_ndarray(record, Default::default())?;
    Ok(Item::Array {
        kind: record.shared.kind.unwrap_or(NodeKind::Ndarray),
        datatype: node.datatype,
        shape: node.shape,
        stored: Stored::Chunks(Arc::new((*node.storage).clone())),
    })
}

fn field_item(group: &NodePath, array: &ArrayObject, field: Field) -> Result<Item> {
    Ok(match field {
        Field::Dimension(position) => {
            let node = array.dimcoord(position, Default::default())?;
            let shape = Shape::Dims(vec![hyperslab_model::Dimension { extent: node.size, coordinate: None }]);
            // The size of coordinates is in the footers of fragments, which are not read for listings.
            let stored = match array.is_sparse() {
                true => Stored::Chunks(Arc::new((*node.storage).clone())),
                false => Stored::Bytes(0),
            };
            Item::Array { kind: NodeKind::DimCoord, datatype: node.datatype, shape, stored }
        }
        Field::Attribute(position) => {
            let node = array.ndarray(group, position, Default::default())?;
            let stored = Stored::Chunks(Arc::new((*node.storage).clone()));
            Item::Array { kind: NodeKind::Ndarray, datatype: node.datatype, shape: node.shape, stored }
        }
        Field::Label(position) => {
            let node = array.label(group, position)?;
            let stored = Stored::Bytes(0);
            Item::Array { kind: NodeKind::Ndarray, datatype: node.datatype, shape: node.shape, stored }
        }
    })
}

fn kind(field: Field) -> NodeKind {
    match field {
        Field::Dimension(_) => NodeKind::DimCoord,
        Field::Attribute(_) | Field::Label(_) => NodeKind::Ndarray,
    }
}

fn outside(path: NodePath, uri: String) -> Entry {
    let link = Link::External { file: uri, path: "/".to_owned() };
    Entry { handle: Handle { path, id: u64::MAX }, item: Item::Link(link) }
}

fn missing(path: &NodePath) -> Error {
    Error::not_found(format!("no object {path}"))
}

/// The number of bits in the number of an object that hold the position of a member in its array.
const FIELD_BITS: u32 = 32;
