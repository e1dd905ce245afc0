use super::*;
use hyperslab_model::{
    Attributes, Dimension, Directive, Filter, Float, Member, Ndarray, Shape, Storage, Text,
};
use proptest::prelude::*;

const FLOAT: Datatype = Datatype::Float(Float::Single);

fn path(text: &str) -> NodePath {
    NodePath::new(text).unwrap()
}

/// An array with named dimensions; contiguous if `chunk` is `None`.
fn array(dims: &[(&str, Extent)], datatype: Datatype, chunk: Option<&[u64]>) -> Node {
    let dims = dims.iter().map(|(name, extent)| Dimension {
        extent: *extent,
        coordinate: (!name.is_empty()).then(|| NodePath::root().child(name)),
    });
    let layout = Some(match chunk {
        Some(_) => hyperslab_model::Layout::Chunked,
        None => hyperslab_model::Layout::Contiguous,
    });
    Node::Ndarray(Ndarray {
        shape: Shape::Dims(dims.collect()),
        dimension: None,
        datatype: Some(Arc::new(datatype)),
        attributes: Attributes::new(),
        storage: Storage { chunk: chunk.map(<[u64]>::to_vec), layout, ..Storage::default() }.into(),
        value: None,
    })
}

fn sst(chunk: Option<&[u64]>) -> Node {
    let dims = [("time", 240), ("lat", 1024), ("lon", 1024)].map(|(name, n)| (name, Extent::Fixed(n)));
    array(&dims, FLOAT, chunk)
}

fn storage(node: &Node) -> &Storage {
    match node {
        Node::Ndarray(array) => &array.storage,
        Node::DimCoord(dimcoord) => &dimcoord.storage,
        _ => panic!("no array"),
    }
}

fn add(layout: &mut Layout, options: &[&str]) {
    for option in options {
        let (flag, text) = option.split_once(' ').unwrap();
        let rule = Rule::parse(text, |value| match flag {
            "-c" => value.parse().map(Rule::chunk),
            "--shard" => value.parse().map(Rule::shard),
            "-f" => value.parse().map(Rule::filter),
            "--endian" => Rule::parse_byte_order(value),
            _ => Ok(Rule::fill(Some(value.to_owned()).filter(|value| value != "keep"))),
        });
        *layout = std::mem::take(layout).with(rule.unwrap().labelled(*option));
    }
}

/// The messages for rules without effect.
fn unused(layout: &Layout) -> Vec<String> {
    layout.unused().iter().map(ToString::to_string).collect()
}

/// The chunk and shard shapes that these options give to `node` at `/sst`, or the error.
fn cut(mut node: Node, options: &[&str], always: bool) -> String {
    let mut layout = Layout::default().always_chunked(always);
    add(&mut layout, options);
    match layout.apply(&path("/sst"), &mut node) {
        Err(e) => e.to_string(),
        Ok(()) => match storage(&node) {
            Storage { chunk: None, .. } => "none".into(),
            Storage { chunk: Some(chunk), shard: None, .. } => format!("{chunk:?}"),
            Storage { chunk: Some(chunk), shard: Some(shard), .. } => format!("{chunk:?} in {shard:?}"),
        },
    }
}

#[test]
fn applies_chunk_and_shard_options() {
    let chunk: &[u64] = &[8, 256, 256];
    for (source, options, expected) in [
        (Some(chunk), &[][..], "[8, 256, 256]"),
        (Some(chunk), &["-c keep"], "[8, 256, 256]"),
        (Some(chunk), &["-c 4,100,2000"], "[4, 100, 1024]"),
        (Some(chunk), &["-c time=1"], "[1, 256, 256]"),
        (Some(chunk), &["-c time=1,/lon=512"], "[1, 256, 512]"),
        (Some(chunk), &["-c time=1", "-c lat=64"], "[8, 64, 256]"),
        (Some(chunk), &["-c 4MiB"], "[16, 256, 256]"),
        (Some(chunk), &["-c whole"], "[240, 1024, 1024]"),
        (Some(chunk), &["-c none"], "none"),
        // The last rule that applies wins.
        (Some(chunk), &["-c whole", "-c 1,2,3", "-c 5", "-c depth=4"], "[1, 2, 3]"),
        (Some(chunk), &["-c /sst:whole", "-c 1,2,3"], "[1, 2, 3]"),
        (Some(chunk), &["-c 1,2,3", "-c /s*:whole", "-c /**/t*:2,2,2"], "[240, 1024, 1024]"),
        (Some(chunk), &["-c whole", "-c /sst:keep"], "[8, 256, 256]"),
        (None, &[], "none"),
        (None, &["-c time=1"], "[1, 1024, 1024]"),
        (None, &["-c lat=1"], "[240, 1, 1024]"),
        (None, &["-c 4MiB"], "[120, 64, 128]"),
        (None, &["-f zstd=3"], "[120, 64, 128]"),
        (Some(chunk), &["--shard 16,512,512"], "[8, 256, 256] in [16, 512, 512]"),
        (Some(chunk), &["--shard 240,2000,1024"], "[8, 256, 256] in [240, 1024, 1024]"),
        (Some(chunk), &["--shard time=80"], "[8, 256, 256] in [80, 256, 256]"),
        (Some(chunk), &["--shard 64MiB"], "[8, 256, 256] in [64, 512, 512]"),
        (Some(chunk), &["--shard 1MiB"], "[8, 256, 256] in [8, 256, 256]"),
        (Some(chunk), &["-c 7,100,100", "--shard whole"], "[7, 100, 100] in [245, 1100, 1100]"),
        (Some(chunk), &["--shard whole", "--shard none"], "[8, 256, 256]"),
        (Some(chunk), &["--shard 16,512,512", "--shard keep"], "[8, 256, 256]"),
        (None, &["--shard whole"], "[120, 64, 128] in [240, 1024, 1024]"),
    ] {
        assert_eq!(cut(sst(source), options, false), expected, "{source:?} {options:?}");
    }
}

