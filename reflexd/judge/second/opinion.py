"""What a stronger judge said: strictly one object of two keys, or it said nothing that counts. Pure."""

from __future__ import annotations

import json
from typing import Literal

from msgspec import Struct

REPLY_MAX = 4000
REASON_MAX = 300


class Opinion(Struct, frozen=True):
    """`human`: a person decides, and `reason` says why. `sure`: a judge said so itself, in the form asked for."""

    verdict: Literal["approve", "deny", "human"]
    reason: str = ""
    sure: bool = False


def read(text: str) -> Opinion:
    """Never raises. Text around the object, other or doubled keys, other values or types: a person decides."""
    if len(text) > REPLY_MAX:
        return Opinion("human", "the stronger judge said too much")
    try:
        pairs = json.loads(text, object_pairs_hook=_Pairs)
    except (ValueError, RecursionError):
        return Opinion("human", "the stronger judge's answer is no JSON object")
    if not isinstance(pairs, _Pairs) or sorted(key for key, _ in pairs) != ["reason", "verdict"]:
        return Opinion("human", "the stronger judge's answer has other keys than it was asked for")
    found = dict(pairs)
    verdict, reason = found["verdict"], found["reason"]
    if verdict not in ("approve", "deny", "human") or not isinstance(verdict, str) or not isinstance(reason, str):
        return Opinion("human", "the stronger judge's answer has other values than it was asked for")
    return Opinion(verdict, "".join(c if c.isprintable() else " " for c in reason[:REASON_MAX]), True)


class _Pairs(list[tuple[str, object]]):
    """An object as it was written, doubled keys included."""
