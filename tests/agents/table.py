"""What came out of the faults, as the table that the run ends with."""

from __future__ import annotations

from msgspec import Struct

from tests.agents.drivers import DRIVERS

ALIVE = "the shim is alive and must refuse"
UNSTARTABLE = "our file cannot be started at all (shown as it is; the guard where there is one)"
COLUMNS = (ALIVE, UNSTARTABLE)


class Outcome(Struct, frozen=True):
    column: str
    row: str
    agent: str
    text: str


class Table:
    def __init__(self) -> None:
        self.outcomes: list[Outcome] = []
        self.absent: dict[str, str] = {}

    def add(self, column: str, row: str, agent: str, text: str) -> None:
        self.outcomes.append(Outcome(column, row, agent, text))

    def lines(self) -> list[str]:
        return [line for column in COLUMNS for line in self._column(column)]

    def _empty(self, agent: str) -> str:
        return "NOT RUN" if agent in self.absent else "-"

    def _column(self, column: str) -> list[str]:
        found = [o for o in self.outcomes if o.column == column]
        if not found:
            return []
        rows = list(dict.fromkeys(o.row for o in found))
        cells = {(o.row, o.agent): o.text for o in found}
        table = [
            ["", *DRIVERS],
            *([row, *(cells.get((row, agent), self._empty(agent)) for agent in DRIVERS)] for row in rows),
        ]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        return ["", column, *("  ".join(c.ljust(w) for c, w in zip(r, widths, strict=True)).rstrip() for r in table)]
