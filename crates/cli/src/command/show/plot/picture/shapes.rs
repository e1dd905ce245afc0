//! A picture as shapes, from back to front, on a white background.

use super::super::colours::Rgb;

/// The shapes of a picture.
#[derive(Debug)]
pub(super) struct Shapes {
    /// Width and height.
    pub(super) size: (f64, f64),
    pub(super) shapes: Vec<Shape>,
}

/// A shape. Coordinates are relative to the top left corner.
#[derive(Debug)]
pub(super) enum Shape {
    /// A line through points.
    Path {
        points: Vec<(f64, f64)>,
        width: f64,
        colour: Rgb,
    },
    Polygon {
        points: Vec<(f64, f64)>,
        colour: Rgb,
    },
    Dot {
        centre: (f64, f64),
        radius: f64,
        colour: Rgb,
    },
    /// Rows of sharp pixels, which fill a rectangle.
    Pixels {
        corner: (f64, f64),
        size: (f64, f64),
        rows: Vec<Vec<Rgb>>,
    },
    Text(Text),
}

/// A line of text.
#[derive(Clone, Debug)]
pub(super) struct Text {
    pub(super) text: String,
    /// The position of its anchor on the baseline.
    pub(super) place: (f64, f64),
    pub(super) size: f64,
    pub(super) colour: Rgb,
    pub(super) anchor: Anchor,
    /// Whether it is written from bottom to top.
    pub(super) upwards: bool,
}

/// The part of a text that is aligned with its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Shapes {
    pub(super) fn new(size: (f64, f64)) -> Shapes {
        Shapes { size, shapes: Vec::new() }
    }

    pub(super) fn add(&mut self, shape: Shape) {
        self.shapes.push(shape);
    }

    pub(super) fn text(&mut self, text: Text) {
        if !text.text.is_empty() {
            self.add(Shape::Text(text));
        }
    }
}

impl Text {
    pub(super) fn new(text: &str, place: (f64, f64), size: f64) -> Text {
        let text = text.to_owned();
        Text { text, place, size, colour: super::INK, anchor: Anchor::Start, upwards: false }
    }

    pub(super) fn colour(self, colour: Rgb) -> Text {
        Text { colour, ..self }
    }

    pub(super) fn anchored(self, anchor: Anchor) -> Text {
        Text { anchor, ..self }
    }

    pub(super) fn upwards(self) -> Text {
        Text { upwards: true, ..self }
    }
}

/// A length as a number of pixels.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a length within the picture; saturates"
)]
pub(super) fn whole(length: f64) -> usize {
    length.round() as usize
}
