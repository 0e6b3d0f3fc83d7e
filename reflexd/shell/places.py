"""Where a path lies: what a command's field names, seen from one user's home and one working directory.

What is on disk is not known here. A pattern is tried on names that matter (the machine's directories,
the home, reflex's own places, the usual credential files); what it might match otherwise is left open.
The patterns themselves are data: config/places.toml.
"""

from __future__ import annotations

import copy
import fnmatch
import functools
import re
import tomllib
from fnmatch import fnmatchcase
from importlib import resources

import msgspec
from msgspec import Struct, field

from reflexd.shell.fields import PIPED, UNKNOWN, UNSET, shown
from reflexd.shell.patterns import MARKS, at_home, matcher, matches_nearly_all, name_matches
from reflexd.types import Context, Place, Seen, Sighting, Want, WantKind

_PROC_ROOT = re.compile(r"/+proc/[^/]+/(?:root|task/[^/]+/root)(?=/|$)")
_PLUGIN = re.compile(r"/reflex(?:\.\w+|/[^/]+)?\Z")  # a hook file that is reflex's own from the first byte to the last
_DRIVE = re.compile(r"[A-Za-z]:(?:[\\/]+[^\\/]*|\$.*)?[\\/]*\Z")


class Files(Struct, frozen=True, forbid_unknown_fields=True):
    """Files of one meaning. `samples`: names they really have; `holders`: directories that contain them."""

    names: tuple[str, ...]
    samples: tuple[str, ...] = ()
    holders: tuple[str, ...] = ()
    exempt: tuple[str, ...] = field(default=(), name="except")


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


class _Data(Struct, frozen=True, forbid_unknown_fields=True):
    places: int
    system: _System
    device: _Named
    disposable: _Named
    files: dict[Place, Files]


@functools.cache
def data() -> _Data:
    raw = resources.files("reflexd.config").joinpath("places.toml").read_text()
    return msgspec.convert(tomllib.loads(raw), _Data)


@functools.lru_cache(maxsize=64)
def _prefixes(landmarks: tuple[str, ...]) -> tuple[str, ...]:
    """What a path below one of these begins with; a path is held against the same few landmarks again and again."""
    return tuple(mark + "/" for mark in landmarks)


