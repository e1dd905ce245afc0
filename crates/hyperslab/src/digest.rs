//! One hash per object: what an array contains, whatever format, chunking, compression, byte order or
//! string padding stores it. Content digest, version 1.

use crate::source::{Entry, Handle, Item, Source, check_size};
use crate::walk::{Step, walk};
use blake3::Hasher;
use hyperslab_core::nd::{Region, Selection, bands, element_count};
use hyperslab_core::rows::Heap;
use hyperslab_core::{Error, ErrorKind, Result};
use hyperslab_model::{
    Attribute, Datatype, Element, ElementRef, Elements, Float, Link, NodePath, Reference, Unreadable, Values,
};
use std::fmt::Write as _;

/// One line of a digest.
#[derive(Clone, Debug)]
pub struct Line {
    /// The object's path, with `@NAME` for an attribute.
    pub path: String,
    /// What is said of it.
    pub content: LineContent,
}

/// What a line says.
#[derive(Clone, Debug)]
pub enum LineContent {
    /// A group.
    Group,
    /// A named datatype.
    Datatype {
        /// Its canonical text.
        datatype: String,
    },
    /// A link that is not followed.
    Link {
        /// Where it leads.
        target: String,
    },
    /// An array, a dimension coordinate or an attribute.
    Hashed {
        /// `array` or `attribute`.
        kind: &'static str,
        /// The canonical type text.
        datatype: String,
        /// Current extents; `None` for a null dataspace.
        shape: Option<Vec<u64>>,
        /// BLAKE3 of the content.
        digest: blake3::Hash,
    },
    /// Something that cannot be read.
    Error {
        /// What it is.
        kind: &'static str,
        /// Why, with structure and byte.
        reason: String,
    },
}

impl Line {
    /// The line as JSON.
    pub fn to_json(&self) -> String {
        let mut out = format!("{{\"path\":{}", json(&self.path));
        // Writing to a String does not fail.
        let _ = match &self.content {
            LineContent::Group => write!(out, ",\"kind\":\"group\"}}"),
            LineContent::Datatype { datatype } => {
                write!(out, ",\"kind\":\"datatype\",\"type\":{}}}", json(datatype))
            }
            LineContent::Link { target } => write!(out, ",\"kind\":\"link\",\"target\":{}}}", json(target)),
            LineContent::Hashed { kind, datatype, shape, digest } => {
                let shape = shape.as_ref().map_or("null".into(), |shape| shape_text(shape));
                write!(
                    out,
                    ",\"kind\":\"{kind}\",\"type\":{},\"shape\":{shape},\"digest\":\"blake3:{digest}\"}}",
                    json(datatype)
                )
            }
            LineContent::Error { kind, reason } => {
                write!(out, ",\"kind\":\"{kind}\",\"error\":{}}}", json(reason))
            }
        };
        out
    }

    /// Kind, path, type, shape and digest or target, as columns.
    pub fn columns(&self) -> [String; 5] {
        let columns = |kind: &str, datatype: &str, shape: String, last: String| {
            [kind.to_owned(), self.path.clone(), datatype.to_owned(), shape, last]
        };
        match &self.content {
            LineContent::Group => columns("group", "", String::new(), String::new()),
            LineContent::Datatype { datatype } => columns("datatype", datatype, String::new(), String::new()),
            LineContent::Link { target } => columns("link", "", String::new(), format!("-> {target}")),
            LineContent::Hashed { kind, datatype, shape, digest } => {
                let shape = shape.as_ref().map_or("null".into(), |shape| shape_text(shape));
                columns(kind, datatype, shape, format!("blake3:{digest}"))
            }
            LineContent::Error { kind, reason } => {
                columns(kind, "", String::new(), format!("error: {reason}"))
            }
        }
    }

    /// Whether the object could not be read.
    pub fn is_error(&self) -> bool {
        matches!(self.content, LineContent::Error { .. })
    }
}

fn json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn shape_text(shape: &[u64]) -> String {
    let extents: Vec<_> = shape.iter().map(u64::to_string).collect();
    format!("[{}]", extents.join(","))
}

/// The lines of everything at and below `root`, sorted by path.
///
/// An object that cannot be read gives an error line; the others are still right.
///
/// # Errors
/// If there is no such object.
pub fn lines(source: &dyn Source, root: &NodePath) -> Result<Vec<Line>> {
    lines_with(source, root, &mut |_, _| {})
}

