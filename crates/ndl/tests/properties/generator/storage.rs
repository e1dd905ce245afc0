//! Random storage, with every directive of the model.

use super::*;
use hyperslab_model::{ByteOrder, CharacterSet, Fill, FillTime, Filter, Layout, Order};

/// The shape of a chunk.
const MAX_IN_CHUNK: u64 = 1 << 20;

impl Random {
    /// Directives of single formats.
    pub(super) fn natives(&mut self, one_in: u64) -> Vec<(&'static str, Vec<(String, Directive)>)> {
        let mut natives = Vec::new();
        for format in ["hdf5", "netcdf", "zarr", "tiledb"] {
            if self.one_in(one_in) {
                natives.push((format, self.directives(2)));
            }
        }
        natives
    }

    fn directives(&mut self, depth: u64) -> Vec<(String, Directive)> {
        let count = self.below(4);
        // This directive marks a sparse array.
        let names = self.names(count).into_iter().filter(|name| name != "array");
        names.map(|name| (name, self.directive(depth))).collect()
    }

    fn directive(&mut self, depth: u64) -> Directive {
        match self.below(if depth == 0 { 6 } else { 8 }) {
            0 => Directive::Null,
            1 => Directive::Bool(self.one_in(2)),
            2 | 3 => Directive::Int(self.integer(64, true)),
            4 => Directive::Float(*self.pick(&[0.5, 1e100, -0.0, f64::INFINITY, f64::NAN])),
            5 => Directive::Text(self.text()),
            6 => Directive::List((0..self.below(4)).map(|_| self.directive(depth - 1)).collect()),
            _ => Directive::Map(self.directives(depth - 1)),
        }
    }

    fn filter(&mut self, integers: bool) -> Filter {
        let number = |random: &mut Self| Directive::Int(i128::from(random.below(20)));
        if self.one_in(8) {
            let name = (*self.pick(&["hdf5", "zarr", "tiledb"])).into();
            let mut parameters = vec![("id".into(), number(self))];
            parameters.extend(self.directives(1).into_iter().filter(|(name, _)| name != "id"));
            return Filter { name, parameters, main: false };
        }
        let (name, parameters) = *self.pick(FILTERS);
        let mut chosen = Vec::new();
        let main = !parameters.is_empty() && name != "lz4" && !self.one_in(4);
        if let Some(first) = parameters.first().filter(|_| main) {
            let first = if name == "scaleoffset" && integers { "bits" } else { first };
            let value = match first {
                "codec" => Directive::Text("lz4".into()),
                "mode" => Directive::Text("rate".into()),
                _ => number(self),
            };
            chosen.push((first.to_string(), value));
        }
        for parameter in parameters.iter().skip(1) {
            if self.one_in(3) {
                chosen.push(((*parameter).to_string(), number(self)));
            }
        }
        if self.one_in(8) {
            chosen.push(("optional".into(), Directive::Bool(self.one_in(2))));
        }
        Filter { name: name.into(), parameters: chosen, main }
    }
}

impl File {
    /// The storage of an array with these extents. Strings in `datatype` get the stored length.
    pub(super) fn storage(&mut self, mut datatype: Option<&mut Datatype>, extents: &[Extent]) -> Storage {
        let mut storage = Storage::default();
        if let Some(datatype) = datatype.as_deref_mut() {
            storage.element = self.element_storage(datatype);
        }
        let datatype = datatype.as_deref();
        let random = &mut self.random;
        let within = |random: &mut Random| {
            let one = |extent: &Extent| match extent {
                Extent::Fixed(extent @ 1..) => 1 + random.below(*extent),
                _ => 1 + random.below(1000),
            };
            let mut shape: Vec<u64> = extents.iter().map(one).collect();
            // Reading or writing one element takes memory for a whole chunk.
            while shape.iter().product::<u64>() > MAX_IN_CHUNK
                && let Some(longest) = shape.iter_mut().max()
            {
                *longest /= 2;
            }
            shape
        };
        if !extents.is_empty() {
            storage.chunk = random.some(3, within);
            storage.shard = random.some(8, within);
            if random.one_in(3) {
                let integers = datatype.is_some_and(|of| matches!(of.resolved(), Datatype::Int { .. }));
                storage.filters = (0..random.below(4)).map(|_| random.filter(integers)).collect();
            }
        }
        storage.fill_time =
            random.some(6, |random| *random.pick(&[FillTime::Alloc, FillTime::IfSet, FillTime::Never]));
        storage.layout = random.some(6, |random| {
            let layouts =
                [Layout::Compact, Layout::Contiguous, Layout::Chunked, Layout::Virtual, Layout::External];
            random.pick(&layouts).clone()
        });
        storage.order = random.some(8, |random| *random.pick(&[Order::RowMajor, Order::ColumnMajor]));
        storage.native = random.natives(12);
        let filled = random.below(6);
        storage.fill = match (filled, datatype) {
            (0, _) => Fill::Undefined,
            // Null is not allowed as a fill value.
            (1 | 2, Some(datatype)) if !may_be_null(datatype) => Fill::Value(self.values(datatype, 1)),
            _ => Fill::Default,
        };
        storage
    }

