"""What of the engine this machine cannot run is said where the tests end, not only in a skip."""

from __future__ import annotations

from typing import Any


def pytest_terminal_summary(terminalreporter: Any) -> None:
    skipped = {
        report.longrepr[2] for report in terminalreporter.stats.get("skipped", ()) if isinstance(report.longrepr, tuple)
    }
    for why in sorted(skipped):
        said = why.removeprefix("Skipped: ")
        if said.startswith("NOT RUN: the engine"):
            terminalreporter.write_sep("!", said, red=True, bold=True)
