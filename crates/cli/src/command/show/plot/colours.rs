//! Colours and characters for the numbers of a heat map.

/// A colour: red, green, blue.
pub(super) type Rgb = [u8; 3];

/// The capabilities of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Style {
    pub(super) paint: Paint,
    /// Whether characters outside of ASCII are used.
    pub(super) unicode: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Paint {
    /// Shades of characters instead of colours.
    Shades,
    /// The colours of xterm.
    Palette,
    /// Any colour.
    True,
}

impl Style {
    /// The style for the terminal that the environment describes.
    pub(super) fn of_environment(paints: bool) -> Style {
        let value = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let is_true =
            value("COLORTERM").is_some_and(|value| ["truecolor", "24bit"].contains(&value.as_str()));
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(value);
        Style {
            paint: match (paints, is_true) {
                (false, _) => Paint::Shades,
                (true, true) => Paint::True,
                (true, false) => Paint::Palette,
            },
            unicode: locale.is_none_or(|locale| is_utf8(&locale)),
        }
    }

    /// The mark of missing elements.
    pub(super) fn missing(self) -> char {
        if self.unicode { '·' } else { 'x' }
    }

    pub(super) fn shades(self) -> &'static [char] {
        if self.unicode {
            &[' ', '░', '▒', '▓', '█']
        } else {
            &[' ', '.', ':', '-', '=', '+', '*', '#', '%', '@']
        }
    }

    /// The character for a number from 0 to 1.
    pub(super) fn shade(self, part: f64) -> char {
        let shades = self.shades();
        shades.get(index(part, shades.len())).copied().unwrap_or(' ')
    }

    /// The characters for words without colours: shades, none of which is blank, or letters if there are many words.
    pub(super) fn symbol(self, word: usize, of: usize) -> char {
        let shades = self.shades().get(1..).unwrap_or_default();
        match of {
            0 | 1 => shades.get(shades.len() / 2).copied(),
            of if of <= shades.len() => shades.get(word * (shades.len() - 1) / (of - 1)).copied(),
            _ => ('A'..='Z').chain('a'..='z').chain('0'..='9').nth(word),
        }
        .unwrap_or('?')
    }

    /// The code that sets the colour of characters, or of their background.
    pub(super) fn code(self, colour: Rgb, is_behind: bool) -> String {
        let [red, green, blue] = colour;
        let target = if is_behind { 48 } else { 38 };
        match self.paint {
            Paint::Shades => String::new(),
            Paint::Palette => format!("\x1b[{target};5;{}m", of_palette(colour)),
            Paint::True => format!("\x1b[{target};2;{red};{green};{blue}m"),
        }
    }

    /// A text in the given colour.
    pub(super) fn painted(self, text: &str, colour: Rgb) -> String {
        match self.paint {
            Paint::Shades => text.to_owned(),
            _ => format!("{}{text}\x1b[0m", self.code(colour, false)),
        }
    }
}

fn is_utf8(locale: &str) -> bool {
    let locale = locale.to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

/// The position of a number between the bounds, from 0 to 1.
pub(super) fn part(number: f64, (low, high): (f64, f64)) -> f64 {
    let part = (number / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0);
    if part.is_nan() { 0.5 } else { part.clamp(0.0, 1.0) }
}

/// The colour of a number from 0 to 1: viridis, whose lightness increases evenly, so that it conveys the same to people
/// with colour vision deficiency and in grey copies.
pub(super) fn viridis(part: f64) -> Rgb {
    let steps = VIRIDIS.len() - 1;
    let place = part.clamp(0.0, 1.0) * steps as f64;
    let at = index(part, steps);
    let (Some(from), Some(to)) = (VIRIDIS.get(at), VIRIDIS.get(at + 1)) else { return [0; 3] };
    let rest = place - at as f64;
    let mut colour = [0; 3];
    for ((colour, from), to) in colour.iter_mut().zip(from).zip(to) {
        *colour = rounded(f64::from(*from) * (1.0 - rest) + f64::from(*to) * rest);
    }
    colour
}

/// The index of the part that contains a number, if 0 to 1 is divided into `count` equal parts.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative; saturates")]
fn index(part: f64, count: usize) -> usize {
    ((part.clamp(0.0, 1.0) * count as f64) as usize).min(count.saturating_sub(1))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 255")]
fn rounded(level: f64) -> u8 {
    level.round() as u8
}

/// The nearest colour of the cube of 216 colours, or of the 24 greys.
fn of_palette(colour: Rgb) -> usize {
    let cube = (0..216_usize).map(|at| {
        (16 + at, [at / 36, at / 6 % 6, at % 6].map(|level| LEVELS.get(level).copied().unwrap_or(0)))
    });
    let greys = (0..24_u8).map(|at| (232 + usize::from(at), [8 + 10 * at; 3]));
    let distance = |(_, other): &(usize, Rgb)| -> u32 {
        other.iter().zip(&colour).map(|(a, b)| u32::from(a.abs_diff(*b)).pow(2)).sum()
    };
    cube.chain(greys).min_by_key(distance).map_or(0, |(at, _)| at)
}

/// The levels of a colour in the cube of xterm.
const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];

/// Colours of viridis at equal distances; between them it is nearly linear.
const VIRIDIS: [Rgb; 9] = [
    [68, 1, 84],
    [71, 44, 122],
    [59, 81, 139],
    [44, 113, 142],
    [33, 144, 141],
    [39, 173, 129],
    [92, 200, 99],
    [170, 220, 50],
    [253, 231, 37],
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_become_lighter_from_low_to_high() {
        let luminance = |[red, green, blue]: Rgb| {
            0.2126 * f64::from(red) + 0.7152 * f64::from(green) + 0.0722 * f64::from(blue)
        };
        let lights: Vec<f64> = (0..=64).map(|at| luminance(viridis(f64::from(at) / 64.0))).collect();
        assert!(lights.is_sorted(), "{lights:?}");
        assert_eq!((viridis(0.0), viridis(1.0)), ([68, 1, 84], [253, 231, 37]));
        assert_eq!(of_palette([253, 231, 37]), 220);
        assert_eq!(of_palette([255, 255, 255]), 231);
    }

    #[test]
    fn numbers_beyond_the_bounds_have_the_colours_of_the_ends() {
        assert_eq!(part(f64::INFINITY, (0.0, 1.0)), 1.0);
        assert_eq!(part(f64::NEG_INFINITY, (0.0, 1.0)), 0.0);
        assert_eq!(part(5.0, (5.0, 5.0)), 0.5);
        assert_eq!(part(f64::MAX, (-f64::MAX, f64::MAX)), 1.0);
    }

    #[test]
    fn words_have_characters_of_their_own() {
        let style = Style { paint: Paint::Shades, unicode: true };
        for count in 1..60 {
            let mut symbols: Vec<char> = (0..count).map(|word| style.symbol(word, count)).collect();
            assert!(!symbols.contains(&' '));
            symbols.sort_unstable();
            symbols.dedup();
            assert_eq!(symbols.len(), count);
        }
    }

    #[test]
    fn locales_say_whether_a_terminal_has_more_than_ascii() {
        assert!(["en_GB.UTF-8", "C.utf8"].iter().all(|locale| is_utf8(locale)));
        assert!(!["C", "POSIX", "de_DE.ISO-8859-1"].iter().any(|locale| is_utf8(locale)));
    }
}
