//! Checks documents, from bytes to JSON to metadata. Each error is reported once.
//!
//! Spec: Zarr v3 "Metadata", Zarr v2 "Storage", RFC 8259

use super::findings::{Found, ValuePlace};
use super::{Checker, Rule, mend, rule, text};
use crate::json::{Deviation, Json, Object, most_text};
use crate::metadata::{v2, v3};
use hyperslab_core::store::Key;
use hyperslab_core::{Error, ErrorKind, Result};

/// A document that is valid JSON.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) key: Key,
    /// Its bytes. Bare NaN and infinities are replaced with numbers, unlike in `json`, where readers accept them.
    pub(super) text: Vec<u8>,
    pub(super) json: Json,
}

impl Document {
    /// The place of the value at a JSON Pointer.
    pub(super) fn place(&self, pointer: &str) -> ValuePlace {
        text::place(&self.text, &text::locate(&self.text, pointer).0)
    }
}

impl Checker<'_> {
    /// The document of a node. `None` if it does not exist or is not valid JSON.
    pub(super) fn document(&mut self, path: &Key, name: &'static str) -> Option<Document> {
        let key = path.join(name).ok()?;
        let mut text = match self.store.read(&key, most_text(&self.limits)) {
            Ok(bytes) => bytes?.to_vec(),
            Err(e) => {
                self.tell_unreadable(path, &key, &e);
                self.see(&key);
                return None;
            }
        };
        let mut parsed = Json::parse(name, &text, &self.limits);
        if parsed.as_ref().is_err_and(is_not_finite) {
            let accepted = Json::parse_noting(name, &text, &self.limits).ok();
            let fills = accepted.as_ref().map(|(_, fills)| fills.as_slice());
            for range in text::make_finite(&mut text) {
                let is_fill = fills.is_some_and(|fills| fills.binary_search(&range.start).is_ok());
                let rule = match fills {
                    Some(_) if is_fill => &rule::DEVIATION,
                    Some(_) => &rule::NOT_FINITE_ATTRIBUTE,
                    None => &rule::NOT_FINITE,
                };
                if !self.findings.wants(rule) {
                    continue;
                }
                let place = Some(text::place(&text, &range));
                let word = ["NaN", "-NaN"].into_iter().find(|word| word.len() == range.len());
                let word = word.unwrap_or(if range.len() == 8 { "Infinity" } else { "-Infinity" });
                let message = match is_fill {
                    true => format!("a bare {word}, expected the string {word:?}"),
                    false => format!("a bare {word}, expected a number or a string"),
                };
                let hint = rule::NOT_FINITE.hint.filter(|_| is_fill).map(str::to_owned);
                let found = Found { object: Some(path), key: Some(&key), place, message, hint };
                self.findings.give(rule, found);
            }
            parsed = match accepted {
                Some((json, _)) => Ok(json),
                None => Json::parse(name, &text, &self.limits),
            };
        }
        match parsed {
            Ok(json) => Some(Document { key, text, json }),
            Err(e) => {
                let rule = match e.kind() {
                    ErrorKind::LimitExceeded => &rule::LIMIT,
                    _ if e.detail().starts_with("duplicate name") => &rule::DUPLICATE_NAME,
                    _ if e.detail() == "text that is not UTF-8" => &rule::TEXT_ENCODING,
                    _ => &rule::JSON,
                };
                let start = e.place().and_then(|place| usize::try_from(place.offset).ok());
                let place = start.map(|start| text::place(&text, &(start..start.saturating_add(1))));
                let message = format!("{}{}", e.detail(), e.advice());
                let found = Found { object: Some(path), key: Some(&key), place, message, ..Found::default() };
                self.findings.add(rule, found);
                self.see(&key);
                None
            }
        }
    }

    /// Parses a `zarr.json`. Also returns whether all members that chunks depend on are valid.
    pub(super) fn parse_3(&mut self, path: &Key, document: &Document) -> Option<(v3::NodeMetadata, bool)> {
        let mut json = document.json.clone();
        if let Some(member) = mend::contradiction(&mut json) {
            let (says, of) = member;
            let message = format!("a node of type {says:?} with the member {of:?}");
            self.tell_at(&rule::NODE_TYPE, path, document, "/node_type", message);
        }
        let limits = self.limits;
        let (metadata, is_sound) =
            self.parse_mending(path, document, json, 3, |json| v3::NodeMetadata::parse(json, &limits))?;
        let deviations = match &metadata {
            v3::NodeMetadata::Array(array) => &array.deviations,
            v3::NodeMetadata::Group(group) => &group.deviations,
        };
        self.tell_deviations(path, document, deviations);
        Some((metadata, is_sound))
    }

    /// Parses a `.zarray`, otherwise as [`Self::parse_3`].
    pub(super) fn parse_array_2(
        &mut self,
        path: &Key,
        document: &Document,
    ) -> Option<(v2::ArrayMetadata, bool)> {
        let limits = self.limits;
        let json = document.json.clone();
        let (array, is_sound) =
            self.parse_mending(path, document, json, 2, |json| v2::ArrayMetadata::parse(json, &limits))?;
        self.tell_deviations(path, document, &array.deviations);
        self.tell_unknown(path, document, &array.unknown);
        Some((array, is_sound))
    }

    pub(super) fn check_group_2(&mut self, path: &Key, document: &Document) {
        let limits = self.limits;
        let json = document.json.clone();
        let parse = |json: &Json| v2::GroupMetadata::parse(json, &limits);
        if let Some((group, _)) = self.parse_mending(path, document, json, 2, parse) {
            self.tell_unknown(path, document, &group.unknown);
        }
    }

    pub(super) fn parse_consolidated_2(
        &mut self,
        path: &Key,
        document: &Document,
    ) -> Option<v2::ConsolidatedMetadata> {
        match v2::ConsolidatedMetadata::parse(&document.json, &self.limits) {
            Ok(consolidated) => Some(consolidated),
            Err(e) => {
                let (pointer, message) =
                    text::split(&document.text, &format!("{}{}", e.detail(), e.advice()));
                self.tell_at(&rule::CONSOLIDATED, path, document, &pointer, message);
                None
            }
        }
    }

    /// Adds a finding for an error of the reader in a document.
    pub(super) fn tell_refused(&mut self, path: &Key, document: &Document, e: &Error) -> String {
        let (pointer, message) = text::split(&document.text, &format!("{}{}", e.detail(), e.advice()));
        let member = pointer.split('/').nth(1).unwrap_or_default().replace("~1", "/").replace("~0", "~");
        let rule = rule_of(&member, e.kind(), &message);
        let told = match rule == &rule::UNKNOWN_EXTENSION {
            true => format!("not supported: {message}"),
            false => message.clone(),
        };
        self.tell_at(rule, path, document, &pointer, told);
        match member.is_empty() {
            true => mend::missing(&message).unwrap_or_default(),
            false => member,
        }
    }

    /// Parses repeatedly: each time, the invalid member is reported and replaced with a valid one, until parsing
    /// succeeds.
    fn parse_mending<T>(
        &mut self,
        path: &Key,
        document: &Document,
        mut json: Json,
        version: u8,
        parse: impl Fn(&Json) -> Result<T>,
    ) -> Option<(T, bool)> {
        let mut mended: Vec<String> = Vec::new();
        loop {
            let e = match parse(&json) {
                Ok(metadata) => {
                    let is_sound = mended.iter().all(|member| mend::is_harmless(member, version));
                    return Some((metadata, is_sound));
                }
                Err(e) => e,
            };
            let member = self.tell_refused(path, document, &e);
            let again = mended.contains(&member) || mended.len() >= MAX_MENDED;
            if again || !mend::mend(&mut json, version, &member, &self.limits) {
                return None;
            }
            mended.push(member);
        }
    }

    fn tell_deviations(&mut self, path: &Key, document: &Document, deviations: &[Deviation]) {
        for Deviation { place, what } in deviations {
            let pointer = place.split_once('#').map_or("", |(_, pointer)| pointer);
            self.tell_at(&rule::DEVIATION, path, document, pointer, what.clone());
        }
    }

    fn tell_unknown(&mut self, path: &Key, document: &Document, unknown: &Object) {
        for (name, _) in unknown.iter() {
            let pointer = format!("/{}", name.replace('~', "~0").replace('/', "~1"));
            let message = format!("a member {name:?}, which is ignored");
            self.tell_at(&rule::UNKNOWN_MEMBER, path, document, &pointer, message);
        }
    }
}

