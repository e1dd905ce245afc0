//! `describe [LOCATION…]`: describes the contents as NDL or CDL.

use crate::args::{Common, Describe, Detail, Language};
use crate::exit::Exit;
use crate::output::{Messages, Painter, open_followed, paints_stdout, report_unfollowed};
use crate::progress::Progress;
use crate::terminal::Out;
use crate::words;
use hyperslab::cdl::cdl;
use hyperslab::describe::{DescribeOptions, Description, describe};
use hyperslab::location::{LocatedObject, Locator};
use hyperslab::ndl::StorageDetail;
use hyperslab::{Error, Result};
use std::io::Write;

pub(crate) fn run(args: &Describe, common: &Common, messages: &Messages, out: &mut Out<'_>) -> Result<Exit> {
    let language = if args.json { Language::Json } else { args.form };
    if language == Language::Cdl
        && let Some(option) = without_meaning(args)
    {
        messages.error(&Error::invalid(format!("{option} with --as cdl, which describes whole stores")));
        return Ok(Exit::Trouble);
    }
    let options = DescribeOptions {
        values: args.values,
        storage: match args.storage {
            Detail::Brief => StorageDetail::Brief,
            Detail::Full => StorageDetail::Full,
            Detail::None => StorageDetail::None,
        },
        depth: args.depth,
        pure: args.pure,
        json: language == Language::Json,
    };
    let mut worst = Exit::Yes;
    let mut documents = 0_u64;
    for text in &args.locations {
        let location = Locator::parse(text);
        match one(&location, &options, (language, documents > 0), args, common, messages, out) {
            Ok((done, followed)) => {
                documents += 1;
                worst = worst.max(report(&done, &location, messages)).max(followed);
            }
            Err(error) => {
                messages.error(&error.in_file(&location.store));
                worst = Exit::Trouble;
            }
        }
    }
    messages.finish();
    Ok(worst)
}

fn one(
    location: &Locator,
    options: &DescribeOptions,
    (language, further): (Language, bool),
    args: &Describe,
    common: &Common,
    messages: &Messages,
    out: &mut Out<'_>,
) -> Result<(Description, Exit)> {
    let watch = Progress::of_reading("describe", &location.store, args.to.file().is_none(), common);
    let source = open_followed(args.follow_links, location, common, watch, messages)?;
    let targets = location.targets(&*source)?;
    targets.iter().try_for_each(|target| target.check_attribute(&*source))?;
    if further && language == Language::Ndl {
        // Several locations make a YAML stream with one document each.
        writeln!(out, "---")?;
    }
    let name = if location.store == "-" { "standard input" } else { &location.store };
    let done = match language {
        Language::Cdl if targets.iter().any(|target| !is_whole(target)) => {
            let detail = "a part of a store, which --as cdl cannot describe";
            return Err(Error::invalid(detail).with_hint("give the name of the file alone"));
        }
        Language::Cdl => cdl(source.clone(), name, options.values, out),
        Language::Ndl if paints_stdout(common, args.to.file().is_some()) => {
            describe(&*source, name, &targets, options, &mut Painter::new(out))
        }
        Language::Ndl | Language::Json => describe(&*source, name, &targets, options, out),
    }?;
    Ok((done, report_unfollowed(&*source, &location.store, messages)))
}

/// An option that was given but has no meaning for CDL.
fn without_meaning(args: &Describe) -> Option<&'static str> {
    let given = [
        (args.pure, "--pure"),
        (args.depth.is_some(), "--depth"),
        (args.storage != Detail::Brief, "--storage"),
    ];
    given.into_iter().find(|(is_given, _)| *is_given).map(|(_, option)| option)
}

fn is_whole(target: &LocatedObject) -> bool {
    target.attribute.is_none() && target.entry.handle.path.is_root()
}

fn report(done: &Description, location: &Locator, messages: &Messages) -> Exit {
    for note in &done.notes {
        messages.note(note);
    }
    for (path, missing) in &done.missing {
        messages.warning(&words::missing(&location.store, path.as_str(), missing));
    }
    let errors = done.errors.iter();
    errors.for_each(|error| messages.error_in(error, &location.store));
    if done.errors.is_empty() {
        return Exit::Yes;
    }
    let whole = done.objects.saturating_sub(done.errors.len() as u64);
    messages.note(&format!("{whole} of {} objects described", done.objects));
    Exit::No
}
