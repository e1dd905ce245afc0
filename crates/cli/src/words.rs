//! Expresses values of the library in terms of the command line: remedies of errors name options.

use crate::line;
use crate::output::Messages;
use crate::terminal::harmless;
use crate::tried;
use hyperslab::files::matching;
use hyperslab::list::human_bytes;
use hyperslab::location::{Locator, is_pattern};
use hyperslab::meant;
use hyperslab::select::{Select, has_coordinates};
use hyperslab::show::Encoded;
use hyperslab::stat::{Advice, Better};
use hyperslab::target::TargetOptions;
use hyperslab::{
    Error, ErrorKind, MissingSources, OpenOptions, Remedy, Result, Source, UnfollowedLinks,
    with_target_option,
};
use std::path::Path;

/// Selections as typed by the user.
pub(crate) fn selections(typed: &[String]) -> Result<Vec<Select>> {
    typed.iter().map(|text| text.parse()).collect()
}

/// As [`selections`], but suggestions in errors refer only to coordinates that the store has.
pub(crate) fn selections_of(source: &dyn Source, typed: &[String]) -> Result<Vec<Select>> {
    selections(typed).map_err(|error| {
        let works = |remedy: &Remedy| match remedy {
            Remedy::Instead { write, .. } => {
                write.parse::<Select>().is_ok_and(|select| has_coordinates(source, &select).unwrap_or(false))
            }
            _ => true,
        };
        match error.remedies().iter().all(works) {
            true => error,
            false => Error::new(error.kind(), error.detail().to_owned()),
        }
    })
}

/// The note that numbers have a meaning other than their value; `None` if there are no such numbers.
pub(crate) fn encoded(encoded: &[(String, Encoded)]) -> Option<String> {
    let is = |encoded: &Encoded| match encoded {
        Encoded::Packed => "packed numbers",
        Encoded::Time => "counts of time",
        Encoded::Flags => "flags",
    };
    let named: Vec<String> = encoded.iter().map(|(name, of)| format!("{} in {name}", is(of))).collect();
    (!named.is_empty()).then(|| format!("as stored: {}; --decode shows what they mean", named.join(", ")))
}

/// Advice on better storage of an array, as options of verbs that write stores.
pub(crate) fn advice(advice: &Advice) -> String {
    format!("{}; repack with {}", advice.reason, options(advice))
}

/// As [`advice`], for a store that is about to be written.
pub(crate) fn advice_before(advice: &Advice) -> String {
    format!("{}; {} makes larger ones", advice.reason, options(advice))
}

fn options(advice: &Advice) -> String {
    let option = |better: &Better| {
        let (option, value) = match better {
            Better::Chunk(shape) => {
                let sides: Vec<_> = shape.iter().map(u64::to_string).collect();
                ("-c", sides.join(","))
            }
            Better::ChunkBytes(bytes) => ("-c", format!("{}MiB", bytes >> 20)),
            Better::Filters(filters) => ("-f", (*filters).to_owned()),
            Better::NoFilters => ("-f", "none".to_owned()),
        };
        format!("{option} {}", line::quoted(&format!("{}:{value}", advice.path)))
    };
    advice.better.iter().map(option).collect::<Vec<_>>().join(" ")
}

/// A suggestion for a location whose store does not exist.
pub(crate) fn meant(text: &str, options: &OpenOptions) -> Option<Remedy> {
    let joined = || {
        let words = line::joined(&line::typed(), text, &|text| match meant::location(text, options)? {
            Remedy::Instead { write, .. } => Some(write),
            _ => None,
        })?;
        Some(Remedy::Hint(format!("did you mean `{}`?", line::of(words))))
    };
    let selection = || {
        let line = tried::selection(&line::typed(), text)?;
        Some(Remedy::Hint(format!("did you mean `{line}`?")))
    };
    meant::location(text, options).or_else(selection).or_else(joined)
}

