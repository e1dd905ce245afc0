//! `check LOCATION…`: checks that files follow the rules of their format.

mod sarif;

use crate::args::{Check, Common, Findings};
use crate::exit::Exit;
use crate::output::{Messages, open, paints_stdout, standard_input};
use crate::progress::Progress;
use crate::terminal::{Out, harmless};
use crate::words;
use hyperslab::check::{
    AgainstOptions, CheckOptions, ConventionOptions, Conventions, Finding, FindingPlace, Report, RuleChoice,
    Spot, StandardNames, against, check, check_conventions, check_location, specification, without_spare,
};
use hyperslab::create::document;
use hyperslab::location::Locator;
use hyperslab::ndl::{Diagnostic, Source};
use hyperslab::{Error, FileStorage, ReadAt, Result, Severity};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) fn run(args: &Check, common: &Common, messages: &Messages, out: &mut Out<'_>) -> Result<Exit> {
    let form = if args.json { Findings::Json } else { args.form };
    let color = form == Findings::Text && paints_stdout(common, args.to.file().is_some());
    let contract = args
        .against
        .as_deref()
        .map(|file| Contract::read(file, args, common).map_err(|error| error.in_file(file)));
    let contract = contract.transpose()?;
    let conventions = args.conventions.as_deref().map(|words| Convened::read(words, args)).transpose()?;
    let asked = Asked { contract: contract.as_ref(), conventions: conventions.as_ref() };
    let mut worst = Exit::Yes;
    let mut total = Total::default();
    let mut log = sarif::Log::default();
    for text in &args.locations {
        let location = Locator::parse(text);
        let report = match checked(&location, asked, args, common, messages) {
            Ok(report) if form == Findings::Text && !args.verbose => without_spare(report),
            Ok(report) => report,
            Err(error) => {
                let error = error.in_file(&location.store);
                messages.error(&error);
                log.fail(&location.store, &error);
                worst = Exit::Trouble;
                continue;
            }
        };
        total.add(&report);
        let fails = |finding: &Finding| match finding.severity {
            Severity::Error => true,
            Severity::Warning => args.strict,
            Severity::Note => false,
        };
        if report.findings.iter().any(fails) {
            worst = worst.max(Exit::No);
        }
        match form {
            Findings::Text => write_findings(&location.store, &report, color, common.quiet, out)?,
            Findings::Json => {
                for finding in &report.findings {
                    out.json_line(json(&location.store, finding))?;
                }
            }
            Findings::Sarif => log.add(&location.store, args.against.as_deref(), &report),
        }
    }
    match form {
        Findings::Text if total.locations > 0 => writeln!(out, "{}", total.sentence())?,
        Findings::Text | Findings::Json => {}
        Findings::Sarif => log.write(out)?,
    }
    messages.finish();
    Ok(worst)
}

/// The document that the data must match.
struct Contract {
    source: Arc<dyn hyperslab::Source>,
    options: AgainstOptions,
}

impl Contract {
    /// Reads the document.
    fn read(file: &str, args: &Check, common: &Common) -> Result<Contract> {
        let open = common.open_options();
        let text: Box<dyn ReadAt> = match file {
            "-" => standard_input(&open.limits)?,
            file => Box::new(FileStorage::open(file)?),
        };
        let Check { strict, lenient, pure, quick, .. } = *args;
        let document = document(&*text, &open, &CheckOptions { strict, lenient, pure, quick })?;
        let source = document
            .into_contract()
            .map_err(|error| error.with_hint(format_args!("`hyperslab check {file}` shows the errors")))?;
        Ok(Contract { source, options: AgainstOptions { unnamed: args.verbose } })
    }
}

/// The conventions that are checked, and how.
struct Convened {
    conventions: Conventions,
    options: ConventionOptions,
}

impl Convened {
    fn read(words: &str, args: &Check) -> Result<Convened> {
        let names = |file: &PathBuf| {
            let table = fs::read(file).map_err(Error::from).and_then(|xml| StandardNames::from_xml(&xml));
            table.map(Arc::new).map_err(|error| error.in_file(file.display()))
        };
        let options = ConventionOptions {
            quick: args.quick,
            rules: args.rules.as_deref().map(RuleChoice::parse).transpose()?.unwrap_or_default(),
            standard_names: args.standard_names.as_ref().map(names).transpose()?,
        };
        Ok(Convened { conventions: Conventions::parse(words)?, options })
    }
}

