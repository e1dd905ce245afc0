"""Counts checks, and prints the summary line that `cargo xtask test` adds up."""

import sys


class Tally:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def check(self, success, what, reasons=()):
        self.passed += bool(success)
        self.failed += not success
        if not success:
            print(f"FAILED {what}")
            reasons = list(reasons)
            for reason in reasons[:8]:
                print(f"       {reason}")
            if len(reasons) > 8:
                print(f"       and {len(reasons) - 8} more")
            sys.stdout.flush()

    def skip(self, reason):
        """Counts a skipped check. In CI the gate fails, unless xtask/src/gate/skips.rs lists the reason."""
        self.skipped += 1
        print(f"skipped: {reason}")

    def close(self):
        print(f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped")
        sys.exit(self.failed > 0)


class Reasons(list):
    """The faults of a single checked item."""

    def expect(self, success, reason):
        if not success:
            self.append(reason)

    def equal(self, what, found, expected):
        self.expect(found == expected, f"{what}: {str(found)[:150]}, expected {str(expected)[:150]}")
