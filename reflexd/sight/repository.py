"""The repository that git would work on from a directory: where it is, what it is on, and whether git would take it.

Found as git finds it: by GIT_DIR, or by walking up from the directory. git is never run, and nothing is taken
from a repository's own settings here but where its files lie.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from typing import Literal

from reflexd.sight import gitconfig
from reflexd.sight.disk import Unread, is_dir, look, read, real
from reflexd.sight.gitsyntax import parse

Doing = Literal["", "rebase", "am", "merge", "cherry-pick", "revert", "bisect"]
_SMALL = 1 << 16  # HEAD, a gitdir file: a line
_SETTINGS = 1 << 20
_DEEPEST = 256  # directories above the one asked about
_OID = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?\s*\Z", re.IGNORECASE)
_STATES: tuple[tuple[str, Doing], ...] = (
    ("rebase-merge", "rebase"),
    ("rebase-apply/applying", "am"),
    ("rebase-apply", "rebase"),
    ("MERGE_HEAD", "merge"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("BISECT_LOG", "bisect"),
)


class Repository(gitconfig.GitDir, frozen=True, kw_only=True):
    """`worktree` is empty for a bare repository. `doing` says what is under way: then `branch` is the one it is for.

    `trusted`: git would work in it (the owner is this user, or safe.directory names it). `embedded`: a bare
    repository that was walked into, as any directory of a clone can be one.
    """

    worktree: str
    index: str
    objects: str
    doing: Doing = ""
    trusted: bool = True
    embedded: bool = False
    oid_bytes: int = 20


def find(cwd: str, env: Mapping[str, str], home: str) -> Repository | Unread | None:
    """None: git would find none. Unread: it would find something that it refuses, or that cannot be told."""
    if not os.path.isabs(cwd):
        return Unread(cwd, "missing")
    if given := env.get("GIT_DIR"):
        gitdir = _followed(os.path.join(cwd, given))
        if isinstance(gitdir, Unread):
            return gitdir
        if not _is_gitdir(gitdir, env):
            return Unread(gitdir, "malformed", "not a repository")
        return _explicit(gitdir, cwd, env)
    return _walk(os.path.normpath(cwd), env, home)


# ---- finding it ----------------------------------------------------------------


def _walk(start: str, env: Mapping[str, str], home: str) -> Repository | Unread | None:
    begin = look(start, follow=True)
    if isinstance(begin, Unread):
        return begin
    across = gitconfig.truth(env.get("GIT_DISCOVERY_ACROSS_FILESYSTEM", "")) is True
    ceilings = _ceilings(env)
    here = start
    for _ in range(_DEEPEST):
        seen = look(here, follow=True)
        if isinstance(seen, Unread):
            return seen
        if seen.st_dev != begin.st_dev and not across:
            return None
        dotgit = os.path.join(here, ".git")
        gitdir = _followed(dotgit)
        if isinstance(gitdir, Unread):
            return gitdir
        if gitdir != dotgit and not _is_gitdir(gitdir, env):
            return Unread(dotgit, "malformed", "leads to no repository")
        if gitdir != dotgit or _is_gitdir(dotgit, env):
            owned = _trusted((dotgit, here, gitdir), here, env, home)
            return _discovered(gitdir, here, start, env, owned)
        if _is_gitdir(here, env):
            protected = gitconfig.read(None, env, home)
            if (protected.last("safe.barerepository") or "").lower() == "explicit":
                return Unread(here, "malformed", "a bare repository, and safe.bareRepository refuses those")
            owned = _trusted((here,), here, env, home)
            return _discovered(here, "", start, env, owned, embedded=True)
        parent = os.path.dirname(here)
        if parent == here or parent in ceilings:
            return None
        here = parent
    return Unread(start, "too many", "directories above it")


def _ceilings(env: Mapping[str, str]) -> frozenset[str]:
    named = [path for path in env.get("GIT_CEILING_DIRECTORIES", "").split(":") if os.path.isabs(path)]
    return frozenset([*(real(path) for path in named), *(os.path.normpath(path) for path in named)])


def _discovered(
    gitdir: str, worktree: str, cwd: str, env: Mapping[str, str], trusted: bool, embedded: bool = False
) -> Repository | Unread:
    settings = _own_settings(gitdir)
    if isinstance(settings, Unread):
        return settings
    if env.get("GIT_WORK_TREE") or settings.get("core.worktree"):
        return _explicit(gitdir, cwd, env, trusted, embedded)
    if gitconfig.truth(settings.get("core.bare", "")) is True:
        worktree = ""
    return _made(gitdir, worktree, settings, env, trusted, embedded)


def _explicit(
    gitdir: str, cwd: str, env: Mapping[str, str], trusted: bool = True, embedded: bool = False
) -> Repository | Unread:
    settings = _own_settings(gitdir)
    if isinstance(settings, Unread):
        return settings
    if given := env.get("GIT_WORK_TREE"):
        worktree = os.path.join(cwd, given)
    elif gitconfig.truth(settings.get("core.bare", "")) is True:
        worktree = ""
    elif named := settings.get("core.worktree"):
        worktree = os.path.join(gitdir, named)
    else:
        worktree = cwd if gitconfig.truth(env.get("GIT_IMPLICIT_WORK_TREE", "true")) is not False else ""
    return _made(gitdir, os.path.normpath(worktree) if worktree else "", settings, env, trusted, embedded)


def _made(
    gitdir: str, worktree: str, settings: Mapping[str, str], env: Mapping[str, str], trusted: bool, embedded: bool
) -> Repository:
    common = _common(gitdir, env)
    found: list[Doing] = [doing for name, doing in _STATES if not isinstance(look(f"{gitdir}/{name}"), Unread)]
    doing: Doing = found[0] if found else ""
    branch, detached = _head(gitdir)
    if doing == "rebase" and not branch:
        branch = _line(f"{gitdir}/rebase-merge/head-name") or _line(f"{gitdir}/rebase-apply/head-name")
        branch = branch.removeprefix("refs/heads/") if branch.startswith("refs/heads/") else ""
    base = worktree or gitdir
    return Repository(
        gitdir=gitdir,
        common=common,
        worktree=worktree,
        index=os.path.join(base, env["GIT_INDEX_FILE"]) if env.get("GIT_INDEX_FILE") else f"{gitdir}/index",
        objects=os.path.join(base, env["GIT_OBJECT_DIRECTORY"])
        if env.get("GIT_OBJECT_DIRECTORY")
        else f"{common}/objects",
        branch=branch,
        detached=detached,
        doing=doing,
        trusted=trusted,
        embedded=embedded,
        oid_bytes=32 if settings.get("extensions.objectformat", "").lower() == "sha256" else 20,
    )


def _followed(path: str) -> str | Unread:
    """Where a `.git` file leads (those of worktrees and submodules); any other path is itself."""
    seen = look(path, follow=True)
    if isinstance(seen, Unread) or not stat.S_ISREG(seen.st_mode):
        return path
    text = read(path, _SMALL)
    if isinstance(text, Unread):
        return text
    if not text.startswith(b"gitdir: "):
        return Unread(path, "malformed", "no gitdir: line")
    named = os.fsdecode(text[len(b"gitdir: ") :].rstrip(b"\r\n"))
    if not named or "\0" in named:
        return Unread(path, "malformed", "no path")
    led = os.path.normpath(os.path.join(os.path.dirname(path), named))
    return led if led != path else Unread(path, "malformed", "leads to itself")


def _is_gitdir(path: str, env: Mapping[str, str]) -> bool:
    common = _common(path, env)
    objects = env.get("GIT_OBJECT_DIRECTORY") or f"{common}/objects"
    return _valid_head(f"{path}/HEAD") and is_dir(objects) and is_dir(f"{common}/refs")


def _common(gitdir: str, env: Mapping[str, str]) -> str:
    if given := env.get("GIT_COMMON_DIR"):
        return given
    named = _line(f"{gitdir}/commondir")
    return os.path.normpath(os.path.join(gitdir, named)) if named else gitdir


def _valid_head(path: str) -> bool:
    seen = look(path)
    if isinstance(seen, Unread):
        return False
    if stat.S_ISLNK(seen.st_mode):
        return _link(path).startswith("refs/")
    text = read(path, _SMALL)
    if isinstance(text, Unread):
        return False
    if text.startswith(b"ref:"):
        return text[4:].lstrip().startswith(b"refs/")
    return _OID.match(text) is not None


def _head(gitdir: str) -> tuple[str, bool]:
    """The branch, and whether HEAD names a commit instead."""
    path = f"{gitdir}/HEAD"
    name = _link(path)
    if not name:
        text = read(path, _SMALL)
        if isinstance(text, Unread):
            return "", False
        if not text.startswith(b"ref:"):
            return "", True
        name = os.fsdecode(text[4:].strip())
    if not name.startswith("refs/heads/") or name == "refs/heads/.invalid":  # the latter where refs lie in tables
        return "", False
    return name.removeprefix("refs/heads/"), False


def _own_settings(gitdir: str) -> dict[str, str] | Unread:
    """What the repository's own file says, without what it includes: as git reads where a repository's parts lie."""
    common = _line(f"{gitdir}/commondir")
    found: dict[str, str] = {}
    for path in (os.path.join(gitdir, common, "config"), f"{gitdir}/config.worktree"):
        if path.endswith(".worktree") and gitconfig.truth(found.get("extensions.worktreeconfig", "")) is not True:
            break
        text = read(path, _SETTINGS)
        if isinstance(text, Unread):
            if text.why != "missing":
                return text
            continue
        settings = parse(text)
        if settings.malformed:
            return Unread(path, "malformed")
        found.update((key, "true" if value is None else value) for key, value in settings.pairs)
    return found


def _trusted(paths: tuple[str, ...], root: str, env: Mapping[str, str], home: str) -> bool:
    us = {os.geteuid()}
    if 0 in us and env.get("SUDO_UID", "").isdigit():
        us.add(int(env["SUDO_UID"]))
    owners = [seen.st_uid for path in paths if not isinstance(seen := look(path), Unread)]
    if owners and all(owner in us for owner in owners):
        return True
    named: list[str] = []
    for entry in gitconfig.read(None, env, home).entries:
        if entry.key == "safe.directory":
            named = [*named, entry.value] if entry.value else []
    return any(_names(one, root, home) for one in named)


def _names(safe: str, root: str, home: str) -> bool:
    if safe == "*":
        return True
    path = gitconfig.expanded(safe, home)
    if path is None:
        return False
    if path.endswith("/*"):
        return root.startswith(path[:-1])
    return os.path.normpath(path) in (root, real(root))


def _line(path: str) -> str:
    text = read(path, _SMALL)
    return "" if isinstance(text, Unread) or b"\0" in text else os.fsdecode(text.rstrip(b"\r\n"))


def _link(path: str) -> str:
    try:
        return os.readlink(path)
    except (OSError, ValueError):
        return ""
