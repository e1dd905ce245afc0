"""HDF5 files made from a seed: any way of storing elements that this project reads.

Each file has its own folder, because some consist of several files. Needs hdf5plugin.
"""

import ctypes
import glob
import os

import h5py
import hdf5plugin  # noqa: F401 (registers the filters)
import numpy as np
from h5py import h5d, h5p, h5s, h5t, h5z

import generate

UNLIMITED = h5s.UNLIMITED
LIBRARY = ctypes.CDLL(glob.glob(os.path.join(os.path.dirname(h5py.__file__), "..", "h5py.libs", "libhdf5-*"))[0])
DONT_FILTER_PARTIAL_CHUNKS = 2
SHUFFLE, FLETCHER32, SZIP, NBIT, SCALE_OFFSET = 2, 3, 4, 5, 6
VERSIONS = [("earliest", "v108"), ("earliest", "latest"), ("v108", "v108"), ("v110", "v110"), ("v112", "v112"),
            ("v114", "v114"), ("latest", "latest")]


def write(folder, seed):
    """Writes `main.h5` and the files that it refers to."""
    random = np.random.default_rng(seed)
    libver = VERSIONS[seed % len(VERSIONS)]
    options = {"userblock_size": 1024} if seed % 5 == 2 else {}
    if libver[0] not in ("earliest", "v108") and random.integers(2):
        strategy = ["fsm", "page", "aggregate", "none"][int(random.integers(4))]
        options |= {"fs_strategy": strategy, "fs_persist": bool(random.integers(2)), "fs_threshold": 1}
        if strategy == "page":
            options["fs_page_size"] = int(random.choice([512, 1024]))
    with h5py.File(os.path.join(folder, "main.h5"), "w", libver=libver, track_order=bool(random.integers(2)),
                   **options) as f:
        for index in range(int(random.integers(4, 9))):
            chunked(f, f"chunked{index}", random)
        for index in range(int(random.integers(3))):
            external(f, folder, f"external{index}", random)
        for index in range(int(random.integers(3))):
            whole(f, f"whole{index}", random)
        if libver[0] not in ("earliest", "v108"):
            with h5py.File(os.path.join(folder, "other.h5"), "w", libver="v110") as other:
                virtual(f, other, folder, random)
        if random.integers(3) == 0:
            del f["chunked0"]


def fixed(random):
    """A fixed-size datatype that is not an array type."""
    while True:
        kind = generate.datatype(random, 2)
        if not generate.is_variable(kind) and not kind.subdtype:
            return kind


def create(f, name, kind, shape, maximum, plist, random):
    plist.set_obj_track_times(bool(random.integers(2)))
    if random.integers(2) and not isinstance(kind, h5t.TypeID):
        plist.set_fill_value(generate.values(kind, (1,), random))
    plist.set_fill_time(int(random.choice([h5d.FILL_TIME_ALLOC, h5d.FILL_TIME_IFSET])))
    stored = kind if isinstance(kind, h5t.TypeID) else h5t.py_create(kind, logical=True)
    space = h5s.create_simple(shape, maximum)
    return h5py.Dataset(h5d.create(f.id, name.encode(), stored, space, plist))


def put(d, kind, random):
    """Writes some boxes of a dataset."""
    for _ in range(int(random.integers(0, 4))):
        if 0 in d.shape:
            return
        low = [int(random.integers(n)) if random.integers(2) else 0 for n in d.shape]
        box = tuple(int(random.integers(1, n - at + 1)) if random.integers(2) else n - at for n, at in zip(d.shape, low))
        space = d.id.get_space()
        space.select_hyperslab(tuple(low), box)
        d.id.write(h5s.create_simple(box), space, smooth(kind, box, random), mtype=h5t.py_create(kind))


def smooth(kind, shape, random):
    """Values of which one half is smooth, like measurements, and the rest is noise."""
    if kind.kind not in "iuf" or random.integers(2) or h5py.check_enum_dtype(kind):
        return generate.values(kind, shape, random)
    ramp = np.cumsum(random.integers(-1, 3, int(np.prod(shape)))) % 100
    return ramp.astype(kind).reshape(shape)