/// As [`lines`], telling `progress` the array at hand and how many bytes of elements have been hashed in all.
///
/// # Errors
/// As [`lines`].
pub fn lines_with(
    source: &dyn Source,
    root: &NodePath,
    progress: &mut dyn FnMut(&NodePath, u64),
) -> Result<Vec<Line>> {
    let mut done = 0;
    let mut hashed = |path: &NodePath, bytes: u64| {
        done += bytes;
        progress(path, done);
    };
    let entry = source.find(root)?;
    let mut lines = Vec::new();
    if matches!(entry.item, Item::Group) {
        walk(source, &entry.handle, &mut |step| {
            match step {
                Step::Enter(group, _) => object(
                    source,
                    &Entry { handle: group.clone(), item: Item::Group },
                    &mut hashed,
                    &mut lines,
                ),
                Step::Member(entry) => object(source, entry, &mut hashed, &mut lines),
                Step::Leave(_) => {}
            }
            Ok(())
        })?;
    } else {
        object(source, &entry, &mut hashed, &mut lines);
    }
    lines.sort_by(|a, b| a.path.as_bytes().cmp(b.path.as_bytes()));
    Ok(lines)
}

/// The line of one attribute.
///
/// # Errors
/// If the object has none of that name, or its attributes cannot be read.
pub fn attribute(source: &dyn Source, owner: &Handle, name: &str) -> Result<Line> {
    let node = source.load(owner)?;
    match node.attributes().and_then(|attributes| attributes.get(name)) {
        Some(found) => Ok(line_of(source, owner.path.as_str(), name, found)),
        None => Err(Error::not_found(format!("no attribute {}@{name}", owner.path))),
    }
}

fn object(source: &dyn Source, entry: &Entry, hashed: &mut dyn FnMut(&NodePath, u64), lines: &mut Vec<Line>) {
    let path = entry.handle.path.as_str();
    let mut push = |content| lines.push(Line { path: path.to_owned(), content });
    match &entry.item {
        Item::Group => push(LineContent::Group),
        Item::Datatype(datatype) => push(LineContent::Datatype { datatype: datatype.to_string() }),
        Item::Link(link) => {
            if let Some(target) = target(link) {
                push(LineContent::Link { target });
            }
            return;
        }
        // A dimension without values has no content of its own.
        Item::Array { datatype: None, .. } => return,
        Item::Array { .. } => match array(source, &entry.handle, hashed) {
            Ok(content) => push(content),
            Err(error) => {
                push(LineContent::Error { kind: "array", reason: error.reason().to_string() });
            }
        },
        Item::Unreadable(unreadable) => {
            let kind = match unreadable.found {
                Some(hyperslab_model::NodeKind::Group) => "group",
                Some(hyperslab_model::NodeKind::Datatype) => "datatype",
                Some(hyperslab_model::NodeKind::Link) => "link",
                _ => "array",
            };
            push(LineContent::Error { kind, reason: unreadable.reason.clone() });
        }
    }
    match source.load(&entry.handle) {
        Ok(node) => {
            for (name, attribute) in node.attributes().into_iter().flatten() {
                lines.push(line_of(source, path, name, attribute));
            }
        }
        // The line of the object says it already.
        Err(_) if matches!(entry.item, Item::Unreadable(_)) => {}
        Err(error) => {
            let content = LineContent::Error { kind: "attribute", reason: error.reason().to_string() };
            lines.push(Line { path: format!("{path}@?"), content });
        }
    }
}

/// Where a link leads, as a digest tells it; later paths of an object already listed are no lines.
fn target(link: &Link) -> Option<String> {
    match link {
        Link::Hard(_) => None,
        Link::Soft(target) => Some(target.clone()),
        Link::External { file, path } => Some(format!("{file}:{path}")),
        Link::User { class, .. } => Some(format!("user({class})")),
    }
}

fn line_of(
    source: &dyn Source,
    path: &str,
    name: &str,
    attribute: &std::result::Result<Attribute, Unreadable>,
) -> Line {
    match attribute {
        Ok(attribute) => attribute_line(source, path, name, attribute),
        Err(unreadable) => {
            let content = LineContent::Error { kind: "attribute", reason: unreadable.reason.clone() };
            Line { path: format!("{path}@{name}"), content }
        }
    }
}

fn attribute_line(source: &dyn Source, path: &str, name: &str, attribute: &Attribute) -> Line {
    // Formats differ in which of [1] and [] they can state.
    let shape = attribute.shape.clone().map(|shape| if shape == [1] { vec![] } else { shape });
    let datatype = attribute.datatype.to_string();
    let mut hasher = head(&datatype, shape.as_deref());
    let hashed = match shape.as_deref() {
        Some(shape) => {
            let count = element_count(shape);
            let plan = Plan::new(&attribute.datatype);
            plan.hash(source, &attribute.value, count, &mut hasher)
        }
        None => Ok(()),
    };
    let content = match hashed {
        Ok(()) => LineContent::Hashed { kind: "attribute", datatype, shape, digest: hasher.finalize() },
        Err(error) => LineContent::Error { kind: "attribute", reason: error.reason().to_string() },
    };
    Line { path: format!("{path}@{name}"), content }
}

