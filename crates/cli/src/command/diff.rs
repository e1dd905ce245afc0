//! `diff A B`: compares the contents of two stores, or of two folders of stores.

mod folders;

use crate::args::{Common, Diff};
use crate::exit::Exit;
use crate::output::{Messages, open, paints_stdout};
use crate::progress::Progress;
use crate::terminal::{Out, harmless};
use crate::words;
use hyperslab::diff::{DiffOptions, Found, FoundValues, MissingIn, On, Side, Subject, Summary, diff};
use hyperslab::files::is_plain_folder;
use hyperslab::location::{LocatedObject, Locator};
use hyperslab::model::Tolerance;
use hyperslab::{Error, Result, Source};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

pub(crate) fn run(args: &Diff, common: &Common, messages: &Messages, out: &mut Out<'_>) -> Result<Exit> {
    let (a, b) = (Locator::parse(&args.a), Locator::parse(&args.b));
    if a.store == "-" && b.store == "-" {
        return Err(Error::invalid("standard input can be only one of the two"));
    }
    let is_folder =
        |location: &Locator| location.path.is_none() && is_plain_folder(Path::new(&location.store));
    let exit = match is_folder(&a) && is_folder(&b) {
        true => folders::run(Path::new(&a.store), Path::new(&b.store), args, common, messages, out)?,
        false => stores((&a, &b), None, args, common, messages, out)?,
    };
    messages.finish();
    Ok(exit)
}

/// Compares two stores. `name` is their name when two folders are compared.
fn stores(
    (a, b): (&Locator, &Locator),
    name: Option<&str>,
    args: &Diff,
    common: &Common,
    messages: &Messages,
    out: &mut Out<'_>,
) -> Result<Exit> {
    let opened = |location: &Locator| {
        opened(location, common, messages).map_err(|error| messages.error(&error.in_file(&location.store)))
    };
    let (Ok((x, at)), Ok((y, bt))) = (opened(a), opened(b)) else { return Ok(Exit::Trouble) };
    let options = DiffOptions {
        tolerance: Tolerance {
            relative: args.rtol,
            absolute: args.atol,
            ulps: args.ulp,
            signed_zeros: false,
        },
        order: args.order,
        storage: args.storage,
        max_reported: args.max,
        select: words::selections_of(&*x, &args.select)?,
    };
    words::doubts(&*x, &options.select, messages).map_err(|e| e.in_file(&a.store))?;
    let mut progress = Progress::new("diff", common);
    let mut answer = Answer {
        args,
        name,
        stores: (&a.store, &b.store),
        messages,
        cut: out.is_terminal(),
        lines: Vec::new(),
        told: BTreeMap::new(),
    };
    let sides = (Side { source: &*x, target: &at }, Side { source: &*y, target: &bt });
    let done = diff(
        sides.0,
        sides.1,
        &options,
        &mut |path, bytes| progress.update(path.as_str(), bytes),
        &mut |found| answer.tell(found, out),
    );
    drop(progress);
    let summary = match done {
        Ok(summary) => summary,
        Err(error) => {
            messages.error(&error);
            return Ok(Exit::Trouble);
        }
    };
    for MissingIn { on, path, sources } in &summary.missing {
        let store = if *on == On::A { &a.store } else { &b.store };
        messages.warning(&words::missing(store, path.as_str(), sources));
    }
    if !args.json {
        answer.write(&summary, paints_stdout(common, args.to.file().is_some()), out)?;
    }
    Ok(if summary.is_same() { Exit::Yes } else { Exit::No })
}

fn opened(
    location: &Locator,
    common: &Common,
    messages: &Messages,
) -> Result<(Arc<dyn Source>, LocatedObject)> {
    let source = open(location, common, None, messages)?;
    let mut targets = location.targets(&*source)?;
    match (targets.pop(), targets.len()) {
        (Some(target), 0) => Ok((source, target)),
        (_, more) => Err(Error::invalid(format!(
            "matches {} objects, expected one; `hyperslab ls` lists them",
            more + 1
        ))),
    }
}

/// The differences to print, in order, up to the maximum for each kind.
struct Answer<'a> {
    args: &'a Diff,
    /// The name of the two stores when two folders are compared.
    name: Option<&'a str>,
    stores: (&'a str, &'a str),
    messages: &'a Messages,
    /// Whether long texts are shortened for a terminal.
    cut: bool,
    lines: Vec<Line>,
    /// The number of differences of each kind.
    told: BTreeMap<(On, bool), usize>,
}

