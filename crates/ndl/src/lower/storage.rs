//! Storage directives: those of NDL, then extensions, in writing order.

use super::{Lower, push_map};
use crate::StorageDetail;
use crate::extensions::Extension;
use crate::number::Number;
use crate::tree::{Entries, Key, Scalar, Style, Tree};
use hyperslab_core::Result;
use hyperslab_model::{
    ByteOrder, CharacterSet, Datatype, Directive, EXTRA, Element, ElementStorage, Elements, Extent, Fill,
    FillTime, Filter, Layout, Length, Order, Pad, Storage,
};

/// Directives of one format come last, in this order.
const FORMATS: [(&str, Extension); 4] = [
    ("hdf5", Extension::Hdf5),
    ("netcdf", Extension::NetCdf),
    ("zarr", Extension::Zarr),
    ("tiledb", Extension::TileDb),
];

impl Lower<'_> {
    /// The `storage` of an array. `extent` is its current shape or size, unless it equals the declared one.
    pub(crate) fn storage<'a>(
        &mut self,
        extent: Option<(Key<'static>, Tree<'a>)>,
        storage: &'a Storage,
        datatype: Option<&'a Datatype>,
    ) -> Result<Entries<'a>> {
        let mut entries = Entries::new();
        if self.detail != StorageDetail::None {
            entries.extend(extent);
            self.push_common(&mut entries, storage, datatype)?;
            self.push_native(&mut entries, &storage.native);
        }
        Ok(entries)
    }

    /// The `storage` of a dimension of this size.
    pub(crate) fn dimcoord_storage<'a>(
        &mut self,
        size: &Extent,
        storage: &'a Storage,
        datatype: Option<&'a Datatype>,
    ) -> Result<Entries<'a>> {
        let mut entries = Entries::new();
        if self.detail == StorageDetail::None {
            return Ok(entries);
        }
        if let Extent::Limited { current, .. } | Extent::Unlimited { current } = size {
            entries.push((Key::Word("size"), Tree::int(*current)));
        }
        self.push_common(&mut entries, storage, datatype)?;
        if let Some(datatype) = datatype {
            self.push_domain(&mut entries, storage, datatype)?;
        }
        self.push_native(&mut entries, &storage.native);
        Ok(entries)
    }

    fn push_common<'a>(
        &mut self,
        entries: &mut Entries<'a>,
        storage: &'a Storage,
        datatype: Option<&'a Datatype>,
    ) -> Result<()> {
        if let Some(chunk) = &storage.chunk {
            entries.push((Key::Word("chunk"), Tree::ints(chunk)));
        }
        if let Some(shard) = &storage.shard {
            self.extend_with(Extension::Shard, entries, "shard", || Tree::ints(shard));
        }
        if !storage.filters.is_empty() {
            let filters = storage.filters.iter().map(|filter| self.filter(filter));
            entries.push((Key::Word("filter"), Tree::list(filters)));
        }
        self.push_element(entries, &storage.element, self.detail, true);
        match (&storage.fill, datatype) {
            (Fill::Undefined, _) if !self.pure => {
                entries.push((Key::Word("fillvalue"), Tree::Scalar(Scalar::Null)));
            }
            (Fill::Value(value), Some(datatype)) => {
                entries.extend(self.value(datatype, value, &[])?.map(|fill| (Key::Word("fillvalue"), fill)));
            }
            _ => {}
        }
        // Writing the fill value at allocation is the default if there is one.
        let always = storage.fill_time == Some(FillTime::Alloc);
        let full = self.detail == StorageDetail::Full;
        if let Some(time) = storage.fill_time.filter(|_| full || !always) {
            self.extend_with(Extension::FillTime, entries, "fill_time", || Tree::text(fill_time(time)));
        }
        let layout = storage.layout.as_ref();
        let unasked = matches!(layout, Some(Layout::Contiguous | Layout::Chunked));
        if let Some(kind) = layout.filter(|_| full || !unasked) {
            self.extend_with(Extension::Layout, entries, "layout", || Tree::text(kind.name()));
        }
        if let Some(order) = storage.order.filter(|order| full || *order != Order::RowMajor) {
            self.extend_with(Extension::Order, entries, "order", || Tree::text(order_name(order)));
        }
        Ok(())
    }

    fn push_native<'a>(
        &mut self,
        entries: &mut Entries<'a>,
        native: &'a [(&'static str, Vec<(String, Directive)>)],
    ) {
        for (format, extension) in FORMATS {
            for (_, directives) in native.iter().filter(|(name, _)| *name == format) {
                self.extend_with(extension, entries, format, || map(directives));
            }
        }
    }

    /// The domain and the tile of a dimension.
    fn push_domain<'a>(
        &mut self,
        entries: &mut Entries<'a>,
        storage: &'a Storage,
        datatype: &'a Datatype,
    ) -> Result<()> {
        if let Some(domain) = &storage.domain
            && let Some(tree) = self.value(datatype, domain, &[2])?
        {
            self.extend_with(Extension::Domain, entries, "domain", || tree);
        }
        if let Some(tile) = &storage.tile
            && let Some(tree) = self.value(datatype, tile, &[])?
        {
            let tree = match (datatype.resolved(), Elements::new(datatype, tile).next().map(|one| one.get()))
            {
                // A tile is a duration, not a point in time.
                (Datatype::Datetime(_), Some(Element::Int(count))) => Tree::int(count),
                _ => tree,
            };
            self.extend_with(Extension::Domain, entries, "tile", || tree);
        }
        Ok(())
    }

    /// Keys that other programs added to an object.
    pub(crate) fn push_extra<'a>(&self, entries: &mut Entries<'a>, storage: &'a Storage) {
        let extra = storage.native.iter().filter(|(name, _)| !self.pure && *name == EXTRA);
        for (name, value) in extra.flat_map(|(_, extra)| extra) {
            entries.push((Key::Name(name), directive(value)));
        }
    }

    /// Keys that other programs added to an attribute.
    pub(super) fn attribute_extra<'a>(&self, native: &'a [(&'static str, Directive)]) -> Entries<'a> {
        let extra = native.iter().filter(|(name, _)| !self.pure && *name == EXTRA);
        let maps = extra.filter_map(|(_, value)| match value {
            Directive::Map(entries) => Some(entries),
            _ => None,
        });
        maps.flatten().map(|(name, value)| (Key::Name(name.as_str()), directive(value))).collect()
    }

    /// For attributes only the directives that are part of the type, unless all were requested: that a NetCDF string is
    /// of the string type and not characters, that a Zarr string is JSON.
    pub(super) fn attribute_storage<'a>(
        &mut self,
        storage: &'a ElementStorage,
        native: &'a [(&'static str, Directive)],
    ) -> Entries<'a> {
        let mut entries = Entries::new();
        match self.detail {
            StorageDetail::None => {}
            StorageDetail::Full => self.push_element(&mut entries, storage, StorageDetail::Full, true),
            StorageDetail::Brief if self.texts_are_characters && storage.length == Some(Length::Variable) => {
                self.extend_with(Extension::Length, &mut entries, "length", || Tree::text("variable"));
            }
            StorageDetail::Brief => {}
        }
        if self.detail != StorageDetail::None {
            for (format, extension) in FORMATS {
                for (_, value) in native.iter().filter(|(name, _)| *name == format) {
                    self.extend_with(extension, &mut entries, format, || directive(value));
                }
            }
        }
        entries
    }

    /// `top` is true for the elements themselves, false for members of a compound.
    fn push_element<'a>(
        &mut self,
        entries: &mut Entries<'a>,
        element: &'a ElementStorage,
        detail: StorageDetail,
        top: bool,
    ) {
        let ElementStorage { endian, precision, offset, offsets, itemsize, members, charset, length, pad } =
            element;
        let full = detail == StorageDetail::Full;
        // Extensions within `members` are covered by the extension for `members`.
        let extend = |lower: &mut Self, extension, entries: &mut Entries<'a>, key, tree| {
            if top {
                lower.extend_with(extension, entries, key, || tree);
            } else {
                entries.push((Key::Word(key), tree));
            }
        };
        if let Some(endian) = endian.filter(|order| full || *order != ByteOrder::Little) {
            entries.push((Key::Word("endian"), Tree::text(endian.name())));
        }
        if let Some(precision) = precision {
            extend(self, Extension::Precision, entries, "precision", Tree::int(*precision));
        }
        if let Some(offset) = offset {
            extend(self, Extension::Precision, entries, "offset", Tree::int(*offset));
        }
        if let Some(offsets) = offsets {
            extend(self, Extension::Members, entries, "offsets", Tree::ints(offsets));
        }
        if let Some(itemsize) = itemsize {
            extend(self, Extension::Members, entries, "itemsize", Tree::int(*itemsize));
        }
        let mut inner = Entries::new();
        let members = if top && self.pure { &[] } else { members.as_slice() };
        for (name, member) in members {
            let mut of_member = Entries::new();
            self.push_element(&mut of_member, member, detail, false);
            if !of_member.is_empty() {
                inner.push((Key::Name(name), Tree::map(of_member)));
            }
        }
        if top && !inner.is_empty() {
            self.use_extension(Extension::Members);
        }
        push_map(entries, "members", if top { Style::Block } else { Style::Flow }, inner);
        // Pure NDL has no length directive, which UTF-32 needs.
        let charset = charset.filter(|charset| !(self.pure && *charset == CharacterSet::Utf32));
        if let Some(charset) = charset.filter(|charset| full || *charset != CharacterSet::Utf8) {
            entries.push((Key::Word("charset"), Tree::text(charset.name())));
        }
        if let Some(length) = length.filter(|length| full || *length != Length::Variable) {
            let tree = match length {
                Length::Variable => Tree::text("variable"),
                Length::Fixed(bytes) => Tree::int(bytes),
            };
            extend(self, Extension::Length, entries, "length", tree);
        }
        if let Some(pad) = pad.filter(|pad| full || *pad != Pad::NulTerminated) {
            extend(self, Extension::Pad, entries, "pad", Tree::text(padding(pad)));
        }
    }

    /// Adds a directive that is an extension, except in pure NDL.
    fn extend_with<'a>(
        &mut self,
        extension: Extension,
        entries: &mut Entries<'a>,
        key: &'static str,
        tree: impl FnOnce() -> Tree<'a>,
    ) {
        if !self.pure {
            self.use_extension(extension);
            entries.push((Key::Word(key), tree()));
        }
    }

    /// A filter as its bare name, its name with the main parameter, or a map of all parameters.
    fn filter<'a>(&self, filter: &'a Filter) -> Tree<'a> {
        let Filter { name, parameters, main } = filter;
        let parameters = match parameters.as_slice() {
            [] if !self.long => return Tree::text(name.as_str()),
            [(_, only)] if *main && !self.long => directive(only),
            all => map(all),
        };
        Tree::map(vec![(Key::Name(name), parameters)])
    }
}

