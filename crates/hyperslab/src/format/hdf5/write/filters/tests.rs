use super::super::super::storage;
use super::*;
use hyperslab_core::{Encoder, Limits};
use hyperslab_hdf5::format::message::fill_value::{Fill as Hdf5Fill, FillValue};
use hyperslab_hdf5::format::message::filter_pipeline::FilterPipeline;
use hyperslab_hdf5::format::{Sizes, Structure, decode_prefix};
use hyperslab_hdf5::write::LibraryVersion;
use hyperslab_hdf5::{File, Object, ObjectKind};
use hyperslab_model::Values;
use std::path::{Path, PathBuf};

/// A dataset written by libhdf5.
pub(in super::super) struct Golden {
    line: &'static str,
    pub(in super::super) name: &'static str,
    pub(in super::super) low: LibraryVersion,
    pub(in super::super) layout: &'static str,
    chunk: Vec<u64>,
}

pub(in super::super) fn bytes_of(hex: &str) -> Vec<u8> {
    let digit = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    (0..hex.len()).step_by(2).map(digit).collect()
}

pub(in super::super) fn bound(name: &str) -> LibraryVersion {
    LibraryVersion::ALL.into_iter().find(|version| version.name() == name).unwrap()
}

pub(in super::super) fn datasets() -> impl Iterator<Item = Golden> {
    include_str!("../../../../../../hdf5/tests/golden/dataset_messages.txt").lines().map(|line| {
        let words: Vec<_> = line.split(' ').collect();
        let chunk = words[3].split('x').map(|extent| extent.parse().unwrap()).collect();
        Golden { line, name: words[0], low: bound(words[1]), layout: words[2], chunk }
    })
}

impl Golden {
    pub(in super::super) fn bytes(&self, key: &str) -> Option<Vec<u8>> {
        let hex = self.line.split(' ').find_map(|word| word.strip_prefix(key)?.strip_prefix('='));
        hex.map(bytes_of)
    }

    fn message<S: Structure<Context = Sizes>>(&self, key: &str) -> Option<S> {
        Some(decode_prefix(0, &self.bytes(key)?, &Sizes::DEFAULT).unwrap())
    }

    pub(in super::super) fn fill(&self) -> FillValue {
        self.message("fill").unwrap()
    }

    /// The fill value of numbers as the little-endian bytes of an element.
    fn fill_bits(&self) -> Option<u64> {
        fill_bits(&match self.fill().value {
            Hdf5Fill::Undefined => Fill::Undefined,
            Hdf5Fill::Default => Fill::Default,
            Hdf5Fill::Value(mut value) => {
                let is_little = self.name != "scaled_value";
                if is_little == cfg!(target_endian = "big") {
                    value.reverse();
                }
                Fill::Value(Values { rows: value.into(), ..Values::default() })
            }
        })
    }
}

/// Visits all objects in the files of these tests, passing the path of the file.
pub(in super::super) fn for_each_object(visit: &mut dyn FnMut(&File, &Object, &str)) {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders: Vec<PathBuf> =
        ["../../examples", "../hdf5/tests/data", "tests/data"].map(|folder| here.join(folder)).into();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if ["h5", "nc", "nxs"].iter().any(|suffix| path.extension() == Some(suffix.as_ref())) {
                let bytes = bytes::Bytes::from(std::fs::read(&path).unwrap());
                let Ok(file) = File::open(Box::new(bytes), Limits::default()) else { continue };
                visit_objects(&file, &path.to_string_lossy(), visit);
            }
        }
    }
}

fn visit_objects(file: &File, place: &str, visit: &mut dyn FnMut(&File, &Object, &str)) {
    let (mut seen, mut left) = (Vec::new(), vec![file.root_address()]);
    while let Some(address) = left.pop() {
        if seen.contains(&address) {
            continue;
        }
        seen.push(address);
        let Ok(object) = file.object(address) else { continue };
        if object.kind() == ObjectKind::Group {
            let links = object.links(file).unwrap_or_default();
            left.extend(links.iter().filter_map(hyperslab_hdf5::Link::address));
        }
        visit(file, &object, place);
    }
}

