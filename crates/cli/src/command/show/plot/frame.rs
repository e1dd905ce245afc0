//! A character drawing with axes, ticks and titles.

use super::colours::Style;
use crate::output;
use crate::terminal::harmless;
use hyperslab::plot::{PlotAxis, Ticks};

/// How many columns and lines a drawing may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    pub(super) width: usize,
    /// The maximum number of lines of the drawing itself, without axes and legend.
    pub(super) rows: usize,
}

impl Room {
    /// The space available on the terminal, or in a file.
    pub(super) fn of(is_terminal: bool) -> Room {
        let (width, height) = output::terminal_room(is_terminal);
        let width = width.clamp(MIN_WIDTH, MAX_WIDTH);
        let usual = (width / 4).max(MIN_ROWS);
        // The title, ticks and legend must also fit on the terminal.
        let fitting = height.map_or(usual, |height| height.saturating_sub(AROUND).max(MIN_ROWS));
        Room { width, rows: usual.min(fitting) }
    }
}

/// A drawing and its axes.
#[derive(Debug, Default)]
pub(super) struct Frame {
    /// The lines of the drawing, each of `columns` columns.
    pub(super) area: Vec<String>,
    pub(super) columns: usize,
    /// The lines that have a tick, and its label.
    pub(super) vertical: Vec<(usize, String)>,
    pub(super) vertical_title: String,
    /// The columns that have a tick, and its label.
    pub(super) horizontal: Vec<(usize, String)>,
    pub(super) horizontal_title: String,
}

impl Frame {
    pub(super) fn lines(&self, style: Style, room: Room) -> Vec<String> {
        let margin = margin(&self.vertical);
        let (side, tick, corner, below, under) =
            if style.unicode { ('│', '┤', '└', '┬', '─') } else { ('|', '+', '+', '+', '-') };
        let mut lines = Vec::new();
        if !self.vertical_title.is_empty() {
            lines.push(fitting(&self.vertical_title, room.width));
        }
        for (row, area) in self.area.iter().enumerate() {
            let label = self.vertical.iter().find(|(at, _)| *at == row).map(|(_, label)| label.as_str());
            let mark = if label.is_some() { tick } else { side };
            let line = format!("{:>margin$} {mark}{area}", label.unwrap_or_default());
            lines.push(line.trim_end().to_owned());
        }
        let is_tick = |column: usize| self.horizontal.iter().any(|(at, _)| *at == column);
        let axis: String = (0..self.columns).map(|at| if is_tick(at) { below } else { under }).collect();
        lines.push(format!("{:>margin$} {corner}{axis}", ""));
        lines.push(labels(&self.horizontal, margin + 2, room.width));
        if !self.horizontal_title.is_empty() {
            let title = fitting(&self.horizontal_title, room.width);
            let before = (margin + 2 + self.columns / 2).saturating_sub(title.chars().count() / 2);
            let before = before.min(room.width.saturating_sub(title.chars().count()));
            lines.push(format!("{:before$}{title}", ""));
        }
        lines
    }
}

/// The number of columns that remain for a drawing beside these labels.
pub(super) fn columns_beside(vertical: &[(usize, String)], room: Room) -> usize {
    room.width.saturating_sub(margin(vertical) + 3).max(8)
}

fn margin(vertical: &[(usize, String)]) -> usize {
    vertical.iter().map(|(_, label)| label.chars().count()).max().unwrap_or(0)
}

/// The ticks of a vertical axis as lines; `bounds` are the numbers at the bottom and the top.
pub(super) fn down(
    ticks: &Ticks,
    (bottom, top): (f64, f64),
    rows: usize,
    room: Room,
) -> Vec<(usize, String)> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    for tick in &ticks.ticks {
        let row = place((tick.at - top) / (bottom - top), rows);
        if lines.iter().all(|(at, _)| *at != row) {
            lines.push((row, fitting(&tick.label, room.width / 3)));
        }
    }
    lines
}

/// As many ticks of a horizontal axis as fit with their labels, and the part that these labels omit.
pub(super) fn across(
    axis: &PlotAxis,
    (left, right): (f64, f64),
    columns: usize,
    room: Room,
) -> (Vec<(usize, String)>, Option<String>) {
    let mut most = columns / 4;
    loop {
        let Ticks { ticks, note } = axis.ticks((left, right), most);
        let placed: Vec<(usize, String)> = ticks
            .iter()
            .map(|tick| {
                (place((tick.at - left) / (right - left), columns), fitting(&tick.label, room.width / 3))
            })
            .collect();
        let apart = placed.windows(2).all(|pair| match pair {
            [(at, label), (next, other)] => {
                let (half, other_half) =
                    (label.chars().count().div_ceil(2), other.chars().count().div_ceil(2));
                next.saturating_sub(*at) >= half + other_half + 2
            }
            _ => true,
        });
        if apart || most <= 1 {
            let first = if apart { placed.len() } else { 1 };
            return (placed.into_iter().take(first).collect(), note);
        }
        most -= 1;
    }
}

/// The title of an axis, with the part that its tick labels omit.
pub(super) fn titled(axis: &PlotAxis, note: Option<&str>) -> String {
    match note {
        Some(note) => format!("{}, {note}", axis.title()),
        None => axis.title(),
    }
}

/// The line of labels under their ticks.
fn labels(ticks: &[(usize, String)], margin: usize, width: usize) -> String {
    let mut line = String::new();
    let mut length = 0;
    for (at, label) in ticks {
        let own = label.chars().count();
        let begin = (margin + at).saturating_sub(own / 2).min(width.saturating_sub(own));
        let gap = begin.saturating_sub(length);
        // A clamped label at the edge may touch the one before it.
        if length > 0 && gap == 0 {
            continue;
        }
        line.extend(std::iter::repeat_n(' ', gap));
        line.push_str(label);
        length += gap + own;
    }
    line
}

/// The index of the line or column, out of `count`, for a position from 0 to 1.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative; saturates")]
pub(super) fn place(part: f64, count: usize) -> usize {
    ((part.clamp(0.0, 1.0) * count as f64) as usize).min(count.saturating_sub(1))
}

/// A text in a form that is safe for a terminal, in at most `width` columns.
pub(super) fn fitting(text: &str, width: usize) -> String {
    let text = harmless(text);
    match text.chars().count() > width {
        true => text.chars().take(width.saturating_sub(1)).chain(['…']).collect(),
        false => text.into_owned(),
    }
}

/// A text in lines of at most `width` columns, broken at spaces.
pub(super) fn folded(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Below this width, labels leave no room for a drawing.
const MIN_WIDTH: usize = 30;
const MAX_WIDTH: usize = 400;
const MIN_ROWS: usize = 8;
/// The lines around a drawing: titles, axes, legend, and the next prompt.
const AROUND: usize = 11;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_stay_within_the_width_and_apart() {
        let ticks = [(0, "2024-03".to_owned()), (20, "2024-04".to_owned()), (29, "2024-05".to_owned())];
        assert_eq!(labels(&ticks, 4, 34), " 2024-03             2024-04");
        assert_eq!(labels(&ticks[..2], 4, 34).len(), 28);
        assert_eq!(folded("each cell is the mean", 10), ["each cell", "is the", "mean"]);
        assert_eq!((place(0.0, 5), place(1.0, 5), place(f64::NAN, 5)), (0, 4, 0));
    }
}
