//! Malicious texts that try to exhaust time or memory, or to crash the parser.

use hyperslab_core::ErrorKind;
use hyperslab_ndl::{ParseOptions, Parsed, parse, parse_within};
use proptest::prelude::*;
use std::time::{Duration, Instant};

fn read(text: impl AsRef<[u8]>) -> Parsed {
    parse(text.as_ref(), &ParseOptions::default())
}

/// The first diagnostic of a text. Fails if parsing takes too long, even for an unoptimised build.
fn first(text: &str) -> String {
    let begin = Instant::now();
    let parsed = read(text);
    assert!(begin.elapsed() < Duration::from_secs(30), "{:?}", begin.elapsed());
    parsed.diagnostics.first().map(ToString::to_string).unwrap_or_default()
}

#[test]
fn what_a_text_contains_takes_no_more_memory_than_is_allowed() {
    let many = |head: &str, line: &dyn Fn(usize) -> String| {
        (0..10_000).fold(head.to_owned(), |text, at| text + &line(at))
    };
    let list = many("", &|at| format!("{at}, "));
    for text in [
        many("attributes:\n", &|at| format!("  a{at}: 1\n")),
        many("ndarrays:\n", &|at| format!("  a{at}: {{shape: [], type: int8}}\n")),
        many("", &|at| format!("/g{at}: {{}}\n")),
        format!("ndarrays:\n  a: {{shape: [10001], type: int8, value: [{list}0]}}\n"),
        format!("{{\"ndarrays\": {{\"a\": {{\"value\": [{list}0]}}}}}}"),
    ] {
        let error = parse_within(text.as_bytes(), &ParseOptions::default(), 600_000).err();
        let error = error.unwrap_or_else(|| panic!("{} is read", &text[..20]));
        assert_eq!(error.kind(), ErrorKind::LimitExceeded, "{error}");
        assert!(parse_within(text.as_bytes(), &ParseOptions::default(), 1 << 26).is_ok());
    }
}

#[test]
fn rejects_aliases_that_expand_to_too_many_nodes() {
    let mut text = String::from("a: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for level in 1..40 {
        let before = format!("*a{}", level - 1);
        text.push_str(&format!("b{level}: &a{level} [{}]\n", [before.as_str(); 9].join(", ")));
    }
    let found = first(&text);
    assert!(found.contains("aliases expand to more than 1048576 nodes [ndl/alias]"), "{found}");
}

#[test]
fn counts_long_texts_behind_aliases_by_their_length() {
    let of = |count: usize| {
        let (text, aliases) = ("x".repeat(1 << 16), vec!["*a"; count].join(", "));
        format!(
            "attributes: {{a: &a {text}}}\nndarrays: {{s: {{shape: [{count}], type: string, value: [{aliases}]}}}}\n"
        )
    };
    assert_eq!(first(&of(100)), "");
    let found = first(&of(1100));
    assert!(found.contains("aliases expand to more than 1048576 nodes [ndl/alias]"), "{found}");
}

#[test]
fn limits_padding_by_the_length_of_the_text() {
    let of = |size: usize, comment: usize| {
        format!(
            "ndarrays: {{a: {{shape: [], type: {{opaque: {{size: {size}}}}}, value: \"0x01\"}}}}\n# {}\n",
            "x".repeat(comment)
        )
    };
    assert!(first(&of(10_000_000, 0)).contains("padded with zeros"));
    let found = read(of(20_000_000, 0)).diagnostics;
    assert!(found.iter().any(|one| one.message == "values with more than 16777216 bytes of padding in all"));
    assert!(!read(of(20_000_000, 200_000)).has_errors());
}

#[test]
fn limits_the_fill_values_in_place_of_null_by_the_length_of_the_text() {
    let of = |count: usize| {
        let (fill, nulls) = ("x".repeat(100_000), vec!["null"; count].join(", "));
        format!(
            "ndarrays: {{s: {{shape: [{count}], type: {{compound: [a: string, b: {{opaque: {{size: 1}}}}]}}, storage: {{fillvalue: [{fill}, \"0x01\"]}}, value: [{nulls}]}}}}\n"
        )
    };
    assert_eq!(first(&of(100)), "");
    let found = first(&of(200));
    assert!(found.contains("bytes of padding in all [ndl/limit]"), "{found}");
}

