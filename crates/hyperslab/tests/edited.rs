//! Stores that are changed in place and read again.

use hyperslab::cells::CellQuery;
use hyperslab::edit::{Action, Editing};
use hyperslab::model::{Elements, Node};
use hyperslab::{ErrorKind, NodePath, OpenOptions, Source, Times, check, open};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

/// A copy of the TileDB store among the examples.
fn survey() -> (TempDir, PathBuf) {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("survey.tdb");
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/survey.tdb"), &path);
    (place, path)
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &to),
            false => drop(fs::copy(entry.path(), to).unwrap()),
        }
    }
}

fn edited(path: &Path, changes: &[(Action, &str)]) -> Vec<String> {
    let mut editing = Editing::open(path, &OpenOptions::default()).unwrap();
    for (action, text) in changes {
        editing.plan_text(*action, text).unwrap();
    }
    let changes = editing.commit().unwrap();
    let report = check::check(path, &OpenOptions::default(), &Default::default()).unwrap();
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    // Another library can then check the same files.
    if let Some(to) = std::env::var_os("HYPERSLAB_WRITTEN") {
        let name = std::thread::current().name().unwrap_or("edited").replace("::", "_");
        copy(path, &PathBuf::from(to).join(name));
    }
    changes.iter().map(|change| format!("{:?} {} {}", change.kind, change.place, change.what)).collect()
}

fn refused(path: &Path, action: Action, text: &str) -> String {
    let mut editing = Editing::open(path, &OpenOptions::default()).unwrap();
    editing.plan_text(action, text).unwrap_err().to_string()
}

fn read(path: &Path) -> Arc<dyn Source> {
    open(path, &OpenOptions::default()).unwrap()
}

fn attribute(source: &dyn Source, path: &str, name: &str) -> Option<String> {
    let node = source.load(&source.find(&NodePath::new(path).unwrap()).unwrap().handle).unwrap();
    let attribute = node.attributes()?.get(name)?.as_ref().unwrap();
    Some(
        Elements::new(&attribute.datatype, &attribute.value)
            .map(hyperslab::ndl::plain)
            .collect::<Vec<_>>()
            .join(", "),
    )
}

/// The cells of the sparse array, one per line.
fn cells(path: &Path) -> Vec<String> {
    let source = read(path);
    let group = source.find(&NodePath::new("/sightings").unwrap()).unwrap().handle;
    let found = source.cells(&group).unwrap().unwrap().read(&CellQuery::default()).unwrap().unwrap();
    let columns: Vec<Vec<String>> = found
        .columns
        .iter()
        .map(|column| Elements::new(&column.datatype, &column.values).map(hyperslab::ndl::plain).collect())
        .collect();
    (0..found.len())
        .map(|cell| columns.iter().map(|column| &*column[cell]).collect::<Vec<_>>().join(" "))
        .collect()
}

#[test]
fn attributes_are_set_and_removed() {
    let (_place, path) = survey();
    let changes = edited(
        &path,
        &[
            (Action::Set, "/@title=Survey of 2026"),
            (Action::Set, "/sightings/count@units=1"),
            (Action::Set, "/sightings@valid={shape: [2], type: int16, value: [0, 100]}"),
            (Action::Set, "/sightings@grid={shape: [2, 2], type: float64, value: [[1, 2], [3, 4]]}"),
            (Action::Set, "/temperature/celsius@units=K"),
            (Action::Set, "sightings@gone=1"),
            (Action::Remove, "/sightings@gone"),
        ],
    );
    assert_eq!(changes[4], "Changed /temperature/celsius@units \"K\"");
    let source = read(&path);
    let of = |path: &str, name: &str| attribute(&*source, path, name).unwrap_or_default();
    assert_eq!(of("/", "title"), "Survey of 2026");
    assert_eq!(of("/sightings", "valid"), "0, 100");
    assert_eq!(of("/sightings", "grid"), "1.0, 2.0, 3.0, 4.0");
    assert_eq!(of("/sightings/count", "units"), "1");
    assert_eq!(of("/temperature/celsius", "units"), "K");
    assert_eq!(attribute(&*source, "/sightings", "gone"), None);
    edited(&path, &[(Action::Remove, "/sightings@grid"), (Action::Remove, "/temperature/celsius@units")]);
    let source = read(&path);
    assert_eq!(attribute(&*source, "/sightings", "grid"), None);
    assert_eq!(attribute(&*source, "/temperature/celsius", "units"), None);
    assert!(refused(&path, Action::Remove, "/sightings@valud").contains("valid"));
    assert!(
        refused(&path, Action::Set, "/sightings@x={shape: [2], type: string, value: [a, b]}")
            .contains("texts")
    );
    assert!(refused(&path, Action::Set, "/nothing@x=1").contains("no object /nothing"));
}