/// What locations are checked against instead of the rules of their format.
#[derive(Clone, Copy)]
struct Asked<'a> {
    contract: Option<&'a Contract>,
    conventions: Option<&'a Convened>,
}

fn checked(
    location: &Locator,
    asked: Asked<'_>,
    args: &Check,
    common: &Common,
    messages: &Messages,
) -> Result<Report> {
    if let (Some(contract), None) = (asked.contract, &location.path) {
        let watch = Progress::of_reading("check", &location.store, false, common);
        let data = open(location, common, watch, messages)?;
        return against(&*data, &*contract.source, &contract.options);
    }
    if let Some(path) = &location.path {
        let error = Error::invalid("`check` takes whole files, not objects in them");
        return Err(error.with_remedy(words::at_store(location, path, None, "checks all of it")));
    }
    let Check { strict, lenient, pure, quick, .. } = *args;
    let options = CheckOptions { strict, lenient, pure, quick };
    let mut open = common.open_options();
    open.watch = Progress::of_reading("check", &location.store, false, common);
    if let Some(conventions) = asked.conventions {
        let Convened { conventions, options } = conventions;
        return check_conventions(Path::new(&location.store), &open, conventions, options);
    }
    match location.store.as_str() {
        "-" => {
            open.format.get_or_insert("ndl".into());
            check_location(hyperslab::Location::Object(standard_input(&open.limits)?), &open, &options)
        }
        store => check(Path::new(store), &open, &options),
    }
}

/// The number of findings in all locations.
#[derive(Default)]
struct Total {
    locations: u64,
    errors: u64,
    warnings: u64,
    notes: u64,
}

impl Total {
    fn add(&mut self, report: &Report) {
        self.locations += 1;
        self.errors += report.count(Severity::Error);
        self.warnings += report.count(Severity::Warning);
        self.notes += report.count(Severity::Note);
    }

    /// A sentence such as `3 errors, 1 warning in 2 locations`.
    fn sentence(&self) -> String {
        let counted = |count: u64, one: &str| match count {
            1 => format!("1 {one}"),
            many => format!("{many} {one}s"),
        };
        let kinds = [(self.errors, "error"), (self.warnings, "warning"), (self.notes, "note")];
        let found: Vec<_> =
            kinds.iter().filter(|(count, _)| *count > 0).map(|(count, one)| counted(*count, one)).collect();
        let found = if found.is_empty() { "no findings".to_owned() } else { found.join(", ") };
        format!("{found} in {}", counted(self.locations, "location"))
    }
}

/// Writes findings as text: at most twenty for each rule, then the number of the remaining ones.
pub(super) fn write_findings(
    file: &str,
    report: &Report,
    color: bool,
    quiet: bool,
    out: &mut Out<'_>,
) -> Result<()> {
    // The lines of the document are indexed only if there are findings.
    let text = report.text.as_deref().filter(|_| !report.findings.is_empty());
    let source = text.map(|text| Source::new(file, text));
    let mut shown = BTreeMap::<&str, u64>::new();
    for finding in &report.findings {
        if quiet && finding.severity != Severity::Error {
            continue;
        }
        let count = shown.entry(finding.rule).or_default();
        *count += 1;
        if *count > MAX_SHOWN {
            continue;
        }
        match (&source, diagnostic(finding)) {
            (Some(source), Some(diagnostic)) => out.own(source.render(&diagnostic, color))?,
            _ => out.own(format_args!("{}\n", line(file, finding, color)))?,
        }
    }
    for (rule, severity, more) in &report.more {
        if *severity == Severity::Error || !quiet {
            *shown.entry(rule).or_default() += more;
        }
    }
    for (rule, count) in shown {
        if let Some(more) = count.checked_sub(MAX_SHOWN).filter(|more| *more > 0) {
            writeln!(out, "{more} more of {rule}")?;
        }
    }
    Ok(())
}

