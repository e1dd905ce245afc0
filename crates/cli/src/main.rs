//! The `hyperslab` command: `args` parses the command line, `command` has the verbs, `output` and `exit` report
//! results.

mod args;
mod command;
mod exit;
mod interrupt;
mod output;
mod progress;
mod words;

use args::{Cli, Verb};
use clap::{CommandFactory, Parser};
use exit::Exit;
use hyperslab::ErrorKind;
use output::Messages;
use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    if words.len() <= 1 {
        // Without arguments, help is a message and not an answer, so it goes to standard error.
        eprint!("{}", Cli::command().render_help());
        return Exit::Trouble.into();
    }
    let words = match args::with_verb(words) {
        Ok(words) => words,
        Err(error) => {
            Messages::default().error(&error);
            return Exit::Trouble.into();
        }
    };
    let cli = match Cli::try_parse_from(words) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are answers, wrong usage is an error. Clap prints each to the right stream.
            let _ = error.print();
            return if error.use_stderr() { Exit::Trouble.into() } else { Exit::Yes.into() };
        }
    };
    interrupt::listen();
    run(&cli).into()
}

fn run(cli: &Cli) -> Exit {
    let messages = Messages::new(&cli.common);
    let done = match &cli.verb {
        Verb::Describe(args) => output::to(args.to.output.as_deref(), |out| {
            command::describe::run(args, &cli.common, &messages, out)
        }),
        Verb::Ls(args) => {
            output::to(args.to.output.as_deref(), |out| command::ls::run(args, &cli.common, &messages, out))
        }
        Verb::Show(args) => {
            output::to(args.to.output.as_deref(), |out| command::show::run(args, &cli.common, &messages, out))
        }
        Verb::Stat(args) => {
            output::to(args.to.output.as_deref(), |out| command::stat::run(args, &cli.common, &messages, out))
        }
        Verb::Digest(args) => output::to(args.to.output.as_deref(), |out| {
            command::digest::run(args, &cli.common, &messages, out)
        }),
        Verb::Diff(args) => {
            output::to(args.to.output.as_deref(), |out| command::diff::run(args, &cli.common, &messages, out))
        }
        Verb::Check(args) => output::to(args.to.output.as_deref(), |out| {
            command::check::run(args, &cli.common, &messages, out)
        }),
        Verb::Files(args) => output::to(args.to.output.as_deref(), |out| {
            command::files::run(args, &cli.common, &messages, out)
        }),
        // The result is the store: it is written even if nobody reads the report.
        Verb::Convert(args) => {
            output::to_anybody(None, |out| command::convert::run(args, &cli.common, &messages, out))
        }
        Verb::Create(args) => output::to_anybody(args.to.output.as_deref(), |out| {
            command::create::run(args, &cli.common, &messages, out)
        }),
        Verb::Schema { to } => output::to(to.output.as_deref(), |out| {
            out.write_all(hyperslab::ndl::SCHEMA.as_bytes())?;
            Ok(Exit::Yes)
        }),
        Verb::Completions { shell } => output::to(None, |out| {
            clap_complete::generate(*shell, &mut Cli::command(), "hyperslab", out);
            Ok(Exit::Yes)
        }),
        Verb::Man { verb } => output::to(None, |out| command::man::run(verb.as_deref(), out)),
    };
    match done {
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

fn is_broken_pipe(error: &hyperslab::Error) -> bool {
    std::error::Error::source(error)
        .and_then(|source| source.downcast_ref::<io::Error>())
        .is_some_and(|source| source.kind() == io::ErrorKind::BrokenPipe)
}
