"""Where a repository's remotes are, and which of them a branch follows: read off its settings."""

from __future__ import annotations

from msgspec import Struct

from reflexd.sight.gitconfig import Config


class Remote(Struct, frozen=True):
    """`urls` to fetch from, `push_urls` to push to, both as git would rewrite them."""

    name: str
    urls: tuple[str, ...]
    push_urls: tuple[str, ...]


def remotes(config: Config) -> tuple[Remote, ...]:
    fetches: dict[str, list[str]] = {}
    pushes: dict[str, list[str]] = {}
    rewrites = _rewrites(config, ".insteadof")
    push_rewrites = _rewrites(config, ".pushinsteadof")
    for entry in config.entries:
        if not entry.key.startswith("remote.") or not entry.value:
            continue
        name, _, variable = entry.key[len("remote.") :].rpartition(".")
        if variable == "url":
            fetches.setdefault(name, []).append(entry.value)
        elif variable == "pushurl":
            pushes.setdefault(name, []).append(entry.value)
    found = []
    for name in dict.fromkeys([*fetches, *pushes]):
        urls = fetches.get(name, [])
        to = tuple(_rewritten(url, rewrites) for url in pushes.get(name, ()))
        if not to:
            to = tuple(_rewritten(url, push_rewrites, _rewritten(url, rewrites)) for url in urls)
        found.append(Remote(name, tuple(_rewritten(url, rewrites) for url in urls), to))
    return tuple(found)


def upstream(config: Config, branch: str) -> tuple[str, str]:
    """The remote that a branch follows and the branch there; empty where none is set."""
    merge = config.last(f"branch.{branch}.merge") or ""
    return config.last(f"branch.{branch}.remote") or "", merge.removeprefix("refs/heads/")


def pushes_to(config: Config, branch: str) -> str:
    """The remote that a push without a name goes to."""
    for key in (f"branch.{branch}.pushremote", "remote.pushdefault", f"branch.{branch}.remote"):
        if name := config.last(key):
            return name
    names = [remote.name for remote in remotes(config)]
    return names[0] if len(names) == 1 else "origin"


def _rewrites(config: Config, ending: str) -> tuple[tuple[str, str], ...]:
    return tuple(
        (entry.value, entry.key[len("url.") : -len(ending)])
        for entry in config.entries
        if entry.value and entry.key.startswith("url.") and entry.key.endswith(ending)
    )


def _rewritten(url: str, rewrites: tuple[tuple[str, str], ...], otherwise: str | None = None) -> str:
    """The longest beginning that is to be replaced wins."""
    fits = [(old, new) for old, new in rewrites if url.startswith(old)]
    if not fits:
        return url if otherwise is None else otherwise
    old, new = max(fits, key=lambda pair: len(pair[0]))
    return new + url[len(old) :]
