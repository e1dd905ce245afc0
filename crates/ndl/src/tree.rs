//! A part of a document before it becomes YAML or JSON.
//!
//! There is one tree for each object. It borrows names and strings, and elements of arrays stay in their values
//! ([`Rows`]) until they are written.

use crate::lower::{Form, element};
use crate::number::Number;
use hyperslab_model::Elements;
use std::borrow::Cow;

/// A node of the document, with its layout.
#[derive(Clone, Debug)]
pub(crate) enum Tree<'a> {
    Scalar(Scalar<'a>),
    List(Style, Vec<Tree<'a>>),
    Map(Style, Entries<'a>),
    Rows(Box<Rows<'a>>),
    Table(Table<'a>),
}

/// The entries of a map, in order.
pub(crate) type Entries<'a> = Vec<(Key<'a>, Tree<'a>)>;

/// The layout of a list or map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// On one line, if it fits.
    Flow,
    /// One entry per line in YAML, on one line in JSON.
    Block,
    /// One entry per line in both.
    Open,
}

/// The key of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key<'a> {
    /// A keyword of NDL, which needs no quotes.
    Word(&'static str),
    /// A name from a file.
    Name(&'a str),
}

/// A scalar.
#[derive(Clone, Debug)]
pub(crate) enum Scalar<'a> {
    Null,
    Bool(bool),
    Int(i128),
    Number(Number),
    /// A bit field, least significant byte first.
    Bits(&'a [u8]),
    Text(Cow<'a, str>),
    /// A string that is not UTF-8, or the bits of NaN, least significant byte first.
    Bytes(Cow<'a, [u8]>),
    /// Bytes in hexadecimal, first byte first.
    Hex(&'a [u8]),
}

/// The elements of an array, in row-major order.
#[derive(Clone, Debug)]
pub(crate) struct Rows<'a> {
    pub(crate) elements: Elements<'a>,
    /// The extents of the array, then those of the array type of its elements. Never empty.
    pub(crate) shape: Vec<u64>,
    pub(crate) arrangement: Arrangement,
    pub(crate) form: Form,
}

/// Columns of equal length. Each row is a list on one line.
#[derive(Clone, Debug)]
pub(crate) struct Table<'a> {
    pub(crate) columns: Vec<Elements<'a>>,
    pub(crate) form: Form,
}

/// The layout of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrangement {
    /// In rows, right-aligned in columns.
    Columns,
    /// In rows.
    Rows,
    /// One per line.
    Lines,
    /// In brackets, as part of one element.
    Flow,
}

impl<'a> Tree<'a> {
    pub(crate) fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Tree::Scalar(Scalar::Text(text.into()))
    }

    pub(crate) fn int(value: impl Into<i128>) -> Self {
        Tree::Scalar(Scalar::Int(value.into()))
    }

    pub(crate) fn list(items: impl IntoIterator<Item = Tree<'a>>) -> Self {
        Tree::List(Style::Flow, items.into_iter().collect())
    }

    pub(crate) fn ints<'i>(items: impl IntoIterator<Item = &'i u64>) -> Self {
        Tree::list(items.into_iter().map(|n| Tree::int(*n)))
    }

    pub(crate) fn map(entries: Entries<'a>) -> Self {
        Tree::Map(Style::Flow, entries)
    }

    /// `{key: tree}`.
    pub(crate) fn one(key: &'static str, tree: Tree<'a>) -> Self {
        Tree::map(vec![(Key::Word(key), tree)])
    }
}

impl<'a> Table<'a> {
    pub(crate) fn is_empty(&self) -> bool {
        self.columns.first().is_none_or(|column| column.len() == 0)
    }

    pub(crate) fn rows(&self) -> impl Iterator<Item = Tree<'a>> + use<'a> {
        let Table { mut columns, form } = self.clone();
        std::iter::from_fn(move || {
            let row: Vec<_> = columns.iter_mut().map_while(Iterator::next).collect();
            (!row.is_empty()).then(|| Tree::list(row.into_iter().map(|one| element(one, form))))
        })
    }
}

impl<'a> Rows<'a> {
    /// The items along the first dimension: elements if it is the only one, otherwise rows.
    pub(crate) fn items(&self) -> impl Iterator<Item = Tree<'a>> + use<'a> {
        let Rows { ref elements, ref shape, arrangement, form } = *self;
        let mut elements = elements.clone();
        let (count, rest) = shape.split_first().map_or((0, Vec::new()), |(n, rest)| (*n, rest.to_vec()));
        let each = rest.iter().try_fold(1_u64, |n, extent| n.checked_mul(*extent));
        let each = each.and_then(|each| usize::try_from(each).ok()).unwrap_or(usize::MAX);
        (0..count).map_while(move |_| {
            if rest.is_empty() {
                return elements.next().map(|one| element(one, form));
            }
            let (elements, shape) = (elements.split(each), rest.clone());
            Some(Tree::Rows(Box::new(Rows { elements, shape, arrangement, form })))
        })
    }

    /// Whether an item needs a separate line.
    pub(crate) fn is_block(&self) -> bool {
        match (self.arrangement, self.shape.as_slice()) {
            (Arrangement::Flow, _) | (_, [] | [0, ..]) => false,
            (Arrangement::Lines, _) => true,
            (Arrangement::Columns | Arrangement::Rows, shape) => shape.len() > 1,
        }
    }
}
