"""Compares `hyperslab digest` with digests that this script computes with h5py.

    content.py HYPERSLAB DIRECTORY [FIRST LAST]

The files are those of DIRECTORY and others generated from fixed seeds; with FIRST and LAST, only those that
`layouts.py` generates from these seeds.
"""

import json
import os
import struct
import subprocess
import sys
import tempfile

# The library reads this when it starts: external raw data is beside the file, not in the working folder.
os.environ["HDF5_EXTFILE_PREFIX"] = "${ORIGIN}"

import h5py
import numpy as np
from h5py import h5a, h5d, h5g, h5o, h5r, h5s, h5t

import generate
import hashed
import layouts
from tally import Tally

BOOKKEEPING = {b"DIMENSION_LIST", b"REFERENCE_LIST", b"DIMENSION_LABELS", b"_Netcdf4Dimid", b"_Netcdf4Coordinates",
               b"_nc3_strict", b"_NCProperties"}
SCALE_BOOKKEEPING = {b"CLASS", b"NAME"}
NO_VARIABLE = b"This is a netCDF dimension but not a netCDF variable"
NULL = b"\xff" * 8
SEEDS = 60
NAMED_FLOATS = {
    (16, 15, 10, 5, 0, 10, 15): "float16",
    (32, 31, 23, 8, 0, 23, 127): "float32",
    (64, 63, 52, 11, 0, 52, 1023): "float64",
    (128, 127, 112, 15, 0, 112, 16383): "float128",
    (16, 15, 7, 8, 0, 7, 127): "bfloat16",
}


