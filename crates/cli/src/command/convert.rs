//! `convert SOURCE TARGET`: the same content in another format or layout.

use crate::args::{Common, Convert, Writing};
use crate::exit::Exit;
use crate::output::{Messages, open, paints_stdout};
use crate::progress::Progress;
use crate::words;
use hyperslab::convert::{
    ConvertOptions, LossReport, Parts, Plan, Prepared as Planned, Summary, Verified, VerifySide, convert,
    verify,
};
use hyperslab::list::human_bytes;
use hyperslab::location::{Location, outermost};
use hyperslab::publish::{Fingerprint, PublishOptions};
use hyperslab::select::Narrowed;
use hyperslab::target::{Fate, Loss, TargetFormat};
use hyperslab::{Error, ErrorKind, NodePath, OpenOptions, Result, Source};
use hyperslab::{target_format, target_format_of};
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Instant;

pub(crate) fn run(args: &Convert, common: &Common, messages: &Messages, out: &mut dyn Write) -> Result<Exit> {
    let location = Location::parse(&args.source);
    // Before it is opened: what changes from now on is noticed.
    let made_from = made_from(&location.store, "", common)?;
    let source = open(&location, common, None, messages)?;
    let in_store = |e: Error| e.in_file(&location.store);
    let targets = location.targets(&*source).map_err(in_store)?;
    if let Some(name) = targets.iter().find_map(|target| target.attribute.as_deref()) {
        return Err(in_store(Error::invalid(format!(
            "@{name} is an attribute, which is no store of its own"
        ))));
    }
    let entries: Vec<_> = outermost(&targets).map(|target| target.entry.clone()).collect();
    let source = match args.select.is_empty() {
        true => source,
        false => {
            let selections = words::selections(&args.select).map_err(in_store)?;
            Arc::new(Narrowed::new(source, &selections, &entries).map_err(in_store)?)
        }
    };
    let source = &*source;
    let parts = match location.path.is_some() {
        true => Some(Parts::new(source, &entries).map_err(in_store)?),
        false => None,
    };
    let store = &location.store;
    let from = From { source, store, made_from, parts, wishes: args.select.join(" ") };
    write(&from, &args.target, (args.dry_run, args.json), &args.writing, common, messages, out)
}

/// What a store is written from.
pub(crate) struct From<'a> {
    pub(crate) source: &'a dyn Source,
    /// Its file, or `-`.
    pub(crate) store: &'a str,
    /// Its file as it was before it was opened, and how it is read.
    pub(crate) made_from: Fingerprint,
    /// What of it, if not all.
    pub(crate) parts: Option<Parts>,
    /// What was selected, in the words of the command line.
    pub(crate) wishes: String,
}

/// What a store is read from, and how. Standard input has no name under which it could change.
pub(crate) fn made_from(store: &str, how: &str, common: &Common) -> Result<Fingerprint> {
    let Common { raw, input_format, limit, allow_external, .. } = common;
    let mut words = vec![how.to_owned()];
    words.extend(raw.then(|| "--raw".to_owned()));
    words.extend(input_format.as_ref().map(|format| format!("--input-format {format}")));
    words.extend(limit.iter().map(|(name, most)| format!("--limit {name}={most}")));
    words.extend(allow_external.iter().map(|folder| format!("--allow-external {}", folder.display())));
    words.retain(|word| !word.is_empty());
    // A pattern stands for a set of files, which says itself that it is not there.
    let path = PathBuf::from(store);
    let files = if store != "-" && path.exists() { vec![path] } else { Vec::new() };
    Fingerprint::of_sources(&files, words.join(" "))
}

/// What is to be done, once nothing stands against it.
pub(crate) struct Prepared<'a> {
    options: ConvertOptions<'a>,
    pub(crate) plan: Plan,
    /// Why it is not done: losses that are not allowed.
    pub(crate) refused: Result<()>,
}