#[test]
fn filters_of_all_files_are_read_again_as_they_were() {
    let mut names = std::collections::BTreeSet::new();
    for_each_object(&mut |file, object, place| {
        let Ok(dataset) = object.dataset(file) else { return };
        let Some(shape) = dataset.chunk() else { return };
        let (size, fill) = (Some(u64::from(dataset.datatype().size)), Some(0));
        let filters: Vec<_> = dataset.filters().iter().map(|one| storage::filter(one, size)).collect();
        let chunks = Chunks { datatype: dataset.datatype(), shape };
        let of = Filters { filters: &filters, origin: Origin::Passed, change: false, chunks, fill };
        let own = of.pipeline().unwrap();
        assert!(own.lowered.is_empty(), "{place}: {:?}", own.lowered);
        let again: Vec<_> = own.filters.iter().map(|one| storage::filter(one, size)).collect();
        assert_eq!(again, filters, "{place}");
        names.extend(filters.into_iter().map(|of| of.name));
    });
    assert!(names.len() > 12, "{names:?}");
}

#[test]
fn filters_are_written_as_they_were_read() {
    let mut found = 0;
    for dataset in datasets() {
        let Some(expected) = dataset.message::<FilterPipeline>("filters") else { continue };
        let datatype: Hdf5Datatype = dataset.message("datatype").unwrap();
        let filters: Vec<_> =
            expected.filters.iter().map(|one| storage::filter(one, Some(u64::from(datatype.size)))).collect();
        assert!(filters.iter().all(|of| of.name != RAW), "{filters:?}");
        let of = Filters {
            filters: &filters,
            origin: Origin::Passed,
            change: false,
            chunks: Chunks { datatype: &datatype, shape: &dataset.chunk },
            fill: dataset.fill_bits(),
        };
        let pipeline = of.pipeline().unwrap();
        assert!(pipeline.lowered.is_empty(), "{:?}", pipeline.lowered);
        let mut e = Encoder::new();
        let version = dataset.low.filter_pipeline();
        let message = FilterPipeline { version, filters: pipeline.filters.clone() };
        message.encode(&mut e, &Sizes::DEFAULT).unwrap();
        let bytes = dataset.bytes("filters").unwrap();
        assert_eq!(bytes.get(..e.len()), Some(e.as_slice()), "{}", dataset.name);
        found += 1;
    }
    assert!(found > 50, "{found}");
}

fn int32() -> Hdf5Datatype {
    decode_prefix(0, &bytes_of("100800000400000000002000"), &Sizes::DEFAULT).unwrap()
}

fn float32() -> Hdf5Datatype {
    decode_prefix(0, &bytes_of("11201f000400000000002000170800177f000000"), &Sizes::DEFAULT).unwrap()
}

/// The pipeline that filters are converted to, for chunks of 16 by 16 such elements.
fn written(filters: &[Filter], datatype: &Hdf5Datatype, origin: Origin) -> Result<Pipeline> {
    let chunks = Chunks { datatype, shape: &[16, 16] };
    Filters { filters, origin, change: false, chunks, fill: Some(0) }.pipeline()
}

/// Plugin filters keep the client data of the plugins.
#[test]
fn filters_of_plugins_keep_their_client_data() {
    let cases: [(u16, &[u32]); 20] = [
        (1, &[4]),
        (307, &[9]),
        (32000, &[4, 261, 1024]),
        (32001, &[2, 2, 4, 1024, 5, 1, 1]),
        (32001, &[2, 2, 8, 1024, 9, 2, 5]),
        (32003, &[]),
        (32004, &[0]),
        (32004, &[64]),
        (32008, &[0, 4, 4, 0, 0]),
        (32008, &[0, 4, 4, 64, 2]),
        (32008, &[0, 4, 2, 0, 3, 5]),
        (32015, &[3]),
        (32015, &[u32::MAX]),
        (32022, &[3, 4, 0, 0, 0]),
        (32026, &[1, 0, 4, 1024, 5, 1, 0, 2, 16, 16]),
        (32026, &[1, 256, 4, 1024, 5, 0, 1, 2, 16, 16]),
        (32007, &[]),
        (305, &[1, 23]),
        (40_000, &[7]),
        (257, &[1, 2]),
    ];
    for (id, client_data) in cases {
        for optional in [true, false] {
            let name = filter::canonical_name(id).unwrap_or("own").as_bytes().to_vec();
            let from = Hdf5Filter { id, name, optional, client_data: client_data.to_vec() };
            let filters = [storage::filter(&from, Some(4))];
            let own = written(&filters, &float32(), Origin::Passed).unwrap();
            assert_eq!(own.filters, [from], "{filters:?}");
            assert!(own.lowered.is_empty(), "{:?}", own.lowered);
        }
    }
}

