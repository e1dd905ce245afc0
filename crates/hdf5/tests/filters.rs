//! Chunks that passed the registered filters. `data/make_filters.py` makes the file.

use crate::{integers, object, open, read};

#[test]
fn chunks_of_every_filter_are_read_whether_or_not_all_filters_applied() {
    let file = open("data/filters.h5");
    let expected: Vec<i64> = (0..12 * 13).map(|i| i / 3 * 7).collect();
    let links = object(&file, "/").unwrap().links(&file).unwrap();
    assert_eq!(links.len(), 23);
    for link in links {
        let name = String::from_utf8(link.name.to_vec()).unwrap();
        let rows = read(&file, &name).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(integers(&rows.rows, 4), expected, "{name}");
    }
}
