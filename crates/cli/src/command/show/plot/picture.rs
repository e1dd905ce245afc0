//! Pictures: the same axes, ticks and colours as on a terminal, as SVG or PNG.

mod font;
mod png;
mod shapes;
mod svg;

use self::shapes::{Anchor, Shape, Shapes, Text};
use super::colours::{Rgb, viridis};
use super::heat_map::colour;
use super::{Drawing, line, words};
use hyperslab::Result;
use hyperslab::plot::{HeatMap, Line, LinePoint, Plot, PlotAxis, Read, Ticks};

/// The bytes of a picture.
pub(super) fn encoded(plot: &Plot, form: Drawing) -> Result<Vec<u8>> {
    let shapes = match plot.vertical() {
        Some(vertical) => heat_map(plot, vertical)?,
        None => line_drawing(plot)?,
    };
    match form {
        Drawing::Png => png::encode(&shapes),
        Drawing::Svg | Drawing::Text => Ok(svg::text(&shapes, &words::titles(plot).join(", ")).into_bytes()),
    }
}

/// The area of the drawing itself, without axes.
#[derive(Clone, Copy, Debug)]
struct Area {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
}

impl Area {
    fn x(&self, part: f64) -> f64 {
        self.left + part * self.width
    }

    fn y(&self, part: f64) -> f64 {
        self.top + (1.0 - part) * self.height
    }
}

fn heat_map(plot: &Plot, vertical: &PlotAxis) -> Result<Shapes> {
    let horizontal = plot.horizontal();
    let upwards = vertical.upwards();
    let most = if vertical.has_words() { 24 } else { 7 };
    let ticks = vertical.ticks(upwards, most);
    let title = super::frame::titled(vertical, ticks.note.as_deref());
    let map = plot.heat_map(MAX_COLUMNS, MAX_ROWS)?;
    let legend = Legend::of(plot, &map.read);
    let mut picture = Picture::new(plot, &words::of_map(&map), &ticks, legend.width());
    let area = picture.area;
    picture.shapes.add(Shape::Pixels {
        corner: (area.left, area.top),
        size: (area.width, area.height),
        rows: pixels(&map, area),
    });
    picture.frame();
    picture.vertical(&ticks, upwards, &title);
    picture.horizontal(horizontal, horizontal.across());
    legend.draw(&mut picture);
    Ok(picture.shapes)
}

/// The colours of the map, two for each unit of length, which is the resolution of a picture.
fn pixels(map: &HeatMap, area: Area) -> Vec<Vec<Rgb>> {
    let count = |length: f64| shapes::whole(length * png::SCALE);
    let rows = map.pixels(count(area.width), count(area.height));
    let row =
        |row: Vec<f64>| row.into_iter().map(|number| colour(number, &map.read).unwrap_or(MISSING)).collect();
    rows.into_iter().map(row).collect()
}

fn line_drawing(plot: &Plot) -> Result<Shapes> {
    let horizontal = plot.horizontal();
    let drawn = plot.line(MAX_POINTS)?;
    let (low, high) = line::bounds(&drawn);
    // The line does not touch the frame.
    let space = if drawn.read.scale.as_words().is_some() { 0.0 } else { (high / 2.0 - low / 2.0) * 0.08 };
    let bounds = (low - space, high + space);
    let ticks = line::ticks(&drawn, bounds, 7);
    let unit = plot.units.as_ref().map(|unit| format!("{} ({unit})", words::short_name(plot)));
    let title = unit.unwrap_or_else(|| words::short_name(plot).to_owned());
    let title = match &ticks.note {
        Some(note) => format!("{title}, {note}"),
        None => title,
    };
    let mut picture = Picture::new(plot, &words::of_line(&drawn), &ticks, RIGHT);
    picture.grid(&ticks, bounds);
    picture.vertical(&ticks, bounds, &title);
    picture.horizontal(horizontal, horizontal.ends());
    picture.curve(&drawn, horizontal.ends(), bounds);
    picture.frame();
    Ok(picture.shapes)
}

/// A picture that is being drawn.
struct Picture {
    shapes: Shapes,
    area: Area,
}

impl Picture {
    /// A picture with titles and notes. Its area leaves room for the labels of `ticks` on the left and for `right` on
    /// the right.
    fn new(plot: &Plot, notes: &[String], ticks: &Ticks, right: f64) -> Picture {
        let labels = ticks.ticks.iter().map(|tick| font::width(&tick.label, SMALL)).fold(0.0, f64::max);
        let left = (labels.min(WIDTH / 4.0) + 50.0).round();
        let titles = words::titles(plot);
        let top = if titles.len() > 1 { 66.0 } else { 48.0 };
        let below = 66.0 + 15.0 * notes.len() as f64;
        let area =
            Area { left, top, width: (WIDTH - left - right).round(), height: (HEIGHT - top - below).round() };
        let mut shapes = Shapes::new((WIDTH, HEIGHT));
        for (number, title) in titles.iter().enumerate() {
            let (size, color) = if number == 0 { (LARGE, INK) } else { (MIDDLE, GREY) };
            let y = if number == 0 { 28.0 } else { 50.0 };
            shapes.text(
                Text::new(&font::fitting(title, size, WIDTH - left - 10.0), (left, y), size).colour(color),
            );
        }
        for (number, note) in notes.iter().rev().enumerate() {
            let y = HEIGHT - 12.0 - 15.0 * number as f64;
            shapes.text(Text::new(note, (left, y), SMALL).colour(GREY));
        }
        Picture { shapes, area }
    }

