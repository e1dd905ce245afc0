"""Describes files and reads the text: it must have no errors, the same content, and the same description again.

    texts_return.py HYPERSLAB DIRECTORY

Every file and every Zarr store below DIRECTORY that opens is described with all storage and the values of arrays of up to a million
elements. The text must pass `check`, have the digests of the file, be its own description, and be a contract that the file satisfies
(`check --against`). The same applies to JSON.
"""

import json
import multiprocessing
import os
import subprocess
import sys

from corpus import Refused, stores
from tally import Tally

VALUES = "--values=1000000"
# The error for an array without values in the text.
WITHOUT = "the document has no values for it"


def run(*command, text=None):
    done = subprocess.run(command, input=text, capture_output=True, timeout=300)
    return done.returncode, done.stdout, done.stderr.decode(errors="replace")


def digests(output):
    return {line["path"]: line for line in map(json.loads, output.splitlines())}


def different(stored, reread):
    """The first object whose digest differs in the text."""
    for path, line in stored.items():
        again = reread.get(path)
        if again == line or (again and WITHOUT in again.get("error", "")):
            continue
        # An unreadable object has an entry with its error; a group that cannot be listed may keep its attributes.
        if "error" in line and (again is None or "error" in again):
            continue
        return f"{path}: {line} became {again}"
    extra = sorted(reread.keys() - stored.keys())
    return f"{extra[0]} is not in the file" if extra else None


def returns(hyperslab, path, form):
    code, text, messages = run(hyperslab, "describe", "--storage=full", VALUES, *form, path)
    if code == 2 and messages and not text:
        return None
    if code not in (0, 1):
        return f"exit code {code}, {len(text)} bytes: {messages[:200]}"
    code, _, said = run(hyperslab, "check", "--json", "-", text=text)
    if code != 0:
        _, findings, _ = run(hyperslab, "check", "--json", "-", text=text)
        return f"does not check: {said}{findings[:300].decode(errors='replace')}"
    _, again, said = run(hyperslab, "describe", "--storage=full", *form, "-", text=text)
    if again != text:
        lines = zip(text.decode().splitlines(), again.decode().splitlines())
        changed = next(((a, b) for a, b in lines if a != b), ("", "its length"))
        return f"changes: {changed[0][:150]!r} became {changed[1][:150]!r} {said[:200]}"
    code, findings, said = run(hyperslab, "check", "--json", "--against", "-", path, text=text)
    # An unreadable object has an entry with its error, and does not match its own description.
    findings = b"".join(line for line in findings.splitlines(True) if b'"against/unreadable"' not in line)
    if code == 2 or findings:
        return f"is not what it says: {said[:200]}{findings[:300].decode(errors='replace')}"
    if form:
        return ""
    _, stored, _ = run(hyperslab, "digest", "--json", path)
    _, reread, _ = run(hyperslab, "digest", "--json", "-", text=text)
    return different(digests(stored), digests(reread)) or ""


def one(job):
    hyperslab, path = job
    found = []
    for form in ((), ("--json",)):
        try:
            result = returns(hyperslab, path, form)
        except subprocess.TimeoutExpired:
            result = "takes more than 300 seconds"
        except MemoryError:
            result = "is more text than there is memory"
        found.append((path, " ".join(form) or "yaml", result))
    return found


def main():
    hyperslab, directory = sys.argv[1:]
    tally = Tally()
    refused = Refused(tally, directory)
    with multiprocessing.Pool(2) as pool:
        for found in pool.imap(one, [(hyperslab, path) for path in stores(directory)], chunksize=4):
            for path, form, result in found:
                if not refused.check(path, result is None, form):
                    tally.check(not result, f"{os.path.relpath(path, directory)} ({form})", [result])
    refused.close()
    tally.close()


if __name__ == "__main__":
    main()
