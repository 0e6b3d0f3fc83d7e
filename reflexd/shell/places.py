"""Where a path lies: what a command's field names, seen from one user's home and one working directory.

What is on disk is not known here. A pattern is tried on names that matter (the machine's directories,
the home, reflex's own places, the usual credential files); what it might match otherwise is left open.
The patterns themselves are data: config/places.toml.
"""

from __future__ import annotations

import copy
import functools
import re
from fnmatch import fnmatchcase

from msgspec import Struct

from reflexd.shell.fields import BRACKET, PIPED, UNKNOWN, UNSET, shown
from reflexd.shell.landmarks import Endings, Landmarks, Names
from reflexd.shell.meanings import Files, Meanings
from reflexd.shell.patterns import MARKS, matches_nearly_all
from reflexd.shell.tables import table
from reflexd.types import Context, Place, Seen, Sighting, Want, WantKind

_PROC_ROOT = re.compile(r"/+proc/[^/]+/(?:root|task/[^/]+/root)(?=/|$)")
_PLUGIN = re.compile(r"/reflex(?:\.\w+|/[^/]+)?\Z")  # a hook file that is reflex's own from the first byte to the last
_DRIVE = re.compile(r"[A-Za-z]:(?:[\\/]+[^\\/]*|\$.*)?[\\/]*\Z")


class _System(Struct, frozen=True, forbid_unknown_fields=True):
    whole: tuple[str, ...]
    upper: tuple[str, ...]
    top: tuple[str, ...]
    homes: tuple[str, ...]
    scratch: tuple[str, ...]


class _Named(Struct, frozen=True, forbid_unknown_fields=True):
    names: tuple[str, ...]
    samples: tuple[str, ...] = ()
    certain: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    single: tuple[str, ...] = ()


class _Data(Struct, frozen=True, forbid_unknown_fields=True):
    places: int
    system: _System
    device: _Named
    disposable: _Named
    files: dict[Place, Files]


@functools.cache
def data() -> _Data:
    return table("places.toml", _Data)


class Ground:
    """One user's home, and the files that reflex guards for that user."""

    def __init__(self, context: Context) -> None:
        self.home = _normal(context.home) if context.home.startswith("/") else ""
        self.cwd = _normal(context.cwd) if context.cwd.startswith("/") else UNKNOWN
        self.env = (*context.env, *context.past.exported)
        self.shadowed = context.shadowed
        self.downloaded = context.past.downloaded
        self.production = context.production
        self.chosen: tuple[tuple[str, str], ...] = ()
        self.seen = Seen()
        self.wants: dict[Want, None] = {}
        self.own_pids = frozenset(map(str, context.own_pids))
        base = self.home or "/home/nobody"
        own = [f"{base}/.config/reflex", f"{base}/.local/state/reflex", f"{base}/.local/share/reflex"]
        units = [
            f"{base}/.config/systemd/user/reflexd.service",
            f"{base}/.config/systemd/user/reflexd.socket",
            f"{base}/Library/LaunchAgents/reflexd.plist",
        ]
        hooks = [_normal(path) for path in context.hook_files]
        plugins = [path for path in hooks if _PLUGIN.search(path)]
        processes = [f"/proc/{pid}" for pid in context.own_pids]
        self.protected = tuple(dict.fromkeys([*map(_normal, context.protected), *own, *units, *plugins, *processes]))
        self.hook_files = tuple(path for path in hooks if path not in plugins)
        self._own = Landmarks(self.protected)
        self._hooks = Landmarks(self.hook_files)
        self._meanings = _meanings(base)
        self._homes = Landmarks((self.home,) if self.home else ())
        self._has_workspace = self._may_be_workspace()

    def looking(self, seen: Seen) -> Ground:
        """The same for one call: what was seen for it, and a list of its own of what is still to be looked at."""
        mine = copy.copy(self)
        mine.seen = seen
        mine.wants = {}
        return mine

    def want(self, kind: WantKind, path: str) -> Sighting | None:
        """What was seen there; None, and noted as wanted, where nobody has looked."""
        found = self.seen.of(kind, path)
        if found is None:
            self.wants[Want(kind, path)] = None
        return found

    def locate(self, word: str, cwd: str | None = None, deep: bool = False) -> tuple[str, tuple[Place, ...]]:
        """The path as a reader would see it, and every place it lies in.

        `deep`: what lies below it is meant as well, so a directory that holds a guarded file counts.
        """
        here = self.cwd if cwd is None else cwd
        path = self._absolute(word, here)
        found = dict.fromkeys(self._places(path, deep))
        if UNSET in word:
            found.update(dict.fromkeys(self._places(self._absolute(word.replace(UNSET, ""), here), deep)))
        return shown(path), tuple(found)

    def _absolute(self, word: str, cwd: str) -> str:
        if word.startswith(PIPED):
            return "/dev/fd/63"
        if word.startswith(("/", UNKNOWN + "/", UNSET)) or word == UNKNOWN:
            return _normal(word)
        if word.startswith("~"):  # a tilde that reached a program: some expand it themselves
            head, slash, tail = word.partition("/")
            word = f"{self.home or UNKNOWN}{slash}{tail}" if head == "~" else word
            if head == "~":
                return _normal(word)
        base = cwd if cwd.startswith("/") or cwd in (UNKNOWN, UNSET) else UNKNOWN
        return _normal(f"{base}/{word}")

    def _places(self, path: str, deep: bool) -> list[Place]:
        found: list[Place] = []
        if path.startswith("/"):
            found.append(self._location(path))
        else:
            found.append("unknown")
            path = "/" + path
        if self._own.meets(path, deep) or self._own.below(path):
            found.append("reflex")
        if self._hooks.meets(path, deep):
            found.append("hook_file")
        found.extend(self._meanings.of(path, deep))
        if found[0] == "system" and _marks().machine.covers(path):
            found.append("system_whole")
        if found[0] not in ("root", "home", "system", "device") and self._is_disposable(path):
            found.append("disposable")
        return found

    def _location(self, path: str) -> Place:
        if path == "/":
            return "root"
        if ":" in path and (_DRIVE.match(path.rpartition("/")[2]) or _DRIVE.match(path[len(self.cwd) + 1 :])):
            return "system"
        parts = path.split("/")[1:]
        if len(parts) == 1 and (matches_nearly_all(parts[0]) or parts[0] in (UNKNOWN, UNSET)):
            return "root"
        if (parts[0] == "dev" or MARKS.search(parts[0])) and self._is_device(path):
            return "device"
        marks = _marks()
        if self._homes.covers(path):
            return "home"
        # A home may itself lie in a scratch directory (containers, tests); it is a home all the same.
        if marks.scratch.surely_below(path) and not self._homes.below(path):
            return "scratch"
        if marks.scratch.covers(path):
            return "shared"
        inside = self._in_workspace(path)
        if inside is not None:
            return inside
        if self.home and path.startswith(self.home + "/"):
            rest = path[len(self.home) + 1 :].split("/")
            if len(rest) == 1:
                return "home" if matches_nearly_all(rest[0].lstrip(".")) else "home_entry"
            return "home_inner"
        if path.startswith("/dev/") and not MARKS.search(path):
            return "outside"
        return self._machine(path, parts)

    def _machine(self, path: str, parts: list[str]) -> Place:
        marks = _marks()
        if marks.machine.covers(path):
            return "home" if parts[0] in ("home", "Users") and marks.homes.covers(path) else "system"
        if parts[0] in ("home", "Users") or path.startswith("/root/"):
            depth = len(parts) - (1 if parts[0] == "root" else 2)
            return "home" if depth == 0 or (depth == 1 and matches_nearly_all(parts[-1])) else "outside"
        for upper, mark in marks.upper:
            if mark.below(path):
                return "shared" if path[len(upper) + 1 :].count("/") or upper == "/usr/local" else "system"
        if marks.whole.below(path):
            return "system"
        return "shared" if marks.top.below(path) else "outside"

    def _may_be_workspace(self) -> bool:
        """A working directory counts as a workspace unless it is the machine's or the home itself."""
        cwd, marks = self.cwd, _marks()
        if cwd in (UNKNOWN, "/", self.home or "/home/nobody") or marks.every.covers(cwd) or self._homes.covers(cwd):
            return False
        return not marks.whole.below(cwd) or cwd.startswith("/usr/local/")

    def _in_workspace(self, path: str) -> Place | None:
        if not self._has_workspace:
            return None
        if path == self.cwd:
            return "workspace_root"
        if path.startswith(self.cwd + "/"):
            rest = path[len(self.cwd) + 1 :]
            return "workspace_root" if "/" not in rest and matches_nearly_all(rest.lstrip(".")) else "workspace"
        return None

    def _is_device(self, path: str) -> bool:
        if path.startswith("/dev/") and not MARKS.search(path):
            return any(fnmatchcase(path[5:], name) for name in data().device.names)
        return _marks().devices.meets(path)

    def _is_disposable(self, path: str) -> bool:
        marks = _marks()
        if path.startswith(self.cwd + "/"):
            last = path.rpartition("/")[2]
            left = all(map(marks.left_behind.match, _spelled_out(last)))
            return left or marks.disposable.within(path, len(self.cwd))
        return marks.surely_disposable.within(path)


