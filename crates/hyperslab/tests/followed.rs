//! External links that are followed to other files.

use crate::{find, targets};
use hyperslab::model::{Link, Node, Reference};
use hyperslab::show::show;
use hyperslab::{Entry, Followed, Item, NodePath, OpenOptions, Source, Step, ndl, walk};
use std::path::Path;

fn followed(name: &str) -> Followed {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/nexus").join(name);
    Followed::new(hyperslab::open(&path, &OpenOptions::default()).unwrap())
}

fn values(source: &dyn Source, path: &str) -> String {
    let shown = show(source, &targets(source, path).unwrap()[0], &[]).unwrap();
    shown.elements().map(ndl::plain).collect::<Vec<_>>().join(" ")
}

/// All paths with the kinds of their objects and the targets of links.
fn listed(source: &dyn Source) -> Vec<String> {
    let root = source.find(&NodePath::root()).unwrap();
    let mut listed = Vec::new();
    let told = |Entry { handle, item }: &Entry| match item {
        Item::Link(Link::Hard(first)) => format!("{} = {first}", handle.path),
        Item::Link(Link::External { file, .. }) => format!("{} -> {file}", handle.path),
        item => format!("{} {:?}", handle.path, item.kind()),
    };
    walk(source, &root.handle, &mut |step| {
        if let Step::Enter(_, members) = step {
            listed.extend(members.iter().map(told));
        }
        Ok(())
    })
    .unwrap();
    listed
}

#[test]
fn objects_of_other_files_stand_at_the_paths_of_their_links() {
    let source = followed("master.nxs");
    assert_eq!(values(&source, "/entry/first"), "0 1 2 3");
    // Links to a missing file and to one outside the folder remain links, and the source reports why.
    for (path, file) in [("/entry/last", "data_3.h5"), ("/entry/outside", "../make_nexus.py")] {
        for _ in 0..2 {
            let item = find(&source, path).item;
            assert!(matches!(&item, Item::Link(Link::External { file: of, .. }) if of == file), "{item:?}");
        }
    }
    let links = source.unfollowed_links();
    assert_eq!(links.count, 2, "{links:?}");
    let reason = |path: &str| links.reason(&NodePath::new(path).unwrap()).unwrap().reason().to_string();
    assert_eq!(reason("/entry/last"), "leads to /data of data_3.h5, a file that does not exist");
    assert!(reason("/entry/outside").contains("make_nexus.py"), "{}", reason("/entry/outside"));
}

#[test]
fn user_defined_links_and_cycles_are_not_followed_and_named() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/datatypes.h5");
    let source = Followed::new(hyperslab::open(&path, &OpenOptions::default()).unwrap());
    let told =
        || -> Vec<String> { source.unfollowed_links().reasons.iter().map(|why| why.to_string()).collect() };
    assert_eq!(told(), [""; 0]);
    let names = ["/links/user", "/links/external"];
    names.iter().for_each(|path| drop(find(&source, path)));
    let told = told();
    assert!(told[0].contains("/links/user: a user-defined link of class 187"), "{told:?}");
    assert!(told[1].contains("/links/external: leads to /data of elsewhere.h5"), "{told:?}");
    assert_eq!(told.len(), 2);
}

#[test]
fn files_that_lead_to_each_other_are_listed_once() {
    assert_eq!(
        listed(&followed("ring_a.h5")),
        [
            "/grid Group",
            "/other Group",
            "/value Ndarray",
            "/grid/d Ndarray",
            "/grid/refers Ndarray",
            "/grid/soft Ndarray",
            "/grid/x DimCoord",
            "/other/back = /",
            "/other/g = /grid",
        ]
    );
}

#[test]
fn dimensions_and_references_below_a_link_have_its_path() {
    let source = followed("ring_a.h5");
    let array = find(&source, "/grid/d");
    let Node::Ndarray(node) = source.load(&array.handle).unwrap() else { panic!("no array") };
    let of = NodePath::new("/grid/x").unwrap();
    assert_eq!(node.shape.dims()[0].coordinate.as_ref(), Some(&of));
    let reference = &node.attributes["of"].as_ref().unwrap().value.heap.references[0];
    assert_eq!(*reference, Reference::Object(of));
    assert_eq!(values(&source, "/grid/soft"), "4 5 6");
    assert_eq!(values(&source, "/other/back/grid/d"), "4 5 6");
    // The elements of an array also refer to objects by their paths in this source.
    assert_eq!(values(&source, "/grid/refers"), "/grid/d");
}
