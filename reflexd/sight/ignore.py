"""What git ignores in a worktree: its .gitignore files, info/exclude and the user's own list.

Tracked files are never ignored, whatever matches them: who asks has to leave those out.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence

from msgspec import Struct

from reflexd.sight.disk import Budget, Unread, look, read
from reflexd.sight.wildmatch import LONGEST, Pattern, compiled

_LARGEST = 256 << 10
_MOST = 5_000  # patterns of one file
# How many bytes read these count for: a line that is compiled, by its length; a rule tried on a path.
_COMPILING, _TRYING, _MATCHING = 64, 64, 1024
_MARKS = b"*?[\\"


class Rule(Struct, frozen=True):
    """One line. `literal`: what the name or path begins with (all of it, where nothing else is set).

    `anchored`: held against the path below the file's directory, otherwise against the last name of it.
    """

    literal: bytes
    ending: bytes | None = None
    pattern: Pattern | None = None
    anchored: bool = False
    negative: bool = False
    only_dirs: bool = False

    def matches(self, below: bytes, name: bytes) -> bool:
        text = below if self.anchored else name
        if self.ending is not None:
            return text.endswith(self.ending)
        if self.pattern is None:
            return text == self.literal
        return text.startswith(self.literal) and self.pattern.matches(text[len(self.literal) :])


class Ignores:
    """Of one worktree, looked up as asked. `problem` says what could not be read: then more may be ignored or less.

    For one thread. `extra` are the files besides the worktree's own, the weightiest first.
    """

    def __init__(self, worktree: str, extra: Sequence[str], budget: Budget, fold: bool = False) -> None:
        self.problem = ""
        self._worktree = worktree
        self._budget = budget
        self._fold = fold
        self._extra = [self._load(path, follow=True) for path in extra]
        self._below: dict[bytes, tuple[Rule, ...]] = {}
        self._whole: dict[bytes, bool] = {b"": False}  # directories already asked about

    def ignored(self, path: str, is_dir: bool) -> bool:
        """`path` is relative to the worktree. Below an ignored directory everything is."""
        return self._ignored(os.fsencode(path).strip(b"/"), is_dir)

    def _ignored(self, path: bytes, is_dir: bool) -> bool:
        known = self._whole.get(path) if is_dir else None
        if known is not None:
            return known
        above = path.rpartition(b"/")[0]
        found = self._ignored(above, True) or self._decided(path, is_dir)
        if is_dir:
            self._whole[path] = found
        return found

    def _decided(self, path: bytes, is_dir: bool) -> bool:
        """The last line that fits in the deepest file decides."""
        name = path.rpartition(b"/")[2]
        if self._fold:
            path_seen, name = path.lower(), name.lower()
        else:
            path_seen = path
        base = path
        while base:
            base = base.rpartition(b"/")[0]
            rules = self._rules(base)
            decided = self._among(rules, path_seen[len(base) + bool(base) :], name, is_dir)
            if decided is not None:
                return decided
        for rules in self._extra:
            decided = self._among(rules, path_seen, name, is_dir)
            if decided is not None:
                return decided
        return False

    def _among(self, rules: tuple[Rule, ...], below: bytes, name: bytes, is_dir: bool) -> bool | None:
        if not rules:
            return None
        patterns = 0
        for number, rule in enumerate(rules):
            patterns += rule.pattern is not None
            if (is_dir or not rule.only_dirs) and rule.matches(below, name):
                self._spend(number + 1, patterns)
                return not rule.negative
        self._spend(len(rules), patterns)
        return None

    def _spend(self, tried: int, patterns: int) -> None:
        if not self._budget.take(size=_TRYING * tried + _MATCHING * patterns):
            self.problem = self.problem or "too much to look at"

    def _rules(self, base: bytes) -> tuple[Rule, ...]:
        found = self._below.get(base)
        if found is None:
            path = os.path.join(self._worktree, os.fsdecode(base), ".gitignore")
            found = self._below[base] = self._load(path, follow=False)
        return found

    def _load(self, path: str, follow: bool) -> tuple[Rule, ...]:
        seen = look(path)
        if not isinstance(seen, Unread) and stat.S_ISLNK(seen.st_mode) and not follow:
            return ()  # git does not follow it either
        text = Unread(path, "missing") if isinstance(seen, Unread) and seen.why == "missing" else read(path, _LARGEST)
        if isinstance(text, Unread):
            if text.why != "missing":
                self.problem = self.problem or f"{path}: {text.why}"
            return ()
        if not self._budget.take(files=1, size=_COMPILING * len(text)):
            self.problem = self.problem or "too much to look at"
            return ()
        if text.count(b"\n") > _MOST or any(len(line) > LONGEST for line in text.split(b"\n")):
            self.problem = self.problem or f"{path}: too many patterns, or too long"
            return ()
        return parse(text, self._fold)


def parse(text: bytes, fold: bool = False) -> tuple[Rule, ...]:
    """The rules of a file, the last line first: that is how they are tried."""
    rules = []
    for line in text.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        if line.startswith(b"#"):
            continue
        line = _trimmed(line.removesuffix(b"\r").partition(b"\0")[0])
        if line:
            rules.append(_rule(line, fold))
    return tuple(reversed(rules))


def _trimmed(line: bytes) -> bytes:
    """Without the blanks at its end, but for an escaped one."""
    kept = line.rstrip(b" ")
    slashes = len(kept) - len(kept.rstrip(b"\\"))
    return kept if slashes % 2 == 0 or kept == line else kept + b" "


def _rule(line: bytes, fold: bool) -> Rule:
    negative = line.startswith(b"!")
    text = line[negative:]
    only_dirs = text.endswith(b"/")
    text = text[: len(text) - only_dirs]
    anchored = b"/" in text
    text = text.removeprefix(b"/") if anchored else text
    plain = next((i for i, byte in enumerate(text) if byte in _MARKS), len(text))
    seen = text.lower() if fold else text
    if plain == len(text):
        return Rule(seen, None, None, anchored, negative, only_dirs)
    if not anchored and text[:1] == b"*" and not any(byte in _MARKS for byte in text[1:]):
        return Rule(b"", seen[1:], None, anchored, negative, only_dirs)
    if not anchored:
        return Rule(b"", None, compiled(text, paths=False, fold=fold), anchored, negative, only_dirs)
    # git compares what comes before the first mark apart from the rest, which changes what a `**` after it means.
    return Rule(seen[:plain], None, compiled(text[plain:], fold=fold), anchored, negative, only_dirs)
