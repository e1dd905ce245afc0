//! Walks through the tree and lists of members.

use crate::{find, open, open_raw};
use hyperslab::list::{rows, type_label};
use hyperslab::model::Link;
use hyperslab::{Item, Source, Step, walk};
use std::collections::BTreeMap;

/// Every path that a walk visits, with the target of each link.
fn walked(source: &dyn Source) -> BTreeMap<String, Option<Link>> {
    let mut found = BTreeMap::new();
    walk(source, &find(source, "/").handle, &mut |step| {
        let (path, link) = match step {
            Step::Enter(group, _) => (group.path.to_string(), None),
            Step::Member(entry) => match &entry.item {
                Item::Link(link) => (entry.handle.path.to_string(), Some(link.clone())),
                _ => (entry.handle.path.to_string(), None),
            },
            Step::Leave(_) => return Ok(()),
        };
        assert!(found.insert(path.clone(), link).is_none(), "{path} is visited twice");
        Ok(())
    })
    .unwrap();
    found
}

fn hard(found: &BTreeMap<String, Option<Link>>, path: &str) -> String {
    match &found[path] {
        Some(Link::Hard(target)) => target.to_string(),
        other => panic!("{path}: {other:?}"),
    }
}

#[test]
fn an_object_is_visited_at_its_first_path_and_a_link_at_others() {
    let found = walked(&*open("groups_old.h5"));
    assert_eq!(hard(&found, "/loop/c/d/data"), "/same");
    // The path with fewer components is visited first.
    assert_eq!(hard(&found, "/a/b"), "/loop");
    assert!(found["/same"].is_none() && found["/loop"].is_none());
    let found = walked(&*open("datatypes.h5"));
    assert_eq!(hard(&found, "/links/hard"), "/layouts/chunked");
}

#[test]
fn walks_end_in_cycles_of_hard_links() {
    let found = walked(&*open("datatypes.h5"));
    assert_eq!(hard(&found, "/links/up"), "/");
    let found = walked(&*open("hdf5/links.h5"));
    assert_eq!(hard(&found, "/z/group/up"), "/z");
    assert_eq!(found["/a"], Some(Link::Soft("/b/x".into())));
}

#[test]
fn soft_and_external_links_are_listed_with_their_targets() {
    let found = walked(&*open("datatypes.h5"));
    let external = Link::External { file: "elsewhere.h5".into(), path: "/data".into() };
    assert_eq!(found["/links/external"], Some(external));
    assert_eq!(found["/links/user"], Some(Link::User { class: 187, data: vec![1, 2] }));
    assert_eq!(found["/links/relative"], Some(Link::Soft("hard".into())));
}

#[test]
fn a_walk_visits_the_objects_of_a_recursive_list() {
    for name in
        ["ocean.nc", "nested_groups.nc", "groups_old.h5", "groups_new.h5", "datatypes.h5", "hdf5/links.h5"]
    {
        for source in [open(name), open_raw(name)] {
            let mut listed: Vec<String> = vec!["/".into()];
            rows(&*source, &find(&*source, "/").handle, true, &mut |row| {
                listed.push(row.entry.handle.path.to_string());
                Ok(())
            })
            .unwrap();
            listed.sort();
            assert_eq!(listed, walked(&*source).into_keys().collect::<Vec<_>>(), "{name}");
        }
    }
}

#[test]
fn every_visited_object_is_found_by_its_path() {
    for name in ["ocean.nc", "groups_old.h5", "datatypes.h5", "strings.nc"] {
        let source = open(name);
        for (path, link) in walked(&*source) {
            let entry = find(&*source, &path);
            assert_eq!(entry.handle.path.as_str(), path);
            if link.is_none() {
                source.load(&entry.handle).unwrap();
            }
        }
    }
}

#[test]
fn members_are_in_stored_order_and_dimensions_in_their_order() {
    let names = |name: &str| -> Vec<String> {
        let source = open(name);
        let members = source.members(&find(&*source, "/").handle).unwrap();
        members.iter().map(|entry| entry.handle.path.name().to_owned()).collect()
    };
    assert_eq!(
        names("unlimited.nc"),
        ["time", "profile", "level", "fixed", "never", "short", "grid", "cube", "unwritten"]
    );
    let source = open("datatypes.h5");
    let members = source.members(&find(&*source, "/made_of_others").handle).unwrap();
    let types: Vec<_> = members.iter().take(4).map(|entry| type_label(&entry.item).into_owned()).collect();
    assert_eq!(
        types,
        [
            "enum(int8;FALSE=0;TRUE=1)",
            "enum(int8;GAS=-1;SOLID=0;LIQUID=1;no=7)",
            "enum(uint16;near=2;far=300)",
            "/cell_t"
        ]
    );
}
