//! The edit distance between two words.

/// The Levenshtein distance, with a swap of two neighbours as one edit; `None` if it exceeds `most`.
pub(crate) fn edits(a: &[char], b: &[char], most: usize) -> Option<usize> {
    if a.len().abs_diff(b.len()) > most {
        return None;
    }
    let (mut before, mut above): (Vec<usize>, Vec<usize>) = (Vec::new(), (0..=b.len()).collect());
    let mut last = None;
    for (i, x) in a.iter().enumerate() {
        let mut row = Vec::with_capacity(b.len() + 1);
        row.push(i + 1);
        let (mut left, mut least_of_row) = (i + 1, i + 1);
        let mut before_it = None;
        for (j, (y, pair)) in b.iter().zip(above.windows(2)).enumerate() {
            let [diagonal, up] = pair else { continue };
            let mut least = (diagonal + usize::from(x != y)).min(up + 1).min(left + 1);
            if last == Some(y)
                && before_it == Some(x)
                && let Some(swapped) = j.checked_sub(1).and_then(|j| before.get(j))
            {
                least = least.min(swapped + 1);
            }
            row.push(least);
            (left, least_of_row, before_it) = (least, least_of_row.min(least), Some(y));
        }
        // No later row has a smaller minimum: a swap refers to two rows back, but is an edit itself.
        if least_of_row > most {
            return None;
        }
        before = std::mem::replace(&mut above, row);
        last = Some(x);
    }
    above.last().copied().filter(|edits| *edits <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_counted() {
        let edits = |a: &str, b: &str, most| {
            edits(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>(), most)
        };
        assert_eq!(edits("", "", 0), Some(0));
        assert_eq!(edits("depth", "depth", 0), Some(0));
        assert_eq!(edits("depht", "depth", 1), Some(1));
        assert_eq!(edits("deph", "depth", 1), Some(1));
        assert_eq!(edits("xdepth", "depth", 1), Some(1));
        assert_eq!(edits("kitten", "sitting", 3), Some(3));
        assert_eq!(edits("kitten", "sitting", 2), None);
        assert_eq!(edits("abcd", "badc", 2), Some(2));
    }
}