/// The error for a store that does not exist: a pattern that matches nothing is not a file name.
pub(crate) fn unmatched(error: Error, store: &str) -> Error {
    let is_url = store.contains("://");
    let nothing = || matching(store).is_ok_and(|found| found == [store]);
    match error.kind() == ErrorKind::FileNotFound && is_pattern(store) && !is_url && nothing() {
        true => Error::new(ErrorKind::FileNotFound, "nothing matches the pattern").in_file(store),
        false => error,
    }
}

/// A suggestion for a location with the path `path`: the same store with the path `write`, or the whole store.
pub(crate) fn at_store(location: &Locator, path: &str, write: Option<&str>, effect: &str) -> Remedy {
    let store = &location.store;
    Remedy::Instead {
        given: format!("{store}:{path}"),
        write: write.map_or_else(|| store.clone(), |write| format!("{store}:{write}")),
        effect: Some(effect.to_owned()),
    }
}

/// Warns about selections that may not select what was meant.
pub(crate) fn doubts(source: &dyn Source, selections: &[Select], messages: &Messages) -> Result<()> {
    for doubt in hyperslab::select::doubts(source, selections)? {
        messages.note(&doubt.text);
        doubt.remedy.iter().for_each(|remedy| messages.help(&self::remedy(remedy)));
    }
    Ok(())
}

/// Options of formats as typed by the user, `FORMAT.KEY[=VALUE]`, after those of a verb.
pub(crate) fn target_options(base: TargetOptions, typed: &[String]) -> Result<TargetOptions> {
    typed.iter().try_fold(base, |options, typed| {
        let (name, value) = match typed.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (typed.as_str(), None),
        };
        with_target_option(options, name, value, &format!("-O {typed}"))
    })
}

/// An error with file and object on one line, followed by its remedies, one per line. Line breaks in names are escaped.
pub(crate) fn error(error: &Error) -> String {
    placed(error, error.file())
}

/// As [`error()`], for an error without file name.
pub(crate) fn error_in(error: &Error, file: &str) -> String {
    placed(error, Some(file))
}

fn placed(error: &Error, file: Option<&str>) -> String {
    let of_file = |it: &Remedy| match (it, file) {
        (Remedy::CheckDocument, Some(file)) if file != "-" => {
            format!("`{}` shows all errors in the document", line::of(["check", file]))
        }
        (Remedy::ListMembers(group), Some(file)) => {
            let location = if group == "/" { file.to_owned() } else { format!("{file}:{group}") };
            format!("`{}` lists what is in it", line::of(["ls", "-r", &location]))
        }
        (Remedy::DescribeObject(path), Some(file)) => {
            format!("`{}` shows it", line::of(["describe", &format!("{file}:{path}")]))
        }
        (it, _) => remedy(it),
    };
    let words = |it: &Remedy| harmless(&of_file(it)).into_owned();
    let next = next_step(error, file);
    let whole = error.reason_worded(&words).to_string();
    let remedies = Error::invalid("").with_remedies(error.remedies().iter().cloned());
    let remedies = remedies.reason_worded(&words).to_string();
    let reason = harmless(whole.strip_suffix(&remedies).unwrap_or(&whole));
    let place = match (file, error.object()) {
        (Some(file), Some(object)) => format!("{file}:{object}: "),
        (Some(place), None) | (None, Some(place)) => format!("{place}: "),
        (None, None) => String::new(),
    };
    let next = next.map_or(String::new(), |next| format!("\nhelp: {}", harmless(&next)));
    format!("{}{reason}{remedies}{next}", harmless(&place))
}

