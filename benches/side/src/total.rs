//! Hashes of outputs, which are equal on all sides.

use blake3::Hasher;

/// The hash of the bytes of an array.
pub fn of_bytes(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_string()
}

/// The hash of strings: all lengths, then all bytes.
pub fn of_strings<'a>(strings: impl Iterator<Item = &'a [u8]> + Clone) -> String {
    let mut hasher = Hasher::new();
    let lengths: Vec<u8> = strings.clone().flat_map(|string| (string.len() as u64).to_le_bytes()).collect();
    hasher.update(&lengths);
    strings.for_each(|string| {
        hasher.update(string);
    });
    hasher.finalize().to_string()
}

/// The hash of chunks, sorted by index: index of the first element, address and stored size of each.
pub fn of_chunks(mut chunks: Vec<Vec<u64>>) -> String {
    chunks.sort();
    of_bytes(&chunks.iter().flatten().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>())
}

/// The hash of the objects of a file: one line per object with its path and, for datasets, extents and element size.
#[derive(Default)]
pub struct Objects {
    lines: Vec<String>,
}

impl Objects {
    pub fn group(&mut self, path: &str) {
        self.lines.push(format!("{path}\n"));
    }

    pub fn dataset(&mut self, path: &str, extents: &[u64], element: usize) {
        let extents: Vec<String> = extents.iter().map(u64::to_string).collect();
        self.lines.push(format!("{path} {} {element}\n", extents.join(",")));
    }

    pub fn total(mut self) -> String {
        self.lines.sort();
        of_bytes(self.lines.concat().as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_depends_on_the_ends_of_strings() {
        let total = |strings: &[&[u8]]| of_strings(strings.iter().copied());
        assert_ne!(total(&[b"ab", b"c"]), total(&[b"a", b"bc"]));
    }

    #[test]
    fn the_hash_is_independent_of_the_order_of_chunks_and_objects() {
        assert_eq!(of_chunks(vec![vec![1, 2], vec![0, 3]]), of_chunks(vec![vec![0, 3], vec![1, 2]]));
        let mut one = Objects::default();
        one.group("/a");
        one.dataset("/b", &[1], 4);
        let mut other = Objects::default();
        other.dataset("/b", &[1], 4);
        other.group("/a");
        assert_eq!(one.total(), other.total());
    }
}
