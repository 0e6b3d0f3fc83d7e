from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from itertools import islice

import msgspec

from reflexd import paths
from reflexd.ctl.rows import count, line
from reflexd.daemon.journal import Row, read_rows
from reflexd.errors import ReflexError

EXAMPLE = "reflexctl log -n 50 --follow"
STEP_S = 0.2


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-n", type=count, default=20, metavar="N", help="how many of the last entries (20)")
    parser.add_argument("--follow", action="store_true", help="go on with what comes in")
    parser.add_argument("--json", action="store_true", help="the journal's own rows, one JSON object a line")


def run(args: argparse.Namespace) -> int:
    path = paths.journal_file(paths.home())
    end = os.path.getsize(path) if os.path.exists(path) else 0
    try:
        rows = list(islice(read_rows(path), args.n))
        for row in reversed(rows):
            _print(row, args.json)
        if args.follow:
            for row in _new(path, end):
                _print(row, args.json)
    except BrokenPipeError:
        raise  # our reader has gone, not the journal
    except OSError as e:
        raise ReflexError(f"cannot read {path}: {e.strerror}") from e
    return 0


def _print(row: Row, as_json: bool) -> None:
    print(msgspec.json.encode(row).decode() if as_json else line(row), flush=True)


def _new(path: str, at: int) -> Iterator[Row]:
    """The rows that are written from byte `at` on, for ever; from the start of a file that is not the same any more."""
    rest = b""
    same = _identity(path)
    while True:
        time.sleep(STEP_S)
        now = _identity(path)
        if now != same or (now and os.path.getsize(path) < at):
            same, at, rest = now, 0, b""
        if now is None:
            continue
        with open(path, "rb") as file:
            file.seek(at)
            data = file.read()
        at += len(data)
        *lines, rest = (rest + data).split(b"\n")
        for text in lines:
            try:
                yield msgspec.json.decode(text, type=Row)
            except (msgspec.MsgspecError, UnicodeError):
                continue


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino
