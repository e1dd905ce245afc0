//! The `hyperslab` command: `args` parses the command line, `command` contains the verbs, `output` and `exit` report
//! results.

mod args;
mod command;
mod dataspace;
mod exit;
mod interrupt;
mod line;
mod misuse;
mod output;
mod pager;
mod progress;
mod several;
mod terminal;
mod tried;
mod verb;
mod words;

use args::{Cli, Findings, Verb};
use clap::{CommandFactory, Parser};
use exit::Exit;
use hyperslab::ErrorKind;
use output::{Destination, Messages, Work};
use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    if words.len() <= 1 {
        // Without arguments, the help is a message and not the requested output, so it goes to standard error.
        eprint!("{}", Cli::command().render_help());
        return Exit::Trouble.into();
    }
    // Not a verb for users: shell scripts call it.
    if let [_, verb, dashes, word] = words.as_slice()
        && verb == command::completions::CANDIDATES
        && dashes == "--"
    {
        command::completions::print_candidates(&word.to_string_lossy());
        return Exit::Yes.into();
    }
    let words = match verb::in_front(words) {
        Ok(words) => words,
        Err(error) => {
            Messages::early().error(&error);
            return Exit::Trouble.into();
        }
    };
    let mut cli = match Cli::try_parse_from(&words) {
        Ok(cli) => cli,
        // Help and version are requested output, wrong usage is an error. Clap prints each to the right stream.
        Err(error) if !error.use_stderr() => {
            let _ = error.print();
            return Exit::Yes.into();
        }
        Err(error) => {
            Messages::early().error(&misuse::error(&error, &words));
            return Exit::Trouble.into();
        }
    };
    interrupt::listen();
    if let Err(error) = several::expand(&mut cli.verb) {
        Messages::new(&cli.common).error(&error);
        return Exit::Trouble.into();
    }
    dataspace::settle(&mut cli.verb, &mut cli.common);
    run(&cli).into()
}

fn run(cli: &Cli) -> Exit {
    let (common, messages) = (&cli.common, &Messages::new(&cli.common));
    let to = |destination: Destination<'_>, locations: &[&str], work: Work<'_>| {
        output::to(destination, locations, common, messages, work)
    };
    let done = match &cli.verb {
        Verb::Describe(args) => to(args.to.destination(), &words(&args.locations), &mut |out| {
            command::describe::run(args, common, messages, out)
        }),
        Verb::Ls(args) => to(args.to.destination(), &words(&args.locations), &mut |out| {
            command::ls::run(args, common, messages, out)
        }),
        Verb::Show(args) => to(args.destination(), &words(&args.locations), &mut |out| {
            command::show::run(args, common, messages, out)
        }),
        Verb::Stat(args) => to(args.to.destination(), &words(&args.locations), &mut |out| {
            command::stat::run(args, common, messages, out)
        }),
        Verb::Digest(args) => to(args.to.destination(), &words(&args.locations), &mut |out| {
            command::digest::run(args, common, messages, out)
        }),
        Verb::Diff(args) => to(args.to.destination(), &[&args.a, &args.b], &mut |out| {
            command::diff::run(args, common, messages, out)
        }),
        Verb::Check(args) => {
            let mut locations = words(&args.locations);
            locations.extend(args.against.as_deref());
            let logs_errors = args.form == Findings::Sarif && !args.json;
            let destination = Destination { logs_errors, ..args.to.destination() };
            to(destination, &locations, &mut |out| command::check::run(args, common, messages, out))
        }
        Verb::Files(args) => to(args.to.destination(), &words(&args.locations), &mut |out| {
            command::files::run(args, common, messages, out)
        }),
        Verb::History(args) => to(args.to.destination(), &words(&args.locations), &mut |out| {
            command::history::run(args, common, messages, out)
        }),
        // The result is the store: it is written even if nobody reads the report.
        Verb::Convert(args) => {
            output::to_anybody(Destination::default(), &[], common, messages, &mut |out| {
                command::convert::run(args, common, messages, out)
            })
        }
        Verb::Repack(args) => output::to_anybody(Destination::default(), &[], common, messages, &mut |out| {
            command::repack::run(args, common, messages, out)
        }),
        Verb::Concat(args) => output::to_anybody(Destination::default(), &[], common, messages, &mut |out| {
            command::concat::run(args, common, messages, out)
        }),
        Verb::Create(args) => {
            output::to_anybody(args.destination(), &[&args.document], common, messages, &mut |out| {
                command::create::run(args, common, messages, out)
            })
        }
        Verb::Edit(args) => output::to_anybody(Destination::default(), &[], common, messages, &mut |out| {
            command::edit::run(args, common, messages, out)
        }),
        Verb::Schema { to: answer } => to(answer.destination(), &[], &mut |out| {
            out.write_all(hyperslab::ndl::SCHEMA.as_bytes())?;
            Ok(Exit::Yes)
        }),
        Verb::Completions { shell } => {
            to(Destination::default(), &[], &mut |out| command::completions::run(*shell, out))
        }
        Verb::Man { verb } => {
            to(Destination::default(), &[], &mut |out| command::man::run(verb.as_deref(), out))
        }
    };
    match done {
        // If something could not be read, the exit status is not `Yes`, even if no object reports the failure.
        Ok(Exit::Yes) if let Some(failure) = cli.common.failures().first() => {
            messages.error(&failure);
            Exit::No
        }
        Ok(exit) => exit,
        Err(error) if error.kind() == ErrorKind::Cancelled => {
            messages.interrupted(&error);
            Exit::Interrupted
        }
        // The reader of our output has closed it: that is not an error.
        Err(error) if is_broken_pipe(&error) => Exit::Yes,
        Err(error) => {
            let _ = io::stdout().flush();
            messages.error(&error);
            Exit::Trouble
        }
    }
}

fn words(locations: &[String]) -> Vec<&str> {
    locations.iter().map(String::as_str).collect()
}

fn is_broken_pipe(error: &hyperslab::Error) -> bool {
    std::error::Error::source(error)
        .and_then(|source| source.downcast_ref::<io::Error>())
        .is_some_and(|source| source.kind() == io::ErrorKind::BrokenPipe)
}
