"""The arguments of a tool that nobody described: JSON text -> what stands under which key."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from msgspec import Struct

DEPTH_MAX, LISTS_MAX, VALUES_MAX = 6, 16, 400  # objects in objects, lists on the way to a value, values
Scalar = str | int | float | bool


class Given(Struct, frozen=True):
    """One value. `key` is the nearest, in lower case, with _ and - taken out; `near` what stands beside it."""

    key: str
    value: Scalar
    near: Mapping[str, object]


def read(args: str) -> tuple[tuple[Given, ...], bool]:
    """Every value in order, and whether that was all of it."""
    try:
        whole = json.loads(args) if args.strip() else {}
    except (ValueError, RecursionError):
        return (Given("", args, {}),), False
    found: list[Given] = []
    for given in _walk("", whole, {}, 0):
        if given is None or len(found) >= VALUES_MAX:
            return tuple(found), False
        found.append(given)
    return tuple(found), True


def plain(key: str) -> str:
    return key.lower().replace("_", "").replace("-", "")


def _walk(key: str, value: object, near: Mapping[str, object], depth: int, lists: int = 0) -> Iterator[Given | None]:
    """None: it goes deeper than is read."""
    if isinstance(value, str | int | float):
        yield Given(key, value, near)
        inner = _inner(value) if isinstance(value, str) else None
        if inner is not None:
            yield from _walk(key, inner, near, depth + 1, lists)
    elif isinstance(value, dict | list) and (depth >= DEPTH_MAX or lists >= LISTS_MAX):
        yield None
    elif isinstance(value, dict):
        beside = {plain(str(name)): each for name, each in value.items()}
        for name, each in beside.items():
            yield from _walk(name, each, beside, depth + 1, lists)
    elif isinstance(value, list):
        for each in value:
            yield from _walk(key, each, near, depth, lists + 1)


def _inner(text: str) -> dict[str, object] | None:
    """Tools that call other tools take their arguments as JSON in a string."""
    if not (text.startswith("{") and text.endswith("}")):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
