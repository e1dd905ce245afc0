#!/usr/bin/env python3
"""Writes datatype_bounds.txt and dataset_messages.txt: messages that HDF5 wrote between bounds of library versions.

datatype_bounds.txt has lines NAME BOUND BYTES of committed datatypes, `refused` where the library refuses them.
dataset_messages.txt has lines NAME BOUND LAYOUT CHUNK KEY=BYTES... of datasets: their datatype, fill value and filter
pipeline. Run it in this folder with a Python that has h5py 3.16 over HDF5 2.0.
"""

import ctypes

import h5py
import numpy as np
from h5py import h5d, h5f, h5o, h5p, h5s, h5t, h5z
from make_messages import HERE, File, all_names, call, commit, length_of

LATEST = {
    "earliest": h5f.LIBVER_LATEST,
    "v1.8": h5f.LIBVER_V18,
    "v1.10": h5f.LIBVER_V110,
    "v1.12": h5f.LIBVER_V112,
    "v1.14": h5f.LIBVER_V114,
    "v2.0": h5f.LIBVER_LATEST,
}


class Bounded(File):
    """A file between a bound as low and as high bound; for `earliest` the high one is the latest."""

    def __init__(self, make, bound):
        low = h5f.LIBVER_EARLIEST if bound == "earliest" else LATEST[bound]
        access = h5p.create(h5p.FILE_ACCESS)
        access.set_libver_bounds(low, LATEST[bound])
        access.set_fapl_core(1 << 16, False)
        fid = h5f.create(b"bounded", h5f.ACC_TRUNC, fapl=access)
        self.offsets = self.lengths = 8
        with h5py.File(fid) as f:
            self.addresses = {}
            make(f)
            f.flush()
            for name in all_names(f):
                self.addresses[name] = h5o.get_info(h5o.open(f.id, name.encode())).addr
            self.bytes = fid.get_file_image()


def compound(*members, gap=0):
    """A compound of members with a gap before each and behind the last."""
    size = sum(member.get_size() + gap for _, member in members) + gap
    made, at = h5t.create(h5t.COMPOUND, size), gap
    for name, member in members:
        made.insert(name.encode(), at, member)
        at += member.get_size() + gap
    return made


def of(dtype):
    return h5t.py_create(np.dtype(dtype), logical=True)


def integer(base, precision, offset, size=None):
    made = base.copy()
    if size:
        made.set_size(size)
    made.set_precision(precision)
    made.set_offset(offset)
    return made


def floating(size, fields, bias):
    """A number of other fields: sign, exponent and mantissa, each place and size."""
    made = h5t.IEEE_F64LE.copy()
    made.set_fields(*fields)
    made.set_precision(fields[0] + 1)
    made.set_size(size)
    made.set_ebias(bias)
    return made


def text(size, padding, charset):
    made = h5t.C_S1.copy()
    made.set_size(size)
    made.set_strpad(padding)
    made.set_cset(charset)
    return made


def opaque(size, tag):
    made = h5t.create(h5t.OPAQUE, size)
    made.set_tag(tag)
    return made


