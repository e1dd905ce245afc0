use super::*;
use hyperslab_core::ErrorKind;
use hyperslab_core::store::{DirectoryStore, MemoryStore};
use std::fs;
use std::ops::ControlFlow;

const ARRAY_3: &str = r#"{"zarr_format":3,"node_type":"array","shape":[6],"data_type":"int8",
    "chunk_grid":{"name":"regular","configuration":{"chunk_shape":[2]}},"chunk_key_encoding":"default",
    "fill_value":0,"codecs":["bytes"],"attributes":{"a":1}}"#;
const GROUP_3: &str = r#"{"zarr_format":3,"node_type":"group"}"#;
const ARRAY_2: &str = r#"{"zarr_format":2,"shape":[6],"chunks":[2],"dtype":"|i1","compressor":null,
    "fill_value":0,"order":"C","filters":null}"#;
const GROUP_2: &str = r#"{"zarr_format":2}"#;

fn key(key: &str) -> Key {
    Key::new(key).unwrap()
}

fn memory(values: &[(&str, &str)]) -> Arc<dyn Store> {
    let mut store = MemoryStore::new();
    for (name, value) in values {
        store.insert(&key(name), value.to_string());
    }
    Arc::new(store)
}

fn open(values: &[(&str, &str)]) -> Result<Hierarchy> {
    Hierarchy::open(memory(values), Limits::default())
}

fn told(hierarchy: &Hierarchy) -> Vec<String> {
    let tell = |(path, node): (Key, Result<Node>)| match node {
        Ok(node) if node.is_array() => format!("/{path} array"),
        Ok(_) => format!("/{path} group"),
        Err(e) => e.to_string(),
    };
    hierarchy.walk(&Key::root()).map(tell).collect()
}

#[test]
fn finds_nodes_of_both_versions_in_order() {
    let hierarchy = open(&[
        ("zarr.json", GROUP_3),
        ("b/zarr.json", ARRAY_3),
        ("b/c/0", "no node"),
        ("b/c/zarr.json", "within an array, so not looked at"),
        ("a/.zgroup", GROUP_2),
        ("a/x/.zarray", ARRAY_2),
        ("a/x/.zattrs", r#"{"units":"m"}"#),
        ("a-b/zarr.json", GROUP_3),
        ("folder/file", ""),
        ("__hidden/.zarray", ARRAY_2),
        ("__reserved/zarr.json", GROUP_3),
        ("__cache/file", "no node"),
    ])
    .unwrap();
    assert!(!hierarchy.is_consolidated());
    assert_eq!(
        told(&hierarchy),
        [
            "/ group",
            "/__hidden array",
            "/__reserved group",
            "/a group",
            "/a/x array",
            "/a-b group",
            "/b array"
        ]
    );
    let node = hierarchy.node(&key("a/x")).unwrap().unwrap();
    assert_eq!(node.attributes().unwrap().get("units").and_then(Json::as_str), Some("m"));
    assert!(hierarchy.node(&key("b")).unwrap().unwrap().attributes().is_some());
    assert_eq!(hierarchy.node(&key("folder")).unwrap(), None);
    let below: Vec<_> = hierarchy.walk(&key("a")).map(|(path, _)| path.to_string()).collect();
    assert_eq!(below, ["a", "a/x"]);
}

#[test]
fn accepts_a_folder_of_nodes_only_at_the_start_of_a_walk() {
    let hierarchy = open(&[
        ("notes/text", "no node"),
        ("store.zarr/zarr.json", GROUP_3),
        ("store.zarr/folder/inner/zarr.json", GROUP_3),
    ])
    .unwrap();
    assert_eq!(told(&hierarchy), ["/ group", "/store.zarr group"]);
    assert_eq!(hierarchy.node(&Key::root()).unwrap(), None);
    assert_eq!(hierarchy.node_or_folder(&Key::root()).unwrap().unwrap().metadata, Metadata::Folder);
    assert_eq!(hierarchy.node_or_folder(&key("notes")).unwrap(), None);
    assert_eq!(hierarchy.walk(&key("notes")).count(), 0);
}

#[test]
fn a_broken_node_does_not_hide_others() {
    let hierarchy = open(&[
        (".zgroup", GROUP_2),
        ("a/.zarray", "{"),
        ("b/.zarray", ARRAY_2),
        ("b/.zattrs", r#"{"x":nan}"#),
        ("c/zarr.json", r#"{"zarr_format":3,"node_type":"group","new":1}"#),
        ("d/.zarray", ARRAY_2),
    ])
    .unwrap();
    assert_eq!(
        told(&hierarchy),
        [
            "/ group",
            "/a: malformed .zarray at byte 0x1: the end, expected a name in quotes",
            "/b: malformed .zattrs at byte 0x5: nan, expected a value",
            "/c: zarr.json#/new: \"new\" is unknown, and must_understand is not false",
            "/d array",
        ]
    );
}

#[test]
fn consolidated_metadata_of_version_3_replaces_documents() {
    let bare = GROUP_3.replace('}', r#","attributes":{"b":NaN}}"#);
    let root = format!(
        r#"{{"zarr_format":3,"node_type":"group","attributes":{{"r":-Infinity}},"consolidated_metadata":{{"kind":"inline",
        "must_understand":false,"metadata":{{"g":{bare},"g/a":{ARRAY_3},"a0":{ARRAY_3}}}}}}}"#
    );
    let values = [("zarr.json", root.as_str()), ("later/zarr.json", GROUP_3)];
    let hierarchy = open(&values).unwrap();
    assert!(hierarchy.is_consolidated());
    assert_eq!(told(&hierarchy), ["/ group", "/a0 array", "/g group", "/g/a array"]);
    let node = hierarchy.node(&Key::root()).unwrap().unwrap();
    assert!(node.attributes().is_some());
    let own = Hierarchy::unconsolidated(memory(&values), Limits::default());
    assert_eq!(told(&own), ["/ group", "/later group"]);
    let broken = root.replace("\"g/a\"", "\"g/../../a\"");
    let Err(e) = open(&[("zarr.json", &broken)]) else { panic!() };
    assert_eq!(
        e.to_string(),
        "zarr.json#/metadata: the name \"..\" in the key \"g/../../a\" of consolidated metadata"
    );
}

