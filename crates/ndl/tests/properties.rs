//! Properties of all content, tested with random files.

#![allow(clippy::indexing_slicing, reason = "tests may panic")]

pub(crate) mod generator;
mod trials;

use generator::{Document, Random, text};
use hyperslab_model::{Content, Datatype, Elements, Float, Ndarray, Node, Values, compare};
use hyperslab_ndl::{Format, ParseOptions, Parsed, Severity, parse};
use std::time::{Duration, Instant};
use trials::try_all;

/// The default number of random files.
const TRIALS: u64 = 1000;

/// Reads a text that must have no errors or warnings.
fn read(text: &str) -> Result<Parsed, String> {
    let parsed = parse(text.as_bytes(), &ParseOptions::default());
    match parsed.diagnostics.iter().find(|one| one.severity != Severity::Note) {
        Some(found) => Err(format!("{found}\n{}", around(text, found.line))),
        None => Ok(parsed),
    }
}

/// The lines around a line, for messages.
fn around(text: &str, line: usize) -> String {
    let lines: Vec<&str> = text.lines().skip(line.saturating_sub(15)).take(20).collect();
    lines.join("\n")
}

fn same(content: &Content, text: &str, parsed: &Parsed) -> Result<(), String> {
    match compare(content, &parsed.content).first() {
        Some(difference) => {
            let name = difference.attribute.as_deref().unwrap_or(difference.path.name());
            let line = text.lines().position(|line| line.contains(name)).unwrap_or(0) + 1;
            Err(format!("{difference}\n{}", around(text, line + 10)))
        }
        None => Ok(()),
    }
}

fn returns(seed: u64, format: Format) -> Result<(), String> {
    let document = Document::new(seed);
    let content = document.content();
    let first = document.text(format);
    let parsed = read(&first)?;
    same(&content, &first, &parsed)?;
    let nodes = parsed.order.iter().map(|path| (path, &parsed.content.nodes[path]));
    let second = text(format, document.options, nodes);
    if first != second {
        let pairs = first.lines().zip(second.lines()).enumerate();
        let (line, _) =
            pairs.into_iter().find(|(_, (a, b))| a != b).unwrap_or((first.lines().count(), ("", "")));
        return Err(format!("{}\n-- became --\n{}", around(&first, line + 1), around(&second, line + 1)));
    }
    Ok(())
}

#[test]
fn content_round_trips_through_yaml() {
    try_all(TRIALS, |seed| returns(seed, Format::Yaml));
}

#[test]
fn content_round_trips_through_json() {
    try_all(TRIALS, |seed| returns(seed, Format::Json));
}

#[test]
fn every_16_bit_number_round_trips() {
    for float in [Float::Half, Float::BFloat] {
        let datatype = Datatype::Float(float);
        let rows: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_ne_bytes).collect();
        let values = Values { rows: rows.into(), ..Values::default() };
        let elements = || Elements::new(&datatype, &values);
        let shown: Vec<String> = elements().map(hyperslab_ndl::plain).collect();
        let text =
            format!("ndarrays: {{a: {{shape: [65536], type: {datatype}, value: [{}]}}}}", shown.join(", "));
        let parsed = read(&text).unwrap();
        let Some(Node::Ndarray(Ndarray { value: Some(read), .. })) = parsed.content.nodes.values().nth(1)
        else {
            panic!("an array of {datatype}");
        };
        for ((before, text), after) in elements().zip(shown).zip(Elements::new(&datatype, read)) {
            assert!(before.row() == after.row() || text == ".nan", "{datatype} {text}");
        }
    }
}

#[test]
fn edited_texts_never_panic_and_stay_within_limits() {
    try_all(TRIALS, |seed| {
        let mut random = Random::new(seed ^ 0xed17);
        let format = if random.one_in(4) { Format::Json } else { Format::Yaml };
        let text = edited(&Document::new(seed).text(format), &mut random);
        let begin = Instant::now();
        let options =
            ParseOptions { strict: random.one_in(4), lenient: random.one_in(4), pure: random.one_in(4) };
        let parsed = parse(text.as_bytes(), &options);
        if begin.elapsed() > Duration::from_secs(10) {
            return Err(format!("read for {:?}:\n{text}", begin.elapsed()));
        }
        let lines = text.split('\n').count();
        for one in &parsed.diagnostics {
            if one.line < 1 || one.line > lines + 1 || one.column < 1 || one.end_column <= one.column {
                return Err(format!("a place outside the text: {one}\n{text}"));
            }
        }
        match parsed.diagnostics.is_sorted_by_key(|one| (one.line, one.column)) {
            true => Ok(()),
            false => Err(format!("not in order:\n{text}")),
        }
    });
}

/// The text with one typical typo.
fn edited(text: &str, random: &mut Random) -> String {
    const SCALARS: &[&str] = &[
        "", "null", "[]", "{}", "-1", "1e999", "'", "\"", "[", "{", "*a", "&a", "!!int x", "/", "a: b", "#",
        "\t", "|",
    ];
    const CHARACTERS: &[char] = &[
        ' ', '\n', '\t', ':', '-', '[', ']', '{', '}', ',', '#', '&', '*', '!', '|', '>', '\'', '"', '%',
        '0', 'x', 'é', '\0',
    ];
    let mut lines: Vec<String> = text.split('\n').map(Into::into).collect();
    let (at, other) = (random.index(lines.len()), random.index(lines.len()));
    if random.one_in(2) {
        let mut characters: Vec<char> = lines[at].chars().collect();
        let place = random.index(characters.len() + 1);
        match random.below(5) {
            0 if place < characters.len() => drop(characters.remove(place)),
            1 if place < characters.len() => characters.insert(place, characters[place]),
            2 if place + 1 < characters.len() => characters.swap(place, place + 1),
            3 => {
                // The text after a colon or a dash.
                let from = characters.iter().position(|c| matches!(c, ':' | '-')).map_or(0, |from| from + 1);
                characters.truncate(from);
                characters.push(' ');
                characters.extend(random.pick(SCALARS).chars());
            }
            _ => characters.insert(place, *random.pick(CHARACTERS)),
        }
        lines[at] = characters.into_iter().collect();
    } else {
        match random.below(6) {
            0 => drop(lines.remove(at)),
            1 => lines.insert(at, lines[at].clone()),
            2 => lines.swap(at, other),
            3 => lines.insert(at, lines[other].clone()),
            4 => lines[at].insert_str(0, &" ".repeat(1 + random.index(3))),
            _ => {
                let less = lines[at].trim_start_matches(' ').len();
                let less = random.index(lines[at].len() - less + 1);
                lines[at].drain(..less);
            }
        }
    }
    lines.join("\n")
}
