//! Values of regions and area types.
//!
//! Spec: CF 1.13, 3.3 Standard Name

use super::{Found, Scope};
use crate::dataset::{Variable, words};
use crate::rules::scope::meant;
use crate::rules::values::Fold;
use crate::tables::Vocabulary;
use hyperslab_model::{Element, Elements};
use std::collections::BTreeSet;

pub(in crate::rules) fn region_or_area_type<'a>(
    _scope: &'a Scope<'_>,
    variable: &'a Variable,
) -> Option<Box<dyn Fold + 'a>> {
    let vocabulary = match variable.standard_name()? {
        "region" => Vocabulary::regions(),
        "area_type" => Vocabulary::area_types(),
        _ => return None,
    };
    let width = match variable.dimensions.last() {
        Some(along) if variable.is_char() => Some(usize::try_from(along.length).ok()?),
        _ => None,
    };
    Some(Box::new(Words {
        variable,
        vocabulary,
        width,
        part: Vec::new(),
        count: 0,
        unknown: BTreeSet::new(),
    }))
}

struct Words<'a> {
    variable: &'a Variable,
    vocabulary: &'static Vocabulary,
    /// The number of characters that make a text.
    width: Option<usize>,
    /// The characters of a text that is not complete.
    part: Vec<u8>,
    count: usize,
    unknown: BTreeSet<String>,
}

impl Words<'_> {
    fn word(&mut self, text: &[u8]) {
        let text = String::from_utf8_lossy(text);
        let text = text.trim_end_matches('\0').trim();
        if !text.is_empty() && !self.vocabulary.contains(text) && self.unknown.len() < MAX_WORDS {
            self.unknown.insert(text.chars().take(MAX_LETTERS).collect());
        }
    }
}

impl Fold for Words<'_> {
    fn take(&mut self, values: Elements<'_>) {
        for element in values {
            let Element::Text(bytes) = element.get() else { continue };
            let Some(width) = self.width else {
                self.word(bytes);
                continue;
            };
            // Longer texts are in no table.
            if self.part.len() < MAX_LETTERS {
                self.part.extend_from_slice(if bytes.is_empty() { b" " } else { bytes });
            }
            self.count += 1;
            if self.count >= width {
                let part = std::mem::take(&mut self.part);
                self.word(&part);
                self.count = 0;
            }
        }
    }

    fn finish(mut self: Box<Self>, found: &mut Found) {
        let place = if self.variable.is_text() {
            self.variable.path.to_string()
        } else {
            // Numbers stand for words by flags.
            let meanings = words(self.variable.text("flag_meanings").unwrap_or_default());
            for meaning in meanings.collect::<Vec<_>>() {
                self.word(meaning.as_bytes());
            }
            self.variable.place("flag_meanings")
        };
        let what = self.variable.standard_name().unwrap_or_default();
        for word in &self.unknown {
            let message = format!("{what} {word:?}, expected one of table {}", self.vocabulary.version());
            found.add(&place, message, meant(self.vocabulary.nearest(word), "use a name of the table"));
        }
    }
}

/// How many unknown words of a variable are reported.
const MAX_WORDS: usize = 20;

/// How long a word may be.
const MAX_LETTERS: usize = 256;
