//! NDL documents as sources.

use crate::command::{Ran, examples, hyperslab, prepared, ran};
use crate::golden::holds;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::Stdio;
use tempfile::TempDir;

/// Runs the command with a text on standard input.
fn with_input(args: &[&str], text: &str) -> Ran {
    let mut child = prepared(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    ran(child.wait_with_output().unwrap())
}

/// Runs the command in a folder with these documents.
fn among(documents: &[(&str, &str)], args: &[&str]) -> Ran {
    let dir = TempDir::new().unwrap();
    for (name, text) in documents {
        fs::write(dir.path().join(name), text).unwrap();
    }
    ran(prepared(args).current_dir(dir.path()).output().unwrap())
}

fn golden_documents() -> Vec<PathBuf> {
    let crates = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let of = |folder: PathBuf| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let all = of(crates.join("tests/golden")).chain(of(crates.join("../ndl/tests/golden")));
    all.filter(|path| path.extension().is_some_and(|suffix| suffix == "yaml" || suffix == "json")).collect()
}

#[test]
fn describing_a_description_changes_nothing() {
    let documents = golden_documents();
    assert!(documents.len() > 15);
    for path in documents {
        let name = path.display();
        let text = fs::read_to_string(&path).unwrap();
        // A description with full `storage` is reproduced completely only with `--storage=full`.
        let detail = if path.ends_with("ocean_full.yaml") { "--storage=full" } else { "--storage=brief" };
        let mut args = vec!["describe", detail, path.to_str().unwrap()];
        if path.extension().is_some_and(|suffix| suffix == "json") {
            args.push("--json");
        }
        let again = hyperslab(args);
        assert_eq!((again.code, again.messages.as_str()), (0, ""), "{name}");
        assert!(again.answer == text, "{name} changes when described");
    }
}

#[test]
fn a_description_with_values_has_the_digest_of_its_file() {
    let files = fs::read_dir(examples()).unwrap().map(|entry| entry.unwrap().path());
    let files: Vec<_> = files
        .filter(|path| path.extension().is_some_and(|suffix| suffix == "h5" || suffix == "nc"))
        .collect();
    assert!(files.len() >= 10);
    for path in files {
        let path = path.to_str().unwrap();
        for form in [&["describe", "--values", path][..], &["describe", "--values", "--json", path]] {
            let text = hyperslab(form).answer;
            let digest = with_input(&["digest", "--json", "-"], &text);
            assert_eq!((digest.code, digest.messages.as_str()), (0, ""), "{path}");
            assert_eq!(digest.answer, hyperslab(["digest", "--json", path]).answer, "{path}");
        }
    }
}

#[test]
fn a_text_without_values_has_no_digest() {
    let text = hyperslab(["describe", "ocean.nc"]).answer;
    let digest = with_input(&["digest", "-"], &text);
    assert_eq!(digest.code, 1);
    assert!(digest.messages.contains("/salinity: the document has no values for it"), "{}", digest.messages);
    // In a hand-written document, missing values mean fill values.
    let digest = with_input(&["digest", "-"], "ndarrays:\n  a: {shape: [2], type: int8}\n");
    assert_eq!((digest.code, digest.messages.as_str()), (0, ""));
}

#[test]
fn a_hand_written_document_is_listed_shown_and_described() {
    holds("buoys_ls.txt", &hyperslab(["ls", "-rl", "buoys.yaml"]).answer);
    holds("buoys_described.yaml", &hyperslab(["describe", "buoys.yaml"]).answer);
    let shown = hyperslab(["show", "buoys.yaml:/height", "-s", "time=1"]);
    assert_eq!(
        shown.answer, "# /height float32, time 0.5\n buoy\nnorth  1.3\nsouth  NaN\n",
        "{}",
        shown.messages
    );
}

const WRONG: &str = "\
dimcoords:
  x: {size: 2}
ndarrays:
  a:
    shape: [x]
    type: float
    value: [1, 2]
  b:
    shape: [y]
    type: int8
    value: [1, 300]
";

#[test]
fn shows_findings_with_their_lines() {
    let ran = among(&[("wrong.yaml", WRONG)], &["check", "wrong.yaml"]);
    assert_eq!((ran.code, ran.messages.as_str()), (1, ""));
    holds("check_text.txt", &ran.answer);
}

#[test]
fn json_has_one_finding_per_line() {
    let ran = among(&[("wrong.yaml", WRONG)], &["check", "--json", "wrong.yaml"]);
    assert_eq!(ran.code, 1);
    holds("check_json.jsonl", &ran.answer);
    let lines = ran.answer.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let lines: Vec<_> = lines.collect();
    assert!(lines.len() >= 2);
    for line in &lines {
        for key in ["severity", "rule", "message", "file", "line", "column", "hint"] {
            assert!(line.get(key).is_some(), "{line} lacks {key}");
        }
    }
}

#[test]
fn sarif_findings_are_one_log() {
    let ran = among(&[("a b.yaml", WRONG)], &["check", "--as", "sarif", "a b.yaml"]);
    assert_eq!(ran.code, 1);
    let log: serde_json::Value = serde_json::from_str(&ran.answer).unwrap();
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    assert_eq!(run["tool"]["driver"]["name"], "hyperslab");
    let result = &run["results"][0];
    assert_eq!(result["level"], "error");
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    assert!(rules.iter().any(|rule| rule["id"] == result["ruleId"]));
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "a%20b.yaml");
    assert_eq!(place["region"]["startLine"], 6);
}

