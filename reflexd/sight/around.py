"""The git repository around a directory, as far as it bears on a call: where it is, its branch, its remotes, and
what would make git run a program of somebody's choosing: settings, variables, hooks."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping

from reflexd.shell.gitkeys import ENV, HOOK, PREFIX, WALKED, named, names_a_program
from reflexd.sight import gitconfig
from reflexd.sight.disk import Unread, look
from reflexd.sight.gitconfig import Config, Entry, expanded, truth
from reflexd.sight.remotes import remotes
from reflexd.sight.repository import Repository, find
from reflexd.types import Context, Sighting


def repository(path: str, context: Context) -> Sighting:
    """`missing`: git would find none there; what it would run all the same is told."""
    env = {**dict(context.env), "HOME": context.home}
    found = find(path, env, context.home)
    if isinstance(found, Unread):
        return Sighting(problem=found.detail or found.why)
    config = gitconfig.read(found, env, context.home)
    runs = tuple(dict.fromkeys(_runs(found, config, env)))
    if found is None:
        return Sighting(problem=config.problem or "missing", pairs=runs)
    problem = config.problem
    if not problem and (found.embedded or not found.trusted):
        problem = "a bare repository inside of another" if found.embedded else "it belongs to somebody else"
    return Sighting(
        problem=problem,
        pairs=(
            ("root", found.worktree),
            ("branch", found.branch),
            *((f"remote:{remote.name}", url) for remote in remotes(config) for url in remote.urls),
            *runs,
        ),
    )


def _runs(at: Repository | None, config: Config, env: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for entry in config.effective():
        value = "true" if entry.value is None else entry.value
        if names_a_program(entry.key, value):
            yield PREFIX + entry.key, value
            if entry.key.startswith("alias.") or _is_anybodys(entry, at):
                yield WALKED + entry.key, value
        elif (entry.key.endswith(".promisor") and truth(entry.value)) or entry.key == "extensions.partialclone":
            yield PREFIX + "promisor", entry.key
    for name in named(ENV):
        value = env.get(name.upper(), "")
        if value and names_a_program(ENV + name, value):
            yield PREFIX + ENV + name, value
    if at is not None:
        for name, path in _hooks(at, config, env):
            yield PREFIX + name, path
            if not _is_guarded(path):
                yield WALKED + name, path


def _is_anybodys(entry: Entry, at: Repository | None) -> bool:
    """Whether the file that says it can be written like any other: no part of a .git, and not the user's own."""
    if at is None or not entry.file or _is_guarded(entry.file):
        return False
    return entry.scope in ("local", "worktree") or entry.file.startswith(f"{at.worktree or at.gitdir}/")


def _is_guarded(path: str) -> bool:
    return "/.git/" in os.path.normpath(path)


def _hooks(at: Repository, config: Config, env: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Every hook that is there and can be run; all of them where that cannot be told."""
    directory: str | None = f"{at.common}/hooks"
    set_to = config.last("core.hookspath")
    if set_to is not None:
        directory = expanded(set_to, env.get("HOME", ""))
    for name in sorted(named(HOOK)):
        path = os.path.join(at.worktree or at.gitdir, directory or "", name)
        seen = look(path, follow=True)
        known = directory is not None and (not isinstance(seen, Unread) or seen.why == "missing")
        if not known or (not isinstance(seen, Unread) and seen.st_mode & 0o111 and not stat.S_ISDIR(seen.st_mode)):
            yield HOOK + name, path
