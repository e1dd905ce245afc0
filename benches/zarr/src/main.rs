//! One side of a comparison of `cargo xtask bench zarr`. See [`bench_side`]. For hyperslab's reading, the program
//! `bench-read` is used, which reads all formats.

mod ours;
mod peer;

use bench_side::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    bench_side::main(|side, job| match side {
        "ours" => ours::work(job),
        "zarrs" => peer::work(job),
        other => Err(Failure::from(format!("no side {other}"))),
    })
}
