//! Values of regions and area types.
//!
//! Spec: CF 1.13, 3.3 Standard Name

use super::{Found, Scope};
use crate::dataset::{Variable, words};
use crate::rules::scope::meant;
use crate::rules::values::{Fold, Texts};
use crate::tables::Vocabulary;
use hyperslab_model::Elements;
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
    Some(Box::new(Words { variable, vocabulary, texts: Texts::of(variable), unknown: BTreeSet::new() }))
}

struct Words<'a> {
    variable: &'a Variable,
    vocabulary: &'static Vocabulary,
    texts: Option<Texts>,
    unknown: BTreeSet<String>,
}

/// Records a string that is not in a table.
fn look_up(vocabulary: &Vocabulary, text: &[u8], unknown: &mut BTreeSet<String>) {
    let text = String::from_utf8_lossy(text);
    let text = text.trim();
    if !text.is_empty() && !vocabulary.contains(text) && unknown.len() < MAX_WORDS {
        unknown.insert(text.chars().take(MAX_LETTERS).collect());
    }
}

impl Fold for Words<'_> {
    fn take(&mut self, values: Elements<'_>) {
        if let Some(texts) = &mut self.texts {
            texts.take(values, &mut |text| look_up(self.vocabulary, text, &mut self.unknown));
        }
    }

    fn is_done(&self) -> bool {
        self.texts.is_none() || self.unknown.len() >= MAX_WORDS
    }

    fn finish(mut self: Box<Self>, found: &mut Found) {
        let place = if self.texts.is_some() {
            self.variable.path.to_string()
        } else {
            // Numbers represent words through flags.
            let meanings = words(self.variable.text("flag_meanings").unwrap_or_default());
            for meaning in meanings {
                look_up(self.vocabulary, meaning.as_bytes(), &mut self.unknown);
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

/// The maximum number of unknown words of a variable that are reported.
const MAX_WORDS: usize = 20;

/// The maximum number of letters of a word that are shown.
const MAX_LETTERS: usize = 256;