fn map<'a>(directives: impl IntoIterator<Item = &'a (String, Directive)>) -> Tree<'a> {
    let entries = directives.into_iter().map(|(name, value)| (Key::Name(name.as_str()), directive(value)));
    Tree::map(entries.collect())
}

fn directive(value: &Directive) -> Tree<'_> {
    match value {
        Directive::Null => Tree::Scalar(Scalar::Null),
        Directive::Bool(value) => Tree::Scalar(Scalar::Bool(*value)),
        Directive::Int(value) => Tree::int(*value),
        Directive::Float(value) => Tree::Scalar(Scalar::Number(Number::Double(*value))),
        Directive::Text(text) => Tree::text(text.as_str()),
        Directive::List(items) => Tree::list(items.iter().map(directive)),
        Directive::Map(entries) => map(entries),
    }
}

fn padding(pad: Pad) -> &'static str {
    match pad {
        Pad::NulTerminated => "nullterm",
        Pad::Nul => "nullpad",
        Pad::Space => "spacepad",
    }
}

fn fill_time(time: FillTime) -> &'static str {
    match time {
        FillTime::Alloc => "alloc",
        FillTime::IfSet => "ifset",
        FillTime::Never => "never",
    }
}

fn order_name(order: Order) -> &'static str {
    match order {
        Order::RowMajor => "C",
        Order::ColumnMajor => "F",
    }
}