def whole(f, name, random):
    plist = h5p.create(h5p.DATASET_CREATE)
    plist.set_layout([h5d.COMPACT, h5d.CONTIGUOUS][int(random.integers(2))])
    kind = fixed(random)
    shape = tuple(int(n) for n in random.integers(0 if random.integers(6) == 0 else 1, 6, int(random.integers(1, 4))))
    put(create(f, name, kind, shape, None, plist, random), kind, random)


def chunked(f, name, random):
    rank = int(random.choice([1, 1, 2, 2, 3, 4, 5]))
    most = [0, 2000, 60, 14, 7, 5][rank]
    shape = tuple(int(n) for n in random.integers(1, most, rank))
    chunk = tuple(int(random.integers(1, n + 1 + n // 2)) for n in shape)
    if np.prod([-(-n // c) for n, c in zip(shape, chunk)]) > 4000:
        chunk = tuple(max(c, n // 4 + 1) for n, c in zip(shape, chunk))
    maximum = [[n, UNLIMITED, n + 9][int(random.integers(3))] for n in shape]
    chunk = tuple(c if m == UNLIMITED else min(c, m) for c, m in zip(chunk, maximum))
    plist = h5p.create(h5p.DATASET_CREATE)
    plist.set_chunk(chunk)
    plist.set_alloc_time(int(random.choice([h5d.ALLOC_TIME_EARLY, h5d.ALLOC_TIME_INCR, h5d.ALLOC_TIME_LATE])))
    if random.integers(5) == 0:
        return reduced(f, name, shape, maximum, plist, random)
    kind = fixed(random)
    filters = pipeline(plist, kind, int(np.prod(chunk)), random)
    if random.integers(4) == 0 and f.libver[0] not in ("earliest", "v108"):
        LIBRARY.H5Pset_chunk_opts.argtypes = [ctypes.c_int64, ctypes.c_uint]
        assert LIBRARY.H5Pset_chunk_opts(plist.id, DONT_FILTER_PARTIAL_CHUNKS) >= 0
    d = create(f, name, kind, shape, tuple(maximum), plist, random)
    put(d, kind, random)
    if random.integers(3) == 0:
        d.resize(tuple(int(random.integers(1, n + (7 if m != n else 1))) for n, m in zip(shape, maximum)))
        put(d, kind, random)
    if filters and random.integers(2):
        # A chunk with all filters skipped.
        raw = np.ascontiguousarray(generate.values(kind, chunk, random)).tobytes()
        at = tuple(int(random.integers(-(-n // c))) * c for n, c in zip(d.shape, chunk))
        if all(start + c <= n for start, c, n in zip(at, chunk, d.shape)):
            d.id.write_direct_chunk(at, raw, filter_mask=(1 << filters) - 1)


def reduced(f, name, shape, maximum, plist, random):
    """Numbers with fewer significant bits than their size: n-bit and scale-offset."""
    order = ["<", ">"][int(random.integers(2))]
    if random.integers(2):
        kind = np.dtype(order + str(random.choice(["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"])))
        packed = h5t.py_create(kind).copy()
        offset = int(random.integers(0, 3))
        # The library rejects integers with half of their bits unused, unless strict checks are disabled.
        low = 1 if kind.itemsize == 1 else 4 * kind.itemsize + 1
        packed.set_precision(int(random.integers(low, 8 * kind.itemsize - offset + 1)))
        packed.set_offset(offset)
        if random.integers(2):
            plist.set_shuffle()
        plist.set_filter(NBIT, h5z.FLAG_OPTIONAL, ())
        d = create(f, name, packed, shape, tuple(maximum), plist, random)
    else:
        kind = np.dtype(order + str(random.choice(["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"])))
        if kind.kind == "f":
            plist.set_scaleoffset(h5z.SO_FLOAT_DSCALE, int(random.integers(0, 4)))
        else:
            plist.set_scaleoffset(h5z.SO_INT, int(random.choice([0, 0, 5])))
        d = create(f, name, kind, shape, tuple(maximum), plist, random)
    values = (np.cumsum(random.integers(-1, 3, int(np.prod(shape)))) % 100).astype(kind).reshape(shape)
    part = tuple(slice(0, int(random.integers(1, n + 1))) for n in shape)
    d[part] = values[part]


def pipeline(plist, kind, elements, random):
    """Adds filters. Returns their number."""
    size = kind.itemsize
    filters = []
    if random.integers(3) == 0:
        filters.append((SHUFFLE, ()))
    number = lambda low, high: int(random.integers(low, high))  # noqa: E731
    packers = [
        (1, (number(0, 10),)),
        (307, (number(1, 10),)),
        (32000, ()),
        (32001, (0, 0, 0, 0, number(0, 10), number(0, 3), int(random.choice([0, 1, 2, 4, 5])))),
        (32004, (int(random.choice([0, 16, 64, 1 << 16])),)),
        (32008, (int(random.choice([0, 8, 64])), int(random.choice([0, 2])))),
        (32008, (0, 3, number(1, 10))),
        (32015, (number(1, 20),)),
        (32026, (0, 0, 0, 0, number(0, 10), number(0, 4), int(random.choice([0, 1, 2, 4, 5])))),
    ]
    for _ in range(int(random.choice([0, 1, 1, 1, 2]))):
        packer = packers[number(0, len(packers))]
        # Filters with the element size in their parameters do not work twice in a pipeline.
        if packer[0] not in [code for code, _ in filters]:
            filters.append(packer)
    # Blosc 2 treats a partial element as corrupt data.
    if random.integers(3) == 0 and 32026 not in [code for code, _ in filters]:
        filters.insert(number(0, len(filters) + 1), (FLETCHER32, ()))
    if random.integers(8) == 0 and kind.kind in "iuf" and elements >= 32 and not h5py.check_enum_dtype(kind):
        plist.set_szip(int(random.choice([h5z.SZIP_EC_OPTION_MASK, h5z.SZIP_NN_OPTION_MASK])),
                       int(random.choice([4, 8, 16, 32])))
        filters = [f for f in filters if f[0] in (FLETCHER32,)]
        for code, values in filters:
            plist.set_filter(code, h5z.FLAG_MANDATORY, values)
        return len(filters) + 1
    for code, values in filters:
        if code == SHUFFLE and size > 1:
            plist.set_shuffle()
        else:
            plist.set_filter(code, h5z.FLAG_OPTIONAL if code != FLETCHER32 else h5z.FLAG_MANDATORY, values)
    return len(filters)


def external(f, folder, name, random):
    """Raw data in several files at offsets. Some files are too short or missing."""
    kind = fixed(random)
    shape = tuple(int(n) for n in random.integers(1, 8, int(random.integers(1, 4))))
    size = int(np.prod(shape)) * kind.itemsize
    raw = generate.values(kind, shape, random).tobytes()
    plist = h5p.create(h5p.DATASET_CREATE)
    at, index = 0, 0
    while at < size:
        length = min(int(random.integers(1, size + 1)), size - at)
        offset = int(random.choice([0, 0, 7]))
        file = f"{name}-{index}.raw"
        last = at + length == size
        plist.set_external(file.encode(), offset, h5py.h5f.UNLIMITED if last and random.integers(2) else length)
        # The library rejects a missing file, and reads zeros after the end of a file that is too short.
        keep = length if random.integers(4) else int(random.integers(0, length + 1))
        with open(os.path.join(folder, file), "wb") as out:
            out.write(b"\xee" * offset + raw[at:at + keep])
        at, index = at + length, index + 1
    create(f, name, kind, shape, None, plist, random)


def regular(shape, random):
    """A selection of regular blocks, and its shape."""
    space = h5s.create_simple(shape)
    start, count, stride, block = [], [], [], []
    for n in shape:
        start.append(int(random.integers(n)))
        room = n - start[-1]
        block.append(int(random.integers(1, min(room, 3) + 1)))
        stride.append(int(random.integers(block[-1], block[-1] + 3)))
        count.append(int(random.integers(1, (room - block[-1]) // stride[-1] + 2)))
    space.select_hyperslab(tuple(start), tuple(count), tuple(stride), tuple(block))
    return space, tuple(c * b for c, b in zip(count, block))


def selection(count, random):
    """A selection of `count` elements, in a dataspace of the minimum size or larger."""
    shape = []
    rest = count
    for factor in (2, 3, 5, 7):
        if rest % factor == 0 and random.integers(2):
            shape.append(factor)
            rest //= factor
    shape.append(rest)
    shape = [shape[i] for i in random.permutation(len(shape))]
    case = int(random.integers(4))
    if case == 0:
        return h5s.create_simple(tuple(shape)), tuple(shape)
    if case == 1:
        full = tuple(2 * n + 3 for n in shape)
        space = h5s.create_simple(full)
        space.select_hyperslab(tuple(int(random.integers(0, 3)) for _ in full), tuple(shape), (2,) * len(full))
        return space, full
    if case == 2:
        full = (count + 9,)
        space = h5s.create_simple(full)
        points = np.sort(random.permutation(full[0])[:count])
        space.select_none()
        for point in points:
            space.select_hyperslab((int(point),), (1,), op=h5s.SELECT_OR)
        return space, full
    full = tuple(n + 2 for n in shape)
    space = h5s.create_simple(full)
    space.select_hyperslab(tuple(int(random.integers(0, 3)) for _ in full), (1,) * len(full), None, tuple(shape))
    return space, full


NUMBERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]


def number_type(random):
    return np.dtype(str(random.choice(["<", ">"])) + str(random.choice(NUMBERS)))


def source(other, name, shape, random, kind):
    """A source dataset for virtual datasets."""
    options = {"chunks": tuple(int(random.integers(1, n + 1)) for n in shape)} if random.integers(2) else {}
    if options and random.integers(2):
        options["compression"] = "gzip"
    d = other.create_dataset(name, shape, kind, **options)
    if random.integers(5):
        floats = [-1e9, -200.5, -1.5, 0, 0.25, 3, 120, 254.9, 40000, 1e6] if kind.itemsize > 2 else [-200.5, -1.5, 0.25]
        d[...] = random.choice(floats, shape).astype(kind) if kind.kind == "f" else generate.values(kind, shape, random)
    return d


def virtual(f, other, folder, random):
    for index in range(int(random.integers(1, 5))):
        name = f"virtual{index}"
        plist = h5p.create(h5p.DATASET_CREATE)
        plist.set_layout(h5d.VIRTUAL)
        kind = number_type(random)
        if random.integers(2):
            plist.set_fill_value(np.array(int(random.integers(100)), kind))
        [mapped, printed, grown][int(random.choice([0, 0, 1, 2]))](f, other, folder, name, kind, plist, random)


def mapped(f, other, folder, name, kind, plist, random):
    shape = tuple(int(n) for n in random.integers(1, 12, int(random.integers(1, 4))))
    # If mappings overlap, the library leaves as many elements undefined as it counted twice.
    overlap = random.integers(3) == 0
    taken = np.zeros(shape, bool)
    for number in range(int(random.integers(1, 6))):
        here, selected = regular(shape, random)
        if overlap and number == 0:
            here, selected = h5s.create_simple(shape), shape
        mask = chosen(here, shape)
        if not overlap and (mask & taken).any():
            continue
        taken |= mask
        there, full = selection(int(np.prod(selected)), random)
        where = "." if random.integers(3) == 0 else "other.h5"
        target = f"{name}s{number}"
        if overlap or random.integers(6):
            source(f if where == "." else other, target, full, random, mapped_type(kind, random))
        plist.set_virtual(here, where.encode(), target.encode(), there)
    h5d.create(f.id, name.encode(), h5t.py_create(kind), h5s.create_simple(shape), plist)


def chosen(space, shape):
    """The elements in a regular selection, as a mask."""
    mask = np.zeros(shape, bool)
    if space.get_select_type() == h5s.SEL_ALL:
        return ~mask
    ranges = [np.concatenate([np.arange(block) + start + stride * i for i in range(count)])
              for start, stride, count, block in zip(*space.get_regular_hyperslab())]
    mask[np.ix_(*ranges)] = True
    return mask


def mapped_type(kind, random):
    """A source type whose elements the library converts as documented."""
    while True:
        own = number_type(random)
        # The library swaps integers of equal size, independent of their sign; half floats depend on the machine.
        swapped = {own.kind, kind.kind} == {"i", "u"} and own.itemsize == kind.itemsize
        if not swapped and not (own == np.float16 and kind.kind in "iu"):
            return own


def printed(f, other, folder, name, kind, plist, random):
    width = int(random.integers(1, 5))
    block = int(random.integers(1, 4))
    stride = block + int(random.integers(0, 3))
    start = int(random.integers(0, 3))
    here = h5s.create_simple((1, width), (UNLIMITED, width))
    here.select_hyperslab((start, 0), (UNLIMITED, 1), (stride, 1), (block, width))
    there, full = selection(block * width, random)
    in_files = bool(random.integers(2))
    for number in range(int(random.integers(0, 5))):
        if random.integers(8) == 0:
            continue
        if in_files:
            with h5py.File(os.path.join(folder, f"{name}-{number}.h5"), "w") as part:
                source(part, "x", full, random, mapped_type(kind, random))
        else:
            source(f, f"{name}n{number}", full, random, mapped_type(kind, random))
    file, dataset = (f"{name}-%b.h5", "/x") if in_files else (".", f"/{name}n%b")
    plist.set_virtual(here, file.encode(), dataset.encode(), there)
    space = h5s.create_simple((1, width), (UNLIMITED, width))
    h5d.create(f.id, name.encode(), h5t.py_create(kind), space, plist)


def grown(f, other, folder, name, kind, plist, random):
    """Virtual datasets whose extent follows their sources, each along its own dimension."""
    width, columns = int(random.integers(1, 4)), int(random.integers(0, 3))
    for number in range(int(random.integers(1, 3))):
        block = int(random.integers(1, 4))
        start, stride = int(random.integers(0, 3)), block + int(random.integers(0, 3))
        endless = block == stride
        here = h5s.create_simple((1, 20), (UNLIMITED, 20))
        here.select_hyperslab((start, 5 * number), (UNLIMITED, 1), (stride, 1), (block, width))
        if endless:
            here.select_hyperslab((start, 5 * number), (1, 1), None, (UNLIMITED, width))
        first_there = int(random.integers(0, 3))
        # The library rejects blocks that the source fills only partly.
        length = int(random.integers(0, 12)) if endless else first_there + block * int(random.integers(0, 4))
        swapped = bool(random.integers(2)) and width == 1
        full, maximum = (length, width + columns), (None, width + columns)
        if swapped:
            full, maximum = full[::-1], maximum[::-1]
        d = other.create_dataset(f"{name}s{number}", full, number_type(random), maxshape=maximum,
                                 chunks=(1, int(random.integers(1, 5))) if swapped else (int(random.integers(1, 5)), 1))
        if length:
            d[...] = random.integers(0, 100, full)
        most = tuple(UNLIMITED if n is None else n for n in maximum)
        there = h5s.create_simple(full, most)
        dimension = 1 if swapped else 0
        first, count, step, size = [0, 0], [1, 1], [1, 1], [width, width]
        first[dimension] = first_there
        if not endless or random.integers(2):
            size[dimension] = UNLIMITED
        else:
            step[dimension], size[dimension], count[dimension] = block + int(random.integers(1, 3)), block, UNLIMITED
        there.select_hyperslab(tuple(first), tuple(count), tuple(step), tuple(size))
        plist.set_virtual(here, b"other.h5", f"/{name}s{number}".encode(), there)
    space = h5s.create_simple((1, 20), (UNLIMITED, 20))
    h5d.create(f.id, name.encode(), h5t.py_create(kind), space, plist)
