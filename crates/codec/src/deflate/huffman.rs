//! Huffman codes of limited length.
//!
//! Spec: RFC 1951, 3.2.2

/// The length in bits of the code of each symbol, at most `limit`; 0 for symbols that do not occur.
///
/// At least two symbols must occur, since a code of one symbol has no bits.
pub(super) fn code_lengths(counts: &[u32], limit: u8, lengths: &mut [u8]) {
    lengths.fill(0);
    let mut symbols: Vec<(u32, usize)> =
        counts.iter().enumerate().filter(|(_, count)| **count > 0).map(|(at, count)| (*count, at)).collect();
    symbols.sort_unstable();
    let mut of_length = lengths_of_sorted(&symbols);
    limit_lengths(&mut of_length, usize::from(limit));
    // The rarest symbols have the longest codes.
    let mut rarest = symbols.iter();
    for (length, count) in of_length.iter().enumerate().rev() {
        for (_, symbol) in rarest.by_ref().take(*count) {
            if let (Some(place), Ok(length)) = (lengths.get_mut(*symbol), u8::try_from(length)) {
                *place = length;
            }
        }
    }
}

/// How many symbols have a code of each length. The symbols are sorted by their counts.
fn lengths_of_sorted(symbols: &[(u32, usize)]) -> Vec<usize> {
    // Two queues in ascending order: symbols, and nodes of two parts, which are created in that order.
    let mut leaves = symbols.iter().map(|(count, _)| u64::from(*count)).enumerate().peekable();
    let total = symbols.len();
    let mut nodes: Vec<(u64, [usize; 2])> = Vec::with_capacity(total);
    let mut first = 0;
    while nodes.len() + 1 < total {
        let mut sum = 0;
        let parts = [(); 2].map(|()| {
            let node = nodes.get(first).map(|(count, _)| *count);
            let is_leaf = leaves.peek().is_some_and(|(_, count)| node.is_none_or(|node| *count <= node));
            match leaves.next_if(|_| is_leaf) {
                Some((leaf, count)) => {
                    sum += count;
                    leaf
                }
                None => {
                    sum += node.unwrap_or(0);
                    first += 1;
                    total + first - 1
                }
            }
        });
        nodes.push((sum, parts));
    }
    // From the root, which is the last node, to the leaves.
    let mut depths = vec![0_usize; nodes.len()];
    let mut of_length = vec![0; total + 1];
    for (at, (_, parts)) in nodes.iter().enumerate().rev() {
        let depth = depths.get(at).copied().unwrap_or(0) + 1;
        for part in parts {
            match part.checked_sub(total) {
                None => of_length.get_mut(depth).into_iter().for_each(|count| *count += 1),
                Some(node) => depths.get_mut(node).into_iter().for_each(|place| *place = depth),
            }
        }
    }
    of_length
}

/// Shortens codes of more than `limit` bits, and lengthens others until all fit into the code space.
fn limit_lengths(of_length: &mut Vec<usize>, limit: usize) {
    if of_length.len() <= limit + 1 {
        return;
    }
    let too_long: usize = of_length.drain(limit + 1..).sum();
    if let Some(last) = of_length.last_mut() {
        *last += too_long;
    }
    let whole = 1_usize << limit;
    let mut used: usize = of_length.iter().enumerate().map(|(length, count)| count << (limit - length)).sum();
    // A code of maximum length moves below a shorter one, which becomes one bit longer: that frees one place.
    while used > whole {
        let Some(shorter) = of_length.iter().take(limit).rposition(|count| *count > 0) else { return };
        for (length, change) in [(shorter, -1), (shorter + 1, 2), (limit, -1)] {
            of_length
                .get_mut(length)
                .into_iter()
                .for_each(|count| *count = count.wrapping_add_signed(change));
        }
        used -= 1;
    }
}

/// The code of each symbol with its length in bits. The first bit of a code is the lowest.
pub(super) fn codes(lengths: &[u8]) -> impl Iterator<Item = (u16, u8)> {
    let mut of_length = [0_u16; 16];
    for length in lengths.iter().filter(|length| **length > 0) {
        of_length.get_mut(usize::from(*length)).into_iter().for_each(|count| *count += 1);
    }
    let mut code = 0_u16;
    let mut next = of_length.map(|count| {
        let first = code;
        code = code.wrapping_add(count) << 1;
        first
    });
    lengths.iter().map(move |length| {
        let Some(next) = next.get_mut(usize::from(*length)).filter(|_| *length > 0) else { return (0, 0) };
        let code = *next;
        *next = next.wrapping_add(1);
        (code.reverse_bits() >> (16 - u32::from(*length)), *length)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The share of the code space that the codes take, in units of the longest code.
    fn used(lengths: &[u8], limit: u8) -> u64 {
        lengths.iter().filter(|length| **length > 0).map(|length| 1 << (limit - length)).sum()
    }

    proptest! {
        #[test]
        fn codes_fill_the_code_space_within_the_limit(
            counts in prop::collection::vec(prop_oneof![Just(0_u32), 1..50_u32, 1..1_000_000_u32], 2..290),
            limit in 9..=15_u8,
        ) {
            prop_assume!(counts.iter().filter(|count| **count > 0).count() >= 2);
            let mut lengths = vec![0; counts.len()];
            code_lengths(&counts, limit, &mut lengths);
            prop_assert_eq!(used(&lengths, limit), 1 << limit);
            for (count, length) in counts.iter().zip(&lengths) {
                prop_assert_eq!(*count == 0, *length == 0);
            }
            // More frequent symbols have no longer codes.
            let mut sorted: Vec<_> = counts.iter().zip(&lengths).filter(|(count, _)| **count > 0).collect();
            sorted.sort_by_key(|(count, length)| (std::cmp::Reverse(**count), **length));
            prop_assert!(sorted.is_sorted_by_key(|(_, length)| **length));
        }
    }

    #[test]
    fn counts_that_grow_like_fibonacci_numbers_reach_the_limit() {
        let mut counts = vec![1, 1];
        for at in 2..30 {
            counts.push(counts[at - 1] + counts[at - 2]);
        }
        let mut lengths = vec![0; counts.len()];
        code_lengths(&counts, 7, &mut lengths);
        assert_eq!(lengths.iter().max(), Some(&7));
        assert_eq!(used(&lengths, 7), 1 << 7);
    }

    #[test]
    fn codes_are_those_of_the_example_in_rfc_1951() {
        let of = |code: u16, length: u8| (code.reverse_bits() >> (16 - length), length);
        let expected =
            [(0b010, 3), (0b011, 3), (0b100, 3), (0b101, 3), (0b110, 3), (0b00, 2), (0b1110, 4), (0b1111, 4)];
        let found: Vec<_> = codes(&[3, 3, 3, 3, 3, 2, 4, 4]).collect();
        assert_eq!(found, expected.map(|(code, length)| of(code, length)));
    }
}
