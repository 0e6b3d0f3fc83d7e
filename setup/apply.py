"""Writes a plan: first how to undo it, then the files, then what was really written."""

from __future__ import annotations

import os

import msgspec

from reflexd import paths
from reflexd.errors import ReflexError
from reflexd.setup import codex_trust, files, unhook
from reflexd.setup.manifest import FileRecord, Manifest, save
from reflexd.setup.plan import Step
from reflexd.types import Places


def begin(path: str, places: Places, manifest: Manifest, steps: tuple[Step, ...]) -> Manifest:
    """Save the way back of every step to the manifest at `path`. Nothing of an agent's is touched yet."""
    theirs = (step.edit.path for step in steps)
    ours = (os.path.join(directory, "_") for directory in (places.share, places.state, places.config))
    made = dict.fromkeys(d for file in (*theirs, *ours) for d in files.missing_dirs(file))
    paths.private_dir(places.share)
    manifest = manifest.with_files(tuple(step.record for step in steps))
    dirs = tuple(dict.fromkeys((*manifest.dirs, *made)))
    manifest = msgspec.structs.replace(manifest, dirs=dirs)
    save(path, manifest)
    return manifest


def write(steps: tuple[Step, ...]) -> None:
    """Raises ReflexError at the first file that cannot be written; what was written by then can be undone."""
    for step in steps:
        if step.changes:
            files.replace(step.edit.path, step.edit.before, step.edit.after, step.edit.mode)


def settle(path: str, manifest: Manifest, steps: tuple[Step, ...]) -> Manifest:
    """After the last write: only the newest bytes count as ours from now on."""
    records = tuple(msgspec.structs.replace(step.record, after=step.record.after[-1:]) for step in steps)
    manifest = manifest.with_files(records)
    save(path, manifest)
    return manifest


def trust_codex(path: str, manifest: Manifest, binary: str, codex_home: str, home: str) -> Manifest:
    """Have Codex trust our hooks, and remember what that changed in its config.toml. Raises ReflexError."""
    config = os.path.join(codex_home, "config.toml")
    now = files.read(config)
    known = manifest.file(config)
    if known and (known.wrote(now) or known.before == now):
        record = known
    else:
        before = now and unhook.without_trust(now, list(manifest.trusted))
        record = FileRecord(config, "codex", "trust", before, files.mode_of(config, 0o600), ())
    manifest = manifest.with_files((record,))
    save(path, manifest)
    link = os.readlink(config) if os.path.islink(config) else ""
    hooks = codex_trust.trust(binary, codex_home, home)
    if link and not os.path.islink(config):
        _relink(config, link)
    after = files.read(config)
    wrote = (files.sha256(after),) if after is not None else ()
    manifest = manifest.with_files((msgspec.structs.replace(record, after=wrote),))
    manifest = msgspec.structs.replace(manifest, trusted=tuple(hook.key for hook in hooks))
    save(path, manifest)
    return manifest


def _relink(config: str, link: str) -> None:
    """Codex renames a new config.toml over a symlink; the link goes back, and the new bytes behind it."""
    data = files.read(config)
    target = os.path.join(os.path.dirname(config), link)
    files.replace(target, files.read(target), data, 0o600)
    temp = config + files.MARK
    files.discard(temp)
    try:
        os.symlink(link, temp)
        os.rename(temp, config)
    except OSError as e:
        raise ReflexError(f"{config} is no longer a link to {link}: {e.strerror}") from e
