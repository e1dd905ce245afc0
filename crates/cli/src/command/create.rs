//! `create DOCUMENT TARGET`: creates a store from an NDL document. With `-n`, reports what would be created.

use super::check::write_findings;
use super::convert::{self, From, Goal, Prepared, made_from};
use super::ls;
use crate::args::{Common, Create};
use crate::exit::Exit;
use crate::output::{Messages, paints_stdout, standard_input, stderr};
use crate::terminal::{Out, harmless};
use crate::words;
use hyperslab::check::{CheckOptions, Finding};
use hyperslab::convert::layout::Layout;
use hyperslab::create::{Document, LaidOut, Preview, document, preview};
use hyperslab::list::human_bytes;
use hyperslab::target::TargetOptions;
use hyperslab::{Error, FileStorage, Noting, ReadAt, Result, Severity, Source};
use serde_json::json;
use std::io::Write;
use std::sync::Arc;

pub(crate) fn run(args: &Create, common: &Common, messages: &Messages, out: &mut Out<'_>) -> Result<Exit> {
    let layout = args.writing.layout.add_to(Layout::default())?;
    let file = args.document.as_str();
    let how = [(args.strict, "--strict"), (args.lenient, "--lenient"), (args.pure, "--pure")];
    let how: Vec<_> = how.into_iter().filter_map(|(given, word)| given.then_some(word)).collect();
    let made_from = made_from(&[file], &how.join(" "), common)?;
    let open = common.open_options();
    let options = CheckOptions { strict: args.strict, lenient: args.lenient, pure: args.pure, quick: false };
    let read = || {
        let text: Box<dyn ReadAt> = match file {
            "-" => standard_input(&open.limits)?,
            file => Box::new(Noting::new(FileStorage::open(file)?, common.failures().clone())),
        };
        document(&*text, &open, &options)
    };
    let Document { mut report, refusals, source } = read().map_err(|error| error.in_file(file))?;
    // The output is what would be created; findings in the document are messages.
    let sound = report.count(Severity::Error) == 0 && refusals.is_empty();
    report.findings.extend(refusals.iter().cloned());
    write_findings(file, &report, messages.color(), common.quiet, &mut stderr())?;
    if !sound {
        let errors = report.count(Severity::Error);
        let errors = if errors == 1 { "1 error".to_owned() } else { format!("{errors} errors") };
        let nothing = if args.dry_run { "nothing would be created" } else { "nothing was created" };
        messages.error(&Error::invalid(format!("{errors}; {nothing}")).in_file(file));
    }
    let Some(source) = source else { return Ok(Exit::No) };
    let source =
        convert::in_group(source, file, args.target.as_deref(), args.target_format.format.as_deref())?;
    let from = From {
        source: &*source,
        store: file,
        made_from,
        goal: Goal::Format(args.target_format.format.as_deref()),
        parts: None,
        wishes: String::new(),
        is_one_of_many: false,
    };
    if let (false, Some(target)) = (args.dry_run, &args.target) {
        if !sound {
            return Ok(Exit::No);
        }
        return convert::write(&from, target, (false, args.json), &args.writing, common, messages, out);
    }
    convert::allowed(&args.writing.allow_loss)?;
    words::target_options(TargetOptions::default(), &args.writing.option)?;
    let prepared = match &args.target {
        Some(target) => Some(convert::prepare(&from, Some(target), &args.writing, common)?),
        // Without a target and a format, it is not known yet what would be lost.
        None if args.target_format.format.is_none() => None,
        None => Some(convert::prepare(&from, None, &args.writing, common)?),
    };
    let preview = preview(&*source, &layout).map_err(|e| e.in_file(file))?;
    for error in &preview.errors {
        messages.error_in(error, file);
    }
    messages.finish();
    let sound = sound && preview.errors.is_empty();
    let target = args.target.as_deref();
    let paint = paints_stdout(common, args.file().is_some());
    match args.json {
        true => out.json_line(summary(&preview, &refusals, target, prepared.as_ref()))?,
        false if !sound => {}
        false => {
            write(&preview, &LaidOut::new(Arc::clone(&source), layout), target, paint, out)?;
            if let Some(prepared) = prepared.as_ref().filter(|prepared| !prepared.plan.report.is_empty()) {
                writeln!(out)?;
                convert::write_report(&prepared.plan.report, paint, out)?;
            }
        }
    }
    let is_refused = prepared.is_some_and(|prepared| prepared.refused.is_err());
    Ok(if sound && !is_refused { Exit::Yes } else { Exit::No })
}

fn write(
    preview: &Preview,
    source: &dyn Source,
    target: Option<&str>,
    paint: bool,
    out: &mut Out<'_>,
) -> Result<()> {
    let Preview { counts, attributes, bytes, written, .. } = preview;
    let target = target.map(|target| format!(" {}", harmless(target))).unwrap_or_default();
    let attributes = if *attributes == 1 { "1 attribute".into() } else { format!("{attributes} attributes") };
    writeln!(
        out,
        "would create{target}: {}, {attributes}; {} of elements, {} of them from the document",
        counts.label(),
        human_bytes(*bytes),
        human_bytes(*written)
    )?;
    ls::tree(source, paint, out)
}

fn summary(
    preview: &Preview,
    refusals: &[Finding],
    target: Option<&str>,
    prepared: Option<&Prepared<'_>>,
) -> serde_json::Value {
    let Preview { counts, attributes, bytes, written, errors } = preview;
    let refused = refusals.iter().map(|refusal| refusal.message.clone());
    let unreadable = errors.iter().map(words::error);
    let refusals: Vec<_> = refused.chain(unreadable).collect();
    json!({
        "target": target,
        "groups": counts.groups,
        "arrays": counts.arrays,
        "dimensions": counts.dimensions,
        "datatypes": counts.datatypes,
        "links": counts.links,
        "attributes": attributes,
        "bytes": bytes,
        "written": written,
        "refusals": refusals,
        "report": prepared.map(|prepared| convert::rows_json(&prepared.plan)),
    })
}