class Kind:
    """A datatype: its canonical text, and the canonical bytes of its elements."""

    def __init__(self, file, t):
        self.file, self.t, self.size, self.cls = file, t, t.get_size(), t.get_class()
        self.variable = False
        self.big = False
        if self.cls == h5t.TIME:
            self.big = t.equal(h5t.UNIX_D32BE) or t.equal(h5t.UNIX_D64BE)
        elif self.cls in (h5t.INTEGER, h5t.FLOAT, h5t.BITFIELD):
            self.big = t.get_order() == h5t.ORDER_BE
        bits = 8 * self.size
        if self.cls == h5t.INTEGER:
            self.text = ("int" if t.get_sign() == h5t.SGN_2 else "uint") + str(bits)
        elif self.cls == h5t.FLOAT:
            sign, exponent, exponent_bits, mantissa, mantissa_bits = t.get_fields()
            key = (bits, sign, exponent, exponent_bits, mantissa, mantissa_bits, t.get_ebias())
            self.text = NAMED_FLOATS.get(key) or "float(" + ";".join(map(str, key)) + ")"
        elif self.cls == h5t.STRING:
            self.text, self.variable, self.pad = "string", t.is_variable_str(), t.get_strpad()
        elif self.cls == h5t.BITFIELD:
            self.text = f"bitfield({bits})"
        elif self.cls == h5t.TIME:
            self.text = f"time({bits})"
        elif self.cls == h5t.OPAQUE:
            self.text = f"opaque({self.size})"
        elif self.cls == h5t.REFERENCE:
            self.text, self.variable = ("objref" if t.equal(h5t.STD_REF_OBJ) else "regref"), True
        elif self.cls == h5t.ENUM:
            self.base = Kind(file, t.get_super())
            members = [(t.get_member_value(i), t.get_member_name(i)) for i in range(t.get_nmembers())]
            self.text = f"enum({self.base.text};" + ";".join(f"{n.decode()}={v}" for v, n in sorted(members)) + ")"
        elif self.cls == h5t.COMPOUND:
            self.members = [(t.get_member_name(i), t.get_member_offset(i), Kind(file, t.get_member_type(i)))
                            for i in range(t.get_nmembers())]
            self.variable = any(kind.variable for _, _, kind in self.members)
            self.text = "compound(" + ";".join(f"{n.decode()}:{k.text}" for n, _, k in self.members) + ")"
        elif self.cls == h5t.ARRAY:
            self.base, self.dims = Kind(file, t.get_super()), t.get_array_dims()
            self.variable = self.base.variable
            self.text = f"array({self.base.text};{','.join(map(str, self.dims))})"
        elif self.cls == h5t.VLEN:
            self.base, self.variable = Kind(file, t.get_super()), True
            self.text = f"vlen({self.base.text})"
        elif self.cls == h5t.COMPLEX:
            self.base = Kind(file, t.get_super())
            short = {"float32": "complex64", "float64": "complex128"}
            self.text = short.get(self.base.text) or f"complex({self.base.text})"
        else:
            raise NotImplementedError(f"datatype class {self.cls}")

    def of_bytes(self, raw):
        """The hashed bytes of a fixed-size element, from its bytes in the file."""
        if self.cls == h5t.COMPOUND:
            return b"".join(kind.of_bytes(raw[at:at + kind.size]) for _, at, kind in self.members)
        if self.cls in (h5t.ARRAY, h5t.COMPLEX):
            step = self.base.size
            return b"".join(self.base.of_bytes(raw[at:at + step]) for at in range(0, self.size, step))
        if self.cls == h5t.ENUM:
            return self.base.of_bytes(raw)
        if self.cls == h5t.STRING:
            if self.pad == h5t.STR_NULLTERM:
                raw = raw.split(b"\0")[0]
            else:
                raw = raw.rstrip(b"\0" if self.pad == h5t.STR_NULLPAD else b" ")
            return hashed.string(raw)
        if self.cls == h5t.OPAQUE:
            return raw
        if self.big:
            raw = raw[::-1]
        if self.cls == h5t.INTEGER and self.t.get_precision() != 8 * self.size:
            precision, signed = self.t.get_precision(), self.t.get_sign() == h5t.SGN_2
            value = int.from_bytes(raw, "little") >> self.t.get_offset() & (1 << precision) - 1
            if signed and value >> (precision - 1):
                value -= 1 << precision
            return value.to_bytes(self.size, "little", signed=signed)
        return raw

    def of_value(self, value):
        """The hashed bytes of an element, from its value in h5py."""
        if self.cls == h5t.STRING and self.t.is_variable_str():
            value = value.encode("utf-8", "surrogateescape") if isinstance(value, str) else bytes(value or b"")
            return hashed.string(value)
        if self.cls == h5t.VLEN:
            if self.base.big:
                raise NotImplementedError("h5py forgets the byte order of rows of variable length")
            items = [] if value is None else list(value)
            return struct.pack("<Q", len(items)) + b"".join(map(self.base.of_value, items))
        if self.cls == h5t.COMPOUND and self.variable:
            return b"".join(kind.of_value(value[name.decode()]) for name, _, kind in self.members)
        if self.cls == h5t.ARRAY and self.variable:
            flat = np.empty(int(np.prod(self.dims)), object)
            flat[:] = list(np.asarray(value, object).reshape(-1)[:len(flat)])
            return b"".join(map(self.base.of_value, flat))
        if self.cls == h5t.REFERENCE:
            return self.of_reference(value)
        if self.cls == h5t.STRING:
            return self.of_bytes(bytes(value).ljust(self.size, b"\0"))
        value = np.asarray(value)
        if value.dtype.kind in "iuf" and self.cls in (h5t.INTEGER, h5t.FLOAT, h5t.ENUM):
            return value.astype(value.dtype.newbyteorder("<")).tobytes()
        return self.of_bytes(value.tobytes())

    def of_reference(self, value):
        path = self.file.path_of(value) if value else None
        if path is None:
            return NULL + (struct.pack("<BQQ", 0, 0, 0) if self.text == "regref" else b"")
        found = hashed.string(path)
        if self.text == "objref":
            return found
        space = h5r.get_region(value, self.file.id)
        rank, how = space.get_simple_extent_ndims(), space.get_select_type()
        if how == h5s.SEL_ALL:
            return found + struct.pack("<BQQ", 3, rank, 0)
        if how == h5s.SEL_NONE:
            return found + struct.pack("<BQQ", 0, rank, 0)
        points = how == h5s.SEL_POINTS
        list_of = space.get_select_elem_pointlist() if points else space.get_select_hyper_blocklist()
        return found + struct.pack("<BQQ", 1 if points else 2, rank, len(list_of)) + np.asarray(list_of, "<u8").tobytes()