class Ground:
    """One user's home, and the files that reflex guards for that user."""

    def __init__(self, context: Context) -> None:
        self.home = _normal(context.home) if context.home.startswith("/") else ""
        self.cwd = _normal(context.cwd) if context.cwd.startswith("/") else UNKNOWN
        self.env = (*context.env, *context.past.exported)
        self.shadowed = context.shadowed
        self.seen = Seen()
        self.wants: dict[Want, None] = {}
        self.own_pids = frozenset(map(str, context.own_pids))
        known = data()
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
        self._files = [
            (place, matcher(files.names, base), matcher(files.exempt, base), files)
            for place, files in known.files.items()
        ]
        self._samples = [
            (place, [at_home(sample, base) for sample in files.samples]) for place, files in known.files.items()
        ]
        system = known.system
        self._whole = system.whole
        self._shared_below = (*system.upper, *system.top, *system.homes)
        self._landmarks = [*system.whole, *self._shared_below, *system.scratch, base]
        self._scratch = system.scratch
        self._device = [f"/dev/{sample}" for sample in known.device.samples]

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
        if not path.startswith("/"):
            found.append("unknown")
            path = "/" + path
            located = False
        else:
            located = True
        if located:
            found.append(self._location(path))
        found.extend(self._special(path, deep))
        if found[0] == "system" and self._covers(path, (*data().system.whole, *self._shared_below)):
            found.append("system_whole")
        if found[0] not in ("root", "home", "system", "device") and self._is_disposable(path):
            found.append("disposable")
        return found

    def _location(self, path: str) -> Place:
        if path == "/":
            return "root"
        if _DRIVE.match(path.rpartition("/")[2]) or _DRIVE.match(path[len(self.cwd) + 1 :]):
            return "system"
        parts = path.split("/")[1:]
        if len(parts) == 1 and (matches_nearly_all(parts[0]) or parts[0] in (UNKNOWN, UNSET)):
            return "root"
        if (parts[0] == "dev" or MARKS.search(parts[0])) and self._is_device(path):
            return "device"
        if self.home and self._covers(path, (self.home,)):
            return "home"
        # A home may itself lie in a scratch directory (containers, tests); it is a home all the same.
        if self._below(path, self._scratch) and not (self.home and self._below(path, (self.home,))):
            return "scratch"
        if self._covers(path, self._scratch):
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
            return "system" if self._covers(path, ("/dev",)) else "outside"
        return self._machine(path, parts)

    def _machine(self, path: str, parts: list[str]) -> Place:
        system = data().system
        if self._covers(path, (*system.whole, *self._shared_below)):
            return "home" if self._covers(path, system.homes) and parts[0] in ("home", "Users") else "system"
        if parts[0] in ("home", "Users") or path.startswith("/root/"):
            depth = len(parts) - (1 if parts[0] == "root" else 2)
            return "home" if depth == 0 or (depth == 1 and matches_nearly_all(parts[-1])) else "outside"
        for upper in system.upper:
            if self._below(path, (upper,)):
                return "shared" if path[len(upper) + 1 :].count("/") or upper == "/usr/local" else "system"
        if self._below(path, system.whole):
            return "system"
        if self._below(path, system.top):
            return "shared"
        return "outside"

    def _in_workspace(self, path: str) -> Place | None:
        """A working directory counts as a workspace unless it is the machine's or the home itself."""
        cwd = self.cwd
        if cwd == UNKNOWN or cwd == "/" or cwd == self.home or self._covers(cwd, self._landmarks):
            return None
        if self._below(cwd, data().system.whole) and not cwd.startswith("/usr/local/"):
            return None
        if path == cwd:
            return "workspace_root"
        if path.startswith(cwd + "/"):
            rest = path[len(cwd) + 1 :]
            return "workspace_root" if "/" not in rest and matches_nearly_all(rest.lstrip(".")) else "workspace"
        return None

    def _special(self, path: str, deep: bool) -> list[Place]:
        found: list[Place] = []
        if self._meets(path, self.protected, deep) or any(self._below(path, (own,)) for own in self.protected):
            found.append("reflex")
        if self._meets(path, self.hook_files, deep):
            found.append("hook_file")
        for (place, matches, exempt, files), (_, samples) in zip(self._files, self._samples, strict=True):
            if (
                (matches(path) and not exempt(path))
                or (MARKS.search(path) and self._meets(path, samples, False))
                or (deep and path.rpartition("/")[2] in files.holders)
            ):
                found.append(place)
        return found

    def _meets(self, path: str, landmarks: tuple[str, ...] | list[str], deep: bool) -> bool:
        """Whether the path is, or as a pattern may be, one of the landmarks (or, deep, a directory above one)."""
        if not MARKS.search(path):
            below = path.rstrip("/") + "/"
            return path in landmarks or (deep and any(mark.startswith(below) for mark in landmarks))
        parts = path.split("/")
        if parts[1:2] in ([UNKNOWN], [UNSET]) or path.count(UNKNOWN) + path.count(UNSET) > 1:
            return False
        depth = len(parts)
        for mark in landmarks:
            names = mark.split("/")
            if (len(names) == depth or (deep and len(names) > depth)) and all(
                name_matches(pattern, name) for pattern, name in zip(parts, names, strict=False)
            ):
                return True
        return False

    def _covers(self, path: str, landmarks: tuple[str, ...] | list[str]) -> bool:
        """Whether a landmark is the path itself or lies below it."""
        return self._meets(path, landmarks, deep=True)

    def _below(self, path: str, landmarks: tuple[str, ...]) -> bool:
        """Whether the path lies strictly below a landmark."""
        if not MARKS.search(path):
            return path.startswith(_prefixes(landmarks))
        parts = path.split("/")
        for mark in landmarks:
            names = mark.split("/")
            if len(parts) > len(names) and all(
                name_matches(pattern, name) for pattern, name in zip(parts, names, strict=False)
            ):
                return True
        return False

    def _is_device(self, path: str) -> bool:
        if path.startswith("/dev/") and not MARKS.search(path):
            return any(fnmatchcase(path[5:], name) for name in data().device.names)
        return self._meets(path, self._device, deep=False)

    def _is_disposable(self, path: str) -> bool:
        if path.startswith(self.cwd + "/"):
            return _disposable(True).search(path, len(self.cwd)) is not None or _left_behind().search(path) is not None
        return _disposable(False).search(path) is not None


@functools.cache
def _disposable(near: bool) -> re.Pattern[str]:
    """A whole name in a path that is one of the disposable ones."""
    known = data().disposable.names if near else data().disposable.certain
    # What a pattern stands for begins and ends as the pattern does; what is not known may hold a slash.
    one = f"[^/{UNKNOWN}{UNSET}]*"
    names = "|".join(re.escape(name).replace(r"\*", one) for name in known)
    return re.compile(f"/(?:{names})(?=/|\\Z)")


@functools.cache
def _left_behind() -> re.Pattern[str]:
    """A last name that tools leave behind; whatever a pattern or an unknown part in it stands for ends the same."""
    names = "|".join(fnmatch.translate(name).removesuffix(r"\Z") for name in data().disposable.files)
    return re.compile(f"/(?=[^/]*\\Z)(?:{names})\\Z")


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
