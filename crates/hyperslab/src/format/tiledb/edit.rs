//! Changes of TileDB stores in place.
//!
//! Each change becomes one commit with a time of its own, later than everything written before: a schema, a fragment, a
//! delete, a metadata file, or a file with members of a group. Consecutive changes of the same kind to the same object
//! share one commit.

mod cells;
mod columns;
mod condition;
mod elements;
mod members;
mod metadata;
mod schema;
mod upkeep;

use super::objects::{ArrayObject, Field, Found, Object, Objects};
use crate::editor::{Change, Dates, Edit, Editor};
use crate::location::did_you_mean;
use crate::pool::Pool;
use hyperslab_core::store::{DirectoryStore, DirectoryWriter, Durability, Key, Store, WritableStore};
use hyperslab_core::{Error, Result};
use hyperslab_model::NodePath;
use hyperslab_tiledb::array::{Array, OpenOptions};
use hyperslab_tiledb::directory::is_array;
use hyperslab_tiledb::format::group::GroupMember;
use hyperslab_tiledb::format::metadata::{Entry, Metadata};
use hyperslab_tiledb::group::Group;
use hyperslab_tiledb::write::array::{ArrayWriter, WriteOptions};
use hyperslab_tiledb::write::delete::Condition;
use hyperslab_tiledb::write::evolve::Evolution;
use hyperslab_tiledb::write::group::GroupWriter;
use hyperslab_tiledb::write::names::Names;
use hyperslab_tiledb::write::sparse::{Column, SparseFragment};
use schema::SchemaEdit;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use upkeep::Upkeep;

/// Plans and makes changes to an array, or to a group and everything below it.
pub(super) struct TileDbEditor {
    path: PathBuf,
    objects: Objects,
    names: Arc<Names>,
    pool: Pool,
    steps: Vec<Step>,
}

/// A planned commit.
struct Step {
    /// The array or the group.
    key: Key,
    what: What,
}

enum What {
    Schema(Vec<SchemaEdit>),
    Metadata(Vec<Entry>),
    Delete(Condition),
    /// Columns of dimensions, then of attributes.
    Cells(Vec<Column>, usize),
    Elements(elements::Elements),
    /// The members that are added and those that are removed.
    Members(Vec<GroupMember>),
    /// Consolidation or vacuum.
    Upkeep(Upkeep),
}

impl TileDbEditor {
    pub(super) fn open(path: &Path, options: OpenOptions, pool: Pool) -> Result<TileDbEditor> {
        let store: Arc<dyn Store> = Arc::new(DirectoryStore::open(path)?);
        let objects = Objects::new(store, options, false);
        objects.open(&Key::root())?;
        let names = Arc::new(Names::system());
        Ok(TileDbEditor { path: path.to_owned(), objects, names, pool, steps: Vec::new() })
    }

    /// The array or group at a path.
    fn object(&self, path: &NodePath) -> Result<(Key, Arc<Object>)> {
        self.opened(self.objects.find(path)?)
    }

    /// The found array or group, opened.
    fn opened(&self, found: Found) -> Result<(Key, Arc<Object>)> {
        match found {
            Found::Object(key) => {
                let object = self.objects.open(&key)?;
                Ok((key, object))
            }
            Found::Collected(..) => Err(Error::unsupported(
                "is stored together with other arrays of its group, as an attribute of one TileDB array",
            )),
            Found::Field(..) => Err(Error::invalid("is a part of an array, expected an array or a group")),
            Found::Recorded(_) => {
                Err(Error::unsupported("is only in the record of its group, and has no files of its own"))
            }
            Found::Outside(uri) => {
                Err(Error::unsupported(format!("is outside of the store, in {uri}"))
                    .with_hint("open that store"))
            }
        }
    }

    /// Renames a member of a group, or an attribute of an array in which nothing has been written.
    fn rename(&mut self, path: &NodePath, name: &str) -> Result<Change> {
        if name.is_empty() || name.contains('/') {
            return Err(Error::invalid(format!("{name:?}, expected the new name alone")));
        }
        let group = path.parent().ok_or_else(whole_store)?;
        match &*self.object(&group)?.1 {
            Object::Array(_) => self.rename_attribute(path, name),
            Object::Group(_) => self.rename_member(path, name),
        }
    }