#[test]
fn a_chunked_target_chunks_every_array() {
    assert_eq!(cut(sst(None), &[], true), "[120, 64, 128]");
    assert_eq!(cut(sst(None), &["-c none"], true), "[240, 1024, 1024]");
    assert_eq!(cut(sst(Some(&[1, 2, 3])), &["-c none"], true), "[240, 1024, 1024]");
    let small = array(&[("", Extent::Fixed(7))], FLOAT, None);
    assert_eq!(cut(small, &[], true), "[7]");
    let empty = array(&[("", Extent::Fixed(0)), ("", Extent::Fixed(4))], FLOAT, None);
    assert_eq!(cut(empty, &[], true), "[1, 4]");
    assert_eq!(cut(array(&[], FLOAT, None), &["-c 4MiB", "-f zstd=3", "--shard whole"], true), "none");
}

#[test]
fn rejects_options_that_do_not_fit_the_array() {
    let chunk: &[u64] = &[8, 256, 256];
    for (options, expected) in [
        (&["-c /sst:8,256"][..], "/sst: -c /sst:8,256: 2 sides, the array has 3 dimensions"),
        (
            &["--shard 20,512,512"],
            "/sst: a shard of [20, 512, 512] does not consist of whole chunks of [8, 256, 256]\nhelp: one of 24,512,512 does",
        ),
        (&["-c none", "-f zstd=3"], "/sst: filters without chunks\nhelp: keep the array chunked"),
        (&["-c none", "--shard whole"], "/sst: shards without chunks\nhelp: keep the array chunked"),
        (
            &["--fill abc"],
            "/sst: fill value \"abc\", expected a number (float32)\nhelp: give arrays of other types a separate fill value, or leave their fill value unchanged",
        ),
    ] {
        assert_eq!(cut(sst(Some(chunk)), options, false), expected, "{options:?}");
    }
    let error = Rule::parse("/sst:8,x", |value| value.parse().map(Rule::chunk)).unwrap_err().to_string();
    assert!(error.starts_with("\"x\" is not a number of elements"), "{error}");
    let error = Rule::parse_byte_order("middle").unwrap_err().to_string();
    assert!(error.contains("expected little, big or keep"));
}

#[test]
fn dimensions_that_can_grow_keep_chunks_longer_than_their_length() {
    let dims = [("time", Extent::Unlimited { current: 3 }), ("x", Extent::Limited { current: 5, max: 20 })];
    let node = |chunk| array(&dims, FLOAT, chunk);
    assert_eq!(cut(node(Some(&[512, 10])), &["-c 4MiB"], false), "[512, 10]");
    assert_eq!(cut(node(Some(&[512, 10])), &["-c 1024,50"], false), "[1024, 20]");
    assert_eq!(cut(node(Some(&[512, 10])), &["-c whole"], false), "[3, 5]");
    assert_eq!(cut(node(Some(&[512, 10])), &["-c time=1"], false), "[1, 10]");
    assert_eq!(cut(node(Some(&[512, 10])), &["--shard time=1024"], false), "[512, 10] in [1024, 10]");
}

