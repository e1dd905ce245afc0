//! `convert SOURCE TARGET`: the same content in another format or layout.

use crate::args::{Common, Convert, Writing};
use crate::exit::Exit;
use crate::output::{Messages, open, paints_stdout};
use crate::progress::Progress;
use hyperslab::convert::{ConvertOptions, LossReport, Parts, Plan, Summary, convert, plan};
use hyperslab::digest::{LineContent, lines_with};
use hyperslab::list::human_bytes;
use hyperslab::location::{Location, outermost};
use hyperslab::publish::{Fingerprint, PublishOptions, check};
use hyperslab::select::Narrowed;
use hyperslab::target::{Fate, Loss, TargetFormat, TargetOptions, target_format, target_format_of};
use hyperslab::{Error, ErrorKind, NodePath, OpenOptions, Result, Source};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
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
    let narrowed = match args.select.is_empty() {
        true => None,
        false => Some(Narrowed::new(&*source, &args.select, &entries).map_err(in_store)?),
    };
    let source: &dyn Source = narrowed.as_ref().map_or(&*source, |narrowed| narrowed);
    let parts = match location.path.is_some() {
        true => Some(Parts::new(source, &entries).map_err(in_store)?),
        false => None,
    };
    let store = &location.store;
    let from = From { source, store, made_from, parts, wishes: args.select.join(" ") };
    write(from, &args.target, (args.dry_run, args.json), &args.writing, common, messages, out)
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

/// Writes a store, or says what would become of everything.
pub(crate) fn write(
    from: From<'_>,
    target: &str,
    (dry_run, json): (bool, bool),
    writing: &Writing,
    common: &Common,
    messages: &Messages,
    out: &mut dyn Write,
) -> Result<Exit> {
    let begun = Instant::now();
    let (source, shown) = (from.source, target);
    let target = Path::new(target);
    let format: &dyn TargetFormat = match &writing.format {
        Some(name) => target_format(name)?,
        None => target_format_of(target).map_err(|e| e.in_file(target.display()))?,
    };
    let mut native = TargetOptions::default();
    writing.option.iter().try_for_each(|option| native.add(option))?;
    let progress = Mutex::new(Progress::new("convert", common));
    let tell = |path: &NodePath, bytes: u64| {
        // While one thread says it, the others go on.
        if let Ok(mut progress) = progress.try_lock() {
            progress.update(path.as_str(), bytes);
        }
    };
    let Writing { overwrite, resume, sync, .. } = *writing;
    let options = ConvertOptions {
        native,
        layout: writing.layout.layout()?.always_chunked(true),
        parts: from.parts,
        wishes: from.wishes,
        allow: allowed(&writing.allow_loss)?,
        publish: PublishOptions { overwrite, resume, sync },
        progress: Some(&tell),
        ..ConvertOptions::new(format)
    };
    check(target, &from.made_from, &options.publish)?;
    let planned = plan(source, &options).map_err(|e| e.in_file(from.store))?;
    let paint = paints_stdout(common, false);
    match json {
        true => writeln!(out, "{}", report_json(&planned, shown))?,
        false => write_report(&planned.report, paint, out)?,
    }
    out.flush()?;
    let refused = hyperslab::convert::check_losses(&planned, &options);
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
        messages.warning(&format!("left out: {error}"));
    }
    let verified = match writing.verify {
        true => Some(verify(source, target, (&planned, &summary, &options), common)?),
        false => None,
    };
    said(&summary, source, target, verified, begun, common)?;
    Ok(Exit::Yes)
}

