//! Storage directives: NDL's own and extensions, in the order in which they are written.

use super::{Lower, push_map};
use crate::StorageDetail;
use crate::extensions::Extension;
use crate::tree::{Entries, Key, Scalar, Style, Tree};
use hyperslab_core::Result;
use hyperslab_model::{
    ByteOrder, CharacterSet, Datatype, Directive, ElementStorage, Fill, FillTime, Filter, Layout, Length,
    Pad, Storage,
};

/// What one format alone has stands last, in this order.
const FORMATS: [(&str, Extension); 4] = [
    ("hdf5", Extension::Hdf5),
    ("netcdf", Extension::NetCdf),
    ("zarr", Extension::Zarr),
    ("tiledb", Extension::TileDb),
];

impl Lower<'_> {
    /// What `storage` holds. `extent` is the current shape or size, where that is not the extent anyway.
    pub(crate) fn storage<'a>(
        &mut self,
        extent: Option<(Key<'static>, Tree<'a>)>,
        storage: &'a Storage,
        datatype: Option<&'a Datatype>,
    ) -> Result<Entries<'a>> {
        let mut entries = Entries::new();
        if self.detail == StorageDetail::None {
            return Ok(entries);
        }
        entries.extend(extent);
        if let Some(chunk) = &storage.chunk {
            entries.push((Key::Word("chunk"), Tree::ints(chunk)));
        }
        if let Some(shard) = &storage.shard {
            self.extend_with(Extension::Shard, &mut entries, "shard", || Tree::ints(shard));
        }
        if !storage.filters.is_empty() {
            let filters = storage.filters.iter().map(|filter| self.filter(filter));
            entries.push((Key::Word("filter"), Tree::list(filters)));
        }
        self.push_element(&mut entries, &storage.element, self.detail, true);
        match (&storage.fill, datatype) {
            (Fill::Undefined, _) if !self.pure => {
                entries.push((Key::Word("fillvalue"), Tree::Scalar(Scalar::Null)));
            }
            (Fill::Value(value), Some(datatype)) => {
                entries.extend(self.value(datatype, value, &[])?.map(|fill| (Key::Word("fillvalue"), fill)));
            }
            _ => {}
        }
        // Writing the fill value at allocation is what happens anyway wherever there is one.
        let always = storage.fill_time == Some(FillTime::Alloc);
        if let Some(time) = storage.fill_time.filter(|_| self.detail == StorageDetail::Full || !always) {
            self.extend_with(Extension::FillTime, &mut entries, "fill_time", || Tree::text(fill_time(time)));
        }
        let layout = storage.layout.as_ref();
        let unasked = matches!(layout, Some(Layout::Contiguous | Layout::Chunked));
        if let Some(kind) = layout.filter(|_| self.detail == StorageDetail::Full || !unasked) {
            self.extend_with(Extension::Layout, &mut entries, "layout", || Tree::text(layout_name(kind)));
        }
        for (format, extension) in FORMATS {
            for (_, directives) in storage.native.iter().filter(|(name, _)| *name == format) {
                self.extend_with(extension, &mut entries, format, || map(directives));
            }
        }
        Ok(entries)
    }

    /// Of an attribute only that a NetCDF text is a string and not characters, unless everything is asked for.
    pub(super) fn attribute_storage<'a>(&mut self, storage: &'a ElementStorage) -> Entries<'a> {
        let mut entries = Entries::new();
        match self.detail {
            StorageDetail::None => {}
            StorageDetail::Full => self.push_element(&mut entries, storage, StorageDetail::Full, true),
            StorageDetail::Brief if self.netcdf && storage.length == Some(Length::Variable) => {
                self.extend_with(Extension::Length, &mut entries, "length", || Tree::text("variable"));
            }
            StorageDetail::Brief => {}
        }
        entries
    }

    /// `top` for the elements themselves, not the members of a compound.
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
        // Extensions within `members` are part of that one.
        let extend = |lower: &mut Self, extension, entries: &mut Entries<'a>, key, tree| {
            if top {
                lower.extend_with(extension, entries, key, || tree);
            } else {
                entries.push((Key::Word(key), tree));
            }
        };
        if let Some(endian) = endian.filter(|order| full || *order != ByteOrder::Little) {
            entries.push((Key::Word("endian"), Tree::text(byte_order(endian))));
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
        if let Some(charset) = charset.filter(|charset| full || *charset != CharacterSet::Utf8) {
            entries.push((Key::Word("charset"), Tree::text(character_set(charset))));
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

    /// Adds a directive that NDL 0.6.1 does not have, unless that is all that is wanted.
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

    /// The bare name, the name with its main parameter, or the name with all that it says.
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

fn map(directives: &[(String, Directive)]) -> Tree<'_> {
    Tree::map(directives.iter().map(|(name, value)| (Key::Name(name.as_str()), directive(value))).collect())
}

fn directive(value: &Directive) -> Tree<'_> {
    match value {
        Directive::Bool(value) => Tree::Scalar(Scalar::Bool(*value)),
        Directive::Int(value) => Tree::int(*value),
        Directive::Text(text) => Tree::text(text.as_str()),
        Directive::List(items) => Tree::list(items.iter().map(directive)),
        Directive::Map(entries) => map(entries),
    }
}

fn byte_order(order: ByteOrder) -> &'static str {
    match order {
        ByteOrder::Little => "little",
        ByteOrder::Big => "big",
        ByteOrder::Vax => "vax",
    }
}

fn character_set(charset: CharacterSet) -> &'static str {
    match charset {
        CharacterSet::Ascii => "ascii",
        CharacterSet::Utf8 => "utf-8",
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

fn layout_name(layout: &Layout) -> &'static str {
    match layout {
        Layout::Compact => "compact",
        Layout::Contiguous => "contiguous",
        Layout::Chunked => "chunked",
        Layout::Virtual => "virtual",
        Layout::External => "external",
    }
}
