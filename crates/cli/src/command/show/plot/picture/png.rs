//! A picture as PNG.

use super::super::colours::Rgb;
use super::font;
use super::shapes::{Anchor, Shape, Shapes, Text, whole};
use hyperslab::{Error, Result};
use tiny_skia::{
    Color, FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, PremultipliedColorU8, Stroke,
    Transform,
};

/// The number of pixels for each unit of length: pictures are sharp on high-resolution screens and in print.
pub(super) const SCALE: f64 = 2.0;

/// The bytes of the picture.
pub(super) fn encode(shapes: &Shapes) -> Result<Vec<u8>> {
    let (width, height) = shapes.size;
    let mut pixmap = pixmap(whole(width * SCALE), whole(height * SCALE))?;
    pixmap.fill(Color::WHITE);
    for shape in &shapes.shapes {
        draw(shape, &mut pixmap);
    }
    pixmap.encode_png().map_err(|error| Error::invalid(format!("the picture cannot be encoded: {error}")))
}

/// The bytes of a picture that consists only of these pixels; empty without pixels.
pub(super) fn of_pixels(rows: &[Vec<Rgb>]) -> Vec<u8> {
    let Ok(mut pixmap) = pixmap(rows.first().map_or(0, Vec::len), rows.len()) else { return Vec::new() };
    for (pixel, colour) in pixmap.pixels_mut().iter_mut().zip(rows.iter().flatten()) {
        *pixel = opaque(*colour);
    }
    pixmap.encode_png().unwrap_or_default()
}

fn pixmap(width: usize, height: usize) -> Result<Pixmap> {
    let side = |side: usize| u32::try_from(side).unwrap_or(0);
    Pixmap::new(side(width), side(height))
        .ok_or_else(|| Error::invalid(format!("a picture of {width} by {height} pixels")))
}

fn draw(shape: &Shape, pixmap: &mut Pixmap) {
    match shape {
        Shape::Path { points, width, colour } => {
            let stroke = Stroke {
                width: single(*width),
                line_cap: LineCap::Round,
                line_join: LineJoin::Round,
                ..Stroke::default()
            };
            if let Some(path) = path(points, false) {
                pixmap.stroke_path(&path, &paint(*colour), &stroke, scaled(), None);
            }
        }
        Shape::Polygon { points, colour } => {
            if let Some(path) = path(points, true) {
                pixmap.fill_path(&path, &paint(*colour), FillRule::EvenOdd, scaled(), None);
            }
        }
        Shape::Dot { centre: (x, y), radius, colour } => {
            if let Some(path) = PathBuilder::from_circle(single(*x), single(*y), single(*radius)) {
                pixmap.fill_path(&path, &paint(*colour), FillRule::Winding, scaled(), None);
            }
        }
        Shape::Pixels { corner, size, rows } => pixels(*corner, *size, rows, pixmap),
        Shape::Text(text) => write(text, pixmap),
    }
}

/// Fills a rectangle with rows of pixels. Edges between them are sharp.
fn pixels((x, y): (f64, f64), (width, height): (f64, f64), rows: &[Vec<Rgb>], pixmap: &mut Pixmap) {
    let [left, top, right, bottom] = [x, y, x + width, y + height].map(|at| whole(at * SCALE));
    let across = usize::try_from(pixmap.width()).unwrap_or(0).max(1);
    let lines = pixmap.pixels_mut().chunks_mut(across).take(bottom).skip(top);
    for (line, pixels) in lines.enumerate() {
        let Some(row) = rows.get(line * rows.len() / (bottom - top).max(1)) else { continue };
        for (column, pixel) in pixels.iter_mut().take(right).skip(left).enumerate() {
            if let Some(colour) = row.get(column * row.len() / (right - left).max(1)) {
                *pixel = opaque(*colour);
            }
        }
    }
}

/// Fills the outlines of the glyphs of a text.
fn write(text: &Text, pixmap: &mut Pixmap) {
    let Some(face) = font::face() else { return };
    let (glyphs, length) = font::glyphs(face, &text.text);
    let begin = match text.anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => -f64::from(length) / 2.0,
        Anchor::End => -f64::from(length),
    };
    let mut outlines = Outlines { path: PathBuilder::new(), at: 0.0 };
    for placed in glyphs {
        outlines.at = single(begin + f64::from(placed.at));
        // Spaces have no outline.
        let _ = face.outline_glyph(placed.glyph, &mut outlines);
    }
    let Some(path) = outlines.path.finish() else { return };
    let unit = single(text.size * SCALE / f64::from(face.units_per_em()));
    let (x, y) = (single(text.place.0 * SCALE), single(text.place.1 * SCALE));
    // In fonts, the y axis points upwards.
    let transform = match text.upwards {
        false => Transform::from_row(unit, 0.0, 0.0, -unit, x, y),
        true => Transform::from_row(0.0, -unit, -unit, 0.0, x, y),
    };
    pixmap.fill_path(&path, &paint(text.colour), FillRule::Winding, transform, None);
}

/// Collects the outlines of glyphs.
struct Outlines {
    path: PathBuilder,
    /// The position at which the glyph begins.
    at: f32,
}

impl ttf_parser::OutlineBuilder for Outlines {
    fn move_to(&mut self, x: f32, y: f32) {
        self.path.move_to(self.at + x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.path.line_to(self.at + x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.path.quad_to(self.at + x1, y1, self.at + x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.path.cubic_to(self.at + x1, y1, self.at + x2, y2, self.at + x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

fn path(points: &[(f64, f64)], is_closed: bool) -> Option<Path> {
    let (first, rest) = points.split_first()?;
    let mut path = PathBuilder::new();
    path.move_to(single(first.0), single(first.1));
    rest.iter().for_each(|(x, y)| path.line_to(single(*x), single(*y)));
    if is_closed {
        path.close();
    }
    path.finish()
}

fn scaled() -> Transform {
    Transform::from_scale(single(SCALE), single(SCALE))
}

fn paint([red, green, blue]: Rgb) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color_rgba8(red, green, blue, 255);
    paint.anti_alias = true;
    paint
}

fn opaque([red, green, blue]: Rgb) -> PremultipliedColorU8 {
    PremultipliedColorU8::from_rgba(red, green, blue, 255).unwrap_or(PremultipliedColorU8::TRANSPARENT)
}

#[expect(clippy::cast_possible_truncation, reason = "a length within the picture")]
fn single(length: f64) -> f32 {
    length as f32
}