#[test]
fn zfp_has_the_header_of_its_chunks() {
    for mode in ["{rate: 8}", "{mode: rate, rate: 4.5}", "{precision: 20}", "{accuracy: 0.01}", "reversible"]
    {
        let filters = hyperslab_ndl::filters(&format!("[{{zfp: {mode}}}]"), None).unwrap();
        let own = written(&filters, &float32(), Origin::Described).unwrap();
        let again = storage::filter(&own.filters[0], Some(4));
        let rewritten = written(&[again], &float32(), Origin::Passed).unwrap();
        assert_eq!(rewritten.filters, own.filters, "{mode}");
        assert_eq!(own.lowered.is_empty(), mode == "reversible", "{mode}");
    }
}

fn shown(filters: &str) -> String {
    let filters = hyperslab_ndl::filters(filters, None).unwrap();
    let own = written(&filters, &int32(), Origin::Described).unwrap();
    let names =
        own.filters.iter().map(|of| format!("{}{:?}", String::from_utf8_lossy(&of.name), of.client_data));
    let lowered = own.lowered.iter().map(|(row, what)| format!("; {what} => {}", row.becomes));
    format!("{}{}", names.collect::<Vec<_>>().join(" "), lowered.collect::<String>())
}

#[test]
fn filters_that_hdf5_lacks_become_those_that_every_reader_has() {
    for (filters, expected) in [
        ("[shuffle, deflate: 4]", "shuffle[4] deflate[4]"),
        ("[{gzip: 5}]", "deflate[5]; filter gzip => filters of the same algorithm"),
        ("[{zstd: {level: 3, checksum: true}}]", "zstd[3]; filter zstd => filters of the same algorithm"),
        ("[{lz4: {acceleration: 2}}]", "lz4[0]; filter lz4 => filters of the same algorithm"),
        (
            "[{blosc: {codec: zstd, block: 64}}]",
            "blosc[2, 2, 4, 1024, 5, 1, 5]; filter blosc => filters of the same algorithm",
        ),
        ("[{lzma: 6}]", "shuffle[4] deflate[4]; filter lzma => shuffle and Deflate, which every reader has"),
        (
            "[shuffle, pcodec, crc32c]",
            "shuffle[4] deflate[4] fletcher32[]; filter pcodec => shuffle and Deflate, which every reader has; filter \
             crc32c => Fletcher-32",
        ),
        ("[delta, {zstd: 1}]", "zstd[1]; filter delta => no filter"),
        ("[{quantize: 3}, deflate: 1]", "deflate[1]; filter quantize => no filter"),
    ] {
        assert_eq!(shown(filters), expected, "{filters}");
    }
}

#[test]
fn filters_that_the_user_asks_for_are_refused_by_name() {
    let refused = |filters: &str| {
        let filters = hyperslab_ndl::filters(filters, None).unwrap();
        written(&filters, &int32(), Origin::Asked).unwrap_err().detail().to_owned()
    };
    assert_eq!(
        refused("[{pcodec: 3}]"),
        "filter pcodec: HDF5 has no filter of this name with these parameters"
    );
    assert_eq!(
        refused("[{scaleoffset: {digits: 2}}]"),
        "filter scaleoffset: scaleoffset to a number of digits of other elements than floating-point numbers"
    );
    assert_eq!(
        refused("[{bitgroom: 3}]"),
        "filter bitgroom: HDF5 has no filter of this name with these parameters"
    );
}

#[test]
fn lossy_filters_lose_precision_unless_elements_have_passed_them() {
    let filters = hyperslab_ndl::filters("[{scaleoffset: {digits: 2}}]", None).unwrap();
    let lost = |origin| written(&filters, &float32(), origin).unwrap().lowered.len();
    assert_eq!(
        [lost(Origin::Asked), lost(Origin::Described), lost(Origin::Passed), lost(Origin::Kept)],
        [1, 1, 0, 0]
    );
}
