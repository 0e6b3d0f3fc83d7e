"""The packages that a project's own manifest names: what it already chose to depend on."""

from __future__ import annotations

import functools
import json
import posixpath
import re
import tomllib
from collections.abc import Iterator

DEPTH_MAX = 6
_PYTHON = re.compile(r"\s*(?P<name>[A-Za-z0-9][\w.-]*)")
_RUBY = re.compile(r"^\s*(?:gem\s+['\"])?(?P<name>[A-Za-z0-9][\w.-]*)['\"]?\s*(?:,|\(|$)", re.M)
_GO = re.compile(r"^\s*(?:require\s+)?(?P<name>[\w.-]+\.[\w.-]+/[\w./-]+)\s+v", re.M)


@functools.lru_cache(maxsize=32)
def named(file: str, text: str) -> frozenset[str]:
    """The names in lower case. Total: what cannot be read names nothing."""
    try:
        return frozenset(name.lower() for name in _names(posixpath.basename(file), text))
    except (ValueError, RecursionError, AttributeError, TypeError):
        return frozenset()


def _names(file: str, text: str) -> Iterator[str]:
    if file.endswith(".json"):
        yield from _tables(json.loads(text.removeprefix("\ufeff")), ("dependencies", "require"), 0)
    elif file.endswith(".toml"):
        read = tomllib.loads(text)
        yield from _tables(read, ("dependencies",), 0)
        yield from _lists(read)
    elif file.startswith("Gemfile"):
        yield from (match["name"] for match in _RUBY.finditer(text))
    elif file == "go.mod":
        yield from (match["name"] for match in _GO.finditer(text))
    else:
        yield from (match["name"] for line in text.split("\n") if (match := _PYTHON.match(line)) and "://" not in line)


def _tables(value: object, ends: tuple[str, ...], depth: int) -> Iterator[str]:
    """The keys of every table whose name ends like that: devDependencies, dev-dependencies, require-dev."""
    if not isinstance(value, dict) or depth > DEPTH_MAX:
        return
    for key, inner in value.items():
        if isinstance(inner, dict):
            if key.lower().endswith(ends) or key == "require-dev":
                yield from inner
            yield from _tables(inner, ends, depth + 1)


def _lists(read: dict[str, object]) -> Iterator[str]:
    """Python's lists of requirements."""
    project = read.get("project")
    tool = read.get("tool")
    held = [project.get("dependencies") if isinstance(project, dict) else None]
    groups = [
        read.get("dependency-groups"),
        project.get("optional-dependencies") if isinstance(project, dict) else None,
    ]
    if isinstance(tool, dict):
        for name in ("uv", "pdm"):
            inner = tool.get(name)
            dev = inner.get("dev-dependencies") if isinstance(inner, dict) else None
            groups.append(dev if isinstance(dev, dict) else {"dev": dev})
    for group in groups:
        held.extend(group.values() if isinstance(group, dict) else ())
    for requirements in held:
        for each in requirements if isinstance(requirements, list) else ():
            match = _PYTHON.match(each) if isinstance(each, str) else None
            if match:
                yield match["name"]
