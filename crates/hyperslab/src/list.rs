//! Lists names, types, shapes and stored bytes of the objects in a group or below it.

pub use crate::size::human_bytes;

use crate::formats::is_filter_of_format;
use crate::source::{Entry, Handle, Item, Source, Stored};
use crate::walk::{MetGroups, unlisted};
use hyperslab_core::Result;
use hyperslab_core::nd::Region;
use hyperslab_model::{
    Datatype, Directive, Element, Elements, Extent, Filter, Link, NodeKind, NodePath, Shape, Storage,
};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;

/// One object of a listing.
#[derive(Debug)]
pub struct Row<'a> {
    /// For each level above, outermost first: whether the ancestor at that level is the last member of its group. The
    /// last item is the same for the object itself.
    pub lineage: &'a [bool],
    /// The object.
    pub entry: &'a Entry,
}

/// Visits the members of `group` in stored order; if `recursive`, also those of its subgroups, each right after its
/// group.
///
/// # Errors
/// If the members of `group` cannot be listed; the first error of `visit`.
pub fn rows(
    source: &dyn Source,
    group: &Handle,
    recursive: bool,
    visit: &mut dyn FnMut(Row<'_>) -> Result<()>,
) -> Result<()> {
    let mut met = MetGroups::beginning_with(group);
    let mut levels = vec![source.members(group)?.into_iter()];
    let mut lineage = vec![false];
    while let Some(level) = levels.last_mut() {
        let Some(mut entry) = level.next() else {
            levels.pop();
            lineage.pop();
            continue;
        };
        if let Some(last) = lineage.last_mut() {
            *last = level.len() == 0;
        }
        met.note(source, &mut entry);
        let members = match entry.item {
            Item::Group if recursive => match source.members(&entry.handle) {
                Ok(members) => Some(members),
                Err(error) => {
                    entry = unlisted(entry.handle, &error);
                    None
                }
            },
            _ => None,
        };
        visit(Row { lineage: &lineage, entry: &entry })?;
        if let Some(members) = members {
            levels.push(members.into_iter());
            lineage.push(false);
        }
    }
    Ok(())
}

/// The kind of an object in one word, and its datatype if it has one.
pub fn kind(item: &Item) -> (&'static str, Option<&Arc<Datatype>>) {
    match item {
        Item::Group => ("group", None),
        Item::Array { datatype: None, .. } => ("dimension", None),
        Item::Array { datatype, .. } => ("array", datatype.as_ref()),
        Item::Datatype(datatype) => ("datatype", Some(datatype)),
        Item::Link(_) => ("link", None),
        Item::Unreadable(_) => ("unreadable", None),
    }
}

/// The type of an object as a short text.
pub fn type_label(item: &Item) -> Cow<'static, str> {
    match item {
        Item::Group => "group".into(),
        Item::Array { datatype: Some(datatype), .. } => label(datatype),
        Item::Array { datatype: None, .. } => "".into(),
        Item::Datatype(datatype) => format!("datatype {}", label(datatype)).into(),
        Item::Link(Link::Hard(path)) => format!("-> {path}").into(),
        Item::Link(Link::Soft(target)) => format!("-> {target}").into(),
        Item::Link(Link::External { file, path }) => format!("-> {file}:{path}").into(),
        Item::Link(Link::User { class, .. }) => format!("user link {class}").into(),
        Item::Unreadable(_) => "unreadable".into(),
    }
}

/// A datatype as a short text.
pub fn datatype_label(datatype: &Datatype) -> String {
    label(datatype).into_owned()
}

