//! `man [VERB]`: prints the manual in roff, generated from the same definition as the help, with examples.

use crate::args::Cli;
use crate::exit::Exit;
use crate::terminal::Out;
use clap::CommandFactory;
use hyperslab::{Error, Result};
use std::io::Write;

pub(crate) fn run(verb: Option<&str>, out: &mut Out<'_>) -> Result<Exit> {
    let mut command = Cli::command();
    command.build();
    let known: Vec<String> = command
        .get_subcommands()
        .filter(|verb| !verb.is_hide_set())
        .map(|verb| verb.get_name().to_owned())
        .collect();
    let (page, title) = match verb {
        None => (command, "hyperslab".to_owned()),
        Some(name) => {
            let Some(verb) = command.find_subcommand(name) else {
                return Err(Error::invalid(format!(
                    "unknown verb '{name}', expected one of {}",
                    known.join(", ")
                )));
            };
            (verb.clone(), format!("hyperslab-{name}"))
        }
    };
    // The manual has room for the options that the short help leaves out.
    let page = page.mut_args(|arg| arg.hide_short_help(false));
    let man = clap_mangen::Man::new(page)
        .title(title)
        .source(concat!("hyperslab ", env!("CARGO_PKG_VERSION")))
        .manual("hyperslab");
    man.render(out)?;
    sections(verb, &known, out)
}

/// The sections that are not part of the help.
fn sections(verb: Option<&str>, known: &[String], out: &mut Out<'_>) -> Result<Exit> {
    writeln!(out, ".SH EXAMPLES")?;
    for (_, line, what) in EXAMPLES.iter().filter(|(of, ..)| verb.is_none_or(|verb| *of == verb)) {
        writeln!(out, ".TP\n.B {}\n{}", roff(line), roff(what))?;
    }
    writeln!(out, ".SH EXIT STATUS")?;
    for (code, what) in EXITS {
        writeln!(out, ".TP\n.B {code}\n{}", roff(what))?;
    }
    writeln!(out, ".SH FILES")?;
    for (name, what) in FILES {
        writeln!(out, ".TP\n.B {}\n{}", roff(name), roff(what))?;
    }
    writeln!(out, ".SH ENVIRONMENT")?;
    for (name, what) in VARIABLES {
        writeln!(out, ".TP\n.B {name}\n{}", roff(what))?;
    }
    writeln!(out, ".SH SEE ALSO")?;
    let pages =
        known.iter().filter(|name| Some(name.as_str()) != verb).map(|name| format!("hyperslab-{name}"));
    let top = verb.map(|_| "hyperslab".to_owned());
    let pages: Vec<String> =
        top.into_iter().chain(pages).map(|name| format!(".BR {} (1)", roff(&name))).collect();
    writeln!(out, "{}", pages.join(" ,\n"))?;
    Ok(Exit::Yes)
}

/// A text in roff: lines cannot begin a request, and hyphens can be copied.
fn roff(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-");
    match text.starts_with(['.', '\'']) {
        true => format!("\\&{text}"),
        false => text,
    }
}