    /// Calls `plan` with the array at a path.
    fn with_array<T>(
        &mut self,
        path: &NodePath,
        plan: impl FnOnce(&mut Self, &Key, &ArrayObject) -> Result<T>,
    ) -> Result<T> {
        let (key, object) = self.object(path)?;
        match &*object {
            Object::Array(array) => plan(self, &key, array),
            Object::Group(_) => Err(Error::invalid("is a group, expected an array")),
        }
    }

    /// The array to which a member belongs or will belong, and the name of the member. An array that is stored as its
    /// only attribute is both.
    fn array_of(&self, member: &NodePath) -> Result<(NodePath, String)> {
        if let Ok(Found::Object(key)) = self.objects.find(member)
            && let Object::Array(array) = &*self.objects.open(&key)?
            && array.record.is_some()
            && let Some(name) = array.name(Field::Attribute(0))
        {
            return Ok((member.clone(), name.to_owned()));
        }
        members::group_of(member)
    }

    /// The field with this name, with an error that suggests a similar name.
    fn field(array: &ArrayObject, name: &str) -> Result<Field> {
        array.fields.get(name).copied().ok_or_else(|| {
            let hint = did_you_mean(name, array.fields.keys().map(String::as_str));
            Error::not_found(format!("no attribute or dimension {name:?} in the array")).with_remedies(hint)
        })
    }

    fn push(&mut self, key: &Key, what: What) {
        self.steps.push(Step { key: key.clone(), what });
    }

    /// The planned changes of an object, in order.
    fn planned<'s>(&'s self, key: &'s Key) -> impl Iterator<Item = &'s What> {
        self.steps.iter().filter(move |step| step.key == *key).map(|step| &step.what)
    }

    /// The schema of an array after all planned changes.
    fn evolution<'a>(&self, key: &Key, array: &'a Array) -> Result<Evolution<'a>> {
        let mut evolution = Evolution::of(array);
        for what in self.planned(key) {
            if let What::Schema(edits) = what {
                edits.iter().try_for_each(|edit| edit.apply(&mut evolution))?;
            }
        }
        Ok(evolution)
    }

    /// Plans a schema change that has already been tried.
    fn push_schema(&mut self, key: &Key, edit: SchemaEdit) {
        if let Some(Step { key: last, what: What::Schema(edits) }) = self.steps.last_mut()
            && last == key
        {
            edits.push(edit);
            return;
        }
        self.push(key, What::Schema(vec![edit]));
    }

    fn write_options(&self) -> WriteOptions {
        WriteOptions { key: self.objects.options.key.clone(), names: Arc::clone(&self.names) }
    }
}

impl Editor for TileDbEditor {
    fn plan(&mut self, edit: &Edit, dates: &Dates<'_>) -> Result<Change> {
        let (path, planned) = match edit {
            Edit::SetAttribute { object, name, value } => (object, self.set(object, name, value)),
            Edit::RemoveAttribute { object, name } => (object, self.remove(object, name)),
            Edit::WriteCells { group, cells } => (group, self.write_cells(group, cells)),
            Edit::WriteElements { array, region, elements } => {
                (array, self.write_elements(array, region, elements))
            }
            Edit::AppendElements { group, along, counts, arrays } => {
                (group, self.append_elements(group, *along, counts, arrays))
            }
            Edit::RemoveCells { group, condition } => (group, self.remove_cells(group, condition, dates)),
            Edit::AddArray { array, definition } => (array, self.add_attribute(array, definition)),
            Edit::RemoveArray { array } => (array, self.drop_attribute(array)),
            Edit::Rename { object, name } => (object, self.rename(object, name)),
            Edit::ExtendEnumeration { array, values } => (array, self.extend(array, values, dates)),
            Edit::Grow { group, ranges } => (group, self.grow(group, ranges, dates)),
            Edit::AddMember { member, uri } => (member, self.add_member(member, uri)),
            Edit::RemoveMember { member } => (member, self.remove_member(member)),
            Edit::Consolidate { object, what } => (object, self.consolidate(object, *what)),
            Edit::Vacuum { object, what } => (object, self.vacuum(object, *what)),
        };
        planned.map_err(|error| error.in_object(path))
    }

