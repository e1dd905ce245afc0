"""The files of the corpus, and the known failures."""

import os

TABLES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "corpus")


def rows(table):
    """The rows of a table, without its comments."""
    with open(os.path.join(TABLES, table), encoding="utf-8") as file:
        return [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]


WALKED = rows("walked.tsv")
# Files that describe other files.
TEXTS = tuple(name for kind, name in WALKED if kind == "text")
# What the folders of Zarr stores, and of TileDB arrays and groups, have.
STORES = {name for kind, name in WALKED if kind == "store"}


def exceptions(name, directory):
    """The rows of a list for the archive in a folder: reasons by path."""
    archive = os.path.basename(os.path.normpath(directory))
    return {path: reason for of, where, path, reason in rows("exceptions.tsv") if (of, where) == (name, archive)}


def stores(directory):
    """All files, and all folders that are Zarr stores or TileDB arrays or groups, sorted."""
    found = []
    for at, below, names in os.walk(directory):
        if STORES & {*names, *below}:
            below.clear()
            found.append(at)
        else:
            found += [os.path.join(at, name) for name in names if not name.endswith(TEXTS)]
    return sorted(found)


class Refused:
    """Checks that the command rejects exactly the files of the table with exit code 2."""

    def __init__(self, tally, directory):
        self.tally, self.directory = tally, directory
        self.listed = exceptions("refused", directory)
        self.met = set()

    def row(self, path):
        name = os.path.relpath(path, self.directory).replace(os.sep, "/")
        return next((row for row in self.listed if name == row or row.endswith("/") and name.startswith(row)), None)

    def check(self, path, refused, what=""):
        """Counts a file that was rejected, or is listed as rejected. Returns whether no other check is needed."""
        row = self.row(path)
        if refused and row:
            self.met.add(row)
        elif refused or row:
            reason = "is refused, and not listed" if refused else "is listed as refused, and is not"
            self.tally.check(False, f"{os.path.relpath(path, self.directory)} {what}", [reason])
        return refused

    def close(self):
        """Checks that every listed file was tested."""
        gone = sorted(set(self.listed) - self.met)
        self.tally.check(not gone, f"{len(self.listed)} files or folders are refused", gone)
