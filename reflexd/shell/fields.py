"""Words as the shell would hand them over, with what is not known kept visible.

A field is a str in which a few control characters stand for what is not literal text. Such characters
in a command itself are replaced before anything is read, so they cannot be forged.
"""

from __future__ import annotations

import re

UNKNOWN = "\x01"  # some text, possibly none
STAR, ONE, BRACKET = "\x02", "\x03", "\x04"  # active *, ? and [ of a pattern
PIPED = "\x05"  # begins the name of a process substitution's pipe
UNSET = "\x06"  # a variable that nothing in sight sets: most likely empty
GLOB_MARKS = (STAR, ONE, BRACKET)
GLOBS = {"*": STAR, "?": ONE, "[": BRACKET}
SHOWN = str.maketrans({UNKNOWN: "…", UNSET: "…", STAR: "*", ONE: "?", BRACKET: "[", PIPED: "/dev/fd/"})
_MARK = re.compile(f"[{UNKNOWN}{UNSET}{STAR}{ONE}{BRACKET}{PIPED}]")
_FORGED = re.compile("[\ue000\ue001\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_ESCAPE = re.compile(
    r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|c(.)|(.))|([^\\]+)", re.S
)
_NAMED = {"a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def clean(text: str) -> tuple[str, bool]:
    """`text` without characters that could pass for our marks, and whether there were any."""
    text = text.replace("\r\n", "\n")
    found = _FORGED.sub("\ufffd", text)
    return found, found != text


def known(field: str) -> bool:
    """Whether the field is literal text, all of it."""
    return _MARK.search(field) is None


def shown(field: str) -> str:
    return field.translate(SHOWN)


def decode_ansi_c(body: str) -> str:
    """The text of $'body'."""
    out: list[str] = []
    for found in _ESCAPE.finditer(body):
        hexa, short, long, octal, control, other, plain = found.groups()
        if plain is not None:
            out.append(plain)
        elif code := hexa or short or long:
            out.append(_char(int(code, 16)))
        elif octal:
            out.append(_char(int(octal, 8) & 0xFF))
        elif control:
            out.append(_char(ord(control) & 0x1F))
        else:
            out.append(_NAMED.get(other) or (other if other in "\\'\"?" else "\\" + other))
    return clean("".join(out))[0]


def _char(code: int) -> str:
    return chr(code) if 0 < code < 0x110000 else ""
