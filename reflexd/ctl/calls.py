"""Calls to judge, as JSON lines in a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import msgspec
from msgspec import Struct, field

from reflexd.control import CheckRequest, CheckResult, hook_payload
from reflexd.errors import ReflexError

Judge = Callable[[CheckRequest], CheckResult]

_TOOLS = {"path": "Read", "url": "WebFetch", "text": "WebSearch"}
"""The tool that a call means when it names none, by the field it has."""


class Call(Struct, frozen=True, kw_only=True):
    """One call, by the fields of `CheckRequest`; what it does not say is filled in by `request`."""

    tool: str = ""
    command: str | None = None
    path: str | None = None
    url: str | None = None
    text: str | None = None
    args: dict[str, object] | None = None
    cwd: str = ""
    home: str = ""
    env: dict[str, str] = field(default_factory=dict)

    def request(self, cwd: str, env: Mapping[str, str], home: str = "") -> CheckRequest:
        """Raises ValueError where it is no call: nothing to work on, or arguments that cannot be."""
        named = [name for name in ("command", "path", "url", "text") if getattr(self, name) is not None]
        if not named and self.args is None:
            raise ValueError("it has none of command, path, url, text, args")
        request = CheckRequest(
            tool=self.tool or _TOOLS.get(named[0] if named else "command", "Bash"),
            command=self.command,
            path=self.path,
            url=self.url,
            text=self.text,
            args=None if self.args is None else msgspec.json.encode(self.args).decode(),
            cwd=self.cwd or cwd,
            home=self.home or home,
            env={**env, **self.env},
        )
        hook_payload(request)
        return request


def numbered(file: str) -> Iterator[tuple[int, bytes]]:
    """The lines of a file ('-': standard input) that hold something, with their numbers. Raises ReflexError."""
    try:
        with open(0 if file == "-" else file, "rb", closefd=file != "-") as source:
            for number, line in enumerate(source, 1):
                if line.strip():
                    yield number, line
    except OSError as e:
        raise ReflexError(f"cannot read {file}: {e.strerror}") from e
