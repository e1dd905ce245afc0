//! Collects diagnostics while a text is parsed.

use super::events::Span;
use crate::{Diagnostic, Severity};
use std::cell::Cell;
use std::rc::Rc;

/// The diagnostics so far.
#[derive(Debug)]
pub(crate) struct Findings<'s> {
    source: &'s str,
    strict: bool,
    silent: bool,
    found: Vec<(Diagnostic, Span)>,
    left_out: u64,
    sink: Diagnostic,
    memory: Memory,
}

/// The memory that nodes and objects of a text may still take, in bytes; `None` after they exceeded it. Clones share
/// it.
#[derive(Clone, Debug)]
pub(crate) struct Memory(Rc<Cell<Option<u64>>>);

impl Memory {
    pub(crate) fn new(bytes: u64) -> Memory {
        Memory(Rc::new(Cell::new(Some(bytes))))
    }

    /// Whether more memory was needed than was allowed.
    pub(crate) fn is_exceeded(&self) -> bool {
        self.0.get().is_none()
    }
}

/// The last diagnostic, to which a hint can be added.
#[derive(Debug)]
pub(crate) struct Finding<'f>(&'f mut Diagnostic);

impl Finding<'_> {
    pub(crate) fn hint(self, hint: impl Into<String>) {
        self.0.hint = Some(hint.into());
    }

    /// Adds a hint, if there is one.
    pub(crate) fn maybe_hint(self, hint: Option<String>) {
        self.0.hint = hint;
    }
}

impl<'s> Findings<'s> {
    pub(crate) fn new(source: &'s str, strict: bool) -> Self {
        let sink = diagnostic(Severity::Note, "", Span::default());
        let memory = Memory::new(u64::MAX);
        Findings { source, strict, silent: false, found: Vec::new(), left_out: 0, sink, memory }
    }

    /// The same findings with this memory for the content of the text.
    pub(crate) fn within(self, memory: Memory) -> Self {
        Findings { memory, ..self }
    }

    /// Takes memory before it is allocated. Returns false if there is not enough: the caller then stops without a
    /// result.
    pub(crate) fn spend(&mut self, bytes: u64) -> bool {
        let left = self.memory.0.get().and_then(|left| left.checked_sub(bytes));
        self.memory.0.set(left);
        left.is_some()
    }

    /// Gives memory back.
    pub(crate) fn unspend(&mut self, bytes: u64) {
        self.memory.0.set(self.memory.0.get().map(|left| left.saturating_add(bytes)));
    }

    /// Whether the memory did not suffice.
    pub(crate) fn is_spent(&self) -> bool {
        self.memory.is_exceeded()
    }

    /// A second, empty collection for the same text.
    pub(crate) fn another(&self) -> Self {
        Findings::new(self.source, self.strict)
    }

    /// The maximum number of padding bytes in all values together: in proportion to the text, so that a few bytes
    /// cannot take much memory. Values that do not come from a text were limited when they were read.
    pub(crate) fn most_padding(&self) -> usize {
        match self.source.len() {
            0 => MAX_PADDING,
            len => len.saturating_mul(PADDING_OF_A_BYTE).clamp(FREE_PADDING, MAX_PADDING),
        }
    }

    pub(crate) fn error(
        &mut self,
        rule: &'static str,
        span: Span,
        message: impl Into<String>,
    ) -> Finding<'_> {
        self.add(Severity::Error, rule, span, message.into())
    }

    /// Adds a warning, which is an error in strict mode.
    pub(crate) fn warning(
        &mut self,
        rule: &'static str,
        span: Span,
        message: impl Into<String>,
    ) -> Finding<'_> {
        let severity = if self.strict { Severity::Error } else { Severity::Warning };
        self.add(severity, rule, span, message.into())
    }

    pub(crate) fn note(&mut self, rule: &'static str, span: Span, message: impl Into<String>) -> Finding<'_> {
        self.add(Severity::Note, rule, span, message.into())
    }

    /// Whether further diagnostics are only counted.
    pub(crate) fn is_full(&self) -> bool {
        self.found.len() >= MAX_FINDINGS
    }

    /// The number of diagnostics, for [`truncate`](Self::truncate).
    pub(crate) fn len(&self) -> (usize, u64, Option<u64>) {
        (self.found.len(), self.left_out, self.memory.0.get())
    }

    /// Drops the diagnostics after the first `found`, and what was read with them.
    pub(crate) fn truncate(&mut self, (found, left_out, memory): (usize, u64, Option<u64>)) {
        self.found.truncate(found);
        self.left_out = left_out;
        self.memory.0.set(memory);
    }

    /// Counts a diagnostic that is not kept.
    pub(crate) fn leave_out(&mut self) {
        if !self.silent {
            self.left_out += 1;
        }
    }

    /// Whether an error makes the text unusable and the limit of diagnostics is reached.
    pub(crate) fn is_hopeless(&self) -> bool {
        self.is_full() && self.found.iter().any(|(found, _)| found.severity == Severity::Error)
    }

    /// Sets whether diagnostics are dropped. Returns the old setting.
    pub(crate) fn silence(&mut self, silent: bool) -> bool {
        std::mem::replace(&mut self.silent, silent)
    }

    /// All diagnostics, by place.
    pub(crate) fn finish(self) -> Vec<Diagnostic> {
        let Findings { source, mut found, left_out, .. } = self;
        found.sort_by_key(|(diagnostic, _)| (diagnostic.line, diagnostic.column));
        let mut lines = source.split('\n');
        let (mut number, mut width) = (0_usize, 0_usize);
        let mut all = Vec::with_capacity(found.len());
        for (mut diagnostic, span) in found {
            while number < diagnostic.line {
                number += 1;
                width = lines.next().map_or(0, |line| line.trim_end_matches('\r').chars().count());
            }
            // A range of several lines is marked only to the end of its first line.
            if span.end_column == Span::OPEN_END {
                diagnostic.end_column = width + 1;
            }
            diagnostic.end_column = diagnostic.end_column.max(diagnostic.column + 1);
            all.push(diagnostic);
        }
        if left_out > 0 {
            let last = all.last().map_or((1, 1, 2), |last| (last.line, last.column, last.end_column));
            let mut more = diagnostic(Severity::Note, "ndl/limit", Span::default());
            more.message = format!("{left_out} more findings are not shown");
            (more.line, more.column, more.end_column) = last;
            all.push(more);
        }
        all
    }

    fn add(&mut self, severity: Severity, rule: &'static str, span: Span, message: String) -> Finding<'_> {
        if self.silent {
            return Finding(&mut self.sink);
        }
        if self.is_full() {
            self.left_out += 1;
            return Finding(&mut self.sink);
        }
        self.found.push((Diagnostic { message, ..diagnostic(severity, rule, span) }, span));
        match self.found.last_mut() {
            Some((diagnostic, _)) => Finding(diagnostic),
            None => Finding(&mut self.sink),
        }
    }
}

fn diagnostic(severity: Severity, rule: &'static str, span: Span) -> Diagnostic {
    let number = |n: u32| usize::try_from(n).unwrap_or(usize::MAX);
    let (line, column, end_column) = (number(span.line), number(span.column), number(span.end_column));
    Diagnostic { severity, rule, message: String::new(), line, column, end_column, hint: None }
}

/// The maximum number of diagnostics that are kept.
const MAX_FINDINGS: usize = 1000;

/// The padding that any text may have, and the padding for each byte of a longer one.
const FREE_PADDING: usize = 16 << 20;
const PADDING_OF_A_BYTE: usize = 100;

/// The padding that no text may exceed.
const MAX_PADDING: usize = 256 << 20;