struct Line {
    sign: char,
    path: String,
    text: String,
    /// Position, first value, second value, difference.
    values: Vec<[String; 4]>,
}

impl Answer<'_> {
    fn tell(&mut self, found: Found, out: &mut Out<'_>) -> Result<()> {
        if found.what == "unreadable" {
            let stores = [(&found.a, self.stores.0), (&found.b, self.stores.1)];
            for ((reason, store), cause) in stores.into_iter().zip(found.causes) {
                if let Some(cause) = cause {
                    let error = Error::new(cause, reason.clone()).in_object(&found.path);
                    self.messages.error_in(&error, store);
                }
            }
        }
        if self.args.json {
            return Ok(out.json_line(json(self.name, &found))?);
        }
        let told = self.told.entry((found.on, found.subject == Subject::Attribute)).or_default();
        *told += 1;
        if *told > self.args.max {
            return Ok(());
        }
        let text = self.text(&found);
        let values = found.values.as_ref().filter(|_| found.a.is_empty()).map(rows).unwrap_or_default();
        self.lines.push(Line { sign: sign(found.on), path: clean(found.path), text: clean(text), values });
        Ok(())
    }

    fn text(&self, found: &Found) -> String {
        let cut = |text: &str| if self.cut { cut_at(text, text) } else { text.to_owned() };
        match (found.on, found.what) {
            (On::A, _) => cut(&found.a),
            (On::B, _) => cut(&found.b),
            (On::Both, "unreadable") => match (found.a.is_empty(), found.b.is_empty()) {
                (false, true) => format!("unreadable in {}", self.stores.0),
                (true, false) => format!("unreadable in {}", self.stores.1),
                _ => "unreadable in both".into(),
            },
            (On::Both, what) => match &found.values {
                Some(values) if found.a.is_empty() => self.counts(values),
                _ => {
                    let (a, b) = match self.cut {
                        true => (cut_at(&found.a, &found.b), cut_at(&found.b, &found.a)),
                        false => (found.a.clone(), found.b.clone()),
                    };
                    let what = if what == "value" { String::new() } else { format!("{what} ") };
                    format!("{what}{a} → {b}")
                }
            },
        }
    }

    /// A text such as `2 of 288 values differ, at most 0.5 (rtol 0, atol 0)`.
    fn counts(&self, values: &FoundValues) -> String {
        let tally = &values.tally;
        let verb = if tally.differing == 1 { "differs" } else { "differ" };
        let mut text = format!("{} of {} values {verb}", tally.differing, tally.compared);
        if let Some(largest) = tally.largest.and_then(|gap| gap.magnitude()) {
            let _ = write!(text, ", at most {largest}");
        }
        if values.floats {
            let Diff { rtol, atol, ulp, .. } = self.args;
            let _ = write!(text, " (rtol {rtol}, atol {atol}");
            if *ulp > 0 {
                let _ = write!(text, ", ulp {ulp}");
            }
            text.push(')');
        }
        text
    }

    /// Writes the differences with paths in a column, then the numbers of all differences.
    fn write(&self, summary: &Summary, paint: bool, out: &mut Out<'_>) -> Result<()> {
        // Paths may have any length. One long path must not widen the column for all.
        const WIDEST: usize = 40;
        if let Some(name) = self.name.filter(|_| !summary.is_same()) {
            let name = harmless(name);
            match paint {
                true => out.own(format_args!("\x1b[1m{name}\x1b[0m\n"))?,
                false => out.own(format_args!("{name}\n"))?,
            }
        }
        let width = self.lines.iter().map(|line| line.path.chars().count()).filter(|width| *width <= WIDEST);
        let width = width.max().unwrap_or(0);
        for Line { sign, path, text, values } in &self.lines {
            let pad = " ".repeat(width.saturating_sub(path.chars().count()));
            let line = match (paint, sign) {
                (false, _) => format!("{sign} {path}{pad}  {text}"),
                (true, '-') => format!("\x1b[31m-\x1b[0m \x1b[1m{path}\x1b[0m{pad}  {text}"),
                (true, '+') => format!("\x1b[32m+\x1b[0m \x1b[1m{path}\x1b[0m{pad}  {text}"),
                (true, _) => format!("\x1b[33m~\x1b[0m \x1b[1m{path}\x1b[0m{pad}  {text}"),
            };
            out.own(format_args!("{}\n", line.trim_end()))?;
            write_values(values, out)?;
        }
        for ((on, attribute), count) in &self.told {
            let Some(more) = count.checked_sub(self.args.max).filter(|more| *more > 0) else { continue };
            let what = match (attribute, more) {
                (true, 1) => "attribute",
                (true, _) => "attributes",
                (false, 1) => "object",
                (false, _) => "objects",
            };
            let which = match on {
                On::A => format!("{what} only in {}", harmless(self.stores.0)),
                On::B => format!("{what} only in {}", harmless(self.stores.1)),
                On::Both => {
                    let differences = if more == 1 { "difference" } else { "differences" };
                    format!("{differences} of {}", if *attribute { "attributes" } else { "objects" })
                }
            };
            writeln!(out, "{} {more} more {which}", sign(*on))?;
        }
        if !summary.is_same() {
            writeln!(out, "{}", summary.label())?;
        }
        Ok(())
    }
}

