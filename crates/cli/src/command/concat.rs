//! `concat SOURCE… TARGET`: joins stores along one dimension.

use crate::args::{Common, Concat};
use crate::command::convert::{From, Goal, made_from, write};
use crate::command::joined;
use crate::exit::Exit;
use crate::output::Messages;
use crate::terminal::Out;
use crate::words;
use hyperslab::convert::Parts;
use hyperslab::location::{Locator, outermost};
use hyperslab::select::Narrowed;
use hyperslab::{Error, Result, Source};
use std::sync::Arc;

pub(crate) fn run(args: &Concat, common: &Common, messages: &Messages, out: &mut Out<'_>) -> Result<Exit> {
    let (stores, path) = joined::stores(&args.sources)?;
    let name = joined::name(&stores);
    let how = args.joining.words();
    // Computed before the stores are opened, so that later changes are noticed.
    let names: Vec<&str> = stores.iter().map(String::as_str).collect();
    let mut made_from = made_from(&names, &how, common)?;
    let options = args.joining.options(path.clone(), common.open_options());
    let mut joined = joined::open(&stores, &options, messages)?;
    if !joined.parts().is_empty() {
        made_from = made_from.with_parts(joined.parts())?;
        // Data already read from these files may be older than their fingerprint.
        joined = joined::open(&stores, &options, &Messages::default().silent())?;
    }
    let source = joined.shared();
    let in_all = |error: Error| match error.file() {
        Some(_) => error,
        None => error.in_file(&name),
    };
    let location = Locator { store: name.clone(), path: path.clone() };
    let targets = location.targets(&*source).map_err(in_all)?;
    let entries: Vec<_> = outermost(&targets).map(|target| target.entry.clone()).collect();
    let source: Arc<dyn Source> = match args.select.is_empty() {
        true => source,
        false => {
            let selections = words::selections_of(&*source, &args.select).map_err(in_all)?;
            words::doubts(&*source, &selections, messages).map_err(in_all)?;
            Arc::new(Narrowed::new(source, &selections, &entries).map_err(in_all)?)
        }
    };
    let parts = match path.is_some() {
        true => Some(Parts::new(&*source, &entries).map_err(in_all)?),
        false => None,
    };
    let from = From {
        source: &*source,
        store: &name,
        made_from,
        goal: Goal::Format(args.target_format.format.as_deref()),
        parts,
        wishes: args.select.join(" "),
        is_one_of_many: false,
    };
    write(&from, &args.target, (args.dry_run, args.json), &args.writing, common, messages, out)
}
