//! Arrays and groups of a store by path, opened when they are first requested.

use crate::format::zarr::keep::record::places;
use crate::strings::member_name;
use hyperslab_cf::dataspace::GROUP_ARRAY;
use hyperslab_core::store::{EntryKind, Key, Store};
use hyperslab_core::{Error, Result};
use hyperslab_model::{Node, NodePath};
use hyperslab_tiledb::array::{Array, OpenOptions};
use hyperslab_tiledb::directory::is_array;
use hyperslab_tiledb::format::group::GroupMember;
use hyperslab_tiledb::format::layout::ArrayType;
use hyperslab_tiledb::format::metadata::Value;
use hyperslab_tiledb::group::Group;
use hyperslab_tiledb::group_directory::is_group;
use indexmap::IndexMap;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::array::Positions;
use super::members::{distinct, named};
use super::metadata::{ArrayMetadata, OF_ATTRIBUTE};
use super::record::{RECORD, Record};

/// The arrays and groups of a store.
pub(super) struct Objects {
    pub(super) store: Arc<dyn Store>,
    pub(super) options: OpenOptions,
    /// Whether everything is shown as stored, without records.
    raw: bool,
    /// Whether groups in the folder of a group are shown although they are not among its members.
    with_folders: bool,
    known: Mutex<Known>,
}

/// The number of each array and group that has been requested, and the object if it has been opened.
type Known = FxHashMap<Key, (u64, Option<Arc<Object>>)>;

/// Metadata by their keys.
type Entries = Vec<(Vec<u8>, Value)>;

/// An opened array or group.
pub(super) enum Object {
    Array(Box<ArrayObject>),
    Group(Box<GroupObject>),
}

/// An opened array with the names of its fields.
pub(super) struct ArrayObject {
    pub(super) array: Arc<Array>,
    pub(super) key: Key,
    pub(super) fields: IndexMap<String, Field>,
    pub(super) metadata: OnceLock<std::result::Result<Arc<ArrayMetadata>, Error>>,
    pub(super) positions: OnceLock<Arc<Positions>>,
    /// The record of an array that is stored as its only attribute.
    pub(super) record: Option<Record>,
    /// The records of the attributes that are each an array of the group, if the record of the group says so.
    collected: OnceLock<Vec<Record>>,
}

/// A member of an array, by its position in the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Dimension(usize),
    Attribute(usize),
    Label(usize),
}

/// An opened group with its members.
pub(super) struct GroupObject {
    pub(super) group: Group,
    /// The members of the group itself as they are stored, by the names under which they are shown.
    pub(super) stored: IndexMap<String, GroupMember>,
    pub(super) members: IndexMap<String, Member>,
    /// Its metadata, if they are stored in an array written by this library.
    pub(super) in_array: Option<Entries>,
    pub(super) record: Record,
}

/// The location of a member of a group.
#[derive(Clone, Debug)]
pub(super) enum Member {
    /// An attribute of an array in the store, by its position. It is an array of the group that is collected with
    /// others.
    Collected(Key, usize),
    /// The member is in the record of the group.
    Recorded(Box<Node>),
    /// The member is in the store.
    Within(Key),
    /// The member is elsewhere, at this URI.
    Outside(String),
}

/// The object to which a path leads.
pub(super) enum Found {
    Object(Key),
    Field(Key, Arc<Object>, Field),
    /// An array that is collected with others, as an attribute of an array.
    Collected(Key, usize),
    /// A member of a group that is outside of the store.
    Outside(String),
    /// A member in the record of its group.
    Recorded(Box<Node>),
}

impl Objects {
    /// With `raw`, everything is shown as stored, without records.
    pub(super) fn new(store: Arc<dyn Store>, options: OpenOptions, raw: bool) -> Objects {
        Objects { store, options, raw, with_folders: false, known: Mutex::default() }
    }

