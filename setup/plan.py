"""What setup would change: each agent's edits with the way back of each, before anything is written."""

from __future__ import annotations

import difflib
import os
import shlex
import sys
from collections.abc import Iterable
from importlib import resources

import msgspec
from msgspec import Struct

import reflexd
from reflexd.adapters.all import ADAPTERS
from reflexd.errors import ReflexError
from reflexd.setup import files, remove, settings_edit
from reflexd.setup.manifest import FileRecord, Manifest
from reflexd.shims import HOOK_NAME, MARKER
from reflexd.types import Agent, Mode, Places, PlannedEdit, Profile

_KINDS: dict[Agent, str] = {"claude": "hooks", "codex": "hooks", "opencode": "guard", "hermes": "plugins"}


class Step(Struct, frozen=True):
    """One file: what to write and what to remember of it. An edit whose bytes are there already is kept too."""

    edit: PlannedEdit
    record: FileRecord

    @property
    def changes(self) -> bool:
        return self.edit.before != self.edit.after


class AgentPlan(Struct, frozen=True):
    agent: Agent
    steps: tuple[Step, ...]
    gaps: tuple[str, ...]


def plan(agent: Agent, places: Places, manifest: Manifest) -> AgentPlan:
    """Raises ReflexError where one of the files cannot be edited safely; nothing is written either way."""
    adapter = ADAPTERS[agent]
    current = {path: files.read(path) for path in adapter.files(places)}
    without = {edit.path: edit.after for edit in adapter.removals(places, current)}
    steps = [
        _step(edit, agent, _kind(agent, edit), without.get(edit.path, edit.before), manifest)
        for edit in adapter.edits(places, current)
    ]
    return AgentPlan(agent, tuple(steps), adapter.gaps(places, current))


def steps(plans: Iterable[AgentPlan]) -> tuple[Step, ...]:
    """All steps, each file once: Claude Code and Codex share theirs."""
    return tuple({step.edit.path: step for agent_plan in plans for step in agent_plan.steps}.values())


def own_files(places: Places, manifest: Manifest) -> tuple[Step, ...]:
    """What belongs to no agent: the way out, and one fixed path under which reflexctl is found."""
    whole = (
        (os.path.join(places.share, "unhook"), unhook(places), "the way out when everything else is broken"),
        (os.path.join(places.share, "bin", "reflexctl"), launcher(), "where the hooks say that reflexctl is"),
    )
    return tuple(
        _step(PlannedEdit(path, files.read(path), after, why, 0o700), remove.OURS, "whole", None, manifest)
        for path, after, why in whole
    )


def settings(places: Places, manifest: Manifest, mode: Mode | None, profile: Profile | None) -> Step:
    path = os.path.join(places.config, "config.toml")
    edit = settings_edit.edit(places, files.read(path), mode, profile)
    return _step(edit, remove.OURS, "settings", edit.before, manifest)


def unhook(places: Places) -> bytes:
    """The installed `unhook`: a shell head that finds a python3, and setup/unhook.py itself."""
    package = resources.files("reflexd.setup")
    by_hand = [
        f"  in {path}: everything that names {HOOK_NAME} or reflex"
        for agent in ADAPTERS
        for path in ADAPTERS[agent].files(places)
        if not path.startswith(places.share)
    ]
    head = (
        package.joinpath("unhook_head.sh")
        .read_text("utf-8")
        .replace("@MANIFEST@", shlex.quote(os.path.join(places.share, "manifest.json")))
        .replace("@PYTHON@", shlex.quote(places.python))
        .replace("@BY_HAND@", "\n".join(by_hand))
    )
    return (head + package.joinpath("unhook.py").read_text("utf-8")).encode("utf-8")


def launcher() -> bytes:
    """reflexctl of this very installation, also where it runs from a checkout that is not installed."""
    root = os.path.dirname(os.path.dirname(os.path.abspath(reflexd.__file__)))
    code = f"import sys; sys.path.append({root!r}); from reflexd.ctl.main import main; sys.exit(main())"
    run = f"{shlex.quote(sys.executable)} -I -c {shlex.quote(code)}"
    return f'#!/bin/sh\n# {MARKER}: reflexctl of the reflex that was installed last\nexec {run} "$@"\n'.encode()


def diff(step: Step) -> str:
    """A unified diff; a whole new file of ours in one line."""
    edit = step.edit
    if edit.before is None and step.record.kind == "whole":
        assert edit.after is not None
        return f"new file {edit.path} ({edit.after.count(10)} lines): {edit.why}\n"
    old, new = _lines(edit.before), _lines(edit.after)
    name = "/dev/null" if edit.before is None else edit.path
    return "".join(difflib.unified_diff(old, new, name, edit.path, n=2))


def summary(step: Step) -> str:
    """The same in one line."""
    if step.edit.before is None:
        return f"new file {step.edit.path}: {step.edit.why}\n"
    lines = [line[:1] for line in diff(step).splitlines()[2:]]
    return f"changed {step.edit.path} (+{lines.count('+')} -{lines.count('-')} lines): {step.edit.why}\n"


def _lines(data: bytes | None) -> list[str]:
    lines = (data or b"").decode("utf-8", "replace").splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n\\ no newline at the end\n"
    return lines


def _kind(agent: Agent, edit: PlannedEdit) -> str:
    return "whole" if edit.after is not None and MARKER.encode() in edit.after else _KINDS[agent]


def _step(edit: PlannedEdit, owner: str, kind: str, without: bytes | None, manifest: Manifest) -> Step:
    if kind == "whole" and edit.before is not None and MARKER.encode() not in edit.before:
        raise ReflexError(f"{edit.path} is there already and is not ours", "move it away, then run setup again")
    if edit.before != edit.after:
        files.check_writable(edit.path)
    assert edit.after is not None
    wrote = files.sha256(edit.after)
    known = manifest.file(edit.path)
    if known and (known.wrote(edit.before) or known.before == edit.before):
        # Nobody else changed it since: what was there before the first setup is still the way back.
        after = (*(h for h in known.after if h != wrote), wrote)
        return Step(edit, FileRecord(edit.path, known.owner, kind, known.before, known.mode, after))
    record = FileRecord(edit.path, owner, kind, edit.before, files.mode_of(edit.path, edit.mode), (wrote,))
    if edit.before is not None and remove.holds_ours(kind, edit.before):
        # Ours from an earlier setup whose manifest is gone, or changed since by somebody else.
        record = msgspec.structs.replace(record, before=without)
    return Step(edit, record)
