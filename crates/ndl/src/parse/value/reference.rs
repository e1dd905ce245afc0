//! References to objects, regions and attributes.

use super::super::context::Context;
use super::super::events::{Mapping, Node, View};
use hyperslab_core::nd::{Region, Selection};
use hyperslab_model::{Datatype, Reference, ReferencedPart};
use std::sync::Arc;

/// The kinds of selections that region references of a type allow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::parse) struct Selections {
    blocks: bool,
    elements: bool,
    any: bool,
}

impl Selections {
    pub(in crate::parse) const BLOCKS: Selections = Selections { blocks: true, elements: false, any: false };
    pub(in crate::parse) const ELEMENTS: Selections =
        Selections { blocks: false, elements: true, any: false };
    pub(in crate::parse) const ANY: Selections = Selections { blocks: false, elements: false, any: true };

    /// Allows the selections of both.
    pub(in crate::parse) fn or(self, other: Selections) -> Selections {
        Selections {
            blocks: self.blocks || other.blocks,
            elements: self.elements || other.elements,
            any: self.any || other.any,
        }
    }

    /// Whether this allows a kind of selection. Without a restriction, all kinds are allowed.
    fn allow(self, selection: Selections) -> bool {
        let Selections { blocks, elements, any } = self;
        any || self == Selections::default() || blocks && selection.blocks || elements && selection.elements
    }
}

