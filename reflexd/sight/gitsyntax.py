"""git's format for settings: bytes -> keys and values, as git itself would read them.

A file that git would refuse gives what stands before the fault, and says so. Keys are `section.name` or
`section.subsection.name`, all in lower case but the subsection.
"""

from __future__ import annotations

import functools
import re

from msgspec import Struct

_SPACE = b" \t\r\n"
_BLANK = re.compile(rb"[ \t\r\n]+|[#;][^\n]*")
_SECTION = re.compile(rb"\[([A-Za-z0-9.-]*)(?:\]|([ \t\r\n]))")
_SUBSECTION = re.compile(rb'"((?:[^"\\\n]|\\[^\n])*)"\]')
_NAME = re.compile(rb"([A-Za-z][A-Za-z0-9-]*)[ \t]*")
_PLAIN = re.compile(rb'[^\n\\"#;]*')
_ESCAPES = {0x74: b"\t", 0x62: b"\b", 0x6E: b"\n", 0x5C: b"\\", 0x22: b'"'}
_MOST = 10_000  # keys of one file; beyond, it is taken for broken
_REMEMBERED = 1 << 16  # larger files are parsed again: what is remembered stays small


class Settings(Struct, frozen=True):
    """`pairs` in the order of the file; a value of None is a key without one, which means true."""

    pairs: tuple[tuple[str, str | None], ...]
    malformed: bool = False


def parse(text: bytes) -> Settings:
    return _remembered(text) if len(text) <= _REMEMBERED else _parse(text)


def _parse(text: bytes) -> Settings:
    found: list[tuple[str, str | None]] = []
    if b"\0" in text:  # git sees values cut there, and differently in each version
        return Settings((), malformed=True)
    text = text.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")
    stem: bytes | None = b""  # git takes keys before any section, and calls them by their name alone
    i = 0
    while i < len(text):
        if blank := _BLANK.match(text, i):
            i = blank.end()
            continue
        if text[i] == 0x5B:
            section = _SECTION.match(text, i)
            stem, i = _section(text, section) if section else (None, i)
            if stem is None:
                return Settings(tuple(found), malformed=True)
            continue
        name = _NAME.match(text, i)
        if not name or stem is None or len(found) >= _MOST:
            return Settings(tuple(found), malformed=True)
        i = name.end()
        value: bytes | None = None
        if i < len(text) and text[i] == 0x3D:
            value, i = _value(text, i + 1)
            if value is None:
                return Settings(tuple(found), malformed=True)
        elif i < len(text) and text[i] != 0x0A:
            return Settings(tuple(found), malformed=True)
        key = stem + name[1].lower()
        found.append((_text(key), None if value is None else _text(value)))
    return Settings(tuple(found))


_remembered = functools.lru_cache(maxsize=64)(_parse)


def _section(text: bytes, head: re.Match[bytes]) -> tuple[bytes | None, int]:
    """What the keys of a section begin with, and where its header ends."""
    name, i = head[1].lower(), head.end()
    if not head[2]:
        return (name + b"." if name else None), i
    if head[2] == b"\n":
        return None, i
    while i < len(text) and text[i] in _SPACE:
        if text[i] == 0x0A:
            return None, i
        i += 1
    quoted = _SUBSECTION.match(text, i)
    if not quoted:
        return None, i
    return name + b"." + re.sub(rb"\\(.)", rb"\1", quoted[1], flags=re.DOTALL) + b".", quoted.end()


def _value(text: bytes, i: int) -> tuple[bytes | None, int]:
    """The value that begins at i, and where its line ends; None where git would refuse it."""
    made = bytearray()
    quoted = False
    spaces = 0  # held back: they count only where something follows
    while True:
        plain = _PLAIN.match(text, i)
        assert plain is not None  # it matches the empty string
        piece, i = plain[0], plain.end()
        if quoted:
            made += piece
        elif piece:
            kept = piece.strip(_SPACE)
            lead = len(piece) - len(piece.lstrip(_SPACE))
            if made:
                spaces += lead
            if kept:
                made += b" " * spaces + re.sub(rb"[ \t\r]", b" ", kept)
                spaces = len(piece) - lead - len(kept)
        if i >= len(text) or text[i] == 0x0A:
            return (None, i) if quoted else (bytes(made), i)
        byte = text[i]
        i += 1
        if byte in b"#;":
            if quoted:
                made.append(byte)
                continue
            end = text.find(b"\n", i)
            return bytes(made), len(text) if end < 0 else end
        if byte == 0x22 or byte == 0x5C:
            made += b" " * spaces
            spaces = 0
        if byte == 0x22:
            quoted = not quoted
        else:
            escaped = text[i] if i < len(text) else 0x0A
            i += 1
            if escaped != 0x0A:
                if escaped not in _ESCAPES:
                    return None, i
                made += _ESCAPES[escaped]


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")