class File:
    def __init__(self, path):
        self.h5 = h5py.File(path, "r")
        self.id = self.h5.id
        self.first = {}
        self.lines = {}

    def path_of(self, reference):
        target = h5r.dereference(reference, self.id)
        return self.first.get(h5o.get_info(target).addr) if target else None

    def digests(self):
        found = []
        level = [(b"/", h5o.open(self.id, b"/"))]
        while level:
            below = []
            for path, obj in sorted(level, key=lambda pair: pair[0]):
                address = h5o.get_info(obj).addr
                if address in self.first:
                    continue
                self.first[address] = path
                found.append((path, obj))
                if isinstance(obj, h5g.GroupID):
                    below += self.members(path, obj)
            level = below
        for path, obj in found:
            self.describe(path, obj)
        return self.lines

    def members(self, path, group):
        for name in group:
            where = path.rstrip(b"/") + b"/" + name
            info = group.links.get_info(name)
            if info.type == 0:
                yield where, h5o.open(group, name)
            else:
                if info.type == 1:
                    target = group.links.get_val(name).decode()
                elif info.type == 64:
                    target = ":".join(part.decode() for part in group.links.get_val(name))
                else:
                    target = f"user({info.type})"
                self.lines[where.decode()] = {"kind": "link", "target": target}

    def describe(self, path, obj):
        names = [h5a.open(obj, index=i).name for i in range(h5a.get_num_attrs(obj))]
        folded = BOOKKEEPING
        if isinstance(obj, h5d.DatasetID):
            is_scale = h5py.h5ds.is_scale(obj)
            if is_scale:
                folded = BOOKKEEPING | SCALE_BOOKKEEPING
            if not (is_scale and (h5py.h5ds.get_scale_name(obj) or b"").startswith(NO_VARIABLE)):
                self.lines[path.decode()] = {"kind": "array"} | self.digest(obj, obj.get_type(), False)
        elif isinstance(obj, h5g.GroupID):
            self.lines[path.decode()] = {"kind": "group"}
        else:
            self.lines[path.decode()] = {"kind": "datatype"}
        for name in names:
            if name not in folded:
                attribute = h5a.open(obj, name)
                line = self.digest(attribute, attribute.get_type(), True)
                self.lines[f"{path.decode()}@{name.decode()}"] = {"kind": "attribute"} | line

    def digest(self, source, t, is_attribute):
        kind = Kind(self, t)
        space = source.get_space()
        if space.get_simple_extent_type() == h5s.NULL:
            shape, data = None, b""
        else:
            shape = list(space.shape)
            count = int(np.prod(shape, dtype=object))
            if is_attribute and shape == [1]:
                shape = []
            try:
                data = self.elements(source, kind, count, is_attribute)
            except NotImplementedError:
                return {"type": kind.text, "shape": shape}
        return {"type": kind.text, "shape": shape, "digest": hashed.digest(kind.text, shape, [data])}

    def elements(self, source, kind, count, is_attribute):
        if count == 0:
            return b""
        if not kind.variable:
            raw = np.zeros(count * kind.size, "u1")
            if is_attribute:
                source.read(raw, mtype=kind.t)
            else:
                source.read(h5s.ALL, h5s.ALL, raw, mtype=kind.t)
            raw = raw.tobytes()
            return b"".join(kind.of_bytes(raw[at:at + kind.size]) for at in range(0, len(raw), kind.size))
        if kind.cls == h5t.VLEN and kind.base.cls == h5t.VLEN or kind.cls == h5t.ARRAY:
            raise NotImplementedError("h5py reads no nested variable length")
        if is_attribute:
            values = np.empty(source.shape, source.dtype)
            source.read(values)
        else:
            values = np.empty(source.shape, source.dtype)
            source.read(h5s.ALL, h5s.ALL, values)
        return b"".join(map(kind.of_value, values.reshape(-1)))


def expected(path):
    """The expected lines of the output, by path."""
    return File(path).digests()


def printed(hyperslab, path):
    done = subprocess.run([hyperslab, "digest", "--json", path], capture_output=True, timeout=120)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return {line.pop("path"): line for line in lines}, done


def compare(tally, hyperslab, path):
    wanted = expected(path)
    got, done = printed(hyperslab, path)
    reasons = []
    for where in sorted(wanted.keys() | got.keys()):
        want, have = wanted.get(where), got.get(where)
        if want is not None and have is not None:
            have = {key: have.get(key) for key in want}
        if want != have:
            reasons.append(f"{where}: h5py {want}, hyperslab {got.get(where)}")
    if done.returncode != 0:
        reasons.append(f"exit code {done.returncode}: {done.stderr.decode(errors='replace').strip()[:300]}")
    tally.check(not reasons, f"{os.path.basename(path)}: {len(wanted)} digests as h5py reads them", reasons)


def compare_layouts(tally, hyperslab, seeds):
    for seed in seeds:
        with tempfile.TemporaryDirectory() as folder:
            layouts.write(folder, seed)
            path = os.path.join(folder, f"layouts{seed}.h5")
            os.rename(os.path.join(folder, "main.h5"), path)
            compare(tally, hyperslab, path)


def main():
    hyperslab, directory, *seeds = sys.argv[1:]
    tally = Tally()
    if seeds:
        compare_layouts(tally, hyperslab, range(int(seeds[0]), int(seeds[1]) + 1))
        tally.close()
        return
    for name in sorted(os.listdir(directory)):
        path = os.path.join(directory, name)
        if h5py.is_hdf5(path):
            compare(tally, hyperslab, path)
    with tempfile.TemporaryDirectory() as scratch:
        for seed in range(60):
            path = os.path.join(scratch, f"seed{seed}.h5")
            generate.write(path, seed)
            compare(tally, hyperslab, path)
    compare_layouts(tally, hyperslab, range(SEEDS))
    tally.close()


if __name__ == "__main__":
    main()
