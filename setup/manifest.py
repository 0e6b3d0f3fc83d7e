"""What setup wrote, and the bytes that were there before: what uninstall, unhook and doctor go by.

Saved before the first file of an agent's is touched, so that a run killed anywhere can be undone: a
file then has either its old bytes or bytes whose hash is listed. `unhook` reads the same file without
this module, so a change of its shape needs a new number.
"""

from __future__ import annotations

import msgspec
from msgspec import Struct

from reflexd.errors import ReflexError
from reflexd.setup import files
from reflexd.types import Agent

NUMBER = 1


class FileRecord(Struct, frozen=True, forbid_unknown_fields=True):
    """One file. `before` None: there was none. `after`: hashes of what we wrote, or were about to write.

    `kind` says what of it is ours: `whole`, or our entries in a `hooks` file, opencode's `guard`,
    Hermes' `plugins` list, Codex's `trust`.
    """

    path: str
    owner: str
    kind: str
    before: bytes | None
    mode: int
    after: tuple[str, ...]

    def wrote(self, data: bytes | None) -> bool:
        return data is not None and files.sha256(data) in self.after


class AgentRecord(Struct, frozen=True, forbid_unknown_fields=True):
    name: Agent
    home: str
    binary: str
    version: str


class Manifest(Struct, frozen=True, forbid_unknown_fields=True):
    """`trusted`: the keys of our hooks in Codex's trust list. `dirs`: made by us, outermost first."""

    manifest: int = NUMBER
    version: str = ""
    python: str = ""
    agents: tuple[AgentRecord, ...] = ()
    files: tuple[FileRecord, ...] = ()
    dirs: tuple[str, ...] = ()
    trusted: tuple[str, ...] = ()

    def file(self, path: str) -> FileRecord | None:
        return next((record for record in self.files if record.path == path), None)

    def agent(self, name: Agent) -> AgentRecord | None:
        return next((record for record in self.agents if record.name == name), None)

    def with_files(self, records: tuple[FileRecord, ...]) -> Manifest:
        """`records` replace those of the same path; new ones go to the end, so that undoing runs backwards."""
        new = {record.path: record for record in records}
        kept = tuple(new.pop(old.path, old) for old in self.files)
        return msgspec.structs.replace(self, files=(*kept, *new.values()))

    def with_agent(self, record: AgentRecord) -> Manifest:
        others = tuple(old for old in self.agents if old.name != record.name)
        return msgspec.structs.replace(self, agents=(*others, record))


def load(path: str) -> Manifest | None:
    """None where nothing is installed. Raises ReflexError where the file is not one of ours."""
    data = files.read(path)
    if data is None:
        return None
    try:
        found = msgspec.json.decode(data, type=Manifest)
    except (msgspec.DecodeError, UnicodeDecodeError) as e:
        raise ReflexError(f"{path} is damaged: {e}", "run reflexctl setup again; it writes a new one") from e
    if found.manifest != NUMBER:
        raise ReflexError(
            f"{path} is of version {found.manifest}, and this reflex knows {NUMBER}",
            "use the reflex that wrote it, or a newer one",
        )
    return found


def save(path: str, manifest: Manifest) -> None:
    files.replace(path, files.read(path), msgspec.json.format(msgspec.json.encode(manifest)) + b"\n", 0o600)
