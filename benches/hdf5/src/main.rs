//! One side of a comparison of `cargo xtask bench hdf5`. See [`bench_side`].

mod content;
mod ours;
mod peers;
mod pwrite;

use bench_side::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    bench_side::main(|side, job| match side {
        "ours" => ours::work(job),
        "pwrite" => pwrite::work(job),
        "rust-hdf5" => peers::rust_hdf5(job),
        "hdf5-pure" => peers::hdf5_pure(job),
        other => Err(Failure::from(format!("no side {other}"))),
    })
}
