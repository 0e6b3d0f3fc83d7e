"""The tables of config/ that the shell layer reads: each once, and all of them on demand."""

from __future__ import annotations

import functools
import tomllib
from importlib import resources
from typing import TypeVar

import msgspec

T = TypeVar("T")


@functools.cache
def _raw(name: str) -> dict[str, object]:
    return tomllib.loads(resources.files("reflexd.config").joinpath(name).read_text())


def table(name: str, kind: type[T]) -> T:
    """The table in a file of config/. Raises msgspec.ValidationError where it is not one."""
    return msgspec.convert(_raw(name), kind)
