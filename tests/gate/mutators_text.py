"""Spellings that the mutators share: quoting for the languages a command is put into, and codes for its letters."""

from __future__ import annotations

import base64
import re
import shlex
from collections.abc import Callable

Mutator = Callable[[str], str]
"""Shell code -> shell code that does the same; the code itself where it cannot be written that way."""

quote = shlex.quote
PLAIN_WORD = re.compile(r"[A-Za-z0-9_./:=@%+,-]+\Z")


def octal(text: str) -> str:
    return "".join(f"\\{byte:03o}" for byte in text.encode())


def hexa(text: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in text.encode())


def b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def end(code: str) -> str:
    """A delimiter that no line of `code` is: a document ends at the first one."""
    return next(word for word in ("STOP", *(f"STOP{n}" for n in range(9))) if word not in code.split("\n"))


def document(program: str, code: str, after: str = "") -> str:
    return f"{program} <<'{end(code)}'{after}\n{code}\n{end(code)}"


def one_line(change: Mutator) -> Mutator:
    """For what ends at the end of a line."""
    return lambda c: change(c) if "\n" not in c else c


def no_marks(marks: str, change: Mutator) -> Mutator:
    """For what means something else where one of `marks` stands in it."""
    return lambda c: change(c) if not any(mark in c for mark in marks) else c


def double(text: str) -> str:
    """In double quotes as C-like languages read them; nothing in it is interpolated by perl, ruby or a shell."""
    text = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return '"' + text.replace("$", "\\$").replace("#", "\\#").replace("@", "\\@") + '"'


def strict_double(text: str) -> str:
    """The same for languages that know no other escapes than those of C."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t") + '"'


def rot13(text: str) -> str:
    out = []
    for c in text:
        base = ord("a") if c.islower() else ord("A")
        out.append(chr((ord(c) - base + 13) % 26 + base) if c.isascii() and c.isalpha() else c)
    return "".join(out)


def half(word: str) -> tuple[str, str]:
    return word[: len(word) // 2], word[len(word) // 2 :]