/// What the run did, in one line.
fn said(
    summary: &Summary,
    source: &dyn Source,
    target: &Path,
    verified: Option<u64>,
    begun: Instant,
    common: &Common,
) -> Result<()> {
    if common.quiet {
        return Ok(());
    }
    let written = hyperslab::open(target, &OpenOptions::default())?.size()?;
    let arrays = if summary.arrays == 1 { "1 array".into() } else { format!("{} arrays", summary.arrays) };
    let seconds = begun.elapsed().as_secs_f64();
    let verified = verified.map(|count| format!("; {count} digests equal")).unwrap_or_default();
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

/// Compares the digests of what was read and what was written; what was lost knowingly has none.
fn verify(
    source: &dyn Source,
    target: &Path,
    (planned, summary, options): (&Plan, &Summary, &ConvertOptions<'_>),
    common: &Common,
) -> Result<u64> {
    let written = hyperslab::open(target, &common.open_options())?;
    let lines = |of: &dyn Source| -> Result<BTreeMap<String, String>> {
        let mut progress = Progress::new("verify", common);
        let lines =
            lines_with(of, &NodePath::root(), &mut |path, bytes| progress.update(path.as_str(), bytes))?;
        Ok(lines
            .into_iter()
            .filter(|line| !matches!(line.content, LineContent::Error { .. }))
            .map(|line| (line.path.clone(), line.to_json()))
            .collect())
    };
    let (one, other) = (lines(source)?, lines(&*written)?);
    let lost: Vec<&str> = planned
        .report
        .rows()
        .filter(|row| matches!(row.fate, Fate::Lost(_)))
        .flat_map(|row| row.places.iter().map(String::as_str))
        .chain(summary.left_out.iter().filter_map(Error::object))
        .collect();
    let mut equal = 0;
    let is_meant = |path: &str| options.parts.as_ref().is_none_or(|parts| parts.has_line(path));
    for (path, line) in one.iter().filter(|(path, _)| is_meant(path)) {
        match other.get(path) {
            Some(found) if found == line => equal += 1,
            _ if lost.iter().any(|lost| is_within(path, lost)) => {}
            found => {
                let found = found.map_or("nothing", String::as_str);
                return Err(Error::malformed(format!("{path} is not what was read: {line} became {found}"))
                    .in_file(target.display()));
            }
        }
    }
    if let Some(path) = other.keys().find(|path| !one.contains_key(*path)) {
        return Err(Error::malformed(format!("{path} is not in the source")).in_file(target.display()));
    }
    Ok(equal)
}

/// Whether `path` is `place`, an attribute of it or below it.
fn is_within(path: &str, place: &str) -> bool {
    path.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '@']))
}

/// The kinds of losses that are named, separated by commas.
pub(crate) fn allowed(words: &[String]) -> Result<Vec<Loss>> {
    let mut allowed = Vec::new();
    for word in words {
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
    if report.is_empty() {
        return Ok(());
    }
    let rows: Vec<_> = report
        .rows()
        .map(|row| {
            let place = match (row.places.as_slice(), row.count) {
                ([one], 1) => one.clone(),
                ([one, other, ..], 2) => format!("{one}, {other}"),
                ([first, ..], count) => format!("{first} and {} more", count - 1),
                ([], _) => String::new(),
            };
            ([place, row.what.clone(), row.becomes.clone(), row.fate.to_string()], row.fate)
        })
        .collect();
    let head = ["WHERE", "WHAT", "BECOMES", "FATE"];
    let mut widths = head.map(str::len);
    for (cells, _) in &rows {
        for (width, cell) in widths.iter_mut().zip(cells) {
            *width = (*width).max(cell.chars().count().min(WIDEST));
        }
    }
    let line = |cells: &[String; 4]| {
        let padded = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let (dim, red, reset) = if paint { ("\x1b[2m", "\x1b[31m", "\x1b[0m") } else { ("", "", "") };
    writeln!(out, "{dim}{}{reset}", line(&head.map(str::to_owned)))?;
    for (cells, fate) in &rows {
        let harmless = crate::output::without_controls(&line(cells)).unwrap_or_else(|| line(cells));
        match fate {
            Fate::Lost(_) => writeln!(out, "{red}{harmless}{reset}")?,
            _ => writeln!(out, "{harmless}")?,
        }
    }
    Ok(())
}

fn report_json(planned: &Plan, target: &str) -> serde_json::Value {
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
    json!({
        "target": target,
        "bytes": planned.bytes,
        "report": rows.collect::<Vec<_>>(),
    })
}

/// Cells that are wider are not aligned to.
const WIDEST: usize = 48;