/// Command lines for each verb, and what they do.
const EXAMPLES: &[(&str, &str, &str)] = &[
    ("describe", "hyperslab ocean.nc", "Describes everything in a file."),
    (
        "describe",
        "hyperslab describe --values=20 ocean.nc:/waves",
        "Describes a group, with the values of small arrays.",
    ),
    ("ls", "hyperslab ls -rl ocean.nc", "Lists a file as a tree, with chunks and filters."),
    (
        "ls",
        "hyperslab ls --attrs 'ocean.nc:/**/t*'",
        "Lists the objects that a pattern matches, with their attributes.",
    ),
    ("show", "hyperslab show ocean.nc:/salinity -s 'time=0,lat=58..'", "Prints a part of an array."),
    ("show", "hyperslab show ocean.nc:/temperature@units", "Prints an attribute."),
    (
        "show",
        "hyperslab show ocean.nc:/temperature -s time=0,depth=0 --plot",
        "Draws a heat map on the terminal.",
    ),
    ("show", "hyperslab show ocean.nc:/waves/height --plot=height.png", "Draws a line as a picture."),
    (
        "stat",
        "hyperslab stat --values ocean.nc",
        "Reports how arrays are stored, and their minimum and maximum.",
    ),
    ("digest", "hyperslab digest ocean.nc", "Prints one hash for each array and attribute."),
    ("diff", "hyperslab diff --rtol 1e-6 ocean.nc ocean.zarr", "Compares two stores of any formats."),
    ("check", "hyperslab check ocean.nc", "Checks that a file follows the rules of its format."),
    (
        "check",
        "hyperslab check ocean.nc --against contract.yaml",
        "Checks that a file has what a document states.",
    ),
    ("files", "hyperslab files virtual.h5", "Lists the files that have to be moved together."),
    (
        "history",
        "hyperslab history survey.tdb",
        "Lists what was written to the arrays of a group, with times, cells and bytes.",
    ),
    (
        "convert",
        "hyperslab convert ocean.nc ocean.zarr -c 4MiB -f zstd=3",
        "Converts a file to Zarr, with other chunks and filters.",
    ),
    ("convert", "hyperslab convert -n ocean.nc ocean.zarr", "Reports what would change, and writes nothing."),
    (
        "repack",
        "hyperslab repack old.h5 new.h5 -c 1MiB -f shuffle,deflate=4",
        "Writes a file with other chunks.",
    ),
    (
        "repack",
        "hyperslab repack old.nc cloud.nc -O hdf5.paged",
        "Puts all metadata at the front of the file, for reading from cloud storage.",
    ),
    (
        "concat",
        "hyperslab concat 'day*.nc' year.zarr --along time",
        "Joins files along a dimension, in the order of their names.",
    ),
    ("create", "hyperslab create buoys.yaml buoys.zarr", "Creates a store from a document."),
    (
        "edit",
        "hyperslab edit survey.tdb --set /@title=Survey --remove-cells '/sightings:count<2' -n",
        "Reports what would change in a TileDB store, and how many cells would be removed.",
    ),
    (
        "edit",
        "hyperslab edit survey.tdb --append more.yaml",
        "Adds the cells of a document to sparse arrays.",
    ),
    ("schema", "hyperslab schema -o ndl.schema.json", "Writes the JSON Schema of documents to a file."),
    (
        "completions",
        "hyperslab completions bash > ~/.local/share/bash-completion/completions/hyperslab",
        "Completes verbs, options, and paths inside of files in bash.",
    ),
    ("man", "hyperslab man ls | man -l -", "Shows a page of the manual."),
];

const EXITS: &[(&str, &str)] = &[
    ("0", "Success, or the answer is yes."),
    (
        "1",
        "The answer is no (findings, differences, a loss that is not allowed), or a part could not be read.",
    ),
    ("2", "An error without an answer."),
    ("130", "Interrupted by Ctrl-C."),
];

const FILES: &[(&str, &str)] = &[(
    ".NAME.hyperslab-partial",
    "The folder beside a target in which it is written until it is complete; --resume continues from there.",
)];

const VARIABLES: &[(&str, &str)] = &[
    ("HYPERSLAB_THREADS", "The number of threads, as --threads."),
    ("HYPERSLAB_MEMORY", "The memory for array elements in transit, as --memory."),
    ("COLUMNS", "The width of the terminal."),
    ("NO_COLOR", "If it is not empty, nothing is coloured."),
    ("CLICOLOR_FORCE", "If it is not empty, output is coloured even when it does not go to a terminal."),
    ("COLORTERM", "With the value truecolor, drawings use 24-bit colours, otherwise 256 colours."),
    ("TERM", "A terminal with the value dumb gets no colour."),
];
