//! A picture as SVG.
//!
//! Spec: Scalable Vector Graphics (SVG) 1.1

use super::super::colours::Rgb;
use super::png;
use super::shapes::{Anchor, Shape, Shapes, Text};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hyperslab::ndl::is_hidden;

/// The SVG text of the picture; `title` describes it for people who cannot see it.
pub(super) fn text(shapes: &Shapes, title: &str) -> String {
    let (width, height) = shapes.size;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" \
         width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
         font-family=\"DejaVu Sans, Verdana, sans-serif\">\n<title>{}</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
        escaped(title)
    );
    for shape in &shapes.shapes {
        out.push_str(&element(shape));
        out.push('\n');
    }
    out.push_str("</svg>\n");
    out
}

fn element(shape: &Shape) -> String {
    match shape {
        Shape::Path { points, width, colour } => format!(
            "<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"{width}\" stroke-linecap=\"round\" stroke-linejoin=\"round\" points=\"{}\"/>",
            hex(*colour),
            places(points)
        ),
        Shape::Polygon { points, colour } => {
            format!("<polygon fill=\"{}\" points=\"{}\"/>", hex(*colour), places(points))
        }
        Shape::Dot { centre: (x, y), radius, colour } => {
            format!(
                "<circle cx=\"{}\" cy=\"{}\" r=\"{radius}\" fill=\"{}\"/>",
                short(*x),
                short(*y),
                hex(*colour)
            )
        }
        Shape::Pixels { corner: (x, y), size: (width, height), rows } => match rows.as_slice() {
            [row] if let [colour] = row.as_slice() => {
                format!(
                    "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{}\"/>",
                    hex(*colour)
                )
            }
            rows => format!(
                "<image x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" preserveAspectRatio=\"none\" \
                 image-rendering=\"pixelated\" xlink:href=\"data:image/png;base64,{}\"/>",
                BASE64_STANDARD.encode(png::of_pixels(rows))
            ),
        },
        Shape::Text(text) => text_element(text),
    }
}

fn text_element(text: &Text) -> String {
    let (x, y) = text.place;
    let anchor = match text.anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    };
    let turned = match text.upwards {
        true => format!(" transform=\"rotate(-90 {} {})\"", short(x), short(y)),
        false => String::new(),
    };
    format!(
        "<text x=\"{}\" y=\"{}\" font-size=\"{}\" fill=\"{}\" text-anchor=\"{anchor}\"{turned}>{}</text>",
        short(x),
        short(y),
        text.size,
        hex(text.colour),
        escaped(&text.text)
    )
}

fn places(points: &[(f64, f64)]) -> String {
    let place = |(x, y): &(f64, f64)| format!("{},{}", short(*x), short(*y));
    points.iter().map(place).collect::<Vec<_>>().join(" ")
}

/// A length with at most two digits after the point.
fn short(length: f64) -> f64 {
    (length * 100.0).round() / 100.0
}

fn hex([red, green, blue]: Rgb) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Text of a file, escaped so that it is not markup, and without the characters that XML forbids.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if is_hidden(c) || matches!(c, '\u{fffe}' | '\u{ffff}') => out.extend(c.escape_default()),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_no_markup_and_control_nothing() {
        assert_eq!(escaped("a<b>&\"\u{1b}[0m\u{202e}é"), "a&lt;b&gt;&amp;&quot;\\u{1b}[0m\\u{202e}é");
    }
}
