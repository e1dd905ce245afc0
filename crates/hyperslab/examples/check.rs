//! Checks a file and tells what differs between two: `cargo run -p hyperslab --example check`.

use hyperslab::check::{CheckOptions, check};
use hyperslab::digest::lines;
use hyperslab::{File, NodePath, OpenOptions, Result};

/// Runs the example.
///
/// # Errors
/// What reading says.
pub(crate) fn main() -> Result<()> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/ocean.nc");
    let report = check(path.as_ref(), &OpenOptions::default(), &CheckOptions::default())?;
    println!("{} findings", report.findings.len());

    // Equal digests mean equal content, whatever the format and the layout.
    let file = File::open(path)?;
    for line in lines(&**file.source(), &NodePath::root())? {
        println!("{}", line.to_json());
    }
    Ok(())
}