#[test]
fn sizes_by_name_apply_to_coordinates_only_with_a_pattern() {
    let time = || {
        Node::DimCoord(DimCoord {
            size: Extent::Fixed(1000),
            datatype: Some(Arc::new(FLOAT)),
            attributes: Attributes::new(),
            storage: Storage { chunk: Some(vec![100]), ..Storage::default() }.into(),
            value: None,
        })
    };
    for (option, expected) in
        [("time=1", 100), ("/time:time=1", 1), ("10", 10), ("whole", 1000), ("100B", 25)]
    {
        let (mut layout, mut node) = (Layout::default(), time());
        add(&mut layout, &[&format!("-c {option}")]);
        layout.apply(&path("/time"), &mut node).unwrap();
        assert_eq!(storage(&node).chunk, Some(vec![expected]), "{option}");
    }
    let mut layout = Layout::default();
    add(&mut layout, &["-c time=1"]);
    layout.apply(&path("/time"), &mut time()).unwrap();
    assert_eq!(unused(&layout), ["-c time=1: no array has a dimension time"]);
}

#[test]
fn filters_replace_those_of_the_source() {
    let names = |options: &[&str], datatype: Datatype| {
        let mut node = array(&[("", Extent::Fixed(9))], datatype, Some(&[3]));
        if let Node::Ndarray(array) = &mut node {
            array.storage.filters.push(Filter { name: "lzf".into(), parameters: vec![], main: false });
            array.storage.native.push((
                "zarr",
                vec![("codecs".into(), Directive::Null), ("chunk_key_encoding".into(), Directive::Null)],
            ));
        }
        let mut layout = Layout::default();
        add(&mut layout, options);
        layout.apply(&path("/a/sst"), &mut node).unwrap();
        let Storage { filters, native, chunk, .. } = storage(&node);
        let filters: Vec<_> = filters
            .iter()
            .map(|filter| {
                let names = filter.parameters.iter().map(|(name, value)| format!("{name}={value:?}"));
                format!("{}({})", filter.name, names.collect::<Vec<_>>().join(","))
            })
            .collect();
        (filters.join(" "), native.first().map_or(0, |(_, list)| list.len()), chunk.clone())
    };
    let three = Some(vec![3]);
    assert_eq!(names(&[], FLOAT), ("lzf()".into(), 2, three.clone()));
    assert_eq!(names(&["-f none", "-f keep"], FLOAT), ("lzf()".into(), 2, three.clone()));
    assert_eq!(names(&["-f none"], FLOAT), (String::new(), 1, three.clone()));
    assert_eq!(names(&["-c none"], FLOAT), (String::new(), 1, None));
    assert_eq!(
        names(&["-f shuffle,zlib=4", "-f /b:none"], FLOAT),
        ("shuffle() deflate(level=Int(4))".into(), 1, three.clone())
    );
    // As in an NDL document, the number is a count of bits for integers.
    let scaled = |datatype| names(&["-f scaleoffset=2"], datatype).0;
    assert_eq!(scaled(FLOAT), "scaleoffset(digits=Int(2))");
    assert_eq!(scaled(Datatype::int(16, true)), "scaleoffset(bits=Int(2))");
}

#[test]
fn byte_order_applies_to_the_numbers_of_a_compound_only() {
    let member = |name: &str, datatype| Member { name: name.into(), datatype };
    let pair = Datatype::Compound(vec![
        member("n", Datatype::int(32, true)),
        member("b", Datatype::int(8, true)),
        member("t", Datatype::String(Text::Variable)),
        member("a", Datatype::Array { base: Box::new(FLOAT), shape: vec![2] }),
    ]);
    let mut node = array(&[], pair, None);
    let mut layout = Layout::default();
    add(&mut layout, &["--endian big"]);
    layout.apply(&path("/x"), &mut node).unwrap();
    let element = &storage(&node).element;
    let ordered: Vec<_> = element.members.iter().map(|(name, of)| (name.as_str(), of.endian)).collect();
    assert_eq!(ordered, [("n", Some(ByteOrder::Big)), ("a", Some(ByteOrder::Big))]);
    assert_eq!(element.endian, None);
    for (datatype, expected) in
        [(FLOAT, Some(ByteOrder::Big)), (Datatype::int(8, false), None), (Datatype::ObjRef, None)]
    {
        let mut node = array(&[], datatype, None);
        layout.apply(&path("/x"), &mut node).unwrap();
        assert_eq!(storage(&node).element.endian, expected);
    }
    add(&mut layout, &["--endian /x:keep"]);
    let mut node = array(&[], FLOAT, None);
    layout.apply(&path("/x"), &mut node).unwrap();
    assert_eq!(storage(&node).element.endian, None);
}