fn array(
    source: &dyn Source,
    handle: &Handle,
    hashed: &mut dyn FnMut(&NodePath, u64),
) -> Result<LineContent> {
    let array = source.array(handle)?;
    let datatype = array.datatype().to_string();
    let shape = array.extents().map(<[u64]>::to_vec);
    let mut hasher = head(&datatype, shape.as_deref());
    if let Some(shape) = &shape {
        check_size(source, &*array)?;
        let row = array
            .datatype()
            .row_size()
            .ok_or_else(|| Error::invalid("an element of more than 2^64 bytes"))?;
        let plan = Plan::new(array.datatype());
        let mut rows = Vec::new();
        for band in bands(&Region::all(shape), array.chunk(), row, BAND)? {
            let count = band.len();
            let len = count.and_then(|n| usize::try_from(n).ok()).and_then(|n| n.checked_mul(row));
            let len =
                len.ok_or_else(|| Error::new(ErrorKind::LimitExceeded, "a row of more than 2^64 bytes"))?;
            rows.resize(len, 0);
            let mut heap = Heap::default();
            array.read(&band, &mut rows, &mut heap)?;
            let values = Values { rows: std::mem::take(&mut rows).into(), heap };
            plan.hash(source, &values, count, &mut hasher)?;
            hashed(&handle.path, len as u64);
            // The buffer is ours alone again once the values are gone.
            rows = values.rows.try_into_mut().map(Vec::from).unwrap_or_default();
        }
    }
    Ok(LineContent::Hashed { kind: "array", datatype, shape, digest: hasher.finalize() })
}

/// Bytes of rows that are held at once.
const BAND: u64 = 32 << 20;

fn head(datatype: &str, shape: Option<&[u64]>) -> Hasher {
    let mut hasher = Hasher::new();
    hasher.update(b"ndl-digest-1\n").update(datatype.as_bytes()).update(b"\n");
    match shape {
        Some(shape) => {
            let extents: Vec<_> = shape.iter().map(u64::to_string).collect();
            hasher.update(extents.join(",").as_bytes()).update(b"\n");
        }
        None => {
            hasher.update(b"null\n");
        }
    }
    hasher
}

/// How the elements of a type are hashed.
struct Plan<'a> {
    datatype: &'a Datatype,
    /// Whether rows are already the bytes that are hashed.
    verbatim: bool,
}

impl<'a> Plan<'a> {
    fn new(datatype: &'a Datatype) -> Self {
        Plan { datatype, verbatim: cfg!(target_endian = "little") && is_verbatim(datatype) }
    }

    fn hash(
        &self,
        source: &dyn Source,
        values: &Values,
        count: Option<u64>,
        hasher: &mut Hasher,
    ) -> Result<()> {
        if self.verbatim {
            hasher.update(&values.rows);
            return Ok(());
        }
        let mut bytes = Vec::with_capacity(1 << 16);
        let elements = Elements::new(self.datatype, values);
        if count.is_some_and(|count| count != elements.len() as u64) {
            return Err(Error::malformed("elements of no bytes cannot be counted"));
        }
        for element in elements {
            canonical(source, element, &mut bytes)?;
            if bytes.len() >= 1 << 16 {
                hasher.update(&bytes);
                bytes.clear();
            }
        }
        hasher.update(&bytes);
        Ok(())
    }
}

/// Whether a row on a little-endian machine is what the digest hashes.
fn is_verbatim(datatype: &Datatype) -> bool {
    match datatype {
        Datatype::Int { bits, .. } | Datatype::Time { bits } => matches!(bits, 8 | 16 | 32 | 64 | 128),
        Datatype::Float(_)
        | Datatype::Complex(_)
        | Datatype::Datetime(_)
        | Datatype::Bitfield { .. }
        | Datatype::Opaque { .. } => true,
        Datatype::Bool
        | Datatype::String(_)
        | Datatype::ObjRef
        | Datatype::RegRef
        | Datatype::Reference
        | Datatype::Vlen(_)
        | Datatype::Nullable(_) => false,
        Datatype::Enum { base, .. } | Datatype::Array { base, .. } => is_verbatim(base),
        Datatype::Compound(members) => members.iter().all(|member| is_verbatim(&member.datatype)),
        Datatype::Named(_, of) => is_verbatim(of),
    }
}

