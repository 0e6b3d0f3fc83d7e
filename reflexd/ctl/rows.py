"""How rows of the journal look on a terminal."""

from __future__ import annotations

from datetime import datetime

from reflexd.daemon.journal import Row


def local_time(row: Row) -> str:
    try:
        return datetime.fromisoformat(row.t).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    except ValueError:
        return row.t


def printable(text: str) -> str:
    """One line that cannot move the cursor or colour the screen: an agent chose these words."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def line(row: Row) -> str:
    source = row.rule or row.decided_by
    words = (local_time(row), row.id, row.agent, row.decision or row.kind, f"[{source}]" if source else "", row.tool)
    return printable(" ".join(word for word in (*words, row.call or row.reason) if word))[:400]
