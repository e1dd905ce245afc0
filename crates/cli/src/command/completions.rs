//! `completions SHELL`: prints a script, which also completes paths inside files. `complete-location -- WORD` provides
//! its candidates.
//!
//! The dynamic engine of clap_complete is not used: bash splits words at colons, and the engine would treat
//! `ocean.nc:/x` as three words.

use crate::args::Cli;
use crate::exit::Exit;
use crate::terminal::Out;
use clap::CommandFactory;
use clap_complete::Shell;
use hyperslab::location::Locator;
use hyperslab::{Item, NodePath, OpenOptions, Result, Source};
use std::io::{self, Write};
use std::path::Path;

pub(crate) fn run(shell: Shell, out: &mut Out<'_>) -> Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "hyperslab", &mut script);
    let script = String::from_utf8_lossy(&script);
    let script = match shell {
        Shell::Bash => format!("{script}\n{}", include_str!("completions/locations.bash")),
        Shell::Fish => format!("{script}\n{}", include_str!("completions/locations.fish")),
        Shell::Zsh => with_locations(&script),
        _ => script.into_owned(),
    };
    out.write_all(script.as_bytes())?;
    Ok(Exit::Yes)
}

/// The script of zsh with our function for the words that are not options.
fn with_locations(script: &str) -> String {
    let mut all = String::with_capacity(script.len() + 1024);
    for line in script.lines() {
        if line.starts_with("if [ \"$funcstack[1]\"") {
            all.push_str(include_str!("completions/locations.zsh"));
        }
        let is_word = ["':", "'*:"].iter().any(|mark| line.starts_with(mark)) && line.contains(" -- ");
        match line.find(":_default'").filter(|_| is_word).and_then(|at| line.split_at_checked(at)) {
            Some((before, after)) => {
                all.push_str(before);
                all.push_str(&after.replacen(":_default'", ":_hyperslab_location'", 1));
            }
            None => all.push_str(line),
        }
        all.push('\n');
    }
    all
}

/// The word in place of a verb with which the scripts request locations.
pub(crate) const CANDIDATES: &str = "complete-location";

/// Prints the locations that may begin with a word, one per line. Prints nothing if there are none or nothing can be
/// read.
pub(crate) fn print_candidates(word: &str) {
    let found = candidates(word).unwrap_or_default();
    // If the shell has closed the pipe, there is nobody to report this to.
    let _ = io::stdout().write_all(found.concat().as_bytes());
}

fn candidates(word: &str) -> Option<Vec<String>> {
    let store = Locator::parse(word).store;
    let path = word.get(store.len()..)?.strip_prefix(':')?;
    let file = Path::new(&store);
    // Devices and pipes may block.
    if !(file.is_file() || file.is_dir()) {
        return None;
    }
    let source = hyperslab::open(file, &OpenOptions::default()).ok()?;
    let found = match path.rsplit_once('@').and_then(|(object, begun)| attributes(&*source, object, begun)) {
        Some(attributes) => attributes,
        None => members(&*source, path)?,
    };
    // Each line is one candidate.
    let plain = found.into_iter().filter(|path| !path.contains(hyperslab::ndl::is_hidden));
    Some(plain.map(|path| format!("{store}:{path}\n")).collect())
}

/// The members of a group whose names begin with the last component of a path.
fn members(source: &dyn Source, path: &str) -> Option<Vec<String>> {
    let (group, begun) = path.rsplit_once('/')?;
    let group = source.find(&at(group)?).ok()?;
    let members = source.members(&group.handle).ok()?;
    let begins = members.iter().filter(|member| member.handle.path.name().starts_with(begun));
    let shown = begins.map(|member| match member.item {
        Item::Group => format!("{}/", member.handle.path),
        _ => member.handle.path.to_string(),
    });
    Some(shown.collect())
}

/// The attributes of an object whose names begin with `begun`.
fn attributes(source: &dyn Source, object: &str, begun: &str) -> Option<Vec<String>> {
    let entry = source.find(&at(object)?).ok()?;
    let node = source.load(&entry.handle).ok()?;
    let names = node.attributes()?.keys().filter(|name| name.starts_with(begun));
    Some(names.map(|name| format!("{object}@{name}")).collect())
}

fn at(path: &str) -> Option<NodePath> {
    NodePath::new(if path.is_empty() { "/" } else { path }).ok()
}
