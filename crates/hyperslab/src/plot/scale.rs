//! Scales: how the numbers along an axis or of a colour bar are labelled.

use super::dates;
use super::numbers::whole;
use super::ticks::{Tick, Ticks, number_ticks, short};
use hyperslab_cf::meaning::Flags;
use hyperslab_cf::time::{Counting, SECOND};
use std::collections::BTreeSet;

/// The meaning of drawn numbers.
#[derive(Clone, Debug)]
pub struct Scale {
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Numbers,
    /// Integers.
    Positions,
    /// Seconds in a calendar.
    Times(Counting),
    /// The numbers of these words; `codes` are the integers that stand for them in the file.
    Words {
        words: Vec<String>,
        codes: Vec<i128>,
    },
}

/// Words that integers stand for.
#[derive(Clone, Debug)]
pub(super) enum Words {
    Flags(Flags),
    /// The members of an enumeration.
    Members(Vec<(String, i128)>),
    Booleans,
}

impl Words {
    fn of(&self, code: i128) -> String {
        match self {
            Words::Flags(flags) => flags.words(code),
            Words::Members(members) => {
                let member = members.iter().find(|(_, value)| *value == code);
                member.map_or_else(|| code.to_string(), |(name, _)| name.clone())
            }
            Words::Booleans => (code != 0).to_string(),
        }
    }
}

impl Scale {
    pub(super) fn numbers() -> Scale {
        Scale { kind: Kind::Numbers }
    }

    pub(super) fn positions() -> Scale {
        Scale { kind: Kind::Positions }
    }

    pub(super) fn times(counting: Counting) -> Scale {
        Scale { kind: Kind::Times(counting) }
    }

    pub(super) fn words(words: Vec<String>) -> Scale {
        Scale { kind: Kind::Words { words, codes: Vec::new() } }
    }

    /// The scale of integers that stand for words. `present` are those that occur.
    pub(super) fn coded(words: &Words, present: BTreeSet<i128>) -> Scale {
        let names = present.iter().map(|code| words.of(*code)).collect();
        Scale { kind: Kind::Words { words: names, codes: present.into_iter().collect() } }
    }

    /// The words of a scale of words, whose numbers count from 0.
    pub fn as_words(&self) -> Option<&[String]> {
        match &self.kind {
            Kind::Words { words, .. } => Some(words),
            _ => None,
        }
    }

    pub(super) fn is_words(&self) -> bool {
        self.as_words().is_some()
    }

    /// The number on this scale of a number in the file. Words are equally spaced.
    pub(super) fn place(&self, number: f64) -> f64 {
        match &self.kind {
            Kind::Words { codes, .. } if !number.is_nan() => {
                codes.binary_search(&whole(number)).map_or(f64::NAN, |at| at as f64)
            }
            _ => number,
        }
    }

    /// A number of this scale as text: with six digits, as a date, or as a word.
    pub fn label(&self, number: f64) -> String {
        match &self.kind {
            _ if number.is_nan() => "missing".to_owned(),
            Kind::Numbers => short(number),
            Kind::Positions => whole(number).to_string(),
            Kind::Times(counting) => {
                let text = counting.text(whole(number.round()).saturating_mul(SECOND));
                text.strip_suffix("T00:00:00").map(str::to_owned).unwrap_or(text)
            }
            Kind::Words { words, .. } => {
                let at = usize::try_from(whole(number.round())).ok();
                at.and_then(|at| words.get(at)).cloned().unwrap_or_default()
            }
        }
    }

    /// At most about `most` ticks at round numbers from `low` to `high`.
    pub fn ticks(&self, low: f64, high: f64, most: usize) -> Ticks {
        match &self.kind {
            Kind::Numbers => number_ticks(low, high, most, false),
            Kind::Positions => number_ticks(low, high, most, true),
            Kind::Times(counting) => dates::ticks(counting, low, high, most),
            Kind::Words { words, .. } => {
                let inside = |at: &usize| (low..=high).contains(&(*at as f64));
                let shown: Vec<usize> = (0..words.len()).filter(inside).collect();
                let step = shown.len().div_ceil(most.max(1)).max(1);
                let tick = |at: usize| Tick { at: at as f64, label: self.label(at as f64) };
                Ticks { ticks: shown.into_iter().step_by(step).map(tick).collect(), note: None }
            }
        }
    }
}
