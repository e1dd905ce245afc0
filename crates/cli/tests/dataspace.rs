//! `--dataspace`: the variables that TileDB-CF stores as attributes of arrays.

use crate::command::{Ran, examples};
use crate::interrupted::run;
use tempfile::TempDir;

fn survey(words: &[&str]) -> Ran {
    let folder = TempDir::new().unwrap();
    let store = examples().join("survey.tdb");
    let mut all: Vec<&str> = vec![words[0], store.to_str().unwrap()];
    all.extend(&words[1..]);
    run(folder.path(), &all)
}

#[test]
fn attributes_of_arrays_are_variables() {
    let plain = survey(&["ls", "-r"]);
    assert!(plain.answer.contains("temperature  group"), "{}", plain.answer);
    let shown = survey(&["ls", "-r", "--dataspace", "auto"]);
    assert_eq!(shown.code, 0, "{}", shown.messages);
    assert!(!shown.answer.contains("temperature  group"), "{}", shown.answer);
    assert!(shown.answer.contains("├── celsius "), "{}", shown.answer);
    // Sparse arrays are shown as they are without the option.
    assert!(shown.answer.contains("sightings    group"), "{}", shown.answer);
    let values = |words: &[&str]| survey(&[&["digest"], words].concat()).answer;
    let hash = |text: &str, path: &str| {
        let line = text.lines().find(|line| line.contains(&format!(" {path} "))).unwrap().to_owned();
        line.rsplit(' ').next().unwrap().to_owned()
    };
    let (stored, shown) = (values(&[]), values(&["--dataspace", "auto"]));
    assert_eq!(hash(&stored, "/temperature/celsius"), hash(&shown, "/celsius"));
}