#[test]
fn rejects_an_alias_inside_its_own_node() {
    let found = first("a: &a [1, *a]\n");
    assert_eq!(found, "1:11: error: an alias inside the node that it refers to [ndl/alias]");
}

#[test]
fn rejects_a_hundred_thousand_levels() {
    for text in ["[", "- ", "{a: ", "a: [", "? "] {
        let found = first(&text.repeat(100_000));
        assert!(
            found.ends_with("error: lists and maps nested more than 128 levels deep [ndl/depth]"),
            "{text} {found}"
        );
    }
    let indented: String = (0..3000).map(|level| format!("{}a:\n", " ".repeat(level))).collect();
    assert!(first(&indented).contains("more than 128 levels"));
}

#[test]
fn counts_levels_behind_aliases() {
    let deep = format!("{}x{}", "[".repeat(60), "]".repeat(60));
    let text = format!(
        "a: &a {deep}\nb: &b {}*a{}\nc: {}*b{}\n",
        "[".repeat(60),
        "]".repeat(60),
        "[".repeat(60),
        "]".repeat(60)
    );
    let found = first(&text);
    assert_eq!(found, "3:64: error: lists and maps nested more than 128 levels deep [ndl/depth]");
}

#[test]
fn reads_a_line_of_millions_of_characters() {
    let text = format!("attributes:\n  a: {}\n", "x".repeat(4_000_000));
    assert_eq!(first(&text), "");
    let mut list = String::from("ndarrays: {a: {shape: [200000], type: int8, value: [1");
    list.push_str(&", 1".repeat(199_999));
    list.push_str("]}}");
    assert_eq!(first(&list), "");
}

#[test]
fn limits_diagnostics_of_duplicate_keys() {
    let mut text = String::from("attributes:\n");
    text.push_str(&"  a: 1\n".repeat(100_000));
    let begin = Instant::now();
    let parsed = read(&text);
    assert!(begin.elapsed() < Duration::from_secs(30), "{:?}", begin.elapsed());
    let shown: Vec<String> = parsed.diagnostics.iter().map(ToString::to_string).collect();
    assert_eq!(
        shown[0],
        "3:3: error: duplicate key \"a\" in a map, on line 2 and line 3 [ndl/duplicate-key]"
    );
    assert_eq!(shown.len(), 1001);
    assert!(shown[1000].contains("98999 more findings are not shown"), "{}", shown[1000]);
}

#[test]
fn builds_nothing_after_the_maximum_number_of_errors() {
    let keys: String = (0..5000).map(|key| format!("  a{key}: 1\n")).collect();
    let parsed = read(format!("attributes:\n{keys}{keys}"));
    assert_eq!((parsed.diagnostics.len(), parsed.content.nodes.len()), (1001, 0));
    assert!(
        parsed.diagnostics[1000].message.starts_with("4000 more findings"),
        "{}",
        parsed.diagnostics[1000]
    );
}

