//! One side of a comparison of `cargo xtask bench zarr`, as [`bench_side`] has it. What hyperslab reads, the side of
//! `bench-read` reads: it knows no format.

mod ours;
mod peer;
mod written;

use bench_side::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    bench_side::main(|side, job| match side {
        "ours" => ours::work(job),
        "zarrs" => peer::work(job),
        other => Err(Failure::from(format!("no side {other}"))),
    })
}
