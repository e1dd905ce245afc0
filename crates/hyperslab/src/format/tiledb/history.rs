//! The history of writes to arrays and groups, as events.

use super::datatype::data_type;
use super::metadata::OF_ATTRIBUTE;
use super::objects::{ArrayObject, Field, Found, Object, Objects};
use super::record::RECORD;
use crate::source::{Event, EventKind, LeftBehind};
use hyperslab_core::Result;
use hyperslab_model::{Elements, NodePath, Values};
use hyperslab_tiledb::directory::is_array;
use hyperslab_tiledb::format::data_type::{CellValNum, DataType};
use hyperslab_tiledb::format::layout::ArrayType;
use hyperslab_tiledb::format::metadata::Entry;
use hyperslab_tiledb::history::{
    ArrayHistory, DeleteEvent, DetailsEvent, FragmentEvent, GroupHistory, MetadataEvent, RangeText,
    SchemaChange, SchemaEvent, Written, value_text,
};
use hyperslab_tiledb::opened::Moment;
use std::sync::Arc;

impl ArrayObject {
    /// What a conversion of the array would leave behind.
    pub(super) fn left_behind(&self) -> Vec<LeftBehind> {
        let files = self.array.directory();
        let has_history = files.fragments.len() > 1 || files.schemas.len() > 1 || !files.deletes.is_empty();
        let mut all = Vec::new();
        all.extend(has_history.then_some(LeftBehind::History));
        all.extend(self.array.is_encrypted().then_some(LeftBehind::Encryption));
        all
    }

    /// What a conversion of an attribute would leave behind.
    ///
    /// # Errors
    /// If there is no such attribute, or its enumeration cannot be read.
    pub(super) fn left_behind_of(&self, attribute: usize) -> Result<Option<LeftBehind>> {
        let is_enumerated = self.has_enumerated_numbers(self.attribute(attribute)?)?;
        Ok(is_enumerated.then_some(LeftBehind::EnumeratedNumbers))
    }
}

/// The writes to the array, group or dimension labels at a path, within the moment being viewed. `None` for dimensions
/// and attributes, which are written with their array.
pub(super) fn history(objects: &Objects, path: &NodePath) -> Result<Option<Vec<Event>>> {
    let key = match objects.find(path)? {
        Found::Object(key) | Found::Collected(key, _) => key,
        Found::Field(_, object, Field::Label(position)) => match &*object {
            Object::Array(array) => array.label_key(position)?,
            Object::Group(_) => return Ok(None),
        },
        Found::Field(..) | Found::Outside(_) | Found::Recorded(_) => return Ok(None),
    };
    let (store, options) = (Arc::clone(&objects.store), objects.options.clone());
    let mut events: Vec<Event> = match is_array(&*store, &key)? {
        true => {
            let found = ArrayHistory::read_with(store, &key, options, &text)?;
            let schemas = found.schemas.into_iter().map(schema);
            let fragments = found.fragments.into_iter().map(fragment);
            let deletes = found.deletes.into_iter().map(delete);
            let metadata = found.metadata.into_iter().map(metadata);
            schemas.chain(fragments).chain(deletes).chain(metadata).collect()
        }
        false => {
            let found = GroupHistory::read(store, &key, options)?;
            found.details.into_iter().map(members).chain(found.metadata.into_iter().map(metadata)).collect()
        }
    };
    let Moment { start, end } = objects.options.at;
    // Data consolidated from both within and outside the moment counts as within.
    events.retain(|event| event.at.as_ref().is_none_or(|at| *at.start() <= end && *at.end() >= start));
    Ok(Some(events))
}

fn schema(event: SchemaEvent) -> Event {
    let what = event.changes.into_iter().map(change).collect();
    Event { version: Some(event.version), ..written(EventKind::Schema, event.written, what) }
}

fn change(change: SchemaChange) -> String {
    match change {
        SchemaChange::Created => "created".to_owned(),
        SchemaChange::AttributeAdded(name) => format!("attribute {name} added"),
        SchemaChange::AttributeDropped(name) => format!("attribute {name} removed"),
        SchemaChange::AttributeChanged(name) => format!("attribute {name} changed"),
        SchemaChange::EnumerationAdded(name) => format!("enumeration {name} added"),
        SchemaChange::EnumerationDropped(name) => format!("enumeration {name} removed"),
        SchemaChange::EnumerationExtended(name) => format!("enumeration {name} extended"),
        SchemaChange::CurrentDomain { before, after } => {
            let text = |domain: Option<Vec<RangeText>>| {
                domain.map_or_else(|| "none".to_owned(), |domain| ranges(domain).join(", "))
            };
            format!("current domain {} → {}", text(before), text(after))
        }
        SchemaChange::Version { before, after } => format!("version {before} → {after}"),
        SchemaChange::Other(what) => format!("{what} changed"),
    }
}