#[test]
fn consolidated_metadata_of_version_2_replaces_documents() {
    let copies = format!(
        r#"{{"zarr_consolidated_format":1,"metadata":{{".zgroup":{GROUP_2},".zattrs":{{"r":1}},
        "g/.zgroup":{GROUP_2},"g/a/.zarray":{ARRAY_2},"g/a/.zattrs":{{"u":NaN}},"g/a/other":{{}}}}}}"#
    );
    let values = [(".zgroup", GROUP_2), (".zmetadata", copies.as_str()), ("later/.zgroup", GROUP_2)];
    let hierarchy = open(&values).unwrap();
    assert!(hierarchy.is_consolidated());
    assert_eq!(told(&hierarchy), ["/ group", "/g group", "/g/a array"]);
    assert!(hierarchy.node(&key("g/a")).unwrap().unwrap().attributes().is_some());
    let Err(e) = open(&[(".zmetadata", "{\"metadata\":{}}")]) else { panic!() };
    assert_eq!(e.to_string(), ".zmetadata: no \"zarr_consolidated_format\"");
}

#[test]
fn depth_of_groups_has_no_limit() {
    let path = vec!["g"; 5000].join("/");
    let mut store = MemoryStore::new();
    let mut at = Key::root();
    for name in path.split('/') {
        store.insert(&at.join("zarr.json").unwrap(), GROUP_3);
        at = at.join(name).unwrap();
    }
    let hierarchy = Hierarchy::open(Arc::new(store), Limits::default()).unwrap();
    assert_eq!(hierarchy.walk(&Key::root()).count(), 5000);
}

#[test]
#[cfg(unix)]
fn walks_end_at_cycles_of_links() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    for name in ["", "a", "b"] {
        fs::create_dir_all(folder.path().join(name)).unwrap();
        fs::write(folder.path().join(name).join("zarr.json"), GROUP_3).unwrap();
    }
    // Each folder links to the other and to the root: following all links gives 3^40 paths.
    for (from, to) in [("a/b", "../b"), ("b/a", "../a"), ("a/up", ".."), ("b/up", "..")] {
        symlink(to, folder.path().join(from)).unwrap();
    }
    let store = Arc::new(DirectoryStore::open(folder.path()).unwrap());
    let hierarchy = Hierarchy::open(store, Limits::default()).unwrap();
    let expected =
        ["/ group", "/a group", "/a/b group", "/a/up group", "/b group", "/b/a group", "/b/up group"];
    assert_eq!(told(&hierarchy), expected);
}

