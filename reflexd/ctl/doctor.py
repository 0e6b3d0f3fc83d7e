from __future__ import annotations

import argparse
import os
from collections.abc import Iterator

import msgspec

from reflexd import paths
from reflexd.control import Status
from reflexd.ctl.rows import printable
from reflexd.ctl.terminal import say
from reflexd.setup import agents, examine, manifest
from reflexd.setup.examine import Finding
from reflexd.setup.manifest import AgentRecord, Manifest
from reflexd.types import Places

EXAMPLE = "reflexctl doctor --deep"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--deep", action="store_true", help="drive the agents themselves too, with a scripted model")
    parser.add_argument("--json", action="store_true", help="one JSON object a finding")


def run(args: argparse.Namespace) -> int:
    base = paths.home()
    found = manifest.load(paths.manifest_file(base))
    wrong = False
    for finding in _findings(base, found, args.deep):
        wrong |= finding.state == "wrong"
        print(msgspec.json.encode(finding).decode() if args.json else _text(finding), flush=True)
    return 1 if wrong else 0


def _findings(base: str, found: Manifest | None, deep: bool) -> Iterator[Finding]:
    if found is None:
        yield Finding("setup", "wrong", "nothing is installed here", examine.AGAIN)
        return
    homes = {record.name: record.home for record in found.agents}
    places = paths.places(base, dict(os.environ))
    places = msgspec.structs.replace(places, agent_homes=tuple((dict(places.agent_homes) | homes).items()))
    status, findings = examine.daemon(base)
    yield from findings
    yield from examine.own(base, places, found)
    yield from examine.environment(os.environ)
    say("asking the agents for their versions, trying every hook ...")
    versions = agents.versions([agents.Found(r.name, r.home, r.binary) for r in found.agents], places)
    for record in found.agents:
        yield from _agent(record, versions.get(record.name, ""), base, places, found, status)
    for record in found.agents if deep and status else ():
        say(f"driving {agents.TITLES[record.name]} itself ...")
        yield examine.deep(record)
    yield from examine.not_hooked(places, found, os.environ.get("PATH", os.defpath))


def _agent(
    record: AgentRecord, version: str, base: str, places: Places, found: Manifest, status: Status | None
) -> Iterator[Finding]:
    wrong = False
    for finding in examine.agent(record, base, places, found, status):
        wrong |= finding.state == "wrong"
        yield finding
    title = agents.TITLES[record.name]
    if version != record.version:
        yield Finding(
            title, "note", f"was {record.version or 'unknown'} at the last look and is {version or 'unknown'}"
        )
        if not wrong:
            now = manifest.load(paths.manifest_file(base)) or found
            record = msgspec.structs.replace(record, version=version)
            manifest.save(paths.manifest_file(base), now.with_agent(record))


def _text(finding: Finding) -> str:
    text = printable(f"{finding.state:<6} {finding.subject}: {finding.text}")
    return text + (f"\n       mend: {printable(finding.mend)}" if finding.mend else "")
