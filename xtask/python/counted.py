"""A pytest plugin that prints its counts in the same way as the other scripts of the gate."""

from __future__ import annotations

from typing import Any


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """The skipped tests with their reasons, the failures that are expected, and the counts."""
    stats = terminalreporter.stats
    count = {kind: len(stats.get(kind, [])) for kind in ("passed", "failed", "error", "skipped", "xfailed", "xpassed")}
    # Tests that xarray and zarr-python skip themselves are not ours to run.
    others = [report for report in stats.get("skipped", []) if "upstream" in report.keywords]
    count["skipped"] -= len(others)
    terminalreporter.write_line(f"{len(others)} tests of other packages are not for this version, engine or format")
    for report in stats.get("skipped", []):
        if report in others:
            continue
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        terminalreporter.write_line(f"skipped: {report.nodeid}: {reason.removeprefix('Skipped: ')}")
    for report in stats.get("xfailed", []):
        terminalreporter.write_line(f"expected to fail: {report.nodeid}: {report.wasxfail}")
    terminalreporter.write_line(f"{count['xfailed']} are expected to fail")
    failed = count["failed"] + count["error"] + count["xpassed"]
    terminalreporter.write_line(f"{count['passed']} passed, {failed} failed, {count['skipped']} skipped")