    fn commit(&mut self, durability: Durability) -> Result<()> {
        let store = Arc::new(DirectoryWriter::open(&self.path, durability)?);
        let mut commits = Commits {
            writable: Arc::clone(&store) as Arc<dyn WritableStore>,
            readable: store as Arc<dyn Store>,
            open: self.objects.options.clone(),
            write: self.write_options(),
            pool: self.pool.clone(),
            last: 0,
        };
        let steps = std::mem::take(&mut self.steps);
        steps.into_iter().try_for_each(|Step { key, what }| commits.make(&key, what))?;
        commits.wait();
        Ok(())
    }
}

/// Makes commits, each later than the preceding ones.
struct Commits {
    writable: Arc<dyn WritableStore>,
    readable: Arc<dyn Store>,
    open: OpenOptions,
    write: WriteOptions,
    pool: Pool,
    last: u64,
}

impl Commits {
    fn make(&mut self, key: &Key, what: What) -> Result<()> {
        if !is_array(&*self.readable, key)? {
            return self.of_group(key, what);
        }
        let array = Array::open(Arc::clone(&self.readable), key, self.open.clone())?;
        let (store, readable) = (Arc::clone(&self.writable), Arc::clone(&self.readable));
        let writer = ArrayWriter::open(store, readable, key, self.open.limits, self.write.clone())?;
        let time = self.time(array.directory().newest());
        match what {
            What::Schema(edits) => {
                let mut evolution = Evolution::of(&array);
                edits.iter().try_for_each(|edit| edit.apply(&mut evolution))?;
                writer.evolve(evolution, time).map(drop)
            }
            What::Metadata(entries) => writer.put_metadata(&Metadata { entries }, time),
            What::Delete(condition) => writer.delete(&condition, time),
            What::Cells(columns, count) => {
                writer.commit(&[SparseFragment::of_cells(&writer, time, &columns, count)?])
            }
            What::Elements(elements) => elements.write(&array, &writer, time),
            What::Members(_) => Err(Error::invalid("members of an array")),
            What::Upkeep(upkeep) => upkeep.of_array(&writer, &self.open.limits, &self.pool),
        }
    }

    fn of_group(&mut self, key: &Key, what: What) -> Result<()> {
        let group = Group::open(Arc::clone(&self.readable), key, self.open.clone())?;
        let writer = GroupWriter::open(Arc::clone(&self.writable), key, self.write.clone());
        let time = self.time(group.directory().newest());
        match what {
            What::Metadata(entries) => writer.put_metadata(&Metadata { entries }, time),
            // All members are written, since in groups of the first version only the newest file counts.
            What::Members(changed) => {
                let mut members = group.members()?;
                members.retain(|own| changed.iter().all(|other| !members::is_same(own, other)));
                members.extend(changed);
                writer.put_members(members, time)
            }
            What::Upkeep(upkeep) => upkeep.of_group(&writer, &self.open.limits, &self.pool),
            _ => Err(Error::invalid("cells or a schema of a group")),
        }
    }

    /// Waits until the clock reaches the last commit, so that anyone who opens the store from now on sees it. It does
    /// not wait for a clock that is far behind what was written.
    fn wait(&self) {
        let ahead = self.last.saturating_sub(self.write.names.now());
        if ahead <= LONGEST_WAIT {
            std::thread::sleep(std::time::Duration::from_millis(ahead));
        }
    }

    /// The time of the next commit: now, but later than everything that exists.
    fn time(&mut self, newest: u64) -> u64 {
        self.last = self.write.names.now().max(newest.saturating_add(1)).max(self.last.saturating_add(1));
        self.last
    }
}

fn whole_store() -> Error {
    Error::invalid("is the whole store, expected a part of an array")
}

/// The maximum time in milliseconds to wait for the clock.
const LONGEST_WAIT: u64 = 100;
