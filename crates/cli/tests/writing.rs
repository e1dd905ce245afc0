//! What the verbs that write do beside writing: reports, refusals, proofs.

use crate::command::prepared;
use std::process::Stdio;

#[test]
fn a_store_is_written_whether_its_report_is_read_or_not() {
    for words in [["convert", "ocean.nc"], ["create", "buoys.yaml"]] {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("target.zarr");
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = prepared(words);
        let status = command.arg(&target).stdout(writer).stderr(Stdio::null()).status().unwrap();
        assert_eq!(status.code(), Some(0), "{words:?}");
        assert!(target.join("zarr.json").exists(), "{words:?}");
    }
}
