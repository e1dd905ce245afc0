//! The tasks of the project.

mod bench;
mod book;
mod cf_tables;
mod corpus;
mod debian;
mod deny;
mod direction;
mod dist;
mod fuzz;
mod gate;
mod invariants;
mod missing;
mod oracles;
mod programs;
mod python;
mod run;
mod soak;
mod status;
mod tally;
mod test;
mod tools;
mod venv;
mod workspace;

use std::process::ExitCode;

const HELP: &str = "\
cargo xtask test [--only STAGE]…   every check, as CI runs it
cargo xtask soak [TRIAL]…          long trials of bad input and bad luck, all conversions
cargo xtask bench [TABLE]…         speed and memory, side by side with other tools
    convert, read, zarr [--rows NAME,…] [--sides NAME,…] [--runs N] [--small]
cargo xtask status                 writes docs/status/hdf5.md and tiledb.md: what of the specifications is read and written
cargo xtask cf-tables FILE…        makes the tables of the CF conventions from the XML files that cfconventions.org publishes
cargo xtask docs                   makes a book of docs/ in target/book
cargo xtask dist                   makes a release in target/dist, and installs and tries it
cargo xtask wheel                  makes a wheel and a source package of the Python package in target/wheels, and tries them
cargo xtask oracles                installs what the tests need: other readers, tools of cargo
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match words.split_first() {
        Some((&"test", rest)) => test::main(rest),
        Some((&"soak", rest)) => soak::main(rest),
        Some((&"bench", rest)) => bench::main(rest),
        Some((&"status", [])) => status::main(),
        Some((&"cf-tables", files)) => cf_tables::main(files),
        Some((&"docs", [])) => book::main(),
        Some((&"dist", [])) => dist::main(),
        Some((&"wheel", [])) => python::wheel::main(),
        Some((&"oracles", [])) => oracles::main(),
        Some((&("help" | "--help" | "-h"), _)) => {
            print!("{HELP}");
            Ok(())
        }
        _ => Err(format!("unknown task\n{HELP}")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}
