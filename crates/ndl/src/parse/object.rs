//! Members of groups: arrays, dimension coordinates, named datatypes, links.

use super::context::Context;
use super::events::{Mapping, Node, Span, shown};
use super::storage::{Directives, Owner};
use super::value::Expected;
use hyperslab_model::{
    Cells, Column, Datatype, DimCoord, Directive, Extent, Fill, Link, NamedDatatype, Ndarray, NodePath,
    Shape, Storage,
};
use std::sync::Arc;

impl<'t> Context<'t, '_> {
    pub(super) fn ndarray(&mut self, node: Node<'t>, group: &NodePath) -> Option<Ndarray> {
        let mapping =
            self.entity(node, "an ndarray", &["shape", "type", "attributes", "storage", "value"])?;
        let directives = self.storage(mapping.get("storage"), Owner::Ndarray);
        let value = mapping.get("value");
        let shape = match (mapping.get("shape"), value) {
            (Some(shape), _) => self.shape(shape, group, directives.extent.as_ref(), value),
            (None, Some(value)) => {
                let shape = Self::nesting(value, usize::MAX);
                let message = format!("an ndarray without shape, taken as {shape:?}");
                self.findings.warning("ndl/shape", node.span(), message);
                Some(Shape::fixed(&shape))
            }
            (None, None) => {
                self.unsupported(node.span(), "an ndarray without shape and value");
                None
            }
        };
        let datatype = self.entity_type(node, mapping, &directives, true);
        let attributes = self.attributes(mapping.get("attributes"));
        let fill = directives.fill;
        let mut storage = self.finished(directives, datatype.as_deref());
        let shape = shape?;
        let extents: Vec<Extent> = shape.dims().iter().map(|dimension| dimension.extent).collect();
        let span = mapping.get("storage").map_or(node.span(), Node::span);
        self.check_chunks(&mut storage, &extents, span);
        let value = match (value, &datatype, shape.current()) {
            (Some(value), Some(datatype), Some(current)) => {
                let expected = Expected { fill, charset: storage.element.charset, name: "the value" };
                self.value(value, datatype, &current, expected)
            }
            (Some(value), _, None) => {
                self.findings.error(
                    "ndl/value-shape",
                    value.span(),
                    "a value for a null dataspace, which has none",
                );
                None
            }
            _ => None,
        };
        Some(Ndarray { shape, datatype, attributes, storage, value })
    }

    pub(super) fn dimcoord(&mut self, node: Node<'t>, sparse: bool) -> Option<DimCoord> {
        let mapping = self.entity(node, "a dimcoord", &["size", "type", "attributes", "storage", "value"])?;
        let directives = self.storage(mapping.get("storage"), Owner::DimCoord);
        let value = mapping.get("value");
        let size = self.extent(mapping, &directives, sparse);
        if mapping.get("size").is_none() {
            match value {
                Some(_) => self.findings.warning("ndl/shape", node.span(), "a dimcoord without size"),
                None => self.findings.error("ndl/shape", node.span(), "a dimcoord without size"),
            }
            .hint("write size: with an integer or null");
        }
        if mapping.get("type").is_none() {
            self.extension(node.span(), "a dimension without type");
        }
        let datatype = self.entity_type(node, mapping, &directives, value.is_some());
        let attributes = self.attributes(mapping.get("attributes"));
        let fill = directives.fill;
        let mut storage = self.finished(directives, datatype.as_deref());
        let size = size?;
        let span = mapping.get("storage").map_or(node.span(), Node::span);
        self.check_chunks(&mut storage, &[size], span);
        let value = match (value, &datatype) {
            (Some(value), Some(datatype)) => {
                let expected = Expected { fill, charset: storage.element.charset, name: "the value" };
                self.value(value, datatype, &[size.current()], expected)
            }
            _ => None,
        };
        Some(DimCoord { size, datatype, attributes, storage, value })
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

    /// The values of a sparse array; `datatype` finds the type of a column.
    pub(super) fn cells(
        &mut self,
        node: Node<'t>,
        datatype: impl Fn(&str) -> Option<Arc<Datatype>>,
    ) -> Option<Cells> {
        self.extension(node.span(), "cells");
        let mapping = self.entity(node, "cells", &["columns", "rows"])?;
        let (Some(names), Some(rows)) = (mapping.get("columns"), mapping.get("rows")) else {
            self.findings.error("ndl/cells", node.span(), "cells without the key columns or rows");
            return None;
        };
        let mut columns = Vec::new();
        for name in self.list(names, "columns")?.iter() {
            let text = self.text(name, "a column")?;
            let Some(datatype) = datatype(text) else {
                let message =
                    format!("the column {}, which no dimcoord or ndarray with a type has", shown(text));
                self.findings.error("ndl/cells", name.span(), message);
                return None;
            };
            columns.push((text, datatype, Vec::new()));
        }
        for row in self.list(rows, "rows")?.iter() {
            let items = self.list(row, "a row")?;
            if items.len() != columns.len() {
                let message = format!("a row of {} for {} columns", items.len(), columns.len());
                self.findings.error("ndl/cells", row.span(), message);
                return None;
            }
            for ((_, _, column), item) in columns.iter_mut().zip(items.iter()) {
                column.push(item);
            }
        }
        let expected = Expected { fill: None, charset: None, name: "the value" };
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
        let directives = self.storage(mapping.and_then(|mapping| mapping.get("storage")), Owner::Datatype);
        let storage = self.finished(directives, Some(&datatype));
        Some(NamedDatatype { datatype, attributes, storage })
    }

    pub(super) fn link(&mut self, node: Node<'t>) -> Option<Link> {
        let entry =
            node.mapping().filter(|mapping| mapping.len() == 1).and_then(|mapping| mapping.iter().next());
        let Some((key, to)) = entry else {
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
                let message = format!("no kind of link {}", shown(name));
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
            self.findings.error("ndl/link", node.span(), format!("a link without the key {key}"));
        }
        found
    }

    /// The map of an entity, its keys checked.
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
                    let message = format!("{} for {name}, which has a {right}", key.name);
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
            return self.datatype(datatype, &directives.storage.element).map(Arc::new);
        }
        if wanted {
            match mapping.get("value") {
                Some(value) => self.findings.error("ndl/type", value.span(), "a value without a type"),
                None => self.findings.note("ndl/partial", node.span(), "no type: a partial description"),
            };
        }
        None
    }

    /// An entry's storage: what fills its array and how its elements lie.
    fn finished(&mut self, mut directives: Directives<'t>, datatype: Option<&Datatype>) -> Storage {
        match (directives.fill, datatype) {
            (Some(fill), _) if fill.is_null() => directives.storage.fill = Fill::Undefined,
            (Some(fill), Some(datatype)) => {
                let charset = directives.storage.element.charset;
                let expected = Expected { fill: None, charset, name: "the fill value" };
                if let Some(values) = self.value(fill, datatype, &[], expected) {
                    directives.storage.fill = Fill::Value(values);
                }
            }
            _ => {}
        }
        if let Some(datatype) = datatype {
            let expected = Expected { fill: None, charset: None, name: "the domain" };
            let domain = directives.domain;
            directives.storage.domain = domain.and_then(|node| self.value(node, datatype, &[2], expected));
            let tile = directives.tile;
            directives.storage.tile = tile.and_then(|node| self.value(node, datatype, &[], expected));
            if !has_order(datatype) {
                directives.storage.element.endian = None;
            }
            if matches!(datatype.resolved(), Datatype::Int { .. }) {
                name_bits(&mut directives.storage);
            }
        }
        directives.storage
    }

    /// Checks chunks and filters against the shape.
    fn check_chunks(&mut self, storage: &mut Storage, extents: &[Extent], span: Span) {
        for (name, chunk) in [("chunk", &mut storage.chunk), ("shard", &mut storage.shard)] {
            let Some(chunk) = chunk else { continue };
            if chunk.len() != extents.len() || extents.is_empty() {
                let message =
                    format!("a {name} of {} dimensions for an array of {}", chunk.len(), extents.len());
                self.findings.error("ndl/storage", span, message);
                continue;
            }
            for (size, extent) in chunk.iter_mut().zip(extents) {
                if let Extent::Fixed(extent) = *extent
                    && *size > extent
                    && extent > 0
                {
                    let message =
                        format!("a {name} of {size} along a dimension of {extent}, taken as {extent}");
                    self.findings.warning("ndl/storage", span, message);
                    *size = extent;
                }
            }
        }
        if extents.is_empty() && !storage.filters.is_empty() {
            self.findings.error("ndl/storage", span, "filters for a scalar, which has no chunks");
        }
    }
}

/// Whether elements have a byte order.
fn has_order(datatype: &Datatype) -> bool {
    match datatype.resolved() {
        Datatype::Int { bits: 8, .. } | Datatype::String(_) | Datatype::Opaque { .. } | Datatype::Bool => {
            false
        }
        Datatype::Enum { base, .. }
        | Datatype::Vlen(base)
        | Datatype::Array { base, .. }
        | Datatype::Nullable(base) => has_order(base),
        _ => true,
    }
}

/// The number that scaleoffset keeps is bits where elements are integers.
fn name_bits(storage: &mut Storage) {
    for filter in storage.filters.iter_mut().filter(|filter| filter.name == "scaleoffset" && filter.main) {
        if let Some((name, Directive::Int(_))) = filter.parameters.first_mut() {
            *name = "bits".into();
        }
    }
}
