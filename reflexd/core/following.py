"""Local code that a command line runs: which files to look at, and what is known once they were seen.

Rule 1: code that was seen is judged as if it had been typed; code that was not is named, and passes unless it came
from somewhere nobody vouches for (`Unseen.origin`).
Rule 2: what was seen counts only where nothing could change it first: not a call under way, not a job in the
background. What the line itself changes is known to whoever walks it, and never looked up on the disk.
"""

from __future__ import annotations

import posixpath
import re
from itertools import pairwise

from msgspec import Struct

from reflexd.shell.calls import Local, Reading
from reflexd.shell.interpret import FILES_MAX
from reflexd.shell.options import names
from reflexd.shell.places import data
from reflexd.types import Context, Seen, Sighting, Source, Unseen, Want

CONVENTIONAL = {
    "make": ("GNUmakefile", "makefile", "Makefile"),
    "just": ("justfile", "Justfile", ".justfile"),
    "deno-task": ("deno.json", "deno.jsonc"),
    "task": ("Taskfile.yml", "taskfile.yml", "Taskfile.yaml", "taskfile.yaml"),
    "toml-task": ("mise.toml", ".mise.toml"),
}
"""Names that a program tries in this order, where none is given."""
_OPTIONAL = names("package-install composer-script deno-task python-script python-module task toml-task")
_BY_NAME = _OPTIONAL | {"package-script", "package-scripts"}
"""Kinds of which it is no news that the file is not there."""
_INCLUDED = re.compile(r"^ *(?P<optional>[-s])?include +(?P<files>[^#$%*?\n]+)$", re.M)
_SECRET = re.compile(r"(?:^|/)\.env(?:\.|$)|secret|credential", re.I)
_COMPILERS = names(
    "cc c++ gcc g++ clang clang++ go rustc ld tcc zig nim ghc ocamlfind ocamlopt swiftc kotlinc fpc bun deno dart"
)
_OUTPUT = frozenset({"-o", "-out", "--out", "--output", "--outfile"})
_CHANGING = "it may change before it runs"


class Followed(Struct, frozen=True):
    """`given`: the text of files by path, to be read as if typed."""

    given: tuple[tuple[str, str], ...] = ()
    wants: tuple[Want, ...] = ()
    sources: tuple[Source, ...] = ()
    unseen: tuple[Unseen, ...] = ()


def follow(reading: Reading, context: Context, seen: Seen) -> Followed:
    """What is known of the code that `reading` names."""
    if not reading.unseen and not reading.followed:
        return Followed()
    return _Following(reading, context, seen).done()


class _Following:
    def __init__(self, reading: Reading, context: Context, seen: Seen) -> None:
        self._reading = reading
        self._context = context
        self._seen = dict(seen.found)
        self._given: dict[str, str] = {}
        self._wants: dict[Want, None] = {}
        self._sources: dict[Source, None] = {}
        self._unseen: dict[Unseen, None] = {}
        self._compiled = frozenset(
            posixpath.normpath(posixpath.join(call.cwd, word))
            for call in reading.calls
            if call.name in _COMPILERS
            for flag, word in pairwise(call.argv)
            if flag in _OUTPUT
        )

    def done(self) -> Followed:
        files: dict[str, None] = {}
        for local in (*self._reading.followed, *self._reading.unseen):
            if not local.path:
                self._unseen[Unseen(local.spelled, "it is not known which file")] = None
                continue
            files[local.path] = None
            if len(files) > FILES_MAX:
                self._unseen[Unseen(local.path, "it runs too many files to be read", self._origin(local))] = None
                continue
            self._file(local)
        return Followed(tuple(self._given.items()), tuple(self._wants), tuple(self._sources), tuple(self._unseen))

    def _file(self, local: Local) -> None:
        path, found = self._found(local)
        if found is None:
            self._unseen[Unseen(path, "not read", self._origin(local))] = None
            return
        if found.problem:
            if found.problem != "missing" or local.kind not in _OPTIONAL:
                self._unseen[Unseen(path, found.problem, self._origin(local, found.problem))] = None
            return
        self._given[local.path] = self._included(found.text, local, path) if local.kind == "make" else found.text
        self._sources[Source(path, found.digest)] = None
        if self._downloaded(path):
            self._unseen[Unseen(path, "it came from the network", "network")] = None
        elif self._may_change(path):
            self._unseen[Unseen(path, _CHANGING, "changing")] = None
        elif self._context.past.busy:
            self._unseen[Unseen(path, _CHANGING)] = None
        elif local.why:
            self._unseen[Unseen(path, local.why, self._origin(local))] = None

    def _look(self, path: str) -> Sighting | None:
        found = self._seen.get(Want("file", path))
        if found is None:
            self._wants[Want("file", path)] = None
        return found

    def _found(self, local: Local) -> tuple[str, Sighting | None]:
        """The file itself: where a program tries several names, the first one that is there."""
        directory, name = posixpath.split(local.path)
        tried = CONVENTIONAL.get(local.kind, ())
        if local.kind == "python-module":
            tried = (name, posixpath.join(name.removesuffix(".py"), "__main__.py"))
        if name not in tried:
            return local.path, self._look(local.path)
        looks = [(posixpath.join(directory, each), self._look(posixpath.join(directory, each))) for each in tried]
        if any(found is None for _, found in looks):
            return local.path, None
        there = [(path, found) for path, found in looks if found is not None and found.problem != "missing"]
        return there[0] if there else (local.path, looks[-1][1])

    def _included(self, text: str, local: Local, path: str) -> str:
        """A makefile with those that it includes in their places, each once; files of secrets are not looked at."""
        taken = {path}

        def inserted(match: re.Match[str]) -> str:
            parts = []
            for name in match["files"].split():
                file = posixpath.normpath(posixpath.join(local.cwd or posixpath.dirname(path), name))
                if file in taken:
                    continue
                found = self._look(file) if not _SECRET.search(name) and len(taken) < FILES_MAX else None
                if found is None or (found.problem and not (found.problem == "missing" and match["optional"])):
                    return match[0]
                taken.add(file)
                if not found.problem:
                    self._sources[Source(file, found.digest)] = None
                parts.append(_INCLUDED.sub(inserted, found.text))
            return "\n".join(parts)

        return _INCLUDED.sub(inserted, text)

    def _origin(self, local: Local, problem: str = "") -> str:
        if self._downloaded(local.path):
            return "network"
        if problem == "not text" or self._built(local) or local.kind in CONVENTIONAL or local.kind in _BY_NAME:
            return ""  # compiled, as far as can be told from here, or a project's own
        scratch = data().system.scratch
        home = self._context.home
        inside = any(local.path.startswith(f"{top}/") for top in (home, self._context.cwd) if top.count("/") > 1)
        return "scratch" if not inside and any(local.path.startswith(f"{top}/") for top in scratch) else ""

    def _built(self, local: Local) -> bool:
        """Whether a compiler in the line makes it out of local code."""
        return local.path in self._compiled

    def _downloaded(self, path: str) -> bool:
        return any(path == each or path.startswith(f"{each}/") for each in self._context.past.downloaded)

    def _may_change(self, path: str) -> bool:
        return any(path == each or path.startswith(f"{each}/") for each in self._context.past.pending)
