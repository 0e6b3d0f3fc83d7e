"""The journal: one JSON object a line, written by the daemon alone, read by anybody of ours.

What holds: a row is redacted before it is written, and is in the kernel's hands when `append` returns,
so that killing the daemon loses none; a line is whole or (after a crash of the machine) a torn last one,
behind which the next row starts on a line of its own. `synced` waits until rows are on the disk.
What is not covered yet: rotation, and proof against somebody of the same user who edits the file.
"""

from __future__ import annotations

import asyncio
import base64
import functools
import os
import stat
from collections.abc import Iterator
from datetime import UTC, datetime

import msgspec
from msgspec import Struct, structs

from reflexd import paths
from reflexd.daemon.lane import Lane
from reflexd.errors import ReflexError
from reflexd.guard.redact import redact_head
from reflexd.types import Judged

FORMAT = 1
BLOCK = 1 << 16
ROW_MAX = 1 << 20  # a longer line is none of ours
FIELD_MAX = 4096
EFFECT_MAX = 512


class Why(Struct, frozen=True):
    """One finding, as it is kept."""

    rule: str
    decision: str
    reason: str


class Row(Struct, frozen=True, kw_only=True):
    """One line. kind: verdict (of a guarded event), ran (a call that a person was asked about has run; `id` is its
    verdict's), control (what a person changed or was refused), daemon (start, stop, and what went wrong). `asked`: an
    ask was put before a person. `effects`: of a call that was stopped, what it would have done, a line each. `judged`:
    what a judge said of it."""

    t: str
    id: str
    kind: str = "verdict"
    agent: str = ""
    event: str = ""
    session: str = ""
    subagent: str = ""
    cwd: str = ""
    tool: str = ""
    call: str = ""
    decision: str = ""
    reason: str = ""
    decided_by: str = ""
    rule: str = ""
    policy: str = ""
    mode: str = ""
    asked: bool = False
    ms: float = 0
    findings: tuple[Why, ...] = ()
    effects: tuple[str, ...] = ()
    judged: Judged | None = None

    @property
    def refused(self) -> bool:
        return self.kind == "verdict" and self.decision in ("ask", "deny")


def new_id() -> str:
    return base64.b32encode(os.urandom(7))[:10].decode().lower()


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class Journal:
    """The one writer. Belongs to the loop's thread; only the fsync runs on `disk`."""

    def __init__(self, path: str, disk: Lane) -> None:
        self.path = path
        self._disk = disk
        self._fd = -1
        self._file = (0, 0)
        self._torn = False
        self._written = self._synced = 0
        self._unwritten = self._unsynced = ""
        self._syncing: asyncio.Future[str] | None = None
        try:
            self._open()
        except (OSError, ReflexError) as e:
            self._unwritten = _said(e)

    @property
    def fault(self) -> str:
        """Why rows cannot be kept just now; empty while they can."""
        return self._unwritten or self._unsynced

    def append(self, row: Row) -> bool:
        """Write `row`, redacted; False (and `fault`) where rows cannot be kept. Tries again with every row."""
        data = _line(row)
        try:
            if self._fd < 0 or self._moved():
                self._open()
            self._write(data)
            self._unwritten = ""
        except (OSError, ReflexError) as e:
            self._unwritten = _said(e)
        return not self.fault

    async def synced(self) -> None:
        """Until every row appended so far is on the disk, or `fault` says why not. Waiters share one fsync."""
        wanted = self._written
        while self._synced < wanted:
            if self._syncing is None or self._syncing.done():
                # A descriptor of its own: the journal's may be closed for another file meanwhile.
                try:
                    own = os.dup(self._fd)
                except OSError as e:
                    self._unsynced = _said(e)
                    return
                self._syncing = asyncio.ensure_future(self._disk.run(_sync, own))
                self._syncing.add_done_callback(functools.partial(self._after_sync, self._written))
            await asyncio.wait({self._syncing})
            if self._unsynced:
                return

    def close(self) -> None:
        """Sync and close; for the end of the process, when nothing waits any more."""
        if self._fd >= 0:
            _sync(self._fd)
            self._fd = -1

    def _after_sync(self, written: int, syncing: asyncio.Future[str]) -> None:
        failed = None if syncing.cancelled() else syncing.exception()
        self._unsynced = "cut off" if syncing.cancelled() else str(failed) if failed else syncing.result()
        if not self._unsynced:
            self._synced = max(self._synced, written)

    def _moved(self) -> bool:
        """Whether the name leads to another file than the one held open: then rows would go nowhere."""
        try:
            found = os.stat(self.path, follow_symlinks=False)
        except FileNotFoundError:
            return True
        return (found.st_dev, found.st_ino) != self._file

    def _open(self) -> None:
        if self._fd >= 0:
            _sync(self._fd)
            self._fd = -1
        paths.private_dir(os.path.dirname(self.path))
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        fd = os.open(self.path, flags, 0o600)
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
            os.close(fd)
            raise OSError(0, "it is not a private file of ours")
        self._fd, self._file = fd, (found.st_dev, found.st_ino)
        self._torn = found.st_size > 0 and os.pread(fd, 1, found.st_size - 1) != b"\n"
        if found.st_size == 0:
            self._write(msgspec.json.encode({"journal": FORMAT, "t": now()}) + b"\n")

    def _write(self, data: bytes) -> None:
        if self._torn:
            data = b"\n" + data
        sent = os.write(self._fd, data)
        self._torn = 0 < sent < len(data)
        if self._torn:
            # The disk is full: take the half line back, or (if even that fails) end it before the next one.
            os.ftruncate(self._fd, os.fstat(self._fd).st_size - sent)
            self._torn = False
        if sent < len(data):
            raise OSError(0, "no space left for a whole line")
        self._written += 1


