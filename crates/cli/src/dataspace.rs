//! `convert --dataspace NAME`: a convention that the target must satisfy, if its format has dataspaces.

use crate::args::{Common, Convert, Verb};
use hyperslab::location::Locator;
use hyperslab::{DataspaceView, recognize, target_format, target_format_of};
use std::path::Path;

/// Turns the convention named by `--dataspace` into an option of the target, if the verb writes a format that has such
/// an option. The source is then shown as the kind of dataspace that it is.
pub(crate) fn settle(verb: &mut Verb, common: &mut Common) {
    let (Verb::Convert(args), Some(DataspaceView::Convention(_))) = (verb, common.dataspace) else { return };
    let Convert { sources, target, target_format: named, writing, .. } = args;
    // An invalid format name is reported where it is used.
    let found = match &named.format {
        Some(name) => target_format(name),
        None => target_format_of(Path::new(target.as_str())),
    };
    let Ok(format) = found else { return };
    if !format.options().iter().any(|option| option.key == OPTION) {
        return;
    }
    if let Some(view) = common.dataspace.take() {
        writing.option.push(format!("{}.{OPTION}={view}", format.family()));
    }
    let has_dataspaces = |source: &String| {
        let found = recognize(Path::new(&Locator::parse(source).store));
        found.is_ok_and(|format| format.is_some_and(|format| format.has_dataspaces()))
    };
    if sources.iter().all(has_dataspaces) {
        common.dataspace = Some(DataspaceView::Auto);
    }
}

/// The option of formats that have dataspaces.
const OPTION: &str = "dataspace";
