"""What is remembered by key, of the latest keys alone."""

from __future__ import annotations

from collections import OrderedDict
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


def put(kept: OrderedDict[K, V], key: K, value: V, most: int) -> None:
    """`key` becomes the latest; the oldest go until `most` are left."""
    kept[key] = value
    kept.move_to_end(key)
    while len(kept) > most:
        kept.popitem(last=False)
