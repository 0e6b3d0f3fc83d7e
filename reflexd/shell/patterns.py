"""Patterns of names: those in a command, and those of config/places.toml."""

from __future__ import annotations

import functools
import re

from reflexd.shell.fields import BRACKET, ONE, STAR, UNKNOWN, UNSET

MARKS = re.compile(f"[{UNKNOWN}{STAR}{ONE}{BRACKET}{UNSET}]")
_GLOB = re.compile(f"[{STAR}{ONE}{BRACKET}]")
_SETS, _ESCAPED = re.compile(r"[&~|]"), r"\\\g<0>"  # what a later Python may take for operations on sets
_ANY_NAME = "Aa0"  # a name that no landmark has: what matches it matches nearly everything


@functools.lru_cache(maxsize=2048)
def pattern(part: str) -> re.Pattern[str]:
    """Matches whole names, in time that is linear in the name: an agent wrote the pattern.

    Between stars stand pieces, and the leftmost place of each is as good as any other: once found it is not
    looked for again (a look-ahead that is matched back, which is what an atomic group would do).
    """
    pieces: list[list[str]] = [[]]
    i = 0
    while i < len(part):
        c = part[i]
        if c in (STAR, UNKNOWN, UNSET):
            pieces.append([])
        elif c == ONE:
            pieces[-1].append(".")
        elif c == BRACKET:
            end = part.find("]", i + 2)
            if end < 0:
                pieces[-1].append(r"\[")
            else:
                inside = part[i + 1 : end].replace("\\", "\\\\").replace("[", "\\[")
                inside = "^" + inside[1:] if inside[:1] in ("!", "^") else inside
                pieces[-1].append("." if "--" in inside else f"[{_SETS.sub(_ESCAPED, inside)}]")
                i = end
        else:
            pieces[-1].append(re.escape(c))
        i += 1
    first, *rest = ("".join(piece) for piece in pieces)
    last = f".*{rest.pop()}" if rest else ""
    middle = "".join(f"(?=(.*?{piece}))\\{number}" for number, piece in enumerate(filter(None, rest), 1))
    try:
        return re.compile(f"(?s:{first}{middle}{last})\\Z")
    except re.error:
        return re.compile(r"(?s:.*)\Z")


def name_matches(part: str, name: str) -> bool:
    if not MARKS.search(part):
        return part == name
    if name.startswith(".") and part[:1] in (STAR, ONE, BRACKET):
        return False
    return pattern(part).match(name) is not None


def matches_nearly_all(part: str) -> bool:
    """A pattern like * or ?* or [!x]*: it takes (nearly) everything in its directory."""
    return bool(_GLOB.search(part)) and STAR in part and pattern(part).match(_ANY_NAME) is not None


def at_home(pattern: str, home: str) -> str:
    return home + pattern[1:] if pattern.startswith("~/") else pattern


def glob_to_regex(pattern: str, home: str) -> str:
    if pattern.startswith("~/"):
        head, pattern = re.escape(home) + "/", pattern[2:]
    elif pattern.startswith("**/"):
        head, pattern = "/(?:.*/)?", pattern[3:]
    else:
        head = ""
    out = []
    for piece in re.split(r"(\*\*/|/\*\*\Z|\*)", pattern):
        out.append({"**/": "(?:.*/)?", "/**": "/.+", "*": "[^/]*"}.get(piece) or re.escape(piece))
    return head + "".join(out) + r"\Z"