#[test]
fn a_convention_that_does_not_hold_is_refused() {
    let refused = survey(&["describe", "--dataspace", "simple-0.3.0"]);
    assert_eq!(refused.code, 2, "{}", refused.answer);
    assert!(refused.messages.contains("is not simple-0.3.0"), "{}", refused.messages);
    assert!(refused.messages.contains("auto shows any dataspace"), "{}", refused.messages);
    let unknown = survey(&["describe", "--dataspace", "cf-0.3"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.messages.contains("cf-0.3.0"), "{}", unknown.messages);
    let folder = TempDir::new().unwrap();
    let ocean = examples().join("ocean.nc");
    let other = run(folder.path(), &["describe", ocean.to_str().unwrap(), "--dataspace", "auto"]);
    assert_eq!(other.code, 2);
    assert!(other.messages.contains("has no dataspaces"), "{}", other.messages);
}

const CONVENTIONS: [&str; 6] =
    ["cf-0.1.0", "indexable-0.1.0", "cf-0.2.0", "simple-0.2.0", "cf-0.3.0", "simple-0.3.0"];

/// The answer of the command in a folder, where the command must succeed.
fn answer(folder: &TempDir, words: &[&str]) -> String {
    let ran = run(folder.path(), words);
    assert_eq!(ran.code, 0, "{words:?}: {}{}", ran.answer, ran.messages);
    ran.answer
}

/// The lines of a digest without the spaces that align them.
fn digest(folder: &TempDir, store: &str) -> Vec<String> {
    let lines = answer(folder, &["digest", "-q", store]);
    lines.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

fn ocean(folder: &TempDir) -> String {
    let to = folder.path().join("ocean.nc");
    std::fs::copy(examples().join("ocean.nc"), to).unwrap();
    "ocean.nc".to_owned()
}

#[test]
fn a_target_satisfies_the_convention_that_was_asked_for() {
    let folder = TempDir::new().unwrap();
    let source = ocean(&folder);
    for convention in CONVENTIONS {
        let store = format!("{convention}.tdb");
        answer(&folder, &["convert", "-q", &source, &store, "--dataspace", convention]);
        answer(&folder, &["check", &store, "--conventions", convention]);
        assert_eq!(digest(&folder, &store), digest(&folder, &source), "{convention}");
        let has_array = folder.path().join(&store).join("__tiledb_group").is_dir();
        assert_eq!(has_array, !convention.ends_with("0.3.0"), "{convention}");
        // The array with the metadata of the group is internal and not listed as a member.
        assert!(!answer(&folder, &["ls", "-r", &store]).contains("__tiledb_group"));
    }
    answer(&folder, &["edit", "-q", "cf-0.2.0.tdb", "--set", "/@title=changed"]);
    assert!(answer(&folder, &["show", "cf-0.2.0.tdb:/@title"]).contains("changed"));
    answer(&folder, &["check", "cf-0.2.0.tdb", "--conventions", "cf-0.2.0"]);
}

#[test]
fn arrays_of_the_same_dimensions_are_collected_and_return() {
    let folder = TempDir::new().unwrap();
    let source = ocean(&folder);
    answer(&folder, &["convert", "-q", &source, "o.tdb", "-O", "tiledb.collect"]);
    answer(&folder, &["check", "o.tdb", "--conventions", "cf-0.3.0"]);
    let broken = run(folder.path(), &["check", "o.tdb", "--conventions", "simple-0.3.0"]);
    assert!(broken.answer.contains("tiledb-cf/array-named-single-attribute"), "{}", broken.answer);
    assert_eq!(digest(&folder, "o.tdb"), digest(&folder, &source));
    let (plain, auto) = (["ls", "-r", "o.tdb"], ["ls", "-r", "o.tdb", "--dataspace", "auto"]);
    assert_eq!(answer(&folder, &plain), answer(&folder, &auto));
    let raw = answer(&folder, &["ls", "-r", "o.tdb", "--raw"]);
    assert!(raw.contains("array0"), "{raw}");
    answer(&folder, &["convert", "-q", "o.tdb", "back.nc"]);
    assert_eq!(digest(&folder, "back.nc"), digest(&folder, &source));
    // For maintenance, collected arrays are one array, and its parts share its history.
    answer(&folder, &["edit", "-q", "o.tdb", "--consolidate", "--vacuum"]);
    assert_eq!(digest(&folder, "o.tdb"), digest(&folder, &source));
    let both = run(
        folder.path(),
        &["convert", "-q", &source, "p.tdb", "-O", "tiledb.collect", "--dataspace", "simple-0.3.0"],
    );
    assert_eq!(both.code, 2, "{}", both.answer);
    assert!(both.messages.contains("cannot be simple-0.3.0"), "{}", both.messages);
    assert!(!folder.path().join("p.tdb").exists());
}

#[test]
fn collected_arrays_have_tiles_enumerations_nulls_and_scalars_of_their_own() {
    let folder = TempDir::new().unwrap();
    let array = |name: &str, more: &str| format!("  {name}:\n    shape: [x]\n{more}");
    let text = [
        "dimcoords:\n  x: {size: 4}\nndarrays:\n".to_owned(),
        array("a", "    type: int16\n    storage: {chunk: [2]}\n    value: [1, 2, 3, 4]\n"),
        array("b", "    type: float64\n    storage: {chunk: [3]}\n    value: [0.5, 1.5, 2.5, 3.5]\n"),
        array(
            "c",
            "    type: {enum: {base: int8, members: {red: 0, blue: 1}}}\n    value: [red, blue, blue, red]\n",
        ),
        array(
            "d",
            "    type: {enum: {base: int8, members: {'no': 0, 'yes': 1}}}\n    value: ['no', 'yes', 'yes', 'no']\n",
        ),
        array("e", "    type: string\n    value: [one, '', three, four]\n"),
        // Never written.
        array("f", "    type: int32\n    storage: {fillvalue: 7}\n"),
        "  s: {shape: [], type: int32, value: 5}\n  t: {shape: [], type: string, value: text}\n".to_owned(),
    ];
    std::fs::write(folder.path().join("d.yaml"), text.concat()).unwrap();
    let report = answer(&folder, &["create", "d.yaml", "one.tdb"]);
    assert!(!report.contains("collected"), "{report}");
    let report = answer(&folder, &["create", "d.yaml", "many.tdb", "-O", "tiledb.collect"]);
    assert!(report.contains("/b") && report.contains("the same tiles"), "{report}");
    assert_eq!(digest(&folder, "many.tdb"), digest(&folder, "one.tdb"));
    assert_eq!(std::fs::read_dir(folder.path().join("many.tdb")).unwrap().count(), 5);
    answer(&folder, &["check", "many.tdb"]);
}

#[test]
fn a_compound_that_is_collected_is_an_attribute_for_each_member() {
    let folder = TempDir::new().unwrap();
    let text = [
        "dimcoords:\n  x: {size: 3}\nndarrays:\n  n: {shape: [x], type: int32, value: [1, 2, 3]}\n",
        "  obs:\n    shape: [x]\n    storage: {chunk: [2], members: {code: {charset: ascii, length: 4, pad: spacepad}}}\n    type:\n      compound:\n",
        "        - when: int64\n        - data: float32\n        - name: string\n",
        "        - code: string\n",
        "        - grade: {enum: {base: int8, members: {low: 0, high: 1}}}\n",
        "        - place: {array: {base: float64, shape: [2]}}\n    value:\n",
        "    - [1, 0.5, one, ab, low, [1.5, 2.5]]\n    - [2, 1.5, '', abcd, high, [0, -1]]\n",
        "    - [-3, 2.5, three, '', low, [3, 4]]\n",
    ]
    .concat();
    std::fs::write(folder.path().join("d.yaml"), &text).unwrap();
    answer(&folder, &["create", "d.yaml", "one.tdb"]);
    let report = answer(&folder, &["create", "d.yaml", "many.tdb", "-O", "tiledb.collect"]);
    assert!(report.contains("/obs") && report.contains("an attribute for each member"), "{report}");
    assert_eq!(digest(&folder, "many.tdb"), digest(&folder, "one.tdb"));
    answer(&folder, &["check", "many.tdb", "--conventions", "cf-0.3.0"]);
    let raw = answer(&folder, &["show", "many.tdb:/array0/obs.when", "--raw"]);
    assert!(raw.contains("-3"), "{raw}");
    let raw = answer(&folder, &["ls", "-r", "many.tdb", "--raw"]);
    for name in ["n ", "obs.data_ ", "obs.name ", "obs.code ", "obs.grade ", "obs.place "] {
        assert!(raw.contains(name), "{name}: {raw}");
    }
    // A compound without another array of the same dimensions.
    let only = text.replace("  n: {shape: [x], type: int32, value: [1, 2, 3]}\n", "");
    std::fs::write(folder.path().join("only.yaml"), only).unwrap();
    answer(&folder, &["create", "only.yaml", "only.tdb", "-O", "tiledb.collect"]);
    answer(&folder, &["create", "only.yaml", "plain.tdb"]);
    assert_eq!(digest(&folder, "only.tdb"), digest(&folder, "plain.tdb"));
    assert!(answer(&folder, &["ls", "only.tdb"]).contains("compound"));
}

#[test]
fn dimensions_of_one_name_and_other_lengths_have_other_names() {
    let folder = TempDir::new().unwrap();
    let text = "ndarrays:\n  a: {shape: [2], type: int8, value: [1, 2]}\n  b: {shape: [3], type: int8, value: [1, 2, 3]}\n";
    std::fs::write(folder.path().join("d.yaml"), text).unwrap();
    answer(&folder, &["create", "-q", "d.yaml", "d.tdb"]);
    answer(&folder, &["check", "d.tdb", "--conventions", "simple-0.3.0"]);
    let raw = answer(&folder, &["ls", "-r", "d.tdb", "--raw"]);
    assert!(raw.contains("dim_0_2=3"), "{raw}");
}

#[test]
fn what_a_convention_cannot_have_is_refused_before_a_byte_is_written() {
    let folder = TempDir::new().unwrap();
    let text = "ndarrays:\n  a: {shape: [2], type: int8, value: [1, 2]}\n  a.data: {shape: [2], type: int8, value: [1, 2]}\n";
    std::fs::write(folder.path().join("d.yaml"), text).unwrap();
    let refused = run(folder.path(), &["create", "-q", "d.yaml", "d.tdb", "-O", "tiledb.dataspace=cf-0.2.0"]);
    assert_eq!(refused.code, 2, "{}", refused.answer);
    assert!(refused.messages.contains("tiledb-cf/attr-dataspace-name-unique"), "{}", refused.messages);
    assert!(!folder.path().join("d.tdb").exists());
    answer(&folder, &["create", "-q", "d.yaml", "d.tdb", "-O", "tiledb.dataspace=cf-0.3.0"]);
    let store = examples().join("survey.tdb");
    // The dimensions of sparse arrays are coordinates.
    let words = ["convert", "-q", store.to_str().unwrap(), "s.tdb", "--dataspace", "simple-0.3.0"];
    let refused = run(folder.path(), &words);
    assert_eq!(refused.code, 2, "{}", refused.answer);
    assert!(refused.messages.contains("cannot be simple-0.3.0"), "{}", refused.messages);
    // If a convention is requested for the target, the source is shown as a dataspace.
    let dense = format!("{}:/celsius", store.display());
    let words =
        ["convert", "-q", &dense, "s.tdb", "--dataspace", "simple-0.3.0", "--allow-loss", "unreadable"];
    answer(&folder, &words);
    answer(&folder, &["check", "s.tdb", "--conventions", "simple-0.3.0"]);
}
