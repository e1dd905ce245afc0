//! Attributes: in short form as a value alone, in long form as a map with shape, type and value.

use super::context::Context;
use super::events::{Mapping, Node, Scalar, View, shown};
use super::scalar::{Resolved, resolve};
use super::value::Expected;
use hyperslab_core::{ErrorKind, nd::element_count};
use hyperslab_model::{
    Attribute, Attributes, Datatype, Directive, EXTRA, ElementStorage, Float, NodeKind, Text, Unreadable,
    Values,
};
use std::sync::Arc;

impl<'t> Context<'t, '_> {
    pub(super) fn attributes(&mut self, node: Option<Node<'t>>) -> Attributes {
        let mut attributes = Attributes::new();
        let Some(mapping) = node.and_then(|node| self.map(node, "attributes")) else { return attributes };
        for (key, value) in mapping.iter() {
            if !self.findings.spend(ATTRIBUTE) {
                break;
            }
            if let Some(reason) = value.mapping().and_then(|mapping| mapping.get("x-error")) {
                attributes.insert(key.name.into(), Err(self.unreadable(reason, None, None, key.name)));
            } else if let Some(attribute) = self.attribute(value) {
                attributes.insert(key.name.into(), Ok(attribute));
            }
        }
        attributes
    }

    /// An unreadable object with its attributes.
    pub(super) fn unreadable(
        &mut self,
        reason: Node<'t>,
        attributes: Option<Node<'t>>,
        found: Option<NodeKind>,
        name: &str,
    ) -> Unreadable {
        let span = reason.span();
        let reason = match reason.scalar() {
            Some(scalar) => scalar.text,
            None => {
                self.findings.error("ndl/value", span, "x-error is not text, expected the reason");
                ""
            }
        };
        let message = format!("{}, which could not be read: {}", shown(name), shown(reason));
        self.refusals.error("ndl/create", span, message);
        let kind = match reason.starts_with("unsupported") {
            true => ErrorKind::Unsupported,
            false => ErrorKind::Malformed,
        };
        Unreadable { found, kind, reason: reason.into(), attributes: self.attributes(attributes) }
    }

    pub(super) fn attribute(&mut self, node: Node<'t>) -> Option<Attribute> {
        match node.view() {
            View::Scalar(_) => {
                let datatype = self.inferred(node)?;
                let value = self.value(node, &datatype, &[], EXPECTED)?;
                Some(attribute(Some(Vec::new()), datatype, value, ElementStorage::default()))
            }
            View::Mapping(mapping) => self.long(node, mapping),
            View::Sequence(_) => {
                let shape = Self::nesting(node, usize::MAX);
                let message = "a list for an attribute in short form, expected a scalar";
                let hint = format!("write {{shape: {shape:?}, type: …, value: […]}}");
                if !self.options.lenient {
                    self.findings.error("ndl/attribute", node.span(), message).hint(hint);
                    return None;
                }
                self.findings.warning("ndl/attribute", node.span(), message).hint(hint);
                let datatype = self.inferred(node)?;
                let value = self.value(node, &datatype, &shape, EXPECTED)?;
                Some(attribute(Some(shape), datatype, value, ElementStorage::default()))
            }
        }
    }

    fn long(&mut self, node: Node<'t>, mapping: Mapping<'t>) -> Option<Attribute> {
        if !mapping.iter().any(|(key, _)| KEYS.contains(&key.name)) {
            let message = "a map without shape, type and value, expected an attribute in long form";
            let finding = self.findings.error("ndl/attribute", node.span(), message);
            finding.hint("compound values need the long form: {shape: [], type: {compound: …}, value: …}");
            return None;
        }
        for (key, _) in mapping.iter().filter(|(key, _)| !KEYS.contains(&key.name)) {
            match key.name {
                "attributes" | "size" => {
                    let message = format!(
                        "the key {} in an attribute, expected shape, type, storage or value",
                        key.name
                    );
                    self.findings.error("ndl/attribute", key.span, message);
                }
                _ => self.unknown_key(key, "an attribute", KEYS),
            }
        }
        let mut native = Vec::new();
        let storage = match mapping.get("storage").and_then(|storage| self.map(storage, "storage")) {
            Some(storage) => self.attribute_storage(storage, Some(&mut native)),
            None => ElementStorage::default(),
        };
        let extra = self.extra(mapping.iter());
        if !extra.is_empty() {
            native.push((EXTRA, Directive::Map(extra)));
        }
        let value = mapping.get("value");
        let shape = self.attribute_shape(node, mapping, value)?;
        let datatype = match (mapping.get("type"), value) {
            (Some(datatype), _) => self.own_datatype(datatype, &storage)?,
            (None, Some(value)) => {
                let (span, hint) = self.instead(node, "type");
                self.findings
                    .warning("ndl/attribute", span, "an attribute without type")
                    .hint(hint.unwrap_or("the type is taken from the value".into()));
                self.inferred(value)?
            }
            (None, None) => {
                self.findings.error("ndl/attribute", node.span(), "an attribute without type and value");
                return None;
            }
        };
        let value = match (&shape, value) {
            (None, None) => Values::default(),
            (None, Some(value)) => {
                self.findings.error(
                    "ndl/value-shape",
                    value.span(),
                    "a value for a null dataspace, which has none",
                );
                return None;
            }
            (Some(shape), Some(value)) => {
                let expected = Expected { charset: storage.charset, selections: self.selections, ..EXPECTED };
                self.value(value, &datatype, shape, expected)?
            }
            (Some(shape), None) if element_count(shape) == Some(0) || datatype.row_size() == Some(0) => {
                Values::default()
            }
            (Some(_), None) => {
                let (span, hint) = self.instead(node, "value");
                self.findings.error("ndl/attribute", span, "an attribute without value").maybe_hint(hint);
                return None;
            }
        };
        Some(Attribute { native, ..attribute(shape, datatype, value, storage) })
    }

    /// The extents. The inner `None` is a null dataspace.
    #[expect(clippy::option_option, reason = "an error, a null dataspace, extents")]
    fn attribute_shape(
        &mut self,
        node: Node<'t>,
        mapping: Mapping<'t>,
        value: Option<Node<'t>>,
    ) -> Option<Option<Vec<u64>>> {
        match (mapping.get("shape"), value) {
            (Some(shape), _) if shape.is_null() => {
                self.extension(shape.span(), "a null dataspace");
                Some(None)
            }
            (Some(shape), _) => self.counts(shape, "the shape of an attribute").map(Some),
            (None, Some(value)) => {
                let shape = Self::nesting(value, usize::MAX);
                let message = format!("an attribute without shape, {shape:?} is taken from its value");
                let (span, hint) = self.instead(node, "shape");
                self.findings.warning("ndl/attribute", span, message).maybe_hint(hint);
                Some(Some(shape))
            }
            (None, None) => {
                self.findings.error("ndl/attribute", node.span(), "an attribute without shape and value");
                None
            }
        }
    }

    /// The narrowest type of [`Best`] that holds all elements of a value without a type.
    fn inferred(&mut self, node: Node<'t>) -> Option<Datatype> {
        let mut found = None;
        let mut open = vec![node];
        while let Some(node) = open.pop() {
            match node.view() {
                View::Scalar(scalar) => {
                    let best = self.best(scalar, node)?;
                    found = Some(found.map_or(best, |found: Best| found.max(best)));
                }
                View::Sequence(items) => open.extend(items.iter()),
                View::Mapping(_) => {
                    self.findings.error(
                        "ndl/attribute",
                        node.span(),
                        "a map as a value, expected the key type beside it",
                    );
                    return None;
                }
            }
        }
        Some(match found.unwrap_or(Best::Text) {
            Best::Int32 => Datatype::int(32, true),
            Best::Int64 => Datatype::int(64, true),
            Best::UInt64 => Datatype::int(64, false),
            Best::Double => Datatype::Float(Float::Double),
            Best::Text => Datatype::String(Text::Variable),
        })
    }

    fn best(&mut self, scalar: Scalar<'_>, node: Node<'_>) -> Option<Best> {
        match resolve(scalar) {
            Resolved::Null => {
                let finding = self.findings.error(
                    "ndl/null",
                    node.span(),
                    "null for an attribute in short form, which gives no type",
                );
                finding.hint("write {shape: null, type: …} for a null dataspace, \"null\" for the text");
                None
            }
            Resolved::Int(value) if i32::try_from(value).is_ok() => Some(Best::Int32),
            Resolved::Int(value) if i64::try_from(value).is_ok() => Some(Best::Int64),
            Resolved::Int(value) if u64::try_from(value).is_ok() => Some(Best::UInt64),
            Resolved::Int(_) | Resolved::HugeInt => {
                let message = format!("{} is out of range for every integer type", shown(scalar.text));
                self.findings
                    .error("ndl/value-range", node.span(), message)
                    .hint("put it in quotes if it is text");
                None
            }
            Resolved::Float => Some(Best::Double),
            Resolved::Bool(_) | Resolved::Text | Resolved::Bytes => Some(Best::Text),
        }
    }
}

/// The types that short forms can have, from narrow to wide.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Best {
    Int32,
    Int64,
    UInt64,
    Double,
    Text,
}

fn attribute(
    shape: Option<Vec<u64>>,
    datatype: Datatype,
    value: Values,
    storage: ElementStorage,
) -> Attribute {
    Attribute { shape, datatype: Arc::new(datatype), value, storage, native: Vec::new() }
}

const KEYS: &[&str] = &["shape", "type", "storage", "value"];

const EXPECTED: Expected<'_> = Expected::of("the value");

/// The memory of an attribute, including what it needs when it is written.
const ATTRIBUTE: u64 = 1800;