def _spelled_out(name: str) -> list[str]:
    """What a name with one [set] of letters stands for: *.py[co] is *.pyc and *.pyo."""
    head, mark, rest = name.partition(BRACKET)
    inside, end, tail = rest.partition("]")
    if not mark or not end or not inside.isalnum() or BRACKET in tail:
        return [name]
    return [head + letter + tail for letter in inside]


class _Marks:
    """The tables of config/places.toml that are the same for everyone."""

    def __init__(self) -> None:
        known = data()
        system = known.system
        shared = (*system.upper, *system.top, *system.homes)
        self.whole = Landmarks(system.whole)
        self.top = Landmarks(system.top)
        self.upper = [(upper, Landmarks((upper,))) for upper in system.upper]
        self.homes = Landmarks(system.homes)
        self.machine = Landmarks((*system.whole, *shared))
        self.scratch = Landmarks(system.scratch)
        self.every = Landmarks((*system.whole, *shared, *system.scratch))
        self.devices = Landmarks(f"/dev/{sample}" for sample in known.device.samples)
        self.disposable = Names(known.disposable.names)
        self.surely_disposable = Names(known.disposable.certain)
        self.left_behind = Endings(known.disposable.files)
        self.single = Endings(known.disposable.single)


_marks = functools.cache(_Marks)


def names_a_file(path: str) -> bool:
    """Whether the last name of a path is one that a file has, by its ending."""
    return _marks().single.match(path.rpartition("/")[2])


@functools.lru_cache(maxsize=16)
def _meanings(home: str) -> Meanings:
    return Meanings(data().files, home)


def _normal(path: str) -> str:
    """`.`, `..`, doubled slashes and the kernel's other names of / taken out; unknown parts stay."""
    path = _PROC_ROOT.sub("", path) or "/"
    absolute = path.startswith("/")
    parts: list[str] = []
    for part in path.split("/"):
        if part in ("", "."):
            continue
        if part == "..":
            if parts and parts[-1] not in (UNKNOWN, UNSET):
                parts.pop()
            continue
        parts.append(part)
    joined = "/".join(parts)
    if absolute:
        return "/" + joined
    return joined or UNKNOWN
