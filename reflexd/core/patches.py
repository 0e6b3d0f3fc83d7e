"""The files that a patch names, in the two spellings that agents use: apply_patch's own, and unified diffs."""

from __future__ import annotations

import re

from msgspec import Struct

_OWN = re.compile(r"\*\*\* (Add|Update|Delete) File: (.+)|\*\*\* Move to: (.+)")
_OLD = re.compile(r"--- (?:a/)?([^\t\n]+)")
_NEW = re.compile(r"\+\+\+ (?:b/)?([^\t\n]+)")
_RENAME = re.compile(r"(?:rename|copy) (from|to) (.+)")


class Change(Struct, frozen=True):
    path: str
    added: str = ""
    deleted: bool = False


def read(text: str) -> tuple[Change, ...]:
    """Every file that the patch would change, with the lines that come in. Empty: not a patch at all."""
    added: dict[str, list[str]] = {}
    deleted: set[str] = set()
    current, old = "", ""
    for line in text.splitlines():
        if own := _OWN.match(line):
            verb, path, moved = own.groups()
            if moved:
                added.setdefault(moved.strip(), added.get(current, []))
                deleted.add(current)
            else:
                current = path.strip()
                added.setdefault(current, [])
                if verb == "Delete":
                    deleted.add(current)
        elif found := _OLD.match(line):
            old = found[1].strip()
        elif found := _NEW.match(line):
            new = found[1].strip()
            current = old if new == "/dev/null" else new
            added.setdefault(current, [])
            if new == "/dev/null":
                deleted.add(current)
        elif found := _RENAME.match(line):
            added.setdefault(found[2].strip(), [])
        elif line.startswith("+") and current:
            added[current].append(line[1:])
    return tuple(Change(path, "\n".join(lines), path in deleted) for path, lines in added.items() if path)
