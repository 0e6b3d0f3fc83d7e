"""The files that a patch names, in the two spellings that agents use: apply_patch's own, and unified diffs.

Agents read a header more loosely than they write it, so this reads it as loosely as the loosest of them:
Codex takes white space before it, opencode none after the colon, Hermes any after the stars, and a
"Move File". What only looks like a header is counted too: a file too many is named, never one too few.
"""

from __future__ import annotations

import re

from msgspec import Struct

_OWN = re.compile(r"\s*\*\*\*\s*(Add|Update|Delete|Move)\s+File:\s*(.+)")
_MOVED = re.compile(r"\s*\*\*\*\s*Move\s+to:\s*(.+)")
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
    own, diffed, old = "", "", ""
    for line in text.splitlines():
        if found := _OWN.match(line):
            verb, path = found[1], found[2].strip()
            source, arrow, target = path.partition("->")
            own = source.strip() if verb == "Move" and arrow else path
            added.setdefault(own, [])
            if verb == "Delete" or (verb == "Move" and arrow):
                deleted.add(own)
            if verb == "Move" and arrow:
                added.setdefault(target.strip(), added[own])
        elif found := _MOVED.match(line):
            added.setdefault(found[1].strip(), added.get(own, []))
            deleted.add(own)
        elif found := _OLD.match(line):
            old = found[1].strip()
        elif found := _NEW.match(line):
            new = found[1].strip()
            diffed = old if new == "/dev/null" else new
            added.setdefault(diffed, [])
            if new == "/dev/null":
                deleted.add(diffed)
        elif found := _RENAME.match(line):
            added.setdefault(found[2].strip(), [])
        elif line.startswith("+"):
            # A line that looks like a diff's header may be content of the file above it: it counts for both.
            for path in {own, diffed} - {""}:
                added[path].append(line[1:])
    return tuple(Change(path, "\n".join(lines), path in deleted) for path, lines in added.items() if path)
