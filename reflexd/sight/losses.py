"""What would be gone for good if some paths were deleted, cleaned away, or put back to what git holds.

Only what git holds byte for byte, and build output that a rule ignores and that goes by a usual name, comes back.
Whatever cannot be looked at, or only at too great a cost, counts as lost until somebody knows better.
"""

from __future__ import annotations

import itertools
import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from reflexd.sight import gitconfig, gitindex
from reflexd.sight.disk import Budget, Unread, is_file, look, real
from reflexd.sight.gitconfig import Config, truth
from reflexd.sight.gitindex import GITLINK, TREE, Entry
from reflexd.sight.gitobjects import Objects
from reflexd.sight.heads import head_entries
from reflexd.sight.ignore import Ignores
from reflexd.sight.made import is_made
from reflexd.sight.repository import Repository, find
from reflexd.sight.tally import Losses, Tally
from reflexd.sight.tracked import Comparer, State
from reflexd.sight.userfiles import attribute_files, ignore_files

Act = Literal["delete", "clean", "clean ignored", "discard", "discard staged"]
"""delete: the paths go. clean: what git does not track goes below them, with or without what it ignores. discard:
tracked files get the content of the index, or (staged) of HEAD together with the index."""

FILES = 5_000
BYTES = 64 << 20
_DEEPEST = 128
_MOVED_BY = ("GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY")
_STATES: dict[State, tuple[str, str]] = {
    "same": ("same", ""),
    "changed": ("changed", ""),
    "lost object": ("changed", "git does not hold its content"),
    "other form": ("unseen", "differs from what git holds, or is held in another form"),
    "unread": ("unseen", ""),
}


def losses(
    paths: Sequence[str],
    recursive: bool,
    repository: Repository | Unread | None,
    config: Config,
    env: Mapping[str, str],
    act: Act = "delete",
    budget: Budget | None = None,
) -> Losses:
    """`paths` are absolute. `recursive`: a directory goes with all below it; otherwise directories stay."""
    if isinstance(repository, Unread):
        return Losses(False, f"{repository.path}: {repository.detail or repository.why}")
    existing = [path for path in paths if not isinstance(look(path), Unread) or act.startswith("discard")]
    if act == "delete":
        existing = [path for path in existing if not _is_left_lock(path, repository)]
        if not existing:
            return Losses(True)
    if repository is None or not repository.worktree:
        return Losses(False, "not in a worktree of git")
    if config.problem:
        return Losses(False, config.problem)
    return _Look(repository, config, env, budget or Budget(FILES, BYTES)).at(existing, recursive, act)


def lost(paths: Sequence[str], recursive: bool, env: Mapping[str, str], act: Act = "delete") -> Losses:
    """The same, with the repository that holds each path: it is judged where it lies, not from where.

    For everything but delete, the paths are directories or files of the one that git runs in, and what the
    environment says of repositories holds. Where several repositories hold them, the first that would lose
    something answers for all.
    """
    home = env.get("HOME", "")
    if act == "delete":
        env = {name: value for name, value in env.items() if name not in _MOVED_BY}
    budget = Budget(FILES, BYTES)
    starts: dict[str, list[str]] = {}
    for path in paths:
        starts.setdefault(_holder(path) if act == "delete" else path, []).append(path)
    held: dict[Repository | Unread | None, list[str]] = {}
    for start, group in starts.items():
        held.setdefault(find(start, env, home), []).extend(group)
    found = Losses(True)
    for repository, group in held.items():
        at = repository if isinstance(repository, Repository) else None
        found = losses(group, recursive, repository, gitconfig.read(at, env, home), env, act, budget)
        if not found.recoverable:
            break
    return found


def _holder(path: str) -> str:
    """The nearest directory above a path that exists."""
    start = real(os.path.dirname(path.rstrip("/")) or "/")
    while isinstance(look(start), Unread) and start != os.path.dirname(start):
        start = os.path.dirname(start)
    return start


