#![doc = include_str!("../README.md")]
//! ## Contents
//!
//! A file is a tree of [`Node`]s by [`NodePath`]: groups, dimensions with and without coordinates, ndarrays, named
//! datatypes and links. Nodes do not hold the elements of arrays. Elements are [`Values`] (rows and a heap), which
//! [`Element`] decodes one by one. [`Storage`] describes how an object is stored.
//!
//! This crate does no I/O: format adapters build nodes, and the NDL crate writes them as text.

mod attribute;
mod compare;
mod content;
mod datatype;
mod float;
mod nodes;
mod path;
pub mod rows;
mod shape;
mod storage;
mod value;

pub use attribute::Attribute;
pub use compare::{Difference, Gap, Pair, Rules, Tally, Tolerance, compare};
pub use content::{
    Attributes, Cells, Column, Content, DimCoord, Group, Link, Members, NamedDatatype, Ndarray, Node,
    NodeKind, Unreadable,
};
pub use datatype::{Datatype, Float, FloatFormat, Member, Normalization, Text, TimeUnit};
pub use nodes::Nodes;
pub use path::NodePath;
pub use shape::{Dimension, Extent, Shape};
pub use storage::{
    BoxedStorage, ByteOrder, CharacterSet, Directive, EXTRA, ElementStorage, Fill, FillTime, Filter, Layout,
    Length, Order, Pad, Storage,
};
pub use value::{Element, ElementRef, Elements, Fields, Reference, ReferencedPart, Values};
