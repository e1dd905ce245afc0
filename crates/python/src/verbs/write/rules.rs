//! Options of verbs that write, which come as texts.

use hyperslab::convert::layout::{Layout, Rule};
use hyperslab::location::nearest;
use hyperslab::target::{Loss, OptionType, OptionValue, TargetOptions};
use hyperslab::{Error, Remedy, Result, TARGETS, size};
use pyo3::prelude::*;

/// Rules of the layout of arrays, in the words of the command line.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Layouting {
    chunk: Vec<String>,
    shard: Vec<String>,
    filters: Vec<String>,
    endian: Vec<String>,
    fill: Vec<String>,
}

impl Layouting {
    /// A layout with these rules after its own.
    pub(super) fn add_to(&self, mut layout: Layout) -> Result<Layout> {
        let mut add = |key: &str, texts: &[String], read: &dyn Fn(&str) -> Result<Rule>| {
            for text in texts {
                let label = format!("{key}={text}");
                let rule = Rule::parse(text, read);
                let rule = rule.map_err(|e| e.map_detail(|detail| format!("{label}: {detail}")))?;
                layout = std::mem::take(&mut layout).with(rule.labelled(label));
            }
            Ok::<(), Error>(())
        };
        add("chunk", &self.chunk, &|text| text.parse().map(Rule::chunk))?;
        add("shard", &self.shard, &|text| text.parse().map(Rule::shard))?;
        add("filters", &self.filters, &|text| text.parse().map(Rule::filter))?;
        add("endian", &self.endian, &|text| Rule::parse_byte_order(text))?;
        add("fill", &self.fill, &|text| match text.trim() {
            "keep" => Ok(Rule::fill(None)),
            text => Ok(Rule::fill(Some(text.to_owned()))),
        })?;
        Ok(layout)
    }
}

/// The kinds of losses that are allowed.
pub(super) fn allowed(words: &[String]) -> Result<Vec<Loss>> {
    let mut allowed = Vec::new();
    for word in words {
        match Loss::ALL.iter().find(|loss| loss.name() == word) {
            Some(loss) => allowed.push(*loss),
            None if word == "all" => allowed.extend(Loss::ALL),
            None => {
                let near = nearest(word, Loss::ALL.map(Loss::name));
                let near = near.map(|near| Remedy::Hint(format!("did you mean {near}?")));
                let known = Loss::ALL.map(Loss::name).join(", ");
                let detail = format!("unknown kind of loss {word}, expected one of {known} or all");
                return Err(Error::invalid(detail).with_remedies(near));
            }
        }
    }
    Ok(allowed)
}

/// Options of formats, such as `hdf5.userblock`, after those of a verb.
pub(super) fn target_options(
    base: TargetOptions,
    given: &[(String, Option<String>)],
) -> Result<TargetOptions> {
    given.iter().try_fold(base, |options, (name, value)| {
        let known = TARGETS.iter().flat_map(|format| {
            let name = move |key: &str| format!("{}.{key}", format.family());
            format.options().iter().map(move |option| (name(option.key), *format, option))
        });
        let Some((_, format, option)) = known.clone().find(|(known, ..)| known == name) else {
            let mut known: Vec<_> = known.map(|(known, ..)| known).collect();
            known.sort();
            known.dedup();
            let near = nearest(name, known.iter().map(String::as_str));
            let near = near.map(|near| Remedy::Hint(format!("did you mean {near}?")));
            let detail = format!("unknown option {name}, expected one of {}", known.join(", "));
            return Err(Error::invalid(detail).with_remedies(near));
        };
        let read = match (option.takes, value.as_deref()) {
            (OptionType::Flag, None | Some("true")) => Some(OptionValue::Flag(true)),
            (OptionType::Flag, Some("false")) => Some(OptionValue::Flag(false)),
            (OptionType::Word(_), Some(word)) => Some(OptionValue::Word(word.to_owned())),
            (OptionType::Text(_), Some(text)) => Some(OptionValue::Text(text.to_owned())),
            (OptionType::Size { .. }, Some(size)) => size::parse(size).map(OptionValue::Size),
            (OptionType::Size { usual, .. }, None) => usual.map(OptionValue::Size),
            (OptionType::Number { .. }, Some(number)) => number.parse().ok().map(OptionValue::Number),
            _ => None,
        };
        match read.filter(|value| option.takes.takes(value)) {
            Some(value) => options.with(format, option.key, value),
            None => Err(Error::invalid(format!("the option {name} takes {}", option.takes))),
        }
    })
}
