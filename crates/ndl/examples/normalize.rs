//! Rewrites a document as `hyperslab describe` does: in a fixed order, without comments, with a list of its extensions.
//!
//! `cargo run -p hyperslab-ndl --example normalize -- FILE.yaml`

use hyperslab_ndl::{Emitter, Format, Head, Options, ParseOptions, parse};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = std::env::args().nth(1).ok_or("expected the name of a document")?;
    let text = std::fs::read(&file)?;
    let parsed = parse(&text, &ParseOptions::default());
    if let Some(first) = parsed.diagnostics.iter().find(|_| parsed.has_errors()) {
        return Err(format!("{file}:{first}").into());
    }
    let mut emitter = Emitter::new(Format::Yaml, Options { values: Some(u64::MAX), ..Options::default() });
    for path in &parsed.order {
        if let Some(node) = parsed.content.nodes.get(path) {
            emitter.node(path, node)?;
        }
    }
    let head = Head { location: &file, format: "ndl", title: "NDL", version: env!("CARGO_PKG_VERSION") };
    emitter.finish(&head, &mut std::io::stdout())?;
    Ok(())
}
