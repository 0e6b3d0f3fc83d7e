"""Small changes to a JSON text that leave every other byte as it is.

Reads JSON with comments and trailing commas (which opencode's configuration may have; plain JSON is
a subset) into nodes that know where they stand, and splices members and items in and out. No
reformatting ever: what a person wrote around our entries stays theirs.
"""

from __future__ import annotations

import json
import re

from msgspec import Struct

from reflexd.errors import ReflexError

DEPTH_MAX = 200
# Atomic, not possessive: Python before 3.11.5 matches a possessive group that backtracks wrongly.
_SPACE = re.compile(r"(?>(?:[ \t\r\n]|//[^\n]*|/\*.*?\*/)*)", re.S)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SCALAR = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")


class Node(Struct, frozen=True):
    """A value and where it stands: `text[start:end]`. Items and members are kept in order."""

    start: int
    end: int
    kind: str  # object | array | scalar
    value: object = None
    items: tuple[Node, ...] = ()
    keys: tuple[str, ...] = ()
    starts: tuple[int, ...] = ()  # where each member begins (its key) or item begins

    def get(self, key: str) -> Node | None:
        """The member `key` of an object."""
        return self.items[self.keys.index(key)] if key in self.keys else None


class BadJson(ReflexError):
    """Not JSON, with the line where it stops being that; or JSON with a key given twice, which no edit is safe in."""


def parse(text: str) -> Node:
    node, at = _value(text, _skip(text, 0), 0)
    if _skip(text, at) != len(text):
        raise _bad(text, at)
    return node


def plain(node: Node) -> object:
    """The value as Python objects."""
    if node.kind == "object":
        return {key: plain(item) for key, item in zip(node.keys, node.items, strict=True)}
    if node.kind == "array":
        return [plain(item) for item in node.items]
    return node.value


def insert(text: str, parent: Node, value: object, key: str | None = None) -> str:
    """`text` with `value` as the last member (`key` given) or item of `parent`, laid out like its neighbours.

    Comments stay with the lines they stand on. `cut` of the same entry gives `text` back, but for white
    space inside a container that held nothing.
    """
    name = json.dumps(key, ensure_ascii=False) + ": " if key is not None else ""
    closer = parent.end - 1
    last = parent.items[-1].end if parent.items else None
    comma = _comma(text, last) if last is not None else None
    own = "," if comma is not None else ""
    if "\n" not in text[parent.start : parent.end] and (
        last is not None or text.strip() != text[parent.start : parent.end]
    ):
        at = parent.start + 1 if last is None else last if comma is None else comma
        gap = "" if last is None else " " if own else ", "
        return text[:at] + gap + name + json.dumps(value, ensure_ascii=False) + own + text[at:]
    unit, newline = _unit(text), "\r\n" if "\r\n" in text else "\n"
    outer = _indent_at(text, parent.start)
    lined_up = last is not None and _own_line(text, parent.starts[-1])
    inner = _indent_at(text, parent.starts[-1]) if lined_up else outer + unit
    body = json.dumps(value, indent=unit, ensure_ascii=False).replace("\n", newline + inner)
    entry = newline + inner + name + body + own
    # After everything that stands between the last entry and the closer: a line comment there ends its line.
    at = len(text[:closer].rstrip(" \t\r\n"))
    if last is None:
        tail = text[at:] if "\n" in text[at:closer] else newline + outer + text[closer:]
        return text[:at] + entry + tail
    if comma is not None:
        return text[: max(at, comma)] + entry + text[max(at, comma) :]
    return text[:last] + "," + text[last:at] + entry + text[at:]


