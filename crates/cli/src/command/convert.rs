//! `convert SOURCE TARGET`: the same content in another format or layout.

use crate::args::{Common, Convert, Writing};
use crate::exit::Exit;
use crate::output::{Column, Messages, Table, open, paints_stdout, to_stderr};
use crate::progress::Progress;
use crate::terminal::{Out, harmless};
use crate::words;
use hyperslab::convert::{
    Chunking, ConvertOptions, LossReport, Parts, Plan, Prepared as Planned, Summary, Verified, VerifySide,
    convert, verify,
};
use hyperslab::files::{parts, parts_and_links};
use hyperslab::list::human_bytes;
use hyperslab::location::{Locator, outermost};
use hyperslab::publish::{self, Fingerprint, PublishOptions};
use hyperslab::select::Narrowed;
use hyperslab::target::{Fate, Loss};
use hyperslab::{Error, ErrorKind, Followed, NodePath, OpenOptions, Remedy, Result, Source};
use hyperslab::{TARGETS, repack, stem, target_format, target_format_of};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Instant;

pub(crate) fn run(args: &Convert, common: &Common, messages: &Messages, out: &mut Out<'_>) -> Result<Exit> {
    let [source] = args.sources.as_slice() else { return many(args, common, messages, out) };
    match args.target.ends_with(std::path::is_separator) && !is_store_name(&args.target) {
        true => many(args, common, messages, out),
        false => one(source, &args.target, args, common, messages, out),
    }
}

/// Whether a folder has the name of a store, as when shells complete `x.zarr/`.
fn is_store_name(target: &str) -> bool {
    target_format_of(Path::new(target.trim_end_matches(std::path::is_separator))).is_ok()
}

/// Converts each source to a store in the folder of the target.
fn many(args: &Convert, common: &Common, messages: &Messages, out: &mut Out<'_>) -> Result<Exit> {
    let targets = targets_in(Path::new(&args.target), &args.sources, args.target_format.format.as_deref())?;
    let mut worst = Exit::Yes;
    for (source, target) in args.sources.iter().zip(targets) {
        if !args.json && (!common.quiet || args.dry_run) {
            writeln!(out, "{} → {}", harmless(source), harmless(&target))?;
        }
        match one(source, &target, args, common, messages, out) {
            Ok(exit) => worst = worst.max(exit),
            // Ctrl-C ends all conversions.
            Err(error) if error.kind() == ErrorKind::Cancelled => return Err(error),
            Err(error) => {
                out.flush()?;
                messages.error(&error);
                worst = Exit::Trouble;
            }
        }
    }
    messages.finish();
    Ok(worst)
}

/// The target of each source: its name with the suffix of the format.
fn targets_in(folder: &Path, sources: &[String], format: Option<&str>) -> Result<Vec<String>> {
    let in_folder = |e: Error| e.in_file(folder.display());
    if !folder.is_dir() {
        let what = if folder.exists() { "is not a folder" } else { "does not exist" };
        return Err(in_folder(Error::invalid(format!("{what}, expected a folder for several stores"))));
    }
    let Some(format) = format else {
        let formats = TARGETS.iter().map(|format| format.name()).collect();
        let error = Error::invalid("a folder name does not determine the format of the stores in it");
        return Err(in_folder(error.with_remedy(Remedy::NameTargetFormat(formats))));
    };
    // A version of a format without a separate suffix has that of its family.
    let family = target_format(format)?.family();
    let mut family = TARGETS.iter().filter(|format| format.family() == family);
    let suffix = family.find_map(|format| format.suffixes().first().copied()).unwrap_or_default();
    let mut sources_of = BTreeMap::<String, &str>::new();
    let mut targets = Vec::new();
    for source in sources {
        let stem = stem(Path::new(&Locator::parse(source).store));
        if stem.is_empty() {
            return Err(Error::invalid("has no name from which to form a target; convert it separately")
                .in_file(source));
        }
        let target = folder.join(format!("{stem}{suffix}")).display().to_string();
        // Some file systems do not distinguish upper and lower case.
        if let Some(other) = sources_of.insert(target.to_lowercase(), source) {
            let text =
                format!("{other} and {source} would both be written to this target; nothing was written");
            return Err(Error::new(ErrorKind::AlreadyExists, text).in_file(target));
        }
        targets.push(target);
    }
    Ok(targets)
}