def types():
    inner = of([("x", "<u2"), ("y", h5py.string_dtype())])
    colours = of(h5py.enum_dtype({"red": -2, "green": 1, "a colour of long name": 300}, basetype=">i2"))
    pair = h5t.array_create(h5t.STD_I16LE, (3, 2))
    double = h5t.COMPLEX_IEEE_F64LE
    variable = text(h5t.VARIABLE, h5t.STR_SPACEPAD, h5t.CSET_ASCII)
    return {
        "int8": h5t.STD_I8LE,
        "int32": h5t.STD_I32LE,
        "uint64_big": h5t.STD_U64BE,
        "int24": integer(h5t.STD_I32LE, 24, 0, 3),
        "int_12_at_5": integer(h5t.STD_U32LE, 12, 5),
        "int_12_at_5_big": integer(h5t.STD_I32BE, 12, 5),
        "half": h5t.IEEE_F16LE,
        "single": h5t.IEEE_F32LE,
        "double_big": h5t.IEEE_F64BE,
        "bfloat16": floating(2, (15, 7, 8, 0, 7), 127),
        "e5m2": floating(1, (7, 2, 5, 0, 2), 15),
        "x87": h5t.NATIVE_LDOUBLE,
        "vax": "H5T_VAX_F64",
        "time": "H5T_UNIX_D32LE",
        "time_big": "H5T_UNIX_D64BE",
        "text": text(7, h5t.STR_NULLPAD, h5t.CSET_ASCII),
        "text_spaces": text(3, h5t.STR_SPACEPAD, h5t.CSET_UTF8),
        "text_variable": of(h5py.string_dtype()),
        "text_variable_spaces": variable,
        "bits": h5t.STD_B16LE,
        "bits_big": h5t.STD_B64BE,
        "opaque": opaque(6, b"some bytes"),
        "opaque_untagged": opaque(3, b""),
        "object": h5t.STD_REF_OBJ,
        "region": h5t.STD_REF_DSETREG,
        "reference": "H5T_STD_REF",
        "boolean": of("?"),
        "enumeration": colours,
        "compound": inner,
        "compound_gaps": compound(("a", h5t.STD_I8LE), ("b", variable), ("c", inner), gap=3),
        "compound_wide": compound(("a", opaque(300, b"")), ("b", h5t.STD_I8LE)),
        "sequence": h5t.vlen_create(h5t.IEEE_F32BE),
        "sequence_of_compounds": h5t.vlen_create(inner),
        "sequence_of_arrays": h5t.vlen_create(pair),
        "array": pair,
        "array_of_compounds": h5t.array_create(inner, (2,)),
        "array_of_sequences": h5t.array_create(h5t.vlen_create(h5t.STD_I16LE), (2,)),
        "array_first": compound(("a", pair), ("c", inner), ("e", colours)),
        "array_last": compound(("c", inner), ("e", colours), ("a", pair)),
        "complex": double,
        "complex_big": h5t.COMPLEX_IEEE_F32BE,
        "complex_first": compound(("z", double), ("e", colours), ("i", h5t.STD_I16LE)),
        "complex_last": compound(("e", colours), ("s", h5t.vlen_create(pair)), ("z", double)),
        "sequence_of_complex": h5t.vlen_create(double),
        "array_of_complex": h5t.array_create(double, (2,)),
    }


def datatypes():
    lines = []
    for name, made in types().items():
        for bound in LATEST:
            try:
                body = Bounded(commit(made), bound).body("/type", 3)
                lines.append(f"{name} {bound} {body[: length_of(body)].hex()}")
            except (AssertionError, KeyError):
                lines.append(f"{name} {bound} refused")
    (HERE / "datatype_bounds.txt").write_text("\n".join(lines) + "\n")


COMPACT, CONTIGUOUS = h5d.COMPACT, h5d.CONTIGUOUS


