"""Text that looks like a command and is one only for a reader that normalises it: no shell runs it as it stands."""

from __future__ import annotations

from tests.gate.mutators_text import Mutator


def _mapped(first: int) -> Mutator:
    """Lower-case letters of the program's name, from another alphabet that folds to the same."""

    def mutate(command: str) -> str:
        name, space, rest = command.partition(" ")
        return "".join(chr(first + ord(c) - ord("a")) if "a" <= c <= "z" else c for c in name) + space + rest

    return mutate


def _inside(mark: str) -> Mutator:
    return lambda c: c[:1] + mark + c[1:]


def _spaces(mark: str) -> Mutator:
    return lambda c: c.replace(" ", mark)


ALIKE: dict[str, Mutator] = {
    "fullwidth": _mapped(0xFF41),
    "mathematical-bold": _mapped(0x1D41A),
    "mathematical-mono": _mapped(0x1D68A),
    "circled": _mapped(0x24D0),
    "fullwidth-first": lambda c: chr(0xFF41 + ord(c[0]) - ord("a")) + c[1:] if "a" <= c[0] <= "z" else c,
    "zero-width-space": _inside("\u200b"),
    "zero-width-joiner": _inside("\u200d"),
    "word-joiner": _inside("\u2060"),
    "soft-hyphen": _inside("\u00ad"),
    "combining": _inside("\u0335"),
    "right-to-left": _inside("\u202e"),
    "byte-order-mark": lambda c: "\ufeff" + c,
    "no-break-spaces": _spaces("\u00a0"),
    "ideographic-spaces": _spaces("\u3000"),
    "figure-spaces": _spaces("\u2007"),
    "line-separators": _spaces("\u2028"),
    "next-line": _spaces("\u0085"),
    "form-feeds": _spaces("\f"),
    "vertical-tabs": _spaces("\v"),
    "carriage-returns": _spaces("\r"),
    "null-inside": _inside("\x00"),
    "backspace-inside": lambda c: "x\b" + c,
    "escape-inside": _inside("\x1b[0m"),
}