fn one(
    source: &str,
    target: &str,
    args: &Convert,
    common: &Common,
    messages: &Messages,
    out: &mut Out<'_>,
) -> Result<Exit> {
    let location = Locator::parse(source);
    // Computed before the store is opened, so that later changes are noticed.
    let how = if args.follow_links { "--follow-links" } else { "" };
    let mut made_from = made_from(&[&location.store], how, common)?;
    let mut source = open(&location, common, None, messages)?;
    if location.store != "-" {
        let (store, options) = (Path::new(&location.store), common.open_options());
        let others = match args.follow_links {
            true => parts_and_links(store, Arc::clone(&source), &options)?,
            false => parts(store, Arc::clone(&source), &options)?,
        };
        if !others.is_empty() {
            made_from = made_from.with_parts(&others)?;
            // Data already read from these files may be older than their fingerprint.
            source = hyperslab::open(store, &options)?;
        }
    }
    if args.follow_links {
        source = Arc::new(Followed::new(source));
    }
    let in_store = |e: Error| e.in_file(&location.store);
    let targets = location.targets(&*source).map_err(in_store)?;
    if let Some(name) = targets.iter().find_map(|target| target.attribute.as_deref()) {
        let error = Error::invalid(format!("@{name} is an attribute, expected a store, a group or an array"));
        let path = location.path.as_deref().unwrap_or_default();
        let object = path.strip_suffix(&format!("@{name}")).unwrap_or_default();
        let remedy = match object {
            "/" | "" => words::at_store(&location, path, None, "converts all of it"),
            object => {
                words::at_store(&location, path, Some(object), "converts the object with its attributes")
            }
        };
        return Err(in_store(error.with_remedy(remedy)));
    }
    let entries: Vec<_> = outermost(&targets).map(|target| target.entry.clone()).collect();
    let source = match args.select.is_empty() {
        true => source,
        false => {
            let selections = words::selections_of(&*source, &args.select).map_err(in_store)?;
            words::doubts(&*source, &selections, messages).map_err(in_store)?;
            Arc::new(Narrowed::new(source, &selections, &entries).map_err(in_store)?)
        }
    };
    let source = in_group(source, &location.store, Some(target), args.target_format.format.as_deref())?;
    let source = &*source;
    let parts = match location.path.is_some() {
        true => Some(Parts::new(source, &entries).map_err(in_store)?),
        false => None,
    };
    let store = &location.store;
    let (wishes, is_one_of_many) = (args.select.join(" "), args.sources.len() > 1);
    let goal = Goal::Format(args.target_format.format.as_deref());
    let from = From { source, store, made_from, goal, parts, wishes, is_one_of_many };
    write(&from, target, (args.dry_run, args.json), &args.writing, common, messages, out)
}

/// The source with a group at the root, if the target format cannot have an array there. An unknown format is reported
/// when the conversion is planned.
pub(crate) fn in_group(
    source: Arc<dyn Source>,
    store: &str,
    target: Option<&str>,
    format: Option<&str>,
) -> Result<Arc<dyn Source>> {
    let format = match (format, target) {
        (Some(name), _) => target_format(name),
        (None, target) => target_format_of(Path::new(target.unwrap_or_default())),
    };
    match format {
        Ok(format) => hyperslab::in_group(source, Path::new(store), format).map_err(|e| e.in_file(store)),
        Err(_) => Ok(source),
    }
}

/// The source of a new store.
pub(crate) struct From<'a> {
    pub(crate) source: &'a dyn Source,
    /// The path of the source, or `-`.
    pub(crate) store: &'a str,
    /// The fingerprint of the source before it was opened, and the options for reading it.
    pub(crate) made_from: Fingerprint,
    pub(crate) goal: Goal<'a>,
    /// The part of the source to convert; `None` for all of it.
    pub(crate) parts: Option<Parts>,
    /// The selections as given on the command line.
    pub(crate) wishes: String,
    /// Whether other sources are also converted.
    pub(crate) is_one_of_many: bool,
}