def datasets():
    """Name, datatype, chunk or layout, and calls on the creation properties."""
    i32, f64 = h5t.STD_I32LE, h5t.IEEE_F64LE
    part, part_big = integer(i32, 12, 4), integer(h5t.STD_I32BE, 12, 4)
    mixed = compound(("a", part), ("s", text(5, h5t.STR_NULLPAD, h5t.CSET_ASCII)), ("f", f64), gap=2)
    nn, ec = h5z.SZIP_NN_OPTION_MASK, h5z.SZIP_EC_OPTION_MASK
    small, big, enumeration = (2, 3), (64, 100), of(h5py.enum_dtype({"a": 1}))

    def value(number, dtype):
        return ("set_fill_value", np.array(number, dtype))

    def scaled(kind, factor):
        return ("H5Pset_scaleoffset", kind, factor)

    return [
        ("contiguous", i32, CONTIGUOUS, []),
        ("compact", i32, COMPACT, []),
        ("chunked", i32, small, []),
        ("value", i32, CONTIGUOUS, [value(7, "<i4")]),
        ("value_chunked", f64, small, [value(1.5, "<f8")]),
        ("undefined", i32, CONTIGUOUS, [("H5Pset_fill_value", ctypes.c_int64(i32.id), None)]),
        ("never", i32, CONTIGUOUS, [("set_fill_time", h5d.FILL_TIME_NEVER)]),
        ("early", i32, small, [("set_alloc_time", h5d.ALLOC_TIME_EARLY), ("set_fill_time", h5d.FILL_TIME_ALLOC)]),
        ("late", i32, small, [("set_alloc_time", h5d.ALLOC_TIME_LATE)]),
        ("external", i32, CONTIGUOUS, [("set_external", b"raw", 0, h5f.UNLIMITED)]),
        ("deflate", i32, small, [("set_deflate", 4)]),
        ("shuffle_deflate", part, small, [("set_shuffle",), ("set_deflate", 9), ("set_fletcher32",)]),
        ("shuffle_bytes", h5t.STD_I8LE, small, [("set_shuffle",)]),
        ("lzf", i32, small, [("set_shuffle",), ("set_filter", h5z.FILTER_LZF, h5z.FLAG_OPTIONAL)]),
        ("lzf_needed", i32, small, [("set_filter", h5z.FILTER_LZF, h5z.FLAG_MANDATORY)]),
        ("szip_whole", i32, (6, 7), [("set_szip", nn, 8)]),
        ("szip_big", h5t.STD_I16BE, big, [("set_szip", ec, 32)]),
        ("szip_long", f64, (2, 5000), [("set_szip", ec, 16)]),
        ("szip_part", part, big, [("set_szip", ec, 16)]),
        ("szip_low", integer(i32, 20, 0), big, [("set_szip", ec, 16)]),
        ("szip_narrow", f64, (200, 10), [("set_szip", ec, 16)]),
        ("szip_bytes", h5t.STD_U8LE, big, [("set_szip", nn, 4)]),
        ("nbit_whole", i32, small, [("H5Pset_nbit",)]),
        ("nbit_part", part, small, [("H5Pset_nbit",)]),
        ("nbit_big", part_big, small, [("H5Pset_nbit",)]),
        ("nbit_float", h5t.IEEE_F64BE, small, [("H5Pset_nbit",)]),
        ("nbit_array", h5t.array_create(part, (2, 2)), small, [("H5Pset_nbit",)]),
        ("nbit_array_of_compounds", h5t.array_create(mixed, (3,)), small, [("H5Pset_nbit",)]),
        ("nbit_compound", mixed, small, [("H5Pset_nbit",)]),
        ("nbit_enumeration", enumeration, small, [("H5Pset_nbit",)]),
        ("nbit_text", text(5, h5t.STR_NULLPAD, h5t.CSET_ASCII), small, [("H5Pset_nbit",)]),
        ("scaled", i32, small, [scaled(2, 0)]),
        ("scaled_big", h5t.STD_I16BE, small, [scaled(2, 5)]),
        ("scaled_whole", h5t.STD_U8LE, small, [scaled(2, 8)]),
        ("scaled_float", h5t.IEEE_F32LE, small, [scaled(0, 3)]),
        ("scaled_double", h5t.IEEE_F64BE, small, [scaled(0, 2)]),
        ("scaled_negative", i32, small, [value(-5, "<i4"), scaled(2, 0)]),
        ("scaled_value", h5t.IEEE_F64BE, small, [value(1.5, "<f8"), scaled(0, 2)]),
        ("scaled_undefined", i32, small, [("H5Pset_fill_value", ctypes.c_int64(i32.id), None), scaled(2, 0)]),
    ]


def messages():
    lines = []
    for name, datatype, stored, calls in datasets():
        chunk = stored if isinstance(stored, tuple) else (6, 7)

        def make(f):
            creation = h5p.create(h5p.DATASET_CREATE)
            if isinstance(stored, tuple):
                creation.set_chunk(stored)
            else:
                creation.set_layout(stored)
            for function, *arguments in calls:
                if function.startswith("H5P"):
                    call(function, creation.id, *arguments)
                else:
                    getattr(creation, function)(*arguments)
            h5d.create(f.id, b"d", datatype, h5s.create_simple(chunk), creation)

        for bound in ["earliest", "v1.8"]:
            f = Bounded(make, bound)
            layouts = {COMPACT: "compact", CONTIGUOUS: "contiguous"}
            layout = name if name == "external" else layouts.get(stored, "chunked")
            line = [name, bound, layout, "x".join(map(str, chunk))]
            for key, kind in [("datatype", 3), ("fill", 5), ("old", 4), ("filters", 11)]:
                every = [message for _, _, some in f.header("/d")[1] for message in some]
                found = [f.bytes[at : at + size] for k, _, _, at, size in every if k == kind]
                line += [f"{key}={body.hex()}" for body in found]
            lines.append(" ".join(line))
    (HERE / "dataset_messages.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    datatypes()
    messages()
