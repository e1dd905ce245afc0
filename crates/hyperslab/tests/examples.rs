//! The example programs run.

#[path = "../examples/check.rs"]
mod check;
#[path = "../examples/create.rs"]
mod create;
#[path = "../examples/read.rs"]
mod read;

#[test]
fn example_programs_run() {
    read::main().unwrap();
    create::main().unwrap();
    check::main().unwrap();
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    assert_eq!(std::fs::read_dir(here).unwrap().count(), 3, "each example is run above");
}