    /// The storage of elements. Strings in the type get the stored length.
    pub(super) fn element_storage(&mut self, datatype: &mut Datatype) -> ElementStorage {
        let mut storage = ElementStorage::default();
        self.element(datatype, &mut storage);
        storage
    }

    fn element(&mut self, datatype: &mut Datatype, storage: &mut ElementStorage) {
        let random = &mut self.random;
        match datatype {
            Datatype::Int { bits: 16.., .. } | Datatype::Float(_) | Datatype::Complex(_) => {
                storage.endian = random
                    .some(3, |random| *random.pick(&[ByteOrder::Little, ByteOrder::Big, ByteOrder::Vax]));
                storage.precision = random.some(8, |_| 12);
                storage.offset = random.some(8, |_| 2);
            }
            Datatype::String(text) => {
                storage.charset =
                    random.some(3, |random| *random.pick(&[CharacterSet::Ascii, CharacterSet::Utf8]));
                if storage.charset == Some(CharacterSet::Ascii) && *text == Text::Variable {
                    *text = Text::Fixed { len: 1 + random.below(20) as u32, pad: Pad::NulTerminated };
                }
                match *text {
                    Text::Variable => storage.length = random.some(3, |_| Length::Variable),
                    Text::Fixed { len, pad } => {
                        storage.length = Some(Length::Fixed(len));
                        storage.pad = Some(pad);
                    }
                }
            }
            Datatype::Compound(members) => {
                for member in members.iter_mut() {
                    let mut of_member = ElementStorage::default();
                    self.element(&mut member.datatype, &mut of_member);
                    if !of_member.is_empty() {
                        storage.members.push((member.name.clone(), of_member));
                    }
                }
                if self.random.one_in(4) {
                    storage.offsets = Some((0..members.len() as u64).map(|n| n * 8).collect());
                    storage.itemsize = Some(members.len() as u64 * 8);
                }
            }
            Datatype::Array { base, .. } | Datatype::Vlen(base) | Datatype::Nullable(base) => {
                self.element(base, storage);
            }
            _ => {}
        }
    }
}

fn may_be_null(datatype: &Datatype) -> bool {
    match datatype {
        Datatype::Nullable(_) | Datatype::ObjRef | Datatype::RegRef | Datatype::Reference => true,
        Datatype::Named(_, of) => may_be_null(of),
        _ => false,
    }
}

const FILTERS: &[(&str, &[&str])] = &[
    ("deflate", &["level"]),
    ("gzip", &["level"]),
    ("zstd", &["level", "checksum"]),
    ("lz4", &["block", "acceleration"]),
    ("blosc", &["codec", "level", "shuffle"]),
    ("lzf", &[]),
    ("zfp", &["mode", "rate"]),
    ("shuffle", &["bytes"]),
    ("bitshuffle", &["codec", "block"]),
    ("nbit", &[]),
    ("scaleoffset", &["digits"]),
    ("fixedscaleoffset", &["offset", "scale"]),
    ("transpose", &["order"]),
    ("fletcher32", &[]),
    ("crc32c", &[]),
    ("sz3", &[]),
];