/// The kind of store that a source is converted to.
pub(crate) enum Goal<'a> {
    /// A store of the format with this name, or of the one implied by the name of the target.
    Format(Option<&'a str>),
    /// The same store in its current format, with these options, to which those of the command line are added.
    Repacked(Box<ConvertOptions<'static>>),
}

/// The fingerprint of a source and the options for reading it. Standard input has no file fingerprint.
pub(crate) fn made_from(stores: &[&str], how: &str, common: &Common) -> Result<Fingerprint> {
    let Common { raw, unpack, input_format, limit, allow_external, at, dataspace, .. } = common;
    let mut words = vec![how.to_owned()];
    words.extend(raw.then(|| "--raw".to_owned()));
    words.extend(unpack.then(|| "--unpack".to_owned()));
    words.extend(input_format.as_ref().map(|format| format!("--input-format {format}")));
    words.extend(limit.iter().map(|(name, max)| format!("--limit {name}={max}")));
    words.extend(allow_external.iter().map(|folder| format!("--allow-external {}", folder.display())));
    words.extend(at.map(|at| format!("--at {}..{}", at.start, at.end)));
    words.extend(dataspace.map(|view| format!("--dataspace {view}")));
    words.retain(|word| !word.is_empty());
    // A pattern matches several files; a missing file is reported later.
    let files = stores.iter().filter(|store| **store != "-").map(PathBuf::from);
    let files: Vec<PathBuf> = files.filter(|path| path.exists()).collect();
    Fingerprint::of_sources(&files, words.join(" "))
}

/// A prepared run.
pub(crate) struct Prepared<'a> {
    options: ConvertOptions<'a>,
    pub(crate) plan: Plan,
    /// The error if the run must not start, because of losses that are not allowed.
    pub(crate) refused: Result<()>,
}

/// Plans writing a store to `target`, or, without a target, in the requested format.
pub(crate) fn prepare<'a>(
    from: &From<'_>,
    target: Option<&str>,
    writing: &Writing,
    common: &Common,
) -> Result<Prepared<'a>> {
    if target == Some("-") {
        let error = Error::invalid("a store cannot be written to standard output");
        return Err(error.with_hint("./- is the file of that name"));
    }
    let target = target.map(Path::new);
    let base = match (&from.goal, target) {
        (Goal::Repacked(options), _) => (**options).clone(),
        (Goal::Format(Some(name)), _) => ConvertOptions::new(target_format(name)?),
        (Goal::Format(None), Some(target)) => {
            ConvertOptions::new(target_format_of(target).map_err(|e| e.in_file(target.display()))?)
        }
        (Goal::Format(None), None) => {
            return Err(Error::invalid("no target and no --format, expected one of them"));
        }
    };
    let Writing { overwrite, resume, sync, .. } = *writing;
    let options = ConvertOptions {
        native: words::target_options(base.native.clone(), &writing.option)?,
        layout: writing.layout.add_to(base.layout.clone())?,
        parts: from.parts.clone(),
        wishes: from.wishes.clone(),
        allow: allowed(&writing.allow_loss)?,
        publish: PublishOptions { overwrite, resume, sync },
        pool: common.pool().clone(),
        ..base
    };
    let prepared = hyperslab::convert::prepare(from.source, &from.made_from, target, &options);
    let Planned { plan, refused } = prepared.map_err(|e| e.in_file(from.store))?;
    Ok(Prepared { options, plan, refused })
}

