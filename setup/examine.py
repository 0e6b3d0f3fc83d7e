"""What is wrong with an installation, and the command that mends it. Changes nothing.

Every installed hook is run for real; the calls in it are only judged.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from typing import Literal

from msgspec import Struct

from reflexd import __version__, paths, settings
from reflexd.client import Client
from reflexd.control import Status
from reflexd.errors import ReflexError
from reflexd.setup import agents, codex_trust, gaps, plan, prove
from reflexd.setup.deep import drive
from reflexd.setup.manifest import AgentRecord, Manifest
from reflexd.types import AGENTS, Agent, Places

AGAIN = "reflexctl setup"
DAEMON, FILES, ENVIRONMENT = "daemon", "files", "environment"


class Finding(Struct, frozen=True):
    """`mend` is the command that puts it right, where there is one."""

    subject: str
    state: Literal["ok", "wrong", "note"]
    text: str
    mend: str = ""


def daemon(base: str) -> tuple[Status | None, list[Finding]]:
    try:
        status = Client(base).status()
    except ReflexError as e:
        return None, [Finding(DAEMON, "wrong", e.message, e.hint)]
    found = [Finding(DAEMON, "wrong", what) for what in status.broken]
    if status.version != __version__:
        text = f"it is of version {status.version}, reflexctl of {__version__}"
        found.append(Finding(DAEMON, "wrong", text, "reflexctl restart"))
    if status.mode == "off":
        found.append(Finding(DAEMON, "wrong", "the mode is off: nothing is refused", "reflexctl mode enforce"))
    found += [Finding(DAEMON, "note", note) for note in status.notes]
    return status, found or [Finding(DAEMON, "ok", f"answers (version {status.version}, mode {status.mode})")]


def own(base: str, places: Places, manifest: Manifest) -> Iterator[Finding]:
    """Our own directories, sockets, settings and files."""
    wrong = False
    for finding in (*_modes(base), *_settings(base), *_own_files(places, manifest)):
        wrong = True
        yield finding
    if not wrong:
        yield Finding(FILES, "ok", "private, complete and as installed")


def environment(env: Mapping[str, str]) -> Iterator[Finding]:
    for gap in gaps.environment(env):
        mend = "unset it before you start an agent" if gap.red else ""
        yield Finding(ENVIRONMENT, "wrong" if gap.red else "note", gap.text, mend)


def agent(
    record: AgentRecord, base: str, places: Places, manifest: Manifest, status: Status | None
) -> Iterator[Finding]:
    """Its files, its trust, its hooks run for real, and what it leaves open."""
    title = agents.TITLES[record.name]
    try:
        planned = plan.plan(record.name, places, manifest)
    except ReflexError as e:
        yield Finding(title, "wrong", e.message, e.hint)
        return
    changed = [step.edit.path for step in planned.steps if step.changes]
    for path in changed:
        yield Finding(title, "wrong", f"{path} is not as setup leaves it", _again(record.name))
    for gap in (*planned.gaps, *(hole.text for hole in gaps.hosts(record.name, record.home, os.getcwd()))):
        yield Finding(title, "wrong", gap)
    if record.name == "codex":
        yield from _codex(record, base)
    if status:
        yield from _tried(record, places, status.mode, whole=not changed)
    else:
        yield Finding(title, "wrong", "its hooks could not be tried: there is no daemon to answer them")
    for limit in gaps.LIMITS[record.name]:
        yield Finding(title, "note", f"left open by the host: {limit}")


def deep(record: AgentRecord) -> Finding:
    """The agent itself, with a scripted model. Takes seconds to minutes."""
    title = agents.TITLES[record.name]
    if not record.binary:
        return Finding(title, "wrong", "it was not found, so it could not be driven", _again(record.name))
    outcome = drive.drive(record.name, record.binary, record.home)
    if outcome.trouble:
        return Finding(title, "wrong", f"driven itself: {outcome.trouble}")
    if outcome.ran:
        return Finding(title, "wrong", "driven itself, it ran a call that reflex refuses", _again(record.name))
    return Finding(title, "ok", "driven itself, it ran the harmless call, and was refused the other one")


def not_hooked(places: Places, manifest: Manifest, path: str) -> Iterator[Finding]:
    for name, found in agents.find_all(places, path, AGENTS).items():
        if found and not manifest.agent(name):
            yield Finding(agents.TITLES[name], "note", "is on this machine and not hooked", _again(name))


def _again(name: Agent) -> str:
    return f"{AGAIN} --agents {name}"


def _modes(base: str) -> Iterator[Finding]:
    for directory in (paths.share_dir(base), paths.state_dir(base), paths.run_dir(base)):
        try:
            paths.check_private_dir(directory)
        except FileNotFoundError:
            yield Finding(FILES, "wrong", f"{directory} is missing", AGAIN)
        except ReflexError as e:
            yield Finding(FILES, "wrong", e.message, e.hint)
    for path in (paths.hook_socket(base), paths.control_socket(base)):
        try:
            found = os.lstat(path)
        except FileNotFoundError:
            continue  # no daemon, which is said elsewhere
        if not stat.S_ISSOCK(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
            yield Finding(FILES, "wrong", f"{path} is not a private socket of yours", "reflexctl restart")


def _settings(base: str) -> Iterator[Finding]:
    try:
        settings.load(base)
    except ReflexError as e:
        yield Finding(FILES, "wrong", e.message, e.hint or "correct it; the last good one is in force meanwhile")


def _own_files(places: Places, manifest: Manifest) -> Iterator[Finding]:
    if not os.access(manifest.python, os.X_OK):
        text = f"the interpreter that the hooks run is gone: {manifest.python}"
        yield Finding(FILES, "wrong", text, AGAIN)
    try:
        changed = [step.edit.path for step in plan.own_files(places, manifest) if step.changes]
    except ReflexError as e:
        yield Finding(FILES, "wrong", e.message, e.hint)
    else:
        for path in changed:
            yield Finding(FILES, "wrong", f"{path} is not as setup leaves it", AGAIN)


def _codex(record: AgentRecord, base: str) -> Iterator[Finding]:
    title = agents.TITLES[record.name]
    if not record.binary:
        yield Finding(
            title, "wrong", "whether it trusts the hooks is unknown: codex was not found", _again(record.name)
        )
        return
    try:
        hooks = codex_trust.status(record.binary, record.home, base)
    except ReflexError as e:
        yield Finding(title, "wrong", f"whether it trusts the hooks is unknown: {e.message}", e.hint)
        return
    bad = [hook for hook in hooks if not codex_trust.trusted(hook)]
    if bad or not hooks:
        text = f"it does not trust {len(bad)} of our hooks" if hooks else "it does not see our hooks"
        yield Finding(title, "wrong", f"{text}, and runs none that it does not trust", _again(record.name))


def _tried(record: AgentRecord, places: Places, mode: str, whole: bool) -> Iterator[Finding]:
    title = agents.TITLES[record.name]
    proof = prove.prove(record.name, places, record.binary)
    if proof.trouble:
        yield Finding(title, "wrong", proof.trouble, _again(record.name))
    elif proof.harmless:
        yield Finding(title, "wrong", f"`{prove.HARMLESS}` is refused: {proof.harmless}")
    elif not proof.dangerous and mode != "off":
        yield Finding(title, "wrong", f"`{prove.DANGEROUS}` goes on")
    wrong = prove.others(record.name, places) if whole else ()
    for text in wrong:
        yield Finding(title, "wrong", text)
    if proof.holds and not wrong:
        yield Finding(title, "ok", f"`{prove.HARMLESS}` goes on, `{prove.DANGEROUS}` is refused")
