//! The sections of the open group.

use super::{Format, Whole};
use crate::tree::{Key, Tree};
use crate::yaml::{STEP, spaces};
use crate::{json, yaml};
use hyperslab_model::NodePath;
use std::ops::Range;

/// The sections of a group, in writing order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    Attributes,
    Datatypes,
    DimCoords,
    Ndarrays,
    Cells,
    Links,
    Storage,
}

const NAMES: [&str; 7] = ["attributes", "datatypes", "dimcoords", "ndarrays", "cells", "links", "storage"];

/// A group that members are still added to.
#[derive(Debug)]
pub(super) struct OpenGroup {
    pub(super) path: NodePath,
    format: Format,
    /// Whether its sections start at the left margin unless other groups follow, as in the root group.
    bare: bool,
    /// The reason why a part of it could not be read.
    reason: Option<String>,
    sections: [Entries; NAMES.len()],
    /// Keys of other programs: as text at the left margin, and one step to the right.
    extra: [String; 2],
    /// Text after the sections.
    pub(super) behind: Vec<Whole>,
}

/// The text of a section without its name.
#[derive(Debug, Default)]
struct Entries {
    text: String,
    /// Parts whose line breaks differ one step to the right, and their text there.
    elsewhere: Vec<(Range<usize>, String)>,
}

impl OpenGroup {
    pub(super) fn new(path: NodePath, format: Format, bare: bool, reason: Option<String>) -> Self {
        let (sections, extra) = Default::default();
        OpenGroup { path, format, bare, reason, sections, extra, behind: Vec::new() }
    }

    pub(super) fn add(&mut self, section: Section, key: Key<'_>, tree: &Tree<'_>) {
        let indent = if self.bare { STEP } else { 2 * STEP };
        let Some(entries) = self.sections.get_mut(section as usize) else { return };
        let text = &mut entries.text;
        match (self.format, section) {
            (Format::Yaml, section) => {
                if matches!(section, Section::Datatypes | Section::DimCoords | Section::Ndarrays) {
                    part(text);
                }
                let start = text.len();
                let tight = yaml::entry(text, key, tree, indent);
                if tight && self.bare {
                    let mut moved = String::new();
                    yaml::entry(&mut moved, key, tree, indent + STEP);
                    entries.elsewhere.push((start..text.len(), moved));
                }
            }
            (Format::Json, Section::Storage) => {
                text.push_str(if text.is_empty() { "" } else { ", " });
                json::key(text, key);
                json::inline(text, tree);
            }
            (Format::Json, _) => {
                text.push_str(if text.is_empty() { "" } else { ",\n" });
                json::entry(text, key, tree, 6);
            }
        }
    }

    /// Adds keys on the level of the sections.
    pub(super) fn add_extra(&mut self, entries: &[(Key<'_>, Tree<'_>)]) {
        let [bare, within] = &mut self.extra;
        for (key, tree) in entries {
            match self.format {
                Format::Yaml => {
                    yaml::entry(bare, *key, tree, 0);
                    yaml::entry(within, *key, tree, STEP);
                }
                Format::Json => {
                    within.push_str(if within.is_empty() { "" } else { ",\n" });
                    json::entry(within, *key, tree, 4);
                }
            }
        }
    }

    /// The text of the group under its path. Empty if it has no content.
    pub(super) fn text(self) -> String {
        let mut out = String::new();
        let [_, extra] = &self.extra;
        let empty = extra.is_empty() && self.sections.iter().all(|entries| entries.text.is_empty());
        if self.reason.is_none() && empty {
            return out;
        }
        match self.format {
            Format::Yaml => {
                yaml::header(&mut out, Key::Name(self.path.as_str()), 0);
                let bare = self.bare;
                self.write_yaml(&mut out, STEP, |entries| if bare { entries.moved() } else { entries.text });
            }
            Format::Json => {
                json::pad(&mut out, 2);
                json::key(&mut out, Key::Name(self.path.as_str()));
                self.write_json(&mut out);
            }
        }
        out
    }

    /// The text of the root if there is no other group.
    pub(super) fn bare(self) -> String {
        let mut out = String::new();
        self.write_yaml(&mut out, 0, |entries| entries.text);
        out
    }

    fn write_yaml(self, out: &mut String, indent: usize, text: impl Fn(Entries) -> String) {
        let mut first = self.reason.is_none();
        if let Some(reason) = self.reason {
            yaml::entry(out, Key::Word("x-error"), &Tree::text(reason), indent);
        }
        for (name, entries) in NAMES.iter().zip(self.sections) {
            if entries.text.is_empty() {
                continue;
            }
            if !first {
                part(out);
            }
            first = false;
            yaml::header(out, Key::Word(name), indent);
            out.push_str(&text(entries));
        }
        let [bare, within] = &self.extra;
        let extra = if indent == 0 { bare } else { within };
        if !extra.is_empty() && !first {
            part(out);
        }
        out.push_str(extra);
    }

    fn write_json(self, out: &mut String) {
        let mut before = "{\n";
        if let Some(reason) = self.reason {
            out.push_str(before);
            json::entry(out, Key::Word("x-error"), &Tree::text(reason), 4);
            before = ",\n";
        }
        for (section, (name, entries)) in NAMES.iter().zip(self.sections).enumerate() {
            if entries.text.is_empty() {
                continue;
            }
            out.push_str(before);
            json::pad(out, 4);
            json::key(out, Key::Word(name));
            if section == Section::Storage as usize {
                out.extend(["{", &entries.text, "}"]);
            } else {
                out.extend(["{\n", &entries.text, "\n"]);
                json::pad(out, 4);
                out.push('}');
            }
            before = ",\n";
        }
        let [_, extra] = &self.extra;
        if !extra.is_empty() {
            out.push_str(before);
            out.push_str(extra);
        }
        out.push('\n');
        json::pad(out, 2);
        out.push('}');
    }
}

impl Entries {
    /// The text moved one step to the right.
    fn moved(self) -> String {
        let mut out = String::with_capacity(self.text.len() + self.text.len() / 8);
        let mut from = 0;
        for (range, text) in &self.elsewhere {
            shift(&mut out, self.text.get(from..range.start).unwrap_or_default());
            out.push_str(text);
            from = range.end;
        }
        shift(&mut out, self.text.get(from..).unwrap_or_default());
        out
    }
}

fn shift(out: &mut String, text: &str) {
    for line in text.split_inclusive('\n') {
        if line != "\n" {
            spaces(out, STEP);
        }
        out.push_str(line);
    }
}

/// Writes an empty line, unless the text before it ends in one.
fn part(text: &mut String) {
    if !text.is_empty() && !text.ends_with("\n\n") {
        text.push('\n');
    }
}
