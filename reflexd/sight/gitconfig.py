"""The settings that hold for a git command: every file and variable that git would read them from, in its order.

Read, never run. `problem` says what could not be had: then there may be more settings than are listed.
"""

from __future__ import annotations

import os
import pwd
import re
from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct

from reflexd.sight.disk import Unread, real
from reflexd.sight.disk import read as read_file
from reflexd.sight.gitsyntax import parse
from reflexd.sight.wildmatch import LONGEST, compiled

Scope = Literal["system", "global", "local", "worktree", "command"]

_LARGEST = 1 << 20
_ALL_FILES = 4 << 20
_MOST_FILES = 64
_DEEPEST = 10  # git's own limit
_MOST_GIVEN = 1000
_MOST_ENTRIES = 20_000
# Where the builds of git that are about look for the machine's settings; what is not there costs nothing.
_SYSTEM = (
    "/etc/gitconfig",
    "/usr/local/etc/gitconfig",
    "/opt/homebrew/etc/gitconfig",
    "/opt/local/etc/gitconfig",
    "/home/linuxbrew/.linuxbrew/etc/gitconfig",
    "/Library/Developer/CommandLineTools/usr/share/git-core/gitconfig",
    "/Applications/Xcode.app/Contents/Developer/usr/share/git-core/gitconfig",
)
_QUOTED = re.compile(r"'((?:[^']|'\\''|'\\!')*)'(?:=(?:'((?:[^']|'\\''|'\\!')*)')?)?")
_SEVERAL = (".helper", ".url", ".pushurl", ".insteadof", ".pushinsteadof")
_REMOTE_URLS = "hasconfig:remote.*.url:"


class GitDir(Struct, frozen=True, kw_only=True):
    """What the settings hang on. `gitdir` is a worktree's own directory, `common` the one that all worktrees share.

    `branch` is empty where HEAD is detached (then `detached`) or where it cannot be told.
    """

    gitdir: str
    common: str
    branch: str = ""
    detached: bool = False


class Entry(Struct, frozen=True):
    """`value` None: the key stands alone, which means true. `file` is empty for what an environment or a word says."""

    key: str
    value: str | None
    file: str
    scope: Scope


class Config(Struct, frozen=True):
    """In git's order: of a key that can have one value the last holds."""

    entries: tuple[Entry, ...]
    problem: str = ""

    def last(self, key: str) -> str | None:
        """None where it is not set; a key that stands alone is "true"."""
        for entry in reversed(self.entries):
            if entry.key == key:
                return "true" if entry.value is None else entry.value
        return None

    def effective(self) -> tuple[Entry, ...]:
        """The last of every key, and all of those that may have several values; in no order of weight."""
        last = {entry.key: entry for entry in self.entries}
        several = [entry for entry in self.entries if entry.key.endswith(_SEVERAL)]
        return (*(entry for entry in last.values() if not entry.key.endswith(_SEVERAL)), *several)


def read(at: GitDir | None, env: Mapping[str, str], home: str, given: Sequence[str] = ()) -> Config:
    """`given` are the words that followed -c: `key=value`, or a key alone."""
    reader = _Reader(at, home)
    config = reader.all(env, given)
    if reader.asked_for_urls:
        urls = [e.value for e in config.entries if e.value and re.fullmatch(r"remote\..*\.url", e.key, re.DOTALL)]
        config = _Reader(at, home, tuple(urls)).all(env, given)
    return config


def truth(value: str | None) -> bool | None:
    """What git takes a value for; None where it is neither true nor false. A key without a value is None as well
    as a `Config` holds it, and true."""
    if value is None:
        return True
    low = value.lower()
    if low in ("true", "yes", "on"):
        return True
    if low in ("false", "no", "off", ""):
        return False
    number = re.fullmatch(r"\s*[+-]?(0x[0-9a-f]+|[0-9]+)[kmg]?", low)
    return bool(int(number[1], 16 if "x" in number[1] else 10)) if number else None


