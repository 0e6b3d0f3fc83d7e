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
_SPACE = re.compile(r"(?:[ \t\r\n]|//[^\n]*|/\*.*?\*/)*", re.S)
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
        """The member `key` of an object; of a repeated key the last, as parsers take it."""
        for name, item in zip(reversed(self.keys), reversed(self.items), strict=True):
            if name == key:
                return item
        return None


class BadJson(ReflexError):
    """Not JSON, with the line where it stops being that."""


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
    """`text` with `value` as the last member (`key` given) or item of `parent`, indented like its neighbours."""
    unit, newline = _unit(text), "\r\n" if "\r\n" in text else "\n"
    outer = _indent_at(text, parent.start)
    inner = (
        _indent_at(text, parent.starts[-1]) if parent.starts and _own_line(text, parent.starts[-1]) else outer + unit
    )
    body = json.dumps(value, indent=unit or None, ensure_ascii=False).replace("\n", newline + inner)
    entry = (json.dumps(key, ensure_ascii=False) + ": " if key is not None else "") + body
    if not parent.items:
        return text[: parent.start + 1] + newline + inner + entry + newline + outer + text[parent.end - 1 :]
    last = parent.items[-1].end
    tail = re.compile(r"(?:[ \t\r\n]|/\*.*?\*/|//[^\n]*)*,", re.S).match(text, last)
    if tail:  # a trailing comma is already there
        return text[: tail.end()] + newline + inner + entry + text[tail.end() :]
    return text[:last] + "," + newline + inner + entry + text[last:]


def cut(text: str, parent: Node, index: int) -> str:
    """`text` without the member or item `index` of `parent`: the inverse of insert for the last one."""
    if len(parent.items) == 1:
        inside = text[parent.start + 1 : parent.starts[0]] + text[parent.items[0].end : parent.end - 1]
        keep = "" if not inside.replace(",", "").strip() else inside.replace(",", "", 1)
        return text[: parent.start + 1] + keep + text[parent.end - 1 :]
    if index:
        return text[: parent.items[index - 1].end] + text[parent.items[index].end :]
    return text[: parent.starts[0]] + text[parent.starts[1] :]


def _value(text: str, at: int, depth: int) -> tuple[Node, int]:
    if depth > DEPTH_MAX:
        raise BadJson("nested too deeply")
    opener = text[at : at + 1]
    if opener in ("{", "["):
        return _container(text, at, depth, "}" if opener == "{" else "]")
    found = _STRING.match(text, at) or _SCALAR.match(text, at)
    if not found:
        raise _bad(text, at)
    try:
        return Node(at, found.end(), "scalar", json.loads(found[0])), found.end()
    except ValueError:
        raise _bad(text, at) from None


def _container(text: str, at: int, depth: int, closer: str) -> tuple[Node, int]:
    items: list[Node] = []
    keys: list[str] = []
    starts: list[int] = []
    pos = _skip(text, at + 1)
    while not text.startswith(closer, pos):
        starts.append(pos)
        if closer == "}":
            key = _STRING.match(text, pos)
            colon = _skip(text, key.end()) if key else pos
            if not key or not text.startswith(":", colon):
                raise _bad(text, pos)
            keys.append(json.loads(key[0]))
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


def _bad(text: str, at: int) -> BadJson:
    return BadJson(f"not valid JSON at line {text.count(chr(10), 0, at) + 1}")


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