    /// The same, but with the groups in the folder of a group that are not among its members: TileDB-CF stores NetCDF
    /// groups in this way.
    pub(super) fn with_folders(self) -> Objects {
        Objects { with_folders: true, ..self }
    }

    /// The object to which a path leads.
    ///
    /// # Errors
    /// [`NotFound`](hyperslab_core::ErrorKind::NotFound) if it leads to nothing; also if an array or a group on the way
    /// cannot be opened.
    pub(super) fn find(&self, path: &NodePath) -> Result<Found> {
        let missing = || Error::not_found(format!("no object {path}"));
        let mut found = Found::Object(Key::root());
        for name in path.as_str().split('/').filter(|name| !name.is_empty()) {
            let Found::Object(key) = found else { return Err(missing()) };
            let object = self.open(&key)?;
            found = match &*object {
                Object::Array(array) if array.record.is_some() => return Err(missing()),
                Object::Array(array) => {
                    let field = *array.fields.get(name).ok_or_else(missing)?;
                    Found::Field(key, object, field)
                }
                Object::Group(group) => match group.members.get(name).ok_or_else(missing)? {
                    Member::Within(member) => Found::Object(member.clone()),
                    Member::Collected(key, position) => Found::Collected(key.clone(), *position),
                    Member::Outside(uri) => Found::Outside(uri.clone()),
                    Member::Recorded(node) => Found::Recorded(node.clone()),
                },
            };
        }
        Ok(found)
    }

    /// The number of an array or group, which is the same for every path that leads to it.
    pub(super) fn number(&self, key: &Key) -> u64 {
        let mut known = self.known();
        let next = known.len() as u64;
        known.entry(key.clone()).or_insert((next, None)).0
    }

    /// The array or group at a key.
    ///
    /// # Errors
    /// If there is none or it cannot be opened.
    pub(super) fn open(&self, key: &Key) -> Result<Arc<Object>> {
        let number = self.number(key);
        if let Some((_, Some(object))) = self.known().get(key) {
            return Ok(Arc::clone(object));
        }
        let opened = Arc::new(self.opened(key)?);
        self.known().insert(key.clone(), (number, Some(Arc::clone(&opened))));
        Ok(opened)
    }

    /// Whether there is an array rather than a group at a key, determined without opening it.
    ///
    /// # Errors
    /// If there is neither or the store cannot be read.
    pub(super) fn is_array(&self, key: &Key) -> Result<bool> {
        if let Some((_, Some(object))) = self.known().get(key) {
            return Ok(matches!(**object, Object::Array(_)));
        }
        match (is_array(&*self.store, key)?, is_group(&*self.store, key)?) {
            (false, false) => Err(nothing(key)),
            (is_array, _) => Ok(is_array),
        }
    }

    fn opened(&self, key: &Key) -> Result<Object> {
        let (store, options) = (&self.store, self.options.clone());
        if is_array(&**store, key)? {
            let array = Arc::new(Array::open(Arc::clone(store), key, options)?);
            let fields = fields(&array);
            let record = if self.raw { None } else { array_record(&array)? };
            return Ok(Object::Array(Box::new(ArrayObject {
                record,
                collected: OnceLock::new(),
                array,
                key: key.clone(),
                fields,
                metadata: OnceLock::new(),
                positions: OnceLock::new(),
            })));
        }
        if !is_group(&**store, key)? {
            return Err(nothing(key));
        }
        let group = Group::open(Arc::clone(store), key, options)?;
        let stored = named(group.members()?);
        let found = self.places(key, &stored)?;
        let mut members: IndexMap<String, Member> = stored.keys().cloned().zip(found).collect();
        if self.with_folders {
            for name in self.folders(key)? {
                let place = key.join(&name)?;
                let is_member =
                    members.values().any(|member| matches!(member, Member::Within(own) if *own == place));
                if !is_member && is_group(&**store, &place)? {
                    let name = distinct(member_name(name.as_bytes()), &members);
                    members.insert(name, Member::Within(place));
                }
            }
        }
        members.sort_unstable_keys();
        let (mut in_array, mut record) = (None, None);
        if !self.raw {
            record = group_record(&group.metadata()?)?;
        }
        if !self.raw
            && let Some(Member::Within(place)) = members.get(GROUP_ARRAY)
            && let Some((own, of_array)) = self.group_array(place)?
        {
            (in_array, record) = (Some(own), Some(of_array));
            members.shift_remove(GROUP_ARRAY);
        }
        let record = record.unwrap_or_default();
        for (array, names) in &record.collected {
            self.put_collected(array, names, &mut members)?;
        }
        for (name, node) in &record.shared.members {
            members.entry(name.clone()).or_insert_with(|| Member::Recorded(Box::new(node.clone())));
        }
        let order = &record.shared.member_order;
        match order.is_empty() {
            true => members.sort_unstable_keys(),
            false => {
                let place = places(order);
                members.sort_by_cached_key(|name, _| place(name));
            }
        }
        Ok(Object::Group(Box::new(GroupObject { group, stored, members, in_array, record })))
    }

