use super::super::datatype::Types;
use super::super::filters::tests::bytes_of;
use super::*;
use hyperslab_core::Encoder;
use hyperslab_hdf5::format::Structure;
use hyperslab_hdf5::write::LibraryVersion;
use hyperslab_model::{Element, Elements};

fn path(path: &str) -> NodePath {
    NodePath::new(path).unwrap()
}

fn dimension(size: Extent, has_coordinates: bool) -> Node {
    let datatype = has_coordinates.then(|| Arc::new(Datatype::Float(Float::Double)));
    Node::DimCoord(DimCoord { datatype, ..DimCoord::without_coordinates(size) })
}

fn array(along: &[Option<&str>], directives: Vec<(&str, Directive)>) -> Node {
    let dims = along.iter().map(|name| Dimension { extent: Extent::Fixed(3), coordinate: name.map(path) });
    let mut storage = Storage::default();
    let directives = directives.into_iter().map(|(key, value)| (key.to_owned(), value));
    storage.native_mut("hdf5").unwrap().extend(directives);
    Node::Ndarray(Ndarray {
        shape: Shape::Dims(dims.collect()),
        dimension: None,
        datatype: Some(Arc::new(Datatype::int(32, true))),
        attributes: hyperslab_model::Attributes::new(),
        storage: storage.into(),
        value: None,
    })
}

fn texts(words: &[&str]) -> Directive {
    Directive::List(words.iter().map(|word| Directive::Text((*word).to_owned())).collect())
}

/// A short form of the attributes of each object, after all objects were declared.
fn shown(objects: &[(&str, Node)], of: &str) -> Vec<String> {
    let mut scales = Scales::default();
    objects.iter().for_each(|(own, node)| scales.declare(&path(own), node));
    scales.connect();
    let (own, node) = objects.iter().find(|(own, _)| *own == of).unwrap();
    let attributes = scales.attributes(&path(own), node, &Sizes::DEFAULT).unwrap();
    attributes.iter().map(|(name, attribute)| format!("{name} {}", value(attribute))).collect()
}

fn value(attribute: &Attribute) -> String {
    let items: Vec<_> =
        Elements::new(&attribute.datatype, &attribute.value).map(|one| element(one.get())).collect();
    match attribute.shape.as_deref() {
        Some([]) => items.concat(),
        Some([count]) => {
            assert_eq!(*count, items.len() as u64);
            format!("[{}]", items.join(", "))
        }
        other => panic!("{other:?}"),
    }
}