/// The maximum number of findings of one rule that are shown as text.
const MAX_SHOWN: u64 = 20;

fn diagnostic(finding: &Finding) -> Option<Diagnostic> {
    let Finding { severity, rule, message, hint, place } = finding.clone();
    match place {
        FindingPlace::Text { line, column, end_column } => {
            Some(Diagnostic { severity, rule, message, line, column, end_column, hint })
        }
        FindingPlace::Stored { .. } | FindingPlace::Contract { .. } | FindingPlace::Value { .. } => None,
    }
}

/// A line such as `damaged.h5:/sst byte 0x1a3f0  error  hdf5/chunk-checksum  …`.
fn line(file: &str, finding: &Finding, color: bool) -> String {
    let Finding { severity, rule, message, hint, place } = finding;
    let place = match place {
        FindingPlace::Text { line, column, .. } => format!("{file}:{line}:{column}"),
        FindingPlace::Stored { object, structure, byte, .. } => {
            let object = object.as_ref().map(|object| format!(":{object}")).unwrap_or_default();
            let structure = structure.map(|structure| format!(" {structure}")).unwrap_or_default();
            let byte = byte.map(|byte| format!(" byte {byte:#x}")).unwrap_or_default();
            format!("{file}{object}{structure}{byte}")
        }
        FindingPlace::Contract { object, .. } => format!("{file}:{object}"),
        FindingPlace::Value { object, key, spot } => {
            let object = object.as_ref().map(|object| format!(":{object}")).unwrap_or_default();
            let key = key.as_ref().map(|key| format!(" {key}")).unwrap_or_default();
            let spot = match spot {
                Some(Spot::Text { line, column, .. }) => format!(":{line}:{column}"),
                Some(Spot::Bytes { byte, .. }) => format!(" byte {byte:#x}"),
                None => String::new(),
            };
            format!("{file}{object}{key}{spot}")
        }
    };
    let code = match severity {
        Severity::Error => "31",
        Severity::Warning => "33",
        Severity::Note => "36",
    };
    let level = if color { format!("\x1b[{code}m{severity}\x1b[0m") } else { severity.to_string() };
    let hint = hint.as_ref().map(|hint| format!("\n  help: {}", harmless(hint))).unwrap_or_default();
    // Rules of CF are identified by their sections.
    let section = specification(rule).filter(|section| section.starts_with("CF "));
    let section = section.map(|section| format!(" ({section})")).unwrap_or_default();
    format!("{}  {level}  {rule}{section}  {}{hint}", harmless(&place), harmless(message))
}

fn json(file: &str, finding: &Finding) -> serde_json::Value {
    let Finding { severity, rule, message, hint, place } = finding;
    let mut object = serde_json::Map::new();
    let mut put = |key: &str, value: serde_json::Value| object.insert(key.into(), value);
    put("severity", severity.to_string().into());
    put("rule", (*rule).into());
    if let Some(specification) = specification(rule) {
        put("specification", specification.into());
    }
    put("message", message.as_str().into());
    put("file", file.into());
    match place {
        FindingPlace::Text { line, column, end_column } => {
            put("line", (*line).into());
            put("column", (*column).into());
            put("end_column", (*end_column).into());
        }
        FindingPlace::Stored { object, structure, byte, len } => {
            put("object", object.as_deref().into());
            put("structure", (*structure).into());
            put("byte", (*byte).into());
            put("length", (*len).into());
        }
        FindingPlace::Contract { object, said } => {
            put("object", object.as_str().into());
            put("line", said.map(|(line, _)| line).into());
            put("column", said.map(|(_, column)| column).into());
        }
        FindingPlace::Value { object, key, spot } => {
            put("object", object.as_deref().into());
            put("key", key.as_deref().into());
            match spot {
                Some(Spot::Text { line, column, end_column }) => {
                    put("line", (*line).into());
                    put("column", (*column).into());
                    put("end_column", (*end_column).into());
                }
                Some(Spot::Bytes { byte, len }) => {
                    put("byte", (*byte).into());
                    put("length", (*len).into());
                }
                None => {}
            }
        }
    }
    put("hint", hint.as_deref().into());
    object.into()
}
