//! The range of values is the same whether they are processed in lanes or one by one. Values of a nullable type are
//! processed one by one.

use crate::cdl::Cdl;
use hyperslab_cf::rules::{Checked, ValueReader, check};
use hyperslab_cf::tables::{StandardNames, Version};
use hyperslab_core::Result;
use hyperslab_core::nd::Region;
use hyperslab_core::rows::Heap;
use hyperslab_model::{Datatype, Elements, Node, NodePath, TimeUnit, Values};
use std::sync::Arc;

/// Supplies the values of the only variable in pieces.
struct Pieces {
    datatype: Arc<Datatype>,
    rows: Vec<u8>,
    count: usize,
}

impl ValueReader for Pieces {
    fn stream(&self, _: &NodePath, take: &mut dyn FnMut(&Datatype, &Values) -> Result<()>) -> Result<()> {
        let size = self.datatype.row_size().unwrap();
        for rows in self.rows.chunks(self.count * size) {
            take(&self.datatype, &Values { rows: rows.to_vec().into(), heap: Heap::default() })?;
        }
        Ok(())
    }

    fn region(&self, _: &NodePath, _: &Region, _: &mut dyn FnMut(Elements<'_>) -> Result<()>) -> Result<()> {
        Ok(())
    }
}

/// The findings of the rule in the variable `/t` of `text`, whose values are supplied in pieces of `count` values.
///
/// `of` replaces the type of the variable with another of the same size. With `is_each`, the values are processed one
/// by one.
fn found(text: &str, of: Option<&Datatype>, count: usize, is_each: bool) -> Vec<String> {
    let mut cdl = Cdl::new(text);
    let Some(Node::Ndarray(array)) = cdl.nodes.get_mut(&NodePath::root().child("t")) else { panic!() };
    let mut datatype = of.cloned().map_or_else(|| array.datatype.clone().unwrap(), Arc::new);
    let mut rows = array.value.take().unwrap().rows.to_vec();
    if is_each {
        let size = datatype.row_size().unwrap();
        rows = rows.chunks(size).flat_map(|row| std::iter::once(1).chain(row.iter().copied())).collect();
        datatype = Arc::new(Datatype::Nullable(Box::new((*datatype).clone())));
    }
    array.datatype = Some(Arc::clone(&datatype));
    let dataset = cdl.dataset();
    let checked = Checked {
        dataset: &dataset,
        names: StandardNames::embedded(),
        values: Some(&Pieces { datatype, rows, count }),
        wants: &|rule| rule.rule.name == "cf/actual-range",
    };
    let found = check(&checked, &[Some(Version { major: 1, minor: 8 })]).unwrap();
    // Findings about the type of the attribute do not matter here.
    let of_values = |message: &String| message.contains("values");
    found.into_iter().map(|finding| finding.message).filter(of_values).collect()
}

/// Pseudo-random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % count
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }
}

/// A few or many attributes of any kind.
fn attributes(random: &mut Random, marks: &[&str]) -> String {
    let limits = [
        "-100.0",
        "-1.0",
        "0.0",
        "2.5",
        "3.0",
        "99.9",
        "254.0",
        "30000.0",
        "40000.0",
        "-2147483647.0",
        "2147483646.5",
        "16777217.0",
        "4294967295.0",
        "9223372036854775807.0",
        "9007199254740993.0",
        "-9007199254740993.0",
        "1e300",
        "-1e300",
        "NaN",
        "5",
        "-3",
        "100",
        "9007199254740993L",
        "9223372036854775807L",
        "-9223372036854775807L",
    ];
    let mut text = String::new();
    let mut add = |name: &str, value: &str| text.extend(["\n:", name, " = ", value]);
    match random.below(5) {
        0 => add("_FillValue", random.of(marks)),
        1 => add("missing_value", &format!("{}, 7", random.of(marks))),
        2 => {
            add("_FillValue", random.of(marks));
            add("missing_value", random.of(marks));
        }
        _ => {}
    }
    match random.below(6) {
        0 => add("valid_min", random.of(&limits)),
        1 => add("valid_max", random.of(&limits)),
        2 => {
            add("valid_min", random.of(&limits));
            add("valid_max", random.of(&limits));
        }
        3 => add("valid_range", random.of(&["-50.0, 60.5", "-50, 60", "3, 200", "9, 2"])),
        _ => {}
    }
    match random.below(4) {
        0 => add("scale_factor", random.of(&["0.5", "-2.0", "0.1", "3"])),
        1 => {
            add("scale_factor", random.of(&["0.01", "-0.25"]));
            add("add_offset", random.of(&["273.15", "-1e9", "1"]));
        }
        2 => add("add_offset", "10.0"),
        _ => {}
    }
    if random.below(3) == 0 {
        add("_Unsigned", random.of(&["\"true\"", "\"True\"", "\"false\""]));
    }
    text
}