    /// The metadata of a group and its record, if they are stored in an array written by this library.
    fn group_array(&self, key: &Key) -> Result<Option<(Entries, Record)>> {
        if !is_array(&*self.store, key)? {
            return Ok(None);
        }
        let array = Array::open(Arc::clone(&self.store), key, self.options.clone())?;
        let metadata = array.metadata()?;
        let record = group_record(&metadata)?.filter(|record| record.is_group);
        Ok(record.map(|record| (metadata, record)))
    }

    /// Replaces an array by its attributes, as the arrays of the group that they represent. An array that another
    /// program has changed is shown as stored.
    fn put_collected(
        &self,
        array: &str,
        names: &[String],
        members: &mut IndexMap<String, Member>,
    ) -> Result<()> {
        let Some(Member::Within(key)) = members.get(array).cloned() else { return Ok(()) };
        // An array that cannot be opened is reported where it is listed.
        let Ok(opened) = self.open(&key) else { return Ok(()) };
        let Object::Array(own) = &*opened else { return Ok(()) };
        let is_taken = |name: &String| name != array && members.contains_key(name);
        if names.iter().any(is_taken) || !own.is_collection_of(names.len())? {
            return Ok(());
        }
        members.shift_remove(array);
        let records = own.collected.get().map(Vec::as_slice).unwrap_or_default();
        for (record, name) in records.iter().zip(names) {
            members.insert(name.clone(), Member::Collected(key.clone(), record.position));
        }
        Ok(())
    }