/// Appends the bytes that are hashed for one element.
fn canonical(source: &dyn Source, element: ElementRef<'_>, out: &mut Vec<u8>) -> Result<()> {
    match element.get() {
        Element::Int(value) | Element::Enum(value, _) => {
            let bytes = value.to_le_bytes();
            out.extend_from_slice(bytes.get(..int_bytes(element.datatype())).unwrap_or(&bytes));
        }
        Element::Float(_) | Element::Complex(_) => native_floats(element.datatype(), element.row(), out),
        Element::RawFloat(bytes) | Element::Opaque(bytes) | Element::Bits(bytes) => {
            out.extend_from_slice(bytes)
        }
        Element::Bool(value) => out.push(u8::from(value)),
        Element::Text(text) => string(text, out),
        Element::Reference(reference) => reference_bytes(source, element.datatype(), reference, out)?,
        Element::Compound(fields) => {
            for (_, field) in fields {
                canonical(source, field, out)?;
            }
        }
        Element::Vlen(elements) => {
            out.extend_from_slice(&(elements.len() as u64).to_le_bytes());
            for element in elements {
                canonical(source, element, out)?;
            }
        }
        Element::Array(elements, _) => {
            for element in elements {
                canonical(source, element, out)?;
            }
        }
        Element::Null => out.push(0),
        Element::Broken => return Err(Error::malformed("an element does not fit its type")),
    }
    Ok(())
}

fn int_bytes(datatype: &Datatype) -> usize {
    match datatype.resolved() {
        Datatype::Int { bits, .. } | Datatype::Time { bits } => usize::from(*bits).div_ceil(8),
        Datatype::Enum { base, .. } => int_bytes(base),
        _ => 8,
    }
}

/// Floats of named formats, whose rows are in native order.
fn native_floats(datatype: &Datatype, row: &[u8], out: &mut Vec<u8>) {
    let size = match datatype.resolved() {
        Datatype::Float(float) | Datatype::Complex(float) => match float {
            Float::Other(_) => 1,
            named => named.row_size(),
        },
        _ => 1,
    };
    for number in row.chunks(size.max(1)) {
        if cfg!(target_endian = "little") {
            out.extend_from_slice(number);
        } else {
            out.extend(number.iter().rev());
        }
    }
}

fn string(text: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(text.len() as u64).to_le_bytes());
    out.extend_from_slice(text);
}

fn reference_bytes(
    source: &dyn Source,
    datatype: &Datatype,
    reference: &Reference,
    out: &mut Vec<u8>,
) -> Result<()> {
    let revised = matches!(datatype.resolved(), Datatype::Reference);
    let region = matches!(datatype.resolved(), Datatype::RegRef);
    match reference {
        Reference::Null if revised => out.push(0),
        Reference::Null => {
            out.extend_from_slice(&u64::MAX.to_le_bytes());
            if region {
                selection(&Selection::None, 0, out)?;
            }
        }
        Reference::Object(path) => {
            if revised {
                out.push(1);
            }
            string(path.as_str().as_bytes(), out);
        }
        Reference::Region(path, selected) => {
            if revised {
                out.push(2);
            }
            string(path.as_str().as_bytes(), out);
            selection(selected, rank_of(source, path), out)?;
        }
        Reference::Attribute(path, name) => {
            if revised {
                out.push(3);
            }
            string(path.as_str().as_bytes(), out);
            string(name.as_bytes(), out);
        }
        // What is not in the file has no path to hash; its address keeps two of them apart.
        Reference::Dangling(address) => string(format!("address {address}").as_bytes(), out),
        Reference::External { file, address } => string(format!("{file}:address {address}").as_bytes(), out),
    }
    Ok(())
}

/// The rank of an array that a selection of all or nothing leaves unsaid.
fn rank_of(source: &dyn Source, path: &NodePath) -> usize {
    match source.find(path).map(|entry| entry.item) {
        Ok(Item::Array { shape, .. }) => shape.dims().len(),
        _ => 0,
    }
}

