"""Which envelope holds for a call: what a person said that a task may touch.

An envelope only narrows: it adds questions for a judge and grants nothing, so its row need not be signed. The
session's own one wins over a directory's, the nearest directory over those above it; one whose time is over is
none. It does not add up with another one: what is said nearer was said knowing what holds above.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec import Struct

from reflexd.kept import Envelope
from reflexd.types import AGENTS

TERMS_MAX = 2000
SECONDS_MAX = 366 * 86400


class Terms(Struct, frozen=True):
    text: str


def nearest(rows: Iterable[Envelope], session: str, cwd: str, now: float) -> Envelope | None:
    """`session` as in `claude:<id>`; `cwd`: a real path, or empty where it is not known."""
    held = holding(rows, now)
    for row in held:
        if row.holder == session:
            return row
    way = cwd.rstrip("/") + "/"
    above = [row for row in held if cwd and row.holder.startswith("/") and way.startswith(row.holder.rstrip("/") + "/")]
    return max(above, key=lambda row: len(row.holder), default=None)


def holding(rows: Iterable[Envelope], now: float) -> tuple[Envelope, ...]:
    """Those whose time is not over and whose words can be read."""
    return tuple(row for row in rows if (row.until == 0 or row.until > now) and text(row))


def terms(text: str) -> str:
    """The words as a row keeps them."""
    return msgspec.json.encode(Terms(text)).decode()


def text(row: Envelope) -> str:
    """A row's words; empty where nobody could have written them so."""
    try:
        return msgspec.json.decode(row.terms, type=Terms).text
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return ""


def fault(holder: str, text: str, seconds: int) -> str:
    """Why this cannot be set, in words; empty where it can."""
    agent, colon, session = holder.partition(":")
    if not holder.startswith("/") and not (colon and session and agent in AGENTS):
        return f"{holder[:80]!r} is neither a whole path nor a session like claude:<id>"
    if len(text) > TERMS_MAX:
        return f"an envelope is at most {TERMS_MAX} characters long, not {len(text)}: a judge reads it at every call"
    if not 0 <= seconds <= SECONDS_MAX:
        return "an envelope holds for a year at most"
    return ""
