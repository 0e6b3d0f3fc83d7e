"""What reflexctl says to a person, all on stderr, and what it asks one."""

from __future__ import annotations

import os
import sys

from reflexd.errors import ReflexError


def error(message: str, hint: str = "") -> None:
    print(f"reflexctl: error: {message}", file=sys.stderr)
    if hint:
        print(f"reflexctl: hint: {hint}", file=sys.stderr)


def warn(message: str, hint: str = "") -> None:
    print(f"reflexctl: warning: {message}", file=sys.stderr)
    if hint:
        print(f"reflexctl: hint: {hint}", file=sys.stderr)


def say(message: str) -> None:
    print(f"reflexctl: {message}", file=sys.stderr, flush=True)


def confirm(question: str) -> bool:
    """Ask y/N. Raises ReflexError where nobody is there to answer."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise ReflexError("this needs a yes, and there is no terminal to ask at", "give --yes if you mean it")
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def short(path: str, home: str) -> str:
    """`path` as a person writes it."""
    return "~" + path[len(home) :] if path == home or path.startswith(home + os.sep) else path