/// Writes a store, or reports what would be written.
pub(crate) fn write(
    from: &From<'_>,
    target: &str,
    (dry_run, json): (bool, bool),
    writing: &Writing,
    common: &Common,
    messages: &Messages,
    out: &mut Out<'_>,
) -> Result<Exit> {
    let begun = Instant::now();
    let (source, shown) = (from.source, target);
    let progress = Mutex::new(Progress::new("convert", common));
    // Several sources can have objects of the same name.
    let subject = |path: &NodePath| match from.is_one_of_many {
        true => format!("{}:{path}", from.store),
        false => path.to_string(),
    };
    let tell = |path: &NodePath, bytes: u64| {
        // While one thread reports, the others continue.
        if let Ok(mut progress) = progress.try_lock() {
            progress.update(&subject(path), bytes);
        }
    };
    let prepared = prepare(from, Some(target), writing, common);
    if prepared.is_err() && !dry_run {
        publish::tidy(Path::new(target));
    }
    let Prepared { mut options, plan: planned, refused } = prepared?;
    options.progress = Some(&tell);
    let target = Path::new(target);
    let paint = paints_stdout(common, false);
    match json {
        true => out.json_line(report_json(&planned, from.store, shown))?,
        // In a run, the table is a message; in a dry run, it is the output.
        false if common.quiet && !dry_run => {}
        false => write_report(&planned.report, paint, out)?,
    }
    if dry_run && !json {
        write_chunking(&planned, paint, out)?;
    }
    out.flush()?;
    // The report lists them as losses, or they have nothing to do with this run.
    words::unfollowed(&source.unfollowed_links(), from.store, &mut |text| messages.warning(text));
    // In a single file, a chunk costs an index entry rather than a file.
    let are_files = options.format.is_directory(target);
    let advice: Vec<_> = planned.chunking.iter().filter(|_| are_files).filter_map(Chunking::advice).collect();
    for advice in advice.iter().take(MAX_SHOWN) {
        messages.warning(&words::advice_before(advice));
    }
    if let Some(more) = advice.len().checked_sub(MAX_SHOWN).filter(|more| *more > 0) {
        messages.note(&format!("{more} more arrays become many small chunks"));
    }
    if dry_run {
        return Ok(if refused.is_ok() { Exit::Yes } else { Exit::No });
    }
    if let Err(error) = refused {
        match from.is_one_of_many {
            true => messages.error_in(&error, from.store),
            false => messages.error(&error),
        }
        return Ok(Exit::No);
    }
    if let Ok(mut progress) = progress.lock() {
        progress.of(planned.bytes);
    }
    let summary = match convert(source, &from.made_from, target, &planned, &options) {
        Ok(summary) => summary,
        // Objects that exist but cannot be read, and losses that are not allowed, are part of the output.
        Err(error)
            if error.object().is_some() && !matches!(error.kind(), ErrorKind::Io | ErrorKind::Cancelled) =>
        {
            // With several sources, the error has a file name of its own.
            let store = error.file().unwrap_or(from.store).to_owned();
            messages.error_in(&error, &store);
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
        true => Some(read_back(from, target, (&planned, &summary, &options), common)?),
        false => None,
    };
    said(&summary, source, (target, &options), verified.as_ref(), begun, common)?;
    let Some(Verified { different, unreadable, .. }) = verified else { return Ok(Exit::Yes) };
    // With several sources, or with one that is not a file, there is no store to compare with.
    let compare = Path::new(from.store)
        .exists()
        .then(|| Remedy::Compare { a: from.store.to_owned(), b: shown.to_owned() });
    let is_allowed = unreadable.is_empty() || options.allow.contains(&Loss::Unreadable);
    let exit = if different.is_empty() && is_allowed { Exit::Yes } else { Exit::No };
    let different = different.into_iter().map(|error| error.with_remedies(compare.clone()));
    different.chain(unreadable).for_each(|error| messages.error_in(&error, shown));
    messages.finish();
    Ok(exit)
}

/// Reports the run in one line.
fn said(
    summary: &Summary,
    source: &dyn Source,
    (target, options): (&Path, &ConvertOptions<'_>),
    verified: Option<&Verified>,
    begun: Instant,
    common: &Common,
) -> Result<()> {
    if common.quiet {
        return Ok(());
    }
    let written = hyperslab::open(target, &options.opening())?.size()?;
    let arrays = if summary.arrays == 1 { "1 array".into() } else { format!("{} arrays", summary.arrays) };
    let seconds = begun.elapsed().as_secs_f64();
    let verified = verified.map(compared).unwrap_or_default();
    to_stderr(format_args!(
        "wrote {}: {arrays}, {} from {} in {seconds:.2} s{verified}\n",
        harmless(&target.display().to_string()),
        human_bytes(written),
        human_bytes(source.size()?)
    ));
    Ok(())
}

/// The result of the comparison with the source, for the end of the line.
fn compared(verified: &Verified) -> String {
    let mut text = format!("; read back by hyperslab: {} digests equal", verified.equal);
    if verified.changed > 0 {
        text.push_str(&format!(", {} changed as reported", verified.changed));
    }
    if !verified.different.is_empty() {
        text.push_str(&format!(", {} not", verified.different.len()));
    }
    if !verified.unreadable.is_empty() {
        text.push_str(&format!(", {} could not be read", verified.unreadable.len()));
    }
    text
}

/// Reads back the written store with the options of its source, and compares digests.
fn read_back(
    from: &From<'_>,
    target: &Path,
    done: (&Plan, &Summary, &ConvertOptions<'_>),
    common: &Common,
) -> Result<Verified> {
    let (_, _, options) = done;
    let open_options = common.open_options();
    let key = options.opening().key.or(open_options.key.clone());
    // These describe the source and do not apply to the target.
    let open_options = OpenOptions { dataspace: None, at: None, format: None, key, ..open_options };
    let written = match from.goal {
        Goal::Repacked(_) => repack::open(target, &open_options)?,
        Goal::Format(_) => hyperslab::open(target, &open_options)?,
    };
    let mut progress: Option<(VerifySide, Progress)> = None;
    verify(from.source, &*written, done, &mut |side, path, bytes| {
        if progress.as_ref().is_none_or(|(of, _)| *of != side) {
            progress = Some((side, Progress::new("verify", common)));
        }
        if let Some((_, progress)) = &mut progress {
            progress.update(path.as_str(), bytes);
        }
    })
}

/// Parses the allowed kinds of losses, a comma-separated list.
pub(crate) fn allowed(words: &[String]) -> Result<Vec<Loss>> {
    let allowed = Loss::of_names(words.iter().map(|word| word.trim()));
    allowed.map_err(|error| match error.remedies() {
        [] => error.with_hint("-n shows the losses of this run"),
        _ => error,
    })
}

/// Writes the report as a table.
pub(crate) fn write_report(report: &LossReport, paint: bool, out: &mut Out<'_>) -> Result<()> {
    let (dim, red, reset) = if paint { ("\x1b[2m", "\x1b[31m", "\x1b[0m") } else { ("", "", "") };
    for (line, fate) in report.table() {
        let line = harmless(&line);
        match fate {
            None => out.own(format_args!("{dim}{line}{reset}\n"))?,
            Some(Fate::Lost(_)) => out.own(format_args!("{red}{line}{reset}\n"))?,
            Some(_) => out.own(format_args!("{line}\n"))?,
        }
    }
    Ok(())
}

/// Writes the chunks of each array as a table.
fn write_chunking(planned: &Plan, paint: bool, out: &mut Out<'_>) -> Result<()> {
    if planned.chunking.is_empty() {
        return Ok(());
    }
    if !planned.report.is_empty() {
        out.own(format_args!("\n"))?;
    }
    let text = |header: &str| Column { header: header.into(), numbers: false };
    let number = |header: &str| Column { header: header.into(), numbers: true };
    let mut table = Table::new(vec![
        text("ARRAY"),
        text("SHAPE"),
        text("CHUNK"),
        text("SHARD"),
        number("COUNT"),
        number("EACH"),
    ]);
    let shape = |shape: &[u64]| {
        let extents: Vec<_> = shape.iter().map(u64::to_string).collect();
        format!("[{}]", extents.join(", "))
    };
    for one in &planned.chunking {
        table.cell(one.path.as_str());
        table.cell(shape(&one.shape));
        table.cell(shape(&one.chunk));
        table.cell(one.shard.as_deref().map(shape).unwrap_or_default());
        table.cell(one.count.to_string());
        table.cell(human_bytes(one.each));
    }
    Ok(table.write(out, paint)?)
}

/// The number of arrays for which warnings are printed.
const MAX_SHOWN: usize = 5;

fn report_json(planned: &Plan, source: &str, target: &str) -> serde_json::Value {
    json!({
        "source": source,
        "target": target,
        "bytes": planned.bytes,
        "report": rows_json(planned),
        "chunks": planned.chunking.iter().map(chunking_json).collect::<Vec<_>>(),
    })
}

fn chunking_json(of: &Chunking) -> serde_json::Value {
    json!({
        "path": of.path.as_str(),
        "shape": of.shape,
        "chunk": of.chunk,
        "shard": of.shard,
        "count": of.count,
        "bytes": of.each,
    })
}

/// The rows of the report as JSON.
pub(crate) fn rows_json(planned: &Plan) -> serde_json::Value {
    let rows = planned.report.rows().map(|row| {
        json!({
            "places": row.places,
            "count": row.count,
            "what": row.what,
            "becomes": row.becomes,
            "fate": row.fate.word(),
            "kind": row.fate.loss().map(Loss::name),
        })
    });
    rows.collect()
}
