//! The invariants of ARCHITECTURE.md that can be checked by searching the sources.

use crate::tally::Tally;
use crate::{status, workspace};
use std::fs;
use std::path::{Path, PathBuf};

struct Invariant {
    promise: &'static str,
    /// The folder or file that it applies to, relative to the workspace.
    within: &'static str,
    /// The only file that is exempt, if any.
    except: Option<&'static str>,
    /// Text patterns that violate it.
    forbidden: &'static [&'static str],
}

const INVARIANTS: &[Invariant] = &[
    Invariant {
        promise: "only the pool starts threads",
        within: "crates",
        except: Some("crates/hyperslab/src/pool.rs"),
        forbidden: &["thread::spawn", "thread::scope", "thread::Builder"],
    },
    Invariant {
        promise: "everything is synchronous",
        within: "crates",
        except: None,
        forbidden: &["async fn", "async move", ".await"],
    },
    Invariant {
        promise: "structures of HDF5 do no I/O",
        within: "crates/hdf5/src/format",
        except: None,
        forbidden: &["std::fs", "std::io", "ReadAt"],
    },
    Invariant {
        promise: "the header of NetCDF classic does no I/O",
        within: "crates/netcdf3/src/header",
        except: None,
        forbidden: &["std::fs", "std::io", "ReadAt"],
    },
    Invariant {
        promise: "structures of TileDB do no I/O",
        within: "crates/tiledb/src/format",
        except: None,
        forbidden: &["std::fs", "std::io", "ReadAt", "store::"],
    },
    Invariant {
        promise: "the command line alone names its options",
        within: "crates/hyperslab",
        except: None,
        // After a space, a quote or a backtick, in code: comments are not searched.
        forbidden: &[
            " --allow",
            " --limit",
            " --format",
            " --overwrite",
            " --resume",
            " -O ",
            " -c {",
            " -f {",
        ],
    },
    Invariant { promise: "nothing is left to do", within: "crates", except: None, forbidden: PUT_OFF },
];

/// Marks of unfinished work, split into parts so that this file has no match.
const PUT_OFF: &[&str] =
    &[LATER, concat!("FI", "XME"), concat!("X", "XX"), concat!("unimp", "lemented!"), concat!("to", "do!")];
const LATER: &str = concat!("TO", "DO");

/// Checks each invariant in the sources without tests.
pub(crate) fn check() -> Result<Tally, String> {
    let root = workspace::root();
    let mut tally = Tally::default();
    for invariant in INVARIANTS {
        let mut files = Vec::new();
        rust_files(&root.join(invariant.within), &mut files)?;
        let mut holds = true;
        for file in files {
            let name = file.strip_prefix(&root).unwrap_or(&file).to_path_buf();
            if invariant.except.is_some_and(|except| name == Path::new(except))
                || name.components().any(is_tests)
            {
                continue;
            }
            let text = fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
            for (number, line) in breaches(&text, invariant.forbidden) {
                println!("{}:{number}: {line}", name.display());
                holds = false;
            }
        }
        tally.check(holds, invariant.promise);
    }
    status::check(&mut tally)?;
    Ok(tally)
}

/// Lines of code before the tests that contain a forbidden text, numbered from 1.
fn breaches<'a>(text: &'a str, forbidden: &[&str]) -> Vec<(usize, &'a str)> {
    text.lines()
        .enumerate()
        .take_while(|(_, line)| *line != "mod tests {")
        .filter(|(_, line)| {
            let code = line.split("//").next().unwrap_or(line);
            forbidden
                .iter()
                .any(|word| code.contains(word) || (*word == word.to_uppercase() && line.contains(word)))
        })
        .map(|(index, line)| (index + 1, line.trim()))
        .collect()
}

fn is_tests(part: std::path::Component<'_>) -> bool {
    ["tests", "tests.rs", "benches"].iter().any(|name| part.as_os_str() == *name)
}

pub(crate) fn rust_files(dir: &Path, found: &mut Vec<PathBuf>) -> Result<(), String> {
    let entries = fs::read_dir(dir).map_err(|error| format!("{}: {error}", dir.display()))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            rust_files(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignores_comments_and_tests() {
        let text = "// thread::spawn is not used\nthread::spawn(f);\nmod tests {\nthread::spawn(g);\n";
        assert_eq!(breaches(text, &["thread::spawn"]), [(2, "thread::spawn(f);")]);
    }

    #[test]
    fn finds_marks_of_unfinished_work_in_comments() {
        let text = format!("// {LATER}: mend this\n");
        assert_eq!(breaches(&text, &[LATER]).len(), 1);
    }
}
