//! The table of filters.

use super::Proof;
use super::sources::Sources;

/// The text above the rows.
pub(super) const HEAD: &str = "
## Filters

The specification leaves what filters do to libraries: those of libhdf5 and those registered with The HDF Group. Reading refuses
any other by its number. *Copied* are chunks that have passed a filter which is not applied here: they are written as they are stored, with
the number and the parameters of the filter.

| number | name | read | proven by | written | proven by |
|---|---|---|---|---|---|
";

/// A row of the table of filters.
struct Filter {
    /// The identification value in the source: a number or the name of a constant.
    word: String,
    registered: String,
    name: String,
    reading: &'static str,
}

/// The rows of the table.
pub(super) fn rows(sources: &Sources, faults: &mut Vec<String>) -> Result<Vec<String>, String> {
    let encoders = sources.text("crates/hdf5/src/filter.rs")?;
    let written = sources.text("crates/hdf5/src/write/dataset/tests.rs")?;
    for test in [ENCODED, COPIED, CLIENT_DATA] {
        faults.extend(sources.proof(&Proof::Test(test)).err());
    }
    let mut rows = Vec::new();
    for Filter { word, registered: title, name, reading } in registered(sources)? {
        let (read, proof, is_written, written_by) = match (reading, sources.codec(&name)) {
            ("read", Some(proof)) => {
                let is_tested = written.contains(&format!("(filters::{word}, "));
                if !encoders.contains(&format!("=> ({word}, ")) || !is_tested {
                    faults.push(format!("filter {name}: no client data, or no chunks in the test {ENCODED}"));
                }
                let mut by = format!("test `{ENCODED}`");
                if sources.is_tried(&name) {
                    by = format!("{by}, trial `{name}`");
                }
                ("yes", proof, "yes", by)
            }
            ("read", None) => {
                faults.push(format!("filter {name}: no codec of that name has tests"));
                continue;
            }
            ("nothing", _) => {
                ("as it is: it rounds when it writes", String::new(), "copied", format!("test `{COPIED}`"))
            }
            _ => ("refused by name", String::new(), "copied", format!("tests `{COPIED}`, `{CLIENT_DATA}`")),
        };
        let id = number(encoders, &word);
        rows.push(format!("| {id} | {title} | {read} | {proof} | {is_written} | {written_by} |"));
    }
    Ok(rows)
}

/// The tests that prove writing, by name.
const ENCODED: &str = "chunks_pass_every_filter_that_has_a_codec";
const COPIED: &str = "chunks_of_filters_without_a_codec_are_stored_as_they_come";
const CLIENT_DATA: &str = "filters_of_plugins_keep_their_client_data";

/// The registered filters, as listed in the source.
fn registered(sources: &Sources) -> Result<Vec<Filter>, String> {
    let list = sources.text("crates/hdf5/src/filter/registered.rs")?;
    let mut filters = Vec::new();
    let mut lines =
        list.lines().map(str::trim).skip_while(|line| !line.starts_with("pub(super) const REGISTERED"));
    while let Some(line) = lines.next().filter(|line| *line != "];") {
        let call = ["read", "unknown"]
            .into_iter()
            .find_map(|reading| Some((reading, line.strip_prefix(reading)?.strip_prefix('(')?)));
        if let Some((reading, arguments)) = call {
            let mut words =
                arguments.split(',').map(|word| word.trim().trim_end_matches(')').trim_matches('"'));
            let mut word = || words.next().unwrap_or_default().to_owned();
            filters.push(Filter { word: word(), registered: word(), name: word(), reading });
        } else if let Some(fields) = line.strip_prefix("Registered { ") {
            let mut values =
                fields.split(", ").map(|field| field.split_once(": ").map_or("", |(_, value)| value));
            let mut value = || values.next().unwrap_or_default().trim_matches('"').to_owned();
            filters.push(Filter { word: value(), registered: value(), name: value(), reading: "nothing" });
        } else if line == "Registered {" {
            let mut field = |name: &str| {
                let line = lines.next().unwrap_or_default();
                line.trim_start_matches(name).trim_end_matches(',').trim_matches('"').to_owned()
            };
            let (word, registered, name) = (field("id: "), field("registered_name: \""), field("name: \""));
            filters.push(Filter { word, registered, name, reading: "nothing" });
        }
    }
    match filters.len() {
        0..10 => Err("crates/hdf5/src/filter/registered.rs lists its filters in another way".to_owned()),
        _ => Ok(filters),
    }
}

/// The identification value, which may be a constant in the source.
fn number<'a>(source: &'a str, word: &'a str) -> &'a str {
    let start = format!("pub const {word}: u16 = ");
    let line = source.lines().find_map(|line| line.strip_prefix(&start));
    line.unwrap_or(word).trim_end_matches(';')
}