def _sync(fd: int) -> str:
    """Sync and close; why it failed."""
    try:
        os.fsync(fd)
        return ""
    except OSError as e:
        return _said(e)
    finally:
        os.close(fd)


def _said(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


def _line(row: Row) -> bytes:
    kept = structs.replace(
        row,
        call=redact_head(row.call, FIELD_MAX),
        reason=redact_head(row.reason, FIELD_MAX),
        cwd=row.cwd[:FIELD_MAX],
        tool=row.tool[:256],
        session=row.session[:FIELD_MAX],
        findings=tuple(Why(f.rule, f.decision, redact_head(f.reason, FIELD_MAX)) for f in row.findings),
        effects=tuple(redact_head(effect, EFFECT_MAX) for effect in row.effects),
    )
    try:
        return msgspec.json.encode(kept) + b"\n"
    except UnicodeEncodeError:
        # Lone surrogates: a path that is not UTF-8.
        return msgspec.json.encode(_printable(msgspec.to_builtins(kept))) + b"\n"


def _printable(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {key: _printable(inner) for key, inner in value.items()}
    return [_printable(inner) for inner in value] if isinstance(value, list | tuple) else value


# ---- reading ---------------------------------------------------------------------


def read_rows(path: str) -> Iterator[Row]:
    """Every row, newest first. Lines that are no rows (a torn one, the file's first) are passed over.

    Raises OSError where the file cannot be read; a file that is not there has no rows.
    """
    decode = msgspec.json.Decoder(Row).decode
    for line in _lines_backwards(path):
        try:
            yield decode(line)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            continue


def find(path: str, row_id: str) -> Row | None:
    return next((row for row in read_rows(path) if row.id == row_id and row.kind != "ran"), None)


def last_refusal(path: str) -> Row | None:
    return next((row for row in read_rows(path) if row.refused), None)


def _lines_backwards(path: str) -> Iterator[bytes]:
    try:
        file = open(path, "rb")  # noqa: SIM115
    except FileNotFoundError:
        return
    with file:
        at = file.seek(0, os.SEEK_END)
        rest = b""
        while at > 0:
            size = min(BLOCK, at)
            at -= size
            file.seek(at)
            rest = file.read(size) + rest
            parts = rest.split(b"\n")
            rest = parts[0]
            yield from (line for line in reversed(parts[1:]) if line)
            if len(rest) > ROW_MAX:
                rest = b""
        if rest:
            yield rest
