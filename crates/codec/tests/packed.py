"""Makes packed.txt: chunks that libhdf5 stores through szip, nbit, scaleoffset and zfp.

A line is "codec with its parameters; raw bytes; stored bytes". Runs of one byte in raw bytes are "count*byte".
Needs h5py with szip, hdf5plugin and numpy.
"""

import h5py
import hdf5plugin
import numpy as np
from h5py import h5d, h5f, h5p, h5s, h5t, h5z

SZIP_EC, SZIP_NN = 4, 32


def chunk(dtype, dims, data, setup):
    """The client data, raw and stored bytes of one chunk, and whether it was filtered at all."""
    plist = h5p.create(h5p.FILE_ACCESS)
    plist.set_fapl_core(1 << 16, False)
    file = h5f.create(b"none", fapl=plist)
    create = h5p.create(h5p.DATASET_CREATE)
    create.set_chunk(dims)
    setup(create)
    dataset = h5d.create(file, b"x", dtype, h5s.create_simple(dims), create)
    buffer = np.frombuffer(data, "u1").copy()
    dataset.write(h5s.ALL, h5s.ALL, buffer, dtype)
    mask, stored = dataset.read_direct_chunk((0,) * len(dims))
    dataset.flush()
    back = np.full(len(data), 0xEE, "u1")
    dataset.read(h5s.ALL, h5s.ALL, back, dtype)
    client = dataset.get_create_plist().get_filter(0)[2]
    return client, back.tobytes(), stored, mask == 0


def emit(lines, codec, raw, stored):
    pieces, at = [], 0
    while at < len(raw):
        end = at
        while end < len(raw) and raw[end] == raw[at]:
            end += 1
        if end - at >= 16:
            pieces.append(f"{end - at}*{raw[at]:02x}")
        elif pieces and "*" not in pieces[-1]:
            pieces[-1] += raw[at:end].hex()
        else:
            pieces.append(raw[at:end].hex())
        at = end
    lines.append(f"{codec}; {' '.join(pieces)}; {stored.hex()}")