    fn frame(&mut self) {
        let Area { left, top, width, height } = self.area;
        let (right, bottom) = (left + width, top + height);
        let corners = vec![(left, top), (right, top), (right, bottom), (left, bottom), (left, top)];
        self.shapes.add(Shape::Path { points: corners, width: 1.0, colour: GREY });
    }

    /// Light grid lines behind a curve.
    fn grid(&mut self, ticks: &Ticks, (bottom, top): (f64, f64)) {
        for tick in &ticks.ticks {
            let y = self.area.y(between(tick.at, (bottom, top)));
            let points = vec![(self.area.left, y), (self.area.x(1.0), y)];
            self.shapes.add(Shape::Path { points, width: 1.0, colour: LIGHT });
        }
    }

    fn vertical(&mut self, ticks: &Ticks, bounds: (f64, f64), title: &str) {
        let left = self.area.left;
        for tick in &ticks.ticks {
            let y = self.area.y(between(tick.at, bounds));
            self.shapes.add(Shape::Path {
                points: vec![(left - 5.0, y), (left, y)],
                width: 1.0,
                colour: GREY,
            });
            let label = font::fitting(&tick.label, SMALL, WIDTH / 4.0);
            self.shapes.text(Text::new(&label, (left - 9.0, y + SMALL * 0.36), SMALL).anchored(Anchor::End));
        }
        let title = font::fitting(title, MIDDLE, HEIGHT - 20.0);
        self.shapes
            .text(Text::new(&title, (20.0, self.area.y(0.5)), MIDDLE).anchored(Anchor::Middle).upwards());
    }

    fn horizontal(&mut self, axis: &PlotAxis, (left, right): (f64, f64)) {
        let (ticks, bottom) = (self.fitting_ticks(axis, (left, right)), self.area.y(0.0));
        for tick in &ticks.ticks {
            let x = self.area.x(between(tick.at, (left, right)));
            self.shapes.add(Shape::Path {
                points: vec![(x, bottom), (x, bottom + 5.0)],
                width: 1.0,
                colour: GREY,
            });
            let label = font::fitting(&tick.label, SMALL, WIDTH / 4.0);
            self.shapes.text(Text::new(&label, (x, bottom + 19.0), SMALL).anchored(Anchor::Middle));
        }
        let title = super::frame::titled(axis, ticks.note.as_deref());
        let title = font::fitting(&title, MIDDLE, WIDTH - 20.0);
        self.shapes
            .text(Text::new(&title, (self.area.x(0.5), bottom + 41.0), MIDDLE).anchored(Anchor::Middle));
    }

    /// As many ticks as fit with their labels.
    fn fitting_ticks(&self, axis: &PlotAxis, bounds: (f64, f64)) -> Ticks {
        let mut most = 12;
        loop {
            let ticks = axis.ticks(bounds, most);
            let apart = ticks.ticks.windows(2).all(|pair| match pair {
                [a, b] => {
                    let places = [a, b].map(|tick| self.area.x(between(tick.at, bounds)));
                    let widths = [a, b].map(|tick| font::width(&tick.label, SMALL).min(WIDTH / 4.0));
                    places[1] - places[0] > (widths[0] + widths[1]) / 2.0 + 10.0
                }
                _ => true,
            });
            if apart || most <= 1 {
                return ticks;
            }
            most -= 1;
        }
    }

    /// The line, broken where elements are missing, and behind it the range of the elements in each point.
    fn curve(&mut self, line: &Line, across: (f64, f64), bounds: (f64, f64)) {
        for run in line.points.split(|point| point.mean.is_nan()).filter(|run| !run.is_empty()) {
            let place = |point: &LinePoint, number: f64| {
                (self.area.x(between(point.at, across)), self.area.y(between(number, bounds)))
            };
            if line.block > 1 && line.read.scale.as_words().is_none() {
                let above = run.iter().map(|point| place(point, point.high));
                let below = run.iter().rev().map(|point| place(point, point.low));
                self.shapes.add(Shape::Polygon { points: above.chain(below).collect(), colour: RANGE });
            }
            let points: Vec<(f64, f64)> = run.iter().map(|point| place(point, point.mean)).collect();
            if line.points.len() <= MAX_MARKED {
                points.iter().for_each(|centre| {
                    self.shapes.add(Shape::Dot { centre: *centre, radius: 3.0, colour: CURVE })
                });
            } else if let [centre] = points.as_slice() {
                self.shapes.add(Shape::Dot { centre: *centre, radius: 1.5, colour: CURVE });
            }
            self.shapes.add(Shape::Path { points, width: 1.8, colour: CURVE });
        }
    }
}

