"""Times `create` of 1 GB with one thread and with two, and writes the table.

    bench_create.py HYPERSLAB DIRECTORY TABLE

Runs of one and of two threads take turns; a figure is the median of 7 runs, measured for the whole process.
"""

import os
import shutil
import statistics
import sys

from measure import ROUNDS, machine, run, write

# 10^9 bytes of int64. The document has only a domain, no values, so that parsing text takes no time.
COUNT = 125_000_000
DOCUMENT = f"""# extensions: domain
dimcoords:
  x: {{size: {COUNT}, type: int64, storage: {{domain: [1, {COUNT}]}}}}
"""
WANTED = 1.7


def main():
    hyperslab, data, table = sys.argv[1:]
    data = os.path.join(data, "create")
    os.makedirs(data, exist_ok=True)
    document = os.path.join(data, "x.yaml")
    with open(document, "w") as f:
        f.write(DOCUMENT)
    lines = ["# Speed of create",
             "",
             "Written by `cargo xtask bench create`. A document describes 10^9 bytes of int64 coordinates by the lowest and the "
             "highest of them;\nthey are counted, encoded and stored in chunks of about 4 MiB. Medians of "
             f"{ROUNDS} runs in turn, peak memory the highest of them; the spread is\nslowest ÷ fastest run.",
             "",
             machine(),
             "",
             "| filters | target | threads | s | spread | peak MiB | stored MB | times as fast | wanted |",
             "|---|---|---|---|---|---|---|---|---|"]
    print("\n".join(lines[5:]), flush=True)
    short = False
    for filters in ("zstd=3", "shuffle,deflate=4"):
        for suffix in (".zarr", ".zarr.zip"):
            target = os.path.join(data, "x" + suffix)
            runs = {1: [], 2: []}
            stored = {}
            for _ in range(ROUNDS):
                for threads, taken in runs.items():
                    command = [hyperslab, "create", document, target, "-f", filters, "-j", str(threads), "-q"]
                    taken.append(run(command))
                    stored[threads] = size(target)
                    remove(target)
            if stored[1] != stored[2]:
                sys.exit(f"{target}: {stored[1]} bytes from one thread, {stored[2]} from two")
            medians = {threads: statistics.median(run[0] for run in taken) for threads, taken in runs.items()}
            for threads, taken in runs.items():
                seconds = [run[0] for run in taken]
                faster = medians[1] / medians[threads]
                says = ("", "") if threads == 1 else (f"{faster:.2f}", f"≥ {WANTED}")
                short |= threads == 2 and faster < WANTED
                line = (f"| `{filters}` | `{suffix}` | {threads} | {medians[threads]:.2f} | "
                        f"{max(seconds) / min(seconds):.2f} | {max(run[1] for run in taken):.0f} | "
                        f"{stored[threads] / 1e6:.1f} | {says[0]} | {says[1]} |")
                print(line, flush=True)
                lines.append(line)
    write(table, lines)
    if short:
        print("a figure falls short of what is wanted")


def size(path):
    """The size in bytes of a file, or of all files in a directory."""
    if os.path.isfile(path):
        return os.path.getsize(path)
    return sum(os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(path) for name in names)


def remove(path):
    if os.path.isdir(path):
        shutil.rmtree(path)
    else:
        os.remove(path)


if __name__ == "__main__":
    main()