#[test]
fn parses_fill_values_with_the_datatype_of_each_array() {
    let fill = |options: &[&str], datatype: Datatype| {
        let mut node = array(&[], datatype, None);
        let mut layout = Layout::default();
        add(&mut layout, options);
        layout.apply(&path("/x"), &mut node).unwrap();
        storage(&node).fill.clone()
    };
    let row = |fill: Fill| match fill {
        Fill::Value(value) => value.rows.to_vec(),
        other => panic!("{other:?}"),
    };
    assert_eq!(row(fill(&["--fill -999"], FLOAT)), (-999_f32).to_ne_bytes());
    assert_eq!(row(fill(&["--fill -999"], Datatype::int(16, true))), (-999_i16).to_ne_bytes());
    assert_eq!(row(fill(&["--fill 1", "--fill /y:2"], FLOAT)), 1_f32.to_ne_bytes());
    assert!(matches!(fill(&["--fill null"], FLOAT), Fill::Undefined));
    assert!(matches!(fill(&["--fill 1", "--fill /x:keep"], FLOAT), Fill::Default));
}

#[test]
fn unwritten_elements_are_written_if_the_fill_value_changes() {
    let source = crate::open("../../examples/ocean.nc".as_ref(), &crate::OpenOptions::default()).unwrap();
    let path = path("/salinity");
    let array = || source.array(&source.find(&path).unwrap().handle).unwrap();
    let is_known = |options: &[&str]| {
        let mut layout = Layout::default();
        add(&mut layout, options);
        layout.elements(&path, array()).chunks().unwrap().is_some()
    };
    assert!(is_known(&[]) && is_known(&["--fill 1", "--fill /sal*:keep"]) && is_known(&["--fill /b:1"]));
    assert!(!is_known(&["--fill 1"]) && !is_known(&["--fill /**:keep", "--fill /sal*:1"]));
}

#[test]
fn reports_rules_without_effect_with_suggestions() {
    let mut layout = Layout::default();
    add(
        &mut layout,
        &[
            "-c /sst:4MiB",
            "-c /ssd:4MiB",
            "-f /waves:none",
            "-c 1,2,3,4",
            "-c 1,2,3",
            "-c tiem=1,lat=5",
            "--fill /[abc]*:1",
            "-c /sst:depth=1",
            "-c lat=9",
        ],
    );
    layout.apply(&path("/waves"), &mut Node::Group(hyperslab_model::Group::default())).unwrap();
    layout.apply(&path("/sst"), &mut sst(None)).unwrap();
    assert_eq!(
        unused(&layout),
        [
            "-c /ssd:4MiB: no array matches /ssd",
            "-f /waves:none: no array matches /waves\nhelp: the pattern for the members of a group is /waves/**",
            "-c 1,2,3,4: no array has 4 dimensions",
            "-c tiem=1,lat=5: no array has a dimension tiem\nhelp: did you mean time?",
            "--fill /[abc]*:1: no array matches /[abc]*",
            "-c /sst:depth=1: no array has a dimension depth",
        ]
    );
    assert!(layout.clone().unused().len() == 6);
}

proptest! {
    #[test]
    fn shards_consist_of_whole_chunks_within_the_array(
        dims in prop::collection::vec((0..3000_u64, 1..3000_u64), 1..4),
        chunked in any::<bool>(),
        chunk in prop::option::of(1..(8_u64 << 20)),
        shard in prop::option::of(1..(64_u64 << 20)),
    ) {
        let extents: Vec<_> = dims.iter().map(|(extent, _)| ("", Extent::Fixed(*extent))).collect();
        let source: Vec<u64> = dims.iter().map(|(extent, side)| *side.min(&(*extent).max(1))).collect();
        let mut node = array(&extents, FLOAT, chunked.then_some(source.as_slice()));
        let mut layout = Layout::default().always_chunked(true);
        if let Some(bytes) = chunk {
            layout = layout.with(Rule::chunk(Cut::Bytes(bytes)));
        }
        if let Some(bytes) = shard {
            layout = layout.with(Rule::shard(Cut::Bytes(bytes)));
        }
        layout.apply(&path("/sst"), &mut node).unwrap();
        let Storage { chunk: cut, shard: shards, .. } = storage(&node);
        let cut = cut.clone().unwrap();
        for (side, (extent, _)) in cut.iter().zip(&dims) {
            prop_assert!((1..=(*extent).max(1)).contains(side));
        }
        if let Some(bytes) = chunk {
            prop_assert!(cut.iter().product::<u64>() * 4 <= bytes.max(4));
        }
        prop_assert_eq!(shards.is_some(), shard.is_some());
        for ((side, chunk), (extent, _)) in shards.iter().flatten().zip(&cut).zip(&dims) {
            prop_assert!(side % chunk == 0 && *side < (*extent).max(1) + chunk);
        }
        if let (Some(shards), Some(bytes)) = (shards, shard) {
            prop_assert!(shards == &cut || shards.iter().product::<u64>() * 4 <= bytes);
        }
    }
}
