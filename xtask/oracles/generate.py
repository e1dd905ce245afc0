"""HDF5 files made from a seed: any datatype h5py can write, in any layout this project reads."""

import h5py
import numpy as np
from h5py import h5s, h5t

SCALARS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]


def write(path, seed):
    random = np.random.default_rng(seed)
    libver = [("earliest", "latest"), "latest", "v108", "v110", ("earliest", "v108")][seed % 5]
    userblock = 512 if seed % 7 == 3 else 0
    with h5py.File(path, "w", libver=libver, userblock_size=userblock, track_order=bool(seed % 2)) as f:
        groups = [f]
        for index in range(int(random.integers(1, 5))):
            parent = groups[int(random.integers(len(groups)))]
            groups.append(parent.create_group(f"g{index}", track_order=bool(random.integers(2))))
        datasets = []
        for index in range(int(random.integers(3, 12))):
            group = groups[int(random.integers(len(groups)))]
            datasets.append(dataset(group, f"d{index}", random))
        for thing in groups + datasets:
            for index in range(int(random.choice([0, 0, 1, 3, 12]))):
                attribute(thing, f"a{index}", random)
        for index, group in enumerate(groups):
            if random.integers(2):
                group[f"soft{index}"] = h5py.SoftLink("/g0/d0")
            if random.integers(3) == 0:
                group[f"hard{index}"] = datasets[int(random.integers(len(datasets)))]
        refs = f.create_dataset("references", (len(datasets) + 1,), h5py.ref_dtype)
        for index, target in enumerate(datasets):
            refs[index] = target.ref


def dataset(group, name, random):
    kind = datatype(random, 2)
    rank = int(random.integers(0, 5))
    shape = tuple(int(n) for n in random.integers(0 if random.integers(8) == 0 else 1, 9, rank))
    options = {}
    if rank and 0 not in shape and random.integers(4):
        options["chunks"] = tuple(int(random.integers(1, n + 1)) for n in shape)
        options["maxshape"] = tuple([n, None, n + 5][int(random.integers(3))] for n in shape)
        options["chunks"] = tuple(min(c, m or c) for c, m in zip(options["chunks"], options["maxshape"]))
        if random.integers(2):
            options["compression"] = int(random.integers(0, 10))
        options["shuffle"] = bool(random.integers(2))
        # The library rejects checksums of elements that it stores elsewhere.
        options["fletcher32"] = bool(random.integers(2)) and not is_variable(kind)
    d = group.create_dataset(name, shape, kind, **options)
    if 0 in shape or random.integers(6) == 0:
        return d
    extent = tuple(int(random.integers(1, n + 1)) if random.integers(3) == 0 else n for n in shape)
    space = d.id.get_space()
    if rank:
        space.select_hyperslab((0,) * rank, extent)
    # h5py treats rows of variable length as another dimension when it assigns them.
    memory = h5s.create_simple(extent) if rank else space
    d.id.write(memory, space, values(kind, extent, random), mtype=h5t.py_create(kind))
    return d


def attribute(thing, name, random):
    if random.integers(10) == 0:
        thing.attrs[name] = h5py.Empty("f8")
        return
    kind = datatype(random, 1)
    # h5py does not write attributes of a bare array type.
    kind = kind.subdtype[0] if kind.subdtype else kind
    shape = tuple(int(n) for n in random.integers(1, 4, int(random.integers(0, 3))))
    thing.attrs.create(name, values(kind, shape, random), shape, kind)


def datatype(random, depth):
    case = int(random.integers(10 if depth else 6))
    if case < 3:
        return np.dtype(random.choice(["<", ">"]) + random.choice(SCALARS))
    if case == 3:
        return np.dtype(f"S{int(random.integers(1, 9))}")
    if case == 4:
        # h5py encodes members of compounds as ASCII, independent of their character set.
        return h5py.string_dtype(["ascii", "utf-8"][int(random.integers(2)) if depth else 0])
    if case == 5:
        return h5py.enum_dtype({f"m{i}": i * 3 - 2 for i in range(int(random.integers(1, 5)))}, "<i2")
    if case == 6:
        return h5py.vlen_dtype(np.dtype(random.choice(["<", ">"]) + random.choice(SCALARS)))
    if case == 7:
        return np.dtype(f"V{int(random.integers(1, 7))}")
    if case == 8:
        return np.dtype((np.dtype("<" + random.choice(SCALARS)), (2, 3)))
    fields = []
    for index in range(int(random.integers(1, 5))):
        member = datatype(random, 0)
        fields.append((f"f{index}", member))
    return np.dtype(fields, align=bool(random.integers(2)) and not any(map(is_variable, (t for _, t in fields))))


def is_variable(kind):
    if kind.names:
        return any(is_variable(kind[name]) for name in kind.names)
    return kind.kind == "O"


def values(kind, shape, random):
    count = int(np.prod(shape))
    if kind.subdtype:
        base, inner = kind.subdtype
        return values(base, shape + inner, random)
    out = np.empty(count, kind)
    for index in range(count):
        out[index] = value(kind, random)
    return out.reshape(shape)


def value(kind, random):
    if kind.names:
        return tuple(value(kind[name], random) for name in kind.names)
    if h5py.check_string_dtype(kind) and kind.kind == "O":
        letters = "abc xyz" if h5py.check_string_dtype(kind).encoding == "ascii" else "aåß 深"
        return "".join(random.choice(list(letters), int(random.integers(0, 7))))
    if h5py.check_vlen_dtype(kind):
        base = h5py.check_vlen_dtype(kind)
        return np.array([value(base, random) for _ in range(int(random.integers(0, 5)))], base)
    if h5py.check_enum_dtype(kind):
        return random.choice(list(h5py.check_enum_dtype(kind).values()))
    if kind.kind == "S":
        return bytes(random.choice(list(b"abc "), int(random.integers(0, kind.itemsize + 1))).astype("u1"))
    raw = random.bytes(kind.itemsize)
    return np.void(raw) if kind.kind == "V" else np.frombuffer(raw, kind)[0]
