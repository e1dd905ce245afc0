//! Mutants of a file. The same seed gives the same mutant.

use hyperslab_hdf5::format::checksum::lookup3;

/// Where a checksum is, and the bytes that it covers.
pub struct Checksum {
    start: usize,
    end: usize,
}

/// A damaged copy.
pub fn mutant(original: &[u8], seed: u64) -> Vec<u8> {
    let mut bytes = original.to_vec();
    let mut random = Random::new(seed);
    for _ in 0..=random.below(7) {
        damage(&mut bytes, &mut random);
    }
    bytes
}

fn damage(bytes: &mut Vec<u8>, random: &mut Random) {
    if bytes.len() < 64 {
        return;
    }
    // Structures that point to others are at the beginning more often than elsewhere.
    let reach = if random.below(2) == 0 { bytes.len() } else { bytes.len().min(2048) };
    let at = random.below(reach - 16);
    let len = 1 + random.below(16);
    match random.below(8) {
        0 => bytes[at] ^= 1 << random.below(8),
        1 => bytes[at] = [0, 1, 2, 0x7f, 0x80, 0xfe, 0xff][random.below(7)],
        2 => bytes[at] = bytes[at].wrapping_add([1, 0xff][random.below(2)]),
        3 => {
            let number = [0, 1, u64::MAX, u64::MAX - 1, 1 << 31, 1 << 32, 1 << 62, bytes.len() as u64]
                [random.below(8)];
            let width = [2, 4, 8][random.below(3)];
            bytes[at..at + width].copy_from_slice(&number.to_le_bytes()[..width]);
        }
        4 => bytes[at..at + len].fill([0, 0xff][random.below(2)]),
        5 => {
            let from = random.below(bytes.len() - 16);
            bytes.copy_within(from..from + len, at);
        }
        6 => {
            // An address within the file.
            let target = random.below(bytes.len()) as u64;
            bytes[at..at + 8].copy_from_slice(&target.to_le_bytes());
        }
        _ if random.below(4) == 0 => drop(bytes.drain(at..at + len)),
        _ => bytes[at] = random.next().to_le_bytes()[0],
    }
}

/// The checksums of structures that begin with a signature and end with a checksum, found by trial.
pub fn checksums(bytes: &[u8]) -> Vec<Checksum> {
    const SIGNATURES: &[&[u8; 4]] = &[
        b"OHDR", b"OCHK", b"BTHD", b"BTIN", b"BTLF", b"FRHP", b"FHIB", b"FAHD", b"FADB", b"EAHD", b"EAIB",
        b"EASB", b"EADB", b"FSHD", b"FSSE", b"SMTB", b"SMLI", b"\x89HDF",
    ];
    const LONGEST: usize = 6000;
    let begins = |start: &usize| SIGNATURES.iter().any(|signature| bytes[*start..].starts_with(*signature));
    let ends = |start: usize| {
        let last = (start + LONGEST).min(bytes.len().saturating_sub(4));
        (start + 4..=last).find(|&end| lookup3(&bytes[start..end]).to_le_bytes() == bytes[end..end + 4])
    };
    let covered = |start| Some(Checksum { start, end: ends(start)? });
    (0..bytes.len()).filter(begins).filter_map(covered).collect()
}

/// Corrects the checksums, as far as the file still extends. Returns how many were wrong.
pub fn repair(bytes: &mut [u8], checksums: &[Checksum]) -> usize {
    let mut repaired = 0;
    for &Checksum { start, end } in checksums {
        if end + 4 <= bytes.len() {
            let sum = lookup3(&bytes[start..end]).to_le_bytes();
            repaired += usize::from(bytes[end..end + 4] != sum);
            bytes[end..end + 4].copy_from_slice(&sum);
        }
    }
    repaired
}

/// A copy in which structures are damaged and their checksums correct. The seed is only the first one tried, because
/// many mutants are damaged elsewhere. `None` if no checksum covers anything that can be damaged.
pub fn mutant_with_right_checksums(original: &[u8], checksums: &[Checksum], seed: u64) -> Option<Vec<u8>> {
    (0..TRIES).find_map(|again| {
        let mut bytes = mutant(original, seed.wrapping_add(again << 32));
        (repair(&mut bytes, checksums) > 0).then_some(bytes)
    })
}

/// The number of attempts. Few structures of a large file have checksums.
const TRIES: u64 = 10_000;

/// Xorshift, which is sufficient for choosing where to damage.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below the limit; 0 if there is none.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() >> 16) as usize % limit.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mutants_depend_on_nothing_but_the_seed() {
        let bytes: Vec<u8> = (0..=255).cycle().take(4000).collect();
        assert_eq!(mutant(&bytes, 7), mutant(&bytes, 7));
        assert_ne!(mutant(&bytes, 7), mutant(&bytes, 8));
    }

    #[test]
    fn a_repaired_checksum_is_right() {
        let mut bytes = b"....OHDR and some bytes".to_vec();
        let sum = lookup3(&bytes[4..]);
        bytes.extend_from_slice(&sum.to_le_bytes());
        let found = checksums(&bytes);
        assert_eq!(found.len(), 1);
        assert_eq!(repair(&mut bytes, &found), 0);
        bytes[10] ^= 1;
        assert_eq!(repair(&mut bytes, &found), 1);
        assert_eq!(checksums(&bytes).len(), 1);
    }

    #[test]
    fn mutants_with_right_checksums_are_damaged_where_these_reach() {
        let mut bytes = vec![b'.'; 4000];
        bytes[100..104].copy_from_slice(b"OHDR");
        let sum = lookup3(&bytes[100..200]);
        bytes[200..204].copy_from_slice(&sum.to_le_bytes());
        let found = checksums(&bytes);
        assert_eq!(found.len(), 1);
        for seed in 0..50 {
            let mutant = mutant_with_right_checksums(&bytes, &found, seed).unwrap();
            assert_ne!(mutant[100..204], bytes[100..204]);
            assert_eq!(lookup3(&mutant[100..200]).to_le_bytes(), mutant[200..204]);
        }
        assert!(mutant_with_right_checksums(&bytes, &[], 1).is_none());
    }
}
