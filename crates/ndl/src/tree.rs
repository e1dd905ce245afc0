//! A small piece of a document, before it is YAML or JSON.
//!
//! One entity at a time is a tree: it borrows names and texts, and array elements stay where they are
//! ([`Rows`]) until they are written.

use crate::lower::{Form, element};
use crate::number::Number;
use hyperslab_model::Elements;
use std::borrow::Cow;

/// A node of the document, with how it is laid out.
#[derive(Clone, Debug)]
pub(crate) enum Tree<'a> {
    Scalar(Scalar<'a>),
    List(Style, Vec<Tree<'a>>),
    Map(Style, Entries<'a>),
    Rows(Box<Rows<'a>>),
    Table(Table<'a>),
}

/// What a map holds, in order.
pub(crate) type Entries<'a> = Vec<(Key<'a>, Tree<'a>)>;

/// How a list or map is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// On one line as long as it fits.
    Flow,
    /// An entry a line in YAML, on one line in JSON.
    Block,
    /// An entry a line in both.
    Open,
}

/// The name of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key<'a> {
    /// A word of NDL, which no parser takes for anything else.
    Word(&'static str),
    /// A name from a file.
    Name(&'a str),
}

/// A leaf.
#[derive(Clone, Debug)]
pub(crate) enum Scalar<'a> {
    Null,
    Bool(bool),
    Int(i128),
    Number(Number),
    /// A bit field, least significant byte first.
    Bits(&'a [u8]),
    Text(Cow<'a, str>),
    /// A text that is not UTF-8, or the bits of what is not a number, least significant byte first.
    Bytes(Cow<'a, [u8]>),
    /// Bytes shown in hexadecimal, first byte first.
    Hex(&'a [u8]),
}

/// Elements of an array, row-major.
#[derive(Clone, Debug)]
pub(crate) struct Rows<'a> {
    pub(crate) elements: Elements<'a>,
    /// Extents of the array, then those of the array type of its elements; never empty.
    pub(crate) shape: Vec<u64>,
    pub(crate) arrangement: Arrangement,
    pub(crate) form: Form,
}

/// Columns of equal length, each row of which is a list on a line.
#[derive(Clone, Debug)]
pub(crate) struct Table<'a> {
    pub(crate) columns: Vec<Elements<'a>>,
    pub(crate) form: Form,
}

/// How elements stand beside and below each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrangement {
    /// In rows, right-aligned in columns.
    Columns,
    /// In rows.
    Rows,
    /// One a line.
    Lines,
    /// In brackets, whatever they are: part of one element.
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
    /// What stands along the first dimension: elements if it is the only one, else rows again.
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

    /// Whether an item has a line of its own.
    pub(crate) fn is_block(&self) -> bool {
        match (self.arrangement, self.shape.as_slice()) {
            (Arrangement::Flow, _) | (_, [] | [0, ..]) => false,
            (Arrangement::Lines, _) => true,
            (Arrangement::Columns | Arrangement::Rows, shape) => shape.len() > 1,
        }
    }
}
