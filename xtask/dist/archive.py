"""Packs the command and the files installed beside it into an archive whose bytes depend only on the content.

    archive.py PROGRAM SHARE ARCHIVE.tar.gz SECONDS

The folder in the archive is named after the archive and contains bin/ and share/ for /usr/local. Members are sorted, belong to
root, and all have the same date: SECONDS since 1970.
"""

import gzip
import sys
import tarfile
from pathlib import Path


def main(program, share, archive, seconds):
    top = Path(archive).name.removesuffix(".tar.gz")
    share = Path(share)
    members = [(f"{top}/bin/hyperslab", Path(program))]
    members += [(f"{top}/share/{place.relative_to(share)}", place) for place in sorted(share.rglob("*"))]

    def plain(member):
        member.uid = member.gid = 0
        member.uname = member.gname = "root"
        member.mtime = int(seconds)
        member.mode = 0o755 if member.isdir() or "/bin/" in member.name else 0o644
        return member

    with open(archive, "wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
        # This format has no headers that depend on the file system.
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar:
            for name, place in members:
                tar.add(place, name, recursive=False, filter=plain)


if __name__ == "__main__":
    main(*sys.argv[1:])
