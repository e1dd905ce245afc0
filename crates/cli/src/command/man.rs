//! `man [VERB]`: prints the manual in roff, generated from the same definition as the help.

use crate::args::Cli;
use crate::exit::Exit;
use crate::terminal::Out;
use clap::CommandFactory;
use hyperslab::{Error, Result};

pub(crate) fn run(verb: Option<&str>, out: &mut Out<'_>) -> Result<Exit> {
    let mut command = Cli::command();
    command.build();
    let (page, title) = match verb {
        None => (command, "hyperslab".to_owned()),
        Some(name) => {
            let known: Vec<_> = command.get_subcommands().map(|verb| verb.get_name().to_owned()).collect();
            let Some(verb) = command.find_subcommand(name) else {
                return Err(Error::invalid(format!(
                    "unknown verb '{name}', expected one of {}",
                    known.join(", ")
                )));
            };
            (verb.clone(), format!("hyperslab-{name}"))
        }
    };
    clap_mangen::Man::new(page).title(title).render(out)?;
    Ok(Exit::Yes)
}
