//! Links in groups with every kind of link storage.

use crate::{bytes, object, open, open_bytes, with_byte};
use hyperslab_core::ErrorKind;
use hyperslab_hdf5::format::message::MessageType;
use hyperslab_hdf5::format::message::link::LinkTarget;
use hyperslab_hdf5::{File, ObjectKind};

fn names(file: &File, path: &str) -> Vec<String> {
    let links = object(file, path).unwrap().links(file).unwrap();
    links.into_iter().map(|link| String::from_utf8(link.name).unwrap()).collect()
}

fn numbered(prefix: &str, numbers: impl Iterator<Item = usize>) -> Vec<String> {
    numbers.map(|n| format!("{prefix}{n:02}")).collect()
}

#[test]
fn symbol_tables_of_two_levels_are_listed_by_name() {
    let file = open("groups_old.h5");
    let expected: Vec<_> = (0..60).map(|n| format!("member_{n:03}")).collect();
    assert_eq!(names(&file, "/many"), expected);
    for name in expected {
        let link = object(&file, "/many").unwrap().link(&file, name.as_bytes()).unwrap().unwrap();
        assert_eq!(link.name, name.as_bytes());
        assert_eq!(link.creation_order, None);
    }
    assert_eq!(names(&file, "/empty"), [""; 0]);
    assert!(!object(&file, "/many").unwrap().tracks_creation_order(&file).unwrap());
}

#[test]
fn soft_links_of_symbol_tables_keep_their_target() {
    let file = open("groups_old.h5");
    let link = object(&file, "/a/b/c/d").unwrap().link(&file, b"soft").unwrap().unwrap();
    assert_eq!(link.target, LinkTarget::Soft(b"../../x".to_vec()));
    assert_eq!(link.address(), None);
}

#[test]
fn links_are_in_creation_order_where_it_is_tracked() {
    let file = open("groups_new.h5");
    for size in [3, 40] {
        assert_eq!(names(&file, &format!("/by_name_{size}")), numbered("n", 0..size));
        let tracked = format!("/tracked_{size}");
        assert_eq!(names(&file, &tracked), numbered("n", (0..size).rev()));
        let group = object(&file, &tracked).unwrap();
        assert!(group.tracks_creation_order(&file).unwrap());
        let orders: Vec<_> = group.links(&file).unwrap().iter().map(|link| link.creation_order).collect();
        assert_eq!(orders, (0..).take(size).map(Some).collect::<Vec<_>>());
    }
}

#[test]
fn exactly_the_listed_links_are_found_by_name() {
    let file = open("groups_new.h5");
    for path in ["/by_name_3", "/by_name_40", "/tracked_3", "/tracked_40", "/dense_objects", "/names"] {
        let group = object(&file, path).unwrap();
        for link in group.links(&file).unwrap() {
            assert_eq!(group.link(&file, &link.name).unwrap(), Some(link));
        }
        assert_eq!(group.link(&file, b"absent").unwrap(), None);
        assert_eq!(group.link(&file, b"").unwrap(), None);
    }
}

#[test]
fn names_are_the_bytes_of_the_file() {
    let file = open("groups_new.h5");
    let found = names(&file, "/names");
    for name in ["Ærøskøbing", "quote\"d", "tab\tbed", "dot.dot"] {
        assert!(found.iter().any(|own| own == name), "{name}");
    }
    assert!(found.contains(&"a".repeat(70)));
}

#[test]
fn external_and_user_defined_links_have_their_targets() {
    let file = open("datatypes.h5");
    let group = object(&file, "/links").unwrap();
    let target = |name: &str| group.link(&file, name.as_bytes()).unwrap().unwrap().target;
    assert!(matches!(target("external"), LinkTarget::External(link)
        if link.file == b"elsewhere.h5" && link.path == b"/data"));
    assert_eq!(target("user"), LinkTarget::UserDefined { code: 187, data: vec![1, 2] });
    assert_eq!(target("dangling"), LinkTarget::Soft(b"/nowhere".to_vec()));
    assert_eq!(target("up"), LinkTarget::Hard(file.root_address()));
    let order = ["hard", "soft", "relative", "dangling", "external", "user", "up"];
    assert_eq!(names(&file, "/links"), order);
}

#[test]
fn counts_hard_links() {
    let file = open("data/links.h5");
    assert_eq!(object(&file, "/z/name").unwrap().reference_count(), 2);
    let (one, other) = (object(&file, "/z/name").unwrap(), object(&file, "/z/group/data").unwrap());
    assert_eq!(one.address(), other.address());
}

#[test]
fn rejects_objects_of_another_kind() {
    let file = open("datatypes.h5");
    let group = object(&file, "/links").unwrap();
    assert_eq!(group.kind(), ObjectKind::Group);
    assert!(group.dataset(&file).unwrap_err().to_string().contains("is a group, not a dataset"));
    assert!(group.named_datatype(&file).is_err());
    let dataset = object(&file, "/links/hard").unwrap();
    assert!(dataset.links(&file).unwrap_err().to_string().contains("is a dataset, not a group"));
    let datatype = object(&file, "/cell_t").unwrap();
    assert_eq!(datatype.kind(), ObjectKind::NamedDatatype);
    assert_eq!(datatype.named_datatype(&file).unwrap().size, 24);
}

#[test]
fn a_damaged_link_message_does_not_hide_the_others() {
    let whole = bytes("data/shared_messages.h5");
    let file = open_bytes(whole.clone()).unwrap();
    let root = file.root().unwrap();
    let all = names(&file, "/");
    let links: Vec<usize> = root
        .header()
        .find_all(MessageType::LINK)
        .map(|message| usize::try_from(message.offset).unwrap())
        .collect();
    assert_eq!(links.len(), all.len(), "they are in the header");
    for at in links {
        let file = open_bytes(with_byte(whole.clone(), at, 9)).unwrap();
        let found = file.root().unwrap().all_links(&file).unwrap();
        assert_eq!(found.links.len(), all.len() - 1);
        let [(name, error)] = found.unreadable.as_slice() else { panic!("{:?}", found.unreadable) };
        assert_eq!((name.as_slice(), error.kind()), (&b"?"[..], ErrorKind::Unsupported));
        for link in found.links {
            assert!(file.root().unwrap().link(&file, &link.name).unwrap().is_some());
        }
    }
}

#[test]
fn an_entry_without_name_does_not_hide_the_others() {
    let mut damaged = bytes("data/symbol_table.h5");
    let node = damaged.windows(4).rposition(|four| four == b"SNOD").unwrap();
    damaged[node + 8..node + 12].fill(0xee);
    let file = open_bytes(damaged).unwrap();
    let found = object(&file, "/g").unwrap().all_links(&file).unwrap();
    assert_eq!((found.links.len(), found.unreadable.len()), (151, 1));
    assert_eq!(found.unreadable[0].1.kind(), ErrorKind::Malformed);
}

#[test]
fn paths_lead_through_64_links_and_no_more() {
    let file = open("data/chain.h5");
    let found = file.find(b"/g/d").unwrap();
    assert!(found.is_some());
    assert_eq!(file.find(b"/a00/d").unwrap(), found);
    assert_eq!(file.find(b"/b01/./d").unwrap(), found);
    for path in ["/b00/d", "/c0", "/c1/d"] {
        assert_eq!(file.find(path.as_bytes()).unwrap(), None, "{path}");
    }
}