/// Plans writing a store to `target`, or to any that is of the format that is asked for.
pub(crate) fn prepare<'a>(
    from: &From<'_>,
    target: Option<&str>,
    writing: &Writing,
    common: &Common,
) -> Result<Prepared<'a>> {
    if target == Some("-") {
        return Err(Error::invalid(
            "a store is not written to standard output\nhelp: ./- is the file of that name",
        ));
    }
    let target = target.map(Path::new);
    let format: &dyn TargetFormat = match (&writing.format, target) {
        (Some(name), _) => target_format(name)?,
        (None, Some(target)) => target_format_of(target).map_err(|e| e.in_file(target.display()))?,
        (None, None) => return Err(Error::invalid("neither a target nor --format")),
    };
    let Writing { overwrite, resume, sync, .. } = *writing;
    let options = ConvertOptions {
        native: words::target_options(&writing.option)?,
        layout: writing.layout.layout()?.always_chunked(format.is_always_chunked()),
        parts: from.parts.clone(),
        wishes: from.wishes.clone(),
        allow: allowed(&writing.allow_loss)?,
        publish: PublishOptions { overwrite, resume, sync },
        pool: common.pool().clone(),
        ..ConvertOptions::new(format)
    };
    let prepared = hyperslab::convert::prepare(from.source, &from.made_from, target, &options);
    let Planned { plan, refused } = prepared.map_err(|e| e.in_file(from.store))?;
    Ok(Prepared { options, plan, refused })
}

/// Writes a store, or says what would become of everything.
pub(crate) fn write(
    from: &From<'_>,
    target: &str,
    (dry_run, json): (bool, bool),
    writing: &Writing,
    common: &Common,
    messages: &Messages,
    out: &mut dyn Write,
) -> Result<Exit> {
    let begun = Instant::now();
    let (source, shown) = (from.source, target);
    let progress = Mutex::new(Progress::new("convert", common));
    let tell = |path: &NodePath, bytes: u64| {
        // While one thread says it, the others go on.
        if let Ok(mut progress) = progress.try_lock() {
            progress.update(path.as_str(), bytes);
        }
    };
    let Prepared { mut options, plan: planned, refused } = prepare(from, Some(target), writing, common)?;
    options.progress = Some(&tell);
    let target = Path::new(target);
    let paint = paints_stdout(common, false);
    match json {
        true => writeln!(out, "{}", report_json(&planned, shown))?,
        false => write_report(&planned.report, paint, out)?,
    }
    out.flush()?;
    if dry_run {
        return Ok(if refused.is_ok() { Exit::Yes } else { Exit::No });
    }
    if let Err(error) = refused {
        messages.error(&error);
        return Ok(Exit::No);
    }
    if let Ok(mut progress) = progress.lock() {
        progress.of(planned.bytes);
    }
    let summary = match convert(source, &from.made_from, target, &planned, &options) {
        Ok(summary) => summary,
        // Something that is there and cannot be read is an answer, and so is what is refused.
        Err(error) if error.object().is_some() && error.kind() != ErrorKind::Io => {
            messages.error_in(&error, from.store);
            return Ok(Exit::No);
        }
        Err(error) => return Err(error),
    };
    if let Ok(mut progress) = progress.lock() {
        progress.end();
    }
    summary.notes.iter().for_each(|note| messages.note(note));
    for error in &summary.left_out {
        messages.warning(&format!("left out: {}", words::error(error)));
    }
    let verified = match writing.verify {
        true => Some(read_back(source, target, (&planned, &summary, &options), common)?),
        false => None,
    };
    said(&summary, source, target, verified.as_ref(), begun, common)?;
    let Some(Verified { different, unreadable, .. }) = verified else { return Ok(Exit::Yes) };
    for error in different.iter().chain(&unreadable) {
        messages.error_in(error, shown);
    }
    messages.finish();
    let is_allowed = unreadable.is_empty() || options.allow.contains(&Loss::Unreadable);
    Ok(if different.is_empty() && is_allowed { Exit::Yes } else { Exit::No })
}