fn fragment(event: FragmentEvent) -> Event {
    let kind = match event.kind {
        ArrayType::Dense => "dense",
        ArrayType::Sparse => "sparse",
    };
    let mut what = vec![kind.to_owned()];
    what.extend(event.non_empty_domain.into_iter().flat_map(ranges));
    if event.has_timestamps {
        what.push("with the time of each cell".to_owned());
    }
    Event {
        version: Some(event.version),
        cells: Some(event.cells),
        is_consolidated: event.is_consolidated,
        ..written(EventKind::Fragment, event.written, what)
    }
}

/// The text of a value. Times are written as selections and conditions accept them.
fn text(of: DataType, bytes: &[u8]) -> String {
    let count = bytes.try_into().map(i64::from_le_bytes);
    let (Ok(count), true) = (count, of.is_datetime()) else { return value_text(of, bytes) };
    let (datatype, _) = data_type(of, CellValNum::ONE);
    let value = Values { rows: count.to_ne_bytes().to_vec().into(), ..Values::default() };
    Elements::new(&datatype, &value).map(hyperslab_ndl::plain).collect()
}

/// Ranges in the form used in selections.
fn ranges(domain: Vec<RangeText>) -> Vec<String> {
    domain.into_iter().map(|RangeText { dimension, min, max }| format!("{dimension}={min}..{max}")).collect()
}

fn delete(event: DeleteEvent) -> Event {
    written(EventKind::Delete, event.written, vec![event.condition])
}

fn metadata(event: MetadataEvent) -> Event {
    let texts = event.entries.into_iter().map(|Entry { key, value }| {
        let key = String::from_utf8_lossy(&key);
        match value.map(|value| value_text(value.data_type, &value.bytes)) {
            Some(value) if is_record(&key) => (format!("{key}={value}"), key.into_owned()),
            Some(value) => (format!("{key}={value}"), format!("{key}={}", cut(&value))),
            None => (format!("{key} removed"), format!("{key} removed")),
        }
    });
    let (what, brief) = texts.unzip();
    Event { brief, ..file(EventKind::Metadata, event.written, what) }
}

/// Whether a metadata key is that of a record of a group or an attribute.
fn is_record(key: &str) -> bool {
    let of_attribute = key.strip_prefix(OF_ATTRIBUTE).and_then(|key| key.rsplit_once('.'));
    key == RECORD || of_attribute.is_some_and(|(_, key)| key == RECORD)
}

/// The beginning of a long value.
fn cut(value: &str) -> String {
    match value.char_indices().nth(MAX_CHARACTERS) {
        Some((end, _)) => format!("{}…", value.get(..end).unwrap_or_default()),
        None => value.to_owned(),
    }
}

/// The number of characters of a value that are shown.
const MAX_CHARACTERS: usize = 40;

fn members(event: DetailsEvent) -> Event {
    let mut what: Vec<String> = event
        .members
        .into_iter()
        .map(|member| {
            let name = member.name.unwrap_or(member.uri);
            let name = String::from_utf8_lossy(&name);
            if member.deleted { format!("{name} removed") } else { name.into_owned() }
        })
        .collect();
    what.sort();
    file(EventKind::Members, event.written, what)
}

/// An event of a file. The file is consolidated if its name contains two times.
fn file(kind: EventKind, of: Written, what: Vec<String>) -> Event {
    let is_consolidated = of.start != of.end;
    Event { is_consolidated, ..written(kind, of, what) }
}

fn written(kind: EventKind, of: Written, what: Vec<String>) -> Event {
    Event {
        kind,
        at: of.start.zip(of.end).map(|(start, end)| start..=end),
        name: of.name,
        brief: what.clone(),
        what,
        version: None,
        cells: None,
        bytes: of.bytes,
        is_consolidated: false,
        replaced_by: of.replaced_by,
    }
}
