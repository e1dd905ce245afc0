//! Writes random documents, in YAML and in JSON, for `xtask/oracles/ndl_trees.py` to read.
//!
//!     generate DIRECTORY COUNT [FIRST-SEED]
//!
//! A file contains many documents. `0000.yaml` and `0000.json` contain the same ones. Documents are separated by NUL
//! characters, which no document contains.

#[allow(
    dead_code,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "what is generated is small, and tests use more of it"
)]
#[path = "../tests/properties/generator.rs"]
mod generator;

use generator::Document;
use hyperslab_ndl::Format;
use std::error::Error;
use std::fs;
use std::path::PathBuf;

/// The number of documents in a file.
const BATCH: u64 = 250;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(directory), Some(count)) = (arguments.next(), arguments.next()) else {
        return Err("generate DIRECTORY COUNT [FIRST-SEED]".into());
    };
    let (directory, count) = (PathBuf::from(directory), count.parse::<u64>()?);
    let first: u64 = arguments.next().map_or(Ok(0), |seed| seed.parse())?;
    fs::create_dir_all(&directory)?;
    for batch in 0..count.div_ceil(BATCH) {
        let (mut yaml, mut json) = (String::new(), String::new());
        for number in batch * BATCH..count.min((batch + 1) * BATCH) {
            let document = Document::new(first + number);
            yaml.push_str(&document.text(Format::Yaml));
            yaml.push('\0');
            json.push_str(&document.text(Format::Json));
            json.push('\0');
        }
        fs::write(directory.join(format!("{batch:04}.yaml")), yaml)?;
        fs::write(directory.join(format!("{batch:04}.json")), json)?;
    }
    Ok(())
}