fn sign(on: On) -> char {
    match on {
        On::A => '-',
        On::B => '+',
        On::Both => '~',
    }
}

fn clean(text: String) -> String {
    harmless(&text).into_owned()
}

fn rows(values: &FoundValues) -> Vec<[String; 4]> {
    let pairs = values.tally.first.iter().zip(&values.at);
    pairs
        .map(|(pair, at)| {
            [clean(at.to_string()), clean(pair.a.clone()), clean(pair.b.clone()), pair.by.to_string()]
        })
        .collect()
}

/// Positions aligned left, values aligned right.
fn write_values(values: &[[String; 4]], out: &mut Out<'_>) -> Result<()> {
    let width = |column: usize| {
        let cells = values.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0).min(WIDEST_VALUE)
    };
    let widths = [width(0), width(1), width(2)];
    for [at, a, b, by] in values {
        let [at_width, a_width, b_width] = widths;
        let line = format!("    {at:at_width$}  {a:>a_width$}  {b:>b_width$}  {by}");
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

const WIDEST_VALUE: usize = 40;

/// The part of a long text around the first difference to another text.
fn cut_at(text: &str, other: &str) -> String {
    const MAX_SHOWN: usize = 120;
    const BEFORE: usize = 20;
    let count = text.chars().count();
    if count <= MAX_SHOWN {
        return text.to_owned();
    }
    let common = match text == other {
        true => 0,
        false => text.chars().zip(other.chars()).take_while(|(a, b)| a == b).count(),
    };
    let skipped = common.saturating_sub(BEFORE);
    let shown: String = text.chars().skip(skipped).take(MAX_SHOWN).collect();
    let before = if skipped > 0 { "…" } else { "" };
    let behind = if skipped + MAX_SHOWN < count { "…" } else { "" };
    format!("{before}{shown}{behind}")
}

fn json(name: Option<&str>, found: &Found) -> String {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let file = name.map(|name| format!("\"file\":{},", quoted(name))).unwrap_or_default();
    let mut line = format!(
        "{{{file}\"path\":{},\"kind\":\"{}\",\"change\":\"{}\",\"what\":{}",
        quoted(&found.path),
        found.subject.name(),
        sign(found.on),
        quoted(found.what)
    );
    // Writing to a String cannot fail.
    for (key, text) in [("a", &found.a), ("b", &found.b)] {
        if !text.is_empty() {
            let text = if found.what == "value" { value(text) } else { quoted(text) };
            let _ = write!(line, ",\"{key}\":{text}");
        }
    }
    if let Some(FoundValues { tally, at, .. }) = &found.values {
        let _ = write!(line, ",\"differing\":{},\"of\":{}", tally.differing, tally.compared);
        if let Some(largest) = tally.largest.and_then(|gap| gap.magnitude()) {
            let _ = write!(line, ",\"largest\":{}", value(&largest));
        }
        line.push_str(",\"values\":[");
        for (index, (pair, at)) in tally.first.iter().zip(at).enumerate() {
            let comma = if index > 0 { "," } else { "" };
            let at: Vec<String> = at.parts().iter().map(|part| value(part)).collect();
            let (a, b) = (value(&pair.a), value(&pair.b));
            let _ = write!(line, "{comma}{{\"at\":[{}],\"a\":{a},\"b\":{b}}}", at.join(","));
        }
        line.push(']');
    }
    line.push('}');
    line
}

/// A value as JSON, or as a JSON string if JSON cannot represent it.
fn value(text: &str) -> String {
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(_) => text.to_owned(),
        Err(_) => {
            let name = match text {
                "nan" => "NaN",
                "inf" => "Infinity",
                "-inf" => "-Infinity",
                other => other,
            };
            serde_json::Value::from(name).to_string()
        }
    }
}
