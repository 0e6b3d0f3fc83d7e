"""Text filters: what they print, where that follows from their words and their input alone.

What is not computed exactly is None: the order that sort makes depends on a locale, and most patterns are not tried.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable

from reflexd.shell.fields import decode_ansi_c
from reflexd.shell.options import names, split

Printer = Callable[[tuple[str, ...], str | None], str | None]
PRINTED_MAX = 64 * 1024
SCRIPT_MAX = 500
_SPECIAL = re.compile(r"[\\.^$*\[\](){}+?|]")


def _lines(stdin: str) -> list[str]:
    return stdin.splitlines(keepends=True)


def _plain(flags: frozenset[str]) -> frozenset[str]:
    """Options one by one, without the words that held several."""
    return frozenset(flag for flag in flags if len(flag) == 2 or flag.startswith("--"))


def _head(args: tuple[str, ...], stdin: str | None) -> str | None:
    count = _count(args)
    return None if stdin is None or count is None or count[0] == "+" else "".join(_lines(stdin)[: int(count)])


def _tail(args: tuple[str, ...], stdin: str | None) -> str | None:
    count = _count(args)
    if stdin is None or count is None:
        return None
    lines = _lines(stdin)
    return "".join(lines[int(count) - 1 :] if count[0] == "+" else lines[max(0, len(lines) - int(count)) :])


def _count(args: tuple[str, ...]) -> str | None:
    """The number that head or tail is given; None where it is given anything else."""
    text = " ".join(args) or "-n 10"
    found = re.fullmatch(r"(?:-n ?|--lines=|-)(\+?\d{1,6})", text)
    return found[1] if found and found[1] not in ("+0", "+") else None


def _tac(args: tuple[str, ...], stdin: str | None) -> str | None:
    return None if stdin is None or args else "".join(reversed(_lines(stdin)))


def _sort(args: tuple[str, ...], stdin: str | None) -> str | None:
    plain = set(args) <= names("-u -r -n -f -h -V -b")
    return stdin if stdin is not None and plain and len(_lines(stdin)) < 2 else None


def _uniq(args: tuple[str, ...], stdin: str | None) -> str | None:
    if stdin is None or args:
        return None
    lines = _lines(stdin)
    return "".join(line for i, line in enumerate(lines) if not i or line != lines[i - 1])


_CUT_OPTIONS = names("-c -b -d -f --characters --bytes --delimiter --fields")


def _cut(args: tuple[str, ...], stdin: str | None) -> str | None:
    found = split(args, _CUT_OPTIONS)
    if stdin is None or found.operands or not _plain(found.flags) <= _CUT_OPTIONS:
        return None
    by_field = found.value("-f", "--fields")
    ranges = _ranges(by_field or found.value("-c", "-b", "--characters", "--bytes") or "")
    between = found.value("-d", "--delimiter") or "\t"
    if not ranges:
        return None
    out = []
    for line in stdin.splitlines():
        parts = line.split(between) if by_field else list(line)
        if by_field and len(parts) == 1:
            out.append(line)
            continue
        kept = [part for i, part in enumerate(parts, 1) if any(low <= i <= high for low, high in ranges)]
        out.append((between if by_field else "").join(kept))
    return "".join(line + "\n" for line in out)


def _ranges(text: str) -> list[tuple[int, int]]:
    found = []
    for part in text.split(","):
        match = re.fullmatch(r"(\d{0,6})(-?)(\d{0,6})", part)
        if not match or not (match[1] or match[3]):
            return []
        low = int(match[1] or 1)
        found.append((low, int(match[3]) if match[3] else 1_000_000 if match[2] else low))
    return found


def _paste(args: tuple[str, ...], stdin: str | None) -> str | None:
    found = split(args, names("-d --delimiters"))
    between = found.value("-d", "--delimiters")
    if stdin is None or not found.has("-s", "--serial") or set(found.operands) - {"-"}:
        return None
    return (between[:1] if between is not None else "\t").join(stdin.splitlines()) + "\n"


def _grep(args: tuple[str, ...], stdin: str | None) -> str | None:
    found = split(args, names("-e"))
    patterns = found.all("-e") or found.operands[:1]
    if stdin is None or len(patterns) != 1 or not _plain(found.flags) <= names("-e -F -v -i -h -E"):
        return None
    pattern = patterns[0]
    if pattern != "." and not found.has("-F") and _SPECIAL.search(pattern):
        return None
    fold = str.casefold if found.has("-i") else str
    wanted = not found.has("-v")
    lines = (line for line in _lines(stdin))
    if pattern == ".":
        return "".join(line for line in lines if bool(line.strip("\n")) is wanted)
    return "".join(line for line in lines if (fold(pattern) in fold(line)) is wanted)


def _awk(args: tuple[str, ...], stdin: str | None) -> str | None:
    found = split(args, names("-F"))
    program = found.operands[0].strip() if len(found.operands) == 1 else ""
    if stdin is None or not _plain(found.flags) <= {"-F"}:
        return None
    between = found.value("-F")
    if program in ("1", "{print}", "{ print }", "{print $0}", "{ print $0 }"):
        return "".join(line + "\n" for line in stdin.splitlines())
    field = re.fullmatch(r"\{\s*print\s*\$(\d{1,3}|NF)\s*;?\s*\}", program)
    if not field or (between is not None and (len(between) != 1 or between in "\\ |")):
        return None
    out = []
    for line in stdin.splitlines():
        parts = line.split(between) if between is not None else line.split()
        at = len(parts) if field[1] == "NF" else int(field[1])
        out.append((parts[at - 1] if 0 < at <= len(parts) else "") + "\n")
    return "".join(out)


def _tr(args: tuple[str, ...], stdin: str | None) -> str | None:
    if stdin is None:
        return None
    options = "".join(word[1:] for word in args if word.startswith("-") and len(word) > 1)
    sets = [_set(word) for word in args if not (word.startswith("-") and len(word) > 1)]
    if options == "d" and len(sets) == 1:
        return "".join(c for c in stdin if c not in sets[0])
    if options in ("", "s") and len(sets) == 2 and sets[1]:
        target = sets[1] + sets[1][-1] * max(0, len(sets[0]) - len(sets[1]))
        return stdin.translate({ord(a): b for a, b in reversed(list(zip(sets[0], target, strict=False)))})
    return None


def _set(word: str) -> str:
    """A tr set: escapes, ranges and the two classes that change case."""
    word = word.replace("[:upper:]", "A-Z").replace("[:lower:]", "a-z")
    text = decode_ansi_c(word)
    out: list[str] = []
    i = 0
    while i < len(text):
        if len(out) > 4096:
            raise ValueError
        if text[i + 1 : i + 2] == "-" and i + 2 < len(text):
            out.extend(chr(c) for c in range(ord(text[i]), ord(text[i + 2]) + 1))
            i += 3
            if len(out) > 4096:
                raise ValueError
        else:
            out.append(text[i])
            i += 1
    return "".join(out)


def _sed(args: tuple[str, ...], stdin: str | None) -> str | None:
    scripts = [word for word in args if not word.startswith("-")]
    if (
        stdin is None
        or len(scripts) != 1
        or len(scripts[0]) > SCRIPT_MAX
        or not set(args) - set(scripts) <= {"-e", "-E", "-r", "-n"}
    ):
        return None
    if scripts[0] == "p":
        return "".join(_lines(stdin)) if "-n" in args else None
    if (line := re.fullmatch(r"(\d{1,6})p", scripts[0])) and "-n" in args:
        return "".join(_lines(stdin)[int(line[1]) - 1 : int(line[1])])
    script = re.fullmatch(r"s(.)(\^?)(.*?)(\$?)\1(.*?)\1(g?)", scripts[0], re.S)
    if not script or "-n" in args or _SPECIAL.search(script[3]) or re.search(r"[\\&]", script[5]):
        return None
    _, start, old, end, new, every = script.groups()
    if stdin.count(old) * len(new) > PRINTED_MAX:
        return None
    return "".join(_replaced(line, start, old, end, new, -1 if every else 1) for line in _lines(stdin))


def _replaced(line: str, start: str, old: str, end: str, new: str, count: int) -> str:
    text, newline = (line[:-1], "\n") if line.endswith("\n") else (line, "")
    if start and end:
        return (new if text == old else text) + newline
    if start:
        return (new + text[len(old) :] if text.startswith(old) else text) + newline
    if end:
        return (text[: len(text) - len(old)] + new if text.endswith(old) else text) + newline
    return text.replace(old, new, count) + newline if old else line


def _rev(args: tuple[str, ...], stdin: str | None) -> str | None:
    if stdin is None or args:
        return None
    return "".join(line.rstrip("\n")[::-1] + "\n" for line in stdin.splitlines(keepends=True))


def _rot13(args: tuple[str, ...], stdin: str | None) -> str | None:
    return None if stdin is None or args else codecs.encode(stdin, "rot13")


PRINTERS: dict[str, Printer] = {
    "head": _head,
    "tail": _tail,
    "tac": _tac,
    "sort": _sort,
    "uniq": _uniq,
    "cut": _cut,
    "paste": _paste,
    "grep": _grep,
    "egrep": _grep,
    "fgrep": _grep,
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), _awk),
    "tr": _tr,
    "sed": _sed,
    "rev": _rev,
    "rot13": _rot13,
}