/// Kind, rank, count and coordinates of a selection in an array of `rank` dimensions.
fn selection(selection: &Selection, rank: usize, out: &mut Vec<u8>) -> Result<()> {
    let mut put = |kind: u8, rank: usize, count: u64, coordinates: &mut dyn Iterator<Item = u64>| {
        out.push(kind);
        out.extend_from_slice(&(rank as u64).to_le_bytes());
        out.extend_from_slice(&count.to_le_bytes());
        coordinates.for_each(|c| out.extend_from_slice(&c.to_le_bytes()));
    };
    let corners = |block: &Region| {
        let last = block.start.iter().zip(&block.count);
        let last = last.map(|(start, count)| start.saturating_add(count.saturating_sub(1)));
        block.start.iter().copied().chain(last).collect::<Vec<_>>()
    };
    let mut put_blocks = |regions: &[Region]| {
        let rank = regions.first().map_or(rank, Region::rank);
        let counts = regions.iter().map(|region| region.block_count().unwrap_or(u64::MAX));
        let count = counts.fold(0_u64, u64::saturating_add);
        if count > MOST_BLOCKS {
            return Err(Error::unsupported(format!("a region of more than {MOST_BLOCKS} blocks")));
        }
        put(2, rank, count, &mut regions.iter().flat_map(Region::blocks).flat_map(|block| corners(&block)));
        Ok(())
    };
    match selection {
        Selection::None => put(0, rank, 0, &mut std::iter::empty()),
        Selection::All => put(3, rank, 0, &mut std::iter::empty()),
        Selection::Points { rank, coordinates } => {
            let rank = usize::try_from(*rank).unwrap_or(usize::MAX);
            let count = coordinates.len().checked_div(rank).unwrap_or(0) as u64;
            put(1, rank, count, &mut coordinates.iter().copied());
        }
        Selection::Region(region) => put_blocks(std::slice::from_ref(region))?,
        Selection::Blocks(regions) => put_blocks(regions)?,
    }
    Ok(())
}

/// Blocks of one region that are written down; a few bytes of a file can ask for any number.
const MOST_BLOCKS: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::ArraySource;
    use bytes::Bytes;
    use hyperslab_core::rows::Slot;
    use hyperslab_model::Text;

    /// A source of no objects: nothing here is looked up.
    struct Nothing;

    impl Source for Nothing {
        fn format(&self) -> &'static str {
            "nothing"
        }
        fn size(&self) -> Result<u64> {
            Ok(0)
        }
        fn find(&self, path: &NodePath) -> Result<Entry> {
            Err(Error::not_found(path.to_string()))
        }
        fn members(&self, _: &Handle) -> Result<Vec<Entry>> {
            Ok(Vec::new())
        }
        fn load(&self, object: &Handle) -> Result<hyperslab_model::Node> {
            Err(Error::not_found(object.path.to_string()))
        }
        fn array(&self, object: &Handle) -> Result<Box<dyn ArraySource + '_>> {
            Err(Error::not_found(object.path.to_string()))
        }
    }

    #[test]
    fn worked_example_scalar() {
        let t = Datatype::int(32, true);
        let values = Values { rows: Bytes::copy_from_slice(&42_i32.to_ne_bytes()), ..Values::default() };
        let mut hasher = head(&t.to_string(), Some(&[]));
        Plan::new(&t).hash(&Nothing, &values, Some(1), &mut hasher).unwrap();
        assert_eq!(
            hasher.finalize().to_string(),
            "6bb45e5f179b49e5b80e08d5155fcc9b100d0bc916776c3726b7a3bde0ca801a"
        );
    }

    #[test]
    fn worked_example_strings() {
        let t = Datatype::String(Text::Variable);
        let mut values = Values::default();
        values.heap.push(Bytes::from_static("aé".as_bytes())).unwrap();
        let slots = [Slot { buffer: 0, count: 1, offset: 0 }, Slot { buffer: 0, count: 2, offset: 1 }];
        values.rows = slots.iter().flat_map(|slot| slot.to_bytes()).collect::<Vec<_>>().into();
        let mut hasher = head(&t.to_string(), Some(&[2]));
        Plan::new(&t).hash(&Nothing, &values, Some(2), &mut hasher).unwrap();
        assert_eq!(
            hasher.finalize().to_string(),
            "cd30cd073d2f88b1b0e43b98015ed2bb971d979463d59b13d4e4179cc235370b"
        );
    }

    #[test]
    fn verbatim_rows_hash_as_element_by_element() {
        let t = Datatype::Compound(vec![
            hyperslab_model::Member { name: "a".into(), datatype: Datatype::int(16, true) },
            hyperslab_model::Member { name: "b".into(), datatype: Datatype::Float(Float::Double) },
        ]);
        let values = Values { rows: (0..=99).collect::<Vec<u8>>().into(), ..Values::default() };
        let mut fast = head("t", Some(&[10]));
        Plan { datatype: &t, verbatim: true }.hash(&Nothing, &values, Some(10), &mut fast).unwrap();
        let mut slow = head("t", Some(&[10]));
        Plan { datatype: &t, verbatim: false }.hash(&Nothing, &values, Some(10), &mut slow).unwrap();
        assert_eq!(fast.finalize(), slow.finalize());
    }
}