def cut(text: str, parent: Node, index: int) -> str:
    """`text` without the member or item `index` of `parent`: the inverse of insert for the last one."""
    start, end = parent.starts[index], parent.items[index].end
    comma = _comma(text, end)
    stop = end if comma is None else comma
    begin = len(text[:start].rstrip(" \t"))
    between = "" if comma is None else text[end : comma - 1]
    if between.strip():
        # A comment before the entry's comma is not ours to take.
        begin = start
    elif _own_line(text, start) and re.compile(r"[ \t]*(?:\r?\n|\Z)").match(text, stop):
        begin = len(text[:begin].removesuffix("\n").removesuffix("\r"))
    elif comma is not None and not index:
        begin, stop = start, len(text) - len(text[stop:].lstrip(" \t"))
    before, after = text[:begin], (between if between.strip() else "") + text[stop:]
    if comma is None and index:
        # What goes with the last entry is the comma before it.
        at = _comma(text, parent.items[index - 1].end)
        assert at is not None
        before = text[: at - 1] + text[at:begin]
    left = before + after
    if len(parent.items) == 1:
        closer = len(left) - len(text) + parent.end - 1
        if not left[parent.start + 1 : closer].strip():
            return left[: parent.start + 1] + left[closer:]
    return left


def replace(text: str, node: Node, value: object) -> str:
    """`text` with `value`, on one line, where `node` stands."""
    return text[: node.start] + json.dumps(value, ensure_ascii=False) + text[node.end :]


def _value(text: str, at: int, depth: int) -> tuple[Node, int]:
    if depth > DEPTH_MAX:
        raise BadJson("nested too deeply")
    opener = text[at : at + 1]
    if opener in ("{", "["):
        return _container(text, at, depth, "}" if opener == "{" else "]")
    value, end = _scalar(text, at, _STRING) if opener == '"' else _scalar(text, at, _SCALAR)
    return Node(at, end, "scalar", value), end


def _scalar(text: str, at: int, shape: re.Pattern[str]) -> tuple[object, int]:
    found = shape.match(text, at)
    if not found:
        raise _bad(text, at)
    try:
        return json.loads(found[0]), found.end()
    except ValueError:
        raise _bad(text, at) from None


def _container(text: str, at: int, depth: int, closer: str) -> tuple[Node, int]:
    items: list[Node] = []
    keys: list[str] = []
    starts: list[int] = []
    seen: set[str] = set()
    pos = _skip(text, at + 1)
    while not text.startswith(closer, pos):
        starts.append(pos)
        if closer == "}":
            key, after = _scalar(text, pos, _STRING)
            colon = _skip(text, after)
            if not text.startswith(":", colon):
                raise _bad(text, colon)
            if key in seen:
                raise BadJson(f"a JSON object with the key {key!r} twice, at line {_line(text, pos)}")
            seen.add(str(key))
            keys.append(str(key))
            pos = _skip(text, colon + 1)
        item, pos = _value(text, pos, depth + 1)
        items.append(item)
        pos = _skip(text, pos)
        if text.startswith(",", pos):
            pos = _skip(text, pos + 1)
        elif not text.startswith(closer, pos):
            raise _bad(text, pos)
    kind = "object" if closer == "}" else "array"
    return Node(at, pos + 1, kind, None, tuple(items), tuple(keys), tuple(starts)), pos + 1


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _comma(text: str, end: int) -> int | None:
    """Where the comma that follows a value ending at `end` ends; None where none follows."""
    at = _skip(text, end)
    return at + 1 if text.startswith(",", at) else None


def _bad(text: str, at: int) -> BadJson:
    return BadJson(f"not valid JSON at line {_line(text, at)}")


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _own_line(text: str, at: int) -> bool:
    line = text.rfind("\n", 0, at) + 1
    return line > 0 and not text[line:at].strip()


def _indent_at(text: str, at: int) -> str:
    """The white space that begins the line of `at`."""
    line = text.rfind("\n", 0, at) + 1
    return text[line : line + len(text[line:at]) - len(text[line:at].lstrip(" \t"))]


def _unit(text: str) -> str:
    """One level of this text's indentation: the smallest there is, two spaces where there is none."""
    found = re.findall(r"\n([ \t]+)[\"\[{]", text)
    return min(found, key=len) if found else "  "
