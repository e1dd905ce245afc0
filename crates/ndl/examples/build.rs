//! Builds content in code and writes it as a document, in YAML and in JSON.
//!
//! `cargo run -p hyperslab-ndl --example build`

use hyperslab_core::Result;
use hyperslab_core::rows::{Heap, Slot};
use hyperslab_model::{
    Attribute, Attributes, BoxedStorage, Datatype, DimCoord, Dimension, ElementStorage, Extent, Float, Group,
    Ndarray, Node, NodePath, Shape, Storage, Text, Values,
};
use hyperslab_ndl::{Emitter, Format, Head, Options};
use std::sync::Arc;

fn main() -> Result<()> {
    let root = NodePath::root();
    let depths: Vec<u8> = [0.0_f32, 2.5, 10.0].iter().flat_map(|depth| depth.to_ne_bytes()).collect();
    let depth = DimCoord {
        size: Extent::Fixed(3),
        datatype: Some(Arc::new(Datatype::Float(Float::Single))),
        attributes: Attributes::from_iter([("units".to_string(), Ok(text("m")?))]),
        storage: BoxedStorage::default(),
        value: Some(Values { rows: depths.into(), heap: Heap::default() }),
    };
    let temperature = Ndarray {
        shape: Shape::Dims(vec![
            Dimension { extent: Extent::Fixed(3), coordinate: Some(root.child("depth")) },
            Dimension { extent: Extent::Unlimited { current: 0 }, coordinate: None },
        ]),
        dimension: None,
        datatype: Some(Arc::new(Datatype::int(16, true))),
        attributes: Attributes::new(),
        storage: Storage { chunk: Some(vec![3, 64]), ..Storage::default() }.into(),
        value: None,
    };
    let attributes = Attributes::from_iter([("title".to_string(), Ok(text("A buoy")?))]);
    let nodes = [
        (root.clone(), Node::Group(Group { attributes, ..Group::default() })),
        (root.child("depth"), Node::DimCoord(depth)),
        (root.child("temperature"), Node::Ndarray(temperature)),
    ];
    for format in [Format::Yaml, Format::Json] {
        let mut emitter = Emitter::new(format, Options { values: Some(u64::MAX), ..Options::default() });
        for (path, node) in &nodes {
            emitter.node(path, node)?;
        }
        let head = Head { location: "buoy.h5", format: "hdf5", title: "HDF5", version: "0.1.0" };
        emitter.finish(&head, &mut std::io::stdout())?;
    }
    Ok(())
}

/// An attribute with one string. Strings of variable length are in a heap; their rows are slots that point into it.
fn text(text: &str) -> Result<Attribute> {
    let count = u32::try_from(text.len()).unwrap_or(u32::MAX);
    let mut heap = Heap::default();
    let buffer = heap.push(text.as_bytes().to_vec().into())?;
    let rows = Slot { buffer, count, offset: 0 }.to_bytes().to_vec().into();
    Ok(Attribute {
        shape: Some(Vec::new()),
        datatype: Arc::new(Datatype::String(Text::Variable)),
        value: Values { rows, heap },
        storage: ElementStorage::default(),
        native: Vec::new(),
    })
}
