"""The tree under test, as the checkers want it, and what must not be written in it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "reflexd"
LINKED = ("adapters", "config", "setup", "shims")
LINES_MAX = 400
SKIPPED = {".git", ".venv", "__pycache__", "node_modules", ".hypothesis", ".mypy_cache", ".ruff_cache", ".pytest_cache"}

# Where a tree happens to lie and where packages came from belong to a machine, not to the project.
FOREIGN_PLACES = re.compile(
    "|".join(
        (
            re.escape(str(ROOT)) + r"(?![\w.-])",
            r"\"resolved\":\s*" + r"\"https?:",
            r"index-" + r"url\s*[= ]\s*http",
            r"https?://[^\s\"']*/" + r"simple/",
        )
    )
)


def modules() -> dict[str, str]:
    """Every Python module of the package by its name below reflexd, without the templates that agents load."""
    found = {}
    for path in python_files():
        parts = list(path.relative_to(PACKAGE).with_suffix("").parts)
        if parts[0] == "shims" and parts != ["shims", "__init__"]:
            continue
        if parts[-1] == "__init__":
            parts.pop()
        found[".".join(parts)] = path.read_text("utf-8")
    return found


def python_files() -> Iterator[Path]:
    for directory, folders, names in os.walk(PACKAGE, followlinks=True):
        folders[:] = [name for name in folders if name not in SKIPPED]
        yield from (Path(directory, name) for name in names if name.endswith(".py"))


def text_files(root: Path = ROOT) -> Iterator[tuple[Path, str]]:
    for directory, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in SKIPPED]
        for name in names:
            path = Path(directory, name)
            if not path.is_symlink():
                try:
                    yield path, path.read_text("utf-8")
                except UnicodeDecodeError:
                    continue


def foreign_places(files: Mapping[str, str]) -> list[str]:
    return [
        f"{name}:{number}: {found[0]}"
        for name, text in files.items()
        for number, line in enumerate(text.splitlines(), 1)
        if (found := FOREIGN_PLACES.search(line))
    ]


def too_long(files: Mapping[str, str], most: int = LINES_MAX) -> list[str]:
    return [f"{name}: {lines} lines" for name, text in files.items() if (lines := text.count("\n")) > most]


def versions(init: str, pyproject: str, changelog: str) -> dict[str, str]:
    """The version that each of the three names, empty where it names none. A changelog may be ahead: "Unreleased"."""
    places = {
        "reflexd/__init__.py": (r'^__version__ = "([^"]+)"', init),
        "pyproject.toml": (r'^version = "([^"]+)"', pyproject),
        "CHANGELOG.md": (r"^## \[?v?([0-9][^\s\]]*|Unreleased)", changelog),
    }
    return {
        name: found[1] if (found := re.search(pattern, text, re.MULTILINE)) else ""
        for name, (pattern, text) in places.items()
    }