#[test]
fn cells_are_added_and_removed() {
    let (place, path) = survey();
    let before = cells(&path);
    assert_eq!(before.len(), 5);
    let changes = edited(&path, &[(Action::RemoveCells, "/sightings:species == \"gannet\" and count >= 20")]);
    assert_eq!(changes, ["Removed /sightings cells where species == \"gannet\" and count >= 20"]);
    assert_eq!(cells(&path).len(), 3);
    let document = place.path().join("more.yaml");
    let text = |species: &str| {
        format!(
            "/sightings:
  dimcoords:
    station: {{size: null, type: string}}
    day: {{size: 366, type: uint16}}
  ndarrays:
    species: {{shape: [station, day], type: {{enum: {{base: int8, members: {{{species}: 7, seal: 8}}}}}}}}
    count: {{shape: [station, day], type: int32}}
  cells:
    columns: [station, day, species, count]
    rows:
      - [oslo, 70, seal, 11]
      - [bergen, 3, {species}, 12]
"
        )
    };
    fs::write(&document, text("gannet")).unwrap();
    let changes = edited(&path, &[(Action::Append, document.to_str().unwrap())]);
    assert_eq!(changes, ["Added /sightings cells within station=\"bergen\"..\"oslo\", day=3..70"]);
    assert_eq!(cells(&path).len(), 4);
    assert!(cells(&path).contains(&"bergen 3 gannet 12".to_owned()), "{:?}", cells(&path));
    fs::write(&document, text("walrus")).unwrap();
    let unknown = refused(&path, Action::Append, document.to_str().unwrap());
    assert!(unknown.contains("\"walrus\" in species, which is not a value of its enumeration"), "{unknown}");
    assert!(refused(&path, Action::RemoveCells, "/sightings:cuont < 2").contains("did you mean count?"));
    assert!(refused(&path, Action::RemoveCells, "/temperature:celsius < 2").contains("a dense array"));
    assert!(refused(&path, Action::RemoveCells, "count < 2").contains("is a group"));
}

#[test]
fn another_store_is_appended_at_the_same_paths() {
    let (_place, path) = survey();
    let (_other_place, other) = survey();
    edited(&path, &[(Action::RemoveCells, "/sightings:day >= 0")]);
    let sightings = format!("{}:/sightings", other.display());
    let mut editing = Editing::open(&path, &OpenOptions::default()).unwrap();
    editing = editing.at(NodePath::new("/sightings").unwrap());
    editing.plan_text(Action::Append, &sightings).unwrap();
    editing.commit().unwrap();
    assert_eq!(cells(&path), cells(&other));
}

#[test]
fn schemas_evolve() {
    let (_place, path) = survey();
    edited(
        &path,
        &[
            (Action::AddAttribute, "/sightings/note=string"),
            (
                Action::AddAttribute,
                "/sightings/flag={type: int8, storage: {fillvalue: -1, filter: [{zstd: 3}]}}",
            ),
            (Action::Set, "/sightings/flag@long_name=quality flag"),
            (Action::ExtendEnumeration, "/sightings/species=walrus, orca"),
            (Action::DropAttribute, "/temperature/quality"),
        ],
    );
    let source = read(&path);
    assert_eq!(attribute(&*source, "/sightings/flag", "long_name").unwrap(), "quality flag");
    assert!(source.find(&NodePath::new("/temperature/quality").unwrap()).is_err());
    let species = source.find(&NodePath::new("/sightings/species").unwrap()).unwrap();
    let Node::Ndarray(species) = source.load(&species.handle).unwrap() else { unreachable!() };
    let datatype = species.datatype.unwrap().to_string();
    assert!(datatype.contains("walrus=3;orca=4"), "{datatype}");
    assert!(cells(&path)[0].ends_with(" -1"), "{:?}", cells(&path));
    assert!(
        refused(&path, Action::AddAttribute, "/sightings/count=int8").contains("the name of an attribute")
    );
    assert!(refused(&path, Action::AddAttribute, "/sightings/c={type: float16}").contains("does not have"));
    assert!(refused(&path, Action::DropAttribute, "/sightings/day").contains("a dimension"));
    assert!(refused(&path, Action::ExtendEnumeration, "/sightings/species=seal").contains("a second time"));
    assert!(refused(&path, Action::ExtendEnumeration, "/sightings/count=3").contains("no enumeration"));
    assert!(refused(&path, Action::Grow, "/temperature:y=0..99").contains("no current domain"));
}

