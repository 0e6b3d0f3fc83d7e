"""Undoes what setup did, going by the manifest, and never removes what is not ours."""

from __future__ import annotations

import base64
import os
import shutil
from collections.abc import Iterator

from reflexd.adapters.all import ADAPTERS
from reflexd.errors import ReflexError
from reflexd.setup import files, unhook
from reflexd.setup.manifest import FileRecord, Manifest
from reflexd.types import Agent, Places

OURS = "reflex"
"""The owner of files that belong to no agent."""


_TOKENS = {"hooks": unhook.OUR_COMMAND.encode(), "guard": b'"**"', "plugins": b"reflex", "whole": unhook.OUR_MARK}


def holds_ours(kind: str, data: bytes) -> bool:
    """Whether something of ours may be in `data`. Where nothing is, an adapter is not asked to take it out."""
    return kind in _TOKENS and _TOKENS[kind] in data


def agents_files(manifest: Manifest, places: Places) -> Iterator[str]:
    """Put every agent's files back, settings before the hooks that they name; yields a line for each.

    A file that cannot be put back yields a line that begins with `!` and says what to do by hand.
    """
    for record in reversed(manifest.files):
        if record.owner != OURS:
            yield from _restore(record, manifest, places)


def own_files(manifest: Manifest) -> Iterator[str]:
    for record in reversed(manifest.files):
        if record.owner == OURS:
            yield from _restore(record, manifest, None)


def directories(manifest: Manifest) -> None:
    """The directories that setup made, where nobody has put anything else in since."""
    for path in sorted(manifest.dirs, key=len, reverse=True):
        try:
            if os.listdir(path) == ["__pycache__"]:  # Hermes compiles its plugins
                shutil.rmtree(os.path.join(path, "__pycache__"))
            os.rmdir(path)
        except OSError:
            continue


def _restore(record: FileRecord, manifest: Manifest, places: Places | None) -> Iterator[str]:
    target = os.path.realpath(record.path)
    files.discard(os.path.join(os.path.dirname(target), f".{os.path.basename(target)}{files.MARK}"))
    plain: dict[str, object] = {
        "path": record.path,
        "kind": record.kind,
        "before": base64.b64encode(record.before).decode() if record.before is not None else None,
        "after": list(record.after),
        "mode": record.mode,
    }

    def surgery(_: dict[str, object], now: bytes) -> bytes | None:
        if record.kind in _TOKENS and not holds_ours(record.kind, now):
            return now
        if places is None or record.kind in ("whole", "trust", "settings"):
            return unhook.without_ours(plain, now, list(manifest.trusted))
        return _with_adapter(record, now, places)

    try:
        done = unhook.restore(plain, surgery)
    except unhook.CannotEdit as e:
        yield f"! {record.path} {e}"
    except ReflexError as e:
        yield f"! {e.message}" + (f" ({e.hint})" if e.hint else "")
    else:
        if done:
            yield done


def _with_adapter(record: FileRecord, now: bytes, places: Places) -> bytes | None:
    """`now` without our entries, everything else of it byte for byte as it is."""
    agent: Agent = next(name for name in ADAPTERS if name == record.owner)
    adapter = ADAPTERS[agent]
    current = {path: files.read(path) for path in adapter.files(places)} | {record.path: now}
    for edit in adapter.removals(places, current):
        if edit.path == record.path:
            return edit.after
    return now