/// What the run did, in one line.
fn said(
    summary: &Summary,
    source: &dyn Source,
    target: &Path,
    verified: Option<&Verified>,
    begun: Instant,
    common: &Common,
) -> Result<()> {
    if common.quiet {
        return Ok(());
    }
    let written = hyperslab::open(target, &OpenOptions::default())?.size()?;
    let arrays = if summary.arrays == 1 { "1 array".into() } else { format!("{} arrays", summary.arrays) };
    let seconds = begun.elapsed().as_secs_f64();
    let verified = verified.map(compared).unwrap_or_default();
    // There is nowhere left to say that standard error is closed.
    let _ = writeln!(
        std::io::stderr(),
        "wrote {}: {arrays}, {} from {} in {seconds:.2} s{verified}",
        target.display(),
        human_bytes(written),
        human_bytes(source.size()?)
    );
    Ok(())
}

/// What reading back has shown, behind the line of the run.
fn compared(verified: &Verified) -> String {
    let mut text = format!("; {} digests equal", verified.equal);
    if !verified.different.is_empty() {
        text.push_str(&format!(", {} not", verified.different.len()));
    }
    if !verified.unreadable.is_empty() {
        text.push_str(&format!(", {} could not be read", verified.unreadable.len()));
    }
    text
}

/// Reads back what was written.
fn read_back(
    source: &dyn Source,
    target: &Path,
    done: (&Plan, &Summary, &ConvertOptions<'_>),
    common: &Common,
) -> Result<Verified> {
    let written = hyperslab::open(target, &common.open_options())?;
    let mut progress: Option<(VerifySide, Progress)> = None;
    verify(source, &*written, done, &mut |side, path, bytes| {
        if progress.as_ref().is_none_or(|(of, _)| *of != side) {
            progress = Some((side, Progress::new("verify", common)));
        }
        if let Some((_, progress)) = &mut progress {
            progress.update(path.as_str(), bytes);
        }
    })
}

/// The kinds of losses that are named, separated by commas.
pub(crate) fn allowed(words: &[String]) -> Result<Vec<Loss>> {
    let mut allowed = Vec::new();
    for word in words.iter().map(|word| word.trim()) {
        match Loss::ALL.iter().find(|loss| loss.name() == word) {
            Some(loss) => allowed.push(*loss),
            None if word == "all" => allowed.extend(Loss::ALL),
            None => {
                let known = Loss::ALL.map(Loss::name).join(", ");
                return Err(Error::invalid(format!("no kind of loss {word:?}, there are {known} and all")));
            }
        }
    }
    Ok(allowed)
}

/// The report as a table.
pub(crate) fn write_report(report: &LossReport, paint: bool, out: &mut dyn Write) -> Result<()> {
    let (dim, red, reset) = if paint { ("\x1b[2m", "\x1b[31m", "\x1b[0m") } else { ("", "", "") };
    for (line, fate) in report.table() {
        let harmless = crate::output::without_controls(&line).unwrap_or(line);
        match fate {
            None => writeln!(out, "{dim}{harmless}{reset}")?,
            Some(Fate::Lost(_)) => writeln!(out, "{red}{harmless}{reset}")?,
            Some(_) => writeln!(out, "{harmless}")?,
        }
    }
    Ok(())
}

fn report_json(planned: &Plan, target: &str) -> serde_json::Value {
    json!({
        "target": target,
        "bytes": planned.bytes,
        "report": rows_json(planned),
    })
}

/// The rows of the report.
pub(crate) fn rows_json(planned: &Plan) -> serde_json::Value {
    let rows = planned.report.rows().map(|row| {
        let (fate, kind) = match row.fate {
            Fate::Restored => ("restored", None),
            Fate::Changed => ("changed", None),
            Fate::Lost(loss) => ("lost", Some(loss.name())),
        };
        json!({
            "places": row.places,
            "count": row.count,
            "what": row.what,
            "becomes": row.becomes,
            "fate": fate,
            "kind": kind,
        })
    });
    rows.collect()
}
