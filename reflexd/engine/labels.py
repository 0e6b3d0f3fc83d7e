"""The letters that options are shown under, and the pages that hold more options than there are letters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from string import ascii_uppercase

from msgspec import Struct

from reflexd.engine.errors import ModelError
from reflexd.engine.tokens import Tokenizer

FEWEST = 10
"""A score's levels are never shown on two pages: their order is what they mean."""


class Labels(Struct, frozen=True):
    """Letters that are one token each, in alphabetical order, and those tokens."""

    letters: tuple[str, ...]
    tokens: tuple[int, ...]


def labels(tokenizer: Tokenizer) -> Labels:
    """The letters of this tokenizer. Raises ModelError where too few of A to Z are single tokens of their own."""
    found: dict[int, str] = {}
    for letter in ascii_uppercase:
        token = tokenizer.label(letter)
        if token is None or token in found:
            break
        found[token] = letter
    if len(found) < FEWEST:
        raise ModelError(
            f"only {len(found)} letters from A on are single tokens of this tokenizer; {FEWEST} are needed",
            "use a model with an ordinary tokenizer",
        )
    return Labels(tuple(found.values()), tuple(found))


def pages(order: Sequence[int], size: int) -> Iterator[tuple[int, ...]]:
    """`order` in even pieces of at most `size`: a last page of one option would be no choice."""
    count = -(-len(order) // size)
    least, more = divmod(len(order), count)
    start = 0
    for number in range(count):
        stop = start + least + (number < more)
        yield tuple(order[start:stop])
        start = stop
