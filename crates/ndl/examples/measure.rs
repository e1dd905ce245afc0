//! Measures the time and the peak memory of parsing documents, including malicious ones.
//!
//! `cargo run --release -p hyperslab-ndl --example measure [CASE | FILE]`. Without an argument it runs all cases, each
//! in a separate process. The peak memory is shown on Linux only.

use hyperslab_ndl::{ParseOptions, parse};
use std::fmt::Write;
use std::time::Instant;

type Case = (&'static str, fn() -> String);

const CASES: [Case; 9] = [
    ("alias bomb", alias_bomb),
    ("100,000 levels", || "[".repeat(100_000)),
    ("100,000 levels in block style", || "- ".repeat(100_000)),
    ("a line of 10 MB", || format!("attributes:\n  a: {}\n", "x".repeat(10_000_000))),
    ("a list of 10 MB on a line", || format!("attributes: {{a: [{}1]}}\n", "1, ".repeat(3_333_333))),
    ("1 million times the same key", || format!("attributes:\n{}", "  a: 1\n".repeat(1_000_000))),
    ("500,000 keys twice", keys_twice),
    ("1 million values, 10 MB", || values(10)),
    ("1 million values, 50 MB", || values(50)),
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let Some(wanted) = std::env::args().nth(1) else {
        for (name, _) in CASES {
            std::process::Command::new(std::env::current_exe()?).arg(name).status()?;
        }
        return Ok(());
    };
    let text = match CASES.iter().find(|(name, _)| *name == wanted) {
        Some((_, text)) => text().into_bytes(),
        None => std::fs::read(&wanted)?,
    };
    let begin = Instant::now();
    let parsed = parse(&text, &ParseOptions::default());
    let took = begin.elapsed();
    let length = text.len() as f64 / 1e6;
    let peak = peak().map_or(String::new(), |peak| {
        format!("{:8.1} MB at most, {:5.1} × its length", peak, (peak - BEFORE) / length)
    });
    let first = parsed.diagnostics.first().map(|one| one.to_string().chars().take(80).collect::<String>());
    println!(
        "{wanted:32} {length:6.1} MB {:8.1} ms {peak}  {} findings; {}",
        took.as_secs_f64() * 1e3,
        parsed.diagnostics.len(),
        first.unwrap_or_default(),
    );
    Ok(())
}

/// The peak memory of this process in MB.
fn peak() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes / 1e3)
}

fn alias_bomb() -> String {
    let mut text = String::from("a: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for level in 1..40 {
        let before = format!("*a{}", level - 1);
        let _ = writeln!(text, "b{level}: &a{level} [{}]", [before.as_str(); 9].join(", "));
    }
    text
}

fn keys_twice() -> String {
    let mut text = String::from("attributes:\n");
    for _ in 0..2 {
        for key in 0..500_000 {
            let _ = writeln!(text, "  a{key}: 1");
        }
    }
    text
}

/// A million numbers. Each takes `bytes` bytes, including its separator.
fn values(bytes: usize) -> String {
    let mut text = String::from("ndarrays:\n  a:\n    shape: [1000000]\n    type: float64\n    value:\n");
    for number in 0..1_000_000 {
        let _ = writeln!(text, "    - {number:0>width$}", width = bytes.saturating_sub(7));
    }
    text
}

/// The peak memory of a process that parses nothing.
const BEFORE: f64 = 2.0;
