"""Random documents of HDF5 files: type, layout, chunk index, filter, versions, attributes, groups and links from a seed.

A `Trial` knows what other readers must find, from the document alone.
"""

import math
import os

import h5py
import numpy as np

import hdf5_types as types
from hdf5_types import AGE, nested

BOUNDS = [("earliest", "v1.8"), ("earliest", "v2.0"), ("v1.8", "v1.8"), ("v1.8", "v2.0"), ("v1.10", "v1.10"),
          ("v1.10", "v1.14"), ("v1.12", "v1.12"), ("v1.14", "v1.14"), ("v2.0", "v2.0"), ("earliest", "v1.10")]
# Filters that all libraries have.
COMMON = [[], [], [{"deflate": 4}], [{"shuffle": {}}, {"deflate": 1}], [{"shuffle": {}}], [{"deflate": 9}, {"fletcher32": {}}],
          [{"fletcher32": {}}], [{"shuffle": {}}, {"deflate": 6}, {"fletcher32": {}}]]
# Filters that only the library of h5py has here.
PLUGINS = [[{"lzf": {}}], [{"zstd": 5}], [{"lz4": {}}], [{"bzip2": 5}], [{"blosc": {"codec": "lz4", "level": 4}}],
           [{"blosc2": {"codec": "zstd", "level": 3}}], [{"bitshuffle": {"codec": "lz4"}}], [{"shuffle": {}}, {"zstd": 1}]]
NOTHING = {"none": True}
OTHER = np.arange(20, dtype="<i4").reshape(4, 5)


class Data:
    """The elements of a dataset or an attribute."""

    def __init__(self, kind, shape, values, fill=None, **about):
        self.kind, self.shape, self.values, self.fill = kind, shape, values, fill
        self.maximum = about.pop("maximum", shape)
        self.chunk = about.pop("chunk", None)
        # The names of the filters.
        self.filters = about.pop("filters", [])
        # The bytes of all elements, where the document has no values.
        self.raw = about.pop("raw", None)
        # Whether the document describes no elements.
        self.elsewhere = about.pop("elsewhere", False)
        self.is_plain = about.pop("is_plain", True)
        assert not about

    @property
    def count(self):
        return 0 if self.shape is None else math.prod(self.shape)

    def stored(self):
        """The bytes of all elements; `None` if they depend on addresses or on memory that was never written."""
        if self.raw is not None:
            return self.raw
        if not self.kind.stored:
            return None
        if self.values is None:
            if self.fill is NOTHING:
                return None
            value = bytes(self.kind.size) if self.fill is None else self.kind.stored(self.fill)
            return value * self.count
        return b"".join(map(self.kind.stored, self.values))


