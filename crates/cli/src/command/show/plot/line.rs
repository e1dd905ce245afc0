//! A line of characters: Braille dots, eight in a character, or stars.

use super::colours::{Paint, Style};
use super::frame::{Frame, Room, across, columns_beside, down, place, titled};
use super::{Drawn, words};
use hyperslab::Result;
use hyperslab::plot::{Line, Plot, Tick, Ticks};

pub(super) fn draw(plot: &Plot, style: Style, room: Room) -> Result<Drawn> {
    let horizontal = plot.horizontal();
    let line = plot.line(room.width * 2)?;
    let rows = room.rows;
    let bounds = bounds(&line);
    let ticks = ticks(&line, bounds, (rows / 3).max(2));
    let labels = down(&ticks, bounds, rows, room);
    let columns = columns_beside(&labels, room);
    let ends = horizontal.ends();
    let (below, note) = across(horizontal, ends, columns, room);
    let unit = plot.units.as_ref().map(|unit| format!("{} ({unit})", words::short_name(plot)));
    let vertical_title = unit.unwrap_or_else(|| words::short_name(plot).to_owned());
    let frame = Frame {
        area: area(&line, ends, bounds, (columns, rows), style),
        columns,
        vertical: labels,
        vertical_title: match ticks.note {
            Some(note) => format!("{vertical_title}, {note}"),
            None => vertical_title,
        },
        horizontal: below,
        horizontal_title: titled(horizontal, note.as_deref()),
    };
    Ok(Drawn { frame, legend: Vec::new(), notes: words::of_line(&line) })
}

/// The numbers at the bottom and the top.
pub(super) fn bounds(line: &Line) -> (f64, f64) {
    match line.read.range {
        None => (0.0, 1.0),
        Some((low, high)) if line.read.scale.as_words().is_some() => (low - 0.5, high + 0.5),
        Some((low, high)) if low == high => {
            (low - (low.abs() * 0.5).max(0.5), high + (high.abs() * 0.5).max(0.5))
        }
        Some(range) => range,
    }
}

/// At most about `most` ticks; if all elements are equal, a single tick at their value.
pub(super) fn ticks(line: &Line, (low, high): (f64, f64), most: usize) -> Ticks {
    match line.read.range {
        None => Ticks::default(),
        Some((one, other)) if one == other => {
            Ticks { ticks: vec![Tick { at: one, label: line.read.scale.label(one) }], note: None }
        }
        Some(_) => line.read.scale.ticks(low, high, most),
    }
}

/// A raster of dots.
struct Dots {
    width: usize,
    height: usize,
    dots: Vec<bool>,
}

impl Dots {
    fn set(&mut self, column: usize, row: usize) {
        if column < self.width
            && let Some(dot) = self.dots.get_mut(row * self.width + column)
        {
            *dot = true;
        }
    }

    fn get(&self, column: usize, row: usize) -> bool {
        self.dots.get(row * self.width + column).copied().unwrap_or(false)
    }

    /// Sets the dots on the line between two dots.
    fn connect(&mut self, from: (usize, usize), to: (usize, usize)) {
        let steps = from.0.abs_diff(to.0).max(from.1.abs_diff(to.1)).max(1);
        let between = |a: usize, b: usize, step: usize| (a * (steps - step) + b * step + steps / 2) / steps;
        for step in 0..=steps {
            self.set(between(from.0, to.0, step), between(from.1, to.1, step));
        }
    }
}

fn area(
    line: &Line,
    (left, right): (f64, f64),
    (bottom, top): (f64, f64),
    (columns, rows): (usize, usize),
    style: Style,
) -> Vec<String> {
    let (across, above) = if style.unicode { BRAILLE } else { (1, 1) };
    let (width, height) = (columns * across, rows * above);
    let mut dots = Dots { width, height, dots: vec![false; width * height] };
    let mut before = None;
    for point in &line.points {
        if point.mean.is_nan() {
            before = None;
            continue;
        }
        let column = place((point.at - left) / (right - left), width);
        // Divided by two first, since the difference of two numbers may exceed the range of numbers.
        let row = |number: f64| place((top / 2.0 - number / 2.0) / (top / 2.0 - bottom / 2.0), dots.height);
        let (low, mean, high) = (row(point.low), row(point.mean), row(point.high));
        dots.connect((column, low), (column, high));
        dots.connect(before.unwrap_or((column, mean)), (column, mean));
        before = Some((column, mean));
    }
    let character = |column: usize, row: usize| {
        if !style.unicode {
            return if dots.get(column, row) { '*' } else { ' ' };
        }
        let mut code = 0x2800;
        for (bit, (x, y)) in DOTS.iter().enumerate() {
            code |= u32::from(dots.get(column * across + x, row * above + y)) << bit;
        }
        // In many fonts, the blank Braille pattern has another width than the other patterns.
        char::from_u32(code).filter(|_| code > 0x2800).unwrap_or(' ')
    };
    let text = |row: usize| {
        let text: String = (0..columns).map(|column| character(column, row)).collect();
        match style.paint {
            Paint::Shades => text,
            _ => format!("\x1b[36m{text}\x1b[0m"),
        }
    };
    (0..rows).map(text).collect()
}

/// The columns and rows of dots in a character.
const BRAILLE: (usize, usize) = (2, 4);
/// The positions of the dots in the order of their bits.
const DOTS: [(usize, usize); 8] = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3)];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_are_connected_without_gaps() {
        let mut dots = Dots { width: 9, height: 5, dots: vec![false; 45] };
        dots.connect((0, 0), (8, 4));
        dots.connect((3, 4), (3, 2));
        for column in 0..9 {
            assert!((0..5).any(|row| dots.get(column, row)), "{column}");
        }
        assert!(dots.get(3, 4) && dots.get(3, 3) && dots.get(8, 4) && !dots.get(8, 0));
    }
}
