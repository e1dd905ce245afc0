//! Lists and maps in brackets, in lines up to the last column.

use super::{LONG_KEY, STEP, WIDTH, Writer, columns, scalar_text};
use crate::quote;
use crate::tree::{Key, Rows, Scalar, Style, Tree};
use std::borrow::Cow;

/// An item between two commas.
struct Item<'t, 'a> {
    key: Option<Key<'a>>,
    tree: Cow<'t, Tree<'a>>,
    /// The columns that it fills from the left.
    width: u8,
}

impl<'t, 'a> Item<'t, 'a> {
    fn new(tree: Cow<'t, Tree<'a>>) -> Self {
        Item { key: None, tree, width: 0 }
    }
}

/// A position to go back to.
#[derive(Clone, Copy)]
struct Mark {
    len: usize,
    column: usize,
}

impl Writer<'_> {
    /// Writes a space and `tree`, if it fits on this line.
    pub(super) fn on_this_line(&mut self, tree: &Tree<'_>) -> bool {
        let mark = self.mark();
        self.push(" ");
        let fits = self.flat(tree, WIDTH);
        if !fits {
            self.rewind(mark);
        }
        fits
    }

    /// Writes `tree` in as many lines as it needs, all but the first at `indent`. Leaves space for `tail` characters
    /// after it.
    pub(super) fn filled(&mut self, tree: &Tree<'_>, indent: usize, tail: usize) {
        match tree {
            Tree::Scalar(scalar) => self.scalar(scalar, true),
            Tree::List(_, items) => {
                self.fill(items.iter().map(|item| Item::new(Cow::Borrowed(item))), ["[", "]"], indent, tail);
            }
            Tree::Map(_, entries) => {
                let items = entries
                    .iter()
                    .map(|(key, tree)| Item { key: Some(*key), ..Item::new(Cow::Borrowed(tree)) });
                self.fill(items, ["{", "}"], indent, tail);
            }
            Tree::Table(table) => {
                self.fill(table.rows().map(|row| Item::new(Cow::Owned(row))), ["[", "]"], indent, tail);
            }
            Tree::Rows(rows) => {
                self.fill(rows.items().map(|item| Item::new(Cow::Owned(item))), ["[", "]"], indent, tail);
            }
        }
    }

    /// Writes the innermost row of an array in columns of these widths.
    pub(super) fn filled_row(&mut self, rows: &Rows<'_>, widths: &[u8], indent: usize) {
        let mut widths = widths.iter();
        let items = rows.items().map(|item| Item {
            width: widths.next().copied().unwrap_or_default(),
            ..Item::new(Cow::Owned(item))
        });
        self.fill(items, ["[", "]"], indent, 0);
    }

    fn fill<'t, 'a: 't>(
        &mut self,
        items: impl Iterator<Item = Item<'t, 'a>>,
        [open, close]: [&str; 2],
        indent: usize,
        tail: usize,
    ) {
        self.push(open);
        let mut items = items.peekable();
        let mut first = true;
        while let Some(item) = items.next() {
            let last = items.peek().is_none();
            let behind = if last { 1 + tail } else { 1 };
            match (&item.key, &*item.tree) {
                (None, Tree::Scalar(scalar)) => {
                    self.fill_scalar(scalar, item.width.into(), first, indent, behind);
                }
                _ => self.fill_item(&item, first, indent, behind),
            }
            if !last {
                self.push(",");
            }
            first = false;
        }
        self.push(close);
    }

    fn fill_item(&mut self, item: &Item<'_, '_>, first: bool, indent: usize, behind: usize) {
        let room = WIDTH.saturating_sub(behind);
        let mark = self.mark();
        if !first {
            self.push(" ");
        }
        if self.flat_item(item, room) {
            return;
        }
        self.rewind(mark);
        self.new_line();
        self.pad(indent);
        let line = self.mark();
        if !self.flat_item(item, room) {
            self.rewind(if first { mark } else { line });
            self.item_key(item);
            self.filled(&item.tree, indent, behind);
        }
    }

    /// The same for numbers, which cannot be broken and can number in the millions.
    fn fill_scalar(&mut self, scalar: &Scalar<'_>, width: usize, first: bool, indent: usize, behind: usize) {
        let mark = self.mark();
        self.out.push_str(if first { "" } else { " " });
        let start = self.out.len();
        scalar_text(self.out, scalar, true);
        let text = self.out.get(start..).map_or(0, columns);
        let pad = width.saturating_sub(text);
        if pad > 0 {
            self.out.insert_str(start, &" ".repeat(pad));
        }
        self.column += start - mark.len + pad + text;
        let moves = !first || indent + pad + text + behind <= WIDTH;
        if !self.fits(WIDTH.saturating_sub(behind)) && moves {
            let text = self.out.split_off(start);
            self.rewind(mark);
            self.new_line();
            self.pad(indent);
            self.push(&text);
        }
    }

    fn flat_item(&mut self, item: &Item<'_, '_>, room: usize) -> bool {
        if !self.item_key(item) {
            return false;
        }
        let mark = self.mark();
        let fits = self.flat(&item.tree, room);
        let pad = usize::from(item.width).saturating_sub(self.column - mark.column);
        if fits && pad > 0 {
            self.out.insert_str(mark.len, &" ".repeat(pad));
            self.column += pad;
            return self.fits(room);
        }
        fits
    }

    /// Writes the key of a map entry. Returns false if it is too long for a flow map.
    fn item_key(&mut self, item: &Item<'_, '_>) -> bool {
        let start = self.out.len();
        match item.key {
            None => return true,
            Some(Key::Word(word)) => self.push(word),
            Some(Key::Name(name)) => self.write(|out| quote::write(out, name, true)),
        }
        self.push(": ");
        self.out.len() - start <= LONG_KEY
    }

    /// Writes `tree` on this line. Returns false as soon as it passes column `room`, or if it needs a block.
    pub(super) fn flat(&mut self, tree: &Tree<'_>, room: usize) -> bool {
        match tree {
            Tree::Scalar(scalar) => {
                self.scalar(scalar, true);
                self.fits(room)
            }
            Tree::List(style, items) => {
                let items = items.iter().map(|item| Item::new(Cow::Borrowed(item)));
                self.flat_items(*style, items, ["[", "]"], room)
            }
            Tree::Map(style, entries) => {
                let items = entries
                    .iter()
                    .map(|(key, tree)| Item { key: Some(*key), ..Item::new(Cow::Borrowed(tree)) });
                self.flat_items(*style, items, ["{", "}"], room)
            }
            Tree::Table(_) => false,
            Tree::Rows(rows) => {
                let items = rows.items().map(|item| Item::new(Cow::Owned(item)));
                self.flat_items(Style::Flow, items, ["[", "]"], room)
            }
        }
    }

    fn flat_items<'t, 'a: 't>(
        &mut self,
        style: Style,
        items: impl Iterator<Item = Item<'t, 'a>>,
        [open, close]: [&str; 2],
        room: usize,
    ) -> bool {
        self.push(open);
        for (index, item) in items.enumerate() {
            if style != Style::Flow {
                return false;
            }
            if index > 0 {
                self.push(", ");
            }
            if !self.flat_item(&item, room) {
                return false;
            }
        }
        self.push(close);
        self.fits(room)
    }

    fn fits(&mut self, room: usize) -> bool {
        self.tight |= self.column + STEP > room;
        self.column <= room
    }

    fn mark(&self) -> Mark {
        Mark { len: self.out.len(), column: self.column }
    }

    fn rewind(&mut self, mark: Mark) {
        self.out.truncate(mark.len);
        self.column = mark.column;
    }
}