/// Compares both ways. Returns how many of the variables have only missing values, and how many do not.
fn compare(
    (kind, of): (&str, Option<&Datatype>),
    marks: &[&str],
    values: &mut dyn FnMut(&mut Random) -> String,
) -> (usize, usize) {
    let mut random = Random(kind.bytes().map(u64::from).sum());
    let mut counts = (0, 0);
    for _ in 0..400 {
        let length = [0, 1, 2, 15, 16, 17, 64, 150][random.below(8)];
        let own = attributes(&mut random, marks);
        // There are only a few different values, so sometimes all of them are missing.
        let few: Vec<String> = (0..=random.below(6)).map(|_| values(&mut random)).collect();
        let words: Vec<&str> = (0..length).map(|_| &*few[random.below(few.len())]).collect();
        let text =
            format!("dim x {length}\n{kind} t(x)\n:actual_range = 0.123, 0.0456{own}\n= {}", words.join(" "));
        let count = 1 + random.below(100);
        let lanes = found(&text, of, count, false);
        assert_eq!(lanes, found(&text, of, count, true), "in pieces of {count}: {text}");
        // Infinity is close to all numbers, so it gives no finding.
        let of = |what: &str| lanes.iter().filter(|message| message.contains(what)).count();
        counts = (counts.0 + of("all missing"), counts.1 + of("as the values are"));
    }
    counts
}

#[test]
fn integers_have_the_same_range_in_lanes_as_one_by_one() {
    let marks = [
        "-1",
        "0",
        "5",
        "3",
        "127b",
        "-128b",
        "-127b",
        "255",
        "-32768",
        "-32767",
        "32767",
        "65535",
        "-2147483648",
        "2147483647",
        "-2147483647",
        "-9223372036854775808L",
        "9223372036854775807L",
        "9007199254740993L",
        "-9223372036854775806L",
        "3.0",
        "16777216.0",
        "16777217.0",
        "9223372036854775808.0",
        "1e300",
        "NaN",
        "2.5",
        "-32767.0",
    ];
    let base = Box::new(Datatype::int(8, true));
    let choice = Datatype::Enum { base, members: vec![("some".to_owned(), 3)] };
    let time = Datatype::Datetime(TimeUnit { unit: "s".to_owned(), duration: false });
    for (kind, bits, is_signed, of) in [
        ("byte", 8, true, None),
        ("ubyte", 8, false, None),
        ("short", 16, true, None),
        ("ushort", 16, false, None),
        ("int", 32, true, None),
        ("uint", 32, false, None),
        ("int64", 64, true, None),
        ("uint64", 64, false, None),
        ("byte", 8, true, Some(choice)),
        ("int64", 64, true, Some(time)),
    ] {
        let top = 1_i128 << (bits - i32::from(is_signed));
        let bottom = if is_signed { -top } else { 0 };
        let mut value = |random: &mut Random| {
            let near = i128::try_from(random.below(9)).unwrap() - 4;
            let centre = match random.below(8) {
                0 => bottom,
                1 => top - 1,
                2 => 1 << 24,
                3 => 1 << 53,
                4 => i128::try_from(random.below(1 << 30)).unwrap() << random.below(34),
                _ => 0,
            };
            let value = centre + near;
            if (bottom..top).contains(&value) { value.to_string() } else { "5".to_owned() }
        };
        let (missing, there) = compare((kind, of.as_ref()), &marks, &mut value);
        assert!(missing > 20 && there > 20, "{kind}: {missing} {there}");
    }
}

#[test]
fn floats_have_the_same_range_in_lanes_as_one_by_one() {
    let marks = ["5.f", "-8.f", "NaN", "0.0", "-0.0", "1e30", "-0.5", "5"];
    let all = [
        "5",
        "-8",
        "NaN",
        "0.0",
        "-0.0",
        "1e30",
        "-0.5",
        "inf",
        "-inf",
        "2.5",
        "100",
        "9.969209968386869e36",
    ];
    for kind in ["float", "double"] {
        let mut value = |random: &mut Random| random.of(&all).to_owned();
        let (missing, there) = compare((kind, None), &marks, &mut value);
        assert!(missing > 20 && there > 20, "{kind}: {missing} {there}");
    }
}

#[test]
fn many_marks_are_left_out() {
    let marks: Vec<String> = (0..90).map(|mark| (mark * 2).to_string()).collect();
    let text = |range: &str| {
        format!(
            "dim x 6\nshort t(x)\n:missing_value = {}\n:actual_range = {range}\n= 0 2 31 90 178 57",
            marks.join(", ")
        )
    };
    let expected = "actual_range is 1, 2, expected 31, 57 as the values are";
    assert_eq!(found(&text("1, 2"), None, 4, false), [expected]);
    assert_eq!(found(&text("1, 2"), None, 4, true), [expected]);
    assert!(found(&text("31, 57"), None, 4, false).is_empty());
}
