//! One side of a comparison of `cargo xtask bench read`. See [`bench_side`].

mod limits;
mod ours;
mod peers;

use std::process::ExitCode;

fn main() -> ExitCode {
    bench_side::main(|side, job| match side {
        "ours" => ours::work(job),
        "limit" => limits::work(job),
        peer => peers::work(peer, job),
    })
}