fn label(datatype: &Datatype) -> Cow<'static, str> {
    match datatype {
        Datatype::Int { bits: 8, signed: true } => "int8".into(),
        Datatype::Int { bits: 16, signed: true } => "int16".into(),
        Datatype::Int { bits: 32, signed: true } => "int32".into(),
        Datatype::Int { bits: 64, signed: true } => "int64".into(),
        Datatype::Int { bits: 8, signed: false } => "uint8".into(),
        Datatype::Int { bits: 16, signed: false } => "uint16".into(),
        Datatype::Int { bits: 32, signed: false } => "uint32".into(),
        Datatype::Int { bits: 64, signed: false } => "uint64".into(),
        Datatype::Float(float) => match float.keyword() {
            Some(keyword) => keyword.into(),
            None => "float".into(),
        },
        Datatype::String(_) => "string".into(),
        Datatype::Enum { base, .. } => short(datatype, || format!("enum {}", label(base))),
        Datatype::Compound(members) => short(datatype, || format!("compound of {}", members.len())),
        Datatype::Vlen(base) => format!("vlen {}", label(base)).into(),
        Datatype::Array { base, shape } => {
            let extents: Vec<_> = shape.iter().map(u64::to_string).collect();
            format!("{}[{}]", label(base), extents.join(", ")).into()
        }
        Datatype::Nullable(of) => format!("nullable {}", label(of)).into(),
        Datatype::Named(path, _) => path.to_string().into(),
        other => other.to_string().into(),
    }
}

/// A datatype with its members, or `otherwise` if that is long.
fn short(datatype: &Datatype, otherwise: impl Fn() -> String) -> Cow<'static, str> {
    let whole = datatype.to_string();
    if whole.len() <= MAX_TYPE { whole.into() } else { otherwise().into() }
}

/// The longest type that is listed with its members.
const MAX_TYPE: usize = 80;

/// A summary of what an object is about, for a reader who does not know the names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// The value of an array with a single element.
    pub value: Option<String>,
    /// The attribute `units`.
    pub units: Option<String>,
    /// The attribute `NX_class`, the class of a group in NeXus.
    pub class: Option<String>,
    /// The attribute `long_name`.
    pub long_name: Option<String>,
}

/// A summary of what an object is about. Reads at most a single element.
///
/// # Errors
/// If its attributes or its element cannot be read.
pub fn about(source: &dyn Source, entry: &Entry) -> Result<About> {
    if !matches!(entry.item, Item::Group | Item::Array { .. }) {
        return Ok(About::default());
    }
    let node = source.load(&entry.handle)?;
    let text = |name: &str| {
        let attribute = node.attributes()?.get(name)?.as_ref().ok()?;
        match Elements::new(&attribute.datatype, &attribute.value).next()?.get() {
            Element::Text(text) => Some(String::from_utf8_lossy(text).trim().to_owned()),
            _ => None,
        }
    };
    let text = |name: &str| text(name).filter(|text| !text.is_empty());
    let value = match &entry.item {
        Item::Array { datatype: Some(datatype), shape: Shape::Dims(dims), stored, .. }
            if dims.iter().all(|dimension| dimension.extent == Extent::Fixed(1)) && is_small(stored) =>
        {
            let array = source.array(&entry.handle)?;
            let values = array.values(&Region::new(vec![0; dims.len()], vec![1; dims.len()]))?;
            Elements::new(datatype, &values).next().map(|element| match element.get() {
                Element::Text(_) => hyperslab_ndl::json(element),
                _ => hyperslab_ndl::plain(element),
            })
        }
        _ => None,
    };
    Ok(About { value, units: text("units"), class: text("NX_class"), long_name: text("long_name") })
}

fn is_small(stored: &Stored) -> bool {
    match stored {
        Stored::Bytes(bytes) => (1..=1024).contains(bytes),
        Stored::Chunks(_) => true,
        Stored::Nothing => false,
    }
}

/// The extents with the names of their dimensions, as a shape is displayed.
pub fn shape_label(shape: &Shape, text: &mut String) {
    // Writing to a String cannot fail.
    let _ = write!(text, "{shape}");
}

/// The chunk shape, such as `[1000, 2]`; empty if there are no chunks.
pub fn chunk_label(stored: &Stored) -> String {
    match chunked(stored).and_then(|storage| storage.chunk.as_ref()) {
        Some(chunk) => {
            let extents: Vec<_> = chunk.iter().map(u64::to_string).collect();
            format!("[{}]", extents.join(", "))
        }
        None => String::new(),
    }
}

/// The names of the filters, such as `shuffle deflate`.
pub fn filters_label(stored: &Stored) -> String {
    let filters = chunked(stored).map(|storage| storage.filters.as_slice()).unwrap_or_default();
    filters.iter().map(filter_label).collect::<Vec<_>>().join(" ")
}

