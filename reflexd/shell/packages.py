"""A word that names a package -> the code it brings onto this machine.

A package from a registry, a repository or a URL is code that nobody here has seen; one in a local directory or file
is the project's own. What is not known counts as coming from elsewhere.
"""

from __future__ import annotations

import copy
import posixpath
import re
from collections.abc import Iterable

from reflexd.shell import manifests
from reflexd.shell.calls import Call
from reflexd.shell.fields import known, shown
from reflexd.shell.options import names
from reflexd.shell.places import Ground
from reflexd.types import Effect

_LOCAL = re.compile(
    r"(?:[\w.@/-]+(?:\[[\w,.-]*\])?\s*@\s*)?(?:file|link|portal|workspace|path):"  # a scheme for what lies here
    r"|\.{1,3}(?:/|\[|\Z)|~?/|[A-Za-z]:[\\/]"  # a directory, or everything below one
    r"|(?![\w+]+://)[^@:]*\.(?:whl|tar\.(?:gz|bz2|xz)|tgz|zip|gem|crate|nupkg|deb|vsix|rb)\Z"  # an archive
)
_REMOTE_FILE = re.compile(r"(?:[\w.-]+\s*@\s*)?file://(?!/|localhost/)")
_URL = re.compile(r"(?:[A-Za-z][\w+.-]*\+)?[a-z][a-z0-9+.-]*://(?!(?:localhost|127\.0\.0\.1|\[::1\])(?:[:/]|\Z))", re.I)
_MANAGERS = names("pip setuptools wheel npm corepack yarn pnpm bundler python uv poetry pipx")
"""Package managers and what they bring along themselves: to renew one is no new code."""
_NPM, _PYTHON = ("package.json",), ("pyproject.toml", "requirements.txt", "requirements-dev.txt")
_MANIFESTS = {
    **dict.fromkeys(("npm", "npx", "pnpm", "pnpx", "yarn", "bun", "bunx"), _NPM),
    **dict.fromkeys(("pip", "uv", "poetry", "pdm", "pipenv", "rye"), _PYTHON),
    "cargo": ("Cargo.toml",),
    "go": ("go.mod",),
    "gem": ("Gemfile", "Gemfile.lock"),
    "bundle": ("Gemfile", "Gemfile.lock"),
    "composer": ("composer.json",),
}
_NAME = re.compile(r"(?P<name>@?[\w.-]+(?:/[\w.-]+)*)(?:\[[\w,.-]*\])?(?:(?:@|[=<>~!]=?|:)[\w.*^~<>=!, -]*)?\Z")
_LOCAL_NAME = re.compile(r"\A(?:[\w.@/-]+\s*@\s*)?(?:file|link|portal|path):(?://)?|\[[^\]]*\]\Z")
"""What stands around the path in a word that names a local package."""
_PATHS = names("pip uv uvx poetry pdm pipx pipenv rye")
"""Managers whose packages have no slash in their names: such a word is a path."""
_SCHEME = re.compile(r"://|^git\+|@ ")
_CONTAINERS = names("container docker podman nerdctl docker-compose podman-compose devcontainer")
_GLOBAL = names("-g --global --user tool self global")


def package(word: str, call: Call, ground: Ground, detail: str) -> Effect | None:
    """`word` names a package, or where one is; None where it is the project's own."""
    manager = detail.partition(" ")[0]
    if is_local(word) or (manager in _PATHS and "/" in word and not _SCHEME.search(word)):
        path = ground.locate(_LOCAL_NAME.sub("", word), call.cwd)[0]
        fetched = any(path == each or path.startswith(f"{each}/") for each in ground.downloaded)
        return _brought(word, call, detail) if fetched else None
    if _named(word, call, ground, manager) or re.split(r"[@=<>~!\[; ]", word.lower(), maxsplit=1)[0] in _MANAGERS:
        return None
    return _brought(word, call, detail)


def _brought(word: str, call: Call, detail: str) -> Effect:
    """In a container it stays there."""
    inside = not _CONTAINERS.isdisjoint(call.via)
    return Effect("install", shown(word), ("outside",) if inside else ("elsewhere",), detail=detail)


def with_downloads(ground: Ground, made: Iterable[Effect]) -> Ground:
    """The same for what comes after these effects: what they download is on this machine then."""
    fetched = [effect.target for effect in made if effect.kind == "write" and "downloaded" in effect.places]
    if not fetched:
        return ground
    later = copy.copy(ground)
    later.downloaded = (*ground.downloaded, *fetched)
    return later


def source(word: str, call: Call, ground: Ground, detail: str) -> Effect | None:
    """`word` says where packages come from: a list of them or an index."""
    return _brought(word, call, detail) if _URL.match(word) else None


def _named(word: str, call: Call, ground: Ground, manager: str) -> bool:
    """Whether the project's manifest has a package of that name already: then it is the project's choice."""
    spec = _NAME.match(word)
    if spec is None or not call.cwd.startswith("/") or not known(call.cwd) or not _GLOBAL.isdisjoint(call.argv):
        return False
    for file in _MANIFESTS.get(manager, ()):
        found = ground.want("file", posixpath.join(call.cwd, file))
        if found is not None and not found.problem and spec["name"].lower() in manifests.named(file, found.text):
            return True
    return False


def is_local(word: str) -> bool:
    word = shown(word)  # .[dev] without quotes is a pattern to the shell
    return _LOCAL.match(word) is not None and _REMOTE_FILE.match(word) is None
