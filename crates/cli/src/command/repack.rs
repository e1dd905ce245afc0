//! `repack SOURCE TARGET`: the same store, written again in its own format.

use crate::args::{Common, Repack};
use crate::command::convert::{From, Goal, made_from, write};
use crate::exit::Exit;
use crate::output::{Messages, open};
use crate::terminal::Out;
use hyperslab::files::parts;
use hyperslab::location::Locator;
use hyperslab::{Error, Result, repack};
use std::path::Path;
use std::sync::Arc;

pub(crate) fn run(args: &Repack, common: &Common, messages: &Messages, out: &mut Out<'_>) -> Result<Exit> {
    let location = Locator::parse(&args.source);
    let store = location.store.as_str();
    let in_store = |e: Error| e.in_file(store);
    if let Some(path) = &location.path {
        let error = Error::invalid(format!("{path} is a part, expected a whole store"));
        return Err(in_store(error.with_hint("`convert` writes a part of a store")));
    }
    // Computed before the store is opened, so that later changes are noticed.
    let mut made_from = made_from(&[store], "repack", common)?;
    let shown = open(&location, common, None, messages)?;
    let opened = common.open_options();
    let others = parts(Path::new(store), Arc::clone(&shown), &opened)?;
    if !others.is_empty() {
        made_from = made_from.with_parts(&others)?;
    }
    let source = repack::open(Path::new(store), &opened)?;
    let options = repack::options(&*source).map_err(in_store)?;
    repack::check_target(&options, Path::new(&args.target))?;
    let options = repack::with_names_of(options, Arc::clone(&source), shown);
    let goal = Goal::Repacked(Box::new(options));
    let from = From {
        source: &*source,
        store,
        made_from,
        goal,
        parts: None,
        wishes: String::new(),
        is_one_of_many: false,
    };
    write(&from, &args.target, (args.dry_run, args.json), &args.writing, common, messages, out)
}
