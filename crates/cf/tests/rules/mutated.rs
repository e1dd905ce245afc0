//! Attributes with arbitrary content cause no panic and no disproportionate work.

use crate::cdl::Cdl;
use hyperslab_cf::dataset::Dataset;
use hyperslab_cf::rules::{Checked, VERSIONS, auto, check};
use hyperslab_cf::tables::StandardNames;
use hyperslab_core::rows::{Heap, Slot};
use hyperslab_model::{Attribute, Datatype, ElementStorage, Float, Nodes, Text, Values};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A file with most of the features for which CF has attributes.
const BASE: &str = ":Conventions = \"CF-1.8\"
    :featureType = \"timeSeries\"
    :external_variables = \"areacella\"
    dim time 2
    dim z 2
    dim y 2
    dim x 2
    dim v 2
    dim land 2
    dim n 4
    double time(time)
    :units = \"days since 2000-01-01\"
    :calendar = \"standard\"
    :standard_name = \"time\"
    :climatology = \"tb\"
    = 1 2
    double tb(time, v)
    = 0 1 1 2
    double z(z)
    :standard_name = \"atmosphere_sigma_coordinate\"
    :units = \"1\"
    :positive = \"down\"
    :formula_terms = \"sigma: z ps: ps ptop: ptop\"
    = 0 1
    double y(y)
    :units = \"m\"
    :axis = \"Y\"
    :standard_name = \"projection_y_coordinate\"
    :bounds = \"yb\"
    = 0 1
    double yb(y, v)
    = 0 0 1 1
    float lat(y, x)
    :units = \"degrees_north\"
    = 1 2 3 4
    int crs
    :grid_mapping_name = \"lambert_conformal_conic\"
    :standard_parallel = 1.0, 2.0
    :longitude_of_central_meridian = 1.0
    :latitude_of_projection_origin = 1.0
    int land(land)
    :compress = \"y x\"
    = 0 3
    double nodes(n)
    :axis = \"X\"
    = 1 2 3 4
    int counts(x)
    = 2 2
    int box
    :geometry_type = \"line\"
    :node_coordinates = \"nodes\"
    :node_count = \"counts\"
    float ps(time, y, x)
    :units = \"Pa\"
    float ptop
    :units = \"Pa\"
    string name(x)
    :cf_role = \"timeseries_id\"
    :standard_name = \"region\"
    = \"africa\" \"asia\"
    short t(time, z, y, x)
    :standard_name = \"air_temperature standard_error\"
    :units = \"K\"
    :units_metadata = \"temperature: difference\"
    :cell_methods = \"time: mean (interval: 1 hour comment: of all) area: variance where land over sea\"
    :cell_measures = \"area: areacella\"
    :coordinates = \"lat name\"
    :grid_mapping = \"crs: y lat\"
    :ancillary_variables = \"q\"
    :geometry = \"box\"
    :scale_factor = 0.5
    :add_offset = 1.0
    :_FillValue = -9s
    :valid_range = 0s, 9s
    :actual_range = 1.0, 5.0
    byte q(time, z, y, x)
    :flag_values = 1b, 2b
    :flag_masks = 1b, 3b
    :flag_meanings = \"good bad\"
    :flag_extra = 1
    group /g
    float w(y, x)
    :coordinates = \"../lat /g/w lat x\"";

/// Pseudo-random numbers that are the same in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, count: usize) -> usize {
        usize::try_from(self.next() % count.max(1) as u64).unwrap()
    }
}

fn text(text: &str) -> Attribute {
    let datatype = Datatype::String(Text::Variable);
    let mut heap = Heap::default();
    let buffer = heap.push(bytes::Bytes::copy_from_slice(text.as_bytes())).unwrap();
    let slot = Slot { buffer, count: u32::try_from(text.len()).unwrap(), offset: 0 };
    of(datatype, vec![], Values { rows: slot.to_bytes().to_vec().into(), heap })
}

fn of(datatype: Datatype, shape: Vec<u64>, value: Values) -> Attribute {
    let storage = ElementStorage::default();
    Attribute { shape: Some(shape), datatype: Arc::new(datatype), value, storage, native: Vec::new() }
}

/// An attribute with arbitrary content, made of words that have a meaning in some attributes.
fn any(random: &mut Random, words: &[String]) -> Attribute {
    match random.below(8) {
        0 => {
            let count = random.below(4);
            let rows: Vec<u8> = (0..count).flat_map(|_| random.next().to_ne_bytes()).collect();
            of(
                Datatype::Float(Float::Double),
                vec![count as u64],
                Values { rows: rows.into(), ..Values::default() },
            )
        }
        1 => {
            let rows: Vec<u8> = random.next().to_ne_bytes().to_vec();
            of(Datatype::int(32, true), vec![2], Values { rows: rows.into(), ..Values::default() })
        }
        2 => text(&"a: ".repeat(random.below(2000))),
        _ => {
            let count = random.below(9);
            let joined: Vec<String> = (0..count)
                .map(|_| {
                    let mut word = words[random.below(words.len())].clone();
                    if random.below(3) == 0 {
                        word.insert(
                            random.below(2).min(word.len()),
                            ": ()é/.-9"[..].chars().nth(random.below(9)).unwrap(),
                        );
                    }
                    word
                })
                .collect();
            text(&joined.join([" ", ": ", "", "\t", " ("][random.below(5)]))
        }
    }
}

fn mutate(nodes: &mut Nodes, random: &mut Random, words: &[String]) {
    let paths: Vec<_> = nodes.keys().cloned().collect();
    for _ in 0..=random.below(6) {
        let path = &paths[random.below(paths.len())];
        let Some(attributes) = nodes.get_mut(path).and_then(|node| node.attributes_mut()) else { continue };
        let keys: Vec<String> = attributes.keys().cloned().collect();
        let name = match random.below(3) {
            0 => words[random.below(words.len())].clone(),
            _ if keys.is_empty() => continue,
            _ => keys[random.below(keys.len())].clone(),
        };
        match random.below(5) {
            0 => drop(attributes.shift_remove(&name)),
            _ => drop(attributes.insert(name, Ok(any(random, words)))),
        }
    }
}

#[test]
fn any_attributes_are_checked() {
    let base = Cdl::new(BASE);
    // The words in all attributes, including the names of the attributes.
    let words: Vec<String> = BASE
        .split(|letter: char| letter.is_whitespace() || "\":=(),".contains(letter))
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut longest = Duration::ZERO;
    for round in 0..20_000 {
        let mut cdl = Cdl { nodes: base.nodes.clone() };
        mutate(&mut cdl.nodes, &mut random, &words);
        let start = Instant::now();
        let dataset = Dataset::new(cdl.nodes.iter(), round % 2 == 0);
        let checked = Checked {
            dataset: &dataset,
            names: StandardNames::embedded(),
            values: Some(&cdl),
            wants: &|_| true,
        };
        let versions = match round % 9 {
            8 => auto(&dataset).0,
            at => vec![Some(VERSIONS[at]); dataset.groups.len()],
        };
        let found = check(&checked, &versions).unwrap();
        assert!(found.len() < 10_000, "{} findings", found.len());
        longest = longest.max(start.elapsed());
    }
    assert!(longest < Duration::from_secs(2), "{longest:?}");
}
