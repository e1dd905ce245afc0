//! The command line as typed, and corrected lines that can be copied into a shell.

use hyperslab::location::Locator;
use hyperslab::select::Select;
use std::path::Path;

/// The words typed after the name of the command.
pub(crate) fn typed() -> Vec<String> {
    std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect()
}

/// A complete command line with these words.
pub(crate) fn of(words: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let mut line = "hyperslab".to_owned();
    for word in words {
        line.push(' ');
        line.push_str(&quoted(word.as_ref()));
    }
    line
}

/// A word quoted for a shell, if necessary.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/:,=._-+@%".contains(&byte);
    match !word.is_empty() && word.bytes().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// The typed line with `given` replaced by `write`: a location, the path of one, or a selection.
pub(crate) fn instead(given: &str, write: &str) -> Option<String> {
    replaced(typed(), given, write).map(of)
}

fn replaced(mut words: Vec<String>, given: &str, write: &str) -> Option<Vec<String>> {
    let mut is_selection = false;
    let mut found = false;
    for word in &mut words {
        let (option, value) = option_and_value(word, is_selection);
        is_selection = matches!(word.as_str(), "-s" | "--select");
        let better = match option {
            Some(option) if is_same_selection(value, given) => Some(format!("{option}{write}")),
            Some(_) => None,
            None => location_instead(word, given, write),
        };
        if let Some(better) = better {
            *word = better;
            found = true;
        }
    }
    found.then_some(words)
}

/// The value of `--select` in a word, and before it the option if it is in the same word.
fn option_and_value(word: &str, is_selection: bool) -> (Option<&str>, &str) {
    if is_selection {
        return (Some(""), word);
    }
    let attached = ["--select=", "-s="].iter().find(|option| word.starts_with(**option)).map(|o| o.len());
    let attached = attached.or_else(|| (word.len() > 2 && word.starts_with("-s")).then_some(2));
    match attached.and_then(|at| word.split_at_checked(at)) {
        Some((option, value)) => (Some(option), value),
        None => (None, word),
    }
}

fn is_same_selection(typed: &str, given: &str) -> bool {
    typed == given || typed.parse::<Select>().is_ok_and(|select| select.to_string() == given)
}

fn location_instead(word: &str, given: &str, write: &str) -> Option<String> {
    if word == given {
        return Some(write.to_owned());
    }
    let Locator { store, path } = Locator::parse(word);
    if store == given && !write.contains(":/") {
        return path.map(|path| format!("{write}:{path}"));
    }
    let rest = path.as_deref()?.strip_prefix(given)?;
    (rest.is_empty() || rest.starts_with('@')).then(|| format!("{store}:{write}{rest}"))
}

/// The typed line of a verb that writes, with another target format. `repack` keeps the format of its source, so it is
/// replaced by `convert`.
pub(crate) fn with_format(words: Vec<String>, format: &str) -> String {
    let mut is_value = false;
    let is_kept = |word: &String| {
        let is_dropped = is_value || word == "--format" || word.starts_with("--format=");
        is_value = word == "--format";
        !is_dropped
    };
    let mut words: Vec<String> = words.into_iter().filter(is_kept).collect();
    if let Some(verb) = words.iter_mut().find(|word| *word == "repack") {
        "convert".clone_into(verb);
    }
    of(words.iter().map(String::as_str).chain(["--format", format]))
}

/// The line that shows a part of an array. The location in the typed line begins with the path of this array.
pub(crate) fn part(object: &str, selection: &str) -> String {
    let of_typed = |word: String| {
        let Locator { store, path } = Locator::parse(&word);
        path.filter(|path| path.starts_with(object)).map(|_| format!("{store}:{object}"))
    };
    let location = match Locator::parse(object).path {
        Some(_) => None,
        None => typed().into_iter().find_map(of_typed),
    };
    let location = location.unwrap_or_else(|| object.to_owned());
    match selection.starts_with('-') {
        true => of(["show", &location, &format!("--select={selection}")]),
        false => of(["show", &location, "-s", selection]),
    }
}

/// The typed line of `show` without its plot option, and with these words at the end.
pub(crate) fn without_plot(more: &[&str]) -> String {
    of(undrawn(typed()).iter().map(String::as_str).chain(more.iter().copied()))
}

