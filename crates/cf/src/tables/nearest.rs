//! Finds the name that a misspelt one probably means.

use crate::edits::edits;

/// The name with the fewest edits from `word`, if they are few for its length. Upper case, spaces, hyphens and points
/// are first converted to the usual form of names.
pub(crate) fn nearest<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let word: Vec<char> = word.trim().chars().map(as_in_names).collect();
    let mut most = word.len() / 6 + 1;
    let mut found = None;
    for name in names {
        // A name of another length takes at least as many edits as the difference: an argument of any length costs no
        // more than the longest name.
        if name.len().abs_diff(word.len()) > most && name.is_ascii() {
            continue;
        }
        let letters: Vec<char> = name.chars().map(as_in_names).collect();
        match edits(&word, &letters, most) {
            // The same letters, but in another case.
            Some(0) => return Some(name),
            Some(edits) => (most, found) = (edits - 1, Some(name)),
            None => {}
        }
    }
    // A word of one letter is one edit from every other.
    found.filter(|_| word.len() > 2)
}

fn as_in_names(letter: char) -> char {
    match letter {
        ' ' | '-' | '.' => '_',
        other => other.to_ascii_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_near_only_if_few_edits_are_needed() {
        let near = |word| nearest(word, ["air_pressure", "depth", "height"].into_iter());
        assert_eq!(near("Air Pressure"), Some("air_pressure"));
        assert_eq!(near("dpeth"), Some("depth"));
        assert_eq!(near("x"), None);
        assert_eq!(near(""), None);
        assert_eq!(near("salinity"), None);
    }
}