#[test]
fn logs_name_files_that_could_not_be_checked() {
    let documents = [("good.yaml", "attributes: {a: 1}\n")];
    let ran = among(&documents, &["check", "--as", "sarif", "good.yaml", "absent.yaml"]);
    assert_eq!(ran.code, 2);
    let log: serde_json::Value = serde_json::from_str(&ran.answer).unwrap();
    let invocation = &log["runs"][0]["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    let told = &invocation["toolExecutionNotifications"][0];
    assert!(told["message"]["text"].as_str().unwrap().contains("absent.yaml"), "{told}");
    let sound = among(&documents, &["check", "--as", "sarif", "good.yaml"]);
    let log: serde_json::Value = serde_json::from_str(&sound.answer).unwrap();
    assert_eq!(log["runs"][0]["invocations"][0]["executionSuccessful"], true);
}

#[test]
fn describes_json_documents_of_other_programs() {
    let text = "{\n\t\"attributes\": {\n\t\t\"t\": \"\\ud83d\\ude00\"\n\t}\n}\n";
    let ran = among(&[("a.json", text)], &["describe", "a.json"]);
    assert_eq!(ran.code, 0, "{}", ran.messages);
    assert!(
        ran.answer.ends_with("attributes:\n  t: 😀\n") || ran.answer.ends_with("attributes:\n  t: \"😀\"\n"),
        "{}",
        ran.answer
    );
}

#[test]
fn checks_all_documents_and_returns_the_worst_exit_code() {
    let documents = [("wrong.yaml", WRONG), ("good.yaml", "attributes: {a: 1}\n")];
    let ran = among(&documents, &["check", "good.yaml", "wrong.yaml", "absent.yaml"]);
    assert_eq!(ran.code, 2);
    assert!(ran.answer.ends_with("in 2 locations\n"), "{}", ran.answer);
    assert!(ran.messages.contains("error: absent.yaml: "), "{}", ran.messages);
    assert_eq!(among(&documents, &["check", "good.yaml"]).code, 0);
}

#[test]
fn options_set_how_strictly_a_document_is_read() {
    let warned = "ndarrays:\n  a: {shape: [], type: int8, value: 1, colour: red}\n";
    assert_eq!(with_input(&["check", "-"], warned).code, 0);
    assert_eq!(with_input(&["check", "--strict", "-"], warned).code, 1);
    let lone = "attributes:\n  a: {shape: [1, 1], type: int8, value: 3}\n";
    assert_eq!(with_input(&["check", "-"], lone).code, 1);
    assert_eq!(with_input(&["check", "--lenient", "-"], lone).code, 0);
    let extended = "dimcoords:\n  x: {size: 3}\n";
    assert_eq!(with_input(&["check", "-"], extended).code, 0);
    assert_eq!(with_input(&["check", "--pure", "-"], extended).code, 1);
}

#[test]
fn shows_twenty_findings_of_a_rule_and_counts_all() {
    let mut text = String::from("attributes:\n");
    for index in 0..30 {
        text.push_str(&format!("  a{index}: {{shape: [], type: int8, value: 300}}\n"));
    }
    let ran = with_input(&["check", "-"], &text);
    assert_eq!(ran.answer.matches("error[ndl/value-range]").count(), 20);
    assert!(ran.answer.contains("10 more of ndl/value-range"), "{}", ran.answer);
    assert!(ran.answer.ends_with("30 errors in 1 location\n"));
    assert_eq!(with_input(&["check", "--json", "-"], &text).answer.lines().count(), 30);
}

#[test]
fn a_text_without_format_is_checked_by_its_suffix() {
    let ran = among(&[("a.yaml", "atributes:\n  a: 1\n")], &["check", "a.yaml"]);
    assert!(ran.answer.contains("attributes"), "{}{}", ran.answer, ran.messages);
    let ran = among(&[("a.txt", "atributes:\n  a: 1\n")], &["check", "a.txt"]);
    assert_eq!(ran.code, 2);
    assert!(ran.messages.contains("is not an HDF5, "), "{}", ran.messages);
    let ran = among(&[("a.yml", "attributes: [\n")], &["check", "a.yml"]);
    assert_eq!(ran.code, 1);
}

#[test]
fn rejects_an_invalid_document_with_its_first_error() {
    let ran = among(&[("wrong.yaml", WRONG)], &["describe", "wrong.yaml"]);
    assert_eq!((ran.code, ran.answer.as_str()), (2, ""));
    assert!(ran.messages.starts_with("error: wrong.yaml: line 6, column "), "{}", ran.messages);
    assert!(ran.messages.contains("hyperslab check"), "{}", ran.messages);
}

#[test]
fn a_dry_run_reports_what_would_be_created() {
    let ran = hyperslab(["create", "-n", "buoys.yaml", "buoys.zarr"]);
    assert_eq!((ran.code, ran.messages.as_str()), (0, ""));
    holds("create_buoys.txt", &ran.answer);
    let ran = hyperslab(["create", "-n", "--json", "buoys.yaml"]);
    let summary: serde_json::Value = serde_json::from_str(&ran.answer).unwrap();
    assert_eq!(summary["arrays"], 5);
    assert_eq!(summary["refusals"], serde_json::json!([]));
}

#[test]
fn a_dry_run_reports_what_prevents_creation() {
    let text = "ndarrays:\n  a: {shape: [2]}\n  b: {x-error: its header is broken}\n";
    let ran = with_input(&["create", "-n", "-"], text);
    assert_eq!(ran.code, 1);
    assert!(ran.messages.contains("error[ndl/create]: /a without a type\n --> -:2:3\n"), "{}", ran.messages);
    assert!(ran.messages.contains("its header is broken"), "{}", ran.messages);
    assert_eq!(ran.answer, "");
    let ran = with_input(&["create", "-n", "-"], WRONG);
    assert_eq!((ran.code, ran.answer.as_str()), (1, ""));
    assert!(ran.messages.contains("nothing would be created"), "{}", ran.messages);
}

#[test]
fn standard_input_is_an_ndl_document() {
    let ran = with_input(&["describe", "-"], "attributes: {a: 1}\n");
    assert_eq!(ran.code, 0);
    assert!(ran.answer.starts_with("# NDL 0.6.1, described from standard input (NDL)"), "{}", ran.answer);
    let ran = with_input(&["ls", "-"], "\0\u{1}no text");
    assert_eq!((ran.code, ran.answer.as_str()), (2, ""));
    assert!(ran.messages.contains("control character"), "{}", ran.messages);
}

#[test]
fn a_partial_description_stays_partial() {
    let text = "ndarrays:\n  a:\n    type: int8\n\n  b:\n    shape: [2]\n";
    let ran = with_input(&["describe", "-"], text);
    assert!(ran.answer.ends_with(text), "{}", ran.answer);
    assert_eq!(with_input(&["check", "-"], text).code, 0);
}
