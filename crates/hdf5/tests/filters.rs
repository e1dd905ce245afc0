//! Chunks of all registered filters. `data/make_filters.py` makes the file.

use crate::{integers, object, open, read};

#[test]
fn reads_chunks_of_every_filter_with_and_without_skipped_filters() {
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