class Trial:
    def __init__(self, seed):
        self.seed = seed
        self.random = random = np.random.default_rng([20, seed])
        self.low, self.high = BOUNDS[seed % len(BOUNDS)]
        self.options = [f"hdf5.libver={self.low},{self.high}", "hdf5.sources=keep"]
        self.width = [8, 8, 4, 8, 2, 8, 8][seed % 7]
        if self.width != 8:
            self.options.append(f"hdf5.sizes={self.width}")
        self.is_small = self.width == 2
        if seed % 5 == 3 and self.since("v1.10") and not self.is_small:
            self.options.append(f"hdf5.paged={random.choice([512, 4096])}")
        if seed % 6 == 1:
            self.options.append(f"hdf5.userblock={random.choice([512, 1024, 2048])}")
        # There, libhdf5 forgets that dimensions are unlimited, even in its own files.
        self.unlimited = None if self.width == 8 else 256 ** self.width - 1
        # Whether libhdf5 continues the file. With narrower addresses it cannot continue even its own files.
        self.is_continued = seed // 10 % 5 == 0 and self.width == 8
        self.data, self.attributes, self.links, self.ordered, self.scales, self.comments = {}, {}, {}, {}, {}, {}
        self.groups = {"/": {}}
        self.raw_files = {}
        self.make()

    def since(self, version):
        """Whether the file may use what the library has had since this version."""
        return AGE.index(self.high) >= AGE.index(version)

    @property
    def name(self):
        return f"t{self.seed:04}"

    @property
    def path(self):
        return f"{self.name}.h5"

    def chance(self, count):
        return self.random.integers(count) == 0

    def kind(self, make, *args):
        """A type that the libraries of the file support."""
        while True:
            kind = make(self.random, *args)
            # libhdf5 loses references where addresses are narrower than in memory, even in its own files.
            if self.width < 8 and "ref" in kind.name:
                continue
            if kind.needs == "v2.0" and AGE.index(self.low) < AGE.index("v2.0"):
                continue
            if AGE.index(kind.needs) <= AGE.index(self.high):
                return kind

    def make(self):
        random = self.random
        self.add("/target", Data(types.integer(np.random.default_rng(1)), [3, 4], list(range(12))))
        self.groups["/"]["ndarrays"]["target"]["attributes"] = {"units": text("m")}
        parents = ["/"]
        for index in range(int(random.integers(1, 2 if self.is_small else 5))):
            path = f"{parents[int(random.integers(len(parents)))].rstrip('/')}/g{index}"
            self.groups[path] = {}
            parents.append(path)
        if self.chance(3):
            self.make_dimensions()
        for path in parents:
            self.make_group(path)
        for index in range(int(random.integers(1, 3 if self.is_small else 7))):
            path = f"{parents[int(random.integers(len(parents)))].rstrip('/')}/d{index}"
            self.make_dataset(path)
        if not self.is_small:
            if self.since("v1.10") and self.chance(3):
                self.make_virtual()
            if self.chance(4):
                self.make_external()
            if self.chance(4):
                self.make_long()
        self.make_links()
        holders = [path for path in self.data if path != "/target"] + list(self.groups)
        for path in holders:
            self.make_attributes(path)

    def names(self):
        """The paths of all objects but the root."""
        found = [path for path in [*self.groups, *self.data] if path != "/"]
        return found + (["/bare"] if self.scales else [])

    def entry(self, path):
        """The object at a path in the document."""
        if path in self.groups:
            return self.groups[path]
        parent, _, name = path.rpartition("/")
        for section in ("ndarrays", "dimcoords"):
            if name in self.groups[parent or "/"].get(section, {}):
                return self.groups[parent or "/"][section][name]
        raise KeyError(path)

    def directives(self, path):
        return self.entry(path).setdefault("storage", {}).setdefault("hdf5", {})

    def add(self, path, data, **storage):
        """Adds an array to the document."""
        parent, _, name = path.rpartition("/")
        shape = None if data.shape is None else [None if n is None else n for n in data.maximum]
        entry = {"shape": shape, "type": data.kind.type, "storage": data.kind.storage | storage}
        if data.shape != data.maximum:
            entry["storage"]["shape"] = data.shape
        if data.values is not None:
            entry["value"] = nested(data.values, data.shape) if data.count else empty(data.shape)
        self.groups[parent or "/"].setdefault("ndarrays", {})[name] = entry
        self.data[path] = data

    def make_group(self, path):
        random, own = self.random, {}
        if self.chance(3):
            own |= {"track_order": True} | ({"index_order": False} if self.chance(4) else {})
        if self.chance(3):
            own |= {"track_attributes": True} | ({"index_attributes": False} if self.chance(4) else {})
        if self.chance(5):
            own["link_phase_change"] = [[0, 0], [20, 10], [4, 2]][int(random.integers(3))]
        if self.chance(6):
            own["attribute_phase_change"] = [[0, 0], [16, 8], [3, 2]][int(random.integers(3))]
        if self.chance(6):
            own["link_estimates"] = [int(random.integers(1, 20)), int(random.integers(1, 30))]
        if self.chance(6):
            own["comment"] = self.comments[path] = f"comment of {path}"
        if own:
            self.directives(path).update(own)

    def make_dataset(self, path):
        random = self.random
        rank = int(random.choice([0, 1, 1, 1, 2, 2, 3, 4]))
        shape = [int(n) for n in random.integers(0 if self.chance(8) else 1, [0, 60, 12, 6, 4][rank] if rank else 2, rank)]
        if self.is_small:
            shape = [min(n, 6) for n in shape]
        if rank == 0 and not self.scales and self.chance(4):
            kind = self.kind(types.fixed_kind)
            return self.add(path, Data(kind, None, None))
        storage, own, maximum, chunk, filters = {}, {}, shape, None, []
        layout = str(random.choice(["compact", "contiguous", "chunked", "chunked", "chunked"])) if rank else "contiguous"
        kind = self.kind(types.fixed_kind if layout == "chunked" and random.integers(3) else types.any_kind)
        if layout == "chunked":
            maximum, chunk = self.chunks(shape)
            filters = self.filters(kind, math.prod(chunk))
            storage |= {"chunk": chunk} | ({"filter": filters} if filters else {})
            own |= self.chunk_options(filters)
        elif layout == "compact" and math.prod(shape) * (kind.size or 16) > 60_000:
            layout = "contiguous"
        if layout != "compact" and "alloc_time" not in own and self.chance(4):
            own["alloc_time"] = str(random.choice(["early", "late"] + ["incremental"] * (layout == "chunked")))
        storage["layout"] = layout
        fill = None
        if kind.stored and self.chance(2):
            fill = storage["fillvalue"] = kind.make(random)
        elif kind.stored and self.chance(8):
            fill, storage["fillvalue"] = NOTHING, None
        if self.chance(3):
            storage["fill_time"] = str(random.choice(["alloc", "ifset", "never"] if fill is NOTHING else ["alloc", "ifset"]))
            if fill is NOTHING and storage["fill_time"] == "alloc":
                storage["fill_time"] = "never"
        if own:
            storage["hdf5"] = own
        values = None
        # Bytes of zeros, which libhdf5 takes for the fill value, are not text that spaces end.
        if fill is NOTHING or fill is None and "spacepad" in str(kind.storage) or not self.chance(6):
            values = [kind.make(random) for _ in range(math.prod(shape))]
            if fill not in (None, NOTHING) and values and self.chance(3):
                # A part that equals the fill value.
                values[len(values) // 2:] = [fill] * (len(values) - len(values) // 2)
        is_plain = all(next(iter(one)) in COMMON_NAMES for one in filters)
        names = [next(iter(one)) for one in filters]
        self.add(path, Data(kind, shape, values, fill, maximum=maximum, chunk=chunk, filters=names, is_plain=is_plain), **storage)
        if self.chance(8):
            self.directives(path)["comment"] = self.comments[path] = f"comment of {path}"
        if self.chance(6):
            self.directives(path)["track_attributes"] = True

    def chunks(self, shape):
        """The maximum dimensions and the chunk."""
        random = self.random
        limits = [[n, None, n + 5][int(random.integers(3))] for n in shape]
        limits = [limits, [None] * len(shape), list(shape), list(shape)][int(random.integers(4))]
        if self.is_small:
            limits = list(shape)
        chunk = []
        for n, most in zip(shape, limits):
            whole = most if most else max(n, 1)
            chunk.append(int(random.integers(1, max(whole, 1) + 1)) if random.integers(4) else max(whole, 1))
        most = 40 if self.is_small else 1500
        if math.prod(-(-n // c) for n, c in zip(shape, chunk)) > most:
            chunk = [max(c, n // 3 + 1) for n, c in zip(shape, chunk)]
        return limits, chunk

    def filters(self, kind, count):
        random = self.random
        if not kind.stored:
            return [[], [{"deflate": 5}], [{"shuffle": {}}, {"deflate": 2}]][int(random.integers(3))]
        if kind.name == "reduced" and self.chance(2):
            return [{"nbit": {}}]
        if kind.name == "integer" and self.chance(5):
            return [{"scaleoffset": {"bits": 0}}]
        if kind.name in ("integer", "float") and count >= 64 and self.chance(5):
            return [{"szip": {"coding": str(random.choice(["nn", "ec"])), "pixels": int(random.choice([4, 8, 16]))}}]
        choices = PLUGINS if self.chance(4) else COMMON
        return choices[int(random.integers(len(choices)))]

    def chunk_options(self, filters):
        own = {}
        if self.chance(3):
            own["alloc_time"] = str(self.random.choice(["early", "late", "incremental"]))
        if filters and self.since("v1.10") and self.chance(4):
            own["unfiltered_edges"] = True
        return own

    def make_long(self):
        """A dataset with enough chunks for its index to have pages, super blocks or inner nodes."""
        random = self.random
        kind = types.Kind("int16", None, lambda value: value.to_bytes(2, "little", signed=True), dtype=np.dtype("<i2"), name="integer",
                          storage={"endian": "little"})
        count = int(random.choice([1030, 1500, 2600]))
        shape, chunk = [([count * 2], [2]), ([count // 40, 80], [1, 2])][int(random.integers(2))]
        maximum = [list(shape), [None] * len(shape), [None] + shape[1:]][int(random.integers(3))]
        filters = COMMON[int(random.integers(3))]
        values = [int(n) for n in random.integers(-99, 99, math.prod(shape))]
        data = Data(kind, shape, values, maximum=maximum, chunk=chunk, filters=[next(iter(one)) for one in filters])
        self.add("/long", data, chunk=chunk, layout="chunked", **({"filter": filters} if filters else {}))

    def make_dimensions(self):
        random = self.random
        kind = types.floating(random)
        size, is_unlimited = int(random.integers(1, 6)), not self.is_small and self.chance(2)
        values = [kind.make(random) for _ in range(size)]
        chunk = {"chunk": [4], "layout": "chunked"} if is_unlimited else {}
        root = self.groups["/"]
        x = {"size": None if is_unlimited else size, "type": kind.type, "storage": kind.storage | chunk, "value": values}
        root["dimcoords"] = {"x": x, "bare": {"size": 2}}
        self.data["/x"] = Data(kind, [size], values, maximum=[None if is_unlimited else size])
        kind = types.integer(random)
        for name in ["along", "also"]:
            values = [kind.make(random) for _ in range(2 * size)]
            chunked = {"chunk": [3, 2], "layout": "chunked", "shape": [size, 2]} if is_unlimited else {}
            entry = {"shape": ["x", "bare"], "type": kind.type, "storage": kind.storage | chunked, "value": nested(values, [size, 2])}
            root.setdefault("ndarrays", {})[name] = entry
            self.data[f"/{name}"] = Data(kind, [size, 2], values, maximum=[None if is_unlimited else size, 2])
            self.scales[f"/{name}"] = ["/x", "/bare"]

    def make_virtual(self):
        """A virtual dataset of rows of this file and of another."""
        random = self.random
        kind = types.Kind("int32", None, lambda value: value.to_bytes(4, "little", signed=True), dtype=np.dtype("<i4"),
                          storage={"endian": "little"}, name="integer")
        values = [int(n) for n in random.integers(-99, 99, 20)]
        self.add("/source", Data(kind, [4, 5], values))
        fill = int(random.integers(0, 99)) if self.chance(2) else 0
        rows = int(random.integers(1, 6))
        found = np.full((rows, 5), fill, "<i4")
        mappings = []
        for row in range(rows):
            if self.chance(4):
                continue
            file, source = [(".", np.reshape(np.array(values, "<i4"), (4, 5))), ("other.h5", OTHER)][int(random.integers(2))]
            at, step = int(random.integers(4)), int(random.integers(1, 3))
            found[row, :5:step] = source[at, :5:step]
            count = [1, len(range(0, 5, step))]
            mappings.append({"file": file, "dataset": "/source",
                             "virtual": {"start": [row, 0], "stride": [1, step], "count": count, "block": [1, 1]},
                             "source": {"start": [at, 0], "stride": [1, step], "count": count, "block": [1, 1]}})
        storage = {"layout": "virtual", "hdf5": {"mappings": mappings}} | ({"fillvalue": fill} if fill else {})
        self.add("/virtual", Data(kind, [rows, 5], None, fill, raw=found.tobytes(), elsewhere=True), **storage)

    def make_external(self):
        random = self.random
        kind = types.floating(random)
        shape = [int(n) for n in random.integers(1, 6, 2)]
        raw = b"".join(kind.stored(kind.make(random)) for _ in range(math.prod(shape)))
        cut = int(random.integers(1, len(raw)))
        names = [f"{self.name}-a.bin", f"{self.name}-b.bin"]
        self.raw_files = {names[0]: b"xyz" + raw[:cut], names[1]: raw[cut:]}
        segments = [{"file": names[0], "offset": 3, "size": cut}, {"file": names[1], "offset": 0, "size": len(raw) - cut}]
        data = Data(kind, shape, None, raw=raw, elsewhere=True)
        self.add("/external", data, layout="external", hdf5={"external": segments})

    def make_links(self):
        """Groups with 0 to many links, around the number at which their storage changes."""
        random = self.random
        for index in range(1 if self.is_small else int(random.integers(1, 3))):
            path = f"/links{index}"
            self.groups[path] = {}
            self.make_group(path)
            count = int(random.choice([0, 1, 6, 7, 8, 9] if self.is_small else [1, 7, 8, 9, 9, 17, 60, 300]))
            links = {}
            for at in range(count):
                name = ["link {}", "l{}", "深い{}", "a longer name of a link, so that headers grow {}"][int(random.integers(4))].format(at)
                links[name] = [{"hard": "/target"}, {"soft": "/target"}, {"soft": "/./target"},
                               {"external": {"file": "other.h5", "path": "/source"}},
                               # libhdf5 does not copy these.
                               {"soft": "/"} if self.is_continued else {"user": {"class": 187, "data": "0x0102"}}][int(random.choice([0, 0, 1, 2, 3, 4], p=[.3, .3, .15, .1, .1, .05]))]
            self.groups[path]["links"] = links
            for name, link in links.items():
                self.links[path, name] = link
            if self.groups[path].get("storage", {}).get("hdf5", {}).get("track_order"):
                self.ordered[path] = list(links)

    def make_attributes(self, path):
        random = self.random
        counts = [0, 0, 1, 2] if self.is_small else [0, 0, 1, 2, 7, 8, 9, 20]
        count = int(random.choice(counts, p=None if self.is_small else [.3, .2, .2, .1, .05, .05, .05, .05]))
        attributes = {}
        for index in range(count):
            name = ["a{}", "a longer name {}", "ä{}"][int(random.integers(3))].format(index)
            kind = self.kind(types.any_kind, 1)
            rank = int(random.choice([0, 0, 1, 2]))
            shape = [int(n) for n in random.integers(0 if self.chance(8) else 1, 5, rank)]
            # With a pure dimension the file is one of NetCDF, which has no null dataspaces.
            if not self.scales and self.chance(12):
                shape = None
            if index == 0 and not self.is_small and self.low not in ("earliest",) and self.chance(12):
                kind, shape = types.integer(random), [int(random.integers(8200, 9000)) * 8]
            self.attribute(attributes, path, name, kind, shape)
        if attributes:
            self.entry(path).setdefault("attributes", {}).update(attributes)

    def attribute(self, attributes, path, name, kind, shape):
        data = Data(kind, shape, None if shape is None else [kind.make(self.random) for _ in range(math.prod(shape))])
        entry = {"shape": shape, "type": kind.type}
        if kind.storage:
            entry["storage"] = kind.storage
        if data.values is not None:
            entry["value"] = nested(data.values, shape) if data.count else empty(shape)
        attributes[name] = entry
        self.attributes[path, name] = data

    def write_others(self, folder):
        for name, content in self.raw_files.items():
            with open(os.path.join(folder, name), "wb") as f:
                f.write(content)


COMMON_NAMES = {"shuffle", "deflate", "fletcher32", "nbit", "scaleoffset", "szip"}


def text(value):
    return {"shape": [], "type": "string", "value": value}


def empty(shape):
    """The value of a shape without elements."""
    if shape[0] == 0:
        return []
    return [empty(shape[1:]) if len(shape) > 1 else [] for _ in range(shape[0])]


def write_other(folder):
    """The file that virtual datasets and external links refer to."""
    with h5py.File(os.path.join(folder, "other.h5"), "w") as file:
        file["source"] = OTHER
