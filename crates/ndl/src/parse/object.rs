//! Members of groups: arrays, dimensions, named datatypes, links.

use super::context::Context;
use super::events::{Mapping, Node, shown};
use super::storage::{Directives, Owner};
use super::value::{Expected, Selections};
use crate::element::plain;
use hyperslab_model::{
    Attributes, Cells, CharacterSet, Column, Datatype, DimCoord, Directive, EXTRA, Element, Elements, Extent,
    Fill, Filter, Float, Link, NamedDatatype, Ndarray, NodePath, Shape, Storage,
};
use std::collections::HashSet;
use std::sync::Arc;

impl<'t> Context<'t, '_> {
    pub(super) fn ndarray(&mut self, node: Node<'t>, group: &NodePath) -> Option<Ndarray> {
        let mapping =
            self.entity(node, "an ndarray", &["shape", "type", "attributes", "storage", "value"])?;
        let directives = self.storage(mapping.get("storage"), Owner::Ndarray);
        let value = mapping.get("value");
        if let (None, Some((_, place))) = (mapping.get("shape"), &directives.extent) {
            self.findings
                .error(
                    "ndl/shape",
                    place.span(),
                    "storage.shape, which is the current shape, without the key shape",
                )
                .hint("write shape: beside storage:");
            self.attributes(mapping.get("attributes"));
            return None;
        }
        let shape = match (mapping.get("shape"), value) {
            (Some(shape), _) => self.shape(shape, group, directives.extent.as_ref(), value),
            (None, Some(value)) => {
                let shape = Self::nesting(value, usize::MAX);
                let message = format!("an ndarray without shape, {shape:?} is taken from its value");
                self.findings.warning("ndl/shape", node.span(), message);
                Some(Shape::fixed(&shape))
            }
            (None, None) => {
                let message = "no shape: the description is partial";
                self.findings.note("ndl/partial", node.span(), message);
                Some(Shape::Unsaid)
            }
        };
        let datatype = self.entity_type(node, mapping, &directives, true);
        let selections = self.selections;
        let attributes = self.attributes(mapping.get("attributes"));
        let fill = directives.fill;
        let mut storage = self.finished(directives, datatype.as_deref(), selections);
        let shape = shape?;
        let extents: Vec<Extent> = shape.dims().iter().map(|dimension| dimension.extent).collect();
        let place = mapping.get("storage").unwrap_or(node);
        self.check_members(place, datatype.as_deref());
        if mapping.get("shape").is_some() || value.is_some() {
            self.check_chunks(&mut storage, &extents, place);
        }
        let value = match (value, &datatype, shape.current()) {
            (Some(value), Some(datatype), Some(current)) => {
                let charset = storage.element.charset;
                let expected = Expected { fill, charset, selections, ..Expected::of("the value") };
                self.value(value, datatype, &current, expected)
            }
            (Some(value), _, None) if shape == Shape::Null => {
                self.findings.error(
                    "ndl/value-shape",
                    value.span(),
                    "a value for a null dataspace, which has no elements",
                );
                None
            }
            _ => None,
        };
        self.push_extra(&mut storage, mapping);
        Some(Ndarray { shape, dimension: None, datatype, attributes, storage: storage.into(), value })
    }

    pub(super) fn dimcoord(&mut self, node: Node<'t>, sparse: bool) -> Option<DimCoord> {
        let mapping = self.entity(node, "a dimcoord", &["size", "type", "attributes", "storage", "value"])?;
        let directives = self.storage(mapping.get("storage"), Owner::DimCoord);
        let value = mapping.get("value");
        let size = self.extent(mapping, &directives, sparse);
        if mapping.get("size").is_none() {
            let (span, hint) = self.instead(node, "size");
            match value {
                Some(_) => self.findings.warning("ndl/shape", span, "a dimcoord without size"),
                None => self.findings.error("ndl/shape", span, "a dimcoord without size"),
            }
            .hint(hint.unwrap_or("write size: with an integer or null".into()));
        }
        if mapping.get("type").is_none() {
            self.extension(node.span(), "a dimension without type");
        }
        let datatype = self.entity_type(node, mapping, &directives, value.is_some());
        let selections = self.selections;
        let attributes = self.attributes(mapping.get("attributes"));
        let fill = directives.fill;
        let mut storage = self.finished(directives, datatype.as_deref(), selections);
        let size = size?;
        let place = mapping.get("storage").unwrap_or(node);
        self.check_members(place, datatype.as_deref());
        self.check_chunks(&mut storage, &[size], place);
        let value = match (value, &datatype) {
            (Some(value), Some(datatype)) => {
                let charset = storage.element.charset;
                let expected = Expected { fill, charset, selections, ..Expected::of("the value") };
                self.value(value, datatype, &[size.current()], expected)
            }
            _ => None,
        };
        self.push_extra(&mut storage, mapping);
        Some(DimCoord { size, datatype, attributes, storage: storage.into(), value })
    }

    pub(super) fn extent(
        &mut self,
        mapping: Mapping<'t>,
        directives: &Directives<'t>,
        sparse: bool,
    ) -> Option<Extent> {
        let value = mapping.get("value");
        let domain = directives.domain.is_some() || directives.tile.is_some();
        if (sparse || domain)
            && value.is_none()
            && directives.extent.is_none()
            && mapping.get("size").is_some_and(Node::is_null)
        {
            return Some(Extent::Uncounted);
        }
        match mapping.get("size") {
            Some(size) => self.size(size, directives.extent.as_ref(), value),
            None => Self::nesting(value?, 1).first().map(|size| Extent::Fixed(*size)),
        }
    }

    /// The cells of a sparse array. `datatype` finds the type of a column by its name.
    pub(super) fn cells(
        &mut self,
        node: Node<'t>,
        datatype: impl Fn(&str) -> Option<Arc<Datatype>>,
    ) -> Option<Cells> {
        self.extension(node.span(), "cells");
        let mapping = self.entity(node, "cells", &["columns", "rows"])?;
        let (Some(names), Some(rows)) = (mapping.get("columns"), mapping.get("rows")) else {
            let key = if mapping.get("columns").is_none() { "columns" } else { "rows" };
            let (span, hint) = self.instead(node, key);
            self.findings.error("ndl/cells", span, format!("cells without the key {key}")).maybe_hint(hint);
            return None;
        };
        let mut columns = Vec::new();
        for name in self.list(names, "columns")?.iter() {
            let text = self.text(name, "a column")?;
            let Some(datatype) = datatype(text) else {
                let message = format!(
                    "the column {}, expected the name of a dimcoord or ndarray with a type",
                    shown(text)
                );
                self.findings.error("ndl/cells", name.span(), message);
                return None;
            };
            columns.push((text, datatype, Vec::new()));
        }
        for row in self.list(rows, "rows")?.iter() {
            let items = self.list(row, "a row")?;
            if items.len() != columns.len() {
                let message = format!(
                    "a row of length {}, expected {}, one element per column",
                    items.len(),
                    columns.len()
                );
                self.findings.error("ndl/cells", row.span(), message);
                return None;
            }
            for ((_, _, column), item) in columns.iter_mut().zip(items.iter()) {
                column.push(item);
            }
        }
        let expected = Expected::of("the value");
        let columns = columns.into_iter().map(|(name, datatype, nodes)| {
            let values = self.column(&nodes, &datatype, expected)?;
            Some(Column { name: name.into(), datatype, values })
        });
        Some(Cells { columns: columns.collect::<Option<_>>()? })
    }

    pub(super) fn named_datatype(&mut self, node: Node<'t>, path: &NodePath) -> Option<NamedDatatype> {
        self.type_parts = 0;
        let Some(Datatype::Named(_, datatype)) = self.named(path.clone(), node.span()) else { return None };
        let mapping = node.mapping();
        let attributes = self.attributes(mapping.and_then(|mapping| mapping.get("attributes")));
        let place = mapping.and_then(|mapping| mapping.get("storage"));
        if let Some(place) = place {
            self.check_members(place, Some(&datatype));
        }
        let directives = self.storage(place, Owner::Datatype);
        let mut storage = self.finished(directives, Some(&datatype), Selections::ANY);
        if let Some(mapping) = mapping {
            self.push_extra(&mut storage, mapping);
            // Without `type`, the other keys are categories.
            if mapping.get("type").is_some() {
                let known = ["type", "attributes", "storage"];
                for (key, _) in mapping.iter().filter(|(key, _)| !known.contains(&key.name)) {
                    self.unknown_key(key, "a named datatype with a type", &known);
                }
            }
        }
        Some(NamedDatatype { datatype, attributes, storage: storage.into() })
    }

    /// Keeps the keys of other programs, which begin with `x-`.
    fn push_extra(&mut self, storage: &mut Storage, mapping: Mapping<'t>) {
        let extra = self.extra(mapping.iter());
        if !extra.is_empty() {
            storage.native.push((EXTRA, extra));
        }
    }

    /// Warns about a `_FillValue` that differs from the fill value in `storage`: elements that were never written have
    /// the latter, and do not count as missing. Files can have both because attributes can be changed later.
    pub(super) fn check_fill(
        &mut self,
        node: Node<'t>,
        attributes: &Attributes,
        storage: &Storage,
        datatype: Option<&Datatype>,
    ) {
        if self.netcdf == Some(false) {
            return;
        }
        let (Some(Ok(attribute)), Fill::Value(fill), Some(datatype)) =
            (attributes.get("_FillValue"), &storage.fill, datatype)
        else {
            return;
        };
        let one = Elements::new(&attribute.datatype, &attribute.value).next();
        let Some((one, other)) = one.zip(Elements::new(datatype, fill).next()) else { return };
        if same_number(one.get(), other.get(), datatype) || plain(one) == plain(other) {
            return;
        }
        let attributes = node.mapping().and_then(|mapping| mapping.get("attributes")).and_then(Node::mapping);
        let key = attributes.and_then(|map| map.iter().find(|(key, _)| key.name == "_FillValue"));
        let span = key.map_or(node.span(), |(key, _)| key.span);
        let message = format!(
            "_FillValue is {} and storage.fillvalue is {}: in NetCDF, elements that were never written are not missing",
            plain(one),
            plain(other)
        );
        self.findings.warning("ndl/fillvalue", span, message);
    }

    pub(super) fn link(&mut self, node: Node<'t>) -> Option<Link> {
        let entries = node.mapping().map(Mapping::iter).into_iter().flatten();
        let (extra, entries): (Vec<_>, Vec<_>) = entries.partition(|(key, _)| key.name.starts_with(EXTRA));
        for (key, _) in extra {
            self.unknown_key(key, "a link", &[]);
        }
        let [(key, to)] = *entries.as_slice() else {
            let message = format!("{} for a link, expected a map with one key", node.describe());
            self.findings
                .error("ndl/link", node.span(), message)
                .hint("{hard: /p}, {soft: /p}, {external: {file: f, path: /p}}");
            return None;
        };
        match key.name {
            "hard" => {
                let path = self.text(to, "a hard link")?;
                self.path(path, to.span()).map(Link::Hard)
            }
            "soft" => self.text(to, "a soft link").map(|path| Link::Soft(path.into())),
            "external" => {
                let mapping = self.entity(to, "an external link", &["file", "path"])?;
                let (file, path) = (self.part(to, mapping, "file")?, self.part(to, mapping, "path")?);
                let (file, path) = (self.text(file, "the file")?.into(), self.text(path, "the path")?.into());
                Some(Link::External { file, path })
            }
            "user" => {
                let mapping = self.entity(to, "a user link", &["class", "data"])?;
                let (class, data) = (self.part(to, mapping, "class")?, self.part(to, mapping, "data")?);
                let class = self.count(class, "the class")?;
                match super::scalar::hex(self.text(data, "the data")?) {
                    Some(data) => Some(Link::User { class, data }),
                    None => {
                        self.findings.error(
                            "ndl/link",
                            data.span(),
                            format!("{}, expected hex text", data.describe()),
                        );
                        None
                    }
                }
            }
            name => {
                let message = format!("unknown kind of link {}", shown(name));
                let known = ["hard", "soft", "external", "user"];
                self.findings
                    .error("ndl/link", key.span, message)
                    .hint(super::context::suggest(name, &known));
                None
            }
        }
    }

    fn part(&mut self, node: Node<'t>, mapping: Mapping<'t>, key: &str) -> Option<Node<'t>> {
        let found = mapping.get(key);
        if found.is_none() {
            let (span, hint) = self.instead(node, key);
            self.findings.error("ndl/link", span, format!("a link without the key {key}")).maybe_hint(hint);
        }
        found
    }

    /// The map of an entity. Unknown keys are reported.
    fn entity(&mut self, node: Node<'t>, name: &str, known: &[&str]) -> Option<Mapping<'t>> {
        if node.mapping().is_none() {
            let message = format!("{} for {name}, expected a map", node.describe());
            self.findings.error("ndl/structure", node.span(), message);
        }
        let mapping = node.mapping()?;
        for (key, _) in mapping.iter().filter(|(key, _)| !known.contains(&key.name)) {
            match (key.name, name) {
                ("size", "an ndarray") | ("shape", "a dimcoord") => {
                    let right = if key.name == "size" { "shape" } else { "size" };
                    let message = format!("the key {} in {name}, expected {right}", key.name);
                    self.findings.error("ndl/structure", key.span, message).hint(format!("write {right}:"));
                }
                _ => self.unknown_key(key, name, known),
            }
        }
        Some(mapping)
    }

    fn entity_type(
        &mut self,
        node: Node<'t>,
        mapping: Mapping<'t>,
        directives: &Directives<'t>,
        wanted: bool,
    ) -> Option<Arc<Datatype>> {
        if let Some(datatype) = mapping.get("type") {
            let datatype = self.own_datatype(datatype, &directives.storage.element)?;
            return Some(self.sharing(datatype));
        }
        // Reported only if the type itself is not the missing part.
        let declared = [
            ("a fill value", directives.fill.filter(|fill| !fill.is_null())),
            ("a domain", directives.domain),
            ("a tile", directives.tile),
        ];
        for (key, place) in declared {
            if let Some(place) = place.filter(|_| mapping.get("value").is_none()) {
                self.findings.error("ndl/type", place.span(), format!("{key} without a type"));
            }
        }
        if wanted {
            match mapping.get("value") {
                Some(value) => {
                    let (span, hint) = self.instead(node, "type");
                    let span = if hint.is_some() { span } else { value.span() };
                    self.findings.error("ndl/type", span, "a value without a type").maybe_hint(hint);
                }
                None => {
                    self.findings.note("ndl/partial", node.span(), "no type: the description is partial");
                }
            }
        }
        None
    }

    /// The storage of an object: its fill value, and how its elements are stored.
    pub(super) fn finished(
        &mut self,
        mut directives: Directives<'t>,
        datatype: Option<&Datatype>,
        selections: Selections,
    ) -> Storage {
        if let Some(fill) = directives.fill {
            let charset = directives.storage.element.charset;
            let read = match datatype {
                Some(datatype) => self.fill(fill, datatype, charset, selections),
                None => fill.is_null().then_some(Fill::Undefined),
            };
            directives.storage.fill = read.unwrap_or_default();
        }
        if let Some(datatype) = datatype {
            let expected = Expected::of("the domain");
            let domain = directives.domain;
            directives.storage.domain = domain.and_then(|node| self.value(node, datatype, &[2], expected));
            let tile = directives.tile;
            directives.storage.tile = tile.and_then(|node| self.value(node, datatype, &[], expected));
            let is_utf32 = directives.storage.element.charset == Some(CharacterSet::Utf32);
            if !datatype.has_byte_order() && !is_utf32 {
                directives.storage.element.endian = None;
            }
            name_bits(&mut directives.storage.filters, datatype);
        }
        directives.storage
    }

    /// The fill value in a type.
    pub(super) fn fill(
        &mut self,
        node: Node<'t>,
        datatype: &Datatype,
        charset: Option<CharacterSet>,
        selections: Selections,
    ) -> Option<Fill> {
        if node.is_null() && !matches!(datatype.resolved(), Datatype::Nullable(_)) {
            return Some(Fill::Undefined);
        }
        let expected = Expected { charset, selections, ..Expected::of("the fill value") };
        self.value(node, datatype, &[], expected).map(Fill::Value)
    }

    /// Reports storage of members that the type does not have.
    fn check_members(&mut self, place: Node<'t>, datatype: Option<&Datatype>) {
        let Some(members) = place.mapping().and_then(|storage| storage.get("members")) else { return };
        let (Some(declared), Some(mut datatype)) = (members.mapping(), datatype.map(Datatype::resolved))
        else {
            return;
        };
        while let Datatype::Vlen(base) | Datatype::Array { base, .. } | Datatype::Nullable(base) = datatype {
            datatype = base.resolved();
        }
        let Datatype::Compound(members) = datatype else {
            let message = format!("storage.members for {datatype}, which has no members");
            self.findings.warning("ndl/storage", place.span(), message);
            return;
        };
        let names: Vec<&str> = members.iter().map(|member| member.name.as_str()).collect();
        let known: HashSet<&str> = names.iter().copied().collect();
        for (key, _) in declared.iter().filter(|(key, _)| !known.contains(key.name)) {
            let message = format!("the compound has no member {}", shown(key.name));
            self.findings
                .warning("ndl/storage", key.span, message)
                .hint(super::context::suggest(key.name, &names));
        }
    }

    /// Checks chunks and filters against the shape.
    fn check_chunks(&mut self, storage: &mut Storage, extents: &[Extent], place: Node<'t>) {
        let span_of =
            |name: &str| place.mapping().and_then(|storage| storage.get(name)).unwrap_or(place).span();
        for (name, chunk) in [("chunk", &mut storage.chunk), ("shard", &mut storage.shard)] {
            let Some(chunk) = chunk else { continue };
            let span = span_of(name);
            if chunk.len() != extents.len() || extents.is_empty() {
                let message =
                    format!("a {name} of rank {} for an array of rank {}", chunk.len(), extents.len());
                self.findings.error("ndl/storage", span, message);
                continue;
            }
            for (size, extent) in chunk.iter_mut().zip(extents) {
                if let Extent::Fixed(extent) = *extent
                    && *size > extent
                    && extent > 0
                {
                    let message =
                        format!("a {name} of {size} along a dimension of {extent}, reduced to {extent}");
                    self.findings.warning("ndl/storage", span, message);
                    *size = extent;
                }
            }
        }
        if extents.is_empty() && !storage.filters.is_empty() {
            let span = span_of("filter");
            self.findings.error("ndl/storage", span, "filters for a scalar, which has no chunks");
        }
    }
}

/// Whether two numbers are equal after conversion to the type of the second.
fn same_number(one: Element<'_>, other: Element<'_>, datatype: &Datatype) -> bool {
    let (Element::Float(one), Element::Float(other)) = (one, other) else { return false };
    let single = || one.to_string().parse::<f32>().is_ok_and(|one| f64::from(one) == other);
    one == other
        || one.is_nan() && other.is_nan()
        || *datatype.resolved() == Datatype::Float(Float::Single) && single()
}

/// The parameter of scaleoffset is a number of bits for integers.
pub(super) fn name_bits(filters: &mut [Filter], datatype: &Datatype) {
    if !matches!(datatype.resolved(), Datatype::Int { .. }) {
        return;
    }
    for filter in filters.iter_mut().filter(|filter| filter.name == "scaleoffset" && filter.main) {
        if let Some((name, Directive::Int(_))) = filter.parameters.first_mut() {
            *name = "bits".into();
        }
    }
}
