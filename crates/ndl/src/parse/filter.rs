//! Filters, by the names of the [vocabulary](hyperslab_core::filter) or in the form of one file format.

use super::context::{Context, suggest};
use super::events::{Node, View, shown};
use super::storage::FORMATS;
use hyperslab_core::filter::{FILTERS, find};
use hyperslab_model::{EXTRA, Filter};

impl<'t> Context<'t, '_> {
    pub(super) fn filters(&mut self, node: Node<'t>) -> Vec<Filter> {
        let View::Sequence(items) = node.view() else {
            let message = format!("{} for filters, expected a list", node.describe());
            let finding = self.findings.error("ndl/filter", node.span(), message);
            finding.hint("filter: [shuffle, {deflate: 4}]");
            return Vec::new();
        };
        items.iter().filter_map(|item| self.filter(item)).collect()
    }

    fn filter(&mut self, node: Node<'t>) -> Option<Filter> {
        let (name, parameters, span) = match node.view() {
            View::Scalar(scalar) if !scalar.is_null() => (scalar.text, None, node.span()),
            View::Mapping(mapping) if mapping.len() == 1 => {
                let (key, value) = mapping.iter().next()?;
                (key.name, Some(value), key.span)
            }
            _ => {
                let message = format!(
                    "{} for a filter, expected a name or a map with one key, its name",
                    node.describe()
                );
                self.findings
                    .error("ndl/filter", node.span(), message)
                    .hint("filter: [shuffle, {deflate: 4}]");
                return None;
            }
        };
        if FORMATS.contains(&name) {
            self.extension(span, "a filter of one format");
            let Some(mapping) = parameters.and_then(Node::mapping) else {
                self.findings.error("ndl/filter", span, format!("{name} without parameters, expected a map"));
                return None;
            };
            return Some(Filter { name: name.into(), parameters: self.directives(mapping), main: false });
        }
        let Some(known) = find(name) else {
            let names: Vec<_> = FILTERS.iter().map(|filter| filter.name).collect();
            self.findings.error("ndl/filter", span, format!("unknown filter {}", shown(name))).hint(
                match ELSEWHERE.iter().find(|(other, _)| name.eq_ignore_ascii_case(other)) {
                    Some((_, known)) => format!("did you mean {known}?"),
                    None => suggest(name, &names),
                },
            );
            return None;
        };
        let parameters = match parameters.map(|node| (node, node.view())) {
            None => Vec::new(),
            Some((_, View::Mapping(mapping))) => {
                let names: Vec<_> = known.parameters.iter().map(|parameter| parameter.name).collect();
                for (key, _) in mapping.iter().filter(|(key, _)| !known.takes(key.name)) {
                    if key.name.starts_with(EXTRA) {
                        continue;
                    }
                    self.unknown_key(key, name, &names);
                }
                let mut parameters = self.directives(mapping);
                // The main parameter comes first.
                parameters.sort_by_key(|(name, _)| known.main.first() != Some(&name.as_str()));
                parameters
            }
            Some((node, _)) => match known.main.first() {
                Some(main) => vec![((*main).to_owned(), self.directive(node)?)],
                None => {
                    let message = format!("{name} with a single parameter, but it has no main parameter");
                    let finding = self.findings.error("ndl/filter", node.span(), message);
                    let names: Vec<_> = known.parameters.iter().map(|parameter| parameter.name).collect();
                    finding.hint(match names.as_slice() {
                        [] => format!("write {name} without a parameter"),
                        names => format!("write {{{name}: {{{}: …}}}}", names.join(": …, ")),
                    });
                    return None;
                }
            },
        };
        let main = parameters.first().is_some_and(|(name, _)| known.main.contains(&name.as_str()));
        Some(Filter { name: known.name.into(), parameters, main })
    }
}

/// Names of filters in other programs that are too different from ours to be taken for misspellings.
const ELSEWHERE: &[(&str, &str)] = &[
    ("zip", "deflate"),
    ("zlib", "deflate"),
    ("zstandard", "zstd"),
    ("bz2", "bzip2"),
    ("fixed_scale_offset", "fixedscaleoffset"),
];
