//! Strings that other programs do not show as they are stored.

use super::LossReport;
use crate::source::Source;
use crate::target::{Facts, Fate, Needs, TargetFormat};
use hyperslab_model::{Attribute, Datatype, Element, Elements, Node, NodePath, Text};

/// How readers of a target treat strings differently from readers of the source.
#[derive(Clone, Copy)]
pub(super) struct Readers {
    /// They end variable-length strings at a NUL.
    end: bool,
    /// They cannot read strings that are not UTF-8.
    decode: bool,
}

impl Readers {
    pub(super) fn of(source: &dyn Source, format: &dyn TargetFormat) -> Readers {
        let is_same = format.dialects().contains(&source.format());
        Readers {
            // For readers of such a source, strings already end there.
            end: format.ends_texts() && !source.dialect().ends_texts,
            decode: format.decodes_texts() && !is_same,
        }
    }

    /// The given needs, with the facts about elements that these readers require.
    pub(super) fn needs(self, needs: Needs) -> Needs {
        Needs { nul: needs.nul || self.end, unicode: needs.unicode || self.decode, ..needs }
    }

    /// Reports the affected strings of an object.
    pub(super) fn note(self, path: &NodePath, node: &Node, facts: Facts, report: &mut LossReport) {
        let mut add = |place: String, what: &str, becomes: &str| {
            report.add(place, what.to_owned(), becomes.to_owned(), Fate::Changed);
        };
        if self.decode && !facts.is_unicode {
            let becomes = "the same bytes, which readers of the format cannot decode";
            add(path.to_string(), "strings that are not UTF-8", becomes);
        }
        if !self.end {
            return;
        }
        let attributes = node.attributes().into_iter().flatten();
        let ended = attributes.filter(|(_, attribute)| attribute.as_ref().is_ok_and(has_nul));
        let places = ended.map(|(name, _)| format!("{path}@{name}"));
        for place in facts.has_nul.then(|| path.to_string()).into_iter().chain(places) {
            add(place, "strings with NUL", "the same strings, which other programs cut off there");
        }
    }
}

/// Whether a variable-length string contains a NUL.
fn has_nul(attribute: &Attribute) -> bool {
    matches!(attribute.datatype.resolved(), Datatype::String(Text::Variable))
        && Elements::new(&attribute.datatype, &attribute.value)
            .any(|element| matches!(element.get(), Element::Text(text) if text.contains(&0)))
}