fn undrawn(words: Vec<String>) -> Vec<String> {
    let mut is_value = false;
    let is_kept = |word: &String| {
        let is_option = word == "--plot" || word == "--axes";
        let is_dropped = is_value || is_option || word.starts_with("--plot=") || word.starts_with("--axes=");
        is_value = word == "--axes";
        !is_dropped
    };
    words.into_iter().filter(is_kept).collect()
}

/// The typed line with the separate word `name`, the name of a variable, as a part of the locations that are read: of
/// all stores for verbs that compare or join stores, otherwise of the last store before it, or of the first one after
/// it. `meant` gives the location.
pub(crate) fn joined(
    words: &[String],
    name: &str,
    meant: &dyn Fn(&str) -> Option<String>,
) -> Option<Vec<String>> {
    let at = words.iter().position(|word| word == name)?;
    let verb = words.first().map_or("", String::as_str);
    let is_place =
        |index: &usize| words.get(*index).is_some_and(|word| *index != at && !word.starts_with('-'));
    let places: Vec<usize> = (1..words.len()).filter(is_place).collect();
    // The target may already exist.
    let target = match places.as_slice() {
        [_, .., last] if ["convert", "repack", "concat"].contains(&verb) => Some(*last),
        _ => None,
    };
    let is_store = |index: &usize| {
        is_place(index)
            && Some(*index) != target
            && words.get(*index).is_some_and(|word| Path::new(word).exists())
    };
    let stores: Vec<usize> = match verb {
        "diff" | "concat" => (0..words.len()).filter(is_store).collect(),
        _ => (0..at)
            .rev()
            .find(is_store)
            .or_else(|| (at + 1..words.len()).find(is_store))
            .into_iter()
            .collect(),
    };
    if stores.is_empty() {
        return None;
    }
    let read = words.iter().enumerate().filter(|(index, _)| *index != at);
    read.map(|(index, word)| match stores.contains(&index) {
        true => meant(&format!("{word}:{name}")),
        false => Some(word.clone()),
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn better(line: &str, given: &str, write: &str) -> Option<String> {
        replaced(line.split(' ').map(str::to_owned).collect(), given, write).map(of)
    }

    #[test]
    fn lines_are_the_typed_ones_with_the_better_text_and_quoted() {
        assert_eq!(quoted("/it's"), "'/it'\\''s'");
        assert_eq!(quoted(""), "''");
        for (line, given, write, expected) in [
            ("show a.nc:/tmp", "/tmp", "/temp", "hyperslab show a.nc:/temp"),
            ("show b.nc:/tmp@u", "b.nc", "a.nc", "hyperslab show a.nc:/tmp@u"),
            ("show a.nc:/tmp@u", "/tmp", "/temp", "hyperslab show a.nc:/temp@u"),
            ("a.nc:tmp --json", "a.nc:tmp", "a.nc:/tmp", "hyperslab a.nc:/tmp --json"),
            ("show a.nc:/x -s lat=58", "lat=58", "lat~=58", "hyperslab show a.nc:/x -s 'lat~=58'"),
            ("show a.nc:/x -slat=58", "lat=58", "lat==58", "hyperslab show a.nc:/x -slat==58"),
            ("show a.nc:/x --select=lat=+58", "lat=58", "lat==58", "hyperslab show a.nc:/x --select=lat==58"),
        ] {
            assert_eq!(better(line, given, write).as_deref(), Some(expected), "{line}");
        }
        assert_eq!(better("show a.nc:/tmp2", "/tmp", "/temp"), None);
    }

    #[test]
    fn a_line_with_another_format_names_it_once_and_converts() {
        for (line, expected) in [
            ("repack a.nc b.nc -f deflate=4", "hyperslab convert a.nc b.nc -f deflate=4 --format nc4"),
            ("convert --format nc3 repack b.nc", "hyperslab convert convert b.nc --format nc4"),
        ] {
            assert_eq!(with_format(line.split(' ').map(str::to_owned).collect(), "nc4"), expected);
        }
    }

    #[test]
    fn a_line_that_prints_has_all_but_the_drawing() {
        let line = "show --plot=a.png a.nc:/x -s time=0 --axes lat,lon --axes=lat --plot";
        let words = undrawn(line.split(' ').map(str::to_owned).collect());
        assert_eq!(words.join(" "), "show a.nc:/x -s time=0");
    }
}