impl<'t> Context<'t, '_> {
    pub(super) fn reference(
        &mut self,
        node: Node<'t>,
        datatype: &Datatype,
        selections: Selections,
    ) -> Option<Reference> {
        let reference = self.read_reference(node, datatype, selections)?;
        if reference != Reference::Null {
            self.references.push((node.span(), reference.clone()));
        }
        Some(reference)
    }

    fn read_reference(
        &mut self,
        node: Node<'t>,
        datatype: &Datatype,
        selections: Selections,
    ) -> Option<Reference> {
        let regions = !matches!(datatype, Datatype::ObjRef);
        let objects = !matches!(datatype, Datatype::RegRef);
        match node.view() {
            View::Scalar(scalar) if scalar.is_null() => Some(Reference::Null),
            View::Scalar(scalar) if objects => Some(Reference::Object(self.path(scalar.text, node.span())?)),
            View::Mapping(mapping) => self.reference_map(node, mapping, regions.then_some(selections)),
            _ => {
                let expected =
                    if objects { "the path of an object" } else { "a map with target and a selection" };
                let message = format!("{}, expected {expected}", node.describe());
                self.findings.error("ndl/reference", node.span(), message);
                None
            }
        }
    }

    /// A reference in the form of a map: by address, to an attribute, an object or a region.
    fn reference_map(
        &mut self,
        node: Node<'t>,
        mapping: Mapping<'t>,
        selections: Option<Selections>,
    ) -> Option<Reference> {
        for (key, _) in mapping.iter().filter(|(key, _)| !KEYS.contains(&key.name)) {
            self.unknown_key(key, "a reference", KEYS);
        }
        if let Some(address) = mapping.get("address") {
            self.extension(node.span(), "a reference by address");
            let address = self.count(address, "the address")?;
            let Some(file) = mapping.get("file") else { return Some(Reference::Dangling(address)) };
            let file = self.text(file, "the file")?.to_string();
            let part = self.referenced_part(node, mapping)?;
            return Some(Reference::External { file, address, part });
        }
        let Some(target) = mapping.get("target") else {
            let (span, hint) = self.instead(node, "target");
            self.findings.error("ndl/reference", span, "a reference without the key target").maybe_hint(hint);
            return None;
        };
        let path = self.text(target, "the target")?;
        let path = self.path(path, target.span())?;
        if let Some(attribute) = mapping.get("attribute") {
            self.extension(node.span(), "a reference to an attribute");
            return Some(Reference::Attribute(path, self.text(attribute, "the attribute")?.to_string()));
        }
        let Some(selections) = selections else {
            let finding = self.findings.error(
                "ndl/reference",
                node.span(),
                "a region for an object reference, expected only a target",
            );
            finding.hint("declare type: {regref: {selection: block}}");
            return None;
        };
        let selection = self.selection(node, mapping, &format!("a region of {path}"))?;
        let (kind, name) = match &selection {
            Selection::Points { .. } => (Selections::ELEMENTS, "elements"),
            Selection::Region(region) if !region.is_box() => (Selections::ANY, "a region with steps"),
            Selection::Region(_) | Selection::Blocks(_) => (Selections::BLOCKS, "a block"),
            Selection::All | Selection::None => (Selections::ANY, "all or none"),
        };
        if !selections.allow(kind) {
            let declared = if selections.blocks { "block" } else { "element" };
            let message = format!("{name} for a region reference whose selection is {declared}");
            let finding = self.findings.error("ndl/reference", node.span(), message);
            finding.hint("declare type: regref for selections of every kind");
            return None;
        }
        Some(Reference::Region(path, Arc::new(selection)))
    }

    /// The part of an object in another file: all of it, unless there is an attribute or a selection.
    fn referenced_part(&mut self, node: Node<'t>, mapping: Mapping<'t>) -> Option<ReferencedPart> {
        if let Some(attribute) = mapping.get("attribute") {
            return Some(ReferencedPart::Attribute(self.text(attribute, "the attribute")?.to_string()));
        }
        if mapping.iter().any(|(key, _)| SELECTIONS.contains(&key.name)) {
            let selection = self.selection(node, mapping, "a region of an object in another file")?;
            return Some(ReferencedPart::Region(Arc::new(selection)));
        }
        Some(ReferencedPart::Object)
    }

    /// The selection of `what`.
    fn selection(&mut self, node: Node<'t>, mapping: Mapping<'t>, what: &str) -> Option<Selection> {
        if let Some(all) = mapping.get("all").or_else(|| mapping.get("none")) {
            self.extension(all.span(), "a selection of all or none");
            return Some(if mapping.get("all").is_some() { Selection::All } else { Selection::None });
        }
        if let Some(elements) = mapping.get("elements") {
            return self.points(elements);
        }
        if let Some(blocks) = mapping.get("blocks") {
            self.extension(blocks.span(), "a selection of several blocks");
            let mut regions = Vec::new();
            for block in self.list(blocks, "blocks")?.iter() {
                if block.is_null() {
                    let message = "null for a block, expected its corners start and opposite";
                    self.findings.error("ndl/reference", block.span(), message);
                    return None;
                }
                let corners = self.map(block, "a block")?;
                for (key, _) in corners.iter().filter(|(key, _)| !CORNERS.contains(&key.name)) {
                    self.unknown_key(key, "a block", CORNERS);
                }
                regions.push(self.block(block, corners)?);
            }
            return Some(Selection::Blocks(regions));
        }
        if let (Some(count), Some(step)) = (mapping.get("count"), mapping.get("step")) {
            self.extension(step.span(), "a selection with steps");
            let start = self.start(node, mapping)?;
            let (count, step) = (self.counts(count, "the count")?, self.sizes(step, "the step")?);
            if start.len() != count.len() || count.len() != step.len() {
                self.ranks_differ(node);
                return None;
            }
            return Some(Selection::Region(Region { start, count, step }));
        }
        if mapping.get("start").is_some() {
            return self.block(node, mapping).map(Selection::Region);
        }
        let message = format!("{what} without a selection");
        let similar = ["start", "elements", "blocks"].map(|key| self.instead(node, key));
        let similar = similar.into_iter().find(|(_, hint)| hint.is_some());
        let (span, hint) = similar.unwrap_or((node.span(), None));
        let finding = self.findings.error("ndl/reference", span, message);
        finding.hint(hint.unwrap_or("add start and opposite, elements, or blocks".into()));
        None
    }

    fn start(&mut self, node: Node<'t>, mapping: Mapping<'t>) -> Option<Vec<u64>> {
        self.corner(node, mapping, "start")
    }

    fn corner(&mut self, node: Node<'t>, mapping: Mapping<'t>, key: &str) -> Option<Vec<u64>> {
        match mapping.get(key) {
            Some(corner) => self.counts(corner, key),
            None => {
                let (span, hint) = self.instead(node, key);
                let message = format!("a block without the key {key}");
                self.findings.error("ndl/reference", span, message).maybe_hint(hint);
                None
            }
        }
    }

    /// A block between two corners, in any order. Both corners are inside the block.
    fn block(&mut self, node: Node<'t>, mapping: Mapping<'t>) -> Option<Region> {
        let start = self.corner(node, mapping, "start")?;
        let opposite = self.corner(node, mapping, "opposite")?;
        if start.len() != opposite.len() {
            self.ranks_differ(node);
            return None;
        }
        let corners = || start.iter().zip(&opposite);
        let count = corners().map(|(a, b)| a.abs_diff(*b).checked_add(1));
        let Some(count) = count.collect::<Option<Vec<u64>>>() else {
            let message = "a block of more than 2^64 - 1 elements along a dimension";
            self.findings.error("ndl/reference", node.span(), message);
            return None;
        };
        Some(Region::new(corners().map(|(a, b)| *a.min(b)).collect(), count))
    }

    fn points(&mut self, node: Node<'t>) -> Option<Selection> {
        let mut coordinates = Vec::new();
        let mut rank = None;
        for point in self.list(node, "elements")?.iter() {
            let point_coordinates = self.counts(point, "an element's indices")?;
            if *rank.get_or_insert(point_coordinates.len()) != point_coordinates.len() {
                self.ranks_differ(point);
                return None;
            }
            coordinates.extend(point_coordinates);
        }
        Some(Selection::Points { rank: u32::try_from(rank.unwrap_or(0)).ok()?, coordinates })
    }

    fn ranks_differ(&mut self, node: Node<'_>) {
        self.findings.error(
            "ndl/reference",
            node.span(),
            "elements with different numbers of indices, expected the same rank for all",
        );
    }
}

const CORNERS: &[&str] = &["start", "opposite"];

/// The keys of selections.
const SELECTIONS: &[&str] = &["start", "opposite", "elements", "blocks", "all", "none", "count", "step"];

const KEYS: &[&str] = &[
    "target",
    "start",
    "opposite",
    "elements",
    "blocks",
    "all",
    "none",
    "attribute",
    "address",
    "file",
    "count",
    "step",
];