/// Only Linux reports the peak memory of a process. The texts are a tenth as long as those of examples/measure.
#[cfg(target_os = "linux")]
#[test]
fn limits_memory_by_the_length_of_the_text() {
    let numbers: String = (0..100_000).map(|number| format!("    - {number:0>43}\n")).collect();
    let keys: String = (0..50_000).map(|key| format!("  a{key}: 1\n")).collect();
    let arrays = |rest: &str| -> String {
        let all = (0..20_000).map(|array| format!("  a{array}: {{shape: [6], type: float64{rest}}}\n"));
        format!("ndarrays:\n{}", all.collect::<String>())
    };
    for (case, text, most) in [
        ("arrays", arrays(""), 25.0),
        ("arrays with values", arrays(", value: [1.5, 2.5, 3.5, 4.5, 5.5, 6.5]"), 16.0),
        (
            "values",
            format!("ndarrays:\n  a:\n    shape: [100000]\n    type: float64\n    value:\n{numbers}"),
            6.0,
        ),
        ("keys twice", format!("attributes:\n{keys}{keys}"), 15.0),
        ("one key", format!("attributes:\n{}", "  a: 1\n".repeat(100_000)), 15.0),
        ("levels", "[".repeat(1_000_000), 6.0),
    ] {
        let (before, peak) = (peak_of(""), peak_of(&text));
        let length = text.len() as f64;
        // The memory of a process varies by a few pages from run to run.
        let taken = (peak - before - 1e6).max(0.0);
        assert!(taken <= most * length, "{case}: {taken} bytes for {length}");
    }
}

/// The peak memory in bytes of a process that reads a text and does nothing else.
#[cfg(target_os = "linux")]
fn peak_of(text: &str) -> f64 {
    let file = std::env::temp_dir().join(format!("hyperslab-ndl-{}-{}", std::process::id(), text.len()));
    std::fs::write(&file, text).unwrap();
    let this = std::env::current_exe().unwrap();
    let mut process = std::process::Command::new(this);
    process.args(["--exact", "--ignored", "--nocapture", "parse_hostile::reads_the_text_it_is_given"]);
    let output = process.env("HYPERSLAB_TEXT", &file).output().unwrap();
    std::fs::remove_file(&file).unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    let figure = shown.split("peak ").nth(1).and_then(|rest| rest.split_whitespace().next());
    let kibibytes: f64 =
        figure.unwrap_or_else(|| panic!("no figure of the peak memory in {shown:?}")).parse().unwrap();
    assert!(kibibytes > 0.0, "{shown:?}");
    kibibytes * 1024.0
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "a process of its own, started by another test"]
fn reads_the_text_it_is_given() {
    let text = std::fs::read(std::env::var("HYPERSLAB_TEXT").unwrap()).unwrap();
    std::hint::black_box(parse(&text, &ParseOptions::default()));
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    println!("peak {}", peak.trim_end_matches("kB").trim());
}

#[test]
fn reports_the_place_of_bytes_that_are_not_utf_8() {
    let parsed = read(b"attributes:\n  \xc3\xa9: \xff\n");
    assert_eq!(
        parsed.diagnostics[0].to_string().split(" [").next(),
        Some("2:6: error: bytes that are not UTF-8")
    );
    let parsed = read(b"\xff\xfea\0");
    assert!(parsed.has_errors());
}

#[test]
fn rejects_nul_characters() {
    let found = first("attributes:\n  a: x\0\n  b: &\n");
    assert!(found.starts_with("2:7: error: the control character U+0000 [ndl/encoding]"), "{found}");
}

#[test]
fn does_not_allocate_for_sizes_without_elements() {
    for text in [
        "ndarrays: {a: {shape: [18446744073709551615], type: int8, value: [1]}}",
        "ndarrays: {a: {shape: [], type: {opaque: {size: 4294967295}}, value: \"0x00\"}}",
        "ndarrays: {a: {shape: [], type: string, storage: {length: 4294967295}, value: x}}",
        "ndarrays: {a: {shape: [], type: {array: {base: int8, shape: [1099511627776, 1099511627776]}}}}",
        "ndarrays: {a: {shape: [], type: {nullable: {base: {array: {base: int8, shape: [1099511627775]}}}}, value: null}}",
        "ndarrays: {a: {shape: [], type: {vlen: {base: {opaque: {size: 4000000000}}}}, value: [\"0x\", \"0x\"]}}",
        "ndarrays: {a: {shape: [], type: regref, value: {target: /a, start: [0], opposite: [18446744073709551615]}}}",
    ] {
        assert!(read(text).has_errors(), "{text}");
    }
}

