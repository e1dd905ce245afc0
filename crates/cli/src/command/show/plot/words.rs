//! Titles and legends of drawings, the same for terminals and pictures.

use hyperslab::plot::{HeatMap, Line, Plot, Read};

/// A description of what is drawn, followed by the positions along the other dimensions.
pub(super) fn titles(plot: &Plot) -> Vec<String> {
    let about = match (&plot.about, &plot.units) {
        (Some(about), Some(units)) => format!("{}: {about} ({units})", plot.name),
        (Some(about), None) => format!("{}: {about}", plot.name),
        (None, Some(units)) => format!("{} ({units})", plot.name),
        (None, None) => plot.name.clone(),
    };
    let mut titles = vec![about];
    if !plot.fixed.is_empty() {
        titles.push(plot.fixed.join(", "));
    }
    titles
}

/// The name without its group path.
pub(super) fn short_name(plot: &Plot) -> &str {
    plot.name.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(&plot.name)
}

/// The note that dimensions are drawn at their first position; `None` if all positions were chosen.
pub(super) fn first_of(plot: &Plot) -> Option<String> {
    let first = plot.first_of.first()?;
    let names = plot.first_of.join(", ");
    let example = match first.starts_with('[') {
        true => "-s selects another by its position".to_owned(),
        false => format!("-s {first}=1 draws the next"),
    };
    Some(format!("drawn at the first position of {names}; {example}, --axes another dimension"))
}

/// What a heat map leaves out.
pub(super) fn of_map(map: &HeatMap) -> Vec<String> {
    let mut lines = Vec::new();
    let are_words = map.read.scale.as_words().is_some();
    match map.block {
        (0 | 1, 0 | 1) => {}
        (rows, columns) if are_words => {
            lines.push(format!("each cell is the first of up to {rows} by {columns} elements"));
        }
        (rows, columns) => lines.push(format!("each cell is the mean of up to {rows} by {columns} elements")),
    }
    lines.extend(of_read(&map.read, "drawn in the colour of the nearest end"));
    lines
}

/// What a line drawing leaves out.
pub(super) fn of_line(line: &Line) -> Vec<String> {
    let mut lines = Vec::new();
    match line.block {
        0 | 1 => {}
        block if line.read.scale.as_words().is_some() => {
            lines.push(format!("each point is the first of up to {block} elements"));
        }
        block => {
            lines.push(format!("each point is the mean of up to {block} elements, between their extremes"))
        }
    }
    lines.extend(of_read(&line.read, "drawn at the nearest end"));
    lines
}

fn of_read(read: &Read, infinite: &str) -> Vec<String> {
    let mut lines = Vec::new();
    match (read.count, read.missing) {
        (0, _) => lines.push("no elements".to_owned()),
        (_, 0) => {}
        (1, _) => lines.push("the element is missing".to_owned()),
        (count, missing) if missing == count => lines.push(format!("all {count} elements are missing")),
        (count, 1) => lines.push(format!("1 of {count} elements is missing")),
        (count, missing) => lines.push(format!("{missing} of {count} elements are missing")),
    }
    match read.infinite {
        0 => {}
        1 => lines.push(format!("1 element is infinite: {infinite}")),
        many => lines.push(format!("{many} elements are infinite: {infinite}")),
    }
    lines
}