fn element(of: Element<'_>) -> String {
    match of {
        Element::Text(text) => format!("{:?}", String::from_utf8_lossy(text)),
        Element::Int(value) => value.to_string(),
        Element::Reference(Reference::Object(path)) => path.to_string(),
        Element::Vlen(items) => {
            format!("[{}]", items.map(|item| element(item.get())).collect::<Vec<_>>().join(", "))
        }
        Element::Compound(fields) => {
            format!("({})", fields.map(|(_, field)| element(field.get())).collect::<Vec<_>>().join(", "))
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn scales_and_arrays_refer_to_each_other() {
    let objects = [
        ("/v", array(&[Some("/x"), Some("/y"), None], Vec::new())),
        ("/x", dimension(Extent::Fixed(3), true)),
        ("/y", dimension(Extent::Unlimited { current: 3 }, false)),
        ("/g/w", array(&[Some("/x"), Some("/x"), Some("/gone")], Vec::new())),
        ("/plain", array(&[None, Some("/gone")], Vec::new())),
        ("/unused", dimension(Extent::Fixed(3), true)),
    ];
    let class = "CLASS \"DIMENSION_SCALE\"";
    assert_eq!(shown(&objects, "/v"), ["DIMENSION_LIST [[/x], [/y], []]"]);
    // No list is better than a list with a gap that the source does not have.
    assert_eq!(shown(&objects, "/g/w"), [""; 0]);
    assert_eq!(shown(&objects, "/x"), [class, "NAME \"x\"", "REFERENCE_LIST [(/v, 0)]"]);
    let pure = "NAME \"This is a netCDF dimension but not a netCDF variable.         3\"";
    assert_eq!(shown(&objects, "/y"), [class, pure, "REFERENCE_LIST [(/v, 1)]"]);
    assert!(shown(&objects, "/plain").is_empty());
    assert_eq!(shown(&objects, "/unused"), [class, "NAME \"unused\""]);
}

#[test]
fn directives_name_scales_that_are_no_dimensions() {
    let scale = |name: &str| ("scale", Directive::Text(name.to_owned()));
    let named = Directive::List(vec![texts(&["/time", "/epoch"]), texts(&[]), texts(&["/grid", "/gone"])]);
    let objects = [
        ("/time", dimension(Extent::Fixed(3), true)),
        ("/epoch", array(&[None], vec![scale("seconds")])),
        ("/grid", array(&[None, None], vec![scale("")])),
        (
            "/v",
            array(&[Some("/time"), None, None], vec![("scales", named), ("labels", texts(&["t", "", "z"]))]),
        ),
    ];
    assert_eq!(
        shown(&objects, "/v"),
        ["DIMENSION_LIST [[/time, /epoch], [], [/grid]]", "DIMENSION_LABELS [\"t\", \"\", \"z\"]"]
    );
    let class = "CLASS \"DIMENSION_SCALE\"";
    assert_eq!(shown(&objects, "/epoch"), [class, "NAME \"seconds\"", "REFERENCE_LIST [(/v, 0)]"]);
    assert_eq!(shown(&objects, "/grid"), [class, "NAME \"\"", "REFERENCE_LIST [(/v, 2)]"]);
}

/// The datatypes are those used by the High-Level Library as h5py calls it.
#[test]
fn attributes_have_the_datatypes_of_the_library() {
    let users = [(path("/v"), 1)];
    let labels = [Directive::Text("lab".into())];
    let old = "1602000010000000646174617365740000000000000000000000000000000000000000000000000000000000000000\
               00170000000800000064696d656e73696f6e000000000000000800000000000000000000000000000000000000000000\
               0000000000000000001000000004000000000020 00"
        .replace(' ', "");
    let new =
        "3602000010000000646174617365740000170000000800000064696d656e73696f6e00081000000004000000000020 00"
            .replace(' ', "");
    let list = "19000000100000001700000008000000";
    for (attribute, low, expected) in [
        (text(b"DIMENSION_SCALE"), LibraryVersion::Earliest, "1300000010000000"),
        (text(b"yy"), LibraryVersion::V2_0, "1300000003000000"),
        (dimension_list(&[vec![path("/x")]]).unwrap(), LibraryVersion::V1_8, list),
        (reference_list(&users, &Sizes::DEFAULT).unwrap(), LibraryVersion::Earliest, old.as_str()),
        (reference_list(&users, &Sizes::DEFAULT).unwrap(), LibraryVersion::V1_8, new.as_str()),
        (
            dimension_labels(&labels).unwrap(),
            LibraryVersion::V1_8,
            "1901000010000000100000000100000000000800",
        ),
    ] {
        let (sizes, high, committed) = (Sizes::DEFAULT, LibraryVersion::V2_0, &|_: &NodePath| None);
        let types = Types { sizes, low, high, has_complex: false, committed };
        let own = types.written(&attribute.datatype, &attribute.storage).unwrap();
        let mut e = Encoder::new();
        own.datatype.encode(&mut e, &sizes).unwrap();
        assert_eq!(e.as_slice(), bytes_of(expected), "{low}");
    }
    let narrow = Sizes { offsets: 4, lengths: 4 };
    let storage = reference_list(&users, &narrow).unwrap().storage;
    assert_eq!((storage.offsets, storage.itemsize), (Some(vec![0, 4]), Some(12)));
}

#[test]
fn dimensions_without_coordinates_are_datasets_without_elements() {
    let of = |size| pure_dimension(&DimCoord::without_coordinates(size));
    let fixed = of(Extent::Fixed(4));
    assert_eq!(fixed.shape, Shape::fixed(&[4]));
    assert_eq!((fixed.storage.chunk.clone(), fixed.storage.layout.clone()), (None, Some(Layout::Contiguous)));
    let unlimited = of(Extent::Unlimited { current: 4 });
    assert_eq!(
        (unlimited.storage.chunk.clone(), unlimited.storage.layout.clone()),
        (Some(vec![1]), Some(Layout::Chunked))
    );
    assert_eq!(unlimited.storage.element.endian, Some(ByteOrder::Big));
    assert_eq!(of(Extent::Uncounted).shape, Shape::fixed(&[0]));
}