#[test]
fn rejects_types_that_are_too_large_or_contain_themselves() {
    let mut text = String::from("datatypes:\n  t0: {compound: [a: int8]}\n");
    for level in 1..64 {
        text.push_str(&format!("  t{level}: {{compound: [a: /t{0}, b: /t{0}]}}\n", level - 1));
    }
    assert!(first(&text).contains("[ndl/limit]"), "{}", first(&text));
    let mut chain = String::from("datatypes:\n");
    for level in 0..20_000 {
        chain.push_str(&format!("  t{level}: {{vlen: {{base: /t{}}}}}\n", level + 1));
    }
    assert!(first(&chain).contains("[ndl/depth]"), "{}", first(&chain));
    let found = first("datatypes: {a: {vlen: {base: /b}}, b: {vlen: {base: /a}}}");
    assert!(found.contains("the type /a contains itself [ndl/type]"), "{found}");
}

#[test]
fn names_without_suggestions_cost_little() {
    let long = "x".repeat(1_000_000);
    assert!(read(format!("ndarrays: {{a: {{shape: [{long}], type: {long}, {long}: 1}}}}")).has_errors());
}

#[test]
fn searches_no_suggestions_after_the_maximum_number_of_findings() {
    let many = |section: &str, entry: &str, count: usize| {
        let entries =
            (0..count).map(|i| format!("  {}{i}: {}\n", &section[..1], entry.replace('#', &i.to_string())));
        format!("{section}:\n{}", entries.collect::<String>())
    };
    let named = |count| many("datatypes", "int8", count);
    let sized = many("xdims", "{size: 1}", 300).replace("xdims", "dimcoords");
    let wrong = |kind: &str| many("ndarrays", &format!("{{shape: [], type: {kind}}}"), 20_000);
    for text in [
        named(10_000) + &wrong("q#"),
        named(300) + &wrong("/qqqqqqqqqqqqqqqq#"),
        sized + &many("ndarrays", "{shape: [qqqqqqqqqqqqqqqq#], type: int8}", 20_000),
    ] {
        let start = std::time::Instant::now();
        let parsed = read(&text);
        assert!(parsed.diagnostics.last().unwrap().message.ends_with("more findings are not shown"));
        // The limit allows for an unoptimised build that runs beside other tests. Quadratic time would take minutes.
        assert!(start.elapsed().as_secs() < 30, "{:?}", start.elapsed());
    }
}

const DOCUMENTS: [&str; 3] = [
    include_str!("golden/everything.yaml"),
    include_str!("golden/ocean.yaml"),
    include_str!("golden/observations.yaml"),
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn edits_of_good_documents_never_panic(
        which in 0..DOCUMENTS.len(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0..4_u8, any::<prop::sample::Index>(), "[-\\[\\]{}:,&*!|>'\"#%@`~0-9a-z. \n\t]{1,3}"), 1..6),
    ) {
        let mut text: Vec<char> = DOCUMENTS[which].chars().collect();
        for (at, kind, other, new) in edits {
            let at = at.index(text.len());
            match kind {
                0 => { text.remove(at); }
                1 => { text.splice(at..at, new.chars()); }
                2 => { text.splice(at..=at, new.chars()); }
                _ => { let c = text[other.index(text.len())]; text.insert(at, c); }
            }
        }
        let text: String = text.into_iter().collect();
        let lines = text.split('\n').count();
        for options in [ParseOptions::default(), ParseOptions { strict: true, lenient: true, pure: true }] {
            let parsed = parse(text.as_bytes(), &options);
            for one in &parsed.diagnostics {
                prop_assert!(one.line >= 1 && one.line <= lines + 1, "{}", one);
                prop_assert!(one.column >= 1 && one.end_column > one.column, "{}", one);
                // Tabs are shown as spaces.
                let message = one.message.replace('\t', "    ");
                prop_assert!(one.render("f", text.as_bytes(), false).contains(&message), "{:?}", one);
            }
            let sorted = parsed.diagnostics.is_sorted_by_key(|one| (one.line, one.column));
            prop_assert!(sorted);
        }
    }

    #[test]
    fn bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        read(&bytes);
    }
}