def expanded(path: str, home: str) -> str | None:
    """A path of a setting with ~ and ~user put in; None where that cannot be told."""
    if not path.startswith("~"):
        return None if path.startswith("%(prefix)") else path
    name, slash, rest = path[1:].partition("/")
    if not name:
        return f"{home}{slash}{rest}" if home else None
    try:
        return f"{pwd.getpwnam(name).pw_dir}{slash}{rest}"
    except (KeyError, OSError, ValueError):
        return None


class _Reader:
    """One reading. `urls` None: those of the remotes are not known yet, so nothing that hangs on them is included."""

    def __init__(self, at: GitDir | None, home: str, urls: tuple[str, ...] | None = None) -> None:
        self._at = at
        self._home = home
        self._urls = urls
        self._entries: list[Entry] = []
        self._problem = ""
        self._files = _MOST_FILES
        self._size = _ALL_FILES
        self.asked_for_urls = False

    def all(self, env: Mapping[str, str], given: Sequence[str]) -> Config:
        for scope, path in self._places(env):
            self._file(path, scope, 0)
        for key, value in self._parameters(env, given):
            self._entry(key, value, "", "command", 0)
        return Config(tuple(self._entries), self._problem)

    def _places(self, env: Mapping[str, str]) -> list[tuple[Scope, str]]:
        found: list[tuple[Scope, str]] = []
        if truth(env.get("GIT_CONFIG_NOSYSTEM", "false")) is not True:
            system = env.get("GIT_CONFIG_SYSTEM")
            found += [("system", path) for path in ([system] if system is not None else _SYSTEM)]
        if (only := env.get("GIT_CONFIG_GLOBAL")) is not None:
            found.append(("global", only))
        else:
            config = env.get("XDG_CONFIG_HOME") or (f"{self._home}/.config" if self._home else "")
            found += [("global", f"{config}/git/config")] if config else []
            found += [("global", f"{self._home}/.gitconfig")] if self._home else []
        if self._at:
            found.append(("local", f"{self._at.common}/config"))
            found.append(("worktree", f"{self._at.gitdir}/config.worktree"))
        return found

    def _file(self, path: str, scope: Scope, depth: int) -> None:
        if scope == "worktree" and not depth and not self._worktree_settings():
            return
        if path in ("", os.devnull):
            return
        self._files -= 1
        if self._files < 0:
            self._fault(path, "too many files")
            return
        text = read_file(path, min(_LARGEST, self._size))
        if isinstance(text, Unread):
            if text.why != "missing" and not (text.why == "not permitted" and scope == "global"):
                self._fault(path, text.why)
            return
        self._size -= len(text)
        settings = parse(text)
        for key, value in settings.pairs:
            self._entry(key, value, path, scope, depth)
        if settings.malformed:
            self._fault(path, "malformed")

    def _worktree_settings(self) -> bool:
        for entry in reversed(self._entries):
            if entry.key == "extensions.worktreeconfig" and entry.scope == "local":
                return truth(entry.value) is True
        return False

    def _entry(self, key: str, value: str | None, file: str, scope: Scope, depth: int) -> None:
        if len(self._entries) >= _MOST_ENTRIES:
            self._fault(file, "too many settings")
            return
        self._entries.append(Entry(key, value, file, scope))
        if key == "include.path":
            self._include(value, file, scope, depth)
        elif key.startswith("includeif.") and key.endswith(".path"):
            condition = key[len("includeif.") : -len(".path")]
            if self._holds(condition, file):
                self._include(value, file, scope, depth)

    def _include(self, value: str | None, file: str, scope: Scope, depth: int) -> None:
        path = expanded(value, self._home) if value else None
        if path is None or (not os.path.isabs(path) and not file):
            self._fault(file, f"cannot tell what is included by {value!r}")
        elif depth >= _DEEPEST:
            self._fault(file, "included too deeply")
        else:
            self._file(os.path.join(os.path.dirname(file), path), scope, depth + 1)

    def _holds(self, condition: str, file: str) -> bool:
        kind, _, pattern = condition.partition(":")
        if len(os.fsencode(condition)) > LONGEST // 2:
            self._fault(file, "a condition that is too long")
        match kind:
            case "gitdir" | "gitdir/i":
                return self._lies(pattern, file, kind == "gitdir/i")
            case "onbranch":
                branch = self._at.branch if self._at and not self._at.detached else ""
                if self._at and not branch and not self._at.detached:
                    self._fault(file, "cannot tell which branch is checked out")
                return bool(branch) and _fits(pattern + "**" * pattern.endswith("/"), branch)
            case "hasconfig" if condition.startswith(_REMOTE_URLS):
                self.asked_for_urls = True
                wanted = condition[len(_REMOTE_URLS) :]
                return any(_fits(wanted, url) for url in self._urls or ())
            case _:
                self._fault(file, f"unknown condition {condition!r}")
                return False

    def _lies(self, pattern: str, file: str, fold: bool) -> bool:
        """Whether the repository's own directory lies where a condition says."""
        if not self._at:
            return False
        prefix = ""  # taken literally: there may be stars in the name of a home
        if pattern.startswith("~"):
            start = expanded(pattern.partition("/")[0], self._home)
            if start is None:
                return False
            pattern = real(start) + pattern[len(pattern.partition("/")[0]) :]
        elif pattern.startswith("./"):
            if not file:
                return False
            prefix = os.path.dirname(real(file)) + "/"
            pattern = pattern[2:]
        elif not pattern.startswith("/"):
            pattern = "**/" + pattern
        if pattern.endswith("/"):
            pattern += "**"
        for place in dict.fromkeys((real(self._at.gitdir), self._at.gitdir)):
            head, rest = place[: len(prefix)], place[len(prefix) :]
            same = head.lower() == prefix.lower() if fold else head == prefix
            if same and _fits(pattern, rest, fold):
                return True
        return False

    def _parameters(self, env: Mapping[str, str], given: Sequence[str]) -> list[tuple[str, str | None]]:
        found: list[tuple[str, str | None]] = []
        if counted := env.get("GIT_CONFIG_COUNT"):
            count = int(counted) if counted.isascii() and counted.isdigit() and len(counted) < 5 else _MOST_GIVEN + 1
            if count > _MOST_GIVEN:
                self._fault("GIT_CONFIG_COUNT", "too many")
                count = 0
            for n in range(count):
                found.append((env.get(f"GIT_CONFIG_KEY_{n}", ""), env.get(f"GIT_CONFIG_VALUE_{n}")))
                if found[-1][1] is None:
                    self._fault(f"GIT_CONFIG_VALUE_{n}", "missing")
        found += self._quoted(env.get("GIT_CONFIG_PARAMETERS", ""))
        for word in given:
            name, equals, value = word.partition("=")
            found.append((name, value if equals else None))
        return [(_canonical(key), value) for key, value in found]

    def _quoted(self, text: str) -> list[tuple[str, str | None]]:
        found: list[tuple[str, str | None]] = []
        i = 0
        while text[i:].strip():
            while text[i] in " \t\n":
                i += 1
            word = _QUOTED.match(text, i)
            if not word or len(found) >= _MOST_GIVEN:
                self._fault("GIT_CONFIG_PARAMETERS", "malformed")
                break
            i = word.end()
            first = _unquoted(word[1])
            if "=" in word[0][len(word[1]) + 2 :]:  # quoted apart: a key with nothing after its = has no value
                found.append((first, None if word[2] is None else _unquoted(word[2])))
            else:
                name, equals, value = first.partition("=")
                found.append((name, value if equals else None))
        return found

    def _fault(self, where: str, what: str) -> None:
        self._problem = self._problem or f"{where or 'a setting given by the call'}: {what}"


def _canonical(key: str) -> str:
    """All in lower case but the subsection, which is what lies between the first dot and the last."""
    section, _, rest = key.strip().partition(".")
    middle, dot, name = rest.rpartition(".")
    return f"{section.lower()}.{middle}{dot}{name.lower()}"


def _unquoted(text: str) -> str:
    return text.replace("'\\''", "'").replace("'\\!'", "!")


def _fits(pattern: str, text: str, fold: bool = False) -> bool:
    return compiled(os.fsencode(pattern), fold=fold).matches(os.fsencode(text))