#[test]
fn documents_have_limits() {
    let limits = Limits { allocation: 1000, ..Limits::default() };
    let hierarchy = Hierarchy::unconsolidated(memory(&[("zarr.json", ARRAY_3)]), limits);
    assert_eq!(hierarchy.node(&Key::root()).unwrap_err().kind(), ErrorKind::LimitExceeded);

    // White space takes no memory for values, but has to be read.
    let long = format!("{ARRAY_3}{}", " ".repeat(100_000));
    let node = |allocation| {
        let limits = Limits { allocation, ..Limits::default() };
        Hierarchy::unconsolidated(memory(&[("zarr.json", &long)]), limits).node(&Key::root())
    };
    let len = long.len() as u64;
    assert!(node(16 * len).unwrap().is_some());
    let e = node(16 * len - 1).unwrap_err().to_string();
    assert!(e.contains(&format!("zarr.json of {len} bytes, at most {} are read", len - 1)), "{e}");
    assert!(e.contains("raise the allocation limit"), "{e}");
}

#[test]
fn reads_the_attributes_of_broken_nodes() {
    let broken_3 = ARRAY_3.replace("int8", "int7");
    let broken_2 = ARRAY_2.replace("|i1", "|i7");
    let hierarchy = open(&[
        ("a/zarr.json", &broken_3),
        ("b/.zarray", &broken_2),
        ("b/.zattrs", r#"{"a":2}"#),
        ("c/.zgroup", "{"),
        ("d/zarr.json", "[]"),
    ])
    .unwrap();
    let told = |path: &str| {
        assert!(path == "e" || hierarchy.node(&key(path)).is_err());
        let Remains { is_array, attributes } = hierarchy.remains(&key(path));
        (is_array, attributes.map(|attributes| Json::Object(attributes).emit_compact()))
    };
    assert_eq!(told("a"), (Some(true), Some(r#"{"a":1}"#.to_owned())));
    assert_eq!(told("b"), (Some(true), Some(r#"{"a":2}"#.to_owned())));
    assert_eq!(told("c"), (Some(false), None));
    assert_eq!(told("d"), (None, None));
    assert_eq!(told("e"), (None, None));
}

#[test]
fn only_values_with_chunk_keys_are_chunks() {
    let dotted = ARRAY_3.replace("\"default\"", r#"{"name":"default","configuration":{"separator":"."}}"#);
    let hierarchy = open(&[
        ("a/zarr.json", ARRAY_3),
        ("a/c/0", "12"),
        ("a/c/17", "3"),
        ("a/c/x", "no chunk"),
        ("a/notes", "no chunk"),
        ("b/.zarray", ARRAY_2),
        ("b/.zattrs", "{}"),
        ("b/0", "1234"),
        ("b/1.5", "of two dimensions"),
        ("c/zarr.json", &dotted),
        ("c/c.0", "1"),
        ("c/c/0", "no chunk"),
        ("d/zarr.json", ARRAY_3),
    ])
    .unwrap();
    let node = |path: &str| hierarchy.node(&key(path)).unwrap().unwrap();
    let chunks = |path: &str| {
        let mut found = Vec::new();
        let visited = hierarchy.chunks(&node(path), &mut |key, index| {
            found.push(format!("{key} {index:?}"));
            Ok(ControlFlow::Continue(()))
        });
        visited.unwrap();
        found.sort();
        found
    };
    assert_eq!(chunks("a"), ["a/c/0 [0]", "a/c/17 [17]"]);
    assert_eq!((chunks("b"), chunks("c")), (vec!["b/0 [0]".into()], vec!["c/c.0 [0]".into()]));
    assert!(hierarchy.has_chunks(&node("a")).unwrap() && !hierarchy.has_chunks(&node("d")).unwrap());
    let mut values = 0;
    let visited = hierarchy.values(&mut |_| {
        values += 1;
        Ok(if values == 5 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    });
    assert_eq!((visited.is_ok(), values), (true, 5));
}
