//! Checks where the elements of variables lie: after the header, within the file, and without overlap.
//!
//! Spec: NetCDF Classic Format Specification, `data`, "Note on vsize"

use super::{Checker, rule};
use crate::header::{Variable, Version, padding};
use crate::layout::Layout;

impl Checker<'_, '_> {
    /// Checks the variables, whose descriptions begin at `places` in the header.
    pub(super) fn places(&mut self, places: &[u64]) {
        let file = self.file;
        let header = file.header();
        let mut blocks = Vec::new();
        for (number, (variable, at)) in header.variables.iter().zip(places).enumerate() {
            let name = Some(&variable.name[..]);
            let layout = match file.layout(number) {
                Ok(layout) => layout,
                Err(e) => {
                    self.findings.add(&rule::SHAPE, name, "var", Some(*at), e.detail().to_owned());
                    continue;
                }
            };
            self.size(variable, &layout, *at);
            if layout.shape.first() == Some(&0) {
                continue;
            }
            if layout.begin < file.header_len() {
                let message = format!(
                    "elements at byte {:#x}, the header has {} bytes",
                    layout.begin,
                    file.header_len()
                );
                self.findings.add(&rule::BEGIN, name, "begin", Some(*at), message);
            }
            let end = layout.end().unwrap_or(u64::MAX);
            if end > file.len() {
                let message = format!("elements to byte {end:#x}, the file has {} bytes", file.len());
                self.findings.add(&rule::TRUNCATED, name, "data", Some(layout.begin), message);
            }
            blocks.push((variable, layout));
        }
        self.overlaps(&blocks);
        self.uncounted(&blocks);
    }

    /// Compares the stored size with the actual one. A size that does not fit the field is stored as its largest
    /// number.
    fn size(&mut self, variable: &Variable, layout: &Layout, at: u64) {
        let padded = layout.block.checked_add(padding(layout.block));
        let is_large = match self.file.header().version {
            Version::Data64 => padded.is_none(),
            _ => padded.is_none_or(|size| size > u64::from(u32::MAX)),
        };
        if !is_large && padded != Some(variable.size) {
            let size = padded.unwrap_or(u64::MAX);
            let message = format!("a size of {} bytes, expected {size}", variable.size);
            self.findings.add(&rule::SIZE, Some(&variable.name), "vsize", Some(at), message);
        }
    }

    fn overlaps(&mut self, blocks: &[(&Variable, Layout)]) {
        // For record variables, the first record; all their records together count as one block beside the other
        // variables.
        let records = blocks.iter().filter_map(|(_, layout)| Some((layout.begin, layout.record?)));
        let area = records.min().map(|(begin, size)| {
            let len = size.saturating_mul(self.file.records().count);
            (begin, begin.saturating_add(size), begin.saturating_add(len))
        });
        let mut ranges: Vec<(u64, u64, &Variable)> = Vec::new();
        for (variable, layout) in blocks {
            let range = (layout.begin, layout.begin.saturating_add(layout.block), *variable);
            if let Some((first, second, last)) = area {
                let message = match layout.record {
                    Some(_) if range.1 > second && last > second => {
                        format!(
                            "elements of the first record to byte {:#x}, the second begins at {second:#x}",
                            range.1
                        )
                    }
                    None if range.0 < last && range.1 > first => {
                        format!(
                            "elements at byte {:#x}, where records lie from {first:#x} to {last:#x}",
                            range.0
                        )
                    }
                    _ => String::new(),
                };
                if !message.is_empty() {
                    self.findings.add(&rule::OVERLAP, Some(&variable.name), "data", Some(range.0), message);
                    continue;
                }
            }
            ranges.push(range);
        }
        ranges.sort_by_key(|(begin, end, _)| (*begin, *end));
        let mut last: Option<(u64, &Variable)> = None;
        for (begin, end, variable) in ranges {
            if let Some((until, other)) = last.filter(|(until, _)| begin < *until) {
                let other = String::from_utf8_lossy(&other.name);
                let message = format!("elements at byte {begin:#x}, those of /{other} end at {until:#x}");
                self.findings.add(&rule::OVERLAP, Some(&variable.name), "data", Some(begin), message);
            }
            if last.is_none_or(|(until, _)| end > until) {
                last = Some((end, variable));
            }
        }
    }

    fn uncounted(&mut self, blocks: &[(&Variable, Layout)]) {
        let records = self.file.records();
        let begins = blocks.iter().filter_map(|(_, layout)| layout.record.map(|_| layout.begin));
        let (Some(begin), Some(size)) = (begins.min(), records.size.filter(|size| *size > 0)) else { return };
        let room = self.file.len().saturating_sub(begin) / size;
        if self.file.header().records.is_some() && room > records.count {
            let message = format!("{} records, the file has room for {room}", records.count);
            self.findings.add(&rule::UNCOUNTED_RECORDS, None, "numrecs", Some(4), message);
        }
    }
}
