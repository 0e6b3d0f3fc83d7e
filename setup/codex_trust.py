"""Codex runs a hook only once a person has trusted it, and skips it without a word before that.

Trust is asked for and given through Codex's own `codex app-server` (JSON-RPC over stdio): its hash of
a hook is undocumented, so it is Codex who computes it and Codex who writes it. Every wait is bounded.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec
from msgspec import Struct

from reflexd import __version__
from reflexd.errors import ReflexError
from reflexd.shims import HOOK_NAME

DEADLINE_S = 30.0
GRACE_S = 3.0
LINE_MAX = 16 * 1024 * 1024
BY_HAND = "start codex once in a terminal and accept the hooks in its dialog (Hooks need review)"


class Hook(Struct, frozen=True):
    key: str
    currentHash: str
    trustStatus: str
    enabled: bool = True
    command: str | None = None
    sourcePath: str | None = None


class _Listed(Struct, frozen=True):
    hooks: tuple[Hook, ...] = ()


class _List(Struct, frozen=True):
    data: tuple[_Listed, ...] = ()


class _Answer(Struct, frozen=True):
    id: int | str | None = None
    result: msgspec.Raw = msgspec.Raw()
    error: msgspec.Raw = msgspec.Raw()


def status(binary: str, codex_home: str, home: str) -> tuple[Hook, ...]:
    """Our hooks as Codex sees them. Raises ReflexError where it cannot be asked."""
    with _server(binary, codex_home, home) as server:
        return _ours(server, codex_home, home)


def trust(binary: str, codex_home: str, home: str) -> tuple[Hook, ...]:
    """Our hooks, trusted where they were not. Raises ReflexError where Codex did not take it."""
    with _server(binary, codex_home, home) as server:
        found = _ours(server, codex_home, home)
        if not found:
            raise ReflexError("codex does not list our hooks", BY_HAND)
        new = {hook.key: {"trusted_hash": hook.currentHash} for hook in found if not trusted(hook)}
        if new:
            edit = {"keyPath": "hooks.state", "value": new, "mergeStrategy": "upsert"}
            server.call("config/batchWrite", {"edits": [edit], "reloadUserConfig": True})
            found = _ours(server, codex_home, home)
        bad = [hook.key for hook in found if not trusted(hook)]
        if bad:
            raise ReflexError(f"codex still does not trust {bad[0]}", BY_HAND)
        return found


def trusted(hook: Hook) -> bool:
    return hook.enabled and hook.trustStatus in ("trusted", "managed")


def _ours(server: _Server, codex_home: str, home: str) -> tuple[Hook, ...]:
    path = os.path.realpath(os.path.join(codex_home, "hooks.json"))
    try:
        found = msgspec.json.decode(server.call("hooks/list", {"cwds": [home]}), type=_List)
    except msgspec.DecodeError as e:
        raise ReflexError(f"codex lists its hooks in another form than known: {e}", BY_HAND) from e
    return tuple(
        hook
        for listed in found.data
        for hook in listed.hooks
        if os.path.realpath(hook.sourcePath or "") == path and f"/shims/{HOOK_NAME}" in (hook.command or "")
    )


@contextmanager
def _server(binary: str, codex_home: str, home: str) -> Iterator[_Server]:
    env = {**os.environ, "HOME": home, "CODEX_HOME": codex_home}
    try:
        process = subprocess.Popen(
            [binary, "app-server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=home,
            env=env,
            start_new_session=True,
        )
    except OSError as e:
        raise ReflexError(f"cannot start {binary}: {e.strerror}", BY_HAND) from e
    try:
        server = _Server(process, time.monotonic() + DEADLINE_S)
        client = {"name": "reflexctl", "title": "reflexctl", "version": __version__}
        server.call("initialize", {"clientInfo": client, "capabilities": {"experimentalApi": True}})
        server.send({"method": "initialized"})
        yield server
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Codex writes on its way out, so it is asked first; its children (the npm package has one) go with it."""
    for pipe in (process.stdin, process.stdout):
        if pipe:
            try:
                pipe.close()
            except OSError:
                continue
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            process.wait(GRACE_S)
            return
        except subprocess.TimeoutExpired:
            try:
                os.killpg(process.pid, number)
            except OSError:
                continue
    process.wait()


class _Server:
    def __init__(self, process: subprocess.Popen[bytes], end: float) -> None:
        self._process = process
        self._end = end
        self._calls = 0
        self._read = b""

    def send(self, message: object) -> None:
        assert self._process.stdin
        try:
            self._process.stdin.write(msgspec.json.encode(message) + b"\n")
            self._process.stdin.flush()
        except OSError as e:
            raise ReflexError("codex app-server ended", BY_HAND) from e

    def call(self, method: str, params: object) -> bytes:
        """The call's result as JSON. Notifications that come in between are passed over."""
        self._calls += 1
        self.send({"id": self._calls, "method": method, "params": params})
        while True:
            try:
                answer = msgspec.json.decode(self._line(), type=_Answer)
            except msgspec.DecodeError as e:
                raise ReflexError("codex app-server said something that is not JSON", BY_HAND) from e
            if answer.id != self._calls:
                continue
            if answer.error or not answer.result:
                raise ReflexError(f"codex refused {method}: {bytes(answer.error).decode('utf-8', 'replace')}", BY_HAND)
            return bytes(answer.result)

    def _line(self) -> bytes:
        assert self._process.stdout
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._read:
                left = self._end - time.monotonic()
                if left <= 0 or not selector.select(left):
                    raise ReflexError(f"codex app-server gave no answer in {DEADLINE_S:g} s", BY_HAND)
                part = os.read(self._process.stdout.fileno(), 1 << 16)
                if not part or len(self._read) > LINE_MAX:
                    raise ReflexError("codex app-server ended", BY_HAND)
                self._read += part
        line, _, self._read = self._read.partition(b"\n")
        return line
