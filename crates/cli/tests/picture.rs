//! The picture of a terminal in the README, drawn from what the command prints.

use crate::command::{examples, prepared};
use crate::golden::holds;
use crate::terminal::shown_by;
use std::fmt::Write as _;

/// The number of columns of the terminal, which fits the widest line. `CELL` is the size of a character in the picture.
const COLUMNS: usize = 104;
const CELL: (f32, f32) = (8.5, 19.0);
const MARGIN: f32 = 22.0;
/// The height of the bar with the three buttons.
const BAR: f32 = 34.0;

/// The commands in the picture, each with the maximum number of output lines shown.
const COMMANDS: &[(&[&str], usize)] = &[
    (&["ls", "ocean.nc"], 17),
    (&["show", "ocean.nc:/salinity", "--decode", "-s", "time=2024-03-08,depth==25"], 5),
    (&["convert", "-n", "ocean.nc", "ocean.zarr"], 6),
    (&["show", "ocean.nc:/temprature"], 2),
];

/// Text styles: the terminal code of each style, and its name and colour in the picture. The picture has its own dark
/// background, so it is legible on pages of any colour.
const STYLES: &[(&str, &str, &str)] = &[
    ("2", "dim", "#8b98a9"),
    ("31", "red", "#ff8a80"),
    ("33", "yellow", "#ffd27f"),
    ("1", "bold", "#ffffff"),
];

#[test]
fn the_picture_shows_the_real_output() {
    holds("../../../../docs/pictures/terminal.svg", &picture(&screen()));
}

/// The lines of the terminal, with the codes of their styles.
fn screen() -> Vec<String> {
    let mut lines = Vec::new();
    for (args, most) in COMMANDS {
        let typed: Vec<String> = args
            .iter()
            .map(|arg| if arg.contains('=') { format!("'{arg}'") } else { (*arg).to_owned() })
            .collect();
        lines.push(format!("\u{1b}[1m$ hyperslab {}\u{1b}[0m", typed.join(" ")));
        let mut command = prepared(*args);
        command.current_dir(examples()).env("COLUMNS", COLUMNS.to_string());
        command.env_remove("NO_COLOR").env("TERM", "xterm");
        let shown = shown_by(command);
        lines.extend(shown.lines().take(*most).map(str::to_owned));
        if shown.lines().count() > *most {
            lines.push("…".to_owned());
        }
        lines.push(String::new());
    }
    lines.pop();
    for line in &lines {
        let codes: usize =
            line.split("\u{1b}[").skip(1).filter_map(|piece| piece.find('m')).map(|at| at + 3).sum();
        assert!(line.chars().count() - codes <= COLUMNS, "does not fit into the picture: {line}");
    }
    lines
}

/// An SVG image of the lines.
fn picture(lines: &[String]) -> String {
    let width = 2.0 * MARGIN + CELL.0 * COLUMNS as f32;
    let height = BAR + MARGIN + CELL.1 * lines.len() as f32;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">\n\
         <style>text {{ font: 14px ui-monospace, \"DejaVu Sans Mono\", Menlo, Consolas, monospace; fill: #d7dee8; \
         white-space: pre }}"
    );
    for (_, name, colour) in STYLES {
        let _ = write!(svg, " .{name} {{ fill: {colour} }}");
    }
    let _ = writeln!(
        svg,
        "</style>\n<rect width=\"{width}\" height=\"{height}\" rx=\"9\" fill=\"#161b22\" stroke=\"#586577\"/>"
    );
    for (index, colour) in ["#ff6b60", "#ffc043", "#4bc66a"].iter().enumerate() {
        let x = MARGIN + 20.0 * index as f32;
        let _ = writeln!(svg, "<circle cx=\"{x}\" cy=\"{}\" r=\"6\" fill=\"{colour}\"/>", BAR / 2.0);
    }
    for (index, line) in lines.iter().enumerate().filter(|(_, line)| !line.is_empty()) {
        let y = BAR + CELL.1 * (index as f32 + 0.8);
        let _ =
            writeln!(svg, "<text x=\"{MARGIN}\" y=\"{y:.1}\" xml:space=\"preserve\">{}</text>", styled(line));
    }
    svg + "</svg>\n"
}

/// A line with its styles as SVG elements. A code has the form `\u{1b}[…m`, and 0 ends all styles.
fn styled(line: &str) -> String {
    let escaped = line.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let mut pieces = escaped.split("\u{1b}[");
    let mut text = pieces.next().unwrap_or_default().to_owned();
    let mut is_open = false;
    for piece in pieces {
        let (code, rest) = piece.split_once('m').expect("a code of colour ends with m");
        if std::mem::take(&mut is_open) {
            text.push_str("</tspan>");
        }
        if let Some((_, name, _)) = STYLES.iter().find(|(known, ..)| *known == code) {
            let _ = write!(text, "<tspan class=\"{name}\">");
            is_open = true;
        } else {
            assert!(["", "0"].contains(&code), "a style without a colour: {code}");
        }
        text.push_str(rest);
    }
    if is_open {
        text.push_str("</tspan>");
    }
    text
}