fn chunked(stored: &Stored) -> Option<&Arc<Storage>> {
    match stored {
        Stored::Chunks(storage) => Some(storage),
        Stored::Bytes(_) | Stored::Nothing => None,
    }
}

/// The name of a filter in NDL, or its number or name in its format.
fn filter_label(filter: &Filter) -> String {
    let parameter =
        |key: &str| filter.parameters.iter().find(|(name, _)| name == key).map(|(_, value)| value);
    match (parameter("id"), parameter("name")) {
        (Some(Directive::Int(id)), _) => format!("{}:{id}", filter.name),
        (None, Some(Directive::Text(name))) if is_filter_of_format(&filter.name) => name.clone(),
        _ => filter.name.clone(),
    }
}

/// The stored size of the elements of an object in bytes. `None` for an object without elements.
///
/// # Errors
/// If its chunks cannot be listed.
pub fn stored_bytes(source: &dyn Source, entry: &Entry) -> Result<Option<u64>> {
    match &entry.item {
        Item::Array { stored: Stored::Bytes(bytes), .. } => Ok(Some(*bytes)),
        Item::Array { stored: Stored::Chunks(_), .. } => source.array(&entry.handle)?.stored().map(Some),
        _ => Ok(None),
    }
}

/// The number of attributes of an object.
///
/// # Errors
/// If they cannot be read.
pub fn attribute_count(source: &dyn Source, object: &Handle) -> Result<u64> {
    let node = source.load(object)?;
    Ok(node.attributes().map_or(0, |attributes| attributes.len() as u64))
}

/// The number of listed objects of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Groups.
    pub groups: u64,
    /// Arrays and dimension coordinates with values.
    pub arrays: u64,
    /// Dimensions without values.
    pub dimensions: u64,
    /// Named datatypes.
    pub datatypes: u64,
    /// Links.
    pub links: u64,
    /// Objects that cannot be read.
    pub unreadable: u64,
    /// Attributes of the group itself.
    pub attributes: u64,
}

impl Counts {
    /// Adds one object.
    pub fn add(&mut self, item: &Item) {
        let count = match item {
            Item::Group => &mut self.groups,
            Item::Array { kind: NodeKind::DimCoord, datatype: None, .. } => &mut self.dimensions,
            Item::Array { .. } => &mut self.arrays,
            Item::Datatype(_) => &mut self.datatypes,
            Item::Link(_) => &mut self.links,
            Item::Unreadable(_) => &mut self.unreadable,
        };
        *count += 1;
    }

    /// A text such as `1 group, 5 arrays`; kinds without objects are omitted.
    pub fn label(&self) -> String {
        let of = [
            (self.groups, "group", "groups"),
            (self.arrays, "array", "arrays"),
            (self.dimensions, "dimension", "dimensions"),
            (self.datatypes, "datatype", "datatypes"),
            (self.links, "link", "links"),
            (self.unreadable, "unreadable", "unreadable"),
            (self.attributes, "attribute", "attributes"),
        ];
        let parts = counted(&of);
        if parts.is_empty() { "nothing".into() } else { parts.join(", ") }
    }
}

/// A text such as `1 group`, `5 arrays`: each count with its noun in the singular or plural. Zero counts are omitted.
pub(crate) fn counted(of: &[(u64, &str, &str)]) -> Vec<String> {
    let some = of.iter().filter(|(count, ..)| *count > 0);
    some.map(|(count, one, many)| format!("{count} {}", if *count == 1 { one } else { many })).collect()
}

/// The path of `entry` relative to `group`, for listings that are not trees.
pub fn relative<'a>(entry: &'a Entry, group: &NodePath) -> &'a str {
    let path = &entry.handle.path;
    path.relative_to(group).unwrap_or(path.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_read_well_at_every_size() {
        let shown = [0, 477, 1023, 1024, 1126, 102_400, 1 << 20, u64::MAX].map(human_bytes);
        assert_eq!(shown, ["0 B", "477 B", "1023 B", "1.0 KiB", "1.0 KiB", "100 KiB", "1.0 MiB", "15.9 EiB"]);
    }
}
