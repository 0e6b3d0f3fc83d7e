"""What is made again without anybody missing it: build output, caches, and what programs leave beside sources."""

from __future__ import annotations

import functools
import re

from reflexd.shell.places import data

_LEFT = re.compile(
    r"(?:.*/)?(?:[^/]*\.(?:py[co]|o|obj|class|tsbuildinfo)|\.(?:DS_Store|coverage|eslintcache)|Thumbs\.db)\Z", re.DOTALL
)


def is_made(name: str) -> bool:
    """`name` is relative to a worktree, and ignored by git there: a usual name alone makes nothing dispensable."""
    return _directories().search("/" + name) is not None or _LEFT.match(name) is not None


@functools.cache
def _directories() -> re.Pattern[str]:
    names = "|".join(re.escape(name).replace(r"\*", "[^/]*") for name in data().disposable.names)
    return re.compile(f"/(?:{names})(?=/|\\Z)")
