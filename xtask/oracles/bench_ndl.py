"""Times reading NDL against the C reader of PyYAML, and malicious texts against fixed limits, and writes the table.

    bench_ndl.py HYPERSLAB DIRECTORY TABLE

Runs of both take turns; a figure is the median of 7. For `hyperslab check`, which also types every value and checks
the document, the whole process is measured; for PyYAML only the loading, not the start of Python.
"""

import os
import random
import statistics
import sys

from measure import ROUNDS, machine, run, write

VALUES = 1_000_000
LOAD = """
import sys, time, yaml
text = open(sys.argv[1], "rb").read()
start = time.perf_counter()
yaml.load(text, yaml.CSafeLoader)
print(time.perf_counter() - start)
"""


def document(path):
    """Half a million numbers of 17 digits and as many strings, 50 MB in total."""
    draw = random.Random(1)
    count = VALUES // 2
    with open(path, "w") as f:
        f.write(f"ndarrays:\n  number:\n    shape: [{count}]\n    type: float64\n    value: [")
        f.write(",\n      ".join(", ".join(f"{draw.gauss(0, 1):.17e}" for _ in range(4)) for _ in range(count // 4)))
        f.write(f"]\n  text:\n    shape: [{count}]\n    type: string\n    value:\n")
        for _ in range(count):
            f.write("      - " + " ".join(f"{draw.getrandbits(32):08x}" for _ in range(7)) + "\n")


def hostile(directory):
    """Malicious texts that try to exhaust time or memory, by name."""
    bomb = ["x-a: &a0 [1, 2, 3, 4, 5, 6, 7, 8, 9]"]
    bomb += [f"x-{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 9)}]" for k in range(1, 40)]
    texts = {
        "alias bomb": "\n".join(bomb) + "\nattributes: {a: *a39}\n",
        "100,000 levels of nesting": "attributes: {a: " + "[" * 100_000 + "]" * 100_000 + "}\n",
        "a line of 10 MB": "attributes:\n  a: [" + "x, " * 3_400_000 + "]\n",
        "one key a million times": "attributes:\n" + "  a: 1\n" * 1_000_000,
        "500,000 keys twice": "attributes:\n" + "".join(f"  a{k}: 1\n" for k in range(500_000)) * 2,
    }
    for name, text in texts.items():
        path = os.path.join(directory, name.replace(" ", "_").replace(",", "") + ".yaml")
        with open(path, "w") as f:
            f.write(text)
        yield name, path


def main():
    hyperslab, data, table = sys.argv[1:]
    path = os.path.join(data, "values.yaml")
    document(path)
    size = os.path.getsize(path) / 1e6
    code = os.path.join(data, "load.py")
    with open(code, "w") as f:
        f.write(LOAD)

    def theirs():
        _, memory, last, _ = run([sys.executable, code, path])
        return float(last[0]), memory

    lines = ["# Speed and memory of reading NDL", "",
             f"Written by `cargo xtask bench ndl`. Medians of {ROUNDS} runs in turn, peak memory the highest of them.", "",
             machine(), "",
             "| what; beside | hyperslab s | other s | times as fast | wanted | hyperslab MB | × the text | allowed | other MB | spread |",
             "|---|---|---|---|---|---|---|---|---|---|"]
    mine, other = zip(*((run([hyperslab, "check", path])[:2], theirs()) for _ in range(ROUNDS)))
    seconds = [statistics.median(r[0] for r in side) for side in (mine, other)]
    spread = [max(r[0] for r in side) / min(r[0] for r in side) for side in (mine, other)]
    memory = [max(r[1] for r in side) * 1.048576 for side in (mine, other)]
    ratio, times = seconds[1] / seconds[0], memory[0] / size
    lines.append(f"| `check` of {size:.0f} MB with a million values; PyYAML `CSafeLoader` | {seconds[0]:.2f} | {seconds[1]:.2f} "
                 f"| **{ratio:.1f}** | 10 | {memory[0]:.0f} | **{times:.1f}** | 6 | {memory[1]:.0f} | {spread[0]:.2f} / {spread[1]:.2f} |")
    good = ratio >= 10 and times <= 6
    lines += ["", "| hostile text | MB | s | allowed | peak MB | allowed |", "|---|---|---|---|---|---|"]
    for name, path in hostile(data):
        runs = [run([hyperslab, "check", path], allowed=(1,))[:2] for _ in range(3)]
        took, peak = statistics.median(r[0] for r in runs), max(r[1] for r in runs) * 1.048576
        good &= took < 1 and peak < 200
        lines.append(f"| {name} | {os.path.getsize(path) / 1e6:.1f} | {took:.2f} | 1 | {peak:.0f} | 200 |")
    print("\n".join(lines[6:]))
    write(table, lines)
    if not good:
        print("a figure falls short of what is wanted")


if __name__ == "__main__":
    main()
