//! Storage directives.

use super::context::{Context, nearest};
use super::events::{Key, Mapping, Node, Scalar, View, shown};
use super::scalar::{Resolved, base64, double, resolve};
use hyperslab_model::{
    ByteOrder, CharacterSet, Directive, ElementStorage, FillTime, Layout, Length, Order, Pad, Storage,
};

/// The directives in the `storage` of an object. Those that need the type or the shape are kept as nodes.
#[derive(Default)]
pub(super) struct Directives<'t> {
    pub(super) storage: Storage,
    /// The current shape of an ndarray, or the current size of a dimcoord as a list of one.
    pub(super) extent: Option<(Vec<u64>, Node<'t>)>,
    /// The list of the lowest and the highest coordinate.
    pub(super) domain: Option<Node<'t>>,
    /// The number of coordinate steps in a tile of a sparse array.
    pub(super) tile: Option<Node<'t>>,
    /// The fill value. It is parsed when the type is known.
    pub(super) fill: Option<Node<'t>>,
}

/// The kind of object that has the storage.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    Group,
    DimCoord,
    Ndarray,
    Datatype,
}

impl<'t> Context<'t, '_> {
    pub(super) fn storage(&mut self, node: Option<Node<'t>>, owner: Owner) -> Directives<'t> {
        let mut directives = Directives::default();
        let Some(mapping) = node.and_then(|node| self.map(node, "storage")) else { return directives };
        for (key, value) in mapping.iter() {
            if self.native(&mut directives.storage, key, value) {
                continue;
            }
            let array = matches!(owner, Owner::DimCoord | Owner::Ndarray);
            if array && self.array_directive(&mut directives, owner, key, value) {
                continue;
            }
            let element = owner != Owner::Group;
            if element && self.element_directive(&mut directives.storage.element, key, value) {
                continue;
            }
            let known = match owner {
                Owner::Group => FORMATS,
                Owner::Datatype => ELEMENT,
                Owner::DimCoord | Owner::Ndarray => ALL,
            };
            let place = match owner {
                Owner::Group => "the storage of a group",
                Owner::Datatype => "the storage of a datatype",
                Owner::DimCoord => "the storage of a dimcoord",
                Owner::Ndarray => "the storage of an ndarray",
            };
            match ALL.contains(&key.name) {
                true => {
                    let message = format!("the key {} in {place}, where it is not allowed", key.name);
                    self.findings.error("ndl/storage", key.span, message);
                }
                false => self.unknown_key(key, place, known),
            }
        }
        self.check_charset(mapping, &mut directives.storage.element);
        directives
    }

    /// Rejects UTF-32 in strings without a length, or with a length that is not a whole number of characters.
    fn check_charset(&mut self, mapping: Mapping<'t>, storage: &mut ElementStorage) {
        let found = match (storage.charset, storage.length) {
            (Some(CharacterSet::Utf32), Some(Length::Fixed(len))) if len % 4 == 0 => return,
            (Some(CharacterSet::Utf32), Some(Length::Fixed(len))) => format!("a length of {len} bytes"),
            (Some(CharacterSet::Utf32), _) => "no length".to_owned(),
            _ => return,
        };
        let span = mapping.get("charset").map(|node| node.span());
        if let Some(span) = span {
            let message = format!("{found} with charset utf-32, expected a multiple of 4");
            self.findings.error("ndl/storage", span, message);
        }
        storage.charset = None;
    }

    /// The storage of a member of a compound, which has only directives for elements.
    pub(super) fn element_storage(&mut self, mapping: Mapping<'t>) -> ElementStorage {
        self.attribute_storage(mapping, None)
    }

    /// The storage of an attribute: directives for elements. Directives of one format are added to `native`.
    pub(super) fn attribute_storage(
        &mut self,
        mapping: Mapping<'t>,
        mut native: Option<&mut Vec<(&'static str, Directive)>>,
    ) -> ElementStorage {
        let mut storage = ElementStorage::default();
        for (key, value) in mapping.iter() {
            let format = FORMATS.iter().find(|format| **format == key.name);
            if let (Some(format), Some(native)) = (format, native.as_deref_mut()) {
                self.extension(key.span, &format!("storage.{format}"));
                native.extend(self.directive(value).map(|value| (*format, value)));
                continue;
            }
            if self.element_directive(&mut storage, key, value) {
                continue;
            }
            match ALL.contains(&key.name) {
                true if FORMATS.contains(&key.name) => {
                    let message =
                        format!("storage.{} of a member, expected only for arrays and attributes", key.name);
                    let finding = self.findings.error("ndl/storage", key.span, message);
                    finding.hint("write it in the storage of the array");
                }
                true => {
                    let message = format!(
                        "the key {} in the storage of an attribute or member, where it is not allowed",
                        key.name
                    );
                    self.findings
                        .error("ndl/storage", key.span, message)
                        .hint(format!("expected one of {}", ELEMENT.join(", ")));
                }
                false => self.unknown_key(key, "the storage of an attribute or member", ELEMENT),
            }
        }
        self.check_charset(mapping, &mut storage);
        storage
    }

    fn array_directive(
        &mut self,
        directives: &mut Directives<'t>,
        owner: Owner,
        key: Key<'t>,
        value: Node<'t>,
    ) -> bool {
        let storage = &mut directives.storage;
        match key.name {
            "shape" if owner == Owner::Ndarray => {
                directives.extent = self.counts(value, "storage.shape").map(|shape| (shape, value));
            }
            "size" if owner == Owner::DimCoord => {
                directives.extent = self.count(value, "storage.size").map(|size| (vec![size], value));
            }
            "shape" | "size" => {
                let (key_name, right) = (key.name, if owner == Owner::Ndarray { "shape" } else { "size" });
                let message = format!("storage.{key_name}, expected storage.{right} here");
                self.findings.error("ndl/storage", key.span, message).hint(format!("write {right}:"));
            }
            "chunk" => storage.chunk = self.sizes(value, "the chunk"),
            "shard" => {
                self.extension(key.span, "shards");
                storage.shard = self.sizes(value, "the shard");
            }
            "filter" => storage.filters.extend(self.filters(value)),
            "fillvalue" => directives.fill = Some(value),
            "fill_time" => {
                self.extension(key.span, "fill_time");
                let words =
                    [("alloc", FillTime::Alloc), ("ifset", FillTime::IfSet), ("never", FillTime::Never)];
                storage.fill_time = self.word(value, "fill_time", &words);
            }
            "layout" => {
                self.extension(key.span, "layout");
                storage.layout = match self.text(value, "the layout") {
                    Some("compact") => Some(Layout::Compact),
                    Some("contiguous") => Some(Layout::Contiguous),
                    Some("chunked") => Some(Layout::Chunked),
                    Some("virtual") => Some(Layout::Virtual),
                    Some("external") => Some(Layout::External),
                    Some(other) => {
                        let finding = self.findings.error(
                            "ndl/storage",
                            value.span(),
                            format!("unknown layout {}", shown(other)),
                        );
                        finding.hint("expected one of compact, contiguous, chunked, virtual, external");
                        None
                    }
                    None => None,
                };
            }
            "order" => {
                self.extension(key.span, "order");
                storage.order =
                    self.word(value, "order", &[("C", Order::RowMajor), ("F", Order::ColumnMajor)]);
            }
            "domain" | "tile" if owner == Owner::DimCoord => {
                self.extension(key.span, key.name);
                match key.name {
                    "domain" => directives.domain = Some(value),
                    _ => directives.tile = Some(value),
                }
            }
            _ => return false,
        }
        true
    }

    fn element_directive(&mut self, storage: &mut ElementStorage, key: Key<'t>, value: Node<'t>) -> bool {
        match key.name {
            "endian" => {
                let words = [("little", ByteOrder::Little), ("big", ByteOrder::Big), ("vax", ByteOrder::Vax)];
                storage.endian = self.word(value, "endian", &words);
                if storage.endian == Some(ByteOrder::Vax) {
                    self.extension(value.span(), "the byte order vax");
                }
                return true;
            }
            "charset" => {
                let words = [
                    ("utf-8", CharacterSet::Utf8),
                    ("utf8", CharacterSet::Utf8),
                    ("UTF-8", CharacterSet::Utf8),
                    ("ascii", CharacterSet::Ascii),
                    ("ASCII", CharacterSet::Ascii),
                    ("utf-32", CharacterSet::Utf32),
                    ("utf32", CharacterSet::Utf32),
                    ("UTF-32", CharacterSet::Utf32),
                ];
                storage.charset = self.word(value, "charset", &words);
                if storage.charset == Some(CharacterSet::Utf32) {
                    self.extension(value.span(), "the character set utf-32");
                }
                return true;
            }
            "precision" => storage.precision = self.count(value, "the precision"),
            "offset" => storage.offset = self.count(value, "the offset"),
            "offsets" => storage.offsets = self.counts(value, "offsets"),
            "itemsize" => storage.itemsize = self.count(value, "the itemsize"),
            "members" => {
                let Some(members) = self.map(value, "members") else { return true };
                for (key, member) in members.iter() {
                    if let Some(mapping) = self.map(member, "the storage of a member") {
                        let of_member = self.element_storage(mapping);
                        storage.members.push((key.name.to_string(), of_member));
                    }
                }
            }
            "length" => {
                storage.length = match value.scalar().map(|scalar| scalar.text) {
                    Some("variable") => Some(Length::Variable),
                    _ => match self.count(value, "the length in bytes (or variable)") {
                        Some(0) => {
                            self.findings.error(
                                "ndl/storage",
                                value.span(),
                                "a length of 0 bytes, expected at least 1",
                            );
                            None
                        }
                        length => length.map(Length::Fixed),
                    },
                };
            }
            "pad" => {
                let words =
                    [("nullterm", Pad::NulTerminated), ("nullpad", Pad::Nul), ("spacepad", Pad::Space)];
                storage.pad = self.word(value, "pad", &words);
            }
            _ => return false,
        }
        self.extension(key.span, &format!("storage.{}", key.name));
        true
    }

    /// The map of directives of one format, such as `storage.hdf5`. Returns false for other keys.
    fn native(&mut self, storage: &mut Storage, key: Key<'t>, value: Node<'t>) -> bool {
        let Some(format) = FORMATS.iter().find(|format| **format == key.name) else { return false };
        self.extension(key.span, &format!("storage.{format}"));
        let Some(mapping) = value.mapping() else {
            let message = format!("{} for storage.{format}, expected a map", value.describe());
            self.findings.error("ndl/storage", value.span(), message);
            return true;
        };
        let directives = self.directives(mapping);
        storage.native.push((format, directives));
        true
    }

    pub(super) fn directives(&mut self, mapping: Mapping<'t>) -> Vec<(String, Directive)> {
        let mut directives = Vec::with_capacity(mapping.len());
        for (key, value) in mapping.iter() {
            directives.extend(self.directive(value).map(|value| (key.name.to_string(), value)));
        }
        directives
    }

    pub(super) fn directive(&mut self, node: Node<'t>) -> Option<Directive> {
        match node.view() {
            View::Scalar(scalar) => self.scalar_directive(scalar, node),
            View::Sequence(items) => {
                let items: Vec<_> = items.iter().map(|item| self.directive(item)).collect();
                items.into_iter().collect::<Option<_>>().map(Directive::List)
            }
            View::Mapping(mapping) => Some(Directive::Map(self.directives(mapping))),
        }
    }

    fn scalar_directive(&mut self, scalar: Scalar<'_>, node: Node<'t>) -> Option<Directive> {
        Some(match resolve(scalar) {
            Resolved::Bool(value) => Directive::Bool(value),
            Resolved::Int(value) => Directive::Int(value),
            Resolved::Null => Directive::Null,
            Resolved::Bytes => match base64(scalar.text) {
                Some(bytes) => Directive::of_bytes(&bytes),
                None => {
                    let message = format!("{}, expected base 64", node.describe());
                    self.findings.error("ndl/value", node.span(), message);
                    return None;
                }
            },
            Resolved::Float => match double(scalar.text) {
                Some(value) => Directive::Float(value),
                None => Directive::Text(scalar.text.to_string()),
            },
            Resolved::HugeInt | Resolved::Text => Directive::Text(scalar.text.to_string()),
        })
    }
}

pub(super) const FORMATS: &[&str] = &["hdf5", "netcdf", "zarr", "tiledb"];

const ELEMENT: &[&str] =
    &["endian", "charset", "precision", "offset", "offsets", "itemsize", "members", "length", "pad"];

/// The key of the storage of an array that a misplaced or misspelt name probably means.
pub(super) fn near(name: &str) -> Option<&'static str> {
    nearest(name, OF_ARRAYS)
}

/// The keys of storage that apply only to arrays and have no other meaning.
const OF_ARRAYS: &[&str] =
    &["chunk", "shard", "filter", "endian", "fillvalue", "fill_time", "layout", "domain", "tile"];

const ALL: &[&str] = &[
    "shape",
    "size",
    "chunk",
    "shard",
    "filter",
    "endian",
    "precision",
    "offset",
    "offsets",
    "itemsize",
    "members",
    "charset",
    "length",
    "pad",
    "fillvalue",
    "fill_time",
    "layout",
    "order",
    "domain",
    "tile",
    "hdf5",
    "netcdf",
    "zarr",
    "tiledb",
];