#[test]
fn elements_are_written_from_files_of_numpy() {
    let (place, path) = survey();
    let file = place.path().join("new.npy");
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n";
    let numbers: Vec<u8> = (0..6_u8).flat_map(|n| f32::from(n).to_le_bytes()).collect();
    let len = u16::try_from(header.len()).unwrap().to_le_bytes();
    fs::write(&file, [&b"\x93NUMPY\x01\x00"[..], &len, header.as_bytes(), &numbers].concat()).unwrap();
    let values = |name: &str| -> Vec<String> {
        let source = read(&path);
        let entry = source.find(&NodePath::new(&format!("/temperature/{name}")).unwrap()).unwrap();
        let array = source.array(&entry.handle).unwrap();
        let shape = hyperslab::model::Shape::fixed(array.extents().unwrap());
        let all = hyperslab::select::Selected::new(&*source, &[], &shape).unwrap().read(&*array).unwrap();
        Elements::new(array.datatype(), &all).map(hyperslab::ndl::plain).collect()
    };
    let quality = values("quality");
    let mut expected = values("celsius");
    edited(&path, &[(Action::Write, &format!("/temperature/celsius:1:3,2:5={}", file.display()))]);
    for (row, column) in (0..2).flat_map(|row| (0..3).map(move |column| (row, column))) {
        expected[(row + 1) * 6 + column + 2] = format!("{}.0", row * 3 + column);
    }
    assert_eq!(values("celsius"), expected);
    assert_eq!(values("quality"), quality, "the other attribute of the same cells");
    let wrong = refused(&path, Action::Write, &format!("/temperature/celsius={}", file.display()));
    assert!(wrong.contains("elements of shape [2, 3], expected [4, 6]"), "{wrong}");
}

#[test]
fn members_come_and_go() {
    let (_place, path) = survey();
    edited(&path, &[(Action::AddMember, "/again=sightings"), (Action::RemoveMember, "/temperature")]);
    let source = read(&path);
    assert!(source.find(&NodePath::new("/again/count").unwrap()).is_ok());
    assert!(source.find(&NodePath::new("/temperature").unwrap()).is_err());
    assert!(refused(&path, Action::AddMember, "/again=temperature").contains("a member of this name"));
    assert!(refused(&path, Action::AddMember, "/x=nothing").contains("neither an array nor a group"));
    edited(&path, &[(Action::Rename, "/again=twice")]);
    let source = read(&path);
    assert!(source.find(&NodePath::new("/twice/count").unwrap()).is_ok());
    assert!(source.find(&NodePath::new("/again").unwrap()).is_err());
    assert!(refused(&path, Action::Rename, "/twice=sightings").contains("has a member sightings"));
    let cells = refused(&path, Action::Rename, "/twice/count=number");
    assert!(cells.contains("fragments find its cells by this name"), "{cells}");
    assert!(refused(&path, Action::RemoveMember, "/sighting").contains("did you mean sightings?"));
}

#[test]
fn nothing_is_written_before_all_is_planned() {
    let (_place, path) = survey();
    let before = read(&path).size().unwrap();
    let mut editing = Editing::open(&path, &OpenOptions::default()).unwrap();
    editing.plan_text(Action::Set, "/@title=x").unwrap();
    editing.plan_text(Action::RemoveCells, "/sightings:count > 0").unwrap();
    assert!(editing.plan_text(Action::RemoveCells, "/sightings:count >").is_err());
    drop(editing);
    assert_eq!(read(&path).size().unwrap(), before);
    assert_eq!(cells(&path).len(), 5);
}

#[test]
fn other_formats_are_not_changed_in_place() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/ocean.nc");
    let error = Editing::open(&file, &OpenOptions::default()).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("cannot be changed in place"), "{error}");
    let (_place, path) = survey();
    let at = Some(Times { start: 0, end: 5 });
    assert!(Editing::open(&path, &OpenOptions { at, ..OpenOptions::default() }).is_err());
}
