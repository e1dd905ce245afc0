//! Findings as a SARIF 2.1.0 log, for code hosts and editors.

use crate::terminal::Out;
use crate::words;
use hyperslab::check::{Finding, FindingPlace, Report, Spot, explanation, specification};
use hyperslab::{Error, Result, Severity};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::path::Path;

/// A log with one run.
#[derive(Default)]
pub(super) struct Log {
    rules: BTreeSet<&'static str>,
    results: Vec<Value>,
    /// The reasons why files could not be checked.
    failures: Vec<Value>,
}

impl Log {
    pub(super) fn fail(&mut self, file: &str, error: &Error) {
        self.failures.push(json!({
            "level": "error",
            "message": {"text": words::error(error)},
            "locations": [{"physicalLocation": {"artifactLocation": {"uri": uri(file)}}}],
        }));
    }

    /// Adds the findings of a file, or of its comparison with a document.
    pub(super) fn add(&mut self, file: &str, contract: Option<&str>, report: &Report) {
        self.rules.extend(report.findings.iter().map(|finding| finding.rule));
        self.results.extend(report.findings.iter().map(|finding| result(file, contract, finding)));
    }

    pub(super) fn write(&self, out: &mut Out<'_>) -> Result<()> {
        let rule = |rule: &&str| {
            let mut object = Map::from_iter([("id".to_owned(), json!(rule))]);
            if let Some(text) = explanation(rule) {
                object.insert("shortDescription".to_owned(), json!({"text": text}));
            }
            if let Some(section) = specification(rule) {
                object.insert("properties".to_owned(), json!({"specification": section}));
            }
            Value::from(object)
        };
        let rules: Vec<_> = self.rules.iter().map(rule).collect();
        let log = json!({
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{
                "tool": {"driver": {
                    "name": "hyperslab",
                    "version": env!("CARGO_PKG_VERSION"),
                    "informationUri": env!("CARGO_PKG_REPOSITORY"),
                    "rules": rules,
                }},
                "invocations": [{
                    "executionSuccessful": self.failures.is_empty(),
                    "toolExecutionNotifications": self.failures,
                }],
                "columnKind": "unicodeCodePoints",
                "results": self.results,
            }],
        });
        out.json_line(format_args!("{log:#}"))?;
        Ok(())
    }
}

fn result(file: &str, contract: Option<&str>, finding: &Finding) -> Value {
    let level = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    let text = match &finding.hint {
        Some(hint) => format!("{}\n{hint}", finding.message),
        None => finding.message.clone(),
    };
    let mut physical = Map::from_iter([("artifactLocation".to_owned(), json!({"uri": uri(file)}))]);
    let mut location = Map::new();
    match &finding.place {
        FindingPlace::Text { line, column, end_column } => {
            let region = json!({"startLine": line, "startColumn": column, "endColumn": end_column});
            physical.insert("region".into(), region);
        }
        FindingPlace::Stored { object, byte, len, .. } => {
            let region = byte.map(|byte| bytes(byte, *len));
            physical.extend(region.map(|region| ("region".to_owned(), region)));
            location.extend(logical(object.as_deref()));
        }
        FindingPlace::Contract { object, .. } => location.extend(logical(Some(object))),
        FindingPlace::Value { object, key, spot } => {
            if let Some(key) = key.as_ref().filter(|_| Path::new(file).is_dir()) {
                let path = format!("{}/{key}", file.trim_end_matches('/'));
                physical.insert("artifactLocation".into(), json!({"uri": uri(&path)}));
            }
            let region = spot.map(|spot| match spot {
                Spot::Text { line, column, end_column } => {
                    json!({"startLine": line, "startColumn": column, "endColumn": end_column})
                }
                Spot::Bytes { byte, len } => bytes(byte, Some(len)),
            });
            physical.extend(region.map(|region| ("region".to_owned(), region)));
            location.extend(logical(object.as_deref()));
        }
    }
    location.insert("physicalLocation".into(), physical.into());
    let mut result = Map::from_iter([
        ("ruleId".to_owned(), json!(finding.rule)),
        ("level".to_owned(), json!(level)),
        ("message".to_owned(), json!({"text": text})),
        ("locations".to_owned(), json!([location])),
    ]);
    if let (FindingPlace::Contract { said: Some((line, column)), .. }, Some(contract)) =
        (&finding.place, contract)
    {
        let said = json!({
            "message": {"text": "the contract"},
            "physicalLocation": {
                "artifactLocation": {"uri": uri(contract)},
                "region": {"startLine": line, "startColumn": column},
            },
        });
        result.insert("relatedLocations".to_owned(), json!([said]));
    }
    result.into()
}

fn bytes(byte: u64, len: Option<u64>) -> Value {
    match len {
        Some(len) => json!({"byteOffset": byte, "byteLength": len}),
        None => json!({"byteOffset": byte}),
    }
}

fn logical(object: Option<&str>) -> Option<(String, Value)> {
    object.map(|object| ("logicalLocations".to_owned(), json!([{"fullyQualifiedName": object}])))
}

/// A path as a URI reference. Characters that a URI cannot contain are percent-encoded.
fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.replace('\\', "/").bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                uri.push(char::from(byte));
            }
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    uri
}
