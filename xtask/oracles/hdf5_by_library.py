"""Reads files with the libhdf5 that comes with netCDF4, which is a different version from that of h5py."""

import ctypes
import glob
import os
from ctypes import c_char_p, c_int, c_int64, c_size_t, c_ssize_t, c_uint, c_void_p

import netCDF4

from tally import Reasons

SIGNATURES = {
    "H5Fopen": (c_int64, c_char_p, c_uint, c_int64),
    "H5Fclose": (c_int, c_int64),
    "H5Dopen2": (c_int64, c_int64, c_char_p, c_int64),
    "H5Dclose": (c_int, c_int64),
    "H5Dget_type": (c_int64, c_int64),
    "H5Dread": (c_int, c_int64, c_int64, c_int64, c_int64, c_int64, c_void_p),
    "H5Aopen_by_name": (c_int64, c_int64, c_char_p, c_char_p, c_int64, c_int64),
    "H5Aclose": (c_int, c_int64),
    "H5Aget_type": (c_int64, c_int64),
    "H5Dget_space": (c_int64, c_int64),
    "H5Aget_space": (c_int64, c_int64),
    "H5Sclose": (c_int, c_int64),
    "H5Treclaim": (c_int, c_int64, c_int64, c_int64, c_void_p),
    "H5Aread": (c_int, c_int64, c_int64, c_void_p),
    "H5Tclose": (c_int, c_int64),
    "H5Tget_size": (c_size_t, c_int64),
    "H5Tget_super": (c_int64, c_int64),
    "H5Tget_member_type": (c_int64, c_int64, c_uint),
    "H5Tget_member_offset": (c_size_t, c_int64, c_uint),
    "H5Oget_comment_by_name": (c_ssize_t, c_int64, c_char_p, c_char_p, c_size_t, c_int64),
    "H5Ovisit3": (c_int, c_int64, c_int, c_int, c_void_p, c_void_p, c_uint),
    "H5Eset_auto2": (c_int, c_int64, c_void_p, c_void_p),
    "H5open": (c_int,),
}
VISITOR = ctypes.CFUNCTYPE(c_int, c_int64, c_char_p, c_void_p, c_void_p)


class Library:
    def __init__(self):
        folder = os.path.join(os.path.dirname(netCDF4.__file__), "..", "netcdf4.libs")
        library = ctypes.CDLL(glob.glob(os.path.join(folder, "libhdf5-*"))[0])
        for name, (result, *arguments) in SIGNATURES.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)
        self.H5open()
        self.H5Eset_auto2(0, None, None)

    def read(self, trial):
        """Objects and elements that differ from the document."""
        reasons = Reasons()
        file = self.H5Fopen(trial.path.encode(), 0, 0)
        if file < 0:
            return ["the file does not open"]
        found = []
        visitor = VISITOR(lambda _, name, *rest: found.append(name) or 0)
        reasons.expect(self.H5Ovisit3(file, 0, 2, visitor, None, 1) == 0, "the objects cannot be visited")
        # An object with several hard links has the name that is visited first.
        reasons.equal("number of objects", len(found), len(trial.names()) + 1)
        for path, data in trial.data.items():
            if data.is_plain:
                source = self.H5Dopen2(file, path.encode(), 0)
                read = lambda kind, buffer: self.H5Dread(source, kind, 0, 0, 0, buffer)  # noqa: E731
                self.compare(reasons, path, data, source, self.H5Dget_type(source), self.H5Dget_space(source), read)
                self.H5Dclose(source)
        for (path, name), data in trial.attributes.items():
            source = self.H5Aopen_by_name(file, path.encode(), name.encode(), 0, 0)
            read = lambda kind, buffer: self.H5Aread(source, kind, buffer)  # noqa: E731
            self.compare(reasons, f"{path}@{name}", data, source, self.H5Aget_type(source), self.H5Aget_space(source), read)
            self.H5Aclose(source)
        for path, comment in trial.comments.items():
            found = ctypes.create_string_buffer(100)
            self.H5Oget_comment_by_name(file, path.encode(), found, len(found), 0)
            reasons.equal(f"comment of {path}", found.value.decode(), comment)
        reasons.expect(self.H5Fclose(file) >= 0, "the file does not close")
        return reasons

    def compare(self, reasons, what, data, source, kind, space, read):
        stored, count = data.stored(), data.count
        if source < 0 or kind < 0:
            reasons.append(f"{what} does not open")
        elif count and (stored or data.values):
            size = self.H5Tget_size(kind)
            buffer = ctypes.create_string_buffer(size * count)
            if read(kind, buffer) < 0:
                reasons.append(f"{what} cannot be read: {data.kind.name} {data.filters}")
            elif stored:
                reasons.expect(buffer.raw == stored, f"elements of {what}: {data.kind.name} {data.filters}")
            else:
                first = ctypes.addressof(buffer)
                same = all(self.same(data.kind, kind, value, first + at * size) for at, value in enumerate(data.values))
                reasons.expect(same, f"elements of {what}: {data.kind.name} {data.filters}")
                # References keep the file open.
                self.H5Treclaim(kind, space, 0, buffer)
        self.H5Sclose(space)
        self.H5Tclose(kind)

    def same(self, kind, own, value, address):
        """Whether the element at an address is this value. References depend on addresses of the file."""
        if kind.stored:
            stored = kind.stored(value)
            return ctypes.string_at(address, len(stored)) == stored
        form, *about = kind.form or ("reference",)
        if form == "string":
            return (c_char_p.from_address(address).value or b"") == value.encode()
        if form == "sequence":
            length, at = c_size_t.from_address(address).value, c_void_p.from_address(address + 8).value
            stored = b"".join(map(about[0].stored, value))
            return length == len(value) and (not length or ctypes.string_at(at, len(stored)) == stored)
        if form == "array":
            base, flat = about
            below = self.H5Tget_super(own)
            size = self.H5Tget_size(below)
            good = all(self.same(base, below, item, address + at * size) for at, item in enumerate(flat(value)))
            self.H5Tclose(below)
            return good
        if form == "compound":
            good = True
            for index, (member, item) in enumerate(zip(about[0], value)):
                below = self.H5Tget_member_type(own, index)
                good &= self.same(member, below, item, address + self.H5Tget_member_offset(own, index))
                self.H5Tclose(below)
            return good
        return True