/// What to do after an error that has no remedies.
fn next_step(error: &Error, file: Option<&str>) -> Option<String> {
    let file = file.filter(|_| error.remedies().is_empty())?;
    if error.kind() == ErrorKind::FileNotFound && error.object().is_none() && !Path::new(file).exists() {
        let folder = || Path::new(file).parent().filter(|folder| folder.is_dir()).unwrap_or(Path::new("."));
        // A store is not given twice on purpose, and no store name is similar to a pattern.
        let is_given = |store: &str| line::typed().iter().any(|word| Locator::parse(word).store == store);
        return match meant::store(file)? {
            Remedy::Instead { write, .. } if is_given(&write) || is_pattern(file) => {
                Some(remedy(&Remedy::ListFolder(folder().to_path_buf())))
            }
            it => Some(remedy(&it)),
        };
    }
    if !Path::new(file).exists() {
        return None;
    }
    let at = |object: &str| format!("{file}:{object}");
    match (error.kind(), error.object().map(|object| object.rsplit_once('@'))) {
        (ErrorKind::NotFound, Some(Some((object, _)))) => {
            let object = if object.is_empty() { "/" } else { object };
            Some(format!("`{}` lists the attributes", line::of(["ls", "--attrs", &at(object)])))
        }
        (ErrorKind::NotFound, None) => Some(format!("`{}` lists the objects", line::of(["ls", "-r", file]))),
        (ErrorKind::Malformed | ErrorKind::Checksum, _)
            if !line::typed().iter().any(|word| word == "check") =>
        {
            Some(format!("`{}` lists all damage", line::of(["check", file])))
        }
        _ => None,
    }
}

/// The text of a remedy.
fn remedy(remedy: &Remedy) -> String {
    match remedy {
        Remedy::RaiseLimit(limit) => format!("raise with --limit {limit}=N"),
        Remedy::AllowExternal(folder) => format!("follow it with --allow-external {}", folder.display()),
        Remedy::AllowLoss { kinds, losses } => {
            let them = if *losses == 1 { "it" } else { "them" };
            format!("--allow-loss {} accepts {them}; -n shows this table and stops", kinds.join(","))
        }
        Remedy::LeaveOutUnreadable => "--allow-loss unreadable leaves such arrays out".into(),
        Remedy::Overwrite => "--overwrite replaces it".into(),
        Remedy::KeepForeignFiles => {
            "--overwrite would also remove these files; move them away, or choose another target".into()
        }
        Remedy::Resume { done, of } => {
            let of = of.map_or(String::new(), |of| format!(" of {}", human_bytes(of)));
            format!("--resume continues from {}{of}", human_bytes(*done))
        }
        Remedy::StartAnew => "without --resume, everything is written again from the beginning".into(),
        Remedy::NameTargetFormat(formats) => match tried::conversion(&line::typed()) {
            Some(line) => format!("did you mean `{line}`? --format names another format"),
            None => format!("use --format {} to choose one", formats.join(" or ")),
        },
        Remedy::KeepChunks => "-c none leaves the array without chunks".into(),
        Remedy::FillByType => {
            "--fill '/PATTERN:VALUE' sets it for matching arrays, '/PATTERN:keep' leaves it unchanged".into()
        }
        Remedy::ListFolder(folder) => {
            format!("`hyperslab ls {}` lists the stores there", line::quoted(&folder.to_string_lossy()))
        }
        Remedy::MakeFolder(folder) => {
            format!("`mkdir -p {}` makes the folder", line::quoted(&folder.to_string_lossy()))
        }
        Remedy::CheckDocument => "`hyperslab check` shows all errors in the document".into(),
        Remedy::DescribeWithValues => "`hyperslab describe --values` writes them".into(),
        Remedy::GiveKey => "--key-file FILE names the file with the key".into(),
        Remedy::ReadTextsAsBytes => {
            "--as json and --as csv show such bytes by their hexadecimal digits".into()
        }
        Remedy::ReadCells => {
            "`hyperslab show` of the group lists the cells, all or those that -s selects".into()
        }
        Remedy::PrintValues => format!("`{}` prints the values", line::without_plot(&[])),
        Remedy::PrintMembers => {
            format!("`{}` prints each in a column", line::without_plot(&["--as", "csv"]))
        }
        Remedy::Instead { given, write, effect } => match (line::instead(given, write), effect) {
            (Some(line), Some(effect)) => format!("`{line}` {effect}"),
            (Some(line), None) => format!("did you mean {write}? `{line}`"),
            (None, _) => remedy.to_string(),
        },
        Remedy::SelectPart { object, selection } => {
            format!("`{}` shows a part of the array", line::part(object, selection))
        }
        Remedy::Download(url) => download(url),
        Remedy::JoinAsSteps(name) => {
            format!("--new-dimension {} makes each file one step of a new dimension", line::quoted(name))
        }
        Remedy::JoinAlong(names) => {
            let options: Vec<String> =
                names.iter().map(|name| format!("--along {}", line::quoted(name))).collect();
            match options.as_slice() {
                [only] => format!("use {only}"),
                several => format!("choose one with {}", several.join(" or ")),
            }
        }
        Remedy::Compare { a, b } => format!("`{}` shows what differs", line::of(["diff", a, b])),
        Remedy::Tolerate(difference) => {
            format!("--atol {difference} treats them as equal and keeps the values of the first file")
        }
        Remedy::OtherFormat(format) => {
            format!("`{}` writes a format that supports them", line::with_format(line::typed(), format))
        }
        Remedy::UnpackStores => "--unpack joins the unpacked numbers".into(),
        Remedy::SortStores => "--sort joins them in the order of their coordinates".into(),
        other => other.to_string(),
    }
}

