"""Typed reading of agents' payloads: unknown fields are accepted, wrong types of used ones are not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec
from msgspec import Raw

from reflexd.errors import PayloadError
from reflexd.types import Mcp, Other, Tool

T = TypeVar("T")
RESULT_CAP = 256 * 1024
"""Characters of a tool's result that are kept; the rest is cut."""

ToolReader = Callable[[bytes], Tool]


_decoders: dict[type, msgspec.json.Decoder[Any]] = {}


def decode(payload: bytes | Raw, shape: type[T]) -> T:
    """`payload` as `shape`, or PayloadError; no other exception, whatever the bytes are.

    Of a key given twice the last one counts, as in the agents' own parsers.
    """
    try:
        found: T = _decoder(shape).decode(payload)
        return found
    except (msgspec.MsgspecError, UnicodeError) as e:
        raise PayloadError(f"payload not understood: {e}") from e
    except RecursionError as e:
        raise PayloadError("payload not understood: nested too deeply") from e


def _decoder(shape: type) -> msgspec.json.Decoder[Any]:
    return _decoders.get(shape) or _decoders.setdefault(shape, msgspec.json.Decoder(shape))


def reader(shape: type[T], build: Callable[[T], Tool]) -> ToolReader:
    """A tool's input as `shape`, made into what the call asks for."""
    return lambda raw: build(decode(raw, shape))


def anything(payload: bytes | Raw) -> Any:
    """Any JSON value; only for showing and flattening, never for deciding by its fields."""
    return decode(payload, object)


def text_of(raw: bytes | Raw | None) -> str:
    """What a model would read of a tool's result: strings, text parts and outputs, joined and capped."""
    if not raw:
        return ""
    parts: list[str] = []
    pending: list[Any] = [anything(raw)]
    while pending:
        value = pending.pop()
        if isinstance(value, str):
            parts.append(value)
        elif isinstance(value, list):
            pending.extend(reversed(value))
        elif isinstance(value, dict):
            shown = [value[key] for key in ("text", "stdout", "stderr", "output", "content") if value.get(key)]
            pending.extend(reversed(shown or list(value.values())))
    return "\n".join(parts)[:RESULT_CAP]


def mcp_or_other(name: str, raw: bytes) -> Tool:
    """A tool that the agent does not bring itself: `mcp__server__tool`, or something unknown."""
    args = bytes(raw).decode("utf-8", "replace")
    if name.startswith("mcp__"):
        server, _, tool = name[5:].partition("__")
        return Mcp(server, tool, args)
    return Other(name, args)
