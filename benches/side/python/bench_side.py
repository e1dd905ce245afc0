"""The base of sides in Python: their jobs, and the answers that the crate `bench_side` describes."""

import sys
import time


class Cannot(Exception):
    """The library does not do this."""


def hash_of(array):
    # Imported here, because a program starts with the size of its parent: sides that start programs must be small.
    import numpy as np
    from blake3 import blake3

    return blake3(memoryview(np.ascontiguousarray(array)).cast("B"), max_threads=blake3.AUTO).hexdigest()


class Work:
    """A job: `prepare` and `total` are not timed, `run` is."""

    def prepare(self):
        pass

    def output_bytes(self):
        return 0

    def stored_bytes(self):
        return 0

    def of_another(self):
        """The CPU time in seconds and peak memory in bytes of a started program; None if this process did the work."""
        return None

    def total(self):
        return "-"

    def release(self):
        pass


def peak():
    with open("/proc/self/status") as f:
        return next(int(line.split()[1]) * 1024 for line in f if line.startswith("VmHWM"))


def once(work, checked, fresh):
    work.prepare()
    if fresh and work.output_bytes():
        import numpy as np

        # The host may have reclaimed freed memory. Getting it back is not part of reading.
        touched = np.empty(work.output_bytes(), "u1")
        touched.fill(1)
        del touched
    with open("/proc/self/clear_refs", "w") as f:
        f.write("5")
    cpu, wall = time.process_time(), time.perf_counter()
    work.run()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    most, stored = peak(), work.stored_bytes()
    cpu, most = work.of_another() or (cpu, most)
    total = work.total() if checked else "-"
    answer = f"wall={wall} cpu={cpu} peak={most} output={work.output_bytes()} stored={stored} sum={total}"
    work.release()
    return answer


def serve(begin):
    """Serves the commands. `begin` creates the work from the names of side and job, and the keys."""
    side, name, *keys = sys.argv[1:]
    job = dict(key.split("=", 1) for key in keys)
    fresh = job.get("memory") == "fresh"
    try:
        work = begin(side, name, job)
        print("ready", flush=True)
        for line in sys.stdin:
            print(once(work, line.strip() == "check", fresh), flush=True)
    except Cannot as reason:
        print(f"cannot {reason}", flush=True)
    except Exception as error:
        print(f"cannot {type(error).__name__}: {' '.join(str(error).split())}"[:200], flush=True)