/// How to get the data at a URL.
fn download(url: &str) -> String {
    let quoted = line::quoted(url);
    match url.split_once("://") {
        Some(("http" | "https" | "ftp", _)) => {
            format!("`curl -LO {quoted}` copies a file here; then give the name of the file")
        }
        Some(("s3", _)) => {
            format!(
                "`aws s3 cp {quoted} .` copies a file here, with --recursive a folder; then give its name"
            )
        }
        Some(("gs", _)) => {
            format!("`gcloud storage cp {quoted} .` copies a file here, with -r a folder; then give its name")
        }
        Some(("file", path)) => format!("give the name of the file: {}", line::quoted(path)),
        _ => "copy the data to a file first, then give the name of the file".into(),
    }
}

/// The warning that some elements of an array do not come from its sources.
pub(crate) fn missing(store: &str, path: &str, missing: &MissingSources) -> String {
    format!("{store}:{path}: {missing}: elements there have {}", missing.instead)
}

/// The links that were not followed, with the reasons.
pub(crate) fn unfollowed(links: &UnfollowedLinks, store: &str, tell: &mut dyn FnMut(&str)) {
    for why in links.reasons.iter().take(MAX_SHOWN) {
        tell(&format!("link not followed: {}", error_in(why, store)));
    }
    if let Some(more) = links.count.checked_sub(MAX_SHOWN as u64).filter(|more| *more > 0) {
        tell(&format!("{store}: {more} more links not followed"));
    }
}

/// The maximum number of links that are named.
const MAX_SHOWN: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;
    use hyperslab::Limit;

    #[test]
    fn advice_names_options_with_paths_quoted_for_a_shell() {
        let advice = |path: &str| {
            let path = hyperslab::NodePath::new(path).unwrap();
            let better = vec![Better::ChunkBytes(4 << 20), Better::Filters("shuffle,deflate=4")];
            super::advice(&Advice { path, reason: "it is large".into(), better })
        };
        assert_eq!(advice("/x"), "it is large; repack with -c /x:4MiB -f /x:shuffle,deflate=4");
        assert_eq!(advice("/a b"), "it is large; repack with -c '/a b:4MiB' -f '/a b:shuffle,deflate=4'");
    }

    #[test]
    fn remedies_name_the_options_of_the_command_line() {
        let limit = Error::limit_exceeded(Limit::Allocation, "a text of 9 bytes").in_file("a.yaml");
        assert_eq!(error(&limit), "a.yaml: a text of 9 bytes (raise with --limit allocation=N)");
        let exists = Error::new(ErrorKind::AlreadyExists, "exists")
            .with_remedy(Remedy::Overwrite)
            .with_remedy(Remedy::Resume { done: 100, of: Some(2 << 20) });
        assert_eq!(
            error(&exists),
            "exists\nhelp: --overwrite replaces it\nhelp: --resume continues from 100 B of 2.0 MiB"
        );
    }
}
