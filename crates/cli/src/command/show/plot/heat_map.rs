//! A heat map of characters: coloured half blocks, or shades.

use super::colours::{Paint, Rgb, Style, part, viridis};
use super::frame::{Frame, Room, across, columns_beside, down, fitting, titled};
use super::{Drawn, words};
use hyperslab::Result;
use hyperslab::plot::{HeatMap, Plot, PlotAxis, Read};

pub(super) fn draw(plot: &Plot, vertical: &PlotAxis, style: Style, room: Room) -> Result<Drawn> {
    let horizontal = plot.horizontal();
    // With colours, a character shows two cells, one above the other.
    let lines = if style.paint == Paint::Shades { 1 } else { 2 };
    let rows = whole_cells(room.rows * lines, vertical.count(), MAX_ROWS * lines).div_ceil(lines);
    let bounds = vertical.upwards();
    let ticks = vertical.ticks(bounds, if vertical.has_words() { rows } else { (rows / 3).max(2) });
    let labels = down(&ticks, bounds, rows, room);
    let columns = whole_cells(columns_beside(&labels, room), horizontal.count(), MAX_COLUMNS);
    let map = plot.heat_map(columns, rows * lines)?;
    let (below, note) = across(horizontal, horizontal.across(), columns, room);
    let frame = Frame {
        area: area(&map, columns, rows, style),
        columns,
        vertical: labels,
        vertical_title: titled(vertical, ticks.note.as_deref()),
        horizontal: below,
        horizontal_title: titled(horizontal, note.as_deref()),
    };
    Ok(Drawn { frame, legend: scale(plot, &map.read, style, room), notes: words::of_map(&map) })
}

/// The number of columns or lines that gives each of a few cells the same number of them, at most `most` each.
fn whole_cells(room: usize, cells: u64, most: usize) -> usize {
    let cells = usize::try_from(cells).unwrap_or(usize::MAX).max(1);
    match room.checked_div(cells) {
        Some(each @ 1..) => each.min(most) * cells,
        _ => room,
    }
}

/// The lines of the map.
fn area(map: &HeatMap, columns: usize, rows: usize, style: Style) -> Vec<String> {
    let read = &map.read;
    if style.paint == Paint::Shades {
        let line = |row: Vec<f64>| row.into_iter().map(|number| character(number, read, style)).collect();
        return map.pixels(columns, rows).into_iter().map(line).collect();
    }
    let pixels = map.pixels(columns, rows * 2);
    pixels.chunks(2).map(|pair| halves(pair, read, style)).collect()
}

/// The character for a number without colours.
fn character(number: f64, read: &Read, style: Style) -> char {
    match read.scale.as_words() {
        _ if number.is_nan() => style.missing(),
        Some(words) => (0..words.len())
            .find(|word| *word as f64 == number)
            .map_or('?', |word| style.symbol(word, words.len())),
        None => style.shade(part(number, read.range.unwrap_or_default())),
    }
}

/// The colour of a number; `None` for a missing one.
pub(super) fn colour(number: f64, read: &Read) -> Option<Rgb> {
    (!number.is_nan()).then(|| viridis(part(number, read.range.unwrap_or_default())))
}

/// Two rows of cells in one line.
fn halves(pair: &[Vec<f64>], read: &Read, style: Style) -> String {
    let none = Vec::new();
    let (upper, lower) = (pair.first().unwrap_or(&none), pair.get(1).unwrap_or(&none));
    let mut line = String::new();
    let mut last = None;
    for (upper, lower) in upper.iter().zip(lower) {
        let colours = (colour(*upper, read), colour(*lower, read));
        if last != Some(colours) {
            line.push_str("\x1b[0m");
            line.push_str(&match colours {
                (Some(upper), Some(lower)) => style.code(upper, false) + &style.code(lower, true),
                (Some(one), None) | (None, Some(one)) => style.code(one, false),
                (None, None) => "\x1b[2m".to_owned(),
            });
            last = Some(colours);
        }
        line.push(match colours {
            (Some(_), _) if style.unicode => '▀',
            (None, Some(_)) if style.unicode => '▄',
            // Without half blocks, the background colour of a space fills a whole character.
            (Some(_), Some(_)) => ' ',
            (Some(_), None) => '\'',
            (None, Some(_)) => '.',
            (None, None) => style.missing(),
        });
    }
    line.push_str("\x1b[0m");
    line
}

/// The legend: which colour represents which number.
fn scale(plot: &Plot, read: &Read, style: Style, room: Room) -> Vec<String> {
    let mut parts = Vec::new();
    match (read.range, read.scale.as_words()) {
        (None, _) => {}
        (Some(range), Some(words)) => {
            for (word, name) in words.iter().enumerate() {
                let mark = match style.paint {
                    Paint::Shades => style.symbol(word, words.len()).to_string(),
                    _ => {
                        let block = if style.unicode { "█" } else { "#" };
                        style.painted(block, viridis(part(word as f64, range)))
                    }
                };
                let name = fitting(name, room.width.saturating_sub(2));
                parts.push((name.chars().count() + 2, format!("{mark} {name}")));
            }
        }
        (Some((low, high)), None) => {
            let unit = plot.units.as_ref().map_or(String::new(), |unit| format!(" {unit}"));
            let [first, last] = [low, high].map(|end| read.scale.label(end));
            let width = if low == high { 1 } else { (room.width / 3).clamp(10, 40) };
            let (before, after) = match low == high {
                true => (String::new(), format!(" {first}{unit}")),
                false => (format!("{first} "), format!(" {last}{unit}")),
            };
            let after = fitting(&after, room.width / 3);
            let columns = before.chars().count() + width + 2 + after.chars().count();
            parts.push((columns, format!("{before}{}{after}", bar(width, style))));
        }
    }
    if read.missing > 0 {
        parts.push((9, format!("{} missing", style.missing())));
    }
    filled(parts, room.width)
}

/// Arranges parts with the given widths in columns in as few lines as they need.
fn filled(parts: Vec<(usize, String)>, width: usize) -> Vec<String> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    for (columns, part) in parts {
        match lines.last_mut() {
            Some((length, line)) if *length + 3 + columns <= width => {
                line.push_str("   ");
                line.push_str(&part);
                *length += 3 + columns;
            }
            _ => lines.push((columns, part)),
        }
    }
    lines.into_iter().map(|(_, line)| line).collect()
}

/// All colours or shades in a row.
fn bar(width: usize, style: Style) -> String {
    let at = |column: usize| (column as f64 + 0.5) / width as f64;
    if style.paint == Paint::Shades {
        let shades: String = (0..width).map(|column| style.shade(at(column))).collect();
        return format!("[{shades}]");
    }
    let block = if style.unicode { "█" } else { "#" };
    (0..width).map(|column| style.code(viridis(at(column)), false) + block).collect::<String>() + "\x1b[0m"
}

/// The maximum number of columns and lines of one cell.
const MAX_COLUMNS: usize = 16;
const MAX_ROWS: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_cells_have_the_same_size_and_many_fill_the_room() {
        assert_eq!(whole_cells(70, 8, 16), 64);
        assert_eq!(whole_cells(70, 2, 16), 32);
        assert_eq!(whole_cells(70, 71, 16), 70);
        assert_eq!(whole_cells(70, 0, 16), 16);
    }

    #[test]
    fn legends_break_between_their_parts() {
        let part = |length: usize| (length, "x".repeat(length));
        let lines = filled(vec![part(10), part(5), part(3), part(30), part(1)], 20);
        assert_eq!(lines.iter().map(String::len).collect::<Vec<_>>(), [18, 3, 30, 1]);
    }
}
