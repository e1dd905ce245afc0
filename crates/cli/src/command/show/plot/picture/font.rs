//! The font of pictures, which is embedded in the command: DejaVu Sans.

use std::sync::LazyLock;
use ttf_parser::{Face, GlyphId};

static FACE: LazyLock<Option<Face<'static>>> = LazyLock::new(|| Face::parse(dejavu::sans::regular(), 0).ok());

/// The font; never `None`, because its bytes are embedded in the command.
pub(super) fn face() -> Option<&'static Face<'static>> {
    FACE.as_ref()
}

/// A glyph and its starting position, in units of the font.
pub(super) struct Placed {
    pub(super) glyph: GlyphId,
    pub(super) at: u32,
}

/// The glyphs of a text, and its width, in units of the font.
pub(super) fn glyphs(face: &Face<'_>, text: &str) -> (Vec<Placed>, u32) {
    let mut at = 0_u32;
    let glyphs = text.chars().map(|c| {
        let glyph = face.glyph_index(c).unwrap_or_default();
        let placed = Placed { glyph, at };
        at = at.saturating_add(face.glyph_hor_advance(glyph).unwrap_or(0).into());
        placed
    });
    let glyphs = glyphs.collect();
    (glyphs, at)
}

/// The width of a text at this size.
pub(super) fn width(text: &str, size: f64) -> f64 {
    let of = |face: &Face<'_>| f64::from(glyphs(face, text).1) * size / f64::from(face.units_per_em());
    face().map_or(0.0, of)
}

/// A text that is shortened to a width.
pub(super) fn fitting(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let mut shorter: String = text.to_owned();
    while !shorter.is_empty() && width(&shorter, size) + width("…", size) > room {
        shorter.pop();
    }
    shorter + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_font_has_letters_digits_and_signs_of_units() {
        let face = face().expect("it is part of the command");
        for c in "azAZ09µ°²³⁻¹·×…−åßλΩДж".chars() {
            assert!(face.glyph_index(c).is_some(), "{c}");
        }
    }

    #[test]
    fn texts_are_shortened_to_their_room() {
        assert_eq!(fitting("short", 12.0, 100.0), "short");
        let long = fitting(&"long ".repeat(50), 12.0, 100.0);
        assert!(long.ends_with('…') && width(&long, 12.0) <= 100.0, "{long}");
    }
}
