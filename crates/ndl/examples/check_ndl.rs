//! Prints the diagnostics of documents, as `hyperslab check` does.
//!
//! `cargo run -p hyperslab-ndl --example check_ndl -- FILE.yaml…`

use hyperslab_ndl::{ParseOptions, Source, parse};
use std::io::IsTerminal;
use std::process::ExitCode;

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let color = std::io::stdout().is_terminal();
    let mut code = ExitCode::SUCCESS;
    for file in std::env::args().skip(1) {
        let text = std::fs::read(&file)?;
        let parsed = parse(&text, &ParseOptions::default());
        let source = Source::new(&file, &text);
        for diagnostic in &parsed.diagnostics {
            println!("{}", source.render(diagnostic, color));
        }
        match (parsed.has_errors(), parsed.refusals.len()) {
            (true, _) => code = ExitCode::FAILURE,
            (false, 0) => println!("{file}: {} objects", parsed.order.len()),
            (false, count) => {
                println!(
                    "{file}: {} objects; {count} things keep a file from being made",
                    parsed.order.len()
                );
            }
        }
    }
    Ok(code)
}
