//! Changes to text and to short binary values.

use crate::mutate::Random;

/// The replacement words and numbers.
pub struct Vocabulary {
    pub numbers: &'static [&'static str],
    pub words: &'static [&'static str],
}

/// Changes a word or a number in a text.
pub fn edit(text: &mut Vec<u8>, vocabulary: &Vocabulary, random: &mut Random) {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-._<>|".contains(byte);
    let starts: Vec<usize> =
        (0..text.len()).filter(|at| is_word(&text[*at]) && (*at == 0 || !is_word(&text[*at - 1]))).collect();
    if starts.is_empty() {
        return damage(text, random);
    }
    let start = starts[random.below(starts.len())];
    let end = start + text[start..].iter().take_while(|byte| is_word(byte)).count();
    let is_number = text[start].is_ascii_digit() || text[start] == b'-';
    let word = match (is_number, random.below(8)) {
        (_, 6) => "",
        (_, 7) | (false, 5) => {
            let from = starts[random.below(starts.len())];
            let len = text[from..].iter().take_while(|byte| is_word(byte)).count();
            let word = text[from..from + len].to_vec();
            text.splice(start..end, word);
            return;
        }
        (true, _) => vocabulary.numbers[random.below(vocabulary.numbers.len())],
        (false, _) => vocabulary.words[random.below(vocabulary.words.len())],
    };
    text.splice(start..end, word.bytes());
}

/// Changes bytes, which may be few.
pub fn damage(bytes: &mut Vec<u8>, random: &mut Random) {
    let at = random.below(bytes.len());
    let len = 1 + random.below(16);
    let end = (at + len).min(bytes.len());
    match random.below(9) {
        0 => bytes.truncate(at),
        1 => bytes.extend(vec![0; len]),
        2 => drop(bytes.drain(at..end)),
        3 => bytes[at..end].fill([0, 0xff][random.below(2)]),
        4 => {
            let copy = bytes[at..end].to_vec();
            let to = random.below(bytes.len());
            bytes.splice(to..to, copy);
        }
        5 if bytes.len() >= 8 => {
            let number = [0, 1, u64::MAX, 1 << 31, 1 << 32, 1 << 62, bytes.len() as u64][random.below(7)];
            let at = at.min(bytes.len() - 8);
            let width = [2, 4, 8][random.below(3)];
            bytes[at..at + width].copy_from_slice(&number.to_le_bytes()[..width]);
        }
        _ if !bytes.is_empty() => bytes[at] ^= 1 << random.below(8),
        _ => {}
    }
}
