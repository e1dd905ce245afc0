//! Strings of any length in files.

use crate::cdl::Cdl;
use hyperslab_cf::rules::auto;

/// Each contains a string that violates some rule of chapters 2 to 9.
const PLACES: [&str; 16] = [
    ":Conventions = TEXT",
    ":featureType = TEXT",
    ":external_variables = TEXT",
    "float t\n:units = TEXT",
    "float t\n:standard_name = TEXT",
    "float t\n:standard_name = \"latitude\"\n:units = TEXT",
    "byte t\n:flag_values = 1b, 2b\n:flag_meanings = TEXT",
    "float t\n:axis = TEXT",
    "float t\n:positive = TEXT",
    "double t\n:units = \"days since 2000-01-01\"\n:calendar = TEXT",
    "float t\n:coordinates = TEXT",
    "float t\n:grid_mapping = TEXT",
    "float t\n:cell_methods = TEXT",
    "float t\n:cell_measures = TEXT",
    "int t\n:geometry_type = TEXT\n:node_coordinates = \"x\"",
    "dim x 1\nstring x(x)\n:standard_name = \"region\"\n= TEXT",
];

#[test]
fn findings_show_the_beginning_of_a_long_text() {
    // The end of a message, which states what was expected, is kept.
    for text in ["x".repeat(1 << 18), "\u{308}".repeat(1 << 12), "x \\".repeat(1 << 10)] {
        for place in PLACES {
            let cdl = Cdl::new(&place.replace("TEXT", &format!("\"{text}\"")));
            let mut findings: Vec<_> = [6, 13].into_iter().flat_map(|minor| cdl.findings(minor)).collect();
            findings.extend(auto(&cdl.dataset()).1);
            assert!(!findings.is_empty(), "{place}");
            for finding in findings {
                let (message, hint) = (finding.message.as_str(), finding.hint.as_str());
                assert!(
                    message.chars().count() <= 1_001 && hint.chars().count() <= 1_001,
                    "{place}: {message}"
                );
                assert!(message.len() < 200 || message.contains("expected"), "{place}: {message}");
            }
        }
    }
}
