from __future__ import annotations

import argparse
import os
import time

import msgspec
from msgspec import Struct

from reflexd import paths
from reflexd.client import Client
from reflexd.control import AgentSeen, EngineStatus, Status
from reflexd.ctl.terminal import error
from reflexd.errors import ReflexError
from reflexd.setup import agents, gaps, manifest
from reflexd.setup.gaps import Gap
from reflexd.setup.manifest import AgentRecord
from reflexd.setup.tries import is_try

EXAMPLE = "reflexctl status --json"
FAILED = 1


class Report(Struct, frozen=True):
    """`daemon` is None where it does not answer; `trouble` then says why. `hooked`: as setup left it."""

    daemon: Status | None
    trouble: str
    hooked: tuple[AgentRecord, ...]
    gaps: tuple[Gap, ...]


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="everything as one JSON object")


def run(args: argparse.Namespace) -> int:
    base = paths.home()
    trouble = hint = ""
    status: Status | None = None
    try:
        status = Client(base).status()
    except ReflexError as e:
        trouble, hint = e.message, e.hint
    found = manifest.load(paths.manifest_file(base))
    report = Report(status, trouble, found.agents if found else (), gaps.environment(os.environ))
    if args.json:
        print(msgspec.json.encode(report).decode())
    else:
        print(_text(report))
    if status is None:
        error(trouble, hint)
    return FAILED if status is None or status.broken else 0


def _text(report: Report) -> str:
    lines: list[str] = []
    if report.daemon:
        lines += _daemon(report.daemon)
    else:
        lines.append("daemon    does not answer, so every tool call of a hooked agent is refused")
    seen = {agent.agent: agent for agent in report.daemon.agents} if report.daemon else {}
    for record in report.hooked:
        last = seen.get(record.name)
        name = f"{agents.TITLES[record.name]} {record.version}".rstrip()
        lines.append(f"agent     {name}: {_last(last) if last else 'no event yet'}")
    if not report.hooked:
        lines.append("agent     none is hooked (reflexctl setup)")
    lines += [f"{'GAP' if gap.red else 'note':<9} {gap.text}" for gap in report.gaps]
    return "\n".join(lines)


def _last(seen: AgentSeen) -> str:
    what = "a try of setup or doctor" if is_try(seen.session, "") else seen.event
    return f"last event {_ago(seen.at)} ({what}), {seen.count} in all"


def _daemon(status: Status) -> list[str]:
    counts = ", ".join(f"{count} {name}" for name, count in sorted(status.decisions.items())) or "none yet"
    return [
        f"daemon    runs (process {status.pid}, version {status.version}, since {_ago(status.started)})",
        f"mode      {status.mode}, {status.profile}",
        *(f"mode      {m.mode} {f'in {m.cwd}' if m.cwd else 'everywhere'}{_until(m.until)}" for m in status.modes),
        f"policy    {status.policy}, {status.rules} rules",
        f"decisions {counts}",
        *_engine(status.engine),
        *(f"BROKEN    {what}" for what in status.broken),
        *(f"note      {what}" for what in status.notes),
    ]


def _engine(engine: EngineStatus) -> list[str]:
    if engine.state == "off":
        return ["engine    no model (reflexctl model use)"]
    why = f": {engine.why}" if engine.why else ""
    lines = [f"engine    {engine.model}: {engine.state}{f' (process {engine.pid})' if engine.pid else ''}{why}"]
    if info := engine.info:
        lines.append(f"engine    {info.family} on {info.device} in {info.precision}, {info.kernels}")
    if stats := engine.stats:
        kept = f"{stats.states} states kept ({stats.state_bytes >> 20} of {stats.state_budget >> 20} MiB)"
        asked = f"{stats.requests} requests in {stats.passes} passes, {stats.waiting} waiting, {stats.failed} failed"
        lines.append(f"engine    {asked}; {kept}; {stats.resident_bytes >> 20} MiB resident")
    if engine.url:
        lines.append(f"engine    {engine.url} (key in {paths.systemone_key(paths.home())})")
    return lines


def _ago(at: float) -> str:
    seconds = max(0, int(time.time() - at))
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit} ago"
    return f"{seconds} s ago"


def _until(until: float) -> str:
    return f" until {time.strftime('%H:%M:%S', time.localtime(until))}" if until else ""