fn is_not_finite(e: &Error) -> bool {
    e.detail().starts_with("NaN,") || e.detail().starts_with("Infinity,")
}

/// The rule that an error of the reader in a member breaks.
fn rule_of(member: &str, kind: ErrorKind, message: &str) -> &'static Rule {
    match (member, kind) {
        (_, ErrorKind::LimitExceeded) => &rule::LIMIT,
        ("", _) if mend::missing(message).is_some() => &rule::MISSING_MEMBER,
        ("", _) => &rule::DOCUMENT,
        ("zarr_format", _) => &rule::VERSION,
        ("node_type", _) => &rule::NODE_TYPE,
        ("shape", _) => &rule::SHAPE,
        ("attributes", _) => &rule::ATTRIBUTES,
        ("dimension_names", _) => &rule::DIMENSION_NAMES,
        ("consolidated_metadata", _) => &rule::CONSOLIDATED,
        (member, ErrorKind::Unsupported) if mend::is_extension_point(member) => &rule::UNKNOWN_EXTENSION,
        ("data_type" | "dtype", _) => &rule::DATA_TYPE,
        ("chunk_grid" | "chunks", _) => &rule::CHUNK_GRID,
        ("chunk_key_encoding" | "dimension_separator", _) => &rule::CHUNK_KEY_ENCODING,
        ("fill_value", _) => &rule::FILL_VALUE,
        ("order", _) => &rule::ORDER,
        ("codecs" | "filters" | "compressor", _) => &rule::CODECS,
        ("storage_transformers", _) => &rule::STORAGE_TRANSFORMERS,
        (_, ErrorKind::Unsupported) => &rule::MUST_UNDERSTAND,
        _ => &rule::DOCUMENT,
    }
}

/// The maximum number of invalid members of a document that are reported.
const MAX_MENDED: usize = 32;
