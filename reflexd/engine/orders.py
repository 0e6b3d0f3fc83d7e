"""In which orders a question's options are shown: a model leans to places in a list, and an average leans less.

The caller's own order comes first, then distinct shuffles. They are seeded by what the question says, never by
its name or its neighbours: what else is asked cannot change an answer.
"""

from __future__ import annotations

import hashlib
import math

import msgspec

from reflexd.types import Noul, Question

TRIES = 50
"""Draws for each order before fewer are taken; only short lists repeat, and those are capped by n! anyway."""


def orders(question: Question, options: int, count: int, seed: int = 0) -> list[tuple[int, ...]]:
    """At most `count` distinct orders of `options` options, the identity first; two options: as is, then swapped."""
    identity = tuple(range(options))
    wanted = min(count, 2 if isinstance(question, Noul) else math.factorial(min(options, 12)))
    found = [identity]
    if wanted > 1 and options == 2:
        return [identity, (1, 0)]
    content = hashlib.sha256(msgspec.json.encode(question)).hexdigest()
    for draw in range(TRIES * wanted):
        if len(found) >= wanted:
            break
        order = tuple(sorted(identity, key=lambda option: _lot(f"{seed}:{content}:{draw}:{option}")))
        if order not in found:
            found.append(order)
    return found


def _lot(drawn: str) -> bytes:
    """A shuffle by lots of a hash is the same in every language that has the hash."""
    return hashlib.sha256(drawn.encode()).digest()
