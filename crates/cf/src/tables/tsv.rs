//! The embedded tables: lines of tab-separated columns, after comments that begin with `#`.

/// The lines of a table, as columns. Columns missing from a line are empty.
pub(super) fn rows<const N: usize>(text: &'static str) -> impl Iterator<Item = [&'static str; N]> {
    below_comments(text).lines().map(|line| {
        let mut columns = line.split('\t');
        std::array::from_fn(|_| columns.next().unwrap_or_default())
    })
}

/// The lines after the comments.
pub(super) fn below_comments(mut text: &'static str) -> &'static str {
    while text.starts_with('#') {
        text = text.split_once('\n').map_or("", |(_, below)| below);
    }
    text
}

/// The content of a header comment: the text after `# Version: `.
pub(super) fn header(text: &'static str, key: &str) -> &'static str {
    let comments = text.lines().take_while(|line| line.starts_with('#'));
    let mut said = comments.filter_map(|line| line.strip_prefix("# ")?.strip_prefix(key)?.strip_prefix(": "));
    said.next().unwrap_or_default()
}

/// The row with a name, in rows that are sorted by name.
pub(super) fn find<'a, T>(rows: &'a [T], name: &str, name_of: impl Fn(&T) -> &str) -> Option<&'a T> {
    let at = rows.binary_search_by(|row| name_of(row).cmp(name)).ok()?;
    rows.get(at)
}