    /// The names of the folders within that of a group, except for those of TileDB itself.
    fn folders(&self, group: &Key) -> Result<Vec<String>> {
        let entries = self.store.list(group)?.into_iter();
        let folders =
            entries.filter(|entry| entry.kind == EntryKind::Prefix && !entry.name.starts_with("__"));
        Ok(folders.map(|entry| entry.name).collect())
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn nothing(key: &Key) -> Error {
    Error::not_found("neither a TileDB array nor a group").in_object(key)
}

impl GroupObject {
    /// The metadata.
    ///
    /// # Errors
    /// If the metadata cannot be read.
    pub(super) fn metadata(&self) -> Result<Entries> {
        self.in_array.clone().map_or_else(|| self.group.metadata(), Ok)
    }
}

/// The record of an array that is stored as its only attribute.
fn array_record(array: &Array) -> Result<Option<Record>> {
    let [attribute] = array.attributes() else { return Ok(None) };
    if array.schema().array_type != ArrayType::Dense {
        return Ok(None);
    }
    let key = [OF_ATTRIBUTE.as_bytes(), &attribute.name, b".", RECORD.as_bytes()].concat();
    let metadata = array.metadata()?;
    let found = metadata.iter().find(|(own, _)| *own == key);
    let record = found.map(|(_, value)| Record::parse(value)).transpose()?.flatten();
    Ok(record.filter(|record| record.is_array))
}

/// The record of a group.
fn group_record(metadata: &[(Vec<u8>, Value)]) -> Result<Option<Record>> {
    let found = metadata.iter().find(|(key, _)| key == RECORD.as_bytes());
    Ok(found.map(|(_, value)| Record::parse(value)).transpose()?.flatten())
}

/// The members of an array: dimensions, attributes, labels. Since version 5 their names are distinct.
fn fields(array: &Array) -> IndexMap<String, Field> {
    let mut fields = IndexMap::new();
    let mut add = |name: &[u8], anonymous: String, field| {
        let name = if name.is_empty() { anonymous } else { member_name(name) };
        fields.insert(distinct(name, &fields), field);
    };
    for (position, dimension) in array.dimensions().iter().enumerate() {
        add(&dimension.name, format!("__dim_{position}"), Field::Dimension(position));
    }
    for (position, attribute) in array.attributes().iter().enumerate() {
        add(&attribute.name, ANONYMOUS.to_owned(), Field::Attribute(position));
    }
    for (position, label) in array.schema().dimension_labels.iter().enumerate() {
        add(&label.name, format!("__label_{position}"), Field::Label(position));
    }
    fields
}

impl ArrayObject {
    /// Whether its attributes are separate arrays, according to records.
    pub(super) fn is_own(&self) -> bool {
        self.record.is_some() || self.collected.get().is_some()
    }

    /// The record of an attribute that represents a separate array.
    pub(super) fn own_record(&self, position: usize) -> Result<&Record> {
        let record = match &self.record {
            Some(record) => Some(record).filter(|_| position == 0),
            None => {
                self.collected.get().and_then(|all| all.iter().find(|record| record.position == position))
            }
        };
        record
            .ok_or_else(|| Error::invalid(format!("attribute {position}, which is not an array of its own")))
    }

    /// Whether the attributes represent this number of arrays, each stored as one attribute, or as several for the
    /// members of a compound.
    fn is_collection_of(&self, count: usize) -> Result<bool> {
        // A single attribute is shown under the name of the array.
        if self.record.is_some() {
            return Ok(false);
        }
        if let Some(known) = self.collected.get() {
            return Ok(known.len() == count);
        }
        if self.array.schema().array_type != ArrayType::Dense {
            return Ok(false);
        }
        let metadata: BTreeMap<Vec<u8>, Value> = self.array.metadata()?.into_iter().collect();
        let mut records = Vec::with_capacity(count);
        let mut next = 0_usize;
        for (position, attribute) in self.array.attributes().iter().enumerate() {
            if position < next {
                continue;
            }
            let key = [OF_ATTRIBUTE.as_bytes(), &attribute.name, b".", RECORD.as_bytes()].concat();
            let record = metadata.get(&key).map(Record::parse).transpose()?.flatten();
            let Some(mut record) = record.filter(|record| record.is_array) else { return Ok(false) };
            record.position = position;
            next = position.saturating_add(record.parts.unwrap_or(1));
            records.push(record);
        }
        if records.len() != count || next != self.array.attributes().len() {
            return Ok(false);
        }
        self.collected.get_or_init(|| records);
        Ok(true)
    }

    /// Whether it is a dense array without a record.
    pub(super) fn is_plain(&self) -> bool {
        !self.is_own() && self.array.schema().array_type == ArrayType::Dense
    }

    /// The name under which a field is shown.
    pub(super) fn name(&self, field: Field) -> Option<&str> {
        let dimensions = self.array.dimensions().len();
        let place = match field {
            Field::Dimension(position) => Some(position),
            Field::Attribute(position) => position.checked_add(dimensions),
            Field::Label(position) => {
                position.checked_add(dimensions.checked_add(self.array.attributes().len())?)
            }
        };
        self.fields.get_index(place?).map(|(name, _)| name.as_str())
    }
}

/// The name of an unnamed attribute.
const ANONYMOUS: &str = "value";