def shapes(dtype, count, rng):
    """Values that each option of a coder is best for."""
    info = np.iinfo(dtype) if dtype.kind in "iu" else None
    if info is None:
        smooth = np.sin(np.arange(count) / 20).astype(dtype)
        return [smooth, rng.normal(0, 1e3, count).astype(dtype), np.full(count, 2.5, dtype)]
    steps = np.cumsum(rng.integers(-1, 2, count))
    span = int(info.max) - int(info.min)
    ramp = int(info.min) + (np.arange(count, dtype="O") * (span // count))
    noise = np.frombuffer(rng.bytes(count * dtype.itemsize), dtype)
    mixed = np.where(np.arange(count) % 97 < 60, 0, rng.integers(0, 50, count))
    return [steps.astype(dtype), ramp.astype(dtype), noise, mixed.astype(dtype), np.zeros(count, dtype)]


def szip(lines, rng):
    kinds = ["u1", "<i2", ">u2", "<i4", ">i4", "<f4", "<u8", ">f8"]
    grids = [((192,), 8), ((5, 37), 16), ((100,), 32), ((3, 40), 2), ((700,), 4)]
    for number, kind in enumerate(kinds):
        dtype = np.dtype(kind)
        for place, (dims, block) in enumerate(grids):
            count = int(np.prod(dims))
            values = shapes(dtype, count, rng)
            for option in (SZIP_NN, SZIP_EC):
                data = values[(number + place + option // SZIP_NN) % len(values)]
                packed(lines, dtype, dims, data, lambda p: p.set_szip(option, block))
    # Long runs over segments of 64 blocks, and pixels of fewer bits than their bytes.
    for option in (SZIP_NN, SZIP_EC):
        data = np.zeros(8 * 200, "u1")
        data[8 * 70 : 8 * 71] = 9
        packed(lines, data.dtype, (1600,), data, lambda p: p.set_szip(option, 8))
        for bits, size in [(1, 1), (7, 1), (9, 2), (12, 2), (15, 2), (17, 4), (20, 4), (24, 4)]:
            for order in "<>":
                dtype = h5t.py_create(np.dtype(f"{order}u{size}")).copy()
                dtype.set_precision(bits)
                values = np.cumsum(rng.integers(-3, 4, 120)) & ((1 << bits) - 1)
                values[30:60] = rng.integers(0, 1 << bits, 30)
                data = values.astype(f"{order}u{size}")
                packed(lines, dtype, (120,), data, lambda p: p.set_szip(option, 16))


def packed(lines, dtype, dims, data, setup):
    if isinstance(dtype, np.dtype):
        dtype = h5t.py_create(dtype)
    raw = data.tobytes()
    client, back, stored, filtered = chunk(dtype, dims, raw, setup)
    if not filtered:
        return
    assert back == raw
    mask, block, bits, line = client
    codec = f"szip {bits} {block} {line} {'nn' if mask & SZIP_NN else 'ec'} {'msb' if mask & 16 else 'lsb'}"
    emit(lines, codec, raw, stored)


def nbit_program(client):
    """The type tree as words."""
    words = iter(client[3:])

    def tree():
        kind = next(words)
        size = next(words)
        if kind == 1:
            order, precision, offset = next(words), next(words), next(words)
            return f"atomic {size} {'be' if order else 'le'} {precision} {offset}"
        if kind == 2:
            return f"array {size} {tree()}"
        if kind == 3:
            count = next(words)
            return f"compound {size} {count} " + " ".join(f"{next(words)} {tree()}" for _ in range(count))
        return f"bytes {size}"

    return f"nbit {client[2]} {tree()}"


def integer(size, order, precision, offset, signed=False):
    dtype = h5t.py_create(np.dtype(f"{order}{'i' if signed else 'u'}{size}")).copy()
    dtype.set_precision(precision)
    dtype.set_offset(offset)
    return dtype


def float20(order):
    """The 20-bit float of HDF5's documentation, in four bytes."""
    dtype = (h5t.IEEE_F32LE if order == "<" else h5t.IEEE_F32BE).copy()
    dtype.set_fields(26, 20, 6, 7, 13)
    dtype.set_offset(7)
    dtype.set_precision(20)
    dtype.set_ebias(31)
    return dtype


def compound(size, *members):
    dtype = h5t.create(h5t.COMPOUND, size)
    for number, (offset, member) in enumerate(members):
        dtype.insert(b"m%d" % number, offset, member)
    return dtype


def nbit(lines, rng):
    types = []
    for order in "<>":
        for size, precision, offset in [
            (1, 1, 7), (1, 5, 0), (1, 3, 2), (2, 9, 5), (2, 10, 0), (2, 3, 6), (4, 17, 3), (4, 16, 8), (4, 31, 1),
            (4, 4, 14), (8, 33, 20), (8, 57, 3), (8, 63, 0), (8, 1, 33), (8, 40, 24),
        ]:
            types.append(integer(size, order, precision, offset, signed=precision % 2 == 0))
        types.append(float20(order))
        inner = integer(4, order, 17, 3)
        types.append(h5t.array_create(inner, (2, 3)))
        types.append(h5t.array_create(h5t.array_create(integer(2, order, 11, 1), (2,)), (3,)))
        mixed = compound(24, (1, integer(1, "<", 3, 2)), (4, inner), (8, float20(order)), (14, h5t.C_S1.copy()),
                         (16, integer(8, order, 50, 9)))
        types += [mixed, h5t.array_create(mixed, (2,))]
        types.append(compound(40, (0, h5t.array_create(inner, (3,))), (12, mixed), (37, h5t.STD_B8LE)))
        text = h5t.C_S1.copy()
        text.set_size(3)
        types.append(compound(12, (0, h5t.array_create(text, (2,))), (6, integer(2, order, 12, 4)), (9, text)))
        odd = h5t.py_create(np.dtype(f"{order}u4")).copy()
        odd.set_size(3)
        odd.set_precision(19)
        odd.set_offset(2)
        types.append(odd)
    for dtype in types:
        for count in (1, 9):
            data = rng.bytes(dtype.get_size() * count)
            client, back, stored, filtered = chunk(dtype, (count,), data, lambda p: p.set_filter(h5z.FILTER_NBIT, 1))
            assert filtered and client[1] == 0
            emit(lines, nbit_program(client), back, stored)


def scaleoffset(lines, rng):
    def add(dtype, values, scale, factor, fill):
        def setup(create):
            if fill is None:
                create.set_fill_time(h5d.FILL_TIME_NEVER)
                undefined(create)
            else:
                create.set_fill_value(np.array(fill, dtype))
            create.set_filter(h5z.FILTER_SCALEOFFSET, h5z.FLAG_OPTIONAL, (scale, factor & 0xFFFFFFFF))

        data = values.astype(dtype).tobytes()
        client, back, stored, filtered = chunk(h5t.py_create(dtype), (len(values),), data, setup)
        assert filtered
        kind = {0: "float", 2: "int"}[client[0]]
        factor_read = client[1] - (1 << 32) if client[1] >> 31 else client[1]
        sign = "signed" if client[5] else "unsigned"
        value = "none"
        if client[7]:
            value = f"{client[8] | client[9] << 32:x}"
        order = "be" if client[6] else "le"
        emit(lines, f"scaleoffset {client[2]} {kind} {client[4]} {sign} {factor_read} {order} {value}", back, stored)

    for kind in ["u1", "i1", "<u2", ">i2", "<i4", ">u4", "<u8", ">i8", "<i8"]:
        dtype = np.dtype(kind)
        info = np.iinfo(dtype)
        low = int(info.min) + 3
        base = -5 if dtype.kind == "i" else 7
        sets = [
            np.array([base, base + 1, base + 90, base + 3], "O"),
            np.full(5, base, "O"),
            np.array([low, low + 1, low + 2, low, low + 6], "O"),
            np.array([low, int(info.max) - 3, low], "O"),
        ]
        for values in sets:
            add(dtype, values, h5z.SO_INT, 0, 0)
            add(dtype, values, h5z.SO_INT, 0, int(values[0]))
            if dtype.itemsize > 1:
                add(dtype, values, h5z.SO_INT, 9, int(values[1]))
            if dtype.itemsize > 1 or values[1] < 100:
                add(dtype, values, h5z.SO_INT, 0, None)
    for kind in ["<f4", ">f4", "<f8", ">f8"]:
        dtype = np.dtype(kind)
        sets = [
            np.array([1.5, -2.25, 3.125, 100.0625, 0]),
            np.array([-273.15, 288.7, 301.4049, 273.15]),
            np.full(4, 6.75),
            np.array([1e6, 3e6, -2e6]),
        ]
        for values in sets:
            for digits in (0, 2, 4, -3):
                add(dtype, values, h5z.SO_FLOAT_DSCALE, digits, 0)
                add(dtype, values, h5z.SO_FLOAT_DSCALE, digits, float(values[0]))
                add(dtype, values, h5z.SO_FLOAT_DSCALE, digits, None)
        add(dtype, np.array([1e30, -1e30, 5.0]), h5z.SO_FLOAT_DSCALE, 3, None)


def undefined(create):
    """Leaves the fill value undefined, which h5py has no call for."""
    import ctypes
    import glob
    import os

    folder = os.path.join(os.path.dirname(h5py.__file__), "..", "h5py.libs")
    library = ctypes.CDLL(glob.glob(os.path.join(folder, "libhdf5-*"))[0])
    library.H5Pset_fill_value.argtypes = [ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p]
    assert library.H5Pset_fill_value(create.id, h5t.STD_I32LE.id, None) >= 0


def zfp(lines, rng):
    settings = [
        dict(rate=8), dict(rate=13.5), dict(precision=12), dict(accuracy=0.01), dict(reversible=True),
        dict(minbits=1, maxbits=16657, maxprec=20, minexp=-1074),
    ]
    for number, kind in enumerate(["<f4", "<f8", "<i4", "<i8"]):
        dtype = np.dtype(kind)
        for place, dims in enumerate([(30,), (6, 9), (5, 4, 7), (3, 4, 5, 2), (1, 10, 1, 6)]):
            count = int(np.prod(dims))
            wave = np.sin(np.arange(count) / 9) * 100 + rng.normal(0, 0.1, count)
            values = wave.astype(dtype) if dtype.kind == "f" else (wave * 1e5).astype(dtype)
            for setting in settings[(number + place) % 2 :: 2]:
                filter = hdf5plugin.Zfp(**setting)

                def setup(create):
                    create.set_filter(32013, 0, filter.filter_options)

                client, back, stored, filtered = chunk(h5t.py_create(dtype), dims, values.tobytes(), setup)
                assert filtered
                words = " ".join(f"{word:08x}" for word in client)
                emit(lines, f"zfp {'same' if values.tobytes() == back else 'near'} {words}", back, stored)


def main():
    rng = np.random.default_rng(11)
    lines = []
    for make in (szip, nbit, scaleoffset, zfp):
        make(lines, rng)
    with open(__file__.replace(".py", ".txt"), "w") as file:
        file.write("\n".join(lines) + "\n")


main()