/// The position of a number between two others, from 0 to 1.
fn between(number: f64, (low, high): (f64, f64)) -> f64 {
    // Divided by two first, since the difference of two numbers may exceed the range of numbers.
    let part = (number / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0);
    if part.is_nan() { 0.5 } else { part.clamp(0.0, 1.0) }
}

/// The meaning of the colours of a heat map.
struct Legend<'a> {
    read: &'a Read,
    title: String,
    ticks: Ticks,
}

impl<'a> Legend<'a> {
    fn of(plot: &Plot, read: &'a Read) -> Legend<'a> {
        let (low, high) = read.range.unwrap_or_default();
        let most = if read.scale.as_words().is_some() { 64 } else { 6 };
        let ticks = match read.range {
            Some(_) => read.scale.ticks(low, high, most),
            None => Ticks::default(),
        };
        let title = plot.units.clone().unwrap_or_default();
        Legend { read, title, ticks }
    }

    fn width(&self) -> f64 {
        let labels = self.ticks.ticks.iter().map(|tick| font::width(&tick.label, SMALL)).fold(50.0, f64::max);
        (labels.min(WIDTH / 4.0) + 74.0).round()
    }

    fn draw(&self, picture: &mut Picture) {
        let area = picture.area;
        let (left, width) = (area.x(1.0) + 24.0, 18.0);
        if let Some(words) = self.read.scale.as_words() {
            let last = words.len().saturating_sub(1).max(1) as f64;
            let step = (area.height / words.len() as f64).min(24.0);
            for (number, word) in words.iter().enumerate() {
                let y = area.top + step * number as f64;
                let part = if words.len() == 1 { 0.5 } else { number as f64 / last };
                picture.swatch((left, y), viridis(part), word, step);
            }
        } else if self.read.range.is_some_and(|(low, high)| low < high) {
            let rows = shapes::whole(area.height * png::SCALE);
            let row = |row: usize| vec![viridis(1.0 - (row as f64 + 0.5) / rows as f64)];
            picture.shapes.add(Shape::Pixels {
                corner: (left, area.top),
                size: (width, area.height),
                rows: (0..rows).map(row).collect(),
            });
            for tick in &self.ticks.ticks {
                let y = area.y(between(tick.at, self.read.range.unwrap_or_default()));
                let points = vec![(left + width, y), (left + width + 5.0, y)];
                picture.shapes.add(Shape::Path { points, width: 1.0, colour: GREY });
                let place = (left + width + 9.0, y + SMALL * 0.36);
                picture.shapes.text(Text::new(&tick.label, place, SMALL));
            }
        } else if let Some((one, _)) = self.read.range {
            picture.swatch((left, area.top), viridis(0.5), &self.read.scale.label(one), 24.0);
        }
        let title = font::fitting(&self.title, SMALL, WIDTH - left - 6.0);
        picture.shapes.text(Text::new(&title, (left, area.top - 10.0), SMALL));
        if self.read.missing > 0 {
            picture.swatch((left, area.y(0.0) + 14.0), MISSING, "missing", 24.0);
        }
    }
}

impl Picture {
    /// A square of a colour, with its meaning.
    fn swatch(&mut self, (x, y): (f64, f64), colour: Rgb, label: &str, step: f64) {
        let side = step.min(16.0) - 2.0;
        self.shapes.add(Shape::Pixels { corner: (x, y), size: (side, side), rows: vec![vec![colour]] });
        let label = font::fitting(label, SMALL, WIDTH - x - 28.0);
        self.shapes.text(Text::new(&label, (x + 22.0, y + side / 2.0 + SMALL * 0.36), SMALL));
    }
}

/// The size of a picture, in SVG units; PNG has several pixels for each unit.
const WIDTH: f64 = 800.0;
const HEIGHT: f64 = 500.0;
/// The space to the right of a line.
const RIGHT: f64 = 30.0;
const LARGE: f64 = 16.0;
const MIDDLE: f64 = 13.0;
const SMALL: f64 = 12.0;
/// The maximum number of cells of a heat map: about one for each unit of length.
const MAX_COLUMNS: usize = 640;
const MAX_ROWS: usize = 400;
const MAX_POINTS: usize = 1200;
/// The maximum number of points of a line for which each point is marked.
const MAX_MARKED: usize = 60;
const INK: Rgb = [32, 32, 32];
const GREY: Rgb = [96, 96, 96];
const LIGHT: Rgb = [230, 230, 230];
/// No colour of viridis is grey.
const MISSING: Rgb = [214, 214, 214];
const CURVE: Rgb = [44, 113, 142];
const RANGE: Rgb = [186, 210, 219];