class _Look:
    """One look at one worktree."""

    def __init__(self, repository: Repository, config: Config, env: Mapping[str, str], budget: Budget) -> None:
        self._repository = repository
        self._config = config
        self._budget = budget
        self._root = real(repository.worktree)
        self._tally = Tally()
        self._ignores = Ignores(
            self._root, ignore_files(repository, config, env), budget, truth(config.last("core.ignorecase")) is True
        )
        self._user_attributes = any(
            not isinstance(look(path), Unread) for path in attribute_files(repository, config, env)
        )
        self._attributes: dict[str, bool] = {}
        self._device = look(self._root)

    def at(self, paths: Iterable[str], recursive: bool, act: Act) -> Losses:
        below = []
        for path in paths:
            placed = self._relative(path)
            if placed is None:
                self._tally.add("untracked", path, "outside the repository")
            elif act == "delete" and self._holds_repository(placed):
                self._tally.add("untracked", placed, "the repository itself")
            else:
                below.append(placed)
        at = self._repository
        index = gitindex.load(at.index, at.oid_bytes, below, self._budget.files) if below else gitindex.Index()
        if isinstance(index, Unread):
            self._tally.add("unseen", index.path, index.detail or index.why)
            return self._tally.result()
        self._tracked: dict[str, Entry] = {entry.path.rstrip("/"): entry for entry in index.entries}
        self._holding = {parent for name in self._tracked for parent in _parents(name)}
        with Objects(self._repository.objects, self._repository.oid_bytes, self._budget) as objects:
            self._compare = Comparer(objects, self._config, index.mtime, self._budget)
            if act.startswith("discard"):
                self._discard(objects, below, staged=act == "discard staged")
            else:
                for name in below:
                    self._walk(name, recursive, act)
        if self._ignores.problem:
            self._tally.add("unseen", "", self._ignores.problem)
        if self._budget.spent:
            self._tally.add("unseen", "", "too much to look at")
        return self._tally.result()

    # ---- where ------------------------------------------------------------------

    def _relative(self, path: str) -> str | None:
        """The path below the worktree, its last part not followed; None where it lies elsewhere."""
        bare = path.rstrip("/")
        seen = look(bare)
        if path.endswith("/") or bare.endswith(("/.", "/..")) or isinstance(seen, Unread):
            placed = real(bare)
        else:
            placed = os.path.join(real(os.path.dirname(bare)), os.path.basename(bare))
        if placed == self._root:
            return ""
        return placed[len(self._root) + 1 :] if placed.startswith(self._root + "/") else None

    def _holds_repository(self, name: str) -> bool:
        whole = os.path.join(self._root, name).rstrip("/") + "/"
        own = (self._repository.gitdir, self._repository.common, self._repository.objects, f"{self._root}/.git")
        return any(place.startswith(whole) or whole.startswith(place) for place in (f"{real(one)}/" for one in own))

    # ---- deleting ---------------------------------------------------------------

    def _walk(self, start: str, recursive: bool, act: Act) -> None:
        pending = [(start, self._attributes_above(start), 0)]
        while pending and not self._budget.spent:
            name, attributes, depth = pending.pop()
            path = os.path.join(self._root, name) if name else self._root
            seen = look(path)
            self._budget.take(files=1)
            if isinstance(seen, Unread):
                if seen.why != "missing":
                    self._tally.add("unseen", name, seen.why)
            elif stat.S_ISDIR(seen.st_mode):
                if recursive or (act != "delete" and (name in self._holding or not name)):
                    pending += self._directory(name, path, seen, attributes, depth, act)
            else:
                self._file(name, path, seen, attributes, act)

    def _directory(
        self, name: str, path: str, seen: os.stat_result, attributes: bool, depth: int, act: Act
    ) -> list[tuple[str, bool, int]]:
        """What lies in it and has to be looked at in turn."""
        holding = name in self._holding or not name
        if not holding and self._ignores.ignored(name, True):
            if act != "clean":
                self._tally.add("made" if is_made(name) else "ignored", name)
            return []
        entry = self._tracked.get(name)
        if entry is not None and entry.kind == TREE:
            self._tally.add("unseen", name, "left out of the checkout, but there")
            return []
        if depth > _DEEPEST or isinstance(self._device, Unread) or seen.st_dev != self._device.st_dev:
            self._tally.add("unseen", name, "another file system" if depth <= _DEEPEST else "too deep")
            return []
        try:
            with os.scandir(path) as found:
                # More than may be looked at: the look ends before the rest is missed.
                names = [one.name for one in itertools.islice(found, self._budget.files + 2)]
        except OSError:
            self._tally.add("unseen", name)
            return []
        if ".git" in names:
            if name:
                self._tally.add("untracked", name, "a repository of its own")
                return []
            names.remove(".git")
        attributes = attributes or ".gitattributes" in names
        return [(f"{name}/{one}" if name else one, attributes, depth + 1) for one in sorted(names, reverse=True)]

    def _file(self, name: str, path: str, seen: os.stat_result, attributes: bool, act: Act) -> None:
        entry = self._tracked.get(name)
        if entry is not None:
            if act == "delete":
                self._tally.add(*self._judged(name, path, seen, entry, attributes))
            return
        if not stat.S_ISREG(seen.st_mode) and not stat.S_ISLNK(seen.st_mode):
            return  # a socket or a FIFO holds nothing
        if not self._ignores.ignored(name, False):
            self._tally.add("untracked", name)
        elif act != "clean":
            self._tally.add("made" if is_made(name) else "ignored", name)

    def _judged(
        self, name: str, path: str, seen: os.stat_result, entry: Entry, attributes: bool, stays: bool = False
    ) -> tuple[str, str, str]:
        group, why = _STATES[self._compare.state(path, seen, entry, attributes, stays)]
        return group, name, why

    def _attributes_above(self, name: str) -> bool:
        return self._user_attributes or any(map(self._has_attributes, ("", *_parents(name))))

    def _has_attributes(self, directory: str) -> bool:
        found = self._attributes.get(directory)
        if found is None:
            path = os.path.join(self._root, directory, ".gitattributes")
            found = self._attributes[directory] = not isinstance(look(path), Unread)
        return found

    # ---- putting back -----------------------------------------------------------

    def _discard(self, objects: Objects, below: Sequence[str], staged: bool) -> None:
        held = head_entries(self._repository, objects, below, self._budget) if staged else None
        if isinstance(held, Unread):
            self._tally.add("unseen", "HEAD", held.detail or held.why)
            return
        for name, entry in self._tracked.items():
            if not self._budget.take(files=1):
                return
            path = os.path.join(self._root, name)
            seen = look(path)
            if entry.kind == GITLINK or (entry.absent and isinstance(seen, Unread)):
                continue
            if held is not None and (entry.stage or held.get(name) != entry.oid):
                self._tally.add("changed", name, "staged, but in no commit")
            elif isinstance(seen, Unread):
                if entry.stage or seen.why != "missing":
                    self._tally.add("changed" if entry.stage else "unseen", name)
            elif stat.S_ISDIR(seen.st_mode):
                self._tally.add("changed", name)
            else:
                self._tally.add(*self._judged(name, path, seen, entry, self._attributes_above(name), stays=True))


def _is_left_lock(path: str, repository: Repository | None) -> bool:
    """Whether a git that was stopped left it behind: it holds nothing, and keeps the next one from working."""
    if repository is None or not path.endswith(".lock") or not is_file(path):
        return False
    return real(path).startswith(real(repository.gitdir) + "/")


def _parents(name: str) -> list[str]:
    found = []
    while "/" in name:
        name = name.rpartition("/")[0]
        found.append(name)
    return found
