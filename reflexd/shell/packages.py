"""A word that names a package -> the code it brings onto this machine.

A package from a registry, a repository or a URL is code that nobody here has seen; one in a local directory or file
is the project's own. What is not known counts as coming from elsewhere.
"""

from __future__ import annotations

import re

from reflexd.shell.calls import Call
from reflexd.shell.fields import shown
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
_MANAGERS = names("pip setuptools wheel npm corepack")
"""What package managers bring along themselves: to renew one is no new code."""


def package(word: str, call: Call, ground: Ground, detail: str) -> Effect | None:
    """`word` names a package, or where one is; None where it is the project's own."""
    if is_local(word) or re.split(r"[@=<>~!\[; ]", word.lower(), maxsplit=1)[0] in _MANAGERS:
        return None
    return Effect("install", shown(word), ("elsewhere",), detail=detail)


def source(word: str, call: Call, ground: Ground, detail: str) -> Effect | None:
    """`word` says where packages come from: a list of them or an index."""
    return Effect("install", shown(word), ("elsewhere",), detail=detail) if _URL.match(word) else None


def is_local(word: str) -> bool:
    word = shown(word)  # .[dev] without quotes is a pattern to the shell
    return _LOCAL.match(word) is not None and _REMOTE_FILE.match(word) is None
